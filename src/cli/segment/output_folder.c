/* Makes the output folder, or the one file in its place, keeps the note that tells what its results are of, and removes
 * folders that stayed empty. Start at segment_make_folders. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/digest.h"
#include "cli/segment/segment.h"
#include "data/export/export.h"

/* Names of files that are no masks: nobody wants a folder of that name. */
static enum clv_status refuse_ending(const char *output, bool is_maps, struct clv_error *err)
{
    static const char *const others[] = {".png",     ".tif",  ".jpg", ".jpeg", ".tiff", ".bmp",  ".webp",
                                         ".gif",     ".ppm",  ".pgm", ".pbm",  ".pnm",  ".npy",  ".json",
                                         ".geojson", ".jp2",  ".vrt", ".svg",  ".pdf",  ".heic", ".avif",
                                         ".exr",     ".html", ".tsv", ".csv",  ".xml"};
    size_t n = 0, length = strlen(output);
    while (n < sizeof others / sizeof *others && !text_ends_with(output, others[n]))
        n++;
    if (n == sizeof others / sizeof *others || path_is_folder(output) || !length)
        return CLV_OK;
    FAIL_IF(is_maps, CLV_ERR_USAGE, "-o %s: maps of all labels go into a folder; name one, or add a slash", output);
    return fail(err, CLV_ERR_USAGE,
                "-o %s: no mask is a file of that kind; name it %.*s.png (.tif), or add a slash for a "
                "folder",
                output, (int)(length - strlen(others[n])), output);
}

enum clv_status segment_take_file(struct segment *self, struct input_list *inputs, bool is_one_sequence,
                                  struct clv_error *err)
{
    size_t n = strlen(self->output);
    bool is_file = n > 4 && (strcmp(self->output + n - 4, ".png") == 0 || strcmp(self->output + n - 4, ".tif") == 0) &&
                   !path_is_folder(self->output);
    if (!is_file || self->all_labels || self->margins)
        return refuse_ending(self->output, self->all_labels || self->margins, err);
    self->is_stack = self->is_sequence && text_ends_with(self->output, ".tif");
    FAIL_IF(self->is_stack && !is_one_sequence, CLV_ERR_USAGE,
            "-o %s: one file for the slices of several sequences; -o FOLDER has all masks", self->output);
    FAIL_IF(inputs->n != 1 && !self->is_stack, CLV_ERR_USAGE,
            "-o %s: one file for the results of %zu images; -o FOLDER has a file of each", self->output, inputs->n);
    FAIL_IF(self->export.forms, CLV_ERR_USAGE, "-o %s: one file, and --export writes several; -o FOLDER takes them all",
            self->output);
    FAIL_IF(self->objects, CLV_ERR_USAGE, "-o %s: one file, and --objects writes several; -o FOLDER takes them all",
            self->output);
    OWNED_ARRAY char *stem = path_stem(self->output);
    self->parent = path_folder(self->output);
    NEED(stem && self->parent);
    if (!self->is_stack) {
        array_free(inputs->items->output);
        inputs->items->output = TAKE(stem);
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
        OWNED_ARRAY char *name = path_output(sequence->set.items[i].name + common, false);
        NEED(name);
        text_printf(note, "\n" RUN_NOTE_GIVEN "%s", name);
    }
    return CLV_OK;
}

/* Adds the content of the boxes or masks that results are made from. */
static enum clv_status add_content(uint64_t *hash, const char *path, struct clv_error *err)
{
    char digest[DIGEST_SIZE];
    OWNED_ARRAY char *file = path_file(path);
    NEED(file);
    MUST(digest_file(digest, file, err));
    *hash = hash_bytes(*hash, digest, strlen(digest));
    return CLV_OK;
}

