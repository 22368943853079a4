/* Lists the input images of a command, from files, folders, a stream of paths, standard input, a set or a feature file,
 * and gives their outputs different names. Start at inputs_add_path and inputs_name_outputs. */
#include "batch/inputs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "data/data.h"
#include "image/image.h"
#include "intake/intake.h"

#define STANDARD_INPUT "standard input"
#define STREAM_BLOCK   ((size_t)1 << 20)
#define MAX_PATH_SIZE  (1 << 16) /* most bytes of a path in a list */

void input_release(struct input *item)
{
    arrays_free(item->name, item->image, item->mask, item->instances, item->output, item->file, item->bytes);
    for (int m = 0; m < CLV_MAX_MAPS; m++)
        array_free(item->maps[m]);
    *item = (struct input){0};
}

void input_list_release(struct input_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        input_release(&list->items[i]);
    arrays_free(list->items, list->first_skipped, list->first_own);
    *list = (struct input_list){0};
}

void inputs_cut(struct input_list *list, size_t first, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (i < first || i - first >= n)
            input_release(&list->items[i]);
        else
            list->items[kept++] = list->items[i];
    }
    list->n = kept;
}

enum clv_status inputs_add_object(struct input_list *list, const char *name, const char *image, const char *mask,
                                  const char *output, struct clv_error *err)
{
    if (array_reserve((void **)&list->items, &list->capacity, list->n + 1, sizeof *list->items))
        return fail_memory(err);
    struct input *item = &list->items[list->n++];
    *item = (struct input){
        .name = string_copy(name),
        .image = image ? string_copy(image) : NULL,
        .mask = mask ? string_copy(mask) : NULL,
        .output = string_copy(output),
    };
    bool complete = item->name && item->output && (item->image || !image) && (item->mask || !mask);
    return complete ? CLV_OK : fail_memory(err);
}

/* Adds an input whose output is named after `file`. */
static enum clv_status add(struct input_list *list, const char *name, const char *image, const char *mask,
                           const char *file, struct clv_error *err)
{
    OWNED_ARRAY char *output = path_output(file, false);
    NEED(output);
    MUST(inputs_add_object(list, name, image, mask, output, err));
    NEED(list->items[list->n - 1].file = string_copy(file));
    return CLV_OK;
}

/* Adds a file, or each page of a TIFF with several pages. `output` is the end of `path` after which the output is
 * named. */
static enum clv_status add_image(struct input_list *list, const char *path, const char *output, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list pages = {0};
    MUST(path_list_add_pages(&pages, "", path, err));
    size_t before = strlen(path) - strlen(output);
    for (size_t i = 0; i < pages.n; i++) {
        MUST(add(list, pages.paths[i], pages.paths[i], NULL, pages.paths[i] + before, err));
        list->items[list->n - 1].is_path = true;
    }
    return CLV_OK;
}

static bool is_below(const char *path, const char *folder)
{
    char real[PATH_MAX];
    if (!folder || !realpath(path, real))
        return false;
    size_t length = strlen(folder);
    return strncmp(real, folder, length) == 0 && (real[length] == '/' || length == 1);
}

/* A folder whose images are inputs. */
struct input_folder {
    const char *path, *skip_below;
    bool takes_arrays; /* its images are .npy files */
};

static enum clv_status add_folder_file(struct input_list *list, const struct input_folder *folder, const char *below,
                                       bool is_mask, struct clv_error *err)
{
    OWNED_ARRAY char *path = path_join(folder->path, below);
    NEED(path);
    if (is_below(path, folder->skip_below)) {
        /* an earlier run's output */
    } else if (is_mask || set_is_own(below) || set_is_of_run(folder->path, below)) {
        if (path_is_image(path) && !list->n_own++ && !(list->first_own = string_copy(path)))
            return fail_memory(err);
    } else if (set_may_be_image(path, folder->takes_arrays)) {
        MUST(add_image(list, path, below, err));
    } else if (!set_is_table(below)) {
        list->n_skipped++;
        if (!list->first_skipped && !(list->first_skipped = string_copy(path)))
            return fail_memory(err);
    }
    return CLV_OK;
}

