/* A trained model: recipe, weights, labels, and the record of how it was made. One safetensors file.
 *
 *     struct clv_model model;
 *     if (clv_model_read(&model, "animals.cleave", &error) == CLV_OK) {
 *         printf("%d labels, learned by %s\n", model.layout.n_labels, clv_record_get(&model.record, "learner"));
 *         clv_model_release(&model);
 *     }
 *
 * To read the source: src/model/model.c (in memory, decoding), then model_file.c (reading and writing). stage.c makes
 * fields, of one stage or two. record.c and attachment.c are what a model carries besides weights; decide.c turns
 * marginals into labels; scores.c knows what scores are. */
#ifndef CLEAVE_MODEL_H
#define CLEAVE_MODEL_H

#include <stdbool.h>

#include "cleave/data.h"
#include "cleave/features.h"
#include "cleave/infer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a model was made: free-form, kept in order ("learner" "ssvm", "seed" "1", "objective" "0.71 0.52 ..."). UTF-8. */
struct clv_record {
    struct clv_record_entry {
        char *key, *value;
    } * entries;
    size_t n;
};

/* Adds an entry, or replaces the value of the one there is. */
CLV_API enum clv_status clv_record_set(struct clv_record *record, const char *key, const char *value,
                                       struct clv_error *err) CLV_CHECK;
CLV_API const char *clv_record_get(const struct clv_record *record, const char *key); /* or NULL */

/* The first of two stages. Its marginals, of belief propagation on its scores divided by the temperature, are features
 * that the second stage sees besides the recipe's: each node's own, its neighbours', those above, below, left, right
 * and further away, and the whole image's (auto-context, Tu & Bai 2010). */
struct clv_stage {
    struct clv_weight_layout layout; /* the features are the recipe's */
    double *w;                       /* [clv_weight_layout_size(layout)] */
    double temperature;              /* > 0 */
};

/* W and couplings under one recipe. A struct of zeros is an empty model; clv_model_release makes one of any. */
struct clv_model {
    struct clv_weight_layout layout;
    double *w; /* [clv_weight_layout_size(layout)] */
    struct clv_decoding decoding;
    struct clv_recipe recipe;
    bool has_recipe; /* false: trained on features from elsewhere */
    struct clv_labels labels;
    struct clv_record record;
    struct clv_tensor *extra; /* what a learner keeps besides w (variances, kernels) */
    size_t n_extra;
    struct clv_stage *first; /* NULL: a model of one stage; else layout and w are the second one's */
};
CLV_API void clv_model_release(struct clv_model *model);

/* Files: old or new, never half; the same model gives the same bytes.
 *   tensors   unary f64 [rows][d]; pairwise f64 [p] (Potts) or [K][K][p] (full); palette u8 [256][3];
 *             codebook.S u8 [n_words][128]; mixture.S f32 [CLV_MIXTURE_SIZE];
 *             extra.NAME; and of models of two stages first.unary, first.pairwise
 *   metadata  format "cleave model 1", of two stages "cleave model 2"; as JSON: model (n_labels, n_features,
 *             n_edge_features, pairwise, and unless it is the oracle's decoding and hidden_temperature), labels,
 * recipe (or "none"), record,
 *             of two stages first (the members of model, temperature)
 * Writing and reading check everything and refuse with CLV_ERR_DATA, naming file and value: another format or version,
 * truncation, weights that are not finite, negative couplings, sizes that disagree with each other or with the recipe.
 */
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

/* The meaning of a model's scores, by what its learner goes down. */
enum clv_scores {
    CLV_SCORES_MARGIN,              /* only their order counts, their scale is arbitrary; labels weigh the same */
    CLV_SCORES_LIKELIHOOD,          /* logarithms of probabilities, of labels as frequent as they are */
    CLV_SCORES_WEIGHTED_LIKELIHOOD, /* the same, but the most probable label has the least expected error */
};

/* Returns what the record says under "scores"; if it says nothing, what its "learner" is known for: pmap and mpmap are
 * likelihoods, wmpmap, crf and hcrf weighted ones, others margins. Of a record with neither the scores are taken
 * for a likelihood. */
CLV_API enum clv_scores clv_model_scores(const struct clv_model *model);
/* "margin", "likelihood" or "weighted likelihood" */
CLV_API const char *clv_scores_name(enum clv_scores scores);

/* Marginals of one problem under w: marginals[n_nodes][n_labels], exact in components of the graph without loops
 * (clv_oracle_marginals). In the others a model that is decoded by clv_oracle_map has those of n_samples
 * perturb-and-MAP samples, another one those of loopy belief propagation (clv_bp_run). *bound is the log-partition, of
 * samples its upper bound with *standard_error, propagated Bethe's estimate. Each of the three may be NULL. Scores that
 * are CLV_SCORES_MARGIN are brought to a mean size of 3: such marginals tell what is more or less certain, not how
 * much. */
CLV_API enum clv_status clv_model_marginals(double *marginals, double *bound, double *standard_error,
                                            const struct clv_model *model, const struct clv_problem *problem,
                                            struct clv_oracle *oracle, uint64_t seed, uint32_t n_samples,
                                            struct clv_error *err) CLV_CHECK;

/* *kind = how clv_model_marginals finds those of a problem. O(size of the problem). */
CLV_API enum clv_status clv_model_marginals_kind(enum clv_marginals *kind, const struct clv_model *model,
                                                 const struct clv_problem *problem, struct clv_error *err) CLV_CHECK;

/* Max-marginals and the counts of their witnesses of one problem under w, as clv_oracle_max_marginals has them of its
 * field: scores as they are, whatever the rule of decoding. Each of the two may be NULL. */
CLV_API enum clv_status clv_model_max_marginals(double *max_marginals, double *witness_counts,
                                                const struct clv_model *model, const struct clv_problem *problem,
                                                struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;

/* How clv_model_decide samples and decides. */
struct clv_decision_options {
    uint32_t n_samples; /* perturb-and-MAP samples, >= 1; default 100 */
    uint64_t seed;
    bool is_balanced; /* the learner weighed foreground and background the same, and the samples show it */
    double scale;     /* > 0: of scores against the samples' noise. 0: such that unary scores are 3 in the mean size */
};
/* By clv_model_scores: a likelihood is one of plain labels at scale 1, a weighted one is balanced at scale 1, and
 * margins are balanced and have no scale. */
CLV_API void clv_decision_defaults(struct clv_decision_options *options, const struct clv_model *model);

/* Decodes one problem at the least expected balanced error (clv_example_set_truth), not the best score: y[n_nodes].
 * Of two labels a node has label 1 where its marginal exceeds about label 1's expected share of the pixels or, for
 * balanced models, 1/2. Marginals of balanced models are exact where the graph has no loops. options may be NULL. */
CLV_API enum clv_status clv_model_decide(int32_t *y, const struct clv_model *model, const struct clv_problem *problem,
                                         struct clv_oracle *oracle, const struct clv_decision_options *options,
                                         struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
