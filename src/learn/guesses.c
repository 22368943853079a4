#include "learn/guesses.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "feature/dataset.h"
#include "learn/partial.h"

/* Of teachers that no mask has taught: how often they are taught, the share of figure among what boxes do not rule out, and that of the learner's passes. */
enum { ROUNDS_WITHOUT_MASKS = 6 };
static const double FILL = 0.4, SHARE_OF_PASSES = 0.1;

#define MOST_SHIFT 100 /* of unaries */

/* Each example's draws are its own, and not those of any step. */
#define TEACHER_SEED(seed, round, index)                                                                               \
    ((seed) ^ (0x7465616368ULL + ((uint64_t)(round) << 58) + ((uint64_t)(index) << 32)))

void guesses_release(struct clv_guesses *self)
{
    for (size_t k = 0; self->q && k < self->n; k++)
        array_free(self->q[k]);
    array_free(self->q);
    *self = (struct clv_guesses){0};
}

static bool can_guess(const struct clv_learner *learner)
{
    return clv_learner_parameter(learner, "kappa") >= 0;
}

static bool has_marginals(const struct clv_learner *learner)
{
    return clv_learner_parameter(learner, "draws") >= 0;
}

bool guesses_needed(const struct clv_learner *learner, const struct clv_training *training)
{
    return training->n_weak > 0 && (training->frames || !training->n_examples || !can_guess(learner));
}

static double parameter(const struct clv_learner *learner, const struct clv_training *training, const char *name,
                        double otherwise)
{
    int index = clv_learner_parameter(learner, name);
    return index < 0 ? otherwise : training->parameters[index];
}

/* --- what the teacher learns from -------------------------------------------------------------------------------------- */

/* Puts the frame's features behind the problem's own. The new rows are the item's. */
static enum clv_status widen(struct dataset_item *item, const struct clv_problem *frame, struct clv_error *err)
{
    struct clv_problem *problem = &item->problem;
    size_t n = (size_t)problem->n_nodes, at = 0;
    size_t size = (size_t)(problem->row[n] - problem->row[0] + frame->row[n] - frame->row[0]);
    item->row = array_alloc(n + 1, sizeof *item->row);
    item->index = array_alloc(size, sizeof *item->index);
    item->value = array_alloc(size, sizeof *item->value);
    if (!item->row || !item->index || !item->value)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        item->row[i] = (int64_t)at;
        for (int64_t k = problem->row[i]; k < problem->row[i + 1]; k++, at++) {
            item->index[at] = problem->index[k];
            item->value[at] = problem->value[k];
        }
        for (int64_t k = frame->row[i]; k < frame->row[i + 1]; k++, at++) {
            item->index[at] = problem->n_features + frame->index[k];
            item->value[at] = frame->value[k];
        }
    }
    item->row[n] = (int64_t)at;
    problem->n_features += frame->n_features;
    problem->row = item->row;
    problem->index = item->index;
    problem->value = item->value;
    return CLV_OK;
}

/* An example of the training's dataset, with its frame if `framed`; arrays that are not widened stay the dataset's. */
static enum clv_status open_item(struct dataset_item *item, const struct clv_training *training, size_t number,
                                 bool framed, struct clv_error *err)
{
    *item = (struct dataset_item){.problem = clv_dataset_problem(training->dataset, number)};
    if (!framed || !training->frames)
        return CLV_OK;
    struct clv_problem frame = clv_dataset_problem(training->frames, number);
    return widen(item, &frame, err);
}

static struct partial_options options_of(const struct clv_learner *learner, const struct clv_training *training)
{
    return (struct partial_options){.weighted = true,
                                    .n_draws = (uint32_t)parameter(learner, training, "draws", 1),
                                    .sharpness = parameter(learner, training, "sharpness", 1)};
}

/* Gives an item the labels and weights that a guess asks for. */
static enum clv_status label_item(struct dataset_item *item, const double *q, const struct clv_shape *shape,
                                  const struct partial_options *options, struct clv_error *err)
{
    size_t n = (size_t)item->problem.n_nodes;
    item->label = array_alloc(n, sizeof *item->label);
    item->theta = array_alloc(n * (size_t)shape->n_labels, sizeof *item->theta);
    if (!item->label || !item->theta)
        return fail_memory(err);
    item->problem.label = item->label;
    item->problem.theta = item->theta;
    return partial_weigh(item->theta, item->label, q, &item->problem, shape, options, err);
}

