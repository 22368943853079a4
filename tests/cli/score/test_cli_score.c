/* cleave score: numbers by hand, missing and mismatched predictions, formats. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data/data.h"
#include "feature/dataset/dataset.h"
#include "support/exhaustive.h"
#include "support/sample.h"
#include "support/support.h"

static void write_mask(const char *path, int32_t width, int32_t height, const uint8_t *labels)
{
    must(clv_png_write_labels(path, width, height, labels, NULL, 0, err));
}

/* folder/set with two images of 4x2 pixels and folder/pred; the first prediction misses one of 4 foreground pixels and
 * invents one among 4 of background, the second is right. */
static const char *make_tiny_set(const char *header)
{
    static char folder[256];
    const uint8_t truth[] = {1, 1, 1, 1, 0, 0, 0, 0}, prediction[] = {1, 1, 1, 0, 1, 0, 0, 0};
    snprintf(folder, sizeof folder, "%s", temporary_folder());
    run_here("mkdir -p set/images/deep set/masks pred");
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_new(&image, 4, 2, 3, err));
    must(clv_png_write(here("set/images/a.png"), &image, err));
    must(clv_png_write(here("set/images/b.png"), &image, err));
    write_mask(here("set/masks/a.png"), 4, 2, truth);
    write_mask(here("set/masks/b.png"), 4, 2, truth);
    write_mask(here("pred/a.png"), 4, 2, prediction);
    write_mask(here("pred/b.png"), 4, 2, truth);
    const char *text = formatted("%s\nimages/a.png\tmasks/a.png\ttest\nimages/b.png\tmasks/b.png\ttest\n", header);
    spill(here("set/manifest.tsv"), text, strlen(text));
    return folder;
}

TEST(predictions_in_the_place_of_the_set_are_said_to_be_there)
{
    run_here("mkdir out && cp $SET/masks/000[12].png out");
    OWNED_ARRAY char *text = NULL;
    ck_assert_int_eq(run_command(&text, "cd $HERE && cleave score out $SET"), 65);
    ck_assert_msg(strstr(text, "the set with the truth comes first, the folder of predictions second") &&
                      !strstr(text, "learn"),
                  "%s", text);
}

TEST(json_holds_the_means_over_images)
{
    const char *folder = make_tiny_set("image\tmask\tsplit");
    OWNED_ARRAY char *json =
        expect_success("cd %s && cleave score --data set/manifest.tsv --pred pred --json --per-image", folder);
    ck_assert_str_eq(
        json, "{\"images\":2,\"weighted_hamming\":0.125,\"weighted_hamming_standard_error\":0.125,\"hamming\":0.125,"
              "\"iou\":{\"0\":0.8,\"1\":0.8},\"mean_iou\":0.8,\"pixels\":16,\"accuracy\":0.875,\"class_accuracy\":{"
              "\"background\":0.875,\"foreground\":0.875},\"mean_class_accuracy\":0.875,\"class_iou\":{"
              "\"background\":0.7777777777777778,\"foreground\":0.7777777777777778},"
              "\"mean_class_iou\":0.7777777777777778,\"per_image\":["
              "{\"image\":\"images/a.png\",\"weighted_hamming\":0.25,\"hamming\":0.25,\"mean_iou\":0.6},"
              "{\"image\":\"images/b.png\",\"weighted_hamming\":0,\"hamming\":0,\"mean_iou\":1}]}\n");
    OWNED_ARRAY char *csv = expect_success("cd %s && cleave score -q --data set --pred pred --csv", folder);
    ck_assert_str_eq(csv, "image,pixels,weighted_hamming,hamming,mean_iou,iou_0,iou_1\n"
                          "\"images/a.png\",8,0.25,0.25,0.6,0.6,0.6\n\"images/b.png\",8,0,0,1,1,1\n");
    EXPECT_PARTS(expect_success("cd %s && cleave score --data set --pred pred --per-image", folder), "12.50",
                 "25.00      25.00    0.6000  images/a.png");
}

static void put_image(const char *path, int32_t width, int32_t height)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_new(&image, width, height, 3, err));
    must(clv_png_write(path, &image, err));
}

