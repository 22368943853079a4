/* exp, log and other functions with the same bits on every machine and vector width. Arguments are reduced with
 * constants in two or three parts, the leading ones short enough for exact products (Cody & Waite 1980). A series with
 * the precision of a double gives the function of the reduced argument. */
#include "base/base.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/machine.h"

#define LOG2_E        0x1.71547652b82fep0
#define LOG2_E_LOW    0x1.777d0ffda0d24p-56
#define LN2_HIGH      0x1.62e42feep-1 /* 32 bits: k LN2_HIGH is exact */
#define LN2_LOW       0x1.a39ef35793c76p-33
#define TWO_BY_PI     0x1.45f306dc9c883p-1
#define QUARTER_1     0x1.921fb544p0 /* pi / 2 as the sum of three parts, the first two of 33 bits */
#define QUARTER_2     0x1.0b4611a6p-34
#define QUARTER_3     0x1.3198a2e037073p-69
#define ROUNDER       0x1.8p52 /* after adding it, the low bits are the nearest whole number */
#define SPLITTER      0x1p27
#define SQRT_HALF     0x3fe6a09e667f3bcdu /* the bits of sqrt(1/2) */
#define LEAST_NORMAL  0x0010000000000000u /* bits of the smallest normal number; all normal ones: 1 to 2047 times it */
#define LARGEST_EXP   709.78271289338400  /* log of the largest double */
#define LEAST_EXP     (-745.13321910194122)
#define LARGEST_ANGLE 0x1p20
#define LOGS_AT_ONCE  8 /* two vectors */

INLINE uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^k for a normal result. */
static double power_of_two(int64_t k)
{
    return of_bits((uint64_t)(k + 1023) << 52);
}

/* The nearest whole number, for |x| < 2^51. */
static double nearest(double x)
{
    return (x + ROUNDER) - ROUNDER;
}

/* exp(r) - 1 - r for |r| <= log(2) / 2: even and odd terms of r^2 (1/2 + r/6 + ..) are summed separately, for two
 * shorter chains of dependent operations. */
static double exp_tail(double r)
{
    double z = r * r;
    double even = 1.0 / 87178291200;
    even = even * z + 1.0 / 479001600;
    even = even * z + 1.0 / 3628800;
    even = even * z + 1.0 / 40320;
    even = even * z + 1.0 / 720;
    even = even * z + 1.0 / 24;
    even = even * z + 0.5;
    double odd = 1.0 / 6227020800;
    odd = odd * z + 1.0 / 39916800;
    odd = odd * z + 1.0 / 362880;
    odd = odd * z + 1.0 / 5040;
    odd = odd * z + 1.0 / 120;
    odd = odd * z + 1.0 / 6;
    return z * (even + r * odd);
}

/* x = k log(2) + r + rest, |r| <= log(2) / 2. */
static double reduce(double *k, double *rest, double x)
{
    *k = nearest(x * LOG2_E);
    double high = x - *k * LN2_HIGH, low = *k * LN2_LOW, r = high - low;
    *rest = (high - r) - low;
    return r;
}

/* exp(x + extra) for |extra| <= 1e-9. */
static double exp_of_sum(double x, double extra)
{
    if (!(x <= LARGEST_EXP + 1))
        return x > 0 ? INFINITY : x;
    if (x < LEAST_EXP - 1)
        return 0;
    double k, rest, r = reduce(&k, &rest, x);
    double tail = exp_tail(r), value = 1 + (r + (tail + (rest + extra) * (1 + (r + tail))));
    int64_t whole = (int64_t)k, half = whole / 2;
    if (whole > -1022 && whole < 1024)
        return value * power_of_two(whole);
    return value * power_of_two(half) * power_of_two(whole - half);
}

double portable_exp(double x)
{
    return exp_of_sum(x, 0);
}

double portable_expm1(double x)
{
    if (!(x <= LARGEST_EXP))
        return x > 0 ? INFINITY : x;
    if (x < -40)
        return -1;
    double k, rest, r = reduce(&k, &rest, x);
    double less_one = r + (exp_tail(r) + rest * (1 + r));
    if (k == 0)
        return x == 0 ? x : less_one;
    if (k > 60)
        return portable_exp(x);
    double scale = power_of_two((int64_t)k);
    return (scale - 1) + scale * less_one;
}

/* x = 2^k m for a positive, normal x, sqrt(1/2) <= m < sqrt(2). Uses only operations that every vector unit has: the
 * shifted number is positive, and adding k to the bits of ROUNDER converts k to a double. */
INLINE double mantissa_of_normal(double *k, double x)
{
    uint64_t bits = bits_of(x), power = ((bits - SQRT_HALF + ((uint64_t)1024 << 52)) >> 52) - 1024;
    *k = of_bits(bits_of(ROUNDER) + power) - ROUNDER;
    return of_bits(bits - (power << 52));
}

