/* Sets as training takes them in. */
#ifndef TASK_TRAINING_SET_H
#define TASK_TRAINING_SET_H

#include <stdbool.h>

#include "base/path.h"
#include "cleave/features.h"

/* Whether a file is a safetensors file, or an index of shards (told by content), rather than a manifest. */
bool is_tensor_file(const char *path);

/* Whether all of several paths that an option names are such files: CLV_ERR_USAGE names one that is not. */
enum clv_status feature_paths_check(const struct path_list *paths, const char *option, struct clv_error *err) CLV_CHECK;

/* Reads a set and keeps the splits asked for. With splits NULL and prefer_train, a set that has a split "train" is cut
 * down to it, which a note tells. The whole set is looked at first. */
struct set_check {
    enum clv_status (*look)(void *context, const struct clv_set *set, const char *path, struct clv_error *err);
    void *context;
};
enum clv_status training_set_read(struct clv_set *set, const char *path, const char *splits, bool prefer_train,
                                  const struct set_check *check, const struct clv_progress *progress,
                                  struct clv_error *err) CLV_CHECK;

#define OWN_NOTE                                                                                                       \
    "images in a folder's own masks/, strokes/, overlays/, cutouts/ or objects/ were left out: %zu, the first is %s"

/* Whether a folder's manifest says what is in it. */
void training_set_note_manifest(const struct clv_set *set, const char *path, const struct clv_progress *progress);

/* Takes drafts of masks away, which a note counts; `hint` ends it. */
void training_set_drop_drafts(struct clv_set *set, const char *path, const char *hint,
                              const struct clv_progress *progress);
#define DRAFTS_HELP "Masks that `cleave label' has not accepted yet count, too (default: they are left out)"
#define DRAFTS_HINT "; --drafts takes them"

/* The same set once more, for other splits (NULL: all): what the first reading told is not told again. */
enum clv_status training_set_read_more(struct clv_set *set, const char *path, const char *splits,
                                       struct clv_error *err) CLV_CHECK;

/* --void: makes void of the labels so named; NULL: of none. Errors name the option. */
#define VOID_HELP "Labels that are void, too: their pixels neither teach nor count"
enum clv_status training_set_hide(struct clv_set *set, const char *names, struct clv_error *err) CLV_CHECK;

/* Leaves out the items without a mask, which a note counts; none left is an error. */
enum clv_status training_set_require_masks(struct clv_set *set, const char *path, const struct clv_progress *progress,
                                           struct clv_error *err) CLV_CHECK;

/* image paths[n_items], views into the set; array_free it. NULL when out of memory. */
const char **training_set_images(const struct clv_set *set);

#endif
