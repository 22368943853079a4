/* Where a run's masks, overlays and the like go, checked as a whole before any image is read. */
#ifndef CLI_OUTPUT_PLAN_H
#define CLI_OUTPUT_PLAN_H

#include "cli/common/inputs.h"
#include "cli/common/options.h"
#include "cli/common/outputs.h"

/* What is written of an image besides its mask. */
enum output_kind {
    OUTPUT_OVERLAY,
    OUTPUT_CUTOUT,
    OUTPUT_SHAPES,  /* for another program: its text .. */
    OUTPUT_CLASSES, /* .. and its mask */
    N_OUTPUTS
};

/* Where outputs of a kind go: folder/<below><output><ending>; below NULL: none is wanted. */
struct output_place {
    const char *below, *ending;
};

struct output {
    char *mask, *beside[N_OUTPUTS]; /* paths; NULL where none is wanted */
    bool finished;
    char *problem; /* why there can be no output: it fails, the rest goes on; NULL: there is none */
};

struct output_list {
    struct output *items; /* [n], one per input */
    size_t n, n_finished, n_problems;
};
void output_list_release(struct output_list *list);

/* folder/<output><ending>, and what is wanted at places[N_OUTPUTS]; standard output if the folder is "-". Inputs whose
 * output's name is too long for a file, or would be another input's output, too, get a problem. Errors, before
 * anything is written: CLV_ERR_USAGE if a mask would be in a folder of the inputs, where it would be an image the next
 * time; folder is a file, an output exists (EXISTING_REFUSE), or is one of the inputs or their masks;
 * CLV_ERR_CREATE each. Adds the outputs to `outputs`. Of a shard the list has its block only, which others of the
 * inputs are still compared with. */
enum clv_status output_plan(struct output_list *list, struct outputs *outputs, const struct input_list *inputs,
                            const char *folder, const char *ending, const struct output_place *places,
                            enum existing existing, const struct shard *shard, struct clv_error *err) CLV_CHECK;

#endif
