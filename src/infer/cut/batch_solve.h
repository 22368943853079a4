/* The versions of the batch solver, one of which batch_solve() picks. They give the same labels. */
#ifndef INFER_BATCH_SOLVE_H
#define INFER_BATCH_SOLVE_H

#include "infer/cut/cut.h"

bool batch_solve_plain(struct batch *batch, const int32_t *capacity);
#if defined(__x86_64__)
bool batch_solve_avx2(struct batch *batch, const int32_t *capacity);
#endif

#endif
