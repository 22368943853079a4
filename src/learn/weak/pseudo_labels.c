/* Makes pseudo-labels of weak examples: a teacher is trained on the masks, or in rounds on its own pseudo-labels, and
 * labels the weak examples with the shares of foreground that their boxes suggest. The first functions build the
 * datasets in which weak examples have pseudo-labels: for the teacher, with privileged features, or for a learner that
 * needs masks. Start at pseudo_labels_make. */
#include "learn/weak/weak.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cluster/comm_for.h"
#include "feature/dataset/dataset.h"

/* Chosen by the errors of pseudo-labels: five teachers were each trained on 14 random masks of the horse images and
 * labelled the other images. */
enum { BOX_CUT_BINS = 7 };
static const float BOX_CUT_WEIGHT = 2; /* relative to the other blocks of a node's features, each of which is about 1 */

/* Writes the features of a node's result of box segmentation, from index `first` on: its value is split between the two
 * nearest of BOX_CUT_BINS. Returns the number of entries. */
static size_t put_box_cut(int32_t *index, float *value, int32_t first, float foreground)
{
    float at = foreground * (BOX_CUT_BINS - 1), low = fminf(floorf(at), BOX_CUT_BINS - 2);
    for (int32_t k = 0; k < 2; k++) {
        index[k] = first + (int32_t)low + k;
        value[k] = BOX_CUT_WEIGHT * (k ? at - low : 1 - (at - low));
    }
    return 2;
}

/* Appends the privileged features to those of the problem and, if `with_box_cut`, those of box segmentation. The item
 * owns the new rows. */
static enum clv_status widen(struct dataset_item *item, const struct clv_problem *privileged, bool with_box_cut,
                             struct clv_error *err)
{
    struct clv_problem *problem = &item->problem;
    size_t n = (size_t)problem->n_nodes, at = 0;
    size_t size = (size_t)(problem->row[n] - problem->row[0] + privileged->row[n] - privileged->row[0]);
    int32_t first_bin = problem->n_features + privileged->n_features;
    item->row = array_alloc(n + 1, sizeof *item->row);
    item->index = array_alloc(size + 2 * n, sizeof *item->index);
    item->value = array_alloc(size + 2 * n, sizeof *item->value);
    NEED(item->row && item->index && item->value);
    for (size_t i = 0; i < n; i++) {
        item->row[i] = (int64_t)at;
        for (int64_t k = problem->row[i]; k < problem->row[i + 1]; k++, at++) {
            item->index[at] = problem->index[k];
            item->value[at] = problem->value[k];
        }
        for (int64_t k = privileged->row[i]; k < privileged->row[i + 1]; k++, at++) {
            item->index[at] = problem->n_features + privileged->index[k];
            item->value[at] = privileged->value[k];
        }
        if (with_box_cut && privileged->theta)
            at += put_box_cut(item->index + at, item->value + at, first_bin, privileged->theta[2 * i + 1]);
    }
    item->row[n] = (int64_t)at;
    problem->n_features = first_bin + (with_box_cut ? BOX_CUT_BINS : 0);
    problem->row = item->row;
    problem->index = item->index;
    problem->value = item->value;
    return CLV_OK;
}

enum clv_status pseudo_labelled_example(struct dataset_item *item, const struct clv_training *training, size_t number,
                                        bool is_privileged, struct clv_error *err)
{
    *item = (struct dataset_item){.problem = clv_dataset_problem(training->dataset, number)};
    if (!is_privileged || !training->privileged)
        return CLV_OK;
    struct clv_problem privileged = clv_dataset_problem(training->privileged, number);
    /* Without masks pseudo-labels start from box segmentation, which would only confirm itself. */
    return widen(item, &privileged, training->n_examples > 0, err);
}

