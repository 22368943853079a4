/* Writes sets of synthetic images: each image is a pure function of the seed and its number (animal_scene.c), so
 * threads draw them in any order. The manifest comes last: a folder without one is not a set. */
#include "synth/synth.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

#define JPEG_QUALITY 92
/* A stream of its own for the sizes, so that images need not be drawn to know them. */
#define SIZE_STREAM UINT32_MAX

void clv_synth_init(struct clv_synth_options *options)
{
    *options = (struct clv_synth_options){.n_images = 60, .width = 240, .height = 180, .train_share = 2.0 / 3};
}

struct box {
    int32_t x0, y0, x1, y1; /* x0 <= x < x1 */
};

struct synth_run {
    const char *folder;
    const struct clv_synth_options *options;
    const struct clv_progress *progress;
    struct box *boxes; /* [n_images] */
    int n_digits;
    size_t n_done; /* counted by parallel_progress */
};

static enum clv_status check_options(const struct clv_synth_options *options, struct clv_error *err)
{
    FAIL_IF(options->n_images < 1, CLV_ERR_USAGE, "number of images is %d, must be at least 1", options->n_images);
    if (options->width < 16 || options->width > 8192 || options->height < 16 || options->height > 8192)
        return fail(err, CLV_ERR_USAGE, "size is %dx%d, each side must be 16..8192", options->width, options->height);
    if (!(options->train_share >= 0 && options->train_share <= 1))
        return fail(err, CLV_ERR_USAGE, "train share is %g, must be 0..1", options->train_share);
    return CLV_OK;
}

/* A new or an empty folder passes. */
static enum clv_status check_folder(const char *folder, struct clv_error *err)
{
    enum path_kind kind;
    enum clv_status status = path_look(&kind, folder, err);
    if (status != CLV_OK || kind == PATH_ABSENT)
        return status;
    DIR *stream = opendir(folder);
    MUST_IF(!stream, fail_errno(err, CLV_ERR_CREATE, "%s: cannot open folder", folder));
    for (struct dirent *entry; status == CLV_OK && (entry = readdir(stream));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = fail(err, CLV_ERR_CREATE, "%s: folder is not empty (it holds %s); --overwrite writes into it",
                          folder, entry->d_name);
    closedir(stream);
    return status;
}

/* folder/images/0001.jpg of image 0; array_free it. */
static char *item_path(const struct synth_run *run, const char *kind, const char *extension, size_t index)
{
    char name[64];
    snprintf(name, sizeof name, "%s/%0*zu%s", kind, run->n_digits, index + 1, extension);
    return path_join(run->folder, name);
}

static int32_t varied_side(const struct clv_synth_options *options, int32_t side, uint64_t index)
{
    double factor = 0.75 + 0.5 * rng_uniform(options->seed, RNG_STREAM(RNG_SYNTH, SIZE_STREAM), index);
    int32_t varied = int32_within(round(side * factor), INT32_MIN, INT32_MAX);
    return varied < 16 ? 16 : varied;
}

static struct box tight_box(const uint8_t *figure, int32_t width, int32_t height)
{
    struct box box = {width, height, 0, 0};
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++)
            if (figure[(size_t)y * (size_t)width + (size_t)x]) {
                box.x0 = x < box.x0 ? x : box.x0;
                box.x1 = x + 1 > box.x1 ? x + 1 : box.x1;
                box.y0 = y < box.y0 ? y : box.y0;
                box.y1 = y + 1;
            }
    return box;
}

static enum clv_status draw_one(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    static const uint8_t black_and_white[2][3] = {{0, 0, 0}, {255, 255, 255}};
    struct synth_run *run = context;
    const struct clv_synth_options *options = run->options;
    struct clv_image image = {0};
    uint8_t *figure = NULL;
    char *image_path = item_path(run, "images", ".jpg", index), *mask_path = item_path(run, "masks", ".png", index);
    enum clv_status status = image_path && mask_path ? CLV_OK : fail_memory(err);
    TRY_IF(stop_requested(run->progress), fail(err, CLV_ERR_INTERRUPTED, "interrupted"));
    const struct synth_request request = {varied_side(options, options->width, 2 * index),
                                          varied_side(options, options->height, 2 * index + 1), options->seed,
                                          (uint32_t)index};
    TRY(synth_scene_draw(&image, &figure, &request, err));
    TRY(clv_jpeg_write(image_path, &image, JPEG_QUALITY, err));
    TRY(clv_png_write_labels(mask_path, image.width, image.height, figure, black_and_white, 2, err));
    if (status == CLV_OK) {
        run->boxes[index] = tight_box(figure, image.width, image.height);
        parallel_progress(run->progress, "drawing", &run->n_done, (size_t)options->n_images, NULL);
    }
    arrays_free(image_path, mask_path, figure);
    clv_image_release(&image);
    return status;
}

