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

/* A frame at its working size, and values that are computed once per frame. */

#define FRAME_PIXELS (1 << 17) /* of a working size, at most */
#define FRAME_BINS   12        /* of lightness, a and b, for colours near a place */
#define FRAME_FINE   24        /* for colours of the whole frame */

struct frame {
    struct clv_image image;
    float *lab;              /* [height][width][3] */
    uint16_t *colour, *fine; /* [height][width] bins */
    struct motion_pyramid pyramid;
};

/* The least whole number by which sides are divided for a working size. */
int32_t frame_factor(int32_t width, int32_t height);

enum clv_status frame_init(struct frame *self, const struct clv_image *image, struct clv_error *err) CLV_CHECK;
void frame_release(struct frame *self);

/* Propagates one frame's mask to the frames after it. Every pixel gets a score (evidence.c), and a minimum cut decides
 * at the working size, then again at the pixels near the border.
 *
 *     struct propagation propagation = {0};
 *     status = propagation_init(&propagation, &image[0], mask, &error);
 *     for (t = 1; t < n && status == CLV_OK; t++)
 *         status = propagation_next(labels, &propagation, &image[t], t + 1 < n ? &image[t + 1] : NULL, &error);
 *     propagation_release(&propagation); */

/* Terms of a pixel's score; evidence.c computes them. */
enum propagate_term {
    TERM_BEFORE,  /* log odds of what was at the same position in the frame before */
    TERM_NEAR,    /* distance from that foreground's border, up to 24 pixels */
    TERM_FAR,     /* up to 60 pixels */
    TERM_COLOUR,  /* its colour in the frame before, nearby */
    TERM_FIRST,   /* its colour in the first frame, near where it was then */
    TERM_OVERALL, /* anywhere in the first frame */
    TERM_HOLE,    /* foreground where nothing of the frame before moved to */
    TERM_ANCHOR,  /* its label in the first frame, as far as it still looks the same */
    TERM_MOTION,  /* moves with the foreground nearby, not with the background */
    TERM_ALWAYS,
    PROPAGATE_TERMS
};

struct propagation {
    int32_t full_width, full_height; /* of all frames */
    int32_t width, height;           /* working size */
    struct frame first, before, now, after;
    bool has_after;
    struct arena arena;      /* has all arrays */
    float *first_foreground; /* [height][width] 0..1 share of a pixel that is foreground: in the first frame */
    float *foreground;       /* in `before` */
    float *moved;            /* [height][width][2] where the first frame's pixels are */
    float *origin;           /* [height][width][3] where a pixel was in the first frame, and how far that is trusted */
    float *back, *forth, *onward; /* [height][width][2] motion: now to before, before to now, now to after */
    float *terms;                 /* [height][width][PROPAGATE_TERMS] */
    float *overall;               /* [FRAME_FINE^3] log ratios of the first frame's colours */
    float *counts;                /* of places and colours, in foreground and in background */
    int32_t columns, rows;        /* of places */
    float *planes;                /* [9][height][width] scratch */
    float *line;                  /* scratch of plane_blur */
};

/* Image of 3 channels, mask[height][width]: 1 is foreground, 0 background, other values are neither. */
enum clv_status propagation_init(struct propagation *self, const struct clv_image *image, const uint8_t *mask,
                                 struct clv_error *err) CLV_CHECK;
void propagation_release(struct propagation *self);

/* Computes labels[height][width], 0 or 1, of the next frame. `after` is the frame that follows it (NULL: none); it
 * shows what was hidden before. All images have the size of the first. One thread, deterministic. O(pixels); memory:
 * about 300 bytes per pixel of the working size, 64 per pixel of the frame. */
enum clv_status propagation_next(uint8_t *labels, struct propagation *self, const struct clv_image *image,
                                 const struct clv_image *after, struct clv_error *err) CLV_CHECK;

/* The chains of frames of a set along which masks are propagated. Each frame gets its mask from the nearest frame,
 * before or after it, whose mask is given. */

/* Begins at frames[first], whose mask is given, and goes on for n frames in steps of 1 or -1. */
struct chain {
    size_t first, n;
    int32_t step;
};

/* Numbers that are missing in the names of neighbouring slices; views of the first two names. */
struct sequence_gaps {
    size_t n;
    const char *before[2];
};

