/* cleave score --shard and --merge: a table of every image's counts, from which the whole's score follows exactly.
 *
 * Columns, tab-separated: number (of the image in the whole list, from 1), image, pixels, and with -m superpixels or
 * patches; counts as in score_counts.h. */
#ifndef CLI_SCORE_SHARDS_H
#define CLI_SCORE_SHARDS_H

#include "cli/score/score_set.h"

/* Prints the table of a score with counts, whose first image is number `first` + 1. */
void score_shard_print(const struct set_score *score, size_t first);

/* The score of all inputs from the tables of all shards, in any order. Tables may have been put end to end.
 * CLV_ERR_DATA names tables that are of another set, and images that are missing or come twice. */
enum clv_status score_merge(struct set_score *score, const struct input_list *inputs, const struct clv_labels *labels,
                            char *const *tables, size_t n_tables, struct clv_error *err) CLV_CHECK;

#endif
