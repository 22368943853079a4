/* Shards: n equal parts of a list. Each is a contiguous block, which depends only on the list's length and the shard's
 * number. */
#ifndef CLUSTER_SHARD_H
#define CLUSTER_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleave/options.h"

#define SHARD_MAX 100000

/* Computes the shard's block of `total` items: *n items from *first on. The sizes of blocks differ by 1 at most. */
void shard_block(size_t *first, size_t *n, const struct clv_shard *shard, size_t total);

/* Returns the output path of a shard (array_free): "b/x.tsv" -> "b/x-00003-of-00016.tsv", and for a folder "report/" ->
 * "report-00003-of-00016". Without a shard, and for "-", returns a copy. NULL when out of memory. */
char *shard_path(const char *path, const struct clv_shard *shard, bool is_folder);

/* --shard i/n: one of n equal parts of the work, for job arrays. A shard is a contiguous block of the whole list, so
 * that it reads neighbouring files; its items depend only on the list and on i/n. All n shards together do the work of
 * one run. */
#define SHARD_HELP                                                                                                     \
    "Do only part I of N equal parts of the work, such as 1/16\n"                                                      \
    "As a job of an array does. Parts follow each other in the list of inputs; all N make what one run makes"

/* Parses I/N into a struct clv_shard; the `take` of an option's row. */
enum clv_status option_take_shard(void *member, const struct clv_option *option, const char *typed,
                                  struct clv_error *err) CLV_CHECK;

#endif
