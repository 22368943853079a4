/* Objects of an image. Read cleave/objects.h first, then object_map.c (maps of objects) and object_table.c (measures).
 * object_rows.c numbers the objects of an image that is read by rows, object_windows.c objects that are found window by
 * window. */

/* A learned model finds objects that touch each other. Read object_model_find first: filter responses (pixel_bank.c),
 * probabilities of background, rim and core (pixel_net.c), regions and the borders between them (border_features.c),
 * the log odds that a border separates two objects (edge_problem.c), and a partition of the regions by them
 * (partition.c). */
#ifndef OBJECT_OBJECT_H
#define OBJECT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleave/image.h"
#include "cleave/objects.h"
#include "cleave/status.h"
#include "image/image.h"
#include "pixel_net/pixel_net.h"
#include "superpixel/region_graph.h"

/* Watershed of a map: every pixel inside belongs to the peak to which it leads up. A peak that rises less than `rise`
 * above its saddle to a higher peak is merged with it (the peak's dynamics, Grimaud 1992). */

struct basin_map {
    const float *values;      /* [height][width] */
    const uint8_t *is_inside; /* [height][width] whether a pixel belongs to a region */
    int32_t width, height;
};

/* regions[height][width] = 1..n_regions where is_inside, else 0; regions are numbered by their first pixels in row
 * order, and each is 4-connected. Of equal pixels the first counts as higher. O(pixels log pixels). */
enum clv_status basins_find(int32_t *regions, int32_t *n_regions, const struct basin_map *map, double rise,
                            struct clv_error *err) CLV_CHECK;

/* A problem whose nodes are the edges of a region graph. Label 0: both ends belong to one object (same); label 1: to
 * two (cut). The problem has no couplings, so that every learner of two labels can train it. The score of label 1 is
 * the log odds of a cut, from which partition.c computes the objects. Edges across seams and between slices are nodes
 * as well. */

/* Owns its arrays. Features of an edge: a bias; an indicator of each kind except REGION_WITHIN; log(1 + contact); the
 * graph's edge features; those that the caller adds. */
struct edge_problem {
    struct clv_problem problem;
    int64_t *row;
    int32_t *index;
    float *value;
    int32_t *label;
    float *theta;
    float *area; /* contact */
};
enum { EDGE_PROBLEM_BIAS, EDGE_PROBLEM_SEAM, EDGE_PROBLEM_NEXT, EDGE_PROBLEM_CONTACT, EDGE_PROBLEM_OWN };

/* Builds the problem of a graph. features[n_edges][n_features] are more features of the edges, or NULL and 0.
 * object[n_nodes] is the ground truth, or NULL: the object of each region, a number >= 0 (0: background), or
 * CLV_UNKNOWN, which leaves the edges of the region unlabelled. theta balances the two labels by contact, as
 * clv_example_set_truth does by pixels: its sum is 1, or 0 if no edge has a label. CLV_ERR_DATA for a graph without
 * edges. O(edges x features). */
enum clv_status edge_problem_init(struct edge_problem *self, const struct region_graph *graph, const float *features,
                                  int32_t n_features, const int32_t *object, struct clv_error *err) CLV_CHECK;
void edge_problem_release(struct edge_problem *self);

/* Computes regions, the graph of regions that touch, and features of their borders from the probabilities of
 * background, rim and core of each pixel. The features tell whether a border separates two objects: how narrow the neck
 * is (contact and distance to the background in proportion to the sizes of both sides), how much less core and more rim
 * and background it has, and the sizes. Features of colour, of slopes along the border and of the concavity of convex
 * hulls did not help: held-out nuclei had F1 .832 without them, .823 with them. */

enum { BORDER_MEASURES = 20, BORDER_FEATURES = BORDER_MEASURES * (BORDER_MEASURES + 3) / 2 }; /* and their products */

struct object_regions {
    int32_t width, height, n; /* of regions */
    int32_t *regions;         /* [height][width] 1..n, 0: the background */
    struct region_graph graph;
    float *features;                 /* [graph.n_edges][BORDER_FEATURES] */
    float *area, *background, *peak; /* [n] pixels, mean probability of the background, maximum of that of the core */
};
void object_regions_release(struct object_regions *self);

