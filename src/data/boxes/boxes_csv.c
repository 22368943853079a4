/* Tables separated by commas, as tables separated by tabs. */
#include <stdbool.h>
#include <string.h>

#include "data/boxes/boxes_formats.h"

/* The separator of the header: the one of the two that comes first; 0: it has tabs, or neither. */
static char find_separator(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size && bytes[i] != '\n' && bytes[i] != '\t'; i++)
        if (bytes[i] == ',' || bytes[i] == ';')
            return bytes[i];
    return 0;
}

size_t boxes_csv_to_tabs(char *bytes, size_t size)
{
    char separator = find_separator(bytes, size), *to = bytes;
    bool is_quoted = false;
    if (!separator)
        return size;
    for (size_t i = 0; i < size; i++) {
        char c = bytes[i];
        if (c == '"' && is_quoted && i + 1 < size && bytes[i + 1] == '"')
            *to++ = bytes[++i]; /* a quote within quotes is there twice */
        else if (c == '"')
            is_quoted = !is_quoted;
        else if (c == separator && !is_quoted)
            *to++ = '\t';
        else
            *to++ = c == '\t' || (is_quoted && (c == '\n' || c == '\r')) ? ' ' : c;
    }
    *to = 0;
    return (size_t)(to - bytes);
}
