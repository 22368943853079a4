/* What `cleave inspect` counts is what is in the model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleave/model.h"
#include "data/data.h"
#include "model/model.h"
#include "support/sample.h"
#include "support/support.h"

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
