/* Reads datasets for commands, with notes on how they were read and which files were skipped; checks that masks exist;
 * and collects bad images to report them together by kind of fault (bad_images_report). Start at training_set_read. */
#include "intake/intake.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cleave/train.h"
#include "data/data.h"
#include "feature/dataset/dataset.h"
#include "image/image.h"
#include "masks/masks.h"

bool is_tensor_file(const char *path)
{
    /* An 8-byte little-endian header length, far below 2^40, and the header's opening brace. */
    unsigned char head[9];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, head, sizeof head);
    close(fd);
    return (n == (ssize_t)sizeof head && !head[5] && !head[6] && !head[7] && head[8] == '{') ||
           features_is_sharded(path);
}

/* Fails for two folders given as data: the message names the set that contains them, or the command that makes a set
 * from them. */
static enum clv_status fail_two_folders(const char *option, const char *images, const char *masks,
                                        struct clv_error *err)
{
    size_t n = strlen(images), m = strlen(masks);
    n -= n && images[n - 1] == '/';
    m -= m && masks[m - 1] == '/';
    bool is_set = n >= 6 && m + 1 == n && strncmp(images + n - 6, "images", 6) == 0 &&
                  strncmp(masks + m - 5, "masks", 5) == 0 && strncmp(images, masks, n - 6) == 0 &&
                  (n == 6 || images[n - 7] == '/');
    FAIL_IF(is_set, CLV_ERR_USAGE, "--%s: a set is one folder: `cleave train %.*s'", option, n > 6 ? (int)(n - 6) : 1,
            n > 6 ? images : ".");
    OWNED(text_release) struct text text = {0};
    text_init(&text, 1 << 16);
    mask_command_put(&text, masks, images, images, "");
    NEED(!text.failed);
    return fail(err, CLV_ERR_USAGE, "--%s: a set is one folder; this makes one of images and their masks: %s", option,
                text.bytes);
}

enum clv_status feature_paths_check(const struct path_list *paths, const char *option, struct clv_error *err)
{
    char **path = paths->paths;
    if (paths->n == 2 && strcmp(option, "data") == 0 && path_is_folder(path[0]) && path_is_folder(path[1]))
        return fail_two_folders(option, path[0], path[1], err);
    for (size_t i = 0; i < paths->n && paths->n > 1; i++) {
        enum path_kind kind;
        MUST(path_find_kind(&kind, paths->paths[i], err));
        FAIL_IF(kind == PATH_ABSENT, CLV_ERR_NO_INPUT, "%s: is not there", paths->paths[i]);
        FAIL_IF(!is_tensor_file(paths->paths[i]), CLV_ERR_USAGE,
                "--%s: several of them must be feature files, which %s is not", option, paths->paths[i]);
    }
    return CLV_OK;
}

void training_set_note_reading(const struct clv_set *set, const char *path, const struct clv_progress *progress)
{
    struct stack_note stacks = {0};
    for (size_t i = 0; i < set->n_items; i++)
        stack_note_add(&stacks, set->items[i].image);
    stack_note_report(&stacks, progress);
    if (set->manifest && path_is_folder(path))
        report_message(progress, CLV_NOTE, "%s: read by its manifest.tsv", path);
}

void training_set_note_skipped(const struct clv_set *set, const char *path, const struct clv_progress *progress)
{
    report_count(progress, NULL, set->n_own, OWN_IMAGES, set->first_own);
    report_count(progress, path, set->n_skipped, NO_IMAGES, set->first_skipped);
    report_count(progress, path, set->n_unreadable, UNREADABLE_FOLDERS, set->first_unreadable);
    report_count(progress, path, set->n_links, LINKED_FOLDERS, set->first_link);
}

/* Keeps the items of the splits. */
static enum clv_status select_splits(struct clv_set *set, const char *path, const char *splits, bool prefer_train,
                                     struct clv_error *err)
{
    MUST(prefer_train ? set_select_training(set, splits, err) : clv_set_select(set, splits, err));
    FAIL_IF(!set->n_items, CLV_ERR_DATA, "%s: no images in it", path);
    return CLV_OK;
}

