/* Files that a run writes: masks, overlays with their legend, cut-outs, and the names of labels. */
#ifndef CLI_SEGMENT_FILES_H
#define CLI_SEGMENT_FILES_H

#include <stdbool.h>

#include "cleave/objects.h"
#include "cli/segment/segment.h"

/* MASKS_AUTO is MASKS_PALETTE; MASKS_GREY has label numbers as grey values; MASKS_BINARY 0 and 255. */
enum mask_form { MASKS_AUTO, MASKS_GREY, MASKS_BINARY, MASKS_PALETTE };

/* CLV_ERR_USAGE: 0 and 255 of labels that they cannot distinguish. */
enum clv_status mask_form_check(enum mask_form form, const struct clv_labels *labels, struct clv_error *err) CLV_CHECK;

/* Writes label_of[height][width], all or nothing: as a PNG, or as a GeoTIFF with the place of the file `image` (NULL:
 * none) if the path ends with .tif. In a palette two labels that no table names are black and
 * white, so that any viewer shows them; others have their own colours. */
enum clv_status mask_file_write(const char *path, const char *image, int32_t width, int32_t height,
                                const uint8_t *label_of, enum mask_form form, const struct clv_labels *labels,
                                struct clv_error *err) CLV_CHECK;

/* Back to labels[n] what an earlier run wrote as 0 and 255. */
void mask_file_from_binary(uint8_t *values, size_t n, const struct clv_labels *labels,
                           const struct clv_indexed_image *image);

/* Overlays: an image with its regions tinted and outlined, or with how uncertain its pixels are. */
/* Writes the overlay of labels[height][width] (of a run of marginals 255 times the probability), with
 * outlines of objects unless NULL, all or nothing. */
enum clv_status overlay_file_write(const char *path, const struct clv_image *image, const uint8_t *labels,
                                   const struct clv_object_map *objects, const struct segment_run *run,
                                   struct clv_error *err) CLV_CHECK;

/* The legend of a folder of overlays: which colour is which label. */
/* Writes folder/overlays/legend.svg, all or nothing: a line for every label with a name. One that is there and says
 * something else stays as it is, which a note reports, unless `overwrite`. */
enum clv_status overlay_legend_write(const char *folder, const struct clv_labels *labels, bool overwrite,
                                     struct clv_error *err) CLV_CHECK;

/* Files that have the names of labels, next to what a run writes. */
/* The output folder's file <below> is `text` afterwards, which is released. What says the same already stays: other
 * shards write it, too; another one is CLV_ERR_CREATE unless outputs are overwritten, and one of the run's own inputs
 * always. */
enum clv_status names_file_write(struct segment *options, const char *below, struct text *text,
                                 struct clv_error *err) CLV_CHECK;

/* Where labels have names of their own: labels.tsv next to the masks of boxes, and the legend of overlays. */
enum clv_status names_file_labels(struct segment *options, const struct clv_labels *labels,
                                  struct clv_error *err) CLV_CHECK;

/* Cut-outs: the object alone, on transparency. */
/* Which labels are the object: those of `names`, comma-separated names or numbers; NULL: all but label 0.
 * CLV_ERR_USAGE for one that the model lacks. */
enum clv_status cutout_choose(bool is_object[256], const char *names, const struct clv_labels *labels,
                              struct clv_error *err) CLV_CHECK;

/* Writes the object of labels[height][width] as RGBA PNG, all or nothing; cropped to it with `crop`. "-" is standard
 * output. */
enum clv_status cutout_write(const char *path, const struct clv_image *image, const uint8_t *labels,
                             const bool is_object[256], bool crop, struct clv_error *err) CLV_CHECK;

#endif
