#ifndef SEQUENCE_SEQUENCE_H
#define SEQUENCE_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "cleave/data.h"
#include "cleave/image.h"
#include "cleave/model.h"
#include "cleave/oracle.h"
#include "cleave/status.h"
#include "feature/example/example.h"

/* A frame at its working size, with values that are computed once per frame. */

#define FRAME_PIXELS (1 << 17) /* largest working size */
#define FRAME_BINS   12        /* bins of L, a and b each, for colours near a position */
#define FRAME_FINE   24        /* bins for colours of the whole frame */

struct frame {
    struct clv_image image;
    float *lab;              /* [height][width][3] */
    uint16_t *colour, *fine; /* [height][width] bins of FRAME_BINS and of FRAME_FINE */
    struct motion_pyramid pyramid;
};

/* Returns the smallest whole number by which the sides must be divided to get a working size. */
int32_t frame_factor(int32_t width, int32_t height);

enum clv_status frame_init(struct frame *self, const struct clv_image *image, struct clv_error *err) CLV_CHECK;
void frame_release(struct frame *self);

/* Propagates one frame's mask to the frames after it. Each pixel gets a score (evidence.c); a minimum cut labels the
 * pixels of the working size, and a second one those of full size near the border.
 *
 *     struct propagation propagation = {0};
 *     status = propagation_init(&propagation, &image[0], mask, &error);
 *     for (t = 1; t < n && status == CLV_OK; t++)
 *         status = propagation_next(labels, &propagation, &image[t], t + 1 < n ? &image[t + 1] : NULL, &error);
 *     propagation_release(&propagation); */

/* Terms of a pixel's score; evidence.c computes them. */
enum propagate_term {
    TERM_BEFORE,  /* log odds of foreground at the pixel's position in the frame before */
    TERM_NEAR,    /* distance from the border of that foreground, up to 24 pixels */
    TERM_FAR,     /* the same, up to 60 pixels */
    TERM_COLOUR,  /* log ratio of its colour nearby in the frame before */
    TERM_FIRST,   /* log ratio of its colour in the first frame, among pixels that have moved near */
    TERM_OVERALL, /* log ratio of its colour anywhere in the first frame */
    TERM_HOLE,    /* minus the share to which no pixel of the frame before moved, in the foreground */
    TERM_ANCHOR,  /* its label in the first frame, times how similar it still is */
    TERM_MOTION,  /* how much better its motion fits the foreground nearby than the background */
    TERM_ALWAYS,
    PROPAGATE_TERMS
};

struct propagation {
    int32_t full_width, full_height; /* of all frames */
    int32_t width, height;           /* working size */
    struct frame first, before, now, after;
    bool has_after;
    struct arena arena;      /* owns all arrays */
    float *first_foreground; /* [height][width] 0..1: the share of a pixel that is foreground, in the first frame */
    float *foreground;       /* the same in `before` */
    float *moved;            /* [height][width][2] current positions of the first frame's pixels */
    float *origin;           /* [height][width][3] position of a pixel in the first frame, and its trust, 0..1 */
    float *back, *forth, *onward; /* [height][width][2] motion: now to before, before to now, now to after */
    float *terms;                 /* [height][width][PROPAGATE_TERMS] */
    float *overall;               /* [FRAME_FINE^3] log ratios of the first frame's colours */
    float *counts;                /* [2] numbers of pixels by square and colour, of foreground and background */
    int32_t columns, rows;        /* of squares */
    float *planes;                /* [9][height][width] scratch */
    float *line;                  /* scratch of plane_blur */
};

/* Starts a propagation from an image of 3 channels and its mask[height][width]: 1 foreground, 0 background, other
 * values void. */
enum clv_status propagation_init(struct propagation *self, const struct clv_image *image, const uint8_t *mask,
                                 struct clv_error *err) CLV_CHECK;
void propagation_release(struct propagation *self);

/* Computes labels[height][width], 0 or 1, of the next frame. `after` is the frame that follows it, or NULL; it tells
 * the motion of pixels that were hidden before. All images have the size of the first. One thread, deterministic.
 * O(pixels); memory: about 300 bytes per pixel of the working size, 64 per pixel of the frame. */
enum clv_status propagation_next(uint8_t *labels, struct propagation *self, const struct clv_image *image,
                                 const struct clv_image *after, struct clv_error *err) CLV_CHECK;

/* Chains of frames along which masks are propagated. Each frame gets its mask from the nearest frame, before or after
 * it, whose mask is given. */

/* A chain: frames[first], whose mask is given, and the n frames after it in steps of 1 or -1. */
struct chain {
    size_t first, n;
    int32_t step;
};

/* Gaps between the numbers in the names of neighbouring slices: how many, and the two names of the first gap
 * (views). */
struct sequence_gaps {
    size_t n;
    const char *before[2];
};

