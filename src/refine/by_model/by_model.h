/* Refines borders at the pixels with what a model has learned: its node scores, colours, network maps, and a small
 * network of pixels. Read segmented_refine (pixel_scores.c) first. */
#ifndef REFINE_BY_MODEL_BY_MODEL_H
#define REFINE_BY_MODEL_BY_MODEL_H

#include <stdbool.h>

#include "cleave/features.h"
#include "cleave/model.h"
#include "cleave/oracle.h"
#include "cleave/refine.h"
#include "data/maps/maps.h"
#include "feature/example/example.h"
#include "model/model.h"
#include "pixel_net/pixel_net.h"

/* Weights of refinement: learned (refining_learn.c) with maps or two stages, and kept in the model. */

/* The model's tensor, f64 [6 + 3 maps]: prior, nearby, overall, balance, coupling, bias, and three weights for each
 * map. A model that also has the network's tensors appends the network's weight. */
#define REFINING      "refining"
#define REFINING_FREE (7 + 3 * CLV_MAX_MAPS) /* numbers at most */
enum { REFINING_COPIES = 3 };                /* of the network */

/* Where a cut finds two labels, the score of label 1 against label 0 is
 *     bias + prior * nodes + overall * colours + nearby * colours nearby + net_weight * network
 *          + sum_m <maps[m], the map's three terms>
 * with the terms of pixel_terms.c; `balance` is as in clv_refine. Where labels vote, clv_refine_labels refines;
 * maps[m][0] then weighs how much the score of map m at a pixel exceeds its mean over the pixel's node. */
struct refinement {
    bool is_learned;
    struct clv_refine_options options;
    double bias, maps[CLV_MAX_MAPS][3], net_weight;
    struct pixel_net net; /* weights NULL: none; a view of a model's, pixel_net_release what was learned */
};

/* Whether a cut finds two labels, so that pixels have scores. Otherwise labels vote. */
static inline bool refining_is_cut(const struct clv_model *model)
{
    return model->layout.n_labels == 2 && model->decoding.rule == CLV_DECODE_ORACLE;
}

#define REFINING_NETWORK "refining.network" /* the tensor's name */

static inline bool refining_has_net(const struct clv_model *model)
{
    return model->n_extra && clv_model_attached(model, REFINING_NETWORK);
}

/* Returns whether refined labels come from a network alone: the labels that the model itself would choose are not
 * used. */
bool refining_is_by_net(const struct clv_model *model);

/* Whether a model learns how to refine: with maps; of two stages, if its pixels have scores (then with a network); and
 * wherever a network of pixels is asked for. */
bool refining_is_learned(const struct clv_model *model, bool wants_net);

/* Takes the model's refinement, if it has learned one, and those of `options` that differ from clv_refine_defaults.
 * CLV_ERR_DATA if the model's tensor is not as above. */
enum clv_status refining_of_model(struct refinement *refining, const struct clv_model *model,
                                  const struct clv_refine_options *options, struct clv_error *err) CLV_CHECK;
enum clv_status refining_attach(struct clv_model *model, const struct refinement *refining,
                                struct clv_error *err) CLV_CHECK;

/* Evidence for the labels of pixels where labels vote: the labels of the nodes under them, and what the image's maps
 * say beyond their mean over the node. */

struct segmented;
struct evidence {
    int32_t n_labels, n_maps;
    size_t n, plane;  /* pixels, and n_labels times as many */
    float *nodes;     /* [plane] votes */
    float *maps;      /* [n_maps][plane]; NULL without maps */
    uint8_t *is_open; /* [n_labels] labels of a node, and those that a map says most of somewhere */
};
void evidence_release(struct evidence *self);

/* y is the labelling of the example's nodes; labels[height][width] are voted on again. maps[n_maps of the recipe]. */
enum clv_status evidence_init(struct evidence *self, uint8_t *labels, const struct clv_example *example,
                              const int32_t *y, const struct map_reader *maps, const struct clv_model *model,
                              struct clv_error *err) CLV_CHECK;

/* Refines labels[height][width], which are as painted. */
/* Does the same for models with a network, by its probabilities; labels[height][width] become the most probable
 * ones. */
enum clv_status evidence_of_net(struct evidence *self, uint8_t *labels, const struct segmented *segmented,
                                struct clv_error *err) CLV_CHECK;

enum clv_status evidence_refine(uint8_t *labels, const struct evidence *self, const struct clv_image *image,
                                const struct refinement *refining, struct clv_error *err) CLV_CHECK;

/* Terms that separate foreground from background at each pixel of a segmented image of two labels, one plane after
 * the other: the score of the pixel's node, of its colour, and of the maps. */