struct chains {
    size_t *frames;     /* [set->n_items] items in their order, one sequence after the other */
    uint8_t *is_wanted; /* [set->n_items] whether an item's mask is to be made */
    uint8_t *is_given;  /* [set->n_items] whether it is given; NULL: the caller knows */
    struct chain *items;
    size_t n, n_wanted, n_sequences;
    struct sequence_gaps gaps;
};
void chains_release(struct chains *self);

/* How propagate_along gets a chain's frames, by their indices in `frames`: `read` gives an image, `read_mask` the given
 * mask, and `take` receives labels[height][width] of each other frame. */
struct propagate_frames {
    void *context;
    const struct clv_progress *progress; /* NULL: it cannot be stopped */
    bool are_views;                      /* images that are read are not to be released */
    enum clv_status (*read)(void *context, size_t frame, struct clv_image *image, struct clv_error *err);
    enum clv_status (*read_mask)(void *context, size_t frame, const struct clv_image *image, struct clv_mask *mask,
                                 struct clv_error *err);
    enum clv_status (*take)(void *context, size_t frame, const struct clv_image *image, const uint8_t *labels,
                            struct clv_error *err);
    const char *(*name)(void *context, size_t frame); /* for messages */
};

/* The k-th frame of a chain, from 0, which is given. */
static inline size_t chain_frame(const struct chain *chain, size_t k)
{
    return (size_t)((int64_t)chain->first + chain->step * (int64_t)k);
}

/* Ends with the first failure; *k is then its frame. CLV_ERR_INTERRUPTED when asked to stop, CLV_ERR_DATA for a frame
 * of another size, or an error of the functions. Memory: that of propagation_next, and three images. */
enum clv_status propagate_along(size_t *k, const struct chain *chain, const struct propagate_frames *frames,
                                struct clv_error *err) CLV_CHECK;

#define SEQUENCE_TIME " t=" /* between a file and a time in the name of a sequence */

/* Whether all items are pages of one file. */
bool sequences_are_of_one_file(const struct clv_item *items, size_t n);

/* Rows with the same `sequence` make a sequence, in their order; without that column all rows do. In a bare folder the
 * images of each folder make one, by their names, 2 before 10, and so do the pages of each TIFF; if these are slices at
 * several times, those of each time. `given` and `split` are comma-separated splits (NULL: all): masks of `given` are
 * given, other masks of `split` are wanted. Errors name the sequence: CLV_ERR_DATA if masks are wanted and none is
 * given, or if an image occurs twice. O(n log n). */
enum clv_status chains_find(struct chains *self, const struct clv_set *set, const char *given, const char *split,
                            struct clv_error *err) CLV_CHECK;

/* Finds the chains of one sequence of n frames in order, by is_given and is_wanted of each. A given frame is not
 * wanted. */
enum clv_status chains_between(struct chains *self, const uint8_t *is_given, const uint8_t *is_wanted, size_t n,
                               struct clv_error *err) CLV_CHECK;

/* Evidence for the pixels of a frame, from frames whose foreground is known. */

/* Fills self->overall. */
void evidence_learn(struct propagation *self);

/* Fills self->terms of `now` from the motion and the frames before; moves self->moved and self->origin on. */
enum clv_status evidence_gather(struct propagation *self, struct clv_error *err) CLV_CHECK;

/* Planes of numbers, [height][width], that follow a frame: sampled between pixels, blurred, measured from a border. */

/* out[channels] = plane[height][width][channels] at (x, y), bilinear; the border repeats. */
void plane_sample(float *out, const float *plane, int32_t channels, int32_t width, int32_t height, float x, float y);

/* Means over squares of 2 radius + 1 pixels, `passes` times: three of them are nearly a Gaussian of variance
 * radius (radius + 1). Outside there are zeros. scratch[max(width, height)] */
void plane_blur(float *plane, int32_t width, int32_t height, int32_t radius, int32_t passes, float *scratch);

/* distance[height][width] = how far pixels are from the nearest one of the other side, positive where plane > 1/2, in
 * steps of 1 and sqrt 2; without another side `none`, with its sign. */
void plane_distance(float *distance, const float *plane, int32_t width, int32_t height, float none);

/* Sorts the items of a set by their sequences (see chains_find), names the sequences of a bare folder by its
 * subfolders, and notes in each item whether a slice is missing before it. Errors as of chains_find; only names may
 * have changed then. */
enum clv_status sequences_sort(struct sequence_gaps *gaps, struct clv_set *set, struct clv_error *err) CLV_CHECK;

