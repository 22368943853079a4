/* This folder computes the features. A block fills its own stretch of one node's row (recipe/layout.c says where the
 * stretches are) from the views of an image (views.c): the image at working size, each node's pixels (scene.c), and
 * what blocks share. Every block has a norm of about 1, so that one L2 regulariser fits them all. EACH_BLOCK below
 * is the table of all. Read position.c first, the shortest block: four functions, _size, _met, _fill and _name.
 * contrast.c stands on pairs.c, hog.c and kernel_map.c on VLFeat; edges.c fills the edges' features. */
#ifndef FEATURE_BLOCKS_BLOCKS_H
#define FEATURE_BLOCKS_BLOCKS_H

#include <stdbool.h>

#include "cleave/features.h"
#include "data/maps/maps.h"
#include "feature/words/words.h"

/* Kernel maps turn a share of a histogram into entries of a row of features: its square root, or numbers whose products
 * sum to another kernel. */

/* With h and g two histograms that each sum to 1, the products of what their shares are mapped to sum to
 *   CLV_KERNEL_MAP_NONE          sum_b sqrt(h_b g_b)            (Hellinger, exactly)
 *   CLV_KERNEL_MAP_CHI2          sum_b 2 h_b g_b / (h_b + g_b)  (within 0.06)
 *   CLV_KERNEL_MAP_INTERSECTION  sum_b min(h_b, g_b)            (within 0.16)
 * so that a score linear in the rows is one in that kernel (Vedaldi & Zisserman 2012). */
struct kernel_map {
    int32_t size; /* numbers a share becomes */
    void *map;    /* VLFeat's; NULL for square roots */
};
void kernel_map_release(struct kernel_map *self);
enum clv_status kernel_map_init(struct kernel_map *self, const struct clv_recipe *recipe,
                                struct clv_error *err) CLV_CHECK;

/* kernel_map.size without the map: 1 or 3. */
int32_t kernel_map_size(const struct clv_recipe *recipe);

/* numbers[size], of a share in 0..1; 0 becomes zeros, and so do shares below 2^-20 but for square roots. */
void kernel_map_share(float *numbers, const struct kernel_map *self, float share);

/* Appends to the name of a bin which of its numbers is meant; nothing where there is but one. */
void kernel_map_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t number);

/* A scene is the input of the feature blocks: the image at working size in RGB, Lab and grey, and its superpixels as
 * lists of pixels. */

/* Means over one superpixel's pixels. */
struct region {
    float lab[3], deviation[3]; /* mean and standard deviation of L, a, b */
    float x, y;                 /* centroid in 0..1 of the image's width and height */
    int32_t n_pixels;
};

struct scene {
    int32_t width, height, n_regions;
    const uint8_t *rgb;    /* [height][width][3], borrowed */
    const int32_t *labels; /* [height][width], borrowed */
    float *lab;            /* [height][width][3] */
    float *grey;           /* [height][width] in 0..1 */
    int32_t *start;        /* [n_regions + 1] into pixel */
    int32_t *pixel;        /* [start[n_regions]] pixel numbers grouped by region, ascending within one */
    struct region *regions;
};

void scene_release(struct scene *scene);

/* image (3 channels) and superpixels must outlive the scene. O(pixels). */
enum clv_status scene_init(struct scene *scene, const struct clv_image *image,
                           const struct clv_superpixels *superpixels, struct clv_error *err) CLV_CHECK;

/* Fills regions[n_regions] from the lists of pixels. */
void scene_measure(struct scene *scene);

/* Makes a scene of overlapping windows from a scene: region i of `windows` holds the pixels of patch i of the grid and
 * of all that are within margin_px of it, so that regions overlap; labels stay those of the partition. It borrows from
 * `scene` and must not outlive it. O(pixels of all windows). */
enum clv_status windows_init(struct scene *windows, const struct scene *scene, const struct clv_patch_grid *grid,
                             int32_t margin_px, struct clv_error *err) CLV_CHECK;
/* One region of all pixels. */
enum clv_status scene_whole(struct scene *windows, const struct scene *scene, struct clv_error *err) CLV_CHECK;
void windows_release(struct scene *windows);

/* Histograms of words and colours are of shares, each of which the recipe's kernel map turns into kernel_map_size
 * numbers. */

