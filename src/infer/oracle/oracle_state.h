/* oracle/: one interface to the engines below. What a MAP oracle holds: the engine, its buffers, the field solved last.
 *
 * Read oracle.c first: which engine takes which field. witness.c asks about clamped optima of the solution, perturb.c
 * draws, infer/oracle/oracle.h goes by other rules than MAP, moves.c expands and swaps. */
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
    ORACLE_APART, /* two labels, no edges; capacities.unary holds the scores */
    ORACLE_CUT,
    ORACLE_EXACT, /* a cut of numbers that rounding would have spoilt; exact has it */
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
    bool is_forest;                  /* the last cut was by it: graph has no solution */
    struct batch batch;              /* for clv_perturbed_map */
    struct exact_cut exact, clamped; /* of fields with hard couplings; what their clamps need */
    double exact_scale;              /* exact has scores times so much */
    double own_size;                 /* of the field that a cut is a move of, for capacities_suffice; below 0: none */
    struct chain_map chain;
    struct forest_map tree; /* of a field solved as a forest; of others once a clamped optimum is asked for */
    bool has_tree;
    struct clv_field copy; /* the field of two labels that was solved as a chain or a forest, for its witnesses */
    size_t copied_nodes, copied_edges, copied_scores;
    struct decoding_workspace decoding; /* for clv_oracle_decode */
    int32_t (*edges)[2];                /* of the graph that libmaxflow holds; n_nodes < 0: none */
    size_t edge_capacity;
    int32_t n_nodes, n_edges;
#if WITH_BK
    struct bk *bk;
    double *terminal, *capacity; /* as libmaxflow wants them */
#endif
};

/* y = argmax f of a field of two labels, without rounding, whichever the engine; unaries are those of the field plus
 * low[n_nodes], or NULL. Refused: as by capacities_set. */
enum clv_status oracle_cut_exactly(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                                   const double *low, struct clv_error *err) CLV_CHECK;

/* Returns how far the field's true maximum may be above the score that clv_oracle_map gave: a cut maximises scores
 * rounded to a grid, and each of its terms moves by half a step at most, in either labelling. Chains, forests that
 * are not solved by a cut and fields without edges are exact. */
static inline double oracle_slack(const struct clv_oracle *oracle)
{
    if (oracle->state != ORACLE_CUT)
        return 0;
    return ldexp((double)oracle->n_nodes + (double)oracle->n_edges, -oracle->capacities.slack_exponent);
}

#endif
