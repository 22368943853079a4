/* Opens the shards of a feature file, or several feature files, as one dataset, after checking that they belong
 * together and follow each other. Start at open_shards. */
#include "feature/dataset/dataset.h"

#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "cluster/shard.h"
#include "data/data.h"
#include "feature/recipe/recipe.h"

/* The whole number at *text, digits alone and at most `maximum`; *text stands behind it. False: there is none. */
static bool take_number(size_t *value, const char **text, size_t maximum)
{
    const char *digits = *text;
    for (*value = 0; **text >= '0' && **text <= '9' && *value <= maximum; ++*text)
        *value = 10 * *value + (size_t)(**text - '0');
    return *text > digits && *value <= maximum;
}

static bool take_word(const char **text, const char *word)
{
    size_t size = strlen(word);
    bool is_there = strncmp(*text, word, size) == 0;
    *text += is_there ? size : 0;
    return is_there;
}

/* "2/3 of 40" in a file's metadata: shard 2 of 3 of a set of 40 images. */
static bool parse_place(struct clv_shard *shard, size_t *total, const struct clv_dataset *part)
{
    const char *text = clv_tensors_metadata(part->file.tensors, FEATURES_SHARD);
    size_t number, count;
    if (!text || !take_number(&number, &text, SHARD_MAX) || !take_word(&text, "/") ||
        !take_number(&count, &text, SHARD_MAX) || !take_word(&text, " of ") || !take_number(total, &text, INT32_MAX) ||
        *text || number < 1 || number > count)
        return false;
    *shard = (struct clv_shard){(int32_t)number, (int32_t)count};
    return true;
}

/* The set that the next file is a shard of: its shards, those that were there, and its images, 0 until the first file
 * names it. */
struct place {
    size_t n_shards, n_opened, total;
};

/* Checks that a file is the shard that belongs here. */
static enum clv_status check_place(struct place *place, const struct clv_dataset *part, const char *path,
                                   struct clv_error *err)
{
    struct clv_shard shard;
    size_t said, first, n, expected = ++place->n_opened;
    FAIL_IF(!parse_place(&shard, &said, part), CLV_ERR_DATA, "%s: not a shard that `cleave features --shard' wrote",
            path);
    FAIL_IF((size_t)shard.count != place->n_shards || (size_t)shard.number != expected, CLV_ERR_DATA,
            "%s: is shard %d of %d, where shard %zu of %zu belongs", path, shard.number, shard.count, expected,
            place->n_shards);
    shard_block(&first, &n, &shard, said);
    FAIL_IF(n != part->n || (place->total && said != place->total), CLV_ERR_DATA,
            "%s: has %zu of %zu images, not those of shard %d of %d of the same set", path, part->n, said, shard.number,
            shard.count);
    place->total = said;
    return CLV_OK;
}

/* Checks the next file of a list in which whole files and all shards of a set may follow each other. */
static enum clv_status check_turn(struct place *place, const struct clv_dataset *part, const char *path,
                                  struct clv_error *err)
{
    struct clv_shard shard;
    size_t total;
    bool is_between = place->n_opened == place->n_shards, is_shard = parse_place(&shard, &total, part);
    if (is_between && !is_shard)
        return CLV_OK;
    if (is_between)
        *place = (struct place){.n_shards = (size_t)shard.count};
    return check_place(place, part, path, err);
}

static bool is_per_shard(const char *key)
{
    return strcmp(key, "names") == 0 || strcmp(key, FEATURES_SHARD) == 0;
}

/* Tensors that are not about single images. */
static bool is_shared(const char *name)
{
    return strcmp(name, "palette") == 0 || recipe_tensor_is_known(name);
}

static size_t count_shared(const struct clv_tensors *tensors)
{
    size_t n = 0;
    for (size_t i = 0; i < clv_tensors_metadata_count(tensors); i++)
        n += !is_per_shard(clv_tensors_metadata_key(tensors, i));
    return n;
}

