/* Max-marginals of a chain, and how often their witnesses, the clamped optima, use each label. The witness of a node's
 * label is traced from the node to both ends. Traces that meet stay together, so one sweep per direction counts the
 * traces through each label. Start at clv_chain_max_marginals. */
#include <string.h>

#include "base/base.h"
#include "infer/chain/chain.h"

struct trace_state {
    double *forward, *backward; /* [n][k] largest score of the nodes up to this one, and of those after it */
    double *transpose;          /* [k][k] */
    double *passing; /* [2][k] number of traces through the labels of a node and of the previous one; scratch of fill */
};

/* backward[a] = max_b table[a][b] + unary[b] + behind[b], with unary and behind of the next node. `joined` has space
 * for a row. */
static void step_back(double *backward, double *joined, const double *behind, const double *unary,
                      const double *transpose, size_t k)
{
    static const double zero[CLV_CHAIN_MAX_LABELS];
    for (size_t b = 0; b < k; b++)
        joined[b] = unary[b] + behind[b];
    chain_max_step(backward, joined, transpose, zero, k);
}

static void fill(struct trace_state *self, const struct clv_chain *chain)
{
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels;
    memcpy(self->forward, chain->unary, k * sizeof *self->forward);
    for (size_t i = 1; i < n; i++)
        chain_max_step(&self->forward[i * k], &self->forward[(i - 1) * k], chain_table(chain, i - 1),
                       &chain->unary[i * k], k);
    memset(&self->backward[(n - 1) * k], 0, k * sizeof *self->backward);
    for (size_t i = n - 1; i-- > 0;) {
        chain_transpose(self->transpose, chain_table(chain, i), k);
        step_back(&self->backward[i * k], self->passing, &self->backward[(i + 1) * k], &chain->unary[(i + 1) * k],
                  self->transpose, k);
    }
}

/* Adds to counts the traces on their way to the start: those of the node itself and of later nodes. */
static void count_to_start(double *counts, struct trace_state *self, const struct clv_chain *chain)
{
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels;
    double *here = self->passing, *next = self->passing + k;
    for (size_t i = n; i-- > 0;) {
        for (size_t a = 0; a < k; a++)
            here[a] = 1;
        for (size_t b = 0; b < k && i + 1 < n; b++)
            here[chain_best_label(&self->forward[i * k], chain_table(chain, i) + b, k, k)] += next[b];
        for (size_t a = 0; a < k; a++)
            counts[i * k + a] += here[a];
        memcpy(next, here, k * sizeof *here);
    }
}

/* Adds to counts the traces on their way to the end: those of earlier nodes. */
static void count_to_end(double *counts, struct trace_state *self, const struct clv_chain *chain)
{
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels;
    double *here = self->passing, *next = self->passing + k;
    memset(here, 0, k * sizeof *here);
    for (size_t i = 1; i < n; i++) {
        const double *table = chain_table(chain, i - 1);
        double joined[CLV_CHAIN_MAX_LABELS];
        for (size_t b = 0; b < k; b++)
            joined[b] = chain->unary[i * k + b] + self->backward[i * k + b];
        memset(next, 0, k * sizeof *next);
        for (size_t a = 0; a < k; a++)
            next[chain_best_label(joined, table + a * k, 1, k)] += here[a] + 1;
        for (size_t b = 0; b < k; b++)
            counts[i * k + b] += next[b];
        memcpy(here, next, k * sizeof *here);
    }
}

static void trace_state_release(struct trace_state *self)
{
    arrays_free(self->forward, self->backward, self->transpose, self->passing);
}

enum clv_status clv_chain_max_marginals(double *max_marginals, double *witness_counts, const struct clv_chain *chain,
                                        struct clv_error *err)
{
    MUST(chain_check(chain, err));
    if (chain->n_nodes == 0)
        return CLV_OK;
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels;
    OWNED(trace_state_release) struct trace_state self = {
        array_alloc(n, k * sizeof(double)), array_alloc(n, k * sizeof(double)), array_alloc(k, k * sizeof(double)),
        array_alloc(k, 2 * sizeof(double))};
    NEED(self.forward && self.backward && self.transpose && self.passing);
    fill(&self, chain);
    for (size_t c = 0; c < n * k && max_marginals; c++)
        max_marginals[c] = self.forward[c] + self.backward[c];
    if (witness_counts) {
        memset(witness_counts, 0, n * k * sizeof *witness_counts);
        count_to_start(witness_counts, &self, chain);
        count_to_end(witness_counts, &self, chain);
    }
    return CLV_OK;
}
