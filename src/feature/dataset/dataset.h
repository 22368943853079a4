/* This folder holds the problems of many images. A dataset is filled in three ways: problems are added (dataset.c;
 * letters.c for words), images are extracted (extract.c, frame.c for boxes), or a feature file is opened
 * (features_read.c over features_arrays.c, loaded_item.c for more than memory holds). Feature files are written by
 * features_write.c, image by image, and dataset_write.c, from memory. This header declares what those share. Read
 * extract.c first. */
#ifndef FEATURE_DATASET_H
#define FEATURE_DATASET_H

#include <stdatomic.h>
#include <stdbool.h>

#include "cleave/features.h"
#include "data/tensors.h"

/* problem points into the item's own arrays, or into the dataset's file and the arrays derived from it (the own ones
 * are then NULL). */
struct dataset_item {
    char *name;
    struct clv_problem problem;
    int64_t *row;
    int32_t *index;
    float *value;
    int32_t (*edges)[2];
    float *edge_features;
    float *volume;
    float *place;
    int32_t *label;
    float *theta;
    float *counts;     /* that theta was made of, or NULL */
    uint64_t sequence; /* one number for each clv_item.sequence; 0: of none, or of a feature file */
};
void dataset_item_release(struct dataset_item *item);

/* The tensors of an open file; NULL where it has none. */
struct features_arrays {
    const struct clv_tensor *node_offset, *edge_offset, *row, *index, *value, *x, *edges, *edge_features, *counts,
        *volume, *size, *superpixels;
};

/* What an opened feature file adds: the mapped arrays, and what is derived from them once. */
struct dataset_file {
    struct clv_tensors *tensors;
    struct features_arrays arrays;
    bool is_apart;                   /* features and superpixels are not in memory (loaded_item.h) */
    enum clv_graph graph;            /* the loosest of a file that is apart */
    const int32_t (*size)[4];        /* [n] original and working width and height, or NULL */
    const int32_t *superpixels;      /* the working label maps of all items, or NULL */
    int64_t *superpixel_offset;      /* [n + 1] */
    int32_t patch_px, patch_step_px; /* of a recipe of patches, else 0 */
    int64_t *dense_row;              /* [most nodes of an item + 1] 0, d, 2d ..: the rows of every item, if dense */
    int32_t *dense_index;            /* [most nodes x d] 0 .. d-1 again and again */
    const float *counts;             /* [N][n_labels], or NULL */
    int32_t *label;                  /* [N] */
    float *theta;                    /* [N][n_labels] */
    float *volume;                   /* [N] ones, if the file has none */
    float *place;                    /* [N][2] of superpixels, or NULL */
    atomic_size_t *looked_at;        /* bytes since pages were last given back */
};

struct clv_dataset {
    int32_t n_labels, n_features, n_edge_features;
    enum clv_pairwise pairwise; /* what edges are meant for */
    bool counts_errors;         /* theta counts wrong nodes */
    struct clv_labels labels;   /* n_labels 0: it has no names for them */
    struct dataset_item *items;
    size_t n, capacity;
    size_t n_mirrored; /* the last items: the first ones, mirrored (dataset_add_mirrored) */
    struct dataset_file file;
    struct clv_dataset **parts; /* [n_parts] of shards, which own the items; NULL: none */
    size_t n_parts;
    struct feature_cache *cache; /* NULL: all features are in memory or mapped, see loaded_item.h */
};

/* The file that item *index comes from, and its number there. */
const struct clv_dataset *dataset_part(size_t *index, const struct clv_dataset *dataset);

/* To be called whenever a problem's features are accessed: every LOOKED_AT_MAX bytes of a mapped file its pages are
 * given back, so that learning from a file takes memory that does not grow with it. Safe in parallel; NULL, and what
 * is in memory, is fine. */
#define LOOKED_AT_MAX ((size_t)256 << 20)
void dataset_looked_at(const struct clv_dataset *dataset, const struct clv_problem *problem);

/* The item must be complete and fit those before; it is the dataset's from here on. */
enum clv_status dataset_append(struct clv_dataset *dataset, struct dataset_item *item, struct clv_error *err) CLV_CHECK;

/* Gives an item other features, of arrays that become its own: `problem` has their sizes and points to them, to the rest
 * of what the item has already. Those of an item in memory are freed. Items may be changed at the same time; all must
 * have the same sizes in the end, which the dataset's are at once. */
void dataset_replace_features(struct clv_dataset *dataset, size_t index, const struct clv_problem *problem,
                              int64_t *row, int32_t *indices, float *value, float *edge_features);

/* Moves an extracted example's arrays into the dataset; what the dataset does not keep stays in the example, for its
 * release. */
enum clv_status dataset_take(struct clv_dataset *dataset, struct clv_example *example, const char *name,
                             struct clv_error *err) CLV_CHECK;

/* 1 if theta counts wrong nodes (or pixels) as they are: letters, and feature files that say so; 0 if it is balanced
 * or of the caller's making. */
bool dataset_counts_errors(const struct clv_dataset *dataset);

/* Makes theta, and with it the nodes' majority labels, anew from the pixels counted. Nothing happens to what is weighed
 * that way already. O(nodes labels). CLV_ERR_USAGE if a problem has a theta but no counts, and nothing changes. */
enum clv_status dataset_weigh(struct clv_dataset *dataset, enum clv_loss_weights weights,
                              struct clv_error *err) CLV_CHECK;

/* Multiplies theta by a weight for each true label, (1 / the label's share of all theta) to the power of `exponent`,
 * scaled so that all theta has the sum it had; majority labels follow. 0 changes nothing, with 1 all labels that are
 * there weigh the same in the end. For training sets: the mean loss is no share of pixels any more. To be called after
 * dataset_weigh, once. O(nodes labels). CLV_ERR_USAGE for an exponent outside 0..1. */
enum clv_status dataset_weigh_labels(struct clv_dataset *dataset, double exponent, struct clv_error *err) CLV_CHECK;

/* The loosest kind of graph among its problems. */
enum clv_status dataset_graph(enum clv_graph *graph, const struct clv_dataset *dataset,
                              struct clv_error *err) CLV_CHECK;

#endif
