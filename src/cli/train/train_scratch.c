#include "cli/train/train_scratch.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/team.h"
#include "base/text.h"
#include "cli/common/shard_option.h"
#include "cli/common/training_set.h"
#include "cli/train/train.h"
#include "feature/dataset/extract.h"
#include "feature/dataset/feature_shards.h"

/* How the files there begin: nobody else's do. */
#define SCRATCH "scratch-"

enum clv_status train_scratch_path(char **path, const struct train_options *options, struct clv_error *err)
{
    *path = NULL;
    if (!(options->memory > 0) || !options->data || is_tensor_file(options->data))
        return CLV_OK;
    if (!train_output_is_file(options))
        return fail(err, CLV_ERR_USAGE, "--feature-memory: %s is no file that features of images could lie beside",
                    options->output);
    size_t size = strlen(options->output) + sizeof ".features";
    *path = array_alloc(size, 1);
    if (!*path)
        return fail_memory(err);
    snprintf(*path, size, "%s.features", options->output);
    return CLV_OK;
}

static enum clv_status remove_leftover(const char *folder, const char *name, struct clv_error *err)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return CLV_OK;
    char *path = path_join(folder, name);
    if (!path)
        return fail_memory(err);
    enum clv_status status = CLV_OK;
    if (strncmp(name, SCRATCH, strlen(SCRATCH)) != 0)
        status = fail(err, CLV_ERR_CREATE, "%s: is in the way of features that lie in %s while they are learned from",
                      path, folder);
    else if (unlink(path))
        status = fail_errno(err, CLV_ERR_CREATE, "%s: cannot remove", path);
    array_free(path);
    return status;
}

enum clv_status train_scratch_claim(const char *path, struct clv_error *err)
{
    enum path_kind kind;
    enum clv_status status = path_look(&kind, path, err);
    if (status != CLV_OK || kind == PATH_ABSENT)
        return status;
    DIR *stream = opendir(path);
    if (!stream)
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot be a folder of features", path);
    for (const struct dirent *entry; status == CLV_OK && (entry = readdir(stream));)
        status = remove_leftover(path, entry->d_name, err);
    closedir(stream);
    return status;
}

/* The shards of all processes that have images; *own (a view) is this one's, NULL if it has none. */
static enum clv_status list_shards(struct path_list *shards, const char **own, const char *folder, const char *name,
                                   size_t n_images, struct clv_error *err)
{
    char file[64];
    struct shard shard;
    bool has_part = extract_own_part(&shard, n_images);
    int32_t own_number = has_part ? shard.number : 0;
    snprintf(file, sizeof file, SCRATCH "%s.safetensors", name);
    char *whole = path_join(folder, file);
    enum clv_status status = whole ? CLV_OK : fail_memory(err);
    *own = NULL;
    for (shard.number = 1; status == CLV_OK && shard.number <= shard.count; shard.number++) {
        char *path = shard_path(whole, &shard, false);
        status = path ? path_list_add(shards, path, err) : fail_memory(err);
        array_free(path);
        if (status == CLV_OK && shard.number == own_number)
            *own = shards->paths[shards->n - 1];
    }
    array_free(whole);
    return status;
}

/* The folder is there, and a signal that ends the process at once leaves nothing in it. */
static enum clv_status make_place(struct train_scratch *self, const char *folder, const char *own,
                                  struct clv_error *err)
{
    enum clv_status status = folder_create(folder, err);
    char *copy = NULL;
    if (status == CLV_OK && !self->folder) {
        self->folder = string_copy(folder);
        status = self->folder ? CLV_OK : fail_memory(err);
        if (self->folder)
            file_remember_temporary(self->folder);
    }
    if (status == CLV_OK && own) {
        copy = self->shards[self->n_shards++] = string_copy(own);
        status = copy ? CLV_OK : fail_memory(err);
        if (copy)
            file_remember_temporary(copy);
    }
    return status;
}

enum clv_status train_scratch_extract(struct clv_dataset **dataset, struct train_scratch *self, const char *name,
                                      const struct train_options *options, const struct clv_set *set,
                                      const struct clv_recipe *recipe, int n_threads,
                                      const struct clv_progress *progress, struct clv_error *err)
{
    const struct common_options *common = &options->common;
    struct path_list shards = {0};
    const char *own;
    if (!set->n_items)
        return fail(err, CLV_ERR_DATA, "%s: no images in it", options->data);
    enum clv_status status = list_shards(&shards, &own, options->scratch, name, set->n_items, err);
    if (status == CLV_OK)
        status = make_place(self, options->scratch, own, err);
    if (status == CLV_OK)
        status = features_write_own_part(own ? own : "", set, recipe, n_threads, &common->limits, progress, err);
    status = team_agree(status, err);
    if (status == CLV_OK)
        status = team_agree(features_open_shards_on_demand(dataset, &shards, options->memory, err), err);
    if (team_size() == 1)
        train_scratch_remove(self); /* whatever ends this process now, nothing is left */
    path_list_release(&shards);
    return status;
}

void train_scratch_remove(struct train_scratch *self)
{
    for (size_t i = 0; i < self->n_shards; i++)
        if (self->shards[i]) {
            unlink(self->shards[i]);
            file_forget_temporary(self->shards[i]);
            array_free(self->shards[i]);
        }
    if (self->folder) {
        rmdir(self->folder);
        file_forget_temporary(self->folder);
        array_free(self->folder);
    }
    *self = (struct train_scratch){0};
}
