/* Trains the first of two stages (auto-context, Tu & Bai 2010): one model per fold, without the fold's images, and one
 * on all images. Calibrates their temperature and adds the held-out marginals to the features of the second stage. Also
 * sets the label costs of a model of two stages (Delong et al. 2012). Start at stages_learn. */
#include "learn/stages/stages.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/memory.h"
#include "cluster/comm_for.h"
#include "feature/dataset/dataset.h"
#include "learn/learners.h"
#include "learn/select/select.h"
#include "model/context.h"
#include "model/model.h"
#include "mrf/problem.h"

/* Candidates for the temperature, in units of the mean magnitude of unary scores. The one with the largest likelihood
 * of held-out labels in some images is chosen. */
static const double temperatures[] = {0.03, 0.06, 0.1, 0.15, 0.25, 0.4, 0.6, 1, 2};
#define N_TEMPERATURES (sizeof temperatures / sizeof *temperatures)
enum { MAX_CALIBRATED = 48 };
static const double USUAL = 0.33; /* without any truth */

struct stages_state {
    const struct clv_learner *learner;
    const struct clv_training *training;
    const int32_t *fold; /* [items of the dataset] */
    struct clv_progress silent;
    struct clv_stage stages[STAGE_FOLDS + 1]; /* trained without the fold; the last one on all images */
    size_t n_done;
};

static void stages_state_release(struct stages_state *self)
{
    for (size_t f = 0; f <= STAGE_FOLDS; f++)
        array_free(self->stages[f].w);
}

/* The training's examples and weak examples that are not in fold f. */
struct selection {
    int32_t *examples, *weak;
    const int32_t **given;
};

static void selection_release(struct selection *self)
{
    arrays_free(self->examples, self->weak, self->given);
}

static enum clv_status select_without(struct selection *self, struct clv_training *training, const int32_t *fold,
                                      int32_t f, struct clv_error *err)
{
    const struct clv_training all = *training;
    self->examples = array_alloc(all.n_examples, sizeof *self->examples);
    self->weak = array_alloc(all.n_weak, sizeof *self->weak);
    self->given = array_alloc(all.n_weak, sizeof *self->given);
    NEED(self->examples && self->weak && self->given);
    training->n_examples = training->n_weak = 0;
    for (size_t i = 0; i < all.n_examples; i++)
        if (fold[all.examples[i]] != f)
            self->examples[training->n_examples++] = all.examples[i];
    for (size_t i = 0; i < all.n_weak; i++)
        if (fold[all.weak[i]] != f) {
            self->given[training->n_weak] = all.given ? all.given[i] : NULL;
            self->weak[training->n_weak++] = all.weak[i];
        }
    training->examples = self->examples;
    training->weak = self->weak;
    training->given = all.given ? self->given : NULL;
    return CLV_OK;
}

/* Trains one stage. The stage of all images comes first, because it takes longest. */
static enum clv_status learn_task(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct stages_state *self = context;
    size_t f = (index + STAGE_FOLDS) % (STAGE_FOLDS + 1);
    struct clv_training training = *self->training;
    OWNED(selection_release) struct selection selection = {0};
    OWNED(clv_training_result_release) struct clv_training_result result = {0};
    training.n_threads = 1;
    training.progress = &self->silent;
    training.checkpoints = NULL;
    training.validation = NULL;
    if (f < STAGE_FOLDS)
        MUST(select_without(&selection, &training, self->fold, (int32_t)f, err));
    MUST(train_part(&result, self->learner, &training, err));
    FAIL_IF(result.interrupted, CLV_ERR_INTERRUPTED, "the first stage was interrupted");
    memcpy(self->stages[f].w, result.w, clv_weight_layout_size(&training.layout) * sizeof *result.w);
    parallel_progress(self->training->progress, "learning the first stage", &self->n_done, STAGE_FOLDS + 1, NULL);
    return CLV_OK;
}

static bool learned_weights(struct comm_piece *piece, void *context, size_t index, size_t k)
{
    struct stages_state *self = context;
    const struct clv_stage *stage = &self->stages[(index + STAGE_FOLDS) % (STAGE_FOLDS + 1)];
    *piece = (struct comm_piece){stage->w, clv_weight_layout_size(&stage->layout) * sizeof *stage->w};
    return k == 0;
}

static enum clv_status learn_all(struct stages_state *self, struct clv_error *err)
{
    const struct clv_weight_layout *layout = &self->training->layout;
    for (size_t f = 0; f <= STAGE_FOLDS; f++) {
        self->stages[f] = (struct clv_stage){.layout = *layout, .temperature = 1};
        self->stages[f].w = array_alloc(clv_weight_layout_size(layout), sizeof(double));
        NEED(self->stages[f].w);
    }
    return comm_queue(STAGE_FOLDS + 1, self->training->n_threads, learn_task, learned_weights, self, err);
}

