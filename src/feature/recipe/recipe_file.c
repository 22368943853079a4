/* Writes recipes to feature files and models and reads them back: plain values and the list of maps as JSON; codebooks,
 * mixtures, and arrays of maps and bands as tensors. All values that are read are checked. Start at the table of values
 * and recipe_read. */
#include "feature/recipe/recipe.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "data/data.h"
#include "feature/blocks/blocks.h"
#include "feature/words/words.h"

/* Every plain value of a recipe, in the order of the file. */
static const struct {
    const char *name;
    size_t offset;
    enum {
        INTEGER,
        REAL,
        PER_SCALE,
        OF_PATCHES, /* an integer that only recipes with patches have */
        CHOICE,     /* an integer that is written unless it is 0, which is its value in older files */
        REAL_CHOICE /* the same for a float */
    } kind;
} fields[] = {
    {"working_pixels", offsetof(struct clv_recipe, working_pixels), INTEGER},
    {"n_superpixels", offsetof(struct clv_recipe, slic.n_superpixels), INTEGER},
    {"compactness", offsetof(struct clv_recipe, slic.compactness), REAL},
    {"n_iterations", offsetof(struct clv_recipe, slic.n_iterations), INTEGER},
    {"blocks", offsetof(struct clv_recipe, blocks), INTEGER},
    {"n_scales", offsetof(struct clv_recipe, n_scales), INTEGER},
    {"bin_size_px", offsetof(struct clv_recipe, bin_size_px), PER_SCALE},
    {"step_px", offsetof(struct clv_recipe, step_px), INTEGER},
    {"n_words", offsetof(struct clv_recipe, n_words), INTEGER},
    {"n_codebook_samples", offsetof(struct clv_recipe, n_codebook_samples), INTEGER},
    {"nodes", offsetof(struct clv_recipe, nodes), OF_PATCHES},
    {"patch_px", offsetof(struct clv_recipe, patch_px), OF_PATCHES},
    {"patch_step_px", offsetof(struct clv_recipe, patch_step_px), OF_PATCHES},
    {"sift", offsetof(struct clv_recipe, sift), CHOICE},
    {"kmeans", offsetof(struct clv_recipe, kmeans), CHOICE},
    {"word_search", offsetof(struct clv_recipe, word_search), CHOICE},
    {"kernel_map", offsetof(struct clv_recipe, kernel_map), CHOICE},
    {"map_pool", offsetof(struct clv_recipe, map_pool), CHOICE},
    {"scale", offsetof(struct clv_recipe, scale), REAL_CHOICE},
    {"region_area", offsetof(struct clv_recipe, region_area), CHOICE},
    {"tile_px", offsetof(struct clv_recipe, tile_px), CHOICE},
    {"halo_px", offsetof(struct clv_recipe, halo_px), CHOICE},
    {"contrast_scale", offsetof(struct clv_recipe, contrast_scale), REAL_CHOICE},
    {"grey16_low", offsetof(struct clv_recipe, grey16_low), CHOICE},
    {"grey16_high", offsetof(struct clv_recipe, grey16_high), CHOICE},
    {"window", offsetof(struct clv_recipe, window), CHOICE},
};
#define MAPS "maps" /* the JSON member that lists the maps */

#define N_FIELDS (sizeof fields / sizeof *fields)

const char *const map_kind_names[] = {"guess", "probabilities", "logits", "features", NULL};
static const char *const layouts[] = {"auto", "chw", "hwc", "bands"}; /* enum clv_map_layout */

static void put_maps(struct text *text, const struct clv_recipe *recipe)
{
    for (int32_t m = 0; m < recipe->n_maps; m++) {
        const struct clv_recipe_map *map = &recipe->maps[m];
        text_printf(text, "%s{\"name\":", m ? "," : ",\"" MAPS "\":[");
        text_put_json(text, map->name);
        text_printf(text, ",\"kind\":\"%s\",\"layout\":\"%s\",\"n_channels\":%d", map_kind_names[map->kind],
                    layouts[map->layout], map->n_channels);
        if (map->n_components)
            text_printf(text, ",\"n_components\":%d,\"is_whitened\":%d", map->n_components, map->is_whitened);
        if (map->n_groups > 1 || map->use)
            text_printf(text, ",\"n_groups\":%d,\"use\":%d", map->n_groups, map->use);
        if (map->contrast_scale > 0) {
            text_put(text, ",\"contrast_scale\":");
            text_put_json_number(text, (double)map->contrast_scale);
        }
        text_put(text, m + 1 == recipe->n_maps ? "}]" : "}");
    }
}

