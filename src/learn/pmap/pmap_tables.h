/* The estimates of pmap_draw.h for fields with full tables, which are chains. */
#ifndef LEARN_PMAP_TABLES_H
#define LEARN_PMAP_TABLES_H

#include "learn/pmap/pmap_draw.h"

/* What a draw has found so far: the decoder holds the perturbed field, solved, the workspace's y is y_A and its weights
 * are 0. */
struct table_drawing {
    const struct pmap_draws *draws;
    const struct pmap_example *example;
    struct pmap_workspace *space;
    struct decoder *decoder;
    double *pairwise; /* the pairwise part of the gradient, or NULL: not wanted */
    double value;
};

/* Adds to value, to node_weight and to pairwise. Without dynamic clamps every y_B is a Viterbi run of its own. */
enum clv_status pmap_tables(struct table_drawing *self, struct clv_error *err) CLV_CHECK;

#endif
