/* The objective of learners with hidden nodes, by enumeration. */
#include "infer/infer.h"
#include "learn/hidden/hidden_toy.h"

/* T log sum exp(. / T) of values that come one by one. */
struct soft {
    double temperature, highest, sum;
};

static void soft_add(struct soft *soft, double value)
{
    double t = soft->temperature;
    if (value > soft->highest) {
        soft->sum = t > 0 && soft->sum > 0 ? soft->sum * exp((soft->highest - value) / t) : 0;
        soft->highest = value;
    }
    soft->sum += t > 0 ? exp((value - soft->highest) / t) : 0;
}

static double soft_value(const struct soft *soft)
{
    return soft->temperature > 0 ? soft->highest + soft->temperature * log(soft->sum) : soft->highest;
}

static bool next(int32_t *y, const struct clv_problem *p, int32_t n_labels, bool are_visible)
{
    for (int32_t i = 0; i < p->n_nodes; i++) {
        if ((p->label[i] != CLV_UNKNOWN) != are_visible)
            continue;
        if (++y[i] < n_labels)
            return true;
        y[i] = 0;
    }
    return false;
}

static double score_of(const struct clv_problem *p, const struct clv_weight_layout *layout, const double *w,
                       const int32_t *y)
{
    double psi[64] = {0}, score = 0;
    clv_joint_feature_add(psi, p, layout, y, 1);
    for (size_t k = 0; k < clv_weight_layout_size(layout); k++)
        score += psi[k] * w[k];
    return score;
}

/* T_h log sum_h exp(f(y, h) / T_h) of y's visible labels; y's hidden ones are 0 before and after. */
static double inner_value(const struct clv_problem *p, const struct clv_weight_layout *layout, const double *w,
                          int32_t *y, double temperature)
{
    struct soft soft = {temperature, -INFINITY, 0};
    do
        soft_add(&soft, score_of(p, layout, w, y));
    while (next(y, p, layout->n_labels, false));
    return soft_value(&soft);
}

static double loss_of(const struct clv_problem *p, int32_t n_labels, const int32_t *y)
{
    double loss = 0;
    for (int32_t i = 0; i < p->n_nodes; i++)
        for (int32_t b = 0; b < n_labels && p->label[i] != CLV_UNKNOWN; b++)
            loss += b != y[i] ? (double)p->theta[i * n_labels + b] : 0;
    return loss;
}

static double slow_free(const struct clv_problem *p, const struct clv_weight_layout *layout, const double *w,
                        const struct hidden_settings *settings, double loss_scale)
{
    struct soft soft = {settings->visible_temperature, -INFINITY, 0};
    int32_t y[NODES] = {0};
    do
        soft_add(&soft, loss_scale * loss_of(p, layout->n_labels, y) +
                            inner_value(p, layout, w, y, settings->hidden_temperature));
    while (next(y, p, layout->n_labels, true));
    return soft_value(&soft);
}

static double slow_clamped(const struct clv_problem *p, const struct clv_weight_layout *layout, const double *w,
                           const struct hidden_settings *settings)
{
    int32_t y[NODES];
    for (int32_t i = 0; i < p->n_nodes; i++)
        y[i] = p->label[i] == CLV_UNKNOWN ? 0 : p->label[i];
    return inner_value(p, layout, w, y, settings->hidden_temperature);
}

/* The loss is counted so that a known node weighs 1 on the mean. */
static double slow_unit(const struct toy *toy)
{
    double n_known = 0, weight = 0;
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        for (int32_t c = 0; c < p.n_nodes * toy->layout.n_labels; c++)
            weight += p.label[c / toy->layout.n_labels] == CLV_UNKNOWN ? 0 : (double)p.theta[c];
        for (int32_t node = 0; node < p.n_nodes; node++)
            n_known += p.label[node] != CLV_UNKNOWN;
    }
    return n_known / weight;
}

/* Mean of U over the toy's examples. */
static double slow_value(const struct toy *toy, const struct hidden *hidden, const double *w)
{
    double sum = 0, unit = slow_unit(toy);
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        sum += slow_free(&p, &toy->layout, w, &hidden->settings, hidden->settings.margin * unit) -
               slow_clamped(&p, &toy->layout, w, &hidden->settings);
    }
    return sum / (double)toy->n;
}

/* The objective. */

static const struct clv_weight_layout full2 = {2, 2, 1, CLV_PAIRWISE_FULL}, apart3 = {3, 2, 0, CLV_PAIRWISE_NONE};
static const struct clv_weight_layout *const shapes[] = {&full3, &potts3, &full2, &apart3};

