/* Sets the label costs of a model of two stages: the prices that labels pay for being in an image at all. */
#include "learn/stages/stages.h"

#include "base/base.h"
#include "model/model.h"

enum clv_status stages_check_costs(const struct clv_training *training, const char *option, struct clv_error *err)
{
    if (training->layout.n_labels < 3)
        return fail(err, CLV_ERR_USAGE, "--%s: of two labels, which are in nearly all images, neither costs", option);
    FAIL_IF(!training->n_examples, CLV_ERR_USAGE, "--%s: no image has a mask to learn from which labels it has",
            option);
    return CLV_OK;
}

enum clv_status stages_price(struct clv_model *model, const double *presence, double label_costs,
                             const struct clv_training *training, const double *w, struct clv_error *err)
{
    double size;
    if (!presence)
        return CLV_OK;
    MUST(stages_score_size(&size, training, w, err));
    return label_costs_attach(model, presence, size * label_costs, err);
}