/* words: histograms of dense-SIFT words, one per scale */
struct word_map {
    int32_t *word; /* [height * width]: of the descriptor nearest to each pixel */
    int32_t *met;  /* [n_words], scratch: the words of one region */
};
void word_map_release(struct word_map *map);
enum clv_status word_map_init(struct word_map *map, const struct sift_image *sift, const struct clv_recipe *recipe,
                              int32_t scale, struct clv_error *err) CLV_CHECK;
int32_t words_of_scale(const struct clv_recipe *recipe); /* columns of the words of one scale */
void words_histogram(float *row, const struct scene *scene, const struct word_map *map,
                     const struct kernel_map *kernel_map, int32_t region);
void words_bin_name(char *name, size_t size, const struct clv_recipe *recipe, const char *what, int32_t first_scale,
                    int32_t index);

/* The scene block, which is the same for all nodes, once: views->of_whole. */
struct views;
void whole_scene_fill(float *row, const struct views *views);

/* Different words that a square window of that many pixels meets. */
double words_in_square(const struct clv_recipe *recipe, double pixels);

/* chroma: the joint histogram of a and b, the last part of the colour block */
enum { RGB_MET = 30, CHROMA_MET = 12 }; /* bins that a region meets, of the RGB histograms and of a and b */
int32_t chroma_size(const struct clv_recipe *recipe);
void chroma_fill(float *row, const struct scene *scene, const struct kernel_map *kernel_map, int32_t region);

/* Measures that separate foreground from background within one image, learned from no other: how a region's colour
 * relates to the border's, to the centre's and to all the others'. */

enum contrast_measure {
    CONTRAST_BORDER,        /* similarity of colours to those along the image's border */
    CONTRAST_GEODESIC,      /* least sum of colour steps on a path to the border */
    CONTRAST_GLOBAL,        /* mean colour distance to all regions */
    CONTRAST_LOCAL,         /* mean colour distance to regions nearby */
    CONTRAST_SPREAD,        /* how far regions of such colours are apart */
    CONTRAST_CENTRE,        /* odds that such colours are of the centre rather than of the rim */
    CONTRAST_GRADIENT,      /* mean gradient of grey */
    CONTRAST_FOREGROUND,    /* the same odds after foreground and rim were separated by them, repeatedly */
    CONTRAST_COLOUR_CENTRE, /* odds of centre against rim, colour by colour of the pixels */
    CONTRAST_COLOUR_BORDER, /* odds of the strip along the border against all, likewise */
    CONTRAST_WORDS          /* from here on two measures a SIFT scale: the same odds, word by word */
};

/* Measures of a region under a recipe. */
int32_t contrast_measures(const struct clv_recipe *recipe);

/* measures[n_regions][contrast_measures()], each in 0..1. maps[recipe->n_scales]: the words, read for the measures of
 * words. O(regions x min(regions, 1024) + pixels x scales + edges). */
enum clv_status contrast_measure(float *measures, const struct scene *scene, const struct clv_adjacency *adjacency,
                                 const struct clv_recipe *recipe, const struct word_map *maps,
                                 struct clv_error *err) CLV_CHECK;

/* Edge features: all >= 0, so that couplings >= 0 make cuts. */

enum { EDGE_TEXTURE = 4 }; /* of superpixels: the feature that needs words */

/* Features of edges between slices stand behind those of edges within one; an edge has only one of both kinds. */
enum {
    NEXT_CONSTANT = EDGE_TEXTURE + 1,
    NEXT_OVERLAP, /* pixels, by those of a mean region */
    NEXT_SHARE,   /* of the smaller region's pixels */
    NEXT_NEAR,
    NEXT_TEXTURE, /* overlap x similarity of words .. */
    NEXT_LOOK,    /* .. and of all else */
    NEXT_END
};

int32_t edge_feature_count(const struct clv_recipe *recipe);
const char *edge_feature_name(const struct clv_recipe *recipe, int32_t index);

/* Units of colour differences and lengths: of the scene, image by image, or of a recipe with a fixed scale. */
struct edge_units {
    float contrast_scale; /* squared distances of colours are multiplied by it */
    float side;           /* of a region, about */
};
struct edge_units edge_units_fixed(const struct clv_recipe *recipe);
struct edge_units edge_units_of(const struct clv_adjacency *adjacency, const struct scene *scene,
                                const struct clv_recipe *recipe);