static bool is_choice(size_t i)
{
    return fields[i].kind == CHOICE || fields[i].kind == REAL_CHOICE;
}

void recipe_put_json(struct text *text, const struct clv_recipe *recipe)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        const char *at = (const char *)recipe + fields[i].offset;
        if (fields[i].kind == OF_PATCHES && recipe->nodes != CLV_NODES_PATCHES)
            continue;
        if (is_choice(i) && !memcmp(at, &(int32_t){0}, sizeof(int32_t)))
            continue;
        text_printf(text, "%s\"%s\":", i ? "," : "{", fields[i].name);
        switch (fields[i].kind) {
        case INTEGER:
        case OF_PATCHES:
        case CHOICE: text_printf(text, "%d", *(const int32_t *)at); break;
        case REAL:
        case REAL_CHOICE: text_put_json_number(text, (double)*(const float *)at); break;
        case PER_SCALE:
            for (int s = 0; s < CLV_MAX_SCALES; s++)
                text_printf(text, "%s%d", s ? "," : "[", ((const int32_t *)at)[s]);
            text_put(text, "]");
        }
    }
    put_maps(text, recipe);
    if (recipe->bands.n_bands) {
        text_printf(text, ",\"" RECIPE_BANDS "\":{\"n\":%d,\"files\":", recipe->bands.n_bands);
        text_put_json(text, recipe->bands.files);
        text_put(text, "}");
    }
    text_put(text, "}");
}

static const char *const codebook_names[CLV_MAX_SCALES] = {RECIPE_CODEBOOK_PREFIX "0", RECIPE_CODEBOOK_PREFIX "1",
                                                           RECIPE_CODEBOOK_PREFIX "2", RECIPE_CODEBOOK_PREFIX "3"};

static const char *const mixture_names[CLV_MAX_SCALES] = {RECIPE_MIXTURE_PREFIX "0", RECIPE_MIXTURE_PREFIX "1",
                                                          RECIPE_MIXTURE_PREFIX "2", RECIPE_MIXTURE_PREFIX "3"};

/* Tensors of a map: means and scales of features, components, and means and deviations among images. */
enum { STANDARD, COMPONENTS, USUAL, MAP_TENSORS };
#define OF_MAP(m)                                                                                                      \
    {                                                                                                                  \
        RECIPE_MAPS_PREFIX m, RECIPE_PCA_PREFIX m, RECIPE_USUAL_PREFIX m                                               \
    }
static const char *const map_tensors[CLV_MAX_MAPS][MAP_TENSORS] = {OF_MAP("0"), OF_MAP("1"), OF_MAP("2"), OF_MAP("3"),
                                                                   OF_MAP("4"), OF_MAP("5"), OF_MAP("6"), OF_MAP("7")};

/* Returns the address of one array of a map, and its shape; shape[0] is 0 if the map has none. */
static float **map_numbers(int64_t shape[2], struct clv_recipe_map *map, int which)
{
    bool is_feature = map->kind == CLV_MAP_FEATURES;
    shape[0] = which == COMPONENTS ? map->n_components : which == USUAL || is_feature ? 2 : 0;
    shape[1] = which == USUAL ? map_values(map) : map->n_channels;
    return which == STANDARD ? &map->standard : which == COMPONENTS ? &map->components : &map->usual;
}

/* All numbers of struct clv_bands are one tensor. */
#define BANDS_NUMBERS (6 * CLV_MAX_BANDS + 3)
_Static_assert(offsetof(struct clv_bands, offset) - offsetof(struct clv_bands, low) ==
                   6 * CLV_MAX_BANDS * sizeof(float),
               "they stand one behind the other");

