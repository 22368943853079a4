/* Masks of figure and ground as run lengths, ground first: a few thousand numbers where there were millions of
 * pixels. */
#ifndef PAGE_PAGE_RUNS_H
#define PAGE_PAGE_RUNS_H

#include <stddef.h>
#include <stdint.h>

#include "cleave/status.h"

struct page_runs {
    int32_t *lengths; /* [n] sum to the number of pixels */
    size_t n;
};
void page_runs_release(struct page_runs *runs);

/* Pixels equal to `label` are figure. O(pixels). */
enum clv_status page_runs_encode(struct page_runs *runs, const uint8_t *labels, size_t n_pixels, uint8_t label,
                                 struct clv_error *err) CLV_CHECK;

/* Writes `label` where figure is. The runs must fit: page_runs_fit. */
void page_runs_paint(uint8_t *labels, const struct page_runs *runs, uint8_t label);

/* Whether they are lengths of a mask of so many pixels. */
int page_runs_fit(const struct page_runs *runs, size_t n_pixels);

#endif
