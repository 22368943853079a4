/* Options that `cleave segment` and `cleave marginals` share. */
#include <string.h>

#include "base/error.h"
#include "cli/segment/segment.h"
#include "task/training_set.h"

enum shared_keys {
    KEY_SPLIT = KEYS_SEGMENT,
    KEY_FEATURES,
    KEY_OVERLAY,
    KEY_RESUME,
    KEY_FAIL_FAST,
    KEY_STATUS,
    KEY_REPORT,
    KEY_ENGINE,
    KEY_MAPS,
    KEY_SHARD,
    KEY_MEMORY,
};

static const struct argp_option shared_options[] = {
    {NULL, 0, NULL, 0, "What to work on:", 1},
    {"model", 'm', "FILE", 0, "The model that `cleave train' wrote", 1},
    {"data", 'd', "PATH", 0, "A manifest or a set's folder (instead of, or beside, arguments)", 1},
    {"split", KEY_SPLIT, "NAME,..", 0, "Splits of --data (default: all of it)", 1},
    {"features", KEY_FEATURES, "FILE", 0,
     "Take the items of a feature file instead of images; again for each of several", 1},
    {"maps", KEY_MAPS, "NAME=FOLDER", 0, MAPS_HELP, 1},
    {"shard", KEY_SHARD, "I/N", 0, SHARD_HELP, 1},
    {"null", '0', NULL, 0, "Paths read for the argument - end with a zero byte, not with a line", 1},
    {"output", 'o', "FOLDER", 0,
     "Where the results go: FOLDER/<image stem>.png, subfolders kept; - is standard output, for one image", 2},
    {"overlay", KEY_OVERLAY, NULL, 0, "Also FOLDER/overlays/<image stem>.png: the image, tinted and outlined", 2},
    {"report", KEY_REPORT, "FOLDER", 0, "Also one HTML page, FOLDER/index.html, with everything side by side", 2},
    {"status", KEY_STATUS, "FILE", 0, "Also a table: image, done or failed, mask, message (tab-separated; - is stdout)",
     2},
    {NULL, 0, NULL, 0, "How to go about it:", 3},
    {"overwrite", KEY_OVERWRITE, NULL, 0, OVERWRITE_HELP, 3},
    {"resume", KEY_RESUME, NULL, 0, "Leave out images whose outputs exist", 3},
    {"fail-fast", KEY_FAIL_FAST, NULL, 0, "Stop at the first image that fails (default: go on with the rest)", 3},
    {"memory", KEY_MEMORY, "SIZE", 0,
     "Memory for the run, as 800M or 2G: images wait, and are refused, for it (default: half of what is free)", 3},
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

static error_t parse_shared(int key, char *arg, struct argp_state *state)
{
    struct segment *self = state->input;
    switch (key) {
    case ARGP_KEY_ARGS:
        self->paths = state->argv + state->next;
        self->n_paths = (size_t)(state->argc - state->next);
        return 0;
    case 'm': self->model_path = arg; return 0;
    case 'd': self->data = arg; return 0;
    case 'o': self->output = arg; return 0;
    case '0': self->list_separator = 0; return 0;
    case KEY_SPLIT: self->split = arg; return 0;
    case KEY_FEATURES: return option_path(&self->features, arg, &self->common);
    case KEY_MAPS: return option_maps(&self->maps, arg, &self->common);
    case KEY_OVERLAY: self->overlay = true; return 0;
    case KEY_REPORT: self->report = arg; return 0;
    case KEY_STATUS: self->status_file = arg; return 0;
    case KEY_OVERWRITE: return parse_existing(self, EXISTING_OVERWRITE);
    case KEY_RESUME: return parse_existing(self, EXISTING_RESUME);
    case KEY_SHARD: return option_shard(&self->shard, arg, &self->common);
    case KEY_FAIL_FAST: self->fail_fast = true; return 0;
    case KEY_MEMORY: return option_memory(&self->memory, "--memory", arg, &self->common);
    case KEY_ENGINE: return option_engine(&self->engine, arg, &self->common);
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp segment_argp = {.options = shared_options, .parser = parse_shared};

bool segment_is_piped(const struct segment *self)
{
    return strcmp(self->output, "-") == 0;
}

bool segment_refines(const struct segment_run *run, int32_t width_px, int32_t height_px)
{
    const struct segment *self = run->options;
    if (self->marginals || self->decoding == DECODING_LEAST_LOSS || self->features || self->boxes)
        return false;
    return self->refine == REFINE_ALL ||
           (self->refine == REFINE_LARGE && (int64_t)width_px * height_px > run->model->recipe.working_pixels);
}

static bool reads_list(const struct segment *self)
{
    for (size_t i = 0; i < self->n_paths; i++)
        if (strcmp(self->paths[i], "-") == 0)
            return true;
    return false;
}

enum clv_status segment_check(const struct segment *self, const char *command, struct clv_error *err)
{
    if (!self->model_path && !self->boxes)
        return fail(err, CLV_ERR_USAGE, "%s: -m is missing: which model?", command);
    if (self->boxes && self->model_path)
        return fail(err, CLV_ERR_USAGE, "--boxes: cuts boxes without a model; leave out -m or --boxes");
    if (self->boxes && (self->features || self->refine != REFINE_LARGE))
        return fail(err, CLV_ERR_USAGE, "--boxes: %s",
                    self->features ? "needs the images; leave out --features"
                    : self->refine == REFINE_ALL
                        ? "box cuts are sharpened at the pixels anyway; leave out --refine"
                        : "box cuts are always sharpened at the pixels; leave out --no-refine");
    if (!self->output)
        return fail(err, CLV_ERR_USAGE, "%s: -o is missing: where do the results go?", command);
    if (segment_is_piped(self) && (self->overlay || self->existing == EXISTING_RESUME || self->json))
        return fail(err, CLV_ERR_USAGE, "-o -: standard output takes the one result; leave out %s",
                    self->overlay ? "--overlay"
                    : self->json  ? "--json"
                                  : "--resume");
    if (segment_is_piped(self) && self->shard.count)
        return fail(err, CLV_ERR_USAGE, "-o -: standard output takes the one result; leave out --shard");
    if (segment_is_piped(self) && self->status_file && strcmp(self->status_file, "-") == 0)
        return fail(err, CLV_ERR_USAGE, "-o - and --status - both want standard output");
    if (!self->data && !self->features && !self->n_paths)
        return fail(err, CLV_ERR_USAGE, "%s: no images: name files or folders, or --data, or --features", command);
    if (self->split && !self->data)
        return fail(err, CLV_ERR_USAGE, "--split: --data is missing: splits of what?");
    if (self->maps.n && (self->features || self->boxes))
        return fail(err, CLV_ERR_USAGE, "--maps: goes with a model and images, not with --%s",
                    self->features ? "features, which has what they gave" : "boxes");
    if (self->features && (self->data || self->n_paths))
        return fail(err, CLV_ERR_USAGE, "--features: goes with neither --data nor further inputs");
    if (self->features && (self->overlay || self->report))
        return fail(err, CLV_ERR_USAGE, "%s: a feature file holds no pictures to show",
                    self->overlay ? "--overlay" : "--report");
    if (self->list_separator == 0 && (segment_is_piped(self) || !reads_list(self)))
        return fail(err, CLV_ERR_USAGE, "--null has no effect: no argument - reads a list of paths");
    enum clv_status status =
        common_options_check(&self->common, self->features ? "a feature file holds no images" : NULL, err);
    return status == CLV_OK ? feature_paths_check(&self->common.paths, "--features", err) : status;
}
