/* A trained model: recipe, weights, labels, and the record of how it was made. One safetensors file.
 *
 *     struct clv_model model;
 *     if (clv_model_read(&model, "animals.cleave", &error) == CLV_OK) {
 *         printf("%d labels, learned by %s\n", model.layout.n_labels, clv_record_get(&model.record, "learner"));
 *         clv_model_release(&model);
 *     }
 *
 * To read the source: src/model/model.c (in memory, decoding), then model_file.c (reading and writing). stage.c
 * computes fields, of one stage or two. record.c and attachment.c hold the data besides weights; decide.c turns samples
 * into labels; scores.c determines the meaning of scores. */
#ifndef CLEAVE_MODEL_H
#define CLEAVE_MODEL_H

#include <stdbool.h>

#include "cleave/data.h"
#include "cleave/features.h"
#include "cleave/infer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The training record: pairs of any strings, kept in order ("learner" "ssvm", "seed" "1", "objective" "0.71 0.52 ...").
 * UTF-8. */
struct clv_record {
    struct clv_record_entry {
        char *key, *value;
    } * entries;
    size_t n;
};

/* Adds an entry, or replaces the value of an existing one. */
CLV_API enum clv_status clv_record_set(struct clv_record *record, const char *key, const char *value,
                                       struct clv_error *err) CLV_CHECK;
CLV_API const char *clv_record_get(const struct clv_record *record, const char *key); /* or NULL */

/* The first of two stages. Belief propagation on its scores, divided by the temperature, gives marginals. The second
 * stage uses them as features besides the recipe's: of each node, of its neighbours, of nodes above, below, left, right
 * and further away, and of the whole image (auto-context, Tu & Bai 2010). */
struct clv_stage {
    struct clv_weight_layout layout; /* the features are the recipe's */
    double *w;                       /* [clv_weight_layout_size(layout)] */
    double temperature;              /* > 0 */
};

/* Weights with the recipe of their features. A struct of zeros is an empty model; clv_model_release makes any model
 * empty. */
struct clv_model {
    struct clv_weight_layout layout;
    double *w; /* [clv_weight_layout_size(layout)] */
    struct clv_decoding decoding;
    struct clv_recipe recipe;
    bool has_recipe; /* false: trained on features of another program */
    struct clv_labels labels;
    struct clv_record record;
    struct clv_tensor *extra; /* data of a learner besides w (variances, kernels) */
    size_t n_extra;
    struct clv_stage *first; /* NULL: one stage; else layout and w belong to the second stage */
};
CLV_API void clv_model_release(struct clv_model *model);

/* Files: old or new, never half; the same model gives the same bytes.
 *   tensors   unary f64 [rows][d]; pairwise f64 [p] (Potts) or [K][K][p] (full); palette u8 [256][3];
 *             codebook.S u8 [n_words][128]; mixture.S f32 [CLV_MIXTURE_SIZE];
 *             extra.NAME; and with two stages first.unary, first.pairwise
 *   metadata  format "cleave model 1", with two stages "cleave model 2"; as JSON: model (n_labels, n_features,
 *             n_edge_features, pairwise, and decoding with hidden_temperature unless CLV_DECODE_ORACLE), labels,
 *             recipe (or "none"), record, and with two stages first (the members of model, temperature)
 * Writing and reading check everything. CLV_ERR_DATA, naming file and value: another format or version, truncation,
 * weights that are not finite, negative couplings, sizes that disagree with each other or with the recipe. */
