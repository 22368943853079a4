/* `cleave segment`: writes masks of images, by a model, from boxes, or from existing masks. */
#include "cli/segment/segment.h"

#include "base/base.h"

static enum clv_status check(struct segment *self, struct clv_error *err)
{
    struct clv_files_options *files = &self->files;
    const bool is_least_loss = files->decode == CLV_DECODING_MIN_LOSS;
    const char *sample_option = options_given(self->common, "seed")      ? "seed"
                                : options_given(self->common, "samples") ? "samples"
                                                                         : NULL;
    files->cutout |= files->crop || files->cutout_labels;
    if (files->sequence && !files->data && self->common->n_arguments == 1)
        files->data = self->common->arguments[--self->common->n_arguments];
    MUST(segment_take_arguments(self, err));
    FAIL_IF(sample_option && !is_least_loss, CLV_ERR_USAGE, "--%s needs --decode min-loss, which samples",
            sample_option);
    return CLV_OK;
}

enum clv_status cmd_segment(int argc, char **argv, struct clv_error *err)
{
    OWNED(common_options_release) struct common_options common = {0};
    struct segment self = {.common = &common};
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
        {{files_model_rows, &self.files, false},
         {files_way_rows, &self.files, false},
         {files_place_rows, &self.files, false},
         {files_mask_rows, &self.files, false},
         {files_deciding_rows, &self.files, false},
         {files_refining_rows, &self.files, false},
         {files_beside_rows, &self.files, false},
         {files_run_rows, &self.files, false},
         {image_option_rows, self.common, false},
         {plain_option_rows, self.common, false}},
    };
    return segment_command(&self, &table, check, argc, argv, err);
}
