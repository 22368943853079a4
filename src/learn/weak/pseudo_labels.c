#include "learn/weak/weak.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cluster/comm_for.h"
#include "feature/dataset/dataset.h"

/* Of teachers that no mask has taught: how often they are taught, the share of figure among what boxes do not rule out,
 * and that of the learner's passes. */
enum { ROUNDS_WITHOUT_MASKS = 6 };
static const double FILL = 0.4, SHARE_OF_PASSES = 0.1;

/* Of teachers with masks: what is trusted of an image's own share of figure, against the mean of all; chosen as in
 * pseudo_labelled.c. */
static const double OWN_SHARE_TRUST = 0.5;

#define MOST_SHIFT 100 /* of unaries */

/* Each example's draws are its own, and not those of any step. */
#define TEACHER_SEED(seed, round, index)                                                                               \
    ((seed) ^ (0x7465616368ULL + ((uint64_t)(round) << 58) + ((uint64_t)(index) << 32)))

void pseudo_labels_release(struct clv_pseudo_labels *self)
{
    for (size_t k = 0; self->q && k < self->n; k++)
        array_free(self->q[k]);
    array_free(self->q);
    *self = (struct clv_pseudo_labels){0};
}

static bool makes_its_own(const struct clv_learner *learner)
{
    return clv_learner_parameter(learner, "kappa") >= 0;
}

static bool has_marginals(const struct clv_learner *learner)
{
    return clv_learner_parameter(learner, "samples") >= 0;
}

bool pseudo_labels_needed(const struct clv_learner *learner, const struct clv_training *training)
{
    bool has_teacher = training->frames && !weak_as_published(learner, training);
    return training->n_weak > 0 && (has_teacher || !training->n_examples || !makes_its_own(learner));
}

struct labelling {
    struct clv_pseudo_labels *pseudo_labels;
    const struct clv_learner *learner;
    const struct clv_training *training;
    struct decoder *decoders;
    struct clv_shape shape; /* the teacher's */
    const double *w;
    double *share; /* [n_weak] of figure, see choose_shares */
    int round;
    bool framed; /* the teacher sees frames */
};

static const int32_t *given_of(const struct clv_training *training, size_t weak)
{
    return training->given ? training->given[weak] : NULL;
}

static void set_certain(double *q, const int32_t *label, size_t n_nodes, size_t n_labels)
{
    memset(q, 0, n_nodes * n_labels * sizeof *q);
    for (size_t i = 0; i < n_nodes; i++)
        q[i * n_labels + (size_t)label[i]] = 1;
}

/* The share of figure in the volume that nothing is given of, by the unaries alone with `shift` added; 0 without any.
 */
static double figure_share(const struct clv_field *field, const struct clv_problem *problem, const int32_t *given,
                           double shift)
{
    double open = 0, figure = 0;
    for (int32_t i = 0; i < problem->n_nodes; i++)
        if (!given || given[i] == CLV_UNKNOWN) {
            open += (double)problem->volume[i];
            figure += (double)problem->volume[i] / (1 + portable_exp(-field->unary[i] - shift));
        }
    return open > 0 ? figure / open : 0;
}

/* Adds to the unaries where nothing is given what makes that share `share`. */
static void balance(struct clv_field *field, const struct clv_problem *problem, const int32_t *given, double share)
{
    double low = -MOST_SHIFT, high = MOST_SHIFT;
    for (int step = 0; step < 50; step++) {
        double shift = (low + high) / 2;
        *(figure_share(field, problem, given, shift) > share ? &high : &low) = shift;
    }
    for (int32_t i = 0; i < problem->n_nodes; i++)
        if (!given || given[i] == CLV_UNKNOWN)
            field->unary[i] += low;
}

/* Opens a weak example and loads its field as the teacher sees it. */
static enum clv_status load_weak(struct dataset_item *item, struct decoder *decoder, const struct labelling *self,
                                 size_t k, struct clv_error *err)
{
    const struct clv_training *training = self->training;
    *item = (struct dataset_item){0};
    FAIL_IF(stop_requested(training->progress), CLV_ERR_INTERRUPTED, "interrupted");
    MUST(pseudo_labelled_example(item, training, (size_t)training->weak[k], self->framed, err));
    const struct partial_example example = {&item->problem, given_of(training, k), &self->shape, self->w};
    return partial_load(decoder, &example, err);
}

