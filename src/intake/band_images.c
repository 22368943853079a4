/* Prepares rasters as training images: joins files that are bands of one image, learns how to convert bands to RGB, and
 * adds the bands as a map to the images. Start at band_images_learn. */
#include "intake/intake.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "image/raster/raster.h"

bool band_images_is_further(const char *path, const char *names)
{
    size_t length = strlen(path);
    for (const char *name = names ? strchr(names, ',') : NULL; name; name = strchr(name + 1, ',')) {
        size_t n_name = strcspn(name + 1, ",");
        if (n_name && length >= n_name && memcmp(path + length - n_name, name + 1, n_name) == 0)
            return true;
    }
    return false;
}

static bool is_first_band(void *names, struct clv_item *item)
{
    return !band_images_is_further(item->image, names);
}

enum clv_status band_images_join(struct clv_set *set, const struct clv_image_limits *limits, struct clv_error *err)
{
    const char *names = limits->band_files;
    if (!names)
        return CLV_OK;
    set_keep(set, is_first_band, (void *)(uintptr_t)names);
    return set->n_items ? CLV_OK
                        : fail(err, CLV_ERR_DATA, "%s: no image but further bands of --bands %s", set->root, names);
}

enum clv_status band_images_give(struct clv_set *set, const struct clv_recipe *recipe, struct clv_error *err)
{
    size_t m = set->n_maps;
    if (!recipe->bands.n_bands)
        return CLV_OK;
    for (size_t k = 0; k < m; k++)
        FAIL_IF(strcmp(set->map_names[k], BANDS_MAP) == 0, CLV_ERR_USAGE,
                "map \"" BANDS_MAP "\": the images' own bands are called so");
    FAIL_IF(m == CLV_MAX_MAPS, CLV_ERR_USAGE, "map \"" BANDS_MAP "\": one more than %d", CLV_MAX_MAPS);
    snprintf(set->map_names[m], sizeof set->map_names[m], "%s", BANDS_MAP);
    set->n_maps++;
    for (size_t i = 0; i < set->n_items; i++) {
        set->items[i].maps[m] = string_copy(set->items[i].image);
        NEED(set->items[i].maps[m]);
    }
    return CLV_OK;
}

/* Learns from all images how to convert their bands to RGB. */
static enum clv_status learn(struct clv_bands *bands, const struct clv_set *set, const struct clv_image_limits *limits,
                             const struct clv_progress *progress, struct clv_error *err)
{
    OWNED(band_samples_release) struct band_samples samples = {0};
    const struct clv_item *items = set->items;
    for (size_t i = 0; i < set->n_items; i++) {
        OWNED(raster_close) struct raster raster = {0};
        FAIL_IF(stop_requested(progress), CLV_ERR_INTERRUPTED, "interrupted");
        MUST(item_raster_open(&raster, &items[i], limits, err));
        MUST(band_samples_add(&samples, &raster, set->n_items, items[i].image, items[0].image, err));
        report_progress(progress, "reading bands", i + 1, set->n_items, items[i].image);
    }
    return bands_learn(bands, &samples, err);
}

enum clv_status band_images_learn(struct clv_recipe *recipe, struct clv_set *set, bool has_map,
                                  const struct clv_image_limits *limits, const struct clv_progress *progress,
                                  struct clv_error *err)
{
    const char *names = limits->band_files ? limits->band_files : "";
    FAIL_IF(strlen(names) >= sizeof recipe->bands.files, CLV_ERR_USAGE, "--bands: names of more than %zu bytes",
            sizeof recipe->bands.files - 1);
    MUST(learn(&recipe->bands, set, limits, progress, err));
    memcpy(recipe->bands.files, names, strlen(names) + 1);
    recipe->bands.scale = recipe->scale;
    if (has_map)
        MUST(band_images_give(set, recipe, err));
    report_message(
        progress, CLV_NOTE, "images of %s: colours are %s%s", n_of((size_t)recipe->bands.n_bands, "band", "bands").text,
        recipe->bands.n_bands == 1        ? "grey"
        : recipe->bands.weight[0][1] == 0 ? "the first three" /* the red channel has weight 0 for the second band */
                                          : "their principal components",
        has_map ? ", values are the map " BANDS_MAP : "");
    return CLV_OK;
}
