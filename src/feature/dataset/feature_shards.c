/* Opens one or several feature files as one dataset: whole files, or shards. Checks that files belong together and that
 * no shard is missing or out of order. Start at features_open_list. */
#include "feature/dataset/dataset.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "cluster/shard.h"
#include "data/data.h"
#include "feature/recipe/recipe.h"

static bool is_shard_name(const char *name)
{
    static const char form[] = "-#####-of-#####.safetensors";
    size_t length = strlen(name), n = sizeof form - 1;
    bool fits = length > n;
    for (size_t i = 0; i < n && fits; i++) {
        char c = name[length - n + i];
        fits = form[i] == '#' ? is_digit(c) : c == form[i];
    }
    return fits;
}

/* Stops at the first file that is not a shard, since folders of images may have many files. */
bool features_is_sharded(const char *path)
{
    DIR *stream = path_is_folder(path) ? opendir(path) : NULL;
    bool has_shard = false, has_others = !stream;
    for (const struct dirent *entry; !has_others && (entry = readdir(stream));) {
        bool is_shard = is_shard_name(entry->d_name);
        has_shard |= is_shard;
        has_others = !is_shard && entry->d_name[0] != '.';
    }
    if (stream)
        closedir(stream);
    return has_shard && !has_others;
}

static enum clv_status list_folder(struct path_list *shards, const char *folder, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list files = {0}, result = {0};
    MUST(folder_walk(&files, folder, err));
    for (size_t i = 0; i < files.n; i++) {
        OWNED_ARRAY char *path = path_join(folder, files.paths[i]);
        NEED(path);
        if (is_shard_name(path))
            MUST(path_list_add(&result, path, err));
    }
    *shards = TAKE(result);
    return CLV_OK;
}

enum clv_status features_list_files(struct path_list *files, const struct path_list *paths, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list result = {0};
    *files = (struct path_list){0};
    for (size_t i = 0; i < paths->n; i++) {
        OWNED(path_list_release) struct path_list shards = {0};
        MUST(features_is_sharded(paths->paths[i]) ? list_folder(&shards, paths->paths[i], err)
                                                  : path_list_add(&shards, paths->paths[i], err));
        for (size_t k = 0; k < shards.n; k++)
            MUST(path_list_add(&result, shards.paths[k], err));
    }
    *files = TAKE(result);
    return CLV_OK;
}

/* Reads a number of digits only, at most `maximum`, and moves *text behind it. Returns false if *text does not begin
 * with one. */
static bool take_number(size_t *value, const char **text, size_t maximum)
{
    const char *digits = *text;
    for (*value = 0; is_digit(**text) && *value <= maximum; ++*text)
        *value = 10 * *value + (size_t)(**text - '0');
    return *text > digits && *value <= maximum;
}

static bool take_word(const char **text, const char *word)
{
    size_t size = strlen(word);
    bool is_found = strncmp(*text, word, size) == 0;
    *text += is_found ? size : 0;
    return is_found;
}

/* Parses a file's metadata such as "2/3 of 40": shard 2 of 3 of a dataset of 40 images. */
static bool parse_shard(struct clv_shard *shard, size_t *total, const struct dataset_file *part)
{
    const char *text = clv_tensors_metadata(part->tensors, FEATURES_SHARD);
    size_t number, count;
    if (!text || !take_number(&number, &text, SHARD_MAX) || !take_word(&text, "/") ||
        !take_number(&count, &text, SHARD_MAX) || !take_word(&text, " of ") || !take_number(total, &text, INT32_MAX) ||
        *text || number < 1 || number > count)
        return false;
    *shard = (struct clv_shard){(int32_t)number, (int32_t)count};
    return true;
}

/* The sharded dataset of the next file: number of shards, of those opened so far, and of images (0 before the first
 * one). */
struct shards {
    size_t n_shards, n_opened, total;
};

/* Checks that a file is the next shard. */
static enum clv_status check_shard(struct shards *shards, const struct dataset_file *part, const char *path,
                                   struct clv_error *err)
{
    struct clv_shard shard;
    size_t total, first, n, expected = ++shards->n_opened;
    FAIL_IF(!parse_shard(&shard, &total, part), CLV_ERR_DATA, "%s: not a shard that `cleave features --shard' wrote",
            path);
    FAIL_IF((size_t)shard.count != shards->n_shards || (size_t)shard.number != expected, CLV_ERR_DATA,
            "%s: is shard %d of %d, where shard %zu of %zu belongs", path, shard.number, shard.count, expected,
            shards->n_shards);
    shard_block(&first, &n, &shard, total);
    FAIL_IF(n != part->n || (shards->total && total != shards->total), CLV_ERR_DATA,
            "%s: has %zu of %zu images, not those of shard %d of %d of the same set", path, part->n, total,
            shard.number, shard.count);
    shards->total = total;
    return CLV_OK;
}

