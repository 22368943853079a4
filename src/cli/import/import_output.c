/* Builds the set in a hidden folder next to the output and moves it there when it is complete, so that a failed import
 * changes nothing. Start at import_output_begin. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "cli/import/import.h"

/* *target = the path of the output without a slash at its end, with links resolved if it exists. Makes its parents. */
static enum clv_status find_target(char **target, const char *typed, struct clv_error *err)
{
    char real[PATH_MAX];
    enum path_kind kind = PATH_ABSENT;
    OWNED_ARRAY char *path = string_copy(typed);
    NEED(path);
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = 0;
    MUST(outputs_make_folder(path, err));
    MUST(path_find_kind(&kind, path, err));
    FAIL_IF(kind == PATH_FILE, CLV_ERR_CREATE, "%s: is not a folder", path);
    if (kind == PATH_FOLDER) {
        array_free(path);
        path = realpath(typed, real) ? string_copy(real) : NULL;
        if (!path)
            return fail_errno(err, CLV_ERR_CREATE, "%s: cannot be found", typed);
    }
    *target = TAKE(path);
    return CLV_OK;
}

/* The entries of a folder. */
struct contents {
    char name[NAME_MAX + 1]; /* of an entry, preferably one that import does not write */
    size_t n;
    bool has_manifest, has_other;
};

static enum clv_status list_contents(struct contents *contents, const char *folder, struct clv_error *err)
{
    static const char *const written[] = {"images", "masks", "instances", "boxes.tsv", "labels.tsv", "manifest.tsv"};
    DIR *stream = opendir(folder);
    if (!stream)
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot open folder", folder);
    for (struct dirent *entry; (entry = readdir(stream));) {
        bool is_written = false;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        for (size_t i = 0; i < sizeof written / sizeof *written; i++)
            is_written |= strcmp(entry->d_name, written[i]) == 0;
        if (!contents->has_other)
            snprintf(contents->name, sizeof contents->name, "%s", entry->d_name);
        contents->has_other |= !is_written;
        contents->has_manifest |= strcmp(entry->d_name, "manifest.tsv") == 0;
        contents->n++;
    }
    closedir(stream);
    return CLV_OK;
}

/* Fails if files that would be replaced are inputs of the import. */
static enum clv_status check_replaced(struct import_output *self, const struct import_options *options,
                                      struct clv_error *err)
{
    OWNED(path_list_release) struct path_list files = {0};
    MUST(folder_walk(&files, self->target, err));
    for (size_t i = 0; i < files.n; i++) {
        OWNED_ARRAY char *path = path_join(self->target, files.paths[i]);
        NEED(path);
        MUST(outputs_add(&self->outputs, path, err));
    }
    outputs_sort(&self->outputs);
    MUST(outputs_spare(&self->outputs, options->annotations, err));
    return outputs_spare(&self->outputs, options->images, err);
}

/* Fails if the target exists and is neither empty nor a set that may be replaced. */
static enum clv_status check_target(struct import_output *self, const struct import_options *options,
                                    struct clv_error *err)
{
    struct stat target, parent, here;
    struct contents contents = {.n = 0};
    if (!path_is_folder(self->target))
        return CLV_OK;
    MUST(list_contents(&contents, self->target, err));
    bool is_set = contents.has_manifest && !contents.has_other;
    FAIL_IF(contents.n && !options->overwrite, CLV_ERR_CREATE,
            "%s: folder is not empty (it holds %s); --overwrite replaces %s", options->output, contents.name,
            is_set ? "it" : "only sets that import made");
    FAIL_IF(contents.n && !is_set, CLV_ERR_CREATE,
            "%s: is not a set that import made (it holds %s), and is not replaced", options->output, contents.name);
    OWNED_ARRAY char *folder = path_folder(self->target);
    NEED(folder);
    bool is_fixed = stat(self->target, &target) || stat(folder, &parent) || target.st_dev != parent.st_dev ||
                    (stat(".", &here) == 0 && is_one_file(&here, &target));
    FAIL_IF(is_fixed, CLV_ERR_CREATE,
            "%s: the working folder or a mounted disk gives way to no set; name a folder in it", options->output);
    self->replaces = contents.n > 0;
    self->mode = target.st_mode & 07777;
    return contents.n ? check_replaced(self, options, err) : CLV_OK;
}

enum clv_status import_output_begin(struct import_output *self, const struct import_options *options,
                                    struct clv_error *err)
{
    MUST(find_target(&self->target, options->output, err));
    MUST(output_locks_file(&self->outputs.locks, self->target, err));
    MUST(check_target(self, options, err));
    size_t size = strlen(self->target) + sizeof "..importing",
           folder = size - sizeof "..importing" - strlen(path_name(self->target));
    self->work = array_alloc(size, 1);
    NEED(self->work);
    snprintf(self->work, size, "%.*s.%s.importing", (int)folder, self->target, path_name(self->target));
    MUST(folder_remove(self->work, err)); /* left by a killed run */
    MUST(folder_create(self->work, err));
    if (self->mode && chmod(self->work, self->mode))
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot take the mode of %s", self->work, self->target);
    return CLV_OK;
}

enum clv_status import_output_finish(struct import_output *self, struct clv_error *err)
{
    if (renameat2(AT_FDCWD, self->work, AT_FDCWD, self->target, self->replaces ? RENAME_EXCHANGE : 0))
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot put the set there", self->target);
    return CLV_OK;
}

void import_output_release(struct import_output *self)
{
    if (self->work)
        (void)!folder_remove(self->work, NULL); /* the unfinished set, or the replaced one */
    arrays_free(self->work, self->target);
    outputs_release(&self->outputs);
    *self = (struct import_output){0};
}
