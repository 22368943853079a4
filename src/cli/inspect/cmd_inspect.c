/* cleave inspect: what a model is and how it was made. */
#include <stddef.h>

#include "base/error.h"
#include "cli/common/command.h"
#include "cli/common/options.h"
#include "cli/inspect/inspect.h"

struct inspect {
    struct common_options common;
    const char *path;
    int32_t n_top;
    double threshold;
    bool json;
};

#define AT(member)    offsetof(struct inspect, member)
#define SECTION_SHOWN "What is shown"
#define BASIC         CLV_OPTION_BASIC
static const struct clv_option inspect_rows[] = {
    {"model", 'm', "MODEL", SECTION_SHOWN, BASIC, CLV_OPTION_TEXT, AT(path),
     .help = "The model (or give it as the argument)"},
    {"top", 0, "N", SECTION_SHOWN, BASIC, CLV_OPTION_INT, AT(n_top), .minimum = 0, .maximum = 1000000,
     .help = "Name the N largest weights of every label"},
    {"threshold", 0, "X", SECTION_SHOWN, BASIC, CLV_OPTION_NUMBER, AT(threshold), .minimum = 0, .maximum = 1,
     .help = "Count the weights above this share of the largest"},
    {"json", 0, NULL, SECTION_SHOWN, BASIC, CLV_OPTION_FLAG, AT(json),
     .help = "One JSON document, with all couplings and the whole record"},
    {0},
};

enum clv_status cmd_inspect(int argc, char **argv, struct clv_error *err)
{
    struct inspect self = {.n_top = 10, .threshold = 0.001};
    struct clv_model model = {0};
    const struct option_table table = {
        "[OPTION...] MODEL",
        "Tells what is in a model: labels, recipe, weights, and how it was made.",
        {"inspect model.cleave", "inspect --json model.cleave"},
        NULL,
        {{inspect_rows, &self, false}, {plain_option_rows, &self.common, false}},
    };
    struct common_options *common = &self.common;
    common_options_init(common);
    enum clv_status status = options_parse(&table, argc, argv, common, err);
    for (size_t i = 0; i < common->n_arguments && status == CLV_OK; i++) {
        if (self.path)
            status = fail(err, CLV_ERR_USAGE, "%s: one model at a time; %s is given already", common->arguments[i],
                          self.path);
        else
            self.path = common->arguments[i];
    }
    TRY_IF(!self.path, fail(err, CLV_ERR_USAGE, "inspect: which model?"));
    bool is_tags = status == CLV_OK && inspect_is_tags(self.path);
    if (is_tags && options_given(common, "threshold"))
        status = fail(err, CLV_ERR_USAGE, "--threshold has no effect: %s is a model of tags", self.path);
    TRY(is_tags ? inspect_tags(self.path, self.n_top, self.json, err) : clv_model_read(&model, self.path, err));
    TRY_IF(!is_tags, self.json ? inspect_json(&model, self.n_top, self.threshold, err)
                               : inspect_text(&model, self.n_top, self.threshold, err));
    clv_model_release(&model);
    common_options_release(&self.common);
    return status;
}
