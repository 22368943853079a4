/* The state of a training in its checkpoints: arrays by name, and the curve. */
#ifndef LEARN_STATE_H
#define LEARN_STATE_H

#include "data/tensors.h"
#include "learn/common/checkpoint.h"

/* Which numbers may be read. Counts and places are any: their learner knows which ones there are. */
enum state_range {
    STATE_FINITE,
    STATE_NOT_NEGATIVE, /* and finite */
    STATE_NUMBER,       /* or an infinity */
};

struct state_field {
    const char *name;
    enum clv_dtype dtype; /* CLV_F64, CLV_F32 or CLV_I64 */
    size_t n;
    void *values; /* [n] */
    enum state_range range;
};

#define STATE_MAX_FIELDS 24

/* Writes a checkpoint of at most STATE_MAX_FIELDS fields and the result's curve. */
enum clv_status state_write(struct checkpoints *checkpoints, const struct state_field *fields, size_t n,
                            const struct clv_training_result *result, struct clv_error *err) CLV_CHECK;

/* Fills the fields. CLV_ERR_DATA names file, array and what is wrong with it. */
enum clv_status state_read(const struct state_field *fields, size_t n, const struct clv_tensors *tensors,
                           const struct checkpoints *checkpoints, struct clv_error *err) CLV_CHECK;

/* Fills the curve of a fresh result. */
enum clv_status state_read_curve(struct clv_training_result *result, const struct clv_tensors *tensors,
                                 const struct checkpoints *checkpoints, struct clv_error *err) CLV_CHECK;

/* CLV_ERR_DATA: the checkpoint stands where the training never does, in so many words. */
enum clv_status state_refuse(const struct checkpoints *checkpoints, const char *what, struct clv_error *err) CLV_CHECK;

#endif
