/* Belief propagation on any graph. struct clv_bp holds the graph in the order of sending, the scores and the messages.
 * Read bp.c first (schedules, and how a message is sent). bp_field.c copies a field and checks options; bp_kernel.c
 * exponentiates its couplings and tables; bp_message.c eliminates one end of an edge in the log domain; bp_sweep.c
 * sends outside the log domain, which is faster (bp_linear.c converts between both); bp_output.c turns messages into
 * beliefs, labels and values. trws.c uses the same arrays for its messages. loopy.c decodes with all of them. */
#ifndef INFER_BP_BP_H
#define INFER_BP_BP_H

#include "cleave/infer.h"
#include "cleave/oracle.h"
#include "infer/bp/bp_lanes.h"

/* How a node is eliminated: summed out, maximised over, or summed at its own temperature. */
enum bp_role { BP_SUMMED, BP_MAXIMISED, BP_SOFTENED };

enum bp_receivers { TO_EARLIER, TO_LATER, TO_ALL };

/* A message that a node sends: its slot, the slot of the message back, and the edge's table or coupling. */
struct bp_sent {
    int32_t out, back, table, target;
    bool is_back; /* from edges[e][1] to edges[e][0] */
};

/* Messages outside the log domain, in rows of whole vectors; allocated when first needed. */
struct bp_linear {
    int32_t *slot;          /* [2 n_edges] slot of an arc's message */
    struct bp_sent *sent;   /* [2 n_edges] of each node, those to earlier nodes first */
    int32_t *split;         /* [n_nodes] first entry of `sent` to a later node */
    bool *is_due;           /* [2 n_edges] per entry of `sent`: its inputs have changed since it was sent */
    bool is_lazy;           /* nodes send only messages that are due; all nodes are maximised */
    double *message;        /* [2 n_edges][row] maximum 1 */
    double *behind;         /* [largest degree][row] products of one node's messages */
    double *prior;          /* [n_nodes][row] exp(unary - its maximum) */
    double *belief, *shift; /* [n_nodes][row] exp(log belief - shift[n_nodes]), of bp_gather_linear */
    double *kernel;         /* [n_tables][row][row] of full tables: exp(table - top) */
    size_t node_capacity, edge_capacity, kernel_capacity, degree_capacity;
};

/* Factors of a Potts coupling c: for different labels, and 1 minus that. */
struct bp_potts {
    double differ, rest; /* exp(-c), 1 - exp(-c) */
};

/* Arc 2 e goes from edges[e][0] to edges[e][1], arc 2 e + 1 back, so that arc ^ 1 is its reverse. All scores are
 * divided by the temperature and all messages are logarithms whose maximum is 0. */
struct clv_bp {
    int32_t n_nodes, n_edges, n_labels; /* of the field that the arrays are for; n_nodes < 0: none */
    enum clv_pairwise form;
    bool is_shared; /* one table for all edges, and one of zeros for edges of fixed labels */
    int32_t (*edges)[2];
    int32_t *first;  /* [n_nodes + 1] into arc */
    int32_t *arc;    /* [2 n_edges] the arcs that leave each node */
    int32_t *order;  /* [n_nodes] breadth first from the lowest node of each component */
    int32_t *rank;   /* [n_nodes] index in `order` */
    int32_t *colour; /* [n_nodes] no two neighbours have the same; two colours if two are enough */
    int32_t n_colours;
    int32_t *by_colour;   /* [n_nodes] colour by colour */
    uint8_t *role;        /* [n_nodes] enum bp_role */
    int32_t *label;       /* [n_nodes] fixed, or CLV_UNKNOWN */
    int32_t *decoded;     /* [n_nodes] */
    double ratio;         /* temperature of softened nodes divided by that of the others */
    int32_t n_iterations; /* of the last run */
    bool is_converged;    /* the last run was */
    bool has_kernels;     /* exponentials belong to the current scores */
    bool is_linear;       /* current messages are those of `linear` */
    struct bp_linear linear;
    double *message;        /* [2 n_edges][n_labels] */
    double *unary;          /* [n_nodes][n_labels] */
    double *belief;         /* [n_nodes][n_labels] log of the unnormalised beliefs */
    int32_t *table;         /* [n_edges] index of the edge's table or coupling */
    double *pairwise;       /* [n_edges] couplings, or [n_tables][n_labels][n_labels] */
    double *top;            /* [n_tables] the largest entry */
    struct bp_potts *potts; /* [n_edges] */
    double *pair;           /* [n_labels][n_labels] of one edge, workspace */
    double cavity[CLV_BP_MAX_LABELS], outgoing[CLV_BP_MAX_LABELS]; /* of the message being sent */
};