enum clv_status training_set_read(struct clv_set *set, const char *path, const char *splits, bool prefer_train,
                                  const struct set_check *check, const struct clv_progress *progress,
                                  struct clv_error *err)
{
    OWNED(clv_set_release) struct clv_set result = {0};
    MUST(clv_set_read(&result, path, err));
    if (check->verify)
        MUST(check->verify(check->context, &result, path, err));
    training_set_note_reading(&result, path, progress);
    report_count(progress, path, result.n_lone_masks, LONE_MASKS, result.first_lone_mask);
    training_set_note_skipped(&result, path, progress);
    size_t n = result.n_items;
    MUST(select_splits(&result, path, splits, prefer_train, err));
    if (!splits && result.n_items < n)
        report_message(progress, CLV_NOTE,
                       "%s: taking the split \"train\" (%zu of %zu images); --split chooses another", path,
                       result.n_items, n);
    *set = TAKE(result);
    return CLV_OK;
}

enum clv_status training_set_read_more(struct clv_set *set, const char *path, const char *splits, struct clv_error *err)
{
    OWNED(clv_set_release) struct clv_set result = {0};
    MUST(clv_set_read(&result, path, err));
    MUST(select_splits(&result, path, splits, false, err));
    *set = TAKE(result);
    return CLV_OK;
}

void training_set_drop_drafts(struct clv_set *set, const char *path, const char *hint,
                              const struct clv_progress *progress)
{
    size_t n = set_drop_drafts(set), first = 0;
    while (n && !set->items[first].is_draft)
        first++;
    if (n)
        report_message(progress, CLV_NOTE,
                       "%s: skipped %s that `cleave label' has not accepted, the first is that of %s%s", path,
                       n_of(n, "draft", "drafts").text, set->items[first].name, hint);
}

enum clv_status training_set_hide(struct clv_set *set, const char *names, struct clv_error *err)
{
    enum clv_status status = names ? labels_hide(&set->labels, names, err) : CLV_OK;
    return status == CLV_OK ? status : fail_about(err, status, "--void");
}

/* Finds a mask of several TIFF pages that belongs to no image, and the *length of its path; NULL if none exists. */
static const char *find_paged(size_t *length, const struct clv_set *set)
{
    const char *paged = set->first_lone_mask;
    uint32_t page;
    for (size_t i = 0; i < set->n_items && !paged; i++)
        paged = strstr(set->items[i].name, "_mask.tif") ? set->items[i].name : NULL;
    return paged && path_page(length, &page, paged) ? paged : NULL;
}

/* If a folder has masks whose names or folders do not match those of the photos, appends the command that makes a set
 * from it and sets *is_put. */
static enum clv_status put_pairing(struct text *text, bool *is_put, const struct clv_set *set, const char *path,
                                   struct clv_error *err)
{
    OWNED(path_list_release) struct path_list files = {0}, images = {0}, masks = {0}, photos = {0};
    *is_put = false;
    if (set->manifest || !path_is_folder(path))
        return CLV_OK;
    MUST(folder_walk(&files, path, err));
    for (size_t i = 0; i < files.n; i++) {
        OWNED_ARRAY char *file = path_join(path, files.paths[i]);
        NEED(file);
        if (path_is_image(file))
            MUST(path_list_add(&images, files.paths[i], err));
    }
    if (images.n)
        MUST(masks_part(&masks, &photos, path, &images, NULL, err));
    if (!masks.n)
        return CLV_OK;
    text_printf(text, "; %s seems to be the mask of an image, this makes a set of such pairs: ", masks.paths[0]);
    mask_command_put(text, path, NULL, path, "");
    *is_put = true;
    return CLV_OK;
}

/* If the path is the folder images/ of a set that also has masks/, appends a sentence that names the set and sets
 * *is_put. */
