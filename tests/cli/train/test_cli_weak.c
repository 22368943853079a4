/* Training with few masks: --only, --boxes, --weak-split, --unlabelled-split. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

/* Learners that take images without masks, quickly. */
#define WEAK_RECIPE   "--seed 1 --superpixels 80 --words 20 --codebook-samples 2000"
#define WEAK_TRAINING WEAK_RECIPE " --passes 5 --learner "

/* A copy of the sample set as "set", with the list "only" of its first three images; 0001 .. 0008 are the split
 * train. */
static const char *copy_set(void)
{
    static char folder[256];
    snprintf(folder, sizeof folder, "%s", temporary_folder());
    run_here("cp -r $SET set");
    static const char only[] = "\xEF\xBB\xBFimages/0001.jpg\r\n./images/0002.jpg\n\nimages/0003.jpg\nimages/0001.jpg\n";
    spill(here("only"), only, sizeof only - 1);
    return folder;
}

static void list_only(const char *folder, const char *names)
{
    spill(formatted("%s/only", folder), names, strlen(names));
}

/* Makes every mask but those of 0001 .. 0003 impossible to read. */
static void spoil_other_masks(const char *folder)
{
    for (int i = 4; i <= 12; i++)
        spill(formatted("%s/set/masks/%04d.png", folder, i), "no mask", 7);
}

TEST(only_the_named_masks_are_read)
{
    const char *folder = copy_set();
    spoil_other_masks(folder);
    expect_output("images    3,",
                  "cd %s && cleave train --data set/manifest.tsv --split train --only only -o few.cleave " WEAK_TRAINING
                  "ssvm",
                  folder);
}

/* Trains on three masks and images with nothing but `options`, twice: the second time the other masks cannot be read,
 * and the models are the same, since the digest knows the sizes of masks read and of no others. `reported` is what
 * training prints of the images, `recorded` what its record says. */
static void check_masks_are_not_read(const char *options, const char *reported, const char *recorded)
{
    static const char *const learners[] = {"wmpmap", "mpmap", "pmap"};
    const char *folder = copy_set();
    for (int spoilt = 0; spoilt < 2; spoilt++) {
        if (spoilt)
            spoil_other_masks(folder);
        for (int l = 0; l < 3; l++) {
            EXPECT_PARTS(expect_success("cd %s && cleave train --data set/manifest.tsv --split train --only only %s "
                                        "-o %s-%d.cleave " WEAK_TRAINING "%s",
                                        folder, options, learners[l], spoilt, learners[l]),
                         "images    12,", reported);
        }
    }
    for (int l = 0; l < 3; l++)
        ck_assert(same_bytes(formatted("%s/%s-0.cleave", folder, learners[l]),
                             formatted("%s/%s-1.cleave", folder, learners[l])));
    EXPECT_PARTS(expect_success("cleave inspect --json --top 0 %s/wmpmap-0.cleave", folder), "\"images\":\"3\"",
                 recorded);
}

TEST(unlabelled_images_teach_without_their_masks)
{
    check_masks_are_not_read("--unlabelled-split train,test", "3 with masks, 0 with boxes, 9 unlabelled",
                             "\"unlabelled_images\":\"9\"");
}

TEST(boxes_teach_without_their_images_masks)
{
    check_masks_are_not_read("--boxes set/boxes.tsv --weak-split train,test",
                             "3 with masks, 9 with boxes, 0 unlabelled", "\"boxed_images\":\"9\"");
}

/* The same model but for the record, whose digest differs for other boxes. */
TEST(boxes_alone_will_do)
{
    static const char *const learners[] = {"wmpmap", "ssvm"};
    const char *folder = copy_set();
    run_here("rm -r %s/set/masks && cd %s && cut -f1,3 set/manifest.tsv >set/maskless.tsv", folder, folder);
    for (int l = 0; l < 2; l++) {
        OWNED_ARRAY char *output = expect_success("cd %s && cleave train --data set/maskless.tsv --boxes set/boxes.tsv "
                                                  "--weak-split train -o %s.cleave " WEAK_TRAINING "%s",
                                                  folder, learners[l], learners[l]);
        ck_assert_ptr_nonnull(strstr(output, "0 with masks, 8 with boxes, 0 unlabelled"));
        ck_assert_ptr_null(strstr(output, "training  ")); /* there is no truth to compare with */
        run_here("cd %s && cleave segment -m %s.cleave --data set/maskless.tsv --split test -o %s", folder, learners[l],
                 learners[l]);
        OWNED_ARRAY char *score =
            expect_success("cd %s && cleave score --data $SET/manifest.tsv --split test --pred %s --json "
                           "2>&1 | sed 's/.*\"weighted_hamming\"://'",
                           folder, learners[l]);
        ck_assert_msg(strtod(score, NULL) < 0.4, "%s: %s", learners[l], score); /* 0.5 is chance */
    }
}

