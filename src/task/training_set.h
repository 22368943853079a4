/* Sets as training takes them in. */
#ifndef TASK_TRAINING_SET_H
#define TASK_TRAINING_SET_H

#include <stdbool.h>

#include "base/path.h"
#include "cleave/segment.h"

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
    "image that is a mask, or in a folder's own strokes/, overlays/, cutouts/ or objects/, was left out",              \
        "images that are masks, or in a folder's own strokes/, overlays/, cutouts/ or objects/, were left out"
#define NO_IMAGES          "file is no image and was skipped", "files are no images and were skipped"
#define NO_BOXES           "annotation is no box and was skipped", "annotations are no boxes and were skipped"
#define LONE_MASKS         "mask has no image of its name", "masks have no image of their name"
#define UNREADABLE_FOLDERS "folder may not be read and was left out", "folders may not be read and were left out"
#define LINKED_FOLDERS     "link to a folder was followed", "links to folders were followed"

/* Notes what reading a folder left out and followed. */
void training_set_note_skipped(const struct clv_set *set, const char *path, const struct clv_progress *progress);

/* Whether a folder's manifest says what is in it. */
void training_set_note_manifest(const struct clv_set *set, const char *path, const struct clv_progress *progress);

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
    } * images; /* [n] */
    size_t n, capacity;
    enum clv_status status; /* of the first */
};
void bad_images_release(struct bad_images *self);

/* Takes a failure in if it is one image's own (what it holds, that it cannot be read or is too large): CLV_OK then,
 * else `status`. */
enum clv_status bad_images_add(struct bad_images *self, enum clv_status status, struct clv_error *err) CLV_CHECK;

/* Names all of them as notes with options->skip_bad; else fails, with a complaint for each kind of fault. `n_images` is how
 * many there were, of the set at options->data. */
enum clv_status bad_images_report(const struct bad_images *self, const struct clv_set *set, size_t n_images,
                                  const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

#endif