/* Two images, whose numbers differ wherever they can. By hand, of the confusion of both:
 *
 *                 found 0  1  2
 *     true 0            3  1  0     accuracy 3/4, IoU 3/5
 *          1            1  3  1     accuracy 3/5, IoU 3/6
 *          2            0  0  2     accuracy 2/2, IoU 2/3 */
static void make_counted_set(const char *names)
{
    const uint8_t truth[][8] = {{0, 0, 0, 1, 1, 1, 2, 2}, {1, 1, 0, 255}},
                  found[][8] = {{0, 0, 1, 1, 1, 2, 2, 2}, {1, 0, 0, 2}};
    run_here("mkdir -p set/images set/masks pred && printf 'value\\tname\\n%s' >set/labels.tsv", names);
    for (int k = 0; k < 2; k++) {
        put_image(here("set/images/%c.png", 'a' + k), k ? 2 : 4, 2);
        write_mask(here("set/masks/%c.png", 'a' + k), k ? 2 : 4, 2, truth[k]);
        write_mask(here("pred/%c.png", 'a' + k), k ? 2 : 4, 2, found[k]);
    }
}

TEST(the_text_has_means_over_images_a_line_for_each_label_and_shares_of_all_pixels)
{
    make_counted_set("0\\tsky\\n1\\tcow\\n2\\tdog\\n3\\tnever\\n");
    OWNED_ARRAY char *text = expect_success("cleave score -q set pred --per-image");
    /* Weighted: the mean of the labels' errors, 1/3, 1/3, 0 and 0, 1/2; the standard error is half of the difference.
     * The mean IoU of an image leaves label 0 out. */
    ck_assert_str_eq(text,
                     "weighted Hamming %  Hamming %  mean IoU  image\n"
                     "             22.22      25.00    0.5833  images/a.png\n"
                     "             25.00      33.33    0.5000  images/b.png\n\n"
                     "               weighted Hamming %  standard error  Hamming %  mean IoU\n"
                     "per pixel                   23.61            1.39      29.17    0.5417\n\n"
                     "label                 mean IoU  accuracy %\n"
                     "  0 sky                 0.5833       75.00\n"
                     "  1 cow                 0.5000       60.00\n"
                     "  2 dog                 0.6667      100.00\n\n"
                     "2 images; pixel accuracy 72.73 %, mean over labels 78.33 %; mean IoU with background 0.5889\n");
    OWNED_ARRAY char *csv = expect_success("cleave score -q set pred --csv");
    EXPECT_PARTS(
        strdup(csv), "image,pixels,weighted_hamming,hamming,mean_iou,iou_0,iou_1,iou_2,iou_3\n",
        "\"images/a.png\",8,0.2222222222222222,0.25,0.5833333333333333,0.6666666666666666,0.5,0.6666666666666666,\n",
        "\"images/b.png\",3,0.25,0.3333333333333333,0.5,0.5,0.5,,\n");
}

static double number_after(const char *text, const char *key)
{
    const char *found = strstr(text, key);
    ck_assert_msg(found != NULL, "%s in %s", key, text);
    return strtod(found + strlen(key), NULL);
}

/* Objects in rows of pixels: row y has object k in columns first .. end - 1. */
static void write_objects(const char *path, const int32_t (*rows)[4], size_t n)
{
    enum { WIDTH = 20, HEIGHT = 4 };
    int32_t objects[WIDTH * HEIGHT] = {0}, most = 0;
    for (size_t i = 0; i < n; i++) {
        most = rows[i][3] > most ? rows[i][3] : most;
        for (int32_t x = rows[i][1]; x < rows[i][2]; x++)
            objects[rows[i][0] * WIDTH + x] = rows[i][3];
    }
    const struct clv_object_map map = {.width = WIDTH, .height = HEIGHT, .n_objects = most, .objects = objects};
    must(clv_object_map_write(NULL, path, &map, err));
}

