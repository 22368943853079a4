/* Computes inputs and outputs of a model's pixel network. Inputs are filter responses, then the terms of pixel_terms.c
 * if a cut finds the labels, or the marginals of the nodes if labels vote. Start at pixel_inputs_init and
 * pixel_net_votes. */
#include "refine/by_model/by_model.h"

#include <string.h>

#include "base/base.h"
#include "model/model.h"
#include "pixel_net/pixel_net.h"

#define STEEPNESS       1.5 /* factor from a node's prior to the log-odds of the context's probability */
#define MIN_PROBABILITY 1e-4

/* Standard deviations of the smoothing of marginals, in working pixels; 0 is the pixel itself. Two or three larger ones
 * in place of the second were no better on held-out sections of a stack (tools/reproduce/README.md). */
static const double scales[] = {0, 6};
enum { SCALES = sizeof scales / sizeof *scales };

int32_t refining_net_inputs(const struct clv_model *model)
{
    return refining_is_cut(model) ? PIXEL_CONTEXT_SIZE + TERM_NET + TERMS_A_MAP * model->recipe.n_maps
                                  : PIXEL_BANK_SIZE + SCALES * model->layout.n_labels;
}

int32_t refining_net_classes(const struct clv_model *model)
{
    return refining_is_cut(model) ? OBJECT_CLASSES : model->layout.n_labels;
}

void pixel_inputs_release(struct pixel_inputs *self)
{
    pixel_bank_release(&self->bank);
    array_free(self->own);
    *self = (struct pixel_inputs){0};
}

static void keep_term(void *context, int32_t term, const float *plane)
{
    struct pixel_inputs *self = context;
    size_t at = (size_t)(term < TERM_NET ? term : term - 1);
    memcpy(self->own + at * self->n, plane, self->n * sizeof *plane);
}

static enum clv_status add_context(struct pixel_inputs *self, struct clv_error *err)
{
    OWNED_ARRAY float *probability = array_zalloc(self->n, OBJECT_CLASSES * sizeof *probability);
    NEED(probability);
    const float *prior = self->own + TERM_NODES * self->n;
    for (size_t p = 0; p < self->n; p++) {
        double background = 1 / (1 + portable_exp(STEEPNESS * (double)prior[p]));
        probability[OBJECT_BACKGROUND * self->n + p] = (float)background;
        probability[OBJECT_CORE * self->n + p] = (float)(1 - background);
    }
    return pixel_bank_add_context(&self->bank, probability, err);
}

/* Computes the terms, and the context from the scores of the nodes, if refining_is_cut. */
static enum clv_status fill_terms(struct pixel_inputs *self, struct segmented *view, const struct clv_image *working,
                                  struct clv_error *err)
{
    OWNED_ARRAY uint8_t *painted = array_alloc(self->n, 1);
    NEED(painted);
    MUST(labelled_image_paint(painted, view->example, view->y, 2, err));
    view->image = working;
    view->painted = painted;
    view->net = NULL;
    MUST(pixel_terms(view, true, keep_term, self, err));
    MUST(pixel_bank_init(&self->bank, working, NULL, err));
    return add_context(self, err);
}

/* Computes the marginals at each scale, if labels vote. */
static enum clv_status fill_marginals(struct pixel_inputs *self, const struct segmented *view, struct clv_error *err)
{
    const struct clv_superpixels *nodes = &view->example->superpixels;
    size_t n_labels = (size_t)view->model->layout.n_labels;
    for (size_t a = 0; a < n_labels; a++) {
        float *plane = self->own + a * self->n;
        for (size_t p = 0; p < self->n; p++)
            plane[p] = (float)view->marginals[(size_t)nodes->labels[p] * n_labels + a];
        for (size_t k = 1; k < SCALES; k++)
            MUST(filter_gauss(plane + k * n_labels * self->n, plane, nodes->width, nodes->height, scales[k], err));
    }
    return CLV_OK;
}

enum clv_status pixel_inputs_init(struct pixel_inputs *self, const struct segmented *segmented, struct clv_error *err)
{
    const struct clv_superpixels *nodes = &segmented->example->superpixels;
    struct clv_example small = *segmented->example; /* a view, as if the image had the working size */
    OWNED(clv_image_release) struct clv_image working = {0};
    struct segmented view = *segmented;
    small.width = nodes->width;
    small.height = nodes->height;
    view.example = &small;
    bool is_cut = refining_is_cut(view.model);
    OWNED(pixel_inputs_release) struct pixel_inputs result = {.n = (size_t)nodes->width * (size_t)nodes->height};
    result.n_own = refining_net_inputs(view.model) - (is_cut ? PIXEL_CONTEXT_SIZE : PIXEL_BANK_SIZE);
    NEED(result.own = array_alloc(result.n, (size_t)result.n_own * sizeof *result.own));
    MUST(clv_image_resize(&working, view.image, small.width, small.height, err));
    if (is_cut) {
        MUST(fill_terms(&result, &view, &working, err));
    } else {
        MUST(pixel_bank_init(&result.bank, &working, NULL, err));
        MUST(fill_marginals(&result, &view, err));
    }
    *self = TAKE(result);
    return CLV_OK;
}