/* Whether background is all that is given of a weak example, but not all that there is: it has boxes. */
static bool is_boxed(const struct clv_training *training, size_t k)
{
    const int32_t *given = given_of(training, k);
    int32_t n = clv_dataset_problem(training->dataset, (size_t)training->weak[k]).n_nodes, n_open = 0;
    for (int32_t i = 0; given && i < n; i++) {
        if (given[i] > 0)
            return false;
        n_open += given[i] == CLV_UNKNOWN;
    }
    return n_open > 0;
}

/* share[k] as the teacher finds it, if the example has boxes. */
static enum clv_status find_share(void *context, size_t k, int thread, struct clv_error *err)
{
    struct labelling *self = context;
    struct dataset_item item;
    struct decoder *decoder = &self->decoders[thread];
    if (!is_boxed(self->training, k))
        return CLV_OK;
    enum clv_status status = load_weak(&item, decoder, self, k, err);
    if (status == CLV_OK)
        self->share[k] = figure_share(&decoder->field, &item.problem, given_of(self->training, k), 0);
    dataset_item_release(&item);
    return status;
}

static bool share_results(struct comm_piece *piece, void *context, size_t k, size_t part)
{
    struct labelling *self = context;
    *piece = (struct comm_piece){&self->share[k], sizeof *self->share};
    return part == 0;
}

/* share[n_weak]: the shares of figure that pseudo-labels are to have; NaN: as they come. Boxes are filled by FILL as
 * long as no mask says otherwise. With masks, the share that a teacher finds in one box errs as much as the mean of all
 * does, both ways: it takes the background for figure, or part of the figure for background. Halfway between is nearer
 * to the truth than either. */
static enum clv_status choose_shares(struct labelling *self, struct clv_error *err)
{
    const struct clv_training *training = self->training;
    double sum = 0, n_boxed = 0;
    for (size_t k = 0; k < training->n_weak; k++)
        self->share[k] = training->n_examples ? NAN : FILL;
    if (!training->n_examples || !training->frames || !self->framed)
        return CLV_OK;
    enum clv_status status = comm_for(training->n_weak, training->n_threads, find_share, share_results, self, err);
    for (size_t k = 0; k < training->n_weak; k++)
        if (!isnan(self->share[k])) {
            sum += self->share[k];
            n_boxed++;
        }
    for (size_t k = 0; k < training->n_weak; k++)
        self->share[k] = OWN_SHARE_TRUST * self->share[k] + (1 - OWN_SHARE_TRUST) * (sum / n_boxed);
    return status;
}

static enum clv_status label_example(void *context, size_t k, int thread, struct clv_error *err)
{
    struct labelling *self = context;
    const struct clv_training *training = self->training;
    struct decoder *decoder = &self->decoders[thread];
    struct dataset_item item;
    double *q = self->pseudo_labels->q[k];
    enum clv_status status = load_weak(&item, decoder, self, k, err);
    if (status == CLV_OK && !isnan(self->share[k]))
        balance(&decoder->field, &item.problem, given_of(training, k), self->share[k]);
    if (status == CLV_OK && has_marginals(self->learner)) {
        struct partial_options options = pseudo_labelled_options(self->learner, training);
        status = clv_perturbed_marginals(decoder->oracle, q, NULL, NULL, &decoder->field,
                                         TEACHER_SEED(training->seed, self->round, k), options.n_draws, err);
    } else if (status == CLV_OK) {
        status = clv_oracle_map(decoder->oracle, decoder->y, NULL, &decoder->field, err);
        if (status == CLV_OK)
            set_certain(q, decoder->y, (size_t)item.problem.n_nodes, (size_t)self->shape.n_labels);
    }
    dataset_item_release(&item);
    return status;
}

static bool label_results(struct comm_piece *piece, void *context, size_t k, size_t part)
{
    struct labelling *self = context;
    const struct clv_training *training = self->training;
    size_t n = (size_t)clv_dataset_problem(training->dataset, (size_t)training->weak[k]).n_nodes;
    double *q = self->pseudo_labels->q[k];
    *piece = (struct comm_piece){q, n * (size_t)self->shape.n_labels * sizeof *q};
    return part == 0;
}

/* Trains a teacher on the masks, and on the pseudo-labels so far if `from_pseudo_labels`; replaces the pseudo-labels by
 * its own. */