/* Boxes are a file, all files of a folder, or four numbers. */
static enum clv_status put_boxes(struct text *line, const char *boxes, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list files = {0};
    uint64_t hash = hash_bytes(HASH_START, "", 0);
    enum path_kind kind;
    MUST(path_look(&kind, boxes, err));
    if (kind == PATH_FOLDER)
        MUST(folder_walk(&files, boxes, err));
    for (size_t i = 0; i < files.n; i++) {
        OWNED_ARRAY char *path = path_join(boxes, files.paths[i]);
        NEED(path);
        MUST(add_content(&hash, path, err));
    }
    if (kind == PATH_FILE)
        MUST(add_content(&hash, boxes, err));
    else if (kind == PATH_ABSENT)
        hash = hash_bytes(hash, boxes, strlen(boxes));
    text_printf(line, " boxes=%016" PRIx64, hash);
    return CLV_OK;
}

static enum clv_status put_given_masks(struct text *line, const struct sequence *sequence, struct clv_error *err)
{
    uint64_t hash = HASH_START;
    const char *last = NULL; /* a file of pages is read once */
    for (size_t i = 0; i < sequence->set.n_items; i++) {
        const char *mask = sequence->set.items[i].mask;
        if (!sequence->chains.is_given[i] || !mask)
            continue;
        hash = hash_number(hash, i);
        size_t length = strcspn(mask, "#");
        if (!last || strcspn(last, "#") != length || strncmp(last, mask, length) != 0)
            MUST(add_content(&hash, mask, err));
        last = mask;
    }
    text_printf(line, " given=%016" PRIx64, hash);
    return CLV_OK;
}

/* The note's last line: which model, boxes or given masks the results are of, and of which label, which other results
 * must be of, too; then options that decide what is in them, where they are not the default. *n_identity is the length
 * of the former. */
