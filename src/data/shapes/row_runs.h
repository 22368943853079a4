/* Runs of equal values in a row of an image, for contour.c and contour_specks.c, which read rows from the top. */
#ifndef DATA_SHAPES_ROW_RUNS_H
#define DATA_SHAPES_ROW_RUNS_H

#include <string.h>

#include "base/base.h"

struct run {
    int32_t begin, value;
    int32_t region;   /* index of the run's region; -1: not known yet */
    int32_t down, up; /* open ends of rings on its left side, by direction, or -1 (contour.c) */
    bool is_traced;   /* whether its region is an object (contour.c) */
};

/* runs[0..n - 1] cover the row, and runs[n] begins where it ends. */
struct row_runs {
    struct run *runs;
    size_t n, capacity;
};

static inline void row_runs_release(struct row_runs *self)
{
    array_free(self->runs);
}

/* Appends a run. Returns false if out of memory. */
static inline bool row_runs_add(struct row_runs *self, int32_t begin, int32_t value)
{
    if (self->n + 1 > self->capacity &&
        array_reserve((void **)&self->runs, &self->capacity, self->n + 1, sizeof *self->runs))
        return false;
    self->runs[self->n++] = (struct run){.begin = begin, .value = value, .region = -1, .down = -1, .up = -1};
    return true;
}

/* Ends the row with a run of value `outside` at index n. Returns false if out of memory. */
static inline bool row_runs_end(struct row_runs *self, int32_t width, int32_t outside)
{
    bool is_added = row_runs_add(self, width, outside);
    self->n -= is_added;
    return is_added;
}

/* Cuts row[width] into runs, eight values at a time where they are equal. */
#define ROW_RUNS_CUT(self, row, width, outside)                                                                        \
    __extension__({                                                                                                    \
        bool is_cut_ = true;                                                                                           \
        (self)->n = 0;                                                                                                 \
        for (int32_t x_ = 0; x_ < (width) && is_cut_;) {                                                               \
            is_cut_ = row_runs_add((self), x_, (int32_t)(row)[x_]);                                                    \
            x_++;                                                                                                      \
            while ((width)-x_ >= 8 && memcmp((row) + x_, (row) + x_ - 1, 8 * sizeof *(row)) == 0)                      \
                x_ += 8;                                                                                               \
            while (x_ < (width) && (row)[x_] == (row)[x_ - 1])                                                         \
                x_++;                                                                                                  \
        }                                                                                                              \
        is_cut_ &&row_runs_end((self), (width), (outside));                                                            \
    })

static inline bool row_runs_cut_labels(struct row_runs *self, const uint8_t *row, int32_t width, int32_t outside)
{
    return ROW_RUNS_CUT(self, row, width, outside);
}

static inline bool row_runs_cut_values(struct row_runs *self, const int32_t *row, int32_t width, int32_t outside)
{
    return ROW_RUNS_CUT(self, row, width, outside);
}

#undef ROW_RUNS_CUT

#endif
