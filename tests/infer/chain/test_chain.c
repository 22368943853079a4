#include <math.h>
#include <string.h>

#include "base/base.h"
#include "support/exhaustive.h"
#include "support/support.h"

#define MAX_NODES  6
#define MAX_LABELS 4

struct sample {
    double unary[MAX_NODES * MAX_LABELS], table[MAX_NODES * MAX_LABELS * MAX_LABELS];
    double tables[MAX_NODES * MAX_LABELS * MAX_LABELS]; /* one a link, for the field */
    int32_t edges[MAX_NODES][2];
    struct clv_chain chain;
    struct clv_field field;
};

/* A random chain, and the same as a field of three labels or more. Whole numbers in every other one, for ties. */
static void draw_sample(struct sample *s, uint64_t index)
{
    uint64_t at = index << 16;
    int32_t n = (int32_t)rng_below(4, 0, at++, MAX_NODES + 1), k = 3 + (int32_t)rng_below(4, 0, at++, 2);
    int is_shared = (int)rng_below(4, 0, at++, 2);
    for (int32_t c = 0; c < MAX_NODES * MAX_LABELS * MAX_LABELS; c++)
        s->table[c] = index % 2 ? rng_normal(4, 1, at++) : (double)rng_below(4, 1, at++, 3);
    for (int32_t c = 0; c < MAX_NODES * MAX_LABELS; c++)
        s->unary[c] = index % 2 ? rng_normal(4, 1, at++) : (double)rng_below(4, 1, at++, 3);
    for (int32_t i = 0; i + 1 < n; i++) {
        s->edges[i][0] = i;
        s->edges[i][1] = i + 1;
        memcpy(&s->tables[i * k * k], &s->table[is_shared ? 0 : i * k * k], (size_t)(k * k) * sizeof(double));
    }
    s->chain = (struct clv_chain){n, k, is_shared, s->unary, s->table};
    s->field = (struct clv_field){.n_nodes = n,
                                  .n_edges = n > 0 ? n - 1 : 0,
                                  .n_labels = k,
                                  .form = CLV_PAIRWISE_FULL,
                                  .edges = (const int32_t(*)[2])s->edges,
                                  .unary = s->unary,
                                  .pairwise = s->tables};
}

static int next_labelling(int32_t *y, const struct clv_field *field)
{
    for (int32_t i = 0; i < field->n_nodes; i++) {
        if (++y[i] < field->n_labels)
            return 1;
        y[i] = 0;
    }
    return 0;
}

static void compare_pairs(const double *pairs, const struct clv_field *field, double log_partition)
{
    double exact[MAX_NODES * MAX_LABELS * MAX_LABELS] = {0};
    int32_t y[MAX_NODES] = {0}, k = field->n_labels;
    do {
        double p = exp(clv_field_score(field, y) - log_partition);
        for (int32_t e = 0; e < field->n_edges; e++)
            exact[(e * k + y[e]) * k + y[e + 1]] += p;
    } while (next_labelling(y, field));
    for (int32_t c = 0; c < field->n_edges * k * k; c++)
        ck_assert_double_eq_tol(pairs[c], exact[c], 1e-10);
}

TEST(chains_equal_enumeration)
{
    for (uint64_t t = 0; t < 300; t++) {
        struct sample s;
        draw_sample(&s, t);
        int32_t y[MAX_NODES];
        double score, best, log_partition, exact_log, marginals[MAX_NODES * MAX_LABELS], exact[MAX_NODES * MAX_LABELS];
        double pairs[MAX_NODES * MAX_LABELS * MAX_LABELS];
        exhaustive(NULL, &best, &exact_log, exact, &s.field);
        must(clv_chain_map(y, &score, &s.chain, err));
        ck_assert_double_eq_tol(score, best, 1e-12);
        ck_assert_double_eq_tol(clv_field_score(&s.field, y), best, 1e-12);
        must(clv_chain_marginals(marginals, pairs, &log_partition, &s.chain, err));
        compare_pairs(pairs, &s.field, exact_log);
        ck_assert_double_eq_tol(log_partition, exact_log, 1e-10);
        for (int32_t c = 0; c < s.chain.n_nodes * s.chain.n_labels; c++)
            ck_assert_double_eq_tol(marginals[c], exact[c], 1e-10);
    }
}

/* Every witness is looked for among all labellings. */
TEST(max_marginals_and_counts_of_their_witnesses_equal_enumeration)
{
    for (uint64_t t = 1; t < 200; t += 2) { /* no ties */
        struct sample s;
        draw_sample(&s, t);
        int32_t n = s.chain.n_nodes, k = s.chain.n_labels;
        double found[MAX_NODES * MAX_LABELS], counts[MAX_NODES * MAX_LABELS], expected[MAX_NODES * MAX_LABELS] = {0};
        must(clv_chain_max_marginals(found, counts, &s.chain, err));
        for (int32_t c = 0; c < n * k; c++) {
            int32_t y[MAX_NODES] = {0}, witness[MAX_NODES] = {0};
            double best = -INFINITY;
            do {
                double score = clv_field_score(&s.field, y);
                if (y[c / k] == c % k && score > best) {
                    best = score;
                    memcpy(witness, y, sizeof witness);
                }
            } while (next_labelling(y, &s.field));
            ck_assert_double_eq_tol(found[c], best, 1e-12);
            for (int32_t i = 0; i < n; i++)
                expected[i * k + witness[i]]++;
        }
        ck_assert_mem_eq(counts, expected, (size_t)(n * k) * sizeof *counts);
        must(clv_chain_max_marginals(NULL, NULL, &s.chain, err));
    }
}

