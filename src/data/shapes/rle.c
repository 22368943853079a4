/* Run lengths of masks: COCO's compressed text and lists of numbers, bounds, filling, and encoding of an object. Start
 * at rle_parse_compressed and rle_of_object. */
#include "data/shapes/shapes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* One count of COCO's; *text moves behind it. */
static bool take_count(int64_t *count, const char **text)
{
    *count = 0;
    for (int shift = 0; shift < 40; shift += 5) {
        int digit = **text - '0';
        if (digit < 0 || digit > 63)
            return false;
        (*text)++;
        *count |= (int64_t)(digit & 31) << shift;
        if (!(digit & 32)) {
            if (digit & 16)
                *count -= (int64_t)1 << (shift + 5);
            return true;
        }
    }
    return false;
}

enum clv_status rle_parse_compressed(uint32_t **counts, size_t *n, const char *text, struct clv_error *err)
{
    size_t length = strlen(text), m = 0;
    OWNED_ARRAY uint32_t *result = array_alloc(length, sizeof *result);
    NEED(result);
    for (const char *cursor = text; *cursor; m++) {
        int64_t count;
        size_t at = (size_t)(cursor - text);
        FAIL_IF(!take_count(&count, &cursor), CLV_ERR_DATA, "compressed counts are damaged at character %zu", at + 1);
        if (m > 2)
            count += result[m - 2];
        FAIL_IF(count < 0 || count > INT32_MAX, CLV_ERR_DATA, "compressed counts: run %zu has %lld pixels", m + 1,
                (long long)count);
        result[m] = (uint32_t)count;
    }
    *counts = TAKE(result);
    *n = m;
    return CLV_OK;
}

enum clv_status rle_parse_numbers(uint32_t **counts, size_t *n, const char *text, struct clv_error *err)
{
    size_t m = 0;
    OWNED_ARRAY uint32_t *result = array_alloc(strlen(text) / 2 + 1, sizeof *result);
    NEED(result);
    for (const char *cursor = text + strspn(text, " \t\r\n,"); *cursor; cursor += strspn(cursor, " \t\r\n,")) {
        uint64_t count = 0;
        size_t n_digits = strspn(cursor, "0123456789");
        for (size_t i = 0; i < n_digits && n_digits <= 10; i++)
            count = 10 * count + (uint64_t)(cursor[i] - '0');
        cursor += n_digits;
        FAIL_IF(!n_digits || n_digits > 10 || count > INT32_MAX || (*cursor && !strchr(" \t\r\n,", *cursor)),
                CLV_ERR_DATA, "run %zu is no number of pixels", m + 1);
        result[m++] = (uint32_t)count;
    }
    *counts = TAKE(result);
    *n = m;
    return CLV_OK;
}

static enum clv_status check(const struct rle_frame *frame, const uint32_t *counts, size_t n, struct clv_error *err)
{
    uint64_t total = 0, wanted = (uint64_t)frame->width * (uint64_t)frame->height;
    if (frame->width < 1 || frame->height < 1 || wanted > RLE_MAX_PIXELS)
        return fail(err, CLV_ERR_DATA, "runs of a mask of %dx%d pixels", frame->width, frame->height);
    for (size_t i = 0; i < n && total <= wanted; i++)
        total += counts[i];
    FAIL_IF(total != wanted, CLV_ERR_DATA, "runs do not sum to the %llu pixels of %dx%d", (unsigned long long)wanted,
            frame->width, frame->height);
    return CLV_OK;
}

/* The pixel of the frame that is `at`-th in the order. */
static void find_pixel(int32_t *x, int32_t *y, uint64_t at, const struct rle_frame *frame, enum rle_order order)
{
    uint64_t side = (uint64_t)(order == RLE_BY_COLUMNS ? frame->height : frame->width);
    *x = (int32_t)(order == RLE_BY_COLUMNS ? at / side : at % side);
    *y = (int32_t)(order == RLE_BY_COLUMNS ? at % side : at / side);
}

/* A rectangle of the frame: pixels first..end of lines line0..line1, where a line is a column or a row by the order. */
static void fill_lines(const struct canvas *canvas, const struct rle_frame *frame, enum rle_order order,
                       const int64_t lines[2], const int64_t pixels[2])
{
    const int64_t *across = order == RLE_BY_COLUMNS ? lines : pixels, *down = order == RLE_BY_COLUMNS ? pixels : lines;
    int64_t x0 = frame->left + across[0], x1 = frame->left + across[1];
    int64_t y0 = frame->top + down[0], y1 = frame->top + down[1];
    x0 = x0 > 0 ? x0 : 0;
    x1 = x1 < canvas->width ? x1 : canvas->width;
    y0 = y0 > 0 ? y0 : 0;
    y1 = y1 < canvas->height ? y1 : canvas->height;
    for (int64_t y = y0; y < y1 && x0 < x1; y++)
        memset(canvas->pixels + y * canvas->width + x0, canvas->value, (size_t)(x1 - x0));
}

