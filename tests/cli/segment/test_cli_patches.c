/* Object categories on patches, end to end: a drawn set of three classes and void. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support/sample.h"
#include "support/support.h"

enum { N_IMAGES = 8, WIDTH = 90, HEIGHT = 70, SKY = 1, GRASS = 2, BOX = 3 };

#define PATCH_TRAINING                                                                                                 \
    "--learner independent --nodes patches --seed 1 --words 10 --codebook-samples 500 --sift-bins 3 --passes 20"

static const uint8_t colours[4][3] = {{120, 120, 120}, {120, 170, 230}, {60, 150, 50}, {190, 50, 40}};

/* Sky over grass, a box of varying place in front of both, a strip of void between sky and grass. */
static uint8_t label_at(int index, int32_t x, int32_t y)
{
    int32_t left = 10 + 5 * index, horizon = 30 + 2 * (index % 4);
    if (x >= left && x < left + 30 && y >= 25 && y < 55)
        return BOX;
    return y < horizon ? SKY : y < horizon + 4 ? 0 : GRASS;
}

static char folder[256];

static void draw_set(void)
{
    static const char labels[] = "value\tname\tred\tgreen\tblue\n0\tvoid\t0\t0\t0\n1\tsky\t128\t128\t128\n"
                                 "2\tgrass\t0\t128\t0\n3\tred box\t200\t0\t0\n";
    char manifest[2048] = "image\tmask\tsplit\n";
    if (folder[0])
        return;
    snprintf(folder, sizeof folder, "%s/patches", temporary_folder()); /* other suites make theirs next to it */
    run_here("mkdir -p %s/set/images %s/set/masks", folder, folder);
    spill(formatted("%s/set/labels.tsv", folder), labels, strlen(labels));
    for (int i = 0; i < N_IMAGES; i++) {
        struct clv_image image = {0};
        uint8_t mask[WIDTH * HEIGHT];
        must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
        for (int32_t p = 0; p < WIDTH * HEIGHT; p++) {
            mask[p] = label_at(i, p % WIDTH, p / WIDTH);
            for (int c = 0; c < 3; c++)
                image.pixels[3 * p + c] =
                    (uint8_t)(colours[mask[p]][c] - 20 +
                              (int)rng_below(7, RNG_STREAM(RNG_TEST, i), (uint64_t)(3 * p + c), 40));
        }
        must(clv_png_write(formatted("%s/set/images/%d.png", folder, i), &image, err));
        must(clv_png_write_labels(formatted("%s/set/masks/%d.png", folder, i), WIDTH, HEIGHT, mask, NULL, 0, err));
        clv_image_release(&image);
        size_t used = strlen(manifest);
        snprintf(manifest + used, sizeof manifest - used, "images/%d.png\tmasks/%d.png\t%s\n", i, i,
                 i < 5 ? "train" : "test");
    }
    spill(formatted("%s/set/manifest.tsv", folder), manifest, strlen(manifest));
    run_here("cd %s && cleave train --data set/manifest.tsv --split train " PATCH_TRAINING
             " -o m.cleave && cleave segment -m m.cleave --data set/manifest.tsv --split test -o out --overlay "
             "--report report",
             folder);
}

static double number_after(const char *json, const char *key)
{
    const char *at = strstr(json, key);
    ck_assert_msg(at != NULL, "no %s in %s", key, json);
    return strtod(at + strlen(key), NULL);
}

TEST(categories_are_found_and_scored_by_name)
{
    char *json = expect_success(
        "cd %s && cleave score --data set/manifest.tsv --split test --pred out -m m.cleave --json", folder);
    const char *patch = strstr(json, "\"patch\":{");
    ck_assert_ptr_nonnull(patch);
    ck_assert_ptr_null(strstr(json, "superpixel"));
    ck_assert_ptr_null(strstr(json, "void"));
    ck_assert_double_ge(number_after(json, "\"accuracy\":"), 0.9);
    ck_assert_double_ge(number_after(patch, "\"accuracy\":"), 0.9);
    ck_assert_double_ge(number_after(json, "\"sky\":"), 0.9);
    ck_assert_double_ge(number_after(patch, "\"red box\":"), 0.8);
    ck_assert_double_ge(number_after(json, "\"mean_class_iou\":"), 0.8);
    free(json);
    char *text =
        expect_success("cd %s && cleave score --data set/manifest.tsv --split test --pred out -m m.cleave", folder);
    ck_assert_ptr_nonnull(strstr(text, "per patch"));
    ck_assert_ptr_nonnull(strstr(text, "of patches %"));
    ck_assert_ptr_nonnull(strstr(text, "\npatch accuracy "));
    free(text);
}