struct chains {
    size_t *frames;     /* [set->n_items] indices of items, one sequence after the other */
    uint8_t *is_wanted; /* [set->n_items] whether an item's mask is wanted */
    uint8_t *is_given;  /* [set->n_items] whether an item's mask is given; NULL after chains_between */
    struct chain *items;
    size_t n, n_wanted, n_sequences;
    struct sequence_gaps gaps;
};
void chains_release(struct chains *self);

/* Callbacks of propagate_along. `frame` is an index into chains.frames. `read` reads an image, `read_mask` the given
 * mask, and `take` receives labels[height][width] of each other frame. */
struct propagate_frames {
    void *context;
    const struct clv_progress *progress; /* NULL: cannot be stopped */
    bool are_views;                      /* `read` returns views, which are not released */
    enum clv_status (*read)(void *context, size_t frame, struct clv_image *image, struct clv_error *err);
    enum clv_status (*read_mask)(void *context, size_t frame, const struct clv_image *image, struct clv_mask *mask,
                                 struct clv_error *err);
    enum clv_status (*take)(void *context, size_t frame, const struct clv_image *image, const uint8_t *labels,
                            struct clv_error *err);
    const char *(*name)(void *context, size_t frame); /* for messages */
};

/* Returns frame k of a chain; frame 0 is the given one. */
static inline size_t chain_frame(const struct chain *chain, size_t k)
{
    return (size_t)((int64_t)chain->first + chain->step * (int64_t)k);
}

/* Propagates the mask of frame 0 of a chain to frames 1 .. n, up to the first failure; *k is then the first frame that
 * was not taken, from 1. Errors: CLV_ERR_INTERRUPTED, CLV_ERR_DATA for a frame of another size, and those of the
 * callbacks. Memory: that of propagation_next, and three images. */
enum clv_status propagate_along(size_t *k, const struct chain *chain, const struct propagate_frames *frames,
                                struct clv_error *err) CLV_CHECK;

#define SEQUENCE_TIME " t=" /* stands between the file and the time in the name of a sequence */

/* Whether all items are pages of one file. */
bool sequences_are_of_one_file(const struct clv_item *items, size_t n);

/* Finds the chains of a set. Rows with the same `sequence` are a sequence, in their order; without that column all rows
 * are one. In a bare folder the images of each folder are a sequence, ordered by name with 2 before 10; so are the
 * pages of each TIFF, or the slices of each time if a TIFF has several times. `given` and `split` are comma-separated
 * splits (NULL: all): masks of `given` are given, other masks of `split` are wanted. Errors: CLV_ERR_DATA if masks of a
 * sequence are wanted and none is given, or if an image occurs twice. O(n log n). */
enum clv_status chains_find(struct chains *self, const struct clv_set *set, const char *given, const char *split,
                            struct clv_error *err) CLV_CHECK;

/* Finds the chains of one sequence of n frames in order, by is_given and is_wanted of each. A given frame is not
 * wanted. */
enum clv_status chains_between(struct chains *self, const uint8_t *is_given, const uint8_t *is_wanted, size_t n,
                               struct clv_error *err) CLV_CHECK;

/* Scores of the pixels of a frame, from frames whose foreground is known. */

/* Fills self->overall: log ratios of the colours of the first frame. */
void evidence_learn(struct propagation *self);

/* Fills self->terms of `now` from the motion and the frames before, and moves self->moved and self->origin from
 * `before` to `now`. */
enum clv_status evidence_gather(struct propagation *self, struct clv_error *err) CLV_CHECK;

/* Planes [height][width] of floats, such as the foreground or the motion of a frame. */

/* out[channels] = plane[height][width][channels] at (x, y), interpolated bilinearly. Positions outside get the value at
 * the nearest border. */
void plane_sample(float *out, const float *plane, int32_t channels, int32_t width, int32_t height, float x, float y);

/* Blurs by `passes` means over squares of side 2 radius + 1, with zeros outside: three are nearly a Gaussian of
 * variance radius (radius + 1). O(width height passes). scratch[max(width, height)] */
void plane_blur(float *plane, int32_t width, int32_t height, int32_t radius, int32_t passes, float *scratch);

/* distance[height][width] = distance of each pixel from the nearest pixel of the other side of plane = 1/2, in steps of
 * 1 and sqrt 2, at most `none`; positive where plane > 1/2, else negative. */
void plane_distance(float *distance, const float *plane, int32_t width, int32_t height, float none);

/* Sorts the items of a set by their sequences (see chains_find), names the sequences of a bare folder after its
 * subfolders, and sets is_apart of each item before which a slice is missing. Errors as of chains_find; then only names
 * may have changed. */
enum clv_status sequences_sort(struct sequence_gaps *gaps, struct clv_set *set, struct clv_error *err) CLV_CHECK;

