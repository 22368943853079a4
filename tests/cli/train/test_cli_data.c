/* Which images of a folder teach, and are scored, when nothing is said. */
#include <stdio.h>
#include <stdlib.h>

#include "support/sample.h"
#include "support/support.h"

#define RECIPE "--seed 1 --superpixels 120 --words 20 --codebook-samples 2000 "
#define TRAIN  "cleave train --learner perceptron --passes 1 -o m --overwrite "

/* A set of 12 images, 8 in split train, in a folder "set" of the test's own, as `cleave label` would have left it:
 * masks 0001 and 0002 are drafts, 0003 is accepted. */
static void make_set(void)
{
    run_here("cp -r $SET set && mkdir set/strokes && for i in 1 2; do echo '{\"accepted\": 0,' "
             ">set/strokes/000$i.json; done && echo '{\"accepted\": 1,' >set/strokes/0003.json");
}

/* Runs in the folder and expects both parts on standard output or standard error. */
static void expect_notes(const char *part, const char *other, const char *command)
{
    OWNED_ARRAY char *output = expect_success("%s", command);
    ck_assert_msg(strstr(output, part) && strstr(output, other), "%s: %s", command, output);
}

TEST(a_folder_with_a_manifest_is_learned_from_by_its_split_train)
{
    run_here("cp -r $SET set");
    expect_notes("set: read by its manifest.tsv", "images    8,", TRAIN RECIPE "--data set");
    expect_notes("taking the split \"train\" (8 of 12 images)", "images    8,", TRAIN RECIPE "--data set");
    expect_notes("images    12,", "", TRAIN RECIPE "--data set --split train,test");
    run_here("rm set/manifest.tsv");
    expect_notes("images    12,", "", TRAIN RECIPE "--data set");
}

TEST(sets_are_named_as_arguments_or_by_data)
{
    run_here(
        "cp -r $SET set && cd $HERE && " TRAIN RECIPE "--data set && mv m n && " TRAIN RECIPE
        "set && cmp m n && cleave segment -q -m m --data set/manifest.tsv --split test -o out && cleave segment -q -m "
        "m set/manifest.tsv --split test -o again && diff -r out again && cleave segment -q -m m set --split test -o "
        "third && diff -r out third && cleave probabilities -q -m m set/manifest.tsv "
        "--split test -o p && ls p/0009.png && cleave score --data set --split test --pred out >a && cleave score set "
        "out --split test >b && cmp a b && cleave score --data set --split test out >b && cmp a b && cleave features "
        "-q -m m --data set -o f && cleave features -q -m m set -o g && cmp f g && cleave score -m m f >a && cleave "
        "score -m m --data f >b && cmp a b && cleave train --learner perceptron --passes 1 f g -o both");
}

TEST(files_that_are_no_images_are_counted_in_the_same_words_everywhere)
{
    run_here("cp -r $SET/images photos && cp -r photos set && echo x >set/a.txt");
    for (int n = 1; n <= 2; n++) {
        const char *words =
            n == 1 ? "1 file is not an image and was skipped" : "2 files are not images and were skipped";
        expect_notes(words, "set/a.txt", "! " TRAIN RECIPE "--data set");
        expect_notes(words, "set/a.txt", formatted("cleave segment -m %s set -o out%d", sample_model(), n));
        expect_notes(words, "", formatted("cleave segment -m %s -d set -o on%d", sample_model(), n));
        run_here("echo x >set/b.txt");
    }
}

