/* Fields whose numbers differ so much in size that no whole numbers of 30 bits hold them all. A score is a row of
 * small whole numbers, one a size, the largest first: sizes are so far apart that rows compare exactly as scores do. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/infer.h"
#include "support/support.h"

#define SEED       23
#define MAX_NODES  8
#define MAX_EDGES  15
#define MAX_LABELS 4
#define N_SIZES    4

struct score {
    int64_t times[N_SIZES];
};

static const double sizes[][N_SIZES] = {
    {0x1p33, 0x1p13, 0x1p3, 1},        /* 1e10, 1e4 and couplings that are hard by little */
    {0x1p132, 0x1p33, 0x1p13, 1},      /* 1e40 */
    {0x1p1000, 0x1p132, 0x1p33, 1},    /* 1e301 */
    {0x1p30, 1, 0x1p-1000, 0x1p-1074}, /* couplings below 2^-1000, subnormal */
    {0x1p-1010, 0x1p-1030, 0x1p-1050, 0x1p-1074},
    {0x1p10, 1, 0x1p-10, 0x1p-20},
};
enum { N_SETS = sizeof sizes / sizeof *sizes };

/* Whole numbers of one size each. */
struct number {
    int size;
    int64_t times;
};

struct hard {
    int32_t edges[MAX_EDGES][2];
    double unary[MAX_NODES * MAX_LABELS], pairwise[4 * MAX_EDGES];
    struct number unaries[MAX_NODES * MAX_LABELS], pairs[4 * MAX_EDGES];
    const double *sizes;
    struct clv_field field;
};

static struct number draw_number(uint64_t *at, bool is_large, int64_t least, int64_t most)
{
    int size = is_large ? (int)rng_below(SEED, 0, (*at)++, N_SIZES) : N_SIZES - 1;
    return (struct number){size, least + (int64_t)rng_below(SEED, 0, (*at)++, (uint32_t)(most - least + 1))};
}

static double value_of(const struct hard *s, struct number number)
{
    return (double)number.times * s->sizes[number.size];
}

/* Tables lose different amounts by labels 0 1 and 1 0; now and then they score more than equal labels. */
static void draw_pair(struct hard *s, uint64_t *at, int32_t e)
{
    struct number *pair = &s->pairs[4 * e];
    if (s->field.form == CLV_PAIRWISE_POTTS) {
        pair[0] = draw_number(at, true, 0, 3);
        s->pairwise[e] = value_of(s, pair[0]);
        return;
    }
    bool is_odd = rng_below(SEED, 0, (*at)++, 3) == 0;
    pair[0] = draw_number(at, false, 0, 3);
    pair[3] = draw_number(at, false, 0, 3);
    pair[1] = draw_number(at, true, is_odd ? -9 : -3, is_odd ? -6 : 0);
    pair[2] = is_odd ? draw_number(at, false, 4, 6) : draw_number(at, true, -3, 0);
    for (int k = 0; k < 4; k++)
        s->pairwise[4 * e + k] = value_of(s, pair[k]);
}

static void draw_hard(struct hard *s, uint64_t index, enum clv_pairwise form, int32_t n_labels)
{
    uint64_t at = index << 12;
    int32_t n = 2 + (int32_t)rng_below(SEED, 0, at++, n_labels > 2 ? 5 : MAX_NODES - 1);
    int32_t m = n - 1 + (int32_t)rng_below(SEED, 0, at++, MAX_EDGES - MAX_NODES + 2);
    s->sizes = sizes[index % N_SETS];
    s->field = (struct clv_field){.n_nodes = n,
                                  .n_edges = m,
                                  .n_labels = n_labels,
                                  .form = form,
                                  .edges = (const int32_t(*)[2])s->edges,
                                  .unary = s->unary,
                                  .pairwise = s->pairwise};
    for (int32_t i = 0; i < n * (n_labels == 2 ? 1 : n_labels); i++) {
        s->unaries[i] = draw_number(&at, rng_below(SEED, 0, at++, 4) == 0, -5, 5); /* now and then a seed */
        s->unary[i] = value_of(s, s->unaries[i]);
    }
    for (int32_t e = 0; e < m; e++) {
        s->edges[e][0] = e < n - 1 ? e : (int32_t)rng_below(SEED, 0, at++, (uint32_t)n);
        s->edges[e][1] = (s->edges[e][0] + 1 + (int32_t)rng_below(SEED, 0, at++, (uint32_t)n - 1)) % n;
        draw_pair(s, &at, e);
    }
}

static void add(struct score *score, struct number number, int64_t sign)
{
    score->times[number.size] += sign * number.times;
}