/* Values by enumeration, gradients by their differences. Where something is maximised over, a difference across a kink
 * is not a derivative: those are seen by how it changes with the step. */
static void compare(const struct toy *toy, struct hidden *hidden, uint64_t seed, double tolerance)
{
    double w[64], gradient[64], free, clamped, h = 1e-5;
    int32_t all[8];
    int n_smooth = 0;
    for (size_t i = 0; i < toy->n; i++)
        all[i] = (int32_t)i;
    random_weights(w, &toy->layout, seed);
    must(hidden_gradient(gradient, &free, &clamped, hidden, &(struct hidden_pass){HIDDEN_BOTH, all, toy->n, w}, err));
    double value = slow_value(toy, hidden, w);
    ck_assert_msg(fabs(free - clamped - value) <= tolerance, "%.12g is not %.12g", free - clamped, value);
    for (size_t k = 0; k < hidden->size; k++) {
        double kept = w[k];
        w[k] = kept + h;
        double above = slow_value(toy, hidden, w);
        w[k] = kept - h;
        double below = slow_value(toy, hidden, w);
        w[k] = kept;
        if (fabs(above - 2 * value + below) > 1e-7)
            continue;
        n_smooth++;
        ck_assert_double_eq_tol(gradient[k], (above - below) / (2 * h), fmax(1e-5, tolerance));
    }
    ck_assert_int_gt(n_smooth, (int)hidden->size / 2);
}

TEST(gradients_are_those_of_the_objective_at_all_temperatures)
{
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t t = 0; t < N_TEMPERATURES; t++)
            for (uint64_t seed = 0; seed < 2; seed++) {
                OWNED(toy_release) struct toy toy = {0};
                OWNED(hidden_release) struct hidden hidden = {0};
                struct clv_training training;
                toy_hidden(&toy, 3, shapes[s], CHAINS, seed);
                open_toy(&hidden, &training, &toy, temperatures[t][0], temperatures[t][1], seed ? 1 : 0.5);
                ck_assert_int_eq(hidden.items[0].free_by, HIDDEN_FOREST);
                ck_assert_int_eq(hidden.items[0].clamped_by, HIDDEN_FOREST);
                compare(&toy, &hidden, 100 * s + 10 * t + seed, 1e-9);
            }
}

/* On trees where no hidden node joins two visible ones belief propagation is exact, whatever the temperatures, but for
 * its tolerance. */
TEST(belief_propagation_gives_the_same_where_it_is_exact)
{
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t t = 0; t + 1 < N_TEMPERATURES; t++) {
            OWNED(toy_release) struct toy toy = {0};
            OWNED(hidden_release) struct hidden hidden = {0};
            struct clv_training training;
            toy_hidden(&toy, 3, shapes[s], PAIRS, s);
            open_toy(&hidden, &training, &toy, temperatures[t][0], temperatures[t][1], 1);
            for (size_t i = 0; i < toy.n; i++)
                hidden.items[i].free_by = hidden.items[i].clamped_by = HIDDEN_PROPAGATION;
            compare(&toy, &hidden, 7 * s + t, 1e-4);
            compare(&toy, &hidden, 7 * s + t, 1e-4);
        }
}

TEST(the_clamped_term_is_exact_among_loops_if_hidden_nodes_make_none)
{
    OWNED(toy_release) struct toy toy = {0};
    OWNED(hidden_release) struct hidden hidden = {0};
    struct clv_training training;
    double w[64], gradient[64], clamped, sum = 0;
    const int32_t all[] = {0, 1, 2, 3};
    toy_hidden(&toy, 4, &full3, LOOPS, 3);
    open_toy(&hidden, &training, &toy, 0, 1, 1);
    random_weights(w, &full3, 5);
    must(hidden_gradient(gradient, NULL, &clamped, &hidden, &(struct hidden_pass){HIDDEN_CLAMPED, all, 4, w}, err));
    for (size_t i = 0; i < toy.n; i++) {
        struct clv_problem p = clv_dataset_problem(toy.dataset, i);
        ck_assert_int_eq(hidden.items[i].free_by, HIDDEN_PROPAGATION);
        ck_assert_int_eq(hidden.items[i].clamped_by, HIDDEN_FOREST);
        sum += slow_clamped(&p, &full3, w, &hidden.settings);
    }
    ck_assert_double_eq_tol(clamped, sum / 4, 1e-9);
}