/* Of the first image three objects are true and four found, with IoU 1, 10/16 and 5/10, the second's one is found. */
TEST(objects_are_scored_by_image_and_of_all_images_together)
{
    static const int32_t truth[][4] = {{0, 0, 20, 1}, {1, 0, 13, 2}, {2, 0, 10, 3}},
                         found[][4] = {{0, 0, 20, 2}, {1, 3, 16, 1}, {2, 0, 5, 3}, {3, 0, 5, 4}};
    const uint8_t blank[80] = {0};
    run_here("mkdir -p set/images set/objects pred/objects");
    static const char manifest[] = "image\tinstances\nimages/a.png\tobjects/a.png\nimages/b.png\tobjects/b.png\n";
    spill(here("set/manifest.tsv"), manifest, sizeof manifest - 1);
    for (int k = 0; k < 2; k++) {
        put_image(here("set/images/%c.png", 'a' + k), 20, 4);
        write_objects(here("set/objects/%c.png", 'a' + k), truth, k ? 1 : 3);
        write_objects(here("pred/objects/%c.png", 'a' + k), found, k ? 1 : 4);
        write_mask(here("pred/%c.png", 'a' + k), 20, 4, blank);
    }
    /* F1 of the first 2 * 2 / 7, of both (4 / 7 + 1) / 2, of all objects 2 * 3 / 9. The precision of the first is 2 / 5 up
     * to IoU 0.6 and 1 / 6 above. */
    expect_output("objects        F1 at IoU 0.5 0.7857, of all images together 0.6667; mean precision over IoU "
                  "0.5:0.95 0.6183; 4 true, 5 found\n",
                  "cleave score -q set pred");
    OWNED_ARRAY char *json = expect_success("cleave score -q set pred --json --per-image");
    const char *objects = strstr(json, "\"objects\":{"), *a = strstr(json, "{\"image\":\"images/a.png\"");
    ck_assert_msg(objects && a, "%s", json);
    ck_assert(number_after(objects, "\"true\":") == 4 && number_after(objects, "\"found\":") == 5);
    ck_assert_double_eq_tol(number_after(objects, "\"f1_of_all\":"), 6 / 9., 1e-12);
    ck_assert_double_eq_tol(number_after(objects, "\"f1\":"), (4 / 7. + 1) / 2, 1e-12);
    ck_assert_double_eq_tol(number_after(objects, "\"mean_precision\":"), ((3 * 0.4 + 7 / 6.) / 10 + 1) / 2, 1e-12);
    ck_assert_double_eq_tol(number_after(a, "\"f1\":"), 4 / 7., 1e-12);
    ck_assert_double_eq_tol(number_after(a, "\"mean_precision\":"), (3 * 0.4 + 7 / 6.) / 10, 1e-12);
}

TEST(text_json_and_csv_have_the_same_numbers_of_superpixels_and_patches)
{
    run_here(
        "cleave train -q -d $SET --split train --seed 1 --words 8 --codebook-samples 500 --passes 3 --nodes patches "
        "--patch-size 12 --patch-step 6 -o patches");
    for (int k = 0; k < 2; k++) {
        const char *name = k ? "patch" : "superpixel";
        char score[256];
        snprintf(score, sizeof score, "cleave score -q -d $SET --split test --pred out-%d -m %s", k,
                 k ? "patches" : "$MODEL");
        run_here("cleave segment -q -m %s -d $SET --split test -o out-%d", k ? "patches" : "$MODEL", k);
        OWNED_ARRAY char *json = expect_success("%s --json", score);
        OWNED_ARRAY char *text = expect_success("%s", score);
        OWNED_ARRAY char *csv = expect_success("%s --csv", score);
        const char *nodes = strstr(json, formatted("\"%s\":{", name));
        ck_assert_ptr_nonnull(nodes);
        const char *keys[] = {"\"weighted_hamming\":", "\"hamming\":", "\"mean_iou\":"};
        double own[3];
        for (int i = 0; i < 3; i++)
            own[i] = number_after(nodes, keys[i]);
        double sums[3] = {0};
        int n = 0;
        for (const char *line = strchr(csv, '\n') + 1; *line; line = strchr(line, '\n') + 1, n++) {
            double at[3];
            ck_assert_int_eq(sscanf(line, "%*[^,],%*f,%*f,%*f,%*f,%lf,%lf,%lf", &at[0], &at[1], &at[2]), 3);
            for (int i = 0; i < 3; i++)
                sums[i] += at[i];
        }
        ck_assert_int_eq(n, 4);
        for (int i = 0; i < 3; i++)
            ck_assert_double_eq_tol(sums[i] / n, own[i], 1e-12);
        const char *row = strstr(text, formatted("\nper %s ", name)),
                   *total = strstr(text, formatted("\n%s accuracy ", name));
        ck_assert_msg(row && total, "%s", text);
        double printed[4];
        ck_assert_int_eq(sscanf(row, " per %*s %lf %*f %lf %lf", &printed[0], &printed[1], &printed[2]), 3);
        for (int i = 0; i < 3; i++)
            ck_assert_double_eq_tol(printed[i], own[i] * (i < 2 ? 100 : 1), i < 2 ? 0.00501 : 0.0000501);
        ck_assert(own[1] > 0 && own[1] < 1);
        must_say(total, formatted("\n%s accuracy %.2f %%, mean over labels %.2f %%; mean IoU with background %.4f\n",
                                  name, 100 * number_after(nodes, "\"accuracy\":"),
                                  100 * number_after(nodes, "\"mean_class_accuracy\":"),
                                  number_after(nodes, "\"mean_class_iou\":")));
        must_say(text, k ? "  of patches %\n" : "  of superpixels %\n");
        must_say(text, formatted(k ? "%11.2f%14.2f\n" : "%11.2f%18.2f\n", 100 * number_after(json, "\"foreground\":"),
                                 100 * number_after(nodes, "\"foreground\":")));
    }
}

