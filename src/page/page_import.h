/* Boxes and outlines of other programs, in all formats that cleave reads, as the objects of images that nothing was
 * drawn on yet. Their files are only read: what is edited is saved as anything that is drawn here. */
#ifndef PAGE_PAGE_IMPORT_H
#define PAGE_PAGE_IMPORT_H

#include "page/page_document.h"

struct page_import {
    struct clv_boxes boxes; /* with outlines; n_images 0: there is nothing */
    uint8_t *values;        /* [boxes.n_labels] in masks */
};
void page_import_release(struct page_import *import);

/* Reads a file or folder. Labels are the set's by name; where it has two, all are the second one. Errors are those of
 * clv_boxes_read, and CLV_ERR_DATA for a name that the set's labels lack. */
enum clv_status page_import_read(struct page_import *import, const char *path, const struct clv_set *set,
                                 struct clv_error *err) CLV_CHECK;

/* *entry: what there is of an image, or NULL. */
enum clv_status page_import_find(const struct clv_image_boxes **entry, const struct page_import *import,
                                 const char *image, struct clv_error *err) CLV_CHECK;

/* Adds an object for each: outlines as they are, boxes with what is cut out of them, the larger ones first.
 * CLV_ERR_DATA, naming the file: a box outside of the image, an image of another size. */
enum clv_status page_import_show(struct page_document *document, const struct page_import *import, const char *image,
                                 struct clv_error *err) CLV_CHECK;

#endif