/* Finds the two items, or fewer, that follow an item in its sequence. Errors as of chains_find. O(n log n). */
enum clv_status sequence_after(size_t next[2], size_t *n_next, const struct clv_set *set, size_t item,
                               struct clv_error *err) CLV_CHECK;

/* The slices of a window of a sequence, which are labelled together (window.c); NULL for a slice that is missing.
 * Regions of neighbouring slices are coupled, unless a slice between i - 1 and i is missing: is_apart[i]. */
struct slice_window {
    struct slice *const *slices; /* [n]; what moves from one to the next is kept in them */
    const bool *is_apart;        /* [n] */
    size_t n;
};

/* Labels the nodes of all slices at once, y[nodes of all slices], one slice after the other: two labels by a cut, which
 * is exact, more by alpha-expansion. margin[nodes] (NULL: not wanted) is that of clv_oracle_margins if a cut decides;
 * marginals[nodes][n_labels] (NULL: not wanted) are those of model_marginals. CLV_ERR_DATA for slices of different
 * sizes. Memory: the slices' features once more. */
enum clv_status window_label(int32_t *y, double *margin, double *marginals, const struct slice_window *window,
                             const struct clv_model *model, struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;

/* values[nodes][n_labels] of a problem, such as probabilities of labels. */
typedef enum clv_status (*score_nodes)(void *context, double *values, const struct clv_problem *problem,
                                       struct clv_oracle *oracle, struct clv_error *err);

/* Calls `score` for the nodes of all slices at once, one slice after the other. Errors as of window_label, and of
 * `score`. */
enum clv_status window_score(double *values, score_nodes score, void *context, const struct slice_window *window,
                             const struct clv_model *model, struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;

/* Labels a sequence window by window (slices.c), with one window and its images in memory. `read` gives the image of a
 * slice; `one` uses the slice, with the labels of slices_paint. Several threads call both. */
struct slices {
    const struct clv_model *model; /* of sequences */
    enum clv_engine engine;
    int n_threads;
    const struct clv_progress *progress; /* NULL: it cannot be stopped */
    bool is_by_net;                      /* all are refined, and refining_is_by_net */
    size_t n;
    const struct clv_item *items; /* [n] that say where a slice is missing; NULL: none is */
    void *context;
    bool are_views; /* images that are read are not to be released */
    bool (*is_wanted)(void *context, size_t index);
    enum clv_status (*read)(void *context, size_t index, struct clv_image *image, struct clv_error *err);
    enum clv_status (*one)(void *context, size_t index, int thread, struct clv_error *err);
    score_nodes score; /* called once for a window, by one thread: `one` has slices_values, no labels; NULL: labels */
    /* Private. */
    struct clv_oracle *oracle;
    struct loaded *loaded; /* [n] */
    int32_t width, height; /* of the first slice; 0: none is read yet */
    size_t offset;         /* where the current loop begins */
    int32_t *y;            /* of the window's nodes */
    double *margin;        /* likewise; NULL: no cut gives them */
    double *marginals;     /* [nodes][n_labels], in place of y where is_by_net; or values of `score` */
    size_t node_capacity, margin_capacity, marginal_capacity;
};

/* Labels all slices in order, those of a window at once. A slice that cannot be read is missing in its windows;
 * slices_paint then reports the error. Errors: those of `one`, of window_label, CLV_ERR_INTERRUPTED, CLV_ERR_MEMORY. */
enum clv_status slices_label(struct slices *self, struct clv_error *err) CLV_CHECK;

/* Paints labels[height][width] of the slice of `one`, and gives its problem without neighbours. */
enum clv_status slices_paint(uint8_t *labels, const struct slices *self, size_t index, const struct clv_image *image,
                             bool refines, struct clv_error *err) CLV_CHECK;
const struct clv_problem *slices_problem(const struct slices *self, size_t index);

/* Gives the slice of `one`, and the values [nodes][n_labels] that `score` gave its nodes; both are views. Errors as of
 * slices_paint. */
enum clv_status slices_values(const struct clv_example **slice, const double **values, const struct slices *self,
                              size_t index, struct clv_error *err) CLV_CHECK;

/* Windows of `size` slices over a sequence of n, each sharing half of its slices with the next. Functions for the
 * number of windows, the first slice of window k, and the end of the slices whose nearest middle is that of window
 * k. */
size_t windows_count(size_t n, size_t size);
size_t window_first(size_t k, size_t n, size_t size);
size_t window_end_of_own(size_t k, size_t n, size_t size);

#endif
