/* Learners with hidden variables. They share one objective (objective.c) and differ in its temperatures (Ping, Liu &
 * Ihler 2014, Table 1).
 *
 *     J(w) = lambda'/2 |w|^2 + mean_i U_i(w),    lambda' = 1 / (n C), or lambda mean_i N_i mean |x|^2 of known nodes
 *
 * Solvers: AdaGrad on batches (Duchi, Hazan & Singer 2011), diagonal or full, with the average of the iterates; the
 * subgradient method, Algorithm 1; and the concave-convex procedure, Algorithm 2 (cccp.c). w = 0 is a saddle point at
 * which indistinguishable hidden states stay equal, so weights that only hidden nodes use start at random. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "learn/common/common.h"
#include "learn/hidden/hidden.h"

enum {
    SOLVER,
    LAMBDA,
    C,
    PASSES,
    INNER,
    RATE,
    BATCH,
    AVERAGING,
    MARGIN,
    START,
    SWEEPS,
    CELLS,
    CURVE,
    PAPER,
    SMOOTH,
    EPSILON,
    HIDDEN_EPSILON
};

static const char *const solvers[] = {[SOLVER_ADAGRAD] = "adagrad",
                                      [SOLVER_SUBGRADIENT] = "subgradient",
                                      [SOLVER_CCCP] = "cccp",
                                      [SOLVER_FULL_ADAGRAD] = "adagrad-full",
                                      NULL};

enum {
    ADAGRADS = 1 << SOLVER_ADAGRAD | 1 << SOLVER_FULL_ADAGRAD,
    BY_LAMBDA = ADAGRADS | 1 << SOLVER_CCCP, /* the subgradient method has c, as published */
};

#define PARAMETERS(margin, usual)                                                                                      \
    [SOLVER] = ROW(                                                                                                    \
        "solver", SOLVER_ADAGRAD, SOLVER_ADAGRAD, SOLVER_FULL_ADAGRAD,                                                 \
        "adagrad on batches, subgradient (Algorithm 1), cccp (Algorithm 2; its convex problems by their dual), or "    \
        "adagrad-full, with a full matrix, for at most 128 weights",                                                   \
        .choices = solvers),                                                                                           \
    [LAMBDA] =                                                                                                         \
        ROW("lambda", usual, 1e-12, 1e12, "regularisation, relative to the size of the features",                      \
            .role = CLV_ROLE_LAMBDA_OF_MEAN, .needs = {NEEDS(C, OFF), NEEDS(SOLVER, BY_LAMBDA), NEEDS(PAPER, OFF)}),   \
    [C] = ROW("c", 0, 0, 1e12, "in place of lambda: |w|^2 / 2 + c times the sum over examples; 0: lambda"),            \
    [PASSES] =                                                                                                         \
        ROW("passes", 0, 0, 1e6, "gradients of all examples; 0: 50, subgradient 250, cccp 300, or 900 as published",   \
            .role = CLV_ROLE_PASSES),                                                                                  \
    [INNER] = ROW("inner", 0, 0, 1e6, "passes of cccp between two linearisations; 0: 6, or 60 as published",           \
                  .needs = {NEEDS(SOLVER, 1 << SOLVER_CCCP)}),                                                         \
    [RATE] =                                                                                                           \
        ROW("rate", 0, 0, 1e6,                                                                                         \
            "step size; 0: 0.3; of plain steps the source's 0.02, or if all is maximised 0.01, with which ours end "   \
            "lower than with its 0.001, which is that of subgradient and paper 1",                                     \
            .role = CLV_ROLE_RATE),                                                                                    \
    [BATCH] = ROW("batch", 10, 0, 1e9, "examples a step of adagrad; 0: all", .role = CLV_ROLE_BATCH,                   \
                  .needs = {NEEDS(SOLVER, ADAGRADS), NEEDS(PAPER, OFF)}),                                              \
    [AVERAGING] = ROW("averaging", 1, 0, 1, "1: adagrad's weighted mean of the iterates; 0: the last one",             \
                      .needs = {NEEDS(SOLVER, ADAGRADS), NEEDS(PAPER, OFF)}),                                          \
    [MARGIN] = ROW("margin", margin, 0, 1e6, "factor of the loss inside the objective; 0: none (a likelihood)"),       \
    [START] = ROW("start", 0.1, 0, 100, "deviation of the random weights to start from where only hidden nodes look",  \
                  .role = CLV_ROLE_START),                                                                             \
    [SWEEPS] = ROW("sweeps", 20, 1, 1e6, "of belief propagation at most, a term, on graphs with loops"),               \
    [CELLS] = ROW("cells", 0, 0, 1e9, "of bucket elimination at most, a term, in place of belief propagation"),        \
    [CURVE] =                                                                                                          \
        ROW("curve", 0, 0, 1e6, "passes between points of the curve; 0: 10 points in all", .role = CLV_ROLE_CURVE),    \
    [PAPER] = ROW("paper", 0, 0, 1,                                                                                    \
                  "1: the source's algorithms: c = 1, all examples a step, plain steps of one length, and the convex " \
                  "problems of cccp by these. They differ in where they start: at random, as w = 0 leaves hidden "     \
                  "states alike for ever. Images without masks: no teacher sees boxes' cuts",                          \
                  .role = CLV_ROLE_PAPER, .needs = {{CLV_NEEDS_MASKS}}),                                               \
    [SMOOTH] =                                                                                                         \
        ROW("smooth", 0, 0, 0.99,                                                                                      \
            "share of adagrad's passes at the start in which maxima are sums at temperature 1; later its rate is "     \
            "an eighth",                                                                                               \
            .needs = {NEEDS(SOLVER, ADAGRADS)})

