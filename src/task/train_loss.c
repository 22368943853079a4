/* --loss: what an error costs, and how losses are told. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "mrf/energy.h"
#include "task/train.h"

static size_t n_own_images(const struct train_data *data)
{
    return clv_dataset_size(data->dataset) - data->n_mirrored;
}

/* What a feature file says; else what found more of the common categories in photographs (MSRC, held-out halves of a
 * fold). */
static bool counts_by_default(const struct train_data *data)
{
    return clv_dataset_counts_errors(data->dataset) ||
           (data->has_recipe && data->recipe.nodes == CLV_NODES_PATCHES && clv_dataset_n_labels(data->dataset) > 2 &&
            data->n_masks == n_own_images(data));
}

/* Whether all labels that there are have the same share of the loss: no weights by shares change that. */
static enum clv_status look_for_rare(bool *has_rare, const struct clv_dataset *dataset, struct clv_error *err)
{
    size_t n_labels = (size_t)clv_dataset_n_labels(dataset);
    double *share = array_zalloc(n_labels, sizeof *share), least = INFINITY, most = 0;
    if (!share)
        return fail_memory(err);
    for (size_t i = 0; i < clv_dataset_size(dataset); i++) {
        struct clv_problem problem = clv_dataset_problem(dataset, i);
        label_shares_add(share, &problem, (int32_t)n_labels);
    }
    for (size_t b = 0; b < n_labels; b++) {
        least = share[b] > 0 ? fmin(least, share[b]) : least;
        most = fmax(most, share[b]);
    }
    *has_rare = most - least > 1e-5 * most; /* theta are floats */
    array_free(share);
    return CLV_OK;
}

enum clv_status train_loss_weigh(struct train_data *data, const struct clv_train_options *options,
                                 struct clv_error *err)
{
    bool counts = options->loss == CLV_AUTO ? counts_by_default(data) : options->loss == CLV_LOSS_COUNTS;
    if (options->loss == CLV_LOSS_COUNTS && data->n_masks < n_own_images(data))
        return fail(err, CLV_ERR_USAGE, "--loss counts: %zu images come without masks, and their guesses are balanced",
                    n_own_images(data) - data->n_masks);
    bool weighs = options->label_weights > 0 || options->label_weights < 0;
    data->label_weights = fmax(options->label_weights, 0);
    data->counts_pixels = counts && data->has_recipe;
    bool has_rare = true;
    enum clv_status status = clv_dataset_weigh(data->dataset, counts ? CLV_LOSS_COUNTS : CLV_LOSS_BALANCED, err);
    if (status == CLV_OK && weighs && data->n_masks)
        status = look_for_rare(&has_rare, data->dataset, err);
    if (status == CLV_OK && !has_rare)
        status = fail(err, CLV_ERR_USAGE, "--label-weights has no effect: all labels weigh the same already%s",
                      counts ? "" : ", by the balanced loss (--loss counts)");
    return status == CLV_OK && options->label_weights > 0
               ? clv_dataset_weigh_labels(data->dataset, options->label_weights, err)
               : status;
}

/* What all errors would weigh in an example, on the mean over those with truth. */
static double mean_total_theta(const struct clv_dataset *dataset)
{
    size_t n_labels = (size_t)clv_dataset_n_labels(dataset);
    double total = 0, n_known = 0;
    for (size_t i = 0; i < clv_dataset_size(dataset); i++) {
        struct clv_problem problem = clv_dataset_problem(dataset, i);
        for (size_t k = 0; problem.theta && k < (size_t)problem.n_nodes * n_labels; k++)
            total += (double)problem.theta[k];
        n_known += problem.theta != NULL;
    }
    return total / n_known;
}

struct loss_unit train_loss_unit(const struct train_data *data, const struct clv_dataset *dataset)
{
    if (!clv_dataset_counts_errors(dataset))
        return (struct loss_unit){"weighted Hamming", "train_weighted_hamming", 1};
    double scale = 1 / mean_total_theta(dataset);
    return data->counts_pixels ? (struct loss_unit){"node error by pixels", "train_pixel_error", scale}
                               : (struct loss_unit){"node error", "train_node_error", scale};
}
