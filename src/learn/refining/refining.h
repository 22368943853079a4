/* Training of a model's refinement, which labels pixels. Read train_refining (train_refining.c) first, then
 * refining_learn. */
#ifndef LEARN_REFINING_REFINING_H
#define LEARN_REFINING_REFINING_H

#include <stdbool.h>

#include "cleave/data.h"
#include "cleave/learn.h"
#include "cleave/model.h"
#include "refine/by_model/by_model.h"

/* Refinement is learned from training masks, for models with maps or of two stages. */

/* The loss of refined labels is their weighted Hamming error + this * (1 - IoU). The default is the largest weight that
 * raises the error of held-out training images by no more than its standard error (tools/learn/refining.c). Without
 * maps the default is a weight with which these images improve in both error and IoU. */
#define REFINING_IOU_WEIGHT        0.25
#define REFINING_IOU_WEIGHT_STAGES 0.1

/* A training image, and the weights of a model that was not trained on it. */
struct refining_example {
    size_t item; /* of the set */
    const struct clv_problem *problem;
    const double *w;
    int32_t first_node; /* first node of the image in the problem; slices share a problem */
    bool is_slice;
};

/* The examples from which refinement is learned, and the settings. */
struct refining_source {
    const struct clv_set *set; /* of the images and masks, in files or in memory */
    const struct clv_image_limits *limits;
    const struct refining_example *examples;
    size_t n_examples;
    uint64_t seed;
    int n_threads;
    double iou_weight;
    /* A pixel network; false if labels vote and the model has maps, or for more than PIXEL_NET_CLASSES labels. */
    bool wants_net;
    const struct clv_progress *progress;
};

/* Learns how to refine and attaches the refinement to the model, which has its recipe, layout and labels. If there are
 * many examples, uses some at equal distances. Takes about 200 MB. Same bytes at any thread count. Does nothing unless
 * refining_is_learned. */
enum clv_status refining_learn(struct clv_model *model, const struct refining_source *source,
                               struct clv_error *err) CLV_CHECK;

/* The two ways of refining_learn. If a cut labels the nodes, pixels have scores: their weights are learned by logistic
 * regression, then the coupling by search. Otherwise labels vote, and a search finds weights and couplings. */
enum clv_status refining_learn_scores(struct refinement *refining, const struct clv_model *model,
                                      const struct refining_source *source, struct clv_error *err) CLV_CHECK;
enum clv_status refining_learn_votes(struct refinement *refining, const struct clv_model *model,
                                     const struct refining_source *source, struct clv_error *err) CLV_CHECK;

/* Networks of pixels: nets[NET_ALL] is trained on all rows, nets[NET_FIRST + f] on the rows outside of fold f. Row r is
 * example r * stride and in fold r % n_folds. */
enum { NET_ALL, NET_FIRST, NET_FOLDS = 5, N_NETS = NET_FIRST + NET_FOLDS };
struct refining_nets {
    struct pixel_net nets[N_NETS];
    size_t n_folds, stride; /* n_folds: NET_FOLDS, or fewer rows */
};
void refining_nets_release(struct refining_nets *self);

/* Trains the networks. If the rows outside of some fold have no known pixel, refining_nets_other returns NULL. Release
 * *nets also after a failure. O(n_rows). */
enum clv_status refining_nets_learn(struct refining_nets *nets, const struct clv_model *model,
                                    const struct refining_source *source, size_t n_rows, size_t stride,
                                    struct clv_error *err) CLV_CHECK;

/* Returns a network that was not trained on the example, or NULL. */
const struct pixel_net *refining_nets_other(const struct refining_nets *self, size_t example);

/* A training image whose nodes are labelled by a model that was not trained on it. */

struct labelled_image {
    struct clv_image image;
    struct clv_mask truth;
    struct clv_example nodes; /* without their features */
    struct clv_model model;   /* borrowed, except that it has the example's weights */
    struct map_reader *maps;
    struct clv_oracle *oracle;
    int32_t *y;
    double *margin;    /* [n_nodes] of a slice, if a cut labels its nodes */
    double *marginals; /* if the source wants a network, and labels vote */
    uint8_t *painted;  /* [n] */
    size_t n;          /* pixels */
};
void labelled_image_release(struct labelled_image *self);

/* Reads and labels the image of an example. Errors name the image. */
enum clv_status labelled_image_init(struct labelled_image *self, const struct clv_model *model,
                                    const struct refining_source *source, const struct refining_example *example,
                                    struct clv_error *err) CLV_CHECK;

struct segmented labelled_image_view(const struct labelled_image *self);

/* *loss of an image's refined labels: weighted Hamming error + iou_weight (1 - IoU); 0 if all pixels are void. */
enum clv_status labelled_loss(double *loss, const struct clv_mask *truth, const uint8_t *labels, int32_t n_labels,
                              double iou_weight, struct clv_error *err) CLV_CHECK;

/* *n = the number of examples to hold at once, at most `most`, so that they fit in memory if each has the size of the
 * first and takes bytes_per_pixel bytes per pixel. */
enum clv_status labelled_image_count(size_t *n, const struct refining_source *source, double bytes_per_pixel,
                                     size_t most, struct clv_error *err) CLV_CHECK;

/* Weighted logistic regression on a few numbers. */

enum { LOGISTIC_MOST = 32 };

#define LOGISTIC_LARGEST 1e6 /* largest absolute value of a weight or the bias */

struct logistic_data {
    size_t n;
    int32_t n_columns;     /* at most LOGISTIC_MOST - 1 */
    const float *rows;     /* [n][n_columns] */
    const uint8_t *is_one; /* [n] */
    const double *weight;  /* [n], >= 0 */
};

/* Sets w[n_columns] and *bias to the minimum of the weighted mean of log(1 + exp(-+(<w, row> + bias))) plus ridge / 2
 * |w s|^2, s being the columns' standard deviations, by Newton's method. Columns marked in `is_positive` have weights
 * >= 0: the column of the most negative weight is removed until none is negative. A column that does not vary weighs 0,
 * as does one that varies so little that its weight would be beyond LOGISTIC_LARGEST / LOGISTIC_MOST (or that weight
 * times the column's mean, so that the bias stays within LOGISTIC_LARGEST). O(n columns^2) per step. */
enum clv_status logistic_fit(double *w, double *bias, const struct logistic_data *data, const bool *is_positive,
                             double ridge, struct clv_error *err) CLV_CHECK;

/* The last step of `cleave train` if refining_is_learned. Learns the weights of a pixel's scores by maps, by a pixel
 * network, by the region and by the colour, and the strength of couplings, and stores them in the model. The model is
 * complete otherwise; its training had a dataset of these images, or of windows of them. Trains twice more, each time
 * without one half of the examples, because a model has larger margins in its training images. Nothing happens with
 * fewer than 4 images or 2 windows, with mirror images, or when asked to stop; such a model refines by the defaults.
 * Same bytes at any thread count. Errors: those of clv_train and of reading images, masks and maps; CLV_ERR_USAGE if
 * images and dataset differ in number. */
enum clv_status train_refining(struct clv_model *model, const struct clv_learner *learner,
                               const struct clv_training *training, const struct clv_set *set,
                               const struct clv_image_limits *limits, bool wants_net, struct clv_error *err) CLV_CHECK;

#endif
