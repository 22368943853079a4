/* cleave marginals: how probable a label is at every pixel, by perturb-and-MAP. */
#include <string.h>

#include "base/error.h"
#include "cli/common/command.h"
#include "cli/segment/segment.h"
#include "cli/segment/segment_files.h"

enum marginals_keys { KEY_DRAWS = KEYS_COMMAND, KEY_LABEL, KEY_JSON, KEY_ALL_LABELS, KEY_SIDE };

#define DEFAULT_SIDE 128
#define MAX_SIDE     1024 /* of maps of 128 labels, which are the largest that are read */

static const struct argp_option marginals_options[] = {
    {NULL, 0, NULL, 0, "What comes out:", 2},
    {"label", KEY_LABEL, "NAME", 0, "The label, by name or number, whose probability is written (default 1)", 2},
    {"all-labels", KEY_ALL_LABELS, NULL, 0,
     "Write FOLDER/<image stem>.npy with the probabilities of all labels, which `cleave train --maps' reads", 2},
    {"side", KEY_SIDE, "N", 0, "With --all-labels: the longer side of the maps, in their pixels (default 128)", 2},
    {"json", KEY_JSON, NULL, 0,
     "Tell each image's expected share of the label, mean entropy and log-partition bound on standard output", 2},
    {"draws", KEY_DRAWS, "N", 0, "Perturb-and-MAP draws an image (default 100)", 3},
    {"seed", 's', "N", 0, "Seed of the draws (default 0)", 3},
    {0},
};

static error_t parse_marginals(int key, char *arg, struct argp_state *state)
{
    struct segment *self = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = self;
        state->child_inputs[1] = &self->common;
        return 0;
    case KEY_DRAWS:
        self->of_draws = "draws";
        return option_int(&self->n_draws, "--draws", arg, 1, 1000000, &self->common);
    case 's': self->of_draws = "seed"; return option_uint64(&self->seed, "--seed", arg, 0, &self->common);
    case KEY_LABEL: self->label = arg; return 0;
    case KEY_ALL_LABELS: self->all_labels = true; return 0;
    case KEY_SIDE: return option_int(&self->side, "--side", arg, 1, MAX_SIDE, &self->common);
    case KEY_JSON: self->json = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static enum clv_status run(struct segment *self, struct clv_error *err)
{
    enum clv_status status = segment_check(self, "marginals", err);
    if (status == CLV_OK && self->side && !self->all_labels)
        status = fail(err, CLV_ERR_USAGE, "--side: --all-labels is missing: the side of what?");
    if (status == CLV_OK && self->all_labels && (self->label || self->json || self->overlay || self->report))
        status = fail(err, CLV_ERR_USAGE, "--all-labels: %s is of one label",
                      self->label     ? "--label"
                      : self->json    ? "--json"
                      : self->overlay ? "--overlay"
                                      : "--report");
    self->side = self->side ? self->side : DEFAULT_SIDE;
    if (status == CLV_OK && self->json && self->status_file && strcmp(self->status_file, "-") == 0)
        status = fail(err, CLV_ERR_USAGE, "--json and --status - both want standard output");
    return status == CLV_OK ? segment_images(self, err) : status;
}

enum clv_status cmd_marginals(int argc, char **argv, struct clv_error *err)
{
    static const struct argp_child children[] = {{&segment_argp, 0, NULL, 0}, {&common_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        marginals_options,
        parse_marginals,
        "[IMAGE|FOLDER|-]...",
        "Writes how probable a label is at every pixel: FOLDER/<image stem>.png, 8-bit grey, probability = value / "
        "255; or, with --all-labels, maps of all labels. The argument - reads a list of paths from standard input; "
        "with -o -, the image itself.\v"
        "A probability is the share of perturb-and-MAP draws in which the pixel has the label: Gumbel noise on every "
        "score, then the best labelling. 100 draws leave a standard error of at most 0.05. Models learned by pmap, "
        "mpmap and wmpmap have scores on the scale of that noise; those of other learners do not, and their maps "
        "tell what is more or less certain, not how much. --overlay shows the image "
        "in grey, the more orange the less certain the label is, with the outline of probability 1/2. Inputs, "
        "failures and Ctrl-C are as for `cleave segment'.",
        children,
        NULL,
        NULL,
    };
    struct segment self = {.list_separator = '\n', .marginals = true, .n_draws = 100, .mask_form = MASKS_GREY};
    common_options_init(&self.common, err);
    enum clv_status status = options_parse(&argp, argc, argv, &self, &self.common);
    if (status == CLV_OK)
        status = run(&self, err);
    common_options_release(&self.common);
    return status;
}
