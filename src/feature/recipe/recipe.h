/* Feature recipes: their values (recipe.c) and file format (recipe_file.c), the columns of each block (layout.c), the
 * memory that features take (memory_estimate.c), learning of codebooks (recipe_learn.c), and network maps
 * (recipe_maps.c; map_drift.c warns of maps of another network). Read layout.c first, then recipe_check, which every
 * use of a recipe begins with. */
#ifndef FEATURE_RECIPE_RECIPE_H
#define FEATURE_RECIPE_RECIPE_H

#include <stdbool.h>

#include "base/base.h"
#include "cleave/features.h"
#include "data/data.h"
#include "data/maps/maps.h"
#include "feature/blocks/blocks.h"

/* The maps of an item that a recipe uses, read one channel at a time. */

/* Opens *maps[recipe->n_maps] (close by item_maps_close); NULL if the recipe has no maps. Errors: as clv_map_read,
 * except that channels of large maps are checked only when they are read. */
enum clv_status item_maps_open(struct map_reader **maps, const struct clv_recipe *recipe, const struct clv_set *set,
                               const struct clv_item *item, const struct clv_image_limits *limits,
                               struct clv_error *err) CLV_CHECK;
void item_maps_close(struct map_reader *maps, const struct clv_recipe *recipe);

/* Returns the bytes of memory that the item's maps take while they are used. */
double item_maps_memory(const struct clv_recipe *recipe, const struct clv_set *set, const struct clv_item *item,
                        const struct clv_image_limits *limits);

/* The columns of the feature blocks in a row. */

/* The first column of each block, -1 if the recipe does not have it. */
struct layout {
    const struct clv_recipe *recipe; /* a view */
    int32_t start[N_BLOCKS];         /* by BLOCK_words and so on */
    int32_t n_features;
    int32_t n_own; /* of the region; as many follow for regions that overlap it in neighbouring slices */
};
void layout_init(struct layout *layout, const struct clv_recipe *recipe);

/* Detection of maps that differ from those of the training images, such as maps of another network. */

/* Sums over the images that have been added. */
struct map_drift {
    size_t n;
    double *sum; /* [map_drift_size] sums of the images' means */
    bool is_reported[CLV_MAX_MAPS];
};
/* Initialises *drift, which the caller has zeroed. */
enum clv_status map_drift_init(struct map_drift *drift, const struct clv_recipe *recipe,
                               struct clv_error *err) CLV_CHECK;
void map_drift_release(struct map_drift *drift);

/* Returns the number of values per pixel of all maps of the recipe. */
size_t map_drift_size(const struct clv_recipe *recipe);

/* Computes mean[map_drift_size] of one image's maps[recipe->n_maps]. */
enum clv_status map_drift_means(float *mean, const struct map_reader *maps, const struct clv_recipe *recipe,
                                struct clv_error *err) CLV_CHECK;

/* Adds an image. After 1, 2, 4, 8 and so on images, returns the index of a map that differs from the training images'
 * maps, once for each map, otherwise -1. A map differs if the squared distance of the images' mean from the training
 * mean, in variances among training images and averaged over channels, is above 1 + 8 / images; *deviations is its
 * square root. In cross-validation on maps of 147 photos of horses, that is so for 0.7 % of samples of 2 images and
 * hardly ever for other numbers; with maps of another network it is so for 93 % or more from 8 images on. */
int32_t map_drift_add(double *deviations, struct map_drift *drift, const float *mean, const struct clv_recipe *recipe);

/* Maps of a dataset, read one at a time (item_maps.c), and the statistics that recipe_maps.c learns from them:
 * principal components (map_components.c), means and deviations (map_statistics.c), groups of images (map_groups.c). */

/* The images whose maps are learned from. */
struct map_source {
    const struct clv_set *set;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
    float side_px; /* side of a region at a fixed scale, in pixels of the image; 0: no fixed scale */
};

