#include "learn/hidden_dual.h"

#include <math.h>

#include "base/array.h"
#include "learn/toy.h"

#define NODES 5
#define TINY  1e-8 /* a temperature of 0 but for less than 1e-6 of any value here */

static const double temperatures[][2] = {{0, 0}, {0, 1}, {1, 1}, {0.5, 0.5}, {0, 0.3}, {0.2, 0.8}, {TINY, 1}};
#define N_TEMPERATURES (sizeof temperatures / sizeof *temperatures)

/* Hidden nodes between visible ones: n examples on chains, every second node hidden; is_star: the middle one alone, joined to two
 * others only, the rest apart; or loops of visible nodes. */
enum graph { CHAINS, PAIRS, LOOPS };

static void fill(struct random_problem *r, const struct clv_shape *shape, enum graph graph, uint64_t seed)
{
    random_problem_fill(r, shape, NODES, graph == LOOPS ? 0.7 : 0, 0.8, seed);
    if (graph != LOOPS) {
        r->problem.n_edges = graph == CHAINS ? NODES - 1 : 2;
        for (int32_t e = 0; e < r->problem.n_edges; e++) {
            r->edges[e][0] = graph == CHAINS ? e : 2 * e;
            r->edges[e][1] = r->edges[e][0] + 1;
            for (int32_t f = 0; f < shape->n_edge_features; f++)
                r->edge_features[e * shape->n_edge_features + f] =
                    (float)rng_uniform(seed, RNG_TEST, 60000 + (uint64_t)(8 * e + f));
        }
    }
    for (int32_t i = 1; i < NODES; i += 2) {
        r->label[i] = CLV_UNKNOWN;
        for (int32_t b = 0; b < shape->n_labels; b++)
            r->theta[i * shape->n_labels + b] = 0;
    }
}

static void toy_hidden(struct toy *toy, size_t n, const struct clv_shape *shape, enum graph graph, uint64_t seed)
{
    static struct random_problem r;
    toy_begin(toy, shape->n_labels, shape->n_features, shape->n_edge_features, shape->pairwise);
    for (size_t i = 0; i < n; i++) {
        fill(&r, shape, graph, seed * 1000 + i);
        toy_add(toy, &r.problem);
    }
}

static void random_weights(double *w, const struct clv_shape *shape, uint64_t seed)
{
    for (size_t k = 0; k < clv_shape_size(shape); k++) {
        w[k] = rng_normal(seed, RNG_TEST, 70000 + k);
        if (shape->pairwise == CLV_PAIRWISE_POTTS && k >= clv_shape_unary_size(shape))
            w[k] = fabs(w[k]);
    }
}

/* --- by definition ----------------------------------------------------------------------------------------------------------- */

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

static double score_of(const struct clv_problem *p, const struct clv_shape *shape, const double *w, const int32_t *y)
{
    double psi[64] = {0}, score = 0;
    clv_joint_feature_add(psi, p, shape, y, 1);
    for (size_t k = 0; k < clv_shape_size(shape); k++)
        score += psi[k] * w[k];
    return score;
}

/* T_h log sum_h exp(f(y, h) / T_h) of y's visible labels; y's hidden ones are 0 before and after. */
static double inner_value(const struct clv_problem *p, const struct clv_shape *shape, const double *w, int32_t *y,
                          double temperature)
{
    struct soft soft = {temperature, -INFINITY, 0};
    do
        soft_add(&soft, score_of(p, shape, w, y));
    while (next(y, p, shape->n_labels, false));
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

static double slow_free(const struct clv_problem *p, const struct clv_shape *shape, const double *w,
                        const struct hidden_settings *settings, double loss_scale)
{
    struct soft soft = {settings->visible_temperature, -INFINITY, 0};
    int32_t y[NODES] = {0};
    do
        soft_add(&soft, loss_scale * loss_of(p, shape->n_labels, y) +
                            inner_value(p, shape, w, y, settings->hidden_temperature));
    while (next(y, p, shape->n_labels, true));
    return soft_value(&soft);
}

static double slow_clamped(const struct clv_problem *p, const struct clv_shape *shape, const double *w,
                           const struct hidden_settings *settings)
{
    int32_t y[NODES];
    for (int32_t i = 0; i < p->n_nodes; i++)
        y[i] = p->label[i] == CLV_UNKNOWN ? 0 : p->label[i];
    return inner_value(p, shape, w, y, settings->hidden_temperature);
}

/* Mean of U over the toy's examples. */
static double slow_value(const struct toy *toy, const struct hidden *hidden, const double *w)
{
    double sum = 0;
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        sum += slow_free(&p, &toy->shape, w, &hidden->settings, hidden->settings.margin * hidden->unit) -
               slow_clamped(&p, &toy->shape, w, &hidden->settings);
    }
    return sum / (double)toy->n;
}

