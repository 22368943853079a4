/* What `cleave inspect` counts is what is in the model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cleave/model.h"
#include "data/data.h"
#include "model/model.h"
#include "support/sample.h"
#include "support/support.h"
#include "tags/tags.h"

static double number_after(const char *text, const char *key)
{
    const char *found = strstr(text, key);
    ck_assert_msg(found != NULL, "%s in %s", key, text);
    return strtod(found + strlen(key), NULL);
}

TEST(weights_above_a_share_of_the_largest_and_variances_are_reported)
{
    run_here("\"$SIMULATE\" chain-crf --train 9 --test 1 --features 12 --relevant 5 --sweeps 9 drawn && cleave train "
             "--data drawn/train.safetensors --learner lapmedn --passes 9 -o m");
    OWNED(clv_model_release) struct clv_model model = {0};
    must(clv_model_read(&model, here("m"), err));
    const struct clv_tensor *tensor = clv_model_attached(&model, "variance");
    ck_assert_ptr_nonnull(tensor);
    const double *variance = tensor->data;
    size_t size = clv_weight_layout_size(&model.layout);
    double largest = 0, least = INFINITY, most = 0, n = 0;
    for (size_t k = 0; k < size; k++) {
        largest = fmax(largest, fabs(model.w[k]));
        least = fmin(least, variance[k]);
        most = fmax(most, variance[k]);
    }
    for (size_t k = 0; k < size; k++)
        n += fabs(model.w[k]) > 0.5 * largest;
    ck_assert(n > 0 && n < (double)size && least < most && most > variance[size - 1]);
    OWNED_ARRAY char *json = expect_success("cleave inspect --json --threshold 0.5 m");
    ck_assert_double_eq(number_after(json, "\"weights_above_threshold\":"), n);
    ck_assert_double_eq(number_after(json, "\"least_variance\":"), least);
    ck_assert_double_eq(number_after(json, "\"largest_variance\":"), most);
    EXPECT_PARTS(expect_success("cleave inspect m"), formatted("variances %.3g to %.3g", least, most));
}

/* Largest magnitude first, whatever its sign, and the first of equal ones. */
TEST(the_largest_weights_come_first)
{
    const char *path = here("m");
    double w[] = {1, -3, 2, 3, 0, -0.5, 0.25};
    struct clv_model model = {.layout = {2, 6, 1, CLV_PAIRWISE_POTTS}, .w = w};
    must(clv_labels_binary(&model.labels, err));
    must(clv_model_write(path, &model, err));
    clv_labels_release(&model.labels);
    expect_output("\"largest_weights\":{\"1\":["
                  "{\"feature\":\"feature 1\",\"weight\":-3},{\"feature\":\"feature 3\",\"weight\":3},"
                  "{\"feature\":\"feature 2\",\"weight\":2},{\"feature\":\"feature 0\",\"weight\":1},"
                  "{\"feature\":\"feature 5\",\"weight\":-0.5},{\"feature\":\"feature 4\",\"weight\":0}]}",
                  "cleave inspect --json --top 6 %s", path);
    expect_output("          -3  feature 1\n             3  feature 3\n\ncouplings\n          0.25  ",
                  "cleave inspect --top 2 %s", path);
}

TEST(the_largest_entries_of_tables_and_deviations_are_reported)
{
    const char *path = here("m"), *names = here("labels.tsv");
    double w[] = {0.5, -1, 4, 2, 0.1, 0.2, /* and the table */ 0, 3, -7, 1, 0, 0, 0, 0, 0}, variance[15];
    for (int k = 0; k < 15; k++)
        variance[k] = (k + 1) * (k + 1);
    OWNED(clv_model_release) struct clv_model model = {.layout = {3, 2, 1, CLV_PAIRWISE_FULL}, .w = w};
    const struct clv_tensor tensor = {
        .name = CLV_VARIANCE, .dtype = CLV_F64, .n_dimensions = 1, .shape = {15}, .data = variance};
    spill(names, "name\na\nb\nc\n", 11);
    must(clv_labels_read(&model.labels, names, err));
    must(clv_model_attach(&model, &tensor, err));
    must(clv_model_write(path, &model, err));
    model.w = NULL;
    expect_output("\nlargest weights of a\n            -1 +- 2           feature 1\n"
                  "           0.5 +- 1           feature 0\n\nlargest weights of b\n"
                  "             4 +- 3           feature 0\n             2 +- 4           feature 1\n\n"
                  "largest weights of c\n           0.2 +- 6           feature 1\n"
                  "           0.1 +- 5           feature 0\n\nlargest pairwise weights\n"
                  "            -7  a c\n             3  a b\n             1  b a\n",
                  "cleave inspect --top 3 %s", path);
}

