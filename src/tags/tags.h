/* Learns models of tags from tagged examples: binary classifiers, large margin sigmoid belief networks and Boltzmann
 * machines (Miao & Rao), and structured SVMs over tags as baselines.
 *
 *     struct clv_tag_training training;
 *     clv_tag_training_defaults(&training, clv_tag_learner_find("lmsbn"));
 *     training.set = &set;
 *     training.is_rbf = true;
 *     training.seed = 1;
 *     clv_tag_cross_validate(training.parameters, NULL, &training, &grid, &error);   (optional)
 *     clv_tag_train(&model, NULL, &training, &error);
 *
 * Start at tags.c. In a training, tag_problem.c scales features and computes the kernel, tag_fit.c sets up one fit,
 * dual_coordinate.c solves it (tag_structural.c for structured SVMs), and tag_validate.c, tag_folds.c and
 * tag_threshold.c choose parameters, orders and thresholds on held-out examples. tag_decide.c decides the tags of an
 * example, by branch_bound.c for belief networks. svmlight.c reads files of features, image_tags.c tagged images. */

/* Models of tags predict the set of tags of an example from its features. A model is one safetensors file.
 *
 * The input score of tag i is a_i(x) = <w_i, x> + b_i, or with the RBF kernel sum_v c_iv exp(-gamma |x - x_v|^2) + b_i
 * over support vectors x_v, which all tags share. With y_i = 1 if the example has tag i and -1 if not, the forms decide
 * by
 *     CLV_TAGS_INDEPENDENT  y_i = sign a_i(x)
 *     CLV_TAGS_LMSBN        least sum_i [1 - z_i]_+, z_i = y_i (a_i + sum_C w_iC prod_{j in C} y_j), C among the tags
 *                           before i (clv_belief_map; tag_of[0] is the first decision)
 *     CLV_TAGS_LMBM         least sum_i [1 - z_i]_+, z_i = y_i (a_i + sum_{j != i} c_ij y_j), c_ij = c_ji
 *     CLV_TAGS_CHAIN        largest sum_i a_i y_i + sum_i c_i y_i y_{i+1}
 *     CLV_TAGS_FULL         largest sum_i a_i y_i + sum_{i < j} c_ij y_i y_j
 * LMBM and FULL enumerate all labellings of up to CLV_MAX_ENUMERATED tags. With more tags they run max-product belief
 * propagation on the couplings and then improving flips of single tags, which is not optimal in general. For FULL the
 * linear relaxation, a minimum cut, gives a bound and the optimal values of some tags (roof duality; Boros & Hammer
 * 2002).
 *
 * tag_model.c computes scores, tag_decide.c decides, tag_model_file.c reads and writes models. */
#ifndef TAGS_TAGS_H
#define TAGS_TAGS_H

#include <stdbool.h>

#include "cleave/features.h"
#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/oracle.h"
#include "cleave/status.h"

/* Measures of predicted tags. */

/* Measures of predicted sets of tags (Miao and Rao 2010, equations 9 to 13), all in [0, 1]. F is 2 |both| / (|true| +
 * |predicted|), and 1 if no tag is true or predicted (0/0). */
struct clv_tag_score {
    double exact_match; /* fraction of examples with all tags correct */
    double hamming;     /* fraction of wrong decisions among examples x tags */
    double f_sample;    /* F of an example's tags, mean over examples */
    double f_macro;     /* F of a tag over the examples, mean over tags */
    double f_micro;     /* F over all decisions */
};
/* Measures prediction[n][n_tags] against truth[n][n_tags], both 0 or 1. CLV_ERR_USAGE unless n >= 1 and n_tags >= 1.
 * O(n n_tags). */
enum clv_status clv_tag_measure(struct clv_tag_score *score, const uint8_t *truth, const uint8_t *prediction, size_t n,
                                int32_t n_tags, struct clv_error *err) CLV_CHECK;