/* --- the objective ----------------------------------------------------------------------------------------------------------- */

static const struct clv_shape full3 = {3, 2, 2, CLV_PAIRWISE_FULL}, potts3 = {3, 2, 2, CLV_PAIRWISE_POTTS},
                              full2 = {2, 2, 1, CLV_PAIRWISE_FULL}, apart3 = {3, 2, 0, CLV_PAIRWISE_NONE};
static const struct clv_shape *const shapes[] = {&full3, &potts3, &full2, &apart3};

static void open_toy(struct hidden *hidden, struct clv_training *training, const struct toy *toy, double visible,
                     double hidden_temperature, double margin)
{
    *training = toy_training(toy, "mssvm");
    const struct hidden_settings settings = {visible, hidden_temperature, margin, 200, 0};
    must(hidden_open(hidden, training, &settings, err));
}

/* Values by enumeration, gradients by their differences. Where something is maximised over, a difference across a kink is no
 * derivative: those are seen by how it changes with the step. */
static void compare(const struct toy *toy, struct hidden *hidden, uint64_t seed, double tolerance)
{
    double w[64], gradient[64], free, clamped, h = 1e-5;
    int32_t all[8];
    int n_smooth = 0;
    for (size_t i = 0; i < toy->n; i++)
        all[i] = (int32_t)i;
    random_weights(w, &toy->shape, seed);
    must(hidden_gradient(gradient, &free, &clamped, hidden, HIDDEN_BOTH, all, toy->n, w, err));
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

START_TEST(gradients_are_those_of_the_objective_at_all_temperatures)
{
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t t = 0; t < N_TEMPERATURES; t++)
            for (uint64_t seed = 0; seed < 2; seed++) {
                struct toy toy;
                struct hidden hidden;
                struct clv_training training;
                toy_hidden(&toy, 3, shapes[s], CHAINS, seed);
                open_toy(&hidden, &training, &toy, temperatures[t][0], temperatures[t][1], seed ? 1 : 0.5);
                ck_assert_int_eq(hidden.items[0].free_by, HIDDEN_FOREST);
                ck_assert_int_eq(hidden.items[0].clamped_by, HIDDEN_FOREST);
                compare(&toy, &hidden, 100 * s + 10 * t + seed, 1e-9);
                hidden_release(&hidden);
                toy_release(&toy);
            }
}
END_TEST

/* On trees where no hidden node joins two visible ones belief propagation is exact, whatever the temperatures, but for its tolerance. */
START_TEST(belief_propagation_gives_the_same_where_it_is_exact)
{
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t t = 0; t + 1 < N_TEMPERATURES; t++) {
            struct toy toy;
            struct hidden hidden;
            struct clv_training training;
            toy_hidden(&toy, 3, shapes[s], PAIRS, s);
            open_toy(&hidden, &training, &toy, temperatures[t][0], temperatures[t][1], 1);
            for (size_t i = 0; i < toy.n; i++)
                hidden.items[i].free_by = hidden.items[i].clamped_by = HIDDEN_PROPAGATION;
            compare(&toy, &hidden, 7 * s + t, 1e-4);
            compare(&toy, &hidden, 7 * s + t, 1e-4);
            hidden_release(&hidden);
            toy_release(&toy);
        }
}
END_TEST

