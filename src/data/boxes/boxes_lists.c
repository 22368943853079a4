/* Finds the files beside YOLO's annotations: names of classes, one per line of classes.txt or obj.names or in the entry
 * `names` of data.yaml, and lists of the images of each split. Start at boxes_read_lists. */
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"

#define MAX_CLASSES 100000

enum clv_status boxes_read_classes(struct boxes_builder *builder, const char *path, struct clv_error *err)
{
    OWNED_ARRAY char *bytes = NULL;
    size_t size, number = 0;
    char *line;
    MUST(boxes_read_text(&bytes, &size, path, err));
    char *cursor = text_skip_mark(bytes, &size);
    while (size && strchr("\r\n", cursor[size - 1])) /* empty lines at the end are not classes */
        size--;
    char *end = cursor + size;
    while ((line = line_next(&cursor, end))) {
        int32_t index;
        MUST(boxes_label(&index, builder, line, err));
        FAIL_IF((size_t)index != number++, CLV_ERR_DATA, "%s: line %zu: class \"%s\" is there twice", path, number,
                line);
        FAIL_IF(number > MAX_CLASSES, CLV_ERR_DATA, "%s: more than %d classes", path, MAX_CLASSES);
    }
    builder->n_classes = number;
    return CLV_OK;
}

/* Finds the first existing file of names[n], which are relative to `folder`. *path is NULL if none exists; free it with
 * array_free. */
static enum clv_status find_file(char **path, const char *folder, const char *const *names, size_t n,
                                 struct clv_error *err)
{
    *path = NULL;
    for (size_t i = 0; i < n; i++) {
        OWNED_ARRAY char *result = path_join(folder, names[i]);
        enum path_kind kind;
        NEED(result);
        MUST(path_find_kind(&kind, result, err));
        if (kind == PATH_FILE) {
            *path = TAKE(result);
            return CLV_OK;
        }
    }
    return CLV_OK;
}

enum clv_status boxes_read_lists(struct boxes_builder *builder, const char *folder, struct clv_error *err)
{
    static const char *const classes[] = {"classes.txt",     "../classes.txt",    "obj.names",      "../obj.names",
                                          "_darknet.labels", "../../classes.txt", "../../obj.names"};
    static const char *const tables[] = {"data.yaml",       "dataset.yaml",       "data.yml",
                                         "../data.yaml",    "../dataset.yaml",    "../data.yml",
                                         "../../data.yaml", "../../dataset.yaml", "../../data.yml"};
    static const char *const lists[][8] = {
        {"train", "train.txt", "../train.txt", "../../train.txt"},
        {"val", "valid.txt", "../valid.txt", "../../valid.txt", "val.txt", "../val.txt", "../../val.txt"},
        {"test", "test.txt", "../test.txt", "../../test.txt"},
    };
    OWNED_ARRAY char *named = NULL;
    MUST(find_file(&named, folder, classes, sizeof classes / sizeof *classes, err));
    if (named)
        MUST(boxes_read_classes(builder, named, err));
    OWNED_ARRAY char *table = NULL;
    MUST(find_file(&table, folder, tables, sizeof tables / sizeof *tables, err));
    if (table)
        MUST(boxes_read_yaml(builder, table, err));
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        OWNED_ARRAY char *list = NULL;
        size_t n = 1;
        while (n < 8 && lists[k][n])
            n++;
        MUST(find_file(&list, folder, lists[k] + 1, n - 1, err));
        if (list)
            MUST(boxes_read_list(builder, list, lists[k][0], err));
    }
    return CLV_OK;
}