TEST(masks_have_the_labels_palette_and_the_report_its_legend)
{
    struct clv_indexed_image mask = {0};
    must(clv_indexed_image_read(&mask, formatted("%s/out/6.png", folder), NULL, err));
    ck_assert_int_eq(mask.width, WIDTH);
    ck_assert_int_eq(mask.height, HEIGHT);
    ck_assert_int_eq(mask.values[2 * WIDTH + 85], SKY);
    ck_assert_int_eq(mask.values[(HEIGHT - 3) * WIDTH + 5], GRASS);
    ck_assert_int_eq(mask.values[40 * WIDTH + 55], BOX);
    clv_indexed_image_release(&mask);
    size_t size;
    char *png = slurp(formatted("%s/out/6.png", folder), &size);
    static const uint8_t entries[] = {0, 0, 0, 128, 128, 128, 0, 128, 0, 200, 0, 0};
    ck_assert_ptr_nonnull(memmem(png, size, entries, sizeof entries));
    free(png);
    char *page = slurp(formatted("%s/report/index.html", folder), &size);
    ck_assert_ptr_nonnull(memmem(page, size, "red box", 7));
    free(page);
}

TEST(overlays_have_a_legend_that_stays_true)
{
    size_t size;
    char *legend = slurp(formatted("%s/out/overlays/legend.svg", folder), &size);
    ck_assert_int_eq(strncmp(legend, "<svg xmlns=", 11), 0);
    ck_assert_ptr_nonnull(
        strstr(legend, "fill=\"#008000\"")); /* grass, which many eyes cannot distinguish from #c80000 */
    ck_assert_ptr_null(strstr(legend, "fill=\"#c80000\""));
    ck_assert_ptr_nonnull(strstr(legend, ">red box</text>"));
    ck_assert_ptr_nonnull(strstr(legend, ">sky</text>"));
    /* Three lines of 24 px, the longest of 7 letters of 9 px, a square of 16 px, margins of 8 px. */
    must_say(legend, "width=\"103\" height=\"88\"");
    free(legend);
    static const char other[] =
        "value\tname\tred\tgreen\tblue\n1\tair\t1\t2\t3\n2\tgrass\t0\t128\t0\n3\tA & B\t9\t9\t9\n"
        "0\tvoid\t0\t0\t0\n";
    run_here("mkdir -p %s/other && cp -r %s/set/images %s/set/masks %s/set/manifest.tsv %s/other", folder, folder,
             folder, folder, folder);
    spill(formatted("%s/other/labels.tsv", folder), other, sizeof other - 1);
    char *reported =
        expect_success("cd %s && cleave train --data other/manifest.tsv --split train " PATCH_TRAINING
                       " -o o.cleave && cp -r out both && cleave segment -m m.cleave other/images/1.png --overlay -o "
                       "both 2>&1 && cleave segment -m o.cleave other/images/2.png --overlay -o both 2>&1",
                       folder);
    ck_assert_ptr_nonnull(strstr(reported, "both/overlays/legend.svg is of other labels and stays as it is"));
    ck_assert(
        same_bytes(formatted("%s/out/overlays/legend.svg", folder), formatted("%s/both/overlays/legend.svg", folder)));
    free(reported);
    run_here("cd %s && cleave segment -m o.cleave other/images/2.png --overlay --overwrite -o both", folder);
    legend = slurp(formatted("%s/both/overlays/legend.svg", folder), &size);
    ck_assert_ptr_nonnull(strstr(legend, ">A &amp; B</text>"));
    free(legend);
}

/* Label 0 is void by labels.tsv, label 2, grass, by --void. No pixel has them, so no list of classes does; YOLO counts
 * classes by lines. The other labels have the numbers that they have without --void. */
