/* This folder holds the problems of many images. A dataset is filled in three ways: problems are added (dataset.c;
 * letters.c for words), images are extracted (extract.c, frame.c for boxes), or feature files are opened
 * (feature_shards.c, features_read.c). Feature files are written by features_write.c, image by image, and
 * dataset_write.c, from memory. paging.c decides which pages of files are in memory. This header declares what those
 * share. Read extract.c first. */
#ifndef FEATURE_DATASET_DATASET_H
#define FEATURE_DATASET_DATASET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "cleave/features.h"
#include "cleave/status.h"
#include "cluster/shard.h"
#include "data/data.h"

/* problem points into the item's own arrays, or into a file and the arrays derived from it (the own ones are then
 * NULL). */
struct dataset_item {
    char *name;
    struct clv_problem problem;
    const struct dataset_file *file; /* NULL: it was made in memory */
    size_t number;                   /* of the item in its file */
    int64_t *row;
    int32_t *index;
    float *value;
    int32_t (*edges)[2];
    float *edge_features;
    float *area;
    float *centroid;
    int32_t *label;
    float *theta;
    float *counts;       /* that theta was made of, or NULL */
    uint64_t sequence;   /* one number for each clv_item.sequence; 0: of none, or of a feature file */
    int32_t *first_node; /* [n_slices + 1] of a window's slices, set->items from first_slice on; or NULL */
    size_t first_slice, n_slices;
};
void dataset_item_release(struct dataset_item *item);

/* The nodes' areas are the tensor "volume" on disk: files that exist are read, and others write it. */
#define AREA_TENSOR "volume"

/* A mapped feature file: what its images have besides their problems, and values derived from its arrays once. */
struct dataset_file {
    struct clv_tensors *tensors;
    size_t n;                        /* images */
    const int32_t (*size)[4];        /* [n] original and working width and height, or NULL */
    const int32_t *superpixels;      /* the working label maps of all items, or NULL */
    int64_t *superpixel_offset;      /* [n + 1] */
    int32_t patch_px, patch_step_px; /* of a recipe of patches, else 0 */
    int64_t *dense_row;              /* [most nodes of an item + 1] 0, d, 2d ..: the rows of every item, if dense */
    int32_t *dense_index;            /* [most nodes x d] 0 .. d-1 again and again */
    const float *counts;             /* [N][n_labels], or NULL */
    int32_t *label;                  /* [N] */
    float *theta;                    /* [N][n_labels] */
    float *area;                     /* [N] ones, if the file has none */
    float *centroid;                 /* [N][2] of superpixels, or NULL */
};

struct clv_dataset {
    int32_t n_labels, n_features, n_edge_features;
    enum clv_pairwise pairwise; /* what edges are meant for */
    bool counts_errors;         /* theta counts wrong nodes */
    bool has_windows;           /* items are windows of slices, in their order: folds are runs of them */
    struct clv_labels labels;   /* n_labels 0: it has no names for them */
    struct dataset_item *items;
    size_t n, capacity;
    size_t n_mirrored;           /* the last items: the first ones, mirrored (dataset_add_mirrored) */
    struct dataset_file **files; /* [n_files] that are mapped, in the order of their items; NULL: none */
    size_t n_files, files_capacity;
    struct dataset_paging *paging; /* of the files */
};

/* To be called before a problem's features are looked at, each time: pages of mapped files are given back, so that
 * learning from files takes memory that does not grow with them; where the files are larger than memory, the features
 * are read at once. Safe in parallel; NULL, and what is in memory, is fine. */
#define LOOKED_AT_MAX ((size_t)256 << 20)
void dataset_looked_at(const struct clv_dataset *dataset, const struct clv_problem *problem);

/* Begins to read the features of a problem that will be looked at soon, at most MAX_EXPECTED looks later, where the
 * files are larger than memory. Nothing depends on it but time. */
#define MAX_EXPECTED 16
void dataset_expects(const struct clv_dataset *dataset, const struct clv_problem *problem);

/* The state of the pages of a dataset's files. It begins when all of them are open. */
enum clv_status dataset_paging_new(struct dataset_paging **paging, struct clv_error *err) CLV_CHECK;
void dataset_paging_free(struct dataset_paging *self);
enum clv_status dataset_paging_begin(struct clv_dataset *dataset, struct clv_error *err) CLV_CHECK;

/* The item must be complete and fit those before; it is the dataset's from here on. */
enum clv_status dataset_append(struct clv_dataset *dataset, struct dataset_item *item, struct clv_error *err) CLV_CHECK;

