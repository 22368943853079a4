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
        free(expect_success("mkdir %s && cd %s && \"$SIMULATE\" noisy-image --missing 0.8 --test-missing 0.8 "
                            "--train 3 --test 2 --seed 1 . && \"$CLEAVE\" train --learner mssvm --c 1 --batch 2 "
                            "--passes 4 --rate 1 --data train.safetensors -o m.cleave",
                            folder, folder));
    }
    return folder;
}

TEST(feature_files_are_scored_by_the_rule_asked_for)
{
    static const char *const rules[] = {
        "", "--decode own", "--decode marginal-map", "--decode map", "--decode marginals", "--decode marginals -t 3"};
    enum { N_RULES = sizeof rules / sizeof *rules };
    char *reported[N_RULES];
    for (int k = 0; k < N_RULES; k++)
        reported[k] = expect_success("cd %s && \"$CLEAVE\" score -m m.cleave --data test.safetensors --json %s",
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
    expect_error(64, "--decode: \"best\"", "\"$CLEAVE\" segment -m x -o y z --decode best");
    expect_error(64, "does not go with --boxes", "\"$CLEAVE\" segment -o y z --decode map --boxes b");
    expect_error(64, "goes with a feature file", "\"$CLEAVE\" score --data x --pred y --decode map");
    expect_error(64, "--decode: \"least-loss\"", "\"$CLEAVE\" score -m x --data y.safetensors --decode least-loss");
}

TEST(labels_by_any_rule_are_refined)
{
    static const char *const rules[] = {"own", "map", "marginals"};
    const char *folder = temporary_folder();
    for (int k = 0; k < 3; k++)
        free(expect_success("cd %s && \"$CLEAVE\" segment -m %s --data %s/manifest.tsv --split test -o plain%d "
                            "--decode %s && \"$CLEAVE\" segment -m %s --data %s/manifest.tsv --split test -o refined%d "
                            "--decode %s --refine",
                            folder, sample_model(), sample_set(), k, rules[k], sample_model(), sample_set(), k,
                            rules[k]));
    for (int k = 0; k < 3; k++)
        ck_assert(!same_bytes(formatted("%s/plain%d", folder, k), formatted("%s/refined%d", folder, k)));
}

SETUP_ONCE(sample_setup, NULL)
