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

/* Weights of refinement, which training learns (refining_learn.c) if refining_is_learned, and which the model holds. */

/* The name of the model's tensor, f64 [6 + 3 maps]: prior, nearby, overall, balance, coupling, bias, and three weights
 * for each map. If the model also has the network's tensors, the network's weight follows. */
#define REFINING      "refining"
#define REFINING_FREE (7 + 3 * CLV_MAX_MAPS) /* largest length of the tensor */
enum { REFINING_COPIES = 3 };                /* of the network */

/* If refining_is_cut, the score of label 1 minus that of label 0 is
 *     bias + prior * nodes + overall * colours + nearby * colours nearby + net_weight * network
 *          + sum_m <maps[m], the map's three terms>
 * with the terms of pixel_terms.c; `balance` is as in clv_refine. Otherwise labels vote and clv_refine_labels refines;
 * maps[m][0] then weights the probability by map m at a pixel minus its mean over the pixel's node. */
struct refinement {
    bool is_learned;
    struct clv_refine_options options;
    double bias, maps[CLV_MAX_MAPS][3], net_weight;
    struct pixel_net net; /* weights NULL: no network. A view of the model's tensors, or owned after learning */
};

/* Returns whether the model has two labels that a cut finds, so that pixels have scores. Otherwise labels vote. */
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

/* Returns whether training learns the refinement: if the model has maps; if it has two stages and refining_is_cut; or
 * if wants_net, when a pixel network is asked for. */
bool refining_is_learned(const struct clv_model *model, bool wants_net);

/* Reads the model's learned refinement, if it has one. Values of `options` that differ from clv_refine_defaults
 * override it. CLV_ERR_DATA if the model's tensors have another type, shape or range. */
enum clv_status refining_of_model(struct refinement *refining, const struct clv_model *model,
                                  const struct clv_refine_options *options, struct clv_error *err) CLV_CHECK;
enum clv_status refining_attach(struct clv_model *model, const struct refinement *refining,
                                struct clv_error *err) CLV_CHECK;

/* Evidence for the labels of pixels if labels vote: the labels of the nodes at each pixel, and the difference between
 * the maps' probabilities and their means over the node. */

struct segmented;
struct evidence {
    int32_t n_labels, n_maps;
    size_t n, plane;  /* pixels; n * n_labels */
    float *nodes;     /* [plane] votes */
    float *maps;      /* [n_maps][plane]; NULL without maps */
    uint8_t *is_open; /* [n_labels] labels of any node, or most probable in a map at any pixel */
};
void evidence_release(struct evidence *self);

/* Computes the evidence, and labels[height][width] by the votes of nodes with labels y. maps[n_maps of the recipe]. On
 * failure labels are unchanged, as by the next function. */
enum clv_status evidence_init(struct evidence *self, uint8_t *labels, const struct clv_example *example,
                              const int32_t *y, const struct map_reader *maps, const struct clv_model *model,
                              struct clv_error *err) CLV_CHECK;

/* Computes the evidence from the probabilities of segmented->net. labels[height][width] become the most probable
 * labels. */
enum clv_status evidence_of_net(struct evidence *self, uint8_t *labels, const struct segmented *segmented,
                                struct clv_error *err) CLV_CHECK;

/* Refines labels[height][width], which are those of the evidence. On failure they are unchanged. */
enum clv_status evidence_refine(uint8_t *labels, const struct evidence *self, const struct clv_image *image,
                                const struct refinement *refining, struct clv_error *err) CLV_CHECK;

/* Terms that separate foreground from background at each pixel of a segmented image of two labels, one plane after
 * the other: the score of the pixel's node, of its colour, and of the maps. */

/* An image whose nodes a model has labelled. */
struct segmented {
    const struct clv_image *image;
    const struct clv_example *example;
    const int32_t *y;       /* node labels; if refining_is_cut, those that the oracle found last */
    const uint8_t *painted; /* [height][width] node labels at the pixels; unused, like y, if refining_is_by_net */
    const struct map_reader *maps; /* [n_maps of the recipe] */
    const struct clv_model *model;
    struct clv_oracle *oracle;
    const double *margin;        /* of the nodes, as by clv_oracle_margins; NULL: the oracle computes them */
    const double *marginals;     /* [nodes][n_labels] for the network if labels vote; NULL: computed from the problem */
    const struct pixel_net *net; /* or NULL */
};

enum {
    TERM_NODES,   /* clv_refine_prior */
    TERM_COLOURS, /* of the whole image: fine_colours.c */
    TERM_NEARBY,  /* near_colours.c, by the painted labels */
    TERM_NET,     /* log-odds by the pixel network (pixel_inputs.c), if the model has one */
    TERM_MAPS,    /* for each map its margin, then the margin blurred a little and a lot */
    TERMS_A_MAP = 3,
    MOST_TERMS = TERM_MAPS + TERMS_A_MAP * CLV_MAX_MAPS
};