static const struct clv_stage *stage_of(const struct stages_state *self, size_t item)
{
    return &self->stages[self->fold[item]];
}

struct calibration {
    const struct stages_state *learning;
    double unit;
    size_t n, step;
    double *loss; /* [N_TEMPERATURES][n] */
};

/* Returns the mean negative log-likelihood of an example's true labels, with the weights of the loss. */
static double negative_log_likelihood(const struct clv_problem *problem, const double *marginals, int32_t n_labels)
{
    double sum = 0, total = 0;
    for (size_t k = 0; k < (size_t)problem->n_nodes * (size_t)n_labels; k++) {
        sum -= (double)problem->theta[k] * portable_log(fmax(marginals[k], 1e-6));
        total += (double)problem->theta[k];
    }
    return total > 0 ? sum / total : 0;
}

static enum clv_status calibrate_task(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct calibration *self = context;
    const struct clv_training *training = self->learning->training;
    size_t item = (size_t)training->examples[index % self->n * self->step];
    struct clv_problem problem = clv_dataset_problem(training->dataset, item);
    struct clv_stage stage = *stage_of(self->learning, item);
    stage.temperature = self->unit * temperatures[index / self->n];
    OWNED_ARRAY double *marginals =
        array_alloc((size_t)problem.n_nodes, (size_t)stage.layout.n_labels * sizeof *marginals);
    NEED(marginals);
    MUST(stage_marginals(marginals, &stage, &problem, err));
    self->loss[index] = negative_log_likelihood(&problem, marginals, stage.layout.n_labels);
    return CLV_OK;
}

static bool calibration_loss(struct comm_piece *piece, void *context, size_t index, size_t k)
{
    struct calibration *self = context;
    *piece = (struct comm_piece){&self->loss[index], sizeof *self->loss};
    return k == 0;
}

/* Sets *size to the mean magnitude of unary scores over examples and weak examples, by w or, without w, by the stage
 * that was not trained on the example; 1 if all are 0. It is the unit of scores that are added to them. */
static enum clv_status score_size(double *size, const struct clv_training *training,
                                  const struct stages_state *learning, const double *w, struct clv_error *err)
{
    const struct clv_weight_layout *layout = &training->layout;
    double sum = 0, n = 0;
    for (size_t i = 0; i < training->n_examples + training->n_weak; i++) {
        bool is_weak = i >= training->n_examples;
        size_t item = (size_t)(is_weak ? training->weak[i - training->n_examples] : training->examples[i]);
        struct clv_problem problem = clv_dataset_problem(training->dataset, item);
        size_t n_scores = (size_t)problem.n_nodes * clv_weight_layout_rows(layout);
        OWNED_ARRAY double *unary = array_alloc(n_scores, sizeof *unary);
        NEED(unary);
        clv_unary_scores(unary, &problem, layout, w ? w : stage_of(learning, item)->w);
        for (size_t k = 0; k < n_scores; k++)
            sum += fabs(unary[k]);
        n += (double)n_scores;
    }
    *size = sum > 0 ? sum / n : 1;
    return CLV_OK;
}

static enum clv_status choose_temperature(double *temperature, const struct stages_state *self, struct clv_error *err)
{
    size_t n = self->training->n_examples, step = (n + MAX_CALIBRATED - 1) / MAX_CALIBRATED;
    struct calibration calibration = {.learning = self, .step = step, .n = n ? (n + step - 1) / step : 0};
    MUST(score_size(&calibration.unit, self->training, self, NULL, err));
    *temperature = calibration.unit * USUAL;
    if (!n)
        return CLV_OK;
    OWNED_ARRAY double *loss = array_zalloc(calibration.n, N_TEMPERATURES * sizeof *loss);
    NEED(loss);
    calibration.loss = loss;
    MUST(comm_for(calibration.n * N_TEMPERATURES, self->training->n_threads, calibrate_task, calibration_loss,
                  &calibration, err));
    double least = INFINITY;
    for (size_t t = 0; t < N_TEMPERATURES; t++) {
        double sum = 0;
        for (size_t i = 0; i < calibration.n; i++)
            sum += loss[t * calibration.n + i];
        if (sum < least) {
            least = sum;
            *temperature = calibration.unit * temperatures[t];
        }
    }
    return CLV_OK;
}

