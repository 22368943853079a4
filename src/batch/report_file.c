/* The report: a description of the run, and the pictures and the score of each input. The thread that has an image
 * encodes its pictures into the report's spool; deliver.c adds the entries in input order. Start at report_begin. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "batch/raster_files.h"
#include "cleave/score.h"
#include "model/model.h"
#include "refine/by_model/by_model.h"
#include "segment/segment.h"

static void describe_refining(char *words, size_t size, const struct batch *run)
{
    const struct clv_files_options *options = &run->options;
    struct clv_refine_options usual;
    clv_refine_defaults(&usual);
    const bool is_usual = options->refine == CLV_REFINE_LARGE && options->decode != CLV_DECODING_MIN_LOSS;
    snprintf(words, size, "no");
    if (!run->model)
        return;
    if (options->refine == CLV_REFINE_ALL || (is_usual && label_refines(CLV_REFINE_LARGE, run->model, 1, 1)))
        point_snprintf(words, size, "at the pixels, coupling %g", usual.coupling);
    else if (is_usual)
        point_snprintf(words, size, "at the pixels, images of more than %d pixels, coupling %g",
                       run->model->recipe.working_pixels, usual.coupling);
}

enum clv_status report_begin(struct batch *run, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    const char *folder = run->to.report;
    if (!folder)
        return CLV_OK;
    OWNED_ARRAY char *page = path_join(folder, "index.html");
    NEED(page);
    if (options->existing == CLV_EXISTING_RESUME && path_exists(page))
        report_message(&run->progress, CLV_NOTE, "%s: is written again, with the %s of this run", page,
                       n_of(run->inputs.n, "image", "images").text);
    const char *learner = run->model ? clv_record_get(&run->model->record, "learner") : NULL;
    char refined[96], words[PROBABILITIES_WORDS] = "";
    const char *rows[5][2];
    size_t n = 0;
    describe_refining(refined, sizeof refined, run);
    if (batch_is_probable(run))
        probabilities_describe(words, run);
    if (run->model) {
        rows[n][0] = "Model", rows[n++][1] = batch_model_name(run);
        rows[n][0] = "Learner", rows[n++][1] = learner ? learner : "unknown";
    } else {
        rows[n][0] = run->labeller->source, rows[n++][1] = options->boxes        ? options->boxes
                                                           : options->from_masks ? options->from_masks
                                                                                 : options->data;
        rows[n][0] = "Method", rows[n++][1] = run->labeller->method;
    }
    if (batch_is_probable(run)) {
        rows[n][0] = "Label", rows[n++][1] = run->labels.names[run->label];
        rows[n][0] = "Probabilities", rows[n++][1] = words;
    } else {
        rows[n][0] = "Refined", rows[n++][1] = run->model ? refined : run->labeller->refined;
    }
    rows[n][0] = "Version", rows[n++][1] = clv_version();
    return clv_report_begin(&run->report, folder, batch_is_probable(run) ? PROBABILITIES_TITLE : REPORT_TITLE,
                            &run->labels, (const char *const(*)[2])rows, n, err);
}

enum clv_status report_end(struct batch *run, enum clv_status status, struct clv_error *err)
{
    struct clv_report *report = TAKE(run->report);
    if (!report)
        return status;
    if (status != CLV_OK && status != CLV_ERR_INTERRUPTED) {
        clv_report_abandon(report);
        return status;
    }
    struct clv_error error;
    const enum clv_status finished = clv_report_finish(report, &error);
    if (finished == CLV_OK || status != CLV_OK)
        return status;
    return fail_as(err, finished, &error);
}

/* Reads the ground truth of an item, if it has one. A note reports a truth that cannot be read, which only the report
 * needs. */
static enum clv_status read_truth(struct clv_mask *truth, const struct labelled *item, const struct batch *run,
                                  struct clv_error *err)
{
    if (!item->input->mask || !run->labeller->has_truth)
        return CLV_OK;
    struct clv_error why = {0};
    const enum clv_status status =
        input_read_mask(truth, item->input, &run->labels, item->width, item->height, &run->options.limits, &why);
    if (status == CLV_OK || status == CLV_ERR_MEMORY)
        return status == CLV_OK ? CLV_OK : fail_as(err, status, &why);
    report_message(&run->progress, CLV_NOTE, "%s (so the report has no truth for it)", why.message);
    return CLV_OK;
}

static enum clv_status score(struct clv_report_item *shown, const struct labelled *item, const struct batch *run,
                             struct clv_error *err)
{
    struct clv_confusion confusion;
    MUST(clv_confusion_init(&confusion, run->labels.n_labels, err));
    clv_confusion_add(&confusion, shown->truth, item->labels, (size_t)item->width * (size_t)item->height);
    const struct clv_image_score score = clv_confusion_score(&confusion);
    clv_confusion_release(&confusion);
    shown->weighted_hamming = score.weighted_hamming;
    shown->mean_iou = score.mean_iou;
    return CLV_OK;
}

enum clv_status report_picture(struct outcome *outcome, struct labelled *item, struct batch *run, struct clv_error *err)
{
    OWNED(clv_mask_release) struct clv_mask truth = {0};
    char note[256];
    if (item->raster)
        MUST(raster_report_make(item, run, err));
    else
        MUST(read_truth(&truth, item, run, err));
    if (run->boxes)
        MUST(box_inputs_draw(&item->image, item->input, run->boxes, err));
    struct clv_report_item shown = {.name = item->input->name,
                                    .image = &item->image,
                                    .labels = item->labels,
                                    .truth = truth.labels,
                                    .weighted_hamming = NAN,
                                    .mean_iou = NAN,
                                    .width = item->width,
                                    .height = item->height};
    if (batch_is_probable(run)) {
        double share, entropy;
        if (item->raster)
            probability_sums_means(&share, &entropy, &item->raster->sums);
        else
            probability_means(&share, &entropy, item->labels, (size_t)item->width * (size_t)item->height);
        point_snprintf(note, sizeof note, "%.1f %% expected, mean entropy %.3f bits", 100 * share, entropy);
        shown.probability = item->labels;
        shown.labels = shown.truth = NULL;
        shown.note = note;
    }
    if (run->options.objects) {
        snprintf(note, sizeof note, "%s", n_of((size_t)item->objects.n_objects, "object", "objects").text);
        shown.note = note;
        shown.objects = item->rows;
        shown.n_objects = item->objects.n_objects;
    }
    if (shown.truth)
        MUST(score(&shown, item, run, err));
    NEED(outcome->entry = array_zalloc(1, sizeof *outcome->entry));
    return report_spool(outcome->entry, run->report, &shown, err);
}
