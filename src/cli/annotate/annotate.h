/* `cleave annotate`: tags of examples, learned and predicted.
 *
 * cmd_annotate.c finds the subcommand: annotate_train.c learns a model and reports it,
 * annotate_score.c predicts tags and compares them with the truth. annotate_inputs.h reads the examples for all of
 * them, from a multi-label file or from images. */
#ifndef CLI_ANNOTATE_H
#define CLI_ANNOTATE_H

#include "cleave/status.h"

/* The parsers of the subcommands; argv[0] is "cleave annotate NAME". */
enum clv_status annotate_train(int argc, char **argv, struct clv_error *err);
enum clv_status annotate_predict(int argc, char **argv, struct clv_error *err);
enum clv_status annotate_score(int argc, char **argv, struct clv_error *err);

#endif
