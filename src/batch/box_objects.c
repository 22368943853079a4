/* Finds the object in each box of an image, from its mask and the boxes alone, and draws the boxes for the report.
 * Start at box_inputs_objects. */
#include "batch/box_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

bool box_is_of_object(const struct clv_box *box, const char *object)
{
    return object ? box->mask && strcmp(box->mask, object) == 0 : !box->mask;
}

enum clv_status box_inputs_place(struct clv_box **placed, size_t *n, const struct input *input,
                                 const struct clv_boxes *boxes, const struct clv_image *image,
                                 const struct clv_progress *progress, struct clv_error *err)
{
    const struct clv_image_boxes *entry = input->boxes;
    size_t n_cut, kept = 0;
    OWNED_ARRAY struct clv_box *result = array_alloc(entry->n_boxes, sizeof *result);
    NEED(result);
    MUST(clv_boxes_place(result, &n_cut, boxes, entry, image->width, image->height, err));
    if (n_cut)
        report_message(progress, CLV_NOTE, "%s: cut %s of %s at the border of that image", entry->source,
                       n_of(n_cut, "box", "boxes").text, input->name);
    for (size_t k = 0; k < entry->n_boxes; k++)
        if (box_is_of_object(&result[k], input->object))
            result[kept++] = result[k];
    *placed = TAKE(result);
    *n = kept;
    return CLV_OK;
}

static int64_t area_of(const struct clv_pixel_box *box)
{
    return (int64_t)(box->end_x - box->first_x) * (box->end_y - box->first_y);
}

static int compare_areas(const void *a, const void *b)
{
    const struct clv_pixel_box *s = *(const struct clv_pixel_box *const *)a,
                               *t = *(const struct clv_pixel_box *const *)b;
    const int64_t first = area_of(s), second = area_of(t);
    return first != second ? (first < second) - (first > second) : (s < t) - (s > t);
}

/* objects[p] = 1 + index of the smallest box that covers the pixel and has its label; of equal boxes the first. */
static enum clv_status paint_boxes(int32_t *objects, const uint8_t *labels, int32_t width,
                                   const struct clv_pixel_box *pixel_boxes, const uint8_t *values, size_t n,
                                   struct clv_error *err)
{
    OWNED_ARRAY const struct clv_pixel_box **sorted = array_alloc(n, sizeof *sorted);
    NEED(sorted);
    for (size_t k = 0; k < n; k++)
        sorted[k] = &pixel_boxes[k];
    if (n)
        qsort(sorted, n, sizeof *sorted, compare_areas);
    for (size_t k = 0; k < n; k++) { /* the larger boxes first */
        const struct clv_pixel_box *box = sorted[k];
        for (int32_t y = box->first_y; y < box->end_y; y++)
            for (int32_t x = box->first_x; x < box->end_x; x++) {
                const size_t p = (size_t)y * (size_t)width + (size_t)x;
                if (labels[p] == values[box - pixel_boxes])
                    objects[p] = (int32_t)(box - pixel_boxes) + 1;
            }
    }
    return CLV_OK;
}

/* Returns the nearest box of the value, or n. */
static size_t find_nearest(const struct clv_pixel_box *pixel_boxes, const uint8_t *values, size_t n, uint8_t value,
                           int32_t x, int32_t y)
{
    size_t best = n;
    int64_t least = INT64_MAX;
    for (size_t k = 0; k < n; k++) {
        const struct clv_pixel_box *box = &pixel_boxes[k];
        const int64_t dx = x < box->first_x  ? box->first_x - x
                           : x >= box->end_x ? x - box->end_x + 1
                                             : 0,
                      dy = y < box->first_y  ? box->first_y - y
                           : y >= box->end_y ? y - box->end_y + 1
                                             : 0,
                      distance = dx * dx + dy * dy;
        if (values[k] == value && distance < least) {
            best = k;
            least = distance;
        }
    }
    return best;
}

/* Returns why nothing was found in a box; "": unknown. */
static const char *why_empty(const struct clv_pixel_box *box, const struct clv_image *image)
{
    enum { LEAST_SIDE = 4 };
    const int32_t width = box->end_x - box->first_x, height = box->end_y - box->first_y;
    if (width < LEAST_SIDE || height < LEAST_SIDE)
        return "too small for an object and what is around it; a larger image of it can be cut";
    if (width == image->width && height == image->height)
        return "the whole image, so that nothing shows what is around the object";
    bool is_uniform = image->pixels != NULL;
    for (size_t p = 1, n = (size_t)image->width * (size_t)image->height; p < n && is_uniform; p++)
        is_uniform = memcmp(image->pixels, image->pixels + (size_t)image->channels * p, (size_t)image->channels) == 0;
    if (is_uniform)
        return "of an image of one colour";
    for (int32_t y = box->first_y; y < box->end_y && image->pixels; y++)
        for (int32_t x = box->first_x; x < box->end_x; x++) {
            const size_t first = (size_t)box->first_y * (size_t)image->width + (size_t)box->first_x,
                         at = (size_t)y * (size_t)image->width + (size_t)x, n = (size_t)image->channels;
            if (memcmp(image->pixels + n * first, image->pixels + n * at, n) != 0)
                return "";
        }
    return image->pixels ? "of one colour" : "";
}

