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
    struct page_runs made = {0};
    size_t n = 1;
    for (size_t p = 0; p < n_pixels; p++)
        n += (labels[p] == label) != (p > 0 && labels[p - 1] == label);
    made.lengths = array_zalloc(n, sizeof *made.lengths);
    MUST_IF(!made.lengths, fail_memory(err));
    for (size_t p = 0; p < n_pixels; p++) {
        made.n += (labels[p] == label) != (p > 0 && labels[p - 1] == label);
        made.lengths[made.n]++;
    }
    made.n++;
    *runs = made;
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
