/* Extraction of problems from images. A recipe determines the nodes, edges and features of an image; it is learned
 * once, from the training images, and is stored in the model. A clv_dataset holds the problems of many images, in
 * memory or as a feature file. Read first: struct clv_recipe, clv_example_extract (one image), clv_dataset_extract (a
 * set).
 *
 *     #include <cleave.h>
 *     #include <stdio.h>
 *
 *     int main(int argc, char **argv)   // prints the numbers of nodes and edges of every image
 *     {
 *         struct clv_error error = {0};
 *         struct clv_set set = {0};
 *         struct clv_recipe recipe;
 *         struct clv_dataset *dataset = NULL;
 *         clv_recipe_init(&recipe);
 *         recipe.blocks = CLV_BLOCK_COLOUR | CLV_BLOCK_POSITION | CLV_BLOCK_SIZE; // no words: nothing to learn
 *         if (argc != 2 || clv_set_read(&set, argv[1], &error) ||
 *             clv_dataset_extract(&dataset, &set, &recipe, 0, NULL, NULL, &error))
 *             return fprintf(stderr, "%s\n", error.message), 1;
 *         for (size_t i = 0; i < clv_dataset_size(dataset); i++) {
 *             struct clv_problem problem = clv_dataset_problem(dataset, i);
 *             printf("%s\t%d nodes\t%d edges\n", clv_dataset_name(dataset, i), problem.n_nodes, problem.n_edges);
 *         }
 *         clv_dataset_free(dataset);
 *         clv_recipe_release(&recipe);
 *         clv_set_release(&set);
 *         return 0;
 *     }
 *
 * With words (the default), call clv_recipe_learn before. */
#ifndef CLEAVE_FEATURES_H
#define CLEAVE_FEATURES_H

#include "cleave/boxes.h"
#include "cleave/data.h"
#include "cleave/problem.h"
#include "cleave/superpixel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of nodes: a superpixel, or a square patch of a regular grid that overlaps its neighbours (struct
 * clv_patch_grid). */
enum clv_nodes { CLV_NODES_SUPERPIXELS, CLV_NODES_PATCHES };

/* Feature blocks of a node, to be combined with |. */
enum clv_blocks {
    CLV_BLOCK_WORDS = 1,        /* dense-SIFT words, a histogram per scale */
    CLV_BLOCK_COLOUR = 2,       /* RGB histogram, chroma histogram, Lab statistics */
    CLV_BLOCK_POSITION = 4,     /* soft-binned position */
    CLV_BLOCK_SIZE = 8,         /* size and a bias of 1 */
    CLV_BLOCK_CONTRAST = 16,    /* similarity and distance to the border, uniqueness, spread, centre to rim, gradient */
    CLV_BLOCK_SURROUND = 32,    /* patches only: words and chroma histogram of the patch and its eight neighbours */
    CLV_BLOCK_SCENE = 64,       /* patches only: words of the last scale and chroma histogram of the whole image */
    CLV_BLOCK_RGB = 128,        /* RGB histogram alone, 16 bins per channel */
    CLV_BLOCK_WORD = 256,       /* the word at the centre, per scale, instead of a histogram of words */
    CLV_BLOCK_HOG = 512,        /* histograms of oriented gradients of cells of 8 pixels, 31 numbers */
    CLV_BLOCK_MAPS = 1024,      /* pooled values of network maps, and a bias of 1 */
    CLV_BLOCK_FISHER = 2048,    /* patches only: Fisher vectors of SIFT descriptors in and around the patch */
    CLV_BLOCK_SUPERPIXELS = 31, /* the default of superpixels */
    CLV_BLOCK_PATCHES = 127,    /* the default of patches */
    CLV_BLOCK_FIXED = 27,       /* the default of superpixels at a fixed scale */
    CLV_BLOCK_ALL = 4095,
};

/* Implementations of descriptors and of k-means. VLFeat's are the references, and several times slower. */
enum clv_sift { CLV_SIFT_CLEAVE, CLV_SIFT_VLFEAT };
enum clv_kmeans { CLV_KMEANS_CLEAVE, CLV_KMEANS_VLFEAT };

