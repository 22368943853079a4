/* The problems of many images. A dataset is filled in three ways: problems are added (dataset.c; letters.c for words),
 * images are extracted (extract.c; privileged.c for boxes), or feature files are opened (feature_shards.c,
 * features_read.c). features_write.c writes feature files image by image, dataset_write.c from memory. paging.c decides
 * which pages of files are in memory. Read extract.c first. */
#ifndef FEATURE_DATASET_DATASET_H
#define FEATURE_DATASET_DATASET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "cleave/features.h"
#include "cleave/status.h"
#include "cluster/shard.h"
#include "data/data.h"

/* problem points into the item's own arrays, or into a file and the arrays derived from it; then the own ones are
 * NULL. */
struct dataset_item {
    char *name;
    struct clv_problem problem;
    const struct dataset_file *file; /* NULL: the item is in memory */
    size_t number;                   /* index of the item in its file */
    int64_t *row;
    int32_t *index;
    float *value;
    int32_t (*edges)[2];
    float *edge_features;
    float *area;
    float *centroid;
    int32_t *label;
    float *theta;
    float *counts;       /* counts of pixels from which theta was computed, or NULL */
    uint64_t sequence;   /* hash of clv_item.sequence; 0: no sequence, or from a feature file */
    int32_t *first_node; /* [n_slices + 1] of the window's slices, set->items[first_slice] and so on; or NULL */
    size_t first_slice, n_slices;
};
void dataset_item_release(struct dataset_item *item);

/* On disk the nodes' areas are the tensor "volume", the name that existing files have. */
#define AREA_TENSOR "volume"

/* A mapped feature file: data of its images that is not in their problems, and arrays that are derived from its tensors
 * once. */
struct dataset_file {
    struct clv_tensors *tensors;
    size_t n;                        /* images */
    const int32_t (*size)[4];        /* [n] original and working width and height, or NULL */
    const int32_t *superpixels;      /* the working label maps of all items, or NULL */
    int64_t *superpixel_offset;      /* [n + 1] */
    int32_t patch_px, patch_step_px; /* if its recipe has patches, else 0 */
    int64_t *dense_row;              /* [largest n_nodes + 1] 0, d, 2d and so on: rows of every item, if dense */
    int32_t *dense_index;            /* [largest n_nodes x d] 0 to d - 1, repeated */
    const float *counts;             /* [N][n_labels], or NULL */
    int32_t *label;                  /* [N] */
    float *theta;                    /* [N][n_labels] */
    float *area;                     /* [N] ones, if the file has none */
    float *centroid;                 /* [N][2] of superpixels, or NULL */
};

struct clv_dataset {
    int32_t n_labels, n_features, n_edge_features;
    enum clv_pairwise pairwise; /* pairwise form that the edges are meant for */
    bool counts_errors;         /* theta counts wrong pixels or nodes, unweighted */
    bool has_windows;           /* items are windows of slices, in order; folds are runs of items */
    struct clv_labels labels;   /* n_labels 0: labels have no names */
    struct dataset_item *items;
    size_t n, capacity;
    size_t n_mirrored;           /* the last items, which are mirror images of the first (dataset_add_mirrored) */
    struct dataset_file **files; /* [n_files] mapped files, in the order of their items; NULL: none */
    size_t n_files, files_capacity;
    struct dataset_paging *paging; /* of the files; NULL without files */
};

/* Must be called each time before a problem's features are read. Releases pages of mapped files now and then, so that
 * the memory for learning does not grow with the files; if the files are larger than memory, it also reads the features
 * at once. Thread-safe. Does nothing if the dataset is NULL or in memory. */
#define MAX_ACCESSED_BYTES ((size_t)256 << 20)
void dataset_notify_access(const struct clv_dataset *dataset, const struct clv_problem *problem);

/* Prefetches the features of a problem for which dataset_notify_access will be called soon, at most MAX_EXPECTED calls
 * later, if the files are larger than memory. It affects only the time. */
#define MAX_EXPECTED 16
void dataset_expects(const struct clv_dataset *dataset, const struct clv_problem *problem);

/* The paging of a dataset's files. dataset_paging_begin is called when all of them are open. */
enum clv_status dataset_paging_new(struct dataset_paging **paging, struct clv_error *err) CLV_CHECK;
void dataset_paging_free(struct dataset_paging *self);
enum clv_status dataset_paging_begin(struct clv_dataset *dataset, struct clv_error *err) CLV_CHECK;

/* Appends an item, which must be complete and have the sizes of the earlier ones. The dataset owns it after success. */
enum clv_status dataset_append(struct clv_dataset *dataset, struct dataset_item *item, struct clv_error *err) CLV_CHECK;

