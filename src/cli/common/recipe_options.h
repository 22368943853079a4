/* The options that set a feature recipe, from one table. */
#ifndef CLI_RECIPE_OPTIONS_H
#define CLI_RECIPE_OPTIONS_H

#include <stdbool.h>

#include "cleave/features.h"
#include "cli/common/maps_option.h"

struct recipe_options {
    struct common_options *common;
    struct clv_recipe recipe;      /* release it */
    bool blocks_given, bins_given; /* else they are those usual for the nodes, once all is parsed */
    struct clv_map_options maps;
    uint32_t given;          /* a bit for each of the options, in the order of the table */
    const char *first_given; /* "words", or NULL: none was given (--maps does not count) */
};

/* Feature blocks by name. */
enum { N_BLOCK_NAMES = 12 };
extern const struct block_name {
    const char *name;
    int32_t block; /* of enum clv_blocks */
} block_names[N_BLOCK_NAMES];

void recipe_options_init(struct recipe_options *self, struct common_options *common);
void recipe_options_release(struct recipe_options *self);

/* The child parser, its input a struct recipe_options; built from the table on the first call. Not for several
 * threads. */
const struct argp *recipe_argp(void);

#endif