START_TEST(the_clamped_term_is_exact_among_loops_if_hidden_nodes_make_none)
{
    struct toy toy;
    struct hidden hidden;
    struct clv_training training;
    double w[64], gradient[64], clamped, sum = 0;
    const int32_t all[] = {0, 1, 2, 3};
    toy_hidden(&toy, 4, &full3, LOOPS, 3);
    open_toy(&hidden, &training, &toy, 0, 1, 1);
    random_weights(w, &full3, 5);
    must(hidden_gradient(gradient, NULL, &clamped, &hidden, HIDDEN_CLAMPED, all, 4, w, err));
    for (size_t i = 0; i < toy.n; i++) {
        struct clv_problem p = clv_dataset_problem(toy.dataset, i);
        ck_assert_int_eq(hidden.items[i].free_by, HIDDEN_PROPAGATION);
        ck_assert_int_eq(hidden.items[i].clamped_by, HIDDEN_FOREST);
        sum += slow_clamped(&p, &full3, w, &hidden.settings);
    }
    ck_assert_double_eq_tol(clamped, sum / 4, 1e-9);
    hidden_release(&hidden);
    toy_release(&toy);
}
END_TEST

/* Sums of terms at small temperatures are those of what is maximised over: lssvm, mssvm. At 1, 1 without loss it is hcrf's. */
START_TEST(temperatures_reach_the_methods_in_their_limits)
{
    static const double limits[][4] = {{TINY, TINY, 0, 0}, {TINY, 1, 0, 1}};
    const int32_t all[] = {0, 1, 2};
    struct toy toy;
    toy_hidden(&toy, 3, &full3, CHAINS, 9);
    for (size_t l = 0; l < 2; l++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            double value[2], w[64], gradient[64];
            random_weights(w, &full3, seed);
            for (int side = 0; side < 2; side++) {
                struct hidden hidden;
                struct clv_training training;
                double free, clamped;
                open_toy(&hidden, &training, &toy, limits[l][2 * side], limits[l][2 * side + 1], 1);
                must(hidden_gradient(gradient, &free, &clamped, &hidden, HIDDEN_BOTH, all, 3, w, err));
                value[side] = free - clamped;
                hidden_release(&hidden);
            }
            ck_assert_double_eq_tol(value[0], value[1], 1e-6);
        }
    struct hidden hidden;
    struct clv_training training;
    double w[64], gradient[64], free, clamped, likelihood = 0;
    random_weights(w, &full3, 1);
    open_toy(&hidden, &training, &toy, 1, 1, 0);
    must(hidden_gradient(gradient, &free, &clamped, &hidden, HIDDEN_BOTH, all, 3, w, err));
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
    hidden_release(&hidden);
    toy_release(&toy);
}
END_TEST

/* Lemma 1: U is at least the loss of what the annealed marginal MAP decodes. */
START_TEST(the_objective_bounds_the_loss)
{
    struct clv_oracle *oracle;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t seed = 0; seed < 12; seed++)
        for (size_t t = 0; t < N_TEMPERATURES; t++) {
            struct toy toy;
            struct hidden hidden;
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
                must(hidden_gradient(gradient, &free, &clamped, &hidden, HIDDEN_BOTH, &taken, 1, w, err));
                must(clv_oracle_decode(oracle, y, &field, is_visible, &decoding, err));
                ck_assert_double_ge(free - clamped, hidden.unit * loss_of(&p, 3, y) - 1e-9);
            }
            hidden_release(&hidden);
            toy_release(&toy);
        }
    clv_oracle_free(oracle);
}
END_TEST

/* --- training ---------------------------------------------------------------------------------------------------------------- */

static const char *const learners[] = {"mssvm", "lssvm", "hcrf", "eps"};