/* Large margin sigmoid belief networks (Miao & Rao): decisions y_0 .. y_{K-1} in {-1, +1}, each of which depends on the
 * input and on the decisions before it. With the input score a_i of decision i and weights w of products of earlier
 * decisions,
 *     z_i(y) = y_i (a_i + sum_C w_iC prod_{j in C} y_j),   loss L(y) = sum_i max(0, 1 - z_i(y)),
 * and the prediction is the y with the smallest loss, which branch and bound finds (Algorithm 2). */

#define CLV_MAX_BELIEF_ORDER 4
#define CLV_MAX_BELIEF_TAGS  4096

/* Decision i has a weight for every product of 1 .. order - 1 of the i decisions before it, clv_belief_count(i, order)
 * in total: single decisions j = 0 .. i - 1, then pairs (0,1) (0,2) (1,2) (0,3) and so on, then triples, sorted by
 * their largest member. `weight` has the weights of decision 0 (none), of decision 1 and so on. */
struct clv_belief_net {
    int32_t n_tags; /* K */
    int32_t order;  /* decisions in a product, including y_i: 1..CLV_MAX_BELIEF_ORDER; 1: no products, 2: pairs */
    const double *weight;
};

/* clv_belief_count: number of weights of decision i. clv_belief_offset: number of weights of all decisions before i, so
 * the size of `weight` for i = K. */
size_t clv_belief_count(int32_t i, int32_t order);
size_t clv_belief_offset(int32_t i, int32_t order);

/* Computes products[clv_belief_count(i, order)] of the i decisions in y, each -1 or 1. */
void clv_belief_products(double *products, const double *y, int32_t i, int32_t order);

struct clv_belief_search {
    double s;           /* S > 0: search only for labellings with a smaller loss; 0 or INFINITY: all labellings */
    uint64_t max_nodes; /* stop after this number of nodes; 0: no limit */
};

struct clv_belief_result {
    double loss;      /* loss of the y returned */
    double bound;     /* lower bound on the loss of every labelling */
    bool is_optimal;  /* loss <= bound */
    uint64_t n_nodes; /* number of prefixes of y whose loss was computed */
};

/* Algorithm 2: depth-first search that first tries the decision with z_i >= 0, and backtracks where the loss so far
 * reaches that of the best labelling (initially S). y[K] receives -1 or 1. If no labelling has a loss below S, y is the
 * one that takes the first branch throughout, and the bound is S. Ties (z = 0) try -1 first. search NULL: S is
 * infinite, no limit. The number of nodes is exponential in the worst case, and K if the first branch is optimal;
 * memory O(K). CLV_ERR_DATA: an input or weight that is not finite; CLV_ERR_USAGE: K, order or S out of range. Messages
 * name the value. */
enum clv_status clv_belief_map(int8_t *y, struct clv_belief_result *result, const struct clv_belief_net *net,
                               const double *input, const struct clv_belief_search *search,
                               struct clv_error *err) CLV_CHECK;

/* Multi-label data: examples with sparse features and any number of tags each.
 *
 *     struct clv_tag_set set = {0};
 *     if (clv_tag_set_read(&set, "scene/train.svm", 0, &error) == CLV_OK)
 *         printf("%zu examples, %d features, %d tags\n", set.n, set.n_features, set.n_tags);
 *     clv_tag_set_release(&set); */

#define CLV_MAX_TAGS         4096      /* labels in files are 0..4095 */
#define CLV_MAX_TAG_FEATURES (1 << 24) /* features in files are 1..16777216 */
#define CLV_MAX_TAG_LINE     (1 << 24) /* bytes per line */
#define CLV_MAX_TAG_VALUE    1e100     /* largest magnitude of a feature, so that sums of squares do not overflow */

/* Example l has the features index[row[l]]..index[row[l + 1] - 1], ascending and from 0, with the values of the same
 * index. */
