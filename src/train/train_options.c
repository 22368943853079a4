/* The options of a training, one row each, the functions that parse values of more than one word or number, and the
 * rules on combinations of options. Start at train_option_rows and train_option_rules. */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/options.h"
#include "cleave/infer.h"
#include "cleave/options.h"
#include "cleave/train.h"
#include "data/boxes/boxes.h"
#include "feature/blocks/blocks.h"
#include "feature/recipe/recipe.h"
#include "intake/intake.h"
#include "train/train.h"

/* Values that are more than one word or number. */

const char *const engine_names[] = {"cleave", "bk", NULL};

enum clv_status option_take_engine(void *member, const struct clv_option *option, const char *typed,
                                   struct clv_error *err)
{
    int choice = 0;
    MUST(option_choice(&choice, option->name, typed, engine_names, clv_has_bk() ? 2 : 1, err));
    *(enum clv_engine *)member = choice ? CLV_ENGINE_BK : CLV_ENGINE_CLEAVE;
    return CLV_OK;
}

static enum clv_status take_label_weights(void *member, const struct clv_option *option, const char *typed,
                                          struct clv_error *err)
{
    if (strcmp(typed, "auto") != 0)
        return option_number(member, option->name, typed, option->minimum, option->maximum, err);
    *(double *)member = CLV_AUTO;
    return CLV_OK;
}

/* Copies the part of `typed` before "=" to `name`. *rest is the part after it, or all of it without "=". */
static enum clv_status take_name(char name[CLV_MAX_MAP_NAME + 1], const char **rest, const struct clv_option *option,
                                 const char *typed, struct clv_error *err)
{
    const char *end = strchr(typed, '=');
    size_t length = end ? (size_t)(end - typed) : 0;
    FAIL_IF(length > CLV_MAX_MAP_NAME, CLV_ERR_USAGE, "--%s: \"%.60s\": a map's name has at most %d bytes",
            option->name, typed, CLV_MAX_MAP_NAME);
    memcpy(name, typed, length);
    name[length] = 0;
    *rest = end ? end + 1 : typed;
    return CLV_OK;
}

enum clv_status option_take_maps(void *member, const struct clv_option *option, const char *typed,
                                 struct clv_error *err)
{
    struct clv_map_options *self = member;
    struct clv_map_folder folder = {0};
    MUST(take_name(folder.name, &folder.folder, option, typed, err));
    FAIL_IF(!folder.name[0] || !*folder.folder, CLV_ERR_USAGE, "--maps: \"%.60s\" is not NAME=FOLDER", typed);
    for (size_t m = 0; m < self->n; m++)
        FAIL_IF(strcmp(self->folders[m].name, folder.name) == 0, CLV_ERR_USAGE, "--maps: \"%s\" is given twice",
                folder.name);
    FAIL_IF(self->n == CLV_MAX_MAPS, CLV_ERR_USAGE, "--maps: more than %d", CLV_MAX_MAPS);
    self->folders[self->n++] = folder;
    return CLV_OK;
}

/* [NAME=]CHOICE or, without choices, [NAME=]NUMBER. */
static enum clv_status take_map_setting(void *member, const struct clv_option *option, const char *typed,
                                        struct clv_error *err)
{
    struct clv_map_settings *settings = member;
    struct clv_map_setting setting;
    const char *rest = typed;
    MUST(take_name(setting.name, &rest, option, typed, err));
    MUST(option->choices ? option_choice(&setting.value, option->name, rest, option->choices,
                                         option_count_names(option->choices), err)
                         : option_int(&setting.value, option->name, rest, 1, CLV_MAX_PCA_CHANNELS, err));
    FAIL_IF(settings->n > CLV_MAX_MAPS, CLV_ERR_USAGE, "--%s: given more than %d times", option->name,
            CLV_MAX_MAPS + 1);
    settings->settings[settings->n++] = setting;
    return CLV_OK;
}

