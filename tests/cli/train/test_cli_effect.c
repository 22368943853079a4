/* Options that cannot have any effect are refused, and the complaint names what is in the way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "support/sample.h"
#include "support/support.h"

#define TRAIN "cleave train --seed 1 --superpixels 60 --words 10 --codebook-samples 1000 -o "

/* Before anything is read: there is no such set. */
TEST(options_that_rule_each_other_out_are_refused_at_once)
{
    static const char *const lines[][2] = {
        {"--learner mssvm --solver subgradient --lambda 1",
         "--lambda cannot be used with --learner mssvm: --solver is subgradient"},
        {"--lambda 1 --learner mssvm --c 2", "--lambda cannot be used with --learner mssvm: --c is 2"},
        {"--learner wmpmap --step 0 --rate 0.1", "--rate cannot be used with --learner wmpmap: --step is 0"},
        {"--learner m3n --solver subgradient --gap 0.1",
         "--gap cannot be used with --learner m3n: --solver is subgradient"},
        {"--learner m3n --beta 2", "--beta cannot be used with --learner m3n: --solver is bcfw"},
        {"--learner crf --penalty none --lambda 1", "--lambda cannot be used with --learner crf: --penalty is none"},
        {"--learner crf --penalty none --cv 3", "--cv: --lambda cannot be used with --learner crf: --penalty is none"},
        {"--learner m3n --cv 3 --cv-grid beta=1,2",
         "--cv-grid: --beta cannot be used with --learner m3n: --solver is bcfw"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_error(64, lines[i][1], TRAIN "m --data absent %s", lines[i][0]);
}

TEST(cross_validation_alone_chooses_how_strong_the_regularisation_is)
{
    static const char *const learners[] = {"ssvm", "crf", "mssvm", "m3n", "wmpmap"};
    run_here("cleave features --data $SET/manifest.tsv --split train --seed 1 --superpixels 60 --words 10 "
             "--codebook-samples 1000 -o f");
    for (size_t i = 0; i < sizeof learners / sizeof *learners; i++) {
        OWNED_ARRAY char *output =
            expect_success("cd $HERE && cleave train f -l %s --passes 2 --cv 2 -o m.%zu", learners[i], i);
        ck_assert_msg(strstr(output, "\nchosen     lambda ") || strstr(output, "\nchosen     C "), "%s", output);
    }
}

/* A warning, which --quiet does not silence, and an event for the page and other programs. */
TEST(a_training_that_goes_astray_says_so)
{
    run_here("cleave features -q --data $SET/manifest.tsv --split train --seed 1 --superpixels 60 --words 10 "
             "--codebook-samples 1000 -o astray");
    static const char *const ways[][2] = {{"-q", "cleave: warning: "},
                                          {"--progress json", "\"event\":\"warning\",\"text\":\""}};
    for (int k = 0; k < 2; k++) {
        OWNED_ARRAY char *output =
            expect_success("cd $HERE && cleave train astray --learner mssvm --solver subgradient --rate 1000 "
                           "--passes 5 %s -o astray.%d 2>&1",
                           ways[k][0], k);
        const char *said = strstr(output, "mssvm: training ended at an objective of ");
        ck_assert_msg(said && strstr(said, "went astray"), "%s", output);
        size_t length = strlen(ways[k][1]);
        ck_assert_msg((size_t)(said - output) >= length && !memcmp(said - length, ways[k][1], length), "%s", output);
    }
}

TEST(options_that_the_data_rule_out_are_refused)
{
    static const char *const lines[][2] = {
        {"wmpmap --kappa 2", "--kappa cannot be used with --learner wmpmap: every image has a mask"},
        {"mpmap --rounds 2", "--rounds cannot be used with --learner mpmap: every image has a mask"},
        {"mpmap --samples 5", "--samples cannot be used with --learner mpmap: every image has a mask"},
        {"ssvm --table-variance 2",
         "--table-variance cannot be used with --learner ssvm: there are no full pairwise tables"},
        {"ssvm --pairwise none --table-variance 2",
         "--table-variance cannot be used with --learner ssvm: there are no full pairwise tables"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_error(64, lines[i][1], TRAIN "m --data $SET/manifest.tsv --split train --learner %s", lines[i][0]);
    run_here("cp -r $SET/images bare");
    expect_error(64, "--rounds cannot be used with --learner wmpmap: no image has a mask",
                 TRAIN "m --data bare --boxes $SET/boxes.tsv --learner wmpmap --rounds 2");
}

/* With masks and boxes the boxes' images are labelled by a teacher, and in a second round by what was learned. */
TEST(a_second_round_labels_anew)
{
    spill(here("only"), "images/0001.jpg\nimages/0002.jpg\n", 32);
    static const char *const settings[] = {"--rounds 1 --passes 4", "--rounds 2 --passes 4",
                                           "--rounds 2 --passes 4 --samples 7"};
    for (int i = 0; i < 3; i++)
        run_here(TRAIN
                 "m%d --data $SET/manifest.tsv --split train --only only --boxes $SET/boxes.tsv --learner wmpmap %s",
                 i, settings[i]);
    for (int i = 1; i < 3; i++)
        ck_assert(!same_bytes(here("m0"), here("m%d", i)));
}

/* A candidate of another parameter may be what gives it an effect. */
TEST(a_grid_that_gives_an_option_its_effect_is_taken)
{
    run_here(TRAIN
             "m --data $SET/manifest.tsv --split train --learner m3n --beta 2 --passes 2 --cv 2 --cv-grid solver=0,1");
}

TEST(tag_refuses_what_has_no_effect)
{
    static const char *const lines[][2] = {
        {"--gamma 1", "--gamma cannot be used with --learner lmsbn: --kernel is linear"},
        {"--learner bc --eta0 1", "--eta0 cannot be used with --learner bc: it has no couplings between tags"},
        {"--learner tsbc --order 1", "--order cannot be used with --learner tsbc: it has no couplings between tags"},
        {"--order 1 --eta0 1", "--eta0 cannot be used with --learner lmsbn: --order is 1"},
        {"--cv-gamma 1", "--cv-gamma cannot be used with --kernel linear"},
        {"--learner lmbm --order-by f", "--order-by f cannot be used with --learner lmbm: it decides all tags at once"},
        {"--lambda 1 --goal exact", "--goal cannot be used with --learner lmsbn: there is no cross-validation"},
        {"--lambda 1 --cv-repeats 2", "--cv-repeats cannot be used with --learner lmsbn: there is no cross-validation"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_error(64, lines[i][1], "cleave tag train --data absent -o m %s", lines[i][0]);
}

SETUP_ONCE(sample_setup, NULL)

TIMEOUT(120)