struct clv_tag_set {
    size_t n; /* examples */
    int32_t n_features, n_tags;
    int64_t *row;   /* [n + 1] */
    int32_t *index; /* [row[n]] */
    double *value;  /* [row[n]] finite */
    uint8_t *tags;  /* [n][n_tags] 1 or 0 */
    char **names;   /* [n_tags]; NULL: tags are named by their numbers */
};
void clv_tag_set_release(struct clv_tag_set *set);

/* A list of names while it is read. */
struct name_list {
    char **names; /* [n] */
    size_t n, capacity;
};
void name_list_release(struct name_list *list);
enum clv_status name_list_add(struct name_list *list, const char *name, struct clv_error *err) CLV_CHECK;

/* Reads an svmlight multi-label file with one example per line, `0,4 1:0.64 3:-2.5`: first its labels (from 0,
 * separated by commas, in any order, without repetition; no labels if the line begins with a blank or a feature), then
 * its features `index:value`, with indices from 1 in ascending order. Lines may end with CRLF. n_features becomes the
 * largest index. If n_tags is 0 it becomes the number of names, or without names the largest label + 1.
 *
 * Names are the lines of labels.txt in the same folder, if it exists (UTF-8, without repetition). They are ignored if
 * their number differs from a given n_tags.
 *
 * CLV_ERR_DATA, naming file, line and value: a label that is not a whole number, not below n_tags, or repeated; a
 * feature index of 0 or beyond the limit, or not ascending; a value that is not finite or beyond the limit; an empty
 * line; a line longer than the limit; an empty file. O(size of the file). *set is unchanged on failure. */
enum clv_status clv_tag_set_read(struct clv_tag_set *set, const char *path, int32_t n_tags,
                                 struct clv_error *err) CLV_CHECK;

#define CLV_MAX_ENUMERATED    20
#define CLV_MAX_RELAXED       1024    /* largest number of tags of ssvm-full */
#define CLV_TAG_DEFAULT_NODES 1000000 /* default limit of branch and bound per example */

enum clv_tag_form { CLV_TAGS_INDEPENDENT, CLV_TAGS_LMSBN, CLV_TAGS_LMBM, CLV_TAGS_CHAIN, CLV_TAGS_FULL };

struct clv_tag_model {
    enum clv_tag_form form;
    int32_t n_tags, n_features;
    char **names;    /* [n_tags]; NULL: tags are named by their numbers */
    int32_t *tag_of; /* [n_tags] the tag of each decision, for LMSBN; the identity otherwise */
    int32_t order;   /* order of the belief network; 1 (no couplings) or 2 for other forms */
    double *scale;   /* [n_features] factor of each feature, or NULL */
    double *bias;    /* [n_tags] b */
    double *weight;  /* [n_tags][n_features] w, or NULL with a kernel */
    double gamma;    /* > 0: RBF kernel */
    size_t n_vectors;
    int64_t *row; /* [n_vectors + 1] scaled support vectors, as in struct clv_tag_set */
    int32_t *index;
    double *value;
    double *coefficient; /* [n_tags][n_vectors] c */
    /* [clv_tag_coupling_count] LMSBN: clv_belief_net's weight, by decision; LMBM and FULL: c_10, c_20, c_21, c_30 ..;
     * CHAIN: c_0 .. */
    double *coupling;
    struct clv_recipe recipe; /* how images become features */
    bool has_recipe;
    struct clv_record record;
};
void clv_tag_model_release(struct clv_tag_model *model);
size_t clv_tag_coupling_count(enum clv_tag_form form, int32_t n_tags, int32_t order);
const char *clv_tag_form_name(enum clv_tag_form form); /* "lmsbn" */

/* The name of a tag, or its number, written into `buffer`. */
const char *clv_tag_name(const struct clv_tag_model *model, int32_t tag, char buffer[16]);

/* Computes the input scores a: scores[n][n_tags]. Features with an index of model->n_features or more are ignored by
 * linear models, and contribute fully to the distances of a kernel. Same bytes at any number of threads. O(nonzeros x
 * n_tags), with a kernel O(nonzeros x n_vectors). */
