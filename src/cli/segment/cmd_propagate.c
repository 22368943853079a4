/* cleave propagate: masks of some frames of a video, or slices of a stack, are propagated to the others, without a
 * model. It shares its run with `cleave segment`; sequence.c has the work, sequence/propagate.c the method. */
#include <stddef.h>

#include "base/base.h"
#include "cleave/options.h"
#include "cli/common/common.h"
#include "cli/segment/segment.h"
#include "intake/intake.h"

#define AT(member) offsetof(struct segment, member)
#define BASIC      CLV_OPTION_BASIC
#define NEEDED     CLV_OPTION_NEEDED
static const struct clv_option own_rows[] = {
    {"data", 'd', "PATH", SECTION_INPUTS, BASIC, CLV_OPTION_TEXT, AT(data),
     .help = "The folder or manifest of frames and masks, instead of the argument"},
    {"from-split", 0, "NAME,..", SECTION_INPUTS, BASIC, CLV_OPTION_TEXT, AT(given),
     .help = "Propagate only masks of these splits (default: all masks)"},
    {"split", 0, "NAME,..", SECTION_INPUTS, BASIC, CLV_OPTION_TEXT, AT(split),
     .help = "Write only masks of these splits (default: all without a given mask)"},
    {"output", 'o', "FOLDER", SECTION_OUTPUTS, NEEDED, CLV_OPTION_TEXT, AT(output),
     .help = "Where the masks go: FOLDER/<image stem>.png\nFILE.tif has a page for each frame"},
    {"mask-format", 0, "FORMAT", SECTION_OUTPUTS, 0, CLV_OPTION_CHOICE, AT(mask_form), .choices = mask_forms,
     .help = "Format of the masks, 8-bit PNG: palette, grey or binary"},
    {"overlay", 0, NULL, SECTION_OUTPUTS, BASIC, CLV_OPTION_FLAG, AT(overlay),
     .help = "Also FOLDER/overlays/<stem>.png, .jpg of a JPEG: tinted and outlined"},
    {"overwrite", 0, NULL, SECTION_RUN, BASIC, CLV_OPTION_SET, AT(existing), .minimum = EXISTING_OVERWRITE,
     .help = OVERWRITE_HELP},
    {"resume", 0, NULL, SECTION_RUN, BASIC, CLV_OPTION_SET, AT(existing), .minimum = EXISTING_RESUME,
     .help = "Skip frames whose masks were written before"},
    {"memory", 0, "SIZE", SECTION_RUN, 0, CLV_OPTION_MEMORY, AT(memory),
     .help = "Memory for the run, such as 800M or 2G (default: half of what is free)"},
    {0},
};

static enum clv_status check(struct segment *self, struct clv_error *err)
{
    struct common_options *common = &self->common;
    FAIL_IF(options_given(common, "overwrite") && options_given(common, "resume"), CLV_ERR_USAGE,
            "--overwrite and --resume exclude each other");
    FAIL_IF(!self->output, CLV_ERR_USAGE, "propagate: no output; add -o FOLDER");
    if (!self->data && common->n_arguments == 1)
        self->data = common->arguments[--common->n_arguments];
    FAIL_IF(!self->data || common->n_arguments, CLV_ERR_USAGE,
            "propagate: takes one folder or manifest of frames and masks");
    FAIL_IF(segment_is_piped(self), CLV_ERR_USAGE, "propagate: writes a mask for each frame; add -o FOLDER");
    FAIL_IF(self->split && text_ends_with(self->output, ".tif") && !path_is_folder(self->output), CLV_ERR_USAGE,
            "-o %s: has a page for each frame; leave out --split", self->output);
    return common_options_check(common, NULL, err);
}

static void propagate_release(struct segment *self)
{
    common_options_release(&self->common);
}

enum clv_status cmd_propagate(int argc, char **argv, struct clv_error *err)
{
    OWNED(propagate_release) struct segment self = {.is_sequence = true, .n_samples = 100, .export = {.tolerance = 1}};
    const struct option_table table = {
        "FOLDER|MANIFEST|STACK.tif -o FOLDER [OPTION...]",
        "Propagates masks of some frames to the others, without a model.",
        {"propagate frames/ -o out", "propagate stack.tif -o masks.tif"},
        "FOLDER has images/ and masks/, with a mask of at least one frame. Frames follow each other by the numbers in "
        "their names, rows of a manifest by its column `sequence'. Masks have two labels, background and foreground. "
        "Each frame's mask comes from the nearest given one, before or after it. A frame that fails ends its chain, "
        "and "
        "the rest goes on.",
        {{own_rows, &self, false}, {image_option_rows, &self.common, false}, {plain_option_rows, &self.common, false}},
    };
    common_options_init(&self.common);
    MUST(options_parse(&table, argc, argv, &self.common, err));
    MUST(options_take_manifest(&table, &self.common, err));
    MUST(check(&self, err));
    return segment_images(&self, err);
}
