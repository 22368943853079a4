/* `cleave propagate`: propagates masks of some frames of a video, or slices of a stack, to the others, without a
 * model. */
#include "cli/segment/segment.h"

#include "base/base.h"

static enum clv_status check(struct segment *self, struct clv_error *err)
{
    struct clv_files_options *files = &self->files;
    files->propagates = true;
    files->cutout |= files->crop || files->cutout_labels;
    if (!files->data && self->common->n_arguments == 1)
        files->data = self->common->arguments[--self->common->n_arguments];
    MUST(segment_take_arguments(self, err));
    FAIL_IF(files->output && files->split && text_ends_with(files->output, ".tif") && !path_is_folder(files->output),
            CLV_ERR_USAGE, "--split cannot be used with -o %s: it has a page for each frame", files->output);
    return CLV_OK;
}

enum clv_status cmd_propagate(int argc, char **argv, struct clv_error *err)
{
    OWNED(common_options_release) struct common_options common = {0};
    struct segment self = {.common = &common};
    const struct option_table table = {
        "FOLDER|MANIFEST|STACK.tif -o FOLDER [OPTION...]",
        "Propagates masks of some frames to the others, without a model.",
        {"propagate frames/ -o out", "propagate stack.tif -o masks.tif"},
        "FOLDER has images/ and masks/, with a mask of at least one frame. Frames follow each other by the numbers in "
        "their names, rows of a manifest by its column `sequence'. Masks have two labels, background and foreground. "
        "Each frame's mask comes from the nearest given one, before or after it. A frame that fails ends its chain, "
        "and the rest goes on.",
        {{files_propagate_rows, &self.files, false},
         {files_place_rows, &self.files, false},
         {files_mask_rows, &self.files, false},
         {files_beside_rows, &self.files, false},
         {files_run_rows, &self.files, false},
         {image_option_rows, self.common, false},
         {plain_option_rows, self.common, false}},
    };
    return segment_command(&self, &table, check, argc, argv, err);
}