START_TEST(cccp_never_raises_its_objective)
{
    for (size_t l = 0; l < sizeof learners / sizeof *learners; l++)
        for (int paper = 0; paper < 2; paper++) {
            struct toy toy;
            toy_hidden(&toy, 6, &full3, CHAINS, 4);
            struct clv_training training = toy_training(&toy, learners[l]);
            set(&training, learners[l], "solver", 2);
            set(&training, learners[l], "inner", 8);
            set(&training, learners[l], "passes", 120);
            set(&training, learners[l], "curve", 1);
            set(&training, learners[l], "paper", paper);
            struct clv_training_result result = run(learners[l], &training);
            ck_assert_uint_eq(result.n_curve, 15);
            for (size_t k = 1; k < result.n_curve; k++)
                ck_assert_double_le(result.curve[k].objective, result.curve[k - 1].objective + 1e-9);
            ck_assert_double_lt(result.curve[14].objective, result.curve[0].objective);
            clv_training_result_release(&result);
            toy_release(&toy);
        }
}
END_TEST

/* P of the convex problem at w. */
static double surrogate(struct hidden *hidden, const struct hidden_dual *dual, const double *w, const int32_t *all)
{
    double unused[64], value, squares = 0, plane = 0;
    must(hidden_gradient(unused, &value, NULL, hidden, HIDDEN_FREE, all, hidden->examples.n, w, err));
    for (size_t k = 0; k < hidden->size; k++) {
        squares += w[k] * w[k];
        plane += w[k] * dual->plane[k];
    }
    return value + dual->point.lambda / 2 * squares - plane;
}

/* Weak duality with every plane and at any point, and no gap left in the end: the minimum, whatever the temperatures. Eleven
 * examples: more than are looked at side by side. */
START_TEST(the_dual_is_a_bound_that_its_passes_reach)
{
    for (size_t t = 0; t < N_TEMPERATURES; t++)
        for (int is_potts = 0; is_potts < 2; is_potts++) {
            struct toy toy;
            struct clv_training training;
            struct hidden hidden;
            struct hidden_dual dual;
            int32_t all[11] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
            double w[64], plane[64];
            const struct clv_shape *shape = is_potts ? &potts3 : &full3;
            toy_hidden(&toy, 11, shape, CHAINS, 30 + t);
            open_toy(&hidden, &training, &toy, temperatures[t][0], temperatures[t][1], 1);
            random_weights(w, shape, 1);
            must(hidden_dual_open(&dual, &hidden, 0.1, w, err));
            for (uint64_t round = 1; round <= 2; round++) {
                random_weights(w, shape, round);
                must(hidden_gradient(plane, NULL, NULL, &hidden, HIDDEN_CLAMPED, all, 11, w, err));
                hidden_dual_set_plane(&dual, plane);
                double before = hidden_dual_value(&dual);
                for (size_t pass = 0; pass < 400; pass++)
                    must(hidden_dual_pass(&dual, round, pass, err));
                double bound = hidden_dual_value(&dual), reached = surrogate(&hidden, &dual, dual.average, all);
                ck_assert_double_gt(bound, before);
                ck_assert_double_le(bound, reached + 1e-9);
                ck_assert_msg(reached - bound < 0.02 * fabs(reached), "temperatures %g %g: %g, bound %g",
                              temperatures[t][0], temperatures[t][1], reached, bound);
                ck_assert_double_le(bound, surrogate(&hidden, &dual, w, all));
            }
            hidden_dual_release(&dual);
            hidden_release(&hidden);
            toy_release(&toy);
        }
}
END_TEST

START_TEST(every_solver_comes_near_the_best_objective)
{
    for (size_t l = 0; l < sizeof learners / sizeof *learners; l++) {
        double lowest = INFINITY, objective[3];
        struct toy toy;
        toy_hidden(&toy, 6, &full3, CHAINS, 5);
        for (int solver = 0; solver < 3; solver++) {
            struct clv_training training = toy_training(&toy, learners[l]);
            set(&training, learners[l], "solver", solver);
            set(&training, learners[l], "batch", 2);
            set(&training, learners[l], "lambda", 0.05);
            struct clv_training_result result = run(learners[l], &training);
            objective[solver] = result.curve[result.n_curve - 1].objective;
            lowest = fmin(lowest, objective[solver]);
            clv_training_result_release(&result);
        }
        for (int solver = 0; solver < 3; solver++)
            ck_assert_msg(objective[solver] < (l == 1 ? 1.3 : 1.1) * lowest, "%s, solver %d: %g, another reaches %g",
                          learners[l], solver, objective[solver], lowest);
        toy_release(&toy);
    }
}
END_TEST

