/* `cleave segment`: from a model and images to masks. prepare opens what is read and plans what is written, make_places
 * makes the folders, run_inputs does the work and ends every file. Start at segment_images. */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "cleave/options.h"
#include "cli/common/common.h"
#include "cli/segment/segment.h"
#include "feature/dataset/dataset.h"
#include "feature/recipe/recipe.h"
#include "image/raster/raster.h"
#include "intake/intake.h"
#include "refine/by_model/by_model.h"
#include "report/report.h"
#include "segment/segment.h"
#include "train/train.h"

#define LARGEST_STREAM ((size_t)1 << 30) /* of an image on standard input */

const char *const mask_forms[] = {"auto", "grey", "binary", "palette", NULL}; /* enum mask_form */

#define AT(member) offsetof(struct segment, member)
static const struct clv_option own_rows[] = {
    {"boxes", 0, "FILE|X,Y,W,H", SECTION_INPUTS, CLV_OPTION_BASIC, CLV_OPTION_TEXT, AT(boxes),
     .help = "Instead of -m: cut out what is in these boxes\n"
             "TSV, Pascal VOC, COCO, labelme, YOLO, CVAT or Label Studio; a file or a folder; or four numbers, one box "
             "in pixels for each "
             "image. Several labels count from 1 in the order met, or as in the set's labels.tsv"},
    {"sequence", 0, NULL, SECTION_INPUTS, CLV_OPTION_BASIC, CLV_OPTION_FLAG, AT(is_sequence),
     .help =
         "Label slices together, by a model of `train --sequence'\n"
         "Rows of one `sequence', or the images of a folder by their numbers; window by window, and slices that have a "
         "mask, too. `cleave propagate' needs no model"},
    {"mask-format", 0, "FORMAT", SECTION_OUTPUTS, CLV_OPTION_BASIC | CLV_OPTION_PLAIN, CLV_OPTION_CHOICE, AT(mask_form),
     .choices = mask_forms,
     .help = "Format of the masks, 8-bit PNG: palette, grey or binary\n"
             "auto (default) is palette: values are label numbers, and two labels are shown black and white. grey: "
             "label numbers "
             "as grey values. binary: 0 and 255"},
    {"min-area", 0, "N", SECTION_OUTPUTS, 0, CLV_OPTION_INT, AT(min_area), .minimum = 0, .maximum = INT32_MAX,
     .help = "Merge regions (specks, holes) of less than N pixels into their largest neighbour\n"
             "In masks and all that is made of them, objects, too"},
    {"decode", 0, "RULE", SECTION_DECIDING, CLV_OPTION_PLAIN, CLV_OPTION_CHOICE, AT(decoding),
     .choices = decoding_names_of_images,
     .help = DECODING_HELP ". min-loss: the least expected balanced error of samples"},
    {"samples", 0, "N", SECTION_DECIDING, 0, CLV_OPTION_INT, AT(n_samples), .minimum = 1, .maximum = 1000000,
     .help = "Random samples (perturb-and-MAP) that --decode min-loss looks at"},
    {"seed", 's', "N", SECTION_DECIDING, 0, CLV_OPTION_UINT64, AT(seed), .help = "Seed of the samples"},
    {"refine", 0, NULL, "Refining", CLV_OPTION_BASIC, CLV_OPTION_SET, AT(refine), .minimum = CLV_REFINE_ALL,
     .help = "Refine the borders of labels by a cut of all pixels\n"
             "(default: of images that are larger than the model's working size, and by models of train --pixel-net)"},
    {"no-refine", 0, NULL, "Refining", 0, CLV_OPTION_SET, AT(refine), .minimum = CLV_REFINE_NONE,
     .help = "Refine no borders; those of large images then have the steps of the working size"},
    {0},
};