/* Gives an item other features, of arrays that become its own: `problem` has their sizes and points to them, to the
 * rest of what the item has already. Those of an item in memory are freed. Items may be changed at the same time; all
 * must have the same sizes in the end, which the dataset's are at once. */
void dataset_replace_features(struct clv_dataset *dataset, size_t index, const struct clv_problem *problem,
                              int64_t *row, int32_t *indices, float *value, float *edge_features);

/* Moves an extracted example's arrays into the dataset; what the dataset does not keep stays in the example, for its
 * release. */
enum clv_status dataset_take(struct clv_dataset *dataset, struct clv_example *example, const char *name,
                             struct clv_error *err) CLV_CHECK;

/* 1 if theta counts wrong nodes (or pixels) as they are: letters, and feature files that say so; 0 if it is balanced
 * or of the caller's making. */
bool dataset_counts_errors(const struct clv_dataset *dataset);

/* Computes theta, and with it the nodes' majority labels, again from the pixels counted. Nothing happens to what is
 * weighed that way already. O(nodes labels). CLV_ERR_USAGE if a problem has a theta but no counts, and nothing
 * changes. */
enum clv_status dataset_weigh(struct clv_dataset *dataset, enum clv_loss_weights weights,
                              struct clv_error *err) CLV_CHECK;

/* Multiplies theta by a weight for each true label, (1 / the label's share of all theta) to the power of `exponent`,
 * scaled so that all theta has the sum it had; majority labels follow. 0 changes nothing; with 1 each label that occurs
 * has the same total weight. It is for training sets, as the mean loss is then not a share of pixels. To be called
 * after dataset_weigh, once. O(nodes labels). CLV_ERR_USAGE for an exponent outside 0..1. */
enum clv_status dataset_weigh_labels(struct clv_dataset *dataset, double exponent, struct clv_error *err) CLV_CHECK;

/* The loosest kind of graph among its problems. */
enum clv_status dataset_graph(enum clv_graph *graph, const struct clv_dataset *dataset,
                              struct clv_error *err) CLV_CHECK;

/* Where nodes are within their image's boxes: features that follow from a box, so known in training only. */

/* The boxes of an item. */
struct item_boxes {
    struct clv_pixel_box *boxes; /* of the original image; NULL: nothing is known of the item */
    size_t n_boxes;              /* with boxes not NULL, 0 says that there is no object */
    size_t n_voids;              /* behind them: boxes in which nothing is known */
};

/* Estimates each pixel's probability of foreground from one image and its boxes alone: foreground[height][width] in
 * 0..1. Called on any thread. */
typedef enum clv_status foreground_estimate(float *foreground, const struct clv_image *image,
                                            const struct item_boxes *boxes, struct clv_error *err);

/* Adds the example's frame to a dataset of frames: a problem with the same nodes and no edges. Features: soft bins
 * of an 8 x 8 grid over the box, and the share of pixels outside of all boxes. Of several boxes a pixel is in that
 * whose centre is nearest in box sizes. An item without known boxes has no features. theta is the estimate[n_nodes]
 * of what is foreground, if there is one, NULL else. O(pixels x boxes). */
enum clv_status frame_add(struct clv_dataset *frames, const struct clv_example *example, const struct item_boxes *boxes,
                          const float *estimate, const char *name, struct clv_error *err) CLV_CHECK;

/* Images of a set as examples, in parallel and in order, with bounded memory. */

/* Receives the examples one by one in the set's order, on the calling thread. What it leaves in the example is
 * released. */
typedef enum clv_status take_example(void *context, struct clv_example *example, const struct clv_item *item,
                                     const float *estimate, struct clv_error *err);

/* How; zeros and NULL but for the recipe will do. */
struct extract_options {
    const struct clv_recipe *recipe;
    int n_threads;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
    const struct item_boxes *boxes; /* [n_items] */
    foreground_estimate *estimate;  /* of the nodes of items with boxes, [n_nodes], for who takes the examples */
};

/* Whose examples a member of a team (cluster/comm.h) takes. */
enum extract_share {
    EXTRACT_TO_ALL,    /* those of all images, which all members extracted */
    EXTRACT_TO_LEADER, /* the same, the leader alone */
};

/* Reads every image, extracts its example, and its truth where there is a mask; a mask that is void throughout is no
 * truth. Memory: a fixed number of examples a thread. Fails as the first failing item in the set's order would. */
enum clv_status extract_set(const struct clv_set *set, const struct extract_options *how, enum extract_share share,
                            take_example *take, void *context, struct clv_error *err) CLV_CHECK;

/* Adds the mirror image of each of the set's images, with the mirrored mask, to the dataset that was extracted from the
 * set and nothing else: item n + i mirrors item i. Patches are placed as in any image, not mirrored. */
