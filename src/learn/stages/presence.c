/* Learns to predict from a first stage's marginals whether a label is in an image: logistic regression for each label,
 * with a ridge, on held-out examples. Start at presence_learn, at the end. */
#include "learn/stages/stages.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "model/context.h"

/* The ridge was chosen from 0.0003, 0.001 and 0.003 by the likelihood in 5-fold cross-validation among MSRC-21's
 * training images. */
static const double LEAST_SHARE = 0.002, RIDGE = 0.001;
enum { STEPS = 400 };

void presence_of(uint8_t *is_present, const struct clv_problem *problem, int32_t n_labels)
{
    size_t k = (size_t)n_labels, n = (size_t)problem->n_nodes * k;
    double total = 0;
    for (size_t i = 0; i < n; i++)
        total += (double)problem->theta[i];
    for (size_t l = 0; l < k; l++) {
        double sum = 0;
        for (size_t i = l; i < n; i += k)
            sum += (double)problem->theta[i];
        is_present[l] = sum > LEAST_SHARE * total;
    }
}

struct presence_state {
    double *w;
    const struct presence_examples *from;
};

/* Nesterov's accelerated gradient with steps of 1 / L, L an upper bound of the objective's curvature. The last two of
 * rows[n + 2][size] are its workspace. */
static void minimise(double *w, double *rows, const struct presence_examples *from, size_t label)
{
    size_t n = from->n, size = (size_t)evidence_size(from->n_labels), stride = (size_t)from->n_labels;
    const uint8_t *is_present = from->is_present + label;
    double *ahead = rows + n * size, *gradient = ahead + size, most = 0, momentum = 1;
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t c = 0; c < size; c++)
            square += rows[i * size + c] * rows[i * size + c];
        most = fmax(most, square);
    }
    double step = 1 / (most / 4 + RIDGE);
    memset(w, 0, size * sizeof *w);
    memset(ahead, 0, size * sizeof *ahead);
    for (int k = 0; k < STEPS; k++) {
        for (size_t c = 0; c < size; c++)
            gradient[c] = c ? RIDGE * ahead[c] : 0;
        for (size_t i = 0; i < n; i++) {
            const double *row = rows + i * size;
            double score = 0;
            for (size_t c = 0; c < size; c++)
                score += ahead[c] * row[c];
            double wrong = (1 / (1 + portable_exp(-score)) - is_present[i * stride]) / (double)n;
            for (size_t c = 0; c < size; c++)
                gradient[c] += wrong * row[c];
        }
        double next = (1 + sqrt(1 + 4 * momentum * momentum)) / 2, share = (momentum - 1) / next;
        for (size_t c = 0; c < size; c++) {
            double before = w[c];
            w[c] = ahead[c] - step * gradient[c];
            ahead[c] = w[c] + share * (w[c] - before);
        }
        momentum = next;
    }
}

static enum clv_status learn_task(void *context, size_t label, int thread, struct clv_error *err)
{
    (void)thread;
    const struct presence_state *self = context;
    const struct presence_examples *from = self->from;
    size_t k = (size_t)from->n_labels, n = from->n, size = (size_t)evidence_size(from->n_labels), n_there = 0;
    double *w = self->w + label * size;
    for (size_t i = 0; i < n; i++)
        n_there += from->is_present[i * k + label];
    if (!n_there || n_there == n) {
        double odds = (n_there ? (double)n + 0.5 : 0.5) / (n_there ? 0.5 : (double)n + 0.5);
        memset(w, 0, size * sizeof *w);
        w[0] = portable_log(odds);
        return CLV_OK;
    }
    OWNED_ARRAY double *rows = array_alloc(n + 2, size * sizeof *rows);
    NEED(rows);
    for (size_t i = 0; i < n; i++)
        evidence_row(rows + i * size, from->evidence + i * 2 * k, from->n_labels, (int32_t)label);
    minimise(w, rows, from, label);
    return CLV_OK;
}

enum clv_status presence_learn(double *w, const struct presence_examples *from, int n_threads, struct clv_error *err)
{
    struct presence_state learning = {w, from};
    return parallel_for((size_t)from->n_labels, n_threads, learn_task, &learning, err);
}
