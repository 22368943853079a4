/* Reads svmlight multi-label files. Maps the file and copies each line into a bounded buffer, where it is split, so
 * that a line beyond the limit takes no memory. Start at clv_tag_set_read. */
#include "tags/tags.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#define MAX_NAMES_SIZE ((size_t)1 << 24)
#define MAX_NAME       256
#define SHOWN          60 /* bytes of a bad word shown in messages */

struct reader {
    const char *name;
    size_t line; /* from 1 */
    int32_t n_tags;
    struct clv_tag_set set;
    size_t rows_capacity, index_capacity, value_capacity, labels_capacity, ends_capacity;
    int32_t *labels;   /* labels of all lines, concatenated */
    size_t *label_end; /* [n] end of each line's labels */
    size_t n_labels, n_values;
};

static void free_names(char **names, size_t n)
{
    for (size_t i = 0; names && i < n; i++)
        array_free(names[i]);
    array_free(names);
}

void clv_tag_set_release(struct clv_tag_set *set)
{
    arrays_free(set->row, set->index, set->value, set->tags);
    free_names(set->names, (size_t)set->n_tags);
    *set = (struct clv_tag_set){0};
}

void name_list_release(struct name_list *list)
{
    free_names(list->names, list->n);
    *list = (struct name_list){0};
}

enum clv_status name_list_add(struct name_list *list, const char *name, struct clv_error *err)
{
    NEED(!array_reserve((void **)&list->names, &list->capacity, list->n + 1, sizeof *list->names));
    NEED(list->names[list->n] = string_copy(name));
    list->n++;
    return CLV_OK;
}

static enum clv_status add_label(struct reader *self, const char *word, struct clv_error *err)
{
    int64_t label;
    int32_t limit = self->n_tags ? self->n_tags : CLV_MAX_TAGS;
    FAIL_IF(!parse_int64(word, &label), CLV_ERR_DATA, "%s: line %zu: label \"%.*s\" is not a whole number", self->name,
            self->line, SHOWN, word);
    FAIL_IF(label < 0 || label >= limit, CLV_ERR_DATA, "%s: line %zu: label %lld is out of range, must be 0 to %d",
            self->name, self->line, (long long)label, limit - 1);
    size_t start = self->set.n ? self->label_end[self->set.n - 1] : 0;
    for (size_t i = start; i < self->n_labels; i++)
        FAIL_IF(self->labels[i] == label, CLV_ERR_DATA, "%s: line %zu: label %lld is there twice", self->name,
                self->line, (long long)label);
    if (array_reserve((void **)&self->labels, &self->labels_capacity, self->n_labels + 1, sizeof *self->labels))
        return fail_memory(err);
    self->labels[self->n_labels++] = (int32_t)label;
    return CLV_OK;
}

/* Parses labels such as "0,4". */
static enum clv_status read_labels(struct reader *self, char *word, struct clv_error *err)
{
    char *label;
    while ((label = strsep(&word, ",")))
        MUST(add_label(self, label, err));
    return CLV_OK;
}

/* Parses a feature such as "17:0.5". */
static enum clv_status read_feature(struct reader *self, char *word, int64_t *last, struct clv_error *err)
{
    struct clv_tag_set *set = &self->set;
    char *colon = strchr(word, ':');
    int64_t index;
    double value;
    if (colon)
        *colon = 0;
    FAIL_IF(!colon || !parse_int64(word, &index), CLV_ERR_DATA,
            "%s: line %zu: \"%.*s\" is not a feature of the form index:value", self->name, self->line, SHOWN, word);
    FAIL_IF(index < 1 || index > CLV_MAX_TAG_FEATURES, CLV_ERR_DATA,
            "%s: line %zu: feature %lld is out of range, must be 1 to %d", self->name, self->line, (long long)index,
            CLV_MAX_TAG_FEATURES);
    FAIL_IF(index == *last, CLV_ERR_DATA, "%s: line %zu: feature %lld is there twice", self->name, self->line,
            (long long)index);
    FAIL_IF(index < *last, CLV_ERR_DATA, "%s: line %zu: feature %lld comes after feature %lld, indices must ascend",
            self->name, self->line, (long long)index, (long long)*last);
    FAIL_IF(!parse_double(colon + 1, &value) || fabs(value) > CLV_MAX_TAG_VALUE, CLV_ERR_DATA,
            "%s: line %zu: feature %lld is \"%.*s\", which is not a finite number up to %g", self->name, self->line,
            (long long)index, SHOWN, colon + 1, CLV_MAX_TAG_VALUE);
    size_t needed = self->n_values + 1;
    if (array_reserve((void **)&set->index, &self->index_capacity, needed, sizeof *set->index) ||
        array_reserve((void **)&set->value, &self->value_capacity, needed, sizeof *set->value))
        return fail_memory(err);
    set->index[self->n_values] = (int32_t)(index - 1);
    set->value[self->n_values++] = value;
    if (index > set->n_features)
        set->n_features = (int32_t)index;
    *last = index;
    return CLV_OK;
}

