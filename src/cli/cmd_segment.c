/* cleave segment: from a model and images to masks. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/engine_option.h"
#include "cli/segment.h"

enum segment_keys {
    KEY_SPLIT = KEYS_COMMAND,
    KEY_FEATURES,
    KEY_OVERLAY,
    KEY_REPORT,
    KEY_OVERWRITE,
    KEY_RESUME,
    KEY_FAIL_FAST,
    KEY_MASKS,
    KEY_STATUS,
    KEY_ENGINE,
};

static const struct argp_option segment_options[] = {
    {NULL, 0, NULL, 0, "What to segment:", 1},
    {"model", 'm', "FILE", 0, "The model that `cleave train' wrote", 1},
    {"data", 'd', "PATH", 0, "A manifest or a set's folder (instead of, or beside, arguments)", 1},
    {"split", KEY_SPLIT, "NAME,..", 0, "Splits of --data (default: all of it)", 1},
    {"features", KEY_FEATURES, "FILE", 0, "Segment the items of a feature file instead of images", 1},
    {"null", '0', NULL, 0, "Paths read for the argument - end with a zero byte, not with a line", 1},
    {NULL, 0, NULL, 0, "What comes out:", 2},
    {"output", 'o', "FOLDER", 0, "Where the masks go: FOLDER/<image stem>.png, subfolders kept", 2},
    {"overlay", KEY_OVERLAY, NULL, 0, "Also FOLDER/overlays/<image stem>.png: the image, tinted and outlined", 2},
    {"report", KEY_REPORT, "FOLDER", 0, "Also one HTML page, FOLDER/index.html, with everything side by side", 2},
    {"status", KEY_STATUS, "FILE", 0, "Also a table: image, done or failed, mask, message (tab-separated; - is stdout)",
     2},
    {"masks", KEY_MASKS, "FORM", 0,
     "8-bit PNG, values are label numbers: grey, palette, or auto (default: palette if the labels have names)", 2},
    {NULL, 0, NULL, 0, "How to go about it:", 3},
    {"overwrite", KEY_OVERWRITE, NULL, 0, "Replace outputs that exist (default: refuse before any work)", 3},
    {"resume", KEY_RESUME, NULL, 0, "Leave out images whose outputs exist", 3},
    {"fail-fast", KEY_FAIL_FAST, NULL, 0, "Stop at the first image that fails (default: go on with the rest)", 3},
    {"engine", KEY_ENGINE, "NAME", 0, ENGINE_HELP, 3},
    {0},
};

static error_t parse_existing(struct segment *self, enum existing existing)
{
    if (self->existing != EXISTING_REFUSE && self->existing != existing)
        return option_error(&self->common, "--overwrite and --resume exclude each other");
    self->existing = existing;
    return 0;
}

static error_t parse_segment(int key, char *arg, struct argp_state *state)
{
    static const char *const forms[] = {"auto", "grey", "palette"};
    struct segment *self = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &self->common; return 0;
    case ARGP_KEY_ARGS:
        self->paths = state->argv + state->next;
        self->n_paths = (size_t)(state->argc - state->next);
        return 0;
    case 'm': self->model_path = arg; return 0;
    case 'd': self->data = arg; return 0;
    case 'o': self->output = arg; return 0;
    case '0': self->list_separator = 0; return 0;
    case KEY_SPLIT: self->split = arg; return 0;
    case KEY_FEATURES: self->features = arg; return 0;
    case KEY_OVERLAY: self->overlay = true; return 0;
    case KEY_REPORT: self->report = arg; return 0;
    case KEY_STATUS: self->status_file = arg; return 0;
    case KEY_OVERWRITE: return parse_existing(self, EXISTING_OVERWRITE);
    case KEY_RESUME: return parse_existing(self, EXISTING_RESUME);
    case KEY_FAIL_FAST: self->fail_fast = true; return 0;
    case KEY_MASKS: return option_choice(&self->mask_form, "--masks", arg, forms, 3, &self->common);
    case KEY_ENGINE: return option_engine(&self->engine, arg, &self->common);
    default: return ARGP_ERR_UNKNOWN;
    }
}

static enum clv_status parse(struct segment *self, int argc, char **argv, struct clv_error *err)
{
    static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        segment_options,
        parse_segment,
        "[IMAGE|FOLDER|-]...",
        "Segments images with a model. The argument - reads a list of paths from standard input.\v"
        "A file in a folder is an image if its content or its name says so; others are skipped with a note. "
        "Images that fail are reported one by one and the rest goes on; the exit status is then the first failure's: "
        "65 bad data, 66 missing or unreadable, 71 out of memory. An output that cannot be written (73, 74) ends the "
        "run. The first Ctrl-C finishes the images in work and ends with status 130.",
        children,
        NULL,
        NULL,
    };
    common_options_init(&self->common, err);
    enum clv_status status = options_parse(&argp, argc, argv, self, &self->common);
    if (status != CLV_OK)
        return status;
    if (!self->model_path)
        return fail(err, CLV_ERR_USAGE, "segment: -m is missing: which model?");
    if (!self->output)
        return fail(err, CLV_ERR_USAGE, "segment: -o is missing: where do the masks go?");
    if (!self->data && !self->features && !self->n_paths)
        return fail(err, CLV_ERR_USAGE, "segment: no images: name files or folders, or --data, or --features");
    if (self->split && !self->data)
        return fail(err, CLV_ERR_USAGE, "--split: --data is missing: splits of what?");
    if (self->features && (self->data || self->n_paths))
        return fail(err, CLV_ERR_USAGE, "--features: goes with neither --data nor further inputs");
    if (self->features && (self->overlay || self->report))
        return fail(err, CLV_ERR_USAGE, "%s: a feature file holds no pictures to show",
                    self->overlay ? "--overlay" : "--report");
    return CLV_OK;
}

static enum clv_status add_data(struct input_list *inputs, const struct segment *self, struct clv_error *err)
{
    struct clv_set set = {0};
    enum clv_status status = clv_set_read(&set, self->data, err);
    if (status != CLV_OK)
        return status;
    size_t common = set_common_folder(&set);
    status = clv_set_select(&set, self->split, err);
    if (status == CLV_OK)
        status = inputs_add_set(inputs, &set, common, err);
    inputs->n_skipped += set.n_skipped;
    clv_set_release(&set);
    return status;
}

static void note_skipped(const struct input_list *inputs, const struct segment *self)
{
    if (!inputs->first_skipped)
        console_note("%s: files that are no images were skipped: %zu", self->data, inputs->n_skipped);
    else if (inputs->n_skipped == 1)
        console_note("1 file is no image and was skipped: %s", inputs->first_skipped);
    else
        console_note("%zu files are no images and were skipped, the first is %s", inputs->n_skipped,
                     inputs->first_skipped);
}

static enum clv_status gather(struct input_list *inputs, const struct segment *self, const struct clv_dataset *dataset,
                              struct clv_error *err)
{
    char real_output[PATH_MAX];
    enum clv_status status = CLV_OK;
    inputs->skip_below = realpath(self->output, real_output);
    if (dataset)
        status = inputs_add_dataset(inputs, dataset, err);
    if (status == CLV_OK && self->data)
        status = add_data(inputs, self, err);
    for (size_t i = 0; i < self->n_paths && status == CLV_OK; i++)
        status = strcmp(self->paths[i], "-") == 0 ? inputs_add_stream(inputs, stdin, self->list_separator, err)
                                                  : inputs_add_path(inputs, self->paths[i], err);
    inputs->skip_below = NULL;
    if (status == CLV_OK && inputs->n_skipped)
        note_skipped(inputs, self);
    if (status == CLV_OK && !inputs->n)
        status = fail(err, CLV_ERR_NO_INPUT, "%s: no images in it",
                      self->features ? self->features
                      : self->data   ? self->data
                                     : self->paths[0]);
    return status;
}

static enum clv_status begin_report(struct segment_run *run, struct clv_error *err)
{
    const struct segment *self = run->options;
    if (!self->report)
        return CLV_OK;
    char *page = path_join(self->report, "index.html");
    if (!page)
        return fail_memory(err);
    bool clash = self->existing == EXISTING_REFUSE && path_exists(page);
    enum clv_status status =
        clash ? fail(err, CLV_ERR_CREATE, "%s: exists already; --overwrite replaces it", page) : CLV_OK;
    array_free(page);
    if (status != CLV_OK)
        return status;
    const char *learner = clv_model_record(run->model, "learner");
    const char *const summary[][2] = {
        {"Model", self->model_path},
        {"Learner", learner ? learner : "unknown"},
        {"Version", clv_version()},
    };
    return clv_report_begin(&run->report, self->report, "cleave: segmentation", &run->model->labels, summary,
                            sizeof summary / sizeof *summary, err);
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

static void print_summary(const struct segment *self, const struct segment_counts *counts)
{
    char failed[64] = "", before[64] = "";
    if (counts->n_failed)
        snprintf(failed, sizeof failed, ", %zu failed", counts->n_failed);
    if (counts->n_finished_before)
        snprintf(before, sizeof before, ", %zu finished before", counts->n_finished_before);
    console_note("%zu image%s segmented into %s%s%s", counts->n_done, counts->n_done == 1 ? "" : "s", self->output,
                 failed, before);
}

static enum clv_status run_inputs(struct segment_run *run, struct clv_error *err)
{
    const struct segment *self = run->options;
    struct file_writer table = {0};
    struct segment_counts counts = {0};
    enum clv_status status = begin_report(run, err);
    if (status == CLV_OK)
        status = folder_create(self->output, err);
    if (status == CLV_OK && self->status_file)
        status = file_create(&table, self->status_file, err);
    if (status == CLV_OK) {
        run->status = table.stream;
        if (table.stream)
            fputs("image\tstatus\tmask\tmessage\n", table.stream);
        status = segment_all(&counts, run, err);
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
    if (counts.n_done + counts.n_finished_before || counts.n_failed > 1)
        print_summary(self, &counts);
    /* Failures of single images were printed as they came: only their status is left to tell. */
    return status == CLV_OK ? counts.first_failure : status;
}

