/* The files beside the mask of a raster that is larger than --max-pixels. When the mask exists, by this run or an
 * earlier one, each file is written from the image and the mask by bands of rows. It has the same bytes, or pixels, as
 * if the whole raster were in memory. Memory: bands of rows, and the objects.
 *
 *     MUST(raster_files_open(item, run, err));      .. item->raster; then the functions of file_kinds (write_rows)
 *
 * Overlays and cut-outs are GeoTIFFs, outlines are at most RASTER_OUTLINE_PX wide, and numbers of objects have 32 bits.
 * Pictures are in raster_files.c, objects in raster_objects.c and raster_learned.c, polygons in raster_shapes.c; all
 * use raster_item.c. */
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

/* State shared by the files of a raster. */
struct raster_item {
    struct raster_rows_files files; /* the image and its mask */
    struct clv_bands bands;         /* how bands are converted to colours */
    uint8_t label_of[256];          /* labels of the mask's values */
    int32_t n_bands;
    bool has_samples; /* objects are measured by samples of the bands, too */
    struct georeference georeference;
    struct object_rows objects;   /* with --objects: numbers of the pieces of labels, or of item->learned */
    uint8_t *labels;              /* [item->objects.n_objects] labels of objects */
    bool is_measured;             /* item->rows are set */
    struct probability_sums sums; /* of the probabilities, for the report */
    size_t budget;                /* most bytes of specks or outlines */
};
void raster_item_free(struct raster_item *self);

/* Opens the image and an existing mask: sets item->raster, width, height, is_empty, and with --objects the number of
 * objects. CLV_ERR_DATA: an image of objects of an earlier run has other objects. */
enum clv_status raster_files_open(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;

/* Returns the most bytes that specks or outlines may take, which cannot be estimated before. */
size_t raster_budget(const struct batch *run);

/* Reads bands of n_rows rows, with a halo, of the planes in `wanted`. */
enum { ROWS_PIXELS = 1, ROWS_SAMPLES = 2, ROWS_LABELS = 4, ROWS_OBJECTS = 8 };
enum clv_status raster_item_rows(struct raster_rows *rows, const struct labelled *item, unsigned wanted, int32_t n_rows,
                                 int32_t halo, struct clv_error *err) CLV_CHECK;

/* Calls raster_rows_next. CLV_ERR_INTERRUPTED if the caller asks to stop. */
enum clv_status raster_item_next(bool *more, struct raster_rows *rows, const struct batch *run,
                                 struct clv_error *err) CLV_CHECK;

/* Functions for file_kinds. */
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

/* Makes item->image and item->labels in the size that the report shows. */
enum clv_status raster_report_make(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;

/* raster_probabilities.c. Computes the probabilities or margins of a raster whose tiles were read. Writes maps of all
 * labels instead of the mask; sets the values of the cut's regions to one label's probabilities, for the mask's file.
 * raster_decide sets them to the labels of --decode min-loss, instead of raster_cut_solve. */
enum clv_status raster_probabilities_make(struct labelled *item, const struct batch *run, struct raster_cut *cut,
                                          struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;
enum clv_status raster_decide(struct raster_cut *cut, const struct batch *run, struct clv_oracle *oracle,
                              struct clv_error *err) CLV_CHECK;

/* raster_learned.c. Finds the objects that the model has learned to find, once: item->learned, without labels. Finished
 * windows are in a file beside the mask, which raster_learned_forget removes. */
enum clv_status raster_learned_find(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;
void raster_learned_forget(const struct labelled *item);
void learned_release(struct object_windows *learned);

/* Returns the number of threads that find learned objects, as memory allows. */
int learned_threads(const struct batch *run);

/* Labels the learned objects by the mask, if they have no labels yet, and makes the first pass over their pieces
 * (item->raster->objects). */
enum clv_status raster_learned_pieces(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;

/* raster_objects.c. raster_objects_find finds the objects of the mask, or learned ones. raster_objects_measure measures
 * them once: item->rows, band_means and band_deviations. */
enum clv_status raster_objects_find(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;
enum clv_status raster_objects_measure(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;

#endif