static const struct clv_parameter parameters[] = {PARAMETERS(1, 1e-4), [EPSILON] = {0}};
static const struct clv_parameter likelihood_parameters[] = {PARAMETERS(0, 1e-5), [EPSILON] = {0}};
static const struct clv_parameter extension_parameters[] = {
    PARAMETERS(1, 1e-4),
    [EPSILON] = {"epsilon", 0.5, 0, 1, "temperature of visible nodes; 0: the maximum over them"},
    [HIDDEN_EPSILON] = {"hidden-epsilon", 0, 0, 1, "temperature of hidden nodes; 0: that of the visible ones"},
    {0}};

/* Whether the training takes plain steps, as published. */
static bool is_published(const struct clv_training *training)
{
    return training->parameters[PAPER] != 0 || training->parameters[SOLVER] == SOLVER_SUBGRADIENT;
}

/* Replaces parameters of 0 by the values that suit the solver. */
static void choose_settings(struct hidden_descent *self)
{
    const double *given = self->training->parameters;
    const struct examples *examples = &self->hidden.examples;
    double n = (double)examples->n, c = given[C] > 0 ? given[C] : self->is_published ? 1 : 0;
    size_t passes[] = {[SOLVER_ADAGRAD] = 50,
                       [SOLVER_SUBGRADIENT] = 250,
                       [SOLVER_CCCP] = self->is_published ? 900 : 300,
                       [SOLVER_FULL_ADAGRAD] = 50};
    self->lambda = c > 0 ? 1 / (n * c) : given[LAMBDA] * examples->node_scale * self->hidden.mean_known;
    struct course *course = &self->course;
    course->n_passes = given[PASSES] >= 1 ? (size_t)given[PASSES] : passes[self->solver];
    self->n_smooth = (size_t)(given[SMOOTH] * (double)course->n_passes + 0.5);
    self->n_inner = given[INNER] >= 2 ? (size_t)given[INNER] : self->is_published ? 60 : 6;
    bool has_batches = given[BATCH] >= 1 && hidden_descent_is_adagrad(self) && !self->is_published;
    course->batch = has_batches && given[BATCH] < n ? (size_t)given[BATCH] : examples->n;
    course->passes_per_point = given[CURVE] >= 1 ? (size_t)given[CURVE] : (course->n_passes + 9) / 10;
    double maximised = self->is_constant && self->solver != SOLVER_CCCP ? 0.001 : 0.01;
    if (self->is_published)
        self->rate = given[RATE] > 0 ? given[RATE] : self->hidden.settings.hidden_temperature > 0 ? 0.02 : maximised;
    else
        self->rate = (given[RATE] > 0 ? given[RATE] : 0.3) / sqrt(examples->node_scale);
}

