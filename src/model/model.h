#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>

#include "base/base.h"
#include "base/json.h"
#include "cleave/model.h"
#include "cleave/problem.h"
#include "data/data.h"
#include "infer/elimination/elimination.h"
#include "model/context.h"

/* Tensors that a model carries for others (clv_model_attach). */

/* A copy with a name and an array of its own; *copy is unchanged on failure. */
enum clv_status tensor_copy(struct clv_tensor *copy, const struct clv_tensor *tensor, struct clv_error *err) CLV_CHECK;
void tensor_release(struct clv_tensor *tensor);

/* Adds a named tensor (copied), or replaces the one of that name; it is saved in the model file as "extra.NAME".
 * Reading does not check its values, which only the code that attached it knows. */
enum clv_status clv_model_attach(struct clv_model *model, const struct clv_tensor *tensor,
                                 struct clv_error *err) CLV_CHECK;
#define CLV_VARIANCE "variance" /* f64 [clv_weight_layout_size(layout)]: of the posterior whose mean is w */
const struct clv_tensor *clv_model_attached(const struct clv_model *model, const char *name); /* or NULL */

/* The key in a model's record of the share of features that occur in the training images, but not in their labelled
 * parts. It is missing if the share is 0, as with whole masks. */
#define RECORD_UNSEEN "unseen_features"

/* Names of --decode, by enum clv_decoding_choice: of all commands, and of those for images, which also have
 * min-loss. */
extern const char *const decoding_names[], *const decoding_names_of_images[];
#define DECODING_HELP                                                                                                  \
    "How to choose labels from scores\n"                                                                               \
    "map: the best labelling of all nodes. marginal-map: the best of the nodes with a known label, the others summed " \
    "out. marginals: of every node the most probable label. auto (default): the rule that the model was trained for"
/* Sets the rule that was chosen. The temperature of hidden nodes stays that of the model if it is above 0.
 * clv_model_decide does min-loss. */
void decoding_choose(struct clv_decoding *decoding, enum clv_decoding_choice choice);

/* The field of a problem under weights. */

/* Checks the problem against the layout and makes a field with memory of its own. scored_field_release it also after a
 * failure. */
enum clv_status scored_field_init(struct clv_field *field, const struct clv_weight_layout *layout, const double *w,
                                  const struct clv_problem *problem, struct clv_error *err) CLV_CHECK;
void scored_field_release(struct clv_field *field);

/* Label costs: what a labelling pays for each label that occurs in it. A label is expensive if a first stage's
 * marginals make its presence improbable: with log-odds s of being present it costs its price times 1 - s, or 0 to 3
 * prices. Models carry prices and the weights of s as a tensor. */

#define LABEL_COSTS "label_costs" /* f64 [n_labels][1 + evidence_size(n_labels)]: price, weights */

/* Attaches the costs: w[n_labels][evidence_size] are the weights of the log-odds. */
enum clv_status label_costs_attach(struct clv_model *model, const double *w, double price,
                                   struct clv_error *err) CLV_CHECK;

bool label_costs_are_there(const struct clv_model *model);

/* Computes cost[n_labels] >= 0 of the labels of a problem under a model with label costs. CLV_ERR_DATA if their tensor
 * is invalid, or the model has no first stage. */
enum clv_status label_costs_of(double *cost, const struct clv_model *model, const struct clv_problem *problem,
                               struct clv_error *err) CLV_CHECK;

/* Likelihoods of labels under a model's weights. */

/* Buffers; all zeros at first, not for two threads at once. */
struct likelihood {
    struct clv_forest *forest;
    struct bucket bucket;
};
void likelihood_release(struct likelihood *self);

/* *value = log P(known labels | x) = log sum_h exp f(y, h) - log sum_y,h exp f(y, h): h are the nodes whose label is
 * CLV_UNKNOWN, which are summed out, and f the unscaled scores, also of learners that do not learn likelihoods. Exact,
 * by elimination; CLV_ERR_USAGE on graphs that are too wide for it, and of models with label costs. */
enum clv_status likelihood_of(double *value, struct likelihood *self, const struct clv_model *model,
                              const struct clv_problem *problem, struct clv_error *err) CLV_CHECK;

/* The model of a file that is open. */

