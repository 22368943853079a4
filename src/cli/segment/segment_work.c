/* Works on an image: reads it, labels it, writes its outputs, the mask last (process), and reports it in input order
 * (work_report). Start at work_do. */
#include "cli/segment/segment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "cleave/score.h"
#include "cli/common/common.h"
#include "feature/example/example.h"
#include "feature/recipe/recipe.h"
#include "image/raster/raster.h"
#include "intake/intake.h"
#include "model/model.h"
#include "model/object_tensors.h"
#include "refine/by_model/by_model.h"
#include "report/report.h"
#include "segment/segment.h"
#include "train/train.h"

#define OBJECTS_BYTES         24  /* a pixel whose objects are looked at */
#define LEARNED_OBJECTS_BYTES 300 /* where a model has learned to find them */
#define SMALL_PIXELS          1000000

/* With fewer training images, the variation between images cannot be estimated. */
#define FEWEST_LEARNED 8

/* One at a time and in input order: a note on maps that are not like those that the model was learned from. */
static void input_maps_watch(struct job *job, const struct work *work)
{
    const struct clv_recipe *recipe = &job->run->model->recipe;
    double deviations = 0;
    int32_t m = map_drift_add(&deviations, &job->maps, work->map_means, recipe);
    const char *n_learned = clv_record_get(&job->run->model->record, "images");
    bool is_bands =
        m >= 0 && strcmp(recipe->maps[m].name, BANDS_MAP) == 0; /* of few images their parts were looked at */
    if (m >= 0 && (is_bands || !(n_learned && strtod(n_learned, NULL) < FEWEST_LEARNED)))
        console_note("%s%s: those of the first %zu image%s are not like those of the training images: means of %s are "
                     "%.1f of their deviations off. %s",
                     is_bands ? "" : "maps ", recipe->maps[m].name, job->maps.n, job->maps.n == 1 ? "" : "s",
                     is_bands ? "bands" : "channels", deviations,
                     is_bands ? "Of another sensor, unit or season? What was learned may not hold here"
                              : "Made by another network, or in another way? What was learned from maps may not hold "
                                "here");
}

/* Notes features that no training image had, after 1, 2, 4, .. images, because few images say little.
 * Models of 8 and of 147 photos of horses reach at most two thirds of the threshold on 60 others, and pass it on nuclei
 * by the eighth image. */
static void features_watch(struct job *job, const struct work *work)
{
    size_t n = ++job->n_watched;
    job->unmet += work->unmet;
    double share = job->unmet / (double)n, own = 0;
    const char *said = clv_record_get(&job->run->model->record, RECORD_UNSEEN);
    if (said && !parse_double(said, &own))
        own = 0;
    if (job->is_unmet_reported || n & (n - 1) || share <= 0.004 + 0.02 / (double)n + 1.5 * own)
        return;
    job->is_unmet_reported = true;
    console_warning("%.1f %% of the features of the first %zu image%s were in no training image: is the model of "
                    "images of another kind?",
                    100 * share, n, n == 1 ? "" : "s");
}

void work_release(struct work *work)
{
    clv_image_release(&work->image);
    clv_mask_release(&work->truth);
    contours_release(&work->contours);
    if (work->objects.objects)
        clv_object_map_release(&work->objects);
    clv_object_map_release(&work->boxed);
    arrays_free(work->object_rows, work->band_means, work->band_deviations, work->map_means, work->labels);
    marginals_map_release(&work->map);
}

/* Labels the example's nodes and paints them at the original size. */
static enum clv_status label_pixels(struct work *work, const struct job *job, const struct clv_example *example,
                                    struct clv_oracle *oracle, struct clv_error *err)
{
    const struct segment *options = job->run->options;
    work->width = example->width;
    work->height = example->height;
    work->labels = array_alloc((size_t)work->width, (size_t)work->height);
    NEED(work->labels);
    if (!options->features)
        work->unmet = label_unmet_share(job->run->model, &example->problem);
    if (options->marginals)
        return marginals_paint(work->labels, &work->marginals, job->run, example, oracle, err);
    const struct clv_segment_options how = {
        .refine = segment_refines(job->run, work->width, work->height) ? CLV_REFINE_ALL : CLV_REFINE_NONE,
        .n_samples = options->decoding == DECODING_MIN_LOSS ? options->n_samples : 0,
        .seed = options->seed,
        .oracle = oracle};
    return label_example(work->labels, job->run->model, &work->image, example, work->maps, &how, err);
}

