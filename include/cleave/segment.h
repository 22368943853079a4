/* Segmentation in one call: a label for every pixel of an image by a model (clv_segment), of the slices of a stack
 * together, of the frames of a video.
 *
 *     struct clv_model model = {0};
 *     struct clv_image image = {0};
 *     struct clv_error error;
 *     uint8_t *labels = NULL;
 *     enum clv_status status = clv_model_read(&model, "horses.cleave", &error);
 *     if (status == CLV_OK)
 *         status = clv_image_read(&image, "horse.jpg", NULL, &error);
 *     if (status == CLV_OK)
 *         labels = malloc((size_t)image.width * (size_t)image.height);
 *     if (labels)
 *         status = clv_segment(labels, &model, &image, NULL, &error);
 *
 * With a box around the object in place of a model, clv_box_cut (cleave/box_cut.h) is the same in one call. Models come
 * from clv_train_set (cleave/train.h). */
#ifndef CLEAVE_SEGMENT_H
#define CLEAVE_SEGMENT_H

#include <stdbool.h>

#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/objects.h"
#include "cleave/refine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which images have borders refined at the pixels: those larger than model->recipe.working_pixels, whose labels were
 * found on a smaller copy and would have its steps, and all by models with a network of pixels that training was asked
 * for (pixel_net); all; none. */
enum clv_refine_choice { CLV_REFINE_LARGE, CLV_REFINE_ALL, CLV_REFINE_NONE };

struct clv_segment_options {
    enum clv_refine_choice refine;             /* default CLV_REFINE_LARGE, which with n_samples means none */
    const struct clv_refine_options *refining; /* how, then; numbers that are those of clv_refine_defaults, or all of
                                                * them (NULL, default), are the model's own, if learned with maps */
    const struct clv_map *maps; /* of the image, [n_maps of the model's recipe] in its order; NULL (default): none */
    int32_t n_samples; /* above 0: the labels of least expected loss by so many samples (clv_model_decide), of */
    uint64_t seed;     /* this seed; default 0: those of the model's own rule */
    struct clv_oracle *oracle; /* whose memory and engine are used; NULL (default): a new one for each call */
};
CLV_API void clv_segment_defaults(struct clv_segment_options *options);

/* labels[height][width] = what the model sees at each pixel of a 3-channel image of any size, 0 to
 * model->labels.n_labels - 1: what `cleave segment` writes, byte for byte, with the same choice of refining.
 *
 * The recipe of the model turns the image into superpixels or patches with features, clv_model_predict labels them, and
 * the labels are painted at the image's size (clv_example_paint; patches vote, clv_example_vote). options may be NULL.
 *
 * One thread, deterministic. The model is only read: several threads may share it, each with an oracle of its own or
 * without one. Time and memory O(pixels), and one decoding of a graph of the recipe's size (a min-cut of its
 * superpixels, for two labels); those of clv_refine where it refines.
 *
 * Errors: CLV_ERR_USAGE (a model without a recipe: of letters or of features from elsewhere; an image without pixels or
 * of another number of channels; refining options), CLV_ERR_DATA (weights and image make scores that are not finite),
 * CLV_ERR_MEMORY. labels are then unchanged. */
CLV_API enum clv_status clv_segment(uint8_t *labels, const struct clv_model *model, const struct clv_image *image,
                                    const struct clv_segment_options *options, struct clv_error *err) CLV_CHECK;

/* Sequences: slices of a volume, frames of a video, all of one size, in their order. */
struct clv_sequence_options {
    enum clv_refine_choice refine;       /* of clv_segment_sequence; default CLV_REFINE_LARGE */
    int n_threads;                       /* 0 (default): all the machine's */
    const struct clv_progress *progress; /* NULL (default): nothing is reported, and it cannot be stopped */
};
CLV_API void clv_sequence_defaults(struct clv_sequence_options *options);

/* labels[i][height][width] = what a model of `cleave train --sequence` sees in slice i of images[n], of 3 channels
 * each: what `cleave segment --sequence -m` writes, byte for byte. labels[i] NULL: that slice is only looked at.
 * options may be NULL.
 *
 * Windows of the model's number of slices, each sharing half with the next, are labelled at once: two labels by a cut,
 * which is exact for a sequence that fits a window, more by alpha-expansion. The same bytes at any number of threads.
 * O(pixels) time; memory of one window's features besides the images.
 *
 * Errors: CLV_ERR_USAGE (a model of single images; an image without pixels or of another number of channels),
 * CLV_ERR_DATA (slices of different sizes; scores that are not finite), CLV_ERR_INTERRUPTED, CLV_ERR_MEMORY. Some
 * labels may be written then. */
CLV_API enum clv_status clv_segment_sequence(uint8_t *const *labels, const struct clv_model *model,
                                             const struct clv_image *images, size_t n,
                                             const struct clv_sequence_options *options,
                                             struct clv_error *err) CLV_CHECK;

/* From given masks of some frames to those of the others, without a model: labels[i][height][width], 0 or 1, of the
 * frames whose given[i] is NULL and labels[i] is not, each propagated from the nearest given mask, before or after it;
 * given[i][height][width] is 1 on the foreground, 0 on the background, other values are neither. What `cleave segment
 * --sequence` without -m writes, byte for byte. options may be NULL.
 *
 * Motion, colours and what was there before score every pixel, a minimum cut decides. Threads work on chains of frames
 * from one given mask; the same bytes at any number of them. About .1 s a frame of 854x480; 300 bytes a pixel of the
 * working size (at most 131,072 pixels) and 64 a pixel of the frame for each thread.
 *
 * Errors: CLV_ERR_USAGE (an image without pixels or of other than 3 channels; nothing wanted), CLV_ERR_DATA (no mask is
 * given, frames of different sizes), CLV_ERR_INTERRUPTED, CLV_ERR_MEMORY. Some labels may be written then. */
CLV_API enum clv_status clv_propagate_masks(uint8_t *const *labels, const uint8_t *const *given,
                                            const struct clv_image *images, size_t n,
                                            const struct clv_sequence_options *options,
                                            struct clv_error *err) CLV_CHECK;

/* *map = the objects of an image whose labels[height][width] clv_segment gave: what `cleave segment --objects` writes.
 * They are those that the model has learned to find, each with the label of most of its pixels that are labelled; of a
 * model that has not learned of objects, connected pieces, by sides, of every label with a name, but for a label 0
 * called "background". map->labels is there. Where objects were learned, labels is changed to agree with them: their
 * pixels get their labels, other pixels that have such a label become background.
 *
 * Learned objects of an image of more than 2^22 pixels, at the size that they are looked for at, are found window by
 * window, and joined.
 *
 * One thread, deterministic; the model is only read. O(pixels), where objects are learned with about 300 bytes a pixel
 * of up to 2^22.
 * Errors: CLV_ERR_USAGE (an image without pixels or of other than 3 channels), CLV_ERR_DATA (what was learned is
 * damaged), CLV_ERR_MEMORY. *map and labels are then unchanged. */
CLV_API enum clv_status clv_segment_objects(struct clv_object_map *map, uint8_t *labels, const struct clv_model *model,
                                            const struct clv_image *image, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
