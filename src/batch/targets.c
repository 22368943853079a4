/* Plans, before any work, which files a run writes: names every file of every input, reports inputs whose files would
 * collide, protects the inputs, and finds which files exist. Start at targets_plan. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "batch/batch.h"
#include "batch/file_kinds.h"
#include "image/raster/raster.h"

#define PROBLEM_MAX_SIZE ((size_t)1 << 17)

static void target_release(struct target *target)
{
    array_free(target->mask);
    for (int k = 0; k < N_FILES; k++)
        array_free(target->files[k]);
    array_free(target->problem);
}

void target_list_release(struct target_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        target_release(&list->items[i]);
    array_free(list->items);
    *list = (struct target_list){0};
}

/* Returns folder/<below><output><ending>; NULL: out of memory. */
static char *file_path(const char *folder, const char *below, const char *output, const char *ending)
{
    size_t size = strlen(folder) + strlen(below) + strlen(output) + strlen(ending) + 2;
    char *path = array_alloc(size, 1);
    bool has_slash = *folder && folder[strlen(folder) - 1] == '/';
    if (path)
        snprintf(path, size, "%s%s%s%s%s", folder, has_slash ? "" : "/", below, output, ending);
    return path;
}

/* Whether the image is a JPEG, by its name, because planning reads no image except the headers of TIFFs. */
static bool is_jpeg(const char *image)
{
    return image && (text_ends_with(image, ".jpg") || text_ends_with(image, ".jpeg"));
}

/* Whether the image has a georeference, which its mask then has as well. */
static bool is_georeferenced(const char *image)
{
    struct georeference georeference = {0};
    if (image)
        georeference_find(&georeference, image);
    bool result = georeference_exists(&georeference);
    georeference_release(&georeference);
    return result;
}

static const char *ending_of_mask(const struct batch *run, const struct input *input)
{
    if (batch_has_maps(run))
        return ".npy";
    if (run->to.file)
        return text_ends_with(run->to.file, ".tif") ? ".tif" : ".png";
    return input->is_tiled || is_georeferenced(input->image) ? ".tif" : ".png";
}

static enum clv_status make_paths(struct target_list *list, const struct batch *run, struct clv_error *err)
{
    const struct input_list *inputs = &run->inputs;
    NEED(list->items = array_zalloc(inputs->n, sizeof *list->items));
    list->n = inputs->n;
    for (size_t i = 0; i < inputs->n; i++) {
        const struct input *input = &inputs->items[i];
        struct target *target = &list->items[i];
        target->is_tiled = input->is_tiled;
        target->mask = output_is_stream(&run->options) ? string_copy("-")
                       : run->to.is_stack              ? string_copy(run->to.file)
                                          : file_path(run->to.output, "", input->output, ending_of_mask(run, input));
        NEED(target->mask);
        for (int k = 0; k < N_FILES; k++) {
            const struct file_kind *kind = &file_kinds[k];
            const char *ending = input->is_tiled && kind->ending_tiled        ? kind->ending_tiled
                                 : k == FILE_OVERLAY && is_jpeg(input->image) ? ".jpg"
                                                                              : kind->ending;
            if (kind->is_wanted(run))
                NEED(target->files[k] = file_path(run->to.output, kind->below, input->output, ending));
        }
    }
    return CLV_OK;
}

/* Problems of single inputs. */

static enum clv_status add_problem(struct target_list *list, const struct input_list *inputs, size_t input,
                                   struct text *message, struct clv_error *err)
{
    struct target *target = &list->items[input];
    char *problem = message->failed ? NULL : string_copy(message->bytes);
    text_release(message);
    NEED(problem);
    list->n_problems += !target->problem;
    array_free(target->problem);
    target->problem = problem;
    target->problem_path_length = strlen(inputs->items[input].name);
    return CLV_OK;
}

/* Returns the length of the longest name of a target's files. */
static size_t longest_name(const struct target *target)
{
    size_t longest = strlen(path_name(target->mask));
    for (int k = 0; k < N_FILES; k++) {
        const size_t length = target->files[k] ? strlen(path_name(target->files[k])) : 0;
        longest = length > longest ? length : longest;
    }
    return longest;
}

static enum clv_status find_long_names(struct target_list *list, const struct input_list *inputs, struct clv_error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        const size_t length = longest_name(&list->items[i]);
        if (length <= NAME_MAX)
            continue;
        struct text message;
        text_init(&message, PROBLEM_MAX_SIZE);
        text_printf(&message, "%s: the name of its output would have %zu bytes, %d at most can be written",
                    inputs->items[i].name, length, NAME_MAX);
        MUST(add_problem(list, inputs, i, &message, err));
    }
    return CLV_OK;
}

