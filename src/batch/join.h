/* Joins the parts of all images of a folder (parts.h) to its tables: objects.tsv, coco.json and VOC's list of names.
 *
 * A table has the images of the run's whole list first, in the order of the list, also those that other shards have
 * done; then images of earlier runs, in the order of their outputs' paths. An image of the list has the number of the
 * first item of that image, from 1; those of earlier runs count on from the length of the list. So a table depends on
 * the list and on the parts alone: shards, processes and a run that was resumed give the same bytes. Start at
 * join_tables.
 *
 * VOC's part of an image is its file in voc/Annotations/. An image without a mask is in no table.
 *
 * Every table is written image by image and appears when it is complete. Only names are kept in memory. */
#ifndef BATCH_JOIN_H
#define BATCH_JOIN_H

#include <limits.h>

#include "base/base.h"
#include "batch/parts.h"
#include "data/outputs.h"

enum join_table { JOIN_OBJECTS, JOIN_COCO, JOIN_VOC, N_JOIN_TABLES };

/* Their paths below the folder: "objects.tsv", "coco.json", "voc/ImageSets/Segmentation/default.txt". */
extern const char *const join_paths[N_JOIN_TABLES];

/* An item of the whole list, whatever became of it: parts alone decide what is in a table. */
struct join_item {
    const char *image;  /* path, or another name: items of equal ones are of one image */
    const char *name;   /* in objects.tsv */
    const char *output; /* "a/b": the mask's path below the folder, without its ending; NULL: the item has no output */
    const char *mask;   /* path, where there is an output */
};

struct join_options {
    unsigned tables;           /* bits, 1 << enum join_table */
    struct part_options parts; /* of this run; its labels become COCO's categories */
    const char *objects_head;  /* the first line of objects.tsv, with its newline */
    int n_threads;             /* that read ahead; 0: one for each processor */
    const struct clv_progress *progress;
};

/* Counts of images, or of parts, summed over the tables; paths are those of the first one, "" if there is none. */
struct join_counts {
    size_t n_joined;              /* in the tables */
    size_t n_earlier;             /* of these, of earlier runs */
    size_t n_missing;             /* images of the list that have a mask, but no part */
    size_t n_skipped;             /* parts of masks that have changed, or of other labels or bands */
    size_t n_torn;                /* damaged parts */
    char first_missing[PATH_MAX]; /* a mask */
    char first_skipped[PATH_MAX], first_torn[PATH_MAX]; /* parts */
};

/* Writes the tables. A part that is missing, damaged, or not of its mask does not keep the others from their table: it
 * is counted, and join_report says so. Not counted are images whose mask is gone, and those of earlier runs whose name
 * in the table an image of the list has. On failure the tables that were not complete stay as they were.
 * O(bytes of all parts). */
enum clv_status join_tables(struct join_counts *counts, const char *folder, const struct join_item *items, size_t n,
                            const struct join_options *options, struct clv_error *err) CLV_CHECK;

/* Warns of what the tables lack, and says how it gets there. */
void join_report(const struct join_counts *counts, const char *folder, const struct clv_progress *progress);

/* The name of an image in coco.json, array_free it: the image's file name in the folder of its output. NULL: out of
 * memory. */
char *join_file_name(const char *image, const char *output);

/* Shards of one run join one after the other, each when it has let go of its part of SHARDS_LOCK: then it takes the
 * lock, and joins if it is the last one (join_is_last). The last one always joins; of two that end together the second
 * one joins again, the same bytes. Where the file system has no locks each one joins.
 *
 * join_lock_take waits for the lock, until the caller asked to stop (CLV_ERR_INTERRUPTED). join_lock_release may follow
 * a failed one. */
struct join_lock {
    int fd; /* of the open file plus 1; 0: not held */
    char *path;
};
enum clv_status join_lock_take(struct join_lock *lock, const char *folder, const struct clv_progress *progress,
                               struct clv_error *err) CLV_CHECK;
void join_lock_release(struct join_lock *lock);

/* Whether no process holds a part of the folder's lock file of shards. */
bool join_is_last(const char *folder);

#endif