TEST(truth_in_which_255_may_be_foreground_or_left_out_is_refused)
{
    const uint8_t blank[8] = {255, 255, 255, 255, 255, 255, 255, 255}, strokes[8] = {1, 255, 0, 0, 255, 0, 0, 0},
                  background[8] = {0, 255, 0, 0, 255, 0, 0, 0};
    make_tiny_set("image\tmask\tsplit");
    write_mask(here("set/masks/b.png"), 4, 2, blank);
    expect_error(
        65,
        "set/masks/b.png: beside set/masks/a.png, 255 may be foreground or void; this makes labels of 0 and 1, "
        "and void of 255 (if 255 is not void, add --white foreground or --white label): cleave import masks "
        "set -o set-labels",
        "cleave score set pred");
    write_mask(here("set/masks/a.png"), 4, 2, background);
    write_mask(here("set/masks/b.png"), 4, 2, strokes);
    expect_error(65, "set/masks/b.png: beside set/masks/a.png, 255", "cleave score set pred --border-width 1");
    run_here("printf 'value\tname\n0\tground\n1\tfigure\n' >set/labels.tsv");
    expect_output("\"pixels\":12,", "cleave score set pred --json");
}

/* Two examples of three nodes with one feature; the last node's label is not known. */
static void write_feature_file(const char *path, const float x[6], const float counts[6][2])
{
    static const int64_t offset[] = {0, 3, 6};
    const struct clv_tensor tensors[] = {
        {"node_offset", CLV_I64, 1, {3}, offset}, {"x", CLV_F32, 2, {6, 1}, x}, {"counts", CLV_F32, 2, {6, 2}, counts}};
    static const char *const metadata[][2] = {
        {"format", "cleave features 1"}, {"n_labels", "2"}, {"names", "a\nb"}, {"loss", "counts"}};
    must(clv_tensors_write(path, tensors, 3, metadata, 4, err));
}

TEST(known_nodes_of_a_feature_file_are_scored)
{
    const float x[6] = {1, -1, 2, 1, -2, 1}, other[6] = {1, 1, 2, 1, -2, 1};
    const float counts[6][2] = {{0, 1}, {1, 0}, {0, 1}, {0, 1}, {1, 0}, {0, 0}};
    write_feature_file(here("train.safetensors"), x, counts);
    write_feature_file(here("test.safetensors"), other, counts);
    run_here("cleave train -l perceptron --data train.safetensors -o m");
    OWNED_ARRAY char *json = expect_success("cleave score -m m --data test.safetensors --json");
    ck_assert_str_eq(json, "{\"examples\":2,\"nodes\":5,\"accuracy\":0.8,\"node_error\":0.2,"
                           "\"mean_node_error\":0.16666666666666666,\"mean_loss\":0.5,\"class_accuracy\":{"
                           "\"background\":0.5,\"foreground\":1}}\n");
    expect_output("accuracy      80.00 %", "cleave score -m m --data test.safetensors");
    expect_error(64, "needs a model; add -m MODEL", "cleave score --data test.safetensors");
    expect_error(64, "-m and --json only", "cleave score -m m --data test.safetensors --csv");
}

