/* Feature files in shards: x-00003-of-00016.safetensors, and x.safetensors.index.json, which lists them.
 *
 * A shard is a feature file of its own whose metadata say "shard": "3/16 of 200", so many images in all; it has a
 * contiguous block of them. The index is {"metadata": {"format": .., "images": ..}, "shards":
 * ["x-00001-of-00016.safetensors", ..]}, files next to it. (The convention's weight_map says which file has a tensor;
 * here every file has all of them, for its images.) */
#ifndef FEATURE_SHARDS_H
#define FEATURE_SHARDS_H

#include "base/path.h"
#include "cleave/features.h"

/* Opens a feature file, or the index of shards of one, as clv_features_open does, but without mapping it
 * (loaded_item.h): features of `memory` bytes stay in memory, besides those that are loaded. All of it is checked,
 * item by item. */
enum clv_status features_open_on_demand(struct clv_dataset **dataset, struct clv_recipe *recipe, const char *path,
                                        double memory, struct clv_error *err) CLV_CHECK;

/* Opens several feature files as one, in their order, each a single file, an index or a folder of shards: with `memory`
 * on demand, with 0 mapped. Single files are whole, or all shards of a set one after the other. CLV_ERR_DATA names a
 * file that is not, comes twice, or is of other labels or another recipe than the first. One alone is opened as it
 * always is. */
enum clv_status features_open_list(struct clv_dataset **dataset, struct clv_recipe *recipe,
                                   const struct path_list *paths, double memory, struct clv_error *err) CLV_CHECK;

/* Writes the index of shards next to them, in their order, all or nothing. CLV_ERR_DATA names a shard that is missing,
 * comes twice, or is of another set or recipe, as clv_features_open does. */
enum clv_status features_index_write(const char *path, const struct path_list *shards, struct clv_error *err) CLV_CHECK;

#endif
