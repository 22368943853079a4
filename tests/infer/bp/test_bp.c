#include "infer/infer.h"
#include "infer/random_field.h"
#include "support/exhaustive.h"
#include "support/requests.h"

TEST(marginals_and_log_partition_are_exact_on_trees)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    const double temperatures[] = {1, 0.25, 3};
    for (uint64_t t = 0; t < 240; t++) {
        struct sample s = {0};
        double beliefs[MAX_NODES * MAX_LABELS], marginals[MAX_NODES * MAX_LABELS], log_partition;
        struct clv_bp_options options;
        struct clv_bp_result result;
        draw_sample(&s, t, form_of(t), -1, 2, 2);
        clv_bp_defaults(&options);
        options.temperature = temperatures[t % 3];
        options.schedule = t / 2 % 2 ? CLV_BP_RED_BLACK : CLV_BP_SEQUENTIAL;
        options.damping = t % 5 ? 0 : 0.3;
        options.tolerance = 1e-12;
        must(clv_bp_run(bp, beliefs, NULL, &result, &s.field, &options, err));
        ck_assert_int_eq(result.is_converged, 1);
        ck_assert_double_le(result.change, options.tolerance);
        if (options.schedule == CLV_BP_SEQUENTIAL && options.damping == 0)
            ck_assert_int_le(result.n_iterations, 2);
        divide(&s, options.temperature);
        exhaustive(NULL, NULL, &log_partition, marginals, &s.field);
        assert_near(beliefs, marginals, s.field.n_nodes * s.field.n_labels, 1e-9);
        log_partition *= options.temperature;
        assert_near(&result.value, &log_partition, 1, 1e-9);
    }
}

/* values[n_nodes][n_labels]: the largest score with that label there, minus the largest of all; returns that. */
static double enumerate_max_marginals(double *values, const struct clv_field *field)
{
    int32_t y[MAX_NODES] = {0}, k = field->n_labels;
    double best = -INFINITY;
    for (int32_t c = 0; c < field->n_nodes * k; c++)
        values[c] = -INFINITY;
    do {
        double score = clv_field_score(field, y);
        best = fmax(best, score);
        for (int32_t i = 0; i < field->n_nodes; i++)
            values[i * k + y[i]] = fmax(values[i * k + y[i]], score);
    } while (next_labelling(y, field));
    for (int32_t c = 0; c < field->n_nodes * k; c++)
        values[c] -= best;
    return best;
}

TEST(max_product_finds_the_map_on_trees_ties_included)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    for (uint64_t t = 0; t < 300; t++) {
        struct sample s;
        int32_t y[MAX_NODES];
        double beliefs[MAX_NODES * MAX_LABELS], exact[MAX_NODES * MAX_LABELS];
        struct clv_bp_options options;
        struct clv_bp_result result;
        double scale = t % 3 ? 0 : 2; /* whole numbers in two of three */
        draw_sample(&s, t, form_of(t), -1, scale, scale);
        clv_bp_defaults(&options);
        options.mode = CLV_BP_MAX;
        options.schedule = t / 2 % 2 ? CLV_BP_RED_BLACK : CLV_BP_SEQUENTIAL;
        options.temperature = t % 7 ? 1 : 0.5; /* makes no difference */
        must(clv_bp_run(bp, beliefs, y, &result, &s.field, &options, err));
        ck_assert_int_eq(result.is_converged, 1);
        double best = enumerate_max_marginals(exact, &s.field);
        ck_assert_double_eq_tol(clv_field_score(&s.field, y), best, 1e-9);
        assert_near(beliefs, exact, s.field.n_nodes * s.field.n_labels, 1e-9);
    }
}