/* Sum over the edges of the squared distances between their ends' colours. */
double edge_contrast(const struct clv_adjacency *adjacency, const struct region *regions);

/* Word histograms of nodes: n_scales of them, the product of one with itself about 1, in columns 0..n_columns-1 of the
 * problem's rows. 0 scales: texture counts as equal. */
struct node_words {
    const struct clv_problem *problem;
    int32_t n_columns, n_scales;
};

/* features[n_edges][stride], stride = edge_feature_count(recipe), but for those of maps, which come last, from the
 * regions' colours and words. O(edges x words of a node). */
void edges_fill(float *features, int32_t stride, const struct clv_adjacency *adjacency, const struct region *regions,
                struct edge_units units, struct node_words words);

/* Fills the features of the edges between 4-neighbours of a grid of patches, which edges run along rows or along
 * columns: full tables can distinguish above from below. O(edges). */
void patch_edges_fill(float *features, int32_t stride, const struct clv_adjacency *adjacency,
                      const struct scene *scene);

/* Fisher vectors of a patch and its surroundings (Perronnin, Sanchez & Mensink 2010): how the descriptors of a window
 * differ from a mixture of Gaussians in means and variances, component by component, with signed roots and unit norm,
 * scale by scale. */

enum { FISHER_SIZE = 2 * MIXTURE_COMPONENTS * MIXTURE_DIMENSIONS }; /* of one scale */

struct fisher {
    const struct clv_recipe *recipe;
    int32_t margin_px;         /* of the window around a patch */
    int32_t width, height;     /* of the image */
    int32_t n_columns, n_rows; /* of the grid of descriptors, the same for all scales */
    struct fisher_scale {
        float *point, *share; /* [cells][MIXTURE_DIMENSIONS], [cells][MIXTURE_COMPONENTS] */
    } scales[CLV_MAX_SCALES];
};
void fisher_release(struct fisher *fisher);

/* O(pixels). The recipe, which has learned its mixtures, must outlive it. */
enum clv_status fisher_init(struct fisher *fisher, const struct scene *scene, const struct clv_recipe *recipe,
                            struct clv_error *err) CLV_CHECK;

/* Histograms of oriented gradients (Dalal & Triggs 2005) as Felzenszwalb et al. (2010) form them, by VLFeat's
 * vl_hog. */

enum { HOG_CELL_PX = 8, HOG_ORIENTATIONS = 9, HOG_SIZE = 3 * HOG_ORIENTATIONS + 4 };

/* Square cells of HOG_CELL_PX from the image's upper left corner on. What is left at the right and below is a cell of
 * its own from half a cell on, else it counts to the cell before; an image smaller than a cell is one. */
struct hog {
    int32_t n_columns, n_rows;
    float *values; /* [n_rows][n_columns][HOG_SIZE] in 0..0.5 */
};
void hog_release(struct hog *hog);

/* The gradient of a pixel is that of its strongest colour channel. O(pixels). CLV_ERR_MEMORY for our arrays: VLFeat
 * does not check its own. */
enum clv_status hog_init(struct hog *hog, const struct scene *scene, struct clv_error *err) CLV_CHECK;

/* Values of maps as recipes use them: log-odds of probabilities, standardised features or their principal components,
 * all clipped at +-MAP_CLIP. */

#define MAP_CLIP 6.0F
/* Bytes of components that are made in one pass over the map, unless one alone takes more. */
#define MAP_SUMS ((size_t)64 << 20)
/* Numbers a pixel that it makes of a map. */
int32_t map_values(const struct clv_recipe_map *map);

/* One channel after the other, so that no more of the map need be in memory. */
struct map_ready {
    const struct map_reader *map;
    const struct clv_recipe_map *recipe_map;
    int32_t width, height, n_channels;
    size_t n;       /* pixels */
    float *channel; /* [n] */
    double *sums;   /* [at_once][n] of components from `first` on; NULL without them */
    int32_t first, at_once;
    int32_t left, top, right, bottom; /* pixels that are wanted, up to the first ones that are not: at first all */
};
/* CLV_ERR_DATA for another number of channels than the recipe's; CLV_ERR_USAGE where the recipe's map has not been
 * learned. */
