/* Processes all inputs on threads, or shares them with the processes that mpirun started: a free process takes the next
 * input, writes its files and parts, and sends its outcome, which rank 0 delivers. Start at run_all. */
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "cluster/comm.h"

/* Inputs in the order in which they are processed: first rasters by tiles, one by one with all threads. */
struct order {
    struct batch *run;
    size_t *indices; /* [run->inputs.n] */
    size_t n_tiled;
};

static enum clv_status run_one(void *context, size_t k, int thread, struct clv_error *err)
{
    const struct order *self = context;
    return run_item(self->run, self->indices[self->n_tiled + k], self->n_tiled + k, thread, err);
}

static enum clv_status run_on_threads(struct batch *run, struct clv_error *err)
{
    const size_t n = run->inputs.n;
    OWNED_ARRAY size_t *indices = array_alloc(n, sizeof *indices);
    struct order order = {.run = run, .indices = indices};
    NEED(indices);
    for (size_t i = 0; i < n; i++)
        if (run->inputs.items[i].is_tiled)
            indices[order.n_tiled++] = i;
    for (size_t i = 0, k = order.n_tiled; i < n; i++)
        if (!run->inputs.items[i].is_tiled)
            indices[k++] = i;
    for (size_t k = 0; k < order.n_tiled; k++)
        MUST(run_item(run, indices[k], k, 0, err));
    return parallel_for(n - order.n_tiled, run->n_threads, run_one, &order, err);
}

struct share_state {
    struct batch *run;
    struct comm_deal deal;
    pthread_mutex_t lock; /* guards the members below */
    size_t n_taken;       /* number of inputs that this process has taken */
    enum clv_status status;
    struct clv_error error;
};

static void end_run(struct share_state *self, enum clv_status status, const struct clv_error *error)
{
    pthread_mutex_lock(&self->lock);
    if (self->status == CLV_OK) {
        self->status = status;
        self->error = *error;
    }
    pthread_mutex_unlock(&self->lock);
    comm_deal_stop(&self->deal);
}

/* Delivers the outcome of another process, on rank 0. */
static void take(void *context, const void *bytes, size_t size)
{
    struct share_state *self = context;
    OWNED(outcome_drop) struct outcome *outcome = NULL;
    struct clv_error error;
    size_t index = 0;
    enum clv_status status = outcome_unpack(&outcome, &index, bytes, size, &error);
    if (status == CLV_OK && self->run->report && outcome->status == CLV_OK)
        outcome->status = item_show(outcome, self->run, index, &outcome->error);
    if (status == CLV_OK)
        status = deliver(self->run, index, &outcome, &error);
    if (status != CLV_OK)
        end_run(self, status, &error);
}

/* Runs one thread of this process. */
static enum clv_status share(void *context, size_t ignored, int thread, struct clv_error *err)
{
    (void)ignored;
    struct share_state *self = context;
    for (;;) {
        size_t index;
        pthread_mutex_lock(&self->lock);
        const size_t number = self->n_taken;
        const bool is_taken = comm_deal_next(&self->deal, &index);
        self->n_taken += is_taken;
        pthread_mutex_unlock(&self->lock);
        if (!is_taken)
            return CLV_OK;
        MUST(run_item(self->run, index, number, thread, err));
    }
}

static enum clv_status run_in_processes(struct batch *run, struct clv_error *err)
{
    struct share_state self = {.run = run};
    pthread_mutex_init(&self.lock, NULL);
    /* Every process must close the deal, also after a failure. */
    enum clv_status status = comm_deal_open(&self.deal, run->inputs.n, take, &self, err);
    run->deal = &self.deal;
    if (status == CLV_OK)
        status = parallel_for((size_t)run->n_threads, run->n_threads, share, &self, err);
    if (status != CLV_OK && !comm_rank())
        comm_deal_stop(&self.deal);
    comm_deal_close(&self.deal);
    run->deal = NULL;
    pthread_mutex_destroy(&self.lock);
    return status == CLV_OK && self.status != CLV_OK ? fail_as(err, self.status, &self.error) : status;
}

enum clv_status run_all(struct batch *run, struct clv_error *err)
{
    return comm_size() > 1 ? run_in_processes(run, err) : run_on_threads(run, err);
}
