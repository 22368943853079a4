/* --shard i/n: one of n equal parts of the work, for job arrays. A shard is a contiguous block of the whole list, so
 * that it reads neighbouring files; which items it has depends on the list and on i/n alone. All n together do the work
 * of one run. */
#ifndef CLI_SHARD_OPTION_H
#define CLI_SHARD_OPTION_H

#include <stdbool.h>

#include "base/shard.h"
#include "cli/common/options.h"

#define SHARD_HELP                                                                                                     \
    "Do only part I of N equal parts of the work, such as 1/16\n"                                                      \
    "As a job of an array does. Parts follow each other in the list of inputs; all N make what one run makes"

/* For `take` of a row; the member is a struct shard. */
enum clv_status option_take_shard(void *member, const struct clv_option *option, const char *typed,
                                  struct clv_error *err) CLV_CHECK;

/* "b/x.tsv" -> "b/x-00003-of-00016.tsv", and "report/" -> "report-00003-of-00016" of a folder (array_free): each shard
 * has its own. A copy without a shard, and of "-". NULL when out of memory. */
char *shard_path(const char *path, const struct shard *shard, bool is_folder);

#endif
