/* Sampling (y, h, x) from the model behind hidden chains and grids. */
#ifndef SYNTH_HIDDEN_SAMPLE_H
#define SYNTH_HIDDEN_SAMPLE_H

#include "hidden_model.h"

/* What samples of one model share; for any number of threads. */
struct hidden_sampler {
    const struct hidden_model *model;
    int32_t n_sweeps;   /* of Gibbs sampling; 0: exactly, of a chain */
    double *backward;   /* chain: [n_nodes][K] by place, log of the sum over all that follows */
    int32_t *chain;     /* chain: [n_nodes] the node at each place */
    int32_t *first;     /* grid: [n_nodes + 1] into neighbour */
    int32_t *neighbour; /* grid: [2 n_edges] the edges at each node */
};
void hidden_sampler_release(struct hidden_sampler *sampler);

/* n_sweeps 0 wants a chain whose edge e joins places e and e + 1. */
enum clv_status hidden_sampler_init(struct hidden_sampler *sampler, const struct hidden_model *model, int32_t n_sweeps,
                                    struct clv_error *err) CLV_CHECK;

/* y[n_nodes] and x[n_nodes]: one sample, a function of (seed, stream). O(n_nodes K), times n_sweeps. */
void hidden_sample(int32_t *y, int32_t *x, const struct hidden_sampler *sampler, uint64_t seed, uint64_t stream);

#endif
