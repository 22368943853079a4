/* Overlays: an image with its regions tinted and outlined, or with how uncertain its pixels are. */
#ifndef CLI_OVERLAY_FILE_H
#define CLI_OVERLAY_FILE_H

#include "cli/segment/segment.h"

/* Writes the overlay of labels[height][width] (of a run of marginals 255 times the probability), all or nothing. */
enum clv_status overlay_file_write(const char *path, const struct clv_image *image, const uint8_t *labels,
                                   const struct segment_run *run, struct clv_error *err) CLV_CHECK;

#endif