static enum clv_status parse(struct segment *self, int argc, char **argv, struct clv_error *err)
{
    const struct option_table table = {
        "-m MODEL -o FOLDER [OPTION...] IMAGE|FOLDER|-...",
        "Segments images with a model.",
        {"segment -m model.cleave -o out photos/",
         "segment -m model.cleave -o tinted --overlay --report report photos/"},
        "The argument - reads a list of paths from standard input; with -o -, the image itself. "
        "A file in a folder is an image if its content or its name says so; others are skipped with a note. "
        "Images that fail are reported one by one and the rest goes on; the exit status is then the first failure's: "
        "65 bad data, 66 missing or unreadable, 71 out of memory. An output that cannot be written (73, 74) ends the "
        "run. The first Ctrl-C finishes the images in work and ends with status 130.",
        {{segment_shared_rows, self, false},
         {own_rows, self, false},
         {segment_output_rows, self, false},
         {segment_running_rows, self, false},
         {image_option_rows, &self->common, false},
         {plain_option_rows, &self->common, false}},
    };
    common_options_init(&self->common);
    MUST(options_parse(&table, argc, argv, &self->common, err));
    MUST(options_take_manifest(&table, &self->common, err));
    self->cutout |= self->crop || self->cutout_labels;
    if (self->is_sequence && !self->data && self->common.n_arguments == 1)
        self->data = self->common.arguments[--self->common.n_arguments];
    MUST(segment_check(self, "segment", err));
    if (self->is_sequence)
        MUST(slices_check(self, err));
    MUST(segment_check_outputs(self, err));
    bool is_least_loss = self->decoding == DECODING_MIN_LOSS;
    FAIL_IF(self->decoding != DECODING_AUTO && self->boxes, CLV_ERR_USAGE, "--decode: does not go with --boxes");
    FAIL_IF(is_least_loss && self->refine == CLV_REFINE_ALL, CLV_ERR_USAGE,
            "--decode min-loss: does not go with --refine, which refines the best labelling");
    FAIL_IF(self->features && self->refine == CLV_REFINE_ALL, CLV_ERR_USAGE,
            "--refine: a feature file has no pixels; name the images instead");
    FAIL_IF(self->refine == CLV_REFINE_NONE && (self->features || is_least_loss), CLV_ERR_USAGE,
            "--no-refine cannot be used: %s",
            self->features ? "a feature file has no pixels" : "--decode min-loss refines nothing");
    const char *of_draws = options_given(&self->common, "seed")      ? "seed"
                           : options_given(&self->common, "samples") ? "samples"
                                                                     : NULL;
    FAIL_IF(of_draws && !is_least_loss, CLV_ERR_USAGE, "--%s needs --decode min-loss, which samples", of_draws);
    return CLV_OK;
}

/* The items of the set's chosen splits. */
static enum clv_status add_splits(struct input_list *inputs, const struct segment *self, struct clv_set *set,
                                  struct clv_error *err)
{
    size_t common = set_common_folder(set);
    MUST(outputs_spare_set(&self->common.outputs, set, self->data, err));
    MUST(clv_set_select(set, self->split, err));
    return inputs_add_set(inputs, set, common, err);
}

static enum clv_status add_data(struct input_list *inputs, const struct segment *self, struct clv_error *err)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    MUST(clv_set_read(&set, self->data, err));
    const struct clv_progress progress = console_progress(NULL);
    training_set_note_reading(&set, self->data, &progress);
    const enum clv_status status = add_splits(inputs, self, &set, err);
    training_set_note_skipped(&set, self->data, &progress); /* it may tell why nothing is left, too */
    return status;
}

/* Files that are bands of other inputs. */
static void drop_further_bands(struct input_list *inputs, const char *names)
{
    size_t n = inputs->n;
    inputs->n = 0;
    for (size_t i = 0; i < n; i++)
        if (inputs->items[i].image && band_images_is_further(inputs->items[i].image, names))
            input_release(&inputs->items[i]);
        else
            inputs->items[inputs->n++] = inputs->items[i];
}

static void note_range(const struct clv_recipe *recipe, const struct clv_image_limits *limits)
{
    if (recipe->grey16_high && limits->grey16_high > 0 &&
        (recipe->grey16_low != limits->grey16_low || recipe->grey16_high != limits->grey16_high))
        console_warning("--range %d,%d: the model was trained with %d,%d, and sees other images than it knows",
                        limits->grey16_low, limits->grey16_high, recipe->grey16_low, recipe->grey16_high);
}

