/* Bucket elimination (Dechter 1999) on graphs that are narrow: as clv_forest_run, but nodes may leave tables over
 * several others behind, whose cells are what it costs. bucket_plan.c finds the order, bucket.c goes through it and
 * back. */
#ifndef INFER_BUCKET_H
#define INFER_BUCKET_H

#include "cleave/infer.h"

/* Of nodes that one step joins, its own among them; and of the graph. */
#define BUCKET_MAX_SCOPE 24
#define BUCKET_MAX_NODES 4096

/* A table over some nodes, the last of which runs fastest: a node's scores, an edge's, or what a step left behind. */
struct bucket_factor {
    int32_t n_nodes;
    int32_t nodes[BUCKET_MAX_SCOPE];
    size_t first; /* cell in `table` and `share` */
};

/* One node's elimination: factors that have it join in a table over `scope` and the node, of which a factor over
 * `scope` is left. */
struct bucket_step {
    int32_t node, n_scope;
    int32_t scope[BUCKET_MAX_SCOPE];
    int32_t first_used, n_used; /* into `used` */
    int32_t made;               /* factor */
    size_t n_cells;             /* n_labels^n_scope */
    size_t first_chance;        /* in `chance` */
};

struct bucket {
    /* What the plan is for; n_nodes < 0: none. */
    int32_t n_nodes, n_edges, n_labels;
    int32_t (*edges)[2];
    uint8_t *kind; /* [n_nodes] 0: given a label, 1: first, 2: later */
    size_t cells_max;
    bool fits;
    /* The plan. */
    uint64_t *neighbours;          /* [n_nodes][words] bits */
    uint8_t *is_left;              /* [n_nodes] */
    struct bucket_factor *factors; /* nodes, edges, what steps make */
    int32_t *used;                 /* factors that steps take in */
    struct bucket_step *steps;
    int32_t n_factors, n_used, n_steps;
    size_t n_cells, n_chances;
    size_t node_capacity, edge_capacity, word_capacity, factor_capacity, cell_capacity, chance_capacity;
    /* Numbers of a run. */
    double *table, *share; /* [n_cells] */
    double *chance;        /* [n_chances] of a step's node given its scope; the node runs fastest */
};

void bucket_release(struct bucket *self); /* of zeros, too */

/* *fits = 1 if a plan was found whose steps have at most cells_max cells in all. Labels, visible nodes and
 * temperatures as for clv_forest_run, which must accept the options. Plans are kept: the same graph again costs a
 * comparison. */
enum clv_status bucket_fits(struct bucket *self, bool *fits, const struct clv_field *field,
                            const struct clv_forest_options *options, size_t cells_max,
                            struct clv_error *err) CLV_CHECK;

/* As clv_forest_run, after bucket_fits said yes for this graph and these options. O(cells x factors of a step). */
enum clv_status bucket_run(struct bucket *self, double *value, double *marginals, double *pair_marginals, int32_t *y,
                           const struct clv_field *field, const struct clv_forest_options *options,
                           struct clv_error *err) CLV_CHECK;

#endif