/* Finds the two items, or fewer, that follow an item in its sequence. Errors as of chains_find. O(n log n). */
enum clv_status sequence_after(size_t next[2], size_t *n_next, const struct clv_set *set, size_t item,
                               struct clv_error *err) CLV_CHECK;

/* The slices of a window of a sequence, which are labelled together (window.c). Regions of neighbouring slices are
 * coupled, except where is_apart[i] means that a slice between i - 1 and i is missing. */
struct slice_window {
    struct slice *const *slices; /* [n]; NULL for a missing slice. Each keeps the motion from the slice before */
    const bool *is_apart;        /* [n] */
    size_t n;
};

/* Labels the nodes of all slices jointly, y[nodes of all slices], one slice after the other. Models of two labels are
 * labelled by an exact cut, models of more labels with Potts couplings by alpha-expansion, others by clv_model_predict.
 * margin[nodes] gets the margins of clv_oracle_margins, which need a cut; marginals[nodes][n_labels] those of
 * model_marginals. Each of the three can be NULL. CLV_ERR_DATA for slices of different sizes. Memory: the slices'
 * features once more. */
enum clv_status window_label(int32_t *y, double *margin, double *marginals, const struct slice_window *window,
                             const struct clv_model *model, struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;

/* Computes values[nodes][n_labels] of a problem, such as probabilities of labels. */
typedef enum clv_status (*score_nodes)(void *context, double *values, const struct clv_problem *problem,
                                       struct clv_oracle *oracle, struct clv_error *err);

/* Calls `score` for the nodes of all slices at once, one slice after the other. Errors as of window_label, and of
 * `score`. */
enum clv_status window_score(double *values, score_nodes score, void *context, const struct slice_window *window,
                             const struct clv_model *model, struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;

/* Labels a sequence window by window (slices.c), with one window and its images in memory. `read` reads the image of a
 * slice; `one` processes the slice when its labels are found, and calls slices_paint for them. Several threads call
 * both. */
struct slices {
    const struct clv_model *model; /* of sequences */
    enum clv_engine engine;
    int n_threads;
    const struct clv_progress *progress; /* NULL: cannot be stopped */
    bool is_by_net;                      /* all slices are refined by a network (refining_is_by_net) */
    size_t n;
    const struct clv_item *items; /* [n], whose is_apart tells where a slice is missing; NULL: no slice is missing */
    void *context;
    bool are_views; /* `read` returns views, which are not released */
    bool (*is_wanted)(void *context, size_t index);
    enum clv_status (*read)(void *context, size_t index, struct clv_image *image, struct clv_error *err);
    enum clv_status (*one)(void *context, size_t index, int thread, struct clv_error *err);
    score_nodes score; /* NULL: labels are found. Else one thread calls it for each window, and `one` uses
                        * slices_values */
    /* Private. */
    struct clv_oracle *oracle;
    struct loaded *loaded; /* [n] */
    int32_t width, height; /* of the first slice; 0 before it is read */
    size_t offset;         /* index of the first slice of the current loop */
    int32_t *y;            /* [nodes of the window] */
    double *margin;        /* [nodes]; NULL: the model is not solved by a cut */
    double *marginals;     /* [nodes][n_labels], instead of y if is_by_net; or the values of `score` */
    size_t node_capacity, margin_capacity, marginal_capacity;
};

/* Labels all slices in order, those of a window jointly. A slice that cannot be read is missing in its windows, and
 * slices_paint fails with its error. Errors: those of `one` and of window_label, CLV_ERR_INTERRUPTED,
 * CLV_ERR_MEMORY. */
enum clv_status slices_label(struct slices *self, struct clv_error *err) CLV_CHECK;

/* Called by `one`: slices_paint paints labels[height][width] of the slice, slices_problem returns its problem, without
 * the neighbouring slices. */
enum clv_status slices_paint(uint8_t *labels, const struct slices *self, size_t index, const struct clv_image *image,
                             bool refines, struct clv_error *err) CLV_CHECK;
const struct clv_problem *slices_problem(const struct slices *self, size_t index);

/* Called by `one`: finds the slice and the values[nodes][n_labels] that `score` computed for its nodes; both are views.
 * Errors as of slices_paint. */
enum clv_status slices_values(const struct clv_example **slice, const double **values, const struct slices *self,
                              size_t index, struct clv_error *err) CLV_CHECK;

/* Windows of `size` slices over a sequence of n slices; neighbouring windows share half of their slices. Return the
 * number of windows, the first slice of window k, and the end of the slices to which the middle of window k is the
 * nearest. */
size_t windows_count(size_t n, size_t size);
size_t window_first(size_t k, size_t n, size_t size);
size_t window_end_of_own(size_t k, size_t n, size_t size);

#endif
