/* Sends the outcome of an input from its process to rank 0. Start at outcome_send. */
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "cluster/comm.h"
#include "intake/intake.h"

struct outcome *outcome_new(void)
{
    struct outcome *outcome = array_zalloc(1, sizeof *outcome);
    if (outcome)
        outcome->unmet = -1;
    return outcome;
}

void outcome_free(struct outcome *outcome)
{
    if (outcome)
        arrays_free(outcome->map_means, outcome->entry);
    array_free(outcome);
}

/* The beginning of a message with the outcome of an input; the means of its maps follow. */
struct message {
    size_t index, n_means;
    struct outcome outcome; /* its pointers are not valid */
};

enum clv_status outcome_send(struct batch *run, size_t index, const struct outcome *outcome, struct clv_error *err)
{
    const size_t n_means = outcome->map_means ? map_drift_size(&run->model->recipe) : 0,
                 size = sizeof(struct message) + n_means * sizeof(float);
    const struct message message = {.index = index, .n_means = n_means, .outcome = *outcome};
    OWNED_ARRAY char *bytes = array_alloc(size, 1);
    NEED(bytes);
    memcpy(bytes, &message, sizeof message);
    array_put(bytes + sizeof message, outcome->map_means, n_means, sizeof(float));
    comm_deal_hand_in(run->deal, bytes, size);
    return CLV_OK;
}

enum clv_status outcome_unpack(struct outcome **outcome, size_t *index, const void *bytes, size_t size,
                               struct clv_error *err)
{
    struct message message;
    OWNED(outcome_drop) struct outcome *result = outcome_new();
    NEED(result && bytes && size >= sizeof message);
    memcpy(&message, bytes, sizeof message);
    *index = message.index;
    *result = message.outcome;
    result->map_means = NULL;
    result->entry = NULL;
    result->error.kind = NULL; /* an address in the other process */
    if (message.n_means)
        NEED(result->map_means = array_copy((const char *)bytes + sizeof message, message.n_means, sizeof(float)));
    *outcome = TAKE(result);
    return CLV_OK;
}
