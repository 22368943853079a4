/* Takes the outcomes of inputs in the order in which threads and processes finish, and settles them in input order:
 * counts them, tells the caller, puts them into the report, and warns if the first images are unlike the training
 * images. An early outcome is parked and no thread waits, so that chains of frames can run backwards. Start at
 * deliver. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "cluster/comm.h"
#include "intake/intake.h"
#include "masks/masks.h"
#include "model/model.h"

/* With fewer training images, the variation between images cannot be estimated. */
#define MIN_LEARNED 8

/* Up to this number of images, their sizes are read before the run, for the estimate of the time left. */
#define MAX_SIZED 20000

static void find_pixels(struct batch *run)
{
    const size_t n = run->inputs.n;
    if (n < 2 || n > MAX_SIZED || !(run->pixels = array_zalloc(n, sizeof *run->pixels)))
        return;
    for (size_t i = 0; i < n; i++) {
        const struct input *input = &run->inputs.items[i];
        const struct target *target = &run->targets.items[i];
        int32_t width, height;
        struct clv_error ignored;
        bool is_known = input->image && !input->bytes && !target->is_finished && !target->problem &&
                        clv_image_read_size(&width, &height, input->image, &run->options.limits, &ignored) == CLV_OK;
        run->pixels[i] = is_known ? (double)width * height : 0;
        run->n_pixels += run->pixels[i];
    }
    if (!(run->n_pixels > 0)) {
        array_free(run->pixels);
        run->pixels = NULL;
    }
}

enum clv_status deliver_begin(struct batch *run, struct clv_error *err)
{
    NEED(run->parked = array_zalloc(run->inputs.n, sizeof *run->parked));
    if (run->model && run->model->recipe.n_maps) {
        NEED(run->drift = array_zalloc(1, sizeof *run->drift));
        MUST(map_drift_init(run->drift, &run->model->recipe, err));
    }
    find_pixels(run);
    return CLV_OK;
}

void deliver_end(struct batch *run)
{
    for (size_t i = 0; run->parked && i < run->inputs.n; i++)
        outcome_free(run->parked[i]);
    if (run->drift)
        map_drift_release(run->drift);
    arrays_free(run->parked, run->drift, run->pixels);
    progress_weigh(&run->progress, 0, 0);
}

/* Notes maps or bands whose means differ from those of the training images. */
static void watch_maps(struct batch *run, const float *means)
{
    const struct clv_recipe *recipe = &run->model->recipe;
    double deviations = 0;
    int32_t m = map_drift_add(&deviations, run->drift, means, recipe);
    const char *n_learned = clv_record_get(&run->model->record, "images");
    bool is_bands =
        m >= 0 && strcmp(recipe->maps[m].name, BANDS_MAP) == 0; /* their deviations are over parts of images, so that
                                                                 * few images suffice */
    if (m >= 0 && (is_bands || !(n_learned && strtod(n_learned, NULL) < MIN_LEARNED)))
        report_message(&run->progress, CLV_NOTE,
                       "%s%s: those of the first %s are not like those of the training images: means of %s are "
                       "%.1f of their deviations off. %s",
                       is_bands ? "" : "maps ", recipe->maps[m].name, n_of(run->drift->n, "image", "images").text,
                       is_bands ? "bands" : "channels", deviations,
                       is_bands ? "Of another sensor, unit or season? What was learned may not hold here"
                                : "Made by another network, or in another way? What was learned from maps may not hold "
                                  "here");
}

/* Warns of features that no training image had. Checks the mean share after 1, 2, 4, 8 and so on images, with a
 * threshold that falls with their number. Models of 8 and of 147 photos of horses reach at most two thirds of the
 * threshold on 60 other photos, and exceed it on nuclei by the eighth image. */
static void watch_features(struct batch *run, double unmet)
{
    size_t n = ++run->n_watched;
    run->unmet += unmet;
    double share = run->unmet / (double)n, learned = 0;
    const char *recorded = clv_record_get(&run->model->record, RECORD_UNSEEN);
    if (recorded && !parse_double(recorded, &learned))
        learned = 0;
    if (run->is_unmet_reported || n & (n - 1) || share <= 0.004 + 0.02 / (double)n + 1.5 * learned)
        return;
    run->is_unmet_reported = true;
    report_message(&run->progress, CLV_WARNING,
                   "%.1f %% of the features of the first %s were in no training image; use a model of similar images",
                   100 * share, n_of(n, "image", "images").text);
}

