/* Labels an image by a model: an image that fits into memory, a raster by tiles, and the objects of both. Read
 * label_example (label_image.c) and raster_cut_open (raster_cut.c) first. */
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

/* Labels the example's nodes and paints labels[height][width]. With options->refine also refines borders at the pixels
 * of the example's image, which is not read otherwise (segmented_refine). maps[n_maps of the recipe] are the image's,
 * or NULL. The labels may have changed whatever the status. */
enum clv_status label_example(uint8_t *labels, const struct clv_model *model, const struct clv_image *image,
                              const struct clv_example *example, const struct map_reader *maps,
                              const struct clv_segment_options *options, struct clv_error *err) CLV_CHECK;

/* Returns the share of the problem's features, by their sums, that occurred in no training image: their weights are 0
 * for all labels. Returns 0 if the model has so many such weights that the learner may have chosen them. */
double label_unmet_share(const struct clv_model *model, const struct clv_problem *problem);

/* Whether an image of that size is refined by a choice. */
bool label_refines(enum clv_refine_choice choice, const struct clv_model *model, int32_t width, int32_t height);

/* Finds the objects of an image of 3 channels by a model that has learned objects; *map has no labels. Uses one thread.
 * CLV_ERR_DATA if the model's tensors do not fit. */
enum clv_status learned_objects_find(struct clv_object_map *map, const struct clv_model *model,
                                     const struct clv_image *image, struct clv_error *err) CLV_CHECK;

/* An image of which parts are shown, by any thread of n_threads, as image_resize_part and bands_show_part do. */
struct shown_image {
    int32_t width, height;
    enum clv_status (*show)(struct clv_image *part, void *context, const struct image_part *wanted, int thread,
                            struct clv_error *err);
    void *context;
};

/* Finds these objects in an image of any size, of which no more than windows are in memory (LEARNED_WINDOW_BYTES for
 * each thread). A side of 0 in the options is that of learned_objects_find. An image that is larger than one window is
 * shown twice before, to measure its light. */
#define LEARNED_WINDOW_BYTES 500e6
enum clv_status learned_objects_windows(struct object_windows *found, const struct clv_model *model,
                                        const struct shown_image *image, const struct object_windows_options *options,
                                        struct clv_error *err) CLV_CHECK;

/* Labels objects that were found without labels. An object gets the object label that most of its pixels have, or the
 * first object label if none has one. Then the mask is made to agree: pixels outside of objects that have an object's
 * label become background. An image may come in parts: all parts vote, then the labels are decided, then all parts are
 * painted. is_object[256] is false from the votes' n_labels on. */
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

/* Write a tile to a file, and read it from the file's position. Return false if writing fails, or if the file there has
 * no valid tile of at most `limit` bytes. regions_alone: reads only TILE_LINES and TILE_RUNS, without checks. */
bool tile_scores_write(FILE *file, const struct tile_scores *self);
bool tile_scores_read(struct tile_scores *self, FILE *file, size_t limit, bool regions_alone);

/* Segments a raster of any size by a model of a fixed scale. Each tile becomes regions with scores; one cut over the
 * regions of all tiles finds their best labels. Memory holds a few tiles, and scores, edges and couplings of all
 * regions. The pixels of regions are in a file, from which a run that was killed resumes.
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
    uint64_t key;      /* of a run's model and options, to which that of the raster's files is added; tiles of another
                        * key are not used */
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
    struct clv_bands bands; /* how its bands are shown as colours */
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
    double *margin;          /* [regions] of the labels, if refining needs it, or NULL */
    int32_t *first_node;     /* [n_tiles + 1] */
    struct tile_scores *row; /* [n_columns] regions of a row of tiles that is painted, number row_loaded */
    int32_t *line;           /* [working_width] regions of the working row number line_loaded */
    int32_t row_loaded, line_loaded;
    int32_t refined_px; /* 0: masks are not refined */
};

/* Whether the file is a raster of more than limits->max_pixels that is read by windows: *is_one. Reads only the
 * heads of files; a file that cannot be read is not a raster. */
bool raster_cut_is_needed(const char *path, const struct clv_image_limits *limits);

/* CLV_ERR_USAGE, naming the reason and the remedy, for models that need all of an image at once: of no fixed scale, of
 * two stages, with label costs, maps of networks, full tables of more than two labels, or decoded by other rules than a
 * cut's. CLV_ERR_DATA for a raster that is not of the images' kind, CLV_ERR_CREATE for the file. */
