/* Reads the network maps of an input, from the folders of --maps or the columns of the set. Start at
 * input_maps_read. */
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "data/maps/maps.h"
#include "feature/dataset/dataset.h"
#include "feature/recipe/recipe.h"
#include "intake/intake.h"

/* Finds the input's map of a name: *path, NULL if neither the folders of --maps nor the columns of the set have it. */
static enum clv_status find(char **path, const char *name, const struct input *input, const struct batch *run,
                            struct clv_error *err)
{
    const struct clv_map_options *option = &run->options.maps;
    *path = NULL;
    for (size_t k = 0; k < option->n; k++)
        if (strcmp(option->folders[k].name, name) == 0)
            return map_find(path, option->folders[k].folder, input->name, err);
    if (run->model->recipe.bands.n_bands && strcmp(name, BANDS_MAP) == 0 && input->image)
        *path = string_copy(input->image);
    for (size_t c = 0; c < run->inputs.n_maps && !*path; c++)
        if (strcmp(run->inputs.map_names[c], name) == 0 && input->maps[c])
            *path = string_copy(input->maps[c]);
    return CLV_OK;
}

/* A set with an input as its only item, with the maps of the recipe. */
struct single_set {
    struct clv_set set;
    struct clv_item item;
};

static void single_set_release(struct single_set *self)
{
    for (size_t m = 0; m < self->set.n_maps; m++)
        array_free(self->item.maps[m]);
}

static enum clv_status find_all(struct single_set *self, const struct input *input, const struct batch *run,
                                struct clv_error *err)
{
    const struct clv_recipe *recipe = &run->model->recipe;
    *self = (struct single_set){.item = {.name = input->name}};
    self->set = (struct clv_set){.items = &self->item, .n_items = 1, .n_maps = (size_t)recipe->n_maps};
    for (int32_t m = 0; m < recipe->n_maps; m++) {
        memcpy(self->set.map_names[m], recipe->maps[m].name, sizeof self->set.map_names[m]);
        MUST(find(&self->item.maps[m], recipe->maps[m].name, input, run, err));
    }
    return CLV_OK;
}

double input_maps_memory(const struct input *input, const struct batch *run)
{
    OWNED(single_set_release) struct single_set single = {.item = {.name = NULL}};
    struct clv_error ignored; /* ignored: reported when the maps are read */
    const struct clv_recipe *recipe = &run->model->recipe;
    bool is_found = find_all(&single, input, run, &ignored) == CLV_OK;
    return is_found ? item_maps_memory(recipe, &single.set, &single.item, &run->options.limits) : 0;
}

enum clv_status input_maps_read(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    const struct clv_recipe *recipe = &run->model->recipe;
    OWNED(single_set_release) struct single_set single = {.item = {.name = NULL}};
    MUST(find_all(&single, item->input, run, err));
    MUST(item_maps_open(&item->maps, recipe, &single.set, &single.item, &run->options.limits, err));
    if (!item->maps)
        return CLV_OK;
    NEED(item->map_means = array_alloc(map_drift_size(recipe), sizeof *item->map_means));
    return map_drift_means(item->map_means, item->maps, recipe, err);
}
