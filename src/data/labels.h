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

/* Makes the labels of these names, comma-separated, void: their pixels are not learned from and do not count, and
 * learners of hidden nodes see nodes of unknown label there. CLV_ERR_USAGE, and nothing changes, for a name that no
 * label has (the message lists the names there are) and if fewer than two labels are left. */
enum clv_status labels_hide(struct clv_labels *labels, const char *names, struct clv_error *err) CLV_CHECK;

#endif
