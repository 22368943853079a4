/* The parser behind clv_labels_read, for the fuzzer. */
#ifndef DATA_LABELS_H
#define DATA_LABELS_H

#include "cleave/data.h"

/* Parses labels.tsv from memory, which is taken as manifest_parse takes it. */
enum clv_status labels_parse_table(struct clv_labels *labels, const char *path, char *bytes, size_t size,
                                   struct clv_error *err) CLV_CHECK;

#endif
