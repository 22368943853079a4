/* Segmentation in one call: labels for the pixels of an image (clv_segment), of all slices of a stack together
 * (clv_segment_sequence), and of the frames of a video (clv_propagate_masks).
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
 * With a box around the object instead of a model, use clv_box_cut (cleave/box_cut.h). clv_train_set (cleave/train.h)
 * trains models. */
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

/* Which images have borders refined at the pixels. LARGE: images larger than model->recipe.working_pixels, whose labels
 * come from a smaller copy and would have stair-shaped borders, and with models trained with pixel_net all images. */
enum clv_refine_choice { CLV_REFINE_LARGE, CLV_REFINE_ALL, CLV_REFINE_NONE };

struct clv_segment_options {
    enum clv_refine_choice refine;             /* default CLV_REFINE_LARGE, which with n_samples means none; ALL is
                                                * refused with n_samples */
    const struct clv_refine_options *refining; /* NULL (default): the model's; members equal to clv_refine_defaults are
                                                * replaced by the model's, too, if it was learned with maps */
    const struct clv_map *maps;                /* [n_maps of the model's recipe], in its order; NULL (default): none */
    int32_t n_samples;         /* above 0: the labels of least expected loss over this number of samples */
    uint64_t seed;             /* (clv_model_decide), drawn with this seed; 0 (default): the model's rule */
    struct clv_oracle *oracle; /* its buffers and engine are used; NULL (default): a new one for each call */
};
CLV_API void clv_segment_defaults(struct clv_segment_options *options);

/* labels[height][width] = the label that the model predicts at each pixel of a 3-channel image of any size, 0 to
 * model->labels.n_labels - 1: the same bytes as `cleave segment` writes with the same choice of refinement.
 *
 * The recipe of the model turns the image into superpixels or patches with features, clv_model_predict labels them, and
 * the labels are painted at the image's size (clv_example_paint; patches vote, clv_example_vote). options may be NULL.
 *
 * One thread, deterministic. The model is only read: several threads may share it, each with its own oracle or none.
 * Time and memory are O(pixels), plus one decoding of a graph of the recipe's size (for two labels a minimum cut of its
 * superpixels), plus those of clv_refine if borders are refined.
 *
 * Errors: CLV_ERR_USAGE (a model without a recipe, that is of letters or of another program's features; an image
 * without pixels or with another number of channels; refining options), CLV_ERR_DATA (scores that are not finite),
 * CLV_ERR_MEMORY. labels are then unchanged. */
CLV_API enum clv_status clv_segment(uint8_t *labels, const struct clv_model *model, const struct clv_image *image,
                                    const struct clv_segment_options *options, struct clv_error *err) CLV_CHECK;

/* Options for sequences: slices of a volume or frames of a video, all of one size, in order. */
struct clv_sequence_options {
    enum clv_refine_choice refine;       /* for clv_segment_sequence; default CLV_REFINE_LARGE */
    int n_threads;                       /* 0 (default): one per processor */
    const struct clv_progress *progress; /* NULL (default): no reports, and the call cannot be stopped */
};
CLV_API void clv_sequence_defaults(struct clv_sequence_options *options);

/* labels[i][height][width] = the labels that a model of `cleave train --sequence` predicts for slice i of images[n],
 * which have 3 channels: the same bytes as `cleave segment --sequence -m` writes. labels[i] NULL: slice i only serves
 * as context. options may be NULL.
 *
 * The slices of a window are labelled together; windows have the model's number of slices and overlap by half. Two
 * labels are solved by a minimum cut, which is exact for a sequence that fits into a window, more labels by
 * alpha-expansion. The same bytes at any number of threads. O(pixels) time; memory for one window's features besides
 * the images.
 *
 * Errors: CLV_ERR_USAGE (a model of single images; an image without pixels or of another number of channels),
 * CLV_ERR_DATA (slices of different sizes; scores that are not finite), CLV_ERR_INTERRUPTED, CLV_ERR_MEMORY. Some
 * labels may be written then. */
CLV_API enum clv_status clv_segment_sequence(uint8_t *const *labels, const struct clv_model *model,
                                             const struct clv_image *images, size_t n,
                                             const struct clv_sequence_options *options,
                                             struct clv_error *err) CLV_CHECK;

/* Propagates the masks of some frames to the others, without a model. given[i][height][width] is the mask of frame i or
 * NULL: 1 on the foreground, 0 on the background, other values are void. Writes labels[i][height][width], 0 or 1, for
 * every frame with given[i] NULL and labels[i] not NULL, from the nearest given mask before or after it: the same bytes
 * as `cleave propagate` writes. options may be NULL.
 *
 * Motion, colours and the previous frame's labels give the scores of every pixel, and a minimum cut gives the labels.
 * Each thread processes a chain of frames from one given mask; the same bytes at any number of threads. About 0.1 s per
 * frame of 854 x 480. Memory per thread: 300 bytes per pixel of the working size (at most 131,072 pixels) and 64 per
 * pixel of the frame.
 *
 * Errors: CLV_ERR_USAGE (an image without pixels or not of 3 channels; no labels to write), CLV_ERR_DATA (no mask is
 * given, frames of different sizes), CLV_ERR_INTERRUPTED, CLV_ERR_MEMORY. Some labels may be written then. */
CLV_API enum clv_status clv_propagate_masks(uint8_t *const *labels, const uint8_t *const *given,
                                            const struct clv_image *images, size_t n,
                                            const struct clv_sequence_options *options,
                                            struct clv_error *err) CLV_CHECK;

/* *map = the objects of an image, from labels[height][width] as clv_segment writes them: those of `cleave segment
 * --objects`. If the model was trained with objects, these are the objects that it finds, each with the most frequent
 * label of its labelled pixels, and labels is changed accordingly: the pixels of an object get its label, and other
 * pixels with such a label become background. Otherwise objects are the 4-connected components of every label with a
 * name that is not void, except a label 0 called "background". map->labels is never NULL.
 *
 * If an image has more than 2^22 pixels at the size at which the model finds objects, these are found window by window
 * and joined.
 *
 * One thread, deterministic; the model is only read. O(pixels); a model with objects takes about 300 bytes per pixel of
 * up to 2^22 pixels. Errors: CLV_ERR_USAGE (an image without pixels or not of 3 channels), CLV_ERR_DATA (the model's
 * tensors of objects are damaged), CLV_ERR_MEMORY. *map and labels are then unchanged. */
CLV_API enum clv_status clv_segment_objects(struct clv_object_map *map, uint8_t *labels, const struct clv_model *model,
                                            const struct clv_image *image, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