static enum clv_status end_example(struct reader *self, struct clv_error *err)
{
    struct clv_tag_set *set = &self->set;
    if (array_reserve((void **)&set->row, &self->rows_capacity, set->n + 2, sizeof *set->row) ||
        array_reserve((void **)&self->label_end, &self->ends_capacity, set->n + 1, sizeof *self->label_end))
        return fail_memory(err);
    set->row[0] = 0;
    self->label_end[set->n++] = self->n_labels;
    set->row[set->n] = (int64_t)self->n_values;
    return CLV_OK;
}

static enum clv_status read_line(struct reader *self, char *line, struct clv_error *err)
{
    int64_t last = 0;
    FAIL_IF(!line[strspn(line, " \t")], CLV_ERR_DATA, "%s: line %zu is empty", self->name, self->line);
    char *cursor = line, *word = strsep(&cursor, " \t");
    if (strchr(word, ':'))
        MUST(read_feature(self, word, &last, err));
    else if (*word)
        MUST(read_labels(self, word, err));
    while ((word = strsep(&cursor, " \t")))
        if (*word)
            MUST(read_feature(self, word, &last, err));
    return end_example(self, err);
}

/* Splits the bytes into lines and parses them. */
static enum clv_status read_lines(struct reader *self, const char *bytes, size_t size, struct clv_error *err)
{
    OWNED_ARRAY char *line = NULL;
    size_t capacity = 0;
    for (const char *end = bytes + size; bytes < end;) {
        self->line++;
        size_t left = (size_t)(end - bytes), most = CLV_MAX_TAG_LINE + (size_t)2;
        const char *newline = memchr(bytes, '\n', left < most ? left : most);
        size_t length = newline ? (size_t)(newline - bytes) : left;
        const char *next = newline ? newline + 1 : end;
        if (length && bytes[length - 1] == '\r')
            length--;
        FAIL_IF(length > CLV_MAX_TAG_LINE, CLV_ERR_DATA, "%s: line %zu is longer than %d bytes", self->name, self->line,
                CLV_MAX_TAG_LINE);
        FAIL_IF(memchr(bytes, 0, length), CLV_ERR_DATA, "%s: line %zu has a zero byte: this is not a text file",
                self->name, self->line);
        if (array_reserve((void **)&line, &capacity, length + 1, 1))
            return fail_memory(err);
        memcpy(line, bytes, length);
        line[length] = 0;
        MUST(read_line(self, line, err));
        bytes = next;
    }
    FAIL_IF(!self->set.n, CLV_ERR_DATA, "%s: is empty", self->name);
    return CLV_OK;
}

/* Converts the labels of all lines to the table tags[n][n_tags]. */
static enum clv_status spread_labels(struct reader *self, struct clv_error *err)
{
    struct clv_tag_set *set = &self->set;
    set->n_tags = self->n_tags;
    for (size_t i = 0; i < self->n_labels && !self->n_tags; i++)
        if (self->labels[i] >= set->n_tags)
            set->n_tags = self->labels[i] + 1;
    FAIL_IF(!set->n_tags, CLV_ERR_DATA, "%s: has no labels at all", self->name);
    set->tags = array_zalloc(set->n, (size_t)set->n_tags);
    NEED(set->tags);
    for (size_t l = 0, i = 0; l < set->n; l++)
        for (; i < self->label_end[l]; i++)
            set->tags[l * (size_t)set->n_tags + (size_t)self->labels[i]] = 1;
    return CLV_OK;
}