TEST(weak_loops_have_one_fixed_point_near_the_truth)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    for (uint64_t t = 0; t < 100; t++) {
        struct sample s;
        double first[MAX_NODES * MAX_LABELS], beliefs[MAX_NODES * MAX_LABELS], exact[MAX_NODES * MAX_LABELS];
        double log_partition, first_bethe = 0;
        draw_sample(&s, t, form_of(t), 4, 1, 0.03);
        exhaustive(NULL, NULL, &log_partition, exact, &s.field);
        for (int k = 0; k < 4; k++) {
            struct clv_bp_options options;
            struct clv_bp_result result;
            clv_bp_defaults(&options);
            options.schedule = k % 2 ? CLV_BP_RED_BLACK : CLV_BP_SEQUENTIAL;
            options.damping = k / 2 ? 0.4 : 0;
            options.tolerance = 1e-12;
            must(clv_bp_run(bp, k ? beliefs : first, NULL, &result, &s.field, &options, err));
            ck_assert_int_eq(result.is_converged, 1);
            if (k) {
                assert_near(beliefs, first, s.field.n_nodes * s.field.n_labels, 1e-10);
                assert_near(&result.value, &first_bethe, 1, 1e-10);
            }
            first_bethe = k ? first_bethe : result.value;
        }
        assert_near(first, exact, s.field.n_nodes * s.field.n_labels, 0.003);
        assert_near(&first_bethe, &log_partition, 1, 0.003);
    }
}

/* The fixed points of sum-product are the stationary points of the Bethe free energy, so that its derivative by a
 * unary score is the belief, on loops as well, where neither is exact. */
TEST(bethe_derivatives_are_the_beliefs_on_loops)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    for (uint64_t t = 0; t < 60; t++) {
        struct sample s;
        double beliefs[MAX_NODES * MAX_LABELS], other[2], step = 1e-4;
        struct clv_bp_options options;
        struct clv_bp_result result;
        draw_sample(&s, t, form_of(t), 4, 1, 0.3);
        clv_bp_defaults(&options);
        options.temperature = t % 3 ? 1 : 1.5;
        options.tolerance = 1e-13;
        options.max_iterations = 1000;
        must(clv_bp_run(bp, beliefs, NULL, &result, &s.field, &options, err));
        ck_assert_int_eq(result.is_converged, 1);
        int32_t k = s.field.n_labels, n_scores = s.field.n_nodes * (k == 2 ? 1 : k);
        for (int32_t c = 0; c < n_scores; c++) {
            for (int side = 0; side < 2; side++) {
                s.unary[c] += side ? -2 * step : step;
                must(clv_bp_run(bp, NULL, NULL, &result, &s.field, &options, err));
                other[side] = result.value;
            }
            s.unary[c] += step;
            ck_assert_double_eq_tol((other[0] - other[1]) / (2 * step), beliefs[k == 2 ? 2 * c + 1 : c], 1e-7);
        }
    }
}

/* Scores of every size, so that the linear domain lasts for all of a run, some of it or none; any damping keeps out of
 * it. */
TEST(the_linear_and_the_log_domain_agree)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    for (uint64_t t = 0; t < 600; t++) {
        struct sample s;
        double linear[MAX_NODES * MAX_LABELS], logarithmic[MAX_NODES * MAX_LABELS], scale = pow(2, (double)(t % 10));
        int32_t y[MAX_NODES], z[MAX_NODES];
        uint8_t is_visible[MAX_NODES];
        struct clv_bp_options options;
        struct clv_bp_result one, two;
        draw_sample(&s, t, form_of(t), t % 3 ? 4 : -1, scale, scale / 4);
        clv_bp_defaults(&options);
        options.mode = (enum clv_bp_mode)(t / 200);
        options.schedule = t / 2 % 2 ? CLV_BP_RED_BLACK : CLV_BP_SEQUENTIAL;
        options.max_iterations = 4;
        for (int32_t i = 0; i < MAX_NODES; i++)
            is_visible[i] = rng_below(SEED, 1, t * 100 + (uint64_t)i, 2) > 0;
        options.is_visible = is_visible;
        must(clv_bp_run(bp, linear, y, &one, &s.field, &options, err));
        options.damping = 1e-300;
        must(clv_bp_run(bp, logarithmic, z, &two, &s.field, &options, err));
        ck_assert_int_eq(one.n_iterations, two.n_iterations);
        assert_near(linear, logarithmic, s.field.n_nodes * s.field.n_labels, 1e-9 * fmax(scale, 1));
        ck_assert_mem_eq(y, z, (size_t)s.field.n_nodes * sizeof *y);
        ck_assert_double_eq_tol(one.value, two.value, 1e-9 * scale);
        if (one.is_converged)
            ck_assert_int_eq(two.is_converged, 1);
        else
            ck_assert_double_eq_tol(one.change, two.change, 1e-9 * scale);
    }
}

