/* Processes one input: waits for memory, calls the labeller or reads an existing mask back, finishes the labels, and
 * writes the missing files. The order is the same for all labellers: first the files beside the mask, then the mask, so
 * that it exists only if the others do, then the parts of tables, which have the mask's digest. Start at run_item. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "batch/batch.h"
#include "batch/file_kinds.h"
#include "batch/parts.h"
#include "batch/raster_files.h"
#include "image/raster/raster.h"
#include "object/object.h"
#include "segment/segment.h"

#define OBJECTS_BYTES         24.  /* per pixel of an image, while objects are measured */
#define LEARNED_OBJECTS_BYTES 300. /* per pixel of a window, while a model finds objects */

void labelled_release(struct labelled *item)
{
    clv_image_release(&item->image);
    contours_release(&item->contours);
    clv_object_map_release(&item->objects);
    clv_object_map_release(&item->boxed);
    arrays_free(item->rows, item->band_means, item->band_deviations, item->map_means, item->labels);
    label_map_release(&item->map);
    learned_release(item->learned);
    raster_item_free(item->raster);
}

static double objects_bytes(const struct batch *run, double n)
{
    const double in_window = batch_has_learned_objects(run) ? fmin(n, OBJECT_AT_ONCE) : 0;
    return LEARNED_OBJECTS_BYTES * in_window + OBJECTS_BYTES * (n - in_window);
}

double item_bytes(const struct batch *run, int32_t width, int32_t height)
{
    const double n = (double)width * height;
    const int32_t n_bands = run->model ? run->model->recipe.bands.n_bands : 0;
    double bytes = batch_has_maps(run) ? label_map_bytes(run, run->labels.n_labels, n) : 0;
    if (run->options.objects)
        bytes += objects_bytes(run, n) + (double)sizeof(float) * n_bands * n;
    return bytes + (run->boxes ? sizeof(int32_t) * n : 0); /* for item->boxed */
}

/* Returns an upper bound of the bytes for an input; 0 if the input cannot be read, since it fails anyway. */
static double bytes_needed(const struct batch *run, const struct input *input)
{
    int32_t width, height;
    struct clv_error ignored;
    struct stat file;
    if (input->is_tiled)
        return tiles_bytes(run, input);
    if (!input->image || input->bytes ||
        clv_image_read_size(&width, &height, input->image, &run->options.limits, &ignored) != CLV_OK)
        return 0;
    const double file_size = stat(input->image, &file) == 0 ? (double)file.st_size : 0;
    return item_bytes(run, width, height) + run->labeller->bytes(run, input, width, height, file_size);
}

/* Returns the files wanted beside a mask: bits 1 << enum file. */
static unsigned files_of(const struct target *target)
{
    unsigned files = 0;
    for (int k = 0; k < N_FILES; k++)
        files |= target->files[k] ? 1U << k : 0;
    return files;
}

/* Adds the parts to *todo that are missing or out of date. If the mask was edited since, all files are out of date.
 * *n_objects is the number of rows of the part of objects.tsv, if it stays. */
static enum clv_status add_stale_parts(unsigned *todo, int32_t *n_objects, const struct target *target,
                                       const struct batch *run, struct clv_error *err)
{
    for (int k = 0; k < N_FILES; k++) {
        enum part_fate fate;
        size_t n_lines = 0;
        if (!target->files[k] || !file_kinds[k].is_part)
            continue;
        const enum part_kind kind = k == FILE_ROWS ? PART_OBJECTS : PART_COCO;
        struct part_key key;
        part_key_make(&key, kind, &run->parts);
        MUST(part_check(&fate, &n_lines, target->files[k], target->mask, kind, &key, err));
        *todo |= fate == PART_OF_ANOTHER_MASK ? files_of(target) : fate == PART_TO_MAKE ? 1U << k : 0;
        if (k == FILE_ROWS && fate == PART_CURRENT)
            *n_objects = (int32_t)n_lines;
    }
    return CLV_OK;
}

/* Finds the files that are wanted and missing. */
static enum clv_status find_todo(unsigned *todo, int32_t *n_objects, const struct target *target,
                                 const struct batch *run, struct clv_error *err)
{
    *todo = 0;
    for (int k = 0; k < N_FILES; k++)
        if (target->files[k] && !file_kinds[k].is_part && !(target->existing & 1U << k))
            *todo |= 1U << k;
    if (target->has_mask)
        return add_stale_parts(todo, n_objects, target, run, err);
    *todo = files_of(target);
    return CLV_OK;
}

/* Returns the needs of files: bits NEEDS_.. */
static unsigned needs_of(unsigned todo)
{
    unsigned needs = 0;
    for (int k = 0; k < N_FILES; k++)
        needs |= todo & 1U << k ? file_kinds[k].needs : 0;
    return needs;
}

