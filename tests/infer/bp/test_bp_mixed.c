/* Mixed-product belief propagation: hidden nodes summed, visible ones maximised or summed at a temperature of their
 * own. */
#include "infer/infer.h"
#include "infer/random_field.h"
#include "support/exhaustive.h"

DROPS(forest_drop, struct clv_forest, clv_forest_free)

/* values[n_nodes][n_labels] at visible nodes: the largest log-sum over hidden labels with that label there; returns
 * the largest. */
static double enumerate_marginal_map(double *values, const struct clv_field *field, const uint8_t *is_visible,
                                     double temperature)
{
    static double sums[4096];
    int32_t y[MAX_NODES] = {0}, k = field->n_labels;
    double best = -INFINITY;
    for (size_t c = 0; c < 4096; c++)
        sums[c] = -INFINITY;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t c = 0; c < field->n_nodes * k; c++)
            values[c] = -INFINITY;
        do {
            size_t code = 0;
            for (int32_t i = 0; i < field->n_nodes; i++)
                code = is_visible[i] ? code * (size_t)k + (size_t)y[i] : code;
            if (pass == 0)
                sums[code] = log_add(sums[code], clv_field_score(field, y) / temperature);
            best = pass ? fmax(best, sums[code] * temperature) : best;
            for (int32_t i = 0; i < field->n_nodes; i++)
                values[i * k + y[i]] = fmax(values[i * k + y[i]], sums[code] * temperature);
        } while (next_labelling(y, field));
    }
    return best;
}

/* T log sum_h exp(f(y, h) / T). */
static double hidden_sum(const struct clv_field *field, const uint8_t *is_visible, const int32_t *labels,
                         double temperature)
{
    int32_t y[MAX_NODES] = {0};
    double sum = -INFINITY;
    do {
        bool fits = true;
        for (int32_t i = 0; i < field->n_nodes; i++)
            fits &= !is_visible[i] || y[i] == labels[i];
        if (fits)
            sum = log_add(sum, clv_field_score(field, y) / temperature);
    } while (next_labelling(y, field));
    return sum * temperature;
}

/* Nodes join earlier ones, so that with the first few visible, hidden ones hang off one visible node each: leaves,
 * chains, trees. */
TEST(mixed_product_is_exact_where_hidden_nodes_hang_off_visible_trees)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    int n_hidden = 0, differs_from_map = 0;
    for (uint64_t t = 0; t < 300; t++) {
        struct sample s;
        int32_t y[MAX_NODES], map[MAX_NODES];
        uint8_t is_visible[MAX_NODES];
        double beliefs[MAX_NODES * MAX_LABELS], exact[MAX_NODES * MAX_LABELS];
        struct clv_bp_options options;
        struct clv_bp_result result;
        draw_sample(&s, t, form_of(t), t % 3 ? 0 : -1, 1, 1.5);
        int32_t n = s.field.n_nodes, k = s.field.n_labels;
        int32_t n_visible = 1 + (int32_t)rng_below(SEED, 1, t, (uint32_t)n);
        n_hidden += n - n_visible;
        for (int32_t i = 0; i < n; i++)
            is_visible[i] = i < n_visible;
        clv_bp_defaults(&options);
        options.mode = CLV_BP_MIXED;
        options.is_visible = is_visible;
        options.temperature = t % 4 ? 1 : 0.5;
        options.schedule = t / 2 % 2 ? CLV_BP_RED_BLACK : CLV_BP_SEQUENTIAL;
        must(clv_bp_run(bp, beliefs, y, &result, &s.field, &options, err));
        ck_assert_int_eq(result.is_converged, 1);
        double best = enumerate_marginal_map(exact, &s.field, is_visible, options.temperature);
        ck_assert_double_eq_tol(hidden_sum(&s.field, is_visible, y, options.temperature), best, 1e-9);
        for (int32_t c = 0; c < n_visible * k; c++)
            ck_assert_double_eq_tol(beliefs[c], exact[c] - best, 1e-9);
        exhaustive(map, NULL, NULL, NULL, &s.field);
        differs_from_map += memcmp(map, y, (size_t)n_visible * sizeof *y) != 0;

        /* A hidden node's belief is its marginal given the visible labels. */
        for (int32_t i = 0; i < n_visible; i++)
            for (int32_t a = 0; a < k; a++)
                if (k > 2)
                    s.unary[i * k + a] += a == y[i] ? 1000 : 0;
                else if (a == y[i])
                    s.unary[i] += a ? 1000 : -1000;
        divide(&s, options.temperature);
        exhaustive(NULL, NULL, NULL, exact, &s.field);
        assert_near(&beliefs[n_visible * k], &exact[n_visible * k], (n - n_visible) * k, 1e-9);
    }
    ck_assert_int_ge(n_hidden, 300);
    ck_assert_int_ge(differs_from_map, 5);
}