TEST(large_scores_stay_exact)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    for (uint64_t t = 0; t < 120; t++) {
        struct sample s;
        int32_t y[MAX_NODES];
        double scale = t % 3 == 0 ? 500 : t % 3 == 1 ? 1e5 : 1e90, score;
        double beliefs[MAX_NODES * MAX_LABELS], marginals[MAX_NODES * MAX_LABELS], log_partition;
        struct clv_bp_options options;
        struct clv_bp_result result;
        draw_sample(&s, t, form_of(t), -1, scale, scale);
        clv_bp_defaults(&options);
        must(clv_bp_run(bp, beliefs, NULL, &result, &s.field, &options, err));
        exhaustive(NULL, &score, &log_partition, marginals, &s.field);
        ck_assert_double_eq_tol(result.value, log_partition, 1e-13 * scale + 1e-9);
        assert_near(beliefs, marginals, s.field.n_nodes * s.field.n_labels, scale > 1e6 ? 0.5 : 1e-8);
        options.mode = CLV_BP_MAX;
        must(clv_bp_run(bp, NULL, y, NULL, &s.field, &options, err));
        ck_assert_double_eq_tol(clv_field_score(&s.field, y), score, 1e-14 * scale);
    }
}

TEST(frustrated_loops_are_reported_as_not_converged)
{
    int32_t edges[3][2] = {{0, 1}, {1, 2}, {0, 2}};
    double unary[3] = {0.1, -0.2, 0.3}, table[12];
    for (int c = 0; c < 12; c++)
        table[c] = c % 4 == 1 || c % 4 == 2 ? 8 : 0;
    struct clv_field field = {.n_nodes = 3,
                              .n_edges = 3,
                              .n_labels = 2,
                              .form = CLV_PAIRWISE_FULL,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = table};
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    struct clv_bp_options options;
    struct clv_bp_result result;
    double beliefs[6];
    clv_bp_defaults(&options);
    options.max_iterations = 3;
    must(clv_bp_run(bp, beliefs, NULL, &result, &field, &options, err));
    ck_assert_int_eq(result.is_converged, 0);
    ck_assert_int_eq(result.n_iterations, 3);
    ck_assert_double_gt(result.change, options.tolerance);
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq_tol(beliefs[2 * i] + beliefs[2 * i + 1], 1, 1e-12);
}

TEST(fields_without_edges_are_softmax_of_each_node)
{
    double unary[9] = {0, 1, 2, 5, 5, 0, -3, -3, -2}, beliefs[9], log_partition = 0;
    int32_t y[3];
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    for (int32_t n = 0; n <= 3; n++) {
        struct clv_field field = {.n_nodes = n, .n_labels = 3, .form = CLV_PAIRWISE_NONE, .unary = unary};
        for (int form = 0; form < 3; form++) {
            struct clv_bp_result result;
            field.form = (enum clv_pairwise)form;
            must(clv_bp_run(bp, beliefs, y, &result, &field, NULL, err));
            ck_assert_int_eq(result.is_converged, 1);
            ck_assert_int_eq(result.n_iterations, 1);
            ck_assert_double_eq_tol(result.value, log_partition, 1e-12);
        }
        for (int32_t c = 0; c < 3 * n; c++) {
            const double *row = &unary[c / 3 * 3];
            double total = exp(row[0]) + exp(row[1]) + exp(row[2]);
            ck_assert_double_eq_tol(beliefs[c], exp(unary[c]) / total, 1e-14);
        }
        if (n < 3)
            log_partition += log(exp(unary[3 * n]) + exp(unary[3 * n + 1]) + exp(unary[3 * n + 2]));
    }
    ck_assert(y[0] == 2 && y[1] == 0 && y[2] == 2); /* the lowest at ties */
}

