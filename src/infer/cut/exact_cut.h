/* Minimum cuts without rounding, for numbers of any size: hard couplings of 1e10 or 1e300 beside unaries of 1, strokes,
 * subnormal numbers. It is slower than the engines of cut.h and grid.h, which use it for problems that rounding would
 * change.
 *
 *     struct exact_cut cut = {0};
 *     if (exact_cut_reserve(&cut, n_nodes, n_terms, n_edges)) ..out of memory
 *     exact_cut_add_term(&cut, node, value);               // score of label 1 minus label 0; several terms add up
 *     exact_cut_add_edge(&cut, from, to, there, back);     // loses `there` where labels are 1 0, `back` where 0 1
 *     exact_cut_solve(&cut);                               // cut.label[]
 *     exact_cut_release(&cut); */
#ifndef INFER_CUT_EXACT_CUT_H
#define INFER_CUT_EXACT_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleave/problem.h"

struct exact_term {
    double value;
    int32_t node;
};

struct exact_edge {
    int32_t from, to;
    double there, back; /* >= 0 */
};

struct exact_arc {
    int64_t residual;
    union {
        struct {
            int32_t head, reverse;
        };
        int32_t edge; /* during contraction; ~edge at the edge's `to` */
    };
};

struct exact_cut {
    int32_t n_nodes;
    size_t n_terms, n_edges;
    struct exact_term *terms;
    struct exact_edge *edges;
    uint8_t *label; /* [n_nodes] the MAP labelling, at ties the one with the fewest 1s */
    /* The rest is private to the solver. Contraction keeps n_kept nodes. */
    int32_t n_kept;
    int32_t *group; /* [n_nodes] the kept node that it belongs to, or ~label if its label is certain */
    int32_t *next;  /* [n_nodes] ring of the nodes that have been joined */
    double *unary, *size, *there, *back;
    struct exact_arc *arc;
    int32_t *first;    /* [n_kept + 1] first arc of a node */
    int32_t *slot;     /* [n_edges] the arc from -> to, whose reverse is the arc back; -1: contracted */
    int64_t *excess;   /* [n_kept] in units of 2^unit */
    int32_t *distance; /* [n_kept] lower bound of the arcs to the nearest deficit */
    int32_t *current;  /* [n_kept] the arc to try next */
    int32_t *queue;    /* [n_kept] a ring of active nodes; breadth-first lists */
    int32_t *count;    /* [n_kept + 1] number of nodes at a distance */
    uint8_t *mark;     /* [n_kept] is in the ring; in exact_cut_clamp [n_nodes]: has changed */
    int unit;
    size_t node_capacity, term_capacity, edge_capacity;
};

void exact_cut_release(struct exact_cut *self);

/* Removes all terms and edges and reserves memory. Returns 0, or -1 when out of memory or past 2^29 edges. */
int exact_cut_reserve(struct exact_cut *self, int32_t n_nodes, size_t n_terms, size_t n_edges);

/* Adds a term unless it is zero. Values are finite. */
static inline void exact_cut_add_term(struct exact_cut *self, int32_t node, double value)
{
    self->terms[self->n_terms] = (struct exact_term){value, node};
    self->n_terms += value != 0;
}

/* Adds an edge unless it loses nothing. The losses are finite and >= 0. */
static inline void exact_cut_add_edge(struct exact_cut *self, int32_t from, int32_t to, double there, double back)
{
    self->edges[self->n_edges] = (struct exact_edge){from, to, there, back};
    self->n_edges += there > 0 || back > 0;
}

/* Solves the problem that was added. Allocates nothing. */
void exact_cut_solve(struct exact_cut *self);

/* Finds nodes whose labels are certain and nodes that have the same label: group[] and n_kept. O(n_nodes + n_edges) per
 * round, of which there are few. */
void exact_cut_contract(struct exact_cut *self);

/* Adds the problem of a two-label field that capacities_set accepts. Scores of tables are doubled, so that halves are
 * exact (exact_cut_scale). The caller may add one more term per node. Returns 0, or -1 when out of memory. */
int exact_cut_take_field(struct exact_cut *self, const struct clv_field *field);
static inline double exact_cut_scale(const struct clv_field *field)
{
    return field->form == CLV_PAIRWISE_FULL ? 2 : 1;
}

/* Finds the clamped optimum of `node` in a solved problem: flipped[*n_flipped] (space for n_nodes) gets the nodes whose
 * labels change, `node` first. The labelling is canonical, too. `part` is workspace, kept from call to call. Returns
 * the cost, or -1 when out of memory. */
double exact_cut_clamp(int32_t *flipped, int32_t *n_flipped, struct exact_cut *part, const struct exact_cut *self,
                       int32_t node);

/* Sums of doubles in twice their precision, for sums in which large values cancel. */
struct exact_sum {
    double high, low;
};

static inline void exact_sum_add(struct exact_sum *sum, double value)
{
    double high = sum->high + value, part = high - sum->high;
    sum->low += (sum->high - (high - part)) + (value - part);
    sum->high = high;
}

static inline double exact_sum_value(struct exact_sum sum)
{
    return sum.high + sum.low;
}

#endif
