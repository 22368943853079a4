#include "segment/segment.h"

#include <math.h>

#include "base/base.h"
#include "cleave/score.h"
#include "data/data.h"
#include "feature/recipe/recipe.h"

#define MOST_BYTES (200 << 20) /* of examples that are looked at as a whole */

void labelled_image_release(struct labelled_image *self)
{
    clv_image_release(&self->image);
    clv_mask_release(&self->truth);
    clv_example_release(&self->nodes);
    item_maps_close(self->maps, &self->model.recipe);
    clv_oracle_free(self->oracle);
    arrays_free(self->y, self->painted);
    *self = (struct labelled_image){0};
}

static enum clv_status read_item(struct labelled_image *self, const struct refining_source *source,
                                 const struct clv_item *item, struct clv_error *err)
{
    MUST(clv_image_read(&self->image, item->image, source->limits, err));
    MUST(item_mask_read(&self->truth, item, &self->model.labels, self->image.width, self->image.height, source->limits,
                        err));
    return item_maps_open(&self->maps, &self->model.recipe, source->set, item, source->limits, err);
}

static enum clv_status label(struct labelled_image *self, const struct clv_problem *problem, struct clv_error *err)
{
    struct clv_recipe nodes = recipe_of_nodes(&self->model.recipe);
    enum clv_status status = clv_example_extract(&self->nodes, &self->image, &nodes, err);
    if (status == CLV_OK && self->nodes.problem.n_nodes != problem->n_nodes)
        status = fail(err, CLV_ERR_DATA, "has %d nodes, its features are of %d", self->nodes.problem.n_nodes,
                      problem->n_nodes);
    if (status != CLV_OK)
        return status;
    self->n = (size_t)self->image.width * (size_t)self->image.height;
    self->y = array_alloc((size_t)problem->n_nodes, sizeof *self->y);
    self->painted = array_alloc(self->n, 1);
    status = self->y && self->painted ? clv_oracle_new(&self->oracle, CLV_ENGINE_DEFAULT, err) : fail_memory(err);
    TRY(clv_model_predict(self->y, &self->model, problem, self->oracle, err));
    return status == CLV_OK
               ? labelled_image_paint(self->painted, &self->nodes, self->y, self->model.shape.n_labels, err)
               : status;
}

enum clv_status labelled_image_init(struct labelled_image *self, const struct clv_model *model,
                                    const struct refining_source *source, const struct refining_example *example,
                                    struct clv_error *err)
{
    const struct clv_item *item = &source->set->items[example->item];
    *self = (struct labelled_image){.model = *model};
    self->model.w = (double *)example->w;
    self->model.first = NULL; /* the example's problem has its features already */
    if (stop_requested(source->progress))
        return fail(err, CLV_ERR_INTERRUPTED, "interrupted");
    enum clv_status status = read_item(self, source, item, err);
    TRY_IF((status = label(self, example->problem, err)) != CLV_OK, fail_within(err, status, item->image));
    if (status != CLV_OK)
        labelled_image_release(self);
    return status;
}

struct segmented labelled_image_view(const struct labelled_image *self)
{
    return (struct segmented){.image = &self->image,
                              .example = &self->nodes,
                              .y = self->y,
                              .painted = self->painted,
                              .maps = self->maps,
                              .model = &self->model,
                              .oracle = self->oracle};
}

enum clv_status labelled_loss(double *loss, const struct clv_mask *truth, const uint8_t *labels, int32_t n_labels,
                              double iou_weight, struct clv_error *err)
{
    struct clv_confusion confusion;
    MUST(clv_confusion_init(&confusion, n_labels, err));
    clv_confusion_add(&confusion, truth->labels, labels, (size_t)truth->width * (size_t)truth->height);
    struct clv_image_score score = clv_confusion_score(&confusion);
    *loss = score.n_pixels ? score.weighted_hamming + iou_weight * (1 - score.mean_iou) : 0;
    clv_confusion_release(&confusion);
    return CLV_OK;
}

enum clv_status labelled_image_count(size_t *n, const struct refining_source *source, double bytes_a_pixel, size_t most,
                                     struct clv_error *err)
{
    int32_t width, height;
    const struct clv_item *first = &source->set->items[source->examples[0].item];
    MUST(clv_image_read_size(&width, &height, first->image, source->limits, err));
    double bytes = (double)width * (double)height * bytes_a_pixel;
    size_t fit = (size_t)fmin(fmax(MOST_BYTES / bytes, 1), (double)most);
    *n = source->n_examples < fit ? source->n_examples : fit;
    return CLV_OK;
}
