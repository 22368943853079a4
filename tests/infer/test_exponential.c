#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/infer.h"
#include "support/support.h"

TEST(exponentials_are_the_library_s_within_two_units)
{
    enum { N = 20000 };
    static double value[N], out[N];
    for (uint64_t c = 0; c < N; c++)
        value[c] = c % 2 ? 700 - 1408 * rng_uniform(1, 2, c) : 2 * rng_normal(1, 3, c);
    exponentials(out, value, 0, N);
    for (int c = 0; c < N; c++)
        ck_assert_msg(fabs(out[c] - exp(value[c])) <= 2 * 0x1p-52 * exp(value[c]), "exp(%.17g) is %.17g, not %.17g",
                      value[c], out[c], exp(value[c]));
}

TEST(the_ends_of_the_range_are_right)
{
    const double value[] = {0, -708, -709, -1e300, -INFINITY, 700, 1, -0x1p-60}, shifted[] = {3, 4, 5, 3 - 0.5};
    double out[8];
    exponentials(out, value, 0, 8);
    ck_assert(out[0] == 1 && out[2] == 0 && out[3] == 0 && out[4] == 0 && out[7] == 1);
    ck_assert_double_eq_tol(out[1] / exp(-708), 1, 1e-15);
    ck_assert_double_eq_tol(out[5] / exp(700), 1, 1e-15);
    ck_assert_double_eq_tol(out[6], exp(1), 1e-15);
    exponentials(out, shifted, 3, 4);
    for (int c = 0; c < 4; c++)
        ck_assert_double_eq_tol(out[c] / exp(shifted[c] - 3), 1, 1e-15);
}

TEST(a_value_s_place_makes_no_difference)
{
    double value[11], out[11], alone;
    for (uint64_t c = 0; c < 11; c++)
        value[c] = rng_normal(2, 2, c);
    for (size_t n = 0; n <= 11; n++) {
        memset(out, 0, sizeof out);
        exponentials(out, value, 0.5, n);
        for (size_t c = 0; c < 11; c++) {
            exponentials(&alone, &value[c], 0.5, 1);
            ck_assert(out[c] == (c < n ? alone : 0)); /* and nothing is written behind */
        }
    }
    memcpy(out, value, sizeof out);
    exponentials(out, out, 0.5, 11);
    exponentials(value, value, 0.5, 11);
    ck_assert_mem_eq(out, value, sizeof out);
}
