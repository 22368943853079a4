#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "support/support.h"
#include "tools/synth/synth.h"

static struct synth_options small_set(int32_t n_images)
{
    struct synth_options options;
    synth_options_init(&options);
    options.n_images = n_images;
    options.width = 64;
    options.height = 48;
    options.seed = 7;
    return options;
}

/* A path in the temporary folder, in memory that lasts (formatted()'s ring does not). */
static const char *inside(char path[256], const char *name)
{
    snprintf(path, 256, "%s/%s", temporary_folder(), name);
    return path;
}

/* Every file below the folder, its name and its bytes, in one digest (FNV-1a). */
static uint64_t digest_of(const char *folder)
{
    OWNED(path_list_release) struct path_list list = {0};
    uint64_t digest = 14695981039346656037u;
    must(folder_walk(&list, folder, err));
    for (size_t i = 0; i < list.n; i++) {
        size_t size;
        OWNED_ARRAY char *bytes = slurp(formatted("%s/%s", folder, list.paths[i]), &size);
        for (const char *c = list.paths[i]; *c; c++)
            digest = (digest ^ (unsigned char)*c) * 1099511628211u;
        for (size_t k = 0; k < size; k++)
            digest = (digest ^ (unsigned char)bytes[k]) * 1099511628211u;
    }
    return digest;
}

static size_t count_files(const char *folder)
{
    OWNED(path_list_release) struct path_list list = {0};
    must(folder_walk(&list, folder, err));
    size_t n = list.n;
    return n;
}

TEST(set_is_complete_and_its_boxes_are_tight)
{
    char folder_path[256];
    const char *folder = inside(folder_path, "set");
    struct synth_options options = small_set(9);
    must(synth_animals(folder, &options, 2, NULL, err));
    ck_assert_uint_eq(count_files(folder), 9 + 9 + 2);

    OWNED(clv_set_release) struct clv_set set = {0};
    must(clv_set_read_manifest(&set, formatted("%s/manifest.tsv", folder), err));
    ck_assert_uint_eq(set.n_items, 9);
    OWNED_ARRAY char *boxes = slurp(formatted("%s/boxes.tsv", folder), NULL);
    char *line = strchr(boxes, '\n') + 1;
    for (size_t i = 0; i < set.n_items; i++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        OWNED(clv_mask_release) struct clv_mask mask = {0};
        ck_assert_str_eq(set.items[i].split, i < 6 ? "train" : "test");
        must(clv_image_read(&image, set.items[i].image, NULL, err));
        must(clv_mask_read(&mask, set.items[i].mask, &set.labels, image.width, image.height, NULL, err));
        ck_assert_int_ge(image.width, 48);
        ck_assert_int_le(image.width, 80);
        ck_assert_int_ge(image.height, 36);
        ck_assert_int_le(image.height, 60);
        int x, y, w, h, x0 = image.width, y0 = image.height, x1 = -1, y1 = -1;
        ck_assert_int_eq(strncmp(line, set.items[i].name, strlen(set.items[i].name)), 0);
        ck_assert_int_eq(sscanf(strchr(line, '\t'), " foreground %d %d %d %d", &x, &y, &w, &h), 4);
        for (int row = 0; row < mask.height; row++)
            for (int column = 0; column < mask.width; column++) {
                uint8_t label = mask.labels[row * mask.width + column];
                ck_assert_uint_le(label, 1);
                if (label) {
                    x0 = column < x0 ? column : x0;
                    x1 = column > x1 ? column : x1;
                    y0 = row < y0 ? row : y0;
                    y1 = row > y1 ? row : y1;
                }
            }
        ck_assert_int_eq(x, x0);
        ck_assert_int_eq(y, y0);
        ck_assert_int_eq(w, x1 - x0 + 1);
        ck_assert_int_eq(h, y1 - y0 + 1);
        line = strchr(line, '\n') + 1;
    }
    ck_assert_str_eq(line, "");
}

