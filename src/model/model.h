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

/* Tensors that a model carries for other code (clv_model_attach). */

/* Copies a tensor with its name and data. *copy is unchanged on failure. */
enum clv_status tensor_copy(struct clv_tensor *copy, const struct clv_tensor *tensor, struct clv_error *err) CLV_CHECK;
void tensor_release(struct clv_tensor *tensor);

/* Adds a named tensor (copied), or replaces the one of that name; it is saved in the model file as "extra.NAME".
 * Reading a model does not check its values; the code that uses the tensor must do so. */
enum clv_status clv_model_attach(struct clv_model *model, const struct clv_tensor *tensor,
                                 struct clv_error *err) CLV_CHECK;
#define CLV_VARIANCE "variance" /* f64 [clv_weight_layout_size(layout)]: of the posterior whose mean is w */
const struct clv_tensor *clv_model_attached(const struct clv_model *model, const char *name); /* or NULL */

/* The key in a model's record of the share of features that occur in the training images, but not in their labelled
 * parts. It is missing if the share is 0, as with whole masks. */
#define RECORD_UNSEEN "unseen_features"

/* Values of --decode, by enum clv_decoding_choice: for all commands, and for those of images, which also have
 * min-loss. */
extern const char *const decoding_names[], *const decoding_names_of_images[];
#define DECODING_HELP                                                                                                  \
    "How to choose labels from scores\n"                                                                               \
    "map: the best labelling of all nodes. marginal-map: the best of the nodes with a known label, the others summed " \
    "out. marginals: of every node the most probable label. auto (default): the rule that the model was trained for"
/* Sets the rule of a choice; auto and min-loss, which clv_model_decide does, change nothing. The temperature of hidden
 * nodes stays that of the model if it is above 0, otherwise it becomes 1. */
void decoding_choose(struct clv_decoding *decoding, enum clv_decoding_choice choice);

/* The field of a problem under weights. */

/* Checks the problem against the layout and computes its scores in a new field, whose edges are the problem's. Call
 * scored_field_release also after a failure. */
enum clv_status scored_field_init(struct clv_field *field, const struct clv_weight_layout *layout, const double *w,
                                  const struct clv_problem *problem, struct clv_error *err) CLV_CHECK;
void scored_field_release(struct clv_field *field);

/* Label costs: what a labelling pays for each label that occurs in it. A label is expensive if a first stage's
 * marginals make its presence improbable: with log-odds s of being present it costs its price times 1 - s, clipped to
 * 0..3. Models carry prices and the weights of s as a tensor. */

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

/* Buffers. Zeros initialise them. For one thread at a time. */
struct likelihood {
    struct clv_forest *forest;
    struct bucket bucket;
};
void likelihood_release(struct likelihood *self);

/* Sets *value = log P(known labels | x) = log sum_h exp f(y, h) - log sum_y,h exp f(y, h). h are the nodes whose label
 * is CLV_UNKNOWN, which are summed out; f are the unscaled scores, whatever the learner. Exact, by elimination.
 * CLV_ERR_USAGE for graphs that are too wide for it and for models with label costs. */
enum clv_status likelihood_of(double *value, struct likelihood *self, const struct clv_model *model,
                              const struct clv_problem *problem, struct clv_error *err) CLV_CHECK;

/* Reads the model of an open file; `path` names it in messages. *model is unchanged on failure. */
enum clv_status model_parse(struct clv_model *model, const struct clv_tensors *tensors, const char *path,
                            struct clv_error *err) CLV_CHECK;

/* Training records of both kinds of models. In files they are JSON objects of texts. */

void record_release(struct clv_record *record);

/* Sets an entry to a number in its shortest form. */
enum clv_status record_number(struct clv_record *record, const char *key, double value,
                              struct clv_error *err) CLV_CHECK;

void record_put_json(struct text *text, const struct clv_record *record);

