/* exp(x) = 2^k exp(r) with k = x / log 2, rounded, and |r| <= log(2) / 2, where the series to r^13 is exact to a
 * double's precision (Cody & Waite 1980). Four at a time: the C library's takes one. */
#include "infer/exponential.h"

#include <stdint.h>
#include <string.h>

#include "base/machine.h"

#define LANES 4

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t whole __attribute__((vector_size(LANES * sizeof(double))));

#define LOG2_E   0x1.71547652b82fep0
#define LN2_HIGH 0x1.62e42feep-1 /* 33 bits, so that k LN2_HIGH is exact */
#define LN2_LOW  0x1.a39ef35793c76p-33
#define ROUNDER  0x1.8p52 /* adding it leaves a whole number in the low bits */
#define LOWEST   (-708.0)

INLINE void four(double *out, const double *value, double shift)
{
    static const double inverse_factorial[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                               1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                               1.0 / 120,        1.0 / 24,        1.0 / 6,        0.5};
    lanes x;
    memcpy(&x, value, sizeof x);
    x -= shift;
    whole is_in = x >= LOWEST;
    x = (lanes)((whole)x & is_in);
    lanes rounded = x * LOG2_E + ROUNDER, k = rounded - ROUNDER;
    lanes r = (x - k * LN2_HIGH) - k * LN2_LOW, sum = r * inverse_factorial[0] + inverse_factorial[1];
    for (size_t c = 2; c < sizeof inverse_factorial / sizeof *inverse_factorial; c++)
        sum = sum * r + inverse_factorial[c];
    sum = (sum * r * r + r) + 1.0; /* 1 + r + r^2 / 2 + .. */
    whole power = ((whole)rounded + 1023) << 52;
    sum = (lanes)((whole)(sum * (lanes)power) & is_in);
    memcpy(out, &sum, sizeof sum);
}

FOR_EACH_MACHINE void exponentials(double *out, const double *value, double shift, size_t n)
{
    double rest[LANES] = {0};
    size_t c = 0;
    for (; c + LANES <= n; c += LANES)
        four(&out[c], &value[c], shift);
    if (c == n)
        return;
    memcpy(rest, &value[c], (n - c) * sizeof *rest);
    four(rest, rest, shift);
    memcpy(&out[c], rest, (n - c) * sizeof *rest);
}
