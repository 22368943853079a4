/* What SIGTERM leaves of long choices by cross-validation, and of `cleave tag train'. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support/sample.h"
#include "support/support.h"

/* Runs a command in the folder, ends it after so many tenths of a second by SIGTERM, and expects it to end soon, by
 * status 143; it is killed after a minute. What it says; free() it. */
static char *stop_after(int tenths, const char *folder, const char *command)
{
    char *output;
    int code = run_command(&output,
                           "cd %s && { %s & }; work=$!; sleep %d.%d; kill -TERM $work; { sleep 60; kill -KILL $work; } "
                           ">/dev/null 2>&1 & watch=$!; wait $work; status=$?; kill $watch; exit $status",
                           folder, command, tenths / 10, tenths % 10);
    ck_assert_msg(code == 143, "status %d after %d/10 s: %s", code, tenths, output);
    return output;
}

/* The same, later and later, until it has got so far as to say `part`. */
static char *stop_when(const char *part, const char *folder, const char *command)
{
    for (int tenths = 4; tenths <= 1024; tenths *= 2) {
        char *output = stop_after(tenths, folder, command);
        if (strstr(output, part))
            return output;
        free(output);
    }
    ck_abort_msg("%s: never says \"%s\"", command, part);
    return NULL;
}

static const char *make_features(void)
{
    const char *folder = temporary_folder();
    if (!path_exists(here("f")))
        run_here("cleave features --data $SET/manifest.tsv --split train --superpixels 60 --words 10 "
                 "--codebook-samples 2000 -o f");
    return folder;
}

TEST(the_second_signal_ends_at_once_with_a_line)
{
    make_features();
    run_here(
        "env --default-signal=HUP cleave train --data f --gap 0 --passes 1000000 -o twice >log 2>&1 & work=$!; until "
        "grep -q nodes log; do "
        "sleep .1; done; kill -STOP $work; kill -TERM $work; kill -HUP $work; kill -CONT $work; code=0; wait $work "
        "|| code=$?; [ $code -gt 128 ] && grep -q '^cleave: note: stopped; a command that has --resume continues' log "
        "&& "
        "[ ! -e twice ]");
}

TEST(cross_validation_prints_its_table_so_far)
{
    const char *folder = make_features();
    OWNED_ARRAY char *output =
        stop_when("  0.01           1  ", folder,
                  "\"$CLEAVE\" train --data f --learner ssvm --gap 0 --cv 2 --cv-grid lambda=0.01 "
                  "--cv-grid passes=1,1000000 -o cv.cleave 2>&1");
    ck_assert_ptr_nonnull(strstr(output, "\nunfinished\n"));
    ck_assert_ptr_nonnull(strstr(output, "interrupted in cross-validation: nothing is chosen and no model is learned"));
    ck_assert_ptr_nonnull(
        strstr(output, "are in cv.cleave.checkpoint; run the same command with --resume to continue"));
    ck_assert(!path_exists(formatted("%s/cv.cleave", folder)));
}

TEST(finished_folds_are_kept_and_the_same_line_goes_on_to_the_same_model)
{
    const char *folder = make_features();
    const char *line = "\"$CLEAVE\" train --data f --learner ssvm --gap 0 --passes 2000 --cv 3 --cv-grid "
                       "lambda=0.1,0.01,0.001 --threads 1";
    OWNED_ARRAY char *whole = expect_success("cd %s && %s -o whole.cleave", folder, line);
    char *output =
        stop_when("are in part.cleave.checkpoint", folder, formatted("%s --resume -o part.cleave 2>&1", line));
    ck_assert_ptr_null(strstr(output, ": 0 of 9"));
    free(output);
    expect_error(64, "cannot go on from it: seed was \"0\", is \"1\"", "cd %s && %s --seed 1 --resume -o part.cleave",
                 folder, line);
    output = expect_success("cd %s && %s --resume -o part.cleave", folder, line);
    ck_assert_ptr_nonnull(strstr(output, "going on from part.cleave.checkpoint"));
    const char *table = strstr(whole, "3-fold cross-validation"), *chosen = strstr(table, "chosen");
    ck_assert_msg(memmem(output, strlen(output), table, (size_t)(chosen - table)) != NULL, "%s%s", whole, output);
    free(output);
    run_here("cd %s && cmp whole.cleave part.cleave && [ ! -e part.cleave.checkpoint ]", folder);
}

