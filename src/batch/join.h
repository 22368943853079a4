/* Joins the parts of all images of a folder (parts.h) to the folder's tables: objects.tsv, coco.json and VOC's list of
 * names.
 *
 * A table first has the images of the run's whole list, in its order, including those of other shards; then images of
 * earlier runs, in the order of their outputs' paths. The number of an image of the list is the index of its first
 * item, from 1; images of earlier runs are numbered from the length of the list. A table depends only on the list and
 * the parts, so that shards, processes and resumed runs give the same bytes. Start at join_tables.
 *
 * The part of an image for VOC's list is its file in voc/Annotations/. An image without a mask is in no table.
 *
 * A table is written image by image, to a temporary file that replaces it when it is complete. Only names stay in
 * memory. */
#ifndef BATCH_JOIN_H
#define BATCH_JOIN_H

#include <limits.h>

#include "base/base.h"
#include "batch/parts.h"
#include "data/outputs.h"

enum join_table { JOIN_OBJECTS, JOIN_COCO, JOIN_VOC, N_JOIN_TABLES };

/* Paths of the tables in the folder: "objects.tsv", "coco.json", "voc/ImageSets/Segmentation/default.txt". */
extern const char *const join_paths[N_JOIN_TABLES];

/* An item of the whole list, whatever its outcome: parts alone decide which images are in a table. */
struct join_item {
    const char *image;  /* path or name of the image; items may have the same image */
    const char *name;   /* in objects.tsv */
    const char *output; /* "a/b": path of the mask in the folder, without extension; NULL: no output */
    const char *mask;   /* path, if the item has an output */
};

struct join_options {
    unsigned tables;           /* bits 1 << enum join_table */
    struct part_options parts; /* of this run; the labels become COCO's categories */
    const char *objects_head;  /* the first line of objects.tsv, with its newline */
    int n_threads;             /* threads that read ahead; 0: one for each processor */
    const struct clv_progress *progress;
};

/* Numbers of images or of parts, summed over the tables, and the path of the first, or "". */
struct join_counts {
    size_t n_joined;                                    /* in the tables */
    size_t n_earlier;                                   /* those of earlier runs among them */
    size_t n_missing;                                   /* images of the list with a mask, but without a part */
    size_t n_skipped;                                   /* parts whose mask has changed, or of other labels or bands */
    size_t n_torn;                                      /* damaged parts */
    char first_missing[PATH_MAX];                       /* a mask */
    char first_skipped[PATH_MAX], first_torn[PATH_MAX]; /* parts */
};

/* Writes the tables. Parts that are missing, damaged or of another mask are skipped and counted, for join_report.
 * Images whose mask is gone, and images of earlier runs whose name in the table an image of the list has, are skipped
 * without being counted. On failure, tables that are not complete stay as they were. O(bytes of all parts). */
enum clv_status join_tables(struct join_counts *counts, const char *folder, const struct join_item *items, size_t n,
                            const struct join_options *options, struct clv_error *err) CLV_CHECK;

/* Warns of images that the tables lack, and tells how to add them. */
void join_report(const struct join_counts *counts, const char *folder, const struct clv_progress *progress);

/* Returns the name of an image in coco.json: its file name in the folder of its output. The caller frees it with
 * array_free. NULL: out of memory. */
char *join_file_name(const char *image, const char *output);

/* The lock under which shards of one run join, one after the other. A shard at its end releases its part of
 * SHARDS_LOCK, takes this lock, and joins if no other shard is running (join_is_last). The last shard always joins; if
 * two shards end together, the second one writes the same bytes again. Without locks in the file system each shard
 * joins.
 *
 * join_lock_take waits for the lock; CLV_ERR_INTERRUPTED if the caller asks to stop. join_lock_release is allowed after
 * its failure. */
struct join_lock {
    int fd; /* file descriptor + 1; 0: not locked */
    char *path;
};
enum clv_status join_lock_take(struct join_lock *lock, const char *folder, const struct clv_progress *progress,
                               struct clv_error *err) CLV_CHECK;
void join_lock_release(struct join_lock *lock);

/* Whether no shard of the folder is running: no process has a lock on a part of SHARDS_LOCK. */
bool join_is_last(const char *folder);

#endif