size_t recipe_tensors(struct clv_tensor tensors[RECIPE_TENSORS], const struct clv_recipe *recipe)
{
    size_t n = 0;
    for (int32_t s = 0; has_words(recipe) && s < recipe->n_scales; s++)
        tensors[n++] = (struct clv_tensor){.name = codebook_names[s],
                                           .dtype = CLV_U8,
                                           .n_dimensions = 2,
                                           .shape = {recipe->codebooks[s].n_words, CLV_DESCRIPTOR_SIZE},
                                           .data = recipe->codebooks[s].centres};
    for (int32_t s = 0; recipe->blocks & CLV_BLOCK_FISHER && s < recipe->n_scales; s++)
        tensors[n++] = (struct clv_tensor){.name = mixture_names[s],
                                           .dtype = CLV_F32,
                                           .n_dimensions = 1,
                                           .shape = {CLV_MIXTURE_SIZE},
                                           .data = recipe->mixtures[s]};
    for (int32_t m = 0; m < recipe->n_maps; m++)
        for (int which = 0; which < MAP_TENSORS; which++) {
            struct clv_recipe_map map = recipe->maps[m];
            struct clv_tensor tensor = {.name = map_tensors[m][which], .dtype = CLV_F32, .n_dimensions = 2};
            tensor.data = *map_numbers(tensor.shape, &map, which);
            if (tensor.data && tensor.shape[0])
                tensors[n++] = tensor;
        }
    if (recipe->bands.n_bands)
        tensors[n++] = (struct clv_tensor){.name = RECIPE_BANDS,
                                           .dtype = CLV_F32,
                                           .n_dimensions = 1,
                                           .shape = {BANDS_NUMBERS},
                                           .data = recipe->bands.low};
    return n;
}

bool recipe_tensor_is_known(const char *name)
{
    static const char *const prefixes[] = {RECIPE_KEPT,        RECIPE_CODEBOOK_PREFIX, RECIPE_MIXTURE_PREFIX,
                                           RECIPE_MAPS_PREFIX, RECIPE_PCA_PREFIX,      RECIPE_USUAL_PREFIX,
                                           RECIPE_BANDS};
    for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++)
        if (strncmp(name, prefixes[k], strlen(prefixes[k])) == 0)
            return true;
    return false;
}

static bool get_int32(const struct json_value *value, int32_t *number)
{
    int64_t wide;
    if (!json_get_int64(value, &wide) || wide < INT32_MIN || wide > INT32_MAX)
        return false;
    *number = (int32_t)wide;
    return true;
}

static bool get_field(char *at, int kind, const struct json_value *value)
{
    size_t n;
    double real;
    switch (kind) {
    case INTEGER:
    case OF_PATCHES:
    case CHOICE: return get_int32(value, (int32_t *)at);
    case REAL:
    case REAL_CHOICE:
        if (!json_get_double(value, &real))
            return false;
        *(float *)at = (float)real;
        return true;
    default:
        if (!json_get_array(value, &n) || n != CLV_MAX_SCALES)
            return false;
        for (size_t s = 0; s < n; s++)
            if (!get_int32(json_element(value, s), (int32_t *)at + s))
                return false;
        return true;
    }
}

static bool is_field(const char *name)
{
    if (strcmp(name, MAPS) == 0 || strcmp(name, RECIPE_BANDS) == 0)
        return true;
    for (size_t i = 0; i < N_FIELDS; i++)
        if (strcmp(fields[i].name, name) == 0)
            return true;
    return false;
}

static enum clv_status read_fields(struct clv_recipe *recipe, const struct json_value *root, const char *name,
                                   struct clv_error *err)
{
    const struct json_value *value;
    for (const char *key = NULL; (key = json_next_member(&value, root, key));)
        if (!is_field(key))
            return fail(err, CLV_ERR_DATA, "%s: its recipe has a \"%s\" that this version does not know", name, key);
    for (size_t i = 0; i < N_FIELDS; i++) {
        value = json_member(root, fields[i].name);
        if (!value && fields[i].kind == OF_PATCHES && !json_member(root, "nodes"))
            continue;
        if (!value && is_choice(i))
            continue;
        FAIL_IF(!value, CLV_ERR_DATA, "%s: its recipe has no \"%s\"", name, fields[i].name);
        if (!get_field((char *)recipe + fields[i].offset, (int)fields[i].kind, value))
            return fail(err, CLV_ERR_DATA, "%s: \"%s\" of its recipe is of another type or out of range", name,
                        fields[i].name);
    }
    return CLV_OK;
}

