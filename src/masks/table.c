/* Reads tables of colours that other programs write beside their masks. A line has three successive numbers from 0 to
 * 255 and a name before or after them; the rest is ignored. Start at colour_table_parse. */
#include <string.h>

#include "base/base.h"
#include "masks/masks.h"

void colour_table_release(struct colour_table *self)
{
    arrays_free(self->rows, self->bytes);
    *self = (struct colour_table){0};
}

/* Reads three numbers, separated by commas or blanks, and sets *end behind them. Returns the colour, or -1. */
static int32_t take_colour(const char **end, const char *at)
{
    int32_t colour = 0;
    for (int k = 0; k < 3; k++) {
        int level = 0, n = 0;
        at += strspn(at, k ? " \t,;" : " \t");
        for (; is_digit(*at) && n < 4; at++, n++)
            level = 10 * level + (*at - '0');
        if (!n || n > 3 || level > 255)
            return -1;
        colour = colour << 8 | level;
    }
    *end = at;
    return colour;
}

/* Removes blanks, commas, colons and quotes at both ends. */
static char *trim(char *name, size_t length)
{
    static const char around[] = " \t,;:\"'";
    while (length && strchr(around, name[length - 1]))
        length--;
    name[length] = 0;
    return name + strspn(name, around);
}

/* Parses a line; false: it has no colour, or is a comment. */
static bool parse_line(struct code_row *row, char *line)
{
    const char *end = NULL;
    int32_t colour = -1;
    char *at = line;
    for (; *at && colour < 0; at++) {
        const bool begins = is_digit(*at) && (at == line || strchr(" \t,;:", at[-1]));
        colour = begins ? take_colour(&end, at) : -1;
        if (colour >= 0)
            break;
    }
    if (colour < 0 || *line == '#')
        return false;
    char *before = trim(line, (size_t)(at - line));
    char *rest = (char *)(line + (end - line));
    char *after = trim(rest, strcspn(rest, ":"));
    const char *name = *before ? before : after;
    *row = (struct code_row){-1, colour, *name ? name : NULL};
    return true;
}

enum clv_status colour_table_parse(struct colour_table *self, const char *path, char *bytes, size_t size,
                                   struct clv_error *err)
{
    OWNED(colour_table_release) struct colour_table result = {.bytes = bytes};
    size_t capacity = 0;
    char *end = bytes + size, *cursor = text_skip_mark(bytes, &size);
    for (char *line; (line = line_next(&cursor, end));) {
        struct code_row row;
        if (!parse_line(&row, line))
            continue;
        NEED(array_reserve((void **)&result.rows, &capacity, result.table.n_rows + 1, sizeof *result.rows) == 0);
        if (row.name && (strcmp(row.name, "void") == 0 || strcmp(row.name, "Void") == 0))
            row.name = NULL;
        FAIL_IF(row.name && (strlen(row.name) > 63 || !text_is_utf8(row.name, strlen(row.name))), CLV_ERR_DATA,
                "%s: a name of more than 63 bytes, or not in UTF-8", path);
        result.rows[result.table.n_rows++] = row;
    }
    result.table = (struct code_table){"table", path, result.rows, result.table.n_rows, -1};
    *self = TAKE(result);
    return CLV_OK;
}

enum clv_status colour_table_find(struct colour_table *self, const char *folder, struct clv_error *err)
{
    static const char *const names[] = {"labelmap.txt", "label_colors.txt", "class_dict.csv", "label_colours.txt"};
    OWNED_ARRAY char *above = path_folder(folder);
    NEED(above);
    for (size_t k = 0; k < 2 * (sizeof names / sizeof *names); k++) {
        OWNED_ARRAY char *path = path_join(k % 2 ? above : folder, names[k / 2]);
        char *bytes;
        size_t size;
        NEED(path);
        if (!path_exists(path) || path_is_folder(path))
            continue;
        MUST(file_read(&bytes, &size, path, (size_t)1 << 20, err));
        MUST(colour_table_parse(self, names[k / 2], bytes, size, err));
        if (self->table.n_rows > 1)
            return CLV_OK;
        colour_table_release(self);
    }
    return CLV_OK;
}