TEST(same_seed_gives_the_same_bytes_at_any_thread_count)
{
    struct synth_options options = small_set(12);
    uint64_t digests[3];
    int threads[3] = {1, 2, 8};
    for (int i = 0; i < 3; i++) {
        char path[256];
        const char *folder = inside(path, formatted("threads-%d", threads[i]));
        must(synth_animals(folder, &options, threads[i], NULL, err));
        digests[i] = digest_of(folder);
    }
    ck_assert_uint_eq(digests[0], digests[1]);
    ck_assert_uint_eq(digests[0], digests[2]);
    options.seed++;
    char other_path[256];
    const char *other = inside(other_path, "seed");
    must(synth_animals(other, &options, 2, NULL, err));
    ck_assert_uint_ne(digest_of(other), digests[0]);
}

TEST(an_image_does_not_depend_on_how_many_follow)
{
    char few_path[256], many_path[256];
    const char *few = inside(few_path, "few"), *many = inside(many_path, "many");
    struct synth_options options = small_set(2);
    must(synth_animals(few, &options, 1, NULL, err));
    options.n_images = 5;
    must(synth_animals(many, &options, 2, NULL, err));
    size_t few_size, many_size;
    OWNED_ARRAY char *a = slurp(formatted("%s/images/0002.jpg", few), &few_size);
    OWNED_ARRAY char *b = slurp(formatted("%s/images/0002.jpg", many), &many_size);
    ck_assert_uint_eq(few_size, many_size);
    ck_assert_mem_eq(a, b, few_size);
}

TEST(the_smallest_images_still_hold_an_animal)
{
    char folder_path[256];
    const char *folder = inside(folder_path, "tiny");
    struct synth_options options = small_set(60);
    options.width = options.height = 16;
    must(synth_animals(folder, &options, 2, NULL, err));
    OWNED(clv_set_release) struct clv_set set = {0};
    must(clv_set_read_manifest(&set, formatted("%s/manifest.tsv", folder), err));
    for (size_t i = 0; i < set.n_items; i++) {
        OWNED(clv_mask_release) struct clv_mask mask = {0};
        must(clv_mask_read(&mask, set.items[i].mask, &set.labels, 0, 0, NULL, err));
        size_t n_pixels = (size_t)mask.width * (size_t)mask.height;
        ck_assert_ptr_nonnull(memchr(mask.labels, 1, n_pixels));
        ck_assert_ptr_nonnull(memchr(mask.labels, 0, n_pixels));
    }
}

TEST(folders_with_something_in_them_are_refused_and_left_alone)
{
    char folder_path[256];
    const char *folder = inside(folder_path, "used");
    must(folder_create(folder, err));
    struct synth_options options = small_set(3);
    must(synth_animals(folder, &options, 1, NULL, err)); /* an empty folder is fine */
    uint64_t before = digest_of(folder);
    options.seed = 8;
    must_fail(CLV_ERR_CREATE, "not empty", synth_animals(folder, &options, 1, NULL, err));
    ck_assert_uint_eq(digest_of(folder), before);
    run_here("\"$SYNTH\" -n 3 --size 64x48 --seed 8 --overwrite %s", folder);
    ck_assert(digest_of(folder) != before);
    OWNED_ARRAY char *output = NULL;
    ck_assert_int_eq(run_command(&output, "\"$SYNTH\" --size 64 x"), 64);
    must_say(output, "synth: --size: \"64\" is not WIDTHxHEIGHT");

    char file_path[256];
    const char *file = inside(file_path, "file");
    spill(file, "x", 1);
    must_fail(CLV_ERR_CREATE, file, synth_animals(file, &options, 1, NULL, err));
    must_fail(CLV_ERR_CREATE, "/proc/", synth_animals("/proc/cleave/x", &options, 1, NULL, err));
}

TEST(options_out_of_range_are_named)
{
    char folder_path[256];
    const char *folder = inside(folder_path, "never");
    struct synth_options options = small_set(0);
    must_fail(CLV_ERR_USAGE, "number of images is 0", synth_animals(folder, &options, 1, NULL, err));
    options = small_set(1);
    options.width = 15;
    must_fail(CLV_ERR_USAGE, "15x48", synth_animals(folder, &options, 1, NULL, err));
    options = small_set(1);
    options.height = 8193;
    must_fail(CLV_ERR_USAGE, "64x8193", synth_animals(folder, &options, 1, NULL, err));
    options = small_set(1);
    options.train_share = 1.5;
    must_fail(CLV_ERR_USAGE, "1.5", synth_animals(folder, &options, 1, NULL, err));
    ck_assert(!path_exists(folder));
}

