/* One image of a run: worked on in parallel, reported one after the other in input order. */
#ifndef CLI_SEGMENT_WORK_H
#define CLI_SEGMENT_WORK_H

#include "base/team.h"
#include "cleave/objects.h"
#include "cli/common/memory_gate.h"
#include "cli/segment/marginals.h"
#include "data/shapes/contour.h"
#include "feature/recipe/map_drift.h"

/* The line a minute that a run prints where standard error is no terminal. */
#define HEARTBEAT_S 60
struct heartbeat {
    double started_s, said_s;
};

/* Whether a line is due: what it says of `done` of `total` images, n_failed of which failed and n_skipped were finished
 * before. */
bool heartbeat_line(char line[128], struct heartbeat *self, double now_s, size_t done, size_t total, size_t n_failed,
                    size_t n_skipped);

struct job {
    struct segment_run *run;
    struct segment_counts *counts;
    struct clv_oracle **oracles; /* one per thread, made on first use */
    struct memory_gate gate;
    struct map_drift maps;
    struct heartbeat heartbeat;
    size_t n_watched; /* images whose shares of unmet features are summed up */
    double unmet;
    bool is_unmet_reported;
    int n_threads;
};

/* One input in work. */
struct work {
    const struct input *input;
    const struct output *output;
    struct clv_image image; /* empty when nothing needs it any more */
    int32_t width, height;
    struct map_reader *maps; /* that the recipe wants; or NULL */
    float *map_means;        /* [map_drift_size] of them; NULL: not known */
    uint8_t *labels;         /* [height][width]; of marginals 255 times the probability */
    struct marginals_map map;
    struct marginals_summary marginals;
    struct clv_mask truth;
    struct clv_object_map objects;
    struct clv_object *object_rows; /* [objects.n_objects] */
    struct contours contours;       /* of the objects that are exported */
    double unmet;                   /* label_unmet_share */
    double bytes;                   /* that the gate has let in */
};

void work_release(struct work *work);

/* Everything up to the written outputs of input `index`; `number` counts those that this process takes. In any case
 * memory_gate_leave(&job->gate, work->bytes) and work_release follow. */
enum clv_status work_do(struct work *work, struct job *job, size_t index, size_t number, int thread,
                        struct clv_error *err) CLV_CHECK;

/* Of work that is done: reads and draws what a report shows next to it. */
enum clv_status work_illustrate(struct work *work, const struct job *job, struct clv_error *err) CLV_CHECK;

/* Returns the status; a failure's message names the image from then on. */
enum clv_status work_name(const struct work *work, enum clv_status status, struct clv_error *err);

/* One at a time and in input order. Returns a failure that ends the run. */
enum clv_status work_report(struct job *job, struct work *work, size_t index, enum clv_status status,
                            struct clv_error *err) CLV_CHECK;

/* memory: bytes that all work at once may take, 0: half of what is free. */
enum clv_status job_init(struct job *job, struct segment_counts *counts, struct segment_run *run, double memory,
                         struct clv_error *err) CLV_CHECK;
void job_release(struct job *job);

/* A run whose images several processes share, which mpirun started (base/team.h). */
/* What a team cannot do: standard input and output belong to its leader (CLV_ERR_USAGE). */
enum clv_status segment_team_check(const struct segment *options, struct clv_error *err) CLV_CHECK;

/* Each process takes an image when it is free and writes what belongs to it. The leader reports all of them in input
 * order, as one process does: what a report or a table of objects needs of the others' images comes to it. */
enum clv_status segment_team(struct job *job, struct clv_error *err) CLV_CHECK;

#endif
