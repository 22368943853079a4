/* Where a run's masks and overlays go, checked as a whole before any work starts. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stdbool.h>

#include "cli/common/inputs.h"

/* What to do about outputs that exist already. */
enum existing {
    EXISTING_REFUSE,
    EXISTING_OVERWRITE,
    EXISTING_RESUME, /* items with all their outputs are finished */
};

struct output {
    char *mask, *overlay; /* paths; overlay is NULL when none is wanted */
    bool finished;
};

struct output_list {
    struct output *items; /* [n], one per input */
    size_t n, n_finished;
};
void output_list_release(struct output_list *outputs);

/* folder/<output>.png, and folder/overlays/<output>.png. Errors, before anything is written: folder is a file
 * (CLV_ERR_CREATE), two inputs with one output (CLV_ERR_USAGE), an output that is one of the inputs or their masks
 * (CLV_ERR_USAGE, whatever `existing` says), an output that exists (EXISTING_REFUSE; CLV_ERR_CREATE). */
enum clv_status outputs_plan(struct output_list *outputs, const struct input_list *inputs, const char *folder,
                             bool overlays, enum existing existing, struct clv_error *err) CLV_CHECK;

/* Makes the folder that `path` lies in. */
enum clv_status outputs_make_folder(const char *path, struct clv_error *err) CLV_CHECK;

/* Before long work: whether a file could be created at `path` (CLV_ERR_CREATE if not). Touches nothing. */
enum clv_status output_check_creatable(const char *path, struct clv_error *err) CLV_CHECK;

#endif
