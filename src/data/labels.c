/* Names and colours of labels: reads and writes labels.tsv, and stores them in model files. Start at
 * labels_parse_table. */
#include "data/data.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"

#define NAME_SIZE sizeof(((struct clv_labels *)0)->names[0])

void clv_labels_release(struct clv_labels *labels)
{
    arrays_free(labels->names, labels->palette);
    *labels = (struct clv_labels){0};
}

enum clv_status clv_labels_copy(struct clv_labels *copy, const struct clv_labels *labels, struct clv_error *err)
{
    OWNED(clv_labels_release) struct clv_labels result = *labels;
    result.palette = NULL;
    result.names = array_copy(labels->names, (size_t)labels->n_labels, sizeof *labels->names);
    result.palette = array_copy(labels->palette, 256, sizeof *labels->palette);
    NEED(result.names && result.palette);
    *copy = TAKE(result);
    return CLV_OK;
}

enum clv_status labels_init(struct clv_labels *labels, int32_t n_labels, struct clv_error *err)
{
    OWNED(clv_labels_release) struct clv_labels result = {.n_labels = n_labels};
    *labels = (struct clv_labels){0};
    result.names = array_zalloc((size_t)n_labels, sizeof *result.names);
    result.palette = array_zalloc(256, sizeof *result.palette);
    NEED(result.names && result.palette);
    clv_default_palette(result.palette);
    *labels = TAKE(result);
    return CLV_OK;
}

enum clv_status clv_labels_binary(struct clv_labels *labels, struct clv_error *err)
{
    struct clv_labels result;
    MUST(labels_init(&result, 2, err));
    snprintf(result.names[0], sizeof result.names[0], "background");
    snprintf(result.names[1], sizeof result.names[1], "foreground");
    /* Rose is rare in nature, so its tint is visible on any photograph; the default dark red is not visible on dark
     * animals. */
    static const uint8_t rose[3] = {236, 64, 122};
    memcpy(result.palette[1], rose, sizeof rose);
    *labels = result;
    return CLV_OK;
}

enum clv_status labels_by_number(struct clv_labels *labels, int32_t n_labels, struct clv_error *err)
{
    if (n_labels == 2)
        return clv_labels_binary(labels, err);
    MUST(labels_init(labels, n_labels, err));
    for (int32_t label = 0; label < n_labels; label++)
        snprintf(labels->names[label], sizeof labels->names[label], "label %d", label);
    return CLV_OK;
}

/* One row of labels.tsv, checked. */
struct row {
    int32_t value;
    const char *name;
    uint8_t colour[3];
    bool has_colour; /* false: the default colour stays */
};

struct columns {
    int value, name, colour[3]; /* -1: absent, except `name` */
};

static enum clv_status find_columns(struct columns *columns, const struct tsv *table, struct clv_error *err)
{
    static const char *const names[] = {"value", "name", "red", "green", "blue"};
    int *const targets[] = {&columns->value, &columns->name, &columns->colour[0], &columns->colour[1],
                            &columns->colour[2]};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        *targets[i] = tsv_column(table, names[i]);
    MUST(tsv_require_column(&columns->name, table, "name", err));
    bool has_colour = columns->colour[0] >= 0 || columns->colour[1] >= 0 || columns->colour[2] >= 0;
    for (int c = 0; c < 3 && has_colour; c++)
        MUST(tsv_require_column(&columns->colour[c], table, names[2 + c], err));
    return CLV_OK;
}

