/* One thread's part of a CRF's objective: log-partition and expected features of one example. */
#ifndef LEARN_CRF_WORKER_H
#define LEARN_CRF_WORKER_H

#include "learn/crf/crf_objective.h"

enum clv_status crf_workers_new(struct crf_worker **workers, const struct crf_objective *objective,
                                struct clv_error *err) CLV_CHECK;
void crf_workers_free(struct crf_worker *workers, int n);
struct crf_worker *crf_worker_at(struct crf_worker *workers, int thread);

/* *nll += its negative log-likelihood, sums[chunk_size] += its E[Psi]. Chains, and pieces of chains between nodes of
 * unknown label, by chain_sums_run, or in the log domain where scores differ too much; other forests by clv_forest_run.
 */
enum clv_status crf_worker_add(double *nll, double *sums, struct crf_worker *self,
                               const struct crf_objective *objective, size_t example, struct clv_error *err) CLV_CHECK;

#endif
