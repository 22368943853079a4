/* --export: a run's objects in the form of another program. An image's own file is written when its mask is; COCO's
 * one document and VOC's list of names grow image by image, in input order, and appear at the end. */
#ifndef CLI_EXPORTING_H
#define CLI_EXPORTING_H

#include "cli/segment/segment.h"
#include "data/shapes/contour.h"

/* Where an image's own files go, below the output folder: those of places[N_OUTPUTS] that the forms have. */
void exporting_places(struct output_place places[N_OUTPUTS], unsigned forms);

/* The run's one file of a form, array_free it: a shard's is next to the others'. *path is NULL if the form has none, or
 * is not wanted. */
enum clv_status exporting_path(char **path, const struct segment *options, enum export_form form,
                               struct clv_error *err) CLV_CHECK;

/* Whether the file at that path begins as an earlier run's does. */
bool exporting_is_own(const char *path, enum export_form form);

/* Makes folders, and writes the labels' names (segment_files.h). `run` must outlive it. */
struct exporting;
enum clv_status exporting_begin(struct exporting **self, struct segment *options, const struct segment_run *run,
                                struct clv_error *err) CLV_CHECK;

/* The objects of labels[height][width], simplified. */
enum clv_status exporting_trace(struct contours *contours, const struct segment_run *run, const uint8_t *labels,
                                int32_t width, int32_t height, struct clv_error *err) CLV_CHECK;

/* Writes the image's own files, if the forms have any; from any thread. */
enum clv_status exporting_write(const struct segment_run *run, const struct input *input, const struct output *output,
                                const struct contours *contours, const uint8_t *labels,
                                struct clv_error *err) CLV_CHECK;

/* Adds the image of that index to the run's files; one at a time. */
enum clv_status exporting_add(struct exporting *self, size_t index, const struct contours *contours,
                              struct clv_error *err) CLV_CHECK;

/* Writes the run's files and frees all; NULL is fine. After a status other than CLV_OK and CLV_ERR_INTERRUPTED nothing
 * is written. Returns that status, or else what went wrong now. */
enum clv_status exporting_end(struct exporting *self, enum clv_status status, struct clv_error *err) CLV_CHECK;

#endif
