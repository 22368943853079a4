/* cleave train --stages 2, and all that its models go through. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleave/segment.h"
#include "support/sample.h"
#include "support/support.h"

#define TRAIN "cleave train --learner ssvm --stages 2 " SAMPLE_TRAINING " "

enum { MAX_PIXELS = 1 << 16 };

static char two[256]; /* the model, made once; next to it the summary of its training */

static void setup(void)
{
    sample_setup();
    snprintf(two, sizeof two, "%s/two", temporary_folder());
    run_here(TRAIN "--data $SET/manifest.tsv --split train --validate test -o %s --threads 3 >%s.summary", two, two);
}

TEST(models_of_two_stages_are_the_same_by_threads_and_from_feature_files)
{
    run_here("grep -q '^stage 1   5 folds, 102 features of context, 2 of edges' %s.summary && grep -q '^test  "
             "*weighted Hamming' %s.summary",
             two, two);
    run_here(TRAIN "--data $SET/manifest.tsv --split train --validate test -o one --threads 1");
    run_here("cp %s two && for k in two one; do cleave inspect --top 0 $k | grep -v command >$k.txt; done && cmp "
             "two.txt one.txt && cleave segment -q -m two $SET/images -o a && cleave segment -q -m one $SET/images -o "
             "b --threads 1 && diff -r -x .cleave-run a b && cleave segment -q -m $MODEL $SET/images -o c && ! diff "
             "-rq -x .cleave-run a c >/dev/null",
             two);
    run_here("cleave features --data $SET/manifest.tsv --split train --seed 1 --superpixels 120 --words 20 "
             "--codebook-samples 2000 -o f && cleave train --learner ssvm --stages 2 --data f --seed 1 --passes 10 -o "
             "three && cleave segment -q -m three $SET/images -o d && diff -r -x .cleave-run a d && cleave segment -q "
             "-m three --features f -o e && for i in e/*; do cmp $i a/${i#e/}; done");
}

TEST(clv_segment_gives_the_commands_masks)
{
    static const char *const ways[] = {"plain", "refined"};
    for (int refined = 0; refined < 2; refined++) {
        OWNED(clv_model_release) struct clv_model model = {0};
        OWNED(clv_set_release) struct clv_set set = {0};
        struct clv_segment_options options;
        static uint8_t labels[MAX_PIXELS];
        run_here("cleave segment -q -m %s --data $SET/manifest.tsv --split test %s -o %s", two,
                 refined ? "--refine" : "", ways[refined]);
        clv_segment_defaults(&options);
        options.refine = refined ? CLV_REFINE_ALL : CLV_REFINE_LARGE;
        must(clv_model_read(&model, two, err));
        must(clv_set_read_manifest(&set, formatted("%s/manifest.tsv", sample_set()), err));
        must(clv_set_select(&set, "test", err));
        ck_assert_uint_gt(set.n_items, 0);
        for (size_t i = 0; i < set.n_items; i++) {
            OWNED(clv_image_release) struct clv_image image = {0};
            OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
            const char *name = strrchr(set.items[i].name, '/') + 1;
            must(clv_image_read(&image, set.items[i].image, NULL, err));
            must(clv_indexed_image_read(&mask, here("%s/%.*s.png", ways[refined], (int)strcspn(name, "."), name), NULL,
                                        err));
            size_t n = (size_t)image.width * (size_t)image.height;
            ck_assert_uint_le(n, MAX_PIXELS);
            must(clv_segment(labels, &model, &image, &options, err));
            ck_assert_mem_eq(labels, mask.values, n);
        }
    }
}

/* A training killed in its second stage goes on to the model of one that was not. */
TEST(a_resumed_second_stage_ends_in_the_same_model)
{
    const char *set = sample_set();
    const char *options =
        formatted("--data %s/manifest.tsv --split train --seed 1 --superpixels 60 --words 10 --codebook-samples 1000 "
                  "--learner wmpmap --passes 40 --stages 2",
                  set);
    run_here("cleave train %s -o whole && { cleave train %s -o part --checkpoint-every 0 >/dev/null & first=$!; until "
             "[ -e part.checkpoint ]; do sleep 0.01; done; kill -KILL $first; wait $first; [ ! -e part ]; } && cleave "
             "train %s -o part --resume && cmp whole part && [ ! -e part.checkpoint ]",
             options, options, options);
}

TEST(inspect_marginals_and_score_take_two_stages)
{
    run_here("cleave inspect %s --top 3000 >text && grep -q '^stages  *2, the first of' text && grep -q 'stage 1: "
             "label 1 above, within 0.3' text && grep -q 'stage 1: similarity' text && cleave inspect %s --json | grep "
             "-q '\"stages\":2'",
             two, two);
    run_here("cleave probabilities -m %s --data $SET/manifest.tsv --split test -o q && cleave segment -q -m %s --data "
             "$SET/manifest.tsv --split test --decode min-loss -o s && cleave score --data $SET/manifest.tsv --split "
             "test --pred s -m %s",
             two, two, two);
}

TEST(label_weights_change_the_model_and_are_kept_in_its_record)
{
    for (int k = 0; k < 2; k++)
        run_here("cleave train " SAMPLE_TRAINING
                 " --data $SET/manifest.tsv --split train --loss counts --label-weights %s -o %s",
                 k ? "0.5" : "0", k ? "weighed" : "plain");
    run_here("cleave inspect weighed | grep -q '^  label_weights  *0.5$' && ! cleave inspect plain | grep "
             "label_weights && ! cmp -s weighed plain");
    expect_error(64, "--label-weights", "cleave train --label-weights 1.5 --data $SET -o m");
}