/* How many bands an image has that is shown by its own values; 0 of others. */
static int32_t count_bands(const char *path, const struct clv_image_limits *limits)
{
    struct raster raster;
    struct clv_error ignored;
    if (!raster_is_deep(path, limits) || raster_open(&raster, path, limits, &ignored) != CLV_OK)
        return 0;
    int32_t n = raster.is_plain ? 0 : raster.n_bands;
    raster_close(&raster);
    return n;
}

/* A model of photographs on bands: colours that are made of them by an image's own values may be those of a photograph,
 * where there are one or three, which a note says. Of other numbers they are not, unless --range asks for them. */
static enum clv_status check_bands(const struct input_list *inputs, const struct clv_image_limits *limits,
                                   struct clv_error *err)
{
    bool is_said = false;
    for (size_t i = 0; i < inputs->n && limits->grey16_high <= 0; i++) {
        const char *image = inputs->items[i].image;
        int32_t n = image ? count_bands(image, limits) : 0;
        FAIL_IF(n == 2 || n > 3, CLV_ERR_DATA,
                "%s: an image of %d bands, but the model is of photographs; train a model on images of these bands, or "
                "add --range 0,65535 to have colours made of them by each image's own values",
                image, n);
        if (n && !is_said)
            console_warning("%s: an image of bands, but the model is of photographs: colours are made of the "
                            "bands by this image's own values",
                            image);
        is_said |= n > 0;
    }
    return CLV_OK;
}

/* The images of a feature file, a set, and of arguments. */
static enum clv_status add_inputs(struct input_list *inputs, const struct segment *self,
                                  const struct clv_dataset *dataset, struct clv_error *err)
{
    if (dataset)
        MUST(inputs_add_dataset(inputs, dataset, err));
    if (self->data && !self->is_sequence)
        MUST(add_data(inputs, self, err));
    for (size_t i = 0; i < self->common.n_arguments; i++)
        MUST(strcmp(self->common.arguments[i], "-") != 0 ? inputs_add_path(inputs, self->common.arguments[i], err)
             : segment_is_piped(self)                    ? inputs_add_standard(inputs, LARGEST_STREAM, err)
                                      : inputs_add_stream(inputs, stdin, self->ends_with_zero ? 0 : '\n', err));
    return CLV_OK;
}

static enum clv_status gather(struct input_list *inputs, const struct segment *self, const struct clv_model *model,
                              const struct clv_dataset *dataset, struct clv_error *err)
{
    char real_output[PATH_MAX];
    bool is_piped = segment_is_piped(self);
    inputs->skip_below = is_piped ? NULL : realpath(self->output, real_output);
    const enum clv_status status = add_inputs(inputs, self, dataset, err);
    inputs->skip_below = NULL; /* it ends with this function */
    MUST(status);
    if (self->common.limits.band_files)
        drop_further_bands(inputs, self->common.limits.band_files);
    MUST(inputs_name_outputs(inputs, err));
    const struct clv_progress progress = console_progress(NULL);
    report_count(&progress, NULL, inputs->n_skipped, NO_IMAGES, inputs->first_skipped);
    report_count(&progress, NULL, inputs->n_own, OWN_IMAGES, inputs->first_own);
    if (model && model->has_recipe && !model->recipe.bands.n_bands)
        MUST(check_bands(inputs, &self->common.limits, err));
    FAIL_IF(!inputs->n, CLV_ERR_NO_INPUT, "%s: no images in it",
            self->features ? self->features
            : self->data   ? self->data
                           : self->common.arguments[0]);
    FAIL_IF(is_piped && inputs->n > 1, CLV_ERR_USAGE, "-o -: standard output takes one result, these are %zu images",
            inputs->n);
    return CLV_OK;
}

