/* Maximum entropy discrimination on small chains from its definition: all labellings' dual variables, one pair at a
 * time. */
#ifndef TESTS_LEARN_DISCRIMINATION_H
#define TESTS_LEARN_DISCRIMINATION_H

#include "learn/chains.h"
#include "learn/margin/margin.h"

#define MOST_LABELLINGS 243

enum prior { PRIOR_GAUSS, PRIOR_LAPLACE, PRIOR_LAPLACE_BOUND };

struct discrimination {
    const struct toy *toy;
    enum prior prior;
    double C, lambda;
    size_t n_labellings[16];
    double loss[16][MOST_LABELLINGS], change[16][MOST_LABELLINGS][CHAIN_SIZE], alpha[16][MOST_LABELLINGS];
    double eta[CHAIN_SIZE];
};

/* The posterior mean of a weight at eta: the slope of the prior's log moment generating function. */
static inline double mean_at(const struct discrimination *self, double eta)
{
    switch (self->prior) {
    case PRIOR_GAUSS: return eta;
    case PRIOR_LAPLACE: return laplace_mean(eta, self->lambda);
    case PRIOR_LAPLACE_BOUND: break;
    }
    return laplace_mean(eta, self->lambda) / 2;
}

static inline double log_moment(const struct discrimination *self, double eta)
{
    switch (self->prior) {
    case PRIOR_GAUSS: return eta * eta / 2;
    case PRIOR_LAPLACE: return laplace_conjugate(eta, self->lambda);
    case PRIOR_LAPLACE_BOUND: break;
    }
    return laplace_conjugate(eta, self->lambda) / 2;
}

/* Slope of the dual along (up, down) of example i after a move of t. */
static inline double slope_along(const struct discrimination *self, size_t i, size_t up, size_t down, double t)
{
    double slope = self->loss[i][up] - self->loss[i][down];
    for (size_t k = 0; k < CHAIN_SIZE; k++) {
        double d = self->change[i][up][k] - self->change[i][down][k], eta = self->eta[k] + t * d;
        if (self->prior != PRIOR_GAUSS && eta * eta >= self->lambda)
            return -INFINITY;
        slope -= d * mean_at(self, eta);
    }
    return slope;
}

/* Moves dual weight from the worst labelling in use to the best one: exact line search. Returns the slope there was. */
static inline double improve(struct discrimination *self, size_t i)
{
    size_t up = 0, down = SIZE_MAX;
    double best = -INFINITY, worst = INFINITY, mean[CHAIN_SIZE];
    for (size_t k = 0; k < CHAIN_SIZE; k++)
        mean[k] = mean_at(self, self->eta[k]);
    for (size_t y = 0; y < self->n_labellings[i]; y++) {
        double value = self->loss[i][y];
        for (size_t k = 0; k < CHAIN_SIZE; k++)
            value -= mean[k] * self->change[i][y][k];
        if (value > best) {
            best = value;
            up = y;
        }
        if (self->alpha[i][y] > 0 && value < worst) {
            worst = value;
            down = y;
        }
    }
    double low = 0, high = self->alpha[i][down], t = high;
    if (slope_along(self, i, up, down, high) < 0) {
        for (int step = 0; step < 60; step++) {
            t = (low + high) / 2;
            if (slope_along(self, i, up, down, t) > 0)
                low = t;
            else
                high = t;
        }
        t = low;
    }
    self->alpha[i][up] += t;
    self->alpha[i][down] -= t;
    for (size_t k = 0; k < CHAIN_SIZE; k++)
        self->eta[k] += t * (self->change[i][up][k] - self->change[i][down][k]);
    return best - worst;
}

/* Solves the dual D1 until no pair's slope exceeds the tolerance; returns its value. */
static inline double discriminate(struct discrimination *self, double tolerance)
{
    const struct clv_weight_layout *layout = &self->toy->layout;
    for (size_t i = 0; i < self->toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(self->toy->dataset, i);
        int32_t y[RANDOM_MAX_NODES] = {0};
        size_t n = 0;
        do {
            self->loss[i][n] = clv_loss(&p, layout->n_labels, y);
            self->alpha[i][n] = self->loss[i][n] == 0 ? self->C : 0; /* the truth */
            memset(self->change[i][n], 0, sizeof self->change[i][n]);
            clv_joint_feature_add(self->change[i][n], &p, layout, p.label, 1);
            clv_joint_feature_add(self->change[i][n], &p, layout, y, -1);
            n++;
        } while (next_labelling(y, p.n_nodes, layout->n_labels));
        self->n_labellings[i] = n;
    }
    memset(self->eta, 0, sizeof self->eta);
    double steepest = INFINITY;
    for (int sweep = 0; sweep < 100000 && steepest > tolerance; sweep++) {
        steepest = 0;
        for (size_t i = 0; i < self->toy->n; i++)
            steepest = fmax(steepest, improve(self, i));
    }
    ck_assert_double_le(steepest, tolerance);
    double value = 0;
    for (size_t i = 0; i < self->toy->n; i++)
        for (size_t y = 0; y < self->n_labellings[i]; y++)
            value += self->alpha[i][y] * self->loss[i][y];
    for (size_t k = 0; k < CHAIN_SIZE; k++)
        value -= log_moment(self, self->eta[k]);
    return value;
}

/* sum_i xi_i by enumeration; discriminate comes first. */
static inline double sum_of_slacks(const struct discrimination *self, const double *w)
{
    double sum = 0;
    for (size_t i = 0; i < self->toy->n; i++) {
        double worst = 0;
        for (size_t y = 0; y < self->n_labellings[i]; y++) {
            double value = self->loss[i][y];
            for (size_t k = 0; k < CHAIN_SIZE; k++)
                value -= w[k] * self->change[i][y][k];
            worst = fmax(worst, value);
        }
        sum += worst;
    }
    return sum;
}

#endif