struct partial_options pseudo_labelled_options(const struct clv_learner *learner, const struct clv_training *training)
{
    return (struct partial_options){
        .weighted = true,
        .is_published = learner_is_published(learner, training),
        .n_samples = (uint32_t)learner_value(learner, training, CLV_ROLE_DRAWS, 1),
        .sharpness = learner_value(learner, training, CLV_ROLE_SHARPNESS, 1),
    };
}

/* Sets the labels and weights of an item from its pseudo-labels. */
static enum clv_status label_item(struct dataset_item *item, const double *q, const struct clv_weight_layout *layout,
                                  const struct partial_options *options, struct clv_error *err)
{
    size_t n = (size_t)item->problem.n_nodes;
    item->label = array_alloc(n, sizeof *item->label);
    item->theta = array_alloc(n * (size_t)layout->n_labels, sizeof *item->theta);
    NEED(item->label && item->theta);
    item->problem.label = item->label;
    item->problem.theta = item->theta;
    return partial_weigh((struct partial_labels){item->theta, item->label}, q, &item->problem, layout, options, err);
}

/* Builds a dataset of the examples with masks, followed by the weak ones with labels by q[n_weak][n_nodes][n_labels]
 * (NULL: without weak ones). It borrows from the training's dataset. */
static enum clv_status pseudo_labelled_dataset(struct clv_dataset **dataset, double *const *q, bool is_privileged,
                                               const struct clv_learner *learner, const struct clv_training *training,
                                               struct clv_error *err)
{
    struct partial_options options = pseudo_labelled_options(learner, training);
    OWNED(dataset_drop) struct clv_dataset *result = NULL;
    size_t n_weak = q ? training->n_weak : 0;
    MUST(clv_dataset_new(&result, training->layout.n_labels, err));
    for (size_t i = 0; i < training->n_examples + n_weak; i++) {
        bool is_weak = i >= training->n_examples;
        size_t weak = i - training->n_examples;
        size_t number = (size_t)(is_weak ? training->weak[weak] : training->examples[i]);
        OWNED(dataset_item_release) struct dataset_item item = {0};
        MUST(pseudo_labelled_example(&item, training, number, is_privileged, err));
        if (is_weak)
            MUST(label_item(&item, q[weak], &training->layout, &options, err));
        NEED(item.name = string_copy(clv_dataset_name(training->dataset, number)));
        MUST(dataset_append(result, &item, err));
        item = (struct dataset_item){0}; /* the dataset owns it now */
    }
    *dataset = TAKE(result);
    return CLV_OK;
}

static enum clv_status pseudo_labelled_train(struct clv_training_result *result, const struct clv_dataset *dataset,
                                             const struct clv_learner *learner, const struct clv_training *training,
                                             struct clv_error *err)
{
    struct clv_training changed = *training;
    size_t n = clv_dataset_size(dataset);
    OWNED_ARRAY int32_t *examples = array_alloc(n, sizeof *examples);
    NEED(examples);
    for (size_t i = 0; i < n; i++)
        examples[i] = (int32_t)i;
    changed.dataset = dataset;
    changed.examples = examples;
    changed.n_examples = n;
    changed.n_weak = 0;
    changed.layout.n_features = clv_dataset_problem(dataset, 0).n_features;
    if (changed.layout.n_features != training->layout.n_features) /* a teacher with privileged features */
        changed.init = NULL;
    return learner->train(result, &changed, err);
}

/* For teachers without masks: the number of rounds, the share of foreground among the pixels that boxes do not exclude,
 * and the fraction of the learner's passes. */
enum { ROUNDS_WITHOUT_MASKS = 6 };
static const double FILL = 0.4, SHARE_OF_PASSES = 0.1;

/* For teachers with masks: the weight of an image's share of foreground relative to the mean of all images; chosen in
 * the same way as BOX_CUT_BINS. */
static const double OWN_SHARE_TRUST = 0.5;

#define MOST_SHIFT 100 /* largest shift of unary scores */

/* Gives each example its own samples in each round, which differ from those of the learner's steps. */
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
    return learner_role(learner, CLV_ROLE_KAPPA) >= 0;
}

