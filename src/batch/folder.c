/* Makes and locks the output folder, or the output's only file: claims the files that a run writes once, writes the
 * note of the model and the options of the folder's results, and removes folders that stayed empty. Start at
 * folder_make_all. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/digest.h"
#include "batch/batch.h"
#include "sequence/sequence.h"

/* Fails if the output is a new name with the extension of a file that is not a mask: it is hardly meant as a folder. */
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

enum clv_status folder_take_file(struct batch *run, bool is_one_sequence, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    struct destination *to = &run->to;
    const char *output = options->output;
    const size_t n = strlen(output);
    const bool is_file = n > 4 && (strcmp(output + n - 4, ".png") == 0 || strcmp(output + n - 4, ".tif") == 0) &&
                         !path_is_folder(output);
    to->output = output;
    if (!is_file || batch_has_maps(run))
        return refuse_ending(output, batch_has_maps(run), err);
    to->is_stack = (run->labeller->lacks & NEEDS_APART) && text_ends_with(output, ".tif");
    FAIL_IF(to->is_stack && !is_one_sequence, CLV_ERR_USAGE,
            "-o %s: one file for the slices of several sequences; -o FOLDER has all masks", output);
    FAIL_IF(run->inputs.n != 1 && !to->is_stack, CLV_ERR_USAGE,
            "-o %s: one file for the results of %zu images; -o FOLDER has a file of each", output, run->inputs.n);
    OWNED_ARRAY char *stem = path_stem(output);
    to->folder = path_folder(output);
    NEED(stem && to->folder);
    if (!to->is_stack) {
        array_free(run->inputs.items->output);
        run->inputs.items->output = TAKE(stem);
    }
    to->file = output;
    to->output = to->folder;
    return CLV_OK;
}

/* Finds the folder below which all files were found: root[PATH_MAX], or "" if there are several, or a file does not
 * exist. */
