/* State of a MAP oracle: the engine, its buffers, and the field solved last.
 *
 * Read oracle.c first, which picks the engine for each field and applies the decoding rules. witness.c finds clamped
 * optima of the solution, marginals.c marginals, perturb.c samples, moves.c expansion and swap moves, label_costs.c
 * labellings with label costs. */
#ifndef INFER_ORACLE_H
#define INFER_ORACLE_H

#include <math.h>

#include "cleave/infer.h"
#include "cleave/oracle.h"
#include "infer/chain/chain.h"
#include "infer/cut/cut.h"
#include "infer/cut/exact_cut.h"
#include "infer/oracle/oracle.h"
#if WITH_BK
#include "maxflow_shim.h"
#endif

/* State that the last clv_oracle_map left for questions about its solution. */
enum oracle_state {
    ORACLE_EMPTY,
    ORACLE_NO_EDGES, /* two labels, no edges; capacities.unary holds the scores */
    ORACLE_CUT,
    ORACLE_EXACT, /* a cut without rounding; `exact` has the solution */
    ORACLE_CHAIN,
    ORACLE_FOREST,
};

struct clv_oracle {
    enum clv_engine engine;
    enum oracle_state state;
    const volatile int *stop; /* or NULL */
    int32_t n_solved;         /* nodes of the last field */
    struct capacities capacities;
    struct maxflow graph;
    struct forest_cut forest;
    bool is_forest;                  /* `forest` solved the last cut, not `graph` */
    struct batch batch;              /* for clv_perturbed_map */
    struct exact_cut exact, clamped; /* cuts without rounding; workspace of their clamps */
    double exact_scale;              /* factor of the scores in `exact` */
    double field_size;               /* for capacities_suffice, while a move of a field is solved; else below 0 */
    struct chain_map chain;
    struct forest_map tree; /* of a field solved as a forest; of others after the first clamped optimum */
    bool has_tree;
    struct clv_field copy; /* copy of a two-label field solved as a chain or a forest, for witnesses */
    size_t copied_nodes, copied_edges, copied_scores;
    struct decoding_workspace decoding; /* for clv_oracle_decode */
    int32_t (*edges)[2];                /* of the graph that libmaxflow holds; n_nodes < 0: none */
    size_t edge_capacity;
    int32_t n_nodes, n_edges;
#if WITH_BK
    struct bk *bk;
    double *terminal, *capacity; /* arguments of libmaxflow */
#endif
};

/* Sets y to the MAP labelling of a two-label field, by a cut without rounding, for any engine. low[n_nodes] (or NULL)
 * is added to its unaries. Refuses what capacities_set refuses. */
enum clv_status oracle_cut_exactly(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                                   const double *low, struct clv_error *err) CLV_CHECK;

/* Sets each label to that of the largest unary score, the lowest at ties. */
void oracle_label_by_unary(int32_t *y, const struct clv_field *field);

/* Returns how far the field's true maximum may be above the score that clv_oracle_map returned: a cut maximises scores
 * rounded to a grid, and each of its terms moves by half a step at most, in either labelling. Chains, forests that are
 * not solved by a cut and fields without edges are exact. */
static inline double oracle_slack(const struct clv_oracle *oracle)
{
    if (oracle->state != ORACLE_CUT)
        return 0;
    return ldexp((double)oracle->n_nodes + (double)oracle->n_edges, -oracle->capacities.slack_exponent);
}

#endif
