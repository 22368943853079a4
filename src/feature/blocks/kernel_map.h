/* What a share of a histogram becomes in a row of features: its square root, or numbers whose products sum to another
 * kernel. */
#ifndef FEATURE_KERNEL_MAP_H
#define FEATURE_KERNEL_MAP_H

#include "cleave/features.h"

/* With h and g two histograms that each sum to 1, the products of what their shares are mapped to sum to
 *   CLV_KERNEL_MAP_NONE          sum_b sqrt(h_b g_b)            (Hellinger, exactly)
 *   CLV_KERNEL_MAP_CHI2          sum_b 2 h_b g_b / (h_b + g_b)  (within 0.06)
 *   CLV_KERNEL_MAP_INTERSECTION  sum_b min(h_b, g_b)            (within 0.16)
 * so that a score linear in the rows is one in that kernel (Vedaldi & Zisserman 2012). */
struct kernel_map {
    int32_t size; /* numbers a share becomes */
    void *map;    /* VLFeat's; NULL for square roots */
};
void kernel_map_release(struct kernel_map *self);
enum clv_status kernel_map_init(struct kernel_map *self, const struct clv_recipe *recipe,
                                struct clv_error *err) CLV_CHECK;

/* kernel_map.size without the map: 1 or 3. */
int32_t kernel_map_size(const struct clv_recipe *recipe);

/* numbers[size], of a share in 0..1; 0 becomes zeros, and so do shares below 2^-20 but for square roots. */
void kernel_map_share(float *numbers, const struct kernel_map *self, float share);

/* Appends to the name of a bin which of its numbers is meant; nothing where there is but one. */
void kernel_map_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t number);

#endif
