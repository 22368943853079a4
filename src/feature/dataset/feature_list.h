/* Which files a path of features stands for: an index, a folder of shards (feature_shards.h) or a single file. */
#ifndef FEATURE_FEATURE_LIST_H
#define FEATURE_FEATURE_LIST_H

#include <stdbool.h>

#include "base/path.h"

#define FEATURES_INDEX_HEAD     "{\"metadata\":{\"format\":\"cleave features index 1\""
#define FEATURES_INDEX_MAX_SIZE ((size_t)64 << 20)

/* Whether a file begins as an index does, or a folder has shards and nothing else but indices: one shard at least. */
bool features_is_sharded(const char *path);

/* The paths of the shards that an index lists, or of those in a folder by their names. */
enum clv_status features_list_shards(struct path_list *shards, const char *path, struct clv_error *err) CLV_CHECK;

/* The files that those of a list stand for, one after the other. */
enum clv_status features_list_files(struct path_list *files, const struct path_list *paths,
                                    struct clv_error *err) CLV_CHECK;

#endif
