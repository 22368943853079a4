/* `cleave synth KIND`: draws sets and problems whose truth is known.
 *
 * cmd_synth.c finds the kind; each kind parses its own options (synth_animals.c, synth_hidden.c, ..), calls the
 * library's `synth` and writes what it drew. synth_options.h has what kinds share. To add a kind: a file synth_NAME.c,
 * a line here and one in the table of cmd_synth.c. */
#ifndef CLI_SYNTH_H
#define CLI_SYNTH_H

#include "cleave/status.h"

/* The parsers of the kinds; argv[0] is "cleave synth KIND". */
enum clv_status synth_animals(int argc, char **argv, struct clv_error *err);
enum clv_status synth_chain_crf(int argc, char **argv, struct clv_error *err);
enum clv_status synth_hidden_chain(int argc, char **argv, struct clv_error *err);
enum clv_status synth_hidden_grid(int argc, char **argv, struct clv_error *err);
enum clv_status synth_noisy_image(int argc, char **argv, struct clv_error *err);

#endif
