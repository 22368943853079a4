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

/* Returns an oracle of the engine; NULL if this build lacks it. */
static struct clv_oracle *oracle_of(int engine)
{
    struct clv_oracle *oracle = NULL;
    if (engine != CLV_ENGINE_BK || clv_has_bk())
        must(clv_oracle_new(&oracle, (enum clv_engine)engine, err));
    return oracle;
}

/* Scales a drawn field so that the set's smallest size is 2^exponent. Its scores remain whole numbers of sizes. */
static void scale_to(struct hard *s, double *scaled, const double *unscaled, int exponent)
{
    int32_t n_unary = s->field.n_nodes * (s->field.n_labels == 2 ? 1 : s->field.n_labels);
    int32_t cells = s->field.form == CLV_PAIRWISE_FULL ? 4 : 1;
    for (int k = 0; k < N_SIZES; k++)
        scaled[k] = ldexp(unscaled[k], exponent - ilogb(unscaled[N_SIZES - 1]));
    s->sizes = scaled;
    for (int32_t i = 0; i < n_unary; i++)
        s->unary[i] = value_of(s, s->unaries[i]);
    for (int32_t e = 0; e < s->field.n_edges; e++)
        for (int32_t k = 0; k < cells; k++)
            s->pairwise[cells * e + k] = value_of(s, s->pairs[4 * e + k]);
}

/* Each draw on each set of sizes, which are so small that every field is cut without rounding, down to whole multiples
 * of the smallest double. */
TEST(fields_scaled_down_keep_their_labels)
{
    static const int exponents[] = {-1074, -1073, -1072, -1064, -1050, -1040};
    enum { N_EXPONENTS = sizeof exponents / sizeof *exponents };
    for (int engine = CLV_ENGINE_DEFAULT; engine <= CLV_ENGINE_CLEAVE; engine++) {
        OWNED(oracle_drop) struct clv_oracle *oracle = oracle_of(engine);
        for (uint64_t t = 0; oracle && t < 2500; t++)
            for (int set = 0; set < N_SETS; set++) {
                struct hard s;
                double scaled[N_SIZES];
                int exponent = exponents[(t / 2 + (uint64_t)set) % N_EXPONENTS];
                draw_hard(&s, t, t % 2 ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_POTTS, 2);
                scale_to(&s, scaled, sizes[set], sizes[set][N_SIZES - 1] < 0x1p-1022 ? -1074 : exponent);
                check_map(oracle, &s, t);
            }
    }
}

/* All tables of small whole numbers. The edge is there twice, so that only a cut solves the field. */
TEST(subnormal_tables_are_cut_or_refused_as_others_are)
{
    enum { RANGE = 7, N_TABLES = RANGE * RANGE * RANGE * RANGE };
    static const int32_t edges[2][2] = {{0, 1}, {1, 0}};
    OWNED(oracle_drop) struct clv_oracle *oracle = oracle_of(CLV_ENGINE_DEFAULT);
    int n_refused = 0;
    for (int code = 0; code < N_TABLES; code++) {
        struct clv_error failure;
        double unary[2] = {(code % 5 - 2) * 0x1p-1074, (code % 3 - 1) * 0x1p-1074}, pairwise[8] = {0};
        int32_t y[2], score[4], best = 0;
        for (int k = 0, rest = code; k < 4; k++, rest /= RANGE) {
            score[k] = rest % RANGE - RANGE / 2;
            pairwise[k] = score[k] * 0x1p-1074;
        }
        struct clv_field field = {2, 2, 2, CLV_PAIRWISE_FULL, edges, unary, pairwise, false};
        enum clv_status status = clv_oracle_map(oracle, y, NULL, &field, &failure);
        ck_assert_int_eq(status, score[0] + score[3] < score[1] + score[2] ? CLV_ERR_DATA : CLV_OK);
        n_refused += status != CLV_OK;
        for (int k = 0; k < 4; k++)
            score[k] += (k / 2) * (code % 5 - 2) + k % 2 * (code % 3 - 1);
        for (int k = 1; k < 4; k++) /* fewest 1s at ties; label 1 0 ties with 0 1 only if 0 0 or 1 1 is as good */
            best = score[k] > score[best] ? k : best;
        ck_assert_msg(status || 2 * y[0] + y[1] == best, "table %d: labels %d %d", code, y[0], y[1]);
    }
    ck_assert_int_gt(n_refused, N_TABLES / 3);
}

