/* Scores sequences: the mean of J over frames, as DAVIS defines it (Perazzi et al. 2016), and flicker, the share of
 * pixels whose label changes along the optical flow. Start at score_sequences. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cli/score/score_set.h"
#include "sequence/sequence.h"

#define MAX_MISS 1.0F /* pixels: forward-backward error of the flow above which a pixel is not counted */

struct sequences {
    struct set_score *score;
    const struct score_task *task;
    const struct clv_set *set;
};

/* A frame with its labels at the working size: of the prediction and of the truth. */
struct labelled_frame {
    struct frame frame;
    uint8_t *labels[2]; /* [height][width] */
};

static void labelled_frame_release(struct labelled_frame *self)
{
    frame_release(&self->frame);
    arrays_free(self->labels[0], self->labels[1]);
    *self = (struct labelled_frame){.labels = {NULL}};
}

static enum clv_status labelled_frame_read(struct labelled_frame *self, const struct sequences *all, size_t input,
                                           struct clv_error *err)
{
    const struct score_task *task = all->task;
    const struct input *item = &task->inputs->items[input];
    OWNED_ARRAY char *path = score_prediction_path(task, input);
    OWNED(clv_image_release) struct clv_image image = {.pixels = NULL};
    NEED(path);
    const struct clv_item masks[2] = {{.mask = path}, {.mask = item->mask, .is_derived = item->is_derived}};
    const struct clv_labels *labels[2] = {task->predicted ? task->predicted : task->labels, task->labels};
    MUST(clv_image_read(&image, item->image, task->limits, err));
    MUST(frame_init(&self->frame, &image, err));
    int32_t width = self->frame.image.width, height = self->frame.image.height;
    const struct mask_wanted wanted = {image.width, image.height, task->limits};
    for (int k = 0; k < 2; k++) {
        OWNED(clv_mask_release) struct clv_mask mask = {.labels = NULL};
        self->labels[k] = array_alloc((size_t)width, (size_t)height);
        NEED(self->labels[k]);
        MUST(item_mask_read(&mask, &masks[k], labels[k], &wanted, err));
        clv_labels_resize(self->labels[k], width, height, mask.labels, image.width, image.height);
    }
    return CLV_OK;
}

/* Counts the pixels that the flow maps to the previous frame (*moved), and those whose label differs there (changed, in
 * the prediction and in the truth). */
static enum clv_status count_changes(size_t changed[2], size_t *moved, const struct labelled_frame *now,
                                     const struct labelled_frame *before, struct clv_error *err)
{
    int32_t width = now->frame.image.width, height = now->frame.image.height;
    if (before->frame.image.width != width || before->frame.image.height != height)
        return CLV_OK;
    size_t n = (size_t)width * (size_t)height;
    OWNED_ARRAY float *back = array_alloc(4 * n, sizeof *back);
    float *forth = back + 2 * n;
    NEED(back);
    MUST(motion_estimate(back, &now->frame.pyramid, &before->frame.pyramid, err));
    MUST(motion_estimate(forth, &before->frame.pyramid, &now->frame.pyramid, err));
    for (size_t i = 0; i < n; i++) {
        float x = (float)(i % (size_t)width) + back[2 * i], y = (float)(i / (size_t)width) + back[2 * i + 1], off[2];
        if (x < 0 || y < 0 || x > (float)(width - 1) || y > (float)(height - 1))
            continue;
        plane_sample(off, forth, 2, width, height, x, y);
        off[0] += back[2 * i];
        off[1] += back[2 * i + 1];
        if (off[0] * off[0] + off[1] * off[1] > MAX_MISS * MAX_MISS)
            continue;
        size_t from = (size_t)int32_within((double)(y + 0.5F), 0, height - 1) * (size_t)width +
                      (size_t)int32_within((double)(x + 0.5F), 0, width - 1);
        ++*moved;
        for (int k = 0; k < 2; k++)
            changed[k] += now->labels[k][i] != before->labels[k][from];
    }
    return CLV_OK;
}

/* Counts the changes between consecutive frames of one sequence. */
static enum clv_status count_sequence(size_t changed[2], size_t *moved, const struct sequences *self, const char *name,
                                      struct clv_error *err)
{
    OWNED(labelled_frame_release) struct labelled_frame before = {.labels = {NULL}};
    OWNED(labelled_frame_release) struct labelled_frame now = {.labels = {NULL}};
    for (size_t i = 0; i < self->set->n_items; i++) {
        if (!self->set->items[i].sequence || strcmp(self->set->items[i].sequence, name) != 0)
            continue;
        FAIL_IF(stop_requested(self->task->progress), CLV_ERR_INTERRUPTED, "interrupted");
        MUST(labelled_frame_read(&now, self, i, err));
        if (before.labels[0])
            MUST(count_changes(changed, moved, &now, &before, err));
        labelled_frame_release(&before);
        before = TAKE(now);
    }
    return CLV_OK;
}

static enum clv_status score_one(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    const struct sequences *self = context;
    struct scored_sequence *sequence = &self->score->sequences[index];
    size_t changed[2] = {0, 0}, moved = 0;
    const bool is_counted = self->task && !self->task->band_px;
    enum clv_status status = is_counted ? count_sequence(changed, &moved, self, sequence->name, err) : CLV_OK;
    if (status == CLV_ERR_NO_INPUT) { /* without images only flicker is missing */
        status = CLV_OK;
        moved = 0;
    }
    sequence->flicker = moved ? (double)changed[0] / (double)moved : NAN;
    sequence->truth_flicker = moved ? (double)changed[1] / (double)moved : NAN;
    return status;
}

/* Lists the sequences of the set, and computes their means of J over frames in which pixels count. */
static enum clv_status list_sequences(struct set_score *score, const struct clv_set *set, struct clv_error *err)
{
    OWNED_ARRAY size_t *n_counted = array_zalloc(set->n_items, sizeof *n_counted);
    score->sequences = array_zalloc(set->n_items, sizeof *score->sequences);
    NEED(n_counted && score->sequences);
    for (size_t i = 0; i < set->n_items; i++) {
        const char *name = set->items[i].sequence;
        const double j = score->images[i].pixel.mean_iou;
        size_t k = 0;
        while (name && k < score->n_sequences && strcmp(score->sequences[k].name, name) != 0)
            k++;
        if (!name)
            continue;
        score->n_sequences += k == score->n_sequences;
        score->sequences[k].name = name;
        score->sequences[k].n_frames++;
        if (!isnan(j)) {
            score->sequences[k].mean_j += j;
            n_counted[k]++;
        }
    }
    for (size_t k = 0; k < score->n_sequences; k++)
        score->sequences[k].mean_j = n_counted[k] ? score->sequences[k].mean_j / (double)n_counted[k] : NAN;
    return CLV_OK;
}

enum clv_status score_sequences(struct set_score *score, const struct score_task *task, const struct clv_set *set,
                                int n_threads, struct clv_error *err)
{
    struct sequences self = {score, task, set};
    size_t n_counted = 0;
    MUST(list_sequences(score, set, err));
    for (size_t k = 0; k < score->n_sequences; k++)
        n_counted += !isnan(score->sequences[k].mean_j);
    score->mean_j = n_counted ? 0 : NAN;
    for (size_t k = 0; k < score->n_sequences; k++)
        if (!isnan(score->sequences[k].mean_j))
            score->mean_j += score->sequences[k].mean_j / (double)n_counted;
    return parallel_for(score->n_sequences, n_threads, score_one, &self, err);
}
