#include "task/usable_images.h"

#include "base/array.h"
#include "base/error.h"
#include "base/team_for.h"
#include "cleave/image.h"
#include "feature/recipe/memory_estimate.h"
#include "task/bad_images.h"

/* Images are looked at in batches, so that messages take little memory. */
#define BATCH 256

struct check {
    const struct clv_set *set;
    const struct clv_recipe *recipe;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
    size_t first;             /* image of the batch */
    struct clv_error *errors; /* [BATCH] of images that are bad; their status is CLV_OK else */
    size_t n_done;
};

static enum clv_status look_at_image(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct check *check = context;
    const struct clv_item *item = &check->set->items[check->first + index];
    struct clv_error *error = &check->errors[index];
    struct clv_image image = {0};
    struct clv_mask mask = {0};
    if (stop_requested(check->progress))
        return fail(err, CLV_ERR_INTERRUPTED, "interrupted");
    *error = (struct clv_error){0};
    enum clv_status status = clv_image_read(&image, item->image, check->limits, error);
    if (status == CLV_OK && item->mask)
        status = clv_mask_read(&mask, item->mask, &check->set->labels, image.width, image.height, check->limits, error);
    if (status == CLV_OK)
        status =
            memory_check_extraction(check->recipe, check->set, item, image.width, image.height, check->limits, error);
    error->status = status;
    clv_mask_release(&mask);
    clv_image_release(&image);
    parallel_progress(check->progress, "looking at images", &check->n_done, check->set->n_items, item->name);
    return CLV_OK;
}

static bool error_slot(struct team_piece *piece, void *context, size_t index, size_t k)
{
    struct check *check = context;
    *piece = (struct team_piece){&check->errors[index], sizeof *check->errors};
    return k == 0;
}

enum clv_status usable_images_keep(struct clv_set *set, const char *path, const struct clv_recipe *recipe,
                                   int n_threads, const struct clv_image_limits *limits,
                                   const struct clv_progress *progress, struct clv_error *err)
{
    size_t n = set->n_items, kept = 0;
    struct check check = {.set = set, .recipe = recipe, .limits = limits, .progress = progress};
    struct bad_images bad = {0};
    bool *is_bad = array_zalloc(n, sizeof *is_bad);
    check.errors = array_alloc(BATCH, sizeof *check.errors);
    enum clv_status status = is_bad && check.errors ? CLV_OK : fail_memory(err);
    for (; check.first < n && status == CLV_OK; check.first += BATCH) {
        size_t n_batch = n - check.first < BATCH ? n - check.first : BATCH;
        status = team_for(n_batch, n_threads, look_at_image, error_slot, &check, err);
        for (size_t i = 0; i < n_batch && status == CLV_OK; i++) {
            struct clv_error *why = &check.errors[i];
            is_bad[check.first + i] = why->status != CLV_OK;
            if (why->status != CLV_OK)
                status = bad_images_add(&bad, why->status, why);
            if (status != CLV_OK && err)
                *err = *why;
        }
    }
    if (status == CLV_OK)
        status = bad_images_report(&bad, true, n, path, progress, err);
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        if (is_bad[i])
            clv_item_release(&set->items[i]);
        else
            set->items[kept++] = set->items[i];
    set->n_items = status == CLV_OK ? kept : n;
    bad_images_release(&bad);
    array_free(check.errors);
    array_free(is_bad);
    return status;
}