enum clv_status map_ready_init(struct map_ready *ready, const struct map_reader *map,
                               const struct clv_recipe_map *recipe_map, struct clv_error *err) CLV_CHECK;
void map_ready_release(struct map_ready *ready);

/* The channel's values[height][width], defined where they are wanted, until the next one's. Components are best asked
 * for in their order. */
enum clv_status map_ready_channel(const float **values, struct map_ready *ready, int32_t channel,
                                  struct clv_error *err) CLV_CHECK;

/* Mean over n pixels. */
double map_channel_mean(const float *values, size_t n);

/* Maps of networks, pooled over the pixels of each node. */

/* Statistics of every node over all channels of all maps: [n_nodes][n_channels] each, NULL where the recipe does not
 * pool by it (means are always there). */
struct map_pool {
    int32_t n_channels;
    float *mean, *largest, *deviation;
};
void map_pool_release(struct map_pool *pool);

/* The part of an image, (x, y) on, that a scene shows; width and height are the image's, over which maps are spread. */
struct map_window {
    int32_t x, y, width, height;
};

/* maps[recipe->n_maps]; window NULL: the scene shows all of the image. O(pixels of all nodes x channels), memory for
 * one channel of the scene. */
enum clv_status map_pool_init(struct map_pool *pool, const struct scene *scene, const struct map_reader *maps,
                              const struct map_window *window, const struct clv_recipe *recipe,
                              struct clv_error *err) CLV_CHECK;

/* Returns the column in the block of the mean of a map's channel; *unit is the factor of the mean there. */
int32_t maps_mean_column(float *unit, const struct clv_recipe *recipe, int32_t map, int32_t channel);
/* edges: similarity of two nodes' means in each map, times the length of their boundary if there is one */
int32_t map_edge_count(const struct clv_recipe *recipe);
/* features[n_edges][stride], of which each edge's last map_edge_count are filled; side is the length that boundaries
 * are measured by. */
void map_edges_fill(float *features, int32_t stride, const struct clv_adjacency *adjacency, const struct map_pool *pool,
                    const struct clv_recipe *recipe, float side);

/* Sums over all pairs of regions, weighted by the similarity of their colours or by their nearness. */

/* Sums of one region over the others, j, with their pixels n_j; d = distance in Lab, k = its kernel (1 at d = 0),
 * s = the kernel of the distance in the image. */
enum pair_sum {
    PAIR_BORDER,    /* border_j k */
    PAIR_COLOUR,    /* n_j d */
    PAIR_NEAR,      /* n_j s d */
    PAIR_NEAR_MASS, /* n_j s */
    PAIR_LIKE,      /* n_j k */
    PAIR_LIKE_X,    /* n_j k x_j */
    PAIR_LIKE_Y,    /* n_j k y_j */
    PAIR_LIKE_R,    /* n_j k (x_j^2 + y_j^2) */
    PAIR_CENTRE,    /* n_j k c_j */
    PAIR_SUMS
};

struct pairs {
    int32_t n;                   /* regions */
    float *sum[PAIR_SUMS];       /* each [n] */
    double border, mass, centre; /* border_j, n_j and n_j c_j summed over the regions that were looked at */
    float *memory;
};
void pairs_release(struct pairs *pairs);

/* Computes sum[PAIR_CENTRE] and `centre` of `pairs` again for other weights centre[n]. Takes a quarter of the time of
 * pairs_init. */
void pairs_weigh(struct pairs *pairs, const struct scene *scene, const float *centre);

/* border[n]: pixels of each region on the image's border; centre[n]: c, how central each region is. Past 1024
 * regions, every second, third, .. one stands for its neighbours too. O(n x min(n, 1024)). */
enum clv_status pairs_init(struct pairs *pairs, const struct scene *scene, const float *border, const float *centre,
                           struct clv_error *err) CLV_CHECK;

/* Inputs of the feature blocks, computed from one image. */

