/* --mirror: mirror images teach, too. */
#include "base/array.h"
#include "base/error.h"
#include "feature/dataset/extract.h"
#include "task/train.h"

enum clv_status train_mirror_extract(struct train_data *data, const struct clv_set *set,
                                     const struct clv_train_options *options, int n_threads, struct clv_error *err)
{
    enum clv_status status =
        dataset_add_mirrored(data->dataset, set, &data->recipe, n_threads, &options->limits, options->progress, err);
    data->n_mirrored = clv_dataset_size(data->dataset) - set->n_items;
    return status;
}

enum clv_status train_mirror_use(int32_t **examples, struct clv_training *training, const struct train_data *data,
                                 struct clv_error *err)
{
    size_t n = training->n_examples, n_own = clv_dataset_size(data->dataset) - data->n_mirrored;
    int32_t *grown = array_realloc(*examples, 2 * n, sizeof *grown);
    if (!grown)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++)
        grown[n + i] = (int32_t)n_own + grown[i];
    *examples = grown;
    training->examples = grown;
    training->n_examples = 2 * n;
    return CLV_OK;
}
