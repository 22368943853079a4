#include "segment/segment.h"

#include <string.h>

#include "base/base.h"

#define STEEPNESS 1.5 /* from a node's prior to the log-odds of the context's probability */
#define LEAST     1e-4

int32_t pixel_look_inputs(int32_t n_maps)
{
    return PIXEL_CONTEXT_SIZE + TERM_NET + TERMS_A_MAP * n_maps;
}

void pixel_look_release(struct pixel_look *self)
{
    pixel_bank_release(&self->bank);
    array_free(self->terms);
    *self = (struct pixel_look){0};
}

static void keep_term(void *context, int32_t term, const float *plane)
{
    struct pixel_look *self = context;
    size_t at = (size_t)(term < TERM_NET ? term : term - 1);
    memcpy(self->terms + at * self->n, plane, self->n * sizeof *plane);
}

static enum clv_status add_context(struct pixel_look *self, struct clv_error *err)
{
    float *probability = array_zalloc(self->n, OBJECT_CLASSES * sizeof *probability);
    MUST_IF(!probability, fail_memory(err));
    const float *prior = self->terms + TERM_NODES * self->n;
    for (size_t p = 0; p < self->n; p++) {
        double ground = 1 / (1 + portable_exp(STEEPNESS * (double)prior[p]));
        probability[OBJECT_GROUND * self->n + p] = (float)ground;
        probability[OBJECT_CORE * self->n + p] = (float)(1 - ground);
    }
    enum clv_status status = pixel_bank_add_context(&self->bank, probability, err);
    array_free(probability);
    return status;
}

enum clv_status pixel_look_init(struct pixel_look *self, const struct segmented *segmented, struct clv_error *err)
{
    const struct clv_superpixels *nodes = &segmented->example->superpixels;
    struct clv_example small = *segmented->example; /* a view, as of an image of the working size */
    struct clv_image working = {0};
    struct segmented view = *segmented;
    small.width = nodes->width;
    small.height = nodes->height;
    *self = (struct pixel_look){.n = (size_t)nodes->width * (size_t)nodes->height, .n_maps = view.model->recipe.n_maps};
    int32_t n_terms = pixel_look_inputs(self->n_maps) - PIXEL_CONTEXT_SIZE;
    uint8_t *painted = array_alloc(self->n, 1);
    self->terms = array_alloc(self->n, (size_t)n_terms * sizeof *self->terms);
    enum clv_status status = painted && self->terms ? CLV_OK : fail_memory(err);
    TRY(clv_image_resize(&working, view.image, small.width, small.height, err));
    TRY(labelled_image_paint(painted, &small, view.y, 2, err));
    view.image = &working;
    view.example = &small;
    view.painted = painted;
    view.net = NULL;
    TRY(pixel_terms(&view, true, keep_term, self, err));
    TRY(pixel_bank_init(&self->bank, &working, err));
    TRY(add_context(self, err));
    clv_image_release(&working);
    array_free(painted);
    if (status != CLV_OK)
        pixel_look_release(self);
    return status;
}

void pixel_look_at(float *x, size_t stride, const struct pixel_look *self, size_t pixel, size_t n)
{
    int32_t n_terms = pixel_look_inputs(self->n_maps) - PIXEL_CONTEXT_SIZE;
    pixel_bank_at(x, stride, &self->bank, pixel, n);
    for (int32_t k = 0; k < n_terms; k++)
        memcpy(x + (size_t)(PIXEL_CONTEXT_SIZE + k) * stride, self->terms + (size_t)k * self->n + pixel, n * sizeof *x);
}

static void say(float *log_odds, const struct pixel_look *look, const struct pixel_net *net)
{
    enum { AT_ONCE = PIXEL_NET_AT_ONCE };
    float x[PIXEL_NET_INPUTS * AT_ONCE] = {0}, probability[OBJECT_CLASSES * AT_ONCE];
    for (size_t p = 0; p < look->n; p += AT_ONCE) {
        size_t n = look->n - p < AT_ONCE ? look->n - p : AT_ONCE;
        pixel_look_at(x, AT_ONCE, look, p, n);
        pixel_net_say(probability, net, x);
        for (size_t i = 0; i < n; i++)
            log_odds[p + i] = (float)portable_log(((double)probability[OBJECT_CORE * AT_ONCE + i] + LEAST) /
                                                  ((double)probability[OBJECT_GROUND * AT_ONCE + i] + LEAST));
    }
}

/* plane[height][width]: log-odds by segmented->net, of an image larger than the working size between its pixels. */
static enum clv_status fill_plane(float *plane, const struct segmented *segmented, struct clv_error *err)
{
    struct pixel_look look;
    struct map_grid grid = {0};
    MUST(pixel_look_init(&look, segmented, err));
    float *log_odds = array_alloc(look.n, sizeof *log_odds);
    enum clv_status status = log_odds ? CLV_OK : fail_memory(err);
    if (status == CLV_OK)
        say(log_odds, &look, segmented->net);
    TRY(map_grid_init(&grid, look.bank.width, look.bank.height, segmented->image->width, segmented->image->height,
                      err));
    if (status == CLV_OK)
        map_sample(plane, &grid, log_odds);
    map_grid_release(&grid);
    array_free(log_odds);
    pixel_look_release(&look);
    return status;
}

enum clv_status all_pixel_terms(const struct segmented *segmented, bool is_nearby, pixel_term_use *use, void *context,
                                struct clv_error *err)
{
    MUST(pixel_terms(segmented, is_nearby, use, context, err));
    if (!segmented->net)
        return CLV_OK;
    float *plane = array_alloc((size_t)segmented->image->width, (size_t)segmented->image->height * sizeof *plane);
    enum clv_status status = plane ? fill_plane(plane, segmented, err) : fail_memory(err);
    if (status == CLV_OK)
        use(context, TERM_NET, plane);
    array_free(plane);
    return status;
}