static enum clv_status take_scale(void *member, const struct clv_option *option, const char *typed,
                                  struct clv_error *err)
{
    double scale;
    MUST(option_number(&scale, option->name, typed, option->minimum, option->maximum, err));
    *(float *)member = (float)scale;
    return CLV_OK;
}

static enum clv_status take_bins(void *member, const struct clv_option *option, const char *typed,
                                 struct clv_error *err)
{
    struct clv_recipe *recipe = (void *)((char *)member - offsetof(struct clv_recipe, n_scales));
    char copy[64], *cursor = copy, *part;
    int32_t n = 0, bins[CLV_MAX_SCALES] = {0};
    FAIL_IF((size_t)snprintf(copy, sizeof copy, "%s", typed) >= sizeof copy, CLV_ERR_USAGE,
            "--sift-bins: \"%s\" is too long", typed);
    while ((part = strsep(&cursor, ","))) {
        FAIL_IF(n == CLV_MAX_SCALES, CLV_ERR_USAGE, "--sift-bins: \"%s\" has more than %d scales", typed,
                CLV_MAX_SCALES);
        MUST(option_int(&bins[n++], option->name, part, 1, CLV_MAX_BIN_PX, err));
    }
    recipe->n_scales = n;
    memcpy(recipe->bin_size_px, bins, (size_t)n * sizeof *bins);
    return CLV_OK;
}

static enum clv_status take_blocks(void *member, const struct clv_option *option, const char *typed,
                                   struct clv_error *err)
{
    char copy[128], *cursor = copy, *part;
    int32_t chosen = 0;
    FAIL_IF((size_t)snprintf(copy, sizeof copy, "%s", typed) >= sizeof copy, CLV_ERR_USAGE,
            "--blocks: \"%s\" is too long", typed);
    while ((part = strsep(&cursor, ","))) {
        int choice = 0;
        MUST(option_choice(&choice, option->name, part, block_names, N_BLOCKS, err));
        chosen |= block_rows[choice].flag;
    }
    *(int32_t *)member = chosen;
    return CLV_OK;
}

/* The tables. */

#define AT(member)   offsetof(struct clv_train_options, member)
#define SIZE(member) sizeof((struct clv_train_options *)0)->member
#define BASIC        CLV_OPTION_BASIC
#define PLAIN        CLV_OPTION_PLAIN
#define NEEDED       CLV_OPTION_NEEDED
#define UNRECORDED   CLV_OPTION_UNRECORDED

static const char *const forms[] = {"auto", "none", "potts", "full", NULL};
static const char *const losses[] = {"auto", "balanced", "counts", NULL};

