/* Fisher vectors of a patch and its surroundings (Perronnin, Sanchez & Mensink 2010): how the descriptors of a window
 * differ from a mixture of Gaussians in means and variances, component by component, with signed roots and unit norm,
 * scale by scale. */
#ifndef FEATURE_FISHER_H
#define FEATURE_FISHER_H

#include "feature/blocks/scene.h"
#include "feature/words/mixture.h"

enum { FISHER_SIZE = 2 * MIXTURE_COMPONENTS * MIXTURE_DIMENSIONS }; /* of one scale */

struct fisher {
    const struct clv_recipe *recipe;
    int32_t margin_px;         /* of the window around a patch */
    int32_t width, height;     /* of the image */
    int32_t n_columns, n_rows; /* of the grid of descriptors, the same for all scales */
    struct fisher_scale {
        float *place, *share; /* [cells][MIXTURE_DIMENSIONS], [cells][MIXTURE_COMPONENTS] */
    } scales[CLV_MAX_SCALES];
};
void fisher_release(struct fisher *fisher);

/* O(pixels). The recipe, which has learned its mixtures, must outlive it. */
enum clv_status fisher_init(struct fisher *fisher, const struct scene *scene, const struct clv_recipe *recipe,
                            struct clv_error *err) CLV_CHECK;

int32_t fisher_size(const struct clv_recipe *recipe);
void fisher_fill(float *row, const struct fisher *fisher, const struct clv_patch_grid *grid, int32_t patch);
void fisher_name(char *name, size_t size, int32_t index);

#endif