/* A recipe as it was asked for, in words and as JSON. */
TEST(recipes_are_described_as_they_were_chosen)
{
    static const struct {
        const char *options, *text, *json;
    } rows[] = {
        {"--codebook-samples 500 --superpixels 40 --working-pixels 5000 --words 6 --sift-step 4 --sift-bins 3,5,7 --kernel-map intersection "
         "--word-search groups --range 100,9000 --blocks words,size",
         /* A word takes 3 numbers by this kernel, of 3 scales; the size, and a constant. */
         "\nweights       61: 56 node features, 5 edge features, pairwise potts\n"
         "recipe        5000 working pixels, 40 superpixels of compactness 10 in 10 rounds\n"
         "range         100,9000 of 16-bit grey is black to white\n"
         "blocks        words size\n"
         "kernel map    intersection\n"
         "words         6 for each SIFT bin size of 3 5 7 px, every 4 px, found by groups\n",
         "\"recipe\":{\"working_pixels\":5000,\"superpixels\":40,\"compactness\":10,\"slic_iterations\":10,"
         "\"range\":[100,9000],\"blocks\":[\"words\",\"size\"],\"words\":6,\"sift_step\":4,\"sift_bins\":[3,5,7],"
         "\"sift\":\"cleave\",\"kmeans\":\"cleave\",\"word_search\":\"groups\",\"kernel_map\":\"intersection\"}"},
        {"--codebook-samples 500 --nodes patches --patch-size 16 --patch-step 8 --words 5 --blocks words,rgb,hog",
         "recipe        80000 working pixels, patches of 16 px every 8 px\n"
         "blocks        words rgb hog\n"
         "words         5 for each SIFT bin size of 4 10 px, every 3 px\n",
         "\"recipe\":{\"working_pixels\":80000,\"patch_size\":16,\"patch_step\":8,\"blocks\":[\"words\",\"rgb\",\"hog\"],"
         "\"words\":5,\"sift_step\":3,\"sift_bins\":[4,10],\"sift\":\"cleave\",\"kmeans\":\"cleave\","
         "\"word_search\":\"exact\",\"kernel_map\":\"none\"}"},
        {"--codebook-samples 500 --scale 2 --region-area 30 --tile 64 --words 5 --sift-bins 4",
         "recipe        scale 2, tiles of 64 px seen with 64 px around, superpixels of 30 px, compactness 10 in 10 rounds\n"
         "blocks        words colour size contrast\n"
         "words         5 for each SIFT bin size of 4 px, every 3 px\n",
         "\"recipe\":{\"scale\":2,\"region_area\":30,\"tile\":64,\"compactness\":10,\"slic_iterations\":10,"
         "\"blocks\":[\"words\",\"colour\",\"size\",\"contrast\"],\"words\":5,\"sift_step\":3,\"sift_bins\":[4],"
         "\"sift\":\"cleave\",\"kmeans\":\"cleave\",\"word_search\":\"exact\",\"kernel_map\":\"none\"}"},
        {"--superpixels 40 --blocks colour", "blocks        colour\nsparsity ",
         "\"blocks\":[\"colour\"]"}, /* without words */
    };
    run_here("\"$SYNTH\" -n 4 --size 60x45 --seed 3 set");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        run_here("cleave train -q set --seed 1 --passes 1 %s -o m --overwrite", rows[k].options);
        expect_output(rows[k].text, "cleave inspect --top 0 m");
        OWNED_ARRAY char *json = expect_success("cleave inspect --top 0 --json m");
        must_say(json, rows[k].json);
        OWNED(json_drop) struct json_value *root = NULL;
        must(json_parse(&root, json, strlen(json), "inspect", err));
    }
}

