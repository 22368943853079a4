/* The input data of commands: images with masks, boxes or neither, and network maps. All images and masks are read once
 * before long work starts, so that all faults are reported together.
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

/* Datasets of images with bands. */

#define BANDS_MAP "bands" /* name of the map that contains the bands */

/* Whether a file is a further band of an image: its path ends with one of the comma-separated `names` after the first.
 * NULL: no. */
bool band_images_is_further(const char *path, const char *names);

/* Keeps the first of the files that are bands of one image (limits->band_files), and removes the others from the set.
 * Does nothing without band_files. CLV_ERR_DATA if no image remains. */
enum clv_status band_images_join(struct clv_set *set, const struct clv_image_limits *limits,
                                 struct clv_error *err) CLV_CHECK;

/* Learns recipe->bands from a set whose images are read by bands (training_set_is_deep), and adds the map BANDS_MAP to
 * its images if has_map (slices have none). Prints a note. Errors of bands_learn and band_images_give. */
enum clv_status band_images_learn(struct clv_recipe *recipe, struct clv_set *set, bool has_map,
                                  const struct clv_image_limits *limits, const struct clv_progress *progress,
                                  struct clv_error *err) CLV_CHECK;

/* Adds the map BANDS_MAP, which is the image itself, to all images, if the recipe has learned bands. CLV_ERR_USAGE if
 * the set has another map of that name, or CLV_MAX_MAPS maps. */