enum clv_status clv_tag_scores(double *scores, const struct clv_tag_model *model, const struct clv_tag_set *set,
                               int n_threads, struct clv_error *err) CLV_CHECK;

/* Decides tags[n_tags], 0 or 1, of one example from its scores[n_tags]. *result (may be NULL) receives loss and bound
 * of the belief network; for other forms the objective (its negative for CHAIN and FULL), whether it is known to be
 * optimal, and the number of labellings tried. `search` is for the belief network (may be NULL). CLV_ERR_DATA: a score
 * is not finite. */
enum clv_status clv_tag_decide(uint8_t *tags, struct clv_belief_result *result, const struct clv_tag_model *model,
                               const double *scores, const struct clv_belief_search *search,
                               struct clv_error *err) CLV_CHECK;

/* Files of models. Writing replaces a file completely or not at all; the same model gives the same bytes. Tensors:
 * bias, coupling, place i32 (tag_of), weight or row, index, value, coefficient; scale; codebook.S. Metadata: format
 * "cleave tags 1", and as JSON model, names, recipe (or "none") and record. Reading fails with CLV_ERR_DATA, naming
 * file and value, for inconsistent or infinite content; for a segmentation model the message names the command that
 * uses it. */
enum clv_status clv_tag_model_write(const char *path, const struct clv_tag_model *model,
                                    struct clv_error *err) CLV_CHECK;
enum clv_status clv_tag_model_read(struct clv_tag_model *model, const char *path, struct clv_error *err) CLV_CHECK;

/* Parameters of all learners; each ignores those that it does not use (clv_tag_unused_reason). The objectives, with
 * y_il = 1 or -1, and z and f as in the models above:
 *     R + 1/(lambda n) sum_il [1 - z_il]_+                                bc, tsbc, lmsbn, lmbm
 *     R + 1/(lambda n) sum_l max_y (|y - y_l|_H + f(y) - f(y_l))          ssvm-chain, ssvm-full
 *     R = 1/2 |w|^2 + (1 + eta0)/2 |couplings|^2
 * where the bias b is the weight of a constant feature 1 and |.|_H counts different tags. ssvm-full with more than
 * CLV_MAX_ENUMERATED tags maximises over the linear relaxation of the labellings, which is half-integral (Finley &
 * Joachims 2008); this is an upper bound on the objective. With the linear kernel, inputs are first divided by the root
 * of their mean |x|^2, and w is scaled back at the end. So lambda does not depend on the scaling of the features, and
 * couplings have the same weight against the input as with an RBF kernel, whose k(x, x) is 1. */
enum clv_tag_parameter {
    CLV_TAG_LAMBDA,
    CLV_TAG_GAMMA, /* of the RBF kernel; 0: 1 / (mean squared distance of training examples) */
    CLV_TAG_ORDER,
    CLV_TAG_ETA0,
    CLV_TAG_TOLERANCE, /* duality gap of the objective times lambda at which a fit stops */
    CLV_TAG_PASSES,
    CLV_TAG_PARAMETERS,
};
/* Names, defaults, ranges and help texts, indexed by enum clv_tag_parameter; a NULL name ends the list. */
extern const struct clv_parameter clv_tag_parameters[];

struct clv_tag_learner {
    const char *name; /* bc tsbc lmsbn lmbm ssvm-chain ssvm-full */
    const char *summary;
    enum clv_tag_form form;
    bool is_tuned;      /* thresholds are tuned on held-out scores */
    bool is_structural; /* structured hinge loss instead of one hinge per tag */
};
const struct clv_tag_learner *clv_tag_learner_at(size_t index); /* NULL past the end */
const struct clv_tag_learner *clv_tag_learner_find(const char *name);

enum clv_tag_goal { CLV_TAG_EXACT, CLV_TAG_HAMMING, CLV_TAG_F_SAMPLE, CLV_TAG_F_MACRO, CLV_TAG_F_MICRO };

