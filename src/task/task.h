/* clv_train_set's stages: from images with masks, boxes or neither to a model.
 *
 * Read train_set.c first, which goes through them in order. What comes out of each is a struct below: the data
 * (train_data.c), what is to be pseudo-labelled (train_images.c), and the outcome of learning, which train_record.c
 * reports, as it does what a checkpoint must share. train_images.c says which image teaches how. */
#ifndef TASK_TASK_H
#define TASK_TASK_H

#include <stdbool.h>

#include "base/base.h"
#include "base/digest.h"

/* The key of a model's record: which share of the features in its own training images their labelled parts have not.
 * Missing: none, as where masks are whole. */
#define RECORD_UNSEEN "unseen_features"
#include "cleave/data.h"
#include "cleave/features.h"
#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/objects.h"
#include "cleave/segment.h"
#include "data/maps/maps.h"
#include "feature/dataset/dataset.h"
#include "learn/select/select.h"
#include "object/object.h"

/* Sets of images of bands. */

#define BANDS_MAP "bands" /* the name of the map that such images have */

/* Whether a file is a further band of an image whose first file has another name: its path ends with one of the names
 * after the first; NULL: none is. */
bool band_images_is_further(const char *path, const char *names);

/* Of files that are bands of one (limits->band_files) the first stays in the set; does nothing without. CLV_ERR_DATA:
 * none is left. */
enum clv_status band_images_join(struct clv_set *set, const struct clv_image_limits *limits,
                                 struct clv_error *err) CLV_CHECK;

/* Learns recipe->bands of a set whose images are of bands (training_set_is_deep), and gives its images the map if they
 * have one (slices have none); a note says so. Errors: of bands_learn and band_images_give. */
enum clv_status band_images_learn(struct clv_recipe *recipe, struct clv_set *set, bool has_map,
                                  const struct clv_image_limits *limits, const struct clv_progress *progress,
                                  struct clv_error *err) CLV_CHECK;

/* Images are their own maps BANDS_MAP, if the recipe has learned bands. CLV_ERR_USAGE if the set has another one of
 * that name, or as many as may be. */
