/* The options that `cleave segment` and `cleave probabilities` share, and their rules. Start at segment_check. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/options.h"
#include "cleave/options.h"
#include "cli/segment/segment.h"
#include "intake/intake.h"
#include "segment/segment.h"
#include "train/train.h"

#define AT(member) offsetof(struct segment, member)
#define BASIC      CLV_OPTION_BASIC
#define NEEDED     CLV_OPTION_NEEDED

const struct clv_option segment_shared_rows[] = {
    {"model", 'm', "MODEL", SECTION_INPUTS, NEEDED, CLV_OPTION_TEXT, AT(model_path),
     .help = "The model, as `cleave train' wrote it"},
    {"output", 'o', "FOLDER", SECTION_OUTPUTS, NEEDED, CLV_OPTION_TEXT, AT(output),
     .help = "Where the results go: FOLDER/<image stem>.png (.tif for GeoTIFFs)\n"
             "Subfolders are kept. FILE.png or FILE.tif is one image's result, - the same on standard output; of a "
             "sequence FILE.tif has a page for each slice"},
    {"data", 'd', "PATH", SECTION_INPUTS, BASIC, CLV_OPTION_TEXT, AT(data),
     .help = "A set's folder or manifest, instead of images or with them"},
    {"split", 0, "NAME,..", SECTION_INPUTS, BASIC, CLV_OPTION_TEXT, AT(split),
     .help = "Only these splits of --data (default: all)"},
    {"maps", 0, "NAME=FOLDER", SECTION_INPUTS, CLV_OPTION_AGAIN, CLV_OPTION_OTHER, AT(maps), .take = option_take_maps,
     .help = MAPS_HELP},
    {"features", 0, "FILE", SECTION_INPUTS, CLV_OPTION_AGAIN, CLV_OPTION_TEXT, AT(features),
     .help = "Take the items of a feature file instead of images; again for each of several"},
    {"null", '0', NULL, SECTION_INPUTS, 0, CLV_OPTION_FLAG, AT(ends_with_zero),
     .help = "Paths read for the argument - end with a zero byte, not with a line"},
    {"overlay", 0, NULL, SECTION_OUTPUTS, BASIC, CLV_OPTION_FLAG, AT(overlay),
     .help = "Also FOLDER/overlays/<stem>.png, .jpg of a JPEG: tinted and outlined\nJPEGs have quality 90"},
    {"report", 0, "FOLDER", SECTION_OUTPUTS, BASIC, CLV_OPTION_TEXT, AT(report),
     .help = "Also an HTML page that shows all results: FOLDER/index.html"},
    {"status", 0, "FILE", SECTION_OUTPUTS, 0, CLV_OPTION_TEXT, AT(status_file),
     .help = "Also a table: image, done or failed, mask, message\nTab-separated; - is standard output"},
    {0},
};

const struct clv_option segment_running_rows[] = {
    {"overwrite", 0, NULL, SECTION_RUN, BASIC, CLV_OPTION_SET, AT(existing), .minimum = EXISTING_OVERWRITE,
     .help = OVERWRITE_HELP},
    {"resume", 0, NULL, SECTION_RUN, BASIC, CLV_OPTION_SET, AT(existing), .minimum = EXISTING_RESUME,
     .help = "Leave out images whose outputs exist; masks that exist stay"},
    {"fail-fast", 0, NULL, SECTION_RUN, 0, CLV_OPTION_FLAG, AT(fail_fast),
     .help = "Stop at the first image that fails (default: go on with the rest)"},
    {"shard", 0, "I/N", SECTION_RUN, 0, CLV_OPTION_OTHER, AT(shard), .take = option_take_shard, .help = SHARD_HELP},
    {"memory", 0, "SIZE", SECTION_RUN, 0, CLV_OPTION_MEMORY, AT(memory),
     .help = "Memory for the run, such as 800M or 2G (default: half of what is free)\n"
             "Images wait until there is enough, and are refused where there never is"},
    {"engine", 0, "NAME", SECTION_RUN, 0, CLV_OPTION_OTHER, AT(engine), .choices = engine_names,
     .take = option_take_engine, .help = ENGINE_HELP},
    {0},
};

static const char *const export_forms[] = {"none", "coco",    "labelme", "voc",
                                           "yolo", "geojson", NULL}; /* bits from 1 on */

