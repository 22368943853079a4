/* What `cleave train` was asked to do, and its stages. */
#ifndef CLI_TRAIN_H
#define CLI_TRAIN_H

#include <stdbool.h>
#include <stdio.h>

#include "cleave/model.h"
#include "cli/common/letters_option.h"
#include "cli/common/recipe_options.h"
#include "cli/common/record.h"
#include "cli/train/learner_options.h"
#include "cli/train/supervision.h"

/* --pairwise: which form pairwise terms take. */
enum pairwise_choice { PAIRWISE_AUTO, PAIRWISE_NONE, PAIRWISE_POTTS, PAIRWISE_FULL };
#define PAIRWISE_HELP                                                                                                  \
    "Pairwise terms: none, potts (neighbours like the same label), full (a weight for every pair of labels), or "      \
    "auto: what the data is meant for, as far as the learner goes (default auto)"
error_t option_pairwise(enum pairwise_choice *choice, const char *arg, struct common_options *common);

/* --loss: how the loss that a learner lowers weighs wrong nodes. */
enum loss_choice { LOSS_AUTO, LOSS_BALANCED, LOSS_COUNTS };
#define LOSS_HELP                                                                                                      \
    "What an error costs: balanced (each label of an image weighs the same), counts (each pixel does), or auto: what " \
    "a feature file says, else counts for patches of more than two labels, else balanced (default auto)"
error_t option_loss(enum loss_choice *choice, const char *arg, struct common_options *common);

#define MAX_CANDIDATES 32
#define MAX_GRIDS      4

/* Candidates of cross-validation for one parameter. */
struct cv_grid {
    const char *name; /* not terminated; NULL: the learner's regularisation */
    size_t name_length;
    double values[MAX_CANDIDATES];
    size_t n;
};

/* What --prune chose. */
struct train_pruning {
    uint8_t *kept;               /* [node, then edge features] 0: left out */
    struct clv_dataset *dataset; /* without those */
    double threshold;
};
void train_pruning_release(struct train_pruning *pruning);

struct train {
    struct common_options common;
    struct recipe_options recipe;
    struct learner_options learner;
    const char *data, *validate, *output;
    const char *init;       /* a model's path, or NULL */
    struct clv_model start; /* what is there; its recipe goes to the data */
    struct supervision_options supervision;
    struct letters_option letters; /* instead of data */
    uint64_t seed;
    int32_t n_folds; /* 0: no cross-validation */
    struct cv_grid grids[MAX_GRIDS];
    size_t n_grids;        /* 0: around the default */
    int32_t n_prune_folds; /* 0: no pruning */
    double prune_tolerance;
    bool prune_tolerance_given;
    struct train_pruning pruning;
    enum pairwise_choice pairwise;
    enum loss_choice loss;
    enum clv_engine engine;
    bool resume, checkpoint_every_given;
    double checkpoint_every_s;
    char *checkpoint; /* the output's checkpoint file, array owned; NULL: none is kept */
    struct clv_checkpoints checkpoints;
    const char *facts[3][2]; /* of checkpoints */
    bool counts_pixels;      /* errors weigh their pixels; set when the data is loaded */
    bool interrupted;        /* learning was; set by it */
    FILE *summary;           /* standard output, or standard error when the model goes to standard output */
};

/* The training data, and what the model takes over from it. */
struct train_data {
    struct clv_dataset *dataset;
    struct clv_dataset *frames; /* of images with boxes among them, or NULL */
    struct clv_recipe recipe;   /* valid if has_recipe */
    int has_recipe, is_letters;
    struct clv_labels labels;
    size_t n_masks, n_boxed, n_unlabelled; /* the dataset's images in this order */
    char digest[DIGEST_SIZE];
};
void train_data_release(struct train_data *data);

/* Reads a set and extracts its features, or opens a feature file. */
enum clv_status train_data_load(struct train_data *data, struct train *train, const struct clv_progress *progress,
                                struct clv_error *err) CLV_CHECK;

/* The images to learn from by their masks: examples[*n], array_free them. Those whose masks are void throughout are left out, which a
 * note says; CLV_ERR_DATA if all are, though there are masks. */
enum clv_status train_data_examples(int32_t **examples, size_t *n, const struct train_data *data,
                                    struct clv_error *err) CLV_CHECK;

/* --loss: how the loss weighs the nodes of loaded data. CLV_ERR_USAGE if a way asked for does not go with them. */
enum clv_status train_loss_weigh(struct train_data *data, struct train *train, struct clv_error *err) CLV_CHECK;

