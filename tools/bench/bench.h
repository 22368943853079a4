/* Shared by the benchmarks: this thread's CPU clock, medians, ratios with their range, and the paths of the data. */
#ifndef BENCH_H
#define BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BENCH_MAX_ROUNDS 64

/* Seconds of CPU this thread has used: the machine may be busy with other things. */
static inline double bench_cpu(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds of CPU that all threads have used. */
static inline double bench_cpu_of_all(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double bench_wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Measurements of one thing, one a round. */
struct bench_series {
    double values[BENCH_MAX_ROUNDS];
    int n;
};

static inline void bench_add(struct bench_series *series, double value)
{
    if (series->n < BENCH_MAX_ROUNDS)
        series->values[series->n++] = value;
}

struct bench_summary {
    double median, low, high;
};

static inline struct bench_summary bench_summarise(struct bench_series series)
{
    if (!series.n)
        return (struct bench_summary){0, 0, 0};
    qsort(series.values, (size_t)series.n, sizeof series.values[0], bench_compare);
    double middle = 0.5 * (series.values[(series.n - 1) / 2] + series.values[series.n / 2]);
    return (struct bench_summary){middle, series.values[0], series.values[series.n - 1]};
}

/* Round by round a[i] / b[i]: what disturbs the machine in a round disturbs both sides. */
static inline struct bench_summary bench_ratio(const struct bench_series *a, const struct bench_series *b)
{
    struct bench_series ratio = {.n = a->n < b->n ? a->n : b->n};
    for (int i = 0; i < ratio.n; i++)
        ratio.values[i] = a->values[i] / b->values[i];
    return bench_summarise(ratio);
}

/* A path below the real data, or NULL after a line that says what is skipped. */
static inline const char *bench_data(const char *bench, const char *relative)
{
    static char path[4096];
    const char *root = getenv("CLEAVE_DATA");
    snprintf(path, sizeof path, "%s/%s", root ? root : "../shared/data", relative);
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        printf("%s: skipped: %s is absent\n", bench, path);
        return NULL;
    }
    fclose(stream);
    return path;
}

#endif