TEST(a_box_is_one_whoever_names_it)
{
    const char *folder = copy_set();
    run_here("cd %s && cleave train --data set/manifest.tsv --split train --only only --boxes set/boxes.tsv "
             "--weak-split test -o option.cleave " WEAK_TRAINING "wmpmap",
             folder);
    run_here("cd %s && awk -F'\\t' -v OFS='\\t' '{print $0, NR==1 ? \"boxes\" : \"boxes.tsv\"}' set/manifest.tsv "
             ">set/named.tsv && cleave train --data set/named.tsv --split train --only only --weak-split test -o "
             "column.cleave " WEAK_TRAINING "wmpmap",
             folder);
    run_here("cd %s && awk -F'\\t' -v OFS='\\t' 'NR>1{$5=$5-5<0 ? 0 : $5-5; $6+=5} {print}' set/boxes.tsv >wide.tsv && "
             "cleave train -q --data set/manifest.tsv --split train --only only --boxes wide.tsv --weak-split test -o "
             "wide.cleave " WEAK_TRAINING "wmpmap",
             folder);
    run_here("cd %s && for i in option column wide; do cleave inspect --json $i.cleave | sed "
             "'s/\"command\".*\"data_digest\"/\"data_digest\"/' >$i.json; done",
             folder);
    ck_assert(same_bytes(formatted("%s/option.json", folder), formatted("%s/column.json", folder)));
    ck_assert(!same_bytes(formatted("%s/option.json", folder), formatted("%s/wide.json", folder)));
}

TEST(images_without_boxes_are_counted)
{
    const char *folder = copy_set();
    run_here("cd %s && grep -v 0010 set/boxes.tsv >some.tsv", folder);
    OWNED_ARRAY char *output =
        expect_success("cd %s && cleave train --data set/manifest.tsv --split train --only only --boxes some.tsv "
                       "--weak-split test --unlabelled-split test -o m.cleave " WEAK_TRAINING "wmpmap",
                       folder);
    ck_assert_ptr_nonnull(strstr(output, "some.tsv: 1 of 4 images have no boxes and were skipped"));
    ck_assert_ptr_nonnull(strstr(output, "3 with masks, 3 with boxes, 1 unlabelled"));
}

/* Images with odd and even numbers name a folder of boxes each, in turn; each has a file that cannot be read. 0011 and
 * 0012 have no boxes, and 0009's box does not fit. */
TEST(folders_that_images_name_in_turn_are_read_once)
{
    const char *folder = copy_set();
    run_here(
        "cd %s/set && mkdir odd even && for i in 01 03 05 07 09 02 04 06 08 10; do x=9; [ $i != 09 ] || x=5000; "
        "case $i in *[13579]) d=odd;; *) d=even;; esac; echo \"<annotation><filename>00$i.jpg</filename><object>"
        "<name>a</name><bndbox><xmin>$x</xmin><ymin>9</ymin><xmax>$((x + 50))</xmax><ymax>60</ymax></bndbox>"
        "</object></annotation>\" >$d/00$i.xml; done; echo no >odd/x.xml; echo no >even/y.xml; awk 'NR == 1 {print "
        "$0 \"\\tboxes\"} NR > 1 {print $0 \"\\t\" (NR %% 2 ? \"even\" : \"odd\")}' manifest.tsv >m && mv m "
        "manifest.tsv",
        folder);
    OWNED_ARRAY char *output =
        expect_success("cd %s && cleave train --skip-bad --data set/manifest.tsv --split train --weak-split test -o "
                       "m.cleave " WEAK_TRAINING "wmpmap 2>&1",
                       folder);
    must_say(output, "set: 2 of 4 images have no boxes and were skipped");
    must_say(output, "8 with masks, 1 with boxes");
    must_say(output, "3 of 12 images were skipped as bad");
    const char *const once[] = {"odd/x.xml", "even/y.xml", "odd/0009.xml"};
    for (int k = 0; k < 3; k++)
        ck_assert_msg(strstr(output, once[k]) && !strstr(strstr(output, once[k]) + 1, once[k]), "%s", output);
}

