/* The network of pixels that refining learns with: from some pixels of each image, most of them near the border of the
 * labels that a model which has not seen the image gives it. */
#include <string.h>

#include "base/base.h"
#include "segment/segment.h"

#define NET_PIXELS  1500 /* of an image */
#define NEAR_BORDER 10   /* two thirds of them are less than so many pixels from the border */
#define FAR         1e9F
#define MOST_DRAWS  64

struct looking {
    struct refining_nets *nets;
    const struct clv_model *model;
    const struct refining_source *source;
    int32_t n_inputs;
    size_t n_rows, n_done;
    float *inputs;    /* [n_rows][NET_PIXELS][n_inputs] */
    uint8_t *classes; /* [n_rows][NET_PIXELS] */
    size_t *n_known;  /* [n_rows] of NET_PIXELS: what is void is left out */
};

/* A pixel that is not void and less than `reach` from the border; `n` if MOST_DRAWS find none. */
static size_t draw_pixel(const struct looking *self, size_t row, size_t k, float reach, const uint8_t *truth,
                         const float *distance, size_t n)
{
    for (size_t draw = 0; draw < MOST_DRAWS; draw++) {
        size_t p = rng_below(self->source->seed, RNG_STREAM(RNG_MISSING, row), k * MOST_DRAWS + draw, (uint32_t)n);
        if (truth[p] != CLV_VOID && distance[p] < reach)
            return p;
    }
    return n;
}

static void draw_pixels(struct looking *self, size_t row, const struct pixel_look *look, const uint8_t *truth,
                        const float *distance)
{
    for (size_t k = 0; k < NET_PIXELS; k++) {
        size_t p = draw_pixel(self, row, k, k % 3 ? NEAR_BORDER : 2 * FAR, truth, distance, look->n);
        size_t to = row * NET_PIXELS + self->n_known[row];
        if (p == look->n)
            continue;
        pixel_look_at(self->inputs + to * (size_t)self->n_inputs, 1, look, p, 1);
        self->classes[to] = truth[p] == 1 ? OBJECT_CORE : OBJECT_GROUND;
        self->n_known[row]++;
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
    int32_t width = look.bank.width, height = look.bank.height, *sides = array_alloc(look.n, sizeof *sides);
    uint8_t *truth = array_alloc(look.n, 1);
    float *distance = array_alloc(look.n, sizeof *distance);
    TRY_IF(!sides || !truth || !distance, fail_memory(err));
    if (status == CLV_OK) {
        clv_labels_resize(truth, width, height, labelled.truth.labels, labelled.image.width, labelled.image.height);
        for (size_t p = 0; p < look.n; p++)
            sides[p] = look.terms[TERM_NODES * look.n + p] > 0;
        filter_distance(distance, sides, width, height, FAR);
        draw_pixels(self, index, &look, truth, distance);
    }
    arrays_free(sides, truth, distance);
    pixel_look_release(&look);
    labelled_image_release(&labelled);
    parallel_progress(self->source->progress, "learning to refine", &self->n_done, self->n_rows, NULL);
    return status;
}

/* Of all rows, or of those of even or of odd numbers; nothing is learned from none. */
static enum clv_status train_net(void *context, size_t which, int thread, struct clv_error *err)
{
    (void)thread;
    struct looking *self = context;
    size_t width = (size_t)self->n_inputs, n = 0;
    float *inputs = array_alloc(self->n_rows * NET_PIXELS, width * sizeof *inputs);
    uint8_t *classes = array_alloc(self->n_rows, NET_PIXELS);
    enum clv_status status = inputs && classes ? CLV_OK : fail_memory(err);
    for (size_t row = 0; row < self->n_rows && status == CLV_OK; row++) {
        if (which != NET_ALL && row % 2 != (which == NET_ODD))
            continue;
        memcpy(inputs + n * width, self->inputs + row * NET_PIXELS * width,
               self->n_known[row] * width * sizeof *inputs);
        memcpy(classes + n, self->classes + row * NET_PIXELS, self->n_known[row]);
        n += self->n_known[row];
    }
    TRY_IF(n, pixel_net_train(&self->nets->nets[which], inputs, classes, n, self->n_inputs, REFINING_COPIES,
                              self->source->seed, self->source->progress, err));
    arrays_free(inputs, classes);
    return status;
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
    TRY(parallel_for(N_NETS, source->n_threads, train_net, &self, err));
    arrays_free(self.inputs, self.classes, self.n_known);
    return status;
}

const struct pixel_net *refining_nets_other(const struct refining_nets *self, size_t example)
{
    return self->nets[NET_EVEN].weights && self->nets[NET_ODD].weights
               ? &self->nets[example / self->stride % 2 ? NET_EVEN : NET_ODD]
               : NULL;
}

void refining_nets_release(struct refining_nets *self)
{
    for (int k = 0; k < N_NETS; k++)
        pixel_net_release(&self->nets[k]);
}