static enum clv_status cut_boxes(struct work *work, const struct job *job, struct clv_error *err)
{
    const struct segment_run *run = job->run;
    MUST(input_read_image(&work->image, work->input, &run->options->common.limits, err));
    work->width = work->image.width;
    work->height = work->image.height;
    work->labels = array_alloc((size_t)work->width, (size_t)work->height);
    return work->labels ? box_inputs_cut(work->labels, work->input, run->boxes, run->box_values, &work->image, err)
                        : fail_memory(err);
}

/* Labels an image, or an item of a feature file; the caller closes work->maps. */
static enum clv_status label_input(struct work *work, const struct job *job, size_t index, struct clv_oracle **oracle,
                                   struct clv_error *err)
{
    const struct segment_run *run = job->run;
    OWNED(clv_example_release) struct clv_example example = {0};
    if (run->dataset) {
        MUST(dataset_example(&example, run->dataset, run->first + index, err));
    } else {
        MUST(input_read_image(&work->image, work->input, &run->options->common.limits, err));
        if (run->model->recipe.n_maps)
            MUST(input_maps_read(work, run, err));
        MUST(example_extract(&example, &work->image, work->maps, &run->model->recipe, err));
    }
    if (!*oracle)
        MUST(clv_oracle_new(oracle, run->options->engine, err));
    return run->options->all_labels || run->options->margins
               ? marginals_map_make(&work->map, run, &example, *oracle, err)
               : label_pixels(work, job, &example, *oracle, err);
}

static enum clv_status compute(struct work *work, const struct job *job, size_t index, int thread,
                               struct clv_error *err)
{
    const struct segment_run *run = job->run;
    struct clv_oracle **oracle = &job->oracles[thread];
    if (run->boxes)
        return cut_boxes(work, job, err);
    if (job->slices)
        return slices_take(work, job, index, err);
    work->is_written = work->input->is_tiled;
    if (work->is_written && !*oracle)
        MUST(clv_oracle_new(oracle, run->options->engine, err));
    if (work->is_written)
        return raster_work(work, job, *oracle, err);
    const enum clv_status status = label_input(work, job, index, oracle, err);
    item_maps_close(work->maps, &run->model->recipe); /* of an image that failed, too */
    work->maps = NULL;
    return status;
}

static enum clv_status write_mask(const struct work *work, const struct job *job, struct clv_error *err)
{
    if (job->run->stack)
        return stack_file_put(job->run->stack, (size_t)(work->input - job->run->inputs->items), work->width,
                              work->height, work->labels, err);
    MUST(outputs_make_folder(work->output->mask, err));
    if ((work->map.values || work->map.margins) && job->run->model)
        return marginals_map_write(work->output->mask, &work->map, job->run->model->shape.n_labels, err);
    return mask_file_write(work->output->mask, work->input->image, work->width, work->height, work->labels,
                           (enum mask_form)job->run->options->mask_form, &job->run->model->labels, err);
}

/* A mask that is there is read back for the report, and for what is made of it. */
static enum clv_status read_finished(struct work *work, const struct job *job, struct clv_error *err)
{
    const struct clv_image_limits *limits = &job->run->options->common.limits;
    OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
    const char *const *beside = (const char *const *)work->output->beside;
    bool wants_image =
        job->run->options->report || job->run->options->objects || beside[OUTPUT_OVERLAY] || beside[OUTPUT_CUTOUT];
    if (wants_image)
        MUST(input_read_image(&work->image, work->input, limits, err));
    MUST(clv_indexed_image_read(&mask, work->output->mask, limits, err));
    FAIL_IF(wants_image && (mask.width != work->image.width || mask.height != work->image.height), CLV_ERR_DATA,
            "%s: mask is %dx%d, image is %dx%d", work->output->mask, mask.width, mask.height, work->image.width,
            work->image.height);
    work->width = mask.width;
    work->height = mask.height;
    if (!job->run->options->marginals)
        mask_file_from_binary(mask.values, (size_t)mask.width * (size_t)mask.height, &job->run->model->labels, &mask);
    work->labels = TAKE(mask.values);
    return CLV_OK;
}

