/* Computes functions of one weight under a Laplace prior, without cancellation: mean and variance of its posterior, its
 * divergence from the prior, bounds and scales (Zhu and Xing, JMLR 2009). lapmedn.c uses them. */
#include "learn/margin/margin.h"

#include <math.h>

#include "base/base.h"

#define PI 3.14159265358979323846

/* Returns sqrt(1 + lambda m^2) - 1 without cancellation; it equals mean * eta. */
static double excess(double mean, double lambda)
{
    double square = lambda * mean * mean;
    return square / (sqrt(1 + square) + 1);
}

double laplace_kl(double mean, double lambda)
{
    double e = excess(mean, lambda);
    return e - portable_log1p(e / 2);
}

double laplace_eta(double mean, double lambda)
{
    return lambda * mean / (sqrt(1 + lambda * mean * mean) + 1);
}

double laplace_variance(double mean, double lambda)
{
    double square = laplace_eta(mean, lambda) * laplace_eta(mean, lambda);
    return 2 * (lambda + square) / ((lambda - square) * (lambda - square));
}

double laplace_conjugate(double eta, double lambda)
{
    return -portable_log1p(-eta * eta / lambda);
}

double laplace_mean(double eta, double lambda)
{
    return 2 * eta / (lambda - eta * eta);
}

double laplace_variational_scale(double mean, double variance, double lambda)
{
    return sqrt((variance + mean * mean) / lambda);
}

double laplace_exact_scale(double mean, double lambda)
{
    return (sqrt(1 + lambda * mean * mean) + 1) / lambda;
}

/* Returns the root of lambda s^2 = s + mean^2. */
double laplace_settled_scale(double mean, double lambda)
{
    return laplace_exact_scale(2 * mean, lambda) / 2;
}

double laplace_bound(double mean, double variance, double lambda)
{
    return sqrt(lambda * (variance + mean * mean)) - portable_log(2 * PI * variance) / 2 - 0.5 -
           portable_log(lambda) / 2 + portable_log(2);
}

double laplace_bound_floor(void)
{
    return 0.5 + portable_log(2) - portable_log(2 * PI) / 2;
}
