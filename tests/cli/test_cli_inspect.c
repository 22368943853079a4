/* What `cleave inspect` counts is what is in the model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleave/model.h"
#include "support/sample.h"
#include "support/support.h"

static double number_after(const char *text, const char *key)
{
    const char *found = strstr(text, key);
    ck_assert_msg(found != NULL, "%s in %s", key, text);
    return strtod(found + strlen(key), NULL);
}

START_TEST(weights_above_a_share_of_the_largest_and_variances_are_told)
{
    const char *folder = temporary_folder();
    free(expect_success("cd %s && \"$CLEAVE\" synth chain-crf --train 9 --test 1 --features 12 --relevant 5 --sweeps 9 "
                        "drawn && \"$CLEAVE\" train --data drawn/train.safetensors --learner lapmedn --passes 9 -o m",
                        folder));
    struct clv_model model = {0};
    must(clv_model_read(&model, formatted("%s/m", folder), err));
    const struct clv_tensor *tensor = clv_model_attached(&model, "variance");
    ck_assert_ptr_nonnull(tensor);
    const double *variance = tensor->data;
    size_t size = clv_shape_size(&model.shape);
    double largest = 0, least = INFINITY, most = 0, n = 0;
    for (size_t k = 0; k < size; k++) {
        largest = fmax(largest, fabs(model.w[k]));
        least = fmin(least, variance[k]);
        most = fmax(most, variance[k]);
    }
    for (size_t k = 0; k < size; k++)
        n += fabs(model.w[k]) > 0.5 * largest;
    ck_assert(n > 0 && n < (double)size && least < most && most > variance[size - 1]);
    char *json = expect_success("cd %s && \"$CLEAVE\" inspect --json --threshold 0.5 m", folder);
    ck_assert_double_eq(number_after(json, "\"weights_above_threshold\":"), n);
    ck_assert_double_eq(number_after(json, "\"least_variance\":"), least);
    ck_assert_double_eq(number_after(json, "\"largest_variance\":"), most);
    free(json);
    clv_model_release(&model);
}
END_TEST

Suite *cli_inspect_suite(void);
Suite *cli_inspect_suite(void)
{
    Suite *suite = suite_create("cli_inspect");
    TCase *tcase = tcase_create("inspect");
    tcase_add_test(tcase, weights_above_a_share_of_the_largest_and_variances_are_told);
    suite_add_tcase(suite, tcase);
    return suite;
}
