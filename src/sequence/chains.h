/* Which frames of a set follow each other, and from which given mask each one's is carried: the nearest one's, before or
 * after it. */
#ifndef SEQUENCE_CHAINS_H
#define SEQUENCE_CHAINS_H

#include "cleave/data.h"

/* From frames[first], whose mask is given, n frames on, in steps of 1 or -1. */
struct chain {
    size_t first, n;
    int32_t step;
};

struct chains {
    size_t *frames;     /* [set->n_items] items in their order, one sequence after the other */
    uint8_t *is_wanted; /* [set->n_items] whether an item's mask is to be made */
    struct chain *items;
    size_t n, n_wanted, n_sequences;
    size_t n_gaps;    /* numbers that are missing in the names of neighbouring frames .. */
    size_t before[2]; /* .. the first of them between these items */
};
void chains_release(struct chains *self);

/* Rows of one `sequence` belong together in their order; without a column all do. Of a bare folder the images of each
 * folder do, by their names, 2 before 10. `given` and `split` are comma-separated splits (NULL: all): masks of the one
 * are given, those of the other, as far as they are not given, are made. Errors name the sequence: CLV_ERR_DATA for one
 * without any given mask where one is wanted, or an image that is there twice. O(n log n). */
enum clv_status chains_find(struct chains *self, const struct clv_set *set, const char *given, const char *split,
                            struct clv_error *err) CLV_CHECK;

#endif
