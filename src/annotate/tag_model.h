/* Models that annotate: from an example's features to its set of tags. One safetensors file.
 *
 * The input score of tag i is a_i(x) = <w_i, x> + b_i, or with the RBF kernel sum_v c_iv exp(-gamma |x - x_v|^2) + b_i
 * over support vectors x_v, shared by all tags. With y_i = 1 for a tag that is there and -1 for one that is not, the
 * forms decide by
 *     CLV_TAGS_INDEPENDENT  y_i = sign a_i(x)
 *     CLV_TAGS_LMSBN        least sum_i [1 - z_i]_+, z_i = y_i (a_i + sum_C w_iC prod_{j in C} y_j), C among the tags
 *                           before i (clv_belief_map; place[0] is the first decision)
 *     CLV_TAGS_LMBM         least sum_i [1 - z_i]_+, z_i = y_i (a_i + sum_{j != i} c_ij y_j), c_ij = c_ji
 *     CLV_TAGS_CHAIN        largest sum_i a_i y_i + sum_i c_i y_i y_{i+1}
 *     CLV_TAGS_FULL         largest sum_i a_i y_i + sum_{i < j} c_ij y_i y_j
 * LMBM and FULL are enumerated up to CLV_MAX_ENUMERATED tags; beyond, max-product belief propagation on the couplings
 * and then single flips that help (not optimal in general). Of FULL the linear relaxation, a minimum cut, gives a bound
 * and first the labels that it is sure of (roof duality; Boros & Hammer 2002).
 *
 * To read the source: src/annotate/tag_model.c scores and predicts by tag_decide.c, tag_model_file.c reads and writes;
 * annotate.h says how models are learned. */
#ifndef ANNOTATE_TAG_MODEL_H
#define ANNOTATE_TAG_MODEL_H

#include <stdbool.h>

#include "annotate/belief_net.h"
#include "annotate/tags.h"
#include "cleave/features.h"
#include "cleave/model.h"

#define CLV_MAX_ENUMERATED    20
#define CLV_MAX_RELAXED       1024    /* tags of ssvm-full */
#define CLV_TAG_DEFAULT_NODES 1000000 /* of branch and bound for an example, unless asked for more */

enum clv_tag_form { CLV_TAGS_INDEPENDENT, CLV_TAGS_LMSBN, CLV_TAGS_LMBM, CLV_TAGS_CHAIN, CLV_TAGS_FULL };

struct clv_tag_model {
    enum clv_tag_form form;
    int32_t n_tags, n_features;
    char **names;   /* [n_tags], or NULL: tags are called by their numbers */
    int32_t *place; /* [n_tags] the tag of each decision, for LMSBN; the identity otherwise */
    int32_t order;  /* of the belief network; 1 (no couplings) or 2 for the other forms */
    double *scale;  /* [n_features] what each feature is multiplied by, or NULL */
    double *bias;   /* [n_tags] b */
    double *weight; /* [n_tags][n_features] w, or NULL with a kernel */
    double gamma;   /* > 0: RBF kernel */
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

/* Files: old or new, never half; the same model gives the same bytes. Tensors bias, coupling, place i32, weight or row,
 * index, value, coefficient; scale; codebook.S; metadata: format "cleave tags 1" and as JSON model, names, recipe (or
 * "none"), record. Reading refuses with CLV_ERR_DATA, naming file and value, what does not fit together or is not
 * finite; and a segmentation model, saying which command takes it. */
enum clv_status clv_tag_model_write(const char *path, const struct clv_tag_model *model,
                                    struct clv_error *err) CLV_CHECK;
enum clv_status clv_tag_model_read(struct clv_tag_model *model, const char *path, struct clv_error *err) CLV_CHECK;

#endif