enum clv_status band_images_give(struct clv_set *set, const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;

/* Reading sets for training. */

/* Whether a file is a safetensors file, or an index of shards (recognised by content), rather than a manifest. */
bool is_tensor_file(const char *path);

/* Checks the paths of an option: if there are several, all must be such files. CLV_ERR_USAGE names one that is not. */
enum clv_status feature_paths_check(const struct path_list *paths, const char *option, struct clv_error *err) CLV_CHECK;

/* Reads a set and keeps the given splits. With splits NULL and prefer_train, only the split "train" is kept if it
 * exists, and a note reports it. check->verify (or NULL) is called with the whole set first. */
struct set_check {
    enum clv_status (*verify)(void *context, const struct clv_set *set, const char *path, struct clv_error *err);
    void *context;
};
enum clv_status training_set_read(struct clv_set *set, const char *path, const char *splits, bool prefer_train,
                                  const struct set_check *check, const struct clv_progress *progress,
                                  struct clv_error *err) CLV_CHECK;

/* Texts for report_count: singular, plural. */
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

/* Fails with CLV_ERR_DATA because no image of the set has a mask for `purpose`. The message suggests a correction if
 * folders or masks have similar names, or else ends with `otherwise`. */
enum clv_status fail_unmasked(const struct clv_set *set, const char *path, const char *purpose, const char *otherwise,
                              struct clv_error *err) CLV_CHECK;

/* Prints notes on files that were skipped while a folder was read, and on links that were followed. */
void training_set_note_skipped(const struct clv_set *set, const char *path, const struct clv_progress *progress);

/* Prints notes on how a set was read: by the manifest of a folder, and how the pages of its images were interpreted. */
void training_set_note_reading(const struct clv_set *set, const char *path, const struct clv_progress *progress);

/* Removes the masks of drafts from the set. A note counts them and ends with `hint`. */
void training_set_drop_drafts(struct clv_set *set, const char *path, const char *hint,
                              const struct clv_progress *progress);
#define DRAFTS_HINT "; --include-drafts takes them"

/* Reads the set again, with other splits (NULL: all) and without notes. */
enum clv_status training_set_read_more(struct clv_set *set, const char *path, const char *splits,
                                       struct clv_error *err) CLV_CHECK;

/* Makes the labels with these names void, for --void (NULL: none). Errors name the option. */
enum clv_status training_set_hide(struct clv_set *set, const char *names, struct clv_error *err) CLV_CHECK;

/* Removes the items without a mask, which a note counts. Fails if none remains. */
enum clv_status training_set_require_masks(struct clv_set *set, const char *path, const struct clv_progress *progress,
                                           struct clv_error *err) CLV_CHECK;

/* Whether images are read by their bands: some image is deep (raster_is_deep), and no range of grey is given. */
bool training_set_is_deep(const struct clv_set *set, const struct clv_image_limits *limits);

/* All images and masks that cannot be used for training, collected to be reported together. */
struct bad_images {
    struct bad_image {
        char *message; /* one line; the next members are those of a struct clv_error */
        size_t path_length;
        const char *kind;
        enum clv_fault fault;
        size_t item; /* index in the set, or NO_ITEM */
    } * images;      /* [n] */
    size_t n, capacity;
    enum clv_status status; /* of the first failure */
};
void bad_images_release(struct bad_images *self);

/* Adds a failure of one image (its content, or that it is unreadable or too large) and returns CLV_OK. Fails with
 * `status` and `why` for other failures. */
#define NO_ITEM ((size_t)-1)
enum clv_status bad_images_add(struct bad_images *self, size_t item, enum clv_status status,
                               const struct clv_error *why, struct clv_error *err) CLV_CHECK;

/* With options->skip_bad, prints a note for each bad image; else prints one complaint per kind of fault and fails.
 * `n_images` is the number of images that the set at options->data had. */
enum clv_status bad_images_report(const struct bad_images *self, const struct clv_set *set, size_t n_images,
                                  const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

/* The boxes of a set's images, from one file or folder, or from the files that its manifest names. */

/* Frees boxes[n_items]. */
void box_hints_free(struct item_boxes *boxes, size_t n_items);

/* Finds the boxes of the set's images, in options->boxes or if that is NULL in the files that the items name, and
 * converts them to pixels. Removes images without boxes from the set; notes name the first of them, and the first image
 * in the file that is neither in the set nor in `others`. Notes also count boxes that were clipped at the border.
 * Images with invalid boxes move to `bad`. CLV_ERR_DATA if no image has boxes. */
enum clv_status box_hints_read(struct item_boxes **boxes, struct clv_set *set, struct bad_images *bad,
                               const struct clv_set *others, const struct clv_train_options *options,
                               struct clv_error *err) CLV_CHECK;

/* Converts the given boxes of an image in memory to pixels, by the rules for files. Adds the number of clipped boxes to
 * *n_cut, which box_hints_note_cut reports. CLV_ERR_DATA for a box outside the image. */
enum clv_status box_hints_place(struct item_boxes *boxes, size_t *n_cut, const struct clv_image_boxes *given,
                                const struct clv_item *item, const struct clv_image_limits *limits,
                                struct clv_error *err) CLV_CHECK;
void box_hints_note_cut(size_t n_cut, const struct clv_train_options *options);

/* The training images of a set: with masks, with boxes, or unlabelled. */

/* The training images: first those with masks, then those with boxes, then unlabelled ones. Items of the last two
 * groups have no mask, even if the manifest names one, and each image occurs once. */
struct supervision {
    struct clv_set set;
    struct item_boxes *boxes; /* [set.n_items]; NULL: no image has boxes */
    size_t n_masks, n_boxed, n_unlabelled;
    struct bad_images bad; /* images skipped because their boxes are invalid */
};
void supervision_release(struct supervision *self);

/* Reads the set of the options, and the sizes of images with boxes. Images without the mask or box that they need are
 * skipped, and notes count them. Errors: a name in `only` that is not in the splits or whose image has no mask, a set
 * without masks and boxes, a set that options->check refuses. */
enum clv_status supervision_read(struct supervision *self, const struct clv_train_options *options,
                                 struct clv_error *err) CLV_CHECK;

/* Checks of all images and masks before long work starts. */

/* Reads every image, and checks that every mask has its image's size. Reports all bad images, including those of
 * self->bad, as an error, or skips them with options->skip_bad. An image is also bad if extracting its features needs
 * more memory than is available. Notes report how masks were interpreted (0/255 as 0/1) and which have only background.
 * Masks with only one label are CLV_ERR_DATA, or a warning if boxes or void pixels can provide the other labels. If
 * some images have boxes, each image with a mask gets the bounding box of its foreground, or no box without
 * foreground. */
enum clv_status check_set(struct supervision *self, const struct clv_recipe *recipe,
                          const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

#define TWELVE_BITS_OF_ONE                                                                                             \
    "16-bit image has no value above 4095: --range 0,4095 shows what is in it, and train keeps it in the model"
#define TWELVE_BITS                                                                                                    \
    TWELVE_BITS_OF_ONE, "16-bit images have no value above 4095: --range 0,4095 shows what is in them, and train "     \
                        "keeps it in the model"

/* Checks images that are not trained on, and that every mask has its image's size. Removes images that cannot be read,
 * whose mask has another size, or whose features need more memory than is available; a note names each. An error if
 * none remains. `path` names the set in messages. The result does not depend on the number of threads. */
enum clv_status usable_images_keep(struct clv_set *set, const char *path, const struct clv_recipe *recipe,
                                   int n_threads, const struct clv_image_limits *limits,
                                   const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Network maps in options (struct clv_map_options), datasets and recipes. */

/* Adds the maps in the options' folders to the set's items. */
enum clv_status map_options_add(struct clv_set *set, const struct clv_map_options *self,
                                struct clv_error *err) CLV_CHECK;

/* Whether maps or options about maps are given. If not, the functions below need not be called. */
static inline bool map_options_matter(const struct clv_map_options *self, const struct clv_recipe *recipe,
                                      const struct clv_set *set)
{
    return set->n_maps || self->n || self->kinds.n || self->components.n || self->uses.n ||
           recipe->blocks & CLV_BLOCK_MAPS;
}

/* Puts the set's maps and the options about them into a recipe, and learns the settings of the maps. Notes report the
 * kind of maps if it was guessed from their values, and channels with different meanings in groups of images.
 * `is_wanted`: --blocks does not exclude the block maps, which is then turned on if the set has maps. CLV_ERR_USAGE:
 * the block without maps, or options about maps that do not exist. */
enum clv_status map_options_learn(struct clv_recipe *recipe, const struct clv_map_options *self, bool is_wanted,
                                  const struct clv_set *set, int n_threads, const struct clv_image_limits *limits,
                                  const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Checks before long work that each map of a recipe has a folder or a column of the inputs, and that no folder is given
 * for other maps. CLV_ERR_USAGE if not. `path` is that of the model. */
enum clv_status map_options_check(const struct clv_map_options *self, const struct clv_recipe *recipe,
                                  const char (*columns)[CLV_MAX_MAP_NAME + 1], size_t n_columns, const char *path,
                                  struct clv_error *err) CLV_CHECK;

/* Help texts of --include-drafts, --void and --maps. */
#define DRAFTS_HELP "Also use masks that `cleave label' has not accepted yet (default: they are skipped)"
#define VOID_HELP   "Treat these labels as void: not learned from, not counted"
#define MAPS_HELP                                                                                                      \
    "Use the maps of a neural network: FOLDER has a file for each image\n"                                             \
    "It is .npy, PNG or safetensors, and named as the image. Again for more maps (default: the manifest's columns "    \
    "maps.NAME)"

#endif