static inline int32_t arc_source(const struct clv_bp *bp, int32_t arc)
{
    return bp->edges[arc >> 1][arc & 1];
}

static inline int32_t arc_target(const struct clv_bp *bp, int32_t arc)
{
    return bp->edges[arc >> 1][!(arc & 1)];
}

/* Returns the table of an edge with a full table. */
static inline const double *bp_table(const struct clv_bp *bp, size_t edge)
{
    return &bp->pairwise[(size_t)bp->table[edge] * (size_t)bp->n_labels * (size_t)bp->n_labels];
}

void bp_init(struct clv_bp *bp);
void bp_release(struct clv_bp *bp);

/* Returns whether an end has a fixed label: the table is 0 then, and its messages stay 0. */
static inline int bp_is_settled(const struct clv_bp *bp, int32_t edge)
{
    return bp->label[bp->edges[edge][0]] != CLV_UNKNOWN || bp->label[bp->edges[edge][1]] != CLV_UNKNOWN;
}

/* Refuses what clv_bp_run refuses. */
enum clv_status bp_check(const struct clv_field *field, const struct clv_bp_options *options,
                         struct clv_error *err) CLV_CHECK;

/* Copies a field's scores, and its graph if that differs from the previous one. Messages start from 0 if it does, or if
 * not is_warm. label[n_nodes] (or NULL) are fixed labels: their pairwise scores are added to the neighbours' unary
 * scores, and their edges score 0. */
enum clv_status bp_load(struct clv_bp *bp, const struct clv_field *field, double temperature, const int32_t *label,
                        bool is_warm, struct clv_error *err) CLV_CHECK;

/* Makes the next run on this field, with is_warm, start from messages[2 n_edges][n_labels] that bp_keep_messages wrote
 * after an earlier run. For callers that run many fields in turn. */
enum clv_status bp_resume(struct clv_bp *bp, const struct clv_field *field, const float *messages,
                          struct clv_error *err) CLV_CHECK;
void bp_keep_messages(float *messages, struct clv_bp *bp);

/* Sets belief[n_labels] to the node's unary scores plus its incoming messages. */
void bp_gather(double *belief, const struct clv_bp *bp, int32_t node);

enum bp_rule { BP_SUM_OUT, BP_MAX_OUT };

/* Sets out[n_labels] and returns a number r, so that out + r = log sum or max over the source's labels a of
 * exp(cavity[a] + pairwise[a][.]). Labels with cavity -inf are left out; at least one other must exist. */
double bp_eliminate(double *out, struct clv_bp *bp, int32_t arc, enum bp_rule rule, const double *cavity);

/* out[b] = ratio log sum_a exp((cavity[a] + pairwise[a][b]) / ratio), the arc's source first. */
void bp_soften(double *out, const struct clv_bp *bp, int32_t arc, const double *cavity);

static inline int bp_receives(const struct clv_bp *bp, int32_t arc, enum bp_receivers receivers)
{
    bool is_later = bp->rank[arc_target(bp, arc)] > bp->rank[arc_source(bp, arc)];
    return receivers == TO_ALL || is_later == (receivers == TO_LATER);
}

/* Computes exponentials of the couplings or tables, which only sums and messages outside the log domain need. */
enum clv_status bp_make_kernels(struct clv_bp *bp, struct clv_error *err) CLV_CHECK;

/* Messages outside the log domain, for nodes that are not softened. bp_enter_linear needs the kernels, and does nothing
 * if messages are too small. Messages of a sum-product run may stay in this form after the run. */
void bp_linear_release(struct bp_linear *linear);
void bp_enter_linear(struct clv_bp *bp);
void bp_take_priors(struct clv_bp *bp); /* new unary scores make all messages due */
void bp_leave_linear(struct clv_bp *bp);

