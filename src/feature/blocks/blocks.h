/* Feature blocks. A block fills its columns (recipe/layout.c) of one node's row from the views of an image (views.c):
 * the image at working size, each node's pixels (scene.c), and data that blocks share. Every block has a norm of about
 * 1, so one L2 regulariser fits all. EACH_BLOCK below is the table of blocks. Read position.c first, the shortest
 * block; each has four functions, _size, _met, _fill and _name. contrast.c uses pairs.c; hog.c and kernel_map.c use
 * VLFeat; edges.c fills the features of edges. */
#ifndef FEATURE_BLOCKS_BLOCKS_H
#define FEATURE_BLOCKS_BLOCKS_H

#include <stdbool.h>

#include "base/base.h"
#include "cleave/features.h"
#include "data/maps/maps.h"
#include "feature/words/words.h"

/* A kernel map converts a share of a histogram to entries of a feature row: its square root, or numbers whose products
 * sum to another kernel. */

/* For two histograms h and g that each sum to 1, the products of the mapped shares sum to
 *   CLV_KERNEL_MAP_NONE          sum_b sqrt(h_b g_b)            (Hellinger, exactly)
 *   CLV_KERNEL_MAP_CHI2          sum_b 2 h_b g_b / (h_b + g_b)  (within 0.06)
 *   CLV_KERNEL_MAP_INTERSECTION  sum_b min(h_b, g_b)            (within 0.16)
 * so that a linear score of the rows is a score in that kernel's feature space (Vedaldi & Zisserman 2012). */
struct kernel_map {
    int32_t size; /* numbers per share */
    void *map;    /* VLFeat's; NULL for square roots */
};
void kernel_map_release(struct kernel_map *self);
enum clv_status kernel_map_init(struct kernel_map *self, const struct clv_recipe *recipe,
                                struct clv_error *err) CLV_CHECK;

/* Returns the size that the recipe's kernel map would have: 1 or 3. */
int32_t kernel_map_size(const struct clv_recipe *recipe);

/* Computes numbers[size] of a share in 0..1. A share of 0 gives zeros, as do shares below 2^-20 unless square roots are
 * used. */
void kernel_map_share(float *numbers, const struct kernel_map *self, float share);

/* Appends the index of one of a bin's numbers to the bin's name, unless it has only one. */
void kernel_map_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t number);

/* Soft binning by linear interpolation: shares `weight` between the two of bins[n_bins] whose centres, 0 to n_bins - 1,
 * are next to `at`. */
static inline void soft_bins_fill(float *bins, int32_t n_bins, float at, float weight)
{
    int32_t low = int32_within((double)at, 0, n_bins - 2);
    bins[low] = weight * ((float)(low + 1) - at);
    bins[low + 1] = weight * (at - (float)low);
}

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
    int32_t *pixel;        /* [start[n_regions]] pixel indices grouped by region, ascending within each */
    struct region *regions;
};

void scene_release(struct scene *scene);

/* The image (3 channels) and the superpixels must outlive the scene. O(pixels). */
enum clv_status scene_init(struct scene *scene, const struct clv_image *image,
                           const struct clv_superpixels *superpixels, struct clv_error *err) CLV_CHECK;

/* Fills regions[n_regions] from the lists of pixels. */
void scene_measure(struct scene *scene);

/* Makes a scene of overlapping windows: region i of `windows` holds the pixels within margin_px of patch i of the grid,
 * including the patch. Labels remain those of the partition. `windows` borrows from `scene`, which must outlive it.
 * O(pixels of all windows). */
enum clv_status windows_init(struct scene *windows, const struct scene *scene, const struct clv_patch_grid *grid,
                             int32_t margin_px, struct clv_error *err) CLV_CHECK;
/* Makes a scene with one region of all pixels. */
enum clv_status scene_whole(struct scene *windows, const struct scene *scene, struct clv_error *err) CLV_CHECK;
void windows_release(struct scene *windows);

/* Histograms of words and colours have shares, each of which the recipe's kernel map converts to kernel_map_size
 * numbers. */

/* words: histograms of dense-SIFT words, one per scale */
struct word_map {
    int32_t *word;        /* [height * width] word of the descriptor nearest to each pixel */
    int32_t *met, *count; /* [n_words] scratch: the words of one region; zeros between the calls of words_histogram */
};
void word_map_release(struct word_map *map);
/* Finds the words of rgb[height][width][3]: maps[recipe->n_scales], which are zeros before. On failure the caller
 * releases them as well. */