/* Masks of which all pixels are void but those of a cross and strokes through the foreground. */
TEST(scribbles_teach)
{
    const char *folder = copy_set();
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    must(clv_labels_binary(&labels, err));
    for (int i = 1; i <= 8; i++) {
        OWNED(clv_mask_release) struct clv_mask mask = {0};
        const char *path = formatted("%s/set/masks/%04d.png", folder, i);
        must(clv_mask_read(&mask, path, &labels, 0, 0, NULL, err));
        for (int32_t y = 0; y < mask.height; y++)
            for (int32_t x = 0; x < mask.width; x++)
                if (abs(x - mask.width / 2) > 1 && abs(y - mask.height / 2) > 1 &&
                    (mask.labels[y * mask.width + x] != 1 || y % 16)) /* and a stroke of foreground in every mask */
                    mask.labels[y * mask.width + x] = CLV_VOID;
        must(clv_png_write_labels(path, mask.width, mask.height, mask.labels, NULL, 0, err));
    }
    expect_output(
        "masks that mark fewer than half of the regions of their image: 8; the rest is guessed from what they mark",
        "cd %s && cleave train --data set/manifest.tsv --split train -o m.cleave " WEAK_TRAINING "wmpmap", folder);
    run_here("cd %s && cleave segment -m m.cleave --data $SET/manifest.tsv --split test -o out", folder);
    OWNED_ARRAY char *score =
        expect_success("cd %s && cleave score --data $SET/manifest.tsv --split test --pred out --json 2>&1 | "
                       "sed 's/.*\"weighted_hamming\"://'",
                       folder);
    ck_assert_msg(strtod(score, NULL) < 0.4, "%s", score);
}

/* A third of the pixels void is not a scribble: nothing is pseudo-labelled. */
TEST(masks_that_leave_a_third_unknown_are_masks)
{
    const char *folder = copy_set();
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    must(clv_labels_binary(&labels, err));
    for (int i = 1; i <= 8; i++) {
        OWNED(clv_mask_release) struct clv_mask mask = {0};
        const char *path = formatted("%s/set/masks/%04d.png", folder, i);
        must(clv_mask_read(&mask, path, &labels, 0, 0, NULL, err));
        memset(mask.labels, CLV_VOID, (size_t)mask.width * (size_t)(mask.height / 3));
        must(clv_png_write_labels(path, mask.width, mask.height, mask.labels, NULL, 0, err));
    }
    OWNED_ARRAY char *output = expect_success(
        "cd %s && cleave train --data set/manifest.tsv --split train -o m.cleave " WEAK_TRAINING "wmpmap", folder);
    ck_assert_msg(strstr(output, "unknown") == NULL, "%s", output);
}

/* A folder: masks where there are some, boxes for the rest. */
TEST(a_folder_with_few_masks_and_boxes_teaches_in_one_line)
{
    const char *folder = copy_set();
    run_here("cd %s && rm set/manifest.tsv set/masks/000[4-8].png set/masks/0009.png set/masks/001*.png && sed "
             "'s|images/||; s|0005.jpg|gone.jpg|' set/boxes.tsv >set/few.tsv",
             folder);
    EXPECT_PARTS(expect_success("cd %s && cleave train --data set/ --boxes set/few.tsv -o m.cleave " WEAK_TRAINING
                                "wmpmap",
                                folder),
                 "3 with masks, 8 with boxes, 0 unlabelled",
                 "1 of 9 images have no boxes and were skipped: images/0005.jpg; the file also has "
                 "gone.jpg");
    run_here("cd %s && rm -r set/masks", folder);
    EXPECT_PARTS(
        expect_success("cd %s && cleave train --data set/ --boxes set/few.tsv --overwrite -o m.cleave " WEAK_TRAINING
                       "wmpmap",
                       folder),
        "0 with masks, 11 with boxes, 0 unlabelled");
}

