/* Exponentials of arrays, four values per vector: exp(x) = 2^k exp(r) with k = x / log 2, rounded, and |r| <= log(2) /
 * 2, where the series to r^13 is exact to a double's precision (Cody & Waite 1980). Start at exponentials. */
#include "infer/infer.h"

#include <stdint.h>
#include <string.h>

#include "base/machine.h"

#define LANES   4
#define AT_ONCE 4 /* vectors */

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t whole __attribute__((vector_size(LANES * sizeof(double))));

#define LOG2_E   0x1.71547652b82fep0
#define LN2_HIGH 0x1.62e42feep-1 /* 33 bits, so that k LN2_HIGH is exact */
#define LN2_LOW  0x1.a39ef35793c76p-33
#define ROUNDER  0x1.8p52 /* adding it leaves a whole number in the low bits */
#define LOWEST   (-708.0)

/* Computes `count` vectors at once, because the terms of one series depend on each other. */
INLINE void vectors(double *out, const double *value, double shift, const size_t count)
{
    static const double inverse_factorial[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                               1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                               1.0 / 120,        1.0 / 24,        1.0 / 6,        0.5};
    whole is_in[AT_ONCE], power[AT_ONCE];
    lanes r[AT_ONCE], sum[AT_ONCE];
#pragma GCC unroll 4
    for (size_t v = 0; v < count; v++) {
        lanes x;
        memcpy(&x, &value[v * LANES], sizeof x);
        x -= shift;
        is_in[v] = x >= LOWEST;
        x = (lanes)((whole)x & is_in[v]);
        lanes rounded = x * LOG2_E + ROUNDER, k = rounded - ROUNDER;
        r[v] = (x - k * LN2_HIGH) - k * LN2_LOW;
        sum[v] = r[v] * inverse_factorial[0] + inverse_factorial[1];
        power[v] = ((whole)rounded + 1023) << 52;
    }
#pragma GCC unroll 12
    for (size_t c = 2; c < sizeof inverse_factorial / sizeof *inverse_factorial; c++)
#pragma GCC unroll 4
        for (size_t v = 0; v < count; v++)
            sum[v] = sum[v] * r[v] + inverse_factorial[c];
#pragma GCC unroll 4
    for (size_t v = 0; v < count; v++) {
        sum[v] = (sum[v] * r[v] * r[v] + r[v]) + 1.0; /* 1 + r + r^2 / 2 + .. */
        sum[v] = (lanes)((whole)(sum[v] * (lanes)power[v]) & is_in[v]);
        memcpy(&out[v * LANES], &sum[v], sizeof sum[v]);
    }
}

FOR_EACH_MACHINE void exponentials(double *out, const double *value, double shift, size_t n)
{
    double rest[LANES] = {0};
    size_t c = 0;
    for (; c + AT_ONCE * LANES <= n; c += AT_ONCE * LANES)
        vectors(&out[c], &value[c], shift, AT_ONCE);
    for (; c + LANES <= n; c += LANES)
        vectors(&out[c], &value[c], shift, 1);
    if (c == n)
        return;
    for (size_t l = 0; c + l < n; l++)
        rest[l] = value[c + l];
    vectors(rest, rest, shift, 1);
    for (size_t l = 0; c + l < n; l++)
        out[c + l] = rest[l];
}
