/* The folder of a run's outputs: a file in its place, what made them, and that nothing is left if nothing came of the
 * run. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/digest.h"
#include "cli/segment/segment.h"
#include "data/export/export.h"

enum clv_status segment_take_file(struct segment *self, struct input_list *inputs, bool is_one_sequence,
                                  struct clv_error *err)
{
    size_t n = strlen(self->output);
    bool is_file = n > 4 && (strcmp(self->output + n - 4, ".png") == 0 || strcmp(self->output + n - 4, ".tif") == 0) &&
                   !path_is_folder(self->output);
    if (!is_file || self->all_labels || self->margins)
        return CLV_OK;
    self->is_stack = self->is_sequence && text_ends_with(self->output, ".tif");
    FAIL_IF(self->is_stack && !is_one_sequence, CLV_ERR_USAGE,
            "-o %s: one file for the slices of several sequences; -o FOLDER has all masks", self->output);
    FAIL_IF(inputs->n != 1 && !self->is_stack, CLV_ERR_USAGE,
            "-o %s: one file for the results of %zu images; -o FOLDER has a file of each", self->output, inputs->n);
    FAIL_IF(self->export.forms, CLV_ERR_USAGE, "-o %s: one file, and --export writes several; -o FOLDER takes them all",
            self->output);
    FAIL_IF(self->objects, CLV_ERR_USAGE, "-o %s: one file, and --objects writes several; -o FOLDER takes them all",
            self->output);
    char *stem = path_stem(self->output);
    self->parent = path_folder(self->output);
    if (!stem || !self->parent) {
        array_free(stem);
        return fail_memory(err);
    }
    if (self->is_stack) {
        array_free(stem);
    } else {
        array_free(inputs->items->output);
        inputs->items->output = stem;
    }
    self->file = self->output;
    self->output = self->parent;
    return CLV_OK;
}

/* root[PATH_MAX]: the one folder that all files were found below; "" if there is none, as where a file is gone. */
static enum clv_status find_root(char *root, const struct input_list *inputs, struct clv_error *err)
{
    char own[PATH_MAX] = "";
    bool is_one = inputs->n > 0;
    for (size_t i = 0; i < inputs->n && is_one; i++) {
        const struct input *input = &inputs->items[i];
        char *path = i ? own : root;
        is_one = input->image && input->file;
        if (is_one && !realpath(input->image, path)) {
            if (errno == EIO || errno == ENOMEM)
                return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot be found", input->image);
            is_one = false;
        }
        is_one = is_one && text_ends_with(path, input->file);
        if (is_one)
            path[strlen(path) - strlen(input->file)] = 0;
        is_one &= strcmp(path, root) == 0;
    }
    root[is_one ? strlen(root) : 0] = 0;
    return CLV_OK;
}

/* A line for each frame whose mask was given. */
static enum clv_status put_given(struct text *note, const struct sequence *sequence, struct clv_error *err)
{
    size_t common = set_common_folder(&sequence->set);
    for (size_t i = 0; i < sequence->set.n_items && sequence->chains.is_given; i++) {
        if (!sequence->chains.is_given[i])
            continue;
        char *name = path_output(sequence->set.items[i].name + common, false);
        MUST_IF(!name, fail_memory(err));
        text_printf(note, "\n" RUN_NOTE_GIVEN "%s", name);
        array_free(name);
    }
    return CLV_OK;
}

/* The note says in a line where the images of an export are, then which frames were given, and in the last line what
 * the results are of. */
static enum clv_status write_note(const struct segment *self, const struct input_list *inputs,
                                  const struct sequence *sequence, struct clv_error *err)
{
    char digest[DIGEST_SIZE] = "-", root[PATH_MAX] = "", *before = NULL, *path = path_join(self->output, RUN_NOTE);
    char end[DIGEST_SIZE + 16];
    struct text note;
    size_t size;
    enum clv_status status = path ? CLV_OK : fail_memory(err);
    TRY_IF(self->model_path, digest_file(digest, self->model_path, err));
    TRY_IF(self->export.forms, find_root(root, inputs, err));
    snprintf(end, sizeof end, "\n%s %s\n", self->marginals ? "marginals" : "segment", digest);
    text_init(&note, RUN_NOTE_MAX_SIZE);
    text_put(&note, root);
    TRY(put_given(&note, sequence, err));
    text_put(&note, end);
    TRY_IF(note.failed, fail_memory(err));
    TRY_IF(self->existing == EXISTING_RESUME && path_exists(path),
           file_read(&before, &size, path, RUN_NOTE_MAX_SIZE, err));
    TRY_IF(
        before && !text_ends_with(before, end),
        fail(err, CLV_ERR_CREATE,
             "%s: has results of another model than %s; --resume goes on with the same one, --overwrite replaces them",
             self->output,
             self->is_sequence ? "--sequence"
             : self->boxes     ? "--boxes"
                               : self->model_path));
    TRY_IF(!before || *root || sequence->chains.is_given,
           file_write(path, note.bytes, note.size, err)); /* an earlier export's images stay known */
    text_release(&note);
    arrays_free(before, path);
    return status;
}

enum clv_status segment_make_folders(struct segment *self, const struct input_list *inputs,
                                     const struct sequence *sequence, struct clv_error *err)
{
    self->makes_report = self->report && !path_exists(self->report);
    enum clv_status status = self->report ? folder_create(self->report, err) : CLV_OK;
    if (segment_is_piped(self))
        return status == CLV_OK ? segment_lock(self, err) : status;
    for (char *folder = string_copy(self->output), *above; folder; folder = above) {
        above = path_exists(folder) ? NULL : path_folder(folder);
        self->n_made += above != NULL;
        array_free(folder);
    }
    TRY(folder_create(self->output, err));
    TRY(segment_lock(self, err));
    TRY_IF(!self->file, write_note(self, inputs, sequence, err));
    return status;
}

static void remove_empty(const struct segment *self)
{
    struct path_list files = {0};
    struct clv_error ignored;
    char *note = path_join(self->output, RUN_NOTE), *folder = string_copy(self->output);
    if (note && folder_walk(&files, self->output, &ignored) == CLV_OK && !files.n)
        unlink(note);
    for (int k = 0; k < self->n_made && folder && rmdir(folder) == 0; k++) { /* which fails if there is something */
        char *above = path_folder(folder);
        array_free(folder);
        folder = above;
    }
    path_list_release(&files);
    arrays_free(note, folder);
}

void segment_remove_empty(struct segment *self)
{
    if (self->n_made && !self->shard.count)
        remove_empty(self);
    if (self->makes_report)
        rmdir(self->report);
    array_free(self->parent);
    self->parent = NULL;
}