/* Whether the mask that is there stays, and what is missing is made of it. */
static bool keeps_mask(const struct work *work, const struct job *job)
{
    return work->output->has_mask && !job->run->options->marginals && !job->run->stack && !job->slices &&
           !work->input->is_tiled;
}

/* Writes all outputs of one image, the mask last: if a mask exists, its image is complete. */
static enum clv_status write_outputs(struct work *work, const struct job *job, struct clv_error *err)
{
    const struct segment_run *run = job->run;
    const char *cutout = segment_is_piped(run->options) ? "-" : work->output->beside[OUTPUT_CUTOUT];
    if (work->output->beside[OUTPUT_OVERLAY])
        MUST(overlay_file_write(work->output->beside[OUTPUT_OVERLAY], &work->image, work->labels,
                                run->options->objects ? &work->objects : NULL, run, err));
    if (run->options->objects)
        MUST(object_files_write(work, err));
    if (run->options->cutout) {
        MUST(outputs_make_folder(cutout, err));
        MUST(cutout_write(cutout, &work->image, work->labels, run->is_cut, run->options->crop, err));
    }
    if (run->options->export.forms)
        MUST(exporting_write(run, work->input, work->output, &work->contours, work->labels,
                             run->options->objects ? &work->objects : &work->boxed, err));
    if (!keeps_mask(work, job) && !(run->options->cutout && segment_is_piped(run->options)))
        MUST(write_mask(work, job, err));
    return CLV_OK;
}

static enum clv_status find_boxed(struct work *work, const struct segment_run *run, struct clv_error *err)
{
    return work->boxed.objects
               ? CLV_OK
               : box_inputs_objects(&work->boxed, &work->found, work->input, run->boxes, run->box_values, work->labels,
                                    work->width, work->height, &work->image, err);
}

enum clv_status work_trace(struct work *work, const struct segment_run *run, struct clv_error *err)
{
    if (work->objects.objects)
        return object_files_trace(work, &work->objects, run, err);
    if (!run->boxes)
        return exporting_trace(&work->contours, run, work->labels, work->width, work->height, err);
    MUST(find_boxed(work, run, err));
    return object_files_trace(work, &work->boxed, run, err);
}

static enum clv_status process(struct work *work, const struct job *job, size_t index, int thread,
                               struct clv_error *err)
{
    const struct segment_run *run = job->run;
    const bool is_finished = work->output->finished, is_there = is_finished || keeps_mask(work, job);
    FAIL_IF(stop_requested(run->progress), CLV_ERR_INTERRUPTED, "interrupted");
    FAIL_IF(work->output->problem, CLV_ERR_CREATE, "%s", work->output->problem);
    if (is_there && (!is_finished || run->options->report || run->options->export.forms || run->options->objects))
        MUST(read_finished(work, job, err));
    else if (!is_there)
        MUST(compute(work, job, index, thread, err));
    const bool is_learned = run->options->objects && run->model && learned_objects_are_there(run->model);
    if (is_learned)
        MUST(object_files_find(work, run, err));
    if (!is_there && run->options->min_area && work->labels)
        MUST(contours_merge_specks(work->labels, work->width, work->height, run->options->min_area, err));
    if (!is_there && work->labels && !run->options->marginals && !job->slices && work->input->image)
        MUST(raster_void_missing(work->labels, work->width, work->height, work->input->image,
                                 &run->options->common.limits, err));
    if (run->boxes && work->labels)
        MUST(find_boxed(work, run, err));
    if (run->options->objects && !is_learned)
        MUST(object_files_find(work, run, err));
    if (run->options->export.forms)
        MUST(work_trace(work, run, err));
    return is_finished || work->is_written ? CLV_OK : write_outputs(work, job, err);
}