enum clv_status dataset_add_mirrored(struct clv_dataset *dataset, const struct clv_set *set,
                                     const struct extract_options *how, struct clv_error *err) CLV_CHECK;

/* clv_dataset_extract, also with boxes: an item without a mask has the labels of clv_example_set_boxes if there are
 * some for it, what struct clv_training calls given. *frames (may be NULL) receives a dataset of the same items and
 * nodes, without edges, whose features say where a node is within its image's boxes, and whose theta[n_nodes][2] is
 * the estimate of its pixels; so that centroids are comparable, items with masks need boxes, too. Two
 * labels. */
enum clv_status dataset_extract_boxed(struct clv_dataset **dataset, struct clv_dataset **frames,
                                      const struct clv_set *set, const struct extract_options *how,
                                      struct clv_error *err) CLV_CHECK;

/* Feature files, one or several as one dataset: x.safetensors, or all shards of it, x-00003-of-00016.safetensors. A
 * shard is a feature file of its own whose metadata say "shard": "3/16 of 200", so many images in all; it has a
 * contiguous block of them. */

/* Whether the path is a folder that has shards and nothing else: one at least. */
bool features_is_sharded(const char *path);

/* The files that those of a list stand for, one after the other: a folder of shards stands for these by their names. */
enum clv_status features_list_files(struct path_list *files, const struct path_list *paths,
                                    struct clv_error *err) CLV_CHECK;

/* Opens several feature files as one, in their order, each a single file or a folder of shards. Single files are whole,
 * or all shards of a set one after the other; one file alone may be any shard. CLV_ERR_DATA names a file that is not,
 * comes twice, or is of other labels or another recipe than the first. */
enum clv_status features_open_list(struct clv_dataset **dataset, struct clv_recipe *recipe,
                                   const struct path_list *paths, struct clv_error *err) CLV_CHECK;

/* Names and checks that the writer and the reader of feature files share. */

#define FEATURES_FORMAT  "cleave features "
#define FEATURES_VERSION "1"
#define FEATURES_SHARD   "shard" /* metadata of shards */

/* Names stand one a line in a JSON text: UTF-8 without line breaks, else CLV_ERR_DATA. */
enum clv_status features_check_name(const char *name, struct clv_error *err) CLV_CHECK;

/* clv_features_write for a shard, 1 <= number <= count <= 100000 and <= the set's items: a contiguous block of them,
 * whose file says which it is. A folder of all shards opens as one dataset. */
enum clv_status features_write_shard(const char *path, const struct clv_set *set, const struct clv_shard *shard,
                                     const struct extract_options *how, struct clv_error *err) CLV_CHECK;

/* Adds the images of an open file, which the dataset owns from here on whatever the outcome; *dataset NULL: begins one.
 * `path` names the file in messages. After a failure the dataset can only be freed. */
enum clv_status features_add(struct clv_dataset **dataset, struct clv_recipe *recipe, struct clv_tensors *tensors,
                             const char *path, struct clv_error *err) CLV_CHECK;

/* Words as a dataset of chains. */

#define LETTER_FEATURES 131 /* the pixels, a bias of 1, first of its word, last of its word */

/* The words of some folds (folds[LETTER_MAX_FOLDS], 1 if it is wanted; NULL: all words) as a dataset of chain problems,
 * in the file's order: node i is a letter with LETTER_FEATURES features 0 or 1, edge e joins letters e and e + 1 and
 * has one feature, 1. theta is 1 for the true label and 0 for others, so that the loss of a word is the number of its
 * wrong letters. Labels are named a to z, items "word N", N the word's place in the file from 1. CLV_ERR_USAGE if a
 * fold has no words or there is none at all. */
enum clv_status letters_dataset(struct clv_dataset **dataset, const struct letters *letters, const uint8_t *folds,
                                struct clv_error *err) CLV_CHECK;

/* Names and colours of the labels, or NULL if it was made without (clv_dataset_new, some feature files). */
const struct clv_labels *dataset_labels(const struct clv_dataset *dataset);

/* For segmenting from a feature file: item `index` as an example; release it as usual, before the dataset. Its
 * features are views, its superpixels a copy. Without superpixels node i is pixel i of one row. */
enum clv_status dataset_example(struct clv_example *example, const struct clv_dataset *dataset, size_t index,
                                struct clv_error *err) CLV_CHECK;

/* The pairwise form that the data is meant for: NONE without edges, FULL for patches, windows of slices of more than
 * two labels and feature files that say so, else POTTS. */
enum clv_pairwise dataset_pairwise(const struct clv_dataset *dataset);

DROPS(dataset_drop, struct clv_dataset, clv_dataset_free)

#endif
