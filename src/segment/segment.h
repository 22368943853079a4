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
 * of `image`, which is used for nothing else (segmented_refine). maps[n_maps of the recipe] are the image's, or NULL.
 * The labels may have changed after a failure, too. */
enum clv_status label_example(uint8_t *labels, const struct clv_model *model, const struct clv_image *image,
                              const struct clv_example *example, const struct map_reader *maps,
                              const struct clv_segment_options *options, struct clv_error *err) CLV_CHECK;

/* Returns the share of the problem's features, by the sum of their sizes, that occurred in no training image: those
 * whose weights are 0 for all labels. Returns 0 if more than a quarter of all features have such weights, because the
 * learner may have chosen them. */
double label_unmet_share(const struct clv_model *model, const struct clv_problem *problem);

/* Returns whether an image of that size is refined by a choice. */
bool label_refines(enum clv_refine_choice choice, const struct clv_model *model, int32_t width, int32_t height);

/* Finds the objects of an image of 3 channels by a model that has learned objects; *map has no labels. Uses one thread.
 * CLV_ERR_DATA if the model's tensors do not fit. */
enum clv_status learned_objects_find(struct clv_object_map *map, const struct clv_model *model,
                                     const struct clv_image *image, struct clv_error *err) CLV_CHECK;

/* An image that is read in parts. `show` makes a part, as image_resize_part and bands_show_part do; it is called by any
 * of n_threads threads. */
struct shown_image {
    int32_t width, height;
    enum clv_status (*show)(struct clv_image *part, void *context, const struct image_part *wanted, int thread,
                            struct clv_error *err);
    void *context;
};

/* Finds the same objects in an image of any size, of which only windows are in memory (LEARNED_WINDOW_BYTES per
 * thread). With options->side 0 the windows are as large as in learned_objects_find. An image larger than one window is
 * read twice before, to measure its light. */
#define LEARNED_WINDOW_BYTES 500e6
enum clv_status learned_objects_windows(struct object_windows *found, const struct clv_model *model,
                                        const struct shown_image *image, const struct object_windows_options *options,
                                        struct clv_error *err) CLV_CHECK;

/* Labels objects that were found without labels. An object gets the object label that most of its pixels have, or the
 * first object label if none has one. Then the mask is changed to agree: pixels outside of objects that have an
 * object's label become background. An image may be processed in parts: all parts vote, then the labels are decided,
 * then all parts are painted. is_object[256] is false from the votes' n_labels on. */
void learned_objects_vote(struct label_votes *votes, const int32_t *objects, const uint8_t *labels, size_t n,
                          const bool is_object[256]);
void learned_objects_label(uint8_t *labels, const struct label_votes *votes, const bool is_object[256]);
void learned_objects_paint(uint8_t *labels, const int32_t *objects, size_t n, const uint8_t *of_objects,
                           const bool is_object[256]);

/* Arrays that are kept of a tile of a raster once its features have been computed (tile_scores.c). */
enum tile_array {
    TILE_UNARY,    /* double [regions][rows of the model's weights] */
    TILE_COUPLING, /* double [edges][edge_scores] */
    TILE_EDGES,    /* int32_t [edges][2] */
    TILE_BORDER,   /* int32_t [n_border] regions at the border, ascending */
    TILE_REGIONS,  /* struct region [n_border] */
    TILE_MEANS,    /* float [n_border][channels of maps] */
    TILE_ROW,      /* int64_t [n_border + 1], as in struct clv_problem */
    TILE_INDEX,
    TILE_VALUE,
    TILE_STRIPS, /* int32_t: index into TILE_BORDER of each pixel of the upper and lower row, left and right column */
    TILE_LINES,  /* uint32_t [height + 1] first run of a row */
    TILE_RUNS,   /* int32_t [][2] region and number of pixels of a run */
    N_TILE_ARRAYS
};
struct tile_scores {
    size_t bytes[N_TILE_ARRAYS];
    void *array[N_TILE_ARRAYS];
};
void tile_scores_release(struct tile_scores *self);

/* Computes the arrays of a tile. `core` is the position of its core in the image of the tile and its halo. The model
 * has one stage. Errors of clv_problem_check. */
enum clv_status tile_scores_make(struct tile_scores *self, const struct tile *tile, const struct patch *core,
                                 const struct clv_model *model, const struct layout *at,
                                 struct clv_error *err) CLV_CHECK;

/* Returns the number of pairwise scores of an edge. */
size_t edge_scores(const struct clv_weight_layout *layout);

/* Write a tile to a file, and read one from the file's position. Return false if writing fails, or if the file has no
 * valid tile of at most `limit` bytes there. With regions_alone only TILE_LINES and TILE_RUNS are read, and the hash is
 * not checked. */
bool tile_scores_write(FILE *file, const struct tile_scores *self);
bool tile_scores_read(struct tile_scores *self, FILE *file, size_t limit, bool regions_alone);