TEST(boxes_without_any_mask_work_whatever_the_split)
{
    static const char *const choices[] = {"--split train", "--split train --weak-split train", "--weak-split train",
                                          ""};
    const char *folder = copy_set();
    run_here("cd %s && cut -f1,3 set/manifest.tsv >set/maskless.tsv", folder);
    for (int i = 0; i < 4; i++) {
        expect_output("0 with masks, 8 with boxes, 0 unlabelled",
                      "cd %s && cleave train --data set/maskless.tsv --boxes set/boxes.tsv %s --overwrite -o "
                      "m.cleave " WEAK_TRAINING "ssvm",
                      folder, choices[i]);
    }
}

TEST(all_bad_images_and_masks_are_named_at_once_and_can_be_skipped)
{
    const char *folder = copy_set();
    run_here("cd %s/set && echo no >masks/0002.png && head -c 2000 images/0004.jpg >x && mv x images/0004.jpg && cp "
             "masks/0001.png masks/0006.png && rm images/0008.jpg",
             folder);
    OWNED_ARRAY char *output = NULL;
    int code = run_command(
        &output, "cd %s && cleave train --data set/manifest.tsv -o m.cleave " WEAK_TRAINING "ssvm 2>&1", folder);
    ck_assert_int_eq(code, 65);
    static const char *const named[] = {"cleave: error: set/masks/0002.png", "cleave: error: set/images/0004.jpg",
                                        "cleave: error: set/masks/0006.png", "cleave: error: set/images/0008.jpg",
                                        "4 of 8 images cannot be learned from; --skip-bad goes on without them"};
    for (int i = 0; i < 5; i++)
        ck_assert_msg(strstr(output, named[i]) != NULL, "%s: %s", named[i], output);
    EXPECT_PARTS(expect_success("cd %s && cleave train --skip-bad --data set/manifest.tsv -o m.cleave " WEAK_TRAINING
                                "ssvm",
                                folder),
                 "4 of 8 images were skipped as bad", "images    4,");
    /* a box that does not fit is one image's own fault, too */
    list_only(folder, "images/0001.jpg\n");
    run_here("cd %s && sed 's/0009.jpg\\tforeground\\t[0-9]*/0009.jpg\\tforeground\\t5000/' set/boxes.tsv >far.tsv && "
             "! cmp -s far.tsv set/boxes.tsv",
             folder);
    EXPECT_PARTS(expect_success("cd %s && cleave train --skip-bad --data set/manifest.tsv --only only --boxes far.tsv "
                                "--weak-split test --overwrite -o m.cleave " WEAK_TRAINING "ssvm",
                                folder),
                 "1 with masks, 3 with boxes", "1 of 5 images were skipped as bad");
}

/* The same file as from a set that never had the bad ones, at any number of threads, with a recipe learned or a
 * model's. */
TEST(features_are_made_without_bad_images_that_are_named)
{
    const char *folder = copy_set();
    run_here("cd %s && grep -Ev '/000[246]' set/manifest.tsv >set/good.tsv && cleave features --data "
             "set/good.tsv " WEAK_RECIPE " -o good.safetensors && cleave train --data set/good.tsv " WEAK_TRAINING
             "ssvm -o m.cleave && cleave features --data set/good.tsv -m m.cleave -o model.safetensors",
             folder);
    run_here("cd %s/set && echo no >masks/0002.png && head -c 2000 images/0004.jpg >x && mv x images/0004.jpg && cp "
             "masks/0001.png masks/0006.png",
             folder);
    OWNED_ARRAY char *output = NULL;
    int code = run_command(
        &output, "cd %s && cleave features --data set/manifest.tsv " WEAK_RECIPE " -o bad.safetensors 2>&1", folder);
    ck_assert_int_eq(code, 65);
    free(output);
    output = expect_success(
        "cd %s && ! test -e bad.safetensors && cleave features --skip-bad --data set/manifest.tsv " WEAK_RECIPE
        " --threads 2 -o bad.safetensors 2>&1 && cmp good.safetensors bad.safetensors && cleave features --skip-bad "
        "--data set/manifest.tsv -m m.cleave --threads 1 -o bad-model.safetensors 2>&1 && cmp model.safetensors "
        "bad-model.safetensors",
        folder);
    static const char *const named[] = {"skipped: set/masks/0002.png", "skipped: set/images/0004.jpg",
                                        "skipped: set/masks/0006.png", "images were skipped as bad"};
    for (int i = 0; i < 4; i++)
        ck_assert_msg(strstr(output, named[i]) != NULL, "%s: %s", named[i], output);
    free(output);
    code = run_command(&output,
                       "cd %s && for i in set/images/*; do echo no >$i; done; cleave features --skip-bad --data "
                       "set/manifest.tsv -o none.safetensors 2>&1",
                       folder);
    ck_assert_int_eq(code, 65);
    ck_assert_msg(strstr(output, "can be used") != NULL, "%s", output);
}

