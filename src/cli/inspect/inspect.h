/* `cleave inspect`: describes a model or a TIFF on standard output. cmd_inspect.c reads the options and describes
 * models of images, inspect_tags.c models of tags, inspect_image.c TIFFs. */
#ifndef CLI_INSPECT_H
#define CLI_INSPECT_H

#include <stdbool.h>

#include "cleave/image.h"
#include "cleave/model.h"

/* inspect_tags describes a model of tags and its n_top largest couplings. inspect_is_tags returns whether a file is one
 * (false also for a file that cannot be read). */
bool inspect_is_tags(const char *path);
enum clv_status inspect_tags(const char *path, int32_t n_top, bool json, struct clv_error *err) CLV_CHECK;

/* inspect_image describes a TIFF. inspect_is_image returns whether a file is one, by its name. */
bool inspect_is_image(const char *path);
enum clv_status inspect_image(const char *path, const struct clv_image_limits *limits, bool json,
                              struct clv_error *err) CLV_CHECK;

#endif
