/* The baselines m3e and modlat: objectives by enumeration, gradients by finite differences, the limit they share. */
#include "learn/chains.h"

static struct clv_weight_layout layout = {3, 4, 2, CLV_PAIRWISE_FULL};
#define SIZE  (3 * 4 + 9 * 2) /* weights of three labels; of two there are fewer */
#define N_Y   ((size_t)layout.n_labels)
#define N_ALL clv_weight_layout_size(&layout)

/* Chains of up to 5 nodes whose odd nodes are hidden. */
static void toy_hidden_chains(struct toy *toy, size_t n)
{
    static struct random_problem r;
    toy_begin(toy, layout.n_labels, layout.n_features, layout.n_edge_features, layout.pairwise);
    for (size_t i = 0; i < n; i++) {
        int32_t n_nodes = 2 + (int32_t)(i % 4);
        random_chain(&r, &layout, n_nodes, false, 40 + i);
        for (int32_t e = 0; e < 2 * (n_nodes - 1); e++)
            r.edge_features[e] = (float)rng_normal(i, RNG_TEST, (uint64_t)e);
        for (int32_t k = 0; k < n_nodes; k++)
            for (int32_t b = 0; b < layout.n_labels; b++) {
                r.label[k] = k % 2 ? CLV_UNKNOWN : (int32_t)rng_below(i, RNG_TEST, 700 + (uint64_t)k, N_Y);
                r.theta[k * layout.n_labels + b] = b == r.label[k];
            }
        toy_add(toy, &r.problem);
    }
}

static void random_weights(double *w, uint64_t seed)
{
    for (uint64_t j = 0; j < SIZE; j++)
        w[j] = 0.7 * rng_normal(seed, RNG_TEST, j);
}

/* Plain steps in raw units, as the objectives are written: their walk can be followed. */
static void make_plain(struct clv_training *training, const char *learner)
{
    set(training, learner, "solver", 1);
    set(training, learner, "units", 1);
}

/* The curve's first objective, of the weights that training starts from. */
static double objective_at(const char *learner, struct clv_training *training, const double *w)
{
    training->init = w;
    OWNED(clv_training_result_release) struct clv_training_result result = run(learner, training);
    double objective = result.curve[0].objective;
    return objective;
}

TEST(m3e_steps_along_the_gradient_of_its_objective)
{
    static const double orders[] = {1, 2, 5, 1e9};
    for (int o = 0; o < 4; o++) {
        OWNED(toy_release) struct toy toy = {0};
        double w[SIZE];
        toy_hidden_chains(&toy, 5);
        random_weights(w, (uint64_t)o);
        struct clv_training training = toy_training(&toy, "m3e");
        make_plain(&training, "m3e");
        set(&training, "m3e", "passes", 1);
        set(&training, "m3e", "rate", 1);
        set(&training, "m3e", "C", 0.7);
        set(&training, "m3e", "order", orders[o]);
        training.init = w;
        OWNED(clv_training_result_release) struct clv_training_result result = run("m3e", &training);
        for (size_t j = 0; j < SIZE; j++) {
            const double h = 1e-6, kept = w[j];
            w[j] = kept + h;
            double above = objective_at("m3e", &training, w);
            w[j] = kept - h;
            double below = objective_at("m3e", &training, w);
            w[j] = kept;
            ck_assert_double_eq_tol(kept - result.w[j], (above - below) / (2 * h), 1e-5);
        }
        ck_assert_int_eq(result.decoding.rule, CLV_DECODE_MIN_ENTROPY);
    }
}

static double score_of(const struct clv_problem *p, const double *w, const int32_t *y)
{
    double psi[SIZE] = {0}, score = 0;
    clv_joint_feature_add(psi, p, &layout, y, 1);
    for (size_t j = 0; j < N_ALL; j++)
        score += psi[j] * w[j];
    return score;
}

static bool agrees(const struct clv_problem *p, const int32_t *y)
{
    for (int32_t i = 0; i < p->n_nodes; i++)
        if (p->label[i] != CLV_UNKNOWN && p->label[i] != y[i])
            return false;
    return true;
}

/* q[n_nodes][N_Y] = p_theta(h | y_i), and what w predicts. */
static void model_of(double *q, int32_t *predicted, const struct clv_problem *p, const double *w, const double *theta)
{
    int32_t y[RANDOM_MAX_NODES] = {0};
    double total = 0, best = -1e300;
    memset(q, 0, (size_t)p->n_nodes * N_Y * sizeof *q);
    do {
        double score = score_of(p, w, y), weight = agrees(p, y) ? exp(score_of(p, theta, y)) : 0;
        total += weight;
        for (int32_t i = 0; i < p->n_nodes; i++)
            q[i * layout.n_labels + y[i]] += weight;
        if (score > best) {
            best = score;
            memcpy(predicted, y, (size_t)p->n_nodes * sizeof *y);
        }
    } while (next_labelling(y, p->n_nodes, layout.n_labels));
    for (int32_t c = 0; c < p->n_nodes * layout.n_labels; c++)
        q[c] /= total;
}

