/* The recipe as a whole: its values (recipe.c) and their file (recipe_file.c), where each block's columns are
 * (layout.c), how much memory features take (memory_estimate.c), learning the codebooks (recipe_learn.c), and maps
 * (recipe_maps.c; map_drift.c warns of other networks' maps). Read layout.c first. This header declares the check of a
 * recipe before it is used. */
#ifndef FEATURE_RECIPE_RECIPE_H
#define FEATURE_RECIPE_RECIPE_H

#include <stdbool.h>

#include "base/base.h"
#include "cleave/features.h"
#include "data/data.h"
#include "data/maps/maps.h"
#include "feature/blocks/blocks.h"

/* The maps that a recipe wants of an item, one channel after the other. */

/* *maps[recipe->n_maps] (item_maps_close), NULL if it wants none. Errors: as clv_map_read, but for
 * what channels of large maps hold. */
enum clv_status item_maps_open(struct map_reader **maps, const struct clv_recipe *recipe, const struct clv_set *set,
                               const struct clv_item *item, const struct clv_image_limits *limits,
                               struct clv_error *err) CLV_CHECK;
void item_maps_close(struct map_reader *maps, const struct clv_recipe *recipe);

/* Bytes of memory that the item's maps take while they are used. */
double item_maps_memory(const struct clv_recipe *recipe, const struct clv_set *set, const struct clv_item *item,
                        const struct clv_image_limits *limits);

/* Where the blocks of node features are in a row. */

/* The first column of each block; -1 when it is off. */
struct layout {
    const struct clv_recipe *recipe; /* a view */
    int32_t start[N_BLOCKS];         /* by BLOCK_words, .. */
    int32_t n_features;
    int32_t n_own; /* of a region; those from here on, as many, are of what overlaps it in the slices next to its own */
};
void layout_init(struct layout *layout, const struct clv_recipe *recipe);

/* Whether the maps that a recipe meets are like those that it was learned from. */

/* Sums over the images so far. */
struct map_drift {
    size_t n;
    double *sum; /* [map_drift_size] of images' means */
    bool is_reported[CLV_MAX_MAPS];
};
/* Initialises *drift, which the caller has zeroed. */
enum clv_status map_drift_init(struct map_drift *drift, const struct clv_recipe *recipe,
                               struct clv_error *err) CLV_CHECK;
void map_drift_release(struct map_drift *drift);

/* Values a pixel of all maps of the recipe. */
size_t map_drift_size(const struct clv_recipe *recipe);

/* mean[map_drift_size] of one image's maps[recipe->n_maps]. */
enum clv_status map_drift_means(float *mean, const struct map_reader *maps, const struct clv_recipe *recipe,
                                struct clv_error *err) CLV_CHECK;

/* Adds an image. After 1, 2, 4, 8, .. images it returns the place among the recipe's maps of one that is not like those
 * learned from, once for each, else -1: the squared distance of the images' mean from the usual one, in squared
 * deviations among training images and meaned over channels, is above 1 + 8 / images. *deviations is its square root.
 * On the maps of 147 photos of horses held out from each other that happens in .7 % of samples of 2 images and hardly
 * ever for other numbers; with those of another network, from 8 images on, in 93 % and more. */
int32_t map_drift_add(double *deviations, struct map_drift *drift, const float *mean, const struct clv_recipe *recipe);

/* Maps of a set, read one at a time (item_maps.c), and what more recipe_maps.c has learned of them: principal
 * components (map_components.c), what is usual (map_statistics.c), groups of images (map_groups.c). */

/* Whose maps are learned from. */
struct map_source {
    const struct clv_set *set;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
    float side_px; /* of a region at a fixed scale, pixels of the image; 0: no fixed scale */
};

/* The path of an item's map, NULL where it has none. */
const char *map_path(const struct clv_set *set, const struct clv_item *item, const char *name);

/* The item's map of wanted's name (map_reader_close); CLV_ERR_NO_INPUT where it has none, CLV_ERR_DATA for another
 * number of channels than wanted's, unless that is 0. */
enum clv_status map_of_item(struct map_reader *map, const struct clv_recipe_map *wanted, const struct clv_set *set,
                            const struct clv_item *item, const struct clv_image_limits *limits,
                            struct clv_error *err) CLV_CHECK;

/* map->components of features whose scale is learned, from pixels of all items (Pearson 1901; of the correlations).
 * Same bytes at any thread count. O(images x 256 x channels^2 + channels^3). */
enum clv_status map_learn_components(struct clv_recipe_map *map, const struct map_source *from, int n_threads,
                                     struct clv_error *err) CLV_CHECK;

/* map->usual, and of features with masks of two labels n_groups, from up to 512 of the items, evenly spread. */
enum clv_status map_learn_statistics(struct clv_recipe_map *map, const struct map_source *from, int n_threads,
                                     struct clv_error *err) CLV_CHECK;

/* How many groups unit vectors direction[n][n_values] fall into that are close together, each in a direction of its
 * own; 1 where they do not. O(n n_values). */
enum clv_status map_count_groups(int32_t *n_groups, const float *direction, size_t n, size_t n_values,
                                 struct clv_error *err) CLV_CHECK;

/* How much memory the features of images take, before any is extracted. */

/* Bytes of a dataset's item of an image of that size, about: superpixels as many as asked for or as there are
 * pixels, each with as many different words as a square of its area meets. */
double memory_of_image(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels);

/* How many nodes and edges such an image has, about. */
void memory_count_nodes(double *n_nodes, double *n_edges, const struct clv_recipe *recipe, int32_t width,
                        int32_t height);

