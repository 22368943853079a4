/* Elementary functions that give the same bits on every machine and with every compiler. Those of the C library do not:
 * they are not rounded correctly, and which variant runs depends on the processor. Here are sums, products, quotients
 * and square roots only, in a fixed order, without fused multiply-add (the Makefile's -ffp-contract=off).
 *
 * Results are within one unit in the last place unless a comment says otherwise. Infinities, NaNs and zeros are treated
 * as by the C library; neither errno nor floating-point flags are promised. */
#ifndef BASE_MATHS_H
#define BASE_MATHS_H

#include <stddef.h>

double portable_exp(double x);
double portable_expm1(double x); /* within 2 units in the last place */
double portable_log(double x);
double portable_log1p(double x); /* within 2 units */
double portable_log2(double x);  /* within 2 units */
double portable_cbrt(double x);  /* within 2 units */
double portable_tanh(double x);  /* within 4 units */

/* out[c] = portable_log(x[c]), the same bits, several at a time; out may be x. */
void portable_logs(double *out, const double *x, size_t n);

/* x^y for x >= 0, NaN for x < 0: within 2 units in the last place. */
double portable_pow(double x, double y);

/* |x| <= 2^20, else NaN. */
double portable_sin(double x);
double portable_cos(double x);

/* The same functions, rounded to single precision. */
static inline float portable_expf(float x)
{
    return (float)portable_exp((double)x);
}

static inline float portable_sinf(float x)
{
    return (float)portable_sin((double)x);
}

static inline float portable_cosf(float x)
{
    return (float)portable_cos((double)x);
}

#endif
