/* Max-margin min-entropy models (Miller, Kumar, Packer, Goodman, Koller, AISTATS 2012): labels are those of the least
 * Renyi entropy H(y) of p(y, h) over h (infer/min_entropy.c), and
 *
 *     1/2 |w|^2 + C sum_i max_y { D(y) + H(y_i) - H(y) },     H(y) = log Z - s(y)
 *
 * bounds C times their loss on the training set; with orders towards infinity it is the latent structured SVM's
 * objective. The authors minimise it by CCCP; here it is by subgradient steps, w <- (1 - rate_t) w - rate_t C sum_i
 * (grad s(y*) - grad s(y_i)), with the order 1 / T of the entropy a parameter. */
#include <math.h>

#include "base/base.h"
#include "infer/elimination/elimination.h"
#include "learn/common/common.h"
#include "learn/latent/latent.h"

enum { C, STEPS, RATE, ORDER, DEVIATION };

static const struct clv_parameter parameters[] = {
    [C] = {"C", 1, 1e-9, 1e9, "weight of the loss next to 1/2 |w|^2"},
    [STEPS] = {"steps", 300, 1, 1e6, "subgradient steps"},
    [RATE] = {"rate", 0.02, 1e-9, 1, "of the first step; the last one's is a tenth"},
    [ORDER] = {"order", 2, 1, 1e9, "of Renyi's entropy; 1: Shannon's"},
    [DEVIATION] = {"deviation", 0.1, 0, 1e3, "of the normal variables that weights begin with"},
    {0},
};

#define CURVE_EVERY 10 /* steps */

struct m3e {
    struct latent latent;
    struct min_entropy *workspaces; /* [n_threads] */
    double temperature, *w;
};

/* Of the loss-augmented field, in which the truth scores what it does without, but for a constant: the loss is 0 there.
 */
static enum clv_status entropy_terms(void *context, struct latent *latent, size_t example, int thread, const double *w,
                                     struct clv_error *err)
{
    const struct m3e *self = context;
    struct examples *examples = &latent->examples;
    struct decoder *decoder = &examples->decoders[thread];
    const struct clv_problem *problem = &examples->problems[example];
    size_t at = latent->first[example], k = (size_t)examples->shape.n_labels;
    const struct min_entropy_terms terms = {&decoder->field, latent->is_visible + at, self->temperature};
    struct min_entropy *space = &self->workspaces[thread];
    double best, truth;
    MUST(decoder_load(decoder, problem, &examples->shape, w, err));
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

static enum clv_status descend(struct m3e *self, struct clv_training_result *result, struct clv_error *err)
{
    const struct clv_training *training = self->latent.examples.training;
    size_t n_steps = (size_t)training->parameters[STEPS];
    for (size_t step = 0; step < n_steps; step++) {
        double objective, rate = training->parameters[RATE] / (1 + 9 * (double)step / (double)n_steps);
        enum clv_status status = latent_step(&objective, &self->latent, self->w, rate, entropy_terms, err);
        if (!status && (step % CURVE_EVERY == 0 || step + 1 == n_steps)) {
            report_progress(training->progress, "training", step, n_steps, NULL);
            status = curve_add(result, (struct clv_curve_point){(double)step, objective, NAN, NAN}, err);
        }
        if (status)
            return status;
    }
    return CLV_OK;
}

static const char *idle(const struct clv_training *training, int parameter)
{
    return parameter == DEVIATION ? idle_start(training) : NULL;
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    struct m3e self = {.temperature = 1 / training->parameters[ORDER]};
    enum clv_status status = latent_open(&self.latent, training, training->parameters[C], &self, err);
    int n_threads = self.latent.examples.n_threads;
    if (!status) {
        self.workspaces = array_zalloc((size_t)n_threads, sizeof *self.workspaces);
        self.w = array_alloc(self.latent.size, sizeof *self.w);
        status = self.workspaces && self.w ? CLV_OK : fail_memory(err);
    }
    if (!status) {
        latent_init(self.w, &self.latent, training->parameters[DEVIATION]);
        status = descend(&self, result, err);
    }
    if (status == CLV_ERR_INTERRUPTED) {
        status = CLV_OK;
        result->interrupted = true;
    }
    TRY(result_set(result, &self.latent.examples, self.w, err));
    result->decoding = (struct clv_decoding){CLV_DECODE_MIN_ENTROPY, self.temperature};
    for (int t = 0; self.workspaces && t < n_threads; t++)
        min_entropy_release(&self.workspaces[t]);
    arrays_free(self.workspaces, self.w);
    latent_release(&self.latent);
    return status;
}

const struct clv_learner m3e_learner = {
    .name = "m3e",
    .summary = "max-margin min-entropy model, hidden nodes on chains (Miller et al. 2012)",
    .parameters = parameters,
    .takes_init = true,
    .takes_hidden = true,
    .train = train,
    .idle = idle,
    .trains = CLV_TRAINS_FULL_FORESTS,
};