static struct score score_of(const struct hard *s, const int32_t *y)
{
    struct score score = {{0}};
    int32_t labels = s->field.n_labels;
    for (int32_t i = 0; i < s->field.n_nodes; i++)
        if (labels > 2 || y[i])
            add(&score, s->unaries[labels > 2 ? i * labels + y[i] : i], 1);
    for (int32_t e = 0; e < s->field.n_edges; e++) {
        int32_t a = y[s->edges[e][0]], b = y[s->edges[e][1]];
        if (s->field.form == CLV_PAIRWISE_FULL)
            add(&score, s->pairs[4 * e + 2 * a + b], 1);
        else if (a != b)
            add(&score, s->pairs[4 * e], -1);
    }
    return score;
}

/* The set with sizes that are no more than 2^10 apart has its carries done first. */
static int compare(const struct hard *s, struct score a, struct score b)
{
    int64_t difference[N_SIZES];
    for (int k = 0; k < N_SIZES; k++)
        difference[k] = a.times[k] - b.times[k];
    for (int k = N_SIZES - 1; k > 0; k--) {
        double ratio = s->sizes[k - 1] / s->sizes[k];
        if (ratio > 1e6)
            continue;
        int64_t whole = (int64_t)ratio, carry = difference[k] / whole;
        difference[k - 1] += carry;
        difference[k] -= carry * whole;
    }
    for (int k = 0; k < N_SIZES; k++)
        if (difference[k])
            return difference[k] > 0 ? 1 : -1;
    return 0;
}

static double difference_of(const struct hard *s, struct score a, struct score b)
{
    double difference = 0;
    for (int k = 0; k < N_SIZES; k++)
        difference += (double)(a.times[k] - b.times[k]) * s->sizes[k];
    return difference;
}

/* The best labelling in which `node` has `label` (node < 0: any), the one with the fewest 1s at ties of two labels. */
static struct score best_of(int32_t *best, const struct hard *s, int32_t node, int32_t label)
{
    int32_t n = s->field.n_nodes, labels = s->field.n_labels, n_labellings = 1, fewest = 0;
    int32_t y[MAX_NODES] = {0};
    struct score highest = {{0}};
    bool has_any = false;
    for (int32_t i = 0; i < n; i++)
        n_labellings *= labels;
    for (int32_t code = 0; code < n_labellings; code++) {
        int32_t rest = code, ones = 0;
        for (int32_t i = 0; i < n; i++, rest /= labels)
            ones += y[i] = rest % labels;
        if (node >= 0 && y[node] != label)
            continue;
        struct score score = score_of(s, y);
        int order = has_any ? compare(s, score, highest) : 1;
        if (order < 0 || (order == 0 && ones >= fewest))
            continue;
        has_any = true;
        highest = score;
        fewest = ones;
        memcpy(best, y, sizeof y);
    }
    return highest;
}

static void check_map(struct clv_oracle *oracle, const struct hard *s, uint64_t t)
{
    int32_t y[MAX_NODES], best[MAX_NODES];
    best_of(best, s, -1, 0);
    must(clv_oracle_map(oracle, y, NULL, &s->field, err));
    ck_assert_msg(memcmp(y, best, (size_t)s->field.n_nodes * sizeof *y) == 0, "sample %d", (int)t);
}

TEST(hard_couplings_are_cut_as_enumeration_says)
{
    for (int engine = CLV_ENGINE_DEFAULT; engine <= CLV_ENGINE_CLEAVE; engine++) {
        if (engine == CLV_ENGINE_BK && !clv_has_bk())
            continue;
        OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
        must(clv_oracle_new(&oracle, (enum clv_engine)engine, err));
        for (uint64_t t = 0; t < 4000; t++) {
            struct hard s;
            draw_hard(&s, t, t / N_SETS % 2 ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_POTTS, 2);
            check_map(oracle, &s, t);
        }
    }
}

/* Multiples of 2^51 that often tie, each with a small number added; nodes of their own make the field one of small
 * scores. Sums are whole numbers, so the best labelling with the fewest 1s is known exactly. */
