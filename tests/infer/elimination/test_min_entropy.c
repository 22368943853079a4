/* Minimum-entropy decoding against enumeration, and the slopes of its scores by finite differences. */
#include "infer/elimination/elimination.h"
#include "infer/infer.h"
#include "infer/random_field.h"
#include "support/requests.h"

/* A chain whose odd nodes are hidden, or, for odd indices of `index`, whose even ones are; the ends of its edges in
 * any order. */
static void draw_chain(struct sample *s, uint8_t *is_visible, uint64_t index)
{
    draw_sample(s, index, index % 3 ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_POTTS, -1, 1, 1.5);
    s->field.n_edges = s->field.n_nodes - 1;
    for (int32_t i = 0; i < s->field.n_nodes; i++)
        is_visible[i] = (i + (int32_t)index) % 2 == 0;
    for (int32_t e = 0; e < s->field.n_edges; e++) {
        s->edges[e][index % 5 == 0] = e;
        s->edges[e][index % 5 != 0] = e + 1;
        for (int32_t c = 0; c < 25; c++)
            s->pairwise[e * 25 + c] = rng_normal(SEED, 3, index * 1000 + (uint64_t)(e * 25 + c));
        s->pairwise[e] = s->field.form == CLV_PAIRWISE_POTTS ? fabs(s->pairwise[e]) : s->pairwise[e];
    }
}

/* s(y) by enumeration of h: (V_T - T V_1) / (1 - T), or at T = 1 the mean of f under p(h | y); at 0 its maximum. */
static double entropy_score(const struct clv_field *field, const int32_t *y, const uint8_t *is_visible, double t)
{
    int32_t z[MAX_NODES] = {0};
    double cold = -INFINITY, warm = -INFINITY, mean = 0;
    for (int pass = 0; pass < 2; pass++)
        do {
            int agrees = 1;
            for (int32_t i = 0; i < field->n_nodes; i++)
                agrees &= !is_visible[i] || z[i] == y[i];
            if (!agrees)
                continue;
            double score = clv_field_score(field, z);
            if (pass) {
                mean += exp(score - warm) * score;
                continue;
            }
            cold = t > 0 ? log_add(cold, score / t) : fmax(cold, score);
            warm = log_add(warm, score);
        } while (next_labelling(z, field));
    if (t == 1)
        return mean;
    return t > 0 ? (t * cold - t * warm) / (1 - t) : cold;
}

static const double temperatures[] = {0, 0.2, 0.5, 0.999, 1};
#define N_TEMPERATURES (sizeof temperatures / sizeof *temperatures)

TEST(labels_have_the_least_entropy_of_all)
{
    struct sample s;
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t index = 0; index < 60; index++) {
        int32_t found[MAX_NODES];
        uint8_t is_visible[MAX_NODES];
        draw_chain(&s, is_visible, index);
        struct clv_decoding decoding = {CLV_DECODE_MIN_ENTROPY, temperatures[index % N_TEMPERATURES]};
        must(clv_oracle_decode(oracle, found, &s.field, is_visible, &decoding, err));
        double best = -INFINITY;
        int32_t y[MAX_NODES] = {0};
        do {
            int first = 1; /* one labelling for each of the visible nodes */
            for (int32_t i = 0; i < s.field.n_nodes; i++)
                first &= is_visible[i] || y[i] == 0;
            if (first)
                best = fmax(best, entropy_score(&s.field, y, is_visible, decoding.hidden_temperature));
        } while (next_labelling(y, &s.field));
        ck_assert_double_eq_tol(entropy_score(&s.field, found, is_visible, decoding.hidden_temperature), best, 1e-9);
    }
}

