/* Segmenting in one call: the command's masks, from several threads, and what is refused. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleave/segment.h"
#include "infer/infer.h"
#include "support/sample.h"
#include "support/support.h"

enum { MAX_PIXELS = 200 * 200 };

static struct clv_set test_images(const char *manifest)
{
    struct clv_set set = {0};
    must(clv_set_read_manifest(&set, manifest, err));
    must(clv_set_select(&set, "test", err));
    ck_assert_uint_gt(set.n_items, 1);
    return set;
}

/* Every test image of a set in memory against the mask that the command has written into `folder`. */
static void expect_the_commands_masks(const char *manifest, const char *model_path, const char *folder,
                                      const struct clv_segment_options *options)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    OWNED(clv_set_release) struct clv_set set = test_images(manifest);
    must(clv_model_read(&model, model_path, err));
    for (size_t i = 0; i < set.n_items; i++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
        static uint8_t labels[MAX_PIXELS];
        must(clv_image_read(&image, set.items[i].image, NULL, err));
        const char *name = strrchr(set.items[i].name, '/') ? strrchr(set.items[i].name, '/') + 1 : set.items[i].name;
        must(clv_indexed_image_read(&mask, formatted("%s/%.*s.png", folder, (int)strcspn(name, "."), name), NULL, err));
        ck_assert_int_eq(image.width, mask.width);
        ck_assert_int_eq(image.height, mask.height);
        size_t n = (size_t)image.width * (size_t)image.height;
        ck_assert_uint_le(n, MAX_PIXELS);
        must(clv_segment(labels, &model, &image, options, err));
        ck_assert_mem_eq(labels, mask.values, n);
    }
}

TEST(labels_are_the_commands_masks)
{
    const char *set = sample_set(), *manifest = formatted("%s/manifest.tsv", set);
    struct clv_segment_options options;
    run_here("cleave segment -m $MODEL --data %s --split test -o plain && cleave segment -m $MODEL --data %s --split "
             "test --refine -o refined",
             manifest, manifest);
    clv_segment_defaults(&options);
    must(clv_oracle_new(&options.oracle, CLV_ENGINE_DEFAULT, err));
    expect_the_commands_masks(manifest, sample_model(), here("plain"), NULL);
    expect_the_commands_masks(manifest, sample_model(), here("plain"), &options);
    options.refine = CLV_REFINE_ALL;
    expect_the_commands_masks(manifest, sample_model(), here("refined"), &options);
    ck_assert(!same_bytes(here("plain"), here("refined")));
    clv_oracle_free(options.oracle);
}

/* Unless its labels are drawn. */
TEST(an_image_larger_than_the_working_size_is_refined_at_pixels)
{
    enum { WIDTH = 400, HEIGHT = 300, USUAL = 0, REFINED, PLAIN, DRAWN, DRAWN_PLAIN, N_WAYS };
    static uint8_t labels[N_WAYS][WIDTH * HEIGHT];
    static const enum clv_refine_choice choices[N_WAYS] = {CLV_REFINE_LARGE, CLV_REFINE_ALL, CLV_REFINE_NONE,
                                                           CLV_REFINE_LARGE, CLV_REFINE_NONE};
    OWNED(clv_model_release) struct clv_model model = {0};
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_model_read(&model, sample_model(), err));
    ck_assert_int_lt(model.recipe.working_pixels, WIDTH * HEIGHT);
    sample_enlarge(here("large.png"), WIDTH, HEIGHT);
    must(clv_image_read(&image, here("large.png"), NULL, err));
    for (int k = 0; k < N_WAYS; k++) {
        struct clv_segment_options options;
        clv_segment_defaults(&options);
        options.refine = choices[k];
        options.n_samples = k >= DRAWN;
        must(clv_segment(labels[k], &model, &image, k ? &options : NULL, err));
    }
    ck_assert_mem_eq(labels[USUAL], labels[REFINED], sizeof *labels);
    ck_assert_mem_ne(labels[USUAL], labels[PLAIN], sizeof *labels);
    ck_assert_mem_eq(labels[DRAWN], labels[DRAWN_PLAIN], sizeof *labels);
    struct clv_segment_options both;
    clv_segment_defaults(&both);
    both.refine = CLV_REFINE_ALL;
    both.n_samples = 1;
    must_fail(CLV_ERR_USAGE, "labels of least expected loss cannot be refined",
              clv_segment(labels[PLAIN], &model, &image, &both, err));
}