/* Computes the regions of probability[OBJECT_CLASSES][height][width]. An object has many regions: one for each peak of
 * the smoothed core that rises by .02. O(pixels log pixels). */
enum clv_status object_regions_init(struct object_regions *self, const float *probability, int32_t width,
                                    int32_t height, struct clv_error *err) CLV_CHECK;

/* A binary heap of numbered values, the greatest first; of equal values, that with the lower number. */

struct heap_entry {
    double value;
    int32_t id;
};
struct heap {
    struct heap_entry *entries; /* the caller allocates enough of them */
    size_t n;
};

static inline bool heap_before(struct heap_entry a, struct heap_entry b)
{
    return a.value > b.value || (a.value == b.value && a.id < b.id);
}

static inline void heap_push(struct heap *self, double value, int32_t id)
{
    struct heap_entry entry = {value, id};
    size_t at = self->n++;
    for (; at > 0 && heap_before(entry, self->entries[(at - 1) / 2]); at = (at - 1) / 2)
        self->entries[at] = self->entries[(at - 1) / 2];
    self->entries[at] = entry;
}

static inline struct heap_entry heap_pop(struct heap *self)
{
    struct heap_entry top = self->entries[0], last = self->entries[--self->n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < self->n; at = child) {
        child += child + 1 < self->n && heap_before(self->entries[child + 1], self->entries[child]);
        if (!heap_before(self->entries[child], last))
            break;
        self->entries[at] = self->entries[child];
    }
    self->entries[at] = last;
    return top;
}

/* Numbers the objects of a label map that is read twice, by rows: the objects and numbers of clv_object_map_from_labels
 * and clv_object_map_filter. A map of object numbers can be read in place of labels; then its connected pieces get
 * numbers. Memory: the runs of two rows, and 24 bytes for each piece, which is a run that touches no run of its object
 * above.
 *
 *     MUST(object_rows_init(&rows, width, height, NULL, err));
 *     for each band
 *         MUST(objects_find_rows(&rows, band.labels, band.n_rows, err));
 *     MUST(objects_filter_rows(&rows, min_area, clears_border, err));
 *     for each band                                            // rows.n_objects and rows.values are known
 *         objects_number_rows(numbers, &rows, band.labels, band.n_rows); */

struct object_run;
struct object_piece;
struct object_rows {
    int32_t width, height, y; /* y: the next row of the pass */
    bool is_object[256];
    struct object_run *runs, *above; /* [n_runs] of the last row, [n_above] of the row above */
    int32_t n_runs, n_above;
    struct object_piece *pieces; /* [n_pieces] in the order in which they begin */
    int32_t n_pieces, n_begun;   /* of the first pass; of the second pass so far */
    int32_t max_pieces;
    size_t capacity;
    int32_t n_objects;
    int32_t *values; /* [n_objects] the label or number that an object had */
};

/* Begins the first pass. is_object[256]: whether a label means objects; NULL: all labels except 0 and CLV_VOID. */
enum clv_status object_rows_init(struct object_rows *self, int32_t width, int32_t height, const bool is_object[256],
                                 struct clv_error *err) CLV_CHECK;
void object_rows_release(struct object_rows *self);

/* First pass: reads the next rows, labels[n_rows][width] or numbers[n_rows][width] of objects (0: none). CLV_ERR_DATA:
 * more than max_pieces pieces. */
enum clv_status objects_find_rows(struct object_rows *self, const uint8_t *labels, int32_t n_rows,
                                  struct clv_error *err) CLV_CHECK;
enum clv_status objects_find_rows_of_numbers(struct object_rows *self, const int32_t *numbers, int32_t n_rows,
                                             struct clv_error *err) CLV_CHECK;

/* Ends the first pass: drops objects of less than min_area pixels, and with clears_border those at the image's border.
 * CLV_ERR_DATA: more than CLV_MAX_OBJECT_NUMBER objects remain. */
