#include "base/parallel.h"

#include <omp.h>
#include <stdatomic.h>

#include "base/error.h"

int parallel_threads(int n_threads)
{
    return n_threads > 0 ? n_threads : omp_get_num_procs();
}

enum clv_status parallel_for(size_t n, int n_threads, parallel_task *task, void *context, struct clv_error *err)
{
    int team = parallel_threads(n_threads);
    if ((size_t)team > n)
        team = n ? (int)n : 1; // NOLINT(clang-analyzer-deadcode.DeadStores): read by the pragma

    atomic_size_t next = 0;
    size_t first_failure = SIZE_MAX; /* guarded by the critical section */
    enum clv_status status = CLV_OK;
    atomic_int failed = 0;

#pragma omp parallel num_threads(team)
    {
        int thread = omp_get_thread_num();
        for (;;) {
            size_t index = atomic_load(&failed) ? n : atomic_fetch_add(&next, 1);
            if (index >= n)
                break;
            struct clv_error own = {0};
            enum clv_status result = task(context, index, thread, &own);
            if (result == CLV_OK)
                continue;
#pragma omp critical(parallel_failure)
            if (index < first_failure) {
                first_failure = index;
                status = result;
                if (err)
                    *err = own;
            }
            atomic_store(&failed, 1);
        }
    }
    return status;
}
