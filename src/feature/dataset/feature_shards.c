#include "feature/dataset/feature_shards.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/shard.h"
#include "base/text.h"
#include "data/safetensors.h"
#include "feature/dataset/dataset.h"
#include "feature/dataset/demand.h"
#include "feature/dataset/features_format.h"
#include "feature/dataset/features_read.h"
#include "feature/recipe/recipe_file.h"

#define INDEX_MAX_SIZE ((size_t)64 << 20)

static bool is_index(const char *path)
{
    char head[sizeof FEATURES_INDEX_HEAD] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, head, sizeof head - 1);
    close(fd);
    return n == (ssize_t)sizeof head - 1 && strcmp(head, FEATURES_INDEX_HEAD) == 0;
}

static bool is_shard_name(const char *name)
{
    static const char form[] = "-#####-of-#####.safetensors";
    size_t length = strlen(name), n = sizeof form - 1;
    bool fits = length > n;
    for (size_t i = 0; i < n && fits; i++) {
        char c = name[length - n + i];
        fits = form[i] == '#' ? c >= '0' && c <= '9' : c == form[i];
    }
    return fits;
}

/* A look that ends at the first file of another kind: folders of images may be long. */
static bool is_folder_of_shards(const char *path)
{
    DIR *stream = opendir(path);
    bool has_shard = false, has_others = !stream;
    for (const struct dirent *entry; !has_others && (entry = readdir(stream));) {
        bool is_shard = is_shard_name(entry->d_name);
        has_shard |= is_shard;
        has_others = !is_shard && entry->d_name[0] != '.' && !text_ends_with(entry->d_name, ".safetensors.index.json");
    }
    if (stream)
        closedir(stream);
    return has_shard && !has_others;
}

bool features_is_sharded(const char *path)
{
    return path_is_folder(path) ? is_folder_of_shards(path) : is_index(path);
}

static enum clv_status list_folder(struct path_list *shards, const char *folder, struct clv_error *err)
{
    struct path_list files = {0};
    *shards = (struct path_list){0};
    enum clv_status status = folder_walk(&files, folder, err);
    for (size_t i = 0; i < files.n && status == CLV_OK; i++) {
        char *path = path_join(folder, files.paths[i]);
        if (!path)
            status = fail_memory(err);
        else if (is_shard_name(path))
            status = path_list_add(shards, path, err);
        array_free(path);
    }
    if (status != CLV_OK)
        path_list_release(shards);
    path_list_release(&files);
    return status;
}

static enum clv_status read_index(struct path_list *shards, const char *path, struct clv_error *err)
{
    char *bytes = NULL, *folder = path_folder(path);
    size_t size, n = 0;
    struct json_value *root = NULL;
    *shards = (struct path_list){0};
    enum clv_status status = folder ? file_read(&bytes, &size, path, INDEX_MAX_SIZE, err) : fail_memory(err);
    if (status == CLV_OK)
        status = json_parse(&root, bytes, size, path, err);
    const struct json_value *list = status == CLV_OK ? json_member(root, "shards") : NULL;
    if (status == CLV_OK && (!json_get_array(list, &n) || n < 1 || n > SHARD_MAX))
        status = fail(err, CLV_ERR_DATA, "%s: its \"shards\" are no list of 1 to %d files", path, SHARD_MAX);
    for (size_t i = 0; i < n && status == CLV_OK; i++) {
        const char *name;
        if (!json_get_text(json_element(list, i), &name) || !*name || strchr(name, '/')) {
            status = fail(err, CLV_ERR_DATA, "%s: shard %zu is no name of a file beside it", path, i + 1);
            break;
        }
        char *joined = path_join(folder, name);
        status = joined ? path_list_add(shards, joined, err) : fail_memory(err);
        array_free(joined);
    }
    json_root_free(root);
    array_free(bytes);
    array_free(folder);
    if (status != CLV_OK)
        path_list_release(shards);
    return status;
}

enum clv_status features_list_shards(struct path_list *shards, const char *path, struct clv_error *err)
{
    return path_is_folder(path) ? list_folder(shards, path, err) : read_index(shards, path, err);
}

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
static bool parse_place(struct shard *shard, size_t *total, const struct clv_dataset *part)
{
    const char *text = clv_tensors_metadata(part->file.tensors, FEATURES_SHARD);
    size_t number, count;
    if (!text || !take_number(&number, &text, SHARD_MAX) || !take_word(&text, "/") ||
        !take_number(&count, &text, SHARD_MAX) || !take_word(&text, " of ") || !take_number(total, &text, INT32_MAX) ||
        *text || number < 1 || number > count)
        return false;
    *shard = (struct shard){(int32_t)number, (int32_t)count};
    return true;
}

