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
    array_free(views->measures);
    array_free(views->of_whole);
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
                                   const struct clv_example *example, const struct clv_recipe *recipe,
                                   const struct layout *at, struct clv_error *err)
{
    enum clv_status status = scene_init(&views->image, working, &example->superpixels, err);
    if (status == CLV_OK && example->grid.n_rows)
        status = windows_init(&views->windows, &views->image, &example->grid, 0, err);
    if (status == CLV_OK && at->surround >= 0)
        status = windows_init(&views->surround, &views->image, &example->grid, recipe->patch_px, err);
    if (status == CLV_OK && at->scene >= 0)
        status = scene_whole(&views->whole, &views->image, err);
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
    if (!views->measures)
        return fail_memory(err);
    return contrast_measure(views->measures, own, adjacency, recipe, views->maps, err);
}

static enum clv_status init_of_whole(struct views *views, const struct clv_recipe *recipe, struct clv_error *err)
{
    int32_t last = recipe->n_scales - 1;
    views->of_whole = array_zalloc((size_t)surround_size(recipe, last), sizeof *views->of_whole);
    if (!views->of_whole)
        return fail_memory(err);
    surround_fill(views->of_whole, &views->whole, views->maps, &views->kernel_map, recipe, last, 0);
    return CLV_OK;
}

enum clv_status views_init(struct views *views, const struct clv_image *working, const struct clv_example *example,
                           const struct clv_adjacency *adjacency, const struct map_reader *maps,
                           const struct map_window *window, const struct clv_recipe *recipe, const struct layout *at,
                           struct clv_error *err)
{
    struct views made = {0};
    enum clv_status status = init_scenes(&made, working, example, recipe, at, err);
    TRY(init_maps(&made, recipe, err));
    TRY(kernel_map_init(&made.kernel_map, recipe, err));
    if (status == CLV_OK && at->hog >= 0)
        status = hog_init(&made.hog, &made.image, err);
    if (status == CLV_OK && at->fisher >= 0)
        status = fisher_init(&made.fisher, &made.image, recipe, err);
    if (status == CLV_OK && recipe->n_maps)
        status = map_pool_init(&made.pooled, views_own(&made), maps, window, recipe, err);
    if (status == CLV_OK && at->contrast >= 0)
        status = init_measures(&made, adjacency, recipe, err);
    if (status == CLV_OK && at->scene >= 0)
        status = init_of_whole(&made, recipe, err);
    if (status == CLV_OK)
        *views = made;
    else
        views_release(&made);
    return status;
}
