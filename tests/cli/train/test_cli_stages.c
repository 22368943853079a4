/* cleave train --stages 2, and all that its models go through. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

#define TRAIN "\"$CLEAVE\" train --learner ssvm --stages 2 " SAMPLE_TRAINING " "

enum { MAX_PIXELS = 1 << 16 };

static char two[256]; /* the model, made once; beside it the summary of its training */

static void setup(void)
{
    sample_setup();
    snprintf(two, sizeof two, "%s/two", temporary_folder());
    free(expect_success(TRAIN "--data %s/manifest.tsv --split train --validate test -o %s --threads 3 >%s.summary",
                        sample_set(), two, two));
}

START_TEST(models_of_two_stages_are_the_same_by_threads_and_from_feature_files)
{
    const char *folder = temporary_folder(), *set = sample_set();
    free(expect_success("grep -q '^stage 1   5 folds, 102 features of context, 2 of edges' %s.summary && "
                        "grep -q '^test  *weighted Hamming' %s.summary",
                        two, two));
    free(expect_success("cd %s && " TRAIN "--data %s/manifest.tsv --split train -o one --threads 1", folder, set));
    free(expect_success(
        "cd %s && cp %s two && for k in two one; do \"$CLEAVE\" inspect --top 0 $k | grep -v command >$k.txt; done "
        "&& cmp two.txt one.txt && \"$CLEAVE\" segment -q -m two %s/images -o a && \"$CLEAVE\" segment "
        "-q -m one %s/images -o b --threads 1 && diff -r a b && \"$CLEAVE\" segment -q -m %s %s/images "
        "-o c && ! diff -rq a c >/dev/null",
        folder, two, set, set, sample_model(), set));
    free(expect_success("cd %s && \"$CLEAVE\" features --data %s/manifest.tsv --split train --seed 1 --superpixels 120 "
                        "--words 20 --codebook-samples 2000 -o f && \"$CLEAVE\" train --learner ssvm --stages 2 "
                        "--data f --seed 1 --passes 10 -o three && \"$CLEAVE\" segment -q -m three %s/images -o d && "
                        "diff -r a d && \"$CLEAVE\" segment -q -m three --features f -o e && for i in e/*; do cmp $i "
                        "a/${i#e/}; done",
                        folder, set, set));
}
END_TEST

START_TEST(clv_segment_gives_the_commands_masks)
{
    const char *folder = temporary_folder();
    static const char *const ways[] = {"plain", "refined"};
    for (int refined = 0; refined < 2; refined++) {
        struct clv_model model = {0};
        struct clv_set set = {0};
        struct clv_segment_options options;
        static uint8_t labels[MAX_PIXELS];
        free(expect_success("cd %s && \"$CLEAVE\" segment -q -m %s --data %s/manifest.tsv --split test %s -o %s",
                            folder, two, sample_set(), refined ? "--refine" : "", ways[refined]));
        clv_segment_defaults(&options);
        options.is_refined = refined;
        must(clv_model_read(&model, two, err));
        must(clv_set_read_manifest(&set, formatted("%s/manifest.tsv", sample_set()), err));
        must(clv_set_select(&set, "test", err));
        ck_assert_uint_gt(set.n_items, 0);
        for (size_t i = 0; i < set.n_items; i++) {
            struct clv_image image = {0};
            struct clv_indexed_image mask = {0};
            const char *name = strrchr(set.items[i].name, '/') + 1;
            must(clv_image_read(&image, set.items[i].image, NULL, err));
            must(clv_indexed_image_read(
                &mask, formatted("%s/%s/%.*s.png", folder, ways[refined], (int)strcspn(name, "."), name), NULL, err));
            size_t n = (size_t)image.width * (size_t)image.height;
            ck_assert_uint_le(n, MAX_PIXELS);
            must(clv_segment(labels, &model, &image, &options, err));
            ck_assert_mem_eq(labels, mask.values, n);
            clv_indexed_image_release(&mask);
            clv_image_release(&image);
        }
        clv_set_release(&set);
        clv_model_release(&model);
    }
}
END_TEST