const struct clv_option train_option_rows[] = {
    {"data", 'd', "PATH", SECTION_LEARN_FROM, NEEDED | CLV_OPTION_AGAIN, CLV_OPTION_TEXT, AT(data),
     .help = "Images with masks: a folder, a manifest or a feature file\n"
             "A folder has images/ and masks/. Of feature files there may be several: --data again"},
    {"split", 0, "NAME,..", SECTION_LEARN_FROM, BASIC, CLV_OPTION_TEXT, AT(split),
     .help = "Learn from these splits (default: train if there is one)\n(else all of the manifest)"},
    {"boxes", 0, "PATH", SECTION_LEARN_FROM, BASIC, CLV_OPTION_TEXT, AT(boxes),
     .help = "Also learn from boxes around objects, in images without masks\n"
             "A file or folder of them: " EACH_BOXES_FORMAT(BOXES_TITLE) "or tables separated by tabs"},
    {"validate", 0, "NAME,..", SECTION_LEARN_FROM, BASIC, CLV_OPTION_TEXT, AT(validate),
     .help = "Also report the loss on these splits of the set, or on a feature file"},
    {"only", 0, "FILE", SECTION_LEARN_FROM, 0, CLV_OPTION_TEXT, AT(only),
     .help = "Read the masks of the images named in this file, one a line, and no others"},
    {"include-drafts", 0, NULL, SECTION_LEARN_FROM, 0, CLV_OPTION_FLAG, AT(drafts), .help = DRAFTS_HELP},
    {"weak-split", 0, "NAME,..", SECTION_LEARN_FROM, 0, CLV_OPTION_TEXT, AT(weak_split),
     .help = "Of all other images in these splits use the boxes, and not the masks\n"
             "(default with --boxes: the splits learned from). Without --boxes the manifest names the files of boxes"},
    {"unlabelled-split", 0, "NAME,..", SECTION_LEARN_FROM, 0, CLV_OPTION_TEXT, AT(unlabelled_split),
     .help = "Also learn from all other images in these splits, without their masks"},
    {"skip-bad", 0, NULL, SECTION_LEARN_FROM, 0, CLV_OPTION_FLAG, AT(skip_bad),
     .help = "Skip images and masks that cannot be read or do not fit\n(default: name all of them and stop)"},
    {"void", 0, "NAME,..", SECTION_LEARN_FROM, 0, CLV_OPTION_TEXT, AT(voids), .help = VOID_HELP},
    {"mirror", 0, NULL, SECTION_LEARN_FROM, 0, CLV_OPTION_FLAG, AT(mirror),
     .help = "Also learn from the mirror image of every image\n"
             "Features and every pass take twice as long. The first of two stages learns without them"},
    {"sequence", 0, NULL, SECTION_LEARN_FROM, BASIC, CLV_OPTION_FLAG, AT(sequence),
     .help =
         "Images are slices or frames: learn them together\n"
         "In the order of the manifest's rows, those of one `sequence' each, or of the numbers in a folder's names. "
         "Some may have no mask. Windows of slices are the examples"},
    {"window", 0, "N", SECTION_LEARN_FROM, 0, CLV_OPTION_INT, AT(recipe.window), .minimum = 2,
     .maximum = CLV_MAX_WINDOW, .help = "Slices in a window (default 4); means --sequence"},

    {"pairwise", 0, "FORM", SECTION_LEARNED, 0, CLV_OPTION_AUTO_CHOICE, AT(pairwise), .choices = forms,
     .help = "Pairwise terms\n"
             "potts: neighbours like to have the same label. full: a weight for every pair of labels. auto: what suits "
             "the data and the learner"},
    {"loss", 0, "NAME", SECTION_LEARNED, 0, CLV_OPTION_AUTO_CHOICE, AT(loss), .choices = losses,
     .help = "What an error costs\n"
             "balanced: each label of an image weighs the same. counts: each pixel does. auto: what a feature file "
             "says, else counts for patches of more than two labels, and for those where masks make regions finer than "
             "usual (with --label-weights 0.3), else balanced"},
    {"label-weights", 0, "X", SECTION_LEARNED, 0, CLV_OPTION_OTHER, AT(label_weights), .minimum = 0, .maximum = 1,
     .take = take_label_weights, .size = SIZE(label_weights),
     .help = "Let errors in rare labels cost more (default 0; 0..1)\n"
             "A label's share of the loss is its count to the power of -X; with 1 all labels weigh the same. auto, "
             "with --stages 2: the X of the second stage that is best on held-out images, by the sum of pixel accuracy "
             "and mean accuracy of labels"},
    {"stages", 0, "N", SECTION_LEARNED, BASIC, CLV_OPTION_INT, AT(stages), .minimum = 1, .maximum = 2,
     .help =
         "2: a second model sees what a first one says nearby\n"
         "More accurate, but takes 6 trainings more; of two labels 8, and a network of pixels for --refine. The first "
         "one is learned without the image in question"},
    {"pixel-net", 0, NULL, SECTION_LEARNED, 0, CLV_OPTION_FLAG, AT(pixel_net),
     .help =
         "A small network says what pixels are, by what the model says and filters\n"
         "Finds what is finer than regions, such as membranes. Takes two trainings more, each without a half of the "
         "images, which the network then learns from"},
    {"label-costs", 0, "X", SECTION_LEARNED, 0, CLV_OPTION_NUMBER, AT(label_costs), .minimum = 0,
     .maximum = CLV_MAX_LABEL_COSTS,
     .help = "With --stages 2 and three labels or more: a price for each label that an image has\n"
             "The less likely the first stage finds the label, the higher: log-odds of 1 cost as much as the mean "
             "scores of X nodes"},
    {"init", 0, "MODEL", SECTION_LEARNED, 0, CLV_OPTION_TEXT, AT(init),
     .help = "Start from the weights of this model, which has the same labels and features"},

    {"cv", 0, "K", SECTION_CHOOSING, BASIC, CLV_OPTION_INT, AT(cv), .minimum = 2, .maximum = 1000,
     .help = "Choose lambda, or what the learner has, by K-fold cross-validation"},

    {"seed", 's', "N", SECTION_RUNNING, BASIC, CLV_OPTION_UINT64, AT(seed),
     .help = "Seed of everything random; the same seed, the same model"},
    {"resume", 0, NULL, SECTION_RUNNING, BASIC | UNRECORDED, CLV_OPTION_FLAG, AT(resume),
     .help = "Go on with a training that was stopped\n"
             "From MODEL.checkpoint, to the model that it would have made; a finished one stays"},
    {"checkpoint-every", 0, "X", SECTION_RUNNING, UNRECORDED, CLV_OPTION_NUMBER, AT(checkpoint_every_s), .minimum = 0,
     .maximum = 1e9, .help = "Seconds between checkpoints; 0: after every step"},
    {"engine", 0, "NAME", SECTION_RUNNING, 0, CLV_OPTION_OTHER, AT(engine), .choices = engine_names,
     .take = option_take_engine, .size = SIZE(engine), .help = ENGINE_HELP},
    {0},
};

