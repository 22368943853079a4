/* boxes.tsv: an image's rows are replaced, or a label is renamed; all else stays as it is, whoever wrote it. */
#ifndef PAGE_PAGE_BOXES_H
#define PAGE_PAGE_BOXES_H

#include "cleave/boxes.h"

struct page_box {
    struct clv_pixel_box place;
    const char *label;
};

/* CLV_ERR_DATA if there is a file that cannot be added to: without the columns image, label, x, y, w, h. */
enum clv_status page_boxes_check(const char *path, struct clv_error *err) CLV_CHECK;

enum clv_status page_boxes_replace(const char *path, const char *image, const struct page_box *boxes, size_t n,
                                   struct clv_error *err) CLV_CHECK;

/* Where there is a file. */
enum clv_status page_boxes_rename(const char *path, const char *from, const char *to, struct clv_error *err) CLV_CHECK;

#endif
