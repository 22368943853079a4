/* Draws the simulated problems of the papers as feature files that `cleave train --data` and `cleave score --data`
 * take:
 *
 *     build/reproduce/simulate KIND [--OPTION VALUE ..] FOLDER
 *
 * writes FOLDER/train.safetensors and FOLDER/test.safetensors, for chain-crf also the field itself,
 * FOLDER/model.cleave; files of these names are replaced. The options of a kind are the fields of its struct in
 * simulate.h, in the tables below. Same seed, same bytes. tools/reproduce/hidden and medn call it. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cleave/model.h"
#include "simulate.h"

enum option_kind { COUNT, NUMBER, SEED, FLAG, SIGMA_IS };

struct option {
    const char *name;
    enum option_kind kind;
    size_t offset; /* of an int32_t, double, uint64_t or bool */
};

#define AT(type, field) offsetof(struct type, field)
static const struct option chain_crf_table[] = {
    {"train", COUNT, AT(chain_crf_options, n_train)},
    {"test", COUNT, AT(chain_crf_options, n_test)},
    {"nodes", COUNT, AT(chain_crf_options, n_nodes)},
    {"features", COUNT, AT(chain_crf_options, n_features)},
    {"relevant", COUNT, AT(chain_crf_options, n_relevant)},
    {"groups", COUNT, AT(chain_crf_options, n_groups)},
    {"group-noise", NUMBER, AT(chain_crf_options, group_noise)},
    {"sweeps", COUNT, AT(chain_crf_options, n_sweeps)},
    {"seed", SEED, AT(chain_crf_options, seed)},
    {0},
};
static const struct option hidden_table[] = {
    {"train", COUNT, AT(hidden_options, n_train)},
    {"test", COUNT, AT(hidden_options, n_test)},
    {"nodes", COUNT, AT(hidden_options, size)},
    {"side", COUNT, AT(hidden_options, size)},
    {"labels", COUNT, AT(hidden_options, n_labels)},
    {"sigma-x", NUMBER, AT(hidden_options, sigma_x)},
    {"sigma-y", NUMBER, AT(hidden_options, sigma_y)},
    {"sigma-h", NUMBER, AT(hidden_options, sigma_h)},
    {"sigma-xy", NUMBER, AT(hidden_options, sigma_xy)},
    {"sigma-xh", NUMBER, AT(hidden_options, sigma_xh)},
    {"sigma-yh", NUMBER, AT(hidden_options, sigma_yh)},
    {"sigma-is", SIGMA_IS, AT(hidden_options, sigma_is_deviation)},
    {"shared-weights", FLAG, AT(hidden_options, shared_weights)},
    {"sweeps", COUNT, AT(hidden_options, n_sweeps)},
    {"seed", SEED, AT(hidden_options, seed)},
    {0},
};
static const struct option noisy_table[] = {
    {"train", COUNT, AT(noisy_options, n_train)},
    {"test", COUNT, AT(noisy_options, n_test)},
    {"noise", NUMBER, AT(noisy_options, noise)},
    {"sigma-is", SIGMA_IS, AT(noisy_options, sigma_is_deviation)},
    {"missing", NUMBER, AT(noisy_options, train_missing)},
    {"test-missing", NUMBER, AT(noisy_options, test_missing)},
    {"seed", SEED, AT(noisy_options, seed)},
    {0},
};
static const struct {
    const char *name;
    const struct option *table;
} kinds[] = {{"chain-crf", chain_crf_table},
             {"hidden-chain", hidden_table},
             {"hidden-grid", hidden_table},
             {"noisy-image", noisy_table}};
enum { CHAIN_CRF, HIDDEN_CHAINS, HIDDEN_GRIDS, NOISY_IMAGES, N_KINDS };

/* What a kind's options are parsed into. */
union options {
    struct chain_crf_options chain_crf;
    struct hidden_options hidden;
    struct noisy_options noisy;
};

/* *at: the option's place, and what stands behind it on the command line; moves past a value. */
static enum clv_status parse_option(union options *options, const struct option *option, char ***at,
                                    struct clv_error *err)
{
    char *field = (char *)options + option->offset;
    if (option->kind == FLAG) {
        *(bool *)field = true;
        return CLV_OK;
    }
    const char *value = *++*at;
    if (!value)
        return fail(err, CLV_ERR_USAGE, "--%s: the value is missing", option->name);
    bool is_deviation = strcmp(value, "deviation") == 0, is_valid = false;
    switch (option->kind) {
    case COUNT: is_valid = parse_int32(value, (int32_t *)field); break;
    case NUMBER: is_valid = parse_double(value, (double *)field); break;
    case SEED: is_valid = parse_uint64(value, (uint64_t *)field); break;
    default: *(bool *)field = is_deviation; is_valid = is_deviation || strcmp(value, "variance") == 0;
    }
    return is_valid ? CLV_OK : fail(err, CLV_ERR_USAGE, "--%s: \"%s\" cannot be", option->name, value);
}