/* Reads the labels of an existing mask, and the image if it is wanted. */
static enum clv_status read_back(struct labelled *item, const struct batch *run, bool wants_image,
                                 struct clv_error *err)
{
    const struct clv_image_limits *limits = &run->options.limits;
    OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
    OWNED_ARRAY char *page = NULL;
    if (wants_image)
        MUST(input_read_image(&item->image, item->input, limits, &run->progress, err));
    if (run->to.is_stack) {
        const size_t size = strlen(item->target->mask) + 24;
        NEED(page = array_alloc(size, 1));
        snprintf(page, size, "%s#%zu", item->target->mask, item->input->frame + 1);
    }
    MUST(clv_indexed_image_read(&mask, page ? page : item->target->mask, limits, err));
    FAIL_IF(wants_image && (mask.width != item->image.width || mask.height != item->image.height), CLV_ERR_DATA,
            "%s: mask is %dx%d, image is %dx%d", item->target->mask, mask.width, mask.height, item->image.width,
            item->image.height);
    item->width = mask.width;
    item->height = mask.height;
    if (!batch_is_probable(run))
        mask_file_from_binary(mask.values, (size_t)mask.width * (size_t)mask.height, &run->labels, &mask);
    item->labels = TAKE(mask.values);
    item->is_read_back = true;
    return CLV_OK;
}

/* Finishes the labels, from which all files and tables are made: finds learned objects, which change the labels; merges
 * specks; makes pixels without data void; finds the objects in boxes, and other objects. Labels that were read back do
 * not change. */
static enum clv_status finish_labels(struct labelled *item, struct batch *run, struct clv_error *err)
{
    const bool is_learned = batch_has_learned_objects(run);
    if (is_learned)
        MUST(objects_find(item, run, err));
    if (!item->is_read_back && run->options.min_area)
        MUST(contours_merge_specks(item->labels, item->width, item->height, run->options.min_area, err));
    if (!item->is_read_back && !batch_is_probable(run) && item->input->image && !item->input->bytes)
        MUST(raster_void_missing(item->labels, item->width, item->height, item->input->image, &run->options.limits,
                                 err));
    if (run->boxes)
        MUST(box_inputs_objects(&item->boxed, &item->found, item->input, run->boxes, run->box_values, item->labels,
                                item->width, item->height, &item->image, err));
    return run->options.objects && !is_learned ? objects_find(item, run, err) : CLV_OK;
}

static enum clv_status write_one(int k, struct labelled *item, const struct batch *run, struct clv_error *err)
{
    const struct file_kind *kind = &file_kinds[k];
    const char *path = item->target->files[k];
    if (!kind->is_part)
        MUST(outputs_make_folder(path, err));
    return (item->raster ? kind->write_rows : kind->write)(path, item, run, err);
}

static enum clv_status write_files(struct labelled *item, const struct batch *run, unsigned todo, bool are_parts,
                                   struct clv_error *err)
{
    for (int k = 0; k < N_FILES; k++)
        if (todo & 1U << k && file_kinds[k].is_part == are_parts)
            MUST(write_one(k, item, run, err));
    return CLV_OK;
}

/* Writes the files of a raster whose mask exists: first the image of its objects, from which others are made. */
static enum clv_status write_by_rows(struct labelled *item, const struct batch *run, unsigned todo,
                                     struct clv_error *err)
{
    if (todo & 1U << FILE_OBJECTS)
        MUST(write_one(FILE_OBJECTS, item, run, err));
    MUST(write_files(item, run, todo & ~(1U << FILE_OBJECTS), false, err));
    return write_files(item, run, todo, true, err);
}

/* Labels a raster by rows. Its mask is written first, and stays if another file fails. */
static enum clv_status label_by_rows(struct labelled *item, struct outcome *outcome, struct batch *run, unsigned todo,
                                     size_t index, int thread, struct clv_error *err)
{
    outcome->is_labelled = !item->target->has_mask;
    if (outcome->is_labelled)
        MUST(run->labeller->label(item, run, index, thread, err));
    if (todo || run->report) {
        MUST(raster_files_open(item, run, err));
        MUST(write_by_rows(item, run, todo, err));
    }
    outcome->is_empty = item->is_empty;
    return run->report ? report_picture(outcome, item, run, err) : CLV_OK;
}

/* Labels a raster by rows, and removes the file of finished windows unless --resume can continue from it. */
static enum clv_status work_by_rows(struct labelled *item, struct outcome *outcome, struct batch *run, unsigned todo,
                                    size_t index, int thread, struct clv_error *err)
{
    const enum clv_status status = label_by_rows(item, outcome, run, todo, index, thread, err);
    if (status == CLV_OK || status == CLV_ERR_DATA || status == CLV_ERR_USAGE)
        raster_learned_forget(item);
    return status;
}

static enum clv_status write_mask(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    const char *path = item->target->mask;
    if (run->options.cutout && output_is_stream(&run->options))
        return cutout_write("-", item, run, err);
    if (run->pages)
        return page_file_put(run->pages, item->input->frame, item->width, item->height, item->labels, err);
    MUST(outputs_make_folder(path, err));
    if (batch_has_maps(run))
        return label_map_write(path, &item->map, run->labels.n_labels, err);
    return mask_file_write(path, item->input->image, item->width, item->height, item->labels,
                           (enum clv_mask_format)run->options.mask_format, batch_is_probable(run) ? NULL : &run->labels,
                           err);
}

