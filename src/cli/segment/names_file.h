/* Files that tell the names of labels, beside what a run writes. */
#ifndef CLI_NAMES_FILE_H
#define CLI_NAMES_FILE_H

#include "cli/segment/segment.h"

/* The output folder's file <below> is `text` afterwards, which is released. What says the same already stays: other
 * shards write it, too; another one is CLV_ERR_CREATE unless outputs are overwritten, and one of the run's own inputs
 * always. */
enum clv_status names_file_write(struct segment *options, const char *below, struct text *text,
                                 struct clv_error *err) CLV_CHECK;

/* Where labels have names of their own: labels.tsv beside the masks of boxes, and the legend of overlays. */
enum clv_status names_file_labels(struct segment *options, const struct clv_labels *labels,
                                  struct clv_error *err) CLV_CHECK;

#endif
