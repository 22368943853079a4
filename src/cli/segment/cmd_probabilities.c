/* `cleave probabilities`: writes the probability of a label, or the margins of labels, at every pixel. */
#include "cli/segment/segment.h"

#include <stddef.h>

#include "base/base.h"

#define DEFAULT_SIDE 128

static const struct clv_option json_rows[] = {
    {"json", 0, NULL, SECTION_OUTPUTS, CLV_OPTION_BASIC, CLV_OPTION_FLAG, offsetof(struct segment, json),
     .help = "Print numbers of each image as JSON on standard output\n"
             "The label's expected share, mean entropy and the bound of the log-partition"},
    {0},
};

static enum clv_status check(struct segment *self, struct clv_error *err)
{
    static const struct option_rule rules[] = {
        {"margins", RULE_UNUSED, "all-labels", "its maps are of all labels already, and no probabilities"},
        {"json", RULE_UNUSED, "margins", "it is of probabilities"},
        {"json", RULE_UNUSED, "all-labels", "it is of one label"},
        {"samples seed", RULE_UNUSED, "margins", "margins are not sampled"},
        {0},
    };
    struct clv_files_options *files = &self->files;
    MUST(options_check(self->common, rules, err));
    if (files->sequence && !files->data && self->common->n_arguments == 1)
        files->data = self->common->arguments[--self->common->n_arguments];
    if (!files->probabilities)
        files->probabilities = CLV_PROBABILITIES_OF_LABEL;
    const bool has_maps = files->probabilities != CLV_PROBABILITIES_OF_LABEL;
    FAIL_IF(files->side && !has_maps, CLV_ERR_USAGE, "--side: it is of maps, which --all-labels or --margins write");
    if (!files->side && files->probabilities == CLV_PROBABILITIES_OF_ALL)
        files->side = DEFAULT_SIDE;
    return segment_take_arguments(self, err);
}

enum clv_status cmd_probabilities(int argc, char **argv, struct clv_error *err)
{
    OWNED(common_options_release) struct common_options common = {0};
    struct segment self = {.common = &common};
    const struct option_table table = {
        "-m MODEL -o FOLDER [OPTION...] IMAGE|FOLDER|-...",
        "Writes how probable a label is at every pixel, as grey images.",
        {"probabilities -m model.cleave -o out photos/", "probabilities -m model.cleave -o maps --all-labels photos/"},
        "The results are FOLDER/<image stem>.png, 8-bit grey: probability = value / 255. Probabilities are exact where "
        "the graph has no loops: chains, trees, regions without couplings. Elsewhere they are samples, the share of "
        "perturb-and-MAP labellings in which the pixel has the label: Gumbel noise on every score, then the best "
        "labelling. 100 samples leave a standard error of at most 0.05, and besides that the shares differ from the "
        "probabilities, however many samples there are. Models that no cut decodes (mssvm) have loopy belief "
        "propagation instead. With --sequence the slices of a window are one graph, and so is what --json says of its "
        "log-partition. pmap, mpmap, wmpmap, crf and hcrf learn probabilities; scores of other learners, such as ssvm, "
        "are margins: they are rescaled, and their maps show what is more or less certain, not how much. --overlay "
        "shows the image in grey, the more orange the less certain the label is, with the outline of probability 1/2. "
        "The argument - reads a list of paths from standard input; with -o -, the image itself. Inputs, failures and "
        "Ctrl-C are as for `cleave segment'.",
        {{files_model_rows, &self.files, false},
         {files_way_rows, &self.files, false},
         {files_place_rows, &self.files, false},
         {files_probability_rows, &self.files, false},
         {json_rows, &self, false},
         {files_sampling_rows, &self.files, false},
         {files_run_rows, &self.files, false},
         {image_option_rows, self.common, false},
         {plain_option_rows, self.common, false}},
    };
    return segment_command(&self, &table, check, argc, argv, err);
}