struct clv_tag_training {
    const struct clv_tag_set *set;
    const struct clv_tag_learner *learner;
    bool is_rbf;            /* RBF kernel; false: linear */
    bool is_scaled;         /* divide each feature by its largest magnitude */
    bool is_in_f_order;     /* lmsbn: decisions ordered by held-out F, the best first; else by index */
    enum clv_tag_goal goal; /* the goal of cross-validation and of tsbc's thresholds */
    double parameters[CLV_TAG_PARAMETERS];
    int32_t n_folds;   /* for held-out scores; 0: 5 */
    int32_t n_repeats; /* repetitions of the folds with different partitions; 0: 1 */
    uint64_t seed;
    int n_threads;
    const struct clv_progress *progress;
};
/* Sets the learner and the default parameters, and all other members to zero. eta0 is CLV_TAG_LMBM_ETA0 for lmbm: each
 * of its couplings is in two hinges, so that with weak regularisation decisions confirm each other regardless of the
 * input (Miao & Rao, Remark 5). */
#define CLV_TAG_LMBM_ETA0 1000 /* by cross-validation on the scene set */
void clv_tag_training_defaults(struct clv_tag_training *training, const struct clv_tag_learner *learner);

/* Returns why a parameter has no effect on this training, as a static clause ("--kernel is linear"); NULL: it has
 * one. */
const char *clv_tag_unused_reason(const struct clv_tag_training *training, enum clv_tag_parameter parameter);

struct clv_tag_training_result {
    double primal, dual; /* values of the objective times lambda, summed over tags */
    int32_t n_passes;    /* largest number of passes of a tag */
    bool is_converged;   /* the gap is below the tolerance for every tag */
    bool interrupted;    /* a stop was requested: the model is preliminary, and thresholds of tsbc may not be tuned */
};

/* Trains a model. The same seed gives the same bytes at any number of threads. *model is overwritten without being
 * released; result may be NULL. CLV_ERR_USAGE: a parameter is out of range; ssvm-chain or ssvm-full with a kernel;
 * ssvm-full with more than CLV_MAX_RELAXED tags; an order above 2 for learners other than lmsbn. Memory for n examples:
 * two n x n matrices of doubles with a kernel, n n_tags^2 / 2 doubles for ssvm-full. */
enum clv_status clv_tag_train(struct clv_tag_model *model, struct clv_tag_training_result *result,
                              const struct clv_tag_training *training, struct clv_error *err) CLV_CHECK;

/* Candidates of cross-validation: all pairs of lambda and gamma; with the linear kernel only lambda. */
struct clv_tag_grid {
    const double *lambda, *gamma;
    size_t n_lambda, n_gamma;
};

/* Chooses parameters by n_folds-fold cross-validation on the training examples: the pair with the best goal over
 * held-out examples (Hamming: the smallest), the first at ties. `parameters` receives training->parameters with lambda
 * and gamma replaced; scores[n_lambda][n_gamma] (or NULL) receives all measures. Parallel over folds.
 * CLV_ERR_INTERRUPTED on a request to stop: parameters stay unchanged, and scores are NaN for pairs whose folds are not
 * all finished. */
enum clv_status clv_tag_cross_validate(double parameters[CLV_TAG_PARAMETERS], struct clv_tag_score *scores,
                                       const struct clv_tag_training *training, const struct clv_tag_grid *grid,
                                       struct clv_error *err) CLV_CHECK;

/* Computes the mean squared distance between scaled training examples, over all pairs; 0 if it is below 1e-290. */
enum clv_status clv_tag_mean_distance(double *mean, const struct clv_tag_training *training,
                                      struct clv_error *err) CLV_CHECK;

/* Tagged images: converts a dataset whose manifest has a column `tags` (comma-separated names) to examples. The
 * features of an image are its spatial colour moments and, if the recipe has visual words, the histogram of its
 * words. */

#define CLV_MOMENT_CELLS 7   /* per side */
#define CLV_MOMENTS      294 /* 7 x 7 cells x (L, u, v) x (mean, variance) */