static enum clv_status begin_report(struct segment_run *run, struct clv_error *err)
{
    const struct segment *self = run->options;
    if (!self->report)
        return CLV_OK;
    char *page = path_join(self->report, "index.html");
    if (page && self->existing == EXISTING_RESUME && path_exists(page))
        console_note("%s: is replaced, and shows the %zu image%s of this run alone", page, run->inputs->n,
                     run->inputs->n == 1 ? "" : "s");
    array_free(page);
    const char *learner = clv_record_get(&run->model->record, "learner");
    char refined[96] = "no";
    struct clv_refine_options usual;
    clv_refine_defaults(&usual);
    bool is_usual = self->refine == CLV_REFINE_LARGE && self->decoding != DECODING_MIN_LOSS && !self->boxes;
    if (self->refine == CLV_REFINE_ALL || (is_usual && label_refines(self->refine, run->model, 1, 1)))
        snprintf(refined, sizeof refined, "at the pixels, coupling %g", usual.coupling);
    else if (is_usual)
        snprintf(refined, sizeof refined, "at the pixels, images of more than %d pixels, coupling %g",
                 run->model->recipe.working_pixels, usual.coupling);
    char words[MARGINALS_WORDS] = "";
    if (self->marginals)
        marginals_describe(words, run);
    const char *const rows[][2] = {
        {self->boxes ? "Boxes" : "Model", self->boxes ? self->boxes : self->model_path},
        {self->boxes ? "Method" : "Learner", self->boxes ? "box to cut"
                                             : learner   ? learner
                                                         : "unknown"},
        {self->marginals ? "Label" : "Refined", self->marginals ? run->model->labels.names[run->label]
                                                : self->boxes   ? "at the pixels"
                                                                : refined},
        {self->marginals ? "Probabilities" : "Version", self->marginals ? words : clv_version()},
        {"Version", clv_version()},
    };
    return clv_report_begin(&run->report, self->report, self->marginals ? MARGINALS_TITLE : REPORT_TITLE,
                            &run->model->labels, rows, self->marginals ? 5 : 4, err);
}

/* A status that ended the run keeps its message; the page is finished all the same, with what there is. */
static enum clv_status finish_report(struct segment_run *run, enum clv_status status, struct clv_error *err)
{
    if (!run->report)
        return status;
    struct clv_report *report = run->report;
    run->report = NULL;
    if (status == CLV_OK || status == CLV_ERR_INTERRUPTED) {
        struct clv_error own;
        enum clv_status finished = clv_report_finish(report, &own);
        if (finished != CLV_OK && status == CLV_OK) {
            *err = own;
            return finished;
        }
    } else {
        clv_report_abandon(report);
    }
    return status;
}

/* n_given: pages of a file that are given masks. */
static void print_summary(const struct segment *self, const struct segment_counts *counts, size_t n, size_t n_given,
                          bool interrupted)
{
    char of_all[32] = "", failed[64] = "", before[64] = "", objects[48] = "", given[48] = "";
    if (interrupted)
        snprintf(of_all, sizeof of_all, " of %zu", n);
    if (counts->n_failed)
        snprintf(failed, sizeof failed, ", %zu failed", counts->n_failed);
    if (counts->n_finished_before)
        snprintf(before, sizeof before, ", %zu finished before", counts->n_finished_before);
    if (self->objects)
        snprintf(objects, sizeof objects, ", %zu object%s", counts->n_objects, counts->n_objects == 1 ? "" : "s");
    if (n_given)
        snprintf(given, sizeof given, ", and %zu given page%s", n_given, n_given == 1 ? "" : "s");
    console_note("%zu%s %s%s %s into %s%s%s%s%s%s%s", counts->n_done, of_all,
                 self->marginals ? "probability map" : "image", (interrupted ? n : counts->n_done) == 1 ? "" : "s",
                 self->marginals ? "written" : "segmented",
                 segment_is_piped(self) ? "standard output"
                 : self->file           ? self->file
                                        : self->output,
                 given, objects, failed, before, interrupted ? "; run the same command with --resume to continue" : "",
                 interrupted && self->existing == EXISTING_OVERWRITE ? " (without --overwrite)" : "");
}