/* Adds the forms of a list to those that were given before; "none" takes these back. */
static enum clv_status take_forms(void *member, const struct clv_option *option, const char *typed,
                                  struct clv_error *err)
{
    unsigned *forms = member;
    for (const char *part = typed; part; part = strchr(part, ',') ? strchr(part, ',') + 1 : NULL) {
        char name[16];
        int form = 0;
        size_t length = strcspn(part, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, part);
        MUST(option_choice(&form, option->name, length < sizeof name ? name : part, export_forms,
                           sizeof export_forms / sizeof *export_forms - 1, err));
        *forms = form ? *forms | 1U << (form - 1) : 0;
    }
    return CLV_OK;
}

const struct clv_option segment_output_rows[] = {
    {"cutout", 0, NULL, SECTION_OUTPUTS, BASIC, CLV_OPTION_FLAG, AT(cutout),
     .help = "Also FOLDER/cutouts/<image stem>.png: the object on transparency\n"
             "Its border is soft. With -o - instead of the mask"},
    {"cutout-label", 0, "NAME,..", SECTION_OUTPUTS, 0, CLV_OPTION_TEXT, AT(cutout_labels),
     .help = "The labels that are the object, by name or number (default: all but label 0); means --cutout"},
    {"crop", 0, NULL, SECTION_OUTPUTS, 0, CLV_OPTION_FLAG, AT(crop),
     .help = "Make cut-outs no larger than the object; means --cutout"},
    {"export", 0, "FORM,..", SECTION_OUTPUTS, BASIC | CLV_OPTION_AGAIN, CLV_OPTION_OTHER, AT(export.forms),
     .choices = export_forms, .take = take_forms,
     .help = "Also the objects for other programs: coco, labelme, voc, yolo, geojson\n"
             "In FOLDER/coco.json, or in files in FOLDER/FORM/. Several, or the option again: each of them"},
    {"objects", 0, NULL, SECTION_OUTPUTS, BASIC, CLV_OPTION_FLAG, AT(objects),
     .help = "Also number and measure objects; --min-area N drops specks\n"
             "In FOLDER/objects/ and FOLDER/objects.tsv. A model trained on instances/ separates those that touch; of "
             "others objects are connected pieces of a label, "
             "and mean_probability in the table is nan, not known"},
    {"clear-border", 0, NULL, SECTION_OUTPUTS, 0, CLV_OPTION_FLAG, AT(clear_border),
     .help = "With --objects: leave out objects that touch the image's border"},
    {"tolerance", 0, "PX", SECTION_OUTPUTS, 0, CLV_OPTION_NUMBER, AT(export.tolerance), .minimum = 0, .maximum = 100,
     .help = "How far from the masks' borders the polygons of --export may be, in pixels"},
    {"rle", 0, NULL, SECTION_OUTPUTS, 0, CLV_OPTION_FLAG, AT(export.runs),
     .help = "With --export coco: exact run lengths for all objects (default: for those with holes)"},
    {0},
};

bool segment_is_piped(const struct segment *self)
{
    return strcmp(self->output, "-") == 0;
}

bool segment_refines(const struct segment_run *run, int32_t width_px, int32_t height_px)
{
    const struct segment *self = run->options;
    if (self->marginals || self->decoding == DECODING_MIN_LOSS || self->features || self->boxes)
        return false;
    return label_refines(self->refine, run->model, width_px, height_px);
}

static bool reads_list(const struct segment *self)
{
    for (size_t i = 0; i < self->common.n_arguments; i++)
        if (strcmp(self->common.arguments[i], "-") == 0)
            return true;
    return false;
}

static const struct option_rule of_boxes[] =
    {
        {"boxes", RULE_EXCLUDES, "model", "cuts boxes without a model; leave out -m or --boxes"},
        {"boxes", RULE_EXCLUDES, "features", "needs the images; leave out --features"},
},
                                of_inputs[] = {
                                    {"maps", RULE_EXCLUDES, "features",
                                     "goes with a model and images, not with --features, which has what they gave"},
                                    {"maps", RULE_EXCLUDES, "boxes", "goes with a model and images, not with --boxes"},
                                    {"features", RULE_EXCLUDES, "data", "goes with neither --data nor further inputs"},
                                    {"overlay", RULE_EXCLUDES, "features", "a feature file has no images to show"},
                                    {"report", RULE_EXCLUDES, "features", "a feature file has no images to show"},
};