TEST(labels_that_are_void_are_listed_nowhere)
{
    run_here(
        "cd %s && cleave train --data set/manifest.tsv --split train --void grass " PATCH_TRAINING
        " -o listed.cleave && cleave segment -m listed.cleave --data set/manifest.tsv --split test -o listed --overlay "
        "--objects --export coco,voc,yolo,labelme,geojson --report listed/report && cleave inspect listed.cleave "
        ">listed/inspected",
        folder);
    run_here("cd %s/listed && ! grep -rE '\\b(void|grass)\\b' coco.json objects.tsv voc labelme geojson overlays "
             "&& grep '^labels ' inspected | grep -v void | grep -qv grass && ! grep -E '</i>(void|grass)' "
             "report/index.html",
             folder);
    EXPECT_PARTS(slurp(formatted("%s/listed/coco.json", folder), NULL), "{\"id\":1,\"name\":\"sky\"",
                 "{\"id\":3,\"name\":\"red box\"");
    expect_in_file(formatted("%s/listed/yolo/data.yaml", folder), "names:\n  0: \"sky\"\n  1: \"grass\"\n  2: \"red");
    expect_in_file(formatted("%s/listed/yolo/classes.txt", folder), "sky\ngrass\nred box\n");
    run_here("cd %s && cleave segment -m m.cleave --data set/manifest.tsv --split test -o all --export coco,yolo",
             folder);
    EXPECT_PARTS(slurp(formatted("%s/all/coco.json", folder), NULL), "{\"id\":1,\"name\":\"sky\"",
                 "{\"id\":2,\"name\":\"grass\"", "{\"id\":3,\"name\":\"red box\"");
    expect_in_file(formatted("%s/all/yolo/classes.txt", folder), "sky\ngrass\nred box\n");
}

TEST(refining_brings_masks_nearer_to_the_truth)
{
    run_here("cd %s && cleave segment -m m.cleave --data set/manifest.tsv --split test -o refined --refine --report "
             "refined_report",
             folder);
    char *plain =
        expect_success("cd %s && cleave score --data set/manifest.tsv --split test --pred out --json", folder);
    char *refined =
        expect_success("cd %s && cleave score --data set/manifest.tsv --split test --pred refined --json", folder);
    ck_assert_double_gt(number_after(refined, "\"accuracy\":"), number_after(plain, "\"accuracy\":"));
    ck_assert_double_ge(number_after(refined, "\"accuracy\":"), 0.98);
    free(plain);
    free(refined);
}

TEST(hidden_patches_take_part_and_edges_have_full_tables)
{
    char *reported =
        expect_success("cd %s && cleave train --data set/manifest.tsv --split train --learner mssvm --nodes patches "
                       "--seed 1 --blocks colour,size --passes 20 -o h.cleave && cleave inspect h.cleave --json",
                       folder);
    ck_assert_ptr_null(strstr(reported, "guessed"));
    ck_assert_ptr_nonnull(strstr(reported, "\"pairwise\":\"full\""));
    free(reported);
    run_here("cd %s && cleave segment -m h.cleave --data set/manifest.tsv --split test -o hidden_out", folder);
    char *json = expect_success(
        "cd %s && cleave score --data set/manifest.tsv --split test --pred hidden_out -m h.cleave --json", folder);
    ck_assert_double_ge(number_after(strstr(json, "\"patch\":{"), "\"accuracy\":"), 0.9);
    free(json);
    /* Without truth all patches are visible, so that their marginal MAP is the MAP; marginals say it their own way. */
    static const char *const rules[] = {"auto", "map", "marginal-map", "marginals", "marginals -t 3"};
    for (int k = 0; k < 5; k++)
        run_here("cd %s && cleave segment -m h.cleave --data set/manifest.tsv --split test -o rule%d --decode %s",
                 folder, k, rules[k]);
    for (int k = 0; k < 3; k++)
        ck_assert(same_bytes(formatted("%s/rule%d", folder, k), formatted("%s/hidden_out", folder)));
    ck_assert(same_bytes(formatted("%s/rule3", folder), formatted("%s/rule4", folder)));
    json = expect_success("cd %s && cleave score --data set/manifest.tsv --split test --pred rule3 --json", folder);
    ck_assert_double_ge(number_after(json, "\"accuracy\":"), 0.9);
    free(json);
}

/* The model's weights alone: what differs between two records is their command. */
static char *weights_of(const char *model)
{
    return expect_success("cd %s && cleave inspect %s | sed -n '/^weights/p; /largest weights/,/^record/p'", folder,
                          model);
}