enum clv_status rle_fill(const struct canvas *canvas, const struct rle_frame *frame, const uint32_t *counts, size_t n,
                         enum rle_order order, struct clv_error *err)
{
    MUST(check(frame, counts, n, err));
    int64_t side = order == RLE_BY_COLUMNS ? frame->height : frame->width, at = 0;
    for (size_t i = 0; i < n; at += counts[i++]) {
        int64_t end = at + counts[i], n_lines, length;
        for (int64_t from = at; i % 2 && from < end; from += n_lines * length) { /* of a line, or whole lines */
            int64_t line = from / side, start = from % side;
            n_lines = start || end - from < side ? 1 : (end - from) / side;
            length = side - start < end - from ? side - start : end - from;
            fill_lines(canvas, frame, order, (int64_t[]){line, line + n_lines}, (int64_t[]){start, start + length});
        }
    }
    return CLV_OK;
}

static void include(struct rle_frame *bounds, int32_t x0, int32_t y0, int32_t x1, int32_t y1)
{
    int32_t right = bounds->width ? bounds->left + bounds->width - 1 : x1;
    int32_t bottom = bounds->width ? bounds->top + bounds->height - 1 : y1;
    bounds->left = bounds->width && bounds->left < x0 ? bounds->left : x0;
    bounds->top = bounds->width && bounds->top < y0 ? bounds->top : y0;
    bounds->width = (right > x1 ? right : x1) - bounds->left + 1;
    bounds->height = (bottom > y1 ? bottom : y1) - bounds->top + 1;
}

enum clv_status rle_bound(struct rle_frame *bounds, const struct rle_frame *frame, const uint32_t *counts, size_t n,
                          enum rle_order order, struct clv_error *err)
{
    MUST(check(frame, counts, n, err));
    struct rle_frame own = {0};
    uint64_t at = 0;
    for (size_t i = 0; i < n; at += counts[i++]) {
        if (i % 2 == 0 || !counts[i])
            continue;
        int32_t x0, y0, x1, y1;
        find_pixel(&x0, &y0, at, frame, order);
        find_pixel(&x1, &y1, at + counts[i] - 1, frame, order);
        if (order == RLE_BY_COLUMNS && x0 != x1) { /* such a run goes through whole columns */
            y0 = 0;
            y1 = frame->height - 1;
        } else if (order == RLE_BY_ROWS && y0 != y1) {
            x0 = 0;
            x1 = frame->width - 1;
        }
        include(&own, x0, y0, x1, y1);
    }
    own.left += frame->left;
    own.top += frame->top;
    *bounds = own;
    return CLV_OK;
}

/* A run ends before pixel `at`, by columns. */
static enum clv_status end_run(uint32_t **counts, size_t *capacity, size_t *n, uint64_t *from, uint64_t at,
                               struct clv_error *err)
{
    NEED(!array_reserve((void **)counts, capacity, *n + 1, sizeof **counts));
    (*counts)[(*n)++] = (uint32_t)(at - *from);
    *from = at;
    return CLV_OK;
}

enum clv_status rle_of_object(uint32_t **counts, size_t *n, const struct contours *contours, int32_t object,
                              const struct rle_frame *bounds, struct clv_error *err)
{
    int32_t width = contours->width, height = contours->height;
    size_t capacity = 0, m = 0;
    uint64_t from = 0, total = (uint64_t)width * (uint64_t)height;
    OWNED_ARRAY uint32_t *result = NULL;
    bool is_inside = false;
    int32_t right = bounds->left + bounds->width, bottom = bounds->top + bounds->height;
    for (int32_t x = bounds->left; x < right; x++) {
        uint64_t column = (uint64_t)x * (uint64_t)height;
        for (int32_t y = bounds->top; y < bottom + (bottom < height); y++) {
            bool is_next = contours->object_of[(size_t)y * (size_t)width + (size_t)x] == object;
            if (is_next != is_inside)
                MUST(end_run(&result, &capacity, &m, &from, column + (uint64_t)y, err));
            is_inside = is_next;
        }
        if (is_inside && (bounds->top > 0 || x + 1 == right)) {
            MUST(end_run(&result, &capacity, &m, &from, column + (uint64_t)height, err));
            is_inside = false;
        }
    }
    if (from < total)
        MUST(end_run(&result, &capacity, &m, &from, total, err));
    *counts = TAKE(result);
    *n = m;
    return CLV_OK;
}

void rle_put_compressed(struct text *text, const uint32_t *counts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t rest = (int64_t)counts[i] - (i > 2 ? counts[i - 2] : 0);
        for (bool has_more = true; has_more;) {
            int digit = (int)(rest & 31);
            rest >>= 5;
            has_more = digit & 16 ? rest != -1 : rest != 0;
            const char letter = (char)('0' + (digit | (has_more ? 32 : 0)));
            text_append(text, &letter, 1);
        }
    }
}
