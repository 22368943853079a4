/* What a model's record says about where it came from. */
#ifndef TASK_TRAIN_RECORD_H
#define TASK_TRAIN_RECORD_H

#include "base/digest.h"
#include "cleave/model.h"
#include "feature/dataset/frame.h"

/* A digest of training data, "fnv1a:" and 16 hexadecimal digits: 64-bit FNV-1a over each item's name, split, and the
 * sizes in bytes of its image and mask, in order; then over boxes[n_items] (may be NULL). It distinguishes sets at no
 * cost; it does not prove that pixels are the same. Where the set is does not matter. */
enum clv_status digest_set(char digest[DIGEST_SIZE], const struct clv_set *set, const struct item_boxes *boxes,
                           struct clv_error *err) CLV_CHECK;

/* digest_file of a feature file; of an index, or of several files, that of all files' digests. */
struct path_list;
enum clv_status digest_features(char digest[DIGEST_SIZE], const struct path_list *paths,
                                struct clv_error *err) CLV_CHECK;

#endif
