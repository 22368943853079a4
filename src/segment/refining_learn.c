/* Learning how to refine: the evidence of some training images is prepared once, then one number after the other is
 * tried at a few values, and what lowers the mean error stays. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "cleave/score.h"
#include "segment/refining.h"
#include "segment/segment.h"

#define MOST_IMAGES 32
#define MOST_BYTES  (200 << 20) /* of evidence */
#define IOU_WEIGHT  0.25        /* of 1 - IoU beside the weighted Hamming error, which is about so much smaller */

/* One image, ready to be refined again and again. */
struct sample {
    struct clv_image image;
    struct clv_mask truth;
    struct evidence evidence;
    uint8_t *painted, *refined; /* [n] */
    double loss;
};

struct search {
    const struct clv_model *model;
    const struct clv_set *set;
    const struct refining_example *examples;
    size_t stride; /* every so many examples are looked at */
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
    struct clv_recipe nodes; /* the model's without any feature; a view but for `kept` */
    struct sample *samples;
    size_t n;
    struct refining tried;
};

static void sample_release(struct sample *sample)
{
    clv_image_release(&sample->image);
    clv_mask_release(&sample->truth);
    evidence_release(&sample->evidence);
    array_free(sample->painted);
    array_free(sample->refined);
}

/* The evidence of an image whose nodes are there again. */
static enum clv_status gather(struct sample *sample, const struct search *self, const struct refining_example *example,
                              const struct clv_example *nodes, struct clv_error *err)
{
    const struct clv_item *item = &self->set->items[example->item];
    struct clv_model model = *self->model; /* under the example's weights */
    struct clv_oracle *oracle = NULL;
    struct clv_map *maps = NULL;
    model.w = (double *)example->w;
    model.first = NULL; /* the example's problem has its features already */
    int32_t *y = array_alloc((size_t)nodes->problem.n_nodes, sizeof *y);
    enum clv_status status = y ? CLV_OK : fail_memory(err);
    if (status == CLV_OK && nodes->problem.n_nodes != example->problem->n_nodes)
        status = fail(err, CLV_ERR_DATA, "has %d nodes, its features are of %d", nodes->problem.n_nodes,
                      example->problem->n_nodes);
    if (status == CLV_OK)
        status = clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err);
    if (status == CLV_OK)
        status = clv_model_predict(y, &model, example->problem, oracle, err);
    if (status == CLV_OK)
        status = segment_paint(sample->painted, nodes, y, model.shape.n_labels, err);
    if (status == CLV_OK)
        status = clv_item_maps_read(&maps, &model.recipe, self->set, item, self->limits, err);
    if (status == CLV_OK)
        status = evidence_init(&sample->evidence, sample->painted, nodes, y, maps, &model, oracle, err);
    clv_item_maps_release(maps, &model.recipe);
    clv_oracle_free(oracle);
    array_free(y);
    return status;
}

static enum clv_status prepare(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct search *self = context;
    struct sample *sample = &self->samples[index];
    const struct refining_example *example = &self->examples[index * self->stride];
    const struct clv_item *item = &self->set->items[example->item];
    struct clv_example nodes = {0};
    if (stop_requested(self->progress))
        return fail(err, CLV_ERR_INTERRUPTED, "interrupted");
    enum clv_status status = clv_image_read(&sample->image, item->image, self->limits, err);
    if (status != CLV_OK)
        return status;
    size_t n = (size_t)sample->image.width * (size_t)sample->image.height;
    status = clv_mask_read(&sample->truth, item->mask, &self->model->labels, sample->image.width, sample->image.height,
                           self->limits, err);
    if (status != CLV_OK)
        return status;
    sample->painted = array_alloc(n, 1);
    sample->refined = array_alloc(n, 1);
    status = sample->painted && sample->refined ? CLV_OK : fail_memory(err);
    if (status == CLV_OK)
        status = clv_example_extract(&nodes, &sample->image, &self->nodes, err);
    if (status == CLV_OK)
        status = gather(sample, self, example, &nodes, err);
    clv_example_release(&nodes);
    return status == CLV_OK ? CLV_OK : fail_within(err, status, item->image);
}

static enum clv_status try_one(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct search *self = context;
    struct sample *sample = &self->samples[index];
    struct clv_confusion confusion;
    size_t n = sample->evidence.n;
    if (stop_requested(self->progress))
        return fail(err, CLV_ERR_INTERRUPTED, "interrupted");
    memcpy(sample->refined, sample->painted, n);
    enum clv_status status = clv_confusion_init(&confusion, self->model->shape.n_labels, err);
    if (status != CLV_OK)
        return status;
    status = evidence_refine(sample->refined, &sample->evidence, &sample->image, &self->tried, err);
    if (status == CLV_OK) {
        clv_confusion_add(&confusion, sample->truth.labels, sample->refined, n);
        struct clv_image_score score = clv_confusion_score(&confusion);
        sample->loss = score.n_pixels ? score.weighted_hamming + IOU_WEIGHT * (1 - score.mean_iou) : 0;
    }
    clv_confusion_release(&confusion);
    return status;
}

static enum clv_status try_all(double *loss, struct search *self, int n_threads, struct clv_error *err)
{
    enum clv_status status = parallel_for(self->n, n_threads, try_one, self, err);
    *loss = 0;
    for (size_t i = 0; i < self->n && status == CLV_OK; i++)
        *loss += self->samples[i].loss / (double)self->n;
    return status;
}