enum clv_status inputs_add_path(struct input_list *list, const char *path, const struct clv_progress *progress,
                                struct clv_error *err)
{
    if (!path_is_folder(path))
        return add_image(list, path, path_name(path), err);
    /* An output folder inside the input folder is skipped. targets_plan checks an output folder that is the input
     * folder or around it. */
    char real[PATH_MAX];
    bool inside = list->skip_below && realpath(path, real) && strcmp(real, list->skip_below) != 0 &&
                  is_below(list->skip_below, real);
    struct input_folder folder = {.path = path, .skip_below = inside ? list->skip_below : NULL};
    OWNED(path_list_release) struct path_list files = {0};
    OWNED(path_list_release) struct path_list masks = {0};
    MUST(folder_walk(&files, path, err));
    MUST(set_take_masks(&masks, &files, path, err));
    folder.takes_arrays = set_has_arrays_alone(&files, path, true);
    for (size_t i = 0; i < files.n; i++)
        MUST(add_folder_file(list, &folder, files.paths[i], false, err));
    for (size_t i = 0; i < masks.n; i++)
        MUST(add_folder_file(list, &folder, masks.paths[i], true, err));
    report_count(progress, path, files.n_unreadable, UNREADABLE_FOLDERS, files.first_unreadable);
    report_count(progress, path, files.n_links, LINKED_FOLDERS, files.first_link);
    return CLV_OK;
}

enum clv_status inputs_add_standard(struct input_list *list, size_t max_size, struct clv_error *err)
{
    OWNED_ARRAY uint8_t *bytes = NULL;
    size_t size = 0, capacity = 0;
    do {
        if (array_reserve((void **)&bytes, &capacity, size + STREAM_BLOCK, 1))
            return fail_memory(err);
        size += fread(bytes + size, 1, STREAM_BLOCK, stdin);
        FAIL_IF(size > max_size, CLV_ERR_DATA, "standard input: more than %zu bytes, which no image has", max_size);
    } while (!feof(stdin) && !ferror(stdin));
    if (ferror(stdin))
        return fail_errno(err, CLV_ERR_NO_INPUT, "standard input: cannot read");
    MUST(inputs_add_object(list, STANDARD_INPUT, "-", NULL, "-", err));
    list->items[list->n - 1].bytes = TAKE(bytes);
    list->items[list->n - 1].size = size;
    return CLV_OK;
}

enum clv_status input_read_image(struct clv_image *image, const struct input *item,
                                 const struct clv_image_limits *limits, const struct clv_progress *progress,
                                 struct clv_error *err)
{
    static bool is_noted; /* by any thread */
    if (!item->bytes) {
        MUST(clv_image_read(image, item->image, limits, err));
        if (image_is_12_bit(image, item->image, limits) && !__atomic_exchange_n(&is_noted, true, __ATOMIC_RELAXED))
            report_message(progress, CLV_NOTE,
                           "%s: this 16-bit image has no value above 4095; a model trained with --range 0,4095 sees "
                           "what is in it",
                           item->image);
        return CLV_OK;
    }
    enum clv_status status = clv_image_decode(image, item->bytes, item->size, limits, err);
    return status == CLV_OK ? CLV_OK : fail_within(err, status, STANDARD_INPUT);
}

enum clv_status inputs_add_stream(struct input_list *list, FILE *stream, char separator,
                                  const struct clv_progress *progress, struct clv_error *err)
{
    OWNED(text_release) struct text path = {0};
    text_init(&path, MAX_PATH_SIZE);
    for (int c = 0; c != EOF;) {
        c = getc(stream);
        if (c != EOF && c != separator) {
            char byte = (char)c;
            text_append(&path, &byte, 1);
            if (path.failed) {
                FAIL_IF(path.size + 2 > MAX_PATH_SIZE, CLV_ERR_DATA,
                        "standard input: a path is longer than %d bytes; is it a list?", MAX_PATH_SIZE);
                return fail_memory(err);
            }
            continue;
        }
        if (separator == '\n' && path.size && path.bytes[path.size - 1] == '\r')
            path.bytes[--path.size] = 0;
        if (path.size)
            MUST(inputs_add_path(list, path.bytes, progress, err));
        path.size = 0;
    }
    if (ferror(stream))
        return fail_errno(err, CLV_ERR_NO_INPUT, "standard input: cannot read");
    return CLV_OK;
}

size_t path_shared_folder(const char *a, size_t common, const char *b)
{
    size_t shared = 0;
    for (size_t i = 0; i < common && a[i] == b[i]; i++)
        if (a[i] == '/')
            shared = i + 1;
    return shared;
}