TEST(what_cannot_be_met_is_refused_before_features_are_made)
{
    run_here("cp -r $SET set && cp -r set/images photos");
    static const struct {
        int code;
        const char *part, *options;
    } cases[] = {
        {65, "--validate: set: no image has split \"nosuch\"; there are: test, train", "set --validate nosuch"},
        {66, "nowhere: no such folder of maps", "set --maps net=nowhere"},
        {65, "set/images/0001.jpg: is an image; a set is a folder or a manifest", "set/images/0001.jpg"},
        {64, "--cv: 50 folds need as many images with masks, there are 8", "set --cv 50"},
        {65,
         "none of the 12 images has a mask to learn from: masks/NAME.png goes with images/NAME.jpg, or NAME_mask.png "
         "with NAME.jpg next to it; `cleave label' makes masks, and --boxes FILE trains on boxes",
         "photos"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED_ARRAY char *output = NULL;
        int code =
            run_command(&output, "cd $HERE && cleave train --progress json -o m " RECIPE "%s 2>&1", cases[i].options);
        OWNED_ARRAY char *json_part = strdup(cases[i].part);
        char *quote;
        while ((quote = strchr(json_part, '"')))
            *quote = 0; /* what is before it will do */
        ck_assert_int_eq(code, cases[i].code);
        ck_assert_msg(strstr(output, json_part) && !strstr(output, "extracting"), "%s", output);
    }
}

TEST(drafts_teach_only_if_they_are_asked_for)
{
    make_set();
    expect_notes("set: skipped 2 drafts that `cleave label' has not accepted, the first "
                 "is that of images/0001.jpg; --include-drafts takes them",
                 "images    6,", TRAIN RECIPE "--data set");
    expect_notes("images    8,", "", TRAIN RECIPE "--data set --include-drafts");
    run_here("printf 'images/0001.jpg\\nimages/0003.jpg\\nimages/0004.jpg\\n' >only");
    expect_notes("images    3,", "", TRAIN RECIPE "--data set --only only");
    expect_notes("6 with masks, 2 with boxes", "",
                 "cleave train --learner wmpmap --passes 1 " RECIPE
                 " -o m --overwrite --data set --boxes set/boxes.tsv");
    run_here("sed -i 's/\\ttest$/\\tother/; /000[12]/s/train/test/' set/manifest.tsv");
    expect_notes("has a mask to learn from", "", "! " TRAIN RECIPE "--data set --split test");
    expect_notes("on 2 images", "", TRAIN RECIPE "--data set --validate test --include-drafts");
}

TEST(bad_images_are_skipped_in_the_splits_that_validate_too)
{
    run_here("cp -rL $SET set && echo no >set/images/0009.jpg");
    expect_notes("on 3 images", "set/images/0009.jpg", TRAIN RECIPE "--data set --validate test --skip-bad");
}

TEST(masks_without_an_image_are_named_where_they_are_the_truth)
{
    run_here("cp -r $SET set && rm set/manifest.tsv && cp set/masks/0001.png set/masks/stray.png");
    expect_notes("set: 1 mask has no image of its name: masks/stray.png", "\"images\":12,",
                 "cleave score --data set --pred set/masks --json");
}

TEST(drafts_are_no_truth)
{
    make_set();
    run_here("cleave segment -q -m $MODEL --data set -o out");
    expect_notes("skipped 2 drafts", "\"images\":10,", "cleave score --data set --pred out --json");
    expect_notes("skipped 2 drafts", "", "cleave features " RECIPE " --data set -o f");
    expect_notes("2 of 12 masks are void", "", "cleave train --data f --learner perceptron --passes 1 -o m");
}

TEST(other_commands_take_all_images_of_a_manifest)
{
    run_here("cp -r $SET set && cd $HERE && cp set/images/0001.jpg set/images/more.jpg");
    expect_notes("set: read by its manifest.tsv", "12 images segmented",
                 formatted("cleave segment -m %s --data set -o out", sample_model()));
    expect_notes("set: read by its manifest.tsv", "\"images\":12,", "cleave score --data set --pred out --json");
    expect_notes("set: read by its manifest.tsv", "features of 12 images",
                 "cleave features " RECIPE " --data set -o f");
    expect_notes("4 images segmented", "",
                 formatted("cleave segment -m %s --data set --split test -o tested", sample_model()));
}

TEST(a_report_prints_the_errors_that_score_does)
{
    OWNED_ARRAY char *table =
        expect_success("cleave segment -q -m $MODEL --data $SET/manifest.tsv --split test -o out --report report && "
                       "cleave score -q --data $SET/manifest.tsv --split test --pred out --per-image");
    OWNED_ARRAY char *page = slurp(here("report/index.html"), NULL);
    int n = 0;
    for (const char *line = table; (line = strchr(line, '\n')); line++) {
        double loss;
        char name[64];
        if (sscanf(line, " %lf %*f %*f images/%63s", &loss, name) != 2)
            continue;
        ck_assert_msg(strstr(page, formatted("weighted Hamming error\">%.2f", loss)) != NULL, "%s: %g", name, loss);
        n++;
    }
    ck_assert_int_eq(n, 4);
}

TEST(all_combinations_of_three_grids_are_tried)
{
    static const char *const lambdas[] = {"0.1", "1"}, *const rates[] = {"0.5", "2"}, *const batches[] = {"1", "2"};
    OWNED_ARRAY char *output =
        expect_success("cleave train --learner wmpmap --passes 1 " RECIPE
                       "--data $SET/manifest.tsv --cv 2 --cv-grid 0.1,1 --cv-grid rate=0.5,2 --cv-grid batch=1,2 -o m");
    for (int k = 0; k < 8; k++) {
        int n = 0;
        for (const char *line = output; (line = strchr(line, '\n')); line++) {
            char value[3][16];
            n += sscanf(line, " %15s %15s %15s %*f %*f", value[0], value[1], value[2]) == 3 &&
                 strcmp(value[0], lambdas[k % 2]) == 0 && strcmp(value[1], rates[k / 2 % 2]) == 0 &&
                 strcmp(value[2], batches[k / 4]) == 0;
        }
        ck_assert_msg(n == 1, "%d: %s", k, output);
    }
}

SETUP_ONCE(sample_setup, NULL)

TIMEOUT(300)
