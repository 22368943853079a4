/* Labels from scores: exact in forests and on narrow graphs, by loopy.c elsewhere. */
#include "infer/oracle/decoding.h"

#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "infer/chain/viterbi.h"
#include "infer/field_check.h"

/* Of bucket elimination: a few milliseconds. */
#define CELLS_MAX ((size_t)1 << 20)

static const char *const rule_names[CLV_N_DECODING_RULES] = {[CLV_DECODE_ORACLE] = "oracle",
                                                             [CLV_DECODE_MAP] = "map",
                                                             [CLV_DECODE_MARGINAL_MAP] = "marginal map",
                                                             [CLV_DECODE_MARGINALS] = "marginals",
                                                             [CLV_DECODE_MIN_ENTROPY] = "min entropy"};

const char *clv_decoding_rule_name(enum clv_decoding_rule rule)
{
    return (int)rule >= 0 && (int)rule < CLV_N_DECODING_RULES ? rule_names[rule] : "unknown";
}

void decoding_release(struct decoding_workspace *self)
{
    clv_forest_free(self->forest);
    loopy_release(&self->loopy);
    bucket_release(&self->bucket);
    min_entropy_release(&self->min_entropy);
    *self = (struct decoding_workspace){0};
}

enum clv_status decoding_check(const struct clv_decoding *decoding, struct clv_error *err)
{
    if ((int)decoding->rule < 0 || (int)decoding->rule >= CLV_N_DECODING_RULES)
        return fail(err, CLV_ERR_USAGE, "there is no decoding rule %d", (int)decoding->rule);
    if (decoding->rule == CLV_DECODE_MARGINAL_MAP &&
        !(decoding->hidden_temperature > 0 && isfinite(decoding->hidden_temperature)))
        return fail(err, CLV_ERR_USAGE, "a temperature of %g is not positive and finite", decoding->hidden_temperature);
    if (decoding->rule == CLV_DECODE_MIN_ENTROPY &&
        !(decoding->hidden_temperature >= 0 && decoding->hidden_temperature <= 1))
        return fail(err, CLV_ERR_USAGE, "a temperature of %g is not in 0 to 1", decoding->hidden_temperature);
    return CLV_OK;
}

/* Forward-backward, which for long tables is several times as fast as elimination: a shared one is exponentiated
 * once. */
static enum clv_status decode_chain(int32_t *y, const struct clv_field *field, struct clv_error *err)
{
    static const double nothing = 0;
    size_t n = (size_t)field->n_nodes, k = (size_t)field->n_labels;
    const struct clv_chain chain = {field->n_nodes, field->n_labels, field->is_shared, field->unary, field->pairwise};
    double *marginals = array_alloc(n, k * sizeof *marginals);
    if (!marginals)
        return fail_memory(err);
    enum clv_status status = clv_chain_marginals(marginals, NULL, NULL, &chain, err);
    for (size_t i = 0; i < n && !status; i++)
        y[i] = (int32_t)chain_best_label(&marginals[i * k], &nothing, 0, k);
    array_free(marginals);
    return status;
}

enum clv_status decoding_run(struct decoding_workspace *self, int32_t *y, const struct clv_field *field,
                             const uint8_t *is_visible, const struct clv_decoding *decoding, struct clv_error *err)
{
    if (decoding->rule == CLV_DECODE_MIN_ENTROPY)
        return min_entropy_map(y, &self->min_entropy, field, is_visible, decoding->hidden_temperature, err);
    if (decoding->rule == CLV_DECODE_MARGINALS && field->n_labels > 2 && field->n_labels <= CLV_CHAIN_MAX_LABELS &&
        field_is_chain(field))
        return decode_chain(y, field, err);
    double hidden_temperature = decoding->rule == CLV_DECODE_MAP ? 0 : 1, visible_temperature = 0;
    if (decoding->rule == CLV_DECODE_MARGINAL_MAP)
        hidden_temperature = decoding->hidden_temperature;
    if (decoding->rule == CLV_DECODE_MARGINALS)
        visible_temperature = 1;
    const struct clv_forest_options options = {
        .is_visible = is_visible,
        .visible_temperature = visible_temperature,
        .hidden_temperature = hidden_temperature,
    };
    bool fits;
    enum clv_status status = self->forest ? CLV_OK : clv_forest_new(&self->forest, err);
    if (!status)
        status = clv_forest_fits(self->forest, &fits, field, &options, err);
    if (status)
        return status;
    if (fits)
        return clv_forest_run(self->forest, NULL, NULL, NULL, y, field, &options, err);
    status = bucket_fits(&self->bucket, &fits, field, &options, CELLS_MAX, err);
    if (status)
        return status;
    return fits ? bucket_run(&self->bucket, NULL, NULL, NULL, y, field, &options, err)
                : loopy_decode(&self->loopy, y, field, is_visible, decoding, err);
}