START_TEST(same_seed_same_bytes_at_any_thread_count)
{
    for (size_t l = 0; l < sizeof learners / sizeof *learners; l++)
        for (int graph = CHAINS; graph <= LOOPS; graph += LOOPS - CHAINS)
            for (int solver = 0; solver < 3; solver += 2) {
                struct toy toy;
                toy_hidden(&toy, 11, graph == LOOPS ? &potts3 : &full3, (enum graph)graph, 6);
                struct clv_training training = toy_training(&toy, learners[l]);
                set(&training, learners[l], "solver", solver);
                set(&training, learners[l], "passes", 12);
                set(&training, learners[l], "inner", 4);
                struct clv_training_result one = run(learners[l], &training);
                training.n_threads = 3;
                struct clv_training_result many = run(learners[l], &training);
                ck_assert_mem_eq(one.w, many.w, clv_shape_size(&toy.shape) * sizeof *one.w);
                ck_assert_uint_eq(one.n_curve, many.n_curve);
                for (size_t k = 0; k < one.n_curve; k++) {
                    ck_assert_double_eq(one.curve[k].objective, many.curve[k].objective);
                    ck_assert_double_eq(one.curve[k].train_loss, many.curve[k].train_loss);
                }
                ck_assert_uint_eq(one.n_notes, graph == LOOPS ? 2 : 0); /* chains are exact */
                for (size_t k = 0; k < one.n_notes; k++)
                    ck_assert_double_eq(one.notes[k].value, many.notes[k].value);
                if (graph == LOOPS) {
                    ck_assert_str_eq(one.notes[0].name, "sweeps_per_inference");
                    ck_assert(one.notes[0].value > 1 && one.notes[0].value <= 20);
                    ck_assert(one.notes[1].value > 0 && one.notes[1].value <= 1);
                }
                clv_training_result_release(&many);
                training.seed = 2;
                many = run(learners[l], &training);
                int is_random = solver == 0; /* in the order of its batches at least */
                ck_assert(!is_random || memcmp(one.w, many.w, clv_shape_size(&toy.shape) * sizeof *one.w) != 0);
                clv_training_result_release(&one);
                clv_training_result_release(&many);
                toy_release(&toy);
            }
}
END_TEST

START_TEST(sweeps_are_told_as_they_were_granted)
{
    struct toy toy;
    toy_hidden(&toy, 11, &potts3, LOOPS, 6);
    struct clv_training training = toy_training(&toy, learners[0]);
    set(&training, learners[0], "passes", 3);
    set(&training, learners[0], "sweeps", 1); /* nothing converges in the one that changes the messages */
    struct clv_training_result result = run(learners[0], &training);
    ck_assert_double_eq(result.notes[0].value, 1);
    ck_assert_double_lt(result.notes[1].value, 1);
    clv_training_result_release(&result);
    toy_release(&toy);
}
END_TEST

START_TEST(weights_to_start_from_are_where_training_goes_on)
{
    struct toy toy;
    double init[64];
    toy_hidden(&toy, 4, &full3, CHAINS, 8);
    struct clv_training training = toy_training(&toy, "hcrf");
    set(&training, "hcrf", "passes", 1);
    set(&training, "hcrf", "rate", 1e-9);
    random_weights(init, &full3, 1);
    training.init = init;
    struct clv_training_result result = run("hcrf", &training);
    for (size_t k = 0; k < clv_shape_size(&full3); k++)
        ck_assert_double_eq_tol(result.w[k], init[k], 1e-6);
    ck_assert_int_eq(result.decoding.rule, CLV_DECODE_MARGINALS);
    clv_training_result_release(&result);
    toy_release(&toy);
}
END_TEST

static int stop_now = 1;