/* Segments a raster of any size by a model of a fixed scale. Each tile becomes regions with scores; one cut over the
 * regions of all tiles labels them. A few tiles are in memory, and scores, edges and couplings of all regions. The
 * pixels of regions are in a file, from which a run that was killed is resumed.
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
    uint64_t key;      /* hash of a run's model and options, to which the stamp of the raster's files is added; tiles of
                        * another key are not used */
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
    struct arena arena;         /* of the arrays below */
    struct raster *rasters;     /* [n_threads] */
    struct tile_scores *border; /* [n_columns] last tile of each, without arrays that the graph has */
    FILE *file;
    uint64_t files;          /* raster_stamp of the raster's files, as they were opened */
    off_t *offset;           /* [n_tiles + 1] into the file */
    uint8_t *y;              /* [regions] labels */
    double *margin;          /* [regions] of the labels, if refining needs it, or NULL */
    int32_t *first_node;     /* [n_tiles + 1] */
    struct tile_scores *row; /* [n_columns] regions of the row of tiles number row_loaded */
    int32_t *line;           /* [working_width] regions of the working row number line_loaded */
    int32_t row_loaded, line_loaded;
    int32_t refined_px; /* 0: masks are not refined */
};

/* Returns whether the file is a raster of more than limits->max_pixels that is read by windows. Reads only the headers
 * of files. A file that cannot be read is not a raster. */
bool raster_cut_is_needed(const char *path, const struct clv_image_limits *limits);

/* Opens the raster and the file of tiles. CLV_ERR_USAGE, naming the reason and the remedy, for models that need the
 * whole image at once: without a fixed scale, with two stages, label costs, network maps, full tables of more than two
 * labels, or decoding rules that no cut solves. CLV_ERR_DATA for a raster with other bands than the training images,
 * CLV_ERR_CREATE if the file cannot be created. */
enum clv_status raster_cut_open(struct raster_cut *self, const struct raster_cut_options *options,
                                struct clv_error *err) CLV_CHECK;

/* Computes the tiles that the file does not have yet. O(pixels x scales). When interrupted, it leaves the file. */
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

/* Makes the image of a part of the raster that is in the window. */
enum clv_status raster_window_show(struct clv_image *image, const struct raster_cut *self,
                                   const struct raster_window *window, const struct image_part *part,
                                   struct clv_error *err) CLV_CHECK;

/* Computes scores[n] of tiles first to first + n - 1, on threads. The caller releases them, also after a failure. */
enum clv_status raster_cut_describe(struct tile_scores *scores, struct raster_cut *self, int32_t first, int32_t n,
                                    struct clv_error *err) CLV_CHECK;

/* Labels all regions: by the MAP labelling for two labels or without couplings, otherwise by alpha-expansion. */
enum clv_status raster_cut_solve(struct raster_cut *self, struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;

/* These two replace raster_cut_solve to paint other values than labels. raster_cut_field returns the field of all
 * regions, a view whose arrays may be changed. raster_cut_show frees these arrays and takes values[regions] in 0..255,
 * which raster_cut_paint then paints. */
struct clv_field raster_cut_field(const struct raster_cut *self);
enum clv_status raster_cut_show(struct raster_cut *self, const int32_t *values, struct clv_error *err) CLV_CHECK;

/* Sets *nodes to the regions [working_width] of a working row, valid until the next call. */
enum clv_status raster_cut_working_row(const int32_t **nodes, struct raster_cut *self, int32_t row,
                                       struct clv_error *err) CLV_CHECK;

/* Sets area[regions] to the number of the raster's pixels in each. O(working pixels). */
enum clv_status raster_cut_areas(float *area, struct raster_cut *self, struct clv_error *err) CLV_CHECK;

/* Sets mean[map_drift_size] to the means of the map of bands, which the model must have, over nine windows spread
 * evenly over the raster. O(pixels of the windows). */
enum clv_status raster_cut_means(float *mean, struct raster_cut *self, struct clv_error *err) CLV_CHECK;

/* Fails with CLV_ERR_DATA if a file of the raster has changed since it was opened: the mask would mix two images. */
enum clv_status raster_cut_check_files(const struct raster_cut *self, struct clv_error *err) CLV_CHECK;

/* Paints rows `top` to top + n_rows - 1: labels[n_rows][width]. O(pixels). Memory: the runs of a row of tiles. */
enum clv_status raster_cut_paint(uint8_t *labels, struct raster_cut *self, int32_t top, int32_t n_rows,
                                 struct clv_error *err) CLV_CHECK;

/* Does the same with regions: nodes[n_rows][width]. */
enum clv_status raster_cut_nodes(int32_t *nodes, struct raster_cut *self, int32_t top, int32_t n_rows,
                                 struct clv_error *err) CLV_CHECK;

/* Squares of a mask are refined as separate images, each with a margin of an eighth of its side on all sides, which is
 * then dropped. A square at the raster's border has twice the margin on its inner side. A raster no larger than a
 * square is refined as one image. On synthetic rasters squares of 512 leave more pixels wrong (.24 +- .09 % of all,
 * four models and two rasters at scales 1 to 4), the whole raster as one image even more: couplings of the refinement
 * grow with an image's side. */
#define REFINED_PX 256

/* Paints labels[n_rows][width], refined square by square, on threads. top is a multiple of refined_px, and n_rows is at
 * most refined_px. The labels do not depend on the number of threads. Memory: 4 bytes per pixel of the rows and their
 * margins, and the refinement of one square per thread. Can be interrupted between squares. */
enum clv_status raster_cut_refine(uint8_t *labels, struct raster_cut *self, int32_t top, int32_t n_rows,
                                  struct clv_error *err) CLV_CHECK;

/* Closes the raster and frees everything. With `keeps` the file is kept for another run, otherwise removed. */
void raster_cut_close(struct raster_cut *self, bool keeps);

#endif
