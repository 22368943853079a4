/* cleave train --sequence, and cleave segment --sequence with its model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/raster/raster.h"
#include "support/sample.h"
#include "support/support.h"

enum { WIDTH = 80, HEIGHT = 60 };

/* A bright square before a darker striped background, 4 pixels further right in each slice. */
static void write_slice(const char *folder, int number, int t, int height, bool has_mask)
{
    struct clv_image image;
    uint8_t mask[WIDTH * HEIGHT];
    must(clv_image_new(&image, WIDTH, height, 3, err));
    for (int i = 0; i < WIDTH * height; i++) {
        int x = i % WIDTH - 8 - 4 * t, y = i / WIDTH - 20, background = (i % WIDTH * 7 + i / WIDTH * 13) % 60;
        mask[i] = x >= 0 && y >= 0 && x < 20 && y < 20;
        for (int c = 0; c < 3; c++)
            image.pixels[3 * i + c] = (uint8_t)(mask[i] ? 140 + (x * 5 + y * 11) % 80 : 90 + background);
    }
    must(clv_png_write(formatted("%s/images/s%d.png", folder, number), &image, err));
    if (has_mask)
        must(clv_png_write_labels(formatted("%s/masks/s%d.png", folder, number), WIDTH, height, mask, NULL, 0, err));
    clv_image_release(&image);
}

/* Slices 7 to 6 + n, of which every step-th has a mask. */
static const char *write_slices(const char *name, int n, int step)
{
    static char folder[256];
    snprintf(folder, sizeof folder, "%s/%s", temporary_folder(), name);
    run_here("mkdir -p %s/images %s/masks", folder, folder);
    for (int t = 0; t < n; t++)
        write_slice(folder, 7 + t, t, HEIGHT, t % step == 0);
    return folder;
}

#define TRAIN "cleave train %s --sequence --superpixels 60 --words 5 --codebook-samples 500 --passes 10 "

TEST(slices_are_learned_and_labelled_together_in_the_order_of_their_numbers_on_any_threads)
{
    const char *set = write_slices("all", 7, 1);
    EXPECT_PARTS(expect_success(TRAIN "--window 3 -o %s/m.cleave", set, set), "images    3,",
                 "each a window of up to 3 slices");
    EXPECT_PARTS(
        expect_success("cleave segment --sequence -t 1 -m %s/m.cleave %s -o %s/one 2>&1", set, set, set),
        "a sequence of 7 slices is longer than the model's window of 3: a slice is labelled with those nearest to it, "
        "not with all; `train --window N' makes models of larger ones",
        "7 images segmented");
    run_here("cleave segment -q --sequence -t 3 -m %s/m.cleave %s -o %s/three && rm %s/*/.cleave-run && diff -r %s/one "
             "%s/three",
             set, set, set, set, set, set);
    char *output = expect_success("cleave score -q %s %s/one --json", set, set);
    ck_assert_double_lt(strtod(strstr(output, "\"hamming\":") + strlen("\"hamming\":"), NULL), 0.05);
    free(output);
    run_here("cp -r %s part && rm part/masks/s9.png", set);
    expect_output("part: the model labels all 7 slices, those of the 6 masks that are there, too; `cleave "
                  "propagate' propagates masks to the other slices",
                  "cleave segment --sequence -m %s/m.cleave part -o given && diff -r -x .cleave-run given %s/one", set,
                  set);
    run_here("rm %s/one/s9.png && cleave segment -q --sequence --resume -m %s/m.cleave %s -o %s/one && cmp "
             "%s/one/s9.png %s/three/s9.png",
             set, set, set, set, set, set);
}

TEST(what_fits_a_window_is_cut_exactly_and_a_sequence_of_one_is_one)
{
    const char *set = write_slices("few", 4, 1);
    run_here(TRAIN "-q -o %s/m.cleave", set, set);
    char *output = expect_success("cleave segment --sequence -m %s/m.cleave %s -o %s/out 2>&1", set, set, set);
    ck_assert_ptr_null(strstr(output, "longer than the model's window"));
    free(output);
    run_here("rm %s/images/s[89]* %s/images/s10*", set, set);
    EXPECT_PARTS(expect_success("cleave segment --sequence -m %s/m.cleave %s -o %s/single 2>&1", set, set, set),
                 "1 image segmented");
}

TEST(some_slices_may_have_no_mask_and_those_far_from_any_are_left_out)
{
    const char *set = write_slices("sparse", 7, 6);
    EXPECT_PARTS(expect_success(TRAIN "--window 3 -o %s/m.cleave 2>&1", set, set),
                 "1 of 7 slices are in no window of 3 with a mask", "images    2,");
}

