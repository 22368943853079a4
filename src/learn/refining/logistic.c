/* Logistic regression with weighted rows and a ridge, for the terms of a pixel's score. Start at logistic_fit, at the
 * end. */
#include "learn/refining/refining.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

enum { MOST = LOGISTIC_MOST, STEPS = 50, HALVINGS = 30 };

/* The problem with columns in units of their standard deviations. The last parameter is the bias. */
struct fit {
    const struct logistic_data *data;
    double ridge, total; /* of the weights */
    int32_t n;           /* columns and the bias */
    double mean[MOST], unit[MOST];
    bool is_removed[MOST];
    double at[MOST];
};

static void standardise(struct fit *self)
{
    const struct logistic_data *data = self->data;
    int32_t k = data->n_columns;
    for (size_t i = 0; i < data->n; i++)
        self->total += data->weight[i];
    for (int32_t c = 0; c < k; c++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < data->n; i++)
            sum += (double)data->rows[i * (size_t)k + (size_t)c];
        self->mean[c] = sum / (double)data->n;
        for (size_t i = 0; i < data->n; i++) {
            double off = (double)data->rows[i * (size_t)k + (size_t)c] - self->mean[c];
            square += off * off;
        }
        double deviation = sqrt(square / (double)data->n);
        self->is_removed[c] = !(deviation > 1e-9);
        self->unit[c] = self->is_removed[c] ? 0 : 1 / deviation;
    }
}

static void row_of(double *row, const struct fit *self, size_t i)
{
    int32_t k = self->n - 1;
    for (int32_t c = 0; c < k; c++)
        row[c] = self->is_removed[c]
                     ? 0
                     : ((double)self->data->rows[i * (size_t)k + (size_t)c] - self->mean[c]) * self->unit[c];
    row[k] = 1;
}

/* Computes the objective at `at`; unless hessian is NULL, also its derivatives. */
static double evaluate(const struct fit *self, const double *at, double *gradient, double (*hessian)[MOST])
{
    int32_t n = self->n;
    double loss = 0, row[MOST];
    for (int32_t a = 0; a < n && hessian; a++) {
        gradient[a] = 0;
        memset(hessian[a], 0, (size_t)n * sizeof **hessian);
    }
    for (size_t i = 0; i < self->data->n; i++) {
        double score = 0, weight = self->data->weight[i] / self->total;
        row_of(row, self, i);
        for (int32_t a = 0; a < n; a++)
            score += at[a] * row[a];
        double margin = self->data->is_one[i] ? score : -score, small = portable_exp(-fabs(margin));
        loss += weight * (fmax(-margin, 0) + portable_log1p(small));
        if (!hessian)
            continue;
        double wrong = margin > 0 ? small / (1 + small) : 1 / (1 + small); /* probability of the wrong label */
        double slope = self->data->is_one[i] ? -weight * wrong : weight * wrong;
        double bend = weight * small / ((1 + small) * (1 + small));
        for (int32_t a = 0; a < n; a++) {
            gradient[a] += slope * row[a];
            for (int32_t b = 0; b <= a; b++)
                hessian[a][b] += bend * row[a] * row[b];
        }
    }
    for (int32_t a = 0; a + 1 < n; a++) {
        loss += self->ridge / 2 * at[a] * at[a];
        if (hessian) {
            gradient[a] += self->ridge * at[a];
            hessian[a][a] += self->ridge;
        }
    }
    return loss;
}

/* step = hessian^-1 gradient by a Cholesky factorisation, which overwrites the lower half of hessian. */
static void solve(double *step, double (*hessian)[MOST], const double *gradient, int32_t n)
{
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b <= a; b++) {
            double sum = hessian[a][b];
            for (int32_t c = 0; c < b; c++)
                sum -= hessian[a][c] * hessian[b][c];
            hessian[a][b] = a == b ? sqrt(fmax(sum, 1e-12)) : sum / hessian[b][b];
        }
    for (int32_t a = 0; a < n; a++) {
        step[a] = gradient[a];
        for (int32_t c = 0; c < a; c++)
            step[a] -= hessian[a][c] * step[c];
        step[a] /= hessian[a][a];
    }
    for (int32_t a = n - 1; a >= 0; a--) {
        for (int32_t c = a + 1; c < n; c++)
            step[a] -= hessian[c][a] * step[c];
        step[a] /= hessian[a][a];
    }
}

static void minimise(struct fit *self)
{
    double gradient[MOST], hessian[MOST][MOST], step[MOST], next[MOST];
    int32_t n = self->n;
    for (int k = 0; k < STEPS; k++) {
        double loss = evaluate(self, self->at, gradient, hessian), share = 1, better = INFINITY, promise = 0;
        solve(step, hessian, gradient, n);
        for (int32_t a = 0; a < n; a++)
            promise += step[a] * gradient[a];
        for (int h = 0; h < HALVINGS && promise > 1e-10 && !(better < loss); h++, share /= 2) {
            for (int32_t a = 0; a < n; a++)
                next[a] = self->at[a] - share * step[a];
            better = evaluate(self, next, NULL, NULL);
        }
        if (!(better < loss))
            return;
        memcpy(self->at, next, (size_t)n * sizeof *next);
    }
}

static void remove_column(struct fit *self, int32_t column)
{
    self->is_removed[column] = true;
    self->at[column] = 0;
}

/* Removes the column of the most negative weight among those that must be >= 0. Returns false if none is negative. */
static bool remove_most_negative(struct fit *self, const bool *is_positive)
{
    int32_t lowest = -1;
    for (int32_t c = 0; c + 1 < self->n; c++)
        if (is_positive[c] && self->at[c] < 0 && (lowest < 0 || self->at[c] < self->at[lowest]))
            lowest = c;
    if (lowest < 0)
        return false;
    remove_column(self, lowest);
    return true;
}

/* Removes columns that vary too little: their weights, or the parts of the bias due to them, would be out of range.
 * Returns whether there were any. */
static bool remove_too_large(struct fit *self)
{
    bool is_any = false;
    for (int32_t c = 0; c + 1 < self->n; c++)
        if (fabs(self->at[c] * self->unit[c]) * fmax(1, fabs(self->mean[c])) > LOGISTIC_LARGEST / MOST) {
            remove_column(self, c);
            is_any = true;
        }
    return is_any;
}

enum clv_status logistic_fit(double *w, double *bias, const struct logistic_data *data, const bool *is_positive,
                             double ridge, struct clv_error *err)
{
    struct fit fit = {.data = data, .ridge = ridge, .n = data->n_columns + 1};
    if (data->n_columns < 0 || data->n_columns >= MOST || !data->n)
        return fail(err, CLV_ERR_USAGE, "logistic regression of %zu rows of %d numbers", data->n, data->n_columns);
    standardise(&fit);
    if (!(fit.total > 0))
        return fail(err, CLV_ERR_USAGE, "logistic regression: no row has a weight");
    do
        minimise(&fit);
    while (remove_too_large(&fit) || remove_most_negative(&fit, is_positive));
    *bias = fit.at[data->n_columns];
    for (int32_t c = 0; c < data->n_columns; c++) {
        w[c] = fit.is_removed[c] ? 0 : fit.at[c] * fit.unit[c];
        *bias -= w[c] * fit.mean[c];
    }
    return CLV_OK;
}