/* An image whose nodes a model has labelled. */
struct segmented {
    const struct clv_image *image;
    const struct clv_example *example;
    const int32_t *y;              /* the labelling of the example's nodes, by a cut: what the oracle found last */
    const uint8_t *painted;        /* [height][width] labels of the nodes at the pixels; like y not used if
                                    * refining_is_by_net */
    const struct map_reader *maps; /* [n_maps of the recipe] */
    const struct clv_model *model;
    struct clv_oracle *oracle;
    const double *margin;        /* of the nodes, by clv_oracle_margins; NULL: the oracle computes them */
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

/* Hands over plane[height][width] of each term except the network's in turn, that of the colours nearby only if
 * `is_nearby`: clv_refine adds it by itself. Memory: that of two planes, and the maps'. */
enum clv_status pixel_terms(const struct segmented *self, bool is_nearby, pixel_term_use *use, void *context,
                            struct clv_error *err) CLV_CHECK;

/* Inputs of the small network at each pixel of a segmented image at its working size: filters of the image
 * (pixel_bank.c); where a cut finds the labels, the model's scores around the pixel and the pixel's other terms;
 * where labels vote, the marginals of its node, and these around it. */
struct pixel_look {
    struct pixel_bank bank;
    size_t n;      /* pixels of the working size */
    int32_t n_own; /* planes besides the bank's */
    float *own;    /* [n_own][n]: the terms, 3 + 3 maps; or [2 scales][n_labels] */
};
int32_t pixel_look_inputs(const struct clv_model *model);
int32_t pixel_look_classes(const struct clv_model *model); /* OBJECT_CLASSES; of labels that vote, these */
void pixel_look_release(struct pixel_look *self);

/* O(pixels), about 230 bytes per working pixel, and 8 for each label that votes. */
enum clv_status pixel_look_init(struct pixel_look *self, const struct segmented *segmented,
                                struct clv_error *err) CLV_CHECK;

/* x[pixel_look_inputs][stride] of n <= stride pixels from `pixel` on. */
void pixel_look_at(float *x, size_t stride, const struct pixel_look *self, size_t pixel, size_t n);

/* votes[n_labels][height][width] = the probabilities by segmented->net of labels that vote. */
enum clv_status pixel_look_vote(float *votes, const struct segmented *segmented, struct clv_error *err) CLV_CHECK;

/* pixel_terms, and the log-odds of the network if there is one. They are interpolated if the image is larger than its
 * working size. */
enum clv_status all_pixel_terms(const struct segmented *segmented, bool is_nearby, pixel_term_use *use, void *context,
                                struct clv_error *err) CLV_CHECK;

/* The score of a map for one label against the other, at the map's own resolution. */

/* The weight that the model gives a channel's mean in the score of a label's row, for values as map_ready.c makes
 * them. */
double map_margin_weight(const struct clv_model *model, int32_t map, size_t row, int32_t channel);

/* Fills *margin, which owns its values, with one channel: label 1 against label 0. A map of probabilities gives
 * log-odds, a map of features the model's score of them. Only for models of two labels. Errors: as
 * map_ready_channel. */
enum clv_status map_margin(struct clv_map *margin, const struct map_reader *map, int32_t index,
                           const struct clv_model *model, struct clv_error *err) CLV_CHECK;

/* Scores of pixels by a model with maps: the weighted sum of pixel_terms.c. They are cut again with the colours
 * nearby. */

/* score[height][width] of label 1 against label 0, without the colours nearby. */
enum clv_status pixel_scores(float *score, const struct segmented *self, const struct refinement *refining,
                             struct clv_error *err) CLV_CHECK;

/* Refines labels[height][width] by scores. On entry they are as painted. */
enum clv_status pixel_scores_refine(uint8_t *labels, const float *score, const struct clv_image *image,
                                    const struct refinement *refining, struct clv_error *err) CLV_CHECK;

/* Refines labels[height][width]; on entry they are as painted. Two labels that the model finds by a cut are refined by
 * clv_refine, others by clv_refine_labels. Models with maps, and those that have learned to refine, do as described at
 * struct refinement. self->painted may be the labels. options NULL: the defaults. */
enum clv_status segmented_refine(uint8_t *labels, const struct segmented *self,
                                 const struct clv_refine_options *options, struct clv_error *err) CLV_CHECK;

/* labels[height][width] of an image from the labels y of its nodes: superpixels are painted, patches vote. */
static inline enum clv_status labelled_image_paint(uint8_t *labels, const struct clv_example *example, const int32_t *y,
                                                   int32_t n_labels, struct clv_error *err)
{
    return example->grid.n_rows ? clv_example_vote(labels, NULL, example, y, n_labels, err)
                                : clv_example_paint(labels, example, y, err);
}

#endif
