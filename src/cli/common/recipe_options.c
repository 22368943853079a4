#include "cli/common/recipe_options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset; /* of the int32_t in struct clv_recipe */
    int32_t minimum, maximum;
    const char *help;
} table[] = {
    {"superpixels", offsetof(struct clv_recipe, slic.n_superpixels), 1, 1000000, "Superpixels wanted per image"},
    {"working-pixels", offsetof(struct clv_recipe, working_pixels), 256, 1 << 26,
     "Larger images are shrunk to this many pixels for features; masks come out at full size"},
    {"sift-step", offsetof(struct clv_recipe, step_px), 1, 64, "Pixels between SIFT descriptors"},
    {"words", offsetof(struct clv_recipe, n_words), 1, 65535, "Visual words per SIFT scale"},
    {"codebook-samples", offsetof(struct clv_recipe, n_codebook_samples), 1, 10000000,
     "Descriptors per scale that the words are learned from"},
    {"patch-size", offsetof(struct clv_recipe, patch_px), 1, 1024, "Side of a patch, in pixels"},
    {"patch-step", offsetof(struct clv_recipe, patch_step_px), 1, 1024, "Pixels between patches"},
};
#define N_ROWS (sizeof table / sizeof *table)

enum recipe_keys {
    KEY_TABLE = KEYS_RECIPE,
    KEY_SIFT_BINS = KEYS_RECIPE + 0x80,
    KEY_BLOCKS,
    KEY_NODES,
    KEY_MAPS,
    KEY_MAPS_KIND,
    KEY_MAPS_PCA,
    KEY_MAPS_USE,
    KEY_CHOICES
};

const struct block_name block_names[N_BLOCK_NAMES] = {
    {"words", CLV_BLOCK_WORDS}, {"colour", CLV_BLOCK_COLOUR},     {"position", CLV_BLOCK_POSITION},
    {"size", CLV_BLOCK_SIZE},   {"contrast", CLV_BLOCK_CONTRAST}, {"surround", CLV_BLOCK_SURROUND},
    {"scene", CLV_BLOCK_SCENE}, {"rgb", CLV_BLOCK_RGB},           {"word", CLV_BLOCK_WORD},
    {"hog", CLV_BLOCK_HOG},     {"maps", CLV_BLOCK_MAPS},         {"fisher", CLV_BLOCK_FISHER},
};

/* Options that choose by name; the names are in the order of their enum. */
static const struct {
    const char *name;
    size_t offset; /* of the int32_t in struct clv_recipe */
    const char *names[3];
    const char *help;
} choices[] = {
    {"sift",
     offsetof(struct clv_recipe, sift),
     {"cleave", "vlfeat"},
     "Who describes gradients: cleave, or VLFeat, the reference (default cleave)"},
    {"kmeans",
     offsetof(struct clv_recipe, kmeans),
     {"cleave", "vlfeat"},
     "Who learns the words: cleave, or VLFeat, the reference (default cleave)"},
    {"kernel-map",
     offsetof(struct clv_recipe, kernel_map),
     {"none", "chi2", "intersection"},
     "Kernel that histograms of words and colours are compared by, in three numbers a bin (default none: Hellinger's, "
     "in one)"},
};
#define N_CHOICES (sizeof choices / sizeof *choices)

static const char *const node_kinds[] = {"superpixels", "patches"}; /* enum clv_nodes */
static char help[N_ROWS][160];
static struct argp_option options[N_ROWS + N_CHOICES + 9];

static int32_t *field(struct clv_recipe *recipe, size_t row)
{
    return (int32_t *)((char *)recipe + table[row].offset);
}

static error_t parse_bins(struct recipe_options *self, const char *arg)
{
    struct clv_recipe *recipe = &self->recipe;
    char copy[64], *cursor = copy, *part;
    int32_t n = 0, bins[CLV_MAX_SCALES] = {0};
    if ((size_t)snprintf(copy, sizeof copy, "%s", arg) >= sizeof copy)
        return option_error(self->common, "--sift-bins: \"%s\" is too long", arg);
    while ((part = strsep(&cursor, ","))) {
        if (n == CLV_MAX_SCALES)
            return option_error(self->common, "--sift-bins: \"%s\" has more than %d scales", arg, CLV_MAX_SCALES);
        error_t failed = option_int(&bins[n], "--sift-bins", part, 1, CLV_MAX_BIN_PX, self->common);
        if (failed)
            return failed;
        n++;
    }
    self->bins_given = true;
    recipe->n_scales = n;
    memcpy(recipe->bin_size_px, bins, (size_t)n * sizeof *bins);
    return 0;
}