TEST(mixed_with_one_kind_of_node_is_that_mode)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    for (uint64_t t = 0; t < 60; t++) {
        struct sample s;
        double one[MAX_NODES * MAX_LABELS] = {0}, two[MAX_NODES * MAX_LABELS] = {0};
        uint8_t is_visible[MAX_NODES];
        struct clv_bp_options options;
        draw_sample(&s, t, form_of(t), 3, 1, 1);
        clv_bp_defaults(&options);
        options.mode = t % 3 ? CLV_BP_SUM : CLV_BP_MAX;
        options.max_iterations = 5;
        memset(is_visible, options.mode == CLV_BP_MAX, sizeof is_visible);
        must(clv_bp_run(bp, one, NULL, NULL, &s.field, &options, err));
        options.mode = CLV_BP_MIXED;
        options.is_visible = is_visible;
        must(clv_bp_run(bp, two, NULL, NULL, &s.field, &options, err));
        assert_near(one, two, MAX_NODES * MAX_LABELS, 1e-10);
    }
}

/* An A-B tree: with the first few nodes visible and each other joining one before, hidden ones hang off one visible
 * node each. */
static int32_t draw_mixed(struct sample *s, uint8_t *is_visible, uint64_t t)
{
    draw_sample(s, t, form_of(t), t % 3 ? 0 : -1, 1, 1.5);
    int32_t n_visible = 1 + (int32_t)rng_below(SEED, 1, t, (uint32_t)s->field.n_nodes);
    for (int32_t i = 0; i < MAX_NODES; i++)
        is_visible[i] = i < n_visible;
    return n_visible;
}

TEST(two_temperatures_equal_elimination_on_such_trees)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    OWNED(forest_drop) struct clv_forest *forest = NULL;
    must(clv_forest_new(&forest, err));
    const double temperatures[][2] = {{0, 1}, {0.5, 1}, {1, 0.25}, {0.3, 0.7}, {0, 0.5}, {2, 1}};
    for (uint64_t t = 0; t < 300; t++) {
        struct sample s;
        uint8_t is_visible[MAX_NODES];
        double beliefs[MAX_NODES * MAX_LABELS], pairs[MAX_EDGES * MAX_LABELS * MAX_LABELS], value;
        double exact[MAX_NODES * MAX_LABELS], exact_pairs[MAX_EDGES * MAX_LABELS * MAX_LABELS];
        int32_t y[MAX_NODES], exact_y[MAX_NODES];
        struct clv_bp_options options;
        struct clv_bp_result result;
        draw_mixed(&s, is_visible, t);
        int32_t n = s.field.n_nodes, k = s.field.n_labels;
        struct clv_forest_options exactly = {is_visible, temperatures[t % 6][0], temperatures[t % 6][1], NULL};
        clv_bp_defaults(&options);
        options.mode = CLV_BP_MIXED;
        options.is_visible = is_visible;
        options.visible_temperature = exactly.visible_temperature;
        options.temperature = exactly.hidden_temperature;
        options.schedule = t / 2 % 2 ? CLV_BP_RED_BLACK : CLV_BP_SEQUENTIAL;
        must(clv_bp_run(bp, beliefs, y, &result, &s.field, &options, err));
        clv_bp_pair_beliefs(pairs, bp);
        must(clv_forest_run(forest, &value, exact, exact_pairs, exact_y, &s.field, &exactly, err));
        ck_assert_int_eq(result.is_converged, 1);
        ck_assert_double_eq_tol(result.value, value, 1e-8);
        assert_near(pairs, exact_pairs, s.field.n_edges * k * k, 1e-8);
        for (int32_t i = 0; i < n; i++)
            if (!is_visible[i] || exactly.visible_temperature > 0)
                assert_near(&beliefs[i * k], &exact[i * k], k, 1e-8);
            else
                ck_assert_int_eq(y[i], exact_y[i]);
    }
}

