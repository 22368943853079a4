/* Learning tags: from examples with tags to a model of tags. Binary classifiers, large margin sigmoid belief
 * networks and Boltzmann machines (Miao & Rao), and structured SVMs over tags as baselines.
 *
 *     struct clv_tag_training training;
 *     clv_tag_training_defaults(&training, clv_tag_learner_find("lmsbn"));
 *     training.set = &set;
 *     training.is_rbf = true;
 *     training.seed = 1;
 *     clv_tag_cross_validate(training.parameters, NULL, &training, &grid, &error);   (optional)
 *     clv_tag_train(&model, NULL, &training, &error);
 *
 * To read the source: src/tags/tags.c implements this header. A training: tag_problem.c scales features and
 * computes the kernel, tag_fit.c sets up one fit, dual_coordinate.c solves it (tag_structural.c for structured SVMs),
 * and tag_validate.c, tag_folds.c and tag_threshold.c choose by examples held out. A decision: tag_decide.c, for
 * belief networks branch_bound.c. Inputs: svmlight.c (files of features) and image_tags.c (tagged images). */

/* Models of tags: from an example's features to its set of tags. One safetensors file.
 *
 * The input score of tag i is a_i(x) = <w_i, x> + b_i, or with the RBF kernel sum_v c_iv exp(-gamma |x - x_v|^2) + b_i
 * over support vectors x_v, shared by all tags. With y_i = 1 for a tag that is there and -1 for one that is not, the
 * forms decide by
 *     CLV_TAGS_INDEPENDENT  y_i = sign a_i(x)
 *     CLV_TAGS_LMSBN        least sum_i [1 - z_i]_+, z_i = y_i (a_i + sum_C w_iC prod_{j in C} y_j), C among the tags
 *                           before i (clv_belief_map; tag_of[0] is the first decision)
 *     CLV_TAGS_LMBM         least sum_i [1 - z_i]_+, z_i = y_i (a_i + sum_{j != i} c_ij y_j), c_ij = c_ji
 *     CLV_TAGS_CHAIN        largest sum_i a_i y_i + sum_i c_i y_i y_{i+1}
 *     CLV_TAGS_FULL         largest sum_i a_i y_i + sum_{i < j} c_ij y_i y_j
 * LMBM and FULL are enumerated up to CLV_MAX_ENUMERATED tags; beyond, max-product belief propagation on the couplings
 * and then single flips that help (not optimal in general). Of FULL the linear relaxation, a minimum cut, gives a bound
 * and first the labels that it is sure of (roof duality; Boros & Hammer 2002).
 *
 * To read the source: src/tags/tag_model.c scores and predicts by tag_decide.c, tag_model_file.c reads and writes;
 * tags.h says how models are learned. */
#ifndef TAGS_TAGS_H
#define TAGS_TAGS_H

#include <stdbool.h>

#include "cleave/features.h"
#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/oracle.h"
#include "cleave/status.h"

/* How well sets of tags were predicted. */

/* Measures of predicted sets of tags (Miao and Rao 2010, equations 9 to 13), all in [0, 1]. F is 2 |both| / (|true| +
 * |predicted|); where there is nothing to find and nothing was predicted (0/0), F is 1: nothing was missed and nothing
 * invented. */
struct clv_tag_score {
    double exact_match; /* share of examples whose tags are all right */
    double hamming;     /* share of wrong decisions among examples x tags */
    double f_sample;    /* F of an example's tags, mean over examples */
    double f_macro;     /* F of a tag over the examples, mean over tags */
    double f_micro;     /* F of all decisions together */
};
/* truth and prediction [n][n_tags] of 1 and 0; n >= 1, n_tags >= 1. O(n n_tags). */
enum clv_status clv_tag_measure(struct clv_tag_score *score, const uint8_t *truth, const uint8_t *prediction, size_t n,
                                int32_t n_tags, struct clv_error *err) CLV_CHECK;

/* Large margin sigmoid belief networks (Miao & Rao): decisions y_0 .. y_{K-1} in {-1, +1}, each of which depends on the
 * input and on the decisions before it. With a_i what the input says about decision i, and weights w for products of
 * earlier decisions,
 *     z_i(y) = y_i (a_i + sum_C w_iC prod_{j in C} y_j),   loss L(y) = sum_i max(0, 1 - z_i(y)),
 * and the prediction is the y of least loss, which branch and bound finds (Algorithm 2). */