/* A result in which nothing was found looks like a success. Boxes are counted one by one. */
static void note_empty(const struct segment *self, const struct segment_counts *counts, const struct clv_labels *labels)
{
    if (self->boxes && counts->n_boxes_empty)
        console_warning("nothing was found in %zu of %zu boxes%s%s", counts->n_boxes_empty, counts->n_boxes,
                        counts->n_boxes_empty == 1 ? ": " : ", the first is ", counts->first_empty);
    if (self->boxes || !counts->n_empty || counts->n_empty < counts->n_done)
        return;
    console_warning("%s: label 0 (%s) is everywhere, nothing was found; is the model of images of another kind?",
                    counts->n_empty == 1 ? "the mask is empty" : "all masks are empty",
                    labels->n_labels ? labels->names[0] : "background");
}

/* Masks that stay though their images were written later. */
static void note_changed(const struct segment_run *run)
{
    size_t n = 0;
    const char *first = NULL;
    for (size_t i = 0; i < run->outputs->n; i++) {
        const struct output *output = &run->outputs->items[i];
        struct stat image, mask;
        char *file = output->finished || output->has_mask ? string_copy(run->inputs->items[i].image) : NULL;
        size_t length;
        uint32_t page;
        if (file && path_page(&length, &page, file))
            file[length] = 0;
        if (file && stat(file, &image) == 0 && stat(output->mask, &mask) == 0 &&
            (image.st_mtim.tv_sec > mask.st_mtim.tv_sec ||
             (image.st_mtim.tv_sec == mask.st_mtim.tv_sec && image.st_mtim.tv_nsec > mask.st_mtim.tv_nsec)) &&
            !n++)
            first = run->inputs->items[i].image;
        array_free(file);
    }
    if (n)
        console_warning("%zu image%s written after the mask that is there, which stays; --overwrite makes it "
                        "again; the first is %s",
                        n, n == 1 ? " was" : "s were", first);
}

/* Begins all that is written once for all inputs; run_inputs ends it. */
static enum clv_status begin_files(struct file_writer *table, struct file_writer *objects, struct segment *self,
                                   struct segment_run *run, struct clv_error *err)
{
    bool is_leader = comm_rank() == 0;
    if (is_leader)
        MUST(begin_report(run, err));
    if (self->status_file && is_leader)
        MUST(file_create(table, self->status_file, err));
    if (self->export.forms && is_leader)
        MUST(exporting_begin(&run->exporting, self, run, err));
    if (self->objects || self->export.forms)
        NEED(run->listed = array_alloc(2 * run->inputs->n, sizeof *run->listed));
    if (self->objects)
        MUST(object_table_begin(objects, self, run->model, err));
    if (self->is_stack && run->outputs->n_finished < run->outputs->n)
        MUST(stack_file_new(&run->stack, self, &run->model->labels, run->sequence->set.items,
                            run->sequence->set.n_items, err));
    return CLV_OK;
}

/* Whatever the status with which the inputs end, each file is then ended, in this order: so the status is carried
 * through the ends, and the first failure's message stays. */
