/* What a learner's table says of it, besides what is public. */
#ifndef LEARN_PARAMETERS_H
#define LEARN_PARAMETERS_H

#include "cleave/learn.h"

/* Why a parameter cannot change what that training results in, whatever its value: a clause that names what is in the
 * way ("--solver is lp", "every image has a mask"), static; NULL: it can. Other parameters count as they are set. A
 * training without a dataset is judged by its parameters alone. */
const char *learner_idle(const struct clv_learner *learner, const struct clv_training *training, int parameter);

/* Whether the learner trains a form for that many labels on such graphs. */
bool learner_trains(const struct clv_learner *learner, enum clv_pairwise form, int32_t n_labels, enum clv_graph graph);

#endif
