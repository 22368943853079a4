/* Loops on threads. Each calling thread has a pool of workers, which take tasks by an atomic counter and sleep between
 * loops. After a failure no further task starts, and the failure with the lowest index is returned. Start at
 * parallel_for. */
#include "base/base.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/memory.h"

int parallel_threads(int n_threads)
{
    return n_threads > 0 ? n_threads : control_group_processors();
}

/* One parallel_for. */
struct loop {
    parallel_task *task;
    void *context;
    size_t n;
    int n_threads;
    atomic_size_t next;
    atomic_bool failed;
    atomic_int n_inside; /* workers in the loop; changed under the pool's lock */
    pthread_mutex_t lock;
    size_t first_failure; /* `lock` guards this and the next two members */
    enum clv_status status;
    struct clv_error *err;
};

/* The workers of one calling thread; they end when it ends. */
struct pool {
    pthread_mutex_t lock;
    pthread_cond_t start, left;
    atomic_ulong round; /* counts loops */
    struct loop *loop;  /* open for workers to enter; NULL between loops */
    int n_workers, n_started;
    bool ending;
    pid_t process; /* a child of fork has no workers */
};

/* How often a waiting thread checks before it sleeps: about ten microseconds, less than waking up takes, so that short
 * loops in quick succession need not wait for the scheduler. */
enum { SPINS = 400 };

static _Thread_local bool within_task;
static _Thread_local struct pool thread_pool;
static pthread_key_t pool_key;
static pthread_once_t pool_key_once = PTHREAD_ONCE_INIT;

static void record_failure(struct loop *loop, size_t index, enum clv_status status, const struct clv_error *why)
{
    pthread_mutex_lock(&loop->lock);
    if (index < loop->first_failure) {
        loop->first_failure = index;
        loop->status = status;
        if (loop->err)
            *loop->err = *why;
    }
    pthread_mutex_unlock(&loop->lock);
    atomic_store(&loop->failed, true);
}

static void take_tasks(struct loop *loop, int thread)
{
    within_task = true;
    while (!atomic_load(&loop->failed)) {
        size_t index = atomic_fetch_add(&loop->next, 1);
        if (index >= loop->n)
            break;
        struct clv_error error = {0};
        enum clv_status status = loop->task(loop->context, index, thread, &error);
        if (status != CLV_OK)
            record_failure(loop, index, status, &error);
    }
    within_task = false;
}

static void *work(void *argument)
{
    struct pool *pool = argument;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool->lock);
    int thread = ++pool->n_started;
    for (;;) {
        while (!pool->ending && (pool->round == seen || !pool->loop || thread >= pool->loop->n_threads)) {
            seen = pool->round;
            pthread_mutex_unlock(&pool->lock);
            for (int spin = 0; spin < SPINS && atomic_load_explicit(&pool->round, memory_order_relaxed) == seen; spin++)
                machine_pause();
            pthread_mutex_lock(&pool->lock);
            if (!pool->ending && pool->round == seen)
                pthread_cond_wait(&pool->start, &pool->lock);
        }
        if (pool->ending)
            break;
        struct loop *loop = pool->loop;
        seen = pool->round;
        atomic_fetch_add(&loop->n_inside, 1);
        pthread_mutex_unlock(&pool->lock);
        take_tasks(loop, thread);
        pthread_mutex_lock(&pool->lock);
        if (atomic_fetch_sub(&loop->n_inside, 1) == 1)
            pthread_cond_signal(&pool->left);
    }
    if (--pool->n_workers == 0)
        pthread_cond_signal(&pool->left);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void pool_end(void *argument)
{
    struct pool *pool = argument;
    if (pool->process != getpid())
        return;
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->start);
    while (pool->n_workers)
        pthread_cond_wait(&pool->left, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static void make_pool_key(void)
{
    if (pthread_key_create(&pool_key, pool_end))
        pool_key = (pthread_key_t)-1;
}

/* Starts a worker. It blocks all signals except those that its own faults raise, so that the caller's threads receive
 * them. */
static bool add_worker(struct pool *pool)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t blocked, before;
    if (pthread_attr_init(&attributes))
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    bool is_started = pthread_create(&thread, &attributes, work, pool) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    pool->n_workers += is_started;
    return is_started;
}

/* Returns the calling thread's pool, locked, with n_workers workers or as many as the system grants. */
static struct pool *open_pool(int n_workers)
{
    struct pool *pool = &thread_pool;
    if (pool->process != getpid()) {
        *pool = (struct pool){.lock = PTHREAD_MUTEX_INITIALIZER,
                              .start = PTHREAD_COND_INITIALIZER,
                              .left = PTHREAD_COND_INITIALIZER,
                              .process = getpid()};
        pthread_once(&pool_key_once, make_pool_key);
        if (pool_key == (pthread_key_t)-1 || pthread_setspecific(pool_key, pool))
            n_workers = 0;
    }
    pthread_mutex_lock(&pool->lock);
    while (pool->n_workers < n_workers && add_worker(pool)) {
    }
    return pool;
}

/* Closes the loop to workers and waits until all that entered have left. Workers that have not entered yet are not
 * waited for, so that threads that do not get a processor never delay a loop. */
static void close_loop(struct pool *pool, struct loop *loop)
{
    pthread_mutex_lock(&pool->lock);
    pool->loop = NULL;
    pthread_mutex_unlock(&pool->lock);
    for (int spin = 0; spin < SPINS && atomic_load(&loop->n_inside); spin++)
        machine_pause();
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&loop->n_inside))
        pthread_cond_wait(&pool->left, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

enum clv_status parallel_for(size_t n, int n_threads, parallel_task *task, void *context, struct clv_error *err)
{
    struct loop loop = {.task = task,
                        .context = context,
                        .n = n,
                        .n_threads = parallel_threads(n_threads),
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .first_failure = SIZE_MAX,
                        .err = err};
    if ((size_t)loop.n_threads > n)
        loop.n_threads = (int)n;
    if (loop.n_threads <= 1 || within_task) {
        bool outer = within_task;
        take_tasks(&loop, 0);
        within_task = outer;
        return loop.status;
    }
    struct pool *pool = open_pool(loop.n_threads - 1);
    pool->loop = &loop;
    pool->round++;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    take_tasks(&loop, 0);
    close_loop(pool, &loop);
    return loop.status;
}

bool parallel_is_within_task(void)
{
    return within_task;
}

void parallel_progress(const struct clv_progress *progress, const char *what, size_t *done, size_t total,
                       const char *note)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    report_progress(progress, what, ++*done, total, note);
    pthread_mutex_unlock(&lock);
}

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
