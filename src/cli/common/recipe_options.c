/* Checks combinations of options of features, and sets defaults that depend on other options, after parsing
 * (recipe_options_finish). */
#include "cli/common/common.h"

#include <string.h>

#include "base/base.h"
#include "cleave/train.h"
#include "train/train.h"

static void set_patch_defaults(struct clv_recipe *recipe, const struct common_options *common)
{
    struct clv_recipe defaults;
    clv_recipe_init_patches(&defaults);
    if (!options_given(common, "blocks"))
        recipe->blocks = defaults.blocks;
    if (options_given(common, "sift-bins"))
        return;
    recipe->n_scales = defaults.n_scales;
    memcpy(recipe->bin_size_px, defaults.bin_size_px, sizeof recipe->bin_size_px);
}

enum clv_status recipe_options_finish(struct clv_train_options *task, const struct common_options *common,
                                      struct clv_error *err)
{
    struct clv_recipe *recipe = &task->recipe;
    if (recipe->nodes == CLV_NODES_PATCHES)
        set_patch_defaults(recipe, common);
    if (recipe->scale > 0) {
        int32_t given = recipe->blocks;
        clv_recipe_fix_scale(recipe, recipe->scale);
        recipe->blocks = options_given(common, "blocks") ? given : recipe->blocks;
    }
    task->recipe_given = options_first_given(common, SECTION_FEATURES);
    task->no_maps = options_given(common, "blocks") && !(recipe->blocks & CLV_BLOCK_MAPS);
    return train_rules_check(feature_option_rules, task, option_in_common, common, err);
}
