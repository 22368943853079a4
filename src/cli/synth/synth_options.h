/* What the kinds of `cleave synth` share: options, and the pair of feature files that simulated problems are written to. */
#ifndef CLI_SYNTH_OPTIONS_H
#define CLI_SYNTH_OPTIONS_H

#include "cleave/features.h"
#include "cli/common/options.h"

/* Help of the options that kinds of simulated problems share. */
#define SYNTH_FOLDER_HELP   "The folder to write train.safetensors and test.safetensors into (or give it as the argument)"
#define SYNTH_SIGMA_IS_HELP "What sigmas are of their normal distributions: variance (default) or deviation"
#define SYNTH_SEED_HELP     "Seed (default 0); the same seed draws the same bytes"

/* "variance" or "deviation". */
error_t synth_parse_sigma_is(int *is_deviation, const char *arg, struct common_options *common);

/* The folder, once; `arg` comes from -o or stands alone. */
error_t synth_parse_folder(const char **folder, const char *arg, struct common_options *common);

/* Parses a kind's options into *self, whose common options and folder these are; a folder must be given. common_options_release
 * whatever the status. */
enum clv_status synth_parse(const struct argp *argp, int argc, char **argv, void *self, struct common_options *common,
                            const char *const *folder, struct clv_error *err) CLV_CHECK;

/* Makes the folder if need be and writes both sets as feature files into it: both or, on failure,
 * neither (but that the old ones, if any, may be gone). */
enum clv_status synth_write(const char *folder, const struct clv_dataset *train, const struct clv_dataset *test,
                            struct clv_error *err) CLV_CHECK;

#endif