static error_t parse_blocks(struct recipe_options *self, const char *arg)
{
    const char *names[N_BLOCK_NAMES];
    for (size_t i = 0; i < N_BLOCK_NAMES; i++)
        names[i] = block_names[i].name;
    char copy[128], *cursor = copy, *part;
    int32_t chosen = 0;
    if ((size_t)snprintf(copy, sizeof copy, "%s", arg) >= sizeof copy)
        return option_error(self->common, "--blocks: \"%s\" is too long", arg);
    while ((part = strsep(&cursor, ","))) {
        int index = 0;
        error_t failed = option_choice(&index, "--blocks", part, names, N_BLOCK_NAMES, self->common);
        if (failed)
            return failed;
        chosen |= block_names[index].block;
    }
    self->recipe.blocks = chosen;
    self->blocks_given = true;
    return 0;
}

static error_t parse_choice(struct recipe_options *self, size_t row, const char *arg)
{
    char name[40];
    int index = 0;
    size_t n = 0;
    while (n < sizeof choices->names / sizeof *choices->names && choices[row].names[n])
        n++;
    snprintf(name, sizeof name, "--%s", choices[row].name);
    error_t failed = option_choice(&index, name, arg, choices[row].names, n, self->common);
    if (!failed)
        *(int32_t *)((char *)&self->recipe + choices[row].offset) = index;
    return failed;
}

/* Where nothing else was asked for. */
static void use_defaults_of_patches(struct recipe_options *self)
{
    struct clv_recipe defaults, *recipe = &self->recipe;
    clv_recipe_init_patches(&defaults);
    if (!self->blocks_given)
        recipe->blocks = defaults.blocks;
    if (self->bins_given)
        return;
    recipe->n_scales = defaults.n_scales;
    memcpy(recipe->bin_size_px, defaults.bin_size_px, sizeof recipe->bin_size_px);
}

/* Why an option cannot change any feature of the recipe; NULL: it can, or it is not known here. */
static const char *idle_reason(const struct clv_recipe *recipe, const char *name)
{
    enum { ANY_NODES = -1, WORDS = CLV_BLOCK_WORDS | CLV_BLOCK_WORD, SIFT = WORDS | CLV_BLOCK_FISHER };
    enum { HISTOGRAMS = CLV_BLOCK_WORDS | CLV_BLOCK_COLOUR | CLV_BLOCK_RGB | CLV_BLOCK_SURROUND | CLV_BLOCK_SCENE };
    static const struct {
        const char *name;
        int32_t nodes, blocks; /* any of these */
        const char *otherwise;
    } needs[] = {
        {"superpixels", CLV_NODES_SUPERPIXELS, CLV_BLOCK_ALL, "--nodes is patches"},
        {"patch-size", CLV_NODES_PATCHES, CLV_BLOCK_ALL, "--nodes is superpixels"},
        {"patch-step", CLV_NODES_PATCHES, CLV_BLOCK_ALL, "--nodes is superpixels"},
        {"words", ANY_NODES, WORDS, "no block is made of words"},
        {"kmeans", ANY_NODES, WORDS, "no block is made of words"},
        {"codebook-samples", ANY_NODES, SIFT, "no block is made of SIFT descriptors"},
        {"sift", ANY_NODES, SIFT, "no block is made of SIFT descriptors"},
        {"sift-bins", ANY_NODES, SIFT, "no block is made of SIFT descriptors"},
        {"sift-step", ANY_NODES, SIFT, "no block is made of SIFT descriptors"},
        {"kernel-map", ANY_NODES, HISTOGRAMS, "no block is a histogram"},
    };
    for (size_t k = 0; k < sizeof needs / sizeof *needs; k++)
        if (strcmp(needs[k].name, name) == 0 &&
            ((needs[k].nodes != ANY_NODES && needs[k].nodes != recipe->nodes) || !(needs[k].blocks & recipe->blocks)))
            return needs[k].otherwise;
    return NULL;
}

_Static_assert(sizeof options / sizeof *options <= 32, "a bit for each");

/* Once all is parsed. */
static error_t finish(struct recipe_options *self)
{
    if (self->recipe.nodes == CLV_NODES_PATCHES)
        use_defaults_of_patches(self);
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        const char *why = self->given >> k & 1 ? idle_reason(&self->recipe, options[k].name) : NULL;
        if (why)
            return option_error(self->common, "--%s has no effect: %s", options[k].name, why);
    }
    return 0;
}