/* The truth is for the report only: without a readable one the item goes without. */
static enum clv_status read_truth(struct work *work, const struct job *job, struct clv_error *err)
{
    if (!work->input->mask)
        return CLV_OK;
    enum clv_status status = input_read_mask(&work->truth, work->input, &job->run->model->labels, work->width,
                                             work->height, &job->run->options->common.limits, err);
    if (status == CLV_OK || status == CLV_ERR_MEMORY)
        return status;
    console_note("%s (so the report has no truth for it)", err->message);
    return CLV_OK;
}

static enum clv_status score_against_truth(struct clv_image_score *score, const struct work *work,
                                           const struct job *job, struct clv_error *err)
{
    struct clv_confusion confusion;
    MUST(clv_confusion_init(&confusion, job->run->model->labels.n_labels, err));
    clv_confusion_add(&confusion, work->truth.labels, work->labels, (size_t)work->width * (size_t)work->height);
    *score = clv_confusion_score(&confusion);
    clv_confusion_release(&confusion);
    return CLV_OK;
}

static enum clv_status add_to_report(struct work *work, const struct job *job, struct clv_error *err)
{
    struct clv_report_item item = {
        .name = work->input->name,
        .image = &work->image,
        .labels = work->labels,
        .truth = work->truth.labels,
        .weighted_hamming = NAN,
        .mean_iou = NAN,
    };
    char note[80];
    if (job->run->options->marginals) {
        double share, entropy;
        probability_means(&share, &entropy, work->labels, (size_t)work->width * (size_t)work->height);
        snprintf(note, sizeof note, "%.1f %% expected, mean entropy %.3f bits", 100 * share, entropy);
        item.probability = work->labels;
        item.labels = item.truth = NULL;
        item.note = note;
    }
    if (job->run->options->objects) {
        snprintf(note, sizeof note, "%d object%s", work->objects.n_objects, work->objects.n_objects == 1 ? "" : "s");
        item.note = note;
        item.objects = work->object_rows;
        item.n_objects = work->objects.n_objects;
    }
    if (item.truth) {
        struct clv_image_score score;
        MUST(score_against_truth(&score, work, job, err));
        item.weighted_hamming = score.weighted_hamming;
        item.mean_iou = score.mean_iou;
    }
    return clv_report_add(job->run->report, &item, err);
}

static void put_status(const struct job *job, const struct work *work, enum clv_status status, const char *message)
{
    const char *word = status != CLV_OK ? "failed" : work->output->finished ? "finished before" : "done";
    if (job->run->status) {
        const char *fields[] = {work->input->name, word, status == CLV_OK ? work->output->mask : "", message};
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            console_put_field(job->run->status, fields[i]);
            putc(i + 1 < sizeof fields / sizeof *fields ? '\t' : '\n', job->run->status);
        }
    }
}

static void count_boxes(struct segment_counts *counts, const struct box_findings *found)
{
    if (found->n_empty && !counts->n_boxes_empty)
        memcpy(counts->first_empty, found->first_empty, sizeof found->first_empty);
    counts->n_boxes += found->n;
    counts->n_boxes_empty += found->n_empty;
}

/* Sizes of so many images are looked at before a run, for the time that it takes. */
#define MOST_SIZED 20000

static void find_pixels(struct job *job)
{
    const struct segment_run *run = job->run;
    size_t n = run->inputs->n;
    if (run->dataset || n < 2 || n > MOST_SIZED || !(job->pixels = array_zalloc(n, sizeof *job->pixels)))
        return;
    for (size_t i = 0; i < n; i++) {
        const struct input *input = &run->inputs->items[i];
        int32_t width, height;
        struct clv_error ignored;
        bool is_known =
            input->image && !input->bytes && !run->outputs->items[i].finished && !run->outputs->items[i].problem &&
            clv_image_read_size(&width, &height, input->image, &run->options->common.limits, &ignored) == CLV_OK;
        job->pixels[i] = is_known ? (double)width * height : 0;
        job->n_pixels += job->pixels[i];
    }
}

