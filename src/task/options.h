/* Values of options: what may be typed, and what is said of anything else. Tables of struct clv_option (cleave/segment.h)
 * name them; clv_option_set takes a value by its row. */
#ifndef TASK_OPTIONS_H
#define TASK_OPTIONS_H

#include "cleave/segment.h"

/* Sections of the help of training. */
#define SECTION_LEARN_FROM "What to learn from"
#define SECTION_LEARNED    "What is learned"
#define SECTION_FEATURES   "Features (a recipe that is learned once and becomes part of the model)"
#define SECTION_CHOOSING   "Choosing by cross-validation"
#define SECTION_RUNNING    "Running and resuming"

/* Tables that end with a NULL name. The rows of features are also those of `cleave features`. */
extern const struct clv_option train_option_rows[], feature_option_rows[];

/* --drafts, --void, --maps, --engine, wherever they are offered. */
#define DRAFTS_HELP "Also use masks that `cleave label' has not accepted yet (default: they are left out)"
#define VOID_HELP   "Treat these labels as void: not learned from, not counted"
#define MAPS_HELP                                                                                                      \
    "Use the maps of a neural network: FOLDER has a file for each image\n"                                             \
    "It is .npy, PNG or safetensors, and named as the image. Again for more maps (default: the manifest's columns "    \
    "maps.NAME)"
#define ENGINE_HELP "Min-cut engine; all give the same labels"
extern const char *const engine_names[]; /* places are those of enum clv_engine; ends with NULL */

/* For `take` of a row; members are struct clv_map_options and enum clv_engine. */
enum clv_status option_take_maps(void *member, const struct clv_option *option, const char *typed,
                                 struct clv_error *err) CLV_CHECK;
enum clv_status option_take_engine(void *member, const struct clv_option *option, const char *typed,
                                   struct clv_error *err) CLV_CHECK;

/* CLV_ERR_USAGE: "--name: "typed" is ...". */
enum clv_status option_int(int32_t *value, const char *name, const char *typed, int32_t minimum, int32_t maximum,
                           struct clv_error *err) CLV_CHECK;
enum clv_status option_number(double *value, const char *name, const char *typed, double minimum, double maximum,
                              struct clv_error *err) CLV_CHECK;
/* Appends "X,.." to values[*n], of which there may be `capacity`. */
enum clv_status option_numbers(double *values, size_t *n, size_t capacity, const char *name, const char *typed,
                               double minimum, double maximum, struct clv_error *err) CLV_CHECK;
/* *value is the place among choices[n]. */
enum clv_status option_choice(int *value, const char *name, const char *typed, const char *const *choices, size_t n,
                              struct clv_error *err) CLV_CHECK;
/* Of names that end with NULL. */
size_t option_count_names(const char *const *names);

/* Feature blocks by name. */
enum { N_BLOCK_NAMES = 12 };
extern const struct block_name {
    const char *name;
    int32_t block; /* of enum clv_blocks */
} block_names[N_BLOCK_NAMES];

#endif