TEST(runs_are_the_same_bytes_whatever_was_run_before)
{
    OWNED(bp_drop) struct clv_bp *used = new_bp();
    for (uint64_t t = 0; t < 60; t++) {
        struct sample s;
        double one[MAX_NODES * MAX_LABELS] = {0}, two[MAX_NODES * MAX_LABELS] = {0};
        int32_t y[2][MAX_NODES] = {{0}};
        struct clv_bp_options options;
        struct clv_bp_result result[2];
        OWNED(bp_drop) struct clv_bp *fresh = new_bp();
        draw_sample(&s, t / 2, form_of(t / 2), 3, 1, 1);
        clv_bp_defaults(&options);
        options.mode = t % 3 ? CLV_BP_SUM : CLV_BP_MAX;
        options.schedule = t % 4 ? CLV_BP_SEQUENTIAL : CLV_BP_RED_BLACK;
        options.max_iterations = 20;
        must(clv_bp_run(used, one, y[0], &result[0], &s.field, &options, err));
        must(clv_bp_run(fresh, two, y[1], &result[1], &s.field, &options, err));
        ck_assert_int_eq(memcmp(one, two, sizeof one), 0);
        ck_assert_int_eq(memcmp(y[0], y[1], sizeof y[0]), 0);
        ck_assert_int_eq(result[0].n_iterations, result[1].n_iterations);
        ck_assert(result[0].change == result[1].change);
        ck_assert(result[0].value == result[1].value || t % 3 == 0);
    }
}

TEST(bad_fields_are_refused_by_node_and_edge)
{
    int32_t edges[2][2] = {{0, 1}, {2, 1}}, y[3] = {7, 7, 7};
    double unary[9] = {0}, pairwise[18] = {0}, beliefs[9] = {7};
    struct clv_field field = {.n_nodes = 3,
                              .n_edges = 2,
                              .n_labels = 3,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = pairwise};
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    struct clv_bp_result result = {.n_iterations = 7};
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e101, -1e101};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        unary[4] = bad[k];
        must_fail(CLV_ERR_DATA, "node 1", clv_bp_run(bp, beliefs, y, &result, &field, NULL, err));
        unary[4] = 0;
        pairwise[1] = bad[k];
        must_fail(CLV_ERR_DATA, "edge 1", clv_bp_run(bp, beliefs, y, &result, &field, NULL, err));
        pairwise[1] = 0;
        field.form = CLV_PAIRWISE_FULL;
        pairwise[17] = bad[k];
        must_fail(CLV_ERR_DATA, "edge 1", clv_bp_run(bp, beliefs, y, &result, &field, NULL, err));
        pairwise[17] = 0;
        field.form = CLV_PAIRWISE_POTTS;
    }
    pairwise[1] = -0.5;
    must_fail(CLV_ERR_DATA, "edge 1: its coupling -0.5", clv_bp_run(bp, beliefs, y, &result, &field, NULL, err));
    pairwise[1] = 0;
    edges[1][0] = 3;
    must_fail(CLV_ERR_DATA, "edge 1", clv_bp_run(bp, beliefs, y, &result, &field, NULL, err));
    edges[1][0] = 1;
    must_fail(CLV_ERR_DATA, "edge 1", clv_bp_run(bp, beliefs, y, &result, &field, NULL, err));
    edges[1][0] = 2;
    field.n_labels = 0;
    must_fail(CLV_ERR_USAGE, "0 labels", clv_bp_run(bp, beliefs, y, &result, &field, NULL, err));
    ck_assert(beliefs[0] == 7 && y[0] == 7 && result.n_iterations == 7);
    clv_bp_free(NULL);
}

