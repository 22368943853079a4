#include "cli/inspect/inspect_sparsity.h"
#include "cli/common/print_values.h"
#include "data/tensors.h"
#include "model/attachment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const double *inspect_variances(const struct clv_model *model)
{
    const struct clv_tensor *tensor = clv_model_attached(model, CLV_VARIANCE);
    bool fits = tensor && tensor->dtype == CLV_F64 && tensor->n_dimensions == 1 &&
                tensor->shape[0] == (int64_t)clv_shape_size(&model->shape);
    return fits ? tensor->data : NULL;
}

size_t inspect_count_weights(const struct clv_model *model, double threshold)
{
    size_t size = clv_shape_size(&model->shape), n = 0;
    double largest = 0;
    for (size_t k = 0; k < size; k++)
        largest = fmax(largest, fabs(model->w[k]));
    for (size_t k = 0; k < size; k++)
        n += fabs(model->w[k]) > threshold * largest;
    return n;
}

/* Least and largest variance. */
static void find_range(double *least, double *most, const double *variances, size_t n)
{
    *least = INFINITY;
    *most = 0;
    for (size_t k = 0; k < n; k++) {
        *least = fmin(*least, variances[k]);
        *most = fmax(*most, variances[k]);
    }
}

void inspect_sparsity_print(const struct clv_model *model, double threshold)
{
    const double *variances = inspect_variances(model);
    const char *support = clv_record_get(&model->record, "support_labellings");
    const char *kl = clv_record_get(&model->record, "kl"), *norm = clv_record_get(&model->record, "kl_norm");
    size_t size = clv_shape_size(&model->shape), n = inspect_count_weights(model, threshold);
    printf("sparsity      %zu weights (%.2f %%) above %g of the largest", n, 100 * (double)n / (double)size, threshold);
    printf(support ? "; %s labellings support them\n" : "%s\n", support ? support : "");
    if (!variances)
        return;
    double least, most;
    find_range(&least, &most, variances, size);
    printf("posterior     variances %.3g to %.3g", least, most);
    if (kl && norm)
        printf(", KL from the prior %.6g, KL-norm %.6g", strtod(kl, NULL), strtod(norm, NULL));
    printf("\n");
}

void inspect_sparsity_put(struct text *text, const struct clv_model *model, double threshold)
{
    const double *variances = inspect_variances(model);
    size_t size = clv_shape_size(&model->shape), n = inspect_count_weights(model, threshold);
    text_printf(text, ",\"weights\":%zu,\"weights_above_threshold\":%zu", size, n);
    json_put_number(text, "threshold", threshold);
    if (!variances)
        return;
    double least, most;
    find_range(&least, &most, variances, size);
    text_put(text, ",\"posterior\":{\"least_variance\":");
    text_put_json_number(text, least);
    json_put_number(text, "largest_variance", most);
    text_put(text, "}");
}