/* The means are those of the first example alone, and there is nothing to score if no node has a label. */
TEST(examples_of_unlabelled_nodes_are_not_scored)
{
    const float x[6] = {1, -1, 2, 1, -2, 1}, other[6] = {1, 1, 2, 1, -2, 1};
    const float counts[6][2] = {{0, 1}, {1, 0}, {0, 1}, {0, 1}, {1, 0}, {0, 0}}, first[6][2] = {{0, 1}, {1, 0}, {0, 1}},
                none[6][2] = {{0, 0}};
    write_feature_file(here("train.safetensors"), x, counts);
    write_feature_file(here("first.safetensors"), other, first);
    write_feature_file(here("none.safetensors"), other, none);
    run_here("cleave train -l perceptron --data train.safetensors -o m");
    OWNED_ARRAY char *json = expect_success("cleave score -m m --data first.safetensors --json");
    must_say(json, "{\"examples\":1,\"nodes\":3,");
    must_say(json, "\"node_error\":0.3333333333333333,\"mean_node_error\":0.3333333333333333,\"mean_loss\":1,");
    expect_error(65, "has no true labels to score by", "cleave score -m m --data none.safetensors");
}

/* Of sequence "s", no pixel of b counts; of "t", no pixel at all. */
TEST(frames_without_pixels_that_count_are_in_no_mean_of_a_sequence)
{
    const uint8_t nothing[] = {2, 2, 2, 2, 2, 2, 2, 2};
    make_tiny_set("image\tmask\tsplit");
    write_mask(here("set/masks/b.png"), 4, 2, nothing);
    run_here("printf 'value\tname\n0\tbackground\n1\tforeground\n2\tvoid\n' >set/labels.tsv; cp set/images/a.png "
             "set/images/c.png; cp pred/b.png pred/c.png; printf 'image\tmask\tsequence\nimages/a.png\tmasks/a.png\ts\n"
             "images/b.png\tmasks/b.png\ts\nimages/c.png\tmasks/b.png\tt\n' >set/manifest.tsv");
    OWNED_ARRAY char *json = expect_success("cleave score --data set/manifest.tsv --pred pred --json");
    must_say(json, "\"mean_iou\":0.6,");
    must_say(json, "\"mean_j\":0.6,\"sequences\":{\"s\":{\"frames\":2,\"mean_j\":0.6,");
    must_say(json, "\"t\":{\"frames\":1,\"mean_j\":null,");
    OWNED_ARRAY char *text = expect_success("cleave score --data set/manifest.tsv --pred pred");
    ck_assert_msg(strstr(text, " 0.6000 ") && !strstr(text, "nan"), "%s", text);
}

TEST(frames_whose_truth_is_objects_alone_are_scored)
{
    const uint8_t objects[] = {3, 3, 5, 5, 0, 0, 0, 0};
    make_tiny_set("image\tmask\tsplit");
    write_mask(here("set/masks/a.png"), 4, 2, objects);
    write_mask(here("set/masks/b.png"), 4, 2, objects);
    run_here("printf 'image\tinstances\tsequence\nimages/a.png\tmasks/a.png\ts\nimages/b.png\tmasks/b.png\ts\n' "
             ">set/manifest.tsv");
    OWNED_ARRAY char *json = expect_success("cleave score --data set/manifest.tsv --pred pred --json");
    must_say(json, "\"sequences\":{\"s\":{\"frames\":2,\"mean_j\":0.8,");
}

TEST(a_label_that_is_void_for_the_merge_alone_is_refused)
{
    const uint8_t truth[] = {0, 1, 2, 2, 0, 1, 2, 2};
    make_tiny_set("image\tmask\tsplit");
    write_mask(here("set/masks/b.png"), 4, 2, truth);
    run_here("printf 'name\nbackground\nforeground\nsky\n' >set/labels.tsv; for i in 1 2; do cleave score set pred "
             "--shard $i/2 >all$i; cleave score set pred --shard $i/2 --void sky >some$i; done; "
             "cleave score --data set --merge some1 some2 --void sky");
    expect_error(65, "all2:2: counts pixels of \"sky\", which is void here; every shard needs the same --void",
                 "cleave score --data set --merge all1 all2 --void sky");
}