TEST(the_loss_counts_pixels_unless_asked_to_balance)
{
    static const char *const ways[][3] = {{"", "counts", "node error by pixels"},
                                          {"--loss auto", "counts", "node error by pixels"},
                                          {"--loss counts", "counts", "node error by pixels"},
                                          {"--loss balanced", "balanced", "weighted Hamming"}};
    char *first = NULL;
    for (int i = 0; i < 4; i++) {
        char *reported =
            expect_success("cd %s && cleave train --data set/manifest.tsv --split train --validate test --learner "
                           "mssvm --nodes patches --seed 1 --blocks colour,size --passes 3 %s --overwrite -o l.cleave "
                           "--cv 2 --cv-grid 0.001 2>&1 && cleave inspect l.cleave",
                           folder, ways[i][0]);
        ck_assert_ptr_nonnull(strstr(reported, formatted("training  %s ", ways[i][2])));
        ck_assert_ptr_nonnull(strstr(reported, formatted("test      %s ", ways[i][2])));
        ck_assert_ptr_nonnull(strstr(reported, formatted("%s %%  standard error", ways[i][2])));
        ck_assert_ptr_nonnull(strstr(reported, formatted("\n  loss                     %s\n", ways[i][1])));
        free(reported);
        char *weights = weights_of("l.cleave");
        ck_assert_int_eq(first && strcmp(first, weights) != 0, i == 3);
        if (i == 0)
            first = weights;
        else
            free(weights);
    }
    free(first);
    run_here("cd %s && cleave features -m l.cleave --data set/manifest.tsv --split train -o l.safetensors && cleave "
             "train --data l.safetensors --learner mssvm --passes 3 --lambda 0.001 --loss balanced -o lf.cleave",
             folder);
    char *images = weights_of("l.cleave"), *file = weights_of("lf.cleave");
    ck_assert_str_eq(images, file);
    free(images);
    free(file);
    expect_error(64, "--loss: \"hamming\" is not one of auto, balanced, counts",
                 "cd %s && cleave train --data set --loss hamming -o b.cleave", folder);
    expect_error(64, "--loss counts: 3 images come without masks",
                 "cd %s && cleave train --data set/manifest.tsv --split train --unlabelled-split test " PATCH_TRAINING
                 " --loss counts -o b.cleave",
                 folder);
}

TEST(fisher_vectors_travel_with_the_model_and_are_for_patches)
{
    run_here(
        "cd %s && cleave train --data set/manifest.tsv --split train --learner independent --nodes patches --seed 1 "
        "--blocks fisher,size --sift-bins 3 --codebook-samples 500 --passes 5 -o f.cleave && cleave segment -q -m "
        "f.cleave --data set/manifest.tsv --split test -o f_images && cleave features -m f.cleave --data "
        "set/manifest.tsv --split test -o f.safetensors -t 3 && cleave segment -q -m f.cleave --features f.safetensors "
        "-o f_features && for i in f_features/*/* f_features/*.png; do [ ! -f $i ] || cmp $i f_images${i#f_features}; "
        "done && cleave inspect f.cleave --top 900 | grep -q 'Fisher vector of scale 0, mean 3 of component'",
        folder);
    expect_error(64, "the block fisher is for patches",
                 "cd %s && cleave train --data set/manifest.tsv --blocks fisher,size -o b.cleave", folder);
}

/* All labels are in all images, so that all costs are small. */
TEST(what_labels_cost_is_learned_and_kept_in_the_model)
{
    const char *training =
        "train --data set/manifest.tsv --split train --learner mssvm --nodes patches --seed 1 --blocks "
        "size,position --passes 3 --stages 2";
    run_here("cd %s && for x in 0 5; do cleave %s --label-costs $x -o c$x && cleave segment -q -m c$x --data "
             "set/manifest.tsv --split test --no-refine -o cost$x || exit 1; done; diff -r -x .cleave-run cost0 cost5 "
             "&& ! cmp -s c0 c5",
             folder, training);
    run_here("cd %s && cleave %s --label-costs 5 -t 3 -o again && for m in again c5 c0; do cleave inspect --top 0 $m | "
             "grep -v command >$m.text; done; cmp again.text c5.text && grep -q '^  label_costs  *5$' c5.text && ! "
             "grep label_costs c0.text",
             folder, training);
    expect_error(64, "--label-costs", "cd %s && cleave train --data set --label-costs -1 -o b.cleave", folder);
}

