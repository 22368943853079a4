#include "infer/infer.h"
#include "infer/random_field.h"
#include "support/exhaustive.h"
#include "support/requests.h"

static const struct clv_bp_options *within(double tolerance, int32_t max_iterations)
{
    static struct clv_bp_options options;
    clv_bp_defaults(&options);
    options.tolerance = tolerance;
    options.max_iterations = max_iterations;
    return &options;
}

TEST(trees_are_solved_and_the_bound_is_tight)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    int n_at_once = 0;
    for (uint64_t t = 0; t < 200; t++) {
        struct sample s;
        struct clv_trws_result result;
        int32_t y[MAX_NODES];
        double best, scale = t % 3 ? 2 : 0; /* whole numbers, so that there are ties */
        draw_sample(&s, t, form_of(t), -1, scale, scale);
        exhaustive(NULL, &best, NULL, NULL, &s.field);
        must(clv_bp_trws(bp, y, &result, &s.field, within(1e-10, 1000), err));
        ck_assert_int_eq(result.is_converged, 1);
        ck_assert_double_eq_tol(result.score, best, 1e-9);
        ck_assert_double_eq_tol(result.bound, best, 1e-6);
        ck_assert_double_eq(clv_field_score(&s.field, y), result.score);
        n_at_once += result.n_iterations == 1;
    }
    ck_assert_int_gt(n_at_once, 100); /* nothing more is done where bound and labelling meet */
}

/* Runs of 1, 2, 3.. iterations are the beginnings of one run. */
TEST(the_bound_never_rises_and_never_falls_below_the_maximum)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    int n_gaps = 0, n_exact = 0;
    for (uint64_t t = 0; t < 150; t++) {
        struct sample s;
        double best, before = INFINITY, best_score = -INFINITY;
        draw_sample(&s, t, form_of(t), 5, t % 4 ? 1 : 0, t % 4 ? 2 : 0);
        exhaustive(NULL, &best, NULL, NULL, &s.field);
        for (int32_t n = 1; n <= 30; n++) {
            struct clv_trws_result result;
            must(clv_bp_trws(bp, NULL, &result, &s.field, within(0, n), err));
            ck_assert_double_ge(result.bound, best - 1e-9);
            ck_assert_double_le(result.bound, before + 1e-9);
            ck_assert_double_le(result.score, best + 1e-9);
            ck_assert_double_ge(result.score, best_score);
            before = result.bound;
            best_score = result.score;
        }
        n_gaps += before > best + 1e-3;
        n_exact += fabs(best_score - best) < 1e-9;
    }
    ck_assert_int_gt(n_gaps, 10); /* the relaxation is one */
    ck_assert_int_gt(n_exact, 120);
}

TEST(supermodular_fields_of_two_labels_have_a_tight_bound)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    int n = 0;
    for (uint64_t t = 0; n < 80; t++) {
        struct sample s;
        struct clv_trws_result result;
        int32_t y[MAX_NODES];
        double best, cut;
        draw_sample(&s, t, form_of(t), 6, 1, 1);
        if (s.field.n_labels != 2)
            continue;
        n++;
        for (int32_t e = 0; s.field.form == CLV_PAIRWISE_FULL && e < s.field.n_edges; e++) {
            double *table = &s.pairwise[4 * e], lacking = table[1] + table[2] - table[0] - table[3];
            table[3] += lacking > 0 ? lacking : 0;
        }
        exhaustive(NULL, &best, NULL, NULL, &s.field);
        must(clv_oracle_map(oracle, y, &cut, &s.field, err));
        must(clv_bp_trws(bp, y, &result, &s.field, within(1e-12, 20000), err));
        ck_assert_double_eq_tol(cut, best, 1e-6);
        ck_assert_double_eq_tol(result.bound, best, 1e-6);
    }
}

/* From the messages of other scores on, and with some labels given. */
TEST(bounds_hold_from_any_messages_on)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    int n_exact = 0;
    for (uint64_t t = 0; t < 200; t++) {
        struct sample s;
        struct clv_trws_result result;
        int32_t y[MAX_NODES], z[MAX_NODES] = {0}, label[MAX_NODES];
        double best = -INFINITY;
        draw_sample(&s, t, form_of(t), 4, 1, 2);
        must(clv_bp_trws(bp, NULL, NULL, &s.field, within(0, 5), err));
        for (int32_t i = 0; i < s.field.n_nodes; i++) {
            int is_given = t % 2 && rng_below(SEED, 2, t * 100 + (uint64_t)i, 2);
            label[i] =
                is_given ? (int32_t)rng_below(SEED, 3, t * 100 + (uint64_t)i, (uint32_t)s.field.n_labels) : CLV_UNKNOWN;
        }
        for (int32_t c = 0; c < s.field.n_nodes * s.field.n_labels; c++)
            s.unary[c] += 0.3 * rng_normal(SEED, 4, t * 100 + (uint64_t)c);
        do {
            int agrees = 1;
            for (int32_t i = 0; i < s.field.n_nodes; i++)
                agrees &= label[i] == CLV_UNKNOWN || label[i] == z[i];
            best = agrees ? fmax(best, clv_field_score(&s.field, z)) : best;
        } while (next_labelling(z, &s.field));
        struct clv_bp_options options = *within(1e-9, 100);
        options.is_warm = t % 4 < 2 && t % 2 == 0;
        options.label = label;
        for (int again = 0; again < 2; again++) {
            must(clv_bp_trws(bp, y, &result, &s.field, &options, err));
            ck_assert_double_ge(result.bound, best - 1e-9);
            ck_assert_double_le(result.score, best + 1e-9);
            ck_assert_double_eq(clv_field_score(&s.field, y), result.score);
            for (int32_t i = 0; i < s.field.n_nodes; i++)
                ck_assert(label[i] == CLV_UNKNOWN || label[i] == y[i]);
            options.is_warm = 1;
        }
        n_exact += fabs(result.score - best) < 1e-9;
    }
    ck_assert_int_gt(n_exact, 170);
}

TEST(bad_requests_are_refused_and_failed_requests_survived)
{
    struct sample s;
    OWNED(bp_drop) struct clv_bp *bp = NULL;
    struct clv_trws_result result = {.n_iterations = 7};
    int32_t y[MAX_NODES];
    draw_sample(&s, 3, CLV_PAIRWISE_FULL, 4, 1, 1);
    must_survive_failed_requests(clv_bp_new(&bp, err));
    must_survive_failed_requests(clv_bp_trws(bp, y, &result, &s.field, within(1e-9, 100), err));
    result.n_iterations = 7;
    must_fail(CLV_ERR_USAGE, "tolerance of -1", clv_bp_trws(bp, y, &result, &s.field, within(-1, 100), err));
    must_fail(CLV_ERR_USAGE, "0 iterations", clv_bp_trws(bp, y, &result, &s.field, within(1, 0), err));
    s.pairwise[0] = NAN;
    must_fail(CLV_ERR_DATA, "edge 0", clv_bp_trws(bp, y, &result, &s.field, within(1, 1), err));
    ck_assert_int_eq(result.n_iterations, 7);
}
