/* Named values as members of a JSON object, each with a comma before it unless it is the first. */
#ifndef CLI_PRINT_VALUES_H
#define CLI_PRINT_VALUES_H

#include "base/text.h"

void json_put_key(struct text *text, const char *key);
void json_put_number(struct text *text, const char *key, double value);
void json_put_string(struct text *text, const char *key, const char *value);

struct value {
    const char *key;
    double value;
};
void json_put_values(struct text *text, const struct value *values, size_t n);

#endif
