/* Loss-based learning by modelling latent variable uncertainty (Kumar, Packer, Koller, ICML 2012). Two models: a
 * conditional one of the hidden nodes, p_theta(h | y_i), and one that predicts, (y(w), h(w)) = argmax <w, Psi(y, h)>.
 * Training minimises their dissimilarity coefficient for the loss D(y, h; y', h') = number of nodes that differ,
 * visible or hidden:
 *
 *     sum_i  E_theta D(y_i, h; y(w), h(w))  -  beta E_theta E_theta D(y_i, h; y_i, h')
 *
 * (with a loss that depends only on y this is the latent structured SVM, property 1 of the paper). With q_k =
 * p_theta(h_k | y_i) of hidden node k, it minimises two objectives in turn:
 *
 *     theta   1/2 |theta|^2 + C sum_i sum_k [1 - q_k(h_k(w))] - beta [1 - sum_s q_k(s)^2]                 w fixed
 *     w       1/2 |w|^2 + C sum_i max_(y,h) { f(y, h) + D(y) + sum_k (1 - q_k(h_k)) } - max_h f(y_i, h)    theta fixed
 *
 * each by AdaGrad or plain subgradient steps (latent.c). The second is an upper bound of the coefficient's first term.
 * Hidden nodes have only visible neighbours, so they are independent given y_i. The second objective changes with
 * theta: the best w is the one whose objective is lowest under the theta of the last round. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "learn/common/common.h"
#include "learn/latent/latent.h"

enum { C, SOLVER, BETA, ROUNDS, PASSES, RATE, BATCH, AVERAGING, DEVIATION, UNITS };

static const struct clv_parameter parameters[] = {
    [C] = {"C", 300, 1e-9, 1e12, "weight of the loss", .role = CLV_ROLE_REGULARISATION},
    [SOLVER] = LATENT_SOLVER_PARAMETER,
    [BETA] = {"beta", 0.1, 0, 1, "weight of the hidden nodes' own diversity", .needs = {{CLV_NEEDS_HIDDEN}}},
    [ROUNDS] = {"rounds", 15, 1, 1e6, "turns of theta and w"},
    [PASSES] = {"passes", 0, 0, 1e6,
                "over the examples for w in a round, half as many for theta; 0: 4, or 40 plain steps",
                .role = CLV_ROLE_PASSES},
    [RATE] = LATENT_RATE_PARAMETER("0.01 of the first round's plain steps; the last one's is a tenth"),
    [BATCH] = LATENT_BATCH_PARAMETER(SOLVER),
    [AVERAGING] = LATENT_AVERAGING_PARAMETER(SOLVER),
    [DEVIATION] = LATENT_DEVIATION_PARAMETER(SOLVER),
    [UNITS] = LATENT_UNITS_PARAMETER,
    {0},
};

struct modlat {
    struct arena arena; /* of the arrays below */
    struct latent latent;
    struct clv_forest **forests; /* [n_threads] */
    int32_t *y;                  /* [all nodes] labels that w predicts */
    double *q;                   /* [all nodes][n_labels] p_theta, 1 at the labels of visible nodes */
    struct ascent w, theta;
    double *best; /* [size] the w of the lowest objective so far; with plain steps the last one */
    double beta, rate, lowest;
    size_t n_passes; /* of a round for w */
    bool has_hidden;
    int64_t turn[2];  /* of the round: whose turn it is, and its complete passes */
    bool is_prepared; /* y, or q and lowest, are those of this turn; they are computed from theta, w and best */
    bool has_q;       /* q belongs to the current theta */
};

enum { TURN_OF, TURN_PASS };       /* of `turn` */
enum { TURN_OF_THETA, TURN_OF_W }; /* of turn[TURN_OF] */

static const struct clv_problem *problem_of(const struct latent *latent, size_t example)
{
    return &latent->examples.problems[example];
}

/* Computes the marginals of the loaded field given the visible labels; at temperature 0 those of a best labelling of
 * the hidden nodes. */
static enum clv_status marginals_given_truth(double *marginals, struct clv_forest *forest,
                                             const struct clv_field *field, const int32_t *label, double temperature,
                                             struct clv_error *err)
{
    const struct clv_forest_options options = {
        .visible_temperature = temperature, .hidden_temperature = temperature, .label = label};
    return clv_forest_run(forest, NULL, marginals, NULL, NULL, field, &options, err);
}