enum clv_status band_images_give(struct clv_set *set, const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;

/* Sets as training takes them in. */

/* Whether a file is a safetensors file, or an index of shards (recognised by content), rather than a manifest. */
bool is_tensor_file(const char *path);

/* Whether all of several paths that an option names are such files: CLV_ERR_USAGE names one that is not. */
enum clv_status feature_paths_check(const struct path_list *paths, const char *option, struct clv_error *err) CLV_CHECK;

/* Reads a set and keeps the splits asked for. With splits NULL and prefer_train, a set that has a split "train" is cut
 * down to it, which a note reports. The whole set is looked at first. */
struct set_check {
    enum clv_status (*look)(void *context, const struct clv_set *set, const char *path, struct clv_error *err);
    void *context;
};
enum clv_status training_set_read(struct clv_set *set, const char *path, const char *splits, bool prefer_train,
                                  const struct set_check *check, const struct clv_progress *progress,
                                  struct clv_error *err) CLV_CHECK;

/* For report_count: of one, of several. */
#define OWN_IMAGES                                                                                                     \
    "image that is a mask, or in a folder's own strokes/, overlays/, cutouts/ or objects/ or among the results of a "  \
    "run, was left out",                                                                                               \
        "images that are masks, or in a folder's own strokes/, overlays/, cutouts/ or objects/ or among the results "  \
        "of a run, were left out"
#define NO_IMAGES          "file is no image and was skipped", "files are no images and were skipped"
#define NO_BOXES           "annotation is no box and was skipped", "annotations are no boxes and were skipped"
#define LONE_MASKS         "mask has no image of its name", "masks have no image of their name"
#define UNREADABLE_FOLDERS "folder may not be read and was left out", "folders may not be read and were left out"
#define LINKED_FOLDERS     "link to a folder was followed", "links to folders were followed"

/* CLV_ERR_DATA: no image of the set has a mask for the purpose; names folders and masks that are nearly named as they
 * should be, or else says `otherwise`. */
enum clv_status fail_unmasked(const struct clv_set *set, const char *path, const char *purpose, const char *otherwise,
                              struct clv_error *err) CLV_CHECK;

/* Notes what reading a folder left out and followed. */
void training_set_note_skipped(const struct clv_set *set, const char *path, const struct clv_progress *progress);

/* Notes how a set was read: by the manifest of a folder, and what pages of its images are. */
void training_set_note_reading(const struct clv_set *set, const char *path, const struct clv_progress *progress);

/* Takes drafts of masks away, which a note counts; `hint` ends it. */
void training_set_drop_drafts(struct clv_set *set, const char *path, const char *hint,
                              const struct clv_progress *progress);
#define DRAFTS_HINT "; --drafts takes them"

/* The same set once more, for other splits (NULL: all): what the first reading reported is not reported again. */
enum clv_status training_set_read_more(struct clv_set *set, const char *path, const char *splits,
                                       struct clv_error *err) CLV_CHECK;

/* --void: makes void of the labels so named; NULL: of none. Errors name the option. */
enum clv_status training_set_hide(struct clv_set *set, const char *names, struct clv_error *err) CLV_CHECK;

/* Leaves out the items without a mask, which a note counts; none left is an error. */
enum clv_status training_set_require_masks(struct clv_set *set, const char *path, const struct clv_progress *progress,
                                           struct clv_error *err) CLV_CHECK;

/* Labels that nobody named: background and foreground, or "label 0", "label 1" .. */
enum clv_status training_set_number_labels(struct clv_labels *labels, int32_t n_labels,
                                           struct clv_error *err) CLV_CHECK;

/* image paths[n_items], views into the set; array_free it. NULL when out of memory. */
const char **training_set_images(const struct clv_set *set);

/* Whether any image is to be read by its bands: one is deep (raster_is_deep), and no range of grey is given. */
bool training_set_is_deep(const struct clv_set *set, const struct clv_image_limits *limits);

/* Images and masks that cannot be learned from, all of them, so that they are reported at once. */
struct bad_images {
    struct bad_image {
        char *message; /* of one line */
        enum clv_fault fault;
        size_t item; /* of the set, or NO_ITEM */
    } * images;      /* [n] */
    size_t n, capacity;
    enum clv_status status; /* of the first */
};
void bad_images_release(struct bad_images *self);

/* Takes a failure in if it is one image's own (what it holds, that it cannot be read or is too large): CLV_OK then,
 * else `status`. */
#define NO_ITEM ((size_t)-1)
enum clv_status bad_images_add(struct bad_images *self, size_t item, enum clv_status status,
                               struct clv_error *err) CLV_CHECK;

/* Names all of them as notes with options->skip_bad; else fails, with a complaint for each kind of fault. `n_images`
 * is how many there were, of the set at options->data. */
enum clv_status bad_images_report(const struct bad_images *self, const struct clv_set *set, size_t n_images,
                                  const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

/* The boxes of a set's images, from one file or folder or from those that its manifest names. */

/* boxes[n_items], array_free each item's and the whole. */
void box_hints_free(struct item_boxes *boxes, size_t n_items);

/* Finds and places the boxes of the set's images; options->boxes NULL: from the files that the items name. Images
 * without boxes are left out of the set, and notes name the first of them next to what the file has that neither they
 * nor `others` have taken. Notes count the boxes that were cut at their image's border, too. Images whose boxes do not
 * fit are left out and go to `bad`. An error if none has boxes. */
enum clv_status box_hints_read(struct item_boxes **boxes, struct clv_set *set, struct bad_images *bad,
                               const struct clv_set *others, const struct clv_train_options *options,
                               struct clv_error *err) CLV_CHECK;

/* Which images of a set teach, and how: by a mask, by boxes, or by being there. */

/* The images to be learned from: first those with masks, then those with boxes, then those with neither. Items of the
 * last two have no mask, whatever the manifest says, and each image is there once. */
struct supervision {
    struct clv_set set;
    struct item_boxes *boxes; /* [set.n_items], or NULL: none has boxes */
    size_t n_masks, n_boxed, n_unlabelled;
    struct bad_images bad; /* images left out, whose boxes do not fit them */
};
void supervision_release(struct supervision *self);

/* Reads the set of the options, and image sizes where boxes are to be placed. Images that cannot play their part are
 * left out, which notes count (no mask, no box); a name in `only` that the splits do not have, or whose image has no
 * mask, is an error, and so are nothing to learn from, and a set that options->check refuses. */
enum clv_status supervision_read(struct supervision *self, const struct clv_train_options *options,
                                 struct clv_error *err) CLV_CHECK;

/* Looking at all images and masks before long work starts. */

/* Reads every image, and every mask against its image's size. What is bad is named, all of it (with self->bad, which
 * were found so before): an error, or with options->skip_bad left out. Notes how masks were understood (0/255 as 0/1)
 * and which hold nothing but background. Masks that hold one label alone are CLV_ERR_DATA, or a note where boxes or
 * void pixels leave others to be pseudo-labelled. Bad is, too, an image whose features take more memory than can be had
 * while they are made. Where images have boxes, boxes of those with masks receive the box of the mask's figure; none
 * where there is no figure. */
enum clv_status check_set(struct supervision *self, const struct clv_recipe *recipe,
                          const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

#define TWELVE_BITS_OF_ONE                                                                                             \
    "16-bit image has no value above 4095: --range 0,4095 shows what is in it, and train keeps it in the model"
#define TWELVE_BITS                                                                                                    \
    TWELVE_BITS_OF_ONE, "16-bit images have no value above 4095: --range 0,4095 shows what is in them, and train "     \
                        "keeps it in the model"

/* The same where images are only read, not learned from: every mask against its image's size; those that cannot be
 * read, do not fit or whose features take more memory than can be had are left out, each with a note. None left is an
 * error. `path` is the set's name in messages. The same items are left whatever the number of threads. */
enum clv_status usable_images_keep(struct clv_set *set, const char *path, const struct clv_recipe *recipe,
                                   int n_threads, const struct clv_image_limits *limits,
                                   const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* What clv_segment does of an image whose features are there already. */

/* labels[height][width]: labels the example's nodes, paints, and by options->refine refines borders at the pixels of
 * the example's image, else not read: clv_refine for two labels that the model finds by a cut, clv_refine_labels for
 * others. maps[n_maps of the recipe] of the image, or NULL: pixels then count by the weights of segment/refining.c.
 * Labels are changed whatever the status. */
enum clv_status label_example(uint8_t *labels, const struct clv_model *model, const struct clv_image *image,
                              const struct clv_example *example, const struct map_reader *maps,
                              const struct clv_segment_options *options, struct clv_error *err) CLV_CHECK;

/* Which share of the problem's features, by their sums, was in no training image: their weights are 0 for all labels.
 * 0 of a model with so many such weights that they may be the learner's choice. */
double label_unmet_share(const struct clv_model *model, const struct clv_problem *problem);

/* Whether an image of that size is refined by a choice. */
bool label_refines(enum clv_refine_choice choice, const struct clv_model *model, int32_t width, int32_t height);

/* What a model has learned of objects, as tensors that it carries: objects.shrink f32 [1], of the network of pixels and
 * of that with context objects.standard, objects.standard2 f32 [2][d], objects.network, objects.network2 f32
 * [copies][weights], and, where objects touched, objects.border f64 [columns of edge_problem.c]. */

enum clv_status learned_objects_attach(struct clv_model *model, const struct object_model *objects,
                                       struct clv_error *err) CLV_CHECK;

/* Whether a model has learned of objects. */
bool learned_objects_are_there(const struct clv_model *model);

/* The objects of an image of 3 channels as a model that has learned of some finds them, *map without labels. One
 * thread. CLV_ERR_DATA for tensors that are not as above. */
enum clv_status learned_objects_find(struct clv_object_map *map, const struct clv_model *model,
                                     const struct clv_image *image, struct clv_error *err) CLV_CHECK;

/* Learns from those of a set's first n images that have a file of objects, and attaches it; nothing where none has. */
enum clv_status learned_objects_train(struct clv_model *model, const struct clv_set *set, size_t n,
                                      const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

/* Maps of networks as options describe them (struct clv_map_options), and sets and recipes that have them. */

/* Gives the set's items the folders' maps. */
enum clv_status map_options_add(struct clv_set *set, const struct clv_map_options *self,
                                struct clv_error *err) CLV_CHECK;

/* Whether there are maps, or anything is said of some: else the functions below need not be called. */
static inline bool map_options_matter(const struct clv_map_options *self, const struct clv_recipe *recipe,
                                      const struct clv_set *set)
{
    return set->n_maps || self->n || self->kinds.n || self->components.n || self->uses.n ||
           recipe->blocks & CLV_BLOCK_MAPS;
}

/* Puts the set's maps into a recipe to be learned, with what is said of them, and learns what they are; notes what kind
 * that is if it had to be found by the values, and where channels mean other things in some images than in others.
 * `is_wanted`: the block maps is not left out by --blocks; then it is turned on where there are maps. CLV_ERR_USAGE for
 * --maps that the blocks leave out, the block without maps, and words about maps that there are not. */
enum clv_status map_options_learn(struct clv_recipe *recipe, const struct clv_map_options *self, bool is_wanted,
                                  const struct clv_set *set, int n_threads, const struct clv_image_limits *limits,
                                  const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Before long work: whether there is a folder, or one of the inputs' columns, for each of a recipe's maps, and no
 * folder for others. `path` is the model's. */
enum clv_status map_options_check(const struct clv_map_options *self, const struct clv_recipe *recipe,
                                  const char (*columns)[CLV_MAX_MAP_NAME + 1], size_t n_columns, const char *path,
                                  struct clv_error *err) CLV_CHECK;

/* Values of options: what may be typed, and what is said of anything else. Tables of struct clv_option
 * (cleave/segment.h) name them; clv_option_set takes a value by its row. */

/* Sections of the help of training. */
#define SECTION_LEARN_FROM "What to learn from"
#define SECTION_LEARNED    "What is learned"
#define SECTION_FEATURES   "Features (a recipe that is learned once and becomes part of the model)"
#define SECTION_CHOOSING   "Choosing by cross-validation"
#define SECTION_RUNNING    "Running and resuming"

/* Tables that end with a NULL name. The rows of features are also those of `cleave features`. */
extern const struct clv_option train_option_rows[], feature_option_rows[];

/* --drafts, --void, --maps, --engine, wherever they are offered. */
#define DRAFTS_HELP "Also use masks that `cleave label' has not accepted yet (default: they are left out)"
#define VOID_HELP   "Treat these labels as void: not learned from, not counted"
#define MAPS_HELP                                                                                                      \
    "Use the maps of a neural network: FOLDER has a file for each image\n"                                             \
    "It is .npy, PNG or safetensors, and named as the image. Again for more maps (default: the manifest's columns "    \
    "maps.NAME)"
#define ENGINE_HELP "Min-cut engine; all give the same labels"
extern const char *const engine_names[]; /* places are those of enum clv_engine; ends with NULL */

/* For `take` of a row; members are struct clv_map_options and enum clv_engine. */
enum clv_status option_take_maps(void *member, const struct clv_option *option, const char *typed,
                                 struct clv_error *err) CLV_CHECK;
enum clv_status option_take_engine(void *member, const struct clv_option *option, const char *typed,
                                   struct clv_error *err) CLV_CHECK;

/* CLV_ERR_USAGE: "--name: "typed" is ...". */
enum clv_status option_int(int32_t *value, const char *name, const char *typed, int32_t minimum, int32_t maximum,
                           struct clv_error *err) CLV_CHECK;
enum clv_status option_number(double *value, const char *name, const char *typed, double minimum, double maximum,
                              struct clv_error *err) CLV_CHECK;
/* Appends "X,.." to values[*n], of which there may be `capacity`. */
enum clv_status option_numbers(double *values, size_t *n, size_t capacity, const char *name, const char *typed,
                               double minimum, double maximum, struct clv_error *err) CLV_CHECK;
/* *value is the place among choices[n]. */
enum clv_status option_choice(int *value, const char *name, const char *typed, const char *const *choices, size_t n,
                              struct clv_error *err) CLV_CHECK;
/* Of names that end with NULL. */
size_t option_count_names(const char *const *names);

/* Feature blocks by name. */
enum { N_BLOCK_NAMES = 12 };
extern const struct block_name {
    const char *name;
    int32_t block; /* of enum clv_blocks */
} block_names[N_BLOCK_NAMES];

/* What a model's record says about where it came from. */

/* A digest of training data, "fnv1a:" and 16 hexadecimal digits: 64-bit FNV-1a over each item's name, split, and the
 * sizes in bytes of its image and mask, in order; then over boxes[n_items] (may be NULL). It distinguishes sets at no
 * cost; it does not prove that pixels are the same. Where the set is does not matter. */
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
    struct clv_set set;     /* the dataset's images, in its order; kept where there are maps or objects */
    struct clv_mask *masks; /* [n_masks] of images in memory, as they were read */
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

/* train_data_load of images in memory. */
enum clv_status train_data_in_memory(struct train_data *data, const struct clv_train_options *options,
                                     struct clv_error *err) CLV_CHECK;

/* The images to learn from by their masks: examples[*n], array_free them. Those whose masks are void throughout are
 * left out, which a note says; CLV_ERR_DATA if all are, though there are masks. */
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
    int32_t *examples;     /* [n], the scribbles last */
    const int32_t **given; /* [n] views */
    size_t n, n_scribbles;
};
void train_weak_release(struct train_weak *self);
enum clv_status train_weak_list(struct train_weak *self, const struct train_data *data,
                                const struct clv_learner *learner, const struct clv_shape *shape,
                                const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;
/* The same training as folds of cross-validation may have it: scribbles' images would tell what is held out. */
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
 * one, are those of the second stage from here on, and so is the training's shape. */
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

/* CLV_ERR_USAGE if feature_memory is set, and something needs all features in memory. */
enum clv_status train_check_memory(const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

/* What weights are learned: the form asked for, or the one the data is meant for, or if the learner does not train that
 * the best one it does, with a note. CLV_ERR_USAGE if a form asked for does not go with data or learner. */
enum clv_status train_shape_choose(struct clv_shape *shape, const struct clv_train_options *options,
                                   const struct clv_dataset *dataset, struct clv_error *err) CLV_CHECK;

/* --init, if it was given: reads the model, before long work; then hands its weights to the training, whose shape is
 * set. Errors name both what the model has and what is wanted. */
enum clv_status train_init_read(struct clv_model *start, const struct clv_train_options *options,
                                struct clv_error *err) CLV_CHECK;
enum clv_status train_init_use(struct clv_training *training, const struct clv_model *start,
                               const struct clv_train_options *options, const struct train_data *data,
                               struct clv_error *err) CLV_CHECK;

/* What came out of learning. */
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

/* RECORD_UNSEEN of a model that has its weights, where images are labelled in part: strokes and samples lack features that
 * the rest of the same images has. */
enum clv_status train_record_unseen(struct clv_model *model, const struct train_data *data,
                                    struct clv_error *err) CLV_CHECK;

/* The summary's parts. */
void train_report_data(const struct clv_train_options *options, const struct train_data *data, double seconds);
void train_report_learning(const struct clv_train_options *options, const struct train_data *data,
                           const struct train_outcome *outcome);

/* A line of the summary; releases it. */
struct text;
void report_text(const struct clv_progress *progress, struct text *line);

/* Learning of objects from images and the object that each of their pixels belongs to. */

/* Where images come from: read gives image `index` and *objects[height][width], 0: none, OBJECT_UNKNOWN: nothing is
 * learned from that pixel (array_free it). It is called by several threads. */
#define OBJECT_UNKNOWN (-1)
struct object_source {
    enum clv_status (*read)(void *context, struct clv_image *image, int32_t **objects, size_t index,
                            struct clv_error *err);
    void *context;
    size_t n_images;
};

/* Learns the networks of pixels from 650,000 of all images or 16,000 of each, more of them near borders of objects than
 * there are, the second one's context by the first; then whether the borders of regions cut, by any learner of two
 * labels, from 40 of the images, drawn by seed (from 33 held-out nuclei were as good as from 100). `like` has its
 * parameters, seed, threads and progress. Regions are made of the images that the networks were learned from: with
 * those of others, by folds, held-out nuclei were no better (F1 .811 and .816). Same seed, same bytes.
 * CLV_ERR_INTERRUPTED where progress asks to stop. */
enum clv_status train_objects(struct object_model *model, const struct object_source *source,
                              const struct clv_learner *learner, const struct clv_training *like,
                              struct clv_error *err) CLV_CHECK;

#endif