/* A path of an input's file. path_of_compare orders by path, then by input. */
struct path_of {
    const char *path;
    size_t input;
};

static int path_of_compare(const void *a, const void *b)
{
    const struct path_of *first = a, *second = b;
    int order = strcmp(first->path, second->path);
    return order ? order : (first->input > second->input) - (first->input < second->input);
}

/* Adds a problem to each input of paths[first .. end), which are equal. It names another of these inputs. */
static enum clv_status add_clash(struct target_list *list, const struct input_list *inputs, const struct path_of *paths,
                                 size_t first, size_t end, struct clv_error *err)
{
    for (size_t i = first; i < end; i++) {
        const struct path_of *other = &paths[i == first ? first + 1 : first];
        struct text message;
        text_init(&message, PROBLEM_MAX_SIZE);
        text_printf(&message, "%s: its output %s would be that of %s, too", inputs->items[paths[i].input].name,
                    paths[i].path, inputs->items[other->input].name);
        MUST(add_problem(list, inputs, paths[i].input, &message, err));
    }
    return CLV_OK;
}

static enum clv_status find_clashes(struct target_list *list, const struct input_list *inputs, bool is_stack,
                                    struct clv_error *err)
{
    OWNED_ARRAY struct path_of *paths = array_alloc(list->n, (1 + N_FILES) * sizeof *paths);
    NEED(paths);
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (!i || !is_stack)
            paths[n++] = (struct path_of){list->items[i].mask, i};
        for (int k = 0; k < N_FILES; k++)
            if (list->items[i].files[k] && !file_kinds[k].is_part)
                paths[n++] = (struct path_of){list->items[i].files[k], i};
    }
    if (n)
        qsort(paths, n, sizeof *paths, path_of_compare);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && strcmp(paths[end].path, paths[first].path) == 0;)
            end++;
        if (end - first > 1)
            MUST(add_clash(list, inputs, paths, first, end, err));
    }
    return CLV_OK;
}

/* Finds the identity of the folder of a file; *exists: the folder exists. */
static enum clv_status identify(struct file_identity *identity, bool *exists, const char *path, struct clv_error *err)
{
    struct stat info;
    OWNED_ARRAY char *folder = path_folder(path);
    NEED(folder);
    *exists = stat(folder, &info) == 0;
    if (*exists)
        *identity = file_identity_of(&info);
    return CLV_OK;
}

/* Fails if a mask would be in a folder of the inputs, where the next run would read it as an image. */
static enum clv_status check_folders(const struct target_list *list, const struct input_list *inputs,
                                     struct clv_error *err)
{
    size_t n = 0;
    bool exists = false;
    OWNED_ARRAY struct file_identity *identities = array_alloc(inputs->n, sizeof *identities);
    NEED(identities);
    for (size_t i = 0; i < inputs->n; i++) {
        if (!inputs->items[i].image || inputs->items[i].bytes)
            continue;
        MUST(identify(&identities[n], &exists, inputs->items[i].image, err));
        if (exists && (!n || compare_identities(&identities[n - 1], &identities[n]) != 0))
            n++;
    }
    if (n)
        qsort(identities, n, sizeof *identities, compare_identities);
    bool is_piped = list->n && strcmp(list->items[0].mask, "-") == 0;
    for (size_t i = 0; i < list->n && n && !is_piped; i++) {
        const char *mask = list->items[i].mask;
        struct file_identity target = {0};
        MUST(identify(&target, &exists, mask, err));
        FAIL_IF(exists && bsearch(&target, identities, n, sizeof target, compare_identities), CLV_ERR_USAGE,
                "%s: the output folder is the input folder; choose another, such as -o out", mask);
    }
    return CLV_OK;
}

/* Checks of outputs by the rule of data/outputs.h. */

static enum clv_status add_outputs(struct outputs *outputs, const struct target_list *list, struct clv_error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].problem)
            continue;
        MUST(outputs_add(outputs, list->items[i].mask, err));
        for (int k = 0; k < N_FILES; k++)
            if (list->items[i].files[k] && !file_kinds[k].is_part)
                MUST(outputs_add(outputs, list->items[i].files[k], err));
    }
    outputs_sort(outputs);
    return CLV_OK;
}

static enum clv_status spare_inputs(const struct outputs *outputs, const struct input_list *inputs,
                                    struct clv_error *err)
{
    for (size_t i = 0; i < inputs->n; i++) {
        const struct input *input = &inputs->items[i];
        MUST(outputs_spare(outputs, input->image, err));
        MUST(outputs_spare(outputs, input->mask, err));
        MUST(outputs_spare(outputs, input->instances, err));
        for (size_t m = 0; m < inputs->n_maps; m++)
            MUST(outputs_spare(outputs, input->maps[m], err));
    }
    return CLV_OK;
}

