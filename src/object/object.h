/* Objects of an image. Read cleave/objects.h first, then object_map.c (maps of them), object_table.c (measures);
 * object_rows.c numbers those of an image that is read by rows, object_windows.c those that are found window by
 * window. */

/* Objects that touch each other, found by a learned model. Read object_model_find first: filter responses
 * (pixel_bank.c), probabilities of background, rim and core (pixel_net.c), regions and what is between them
 * (border_features.c), the log-odds that a border cuts, and a partition by them (partition.c). */
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

/* Watershed of a map: every pixel of interest belongs to the peak that it leads up to, and peaks that rise less than
 * `rise` above their saddle to a higher one are one with it (the peak's dynamics, Grimaud 1992). */

struct basin_map {
    const float *values;      /* [height][width] */
    const uint8_t *is_inside; /* [height][width] whether a pixel is of interest */
    int32_t width, height;
};

/* regions[height][width] = 1..n_regions where is_inside, by the first pixels of the regions in row order, else 0; each
 * in one piece by sides of pixels. Of equal pixels the first counts as higher. O(pixels log pixels). */
enum clv_status basins_find(int32_t *regions, int32_t *n_regions, const struct basin_map *map, double rise,
                            struct clv_error *err) CLV_CHECK;

/* A problem whose nodes are the edges of a region graph: label 0, both ends are of one object (same), or 1, of two
 * (cut). It has no couplings, so that every learner of two labels trains it, and its score of label 1 is the log-odds
 * that a decoder makes a partition of. Edges across seams and from slice to slice are nodes like all others. */

/* Owns its arrays. Features of an edge: a bias; 1 for each kind but WITHIN; the logarithm of 1 + its contact; the
 * graph's edge features; what the caller adds. */
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

/* features[n_edges][n_features], of the graph's edges in their order, go behind the own ones; NULL and 0: none.
 * object[n_nodes], or NULL when the truth is not known: the object that a region is of, any number >= 0 (0: the
 * background), or CLV_UNKNOWN, which hides the edges it is an end of. theta balances the two labels by contact, as
 * clv_example_set_truth does by pixels: it sums to 1, to 0 where all is hidden. CLV_ERR_DATA for a graph without edges,
 * which has no such problem. O(edges x features). */
enum clv_status edge_problem_init(struct edge_problem *self, const struct region_graph *graph, const float *features,
                                  int32_t n_features, const int32_t *object, struct clv_error *err) CLV_CHECK;
void edge_problem_release(struct edge_problem *self);

/* Turns the probabilities of background, rim and core at each pixel into regions, the graph of those that touch, and
 * features of each border that tell whether it cuts two objects: how narrow the neck is (contact and distance to the
 * background against the sizes of both sides), how much less core and more rim and background it has, and the sizes.
 * Colour, slopes along the border and the concavity of convex hulls were tried, too: held-out nuclei were no better
 * (F1 .832 without them, .823 with). */

enum { BORDER_MEASURES = 20, BORDER_FEATURES = BORDER_MEASURES * (BORDER_MEASURES + 3) / 2 }; /* and their products */

struct object_regions {
    int32_t width, height, n; /* of regions */
    int32_t *regions;         /* [height][width] 1..n, 0: the background */
    struct region_graph graph;
    float *features;                 /* [graph.n_edges][BORDER_FEATURES] */
    float *area, *background, *peak; /* [n] pixels, mean probability of the background, greatest one of the core */
};
void object_regions_release(struct object_regions *self);

/* probability[OBJECT_CLASSES][height][width]. Many regions an object: those peaks of the core that rise by .03 each
 * have one. O(pixels log pixels). */
enum clv_status object_regions_init(struct object_regions *self, const float *probability, int32_t width,
                                    int32_t height, struct clv_error *err) CLV_CHECK;

/* A binary heap of numbered things, the greatest value first; of equal ones that of the lower number. */

