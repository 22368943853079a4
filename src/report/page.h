/* This folder writes the report: report.c takes items into a temporary file, item_images.c shrinks and encodes their
 * images, page.c writes the markup, with the style of page_style.c and the script of page_script.c. Read report.c
 * first. This header declares the parts of the page. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "report/item_images.h"
#include "report/report.h"

extern const char page_style[], page_script[];

/* Rows that are shown at a time, and items whose images the page holds; 2,000 would make it half a gigabyte. */
#define PAGE_ROWS 100

/* Weighted Hamming of the items in cells of 1/HISTOGRAM_CELLS; the last one holds 1. */
#define HISTOGRAM_CELLS 200

/* What is known once all items have come. */
struct page_totals {
    size_t n_images, n_segmented, n_failures, n_scored, n_with_iou, n_with_truth, n_probable;
    double sum_weighted_hamming, sum_iou, highest_weighted_hamming;
    size_t histogram[HISTOGRAM_CELLS + 1];
};

struct page_header {
    char *title;
    char **facts; /* [2 n_facts]: name, value, name, value .. */
    size_t n_facts;
    int32_t n_labels;
    bool label_0_is_void;  /* nothing is ground then */
    char (*names)[64];     /* [n_labels] */
    uint8_t (*palette)[3]; /* [256] */
};

/* Everything before the first item, and everything after the last. Errors stay in the stream; -1 when out of memory. */
int page_write_head(FILE *stream, const struct page_header *header, const struct page_totals *totals);
void page_write_tail(FILE *stream, const struct page_totals *totals);

/* Where an image of an item behind the first PAGE_ROWS is, seen from the page: "index-pictures/000101-2.jpg". `number`
 * counts items, from 1. */
#define IMAGE_FOLDER   "index-pictures"
#define IMAGE_NAME_MAX 48
void page_image_name(char name[IMAGE_NAME_MAX], size_t number, int layer, const char *type);

/* One item or one failed file; the same. `place` counts both, from 1. */
int page_write_item(FILE *stream, const struct clv_report_item *item, const struct item_images *images, size_t number,
                    size_t place);
int page_write_failure(FILE *stream, const char *name, const char *message, size_t place);

#endif
