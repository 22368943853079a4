/* Means of what nodes say over the sectors of rings around a place. */
#ifndef FEATURE_AROUND_H
#define FEATURE_AROUND_H

#include "cleave/status.h"

enum { AROUND_SECTORS = 8, AROUND_RINGS = 3, AROUND_SIZE = AROUND_SECTORS * AROUND_RINGS };

void around_name(char *name, size_t size, int32_t index);

/* Nodes pooled in the cells of a grid, so that many of them cost no more. */
struct around {
    int32_t n_channels, n_cells;
    int32_t *cell;          /* [n_nodes] */
    double *count, *x, *y;  /* [n_cells] nodes, and their mean place */
    float *sum;             /* [n_cells][n_channels] */
    const float *place;     /* [n_nodes][2], a view */
    double *weight, *total; /* [AROUND_SIZE], [AROUND_SIZE][n_channels], scratch */
    float *means;           /* [AROUND_SIZE][n_channels] of the node filled last; 0 where nothing is */
};
void around_release(struct around *self);
enum clv_status around_init(struct around *self, const float *value, int32_t n_channels, const float *place,
                            int32_t n_nodes, struct clv_error *err) CLV_CHECK;

/* O(cells x channels). The node's own cell does not count. */
void around_fill(struct around *self, size_t node);

#endif