/* Tries values of one number of self->tried; the best stays, the one there is at ties. */
static enum clv_status search_one(double *least, struct search *self, double *number, const double *values,
                                  size_t n_values, int n_threads, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    double best = *number;
    for (size_t k = 0; k < n_values && status == CLV_OK; k++) {
        double loss;
        if (fabs(values[k] - best) < 1e-9)
            continue;
        *number = values[k];
        status = try_all(&loss, self, n_threads, err);
        if (status == CLV_OK && loss < *least - 1e-9) {
            *least = loss;
            best = values[k];
        }
    }
    *number = best;
    return status;
}

#define VALUES(...) (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double)

static enum clv_status search_all(struct search *self, int n_threads, struct clv_error *err)
{
    double least = INFINITY;
    struct clv_refine_options *options = &self->tried.options;
    bool is_cut = self->samples[0].evidence.is_cut;
    int32_t n_maps = self->model->recipe.n_maps;
    const struct {
        double *number; /* NULL: the weight of each map */
        const double *values;
        size_t n;
        bool is_of_cuts;
    } steps[] = {
        {NULL, VALUES(0.25, 0.5, 1, 2), false},
        {&options->coupling, VALUES(1, 4, 8), false},
        {&options->prior, VALUES(0.5, 1, 1.5, 3), false},
        {&options->nearby, VALUES(0, 0.5, 0.75, 1.5), false},
        {&options->overall, VALUES(0, 0.25, 1), true},
        {&options->balance, VALUES(0, 0.2, 0.6), true},
        {NULL, VALUES(0, 0.25, 0.5, 0.75, 1, 1.5, 2), false},
        {&options->coupling, VALUES(1, 1.5, 2, 3, 4, 6, 8), false},
    };
    size_t n_steps = sizeof steps / sizeof *steps;
    enum clv_status status = try_all(&least, self, n_threads, err);
    for (size_t k = 0; k < n_steps && status == CLV_OK; k++) {
        report_progress(self->progress, "learning to refine", k, n_steps, NULL);
        if (!is_cut && steps[k].is_of_cuts)
            continue;
        for (int32_t m = 0; m < (steps[k].number ? 1 : n_maps) && status == CLV_OK; m++)
            status = search_one(&least, self, steps[k].number ? steps[k].number : &self->tried.maps[m], steps[k].values,
                                steps[k].n, n_threads, err);
    }
    return status;
}

static enum clv_status attach(struct clv_model *model, const struct refining *refining, struct clv_error *err)
{
    const struct clv_refine_options *options = &refining->options;
    double values[5 + CLV_MAX_MAPS] = {options->prior, options->nearby, options->overall, options->balance,
                                       options->coupling};
    memcpy(values + 5, refining->maps, sizeof refining->maps);
    const struct clv_tensor tensor = {
        .name = REFINING, .dtype = CLV_F64, .n_dimensions = 1, .shape = {5 + model->recipe.n_maps}, .data = values};
    return clv_model_attach(model, &tensor, err);
}

/* How many examples, evenly from the first on: as many as fit by the first one's size. */
static enum clv_status choose_samples(struct search *self, size_t n_examples, struct clv_error *err)
{
    int32_t width, height;
    const struct clv_item *first = &self->set->items[self->examples[0].item];
    enum clv_status status = clv_image_read_size(&width, &height, first->image, self->limits, err);
    if (status != CLV_OK)
        return status;
    const struct clv_model *model = self->model;
    double planes = model->shape.n_labels == 2 ? 1 : model->shape.n_labels;
    double bytes = (double)width * (double)height * (6 + 4 * planes * (1 + model->recipe.n_maps));
    size_t most = (size_t)fmin(fmax(MOST_BYTES / bytes, 1), model->shape.n_labels == 2 ? MOST_IMAGES : MOST_IMAGES / 2);
    self->n = n_examples < most ? n_examples : most;
    self->stride = n_examples / self->n;
    self->samples = array_zalloc(self->n, sizeof *self->samples);
    return self->samples ? CLV_OK : fail_memory(err);
}

enum clv_status refining_learn(struct clv_model *model, const struct clv_set *set,
                               const struct refining_example *examples, size_t n_examples, int n_threads,
                               const struct clv_image_limits *limits, const struct clv_progress *progress,
                               struct clv_error *err)
{
    struct search search = {.model = model,
                            .set = set,
                            .examples = examples,
                            .limits = limits,
                            .progress = progress,
                            .nodes = model->recipe};
    if (!model->recipe.n_maps || !n_examples)
        return CLV_OK;
    search.nodes.n_maps = 0;
    search.nodes.blocks = CLV_BLOCK_SIZE;
    search.nodes.kept = NULL;
    clv_refine_defaults(&search.tried.options);
    enum clv_status status = choose_samples(&search, n_examples, err);
    if (status == CLV_OK)
        status = parallel_for(search.n, n_threads, prepare, &search, err);
    if (status == CLV_OK)
        status = search_all(&search, n_threads, err);
    if (status == CLV_OK)
        status = attach(model, &search.tried, err);
    for (size_t i = 0; search.samples && i < search.n; i++)
        sample_release(&search.samples[i]);
    array_free(search.samples);
    return status;
}
