/* Which images of a folder teach, and are scored, when nothing is said. */
#include <stdio.h>
#include <stdlib.h>

#include "support/sample.h"
#include "support/support.h"

#define RECIPE "--seed 1 --superpixels 120 --words 20 --codebook-samples 2000 "
#define TRAIN  "\"$CLEAVE\" train --learner perceptron --passes 1 -o m --overwrite "

/* A set of 12 images, 8 in split train, in a folder "set" of the test's own, as `cleave label` would have left it:
 * masks 0001 and 0002 are drafts, 0003 is accepted. */
static void make_set(const char *folder)
{
    free(expect_success("cd %s && cp -r %s set && mkdir set/strokes && "
                        "for i in 1 2; do echo '{\"accepted\": 0,' >set/strokes/000$i.json; done && "
                        "echo '{\"accepted\": 1,' >set/strokes/0003.json",
                        folder, sample_set()));
}

/* Runs in the folder and expects both parts on standard output or standard error. */
static void expect_parts(const char *folder, const char *part, const char *other, const char *command)
{
    char *output = expect_success("cd %s && %s", folder, command);
    ck_assert_msg(strstr(output, part) && strstr(output, other), "%s: %s", command, output);
    free(output);
}

TEST(a_folder_with_a_manifest_is_learned_from_by_its_split_train)
{
    const char *folder = temporary_folder();
    free(expect_success("cp -r %s %s/set", sample_set(), folder));
    expect_parts(folder, "set: read by its manifest.tsv", "images    8,", TRAIN RECIPE "--data set");
    expect_parts(folder, "taking the split \"train\" (8 of 12 images)", "images    8,", TRAIN RECIPE "--data set");
    expect_parts(folder, "images    12,", "", TRAIN RECIPE "--data set --split train,test");
    free(expect_success("rm %s/set/manifest.tsv", folder));
    expect_parts(folder, "images    12,", "", TRAIN RECIPE "--data set");
}

TEST(sets_are_named_as_arguments_or_by_data)
{
    const char *folder = temporary_folder();
    free(expect_success("cp -r %s %s/set && cd %s && " TRAIN RECIPE "--data set && mv m n && " TRAIN RECIPE
                        "set && cmp m n && \"$CLEAVE\" segment -q -m m --data set/manifest.tsv --split test -o out && "
                        "\"$CLEAVE\" segment -q -m m set/manifest.tsv --split test -o again && diff -r out again && "
                        "\"$CLEAVE\" marginals -q -m m set/manifest.tsv --split test -o p && ls p/0009.png && "
                        "\"$CLEAVE\" score --data set --split test --pred out >a && "
                        "\"$CLEAVE\" score set out --split test >b && cmp a b && "
                        "\"$CLEAVE\" score --data set --split test out >b && cmp a b && "
                        "\"$CLEAVE\" features -q -m m --data set -o f && \"$CLEAVE\" features -q -m m set -o g && "
                        "cmp f g && \"$CLEAVE\" score -m m f >a && \"$CLEAVE\" score -m m --data f >b && cmp a b && "
                        "\"$CLEAVE\" train --learner perceptron --passes 1 f g -o both",
                        sample_set(), folder, folder));
}

TEST(files_that_are_no_images_are_counted_in_the_same_words_everywhere)
{
    const char *folder = temporary_folder();
    free(expect_success("cd %s && cp -r %s/images photos && cp -r photos set && echo x >set/a.txt", folder,
                        sample_set()));
    for (int n = 1; n <= 2; n++) {
        const char *words = n == 1 ? "1 file is no image and was skipped" : "2 files are no images and were skipped";
        expect_parts(folder, words, "", "! " TRAIN RECIPE "--data set");
        expect_parts(folder, words, "set/a.txt",
                     formatted("\"$CLEAVE\" segment -m %s set -o out%d", sample_model(), n));
        expect_parts(folder, words, "", formatted("\"$CLEAVE\" segment -m %s -d set -o on%d", sample_model(), n));
        free(expect_success("cd %s && echo x >set/b.txt", folder));
    }
}

