/* --shard i/n: one of n equal parts of the work, for job arrays. A shard is a contiguous block of the whole list, so
 * that it reads neighbouring files; which items it has depends on the list and on i/n alone. All n together do the work
 * of one run. */
#ifndef CLI_SHARD_OPTION_H
#define CLI_SHARD_OPTION_H

#include <stdbool.h>

#include "base/shard.h"
#include "cli/common/options.h"

#define SHARD_HELP                                                                                                     \
    "Only part I of N equal parts of the work, one after the other in the list (1/16 .. 16/16), as a job of an array " \
    "does; all N make what one run makes"

error_t option_shard(struct shard *shard, const char *arg, struct common_options *common);

/* "b/x.tsv" -> "b/x-00003-of-00016.tsv", and "report/" -> "report-00003-of-00016" of a folder (array_free): each shard
 * has its own. A copy without a shard, and of "-". NULL when out of memory. */
char *shard_path(const char *path, const struct shard *shard, bool is_folder);

#endif
