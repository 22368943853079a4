/* The first of two stages (auto-context, Tu & Bai 2010), and the training set as the second one sees it. */
#ifndef LEARN_STAGES_H
#define LEARN_STAGES_H

#include <stdbool.h>

#include "cleave/learn.h"
#include "cleave/model.h"

enum { STAGE_FOLDS = 5 };

struct stages_wanted {
    bool presence;      /* what presence_learn makes of the examples as their held-out stages see them */
    bool label_weights; /* what rare_labels_choose makes of them */
};

struct stages_learned {
    struct clv_stage *first; /* stage_free */
    double *presence;        /* array_free it; NULL: not wanted */
    double label_weights;    /* 0: not wanted */
};

/* Learns a first stage of the training's examples and weak examples: `first` is learned from all of them, and its
 * temperature makes the marginals of those that a fold held out most likely. The dataset must be the training's, and
 * nobody else looks at it: every image has features of context added, of the marginals that a stage gives it that was
 * learned without its fold (STAGE_FOLDS of them, drawn from the seed over all images). Images of one sequence are held
 * out together, and mirror images with their images. Same bytes at any thread count; each training has one thread.
 * Where the second stage has full pairwise tables, the first one has none: belief propagation, six times over, would
 * take most of a training's time. After a failure the dataset is good for nothing but being freed. CLV_ERR_USAGE for
 * too few images or sequences; CLV_ERR_INTERRUPTED when asked to stop. */
enum clv_status stages_learn(struct stages_learned *learned, struct clv_dataset *dataset,
                             const struct clv_learner *learner, const struct clv_training *training,
                             const struct stages_wanted *wanted, struct clv_error *err) CLV_CHECK;

/* The mean size of unary scores of a training's examples and weak examples under w, a unit for what is added to them;
 * 1 if all are 0. */
enum clv_status stages_score_size(double *size, const struct clv_training *training, const double *w,
                                  struct clv_error *err) CLV_CHECK;

/* CLV_ERR_USAGE if labels cannot be given costs, naming the option: of two labels, or without a mask. */
enum clv_status stages_check_costs(const struct clv_training *training, const char *option,
                                   struct clv_error *err) CLV_CHECK;

/* Attaches label costs to a model that has its first stage, in units of the second stage's scores, which only its
 * weights determine; presence NULL: nothing. */
enum clv_status stages_price(struct clv_model *model, const double *presence, double label_costs,
                             const struct clv_training *training, const double *w, struct clv_error *err) CLV_CHECK;

/* Adds the features of context of a learned stage to a dataset that it has not seen; as above. */
enum clv_status stages_extend(struct clv_dataset *dataset, const struct clv_stage *first, const struct clv_shape *next,
                              int n_threads, struct clv_error *err) CLV_CHECK;

/* What `cleave train` does last with maps of networks: learns how refining weighs what a map, the region and the
 * colour say of a pixel, and how strong couplings are, and keeps it in the model. The model has all else, learned by
 * the training, whose dataset is of the set's images. For this the training is done twice more, without either half of
 * its examples, since a model is surer of images that it has seen. Nothing happens without maps, with fewer than 4
 * examples, or when asked to stop: such a model refines as others do. Same bytes at any thread count. Errors: those of
 * clv_train and of reading images, masks and maps; CLV_ERR_USAGE if set and dataset differ in size. limits may be
 * NULL. */
enum clv_status train_refining(struct clv_model *model, const struct clv_learner *learner,
                               const struct clv_training *training, const struct clv_set *set,
                               const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

#endif