/* Splits any positive number like mantissa_of_normal, subnormal ones included. */
static double mantissa(double *k, double x)
{
    if (x >= 0x1p-1022)
        return mantissa_of_normal(k, x);
    double m = mantissa_of_normal(k, x * 0x1p54);
    *k -= 54;
    return m;
}

/* 2 atanh(s) / s - 2 = 2 (z / 3 + z^2 / 5 + ..), z = s^2, |s| <= (sqrt(2) - 1) / (sqrt(2) + 1), in two chains. */
INLINE double atanh_tail(double z)
{
    double square = z * z;
    double odd = 2.0 / 23;
    odd = odd * square + 2.0 / 19;
    odd = odd * square + 2.0 / 15;
    odd = odd * square + 2.0 / 11;
    odd = odd * square + 2.0 / 7;
    odd = odd * square + 2.0 / 3;
    double even = 2.0 / 21;
    even = even * square + 2.0 / 17;
    even = even * square + 2.0 / 13;
    even = even * square + 2.0 / 9;
    even = even * square + 2.0 / 5;
    return z * (odd + z * even);
}

/* Sets *value = log(x) and returns 1 if x is not a positive finite number; else returns 0. */
static int log_is_special(double *value, double x)
{
    if (x > 0 && x < INFINITY)
        return 0;
    *value = x == 0 ? -INFINITY : x < 0 ? NAN : x;
    return 1;
}

/* log(2^k (1 + f)), where log(1 + f) = 2 atanh(s), s = f / (2 + f). By 2 s = f - f^2 / 2 + s f^2 / 2 the largest term
 * is f, which is exact. */
INLINE double log_of_parts(double k, double f)
{
    double s = f / (2 + f), half = 0.5 * f * f;
    double low = s * (half + atanh_tail(s * s)) + k * LN2_LOW;
    return k * LN2_HIGH + (f - (half - low));
}

double portable_log(double x)
{
    double k, value;
    if (log_is_special(&value, x))
        return value;
    double m = mantissa(&k, x);
    return log_of_parts(k, m - 1);
}

/* Computes LOGS_AT_ONCE logarithms, in vectors if all numbers are positive and normal. */
INLINE void logs_of_block(double *out, const double *x)
{
    double value[LOGS_AT_ONCE];
    uint64_t odd = 0;
    memcpy(value, x, sizeof value);
    for (size_t c = 0; c < LOGS_AT_ONCE; c++) {
        uint64_t above = bits_of(value[c]) - LEAST_NORMAL;
        odd |= above | (above + 2 * LEAST_NORMAL);
    }
    if (odd >> 63) {
        for (size_t c = 0; c < LOGS_AT_ONCE; c++)
            out[c] = portable_log(value[c]);
        return;
    }
    for (size_t c = 0; c < LOGS_AT_ONCE; c++) {
        double k, m = mantissa_of_normal(&k, value[c]);
        value[c] = log_of_parts(k, m - 1);
    }
    memcpy(out, value, sizeof value);
}

FOR_EACH_MACHINE void portable_logs(double *out, const double *x, size_t n)
{
    size_t done = 0;
    for (; done + LOGS_AT_ONCE <= n; done += LOGS_AT_ONCE)
        logs_of_block(&out[done], &x[done]);
    if (done == n)
        return;
    double rest[LOGS_AT_ONCE] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (size_t c = done; c < n; c++)
        rest[c - done] = x[c];
    logs_of_block(rest, rest);
    for (size_t c = done; c < n; c++)
        out[c] = rest[c - done];
}

/* log(sum + lost) ~ log(sum) + lost / sum, where `lost` is the rounding error of sum = 1 + x. */
double portable_log1p(double x)
{
    if (!(x > -1) || x == INFINITY || fabs(x) < 0x1p-54)
        return x == -1 ? -INFINITY : x < -1 ? NAN : x;
    double sum = 1 + x, lost = x < 1 ? x - (sum - 1) : 1 - (sum - x);
    return portable_log(sum) + lost / sum;
}

/* high + low = a b, exactly (Dekker 1971). */
static double exact_product(double *low, double a, double b)
{
    double t = (SPLITTER + 1) * a, a_high = t - (t - a), a_low = a - a_high;
    t = (SPLITTER + 1) * b;
    double b_high = t - (t - b), b_low = b - b_high, high = a * b;
    *low = ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low;
    return high;
}

/* high + low = a + b, exactly (Knuth 1969). */
static double exact_sum(double *low, double a, double b)
{
    double high = a + b, part = high - a;
    *low = (a - (high - part)) + (b - part);
    return high;
}

