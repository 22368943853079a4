/* --objects: the label images of objects, and the table of all of them. */
#ifndef CLI_OBJECT_FILES_H
#define CLI_OBJECT_FILES_H

#include "base/file.h"
#include "cli/segment/segment_work.h"

#define OBJECTS_BYTES         24  /* a pixel that is looked at */
#define LEARNED_OBJECTS_BYTES 300 /* where a model has learned to find them */

/* The table's path, array_free it: a shard's is next to the others'. NULL if none is wanted. */
enum clv_status object_table_path(char **path, const struct segment *options, struct clv_error *err) CLV_CHECK;

/* Creates the table with its head, which a later shard's has not. */
enum clv_status object_table_begin(struct file_writer *table, const struct segment *options,
                                   struct clv_error *err) CLV_CHECK;

/* Finds and measures the objects of work->labels, or reads those that an earlier run has written. */
enum clv_status object_files_find(struct work *work, const struct segment_run *run, struct clv_error *err) CLV_CHECK;

/* Their polygons, for exports: objects that touch are told apart, and pieces of one object are polygons of their own. */
enum clv_status object_files_trace(struct work *work, const struct segment_run *run, struct clv_error *err) CLV_CHECK;

/* Writes the label image. The first TIFF of the run is said. */
enum clv_status object_files_write(const struct work *work, struct clv_error *err) CLV_CHECK;

/* The image's lines of the table. */
void object_table_add(FILE *table, const struct work *work, const struct clv_labels *labels);

/* Outlines of objects on an image, where objects of one label touch. */
enum clv_status object_files_outline(struct clv_image *image, const struct clv_object_map *map, int32_t outline_px,
                                     struct clv_error *err) CLV_CHECK;

#endif