static enum clv_status write_table(const struct synth_run *run, const char *name,
                                   void (*put_row)(FILE *stream, const struct synth_run *run, size_t index),
                                   const char *header, struct clv_error *err)
{
    struct file_writer writer;
    char *path = path_join(run->folder, name);
    enum clv_status status = path ? file_create(&writer, path, err) : fail_memory(err);
    if (status == CLV_OK) {
        fputs(header, writer.stream);
        for (size_t i = 0; i < (size_t)run->options->n_images; i++)
            put_row(writer.stream, run, i);
        status = file_commit(&writer, err);
    }
    array_free(path);
    return status;
}

static void put_manifest_row(FILE *stream, const struct synth_run *run, size_t index)
{
    double n_train = floor(run->options->n_images * run->options->train_share + 0.5);
    fprintf(stream, "images/%0*zu.jpg\tmasks/%0*zu.png\t%s\n", run->n_digits, index + 1, run->n_digits, index + 1,
            (double)index < n_train ? "train" : "test");
}

static void put_box_row(FILE *stream, const struct synth_run *run, size_t index)
{
    struct box box = run->boxes[index];
    if (box.x1 > box.x0)
        fprintf(stream, "images/%0*zu.jpg\tforeground\t%d\t%d\t%d\t%d\n", run->n_digits, index + 1, box.x0, box.y0,
                box.x1 - box.x0, box.y1 - box.y0);
}

/* Takes back what an unfinished run has written. */
static void remove_items(const struct synth_run *run, const char *kind, const char *extension)
{
    for (size_t i = 0; i < (size_t)run->options->n_images; i++) {
        char *path = item_path(run, kind, extension, i);
        if (path)
            unlink(path);
        array_free(path);
    }
    char *folder = path_join(run->folder, kind);
    if (folder)
        rmdir(folder);
    array_free(folder);
}

static enum clv_status make_folders(const struct synth_run *run, struct clv_error *err)
{
    char *images = path_join(run->folder, "images"), *masks = path_join(run->folder, "masks");
    enum clv_status status = images && masks ? folder_create(images, err) : fail_memory(err);
    TRY(folder_create(masks, err));
    arrays_free(images, masks);
    return status;
}

enum clv_status clv_synth_animals(const char *folder, const struct clv_synth_options *options, int n_threads,
                                  const struct clv_progress *progress, struct clv_error *err)
{
    struct synth_run run = {.folder = folder, .options = options, .progress = progress, .n_digits = 4};
    enum clv_status status = check_options(options, err);
    TRY_IF(!options->overwrite, check_folder(folder, err));
    if (status != CLV_OK)
        return status;

    for (int32_t n = options->n_images; n >= 10000; n /= 10)
        run.n_digits++;
    enum path_kind kind = PATH_ABSENT;
    run.boxes = array_zalloc((size_t)options->n_images, sizeof *run.boxes);
    status = run.boxes ? path_look(&kind, folder, err) : fail_memory(err);
    TRY(make_folders(&run, err));
    TRY(parallel_for((size_t)options->n_images, n_threads, draw_one, &run, err));
    TRY(write_table(&run, "boxes.tsv", put_box_row, "image\tlabel\tx\ty\tw\th\n", err));
    TRY(write_table(&run, "manifest.tsv", put_manifest_row, "image\tmask\tsplit\n", err));
    if (status != CLV_OK && !options->overwrite) {
        remove_items(&run, "images", ".jpg");
        remove_items(&run, "masks", ".png");
        char *boxes = path_join(folder, "boxes.tsv");
        if (boxes)
            unlink(boxes);
        array_free(boxes);
        if (kind == PATH_ABSENT)
            rmdir(folder);
    }
    array_free(run.boxes);
    return status;
}
