/* Labels many files and writes the results, in one call: locks the folder, opens the labeller, plans all targets,
 * processes the inputs, and completes the files that are written once: pages, tables, report. Start at
 * clv_segment_files. */
#include "cleave/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "batch/batch.h"
#include "cluster/comm.h"

static const struct labeller *choose_labeller(const struct clv_files_options *options)
{
    return options->propagates   ? &by_propagating
           : options->from_masks ? &by_masks
           : options->boxes      ? &by_boxes
           : options->sequence   ? &by_windows
           : options->features   ? &by_features
                                 : &by_model;
}

/* Passes messages of threads to the caller, one at a time. */
static void pass_message(void *context, enum clv_message kind, const char *text)
{
    struct batch *run = context;
    const struct clv_progress *caller = run->options.progress;
    pthread_mutex_lock(&run->message_lock);
    if (caller && caller->notify)
        caller->notify(caller->context, kind, text);
    pthread_mutex_unlock(&run->message_lock);
}

static void pass_progress(void *context, const char *what, size_t done, size_t total, const char *note)
{
    struct batch *run = context;
    const struct clv_progress *caller = run->options.progress;
    pthread_mutex_lock(&run->message_lock);
    report_progress(caller, what, done, total, note);
    pthread_mutex_unlock(&run->message_lock);
}

static void pass_weights(void *context, double done, double total)
{
    struct batch *run = context;
    progress_weigh(run->options.progress, done, total);
}

static enum clv_status batch_init(struct batch *run, struct clv_files_result *result,
                                  const struct clv_files_options *options, struct clv_error *err)
{
    clv_files_defaults(&run->options);
    run->options = options ? *options : run->options;
    pthread_mutex_init(&run->message_lock, NULL);
    pthread_mutex_init(&run->lock, NULL);
    run->result = result;
    if (run->options.features && !run->options.feature_files) {
        run->options.feature_files = (const char *const *)&run->options.features;
        run->options.n_feature_files = 1;
    }
    run->options.cutout |= run->options.crop || run->options.cutout_labels;
    if (run->options.probabilities == CLV_PROBABILITIES_OF_LABEL && run->options.mask_format == CLV_MASKS_AUTO)
        run->options.mask_format = CLV_MASKS_GREY;
    run->n_threads = parallel_threads(run->options.n_threads);
    run->progress = (struct clv_progress){.report = pass_progress,
                                          .context = run,
                                          .stop = run->options.progress ? run->options.progress->stop : NULL,
                                          .notify = pass_message,
                                          .weigh = pass_weights};
    memory_gate_init(&run->gate, run->options.memory);
    run->labeller = choose_labeller(&run->options);
    run->to.output = run->options.output;
    if (run->options.report)
        NEED(run->to.report = shard_path(run->options.report, &run->options.shard, true));
    if (run->options.status)
        NEED(run->to.status = shard_path(run->options.status, &run->options.shard, false));
    return CLV_OK;
}

static void batch_release(struct batch *run)
{
    deliver_end(run);
    tables_release(run);
    target_list_release(&run->targets);
    input_list_release(&run->inputs);
    if (run->labeller && run->labeller->close)
        run->labeller->close(run);
    clv_labels_release(&run->labels);
    destination_release(&run->to);
    memory_gate_release(&run->gate);
    pthread_mutex_destroy(&run->message_lock);
    pthread_mutex_destroy(&run->lock);
}

/* Computes the digest of the model's file, or of the file that a model in memory would be written to. */
static enum clv_status find_digest(struct batch *run, struct clv_error *err)
{
    if (run->options.model_path)
        return digest_file(run->model_digest, run->options.model_path, err);
    const char *parent = getenv("TMPDIR");
    OWNED_ARRAY char *folder = path_join(parent && *parent ? parent : "/tmp", "cleave-model-XXXXXX");
    NEED(folder);
    if (!mkdtemp(folder))
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot make a folder", folder);
    OWNED_ARRAY char *path = path_join(folder, "model.cleave");
    enum clv_status status = path ? clv_model_write(path, run->model, err) : fail_memory(err);
    if (status == CLV_OK)
        status = digest_file(run->model_digest, path, err);
    if (path)
        unlink(path);
    rmdir(folder);
    return status;
}

/* Sets run->parts, the options on which parts of tables depend. */
static void describe_parts(struct batch *run)
{
    const struct clv_files_options *options = &run->options;
    run->parts = (struct part_options){.labels = &run->labels,
                                       .tolerance = options->tolerance,
                                       .runs = options->rle,
                                       .objects = options->objects || run->boxes,
                                       .clear_border = options->clear_border,
                                       .min_area = options->min_area,
                                       .n_bands = run->model ? run->model->recipe.bands.n_bands : 0};
}

/* Opens everything that is read and plans everything that is written. Makes no file. */
static enum clv_status prepare(struct batch *run, struct clv_error *err)
{
    MUST(files_options_check(&run->options, run->labeller, err));
    if (comm_rank() == 0)
        MUST(folder_lock(run, err));
    MUST(folder_claim(run, err));
    MUST(run->labeller->open(run, err));
    if (run->model)
        MUST(find_digest(run, err));
    MUST(mask_format_check((enum clv_mask_format)run->options.mask_format, &run->labels, err));
    MUST(cutout_choose(run, err));
    describe_parts(run);
    MUST(gather_check(run, err));
    MUST(folder_take_file(run, run->is_one_sequence, err));
    MUST(files_options_check_inputs(run, err));
    MUST(targets_plan(run, err));
    run->result->n_inputs = run->inputs.n;
    run->result->label = run->label;
    return CLV_OK;
}