static enum clv_status put_parent(struct text *text, bool *is_put, const char *path, struct clv_error *err)
{
    OWNED_ARRAY char *images = string_copy(path);
    NEED(images);
    for (size_t length = strlen(images); length > 1 && images[length - 1] == '/'; length--)
        images[length - 1] = 0;
    OWNED_ARRAY char *parent = path_folder(images);
    NEED(parent);
    OWNED_ARRAY char *masks = path_join(parent, "masks");
    NEED(masks);
    *is_put = strcmp(path_name(images), "images") == 0 && path_is_folder(masks);
    if (*is_put)
        text_printf(text, "; the set is %s, which has images/ and masks/", parent);
    return CLV_OK;
}

enum clv_status fail_unmasked(const struct clv_set *set, const char *path, const char *purpose, const char *otherwise,
                              struct clv_error *err)
{
    OWNED(text_release) struct text text = {0};
    size_t length = 0;
    bool is_put = false;
    const char *paged = find_paged(&length, set);
    text_init(&text, 1 << 14);
    if (paged)
        text_printf(&text, ": %.*s has several pages, and the mask of an image has one", (int)length, paged);
    else
        MUST(put_pairing(&text, &is_put, set, path, err));
    if (!paged && !is_put)
        MUST(put_parent(&text, &is_put, path, err));
    if (!paged && !is_put)
        text_put(&text, otherwise);
    NEED(!text.failed);
    fail(err, CLV_ERR_DATA, "%s: none of the %zu images has a mask%s", path, set->n_items, purpose);
    return fail_adding(err, CLV_ERR_DATA, err, "%s", text.bytes ? text.bytes : "");
}

enum clv_status training_set_require_masks(struct clv_set *set, const char *path, const struct clv_progress *progress,
                                           struct clv_error *err)
{
    size_t kept = 0, n = set->n_items;
    const char *first = NULL;
    size_t n_without = 0; /* drafts have been reported already */
    for (size_t i = 0; i < n; i++) {
        const struct clv_item *item = &set->items[i];
        kept += item->mask != NULL;
        n_without += !item->mask && !item->is_draft;
        first = first || item->mask || item->is_draft ? first : item->name;
    }
    if (kept && n_without)
        report_message(progress, CLV_NOTE, "%s: %zu of %zu images have no mask and were skipped, the first is %s", path,
                       n_without, n, first);
    if (!kept)
        return fail_unmasked(set, path, " to learn from",
                             ": masks/NAME.png goes with images/NAME.jpg, or NAME_mask.png with NAME.jpg next to it; "
                             "`cleave label' makes masks, and --boxes FILE trains on boxes",
                             err);
    set_keep_masked(set);
    return CLV_OK;
}

bool training_set_is_deep(const struct clv_set *set, const struct clv_image_limits *limits)
{
    bool is_deep = false;
    for (size_t i = 0; i < set->n_items && !is_deep && limits->grey16_high <= 0; i++)
        is_deep = item_is_deep(&set->items[i], limits);
    return is_deep;
}

void bad_images_release(struct bad_images *self)
{
    for (size_t i = 0; i < self->n; i++)
        array_free(self->images[i].message);
    array_free(self->images);
    *self = (struct bad_images){0};
}

enum clv_status bad_images_add(struct bad_images *self, size_t item, enum clv_status status,
                               const struct clv_error *why, struct clv_error *err)
{
    if (status != CLV_ERR_DATA && status != CLV_ERR_NO_INPUT && status != CLV_ERR_MEMORY)
        return fail_as(err, status, why);
    NEED(!array_reserve((void **)&self->images, &self->capacity, self->n + 1, sizeof *self->images));
    char *message = string_copy(why->message);
    NEED(message);
    if (!self->n)
        self->status = status;
    self->images[self->n++] = (struct bad_image){message, why->path_length, why->kind, why->fault, item};
    return CLV_OK;
}

