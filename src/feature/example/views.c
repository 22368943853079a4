#include "feature/example/example.h"

#include "base/base.h"
#include "feature/blocks/blocks.h"

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

const struct scene *views_own(const struct views *views)
{
    return views->windows.start ? &views->windows : &views->image;
}

static enum clv_status init_scenes(struct views *views, const struct clv_image *working,
                                   const struct clv_example *example, const struct layout *at, struct clv_error *err)
{
    enum clv_status status = scene_init(&views->image, working, &example->superpixels, err);
    TRY_IF(example->grid.n_rows, windows_init(&views->windows, &views->image, &example->grid, 0, err));
    TRY_IF(at->surround >= 0, windows_init(&views->surround, &views->image, &example->grid, at->recipe->patch_px, err));
    TRY_IF(at->scene >= 0, scene_whole(&views->whole, &views->image, err));
    return status;
}

static enum clv_status init_maps(struct views *views, const struct clv_recipe *recipe, struct clv_error *err)
{
    const struct scene *scene = &views->image;
    if (!has_words(recipe))
        return CLV_OK;
    struct sift_image sift;
    enum clv_status status = sift_image_init(&sift, scene->rgb, scene->width, scene->height, recipe, err);
    for (int32_t s = 0; s < recipe->n_scales && status == CLV_OK; s++)
        status = word_map_init(&views->maps[s], &sift, recipe, s, err);
    sift_image_release(&sift);
    return status;
}

static enum clv_status init_measures(struct views *views, const struct clv_adjacency *adjacency,
                                     const struct clv_recipe *recipe, struct clv_error *err)
{
    const struct scene *own = views_own(views);
    views->n_measures = contrast_measures(recipe);
    views->measures = array_zalloc((size_t)own->n_regions * (size_t)views->n_measures, sizeof *views->measures);
    MUST_IF(!views->measures, fail_memory(err));
    return contrast_measure(views->measures, own, adjacency, recipe, views->maps, err);
}

static enum clv_status init_of_whole(struct views *views, const struct clv_recipe *recipe, struct clv_error *err)
{
    int32_t last = recipe->n_scales - 1;
    views->of_whole = array_zalloc((size_t)surround_size(recipe, last), sizeof *views->of_whole);
    MUST_IF(!views->of_whole, fail_memory(err));
    surround_fill(views->of_whole, &views->whole, views->maps, &views->kernel_map, recipe, last, 0);
    return CLV_OK;
}

enum clv_status views_init(struct views *views, const struct view_source *source, const struct clv_example *example,
                           const struct clv_adjacency *adjacency, const struct layout *at, struct clv_error *err)
{
    const struct clv_recipe *recipe = at->recipe;
    struct views made = {0};
    enum clv_status status = init_scenes(&made, source->working, example, at, err);
    TRY(init_maps(&made, recipe, err));
    TRY(kernel_map_init(&made.kernel_map, recipe, err));
    TRY_IF(at->hog >= 0, hog_init(&made.hog, &made.image, err));
    TRY_IF(at->fisher >= 0, fisher_init(&made.fisher, &made.image, recipe, err));
    TRY_IF(recipe->n_maps, map_pool_init(&made.pooled, views_own(&made), source->maps, source->window, recipe, err));
    TRY_IF(at->contrast >= 0, init_measures(&made, adjacency, recipe, err));
    TRY_IF(at->scene >= 0, init_of_whole(&made, recipe, err));
    DELIVER(views, made, views_release(&made));
    return status;
}
