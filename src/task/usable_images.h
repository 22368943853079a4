/* --skip-bad where images are only read, not learned from. */
#ifndef TASK_USABLE_IMAGES_H
#define TASK_USABLE_IMAGES_H

#include "cleave/features.h"

/* Reads every image of the set, and every mask against its image's size; those that cannot be read, do not fit or whose
 * features take more memory than can be had are left out, each with a note. None left is an error. `path` is the set's
 * name in messages. The same items are left whatever the number of threads. */
enum clv_status usable_images_keep(struct clv_set *set, const char *path, const struct clv_recipe *recipe,
                                   int n_threads, const struct clv_image_limits *limits,
                                   const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

#endif
