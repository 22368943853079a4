#include "cli/segment/output_plan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/common/console.h"

#define PROBLEM_MAX_SIZE ((size_t)1 << 17)

static void output_release(struct output *output)
{
    array_free(output->mask);
    array_free(output->overlay);
    array_free(output->problem);
}

void output_list_release(struct output_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        output_release(&list->items[i]);
    array_free(list->items);
    *list = (struct output_list){0};
}

/* folder/[below/]output.png; NULL when out of memory. */
static char *output_path(const char *folder, const char *below, const char *output)
{
    size_t size = strlen(folder) + strlen(below) + strlen(output) + 8;
    char *path = array_alloc(size, 1);
    bool has_slash = *folder && folder[strlen(folder) - 1] == '/';
    if (path)
        snprintf(path, size, "%s%s%s%s.png", folder, has_slash ? "" : "/", below, output);
    return path;
}

static enum clv_status make_paths(struct output_list *list, const struct input_list *inputs, const char *folder,
                                  bool overlays, struct clv_error *err)
{
    list->items = array_zalloc(inputs->n, sizeof *list->items);
    if (!list->items)
        return fail_memory(err);
    list->n = inputs->n;
    for (size_t i = 0; i < inputs->n; i++) {
        struct output *output = &list->items[i];
        output->mask = strcmp(folder, "-") == 0 ? string_copy("-") : output_path(folder, "", inputs->items[i].output);
        output->overlay = overlays ? output_path(folder, "overlays/", inputs->items[i].output) : NULL;
        if (!output->mask || (overlays && !output->overlay))
            return fail_memory(err);
    }
    return CLV_OK;
}

/* --- problems of single inputs
 * ------------------------------------------------------------------------------------------- */

static enum clv_status add_problem(struct output_list *list, size_t input, struct text *message, struct clv_error *err)
{
    struct output *output = &list->items[input];
    char *problem = message->failed ? NULL : string_copy(message->bytes);
    text_release(message);
    if (!problem)
        return fail_memory(err);
    list->n_problems += !output->problem;
    array_free(output->problem);
    output->problem = problem;
    return CLV_OK;
}

static enum clv_status find_long_names(struct output_list *list, const struct input_list *inputs, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    for (size_t i = 0; i < list->n && status == CLV_OK; i++) {
        size_t length = strlen(path_name(list->items[i].mask));
        if (length <= NAME_MAX)
            continue;
        struct text message;
        text_init(&message, PROBLEM_MAX_SIZE);
        text_printf(&message, "%s: the name of its output would have %zu bytes, %d at most can be written",
                    inputs->items[i].name, length, NAME_MAX);
        status = add_problem(list, i, &message, err);
    }
    return status;
}

struct path_of {
    const char *path;
    size_t input;
};

static int compare_paths(const void *a, const void *b)
{
    const struct path_of *first = a, *second = b;
    int order = strcmp(first->path, second->path);
    return order ? order : (first->input > second->input) - (first->input < second->input);
}

/* paths[first .. end) are one: each of their inputs is told another one. */
static enum clv_status add_clash(struct output_list *list, const struct input_list *inputs, const struct path_of *paths,
                                 size_t first, size_t end, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    for (size_t i = first; i < end && status == CLV_OK; i++) {
        const struct path_of *other = &paths[i == first ? first + 1 : first];
        struct text message;
        text_init(&message, PROBLEM_MAX_SIZE);
        text_printf(&message, "%s: its output %s would be that of %s, too", inputs->items[paths[i].input].name,
                    paths[i].path, inputs->items[other->input].name);
        status = add_problem(list, paths[i].input, &message, err);
    }
    return status;
}

static enum clv_status find_clashes(struct output_list *list, const struct input_list *inputs, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    struct path_of *paths = array_alloc(list->n, 2 * sizeof *paths);
    if (!paths)
        return fail_memory(err);
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        paths[n++] = (struct path_of){list->items[i].mask, i};
        if (list->items[i].overlay)
            paths[n++] = (struct path_of){list->items[i].overlay, i};
    }
    if (n)
        qsort(paths, n, sizeof *paths, compare_paths);
    for (size_t first = 0, end; first < n && status == CLV_OK; first = end) {
        for (end = first + 1; end < n && strcmp(paths[end].path, paths[first].path) == 0;)
            end++;
        if (end - first > 1)
            status = add_clash(list, inputs, paths, first, end, err);
    }
    array_free(paths);
    return status;
}