/* Sets *has if `folder` is SET/masks and the image is in SET/images. */
static enum clv_status has_masks_of(bool *has, const struct stat *folder, const char *image, struct clv_error *err)
{
    static const char part[] = "images/";
    for (const char *at = strstr(image, part); at && !*has; at = strstr(at + 1, part)) {
        struct stat info;
        if (at != image && at[-1] != '/')
            continue;
        OWNED_ARRAY char *set = string_copy(image);
        NEED(set);
        set[at - image] = 0;
        OWNED_ARRAY char *masks = path_join(set, "masks");
        NEED(masks);
        *has = stat(masks, &info) == 0 && is_one_file(&info, folder);
    }
    return CLV_OK;
}

/* Fails if the output folder has the masks of the images' set, which may be drawn by hand and would be replaced. */
static enum clv_status spare_masks_beside(const struct batch *run, struct clv_error *err)
{
    const struct input_list *inputs = &run->inputs;
    struct stat folder;
    bool has = false;
    if (!run->to.outputs.n || run->options.existing != CLV_EXISTING_OVERWRITE || stat(run->to.output, &folder) != 0)
        return CLV_OK;
    for (size_t i = 0; i < inputs->n && !has; i++)
        if (inputs->items[i].image && !inputs->items[i].bytes)
            MUST(has_masks_of(&has, &folder, inputs->items[i].image, err));
    FAIL_IF(has, CLV_ERR_CREATE, "%s: has the masks of the images beside it, which the output would replace",
            run->to.output);
    return CLV_OK;
}

static enum clv_status check_exists(bool *exists, const char *path, struct clv_error *err)
{
    enum path_kind kind = PATH_ABSENT;
    MUST(path_find_kind(&kind, path, err));
    *exists = kind != PATH_ABSENT;
    return CLV_OK;
}

/* Does the same for the TIFF that is written instead of a PNG if there are too many objects for 16 bits. */
static enum clv_status check_tiff(bool *exists, const char *path, struct clv_error *err)
{
    OWNED_ARRAY char *tiff = path_replace_extension(path, ".tif");
    NEED(tiff);
    return check_exists(exists, tiff, err);
}

/* Fails if an existing file does not have the n pages of all frames, since another run wrote it. */
static enum clv_status check_pages(const char *path, size_t n, struct clv_error *err)
{
    uint32_t n_pages = 0;
    enum path_kind kind = PATH_ABSENT;
    MUST(path_find_kind(&kind, path, err));
    if (kind == PATH_ABSENT)
        return CLV_OK;
    MUST(clv_image_count(&n_pages, path, err));
    return n_pages == n ? CLV_OK
                        : fail(err, CLV_ERR_CREATE,
                               "%s: has %s, and %zu are to be written: another run's? --overwrite replaces it", path,
                               n_of(n_pages, "page", "pages").text, n);
}

/* Finds the files of tiles and windows that an interrupted run has left beside the mask. *exists: the file of tiles
 * exists. */
static enum clv_status check_tiles(bool *exists, const char *mask, enum clv_existing existing, struct clv_error *err)
{
    OWNED_ARRAY char *tiles = tiles_path(mask);
    OWNED_ARRAY char *windows = windows_path(mask);
    bool has_windows = false;
    NEED(tiles && windows);
    MUST(check_exists(exists, tiles, err));
    MUST(check_exists(&has_windows, windows, err));
    FAIL_IF((*exists || has_windows) && existing == CLV_EXISTING_REFUSE, CLV_ERR_CREATE,
            "%s: has %s of a run that did not end; --resume goes on from them, --overwrite starts again",
            *exists ? tiles : windows, *exists ? "tiles" : "windows");
    return CLV_OK;
}

/* Finds which files of a target exist, except parts, which run_item checks. */
static enum clv_status find_existing(struct target *target, const struct batch *run, struct clv_error *err)
{
    const enum clv_existing existing = (enum clv_existing)run->options.existing;
    const bool may_replace = existing != CLV_EXISTING_REFUSE, resumes = existing == CLV_EXISTING_RESUME;
    bool exists = false, has_tiles = false, is_all = resumes;
    target->has_mask = target->is_finished = false;
    target->existing = 0;
    if (target->problem)
        return CLV_OK;
    if (target->is_tiled)
        MUST(check_tiles(&has_tiles, target->mask, existing, err));
    for (int k = -1; k < N_FILES; k++) {
        const char *path = k < 0 ? target->mask : target->files[k];
        if (!path || (k >= 0 && file_kinds[k].is_part))
            continue;
        FAIL_IF(path_is_folder(path), CLV_ERR_CREATE, "%s: is a folder", path);
        MUST(output_check_existing(path, may_replace, ", --resume does the rest", err));
        if (!resumes)
            continue;
        MUST(check_exists(&exists, path, err));
        if (!exists && (k == FILE_OBJECTS || k == FILE_CLASS_OBJECTS))
            MUST(check_tiff(&exists, path, err));
        if (k < 0)
            target->has_mask = exists && !has_tiles;
        else
            target->existing |= exists ? 1U << k : 0;
        is_all &= exists;
    }
    target->is_finished = is_all && target->has_mask;
    return CLV_OK;
}

