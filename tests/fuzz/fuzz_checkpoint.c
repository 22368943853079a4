#include <stdlib.h>
#include <string.h>

#include "cleave/learn.h"
#include "data/data.h"
#include "fuzz/fuzz.h"
#include "fuzz/memory_file.h"
#include "fuzz/small_training.h"
#include "fuzz/tensor_file.h"

/* The learner that the checkpoint is of, if there is one; else any. */
static const char *learner_of(const char *path)
{
    struct clv_tensors *tensors;
    const struct clv_learner *learner = NULL;
    if (clv_tensors_open(&tensors, path, NULL) == CLV_OK) {
        const char *name = clv_tensors_metadata(tensors, "learner");
        learner = name ? clv_learner_find(name) : NULL;
        clv_tensors_close(tensors);
    }
    return learner ? learner->name : "mpmap";
}

/* A training goes on from any bytes to its end, or says in a line why not. */
static void check_file(const uint8_t *data, size_t size)
{
    char path[64];
    struct clv_error error = {0};
    int fd = memory_file(path, data, size);
    if (fd < 0)
        return;
    enum clv_status status = small_training(learner_of(path), path, 1, NULL, &error);
    FUZZ_CHECK(status == CLV_OK || (error.message[0] && !strchr(error.message, '\n')));
    close(fd);
}

FUZZ_TARGET(checkpoint)
{
    check_as_is_and_repaired(data, size, check_file);
    return 0;
}