enum clv_status objects_filter_rows(struct object_rows *self, int64_t min_area, bool clears_border,
                                    struct clv_error *err) CLV_CHECK;

/* Second pass: computes numbers[n_rows][width] of the next rows of the same labels, or replaces the same numbers.
 * object_rows_rewind begins another second pass. */
void objects_number_rows(int32_t *numbers, struct object_rows *self, const uint8_t *labels, int32_t n_rows);
void objects_renumber_rows(int32_t *numbers, struct object_rows *self, int32_t n_rows);
void object_rows_rewind(struct object_rows *self);

/* Finds the objects of an image of any size window by window. The cores of the windows, of `side` pixels, cover the
 * image without overlap; each window reads `halo` more pixels on all sides, within the image. Objects of two windows
 * are the same object if they share more than half of the union of their pixels in the area of both windows. Such an
 * object has all pixels that it has in the window whose core contains the centre of its box. An object that every
 * window cuts has the pixels of each window in its core. A whole object that only one window finds is dropped if the
 * core of another window contains its centre. Where objects still overlap, the object of the earlier window is in
 * front.
 *
 * Memory: the windows in work, and about 12 bytes for each row of each object.
 *
 *     MUST(object_windows_find(&windows, &finder, &options, err));
 *     object_windows_rows(numbers, &windows, top, n_rows); */

struct object_finder {
    int32_t width, height;                 /* of the image */
    int32_t working_width, working_height; /* size at which objects are found, not larger */
    /* Finds the objects in a part of the image at that size: *map, which the caller releases. */
    enum clv_status (*find)(struct clv_object_map *map, void *context, const struct image_part *part, int thread,
                            struct clv_error *err);
    void *context;
};

struct object_windows_options {
    int32_t side, halo;
    int n_threads;
    const char *journal; /* path of a file that keeps finished windows, also afterwards; or NULL */
    uint64_t key;        /* identifies everything that objects depend on: windows of a journal with another key are not
                          * used */
    bool resumes;
    const struct clv_progress *progress;
};

struct object_window;
struct object_windows {
    int32_t width, height, working_width, working_height, side, halo, n_across, n_down;
    struct object_window *windows; /* [n_down][n_across] */
    int32_t *columns;              /* [width] columns at the working size */
    int32_t *line, line_at;        /* [working_width] numbers of row line_at */
    int32_t n_objects;
    double *probability; /* [n_objects] */
    uint8_t *labels;     /* [n_objects] that the caller sets (struct label_votes), or NULL */
};

/* Finds the objects and numbers them by their first pixels in row order, independently of n_threads. Errors: those of
 * finder->find, CLV_ERR_INTERRUPTED between windows, CLV_ERR_CREATE and CLV_ERR_IO of the journal, CLV_ERR_DATA: too
 * many objects. */
enum clv_status object_windows_find(struct object_windows *self, const struct object_finder *finder,
                                    const struct object_windows_options *options, struct clv_error *err) CLV_CHECK;
void object_windows_release(struct object_windows *self);

/* Computes numbers[n_rows][width] of rows of the image. An object is in several pieces if others are in front of it. */
void object_windows_rows(int32_t *numbers, struct object_windows *self, int32_t top, int32_t n_rows);

/* Counts the labels of the pixels of objects, over parts of an image. label_votes_end sets labels[n_objects] to the
 * most frequent label of each object, the smallest if several are. Void pixels do not count; an object with only void
 * pixels gets CLV_VOID. */
struct label_votes {
    size_t n_objects, n_labels;
    int32_t *count; /* [n_objects][n_labels] */
};
enum clv_status label_votes_init(struct label_votes *self, int32_t n_objects, int32_t n_labels,
                                 struct clv_error *err) CLV_CHECK;
void label_votes_release(struct label_votes *self);
/* Adds n pixels. objects[n]: 0 or a number; labels[n]: below n_labels, or CLV_VOID. */
void label_votes_add(struct label_votes *self, const int32_t *objects, const uint8_t *labels, size_t n);
void label_votes_end(uint8_t *labels, const struct label_votes *self);

/* Makes each connected piece of an object an object, with the label and the probability of the object; both arrays must
 * exist. */
