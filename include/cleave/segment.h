/* The usual thing in one call: an image in memory and a trained model in, a label for every pixel out.
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
 * With a box around the object in place of a model, clv_box_cut (cleave/box_cut.h) is the same in one call. */
#ifndef CLEAVE_SEGMENT_H
#define CLEAVE_SEGMENT_H

#include <stdbool.h>

#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/refine.h"

#ifdef __cplusplus
extern "C" {
#endif

struct clv_segment_options {
    bool is_refined; /* borders are sharpened at the pixels (clv_refine); default false, whatever the image's size */
    struct clv_refine_options refining; /* how, then; numbers that are still those of clv_refine_defaults (default) are
                                         * the model's own, if it was learned with maps */
    const struct clv_map *maps; /* of the image, [n_maps of the model's recipe] in its order; NULL (default): none */
    struct clv_oracle *oracle;  /* whose memory and engine are used; NULL (default): a new one for each call */
};
CLV_API void clv_segment_defaults(struct clv_segment_options *options);

/* labels[height][width] = what the model sees at each pixel of a 3-channel image of any size, 0 to
 * model->labels.n_labels - 1: what `cleave segment --no-refine` writes, byte for byte (with is_refined: `cleave segment
 * --refine`). Where neither is said, the command refines images of more pixels than model->recipe.working_pixels.
 *
 * The recipe of the model turns the image into superpixels or patches with features, clv_model_predict labels them, and
 * the labels are painted at the image's size (clv_example_paint; patches vote, clv_example_vote). options may be NULL.
 *
 * One thread, deterministic. The model is only read: several threads may share it, each with an oracle of its own or
 * without one. Time and memory O(pixels), and one decoding of a graph of the recipe's size (a min-cut of its
 * superpixels, for two labels); with is_refined those of clv_refine.
 *
 * Errors: CLV_ERR_USAGE (a model without a recipe: of letters or of features from elsewhere; an image without pixels or
 * of another number of channels; refining options), CLV_ERR_DATA (weights and image make scores that are not finite),
 * CLV_ERR_MEMORY. labels are then unchanged. */
CLV_API enum clv_status clv_segment(uint8_t *labels, const struct clv_model *model, const struct clv_image *image,
                                    const struct clv_segment_options *options, struct clv_error *err) CLV_CHECK;

/* What `cleave train --stages 2 --label-costs X` does: learns a first stage from the training's examples and keeps it in
 * model->first, gives every problem of the dataset, which is the training's and nobody else's, features of what a stage
 * says around it that has not seen it, and learns the second stage from those. training->shape and
 * model->shape become the second stage's; result->w is to be the model's. With label_costs > 0, of three labels or
 * more, the model receives what a label costs by being in an image at all. About seven trainings. Same bytes at any
 * thread count. After a failure the dataset is good for nothing but being freed. Errors: those of clv_train;
 * CLV_ERR_USAGE (another dataset, fewer than 5 images, label costs that are out of range or of two labels),
 * CLV_ERR_INTERRUPTED (within the first stage). */
#define CLV_MAX_LABEL_COSTS 10000
CLV_API enum clv_status clv_train_two_stages(struct clv_training_result *result, struct clv_model *model,
                                             struct clv_dataset *dataset, const struct clv_learner *learner,
                                             struct clv_training *training, double label_costs,
                                             struct clv_error *err) CLV_CHECK;

/* What `cleave train` does last with maps of networks: learns how is_refined weighs what a map, the region and the
 * colour say of a pixel, and how strong couplings are, and keeps it in the model. The model has all else, learned by
 * the training, whose dataset is of the set's images. For this the training is done twice more, without either half of
 * its examples, since a model is surer of images that it has seen. Nothing happens without maps, with fewer than 4
 * examples, or when asked to stop: such a model refines as others do. Same bytes at any thread count. Errors: those of
 * clv_train and of reading images, masks and maps; CLV_ERR_USAGE if set and dataset differ in size. limits may be
 * NULL. */
CLV_API enum clv_status clv_train_refining(struct clv_model *model, const struct clv_learner *learner,
                                           const struct clv_training *training, const struct clv_set *set,
                                           const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
