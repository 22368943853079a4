/* Options of what `cleave segment` writes beside its masks: cut-outs, and objects for other programs. */
#include <string.h>

#include "base/error.h"
#include "cli/segment/exporting.h"

enum beside_keys { KEY_CUTOUT = KEYS_SEGMENT + 0x80, KEY_CUTOUT_LABEL, KEY_CROP, KEY_EXPORT, KEY_TOLERANCE, KEY_RLE };

static const struct argp_option beside_options[] = {
    {"cutout", KEY_CUTOUT, NULL, 0,
     "Also FOLDER/cutouts/<image stem>.png: the object alone on transparency, its border soft; with -o - in place of "
     "the mask",
     2},
    {"cutout-label", KEY_CUTOUT_LABEL, "NAME,..", 0,
     "The labels, by name or number, that are the object (default: all but label 0; means --cutout)", 2},
    {"crop", KEY_CROP, NULL, 0, "Cut-outs are no larger than the object (means --cutout)", 2},
    {"export", KEY_EXPORT, "FORM", 0,
     "Also the objects for other programs: coco (FOLDER/coco.json), labelme, voc or yolo (files in FOLDER/FORM/)", 2},
    {"tolerance", KEY_TOLERANCE, "PX", 0,
     "How far the polygons of --export may run beside the masks' borders, 0..100 pixels (default 1)", 2},
    {"rle", KEY_RLE, NULL, 0, "--export coco: run lengths, exact, of all objects (default: of those with holes)", 2},
    {0},
};

static error_t parse_beside(int key, char *arg, struct argp_state *state)
{
    static const char *const forms[] = {"none", "coco", "labelme", "voc", "yolo"};
    struct segment *self = state->input;
    switch (key) {
    case KEY_CUTOUT: self->cutout = true; return 0;
    case KEY_CUTOUT_LABEL:
        self->cutout = true;
        self->cutout_labels = arg;
        return 0;
    case KEY_CROP:
        self->cutout = true;
        self->crop = true;
        return 0;
    case KEY_EXPORT: return option_choice(&self->export.form, "--export", arg, forms, 5, &self->common);
    case KEY_TOLERANCE:
        self->export.has_tolerance = true;
        return option_number(&self->export.tolerance, "--tolerance", arg, 0, 100, &self->common);
    case KEY_RLE: self->export.runs = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp beside_argp = {.options = beside_options, .parser = parse_beside};

enum clv_status beside_check(const struct segment *self, struct clv_error *err)
{
    const struct export_options *export = &self->export;
    if (export->form && segment_is_piped(self))
        return fail(err, CLV_ERR_USAGE, "-o -: standard output takes the one result; leave out --export");
    if (self->cutout && self->features)
        return fail(err, CLV_ERR_USAGE, "--cutout: a feature file holds no pictures to cut from");
    if (export->runs && export->form != EXPORT_COCO)
        return fail(err, CLV_ERR_USAGE, "--rle: goes with --export coco, the one form with run lengths");
    if (export->has_tolerance && (!export->form || export->form == EXPORT_VOC))
        return fail(err, CLV_ERR_USAGE, "--tolerance: goes with --export %s",
                    export->form ? "coco, labelme and yolo: VOC's masks are exact" : "coco, labelme and yolo");
    return CLV_OK;
}