void pixel_inputs_copy(float *x, size_t stride, const struct pixel_inputs *self, size_t pixel, size_t n)
{
    float *own = x + (size_t)self->bank.n_planes * stride;
    pixel_bank_at(x, stride, &self->bank, pixel, n);
    for (size_t k = 0; k < (size_t)self->n_own; k++)
        memcpy(own + k * stride, self->own + k * self->n + pixel, n * sizeof *x);
}

/* Computes probability[n_classes][n] at the working size. */
static void predict_all(float *probability, const struct pixel_inputs *inputs, const struct pixel_net *net)
{
    enum { AT_ONCE = PIXEL_NET_AT_ONCE };
    float x[PIXEL_NET_INPUTS * AT_ONCE] = {0}, outputs[PIXEL_NET_CLASSES * AT_ONCE];
    for (size_t p = 0; p < inputs->n; p += AT_ONCE) {
        size_t n = inputs->n - p < AT_ONCE ? inputs->n - p : AT_ONCE;
        pixel_inputs_copy(x, AT_ONCE, inputs, p, n);
        pixel_net_predict(outputs, net, x);
        for (size_t c = 0; c < (size_t)net->n_classes; c++)
            memcpy(probability + c * inputs->n + p, outputs + c * AT_ONCE, n * sizeof *outputs);
    }
}

/* Computes *probability[n_classes][n] at the working size, and the grid that samples it at the image's pixels. The
 * caller releases both, also after a failure. */
static enum clv_status predict_image(float **probability, struct map_grid *grid, const struct segmented *segmented,
                                     struct clv_error *err)
{
    OWNED(pixel_inputs_release) struct pixel_inputs inputs = {0};
    MUST(pixel_inputs_init(&inputs, segmented, err));
    *probability = array_alloc(inputs.n, (size_t)segmented->net->n_classes * sizeof **probability);
    NEED(*probability);
    predict_all(*probability, &inputs, segmented->net);
    return map_grid_init(grid, inputs.bank.width, inputs.bank.height, segmented->image->width, segmented->image->height,
                         err);
}

static enum clv_status vote_by_net(float *votes, const struct segmented *segmented, struct clv_error *err)
{
    const struct clv_superpixels *nodes = &segmented->example->superpixels;
    size_t n = (size_t)segmented->image->width * (size_t)segmented->image->height;
    size_t n_working = (size_t)nodes->width * (size_t)nodes->height;
    OWNED_ARRAY float *probability = NULL;
    OWNED(map_grid_release) struct map_grid grid = {0};
    MUST(predict_image(&probability, &grid, segmented, err));
    for (size_t a = 0; a < (size_t)segmented->net->n_classes; a++)
        map_sample(votes + a * n, &grid, probability + a * n_working);
    return CLV_OK;
}

enum clv_status pixel_net_votes(float *votes, const struct segmented *segmented, struct clv_error *err)
{
    struct segmented view = *segmented;
    OWNED_ARRAY double *marginals = NULL;
    if (!view.marginals) {
        size_t n_nodes = (size_t)view.example->problem.n_nodes;
        marginals = array_alloc(n_nodes, (size_t)view.model->layout.n_labels * sizeof *marginals);
        NEED(marginals);
        MUST(model_marginals(marginals, view.model, &view.example->problem, err));
        view.marginals = marginals;
    }
    return vote_by_net(votes, &view, err);
}

/* Fills plane[height][width] with the log-odds by segmented->net, interpolated if the image is larger than the working
 * size. */
static enum clv_status fill_log_odds(float *plane, const struct segmented *segmented, struct clv_error *err)
{
    const struct clv_superpixels *nodes = &segmented->example->superpixels;
    size_t n = (size_t)nodes->width * (size_t)nodes->height;
    OWNED_ARRAY float *probability = NULL;
    OWNED(map_grid_release) struct map_grid grid = {0};
    MUST(predict_image(&probability, &grid, segmented, err));
    for (size_t p = 0; p < n; p++)
        probability[p] = (float)portable_log(((double)probability[OBJECT_CORE * n + p] + MIN_PROBABILITY) /
                                             ((double)probability[OBJECT_BACKGROUND * n + p] + MIN_PROBABILITY));
    map_sample(plane, &grid, probability);
    return CLV_OK;
}

enum clv_status all_pixel_terms(const struct segmented *segmented, bool is_nearby, pixel_term_use *use, void *context,
                                struct clv_error *err)
{
    MUST(pixel_terms(segmented, is_nearby, use, context, err));
    if (!segmented->net)
        return CLV_OK;
    OWNED_ARRAY float *plane =
        array_alloc((size_t)segmented->image->width, (size_t)segmented->image->height * sizeof *plane);
    NEED(plane);
    MUST(fill_log_odds(plane, segmented, err));
    use(context, TERM_NET, plane);
    return CLV_OK;
}