static enum clv_status run_inputs(struct segment *self, struct segment_run *run, struct clv_error *err)
{
    struct file_writer table = {0}, objects = {0};
    struct segment_counts counts = {0};
    text_init(&run->json, JSON_MAX_SIZE);
    bool is_leader = comm_rank() == 0;
    if (is_leader && self->existing == EXISTING_RESUME && !run->dataset)
        note_changed(run);
    enum clv_status status = comm_agree(begin_files(&table, &objects, self, run, err), err);
    if (status == CLV_OK) {
        run->objects = objects.stream;
        run->status = table.stream;
        if (table.stream && self->shard.number <= 1) /* so that the shards' tables end to end are one run's */
            fputs(STATUS_HEAD "\n", table.stream);
        status = run->sequence && !self->model_path ? sequence_run(&counts, run, err) : segment_all(&counts, run, err);
    }
    bool is_whole = status == CLV_OK && counts.first_failure == CLV_OK;
    struct clv_error ignored;
    enum clv_status ended = stack_file_end(run->stack, is_whole, is_whole ? err : &ignored);
    status = is_whole ? ended : status;
    earlier_sort(run);
    if (run->exporting)
        status = exporting_end(run->exporting, status, err);
    if (objects.stream && (status == CLV_OK || status == CLV_ERR_INTERRUPTED)) {
        struct clv_error own;
        enum clv_status written = object_table_end(&objects, run, &own);
        if (written != CLV_OK && status == CLV_OK)
            *err = own;
        status = status == CLV_OK ? written : status;
    } else {
        file_abort(&objects);
    }
    status = finish_report(run, status, err);
    if (table.stream) {
        struct clv_error own;
        enum clv_status written = file_commit(&table, &own);
        if (written != CLV_OK && status == CLV_OK) {
            *err = own;
            status = written;
        }
    }
    if (status == CLV_OK && self->json && is_leader)
        status = marginals_print_json(run, &counts, err);
    text_release(&run->json);
    array_free(run->listed);
    bool has_tiles = status == CLV_ERR_INTERRUPTED && run->inputs->n &&
                     run->inputs->items[0].is_tiled; /* from which --resume goes on */
    if ((counts.n_done + counts.n_finished_before || counts.n_failed > 1 || has_tiles) && (is_whole || !run->stack))
        print_summary(self, &counts, run->inputs->n,
                      self->is_stack && !self->model_path ? run->sequence->set.n_items - run->inputs->n : 0,
                      status == CLV_ERR_INTERRUPTED && !segment_is_piped(self));
    if (is_leader)
        note_empty(self, &counts, &run->model->labels);
    /* Failures of single images were printed as they came: only their status is left. */
    return status == CLV_OK ? counts.first_failure : status;
}

/* The model, and for marginals which of its labels is meant. */
static enum clv_status open_model(struct clv_model *model, int32_t *label, const struct segment *self,
                                  struct clv_error *err)
{
    MUST(clv_model_read(model, self->model_path, err));
    FAIL_IF(!model->has_recipe && !self->features, CLV_ERR_USAGE,
            "%s: learned from features made elsewhere; --features is needed", self->model_path);
    decoding_choose(&model->decoding, self->decoding);
    return self->marginals ? marginals_find_label(label, self, &model->labels, err) : CLV_OK;
}

/* Marks the inputs that are segmented by tiles. Names are checked first, so that no photograph is opened for it. */
static void find_tiled(struct input_list *inputs, const struct clv_image_limits *limits)
{
    for (size_t i = 0; i < inputs->n; i++) {
        const char *image = inputs->items[i].image;
        inputs->items[i].is_tiled =
            image &&
            (strstr(image, ".tif") || strstr(image, ".npy") || limits->band_files || raster_gdal_knows(image)) &&
            raster_cut_is_needed(image, limits);
    }
}

/* Keeps only the shard's inputs, as output_plan keeps only its outputs. */
static void cut_to_shard(struct segment_run *run, struct input_list *inputs)
{
    size_t n, total = inputs->n;
    shard_block(&run->first, &n, &run->options->shard, total);
    inputs_cut(inputs, run->first, n);
    if (!n)
        console_note("shard %d of %d: no images in it, there are %zu in all", run->options->shard.number,
                     run->options->shard.count, total);
}

/* All that a run is made of; segment_run has views of it. */
struct sources {
    struct clv_model model;
    struct clv_dataset *dataset; /* of --features */
    uint8_t *values;             /* of the boxes' labels */
    struct clv_boxes boxes;
    struct sequence sequence;
    struct input_list inputs;
    struct output_list outputs;
};

static void sources_release(struct sources *self)
{
    output_list_release(&self->outputs);
    input_list_release(&self->inputs);
    sequence_release(&self->sequence);
    clv_boxes_release(&self->boxes);
    array_free(self->values);
    clv_dataset_free(self->dataset);
    clv_model_release(&self->model);
}

