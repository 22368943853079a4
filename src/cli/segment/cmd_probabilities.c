/* cleave probabilities: how probable a label is at every pixel, or by what margin it is the best one. */
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "cli/segment/segment.h"

#define DEFAULT_SIDE 128
#define MAX_SIDE     1024 /* of maps of 128 labels, which are the largest that are read */

#define AT(member) offsetof(struct segment, member)
#define BASIC      CLV_OPTION_BASIC
static const struct clv_option own_rows[] = {
    {"label", 0, "NAME", SECTION_OUTPUTS, BASIC, CLV_OPTION_TEXT, AT(label),
     .help = "The label, by name or number, whose probability is written (default 1)"},
    {"all-labels", 0, NULL, SECTION_OUTPUTS, BASIC, CLV_OPTION_FLAG, AT(all_labels),
     .help = "Write the probabilities of all labels: FOLDER/<image stem>.npy\n`cleave train --maps' reads them"},
    {"margins", 0, NULL, SECTION_OUTPUTS, CLV_OPTION_PLAIN, CLV_OPTION_FLAG, AT(margins),
     .help = "Write max-marginal margins of all labels instead: FOLDER/<image stem>.npy\n"
             "How much better the best labelling with a label is than that with any other"},
    {"side", 0, "N", SECTION_OUTPUTS, CLV_OPTION_PLAIN, CLV_OPTION_INT, AT(side), .minimum = 1, .maximum = MAX_SIDE,
     .help = "The longer side of these maps, in their pixels (1..1024)\n"
             "Default: 128 with --all-labels, the working size with --margins"},
    {"json", 0, NULL, SECTION_OUTPUTS, BASIC, CLV_OPTION_FLAG, AT(json),
     .help = "Print numbers of each image as JSON on standard output\n"
             "The label's expected share, mean entropy and the bound of the log-partition"},
    {"samples", 0, "N", SECTION_DECIDING, BASIC, CLV_OPTION_INT, AT(n_samples), .minimum = 1, .maximum = 1000000,
     .help = "Perturb-and-MAP samples of an image whose graph has loops"},
    {"seed", 's', "N", SECTION_DECIDING, BASIC, CLV_OPTION_UINT64, AT(seed), .help = "Seed of the samples"},
    {0},
};

static enum clv_status run(struct segment *self, struct clv_error *err)
{
    static const struct option_rule rules[] = {
        {"margins", RULE_EXCLUDES, "all-labels", "its maps are of all labels already, and no probabilities"},
        {"margins", RULE_EXCLUDES, "label", "its maps are of all labels"},
        {"margins", RULE_EXCLUDES, "json", "--json is of probabilities"},
        {"margins", RULE_EXCLUDES, "overlay", "--overlay is of probabilities"},
        {"margins", RULE_EXCLUDES, "report", "--report is of probabilities"},
        {"samples", RULE_IDLE, "margins", "margins are not sampled"},
        {"seed", RULE_IDLE, "margins", "margins are not sampled"},
        {"all-labels", RULE_EXCLUDES, "label", "--label is of one label"},
        {"all-labels", RULE_EXCLUDES, "json", "--json is of one label"},
        {"all-labels", RULE_EXCLUDES, "overlay", "--overlay is of one label"},
        {"all-labels", RULE_EXCLUDES, "report", "--report is of one label"},
    };
    MUST(segment_check(self, "probabilities", err));
    MUST(options_check(&self->common, rules, sizeof rules / sizeof *rules, err));
    FAIL_IF(self->side && !self->all_labels && !self->margins, CLV_ERR_USAGE,
            "--side: it is of maps, which --all-labels or --margins write");
    self->side = self->side || self->margins ? self->side : DEFAULT_SIDE;
    FAIL_IF(self->json && self->status_file && strcmp(self->status_file, "-") == 0, CLV_ERR_USAGE,
            "--json and --status - both want standard output");
    return segment_images(self, err);
}

static void segment_release(struct segment *self)
{
    common_options_release(&self->common);
}

enum clv_status cmd_probabilities(int argc, char **argv, struct clv_error *err)
{
    OWNED(segment_release) struct segment self = {.marginals = true, .n_samples = 100, .mask_form = MASKS_GREY};
    const struct option_table table = {
        "-m MODEL -o FOLDER [OPTION...] IMAGE|FOLDER|-...",
        "Writes how probable a label is at every pixel, as grey images.",
        {"probabilities -m model.cleave -o out photos/", "probabilities -m model.cleave -o maps --all-labels photos/"},
        "The results are FOLDER/<image stem>.png, 8-bit grey: probability = value / 255. Probabilities are exact where "
        "the graph has no loops: chains, trees, regions without couplings. Elsewhere they are samples, the share of "
        "perturb-and-MAP labellings in which the pixel has the label: Gumbel noise on every score, then the best "
        "labelling. "
        "100 samples leave a standard error of at most 0.05, and besides that the shares differ from the "
        "probabilities, "
        "however many samples there are. Models that no cut decodes (mssvm) have loopy belief propagation instead. "
        "pmap, mpmap, wmpmap, crf and hcrf learn probabilities; scores of other learners, such as ssvm, are margins: "
        "they are rescaled, and their maps show what is more or less certain, not how much. --overlay shows the image "
        "in grey, the more orange the less certain the label is, with "
        "the outline "
        "of probability 1/2. The argument - reads a list of paths from standard input; with -o -, the image itself. "
        "Inputs, failures and Ctrl-C are as for `cleave segment'.",
        {{segment_shared_rows, &self, false},
         {own_rows, &self, false},
         {segment_running_rows, &self, false},
         {image_option_rows, &self.common, false},
         {plain_option_rows, &self.common, false}},
    };
    common_options_init(&self.common);
    MUST(options_parse(&table, argc, argv, &self.common, err));
    MUST(options_take_manifest(&table, &self.common, err));
    return run(&self, err);
}
