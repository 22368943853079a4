/* What follows from the options of features, once all are parsed. */
#ifndef CLI_RECIPE_OPTIONS_H
#define CLI_RECIPE_OPTIONS_H

#include "cli/common/options.h"

/* Sets the blocks and bins usual for patches where no others were given, and what struct clv_train_options says of given
 * options. CLV_ERR_USAGE: one that cannot change any feature. */
enum clv_status recipe_options_finish(struct clv_train_options *task, const struct common_options *common,
                                      struct clv_error *err) CLV_CHECK;

#endif