static int find_word(const struct json_value *value, const char *const *words, int n)
{
    const char *word = "";
    int k = 0;
    json_get_text(value, &word);
    while (k < n && strcmp(words[k], word) != 0)
        k++;
    return k;
}

static bool get_optional(int32_t *number, const struct json_value *entry, const char *name)
{
    const struct json_value *value = json_member(entry, name);
    return !value || get_int32(value, number);
}

static enum clv_status read_maps(struct clv_recipe *recipe, const struct json_value *root, const char *name,
                                 struct clv_error *err)
{
    size_t n = 0;
    const struct json_value *list = json_member(root, MAPS);
    if (list && (!json_get_array(list, &n) || n < 1 || n > CLV_MAX_MAPS))
        return fail(err, CLV_ERR_DATA, "%s: \"" MAPS "\" of its recipe is not a list of 1 to %d", name, CLV_MAX_MAPS);
    for (size_t m = 0; m < n; m++) {
        const struct json_value *entry = json_element(list, m);
        struct clv_recipe_map *map = &recipe->maps[m];
        const char *map_name = "";
        json_get_text(json_member(entry, "name"), &map_name);
        map->kind = find_word(json_member(entry, "kind"), map_kind_names, 4);
        map->layout = find_word(json_member(entry, "layout"), layouts, 4);
        if (!*map_name || strlen(map_name) > CLV_MAX_MAP_NAME || map->kind < 1 || map->kind > 3 || map->layout > 3 ||
            !get_int32(json_member(entry, "n_channels"), &map->n_channels) || map->n_channels < 1)
            return fail(err, CLV_ERR_DATA, "%s: map %zu of its recipe lacks a name, kind, layout or n_channels", name,
                        m + 1);
        if (!get_optional(&map->n_components, entry, "n_components") ||
            !get_optional(&map->is_whitened, entry, "is_whitened") ||
            !get_optional(&map->n_groups, entry, "n_groups") || !get_optional(&map->use, entry, "use"))
            return fail(err, CLV_ERR_DATA, "%s: a count of map %zu of its recipe is not a number", name, m + 1);
        const struct json_value *contrast_scale = json_member(entry, "contrast_scale");
        if (contrast_scale && !get_field((char *)&map->contrast_scale, REAL, contrast_scale))
            return fail(err, CLV_ERR_DATA, "%s: the contrast scale of map %zu of its recipe is not a number", name,
                        m + 1);
        memcpy(map->name, map_name, strlen(map_name) + 1);
    }
    recipe->n_maps = (int32_t)n;
    return CLV_OK;
}

static enum clv_status read_map_tensor(struct clv_recipe_map *map, int which, const char *tensor_name,
                                       const struct clv_tensors *tensors, const char *name, struct clv_error *err)
{
    int64_t shape[2];
    float **numbers = map_numbers(shape, map, which);
    const struct clv_tensor *tensor;
    if (!shape[0] || (which == USUAL && !clv_tensors_find(tensors, tensor_name)))
        return CLV_OK;
    MUST(clv_tensors_require(&tensor, tensors, tensor_name, CLV_F32, 2, shape, err));
    *numbers = array_copy(tensor->data, (size_t)shape[0], (size_t)shape[1] * sizeof **numbers);
    NEED(*numbers);
    for (int64_t k = 0; k < shape[0] * shape[1]; k++)
        FAIL_IF(!isfinite((*numbers)[k]), CLV_ERR_DATA, "%s: \"%s\" holds %g", name, tensor_name,
                (double)(*numbers)[k]);
    return CLV_OK;
}

static enum clv_status read_map_tensors(struct clv_recipe *recipe, const struct clv_tensors *tensors, const char *name,
                                        struct clv_error *err)
{
    for (int32_t m = 0; m < recipe->n_maps; m++)
        for (int which = 0; which < MAP_TENSORS; which++)
            MUST(read_map_tensor(&recipe->maps[m], which, map_tensors[m][which], tensors, name, err));
    return CLV_OK;
}

