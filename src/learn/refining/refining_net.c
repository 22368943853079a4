/* Trains the pixel network of a refinement, on some pixels of each image, by a model that was not trained on the image.
 * With two labels most pixels are near a border between the model's labels; with more labels, rare ones get more pixels
 * than their fraction of the image. Start at refining_nets_learn. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "learn/refining/refining.h"
#include "pixel_net/pixel_net.h"
#include "refine/by_model/by_model.h"

#define NET_PIXELS  1500   /* pixels per image; if labels vote, the least .. */
#define MOST_PIXELS 10000  /* .. and the most */
#define ALL_PIXELS  120000 /* if labels vote, pixels in all images, within these limits */
#define NEAR_BORDER 10     /* with two labels, two thirds of the pixels are closer to a border than this */
#define FAR         1e9F
#define LEAST_SHARE 0.02F /* the least fraction of an image that a label counts as */
#define MOST_DRAWS  64

struct net_state {
    struct refining_nets *nets;
    const struct clv_model *model;
    const struct refining_source *source;
    int32_t n_inputs;
    size_t n_rows, n_pixels, n_done;
    float *inputs;    /* [n_rows][n_pixels][n_inputs] */
    uint8_t *classes; /* [n_rows][n_pixels] */
    float *weights;   /* [n_rows][n_pixels] */
    size_t *n_known;  /* [n_rows] pixels that were taken, at most n_pixels */
};

/* Samples a pixel that is not void and closer to the border than `reach`; returns `n` if MOST_DRAWS samples include
 * none. */
static size_t draw_pixel(const struct net_state *self, size_t row, size_t k, float reach, const uint8_t *truth,
                         const float *distance, size_t n)
{
    for (size_t draw = 0; draw < MOST_DRAWS; draw++) {
        size_t p = rng_below(self->source->seed, RNG_STREAM(RNG_MISSING, row), k * MOST_DRAWS + draw, (uint32_t)n);
        if (truth[p] != CLV_VOID && distance[p] < reach)
            return p;
    }
    return n;
}

static void take_pixel(struct net_state *self, size_t row, const struct pixel_inputs *inputs, size_t p, uint8_t class,
                       float weight)
{
    size_t to = row * self->n_pixels + self->n_known[row]++;
    pixel_inputs_copy(self->inputs + to * (size_t)self->n_inputs, 1, inputs, p, 1);
    self->classes[to] = class;
    self->weights[to] = weight;
}

/* Samples pixels for two labels. As in the weighted Hamming error, each label of an image has half of the weight. */
static void draw_near_border(struct net_state *self, size_t row, const struct pixel_inputs *inputs,
                             const uint8_t *truth, const float *distance)
{
    size_t count[2] = {0, 0};
    for (size_t p = 0; p < inputs->n; p++)
        if (truth[p] <= 1)
            count[truth[p]]++;
    float foreground = (float)count[1] / (float)(count[0] + count[1] + 1);
    foreground = fminf(fmaxf(foreground, LEAST_SHARE), 1 - LEAST_SHARE);
    for (size_t k = 0; k < self->n_pixels; k++) {
        size_t p = draw_pixel(self, row, k, k % 3 ? NEAR_BORDER : 2 * FAR, truth, distance, inputs->n);
        bool is_foreground = p < inputs->n && truth[p] == 1;
        if (p < inputs->n)
            take_pixel(self, row, inputs, p, is_foreground ? OBJECT_CORE : OBJECT_BACKGROUND,
                       0.5F / (is_foreground ? foreground : 1 - foreground));
    }
}

/* Samples pixels for more labels. A label's number of pixels is proportional to the square root of its area, a
 * compromise between its area and the equal weights of the weighted Hamming error. order[n] is scratch. */
static void draw_labels(struct net_state *self, size_t row, const struct pixel_inputs *inputs, const uint8_t *truth,
                        int32_t *order)
{
    size_t begin[PIXEL_NET_CLASSES + 1] = {0}, n_labels = (size_t)self->model->layout.n_labels;
    double roots = 0;
    for (size_t a = 0; a < n_labels; a++) {
        begin[a + 1] = begin[a];
        for (size_t p = 0; p < inputs->n; p++)
            if (truth[p] == a)
                order[begin[a + 1]++] = (int32_t)p;
        roots += sqrt((double)(begin[a + 1] - begin[a]));
    }
    for (size_t a = 0, k = 0; a < n_labels; a++) {
        uint32_t n = (uint32_t)(begin[a + 1] - begin[a]);
        size_t n_drawn = n ? size_of_number((double)self->n_pixels * sqrt((double)n) / roots) : 0;
        for (size_t end = k + n_drawn; k < end; k++)
            take_pixel(self, row, inputs,
                       (size_t)order[begin[a] + rng_below(self->source->seed, RNG_STREAM(RNG_MISSING, row), k, n)],
                       (uint8_t)a, 1);
    }
}