static enum clv_status maximise(int32_t *y, double *score, const struct modlat *self, const struct clv_field *field,
                                int thread, struct clv_error *err)
{
    static const struct clv_forest_options options = {0};
    return clv_forest_run(self->forests[thread], score, NULL, NULL, y, field, &options, err);
}

/* Predicts labels by w, for theta's turn, and writes them to latent->free, which all processes receive. */
static enum clv_status predict(void *context, struct latent *latent, size_t example, int thread, const double *w,
                               struct clv_error *err)
{
    struct modlat *self = context;
    struct decoder *decoder = &latent->examples.decoders[thread];
    MUST(decoder_load(decoder, problem_of(latent, example), &latent->examples.layout, w, err));
    MUST(maximise(decoder->y, NULL, self, &decoder->field, thread, err));
    marginals_of_labels(latent->free + latent->first[example] * (size_t)decoder->field.n_labels, decoder->y,
                        (size_t)decoder->field.n_nodes, (size_t)decoder->field.n_labels);
    return CLV_OK;
}

static void keep_predictions(struct modlat *self)
{
    const struct latent *latent = &self->latent;
    size_t k = (size_t)latent->examples.layout.n_labels;
    for (size_t i = 0; i < latent->first[latent->examples.n] * k; i++)
        if (latent->free[i] > 0.5)
            self->y[i / k] = (int32_t)(i % k);
}

/* Computes the terms for theta's turn. With c_s = dL/dq(s) = -[s = h(w)] + 2 beta q(s), the derivative by the score of
 * state s is q(s) (c_s - sum_t q(t) c_t). */
static enum clv_status conditional_terms(void *context, struct latent *latent, size_t example, int thread,
                                         const double *theta, struct clv_error *err)
{
    struct modlat *self = context;
    struct decoder *decoder = &latent->examples.decoders[thread];
    const struct clv_problem *problem = problem_of(latent, example);
    size_t at = latent->first[example], n = (size_t)problem->n_nodes, k = (size_t)latent->examples.layout.n_labels;
    double *free = latent->free + at * k, *q = latent->clamped + at * k;
    MUST(decoder_load(decoder, problem, &latent->examples.layout, theta, err));
    MUST(marginals_given_truth(q, self->forests[thread], &decoder->field, problem->label, 1, err));
    memcpy(free, q, n * k * sizeof *free);
    for (size_t i = 0; i < n; i++) {
        double c[CLV_CHAIN_MAX_LABELS], mean = 0;
        if (latent->is_visible[at + i])
            continue;
        for (size_t s = 0; s < k; s++) {
            c[s] = 2 * self->beta * q[i * k + s] - (s == (size_t)self->y[at + i]);
            mean += q[i * k + s] * c[s];
        }
        for (size_t s = 0; s < k; s++)
            free[i * k + s] += q[i * k + s] * (c[s] - mean);
    }
    return CLV_OK;
}

/* Adds 1 - q to the unary scores of hidden nodes. For two labels a unary score is that of label 1 minus that of label
 * 0. */
static void add_disagreement(struct clv_field *field, const double *q, const uint8_t *is_visible)
{
    size_t k = (size_t)field->n_labels;
    for (size_t i = 0; i < (size_t)field->n_nodes; i++) {
        if (is_visible[i])
            continue;
        if (k == 2)
            field->unary[i] += q[2 * i] - q[2 * i + 1];
        for (size_t s = 0; k > 2 && s < k; s++)
            field->unary[i * k + s] += 1 - q[i * k + s];
    }
}

static enum clv_status predictor_terms(void *context, struct latent *latent, size_t example, int thread,
                                       const double *w, struct clv_error *err)
{
    struct modlat *self = context;
    struct decoder *decoder = &latent->examples.decoders[thread];
    const struct clv_problem *problem = problem_of(latent, example);
    struct clv_field *field = &decoder->field;
    size_t at = latent->first[example], n = (size_t)problem->n_nodes, k = (size_t)latent->examples.layout.n_labels;
    double best, truth, constant;
    MUST(decoder_load(decoder, problem, &latent->examples.layout, w, err));
    MUST(marginals_given_truth(latent->clamped + at * k, self->forests[thread], field, problem->label, 0, err));
    for (size_t i = 0; i < n; i++)
        for (size_t s = 0; s < k; s++)
            if (latent->clamped[(at + i) * k + s] > 0.5)
                decoder->y[i] = (int32_t)s;
    truth = clv_field_score(field, decoder->y);
    constant = clv_field_add_loss(field, problem);
    add_disagreement(field, self->q + at * k, latent->is_visible + at);
    for (size_t i = 0; k == 2 && i < n; i++)
        constant += latent->is_visible[at + i] ? 0 : 1 - self->q[(at + i) * k];
    MUST(maximise(decoder->y, &best, self, field, thread, err));
    marginals_of_labels(latent->free + at * k, decoder->y, n, k);
    latent->hinge[example] = best + constant - truth;
    return CLV_OK;
}

