/* Labels of an image by a model: of one that fits into memory, of a raster by tiles, of its objects. Read label_example
 * (label_image.c) and raster_cut_open (raster_cut.c) first. */
#ifndef SEGMENT_SEGMENT_H
#define SEGMENT_SEGMENT_H

#include <stdbool.h>
#include <stdio.h>

#include "cleave/features.h"
#include "cleave/model.h"
#include "cleave/segment.h"
#include "data/maps/maps.h"
#include "feature/example/example.h"
#include "image/raster/raster.h"
#include "model/model.h"
#include "object/object.h"
#include "superpixel/region_graph.h"

/* Labels an image whose features are extracted already, as clv_segment does. */

/* labels[height][width]: labels the example's nodes, paints, and by options->refine refines borders at the pixels of
 * the example's image, else not read: clv_refine for two labels that the model finds by a cut, clv_refine_labels for
 * others. maps[n_maps of the recipe] of the image, or NULL: pixels then count by the weights of refine/by_model/refining.c.
 * Labels are changed whatever the status. */
enum clv_status label_example(uint8_t *labels, const struct clv_model *model, const struct clv_image *image,
                              const struct clv_example *example, const struct map_reader *maps,
                              const struct clv_segment_options *options, struct clv_error *err) CLV_CHECK;

/* Which share of the problem's features, by their sums, was in no training image: their weights are 0 for all labels.
 * 0 of a model with so many such weights that they may be the learner's choice. */
double label_unmet_share(const struct clv_model *model, const struct clv_problem *problem);

/* Whether an image of that size is refined by a choice. */
bool label_refines(enum clv_refine_choice choice, const struct clv_model *model, int32_t width, int32_t height);

/* The objects of an image of 3 channels as a model that has learned of some finds them, *map without labels. One
 * thread. CLV_ERR_DATA for tensors that are not as above. */
enum clv_status learned_objects_find(struct clv_object_map *map, const struct clv_model *model,
                                     const struct clv_image *image, struct clv_error *err) CLV_CHECK;

/* An image of which parts are shown, by any thread of n_threads, as image_resize_part and bands_show_part do. */
struct shown_image {
    int32_t width, height;
    enum clv_status (*show)(struct clv_image *part, void *context, const struct image_part *wanted, int thread,
                            struct clv_error *err);
    void *context;
};

/* Finds these objects in an image of any size, of which no more than windows are in memory (LEARNED_WINDOW_BYTES for each
 * thread). options: sides of 0 are those that learned_objects_find has. An image that is larger than one window is shown
 * two times before, for its light. */
#define LEARNED_WINDOW_BYTES 500e6
enum clv_status learned_objects_windows(struct object_windows *found, const struct clv_model *model,
                                        const struct shown_image *image, const struct object_windows_options *options,
                                        struct clv_error *err) CLV_CHECK;

/* The labels of objects that are found by themselves: each has that of most of its pixels that have an object's label, or
 * the first such label where none has. Then labels are made to agree with the objects: pixels of none that have the label
 * of some become background. By parts of an image: all vote, then the labels of objects are known, then all are painted.
 * is_object[256] is false from the votes' n_labels on. */
void learned_objects_vote(struct label_votes *votes, const int32_t *objects, const uint8_t *labels, size_t n,
                          const bool is_object[256]);
void learned_objects_label(uint8_t *labels, const struct label_votes *votes, const bool is_object[256]);
void learned_objects_paint(uint8_t *labels, const int32_t *objects, size_t n, const uint8_t *of_objects,
                           const bool is_object[256]);

/* The part of a tile of a raster that is kept once it is described (tile_scores.c). */
enum tile_array {
    TILE_UNARY,    /* double [regions][rows of the model's weights] */
    TILE_COUPLING, /* double [edges][edge_scores] */
    TILE_EDGES,    /* int32_t [edges][2] */
    TILE_BORDER,   /* int32_t [n_border] regions at the border, ascending, and of each .. */
    TILE_REGIONS,  /* .. struct region */
    TILE_MEANS,    /* .. float [channels of maps] */
    TILE_ROW,      /* int64_t [n_border + 1], as in struct clv_problem */
    TILE_INDEX,
    TILE_VALUE,
    TILE_STRIPS, /* int32_t: which of them the upper and the lower row, the left and the right column are of */
    TILE_LINES,  /* uint32_t [height + 1] where the runs of a row begin */
    TILE_RUNS,   /* int32_t [][2] a region and how many pixels of it follow each other */
    N_TILE_ARRAYS
};
struct tile_scores {
    size_t bytes[N_TILE_ARRAYS];
    void *array[N_TILE_ARRAYS];
};
void tile_scores_release(struct tile_scores *self);

