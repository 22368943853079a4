/* The random model behind hidden chains and grids. */
#ifndef SYNTH_HIDDEN_MODEL_H
#define SYNTH_HIDDEN_MODEL_H

#include "simulate.h"

#define HIDDEN_MAX_LABELS 16

/* K = n_labels states of every variable. Nodes: n_visible y first, then h. */
struct hidden_model {
    int32_t n_labels, n_nodes, n_visible, n_edges;
    int32_t (*edges)[2]; /* [n_edges] a y and an h; on a chain in its order */
    double *emission;    /* [n_nodes][K][K] w[r] + w[s] + w[r, s] of x = r and the node's label s */
    double *unary;       /* [n_nodes][K] log sum_r exp emission[r][s] */
    double *table;       /* [n_edges][K][K] the y's label first */
};
void hidden_model_release(struct hidden_model *model);

/* The options have been checked. */
enum clv_status hidden_model_init(struct hidden_model *model, const struct hidden_options *options,
                                  struct clv_error *err) CLV_CHECK;

#endif
