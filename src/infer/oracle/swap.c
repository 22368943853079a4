/* Alpha-beta swaps (Boykov, Veksler & Zabih, PAMI 2001): of the nodes labelled alpha or beta each may change to the other of the two,
 * the best such labelling by one minimum cut. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "infer/field_check.h"
#include "infer/oracle/moves.h"

/* The move's two-label field, 1 is beta, on the nodes that take part. */
struct swap {
    struct clv_field move;
    int32_t (*edges)[2]; /* between two of them */
    int32_t *nodes;      /* [move.n_nodes] their numbers in the whole field */
    int32_t *place;      /* [n_nodes] the other way round, or -1 */
    int32_t *best, *cut; /* [n_nodes] the labelling, the move's labels */
};

static enum clv_status check_tables(const struct clv_field *field, struct clv_error *err)
{
    int32_t k = field->form == CLV_PAIRWISE_FULL ? field->n_labels : 2; /* all pairs of labels are alike in Potts */
    for (int32_t e = 0; e < field->n_edges; e++)
        for (int32_t a = 0; a < k; a++)
            for (int32_t b = a + 1; b < k; b++) {
                double alike = pair_score(field, e, a, a) / 2 + pair_score(field, e, b, b) / 2;
                double apart = pair_score(field, e, a, b) / 2 + pair_score(field, e, b, a) / 2;
                double size = fabs(pair_score(field, e, a, a)) + fabs(pair_score(field, e, b, b)) +
                              fabs(pair_score(field, e, a, b)) + fabs(pair_score(field, e, b, a));
                if (alike - apart < -0x1p-42 * size) /* what rounding leaves of equal sums is none */
                    return fail(
                        err, CLV_ERR_DATA,
                        "edge %d (nodes %d and %d): labels %d and %d score more apart than alike, which no cut can "
                        "swap: %g + %g < %g + %g",
                        e, field->edges[e][0], field->edges[e][1], a, b, pair_score(field, e, a, a),
                        pair_score(field, e, b, b), pair_score(field, e, a, b), pair_score(field, e, b, a));
            }
    return CLV_OK;
}

/* What label beta is better than alpha at the end `side` of an edge whose other end keeps its label. */
static double side_score(const struct clv_field *field, int32_t edge, int side, int32_t kept, int32_t alpha,
                         int32_t beta)
{
    if (side == 0)
        return pair_score(field, edge, beta, kept) - pair_score(field, edge, alpha, kept);
    return pair_score(field, edge, kept, beta) - pair_score(field, edge, kept, alpha);
}

static void make_move(struct swap *swap, const struct clv_field *field, int32_t alpha, int32_t beta)
{
    struct clv_field *move = &swap->move;
    size_t k = (size_t)field->n_labels;
    move->n_nodes = move->n_edges = 0;
    for (int32_t i = 0; i < field->n_nodes; i++) {
        int takes_part = swap->best[i] == alpha || swap->best[i] == beta;
        swap->place[i] = takes_part ? move->n_nodes : -1;
        if (!takes_part)
            continue;
        move->unary[move->n_nodes] =
            field->unary[(size_t)i * k + (size_t)beta] - field->unary[(size_t)i * k + (size_t)alpha];
        swap->nodes[move->n_nodes++] = i;
    }
    for (int32_t e = 0; e < field->n_edges; e++) {
        int32_t a = swap->place[field->edges[e][0]], b = swap->place[field->edges[e][1]];
        if (a >= 0 && b < 0)
            move->unary[a] += side_score(field, e, 0, swap->best[field->edges[e][1]], alpha, beta);
        if (b >= 0 && a < 0)
            move->unary[b] += side_score(field, e, 1, swap->best[field->edges[e][0]], alpha, beta);
        if (a < 0 || b < 0)
            continue;
        double *table = &move->pairwise[4 * (size_t)move->n_edges];
        table[0] = pair_score(field, e, alpha, alpha);
        table[1] = pair_score(field, e, alpha, beta);
        table[2] = pair_score(field, e, beta, alpha);
        table[3] = pair_score(field, e, beta, beta);
        swap->edges[move->n_edges][0] = a;
        swap->edges[move->n_edges++][1] = b;
    }
}

