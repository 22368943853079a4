/* cleave synth chain-crf: labelled chains from a conditional random field with few relevant features. */
#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "cleave/model.h"
#include "cleave/simulate.h"
#include "cli/common/console.h"
#include "cli/synth/synth.h"
#include "cli/synth/synth_options.h"

struct chain_crf {
    struct common_options common;
    struct clv_chain_crf_options options;
    struct synth_output output;
};

enum chain_crf_keys {
    KEY_TRAIN = KEYS_COMMAND,
    KEY_TEST,
    KEY_NODES,
    KEY_FEATURES,
    KEY_RELEVANT,
    KEY_GROUPS,
    KEY_GROUP_NOISE,
    KEY_SWEEPS
};

static const struct argp_option chain_crf_options[] = {
    {"output", 'o', "FOLDER", 0, SYNTH_FOLDER_HELP, 0},
    {"overwrite", KEY_OVERWRITE, NULL, 0, OVERWRITE_HELP, 0},
    {"train", KEY_TRAIN, "N", 0, "Training chains (default 100)", 0},
    {"test", KEY_TEST, "N", 0, "Test chains (default 900)", 0},
    {"nodes", KEY_NODES, "N", 0, "Nodes of a chain (default 8)", 0},
    {"features", KEY_FEATURES, "N", 0, "Features of a node (default 100)", 0},
    {"relevant", KEY_RELEVANT, "N", 0, "How many of them, the first ones, have weights that are not 0 (default 10)", 0},
    {"groups", KEY_GROUPS, "N", 0, "Groups of like relevant features (default 0: all are independent)", 0},
    {"group-noise", KEY_GROUP_NOISE, "X", 0, "Deviation of a group's members (default 0.05)", 0},
    {"sweeps", KEY_SWEEPS, "N", 0, "Gibbs sweeps for each chain (default 5000)", 0},
    {"seed", 's', "N", 0, SYNTH_SEED_HELP, 0},
    {0},
};

static error_t parse_chain_crf(int key, char *arg, struct argp_state *state)
{
    struct chain_crf *self = state->input;
    struct clv_chain_crf_options *options = &self->options;
    struct common_options *common = &self->common;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &self->common; return 0;
    case 's': return option_uint64(&options->seed, "--seed", arg, 0, common);
    case KEY_TRAIN: return option_int(&options->n_train, "--train", arg, 1, 1000000000, common);
    case KEY_TEST: return option_int(&options->n_test, "--test", arg, 1, 1000000000, common);
    case KEY_NODES: return option_int(&options->n_nodes, "--nodes", arg, 1, 10000, common);
    case KEY_FEATURES: return option_int(&options->n_features, "--features", arg, 1, 10000, common);
    case KEY_RELEVANT: return option_int(&options->n_relevant, "--relevant", arg, 0, 10000, common);
    case KEY_GROUPS: return option_int(&options->n_groups, "--groups", arg, 0, 10000, common);
    case KEY_GROUP_NOISE: return option_number(&options->group_noise, "--group-noise", arg, 0, 1e6, common);
    case KEY_SWEEPS: return option_int(&options->n_sweeps, "--sweeps", arg, 1, 1000000000, common);
    default: return synth_parse_output(&self->output, key, arg, &self->common);
    }
}

/* The model that the chains come from, as model.cleave. */
static enum clv_status write_model(const char *folder, double *w, int32_t n_features, struct clv_error *err)
{
    struct clv_model model = {
        .shape = {2, n_features, 1, CLV_PAIRWISE_FULL}, .w = w, .decoding = {.rule = CLV_DECODE_MAP}};
    char *path = path_join(folder, "model.cleave");
    enum clv_status status = path ? clv_labels_binary(&model.labels, err) : fail_memory(err);
    if (status == CLV_OK)
        status = clv_model_write(path, &model, err);
    model.w = NULL;
    clv_model_release(&model);
    array_free(path);
    return status;
}

static enum clv_status simulate(struct chain_crf *self, struct clv_error *err)
{
    struct clv_dataset *train = NULL, *test = NULL;
    struct clv_progress progress = console_progress();
    double *w = array_alloc((size_t)self->options.n_features + 4, sizeof *w);
    enum clv_status status = w ? CLV_OK : fail_memory(err);
    if (status == CLV_OK)
        status = clv_chain_crf_simulate(&train, &test, w, &self->options, self->common.n_threads, &progress, err);
    if (status == CLV_OK)
        status = synth_write(self->output.folder, train, test, err);
    if (status == CLV_OK)
        status = write_model(self->output.folder, w, self->options.n_features, err);
    clv_dataset_free(train);
    clv_dataset_free(test);
    array_free(w);
    return status;
}

enum clv_status synth_chain_crf(int argc, char **argv, struct clv_error *err)
{
    static const struct argp_child children[] = {{&plain_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        chain_crf_options,
        parse_chain_crf,
        "FOLDER",
        "Draws labelled chains from a conditional random field with few relevant features (Zhu & Xing 2009, section "
        "7.1), as feature files: train.safetensors, test.safetensors, and the field itself, model.cleave.",
        children,
        NULL,
        NULL,
    };
    static const char *const files[] = {"train.safetensors", "test.safetensors", "model.cleave"};
    struct chain_crf self = {0};
    clv_chain_crf_init(&self.options);
    enum clv_status status = synth_parse(&argp, argc, argv, &self, &self.common, &self.output, err);
    if (status == CLV_OK)
        status = synth_claim(&self.common, &self.output, files, sizeof files / sizeof *files, err);
    if (status == CLV_OK)
        status = simulate(&self, err);
    common_options_release(&self.common);
    return status;
}
