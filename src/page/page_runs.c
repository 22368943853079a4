/* Masks as lengths of runs, background first, in the order of pixels: encodes, paints and checks them. Start at
 * page_runs_encode. */
#include "page/page.h"

#include <string.h>

#include "base/base.h"

void page_runs_release(struct page_runs *runs)
{
    array_free(runs->lengths);
    *runs = (struct page_runs){0};
}

/* Returns the first pixel from `at` on that has the label, or does not have it if is_wanted is false; n_pixels if there
 * is none. */
static size_t find(const uint8_t *labels, size_t at, size_t n_pixels, uint8_t label, bool is_wanted)
{
    if (is_wanted) {
        const uint8_t *found = at < n_pixels ? memchr(labels + at, label, n_pixels - at) : NULL;
        return found ? (size_t)(found - labels) : n_pixels;
    }
    const uint64_t pattern = 0x0101010101010101U * label;
    for (uint64_t word; at + sizeof word <= n_pixels; at += sizeof word) {
        memcpy(&word, labels + at, sizeof word);
        if (word != pattern)
            break;
    }
    while (at < n_pixels && labels[at] == label)
        at++;
    return at;
}

enum clv_status page_runs_encode(struct page_runs *runs, const uint8_t *labels, size_t n_pixels, uint8_t label,
                                 struct clv_error *err)
{
    OWNED(page_runs_release) struct page_runs result = {0};
    size_t n = 0, at = 0;
    do {
        at = find(labels, at, n_pixels, label, n % 2 == 0);
        n++;
    } while (at < n_pixels);
    result.lengths = array_alloc(n, sizeof *result.lengths);
    NEED(result.lengths);
    for (at = 0; result.n < n; result.n++) {
        size_t end = find(labels, at, n_pixels, label, result.n % 2 == 0);
        result.lengths[result.n] = (int32_t)(end - at);
        at = end;
    }
    *runs = TAKE(result);
    return CLV_OK;
}

void page_runs_paint(uint8_t *labels, const struct page_runs *runs, uint8_t label)
{
    for (size_t k = 0; k < runs->n; k++) {
        if (k % 2)
            memset(labels, label, (size_t)runs->lengths[k]);
        labels += runs->lengths[k];
    }
}

int page_runs_fit(const struct page_runs *runs, size_t n_pixels)
{
    size_t sum = 0;
    for (size_t k = 0; k < runs->n; k++) {
        if (runs->lengths[k] < 0 || (size_t)runs->lengths[k] > n_pixels - sum)
            return 0;
        sum += (size_t)runs->lengths[k];
    }
    return sum == n_pixels;
}