TEST(few_windows_are_steps_of_their_own_unless_a_batch_is_given)
{
    static const char *const options[] = {"", "--batch 3"}, *const batch[] = {"parameter.batch          1\n",
                                                                              "parameter.batch          3\n"};
    const char *set = write_slices("batches", 7, 1);
    for (int i = 0; i < 2; i++) {
        free(expect_success(TRAIN "-q --learner mssvm --window 3 %s --overwrite -o %s/m.cleave", set, options[i], set));
        char *output = expect_success("\"$CLEAVE\" inspect %s/m.cleave", set);
        if (!strstr(output, batch[i]) || !strstr(output, "parameter.curve          25\n") ||
            !strstr(output, "parameter.start          0\n"))
            ck_abort_msg("no %s in %s", batch[i], output);
        free(output);
    }
}

TEST(pairs_of_more_than_two_labels_have_weights_of_their_own)
{
    static const char *const form[] = {"pairwise potts", "pairwise full"};
    const char *set = write_slices("pairs", 4, 1);
    for (int i = 0; i < 2; i++) {
        uint8_t mask[WIDTH * HEIGHT];
        for (int k = 0; k < WIDTH * HEIGHT && i; k++)
            mask[k] = (uint8_t)(k % WIDTH * 3 / WIDTH);
        for (int t = 0; t < 4 && i; t++)
            must(clv_png_write_labels(formatted("%s/masks/s%d.png", set, 7 + t), WIDTH, HEIGHT, mask, NULL, 0, err));
        if (i)
            spill(formatted("%s/labels.tsv", set), "value\tname\n0\ta\n1\tb\n2\tc\n", 23);
        free(expect_success(TRAIN "-q --learner mssvm --overwrite -o %s/m.cleave", set, set));
        free(expect_success("\"$CLEAVE\" inspect %s/m.cleave | grep '%s'", set, form[i]));
        free(
            expect_success("\"$CLEAVE\" segment -q --sequence --overwrite -m %s/m.cleave %s -o %s/out", set, set, set));
    }
}

TEST(probabilities_of_slices_are_those_of_their_windows_on_any_threads)
{
    const char *set = write_slices("probable", 7, 1);
    run_here(TRAIN "-q --window 3 -o probable.cleave", set);
    for (int t = 1; t <= 3; t += 2) {
        const char *command = formatted("cleave probabilities -q --sequence -t %d -m probable.cleave %s -o", t, set);
        run_here("%s maps --json >maps.json && %s all --all-labels && %s margins --margins && mkdir -p by-%d && "
                 "rm */.cleave-run && mv maps maps.json all margins by-%d",
                 command, command, command, t, t);
    }
    run_here("diff -r by-1 by-3 && test $(ls by-1/all/*.npy | wc -l) = 7 && test $(ls by-1/margins/*.npy | wc -l) = 7");
    EXPECT_PARTS(slurp(here("by-1/maps.json"), NULL), "\"images\":7,\"failed\":0,", "\"map\":\"maps/s13.png\"");
    for (int t = 0; t < 7; t++) { /* well inside of the square, and far from it */
        OWNED(clv_indexed_image_release) struct clv_indexed_image map = {0};
        must(clv_indexed_image_read(&map, here("by-1/maps/s%d.png", 7 + t), NULL, err));
        ck_assert_int_gt(map.values[30 * WIDTH + 18 + 4 * t], 127);
        ck_assert_int_lt(map.values[50 * WIDTH + 18 + 4 * t], 128);
    }
    run_here("cp -r by-3/maps some && rm some/s[89].png some/s13.png && cleave probabilities -q --sequence --resume "
             "-m probable.cleave %s -o some && diff -r -x .cleave-run some by-1/maps",
             set);
    spill(formatted("%s/images/s11.png", set), "no image", 8);
    expect_error(65, "s11.png", "cd $HERE && cleave probabilities --sequence -m probable.cleave %s -o lost", set);
    run_here("test -e lost/s10.png && test -e lost/s12.png && test ! -e lost/s11.png");
}

TEST(a_gap_is_said_once_and_a_bad_slice_fails_alone)
{
    const char *set = write_slices("gap", 6, 1);
    run_here("rm %s/images/s9.png %s/masks/s9.png", set, set);
    expect_output("numbers of slices are missing in 1 place, first between images/s8.png and",
                  TRAIN "-o %s/m.cleave 2>&1", set, set);
    spill(formatted("%s/images/s11.png", set), "no image", 8);
    expect_error(65, "s11.png", "cleave segment --sequence -m %s/m.cleave %s -o %s/out", set, set, set);
    run_here("test -e %s/out/s10.png && test -e %s/out/s12.png && test ! -e %s/out/s11.png", set, set, set);
}

