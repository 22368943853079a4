/* Appends keys, numbers and strings of a JSON object to a text, with commas between members. */
#include "cli/common/common.h"

void json_put_key(struct text *text, const char *key)
{
    char last = text->size ? text->bytes[text->size - 1] : '{';
    text_put(text, last == '{' || last == '[' ? "" : ",");
    text_put_json(text, key);
    text_put(text, ":");
}

void json_put_number(struct text *text, const char *key, double value)
{
    json_put_key(text, key);
    text_put_json_number(text, value);
}

void json_put_string(struct text *text, const char *key, const char *value)
{
    json_put_key(text, key);
    text_put_json(text, value);
}

void json_put_values(struct text *text, const struct value *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        json_put_number(text, values[i].key, values[i].value);
}