/* Writes the files of label names: labels.tsv beside the masks of boxes, the legend of overlays, those of exports. */
static enum clv_status write_names(struct batch *run, struct clv_error *err)
{
    if (run->labels.from_file && !batch_is_probable(run) && !output_is_stream(&run->options)) {
        if (run->boxes) {
            struct text text;
            text_init(&text, RUN_NOTE_MAX_SIZE);
            labels_put_table(&text, &run->labels);
            MUST(names_write(run, "labels.tsv", &text, err));
        }
        if (run->options.overlay)
            MUST(overlay_legend_write(run, err));
    }
    return run->options.exports ? export_names_write(run, err) : CLV_OK;
}

/* Makes the folders, and the files of label names in them. */
static enum clv_status make_folders(struct batch *run, struct clv_error *err)
{
    MUST(folder_make_all(run, err));
    return write_names(run, err);
}

/* Whether a file was written after the mask. */
static bool is_newer(const char *path, const struct stat *mask)
{
    struct stat info;
    size_t length;
    uint32_t page;
    OWNED_ARRAY char *file = path ? string_copy(path) : NULL;
    if (file && path_page(&length, &page, file))
        file[length] = 0;
    return file && stat(file, &info) == 0 &&
           (info.st_mtim.tv_sec > mask->st_mtim.tv_sec ||
            (info.st_mtim.tv_sec == mask->st_mtim.tv_sec && info.st_mtim.tv_nsec > mask->st_mtim.tv_nsec));
}

/* Warns of masks that stay although their images, or the masks from which they are made, were written later. */
static void note_changed(const struct batch *run)
{
    const bool has_masks = run->options.from_masks;
    size_t n = 0;
    const char *first = NULL;
    for (size_t i = 0; i < run->targets.n; i++) {
        const struct target *target = &run->targets.items[i];
        const struct input *input = &run->inputs.items[i];
        struct stat mask;
        if (!target->has_mask || stat(target->mask, &mask) != 0)
            continue;
        const char *newer = is_newer(input->image, &mask)               ? input->image
                            : has_masks && is_newer(input->mask, &mask) ? input->mask
                                                                        : NULL;
        if (newer && !n++)
            first = newer;
    }
    if (n)
        report_message(&run->progress, CLV_WARNING,
                       "%s written after the mask that is there, which stays; --overwrite makes it again; the first "
                       "is %s",
                       has_masks ? n_of(n, "image or its given mask was", "images or their given masks were").text
                                 : n_of(n, "image was", "images were").text,
                       first);
}

static enum clv_status begin(struct batch *run, struct clv_error *err)
{
    const bool is_leader = comm_rank() == 0;
    if (is_leader && run->options.existing == CLV_EXISTING_RESUME)
        note_changed(run);
    if (is_leader) {
        MUST(report_begin(run, err));
        MUST(status_begin(run, err));
    }
    if (run->to.is_stack && run->targets.n_finished < run->targets.n)
        MUST(page_file_new(&run->pages, run, run->frames, run->n_frames, err));
    return deliver_begin(run, err);
}

/* Processes the inputs. Whatever their status is, each file is then completed, in this order; the status and message of
 * the first failure are returned. */
static enum clv_status run_inputs(struct batch *run, struct clv_error *err)
{
    enum clv_status status = comm_agree(begin(run, err), err);
    if (status == CLV_OK)
        status = run->labeller->each(run, err);
    struct clv_error error;
    const enum clv_status settled = deliver_rest(run, &error);
    if (settled != CLV_OK)
        status = fail_as(err, settled, &error);
    const bool is_whole = status == CLV_OK && run->result->first_failure == CLV_OK;
    run->result->lacks_pages = run->pages && !is_whole;
    for (size_t i = 0; i < run->inputs.n && status == CLV_ERR_INTERRUPTED; i++)
        run->result->has_tiles |= run->inputs.items[i].is_tiled;
    const enum clv_status paged = page_file_end(run->pages, is_whole, &error);
    run->pages = NULL;
    if (is_whole && paged != CLV_OK)
        status = fail_as(err, paged, &error);
    status = report_end(run, status, err);
    if (status == CLV_OK && comm_rank() == 0) /* after an interruption the next --resume joins */
        status = tables_join(run, err);
    const enum clv_status listed = status_end(run, &error);
    if (listed != CLV_OK && status == CLV_OK)
        status = fail_as(err, listed, &error);
    if (comm_rank() == 0)
        deliver_note(run);
    return status;
}

static enum clv_status run_batch(struct batch *run, struct clv_error *err)
{
    MUST(comm_agree(prepare(run, err), err)); /* no process writes before all processes have checked */
    MUST(comm_agree(comm_rank() == 0 ? make_folders(run, err) : CLV_OK, err));
    MUST(comm_agree(run_inputs(run, err), err));
    FAIL_IF(run->bad_boxes, CLV_ERR_DATA, "%s: %s could not be read", run->options.boxes,
            n_of(run->bad_boxes, "file of boxes", "files of boxes").text);
    return CLV_OK;
}

enum clv_status clv_segment_files(struct clv_files_result *result, const struct clv_files_options *options,
                                  struct clv_error *err)
{
    OWNED(batch_release) struct batch run = {.labeller = NULL};
    *result = (struct clv_files_result){.first_failure = CLV_OK};
    MUST(batch_init(&run, result, options, err));
    const enum clv_status status = run_batch(&run, err);
    folder_remove_empty(&run); /* also after a failure */
    MUST(status);
    result->is_complete = true;
    FAIL_IF(result->first_failure != CLV_OK, result->first_failure, "%zu of %zu inputs failed, as was said of each",
            result->n_failed, result->n_inputs);
    return CLV_OK;
}