static void cut_to_shard(struct output_list *list, const struct shard *shard)
{
    size_t first, n, kept = 0;
    shard_block(&first, &n, shard, list->n);
    list->n_problems = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (i < first || i - first >= n) {
            output_release(&list->items[i]);
            continue;
        }
        list->n_problems += list->items[i].problem != NULL;
        list->items[kept++] = list->items[i];
    }
    list->n = kept;
}

/* --- the rule for outputs
 * ------------------------------------------------------------------------------------------------ */

static enum clv_status add_outputs(struct outputs *outputs, const struct output_list *list, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    for (size_t i = 0; i < list->n && status == CLV_OK; i++) {
        if (list->items[i].problem)
            continue;
        status = outputs_add(outputs, list->items[i].mask, err);
        if (status == CLV_OK && list->items[i].overlay)
            status = outputs_add(outputs, list->items[i].overlay, err);
    }
    outputs_sort(outputs);
    return status;
}

static enum clv_status spare_inputs(const struct outputs *outputs, const struct input_list *inputs,
                                    struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    for (size_t i = 0; i < inputs->n && status == CLV_OK; i++) {
        status = outputs_spare(outputs, inputs->items[i].image, err);
        if (status == CLV_OK)
            status = outputs_spare(outputs, inputs->items[i].mask, err);
    }
    return status;
}

static enum clv_status check_there(bool *there, const char *path, struct clv_error *err)
{
    enum path_kind kind = PATH_ABSENT;
    enum clv_status status = path_look(&kind, path, err);
    *there = kind != PATH_ABSENT;
    return status;
}

static enum clv_status check_existing(struct output_list *list, enum existing existing, struct clv_error *err)
{
    bool may_replace = existing != EXISTING_REFUSE;
    enum clv_status status = CLV_OK;
    for (size_t i = 0; i < list->n && status == CLV_OK; i++) {
        struct output *output = &list->items[i];
        const char *paths[] = {output->mask, output->overlay};
        for (size_t k = 0; k < 2 && paths[k] && !output->problem && status == CLV_OK; k++)
            status = path_is_folder(paths[k])
                         ? fail(err, CLV_ERR_CREATE, "%s: is a folder", paths[k])
                         : output_check_existing(paths[k], may_replace, ", --resume does the rest", err);
        bool there = existing == EXISTING_RESUME && !output->problem;
        for (size_t k = 0; k < 2 && paths[k] && there && status == CLV_OK; k++)
            status = check_there(&there, paths[k], err);
        output->finished = there;
        list->n_finished += output->finished;
    }
    return status;
}

enum clv_status output_plan(struct output_list *list, struct outputs *outputs, const struct input_list *inputs,
                            const char *folder, bool overlays, enum existing existing, const struct shard *shard,
                            struct clv_error *err)
{
    struct output_list planned = {0};
    *list = planned;
    enum path_kind kind;
    enum clv_status status = path_look(&kind, folder, err);
    if (status == CLV_OK && kind == PATH_FILE)
        status = fail(err, CLV_ERR_CREATE, "%s: is not a folder", folder);
    if (status == CLV_OK)
        status = make_paths(&planned, inputs, folder, overlays, err);
    if (status == CLV_OK)
        status = find_clashes(&planned, inputs, err);
    if (status == CLV_OK)
        status = find_long_names(&planned, inputs, err);
    cut_to_shard(&planned, shard);
    if (status == CLV_OK)
        status = add_outputs(outputs, &planned, err);
    if (status == CLV_OK)
        status = spare_inputs(outputs, inputs, err);
    if (status == CLV_OK)
        status = check_existing(&planned, existing, err);
    if (status == CLV_OK)
        *list = planned;
    else
        output_list_release(&planned);
    return status;
}

/* --- outputs of earlier runs among the inputs
 * ---------------------------------------------------------------------------- */

/* A file that exists where an input's mask or overlay goes. */
struct own {
    dev_t device;
    ino_t inode;
    size_t input;
    bool is_mask;
};

static int compare_own(const void *a, const void *b)
{
    const struct own *first = a, *second = b;
    if (first->device != second->device)
        return first->device < second->device ? -1 : 1;
    return (first->inode > second->inode) - (first->inode < second->inode);
}