TEST(labels_named_void_teach_and_count_no_more)
{
    char *reported =
        expect_success("cd %s && cleave train --data set/manifest.tsv --split train --validate test --void 'red box' "
                       "--learner mssvm --nodes patches --seed 1 --blocks colour,size --passes 10 -o v.cleave && "
                       "cleave segment -m v.cleave --data set/manifest.tsv --split test -o v_out --report v_report",
                       folder);
    ck_assert_ptr_null(strstr(reported, "void throughout"));
    free(reported);
    static const char *const options[] = {"", "--void 'red box'"};
    double known[2], accuracy[2];
    for (int i = 0; i < 2; i++) {
        char *json = expect_success(
            "cd %s && cleave score --data set/manifest.tsv --split test --pred v_out -m v.cleave --json %s", folder,
            options[i]);
        known[i] = strstr(json, "red box") != NULL;
        accuracy[i] = number_after(json, "\"accuracy\":");
        free(json);
    }
    ck_assert(known[0] == 1 && known[1] == 0);
    ck_assert_double_ge(accuracy[1], 0.95);
    ck_assert_double_gt(accuracy[1], accuracy[0]); /* a red box is sky or grass to it */
    run_here("cd %s && cleave features --data set/manifest.tsv --split train --void 'red box' --nodes patches --seed 1 "
             "--blocks colour,size -o v.safetensors && cleave train --data v.safetensors --seed 1 --learner mssvm "
             "--passes 10 -o vf.cleave",
             folder);
    char *images = weights_of("v.cleave"), *file = weights_of("vf.cleave");
    ck_assert_str_eq(images, file);
    free(images);
    free(file);
    expect_error(64, "--void: no label is called \"box\"; there are sky, grass, red box",
                 "cd %s && cleave train --data set/manifest.tsv --void box -o b.cleave", folder);
    expect_error(64, "--void: no label is called \"box\"",
                 "cd %s && cleave score --data set/manifest.tsv --pred v_out --void grass,box", folder);
    expect_error(64, "--void: with \"sky,grass\" void, 1 of the labels is left",
                 "cd %s && cleave features --data set/manifest.tsv --void sky,grass -o b.safetensors", folder);
    expect_error(64, "--void: v.safetensors is a feature file",
                 "cd %s && cleave train --data v.safetensors --void sky -o b.cleave", folder);
}

TEST(images_that_are_void_throughout_are_left_out)
{
    uint8_t mask[WIDTH * HEIGHT] = {0};
    must(clv_png_write_labels(formatted("%s/set/masks/void.png", folder), WIDTH, HEIGHT, mask, NULL, 0, err));
    const char *some = "image\tmask\tsplit\nimages/0.png\tmasks/void.png\ttrain\nimages/1.png\tmasks/1.png\ttrain\n"
                       "images/2.png\tmasks/2.png\ttrain\nimages/3.png\tmasks/void.png\ttest\n"
                       "images/4.png\tmasks/4.png\ttest\n";
    const char *two = "image\tmask\tsplit\nimages/1.png\tmasks/1.png\ttrain\nimages/2.png\tmasks/2.png\ttrain\n"
                      "images/4.png\tmasks/4.png\ttest\n";
    const char *none = "image\tmask\nimages/0.png\tmasks/void.png\n";
    spill(formatted("%s/set/some.tsv", folder), some, strlen(some));
    spill(formatted("%s/set/two.tsv", folder), two, strlen(two));
    spill(formatted("%s/set/none.tsv", folder), none, strlen(none));
    static const char *const losses[] = {"balanced", "counts"};
    for (int i = 0; i < 2; i++) {
        char *reported[2];
        for (int without = 0; without < 2; without++)
            reported[without] =
                expect_success("cd %s && cleave train --data set/%s.tsv --split train --validate test --learner mssvm "
                               "--nodes patches --seed 1 --blocks colour,size --passes 3 --loss %s --overwrite -o "
                               "e%d.cleave 2>&1 | grep -v '^images\\|s with'",
                               folder, without ? "two" : "some", losses[i], without);
        ck_assert_ptr_nonnull(strstr(reported[0], "1 of 3 masks are void throughout; their images teach nothing"));
        ck_assert_str_eq(strstr(reported[0], "\ntraining") + 1, strstr(reported[1], "training"));
        char *some_weights = weights_of("e0.cleave"), *two_weights = weights_of("e1.cleave");
        ck_assert_str_eq(some_weights, two_weights);
        free(some_weights);
        free(two_weights);
        free(reported[0]);
        free(reported[1]);
    }
    char *scored = expect_success("cd %s && cleave features -m e0.cleave --data set/some.tsv -o some.safetensors && "
                                  "cleave score -m e0.cleave --data some.safetensors --json",
                                  folder);
    ck_assert_double_eq(number_after(scored, "\"examples\":"), 3);
    ck_assert_double_ge(number_after(scored, "\"mean_loss\":"), 0);
    free(scored);
    expect_error(65, "images/0.png: has no true labels to learn from, nor has any other of 1",
                 "cd %s && cleave train --data set/none.tsv " PATCH_TRAINING " -o b.cleave", folder);
    expect_error(65, "images/0.png: has no true labels to score by, nor has any other",
                 "cd %s && cleave features -m e0.cleave --data set/none.tsv -o none.safetensors && cleave score -m "
                 "e0.cleave --data none.safetensors",
                 folder);
}

