/* How much memory an input may take, and waiting for it. */
#include "cli/segment/segment.h"

#include <sys/stat.h>

#include "base/base.h"
#include "feature/recipe/recipe.h"
#include "image/raster/raster.h"
#include "segment/segment.h"
#include "task/task.h"

#define OBJECTS_BYTES         24  /* a pixel whose objects are looked at */
#define LEARNED_OBJECTS_BYTES 300 /* where a model has learned to find them */
#define SMALL_PIXELS          1000000

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
    double map = run->options->all_labels ? marginals_map_bytes(run->options, run->model->shape.n_labels) : 0;
    double specks = run->options->min_area ? (double)SPECKS_BYTES * width * height : 0;
    double objects = 0;
    if (run->options->objects)
        objects = ((learned_objects_are_there(run->model) ? LEARNED_OBJECTS_BYTES : OBJECTS_BYTES) +
                   (int)sizeof(float) * run->model->recipe.bands.n_bands) *
                  (double)width * height;
    return map + specks + objects +
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

enum clv_status work_wait(struct work *work, struct job *job, size_t index, size_t number, struct clv_error *err)
{
    double bytes = memory_needed(job, index);
    enum clv_status status = memory_gate_enter(&job->gate, number, bytes, err);
    if (status == CLV_ERR_MEMORY && is_fit_for_tiles(work->input->image, job->run)) {
        const struct clv_error said = *err;
        status = fail(err, status, "%s; --max-pixels %d segments it tile by tile, in less", said.message, SMALL_PIXELS);
    }
    work->bytes = status == CLV_OK ? bytes : 0;
    return status;
}