CLV_API enum clv_status clv_model_write(const char *path, const struct clv_model *model,
                                        struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_model_read(struct clv_model *model, const char *path, struct clv_error *err) CLV_CHECK;

/* Decodes one problem by the model's rule: y[n_nodes]. is_visible as for clv_oracle_decode (NULL: all nodes, as when
 * segmenting). The problem is checked against the model's layout first. */
CLV_API enum clv_status clv_model_decode(int32_t *y, const struct clv_model *model, const struct clv_problem *problem,
                                         const uint8_t *is_visible, struct clv_oracle *oracle,
                                         struct clv_error *err) CLV_CHECK;

/* Decodes with all nodes visible. */
CLV_API enum clv_status clv_model_predict(int32_t *y, const struct clv_model *model, const struct clv_problem *problem,
                                          struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;

/* The meaning of a model's scores. It follows from the objective of its learner. */
enum clv_scores {
    CLV_SCORES_MARGIN,     /* only their order is meaningful, their scale is arbitrary; labels have equal weight */
    CLV_SCORES_LIKELIHOOD, /* log-probabilities, with labels at their true frequencies */
    CLV_SCORES_WEIGHTED_LIKELIHOOD, /* log-probabilities under which the most probable label has the least expected error */
};

/* Returns the entry "scores" of the record. Without one, the learner decides: pmap and mpmap have likelihoods, wmpmap,
 * crf and hcrf weighted ones, others margins. Without an entry "learner" it is a likelihood. */
CLV_API enum clv_scores clv_model_scores(const struct clv_model *model);
/* Returns "margin", "likelihood" or "weighted likelihood". */
CLV_API const char *clv_scores_name(enum clv_scores scores);

/* Marginals of one problem under w: marginals[n_nodes][n_labels], exact in components of the graph without loops
 * (clv_oracle_marginals). In other components they come from n_samples perturb-and-MAP samples if the model is decoded
 * by clv_oracle_map, else from loopy belief propagation (clv_bp_run). *bound = the log-partition; from samples, its
 * upper bound with *standard_error; from belief propagation, the Bethe estimate. Each of the three may be NULL.
 * CLV_SCORES_MARGIN scores are first scaled to a mean absolute value of 3, so that their marginals rank nodes by
 * certainty, but are not calibrated. */
CLV_API enum clv_status clv_model_marginals(double *marginals, double *bound, double *standard_error,
                                            const struct clv_model *model, const struct clv_problem *problem,
                                            struct clv_oracle *oracle, uint64_t seed, uint32_t n_samples,
                                            struct clv_error *err) CLV_CHECK;

/* *kind = the method by which clv_model_marginals computes the marginals of a problem. O(size of the problem). */
CLV_API enum clv_status clv_model_marginals_kind(enum clv_marginals *kind, const struct clv_model *model,
                                                 const struct clv_problem *problem, struct clv_error *err) CLV_CHECK;

/* Max-marginals and witness counts of one problem under w (clv_oracle_max_marginals), with unscaled scores, whatever
 * the rule of decoding. Each of the two may be NULL. */
CLV_API enum clv_status clv_model_max_marginals(double *max_marginals, double *witness_counts,
                                                const struct clv_model *model, const struct clv_problem *problem,
                                                struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;

/* Options of clv_model_decide. */
struct clv_decision_options {
    uint32_t n_samples; /* perturb-and-MAP samples, >= 1; default 100 */
    uint64_t seed;
    bool is_balanced; /* the learner weighed labels equally, so the samples already minimise a balanced error */
    double scale;     /* > 0: of scores relative to the noise; 0: so that unary scores have mean absolute value 3 */
};
/* Sets the defaults by clv_model_scores: a likelihood is not balanced and has scale 1, a weighted likelihood is
 * balanced and has scale 1, margins are balanced and have scale 0. */
CLV_API void clv_decision_defaults(struct clv_decision_options *options, const struct clv_model *model);

/* Decodes one problem by the least expected balanced error (clv_example_set_truth) instead of the best score:
 * y[n_nodes]. With two labels a node gets label 1 if its marginal exceeds about the expected share of label 1 among the
 * pixels or, for balanced models, 1/2. Marginals of balanced models are exact if the graph has no loops. options may be
 * NULL. */
CLV_API enum clv_status clv_model_decide(int32_t *y, const struct clv_model *model, const struct clv_problem *problem,
                                         struct clv_oracle *oracle, const struct clv_decision_options *options,
                                         struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