START_TEST(an_interrupted_training_returns_what_it_has)
{
    struct toy toy;
    const struct clv_progress progress = {.stop = &stop_now};
    toy_hidden(&toy, 4, &full3, CHAINS, 8);
    for (int solver = 0; solver < 3; solver++) {
        struct clv_training training = toy_training(&toy, "mssvm");
        training.progress = &progress;
        set(&training, "mssvm", "solver", solver);
        struct clv_training_result result = run("mssvm", &training);
        ck_assert_int_eq(result.interrupted, 1);
        for (size_t k = 0; k < clv_shape_size(&full3); k++)
            ck_assert(isfinite(result.w[k]));
        clv_training_result_release(&result);
    }
    toy_release(&toy);
}
END_TEST

START_TEST(lack_of_memory_is_told_at_every_request)
{
    for (int graph = CHAINS; graph <= LOOPS; graph += LOOPS - CHAINS)
        for (int cells = 0; cells < 2; cells++) {
            struct toy toy;
            toy_hidden(&toy, 3, &full3, (enum graph)graph, 2);
            struct clv_training training = toy_training(&toy, "mssvm");
            set(&training, "mssvm", "solver", 2);
            set(&training, "mssvm", "passes", 4);
            set(&training, "mssvm", "inner", 2);
            set(&training, "mssvm", "cells", cells * 1e5);
            enum clv_status status = CLV_ERR_MEMORY;
            size_t request = 0;
            while (status == CLV_ERR_MEMORY) {
                struct clv_training_result result = {0};
                struct clv_error error = {0};
                array_fail_request(++request);
                status = clv_train(&result, clv_learner_find("mssvm"), &training, &error);
                array_fail_request(0);
                ck_assert_msg(status == CLV_OK || status == CLV_ERR_MEMORY, "%s", error.message);
                ck_assert((status == CLV_OK) == (result.w != NULL));
                clv_training_result_release(&result);
            }
            ck_assert_uint_gt(request, 20);
            toy_release(&toy);
        }
}
END_TEST

START_TEST(bad_parameters_are_refused)
{
    static const struct {
        const char *learner, *parameter;
        double value;
    } bad[] = {{"mssvm", "solver", 3}, {"mssvm", "solver", 0.5}, {"lssvm", "c", -1},     {"hcrf", "sweeps", 0},
               {"eps", "epsilon", 0},  {"eps", "epsilon", 1.5},  {"mssvm", "inner", 1},  {"mssvm", "lambda", 0},
               {"hcrf", "margin", -1}, {"mssvm", "rate", NAN},   {"mssvm", "batch", -2}, {"mssvm", "start", 1e9}};
    struct toy toy;
    toy_hidden(&toy, 2, &full3, CHAINS, 1);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct clv_training training = toy_training(&toy, bad[k].learner);
        struct clv_training_result result = {0};
        set(&training, bad[k].learner, bad[k].parameter, bad[k].value);
        must_fail(CLV_ERR_USAGE, bad[k].parameter,
                  clv_train(&result, clv_learner_find(bad[k].learner), &training, err));
        ck_assert_ptr_null(result.w);
    }
    toy_release(&toy);
}
END_TEST

Suite *hidden_suite(void)
{
    Suite *suite = suite_create("hidden");
    TCase *tests = tcase_create("hidden");
    tcase_add_test(tests, gradients_are_those_of_the_objective_at_all_temperatures);
    tcase_add_test(tests, belief_propagation_gives_the_same_where_it_is_exact);
    tcase_add_test(tests, the_clamped_term_is_exact_among_loops_if_hidden_nodes_make_none);
    tcase_add_test(tests, temperatures_reach_the_methods_in_their_limits);
    tcase_add_test(tests, the_objective_bounds_the_loss);
    tcase_add_test(tests, cccp_never_raises_its_objective);
    tcase_add_test(tests, the_dual_is_a_bound_that_its_passes_reach);
    tcase_add_test(tests, every_solver_comes_near_the_best_objective);
    tcase_add_test(tests, same_seed_same_bytes_at_any_thread_count);
    tcase_add_test(tests, sweeps_are_told_as_they_were_granted);
    tcase_add_test(tests, weights_to_start_from_are_where_training_goes_on);
    tcase_add_test(tests, an_interrupted_training_returns_what_it_has);
    tcase_add_test(tests, lack_of_memory_is_told_at_every_request);
    tcase_add_test(tests, bad_parameters_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