static enum clv_status parse(union options *options, const char **folder, int kind, char **at, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    for (; *at && status == CLV_OK; at++) {
        const struct option *option = kinds[kind].table;
        if (strncmp(*at, "--", 2) != 0) {
            if (*folder)
                return fail(err, CLV_ERR_USAGE, "%s: one folder is enough; %s is given already", *at, *folder);
            *folder = *at;
            continue;
        }
        while (option->name && strcmp(option->name, *at + 2) != 0)
            option++;
        status = option->name ? parse_option(options, option, &at, err)
                              : fail(err, CLV_ERR_USAGE, "%s: no option of %s", *at, kinds[kind].name);
    }
    return status == CLV_OK && !*folder ? fail(err, CLV_ERR_USAGE, "which folder to write into?") : status;
}

static enum clv_status write_set(const char *folder, const char *name, const struct clv_dataset *dataset,
                                 struct clv_error *err)
{
    char *path = path_join(folder, name);
    enum clv_status status = path ? clv_dataset_write(path, dataset, err) : fail_memory(err);
    array_free(path);
    return status;
}

static enum clv_status write_field(const char *folder, double *w, int32_t n_features, struct clv_error *err)
{
    struct clv_model model = {
        .layout = {2, n_features, 1, CLV_PAIRWISE_FULL}, .w = w, .decoding = {.rule = CLV_DECODE_MAP}};
    char *path = path_join(folder, "model.cleave");
    enum clv_status status = path ? clv_labels_binary(&model.labels, err) : fail_memory(err);
    if (status == CLV_OK)
        status = clv_model_write(path, &model, err);
    model.w = NULL;
    clv_model_release(&model);
    array_free(path);
    return status;
}

static void defaults(union options *options, int kind)
{
    switch (kind) {
    case CHAIN_CRF: simulate_chain_crf_init(&options->chain_crf); break;
    case NOISY_IMAGES: simulate_noisy_init(&options->noisy); break;
    default: simulate_hidden_init(&options->hidden, kind == HIDDEN_GRIDS ? HIDDEN_GRID : HIDDEN_CHAIN);
    }
}

static enum clv_status run(int kind, char **arguments, struct clv_error *err)
{
    union options options;
    const char *folder = NULL;
    struct clv_dataset *train = NULL, *test = NULL;
    double *w = NULL;
    defaults(&options, kind);
    enum clv_status status = parse(&options, &folder, kind, arguments, err);
    if (status == CLV_OK)
        status = folder_create(folder, err);
    if (status == CLV_OK && kind == CHAIN_CRF) {
        w = array_alloc((size_t)options.chain_crf.n_features + 4, sizeof *w);
        status = w ? simulate_chain_crf(&train, &test, w, &options.chain_crf, 0, NULL, err) : fail_memory(err);
    } else if (status == CLV_OK) {
        status = kind == NOISY_IMAGES ? simulate_noisy(&train, &test, &options.noisy, err)
                                      : simulate_hidden(&train, &test, &options.hidden, 0, NULL, err);
    }
    if (status == CLV_OK)
        status = write_set(folder, "train.safetensors", train, err);
    if (status == CLV_OK)
        status = write_set(folder, "test.safetensors", test, err);
    if (status == CLV_OK && w)
        status = write_field(folder, w, options.chain_crf.n_features, err);
    clv_dataset_free(train);
    clv_dataset_free(test);
    array_free(w);
    return status;
}

int main(int argc, char **argv)
{
    struct clv_error err = {0};
    for (int kind = 0; kind < N_KINDS; kind++)
        if (argc > 1 && strcmp(argv[1], kinds[kind].name) == 0) {
            enum clv_status status = run(kind, argv + 2, &err);
            if (status != CLV_OK)
                fprintf(stderr, "simulate %s: %s\n", argv[1], err.message);
            return clv_status_exit_code(status);
        }
    fputs("usage: simulate chain-crf|hidden-chain|hidden-grid|noisy-image [--OPTION VALUE ..] FOLDER\n", stderr);
    return clv_status_exit_code(CLV_ERR_USAGE);
}
