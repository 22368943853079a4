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
    for (int k = 0; k < N_OUTPUTS; k++)
        array_free(output->beside[k]);
    array_free(output->problem);
}

void output_list_release(struct output_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        output_release(&list->items[i]);
    array_free(list->items);
    *list = (struct output_list){0};
}

/* NULL when out of memory. */
static char *output_path(const char *folder, struct output_place place, const char *output)
{
    size_t size = strlen(folder) + strlen(place.below) + strlen(output) + strlen(place.ending) + 2;
    char *path = array_alloc(size, 1);
    bool has_slash = *folder && folder[strlen(folder) - 1] == '/';
    if (path)
        snprintf(path, size, "%s%s%s%s%s", folder, has_slash ? "" : "/", place.below, output, place.ending);
    return path;
}

static enum clv_status make_paths(struct output_list *list, const struct input_list *inputs, const char *folder,
                                  const char *ending, const struct output_place *places, struct clv_error *err)
{
    struct output_place mask_place = {"", ending};
    list->items = array_zalloc(inputs->n, sizeof *list->items);
    if (!list->items)
        return fail_memory(err);
    list->n = inputs->n;
    for (size_t i = 0; i < inputs->n; i++) {
        struct output *output = &list->items[i];
        const char *name = inputs->items[i].output;
        output->mask = strcmp(folder, "-") == 0 ? string_copy("-") : output_path(folder, mask_place, name);
        if (!output->mask)
            return fail_memory(err);
        for (int k = 0; k < N_OUTPUTS; k++)
            if (places[k].below && !(output->beside[k] = output_path(folder, places[k], name)))
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
    struct path_of *paths = array_alloc(list->n, (1 + N_OUTPUTS) * sizeof *paths);
    if (!paths)
        return fail_memory(err);
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        paths[n++] = (struct path_of){list->items[i].mask, i};
        for (int k = 0; k < N_OUTPUTS; k++)
            if (list->items[i].beside[k])
                paths[n++] = (struct path_of){list->items[i].beside[k], i};
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
        for (int k = 0; k < N_OUTPUTS && status == CLV_OK; k++)
            if (list->items[i].beside[k])
                status = outputs_add(outputs, list->items[i].beside[k], err);
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
        bool there = existing == EXISTING_RESUME && !output->problem;
        for (int k = -1; k < N_OUTPUTS && !output->problem && status == CLV_OK; k++) {
            const char *path = k < 0 ? output->mask : output->beside[k];
            if (path)
                status = path_is_folder(path)
                             ? fail(err, CLV_ERR_CREATE, "%s: is a folder", path)
                             : output_check_existing(path, may_replace, ", --resume does the rest", err);
            if (path && there && status == CLV_OK)
                status = check_there(&there, path, err);
        }
        output->finished = there;
        list->n_finished += output->finished;
    }
    return status;
}

enum clv_status output_plan(struct output_list *list, struct outputs *outputs, const struct input_list *inputs,
                            const char *folder, const char *ending, const struct output_place *places,
                            enum existing existing, const struct shard *shard, struct clv_error *err)
{
    struct output_list planned = {0};
    *list = planned;
    enum path_kind kind;
    enum clv_status status = path_look(&kind, folder, err);
    if (status == CLV_OK && kind == PATH_FILE)
        status = fail(err, CLV_ERR_CREATE, "%s: is not a folder", folder);
    if (status == CLV_OK)
        status = make_paths(&planned, inputs, folder, ending, places, err);
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

/* Pictures that any run may have left, and what is known of them. */
static const struct own_place {
    struct output_place place;
    bool is_mask, may_be_smaller;
} own_places[] = {
    {{"", ".png"}, true, false},
    {{"overlays/", ".png"}, false, false},
    {{"cutouts/", ".png"}, false, true},
    {{"voc/SegmentationClass/", ".png"}, true, false},
};
#define N_OWN (sizeof own_places / sizeof *own_places)

/* A file that exists where an output of an input goes. */
struct own {
    dev_t device;
    ino_t inode;
    size_t input;
    const struct own_place *place;
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
static bool may_be_made_from(const char *path, const char *image, const struct own_place *place, int32_t n_labels,
                             const struct clv_image_limits *limits)
{
    struct clv_indexed_image mask = {0};
    struct clv_error ignored;
    int32_t width, height, own_width, own_height;
    bool may = clv_image_read_size(&width, &height, image, limits, &ignored) == CLV_OK &&
               clv_image_read_size(&own_width, &own_height, path, limits, &ignored) == CLV_OK;
    if (may)
        may = place->may_be_smaller ? own_width <= width && own_height <= height
                                    : own_width == width && own_height == height;
    if (!may || !place->is_mask)
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
    *list = array_alloc(inputs->n, N_OWN * sizeof **list);
    if (!*list)
        return fail_memory(err);
    for (size_t i = 0; i < inputs->n; i++) {
        if (!inputs->items[i].is_from_folder)
            continue;
        for (size_t k = 0; k < N_OWN; k++) {
            struct own own = {.input = i, .place = &own_places[k]};
            char *path = output_path(folder, own_places[k].place, inputs->items[i].output);
            if (!path)
                return fail_memory(err);
            if (identify(&own, path))
                (*list)[(*n)++] = own;
            array_free(path);
        }
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
            may_be_made_from(path, inputs->items[list[k].input].image, list[k].place, n_labels, limits))
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
