/* --feature-memory for images: m.cleave.features/ beside m.cleave while it is learned, with a shard of features by each
 * process, that are read when they are wanted. */
#ifndef CLI_TRAIN_SCRATCH_H
#define CLI_TRAIN_SCRATCH_H

#include "cleave/features.h"

struct train_options;

/* The folder: *path (array_free it), NULL if none is needed; CLV_ERR_USAGE if it cannot lie beside the output. */
enum clv_status train_scratch_path(char **path, const struct train_options *options, struct clv_error *err) CLV_CHECK;

/* Before long work, by the leader: removes what a killed run has left there; CLV_ERR_CREATE if anything else is there. */
enum clv_status train_scratch_claim(const char *path, struct clv_error *err) CLV_CHECK;

/* What lies there of this process: starts as zeros. */
struct train_scratch {
    char *folder;
    char *shards[2]; /* of the images learned from, and of those to validate with; NULL: none */
    size_t n_shards;
};

/* Extracts a set's features, each process those of its part, and opens them all. `name` tells one set from another. */
enum clv_status train_scratch_extract(struct clv_dataset **dataset, struct train_scratch *self, const char *name,
                                      const struct train_options *options, const struct clv_set *set,
                                      const struct clv_recipe *recipe, int n_threads,
                                      const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Removes this process's shards, and the last process the folder. Open datasets go on for processes of this machine. */
void train_scratch_remove(struct train_scratch *self);

#endif
