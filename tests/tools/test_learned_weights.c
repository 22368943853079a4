/* What the programs write that learn weights of the source (tools/learn). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../tools/learn/network.h"
#include "box_cut/box_weights.h"
#include "click/click_features.h"
#include "support/support.h"

START_TEST(weights_too_small_to_count_are_written_as_zero)
{
    static const struct network network = {.n_inputs = 2, .n_hidden = 1};
    static const float weights[] = {0.5F, -1.2e-39F, 9e-31F, -1.1e-30F, -9e-31F};
    char text[256] = "";
    FILE *stream = fmemopen(text, sizeof text, "w");
    network_write(stream, weights, &network);
    fclose(stream);
    ck_assert_str_eq(text, "    .linear = { 0.5F, 0.0F,},\n    .output = { 0.0F,},\n"
                           "    .hidden = {\n        { -1.1e-30F, 0.0F,},\n    },\n");
}
END_TEST

static void expect_none_small(const char *name, const float *weights, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(weights[i] == 0 || fabsf(weights[i]) >= 1e-30F, "%s: number %zu is %g", name, i, weights[i]);
}

START_TEST(no_weight_of_the_source_is_denormal)
{
    expect_none_small("clicks", (const float *)click_weights, sizeof click_weights / sizeof(float));
    expect_none_small("boxes", (const float *)&box_weights, sizeof box_weights / sizeof(float));
}
END_TEST

Suite *learned_weights_suite(void)
{
    Suite *suite = suite_create("learned_weights");
    TCase *tests = tcase_create("learned_weights");
    tcase_add_test(tests, weights_too_small_to_count_are_written_as_zero);
    tcase_add_test(tests, no_weight_of_the_source_is_denormal);
    suite_add_tcase(suite, tests);
    return suite;
}
