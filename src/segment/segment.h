#ifndef SEGMENT_SEGMENT_H
#define SEGMENT_SEGMENT_H

#include <stdbool.h>
#include <stdio.h>

#include "cleave/features.h"
#include "cleave/model.h"
#include "cleave/refine.h"
#include "cleave/segment.h"
#include "cleave/status.h"
#include "data/maps/maps.h"
#include "feature/example/example.h"
#include "image/raster/raster.h"
#include "model/model.h"
#include "object/object.h"
#include "region/region.h"

/* How a model refines the pixels of images: learned (refining_learn.c) with maps or two stages, kept in the model. */

/* A model's tensor: f64 [6 + 3 maps]: prior, nearby, overall, balance, coupling, bias, three weights of each map; and,
 * of models that have the network's tensors beside it, the network's weight. */
#define REFINING      "refining"
#define REFINING_FREE (7 + 3 * CLV_MAX_MAPS) /* numbers at most */
enum { REFINING_COPIES = 3 };                /* of the network */

/* Of two labels that a cut finds, the score of label 1 against label 0 is
 *     bias + prior * nodes + overall * colours + nearby * colours nearby + net_weight * network
 *          + sum_m <maps[m], the map's three terms>
 * of pixel_terms.c, and `balance` is as in clv_refine; of others, clv_refine_labels' with votes of which maps[m][0]
 * times what map m says beyond the pixel's node is a part. */
struct refining {
    bool is_learned;
    struct clv_refine_options options;
    double bias, maps[CLV_MAX_MAPS][3], net_weight;
    struct pixel_net net; /* weights NULL: none; a view of a model's, pixel_net_release what was learned */
};

/* Two labels that a cut finds: pixels have scores. Others vote. */
static inline bool refining_is_cut(const struct clv_model *model)
{
    return model->shape.n_labels == 2 && model->decoding.rule == CLV_DECODE_ORACLE;
}

#define REFINING_NETWORK "refining.network" /* the tensor's name */

static inline bool refining_has_net(const struct clv_model *model)
{
    return model->n_extra && clv_model_attached(model, REFINING_NETWORK);
}

/* Whether refined labels are a network's alone: what the model itself would choose is not asked for. */
bool refining_is_by_net(const struct clv_model *model);

/* Models with maps learn how to refine, those of two stages whose pixels have scores, with a network, and others where
 * a network of pixels is wanted. */
bool refining_is_learned(const struct clv_model *model, bool wants_net);

/* The model's own, if it has learned it; of `options`, what differs from clv_refine_defaults is taken over.
 * CLV_ERR_DATA if the model's tensor is not as above. */
enum clv_status refining_of_model(struct refining *refining, const struct clv_model *model,
                                  const struct clv_refine_options *options, struct clv_error *err) CLV_CHECK;
enum clv_status refining_attach(struct clv_model *model, const struct refining *refining,
                                struct clv_error *err) CLV_CHECK;

/* What is known of the pixels of an image whose labels vote before they are labelled anew: what the nodes under them
 * say, and what the image's maps say of a pixel beyond what they say of its node on average. */

struct segmented;
struct evidence {
    int32_t n_labels, n_maps;
    size_t n, plane;  /* pixels, and n_labels times as many */
    float *nodes;     /* [plane] votes */
    float *maps;      /* [n_maps][plane]; NULL without maps */
    uint8_t *is_open; /* [n_labels] labels of a node, and those that a map says most of somewhere */
};
void evidence_release(struct evidence *self);

/* y is the labelling of the example's nodes; labels[height][width] are voted on anew. maps[n_maps of the recipe]. */
enum clv_status evidence_init(struct evidence *self, uint8_t *labels, const struct clv_example *example,
                              const int32_t *y, const struct map_reader *maps, const struct clv_model *model,
                              struct clv_error *err) CLV_CHECK;

/* labels[height][width], as painted, are refined. */
/* The same of models with a network, by what it says of pixels; labels[height][width] become the likeliest ones. */
enum clv_status evidence_of_net(struct evidence *self, uint8_t *labels, const struct segmented *segmented,
                                struct clv_error *err) CLV_CHECK;