/* A lexicographic rule, last node first, by enumeration on whole numbers. */
TEST(ties_go_to_the_least_label_of_the_last_node_first)
{
    for (uint64_t t = 0; t < 100; t += 2) {
        struct sample s;
        draw_sample(&s, t);
        int32_t y[MAX_NODES], candidate[MAX_NODES] = {0}, first[MAX_NODES] = {0};
        double best = -INFINITY;
        do { /* node 0 runs fastest: the order of the rule */
            double score = clv_field_score(&s.field, candidate);
            if (score > best)
                memcpy(first, candidate, sizeof first);
            best = fmax(best, score);
        } while (next_labelling(candidate, &s.field));
        must(clv_chain_map(y, NULL, &s.chain, err));
        ck_assert_mem_eq(y, first, (size_t)s.chain.n_nodes * sizeof *y);
    }
}

/* Every row count that the loops treat apart, against the plain recursion. */
TEST(any_number_of_labels_gives_the_plain_recursion_s_values)
{
    enum { N = 3, K = 70 };
    static double unary[N * K], table[K * K];
    for (int32_t k = 1; k <= K; k++) {
        for (int32_t c = 0; c < K * K; c++)
            table[c] = 3 * rng_normal(4, 2, (uint64_t)(k * K * K + c));
        for (int32_t c = 0; c < N * K; c++)
            unary[c] = 3 * rng_normal(4, 3, (uint64_t)(k * N * K + c));
        struct clv_chain chain = {N, k, 1, unary, table};
        double best = -INFINITY, sum = 0, score, log_partition;
        int32_t y[N];
        for (int32_t a = 0; a < k; a++)
            for (int32_t b = 0; b < k; b++)
                for (int32_t c = 0; c < k; c++) {
                    double value = unary[a] + unary[k + b] + unary[2 * k + c] + table[a * k + b] + table[b * k + c];
                    best = fmax(best, value);
                    sum += exp(value);
                }
        must(clv_chain_map(y, &score, &chain, err));
        must(clv_chain_marginals(NULL, NULL, &log_partition, &chain, err));
        ck_assert_double_eq_tol(score, best, 1e-12);
        ck_assert_double_eq_tol(log_partition, log(sum), 1e-10);
    }
}

/* Scores of every size, so that most chains stay out of the log domain, some leave it, and some are forced out. */
TEST(large_scores_keep_marginals_exact)
{
    for (uint64_t t = 1; t < 200; t += 2) {
        struct sample s;
        draw_sample(&s, t);
        double scale = pow(3, (double)(t / 2 % 7)), log_partition, exact_log;
        double marginals[MAX_NODES * MAX_LABELS], exact[MAX_NODES * MAX_LABELS];
        double pairs[MAX_NODES * MAX_LABELS * MAX_LABELS];
        for (int32_t c = 0; c < MAX_NODES * MAX_LABELS * MAX_LABELS; c++) {
            s.table[c] *= scale;
            s.tables[c] *= scale;
        }
        for (int32_t c = 0; c < MAX_NODES * MAX_LABELS; c++)
            s.unary[c] *= scale;
        exhaustive(NULL, NULL, &exact_log, exact, &s.field);
        must(clv_chain_marginals(marginals, pairs, &log_partition, &s.chain, err));
        ck_assert_double_eq_tol(log_partition, exact_log, 1e-13 * scale + 1e-10);
        for (int32_t c = 0; c < s.chain.n_nodes * s.chain.n_labels; c++)
            ck_assert_double_eq_tol(marginals[c], exact[c], 1e-9);
        compare_pairs(pairs, &s.field, exact_log);
    }
}

TEST(long_chains_with_large_scores_stay_finite)
{
    enum { LENGTH = 5000 };
    static double unary[LENGTH * 2], marginals[LENGTH * 2];
    double table[4] = {900, -900, -900, 900}, log_partition;
    unary[0] = 1000;
    struct clv_chain chain = {LENGTH, 2, 1, unary, table};
    must(clv_chain_marginals(marginals, NULL, &log_partition, &chain, err));
    ck_assert_double_eq_tol(log_partition, 1000 + 900.0 * (LENGTH - 1), 1e-6);
    ck_assert_double_eq_tol(marginals[2 * LENGTH - 2], 1, 1e-12);
}

TEST(unsound_chains_are_refused_by_name)
{
    double unary[4] = {0, 0, NAN, 0}, table[4] = {0}, score;
    int32_t y[2];
    struct clv_chain chain = {2, 2, 0, unary, table};
    must_fail(CLV_ERR_DATA, "node 1", clv_chain_map(y, &score, &chain, err));
    unary[2] = 0;
    table[3] = INFINITY;
    must_fail(CLV_ERR_DATA, "link 0", clv_chain_marginals(NULL, NULL, &score, &chain, err));
    table[3] = -1.7e308;
    must_fail(CLV_ERR_DATA, "link 0: its pairwise score is -1.7e+308, and what", clv_chain_map(y, &score, &chain, err));
    table[3] = 0;
    unary[3] = 1e308;
    must_fail(CLV_ERR_DATA, "node 1", clv_chain_marginals(NULL, NULL, &score, &chain, err));
    chain.n_labels = 257;
    must_fail(CLV_ERR_USAGE, "257 labels", clv_chain_map(y, &score, &chain, err));
}
