/* Propagates a mask to the frames after it. Each pixel gets a score (evidence.c); a minimum cut labels the pixels of
 * the working size, and a second one those of full size near the border. Start at propagation_next. */
#include "sequence/sequence.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "refine/refine.h"

#define SQUARE_PX    20
#define COUPLING     1.6  /* of two pixels of the same colour, for an image of 256 x 256, as in clv_refine */
#define BORDER_PX    3    /* working pixels from the border within which pixels are labelled again at full size */
#define LABEL_WEIGHT 0.7F /* weight of the label in the foreground of the next frame; its probability has the rest */
#define MAX_SCORE    50.0 /* largest score */
#define FIXED_SCORE  1e4F /* score of a fixed label: more than all couplings of a pixel */
#define UNLABELLED   2
#define N_PLANES     9
#define FINE_COLOURS ((size_t)FRAME_FINE * FRAME_FINE * FRAME_FINE)
#define COLOURS      ((size_t)FRAME_BINS * FRAME_BINS * FRAME_BINS)

/* Weights of the terms in the score of foreground. Logistic regression on the pixels within 40 of a border, over
 * rounds: the frames of a round were propagated with the weights of the round before (the first 40 frames of six videos
 * of DAVIS 2016). */
static const double WEIGHTS[PROPAGATE_TERMS] = {
    [TERM_BEFORE] = 0.24,  [TERM_NEAR] = 0.30, [TERM_FAR] = 0.28,    [TERM_COLOUR] = 0.42, [TERM_FIRST] = 0.22,
    [TERM_OVERALL] = 0.32, [TERM_HOLE] = 0.41, [TERM_ANCHOR] = 1.87, [TERM_MOTION] = 0.3,  [TERM_ALWAYS] = -0.01,
};

void propagation_release(struct propagation *self)
{
    frame_release(&self->first);
    frame_release(&self->before);
    frame_release(&self->now);
    frame_release(&self->after);
    arena_release(&self->arena);
    *self = (struct propagation){.terms = NULL};
}

static enum clv_status alloc_arrays(struct propagation *self, struct clv_error *err)
{
    size_t n = (size_t)self->width * (size_t)self->height, of_float = sizeof(float);
    size_t n_cells = (size_t)self->columns * (size_t)self->rows * COLOURS;
    struct arena *arena = &self->arena;
    self->first_foreground = arena_alloc(arena, n, of_float);
    self->foreground = arena_alloc(arena, n, of_float);
    self->moved = arena_alloc(arena, n, 2 * of_float);
    self->origin = arena_alloc(arena, n, 3 * of_float);
    self->back = arena_alloc(arena, n, 2 * of_float);
    self->forth = arena_alloc(arena, n, 2 * of_float);
    self->onward = arena_alloc(arena, n, 2 * of_float);
    self->terms = arena_alloc(arena, n, PROPAGATE_TERMS * of_float);
    self->overall = arena_alloc(arena, FINE_COLOURS, of_float);
    self->counts = arena_alloc(arena, n_cells > FINE_COLOURS ? n_cells : FINE_COLOURS, 2 * of_float);
    self->planes = arena_alloc(arena, n, N_PLANES * of_float);
    self->line = arena_alloc(arena, (size_t)self->width + (size_t)self->height, of_float);
    return arena->failed ? fail_memory(err) : CLV_OK;
}

/* foreground[height][width] = mean of the pixels of the mask in each block of full size; void counts 1/2. */
static void shrink_mask(float *foreground, const struct propagation *self, const uint8_t *mask)
{
    int32_t factor = frame_factor(self->full_width, self->full_height);
    for (int32_t y = 0; y < self->height; y++)
        for (int32_t x = 0; x < self->width; x++) {
            float sum = 0;
            int32_t n = 0;
            for (int32_t v = y * factor; v < (y + 1) * factor && v < self->full_height; v++)
                for (int32_t u = x * factor; u < (x + 1) * factor && u < self->full_width; u++, n++) {
                    uint8_t label = mask[(size_t)v * (size_t)self->full_width + (size_t)u];
                    sum += label == 1 ? 1 : label ? 0.5F : 0;
                }
            foreground[(size_t)y * (size_t)self->width + (size_t)x] = sum / (float)n;
        }
}