/* log(m) for sqrt(1/2) <= m < sqrt(2) as the sum of two doubles, with s = f / (2 + f) in two parts. */
static double log_in_parts(double *low, double m)
{
    double f = m - 1, below, d = exact_sum(&below, 2, f), s = f / d, product_low,
           product = exact_product(&product_low, s, d);
    double s_low = (((f - product) - product_low) - s * below) / d;
    double rest, high = exact_sum(&rest, 2 * s, s * atanh_tail(s * s));
    return exact_sum(low, high, 2 * s_low + rest);
}

double portable_log2(double x)
{
    double k, value, low;
    if (log_is_special(&value, x))
        return value;
    double high = log_in_parts(&low, mantissa(&k, x));
    return k + (high * LOG2_E + (low * LOG2_E + high * LOG2_E_LOW));
}

double portable_pow(double x, double y)
{
    double k, value, low, product_low, sum_low;
    if (y == 0 || x == 1)
        return 1;
    if (isnan(y))
        return y;
    if (log_is_special(&value, x))
        return isnan(value) ? value : (value > 0) == (y > 0) ? INFINITY : 0;
    double high = log_in_parts(&low, mantissa(&k, x));
    high = exact_sum(&sum_low, k * LN2_HIGH, high);
    high = exact_sum(&low, high, sum_low + (low + k * LN2_LOW));
    if (!(fabs(high * y) < 800))
        return high * y > 0 ? INFINITY : 0;
    double product = exact_product(&product_low, high, y);
    return exp_of_sum(product, product_low + low * y);
}

/* exp(log(m) / 3), corrected by one step of Newton's method. */
double portable_cbrt(double x)
{
    double size = fabs(x);
    if (!(size > 0 && size < INFINITY))
        return x;
    double k, m = mantissa(&k, size), third = nearest(k / 3);
    m *= power_of_two((int64_t)(k - 3 * third));
    double root = portable_exp(portable_log(m) / 3);
    root -= (root * root * root - m) / (3 * root * root);
    root *= power_of_two((int64_t)third);
    return x < 0 ? -root : root;
}

double portable_tanh(double x)
{
    double size = fabs(x);
    if (size < 0x1p-28 || isnan(x))
        return x;
    double e = size < 22 ? portable_expm1(2 * size) : 0, value = size < 22 ? e / (e + 2) : 1;
    return x < 0 ? -value : value;
}

/* x = quarters pi / 2 + r + rest, |r| <= pi / 4; *quarter = quarters mod 4; returns r. */
static double reduce_angle(int *quarter, double *rest, double x)
{
    double quarters = nearest(x * TWO_BY_PI), first = x - quarters * QUARTER_1, second = quarters * QUARTER_2;
    double r = first - second;
    *rest = ((first - r) - second) - quarters * QUARTER_3;
    *quarter = (int)((int64_t)quarters & 3);
    double sum = r + *rest;
    *rest += r - sum;
    return sum;
}

static double sine(double r, double rest)
{
    double z = r * r, tail = 1.0 / 355687428096000;
    tail = tail * z - 1.0 / 1307674368000;
    tail = tail * z + 1.0 / 6227020800;
    tail = tail * z - 1.0 / 39916800;
    tail = tail * z + 1.0 / 362880;
    tail = tail * z - 1.0 / 5040;
    tail = tail * z + 1.0 / 120;
    tail = tail * z - 1.0 / 6;
    return r + (r * z * tail + rest * (1 - 0.5 * z));
}

static double cosine(double r, double rest)
{
    double z = r * r, tail = 1.0 / 20922789888000;
    tail = tail * z - 1.0 / 87178291200;
    tail = tail * z + 1.0 / 479001600;
    tail = tail * z - 1.0 / 3628800;
    tail = tail * z + 1.0 / 40320;
    tail = tail * z - 1.0 / 720;
    tail = tail * z + 1.0 / 24;
    double half = 0.5 * z, top = 1 - half;
    return top + (((1 - top) - half) + (z * z * tail - r * rest));
}

double portable_sin(double x)
{
    if (!(fabs(x) <= LARGEST_ANGLE))
        return NAN;
    if (fabs(x) < 0x1p-27)
        return x;
    int quarter;
    double rest, r = reduce_angle(&quarter, &rest, x), value = quarter & 1 ? cosine(r, rest) : sine(r, rest);
    return quarter & 2 ? -value : value;
}

double portable_cos(double x)
{
    if (!(fabs(x) <= LARGEST_ANGLE))
        return NAN;
    int quarter;
    double rest, r = reduce_angle(&quarter, &rest, x), value = quarter & 1 ? sine(r, rest) : cosine(r, rest);
    return quarter == 1 || quarter == 2 ? -value : value;
}
