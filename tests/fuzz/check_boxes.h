/* Shared by the targets that read files of annotations. */
#ifndef TESTS_CHECK_BOXES_H
#define TESTS_CHECK_BOXES_H

#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"
#include "fuzz/fuzz.h"

static inline void check_placed(const struct clv_boxes *boxes, const struct clv_image_boxes *entry)
{
    OWNED_ARRAY struct clv_box *placed = array_alloc(entry->n_boxes, sizeof *placed);
    if (placed && clv_boxes_place(placed, NULL, boxes, entry, 40, 30, NULL) == CLV_OK)
        for (size_t i = 0; i < entry->n_boxes; i++) {
            FUZZ_CHECK(placed[i].x >= 0 && placed[i].width > 0 && placed[i].x + placed[i].width <= 40 + 1e-9);
            struct clv_pixel_box pixels = clv_box_pixels(&placed[i], 40, 30);
            FUZZ_CHECK(pixels.first_x >= 0 && pixels.first_x < pixels.end_x && pixels.end_x <= 40);
            FUZZ_CHECK(pixels.first_y >= 0 && pixels.first_y < pixels.end_y && pixels.end_y <= 30);
        }
}

/* Outlines are filled, on an image of 40 x 30 pixels; those of Earth are in other units. */
static inline void check_outline(const struct clv_box *box, const struct clv_image_boxes *entry)
{
    uint8_t pixels[40 * 30 + 1] = {0};
    struct clv_pixel_box placed;
    if (boxes_place_void(&placed, box, entry, 40, 30))
        FUZZ_CHECK(placed.first_x >= 0 && placed.first_x < placed.end_x && placed.end_x <= 40 && placed.end_y <= 30);
    if (box->outline && outline_suits(box->outline, 40, 30) &&
        outline_fill(&(struct canvas){pixels, 40, 30, 1}, box->outline, entry->is_relative, NULL) == CLV_OK)
        FUZZ_CHECK(!pixels[40 * 30]);
}

/* Any bytes give boxes with sizes above 0, each image once and found by its name, or one line of error. */
static inline void check_boxes_as(const char *name, const char *classes, const char *property, bool keeps_outlines,
                                  const uint8_t *data, size_t size)
{
    struct clv_error error = {0};
    OWNED(clv_boxes_release) struct clv_boxes boxes = {.n_skipped = 77};
    struct boxes_builder builder = {.keeps_outlines = keeps_outlines, .property = property};
    char *bytes = array_alloc(size + 1, 1);
    if (!bytes)
        return;
    if (size)
        memcpy(bytes, data, size);
    bytes[size] = 0;
    enum clv_status status = classes ? boxes_read_classes(&builder, classes, &error) : CLV_OK;
    if (status == CLV_OK)
        status = boxes_parse(&builder, name, "folder/own", bytes, size, &error); /* takes the bytes */
    else
        array_free(bytes);
    if (status == CLV_OK)
        status = boxes_finish(&boxes, &builder, name, &error);
    boxes_builder_release(&builder);
    if (status != CLV_OK) {
        FUZZ_CHECK(boxes.n_skipped == 77 && error.message[0] && !strchr(error.message, '\n'));
        FUZZ_CHECK(classes || strncmp(error.message, "fuzz", 4) == 0);
        return;
    }
    FUZZ_CHECK(boxes.n_images > 0);
    for (size_t i = 0; i < boxes.n_images; i++) {
        const struct clv_image_boxes *entry = &boxes.images[i], *found = NULL;
        FUZZ_CHECK(!i || strcmp(boxes.images[i - 1].image, entry->image) < 0);
        FUZZ_CHECK(clv_boxes_find(&found, &boxes, entry->image, &error) == CLV_OK && found == entry);
        for (size_t k = 0; k < entry->n_boxes; k++) {
            const struct clv_box *box = &entry->boxes[k];
            FUZZ_CHECK(box->width > 0 && box->height > 0 && box->x >= -1e9 && box->x <= 1e9);
            FUZZ_CHECK(box->label >= 0 && (size_t)box->label < boxes.n_labels);
        }
        check_placed(&boxes, entry);
        for (size_t k = 0; k < entry->n_boxes; k++)
            check_outline(&entry->boxes[k], entry);
        for (size_t k = 0; k < entry->n_voids; k++)
            check_outline(&entry->voids[k], entry);
    }
}

/* As boxes alone, and with outlines. classes: a file of them, read before, or NULL. */
static inline void check_boxes(const char *name, const char *classes, const uint8_t *data, size_t size)
{
    check_boxes_as(name, classes, NULL, false, data, size);
    check_boxes_as(name, classes, NULL, true, data, size);
}

#endif