/* Without a column "value" the labels count up from 0, and void is 255. */
static enum clv_status parse_row(struct row *row, int32_t *next, const struct tsv *table, const struct columns *columns,
                                 struct clv_error *err)
{
    const char *name = table->fields[columns->name];
    bool is_void = strcmp(name, "void") == 0;
    char counted[16];
    if (columns->value < 0)
        snprintf(counted, sizeof counted, "%d", is_void ? CLV_VOID : (*next)++);
    const char *value = columns->value < 0 ? counted : table->fields[columns->value];
    if (!parse_int32(value, &row->value) || row->value < 0 || row->value > 255)
        return fail(err, CLV_ERR_DATA, "%s: line %zu: value \"%s\" is not a mask value (0 to 254)", table->path,
                    table->line, value);
    FAIL_IF(row->value == CLV_VOID && !is_void, CLV_ERR_DATA,
            "%s: line %zu: value 255 is always void, it cannot be \"%s\"", table->path, table->line, name);
    FAIL_IF(!*name || strlen(name) >= NAME_SIZE, CLV_ERR_DATA,
            "%s: line %zu: name \"%s\" has %zu bytes, must have 1 to %zu", table->path, table->line, name, strlen(name),
            NAME_SIZE - 1);
    row->name = name;
    row->has_colour = columns->colour[0] >= 0;
    for (int c = 0; c < 3 && row->has_colour; c++) {
        int32_t level;
        const char *text = table->fields[columns->colour[c]];
        FAIL_IF(!parse_int32(text, &level) || level < 0 || level > 255, CLV_ERR_DATA,
                "%s: line %zu: colour \"%s\" is not in 0 to 255", table->path, table->line, text);
        row->colour[c] = (uint8_t)level;
    }
    return CLV_OK;
}

/* The content of the rows read so far, by mask value; void values are named "void". */
struct labels_state {
    char names[256][NAME_SIZE];
    uint8_t palette[256][3];
    uint8_t is_void[256];
    int32_t highest;
};

static enum clv_status add_row(struct labels_state *reading, const struct row *row, const struct tsv *table,
                               struct clv_error *err)
{
    if (reading->names[row->value][0])
        return fail(err, CLV_ERR_DATA, "%s: line %zu: value %d is there twice", table->path, table->line, row->value);
    bool is_void = strcmp(row->name, "void") == 0;
    for (int v = 0; v < 256 && !is_void; v++)
        if (strcmp(reading->names[v], row->name) == 0)
            return fail(err, CLV_ERR_DATA, "%s: line %zu: name \"%s\" is there twice", table->path, table->line,
                        row->name);
    snprintf(reading->names[row->value], sizeof *reading->names, "%s", row->name);
    if (row->has_colour)
        memcpy(reading->palette[row->value], row->colour, 3);
    if (is_void) {
        reading->is_void[row->value] = row->value != CLV_VOID;
        memcpy(reading->palette[CLV_VOID], reading->palette[row->value], 3);
    } else if (row->value > reading->highest) {
        reading->highest = row->value;
    }
    return CLV_OK;
}

static enum clv_status read_rows(struct labels_state *reading, const char *path, char *bytes, size_t size,
                                 struct clv_error *err)
{
    OWNED(tsv_release) struct tsv table = {0};
    struct columns columns;
    int32_t next = 0;
    MUST(tsv_parse(&table, path, bytes, size, err));
    MUST(find_columns(&columns, &table, err));
    for (;;) {
        bool more;
        struct row row;
        MUST(tsv_next(&more, &table, err));
        if (!more)
            break;
        MUST(parse_row(&row, &next, &table, &columns, err));
        MUST(add_row(reading, &row, &table, err));
    }
    FAIL_IF(reading->highest < 1, CLV_ERR_DATA, "%s: names no label above 0; at least labels 0 and 1 are needed", path);
    return CLV_OK;
}

enum clv_status labels_parse_table(struct clv_labels *labels, const char *path, char *bytes, size_t size,
                                   struct clv_error *err)
{
    OWNED_ARRAY char *unread = bytes;
    OWNED_ARRAY struct labels_state *reading = array_zalloc(1, sizeof *reading);
    NEED(reading);
    reading->highest = -1;
    clv_default_palette(reading->palette);
    enum clv_status status = read_rows(reading, path, TAKE(unread), size, err);
    size_t length = err && status == CLV_ERR_DATA ? strlen(err->message) : 0;
    if (length)
        snprintf(err->message + length, sizeof err->message - length, "%s",
                 "; as of printf 'value\\tname\\n0\\tbackground\\n1\\thorse\\n' >labels.tsv");
    MUST(status);
    OWNED(clv_labels_release) struct clv_labels result = {0};
    MUST(labels_init(&result, reading->highest + 1, err));
    memcpy(result.names, reading->names, (size_t)result.n_labels * sizeof *result.names);
    memcpy(result.palette, reading->palette, sizeof reading->palette);
    memcpy(result.is_void, reading->is_void, sizeof result.is_void);
    result.from_file = true;
    *labels = TAKE(result);
    return CLV_OK;
}