static enum clv_status run(const struct segment *self, struct clv_error *err)
{
    struct clv_progress progress = console_progress();
    struct clv_model model = {0};
    struct clv_dataset *dataset = NULL;
    struct input_list inputs = {.skip_below = NULL};
    struct output_list outputs = {0};
    enum clv_status status = clv_model_read(&model, self->model_path, err);
    if (status == CLV_OK && !model.has_recipe && !self->features)
        status = fail(err, CLV_ERR_USAGE, "%s: learned from features made elsewhere; segment needs --features",
                      self->model_path);
    if (status == CLV_OK && self->features)
        status = clv_features_open(&dataset, NULL, self->features, err);
    if (status == CLV_OK)
        status = gather(&inputs, self, dataset, err);
    if (status == CLV_OK)
        status = outputs_plan(&outputs, &inputs, self->output, self->overlay, self->existing, err);
    struct segment_run work = {
        .options = self,
        .model = &model,
        .dataset = dataset,
        .inputs = &inputs,
        .outputs = &outputs,
        .progress = &progress,
    };
    if (status == CLV_OK)
        status = run_inputs(&work, err);
    output_list_release(&outputs);
    input_list_release(&inputs);
    clv_dataset_free(dataset);
    clv_model_release(&model);
    return status;
}

enum clv_status cmd_segment(int argc, char **argv, struct clv_error *err)
{
    struct segment self = {.list_separator = '\n'};
    enum clv_status status = parse(&self, argc, argv, err);
    if (status == CLV_OK)
        status = run(&self, err);
    common_options_release(&self.common);
    return status;
}