TEST(bad_options_are_refused_by_value)
{
    double unary[2] = {1, 2};
    uint8_t is_visible[2] = {1, 2};
    const int32_t too_high[2] = {CLV_UNKNOWN, 2}, too_low[2] = {-2, 0};
    struct clv_field field = {.n_nodes = 2, .n_labels = 2, .form = CLV_PAIRWISE_NONE, .unary = unary};
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    struct clv_bp_options good, options;
    clv_bp_defaults(&good);
#define REFUSED(part, change)                                                                                          \
    do {                                                                                                               \
        options = good;                                                                                                \
        options.change;                                                                                                \
        must_fail(CLV_ERR_USAGE, part, clv_bp_run(bp, NULL, NULL, NULL, &field, &options, err));                       \
    } while (0)
    REFUSED("mode 9", mode = (enum clv_bp_mode)9);
    REFUSED("schedule 9", schedule = (enum clv_bp_schedule)9);
    REFUSED("temperature of 0", temperature = 0);
    REFUSED("temperature of -1", temperature = -1);
    REFUSED("temperature of nan", temperature = (double)NAN);
    REFUSED("temperature of inf", temperature = (double)INFINITY);
    REFUSED("temperature of -1 of visible", visible_temperature = -1);
    REFUSED("temperature of nan of visible", visible_temperature = (double)NAN);
    REFUSED("node 1: it has label 2 of 2", label = too_high);
    REFUSED("node 0: it has label -2 of 2", label = too_low);
    REFUSED("start near label 2 of 2", near = too_high);
    REFUSED("start near label -2 of 2", near = too_low);
    REFUSED("damping of 1", damping = 1);
    REFUSED("damping of -0.1", damping = -0.1);
    REFUSED("damping of nan", damping = (double)NAN);
    REFUSED("tolerance of -1", tolerance = -1);
    REFUSED("tolerance of inf", tolerance = (double)INFINITY);
    REFUSED("0 iterations", max_iterations = 0);
    REFUSED("which nodes are visible", mode = CLV_BP_MIXED);
    good.is_visible = is_visible;
    REFUSED("node 1: is_visible is 2", mode = CLV_BP_MIXED);
    is_visible[0] = 2;
    REFUSED("node 0: is_visible is 2", mode = CLV_BP_MIXED);
#undef REFUSED
}

TEST(one_label_is_no_choice)
{
    int32_t edges[2][2] = {{0, 1}, {1, 2}}, y[3] = {7, 7, 7};
    double unary[3] = {1, 2, 4}, tables[2] = {8, 16}, beliefs[3], pairs[2];
    struct clv_field field = {.n_nodes = 3,
                              .n_edges = 2,
                              .n_labels = 1,
                              .form = CLV_PAIRWISE_FULL,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = tables};
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    struct clv_bp_options options;
    struct clv_bp_result result;
    clv_bp_defaults(&options);
    for (int mode = 0; mode < 2; mode++) {
        options.mode = mode ? CLV_BP_MAX : CLV_BP_SUM;
        must(clv_bp_run(bp, beliefs, y, &result, &field, &options, err));
        clv_bp_pair_beliefs(pairs, bp);
        ck_assert_double_eq_tol(result.value, 31, 1e-12);
        for (int i = 0; i < 3; i++)
            ck_assert(y[i] == 0 && beliefs[i] == !mode);
        ck_assert(pairs[0] == 1 && pairs[1] == 1);
    }
}