static enum clv_status teach(struct labelling *self, bool from_pseudo_labels, struct clv_error *err)
{
    const struct clv_training *training = self->training;
    struct clv_training quiet = *training;
    quiet.checkpoints = NULL;
    quiet.validation = NULL;
    int passes = clv_learner_parameter(self->learner, "passes");
    if (!training->n_examples && passes >= 0) /* a teacher that is taught again soon need not be finished */
        quiet.parameters[passes] = ceil(quiet.parameters[passes] * SHARE_OF_PASSES);
    struct clv_dataset *dataset = NULL;
    struct clv_training_result result = {0};
    enum clv_status status = pseudo_labelled_dataset(&dataset, from_pseudo_labels ? self->pseudo_labels->q : NULL,
                                                     self->framed, self->learner, training, err);
    TRY(pseudo_labelled_train(&result, dataset, self->learner, &quiet, err));
    TRY_IF(result.interrupted, fail(err, CLV_ERR_INTERRUPTED, "interrupted before there was anything to keep"));
    if (status == CLV_OK) {
        self->shape = training->shape;
        self->shape.n_features = clv_dataset_problem(dataset, 0).n_features;
        self->w = result.w;
        status = choose_shares(self, err);
    }
    TRY(comm_for(training->n_weak, training->n_threads, label_example, label_results, self, err));
    clv_training_result_release(&result);
    clv_dataset_free(dataset);
    return status;
}

/* What is known from the image and its boxes alone: box to cut's probabilities; without them, figure wherever it may
 * be. */
static void start_from_boxes(struct clv_pseudo_labels *self, const struct clv_training *training)
{
    for (size_t k = 0; k < self->n; k++) {
        size_t n = (size_t)clv_dataset_problem(training->dataset, (size_t)training->weak[k]).n_nodes;
        const int32_t *given = given_of(training, k);
        struct clv_problem frame = {0};
        if (training->frames)
            frame = clv_dataset_problem(training->frames, (size_t)training->weak[k]);
        for (size_t i = 0; i < n; i++) {
            double figure = frame.theta ? (double)frame.theta[2 * i + 1] : 1;
            if (given && given[i] != CLV_UNKNOWN)
                figure = given[i];
            self->q[k][2 * i] = 1 - figure;
            self->q[k][2 * i + 1] = figure;
        }
    }
}

static enum clv_status pseudo_labels_open(struct clv_pseudo_labels *self, const struct clv_training *training,
                                          struct clv_error *err)
{
    *self = (struct clv_pseudo_labels){.q = array_zalloc(training->n_weak, sizeof *self->q), .n = training->n_weak};
    for (size_t k = 0; self->q && k < self->n; k++) {
        size_t n = (size_t)clv_dataset_problem(training->dataset, (size_t)training->weak[k]).n_nodes;
        self->q[k] = array_alloc(n * (size_t)training->shape.n_labels, sizeof **self->q);
        MUST_IF(!self->q[k], fail_memory(err));
    }
    return self->q ? CLV_OK : fail_memory(err);
}

enum clv_status pseudo_labels_make(struct clv_pseudo_labels *self, const struct clv_learner *learner,
                                   const struct clv_training *training, struct clv_error *err)
{
    struct labelling labelling = {.pseudo_labels = self, .learner = learner, .training = training};
    int n_threads = parallel_threads(training->n_threads);
    enum clv_status status = pseudo_labels_open(self, training, err);
    labelling.share = array_alloc(training->n_weak, sizeof *labelling.share);
    TRY_IF(!labelling.share, fail_memory(err));
    TRY(decoders_new(&labelling.decoders, n_threads, training->engine, err));
    if (status == CLV_OK && training->n_examples) {
        labelling.framed = !weak_as_published(learner, training);
        status = teach(&labelling, false, err);
    } else if (status == CLV_OK) {
        start_from_boxes(self, training);
        int n_rounds = has_marginals(learner) ? ROUNDS_WITHOUT_MASKS : 0;
        for (; labelling.round < n_rounds && status == CLV_OK; labelling.round++) {
            labelling.framed = labelling.round > 0; /* the first ones fill boxes, which frames would take for figure */
            status = teach(&labelling, true, err);
        }
    }
    decoders_free(labelling.decoders, n_threads);
    array_free(labelling.share);
    if (status != CLV_OK)
        pseudo_labels_release(self);
    return status;
}

enum clv_status pseudo_labels_train(struct clv_training_result *result, const struct clv_pseudo_labels *self,
                                    const struct clv_learner *learner, const struct clv_training *training,
                                    struct clv_error *err)
{
    struct clv_dataset *dataset = NULL;
    enum clv_status status = pseudo_labelled_dataset(&dataset, self->q, false, learner, training, err);
    TRY(pseudo_labelled_train(result, dataset, learner, training, err));
    clv_dataset_free(dataset);
    return status;
}
