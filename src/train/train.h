/* clv_train_set's stages: from images with masks, boxes or neither to a model.
 *
 * Read train_set.c first, which goes through them in order. What comes out of each is a struct below: the data
 * (train_data.c), what is to be pseudo-labelled (train_images.c), and the outcome of learning, which train_record.c
 * reports, as it does what a checkpoint must share. train_images.c says which image teaches how. */
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
 * "@init" (the training starts from a model), "@recipe" (options->recipe_given), "@grids" (there are some), "@no-maps"
 * (blocks leave maps out), "@sift", "@words" and "@histograms" (a block is made of these). */
extern const struct option_rule train_option_rules[], feature_option_rules[];

/* Checks one of these tables. With is_given NULL, as in a program in C, options are given that differ from their
 * defaults: those of the learner, of the kind of nodes and of a fixed scale. */
enum clv_status train_rules_check(const struct option_rule *rules, const struct clv_train_options *options,
                                  option_is_given *is_given, const void *context, struct clv_error *err) CLV_CHECK;

/* --engine, wherever it is offered. */
#define ENGINE_HELP "Min-cut engine; all give the same labels"
extern const char *const engine_names[]; /* places are those of enum clv_engine; ends with NULL */

/* For `take` of a row; members are struct clv_map_options and enum clv_engine. */
enum clv_status option_take_maps(void *member, const struct clv_option *option, const char *typed,
                                 struct clv_error *err) CLV_CHECK;
enum clv_status option_take_engine(void *member, const struct clv_option *option, const char *typed,
                                   struct clv_error *err) CLV_CHECK;

/* Digests of training data, which the training record of a model names. */

/* A digest of training data, "fnv1a:" and 16 hexadecimal digits: 64-bit FNV-1a over each item's name, split, and the
 * sizes in bytes of its image and mask (of images in memory their pixels), in order; then over boxes[n_items] (may be
 * NULL). It distinguishes sets at no cost; it does not prove that pixels are the same. Where the set is does not
 * matter. */
enum clv_status digest_set(char digest[DIGEST_SIZE], const struct clv_set *set, const struct item_boxes *boxes,
                           struct clv_error *err) CLV_CHECK;

/* digest_file of a feature file; of an index, or of several files, that of all files' digests. */
struct path_list;
enum clv_status digest_features(char digest[DIGEST_SIZE], const struct path_list *paths,
                                struct clv_error *err) CLV_CHECK;

/* The training data, and what the model takes over from it. */
struct train_data {
    struct clv_dataset *dataset;
    struct clv_dataset *frames; /* of images with boxes among them, or NULL */
    struct clv_recipe recipe;   /* valid if has_recipe */
    bool has_recipe;
    bool is_fine;         /* its masks made regions finer than they usually are */
    bool counts_pixels;   /* errors weigh their pixels */
    double label_weights; /* the exponent, given or chosen */
    struct clv_labels labels;
    struct clv_set set; /* the dataset's images, in its order; kept where their pixels are still needed */
    size_t n_masks, n_boxed, n_unlabelled, n_mirrored; /* the dataset's images in this order */
    char digest[DIGEST_SIZE];
};
void train_data_release(struct train_data *data);

/* Reads a set and extracts its features, or opens a feature file. A start with a recipe gives it away to the data of
 * images. */
enum clv_status train_data_load(struct train_data *data, const struct clv_train_options *options,
                                struct clv_model *start, struct clv_error *err) CLV_CHECK;

/* Makes regions finer where a tenth of what is to be found would be lost by them, unless an option says how features
 * are made: 8,000 of 1,048,576 working pixels, each as large as one of 600 of 80,000. One line says so. At a tenth
 * what is learned errs mostly by its regions: of horses, whose error is 4.8 %, 600 lose 1.9 %, of cells' membranes in
 * electron microscopy 17.7 %, and 8,000 7.4 %. */