/* Checks the next file of a list, which may have whole files and complete runs of shards. */
static enum clv_status check_turn(struct shards *shards, const struct dataset_file *part, const char *path,
                                  struct clv_error *err)
{
    struct clv_shard shard;
    size_t total;
    bool is_between = shards->n_opened == shards->n_shards, is_shard = parse_shard(&shard, &total, part);
    if (is_between && !is_shard)
        return CLV_OK;
    if (is_between)
        *shards = (struct shards){.n_shards = (size_t)shard.count};
    return check_shard(shards, part, path, err);
}

static bool is_per_shard(const char *key)
{
    return strcmp(key, "names") == 0 || strcmp(key, FEATURES_SHARD) == 0;
}

/* Returns whether a tensor does not depend on the images: the palette, or one of the recipe. */
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

/* Checks that labels, recipe and kinds of arrays equal those of the first file. */
static enum clv_status check_same_kind(const struct clv_tensors *a, const struct clv_tensors *b, const char *first,
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

/* Refuses a file that is listed twice, even by different names or links. */
static enum clv_status check_once(const struct path_list *files, struct clv_error *err)
{
    OWNED_ARRAY struct stat *infos = array_zalloc(files->n, sizeof *infos);
    NEED(infos);
    for (size_t i = 0; i < files->n; i++) {
        if (stat(files->paths[i], &infos[i]))
            return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot open", files->paths[i]);
        for (size_t k = 0; k < i; k++)
            FAIL_IF(is_one_file(&infos[k], &infos[i]), CLV_ERR_DATA, "%s: comes twice", files->paths[i]);
    }
    return CLV_OK;
}

/* Adds the file at `path`. recipe is NULL except for the first file. */
static enum clv_status add_file(struct clv_dataset **dataset, struct clv_recipe *recipe, const char *path,
                                struct clv_error *err)
{
    struct clv_tensors *tensors; /* features_add consumes it */
    MUST(clv_tensors_open(&tensors, path, err));
    return features_add(dataset, recipe, tensors, path, err);
}

enum clv_status features_open_list(struct clv_dataset **dataset, struct clv_recipe *recipe,
                                   const struct path_list *paths, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list files = {0};
    OWNED(clv_recipe_release) struct clv_recipe first_recipe = {0};
    OWNED(dataset_drop) struct clv_dataset *result = NULL;
    bool is_folder = paths->n == 1 && features_is_sharded(paths->paths[0]), is_alone = paths->n == 1 && !is_folder;
    *dataset = NULL;
    MUST(features_list_files(&files, paths, err));
    if (!is_alone)
        MUST(check_once(&files, err));
    struct shards shards = {.n_shards = is_folder ? files.n : 0};
    for (size_t k = 0; k < files.n; k++) {
        const char *path = files.paths[k];
        MUST(add_file(&result, k ? NULL : &first_recipe, path, err));
        const struct dataset_file *first = result->files[0], *file = result->files[k];
        if (!is_alone)
            MUST(check_turn(&shards, file, path, err));
        if (k)
            MUST(check_same_kind(first->tensors, file->tensors, files.paths[0], path, err));
    }
    FAIL_IF(shards.n_opened < shards.n_shards, CLV_ERR_DATA,
            "%s: is shard %zu of %zu, and the next one does not follow", files.paths[files.n - 1], shards.n_opened,
            shards.n_shards);
    MUST(dataset_paging_begin(result, err));
    *dataset = TAKE(result);
    if (recipe && clv_recipe_n_features(&first_recipe) > 0)
        *recipe = TAKE(first_recipe);
    return CLV_OK;
}

enum clv_status clv_features_open(struct clv_dataset **dataset, struct clv_recipe *recipe, const char *path,
                                  struct clv_error *err)
{
    char *paths[] = {(char *)(uintptr_t)path};
    return features_open_list(dataset, recipe, &(struct path_list){.paths = paths, .n = 1}, err);
}
