/* --maps and what goes with it: where the maps of networks are, and what they are. */
#ifndef CLI_MAPS_OPTION_H
#define CLI_MAPS_OPTION_H

#include "cleave/features.h"
#include "cli/common/options.h"

#define MAPS_HELP                                                                                                      \
    "Maps of a network: FOLDER holds a .npy, PNG or safetensors file for each image, of its name; more than once for " \
    "more maps (else the manifest's columns maps.NAME)"

/* What is said of the maps of one name, or with an empty name of all. */
struct maps_word {
    char name[CLV_MAX_MAP_NAME + 1];
    int value;
};

struct maps_option {
    struct maps_folder {
        char name[CLV_MAX_MAP_NAME + 1];
        const char *folder;
    } folders[CLV_MAX_MAPS];
    size_t n;
    struct maps_words {
        struct maps_word said[CLV_MAX_MAPS + 1];
        size_t n;
    } kinds, components, uses;
};

/* NAME=FOLDER, [NAME=]KIND, [NAME=]N, [NAME=]USE. */
error_t option_maps(struct maps_option *self, const char *arg, struct common_options *common);
error_t option_maps_kind(struct maps_option *self, const char *arg, struct common_options *common);
error_t option_maps_pca(struct maps_option *self, const char *arg, struct common_options *common);
error_t option_maps_use(struct maps_option *self, const char *arg, struct common_options *common);

/* Gives the set's items the folders' maps; none of those files may be one of the outputs. */
enum clv_status maps_option_add(struct clv_set *set, const struct maps_option *self, const struct outputs *outputs,
                                struct clv_error *err) CLV_CHECK;

/* Puts the set's maps into a recipe to be learned, with what is said of them. `is_wanted`: the block maps is not left
 * out by --blocks; then it is turned on where there are maps. CLV_ERR_USAGE for --maps that the blocks leave out, the
 * block without maps, and words about maps that there are not. */
enum clv_status maps_option_choose(struct clv_recipe *recipe, bool is_wanted, const struct maps_option *self,
                                   const struct clv_set *set, struct clv_error *err) CLV_CHECK;

/* Learns a recipe's maps from the set's, and notes what kind they are if that had to be guessed, and where channels mean
 * other things in some images than in others. */
enum clv_status maps_option_learn(struct clv_recipe *recipe, const struct clv_set *set,
                                  const struct common_options *common, const struct clv_progress *progress,
                                  struct clv_error *err) CLV_CHECK;

/* Before long work: whether there is a folder, or one of the inputs' columns, for each of a recipe's maps, and no
 * folder for others. `path` is the model's. */
enum clv_status maps_option_check(const struct maps_option *self, const struct clv_recipe *recipe,
                                  const char (*columns)[CLV_MAX_MAP_NAME + 1], size_t n_columns, const char *path,
                                  struct clv_error *err) CLV_CHECK;

#endif
