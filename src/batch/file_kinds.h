#ifndef BATCH_FILE_KINDS_H
#define BATCH_FILE_KINDS_H

#include "batch/batch.h"

/* A file of an image beside its mask. */
struct file_kind {
    const char *below, *ending; /* its path is FOLDER/<below><name of the output><ending>; the overlay of a JPEG is a
                                 * .jpg */
    bool is_part;               /* a part of a table: it names its mask's digest, and is written after the mask */
    unsigned needs;             /* bits NEEDS_.. */
    bool (*is_wanted)(const struct batch *run);
    enum clv_status (*write)(const char *path, struct labelled *item, const struct batch *run, struct clv_error *err);
    const char *ending_tiled; /* for a raster by tiles; NULL: the same ending */
    enum clv_status (*write_rows)(const char *path, struct labelled *item, const struct batch *run,
                                  struct clv_error *err); /* for a raster by tiles, by bands of rows */
};

/* In the order in which an image's files are written. */
extern const struct file_kind file_kinds[N_FILES];

#endif