static enum clv_status put_run(struct text *line, size_t *n_identity, const struct segment *self,
                               const struct sequence *sequence, struct clv_error *err)
{
    static const struct segment usual = {.n_samples = 100};
    const struct clv_image_limits *limits = &self->common.limits;
    char digest[DIGEST_SIZE] = "-";
    if (self->model_path)
        MUST(digest_file(digest, self->model_path, err));
    text_printf(line, "%s %s",
                self->marginals                          ? "probabilities"
                : self->is_sequence && !self->model_path ? "propagate"
                                                         : "segment",
                digest);
    if (self->boxes)
        MUST(put_boxes(line, self->boxes, err));
    if (sequence->chains.is_given)
        MUST(put_given_masks(line, sequence, err));
    if (self->all_labels || self->label)
        text_printf(line, " label=%s", self->all_labels ? "all" : self->label);
    *n_identity = line->size;
    const struct {
        const char *name;
        int64_t value, usual;
    } numbers[] = {{"refine", (int64_t)self->refine, (int64_t)usual.refine},
                   {"decode", (int64_t)self->decoding, (int64_t)usual.decoding},
                   {"min-area", self->min_area, 0},
                   {"mask-format", self->mask_form, self->marginals ? MASKS_GREY : MASKS_AUTO},
                   {"samples", self->n_samples, usual.n_samples},
                   {"seed", (int64_t)self->seed, 0},
                   {"side", self->all_labels ? self->side : 0, 0}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (numbers[k].value != numbers[k].usual)
            text_printf(line, " %s=%" PRId64, numbers[k].name, numbers[k].value);
    if (limits->grey16_low < limits->grey16_high)
        text_printf(line, " range=%d,%d", limits->grey16_low, limits->grey16_high);
    NEED(!line->failed);
    return CLV_OK;
}

/* Refuses to go on with what is of another model, and says so where it is of other options: `before` is the note of
 * those that are there. */
static enum clv_status check_run(const struct segment *self, char *before, const struct text *line, size_t n_identity,
                                 struct clv_error *err)
{
    size_t size = strlen(before);
    while (size && before[size - 1] == '\n')
        before[--size] = 0;
    const char *newline = strrchr(before, '\n'), *then = newline ? newline + 1 : before;
    bool is_same_model = strncmp(then, line->bytes, n_identity) == 0 && (!then[n_identity] || then[n_identity] == ' ');
    FAIL_IF(!is_same_model, CLV_ERR_CREATE,
            "%s: has results of another model than %s; --resume goes on with the same one, --overwrite replaces them",
            self->output,
            self->model_path ? self->model_path
            : self->boxes    ? "--boxes"
                             : "propagate");
    const char *options = then + n_identity, *now = line->bytes + n_identity;
    if (strcmp(options, now) != 0)
        console_warning("%s: has results of other options (%s, now %s), which stay; --overwrite replaces them",
                        self->output, *options ? options + 1 : "the defaults", *now ? now + 1 : "the defaults");
    return CLV_OK;
}

/* The note says in a line where the images of an export are, then which frames were given, and in the last line what
 * the results are of. */
static enum clv_status write_note(const struct segment *self, const struct input_list *inputs,
                                  const struct sequence *sequence, struct clv_error *err)
{
    char root[PATH_MAX] = "";
    size_t size, n_identity = 0;
    OWNED_ARRAY char *before = NULL;
    OWNED_ARRAY char *path = path_join(self->output, RUN_NOTE);
    OWNED(text_release) struct text note = {0};
    OWNED(text_release) struct text line = {0};
    NEED(path);
    text_init(&note, RUN_NOTE_MAX_SIZE);
    text_init(&line, RUN_NOTE_MAX_SIZE);
    if (self->export.forms)
        MUST(find_root(root, inputs, err));
    MUST(put_run(&line, &n_identity, self, sequence, err));
    text_put(&note, root);
    MUST(put_given(&note, sequence, err));
    text_printf(&note, "\n%s\n", line.bytes);
    NEED(!note.failed);
    if (self->existing == EXISTING_RESUME && path_exists(path))
        MUST(file_read(&before, &size, path, RUN_NOTE_MAX_SIZE, err));
    if (before)
        MUST(check_run(self, before, &line, n_identity, err));
    if (before && !*root && !sequence->chains.is_given)
        return CLV_OK; /* an earlier export's images stay known */
    return file_write(path, note.bytes, note.size, err);
}

enum clv_status segment_make_folders(struct segment *self, struct output_list *outputs, const struct input_list *inputs,
                                     const struct sequence *sequence, struct clv_error *err)
{
    struct output_locks *locks = &self->common.outputs.locks;
    int n_made = 0; /* of a folder that the file's mask shares with others */
    if (self->report)
        MUST(output_locks_make_folder(locks, &self->n_report_made, self->report, NULL, err));
    if (segment_is_piped(self))
        return CLV_OK;
    if (self->file) {
        MUST(folder_make(&n_made, self->output, err));
        MUST(output_locks_file(locks, self->file, err));
        self->n_made = n_made;
        return segment_check_existing(outputs, self, err);
    }
    int n_before = locks->n;
    MUST(output_locks_make_folder(locks, &self->n_made, self->output, &self->shard, err));
    if (locks->n > n_before && !self->n_made) /* another run made it, and may have written since outputs were planned */
        MUST(segment_check_existing(outputs, self, err));
    return write_note(self, inputs, sequence, err);
}

/* The folder and those above it that were made, unless there is something in them. */
static void remove_folders(const char *path, int n_made)
{
    char *folder = n_made ? string_copy(path) : NULL;
    for (int k = 0; k < n_made && folder && rmdir(folder) == 0; k++) { /* which fails if there is something */
        char *above = path_folder(folder);
        array_free(folder);
        folder = above;
    }
    array_free(folder);
}

/* Removes the note if the folder has no results. */
static void remove_note(const struct segment *self)
{
    struct path_list files = {0};
    struct clv_error ignored;
    char *note = path_join(self->output, RUN_NOTE);
    if (note && folder_walk(&files, self->output, &ignored) == CLV_OK && !files.n)
        unlink(note);
    path_list_release(&files);
    array_free(note);
}

void segment_remove_empty(struct segment *self)
{
    if (self->n_made && !self->shard.count) {
        if (!self->file)
            remove_note(self);
        remove_folders(self->output, self->n_made);
    }
    remove_folders(self->report, self->n_report_made);
    array_free(self->parent);
    self->parent = NULL;
}
