/* All images of a run, on threads. */
#include "base/parallel.h"
#include "cli/common/ordered_queue.h"
#include "cli/segment/segment_team.h"
#include "cli/segment/segment_work.h"

struct threads {
    struct job *job;
    struct ordered_queue queue; /* guards counts, the report, the status file */
};

static enum clv_status segment_one(void *context, size_t index, int thread, struct clv_error *err)
{
    struct threads *self = context;
    struct work work;
    enum clv_status status = work_do(&work, self->job, index, index, thread, err);
    if (status == CLV_OK)
        status = work_illustrate(&work, self->job, err);
    status = work_name(&work, status, err);
    ordered_queue_enter(&self->queue, index);
    if (status != CLV_ERR_INTERRUPTED)
        status = work_tell(self->job, &work, index, status, err);
    ordered_queue_leave(&self->queue);
    work_release(&work);
    memory_gate_leave(&self->job->gate, work.bytes);
    return status;
}

enum clv_status segment_all(struct segment_counts *counts, struct segment_run *run, struct clv_error *err)
{
    struct job job;
    enum clv_status status = team_agree(job_init(&job, counts, run, run->options->memory, err), err);
    if (status != CLV_OK) {
        job_release(&job);
        return status;
    }
    struct threads threads = {.job = &job};
    ordered_queue_init(&threads.queue);
    if (team_size() > 1)
        status = segment_team(&job, err);
    else
        status = parallel_for(run->inputs->n, job.n_threads, segment_one, &threads, err);
    ordered_queue_release(&threads.queue);
    job_release(&job);
    return status;
}
