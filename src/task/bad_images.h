/* Images and masks that cannot be learned from, all of them, so that they are told at once. */
#ifndef TASK_BAD_IMAGES_H
#define TASK_BAD_IMAGES_H

#include <stdbool.h>

#include "cleave/status.h"

struct bad_images {
    char **messages; /* [n], of one line each */
    size_t n, capacity;
    enum clv_status status; /* of the first */
};
void bad_images_release(struct bad_images *self);

/* Takes a failure in if it is one image's own (what it holds, that it cannot be read or is too large): CLV_OK then,
 * else `status`. */
enum clv_status bad_images_add(struct bad_images *self, enum clv_status status, struct clv_error *err) CLV_CHECK;

/* Names all of them: as notes with `skip`, else as complaints, and fails. `n_images` is how many there were, of `path`. */
enum clv_status bad_images_report(const struct bad_images *self, bool skip, size_t n_images, const char *path,
                                  const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

#endif