static void count_boxes(struct batch *run, const struct box_findings *found)
{
    if (found->n_empty && !run->n_boxes_empty)
        memcpy(run->first_empty, found->first_empty, sizeof found->first_empty);
    run->n_boxes += found->n;
    run->n_boxes_empty += found->n_empty;
}

static void report_outcome(struct batch *run, size_t index, const struct outcome *outcome)
{
    const struct clv_file_outcome report = {.name = run->inputs.items[index].name,
                                            .mask = outcome->status == CLV_OK ? run->targets.items[index].mask : NULL,
                                            .message = outcome->status != CLV_OK ? outcome->error.message
                                                                                 : outcome->found.first_empty,
                                            .status = outcome->status,
                                            .is_earlier = outcome->is_earlier,
                                            .n_objects = outcome->n_objects,
                                            .share = outcome->summary.share,
                                            .entropy = outcome->summary.entropy,
                                            .bound = outcome->summary.bound,
                                            .standard_error = outcome->summary.standard_error,
                                            .kind = outcome->summary.kind};
    status_put(run, &report);
    if (run->options.settled)
        run->options.settled(run->options.context, &report);
}

static enum clv_status settle_done(struct batch *run, struct outcome *outcome, struct clv_error *err)
{
    struct clv_files_result *result = run->result;
    if (outcome->map_means && run->drift)
        watch_maps(run, outcome->map_means);
    if (outcome->unmet >= 0 && run->model)
        watch_features(run, outcome->unmet);
    result->n_done += !outcome->is_earlier;
    result->n_earlier += outcome->is_earlier;
    result->n_objects += (size_t)outcome->n_objects;
    count_boxes(run, &outcome->found);
    run->n_empty += outcome->is_labelled && outcome->is_empty && !batch_is_probable(run);
    return run->report && outcome->entry ? report_put(run->report, outcome->entry, err) : CLV_OK;
}

/* Whether an input's failure ends the run: a failure to write does, and any failure with fail_fast. */
static bool ends_run(const struct batch *run, const struct outcome *outcome)
{
    const enum clv_status status = outcome->status;
    return ((status == CLV_ERR_CREATE || status == CLV_ERR_IO) && !outcome->is_reported) ||
           (status != CLV_OK && run->options.fail_fast);
}

/* Adds advice to the first failure of each kind of fault of a mask. Reads the set again, because it can have a million
 * images and is not kept. */
static enum clv_status add_advice(struct batch *run, struct clv_error *error, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    const char *path = options->data ? options->data : options->n_images ? NULL : options->from_masks;
    const bool has_masks_elsewhere = options->from_masks && path != options->from_masks;
    OWNED(clv_set_release) struct clv_set set = {0};
    struct clv_error why;
    if (error->fault == CLV_FAULT_OTHER || run->advised & 1U << error->fault)
        return CLV_OK;
    run->advised |= 1U << error->fault;
    if (path && clv_set_read(&set, path, &why) != CLV_OK)
        return CLV_OK;
    if (!path && options->n_images == 1 && path_is_folder(options->images[0]))
        NEED(set.root = string_copy(options->images[0]));
    if (!set.root)
        return CLV_OK;
    return fail_mask(&set, path, has_masks_elsewhere ? options->from_masks : NULL, &options->limits, error) ==
                   CLV_ERR_MEMORY
               ? fail_memory(err)
               : CLV_OK;
}

/* Settles a failed input. Returns its failure if that ends the run, or if it is the only input. */
static enum clv_status settle_failed(struct batch *run, size_t index, struct outcome *outcome, struct clv_error *err)
{
    const enum clv_status failure = outcome->status;
    struct clv_files_result *result = run->result;
    result->n_failed++;
    if (result->first_failure == CLV_OK)
        result->first_failure = failure;
    MUST(add_advice(run, &outcome->error, err));
    if (ends_run(run, outcome))
        return fail_as(err, failure, &outcome->error);
    if (run->inputs.n > 1 && !outcome->is_reported)
        report_message(&run->progress, CLV_COMPLAINT, "%s", outcome->error.message);
    if (run->report)
        MUST(clv_report_add_failure(run->report, run->inputs.items[index].name, outcome->error.message, err));
    if (run->inputs.n > 1 || outcome->is_reported)
        return CLV_OK;
    return fail_as(err, failure, &outcome->error);
}