static void fill_masks(const char *folder, const char *which, uint8_t value)
{
    for (int i = 1; i <= 8; i++) {
        const char *path = formatted("%s/set/masks/%04d.png", folder, i);
        if (!strstr(which, formatted("%d", i)))
            continue;
        OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
        must(clv_indexed_image_read(&mask, path, NULL, err));
        memset(mask.values, value, (size_t)mask.width * (size_t)mask.height);
        must(clv_png_write_labels(path, mask.width, mask.height, mask.values, NULL, 0, err));
    }
}

TEST(masks_of_one_label_are_fine_with_boxes)
{
    static const char *const learners[] = {"wmpmap", "ssvm"};
    const char *folder = copy_set();
    fill_masks(folder, "1", 0);
    fill_masks(folder, "2", 1);
    for (int l = 0; l < 2; l++)
        run_here("cd %s && cleave train --data set/manifest.tsv --split train --only only --boxes set/boxes.tsv "
                 "--weak-split train,test --overwrite -o m.cleave " WEAK_TRAINING "%s",
                 folder, learners[l]);
    run_here("cd %s && cleave train --data set/manifest.tsv --split train --only only --boxes set/boxes.tsv "
             "--weak-split train,test --overwrite -o m.cleave " WEAK_TRAINING
             "wmpmap --superpixels 1", /* the last one counts */
             folder);
}

TEST(masks_that_separate_nothing_draw_a_warning)
{
    const char *folder = copy_set();
    fill_masks(folder, "2", 0);
    OWNED_ARRAY char *output =
        expect_success("cd %s && cleave train --data set/manifest.tsv -o m.cleave " WEAK_TRAINING "ssvm", folder);
    ck_assert_msg(strstr(output, "warning: 1 of 8 masks have nothing but \"background\", the first is "
                                 "set/masks/0002.png") != NULL,
                  "%s", output);
    ck_assert_msg(strstr(output, "on the images learned from; expect more errors on new images; --cv 5") != NULL, "%s",
                  output);
    fill_masks(folder, "12345678", 0);
    expect_error(65,
                 "set/manifest.tsv: the 8 masks have one label alone, \"background\", from which nothing is learned",
                 "cd %s && cleave train --data set/manifest.tsv --overwrite -o m.cleave " WEAK_TRAINING "ssvm", folder);
    expect_error(65, "set: the 8 masks have one label alone",
                 "cd %s && cleave train --data set --overwrite -o m.cleave " WEAK_TRAINING "ssvm", folder);
    expect_error(65, "8 masks have one label alone",
                 "cd %s && cleave train --data set --unlabelled-split test --overwrite -o m.cleave " WEAK_TRAINING
                 "wmpmap",
                 folder);
    expect_error(64, "all that is known of 8 examples is label 0",
                 "cd %s && cleave features --data set --split train --superpixels 60 --words 10 -o f && cleave train "
                 "--data f --learner ssvm --cv 2 --overwrite -o m.cleave",
                 folder);
}

TEST(images_of_unlabelled_splits_keep_their_masks_to_themselves_by_default)
{
    const char *folder = copy_set();
    expect_output("8 with masks, 0 with boxes, 4 unlabelled",
                  "cd %s && cleave train --data set/manifest.tsv --unlabelled-split test -o m.cleave " WEAK_TRAINING
                  "wmpmap",
                  folder);
}

TEST(weak_examples_are_deterministic_at_any_thread_count)
{
    const char *folder = copy_set();
    for (int t = 1; t <= 8; t *= 8)
        run_here("cd %s && cleave train -t %d --data set/manifest.tsv --split train --only only --unlabelled-split "
                 "train,test -o %d.cleave " WEAK_TRAINING "wmpmap",
                 folder, t, t);
    ck_assert(same_bytes(formatted("%s/1.cleave", folder), formatted("%s/8.cleave", folder)));
}

