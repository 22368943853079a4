/* Decoding for learners: one per thread, its memory grows and is kept. */
#ifndef LEARN_DECODER_H
#define LEARN_DECODER_H

#include "cleave/infer.h"
#include "feature/dataset/loaded_item.h"

struct decoder {
    struct clv_oracle *oracle;
    struct clv_field field;
    int32_t *y;                       /* [n_nodes] the labelling found */
    const struct clv_dataset *source; /* of the problems, see decoders_watch; NULL at first */
    uint8_t *is_visible;              /* [n_nodes] of decode_by */
    struct loaded_item loaded;        /* an item of a dataset, until the next one is loaded */
    size_t visible_capacity, unary_capacity, pairwise_capacity, y_capacity;
};

/* n decoders; *decoders is null on failure. */
enum clv_status decoders_new(struct decoder **decoders, int n, enum clv_engine engine, struct clv_error *err) CLV_CHECK;
void decoders_free(struct decoder *decoders, int n);

/* Problems come from the dataset from here on: it is notified of each access (dataset_looked_at). */
void decoders_watch(struct decoder *decoders, int n, const struct clv_dataset *source);

/* y = argmax_y f(y) over all nodes: what segmenting does. */
enum clv_status decode(struct decoder *self, const struct clv_problem *problem, const struct clv_shape *shape,
                       const double *w, struct clv_error *err) CLV_CHECK;

/* The same by a rule (NULL: decode); nodes of unknown label are the hidden ones. */
enum clv_status decode_by(struct decoder *self, const struct clv_decoding *decoding, const struct clv_problem *problem,
                          const struct clv_shape *shape, const double *w, struct clv_error *err) CLV_CHECK;

/* The same for training: nodes of unknown label are left out. They and their edges score nothing, and y is CLV_UNKNOWN
 * there. *score (may be NULL) is the field's maximum. decode_augmented maximises f(y) + L(y) - L(0), where L counts
 * known nodes only; L(0) is the loss of labelling everything 0 for two labels, else nothing (clv_field_add_loss). The
 * field stays loaded for field_expectation. */
enum clv_status decode_known(struct decoder *self, double *score, const struct clv_problem *problem,
                             const struct clv_shape *shape, const double *w, struct clv_error *err) CLV_CHECK;
enum clv_status decode_augmented(struct decoder *self, double *score, const struct clv_problem *problem,
                                 const struct clv_shape *shape, const double *w, struct clv_error *err) CLV_CHECK;

/* Load the fields that decode and decode_known solve and give y its capacity, for callers who change the unaries before
 * they solve. */
enum clv_status decoder_load(struct decoder *self, const struct clv_problem *problem, const struct clv_shape *shape,
                             const double *w, struct clv_error *err) CLV_CHECK;
enum clv_status decoder_load_known(struct decoder *self, const struct clv_problem *problem,
                                   const struct clv_shape *shape, const double *w, struct clv_error *err) CLV_CHECK;

/* The loaded field's score of the true labels of the known nodes. */
double decoder_truth_score(const struct decoder *self, const struct clv_problem *problem);

/* L(y) over known nodes. */
double known_loss(const struct clv_problem *problem, int32_t n_labels, const int32_t *y);

#endif
