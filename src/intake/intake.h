/* The data that commands take in: images with masks, boxes or neither, and maps of networks. Every image and every mask
 * is read once before long work starts, so that all faults are named at once.
 *
 * Read supervision_read (supervision.c) and check_set (check_set.c) first. */
#ifndef INTAKE_INTAKE_H
#define INTAKE_INTAKE_H

#include <stdbool.h>

#include "base/base.h"
#include "cleave/data.h"
#include "cleave/features.h"
#include "cleave/train.h"
#include "data/boxes/boxes.h"
#include "data/data.h"
#include "data/maps/maps.h"
#include "feature/dataset/dataset.h"

/* Sets of images of bands. */

#define BANDS_MAP "bands" /* the name of the map that such images have */

/* Whether a file is a further band of an image whose first file has another name: its path ends with one of the names
 * after the first; NULL: none is. */
bool band_images_is_further(const char *path, const char *names);

/* Keeps the first of the files that are bands of one image (limits->band_files), and removes the others from the set.
 * Does nothing without band_files. CLV_ERR_DATA if no image is left. */
enum clv_status band_images_join(struct clv_set *set, const struct clv_image_limits *limits,
                                 struct clv_error *err) CLV_CHECK;

/* Learns recipe->bands of a set whose images are of bands (training_set_is_deep), and gives its images the map if they
 * have one (slices have none); a note says so. Errors: of bands_learn and band_images_give. */
enum clv_status band_images_learn(struct clv_recipe *recipe, struct clv_set *set, bool has_map,
                                  const struct clv_image_limits *limits, const struct clv_progress *progress,
                                  struct clv_error *err) CLV_CHECK;

/* Makes images their own maps BANDS_MAP, if the recipe has learned bands. CLV_ERR_USAGE if the set has another map of
 * that name, or the largest number of maps. */
