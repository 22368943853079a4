/* What labels cost by being in an image at all, by how unlikely a first stage's marginals make them: a label whose
 * log-odds of being there are s costs its price times 1 - s, at least 0 and at most 3. Models carry prices and the
 * weights of s as a tensor. */
#ifndef MODEL_LABEL_COSTS_H
#define MODEL_LABEL_COSTS_H

#include <stdbool.h>

#include "cleave/model.h"

#define LABEL_COSTS "label_costs" /* f64 [n_labels][1 + evidence_size(n_labels)]: price, weights */

/* Attaches the costs: w[n_labels][evidence_size] are the weights of the log-odds. */
enum clv_status label_costs_attach(struct clv_model *model, const double *w, double price,
                                   struct clv_error *err) CLV_CHECK;

bool label_costs_are_there(const struct clv_model *model);

/* cost[n_labels] >= 0 of a problem's labels under a model that has them. CLV_ERR_DATA if the tensor is not what it must
 * be, or the model has no first stage. */
enum clv_status label_costs_of(double *cost, const struct clv_model *model, const struct clv_problem *problem,
                               struct clv_error *err) CLV_CHECK;

#endif
