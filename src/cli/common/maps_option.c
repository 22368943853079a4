#include "cli/common/maps_option.h"

#include <string.h>

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

error_t option_maps(struct clv_map_options *self, const char *arg, struct common_options *common)
{
    struct clv_map_folder folder = {0};
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
static error_t take_word(struct clv_map_words *words, const char *option, const char *arg, const char *const *choices,
                         size_t n_choices, struct common_options *common)
{
    struct clv_map_word word;
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

error_t option_maps_kind(struct clv_map_options *self, const char *arg, struct common_options *common)
{
    return take_word(&self->kinds, "--maps-kind", arg, kinds, 4, common);
}

error_t option_maps_pca(struct clv_map_options *self, const char *arg, struct common_options *common)
{
    return take_word(&self->components, "--maps-pca", arg, NULL, 0, common);
}

error_t option_maps_use(struct clv_map_options *self, const char *arg, struct common_options *common)
{
    return take_word(&self->uses, "--maps-use", arg, uses, 3, common);
}
