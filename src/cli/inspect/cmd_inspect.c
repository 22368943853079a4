/* cleave inspect: what a model is and how it was made. */
#include <stdio.h>

#include "base/error.h"
#include "cli/common/command.h"
#include "cli/common/options.h"
#include "cli/inspect/inspect.h"

struct inspect {
    struct common_options common;
    const char *path;
    int32_t n_top;
    double threshold;
    bool json, threshold_given;
};

enum inspect_keys { KEY_JSON = KEYS_COMMAND, KEY_TOP, KEY_THRESHOLD };

static const struct argp_option inspect_options[] = {
    {"model", 'm', "FILE", 0, "The model (or give it as the argument)", 0},
    {"top", KEY_TOP, "N", 0, "Name the N largest weights of every label (default 10)", 0},
    {"threshold", KEY_THRESHOLD, "X", 0, "Count the weights above this share of the largest (default 0.001)", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON document, with all couplings and the whole record", 0},
    {0},
};

static error_t parse_inspect(int key, char *arg, struct argp_state *state)
{
    struct inspect *self = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &self->common; return 0;
    case ARGP_KEY_ARG:
        if (self->path)
            return option_error(&self->common, "%s: one model at a time; %s is given already", arg, self->path);
        self->path = arg;
        return 0;
    case 'm': self->path = arg; return 0;
    case KEY_TOP: return option_int(&self->n_top, "--top", arg, 0, 1000000, &self->common);
    case KEY_THRESHOLD:
        self->threshold_given = true;
        return option_number(&self->threshold, "--threshold", arg, 0, 1, &self->common);
    case KEY_JSON: self->json = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

enum clv_status cmd_inspect(int argc, char **argv, struct clv_error *err)
{
    static const struct argp_child children[] = {{&plain_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        inspect_options, parse_inspect, "MODEL", "Tells what is in a model: labels, recipe, weights, record.",
        children,        NULL,          NULL,
    };
    struct inspect self = {.n_top = 10, .threshold = 0.001};
    struct clv_model model = {0};
    common_options_init(&self.common, err);
    enum clv_status status = options_parse(&argp, argc, argv, &self, &self.common);
    if (status == CLV_OK && !self.path)
        status = fail(err, CLV_ERR_USAGE, "inspect: which model?");
    bool is_tags = status == CLV_OK && inspect_is_tags(self.path);
    if (is_tags && self.threshold_given)
        status = fail(err, CLV_ERR_USAGE, "--threshold has no effect: %s is a model of tags", self.path);
    if (status == CLV_OK)
        status = is_tags ? inspect_tags(self.path, self.n_top, self.json, err) : clv_model_read(&model, self.path, err);
    if (status == CLV_OK && !is_tags)
        status = self.json ? inspect_json(&model, self.n_top, self.threshold, err)
                           : inspect_text(&model, self.n_top, self.threshold, err);
    clv_model_release(&model);
    common_options_release(&self.common);
    return status;
}