/* Replaces the features of an item by arrays that it then owns. `problem` has the new sizes and points to the new
 * arrays and to the item's other data. The old arrays are freed; edge_features may be NULL to keep them. Threads may
 * change different items at the same time. In the end all items must have the same sizes, which become those of the
 * dataset when item 0 is changed. */
void dataset_replace_features(struct clv_dataset *dataset, size_t index, const struct clv_problem *problem,
                              int64_t *row, int32_t *indices, float *value, float *edge_features);

/* Moves an extracted example's arrays into the dataset. Arrays that the dataset does not keep stay in the example,
 * whose release frees them. */
enum clv_status dataset_take(struct clv_dataset *dataset, struct clv_example *example, const char *name,
                             struct clv_error *err) CLV_CHECK;

/* Returns whether theta counts wrong nodes (or pixels) without weights, as for letters and feature files with "loss":
 * "counts". False if it is balanced or was set by the caller. */
bool dataset_counts_errors(const struct clv_dataset *dataset);

/* Computes theta and the nodes' majority labels from the counts of pixels by `weights`. Does nothing if theta already
 * has these weights. CLV_ERR_USAGE if a problem has a theta but no counts; the dataset is then unchanged. O(nodes
 * labels). */
enum clv_status dataset_weigh(struct clv_dataset *dataset, enum clv_loss_weights weights,
                              struct clv_error *err) CLV_CHECK;

/* Multiplies theta by a weight for each true label, (1 / the label's share of all theta) to the power of `exponent`,
 * scaled so that the sum of theta does not change, and updates majority labels. 0 changes nothing; with 1 all labels
 * that occur have the same total weight. Use it only for training, since the mean loss is then not a share of pixels.
 * Call it once, after dataset_weigh. CLV_ERR_USAGE for an exponent outside 0..1. O(nodes labels). */
enum clv_status dataset_weigh_labels(struct clv_dataset *dataset, double exponent, struct clv_error *err) CLV_CHECK;

/* Computes the most general kind of graph among the dataset's problems. */
enum clv_status dataset_graph(enum clv_graph *graph, const struct clv_dataset *dataset,
                              struct clv_error *err) CLV_CHECK;

/* Positions of nodes within their image's boxes: privileged features, since boxes are known only in training. */

/* The boxes of an item. */
struct item_boxes {
    struct clv_pixel_box *boxes; /* in the original image; NULL: not known */
    size_t n_boxes;              /* if boxes is not NULL, 0 means that the image has no object */
    size_t n_voids;              /* boxes after these n_boxes in which labels are not known */
};

/* Estimates each pixel's probability of foreground, foreground[height][width] in 0..1, from only an image and its
 * boxes. Called on any thread. */
typedef enum clv_status foreground_estimate(float *foreground, const struct clv_image *image,
                                            const struct item_boxes *boxes, struct clv_error *err);

/* Adds a problem with the example's nodes, no edges and features from boxes to the dataset `privileged`. The features
 * are soft bins of an 8 x 8 grid over the box, and the share of pixels outside all boxes. A pixel in several boxes
 * belongs to the one whose centre is nearest in box sizes. An item with unknown boxes has no features.
 * theta[n_nodes][2] is estimate[n_nodes], the probability of foreground, or NULL without it. O(pixels x boxes). */
enum clv_status privileged_add(struct clv_dataset *privileged, const struct clv_example *example,
                               const struct item_boxes *boxes, const float *estimate, const char *name,
                               struct clv_error *err) CLV_CHECK;

/* Extraction of the images of a dataset, in parallel and in order, with bounded memory. */

/* Receives the examples one by one in the dataset's order, on the calling thread. Arrays that it leaves in the example
 * are freed. */
typedef enum clv_status take_example(void *context, struct clv_example *example, const struct clv_item *item,
                                     const float *estimate, struct clv_error *err);

/* Options of extraction. All except the recipe may be 0 or NULL. */
struct extract_options {
    const struct clv_recipe *recipe;
    int n_threads;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
    const struct item_boxes *boxes; /* [n_items] */
    foreground_estimate *estimate;  /* for items with boxes; its mean over each node goes to take_example */
};

/* Which processes (cluster/comm.h) receive the examples. */
enum extract_share {
    EXTRACT_TO_ALL,    /* all processes receive the examples of all images */
    EXTRACT_TO_LEADER, /* only the first process receives them */
};

/* Reads every image and extracts its example, and its truth if it has a mask. An entirely void mask gives no truth.
 * Memory: a fixed number of examples per thread. Fails with the error of the first item, in the dataset's order, that
 * fails. */
enum clv_status extract_set(const struct clv_set *set, const struct extract_options *how, enum extract_share share,
                            take_example *take, void *context, struct clv_error *err) CLV_CHECK;