TEST(what_does_not_go_together_is_refused)
{
    const char *set = write_slices("bad", 4, 1);
    run_here(TRAIN "-q -o %s/m.cleave", set, set);
    run_here("cleave train -q %s --superpixels 20 --words 5 --codebook-samples 500 -o %s/plain", set, set);
    expect_error(64, "a model of single images", "cleave segment --sequence -m %s/plain %s -o %s/out", set, set, set);
    expect_error(64, "no model; add -m MODEL", "cleave segment --sequence %s -o %s/out", set, set);
    expect_error(64, "--sequence excludes --mirror: ", TRAIN "--mirror -o %s/m2", set, set);
    expect_error(64, "--sequence excludes --mirror: ", "cleave train %s --init %s/m.cleave --mirror -o %s/m2", set, set,
                 set);
    expect_error(64, "features of several images", "cleave features %s -m %s/m.cleave -o %s/f", set, set, set);
    write_slice(set, 9, 2, HEIGHT - 4, true);
    for (int k = 0; k < 2; k++) /* also as the first of a window */
        expect_error(65, "images/s9.png: 80x56 pixels, most slices of its sequence have 80x60",
                     TRAIN "-q --window %d -o %s/m3", set, k ? 2 : 4, set);
    expect_error(65, "80x56 pixels, the first slice has 80x60", "cleave segment --sequence -m %s/m.cleave %s -o %s/out",
                 set, set, set);
    run_here("test $(ls %s/out/*.png | wc -l) = 3", set); /* the others are there */
}

/* The slices' images or masks as pages of one file. */
static void write_stack(const char *path, const char *set, const char *what, int n)
{
    struct raster_writer writer = {.tiff = NULL};
    for (int t = 0; t < n; t++) {
        struct clv_image image = {0}, page;
        const char *file = formatted("%s/%s/s%d.png", set, what, 7 + t);
        must(clv_image_read(&image, file, NULL, err));
        must(clv_image_new(&page, image.width, image.height, 1, err));
        for (int i = 0; i < image.width * image.height; i++)
            page.pixels[i] = *what == 'm' ? image.pixels[3 * i] > 0 : image.pixels[3 * i];
        must(raster_writer_add_page(&writer, path, &(struct label_image){page.width, page.height, page.pixels, NULL, 0},
                                    (size_t)n, err));
        clv_image_release(&page);
        clv_image_release(&image);
    }
    must(raster_writer_commit(&writer, err));
}

/* Whether page k of a file has the values of a mask; array_free nothing. */
static void check_page(const char *stack, int page, const char *mask)
{
    struct clv_indexed_image a = {0}, b = {0};
    must(clv_indexed_image_read(&a, formatted("%s#%d", stack, page), NULL, err));
    must(clv_indexed_image_read(&b, mask, NULL, err));
    ck_assert(a.width == b.width && a.height == b.height);
    ck_assert_mem_eq(a.values, b.values, (size_t)a.width * (size_t)a.height);
    clv_indexed_image_release(&a);
    clv_indexed_image_release(&b);
}

static uint32_t count_pages(const char *path)
{
    uint32_t n = 0;
    must(clv_image_count(&n, path, err));
    return n;
}

