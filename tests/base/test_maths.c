#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "support/support.h"

enum { N_SAMPLES = 20000 };

static double uniform_between(uint64_t index, double low, double high)
{
    return low + (high - low) * rng_uniform(5, RNG_TEST, index);
}

/* The error of `got` in units in the last place of `exact`; 0 where both are NaN or the same infinity. */
static double error_of(double got, long double exact)
{
    double rounded = (double)exact, size = fabs(rounded);
    if (isnan(rounded))
        return isnan(got) ? 0 : INFINITY;
    if (isinf(rounded) || isinf(got))
        return got == rounded ? 0 : INFINITY;
    double unit = size == DBL_MAX ? 0x1p971 : nextafter(size, INFINITY) - size;
    return (double)(fabsl((long double)got - exact) / unit);
}

struct function {
    const char *name;
    double (*of)(double);
    long double (*exact)(long double);
    double low, high, greatest_power; /* arguments: uniform between the former, and +-2^k of all k up to the latter */
    double most_units;
};

static const struct function functions[] = {
    {"exp", portable_exp, expl, -746, 710, 10, 1},  {"expm1", portable_expm1, expm1l, -2, 2, 10, 2},
    {"log", portable_log, logl, 0, 4, 1024, 1},     {"log1p", portable_log1p, log1pl, -1, 3, 1024, 2},
    {"log2", portable_log2, log2l, 0, 4, 1024, 2},  {"cbrt", portable_cbrt, cbrtl, -4, 4, 1024, 2},
    {"tanh", portable_tanh, tanhl, -3, 3, 1024, 4}, {"sin", portable_sin, sinl, -10, 10, 20, 1},
    {"cos", portable_cos, cosl, -10, 10, 20, 1},
};

enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static double argument(const struct function *function, uint64_t i)
{
    if (i % 2)
        return uniform_between(i, function->low, function->high);
    double power = floor(uniform_between(i, -1074, function->greatest_power));
    double x = ldexp(uniform_between(i + 1, 0.5, 1), (int)power);
    return i % 4 ? -x : x;
}

TESTS(functions_are_as_accurate_as_stated_from_subnormal_numbers_to_infinity, 0, N_FUNCTIONS)
{
    static const double special[] = {0.0,     -0.0,     1,         -1,         INFINITY, -INFINITY, NAN, DBL_MIN,
                                     DBL_MAX, -DBL_MAX, 0x1p-1074, -0x1p-1074, 709.79,   -745.2,    0.5, -708.5};
    const struct function *function = &functions[_i];
    for (uint64_t i = 0; i < N_SAMPLES; i++) {
        double x = argument(function, i), error = error_of(function->of(x), function->exact((long double)x));
        ck_assert_msg(error <= function->most_units, "%s(%a) is off by %g units", function->name, x, error);
    }
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        double x = special[i], got = function->of(x), exact = (double)function->exact((long double)x);
        if (function->greatest_power == 20 && fabs(x) > 0x1p20)
            exact = NAN;
        ck_assert_msg(error_of(got, (long double)exact) <= function->most_units, "%s(%a) is %a", function->name, x,
                      got);
        ck_assert_msg(isnan(got) || signbit(got) == signbit(exact), "%s(%a) has the wrong sign", function->name, x);
    }
}

TEST(powers_are_as_accurate_as_stated)
{
    static const double special[] = {0, 1, 2, 0.5, INFINITY, NAN, DBL_MIN, DBL_MAX, 0x1p-1074};
    for (uint64_t i = 0; i < N_SAMPLES; i++) {
        double x = ldexp(uniform_between(3 * i, 0.5, 1), (int)uniform_between(3 * i + 1, -1074, 1024));
        double y = i % 3 == 0 ? 2.4 : i % 3 == 1 ? 3 : uniform_between(3 * i + 2, -50, 50);
        long double exact = powl((long double)x, (long double)y);
        double error = error_of(portable_pow(x, y), exact);
        ck_assert_msg(error <= 2, "%a ^ %a is off by %g units", x, y, error);
    }
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        for (size_t j = 0; j < 2 * sizeof special / sizeof *special; j++) {
            double x = special[i], y = j % 2 ? -special[j / 2] : special[j / 2];
            double error = error_of(portable_pow(x, y), (long double)pow(x, y));
            ck_assert_msg(error <= 2, "%a ^ %a is off by %g units", x, y, error);
        }
    ck_assert(isnan(portable_pow(-2, 2)));
}

/* The bits, over many arguments: other compilers, vector widths and processors have to come to the same. */
TEST(results_have_the_same_bits_everywhere)
{
    uint64_t hash = HASH_START;
    for (int f = 0; f < N_FUNCTIONS; f++)
        for (uint64_t i = 0; i < N_SAMPLES; i++) {
            double value = functions[f].of(argument(&functions[f], i));
            value = isnan(value) ? -7 : value; /* a NaN's sign and payload are anyone's */
            hash = hash_bytes(hash, &value, sizeof value);
        }
    for (uint64_t i = 0; i < N_SAMPLES; i++) {
        double value = portable_pow(uniform_between(2 * i, 0, 2), uniform_between(2 * i + 1, -100, 100));
        hash = hash_bytes(hash, &value, sizeof value);
    }
    ck_assert_msg(hash == UINT64_C(0x8ac65c3abdddce8b), "%#llx", (unsigned long long)hash);
}

TEST(many_logarithms_are_those_of_one_at_a_time)
{
    double x[37], out[37];
    for (uint64_t n = 0; n <= 37; n++)
        for (uint64_t odd = 0; odd < 8; odd++) {
            const double odd_ones[] = {1, 0, -1, INFINITY, NAN, 0x1p-1030, -0.0, 0x1p-1022};
            for (uint64_t c = 0; c < 37; c++)
                x[c] = portable_exp(uniform_between(100 * n + c, -700, 700));
            x[(7 * n + odd) % 37] = odd_ones[odd];
            memset(out, 0, sizeof out);
            portable_logs(out, x, n);
            for (uint64_t c = 0; c < 37; c++) {
                double one = c < n ? portable_log(x[c]) : 0;
                ck_assert(memcmp(&out[c], &one, sizeof one) == 0 || (isnan(out[c]) && isnan(one)));
            }
            portable_logs(x, x, n);
            ck_assert_mem_eq(x, out, n * sizeof *x);
        }
}

TEST(integers_of_any_number_are_within_their_bounds)
{
    static const struct {
        double value;
        int32_t low, high, wanted;
    } rows[] = {{2.9, 0, 9, 2},
                {-2.9, -9, 9, -2},
                {NAN, 3, 9, 3},
                {INFINITY, 0, 9, 9},
                {-INFINITY, -5, 9, -5},
                {1e300, INT32_MIN, INT32_MAX, INT32_MAX},
                {-1e300, INT32_MIN, 0, INT32_MIN},
                {9.5, 0, 9, 9},
                {-0.5, 0, 9, 0}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        ck_assert_int_eq(int32_within(rows[k].value, rows[k].low, rows[k].high), rows[k].wanted);
    ck_assert_int_eq(int64_within(9.3e18, 0, INT64_MAX), INT64_MAX);
    ck_assert_uint_eq(size_of_number(NAN), 0);
    ck_assert_uint_eq(size_of_number(-3), 0);
    ck_assert_uint_eq(size_of_number(INFINITY), (size_t)1 << 53);
    ck_assert(number_is_int32(-2147483648.0) && number_is_int32(7));
    ck_assert(!number_is_int32(7.5) && !number_is_int32(2147483648.0) && !number_is_int32(NAN));
}
