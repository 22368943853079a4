/* Where results of cleave segment go, what made them, and what is left of a run that failed or was stopped. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "cleave/image.h"
#include "support/sample.h"
#include "support/support.h"

/* What somebody has painted since is what is made more of. */
TEST(a_mask_that_is_there_stays_when_more_is_made_of_it)
{
    uint8_t *changed;
    struct clv_indexed_image mask = {0};
    run_here("cleave segment -m $MODEL --data $SET/manifest.tsv --split test -o out");
    must(clv_indexed_image_read(&mask, here("out/0009.png"), NULL, err));
    size_t n = (size_t)mask.width * (size_t)mask.height;
    changed = mask.values;
    memset(changed, 1, n / 2);
    must(clv_png_write_labels(here("out/0009.png"), mask.width, mask.height, changed, NULL, 0, err));
    clv_indexed_image_release(&mask);
    run_here("cp out/0009.png before.png && cleave segment -m $MODEL --data $SET/manifest.tsv --split test -o out "
             "--overlay --cutout --refine --min-area 50 --resume && cmp out/0009.png before.png && test -e "
             "out/overlays/0009.jpg && test -e out/cutouts/0009.png");
    run_here(
        "rm out/0009.png && cleave segment -m $MODEL --data $SET/manifest.tsv --split test -o out --overlay --cutout "
        "--refine --min-area 50 --resume && ! cmp -s out/0009.png before.png");
}

TEST(one_image_goes_into_the_file_that_is_named)
{
    const char *folder = temporary_folder();
    char command[1024];
    snprintf(command, sizeof command, "cd %s && \"$CLEAVE\" segment -m %s %s/images", folder, sample_model(),
             sample_set());
    run_here("%s/0001.jpg -o new/one.png --overlay", command);
    run_here("%s/0001.jpg -o folder", command);
    ck_assert(same_bytes(here("new/one.png"), here("folder/0001.png")));
    ck_assert(path_exists(here("new/overlays/one.jpg")));
    expect_error(73, "exists already; --overwrite replaces it", "%s/0001.jpg -o new/one.png", command);
    run_here("%s/0001.jpg -o new/one.png --overwrite", command);
    expect_error(64, "-o two.png: one file for the results of 2 images; -o FOLDER has a file of each",
                 "%s/0001.jpg $SET/images/0002.jpg -o two.png", command);
    expect_error(64, "--export cannot be used with -o one.png: it writes several files; -o FOLDER takes them all",
                 "%s/0001.jpg -o one.png --export coco", command);
    run_here("mkdir is.png && cp $SET/images/0001.jpg . && cleave segment -m $MODEL 0001.jpg -o is.png && test -f "
             "is.png/0001.png");
    expect_error(73, "in.png: is the same file as the input in.png",
                 "mv 0001.jpg in.png && cleave segment -m $MODEL in.png -o in.png --overwrite");
    run_here("cleave probabilities -m $MODEL in.png -o map.png && test -f map.png");
}

TEST(a_failed_run_leaves_no_empty_folder)
{
    spill(here("bad.jpg"), "no image", 8);
    expect_error(65, "bad.jpg", "cleave segment -m $MODEL bad.jpg -o a/b/out --report c/report");
    ck_assert(!path_exists(here("a")));
    ck_assert(!path_exists(here("c/report")));
    run_here("mkdir -p mine");
    expect_error(65, "bad.jpg", "cleave segment -m $MODEL bad.jpg -o mine/out");
    ck_assert(path_is_folder(here("mine")));
    ck_assert(!path_exists(here("mine/out")));
}

TEST(a_failed_run_leaves_no_folder_around_or_within_that_of_its_report)
{
    spill(here("poor.jpg"), "no image", 8);
    expect_error(65, "poor.jpg", "cleave segment -m $MODEL poor.jpg -o d --report d/report");
    ck_assert(!path_exists(here("d")));
    expect_error(65, "poor.jpg", "cleave segment -m $MODEL poor.jpg -o e/out --report e");
    ck_assert(!path_exists(here("e")));
}

TEST(a_table_of_statuses_goes_into_the_new_folder_of_the_one_file)
{
    run_here("cleave segment -m $MODEL $SET/images/0001.jpg -o fresh/one.png --status fresh/status.tsv");
    expect_in_file(here("fresh/status.tsv"), "fresh/one.png");
}

/* An image with n x n objects of a pixel, and its mask. */
static void write_dots(int n)
{
    const int side = 2 * n;
    struct clv_image image = {0};
    OWNED_ARRAY uint8_t *mask = array_zalloc((size_t)side, (size_t)side);
    must(clv_image_new(&image, side, side, 3, err));
    memset(image.pixels, 90, (size_t)side * (size_t)side * 3);
    for (int y = 0; y < side; y += 2)
        for (int x = 0; x < side; x += 2)
            mask[y * side + x] = 1;
    run_here("mkdir -p dots given");
    must(clv_png_write(here("dots/a.png"), &image, err));
    must(clv_png_write_labels(here("given/a.png"), side, side, mask, NULL, 0, err));
    clv_image_release(&image);
}

TEST(objects_beyond_16_bits_are_finished_for_a_later_run)
{
    const char *command = "cleave segment --from-masks given dots -o many --objects --export voc";
    write_dots(257);
    run_here("%s && test -e many/voc/SegmentationObject/a.tif", command);
    EXPECT_PARTS(expect_success("%s --resume 2>&1", command), "1 finished before");
}

TEST(masks_that_were_edited_are_named_when_their_copies_stay)
{
    write_dots(4);
    run_here("cleave segment --from-masks given dots -o copies && touch given/a.png");
    expect_output("1 image or its given mask was written after the mask that is there, which stays; --overwrite makes "
                  "it again; the first is given/a.png",
                  "cleave segment --from-masks given dots -o copies --resume 2>&1");
}