enum clv_status word_maps_init(struct word_map *maps, const uint8_t *rgb, int32_t width, int32_t height,
                               const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;
int32_t words_of_scale(const struct clv_recipe *recipe); /* columns per scale */
void words_histogram(float *row, const struct scene *scene, const struct word_map *map,
                     const struct kernel_map *kernel_map, int32_t region);
void words_bin_name(char *name, size_t size, const struct clv_recipe *recipe, const char *what, int32_t first_scale,
                    int32_t index);

/* Computes the scene block, which is the same for all nodes, for views->of_whole. */
struct views;
void whole_scene_fill(float *row, const struct views *views);

/* Returns about how many different words a square window of `pixels` pixels contains. */
double words_in_square(const struct clv_recipe *recipe, double pixels);

/* chroma: the joint histogram of a and b, the last part of the colour block */
enum { RGB_MET = 30, CHROMA_MET = 12 }; /* bins of a region that are not 0, about */
int32_t chroma_size(const struct clv_recipe *recipe);
void chroma_fill(float *row, const struct scene *scene, const struct kernel_map *kernel_map, int32_t region);

/* Measures that separate foreground from background within one image without training: they compare a region's colour
 * with those of the border, the centre and all other regions. */

enum contrast_measure {
    CONTRAST_BORDER,        /* similarity of the colour to those along the image border */
    CONTRAST_GEODESIC,      /* least sum of colour steps on a path to the border */
    CONTRAST_GLOBAL,        /* mean colour distance to all regions */
    CONTRAST_LOCAL,         /* mean colour distance to regions nearby */
    CONTRAST_SPREAD,        /* spatial spread of regions with similar colours */
    CONTRAST_CENTRE,        /* odds of the colour in the centre against the rim */
    CONTRAST_GRADIENT,      /* mean gradient of grey */
    CONTRAST_FOREGROUND,    /* the same odds for an iterated estimate of the foreground */
    CONTRAST_COLOUR_CENTRE, /* odds of centre against rim, averaged over the pixels' colours */
    CONTRAST_COLOUR_BORDER, /* odds of the strip along the border against the image, likewise */
    CONTRAST_WORDS          /* two measures for each SIFT scale: the same odds for the pixels' words */
};

/* Returns the number of measures per region. */
int32_t contrast_measures(const struct clv_recipe *recipe);

/* Computes measures[n_regions][contrast_measures()], each in 0..1. maps[recipe->n_scales] are only read if the recipe
 * has words. O(regions x min(regions, 1024) + pixels x scales + edges). */
enum clv_status contrast_measure(float *measures, const struct scene *scene, const struct clv_adjacency *adjacency,
                                 const struct clv_recipe *recipe, const struct word_map *maps,
                                 struct clv_error *err) CLV_CHECK;

/* Edge features. All are >= 0, so that weights >= 0 give couplings >= 0, which a minimum cut needs. */

enum { EDGE_TEXTURE = 4 }; /* index, for superpixels, of the feature that needs words */

/* Features of edges between slices follow those of edges within a slice. An edge has only features of its own kind; the
 * others are 0. */
enum {
    NEXT_CONSTANT = EDGE_TEXTURE + 1,
    NEXT_OVERLAP, /* pixels of overlap, in units of the mean area of a region */
    NEXT_SHARE,   /* share of the smaller region's pixels */
    NEXT_NEAR,
    NEXT_TEXTURE, /* overlap x similarity of words .. */
    NEXT_OTHER,   /* .. and of all other features */
    NEXT_END
};

int32_t edge_feature_count(const struct clv_recipe *recipe);
const char *edge_feature_name(const struct clv_recipe *recipe, int32_t index);

/* Units of colour differences and lengths: from each scene, or from the recipe if it has a fixed scale. */
struct edge_units {
    float contrast_scale; /* factor of squared distances of colours */
    float side;           /* approximate side of a region in pixels */
};
struct edge_units edge_units_fixed(const struct clv_recipe *recipe);
struct edge_units edge_units_of(const struct clv_adjacency *adjacency, const struct scene *scene,
                                const struct clv_recipe *recipe);

/* Returns the sum over all edges of the squared distance between the mean colours of their two regions. */
double edge_contrast(const struct clv_adjacency *adjacency, const struct region *regions);

/* Word histograms of nodes: n_scales histograms with squared norm of about 1 in columns 0..n_columns-1 of the problem's
 * rows. If n_scales is 0, all textures count as equal. */
struct node_words {
    const struct clv_problem *problem;
    int32_t n_columns, n_scales;
};

/* Fills features[n_edges][stride], stride = edge_feature_count(recipe), from the regions' colours and words, except
 * those of maps, which come last. O(edges x words of a node). */
void edges_fill(float *features, int32_t stride, const struct clv_adjacency *adjacency, const struct region *regions,
                struct edge_units units, struct node_words words);

/* Fills the features of the edges between 4-neighbours of a grid of patches. Edges along rows and along columns have
 * different features, so that full tables can distinguish above from below. O(edges). */
void patch_edges_fill(float *features, int32_t stride, const struct clv_adjacency *adjacency,
                      const struct scene *scene);

/* Fisher vectors of a patch and its surroundings (Perronnin, Sanchez & Mensink 2010): for each component of a Gaussian
 * mixture, the differences of the window's descriptors from its means and variances, as signed square roots. The vector
 * of each scale has norm 1. */

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

/* The recipe must have learned its mixtures and outlive *fisher. O(pixels). */
enum clv_status fisher_init(struct fisher *fisher, const struct scene *scene, const struct clv_recipe *recipe,
                            struct clv_error *err) CLV_CHECK;

/* Histograms of oriented gradients (Dalal & Triggs 2005) as Felzenszwalb et al. (2010) form them, by VLFeat's
 * vl_hog. */

enum { HOG_CELL_PX = 8, HOG_ORIENTATIONS = 9, HOG_SIZE = 3 * HOG_ORIENTATIONS + 4 };

/* Square cells of HOG_CELL_PX from the image's upper left corner. A remainder at the right or below is a cell if it has
 * at least half a cell, and otherwise belongs to the cell before it. An image smaller than a cell is one cell. */
struct hog {
    int32_t n_columns, n_rows;
    float *values; /* [n_rows][n_columns][HOG_SIZE] in 0..0.5 */
};
void hog_release(struct hog *hog);

/* The gradient of a pixel is that of its strongest colour channel. O(pixels). CLV_ERR_MEMORY only if our arrays cannot
 * be allocated: VLFeat does not check its own. */
enum clv_status hog_init(struct hog *hog, const struct scene *scene, struct clv_error *err) CLV_CHECK;

/* Values of maps as features use them: logits, log-odds of probabilities, standardised features or their principal
 * components, all clipped to +-MAP_CLIP. */

#define MAP_CLIP 6.0F
/* Bytes of the components that one pass over the map computes, unless a single one takes more. */
#define MAP_SUMS ((size_t)64 << 20)
/* Returns the number of values per pixel of the map: its components, or its channels. */
int32_t map_values(const struct clv_recipe_map *map);

/* Computes one channel at a time, so that only one has to be in memory. */
struct map_ready {
    const struct map_reader *map;
    const struct clv_recipe_map *recipe_map;
    int32_t width, height, n_channels;
    size_t n;       /* pixels */
    float *channel; /* [n] */
    double *sums;   /* [at_once][n] of components from `first`; NULL without components */
    int32_t first, at_once;
    int32_t left, top, right, bottom; /* needed pixels, right and bottom exclusive; initially all */
};
/* CLV_ERR_DATA if the number of channels is not the recipe's; CLV_ERR_USAGE if the recipe's map has not been
 * learned. */
enum clv_status map_ready_init(struct map_ready *ready, const struct map_reader *map,
                               const struct clv_recipe_map *recipe_map, struct clv_error *err) CLV_CHECK;
void map_ready_release(struct map_ready *ready);

/* Sets *values to the channel's values[height][width], which are valid until the next call and defined only at needed
 * pixels. Ascending order of components is fastest. */
enum clv_status map_ready_channel(const float **values, struct map_ready *ready, int32_t channel,
                                  struct clv_error *err) CLV_CHECK;

/* Returns the mean over n pixels. */
double map_channel_mean(const float *values, size_t n);

/* Network maps, pooled over the pixels of each node. */

/* Statistics of every node for all channels of all maps, [n_nodes][n_channels] each. largest and deviation are NULL
 * unless the recipe pools by them. */
struct map_pool {
    int32_t n_channels;
    float *mean, *largest, *deviation;
};
void map_pool_release(struct map_pool *pool);

/* The position (x, y) of a scene in an image of width x height, over which maps are spread. */
struct map_window {
    int32_t x, y, width, height;
};

/* Pools maps[recipe->n_maps]. window NULL: the scene is the whole image. O(pixels of all nodes x channels), memory for
 * one channel of the scene. */
enum clv_status map_pool_init(struct map_pool *pool, const struct scene *scene, const struct map_reader *maps,
                              const struct map_window *window, const struct clv_recipe *recipe,
                              struct clv_error *err) CLV_CHECK;

/* Returns the column, within the block, of the mean of a map's channel. *unit is the factor by which the mean is
 * multiplied there. */
int32_t maps_mean_column(float *unit, const struct clv_recipe *recipe, int32_t map, int32_t channel);
/* number of edge features of maps: for each, the similarity of two nodes' means x their boundary length
 * (superpixels) */
int32_t map_edge_count(const struct clv_recipe *recipe);
/* Fills the last map_edge_count of each edge's features[n_edges][stride]. `side` is the unit of boundary lengths. */
void map_edges_fill(float *features, int32_t stride, const struct clv_adjacency *adjacency, const struct map_pool *pool,
                    const struct clv_recipe *recipe, float side);

/* Sums over all pairs of regions, weighted by the similarity of their colours or by their distance in the image. */

/* Sums of a region over all regions j with n_j pixels. d = distance in Lab, k = its kernel (1 at d = 0), s = the kernel
 * of the distance in the image. */
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
    double border, mass, centre; /* sums of border_j, n_j and n_j c_j over the regions j that are used */
    float *memory;
};
void pairs_release(struct pairs *pairs);

