/* How well weights do: the loss of their labellings. The means are public: clv_evaluate, clv_evaluate_all. */
#ifndef LEARN_EVALUATE_H
#define LEARN_EVALUATE_H

#include "cleave/learn.h"

/* losses[n_examples]: each example's, as of clv_evaluate. */
enum clv_status evaluate_each(double *losses, const struct clv_dataset *dataset, const int32_t *examples,
                              size_t n_examples, const struct clv_shape *shape, const double *w,
                              const struct clv_decoding *decoding, enum clv_engine engine, int n_threads,
                              struct clv_error *err) CLV_CHECK;

#endif
