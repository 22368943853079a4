/* Trains the refinement of labels that vote: prepares the evidence of some training images once, then tries a few
 * values of one parameter after the other and keeps the value of the least mean loss. Start at refining_learn_votes. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "learn/refining/refining.h"
#include "pixel_net/pixel_net.h"
#include "refine/by_model/by_model.h"

#define MOST_IMAGES 16
#define NET_IMAGES  200
#define NET_PRIOR   4 /* weight of the network's output; couplings and colours are searched for relative to it */

/* One image, prepared for many refinements. */
struct sample {
    struct labelled_image labelled;
    struct evidence evidence;
    uint8_t *refined; /* [n] */
    double loss;
};

struct search {
    const struct clv_model *model;
    const struct refining_source *source;
    size_t stride; /* distance between the examples that are used */
    struct sample *samples;
    size_t n;
    struct refinement tried;
    struct refining_nets nets;
};

static void sample_release(struct sample *sample)
{
    labelled_image_release(&sample->labelled);
    evidence_release(&sample->evidence);
    array_free(sample->refined);
}

static enum clv_status prepare(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct search *self = context;
    struct sample *sample = &self->samples[index];
    struct labelled_image *labelled = &sample->labelled;
    MUST(labelled_image_init(labelled, self->model, self->source, &self->source->examples[index * self->stride], err));
    struct segmented view = labelled_image_view(labelled);
    view.net = refining_nets_other(&self->nets, index * self->stride);
    if (view.net)
        MUST(evidence_of_net(&sample->evidence, labelled->painted, &view, err));
    else
        MUST(evidence_init(&sample->evidence, labelled->painted, &labelled->nodes, labelled->y, labelled->maps,
                           &labelled->model, err));
    NEED(sample->refined = array_alloc(labelled->n, 1));
    return CLV_OK;
}

static enum clv_status try_one(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct search *self = context;
    struct sample *sample = &self->samples[index];
    const struct labelled_image *labelled = &sample->labelled;
    if (stop_requested(self->source->progress))
        return fail(err, CLV_ERR_INTERRUPTED, "interrupted");
    memcpy(sample->refined, labelled->painted, labelled->n);
    MUST(evidence_refine(sample->refined, &sample->evidence, &labelled->image, &self->tried, err));
    return labelled_loss(&sample->loss, &labelled->truth, sample->refined, self->model->layout.n_labels,
                         self->source->iou_weight, err);
}

static enum clv_status try_all(double *loss, struct search *self, struct clv_error *err)
{
    MUST(parallel_for(self->n, self->source->n_threads, try_one, self, err));
    *loss = 0;
    for (size_t i = 0; i < self->n; i++)
        *loss += self->samples[i].loss / (double)self->n;
    return CLV_OK;
}

/* Tries values of one number of self->tried and keeps the best one, at ties the current one. */
static enum clv_status search_one(double *least, struct search *self, double *number, const double *values,
                                  size_t n_values, struct clv_error *err)
{
    double best = *number;
    for (size_t k = 0; k < n_values; k++) {
        double loss;
        if (fabs(values[k] - best) < 1e-9)
            continue;
        *number = values[k];
        MUST(try_all(&loss, self, err));
        if (loss < *least - 1e-9) {
            *least = loss;
            best = values[k];
        }
    }
    *number = best;
    return CLV_OK;
}

#define VALUES(...) (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double)

struct search_step {
    double *number; /* NULL: the weight of each map */
    const double *values;
    size_t n;
};

static enum clv_status search_steps(struct search *self, const struct search_step *steps, size_t n_steps,
                                    struct clv_error *err)
{
    double least = INFINITY;
    int32_t n_maps = self->model->recipe.n_maps;
    MUST(try_all(&least, self, err));
    for (size_t k = 0; k < n_steps; k++) {
        report_progress(self->source->progress, "learning to refine", k, n_steps, NULL);
        for (int32_t m = 0; m < (steps[k].number ? 1 : n_maps); m++)
            MUST(search_one(&least, self, steps[k].number ? steps[k].number : &self->tried.maps[m][0], steps[k].values,
                            steps[k].n, err));
    }
    return CLV_OK;
}

static enum clv_status search_of_net(struct search *self, struct clv_error *err)
{
    struct clv_refine_options *options = &self->tried.options;
    options->prior = NET_PRIOR;
    options->coupling = options->nearby = options->overall = options->balance = 0;
    const struct search_step steps[] = {
        {&options->coupling, VALUES(0.25, 0.5, 1, 2)},
        {&options->nearby, VALUES(0.25, 0.5)},
    };
    return search_steps(self, steps, sizeof steps / sizeof *steps, err);
}

static enum clv_status search_all(struct search *self, struct clv_error *err)
{
    struct clv_refine_options *options = &self->tried.options;
    const struct search_step steps[] = {
        {NULL, VALUES(0.25, 0.5, 1, 2)},
        {&options->coupling, VALUES(1, 4, 8)},
        {&options->prior, VALUES(0.5, 1, 1.5, 3)},
        {&options->nearby, VALUES(0, 0.5, 0.75, 1.5)},
        {NULL, VALUES(0, 0.25, 0.5, 0.75, 1, 1.5, 2)},
        {&options->coupling, VALUES(1, 1.5, 2, 3, 4, 6, 8)},
    };
    return search_steps(self, steps, sizeof steps / sizeof *steps, err);
}

/* Chooses examples at equal distances, from the first on. */
static enum clv_status choose_samples(struct search *self, struct clv_error *err)
{
    double planes = self->model->layout.n_labels, n_maps = self->model->recipe.n_maps;
    MUST(labelled_image_count(&self->n, self->source, 6 + 4 * planes * (1 + n_maps), MOST_IMAGES, err));
    self->stride = self->source->n_examples / self->n;
    self->samples = array_zalloc(self->n, sizeof *self->samples);
    return self->samples ? CLV_OK : fail_memory(err);
}

static void search_release(struct search *self)
{
    refining_nets_release(&self->nets);
    for (size_t i = 0; self->samples && i < self->n; i++)
        sample_release(&self->samples[i]);
    array_free(self->samples);
}

enum clv_status refining_learn_votes(struct refinement *refining, const struct clv_model *model,
                                     const struct refining_source *source, struct clv_error *err)
{
    OWNED(search_release) struct search search = {.model = model, .source = source, .tried = *refining};
    size_t n_rows = source->n_examples < NET_IMAGES ? source->n_examples : NET_IMAGES;
    MUST(choose_samples(&search, err));
    if (source->wants_net)
        MUST(refining_nets_learn(&search.nets, model, source, n_rows, source->n_examples / n_rows, err));
    bool has_net = refining_nets_other(&search.nets, 0);
    MUST(parallel_for(search.n, source->n_threads, prepare, &search, err));
    MUST(has_net ? search_of_net(&search, err) : search_all(&search, err));
    *refining = search.tried;
    if (has_net) {
        refining->net = TAKE(search.nets.nets[NET_ALL]);
        refining->net_weight = 1;
    }
    return CLV_OK;
}