TEST(ties_of_the_first_digits_are_decided_by_the_last_ones)
{
    enum { N = 4, M = 6, N_SMALL = 8, N_ALL = N + N_SMALL };
    static const int32_t edges[M][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}, {1, 3}};
    const uint32_t all = 1 << N;
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t t = 0, at = 0; t < 4000; t++) {
        int64_t number[N + M], highest = INT64_MIN;
        double unary[N_ALL], pairwise[M];
        int32_t y[N_ALL];
        uint32_t best = 0, found = 0;
        for (int k = 0; k < N + M; k++) {
            int64_t most = (int64_t)rng_below(SEED, 1, at++, k < N ? 5 : 2) - (k < N ? 2 : 0);
            number[k] = most * ((int64_t)1 << 51) + (int64_t)rng_below(SEED, 1, at++, 128);
            *(k < N ? &unary[k] : &pairwise[k - N]) = (double)number[k];
        }
        for (int i = N; i < N_ALL; i++)
            unary[i] = 1;
        struct clv_field field = {N_ALL, M, 2, CLV_PAIRWISE_POTTS, edges, unary, pairwise, false};
        for (uint32_t labels = 0; labels < all; labels++) {
            int64_t score = 0;
            for (int i = 0; i < N; i++)
                score += labels >> i & 1 ? number[i] : 0;
            for (int e = 0; e < M; e++)
                score -= (labels >> edges[e][0] ^ labels >> edges[e][1]) & 1 ? number[N + e] : 0;
            if (score > highest || (score == highest && __builtin_popcount(labels) < __builtin_popcount(best))) {
                highest = score;
                best = labels;
            }
        }
        must(clv_oracle_map(oracle, y, NULL, &field, err));
        for (int i = 0; i < N; i++)
            found |= (uint32_t)y[i] << i;
        ck_assert_msg(found == best, "sample %d: labels %x, %x are best", (int)t, found, best);
    }
}

struct clamp_check {
    const struct hard *s;
    const int32_t *y;
    struct score best;
    int n;
};

static void check_clamp(void *context, int32_t node, double cost, const int32_t *flipped, int32_t n_flipped)
{
    struct clamp_check *check = context;
    int32_t found[MAX_NODES], expected[MAX_NODES];
    size_t size = (size_t)check->s->field.n_nodes * sizeof *found;
    memcpy(found, check->y, size);
    for (int32_t k = 0; k < n_flipped; k++)
        found[flipped[k]] ^= 1;
    struct score forced = best_of(expected, check->s, node, !check->y[node]);
    ck_assert_int_eq(flipped[0], node);
    double right = difference_of(check->s, check->best, forced), least = fmin(check->s->sizes[0], 1);
    ck_assert_msg(fabs(cost - right) <= 1e-6 * (least + right), "node %d: %g, not %g", node, cost, right);
    /* Where a field is ordinary, rounding may choose among labellings that are as good. */
    ck_assert(memcmp(found, expected, size) == 0 || difference_of(check->s, forced, score_of(check->s, found)) < 1e-6);
    check->n++;
}

TEST(margins_beside_hard_couplings_are_those_of_forced_enumeration)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t t = 0; t < 600; t++) {
        struct hard s;
        int32_t y[MAX_NODES];
        draw_hard(&s, t, t / N_SETS % 2 ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_POTTS, 2);
        must(clv_oracle_map(oracle, y, NULL, &s.field, err));
        struct clamp_check check = {.s = &s, .y = y, .best = score_of(&s, y)};
        must(clv_oracle_witnesses(oracle, NULL, 0, check_clamp, &check, err));
        ck_assert_int_eq(check.n, s.field.n_nodes);
    }
}

static double sum_of_ranges(const struct clv_field *field)
{
    double sum = 0;
    for (int32_t i = 0; i < field->n_nodes; i++) {
        double lowest = INFINITY, highest = -INFINITY;
        for (int32_t l = 0; l < field->n_labels; l++) {
            lowest = fmin(lowest, field->unary[i * field->n_labels + l]);
            highest = fmax(highest, field->unary[i * field->n_labels + l]);
        }
        sum += highest - lowest;
    }
    return sum;
}

/* Expansion loses no more than what the best labelling's edges lose, however hard edges are that it does not cut. */
TEST(expansion_keeps_its_bound_beside_hard_couplings)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    int n_best = 0;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t t = 0; t < 1500; t++) {
        struct hard s;
        int32_t y[MAX_NODES], best[MAX_NODES];
        draw_hard(&s, t, CLV_PAIRWISE_POTTS, 3 + (int32_t)(t % 2));
        struct score highest = best_of(best, &s, -1, 0), bound = highest;
        for (int32_t e = 0; e < s.field.n_edges; e++)
            if (best[s.edges[e][0]] != best[s.edges[e][1]])
                add(&bound, s.pairs[4 * e], -1);
        for (int kind = 0; kind < 2; kind++) {
            must((kind ? clv_oracle_swap : clv_oracle_expand)(oracle, y, NULL, &s.field, err));
            struct score found = score_of(&s, y);
            ck_assert_msg(kind || compare(&s, found, bound) >= 0 ||
                              difference_of(&s, bound, found) <= 1e-6 * sum_of_ranges(&s.field),
                          "sample %d", (int)t);
            n_best += compare(&s, found, highest) == 0;
        }
    }
    ck_assert_int_gt(n_best, 2850);
}
