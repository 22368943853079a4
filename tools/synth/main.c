/* Draws a set of textured animals with exact masks, for demos, tests and scale runs:
 *
 *     build/synth [-n N] [--size WIDTHxHEIGHT] [--seed N] [--train-share X] [-t THREADS] [--overwrite] FOLDER
 *
 * The options are the members of struct synth_options (synth.h), which has their defaults. Same seed, same bytes.
 * Start at take. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "synth.h"

static enum clv_status take_size(struct synth_options *options, const char *typed, struct clv_error *err)
{
    const char *separator = strchr(typed, 'x');
    char first[16] = "";
    if (separator && separator - typed < (ptrdiff_t)sizeof first)
        memcpy(first, typed, (size_t)(separator - typed));
    FAIL_IF(!separator || !parse_int32(first, &options->width) || !parse_int32(separator + 1, &options->height),
            CLV_ERR_USAGE, "--size: \"%s\" is not WIDTHxHEIGHT", typed);
    return CLV_OK;
}

static enum clv_status take(struct synth_options *options, int32_t *n_threads, int name, struct clv_error *err)
{
    bool is_valid = true;
    switch (name) {
    case 'n': is_valid = parse_int32(optarg, &options->n_images); break;
    case 's': is_valid = parse_uint64(optarg, &options->seed); break;
    case 't': is_valid = parse_int32(optarg, n_threads) && *n_threads >= 1 && *n_threads <= 1024; break;
    case 'r': is_valid = parse_double(optarg, &options->train_share); break;
    case 'w': return take_size(options, optarg, err);
    case 'o': options->overwrite = true; break;
    default: return fail(err, CLV_ERR_USAGE, "tools/synth/main.c has the options");
    }
    FAIL_IF(!is_valid, CLV_ERR_USAGE, "\"%s\" is not such a number", optarg);
    return CLV_OK;
}

static enum clv_status run(int argc, char **argv, struct clv_error *err)
{
    static const struct option table[] = {
        {"images", required_argument, NULL, 'n'},
        {"size", required_argument, NULL, 'w'},
        {"seed", required_argument, NULL, 's'},
        {"train-share", required_argument, NULL, 'r'},
        {"threads", required_argument, NULL, 't'},
        {"overwrite", no_argument, NULL, 'o'},
        {0},
    };
    struct synth_options options;
    int32_t n_threads = 0;
    synth_options_init(&options);
    for (int name; (name = getopt_long(argc, argv, "n:s:t:", table, NULL)) != -1;)
        MUST(take(&options, &n_threads, name, err));
    FAIL_IF(optind + 1 != argc, CLV_ERR_USAGE, "give one folder to write into");
    return synth_animals(argv[optind], &options, n_threads, NULL, err);
}

int main(int argc, char **argv)
{
    struct clv_error err = {0};
    enum clv_status status = run(argc, argv, &err);
    if (status != CLV_OK)
        fprintf(stderr, "synth: %s\n", err.message);
    return clv_status_exit_code(status);
}
