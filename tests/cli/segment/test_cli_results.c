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

TEST(one_image_goes_into_the_file_that_is_named)
{
    const char *folder = temporary_folder();
    char command[1024];
    snprintf(command, sizeof command, "cd %s && \"$CLEAVE\" segment -m %s %s/images", folder, sample_model(),
             sample_set());
    free(expect_success("%s/0001.jpg -o new/one.png --overlay", command));
    free(expect_success("%s/0001.jpg -o folder", command));
    ck_assert(same_bytes(formatted("%s/new/one.png", folder), formatted("%s/folder/0001.png", folder)));
    ck_assert(path_exists(formatted("%s/new/overlays/one.jpg", folder)));
    expect_error(73, "exists already; --overwrite replaces it", "%s/0001.jpg -o new/one.png", command);
    free(expect_success("%s/0001.jpg -o new/one.png --overwrite", command));
    expect_error(64, "-o two.png: one file for the results of 2 images; -o FOLDER has a file of each",
                 "%s/0001.jpg %s/images/0002.jpg -o two.png", command, sample_set());
    expect_error(64, "-o one.png: one file, and --export writes several", "%s/0001.jpg -o one.png --export coco",
                 command);
    free(expect_success("cd %s && mkdir is.png && cp %s/images/0001.jpg . && \"$CLEAVE\" segment -m %s 0001.jpg "
                        "-o is.png && test -f is.png/0001.png",
                        folder, sample_set(), sample_model()));
    expect_error(73, "in.png: is the same file as the input in.png",
                 "cd %s && mv 0001.jpg in.png && \"$CLEAVE\" segment -m %s in.png -o in.png --overwrite", folder,
                 sample_model());
    free(expect_success("cd %s && \"$CLEAVE\" marginals -m %s in.png -o map.png && test -f map.png", folder,
                        sample_model()));
}

TEST(a_failed_run_leaves_no_empty_folder)
{
    const char *folder = temporary_folder();
    spill(formatted("%s/bad.jpg", folder), "no image", 8);
    expect_error(65, "bad.jpg", "cd %s && \"$CLEAVE\" segment -m %s bad.jpg -o a/b/out --report c/report", folder,
                 sample_model());
    ck_assert(!path_exists(formatted("%s/a", folder)));
    ck_assert(!path_exists(formatted("%s/c/report", folder)));
    free(expect_success("mkdir -p %s/mine", folder));
    expect_error(65, "bad.jpg", "cd %s && \"$CLEAVE\" segment -m %s bad.jpg -o mine/out", folder, sample_model());
    ck_assert(path_is_folder(formatted("%s/mine", folder)));
    ck_assert(!path_exists(formatted("%s/mine/out", folder)));
}

TEST(resume_goes_on_with_the_model_that_began)
{
    const char *folder = temporary_folder();
    free(expect_success("cd %s && cp %s same.cleave && \"$CLEAVE\" train -q --learner ssvm --data %s/manifest.tsv "
                        "--seed 2 --superpixels 60 --words 10 --codebook-samples 2000 --passes 3 -o other.cleave && "
                        "\"$CLEAVE\" segment -q -m %s %s/images/0001.jpg -o out",
                        folder, sample_model(), sample_set(), sample_model(), sample_set()));
    expect_error(73, "out: has results of another model than other.cleave; --resume goes on",
                 "cd %s && \"$CLEAVE\" segment -m other.cleave %s/images -o out --resume", folder, sample_set());
    expect_error(73, "out: has results of another model",
                 "cd %s && \"$CLEAVE\" marginals -m same.cleave %s/images -o out --resume", folder, sample_set());
    expect_error(73, "out: has results of another model",
                 "cd %s && \"$CLEAVE\" segment --boxes 1,1,9,9 %s/images -o out --resume", folder, sample_set());
    char *text =
        expect_success("cd %s && \"$CLEAVE\" segment -m same.cleave %s/images -o out --resume", folder, sample_set());
    ck_assert_ptr_nonnull(strstr(text, "11 images segmented into out, 1 finished before"));
    free(text);
    free(expect_success("cd %s && \"$CLEAVE\" segment -m other.cleave %s/images -o out --overwrite && "
                        "\"$CLEAVE\" segment -m other.cleave %s/images -o out --resume",
                        folder, sample_set(), sample_set()));
}

TEST(overlays_of_jpeg_images_are_jpeg_and_no_inputs)
{
    const char *folder = temporary_folder();
    struct clv_image image = {0};
    free(expect_success("mkdir %s/photos && cp %s/images/0001.jpg %s/photos/a.JPG", folder, sample_set(), folder));
    must(clv_image_read(&image, formatted("%s/photos/a.JPG", folder), NULL, err));
    must(clv_png_write(formatted("%s/photos/b.png", folder), &image, err));
    free(expect_success("cd %s && \"$CLEAVE\" segment -q -m %s photos -o out --overlay --cutout --report report",
                        folder, sample_model()));
    free(expect_success("cd %s/out && test \"$(head -c 2 overlays/a.jpg | od -An -tx1)\" = ' ff d8' && "
                        "test -f overlays/b.png && test -f cutouts/a.png && test ! -e overlays/a.png",
                        folder));
    struct clv_image overlay = {0};
    must(clv_image_read(&overlay, formatted("%s/out/overlays/a.jpg", folder), NULL, err));
    ck_assert(overlay.width == image.width && overlay.height == image.height);
    char *text = expect_success("cd %s && \"$CLEAVE\" segment -m %s photos -o out --overlay --cutout --resume", folder,
                                sample_model());
    ck_assert_ptr_nonnull(strstr(text, "0 images segmented into out, 2 finished before"));
    free(text);
    text = expect_success("cd %s && \"$CLEAVE\" segment -m %s out -o again", folder, sample_model());
    ck_assert_ptr_nonnull(strstr(text, "2 images segmented")); /* the masks alone */
    free(text);
    clv_image_release(&image);
    clv_image_release(&overlay);
}

TEST(a_report_of_probabilities_counts_maps)
{
    const char *folder = temporary_folder();
    size_t size;
    free(expect_success("cd %s && \"$CLEAVE\" marginals -q -m %s %s/images -o maps --report report", folder,
                        sample_model(), sample_set()));
    char *page = slurp(formatted("%s/report/index.html", folder), &size);
    ck_assert_ptr_nonnull(strstr(page, "probability maps"));
    ck_assert_ptr_null(strstr(page, "images segmented"));
    free(page);
}

TEST(a_stopped_run_says_how_to_go_on)
{
    const char *folder = temporary_folder();
    free(expect_success("mkdir %s/many", folder));
    sample_enlarge(formatted("%s/large.png", folder), 1600, 1200);
    free(expect_success("cd %s/many && for i in $(seq 40); do ln -s ../large.png $i.png; done", folder));
    char *text = NULL;
    int code = run_command(&text,
                           "cd %s && (\"$CLEAVE\" segment -t 1 -m %s many -o out 2>&1 & process=$!; "
                           "while ! test -f out/1.png; do sleep 0.01; done; kill -TERM $process; wait $process)",
                           folder, sample_model());
    ck_assert_int_eq(code, 143);
    ck_assert_msg(strstr(text, " of 40 images segmented into out; the same line with --resume goes on") != NULL, "%s",
                  text);
    free(text);
}

SETUP_ONCE(sample_setup, NULL)
