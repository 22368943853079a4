/* Lists the files of a sharded feature file, which is a folder or an index, and of several feature files. Start at
 * features_list_files. */
#include "feature/dataset/dataset.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/json.h"
#include "cluster/shard.h"

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

static enum clv_status read_index(struct path_list *shards, const char *path, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list result = {0};
    OWNED_ARRAY char *folder = path_folder(path);
    OWNED_ARRAY char *bytes = NULL;
    OWNED(json_drop) struct json_value *root = NULL;
    size_t size, n = 0;
    NEED(folder);
    MUST(file_read(&bytes, &size, path, FEATURES_INDEX_MAX_SIZE, err));
    MUST(json_parse(&root, bytes, size, path, err));
    const struct json_value *list = json_member(root, "shards");
    FAIL_IF(!json_get_array(list, &n) || n < 1 || n > SHARD_MAX, CLV_ERR_DATA,
            "%s: its \"shards\" are no list of 1 to %d files", path, SHARD_MAX);
    for (size_t i = 0; i < n; i++) {
        const char *name;
        FAIL_IF(!json_get_text(json_element(list, i), &name) || !*name || strchr(name, '/'), CLV_ERR_DATA,
                "%s: shard %zu is no name of a file next to it", path, i + 1);
        OWNED_ARRAY char *joined = path_join(folder, name);
        NEED(joined);
        MUST(path_list_add(&result, joined, err));
    }
    *shards = TAKE(result);
    return CLV_OK;
}

enum clv_status features_list_shards(struct path_list *shards, const char *path, struct clv_error *err)
{
    return path_is_folder(path) ? list_folder(shards, path, err) : read_index(shards, path, err);
}

enum clv_status features_list_files(struct path_list *files, const struct path_list *paths, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list result = {0};
    *files = (struct path_list){0};
    for (size_t i = 0; i < paths->n; i++) {
        OWNED(path_list_release) struct path_list shards = {0};
        MUST(features_is_sharded(paths->paths[i]) ? features_list_shards(&shards, paths->paths[i], err)
                                                  : path_list_add(&shards, paths->paths[i], err));
        for (size_t k = 0; k < shards.n; k++)
            MUST(path_list_add(&result, shards.paths[k], err));
    }
    *files = TAKE(result);
    return CLV_OK;
}