enum clv_status object_map_split(struct clv_object_map *map, struct clv_error *err) CLV_CHECK;

/* Measures the objects of an image that is read twice, by bands of rows. The results equal those of clv_objects_measure
 * and, with samples, of objects_measure_samples to the last bit. Memory: the measures of all objects, and the hulls of
 * objects that have pixels both above and below the last row.
 *
 *     MUST(object_measures_init(&measures, n_objects, labels, n_samples, err));
 *     for each band                                               // with objects, pixels, samples
 *         object_measures_sum(&measures, &band, NULL);
 *     MUST(object_measures_centre(&measures, err));
 *     for each band                                               // with a halo of OBJECT_HALO rows
 *         MUST(object_measures_shape(&measures, &band, err));
 *     object_measures_finish(&measures);                          // measures.rows, .mean, .deviation */

#define OBJECT_HALO 2

struct object_sums;
struct object_measures {
    int32_t n_objects, n_samples;
    bool has_pixels, has_probability;
    struct clv_object *rows; /* [n_objects] */
    struct object_sums *sums;
    double *mean, *deviation, *count; /* [n_objects][n_samples], NULL without samples */
};

/* Begins the measures of n_objects objects with labels[n_objects], or NULL. */
enum clv_status object_measures_init(struct object_measures *self, int32_t n_objects, const uint8_t *labels,
                                     int32_t n_samples, struct clv_error *err) CLV_CHECK;
void object_measures_release(struct object_measures *self);
/* Adds a band in the first pass. probability[n_rows][width] is of the band without its halo, or NULL. */
void object_measures_sum(struct object_measures *self, const struct image_band *band, const float *probability);
/* Ends the first pass. CLV_ERR_USAGE: an object has no pixel. */
enum clv_status object_measures_centre(struct object_measures *self, struct clv_error *err) CLV_CHECK;
enum clv_status object_measures_shape(struct object_measures *self, const struct image_band *band,
                                      struct clv_error *err) CLV_CHECK;
void object_measures_finish(struct object_measures *self);

/* Computes mean and deviation[n_objects][n_bands] of samples[height][width][n_bands] over each object, without samples
 * that are NAN; NAN for an object that has no others. O(pixels x bands). */
enum clv_status objects_measure_samples(double *mean, double *deviation, const struct clv_object_map *map,
                                        const float *samples, int32_t n_bands, struct clv_error *err) CLV_CHECK;

/* colours[height][width] = 0 outside objects, else 1..255. Objects that touch by sides or corners differ if 32 rounds
 * suffice. O(pixels) per round. */
enum clv_status object_map_colour(uint8_t *colours, const struct clv_object_map *map, struct clv_error *err) CLV_CHECK;

/* Colours objects by bands of rows. objects_colour_init fills colour_of[n_objects + 1]. Then the caller passes all
 * bands, with a halo of one row, to objects_colour_band, in rounds until a round leaves *was_changed false, at most
 * OBJECT_COLOUR_ROUNDS. Up to 255 objects need no round. */
enum { OBJECT_COLOUR_ROUNDS = 32 };
void objects_colour_init(uint8_t *colour_of, int32_t n_objects);
void objects_colour_band(bool *was_changed, uint8_t *colour_of, const struct image_band *band);

struct object_model {
    float shrink;             /* >= 1: divisor of the sides, so that objects are not larger than the filters */
    struct pixel_net nets[2]; /* the second also uses the first one's probabilities around a pixel */
    int32_t n_weights;        /* columns of edge_problem.c */
    double *weights;          /* [n_weights] of the score of a cut; NULL: not learned, because no objects touched */
};
void object_model_release(struct object_model *self);

extern const int32_t object_net_copies[2];

/* Computes the working size, at which objects of an image of width x height are found. */
void object_model_size(int32_t *working_width, int32_t *working_height, const struct object_model *self, int32_t width,
                       int32_t height);

/* An image with more than OBJECT_AT_ONCE pixels at the working size is processed window by window. Filters reach 99
 * pixels. With halos of 128 and of 256, held-out nuclei have the same F1 as in one window. */