/* Describes a tile; `core` is where its core is in the image of the tile and its halo. The model has one stage; errors
 * of clv_problem_check. */
enum clv_status tile_scores_make(struct tile_scores *self, const struct tile *tile, const struct patch *core,
                                 const struct clv_model *model, const struct layout *at,
                                 struct clv_error *err) CLV_CHECK;

/* Numbers of an edge in a field. */
size_t edge_scores(const struct clv_weight_layout *layout);

/* To a file and back from where it stands; false: writing fails; what is there is no tile of at most `limit` bytes, or
 * is damaged. regions_alone: TILE_LINES and TILE_RUNS, unchecked. */
bool tile_scores_write(FILE *file, const struct tile_scores *self);
bool tile_scores_read(struct tile_scores *self, FILE *file, size_t limit, bool regions_alone);

/* A raster of any size under a model of a fixed scale: tile by tile it becomes regions with scores, whose best labels
 * are found by one cut over all of them. In memory are a few tiles, and of all regions scores, edges and couplings;
 * what lies where waits in a file, from which a run that was killed goes on.
 *
 *     raster_cut_open(&cut, &options, err);
 *     raster_cut_read(&cut, err);                      // the tiles
 *     raster_cut_solve(&cut, oracle, err);
 *     for (top = 0; top < cut.height; top += n)
 *         raster_cut_paint(labels, &cut, top, n, err); // rows of the mask; or, n <= cut.refined_px,
 *         raster_cut_refine(labels, &cut, top, n, err);
 *     raster_cut_close(&cut, is_finished); */
struct raster_cut_options {
    const char *path; /* of the raster */
    const struct clv_image_limits *limits;
    const struct clv_model *model;
    const char *tiles; /* path of the file */
    uint64_t key;      /* of a run's model and options: what another one has written there is not gone on with; that of
                        * the raster's files is added */
    bool resumes;
    int n_threads;
    int32_t at_once; /* tiles of a row that are read as one window; 0: as memory allows */
    enum clv_refine_choice refine;
    int32_t refined_px; /* side of a square that is refined at once; 0: REFINED_PX */
    const struct clv_progress *progress;
};
struct raster_cut {
    struct raster_cut_options options;
    struct layout at;
    struct clv_bands bands; /* how it is shown */
    int32_t width, height, working_width, working_height, n_columns, n_tiles, n_resumed;
    int32_t n_edges, (*edges)[2];
    double *unary, *coupling; /* [regions][..], [n_edges][edge_scores] */
    size_t node_capacity, edge_capacity;
    struct arena arena;         /* of what follows */
    struct raster *rasters;     /* [n_threads] */
    struct tile_scores *border; /* [n_columns] of the last tile of each, without what is in the graph */
    FILE *file;
    uint64_t files;          /* raster_stamp of the raster's files, as they were opened */
    off_t *offset;           /* [n_tiles + 1] into the file */
    uint8_t *y;              /* [regions] labels */
    double *margin;          /* [regions] of them, where refining wants it, or NULL */
    int32_t *first_node;     /* [n_tiles + 1] */
    struct tile_scores *row; /* [n_columns] regions of a row of tiles that is painted, number row_loaded */
    int32_t *line;           /* [working_width] regions of the working row number line_loaded */
    int32_t row_loaded, line_loaded;
    int32_t refined_px; /* 0: masks are not refined */
};

/* Whether the file is a raster of more than limits->max_pixels that is read by windows: *is_one. Looks at heads alone;
 * what cannot be read is none. */
bool raster_cut_is_needed(const char *path, const struct clv_image_limits *limits);

/* CLV_ERR_USAGE, naming the reason and the remedy, for models that need all of an image at once: of no fixed scale, of
 * two stages, with label costs, maps of networks, full tables of more than two labels, or decoded by other rules than a
 * cut's. CLV_ERR_DATA for a raster that is not of the images' kind, CLV_ERR_CREATE for the file. */