static void training_release(struct hidden_descent *self)
{
    hidden_descent_release(self);
    hidden_release(&self->hidden);
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             const struct clv_learner *learner, double visible_temperature, double hidden_temperature,
                             struct clv_error *err)
{
    const struct hidden_settings settings = {
        .visible_temperature = visible_temperature,
        .hidden_temperature = hidden_temperature,
        .margin = training->parameters[MARGIN],
        .sweeps = (int32_t)training->parameters[SWEEPS],
        .cells = (size_t)training->parameters[CELLS],
    };
    OWNED(training_release)
    struct hidden_descent self = {
        .training = training,
        .solver = (enum hidden_solver)training->parameters[SOLVER],
        .is_published = is_published(training),
        .is_constant = training->parameters[PAPER] != 0,
    };
    if (training->parameters[INNER] > 0 && training->parameters[INNER] < 2)
        return fail(err, CLV_ERR_USAGE, "inner is %g, must be 0 or from 2 on", training->parameters[INNER]);
    if (training->parameters[SMOOTH] > 0 && !hidden_descent_is_adagrad(&self))
        return fail(err, CLV_ERR_USAGE, "smooth is %g, must be 0 with a solver other than adagrad and adagrad-full",
                    training->parameters[SMOOTH]);
    MUST(hidden_open(&self.hidden, training, &settings, err));
    course_open(&self.course, learner, result, &self.hidden.examples);
    self.course.save = hidden_save;
    self.course.owner = &self;
    choose_settings(&self);
    MUST(hidden_descent_open(&self, training->parameters[AVERAGING] != 0, err));
    MUST(start_weights(self.ascent.w, training, training->parameters[START], self.is_published, err));
    if (self.ascent.average)
        memcpy(self.ascent.average, self.ascent.w, self.hidden.size * sizeof *self.ascent.w);
    result->decoding = hidden_decoding(&settings);
    MUST(self.solver == SOLVER_CCCP ? hidden_cccp(&self, err) : hidden_descent_run(&self, err));
    hidden_note(result, &self.hidden);
    result->at_zero = hidden_at_zero(&self.hidden);
    return CLV_OK;
}

static enum clv_status train_mssvm(struct clv_training_result *result, const struct clv_training *training,
                                   struct clv_error *err)
{
    return train(result, training, &mssvm_learner, 0, 1, err);
}

static enum clv_status train_lssvm(struct clv_training_result *result, const struct clv_training *training,
                                   struct clv_error *err)
{
    return train(result, training, &lssvm_learner, 0, 0, err);
}

static enum clv_status train_hcrf(struct clv_training_result *result, const struct clv_training *training,
                                  struct clv_error *err)
{
    return train(result, training, &hcrf_learner, 1, 1, err);
}

/* Returns the temperature of hidden nodes. By default it is that of visible nodes, a special case (Schwing et al.
 * 2012). */
static double hidden_epsilon(const struct clv_training *training)
{
    const double *p = training->parameters;
    return p[HIDDEN_EPSILON] > 0 ? p[HIDDEN_EPSILON] : p[EPSILON];
}

static enum clv_status train_eps(struct clv_training_result *result, const struct clv_training *training,
                                 struct clv_error *err)
{
    return train(result, training, &eps_learner, training->parameters[EPSILON], hidden_epsilon(training), err);
}