TEST(one_sample_is_a_draw_by_the_seed)
{
    static uint8_t labels[4][MAX_PIXELS];
    struct clv_segment_options options;
    OWNED(clv_model_release) struct clv_model model = {0};
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_model_read(&model, sample_model(), err));
    must(clv_image_read(&image, formatted("%s/images/0001.jpg", sample_set()), NULL, err));
    clv_segment_defaults(&options);
    must(clv_segment(labels[3], &model, &image, &options, err));
    options.n_samples = 1;
    for (int k = 0; k < 3; k++) {
        options.seed = (uint64_t)k / 2;
        must(clv_segment(labels[k], &model, &image, &options, err));
    }
    ck_assert_mem_eq(labels[0], labels[1], sizeof labels[0]);
    ck_assert_mem_ne(labels[0], labels[2], sizeof labels[0]);
    ck_assert_mem_ne(labels[0], labels[3], sizeof labels[0]);
}

/* The sample's masks, and a third label where the animal is in the image's left half. */
TEST(labels_of_patches_and_more_than_two_are_the_commands_masks)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    struct clv_segment_options options;
    run_here("cp -r $SET three");
    const char *manifest = here("three/manifest.tsv");
    must(clv_set_read_manifest(&set, manifest, err));
    for (size_t i = 0; i < set.n_items; i++) {
        OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
        must(clv_indexed_image_read(&mask, set.items[i].mask, NULL, err));
        for (int32_t p = 0; p < mask.width * mask.height; p++)
            mask.values[p] = (uint8_t)(mask.values[p] ? 1 + (p % mask.width < mask.width / 2) : 0);
        must(clv_png_write_labels(set.items[i].mask, mask.width, mask.height, mask.values, NULL, 0, err));
    }
    const char table[] = "value\tname\tred\tgreen\tblue\n0\tground\t0\t0\t0\n1\tright\t200\t0\t0\n2\tleft\t0\t200\t0\n";
    spill(here("three/labels.tsv"), table, strlen(table));
    run_here(
        "cleave train --learner independent --nodes patches --seed 1 --words 10 --codebook-samples 500 --sift-bins 3 "
        "--passes 5 --data %s --split train -o three.cleave && cleave segment -m three.cleave --data %s --split test "
        "-o plain3 && cleave segment -m three.cleave --data %s --split test --refine -o refined3",
        manifest, manifest, manifest);
    clv_segment_defaults(&options);
    expect_the_commands_masks(manifest, here("three.cleave"), here("plain3"), NULL);
    options.refine = CLV_REFINE_ALL;
    expect_the_commands_masks(manifest, here("three.cleave"), here("refined3"), &options);
}

/* Two labels whose model is not decoded by a cut, so that there are no margins. */
TEST(hidden_models_of_patches_are_painted_by_votes_and_refined)
{
    const char *folder = temporary_folder();
    char manifest[512], path[512];
    snprintf(manifest, sizeof manifest, "%s/manifest.tsv", sample_set());
    snprintf(path, sizeof path, "%s/hidden.cleave", folder);
    struct clv_segment_options options;
    OWNED(clv_model_release) struct clv_model model = {0};
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_example_release) struct clv_example example = {0};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    static uint8_t labels[MAX_PIXELS], voted[MAX_PIXELS], painted[MAX_PIXELS];
    static int32_t y[MAX_PIXELS];
    run_here("cleave train --learner mssvm --data %s --split train --seed 1 --nodes patches --blocks colour,size "
             "--passes 5 -o %s && cleave segment -m %s --data %s --split test -o hidden && cleave segment -m %s --data "
             "%s --split test --refine -o hidden_refined",
             manifest, path, path, manifest, path, manifest);
    clv_segment_defaults(&options);
    expect_the_commands_masks(manifest, path, here("hidden"), &options);
    options.refine = CLV_REFINE_ALL;
    expect_the_commands_masks(manifest, path, here("hidden_refined"), &options);
    ck_assert(!same_bytes(here("hidden"), here("hidden_refined")));
    run_here("cleave probabilities -m %s --data %s --split test --json -o hidden_maps", path, manifest);
    ck_assert_int_eq(count_files(here("hidden_maps")), count_files(here("hidden")));

    OWNED(clv_set_release) struct clv_set set = test_images(manifest);
    must(clv_model_read(&model, path, err));
    must(clv_image_read(&image, set.items[0].image, NULL, err));
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    must(clv_example_extract(&example, &image, &model.recipe, err));
    must(clv_model_predict(y, &model, &example.problem, oracle, err));
    must(clv_example_vote(voted, NULL, &example, y, 2, err));
    must(clv_example_paint(painted, &example, y, err));
    must(clv_segment(labels, &model, &image, NULL, err));
    size_t n = (size_t)image.width * (size_t)image.height;
    ck_assert_mem_eq(labels, voted, n);
    ck_assert_mem_ne(labels, painted, n);
}

