/* Objects that a model learned of, through its file. */
#include "cleave/train.h"
#include "model/object_tensors.h"
#include "segment/segment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/model.h"
#include "support/support.h"

enum { SIDE = 80, N = SIDE * SIDE, N_IMAGES = 6 };

/* A set with the column instances alone: pairs of squares that touch in a dark line; and objects of one pixel. */
static const char *write_set(int n_tiny)
{
    const char *folder = temporary_folder();
    OWNED_ARRAY char *manifest = calloc(4096, 1);
    strcat(manifest, "image\tinstances\tsplit\n");
    for (int k = 0; k < N_IMAGES; k++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        struct clv_object_map map = {SIDE, SIDE, 4 + (k ? 0 : n_tiny), calloc(N, sizeof(int32_t)), NULL, NULL};
        must(clv_image_new(&image, SIDE, SIDE, 3, err));
        for (int i = 0; i < N; i++) {
            int x = i % SIDE - 5 - k, y = i / SIDE - 8, row = y / 32, column = x / 16;
            bool is_object = x >= 0 && y >= 0 && column < 2 && row < 2 && y % 32 < 20;
            map.objects[i] = is_object ? 2 * row + column + 1 : 0;
            int light = is_object ? x % 16 < 2 || x % 16 > 13 ? 120 : 200 : 30;
            map.objects[i] = k == 0 && i < 2 * n_tiny && i % 2 ? 5 + i / 2 : map.objects[i];
            memset(image.pixels + 3 * i, light + (i * 7919 + k * 31) % 17, 3);
        }
        must(clv_png_write(here("%d.png", k), &image, err));
        must(clv_object_map_write(NULL, here("%d-objects.png", k), &map, err));
        strcat(manifest, formatted("%d.png\t%d-objects.png\ttrain\n", k, k));
        free(map.objects);
    }
    spill(here("manifest.tsv"), manifest, strlen(manifest));
    return folder;
}

TEST(instances_alone_teach_and_the_model_file_carries_what_was_learned)
{
    const char *folder = write_set(0), *path = formatted("%s/m.cleave", folder);
    struct clv_train_options options;
    OWNED(clv_model_release) struct clv_model model = {0}, read = {0};
    clv_train_defaults(&options, clv_learner_find("ssvm"));
    char data[600], file[600];
    snprintf(data, sizeof data, "%s/manifest.tsv", folder);
    snprintf(file, sizeof file, "%s", path);
    options.data = data;
    options.recipe.blocks = CLV_BLOCK_COLOUR | CLV_BLOCK_SIZE;
    options.n_threads = 2;
    must(clv_train_set(&model, &options, err));
    ck_assert(learned_objects_are_there(&model));
    must(clv_model_write(file, &model, err));
    must(clv_model_read(&read, file, err));
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_object_map_release) struct clv_object_map found = {0}, again = {0}, truth = {0};
    char object[700];
    snprintf(object, sizeof object, "%s/3.png", folder);
    must(clv_image_read(&image, object, NULL, err));
    snprintf(object, sizeof object, "%s/3-objects.png", folder);
    must(clv_object_map_read(&truth, object, 0, 0, NULL, err));
    must(learned_objects_find(&found, &model, &image, err));
    must(learned_objects_find(&again, &read, &image, err));
    ck_assert_int_eq(found.n_objects, 4);
    ck_assert_mem_eq(found.objects, again.objects, N * sizeof *found.objects);
    int differ = 0;
    for (int i = 0; i < N; i++)
        differ += (found.objects[i] > 0) != (truth.objects[i] > 0);
    ck_assert_int_lt(differ, N / 20);
    /* Objects of an image that is labelled: the same, with the label that can have objects, though no pixel has it. */
    OWNED_ARRAY uint8_t *labels = calloc(N, 1);
    OWNED(clv_object_map_release) struct clv_object_map labelled = {0};
    struct clv_object_map none = {0};
    struct clv_error error = {0};
    must(clv_segment_objects(&labelled, labels, &read, &image, err));
    ck_assert_mem_eq(found.objects, labelled.objects, N * sizeof *found.objects);
    ck_assert_mem_eq(labelled.labels, ((uint8_t[]){1, 1, 1, 1}), 4);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(labels[i], found.objects[i] > 0);
    image.channels = 1;
    ck_assert_int_eq(clv_segment_objects(&none, labels, &read, &image, &error), CLV_ERR_USAGE);
    ck_assert_ptr_null(none.objects);
    image.channels = 3;
    /* Tensors that are none of ours are refused. */
    const struct clv_tensor *network = clv_model_attached(&read, "objects.network");
    ((float *)network->data)[7] = NAN;
    ck_assert_int_eq(learned_objects_find(&none, &read, &image, &error), CLV_ERR_DATA);
    ck_assert(strstr(error.message, "objects.network"));
    ck_assert_ptr_null(none.objects);
}