TEST(a_training_that_is_stopped_early_says_that_nothing_is_left)
{
    free(stop_when("interrupted before anything was learned; nothing is written", temporary_folder(),
                   formatted("\"$CLEAVE\" train %s/manifest.tsv --superpixels 2000 --words 4000 -o early.cleave 2>&1",
                             sample_set())));
    ck_assert(!path_exists(here("early.cleave")));
}

/* Examples whose tags are mostly noise, so that learning takes its time. */
static const char *make_tags(void)
{
    const char *folder = temporary_folder();
    FILE *file = fopen(here("tags.svm"), "w");
    ck_assert_ptr_nonnull(file);
    for (uint32_t l = 0, state = 1; l < 400; l++) {
        fprintf(file, "%u,%u", l % 3, 3 + l % 4);
        for (int k = 1; k <= 20; k++)
            fprintf(file, " %d:%g", k, (double)((state = state * 1664525u + 1013904223u) >> 16) / 65536.0);
        fprintf(file, "\n");
    }
    ck_assert_int_eq(fclose(file), 0);
    return folder;
}

TEST(models_of_tags_are_kept_as_far_as_they_got)
{
    const char *folder = make_tags();
    static const char *const learners[] = {"lmsbn", "ssvm-full", "tsbc"};
    for (size_t k = 0; k < sizeof learners / sizeof *learners; k++) {
        char command[512];
        snprintf(command, sizeof command,
                 "\"$CLEAVE\" tag train --data tags.svm --learner %s --lambda 1e-9 --tolerance 1e-12 --passes 1000000 "
                 "--overwrite -o t.cleave 2>&1",
                 learners[k]);
        OWNED_ARRAY char *output = stop_when("interrupted; the model so far is in t.cleave", folder, command);
        ck_assert_msg(strstr(output, "of 7 tags have weights") && !strstr(output, ": 0 of 7 tags"), "%s", output);
        ck_assert_int_eq(strstr(output, "thresholds may not be tuned") != NULL, k == 2);
        run_here("cd %s && cleave tag predict -m t.cleave --data tags.svm -o t.tsv --overwrite", folder);
    }
}

TEST(cross_validation_of_tags_prints_its_table_so_far_or_what_is_lost)
{
    const char *folder = make_tags();
    OWNED_ARRAY char *output =
        stop_when("\n     1e+06", folder,
                  "\"$CLEAVE\" tag train --data tags.svm --learner ssvm-full --cv 2 --cv-repeats 1 --cv-lambda "
                  "1e6,1e-9 --tolerance 1e-12 --passes 1000000 -o cv.cleave 2>&1");
    ck_assert_ptr_nonnull(strstr(output, "\nunfinished\n"));
    ck_assert_ptr_null(strstr(output, "\n     1e-09"));
    ck_assert_ptr_nonnull(strstr(output, "nothing is chosen and no model is learned"));
    free(output);
    output = stop_after(10, folder,
                        "\"$CLEAVE\" tag train --data tags.svm --lambda 1e-9 --order-by f --tolerance 1e-12 --passes "
                        "1000000 -o cv.cleave 2>&1");
    ck_assert_ptr_nonnull(
        strstr(output, "interrupted while held-out examples ordered the tags: nothing is learned yet"));
    ck_assert(!path_exists(formatted("%s/cv.cleave", folder)));
}

SETUP_ONCE(sample_setup, NULL)