static const char *const kinds_of_nodes[] = {"superpixels", "patches", NULL}; /* enum clv_nodes */
static const char *const sources[] = {"cleave", "vlfeat", NULL};              /* enum clv_sift, enum clv_kmeans */
static const char *const searches[] = {"exact", "groups", NULL};              /* enum clv_word_search */
static const char *const kernels[] = {"none", "chi2", "intersection", NULL};
static const char *const map_uses[] = {"auto", "keep", "ignore", NULL}; /* enum clv_map_use */

const struct clv_option feature_option_rows[] = {
    {"maps", 0, "NAME=FOLDER", SECTION_LEARN_FROM, BASIC | CLV_OPTION_AGAIN, CLV_OPTION_OTHER, AT(maps),
     .take = option_take_maps, .size = offsetof(struct clv_map_options, kinds), .help = MAPS_HELP},
    {"nodes", 0, "KIND", SECTION_FEATURES, 0, CLV_OPTION_CHOICE, AT(recipe.nodes), .choices = kinds_of_nodes,
     .help = "What is labelled: superpixels, or patches of a regular grid (for many labels)"},
    {"superpixels", 0, "N", SECTION_FEATURES, 0, CLV_OPTION_INT, AT(recipe.slic.n_superpixels), .minimum = 1,
     .maximum = 1000000, .help = "Superpixels of an image, about; more where masks show that they are needed"},
    {"patch-size", 0, "N", SECTION_FEATURES, 0, CLV_OPTION_INT, AT(recipe.patch_px), .minimum = 1, .maximum = 1024,
     .help = "Side of a patch, in pixels"},
    {"patch-step", 0, "N", SECTION_FEATURES, 0, CLV_OPTION_INT, AT(recipe.patch_step_px), .minimum = 1, .maximum = 1024,
     .help = "Pixels between patches"},
    {"working-pixels", 0, "N", SECTION_FEATURES, 0, CLV_OPTION_INT, AT(recipe.working_pixels), .minimum = 256,
     .maximum = 1 << 26, .help = "Shrink larger images to this many pixels for features; masks come out at full size"},
    {"scale", 0, "X", SECTION_FEATURES, 0, CLV_OPTION_OTHER, AT(recipe.scale), .minimum = 1, .maximum = 64,
     .take = take_scale, .size = SIZE(recipe.scale),
     .help = "One scale for all images, in tiles: X pixels along a side become one (1 to 64)\n"
             "For large images and those in which sizes mean something. It replaces --working-pixels and "
             "--superpixels. The blocks position and scene, which describe the whole image, are not used then"},
    {"region-area", 0, "N", SECTION_FEATURES, PLAIN, CLV_OPTION_INT, AT(recipe.region_area), .minimum = 4,
     .maximum = 1 << 20, .help = "Pixels of a superpixel at a fixed scale (default 100)"},
    {"tile", 0, "N", SECTION_FEATURES, PLAIN, CLV_OPTION_INT, AT(recipe.tile_px), .minimum = 64, .maximum = 8192,
     .help = "Side of a tile at a fixed scale (default 1024)\n"
             "Superpixels end where a tile does; pairwise terms go across"},
    {"blocks", 0, "NAME,..", SECTION_FEATURES, 0, CLV_OPTION_OTHER, AT(recipe.blocks), .choices = block_names,
     .take = take_blocks, .size = SIZE(recipe.blocks),
     .help = "Feature blocks\n"
             "The default of superpixels are the first five; of patches, too, surround, scene and fisher; and maps "
             "where there are some"},
    {"words", 0, "N", SECTION_FEATURES, 0, CLV_OPTION_INT, AT(recipe.n_words), .minimum = 1, .maximum = 65535,
     .help = "Visual words of each SIFT scale"},
    {"codebook-samples", 0, "N", SECTION_FEATURES, 0, CLV_OPTION_INT, AT(recipe.n_codebook_samples), .minimum = 1,
     .maximum = 10000000, .help = "Descriptors of each scale that the words are learned from"},
    {"sift-step", 0, "N", SECTION_FEATURES, 0, CLV_OPTION_INT, AT(recipe.step_px), .minimum = 1, .maximum = 64,
     .help = "Pixels between SIFT descriptors"},
    {"sift-bins", 0, "N,..", SECTION_FEATURES, 0, CLV_OPTION_OTHER, AT(recipe.n_scales), .take = take_bins,
     .size = SIZE(recipe.n_scales) + SIZE(recipe.bin_size_px),
     .help = "Spatial bins of the SIFT scales in pixels\n"
             "(default of superpixels 2,4,8,16, of patches 4,10; up to 4 scales of 1 to 24 pixels)"},
    {"sift", 0, "NAME", SECTION_FEATURES, 0, CLV_OPTION_CHOICE, AT(recipe.sift), .choices = sources,
     .help = "Whose SIFT descriptors: cleave's own, or VLFeat's, the reference"},
    {"kmeans", 0, "NAME", SECTION_FEATURES, 0, CLV_OPTION_CHOICE, AT(recipe.kmeans), .choices = sources,
     .help = "Whose k-means learns the words: cleave's own, or VLFeat's, the reference"},
    {"word-search", 0, "NAME", SECTION_FEATURES, 0, CLV_OPTION_CHOICE, AT(recipe.word_search), .choices = searches,
     .help =
         "How the visual word of a descriptor is found: exact or groups\n"
         "exact: the nearest of all. groups: the nearest in the four nearest groups of 16 similar words, mostly the "
         "same one, for a half to a quarter of the time; of 512 words at most"},
    {"kernel-map", 0, "NAME", SECTION_FEATURES, 0, CLV_OPTION_CHOICE, AT(recipe.kernel_map), .choices = kernels,
     .help = "Kernel that compares histograms of words and colours\n"
             "none: Hellinger's, in one number a bin. The others take three numbers a bin"},
    {"maps-kind", 0, "[NAME=]KIND", SECTION_FEATURES, PLAIN | CLV_OPTION_AGAIN, CLV_OPTION_OTHER, AT(maps.kinds),
     .choices = map_kind_names, .take = take_map_setting, .size = SIZE(maps.kinds),
     .help = "What the values of maps are: probabilities, logits, features or guess\n"
             "guess: probabilities if they are in 0..1 and there is one channel, or one for each label (default)"},
    {"maps-pca", 0, "[NAME=]N", SECTION_FEATURES, CLV_OPTION_AGAIN, CLV_OPTION_OTHER, AT(maps.components),
     .take = take_map_setting, .size = SIZE(maps.components),
     .help = "Reduce the channels of feature maps to their first N principal components"},
    {"maps-use", 0, "[NAME=]CHOICE", SECTION_FEATURES, PLAIN | CLV_OPTION_AGAIN, CLV_OPTION_OTHER, AT(maps.uses),
     .choices = map_uses, .take = take_map_setting, .size = SIZE(maps.uses),
     .help = "Whether to use feature maps: auto, keep or ignore\n"
             "auto: not where channels mean different things in different training images (default)"},
    {0},
};