enum clv_status targets_check_existing(struct batch *run, struct clv_error *err)
{
    struct target_list *list = &run->targets;
    list->n_finished = 0;
    for (size_t i = 0; i < list->n; i++) {
        MUST(find_existing(&list->items[i], run, err));
        list->n_finished += list->items[i].is_finished;
    }
    if (run->to.is_stack && list->n_finished < list->n) /* all pages are written together */
        for (size_t i = 0; i < list->n; i++)
            list->items[i].has_mask = list->items[i].is_finished = false;
    return CLV_OK;
}

/* Keeps the targets of the shard; problems were found among the targets of all shards. */
static void cut_to_shard(struct batch *run)
{
    struct target_list *list = &run->targets;
    size_t n, kept = 0;
    run->n_all = list->n;
    shard_block(&run->first, &n, &run->options.shard, list->n);
    list->n_problems = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (i < run->first || i - run->first >= n) {
            target_release(&list->items[i]);
            continue;
        }
        list->n_problems += list->items[i].problem != NULL;
        list->items[kept++] = list->items[i];
    }
    list->n = kept;
}

/* Fails if an output is a file that an option names. */
static enum clv_status spare_named(const struct batch *run, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    const struct outputs *all = &run->to.outputs;
    const char *const named[] = {options->model_path, options->features,
                                 options->data && path_is_folder(options->data) ? NULL : options->data, options->boxes};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        MUST(outputs_spare(all, named[i], err));
    for (size_t i = 0; i < options->n_feature_files; i++)
        MUST(outputs_spare(all, options->feature_files[i], err));
    for (size_t m = 0; m < options->maps.n; m++)
        MUST(outputs_spare(all, options->maps.folders[m].folder, err));
    return CLV_OK;
}

enum clv_status target_fail(const struct target *target, struct clv_error *err)
{
    return fail_told(err, CLV_ERR_CREATE, target->problem, target->problem_path_length, NULL);
}

/* Reports every problem. Returns the last one if all inputs have one, or with fail_fast. */
static enum clv_status report_problems(const struct batch *run, struct clv_error *err)
{
    const struct target_list *list = &run->targets;
    const struct target *last = NULL;
    for (size_t i = 0; i < list->n; i++) {
        if (!list->items[i].problem)
            continue;
        if (last)
            report_message(&run->progress, CLV_COMPLAINT, "%s", last->problem);
        last = &list->items[i];
    }
    if (!last)
        return CLV_OK;
    if (run->options.fail_fast || list->n_problems == list->n)
        return target_fail(last, err);
    report_message(&run->progress, CLV_COMPLAINT, "%s", last->problem);
    return CLV_OK;
}

enum clv_status targets_plan(struct batch *run, struct clv_error *err)
{
    struct target_list *list = &run->targets;
    enum path_kind kind;
    MUST(path_find_kind(&kind, run->to.output, err));
    FAIL_IF(kind == PATH_FILE, CLV_ERR_CREATE, "%s: is not a folder", run->to.output);
    MUST(make_paths(list, run, err));
    MUST(find_clashes(list, &run->inputs, run->to.is_stack, err));
    MUST(find_long_names(list, &run->inputs, err));
    if (!run->to.file)
        MUST(check_folders(list, &run->inputs, err));
    if (run->to.is_stack && run->options.existing == CLV_EXISTING_RESUME)
        MUST(check_pages(run->to.file, run->n_frames, err));
    MUST(tables_keep(run, err));
    cut_to_shard(run);
    MUST(add_outputs(&run->to.outputs, list, err));
    MUST(spare_inputs(&run->to.outputs, &run->inputs, err));
    MUST(targets_check_existing(run, err));
    MUST(spare_named(run, err));
    MUST(spare_masks_beside(run, err));
    if (list->n_problems)
        MUST(report_problems(run, err));
    inputs_cut(&run->inputs, run->first, list->n);
    if (!list->n)
        report_message(&run->progress, CLV_NOTE, "shard %d of %d: no images in it, there are %zu in all",
                       run->options.shard.number, run->options.shard.count, run->n_all);
    return CLV_OK;
}