/* How the word of a descriptor is found. EXACT: the nearest of all centres. GROUPS: the nearest centre in the four
 * groups of 16 similar words whose means are nearest; in five cases of six this is the nearest of all, and it takes a
 * quarter to half of the time. Learning uses the exact search, then sorts the words into groups. */
enum clv_word_search { CLV_WORD_SEARCH_EXACT, CLV_WORD_SEARCH_GROUPS };
#define CLV_MAX_GROUPED_WORDS 512

/* Kernel maps of histograms of words and colours: the inner product of two mapped rows is a kernel between the
 * histograms. NONE: square roots of the shares (Hellinger, exact). Others: three numbers per share, whose inner product
 * approximates the chi-squared or the intersection kernel. */
enum clv_kernel_map { CLV_KERNEL_MAP_NONE, CLV_KERNEL_MAP_CHI2, CLV_KERNEL_MAP_INTERSECTION };

/* Kinds of values in a map. GUESS: probabilities if the maps have one channel, or one per label, and all values are in
 * 0..1, else features. */
enum clv_map_kind { CLV_MAP_GUESS, CLV_MAP_PROBABILITIES, CLV_MAP_LOGITS, CLV_MAP_FEATURES };

/* Whether feature maps are used if their channels have different meanings in some of the training images (n_groups).
 * AUTO: IGNORED (all values become 0), unless the maps are the only block. */
enum clv_map_use { CLV_MAP_USE_AUTO, CLV_MAP_USE_KEPT, CLV_MAP_USE_IGNORED };

/* Statistics of a map over the pixels of a node. Combine them with |. */
enum clv_map_pool { CLV_MAP_MEAN = 1, CLV_MAP_MAX = 2, CLV_MAP_DEVIATION = 4 };

/* How a recipe uses the maps of one name. Each channel of probabilities or logits becomes log-odds; features are
 * standardised and, if n_components is set, reduced to principal components. All values are clipped at +-6. */
struct clv_recipe_map {
    char name[CLV_MAX_MAP_NAME + 1];
    int32_t kind;         /* enum clv_map_kind; never GUESS once it is learned */
    int32_t layout;       /* enum clv_map_layout */
    int32_t n_channels;   /* 0: not learned */
    float *standard;      /* [2][n_channels] for features: mean, 1 / standard deviation; NULL for other kinds */
    int32_t n_components; /* for features: number of principal components that replace the channels; 0: none */
    int32_t is_whitened;  /* 1: every component is scaled to deviation 1; 0: all by the first one's factor */
    float *components;    /* [n_components][n_channels] of standardised channels; NULL: none, or not learned */
    /* [2][n_components or n_channels] mean and deviation, over the training images, of an image's mean values after the
     * conversion above; NULL: not known */
    float *usual;
    /* for features, above 1: number of groups of training images in which the channels separate foreground from
     * background differently, as if different networks had made them */
    int32_t n_groups;
    int32_t use;          /* enum clv_map_use */
    float contrast_scale; /* for features at a fixed scale: as contrast_scale of the recipe */
};

#define CLV_MAX_SCALES       4
#define CLV_MAX_WINDOW       256
#define CLV_DEFAULT_WINDOW   4
#define CLV_MAX_PCA_CHANNELS 1024 /* in maps that are reduced to principal components */
#define CLV_MAX_BIN_PX       24   /* for a SIFT scale */
#define CLV_DESCRIPTOR_SIZE  128

/* The mixture for Fisher vectors: number of Gaussians, dimension of its points (principal components of the
 * descriptors' square roots), and number of floats: mean and axes of the components, then weights, means and
 * variances. */
#define CLV_MIXTURE_COMPONENTS 16
#define CLV_MIXTURE_DIMENSIONS 24
#define CLV_MIXTURE_SIZE                                                                                               \
    (CLV_DESCRIPTOR_SIZE * (1 + CLV_MIXTURE_DIMENSIONS) + CLV_MIXTURE_COMPONENTS * (1 + 2 * CLV_MIXTURE_DIMENSIONS))

/* Nearest-centre vector quantiser over 128-dimensional descriptors with values 0..255. All arithmetic is integer, so
 * words are exact and the same on every machine; ties go to the lowest word. */
struct clv_codebook {
    int32_t n_words;
    uint8_t *centres; /* [n_words][128] */
};