static void reader_release(struct reader *self)
{
    clv_tag_set_release(&self->set);
    arrays_free(self->labels, self->label_end);
}

enum clv_status tag_set_parse(struct clv_tag_set *set, const char *bytes, size_t size, const char *name, int32_t n_tags,
                              struct clv_error *err)
{
    OWNED(reader_release) struct reader reader = {.name = name, .n_tags = n_tags};
    MUST(read_lines(&reader, bytes, size, err));
    /* Examples may have no features, but the arrays must exist. */
    if (!reader.n_values &&
        (array_reserve((void **)&reader.set.index, &reader.index_capacity, 1, sizeof *reader.set.index) ||
         array_reserve((void **)&reader.set.value, &reader.value_capacity, 1, sizeof *reader.set.value)))
        return fail_memory(err);
    MUST(spread_labels(&reader, err));
    *set = TAKE(reader.set);
    return CLV_OK;
}

static enum clv_status check_name(const char *const *names, size_t n, const char *path, struct clv_error *err)
{
    const char *name = names[n];
    if (!*name || strlen(name) >= MAX_NAME)
        return fail(err, CLV_ERR_DATA, "%s: line %zu: a name must have 1 to %d bytes", path, n + 1, MAX_NAME - 1);
    if (!text_is_utf8(name, strlen(name)) || strpbrk(name, ",\t"))
        return fail(err, CLV_ERR_DATA, "%s: line %zu: \"%s\" is not UTF-8, or has a comma or a tab", path, n + 1, name);
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return fail(err, CLV_ERR_DATA, "%s: line %zu: name \"%s\" is there twice", path, n + 1, name);
    return CLV_OK;
}

/* Reads the lines of labels.txt next to `path` into an empty list, which stays empty if that file does not exist. */
static enum clv_status read_names(struct name_list *list, const char *path, struct clv_error *err)
{
    OWNED_ARRAY char *folder = path_folder(path);
    OWNED_ARRAY char *file = folder ? path_join(folder, "labels.txt") : NULL;
    OWNED_ARRAY char *bytes = NULL;
    size_t size = 0;
    enum path_kind kind;
    NEED(file);
    MUST(path_find_kind(&kind, file, err));
    if (kind == PATH_ABSENT)
        return CLV_OK;
    MUST(file_read(&bytes, &size, file, MAX_NAMES_SIZE, err));
    char *cursor = bytes, *line;
    while ((line = line_next(&cursor, bytes + size))) {
        FAIL_IF(list->n == CLV_MAX_TAGS, CLV_ERR_DATA, "%s: more than %d names", file, CLV_MAX_TAGS);
        MUST(name_list_add(list, line, err));
        MUST(check_name((const char *const *)list->names, list->n - 1, file, err));
    }
    FAIL_IF(!list->n, CLV_ERR_DATA, "%s: is empty", file);
    return CLV_OK;
}

enum clv_status clv_tag_set_read(struct clv_tag_set *set, const char *path, int32_t n_tags, struct clv_error *err)
{
    OWNED(file_map_close) struct file_map map = {0};
    OWNED(name_list_release) struct name_list list = {0};
    OWNED(clv_tag_set_release) struct clv_tag_set result = {0};
    FAIL_IF(n_tags < 0 || n_tags > CLV_MAX_TAGS, CLV_ERR_USAGE,
            "%d tags; there must be 1 to %d, or 0 for as many as there are", n_tags, CLV_MAX_TAGS);
    MUST(file_map_open(&map, path, err));
    MUST(read_names(&list, path, err));
    size_t n_names = list.n;
    if (n_tags && n_names != (size_t)n_tags)
        name_list_release(&list); /* names of other tags */
    MUST(tag_set_parse(&result, (const char *)map.bytes, map.size, path, n_tags ? n_tags : (int32_t)n_names, err));
    result.names = TAKE(list.names);
    *set = TAKE(result);
    return CLV_OK;
}
