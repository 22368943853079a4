/* Finds the published splits of images (training, validation, test): by lists of images (train.txt, valid.txt,
 * test.txt), by entries of data.yaml, each a folder or a list, by subsets named in annotations, or by the names of
 * folders. Start at boxes_split_by_lists. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"

#define LARGEST_LIST ((size_t)1 << 28)

enum clv_status boxes_read_text(char **bytes, size_t *size, const char *path, struct clv_error *err)
{
    OWNED_ARRAY char *result = NULL;
    MUST(file_read(&result, size, path, LARGEST_LIST, err));
    FAIL_IF(!text_is_utf8(result, *size) || memchr(result, 0, *size), CLV_ERR_DATA, "%s: this is not UTF-8 text", path);
    *bytes = TAKE(result);
    return CLV_OK;
}

const char *boxes_split_of(const char *name, size_t length)
{
    static const char *const names[][2] = {{"train", "train"}, {"training", "train"}, {"val", "val"},
                                           {"valid", "val"},   {"validation", "val"}, {"dev", "val"},
                                           {"test", "test"},   {"testing", "test"}};
    static const char before[] = "obj_", behind[] = "_data"; /* CVAT's folders, such as obj_train_data */
    const size_t n_before = sizeof before - 1, n_behind = sizeof behind - 1;
    if (length > n_before + n_behind && text_matches_n(name, before, n_before) &&
        text_matches_n(name + length - n_behind, behind, n_behind)) {
        name += n_before;
        length -= n_before + n_behind;
    }
    while (length && is_digit(name[length - 1])) /* train2017 */
        length--;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (length == strlen(names[i][0]) && text_matches_n(name, names[i][0], length))
            return names[i][1];
    return NULL;
}

const char *boxes_split_of_path(const char *path)
{
    const char *split = NULL, *slash;
    for (const char *part = path; (slash = strchr(part, '/')); part = slash + 1) {
        const char *found = boxes_split_of(part, (size_t)(slash - part));
        split = found ? found : split;
    }
    return split;
}

enum clv_status boxes_split_image(struct boxes_builder *builder, const char *split, struct clv_error *err)
{
    struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    const char *known = boxes_split_of(split, strlen(split));
    if (!known || entry->split)
        return CLV_OK;
    entry->split = string_copy(known);
    return entry->split ? CLV_OK : fail_memory(err);
}

enum clv_status boxes_add_listed(struct boxes_builder *builder, const char *path, const char *split,
                                 struct clv_error *err)
{
    struct boxes_lists *lists = &builder->lists;
    NEED(!array_reserve((void **)&lists->entries, &lists->capacity, lists->n + 1, sizeof *lists->entries));
    OWNED_ARRAY char *copy = string_copy(path);
    OWNED_ARRAY char *name = string_copy(split);
    NEED(copy && name);
    for (char *at = copy; *at; at++)
        *at = *at == '\\' ? '/' : *at;
    path_simplify(copy);
    size_t length = strlen(copy);
    if (length > 1 && copy[length - 1] == '/')
        copy[length - 1] = 0;
    lists->is_sorted = false;
    lists->entries[lists->n++] = (struct boxes_listed){TAKE(copy), TAKE(name)};
    return CLV_OK;
}

enum clv_status boxes_read_list(struct boxes_builder *builder, const char *path, const char *split,
                                struct clv_error *err)
{
    OWNED_ARRAY char *bytes = NULL;
    size_t size;
    char *line;
    MUST(boxes_read_text(&bytes, &size, path, err));
    char *cursor = text_skip_mark(bytes, &size), *end = cursor + size;
    while ((line = line_next(&cursor, end)))
        if (line[strspn(line, " \t")])
            MUST(boxes_add_listed(builder, line, split, err));
    return CLV_OK;
}

bool boxes_is_list(const char *name)
{
    static const char *const names[] = {"classes.txt", "obj.names", "train.txt",      "val.txt",
                                        "valid.txt",   "test.txt",  "validation.txt", "_darknet.labels"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_matches(name, names[i]))
            return true;
    return text_matches_n(name, "readme", 6);
}

static int compare_listed(const void *a, const void *b)
{
    const char *s = ((const struct boxes_listed *)a)->path, *t = ((const struct boxes_listed *)b)->path;
    const char *x = path_name(s), *y = path_name(t);
    int order = boxes_compare(x, path_stem_end(s) - (size_t)(x - s), y, path_stem_end(t) - (size_t)(y - t));
    return order ? order : strcmp(s, t);
}

/* Finds the split of the listed path that has the stem name[n] and of which path[length] is the end, or that is the end
 * of path[length]. NULL: none. */
static const char *find_listed(const struct boxes_lists *lists, const char *path, size_t length, const char *name,
                               size_t n, bool is_folder)
{
    size_t low = 0, high = lists->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *listed = lists->entries[middle].path, *listed_name = path_name(listed);
        if (boxes_compare(listed_name, path_stem_end(listed) - (size_t)(listed_name - listed), name, n) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < lists->n; low++) {
        const char *listed = lists->entries[low].path, *listed_name = path_name(listed);
        if (boxes_compare(listed_name, path_stem_end(listed) - (size_t)(listed_name - listed), name, n) != 0)
            return NULL;
        if (boxes_is_tail(listed, is_folder ? strlen(listed) : path_stem_end(listed), path, length))
            return lists->entries[low].split;
    }
    return NULL;
}

enum clv_status boxes_split_by_lists(struct boxes_builder *builder, struct clv_error *err)
{
    struct boxes_lists *lists = &builder->lists;
    const char *image = builder->boxes.images[builder->boxes.n_images - 1].image, *name = path_name(image);
    if (!lists->n)
        return CLV_OK;
    if (!lists->is_sorted)
        qsort(lists->entries, lists->n, sizeof *lists->entries, compare_listed);
    lists->is_sorted = true;
    const char *split = find_listed(lists, image, strlen(image), name, strlen(name), false);
    if (!split && name > image) { /* look up its folder instead */
        size_t length = (size_t)(name - image) - 1, begin = length;
        while (begin && image[begin - 1] != '/')
            begin--;
        split = find_listed(lists, image, length, image + begin, length - begin, true);
    }
    return split ? boxes_split_image(builder, split, err) : CLV_OK;
}
