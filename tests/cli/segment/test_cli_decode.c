/* --decode: labels by another rule than the model's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

/* A noisy image, most of whose labels are missing, and a model of it. */
static const char *noisy_folder(void)
{
    static char folder[256];
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s/decode", temporary_folder());
        run_here("mkdir %s && cd %s && \"$SIMULATE\" noisy-image --missing 0.8 --test-missing 0.8 --train 3 --test 2 "
                 "--seed 1 . && cleave train --learner mssvm --c 1 --batch 2 --passes 4 --rate 1 --data "
                 "train.safetensors -o m.cleave",
                 folder, folder);
    }
    return folder;
}

TEST(feature_files_are_scored_by_the_rule_asked_for)
{
    static const char *const rules[] = {
        "", "--decode auto", "--decode marginal-map", "--decode map", "--decode marginals", "--decode marginals -t 3"};
    enum { N_RULES = sizeof rules / sizeof *rules };
    char *reported[N_RULES];
    for (int k = 0; k < N_RULES; k++)
        reported[k] = expect_success("cd %s && cleave score -m m.cleave --data test.safetensors --json %s",
                                     noisy_folder(), rules[k]);
    ck_assert_str_eq(reported[1], reported[0]);
    ck_assert_str_eq(reported[2], reported[0]); /* an mssvm's own */
    ck_assert_str_eq(reported[5], reported[4]);
    ck_assert_str_ne(reported[3], reported[0]);
    ck_assert_str_ne(reported[3], reported[4]);
    for (int k = 0; k < N_RULES; k++)
        free(reported[k]);
}

TEST(rules_are_refused_where_they_mean_nothing)
{
    static const struct refusal refusals[] = {
        {64, "--decode: \"best\"", "segment -m x -o y z --decode best"},
        {64, "--decode cannot be used with --boxes", "segment -o y z --decode map --boxes b"},
        {64, "goes with a feature file", "score --data x --pred y --decode map"},
        {64, "--decode: \"min-loss\"", "score -m x --data y.safetensors --decode min-loss"},
    };
    EXPECT_REFUSALS(refusals);
}

TEST(labels_by_any_rule_are_refined)
{
    static const char *const rules[] = {"auto", "map", "marginals"};
    for (int k = 0; k < 3; k++)
        run_here("cleave segment -m $MODEL --data $SET/manifest.tsv --split test -o plain%d --decode %s && cleave "
                 "segment -m $MODEL --data $SET/manifest.tsv --split test -o refined%d --decode %s --refine",
                 k, rules[k], k, rules[k]);
    for (int k = 0; k < 3; k++)
        ck_assert(!same_bytes(here("plain%d", k), here("refined%d", k)));
}

SETUP_ONCE(sample_setup, NULL)
