/* `cleave inspect`: a model described on standard output. cmd_inspect.c reads the options, inspect.c describes models of
 * images and how many of their weights count, inspect_tags.c models of tags. */
#ifndef CLI_INSPECT_H
#define CLI_INSPECT_H

#include <stdbool.h>

#include "cleave/model.h"

/* n_top: how many of the largest weights of each label are named; threshold: the share of the largest weight from which
 * on weights count. */
enum clv_status inspect_text(const struct clv_model *model, int32_t n_top, double threshold,
                             struct clv_error *err) CLV_CHECK;
enum clv_status inspect_json(const struct clv_model *model, int32_t n_top, double threshold,
                             struct clv_error *err) CLV_CHECK;

/* The same for a model of tags; inspect_is_tags says whether a file is one (false for what is no tensor file at
 * all). */
bool inspect_is_tags(const char *path);
enum clv_status inspect_tags(const char *path, int32_t n_top, bool json, struct clv_error *err) CLV_CHECK;

#endif