/* Upper bounds of the bytes that an image takes beyond its pixels: while it is read, from a file of file_size bytes; as
 * an example, once its features are made; and while they are made, the example included. */
double memory_of_decoding(double n_pixels, double file_size);
double memory_of_example(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels);
double memory_of_features(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels);

/* An upper bound of the bytes that one thread takes while it reads such an image and makes its features, and of the
 * images that wait with it to be taken over. Measured by tests/feature/recipe/test_memory_estimate.c. */
double memory_of_extraction(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels);

/* How many of n_threads (0: all the machine's) may extract the set's images at a time, at least 1, so that what can be
 * had is enough. CLV_ERR_MEMORY names an image that does not fit alone. Images that cannot be read are left to who
 * reads them. */
enum clv_status memory_choose_threads(int *chosen, const struct clv_set *set, const struct clv_recipe *recipe,
                                      const struct clv_image_limits *limits, int n_threads,
                                      struct clv_error *err) CLV_CHECK;

/* Estimates the same for one image of the set, of the given size. */
enum clv_status memory_check_extraction(const struct clv_recipe *recipe, const struct clv_set *set,
                                        const struct clv_item *item, int32_t width, int32_t height,
                                        const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Before long work: CLV_ERR_MEMORY, naming both, if the features of a set's images, by an estimate from their sizes
 * (which are read from their headers) and the recipe, take more memory than can be had; clv_dataset_extract checks
 * the same. */
enum clv_status dataset_check_memory(const struct clv_set *set, const struct clv_recipe *recipe,
                                     const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* CLV_ERR_USAGE when a plain value is out of range (names it), or with need_codebooks when words are wanted but
 * their codebooks are not learned. O(features). */
enum clv_status recipe_check(const struct clv_recipe *recipe, bool need_codebooks, struct clv_error *err) CLV_CHECK;

/* Sets the limits with which images must be read, so that they look like those of training: the recipe's bands and,
 * unless the limits have a range of grey, its range. The recipe must outlive the limits. */
void recipe_limits(struct clv_image_limits *limits, const struct clv_recipe *recipe);

/* Keeps the range of grey that the limits have, if they have one. */
void recipe_take_range(struct clv_recipe *recipe, const struct clv_image_limits *limits);

/* A view that makes the same nodes of an image with hardly a feature; not to be released. */
struct clv_recipe recipe_of_nodes(const struct clv_recipe *recipe);

/* Describes feature `index` ("word 17 of scale 0", "border distance bin 3"), for `cleave inspect`. */
void recipe_feature_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index);
const char *recipe_edge_feature_name(const struct clv_recipe *recipe, int32_t index);

/* clv_recipe_learn from the images of a set. */
enum clv_status recipe_learn_set(struct clv_recipe *recipe, const struct clv_set *set, uint64_t seed, int n_threads,
                                 const struct clv_image_limits *limits, const struct clv_progress *progress,
                                 struct clv_error *err) CLV_CHECK;

/* Learns what the recipe says of its maps, each of which the set has by name: channels, kind (where the values decide
 * it) and the scale of features, from the maps of all the set's items, one at a time. Same bytes at any thread count.
 * Errors name the map's file: missing, unreadable, another number of channels than the first. */
enum clv_status recipe_learn_maps(struct clv_recipe *recipe, const struct clv_set *set, int n_threads,
                                  const struct clv_image_limits *limits, const struct clv_progress *progress,
                                  struct clv_error *err) CLV_CHECK;

/* Recipes in tensor files: plain values as JSON, codebooks as tensors. Models and feature files carry them. */

#define RECIPE_CODEBOOK_PREFIX "codebook." /* + scale: u8 [n_words][128] */
#define RECIPE_MIXTURE_PREFIX  "mixture."  /* + scale: f32 [CLV_MIXTURE_SIZE] */
#define RECIPE_KEPT            "kept"      /* of models that left features out, which are not read any more */
#define RECIPE_MAPS_PREFIX     "maps."     /* + place among the maps: f32 [2][n_channels] of features */
#define RECIPE_PCA_PREFIX      "pca."      /* + place among the maps: f32 [n_components][n_channels] */
#define RECIPE_USUAL_PREFIX    "usual."    /* + place among the maps: f32 [2][values a pixel], in newer files */
#define RECIPE_BANDS           "bands"     /* f32: the numbers of struct clv_bands, from low on */
#define RECIPE_TENSORS         (CLV_MAX_SCALES + 3 * CLV_MAX_MAPS + CLV_MAX_SCALES + 1)

/* Appends the plain values as one JSON object. */
void recipe_put_json(struct text *text, const struct clv_recipe *recipe);

/* The codebooks that are looked at and what is kept as tensors (views of the recipe; names are static); returns how
 * many. */
size_t recipe_tensors(struct clv_tensor tensors[RECIPE_TENSORS], const struct clv_recipe *recipe);

/* Whether a tensor of that name may be a recipe's, by the prefixes above. */
bool recipe_tensor_is_known(const char *name);

/* The recipe of an open file from its JSON (metadata) and its codebook tensors. `name` is the file, for messages;
 * every value is checked. The recipe owns its codebooks; unchanged on failure. */
enum clv_status recipe_read(struct clv_recipe *recipe, const char *json, const struct clv_tensors *tensors,
                            const char *name, struct clv_error *err) CLV_CHECK;

/* Names of the values of enum clv_map_kind; ends with NULL. */
extern const char *const map_kind_names[];

#endif