/* Returns why a parameter of belief propagation or of elimination has no effect, as a clause, or NULL if it has one. */
static const char *inference_unused_reason(const struct clv_training *training, int parameter, double visible,
                                           double hidden)
{
    struct hidden_settings settings = {.visible_temperature = visible,
                                       .hidden_temperature = hidden,
                                       .cells = parameter == CELLS ? 0 : (size_t)training->parameters[CELLS]},
                           smooth = {.visible_temperature = 1, .hidden_temperature = 1, .cells = settings.cells};
    if (!training->dataset || hidden_propagates(training, &settings) ||
        (training->parameters[SMOOTH] > 0 && hidden_propagates(training, &smooth)))
        return NULL;
    return settings.cells ? "elimination of that many --cells is exact" : "inference is exact on these graphs";
}

static const char *unused_reason(const struct clv_training *training, int parameter, double visible, double hidden)
{
    switch (parameter) {
    case RATE:
        return training->parameters[SOLVER] == SOLVER_CCCP && !is_published(training)
                   ? "--solver is cccp and --paper is 0"
                   : NULL;
    case START: return random_start_unused_reason(training, is_published(training));
    case SMOOTH: return visible > 0 ? "there are no maxima to smooth" : NULL;
    case SWEEPS:
    case CELLS: return inference_unused_reason(training, parameter, visible, hidden);
    default: return NULL;
    }
}

static const char *mssvm_unused_reason(const struct clv_training *training, int parameter)
{
    return unused_reason(training, parameter, 0, 1);
}

static const char *lssvm_unused_reason(const struct clv_training *training, int parameter)
{
    return unused_reason(training, parameter, 0, 0);
}

static const char *hcrf_unused_reason(const struct clv_training *training, int parameter)
{
    return unused_reason(training, parameter, 1, 1);
}

static const char *eps_unused_reason(const struct clv_training *training, int parameter)
{
    return unused_reason(training, parameter, training->parameters[EPSILON], hidden_epsilon(training));
}

/* Returns the bytes of the parts of the gradient, of the vectors of cccp's dual with a plane per example, of the three
 * matrices of adagrad-full, and of messages. */
static double bytes(const struct clv_training *training)
{
    const double *p = training->parameters;
    double size = (double)clv_weight_layout_size(&training->layout),
           vectors = (double)hidden_parts(training->n_examples);
    if (p[SOLVER] == SOLVER_CCCP)
        vectors += 5 + (double)training->n_examples;
    if (p[SOLVER] == SOLVER_FULL_ADAGRAD)
        vectors += 3 * fmin(size, FULL_ADAGRAD_MAX_SIZE);
    return vectors * size * (double)sizeof(double) + messages_bytes(training);
}

/* A row of the learners' table: the four share all fields except these. */
#define LEARNER(NAME, SUMMARY, PARAMETERS, TRAIN, UNUSED_REASON, SCORES)                                               \
    {                                                                                                                  \
        .name = (NAME), .summary = (SUMMARY), .parameters = (PARAMETERS), .takes_init = true, .takes_hidden = true,    \
        .train = (TRAIN), .n_vectors = 7, .bytes = bytes, .trains = CLV_TRAINS_POTTS | CLV_TRAINS_FULL,                \
        .unused_reason = (UNUSED_REASON), .scores = (SCORES),                                                          \
    }

const struct clv_learner mssvm_learner =
    LEARNER("mssvm", "marginal structured SVM: hidden nodes are summed out (Ping, Liu & Ihler 2014)", parameters,
            train_mssvm, mssvm_unused_reason, CLV_SCORES_MARGIN);

const struct clv_learner lssvm_learner =
    LEARNER("lssvm", "latent structured SVM: hidden nodes are maximised over (Yu & Joachims 2009)", parameters,
            train_lssvm, lssvm_unused_reason, CLV_SCORES_MARGIN);

const struct clv_learner hcrf_learner =
    LEARNER("hcrf", "hidden conditional random field: the likelihood of the known labels (Quattoni et al. 2007)",
            likelihood_parameters, train_hcrf, hcrf_unused_reason, CLV_SCORES_WEIGHTED_LIKELIHOOD);

const struct clv_learner eps_learner = LEARNER(
    "eps", "between them: visible and hidden nodes at temperatures of their own (Ping, Liu & Ihler 2014, equation 5)",
    extension_parameters, train_eps, eps_unused_reason, CLV_SCORES_MARGIN);
