/* The parser behind clv_set_read_manifest, for the fuzzer. */
#ifndef DATA_MANIFEST_H
#define DATA_MANIFEST_H

#include "cleave/data.h"

/* Parses a manifest from memory (array_alloc'd with one writable byte behind the end; taken whatever the outcome).
 * set->root must be set; items are added. `path` names it in messages. */
enum clv_status manifest_parse(struct clv_set *set, const char *path, char *bytes, size_t size,
                               struct clv_error *err) CLV_CHECK;

#endif