static enum clv_status sample_image(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct net_state *self = context;
    OWNED(labelled_image_release) struct labelled_image labelled = {0};
    OWNED(pixel_inputs_release) struct pixel_inputs inputs = {0};
    MUST(labelled_image_init(&labelled, self->model, self->source, &self->source->examples[index * self->nets->stride],
                             err));
    const struct segmented view = labelled_image_view(&labelled);
    MUST(pixel_inputs_init(&inputs, &view, err));
    int32_t width = inputs.bank.width, height = inputs.bank.height;
    OWNED_ARRAY int32_t *sides = array_alloc(inputs.n, sizeof *sides);
    OWNED_ARRAY uint8_t *truth = array_alloc(inputs.n, 1);
    OWNED_ARRAY float *distance = array_alloc(inputs.n, sizeof *distance);
    NEED(sides && truth && distance);
    clv_labels_resize(truth, width, height, labelled.truth.labels, labelled.image.width, labelled.image.height);
    if (refining_is_cut(self->model)) {
        for (size_t p = 0; p < inputs.n; p++)
            sides[p] = inputs.own[TERM_NODES * inputs.n + p] > 0;
        filter_distance(distance, sides, width, height, FAR);
        draw_near_border(self, index, &inputs, truth, distance);
    } else {
        draw_labels(self, index, &inputs, truth, sides);
    }
    parallel_progress(self->source->progress, "learning to refine", &self->n_done, self->n_rows, NULL);
    return CLV_OK;
}

/* Scales the weights so that their sum is the number of pixels. */
static void scale_weights(float *weights, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += (double)weights[k];
    for (size_t k = 0; k < n; k++)
        weights[k] *= (float)((double)n / sum);
}

/* Trains a network on all rows, or on those outside of a fold; without known pixels it stays empty. */
static enum clv_status train_net(void *context, size_t which, int thread, struct clv_error *err)
{
    (void)thread;
    struct net_state *self = context;
    size_t width = (size_t)self->n_inputs, n = 0;
    OWNED_ARRAY float *inputs = array_alloc(self->n_rows * self->n_pixels, width * sizeof *inputs);
    OWNED_ARRAY uint8_t *classes = array_alloc(self->n_rows, self->n_pixels);
    OWNED_ARRAY float *weights = array_alloc(self->n_rows, self->n_pixels * sizeof *weights);
    NEED(inputs && classes && weights);
    for (size_t row = 0; row < self->n_rows; row++) {
        size_t from = row * self->n_pixels, n_known = self->n_known[row];
        if (which != NET_ALL && row % self->nets->n_folds == which - NET_FIRST)
            continue;
        memcpy(inputs + n * width, self->inputs + from * width, n_known * width * sizeof *inputs);
        memcpy(classes + n, self->classes + from, n_known);
        memcpy(weights + n, self->weights + from, n_known * sizeof *weights);
        n += n_known;
    }
    scale_weights(weights, n);
    const struct pixel_net_examples examples = {.inputs = inputs,
                                                .classes = classes,
                                                .weights = weights,
                                                .n = n,
                                                .n_inputs = self->n_inputs,
                                                .n_classes = refining_net_classes(self->model)};
    if (n)
        MUST(pixel_net_train(&self->nets->nets[which], &examples, REFINING_COPIES, self->source->seed,
                             self->source->progress, err));
    return CLV_OK;
}

static void net_state_release(struct net_state *self)
{
    arrays_free(self->inputs, self->classes, self->weights, self->n_known);
}

enum clv_status refining_nets_learn(struct refining_nets *nets, const struct clv_model *model,
                                    const struct refining_source *source, size_t n_rows, size_t stride,
                                    struct clv_error *err)
{
    OWNED(net_state_release)
    struct net_state self = {.nets = nets,
                             .model = model,
                             .source = source,
                             .n_rows = n_rows,
                             .n_pixels = NET_PIXELS,
                             .n_inputs = refining_net_inputs(model)};
    if (!refining_is_cut(model))
        self.n_pixels = (size_t)int64_within((double)ALL_PIXELS / (double)n_rows, NET_PIXELS, MOST_PIXELS);
    *nets = (struct refining_nets){.stride = stride, .n_folds = n_rows < NET_FOLDS ? n_rows : NET_FOLDS};
    self.inputs = array_alloc(n_rows * self.n_pixels, (size_t)self.n_inputs * sizeof *self.inputs);
    self.classes = array_alloc(n_rows, self.n_pixels);
    self.weights = array_alloc(n_rows, self.n_pixels * sizeof *self.weights);
    self.n_known = array_zalloc(n_rows, sizeof *self.n_known);
    NEED(self.inputs && self.classes && self.weights && self.n_known);
    MUST(parallel_for(n_rows, source->n_threads, sample_image, &self, err));
    return parallel_for(NET_FIRST + nets->n_folds, source->n_threads, train_net, &self, err);
}

const struct pixel_net *refining_nets_other(const struct refining_nets *self, size_t example)
{
    for (size_t fold = 0; fold < self->n_folds; fold++)
        if (!self->nets[NET_FIRST + fold].weights)
            return NULL;
    return self->n_folds ? &self->nets[NET_FIRST + example / self->stride % self->n_folds] : NULL;
}

void refining_nets_release(struct refining_nets *self)
{
    for (int k = 0; k < N_NETS; k++)
        pixel_net_release(&self->nets[k]);
}