static double squares_of(const double *w)
{
    double squares = 0;
    for (size_t j = 0; j < N_ALL; j++)
        squares += w[j] * w[j];
    return squares / 2;
}

/* The line of theta in src/learn/latent/modlat.c. */
static double theta_objective(const struct toy *toy, const double *w, const double *theta, double beta)
{
    double sum = squares_of(theta);
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        double q[3 * RANDOM_MAX_NODES];
        int32_t predicted[RANDOM_MAX_NODES];
        model_of(q, predicted, &p, w, theta);
        for (int32_t k = 1; k < p.n_nodes; k += 2) {
            const double *of_node = q + k * layout.n_labels;
            sum += 1 - of_node[predicted[k]] - beta;
            for (size_t s = 0; s < N_Y; s++)
                sum += beta * of_node[s] * of_node[s];
        }
    }
    return sum;
}

/* The line of w there. */
static double w_objective(const struct toy *toy, const double *w, const double *before, const double *theta)
{
    double sum = squares_of(w);
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        double q[3 * RANDOM_MAX_NODES], best = -1e300, truth = -1e300;
        int32_t y[RANDOM_MAX_NODES] = {0}, predicted[RANDOM_MAX_NODES];
        model_of(q, predicted, &p, before, theta);
        do {
            double score = score_of(&p, w, y), loss = 0;
            for (int32_t k = 0; k < p.n_nodes; k++)
                loss += k % 2 ? 1 - q[k * layout.n_labels + y[k]] : y[k] != p.label[k];
            best = fmax(best, score + loss);
            if (agrees(&p, y))
                truth = fmax(truth, score);
        } while (next_labelling(y, p.n_nodes, layout.n_labels));
        sum += best - truth;
    }
    return sum;
}

static void take_turns(int32_t n_labels)
{
    OWNED(toy_release) struct toy toy = {0};
    double w[SIZE], theta[SIZE], begin[SIZE], moved_to_zero[SIZE];
    const double h = 1e-6, rate = 0.01, beta = 0.3;
    layout.n_labels = n_labels;
    toy_hidden_chains(&toy, 5);
    random_weights(begin, 9);
    struct clv_training training = toy_training(&toy, "modlat");
    make_plain(&training, "modlat");
    set(&training, "modlat", "C", 1);
    set(&training, "modlat", "rounds", 1);
    set(&training, "modlat", "passes", 2);
    set(&training, "modlat", "rate", rate);
    set(&training, "modlat", "beta", beta);
    training.init = begin;
    OWNED(clv_training_result_release) struct clv_training_result result = run("modlat", &training);
    /* one step of theta, two of w, by finite differences of the enumerated objectives */
    memcpy(theta, begin, sizeof theta);
    for (size_t j = 0; j < N_ALL; j++) {
        double moved[2][SIZE];
        for (int side = 0; side < 2; side++) {
            memcpy(moved[side], begin, sizeof begin);
            moved[side][j] += side ? h : -h;
        }
        theta[j] -= rate *
                    (theta_objective(&toy, begin, moved[1], beta) - theta_objective(&toy, begin, moved[0], beta)) /
                    (2 * h);
    }
    memcpy(w, begin, sizeof w);
    for (int step = 0; step < 2; step++) {
        double next[SIZE];
        for (size_t j = 0; j < N_ALL; j++) {
            double kept = w[j];
            w[j] = kept + h;
            double above = w_objective(&toy, w, begin, theta);
            w[j] = kept - h;
            double below = w_objective(&toy, w, begin, theta);
            w[j] = kept;
            next[j] = kept - rate * (above - below) / (2 * h);
        }
        memcpy(w, next, sizeof w);
    }
    ck_assert_double_eq_tol(result.curve[0].objective, w_objective(&toy, w, begin, theta), 1e-5);
    memset(moved_to_zero, 0, sizeof moved_to_zero);
    ck_assert_double_eq_tol(result.at_zero, w_objective(&toy, moved_to_zero, begin, theta), 1e-5);
    for (size_t j = 0; j < N_ALL; j++)
        ck_assert_double_eq_tol(result.w[j], w[j], 1e-6);
}

TEST(modlat_takes_its_turns_on_the_two_objectives)
{
    take_turns(3);
    take_turns(2);
}

/* With a loss that weighs next to nothing a step shrinks w by its rate, which falls to a tenth by and by: for m3e in
 * every step, for modlat in every round. */
TEST(rates_fall_to_a_tenth)
{
    enum { ROUNDS = 4, STEPS = 3 };
    double w[SIZE], m3e = 1, modlat = 1;
    OWNED(toy_release) struct toy toy = {0};
    toy_hidden_chains(&toy, 3);
    random_weights(w, 3);
    for (int t = 0; t < ROUNDS; t++) {
        m3e *= 1 - 0.5 / (1 + 9.0 * t / ROUNDS);
        modlat *= pow(1 - 0.5 / (1 + 9.0 * t / ROUNDS), STEPS);
    }
    for (int is_modlat = 0; is_modlat < 2; is_modlat++) {
        const char *name = is_modlat ? "modlat" : "m3e";
        struct clv_training training = toy_training(&toy, name);
        training.init = w;
        make_plain(&training, name);
        set(&training, name, "C", 1e-9);
        set(&training, name, "rate", 0.5);
        set(&training, name, "passes", is_modlat ? STEPS : ROUNDS);
        if (is_modlat)
            set(&training, name, "rounds", ROUNDS);
        OWNED(clv_training_result_release) struct clv_training_result result = run(name, &training);
        for (size_t j = 0; j < N_ALL; j++)
            ck_assert_double_eq_tol(result.w[j], (is_modlat ? modlat : m3e) * w[j], 1e-6);
    }
}