enum clv_status band_images_give(struct clv_set *set, const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;

/* Reading sets for training. */

/* Whether a file is a safetensors file, or an index of shards (recognised by content), rather than a manifest. */
bool is_tensor_file(const char *path);

/* Whether all of several paths that an option names are such files: CLV_ERR_USAGE names one that is not. */
enum clv_status feature_paths_check(const struct path_list *paths, const char *option, struct clv_error *err) CLV_CHECK;

/* Reads a set and keeps the splits asked for. With splits NULL and prefer_train, a set that has a split "train" is
 * reduced to it, which a note reports. The whole set is checked first. */
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
    "run, was skipped",                                                                                                \
        "images that are masks, or in a folder's own strokes/, overlays/, cutouts/ or objects/ or among the results "  \
        "of a run, were skipped"
#define NO_IMAGES          "file is not an image and was skipped", "files are not images and were skipped"
#define NO_BOXES           "annotation is not a box and was skipped", "annotations are not boxes and were skipped"
#define LONE_MASKS         "mask has no image of its name", "masks have no image of their name"
#define UNREADABLE_FOLDERS "folder may not be read and was skipped", "folders may not be read and were skipped"
#define LINKED_FOLDERS     "link to a folder was followed", "links to folders were followed"

/* Fails with CLV_ERR_DATA, as no image of the set has a mask for the purpose. The message names folders and masks whose
 * names are nearly right, or else ends with `otherwise`. */
enum clv_status fail_unmasked(const struct clv_set *set, const char *path, const char *purpose, const char *otherwise,
                              struct clv_error *err) CLV_CHECK;

/* Notes which files reading a folder skipped, and which links it followed. */
void training_set_note_skipped(const struct clv_set *set, const char *path, const struct clv_progress *progress);

/* Notes how a set was read: by the manifest of a folder, and what pages of its images are. */
void training_set_note_reading(const struct clv_set *set, const char *path, const struct clv_progress *progress);

/* Removes drafts of masks from the set. A note counts them and ends with `hint`. */
void training_set_drop_drafts(struct clv_set *set, const char *path, const char *hint,
                              const struct clv_progress *progress);
#define DRAFTS_HINT "; --include-drafts takes them"

/* Reads the set again, for other splits (NULL: all), without the notes of the first reading. */
enum clv_status training_set_read_more(struct clv_set *set, const char *path, const char *splits,
                                       struct clv_error *err) CLV_CHECK;

/* --void: makes the labels with these names void (NULL: none). Errors name the option. */
enum clv_status training_set_hide(struct clv_set *set, const char *names, struct clv_error *err) CLV_CHECK;

/* Skips the items without a mask, which a note counts. Fails if none is left. */
enum clv_status training_set_require_masks(struct clv_set *set, const char *path, const struct clv_progress *progress,
                                           struct clv_error *err) CLV_CHECK;

/* Sets default names of labels: background and foreground, or "label 0", "label 1" and so on. */
enum clv_status training_set_number_labels(struct clv_labels *labels, int32_t n_labels,
                                           struct clv_error *err) CLV_CHECK;

/* Whether images are read by their bands: some image is deep (raster_is_deep), and no range of grey is given. */
bool training_set_is_deep(const struct clv_set *set, const struct clv_image_limits *limits);

/* Images and masks that cannot be learned from, all of them, so that they are reported at once. */
struct bad_images {
    struct bad_image {
        char *message; /* of one line; this and what follows are those of a struct clv_error, which is large */
        size_t path_length;
        const char *kind;
        enum clv_fault fault;
        size_t item; /* of the set, or NO_ITEM */
    } * images;      /* [n] */
    size_t n, capacity;
    enum clv_status status; /* of the first */
};
void bad_images_release(struct bad_images *self);

/* Adds a failure that concerns one image (its content, or that it cannot be read or is too large) and returns CLV_OK.
 * Returns `status` for other failures. */
#define NO_ITEM ((size_t)-1)
enum clv_status bad_images_add(struct bad_images *self, size_t item, enum clv_status status,
                               struct clv_error *err) CLV_CHECK;

/* With options->skip_bad names all of them in notes; else fails, with a complaint for each kind of fault. `n_images` is
 * the number of images that the set at options->data had. */
enum clv_status bad_images_report(const struct bad_images *self, const struct clv_set *set, size_t n_images,
                                  const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

/* The boxes of a set's images, from one file or folder or from those that its manifest names. */

/* boxes[n_items], array_free each item's and the whole. */
void box_hints_free(struct item_boxes *boxes, size_t n_items);

/* Finds and places the boxes of the set's images; options->boxes NULL: from the files that the items name. Images
 * without boxes are removed from the set. Notes name the first of these, and the first image of the file that is
 * neither in the set nor in `others`. Notes also count the boxes that were cut at their image's border. Images whose
 * boxes do not fit are removed and go to `bad`. An error if none has boxes. */
enum clv_status box_hints_read(struct item_boxes **boxes, struct clv_set *set, struct bad_images *bad,
                               const struct clv_set *others, const struct clv_train_options *options,
                               struct clv_error *err) CLV_CHECK;

/* Places the given boxes of an image in memory as if they came from a file; adds those that were cut to *n_cut, which
 * box_hints_note_cut notes. CLV_ERR_DATA for a box outside of the image. */
enum clv_status box_hints_place(struct item_boxes *boxes, size_t *n_cut, const struct clv_image_boxes *given,
                                const struct clv_item *item, const struct clv_image_limits *limits,
                                struct clv_error *err) CLV_CHECK;
void box_hints_note_cut(size_t n_cut, const struct clv_train_options *options);

/* Decides which images of a set teach, and how: by a mask, by boxes, or as unlabelled images. */

/* The images to be learned from: first those with masks, then those with boxes, then those with neither. Items of the
 * last two have no mask, even if the manifest names one, and each image occurs once. */
struct supervision {
    struct clv_set set;
    struct item_boxes *boxes; /* [set.n_items], or NULL: none has boxes */
    size_t n_masks, n_boxed, n_unlabelled;
    struct bad_images bad; /* skipped images, whose boxes do not fit them */
};
void supervision_release(struct supervision *self);

/* Reads the set of the options, and image sizes where boxes are to be placed. Images that cannot play their part (no
 * mask, no box) are skipped, and notes count them. A name in `only` that the splits do not have, or whose image has no
 * mask, is an error, and so are nothing to learn from, and a set that options->check refuses. */
enum clv_status supervision_read(struct supervision *self, const struct clv_train_options *options,
                                 struct clv_error *err) CLV_CHECK;

/* Checks of all images and masks before long work starts. */

/* Reads every image, and checks every mask against its image's size. Names all bad images, also those of self->bad, in
 * an error, or with options->skip_bad skips them. Notes how masks were understood (0/255 as 0/1) and which hold nothing
 * but background. Masks that hold one label alone are CLV_ERR_DATA, or a note where boxes or void pixels leave others
 * to be pseudo-labelled. Bad is, too, an image whose features take more memory than can be had while they are made.
 * Where images have boxes, boxes of those with masks receive the box of the mask's foreground; none where there is no
 * foreground. */
enum clv_status check_set(struct supervision *self, const struct clv_recipe *recipe,
                          const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

#define TWELVE_BITS_OF_ONE                                                                                             \
    "16-bit image has no value above 4095: --range 0,4095 shows what is in it, and train keeps it in the model"
#define TWELVE_BITS                                                                                                    \
    TWELVE_BITS_OF_ONE, "16-bit images have no value above 4095: --range 0,4095 shows what is in them, and train "     \
                        "keeps it in the model"

/* Checks images that are only read, not learned from, and every mask against its image's size. Images that cannot be
 * read, do not fit or whose features take more memory than is available leave the set, each with a note. None left is
 * an error. `path` is the set's name in messages. The same items are left whatever the number of threads. */
enum clv_status usable_images_keep(struct clv_set *set, const char *path, const struct clv_recipe *recipe,
                                   int n_threads, const struct clv_image_limits *limits,
                                   const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Maps of networks as options describe them (struct clv_map_options), and sets and recipes that have them. */

/* Gives the set's items the folders' maps. */
enum clv_status map_options_add(struct clv_set *set, const struct clv_map_options *self,
                                struct clv_error *err) CLV_CHECK;

/* Whether there are maps, or options about maps. Otherwise the functions below need not be called. */
static inline bool map_options_matter(const struct clv_map_options *self, const struct clv_recipe *recipe,
                                      const struct clv_set *set)
{
    return set->n_maps || self->n || self->kinds.n || self->components.n || self->uses.n ||
           recipe->blocks & CLV_BLOCK_MAPS;
}

/* Puts the set's maps and the options about them into a recipe, and learns the settings of the maps. Notes their kind
 * if it was found by their values, and if channels mean different things in groups of images. `is_wanted`: --blocks
 * does not exclude the block maps; it is then turned on if the set has maps. CLV_ERR_USAGE for --maps without that
 * block, for the block without maps, and for options about maps that do not exist. */
enum clv_status map_options_learn(struct clv_recipe *recipe, const struct clv_map_options *self, bool is_wanted,
                                  const struct clv_set *set, int n_threads, const struct clv_image_limits *limits,
                                  const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Before long work: whether there is a folder, or one of the inputs' columns, for each of a recipe's maps, and no
 * folder for others. `path` is the model's. */
enum clv_status map_options_check(const struct clv_map_options *self, const struct clv_recipe *recipe,
                                  const char (*columns)[CLV_MAX_MAP_NAME + 1], size_t n_columns, const char *path,
                                  struct clv_error *err) CLV_CHECK;

/* --include-drafts, --void, --maps, wherever they are offered. */
#define DRAFTS_HELP "Also use masks that `cleave label' has not accepted yet (default: they are skipped)"
#define VOID_HELP   "Treat these labels as void: not learned from, not counted"
#define MAPS_HELP                                                                                                      \
    "Use the maps of a neural network: FOLDER has a file for each image\n"                                             \
    "It is .npy, PNG or safetensors, and named as the image. Again for more maps (default: the manifest's columns "    \
    "maps.NAME)"

#endif