/* bp_gather_linear computes all beliefs, also as logarithms in bp->belief, and returns 0 if precision could be lost.
 * bp_bethe_linear returns their Bethe value, as bp_bethe. */
int bp_gather_linear(struct clv_bp *bp);
double bp_bethe_linear(const struct clv_bp *bp);

/* Returns the score of the arc's edge when its source has label a and its target label b. */
double bp_pair_score(const struct clv_bp *bp, int32_t arc, size_t a, size_t b);

/* Sets bp->decoded: maximised nodes one after the other, each given those decided before; the most probable label of
 * other nodes. */
void bp_decode(struct clv_bp *bp);

/* Writes beliefs as clv_bp_run returns them, from bp->belief. bp_bethe and bp_mixed_value return values divided by the
 * temperature. */
void bp_write_beliefs(double *beliefs, const struct clv_bp *bp, double temperature);
double bp_bethe(struct clv_bp *bp);
double bp_mixed_value(struct clv_bp *bp);

/* Messages outside the log domain, for bp_sweep.c. */

/* If messages are at least SMALLEST_MESSAGE (their maximum is 1) and sums at least SMALLEST_SUM, terms that underflow
 * below 1e-308 are less than 1e-16 of any sum. If beliefs are at least SMALLEST_SUM, quotients of them are exact as
 * well. */
#define SMALLEST_MESSAGE 1e-30
#define SMALLEST_SUM     1e-200

static inline double *bp_message(const struct clv_bp *bp, int32_t arc)
{
    return &bp->linear.message[(size_t)bp->linear.slot[arc] * row_length(bp->n_labels)];
}

/* A pass in which all nodes send once, in the given order or backwards. */
struct bp_pass {
    const int32_t *nodes; /* [n_nodes] */
    bool is_backward;
    enum bp_receivers receivers;
    double enough; /* changes above this need not be exact in *factor below */
};

/* Raises *factor to the largest factor by which a message changed, minus 1. Returns the number of nodes that are done.
 * It is less than n_nodes if precision could be lost at the next node, which may have sent some of its messages; the
 * caller then continues in the log domain. */
int32_t bp_pass_linear(double *factor, struct clv_bp *bp, const struct bp_pass *which);

/* Sets total[count], of the edges from `first` on, to the sum over the labels of both ends of cavity cavity'
 * exp(pairwise), from linear.belief, up to the scale of beliefs and kernels. */
void bp_edge_sums(double *total, const struct clv_bp *bp, int32_t first, size_t count);

/* Computes a node's row of linear.belief. Returns false if precision could be lost. */
bool bp_gather_row(double *belief, const struct clv_bp *bp, int32_t node);

/* Decoding on graphs that are too wide for elimination. Belief propagation need not converge there, and its fixed point
 * depends on its start. So several candidates are computed, some of them started near the best labelling so far, and
 * the candidate of the highest value is taken:
 *
 *   rule          candidates                                             value
 *   MAP           the labellings of TRW-S and of max-product near it     f(y); TRW-S alone if its bound proves it
 *   marginals     sum-product from zero messages and near the MAP        Bethe's value of log Z
 *   marginal MAP  the labels of both rules above, then of mixed-product  Bethe's value of T log sum_h exp(f(y, h) / T)
 *                 near the better one
 *
 * Each run is repeated with more damping until its messages converge. */

/* Buffers. Zeros initialise them. For one thread at a time. */
struct loopy {
    struct clv_bp *bp;
    int32_t *labels; /* [3][n_nodes] */
    size_t capacity;
};
void loopy_release(struct loopy *self);

/* Decodes y[n_nodes] by the rule CLV_DECODE_MAP, CLV_DECODE_MARGINAL_MAP or CLV_DECODE_MARGINALS; is_visible as for
 * clv_oracle_decode. Refuses what clv_bp_run refuses. Takes at most a few hundred sweeps per candidate. */
enum clv_status loopy_decode(struct loopy *self, int32_t *y, const struct clv_field *field, const uint8_t *is_visible,
                             const struct clv_decoding *decoding, struct clv_error *err) CLV_CHECK;

#endif
