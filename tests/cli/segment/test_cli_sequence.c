/* cleave segment --sequence, and cleave score over sequences. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

enum { WIDTH = 80, HEIGHT = 60, FRAMES = 6 };

/* A bright square before a dark background of stripes, 4 pixels further right in each frame. */
static void write_frame(const char *folder, int number, int t, bool has_mask)
{
    struct clv_image image;
    uint8_t mask[WIDTH * HEIGHT];
    must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        int x = i % WIDTH - 8 - 4 * t, y = i / WIDTH - 20, background = (i % WIDTH * 7 + i / WIDTH * 13) % 40;
        mask[i] = x >= 0 && y >= 0 && x < 20 && y < 20;
        for (int c = 0; c < 3; c++)
            image.pixels[3 * i + c] = (uint8_t)(mask[i] ? 200 + (x * 5 + y * 11) % 50 : 30 + background);
    }
    must(clv_png_write(formatted("%s/images/f%d.png", folder, number), &image, err));
    if (has_mask)
        must(clv_png_write_labels(formatted("%s/masks/f%d.png", folder, number), WIDTH, HEIGHT, mask, NULL, 0, err));
    clv_image_release(&image);
}

/* Frames 8 to 13; masks of all, or of the first alone. */
static const char *write_frames(const char *name, bool all_masks)
{
    static char folder[256];
    snprintf(folder, sizeof folder, "%s/%s", temporary_folder(), name);
    run_here("mkdir -p %s/images %s/masks", folder, folder);
    for (int t = 0; t < FRAMES; t++)
        write_frame(folder, 8 + t, t, !t || all_masks);
    return folder;
}

static void write_manifest(const char *folder)
{
    char rows[1024] = "image\tmask\tsplit\tsequence\n";
    for (int t = 0; t < FRAMES; t++)
        snprintf(rows + strlen(rows), sizeof rows - strlen(rows), "images/f%d.png\tmasks/f%d.png\t%s\tsquare\n", 8 + t,
                 8 + t, t ? "rest" : "first");
    spill(formatted("%s/manifest.tsv", folder), rows, strlen(rows));
}

#define REST "--data %s/manifest.tsv --from-split first --split rest -o %s/out"

TEST(the_first_mask_is_propagated_to_all_frames_of_a_folder_by_their_numbers)
{
    const char *set = write_frames("bare", false);
    char *output = expect_success("cleave propagate %s -o %s/out 2>&1", set, set);
    ck_assert_ptr_nonnull(strstr(output, "5 images segmented"));
    ck_assert_ptr_null(strstr(output, "missing"));
    free(output);
    run_here("test ! -e %s/out/f8.png && test -e %s/out/f9.png && test -e %s/out/f13.png", set, set, set);
}

TEST(a_mask_of_half_the_size_is_propagated_after_the_command_that_the_message_names)
{
    const char *set = write_frames("half", false);
    uint8_t half[WIDTH / 2 * HEIGHT / 2] = {0};
    for (int y = 10; y < 20; y++)
        memset(half + y * (WIDTH / 2) + 4, 1, 10);
    must(clv_png_write_labels(formatted("%s/masks/f8.png", set), WIDTH / 2, HEIGHT / 2, half, NULL, 0, err));
    OWNED_ARRAY char *output = NULL;
    ck_assert_int_eq(run_command(&output, "\"$CLEAVE\" propagate %s -o %s/out 2>&1", set, set), 65);
    const char *command = strstr(output, "cleave import masks ");
    ck_assert_ptr_nonnull(command);
    spill(here("command"), command, strcspn(command, "("));
    run_here("sh -c \"$(cat command)\" 2>said && grep -q '5 of 6 images have no mask and were taken without one' said");
    expect_output("5 images segmented", "cleave propagate %s-labels -o out", set);
}

TEST(sequences_are_scored_by_mean_j_and_flicker)
{
    const char *set = write_frames("rows", true);
    write_manifest(set);
    run_here("cleave propagate -q " REST, set, set);
    char *text = expect_success("cleave score --data %s/manifest.tsv --split rest --pred %s/out", set, set);
    char *json = expect_success("cleave score --data %s/manifest.tsv --split rest --pred %s/out --json", set, set);
    const char *line = strstr(text, "\nsquare "), *mean = strstr(json, "\"mean_j\":");
    ck_assert(line && mean);
    ck_assert_int_eq((int)strtol(line + 8, NULL, 10), FRAMES - 1);
    ck_assert_double_gt(strtod(mean + strlen("\"mean_j\":"), NULL), 0.9);
    ck_assert_ptr_nonnull(strstr(json, "\"square\":{\"frames\":5,"));
    ck_assert_ptr_nonnull(strstr(json, "\"truth_flicker\":0"));
    free(text);
    free(json);
    run_here("rm -r %s/images", set);
    text = expect_success("cleave score --data %s/manifest.tsv --split rest --pred %s/out", set, set);
    ck_assert_ptr_nonnull(strstr(strstr(text, "\nsquare "), " - "));
    free(text);
}