typedef void pixel_term_use(void *context, int32_t term, const float *plane);

/* Calls `use` with plane[height][width] of each term except the network's. TERM_NEARBY is included only if `is_nearby`,
 * since clv_refine adds it itself. Memory: two planes, and the maps. */
enum clv_status pixel_terms(const struct segmented *self, bool is_nearby, pixel_term_use *use, void *context,
                            struct clv_error *err) CLV_CHECK;

/* Inputs of the pixel network at each pixel of a segmented image at its working size: filter responses (pixel_bank.c);
 * then, if refining_is_cut, the context of the nodes' scores and the pixel's terms, and otherwise the marginals of its
 * node and the same smoothed over its surroundings. */
struct pixel_inputs {
    struct pixel_bank bank;
    size_t n;      /* pixels of the working size */
    int32_t n_own; /* planes in addition to the bank's */
    float *own;    /* [n_own][n]: terms, 3 + 3 maps; or marginals [2 scales][n_labels] */
};
int32_t refining_net_inputs(const struct clv_model *model);
int32_t refining_net_classes(const struct clv_model *model); /* OBJECT_CLASSES; n_labels if labels vote */
void pixel_inputs_release(struct pixel_inputs *self);

/* O(pixels), about 230 bytes per working pixel, and 8 more for each label if labels vote. */
enum clv_status pixel_inputs_init(struct pixel_inputs *self, const struct segmented *segmented,
                                  struct clv_error *err) CLV_CHECK;

/* Copies the inputs of n <= stride pixels, the first at index `pixel`, to x[refining_net_inputs][stride]. */
void pixel_inputs_copy(float *x, size_t stride, const struct pixel_inputs *self, size_t pixel, size_t n);

/* votes[n_labels][height][width] = the probabilities of the labels by segmented->net, if labels vote. */
enum clv_status pixel_net_votes(float *votes, const struct segmented *segmented, struct clv_error *err) CLV_CHECK;

/* Calls pixel_terms, then `use` with the log-odds of segmented->net unless it is NULL. They are interpolated if the
 * image is larger than its working size. */
enum clv_status all_pixel_terms(const struct segmented *segmented, bool is_nearby, pixel_term_use *use, void *context,
                                struct clv_error *err) CLV_CHECK;

/* The score of a map for label 1 against label 0, at the resolution of the map. */

/* Returns the model's weight of a channel's mean, in units of map_ready.c, in the score of the label with weights in
 * row `row`. */
double map_margin_weight(const struct clv_model *model, int32_t map, size_t row, int32_t channel);

/* Fills *margin, which owns its values, with one channel: log-odds for a map of probabilities, the model's score for a
 * map of features. Only for models of two labels. Errors: as map_ready_channel. */
enum clv_status map_margin(struct clv_map *margin, const struct map_reader *map, int32_t index,
                           const struct clv_model *model, struct clv_error *err) CLV_CHECK;

/* Scores of pixels by a model: the weighted sum of pixel_terms.c. clv_refine adds the colours nearby and cuts. */

/* Computes score[height][width] of label 1 minus label 0, without the colours nearby. */
enum clv_status pixel_scores(float *score, const struct segmented *self, const struct refinement *refining,
                             struct clv_error *err) CLV_CHECK;

/* Refines labels[height][width] by scores. On entry they are the node labels, painted. */
enum clv_status pixel_scores_refine(uint8_t *labels, const float *score, const struct clv_image *image,
                                    const struct refinement *refining, struct clv_error *err) CLV_CHECK;

/* Refines labels[height][width]; on entry they are the node labels, painted. clv_refine is used if refining_is_cut,
 * else clv_refine_labels. A model with learned refinement uses it as described at struct refinement. self->painted may
 * be `labels`. options NULL: the defaults. On failure labels are unchanged. */
enum clv_status segmented_refine(uint8_t *labels, const struct segmented *self,
                                 const struct clv_refine_options *options, struct clv_error *err) CLV_CHECK;

/* Computes labels[height][width] of an image from the labels y of its nodes: superpixels are painted, patches vote. */
static inline enum clv_status labelled_image_paint(uint8_t *labels, const struct clv_example *example, const int32_t *y,
                                                   int32_t n_labels, struct clv_error *err)
{
    return example->grid.n_rows ? clv_example_vote(labels, NULL, example, y, n_labels, err)
                                : clv_example_paint(labels, example, y, err);
}

#endif