/* Each node's own pixels, for patches more of the image around them, and what blocks share between nodes. */
struct views {
    const struct clv_recipe *recipe;
    const struct clv_patch_grid *grid;    /* of patches, else zeros */
    struct scene image;                   /* pixels by the partition */
    struct scene windows;                 /* by patch; zeros for superpixels */
    struct scene surround, whole;         /* by wider windows, where a block wants them */
    struct word_map maps[CLV_MAX_SCALES]; /* zeros where no block looks at a scale */
    struct kernel_map kernel_map;
    struct hog hog;         /* zeros without the block */
    struct fisher fisher;   /* zeros without the block */
    struct map_pool pooled; /* of maps of networks; zeros without them */
    float *measures;        /* [n_nodes][n_measures] of contrast.c; NULL without the block */
    float *of_whole;        /* the scene block, the same for all nodes; NULL without it */
    int32_t n_measures;
};
void views_release(struct views *views);

/* The parts of an image or a tile that features are computed from. */
struct view_source {
    const struct clv_image *working; /* the pixels at working size */
    const struct map_reader *maps;   /* [recipe->n_maps] or NULL, spread over .. */
    const struct map_window *window; /* .. all of which these pixels are a part; NULL: they are all */
};

/* Nodes and grid of `example` are there; recipe, working image and example outlive the views. O(pixels x scales). */
enum clv_status views_init(struct views *views, const struct view_source *source, const struct clv_example *example,
                           const struct clv_adjacency *adjacency, const struct clv_recipe *recipe,
                           struct clv_error *err) CLV_CHECK;

/* The scene whose regions are the nodes' own pixels. */
static inline const struct scene *views_own(const struct views *views)
{
    return views->windows.start ? &views->windows : &views->image;
}

/* The blocks, in the order of their columns: name, flag in features.h, kind. For each the macro stands for four
 * functions: rgb_size, rgb_met, rgb_fill and rgb_name, as in struct block. */

enum {
    OF_SIFT = 1,      /* made of SIFT descriptors: needs what says how they are */
    OF_WORDS = 2,     /* made of visual words: needs codebooks */
    HISTOGRAM = 4,    /* shares, which the kernel map turns into numbers */
    PATCHES_ONLY = 8, /* looks at windows around patches */
    WHOLE_IMAGE = 16  /* looks at the whole image, which no tile shows */
};

/* words     histograms of dense-SIFT words, one per scale
 * colour    RGB histograms, Lab mean and deviation, joint histogram of a and b
 * position  bilinear weights over a grid of cells; they sum to 1
 * size      a bias of 1 and the region's pixels relative to the mean, at a fixed scale to the area wanted
 * contrast  the measures of contrast.c, each spread over bins of its own
 * surround  the joint histogram of a and b, then words per scale if the recipe has them, of a wider window
 * scene     the same of the whole image, with words of the last scale alone
 * rgb       the RGB histograms of the colour block alone
 * word      1 for the word in the middle of the region's bounding box, one a scale
 * hog       what the region's pixels find in their cells, on average
 * maps      a bias of 1; of each channel the mean, for probabilities also its soft bins, and what else is pooled
 * fisher    Fisher vectors of a patch and its surroundings */
#define EACH_BLOCK(ROW)                                                                                                \
    ROW(words, CLV_BLOCK_WORDS, OF_SIFT | OF_WORDS | HISTOGRAM)                                                        \
    ROW(colour, CLV_BLOCK_COLOUR, HISTOGRAM)                                                                           \
    ROW(position, CLV_BLOCK_POSITION, WHOLE_IMAGE)                                                                     \
    ROW(size, CLV_BLOCK_SIZE, 0)                                                                                       \
    ROW(contrast, CLV_BLOCK_CONTRAST, 0)                                                                               \
    ROW(surround, CLV_BLOCK_SURROUND, HISTOGRAM | PATCHES_ONLY)                                                        \
    ROW(scene, CLV_BLOCK_SCENE, HISTOGRAM | PATCHES_ONLY | WHOLE_IMAGE)                                                \
    ROW(rgb, CLV_BLOCK_RGB, HISTOGRAM)                                                                                 \
    ROW(word, CLV_BLOCK_WORD, OF_SIFT | OF_WORDS)                                                                      \
    ROW(hog, CLV_BLOCK_HOG, 0)                                                                                         \
    ROW(maps, CLV_BLOCK_MAPS, 0)                                                                                       \
    ROW(fisher, CLV_BLOCK_FISHER, OF_SIFT | PATCHES_ONLY)

