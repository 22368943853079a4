/* The files of a raster that is larger than --max-pixels, beside its mask. Once the mask is there, by this run or an
 * earlier one, each file is made of the image and the mask by bands of rows: the bytes, or the pixels, that the same
 * file has where all of the raster is in memory. Memory: bands of rows, and the objects.
 *
 *     MUST(raster_files_open(item, run, err));      .. item->raster; then the functions of file_kinds (write_rows)
 *
 * Overlays and cut-outs are GeoTIFFs here, outlines are at most RASTER_OUTLINE_PX wide, and images of objects have 32
 * bits. Pictures are in raster_files.c, objects in raster_objects.c and raster_learned.c, polygons in raster_shapes.c; all
 * stand on raster_item.c. */
#ifndef BATCH_RASTER_FILES_H
#define BATCH_RASTER_FILES_H

#include "base/base.h"
#include "batch/batch.h"
#include "data/shapes/shapes.h"
#include "image/raster/raster.h"
#include "object/object.h"
#include "report/report.h"
#include "segment/segment.h"

#define RASTER_OUTLINE_PX 4
#define RASTER_BAND_ROWS  256

/* The files of a raster are made with this. */
struct raster_item {
    struct raster_rows_files files; /* the image and its mask */
    struct clv_bands bands;         /* how the image is shown */
    uint8_t label_of[256];          /* of the mask's values */
    int32_t n_bands;
    bool has_samples; /* objects are measured by values of the bands, not by colours alone */
    struct georeference georeference;
    struct object_rows objects;   /* with --objects: which pieces of labels, or of item->learned, are which, .. */
    uint8_t *labels;              /* .. [item->objects.n_objects] their labels, .. */
    bool is_measured;             /* .. and whether item->rows are there */
    struct probability_sums sums; /* of the report's probabilities */
    size_t budget;                /* bytes, of what cannot be foretold */
};
void raster_item_free(struct raster_item *self);

/* Looks at the image and the mask: item->raster, width, height, is_empty, and with --objects the number of objects.
 * Objects must be those that an earlier run has written. */
enum clv_status raster_files_open(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;

/* Bytes that specks or outlines may take. */
size_t raster_budget(const struct batch *run);

/* Bands of rows, with a halo, of what is wanted. */
enum { ROWS_PIXELS = 1, ROWS_SAMPLES = 2, ROWS_LABELS = 4, ROWS_OBJECTS = 8 };
enum clv_status raster_item_rows(struct raster_rows *rows, const struct labelled *item, unsigned wanted, int32_t n_rows,
                                 int32_t halo, struct clv_error *err) CLV_CHECK;

/* raster_rows_next, unless the caller asked to stop (CLV_ERR_INTERRUPTED). */
enum clv_status raster_item_next(bool *more, struct raster_rows *rows, const struct batch *run,
                                 struct clv_error *err) CLV_CHECK;

/* These are functions of file_kinds. */
enum clv_status raster_overlay_write(const char *path, struct labelled *item, const struct batch *run,
                                     struct clv_error *err) CLV_CHECK;
enum clv_status raster_cutout_write(const char *path, struct labelled *item, const struct batch *run,
                                    struct clv_error *err) CLV_CHECK;
enum clv_status raster_classes_write(const char *path, struct labelled *item, const struct batch *run,
                                     struct clv_error *err) CLV_CHECK;
enum clv_status raster_objects_write(const char *path, struct labelled *item, const struct batch *run,
                                     struct clv_error *err) CLV_CHECK;
enum clv_status raster_class_objects_write(const char *path, struct labelled *item, const struct batch *run,
                                           struct clv_error *err) CLV_CHECK;
enum clv_status raster_object_rows_write(const char *path, struct labelled *item, const struct batch *run,
                                         struct clv_error *err) CLV_CHECK;
enum clv_status raster_labelme_write(const char *path, struct labelled *item, const struct batch *run,
                                     struct clv_error *err) CLV_CHECK;
enum clv_status raster_yolo_write(const char *path, struct labelled *item, const struct batch *run,
                                  struct clv_error *err) CLV_CHECK;
enum clv_status raster_geojson_write(const char *path, struct labelled *item, const struct batch *run,
                                     struct clv_error *err) CLV_CHECK;
enum clv_status raster_voc_write(const char *path, struct labelled *item, const struct batch *run,
                                 struct clv_error *err) CLV_CHECK;
enum clv_status raster_annotations_write(const char *path, struct labelled *item, const struct batch *run,
                                         struct clv_error *err) CLV_CHECK;

/* Makes item->image and item->labels as the report shows them. */
enum clv_status raster_report_make(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;

/* raster_probabilities.c. Computes the probabilities or margins of a raster whose tiles were read: maps of all labels are
 * written in the place of the mask, one label's probabilities are what the cut shows, for the mask's file. raster_decide
 * has it show the labels of --decode min-loss, in place of raster_cut_solve. */
enum clv_status raster_probabilities_make(struct labelled *item, const struct batch *run, struct raster_cut *cut,
                                          struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;
enum clv_status raster_decide(struct raster_cut *cut, const struct batch *run, struct clv_oracle *oracle,
                              struct clv_error *err) CLV_CHECK;

/* raster_learned.c. Finds the objects that the model has learned to find, once: item->learned, without labels. Done
 * windows are in a file beside the mask, which raster_learned_forget removes. */
enum clv_status raster_learned_find(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;
void raster_learned_forget(const struct labelled *item);
void learned_release(struct object_windows *learned);

/* Threads that find them at once, as memory allows. */
int learned_threads(const struct batch *run);

/* Gives them the labels of the mask, if they have none yet, and the first pass over their pieces. */
enum clv_status raster_learned_pieces(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;

/* raster_objects.c. Finds the objects of the mask, or of those pieces; measures them once: item->rows and the bands' means. */
enum clv_status raster_objects_find(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;
enum clv_status raster_objects_measure(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;

#endif