static enum clv_status find_q(struct modlat *self, struct clv_error *err)
{
    struct latent *latent = &self->latent;
    size_t n_all = latent->first[latent->examples.n] * (size_t)latent->examples.layout.n_labels;
    MUST(latent_compute_terms(latent, ascent_point(&self->theta), conditional_terms, err));
    memcpy(self->q, latent->clamped, n_all * sizeof *self->q);
    self->has_q = true;
    return CLV_OK;
}

/* Prepares a turn. Before that of theta, w predicts; before that of w, the lowest objective so far is measured again
 * with the q of this round. */
static enum clv_status prepare(struct modlat *self, struct clv_error *err)
{
    struct latent *latent = &self->latent;
    if (self->turn[TURN_OF] == TURN_OF_W) {
        MUST(find_q(self, err));
        MUST(latent_objective(&self->lowest, latent, self->best, predictor_terms, err));
    } else if (self->has_hidden) {
        MUST(latent_compute_terms(latent, ascent_point(&self->w), predict, err));
        keep_predictions(self);
    }
    self->is_prepared = true;
    return CLV_OK;
}

static void begin_turn(struct modlat *self, int64_t of)
{
    self->turn[TURN_OF] = of;
    self->turn[TURN_PASS] = 0;
    self->is_prepared = false;
}

/* Ends the round after w's turn and adds a point to the curve. */
static enum clv_status add_point(struct modlat *self, struct clv_error *err)
{
    struct course *course = &self->latent.course;
    const double *w = ascent_point(&self->w);
    bool is_plain = self->latent.rules.solver == LATENT_SUBGRADIENT;
    double objective;
    MUST(latent_objective(&objective, &self->latent, w, predictor_terms, err));
    if (is_plain || objective < self->lowest) {
        memcpy(self->best, w, self->latent.size * sizeof *w);
        self->lowest = objective;
    }
    begin_turn(self, TURN_OF_THETA);
    course->pass++;
    return course_add_point(course, (struct clv_curve_point){(double)course->pass, self->lowest, NAN, NAN}, "",
                            self->best, err);
}

/* Runs the rest of a turn. Without hidden nodes theta's turn has no passes. */
static enum clv_status take_turn(struct modlat *self, struct clv_error *err)
{
    const struct course *course = &self->latent.course;
    bool is_w = self->turn[TURN_OF] == TURN_OF_W;
    int64_t n_passes = (int64_t)(is_w ? self->n_passes : self->has_hidden ? self->n_passes / 2 : 0);
    double rate = self->rate / (1 + 9 * (double)course->pass / (double)course->n_passes);
    if (!self->is_prepared)
        MUST(prepare(self, err));
    for (; self->turn[TURN_PASS] < n_passes; self->turn[TURN_PASS]++) {
        uint32_t pass = (uint32_t)(course->pass * self->n_passes + (size_t)self->turn[TURN_PASS]);
        bool is_complete;
        MUST(latent_pass(&is_complete, &self->latent, is_w ? &self->w : &self->theta, pass, rate,
                         is_w ? predictor_terms : conditional_terms, err));
        if (!is_complete)
            return CLV_OK;
    }
    if (is_w)
        return add_point(self, err);
    begin_turn(self, TURN_OF_W);
    return CLV_OK;
}

/* Measures the objective at w = 0 under the last theta. */
static enum clv_status measure_zero(struct modlat *self, struct clv_error *err)
{
    struct latent *latent = &self->latent;
    if (!self->has_q)
        MUST(find_q(self, err));
    return latent_objective(&latent->course.result->at_zero, latent, latent->zero, predictor_terms, err);
}