TEST(the_folds_of_two_stages_choose_label_weights_and_may_be_runs)
{
    run_here(TRAIN "--data $SET/manifest.tsv --split train --loss counts --label-weights auto -o chosen >summary && "
                   "x=$(sed -n 's/^ *label weights //p' summary) && [ -n \"$x\" ] && { [ \"$x\" = 0 ] || cleave "
                   "inspect chosen | grep -q \"^  label_weights  *$x$\"; }");
    run_here("cp -r $SET own && awk 'BEGIN { OFS = \"\\t\" } { print $0, NR == 1 ? \"sequence\" : int(NR / 3) }' "
             "$SET/manifest.tsv >own/manifest.tsv && " TRAIN
             "--data own --split train -o runs && cleave inspect --top 0 runs | grep -v command >a && cleave inspect "
             "--top 0 %s | grep -v command >b && ! cmp -s a b",
             two);
}

/* The mirrored set learned from by itself, after the set, is the same as --mirror: each image's features and truth are
 * those of the image turned around. */
TEST(mirror_images_teach_as_images_that_were_turned_do)
{
    OWNED(clv_set_release) struct clv_set read = {0};
    run_here("cp -r $SET both && cd $HERE/both && mkdir images/turned masks/turned");
    must(clv_set_read(&read, here("both/manifest.tsv"), err));
    must(clv_set_select(&read, "train", err));
    FILE *manifest = fopen(here("both/manifest.tsv"), "w");
    ck_assert_ptr_nonnull(manifest);
    fprintf(manifest, "image\tmask\n");
    for (size_t i = 0; i < read.n_items; i++)
        fprintf(manifest, "%s\tmasks/%zu.png\n", read.items[i].name, i);
    for (size_t i = 0; i < read.n_items; i++) {
        OWNED(clv_image_release) struct clv_image image = {0}, turned = {0};
        OWNED(clv_mask_release) struct clv_mask mask = {0};
        must(clv_image_read(&image, read.items[i].image, NULL, err));
        must(clv_mask_read(&mask, read.items[i].mask, &read.labels, 0, 0, NULL, err));
        must(clv_image_new(&turned, image.width, image.height, 3, err));
        if (i == 0) /* which teaches nothing, nor does its mirror image */
            memset(mask.labels, CLV_VOID, (size_t)mask.width * (size_t)mask.height);
        must(clv_png_write_labels(here("both/masks/%zu.png", i), mask.width, mask.height, mask.labels, NULL, 0, err));
        for (int32_t y = 0; y < image.height; y++)
            for (int32_t x = 0; x < image.width; x++) {
                size_t at = (size_t)(y * image.width + x), to = (size_t)(y * image.width + image.width - 1 - x);
                memcpy(turned.pixels + 3 * to, image.pixels + 3 * at, 3);
            }
        for (int32_t y = 0; y < mask.height; y++)
            for (int32_t x = 0; x < mask.width / 2; x++) {
                uint8_t *left = &mask.labels[y * mask.width + x], *right = &mask.labels[(y + 1) * mask.width - 1 - x];
                uint8_t kept = *left;
                *left = *right;
                *right = kept;
            }
        must(clv_png_write(here("both/images/turned/%zu.png", i), &turned, err));
        must(clv_png_write_labels(here("both/masks/turned/%zu.png", i), mask.width, mask.height, mask.labels, NULL, 0,
                                  err));
        fprintf(manifest, "images/turned/%zu.png\tmasks/turned/%zu.png\n", i, i);
    }
    ck_assert_int_eq(fclose(manifest), 0);
    run_here("cd both && head -n %zu manifest.tsv >own.tsv && printf 'name\\nground\\nfigure\\n' >labels.tsv",
             1 + read.n_items);
    /* Words are learned from the images, so that there are none here. */
    const char *options = "--learner ssvm --seed 1 --superpixels 60 --blocks colour,position,size,contrast --passes 5";
    run_here("cleave train --data both/own.tsv --mirror %s -o mirrored && cleave train --data both/manifest.tsv %s -o "
             "turned && cleave train --data both/own.tsv %s -o plain && for m in mirrored turned plain; do cleave "
             "inspect --top 1000 $m | grep -v -e command -e digest -e data >$m.txt; done && cmp mirrored.txt "
             "turned.txt && ! cmp -s mirrored.txt plain.txt",
             options, options, options);
    run_here(
        TRAIN
        "--mirror --data $SET/manifest.tsv --split train -o m >summary && grep -q 'of them mirror images' summary");
    expect_error(
        64, "--mirror: goes with images that all have masks",
        "cleave train --mirror --data $SET/manifest.tsv --split train --unlabelled-split test --learner wmpmap -o n");
}

TEST(what_two_stages_cannot_do_is_refused)
{
    expect_error(64, "--stages", "cleave train --stages 3 --data $SET -o m");
    expect_error(64, "--label-costs: of two labels", TRAIN "--data $SET --label-costs 3 -o m");
    spill(here("only"), "images/0001.jpg\nimages/0002.jpg\n", 32);
    expect_error(64, "two stages need 5 images or more", TRAIN "--data $SET/manifest.tsv --only only -o m");
    ck_assert_int_eq(count_files(here("m")), 0);
}

SETUP_ONCE(setup, NULL)
