/* The steps of clv_train_set, from images with masks, boxes or neither to a model.
 *
 * Read train_set.c first, which runs them in order. Their results are the structs below: the data (train_data.c), the
 * images to be pseudo-labelled (train_images.c), and the outcome of learning, which train_record.c reports and records.
 * train_record.c also sets the facts that a checkpoint must share with a resumed training. */
#ifndef TRAIN_TRAIN_H
#define TRAIN_TRAIN_H

#include <stdbool.h>

#include "base/base.h"
#include "base/digest.h"
#include "base/options.h"
#include "cleave/data.h"
#include "cleave/features.h"
#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/train.h"
#include "feature/dataset/dataset.h"
#include "intake/intake.h"
#include "learn/stages/stages.h"

/* Sections of the help of training. */
#define SECTION_LEARN_FROM "What to learn from"
#define SECTION_LEARNED    "What is learned"
#define SECTION_FEATURES   "Features (a recipe that is learned once and becomes part of the model)"
#define SECTION_CHOOSING   "Choosing by cross-validation"
#define SECTION_RUNNING    "Running and resuming"

/* Tables that end with a NULL name. The rows of features are also those of `cleave features`. */
extern const struct clv_option train_option_rows[], feature_option_rows[];

/* Rules on these options, and on facts: "@features" (the data is a feature file), "@memory" (it is images in memory),
 * "@init" (the training starts from a model), "@recipe" (options->recipe_given), "@grids" (options->n_grids),
 * "@no-maps" (the blocks do not include maps), "@sift", "@words" and "@histograms" (a block uses these). */
extern const struct option_rule train_option_rules[], feature_option_rules[];

/* Checks one of these tables. With is_given NULL, as in C programs, an option counts as given if it differs from its
 * default for the learner, the kind of nodes and a fixed scale. */
enum clv_status train_rules_check(const struct option_rule *rules, const struct clv_train_options *options,
                                  option_is_given *is_given, const void *context, struct clv_error *err) CLV_CHECK;

/* --engine, of all commands that have it. */
#define ENGINE_HELP "Min-cut engine; all give the same labels"
extern const char *const engine_names[]; /* indexed by enum clv_engine; ends with NULL */

/* Functions for `take` of a row. Their members are struct clv_map_options and enum clv_engine. */
enum clv_status option_take_maps(void *member, const struct clv_option *option, const char *typed,
                                 struct clv_error *err) CLV_CHECK;
enum clv_status option_take_engine(void *member, const struct clv_option *option, const char *typed,
                                   struct clv_error *err) CLV_CHECK;

/* Digests of training data, which the training record of a model names. */

/* A digest of training data, "fnv1a:" and 16 hexadecimal digits: 64-bit FNV-1a over each item's name, split, and the
 * sizes in bytes of its image and mask (of images in memory their pixels), in order; then over boxes[n_items] (may be
 * NULL). It distinguishes sets at no cost; it does not prove that pixels are the same. The folder of the set does not
 * matter. */
enum clv_status digest_set(char digest[DIGEST_SIZE], const struct clv_set *set, const struct item_boxes *boxes,
                           struct clv_error *err) CLV_CHECK;

/* Computes digest_file of a feature file; for an index, or for several files, a digest of all files' digests. */
struct path_list;
enum clv_status digest_features(char digest[DIGEST_SIZE], const struct path_list *paths,
                                struct clv_error *err) CLV_CHECK;

/* The training data, and the parts of it that the model takes over. */
struct train_data {
    struct clv_dataset *dataset;
    struct clv_dataset *privileged; /* privileged features, if there are images with boxes, or NULL */
    struct clv_recipe recipe;       /* valid if has_recipe */
    bool has_recipe;
    bool is_fine;         /* the masks made regions finer than by default */
    bool counts_pixels;   /* the loss counts pixels */
    double label_weights; /* the exponent, given or chosen */
    struct clv_labels labels;
    struct clv_set set; /* the dataset's images, in its order; kept if their pixels are still needed */
    size_t n_masks, n_boxed, n_unlabelled, n_mirrored; /* the dataset's images in this order */
    char digest[DIGEST_SIZE];
};
void train_data_release(struct train_data *data);

