/* `cleave train --feature-memory' on images: the same models, and nothing left beside them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "support/sample.h"
#include "support/support.h"

#define QUICK "--seed 1 --words 10 --codebook-samples 1000 --passes 3 "
#define TRAIN "\"$CLEAVE\" train " QUICK "--data "

START_TEST(images_by_demand_teach_the_same_bytes)
{
    static const char *const options[] = {
        "--superpixels 60 --learner wmpmap --batch 3 --split train --validate test",
        "--learner ssvm --nodes patches --loss counts --cv 2",
        "--superpixels 60 --learner m3n --split train --pairwise full",
    };
    const char *folder = temporary_folder();
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        for (int threads = 1; threads <= 2; threads++) {
            char *whole = expect_success("cd %s && " TRAIN "%s/manifest.tsv %s --overwrite -o whole | grep -v ' s'",
                                         folder, sample_set(), options[i]);
            char *read = expect_success("cd %s && " TRAIN "%s/manifest.tsv %s --overwrite -o read -t %d "
                                        "--feature-memory 1M | grep -v ' s'",
                                        folder, sample_set(), options[i], threads);
            ck_assert_str_eq(read, whole);
            ck_assert(same_bytes(formatted("%s/whole", folder), formatted("%s/read", folder)));
            ck_assert(!path_exists(formatted("%s/read.features", folder)));
            free(whole);
            free(read);
        }
}
END_TEST

START_TEST(what_a_killed_run_left_is_replaced_and_nothing_else)
{
    const char *folder = temporary_folder();
    free(expect_success("mkdir %s/m.features && cd %s/m.features && touch scratch-training-00002-of-00003.safetensors",
                        folder, folder));
    free(expect_success("cd %s && " TRAIN "%s --feature-memory 2M -o m", folder, sample_set()));
    ck_assert(!path_exists(formatted("%s/m.features", folder)));
    free(expect_success("mkdir %s/n.features && touch %s/n.features/mine", folder, folder));
    expect_error(73, "n.features/mine: is in the way", "cd %s && " TRAIN "%s --feature-memory 2M -o n", folder,
                 sample_set());
    ck_assert(path_exists(formatted("%s/n.features/mine", folder)));
    free(expect_success("touch %s/o.features", folder));
    expect_error(73, "o.features: cannot be a folder", "cd %s && " TRAIN "%s --feature-memory 2M -o o", folder,
                 sample_set());
}
END_TEST

START_TEST(failures_leave_no_features_behind)
{
    const char *folder = temporary_folder();
    expect_error(65, "no image has split \"absent\"",
                 "cd %s && " TRAIN "%s/manifest.tsv --validate absent --feature-memory 2M -o f", folder, sample_set());
    ck_assert(!path_exists(formatted("%s/f.features", folder)));
    expect_error(74, "f.features/scratch-training-00001-of-00001.safetensors: cannot write",
                 "cd %s && ulimit -f 100 && trap '' XFSZ && " TRAIN "%s/manifest.tsv --feature-memory 2M -o f", folder,
                 sample_set());
    ck_assert(!path_exists(formatted("%s/f.features", folder)));
}
END_TEST

START_TEST(a_kill_while_learning_leaves_no_features_behind)
{
    const char *folder = temporary_folder();
    char *output;
    int code =
        run_command(&output,
                    "cd %s && { \"$CLEAVE\" train --seed 1 --superpixels 60 --words 10 --codebook-samples 1000 "
                    "--learner wmpmap --passes 1000000 --checkpoint-every 0.1 --data %s --feature-memory 2M -o k "
                    "& }; work=$!; for i in $(seq 600); do [ -e k.checkpoint ] && break; sleep .1; done; "
                    "kill -KILL $work; wait $work",
                    folder, sample_set());
    ck_assert_msg(code == 137, "%d: %s", code, output);
    ck_assert(path_exists(formatted("%s/k.checkpoint", folder)));
    ck_assert(!path_exists(formatted("%s/k.features", folder)));
    free(output);
}
END_TEST

Suite *cli_scratch_suite(void)
{
    Suite *suite = suite_create("cli_scratch");
    TCase *tests = tcase_create("scratch");
    tcase_add_unchecked_fixture(tests, sample_setup, NULL);
    tcase_add_test(tests, images_by_demand_teach_the_same_bytes);
    tcase_add_test(tests, what_a_killed_run_left_is_replaced_and_nothing_else);
    tcase_add_test(tests, failures_leave_no_features_behind);
    tcase_add_test(tests, a_kill_while_learning_leaves_no_features_behind);
    suite_add_tcase(suite, tests);
    return suite;
}