/* Computes spatial colour moments (Boutell et al., Pattern Recognition 37, 2004): for each of 7 x 7 cells of the image,
 * row by row, the means of CIE L*, u*, v* (D65) and then their variances. Cells share pixels if a side has fewer than
 * 7. O(pixels). */
void clv_colour_moments(double moments[CLV_MOMENTS], const struct clv_image *image);

/* Number of features of an image: the moments, and with CLV_BLOCK_WORDS the square root of each word's fraction of the
 * pixels, for each scale. Of the recipe only working_pixels, the words and their codebooks are used. */
int32_t clv_image_tag_features(const struct clv_recipe *recipe);

struct clv_image_tag_options {
    const char *const *names; /* [n_names] allowed tags; another one is CLV_ERR_DATA. NULL: those that occur, sorted */
    int32_t n_names;
    int n_threads;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
};

/* Extracts the examples of all items of a set, in its order. Parallel, same bytes at any number of threads. tags->names
 * is never NULL. Returns the error of the first image that fails; an item with empty `tags` has no tags. */
enum clv_status clv_image_tags_extract(struct clv_tag_set *tags, const struct clv_set *set,
                                       const struct clv_recipe *recipe, const struct clv_image_tag_options *options,
                                       struct clv_error *err) CLV_CHECK;

/* Parsing svmlight multi-label files. */

/* Parses the bytes of a file, called `name` in messages. n_tags 0: the largest label + 1. */
enum clv_status tag_set_parse(struct clv_tag_set *set, const char *bytes, size_t size, const char *name, int32_t n_tags,
                              struct clv_error *err) CLV_CHECK;

/* Distances between sparse rows, and the RBF kernel over them. */

/* The rows of a struct clv_tag_set, or of a model's support vectors. */
struct kernel_rows {
    size_t n;
    const int64_t *row;   /* [n + 1] */
    const int32_t *index; /* ascending within a row */
    const double *value;
    int32_t n_features;
};

/* Computes distance[a->n][b->n] = |a_i - b_j|^2; negative values from rounding become 0. Equal rows have distance 0,
 * and the result is symmetric. Parallel, same bytes at any number of threads. O(nonzeros of a x b->n).
 * CLV_ERR_INTERRUPTED on a request to stop. */