/* What a thread of a caller's does with a model of its own. */
struct caller {
    const char *model;
    struct clv_set set;
    uint8_t *labels; /* [n_items][MAX_PIXELS] */
    enum clv_status status;
};

static void *segment_all_images(void *context)
{
    struct caller *self = context;
    OWNED(clv_model_release) struct clv_model model = {0};
    struct clv_segment_options options;
    clv_segment_defaults(&options);
    options.refine = CLV_REFINE_ALL;
    self->status = clv_model_read(&model, self->model, NULL);
    for (size_t i = 0; i < self->set.n_items && self->status == CLV_OK; i++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        self->status = clv_image_read(&image, self->set.items[i].image, NULL, NULL);
        if (self->status == CLV_OK)
            self->status = clv_segment(self->labels + i * MAX_PIXELS, &model, &image, &options, NULL);
    }
    return NULL;
}

TEST(two_models_segment_in_two_threads_at_once)
{
    struct caller callers[3] = {0}; /* two at once, then one alone that repeats the first */
    pthread_t threads[2];
    const char *other = here("other.cleave");
    run_here("cleave train --learner pmap --data $SET/manifest.tsv --split train --seed 1 --words 20 "
             "--codebook-samples 2000 --passes 10 --nodes patches -o %s",
             other);
    for (int i = 0; i < 3; i++) {
        callers[i].set = test_images(formatted("%s/manifest.tsv", sample_set()));
        callers[i].model = i == 1 ? other : sample_model();
        callers[i].labels = calloc(callers[i].set.n_items, MAX_PIXELS);
    }
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, segment_all_images, &callers[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    segment_all_images(&callers[2]);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(callers[i].status, CLV_OK);
    size_t size = callers[0].set.n_items * MAX_PIXELS;
    ck_assert_mem_eq(callers[0].labels, callers[2].labels, size);
    ck_assert_mem_ne(callers[1].labels, callers[2].labels, size);
    for (int i = 0; i < 3; i++) {
        clv_set_release(&callers[i].set);
        free(callers[i].labels);
    }
}

TEST(what_cannot_be_segmented_is_refused_and_labels_stay)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    struct clv_model empty = {0};
    OWNED(clv_image_release) struct clv_image image = {0}, grey = {0};
    struct clv_image none = {0};
    struct clv_segment_options options;
    uint8_t labels[100];
    memset(labels, 77, sizeof labels);
    must(clv_model_read(&model, sample_model(), err));
    must(clv_image_new(&image, 10, 10, 3, err));
    must(clv_image_new(&grey, 10, 10, 1, err));
    must_fail(CLV_ERR_USAGE, "features made elsewhere", clv_segment(labels, &empty, &image, NULL, err));
    must_fail(CLV_ERR_USAGE, "10x10 of 1 channels", clv_segment(labels, &model, &grey, NULL, err));
    must_fail(CLV_ERR_USAGE, "0x0", clv_segment(labels, &model, &none, NULL, err));
    clv_segment_defaults(&options);
    options.refine = CLV_REFINE_ALL;
    struct clv_refine_options refining;
    clv_refine_defaults(&refining);
    options.refining = &refining;
    refining.coupling = -1;
    must_fail(CLV_ERR_USAGE, "coupling", clv_segment(labels, &model, &image, &options, err)); /* after painting */
    for (size_t p = 0; p < sizeof labels; p++)
        ck_assert_uint_eq(labels[p], 77);
    refining.coupling = 1;
    must(clv_segment(labels, &model, &image, &options, err));
    for (size_t p = 0; p < sizeof labels; p++)
        ck_assert_uint_le(labels[p], 1);
}

SETUP_ONCE(sample_setup, NULL)