static bool has_marginals(const struct clv_learner *learner)
{
    return learner_role(learner, CLV_ROLE_DRAWS) >= 0;
}

bool pseudo_labels_needed(const struct clv_learner *learner, const struct clv_training *training)
{
    bool has_teacher = training->privileged && !learner_is_published(learner, training);
    return training->n_weak > 0 && (has_teacher || !training->n_examples || !makes_its_own(learner));
}

struct label_state {
    struct clv_pseudo_labels *pseudo_labels;
    const struct clv_learner *learner;
    const struct clv_training *training;
    struct decoder *decoders; /* [n_threads] */
    int n_threads;
    struct clv_weight_layout layout; /* the teacher's */
    const double *w;
    double *share; /* [n_weak] shares of foreground, see choose_shares */
    int round;
    bool is_privileged; /* the teacher has the privileged features */
};

/* Returns the share of foreground in the area without fixed labels, by the unary scores alone, with `shift` added; 0
 * without such an area. */
static double foreground_share(const struct clv_field *field, const struct clv_problem *problem, const int32_t *given,
                               double shift)
{
    double open = 0, foreground = 0;
    for (int32_t i = 0; i < problem->n_nodes; i++)
        if (!given || given[i] == CLV_UNKNOWN) {
            open += (double)problem->area[i];
            foreground += (double)problem->area[i] / (1 + portable_exp(-field->unary[i] - shift));
        }
    return open > 0 ? foreground / open : 0;
}

/* Shifts the unary scores of nodes without fixed labels so that their share of foreground becomes `share`. */
static void balance(struct clv_field *field, const struct clv_problem *problem, const int32_t *given, double share)
{
    double low = -MOST_SHIFT, high = MOST_SHIFT;
    for (int step = 0; step < 50; step++) {
        double shift = (low + high) / 2;
        *(foreground_share(field, problem, given, shift) > share ? &high : &low) = shift;
    }
    for (int32_t i = 0; i < problem->n_nodes; i++)
        if (!given || given[i] == CLV_UNKNOWN)
            field->unary[i] += low;
}

/* Opens a weak example and loads its field by the teacher's weights. */
static enum clv_status load_weak(struct dataset_item *item, struct decoder *decoder, const struct label_state *self,
                                 size_t k, struct clv_error *err)
{
    const struct clv_training *training = self->training;
    *item = (struct dataset_item){0};
    FAIL_IF(stop_requested(training->progress), CLV_ERR_INTERRUPTED, "interrupted");
    MUST(pseudo_labelled_example(item, training, (size_t)training->weak[k], self->is_privileged, err));
    const struct partial_example example = {&item->problem, training_given(training, k), &self->layout, self->w};
    return partial_load(decoder, &example, err);
}

/* Returns whether a weak example has boxes: the given labels are all background, and not all nodes are given. */
static bool is_boxed(const struct clv_training *training, size_t k)
{
    const int32_t *given = training_given(training, k);
    int32_t n = clv_dataset_problem(training->dataset, (size_t)training->weak[k]).n_nodes, n_open = 0;
    for (int32_t i = 0; given && i < n; i++) {
        if (given[i] > 0)
            return false;
        n_open += given[i] == CLV_UNKNOWN;
    }
    return n_open > 0;
}

/* Computes share[k] by the teacher, if the example has boxes. */
static enum clv_status find_share(void *context, size_t k, int thread, struct clv_error *err)
{
    struct label_state *self = context;
    OWNED(dataset_item_release) struct dataset_item item = {0};
    struct decoder *decoder = &self->decoders[thread];
    if (!is_boxed(self->training, k))
        return CLV_OK;
    MUST(load_weak(&item, decoder, self, k, err));
    self->share[k] = foreground_share(&decoder->field, &item.problem, training_given(self->training, k), 0);
    return CLV_OK;
}