/* Makes a swap if it helps; *score is the labelling's. */
static enum clv_status try_swap(struct swap *swap, double *score, int *has_helped, struct clv_oracle *oracle,
                                const struct clv_field *field, int32_t alpha, int32_t beta, struct clv_error *err)
{
    make_move(swap, field, alpha, beta);
    *has_helped = 0;
    if (!swap->move.n_nodes)
        return CLV_OK;
    enum clv_status status = clv_oracle_map(oracle, swap->cut, NULL, &swap->move, err);
    if (status)
        return status;
    for (int32_t p = 0; p < swap->move.n_nodes; p++) { /* the label before stays in cut[] */
        int32_t *label = &swap->best[swap->nodes[p]], before = *label;
        *label = swap->cut[p] ? beta : alpha;
        swap->cut[p] = before;
    }
    double value = clv_field_score(field, swap->best);
    *has_helped = value > *score;
    if (*has_helped)
        *score = value;
    for (int32_t p = 0; !*has_helped && p < swap->move.n_nodes; p++)
        swap->best[swap->nodes[p]] = swap->cut[p];
    return CLV_OK;
}

/* Until no pair of labels has a swap that helps. */
static enum clv_status swap_all(struct swap *swap, double *score, struct clv_oracle *oracle,
                                const struct clv_field *field, struct clv_error *err)
{
    int32_t k = field->n_labels, n_pairs = k * (k - 1) / 2;
    *score = clv_field_score(field, swap->best);
    for (int32_t idle = 0; idle < n_pairs;)
        for (int32_t alpha = 0; alpha < k; alpha++)
            for (int32_t beta = alpha + 1; beta < k && idle < n_pairs; beta++) {
                int has_helped;
                enum clv_status status = try_swap(swap, score, &has_helped, oracle, field, alpha, beta, err);
                if (status)
                    return status;
                idle = has_helped ? 0 : idle + 1;
            }
    return CLV_OK;
}

enum clv_status clv_oracle_swap(struct clv_oracle *oracle, int32_t *y, double *score, const struct clv_field *field,
                                struct clv_error *err)
{
    enum clv_status status = field_check(field, err);
    if (status)
        return status;
    if (field->n_labels == 2 || field->form == CLV_PAIRWISE_NONE)
        return clv_oracle_map(oracle, y, score, field, err);
    status = check_tables(field, err);
    if (status)
        return status;
    size_t n = (size_t)field->n_nodes, m = (size_t)field->n_edges;
    struct swap swap = {.move = {.n_labels = 2, .form = CLV_PAIRWISE_FULL}};
    double value;
    swap.edges = array_alloc(m, sizeof *swap.edges);
    swap.nodes = array_alloc(n, 4 * sizeof *swap.nodes);
    swap.move.unary = array_alloc(n, sizeof *swap.move.unary);
    swap.move.pairwise = array_alloc(m, 4 * sizeof *swap.move.pairwise);
    if (!swap.edges || !swap.nodes || !swap.move.unary || !swap.move.pairwise) {
        status = fail_memory(err);
        goto done;
    }
    swap.place = swap.nodes + n;
    swap.best = swap.place + n;
    swap.cut = swap.best + n;
    swap.move.edges = (const int32_t(*)[2])swap.edges;
    start_apart(swap.best, field);
    status = swap_all(&swap, &value, oracle, field, err);
    if (status)
        goto done;
    if (n)
        memcpy(y, swap.best, n * sizeof *y);
    if (score)
        *score = value;
done:
    array_free(swap.edges);
    array_free(swap.nodes);
    array_free(swap.move.unary);
    array_free(swap.move.pairwise);
    return status;
}
