#include "cli/common/outputs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

void outputs_release(struct outputs *self)
{
    for (size_t i = 0; i < self->n; i++)
        array_free(self->list[i].path);
    array_free(self->list);
    output_locks_release(&self->locks);
    *self = (struct outputs){0};
}

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* What a path leads to, where it leads to anything. That it cannot be told (an I/O error) is no reason to take it for
 * absent. */
static enum clv_status examine(bool *there, struct stat *info, const char *path, struct clv_error *err)
{
    *there = stat(path, info) == 0;
    if (*there || errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG)
        return CLV_OK;
    return fail_errno(err, CLV_ERR_CREATE, "%s: cannot tell whether it is there", path);
}

/* Whether writing would put another file in the place of one that is there: not so of devices and FIFOs, nor of
 * standard output by another name (/dev/stdout). */
static enum clv_status would_replace(bool *would, struct stat *info, const char *path, struct clv_error *err)
{
    struct stat standard;
    *would = false;
    if (is_standard(path))
        return CLV_OK;
    enum clv_status status = examine(would, info, path, err);
    if (status == CLV_OK && *would)
        *would = S_ISREG(info->st_mode) && (fstat(STDOUT_FILENO, &standard) != 0 || standard.st_dev != info->st_dev ||
                                            standard.st_ino != info->st_ino);
    return status;
}

/* Whether a file could be created at `path`. */
static enum clv_status check_creatable(const char *path, struct clv_error *err)
{
    struct stat info;
    bool there;
    if (is_standard(path))
        return CLV_OK;
    enum clv_status status = examine(&there, &info, path, err);
    if (status != CLV_OK)
        return status;
    if (there) {
        if (S_ISDIR(info.st_mode))
            return fail(err, CLV_ERR_CREATE, "%s: is a folder", path);
        return access(path, W_OK) ? fail_errno(err, CLV_ERR_CREATE, "%s: cannot write", path) : CLV_OK;
    }
    char *folder = path_folder(path);
    if (!folder)
        status = fail_memory(err);
    else if (stat(folder, &info))
        status = fail_errno(err, CLV_ERR_CREATE, "%s: cannot create", path);
    else if (!S_ISDIR(info.st_mode))
        status = fail(err, CLV_ERR_CREATE, "%s: cannot create: %s is not a folder", path, folder);
    else if (access(folder, W_OK | X_OK))
        status = fail_errno(err, CLV_ERR_CREATE, "%s: cannot create", path);
    array_free(folder);
    return status;
}

enum clv_status outputs_add(struct outputs *self, const char *path, struct clv_error *err)
{
    struct stat info;
    bool would;
    enum clv_status status = would_replace(&would, &info, path, err);
    if (status != CLV_OK || !would)
        return status;
    if (array_reserve((void **)&self->list, &self->capacity, self->n + 1, sizeof *self->list))
        return fail_memory(err);
    char *copy = string_copy(path);
    if (!copy)
        return fail_memory(err);
    self->list[self->n++] = (struct replaced){info.st_dev, info.st_ino, copy};
    return CLV_OK;
}

enum clv_status output_check_existing(const char *path, bool may_replace, const char *hint, struct clv_error *err)
{
    struct stat info;
    bool would;
    if (may_replace)
        return CLV_OK;
    enum clv_status status = would_replace(&would, &info, path, err);
    if (status != CLV_OK || !would)
        return status;
    return fail(err, CLV_ERR_CREATE, "%s: exists already; --overwrite replaces it%s", path, hint);
}

static int compare(const void *a, const void *b)
{
    const struct replaced *first = a, *second = b;
    if (first->device != second->device)
        return first->device < second->device ? -1 : 1;
    return (first->inode > second->inode) - (first->inode < second->inode);
}

void outputs_sort(struct outputs *self)
{
    if (self->n)
        qsort(self->list, self->n, sizeof *self->list, compare);
}

/* Identifies the file, or the file of a page. */
static enum clv_status identify(bool *there, struct stat *info, const char *path, struct clv_error *err)
{
    char file[PATH_MAX];
    size_t length;
    uint32_t page;
    if (!path_page(&length, &page, path))
        return examine(there, info, path, err);
    snprintf(file, sizeof file, "%.*s", (int)length, path);
    *there = false;
    return length < sizeof file ? examine(there, info, file, err) : CLV_OK;
}

static enum clv_status spare_file(const struct outputs *self, const char *input, struct clv_error *err)
{
    struct stat info;
    bool there;
    if (!self->n || !input)
        return CLV_OK;
    enum clv_status status = identify(&there, &info, input, err);
    if (status != CLV_OK || !there)
        return status;
    const struct replaced key = {info.st_dev, info.st_ino, NULL};
    const struct replaced *found = bsearch(&key, self->list, self->n, sizeof key, compare);
    if (!found)
        return CLV_OK;
    if (strcmp(found->path, input) == 0)
        return fail(err, CLV_ERR_CREATE, "%s: is an input of this command, which the output would replace", input);
    return fail(err, CLV_ERR_CREATE, "%s: is the same file as the input %s, which the output would replace",
                found->path, input);
}

enum clv_status outputs_spare(const struct outputs *self, const char *input, struct clv_error *err)
{
    if (!self->n || !input || is_standard(input))
        return CLV_OK;
    if (!path_is_folder(input))
        return spare_file(self, input, err);
    struct path_list files = {0};
    enum clv_status status = folder_walk(&files, input, err);
    for (size_t i = 0; i < files.n && status == CLV_OK; i++) {
        char *path = path_join(input, files.paths[i]);
        status = path ? spare_file(self, path, err) : fail_memory(err);
        array_free(path);
    }
    path_list_release(&files);
    return status;
}

enum clv_status outputs_spare_set(const struct outputs *self, const struct clv_set *set, const char *path,
                                  struct clv_error *err)
{
    if (!self->n)
        return CLV_OK;
    char *labels = path_join(set->root, "labels.tsv");
    enum clv_status status = labels ? spare_file(self, labels, err) : fail_memory(err);
    array_free(labels);
    if (status == CLV_OK)
        status = spare_file(self, set->manifest ? set->manifest : path, err);
    for (size_t i = 0; i < set->n_items && status == CLV_OK; i++) {
        const struct clv_item *item = &set->items[i];
        status = spare_file(self, item->image, err);
        if (status == CLV_OK)
            status = spare_file(self, item->mask, err);
        if (status == CLV_OK)
            status = spare_file(self, item->boxes, err);
        for (size_t m = 0; m < set->n_maps && status == CLV_OK; m++)
            status = spare_file(self, item->maps[m], err);
    }
    return status;
}

enum clv_status outputs_claim(struct outputs *self, const char *path, bool may_replace, const char *hint,
                              const char *const *inputs, size_t n_inputs, struct clv_error *err)
{
    enum clv_status status = check_creatable(path, err);
    if (status == CLV_OK)
        status = outputs_add(self, path, err);
    outputs_sort(self);
    for (size_t i = 0; i < n_inputs && status == CLV_OK; i++)
        status = outputs_spare(self, inputs[i], err);
    return status == CLV_OK ? output_check_existing(path, may_replace, hint, err) : status;
}

enum clv_status outputs_make_folder(const char *path, struct clv_error *err)
{
    char *folder = path_folder(path);
    enum clv_status status = folder ? folder_create(folder, err) : fail_memory(err);
    array_free(folder);
    return status;
}

enum clv_status outputs_look_at_set(void *outputs, const struct clv_set *set, const char *path, struct clv_error *err)
{
    return outputs_spare_set(outputs, set, path, err);
}
