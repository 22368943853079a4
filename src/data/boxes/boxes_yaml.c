/* Reads YOLO's data.yaml: the names of classes in the entry `names`, a list or a map, in lines or in brackets; the
 * paths of each split's images in `train`, `val` and `test`; and whether `kpt_shape` (key points) is present. No other
 * part of YAML is supported. Start at boxes_read_yaml. */
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"

#define LARGEST_YAML ((size_t)1 << 24)
#define LONGEST_NAME 1024
#define MAX_CLASSES  100000

struct yaml {
    struct boxes_builder *builder;
    const char *path, *cursor;
    char value[LONGEST_NAME]; /* the last value read */
    size_t n_names;
};

/* Skips blanks; with `lines` also line ends, commas and comments. */
static void skip_blanks(struct yaml *self, bool lines)
{
    for (;;) {
        self->cursor += strspn(self->cursor, lines ? " \t\r\n," : " \t");
        if (!lines || *self->cursor != '#')
            return;
        self->cursor += strcspn(self->cursor, "\n");
    }
}

/* Whether a plain value ends here. */
static bool is_end(const char *at, const char *begin, const char *ends)
{
    return !*at || strchr(ends, *at) || strchr("\r\n", *at) || (*at == '#' && (at == begin || strchr(" \t", at[-1])));
}

/* Reads a quoted value, or a plain one up to one of `ends`, the line's end or a comment. Returns false if it is too
 * long, or a quote is not closed. */
static bool take_value(struct yaml *self, const char *ends)
{
    size_t n = 0;
    skip_blanks(self, false);
    const char *at = self->cursor, quote = *at;
    bool is_quoted = quote == '"' || quote == '\'';
    for (at += is_quoted; is_quoted ? *at && *at != '\n' : !is_end(at, self->cursor, ends); at++) {
        bool is_doubled = quote == '\'' && *at == quote && at[1] == quote;
        if (is_quoted && *at == quote && !is_doubled)
            break;
        at += is_doubled || (quote == '"' && *at == '\\' && at[1]);
        if (n + 1 >= sizeof self->value)
            return false;
        self->value[n++] = *at;
    }
    if (is_quoted && *at != quote)
        return false;
    while (!is_quoted && n && strchr(" \t", self->value[n - 1]))
        n--;
    self->value[n] = 0;
    self->cursor = at + is_quoted;
    return true;
}

static enum clv_status refuse(const struct yaml *self, const char *why, struct clv_error *err)
{
    return fail(err, CLV_ERR_DATA, "%s: \"names\": class %zu %s", self->path, self->n_names, why);
}

/* Reads a name, after its number if it has one. */
static enum clv_status take_name(struct yaml *self, bool has_number, const char *ends, struct clv_error *err)
{
    int32_t number, index;
    if (has_number) {
        if (!take_value(self, ":") || !parse_int32(self->value, &number) || *self->cursor != ':')
            return refuse(self, "has no number and name", err);
        if (number < 0 || (size_t)number != self->n_names)
            return refuse(self, "is not there, or not in its place", err);
        self->cursor++;
    }
    if (!take_value(self, ends) || !self->value[0])
        return refuse(self, "has no name", err);
    if (self->n_names >= MAX_CLASSES)
        return refuse(self, "is one too many", err);
    MUST(boxes_label(&index, self->builder, self->value, err));
    FAIL_IF((size_t)index != self->n_names, CLV_ERR_DATA, "%s: \"names\": class \"%s\" is there twice", self->path,
            self->value);
    self->n_names++;
    return CLV_OK;
}

static enum clv_status take_brackets(struct yaml *self, struct clv_error *err)
{
    char closing = *self->cursor++ == '[' ? ']' : '}';
    for (skip_blanks(self, true); *self->cursor != closing; skip_blanks(self, true)) {
        if (!*self->cursor)
            return refuse(self, "and the rest are missing: the brackets stay open", err);
        MUST(take_name(self, closing == '}', ",]}", err));
    }
    return CLV_OK;
}

/* Reads lines "- name" or "  number: name", up to the next entry. */
static enum clv_status take_lines(struct yaml *self, struct clv_error *err)
{
    while (*self->cursor) {
        const char *line = self->cursor;
        skip_blanks(self, false);
        bool is_dash = *self->cursor == '-' && strchr(" \t", self->cursor[1]);
        if (!strchr("#\r\n", *self->cursor)) {
            if (self->cursor == line && !is_dash)
                return CLV_OK;
            self->cursor += is_dash;
            MUST(take_name(self, !is_dash, "", err));
        }
        self->cursor += strcspn(self->cursor, "\n");
        self->cursor += *self->cursor == '\n';
    }
    return CLV_OK;
}

/* Returns the text after "KEY:" at the beginning of a line, or NULL. */
static const char *find_entry(const char *text, const char *key)
{
    const size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && line[length] == ':')
            return line + length + 1;
    }
    return NULL;
}

/* Reads the paths of a split's images: one, or a list in brackets or in lines. */
static enum clv_status take_paths(struct yaml *self, const char *split, struct clv_error *err)
{
    skip_blanks(self, false);
    bool has_brackets = *self->cursor == '[', has_lines = !has_brackets && strchr("#\r\n", *self->cursor);
    self->cursor += has_brackets;
    for (;;) {
        skip_blanks(self, has_brackets || has_lines);
        bool is_dash = *self->cursor == '-' && strchr(" \t", self->cursor[1]);
        if (has_lines ? !is_dash : !*self->cursor || *self->cursor == ']')
            return CLV_OK;
        self->cursor += has_lines;
        if (!take_value(self, has_brackets ? ",]" : "") || !self->value[0])
            return CLV_OK;
        MUST(boxes_add_listed(self->builder, self->value, split, err));
        if (!has_brackets && !has_lines)
            return CLV_OK;
    }
}

static enum clv_status take_names(struct yaml *self, struct clv_error *err)
{
    skip_blanks(self, false);
    if (*self->cursor == '[' || *self->cursor == '{')
        return take_brackets(self, err);
    self->cursor += strcspn(self->cursor, "\n"); /* a comment */
    self->cursor += *self->cursor == '\n';
    return take_lines(self, err);
}

enum clv_status boxes_read_yaml(struct boxes_builder *builder, const char *path, struct clv_error *err)
{
    static const char *const splits[] = {"train", "val", "valid", "test"};
    OWNED_ARRAY char *bytes = NULL;
    size_t size;
    MUST(file_read(&bytes, &size, path, LARGEST_YAML, err));
    FAIL_IF(!text_is_utf8(bytes, size) || memchr(bytes, 0, size), CLV_ERR_DATA, "%s: this is not UTF-8 text", path);
    const char *text = text_skip_mark(bytes, &size);
    struct yaml self = {.builder = builder, .path = path, .cursor = find_entry(text, "names")};
    if (self.cursor && !builder->n_classes) {
        MUST(take_names(&self, err));
        builder->n_classes = self.n_names;
    }
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++)
        if ((self.cursor = find_entry(text, splits[i])))
            MUST(take_paths(&self, splits[i], err));
    builder->has_key_points |= find_entry(text, "kpt_shape") != NULL;
    return CLV_OK;
}