/* Reads a set and extracts its features, or opens a feature file. The data of images takes the recipe of the start
 * model, if there is one. */
enum clv_status train_data_load(struct train_data *data, const struct clv_train_options *options,
                                struct clv_model *start, struct clv_error *err) CLV_CHECK;

/* Makes regions finer if the default ones lose more than a tenth of the masks, unless options set how features are
 * extracted: 8,000 regions of 1,048,576 working pixels, each as large as one of 600 of 80,000. Reports a note. The loss
 * is the balanced error that remains if each region has the label of most of its pixels; above a tenth it is most of a
 * model's error. 600 regions lose 1.9 % of horses, whose error is 4.8 %, and 17.7 % of cell membranes in electron
 * microscopy, of which 8,000 regions lose 7.4 %. */
enum clv_status train_scale_choose(struct clv_recipe *recipe, const struct clv_set *set,
                                   const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

/* supervision_read for images in memory: first those with masks, then those with boxes, then those with neither; with
 * --sequence all in the given order. CLV_ERR_USAGE: an image without pixels, or not of 3 channels, and numbers of
 * objects below 0. */
#define IMAGES_IN_MEMORY "images in memory" /* in messages, instead of a path */
enum clv_status train_memory_read(struct supervision *supervision, const struct clv_train_options *options,
                                  struct clv_error *err) CLV_CHECK;

/* Refuses options of files for images in memory. */
enum clv_status train_memory_check(const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

/* Lists the images that are learned from by their masks, examples[*n] (array_free). Images whose masks are entirely
 * void are skipped with a note; CLV_ERR_DATA if there are masks and all are void. */
enum clv_status train_data_examples(int32_t **examples, size_t *n, const struct train_data *data,
                                    const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* --mirror: train_mirror_extract appends the mirror images of an extracted set, whose images all have masks, to its
 * dataset. train_mirror_use adds those of the training's examples to the examples; before it they are not learned
 * from. */
enum clv_status train_mirror_extract(struct train_data *data, const struct clv_set *set,
                                     const struct clv_train_options *options, int n_threads,
                                     struct clv_error *err) CLV_CHECK;
enum clv_status train_mirror_use(int32_t **examples, struct clv_training *training, const struct train_data *data,
                                 struct clv_error *err) CLV_CHECK;

/* --loss: sets the weights of the nodes of loaded data in the loss. CLV_ERR_USAGE if the options do not suit the
 * data. */
enum clv_status train_loss_weigh(struct train_data *data, const struct clv_train_options *options,
                                 struct clv_error *err) CLV_CHECK;

/* How a mean loss of a dataset's examples is reported: the weighted Hamming error as it is; if theta counts errors, as
 * a fraction of all theta. */
struct loss_unit {
    const char *name, *key;
    double scale;
};
struct loss_unit train_loss_unit(const struct train_data *data, const struct clv_dataset *dataset);

/* Images that are to be pseudo-labelled, and their given labels: those without masks, then those whose masks leave most
 * of the image unlabelled. The latter are also learned from by their masks; for learners that take hidden nodes they
 * are not listed here. */
struct train_weak {
    int32_t *examples;     /* [n] those with stroke masks last */
    const int32_t **given; /* [n] borrowed */
    size_t n, n_stroke_masks;
};
void train_weak_release(struct train_weak *self);
enum clv_status train_weak_list(struct train_weak *self, const struct train_data *data,
                                const struct clv_learner *learner, const struct clv_weight_layout *layout,
                                const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;
/* Returns the training for folds of cross-validation, without images with strokes, which would reveal held-out
 * labels. */
struct clv_training train_weak_held_out(const struct clv_training *training, const struct train_weak *weak);

/* The checkpoint settings of a training. */
struct train_checkpoints {
    struct clv_checkpoints settings;
    const char *facts[3][2]; /* borrowed */
};
/* Sets the training's checkpoints, with the facts that a resumed training must share. With --resume, notes whether
 * there is one. */
enum clv_status train_checkpoints_use(struct clv_training *training, struct train_checkpoints *self,
                                      const struct clv_train_options *options, const struct train_data *data,
                                      struct clv_error *err) CLV_CHECK;
/* Reads a parameter from the checkpoint from which the training resumes, if there is one, so that --cv need not choose
 * it again. */
enum clv_status train_checkpoints_parameter(double *value, bool *found, const char *name,
                                            const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;
/* Refuses given parameters, and grids of parameters, that cannot have an effect (learner_unused_reason): judged by the
 * options only while the training has no dataset, afterwards by the data, too. CLV_ERR_USAGE names parameter and
 * reason. */
enum clv_status train_check_effect(const struct clv_train_options *options, const struct clv_training *training,
                                   struct clv_error *err) CLV_CHECK;

/* --cv: chooses among all combinations of the candidates by cross-validation, reports the losses, sets the parameters.
 * If there is a checkpoint, its parameters are used instead, except for the first of two stages, which has none. */
enum clv_status train_cross_validate(struct clv_training *training, const struct clv_train_options *options,
                                     const struct train_data *data, const struct train_weak *weak, bool is_first,
                                     struct clv_error *err) CLV_CHECK;

/* Trains the first of two stages: sets `first` of *learned, NULL with one stage, and for --label-costs `presence`. With
 * --label-weights auto, weighs the data's labels as its folds have chosen. Afterwards the features of the data, and of
 * the validation set if there is one, and the training's layout are those of the second stage. */
enum clv_status train_stages_learn(struct stages_learned *learned, struct clv_training *training,
                                   const struct clv_train_options *options, struct train_data *data,
                                   struct clv_dataset *validation, struct clv_error *err) CLV_CHECK;

/* Checks, before any features are extracted, that --validate names splits of the set whose images have masks and
 * maps. */
enum clv_status train_validation_check(const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

/* --validate: extracts the features of the images of those splits by the training's recipe, or opens a feature file. */
enum clv_status train_validation_load(struct clv_dataset **dataset, const struct clv_train_options *options,
                                      const struct train_data *data, struct clv_error *err) CLV_CHECK;
/* Reports the model's loss on training->validation. */
enum clv_status train_validation_report(const struct clv_train_options *options, const struct train_data *data,
                                        const struct clv_training *training, const struct clv_model *model,
                                        struct clv_error *err) CLV_CHECK;

/* Chooses the layout of the weights: the form that the options name or, without one, the form that suits the data; if
 * the learner cannot train that, the best form that it can train, with a note. CLV_ERR_USAGE if a form that the options
 * name does not suit data or learner. */
enum clv_status train_shape_choose(struct clv_weight_layout *layout, const struct clv_train_options *options,
                                   const struct clv_dataset *dataset, struct clv_error *err) CLV_CHECK;

/* --init: train_init_read reads the model, before long work; train_init_use gives its weights to the training, whose
 * layout is set. Without --init both do nothing. Errors name what the model has and what is needed. */
enum clv_status train_init_read(struct clv_model *start, const struct clv_train_options *options,
                                struct clv_error *err) CLV_CHECK;
enum clv_status train_init_use(struct clv_training *training, const struct clv_model *start,
                               const struct clv_train_options *options, const struct train_data *data,
                               struct clv_error *err) CLV_CHECK;

/* The result of learning. */
struct train_outcome {
    struct clv_training_result result;
    double train_loss; /* mean over the examples with masks; NaN: there are none */
    double seconds;
};

/* Writes into the model's record how it was trained. Writes nothing that may differ between two runs of the same
 * training: no times, threads or output. */
enum clv_status train_record(struct clv_model *model, const struct clv_train_options *options,
                             const struct train_data *data, const struct clv_training *training,
                             const struct train_outcome *outcome, struct clv_error *err) CLV_CHECK;

/* Records RECORD_UNSEEN of a model that has its weights, if images are labelled in part: their unlabelled nodes have
 * features that labelled nodes, as under strokes, lack. */
enum clv_status train_record_unseen(struct clv_model *model, const struct train_data *data,
                                    struct clv_error *err) CLV_CHECK;

/* Report parts of the summary. */
void train_report_data(const struct clv_train_options *options, const struct train_data *data, double seconds);
void train_report_learning(const struct clv_train_options *options, const struct train_data *data,
                           const struct train_outcome *outcome);

/* Reports a line of the summary and releases it. */
struct text;
void report_text(const struct clv_progress *progress, struct text *line);

#endif
