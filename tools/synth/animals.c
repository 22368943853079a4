/* Writes sets of synthetic images. Each image is a pure function of the seed and its number (animal_scene.c), so
 * threads draw them in any order. The manifest is written last: a folder without one is not a set. Start at
 * synth_animals. */
#include "synth.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

#define JPEG_QUALITY 92
/* A stream of its own for the sizes, so that images need not be drawn to know them. */
#define SIZE_STREAM UINT32_MAX

void synth_options_init(struct synth_options *options)
{
    *options = (struct synth_options){.n_images = 60, .width = 240, .height = 180, .train_share = 2.0 / 3};
}

struct box {
    int32_t x0, y0, x1, y1; /* x0 <= x < x1 */
};

struct synth_run {
    const char *folder;
    const struct synth_options *options;
    const struct clv_progress *progress;
    struct box *boxes; /* [n_images] */
    int n_digits;
    size_t n_done; /* counted by parallel_progress */
};

static enum clv_status check_options(const struct synth_options *options, struct clv_error *err)
{
    FAIL_IF(options->n_images < 1, CLV_ERR_USAGE, "number of images is %d, must be at least 1", options->n_images);
    FAIL_IF(options->width < 16 || options->width > 8192 || options->height < 16 || options->height > 8192,
            CLV_ERR_USAGE, "size is %dx%d, each side must be 16..8192", options->width, options->height);
    FAIL_IF(!(options->train_share >= 0 && options->train_share <= 1), CLV_ERR_USAGE, "train share is %g, must be 0..1",
            options->train_share);
    return CLV_OK;
}

static void stream_close(DIR **stream)
{
    if (*stream)
        closedir(*stream);
}

/* A new or an empty folder passes. */
static enum clv_status check_folder(const char *folder, struct clv_error *err)
{
    enum path_kind kind;
    MUST(path_find_kind(&kind, folder, err));
    if (kind == PATH_ABSENT)
        return CLV_OK;
    OWNED(stream_close) DIR *stream = opendir(folder);
    if (!stream)
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot open folder", folder);
    for (struct dirent *entry; (entry = readdir(stream));)
        FAIL_IF(strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0, CLV_ERR_CREATE,
                "%s: folder is not empty (it holds %s); --overwrite writes into it", folder, entry->d_name);
    return CLV_OK;
}

/* folder/images/0001.jpg of image 0; array_free it. */
static char *item_path(const struct synth_run *run, const char *kind, const char *extension, size_t index)
{
    char name[64];
    snprintf(name, sizeof name, "%s/%0*zu%s", kind, run->n_digits, index + 1, extension);
    return path_join(run->folder, name);
}

static int32_t varied_side(const struct synth_options *options, int32_t side, uint64_t index)
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
    const struct synth_options *options = run->options;
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED_ARRAY uint8_t *figure = NULL;
    OWNED_ARRAY char *image_path = item_path(run, "images", ".jpg", index),
                     *mask_path = item_path(run, "masks", ".png", index);
    NEED(image_path && mask_path);
    FAIL_IF(stop_requested(run->progress), CLV_ERR_INTERRUPTED, "interrupted");
    const struct synth_request request = {varied_side(options, options->width, 2 * index),
                                          varied_side(options, options->height, 2 * index + 1), options->seed,
                                          (uint32_t)index};
    MUST(synth_scene_draw(&image, &figure, &request, err));
    MUST(clv_jpeg_write(image_path, &image, JPEG_QUALITY, err));
    MUST(clv_png_write_labels(mask_path, image.width, image.height, figure, black_and_white, 2, err));
    run->boxes[index] = tight_box(figure, image.width, image.height);
    parallel_progress(run->progress, "drawing", &run->n_done, (size_t)options->n_images, NULL);
    return CLV_OK;
}

static enum clv_status write_table(const struct synth_run *run, const char *name,
                                   void (*put_row)(FILE *stream, const struct synth_run *run, size_t index),
                                   const char *header, struct clv_error *err)
{
    OWNED(file_abort) struct file_writer writer = {0};
    OWNED_ARRAY char *path = path_join(run->folder, name);
    NEED(path);
    MUST(file_create(&writer, path, err));
    fputs(header, writer.stream);
    for (size_t i = 0; i < (size_t)run->options->n_images; i++)
        put_row(writer.stream, run, i);
    return file_commit(&writer, err);
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
    OWNED_ARRAY char *images = path_join(run->folder, "images"), *masks = path_join(run->folder, "masks");
    NEED(images && masks);
    MUST(folder_create(images, err));
    return folder_create(masks, err);
}

static enum clv_status draw_all(struct synth_run *run, int n_threads, struct clv_error *err)
{
    MUST(make_folders(run, err));
    MUST(parallel_for((size_t)run->options->n_images, n_threads, draw_one, run, err));
    MUST(write_table(run, "boxes.tsv", put_box_row, "image\tlabel\tx\ty\tw\th\n", err));
    return write_table(run, "manifest.tsv", put_manifest_row, "image\tmask\tsplit\n", err);
}

/* Removes what a failed run has written, and the folder if the run made it. */
static void remove_all(const struct synth_run *run, bool is_new)
{
    OWNED_ARRAY char *boxes = path_join(run->folder, "boxes.tsv");
    remove_items(run, "images", ".jpg");
    remove_items(run, "masks", ".png");
    if (boxes)
        unlink(boxes);
    if (is_new)
        rmdir(run->folder);
}

static void run_release(struct synth_run *run)
{
    array_free(run->boxes);
}

enum clv_status synth_animals(const char *folder, const struct synth_options *options, int n_threads,
                              const struct clv_progress *progress, struct clv_error *err)
{
    OWNED(run_release) struct synth_run run = {
        .folder = folder, .options = options, .progress = progress, .n_digits = 4};
    enum path_kind kind = PATH_ABSENT;
    MUST(check_options(options, err));
    if (!options->overwrite)
        MUST(check_folder(folder, err));

    for (int32_t n = options->n_images; n >= 10000; n /= 10)
        run.n_digits++;
    run.boxes = array_zalloc((size_t)options->n_images, sizeof *run.boxes);
    NEED(run.boxes);
    MUST(path_find_kind(&kind, folder, err));
    enum clv_status status = draw_all(&run, n_threads, err);
    if (status && !options->overwrite)
        remove_all(&run, kind == PATH_ABSENT);
    return status;
}
