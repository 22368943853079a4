/* Converts shares by VLFeat's homogeneous kernel map of order 1: the kernel's spectrum is sampled at 0 and at one
 * frequency, which gives three numbers per share, read from a table. VLFeat 0.9.21 clears only two of the three for
 * shares too small for the table, so they are cleared here. */
#include "feature/blocks/blocks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <vl/homkermap.h>

#include "base/base.h"

enum { ORDER = 1, MAPPED_SIZE = 2 * ORDER + 1 };

void kernel_map_release(struct kernel_map *self)
{
    if (self->map)
        vl_homogeneouskernelmap_delete(self->map);
    *self = (struct kernel_map){0};
}

int32_t kernel_map_size(const struct clv_recipe *recipe)
{
    return recipe->kernel_map == CLV_KERNEL_MAP_NONE ? 1 : MAPPED_SIZE;
}

enum clv_status kernel_map_init(struct kernel_map *self, const struct clv_recipe *recipe, struct clv_error *err)
{
    *self = (struct kernel_map){.size = kernel_map_size(recipe)};
    if (recipe->kernel_map == CLV_KERNEL_MAP_NONE)
        return CLV_OK;
    /* Homogeneous of degree 1; the period and the window that VLFeat recommends. */
    self->map = vl_homogeneouskernelmap_new(recipe->kernel_map == CLV_KERNEL_MAP_CHI2 ? VlHomogeneousKernelChi2
                                                                                      : VlHomogeneousKernelIntersection,
                                            1, ORDER, -1, VlHomogeneousKernelMapWindowRectangular);
    return self->map ? CLV_OK : fail_memory(err);
}

void kernel_map_share(float *numbers, const struct kernel_map *self, float share)
{
    if (!self->map) {
        *numbers = sqrtf(share);
        return;
    }
    for (int32_t k = 0; k < self->size; k++)
        numbers[k] = 0;
    if (share > 0)
        vl_homogeneouskernelmap_evaluate_f(self->map, numbers, 1, (double)share);
}

void kernel_map_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t number)
{
    size_t used = strlen(name);
    if (recipe->kernel_map != CLV_KERNEL_MAP_NONE)
        snprintf(name + used, size - used, ", number %d of %d", number + 1, MAPPED_SIZE);
}
