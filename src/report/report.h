/* An HTML page of segmented images: image, overlay, mask, truth, difference and score side by side,
 * sortable by score, filtered by name, usable from the keyboard (arrows, Enter for the large view, 1 to 5 for its
 * images), working from disk. Up to 100 images it is one self-contained file; the images of more are next to it in
 * index-pictures/ and are loaded as they come into sight; its content policy forbids the network. Items are written to
 * disk as they come, so memory stays bounded.
 *
 *     clv_report_begin(&report, "report", "Horses", &labels, summary, n_summary, &error);
 *     clv_report_add(report, &item, &error);   .. once an image
 *     clv_report_finish(report, &error);       report/index.html is there */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "cleave/data.h"

struct clv_report_item {
    const char *name;                  /* shown and searched */
    const struct clv_image *image;     /* 3 channels */
    const uint8_t *labels;             /* [height][width] the segmentation; NULL: none, the image is only tagged */
    const uint8_t *truth;              /* the same size, or NULL */
    double weighted_hamming, mean_iou; /* NaN: none */
    const char *tags, *true_tags;      /* "sea, beach": predicted and true ones, shown below the name; or NULL */
    const uint8_t *probability; /* [height][width] in place of labels: 255 times a label's probability; or NULL */
    const char *note;           /* shown below the name and read out with the images of probabilities; or NULL */
};

struct clv_report;
/* Starts folder/index.html (the folder is made if needed); it appears only when clv_report_finish succeeds. `summary`
 * is shown under the title: n_summary pairs {name, value} (model, command, version). */
enum clv_status clv_report_begin(struct clv_report **report, const char *folder, const char *title,
                                 const struct clv_labels *labels, const char *const (*summary)[2], size_t n_summary,
                                 struct clv_error *err) CLV_CHECK;
/* Images larger than 640 px a side are shrunk for the page. On failure the item is not counted; one that could not be
 * encoded is left out, after a failed write finishing fails too. O(pixels). */
enum clv_status clv_report_add(struct clv_report *report, const struct clv_report_item *item,
                               struct clv_error *err) CLV_CHECK;
/* Adds a file that failed, with its message. */
enum clv_status clv_report_add_failure(struct clv_report *report, const char *name, const char *message,
                                       struct clv_error *err) CLV_CHECK;
/* Writes totals and puts the page in place; frees the report whatever the outcome. clv_report_abandon leaves
 * nothing. */
enum clv_status clv_report_finish(struct clv_report *report, struct clv_error *err) CLV_CHECK;
void clv_report_abandon(struct clv_report *report);

#endif