static bool identify(struct own *own, const char *path)
{
    struct stat info;
    if (!path || stat(path, &info) != 0)
        return false;
    own->device = info.st_dev;
    own->inode = info.st_ino;
    return true;
}

/* Whether the file can have been made from the image: of its size, and a mask of labels below n_labels. */
static bool may_be_made_from(const char *path, const char *image, bool is_mask, int32_t n_labels,
                             const struct clv_image_limits *limits)
{
    struct clv_indexed_image mask = {0};
    struct clv_error ignored;
    int32_t width, height, own_width, own_height;
    bool may = clv_image_read_size(&width, &height, image, limits, &ignored) == CLV_OK &&
               clv_image_read_size(&own_width, &own_height, path, limits, &ignored) == CLV_OK && width == own_width &&
               height == own_height;
    if (!may || !is_mask)
        return may;
    may = clv_indexed_image_read(&mask, path, limits, &ignored) == CLV_OK;
    for (size_t p = 0; may && p < (size_t)mask.width * (size_t)mask.height; p++)
        may = mask.values[p] < n_labels || (n_labels == 2 && !mask.palette_size && mask.values[p] == 255);
    clv_indexed_image_release(&mask);
    return may;
}

/* Outputs that inputs from folders would have, as far as they exist, sorted. */
static enum clv_status list_own(struct own **list, size_t *n, const struct input_list *inputs, const char *folder,
                                struct clv_error *err)
{
    *n = 0;
    *list = array_alloc(inputs->n, 2 * sizeof **list);
    if (!*list)
        return fail_memory(err);
    for (size_t i = 0; i < inputs->n; i++) {
        if (!inputs->items[i].is_from_folder)
            continue;
        char *mask = output_path(folder, "", inputs->items[i].output);
        char *overlay = output_path(folder, "overlays/", inputs->items[i].output);
        struct own own = {.input = i, .is_mask = true};
        if (identify(&own, mask))
            (*list)[(*n)++] = own;
        own.is_mask = false;
        if (identify(&own, overlay))
            (*list)[(*n)++] = own;
        bool complete = mask && overlay;
        array_free(mask);
        array_free(overlay);
        if (!complete)
            return fail_memory(err);
    }
    if (*n)
        qsort(*list, *n, sizeof **list, compare_own);
    return CLV_OK;
}

/* The entry of another input than i whose output that input's file may be, among list[n]; a.png is its own output as
 * well. */
static bool is_own(const struct own *list, size_t n, const struct input_list *inputs, size_t i, int32_t n_labels,
                   const struct clv_image_limits *limits)
{
    const char *path = inputs->items[i].image;
    struct own key = {0};
    if (!inputs->items[i].is_from_folder || !identify(&key, path))
        return false;
    size_t first = 0;
    for (size_t end = n; first < end;) {
        size_t middle = first + (end - first) / 2;
        if (compare_own(&list[middle], &key) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    for (size_t k = first; k < n && compare_own(&key, &list[k]) == 0; k++)
        if (list[k].input != i &&
            may_be_made_from(path, inputs->items[list[k].input].image, list[k].is_mask, n_labels, limits))
            return true;
    return false;
}

enum clv_status output_plan_leave_out_own(struct input_list *inputs, const char *folder, int32_t n_labels,
                                          const struct clv_image_limits *limits, struct clv_error *err)
{
    struct own *list = NULL;
    size_t n = 0, kept = 0;
    if (!path_is_folder(folder))
        return CLV_OK;
    bool *leave = array_zalloc(inputs->n, sizeof *leave);
    enum clv_status status = leave ? list_own(&list, &n, inputs, folder, err) : fail_memory(err);
    for (size_t i = 0; i < inputs->n && status == CLV_OK; i++)
        leave[i] = is_own(list, n, inputs, i, n_labels, limits);
    for (size_t i = 0; i < inputs->n && status == CLV_OK; i++) {
        if (leave[i])
            input_release(&inputs->items[i]);
        else
            inputs->items[kept++] = inputs->items[i];
    }
    if (status == CLV_OK && kept < inputs->n)
        console_note("outputs of an earlier run in %s were left out: %zu", folder, inputs->n - kept);
    if (status == CLV_OK)
        inputs->n = kept;
    array_free(leave);
    array_free(list);
    return status;
}