/* Every choice that maps an image to a problem. Plain values are set by clv_recipe_init and may be changed before
 * clv_recipe_learn; codebooks are learned. */
struct clv_recipe {
    int32_t working_pixels; /* images larger than this are shrunk to it for features; default 80,000 */
    struct clv_slic_options slic;
    int32_t blocks;                      /* of enum clv_blocks */
    int32_t n_scales;                    /* SIFT scales, 1..CLV_MAX_SCALES; default 4 */
    int32_t bin_size_px[CLV_MAX_SCALES]; /* SIFT spatial bin, 1..CLV_MAX_BIN_PX, default {2, 4, 8, 16} */
    int32_t step_px;                     /* descriptor grid, default 3 */
    int32_t n_words;                     /* per scale, default 500 */
    int32_t n_codebook_samples;          /* descriptors per scale for k-means, default 30,000 */
    int32_t nodes;                       /* enum clv_nodes; default superpixels */
    int32_t patch_px, patch_step_px;     /* side of a patch and steps between them, working pixels; default 20 and 10 */
    int32_t sift;                        /* enum clv_sift; default cleave's */
    int32_t kmeans;                      /* enum clv_kmeans; default cleave's */
    int32_t word_search;                 /* enum clv_word_search; default exact; by groups n_words is at most 512 */
    int32_t kernel_map;                  /* enum clv_kernel_map; default none */
    int32_t map_pool;                    /* of enum clv_map_pool, with CLV_MAP_MEAN; 0 without maps */
    int32_t n_maps;                      /* 0..CLV_MAX_MAPS; above 0 exactly if blocks has CLV_BLOCK_MAPS */
    struct clv_recipe_map maps[CLV_MAX_MAPS];
    struct clv_codebook codebooks[CLV_MAX_SCALES]; /* empty without words */
    float *mixtures[CLV_MAX_SCALES];               /* [CLV_MIXTURE_SIZE] each with CLV_BLOCK_FISHER, else NULL */
    /* A fixed scale: the side of a working pixel in image pixels, 1..64, the same for all images; 0 (default):
     * working_pixels and slic.n_superpixels determine it per image. At a fixed scale images are divided into tiles of
     * tile_px x tile_px working pixels, beginning at the upper left corner; regions end at the borders of tiles, and
     * features of a tile use no pixels further than halo_px around it. Superpixels only, without position and scene. */
    float scale;
    int32_t region_area;      /* mean area of a superpixel in working pixels; with a scale 4 or more, else 0 */
    int32_t tile_px, halo_px; /* with a scale 64..8192 and 0..tile_px, else 0 */
    /* Learned at a fixed scale: the factor of squared colour differences between neighbours in edge features; 0: not
     * learned. */
    float contrast_scale;
    struct clv_bands bands;          /* learned from images with bands; clv_image_limits.bands points to it */
    int32_t grey16_low, grey16_high; /* clv_image_limits of the training images; 0, 0 (default): none */
    /* Number of slices of a sequence that form one example, 2..256: regions of neighbouring slices are coupled if they
     * overlap; 0 (default): each image is an example. Superpixels only, without maps. */
    int32_t window;
};
CLV_API void clv_recipe_init(struct clv_recipe *recipe);
/* Sets the defaults of patches: their nodes and blocks, and two SIFT scales {4, 10}. */
CLV_API void clv_recipe_init_patches(struct clv_recipe *recipe);
CLV_API void clv_recipe_release(struct clv_recipe *recipe);
CLV_API int32_t clv_recipe_n_features(const struct clv_recipe *recipe);
CLV_API int32_t clv_recipe_n_edge_features(const struct clv_recipe *recipe);

/* Learns the codebooks by k-means on descriptors sampled evenly from the images (image_paths[n]). The same seed gives
 * the same recipe at any thread count. */