static error_t parse_recipe(int key, char *arg, struct argp_state *state)
{
    struct recipe_options *self = state->input;
    int nodes;
    error_t failed = ARGP_ERR_UNKNOWN;
    options_note(self->common, options, "", key, arg);
    switch (key) {
    case KEY_SIFT_BINS: failed = parse_bins(self, arg); break;
    case KEY_BLOCKS: failed = parse_blocks(self, arg); break;
    case KEY_NODES:
        failed = option_choice(&nodes, "--nodes", arg, node_kinds, 2, self->common);
        if (!failed)
            self->recipe.nodes = nodes;
        break;
    case KEY_MAPS: return option_maps(&self->maps, arg, self->common);
    case KEY_MAPS_KIND: failed = option_maps_kind(&self->maps, arg, self->common); break;
    case KEY_MAPS_PCA: failed = option_maps_pca(&self->maps, arg, self->common); break;
    case KEY_MAPS_USE: failed = option_maps_use(&self->maps, arg, self->common); break;
    case ARGP_KEY_END: return finish(self);
    default:
        if (key >= KEY_CHOICES && key < KEY_CHOICES + (int)N_CHOICES)
            failed = parse_choice(self, (size_t)(key - KEY_CHOICES), arg);
        if (key >= KEY_TABLE && key < KEY_TABLE + (int)N_ROWS) {
            size_t row = (size_t)(key - KEY_TABLE);
            char name[40];
            snprintf(name, sizeof name, "--%s", table[row].name);
            failed =
                option_int(field(&self->recipe, row), name, arg, table[row].minimum, table[row].maximum, self->common);
        }
    }
    for (size_t k = 0; !failed && (options[k].key || options[k].doc); k++)
        if (options[k].key == key) {
            self->given |= UINT32_C(1) << k;
            self->first_given = self->first_given ? self->first_given : options[k].name;
        }
    return failed;
}

void recipe_options_init(struct recipe_options *self, struct common_options *common)
{
    *self = (struct recipe_options){.common = common};
    clv_recipe_init(&self->recipe);
}

void recipe_options_release(struct recipe_options *self)
{
    clv_recipe_release(&self->recipe);
}

const struct argp *recipe_argp(void)
{
    static struct argp argp = {.options = options, .parser = parse_recipe};
    static char bins_help[160];
    if (options[0].doc)
        return &argp;
    struct clv_recipe defaults;
    clv_recipe_init(&defaults);
    size_t n = 0;
    options[n++] = (struct argp_option){NULL, 0, NULL, 0, "Feature recipe (learned once, part of the model):", 50};
    options[n++] =
        (struct argp_option){"nodes",
                             KEY_NODES,
                             "KIND",
                             0,
                             "What is labelled: superpixels, or patches of a regular grid (default superpixels)",
                             50};
    for (size_t row = 0; row < N_ROWS; row++) {
        snprintf(help[row], sizeof help[row], "%s (default %d; %d..%d)", table[row].help, *field(&defaults, row),
                 table[row].minimum, table[row].maximum);
        options[n++] = (struct argp_option){table[row].name, KEY_TABLE + (int)row, "N", 0, help[row], 50};
    }
    size_t used = (size_t)snprintf(bins_help, sizeof bins_help,
                                   "Spatial bins of the SIFT scales in pixels (of patches 4,10; default ");
    for (int32_t scale = 0; scale < defaults.n_scales; scale++)
        used += (size_t)snprintf(bins_help + used, sizeof bins_help - used, "%s%d", scale ? "," : "",
                                 defaults.bin_size_px[scale]);
    snprintf(bins_help + used, sizeof bins_help - used, "; 1..%d, up to %d scales)", CLV_MAX_BIN_PX, CLV_MAX_SCALES);
    options[n++] = (struct argp_option){"sift-bins", KEY_SIFT_BINS, "N,..", 0, bins_help, 50};
    options[n++] =
        (struct argp_option){"blocks",
                             KEY_BLOCKS,
                             "NAME,..",
                             0,
                             "Feature blocks: words, colour, position, size, contrast (default of "
                             "superpixels), surround, scene (of patches, "
                             "too), rgb, word, hog, fisher (of patches), maps (default where there are maps)",
                             50};
    options[n++] = (struct argp_option){"maps", KEY_MAPS, "NAME=FOLDER", 0, MAPS_HELP, 50};
    options[n++] = (struct argp_option){"maps-kind",
                                        KEY_MAPS_KIND,
                                        "[NAME=]KIND",
                                        0,
                                        "What maps hold: probabilities, logits, features, or guess (default guess: "
                                        "probabilities if they lie in 0..1 and are one, or one a label)",
                                        50};
    options[n++] = (struct argp_option){"maps-pca",
                                        KEY_MAPS_PCA,
                                        "[NAME=]N",
                                        0,
                                        "Reduce the channels of feature maps to their first N principal components",
                                        50};
    options[n++] = (struct argp_option){"maps-use",
                                        KEY_MAPS_USE,
                                        "[NAME=]CHOICE",
                                        0,
                                        "Feature maps: auto, keep or ignore (default auto: ignored where channels mean "
                                        "other things in some training images than in others)",
                                        50};
    for (size_t row = 0; row < N_CHOICES; row++)
        options[n++] =
            (struct argp_option){choices[row].name, KEY_CHOICES + (int)row, "NAME", 0, choices[row].help, 50};
    clv_recipe_release(&defaults);
    return &argp;
}