/* Shows a part of an image in memory. */
static enum clv_status show_part(struct clv_image *part, void *context, const struct image_part *wanted, int thread,
                                 struct clv_error *error)
{
    const struct clv_image *image = context;
    const struct image_part all = {0, 0, image->width, image->height, image->width, image->height};
    (void)thread;
    return image_resize_part(part, wanted, image, &all, error);
}

/* The set's images side by side, more than once. */
static void tile_images(struct clv_image *large, const char *folder, int across, int down)
{
    char path[700];
    must(clv_image_new(large, across * SIDE, down * SIDE, 3, err));
    for (int k = 0; k < across * down; k++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        snprintf(path, sizeof path, "%s/%d.png", folder, k * 5 % N_IMAGES);
        must(clv_image_read(&image, path, NULL, err));
        for (size_t y = 0; y < SIDE; y++)
            memcpy(large->pixels +
                       3 * (((size_t)(k / across) * SIDE + y) * (size_t)large->width + (size_t)(k % across) * SIDE),
                   image.pixels + 3 * y * SIDE, (size_t)3 * SIDE);
    }
}

/* Windows cut many objects, which are all smaller than the halo. */
TEST(windows_find_the_objects_of_the_whole_image)
{
    enum { ACROSS = 6, DOWN = 5 };
    const char *folder = write_set(0);
    struct clv_train_options options;
    OWNED(clv_model_release) struct clv_model model = {0};
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_object_map_release) struct clv_object_map whole = {0};
    clv_train_defaults(&options, clv_learner_find("ssvm"));
    char data[600];
    snprintf(data, sizeof data, "%s/manifest.tsv", folder);
    options.data = data;
    options.recipe.blocks = CLV_BLOCK_COLOUR | CLV_BLOCK_SIZE;
    options.n_threads = 2;
    must(clv_train_set(&model, &options, err));
    tile_images(&image, folder, ACROSS, DOWN);
    must(learned_objects_find(&whole, &model, &image, err));
    ck_assert_int_ge(whole.n_objects, 4 * ACROSS * DOWN * 9 / 10);
    OWNED_ARRAY int32_t *numbers = array_alloc((size_t)image.width, (size_t)image.height * sizeof *numbers);
    const struct shown_image shown = {image.width, image.height, show_part, &image};
    static const struct object_windows_options each[] = {{.side = 130, .halo = 128, .n_threads = 1},
                                                         {.side = 130, .halo = 128, .n_threads = 3},
                                                         {.side = 97, .halo = 140, .n_threads = 2}};
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
        OWNED(object_windows_release) struct object_windows found = {0};
        must(learned_objects_windows(&found, &model, &shown, &each[k], err));
        object_windows_rows(numbers, &found, 0, image.height);
        ck_assert_int_eq(found.n_objects, whole.n_objects);
        ck_assert_mem_eq(numbers, whole.objects, (size_t)image.width * (size_t)image.height * sizeof *numbers);
        for (int32_t o = 0; o < whole.n_objects; o++)
            ck_assert_double_eq_tol(found.probability[o], whole.probability[o], 1e-12);
    }
}

static volatile int stop;
static char said[4096];

/* Stops where the context names what is done. */
static void watch(void *context, const char *what, size_t done, size_t total, const char *note)
{
    (void)note;
    ck_assert_uint_le(done, total);
    stop |= strcmp(what, context) == 0;
}

static void hear(void *context, enum clv_message kind, const char *text)
{
    (void)context;
    (void)kind;
    strncat(said, text, sizeof said - strlen(said) - 1);
}

TEST(a_stop_while_objects_are_learned_leaves_the_model_of_labels_as_interrupted)
{
    char data[600];
    snprintf(data, sizeof data, "%s/manifest.tsv", write_set(3));
    const char *const steps[] = {"nothing", "learning objects", "learning pixels"};
    for (int k = 0; k < 3; k++) {
        struct clv_progress progress = {watch, (void *)(uintptr_t)steps[k], &stop, hear, NULL};
        struct clv_train_options options;
        OWNED(clv_model_release) struct clv_model model = {0};
        stop = said[0] = 0;
        clv_train_defaults(&options, clv_learner_find("ssvm"));
        options.data = data;
        options.recipe.blocks = CLV_BLOCK_COLOUR | CLV_BLOCK_SIZE;
        options.progress = &progress;
        must(clv_train_set(&model, &options, err));
        ck_assert_int_eq(stop, k > 0);
        ck_assert_int_eq(learned_objects_are_there(&model), k == 0);
        ck_assert_str_eq(clv_record_get(&model.record, "interrupted"), k ? "yes" : "no");
        ck_assert_msg(strstr(said, k ? "interrupted before objects were learned" : "3 objects have one pixel only"),
                      "%s", said);
    }
}