/* Labels, recipe and kinds of arrays must be the first shard's. */
static enum clv_status check_alike(const struct clv_tensors *a, const struct clv_tensors *b, const char *first,
                                   const char *path, struct clv_error *err)
{
    bool same = count_shared(a) == count_shared(b);
    const char *differs = "its metadata";
    for (size_t i = 0; same && i < clv_tensors_metadata_count(a); i++) {
        const char *key = clv_tensors_metadata_key(a, i), *value = clv_tensors_metadata(b, key);
        same = is_per_shard(key) || (value && strcmp(clv_tensors_metadata(a, key), value) == 0);
        differs = key;
    }
    if (same)
        same = clv_tensors_count(a) == clv_tensors_count(b);
    for (size_t i = 0; same && i < clv_tensors_count(a); i++) {
        const struct clv_tensor *of_a = clv_tensors_at(a, i), *of_b = clv_tensors_find(b, of_a->name);
        size_t size = 0, other = 0;
        tensor_bytes(&size, of_a);
        same = of_b && of_b->dtype == of_a->dtype && of_b->n_dimensions == of_a->n_dimensions &&
               (of_a->n_dimensions < 2 || of_a->shape[1] == of_b->shape[1]) && tensor_bytes(&other, of_b) &&
               (!is_shared(of_a->name) || (size == other && memcmp(of_a->data, of_b->data, size) == 0));
        differs = of_a->name;
    }
    return same ? CLV_OK
                : fail(err, CLV_ERR_DATA, "%s: its recipe or labels are not those of %s (%s differs)", path, first,
                       differs);
}

/* The whole's items are views of the parts'. */
static enum clv_status join_items(struct clv_dataset *whole, struct clv_error *err)
{
    size_t n = 0;
    for (size_t k = 0; k < whole->n_parts; k++)
        n += whole->parts[k]->n;
    whole->items = array_alloc(n, sizeof *whole->items);
    NEED(whole->items);
    whole->capacity = n;
    for (size_t k = 0; k < whole->n_parts; k++) {
        const struct clv_dataset *part = whole->parts[k];
        whole->file.is_apart = part->file.is_apart;
        whole->file.graph = part->file.graph > whole->file.graph ? part->file.graph : whole->file.graph;
        memcpy(whole->items + whole->n, part->items, part->n * sizeof *part->items);
        whole->n += part->n;
    }
    return CLV_OK;
}

/* Opens all shards of one set; or any whole sets, one after the other. */
static enum clv_status open_shards(struct clv_dataset **dataset, struct clv_recipe *recipe,
                                   const struct path_list *shards, bool is_one_set, bool is_apart,
                                   struct clv_error *err)
{
    struct place place = {.n_shards = is_one_set ? shards->n : 0};
    OWNED(clv_recipe_release) struct clv_recipe own = {0};
    OWNED(dataset_drop) struct clv_dataset *result = array_zalloc(1, sizeof *result);
    *dataset = NULL;
    NEED(result);
    result->parts = array_zalloc(shards->n, sizeof *result->parts);
    if (!is_apart)
        result->file.looked_at = array_zalloc(1, sizeof *result->file.looked_at);
    NEED(result->parts && (is_apart || result->file.looked_at));
    for (size_t k = 0; k < shards->n; k++) {
        const char *path = shards->paths[k];
        struct clv_dataset **part = &result->parts[k];
        MUST(features_open_file(part, k ? NULL : &own, path, is_apart, err));
        result->n_parts++;
        MUST(is_one_set ? check_place(&place, *part, path, err) : check_turn(&place, *part, path, err));
        if (k)
            MUST(check_alike(result->parts[0]->file.tensors, (*part)->file.tensors, shards->paths[0], path, err));
    }
    FAIL_IF(place.n_opened < place.n_shards, CLV_ERR_DATA, "%s: is shard %zu of %zu, and the next one does not follow",
            shards->paths[shards->n - 1], place.n_opened, place.n_shards);
    MUST(join_items(result, err));
    const struct clv_dataset *first = result->parts[0];
    if (first->labels.n_labels)
        MUST(clv_labels_copy(&result->labels, &first->labels, err));
    result->n_labels = first->n_labels;
    result->n_features = first->n_features;
    result->n_edge_features = first->n_edge_features;
    result->pairwise = first->pairwise;
    result->counts_errors = first->counts_errors;
    *dataset = TAKE(result);
    if (recipe && clv_recipe_n_features(&own) > 0 && own.n_scales > 0)
        *recipe = TAKE(own);
    return CLV_OK;
}