/* Returns the path from the root, without "." and "..", and without following links; the caller frees it with
 * array_free. NULL: out of memory. */
static char *absolute_path(const char *path)
{
    char here[PATH_MAX] = "";
    if (*path != '/' && !getcwd(here, sizeof here))
        here[0] = 0;
    size_t size = strlen(here) + strlen(path) + 3, n = 0;
    char *joined = array_alloc(size, 1), *absolute = array_alloc(size, 1), *cursor = joined, *part;
    if (!joined || !absolute) {
        arrays_free(joined, absolute);
        return NULL;
    }
    snprintf(joined, size, "%s/%s", here, path);
    absolute[0] = 0;
    while ((part = strsep(&cursor, "/"))) {
        if (strcmp(part, "..") == 0) {
            while (n && absolute[--n] != '/')
                ;
            absolute[n] = 0;
        } else if (*part && strcmp(part, ".") != 0) {
            n += (size_t)snprintf(absolute + n, size - n, "/%s", part);
        }
    }
    array_free(joined);
    return absolute;
}

struct placed {
    const char *output;
    char *path; /* absolute */
    struct input *item;
};

static int compare_placed(const void *a, const void *b)
{
    return strcmp(((const struct placed *)a)->output, ((const struct placed *)b)->output);
}

/* Whether two inputs with the same output are in different folders. placed[n] is sorted by output. */
static bool folders_differ(const struct placed *placed, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const char *one = placed[i - 1].path, *other = placed[i].path;
        size_t length = (size_t)(path_name(one) - one);
        if (strcmp(placed[i - 1].output, placed[i].output) == 0 &&
            (length != (size_t)(path_name(other) - other) || strncmp(one, other, length) != 0))
            return true;
    }
    return false;
}

static enum clv_status keep_folders(const struct placed *placed, size_t n, struct clv_error *err)
{
    size_t common = (size_t)(path_name(placed[0].path) - placed[0].path);
    for (size_t i = 1; i < n; i++)
        common = path_shared_folder(placed[0].path, common, placed[i].path);
    for (size_t i = 0; i < n; i++) {
        char *file = string_copy(placed[i].path + common);
        NEED(file);
        array_free(placed[i].item->file);
        placed[i].item->file = file;
    }
    return CLV_OK;
}

/* Names the outputs of all inputs that have a file. Files of one stem in one folder keep their extensions. */
static enum clv_status rename_outputs(struct input_list *list, struct clv_error *err)
{
    OWNED_ARRAY const char **files = array_alloc(list->n, sizeof *files);
    OWNED_ARRAY bool *is_shared = array_alloc(list->n, sizeof *is_shared);
    size_t n = 0, k = 0;
    NEED(files && is_shared);
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].file)
            files[n++] = list->items[i].file;
    MUST(path_find_shared_stems(is_shared, files, n, err));
    for (size_t i = 0; i < list->n; i++) {
        struct input *item = &list->items[i];
        if (!item->file)
            continue;
        array_free(item->output);
        item->output = path_output(item->file, is_shared[k++]);
        NEED(item->output);
    }
    return CLV_OK;
}

struct placed_list {
    struct placed *items;
    size_t n;
};

static void placed_list_release(struct placed_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        array_free(list->items[i].path);
    array_free(list->items);
}

/* Lets inputs that are given as paths keep their folders if two of them would have the same output. */
static enum clv_status separate_outputs(struct input_list *list, struct clv_error *err)
{
    OWNED(placed_list_release) struct placed_list placed = {.items = array_alloc(list->n, sizeof *placed.items)};
    NEED(placed.items);
    for (size_t i = 0; i < list->n; i++) {
        struct input *item = &list->items[i];
        if (!item->is_path)
            continue;
        placed.items[placed.n] = (struct placed){item->output, absolute_path(item->image), item};
        NEED(placed.items[placed.n++].path);
    }
    if (!placed.n)
        return CLV_OK;
    qsort(placed.items, placed.n, sizeof *placed.items, compare_placed);
    return folders_differ(placed.items, placed.n) ? keep_folders(placed.items, placed.n, err) : CLV_OK;
}

