/* What belief propagation starts from: nothing, the messages before, or a labelling. */
#include "infer/infer.h"
#include "infer/random_field.h"

TEST(a_warm_start_goes_on_from_the_messages_before)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    for (uint64_t t = 0; t < 40; t++) {
        struct sample s;
        double cold[MAX_NODES * MAX_LABELS], warm[MAX_NODES * MAX_LABELS];
        struct clv_bp_options options;
        struct clv_bp_result first, again;
        draw_sample(&s, t, form_of(t), 4, 1, 0.3);
        clv_bp_defaults(&options);
        must(clv_bp_run(bp, cold, NULL, &first, &s.field, &options, err));
        ck_assert_int_eq(first.is_converged, 1);
        ck_assert_int_gt(first.n_iterations, 1);
        options.is_warm = 1;
        must(clv_bp_run(bp, warm, NULL, &again, &s.field, &options, err));
        ck_assert_int_eq(again.n_iterations, 1);
        assert_near(warm, cold, s.field.n_nodes * s.field.n_labels, 1e-8);
        s.field.n_nodes--; /* another graph: nothing to go on from */
        s.field.n_edges = 0;
        must(clv_bp_run(bp, warm, NULL, &again, &s.field, &options, err));
        ck_assert_int_eq(again.is_converged, 1);
    }
}

/* Undamped sum-product stays out of the log domain, damped runs are in it. */
TEST(a_warm_start_goes_on_from_one_domain_to_the_other)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    for (uint64_t t = 0; t < 40; t++) {
        struct sample s;
        double first[MAX_NODES * MAX_LABELS], next[MAX_NODES * MAX_LABELS];
        struct clv_bp_options options;
        struct clv_bp_result result;
        draw_sample(&s, t, form_of(t), 4, 1, 0.3);
        clv_bp_defaults(&options);
        must(clv_bp_run(bp, first, NULL, &result, &s.field, &options, err));
        ck_assert_int_eq(result.is_converged, 1);
        options.is_warm = 1;
        for (int run = 0; run < 4; run++) {
            options.damping = run % 2 ? 0 : 0.2;
            must(clv_bp_run(bp, next, NULL, &result, &s.field, &options, err));
            ck_assert_int_eq(result.n_iterations, 1);
            assert_near(next, first, s.field.n_nodes * s.field.n_labels, 1e-8);
        }
        options.is_warm = 0; /* forgets, in either domain */
        must(clv_bp_run(bp, next, NULL, &result, &s.field, &options, err));
        ck_assert_int_gt(result.n_iterations, 1);
    }
}

/* A grid whose neighbours agree and whose nodes know nothing: as many fixed points as labels, and a start in the
 * middle finds none of them. */
TEST(the_fixed_point_near_a_labelling_is_found)
{
    enum { SIDE = 6, N = SIDE * SIDE, K = 3 };
    double unary[N * K] = {0}, coupling[2 * N];
    int32_t edges[2 * N][2], near[N], y[N], m = 0;
    double beliefs[N * K];
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    for (int32_t i = 0; i < N; i++) {
        if (i % SIDE < SIDE - 1)
            memcpy(edges[m++], (int32_t[]){i, i + 1}, sizeof *edges);
        if (i < N - SIDE)
            memcpy(edges[m++], (int32_t[]){i, i + SIDE}, sizeof *edges);
    }
    for (int32_t e = 0; e < m; e++)
        coupling[e] = 1.5;
    const struct clv_field field = {N, m, K, CLV_PAIRWISE_POTTS, (const int32_t(*)[2])edges, unary, coupling, 0};
    struct clv_bp_options options;
    struct clv_bp_result from_nothing, result;
    clv_bp_defaults(&options);
    must(clv_bp_run(bp, beliefs, NULL, &from_nothing, &field, &options, err));
    ck_assert_double_eq_tol(beliefs[0], 1.0 / K, 1e-9);
    for (int32_t label = 0; label < K; label++)
        for (int mode = CLV_BP_SUM; mode <= CLV_BP_MAX; mode++) {
            options.mode = (enum clv_bp_mode)mode;
            options.damping = label == 1 ? 0.2 : 0;
            for (int32_t i = 0; i < N; i++)
                near[i] = i % 5 ? label : CLV_UNKNOWN;
            options.near = near;
            must(clv_bp_run(bp, beliefs, y, &result, &field, &options, err));
            ck_assert_int_eq(result.is_converged, 1);
            for (int32_t i = 0; i < N; i++)
                ck_assert_int_eq(y[i], label);
            if (mode == CLV_BP_MAX)
                continue;
            ck_assert_double_gt(result.value, from_nothing.value + 1);
            for (int32_t i = 0; i < N; i++)
                ck_assert_double_gt(beliefs[i * K + label], 0.8);
        }
}