/* Adds the entries of a file's metadata "record" to an empty record. After a failure *record holds some of them.
 * O(bytes). */
enum clv_status record_read(struct clv_record *record, const struct clv_tensors *tensors, const char *path,
                            struct clv_error *err) CLV_CHECK;

/* Texts and numbers of metadata, shared by the two kinds of model files. */
/* metadata_require returns a text of metadata, metadata_parse the JSON in it (json_root_free). Both fail if it is
 * missing. `path` names the file. */
enum clv_status metadata_require(const char **text, const struct clv_tensors *tensors, const char *key,
                                 const char *path, struct clv_error *err) CLV_CHECK;
enum clv_status metadata_parse(struct json_value **root, const struct clv_tensors *tensors, const char *key,
                               const char *path, struct clv_error *err) CLV_CHECK;

/* Reads an integer member of a metadata object, from minimum to maximum. */
enum clv_status metadata_count(int32_t *count, const struct json_value *object, const char *key, int32_t minimum,
                               int32_t maximum, const char *path, struct clv_error *err) CLV_CHECK;

/* Models of two stages, in which the first one's predictions of a problem's nodes become features of the second; and
 * the field of a problem under a model of one or two stages. */

void stage_free(struct clv_stage *stage); /* NULL is allowed */

/* Multiplies scores and couplings by `scale`; if that is 0, by the factor that gives unary scores the mean size
 * USUAL_SCORE. */
void model_scale_scores(struct clv_field *field, double scale);

/* The settings on which samples of a field's labellings depend. */
struct draw_settings {
    uint64_t seed;
    uint32_t n_samples;
};

/* As clv_model_marginals and clv_model_marginals_kind, for a field of the model's scores. Margins, whose scale is
 * arbitrary, are scaled in place. marginals[n_nodes][n_labels] must not be NULL. */
enum clv_status model_field_marginals(double *marginals, double *bound, double *standard_error,
                                      const struct clv_model *model, struct clv_field *field, struct clv_oracle *oracle,
                                      const struct draw_settings *draws, struct clv_error *err) CLV_CHECK;
enum clv_status model_field_marginals_kind(enum clv_marginals *kind, const struct clv_model *model,
                                           const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* As clv_model_decide, for such a field, which is scaled in place. area[n_nodes] is in pixels; NULL: 1 each. */
enum clv_status model_field_decide(int32_t *y, struct clv_field *field, const float *area, struct clv_oracle *oracle,
                                   const struct clv_decision_options *options, struct clv_error *err) CLV_CHECK;

/* Computes marginals[n_nodes][n_labels] of a field by a few iterations of sum-product belief propagation, even if that
 * has not converged by then. Exact without edges. */
enum clv_status stage_propagate(double *marginals, const struct clv_field *field, double temperature,
                                struct clv_error *err) CLV_CHECK;

/* Computes the marginals of a problem under a stage. Checks the problem against the stage's layout. */
enum clv_status stage_marginals(double *marginals, const struct clv_stage *stage, const struct clv_problem *problem,
                                struct clv_error *err) CLV_CHECK;

/* Computes the marginals of a problem under a model's last stage, whatever the model's decoding. Margins are scaled as
 * by model_scale_scores with 0. */
enum clv_status model_marginals(double *marginals, const struct clv_model *model, const struct clv_problem *problem,
                                struct clv_error *err) CLV_CHECK;

/* Returns the layout of the stage that follows a stage of `layout`, with pairwise terms of that form. */
struct clv_weight_layout stage_next_layout(const struct clv_weight_layout *layout, enum clv_pairwise form);

/* Checks a problem against the layout of the model's first stage and computes the field of the last stage, whose edges
 * are the problem's. Call scored_field_release also after a failure. */
enum clv_status model_field_init(struct clv_field *field, const struct clv_model *model,
                                 const struct clv_problem *problem, struct clv_error *err) CLV_CHECK;

#endif