enum clv_status inputs_name_outputs(struct input_list *list, const struct clv_progress *progress, struct clv_error *err)
{
    struct stack_note stacks = {0};
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].is_path)
            stack_note_add(&stacks, list->items[i].image);
    stack_note_report(&stacks, progress);
    MUST(separate_outputs(list, err));
    return rename_outputs(list, err);
}

size_t set_common_folder(const struct clv_set *set)
{
    if (!set->n_items)
        return 0;
    const char *first = set->items[0].name;
    size_t common = (size_t)(path_name(first) - first);
    for (size_t i = 1; i < set->n_items && common; i++)
        common = path_shared_folder(first, common, set->items[i].name);
    return common;
}

/* Returns the sorted names of the images; the caller frees them with array_free. */
static const char **sorted_names(const struct clv_set *set)
{
    const char **names = array_alloc(set->n_items, sizeof *names);
    for (size_t i = 0; names && i < set->n_items; i++)
        names[i] = set->items[i].name;
    if (names)
        qsort(names, set->n_items, sizeof *names, compare_strings);
    return names;
}

static bool is_repeated(const char *const *names, size_t n, const char *name)
{
    const char *const *found = bsearch(&name, names, n, sizeof *names, compare_strings);
    return found &&
           ((found > names && strcmp(found[-1], name) == 0) || (found + 1 < names + n && strcmp(found[1], name) == 0));
}

/* Returns the length of the path of the folder that has all masks. */
static size_t masks_folder(const struct clv_set *set)
{
    const char *first = NULL;
    size_t common = 0;
    for (size_t i = 0; i < set->n_items; i++) {
        const char *mask = set->items[i].mask;
        common = !mask ? common : first ? path_shared_folder(first, common, mask) : (size_t)(path_name(mask) - mask);
        first = first ? first : mask;
    }
    return common;
}

static enum clv_status copy_instances(struct input *input, const struct clv_item *item, struct clv_error *err)
{
    input->instances = string_copy(item->instances);
    input->is_derived = item->is_derived;
    return input->instances ? CLV_OK : fail_memory(err);
}

enum clv_status inputs_add_set(struct input_list *list, const struct clv_set *set, size_t common, struct clv_error *err)
{
    OWNED_ARRAY const char **names = sorted_names(set);
    size_t masks = masks_folder(set);
    NEED(names);
    for (size_t i = 0; i < set->n_items; i++) {
        const struct clv_item *item = &set->items[i];
        const char *file =
            item->mask && is_repeated(names, set->n_items, item->name) ? item->mask + masks : item->name + common;
        MUST(add(list, item->name, item->image, item->mask, file, err));
        if (item->instances)
            MUST(copy_instances(&list->items[list->n - 1], item, err));
        for (size_t m = 0; m < set->n_maps; m++)
            if (item->maps[m])
                NEED(list->items[list->n - 1].maps[m] = string_copy(item->maps[m]));
    }
    memcpy(list->map_names, set->map_names, sizeof list->map_names);
    list->n_maps = set->n_maps;
    return rename_outputs(list, err);
}

enum clv_status input_read_mask(struct clv_mask *mask, const struct input *item, const struct clv_labels *labels,
                                int32_t expected_width, int32_t expected_height, const struct clv_image_limits *limits,
                                struct clv_error *err)
{
    const struct clv_item truth = {.mask = item->mask, .is_derived = item->is_derived};
    const struct mask_wanted wanted = {expected_width, expected_height, limits};
    return item_mask_read(mask, &truth, labels, &wanted, err);
}

enum clv_status inputs_add_dataset(struct input_list *list, const struct clv_dataset *dataset, struct clv_error *err)
{
    size_t n = clv_dataset_size(dataset);
    const char *first = n ? clv_dataset_name(dataset, 0) : "";
    size_t common = (size_t)(path_name(first) - first);
    for (size_t i = 1; i < n; i++)
        common = path_shared_folder(first, common, clv_dataset_name(dataset, i));
    for (size_t i = 0; i < n; i++) {
        const char *name = clv_dataset_name(dataset, i), *stem = path_name(name);
        FAIL_IF(!*stem || path_check_inside("", name + common, NULL) != CLV_OK, CLV_ERR_DATA,
                "item %zu is named \"%s\": no name of a file in the output's folder", i, name);
        MUST(add(list, name, NULL, NULL, name + common, err));
    }
    return CLV_OK;
}
