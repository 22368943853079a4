/* Maps of networks as options describe them (struct clv_map_options), and sets and recipes that have them. */
#ifndef TASK_MAP_OPTIONS_H
#define TASK_MAP_OPTIONS_H

#include "cleave/segment.h"

/* Gives the set's items the folders' maps. */
enum clv_status map_options_add(struct clv_set *set, const struct clv_map_options *self,
                                struct clv_error *err) CLV_CHECK;

/* Whether there are maps, or anything is said of some: else the functions below need not be called. */
static inline bool map_options_matter(const struct clv_map_options *self, const struct clv_recipe *recipe,
                                      const struct clv_set *set)
{
    return set->n_maps || self->n || self->kinds.n || self->components.n || self->uses.n ||
           recipe->blocks & CLV_BLOCK_MAPS;
}

/* Puts the set's maps into a recipe to be learned, with what is said of them, and learns what they are; notes what kind
 * that is if it had to be found by the values, and where channels mean other things in some images than in others.
 * `is_wanted`: the block maps is not left out by --blocks; then it is turned on where there are maps. CLV_ERR_USAGE for
 * --maps that the blocks leave out, the block without maps, and words about maps that there are not. */
enum clv_status map_options_learn(struct clv_recipe *recipe, const struct clv_map_options *self, bool is_wanted,
                                  const struct clv_set *set, int n_threads, const struct clv_image_limits *limits,
                                  const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Before long work: whether there is a folder, or one of the inputs' columns, for each of a recipe's maps, and no
 * folder for others. `path` is the model's. */
enum clv_status map_options_check(const struct clv_map_options *self, const struct clv_recipe *recipe,
                                  const char (*columns)[CLV_MAX_MAP_NAME + 1], size_t n_columns, const char *path,
                                  struct clv_error *err) CLV_CHECK;

#endif
