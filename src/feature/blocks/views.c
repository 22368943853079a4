/* Computes the inputs of the feature blocks, once per image: scenes and their windows, maps of visual words, gradients,
 * pooled network maps, and measures of contrast. Start at views_init. */
#include "feature/blocks/blocks.h"

#include "base/base.h"

void views_release(struct views *views)
{
    for (int s = 0; s < CLV_MAX_SCALES; s++)
        word_map_release(&views->maps[s]);
    kernel_map_release(&views->kernel_map);
    hog_release(&views->hog);
    fisher_release(&views->fisher);
    map_pool_release(&views->pooled);
    arrays_free(views->measures, views->of_whole);
    windows_release(&views->windows);
    windows_release(&views->surround);
    windows_release(&views->whole);
    scene_release(&views->image);
    *views = (struct views){0};
}

static enum clv_status init_scenes(struct views *views, const struct clv_image *working,
                                   const struct clv_example *example, const struct clv_recipe *recipe,
                                   struct clv_error *err)
{
    MUST(scene_init(&views->image, working, &example->superpixels, err));
    if (example->grid.n_rows)
        MUST(windows_init(&views->windows, &views->image, &example->grid, 0, err));
    if (recipe->blocks & CLV_BLOCK_SURROUND)
        MUST(windows_init(&views->surround, &views->image, &example->grid, recipe->patch_px, err));
    if (recipe->blocks & CLV_BLOCK_SCENE)
        MUST(scene_whole(&views->whole, &views->image, err));
    return CLV_OK;
}

static enum clv_status init_maps(struct views *views, const struct clv_recipe *recipe, struct clv_error *err)
{
    const struct scene *scene = &views->image;
    if (!has_words(recipe))
        return CLV_OK;
    return word_maps_init(views->maps, scene->rgb, scene->width, scene->height, recipe, err);
}

static enum clv_status init_measures(struct views *views, const struct clv_adjacency *adjacency,
                                     const struct clv_recipe *recipe, struct clv_error *err)
{
    const struct scene *own = views_own(views);
    views->n_measures = contrast_measures(recipe);
    views->measures = array_zalloc((size_t)own->n_regions * (size_t)views->n_measures, sizeof *views->measures);
    NEED(views->measures);
    return contrast_measure(views->measures, own, adjacency, recipe, views->maps, err);
}

static enum clv_status init_of_whole(struct views *views, const struct clv_recipe *recipe, struct clv_error *err)
{
    views->of_whole = array_zalloc((size_t)scene_size(recipe), sizeof *views->of_whole);
    NEED(views->of_whole);
    whole_scene_fill(views->of_whole, views);
    return CLV_OK;
}

enum clv_status views_init(struct views *views, const struct view_source *source, const struct clv_example *example,
                           const struct clv_adjacency *adjacency, const struct clv_recipe *recipe,
                           struct clv_error *err)
{
    const int32_t wanted = recipe->blocks;
    OWNED(views_release) struct views result = {.recipe = recipe, .grid = &example->grid};
    MUST(init_scenes(&result, source->working, example, recipe, err));
    MUST(init_maps(&result, recipe, err));
    MUST(kernel_map_init(&result.kernel_map, recipe, err));
    if (wanted & CLV_BLOCK_HOG)
        MUST(hog_init(&result.hog, &result.image, err));
    if (wanted & CLV_BLOCK_FISHER)
        MUST(fisher_init(&result.fisher, &result.image, recipe, err));
    if (recipe->n_maps)
        MUST(map_pool_init(&result.pooled, views_own(&result), source->maps, source->window, recipe, err));
    if (wanted & CLV_BLOCK_CONTRAST)
        MUST(init_measures(&result, adjacency, recipe, err));
    if (wanted & CLV_BLOCK_SCENE)
        MUST(init_of_whole(&result, recipe, err));
    *views = TAKE(result);
    return CLV_OK;
}