TEST(pair_beliefs_are_the_marginals_of_edges_and_agree_with_the_nodes)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    for (uint64_t t = 0; t < 120; t++) {
        struct sample s;
        double beliefs[MAX_NODES * MAX_LABELS], pairs[MAX_EDGES * MAX_LABELS * MAX_LABELS];
        double exact[MAX_EDGES * MAX_LABELS * MAX_LABELS] = {0}, log_partition;
        int is_tree = t % 2, y[MAX_NODES] = {0}, k;
        struct clv_bp_options options;
        struct clv_bp_result result;
        draw_sample(&s, t, form_of(t / 2), is_tree ? -1 : 4, 1, is_tree ? 2 : 0.2);
        clv_bp_defaults(&options);
        options.tolerance = 1e-12;
        must(clv_bp_run(bp, beliefs, NULL, &result, &s.field, &options, err));
        clv_bp_pair_beliefs(pairs, bp);
        k = s.field.n_labels;
        for (int32_t e = 0; e < s.field.n_edges; e++)
            for (int32_t a = 0; a < k; a++) {
                double row = 0, column = 0;
                for (int32_t b = 0; b < k; b++) {
                    row += pairs[(e * k + a) * k + b];
                    column += pairs[(e * k + b) * k + a];
                }
                ck_assert_double_eq_tol(row, beliefs[s.edges[e][0] * k + a], 1e-9);
                ck_assert_double_eq_tol(column, beliefs[s.edges[e][1] * k + a], 1e-9);
            }
        exhaustive(NULL, NULL, &log_partition, NULL, &s.field);
        do
            for (int32_t e = 0; e < s.field.n_edges; e++)
                exact[(e * k + y[s.edges[e][0]]) * k + y[s.edges[e][1]]] +=
                    exp(clv_field_score(&s.field, y) - log_partition);
        while (next_labelling(y, &s.field));
        assert_near(pairs, exact, s.field.n_edges * k * k, is_tree ? 1e-9 : 0.1);
    }
}

TEST(loss_augmented_maxima_are_exact_on_trees)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    for (uint64_t t = 0; t < 80; t++) {
        struct sample s;
        float theta[MAX_NODES * MAX_LABELS];
        int32_t y[MAX_NODES] = {0}, found[MAX_NODES];
        double best = -INFINITY;
        struct clv_bp_options options;
        struct clv_bp_result result;
        draw_sample(&s, t, form_of(t), -1, 1, 1);
        int32_t k = s.field.n_labels;
        for (int32_t c = 0; c < MAX_NODES * MAX_LABELS; c++)
            theta[c] = (float)rng_uniform(SEED, 9, t * 100 + (uint64_t)c);
        struct clv_problem problem = {.n_nodes = s.field.n_nodes, .theta = theta};
        do
            best = fmax(best, clv_field_score(&s.field, y) + clv_loss(&problem, k, y));
        while (next_labelling(y, &s.field));
        double constant = clv_field_add_loss(&s.field, &problem);
        clv_bp_defaults(&options);
        options.mode = CLV_BP_MAX;
        must(clv_bp_run(bp, NULL, found, &result, &s.field, &options, err));
        ck_assert_double_eq_tol(result.value + constant, best, 1e-9);
        ck_assert_double_eq_tol(clv_field_score(&s.field, found) + constant, best, 1e-9);
    }
}

TEST(failed_requests_leave_outputs_alone_and_the_next_run_right)
{
    struct sample s;
    OWNED(bp_drop) struct clv_bp *bp = NULL;
    double before[MAX_NODES * MAX_LABELS] = {7}, after[MAX_NODES * MAX_LABELS];
    draw_sample(&s, 2, CLV_PAIRWISE_FULL, -1, 1, 1);
    must_survive_failed_requests(clv_bp_new(&bp, err));
    for (size_t request = 1; request <= 4; request++) {
        array_fail_request(request);
        must_fail(CLV_ERR_MEMORY, "memory", clv_bp_run(bp, before, NULL, NULL, &s.field, NULL, err));
        array_fail_request(0);
        ck_assert(before[0] == 7);
    }
    must_survive_failed_requests(clv_bp_run(bp, before, NULL, NULL, &s.field, NULL, err));
    exhaustive(NULL, NULL, NULL, after, &s.field);
    assert_near(before, after, s.field.n_nodes * s.field.n_labels, 1e-9);
}