enum clv_status raster_cut_open(struct raster_cut *self, const struct raster_cut_options *options,
                                struct clv_error *err) CLV_CHECK;

/* O(pixels x scales). Interrupted, it leaves the file. */
enum clv_status raster_cut_read(struct raster_cut *self, struct clv_error *err) CLV_CHECK;

/* A window of the raster: its values and its position. */
struct raster_window {
    struct image_part at;
    float *values; /* [height][width][bands] */
};
void raster_window_release(struct raster_window *window);

/* Reads, with the thread's reader, the pixels from which the working pixels `seen` are computed. */
enum clv_status raster_window_read(struct raster_window *window, struct raster_cut *self, const struct image_part *seen,
                                   int thread, struct clv_error *err) CLV_CHECK;

/* A new image of a part of the raster that is in the window. */
enum clv_status raster_window_show(struct clv_image *image, const struct raster_cut *self,
                                   const struct raster_window *window, const struct image_part *part,
                                   struct clv_error *err) CLV_CHECK;

/* Computes scores[n] of tiles first to first + n - 1, on threads. Release them whatever the status. */
enum clv_status raster_cut_describe(struct tile_scores *scores, struct raster_cut *self, int32_t first, int32_t n,
                                    struct clv_error *err) CLV_CHECK;

/* Finds the best labels: exactly for two labels or without couplings, otherwise by alpha-expansion. */
enum clv_status raster_cut_solve(struct raster_cut *self, struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;

/* To paint other values than the best labels, use these two in place of raster_cut_solve. raster_cut_field lends the
 * field of all regions, whose arrays may be changed. raster_cut_show takes it back with values[regions] in 0..255,
 * which raster_cut_paint paints. */
struct clv_field raster_cut_field(const struct raster_cut *self);
enum clv_status raster_cut_show(struct raster_cut *self, const int32_t *values, struct clv_error *err) CLV_CHECK;

/* *nodes = the regions [working_width] of a working row, until the next call. */
enum clv_status raster_cut_working_row(const int32_t **nodes, struct raster_cut *self, int32_t row,
                                       struct clv_error *err) CLV_CHECK;

/* area[regions] = the raster's pixels that are in each. O(working pixels). */
enum clv_status raster_cut_areas(float *area, struct raster_cut *self, struct clv_error *err) CLV_CHECK;

/* mean[map_drift_size] of the model's map of bands, which it must have, from nine windows spread evenly over the
 * raster. O(pixels of the windows). */
enum clv_status raster_cut_means(float *mean, struct raster_cut *self, struct clv_error *err) CLV_CHECK;

/* CLV_ERR_DATA if a file of the raster was written since it was opened, as the mask would then show two images. */
enum clv_status raster_cut_check_files(const struct raster_cut *self, struct clv_error *err) CLV_CHECK;

/* labels[n_rows][width]. O(pixels), memory of a row of tiles' runs. */
enum clv_status raster_cut_paint(uint8_t *labels, struct raster_cut *self, int32_t top, int32_t n_rows,
                                 struct clv_error *err) CLV_CHECK;

/* nodes[n_rows][width]: regions instead of labels. */
enum clv_status raster_cut_nodes(int32_t *nodes, struct raster_cut *self, int32_t top, int32_t n_rows,
                                 struct clv_error *err) CLV_CHECK;

/* Squares of a mask are refined as separate images, each with a margin of an eighth of its side on all sides, which is
 * then dropped. A square at the raster's border has twice the margin on its inner side. A raster no larger than a square
 * is refined as one image. On drawn rasters squares of 512 leave more pixels wrong (.24 +- .09 % of all, four models and two
 * rasters at scales 1 to 4), the whole as one image yet more: couplings of refining grow with an image's side. */
#define REFINED_PX 256

/* labels[n_rows][width], refined by squares, on threads: top is a multiple of refined_px, which n_rows does not exceed.
 * Same bytes at any thread count. Memory: 4 bytes per pixel of the rows and their margins, and the refinement of one
 * square per thread. Can be interrupted between squares. */
enum clv_status raster_cut_refine(uint8_t *labels, struct raster_cut *self, int32_t top, int32_t n_rows,
                                  struct clv_error *err) CLV_CHECK;

/* keeps: leaves the file for another run. */
void raster_cut_close(struct raster_cut *self, bool keeps);

#endif