/* Rules of the command and of clv_train_set. train_rules.c finds out whether an option is set or a fact holds. */

const struct option_rule train_option_rules[] = {
    {"@grids", RULE_NEEDS, "cv", "the number of folds"},
    {"stages=2", RULE_EXCLUDES, "init", "which stage would start from it?"},
    {"label-weights=auto", RULE_NEEDS, "stages=2", "whose folds choose"},
    {"label-costs", RULE_NEEDS, "stages=2", "whose first stage says which labels an image has"},
    {"pixel-net", RULE_EXCLUDES, "mirror",
     "it learns from images that a training has not seen, nor their mirror images"},
    {"sequence window", RULE_EXCLUDES, "boxes weak-split unlabelled-split mirror maps",
     "slices are learned from by their masks alone"},
    {"@recipe mirror maps sequence window", RULE_EXCLUDES, "@features", "its features are made already"},
    {"void", RULE_EXCLUDES, "@features", "made with its own labels (features --void)"},
    {"split only include-drafts boxes weak-split unlabelled-split", RULE_EXCLUDES, "@features", "which has no splits"},
    {"pixel-net", RULE_EXCLUDES, "@features", "and the network looks at images"},
    {"split only boxes weak-split unlabelled-split maps", RULE_EXCLUDES, "@memory",
     "and it names files or their splits"},
    {"@recipe", RULE_EXCLUDES, "@init", NULL},
    {0},
};