/* By trying all labels: log sum exp f of the labellings that have the known labels, less that of all. */
static double log_likelihood(const struct clv_weight_layout *layout, const double *w, const struct clv_problem *problem)
{
    enum { N_MOST = 8, K = 3 };
    double unary[N_MOST * K], pairwise[2 * N_MOST * K * K], given, all;
    struct clv_field field = {
        problem->n_nodes, problem->n_edges, K, layout->pairwise, problem->edges, unary, pairwise, 0};
    ck_assert_int_le(problem->n_nodes, N_MOST);
    clv_unary_scores(unary, problem, layout, w);
    clv_pairwise_scores(pairwise, problem, layout, w);
    exhaustive(NULL, NULL, &all, NULL, &field);
    for (int32_t i = 0; i < problem->n_nodes; i++)
        for (int32_t a = 0; a < K; a++)
            if (problem->label[i] != CLV_UNKNOWN && problem->label[i] != a)
                unary[i * K + a] -= 1000;
    exhaustive(NULL, NULL, &given, NULL, &field);
    return given - all;
}

/* What the text after `key` says; it must be there. */
TEST(known_labels_have_an_exact_likelihood_under_the_weights)
{
    static const char *const kinds[] = {"hidden-chain --nodes 6", "hidden-grid --side 2"};
    for (int k = 0; k < 2; k++) {
        OWNED(clv_model_release) struct clv_model model = {0};
        OWNED(dataset_drop) struct clv_dataset *test = NULL;
        double expected = 0;
        run_here("\"$SIMULATE\" %s --labels 3 --train 4 --test 2 --seed 3 . && cleave train --overwrite --learner hcrf "
                 "--data train.safetensors --c 1 -o m",
                 kinds[k]);
        must(clv_model_read(&model, here("m"), err));
        must(clv_features_open(&test, NULL, here("test.safetensors"), err));
        for (size_t i = 0; i < clv_dataset_size(test); i++) {
            struct clv_problem problem = clv_dataset_problem(test, i);
            expected += log_likelihood(&model.layout, model.w, &problem) / 2;
        }
        OWNED_ARRAY char *json =
            expect_success("cleave score -m m --data test.safetensors --likelihood --json -t %d", 1 + 2 * k);
        ck_assert_double_eq_tol(number_after(json, "\"mean_log_likelihood\":"), expected, 1e-9);
        OWNED_ARRAY char *text = expect_success("cleave score -m m --data test.safetensors --likelihood");
        ck_assert_double_eq_tol(number_after(text, "likelihood    "), expected, 1e-4);
    }
}

TEST(likelihoods_are_refused_where_there_are_none)
{
    run_here("\"$SIMULATE\" hidden-grid --labels 3 --side 20 --sweeps 2 --train 1 --test 1 . && cleave train "
             "--overwrite --learner mssvm --data train.safetensors --passes 1 -o m");
    expect_error(64, "--likelihood: a graph of 400 nodes and 760 edges is too wide",
                 "cleave score -m m --data test.safetensors --likelihood");
    expect_error(64, "--likelihood: goes with a feature file", "cleave score --data x --pred y --likelihood");
}

TEST(void_pixels_never_count_and_named_classes_have_accuracies)
{
    const char *folder = make_tiny_set("image\tmask\tsplit");
    const uint8_t truth[] = {0, 0, 1, 1, 2, 2, 2, 2}, prediction[] = {1, 2, 1, 2, 2, 2, 2, 2};
    const char *labels = "value\tname\tred\tgreen\tblue\n0\tvoid\t0\t0\t0\n1\tgrass\t0\t128\t0\n2\tcow\t0\t0\t128\n";
    spill(formatted("%s/set/labels.tsv", folder), labels, strlen(labels));
    write_mask(formatted("%s/set/masks/a.png", folder), 4, 2, truth);
    write_mask(formatted("%s/pred/a.png", folder), 4, 2, prediction);
    run_here("cd %s && cp set/masks/a.png set/masks/b.png && cp pred/a.png pred/b.png", folder);
    OWNED_ARRAY char *json = expect_success("cd %s && cleave score --data set/manifest.tsv --pred pred --json", folder);
    ck_assert_ptr_nonnull(strstr(json,
                                 "\"pixels\":12,\"accuracy\":0.8333333333333334,\"class_accuracy\":{\"grass\":0.5,"
                                 "\"cow\":1},\"mean_class_accuracy\":0.75"));
    ck_assert_ptr_nonnull(strstr(json, "\"weighted_hamming\":0.25,"));
    ck_assert_ptr_nonnull(strstr(json, "\"iou\":{\"1\":0.5,\"2\":0.8}"));
    ck_assert_ptr_nonnull(strstr(json, "\"mean_iou\":0.65"));
}

