/* Runs over all inputs on threads (segment_all), and shares them between processes that mpirun started (segment_team):
 * each takes images in turn, and the leader reports them in input order. */
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "cli/segment/segment.h"

static enum clv_status do_and_illustrate(struct work *work, struct job *job, size_t index, int thread,
                                         struct clv_error *err)
{
    MUST(work_do(work, job, index, index, thread, err));
    return work_illustrate(work, job, err);
}

/* The status of the work is reported in input order, and is this image's alone unless work_report ends the run. */
static enum clv_status segment_one(void *context, size_t index, int thread, struct clv_error *err)
{
    struct threads *self = context;
    struct work work;
    enum clv_status status = work_name(&work, do_and_illustrate(&work, self->job, index, thread, err), err);
    ordered_queue_enter(&self->queue, index);
    if (status != CLV_ERR_INTERRUPTED)
        status = work_report(self->job, &work, index, status, err);
    ordered_queue_leave(&self->queue);
    work_release(&work);
    memory_gate_leave(&self->job->gate, work.bytes);
    return status;
}

static void threads_release(struct threads *self)
{
    ordered_queue_release(&self->queue);
}

enum clv_status segment_all(struct segment_counts *counts, struct segment_run *run, struct clv_error *err)
{
    OWNED(job_release) struct job job = {0};
    MUST(comm_agree(job_init(&job, counts, run, run->options->memory, err), err));
    OWNED(threads_release) struct threads threads = {.job = &job, .one = segment_one};
    ordered_queue_init(&threads.queue);
    if (comm_size() > 1)
        return segment_team(&job, err);
    if (run->inputs->n == 1 && run->inputs->items[0].is_tiled) /* its tiles have the threads */
        return segment_one(&threads, 0, 0, err);
    return run->sequence ? slices_run(&threads, err)
                         : parallel_for(run->inputs->n, job.n_threads, segment_one, &threads, err);
}

/* The message in which a process sends the result of an image: this, then its labels if the leader needs them. */
struct result {
    size_t index, n_labels; /* bytes */
    enum clv_status status;
    int32_t width, height;
    struct marginals_summary marginals;
    size_t path_length; /* of the message */
    char message[CLV_ERROR_MESSAGE_MAX];
};

/* Work that waits until all before it are reported. */
struct arrival {
    struct work work;
    enum clv_status status;
    struct clv_error error;
};

struct sharing {
    struct job *job;
    struct comm_deal deal;
    pthread_mutex_t lock;      /* guards what follows, and reports */
    struct arrival **arrivals; /* [n_inputs] of the leader */
    size_t next;               /* to report */
    size_t n_taken;            /* by this process */
    enum clv_status status;    /* the first failure that ends the run */
    struct clv_error error;
};

enum clv_status segment_team_check(const struct segment *options, struct clv_error *err)
{
    bool is_stream = segment_is_piped(options);
    for (size_t i = 0; i < options->common.n_arguments; i++)
        is_stream |= strcmp(options->common.arguments[i], "-") == 0;
    if (comm_size() > 1 && options->is_sequence)
        return fail(err, CLV_ERR_USAGE, "--sequence: goes with one process, whose threads share it");
    if (comm_size() > 1 && options->objects)
        return fail(err, CLV_ERR_USAGE, "--objects: goes with one process; --shard shares images between several");
    FAIL_IF(comm_size() > 1 && is_stream, CLV_ERR_USAGE,
            "-: of the processes that mpirun started only one has standard input and output");
    return CLV_OK;
}

static void arrival_free(struct arrival *arrival)
{
    if (arrival)
        work_release(&arrival->work);
    array_free(arrival);
}

static void end_run(struct sharing *self, enum clv_status status, const struct clv_error *error)
{
    if (self->status == CLV_OK) {
        self->status = status;
        self->error = *error;
    }
    comm_deal_stop(&self->deal);
}

/* Reports what can be reported now. */
static void deliver(struct sharing *self, size_t index, struct arrival *arrival)
{
    pthread_mutex_lock(&self->lock);
    self->arrivals[index] = arrival;
    for (; self->next < self->job->run->inputs->n && self->arrivals[self->next]; self->next++) {
        struct arrival *one = self->arrivals[self->next];
        if (one->status != CLV_ERR_INTERRUPTED)
            one->status = work_report(self->job, &one->work, self->next, one->status, &one->error);
        if (one->status != CLV_OK)
            end_run(self, one->status, &one->error);
        self->arrivals[self->next] = NULL;
        arrival_free(one);
    }
    pthread_mutex_unlock(&self->lock);
}

static void run_out_of_memory(struct sharing *self)
{
    struct clv_error error;
    pthread_mutex_lock(&self->lock);
    end_run(self, fail_memory(&error), &error);
    pthread_mutex_unlock(&self->lock);
}

/* Reads and draws what is reported of another process's image, as if it had been worked on here. */
static enum clv_status show(struct work *work, const struct job *job, struct clv_error *err)
{
    const struct segment_run *run = job->run;
    if (run->options->report && !run->dataset)
        MUST(input_read_image(&work->image, work->input, &run->options->common.limits, err));
    if (run->options->export.forms)
        MUST(work_trace(work, run, err));
    return work_illustrate(work, job, err);
}