enum clv_status train_scale_choose(struct clv_recipe *recipe, const struct clv_set *set,
                                   const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

/* supervision_read of images in memory: those with masks, then with boxes, then with neither; of --sequence all in
 * their order. CLV_ERR_USAGE: an image without pixels, or not of 3 channels, and numbers of objects below 0. */
#define IMAGES_IN_MEMORY "images in memory" /* what messages call them, in the place of a path */
enum clv_status train_memory_read(struct supervision *supervision, const struct clv_train_options *options,
                                  struct clv_error *err) CLV_CHECK;

/* Refuses options of files for images in memory. */
enum clv_status train_memory_check(const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

/* The images to learn from by their masks: examples[*n], array_free them. Images whose masks are void throughout are
 * skipped with a note; CLV_ERR_DATA if all are, though there are masks. */
enum clv_status train_data_examples(int32_t **examples, size_t *n, const struct train_data *data,
                                    const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* --mirror: the mirror images of a set that was extracted, all of whose images have masks, follow in its dataset. They
 * are learned from only when train_mirror_use adds those of the training's examples to these. */
enum clv_status train_mirror_extract(struct train_data *data, const struct clv_set *set,
                                     const struct clv_train_options *options, int n_threads,
                                     struct clv_error *err) CLV_CHECK;
enum clv_status train_mirror_use(int32_t **examples, struct clv_training *training, const struct train_data *data,
                                 struct clv_error *err) CLV_CHECK;

/* --loss: how the loss weighs the nodes of loaded data. CLV_ERR_USAGE if a way asked for does not go with them. */
enum clv_status train_loss_weigh(struct train_data *data, const struct clv_train_options *options,
                                 struct clv_error *err) CLV_CHECK;

/* How a mean loss of a dataset's examples is reported: weighted Hamming as it is; where theta counts errors, their
 * share. */
struct loss_unit {
    const char *name, *key;
    double scale;
};
struct loss_unit train_loss_unit(const struct train_data *data, const struct clv_dataset *dataset);

/* Images that are to be pseudo-labelled, and what is known of them: those without masks, then those whose masks leave
 * most of the image unknown; these teach by their masks as well, and to learners that take hidden nodes by nothing
 * else. */
struct train_weak {
    int32_t *examples;     /* [n], those of strokes last */
    const int32_t **given; /* [n] views */
    size_t n, n_scribbles;
};
void train_weak_release(struct train_weak *self);
enum clv_status train_weak_list(struct train_weak *self, const struct train_data *data,
                                const struct clv_learner *learner, const struct clv_weight_layout *layout,
                                const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;
/* Returns the training as folds of cross-validation may use it, without images with strokes: those would show what is
 * held out. */
struct clv_training train_weak_held_out(const struct clv_training *training, const struct train_weak *weak);

/* Checkpoints next to the model while it is learned. */
struct train_checkpoints {
    struct clv_checkpoints settings;
    const char *facts[3][2]; /* views */
};
/* Hands them to the training, with all that a resumed one must share; returns whether there is one already. */
enum clv_status train_checkpoints_use(struct clv_training *training, struct train_checkpoints *self,
                                      const struct clv_train_options *options, const struct train_data *data,
                                      struct clv_error *err) CLV_CHECK;
/* A parameter of the checkpoint to go on from, if there is one: what --cv chose need not be chosen again. */
enum clv_status train_checkpoints_parameter(double *value, bool *found, const char *name,
                                            const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;
/* Refuses parameters that were given, and grids of such, that cannot have an effect (learner_idle): by the options
 * alone as long as the training has no dataset, then by the data, too. CLV_ERR_USAGE names both. */
enum clv_status train_check_effect(const struct clv_train_options *options, const struct clv_training *training,
                                   struct clv_error *err) CLV_CHECK;

/* --cv: chooses among all combinations of the candidates by cross-validation, prints the losses, sets the
 * parameters. Those of a checkpoint are taken in their place, but for the first of two stages, which keeps none. */
enum clv_status train_cross_validate(struct clv_training *training, const struct clv_train_options *options,
                                     const struct train_data *data, const struct train_weak *weak, bool is_first,
                                     struct clv_error *err) CLV_CHECK;

/* Two stages: learns the first stage: `first` of *learned, NULL without it, and for --label-costs `presence`; weighs
 * the data's labels if that was left to its folds. The data's features, and those of the validation set if there is
 * one, are those of the second stage from here on, and so is the training's layout. */
enum clv_status train_stages_learn(struct stages_learned *learned, struct clv_training *training,
                                   const struct clv_train_options *options, struct train_data *data,
                                   struct clv_dataset *validation, struct clv_error *err) CLV_CHECK;

/* Whether --validate names splits of the set, whose images have masks and maps; before any features are made. */
enum clv_status train_validation_check(const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

/* --validate: the images of those splits as the training's features see them, or a feature file. */
enum clv_status train_validation_load(struct clv_dataset **dataset, const struct clv_train_options *options,
                                      const struct train_data *data, struct clv_error *err) CLV_CHECK;
/* Prints the model's loss on training->validation. */
enum clv_status train_validation_report(const struct clv_train_options *options, const struct train_data *data,
                                        const struct clv_training *training, const struct clv_model *model,
                                        struct clv_error *err) CLV_CHECK;

/* Chooses the layout of the weights: the form that the options name, or the form that the data is meant for or, if the
 * learner does not train that, the best form that it trains, with a note. CLV_ERR_USAGE if a form that the options name
 * does not suit data or learner. */
enum clv_status train_shape_choose(struct clv_weight_layout *layout, const struct clv_train_options *options,
                                   const struct clv_dataset *dataset, struct clv_error *err) CLV_CHECK;

/* --init, if it was given: reads the model, before long work; then hands its weights to the training, whose layout is
 * set. Errors name both what the model has and what is wanted. */
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

/* How the model was made, into its record. Nothing that may differ between two runs of the same training: no times,
 * threads or output. */
enum clv_status train_record(struct clv_model *model, const struct clv_train_options *options,
                             const struct train_data *data, const struct clv_training *training,
                             const struct train_outcome *outcome, struct clv_error *err) CLV_CHECK;

/* RECORD_UNSEEN of a model that has its weights, where images are labelled in part: strokes and samples lack features
 * that the rest of the same images has. */
enum clv_status train_record_unseen(struct clv_model *model, const struct train_data *data,
                                    struct clv_error *err) CLV_CHECK;

/* The summary's parts. */
void train_report_data(const struct clv_train_options *options, const struct train_data *data, double seconds);
void train_report_learning(const struct clv_train_options *options, const struct train_data *data,
                           const struct train_outcome *outcome);

/* A line of the summary; releases it. */
struct text;
void report_text(const struct clv_progress *progress, struct text *line);

#endif
