/* The votes of patches on a pixel's label. */
#ifndef FEATURE_PATCH_VOTES_H
#define FEATURE_PATCH_VOTES_H

#include "base/machine.h"
#include "cleave/features.h"

/* Along one axis: the two patches around a pixel's centre and the share of the second; both the same past the outer
 * centres. */
struct patches_between {
    int32_t low, high;
    float share;
};

struct patch_votes {
    const int32_t *y; /* labels of the example's nodes */
    int32_t n_columns;
    struct patches_between *columns, *rows; /* [width], [height] of the image */
};

/* Zeroed at first; released whatever the status. */
enum clv_status patch_votes_init(struct patch_votes *self, const struct clv_example *example, const int32_t *y,
                                 struct clv_error *err) CLV_CHECK;
void patch_votes_release(struct patch_votes *self);

/* Who votes on pixel (x, y), and with which share. */
INLINE void patch_votes_at(int32_t voter[4], float share[4], const struct patch_votes *self, int32_t x, int32_t y)
{
    struct patches_between column = self->columns[x], row = self->rows[y];
    const int32_t *above = self->y + row.low * self->n_columns, *below = self->y + row.high * self->n_columns;
    voter[0] = above[column.low];
    voter[1] = above[column.high];
    voter[2] = below[column.low];
    voter[3] = below[column.high];
    share[0] = (1 - row.share) * (1 - column.share);
    share[1] = (1 - row.share) * column.share;
    share[2] = row.share * (1 - column.share);
    share[3] = row.share * column.share;
}

#endif