/* Whether both have the same kind of fault. */
static bool have_same_fault(const struct bad_image *a, const struct bad_image *b)
{
    return a->kind && a->kind == b->kind;
}

#define MOST_NAMED 8 /* images with the same kind of fault; of more, only the first is named */

static size_t count_masks(const struct clv_set *set)
{
    size_t n = 0;
    for (size_t i = 0; i < set->n_items; i++)
        n += set->items[i].mask != NULL;
    return n;
}

/* Writes the message of one image, the number of others with the same kind of fault, which are cleared in is_left, and
 * the advice. Names the others if they are few among many images. A few masks of wrong size get separate messages,
 * since each has its own advice. */
static enum clv_status put_fault(struct text *text, bool *is_left, const struct bad_images *self, size_t first,
                                 const struct clv_set *set, const struct clv_train_options *options,
                                 struct clv_error *err)
{
    const struct bad_image *image = &self->images[first];
    OWNED(text_release) struct text names = {0};
    size_t n = 0;
    for (size_t i = first + 1; i < self->n; i++)
        n += is_left[i] && have_same_fault(image, &self->images[i]);
    bool are_few = n && n < MOST_NAMED && 2 * (n + 1) < count_masks(set);
    if (are_few && image->fault == CLV_FAULT_MASK_SIZE)
        n = 0;
    text_init(&names, 1 << 16);
    for (size_t i = first + 1; i < self->n && n; i++) {
        const struct bad_image *other = &self->images[i];
        if (!is_left[i] || !have_same_fault(image, other))
            continue;
        is_left[i] = false;
        if (are_few)
            text_printf(&names, "%s%.*s", names.size ? ", " : ": ", (int)other->path_length, other->message);
    }
    text_init(text, 1 << 16);
    text_put(text, image->message);
    if (n)
        text_printf(text, " (and %zu more%s)", n, names.size ? names.bytes : "");
    text->failed |= names.failed;
    if (self->n == 1)
        text_put(text, " (--skip-bad goes on without it)");
    mask_advice_put(text, image->fault, set, options->data, image->item, &options->limits);
    NEED(!text->failed);
    return CLV_OK;
}

/* Reports one complaint per kind of fault; if there is only one bad image, fails with its message. */
static enum clv_status report_faults(const struct bad_images *self, const struct clv_set *set,
                                     const struct clv_train_options *options, struct clv_error *err)
{
    OWNED_ARRAY bool *is_left = array_alloc(self->n, sizeof *is_left);
    NEED(is_left);
    memset(is_left, true, self->n);
    for (size_t i = 0; i < self->n; i++) {
        OWNED(text_release) struct text text = {0};
        if (!is_left[i])
            continue;
        MUST(put_fault(&text, is_left, self, i, set, options, err));
        if (self->n == 1)
            return fail_told(err, self->status, text.bytes, self->images->path_length, self->images->kind);
        report_message(options->progress, CLV_COMPLAINT, "%s", text.bytes);
    }
    return CLV_OK;
}

enum clv_status bad_images_report(const struct bad_images *self, const struct clv_set *set, size_t n_images,
                                  const struct clv_train_options *options, struct clv_error *err)
{
    const struct clv_progress *progress = options->progress;
    const char *path = options->data;
    bool skip = options->skip_bad;
    if (!self->n)
        return CLV_OK;
    for (size_t i = 0; i < self->n && skip; i++)
        report_message(progress, CLV_NOTE, "skipped: %s", self->images[i].message);
    if (skip && self->n < n_images) {
        report_message(progress, CLV_NOTE, "%s: %zu of %zu images were skipped as bad", path, self->n, n_images);
        return CLV_OK;
    }
    FAIL_IF(skip, self->status, "%s: none of the %zu images can be used", path, n_images);
    MUST(report_faults(self, set, options, err));
    return fail(err, self->status, "%s: %zu of %zu images cannot be learned from; --skip-bad goes on without them",
                path, self->n, n_images);
}
