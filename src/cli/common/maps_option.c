#include "cli/common/maps_option.h"

#include <string.h>

#include "base/error.h"
#include "cli/common/console.h"

static const char *const kinds[] = {"guess", "probabilities", "logits", "features"}; /* enum clv_map_kind */
static const char *const uses[] = {"auto", "keep", "ignore"};                        /* enum clv_map_use */

/* Copies what stands before the "=" of arg; *rest is what stands behind it, or all of arg where there is none. */
static error_t take_name(char name[CLV_MAX_MAP_NAME + 1], const char **rest, const char *option, const char *arg,
                         struct common_options *common)
{
    const char *end = strchr(arg, '=');
    size_t length = end ? (size_t)(end - arg) : 0;
    if (length > CLV_MAX_MAP_NAME)
        return option_error(common, "%s: \"%.60s\": a map's name has at most %d bytes", option, arg, CLV_MAX_MAP_NAME);
    memcpy(name, arg, length);
    name[length] = 0;
    *rest = end ? end + 1 : arg;
    return 0;
}

error_t option_maps(struct maps_option *self, const char *arg, struct common_options *common)
{
    struct maps_folder folder = {0};
    error_t failed = take_name(folder.name, &folder.folder, "--maps", arg, common);
    if (failed)
        return failed;
    if (!folder.name[0] || !*folder.folder)
        return option_error(common, "--maps: \"%.60s\" is not NAME=FOLDER", arg);
    for (size_t m = 0; m < self->n; m++)
        if (strcmp(self->folders[m].name, folder.name) == 0)
            return option_error(common, "--maps: \"%s\" is given twice", folder.name);
    if (self->n == CLV_MAX_MAPS)
        return option_error(common, "--maps: more than %d", CLV_MAX_MAPS);
    self->folders[self->n++] = folder;
    return 0;
}

/* [NAME=]CHOICE or, without choices, [NAME=]NUMBER. */
static error_t take_word(struct maps_words *words, const char *option, const char *arg, const char *const *choices,
                         size_t n_choices, struct common_options *common)
{
    struct maps_word word;
    const char *rest = arg;
    error_t failed = take_name(word.name, &rest, option, arg, common);
    if (!failed)
        failed = choices ? option_choice(&word.value, option, rest, choices, n_choices, common)
                         : option_int(&word.value, option, rest, 1, CLV_MAX_PCA_CHANNELS, common);
    if (failed)
        return failed;
    if (words->n > CLV_MAX_MAPS)
        return option_error(common, "%s: given more than %d times", option, CLV_MAX_MAPS + 1);
    words->said[words->n++] = word;
    return 0;
}

error_t option_maps_kind(struct maps_option *self, const char *arg, struct common_options *common)
{
    return take_word(&self->kinds, "--maps-kind", arg, kinds, 4, common);
}

error_t option_maps_pca(struct maps_option *self, const char *arg, struct common_options *common)
{
    return take_word(&self->components, "--maps-pca", arg, NULL, 0, common);
}

error_t option_maps_use(struct maps_option *self, const char *arg, struct common_options *common)
{
    return take_word(&self->uses, "--maps-use", arg, uses, 3, common);
}

enum clv_status maps_option_add(struct clv_set *set, const struct maps_option *self, const struct outputs *outputs,
                                struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    for (size_t m = 0; m < self->n && status == CLV_OK; m++) {
        status = outputs_spare(outputs, self->folders[m].folder, err);
        if (status == CLV_OK)
            status = clv_set_add_maps(set, self->folders[m].name, self->folders[m].folder, err);
    }
    return status;
}

/* The last word that is said of a name, or of all. */
static int find_word(const struct maps_words *words, const char *name)
{
    for (size_t k = words->n; k > 0; k--)
        if (!words->said[k - 1].name[0] || strcmp(words->said[k - 1].name, name) == 0)
            return words->said[k - 1].value;
    return 0;
}

static enum clv_status check_words(const struct maps_words *words, const char *option, const struct clv_set *set,
                                   struct clv_error *err)
{
    for (size_t k = 0; k < words->n; k++) {
        const char *name = words->said[k].name;
        size_t m = 0;
        while (m < set->n_maps && name[0] && strcmp(name, set->map_names[m]) != 0)
            m++;
        if (m == set->n_maps)
            return fail(err, CLV_ERR_USAGE, "%s: there is no map %s", option, name);
    }
    return CLV_OK;
}