static enum clv_status open_any(struct clv_dataset **dataset, struct clv_recipe *recipe, const char *path,
                                bool is_apart, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list shards = {0};
    *dataset = NULL;
    if (!features_is_sharded(path))
        return features_open_file(dataset, recipe, path, is_apart, err);
    MUST(features_list_shards(&shards, path, err));
    return open_shards(dataset, recipe, &shards, true, is_apart, err);
}

enum clv_status clv_features_open(struct clv_dataset **dataset, struct clv_recipe *recipe, const char *path,
                                  struct clv_error *err)
{
    return open_any(dataset, recipe, path, false, err);
}

enum clv_status features_open_on_demand(struct clv_dataset **dataset, struct clv_recipe *recipe, const char *path,
                                        double memory, struct clv_error *err)
{
    OWNED(clv_recipe_release) struct clv_recipe own = {0};
    OWNED(dataset_drop) struct clv_dataset *result = NULL;
    *dataset = NULL;
    MUST(open_any(&result, recipe ? &own : NULL, path, true, err));
    MUST(feature_cache_new(&result->cache, result->n, memory, err));
    *dataset = TAKE(result);
    if (recipe && own.n_scales > 0)
        *recipe = TAKE(own);
    return CLV_OK;
}

/* Refuses a file that is listed twice, by whatever names and links. */
static enum clv_status check_once(const struct path_list *files, struct clv_error *err)
{
    OWNED_ARRAY struct stat *infos = array_zalloc(files->n, sizeof *infos);
    NEED(infos);
    for (size_t i = 0; i < files->n; i++) {
        if (stat(files->paths[i], &infos[i]))
            return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot open", files->paths[i]);
        for (size_t k = 0; k < i; k++)
            FAIL_IF(infos[k].st_dev == infos[i].st_dev && infos[k].st_ino == infos[i].st_ino, CLV_ERR_DATA,
                    "%s: comes twice", files->paths[i]);
    }
    return CLV_OK;
}

enum clv_status features_open_list(struct clv_dataset **dataset, struct clv_recipe *recipe,
                                   const struct path_list *paths, double memory, struct clv_error *err)
{
    *dataset = NULL;
    if (paths->n == 1)
        return memory > 0 ? features_open_on_demand(dataset, recipe, paths->paths[0], memory, err)
                          : clv_features_open(dataset, recipe, paths->paths[0], err);
    OWNED(path_list_release) struct path_list files = {0};
    OWNED(clv_recipe_release) struct clv_recipe own = {0};
    OWNED(dataset_drop) struct clv_dataset *result = NULL;
    MUST(features_list_files(&files, paths, err));
    MUST(check_once(&files, err));
    MUST(open_shards(&result, recipe ? &own : NULL, &files, false, memory > 0, err));
    if (memory > 0)
        MUST(feature_cache_new(&result->cache, result->n, memory, err));
    *dataset = TAKE(result);
    if (recipe && own.n_scales > 0)
        *recipe = TAKE(own);
    return CLV_OK;
}

enum clv_status features_index_write(const char *path, const struct path_list *shards, struct clv_error *err)
{
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    OWNED(text_release) struct text text = {0};
    MUST(open_shards(&dataset, NULL, shards, true, false, err));
    text_init(&text, FEATURES_INDEX_MAX_SIZE);
    text_printf(&text, FEATURES_INDEX_HEAD ",\"images\":%zu},\"shards\":[", dataset->n);
    for (size_t k = 0; k < shards->n; k++) {
        text_put(&text, k ? ",\n" : "\n");
        text_put_json(&text, path_name(shards->paths[k]));
    }
    text_put(&text, "]}\n");
    NEED(!text.failed);
    return file_write(path, text.bytes, text.size, err);
}