TEST(any_number_of_threads_makes_the_same_bytes)
{
    run_here("cd %s && cleave train --data set/manifest.tsv --split train " PATCH_TRAINING
             " -t 3 -o m3.cleave && cleave segment -m m3.cleave --data set/manifest.tsv --split test -t 3 -o out3",
             folder);
    ck_assert(same_bytes(formatted("%s/m.cleave", folder), formatted("%s/m3.cleave", folder)));
    for (int i = 5; i < N_IMAGES; i++)
        ck_assert(same_bytes(formatted("%s/out/%d.png", folder, i), formatted("%s/out3/%d.png", folder, i)));
}

TEST(feature_files_train_and_paint_the_same)
{
    run_here("cd %s && cleave features -m m.cleave --data set/manifest.tsv --split test -o test.safetensors && cleave "
             "segment -m m.cleave --features test.safetensors -o out_f",
             folder);
    for (int i = 5; i < N_IMAGES; i++)
        ck_assert(same_bytes(formatted("%s/out/%d.png", folder, i), formatted("%s/out_f/%d.png", folder, i)));
    EXPECT_PARTS(expect_success("cd %s && cleave inspect m.cleave", folder), "patches of 20 px every 10 px",
                 "surround");
}

TEST(images_smaller_than_a_patch_are_segmented)
{
    static const int32_t sizes[][2] = {{1, 1}, {7, 40}, {25, 12}};
    for (int i = 0; i < 3; i++) {
        struct clv_image image = {0};
        must(clv_image_new(&image, sizes[i][0], sizes[i][1], 3, err));
        for (int32_t k = 0; k < sizes[i][0] * sizes[i][1] * 3; k++)
            image.pixels[k] = colours[GRASS][k % 3];
        must(clv_png_write(formatted("%s/small%d.png", folder, i), &image, err));
        clv_image_release(&image);
        run_here("cd %s && cleave segment -m m.cleave small%d.png -o small_out --overwrite", folder, i);
        struct clv_indexed_image mask = {0};
        must(clv_indexed_image_read(&mask, formatted("%s/small_out/small%d.png", folder, i), NULL, err));
        ck_assert_int_eq(mask.width, sizes[i][0]);
        ck_assert_int_eq(mask.height, sizes[i][1]);
        clv_indexed_image_release(&mask);
    }
}

TEST(bad_input_is_named)
{
    uint8_t mask[WIDTH * HEIGHT];
    memset(mask, GRASS, sizeof mask);
    mask[3 * WIDTH + 4] = 9;
    must(clv_png_write_labels(formatted("%s/set/masks/bad.png", folder), WIDTH, HEIGHT, mask, NULL, 0, err));
    const char *bad = "image\tmask\nimages/0.png\tmasks/0.png\nimages/1.png\tmasks/bad.png\n";
    spill(formatted("%s/set/bad.tsv", folder), bad, strlen(bad));
    expect_error(65, "bad.png", "cd %s && cleave train --data set/bad.tsv " PATCH_TRAINING " -o b.cleave", folder);
    expect_error(65, "9", "cd %s && cleave train --data set/bad.tsv " PATCH_TRAINING " -o b.cleave", folder);
    expect_error(64, "--nodes", "cd %s && cleave train --data set --nodes pixels -o b.cleave", folder);
    expect_error(64, "--patch-size", "cd %s && cleave train --data set --nodes patches --patch-size 0 -o b.cleave",
                 folder);
    expect_error(64, "for patches", "cd %s && cleave train --data set --blocks size,scene -o b.cleave", folder);
}

SETUP_ONCE(draw_set, NULL)