enum clv_status propagation_init(struct propagation *self, const struct clv_image *image, const uint8_t *mask,
                                 struct clv_error *err)
{
    OWNED(propagation_release) struct propagation result = {.full_width = image->width, .full_height = image->height};
    MUST(frame_init(&result.first, image, err));
    MUST(frame_init(&result.before, image, err));
    result.width = result.first.image.width;
    result.height = result.first.image.height;
    result.columns = (result.width - 1) / SQUARE_PX + 1;
    result.rows = (result.height - 1) / SQUARE_PX + 1;
    MUST(alloc_arrays(&result, err));
    size_t n = (size_t)result.width * (size_t)result.height;
    shrink_mask(result.first_foreground, &result, mask);
    memcpy(result.foreground, result.first_foreground, n * sizeof *result.foreground);
    for (size_t i = 0; i < n; i++) {
        result.moved[2 * i] = result.origin[3 * i] = (float)(i % (size_t)result.width);
        result.moved[2 * i + 1] = result.origin[3 * i + 1] = (float)(i / (size_t)result.width);
        result.origin[3 * i + 2] = 1;
    }
    evidence_learn(&result);
    *self = TAKE(result);
    return CLV_OK;
}

/* The scores of a minimum cut of an image's pixels, interpolated from those of the working size. */
struct pixel_context {
    const float *score; /* [height][width] */
    int32_t width, height;
    const struct pixel_couplings *couplings;
    const uint8_t *fixed; /* [image height][image width] fixed labels, or UNLABELLED; NULL: no label is fixed */
};

static void pixel_scores_fill(const void *context, float *unary, int32_t x, int32_t y, int32_t n)
{
    const struct pixel_context *self = context;
    const struct clv_image *image = self->couplings->image;
    float sx = (float)self->width / (float)image->width, sy = (float)self->height / (float)image->height;
    const uint8_t *fixed = self->fixed ? self->fixed + (size_t)y * (size_t)image->width + (size_t)x : NULL;
    for (int32_t i = 0; i < n; i++)
        if (fixed && fixed[i] != UNLABELLED)
            unary[i] = fixed[i] ? FIXED_SCORE : -FIXED_SCORE;
        else
            plane_sample(&unary[i], self->score, 1, self->width, self->height, ((float)(x + i) + 0.5F) * sx - 0.5F,
                         ((float)y + 0.5F) * sy - 0.5F);
}

static void pixel_row_fill(const void *context, float *unary, float *const coupling[4], int32_t x, int32_t y, int32_t n)
{
    const struct pixel_context *self = context;
    pixel_scores_fill(self, unary, x, y, n);
    pixel_couplings_row(coupling, self->couplings, x, y, n);
}

static enum clv_status cut(uint8_t *labels, const struct propagation *self, const float *score, const uint8_t *fixed,
                           const struct clv_image *image, struct clv_error *err)
{
    OWNED(pixel_couplings_release) struct pixel_couplings couplings = {.weight = NULL};
    MUST(pixel_couplings_init(&couplings, image, COUPLING, err));
    const struct pixel_context context = {score, self->width, self->height, &couplings, fixed};
    const struct pixel_energy energy = {.width = image->width,
                                        .height = image->height,
                                        .row = pixel_row_fill,
                                        .context = &context,
                                        .scores = pixel_scores_fill,
                                        .largest = pixel_couplings_largest(&couplings)};
    size_t n_open;
    return pixel_cut(labels, &n_open, &energy, NULL, PIXEL_CUT_WHOLE, err);
}

/* Sums the weighted terms: score[height][width]. */
static void sum_terms(float *score, const struct propagation *self)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t k = 0; k < PROPAGATE_TERMS; k++)
            sum += WEIGHTS[k] * (double)self->terms[i * PROPAGATE_TERMS + (size_t)k];
        score[i] = (float)fmin(fmax(sum, -MAX_SCORE), MAX_SCORE);
    }
}

/* Enlarges the labels of the working size to labels of full size, UNLABELLED near the border. */
static void enlarge(uint8_t *labels, const struct propagation *self, const uint8_t *small, float *plane)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    float *distance = plane + n;
    for (size_t i = 0; i < n; i++)
        plane[i] = small[i];
    plane_distance(distance, plane, self->width, self->height, 1000);
    for (int32_t y = 0; y < self->full_height; y++) {
        size_t row = (size_t)((int64_t)y * self->height / self->full_height) * (size_t)self->width;
        for (int32_t x = 0; x < self->full_width; x++) {
            size_t i = row + (size_t)((int64_t)x * self->width / self->full_width);
            labels[(size_t)y * (size_t)self->full_width + (size_t)x] =
                fabsf(distance[i]) <= BORDER_PX ? UNLABELLED : small[i];
        }
    }
}