enum clv_status evidence_refine(uint8_t *labels, const struct evidence *self, const struct clv_image *image,
                                const struct refining *refining, struct clv_error *err) CLV_CHECK;

/* What separates figure from ground at each pixel of a segmented image of two labels, one plane of numbers after the
 * other: what the model says of the pixel's node, what its colour says, what maps say. */

/* An image whose nodes a model has labelled. */
struct segmented {
    const struct clv_image *image;
    const struct clv_example *example;
    const int32_t *y;              /* the labelling of the example's nodes, by a cut: what the oracle found last */
    const uint8_t *painted;        /* [height][width] labels of the nodes at the pixels; no use, as y, where
                                    * refining_is_by_net */
    const struct map_reader *maps; /* [n_maps of the recipe] */
    const struct clv_model *model;
    struct clv_oracle *oracle;
    const double *margin;        /* of the nodes as clv_oracle_margins has them; NULL: the oracle is asked */
    const double *marginals;     /* [nodes][n_labels] for the network of labels that vote; NULL: asked of the problem */
    const struct pixel_net *net; /* or NULL */
};

enum {
    TERM_NODES,   /* clv_refine_prior */
    TERM_COLOURS, /* of all of the image: fine_colours.c */
    TERM_NEARBY,  /* near_colours.c, by the painted labels */
    TERM_NET,     /* log-odds by a small network (pixel_look.c), if there is one */
    TERM_MAPS,    /* the first map's margin, then the same blurred a little and a lot, then the next map's */
    TERMS_A_MAP = 3,
    MOST_TERMS = TERM_MAPS + TERMS_A_MAP * CLV_MAX_MAPS
};

typedef void pixel_term_use(void *context, int32_t term, const float *plane);

/* Hands over plane[height][width] of each term but the network's in turn. The colours nearby are left out if not asked
 * for: clv_refine adds them by itself. Memory: that of two planes, and the maps'. */
enum clv_status pixel_terms(const struct segmented *self, bool is_nearby, pixel_term_use *use, void *context,
                            struct clv_error *err) CLV_CHECK;

/* What a small network looks at in each pixel of a segmented image at its working size, to say which class it is of:
 * filters of the image (pixel_bank.c); of labels that a cut finds, what the model says around the pixel, and the
 * pixel's other terms; of others the marginals of its node, and these around it. */
struct pixel_look {
    struct pixel_bank bank;
    size_t n;      /* pixels of the working size */
    int32_t n_own; /* planes besides the bank's */
    float *own;    /* [n_own][n]: the terms, 3 + 3 maps; or [2 scales][n_labels] */
};
int32_t pixel_look_inputs(const struct clv_model *model);
int32_t pixel_look_classes(const struct clv_model *model); /* OBJECT_CLASSES; of labels that vote, these */
void pixel_look_release(struct pixel_look *self);

/* O(pixels), about 230 bytes a working pixel, and 8 a label that votes. */
enum clv_status pixel_look_init(struct pixel_look *self, const struct segmented *segmented,
                                struct clv_error *err) CLV_CHECK;

/* x[pixel_look_inputs][stride] of n <= stride pixels from `pixel` on. */
void pixel_look_at(float *x, size_t stride, const struct pixel_look *self, size_t pixel, size_t n);

/* votes[n_labels][height][width] = the probabilities by segmented->net of labels that vote. */
enum clv_status pixel_look_vote(float *votes, const struct segmented *segmented, struct clv_error *err) CLV_CHECK;

/* pixel_terms, and the network's if there is one: its log-odds, of an image larger than the working size between pixels
 * of that. */
enum clv_status all_pixel_terms(const struct segmented *segmented, bool is_nearby, pixel_term_use *use, void *context,
                                struct clv_error *err) CLV_CHECK;

/* Learning from training masks how a model with maps, or of two stages, refines pixels. */

/* What refined labels lose is their weighted Hamming error + this * (1 - IoU): by default the largest weight with which
 * the error of training images left out stays within its standard error of that without any (tools/learn/refining.c).
 * Without maps it is the one with which such images gain both in error and in IoU. */
#define REFINING_IOU_WEIGHT        0.25
#define REFINING_IOU_WEIGHT_STAGES 0.1

