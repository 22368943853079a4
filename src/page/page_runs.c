/* Masks as lengths of runs, background first, in the order of pixels: encodes, paints and checks them. */
#include "page/page.h"

#include <string.h>

#include "base/base.h"

void page_runs_release(struct page_runs *runs)
{
    array_free(runs->lengths);
    *runs = (struct page_runs){0};
}

enum clv_status page_runs_encode(struct page_runs *runs, const uint8_t *labels, size_t n_pixels, uint8_t label,
                                 struct clv_error *err)
{
    OWNED(page_runs_release) struct page_runs result = {0};
    size_t n = 1;
    for (size_t p = 0; p < n_pixels; p++)
        n += (labels[p] == label) != (p > 0 && labels[p - 1] == label);
    result.lengths = array_zalloc(n, sizeof *result.lengths);
    NEED(result.lengths);
    for (size_t p = 0; p < n_pixels; p++) {
        result.n += (labels[p] == label) != (p > 0 && labels[p - 1] == label);
        result.lengths[result.n]++;
    }
    result.n++;
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
