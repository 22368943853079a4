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

/* A frame at its working size, with all that is computed of it once. */

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

/* From one frame's mask to those of the frames after it: every pixel is scored by what is known of it (evidence.c), and
 * a minimum cut decides at the working size, then again at the pixels near the border.
 *
 *     struct propagation propagation = {0};
 *     status = propagation_init(&propagation, &image[0], mask, &error);
 *     for (t = 1; t < n && status == CLV_OK; t++)
 *         status = propagation_next(labels, &propagation, &image[t], t + 1 < n ? &image[t + 1] : NULL, &error);
 *     propagation_release(&propagation);
 */

/* Terms of a pixel's score; evidence.c computes them. */
enum propagate_term {
    TERM_BEFORE,  /* log odds of what was at its place in the frame before */
    TERM_NEAR,    /* distance from that foreground's border, up to 24 pixels */
    TERM_FAR,     /* up to 60 pixels */
    TERM_COLOUR,  /* its colour in the frame before, near its place */
    TERM_FIRST,   /* in the first frame, near its place as it moved since */
    TERM_OVERALL, /* anywhere in the first frame */
    TERM_HOLE,    /* foreground where nothing of the frame before moved to */
    TERM_ANCHOR,  /* what it was in the first frame, as far as it still looks so */
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

/* labels[height][width], 0 or 1, of the next frame; `after` is the one that follows, which shows what was hidden before
 * (NULL: there is none). Images of the first one's size. One thread, deterministic. O(pixels); memory: about 300 bytes
 * a pixel of the working size, 64 a pixel of the frame. */
enum clv_status propagation_next(uint8_t *labels, struct propagation *self, const struct clv_image *image,
                                 const struct clv_image *after, struct clv_error *err) CLV_CHECK;

/* Which frames of a set follow each other, and from which given mask each one's is propagated: the nearest one's,
 * before or after it. */

/* From frames[first], whose mask is given, n frames on, in steps of 1 or -1. */
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

/* A chain's frames as propagate_along sees them, by their indices in `frames`: `read` their images, `read_mask` the
 * given one's, `take` labels[height][width] of each of the others. */
struct propagate_frames {
    void *context;
    const struct clv_progress *progress; /* NULL: nobody stops it */
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

/* Ends with the first failure, *k is then the frame that it is of. CLV_ERR_INTERRUPTED when asked to stop, CLV_ERR_DATA
 * for a frame of another size, and what the functions say. Memory of propagation_next, and three images. */
enum clv_status propagate_along(size_t *k, const struct chain *chain, const struct propagate_frames *frames,
                                struct clv_error *err) CLV_CHECK;

#define SEQUENCE_TIME " t=" /* between a file and a time in the name of a sequence */

/* Whether all items are pages of one file. */
bool sequences_are_of_one_file(const struct clv_item *items, size_t n);

/* Rows of one `sequence` belong together in their order; without a column all do. Of a bare folder the images of each
 * folder do, by their names, 2 before 10, and the pages of each TIFF; where these are slices at several times, those of
 * each time. `given` and `split` are comma-separated splits
 * (NULL: all): masks of the one are given, those of the other, as far as they are not given, are made. Errors name the
 * sequence: CLV_ERR_DATA for one without any given mask where one is wanted, or an image that is there twice.
 * O(n log n). */
enum clv_status chains_find(struct chains *self, const struct clv_set *set, const char *given, const char *split,
                            struct clv_error *err) CLV_CHECK;

/* Finds the chains of n frames of one sequence, in their order: is_given and is_wanted of each. Frames that are given
 * are not wanted. */
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

/* Puts the items of a set in the order that their sequences have (see chains_find), names the sequences of a bare
 * folder by its subfolders, and notes in each item whether a slice is missing before it. Errors as of chains_find; the
 * set is unchanged then, but for names. */
enum clv_status sequences_sort(struct sequence_gaps *gaps, struct clv_set *set, struct clv_error *err) CLV_CHECK;

/* The up to two items that follow an item in its sequence. Errors as of chains_find. O(n log n). */
enum clv_status sequence_after(size_t next[2], size_t *n_next, const struct clv_set *set, size_t item,
                               struct clv_error *err) CLV_CHECK;

/* Slices of a sequence labelled together (window.c): those of a window; NULL for one that is missing. Regions of
 * neighbours are coupled unless is_apart[i] says that a slice between i - 1 and i is missing. */
struct slice_window {
    struct slice *const *slices; /* [n]; what moves from one to the next is kept in them */
    const bool *is_apart;        /* [n] */
    size_t n;
};

/* y[nodes of all slices], one slice after the other: the labels of all at once; of two labels by a cut, which is exact,
 * of more by alpha-expansion. margin likewise as of clv_oracle_margins, where a cut gave them, and
 * marginals[nodes][n_labels], which are model_marginals. NULL: not wanted.
 * CLV_ERR_DATA for slices of different sizes. Memory of the slices' features again. */
enum clv_status window_label(int32_t *y, double *margin, double *marginals, const struct slice_window *window,
                             const struct clv_model *model, struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;

/* values[nodes][n_labels] of a problem, such as probabilities of labels. */
typedef enum clv_status (*score_nodes)(void *context, double *values, const struct clv_problem *problem,
                                       struct clv_oracle *oracle, struct clv_error *err);

/* Has the nodes of all slices scored at once, one slice after the other. Errors as of window_label, and of `score`. */
enum clv_status window_score(double *values, score_nodes score, void *context, const struct slice_window *window,
                             const struct clv_model *model, struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;

/* A sequence labelled window by window (slices.c), in memory of one window besides that of images. What goes through
 * it: `read` gives the image of a slice, `one` does all that is to be done of a slice, with the labels of slices_paint;
 * both are called by several threads. */
struct slices {
    const struct clv_model *model; /* of sequences */
    enum clv_engine engine;
    int n_threads;
    const struct clv_progress *progress; /* NULL: nobody stops it */
    bool is_by_net;                      /* all are refined, and refining_is_by_net */
    size_t n;
    const struct clv_item *items; /* [n] that say where a slice is missing; NULL: none is */
    void *context;
    bool are_views; /* images that are read are not to be released */
    bool (*is_wanted)(void *context, size_t index);
    enum clv_status (*read)(void *context, size_t index, struct clv_image *image, struct clv_error *err);
    enum clv_status (*one)(void *context, size_t index, int thread, struct clv_error *err);
    score_nodes score; /* called once for a window, by one thread: `one` has slices_values, no labels; NULL: labels */
    /* Own. */
    struct clv_oracle *oracle;
    struct loaded *loaded; /* [n] */
    int32_t width, height; /* of the first slice; 0: none is read yet */
    size_t offset;         /* where the loop at hand begins */
    int32_t *y;            /* of the window's nodes */
    double *margin;        /* likewise; NULL: no cut gives them */
    double *marginals;     /* [nodes][n_labels], in place of y where is_by_net; or values of `score` */
    size_t node_capacity, margin_capacity, marginal_capacity;
};

/* All of them, in order, those of a window at once. A slice that cannot be read is missing in windows, and slices_paint
 * says why. Errors: those of `one`, of window_label, CLV_ERR_INTERRUPTED, CLV_ERR_MEMORY. */
enum clv_status slices_label(struct slices *self, struct clv_error *err) CLV_CHECK;

/* From `one`: labels[height][width] of its slice, and its problem, without neighbours. */
enum clv_status slices_paint(uint8_t *labels, const struct slices *self, size_t index, const struct clv_image *image,
                             bool refines, struct clv_error *err) CLV_CHECK;
const struct clv_problem *slices_problem(const struct slices *self, size_t index);

/* From `one`: the slice, and the values [nodes][n_labels] that `score` gave its nodes; both are views. Errors as of
 * slices_paint. */
enum clv_status slices_values(const struct clv_example **slice, const double **values, const struct slices *self,
                              size_t index, struct clv_error *err) CLV_CHECK;

/* Windows of `size` over a sequence of n slices, neighbours sharing half of theirs: how many there are; where window k
 * begins, and before which slice those end of which its middle is the nearest. */
size_t windows_count(size_t n, size_t size);
size_t window_first(size_t k, size_t n, size_t size);
size_t window_end_of_own(size_t k, size_t n, size_t size);

#endif
