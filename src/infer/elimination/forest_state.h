/* elimination/: exact inference with hidden nodes, by eliminating nodes one by one. What forests hold.
 *
 * Read forest.c first: checks, scores, outputs. forest_plan.c finds the order of elimination; forest_step.c eliminates
 * one node, and takes the derivative of that. bucket.h does the same on graphs with loops that are narrow.
 * min_entropy.h scores labellings by the entropy of what is hidden. */
#ifndef INFER_FOREST_H
#define INFER_FOREST_H

#include "cleave/infer.h"

/* Nodes are eliminated one by one; each one's scores go into its only neighbour left, or, of two, into a new table
 * between them. */
struct elimination {
    int32_t node, n_links; /* links that are left, 0 to 2; of a node with a fixed label any number, not listed here */
    int32_t link[2];       /* tables */
    int32_t made;          /* the new table, or -1 */
};

/* Tables 0 .. n_edges - 1 are the field's edges, those behind were made on the way. */
struct clv_forest {
    int32_t n_nodes, n_edges, n_labels, n_tables;
    size_t node_capacity, end_capacity, slot_capacity, unary_capacity, pair_capacity, label_capacity;
    int32_t (*ends)[2];        /* [n_tables] the node of its rows, and of its columns */
    int32_t *first, *slot;     /* [n_nodes + 1] into slot: the tables at each node */
    int32_t *degree;           /* [n_nodes] tables to nodes not yet eliminated; -1 once eliminated */
    int32_t *queue;            /* [n_nodes] */
    uint8_t *is_first;         /* [n_nodes] of hidden nodes that must come before the others */
    struct elimination *steps; /* [n_nodes] in order */
    int32_t n_steps;
    double *unary;               /* [n_nodes][n_labels] scores, with those of the nodes eliminated before */
    double *unary_share;         /* the same shape: the value's derivative by them, which is the marginal */
    double *message;             /* the same shape: what a node with one link passed on, with none the value in [0] */
    double *table, *table_share; /* [n_tables][n_labels][n_labels] and derivatives */
    double *oriented[2], *row;   /* [n_labels][n_labels] twice, [n_labels]: of the step at hand */
};

/* Finds the order: nodes with labels first, then hidden ones if the temperatures differ, then the rest.
 * `is_first`[n_nodes] or NULL says which ones must come before the others. CLV_ERR_DATA, naming the edge, unless
 * the graph of the nodes without labels is a forest; CLV_ERR_USAGE, naming the node, if one of the first would leave
 * more than a table behind. */
enum clv_status forest_plan(struct clv_forest *forest, const uint8_t *is_first, const int32_t *label,
                            struct clv_error *err) CLV_CHECK;

/* The table's other end. */
static inline int32_t forest_other(const struct clv_forest *forest, int32_t table, int32_t node)
{
    return forest->ends[table][forest->ends[table][0] == node];
}

/* Returns what a node without links adds to the value, otherwise 0. */
double forest_eliminate(struct clv_forest *forest, const struct elimination *step, double temperature);
double forest_eliminate_fixed(struct clv_forest *forest, const struct elimination *step, const int32_t *label);

/* Derivatives, in reverse order. */
void forest_return(struct clv_forest *forest, const struct elimination *step, double temperature);
void forest_return_fixed(struct clv_forest *forest, const struct elimination *step, const int32_t *label);

#endif