TEST(predictions_that_are_missing_or_of_another_size_are_named)
{
    const char *folder = make_tiny_set("image\tmask\tsplit");
    const uint8_t other[6] = {0};
    write_mask(formatted("%s/pred/b.png", folder), 3, 2, other);
    expect_error(65, "pred/b.png: prediction is 3x2, its truth set/masks/b.png is 4x2",
                 "cd %s && cleave score --data set/manifest.tsv --pred pred", folder);
    expect_error(66, "pred/b.png: no such prediction (1 of 2 are missing)",
                 "cd %s && rm pred/b.png && cleave score --data set/manifest.tsv --pred pred --json", folder);
    expect_error(66, "pred/images/b.png: no such prediction (1 of 2 are missing)",
                 "cd %s && mkdir pred/images && mv pred/a.png pred/images && cleave score set pred", folder);
    run_here("cp pred/images/a.png pred/images/b.png && cleave score set pred | grep 'mean IoU with background'");
    run_here("rm -r pred/images");
    expect_error(66, "nowhere: no such folder", "cd %s && cleave score --data set --pred nowhere", folder);
    expect_error(65, "no image has split \"dev\"",
                 "cd %s && cleave score --data set/manifest.tsv --split dev --pred pred", folder);
    expect_error(65, "none of the 2 images has a mask",
                 "cd %s && printf 'image\\nimages/a.png\\nimages/b.png\\n' >set/bare.tsv && cleave score --data "
                 "set/bare.tsv --pred pred",
                 folder);
}

TEST(nothing_is_printed_when_scoring_fails)
{
    const char *folder = make_tiny_set("image\tmask\tsplit");
    OWNED_ARRAY char *output = NULL;
    ck_assert_int_eq(run_command(&output,
                                 "cd %s && rm pred/a.png && cleave score --data set --pred pred --json 2>/dev/null",
                                 folder),
                     66);
    ck_assert_str_eq(output, "");
    expect_error(74, "standard output: cannot write",
                 "cd %s && cp pred/b.png pred/a.png && cleave score --data set --pred pred --json >/dev/full", folder);
}

TEST(superpixel_scores_of_perfect_masks_are_perfect)
{
    OWNED_ARRAY char *json =
        expect_success("cleave score --data $SET/manifest.tsv --split test --pred $SET/masks -m $MODEL --json");
    ck_assert_ptr_nonnull(strstr(json, "\"weighted_hamming\":0,"));
    ck_assert_ptr_nonnull(
        strstr(json, "\"superpixel\":{\"weighted_hamming\":0,\"hamming\":0,\"mean_iou\":1,\"accuracy\":1,"));
    free(json);
    /* A mask that the model painted has whole superpixels: its superpixel score takes sides with the majority. */
    run_here("cleave segment -m $MODEL --data $SET/manifest.tsv --split test -o out");
    json = expect_success("cleave score --data $SET/manifest.tsv --split test --pred out -m $MODEL --json");
    ck_assert_ptr_null(strstr(json, "\"superpixel\":{\"weighted_hamming\":0,"));
}