/* The examples with masks, then, if there are guesses, the weak ones as these have them. Borrows from the training's dataset. */
static enum clv_status collect(struct clv_dataset **lesson, const struct clv_guesses *guesses, bool framed,
                               const struct clv_learner *learner, const struct clv_training *training,
                               struct clv_error *err)
{
    struct partial_options options = options_of(learner, training);
    struct clv_dataset *fresh;
    size_t n_weak = guesses ? guesses->n : 0;
    enum clv_status status = clv_dataset_new(&fresh, training->shape.n_labels, err);
    for (size_t i = 0; i < training->n_examples + n_weak && status == CLV_OK; i++) {
        bool is_weak = i >= training->n_examples;
        size_t weak = i - training->n_examples;
        size_t number = (size_t)(is_weak ? training->weak[weak] : training->examples[i]);
        struct dataset_item item;
        status = open_item(&item, training, number, framed, err);
        if (status == CLV_OK && is_weak)
            status = label_item(&item, guesses->q[weak], &training->shape, &options, err);
        if (status == CLV_OK && !(item.name = string_copy(clv_dataset_name(training->dataset, number))))
            status = fail_memory(err);
        if (status == CLV_OK)
            status = dataset_append(fresh, &item, err);
        if (status != CLV_OK)
            dataset_item_release(&item);
    }
    if (status == CLV_OK)
        *lesson = fresh;
    else
        clv_dataset_free(fresh);
    return status;
}

/* Trains on all of a lesson. */
static enum clv_status learn(struct clv_training_result *result, const struct clv_dataset *lesson,
                             const struct clv_learner *learner, const struct clv_training *training,
                             struct clv_error *err)
{
    struct clv_training own = *training;
    size_t n = clv_dataset_size(lesson);
    int32_t *examples = array_alloc(n, sizeof *examples);
    if (!examples)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++)
        examples[i] = (int32_t)i;
    own.dataset = lesson;
    own.examples = examples;
    own.n_examples = n;
    own.n_weak = 0;
    own.shape.n_features = clv_dataset_problem(lesson, 0).n_features;
    if (own.shape.n_features != training->shape.n_features) /* a teacher that sees frames */
        own.init = NULL;
    enum clv_status status = learner->train(result, &own, err);
    array_free(examples);
    return status;
}

/* --- guessing ---------------------------------------------------------------------------------------------------------- */

