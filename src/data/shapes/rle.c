/* Run lengths of masks: reads COCO's compressed text and lists of numbers, finds bounding boxes, fills masks, and
 * encodes objects. Start at rle_parse_compressed and rle_of_pieces. */
#include "data/shapes/shapes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* Reads one count of COCO's compressed text and advances *text; false: malformed. */
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
                CLV_ERR_DATA, "run %zu is not a number of pixels", m + 1);
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

/* Finds the pixel of the frame with index `at` in the given order. */
static void find_pixel(int32_t *x, int32_t *y, uint64_t at, const struct rle_frame *frame, enum rle_order order)
{
    uint64_t side = (uint64_t)(order == RLE_BY_COLUMNS ? frame->height : frame->width);
    *x = (int32_t)(order == RLE_BY_COLUMNS ? at / side : at % side);
    *y = (int32_t)(order == RLE_BY_COLUMNS ? at % side : at / side);
}

/* Fills pixels pixels[0]..pixels[1] - 1 of lines lines[0]..lines[1] - 1 of the frame. A line is a column or a row, by
 * the order. */
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
        for (int64_t from = at; i % 2 && from < end; from += n_lines * length) { /* a part of a line, or lines */
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
    struct rle_frame whole = {0};
    uint64_t at = 0;
    for (size_t i = 0; i < n; at += counts[i++]) {
        if (i % 2 == 0 || !counts[i])
            continue;
        int32_t x0, y0, x1, y1;
        find_pixel(&x0, &y0, at, frame, order);
        find_pixel(&x1, &y1, at + counts[i] - 1, frame, order);
        if (order == RLE_BY_COLUMNS && x0 != x1) { /* a run in several columns touches their top and bottom */
            y0 = 0;
            y1 = frame->height - 1;
        } else if (order == RLE_BY_ROWS && y0 != y1) {
            x0 = 0;
            x1 = frame->width - 1;
        }
        include(&whole, x0, y0, x1, y1);
    }
    whole.left += frame->left;
    whole.top += frame->top;
    *bounds = whole;
    return CLV_OK;
}

/* The rows at which columns of pixels enter and leave objects. Those of column left + k are
 * rows[starts[k]]..rows[starts[k + 1] - 1]. */
struct changes {
    int32_t left, n_columns;
    size_t *starts; /* [n_columns + 2] */
    int32_t *rows;
};

static void changes_release(struct changes *self)
{
    arrays_free(self->starts, self->rows);
}

/* Counts the changes at a horizontal edge, or stores them if `rows` is allocated. */
static void take_edge(struct changes *self, const int32_t a[2], const int32_t b[2])
{
    int32_t first = a[0] < b[0] ? a[0] : b[0], end = a[0] < b[0] ? b[0] : a[0];
    for (int32_t x = first - self->left; a[1] == b[1] && x < end - self->left; x++) {
        if (self->rows)
            self->rows[self->starts[x + 1]++] = a[1];
        else
            self->starts[x + 2]++;
    }
}

static void take_edges(struct changes *self, const struct contours *contours, const size_t *pieces, size_t n_pieces)
{
    const int32_t(*points)[2] = (const int32_t(*)[2])(contours->exact ? contours->exact : contours->points);
    const size_t *ends = contours->exact ? contours->exact_ends : contours->ring_ends;
    for (size_t k = 0; k < n_pieces; k++) {
        size_t ring, end;
        contours_rings(contours, pieces[k], &ring, &end);
        for (; ring < end; ring++)
            for (size_t first = ring ? ends[ring - 1] : 0, i = first; i < ends[ring]; i++)
                take_edge(self, points[i], points[i + 1 < ends[ring] ? i + 1 : first]);
    }
}

static int compare_rows(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Finds the changes of each column and sorts them from the top. */
static enum clv_status find_changes(struct changes *self, const struct contours *contours, const size_t *pieces,
                                    size_t n_pieces, struct clv_error *err)
{
    int32_t right = 0;
    self->left = contours->width;
    for (size_t k = 0; k < n_pieces; k++) {
        const struct contour_object *piece = &contours->objects[pieces[k]];
        self->left = piece->left < self->left ? piece->left : self->left;
        right = piece->left + piece->width > right ? piece->left + piece->width : right;
    }
    self->n_columns = right > self->left ? right - self->left : 0;
    size_t n = (size_t)self->n_columns;
    NEED(self->starts = array_zalloc(n + 2, sizeof *self->starts));
    take_edges(self, contours, pieces, n_pieces);
    for (size_t x = 0; x < n; x++)
        self->starts[x + 2] += self->starts[x + 1];
    NEED(self->rows = array_alloc(self->starts[n + 1], sizeof *self->rows));
    take_edges(self, contours, pieces, n_pieces); /* advances each start to where the next one began */
    for (size_t x = 0; x < n; x++)
        qsort(self->rows + self->starts[x], self->starts[x + 1] - self->starts[x], sizeof *self->rows, compare_rows);
    return CLV_OK;
}

enum clv_status rle_of_pieces(uint32_t **counts, size_t *n, const struct contours *contours, const size_t *pieces,
                              size_t n_pieces, struct clv_error *err)
{
    OWNED(changes_release) struct changes changes = {0};
    MUST(find_changes(&changes, contours, pieces, n_pieces, err));
    const uint64_t height = (uint64_t)contours->height, total = (uint64_t)contours->width * height;
    OWNED_ARRAY uint32_t *result = array_alloc(changes.starts[changes.n_columns] + 1, sizeof *result);
    uint64_t at = 0; /* end of the last run */
    size_t m = 0;
    NEED(result);
    for (int32_t x = 0; x < changes.n_columns; x++)
        for (size_t k = changes.starts[x]; k < changes.starts[x + 1]; k++) {
            uint64_t next = (uint64_t)(changes.left + x) * height + (uint64_t)changes.rows[k];
            if (m && next == at) { /* the object continues from the bottom of a column to the top of the next */
                at -= result[--m];
                continue;
            }
            result[m++] = (uint32_t)(next - at);
            at = next;
        }
    if (at < total)
        result[m++] = (uint32_t)(total - at);
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
