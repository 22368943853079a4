/* Reads manifests: tables with one image per row, its mask, boxes, maps and split. Paths must stay inside the
 * manifest's folder. Start at manifest_parse. */
#include "data/data.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#define MAPS "maps." /* begins the column of a map; the map's name follows */

struct columns {
    int image, mask, instances, boxes, split, tags, sequence; /* -1: absent */
    int maps[CLV_MAX_MAPS];                                   /* in the order of the set's map_names */
};

/* Sets *path to a field, checked to be a path below the root; NULL if the column is absent or the field is empty. */
static enum clv_status take_path(const char **path, const struct tsv *table, int column, const char *root,
                                 struct clv_error *err)
{
    char where[64];
    *path = NULL;
    if (column < 0 || !*table->fields[column])
        return CLV_OK;
    char *field = table->fields[column];
    path_simplify(field);
    FAIL_IF(strlen(field) >= PATH_MAX, CLV_ERR_DATA, "%s: line %zu: %s is a path of %zu bytes, the limit is %d",
            table->path, table->line, table->columns[column], strlen(field), PATH_MAX - 1);
    enum clv_status status = path_check_inside(root, field, err);
    if (status) {
        snprintf(where, sizeof where, "line %zu", table->line);
        fail_about(err, status, where);
        return fail_within(err, status, table->path);
    }
    *path = field;
    return CLV_OK;
}

static enum clv_status add_row(struct clv_set *set, size_t *capacity, const struct tsv *table,
                               const struct columns *columns, struct clv_error *err)
{
    struct item_fields fields = {0};
    MUST(take_path(&fields.name, table, columns->image, set->root, err));
    FAIL_IF(!fields.name, CLV_ERR_DATA, "%s: line %zu: image is empty", table->path, table->line);
    MUST(take_path(&fields.mask, table, columns->mask, set->root, err));
    MUST(take_path(&fields.instances, table, columns->instances, set->root, err));
    MUST(take_path(&fields.boxes, table, columns->boxes, set->root, err));
    for (size_t m = 0; m < set->n_maps; m++)
        MUST(take_path(&fields.maps[m], table, columns->maps[m], set->root, err));
    fields.split = columns->split < 0 ? "" : table->fields[columns->split];
    FAIL_IF(strchr(fields.split, ','), CLV_ERR_DATA,
            "%s: line %zu: split \"%s\" has a comma, which separates splits when they are chosen", table->path,
            table->line, fields.split);
    if (columns->tags >= 0 && *table->fields[columns->tags])
        fields.tags = table->fields[columns->tags];
    if (columns->sequence >= 0 && *table->fields[columns->sequence])
        fields.sequence = table->fields[columns->sequence];
    return set_add(set, capacity, &fields, err);
}

/* An item and its line in the file, for sorting. */
struct origin {
    const struct clv_item *item;
    size_t line;
};

static int compare_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

/* Orders items by split, image and mask. */
static int compare_items(const struct clv_item *a, const struct clv_item *b)
{
    int order = strcmp(a->split, b->split);
    if (!order)
        order = strcmp(a->name, b->name);
    return order ? order : compare_text(a->mask, b->mask);
}

static int compare_origins(const void *a, const void *b)
{
    const struct origin *s = a, *t = b;
    int order = compare_items(s->item, t->item);
    return order ? order : (s->line > t->line) - (s->line < t->line);
}

/* Refuses repeated rows, with equal split, image and mask. An image may have several masks in a split, one per
 * object. */
static enum clv_status check_duplicates(const struct clv_set *set, const size_t *lines, const char *path,
                                        struct clv_error *err)
{
    OWNED_ARRAY struct origin *origins = array_alloc(set->n_items, sizeof *origins);
    NEED(origins);
    for (size_t i = 0; i < set->n_items; i++)
        origins[i] = (struct origin){&set->items[i], lines[i]};
    qsort(origins, set->n_items, sizeof *origins, compare_origins);
    const struct origin *first = NULL; /* the repeated row that comes first in the file */
    for (size_t i = 1; i < set->n_items; i++)
        if (compare_items(origins[i - 1].item, origins[i].item) == 0 && (!first || origins[i].line < first->line))
            first = &origins[i];
    FAIL_IF(first, CLV_ERR_DATA, "%s: line %zu: image \"%s\" is there twice%s%s", path, first->line, first->item->name,
            *first->item->split ? " in split " : "", first->item->split);
    return CLV_OK;
}

static enum clv_status read_rows(struct clv_set *set, struct tsv *table, const struct columns *columns,
                                 struct clv_error *err)
{
    OWNED_ARRAY size_t *lines = NULL;
    size_t capacity = 0, items_capacity = 0;
    for (;;) {
        bool more;
        MUST(tsv_next(&more, table, err));
        if (!more)
            break;
        MUST(add_row(set, &items_capacity, table, columns, err));
        NEED(!array_reserve((void **)&lines, &capacity, set->n_items, sizeof *lines));
        lines[set->n_items - 1] = table->line;
    }
    FAIL_IF(!set->n_items, CLV_ERR_DATA, "%s: has a header but no images", table->path);
    return check_duplicates(set, lines, table->path, err);
}

/* Finds every column maps.NAME. */
static enum clv_status find_maps(struct clv_set *set, struct columns *columns, const struct tsv *table,
                                 struct clv_error *err)
{
    for (size_t c = 0; c < table->n_columns; c++) {
        const char *column = table->columns[c], *name = column + strlen(MAPS);
        if (strncmp(column, MAPS, strlen(MAPS)) != 0)
            continue;
        FAIL_IF(!*name || strlen(name) > CLV_MAX_MAP_NAME, CLV_ERR_DATA,
                "%s: column \"%.60s\": a map's name has 1 to %d bytes", table->path, column, CLV_MAX_MAP_NAME);
        if (set->n_maps == CLV_MAX_MAPS)
            return fail(err, CLV_ERR_DATA, "%s: more than %d columns of maps", table->path, CLV_MAX_MAPS);
        columns->maps[set->n_maps] = (int)c;
        memcpy(set->map_names[set->n_maps++], name, strlen(name) + 1);
    }
    return CLV_OK;
}

enum clv_status manifest_parse(struct clv_set *set, const char *path, char *bytes, size_t size, struct clv_error *err)
{
    OWNED(tsv_release) struct tsv table = {0};
    struct columns columns;
    MUST(tsv_parse(&table, path, bytes, size, err));
    MUST(tsv_require_column(&columns.image, &table, "image", err));
    columns.mask = tsv_column(&table, "mask");
    columns.instances = tsv_column(&table, "instances");
    columns.boxes = tsv_column(&table, "boxes");
    columns.split = tsv_column(&table, "split");
    columns.tags = tsv_column(&table, "tags");
    columns.sequence = tsv_column(&table, "sequence");
    MUST(find_maps(set, &columns, &table, err));
    return read_rows(set, &table, &columns, err);
}

enum clv_status clv_set_read_manifest(struct clv_set *set, const char *path, struct clv_error *err)
{
    OWNED_ARRAY char *bytes = NULL;
    size_t size;
    MUST(file_read(&bytes, &size, path, TSV_MAX_SIZE, err));
    OWNED(clv_set_release) struct clv_set result = {.root = path_folder(path)};
    NEED(result.root);
    MUST(manifest_parse(&result, path, TAKE(bytes), size, err));
    MUST(set_read_labels(&result, err));
    MUST(set_mark_drafts(&result, err));
    NEED(result.manifest = string_copy(path));
    *set = TAKE(result);
    return CLV_OK;
}
