/* Which images of a set teach, and how: by a mask, by boxes, or by being there. */
#ifndef CLI_SUPERVISION_H
#define CLI_SUPERVISION_H

#include "cleave/features.h"
#include "cli/common/bad_images.h"
#include "cli/common/options.h"

/* What the command line says. Every name is a path or a comma-separated list of splits; NULL where not given. */
struct supervision_options {
    const char *split; /* whose masks are read; by default train if there is one, else all, but for weak splits */
    const char *only;  /* a file of image names, one a line: no other masks are read */
    const char *boxes; /* a file or folder of boxes; else the manifest's column */
    bool drafts;       /* masks that are not accepted are read, as are those of `only` */
    const char *voids; /* labels that are void, as clv_labels_hide takes them */
    const char
        *weak_split; /* whose other images give their boxes; with `boxes` by default all that are left of the masks' */
    const char *unlabelled_split; /* whose other images give nothing */
};

/* The images to be learned from: first those with masks, then those with boxes, then those with neither. Items of the
 * last two have no mask, whatever the manifest says, and each image is there once. */
struct supervision {
    struct clv_set set;
    struct clv_item_boxes *boxes; /* [set.n_items], or NULL: none has boxes */
    size_t n_masks, n_boxed, n_unlabelled;
    struct bad_images bad; /* images left out, whose boxes do not fit them */
};
void supervision_release(struct supervision *self);

/* Reads the set at `path`, and image sizes where boxes are to be placed. Images that cannot play their part are left
 * out, which notes count (no mask, no box); a name in `only` that the splits do not have, or whose image has no mask,
 * is an error, and so are nothing to learn from, and a file of the set that is one of the command's outputs. */
enum clv_status supervision_read(struct supervision *self, const char *path, const struct supervision_options *options,
                                 const struct common_options *common, struct clv_error *err) CLV_CHECK;

#endif
