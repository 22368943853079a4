/* Exact inference with hidden nodes, by eliminating nodes one by one.
 *
 * Read forest.c first: checks, scores, outputs. forest_plan.c finds the order of elimination; forest_step.c eliminates
 * one node, and computes the derivative of that step. bucket.c does the same on narrow graphs with loops. min_entropy.c
 * scores labellings by the entropy of the hidden nodes. forest_map.c finds MAP labellings, clamped optima and
 * max-marginals of forests for the MAP oracle. */
#ifndef INFER_ELIMINATION_ELIMINATION_H
#define INFER_ELIMINATION_ELIMINATION_H

#include "cleave/infer.h"

/* Bucket elimination (Dechter 1999) on narrow graphs. It computes what clv_forest_run does, but the elimination of a
 * node may give a table over several others. Time and memory are proportional to the number of cells. bucket_plan.c
 * finds the order, bucket.c runs it forwards and backwards. */

/* Limits of the number of nodes that one step joins, its own included, and of nodes of the graph. */
#define BUCKET_MAX_SCOPE 24
#define BUCKET_MAX_NODES 4096

/* A table over some nodes, whose last label varies fastest: the scores of a node or of an edge, or the result of a
 * step. */
struct bucket_factor {
    int32_t n_nodes;
    int32_t nodes[BUCKET_MAX_SCOPE];
    size_t first; /* cell in `table` and `share` */
};

/* The elimination of one node: the factors with the node are joined into a table over `scope` and the node, and summed
 * to a factor over `scope`. */
struct bucket_step {
    int32_t node, n_scope;
    int32_t scope[BUCKET_MAX_SCOPE];
    int32_t first_used, n_used; /* into `used` */
    int32_t result;             /* factor */
    size_t n_cells;             /* n_labels^n_scope */
    size_t first_chance;        /* in `chance` */
};

struct bucket {
    /* The field of the plan; n_nodes < 0: none. */
    int32_t n_nodes, n_edges, n_labels;
    int32_t (*edges)[2];
    uint8_t *kind; /* [n_nodes] 0: fixed label, 1: eliminated first, 2: later */
    size_t cells_max;
    bool fits;
    /* The plan. */
    uint64_t *neighbours;          /* [n_nodes][words] bits */
    uint8_t *is_left;              /* [n_nodes] not eliminated yet */
    int32_t *fill;                 /* [n_nodes] pairs of neighbours that the node would join; -1: not known */
    struct bucket_factor *factors; /* of nodes, of edges, and results of steps */
    int32_t *used;                 /* factors that steps join */
    struct bucket_step *steps;
    int32_t n_factors, n_used, n_steps;
    size_t n_cells, n_chances;
    size_t node_capacity, edge_capacity, word_capacity, factor_capacity, cell_capacity, chance_capacity;
    /* Values of a run. */
    double *table, *share; /* [n_cells] */
    double *chance;        /* [n_chances] P(a step's node | its scope); the node's label varies fastest */
};

void bucket_release(struct bucket *self); /* zeros are allowed */

/* Sets *fits to whether a plan was found whose steps have at most cells_max cells in all. clv_forest_run must accept
 * the options. The plan is kept: for the same graph the next call only compares. */
enum clv_status bucket_fits(struct bucket *self, bool *fits, const struct clv_field *field,
                            const struct clv_forest_options *options, size_t cells_max,
                            struct clv_error *err) CLV_CHECK;

/* Outputs as of clv_forest_run, each of which may be NULL. */
struct bucket_outputs {
    double *value, *marginals, *pair_marginals;
    int32_t *y;
};

/* Runs as clv_forest_run does, after bucket_fits has accepted this graph and these options. O(cells x factors of a
 * step). */
enum clv_status bucket_run(struct bucket *self, const struct bucket_outputs *to, const struct clv_field *field,
                           const struct clv_forest_options *options, struct clv_error *err) CLV_CHECK;

/* The elimination of one node of a forest: its scores go to the only remaining neighbour, or into a new table between
 * two remaining ones. */
struct elimination {
    int32_t node, n_links; /* remaining links, 0 to 2; a node with a fixed label has any number, not listed here */
    int32_t link[2];       /* tables */
    int32_t result;        /* the new table, or -1 */
};