/* Returns the path of an item's map, or NULL if the item has none. */
const char *map_path(const struct clv_set *set, const struct clv_item *item, const char *name);

/* Opens the item's map with the name of `wanted` (close by map_reader_close). CLV_ERR_NO_INPUT if the item has none;
 * CLV_ERR_DATA if the number of channels is not that of `wanted`, unless that is 0. */
enum clv_status map_of_item(struct map_reader *map, const struct clv_recipe_map *wanted, const struct clv_set *set,
                            const struct clv_item *item, const struct clv_image_limits *limits,
                            struct clv_error *err) CLV_CHECK;

/* Learns map->components, principal components of the correlations (Pearson 1901), from pixels of all items.
 * map->standard must have been learned. The bytes are the same at any thread count. O(images x 256 x channels^2 +
 * channels^3). */
enum clv_status map_learn_components(struct clv_recipe_map *map, const struct map_source *from, int n_threads,
                                     struct clv_error *err) CLV_CHECK;

/* Learns map->usual from up to 512 items, evenly spread; for maps of features also contrast_scale, and n_groups if
 * masks have two labels. */
enum clv_status map_learn_statistics(struct clv_recipe_map *map, const struct map_source *from, int n_threads,
                                     struct clv_error *err) CLV_CHECK;

/* Counts the groups that unit vectors direction[n][n_values] form, if vectors within groups are close together and
 * groups have different directions; otherwise *n_groups is 1. O(n n_values). */
enum clv_status map_count_groups(int32_t *n_groups, const float *direction, size_t n, size_t n_values,
                                 struct clv_error *err) CLV_CHECK;

/* Estimates of the memory that features take, before any is extracted. */

/* Returns about how many bytes the example of an image takes in a dataset. Assumes the requested number of superpixels,
 * or one for each pixel if that is fewer, each with as many different words as a square of its area contains. */
double memory_of_image(const struct clv_recipe *recipe, double width, double height, int32_t n_labels);

/* Computes about how many nodes and edges an image has. */
void memory_count_nodes(double *n_nodes, double *n_edges, const struct clv_recipe *recipe, int32_t width,
                        int32_t height);

/* Return upper bounds of the bytes that an image takes in addition to its pixels: while it is decoded from a file of
 * file_size bytes; as an example after extraction; and during extraction, including the example. */
double memory_of_decoding(double n_pixels, double file_size);
double memory_of_example(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels);
double memory_of_features(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels);

/* Returns an upper bound of the bytes that one thread takes while it reads an image and extracts its features,
 * including its finished examples in the batch. Measured by tests/feature/recipe/test_memory_estimate.c. */
double memory_of_extraction(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels);

/* Chooses how many of n_threads (0: as many as processors) can extract the images of a dataset at a time in the
 * available memory, at least 1. CLV_ERR_MEMORY names an image that does not fit alone. Images that cannot be read are
 * ignored; reading them fails later. */
enum clv_status memory_choose_threads(int *chosen, const struct clv_set *set, const struct clv_recipe *recipe,
                                      const struct clv_image_limits *limits, int n_threads,
                                      struct clv_error *err) CLV_CHECK;