/* Computes sum[PAIR_CENTRE] and `centre` of `pairs` again for other weights centre[n], in a quarter of the time of
 * pairs_init. */
void pairs_weigh(struct pairs *pairs, const struct scene *scene, const float *centre);

/* border[n] is the number of each region's pixels on the image border, and centre[n] its centrality c in 0..1. With
 * more than 1024 regions, only every second (third, and so on) is summed, as a sample. O(n x min(n, 1024)). */
enum clv_status pairs_init(struct pairs *pairs, const struct scene *scene, const float *border, const float *centre,
                           struct clv_error *err) CLV_CHECK;

/* Inputs of the feature blocks, computed from one image. */

/* Each node's pixels, wider windows around patches, and data that blocks share between nodes. */
struct views {
    const struct clv_recipe *recipe;
    const struct clv_patch_grid *grid;    /* zeros for superpixels */
    struct scene image;                   /* pixels grouped by the partition */
    struct scene windows;                 /* pixels of each patch; zeros for superpixels */
    struct scene surround, whole;         /* wider windows; zeros if no block needs them */
    struct word_map maps[CLV_MAX_SCALES]; /* zeros without words */
    struct kernel_map kernel_map;
    struct hog hog;         /* zeros without the block */
    struct fisher fisher;   /* zeros without the block */
    struct map_pool pooled; /* zeros without network maps */
    float *measures;        /* [n_nodes][n_measures] of contrast.c; NULL without the block */
    float *of_whole;        /* the scene block, the same for all nodes; NULL without it */
    int32_t n_measures;
};
void views_release(struct views *views);