/* Alone and in input order. Returns a failure that ends the run. */
static enum clv_status report_done(struct job *job, struct work *work, size_t index, struct clv_error *err)
{
    struct segment_run *run = job->run;
    struct segment_counts *counts = job->counts;
    if (work->map_means)
        input_maps_watch(job, work);
    if (!work->output->finished && !work->is_written)
        features_watch(job, work);
    counts->n_done += !work->output->finished;
    counts->n_finished_before += work->output->finished;
    counts->n_objects += (size_t)work->objects.n_objects;
    count_boxes(counts, &work->found);
    counts->n_empty +=
        !work->output->finished && !run->options->marginals &&
        (work->is_written ? work->is_empty
                          : work->labels && labels_are_empty(work->labels, (size_t)work->width * (size_t)work->height));
    earlier_list(run, work);
    object_table_add(run, work);
    if (run->exporting)
        MUST(exporting_add(run->exporting, index, &work->contours, err));
    if (run->report)
        MUST(add_to_report(work, job, err));
    if (run->options->json && !work->output->finished)
        MUST(marginals_add_json(run, work->input->name, work->output->mask, &work->marginals, err));
    return CLV_OK;
}

/* Returns the failure if it is the command's, that of the only input. */
static enum clv_status report_failure(struct job *job, const struct work *work, enum clv_status failure, bool is_known,
                                      struct clv_error *err)
{
    struct segment_run *run = job->run;
    if (run->inputs->n > 1 && !is_known)
        console_error("%s", err->message);
    if (run->report)
        MUST(clv_report_add_failure(run->report, work->input->name, err->message, err));
    return run->inputs->n == 1 ? failure : CLV_OK;
}

enum clv_status work_report(struct job *job, struct work *work, size_t index, enum clv_status status,
                            struct clv_error *err)
{
    struct segment_run *run = job->run;
    struct segment_counts *counts = job->counts;
    const bool is_known = work->output->problem != NULL; /* and reported */
    put_status(job, work, status, status == CLV_OK ? work->found.first_empty : err->message);
    if (status != CLV_OK) {
        counts->n_failed++;
        if (counts->first_failure == CLV_OK)
            counts->first_failure = status;
        if (((status == CLV_ERR_CREATE || status == CLV_ERR_IO) && !is_known) || run->options->fail_fast)
            return status;
    }
    status = status == CLV_OK ? report_done(job, work, index, err) : report_failure(job, work, status, is_known, err);
    if (job->pixels) {
        job->pixels_done += job->pixels[index];
        console_weigh(job->pixels_done, job->n_pixels);
    }
    char failed[48];
    snprintf(failed, sizeof failed, "%zu failed", counts->n_failed);
    if (!work->output->finished || index + 1 == run->inputs->n) /* so that the time left is not of what took none */
        report_progress(run->progress, run->options->marginals ? "drawing" : "segmenting", index + 1, run->inputs->n,
                        counts->n_failed ? failed : NULL);
    return status;
}

/* Bytes that the input may take; 0 where there is nothing to do, or what there is will fail anyway. */
static double memory_needed(const struct job *job, size_t index)
{
    const struct segment_run *run = job->run;
    const struct input *input = &run->inputs->items[index];
    const struct output *output = &run->outputs->items[index];
    struct memory_work work = {.recipe = run->boxes ? NULL : &run->model->recipe,
                               .n_labels = run->model->shape.n_labels,
                               .has_net = !run->boxes && refining_has_net(run->model),
                               .has_overlay = output->beside[OUTPUT_OVERLAY] != NULL,
                               .has_report = run->options->report != NULL,
                               .has_cutout = run->options->cutout,
                               .has_export = run->options->export.forms != 0};
    int32_t width, height;
    struct clv_error ignored;
    struct stat file;
    if (run->dataset || output->problem ||
        (output->finished && !run->options->report && !run->options->export.forms && !run->options->objects) ||
        input->bytes ||
        clv_image_read_size(&width, &height, input->image, &run->options->common.limits, &ignored) != CLV_OK)
        return 0;
    work.is_refined = segment_refines(run, width, height);
    work.map_bytes = run->boxes || !run->model->recipe.n_maps ? 0 : input_maps_memory(input, run);
    bool has_map = run->options->all_labels || run->options->margins;
    double map = has_map ? marginals_map_bytes(run->options, run->model->shape.n_labels) : 0;
    double specks = run->options->min_area ? (double)SPECKS_BYTES * width * height : 0;
    double objects = 0;
    if (run->options->objects)
        objects = ((learned_objects_are_there(run->model) ? LEARNED_OBJECTS_BYTES : OBJECTS_BYTES) +
                   (int)sizeof(float) * run->model->recipe.bands.n_bands) *
                  (double)width * height;
    const double boxed = run->boxes ? (double)sizeof(int32_t) * width * height : 0; /* work->boxed */
    return map + specks + objects + boxed +
           memory_of_work(&work, width, height, stat(input->image, &file) == 0 ? (double)file.st_size : 0);
}