static enum clv_status find_root(char *root, const struct input_list *inputs, struct clv_error *err)
{
    char folder[PATH_MAX] = "";
    bool is_one = inputs->n > 0;
    for (size_t i = 0; i < inputs->n && is_one; i++) {
        const struct input *input = &inputs->items[i];
        char *path = i ? folder : root;
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

/* Writes a line for each frame whose mask was given. */
static enum clv_status put_given(struct text *note, const struct given_frames *given, struct clv_error *err)
{
    size_t common = given ? set_common_folder(given->set) : 0;
    for (size_t i = 0; given && i < given->set->n_items; i++) {
        if (!given->is_given[i])
            continue;
        OWNED_ARRAY char *name = path_output(given->set->items[i].name + common, false);
        NEED(name);
        text_printf(note, "\n" RUN_NOTE_GIVEN "%s", name);
    }
    return CLV_OK;
}

/* Adds the content of a file of boxes or masks to the hash. */
static enum clv_status add_content(uint64_t *hash, const char *path, struct clv_error *err)
{
    char digest[DIGEST_SIZE];
    OWNED_ARRAY char *file = path_file(path);
    NEED(file);
    MUST(digest_file(digest, file, err));
    *hash = hash_bytes(*hash, digest, strlen(digest));
    return CLV_OK;
}

/* Writes a hash of the boxes, which are a file, all files of a folder, or four numbers. */
static enum clv_status put_boxes(struct text *line, const char *boxes, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list files = {0};
    uint64_t hash = hash_bytes(HASH_START, "", 0);
    enum path_kind kind;
    MUST(path_find_kind(&kind, boxes, err));
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

static enum clv_status put_given_masks(struct text *line, const struct given_frames *given, struct clv_error *err)
{
    uint64_t hash = HASH_START;
    const char *last = NULL; /* a file with several pages is read once */
    size_t last_length = 0;
    for (size_t i = 0; i < given->set->n_items; i++) {
        const char *mask = given->set->items[i].mask;
        if (!given->is_given[i] || !mask)
            continue;
        size_t length;
        uint32_t page;
        hash = hash_number(hash, i);
        (void)path_page(&length, &page, mask);
        if (!last || last_length != length || strncmp(last, mask, length) != 0)
            MUST(add_content(&hash, mask, err));
        last = mask;
        last_length = length;
    }
    text_printf(line, " given=%016" PRIx64, hash);
    return CLV_OK;
}

/* Writes the last line of the note. It begins with the model, boxes or given masks that the results come from and the
 * label, which must be equal for all results of the folder; *n_identity is the length of this part. Then follow the
 * options that change the results, unless they have their defaults. */
static enum clv_status put_run(struct text *line, size_t *n_identity, const struct batch *run,
                               const struct given_frames *given, struct clv_error *err)
{
    struct clv_files_options usual;
    const struct clv_files_options *options = &run->options;
    const struct clv_image_limits *limits = &options->limits;
    const bool is_of_all = options->probabilities == CLV_PROBABILITIES_OF_ALL;
    clv_files_defaults(&usual);
    text_printf(line, "%s %s",
                batch_is_probable(run) ? "probabilities"
                : options->propagates  ? "propagate"
                                       : "segment",
                run->model ? run->model_digest : "-");
    if (options->boxes)
        MUST(put_boxes(line, options->boxes, err));
    if (options->from_masks)
        text_put(line, " from-masks");
    if (given)
        MUST(put_given_masks(line, given, err));
    if (is_of_all || options->label)
        text_printf(line, " label=%s", is_of_all ? "all" : options->label);
    if (options->probabilities == CLV_PROBABILITIES_MARGINS)
        text_put(line, " margins");
    if (options->sequence)
        text_put(line, " sequence");
    *n_identity = line->size;
    const struct {
        const char *name;
        int64_t value, usual;
    } numbers[] = {{"refine", options->refine, usual.refine},
                   {"decode", options->decode, usual.decode},
                   {"min-area", options->min_area, 0},
                   {"mask-format", options->mask_format, batch_is_probable(run) ? CLV_MASKS_GREY : CLV_MASKS_AUTO},
                   {"samples", options->n_samples, usual.n_samples},
                   {"seed", (int64_t)options->seed, 0},
                   {"side", batch_has_maps(run) ? options->side : 0, 0}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (numbers[k].value != numbers[k].usual)
            text_printf(line, " %s=%" PRId64, numbers[k].name, numbers[k].value);
    if (limits->grey16_low < limits->grey16_high)
        text_printf(line, " range=%d,%d", limits->grey16_low, limits->grey16_high);
    NEED(!line->failed);
    return CLV_OK;
}

/* Refuses to resume results of another model, and warns of results of other options. `before` is the note of the
 * existing results. */
static enum clv_status check_run(const struct batch *run, char *before, const struct text *line, size_t n_identity,
                                 struct clv_error *err)
{
    size_t size = strlen(before);
    while (size && before[size - 1] == '\n')
        before[--size] = 0;
    const char *newline = strrchr(before, '\n'), *then = newline ? newline + 1 : before;
    bool is_same_model = strncmp(then, line->bytes, n_identity) == 0 && (!then[n_identity] || then[n_identity] == ' ');
    FAIL_IF(!is_same_model, CLV_ERR_CREATE,
            "%s: has results of another model than %s; --resume goes on with the same one, --overwrite replaces them",
            run->to.output, run->model ? batch_model_name(run) : run->labeller->name);
    const char *options = then + n_identity, *now = line->bytes + n_identity;
    if (strcmp(options, now) != 0)
        report_message(&run->progress, CLV_WARNING,
                       "%s: has results of other options (%s, now %s), which stay; --overwrite replaces them",
                       run->to.output, *options ? options + 1 : "the defaults", *now ? now + 1 : "the defaults");
    return CLV_OK;
}

/* Writes the note: a line with the folder of the images of an export, a line for each given frame, and the last line,
 * with the model and the options of the results. */
static enum clv_status write_note(const struct batch *run, const struct given_frames *given, struct clv_error *err)
{
    char root[PATH_MAX] = "";
    size_t size, n_identity = 0;
    OWNED_ARRAY char *before = NULL;
    OWNED_ARRAY char *path = path_join(run->to.output, RUN_NOTE);
    OWNED(text_release) struct text note = {0};
    OWNED(text_release) struct text line = {0};
    NEED(path);
    text_init(&note, RUN_NOTE_MAX_SIZE);
    text_init(&line, RUN_NOTE_MAX_SIZE);
    if (run->options.exports)
        MUST(find_root(root, &run->inputs, err));
    MUST(put_run(&line, &n_identity, run, given, err));
    text_put(&note, root);
    MUST(put_given(&note, given, err));
    text_printf(&note, "\n%s\n", line.bytes);
    NEED(!note.failed);
    if (run->options.existing == CLV_EXISTING_RESUME && path_exists(path))
        MUST(file_read(&before, &size, path, RUN_NOTE_MAX_SIZE, err));
    if (before)
        MUST(check_run(run, before, &line, n_identity, err));
    if (before && !*root && !given)
        return CLV_OK; /* the folder of an earlier export's images stays in the note */
    return file_write(path, note.bytes, note.size, err);
}

/* Makes and locks the folder of the masks. */
static enum clv_status make_output(struct batch *run, struct clv_error *err)
{
    struct destination *to = &run->to;
    struct output_locks *locks = &to->outputs.locks;
    int n_made = 0; /* folders made for the output's only file */
    if (to->file) {
        MUST(folder_make(&n_made, to->output, err));
        MUST(output_locks_file(locks, to->file, err));
        to->n_made = n_made;
        return targets_check_existing(run, err);
    }
    const size_t n_before = locks->n;
    MUST(output_locks_make_folder(locks, &to->n_made, to->output, &run->options.shard, err));
    if (locks->n > n_before && !to->n_made) /* another run made it, and may have written files since targets_plan */
        MUST(targets_check_existing(run, err));
    return CLV_OK;
}

/* The report's folder, which may be in that of the masks, is made after it and removed before it. */
enum clv_status folder_make_all(struct batch *run, struct clv_error *err)
{
    struct destination *to = &run->to;
    const bool is_stream = output_is_stream(&run->options);
    if (!is_stream)
        MUST(make_output(run, err));
    if (to->report)
        MUST(output_locks_make_folder(&to->outputs.locks, &to->n_report_made, to->report, NULL, err));
    return is_stream || to->file ? CLV_OK : write_note(run, run->given.set ? &run->given : NULL, err);
}

/* Removes the n_made last folders of the path, from the last one up to the first that is not empty. */
static void remove_folders(const char *path, int n_made)
{
    char *folder = n_made ? string_copy(path) : NULL;
    for (int k = 0; k < n_made && folder && rmdir(folder) == 0; k++) { /* rmdir fails for a folder that is not empty */
        char *above = path_folder(folder);
        array_free(folder);
        folder = above;
    }
    array_free(folder);
}

/* Removes the note if the folder has no results. */
static void remove_note(const struct destination *to)
{
    bool has_files = true;
    struct clv_error ignored;
    OWNED_ARRAY char *note = path_join(to->output, RUN_NOTE);
    if (note && folder_has_files(&has_files, to->output, &ignored) == CLV_OK && !has_files)
        unlink(note);
}

void folder_remove_empty(struct batch *run)
{
    struct destination *to = &run->to;
    if (to->report)
        remove_folders(to->report, to->n_report_made);
    if (to->n_made && !run->options.shard.count) {
        if (!to->file)
            remove_note(to);
        remove_folders(to->output, to->n_made);
    }
}

void destination_release(struct destination *to)
{
    outputs_release(&to->outputs);
    arrays_free(to->folder, to->report, to->status);
    *to = (struct destination){0};
}

/* Claims of the files that a run writes once. A claim checks that the run may write a file, and keeps other runs from
 * writing it. */

/* Whether this program wrote the report, by its beginning, so that --resume may replace it. */
static bool is_report_of_cleave(const char *path)
{
    char *bytes;
    size_t size;
    struct clv_error ignored;
    if (file_read_head(&bytes, &size, path, 1024, &ignored) != CLV_OK)
        return false;
    const bool found = strstr(bytes, REPORT_TITLE) || strstr(bytes, PROBABILITIES_TITLE);
    array_free(bytes);
    return found;
}

/* Claims a file. is_joined: other shards of the run write it as well. */
static enum clv_status claim(struct batch *run, const char *path, bool is_of_cleave, bool is_joined, const char *hint,
                             struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    const char *const inputs[] = {options->model_path, options->features,
                                  options->data && path_is_folder(options->data) ? NULL : options->data,
                                  options->boxes};
    const bool may_replace = options->existing == CLV_EXISTING_OVERWRITE ||
                             (is_of_cleave && (options->existing == CLV_EXISTING_RESUME || is_joined));
    enum path_kind kind = PATH_ABSENT; /* a folder that does not exist yet has no files */
    MUST(path_find_kind(&kind, path, err));
    return kind == PATH_ABSENT
               ? CLV_OK
               : outputs_claim(&run->to.outputs, path, may_replace, hint, inputs, sizeof inputs / sizeof *inputs, err);
}

static enum clv_status claim_tables(struct batch *run, struct clv_error *err)
{
    char *paths[3];
    int n = 0;
    enum clv_status status = tables_paths(paths, &n, run, err);
    for (int k = 0; k < n; k++) {
        const bool is_coco = paths[k] && text_ends_with(paths[k], ".json");
        if (status == CLV_OK)
            status = claim(run, paths[k], !is_coco || annotations_are_of_cleave(paths[k]), run->options.shard.count > 0,
                           ", --resume does the rest", err);
        array_free(paths[k]);
    }
    return status;
}

enum clv_status folder_claim(struct batch *run, struct clv_error *err)
{
    struct destination *to = &run->to;
    MUST(status_claim(run, err));
    if (!to->report)
        return claim_tables(run, err);
    OWNED_ARRAY char *page = path_join(to->report, "index.html");
    OWNED_ARRAY char *picture = path_join(to->report, "index-pictures/000101-1.jpg");
    NEED(page && picture);
    MUST(claim(run, page, is_report_of_cleave(page), false, "", err));
    MUST(claim_tables(run, err));
    /* of the pictures of a large report only one is checked */
    return output_check_existing(picture, run->options.existing != CLV_EXISTING_REFUSE, "", err);
}

enum clv_status folder_lock(struct batch *run, struct clv_error *err)
{
    struct destination *to = &run->to;
    struct output_locks *locks = &to->outputs.locks;
    if (!output_is_stream(&run->options))
        MUST(output_locks_folder(locks, run->options.output, &run->options.shard, err));
    if (to->report)
        MUST(output_locks_folder(locks, to->report, NULL, err));
    return CLV_OK;
}
