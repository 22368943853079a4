/* Labels an image that has a mask by a model that was not trained on it: data for training refinements. Start at
 * labelled_image_init. */
#include "learn/refining/refining.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cleave/score.h"
#include "data/data.h"
#include "feature/recipe/recipe.h"
#include "model/model.h"
#include "refine/by_model/by_model.h"

#define MOST_BYTES (200 << 20) /* most bytes of examples that are in memory at once */

void labelled_image_release(struct labelled_image *self)
{
    clv_image_release(&self->image);
    clv_mask_release(&self->truth);
    clv_example_release(&self->nodes);
    item_maps_close(self->maps, &self->model.recipe);
    clv_oracle_free(self->oracle);
    arrays_free(self->y, self->margin, self->marginals, self->painted);
    *self = (struct labelled_image){0};
}

static enum clv_status read_item(struct labelled_image *self, const struct refining_source *source, size_t index,
                                 struct clv_error *err)
{
    const struct clv_item *item = &source->set->items[index];
    MUST(item_image_read(&self->image, item, source->limits, err));
    const struct mask_wanted wanted = {self->image.width, self->image.height, source->limits};
    MUST(item_mask_read(&self->truth, item, &self->model.labels, &wanted, err));
    return item_maps_open(&self->maps, &self->model.recipe, source->set, item, source->limits, err);
}

static void take_most_probable(int32_t *y, const double *marginals, size_t n, size_t n_labels)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = 0;
        for (size_t a = 1; a < n_labels; a++)
            y[i] = marginals[i * n_labels + a] > marginals[i * n_labels + (size_t)y[i]] ? (int32_t)a : y[i];
    }
}

/* Labels all nodes of the problem, and computes the margins or marginals that refinement needs. */
static enum clv_status label_all(struct labelled_image *self, const struct refining_example *example,
                                 bool wants_marginals, struct clv_error *err)
{
    const struct clv_problem *problem = example->problem;
    size_t n = (size_t)problem->n_nodes, n_labels = (size_t)self->model.layout.n_labels;
    NEED(self->y = array_alloc(n, sizeof *self->y));
    if (wants_marginals) {
        NEED(self->marginals = array_alloc(n, n_labels * sizeof *self->marginals));
        MUST(model_marginals(self->marginals, &self->model, problem, err));
        take_most_probable(self->y, self->marginals, n, n_labels);
        return CLV_OK;
    }
    MUST(clv_model_predict(self->y, &self->model, problem, self->oracle, err));
    if (!example->is_slice || !refining_is_cut(&self->model))
        return CLV_OK;
    NEED(self->margin = array_alloc(n, sizeof *self->margin));
    return clv_oracle_margins(self->oracle, self->margin, self->y, err);
}

static void move_to_front(void *of_nodes, size_t first, size_t n, size_t size)
{
    if (of_nodes && first)
        memmove(of_nodes, (char *)of_nodes + first * size, n * size);
}

static enum clv_status label(struct labelled_image *self, const struct refining_example *example, bool wants_marginals,
                             struct clv_error *err)
{
    struct clv_recipe nodes = recipe_of_nodes(&self->model.recipe);
    MUST(clv_example_extract(&self->nodes, &self->image, &nodes, err));
    int32_t n = self->nodes.problem.n_nodes, n_known = example->problem->n_nodes - example->first_node;
    if (example->is_slice ? n > n_known : n != n_known)
        return fail(err, CLV_ERR_DATA, "has %d nodes, its features are of %d", n, n_known);
    MUST(clv_oracle_new(&self->oracle, CLV_ENGINE_DEFAULT, err));
    MUST(label_all(self, example, wants_marginals, err));
    size_t first = (size_t)example->first_node, n_labels = (size_t)self->model.layout.n_labels;
    move_to_front(self->y, first, (size_t)n, sizeof *self->y);
    move_to_front(self->margin, first, (size_t)n, sizeof *self->margin);
    move_to_front(self->marginals, first, (size_t)n, n_labels * sizeof *self->marginals);
    self->n = (size_t)self->image.width * (size_t)self->image.height;
    self->painted = array_alloc(self->n, 1);
    NEED(self->painted);
    return labelled_image_paint(self->painted, &self->nodes, self->y, self->model.layout.n_labels, err);
}

enum clv_status labelled_image_init(struct labelled_image *self, const struct clv_model *model,
                                    const struct refining_source *source, const struct refining_example *example,
                                    struct clv_error *err)
{
    *self = (struct labelled_image){.model = *model};
    self->model.w = (double *)example->w;
    self->model.first = NULL; /* the example's problem already has its features */
    FAIL_IF(stop_requested(source->progress), CLV_ERR_INTERRUPTED, "interrupted");
    MUST(read_item(self, source, example->item, err));
    bool wants_marginals = source->wants_net && !refining_is_cut(model);
    enum clv_status status = label(self, example, wants_marginals, err);
    return status ? fail_within(err, status, source->set->items[example->item].image) : CLV_OK;
}

struct segmented labelled_image_view(const struct labelled_image *self)
{
    return (struct segmented){.image = &self->image,
                              .example = &self->nodes,
                              .y = self->y,
                              .painted = self->painted,
                              .maps = self->maps,
                              .model = &self->model,
                              .oracle = self->oracle,
                              .margin = self->margin,
                              .marginals = self->marginals};
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

enum clv_status labelled_image_count(size_t *n, const struct refining_source *source, double bytes_per_pixel,
                                     size_t most, struct clv_error *err)
{
    int32_t width, height;
    MUST(item_image_size(&width, &height, &source->set->items[source->examples[0].item], source->limits, err));
    double bytes = (double)width * (double)height * bytes_per_pixel;
    size_t fit = (size_t)int64_within(MOST_BYTES / bytes, 1, (int64_t)most);
    *n = source->n_examples < fit ? source->n_examples : fit;
    return CLV_OK;
}