/* Sums of terms at small temperatures are those of what is maximised over: lssvm, mssvm. At 1, 1 without loss it is
 * hcrf's. */
TEST(temperatures_reach_the_methods_in_their_limits)
{
    static const double limits[][4] = {{TINY, TINY, 0, 0}, {TINY, 1, 0, 1}};
    const int32_t all[] = {0, 1, 2};
    OWNED(toy_release) struct toy toy = {0};
    toy_hidden(&toy, 3, &full3, CHAINS, 9);
    for (size_t l = 0; l < 2; l++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            double value[2], w[64], gradient[64];
            random_weights(w, &full3, seed);
            for (int side = 0; side < 2; side++) {
                OWNED(hidden_release) struct hidden hidden = {0};
                struct clv_training training;
                double free, clamped;
                open_toy(&hidden, &training, &toy, limits[l][2 * side], limits[l][2 * side + 1], 1);
                must(hidden_gradient(gradient, &free, &clamped, &hidden, &(struct hidden_pass){HIDDEN_BOTH, all, 3, w},
                                     err));
                value[side] = free - clamped;
            }
            ck_assert_double_eq_tol(value[0], value[1], 1e-6);
        }
    OWNED(hidden_release) struct hidden hidden = {0};
    struct clv_training training;
    double w[64], gradient[64], free, clamped, likelihood = 0;
    random_weights(w, &full3, 1);
    open_toy(&hidden, &training, &toy, 1, 1, 0);
    must(hidden_gradient(gradient, &free, &clamped, &hidden, &(struct hidden_pass){HIDDEN_BOTH, all, 3, w}, err));
    for (size_t i = 0; i < 3; i++) { /* -log p(y | x), all by enumeration */
        struct clv_problem p = clv_dataset_problem(toy.dataset, i);
        struct soft all_labellings = {1, -INFINITY, 0};
        int32_t y[NODES] = {0};
        do
            do
                soft_add(&all_labellings, score_of(&p, &full3, w, y));
            while (next(y, &p, 3, false));
        while (next(y, &p, 3, true));
        likelihood += (soft_value(&all_labellings) - slow_clamped(&p, &full3, w, &hidden.settings)) / 3;
    }
    ck_assert_double_eq_tol(free - clamped, likelihood, 1e-6);
}

/* Lemma 1: U is at least the loss of what the annealed marginal MAP decodes. */
TEST(the_objective_bounds_the_loss)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t seed = 0; seed < 12; seed++)
        for (size_t t = 0; t < N_TEMPERATURES; t++) {
            OWNED(toy_release) struct toy toy = {0};
            OWNED(hidden_release) struct hidden hidden = {0};
            struct clv_training training;
            double w[64], gradient[64];
            int32_t y[NODES];
            toy_hidden(&toy, 3, &full3, CHAINS, seed);
            open_toy(&hidden, &training, &toy, temperatures[t][0], temperatures[t][1], 1);
            random_weights(w, &full3, seed);
            for (size_t i = 0; i < toy.n; i++) {
                struct clv_problem p = clv_dataset_problem(toy.dataset, i);
                const int32_t taken = (int32_t)i;
                double unary[NODES * 3], pairwise[4 * 9], free, clamped;
                uint8_t is_visible[NODES];
                struct clv_field field = {NODES, 4, 3, CLV_PAIRWISE_FULL, p.edges, unary, pairwise, 0};
                struct clv_decoding decoding = {CLV_DECODE_MARGINAL_MAP, temperatures[t][1]};
                if (temperatures[t][1] == 0)
                    decoding.rule = CLV_DECODE_MAP;
                clv_unary_scores(unary, &p, &full3, w);
                clv_pairwise_scores(pairwise, &p, &full3, w);
                for (int k = 0; k < NODES; k++)
                    is_visible[k] = p.label[k] != CLV_UNKNOWN;
                must(hidden_gradient(gradient, &free, &clamped, &hidden,
                                     &(struct hidden_pass){HIDDEN_BOTH, &taken, 1, w}, err));
                must(clv_oracle_decode(oracle, y, &field, is_visible, &decoding, err));
                ck_assert_double_ge(free - clamped, slow_unit(&toy) * loss_of(&p, 3, y) - 1e-9);
            }
        }
}

TEST(steps_of_many_examples_have_more_parts)
{
    static const size_t parts[][2] = {{1, 1}, {8, 8}, {10, 8}, {575, 8}, {576, 9}, {6400, 100}, {1000000, 256}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        ck_assert_uint_eq(hidden_parts(parts[i][0]), parts[i][1]);
}
