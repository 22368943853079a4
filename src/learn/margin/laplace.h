/* The Laplace prior of the maximum entropy discrimination Markov network (Zhu and Xing 2009, sections 3 to 5): one
 * weight at a time,
 *
 *     p0(w) = sqrt(lambda)/2 exp(-sqrt(lambda) |w|)
 *
 * lambda > 0. `mean` is the posterior's <w>, eta its natural parameter: sum_i sum_y alpha_i(y) Delta f_i(y). */
#ifndef LEARN_LAPLACE_H
#define LEARN_LAPLACE_H

/* KL(p || p0) of the exact posterior of that mean, the summand of Corollary 6 less its value at 0. >= 0. */
double laplace_kl(double mean, double lambda);

/* Its derivative, the eta of Corollary 7's mean = 2 eta / (lambda - eta^2): |eta| < sqrt(lambda). */
double laplace_eta(double mean, double lambda);

/* Variance of the exact posterior of that mean. */
double laplace_variance(double mean, double lambda);

/* The conjugate of laplace_kl, log(lambda / (lambda - eta^2)) (Theorem 5), and its derivative; |eta| < sqrt(lambda). */
double laplace_conjugate(double eta, double lambda);
double laplace_mean(double eta, double lambda);

/* The prior variances that step 1 of the next round takes. Each round minimises a quadratic upper bound of the
 * objective that touches it at the mean found before. variational: eq. 12, <1/tau>^-1 = sqrt((variance + mean^2) /
 * lambda), for the bound L(p, q). exact: mean / eta, for KL(p || p0) itself, which is concave in mean^2. */
double laplace_variational_scale(double mean, double variance, double lambda);
double laplace_exact_scale(double mean, double lambda);

/* Where the variational ones settle while the mean stays: the variance that is its own next one. */
double laplace_settled_scale(double mean, double lambda);

/* The summand of L(p, q) (section 5) for p = N(mean, variance) and its best q: at least KL(p || p0). */
double laplace_bound(double mean, double variance, double lambda);

/* Its minimum over variances, as KL is over posteriors: laplace_kl(2 mean) / 2 + laplace_bound_floor(). The factors 2
 * are what the Gaussian family costs: its mean is eta / (lambda - eta^2), half of Corollary 7's. */
double laplace_bound_floor(void);

#endif