/* The first stage's marginals of every item's nodes. */
struct predictions {
    const struct clv_dataset *dataset;
    const struct stages_state *learning; /* NULL: one stage for all */
    const struct clv_stage *stage;
    size_t n_labels, *first; /* [items + 1] number of nodes before each item */
    double *marginals;       /* [first[items]][n_labels] */
};

static void predictions_release(struct predictions *self)
{
    arrays_free(self->first, self->marginals);
}

static enum clv_status predict_task(void *context, size_t item, int thread, struct clv_error *err)
{
    (void)thread;
    struct predictions *self = context;
    struct clv_problem problem = clv_dataset_problem(self->dataset, item);
    enum clv_status status =
        stage_marginals(self->marginals + self->first[item] * self->n_labels,
                        self->learning ? stage_of(self->learning, item) : self->stage, &problem, err);
    if (status)
        return fail_within(err, status, clv_dataset_name(self->dataset, item));
    return CLV_OK;
}

static bool predicted_marginals(struct comm_piece *piece, void *context, size_t item, size_t k)
{
    struct predictions *self = context;
    *piece =
        (struct comm_piece){self->marginals + self->first[item] * self->n_labels,
                            (self->first[item + 1] - self->first[item]) * self->n_labels * sizeof *self->marginals};
    return k == 0;
}

static enum clv_status predict_all(struct predictions *self, int32_t n_labels, int n_threads, struct clv_error *err)
{
    size_t n = clv_dataset_size(self->dataset);
    self->n_labels = (size_t)n_labels;
    self->first = array_zalloc(n + 1, sizeof *self->first);
    for (size_t i = 0; self->first && i < n; i++)
        self->first[i + 1] = self->first[i] + (size_t)clv_dataset_problem(self->dataset, i).n_nodes;
    self->marginals = self->first ? array_alloc(self->first[n], self->n_labels * sizeof *self->marginals) : NULL;
    return self->marginals ? comm_for(n, n_threads, predict_task, predicted_marginals, self, err) : fail_memory(err);
}

/* Statistics of held-out marginals. */

struct gather_state {
    const struct clv_training *training;
    const struct predictions *predictions;
    double *evidence;    /* [n_examples][2][n_labels], or NULL */
    uint8_t *is_present; /* [n_examples][n_labels] */
    double *right;       /* [n_examples][RARE_EXPONENTS][n_labels], or NULL */
    double *share;       /* [n_labels] */
};

static enum clv_status gather_task(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread, (void)err;
    struct gather_state *self = context;
    const struct predictions *predictions = self->predictions;
    size_t item = (size_t)self->training->examples[index], k = predictions->n_labels;
    const double *marginals = predictions->marginals + predictions->first[item] * k;
    struct clv_problem problem = clv_dataset_problem(predictions->dataset, item);
    if (self->evidence) {
        evidence_measure(self->evidence + index * 2 * k, marginals, problem.n_nodes, (int32_t)k);
        presence_of(self->is_present + index * k, &problem, (int32_t)k);
    }
    if (self->right)
        rare_labels_tally(self->right + index * RARE_EXPONENTS * k, &problem, marginals, self->share, (int32_t)k);
    return CLV_OK;
}

static void gathering_release(struct gather_state *self)
{
    arrays_free(self->share, self->evidence, self->is_present, self->right);
}

/* Learns from held-out marginals what `wanted` asks for: presence and weights of rare labels. */
static enum clv_status learn_from_held_out(struct stages_learned *learned, const struct clv_training *training,
                                           const struct predictions *predictions, const struct stages_wanted *wanted,
                                           struct clv_error *err)
{
    int32_t n_labels = training->layout.n_labels;
    size_t n = training->n_examples, k = (size_t)n_labels;
    OWNED(gathering_release)
    struct gather_state gathering = {
        .training = training, .predictions = predictions, .share = array_zalloc(k, sizeof *gathering.share)};
    if (!wanted->presence && !wanted->label_weights)
        return CLV_OK;
    bool has_memory = gathering.share;
    if (wanted->presence) {
        has_memory &= !!(gathering.evidence = array_alloc(n, 2 * k * sizeof *gathering.evidence));
        has_memory &= !!(gathering.is_present = array_alloc(n, k * sizeof *gathering.is_present));
        has_memory &= !!(learned->presence = array_alloc(k, (size_t)evidence_size(n_labels) * sizeof(double)));
    }
    if (wanted->label_weights)
        has_memory &= !!(gathering.right = array_alloc(n, RARE_EXPONENTS * k * sizeof *gathering.right));
    for (size_t i = 0; i < n && has_memory; i++) {
        struct clv_problem problem = clv_dataset_problem(training->dataset, (size_t)training->examples[i]);
        label_shares_add(gathering.share, &problem, n_labels);
    }
    NEED(has_memory);
    MUST(parallel_for(n, training->n_threads, gather_task, &gathering, err));
    if (wanted->presence)
        MUST(presence_learn(learned->presence,
                            &(struct presence_examples){gathering.evidence, gathering.is_present, n, n_labels},
                            training->n_threads, err));
    if (wanted->label_weights)
        learned->label_weights = rare_labels_choose(gathering.right, gathering.share, n, n_labels);
    return CLV_OK;
}