#define PLACE(block, flag, kind) BLOCK_##block,
enum { EACH_BLOCK(PLACE) N_BLOCKS };
#undef PLACE

struct block {
    const char *name;
    int32_t flag; /* of enum clv_blocks */
    unsigned kind;
    int32_t (*size)(const struct clv_recipe *recipe); /* columns */
    /* Entries of a row that are not 0, about, where a node has of_node pixels of of_image. */
    double (*met)(const struct clv_recipe *recipe, double of_node, double of_image);
    void (*fill)(float *row, const struct views *views, int32_t region); /* row[size] of zeros */
    void (*feature_name)(char *name, size_t size, const struct clv_recipe *recipe, int32_t index);
};
extern const struct block block_rows[N_BLOCKS];
extern const char *const block_names[N_BLOCKS + 1]; /* ends with NULL */

#define DECLARE(block, flag, kind)                                                                                     \
    int32_t block##_size(const struct clv_recipe *recipe);                                                             \
    double block##_met(const struct clv_recipe *recipe, double of_node, double of_image);                              \
    void block##_fill(float *row, const struct views *views, int32_t region);                                          \
    void block##_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index);
EACH_BLOCK(DECLARE)
#undef DECLARE

/* The first of the chosen blocks that is of the kind; NULL: none is. */
const struct block *block_that_is(int32_t chosen, unsigned kind);

/* Whether the recipe has words, so codebooks. */
#define FLAG(block, flag, kind) | ((kind)&OF_WORDS ? (flag) : 0)
static inline bool has_words(const struct clv_recipe *recipe)
{
    return recipe->blocks & (0 EACH_BLOCK(FLAG));
}
#undef FLAG

/* Working size: features see a shrunken image, masks and areas are counted at the original size. */

/* The image shrunk (never enlarged) to at most max_pixels, its proportions kept; at least 1x1. A copy even when it
 * is small enough. */
enum clv_status working_image(struct clv_image *working, const struct clv_image *image, int32_t max_pixels,
                              struct clv_error *err) CLV_CHECK;

/* Shrinks the image to a recipe's size: to its fixed scale, if it has one, else to its working_pixels. */
enum clv_status working_image_of(struct clv_image *working, const struct clv_image *image,
                                 const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;
/* How many pixels it has, of an image of n. */
double working_count(const struct clv_recipe *recipe, double n);
/* How many superpixels an image of n working pixels has, about. */
int32_t working_superpixels(const struct clv_recipe *recipe, double n);

/* Unit of the centroids of nodes, in working pixels: the root of the image's area, so that distances are comparable
 * between images of any size and shape; at a fixed scale that of 600 regions, as an image usually has. */
double working_unit(const struct clv_recipe *recipe, int32_t width, int32_t height);

/* The working pixel under original pixel `at` along one axis: the one that holds its centre. */
static inline int32_t working_coordinate(int32_t at, int32_t original_size, int32_t working_size)
{
    return (int32_t)((2 * (int64_t)at + 1) * working_size / (2 * (int64_t)original_size));
}

/* Zones of an image, and what is met more often in one than in another. */

/* How much each pixel belongs to the image's centre (the rest belongs to its rim), and whether to the strip along
 * its border. */
struct zones {
    const struct scene *scene; /* outlives them */
    int32_t n_pixels;
    float *centre;  /* [height * width] in 0..1 */
    uint8_t *strip; /* [height * width] 0 or 1 */
};
void zones_release(struct zones *zones);
enum clv_status zones_init(struct zones *zones, const struct scene *scene, struct clv_error *err) CLV_CHECK;

/* code[height * width] in 0..n_codes-1 is some property of pixels (a word, a colour). For each region r:
 *   odds[r * stride] = mean over its pixels of C / (C + R), C and R the frequencies of the pixel's code in centre and
 *     rim,
 *   odds[r * stride + 1] = mean over its pixels of S / (S + A), S and A those in the strip and in all of the image;
 * 1/2 where the code is uninformative. O(pixels + n_codes). */
enum clv_status zones_measure(float *odds, size_t stride, const struct zones *zones, const int32_t *code,
                              int32_t n_codes, struct clv_error *err) CLV_CHECK;

#endif