static enum clv_status enter_gate(struct labelled *item, struct batch *run, size_t number, bool needs_no_memory,
                                  struct clv_error *err)
{
    const double bytes = needs_no_memory ? 0 : bytes_needed(run, item->input);
    const enum clv_status status = memory_gate_enter(&run->gate, number, bytes, err);
    if (status == CLV_ERR_MEMORY && run->labeller->advise_memory)
        return run->labeller->advise_memory(run, item->input, err);
    MUST(status);
    item->bytes = bytes;
    return CLV_OK;
}

/* Labels an item, or reads its mask back, and writes its files. */
static enum clv_status work_on(struct labelled *item, struct outcome *outcome, struct batch *run, size_t index,
                               size_t number, int thread, struct clv_error *err)
{
    const struct target *target = item->target;
    unsigned todo = 0;
    const enum clv_status found = target->problem ? CLV_OK : find_todo(&todo, &outcome->n_objects, target, run, err);
    const bool is_done = target->has_mask && !todo;
    item->todo = todo;
    if (number != SIZE_MAX) /* must enter the gate in any case, since later inputs wait for it */
        MUST(enter_gate(item, run, number, found != CLV_OK || target->problem || (is_done && !run->report), err));
    MUST(found);
    FAIL_IF(stop_requested(&run->progress), CLV_ERR_INTERRUPTED, "interrupted");
    outcome->is_reported = target->problem != NULL;
    if (target->problem)
        return target_fail(target, err);
    outcome->is_earlier = is_done;
    if (is_done && !run->report)
        return CLV_OK;
    if (target->is_tiled)
        return work_by_rows(item, outcome, run, todo, index, thread, err);
    if (target->has_mask)
        MUST(read_back(item, run, run->report || run->boxes || run->options.objects || needs_of(todo) & NEEDS_PIXELS,
                       err));
    else
        MUST(run->labeller->label(item, run, index, thread, err));
    if (item->labels)
        MUST(finish_labels(item, run, err));
    outcome->is_labelled = !target->has_mask;
    outcome->is_empty = item->labels && labels_are_empty(item->labels, (size_t)item->width * (size_t)item->height);
    MUST(write_files(item, run, todo, false, err));
    if (!target->has_mask)
        MUST(write_mask(item, run, err));
    MUST(write_files(item, run, todo, true, err));
    return run->report ? report_picture(outcome, item, run, err) : CLV_OK;
}

static struct labelled labelled_of(const struct batch *run, size_t index)
{
    const struct target *target = &run->targets.items[index];
    return (struct labelled){
        .input = &run->inputs.items[index], .target = target, .part_mask = {.path = target->mask}, .unmet = -1};
}

/* Puts the image's name before the message of a failure, unless the message begins with a path. Failures of outputs
 * name their file. */
static void name_failure(struct outcome *outcome, const struct input *input)
{
    const enum clv_status status = outcome->status;
    if (status != CLV_OK && status != CLV_ERR_INTERRUPTED && status != CLV_ERR_CREATE && status != CLV_ERR_IO &&
        !outcome->error.path_length)
        (void)fail_within(&outcome->error, status, input->image ? input->image : input->name);
}

bool batch_needs_pixels(const struct batch *run)
{
    unsigned wanted = 0;
    for (int k = 0; k < N_FILES; k++)
        wanted |= file_kinds[k].is_wanted(run) ? 1U << k : 0;
    return run->report || needs_of(wanted) & NEEDS_PIXELS || (run->options.cutout && output_is_stream(&run->options));
}

enum clv_status item_show(struct outcome *outcome, struct batch *run, size_t index, struct clv_error *err)
{
    OWNED(labelled_release) struct labelled item = labelled_of(run, index);
    if (item.target->is_tiled) {
        MUST(raster_files_open(&item, run, err));
        return report_picture(outcome, &item, run, err);
    }
    MUST(read_back(&item, run, true, err));
    MUST(finish_labels(&item, run, err));
    return report_picture(outcome, &item, run, err);
}

enum clv_status run_item(struct batch *run, size_t index, size_t number, int thread, struct clv_error *err)
{
    OWNED(outcome_drop) struct outcome *outcome = outcome_new();
    double bytes;
    if (!outcome && number != SIZE_MAX) /* later inputs wait until this one has entered, as in work_on */
        MUST(memory_gate_enter(&run->gate, number, 0, err));
    NEED(outcome);
    {
        OWNED(labelled_release) struct labelled item = labelled_of(run, index);
        outcome->status = work_on(&item, outcome, run, index, number, thread, &outcome->error);
        name_failure(outcome, item.input);
        if (item.objects.objects || item.objects.n_objects)
            outcome->n_objects = item.objects.n_objects;
        outcome->found = item.found;
        outcome->summary = item.summary;
        outcome->map_means = TAKE(item.map_means);
        outcome->unmet = item.unmet;
        bytes = item.bytes;
    }
    memory_gate_leave(&run->gate, bytes);
    return deliver(run, index, &outcome, err);
}
