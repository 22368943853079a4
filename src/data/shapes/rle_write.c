/* Run lengths of masks. */
#include <stdbool.h>

#include "base/base.h"
#include "data/shapes/shapes.h"

/* A run ends before pixel `at`, by columns. */
static enum clv_status end_run(uint32_t **counts, size_t *capacity, size_t *n, uint64_t *from, uint64_t at,
                               struct clv_error *err)
{
    if (array_reserve((void **)counts, capacity, *n + 1, sizeof **counts))
        return fail_memory(err);
    (*counts)[(*n)++] = (uint32_t)(at - *from);
    *from = at;
    return CLV_OK;
}

enum clv_status rle_of_object(uint32_t **counts, size_t *n, const int32_t *object_of, int32_t width, int32_t height,
                              int32_t object, const struct rle_frame *bounds, struct clv_error *err)
{
    size_t capacity = 0, m = 0;
    uint64_t from = 0, total = (uint64_t)width * (uint64_t)height;
    uint32_t *fresh = NULL;
    bool is_inside = false;
    enum clv_status status = CLV_OK;
    int32_t right = bounds->left + bounds->width, bottom = bounds->top + bounds->height;
    for (int32_t x = bounds->left; x < right; x++) {
        uint64_t column = (uint64_t)x * (uint64_t)height;
        for (int32_t y = bounds->top; y < bottom + (bottom < height) && status == CLV_OK; y++) {
            bool is_next = object_of[(size_t)y * (size_t)width + (size_t)x] == object;
            if (is_next != is_inside)
                status = end_run(&fresh, &capacity, &m, &from, column + (uint64_t)y, err);
            is_inside = is_next;
        }
        if (status == CLV_OK && is_inside && (bounds->top > 0 || x + 1 == right)) {
            status = end_run(&fresh, &capacity, &m, &from, column + (uint64_t)height, err);
            is_inside = false;
        }
    }
    if (status == CLV_OK && from < total)
        status = end_run(&fresh, &capacity, &m, &from, total, err);
    if (status == CLV_OK) {
        *counts = fresh;
        *n = m;
    } else {
        array_free(fresh);
    }
    return status;
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