static enum clv_status label_frame(uint8_t *labels, struct propagation *self, const struct clv_image *image,
                                   struct clv_error *err)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    float *score = self->planes;
    OWNED_ARRAY uint8_t *small = array_alloc(n, 1), *fixed = array_alloc((size_t)image->width, (size_t)image->height);
    NEED(small && fixed);
    sum_terms(score, self);
    MUST(cut(small, self, score, NULL, &self->now.image, err));
    for (size_t i = 0; i < n; i++) {
        float likely = (float)(1 / (1 + portable_exp(-(double)score[i])));
        self->foreground[i] = LABEL_WEIGHT * (float)small[i] + (1 - LABEL_WEIGHT) * likely;
    }
    enlarge(fixed, self, small, score + n);
    return cut(labels, self, score, fixed, image, err);
}

/* Finds the motion between `before`, `now` and `after`. */
static enum clv_status find_motion(struct propagation *self, const struct clv_image *image,
                                   const struct clv_image *after, struct clv_error *err)
{
    if (self->has_after) {
        self->now = TAKE(self->after);
        float *forth = self->forth;
        self->forth = self->onward;
        self->onward = forth;
    } else {
        MUST(frame_init(&self->now, image, err));
        MUST(motion_estimate(self->forth, &self->before.pyramid, &self->now.pyramid, err));
    }
    self->has_after = after != NULL;
    MUST(motion_estimate(self->back, &self->now.pyramid, &self->before.pyramid, err));
    if (!after)
        return CLV_OK;
    MUST(frame_init(&self->after, after, err));
    return motion_estimate(self->onward, &self->now.pyramid, &self->after.pyramid, err);
}

enum clv_status propagation_next(uint8_t *labels, struct propagation *self, const struct clv_image *image,
                                 const struct clv_image *after, struct clv_error *err)
{
    FAIL_IF(image->width != self->full_width || image->height != self->full_height, CLV_ERR_DATA,
            "image is %dx%d, the frames before are %dx%d", image->width, image->height, self->full_width,
            self->full_height);
    MUST(find_motion(self, image, after, err));
    MUST(evidence_gather(self, err));
    MUST(label_frame(labels, self, image, err));
    frame_release(&self->before);
    self->before = TAKE(self->now);
    return CLV_OK;
}

/* An image that frames->read has set. */
struct held_image {
    struct clv_image image;
    bool is_view;
};

static void held_image_release(struct held_image *self)
{
    if (!self->is_view)
        clv_image_release(&self->image);
    self->image = (struct clv_image){.pixels = NULL};
}

static enum clv_status begin(struct propagation *propagation, size_t frame, const struct propagate_frames *frames,
                             struct clv_error *err)
{
    OWNED(held_image_release) struct held_image held = {.is_view = frames->are_views};
    OWNED(clv_mask_release) struct clv_mask mask = {.labels = NULL};
    MUST(frames->read(frames->context, frame, &held.image, err));
    MUST(frames->read_mask(frames->context, frame, &held.image, &mask, err));
    return propagation_init(propagation, &held.image, mask.labels, err);
}

enum clv_status propagate_along(size_t *k, const struct chain *chain, const struct propagate_frames *frames,
                                struct clv_error *err)
{
    OWNED(held_image_release) struct held_image now = {.is_view = frames->are_views};
    OWNED(held_image_release) struct held_image after = {.is_view = frames->are_views};
    OWNED(propagation_release) struct propagation propagation = {.terms = NULL};
    OWNED_ARRAY uint8_t *labels = NULL;
    *k = 0;
    enum clv_status status = begin(&propagation, chain_frame(chain, 0), frames, err);
    *k = 1;
    MUST(status);
    MUST(frames->read(frames->context, chain_frame(chain, 1), &now.image, err));
    for (; *k <= chain->n; ++*k) {
        size_t frame = chain_frame(chain, *k);
        FAIL_IF(stop_requested(frames->progress), CLV_ERR_INTERRUPTED, "interrupted");
        if (!labels) {
            labels = array_alloc((size_t)now.image.width, (size_t)now.image.height);
            NEED(labels);
        }
        if (*k < chain->n)
            MUST(frames->read(frames->context, chain_frame(chain, *k + 1), &after.image, err));
        bool fits = after.image.width == now.image.width && after.image.height == now.image.height;
        status = propagation_next(labels, &propagation, &now.image, fits ? &after.image : NULL, err);
        if (status)
            return fail_within(err, status, frames->name(frames->context, frame));
        MUST(frames->take(frames->context, frame, &now.image, labels, err));
        held_image_release(&now);
        now.image = TAKE(after.image);
    }
    return CLV_OK;
}