TEST(both_are_the_same_at_any_thread_count_and_lower_their_objectives)
{
    static const char *const learners[] = {"m3e", "modlat"};
    for (int l = 0; l < 2; l++) {
        OWNED(toy_release) struct toy toy = {0};
        toy_hidden_chains(&toy, 6);
        struct clv_training training = toy_training(&toy, learners[l]);
        OWNED(clv_training_result_release) struct clv_training_result one = run(learners[l], &training);
        training.n_threads = 3;
        OWNED(clv_training_result_release) struct clv_training_result three = run(learners[l], &training);
        ck_assert_mem_eq(one.w, three.w, N_ALL * sizeof *one.w);
        ck_assert_double_lt(one.curve[one.n_curve - 1].objective, one.curve[0].objective);
        static const volatile int stop = 1;
        const struct clv_progress progress = {.stop = &stop};
        training.progress = &progress;
        OWNED(clv_training_result_release) struct clv_training_result stopped = run(learners[l], &training);
        ck_assert_int_eq(stopped.interrupted, 1);
    }
}

/* Where all labels are known both are the hinge: at any size of the features AdaGrad comes near the least objective,
 * which the dual of m3n bounds, in its units, and nothing is random. */
TEST(both_reach_the_least_hinge_where_nothing_is_hidden)
{
    static const char *const learners[] = {"m3e", "modlat"};
    static struct random_problem r;
    for (double size = 0.01; size < 1000; size *= 100) {
        OWNED(toy_release) struct toy toy = {0};
        toy_begin(&toy, 3, 4, 1, CLV_PAIRWISE_FULL);
        for (uint64_t i = 0; i < 12; i++) {
            random_chain(&r, &chain_shape, 4, true, 70 + i);
            for (int64_t k = 0; k < r.row[4]; k++)
                r.value[k] *= (float)size;
            for (int32_t e = 0; e < 3; e++)
                r.edge_features[e] *= (float)size;
            toy_add(&toy, &r.problem);
        }
        struct clv_training training = toy_training(&toy, "m3n");
        set(&training, "m3n", "gap", 1e-3);
        set(&training, "m3n", "passes", 5000);
        OWNED(clv_training_result_release) struct clv_training_result m3n = run("m3n", &training);
        double bound = m3n.curve[m3n.n_curve - 1].dual;
        for (int l = 0; l < 2; l++) {
            training = toy_training(&toy, learners[l]);
            set(&training, learners[l], "deviation", 50);
            OWNED(clv_training_result_release) struct clv_training_result result = run(learners[l], &training);
            double reached = result.curve[result.n_curve - 1].objective;
            ck_assert_double_eq_tol(result.at_zero, m3n.at_zero, 1e-9 * m3n.at_zero);
            ck_assert_double_ge(reached, bound * (1 - 1e-9));
            ck_assert_msg(reached - bound < 0.05 * (result.at_zero - bound), "%s at size %g: %g, bound %g, at 0 %g",
                          learners[l], size, reached, bound, result.at_zero);
        }
    }
}

/* However long the steps are: the start, if nothing is lower. */
TEST(the_lowest_point_is_returned)
{
    OWNED(toy_release) struct toy toy = {0};
    double w[SIZE];
    toy_hidden_chains(&toy, 6);
    random_weights(w, 3);
    for (size_t j = 0; j < SIZE; j++)
        w[j] *= 1e-3;
    for (int is_modlat = 0; is_modlat < 2; is_modlat++) {
        const char *name = is_modlat ? "modlat" : "m3e";
        struct clv_training training = toy_training(&toy, name);
        training.init = w;
        set(&training, name, "rate", 1e6);
        set(&training, name, "passes", 1);
        OWNED(clv_training_result_release) struct clv_training_result result = run(name, &training);
        ck_assert_mem_eq(result.w, w, N_ALL * sizeof *w);
    }
}

TEST(hidden_nodes_that_are_joined_are_refused)
{
    OWNED(toy_release) struct toy toy = {0};
    static struct random_problem r;
    struct clv_training_result result;
    toy_begin(&toy, 3, 4, 2, CLV_PAIRWISE_FULL);
    random_chain(&r, &layout, 4, false, 1);
    for (int32_t k = 0; k < 4; k++)
        r.label[k] = k ? CLV_UNKNOWN : 0;
    toy_add(&toy, &r.problem);
    struct clv_training training = toy_training(&toy, "m3e");
    must_fail(CLV_ERR_USAGE, "toy0: hidden nodes 1 and 2 are joined",
              clv_train(&result, clv_learner_find("m3e"), &training, err));
}