static enum clv_status read_codebooks(struct clv_recipe *recipe, const struct clv_tensors *tensors,
                                      struct clv_error *err)
{
    for (int32_t s = 0; has_words(recipe) && s < recipe->n_scales; s++) {
        const struct clv_tensor *tensor;
        int64_t shape[] = {recipe->n_words, CLV_DESCRIPTOR_SIZE};
        MUST(clv_tensors_require(&tensor, tensors, codebook_names[s], CLV_U8, 2, shape, err));
        recipe->codebooks[s].n_words = recipe->n_words;
        recipe->codebooks[s].centres = array_copy(tensor->data, (size_t)recipe->n_words, CLV_DESCRIPTOR_SIZE);
        NEED(recipe->codebooks[s].centres);
    }
    return CLV_OK;
}

static enum clv_status read_mixtures(struct clv_recipe *recipe, const struct clv_tensors *tensors, const char *name,
                                     struct clv_error *err)
{
    for (int32_t s = 0; recipe->blocks & CLV_BLOCK_FISHER && s < recipe->n_scales; s++) {
        const struct clv_tensor *tensor;
        int64_t shape[] = {CLV_MIXTURE_SIZE};
        MUST(clv_tensors_require(&tensor, tensors, mixture_names[s], CLV_F32, 1, shape, err));
        recipe->mixtures[s] = array_copy(tensor->data, CLV_MIXTURE_SIZE, sizeof *recipe->mixtures[s]);
        NEED(recipe->mixtures[s]);
        FAIL_IF(!mixture_is_sound(recipe->mixtures[s]), CLV_ERR_DATA,
                "%s: \"%s\" is not a mixture: a weight or variance is out of range", name, mixture_names[s]);
    }
    return CLV_OK;
}

static enum clv_status read_bands(struct clv_recipe *recipe, const struct json_value *root,
                                  const struct clv_tensors *tensors, const char *name, struct clv_error *err)
{
    const struct json_value *entry = json_member(root, RECIPE_BANDS);
    const struct clv_tensor *tensor;
    const int64_t shape[] = {BANDS_NUMBERS};
    const char *files = "";
    struct clv_bands *bands = &recipe->bands;
    if (!entry)
        return CLV_OK;
    json_get_text(json_member(entry, "files"), &files);
    if (!get_int32(json_member(entry, "n"), &bands->n_bands) || bands->n_bands < 1 || bands->n_bands > CLV_MAX_BANDS ||
        strlen(files) >= sizeof bands->files)
        return fail(err, CLV_ERR_DATA, "%s: \"" RECIPE_BANDS "\" of its recipe are not 1 to %d", name, CLV_MAX_BANDS);
    memcpy(bands->files, files, strlen(files) + 1);
    MUST(clv_tensors_require(&tensor, tensors, RECIPE_BANDS, CLV_F32, 1, shape, err));
    memcpy((char *)bands + offsetof(struct clv_bands, low), tensor->data, BANDS_NUMBERS * sizeof(float));
    bands->scale = recipe->scale;
    for (int k = 0; k < BANDS_NUMBERS; k++)
        if (!isfinite(((const float *)tensor->data)[k]))
            return fail(err, CLV_ERR_DATA, "%s: \"" RECIPE_BANDS "\" holds what is not a number", name);
    return CLV_OK;
}

/* Checks the values of a recipe as extraction does, but reports a failure as CLV_ERR_DATA of the file. */
static enum clv_status check_values(const struct clv_recipe *recipe, const char *name, struct clv_error *err)
{
    return recipe_check(recipe, false, err) == CLV_OK ? CLV_OK : fail_within(err, CLV_ERR_DATA, name);
}

enum clv_status recipe_read(struct clv_recipe *recipe, const char *json, const struct clv_tensors *tensors,
                            const char *name, struct clv_error *err)
{
    OWNED(clv_recipe_release) struct clv_recipe result = {0};
    OWNED(json_drop) struct json_value *root = NULL;
    MUST(json_parse(&root, json, strlen(json), name, err));
    clv_recipe_init(&result);
    MUST(read_fields(&result, root, name, err));
    MUST(read_maps(&result, root, name, err));
    MUST(check_values(&result, name, err));
    FAIL_IF(clv_tensors_find(tensors, RECIPE_KEPT), CLV_ERR_DATA,
            "%s: an earlier version wrote it without some features; train it again", name);
    MUST(read_codebooks(&result, tensors, err));
    MUST(read_mixtures(&result, tensors, name, err));
    MUST(read_map_tensors(&result, tensors, name, err));
    MUST(read_bands(&result, root, tensors, name, err));
    *recipe = TAKE(result);
    return CLV_OK;
}