TEST(masks_of_0_and_one_other_value_are_foreground_and_background)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    run_here("cp -r $SET thirteen");
    must(clv_set_read(&set, here("thirteen/manifest.tsv"), err));
    for (size_t i = 0; i < set.n_items; i++) {
        OWNED(clv_mask_release) struct clv_mask mask = {0};
        must(clv_mask_read(&mask, set.items[i].mask, &set.labels, 0, 0, NULL, err));
        for (int p = 0; p < mask.width * mask.height; p++)
            mask.labels[p] = mask.labels[p] == 1 ? 13 : mask.labels[p];
        must(clv_png_write_labels(set.items[i].mask, mask.width, mask.height, mask.labels, NULL, 0, err));
    }
    expect_output("8 of 8 masks: 0 and one other value were read as 0 background and 1 foreg",
                  "cleave train --learner ssvm --data thirteen/manifest.tsv --split train %s -o 13.cleave 2>&1",
                  SAMPLE_TRAINING);
    EXPECT_PARTS(expect_success("cleave segment -q -m 13.cleave --data thirteen/manifest.tsv -o out13 && cleave "
                                "score --data thirteen/manifest.tsv --pred out13 2>&1 >thirteen.txt && cleave score "
                                "--data $SET/manifest.tsv --pred out13 >one.txt && cmp one.txt thirteen.txt"),
                 "12 of 12 masks: 0 and one other value");
}

/* A row of ten pixels, a border behind the fourth: within 1 pixel of it are 2 pixels, within 2 four. A border of void
 * counts as one when both sides come within reach. */
TEST(a_band_counts_pixels_near_borders_alone)
{
    const char *folder = make_tiny_set("image\tmask\tsplit");
    uint8_t truth[10] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, prediction[10] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 0};
    const char *score = "cd %s && \"$CLEAVE\" score --data set/manifest.tsv --pred pred --json --border-width %d";
    for (int k = 0; k < 2; k++) {
        write_mask(formatted("%s/set/masks/%c.png", folder, 'a' + k), 10, 1, truth);
        write_mask(formatted("%s/pred/%c.png", folder, 'a' + k), 10, 1, prediction);
    }
    expect_output("\"pixels\":4,\"accuracy\":0.5,", score, folder, 1);
    EXPECT_PARTS(expect_success(score, folder, 2), "\"pixels\":8,\"accuracy\":0.75,");
    truth[3] = truth[4] = CLV_VOID;
    write_mask(formatted("%s/set/masks/a.png", folder), 10, 1, truth);
    write_mask(formatted("%s/set/masks/b.png", folder), 10, 1, truth);
    OWNED_ARRAY char *json =
        expect_success(score, folder, 2); /* void itself, which has both within reach, never counts */
    ck_assert_ptr_nonnull(strstr(json, "\"pixels\":0,"));
    EXPECT_PARTS(expect_success(score, folder, 3), "\"pixels\":4,\"accuracy\":1,");
    expect_error(64, "--border-width", "cd %s && cleave score --data set --pred pred --border-width 0", folder);
    expect_error(64, "--border-width: goes with --pred, without -m",
                 "cd %s && cleave score --data set --pred pred -m m --border-width 2", folder);
}

TEST(predictions_with_labels_of_their_own_are_matched_by_name)
{
    const char *folder = make_tiny_set("image\tmask\tsplit");
    const uint8_t truth[] = {0, 0, 1, 1, 2, 2, 2, 2}, prediction[] = {2, 2, 4, 4, 2, 2, 3, 7};
    const char *labels = "value\tname\n0\tvoid\n1\tgrass\n2\tcow\n";
    const char *others = "value\tname\n2\tcow\n3\troad\n4\tgrass\n7\tvoid\n";
    spill(formatted("%s/set/labels.tsv", folder), labels, strlen(labels));
    spill(formatted("%s/others.tsv", folder), others, strlen(others));
    for (int k = 0; k < 2; k++) {
        write_mask(formatted("%s/set/masks/%c.png", folder, 'a' + k), 4, 2, truth);
        write_mask(formatted("%s/pred/%c.png", folder, 'a' + k), 4, 2, prediction);
    }
    expect_output("\"pixels\":12,\"accuracy\":0.6666666666666667,\"class_accuracy\":{\"grass\":1,"
                  "\"cow\":0.5}",
                  "cd %s && cleave score --data set/manifest.tsv --pred pred --json --pred-labels others.tsv", folder);
    expect_error(66, "nowhere.tsv", "cd %s && cleave score --data set --pred pred --pred-labels nowhere.tsv", folder);
    expect_error(64, "--pred-labels: goes with --pred, without -m",
                 "cd %s && cleave score --data set --pred pred -m m --pred-labels others.tsv", folder);
}

SETUP_ONCE(sample_setup, NULL)
