/* cleave synth hidden-chain, hidden-grid: fields with hidden nodes. */
#include "cleave/simulate.h"
#include "cli/common/console.h"
#include "cli/synth/synth.h"
#include "cli/synth/synth_options.h"

struct hidden {
    struct common_options common;
    struct clv_hidden_options options;
    struct synth_output output;
};

enum hidden_keys {
    KEY_TRAIN = KEYS_COMMAND,
    KEY_TEST,
    KEY_SIZE,
    KEY_LABELS,
    KEY_SIGMA_X,
    KEY_SIGMA_Y,
    KEY_SIGMA_H,
    KEY_SIGMA_XY,
    KEY_SIGMA_XH,
    KEY_SIGMA_YH,
    KEY_SIGMA_IS,
    KEY_SHARED,
    KEY_SWEEPS
};

/* What both graphs have; each adds the name of its size. */
#define HIDDEN_OPTIONS                                                                                                 \
    {"output", 'o', "FOLDER", 0, SYNTH_FOLDER_HELP, 0}, {"overwrite", KEY_OVERWRITE, NULL, 0, OVERWRITE_HELP, 0},      \
        {"train", KEY_TRAIN, "N", 0, "Training problems (default 20)", 0},                                             \
        {"test", KEY_TEST, "N", 0, "Test problems (default 100)", 0},                                                  \
        {"labels", KEY_LABELS, "K", 0, "States of every variable, 2..16 (default 4)", 0},                              \
        {"sigma-x", KEY_SIGMA_X, "X", 0, "Spread of the weights of single x (default 0.1)", 0},                        \
        {"sigma-y", KEY_SIGMA_Y, "X", 0, "of single y (default 0.1)", 0},                                              \
        {"sigma-h", KEY_SIGMA_H, "X", 0, "of single h (default 0.1): the smaller, the less sure is h", 0},             \
        {"sigma-xy", KEY_SIGMA_XY, "X", 0, "of pairs x and y (default 2)", 0},                                         \
        {"sigma-xh", KEY_SIGMA_XH, "X", 0, "of pairs x and h (default 2)", 0},                                         \
        {"sigma-yh", KEY_SIGMA_YH, "X", 0, "of pairs y and h (default 2)", 0},                                         \
        {"sigma-is", KEY_SIGMA_IS, "WHAT", 0, SYNTH_SIGMA_IS_HELP, 0},                                                 \
        {"shared-weights", KEY_SHARED, NULL, 0, SHARED_HELP, 0},                                                       \
    {                                                                                                                  \
        "seed", 's', "N", 0, SYNTH_SEED_HELP, 0                                                                        \
    }
#define SHARED_HELP "All y have the same weights, all h, all edges (default: each node and edge its own)"

static error_t parse_hidden(int key, char *arg, struct argp_state *state)
{
    struct hidden *self = state->input;
    struct clv_hidden_options *options = &self->options;
    struct common_options *common = &self->common;
    bool is_chain = options->graph == CLV_HIDDEN_CHAIN;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &self->common; return 0;
    case 's': return option_uint64(&options->seed, "--seed", arg, 0, common);
    case KEY_TRAIN: return option_int(&options->n_train, "--train", arg, 1, 1000000000, common);
    case KEY_TEST: return option_int(&options->n_test, "--test", arg, 1, 1000000000, common);
    case KEY_SIZE:
        return option_int(&options->size, is_chain ? "--nodes" : "--side", arg, 2, is_chain ? 10000 : 100, common);
    case KEY_LABELS: return option_int(&options->n_labels, "--labels", arg, 2, 16, common);
    case KEY_SIGMA_X: return option_number(&options->sigma_x, "--sigma-x", arg, 0, 1e6, common);
    case KEY_SIGMA_Y: return option_number(&options->sigma_y, "--sigma-y", arg, 0, 1e6, common);
    case KEY_SIGMA_H: return option_number(&options->sigma_h, "--sigma-h", arg, 0, 1e6, common);
    case KEY_SIGMA_XY: return option_number(&options->sigma_xy, "--sigma-xy", arg, 0, 1e6, common);
    case KEY_SIGMA_XH: return option_number(&options->sigma_xh, "--sigma-xh", arg, 0, 1e6, common);
    case KEY_SIGMA_YH: return option_number(&options->sigma_yh, "--sigma-yh", arg, 0, 1e6, common);
    case KEY_SIGMA_IS: return synth_parse_sigma_is(&options->sigma_is_deviation, arg, common);
    case KEY_SHARED: options->shared_weights = true; return 0;
    case KEY_SWEEPS: return option_int(&options->n_sweeps, "--sweeps", arg, 1, 1000000000, common);
    default: return synth_parse_output(&self->output, key, arg, &self->common);
    }
}

static enum clv_status synth_hidden(enum clv_hidden_graph graph, const struct argp *argp, int argc, char **argv,
                                    struct clv_error *err)
{
    static const char *const files[] = {"train.safetensors", "test.safetensors"};
    struct hidden self = {0};
    struct clv_dataset *train = NULL, *test = NULL;
    struct clv_progress progress = console_progress();
    clv_hidden_init(&self.options, graph);
    enum clv_status status = synth_parse(argp, argc, argv, &self, &self.common, &self.output, err);
    if (status == CLV_OK)
        status = synth_claim(&self.common, &self.output, files, sizeof files / sizeof *files, err);
    if (status == CLV_OK)
        status = clv_hidden_simulate(&train, &test, &self.options, self.common.n_threads, &progress, err);
    if (status == CLV_OK)
        status = synth_write(self.output.folder, train, test, err);
    clv_dataset_free(train);
    clv_dataset_free(test);
    common_options_release(&self.common);
    return status;
}

#define HIDDEN_DOC                                                                                                     \
    "as feature files: train.safetensors and test.safetensors (Ping, Liu & Ihler 2014, section 7.1). Every variable "  \
    "x, y, h has K states; each y and h has an x of its own, which is seen, and y and h are joined in turn. Labels "   \
    "of y are known, those of h are not. `cleave train --data FOLDER/train.safetensors' and `cleave score -m MODEL "   \
    "--data FOLDER/test.safetensors' go on from there."

static const struct argp_child children[] = {{&plain_argp, 0, NULL, 0}, {0}};

enum clv_status synth_hidden_chain(int argc, char **argv, struct clv_error *err)
{
    static const struct argp_option options[] = {
        {"nodes", KEY_SIZE, "N", 0, "y and h nodes together, 2..10000 (default 20)", 0}, HIDDEN_OPTIONS, {0}};
    static const struct argp argp = {
        options,  parse_hidden, "FOLDER", "Draws chains with hidden nodes from a random model, exactly, " HIDDEN_DOC,
        children, NULL,         NULL};
    return synth_hidden(CLV_HIDDEN_CHAIN, &argp, argc, argv, err);
}

enum clv_status synth_hidden_grid(int argc, char **argv, struct clv_error *err)
{
    static const struct argp_option options[] = {
        {"side", KEY_SIZE, "N", 0, "y and h nodes a side, 2..100 (default 6)", 0},
        {"sweeps", KEY_SWEEPS, "N", 0, "Gibbs sweeps for each problem (default 1000)", 0},
        HIDDEN_OPTIONS,
        {0}};
    static const struct argp argp = {
        options,  parse_hidden,
        "FOLDER", "Draws grids with hidden nodes from a random model by Gibbs sampling, " HIDDEN_DOC,
        children, NULL,
        NULL};
    return synth_hidden(CLV_HIDDEN_GRID, &argp, argc, argv, err);
}