enum clv_status clv_labels_read(struct clv_labels *labels, const char *path, struct clv_error *err)
{
    char *bytes;
    size_t size;
    MUST(file_read(&bytes, &size, path, TSV_MAX_SIZE, err));
    return labels_parse_table(labels, path, bytes, size, err);
}

bool label_name_fits(const char *name)
{
    const size_t length = strlen(name);
    return length && length < NAME_SIZE && text_is_utf8(name, length) && !strpbrk(name, "\t\r\n");
}

bool labels_have(const struct clv_labels *labels, int64_t label)
{
    return label >= 0 && label < labels->n_labels && labels->names[label][0] && !labels->is_void[label];
}

/* Finds the label called name[length], which is not terminated. -1: there is none. */
static int32_t find_name(const struct clv_labels *labels, const char *name, size_t length)
{
    for (int32_t label = 0; label < labels->n_labels; label++)
        if (length && strlen(labels->names[label]) == length && memcmp(labels->names[label], name, length) == 0)
            return label;
    return -1;
}

static enum clv_status refuse_name(const struct clv_labels *labels, const char *name, size_t length,
                                   struct clv_error *err)
{
    OWNED(text_release) struct text list = {0};
    text_init(&list, 1 << 16);
    for (int32_t label = 0; label < labels->n_labels; label++)
        if (labels_have(labels, label))
            text_printf(&list, "%s%s", list.size ? ", " : "", labels->names[label]);
    NEED(!list.failed);
    return fail(err, CLV_ERR_USAGE, "no label is called \"%.*s\"; there are %s",
                (int)(length < NAME_SIZE ? length : NAME_SIZE), name, list.bytes ? list.bytes : "none");
}

enum clv_status labels_hide(struct clv_labels *labels, const char *names, struct clv_error *err)
{
    uint8_t is_void[256];
    int32_t n_left = 0;
    memcpy(is_void, labels->is_void, sizeof is_void);
    for (const char *name = names, *end; name; name = *end ? end + 1 : NULL) {
        end = strchrnul(name, ',');
        int32_t label = find_name(labels, name, (size_t)(end - name));
        if (label < 0)
            return refuse_name(labels, name, (size_t)(end - name), err);
        is_void[label] = 1;
    }
    for (int32_t label = 0; label < labels->n_labels; label++)
        n_left += labels->names[label][0] && !is_void[label];
    FAIL_IF(n_left < 2, CLV_ERR_USAGE, "with \"%s\" void, %d of the labels is left; at least two are needed", names,
            n_left);
    memcpy(labels->is_void, is_void, sizeof is_void);
    return CLV_OK;
}

void labels_put_table(struct text *text, const struct clv_labels *labels)
{
    text_put(text, "value\tname\tred\tgreen\tblue\n");
    for (int32_t value = 0; value < CLV_VOID; value++) {
        const char *name = labels->is_void[value] ? "void" : value < labels->n_labels ? labels->names[value] : "";
        const uint8_t *colour = labels->palette[value];
        if (*name)
            text_printf(text, "%d\t%s\t%d\t%d\t%d\n", value, name, colour[0], colour[1], colour[2]);
    }
}

/* Returns the first void value in `from`..254, or -1. */
static int32_t next_void(const struct clv_labels *labels, int32_t from)
{
    while (from < CLV_VOID && !labels->is_void[from])
        from++;
    return from < CLV_VOID ? from : -1;
}