struct guessing {
    struct clv_guesses *guesses;
    const struct clv_learner *learner;
    const struct clv_training *training;
    struct decoder *decoders;
    struct clv_shape shape; /* the teacher's */
    const double *w;
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

/* Adds to the unaries what makes FILL of the volume that nothing is given of figure, by the unaries alone. Guesses that teach
 * their own teacher would otherwise drift: background that is as often in boxes as outside becomes figure. */
static void balance(struct clv_field *field, const struct clv_problem *problem, const int32_t *given)
{
    double low = -MOST_SHIFT, high = MOST_SHIFT, open = 0;
    for (int32_t i = 0; i < problem->n_nodes; i++)
        if (!given || given[i] == CLV_UNKNOWN)
            open += (double)problem->volume[i];
    for (int step = 0; step < 50; step++) {
        double shift = (low + high) / 2, figure = 0;
        for (int32_t i = 0; i < problem->n_nodes; i++)
            if (!given || given[i] == CLV_UNKNOWN)
                figure += (double)problem->volume[i] / (1 + exp(-field->unary[i] - shift));
        *(figure > FILL * open ? &high : &low) = shift;
    }
    for (int32_t i = 0; i < problem->n_nodes; i++)
        if (!given || given[i] == CLV_UNKNOWN)
            field->unary[i] += low;
}

static enum clv_status guess_example(void *context, size_t k, int thread, struct clv_error *err)
{
    struct guessing *self = context;
    const struct clv_training *training = self->training;
    struct decoder *decoder = &self->decoders[thread];
    struct dataset_item item;
    if (stop_requested(training->progress))
        return fail(err, CLV_ERR_INTERRUPTED, "interrupted");
    enum clv_status status = open_item(&item, training, (size_t)training->weak[k], self->framed, err);
    if (status != CLV_OK)
        goto done;
    double *q = self->guesses->q[k];
    const struct clv_problem *problem = &item.problem;
    status = partial_load(decoder, problem, given_of(training, k), &self->shape, self->w, err);
    if (status == CLV_OK && !training->n_examples)
        balance(&decoder->field, problem, given_of(training, k));
    if (status == CLV_OK && has_marginals(self->learner)) {
        struct partial_options options = options_of(self->learner, training);
        status = clv_perturbed_marginals(decoder->oracle, q, NULL, NULL, &decoder->field,
                                         TEACHER_SEED(training->seed, self->round, k), options.n_draws, err);
    } else if (status == CLV_OK) {
        status = clv_oracle_map(decoder->oracle, decoder->y, NULL, &decoder->field, err);
        if (status == CLV_OK)
            set_certain(q, decoder->y, (size_t)problem->n_nodes, (size_t)self->shape.n_labels);
    }
done:
    dataset_item_release(&item);
    return status;
}

/* Trains a teacher on the masks, and on the guesses so far if `from_guesses`; replaces the guesses by its own. */
static enum clv_status teach(struct guessing *self, bool from_guesses, struct clv_error *err)
{
    const struct clv_training *training = self->training;
    struct clv_training quiet = *training;
    quiet.checkpoints = NULL;
    quiet.validation = NULL;
    int passes = clv_learner_parameter(self->learner, "passes");
    if (!training->n_examples && passes >= 0) /* a teacher that is taught again soon need not be finished */
        quiet.parameters[passes] = ceil(quiet.parameters[passes] * SHARE_OF_PASSES);
    struct clv_dataset *lesson = NULL;
    struct clv_training_result result = {0};
    enum clv_status status =
        collect(&lesson, from_guesses ? self->guesses : NULL, self->framed, self->learner, training, err);
    if (status == CLV_OK)
        status = learn(&result, lesson, self->learner, &quiet, err);
    if (status == CLV_OK && result.interrupted)
        status = fail(err, CLV_ERR_INTERRUPTED, "interrupted before there was anything to keep");
    if (status == CLV_OK) {
        self->shape = training->shape;
        self->shape.n_features = clv_dataset_problem(lesson, 0).n_features;
        self->w = result.w;
        status = parallel_for(training->n_weak, training->n_threads, guess_example, self, err);
    }
    clv_training_result_release(&result);
    clv_dataset_free(lesson);
    return status;
}

/* The opinion of those who know nothing but the image and its boxes; without one, figure wherever it may be. */
static void start_from_boxes(struct clv_guesses *self, const struct clv_training *training)
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

static enum clv_status guesses_open(struct clv_guesses *self, const struct clv_training *training,
                                    struct clv_error *err)
{
    *self = (struct clv_guesses){.q = array_zalloc(training->n_weak, sizeof *self->q), .n = training->n_weak};
    for (size_t k = 0; self->q && k < self->n; k++) {
        size_t n = (size_t)clv_dataset_problem(training->dataset, (size_t)training->weak[k]).n_nodes;
        self->q[k] = array_alloc(n * (size_t)training->shape.n_labels, sizeof **self->q);
        if (!self->q[k])
            return fail_memory(err);
    }
    return self->q ? CLV_OK : fail_memory(err);
}

enum clv_status guesses_make(struct clv_guesses *self, const struct clv_learner *learner,
                             const struct clv_training *training, struct clv_error *err)
{
    struct guessing guessing = {.guesses = self, .learner = learner, .training = training};
    int n_threads = parallel_threads(training->n_threads);
    enum clv_status status = guesses_open(self, training, err);
    if (status == CLV_OK)
        status = decoders_new(&guessing.decoders, n_threads, training->engine, err);
    if (status == CLV_OK && training->n_examples) {
        guessing.framed = true;
        status = teach(&guessing, false, err);
    } else if (status == CLV_OK) {
        start_from_boxes(self, training);
        int n_rounds = has_marginals(learner) ? ROUNDS_WITHOUT_MASKS : 0;
        for (; guessing.round < n_rounds && status == CLV_OK; guessing.round++) {
            guessing.framed =
                guessing.round > 0; /* the first guesses fill boxes, which frames would take for the figure */
            status = teach(&guessing, true, err);
        }
    }
    decoders_free(guessing.decoders, n_threads);
    if (status != CLV_OK)
        guesses_release(self);
    return status;
}

enum clv_status guesses_train(struct clv_training_result *result, const struct clv_guesses *self,
                              const struct clv_learner *learner, const struct clv_training *training,
                              struct clv_error *err)
{
    struct clv_dataset *lesson = NULL;
    enum clv_status status = collect(&lesson, self, false, learner, training, err);
    if (status == CLV_OK)
        status = learn(result, lesson, learner, training, err);
    clv_dataset_free(lesson);
    return status;
}