static bool is_fit_for_tiles(const char *image, const struct segment_run *run)
{
    struct clv_image_limits limits = run->options->common.limits;
    const struct clv_recipe *recipe = &run->model->recipe;
    limits.max_pixels = SMALL_PIXELS;
    return !run->boxes && recipe->scale > 0 && (recipe->bands.n_bands || !raster_is_deep(image, &limits)) &&
           raster_cut_is_needed(image, &limits);
}

/* Waits until as much memory is free as the input may take, which is work->bytes. */
static enum clv_status wait_for_memory(struct work *work, struct job *job, size_t index, size_t number,
                                       struct clv_error *err)
{
    double bytes = memory_needed(job, index);
    const enum clv_status status = memory_gate_enter(&job->gate, number, bytes, err);
    if (status == CLV_ERR_MEMORY && is_fit_for_tiles(work->input->image, job->run)) {
        const struct clv_error said = *err;
        return fail(err, status, "%s; --max-pixels %d segments it tile by tile, in less", said.message, SMALL_PIXELS);
    }
    MUST(status);
    work->bytes = bytes;
    return CLV_OK;
}

enum clv_status work_do(struct work *work, struct job *job, size_t index, size_t number, int thread,
                        struct clv_error *err)
{
    *work = (struct work){.input = &job->run->inputs->items[index], .output = &job->run->outputs->items[index]};
    MUST(wait_for_memory(work, job, index, number, err));
    return process(work, job, index, thread, err);
}

enum clv_status work_name(const struct work *work, enum clv_status status, struct clv_error *err)
{
    const char *path = work->input->image ? work->input->image : work->input->name;
    if (status != CLV_OK && status != CLV_ERR_INTERRUPTED && status != CLV_ERR_CREATE && status != CLV_ERR_IO &&
        !strstr(err->message, path))
        fail_within(err, status, path);
    return status;
}

enum clv_status work_illustrate(struct work *work, const struct job *job, struct clv_error *err)
{
    if (!job->run->options->report)
        return CLV_OK;
    MUST(read_truth(work, job, err));
    if (job->run->boxes)
        MUST(box_inputs_draw(&work->image, work->input, job->run->boxes, err));
    return CLV_OK;
}

enum clv_status job_init(struct job *job, struct segment_counts *counts, struct segment_run *run, double memory,
                         struct clv_error *err)
{
    *counts = (struct segment_counts){0};
    *job = (struct job){.run = run, .counts = counts, .n_threads = parallel_threads(run->options->common.n_threads)};
    job->oracles = array_zalloc((size_t)job->n_threads, sizeof *job->oracles);
    memory_gate_init(&job->gate, memory);
    find_pixels(job);
    return job->oracles ? map_drift_init(&job->maps, &run->model->recipe, err) : fail_memory(err);
}

void job_release(struct job *job)
{
    memory_gate_release(&job->gate);
    map_drift_release(&job->maps);
    for (int thread = 0; job->oracles && thread < job->n_threads; thread++)
        clv_oracle_free(job->oracles[thread]);
    arrays_free(job->oracles, job->pixels);
    console_weigh(0, 0);
}
