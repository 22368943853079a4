/* Looking at all images and masks before long work starts. */
#ifndef TASK_CHECK_SET_H
#define TASK_CHECK_SET_H

#include "cleave/features.h"
#include "task/train_images.h"

/* Reads every image, and every mask against its image's size. What is bad is named, all of it (with self->bad, which
 * were found so before): an error, or with options->skip_bad left out. Notes how masks were understood (0/255 as 0/1)
 * and which hold nothing but background. Masks that hold one label alone are CLV_ERR_USAGE, or a note where boxes or
 * void pixels leave others to be pseudo-labelled. Bad is, too, an image whose features take more memory than can be had
 * while they are made. Where images have boxes, boxes of those with masks receive the box of the mask's figure; none
 * where there is no figure. */
enum clv_status check_set(struct supervision *self, const struct clv_recipe *recipe,
                          const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

#define TWELVE_BITS_OF_ONE "16-bit image has no value above 4095: --range 0,4095 shows what is in it"
#define TWELVE_BITS        TWELVE_BITS_OF_ONE, "16-bit images have no value above 4095: --range 0,4095 shows what is in them"

/* The same where images are only read, not learned from: every mask against its image's size; those that cannot be
 * read, do not fit or whose features take more memory than can be had are left out, each with a note. None left is an
 * error. `path` is the set's name in messages. The same items are left whatever the number of threads. */
enum clv_status usable_images_keep(struct clv_set *set, const char *path, const struct clv_recipe *recipe,
                                   int n_threads, const struct clv_image_limits *limits,
                                   const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

#endif
