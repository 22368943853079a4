/* Applies the options of network maps (--maps, --maps-kind, --maps-pca, --maps-use). map_options_add adds the folders
 * of maps to a set, map_options_learn adds the maps to a recipe and learns their settings from the training images, and
 * map_options_check compares the folders of a later command with the recipe of a model. Start at map_options_learn. */
#include "intake/intake.h"

#include <string.h>

#include "base/base.h"
#include "cleave/train.h"
#include "feature/recipe/recipe.h"

enum clv_status map_options_add(struct clv_set *set, const struct clv_map_options *self, struct clv_error *err)
{
    for (size_t m = 0; m < self->n; m++)
        MUST(clv_set_add_maps(set, self->folders[m].name, self->folders[m].folder, err));
    return CLV_OK;
}

/* Returns the last value given for a name, or for all names. */
static int find_setting(const struct clv_map_settings *settings, const char *name)
{
    for (size_t k = settings->n; k > 0; k--)
        if (!settings->settings[k - 1].name[0] || strcmp(settings->settings[k - 1].name, name) == 0)
            return settings->settings[k - 1].value;
    return 0;
}

static enum clv_status check_settings(const struct clv_map_settings *settings, const char *option,
                                      const struct clv_set *set, struct clv_error *err)
{
    for (size_t k = 0; k < settings->n; k++) {
        const char *name = settings->settings[k].name;
        size_t m = 0;
        FAIL_IF(!set->n_maps && !*name, CLV_ERR_USAGE, "--%s: no maps; add --maps NAME=FOLDER", option);
        while (m < set->n_maps && *name && strcmp(name, set->map_names[m]) != 0)
            m++;
        FAIL_IF(m == set->n_maps, CLV_ERR_USAGE, "--%s: there is no map %s", option, name);
    }
    return CLV_OK;
}

static enum clv_status check_all_settings(const struct clv_map_options *self, const struct clv_set *set,
                                          struct clv_error *err)
{
    MUST(check_settings(&self->kinds, "maps-kind", set, err));
    MUST(check_settings(&self->components, "maps-pca", set, err));
    return check_settings(&self->uses, "maps-use", set, err);
}

static enum clv_status choose(struct clv_recipe *recipe, bool is_wanted, const struct clv_map_options *self,
                              const struct clv_set *set, struct clv_error *err)
{
    MUST(check_all_settings(self, set, err));
    FAIL_IF(recipe->blocks & CLV_BLOCK_MAPS && !set->n_maps, CLV_ERR_USAGE,
            "--blocks: the block maps needs --maps NAME=FOLDER or a column maps.NAME");
    if (!is_wanted || !set->n_maps)
        return CLV_OK;
    recipe->blocks |= CLV_BLOCK_MAPS;
    recipe->map_pool = CLV_MAP_MEAN;
    recipe->n_maps = (int32_t)set->n_maps;
    for (size_t m = 0; m < set->n_maps; m++) {
        struct clv_recipe_map *map = &recipe->maps[m];
        memcpy(map->name, set->map_names[m], sizeof map->name);
        map->kind = find_setting(&self->kinds, map->name);
        map->n_components = find_setting(&self->components, map->name);
        map->use = find_setting(&self->uses, map->name);
        if (recipe->bands.n_bands && strcmp(map->name, BANDS_MAP) == 0) {
            map->layout = CLV_MAP_LAYOUT_BANDS;
            map->kind = CLV_MAP_FEATURES;
            map->use = map->use ? map->use : CLV_MAP_USE_KEPT;
        }
    }
    return CLV_OK;
}

static void note_groups(const struct clv_recipe_map *map, const struct clv_progress *progress)
{
    if (map->n_groups > 1)
        report_message(progress, CLV_NOTE,
                       "maps %s: channels mean different things in %d groups of training images, as if the maps of "
                       "each group were made by another network; %s",
                       map->name, map->n_groups,
                       map->use == CLV_MAP_USE_IGNORED ? "these maps are ignored; --maps-use keep uses them"
                                                       : "they are used nevertheless; use maps of one network");
}

enum clv_status map_options_learn(struct clv_recipe *recipe, const struct clv_map_options *self, bool is_wanted,
                                  const struct clv_set *set, int n_threads, const struct clv_image_limits *limits,
                                  const struct clv_progress *progress, struct clv_error *err)
{
    bool is_guess[CLV_MAX_MAPS] = {false};
    MUST(choose(recipe, is_wanted, self, set, err));
    for (int32_t m = 0; m < recipe->n_maps; m++)
        is_guess[m] = recipe->maps[m].kind == CLV_MAP_GUESS;
    MUST(recipe_learn_maps(recipe, set, n_threads, limits, progress, err));
    for (int32_t m = 0; m < recipe->n_maps; m++) {
        note_groups(&recipe->maps[m], progress);
        if (is_guess[m])
            report_message(progress, CLV_NOTE, "maps %s: %s, read as %s; --maps-kind changes that",
                           recipe->maps[m].name, n_of((size_t)recipe->maps[m].n_channels, "channel", "channels").text,
                           map_kind_names[recipe->maps[m].kind]);
    }
    return CLV_OK;
}

enum clv_status map_options_check(const struct clv_map_options *self, const struct clv_recipe *recipe,
                                  const char (*columns)[CLV_MAX_MAP_NAME + 1], size_t n_columns, const char *path,
                                  struct clv_error *err)
{
    for (int32_t m = 0; m < recipe->n_maps; m++) {
        size_t k = 0, c = 0;
        if (recipe->maps[m].layout == CLV_MAP_LAYOUT_BANDS)
            continue;
        while (k < self->n && strcmp(self->folders[k].name, recipe->maps[m].name) != 0)
            k++;
        while (c < n_columns && strcmp(columns[c], recipe->maps[m].name) != 0)
            c++;
        FAIL_IF(k == self->n && c == n_columns, CLV_ERR_USAGE,
                "%s: learned with maps %s; give those of the images with --maps %s=FOLDER", path, recipe->maps[m].name,
                recipe->maps[m].name);
    }
    for (size_t k = 0; k < self->n; k++) {
        int32_t m = 0;
        while (m < recipe->n_maps && strcmp(self->folders[k].name, recipe->maps[m].name) != 0)
            m++;
        FAIL_IF(m == recipe->n_maps, CLV_ERR_USAGE, "--maps: %s was learned without maps \"%s\"; leave them out", path,
                self->folders[k].name);
    }
    return CLV_OK;
}