static enum clv_status check_all_words(const struct maps_option *self, const struct clv_set *set, struct clv_error *err)
{
    enum clv_status status = check_words(&self->kinds, "--maps-kind", set, err);
    if (status == CLV_OK)
        status = check_words(&self->components, "--maps-pca", set, err);
    if (status == CLV_OK)
        status = check_words(&self->uses, "--maps-use", set, err);
    return status;
}

enum clv_status maps_option_choose(struct clv_recipe *recipe, bool is_wanted, const struct maps_option *self,
                                   const struct clv_set *set, struct clv_error *err)
{
    enum clv_status status = check_all_words(self, set, err);
    if (status != CLV_OK)
        return status;
    if (!is_wanted && self->n)
        return fail(err, CLV_ERR_USAGE, "--maps: --blocks leaves them out; name the block maps as well");
    if (recipe->blocks & CLV_BLOCK_MAPS && !set->n_maps)
        return fail(err, CLV_ERR_USAGE, "--blocks: the block maps needs --maps NAME=FOLDER or a column maps.NAME");
    if (!is_wanted || !set->n_maps)
        return CLV_OK;
    recipe->blocks |= CLV_BLOCK_MAPS;
    recipe->map_pool = CLV_MAP_MEAN;
    recipe->n_maps = (int32_t)set->n_maps;
    for (size_t m = 0; m < set->n_maps; m++) {
        struct clv_recipe_map *map = &recipe->maps[m];
        memcpy(map->name, set->map_names[m], sizeof map->name);
        map->kind = find_word(&self->kinds, map->name);
        map->n_components = find_word(&self->components, map->name);
        map->use = find_word(&self->uses, map->name);
    }
    return CLV_OK;
}

static void note_groups(const struct clv_recipe_map *map)
{
    if (map->n_groups > 1)
        console_note("maps %s: training images fall into %d groups; in each the channels tell figure from ground in "
                     "another way, as if by another network, so what they say of one group does not hold of other "
                     "images; %s",
                     map->name, map->n_groups,
                     map->use == CLV_MAP_USE_IGNORED ? "these maps are ignored (--maps-use keep uses them all the same)"
                                                     : "they are used all the same");
}

enum clv_status maps_option_learn(struct clv_recipe *recipe, const struct clv_set *set,
                                  const struct common_options *common, const struct clv_progress *progress,
                                  struct clv_error *err)
{
    bool is_guess[CLV_MAX_MAPS] = {false};
    for (int32_t m = 0; m < recipe->n_maps; m++)
        is_guess[m] = recipe->maps[m].kind == CLV_MAP_GUESS;
    enum clv_status status = clv_recipe_learn_maps(recipe, set, common->n_threads, &common->limits, progress, err);
    for (int32_t m = 0; m < recipe->n_maps && status == CLV_OK; m++) {
        note_groups(&recipe->maps[m]);
        if (is_guess[m])
            console_note("maps %s: %d channel%s, taken for %s; --maps-kind tells otherwise", recipe->maps[m].name,
                         recipe->maps[m].n_channels, recipe->maps[m].n_channels == 1 ? "" : "s",
                         kinds[recipe->maps[m].kind]);
    }
    return status;
}

enum clv_status maps_option_check(const struct maps_option *self, const struct clv_recipe *recipe,
                                  const char (*columns)[CLV_MAX_MAP_NAME + 1], size_t n_columns, const char *path,
                                  struct clv_error *err)
{
    for (int32_t m = 0; m < recipe->n_maps; m++) {
        size_t k = 0, c = 0;
        while (k < self->n && strcmp(self->folders[k].name, recipe->maps[m].name) != 0)
            k++;
        while (c < n_columns && strcmp(columns[c], recipe->maps[m].name) != 0)
            c++;
        if (k == self->n && c == n_columns)
            return fail(err, CLV_ERR_USAGE,
                        "%s: learned with maps %s; --maps %s=FOLDER tells where those of the images are", path,
                        recipe->maps[m].name, recipe->maps[m].name);
    }
    for (size_t k = 0; k < self->n; k++) {
        int32_t m = 0;
        while (m < recipe->n_maps && strcmp(self->folders[k].name, recipe->maps[m].name) != 0)
            m++;
        if (m == recipe->n_maps)
            return fail(err, CLV_ERR_USAGE, "--maps: %s was learned without maps \"%s\"", path, self->folders[k].name);
    }
    return CLV_OK;
}