/* Tables 0 .. n_edges - 1 are the field's edges; later ones are results of steps. */
struct clv_forest {
    int32_t n_nodes, n_edges, n_labels, n_tables;
    size_t node_capacity, end_capacity, slot_capacity, unary_capacity, pair_capacity, label_capacity;
    int32_t (*ends)[2];        /* [n_tables] the node of its rows, and of its columns */
    int32_t *first, *slot;     /* [n_nodes + 1] into slot: the tables at each node */
    int32_t *degree;           /* [n_nodes] tables to nodes not yet eliminated; -1 once eliminated */
    int32_t *queue;            /* [n_nodes] */
    uint8_t *is_first;         /* [n_nodes] hidden nodes that must come before the others */
    struct elimination *steps; /* [n_nodes] in order */
    int32_t n_steps;
    double *unary;       /* [n_nodes][n_labels] scores, including those passed on by eliminated nodes */
    double *unary_share; /* the same shape: the derivative of the value by these scores, which is the marginal */
    double *message;     /* the same shape: passed on by a node with one link; [0] its value without links */
    double *table, *table_share; /* [n_tables][n_labels][n_labels] and derivatives */
    double *oriented[2], *row;   /* [n_labels][n_labels] twice, [n_labels]: of the current step */
};

/* Finds the order: nodes with fixed labels first, then hidden ones if the temperatures differ, then the rest.
 * `is_first`[n_nodes] or NULL says which ones must come before the others. CLV_ERR_DATA, naming the edge, unless the
 * graph of the nodes without labels is a forest; CLV_ERR_USAGE, naming the node, if the elimination of one of the first
 * nodes would join more than two others. */
enum clv_status forest_plan(struct clv_forest *forest, const uint8_t *is_first, const int32_t *label,
                            struct clv_error *err) CLV_CHECK;

/* Returns the other end of a table. */
static inline int32_t forest_other(const struct clv_forest *forest, int32_t table, int32_t node)
{
    return forest->ends[table][forest->ends[table][0] == node];
}

/* Eliminate the node of a step. forest_eliminate returns what a node without links adds to the value, otherwise 0;
 * forest_eliminate_fixed returns what the fixed label adds. */
double forest_eliminate(struct clv_forest *forest, const struct elimination *step, double temperature);
double forest_eliminate_fixed(struct clv_forest *forest, const struct elimination *step, const int32_t *label);

/* Computes the derivatives of a step. Call it for the steps in reverse order. */
void forest_return(struct clv_forest *forest, const struct elimination *step, double temperature);
void forest_return_fixed(struct clv_forest *forest, const struct elimination *step, const int32_t *label);

/* Minimum-entropy scores of labellings with hidden nodes (Miller, Kumar, Packer, Goodman, Koller: Max-margin
 * min-entropy models, AISTATS 2012): the Renyi entropy, of order 1/T, of the generalised distribution P(y, h) over h
 * at a fixed y is
 *
 *     H(y) = 1 / (1 - 1/T) log( sum_h P(y, h)^(1/T) / sum_h P(y, h) ) = log Z - s(y)
 *     s(y) = (V_T(y) - T V_1(y)) / (1 - T),      V_T(y) = T log sum_h exp(f(y, h) / T)
 *
 * T -> 0 gives max_h f(y, h), T -> 1 Shannon's entropy: s(y) = sum_h p(h | y) f(y, h). Both V and so s are sums over
 * hidden nodes when these touch visible ones only. */

/* Buffers. Zeros initialise them. For one thread at a time. */
struct min_entropy {
    struct clv_forest *forest;
    struct clv_field reduced; /* over visible nodes; hidden ones are summed into tables */
    int32_t (*edges)[2];      /* [reduced.n_edges] */
    int32_t *number;          /* [n_nodes] index of a visible node among the visible ones */
    int32_t (*incident)[2];   /* [n_nodes] the edges of a hidden node, or -1 */
    int32_t *y;               /* [reduced.n_nodes] */
    size_t node_capacity, edge_capacity, unary_capacity, table_capacity;
};
void min_entropy_release(struct min_entropy *self);

