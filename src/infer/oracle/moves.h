/* What alpha-expansion and alpha-beta swap share. */
#ifndef INFER_MOVES_H
#define INFER_MOVES_H

#include "cleave/infer.h"

static inline double pair_score(const struct clv_field *field, int32_t edge, int32_t a, int32_t b)
{
    if (field->form == CLV_PAIRWISE_POTTS)
        return a == b ? 0 : -field->pairwise[edge];
    return clv_field_table(field, edge)[(size_t)a * (size_t)field->n_labels + (size_t)b];
}

/* y = the best label of each node by itself, the lowest at ties. More than two labels. */
void start_apart(int32_t *y, const struct clv_field *field);

#endif