TEST(results_depend_neither_on_threads_nor_on_what_an_earlier_run_left)
{
    const char *set = write_frames("again", true);
    write_manifest(set);
    run_here("cleave propagate -q --threads 1 --overlay " REST, set, set);
    run_here("cp -r %s/out %s/first && rm %s/out/f11.png", set, set, set);
    EXPECT_PARTS(expect_success("cleave propagate --threads 3 --overlay --resume " REST " 2>&1", set, set),
                 "1 image segmented", "4 finished before");
    run_here("diff -r %s/out %s/first", set, set);
    EXPECT_PARTS(expect_success("cleave propagate --resume " REST " 2>&1", set, set), "5 finished before");
}

TEST(results_of_other_given_masks_are_not_resumed_whatever_their_folder_is_called)
{
    const char *set = write_frames("run#2", true);
    write_manifest(set);
    run_here("sed -i 3s/rest/first/ %s/manifest.tsv && cleave propagate -q " REST, set, set, set);
    run_here("cp %s/masks/f10.png %s/masks/f9.png", set, set);
    expect_error(73, "has results of another model", "cleave propagate --resume " REST, set, set);
}

TEST(one_file_has_a_page_for_each_frame_the_given_ones_too)
{
    const char *set = write_frames("pages", false);
    free(expect_success("cp %s/masks/f8.png %s/masks/f12.png", set, set)); /* so that chains go both ways */
    free(expect_success("\"$CLEAVE\" propagate -q %s -o %s/out", set, set));
    expect_output("4 images segmented into", "cleave propagate %s -t 3 -o %s/labels.tif 2>&1", set, set);
    uint32_t n = 0;
    must(clv_image_count(&n, formatted("%s/labels.tif", set), err));
    ck_assert_uint_eq(n, FRAMES);
    for (int t = 0; t < FRAMES; t++) {
        struct clv_indexed_image page = {0}, mask = {0};
        bool is_given = t == 0 || t == 4;
        must(clv_indexed_image_read(&page, formatted("%s/labels.tif#%d", set, 1 + t), NULL, err));
        must(clv_indexed_image_read(&mask, formatted("%s/%s/f%d.png", set, is_given ? "masks" : "out", 8 + t), NULL,
                                    err));
        ck_assert_mem_eq(page.values, mask.values, WIDTH * HEIGHT);
        clv_indexed_image_release(&page);
        clv_indexed_image_release(&mask);
    }
    write_manifest(set);
    run_here("cleave propagate -q %s --from-split first --split rest -o %s/as && test $(ls %s/as/*.png | wc -l) = 5",
             set, set, set);
    expect_error(64, "--split cannot be used with -o",
                 "\"$CLEAVE\" propagate --data %s/manifest.tsv --split rest -o %s/l.tif", set, set);
}

/* The mask of one is given. */
TEST(two_frames_are_two_pages)
{
    uint32_t n = 0;
    write_frames("two", false);
    run_here("rm two/images/f1* && cleave propagate -q two -o l.tif");
    must(clv_image_count(&n, here("l.tif"), err));
    ck_assert_uint_eq(n, 2);
    run_here("cp l.tif once.tif && cleave propagate -q --resume two -o l.tif && cmp l.tif once.tif");
}

TEST(a_resumed_file_of_pages_has_the_report_of_one_run)
{
    write_frames("few", false);
    run_here("cp few/masks/f8.png few/masks/f11.png"); /* so that pages count given frames, too */
    run_here("cleave propagate -q few -o l.tif --report once && cleave propagate -q --resume few -o l.tif --report "
             "resumed && diff -rq once resumed");
    run_here("rm few/images/f10.png");
    expect_error(73, "l.tif: has 6 pages, and 5 are to be written",
                 "cleave propagate --resume few -o l.tif --report fewer");
}