/* A training image, and the weights of a model that has not seen it. */
struct refining_example {
    size_t item; /* of the images */
    const struct clv_problem *problem;
    const double *w;
    int32_t first_node; /* of the image in the problem, which slices share */
    bool is_slice;
};

/* Where images and masks are: those of a set, or in memory. */
struct refining_images {
    const struct clv_set *set;
    const struct clv_image *images; /* [n] in memory; NULL: of the set */
    const struct clv_mask *masks;   /* [n] */
    size_t n;
    const struct clv_image_limits *limits;
};

/* What is learned from. */
struct refining_source {
    struct refining_images from;
    const struct refining_example *examples;
    size_t n_examples;
    uint64_t seed;
    int n_threads;
    double iou_weight;
    bool wants_net; /* not of labels that vote with maps, nor of more than PIXEL_NET_CLASSES */
    const struct clv_progress *progress;
};

/* Learns how to refine and attaches it to the model, which has recipe, shape and labels. Of many examples some, evenly;
 * about 200 MB. Same bytes at any thread count. Does nothing unless refining_is_learned. */
enum clv_status refining_learn(struct clv_model *model, const struct refining_source *source,
                               struct clv_error *err) CLV_CHECK;

/* Its two ways: of pixels with scores by logistic regression, then the couplings by search; of votes all by search. */
enum clv_status refining_learn_scores(struct refining *refining, const struct clv_model *model,
                                      const struct refining_source *source, struct clv_error *err) CLV_CHECK;
enum clv_status refining_learn_votes(struct refining *refining, const struct clv_model *model,
                                     const struct refining_source *source, struct clv_error *err) CLV_CHECK;

/* Networks of pixels: one learned from all rows, and by folds; row r, which is example r * stride, is in fold
 * r % n_folds, which is all that nets[NET_FIRST + fold] has not seen. */
enum { NET_ALL, NET_FIRST, NET_FOLDS = 5, N_NETS = NET_FIRST + NET_FOLDS };
struct refining_nets {
    struct pixel_net nets[N_NETS];
    size_t n_folds, stride; /* n_folds: NET_FOLDS, or fewer rows */
};
void refining_nets_release(struct refining_nets *self);

/* There are none where no pixel is known outside of some fold. Release them whatever the status. O(n_rows). */
enum clv_status refining_nets_learn(struct refining_nets *nets, const struct clv_model *model,
                                    const struct refining_source *source, size_t n_rows, size_t stride,
                                    struct clv_error *err) CLV_CHECK;

/* The one that has not seen the example, or NULL. */
const struct pixel_net *refining_nets_other(const struct refining_nets *self, size_t example);

/* A training image whose nodes are labelled by a model that has not seen it. */

struct labelled_image {
    struct clv_image image;
    struct clv_mask truth;
    struct clv_example nodes; /* without their features */
    struct clv_model model;   /* a view, under the example's weights */
    struct map_reader *maps;
    struct clv_oracle *oracle;
    int32_t *y;
    double *margin;    /* of a slice's nodes, by a cut */
    double *marginals; /* where the source wants a network of labels that vote */
    uint8_t *painted;  /* [n] */
    size_t n;          /* pixels */
};
void labelled_image_release(struct labelled_image *self);

/* Errors name the image. */
enum clv_status labelled_image_init(struct labelled_image *self, const struct clv_model *model,
                                    const struct refining_source *source, const struct refining_example *example,
                                    struct clv_error *err) CLV_CHECK;

struct segmented labelled_image_view(const struct labelled_image *self);

/* What refined labels of an image lose: weighted Hamming error + iou_weight (1 - IoU); 0 where all is void. */
enum clv_status labelled_loss(double *loss, const struct clv_mask *truth, const uint8_t *labels, int32_t n_labels,
                              double iou_weight, struct clv_error *err) CLV_CHECK;

/* *n = how many examples are looked at as a whole, of which each takes so many bytes a pixel: as many as fit by the
 * first one's size, `most` at most. */
enum clv_status labelled_image_count(size_t *n, const struct refining_source *source, double bytes_a_pixel, size_t most,
                                     struct clv_error *err) CLV_CHECK;

