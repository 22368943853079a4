/* cleave synth noisy-image: a picture under noise, some of its labels missing. */
#include "cleave/simulate.h"
#include "cli/synth/synth.h"
#include "cli/synth/synth_options.h"

struct noisy {
    struct common_options common;
    struct clv_noisy_options options;
    struct synth_output output;
};

enum noisy_keys { KEY_TRAIN = KEYS_COMMAND, KEY_TEST, KEY_NOISE, KEY_SIGMA_IS, KEY_MISSING, KEY_TEST_MISSING };

static const struct argp_option noisy_options[] = {
    {"output", 'o', "FOLDER", 0, SYNTH_FOLDER_HELP, 0},
    {"overwrite", KEY_OVERWRITE, NULL, 0, OVERWRITE_HELP, 0},
    {"train", KEY_TRAIN, "N", 0, "Training images (default 10)", 0},
    {"test", KEY_TEST, "N", 0, "Test images (default 10)", 0},
    {"noise", KEY_NOISE, "X", 0, "Spread of the noise (default 5); labels are one apart", 0},
    {"sigma-is", KEY_SIGMA_IS, "WHAT", 0, SYNTH_SIGMA_IS_HELP, 0},
    {"missing", KEY_MISSING, "X", 0, "Share of the training pixels without a label (default 0.5)", 0},
    {"test-missing", KEY_TEST_MISSING, "X", 0, "The same of the test pixels (default 0)", 0},
    {"seed", 's', "N", 0, SYNTH_SEED_HELP, 0},
    {0},
};

static error_t parse_noisy(int key, char *arg, struct argp_state *state)
{
    struct noisy *self = state->input;
    struct clv_noisy_options *options = &self->options;
    struct common_options *common = &self->common;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &self->common; return 0;
    case 's': return option_uint64(&options->seed, "--seed", arg, 0, common);
    case KEY_TRAIN: return option_int(&options->n_train, "--train", arg, 1, 1000000000, common);
    case KEY_TEST: return option_int(&options->n_test, "--test", arg, 1, 1000000000, common);
    case KEY_NOISE: return option_number(&options->noise, "--noise", arg, 0, 1e6, common);
    case KEY_SIGMA_IS: return synth_parse_sigma_is(&options->sigma_is_deviation, arg, common);
    case KEY_MISSING: return option_number(&options->train_missing, "--missing", arg, 0, 0.999, common);
    case KEY_TEST_MISSING: return option_number(&options->test_missing, "--test-missing", arg, 0, 0.999, common);
    default: return synth_parse_output(&self->output, key, arg, &self->common);
    }
}

enum clv_status synth_noisy_image(int argc, char **argv, struct clv_error *err)
{
    static const struct argp_child children[] = {{&plain_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        noisy_options,
        parse_noisy,
        "FOLDER",
        "Draws one picture of 40 x 20 pixels and five labels again and again under Gaussian noise, as feature files: "
        "train.safetensors and test.safetensors (Ping, Liu & Ihler 2014, section 7.2). Pixels are nodes; labels that "
        "are missing make them hidden.",
        children,
        NULL,
        NULL,
    };
    static const char *const files[] = {"train.safetensors", "test.safetensors"};
    struct noisy self = {0};
    struct clv_dataset *train = NULL, *test = NULL;
    clv_noisy_init(&self.options);
    enum clv_status status = synth_parse(&argp, argc, argv, &self, &self.common, &self.output, err);
    if (status == CLV_OK)
        status = synth_claim(&self.common, &self.output, files, sizeof files / sizeof *files, err);
    if (status == CLV_OK)
        status = clv_noisy_simulate(&train, &test, &self.options, err);
    if (status == CLV_OK)
        status = synth_write(self.output.folder, train, test, err);
    clv_dataset_free(train);
    clv_dataset_free(test);
    common_options_release(&self.common);
    return status;
}