/* Whether a file is the shard that belongs here; *total is the images of the whole set, 0 until the first file told. */
static enum clv_status check_place(const struct clv_dataset *part, const char *path, size_t expected, size_t n_shards,
                                   size_t *total, struct clv_error *err)
{
    struct shard shard;
    size_t said, first, n;
    if (!parse_place(&shard, &said, part))
        return fail(err, CLV_ERR_DATA, "%s: not a shard that `cleave features --shard' wrote", path);
    if ((size_t)shard.count != n_shards || (size_t)shard.number != expected)
        return fail(err, CLV_ERR_DATA, "%s: is shard %d of %d, where shard %zu of %zu belongs", path, shard.number,
                    shard.count, expected, n_shards);
    shard_block(&first, &n, &shard, said);
    if (n != part->n || (*total && said != *total))
        return fail(err, CLV_ERR_DATA, "%s: has %zu of %zu images, not those of shard %d of %d of the same set", path,
                    part->n, said, shard.number, shard.count);
    *total = said;
    return CLV_OK;
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

/* Labels, recipe and kinds of arrays must be the first shard's. */
static enum clv_status check_alike(const struct clv_tensors *a, const struct clv_tensors *b, const char *first,
                                   const char *path, struct clv_error *err)
{
    bool same = clv_tensors_metadata_count(a) == clv_tensors_metadata_count(b);
    const char *differs = "its metadata";
    for (size_t i = 0; same && i < clv_tensors_metadata_count(a); i++) {
        const char *key = clv_tensors_metadata_key(a, i), *value = clv_tensors_metadata(b, key);
        same = value && (is_per_shard(key) || strcmp(clv_tensors_metadata(a, key), value) == 0);
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
    if (!whole->items)
        return fail_memory(err);
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

static enum clv_status open_shards(struct clv_dataset **dataset, struct clv_recipe *recipe,
                                   const struct path_list *shards, bool is_apart, struct clv_error *err)
{
    struct clv_recipe own = {0};
    struct clv_dataset *whole = array_zalloc(1, sizeof *whole);
    *dataset = NULL;
    if (!whole)
        return fail_memory(err);
    whole->parts = array_zalloc(shards->n, sizeof *whole->parts);
    if (!is_apart)
        whole->file.looked_at = array_zalloc(1, sizeof *whole->file.looked_at);
    enum clv_status status = whole->parts && (is_apart || whole->file.looked_at) ? CLV_OK : fail_memory(err);
    size_t total = 0;
    for (size_t k = 0; k < shards->n && status == CLV_OK; k++) {
        const char *path = shards->paths[k];
        struct clv_dataset **part = &whole->parts[k];
        status = features_open_file(part, k ? NULL : &own, path, is_apart, err);
        whole->n_parts += status == CLV_OK;
        if (status == CLV_OK)
            status = check_place(*part, path, k + 1, shards->n, &total, err);
        if (status == CLV_OK && k)
            status = check_alike(whole->parts[0]->file.tensors, (*part)->file.tensors, shards->paths[0], path, err);
    }
    if (status == CLV_OK)
        status = join_items(whole, err);
    if (status == CLV_OK && whole->parts[0]->labels.n_labels)
        status = clv_labels_copy(&whole->labels, &whole->parts[0]->labels, err);
    if (status == CLV_OK) {
        const struct clv_dataset *first = whole->parts[0];
        whole->n_labels = first->n_labels;
        whole->n_features = first->n_features;
        whole->n_edge_features = first->n_edge_features;
        whole->pairwise = first->pairwise;
        whole->counts_errors = first->counts_errors;
        *dataset = whole;
        if (recipe && clv_recipe_n_features(&own) > 0 && own.n_scales > 0) {
            *recipe = own;
            own = (struct clv_recipe){0};
        }
    } else {
        clv_dataset_free(whole);
    }
    clv_recipe_release(&own);
    return status;
}

static enum clv_status open_any(struct clv_dataset **dataset, struct clv_recipe *recipe, const char *path,
                                bool is_apart, struct clv_error *err)
{
    struct path_list shards;
    *dataset = NULL;
    if (!features_is_sharded(path))
        return features_open_file(dataset, recipe, path, is_apart, err);
    enum clv_status status = features_list_shards(&shards, path, err);
    if (status == CLV_OK)
        status = open_shards(dataset, recipe, &shards, is_apart, err);
    path_list_release(&shards);
    return status;
}

enum clv_status clv_features_open(struct clv_dataset **dataset, struct clv_recipe *recipe, const char *path,
                                  struct clv_error *err)
{
    return open_any(dataset, recipe, path, false, err);
}

/* Of a dataset whose features stay in their files. NULL after a failure. */
static enum clv_status give_memory(struct clv_dataset **dataset, double memory, struct clv_error *err)
{
    enum clv_status status = demand_new(&(*dataset)->demand, (*dataset)->n, memory, err);
    if (status != CLV_OK) {
        clv_dataset_free(*dataset);
        *dataset = NULL;
    }
    return status;
}

enum clv_status features_open_on_demand(struct clv_dataset **dataset, struct clv_recipe *recipe, const char *path,
                                        double memory, struct clv_error *err)
{
    struct clv_recipe own = {0};
    enum clv_status status = open_any(dataset, recipe ? &own : NULL, path, true, err);
    if (status == CLV_OK)
        status = give_memory(dataset, memory, err);
    if (status == CLV_OK && recipe && own.n_scales > 0)
        *recipe = own;
    else
        clv_recipe_release(&own);
    return status;
}

enum clv_status features_open_shards_on_demand(struct clv_dataset **dataset, const struct path_list *shards,
                                               double memory, struct clv_error *err)
{
    enum clv_status status = open_shards(dataset, NULL, shards, true, err);
    return status == CLV_OK ? give_memory(dataset, memory, err) : status;
}

enum clv_status features_index_write(const char *path, const struct path_list *shards, struct clv_error *err)
{
    struct clv_dataset *dataset = NULL;
    struct text text;
    enum clv_status status = open_shards(&dataset, NULL, shards, false, err);
    if (status != CLV_OK)
        return status;
    text_init(&text, INDEX_MAX_SIZE);
    text_printf(&text, FEATURES_INDEX_HEAD ",\"images\":%zu},\"shards\":[", dataset->n);
    for (size_t k = 0; k < shards->n; k++) {
        text_put(&text, k ? ",\n" : "\n");
        text_put_json(&text, path_name(shards->paths[k]));
    }
    text_put(&text, "]}\n");
    status = text.failed ? fail_memory(err) : file_write(path, text.bytes, text.size, err);
    text_release(&text);
    clv_dataset_free(dataset);
    return status;
}
