/* cleave probabilities, end to end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support/sample.h"
#include "support/support.h"

TEST(maps_are_grey_and_of_the_image_s_size)
{
    const char *out = here("out");
    expect_output("4 probability maps written into",
                  "cleave probabilities -m $MODEL --data $SET/manifest.tsv --split test -o %s --overlay", out);
    ck_assert_int_eq(count_files(out), 8);
    for (int i = 9; i <= 12; i++) {
        struct clv_indexed_image map = {0};
        struct clv_image overlay = {0};
        int32_t width, height, n_between = 0, n_high = 0;
        must(clv_image_read_size(&width, &height, formatted("%s/images/%04d.jpg", sample_set(), i), NULL, err));
        must(clv_indexed_image_read(&map, formatted("%s/%04d.png", out, i), NULL, err));
        must(clv_image_read(&overlay, formatted("%s/overlays/%04d.jpg", out, i), NULL, err));
        ck_assert(map.width == width && map.height == height && map.bit_depth == 8 && map.palette_size == 0);
        ck_assert(overlay.width == width && overlay.height == height);
        for (int32_t k = 0; k < width * height; k++) {
            n_between += map.values[k] > 0 && map.values[k] < 255;
            n_high += map.values[k] > 127;
        }
        ck_assert(n_between > 0 && n_high > 0 && n_high < width * height);
        clv_indexed_image_release(&map);
        clv_image_release(&overlay);
    }
}

/* p of node i in the image: the pixels under it all have one value. */
static void compare_with_logistic(const struct clv_model *model, const char *image_path, const char *map_path,
                                  int n_samples)
{
    struct clv_image image = {0};
    struct clv_example example = {0};
    struct clv_indexed_image map = {0};
    must(clv_image_read(&image, image_path, NULL, err));
    must(clv_example_extract(&example, &image, &model->recipe, err));
    must(clv_indexed_image_read(&map, map_path, NULL, err));
    int32_t n = example.problem.n_nodes;
    double *score = malloc((size_t)n * sizeof *score), worst = 0;
    int32_t *code = malloc((size_t)n * sizeof *code);
    uint8_t *low = malloc((size_t)map.width * (size_t)map.height),
            *high = malloc((size_t)map.width * (size_t)map.height);
    clv_unary_scores(score, &example.problem, &model->layout, model->w);
    for (int side = 0; side < 2; side++) { /* five standard errors and the rounding of a value to either side */
        for (int32_t i = 0; i < n; i++) {
            double p = 1 / (1 + exp(-score[i])),
                   tolerance = 5 * sqrt(p * (1 - p) / n_samples) + 1.0 / n_samples + 0.5 / 255;
            worst = fmax(worst, p * (1 - p));
            code[i] = (int32_t)(side ? ceil(255 * fmin(1, p + tolerance)) : floor(255 * fmax(0, p - tolerance)));
        }
        must(clv_example_paint(side ? high : low, &example, code, err));
    }
    ck_assert_double_gt(worst, 0.1); /* some node is uncertain */
    for (int32_t k = 0; k < map.width * map.height; k++)
        ck_assert_msg(map.values[k] >= low[k] && map.values[k] <= high[k], "pixel %d: %d is not in %d..%d", k,
                      map.values[k], low[k], high[k]);
    free(score);
    free(code);
    free(low);
    free(high);
    clv_example_release(&example);
    clv_image_release(&image);
    clv_indexed_image_release(&map);
}

TEST(without_edges_a_map_is_the_logistic_function_of_the_scores)
{
    struct clv_model model = {0};
    run_here("cleave train --learner crf --data $SET/manifest.tsv --split train --pairwise none --lambda "
             "0.5 " SAMPLE_TRAINING " -o unary.cleave && cleave probabilities -m unary.cleave --data $SET/manifest.tsv "
             "--split test -o out --samples "
             "1000 --seed 3");
    must(clv_model_read(&model, here("unary.cleave"), err));
    for (int i = 9; i <= 12; i++)
        compare_with_logistic(&model, formatted("%s/images/%04d.jpg", sample_set(), i), here("out/%04d.png", i), 1000);
    clv_model_release(&model);
}

TEST(the_two_labels_maps_add_up_to_one)
{
    run_here(
        "for label in background 1; do cleave probabilities -m $MODEL $SET/images -o $label --label $label --samples "
        "20; done");
    for (int i = 1; i <= 12; i++) {
        struct clv_indexed_image zero = {0}, one = {0};
        must(clv_indexed_image_read(&zero, here("background/%04d.png", i), NULL, err));
        must(clv_indexed_image_read(&one, here("1/%04d.png", i), NULL, err));
        for (int32_t k = 0; k < one.width * one.height; k++)
            ck_assert_int_le(abs(zero.values[k] + one.values[k] - 255), 1);
        clv_indexed_image_release(&zero);
        clv_indexed_image_release(&one);
    }
}

