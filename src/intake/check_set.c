/* Reads all images and masks of a set before long work starts, in batches that are shared among processes. Reports all
 * bad images together, and collects properties of the masks. Start at check_set. */
#include "intake/intake.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cleave/image.h"
#include "cleave/train.h"
#include "cluster/comm_for.h"
#include "data/data.h"
#include "feature/recipe/recipe.h"
#include "masks/masks.h"

/* The result for one image. */
struct finding {
    struct clv_error error;       /* fault of the image; status CLV_OK: none. Its `kind` is not used */
    int64_t kind;                 /* kind of the error, as a number that is valid in all processes */
    char note[160];               /* of the mask, or "" */
    struct clv_pixel_box box;     /* bounding box of pixels that are neither background nor void */
    bool has_label[256];          /* in the mask */
    bool is_12_bit;               /* image_is_12_bit */
    struct foreground foreground; /* of the mask */
};

/* Images per batch; bounds the memory of findings. */
#define BATCH 256

struct check {
    struct supervision *supervision;
    const struct clv_recipe *recipe;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
    size_t first; /* index of the batch's first image */
    struct finding *findings;
    size_t n_done, n_12_bit;
};

static struct clv_pixel_box find_box(const struct clv_mask *mask)
{
    struct clv_pixel_box box = {mask->width, mask->height, 0, 0};
    for (int32_t y = 0; y < mask->height; y++)
        for (int32_t x = 0; x < mask->width; x++) {
            uint8_t label = mask->labels[(size_t)y * (size_t)mask->width + (size_t)x];
            if (label == 0 || label == CLV_VOID)
                continue;
            box.first_x = x < box.first_x ? x : box.first_x;
            box.first_y = y < box.first_y ? y : box.first_y;
            box.end_x = x >= box.end_x ? x + 1 : box.end_x;
            box.end_y = y + 1;
        }
    return box;
}

static enum clv_status read_mask(struct finding *finding, struct check *check, size_t index,
                                 const struct clv_image *image, struct clv_error *err)
{
    struct supervision *supervision = check->supervision;
    const struct clv_item *item = &supervision->set.items[index];
    OWNED(clv_mask_release) struct clv_mask mask = {0};
    const struct mask_wanted wanted = {image->width, image->height, check->limits};
    MUST(item_mask_read(&mask, item, &supervision->set.labels, &wanted, err));
    if (supervision->n_boxed)
        finding->box = find_box(&mask);
    for (size_t p = 0; p < (size_t)mask.width * (size_t)mask.height; p++)
        finding->has_label[mask.labels[p]] = true;
    snprintf(finding->note, sizeof finding->note, "%s", mask.note ? mask.note : "");
    finding->foreground = foreground_of_item(&mask, item, check->limits);
    return CLV_OK;
}

/* Fills the finding. If the image is too large for memory, sets *is_too_large and *err, but returns CLV_OK. */
static enum clv_status read_files(struct finding *finding, bool *is_too_large, struct check *check, size_t index,
                                  struct clv_error *err)
{
    const struct clv_set *set = &check->supervision->set;
    const struct clv_item *item = &set->items[index];
    OWNED(clv_image_release) struct clv_image image = {0};
    MUST(item_image_read(&image, item, check->limits, err));
    if (item->mask)
        MUST(read_mask(finding, check, index, &image, err));
    finding->is_12_bit = item_is_12_bit(item, &image, check->limits) &&
                         !item_is_deep(item, check->limits); /* bands_learn finds ranges */
    *is_too_large =
        memory_check_extraction(check->recipe, set, item, image.width, image.height, check->limits, err) != CLV_OK;
    return CLV_OK;
}

static enum clv_status read_image(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct check *check = context;
    struct finding *finding = &check->findings[index];
    const struct clv_set *set = &check->supervision->set;
    size_t item = check->first + index;
    bool is_too_large = false;
    FAIL_IF(stop_requested(check->progress), CLV_ERR_INTERRUPTED, "interrupted");
    *finding = (struct finding){0};
    enum clv_status status = read_files(finding, &is_too_large, check, item, &finding->error);
    finding->kind = error_kind_number(finding->error.kind);
    parallel_progress(check->progress, "looking at images", &check->n_done, set->n_items, set->items[item].name);
    if (is_too_large || status == CLV_OK || status == CLV_ERR_DATA || status == CLV_ERR_NO_INPUT)
        return CLV_OK;
    if (err)
        *err = finding->error;
    return status;
}