/* Arguments of s. */
struct min_entropy_terms {
    const struct clv_field *field;
    const uint8_t *is_visible; /* [n_nodes]; NULL: all are */
    double temperature;        /* 0 <= T <= 1 */
};

/* Sets y[n_nodes]: the visible labels maximise s, the hidden ones are the most probable ones given these. Exact if
 * hidden nodes have no hidden neighbour and at most two visible ones, and if the graph is a forest once these two are
 * joined; otherwise CLV_ERR_USAGE, naming a hidden node, or as clv_forest_run. O(n_nodes n_labels^3). */
enum clv_status min_entropy_map(int32_t *y, struct min_entropy *self, const struct min_entropy_terms *terms,
                                struct clv_error *err) CLV_CHECK;

/* Sets *score to s(y), which depends on y's visible labels, and slope[n_nodes][n_labels] to the derivative of s by the
 * unary scores: 1 at y_i for visible nodes; for hidden ones it sums to 1 and may be negative. The derivative by the
 * score of a pair of labels is the product of those of its ends. Call it after min_entropy_map with the same graph and
 * is_visible. */
void min_entropy_slope(double *score, double *slope, const struct min_entropy *self,
                       const struct min_entropy_terms *terms, const int32_t *y);

/* Sets *fits to whether clv_forest_run accepts the graph of the field. Fails with CLV_ERR_MEMORY only.
 * The field has passed field_check. */
enum clv_status forest_fits(struct clv_forest *forest, bool *fits, const struct clv_field *field,
                            const struct clv_forest_options *options, struct clv_error *err) CLV_CHECK;

/* Forests for the MAP oracle: MAP labellings, clamped optima and max-marginals of fields of any form and any number of
 * labels. */

/* The forest solved last. Zeros initialise it. */
struct forest_map {
    int32_t n_nodes, n_labels;
    int32_t *order;        /* [n_nodes] breadth-first from the roots, tree by tree */
    int32_t *parent;       /* [n_nodes] or -1 */
    int32_t *link;         /* [n_nodes] the edge to the parent, or -1 */
    int32_t *child;        /* [n_nodes + 1] the children of order[s] are order[child[s] .. child[s + 1] - 1] */
    int32_t *first, *slot; /* [n_nodes + 2] into slot: the edges at each node */
    uint8_t *is_on_path;   /* [n_nodes] between the clamped node and its root */
    double *inward;        /* [n_nodes][n_labels] largest score of the node and all below it, given its label */
    double *message;       /* the same shape: inward with the link's score, given the parent's label */
    double *beyond;        /* the same shape: the rest of the tree, given the parent's label; if has_beyond */
    bool has_beyond;
    size_t node_capacity, slot_capacity, score_capacity;
};

void forest_map_release(struct forest_map *self);

/* Sets y to the MAP labelling. At ties the node of the highest index in each tree has the lowest label, and so on
 * outwards from it; on a chain that is Viterbi's choice. Returns 1; 0, without setting y, if an edge closes a loop; -1
 * when out of memory. The field has passed field_check. O(n_nodes n_labels^2). */
int forest_map_solve(struct forest_map *self, int32_t *y, const struct clv_field *field);

/* Sets y to the labelling of forest_map_solve once more. O(n_nodes n_labels). */
void forest_map_label(const struct forest_map *self, int32_t *y, const struct clv_field *field);

/* Sets y to the clamped optimum of the field solved last in which `node` has `label`; ties as above, outwards from the
 * node. O(n_nodes n_labels), and once per field O(n_nodes n_labels^2). */
void forest_map_clamp(struct forest_map *self, int32_t *y, const struct clv_field *field, int32_t node, int32_t label);

/* Sets max_marginals[n_nodes][n_labels] of that field to the scores of the clamped optima. O(n_nodes n_labels^2). */
void forest_map_max_marginals(struct forest_map *self, double *max_marginals, const struct clv_field *field);

/* Sets counts[n_nodes][n_labels] to the number of the n_nodes n_labels clamped optima that have that label at the node.
 * Returns 0, or -1 when out of memory. O(n_nodes n_labels^2). */
int forest_map_witness_counts(struct forest_map *self, double *counts, const struct clv_field *field);

#endif
