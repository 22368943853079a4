/* An HTML page of segmented images: image, overlay, mask, truth, difference and score side by side, sortable by score,
 * filtered by name, usable from the keyboard (arrows, Enter for the large view, 1 to 5 for its images), working from
 * disk. With up to 100 images it is one self-contained file; further images are files in index-pictures/, which the
 * page loads when they come into view. Its content policy forbids the network. Items are written to disk one by one, so
 * memory is bounded.
 *
 *     clv_report_begin(&report, "report", "Horses", &labels, summary, n_summary, &error);
 *     clv_report_add(report, &item, &error);   .. once per image
 *     clv_report_finish(report, &error);       report/index.html exists
 *
 * Threads that finish images in any order do the first half of the work themselves:
 *
 *     report_spool(&slot, report, &item, &error);   .. any thread, any order
 *     report_put(report, &slot, &error);             .. one at a time, in the order of the page */

/* This folder writes the report: item_images.c shrinks and encodes the images of an item, report.c keeps them in a
 * temporary file until it is the item's turn, page.c writes the markup, with the style of page_style.c and the script
 * of page_script.c. Read report.c first. This header declares the parts of the page. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "cleave/image.h"
#include "cleave/objects.h"
#include "image/image.h"

struct clv_report_item {
    const char *name;                  /* shown and searched */
    const struct clv_image *image;     /* 3 channels */
    const uint8_t *labels;             /* [height][width] the segmentation; NULL: none, the image is only tagged */
    const uint8_t *truth;              /* the same size, or NULL */
    double weighted_hamming, mean_iou; /* NaN: none */
    const char *tags, *true_tags;      /* "sea, beach": predicted and true ones, shown below the name; or NULL */
    const uint8_t *probability;       /* [height][width] in place of labels: 255 times a label's probability; or NULL */
    const struct clv_object *objects; /* [n_objects] found, or NULL: not searched for */
    int32_t n_objects;
    const char *note;      /* shown below the name and read out with the images of probabilities; or NULL */
    int32_t width, height; /* of the original, if `image` is a shrunken copy; else 0 */
};

struct clv_report;
/* Starts folder/index.html (the folder is created if needed); it appears only when clv_report_finish succeeds.
 * `summary` is shown under the title: n_summary pairs {name, value} (model, command, version). */
enum clv_status clv_report_begin(struct clv_report **report, const char *folder, const char *title,
                                 const struct clv_labels *labels, const char *const (*summary)[2], size_t n_summary,
                                 struct clv_error *err) CLV_CHECK;
/* Images larger than 640 px a side are shrunk for the page. On failure the item is not counted. The page lacks an item
 * that could not be encoded; if it could not be written or put, finishing fails, too. O(pixels). */
enum clv_status clv_report_add(struct clv_report *report, const struct clv_report_item *item,
                               struct clv_error *err) CLV_CHECK;

/* clv_report_add in two steps, with the same bytes. report_spool shrinks and encodes the item's images and appends
 * everything that the page needs to a temporary file of the report, so that only the slot stays in memory; any thread
 * may call it. report_put appends the item of a slot to the page and frees its space in the file; one caller at a time,
 * each slot once, also if it fails. Slots that are never put are missing from the page. A slot of size 0 is empty:
 * nothing is put. */
struct report_slot {
    uint64_t offset, size; /* bytes, in the temporary file */
};
enum clv_status report_spool(struct report_slot *slot, struct clv_report *report, const struct clv_report_item *item,
                             struct clv_error *err) CLV_CHECK;
enum clv_status report_put(struct clv_report *report, const struct report_slot *slot, struct clv_error *err) CLV_CHECK;

/* Adds a file that failed, with its message. One caller at a time, as report_put. */
enum clv_status clv_report_add_failure(struct clv_report *report, const char *name, const char *message,
                                       struct clv_error *err) CLV_CHECK;
/* Writes the totals and moves the page into place. Frees the report, also on failure. clv_report_abandon frees it
 * without writing a page. */
enum clv_status clv_report_finish(struct clv_report *report, struct clv_error *err) CLV_CHECK;
void clv_report_abandon(struct clv_report *report);

/* The images of one report item, shrunk and encoded. */

/* In the order of the page's columns and of its keys 1..5. */
enum layer { LAYER_IMAGE, LAYER_OVERLAY, LAYER_MASK, LAYER_TRUTH, LAYER_DIFFERENCE, N_LAYERS };

struct item_images {
    int32_t width, height; /* as shown */
    struct {
        const char *type; /* "image/jpeg" or "image/png" */
        uint8_t *bytes;   /* NULL: the item has no such layer */
        size_t size;
    } layer[N_LAYERS];
};
enum clv_status item_images_make(struct item_images *images, const struct clv_report_item *item,
                                 const uint8_t (*palette)[3], struct clv_error *err) CLV_CHECK;
void item_images_release(struct item_images *images);

/* A raster at the size of the page, shrunk from bands of rows. An item with this image and these labels (or
 * probabilities) has the same pictures as one with the whole image. */