TEST(equal_temperatures_are_sum_product_on_loops_too)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    for (uint64_t t = 0; t < 80; t++) {
        struct sample s;
        uint8_t is_visible[MAX_NODES];
        double one[MAX_NODES * MAX_LABELS] = {0}, two[MAX_NODES * MAX_LABELS] = {0};
        double pairs[2][MAX_EDGES * MAX_LABELS * MAX_LABELS] = {{0}};
        struct clv_bp_options options;
        struct clv_bp_result result[2];
        draw_sample(&s, t, form_of(t), 4, 1, 0.3);
        for (int32_t i = 0; i < MAX_NODES; i++)
            is_visible[i] = rng_below(SEED, 2, t * 100 + (uint64_t)i, 2) == 0;
        clv_bp_defaults(&options);
        options.temperature = options.visible_temperature = t % 2 ? 1 : 0.6;
        options.tolerance = 1e-12;
        must(clv_bp_run(bp, one, NULL, &result[0], &s.field, &options, err));
        clv_bp_pair_beliefs(pairs[0], bp);
        options.mode = CLV_BP_MIXED;
        options.is_visible = is_visible;
        must(clv_bp_run(bp, two, NULL, &result[1], &s.field, &options, err));
        clv_bp_pair_beliefs(pairs[1], bp);
        assert_near(two, one, MAX_NODES * MAX_LABELS, 1e-9);
        assert_near(pairs[1], pairs[0], MAX_EDGES * MAX_LABELS * MAX_LABELS, 1e-9);
        ck_assert_double_eq_tol(result[1].value, result[0].value, 1e-8); /* two forms of the Bethe free energy */
    }
}

/* In every mode and form, against the field with the labels' scores made overwhelming. */
TEST(given_labels_equal_overwhelming_scores)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    for (uint64_t t = 0; t < 180; t++) {
        struct sample s;
        uint8_t is_visible[MAX_NODES];
        int32_t label[MAX_NODES], y[2][MAX_NODES];
        double beliefs[2][MAX_NODES * MAX_LABELS] = {{0}}, pairs[2][MAX_EDGES * MAX_LABELS * MAX_LABELS] = {{0}},
                                      bonus = 0;
        struct clv_bp_options options;
        struct clv_bp_result result[2];
        draw_mixed(&s, is_visible, t);
        int32_t n = s.field.n_nodes, k = s.field.n_labels;
        for (int32_t i = 0; i < MAX_NODES; i++)
            label[i] = rng_below(SEED, 3, t * 100 + (uint64_t)i, 2)
                           ? (int32_t)rng_below(SEED, 4, t * 100 + (uint64_t)i, (uint32_t)k)
                           : CLV_UNKNOWN;
        clv_bp_defaults(&options);
        options.mode = (enum clv_bp_mode)(t % 3);
        options.is_visible = is_visible;
        options.visible_temperature = t % 2 ? 0.5 : 0;
        options.label = label;
        must(clv_bp_run(bp, beliefs[0], y[0], &result[0], &s.field, &options, err));
        clv_bp_pair_beliefs(pairs[0], bp);
        for (int32_t i = 0; i < n; i++) {
            if (label[i] == CLV_UNKNOWN)
                continue;
            ck_assert_int_eq(y[0][i], label[i]);
            bonus += k > 2 || label[i] ? 1000 : 0;
            if (k > 2)
                s.unary[i * k + label[i]] += 1000;
            else
                s.unary[i] += label[i] ? 1000 : -1000;
        }
        options.label = NULL;
        must(clv_bp_run(bp, beliefs[1], y[1], &result[1], &s.field, &options, err));
        clv_bp_pair_beliefs(pairs[1], bp);
        ck_assert_double_eq_tol(result[1].value - bonus, result[0].value, 1e-8);
        ck_assert_mem_eq(y[0], y[1], (size_t)n * sizeof **y);
        assert_near(pairs[0], pairs[1], s.field.n_edges * k * k, 1e-8);
        for (int32_t i = 0; i < n; i++)
            if (label[i] == CLV_UNKNOWN)
                assert_near(&beliefs[0][i * k], &beliefs[1][i * k], k, 1e-8);
    }
}
