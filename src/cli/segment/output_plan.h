/* Where a run's masks and overlays go, checked as a whole before any image is read. */
#ifndef CLI_OUTPUT_PLAN_H
#define CLI_OUTPUT_PLAN_H

#include "cli/common/inputs.h"
#include "cli/common/outputs.h"
#include "cli/common/shard_option.h"

struct output {
    char *mask, *overlay; /* paths; overlay is NULL when none is wanted */
    bool finished;
    char *problem; /* why there can be no output: it fails, the rest goes on; NULL: there is none */
};

struct output_list {
    struct output *items; /* [n], one per input */
    size_t n, n_finished, n_problems;
};
void output_list_release(struct output_list *list);

/* folder/<output>.png, and folder/overlays/<output>.png; standard output if the folder is "-". Inputs whose output's
 * name is too long for a file, or would be another input's output, too, get a problem. Errors, before anything is
 * written: folder is a file, an output exists (EXISTING_REFUSE), or is one of the inputs or their masks; CLV_ERR_CREATE
 * each. Adds the outputs to `outputs`. Of a shard the list has its block only, which others of the inputs are still
 * compared with. */
enum clv_status output_plan(struct output_list *list, struct outputs *outputs, const struct input_list *inputs,
                            const char *folder, bool overlays, enum existing existing, const struct shard *shard,
                            struct clv_error *err) CLV_CHECK;

/* What an earlier run wrote into a folder that is an input as well: leaves out of the inputs that come from folders
 * those that lie where the output of another one goes and that may be it by their size and, of masks, by their values
 * below n_labels. */
enum clv_status output_plan_leave_out_own(struct input_list *inputs, const char *folder, int32_t n_labels,
                                          const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

#endif