TEST(same_seed_gives_the_same_maps_at_any_thread_count_and_another_seed_others)
{
    for (int t = 1; t <= 4; t++)
        run_here("mkdir %d && cd %d && cleave probabilities -m $MODEL $SET/images -o out --overlay --json --samples 20 "
                 "--seed %d -t %d >json 2>notes",
                 t, t, t == 3 ? 2 : 1, t);
    for (int t = 2; t <= 4; t += 2)
        ck_assert_msg(same_bytes(here("1"), here("%d", t)), "%d threads differ", t);
    ck_assert(!same_bytes(here("1/out"), here("3/out")));
}

TEST(a_report_shows_maps_and_how_uncertain_they_are)
{
    run_here("cleave probabilities -m $MODEL --data $SET/manifest.tsv --split test -o shown --samples 10 --report "
             "shown-page "
             "&& cleave probabilities -m $MODEL --data $SET/manifest.tsv --split test -o shown --samples 10 --report "
             "shown-page --resume");
    char *page = slurp(here("shown-page/index.html"), NULL);
    ck_assert_ptr_nonnull(strstr(page, "<dt>Label</dt><dd>foreground</dd>"));
    ck_assert_ptr_nonnull(strstr(page, "alt=\"Probability of images/00"));
    ck_assert_ptr_nonnull(strstr(page, " % expected, mean entropy "));
    ck_assert_ptr_nonnull(strstr(page, "</i>uncertain</span>"));
    ck_assert_ptr_null(strstr(page, "alt=\"Difference of"));
    free(page);
}

/* Mean probability and mean entropy, in bits, over a map's pixels. */
static void means_of_map(double means[2], const char *path)
{
    struct clv_indexed_image map = {0};
    must(clv_indexed_image_read(&map, path, NULL, err));
    double n = (double)map.width * (double)map.height;
    means[0] = means[1] = 0;
    for (int32_t k = 0; k < map.width * map.height; k++) {
        double p = map.values[k] / 255.0;
        means[0] += p / n;
        means[1] -= p > 0 && p < 1 ? (p * log2(p) + (1 - p) * log2(1 - p)) / n : 0;
    }
    clv_indexed_image_release(&map);
}

TEST(json_reports_every_image)
{
    char *json = expect_success(
        "cleave probabilities -q -m $MODEL --data $SET/manifest.tsv --split test -o out --json --samples 7 --seed 9");
    ck_assert_ptr_nonnull(strstr(
        json, "{\"images\":4,\"failed\":0,\"samples\":7,\"seed\":9,\"scores\":\"margin\",\"label\":\"foreground\","
              "\"per_image\":[{\"image\":"));
    int n = 0;
    for (char *at = json; (at = strstr(at, "\"share\":")) != NULL; at++, n++) {
        double share, entropy, bound, error;
        ck_assert_int_eq(sscanf(at, "\"share\":%lf,\"entropy\":%lf,\"log_partition_bound\":%lf,\"standard_error\":%lf",
                                &share, &entropy, &bound, &error),
                         4);
        ck_assert(share > 0 && share < 1 && entropy > 0 && entropy < 1 && error > 0 && bound > 0);
        double shown[2];
        means_of_map(shown, here("out/%04d.png", 9 + n));
        ck_assert_double_eq_tol(share, shown[0], 0.003);
        ck_assert_double_eq_tol(entropy, shown[1], 0.02);
    }
    ck_assert_int_eq(n, 4);
    free(json);
}

/* A map's pixels are means of those of the images of one label, and the labels add up to one. */
TEST(maps_of_all_labels_have_the_means_of_each_label_s_own)
{
    run_here(
        "cleave probabilities -q -m $MODEL $SET/images/0009.jpg -o one --samples 20 && for side in 50 1024; do cleave "
        "probabilities -q -m $MODEL $SET/images/0009.jpg -o $side --samples 20 --all-labels --side $side; done");
    struct clv_indexed_image one = {0};
    must(clv_indexed_image_read(&one, here("one/0009.png"), NULL, err));
    for (int k = 0; k < 2; k++) {
        struct clv_map map = {0};
        must(clv_map_read(&map, here("%s/0009.npy", k ? "1024" : "50"), CLV_MAP_LAYOUT_CHW, NULL, err));
        ck_assert_int_eq(map.n_channels, 2);
        ck_assert_int_eq(k ? one.width : 50, map.width > map.height ? map.width : map.height);
        ck_assert_int_eq(map.height, (one.height * map.width + one.width / 2) / one.width);
        size_t n = (size_t)map.width * (size_t)map.height;
        float *sum = calloc(2 * n, sizeof *sum), *count = sum + n;
        for (int32_t y = 0; y < one.height; y++)
            for (int32_t x = 0; x < one.width; x++) {
                size_t at = (size_t)((2 * y + 1) * map.height / (2 * one.height) * map.width +
                                     (2 * x + 1) * map.width / (2 * one.width));
                sum[at] += one.values[y * one.width + x] / 255.0F;
                count[at]++;
            }
        for (size_t p = 0; p < n; p++) {
            ck_assert_float_eq_tol(map.values[n + p], sum[p] / count[p], 0.003F);
            ck_assert_float_eq_tol(map.values[p] + map.values[n + p], 1, 3e-5F);
        }
        free(sum);
        clv_map_release(&map);
    }
    clv_indexed_image_release(&one);
}