/* Adds the mirror image of each of the set's images, with its mirrored mask, to a dataset that was extracted from
 * exactly this set: item n + i mirrors item i. The grid of patches is not mirrored. */
enum clv_status dataset_add_mirrored(struct clv_dataset *dataset, const struct clv_set *set,
                                     const struct extract_options *how, struct clv_error *err) CLV_CHECK;

/* Extends clv_dataset_extract by boxes, for two labels: an item with boxes but without a mask gets the labels of
 * clv_example_set_boxes (`given` of struct clv_training). *privileged (may be NULL) receives the dataset of
 * privileged_add, with the same items and nodes. Items with masks need boxes, too, to have these features. */
enum clv_status dataset_extract_boxed(struct clv_dataset **dataset, struct clv_dataset **privileged,
                                      const struct clv_set *set, const struct extract_options *how,
                                      struct clv_error *err) CLV_CHECK;

/* Feature files, of which several can be opened as one dataset: x.safetensors, or all shards such as
 * x-00003-of-00016.safetensors. A shard is a feature file with a contiguous block of the images, whose metadata have
 * "shard": "3/16 of 200" (200 images in all shards). */

/* Returns whether the path is a folder that has at least one shard and no other files. */
bool features_is_sharded(const char *path);

/* Lists the files of all paths in order. A folder of shards is replaced by its shards, sorted by name. */
enum clv_status features_list_files(struct path_list *files, const struct path_list *paths,
                                    struct clv_error *err) CLV_CHECK;

/* Opens several feature files as one dataset, in their order. Each path is a file or a folder of shards. Files are
 * whole, or all shards of a dataset in order; a single file may be any shard. CLV_ERR_DATA names a file that is out of
 * order, listed twice, or differs from the first in labels or recipe. */
enum clv_status features_open_list(struct clv_dataset **dataset, struct clv_recipe *recipe,
                                   const struct path_list *paths, struct clv_error *err) CLV_CHECK;

/* Names and checks that the writer and the reader of feature files share. */

#define FEATURES_FORMAT  "cleave features "
#define FEATURES_VERSION "1"
#define FEATURES_SHARD   "shard" /* metadata of shards */

/* Names are written one per line in a JSON text. CLV_ERR_DATA unless the name is UTF-8 without line breaks. */
enum clv_status features_check_name(const char *name, struct clv_error *err) CLV_CHECK;

/* Writes one shard, 1 <= number <= count, of a dataset: a contiguous block of its items. count is at most 100000 and at
 * most the number of items. A folder of all shards opens as one dataset. Otherwise as clv_features_write. */
enum clv_status features_write_shard(const char *path, const struct clv_set *set, const struct clv_shard *shard,
                                     const struct extract_options *how, struct clv_error *err) CLV_CHECK;

/* Adds the images of an open file to *dataset; NULL creates one. `tensors` is consumed, also on failure. `path` names
 * the file in messages. After a failure the dataset can only be freed. */
enum clv_status features_add(struct clv_dataset **dataset, struct clv_recipe *recipe, struct clv_tensors *tensors,
                             const char *path, struct clv_error *err) CLV_CHECK;

/* Handwritten words as a dataset of chains. */

#define LETTER_FEATURES 131 /* the pixels, a bias of 1, whether it is the first of its word, the last */

/* Makes a dataset of chain problems of the words of some folds, in the file's order. folds[LETTER_MAX_FOLDS] is 1 for
 * chosen folds; NULL chooses all words. Node i is a letter with LETTER_FEATURES features 0 or 1; edge e joins letters e
 * and e + 1 and has one feature, 1. theta is 1 for the true label and 0 for others, so the loss of a word is its number
 * of wrong letters. Labels are named a to z, items "word N" with N counted from 1 in the file. CLV_ERR_USAGE if a
 * chosen fold has no words or the file has none. */
enum clv_status letters_dataset(struct clv_dataset **dataset, const struct letters *letters, const uint8_t *folds,
                                struct clv_error *err) CLV_CHECK;

/* Returns names and colours of the labels, or NULL if the dataset has none (clv_dataset_new, some feature files). */
const struct clv_labels *dataset_labels(const struct clv_dataset *dataset);

/* Returns item `index` as an example, for segmentation from a feature file. Release it before the dataset: its features
 * are views, its superpixels a copy. Without superpixels node i is pixel i of one row. */
enum clv_status dataset_example(struct clv_example *example, const struct clv_dataset *dataset, size_t index,
                                struct clv_error *err) CLV_CHECK;

/* Returns the pairwise form that the data is meant for: NONE without edges; FULL for patches, windows of slices with
 * more than two labels, and feature files with "pairwise": "full"; else POTTS. */
enum clv_pairwise dataset_pairwise(const struct clv_dataset *dataset);

DROPS(dataset_drop, struct clv_dataset, clv_dataset_free)

#endif
