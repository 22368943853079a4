/* What the kinds of `cleave synth` share: options, and the pair of feature files that simulated problems are written
 * to. */
#ifndef CLI_SYNTH_OPTIONS_H
#define CLI_SYNTH_OPTIONS_H

#include <stdbool.h>

#include "cleave/features.h"
#include "cli/common/options.h"

/* Help of the options that kinds of simulated problems share. */
#define SYNTH_FOLDER_HELP   "The folder to write train.safetensors and test.safetensors into (or give it as the argument)"
#define SYNTH_SIGMA_IS_HELP "What sigmas are of their normal distributions: variance (default) or deviation"
#define SYNTH_SEED_HELP     "Seed (default 0); the same seed draws the same bytes"

/* "variance" or "deviation". */
error_t synth_parse_sigma_is(bool *is_deviation, const char *arg, struct common_options *common);

/* The folder that a kind writes into. */
struct synth_output {
    const char *folder;
    bool overwrite;
};

/* Takes -o, --overwrite and the folder as an argument; ARGP_ERR_UNKNOWN for any other key. */
error_t synth_parse_output(struct synth_output *output, int key, const char *arg, struct common_options *common);

/* Parses a kind's options into *self, whose common options and output these are; a folder must be given.
 * common_options_release whatever the status. */
enum clv_status synth_parse(const struct argp *argp, int argc, char **argv, void *self, struct common_options *common,
                            const struct synth_output *output, struct clv_error *err) CLV_CHECK;

/* Claims files of the folder, n names, before any is drawn. */
enum clv_status synth_claim(struct common_options *common, const struct synth_output *output, const char *const *names,
                            size_t n, struct clv_error *err) CLV_CHECK;

/* Makes the folder if need be and writes both sets as feature files into it: both or, on failure,
 * neither (but that the old ones, if any, may be gone). */
enum clv_status synth_write(const char *folder, const struct clv_dataset *train, const struct clv_dataset *test,
                            struct clv_error *err) CLV_CHECK;

#endif