const struct option_rule feature_option_rules[] = {
    {"region-area tile", RULE_NEEDS, "scale", "without which images have one tile"},
    {"superpixels working-pixels", RULE_UNUSED, "scale", "--region-area says how large superpixels are"},
    {"scale", RULE_EXCLUDES, "nodes=patches", "it is for superpixels"},
    {"superpixels", RULE_UNUSED, "nodes=patches", "--patch-size says how large patches are"},
    {"patch-size patch-step", RULE_NEEDS, "nodes=patches", "whose grid it sets"},
    {"sift-step codebook-samples sift-bins sift", RULE_NEEDS, "@sift", "no block is made of SIFT descriptors"},
    {"words kmeans word-search", RULE_NEEDS, "@words", "no block is made of words"},
    {"kernel-map", RULE_NEEDS, "@histograms", "no block is a histogram"},
    {"maps", RULE_EXCLUDES, "@no-maps", "name the block maps as well"},
    {0},
};

const struct clv_option *clv_train_option_at(size_t index)
{
    static const struct clv_option *const tables[] = {train_option_rows, feature_option_rows};
    for (int t = 0; t < 2; t++)
        for (const struct clv_option *row = tables[t]; row->name; row++)
            if (!index--)
                return row;
    return NULL;
}

void clv_train_defaults(struct clv_train_options *options, const struct clv_learner *learner)
{
    *options = (struct clv_train_options){
        .learner = learner, .pairwise = CLV_AUTO, .loss = CLV_AUTO, .stages = 1, .checkpoint_every_s = 120};
    clv_recipe_init(&options->recipe);
    for (int i = 0; learner->parameters[i].name; i++)
        options->parameters[i] = learner->parameters[i].value;
}