static void set_boxes(const char *folder, const char *rows)
{
    const char *text = formatted("image\tlabel\tx\ty\tw\th\n%s", rows);
    spill(formatted("%s/boxes.tsv", folder), text, strlen(text));
}

TEST(boxes_may_cover_all_or_almost_nothing)
{
    const char *folder = copy_set();
    set_boxes(folder, "images/0009.jpg\ta\t-10\t-10\t5000\t5000\nimages/0010.jpg\ta\t3\t3\t0.01\t0.01\n"
                      "images/0011.jpg\ta\t3\t3\t20\t20\nimages/0011.jpg\tb\t10\t10\t20\t20\n");
    EXPECT_PARTS(expect_success("cd %s && cleave train --data set/manifest.tsv --split train --only only --boxes "
                                "boxes.tsv --weak-split test -o m.cleave " WEAK_TRAINING "wmpmap",
                                folder),
                 "3 with masks, 3 with boxes, 0 unlabelled", "cut 1 box at the border of its image");
    run_here("cd %s && cleave segment -m m.cleave --data set/manifest.tsv --split test -o out", folder);
}

static void expect_refused(const char *folder, int code, const char *part, const char *options)
{
    expect_error(code, part, "cd %s && cleave train --data set/manifest.tsv -o never.cleave " WEAK_TRAINING "%s",
                 folder, options);
    ck_assert_int_ne(run_command(NULL, "ls %s | grep never", folder), 0);
}

TEST(choices_that_leave_nothing_to_learn_from_are_refused)
{
    const char *folder = copy_set();
    expect_refused(folder, 65, "8 images without labels teach nothing", "wmpmap --unlabelled-split train");
    expect_refused(folder, 65, "no image has split \"nowhere\"", "wmpmap --unlabelled-split train,nowhere");
    expect_refused(folder, 66, "nobody: ", "wmpmap --only nobody");
    expect_refused(folder, 65, "none of the 8 images has boxes", "wmpmap --weak-split train");
    expect_refused(folder, 66, "nothing.tsv", "wmpmap --boxes nothing.tsv --weak-split train");
    set_boxes(folder, "images/other.jpg\ta\t1\t1\t5\t5\n");
    expect_refused(folder, 65, "boxes.tsv: has boxes for none of the 4 images",
                   "wmpmap --boxes boxes.tsv --weak-split test");
    set_boxes(folder, "images/0009.jpg\ta\t1000\t1\t5\t5\n");
    expect_refused(folder, 65, "is outside images/0009.jpg", "wmpmap --boxes boxes.tsv --weak-split test");
    list_only(folder, "\n\n");
    expect_refused(folder, 65, "only: names no image: list those whose masks are to be read", "wmpmap --only only");
    list_only(folder, "images/0001.jpg\nimages/0009.jpg\nimages/0077.jpg\n");
    expect_refused(folder, 65, "only: line 2: set/manifest.tsv has no image \"images/0009.jpg\" in split train",
                   "wmpmap --split train --only only");
    list_only(folder, "images/0001.jpg\n");
    static const char maskless[] =
        "image\tmask\tsplit\nimages/0001.jpg\t\ttrain\nimages/0002.jpg\tmasks/0002.png\ttrain\n";
    spill(formatted("%s/set/manifest.tsv", folder), maskless, sizeof maskless - 1);
    expect_refused(folder, 65, "only: \"images/0001.jpg\" has no mask", "wmpmap --only only");
    run_here("cd %s && cleave features -q --data set/manifest.tsv " WEAK_RECIPE " -o set.safetensors", folder);
    expect_error(64, "--only: ", "cd %s && cleave train --data set.safetensors --only only -o never.cleave", folder);
    expect_error(64,
                 "--weak-split: ", "cd %s && cleave train --data set.safetensors --weak-split train -o never.cleave",
                 folder);
    expect_error(64, "--unlabelled-split: ",
                 "cd %s && cleave train --data set.safetensors --unlabelled-split train -o never.cleave", folder);
}

SETUP_ONCE(sample_setup, NULL)