/* A training killed in its second stage goes on to the model of one that was not. */
START_TEST(a_resumed_second_stage_ends_in_the_same_model)
{
    const char *folder = temporary_folder(), *set = sample_set();
    const char *options =
        formatted("--data %s/manifest.tsv --split train --seed 1 --superpixels 60 --words 10 --codebook-samples 1000 "
                  "--learner wmpmap --passes 40 --stages 2",
                  set);
    free(expect_success("cd %s && \"$CLEAVE\" train %s -o whole && { \"$CLEAVE\" train %s -o part --checkpoint-every 0 "
                        ">/dev/null & first=$!; until [ -e part.checkpoint ]; do sleep 0.01; done; kill -KILL $first; "
                        "wait $first; [ ! -e part ]; } && \"$CLEAVE\" train %s -o part --resume && cmp whole part && "
                        "[ ! -e part.checkpoint ]",
                        folder, options, options, options));
}
END_TEST

START_TEST(inspect_marginals_and_score_take_two_stages)
{
    const char *folder = temporary_folder(), *set = sample_set();
    free(expect_success("cd %s && \"$CLEAVE\" inspect %s --top 3000 >text && grep -q '^stages  *2, the first of' text "
                        "&& grep -q 'stage 1: label 1 above, within 0.3' text && grep -q 'stage 1: likeness' text && "
                        "\"$CLEAVE\" inspect %s --json | grep -q '\"stages\":2'",
                        folder, two, two));
    free(expect_success("cd %s && \"$CLEAVE\" marginals -m %s --data %s/manifest.tsv --split test -o q && "
                        "\"$CLEAVE\" segment -q -m %s --data %s/manifest.tsv --split test --decision marginal "
                        "-o s && \"$CLEAVE\" score --data %s/manifest.tsv --split test --pred s -m %s",
                        folder, two, set, two, set, set, two));
}
END_TEST

START_TEST(label_weights_change_the_model_and_are_kept_in_its_record)
{
    const char *folder = temporary_folder(), *set = sample_set();
    for (int k = 0; k < 2; k++)
        free(expect_success("cd %s && \"$CLEAVE\" train " SAMPLE_TRAINING
                            " --data %s/manifest.tsv --split train --loss "
                            "counts --label-weights %s -o %s",
                            folder, set, k ? "0.5" : "0", k ? "weighed" : "plain"));
    free(expect_success("cd %s && \"$CLEAVE\" inspect weighed | grep -q '^  label_weights  *0.5$' && ! \"$CLEAVE\" "
                        "inspect plain | grep label_weights && ! cmp -s weighed plain",
                        folder));
    expect_error(64, "--label-weights", "\"$CLEAVE\" train --label-weights 1.5 --data %s -o %s/m", set, folder);
}
END_TEST

START_TEST(what_two_stages_cannot_do_is_refused)
{
    const char *folder = temporary_folder(), *set = sample_set();
    expect_error(64, "--stages 2 excludes --init", TRAIN "--data %s --init %s -o %s/m", set, sample_model(), folder);
    expect_error(64, "--stages 2 excludes --prune", TRAIN "--data %s --prune 3 -o %s/m", set, folder);
    expect_error(64, "--stages 2 excludes --letters", "\"$CLEAVE\" train --learner ssvm --stages 2 --letters x -o %s/m",
                 folder);
    expect_error(64, "--stages", "\"$CLEAVE\" train --stages 3 --data %s -o %s/m", set, folder);
    expect_error(64, "--label-costs: of two labels", TRAIN "--data %s --label-costs 3 -o %s/m", set, folder);
    expect_error(64, "has two stages", "\"$CLEAVE\" prune -m %s -o %s/m", two, folder);
    spill(formatted("%s/only", folder), "images/0001.jpg\nimages/0002.jpg\n", 32);
    expect_error(64, "two stages need 5 images or more", TRAIN "--data %s/manifest.tsv --only %s/only -o %s/m", set,
                 folder, folder);
    ck_assert_int_eq(count_files(formatted("%s/m", folder)), 0);
}
END_TEST

Suite *cli_stages_suite(void);
Suite *cli_stages_suite(void)
{
    Suite *suite = suite_create("cli_stages");
    TCase *tcase = tcase_create("cli_stages");
    tcase_add_unchecked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, models_of_two_stages_are_the_same_by_threads_and_from_feature_files);
    tcase_add_test(tcase, clv_segment_gives_the_commands_masks);
    tcase_add_test(tcase, a_resumed_second_stage_ends_in_the_same_model);
    tcase_add_test(tcase, inspect_marginals_and_score_take_two_stages);
    tcase_add_test(tcase, label_weights_change_the_model_and_are_kept_in_its_record);
    tcase_add_test(tcase, what_two_stages_cannot_do_is_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