static bool share_results(struct comm_piece *piece, void *context, size_t k, size_t part)
{
    struct label_state *self = context;
    *piece = (struct comm_piece){&self->share[k], sizeof *self->share};
    return part == 0;
}

/* Chooses share[n_weak], the shares of foreground to which pseudo-labels are shifted, or NaN for no shift. Without
 * masks FILL of each box is foreground. With masks, the share that a teacher finds in one box and the mean over all
 * boxes have errors of about the same size, in both directions. The value halfway between is nearer to the truth than
 * either. */
static enum clv_status choose_shares(struct label_state *self, struct clv_error *err)
{
    const struct clv_training *training = self->training;
    double sum = 0, n_boxed = 0;
    for (size_t k = 0; k < training->n_weak; k++)
        self->share[k] = training->n_examples ? NAN : FILL;
    if (!training->n_examples || !training->privileged || !self->is_privileged)
        return CLV_OK;
    MUST(comm_for(training->n_weak, training->n_threads, find_share, share_results, self, err));
    for (size_t k = 0; k < training->n_weak; k++)
        if (!isnan(self->share[k])) {
            sum += self->share[k];
            n_boxed++;
        }
    for (size_t k = 0; k < training->n_weak; k++)
        self->share[k] = OWN_SHARE_TRUST * self->share[k] + (1 - OWN_SHARE_TRUST) * (sum / n_boxed);
    return CLV_OK;
}

static enum clv_status label_example(void *context, size_t k, int thread, struct clv_error *err)
{
    struct label_state *self = context;
    const struct clv_training *training = self->training;
    struct decoder *decoder = &self->decoders[thread];
    OWNED(dataset_item_release) struct dataset_item item = {0};
    double *q = self->pseudo_labels->q[k];
    MUST(load_weak(&item, decoder, self, k, err));
    if (!isnan(self->share[k]))
        balance(&decoder->field, &item.problem, training_given(training, k), self->share[k]);
    if (has_marginals(self->learner)) {
        struct partial_options options = pseudo_labelled_options(self->learner, training);
        return clv_perturbed_marginals(decoder->oracle, q, NULL, NULL, &decoder->field,
                                       TEACHER_SEED(training->seed, self->round, k), options.n_samples, err);
    }
    MUST(clv_oracle_map(decoder->oracle, decoder->y, NULL, &decoder->field, err));
    marginals_of_labels(q, decoder->y, (size_t)item.problem.n_nodes, (size_t)self->layout.n_labels);
    return CLV_OK;
}

static bool label_results(struct comm_piece *piece, void *context, size_t k, size_t part)
{
    struct label_state *self = context;
    const struct clv_training *training = self->training;
    size_t n = (size_t)clv_dataset_problem(training->dataset, (size_t)training->weak[k]).n_nodes;
    double *q = self->pseudo_labels->q[k];
    *piece = (struct comm_piece){q, n * (size_t)self->layout.n_labels * sizeof *q};
    return part == 0;
}

/* Trains a teacher on the masks, and on the pseudo-labels so far if `from_pseudo_labels`; replaces the pseudo-labels by
 * its own. */
static enum clv_status teach(struct label_state *self, bool from_pseudo_labels, struct clv_error *err)
{
    const struct clv_training *training = self->training;
    struct clv_training quiet = *training;
    quiet.checkpoints = NULL;
    quiet.validation = NULL;
    int passes = learner_role(self->learner, CLV_ROLE_PASSES);
    if (!training->n_examples && passes >= 0) /* a teacher that is trained again in the next round need not converge */
        quiet.parameters[passes] = ceil(quiet.parameters[passes] * SHARE_OF_PASSES);
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    OWNED(clv_training_result_release) struct clv_training_result result = {0};
    MUST(pseudo_labelled_dataset(&dataset, from_pseudo_labels ? self->pseudo_labels->q : NULL, self->is_privileged,
                                 self->learner, training, err));
    MUST(pseudo_labelled_train(&result, dataset, self->learner, &quiet, err));
    FAIL_IF(result.interrupted, CLV_ERR_INTERRUPTED, "interrupted before there was anything to keep");
    self->layout = training->layout;
    self->layout.n_features = clv_dataset_problem(dataset, 0).n_features;
    self->w = result.w;
    MUST(choose_shares(self, err));
    return comm_for(training->n_weak, training->n_threads, label_example, label_results, self, err);
}