TEST(another_training_takes_the_maps_of_all_labels)
{
    run_here(
        "cleave probabilities -q -m $MODEL --data $SET/manifest.tsv -o maps --samples 5 --all-labels && cleave "
        "probabilities -m "
        "$MODEL --data $SET/manifest.tsv -o maps --samples 5 --all-labels --resume 2>&1 | grep -q ' 12 finished "
        "before' "
        "&& cleave train --seed 1 --superpixels 120 --passes 10 --learner ssvm --blocks maps --maps first=maps --data "
        "$SET/manifest.tsv --split train -o m >notes 2>&1 && grep -q 'read as probabilities' notes && cleave segment "
        "-q -m m --maps first=maps --data $SET/manifest.tsv --split test -o out");
    ck_assert_int_eq(count_files(here("maps")), 12);
    ck_assert_int_eq(count_files(here("out")), 4);
}

TEST(bad_requests_and_bad_images_are_named)
{
    static const struct refusal refusals[] = {
        {64, "no model; add -m MODEL", "probabilities x -o y"},
        {64, "no output; add -o FOLDER", "probabilities x -m y"},
        {64, "no images", "probabilities -m x -o y"},
        {64, "--samples: \"0\" is not a whole number", "probabilities -m x -o y z --samples 0"},
        {64, "--seed: \"-1\"", "probabilities -m x -o y z --seed -1"},
        {64, "standard output", "probabilities -m x -o y z --json --status -"},
        {64, "--label: \"horse\" is none of the model's 2", "probabilities -m $MODEL -o y $SET --label horse"},
        {64, "--json cannot be used with --all-labels: it is of one label",
         "probabilities -m x -o y z --all-labels --json"},
        {64, "--side: it is of maps, which --all-labels or --margins write", "probabilities -m x -o y z --side 4"},
        {64, "--side: \"1025\"", "probabilities -m x -o y z --all-labels --side 1025"},
        {64, "--label: \"2\" is none", "probabilities -m $MODEL -o y $SET --label 2"},
        {66, "absent", "probabilities -m $MODEL -o y absent.jpg"},
    };
    EXPECT_REFUSALS(refusals);
    spill(here("broken.png"), "\x89PNG\r\n\x1a\n", 8);
    char *output;
    int code = run_command(
        &output,
        "cd $HERE && cleave probabilities -m $MODEL -o out broken.png $SET/images/0001.jpg --json --status table");
    ck_assert_int_eq(code, 65);
    ck_assert_ptr_nonnull(strstr(output, "broken.png: "));
    ck_assert_ptr_nonnull(strstr(output, "{\"images\":1,\"failed\":1,"));
    free(output);
    char *table = slurp(here("table"), NULL);
    ck_assert_ptr_nonnull(strstr(table, "broken.png\tfailed"));
    ck_assert_ptr_nonnull(strstr(table, "0001.jpg\tdone\tout/0001.png"));
    free(table);
    expect_error(73, "exists already", "cleave probabilities -m $MODEL -o out $SET/images");
    EXPECT_PARTS(expect_success("cleave probabilities -m $MODEL -o out $SET/images --resume"),
                 "11 probability maps written into out, 1 finished before");
}

TEST(a_signal_leaves_whole_maps_only)
{
    int code =
        run_command(NULL, "cd $HERE && { cleave probabilities -q -m $MODEL $SET/images -o out --samples 3000 & } && "
                          "sleep 0.3 && kill -INT $! && wait $!");
    ck_assert_msg(code == 0 || code == 130, "exits with %d", code);
    ck_assert_int_le(count_files(here("out")), 12);
    char *temporaries = expect_success("find $HERE -name '*.tmp'");
    ck_assert_str_eq(temporaries, "");
    free(temporaries);
}

SETUP_ONCE(sample_setup, NULL)