TEST(scores_and_their_slopes_are_those_of_enumeration)
{
    struct sample s;
    OWNED(min_entropy_release) struct min_entropy workspace = {0};
    for (uint64_t index = 0; index < 25; index++) {
        int32_t y[MAX_NODES];
        uint8_t is_visible[MAX_NODES];
        double score, slope[MAX_NODES * MAX_LABELS], t = temperatures[index % N_TEMPERATURES];
        draw_chain(&s, is_visible, index);
        must(min_entropy_map(y, &workspace, &(struct min_entropy_terms){&s.field, is_visible, t}, err));
        for (int32_t i = 0; i < s.field.n_nodes; i++)
            y[i] = (int32_t)rng_below(SEED, 4, index * 100 + (uint64_t)i, (uint32_t)s.field.n_labels);
        min_entropy_slope(&score, slope, &workspace, &(struct min_entropy_terms){&s.field, is_visible, t}, y);
        ck_assert_double_eq_tol(score, entropy_score(&s.field, y, is_visible, t), 1e-9);
        int32_t k = s.field.n_labels, rows = k == 2 ? 1 : k;
        for (int32_t c = 0; c < s.field.n_nodes * rows; c++) {
            const double h = 1e-6, kept = s.unary[c];
            s.unary[c] = kept + h;
            double above = entropy_score(&s.field, y, is_visible, t);
            s.unary[c] = kept - h;
            double below = entropy_score(&s.field, y, is_visible, t);
            s.unary[c] = kept;
            ck_assert_double_eq_tol((above - below) / (2 * h), slope[k == 2 ? 2 * c + 1 : c], 1e-5);
        }
        for (int32_t e = 0; e < s.field.n_edges && s.field.form == CLV_PAIRWISE_FULL; e++)
            for (int32_t c = 0; c < k * k; c++) {
                const double h = 1e-6;
                double *entry = &s.pairwise[e * k * k + c], kept = *entry;
                *entry = kept + h;
                double above = entropy_score(&s.field, y, is_visible, t);
                *entry = kept - h;
                double below = entropy_score(&s.field, y, is_visible, t);
                *entry = kept;
                double expected = slope[s.edges[e][0] * k + c / k] * slope[s.edges[e][1] * k + c % k];
                ck_assert_double_eq_tol((above - below) / (2 * h), expected, 1e-5);
            }
    }
}

TEST(what_has_no_such_score_is_refused_by_name)
{
    struct sample s;
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    int32_t y[MAX_NODES];
    uint8_t is_visible[MAX_NODES] = {0, 0, 1, 1, 1, 1, 1, 1};
    struct clv_decoding decoding = {CLV_DECODE_MIN_ENTROPY, 0.5};
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    draw_sample(&s, 1, CLV_PAIRWISE_FULL, -1, 1, 1);
    s.field.n_nodes = 5;
    s.field.n_labels = 2;
    s.field.n_edges = 4;
    for (int32_t e = 0; e < 4; e++) {
        s.edges[e][0] = 0;
        s.edges[e][1] = e + 1;
    }
    must_fail(CLV_ERR_USAGE, "hidden nodes 0 and 1 are joined",
              clv_oracle_decode(oracle, y, &s.field, is_visible, &decoding, err));
    is_visible[1] = 1;
    must_fail(CLV_ERR_USAGE, "hidden node 0 joins more than two",
              clv_oracle_decode(oracle, y, &s.field, is_visible, &decoding, err));
    is_visible[0] = 1;
    must_survive_failed_requests(clv_oracle_decode(oracle, y, &s.field, is_visible, &decoding, err));
    decoding.hidden_temperature = 1.5;
    must_fail(CLV_ERR_USAGE, "1.5 is not in 0 to 1",
              clv_oracle_decode(oracle, y, &s.field, is_visible, &decoding, err));
}

/* The rule eliminates nodes of up to CLV_FOREST_MAX_LABELS labels, like clv_forest_run. */
TEST(fields_that_no_elimination_can_use_are_refused)
{
    enum { K = CLV_FOREST_MAX_LABELS + 1 };
    static double unary[3 * K], pairwise[2];
    static const uint8_t is_visible[3] = {1, 0, 1};
    int32_t edges[2][2] = {{0, 1}, {1, 2}}, y[3];
    OWNED(min_entropy_release) struct min_entropy workspace = {0};
    struct clv_field field = {.n_nodes = 3,
                              .n_edges = 2,
                              .n_labels = K,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = pairwise};
    const struct min_entropy_terms terms = {&field, is_visible, 0.5};
    must_fail(CLV_ERR_USAGE, "257 labels", min_entropy_map(y, &workspace, &terms, err));
    field.n_labels = 3;
    must(min_entropy_map(y, &workspace, &terms, err));
    edges[1][1] = 1 << 28;
    must_fail(CLV_ERR_DATA, "edge 1 joins nodes", min_entropy_map(y, &workspace, &terms, err));
    edges[1][1] = 2;
    unary[4] = NAN; /* of the hidden node, named as in the field */
    must_fail(CLV_ERR_DATA, "node 1", min_entropy_map(y, &workspace, &terms, err));
}