TEST(pages_of_a_tiff_are_slices_and_so_are_those_of_the_result)
{
    enum { N = 7 };
    const char *set = write_slices("pages", N, 1);
    free(expect_success("mkdir -p %s/one/images %s/one/masks", set, set));
    write_stack(formatted("%s/one/images/stack.tif", set), set, "images", N);
    write_stack(formatted("%s/one/masks/stack.tif", set), set, "masks", N);
    char *output = expect_success(TRAIN "--window 3 -o %s/m.cleave 2>&1", formatted("%s/one", set), set);
    ck_assert_ptr_nonnull(strstr(output, "images    3,"));
    ck_assert_ptr_null(strstr(output, "missing"));
    free(output);
    free(expect_success(TRAIN "-q --window 3 -o %s/m2.cleave", set, set));
    output =
        expect_success("cd %s && \"$CLEAVE\" segment --sequence -t 3 -m m.cleave one/images/stack.tif -o labels.tif "
                       "2>&1",
                       set);
    ck_assert_ptr_nonnull(strstr(output, "7 images segmented into labels.tif"));
    free(output);
    free(expect_success("cd %s && \"$CLEAVE\" segment -q --sequence -m m2.cleave --data images -o out", set));
    ck_assert_uint_eq(count_pages(formatted("%s/labels.tif", set)), N);
    for (int t = 0; t < N; t++)
        check_page(formatted("%s/labels.tif", set), 1 + t, formatted("%s/out/s%d.png", set, 7 + t));
    output = expect_success("cd %s && \"$CLEAVE\" segment --sequence --resume -m m.cleave one/images/stack.tif -o "
                            "labels.tif 2>&1",
                            set);
    ck_assert_ptr_nonnull(strstr(output, "7 finished before"));
    free(output);
    run_here("cd %s && cleave segment -q --sequence -m m.cleave one/images/stack.tif -o again.tif --report once && "
             "cleave segment -q --sequence --resume -m m.cleave one/images/stack.tif -o again.tif --report resumed && "
             "diff -rq once resumed",
             set);
    write_stack(formatted("%s/short.tif", set), set, "masks", 2);
    expect_error(73, "short.tif: has 2 pages, and 7 are to be written",
                 "cd %s && \"$CLEAVE\" segment --sequence --resume -m m.cleave "
                 "one/images/stack.tif -o short.tif",
                 set);
    free(expect_success("cd %s && \"$CLEAVE\" segment -q --sequence -m m.cleave one/images/stack.tif -o single && test "
                        "$(ls single/*.png | wc -l) = 7",
                        set));
}

TEST(two_tiffs_of_a_folder_are_two_sequences_and_one_file_takes_one)
{
    const char *set = write_slices("two", 4, 1);
    free(expect_success("mkdir -p %s/two/images %s/two/masks", set, set));
    for (int k = 0; k < 4; k++)
        write_stack(formatted("%s/two/%s/s%d.tif", set, k / 2 ? "masks" : "images", k % 2), set,
                    k / 2 ? "masks" : "images", 4);
    char *output = expect_success(TRAIN "-o %s/m.cleave 2>&1", formatted("%s/two", set), set);
    ck_assert_ptr_nonnull(strstr(output, "images    2,"));
    free(output);
    expect_error(64, "several sequences", "\"$CLEAVE\" segment --sequence -m %s/m.cleave %s/two -o %s/l.tif", set, set,
                 set);
}

TEST(a_file_of_pages_is_whole_or_not_there)
{
    const char *set = write_slices("torn", 5, 1);
    free(expect_success(TRAIN "-q -o %s/m.cleave", set, set));
    spill(formatted("%s/images/s9.png", set), "no image", 8);
    char *output;
    ck_assert_int_eq(
        run_command(&output, "\"$CLEAVE\" segment --sequence -m %s/m.cleave %s -o %s/l.tif 2>&1", set, set, set), 65);
    ck_assert_ptr_nonnull(strstr(output, "l.tif: is not written, as not all of its pages are there"));
    ck_assert_ptr_null(strstr(output, "segmented into"));
    free(output);
    free(expect_success("test ! -e %s/l.tif", set));
}

TEST(folds_stages_and_checkpoints_go_with_windows)
{
    const char *set = write_slices("folds", 18, 1), *train = formatted(TRAIN "--window 3 --learner wmpmap", set);
    char *output = expect_success("%s --cv 2 --cv-grid 0.1,0.001 -o %s/cv.cleave 2>&1", train, set);
    ck_assert_ptr_nonnull(strstr(output, "2-fold cross-validation"));
    free(output);
    expect_error(64, "7 folds of 6 images", "%s --cv 7 -o %s/cv7.cleave", train, set);
    output = expect_success(TRAIN "--window 3 --stages 2 -o %s/two.cleave 2>&1", set, set);
    ck_assert_ptr_nonnull(strstr(output, "stage 1   5 folds"));
    free(output);
    free(expect_success("\"$CLEAVE\" segment -q --sequence -m %s/two.cleave %s -o %s/out", set, set, set));
    output = expect_success("\"$CLEAVE\" score -q %s %s/out --json", set, set);
    ck_assert_double_lt(strtod(strstr(output, "\"hamming\":") + strlen("\"hamming\":"), NULL), 0.1);
    free(output);
    free(
        expect_success("cd %s && %s --passes 60 -o whole && { %s --passes 60 -o part --checkpoint-every 0 >/dev/null & "
                       "first=$!; until [ -e part.checkpoint ]; do sleep 0.01; done; kill -KILL $first; wait $first; "
                       "[ ! -e part ]; } && %s --passes 60 -o part --resume && cmp whole part",
                       set, train, train, train));
}