/* Sets the first pseudo-labels of a training without masks: the probabilities of box segmentation or, without them,
 * foreground wherever the boxes allow it. */
static void start_from_boxes(struct clv_pseudo_labels *self, const struct clv_training *training)
{
    for (size_t k = 0; k < self->n; k++) {
        size_t n = (size_t)clv_dataset_problem(training->dataset, (size_t)training->weak[k]).n_nodes;
        const int32_t *given = training_given(training, k);
        struct clv_problem privileged = {0};
        if (training->privileged)
            privileged = clv_dataset_problem(training->privileged, (size_t)training->weak[k]);
        for (size_t i = 0; i < n; i++) {
            double foreground = privileged.theta ? (double)privileged.theta[2 * i + 1] : 1;
            if (given && given[i] != CLV_UNKNOWN)
                foreground = given[i];
            self->q[k][2 * i] = 1 - foreground;
            self->q[k][2 * i + 1] = foreground;
        }
    }
}

static enum clv_status pseudo_labels_open(struct clv_pseudo_labels *self, const struct clv_training *training,
                                          struct clv_error *err)
{
    *self = (struct clv_pseudo_labels){.q = array_zalloc(training->n_weak, sizeof *self->q), .n = training->n_weak};
    for (size_t k = 0; self->q && k < self->n; k++) {
        size_t n = (size_t)clv_dataset_problem(training->dataset, (size_t)training->weak[k]).n_nodes;
        self->q[k] = array_alloc(n * (size_t)training->layout.n_labels, sizeof **self->q);
        NEED(self->q[k]);
    }
    return self->q ? CLV_OK : fail_memory(err);
}

static void labelling_release(struct label_state *self)
{
    decoders_free(self->decoders, self->n_threads);
    array_free(self->share);
}

enum clv_status pseudo_labels_make(struct clv_pseudo_labels *self, const struct clv_learner *learner,
                                   const struct clv_training *training, struct clv_error *err)
{
    *self = (struct clv_pseudo_labels){0};
    OWNED(pseudo_labels_release) struct clv_pseudo_labels result = {0};
    OWNED(labelling_release)
    struct label_state labelling = {
        .pseudo_labels = &result,
        .learner = learner,
        .training = training,
        .n_threads = parallel_threads(training->n_threads),
    };
    MUST(pseudo_labels_open(&result, training, err));
    labelling.share = array_alloc(training->n_weak, sizeof *labelling.share);
    NEED(labelling.share);
    MUST(decoders_new(&labelling.decoders, labelling.n_threads, training->engine, err));
    if (training->n_examples) {
        labelling.is_privileged = !learner_is_published(learner, training);
        MUST(teach(&labelling, false, err));
    } else {
        start_from_boxes(&result, training);
        int n_rounds = has_marginals(learner) ? ROUNDS_WITHOUT_MASKS : 0;
        for (; labelling.round < n_rounds; labelling.round++) {
            labelling.is_privileged = labelling.round > 0; /* round 0 has filled boxes, which these would copy */
            MUST(teach(&labelling, true, err));
        }
    }
    *self = TAKE(result);
    return CLV_OK;
}

enum clv_status pseudo_labels_train(struct clv_training_result *result, const struct clv_pseudo_labels *self,
                                    const struct clv_learner *learner, const struct clv_training *training,
                                    struct clv_error *err)
{
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    MUST(pseudo_labelled_dataset(&dataset, self->q, false, learner, training, err));
    return pseudo_labelled_train(result, dataset, learner, training, err);
}
