/* Max-margin min-entropy models (Miller, Kumar, Packer, Goodman, Koller, AISTATS 2012): predict the labels y for which
 * p(y, h) over h has the least Renyi entropy H(y) (infer/elimination/min_entropy.c). The objective
 *
 *     1/2 |w|^2 + C sum_i max_y { D(y) + H(y_i) - H(y) },     H(y) = log Z - s(y)
 *
 * is an upper bound of C times the loss on the training set. As the order goes to infinity it becomes the latent
 * structured SVM's objective. The authors minimise it by CCCP. Here AdaGrad does (latent.c), whose rate suits any
 * dataset, and returns the weights of the lowest objective; plain subgradient steps are another solver. The order 1 / T
 * of the entropy is a parameter. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/elimination/elimination.h"
#include "learn/common/common.h"
#include "learn/latent/latent.h"

enum { C, SOLVER, PASSES, RATE, BATCH, AVERAGING, ORDER, DEVIATION, UNITS };

static const struct clv_parameter parameters[] = {
    [C] = {"C", 300, 1e-9, 1e12, "weight of the loss", .role = CLV_ROLE_REGULARISATION},
    [SOLVER] = LATENT_SOLVER_PARAMETER,
    [PASSES] = {"passes", 0, 0, 1e6, "over the examples; 0: 50, or 300 plain steps", .role = CLV_ROLE_PASSES},
    [RATE] = LATENT_RATE_PARAMETER("0.02 of the first plain step; the last one's is a tenth"),
    [BATCH] = LATENT_BATCH_PARAMETER(SOLVER),
    [AVERAGING] = LATENT_AVERAGING_PARAMETER(SOLVER),
    [ORDER] = {"order", 2, 1, 1e9, "of Renyi's entropy; 1: Shannon's"},
    [DEVIATION] = LATENT_DEVIATION_PARAMETER(SOLVER),
    [UNITS] = LATENT_UNITS_PARAMETER,
    {0},
};

#define N_POINTS 10 /* most points of the curve after the start */

struct m3e {
    struct latent latent;
    struct min_entropy *workspaces; /* [n_threads] */
    struct ascent ascent;
    double temperature, rate;
    double *best; /* [size] the weights of the lowest objective so far; after plain steps the last ones */
    double lowest;
};

/* Computes the terms in the loss-augmented field. The truth has loss 0, so its score in this field is that without the
 * loss, up to a constant. */
static enum clv_status entropy_terms(void *context, struct latent *latent, size_t example, int thread, const double *w,
                                     struct clv_error *err)
{
    const struct m3e *self = context;
    struct examples *examples = &latent->examples;
    struct decoder *decoder = &examples->decoders[thread];
    const struct clv_problem *problem = &examples->problems[example];
    size_t at = latent->first[example], k = (size_t)examples->layout.n_labels;
    const struct min_entropy_terms terms = {&decoder->field, latent->is_visible + at, self->temperature};
    struct min_entropy *space = &self->workspaces[thread];
    double best, truth;
    MUST(decoder_load(decoder, problem, &examples->layout, w, err));
    clv_field_add_loss(&decoder->field, problem);
    enum clv_status status = min_entropy_map(decoder->y, space, &terms, err);
    if (status)
        return fail_within(
            err, status, clv_dataset_name(examples->training->dataset, (size_t)examples->training->examples[example]));
    min_entropy_slope(&best, latent->free + at * k, space, &terms, decoder->y);
    min_entropy_slope(&truth, latent->clamped + at * k, space, &terms, problem->label);
    latent->hinge[example] = best - truth;
    return CLV_OK;
}

/* Adds a point to the curve. */
static enum clv_status add_point(struct m3e *self, struct clv_error *err)
{
    struct course *course = &self->latent.course;
    const double *w = ascent_point(&self->ascent);
    double objective;
    MUST(latent_objective(&objective, &self->latent, w, entropy_terms, err));
    if (self->latent.rules.solver == LATENT_SUBGRADIENT || course->pass == 0 || objective < self->lowest) {
        memcpy(self->best, w, self->latent.size * sizeof *w);
        self->lowest = objective;
    }
    return course_add_point(course, (struct clv_curve_point){(double)course->pass, self->lowest, NAN, NAN}, "",
                            self->best, err);
}

static enum clv_status run_pass(struct m3e *self, struct clv_error *err)
{
    struct course *course = &self->latent.course;
    double rate = self->rate / (1 + 9 * (double)course->pass / (double)course->n_passes);
    bool is_complete;
    MUST(latent_pass(&is_complete, &self->latent, &self->ascent, (uint32_t)course->pass, rate, entropy_terms, err));
    course->pass += is_complete;
    return CLV_OK;
}

static enum clv_status m3e_open(struct m3e *self, const struct clv_training *training,
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
    *self = (struct m3e){.temperature = 1 / p[ORDER]};
    self->rate = p[RATE] > 0 ? p[RATE] : 0.02;
    MUST(latent_open(&self->latent, &m3e_learner, result, training, &rules, self, err));
    self->workspaces = array_zalloc((size_t)self->latent.examples.n_threads, sizeof *self->workspaces);
    NEED(self->workspaces);
    MUST(latent_begin(&self->ascent, &self->latent, (struct latent_names){"w", "average", "squares", "steps"}, err));
    self->best = array_copy(self->ascent.w, self->latent.size, sizeof *self->best);
    NEED(self->best);
    struct course *course = &self->latent.course;
    course->n_passes = p[PASSES] >= 1 ? (size_t)p[PASSES] : rules.solver == LATENT_SUBGRADIENT ? 300 : 50;
    course->passes_per_point = (course->n_passes + N_POINTS - 1) / N_POINTS;
    course->starts_with_point = true;
    course_holds(course, (struct state_field){"best", CLV_F64, self->latent.size, self->best, STATE_FINITE});
    course_holds(course, (struct state_field){"lowest", CLV_F64, 1, &self->lowest, STATE_FINITE});
    return course_resume(course, err);
}

static void m3e_release(struct m3e *self)
{
    for (int t = 0; self->workspaces && t < self->latent.examples.n_threads; t++)
        min_entropy_release(&self->workspaces[t]);
    arrays_free(self->workspaces, self->best);
    ascent_release(&self->ascent);
    latent_release(&self->latent);
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    OWNED(m3e_release) struct m3e self = {0};
    struct latent *latent = &self.latent;
    struct course *course = &latent->course;
    MUST(m3e_open(&self, training, result, err));
    result->decoding = (struct clv_decoding){CLV_DECODE_MIN_ENTROPY, self.temperature};
    while (course_goes_on(course))
        MUST(course_take(course, course_needs_point(course) ? add_point(&self, err) : run_pass(&self, err)));
    if (!course->stopped)
        MUST(course_take(course, latent_objective(&result->at_zero, latent, latent->zero, entropy_terms, err)));
    return course_end(course, self.best, err);
}

const struct clv_learner m3e_learner = {
    .name = "m3e",
    .summary = "max-margin min-entropy model, hidden nodes on chains (Miller et al. 2012)",
    .parameters = parameters,
    .takes_init = true,
    .takes_hidden = true,
    .n_vectors = 7,
    .bytes = latent_bytes,
    .train = train,
    .trains = CLV_TRAINS_FULL_FORESTS,
};