/* A model of the tags sun, sea, sand and sky with couplings; the arrays are borrowed. */
static void write_tags(enum clv_tag_form form, int32_t order, int32_t *tag_of, double *coupling)
{
    char sun[] = "sun", sea[] = "sea", sand[] = "sand", sky[] = "sky", *names[] = {sun, sea, sand, sky};
    double bias[4] = {0}, weight[8] = {0};
    char key[] = "learner", value[] = "by hand";
    struct clv_record_entry entry = {key, value};
    struct clv_tag_model model = {.form = form,
                                  .n_tags = 4,
                                  .n_features = 2,
                                  .names = names,
                                  .tag_of = tag_of,
                                  .order = order,
                                  .bias = bias,
                                  .weight = weight,
                                  .coupling = coupling,
                                  .record = {&entry, 1}};
    must(clv_tag_model_write(here("tags"), &model, err));
}

TEST(models_of_tags_are_described_with_their_largest_couplings)
{
    int32_t in_order[4] = {0, 1, 2, 3}, turned[4] = {2, 0, 3, 1};
    double chain[3] = {0.5, -2, 2}, full[6] = {1, 4, -0.5, 0, 8, 2}, net[64] = {0};
    write_tags(CLV_TAGS_CHAIN, 2, in_order, chain);
    expect_output("form          chain, order 2, 4 tags, 2 features\nkernel        linear\n"
                  "tags          sun, sea, sand, sky\n\nlargest couplings\n"
                  "            -2  sea, sand\n             2  sand, sky\n           0.5  sun, sea\n"
                  "\nrecord\n  learner                  by hand\n",
                  "cleave inspect tags");
    expect_output("largest couplings\n            -2  sea, sand\n\nrecord", "cleave inspect --top 1 tags");
    expect_output(
        "{\"form\":\"chain\",\"order\":2,\"features\":2,\"kernel\":\"linear\",\"gamma\":0,\"support_vectors\":0,"
        "\"tags\":[\"sun\",\"sea\",\"sand\",\"sky\"],\"largest_couplings\":[[\"sea\",\"sand\",-2],"
        "[\"sand\",\"sky\",2]],\"record\":{\"learner\":\"by hand\"}}\n",
        "cleave inspect --json --top 2 tags");
    write_tags(CLV_TAGS_FULL, 2, in_order, full); /* of 10, 20, 21, 30, 31, 32 */
    expect_output(
        "[[\"sea\",\"sky\",8],[\"sun\",\"sand\",4],[\"sand\",\"sky\",2],[\"sun\",\"sea\",1],[\"sea\",\"sand\",-0.5]]",
        "cleave inspect --json tags");
    for (int32_t later = 1; later < 4; later++) /* 10, 20, 21, 30 .. of decisions: 1, -2, 3, -4, 5, -6 */
        for (int32_t earlier = 0, k = later * (later - 1) / 2; earlier < later; earlier++, k++)
            net[clv_belief_offset(later, 2) + (size_t)earlier] = k % 2 ? -k - 1 : k + 1;
    write_tags(CLV_TAGS_LMSBN, 2, turned, net); /* sand is decided first, then sun, sky and sea */
    expect_output("tags          sand, sun, sky, sea\n\nlargest couplings\n"
                  "            -6  sky, sea\n             5  sun, sea\n            -4  sand, sea\n"
                  "             3  sun, sky\n            -2  sand, sky\n             1  sand, sun\n\n",
                  "cleave inspect tags");
    write_tags(CLV_TAGS_LMSBN, 1, turned, net);
    expect_output("\"largest_couplings\":[],", "cleave inspect --json tags");
}