static void note_empty(struct box_findings *found, const struct input *input, size_t k, const struct clv_pixel_box *box,
                       const struct clv_image *image)
{
    if (found->n_empty++)
        return;
    const char *why = why_empty(box, image);
    snprintf(found->first_empty, sizeof found->first_empty, "box %zu of %s (%dx%d pixels%s%s)", k + 1, input->name,
             box->end_x - box->first_x, box->end_y - box->first_y, *why ? ", " : "", why);
}

enum clv_status box_inputs_objects(struct clv_object_map *map, struct box_findings *found, const struct input *input,
                                   const struct clv_boxes *boxes, const uint8_t *values, const uint8_t *labels,
                                   int32_t width, int32_t height, const struct clv_image *image, struct clv_error *err)
{
    const struct clv_image size = {.width = width, .height = height, .channels = 3, .pixels = image->pixels};
    const size_t n_pixels = (size_t)width * (size_t)height;
    OWNED(clv_object_map_release) struct clv_object_map result = {.width = width, .height = height};
    OWNED_ARRAY struct clv_box *placed = NULL;
    size_t n = 0;
    MUST(box_inputs_place(&placed, &n, input, boxes, &size, NULL, err));
    OWNED_ARRAY struct clv_pixel_box *pixel_boxes = array_alloc(n, sizeof *pixel_boxes);
    OWNED_ARRAY uint8_t *box_labels = array_alloc(n, 1);
    OWNED_ARRAY int32_t *number = array_zalloc(n, sizeof *number);
    result.objects = array_zalloc(n_pixels, sizeof *result.objects);
    result.labels = array_alloc(n, 1);
    NEED(pixel_boxes && box_labels && number && result.objects && result.labels);
    for (size_t k = 0; k < n; k++) {
        pixel_boxes[k] = clv_box_pixels(&placed[k], width, height);
        box_labels[k] = values[placed[k].label];
    }
    MUST(paint_boxes(result.objects, labels, width, pixel_boxes, box_labels, n, err));
    for (size_t p = 0; p < n_pixels; p++) {
        if (labels[p] && labels[p] != CLV_VOID && !result.objects[p]) { /* outside all boxes of its label */
            const int32_t x = (int32_t)(p % (size_t)width), y = (int32_t)(p / (size_t)width);
            result.objects[p] = (int32_t)((find_nearest(pixel_boxes, box_labels, n, labels[p], x, y) + 1) % (n + 1));
        }
        if (result.objects[p])
            number[result.objects[p] - 1] = 1;
    }
    *found = (struct box_findings){.n = n};
    for (size_t k = 0; k < n; k++) {
        if (!number[k]) {
            note_empty(found, input, k, &pixel_boxes[k], &size);
            continue;
        }
        number[k] = ++result.n_objects;
        result.labels[result.n_objects - 1] = box_labels[k];
    }
    for (size_t p = 0; p < n_pixels; p++)
        result.objects[p] = result.objects[p] ? number[result.objects[p] - 1] : 0;
    *map = TAKE(result);
    return CLV_OK;
}

static void draw_pixel(struct clv_image *image, int32_t x, int32_t y, const uint8_t colour[3])
{
    if (x >= 0 && y >= 0 && x < image->width && y < image->height)
        memcpy(image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x), colour, 3);
}

/* Draws the outline of a box, `grow` pixels outside its border pixels. */
static void draw_outline(struct clv_image *image, struct clv_pixel_box box, int32_t grow, const uint8_t colour[3])
{
    int32_t left = box.first_x - grow, right = box.end_x - 1 + grow, top = box.first_y - grow,
            bottom = box.end_y - 1 + grow;
    for (int32_t x = left; x <= right; x++) {
        draw_pixel(image, x, top, colour);
        draw_pixel(image, x, bottom, colour);
    }
    for (int32_t y = top; y <= bottom; y++) {
        draw_pixel(image, left, y, colour);
        draw_pixel(image, right, y, colour);
    }
}

enum clv_status box_inputs_draw(struct clv_image *image, const struct input *input, const struct clv_boxes *boxes,
                                struct clv_error *err)
{
    static const uint8_t dark[3] = {30, 30, 30}, bright[3] = {255, 220, 0};
    int32_t longest = image->width > image->height ? image->width : image->height;
    int32_t width = longest < 640 ? 1 : longest / 320; /* about two pixels in the report */
    OWNED_ARRAY struct clv_box *placed = NULL;
    size_t n = 0;
    MUST(box_inputs_place(&placed, &n, input, boxes, image, NULL, err));
    for (size_t k = 0; k < n; k++) {
        struct clv_pixel_box box = clv_box_pixels(&placed[k], image->width, image->height);
        for (int32_t grow = 1 - 2 * width; grow <= width; grow++)
            draw_outline(image, box, grow, grow > 0 || grow <= -width ? dark : bright);
    }
    return CLV_OK;
}