struct report_picture {
    struct clv_image image;
    uint8_t *labels; /* [image.height][image.width] */
    int32_t n_rows;  /* of the image so far */
};
enum clv_status report_picture_init(struct report_picture *self, int32_t width, int32_t height,
                                    struct clv_error *err) CLV_CHECK;
/* Returns the number of rows above and below that a band needs. */
int32_t report_picture_halo(int32_t width, int32_t height);
enum clv_status report_picture_add(struct report_picture *self, const struct image_band *band,
                                   struct clv_error *err) CLV_CHECK;
void report_picture_release(struct report_picture *self);

/* Colours of the difference image, distinguished by every kind of colour vision (Okabe and Ito 2008). */
enum difference {
    DIFFERENCE_BACKGROUND,
    DIFFERENCE_FOREGROUND,
    DIFFERENCE_FALSE_ALARM,
    DIFFERENCE_MISS,
    DIFFERENCE_WRONG_LABEL,
    DIFFERENCE_VOID,
    N_DIFFERENCES
};
extern const uint8_t difference_palette[N_DIFFERENCES][3];

extern const char page_style[], page_script[];

/* Number of rows shown at a time, and of items whose images are inside the page. A page with the images of 2,000 items
 * would have half a gigabyte. */
#define PAGE_ROWS 100

/* Cells of the histogram of weighted Hamming errors, each 1/HISTOGRAM_CELLS wide. The last one counts errors of 1. */
#define HISTOGRAM_CELLS 200

/* Cells of the histogram of objects' areas, from 2^(k/2) to 2^((k+1)/2) pixels, up to INT64_MAX. */
#define AREA_CELLS 128

/* An item, as the page needs it. */
struct page_item {
    const char *name, *tags, *true_tags, *note; /* as those of struct clv_report_item */
    int32_t width, height;                      /* of the original image */
    double weighted_hamming, mean_iou;
    bool is_segmented, has_truth, is_probable, has_objects;
    int32_t n_objects;
    uint32_t areas[AREA_CELLS]; /* number of objects in each cell; those without pixels are in none */
    struct item_images images;
};

/* Totals over all items, known at the end. */
struct page_totals {
    size_t n_images, n_segmented, n_failures, n_scored, n_with_iou, n_with_truth, n_probable;
    double sum_weighted_hamming, sum_iou, highest_weighted_hamming;
    size_t histogram[HISTOGRAM_CELLS + 1];
    size_t n_with_objects; /* images in which objects were searched, with or without success */
    size_t n_objects, areas[AREA_CELLS];
};

struct page_header {
    char *title;
    char **facts; /* [2 n_facts]: name, value, name, value .. */
    size_t n_facts;
    int32_t n_labels;
    bool label_0_is_void;  /* so no label is background */
    char (*names)[64];     /* [n_labels]; "": not in the legend */
    uint8_t (*palette)[3]; /* [256] */
};

/* Write everything before the first item, and everything after the last. Write errors stay in the stream.
 * page_write_head returns 0, or -1 when out of memory. */
int page_write_head(FILE *stream, const struct page_header *header, const struct page_totals *totals);
void page_write_tail(FILE *stream, const struct page_totals *totals);

/* Sets `name` to the path, from the page, of an image of an item after the first PAGE_ROWS:
 * "index-pictures/000101-2.jpg". `number` counts items, from 1. */
#define IMAGE_FOLDER   "index-pictures"
#define IMAGE_NAME_MAX 48
void page_image_name(char name[IMAGE_NAME_MAX], size_t number, int layer, const char *type);

/* Write one item or one failed file, with errors as above. `row` counts both, from 1. */
int page_write_item(FILE *stream, const struct page_item *item, size_t number, size_t row);
int page_write_failure(FILE *stream, const char *name, const char *message, size_t row);

/* Maps of probabilities over their images, as the report and `cleave probabilities --overlay' show them. */

extern const uint8_t uncertain_colour[3];

/* Returns the entropy H(p) of a label's presence, in bits. */
double probability_entropy(double p);

/* Draws probability[height][width] / 255 over an image of 3 channels, in place: grey, tinted by the entropy, with an
 * outline around the pixels where the label is the more probable one. */
enum clv_status probability_draw(struct clv_image *image, const uint8_t *probability, int32_t outline_px,
                                 struct clv_error *err) CLV_CHECK;

/* Draws a band of rows in the same way: pixels[n_rows][width][3]; band->labels are the probabilities, with a halo of
 * overlay_halo(outline_px) rows. */
enum clv_status probability_draw_band(uint8_t *pixels, const struct image_band *band, int32_t outline_px,
                                      struct clv_error *err) CLV_CHECK;

/* Mean probability and entropy of n pixels. For a raster, sums are added up band by band, from zeros. */
struct probability_sums {
    double n, probability, entropy;
};
void probability_sums_add(struct probability_sums *sums, const uint8_t *probability, size_t n);
void probability_sums_means(double *share, double *entropy, const struct probability_sums *sums);
void probability_means(double *share, double *entropy, const uint8_t *probability, size_t n);

#endif