CLV_API enum clv_status clv_recipe_learn(struct clv_recipe *recipe, const char *const *image_paths, size_t n,
                                         uint64_t seed, int n_threads, const struct clv_image_limits *limits,
                                         const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Sets the default blocks and halo of a fixed scale, and area and tiles unless they are set. */
CLV_API void clv_recipe_fix_scale(struct clv_recipe *recipe, float scale);

/* The problem of one image, which owns its memory. superpixels are at working size, at a fixed scale numbered tile by
 * tile; clv_example_paint paints labels at the original size. */
struct clv_example {
    struct clv_problem problem;         /* points into the arrays below */
    struct clv_superpixels superpixels; /* with patches: the node of the nearest patch for each pixel */
    struct clv_patch_grid grid;         /* with patches, else zeros */
    int32_t width, height;              /* of the original image */
    int64_t *row;
    int32_t *index;
    float *value;
    int32_t (*edges)[2];
    float *edge_features;
    float *area;     /* pixels of the ORIGINAL image */
    float *centroid; /* [n_nodes][2] as in struct clv_problem */
    int32_t *label;  /* NULL until clv_example_set_truth */
    float *counts;   /* [n_nodes][n_labels] original pixels of each true label; NULL until then */
    float *theta;    /* [n_nodes][n_labels] */
};
CLV_API void clv_example_release(struct clv_example *example);

/* Extracts superpixels, features and edges from a 3-channel image. One thread; deterministic. */
CLV_API enum clv_status clv_example_extract(struct clv_example *example, const struct clv_image *image,
                                            const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;

/* Extracts an example with maps[recipe->n_maps] of its image, in the recipe's order (NULL if it has none).
 * CLV_ERR_USAGE if maps are missing, CLV_ERR_DATA for another number of channels. */
CLV_API enum clv_status clv_example_extract_maps(struct clv_example *example, const struct clv_image *image,
                                                 const struct clv_map *maps, const struct clv_recipe *recipe,
                                                 struct clv_error *err) CLV_CHECK;

/* Counts the mask's pixels per node, sets label (the majority by theta, CLV_UNKNOWN where all pixels are void) and
 * theta[n_nodes][n_labels] = counts[n_nodes][n_labels] / (K' V_b), where V_b is the number of pixels with label b and
 * K' the number of labels present: for two labels counts / (2 V_b). Absent labels have weight 0, so theta sums to 1 (to
 * 0 if all is void). The mask has the original image's size. A patch with more void than other pixels is CLV_UNKNOWN,
 * and all its pixels count as void. */
CLV_API enum clv_status clv_example_set_truth(struct clv_example *example, const struct clv_mask *mask,
                                              int32_t n_labels, struct clv_error *err) CLV_CHECK;

/* Labels superpixels from boxes. A superpixel entirely outside every box gets label 0, any other CLV_UNKNOWN. Without
 * boxes all get 0. Sets neither counts nor theta. */
CLV_API enum clv_status clv_example_set_boxes(struct clv_example *example, const struct clv_pixel_box *boxes,
                                              size_t n_boxes, struct clv_error *err) CLV_CHECK;

/* pixels[height][width] = the label of the superpixel under each pixel of the original image. */
CLV_API enum clv_status clv_example_paint(uint8_t *pixels, const struct clv_example *example, const int32_t *y,
                                          struct clv_error *err) CLV_CHECK;

/* Paints examples of patches more smoothly: the four patches whose centres surround a pixel vote with bilinear weights,
 * and the label with the largest sum wins (a tie: the upper left patch's). votes[n_labels][height][width] (or NULL)
 * receives these sums, which add up to 1 at each pixel. In examples of superpixels the superpixel under a pixel has all
 * votes. Labels y are 0..n_labels-1. O(pixels). CLV_ERR_USAGE for another label, naming the node. */
CLV_API enum clv_status clv_example_vote(uint8_t *pixels, float *votes, const struct clv_example *example,
                                         const int32_t *y, int32_t n_labels, struct clv_error *err) CLV_CHECK;

/* Training data: problems by index, either in memory or views into a mapped feature file. */
struct clv_dataset;
/* How theta is computed from the counts of pixels. BALANCED: image by image, as clv_example_set_truth does. COUNTS:
 * counts divided by the mean number of labelled pixels per image, so that the mean loss is the share of labelled pixels
 * that are wrong. */
enum clv_loss_weights { CLV_LOSS_BALANCED, CLV_LOSS_COUNTS };
CLV_API void clv_dataset_free(struct clv_dataset *dataset);
CLV_API size_t clv_dataset_size(const struct clv_dataset *dataset);
CLV_API int32_t clv_dataset_n_labels(const struct clv_dataset *dataset);
CLV_API struct clv_problem clv_dataset_problem(const struct clv_dataset *dataset, size_t index);
CLV_API const char *clv_dataset_name(const struct clv_dataset *dataset, size_t index); /* the image */

/* Builds a dataset in memory from problems (arrays are copied); for tests, tools and other kinds of data. */
CLV_API enum clv_status clv_dataset_new(struct clv_dataset **dataset, int32_t n_labels,
                                        struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_dataset_add(struct clv_dataset *dataset, const struct clv_problem *problem,
                                        const char *name, struct clv_error *err) CLV_CHECK;

/* Extracts every item of a set into memory, in parallel, in the set's order, with its truth if it has a mask. Memory:
 * the result and one image per thread. If items fail, the error is that of the first one in the set's order; the
 * message names its file. An item without a mask, or with an entirely void one, has neither label nor theta. */
CLV_API enum clv_status clv_dataset_extract(struct clv_dataset **dataset, const struct clv_set *set,
                                            const struct clv_recipe *recipe, int n_threads,
                                            const struct clv_image_limits *limits, const struct clv_progress *progress,
                                            struct clv_error *err) CLV_CHECK;

/* Feature files: safetensors with the recipe, the items' names and all problems, so that further trainings skip the
 * extraction. With N nodes, M edges and n images in total:
 *   node_offset i64[n+1], edge_offset i64[n+1]: image i has the nodes and edges from offset[i] up to offset[i+1]
 *   row i64[N+1], index i32[*], value f32[*]    sparse features (compressed rows); or  x f32[N][d]  dense ones, in
 *     files of other programs
 *   edges i32[M][2] (nodes within the image, first < second), edge_features f32[M][p]
 *   counts f32[N][K]: pixels of each label, all 0 in an image without truth;  volume f32[N]: a node's area (the name
 *     is part of the format)
 *   size i32[n][4]: original and working width, height;  superpixels i32[sum of working pixels]: the node of each
 *   palette u8[256][3], codebook.S u8[n_words][128], mixture.S f32[CLV_MIXTURE_SIZE]
 * metadata: format "cleave features 1", n_labels, n_features, names (one per line), labels and recipe as JSON;
 *   pairwise: "potts" (default), or "full" to learn a score for every pair of labels; edge features may then be
 *     negative
 *   loss: "balanced" (default): theta as in clv_example_set_truth, or "counts": theta = counts, so that with a
 *     count of 1 for a node's true label the loss is the number of wrong nodes. Nodes without counts are hidden: their
 *     label is CLV_UNKNOWN
 * A file of another program needs node_offset, x (or row, index, value and n_features), format, n_labels and names. It
 * may omit the three edge tensors (unary scores only), counts (no truth), volume (1 each), size and superpixels (it can
 * be trained on, but not painted), labels with palette, and recipe (or "none"). */

/* Extracts a set in parallel and writes a feature file, in the set's order, all or nothing. Memory does not depend on
 * the size of the set: arrays are collected in unnamed temporary files on the target's disk. Fails as
 * clv_dataset_extract does, and for names that are not UTF-8 or contain a line break. The file has the same bytes at
 * any thread count. */
CLV_API enum clv_status clv_features_write(const char *path, const struct clv_set *set, const struct clv_recipe *recipe,
                                           int n_threads, const struct clv_image_limits *limits,
                                           const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Writes a dataset as a feature file, without recipe and superpixels, all or nothing: counts = theta with the loss
 * "counts", so that reading restores theta, labels and everything else; nodes whose theta is missing or all 0 have no
 * label afterwards. Fails for names as above. Needs as much memory again. CLV_ERR_USAGE if the dataset is empty. */
CLV_API enum clv_status clv_dataset_write(const char *path, const struct clv_dataset *dataset,
                                          struct clv_error *err) CLV_CHECK;

/* Opens a feature file (or a folder with all shards of one) as a dataset of views, after checking all of it in one
 * pass: O(size of the file). Only labels and theta are in memory (and, for dense features, indices of the largest
 * image). *recipe (may be NULL) receives the recipe if the file has one, and is unchanged otherwise. The file must not
 * be changed while the dataset exists. */
CLV_API enum clv_status clv_features_open(struct clv_dataset **dataset, struct clv_recipe *recipe, const char *path,
                                          struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