static bool finding_slot(struct comm_piece *piece, void *context, size_t index, size_t k)
{
    struct check *check = context;
    *piece = (struct comm_piece){&check->findings[index], sizeof *check->findings};
    return k == 0;
}

/* Gives an image with a mask the bounding box of its foreground, because other images have boxes. */
static enum clv_status take_box(struct supervision *self, size_t item, const struct finding *finding,
                                struct clv_error *err)
{
    struct item_boxes *found = &self->boxes[item];
    found->boxes = array_copy(&finding->box, 1, sizeof finding->box);
    found->n_boxes = finding->box.end_y > 0;
    NEED(found->boxes);
    return CLV_OK;
}

/* Summary of all masks. */
struct summary {
    size_t n_masks, n_noted, n_empty;
    const char *first_empty;
    char note[160];
    bool has_label[256];
    struct foregrounds foregrounds;
};

static void add_to_summary(struct summary *summary, const struct finding *finding, const struct clv_item *item)
{
    bool is_empty = finding->has_label[0];
    for (int v = 1; v < CLV_VOID; v++)
        is_empty &= !finding->has_label[v];
    for (int v = 0; v <= CLV_VOID; v++)
        summary->has_label[v] |= finding->has_label[v];
    if (is_empty && !summary->n_empty++)
        summary->first_empty = item->mask;
    if (finding->note[0] && !summary->n_noted++)
        memcpy(summary->note, finding->note, sizeof summary->note);
}

/* Fails, with advice, for masks of 0 and 255 if labels.tsv names labels 0 and 1: 255 was read as void. */
static enum clv_status check_order(const struct supervision *self, size_t n_masks, const char *name,
                                   const struct clv_train_options *options, struct clv_error *err)
{
    OWNED(text_release) struct text text = {0};
    text_init(&text, 1 << 16);
    mask_advice_put_order(&text, &self->set, options->data, &options->limits);
    NEED(!text.failed);
    FAIL_IF(text.size, CLV_ERR_DATA,
            "%s: the %zu masks have nothing but \"%s\" and void, and labels.tsv names more labels%s", options->data,
            n_masks, name, text.bytes);
    return CLV_OK;
}

static enum clv_status report(const struct summary *summary, const struct supervision *self,
                              const struct clv_train_options *options, struct clv_error *err)
{
    const struct clv_labels *labels = &self->set.labels;
    int n_labels = 0, only = 0;
    for (int v = 0; v < CLV_VOID; v++)
        if (summary->has_label[v]) {
            n_labels++;
            only = v;
        }
    if (summary->n_noted)
        report_message(options->progress, CLV_NOTE, "%zu of %zu masks: %s", summary->n_noted, summary->n_masks,
                       summary->note);
    const char *name = only < labels->n_labels ? labels->names[only] : "";
    bool may_be_guessed = self->n_boxed || summary->has_label[CLV_VOID]; /* from boxes or strokes */
    FAIL_IF(n_labels == 1 && !may_be_guessed, CLV_ERR_DATA,
            "%s: the %zu masks have one label alone, \"%s\", from which nothing is learned", options->data,
            summary->n_masks, name);
    if (n_labels == 1)
        MUST(check_order(self, summary->n_masks, name, options, err));
    if (n_labels == 1)
        report_message(options->progress, CLV_WARNING,
                       "the %zu masks have one label alone, \"%s\", from which nothing is learned", summary->n_masks,
                       name);
    else if (summary->n_empty)
        report_message(options->progress, CLV_WARNING, "%zu of %zu masks have nothing but \"%s\", the first is %s",
                       summary->n_empty, summary->n_masks, labels->names[0], summary->first_empty);
    return CLV_OK;
}

/* Adds the finding of image `index` of the set to the summary, or to the bad images. */
static enum clv_status take_finding(bool *is_bad, struct summary *summary, struct check *check, size_t index,
                                    struct clv_error *err)
{
    struct supervision *self = check->supervision;
    const struct finding *finding = &check->findings[index - check->first];
    const struct clv_item *item = &self->set.items[index];
    struct clv_error why = finding->error;
    why.kind = error_kind(finding->kind);
    check->n_12_bit += finding->is_12_bit;
    if (summary)
        summary->n_masks += item->mask != NULL;
    if (why.status == CLV_OK && summary && item->mask)
        why.status = foregrounds_agree(&summary->foregrounds, &finding->foreground, item->mask, &why);
    *is_bad = why.status != CLV_OK;
    if (*is_bad) {
        MUST(bad_images_add(&self->bad, index, why.status, &why, err));
        return CLV_OK;
    }
    if (self->n_boxed && index < self->n_masks)
        MUST(take_box(self, index, finding, err));
    if (summary && item->mask)
        add_to_summary(summary, finding, item);
    return CLV_OK;
}

