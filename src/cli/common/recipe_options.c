/* Checks the options of features together, and sets the defaults that depend on others, once all are parsed
 * (recipe_options_finish). */
#include "cli/common/common.h"

#include <string.h>

#include "base/base.h"
#include "cleave/train.h"
#include "train/train.h"

static void use_defaults_of_patches(struct clv_recipe *recipe, const struct common_options *common)
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
    enum { ANY_NODES = -1, WORDS = CLV_BLOCK_WORDS | CLV_BLOCK_WORD, SIFT = WORDS | CLV_BLOCK_FISHER };
    enum { HISTOGRAMS = CLV_BLOCK_WORDS | CLV_BLOCK_COLOUR | CLV_BLOCK_RGB | CLV_BLOCK_SURROUND | CLV_BLOCK_SCENE };
    static const char of_no_sift[] = "these --blocks: none is made of SIFT descriptors";
    static const char of_no_words[] = "these --blocks: none is made of words";
    static const struct {
        const char *name;
        int32_t nodes, blocks; /* any of these */
        const char *other;     /* the option that the named one does not go with */
    } needs[] = {
        {"superpixels", CLV_NODES_SUPERPIXELS, CLV_BLOCK_ALL, "--nodes patches"},
        {"sift-step", ANY_NODES, SIFT, of_no_sift},
        {"words", ANY_NODES, WORDS, of_no_words},
        {"codebook-samples", ANY_NODES, SIFT, of_no_sift},
        {"patch-size", CLV_NODES_PATCHES, CLV_BLOCK_ALL, "--nodes superpixels"},
        {"patch-step", CLV_NODES_PATCHES, CLV_BLOCK_ALL, "--nodes superpixels"},
        {"sift-bins", ANY_NODES, SIFT, of_no_sift},
        {"sift", ANY_NODES, SIFT, of_no_sift},
        {"kmeans", ANY_NODES, WORDS, of_no_words},
        {"kernel-map", ANY_NODES, HISTOGRAMS, "these --blocks: none is a histogram"},
    };
    static const struct {
        const char *name;
        bool is_fixed;
    } of_scale[] = {{"region-area", true}, {"tile", true}, {"superpixels", false}, {"working-pixels", false}};
    struct clv_recipe *recipe = &task->recipe;
    if (recipe->nodes == CLV_NODES_PATCHES)
        use_defaults_of_patches(recipe, common);
    for (size_t k = 0; k < sizeof of_scale / sizeof *of_scale; k++)
        if ((recipe->scale > 0) != of_scale[k].is_fixed && options_given(common, of_scale[k].name))
            return fail(err, CLV_ERR_USAGE, "--%s cannot be used %s --scale", of_scale[k].name,
                        of_scale[k].is_fixed ? "without" : "with");
    if (recipe->scale > 0 && recipe->nodes == CLV_NODES_PATCHES)
        return fail(err, CLV_ERR_USAGE, "--scale is for superpixels, not for --nodes patches");
    if (recipe->scale > 0) {
        int32_t given = recipe->blocks;
        clv_recipe_fix_scale(recipe, recipe->scale);
        recipe->blocks = options_given(common, "blocks") ? given : recipe->blocks;
    }
    for (size_t k = 0; k < sizeof needs / sizeof *needs; k++)
        if (((needs[k].nodes != ANY_NODES && needs[k].nodes != recipe->nodes) || !(needs[k].blocks & recipe->blocks)) &&
            options_given(common, needs[k].name))
            return fail(err, CLV_ERR_USAGE, "--%s cannot be used with %s; leave it out", needs[k].name, needs[k].other);
    task->recipe_given = options_first_given(common, SECTION_FEATURES);
    task->no_maps = options_given(common, "blocks") && !(recipe->blocks & CLV_BLOCK_MAPS);
    return CLV_OK;
}