/* Opens all that is read, and plans all that is written; makes nothing. */
static enum clv_status prepare(struct sources *from, struct segment_run *run, struct segment *self,
                               struct clv_error *err)
{
    struct clv_model *model = &from->model;
    struct input_list *inputs = &from->inputs;
    struct clv_image_limits *limits = &self->common.limits;
    if (comm_rank() == 0)
        MUST(segment_lock(self, err));
    MUST(segment_claim(self, err));
    MUST(self->is_sequence && !self->model_path ? sequence_open(&from->sequence, inputs, &model->labels, self, err)
         : self->boxes ? box_inputs_open(&from->boxes, &model->labels, &from->values, self->boxes, self->data, err)
                       : open_model(model, &run->label, self, err));
    run->box_values = from->values;
    if (self->is_sequence && self->model_path)
        MUST(slices_open(&from->sequence, inputs, model, self, err));
    note_range(&model->recipe, limits);
    recipe_limits(limits, &model->recipe);
    if (model->recipe.bands.files[0] && !limits->band_files)
        limits->band_files = model->recipe.bands.files;
    if (self->features)
        MUST(features_open_list(&from->dataset, NULL, &self->common.paths, 0, err));
    run->dataset = from->dataset;
    MUST(mask_form_check((enum mask_form)self->mask_form, &model->labels, err));
    MUST(cutout_choose(run->is_cut, self->cutout_labels, &model->labels, err));
    MUST(gather(inputs, self, model, from->dataset, err));
    if (self->model_path && !self->features && !self->marginals)
        find_tiled(inputs, limits);
    if (!self->features && self->model_path && (self->maps.n || model->recipe.n_maps))
        MUST(map_options_check(&self->maps, &model->recipe, inputs->map_names, inputs->n_maps, self->model_path, err));
    if (self->boxes)
        MUST(box_inputs_assign(inputs, &from->boxes, self->boxes, limits, err));
    MUST(segment_take_file(self, inputs, self->is_sequence && sequence_is_one(&from->sequence, self), err));
    MUST(segment_plan(&from->outputs, self, inputs, err));
    cut_to_shard(run, inputs);
    return CLV_OK;
}

/* The folders, and the files of names in them. */
static enum clv_status make_places(struct sources *from, struct segment *self, struct clv_error *err)
{
    MUST(segment_make_folders(self, &from->outputs, &from->inputs, &from->sequence, err));
    return from->model.labels.from_file ? names_file_labels(self, &from->model.labels, err) : CLV_OK;
}

static enum clv_status segment_shard(struct segment *self, struct clv_error *err)
{
    struct clv_progress progress = console_progress(NULL);
    OWNED(sources_release) struct sources from = {.dataset = NULL};
    struct segment_run run = {
        .options = self,
        .model = &from.model,
        .boxes = self->boxes ? &from.boxes : NULL,
        .sequence = self->is_sequence ? &from.sequence : NULL,
        .inputs = &from.inputs,
        .outputs = &from.outputs,
        .progress = &progress,
    };
    MUST(comm_agree(prepare(&from, &run, self, err), err)); /* no process writes before all have checked */
    MUST(comm_agree(comm_rank() == 0 ? make_places(&from, self, err) : CLV_OK, err));
    MUST(comm_agree(run_inputs(self, &run, err), err));
    FAIL_IF(from.boxes.n_bad_files, CLV_ERR_DATA, "%s: %zu files of boxes could not be read", self->boxes,
            from.boxes.n_bad_files);
    return CLV_OK;
}

/* A shard's report and table are next to those of the others. */
enum clv_status segment_images(struct segment *self, struct clv_error *err)
{
    OWNED_ARRAY char *report = self->report ? shard_path(self->report, &self->shard, true) : NULL;
    OWNED_ARRAY char *table = self->status_file ? shard_path(self->status_file, &self->shard, false) : NULL;
    NEED((report || !self->report) && (table || !self->status_file));
    MUST(segment_team_check(self, err));
    self->report = report;
    self->status_file = table;
    const enum clv_status status = segment_shard(self, err);
    segment_remove_empty(self); /* above all after a failure */
    self->report = self->status_file = NULL;
    return status;
}

static void segment_release(struct segment *self)
{
    common_options_release(&self->common);
}

enum clv_status cmd_segment(int argc, char **argv, struct clv_error *err)
{
    OWNED(segment_release) struct segment self = {.n_samples = 100, .export = {.tolerance = 1}};
    MUST(parse(&self, argc, argv, err));
    return segment_images(&self, err);
}
