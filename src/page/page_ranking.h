/* Which images are worth labelling next: those on which the model expects most errors, by the marginals of
 * perturb-and-MAP draws. A thread of its own looks at one image after the other. */
#ifndef PAGE_PAGE_RANKING_H
#define PAGE_PAGE_RANKING_H

#include "cleave/data.h"

struct page_ranking;
struct page_ranking *page_ranking_new(const struct clv_set *set); /* NULL: out of memory */
void page_ranking_free(struct page_ranking *ranking);             /* stops */

/* Starts over with a model file; what was known of an image stays until it is looked at again. */
enum clv_status page_ranking_start(struct page_ranking *ranking, const char *model, struct clv_error *err) CLV_CHECK;

/* The share of pixels expected to be wrong, or -1: not known. */
double page_ranking_expected_error(struct page_ranking *ranking, size_t item);

#endif
