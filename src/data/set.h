/* Building sets. */
#ifndef DATA_SET_H
#define DATA_SET_H

#include "cleave/data.h"

/* Parses a manifest from memory (array_alloc'd with one writable byte behind the end; taken whatever the outcome). set->root
 * must be set; items are added. `path` names it in messages. */
enum clv_status manifest_parse(struct clv_set *set, const char *path, char *bytes, size_t size,
                               struct clv_error *err) CLV_CHECK;

/* Parses labels.tsv from memory, taken likewise. */
enum clv_status labels_parse_table(struct clv_labels *labels, const char *path, char *bytes, size_t size,
                                   struct clv_error *err) CLV_CHECK;

/* Appends an item; capacity is the caller's. `mask`, `boxes` and `tags` may be NULL; all but image are relative to the root. */
struct item_fields {
    const char *name, *mask, *boxes, *split, *tags;
};
enum clv_status set_add(struct clv_set *set, size_t *capacity, const struct item_fields *fields,
                        struct clv_error *err) CLV_CHECK;

/* Reads labels.tsv in the root if there is one, else the labels are binary. */
enum clv_status set_read_labels(struct clv_set *set, struct clv_error *err) CLV_CHECK;

#endif
