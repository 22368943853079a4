/* Memory for one simulated problem, filled again and again; datasets copy it. */
#ifndef SYNTH_PROBLEM_BUFFER_H
#define SYNTH_PROBLEM_BUFFER_H

#include "cleave/features.h"

struct problem_buffer {
    struct clv_problem problem; /* its arrays are those below */
    int64_t *row;
    int32_t *index;
    float *value;
    int32_t (*edges)[2];
    float *edge_features; /* zeros at first */
    float *area;          /* 1 each */
    int32_t *label;
    float *theta;
    int32_t n_labels;
};
void problem_buffer_release(struct problem_buffer *buffer);

/* `problem` has the sizes; every node gets n_entries features, 1 at first. */
enum clv_status problem_buffer_init(struct problem_buffer *buffer, const struct clv_problem *problem, int32_t n_labels,
                                    int32_t n_entries, struct clv_error *err) CLV_CHECK;

/* label[i] = y[i], or CLV_UNKNOWN where is_hidden[i] (may be NULL: none is); theta is 1 at a known label, 0 else. */
void problem_buffer_label(struct problem_buffer *buffer, const int32_t *y, const uint8_t *is_hidden);

/* An empty dataset whose edges want full tables and whose theta counts wrong nodes. */
enum clv_status simulated_dataset_new(struct clv_dataset **dataset, int32_t n_labels, struct clv_error *err) CLV_CHECK;

#endif