static void end_run(struct batch *run, enum clv_status status, const struct clv_error *error)
{
    if (run->status != CLV_OK)
        return;
    run->status = status;
    run->error = *error;
}

static void settle(struct batch *run, size_t index, struct outcome *outcome)
{
    struct clv_error error;
    if (outcome->status == CLV_ERR_INTERRUPTED)
        return;
    report_outcome(run, index, outcome);
    const enum clv_status status =
        outcome->status == CLV_OK ? settle_done(run, outcome, &error) : settle_failed(run, index, outcome, &error);
    if (status != CLV_OK)
        end_run(run, status, &error);
}

static void settle_next(struct batch *run)
{
    struct outcome *outcome = TAKE(run->parked[run->next]);
    settle(run, run->next++, outcome);
    outcome_free(outcome);
}

static void show_progress(struct batch *run, size_t index, bool is_earlier)
{
    char failed[48];
    if (run->pixels) {
        run->pixels_done += run->pixels[index];
        progress_weigh(&run->progress, run->pixels_done, run->n_pixels);
    }
    snprintf(failed, sizeof failed, "%zu failed", run->result->n_failed);
    if (!is_earlier || run->n_delivered == run->inputs.n) /* inputs of an earlier run took no time, and would falsify
                                                           * the time left */
        report_progress(&run->progress, batch_is_probable(run) ? "drawing" : "segmenting", run->n_delivered,
                        run->inputs.n, run->result->n_failed ? failed : NULL);
}

enum clv_status deliver(struct batch *run, size_t index, struct outcome **taken, struct clv_error *err)
{
    const struct outcome *outcome = *taken;
    if (comm_rank())
        return outcome->status == CLV_ERR_INTERRUPTED ? CLV_OK : outcome_send(run, index, outcome, err);
    const enum clv_status outcome_status = outcome->status;
    const bool is_earlier = outcome->is_earlier;
    /* The caller then takes no further inputs, although an earlier input's failure may be the one that is returned. */
    const bool is_last = outcome_status == CLV_ERR_INTERRUPTED || ends_run(run, outcome);
    if (is_last)
        (void)fail_as(err, outcome_status, &outcome->error);
    pthread_mutex_lock(&run->lock);
    run->parked[index] = TAKE(*taken);
    while (run->next < run->inputs.n && run->parked[run->next])
        settle_next(run);
    run->n_delivered++;
    if (outcome_status != CLV_ERR_INTERRUPTED)
        show_progress(run, index, is_earlier);
    const enum clv_status status = run->status;
    if (status != CLV_OK)
        (void)fail_as(err, status, &run->error);
    pthread_mutex_unlock(&run->lock);
    return status != CLV_OK ? status : is_last ? outcome_status : CLV_OK;
}

enum clv_status deliver_rest(struct batch *run, struct clv_error *err)
{
    for (; run->parked && run->next < run->inputs.n; run->next++) {
        struct outcome *outcome = TAKE(run->parked[run->next]);
        if (outcome)
            settle(run, run->next, outcome);
        outcome_free(outcome);
    }
    return run->status == CLV_OK ? CLV_OK : fail_as(err, run->status, &run->error);
}

/* Warns if nothing was found in boxes, or in any image, since such a run looks like a success. */
void deliver_note(const struct batch *run)
{
    const struct clv_files_result *result = run->result;
    if (run->boxes && run->n_boxes_empty)
        report_message(&run->progress, CLV_WARNING, "nothing was found in %zu of %zu boxes%s%s", run->n_boxes_empty,
                       run->n_boxes, run->n_boxes_empty == 1 ? ": " : ", the first is ", run->first_empty);
    if (run->boxes || !run->n_empty || run->n_empty < result->n_done)
        return;
    report_message(&run->progress, CLV_WARNING, "%s: label 0 (%s) is everywhere, nothing was found%s",
                   run->n_empty == 1 ? "the mask is empty" : "all masks are empty",
                   run->labels.n_labels ? run->labels.names[0] : "background",
                   run->model ? "; is the model of images of another kind?" : "");
}