TEST(resume_goes_on_with_the_model_that_began)
{
    run_here("cp $MODEL same.cleave && cleave train -q --learner ssvm --data $SET/manifest.tsv --seed 2 --superpixels "
             "60 --words 10 --codebook-samples 2000 --passes 3 -o other.cleave && cleave segment -q -m $MODEL "
             "$SET/images/0001.jpg -o out");
    expect_error(73, "out: has results of another model than other.cleave; --resume goes on",
                 "cleave segment -m other.cleave $SET/images -o out --resume");
    expect_error(73, "out: has results of another model",
                 "cleave probabilities -m same.cleave $SET/images -o out --resume");
    expect_error(73, "out: has results of another model", "cleave segment --boxes 1,1,9,9 $SET/images -o out --resume");
    expect_output("11 images segmented into out, 1 finished before",
                  "cleave segment -m same.cleave $SET/images -o out --resume");
    run_here("cleave segment -m other.cleave $SET/images -o out --overwrite && cleave segment -m other.cleave "
             "$SET/images -o out --resume");
}

TEST(overlays_of_jpeg_images_are_jpeg_and_no_inputs)
{
    struct clv_image image = {0};
    run_here("mkdir photos && cp $SET/images/0001.jpg photos/a.JPG");
    must(clv_image_read(&image, here("photos/a.JPG"), NULL, err));
    must(clv_png_write(here("photos/b.png"), &image, err));
    run_here("cleave segment -q -m $MODEL photos -o out --overlay --cutout --report report");
    run_here("cd out && test \"$(head -c 2 overlays/a.jpg | od -An -tx1)\" = ' ff d8' && test -f overlays/b.png && "
             "test -f cutouts/a.png && test ! -e overlays/a.png");
    struct clv_image overlay = {0};
    must(clv_image_read(&overlay, here("out/overlays/a.jpg"), NULL, err));
    ck_assert(overlay.width == image.width && overlay.height == image.height);
    expect_output("0 images segmented into out, 2 finished before",
                  "cleave segment -m $MODEL photos -o out --overlay --cutout --resume");
    char *text = expect_success("cleave segment -m $MODEL out -o again");
    ck_assert_ptr_nonnull(strstr(text, "2 images segmented")); /* the masks alone */
    free(text);
    clv_image_release(&image);
    clv_image_release(&overlay);
}

TEST(a_report_of_probabilities_counts_maps)
{
    size_t size;
    run_here("cleave probabilities -q -m $MODEL $SET/images -o maps --report report");
    char *page = slurp(here("report/index.html"), &size);
    ck_assert_ptr_nonnull(strstr(page, "probability maps"));
    ck_assert_ptr_null(strstr(page, "images segmented"));
    free(page);
}

TEST(a_stopped_run_says_how_to_go_on)
{
    run_here("mkdir many");
    sample_enlarge(here("large.png"), 1600, 1200);
    run_here("cd many && for i in $(seq 40); do ln -s ../large.png $i.png; done");
    char *text = NULL;
    int code = run_command(&text, "cd $HERE && (cleave segment -t 1 -m $MODEL many -o out 2>&1 & process=$!; while ! "
                                  "test -f out/1.png; do sleep 0.01; done; kill -TERM $process; wait $process)");
    ck_assert_int_eq(code, 143);
    ck_assert_msg(strstr(text, " of 40 images segmented into out; run the same command with --resume to continue") !=
                      NULL,
                  "%s", text);
    free(text);
}

/* Files that are not masks were once folders of that name. */
TEST(names_of_other_files_are_refused_with_one_that_is_a_mask)
{
    static const struct refusal rows[] = {
        {64, "-o o.jpg: no mask is a file of that kind; name it o.png",
         "segment -m $MODEL $SET/images/0001.jpg -o o.jpg"},
        {64, "-o a/O.PNG: no mask is a file of that kind; name it a/O.png",
         "segment -m $MODEL $SET/images/0001.jpg -o a/O.PNG"},
        {64, "-o o.tiff: no mask", "probabilities -m $MODEL $SET/images/0001.jpg -o o.tiff"},
        {64, "-o o.npy: maps of all labels go into a folder",
         "probabilities -m $MODEL $SET/images/0001.jpg -o o.npy --all-labels"},
    };
    run_here("mkdir names");
    EXPECT_REFUSALS(rows);
    run_here("! test -e o.jpg && cleave segment -q -m $MODEL $SET/images/0001.jpg -o v1.2 && test -e v1.2/0001.png && "
             "cleave segment -q -m $MODEL $SET/images/0001.jpg -o o.jpg/ && test -e o.jpg/0001.png");
}

TEST(masks_in_which_nothing_was_found_are_said_to_be_empty)
{
    struct clv_image plain = {0};
    must(clv_image_new(&plain, 200, 150, 3, err));
    memset(plain.pixels, 90, (size_t)200 * 150 * 3);
    run_here("mkdir plain");
    must(clv_png_write(here("plain/a.png"), &plain, err));
    must(clv_png_write(here("plain/b.png"), &plain, err));
    clv_image_release(&plain);
    expect_output("warning: all masks are empty: label 0 (background) is everywhere, nothing was found",
                  "cleave segment -m $MODEL plain -o found 2>&1");
    run_here("cp $SET/images/0001.jpg plain && "
             "! cleave segment -m $MODEL plain -o mixed 2>&1 | grep 'masks are empty'");
    run_here("rm plain/0001.jpg && cleave segment --from-masks found plain -o again >note 2>&1 && grep 'all masks are "
             "empty' note && ! grep model note");
}

SETUP_ONCE(sample_setup, NULL)
