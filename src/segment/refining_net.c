/* The network of pixels that refining learns with: from some pixels of each image, most of them near the border of the
 * labels that a model which has not seen the image gives it. */
#include <string.h>

#include "base/base.h"
#include "segment/segment.h"

#define NET_PIXELS  1500 /* of an image */
#define NEAR_BORDER 10   /* two thirds of them are less than so many pixels from the border */

struct looking {
    struct refining_nets *nets;
    const struct clv_model *model;
    const struct refining_source *source;
    int32_t n_inputs;
    size_t n_rows, n_done;
    float *inputs;    /* [n_rows][NET_PIXELS][n_inputs] */
    uint8_t *classes; /* [n_rows][NET_PIXELS] */
    size_t *n_known;  /* [n_rows] NET_PIXELS, or 0 where all is void */
};

/* Pixels by number that are not void, those near the border of the painted labels first. */
static enum clv_status list_pixels(int32_t *pixels, size_t *n_near, size_t *n, const uint8_t *truth,
                                   const uint8_t *painted, int32_t width, int32_t height, struct clv_error *err)
{
    size_t n_all = (size_t)width * (size_t)height, n_far = 0;
    int32_t *sides = array_alloc(n_all, sizeof *sides);
    float *distance = array_alloc(n_all, sizeof *distance);
    enum clv_status status = sides && distance ? CLV_OK : fail_memory(err);
    *n_near = 0;
    if (status == CLV_OK) {
        for (size_t p = 0; p < n_all; p++)
            sides[p] = painted[p];
        filter_distance(distance, sides, width, height, NEAR_BORDER);
        for (size_t p = 0; p < n_all; p++)
            if (truth[p] != CLV_VOID)
                pixels[distance[p] < NEAR_BORDER ? (*n_near)++ : n_all - ++n_far] = (int32_t)p;
        memmove(pixels + *n_near, pixels + n_all - n_far, n_far * sizeof *pixels);
    }
    *n = *n_near + n_far;
    arrays_free(sides, distance);
    return status;
}

static void draw_pixels(struct looking *self, size_t row, const struct pixel_look *look, const uint8_t *truth,
                        const int32_t *pixels, size_t n_near, size_t n)
{
    self->n_known[row] = n ? NET_PIXELS : 0;
    for (size_t k = 0; k < self->n_known[row]; k++) {
        size_t among = k % 3 && n_near ? n_near : n, to = row * NET_PIXELS + k;
        size_t p = (size_t)pixels[rng_below(self->source->seed, RNG_STREAM(RNG_MISSING, row), k, (uint32_t)among)];
        pixel_look_at(self->inputs + to * (size_t)self->n_inputs, look, p);
        self->classes[to] = truth[p] == 1 ? OBJECT_CORE : OBJECT_GROUND;
    }
}

static enum clv_status look_at_one(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct looking *self = context;
    struct labelled_image labelled;
    struct pixel_look look = {0};
    MUST(labelled_image_init(&labelled, self->model, self->source, &self->source->examples[index * self->nets->stride],
                             err));
    const struct segmented view = labelled_image_view(&labelled);
    enum clv_status status = pixel_look_init(&look, &view, err);
    int32_t width = look.bank.width, height = look.bank.height, *pixels = array_alloc(look.n, sizeof *pixels);
    uint8_t *truth = array_alloc(look.n, 1), *painted = array_alloc(look.n, 1);
    size_t n_near, n;
    TRY_IF(!pixels || !truth || !painted, fail_memory(err));
    if (status == CLV_OK) {
        clv_labels_resize(truth, width, height, labelled.truth.labels, labelled.image.width, labelled.image.height);
        clv_labels_resize(painted, width, height, labelled.painted, labelled.image.width, labelled.image.height);
        status = list_pixels(pixels, &n_near, &n, truth, painted, width, height, err);
    }
    if (status == CLV_OK)
        draw_pixels(self, index, &look, truth, pixels, n_near, n);
    arrays_free(pixels, truth, painted);
    pixel_look_release(&look);
    labelled_image_release(&labelled);
    parallel_progress(self->source->progress, "learning to refine", &self->n_done, self->n_rows, NULL);
    return status;
}

/* Of all rows, or of those whose numbers leave `parity` when divided by 2; nothing is learned from none. Inputs are
 * standardised in their place, so that those of some rows are copies, and all come last. */
static enum clv_status train_net(struct looking *self, int which, struct clv_error *err)
{
    size_t width = (size_t)self->n_inputs, n = 0, n_most = self->n_rows * NET_PIXELS;
    float *inputs = which == NET_ALL ? self->inputs : array_alloc(n_most, width * sizeof *inputs);
    uint8_t *classes = which == NET_ALL ? self->classes : array_alloc(n_most, 1);
    enum clv_status status = inputs && classes ? CLV_OK : fail_memory(err);
    for (size_t row = 0; row < self->n_rows && status == CLV_OK; row++) {
        if (which != NET_ALL && row % 2 != (which == NET_ODD))
            continue;
        memmove(inputs + n * width, self->inputs + row * NET_PIXELS * width,
                self->n_known[row] * width * sizeof *inputs);
        memmove(classes + n, self->classes + row * NET_PIXELS, self->n_known[row]);
        n += self->n_known[row];
    }
    TRY_IF(n, pixel_net_train(&self->nets->nets[which], inputs, classes, n, self->n_inputs, REFINING_COPIES,
                              self->source->seed, self->source->progress, err));
    if (which != NET_ALL)
        arrays_free(inputs, classes);
    return status;
}

static enum clv_status train_net_task(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    return train_net(context, NET_EVEN + (int)index, err);
}

enum clv_status refining_nets_learn(struct refining_nets *nets, const struct clv_model *model,
                                    const struct refining_source *source, size_t n_rows, size_t stride,
                                    struct clv_error *err)
{
    struct looking self = {.nets = nets,
                           .model = model,
                           .source = source,
                           .n_rows = n_rows,
                           .n_inputs = pixel_look_inputs(model->recipe.n_maps)};
    *nets = (struct refining_nets){.stride = stride};
    self.inputs = array_alloc(n_rows * NET_PIXELS, (size_t)self.n_inputs * sizeof *self.inputs);
    self.classes = array_alloc(n_rows, NET_PIXELS);
    self.n_known = array_zalloc(n_rows, sizeof *self.n_known);
    enum clv_status status = self.inputs && self.classes && self.n_known ? CLV_OK : fail_memory(err);
    TRY(parallel_for(n_rows, source->n_threads, look_at_one, &self, err));
    TRY(parallel_for(N_NETS - NET_EVEN, source->n_threads, train_net_task, &self, err));
    TRY_IF(nets->nets[NET_EVEN].weights && nets->nets[NET_ODD].weights, train_net(&self, NET_ALL, err));
    arrays_free(self.inputs, self.classes, self.n_known);
    return status;
}

const struct pixel_net *refining_nets_other(const struct refining_nets *self, size_t example)
{
    return self->nets[NET_ALL].weights ? &self->nets[example / self->stride % 2 ? NET_EVEN : NET_ODD] : NULL;
}

void refining_nets_release(struct refining_nets *self)
{
    for (int k = 0; k < N_NETS; k++)
        pixel_net_release(&self->nets[k]);
}