#define CLV_MAX_BELIEF_ORDER 4
#define CLV_MAX_BELIEF_TAGS  4096

/* Decision i weighs the products of every 1 .. order - 1 of the i decisions before it, clv_belief_count(i, order) in
 * all: single ones j = 0 .. i - 1, then pairs (0,1) (0,2) (1,2) (0,3) .., then triples likewise, by their largest
 * member first. weight holds those of decision 0 (none), of decision 1, and so on, one after the other. */
struct clv_belief_net {
    int32_t n_tags; /* K */
    int32_t order;  /* decisions in a product, y_i included: 1 is y_i alone, 2 pairs, .. up to CLV_MAX_BELIEF_ORDER */
    const double *weight;
};

/* Products that decision i weighs; those of all decisions before i (so with i = K, the size of weight). */
size_t clv_belief_count(int32_t i, int32_t order);
size_t clv_belief_offset(int32_t i, int32_t order);

/* products[clv_belief_count(i, order)] of the decisions y[i], each -1 or 1. */
void clv_belief_products(double *products, const double *y, int32_t i, int32_t order);

struct clv_belief_search {
    double s;           /* S > 0: only labellings of less loss are looked for; INFINITY (what 0 means): all */
    uint64_t max_nodes; /* stop after so many; 0: no limit */
};

struct clv_belief_result {
    double loss;      /* of the y returned */
    double bound;     /* no labelling has less loss */
    bool is_optimal;  /* loss <= bound */
    uint64_t n_nodes; /* decisions tried: states of a prefix of y whose loss was computed */
};

/* Algorithm 2: depth first, the decision that agrees with its input and predecessors first, backing out where the loss
 * so far reaches that of the best labelling (at the start S). y[K] receives -1 or 1; if nothing below S was found, the
 * labelling that takes the first branch throughout, with bound S. Ties (z = 0) go to -1 first. search NULL: S infinite,
 * no limit. The number of nodes is exponential at worst, K where the first branch is right; memory O(K). Refused,
 * naming it: an input or weight that is not finite (CLV_ERR_DATA), K < 1, an order or S out of range (CLV_ERR_USAGE).
 */
enum clv_status clv_belief_map(int8_t *y, struct clv_belief_result *result, const struct clv_belief_net *net,
                               const double *input, const struct clv_belief_search *search,
                               struct clv_error *err) CLV_CHECK;

/* Multi-label data: examples with sparse features, each of which carries any number of tags.
 *
 *     struct clv_tag_set set = {0};
 *     if (clv_tag_set_read(&set, "scene/train.svm", 0, &error) == CLV_OK)
 *         printf("%zu examples, %d features, %d tags\n", set.n, set.n_features, set.n_tags);
 *     clv_tag_set_release(&set);
 */

#define CLV_MAX_TAGS         4096      /* labels of a file are 0..4095 */
#define CLV_MAX_TAG_FEATURES (1 << 24) /* features of a file are 1..16777216 */
#define CLV_MAX_TAG_LINE     (1 << 24) /* bytes of a line */
#define CLV_MAX_TAG_VALUE    1e100     /* a feature's magnitude: its square can still be summed up */

/* The features of example l are index[row[l] .. row[l + 1]), ascending and counted from 0, with their values. */
struct clv_tag_set {
    size_t n; /* examples */
    int32_t n_features, n_tags;
    int64_t *row;   /* [n + 1] */
    int32_t *index; /* [row[n]] */
    double *value;  /* [row[n]] finite */
    uint8_t *tags;  /* [n][n_tags] 1 or 0 */
    char **names;   /* [n_tags], or NULL: tags are called by their numbers */
};
void clv_tag_set_release(struct clv_tag_set *set);

/* Reads an svmlight multi-label file: a line an example, `0,4 1:0.64 3:-2.5`, first its labels (from 0, separated by
 * commas, in any order, none twice; none at all if the line begins with a blank or with a feature), then its features
 * `index:value`, with indices from 1 in ascending order. CRLF is fine. n_features is the largest index; n_tags what is
 * given, or if that is 0 the number of names, or if there are none the largest label + 1.
 *
 * Names are the lines of labels.txt in the same folder, where there is such a file (UTF-8, none twice).
 *
 * Errors name file, line and value (CLV_ERR_DATA): a label that is not a whole number, not below n_tags, or there
 * twice; feature 0, or one past the limit; an index that does not ascend; a value that is not finite or past the limit;
 * an empty line; a line past the limit, which is refused before it is read; no lines at all. O(size of the file). *set
 * is unchanged on failure. */