enum clv_status kernel_distances(double *distance, const struct kernel_rows *a, const struct kernel_rows *b,
                                 int n_threads, const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Computes the distances of rows first..first + n - 1 of a on the calling thread: distance[n][b->n]. */
enum clv_status kernel_distances_of(double *distance, const struct kernel_rows *a, size_t first, size_t n,
                                    const struct kernel_rows *b, struct clv_error *err) CLV_CHECK;

/* Computes values[n] = exp(-gamma distance[n]); values and distance may be the same array. */
void kernel_rbf(double *values, const double *distance, size_t n, double gamma);

/* The training examples, and the task of one fit. */

/* All examples: scaled features and tags, and with a kernel the Gram matrix. */
struct tag_problem {
    struct kernel_rows rows;
    double *value; /* [row[n]] owned; values times `scale` and `unit` */
    double *scale; /* [n_features], or NULL */
    double unit;   /* 1; for the linear kernel 1 / sqrt(mean |x|^2) */
    int32_t n_tags;
    const uint8_t *tags; /* [n][n_tags] */
    double *distance;    /* [n][n], or NULL */
    double *gram;        /* [n][n], or NULL */
};
enum clv_status tag_problem_init(struct tag_problem *problem, const struct clv_tag_training *training,
                                 struct clv_error *err) CLV_CHECK;
void tag_problem_release(struct tag_problem *problem);

/* Computes the Gram matrix for a gamma in problem->gram. Does nothing for linear problems. */
enum clv_status tag_problem_kernel(struct tag_problem *problem, double gamma, struct clv_error *err) CLV_CHECK;

struct tag_fit_task {
    const struct tag_problem *problem;
    const int32_t *examples; /* [n] indices in the problem */
    size_t n;
    enum clv_tag_form form;
    bool is_structural;
    const int32_t *tag_of;    /* [n_tags] order of decisions; NULL: by index */
    const double *parameters; /* [CLV_TAG_PARAMETERS] */
    uint64_t seed;
    int n_threads;
    /* For successive fits to the same examples: [n_tags][n] dual variables of hinge problems, kept from one fit to the
     * next, and the factor applied to them at the start, 0: start from zero. NULL: not kept. */
    double *alpha;
    double warm;
    bool is_compared; /* only its decisions are used, as in cross-validation */
    const struct clv_progress *progress;
};

/* Computes scores[n_tags] of an example of the problem, by a model fitted to task->examples. */
void tag_fit_scores(double *scores, const struct clv_tag_model *model, const struct tag_fit_task *task, size_t example);

/* One fit of a model to some of a problem's examples, with given parameters and order of tags. Training,
 * cross-validation and the choice of the order use it. */

/* Sets form, tag_of, order, bias, coupling and weight of *model. With a kernel it sets coefficient[n_tags][n] instead
 * of weight, and n_vectors = n, but not row, index and value: tag_fit_scores uses the Gram matrix. */
enum clv_status tag_fit(struct clv_tag_model *model, struct clv_tag_training_result *result,
                        const struct tag_fit_task *task, struct clv_error *err) CLV_CHECK;

/* The linear relaxation of CLV_TAGS_FULL, for more tags than can be enumerated:
 *
 *     max sum_i a_i y_i + sum_{i < j} c_ij m_ij,   m_ij the mean of y_i y_j in some distribution with means y_i, y_j
 *
 * Some optimum has all y_i in {-1, 0, 1}, and a minimum cut with 2 K nodes finds it: node i stands for y_i, node K + i
 * for -y_i; if they disagree, y_i = 0 (roof duality; Boros & Hammer 2002). Its value is an upper bound. Without zeros
 * it is the maximum; in any case some optimal labelling agrees with all y_i that are not 0. */

/* Buffers for models with the same number of tags. */
struct tag_relaxation {
    struct clv_oracle *oracle;
    size_t n_tags;
    int32_t (*edges)[2];      /* [n_tags (n_tags - 1)] */
    double *unary, *coupling; /* [2 n_tags], [n_tags (n_tags - 1)] */
    int32_t *label;           /* [2 n_tags] */
};

enum clv_status tag_relaxation_init(struct tag_relaxation *self, int32_t n_tags, struct clv_error *err) CLV_CHECK;
void tag_relaxation_release(struct tag_relaxation *self);

/* m_ij for a relaxed y: the product of y_i and y_j, or the sign of the coupling if both are 0. */
static inline double tag_relaxed_product(int y_i, int y_j, double coupling)
{
    return y_i || y_j ? y_i * y_j : (coupling > 0) - (coupling < 0);
}

/* Solves the relaxation for the couplings and scores[n_tags]: y[n_tags] in {-1, 0, 1}, and its value (may be NULL).
 * Scores are rounded as in clv_oracle_map. */
enum clv_status tag_relax(int8_t *y, double *value, struct tag_relaxation *self, const double *coupling,
                          const double *scores, struct clv_error *err) CLV_CHECK;

/* The structured SVM over tags. */

/* Fits a structured SVM for tag_fit: weight, bias and coupling of a linear model, whose arrays are allocated and
 * zero. */
enum clv_status tag_structural_fit(struct clv_tag_model *model, struct clv_tag_training_result *result,
                                   const struct tag_fit_task *task, struct clv_error *err) CLV_CHECK;

/* Checks that training and cross-validation share. */

/* CLV_ERR_USAGE, naming the parameter and its range, if the value is outside. */
enum clv_status tag_parameter_check(enum clv_tag_parameter index, double value, struct clv_error *err) CLV_CHECK;

/* Checks the ranges of all parameters, and that the learner supports the set and the settings. */
enum clv_status tag_training_check(const struct clv_tag_training *training, struct clv_error *err) CLV_CHECK;

#endif