static enum clv_status complete(struct arrival *arrival, const struct job *job, const struct result *result,
                                const char *bytes)
{
    const struct segment_run *run = job->run;
    struct work *work = &arrival->work;
    struct clv_error *err = &arrival->error;
    work->input = &run->inputs->items[result->index];
    work->output = &run->outputs->items[result->index];
    work->width = result->width;
    work->height = result->height;
    work->marginals = result->marginals;
    if (result->status != CLV_OK)
        return fail_told(err, result->status, result->message, result->path_length, NULL);
    if (result->n_labels)
        NEED(work->labels = array_copy(bytes, result->n_labels, 1));
    return work_name(work, show(work, job, err), err);
}

static void take(void *context, const void *bytes, size_t size)
{
    struct sharing *self = context;
    struct result result;
    struct arrival *arrival = array_zalloc(1, sizeof *arrival);
    if (!bytes || !arrival || size < sizeof result) {
        array_free(arrival);
        run_out_of_memory(self);
        return;
    }
    memcpy(&result, bytes, sizeof result);
    arrival->status = complete(arrival, self->job, &result, (const char *)bytes + sizeof result);
    deliver(self, result.index, arrival);
}

/* Status CLV_ERR_MEMORY if there is none for the message itself. */
static enum clv_status hand_in(struct sharing *self, size_t index, const struct arrival *arrival)
{
    const struct segment *options = self->job->run->options;
    const struct work *work = &arrival->work;
    size_t n = (size_t)work->width * (size_t)work->height;
    bool is_shown = arrival->status == CLV_OK && work->labels && (options->report || options->export.forms);
    struct result result = {.index = index,
                            .n_labels = is_shown ? n : 0,
                            .status = arrival->status,
                            .width = work->width,
                            .height = work->height,
                            .marginals = work->marginals};
    size_t size = sizeof result + result.n_labels;
    char *bytes = array_alloc(size, 1);
    if (!bytes)
        return CLV_ERR_MEMORY;
    result.path_length = arrival->error.path_length;
    memcpy(result.message, arrival->error.message, sizeof result.message);
    memcpy(bytes, &result, sizeof result);
    if (result.n_labels)
        memcpy(bytes + sizeof result, work->labels, n);
    comm_deal_hand_in(&self->deal, bytes, size);
    array_free(bytes);
    return CLV_OK;
}

/* An image that waits keeps only what its report needs. */
static void lighten(struct work *work, const struct segment *options)
{
    if (options->report)
        return;
    clv_image_release(&work->image);
    array_free(work->labels);
    work->labels = NULL;
}

static enum clv_status share_one(struct sharing *self, size_t index, size_t number, int thread, struct clv_error *err)
{
    struct arrival *arrival = array_zalloc(1, sizeof *arrival);
    NEED(arrival);
    struct job *job = self->job;
    struct work *work = &arrival->work;
    arrival->status = work_do(work, job, index, number, thread, &arrival->error);
    if (arrival->status == CLV_OK && !comm_rank())
        arrival->status = work_illustrate(work, job, &arrival->error);
    arrival->status = work_name(work, arrival->status, &arrival->error);
    double bytes = work->bytes;
    enum clv_status status = CLV_OK;
    if (comm_rank()) {
        status = hand_in(self, index, arrival) == CLV_OK ? CLV_OK : fail_memory(err);
        arrival_free(arrival);
    } else {
        lighten(work, job->run->options);
        deliver(self, index, arrival);
    }
    memory_gate_leave(&job->gate, bytes);
    return status;
}

/* A thread of this process. */
static enum clv_status share(void *context, size_t ignored, int thread, struct clv_error *err)
{
    (void)ignored;
    struct sharing *self = context;
    for (;;) {
        size_t index;
        pthread_mutex_lock(&self->lock);
        size_t number = self->n_taken;
        bool is_taken = comm_deal_next(&self->deal, &index);
        self->n_taken += is_taken;
        pthread_mutex_unlock(&self->lock);
        if (!is_taken)
            return CLV_OK;
        MUST(share_one(self, index, number, thread, err));
    }
}

enum clv_status segment_team(struct job *job, struct clv_error *err)
{
    size_t n = job->run->inputs->n;
    struct sharing self = {.job = job};
    OWNED_ARRAY struct arrival **arrivals = array_zalloc(n, sizeof *arrivals);
    MUST(comm_agree(arrivals ? CLV_OK : fail_memory(err), err));
    self.arrivals = arrivals;
    pthread_mutex_init(&self.lock, NULL);
    /* The deal is closed by all processes, whatever the status. */
    enum clv_status status = comm_deal_open(&self.deal, n, take, &self, err);
    if (status == CLV_OK)
        status = parallel_for((size_t)job->n_threads, job->n_threads, share, &self, err);
    if (status != CLV_OK && !comm_rank())
        comm_deal_stop(&self.deal);
    comm_deal_close(&self.deal);
    if (status == CLV_OK && self.status != CLV_OK) {
        status = self.status;
        *err = self.error;
    }
    for (size_t i = 0; i < n; i++)
        arrival_free(self.arrivals[i]);
    pthread_mutex_destroy(&self.lock);
    return status;
}