TEST(a_file_of_pages_is_scored_as_predictions_and_as_truth)
{
    const char *most = "\"hamming\":0", *score = "cleave score --json 2>&1";
    write_frames("full", true);
    write_frames("few", false);
    run_here("cleave propagate -q few -o l.tif && cleave propagate -q few -o out");
    EXPECT_PARTS(expect_success("%s full l.tif --per-image", score),
                 "pages are the truth to the pixel, the first is "
                 "that of images/f10.png; if these masks were given, --exclude SET skips them",
                 "{\"images\":6,");
    EXPECT_PARTS(expect_success("%s full l.tif --exclude few", score),
                 "l.tif: skipped 1 of 6 frames, as their masks were given; the first is images/f8.png\n{\"images\":5,",
                 most);
    write_manifest(here("few"));
    run_here("cp full/masks/* few/masks && cleave score -q few l.tif --split rest --json >pages && cleave score -q few "
             "out --split rest --json >files && cmp pages files");
    EXPECT_PARTS(expect_success("%s l.tif l.tif", score), "{\"images\":6,", "\"hamming\":0,");
    run_here("mkdir named && for t in 1 2 3 4 5 6; do cp full/masks/f$((t + 7)).png named/l-$t.png; done");
    EXPECT_PARTS(expect_success("%s l.tif named", score), "{\"images\":6,", most);
    run_here("rm full/images/f13.png full/masks/f13.png");
    expect_error(65, "l.tif: has 6 pages, the sequence in full has 5 frames", "cleave score full l.tif");
    expect_error(64, "--model: reads images, l.tif has masks alone", "cleave score l.tif l.tif -m m.cleave");
}

TEST(frames_whose_masks_were_given_are_left_out_of_the_score)
{
    write_frames("few", false);
    write_frames("full", true);
    run_here("cleave propagate -q few -o out");
    EXPECT_PARTS(expect_success("cleave score full out --json 2>&1"),
                 "out: skipped 1 of 6 frames, as their masks were given; the first is images/f8.png\n{\"images\":5,");
    run_here("rm out/f10.png && cleave propagate -q few -o out --resume && cleave score -q full out");
    expect_error(65, "out: no mask of the truth is left to score by: `cleave propagate' was given all of them",
                 "cleave score -q few out");
    expect_error(64, "--shard: frames whose masks were given are skipped, the first is images/f8.png",
                 "cleave score full out --shard 1/2");
    run_here("cp full/masks/f8.png out && cleave score -q full out --json | grep '\"images\":6,'");
    run_here("rm out/f10.png");
    expect_error(66, "out/f10.png: no such prediction (1 of 6 are missing)", "cleave score full out");
    expect_error(65, "--exclude: few/images has no mask", "cleave score full out --exclude few/images");
    expect_error(64, "--exclude: goes with --pred", "cleave score full --merge table --exclude few");
}

TEST(a_gap_is_said_once_and_a_frame_of_another_size_ends_what_is_propagated)
{
    const char *set = write_frames("gap", false);
    run_here("rm %s/images/f10.png && cp %s/images/f8.png %s/images/f20.png", set, set, set);
    expect_output("missing in 2 places, first between images/f9.png and images/f11.png",
                  "cleave propagate %s -o %s/out 2>&1", set, set);
    struct clv_image small;
    must(clv_image_new(&small, 10, 20, 3, err));
    must(clv_png_write(formatted("%s/images/f12.png", set), &small, err));
    clv_image_release(&small);
    char *output;
    ck_assert_int_eq(run_command(&output, "cleave propagate %s -o %s/other 2>&1", set, set), 65);
    ck_assert_ptr_nonnull(
        strstr(output, "f12.png: image is 10x20, the frames before are 80x60 (3 frames are not propagated)"));
    ck_assert_ptr_nonnull(strstr(output, "2 images segmented"));
    free(output);
}

TEST(what_cannot_be_propagated_is_refused_by_name)
{
    const char *set = write_frames("refused", false);
    const struct {
        const char *arguments, *message;
        int status;
    } cases[] = {
        {"-o - set", "propagate: has a mask for each; -o FOLDER takes them", 64},
        {"-o out set other", "propagate: takes one folder or manifest", 64},
        {"set", "no output; add -o FOLDER", 64},
        {"--data set --from-split nobody -o out", "nobody", 65},
        {"-o out lone", "nothing to propagate: none of its 1 frame is without a mask", 66},
        {"-o out bare", "bare: none of the 2 frames has a mask; propagate FOLDER needs FOLDER/images and", 65},
    };
    run_here("cd %s/.. && mkdir -p lone/images lone/masks bare && mv %s set && cp set/images/f8.png lone/images && cp "
             "set/masks/f8.png lone/masks && cp set/images/f8.png set/images/f9.png bare",
             set, set);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *output;
        int status = run_command(&output, "cd $HERE && cleave propagate %s 2>&1", cases[i].arguments);
        ck_assert_msg(strstr(output, cases[i].message) != NULL, "%s: %s", cases[i].arguments, output);
        ck_assert_msg(status == cases[i].status, "%s: status is %d", cases[i].arguments, status);
        free(output);
    }
}
