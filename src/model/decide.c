/* Chooses the labels of least expected error, from labellings sampled from the model by perturb-and-MAP (Papandreou &
 * Yuille 2011). Start at clv_model_decide. */
#include <math.h>
#include <stdbool.h>

#include "base/base.h"
#include "infer/oracle/oracle.h"
#include "model/model.h"

enum { DRAWS_AT_ONCE = 16 };

/* If z is a labelling sampled from the model, the label a of node i costs, in the balanced error (see balanced_theta),
 *
 *     sum_(b != a) v_i [z_i = b] / (K'(z) V_b(z)),    V_b(z) = sum_j v_j [z_j = b] pixels, K'(z) labels present,
 *
 * so the expected cost is least for the label with the largest
 *
 *     gain_i(b) = E [z_i = b] / (K' V_b).
 *
 * With two labels whose areas hardly vary, a node is foreground if q_i / V_1 > (1 - q_i) / V_0, or q_i > V_1 / V: the
 * threshold of the marginal is not 1/2 but the foreground's expected share of the image.
 *
 * If a learner weighs every pixel of label b by 1 / (2 V_b) in training, its marginals contain this factor already:
 * they are those of images in which foreground and background are equally large, so gain_i(b) = E [z_i = b], and the
 * threshold is 1/2. */
static enum clv_status add_gains(double *gain, const struct clv_field *field, const float *area, const int32_t *z,
                                 struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes, n_labels = (size_t)field->n_labels;
    OWNED_ARRAY double *pixels = array_zalloc(n_labels, sizeof *pixels);
    double n_present = 0;
    NEED(pixels);
    for (size_t i = 0; i < n; i++)
        pixels[z[i]] += area ? (double)area[i] : 1;
    for (size_t b = 0; b < n_labels; b++)
        n_present += pixels[b] > 0;
    for (size_t i = 0; i < n; i++)
        if (pixels[z[i]] > 0)
            gain[i * n_labels + (size_t)z[i]] += 1 / (n_present * pixels[z[i]]);
    return CLV_OK;
}

void clv_decision_defaults(struct clv_decision_options *options, const struct clv_model *model)
{
    enum clv_scores scores = clv_model_scores(model);
    *options = (struct clv_decision_options){
        .n_samples = 100, .is_balanced = scores != CLV_SCORES_LIKELIHOOD, .scale = scores == CLV_SCORES_MARGIN ? 0 : 1};
}

enum clv_status clv_model_decide(int32_t *y, const struct clv_model *model, const struct clv_problem *problem,
                                 struct clv_oracle *oracle, const struct clv_decision_options *options,
                                 struct clv_error *err)
{
    OWNED(scored_field_release) struct clv_field field = {0};
    struct clv_decision_options defaults;
    clv_decision_defaults(&defaults, model);
    MUST(model_field_init(&field, model, problem, err));
    return model_field_decide(y, &field, problem->area, oracle, options ? options : &defaults, err);
}

enum clv_status model_field_decide(int32_t *y, struct clv_field *field, const float *area, struct clv_oracle *oracle,
                                   const struct clv_decision_options *options, struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes, n_labels = (size_t)field->n_labels;
    OWNED_ARRAY double *gain = NULL;
    OWNED_ARRAY int32_t *z = NULL;
    FAIL_IF(options->n_samples == 0 || !(options->scale >= 0 && isfinite(options->scale)), CLV_ERR_USAGE,
            "a decision from %u samples at scale %g", options->n_samples, options->scale);
    NEED(gain = array_zalloc(n * n_labels, sizeof *gain));
    if (!options->is_balanced)
        NEED(z = array_alloc(n, DRAWS_AT_ONCE * sizeof *z));
    model_scale_scores(field, options->scale);
    struct marginals_found found = {.marginals = gain}; /* the gains of a balanced model are marginals */
    if (options->is_balanced)
        MUST(field_marginals(oracle, &found, field,
                             &(struct marginals_options){CLV_MARGINALS_SAMPLED, options->seed, options->n_samples},
                             err));
    for (uint32_t draw = 0; draw < options->n_samples && !options->is_balanced; draw += DRAWS_AT_ONCE) {
        uint32_t count = options->n_samples - draw < DRAWS_AT_ONCE ? options->n_samples - draw : DRAWS_AT_ONCE;
        MUST(clv_perturbed_map(oracle, z, NULL, field, options->seed, draw, count, err));
        for (uint32_t l = 0; l < count; l++)
            MUST(add_gains(gain, field, area, z + l * n, err));
    }
    for (size_t i = 0; i < n; i++) {
        y[i] = 0;
        for (size_t b = 1; b < n_labels; b++)
            if (gain[i * n_labels + b] > gain[i * n_labels + (size_t)y[i]])
                y[i] = (int32_t)b;
    }
    return CLV_OK;
}

const char *const decoding_names[] = {"auto", "map", "marginal-map", "marginals", NULL};
const char *const decoding_names_of_images[] = {"auto", "map", "marginal-map", "marginals", "min-loss", NULL};

void decoding_choose(struct clv_decoding *decoding, enum clv_decoding_choice choice)
{
    static const enum clv_decoding_rule rules[] = {[CLV_DECODING_MAP] = CLV_DECODE_MAP,
                                                   [CLV_DECODING_MARGINAL_MAP] = CLV_DECODE_MARGINAL_MAP,
                                                   [CLV_DECODING_MARGINALS] = CLV_DECODE_MARGINALS};
    if (choice == CLV_DECODING_AUTO || choice == CLV_DECODING_MIN_LOSS)
        return;
    decoding->rule = rules[choice];
    if (!(decoding->hidden_temperature > 0))
        decoding->hidden_temperature = 1;
}