/* Resumes from a checkpoint, if there is one. */
static enum clv_status begin(struct modlat *self, struct clv_error *err)
{
    struct course *course = &self->latent.course;
    course_holds(course, (struct state_field){"best", CLV_F64, self->latent.size, self->best, STATE_FINITE});
    course_holds(course, (struct state_field){"turn", CLV_I64, 2, self->turn, STATE_NOT_NEGATIVE});
    MUST(course_resume(course, err));
    if (self->turn[TURN_OF] > TURN_OF_W || self->turn[TURN_PASS] > (int64_t)self->n_passes)
        return state_refuse(&course->checkpoints, "in a turn that there is not", err);
    return CLV_OK;
}

static enum clv_status modlat_open(struct modlat *self, const struct clv_training *training,
                                   struct clv_training_result *result, struct clv_error *err)
{
    const double *p = training->parameters;
    const struct latent_rules rules = {.solver = (enum latent_solver)p[SOLVER],
                                       .c = p[C],
                                       .units = p[UNITS],
                                       .rate = p[RATE],
                                       .deviation = p[DEVIATION],
                                       .batch = (size_t)p[BATCH],
                                       .averaging = p[AVERAGING] != 0};
    *self = (struct modlat){.beta = p[BETA], .rate = p[RATE] > 0 ? p[RATE] : 0.01};
    self->n_passes = p[PASSES] >= 1 ? (size_t)p[PASSES] : rules.solver == LATENT_SUBGRADIENT ? 40 : 4;
    MUST(latent_open(&self->latent, &modlat_learner, result, training, &rules, self, err));
    self->latent.course.n_passes = (size_t)p[ROUNDS];
    const struct examples *examples = &self->latent.examples;
    size_t n_nodes = self->latent.first[examples->n], k = (size_t)examples->layout.n_labels;
    self->forests = arena_zalloc(&self->arena, (size_t)examples->n_threads, sizeof *self->forests);
    self->y = arena_zalloc(&self->arena, n_nodes, sizeof *self->y);
    self->q = arena_zalloc(&self->arena, n_nodes, k * sizeof *self->q);
    self->best = arena_alloc(&self->arena, self->latent.size, sizeof *self->best);
    if (self->arena.failed)
        return fail_memory(err);
    for (size_t i = 0; i < n_nodes; i++)
        self->has_hidden |= !self->latent.is_visible[i];
    MUST(latent_begin(&self->w, &self->latent, (struct latent_names){"w", "average", "squares", "steps"}, err));
    MUST(latent_begin(&self->theta, &self->latent,
                      (struct latent_names){"theta", "theta_average", "theta_squares", "theta_steps"}, err));
    memcpy(self->best, self->w.w, self->latent.size * sizeof *self->best);
    for (int t = 0; t < examples->n_threads; t++)
        MUST(clv_forest_new(&self->forests[t], err));
    return begin(self, err);
}

static void modlat_release(struct modlat *self)
{
    for (int t = 0; self->forests && t < self->latent.examples.n_threads; t++)
        clv_forest_free(self->forests[t]);
    ascent_release(&self->w);
    ascent_release(&self->theta);
    arena_release(&self->arena);
    latent_release(&self->latent);
}

/* Returns the bytes of struct latent, of the labels that w predicts and of theta's distributions. */
static double bytes(const struct clv_training *training)
{
    double of_node = (double)sizeof(int32_t) + (double)sizeof(double) * (double)training->layout.n_labels;
    return latent_bytes(training) + of_node * training_n_nodes(training);
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    OWNED(modlat_release) struct modlat self = {0};
    struct course *course = &self.latent.course;
    MUST(modlat_open(&self, training, result, err));
    result->decoding.rule = CLV_DECODE_MAP;
    while (course_goes_on(course))
        MUST(course_take(course, take_turn(&self, err)));
    if (!course->stopped)
        MUST(course_take(course, measure_zero(&self, err)));
    return course_end(course, self.best, err);
}

const struct clv_learner modlat_learner = {
    .name = "modlat",
    .summary = "latent SVM with a model of what is hidden, on chains (Kumar et al. 2012)",
    .parameters = parameters,
    .takes_init = true,
    .takes_hidden = true,
    .n_vectors = 10,
    .bytes = bytes,
    .train = train,
    .trains = CLV_TRAINS_FULL_FORESTS,
};