struct heap_entry {
    double value;
    int32_t id;
};
struct heap {
    struct heap_entry *entries; /* of a capacity that the caller knows to be enough */
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

/* Objects of a label map that is read twice, row after row: those of clv_object_map_from_labels and
 * clv_object_map_filter, with their numbers; or connected pieces of numbers, in place of labels. Memory for the runs of
 * two rows, and 24 bytes for each piece that begins below no other one of its object.
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
    int32_t width, height, y; /* y: the next row of this pass */
    bool is_object[256];
    struct object_run *runs, *above; /* [n_runs] of the last row, and of the one above */
    int32_t n_runs, n_above;
    struct object_piece *pieces; /* [n_pieces] in the order in which they begin */
    int32_t n_pieces, n_begun;   /* by the first pass, and so far by the second one */
    int32_t max_pieces;
    size_t capacity;
    int32_t n_objects;
    int32_t *values; /* [n_objects] their labels or numbers */
};

/* is_object[256] says which labels have objects; NULL: all but 0 and CLV_VOID. */
enum clv_status object_rows_init(struct object_rows *self, int32_t width, int32_t height, const bool is_object[256],
                                 struct clv_error *err) CLV_CHECK;
void object_rows_release(struct object_rows *self);

/* The first pass: the next rows, labels[n_rows][width], or numbers of objects, 0 for none. CLV_ERR_DATA: more than
 * max_pieces pieces. */
enum clv_status objects_find_rows(struct object_rows *self, const uint8_t *labels, int32_t n_rows,
                                  struct clv_error *err) CLV_CHECK;
enum clv_status objects_find_rows_of_numbers(struct object_rows *self, const int32_t *numbers, int32_t n_rows,
                                             struct clv_error *err) CLV_CHECK;

/* Ends it; CLV_ERR_DATA: more objects than CLV_MAX_OBJECT_NUMBER are left. */
enum clv_status objects_filter_rows(struct object_rows *self, int64_t min_area, bool clears_border,
                                    struct clv_error *err) CLV_CHECK;

/* The second pass: numbers[n_rows][width] of the next rows of the same labels, or in place of those that they have.
 * Rewind for another one. */
void objects_number_rows(int32_t *numbers, struct object_rows *self, const uint8_t *labels, int32_t n_rows);
void objects_renumber_rows(int32_t *numbers, struct object_rows *self, int32_t n_rows);
void object_rows_rewind(struct object_rows *self);

/* Objects of an image of any size that are found window by window. Windows of `side` pixels lie side by side, and each
 * sees `halo` more on all sides, as far as the image goes. Objects that two windows share more than half of, where both
 * see, are one. It is shown as the window sees it that has the middle of its box, with all of its pixels; one that no
 * window sees as a whole is shown by all, each in its own pixels. What only one window finds, while another has
 * the middle, is not an object. Where objects still overlap, the one of the earlier window is in front.
 *
 * In memory are the windows that are looked at, and of objects about 12 bytes for each row of each.
 *
 *     MUST(object_windows_find(&windows, &finder, &options, err));
 *     object_windows_rows(numbers, &windows, top, n_rows); */

struct object_finder {
    int32_t width, height;                 /* of the image, .. */
    int32_t working_width, working_height; /* .. and at the size that objects are looked for at, no larger */
    /* *map = a new one of the objects in a part at that size. */
    enum clv_status (*find)(struct clv_object_map *map, void *context, const struct image_part *part, int thread,
                            struct clv_error *err);
    void *context;
};

struct object_windows_options {
    int32_t side, halo;
    int n_threads;
    const char *journal; /* path of a file of the windows that are done; NULL: none. It stays. */
    uint64_t key;        /* what is found depends on this: windows of another key are not gone on with */
    bool resumes;
    const struct clv_progress *progress;
};

struct object_window;
struct object_windows {
    int32_t width, height, working_width, working_height, side, halo, n_across, n_down;
    struct object_window *windows; /* [n_down][n_across] */
    int32_t *columns;              /* [width] where they are at the working size */
    int32_t *line, line_at;        /* [working_width] numbers of that row */
    int32_t n_objects;
    double *probability; /* [n_objects] */
    uint8_t *labels;     /* [n_objects] that the caller has found (struct label_votes), or NULL */
};

/* Numbers follow the first pixels of objects, row by row, with any number of threads. Can be interrupted between
 * windows. */
enum clv_status object_windows_find(struct object_windows *self, const struct object_finder *finder,
                                    const struct object_windows_options *options, struct clv_error *err) CLV_CHECK;