enum { OBJECT_AT_ONCE = 1 << 22, OBJECT_WINDOW = 1024, OBJECT_WINDOW_HALO = 128 };

/* Computes classes[height][width] (OBJECT_BACKGROUND ..) from objects[height][width]. The rim has the pixels whose
 * distance to the object's border is at most 6 pixels and at most .45 of that of the innermost pixel.
 * distance[height][width] is scratch. O(pixels). */
enum clv_status object_classes(uint8_t *classes, float *distance, const int32_t *objects, int32_t width, int32_t height,
                               struct clv_error *err) CLV_CHECK;

/* Computes the inputs of the model's networks for an image of the working size, or for a window of an image whose light
 * is given, and probability[OBJECT_CLASSES][height][width] by the last network. The caller releases the bank whatever
 * the status is. */
enum clv_status object_model_classify(struct pixel_bank *bank, float *probability, const struct object_model *self,
                                      const struct clv_image *working, const struct pixel_light *light,
                                      struct clv_error *err) CLV_CHECK;

/* Computes the regions of an image of the working size, or of a window. */
enum clv_status object_model_regions(struct object_regions *regions, const struct object_model *self,
                                     const struct clv_image *working, const struct pixel_light *light,
                                     struct clv_error *err) CLV_CHECK;

/* Partitions the regions into objects: *map, which the caller releases. O(pixels), and the partition. */
enum clv_status object_model_divide(struct clv_object_map *map, const struct object_model *self,
                                    const struct object_regions *regions, struct clv_error *err) CLV_CHECK;

/* Finds the objects of an image of the working size, or of a window of an image whose light is given: *map, which the
 * caller releases, numbered by their first pixels, without labels. One thread, deterministic. Memory: about 300 bytes
 * per pixel. */
enum clv_status object_model_find(struct clv_object_map *map, const struct object_model *self,
                                  const struct clv_image *working, const struct pixel_light *light,
                                  struct clv_error *err) CLV_CHECK;

/* Partitions of a graph with signed edges: multicut, or correlation clustering. same[e] is the log odds that both ends
 * of edge e belong to one object. The score of a partition is the sum of same over the edges inside its parts.
 * Maximising it is NP-hard (Bansal, Blum & Chawla 2004); these are the two heuristics of Keuper et al. 2015. Parts are
 * numbered 0.. in the order of their first nodes. Deterministic.
 *
 *     int32_t n_parts;
 *     MUST(partition_greedy(part, &n_parts, &graph, err));
 *     MUST(partition_improve(part, &n_parts, &graph, err)); */

struct signed_graph {
    int32_t n_nodes, n_edges;
    const int32_t (*edges)[2]; /* [n_edges] two different nodes each; parallel edges count as one with the sum of
                                * `same` */
    const double *same;        /* [n_edges] */
};

/* Greedy additive edge contraction: merges the two parts with the largest sum of edges between them, until no sum is
 * above 0. part[n_nodes]. O(m log m), and for each merge the number of edges of both parts. */
enum clv_status partition_greedy(int32_t *part, int32_t *n_parts, const struct signed_graph *graph,
                                 struct clv_error *err) CLV_CHECK;

/* Kernighan-Lin with joins: moves nodes between two parts that touch, or from a part to a new one, or merges two parts,
 * while the score of the partition grows. The score never falls. Quadratic in the sizes of the parts. */
enum clv_status partition_improve(int32_t *part, int32_t *n_parts, const struct signed_graph *graph,
                                  struct clv_error *err) CLV_CHECK;

/* Reads an item's objects, from a file or from memory, as clv_object_map_read does. */
enum clv_status item_objects_read(struct clv_object_map *map, const struct clv_item *item, int32_t width,
                                  int32_t height, const struct clv_image_limits *limits,
                                  struct clv_error *err) CLV_CHECK;

/* Sets map->labels to the most frequent label of each object in labels[height][width], as label_votes_end.
 * O(pixels). */
enum clv_status object_map_set_labels(struct clv_object_map *map, const uint8_t *labels,
                                      struct clv_error *err) CLV_CHECK;

#endif