struct extension {
    struct clv_dataset *dataset;
    const struct predictions *predictions;
    const struct clv_weight_layout *next;
    int32_t n_new_edge_features;
};

static enum clv_status extend_task(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct extension *self = context;
    struct clv_problem problem = clv_dataset_problem(self->dataset, index);
    const struct predictions *predictions = self->predictions;
    struct context result;
    enum clv_status status =
        context_init(&result, &problem, predictions->marginals + predictions->first[index] * predictions->n_labels,
                     self->next->n_labels, self->n_new_edge_features, err);
    if (status)
        return fail_within(err, status, clv_dataset_name(self->dataset, index));
    dataset_notify_access(self->dataset, &problem);
    dataset_replace_features(self->dataset, index, &result.problem, result.row, result.index, result.value,
                             result.edge_features);
    return CLV_OK;
}

/* Checks the memory for all context features, and for a copy of the features that are in a file. */
static enum clv_status check_memory(const struct clv_dataset *dataset, const struct clv_weight_layout *next,
                                    struct clv_error *err)
{
    double bytes = 0;
    for (size_t i = 0; i < clv_dataset_size(dataset); i++) {
        struct clv_problem problem = clv_dataset_problem(dataset, i);
        double entry = sizeof *problem.index + sizeof *problem.value;
        bytes += (double)problem.n_nodes * (double)next->n_labels * sizeof(double);
        bytes += (double)problem.n_nodes * (double)context_size(next->n_labels) * entry;
        bytes += dataset->items[i].row ? 0 : (double)(problem.row[problem.n_nodes] - problem.row[0]) * entry;
    }
    return memory_require(bytes, "features of a second stage", "--stages 1 does without them", err);
}

/* Appends features of the predictions to the features of all items. */
static enum clv_status extend(struct clv_dataset *dataset, const struct predictions *predictions,
                              const struct clv_weight_layout *first, const struct clv_weight_layout *next,
                              int n_threads, struct clv_error *err)
{
    struct extension extension = {dataset, predictions, next, next->n_edge_features - first->n_edge_features};
    return parallel_for(clv_dataset_size(dataset), n_threads, extend_task, &extension, err);
}

enum clv_status stages_extend(struct clv_dataset *dataset, const struct clv_stage *first,
                              const struct clv_weight_layout *next, int n_threads, struct clv_error *err)
{
    OWNED(predictions_release) struct predictions predictions = {.dataset = dataset, .stage = first};
    MUST(check_memory(dataset, next, err));
    MUST(predict_all(&predictions, next->n_labels, n_threads, err));
    return extend(dataset, &predictions, &first->layout, next, n_threads, err);
}

/* Returns the fold with the fewest items. */
static int32_t smallest_fold(const size_t n_items[STAGE_FOLDS])
{
    int32_t smallest = 0;
    for (int32_t f = 1; f < STAGE_FOLDS; f++)
        smallest = n_items[f] < n_items[smallest] ? f : smallest;
    return smallest;
}

/* Assigns items to folds of about equal size, fold[n]. Items of a sequence are in one fold, and so are an image and its
 * mirror image. Windows of a single sequence are divided into runs. */
static enum clv_status draw_folds(int32_t **fold, const struct clv_dataset *dataset, uint64_t seed,
                                  struct clv_error *err)
{
    size_t n_own = dataset->n - dataset->n_mirrored, n_items[STAGE_FOLDS] = {0};
    OWNED_ARRAY int32_t *order = array_alloc(n_own, sizeof *order);
    OWNED_ARRAY int32_t *result = array_alloc(dataset->n, sizeof *result);
    NEED(order && result);
    rng_permutation(order, n_own, seed, RNG_STREAM(RNG_FOLD, 1));
    memset(result, -1, dataset->n * sizeof *result);
    for (size_t i = 0; i < n_own; i++) {
        uint64_t sequence = dataset->items[order[i]].sequence;
        if (result[order[i]] >= 0)
            continue;
        int32_t f =
            dataset->has_windows && !sequence ? order[i] * STAGE_FOLDS / (int32_t)n_own : smallest_fold(n_items);
        result[order[i]] = f;
        n_items[f]++;
        for (size_t k = 0; k < n_own && sequence; k++)
            if (result[k] < 0 && dataset->items[k].sequence == sequence) {
                result[k] = f;
                n_items[f]++;
            }
    }
    FAIL_IF(n_items[0] == n_own, CLV_ERR_USAGE, "two stages need images of two sequences or more");
    for (size_t i = 0; i < dataset->n_mirrored; i++)
        result[n_own + i] = result[i];
    *fold = TAKE(result);
    return CLV_OK;
}

