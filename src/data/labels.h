/* The parser behind clv_labels_read, for the fuzzer. */
#ifndef DATA_LABELS_H
#define DATA_LABELS_H

#include "base/text.h"
#include "cleave/data.h"

/* Parses labels.tsv from memory, which is taken as manifest_parse takes it. */
enum clv_status labels_parse_table(struct clv_labels *labels, const char *path, char *bytes, size_t size,
                                   struct clv_error *err) CLV_CHECK;

/* labels.tsv of the labels: value, name and colour of those with a name, and of void values. */
void labels_put_table(struct text *text, const struct clv_labels *labels);

#endif