void labels_put_json(struct text *text, const struct clv_labels *labels)
{
    int32_t value = next_void(labels, 0);
    text_printf(text, "{\"from_file\":%d,\"void_value\":%d", labels->from_file != 0, value);
    if (value >= 0)
        value = next_void(labels, value + 1);
    for (bool is_first = true; value >= 0; value = next_void(labels, value + 1), is_first = false)
        text_printf(text, "%s%d%s", is_first ? ",\"more_void\":[" : ",", value,
                    next_void(labels, value + 1) < 0 ? "]" : "");
    text_put(text, ",\"names\":[");
    for (int32_t i = 0; i < labels->n_labels; i++) {
        text_put(text, i ? "," : "");
        text_put_json(text, labels->names[i]);
    }
    text_put(text, "]}");
}

struct clv_tensor labels_tensor(const struct clv_labels *labels)
{
    return (struct clv_tensor){
        .name = "palette", .dtype = CLV_U8, .n_dimensions = 2, .shape = {256, 3}, .data = labels->palette};
}

static enum clv_status parse_names(struct clv_labels *labels, const struct json_value *root, const char *file,
                                   struct clv_error *err)
{
    size_t n;
    const struct json_value *names = json_member(root, "names");
    FAIL_IF(!json_get_array(names, &n) || n < 2 || n > CLV_MAX_LABELS, CLV_ERR_DATA,
            "%s: its label names are not a list of 2 to %d", file, CLV_MAX_LABELS);
    labels->names = array_zalloc(n, sizeof *labels->names);
    NEED(labels->names);
    labels->n_labels = (int32_t)n;
    for (size_t i = 0; i < n; i++) {
        const char *name;
        FAIL_IF(!json_get_text(json_element(names, i), &name) || strlen(name) >= sizeof *labels->names, CLV_ERR_DATA,
                "%s: the name of label %zu is not text of less than %zu bytes", file, i, sizeof *labels->names);
        snprintf(labels->names[i], sizeof *labels->names, "%s", name);
    }
    return CLV_OK;
}

static enum clv_status parse_values(struct clv_labels *labels, const struct json_value *root, const char *file,
                                    struct clv_error *err)
{
    int64_t void_value, from_file;
    if (!json_get_int64(json_member(root, "void_value"), &void_value) || void_value < -1 || void_value >= CLV_VOID)
        return fail(err, CLV_ERR_DATA, "%s: void_value of its labels is missing or not in -1 to 254", file);
    if (!json_get_int64(json_member(root, "from_file"), &from_file) || from_file < 0 || from_file > 1)
        return fail(err, CLV_ERR_DATA, "%s: from_file of its labels is missing or neither 0 nor 1", file);
    if (void_value >= 0)
        labels->is_void[void_value] = 1;
    labels->from_file = from_file != 0;
    const struct json_value *more = json_member(root, "more_void");
    size_t n = 0;
    FAIL_IF(more && !json_get_array(more, &n), CLV_ERR_DATA, "%s: more_void of its labels is not a list", file);
    for (size_t i = 0; i < n; i++) {
        if (!json_get_int64(json_element(more, i), &void_value) || void_value < 0 || void_value >= CLV_VOID)
            return fail(err, CLV_ERR_DATA, "%s: more_void of its labels has a value that is not in 0 to 254", file);
        labels->is_void[void_value] = 1;
    }
    return CLV_OK;
}

enum clv_status labels_parse(struct clv_labels *labels, const char *json, const struct clv_tensors *tensors,
                             const char *name, struct clv_error *err)
{
    OWNED(json_drop) struct json_value *root = NULL;
    OWNED(clv_labels_release) struct clv_labels result = {0};
    const struct clv_tensor *palette;
    MUST(json_parse(&root, json, strlen(json), name, err));
    MUST(parse_names(&result, root, name, err));
    MUST(parse_values(&result, root, name, err));
    MUST(clv_tensors_require(&palette, tensors, "palette", CLV_U8, 2, (int64_t[]){256, 3}, err));
    NEED(result.palette = array_copy(palette->data, 256, sizeof *result.palette));
    *labels = TAKE(result);
    return CLV_OK;
}