/* Refuses folds of which one has all images that teach: no learner can be trained without that fold. */
static enum clv_status check_folds(const struct clv_training *training, const int32_t *fold, struct clv_error *err)
{
    size_t n_teaching[STAGE_FOLDS] = {0}, n = 0;
    for (size_t i = 0; i < training->n_examples; i++, n++)
        n_teaching[fold[training->examples[i]]]++;
    for (size_t i = 0; i < training->n_weak && training->given && training->layout.n_labels == 2; i++)
        if (training->given[i]) {
            n_teaching[fold[training->weak[i]]]++;
            n++;
        }
    for (size_t f = 0; f < STAGE_FOLDS; f++)
        FAIL_IF(n > 0 && n_teaching[f] == n, CLV_ERR_USAGE,
                "two stages hold out images in turn, and would hold out all that have masks or boxes together; add "
                "masks of other images, or train with --stages 1");
    return CLV_OK;
}

static void stages_learned_release(struct stages_learned *self)
{
    arrays_free(self->presence, self->first);
}

enum clv_status stages_learn(struct stages_learned *learned, struct clv_dataset *dataset,
                             const struct clv_learner *learner, const struct clv_training *training,
                             const struct stages_wanted *wanted, struct clv_error *err)
{
    struct clv_training of_first = *training;
    OWNED_ARRAY int32_t *fold = NULL;
    OWNED(stages_state_release) struct stages_state learning = {.learner = learner, .training = &of_first};
    OWNED(predictions_release) struct predictions predictions = {.dataset = dataset, .learning = &learning};
    OWNED(stages_learned_release) struct stages_learned result = {0};
    size_t n_taught = training->n_examples + training->n_weak;
    FAIL_IF(n_taught < (size_t)STAGE_FOLDS, CLV_ERR_USAGE,
            "two stages need %d images or more to learn from, there are %zu", STAGE_FOLDS, n_taught);
    if (of_first.layout.pairwise == CLV_PAIRWISE_FULL)
        of_first.layout.pairwise = CLV_PAIRWISE_NONE;
    learning.silent.stop = training->progress ? training->progress->stop : NULL;
    MUST(draw_folds(&fold, dataset, training->seed, err));
    MUST(check_folds(training, fold, err));
    learning.fold = fold;
    MUST(learn_all(&learning, err));
    double temperature = 1;
    MUST(choose_temperature(&temperature, &learning, err));
    for (size_t f = 0; f <= STAGE_FOLDS; f++)
        learning.stages[f].temperature = temperature;
    struct clv_weight_layout next = stage_next_layout(&of_first.layout, training->layout.pairwise);
    MUST(check_memory(dataset, &next, err));
    MUST(predict_all(&predictions, next.n_labels, training->n_threads, err));
    MUST(learn_from_held_out(&result, &of_first, &predictions, wanted, err));
    NEED(result.first = array_zalloc(1, sizeof *result.first));
    MUST(extend(dataset, &predictions, &of_first.layout, &next, training->n_threads, err));
    *result.first = TAKE(learning.stages[STAGE_FOLDS]);
    *learned = TAKE(result);
    return CLV_OK;
}

enum clv_status stages_check_costs(const struct clv_training *training, const char *option, struct clv_error *err)
{
    if (training->layout.n_labels < 3)
        return fail(err, CLV_ERR_USAGE, "--%s: of two labels, which are in nearly all images, neither costs", option);
    FAIL_IF(!training->n_examples, CLV_ERR_USAGE, "--%s: no image has a mask to learn from which labels it has",
            option);
    return CLV_OK;
}

enum clv_status stages_price(struct clv_model *model, const double *presence, double label_costs,
                             const struct clv_training *training, const double *w, struct clv_error *err)
{
    double size;
    if (!presence)
        return CLV_OK;
    MUST(score_size(&size, training, NULL, w, err));
    return label_costs_attach(model, presence, size * label_costs, err);
}