/* labels[height][width] of an image from the labels y of its nodes: superpixels are painted, patches vote. */
static inline enum clv_status labelled_image_paint(uint8_t *labels, const struct clv_example *example, const int32_t *y,
                                                   int32_t n_labels, struct clv_error *err)
{
    return example->grid.n_rows ? clv_example_vote(labels, NULL, example, y, n_labels, err)
                                : clv_example_paint(labels, example, y, err);
}

/* Weighted logistic regression on a few numbers. */

enum { LOGISTIC_MOST = 32 };

#define LOGISTIC_LARGEST 1e6 /* of a weight's or the bias's size */

struct logistic_data {
    size_t n;
    int32_t n_columns;     /* at most LOGISTIC_MOST - 1 */
    const float *rows;     /* [n][n_columns] */
    const uint8_t *is_one; /* [n] */
    const double *weight;  /* [n], >= 0 */
};

/* w[n_columns], *bias: the minimum of the weighted mean of log(1 + exp(-+(<w, row> + bias))) + ridge / 2 |w s|^2, s the
 * columns' standard deviations, by Newton's method. Columns marked in `is_positive` have weights >= 0: the lowest one
 * below is left out until none is. A column that does not vary weighs 0, as does one that varies so little that its
 * weight would be beyond LOGISTIC_LARGEST / LOGISTIC_MOST (times its mean, too: no sum of theirs is beyond
 * LOGISTIC_LARGEST). O(n columns^2) a step. */
enum clv_status logistic_fit(double *w, double *bias, const struct logistic_data *data, const bool *is_positive,
                             double ridge, struct clv_error *err) CLV_CHECK;

/* What a map says for one label against the other, at the map's own resolution. */

/* The weight that the model gives a channel's mean in the score of a label's row, for values as map_ready.c makes
 * them. */
double map_margin_weight(const struct clv_model *model, int32_t map, size_t row, int32_t channel);

/* *margin, one channel, owns its values: label 1 against label 0; of probabilities their log-odds, of features the
 * model's own score of them. For models of two labels. Errors: as map_ready_channel. */
enum clv_status map_margin(struct clv_map *margin, const struct map_reader *map, int32_t index,
                           const struct clv_model *model, struct clv_error *err) CLV_CHECK;

/* Scores of pixels by a model with maps: the weighted sum of pixel_terms.c, cut anew with the colours nearby. */

/* score[height][width] of label 1 against label 0, without the colours nearby. */
enum clv_status pixel_scores(float *score, const struct segmented *self, const struct refining *refining,
                             struct clv_error *err) CLV_CHECK;

/* labels[height][width], as painted, are refined by scores. */
enum clv_status pixel_scores_refine(uint8_t *labels, const float *score, const struct clv_image *image,
                                    const struct refining *refining, struct clv_error *err) CLV_CHECK;

/* labels[height][width], as painted, are refined: by clv_refine for two labels that the model finds by a cut, by
 * clv_refine_labels for others; with maps, or where the model has learned it, as struct refining says. self->painted
 * may be the labels. options NULL: the defaults. */
enum clv_status segmented_refine(uint8_t *labels, const struct segmented *self,
                                 const struct clv_refine_options *options, struct clv_error *err) CLV_CHECK;

/* What is left of a tile of a raster once it is described (tile_scores.c). */
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

/* Of a tile and where its core is in what was seen. The model has one stage; errors of clv_problem_check. */
enum clv_status tile_scores_make(struct tile_scores *self, const struct tile *tile, const struct patch *core,
                                 const struct clv_model *model, const struct layout *at,
                                 struct clv_error *err) CLV_CHECK;

/* Numbers of an edge in a field. */
size_t edge_scores(const struct clv_shape *shape);

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
    float *values; /* [height][width][bands], to be freed */
};

/* What working pixels `seen` are made of, by the thread's reader. */
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

/* mean[map_drift_size] of the model's map of bands, from nine windows evenly over the raster; of a model that has such
 * a map. O(pixels of the windows). */
enum clv_status raster_cut_means(float *mean, struct raster_cut *self, struct clv_error *err) CLV_CHECK;

/* CLV_ERR_DATA if a file of the raster was written since it was opened: rows before and after would be of two images. */
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