void object_windows_release(struct object_windows *self);

/* numbers[n_rows][width] of rows of the image. An object may be in pieces there, where others are in front of it. */
void object_windows_rows(int32_t *numbers, struct object_windows *self, int32_t top, int32_t n_rows);

/* Counts which labels the pixels of objects have, by parts of an image: label_votes_end(labels[n_objects]) is the label
 * that most pixels of each have; of equal ones the smallest. Void pixels do not count; an object without others has
 * CLV_VOID. */
struct label_votes {
    size_t n_objects, n_labels;
    int32_t *count; /* [n_objects][n_labels] */
};
enum clv_status label_votes_init(struct label_votes *self, int32_t n_objects, int32_t n_labels,
                                 struct clv_error *err) CLV_CHECK;
void label_votes_release(struct label_votes *self);
/* objects[n], 0 or a number; labels[n] < n_labels, or CLV_VOID. */
void label_votes_add(struct label_votes *self, const int32_t *objects, const uint8_t *labels, size_t n);
void label_votes_end(uint8_t *labels, const struct label_votes *self);

/* Makes the connected pieces of each object objects of their own, with its label and its probability, which are
 * there. */
enum clv_status object_map_split(struct clv_object_map *map, struct clv_error *err) CLV_CHECK;

/* Measures of the objects of an image that is read twice, by bands of rows: to the last digit those of
 * clv_objects_measure and, with samples, of objects_measure_samples. The state is of the objects, and of the hulls of
 * those that the last row passes.
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

/* labels[n_objects], or NULL. */
enum clv_status object_measures_init(struct object_measures *self, int32_t n_objects, const uint8_t *labels,
                                     int32_t n_samples, struct clv_error *err) CLV_CHECK;
void object_measures_release(struct object_measures *self);
/* probability[n_rows][width] of the band, without its halo, or NULL. */
void object_measures_sum(struct object_measures *self, const struct image_band *band, const float *probability);
/* CLV_ERR_USAGE: an object has no pixel. */
enum clv_status object_measures_centre(struct object_measures *self, struct clv_error *err) CLV_CHECK;
enum clv_status object_measures_shape(struct object_measures *self, const struct image_band *band,
                                      struct clv_error *err) CLV_CHECK;
void object_measures_finish(struct object_measures *self);

/* mean and deviation[n_objects][n_bands] of samples[height][width][n_bands] in each object, of those that are not NAN;
 * NAN where an object has none. O(pixels x bands). */
enum clv_status objects_measure_samples(double *mean, double *deviation, const struct clv_object_map *map,
                                        const float *samples, int32_t n_bands, struct clv_error *err) CLV_CHECK;

/* colours[height][width] = 0 where there is no object, else 1..255, so that objects which touch by sides or corners
 * differ, as far as 255 can. O(pixels) mostly, 32 times as much at worst. */
enum clv_status object_map_colour(uint8_t *colours, const struct clv_object_map *map, struct clv_error *err) CLV_CHECK;

/* Colours objects by bands of rows. objects_colour_init begins colour_of[n_objects + 1]; rounds through all bands,
 * which have a halo of one row, follow until one leaves *was_changed false, OBJECT_COLOUR_ROUNDS at most. Up to 255
 * objects need none. */
enum { OBJECT_COLOUR_ROUNDS = 32 };
void objects_colour_init(uint8_t *colour_of, int32_t n_objects);
void objects_colour_band(bool *was_changed, uint8_t *colour_of, const struct image_band *band);

struct object_model {
    float shrink;             /* >= 1: sides are divided by it, so that objects are no larger than the filters */
    struct pixel_net nets[2]; /* what a pixel looks like, and that with what the first says around it */
    int32_t n_weights;        /* of edges: columns of edge_problem.c */
    double *weights;          /* [n_weights] score of a cut; NULL: none was learned, as objects never touched */
};
void object_model_release(struct object_model *self);

extern const int32_t object_net_copies[2];

/* The size that objects of an image of that size are looked for at. */
void object_model_size(int32_t *working_width, int32_t *working_height, const struct object_model *self, int32_t width,
                       int32_t height);