enum clv_status segment_check(const struct segment *self, const char *command, struct clv_error *err)
{
    const struct common_options *common = &self->common;
    if (options_given(common, "overwrite") && options_given(common, "resume"))
        return fail(err, CLV_ERR_USAGE, "--overwrite and --resume exclude each other");
    if (!self->model_path && !self->boxes) {
        fail(err, CLV_ERR_USAGE,
             "no model; add -m MODEL: `cleave train' makes a model of images with masks, `cleave label' of what is "
             "marked on a page; `cleave segment --boxes' and `cleave propagate' need none");
        return fail_about(err, CLV_ERR_USAGE, command);
    }
    MUST(options_check(common, of_boxes, sizeof of_boxes / sizeof *of_boxes, err));
    if (self->boxes && self->refine != CLV_REFINE_LARGE)
        return fail(err, CLV_ERR_USAGE, "--boxes: %s",
                    self->refine == CLV_REFINE_ALL
                        ? "box cuts are refined at the pixels anyway; leave out --refine"
                        : "box cuts are always refined at the pixels; leave out --no-refine");
    if (!self->output)
        return fail_about(err, fail(err, CLV_ERR_USAGE, "no output; add -o FOLDER"), command);
    if (segment_is_piped(self) && (self->overlay || self->existing == EXISTING_RESUME || self->json))
        return fail(err, CLV_ERR_USAGE, "-o -: standard output takes the one result; leave out %s",
                    self->overlay ? "--overlay"
                    : self->json  ? "--json"
                                  : "--resume");
    if (segment_is_piped(self) && self->shard.count)
        return fail(err, CLV_ERR_USAGE, "-o -: standard output takes the one result; leave out --shard");
    if (segment_is_piped(self) && self->status_file && strcmp(self->status_file, "-") == 0)
        return fail(err, CLV_ERR_USAGE, "-o - and --status - both want standard output");
    if (!self->data && !self->features && !common->n_arguments) {
        fail(err, CLV_ERR_USAGE, "no images: name files or folders, or --data, or --features");
        return fail_about(err, CLV_ERR_USAGE, command);
    }
    FAIL_IF(self->split && !self->data, CLV_ERR_USAGE, "--split: no dataset; add --data PATH");
    MUST(options_check(common, of_inputs, sizeof of_inputs / sizeof *of_inputs, err));
    if (self->features && common->n_arguments)
        return fail(err, CLV_ERR_USAGE, "--features: goes with neither --data nor further inputs");
    if (self->ends_with_zero && (segment_is_piped(self) || !reads_list(self)))
        return fail(err, CLV_ERR_USAGE, "--null cannot be used: no argument - reads a list of paths");
    MUST(common_options_check(common, self->features ? "a feature file has no images" : NULL, err));
    return common->paths.n ? feature_paths_check(&common->paths, "features", err) : CLV_OK;
}

enum clv_status segment_check_outputs(const struct segment *self, struct clv_error *err)
{
    const struct export_options *export = &self->export;
    if (export->forms && segment_is_piped(self))
        return fail(err, CLV_ERR_USAGE, "-o -: standard output takes the one result; leave out --export");
    if (self->objects && segment_is_piped(self))
        return fail(err, CLV_ERR_USAGE, "-o -: standard output takes the one result; leave out --objects");
    FAIL_IF(self->objects && self->features, CLV_ERR_USAGE, "--objects: a feature file has no images to measure in");
    FAIL_IF(self->clear_border && !self->objects, CLV_ERR_USAGE, "--clear-border needs --objects");
    FAIL_IF(self->cutout && self->features, CLV_ERR_USAGE, "--cutout: a feature file has no images to cut from");
    if (export->runs && !(export->forms & EXPORT_COCO))
        return fail(err, CLV_ERR_USAGE, "--rle: goes with --export coco, the one form with run lengths");
    if (options_given(&self->common, "tolerance") && !(export->forms & ~(unsigned)EXPORT_VOC))
        return fail(err, CLV_ERR_USAGE, "--tolerance: goes with --export %s",
                    export->forms ? "coco, labelme, yolo and geojson: VOC's masks are exact"
                                  : "coco, labelme, yolo and geojson");
    return CLV_OK;
}