static void stop_after_three(void *context, const char *what, size_t done, size_t total, const char *note)
{
    (void)note;
    ck_assert_str_eq(what, "drawing");
    ck_assert_uint_eq(total, 50);
    if (done == 3)
        *(volatile int *)context = 1;
}

TEST(an_interrupted_run_leaves_nothing)
{
    char folder_path[256];
    const char *folder = inside(folder_path, "stopped");
    struct synth_options options = small_set(50);
    volatile int stop = 0;
    struct clv_progress progress = {stop_after_three, (void *)&stop, &stop, NULL, NULL};
    must_fail(CLV_ERR_INTERRUPTED, "interrupted", synth_animals(folder, &options, 2, &progress, err));
    ck_assert(!path_exists(folder));
    must(folder_create(folder, err)); /* a folder that was there before stays, empty */
    stop = 0;
    must_fail(CLV_ERR_INTERRUPTED, "interrupted", synth_animals(folder, &options, 2, &progress, err));
    ck_assert(path_is_folder(folder));
    ck_assert_int_eq(rmdir(folder), 0);
}

/* What a classifier can know that sees one number per pixel: how often figure and ground fall into each of its bins. */
#define N_BINS 512
struct bins {
    double count[2][N_BINS], total[2];
};
typedef int bin_function(const struct clv_image *image, int x, int y);

static int colour_bin(const struct clv_image *image, int x, int y)
{
    const uint8_t *p = image->pixels + 3 * (y * image->width + x);
    return (p[0] >> 5) << 6 | (p[1] >> 5) << 3 | p[2] >> 5;
}

static int position_bin(const struct clv_image *image, int x, int y)
{
    return y * 16 / image->height * 16 + x * 16 / image->width;
}

static struct bins count_bins(const struct clv_set *set, const char *split, bin_function *bin_of)
{
    struct bins bins = {0};
    for (size_t i = 0; i < set->n_items; i++) {
        if (strcmp(set->items[i].split, split) != 0)
            continue;
        OWNED(clv_image_release) struct clv_image image = {0};
        OWNED(clv_mask_release) struct clv_mask mask = {0};
        must(clv_image_read(&image, set->items[i].image, NULL, err));
        must(clv_mask_read(&mask, set->items[i].mask, &set->labels, 0, 0, NULL, err));
        for (int y = 0; y < image.height; y++)
            for (int x = 0; x < image.width; x++) {
                int label = mask.labels[y * image.width + x];
                bins.count[label][bin_of(&image, x, y)]++;
                bins.total[label]++;
            }
    }
    return bins;
}

/* Half the miss rate plus half the false-alarm rate on the test split of the best decision per bin on the training
 * split. */
static double balanced_error(const struct clv_set *set, bin_function *bin_of)
{
    struct bins seen = count_bins(set, "train", bin_of), asked = count_bins(set, "test", bin_of);
    double wrong = 0;
    for (int bin = 0; bin < N_BINS; bin++) {
        bool figure = seen.count[1][bin] / seen.total[1] > seen.count[0][bin] / seen.total[0];
        wrong += asked.count[figure ? 0 : 1][bin] / asked.total[figure ? 0 : 1] / 2;
    }
    return wrong;
}

TEST(neither_colour_nor_position_alone_solves_it)
{
    char folder_path[256];
    const char *folder = inside(folder_path, "hard");
    struct synth_options options = small_set(150);
    must(synth_animals(folder, &options, 2, NULL, err));
    OWNED(clv_set_release) struct clv_set set = {0};
    must(clv_set_read_manifest(&set, formatted("%s/manifest.tsv", folder), err));
    double colour = balanced_error(&set, colour_bin), position = balanced_error(&set, position_bin);
    ck_assert_msg(colour > 0.25, "colour alone errs on %.3f", colour);
    ck_assert_msg(position > 0.25, "position alone errs on %.3f", position);
}