enum clv_status clv_tag_set_read(struct clv_tag_set *set, const char *path, int32_t n_tags,
                                 struct clv_error *err) CLV_CHECK;

#define CLV_MAX_ENUMERATED    20
#define CLV_MAX_RELAXED       1024    /* tags of ssvm-full */
#define CLV_TAG_DEFAULT_NODES 1000000 /* of branch and bound for an example, unless asked for more */

enum clv_tag_form { CLV_TAGS_INDEPENDENT, CLV_TAGS_LMSBN, CLV_TAGS_LMBM, CLV_TAGS_CHAIN, CLV_TAGS_FULL };

struct clv_tag_model {
    enum clv_tag_form form;
    int32_t n_tags, n_features;
    char **names;    /* [n_tags], or NULL: tags are called by their numbers */
    int32_t *tag_of; /* [n_tags] the tag of each decision, for LMSBN; the identity otherwise */
    int32_t order;   /* of the belief network; 1 (no couplings) or 2 for the other forms */
    double *scale;   /* [n_features] what each feature is multiplied by, or NULL */
    double *bias;    /* [n_tags] b */
    double *weight;  /* [n_tags][n_features] w, or NULL with a kernel */
    double gamma;    /* > 0: RBF kernel */
    size_t n_vectors;
    int64_t *row; /* [n_vectors + 1] support vectors, scaled, as in struct clv_tag_set */
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

/* A tag's name, or its number written into `buffer`. */
const char *clv_tag_name(const struct clv_tag_model *model, int32_t tag, char buffer[16]);

/* scores[n][n_tags] = a. Features the model does not know (of an index from n_features on) weigh nothing with linear
 * models and count in full in the distances of the kernel. Same bytes at any number of threads. O(nonzeros x n_tags),
 * with a kernel O(nonzeros x n_vectors). */
enum clv_status clv_tag_scores(double *scores, const struct clv_tag_model *model, const struct clv_tag_set *set,
                               int n_threads, struct clv_error *err) CLV_CHECK;

/* The tags of one example from its scores[n_tags]: tags[n_tags] of 1 and 0. *result (may be NULL): loss and bound of
 * the belief network; for the other forms the objective (of CHAIN and FULL its negative), whether it is known to be
 * optimal, and the number of labellings looked at. search is the belief network's (may be NULL). */
enum clv_status clv_tag_decide(uint8_t *tags, struct clv_belief_result *result, const struct clv_tag_model *model,
                               const double *scores, const struct clv_belief_search *search,
                               struct clv_error *err) CLV_CHECK;

/* Files: old or new, never half; the same model gives the same bytes. Tensors bias, coupling, place i32 (tag_of),
 * weight or row, index, value, coefficient; scale; codebook.S; metadata: format "cleave tags 1" and as JSON model,
 * names, recipe (or "none"), record. Reading refuses with CLV_ERR_DATA, naming file and value, what does not fit
 * together or is not finite; and a segmentation model, saying which command takes it. */
enum clv_status clv_tag_model_write(const char *path, const struct clv_tag_model *model,
                                    struct clv_error *err) CLV_CHECK;
enum clv_status clv_tag_model_read(struct clv_tag_model *model, const char *path, struct clv_error *err) CLV_CHECK;

/* All learners have these and ignore those that they do not use (clv_tag_idle). The objectives, with y_il = 1 or -1 and
 * z as in tag_model.c:
 *     R + 1/(lambda n) sum_il [1 - z_il]_+                                bc, tsbc, lmsbn, lmbm
 *     R + 1/(lambda n) sum_l max_y (|y - y_l|_H + f(y) - f(y_l))          ssvm-chain, ssvm-full
 *     R = 1/2 |w|^2 + (1 + eta0)/2 |couplings|^2
 * where the bias b is the weight of a constant feature 1 and |.|_H counts tags. ssvm-full of more than
 * CLV_MAX_ENUMERATED tags takes the maximum over the linear relaxation of the labellings, with halves (Finley &
 * Joachims 2008): that objective is above this one. With the linear kernel inputs are first
 * divided by the root of their mean |x|^2 (and w is then multiplied back), so that lambda suits any scaling of the
 * features and couplings weigh as much against the input as they do against an RBF kernel, whose k(x, x) is 1. */
enum clv_tag_parameter {
    CLV_TAG_LAMBDA,
    CLV_TAG_GAMMA, /* of the RBF kernel; 0: 1 over the mean squared distance of training examples */
    CLV_TAG_ORDER,
    CLV_TAG_ETA0,
    CLV_TAG_TOLERANCE, /* duality gap of the objective times lambda */
    CLV_TAG_PASSES,
    CLV_TAG_PARAMETERS,
};
/* Names, defaults, ranges and help, by enum clv_tag_parameter; ends with a NULL name. */
extern const struct clv_parameter clv_tag_parameters[];

struct clv_tag_learner {
    const char *name; /* bc tsbc lmsbn lmbm ssvm-chain ssvm-full */
    const char *summary;
    enum clv_tag_form form;
    bool is_tuned;      /* thresholds chosen on held-out scores */
    bool is_structural; /* the structured hinge loss instead of one hinge a tag */
};
const struct clv_tag_learner *clv_tag_learner_at(size_t index); /* NULL past the end */
const struct clv_tag_learner *clv_tag_learner_find(const char *name);

enum clv_tag_goal { CLV_TAG_EXACT, CLV_TAG_HAMMING, CLV_TAG_F_SAMPLE, CLV_TAG_F_MACRO, CLV_TAG_F_MICRO };

struct clv_tag_training {
    const struct clv_tag_set *set;
    const struct clv_tag_learner *learner;
    bool is_rbf;            /* kernel: RBF, else linear */
    bool is_scaled;         /* divide each feature by its largest magnitude */
    bool is_in_f_order;     /* lmsbn: tags decide by their classifiers' held-out F, the best first; else by index */
    enum clv_tag_goal goal; /* what cross-validation chooses by and tsbc's thresholds are tuned for */
    double parameters[CLV_TAG_PARAMETERS];
    int32_t n_folds;   /* for held-out scores; 0: 5 */
    int32_t n_repeats; /* of these, each with folds of its own; 0: 1 */
    uint64_t seed;
    int n_threads;
    const struct clv_progress *progress;
};
/* Fills everything: the learner, the parameters' defaults, zeros elsewhere. eta0 is CLV_TAG_LMBM_ETA0 if the learner is
 * lmbm: its couplings are in two hinges each, and with weak regularisation decisions confirm each other whatever the
 * input (Miao & Rao, Remark 5). */
#define CLV_TAG_LMBM_ETA0 1000 /* by cross-validation on the scene set */
void clv_tag_training_defaults(struct clv_tag_training *training, const struct clv_tag_learner *learner);

/* Why a parameter cannot change what that training gives: a clause ("--kernel is linear"), static; NULL: it can. */
const char *clv_tag_idle(const struct clv_tag_training *training, enum clv_tag_parameter parameter);

struct clv_tag_training_result {
    double primal, dual; /* of the objective times lambda, over all tags */
    int32_t n_passes;    /* of the tag that took most */
    bool is_converged;   /* the gap is below the tolerance for every tag */
    bool interrupted;    /* asked to stop: the model so far; of tsbc, the thresholds may not be tuned */
};

/* Trains. Same seed, same bytes at any number of threads. *model is a fresh object; result may be NULL. CLV_ERR_USAGE
 * for parameters out of range; for ssvm-chain and ssvm-full with a kernel; for ssvm-full with more than
 * CLV_MAX_RELAXED tags; for an order above 2 but for lmsbn. With a kernel, memory is two n x n matrices of doubles
 * for n examples, for ssvm-full n n_tags^2 / 2 doubles. */
enum clv_status clv_tag_train(struct clv_tag_model *model, struct clv_tag_training_result *result,
                              const struct clv_tag_training *training, struct clv_error *err) CLV_CHECK;

/* Candidates of cross-validation: every pair of lambda and gamma (with the linear kernel lambda alone). */
struct clv_tag_grid {
    const double *lambda, *gamma;
    size_t n_lambda, n_gamma;
};

/* Chooses parameters by n_folds-fold cross-validation on the training examples: the pair with the best goal over
 * held-out examples (Hamming: the least), the first at ties. parameters receives training's with lambda and gamma
 * replaced; scores[n_lambda][n_gamma] (or NULL) the measures of all. Parallel over candidates' folds.
 * CLV_ERR_INTERRUPTED when asked to stop: parameters stay, scores are those of the pairs that were tried with all
 * folds, and NaN for others. */
enum clv_status clv_tag_cross_validate(double parameters[CLV_TAG_PARAMETERS], struct clv_tag_score *scores,
                                       const struct clv_tag_training *training, const struct clv_tag_grid *grid,
                                       struct clv_error *err) CLV_CHECK;

/* Mean squared distance between training examples after scaling, over all pairs. */
enum clv_status clv_tag_mean_distance(double *mean, const struct clv_tag_training *training,
                                      struct clv_error *err) CLV_CHECK;

/* Tagged images: from a set whose manifest has a column `tags` (names, separated by commas) to examples that can be
 * learned from. An image's features are its spatial colour moments and, with words in the recipe, the histogram of its
 * visual words. */

#define CLV_MOMENT_CELLS 7   /* a side */
#define CLV_MOMENTS      294 /* 7 x 7 cells x (L, u, v) x (mean, variance) */

/* Spatial colour moments (Boutell et al., Pattern Recognition 37, 2004): the image is cut into 7 x 7 cells; for each,
 * row by row, the means of CIE L*, u*, v* (D65) and then their variances. An image with fewer than 7 pixels a side
 * shares them between cells. O(pixels). */
void clv_colour_moments(double moments[CLV_MOMENTS], const struct clv_image *image);

/* Features of an image under a recipe, of which only working_pixels, the words and their codebooks count: the moments,
 * and with CLV_BLOCK_WORDS for each scale the roots of the words' shares of the pixels, whatever its kernel map. */
int32_t clv_image_tag_features(const struct clv_recipe *recipe);

struct clv_image_tag_options {
    const char *const *names; /* [n_names] the tags a model knows: another one is CLV_ERR_DATA, naming image and tag;
                                 NULL: the tags that occur, sorted by bytes */
    int32_t n_names;
    int n_threads;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
};

/* All items of a set, in its order, in parallel, same bytes at any number of threads.
 * set->names are always there. The first image in order that fails, fails the whole; an empty `tags` names none. */
enum clv_status clv_image_tags_extract(struct clv_tag_set *tags, const struct clv_set *set,
                                       const struct clv_recipe *recipe, const struct clv_image_tag_options *options,
                                       struct clv_error *err) CLV_CHECK;

/* Parsing svmlight multi-label files. */

/* Parses a file's bytes, which are only read; `name` stands for it in messages. n_tags 0: the largest label + 1. */
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

/* distance[a->n][b->n] = |a_i - b_j|^2, and 0 where rounding would make it negative. Equal rows are at distance 0, and
 * the result is symmetric. In parallel, same bytes at any number of threads. O(nonzeros of a x b->n).
 * CLV_ERR_INTERRUPTED when asked to stop. */
enum clv_status kernel_distances(double *distance, const struct kernel_rows *a, const struct kernel_rows *b,
                                 int n_threads, const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Computes the distances of the rows first .. first + n - 1 of a on the calling thread: distance[n][b->n]. */
enum clv_status kernel_distances_of(double *distance, const struct kernel_rows *a, size_t first, size_t n,
                                    const struct kernel_rows *b, struct clv_error *err) CLV_CHECK;

/* values[n] = exp(-gamma distance[n]); in place is fine. */
void kernel_rbf(double *values, const double *distance, size_t n, double gamma);

/* The examples that a model of tags is fitted to, and the task of one fit. */

/* All examples: features (scaled) and tags. With a kernel, the Gram matrix. */
struct tag_problem {
    struct kernel_rows rows;
    double *value; /* [row[n]] owned: scaled by feature, and by `unit` */
    double *scale; /* [n_features], or NULL */
    double unit;   /* 1, or for the linear kernel one over the root of the mean |x|^2 */
    int32_t n_tags;
    const uint8_t *tags; /* [n][n_tags] */
    double *distance;    /* [n][n], or NULL */
    double *gram;        /* [n][n], or NULL */
};
enum clv_status tag_problem_init(struct tag_problem *problem, const struct clv_tag_training *training,
                                 struct clv_error *err) CLV_CHECK;
void tag_problem_release(struct tag_problem *problem);

/* The Gram matrix for a gamma, in problem->gram; nothing for linear problems. */
enum clv_status tag_problem_kernel(struct tag_problem *problem, double gamma, struct clv_error *err) CLV_CHECK;

struct tag_fit_task {
    const struct tag_problem *problem;
    const int32_t *examples; /* [n] of the problem */
    size_t n;
    enum clv_tag_form form;
    bool is_structural;
    const int32_t *tag_of;    /* [n_tags] sequence of decisions; NULL: by index */
    const double *parameters; /* [CLV_TAG_PARAMETERS] */
    uint64_t seed;
    int n_threads;
    /* For fits to the same examples in turn: [n_tags][n] dual variables of hinge problems, kept from one to the next,
     * and the factor of the given ones, 0: not used. NULL: none. */
    double *alpha;
    double warm;
    bool is_compared; /* only its decisions count: of cross-validation */
    const struct clv_progress *progress;
};

/* scores[n_tags] of example `example` of the problem under a fit to task->examples. */
void tag_fit_scores(double *scores, const struct clv_tag_model *model, const struct tag_fit_task *task, size_t example);

/* One fit of a model of tags to some of a problem's examples, with its parameters and its sequence of tags given. What
 * training, cross-validation and the choice of the sequence are made of. */

/* *model: form, tag_of, order, bias, coupling and weight, or coefficient [n_tags][n] over the examples with n_vectors =
 * n, but no row, index and value: tag_fit_scores does with the Gram matrix. */
enum clv_status tag_fit(struct clv_tag_model *model, struct clv_tag_training_result *result,
                        const struct tag_fit_task *task, struct clv_error *err) CLV_CHECK;

/* The linear relaxation of CLV_TAGS_FULL, whose labellings are too many to be looked at:
 *
 *     max sum_i a_i y_i + sum_{i < j} c_ij m_ij,   each m_ij a mean of y_i y_j that some distribution with the means
 * y_i,
 *                                                  y_j has
 *
 * An optimum has all y_i in -1, 0, 1, and a minimum cut of 2 K nodes finds it: node i says y_i, node K + i -y_i, and
 * where they do not agree y_i is 0 (roof duality; Boros & Hammer 2002). Its value is an upper bound; without a 0 it is
 * the maximum, and some labelling that is the maximum has all labels that are not 0. */

/* Buffers for models of the same number of tags. */
struct tag_relaxation {
    struct clv_oracle *oracle;
    size_t n_tags;
    int32_t (*edges)[2];      /* [n_tags (n_tags - 1)] */
    double *unary, *coupling; /* [2 n_tags], [n_tags (n_tags - 1)] */
    int32_t *label;           /* [2 n_tags] */
};

enum clv_status tag_relaxation_init(struct tag_relaxation *self, int32_t n_tags, struct clv_error *err) CLV_CHECK;
void tag_relaxation_release(struct tag_relaxation *self);

/* m_ij at a relaxed y: the product, and where neither is decided what the coupling likes best. */
static inline double tag_relaxed_product(int y_i, int y_j, double coupling)
{
    return y_i || y_j ? y_i * y_j : (coupling > 0) - (coupling < 0);
}

/* y[n_tags] in -1, 0, 1 and its value (NULL: not wanted), for the couplings and scores a[n_tags]. Scores are rounded as
 * by clv_oracle_map. */
enum clv_status tag_relax(int8_t *y, double *value, struct tag_relaxation *self, const double *coupling,
                          const double *scores, struct clv_error *err) CLV_CHECK;

/* The structured SVM over tags. */

/* A structured SVM's part of tag_fit: weight, bias and coupling of a linear model whose arrays are there, zeroed. */
enum clv_status tag_structural_fit(struct clv_tag_model *model, struct clv_tag_training_result *result,
                                   const struct tag_fit_task *task, struct clv_error *err) CLV_CHECK;

/* Checks that training and cross-validation of models of tags share. */

/* CLV_ERR_USAGE names the parameter and its range. */
enum clv_status tag_parameter_check(enum clv_tag_parameter index, double value, struct clv_error *err) CLV_CHECK;

/* Parameters in their ranges, and a set that the learner can learn from. */
enum clv_status tag_training_check(const struct clv_tag_training *training, struct clv_error *err) CLV_CHECK;

#endif
