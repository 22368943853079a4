/* Sets of images of bands. */
#ifndef TASK_BAND_IMAGES_H
#define TASK_BAND_IMAGES_H

#include <stdbool.h>

#include "cleave/features.h"

#define BANDS_MAP "bands" /* the name of the map that such images have */

/* Whether a file is a further band of an image whose first file has another name: its path ends with one of the names
 * after the first; NULL: none is. */
bool band_images_is_further(const char *path, const char *names);

/* Of files that are bands of one (limits->band_files) the first stays in the set; does nothing without. CLV_ERR_DATA:
 * none is left. */
enum clv_status band_images_join(struct clv_set *set, const struct clv_image_limits *limits,
                                 struct clv_error *err) CLV_CHECK;

/* Learns recipe->bands of a set whose images are of bands (training_set_is_deep), and gives its images the map; a note
 * says so. Errors: of bands_learn and band_images_give. */
enum clv_status band_images_learn(struct clv_recipe *recipe, struct clv_set *set, const struct clv_image_limits *limits,
                                  const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Images are their own maps BANDS_MAP, if the recipe has learned bands. CLV_ERR_USAGE if the set has another one of that
 * name, or as many as may be. */
enum clv_status band_images_give(struct clv_set *set, const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;

#endif