/* Moves of more labels: whole numbers and the same as multiples of 2^-1074. Some moves cannot be cut. */
TEST(subnormal_fields_are_expanded_and_swapped_as_others_are)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = oracle_of(CLV_ENGINE_DEFAULT);
    int n_solved = 0;
    for (uint64_t t = 0; t < 600; t++) {
        struct clv_error failure;
        uint64_t at = t << 8;
        double unary[2][3 * MAX_NODES], pairwise[2][9 * MAX_EDGES];
        int32_t edges[MAX_EDGES][2], y[2][MAX_NODES];
        for (int i = 0; i < 3 * MAX_NODES; i++) {
            unary[0][i] = (double)rng_below(SEED, 2, at++, 9) - 4;
            unary[1][i] = unary[0][i] * 0x1p-1074;
        }
        for (int e = 0; e < MAX_EDGES; e++) {
            edges[e][0] = (int32_t)rng_below(SEED, 2, at++, MAX_NODES);
            edges[e][1] = (edges[e][0] + 1 + (int32_t)rng_below(SEED, 2, at++, MAX_NODES - 1)) % MAX_NODES;
            for (int k = 0; k < 9; k++) {
                pairwise[0][9 * e + k] = (double)rng_below(SEED, 2, at++, 4) - (k % 4 ? 3 : 0);
                pairwise[1][9 * e + k] = pairwise[0][9 * e + k] * 0x1p-1074;
            }
        }
        for (int kind = 0; kind < 2; kind++) {
            enum clv_status status[2];
            for (int is_small = 0; is_small < 2; is_small++) {
                struct clv_field field = {.n_nodes = MAX_NODES,
                                          .n_edges = MAX_EDGES,
                                          .n_labels = 3,
                                          .form = CLV_PAIRWISE_FULL,
                                          .edges = (const int32_t(*)[2])edges,
                                          .unary = unary[is_small],
                                          .pairwise = pairwise[is_small]};
                status[is_small] =
                    (kind ? clv_oracle_swap : clv_oracle_expand)(oracle, y[is_small], NULL, &field, &failure);
            }
            ck_assert_msg(status[0] == status[1] && (status[0] || memcmp(y[0], y[1], sizeof *y) == 0),
                          "sample %d, kind %d", (int)t, kind);
            n_solved += status[0] == CLV_OK;
        }
    }
    ck_assert_int_gt(n_solved, 1000);
}

/* Gains of two tables cancel at both nodes; in a sum of doubles they take the unaries with them. */
TEST(unaries_beside_gains_that_cancel_are_not_lost)
{
    static const int32_t edges[2][2] = {{0, 1}, {1, 0}};
    OWNED(oracle_drop) struct clv_oracle *oracle = oracle_of(CLV_ENGINE_DEFAULT);
    for (int power = 900; power >= -1074; power--) {
        double u = ldexp(1, power), gain = ldexp(1, power + 60);
        double unary[2] = {u, u}, pairwise[8] = {0, -2 * gain, gain, 0, 0, -2 * gain, gain, 0};
        struct clv_field field = {2, 2, 2, CLV_PAIRWISE_FULL, edges, unary, pairwise, false};
        int32_t y[2];
        must(clv_oracle_map(oracle, y, NULL, &field, err));
        ck_assert_msg(y[0] == 1 && y[1] == 1, "unaries of 2^%d: labels %d %d", power, y[0], y[1]);
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