/* The model of an open file; `path` names it in messages. *model is unchanged on failure. */
enum clv_status model_parse(struct clv_model *model, const struct clv_tensors *tensors, const char *path,
                            struct clv_error *err) CLV_CHECK;

/* Records of models of both kinds, and their form in files: a JSON object of texts. */

void record_release(struct clv_record *record);

/* Notes a number in its shortest form. */
enum clv_status record_number(struct clv_record *record, const char *key, double value,
                              struct clv_error *err) CLV_CHECK;

void record_put_json(struct text *text, const struct clv_record *record);

/* Adds the entries of a file's metadata "record" to an empty record. After a failure *record holds some of them.
 * O(bytes). */
enum clv_status record_read(struct clv_record *record, const struct clv_tensors *tensors, const char *path,
                            struct clv_error *err) CLV_CHECK;

/* Texts and numbers of metadata, shared by the two kinds of model files. */
/* Reads a text of metadata, as it is and as JSON (json_root_free). Fails if it is missing. `path` names the file. */
enum clv_status metadata_require(const char **text, const struct clv_tensors *tensors, const char *key,
                                 const char *path, struct clv_error *err) CLV_CHECK;
enum clv_status metadata_parse(struct json_value **root, const struct clv_tensors *tensors, const char *key,
                               const char *path, struct clv_error *err) CLV_CHECK;

/* Reads an integer member of a metadata object, from minimum to maximum. */
enum clv_status metadata_count(int32_t *count, const struct json_value *object, const char *key, int32_t minimum,
                               int32_t maximum, const char *path, struct clv_error *err) CLV_CHECK;

/* Models of two stages, in which the first one's predictions of a problem's nodes become features of the second; and
 * the field of a problem under a model of one or two stages. */

void stage_free(struct clv_stage *stage); /* NULL is fine */

/* Multiplies scores and couplings, as draws need them. scale 0: so that the unary scores have a usual mean size. */
void model_scale_scores(struct clv_field *field, double scale);

/* The settings on which samples of a field's labellings depend. */
struct draw_settings {
    uint64_t seed;
    uint32_t n_samples;
};

/* clv_model_marginals and clv_model_marginals_kind for the field of a model's scores. Scores without a scale are scaled
 * in place. marginals[n_nodes][n_labels] must not be NULL. */
enum clv_status model_field_marginals(double *marginals, double *bound, double *standard_error,
                                      const struct clv_model *model, struct clv_field *field, struct clv_oracle *oracle,
                                      const struct draw_settings *draws, struct clv_error *err) CLV_CHECK;
enum clv_status model_field_marginals_kind(enum clv_marginals *kind, const struct clv_model *model,
                                           const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* clv_model_decide for such a field, which is scaled in place. area[n_nodes] pixels, or NULL: 1 each. */
enum clv_status model_field_decide(int32_t *y, struct clv_field *field, const float *area, struct clv_oracle *oracle,
                                   const struct clv_decision_options *options, struct clv_error *err) CLV_CHECK;

/* marginals[n_nodes][n_labels] of a field: sum-product belief propagation for a few iterations, whether or not it
 * converges by then; exact without edges. */
enum clv_status stage_propagate(double *marginals, const struct clv_field *field, double temperature,
                                struct clv_error *err) CLV_CHECK;

/* Marginals of a problem under a stage. Checks the problem against the stage's layout. */
enum clv_status stage_marginals(double *marginals, const struct clv_stage *stage, const struct clv_problem *problem,
                                struct clv_error *err) CLV_CHECK;

/* Marginals of a problem under a model's last stage, by any decoding of the model; scores without a scale get the usual
 * one. */
enum clv_status model_marginals(double *marginals, const struct clv_model *model, const struct clv_problem *problem,
                                struct clv_error *err) CLV_CHECK;

/* The layout of the stage that comes after a stage, with pairwise terms of that form. */
struct clv_weight_layout stage_next_layout(const struct clv_weight_layout *layout, enum clv_pairwise form);

/* Checks a problem against the layout of the model's first stage and makes its field, with memory of its own.
 * scored_field_release it also after a failure. */
enum clv_status model_field_init(struct clv_field *field, const struct clv_model *model,
                                 const struct clv_problem *problem, struct clv_error *err) CLV_CHECK;

#endif
