/* Masks as run lengths: pixels outside, inside, outside .. in turn, the first run outside (and perhaps empty). */
#ifndef DATA_RLE_H
#define DATA_RLE_H

#include "base/text.h"
#include "cleave/status.h"

enum rle_order { RLE_BY_COLUMNS, RLE_BY_ROWS }; /* COCO; CVAT */

/* Reads COCO's compressed counts: digits of 5 bits in the characters '0' to 'o', the lowest first, a sixth bit for
 * "more follows"; from the third count on each is the difference to the one before the last. *counts[*n], array_free
 * it. Errors: other characters, counts below 0 or beyond 2^31, an end within a count. O(length). */
enum clv_status rle_parse_compressed(uint32_t **counts, size_t *n, const char *text, struct clv_error *err) CLV_CHECK;

/* Whole numbers separated by commas and blanks, as CVAT writes them. */
enum clv_status rle_parse_numbers(uint32_t **counts, size_t *n, const char *text, struct clv_error *err) CLV_CHECK;

#define RLE_MAX_PIXELS ((uint64_t)1 << 28) /* of a frame */

/* A rectangle of an image, in pixels. */
struct rle_frame {
    int32_t left, top, width, height;
};

/* Writes `value` where the runs say inside, of those pixels of `frame` that are in mask[height][width]. CLV_ERR_DATA,
 * and nothing is written, unless the counts are as many pixels as the frame has. O(n + pixels written). */
enum clv_status rle_fill(uint8_t *mask, int32_t width, int32_t height, const struct rle_frame *frame,
                         const uint32_t *counts, size_t n, enum rle_order order, uint8_t value,
                         struct clv_error *err) CLV_CHECK;

/* The smallest frame around what is inside, relative to `frame`'s own image; width 0: nothing is. The same errors. */
enum clv_status rle_bound(struct rle_frame *bounds, const struct rle_frame *frame, const uint32_t *counts, size_t n,
                          enum rle_order order, struct clv_error *err) CLV_CHECK;

/* *counts[*n], by columns, array_free them: of the pixels with object_of[height][width] = object, all within `bounds`,
 * in an image of at most RLE_MAX_PIXELS. O(pixels of the bounds). */
enum clv_status rle_of_object(uint32_t **counts, size_t *n, const int32_t *object_of, int32_t width, int32_t height,
                              int32_t object, const struct rle_frame *bounds, struct clv_error *err) CLV_CHECK;

/* What rle_parse_compressed reads. */
void rle_put_compressed(struct text *text, const uint32_t *counts, size_t n);

#endif