enum clv_status raster_cut_open(struct raster_cut *self, const struct raster_cut_options *options,
                                struct clv_error *err) CLV_CHECK;

/* O(pixels x scales). Interrupted, it leaves the file. */
enum clv_status raster_cut_read(struct raster_cut *self, struct clv_error *err) CLV_CHECK;

/* Values of the raster, and where they lie in it. */
struct raster_window {
    struct image_part at;
    float *values; /* [height][width][bands] */
};
void raster_window_release(struct raster_window *window);

/* Reads the pixels that the working pixels `seen` are computed from, by the thread's reader. */
enum clv_status raster_window_read(struct raster_window *window, struct raster_cut *self, const struct image_part *seen,
                                   int thread, struct clv_error *err) CLV_CHECK;

/* A new image of a part of the raster that is in the window. */
enum clv_status raster_window_show(struct clv_image *image, const struct raster_cut *self,
                                   const struct raster_window *window, const struct image_part *part,
                                   struct clv_error *err) CLV_CHECK;

/* scores[n] of tiles first to first + n - 1, on threads; to be released whatever the status. */
enum clv_status raster_cut_describe(struct tile_scores *scores, struct raster_cut *self, int32_t first, int32_t n,
                                    struct clv_error *err) CLV_CHECK;

/* Exact for two labels, and without couplings; alpha-expansion for more. */
enum clv_status raster_cut_solve(struct raster_cut *self, struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;

/* Other values than the best labels, in place of raster_cut_solve: the field of all regions, whose arrays stay the
 * cut's and may be changed; then raster_cut_show takes values[regions] of 0..255, which raster_cut_paint paints, and
 * gives the field back. */
struct clv_field raster_cut_field(const struct raster_cut *self);
enum clv_status raster_cut_show(struct raster_cut *self, const int32_t *values, struct clv_error *err) CLV_CHECK;

/* *nodes = the regions [working_width] of a working row, until the next call. */
enum clv_status raster_cut_working_row(const int32_t **nodes, struct raster_cut *self, int32_t row,
                                       struct clv_error *err) CLV_CHECK;

/* area[regions] = the raster's pixels that are in each. O(working pixels). */
enum clv_status raster_cut_areas(float *area, struct raster_cut *self, struct clv_error *err) CLV_CHECK;

/* mean[map_drift_size] of the model's map of bands, from nine windows evenly over the raster; of a model that has such
 * a map. O(pixels of the windows). */
enum clv_status raster_cut_means(float *mean, struct raster_cut *self, struct clv_error *err) CLV_CHECK;

/* CLV_ERR_DATA if a file of the raster was written since it was opened: rows before and after would be of two
 * images. */
enum clv_status raster_cut_check_files(const struct raster_cut *self, struct clv_error *err) CLV_CHECK;

/* labels[n_rows][width]. O(pixels), memory of a row of tiles' runs. */
enum clv_status raster_cut_paint(uint8_t *labels, struct raster_cut *self, int32_t top, int32_t n_rows,
                                 struct clv_error *err) CLV_CHECK;

/* nodes[n_rows][width]: regions instead of labels. */
enum clv_status raster_cut_nodes(int32_t *nodes, struct raster_cut *self, int32_t top, int32_t n_rows,
                                 struct clv_error *err) CLV_CHECK;

/* Squares of a mask are refined as images of their own, with an eighth of their side more on all sides (at the
 * raster's borders as much more on the other one), of which the square is kept: a raster that is no larger is refined
 * as one image. On drawn rasters squares of 512 leave more pixels wrong (.24 +- .09 % of all, four models and two
 * rasters at scales 1 to 4), the whole as one image yet more: couplings of refining grow with an image's side. */
#define REFINED_PX 256

/* labels[n_rows][width], refined by squares, on threads: top is a multiple of refined_px, which n_rows does not exceed.
 * The same bytes whatever the threads. Memory: 4 bytes a pixel of the rows and what they see, and for each thread what
 * refining takes of a square. Interrupted between squares. */
enum clv_status raster_cut_refine(uint8_t *labels, struct raster_cut *self, int32_t top, int32_t n_rows,
                                  struct clv_error *err) CLV_CHECK;

/* keeps: the file is left for another run. */
void raster_cut_close(struct raster_cut *self, bool keeps);

#endif