TEST(what_cannot_be_met_is_refused_before_features_are_made)
{
    const char *folder = temporary_folder();
    free(expect_success("cd %s && cp -r %s set && cp -r set/images photos", folder, sample_set()));
    static const struct {
        int code;
        const char *part, *options;
    } cases[] = {
        {65, "--validate: set: no image has split \"nosuch\"; there are: test, train", "set --validate nosuch"},
        {66, "nowhere: no such folder of maps", "set --maps net=nowhere"},
        {64, "--cv: 50 folds need as many images with masks, there are 8", "set --cv 50"},
        {65,
         "none of the 12 images has a mask to learn from: masks/NAME.png goes with images/NAME.jpg, or NAME_mask.png "
         "with NAME.jpg next to it; `cleave label' makes masks, and --boxes FILE trains on boxes",
         "photos"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *output;
        int code = run_command(&output, "cd %s && \"$CLEAVE\" train --progress json -o m " RECIPE "%s 2>&1", folder,
                               cases[i].options);
        char *json_part = strdup(cases[i].part), *quote;
        while ((quote = strchr(json_part, '"')))
            *quote = 0; /* what is before it will do */
        ck_assert_int_eq(code, cases[i].code);
        ck_assert_msg(strstr(output, json_part) && !strstr(output, "extracting"), "%s", output);
        free(json_part);
        free(output);
    }
    expect_error(73, "--overwrite writes into it", "\"$CLEAVE\" synth %s", folder);
}

TEST(drafts_teach_only_if_they_are_asked_for)
{
    const char *folder = temporary_folder();
    make_set(folder);
    expect_parts(folder,
                 "set: 2 masks are drafts that `cleave label' has not accepted, and were left out, the first "
                 "is that of images/0001.jpg; --drafts takes them",
                 "images    6,", TRAIN RECIPE "--data set");
    expect_parts(folder, "images    8,", "", TRAIN RECIPE "--data set --drafts");
    free(expect_success("cd %s && printf 'images/0001.jpg\\nimages/0003.jpg\\nimages/0004.jpg\\n' >only", folder));
    expect_parts(folder, "images    3,", "", TRAIN RECIPE "--data set --only only");
    expect_parts(folder, "6 with masks, 2 with boxes", "",
                 "\"$CLEAVE\" train --learner wmpmap --passes 1 " RECIPE
                 " -o m --overwrite --data set --boxes set/boxes.tsv");
    free(expect_success("cd %s && sed -i 's/\\ttest$/\\tother/; /000[12]/s/train/test/' set/manifest.tsv", folder));
    expect_parts(folder, "has a mask to learn from", "", "! " TRAIN RECIPE "--data set --split test");
    expect_parts(folder, "on 2 images", "", TRAIN RECIPE "--data set --validate test --drafts");
}

TEST(drafts_are_no_truth)
{
    const char *folder = temporary_folder();
    make_set(folder);
    free(expect_success("cd %s && \"$CLEAVE\" segment -q -m %s --data set -o out", folder, sample_model()));
    expect_parts(folder, "2 masks are drafts", "\"images\":10,", "\"$CLEAVE\" score --data set --pred out --json");
    expect_parts(folder, "2 masks are drafts", "", "\"$CLEAVE\" features " RECIPE " --data set -o f");
    expect_parts(folder, "2 of 12 masks are void", "",
                 "\"$CLEAVE\" train --data f --learner perceptron --passes 1 -o m");
}

TEST(other_commands_take_all_images_of_a_manifest)
{
    const char *folder = temporary_folder();
    free(expect_success("cp -r %s %s/set && cd %s && cp set/images/0001.jpg set/images/more.jpg", sample_set(), folder,
                        folder));
    expect_parts(folder, "set: read by its manifest.tsv", "12 images segmented",
                 formatted("\"$CLEAVE\" segment -m %s --data set -o out", sample_model()));
    expect_parts(folder, "set: read by its manifest.tsv", "\"images\":12,",
                 "\"$CLEAVE\" score --data set --pred out --json");
    expect_parts(folder, "set: read by its manifest.tsv", "features of 12 images",
                 "\"$CLEAVE\" features " RECIPE " --data set -o f");
    expect_parts(folder, "4 images segmented", "",
                 formatted("\"$CLEAVE\" segment -m %s --data set --split test -o tested", sample_model()));
}

TEST(a_report_prints_the_errors_that_score_does)
{
    const char *folder = temporary_folder();
    char *table =
        expect_success("cd %s && \"$CLEAVE\" segment -q -m %s --data %s/manifest.tsv --split test -o out "
                       "--report report && \"$CLEAVE\" score -q --data %s/manifest.tsv --split test --pred out "
                       "--per-image",
                       folder, sample_model(), sample_set(), sample_set());
    char *page = slurp(formatted("%s/report/index.html", folder), NULL);
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
    free(page);
    free(table);
}

TEST(all_combinations_of_three_grids_are_tried)
{
    static const char *const lambdas[] = {"0.1", "1"}, *const rates[] = {"0.5", "2"}, *const batches[] = {"1", "2"};
    const char *folder = temporary_folder();
    char *output = expect_success("cd %s && \"$CLEAVE\" train --learner wmpmap --passes 1 " RECIPE
                                  "--data %s/manifest.tsv --cv 2 --cv-grid 0.1,1 --cv-grid rate=0.5,2 --cv-grid "
                                  "batch=1,2 -o m",
                                  folder, sample_set());
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
    free(output);
}

SETUP_ONCE(sample_setup, NULL)

TIMEOUT(300)