/* Returns CLV_ERR_MEMORY if one image of the dataset, of the given size, does not fit into the available memory. */
enum clv_status memory_check_extraction(const struct clv_recipe *recipe, const struct clv_set *set,
                                        const struct clv_item *item, int32_t width, int32_t height,
                                        const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Returns CLV_ERR_MEMORY, with both numbers, if the features of all images of a dataset take more memory than is
 * available, estimated from the recipe and the sizes in the files' headers. It is meant to be called before long work;
 * clv_dataset_extract checks the same. */
enum clv_status dataset_check_memory(const struct clv_set *set, const struct clv_recipe *recipe,
                                     const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Returns CLV_ERR_USAGE if a value is out of range, which the message names, if values do not fit together, or if
 * need_codebooks and codebooks, mixtures or the contrast scale have not been learned. O(scales + maps). */
enum clv_status recipe_check(const struct clv_recipe *recipe, bool need_codebooks, struct clv_error *err) CLV_CHECK;

/* Sets the limits with which images are read in the same way as in training: the recipe's bands and, unless the limits
 * have a grey range, its grey range. The recipe must outlive the limits. */
void recipe_limits(struct clv_image_limits *limits, const struct clv_recipe *recipe);

/* Copies the grey range of the limits to the recipe, if they have one. */
void recipe_take_range(struct clv_recipe *recipe, const struct clv_image_limits *limits);

/* Returns a view of the recipe that gives the same nodes but only the size block. It must not be released. */
struct clv_recipe recipe_of_nodes(const struct clv_recipe *recipe);

/* Describes feature `index` ("word 17 of scale 0", "border distance bin 3"), for `cleave inspect`. */
void recipe_feature_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index);
const char *recipe_edge_feature_name(const struct clv_recipe *recipe, int32_t index);

/* Equals clv_recipe_learn, but reads the images of a dataset. */
enum clv_status recipe_learn_set(struct clv_recipe *recipe, const struct clv_set *set, uint64_t seed, int n_threads,
                                 const struct clv_image_limits *limits, const struct clv_progress *progress,
                                 struct clv_error *err) CLV_CHECK;

/* Learns the recipe's values for its maps, which the dataset must have by name: the number of channels, the kind if it
 * is to be guessed, the scale of features, components and statistics. Each map of the dataset's items is read, one at a
 * time. The bytes are the same at any thread count. Errors name the map's file if it is missing, unreadable, or its
 * number of channels differs from the first map's. */
enum clv_status recipe_learn_maps(struct clv_recipe *recipe, const struct clv_set *set, int n_threads,
                                  const struct clv_image_limits *limits, const struct clv_progress *progress,
                                  struct clv_error *err) CLV_CHECK;

/* Recipes in tensor files: plain values as JSON, codebooks as tensors. Models and feature files carry them. */

#define RECIPE_CODEBOOK_PREFIX "codebook." /* + scale: u8 [n_words][128] */
#define RECIPE_MIXTURE_PREFIX  "mixture."  /* + scale: f32 [CLV_MIXTURE_SIZE] */
#define RECIPE_KEPT            "kept"      /* of models without some features, which are refused */
#define RECIPE_MAPS_PREFIX     "maps."     /* + index of the map: f32 [2][n_channels], of features */
#define RECIPE_PCA_PREFIX      "pca."      /* + index of the map: f32 [n_components][n_channels] */
#define RECIPE_USUAL_PREFIX    "usual."    /* + index of the map: f32 [2][map_values], in newer files */
#define RECIPE_BANDS           "bands"     /* f32: the numbers of struct clv_bands, beginning with low */
#define RECIPE_TENSORS         (CLV_MAX_SCALES + 3 * CLV_MAX_MAPS + CLV_MAX_SCALES + 1)

/* Appends the plain values as one JSON object. */
void recipe_put_json(struct text *text, const struct clv_recipe *recipe);

/* Lists the recipe's codebooks, mixtures, arrays of maps and bands as tensors (views of the recipe with static names).
 * Returns their number. */
size_t recipe_tensors(struct clv_tensor tensors[RECIPE_TENSORS], const struct clv_recipe *recipe);

/* Returns whether a tensor of that name may belong to a recipe, by the prefixes above. */
bool recipe_tensor_is_known(const char *name);

/* Reads and checks the recipe of an open file from its JSON (metadata) and its tensors. `name` is the file, for
 * messages. The recipe owns its arrays and is unchanged on failure. */
enum clv_status recipe_read(struct clv_recipe *recipe, const char *json, const struct clv_tensors *tensors,
                            const char *name, struct clv_error *err) CLV_CHECK;

/* Names of the values of enum clv_map_kind, then NULL. */
extern const char *const map_kind_names[];

#endif