/* Images that are to be guessed, and what is known of them: those without masks, then those whose masks leave most of the image
 * unknown; these teach by their masks as well, and to learners that take hidden nodes by nothing else. */
struct train_weak {
    int32_t *examples;     /* [n + n_scribbles] */
    const int32_t **given; /* views */
    size_t n, n_scribbles;
};
void train_weak_release(struct train_weak *self);
enum clv_status train_weak_list(struct train_weak *self, const struct train_data *data,
                                const struct clv_learner *learner, const struct clv_shape *shape,
                                struct clv_error *err) CLV_CHECK;

/* --cv: chooses among all combinations of the candidates by cross-validation, prints the losses, sets the parameters. */
enum clv_status train_cross_validate(struct train *train, struct clv_training *training,
                                     struct clv_error *err) CLV_CHECK;

/* --prune: chooses what to leave out, prints why, and has the training go on with the rest; prunes the weights; has the model, whose weights were pruned
 * at the threshold, leave it out, and prints what it keeps. */
enum clv_status train_prune_choose(struct train *train, struct clv_training *training, const struct train_data *data,
                                   struct clv_error *err) CLV_CHECK;
void train_prune_weights(double *w, const struct train *train, const struct clv_shape *shape);
enum clv_status train_prune_finish(struct clv_model *model, const struct train *train, struct clv_error *err) CLV_CHECK;

/* The summary's parts. */
void train_print_data(const struct train *self, const struct train_data *data, double seconds);

/* --validate: the images of those splits as the training's features see them, or a feature file. */
enum clv_status train_validation_load(struct clv_dataset **dataset, const struct train *train,
                                      const struct train_data *data, const struct clv_progress *progress,
                                      struct clv_error *err) CLV_CHECK;
/* Prints the model's loss on training->validation. */
enum clv_status train_validation_print(const struct train *train, const struct clv_training *training,
                                       const struct clv_model *model, struct clv_error *err) CLV_CHECK;

/* What weights are learned: the form asked for, or the one the data is meant for, or if the learner does not train that the best
 * one it does, with a note. CLV_ERR_USAGE if a form asked for does not go with data or learner. */
enum clv_status train_shape_choose(struct clv_shape *shape, const struct train *train,
                                   const struct clv_dataset *dataset, struct clv_error *err) CLV_CHECK;

/* --init, if it was given: reads the model, before long work; then hands its weights to the training, whose shape is set. Errors
 * name both what the model has and what is wanted. */
enum clv_status train_init_read(struct train *train, struct clv_error *err) CLV_CHECK;
enum clv_status train_init_use(struct clv_training *training, const struct train *train, const struct train_data *data,
                               struct clv_error *err) CLV_CHECK;

/* Before long work: sets train->checkpoint if the learner keeps one, refuses options that cannot be met. */
enum clv_status train_checkpoints_check(struct train *train, struct clv_error *err) CLV_CHECK;
/* Hands them to the training, with all that a resumed one must share; tells whether there is one already. */
void train_checkpoints_use(struct train *train, const struct train_data *data, struct clv_training *training);
/* The lambda of the checkpoint to go on from, if there is one: what --cv chose need not be chosen again. */
enum clv_status train_checkpoints_lambda(double *lambda, bool *found, const struct train *train,
                                         struct clv_error *err) CLV_CHECK;
/* After the model has been written. */
enum clv_status train_checkpoints_remove(const struct train *train, struct clv_error *err) CLV_CHECK;

/* How a mean loss of a dataset's examples is told: weighted Hamming as it is; where theta counts errors, their share. */
struct loss_unit {
    const char *name, *key;
    double scale;
};
struct loss_unit train_loss_unit(const struct train *train, const struct clv_dataset *dataset);

/* How the model was made, into its record. Nothing that may differ between two runs of the same training: no times, threads or output. */
enum clv_status train_record(struct clv_model *model, const struct train *self, const struct train_data *data,
                             const struct clv_training *training, const struct clv_training_result *result,
                             double train_loss, struct clv_error *err) CLV_CHECK;
void train_print_learning(const struct train *self, const struct clv_training_result *result, struct loss_unit unit,
                          double train_loss, double seconds);

/* Index of the learner's regularisation parameter, or -1. */
int train_regularisation(const struct clv_learner *learner);

#endif