/* The parts of an image or a tile that features are computed from. */
struct view_source {
    const struct clv_image *working; /* the pixels at working size */
    const struct map_reader *maps;   /* [recipe->n_maps] or NULL */
    const struct map_window *window; /* position of these pixels in the image; NULL: they are the whole image */
};

/* `example` must have its nodes and grid. The recipe, the working image and the example must outlive the views.
 * O(pixels x scales). */
enum clv_status views_init(struct views *views, const struct view_source *source, const struct clv_example *example,
                           const struct clv_adjacency *adjacency, const struct clv_recipe *recipe,
                           struct clv_error *err) CLV_CHECK;

/* Returns the scene whose regions are the nodes' own pixels. */
static inline const struct scene *views_own(const struct views *views)
{
    return views->windows.start ? &views->windows : &views->image;
}

/* The blocks, in the order of their columns: name, flag in features.h, kind. Each has four functions (see struct
 * block), such as rgb_size, rgb_met, rgb_fill and rgb_name. */

enum {
    OF_SIFT = 1,      /* uses SIFT descriptors, and the options for them */
    OF_WORDS = 2,     /* uses visual words, so codebooks */
    HISTOGRAM = 4,    /* shares, which the kernel map converts */
    PATCHES_ONLY = 8, /* uses windows around patches */
    WHOLE_IMAGE = 16  /* uses the whole image, so not possible in tiles */
};