/* Reads all images, and sets is_bad[n_items]. */
static enum clv_status read_images(bool *is_bad, struct summary *summary, struct check *check, int n_threads,
                                   struct clv_error *err)
{
    size_t n = check->supervision->set.n_items;
    for (check->first = 0; check->first < n; check->first += BATCH) {
        size_t n_batch = n - check->first < BATCH ? n - check->first : BATCH;
        MUST(comm_for(n_batch, n_threads, read_image, finding_slot, check, err));
        for (size_t i = check->first; i < check->first + n_batch; i++)
            MUST(take_finding(&is_bad[i], summary, check, i, err));
    }
    return CLV_OK;
}

static void drop_bad(struct supervision *self, const bool *is_bad)
{
    size_t kept = 0, n = self->set.n_items, n_masks = self->n_masks, n_boxed = self->n_boxed;
    for (size_t i = 0; i < n; i++) {
        if (!is_bad[i]) {
            if (self->boxes)
                self->boxes[kept] = self->boxes[i];
            self->set.items[kept++] = self->set.items[i];
            continue;
        }
        item_release(&self->set.items[i]);
        if (self->boxes)
            array_free(self->boxes[i].boxes);
        self->n_masks -= i < n_masks;
        self->n_boxed -= i >= n_masks && i < n_masks + n_boxed;
        self->n_unlabelled -= i >= n_masks + n_boxed;
    }
    self->set.n_items = kept;
}

/* Reads all images and reports the bad ones, including those found before. */
static enum clv_status find_bad(bool *is_bad, struct summary *summary, struct check *check,
                                const struct clv_train_options *options, struct clv_error *err)
{
    struct supervision *self = check->supervision;
    size_t n_images = self->set.n_items + self->bad.n;
    MUST(read_images(is_bad, summary, check, options->n_threads, err));
    return bad_images_report(&self->bad, &self->set, n_images, options, err);
}

/* Checks all images and removes the bad ones. summary NULL: masks need not agree with each other. */
static enum clv_status check_images(struct supervision *self, struct summary *summary, const struct clv_recipe *recipe,
                                    const struct clv_train_options *options, struct clv_error *err)
{
    OWNED_ARRAY bool *is_bad = array_zalloc(self->set.n_items, sizeof *is_bad);
    OWNED_ARRAY struct finding *findings = array_alloc(BATCH, sizeof *findings);
    struct check check = {.supervision = self,
                          .recipe = recipe,
                          .limits = &options->limits,
                          .progress = options->progress,
                          .findings = findings};
    NEED(is_bad && findings);
    enum clv_status status = find_bad(is_bad, summary, &check, options, err);
    report_count(options->progress, options->data, check.n_12_bit, TWELVE_BITS, NULL); /* also if images are bad */
    if (status)
        return status;
    if (summary)
        MUST(report(summary, self, options, err));
    drop_bad(self, is_bad);
    return CLV_OK;
}

enum clv_status check_set(struct supervision *self, const struct clv_recipe *recipe,
                          const struct clv_train_options *options, struct clv_error *err)
{
    struct summary summary = {0};
    MUST(check_images(self, &summary, recipe, options, err));
    FAIL_IF(!self->n_masks && !self->n_boxed, CLV_ERR_DATA, "%s: no image with a mask or boxes is left to learn from",
            options->data);
    return CLV_OK;
}

/* Releases a supervision whose set is a view. */
static void view_release(struct supervision *self)
{
    bad_images_release(&self->bad);
}

enum clv_status usable_images_keep(struct clv_set *set, const char *path, const struct clv_recipe *recipe,
                                   int n_threads, const struct clv_image_limits *limits,
                                   const struct clv_progress *progress, struct clv_error *err)
{
    const struct clv_train_options options = {
        .data = path, .skip_bad = true, .n_threads = n_threads, .limits = *limits, .progress = progress};
    OWNED(view_release) struct supervision all = {.set = *set, .n_masks = set->n_items};
    MUST(check_images(&all, NULL, recipe, &options, err));
    *set = all.set;
    return CLV_OK;
}