/* An image of more pixels at that size than OBJECT_AT_ONCE is looked at window by window. Filters see 99 pixels far;
 * held-out nuclei have the F1 of one window with halos of 128 and of 256. */
enum { OBJECT_AT_ONCE = 1 << 22, OBJECT_WINDOW = 1024, OBJECT_WINDOW_HALO = 128 };

/* classes[height][width] (OBJECT_BACKGROUND ..) of objects[height][width]: the rim is what is nearer to the object's
 * border than .45 of its innermost pixel, and than 6 pixels. distance[height][width] is scratch. O(pixels). */
enum clv_status object_classes(uint8_t *classes, float *distance, const int32_t *objects, int32_t width, int32_t height,
                               struct clv_error *err) CLV_CHECK;

/* Computes the inputs of the model's networks for an image of that size, or a window of one whose light is given, and
 * probability[OBJECT_CLASSES][height][width] by the last network. Release the bank whatever the status. */
enum clv_status object_model_look(struct pixel_bank *bank, float *probability, const struct object_model *self,
                                  const struct clv_image *working, const struct pixel_light *light,
                                  struct clv_error *err) CLV_CHECK;

/* Regions of an image at that size. */
enum clv_status object_model_regions(struct object_regions *regions, const struct object_model *self,
                                     const struct clv_image *working, const struct pixel_light *light,
                                     struct clv_error *err) CLV_CHECK;

/* The objects that regions make. *map is a new one. O(pixels), and the partition. */
enum clv_status object_model_divide(struct clv_object_map *map, const struct object_model *self,
                                    const struct object_regions *regions, struct clv_error *err) CLV_CHECK;

/* The objects of an image at that size, or of a window of one whose light is given, numbered by their first pixels,
 * without labels; *map is a new one. One thread; the same bytes anywhere. About 300 bytes a pixel. */
enum clv_status object_model_find(struct clv_object_map *map, const struct object_model *self,
                                  const struct clv_image *working, const struct pixel_light *light,
                                  struct clv_error *err) CLV_CHECK;

/* Partitions of a graph by what its edges say: multicut, or correlation clustering. same[e] is the log-odds that both
 * ends of edge e are of one object, of either sign; a partition's value is the sum of same over the edges inside of its
 * parts, and the best one has the greatest. That is NP-hard (Bansal, Blum & Chawla 2004); these are the two heuristics
 * of Keuper et al. 2015. Parts are numbered 0.. in the order of their first nodes. Same input, same parts.
 *
 *     int32_t n_parts;
 *     MUST(partition_greedy(part, &n_parts, &graph, err));
 *     MUST(partition_improve(part, &n_parts, &graph, err)); */

struct signed_graph {
    int32_t n_nodes, n_edges;
    const int32_t (*edges)[2]; /* [n_edges] different ends; of several between the same two the sum counts */
    const double *same;        /* [n_edges] */
};

/* Greedy additive edge contraction: joins the two parts whose edges sum to most, until no sum is above 0.
 * part[n_nodes]. O(m log m) steps and those of looking through the edges of the parts that are joined. */
enum clv_status partition_greedy(int32_t *part, int32_t *n_parts, const struct signed_graph *graph,
                                 struct clv_error *err) CLV_CHECK;

/* Kernighan-Lin with joins: improves a partition by moving nodes between two parts that touch, or out of one into a new
 * one, or joining the two, while that makes its value greater; never less than it was. Quadratic in the sizes of
 * the parts. */
enum clv_status partition_improve(int32_t *part, int32_t *n_parts, const struct signed_graph *graph,
                                  struct clv_error *err) CLV_CHECK;

/* clv_object_map_read of an item's objects, in a file or in memory. */
enum clv_status item_objects_read(struct clv_object_map *map, const struct clv_item *item, int32_t width,
                                  int32_t height, const struct clv_image_limits *limits,
                                  struct clv_error *err) CLV_CHECK;

/* map->labels = the label that most pixels of each object have in labels[height][width]; of equal ones the smallest.
 * Void pixels do not count; an object without others has CLV_VOID. O(pixels). */
enum clv_status object_map_set_labels(struct clv_object_map *map, const uint8_t *labels,
                                      struct clv_error *err) CLV_CHECK;

#endif