/* words     histograms of dense-SIFT words, one per scale
 * colour    RGB histograms, Lab mean and deviation, joint histogram of a and b
 * position  bilinear weights over a grid of cells; they sum to 1
 * size      a bias of 1 and the region's pixels relative to the mean, at a fixed scale to the recipe's region area
 * contrast  the measures of contrast.c, each in soft bins
 * surround  the joint histogram of a and b, then words per scale if the recipe has them, of a wider window
 * scene     the same of the whole image, with words of only the last scale
 * rgb       only the RGB histograms of the colour block
 * word      1 for the word in the middle of the region's bounding box, one for each scale
 * hog       the mean over the region's pixels of the values of their cells
 * maps      a bias of 1; for each channel the mean, its soft bins (probabilities only), and other pooled statistics
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
    /* Returns about how many entries of a row are not 0, for a node of of_node pixels in an image of of_image. */
    double (*met)(const struct clv_recipe *recipe, double of_node, double of_image);
    void (*fill)(float *row, const struct views *views, int32_t region); /* row[size], zeroed */
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

/* Returns the first of the chosen blocks that is of the kind, or NULL. */
const struct block *block_that_is(int32_t chosen, unsigned kind);

/* Returns whether the recipe has words, and so codebooks. */
#define FLAG(block, flag, kind) | ((kind)&OF_WORDS ? (flag) : 0)
static inline bool has_words(const struct clv_recipe *recipe)
{
    return recipe->blocks & (0 EACH_BLOCK(FLAG));
}
#undef FLAG

/* Working size: features are computed from a shrunken image; masks and areas are counted at the original size. */

/* Shrinks the image (never enlarges it) to at most max_pixels, at least 1x1, and keeps its proportions. Makes a copy
 * even if the image is small enough. */
enum clv_status working_image(struct clv_image *working, const struct clv_image *image, int32_t max_pixels,
                              struct clv_error *err) CLV_CHECK;

/* Shrinks the image to a recipe's size: by its fixed scale if it has one, otherwise to its working_pixels. */
enum clv_status working_image_of(struct clv_image *working, const struct clv_image *image,
                                 const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;
/* Returns the number of working pixels of an image of n pixels. */
double working_count(const struct clv_recipe *recipe, double n);
/* Returns about how many superpixels an image of n working pixels has. */
int32_t working_superpixels(const struct clv_recipe *recipe, double n);

/* Returns the unit of the centroids of nodes, in working pixels: the square root of the image's area, so that distances
 * are comparable between images of any size and shape. At a fixed scale the area is that of 600 regions, the usual
 * number in an image. */
double working_unit(const struct clv_recipe *recipe, int32_t width, int32_t height);

/* Returns the working pixel, along one axis, that holds the centre of original pixel `at`. */
static inline int32_t working_coordinate(int32_t at, int32_t original_size, int32_t working_size)
{
    return (int32_t)((2 * (int64_t)at + 1) * working_size / (2 * (int64_t)original_size));
}

/* Zones of an image, and the frequencies of codes in them. */

/* The share of each pixel that belongs to the centre of the image (the rest belongs to the rim), and whether it is in
 * the strip along the border. */
struct zones {
    const struct scene *scene; /* must outlive the zones */
    int32_t n_pixels;
    float *centre;  /* [height * width] in 0..1 */
    uint8_t *strip; /* [height * width] 0 or 1 */
};
void zones_release(struct zones *zones);
enum clv_status zones_init(struct zones *zones, const struct scene *scene, struct clv_error *err) CLV_CHECK;

/* code[height * width] in 0..n_codes-1 is a property of pixels (a word, a colour). For each region r:
 *   odds[r * stride] = mean over its pixels of C / (C + R), C and R the frequencies of the pixel's code in centre and
 *     rim,
 *   odds[r * stride + 1] = mean over its pixels of S / (S + A), S and A those in the strip and in the whole image;
 * 1/2 where the code is uninformative. O(pixels + n_codes). */
enum clv_status zones_measure(float *odds, size_t stride, const struct zones *zones, const int32_t *code,
                              int32_t n_codes, struct clv_error *err) CLV_CHECK;

#endif
