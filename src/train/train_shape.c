/* Chooses the form of the pairwise terms that a training learns, weighs its loss (--loss, --label-weights), and reads
 * and checks the model that it starts from (--init). Start at train_shape_choose. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cleave/train.h"
#include "feature/dataset/dataset.h"
#include "intake/intake.h"
#include "learn/common/common.h"
#include "learn/learners.h"
#include "mrf/problem.h"
#include "train/train.h"

static const char *form_name(enum clv_pairwise form)
{
    return form == CLV_PAIRWISE_FULL ? "full" : form == CLV_PAIRWISE_POTTS ? "potts" : "none";
}

/* Returns an option with which pairwise terms of this data can be learned although the intended form cannot: full
 * tables if the learner trains them on this graph (chains; crf also trees), otherwise a learner of any graph. */
static const char *other_option(char space[64], const struct clv_weight_layout *layout,
                                const struct clv_learner *learner, enum clv_graph graph)
{
    if (learner_trains(learner, CLV_PAIRWISE_FULL, layout->n_labels, graph))
        return "--pairwise full";
    snprintf(space, 64, "--learner %s", learner_of_any_graph()->name);
    return space;
}

enum clv_status train_shape_choose(struct clv_weight_layout *layout, const struct clv_train_options *options,
                                   const struct clv_dataset *dataset, struct clv_error *err)
{
    const struct clv_learner *learner = options->learner;
    enum clv_pairwise meant = dataset_pairwise(dataset);
    enum clv_graph graph;
    char space[64];
    MUST(clv_learner_layout(layout, learner, dataset, err));
    MUST(dataset_graph(&graph, dataset, err));
    FAIL_IF(options->pairwise == (int)meant && layout->pairwise != meant, CLV_ERR_USAGE,
            "--pairwise %s: %s does not learn them of %d labels here; %s learns some", form_name(meant), learner->name,
            layout->n_labels, other_option(space, layout, learner, graph));
    if (options->pairwise != CLV_AUTO)
        layout->pairwise = (enum clv_pairwise)options->pairwise;
    else if (layout->pairwise != meant)
        report_message(
            options->progress, CLV_NOTE, "%s learns no %s couplings of %d labels: --pairwise %s%s; %s learns %s",
            learner->name, form_name(meant), layout->n_labels, form_name(layout->pairwise),
            layout->pairwise == CLV_PAIRWISE_NONE ? ", each region by itself" : "",
            other_option(space, layout, learner, graph),
            learner_trains(learner, CLV_PAIRWISE_FULL, layout->n_labels, graph) ? "a score for each pair of labels"
                                                                                : "them");
    FAIL_IF(layout->pairwise != CLV_PAIRWISE_NONE && layout->n_edge_features < 1, CLV_ERR_USAGE,
            "--pairwise %s: the data has no edges", form_name(layout->pairwise));
    return CLV_OK;
}

/* --loss: the weights of errors, and how losses are reported. */

static size_t n_own_images(const struct train_data *data)
{
    return clv_dataset_size(data->dataset) - data->n_mirrored;
}

/* The default of --label-weights for fine regions. Pixel accuracy and mean accuracy of labels by ssvm on four of twelve
 * training sections in electron microscopy, trained on the others: balanced loss 81.3 and 76.6 %; counts with exponent
 * 0.5 85.8 and 72.9 %, 0.3 86.8 and 69.5 %, 0 87.2 and 64.7 %. */
#define FINE_LABEL_WEIGHTS .3

/* Whether the loss counts errors by default: if a feature file says so; for patches, with which counting found more of
 * the common categories in photographs (MSRC, held-out halves of a fold); and for fine superpixels, with which it found
 * more pixels. */
static bool counts_by_default(const struct train_data *data)
{
    return dataset_counts_errors(data->dataset) ||
           (data->has_recipe && (data->recipe.nodes == CLV_NODES_PATCHES || data->is_fine) &&
            clv_dataset_n_labels(data->dataset) > 2 && data->n_masks == n_own_images(data));
}

/* Sets *has_rare unless all labels that occur have the same share of the loss, in which case label weights change
 * nothing. */
static enum clv_status find_rare_labels(bool *has_rare, const struct clv_dataset *dataset, struct clv_error *err)
{
    size_t n_labels = (size_t)clv_dataset_n_labels(dataset);
    OWNED_ARRAY double *share = array_zalloc(n_labels, sizeof *share);
    double least = INFINITY, most = 0;
    NEED(share);
    for (size_t i = 0; i < clv_dataset_size(dataset); i++) {
        struct clv_problem problem = clv_dataset_problem(dataset, i);
        label_shares_add(share, &problem, (int32_t)n_labels);
    }
    for (size_t b = 0; b < n_labels; b++) {
        least = share[b] > 0 ? fmin(least, share[b]) : least;
        most = fmax(most, share[b]);
    }
    *has_rare = most - least > 1e-5 * most; /* theta are floats */
    return CLV_OK;
}

enum clv_status train_loss_weigh(struct train_data *data, const struct clv_train_options *options,
                                 struct clv_error *err)
{
    bool counts = options->loss == CLV_AUTO ? counts_by_default(data) : options->loss == CLV_LOSS_COUNTS;
    FAIL_IF(options->loss == CLV_LOSS_COUNTS && data->n_masks < n_own_images(data), CLV_ERR_USAGE,
            "--loss counts: %s without masks, and their pseudo-labels are balanced",
            n_of(n_own_images(data) - data->n_masks, "image comes", "images come").text);
    bool weighs = options->label_weights > 0 || options->label_weights < 0;
    data->label_weights = fmax(options->label_weights, 0);
    if (data->is_fine && counts && options->loss == CLV_AUTO && !weighs) {
        data->label_weights = FINE_LABEL_WEIGHTS;
        report_message(options->progress, CLV_NOTE,
                       "errors count by pixels, in rare labels more: --loss counts --label-weights %g",
                       FINE_LABEL_WEIGHTS);
    }
    data->counts_pixels = counts && data->has_recipe;
    bool has_rare = true;
    MUST(dataset_weigh(data->dataset, counts ? CLV_LOSS_COUNTS : CLV_LOSS_BALANCED, err));
    if (weighs && data->n_masks)
        MUST(find_rare_labels(&has_rare, data->dataset, err));
    FAIL_IF(!has_rare && counts, CLV_ERR_USAGE,
            "--label-weights cannot be used with this dataset: no label is rare in it; leave it out");
    FAIL_IF(!has_rare, CLV_ERR_USAGE,
            "--label-weights cannot be used with the balanced loss, which weighs labels equally; add --loss counts");
    return data->label_weights > 0 ? dataset_weigh_labels(data->dataset, data->label_weights, err) : CLV_OK;
}

/* Returns the total theta of an example, averaged over the examples with ground truth. */
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
    if (!dataset_counts_errors(dataset))
        return (struct loss_unit){"weighted Hamming", "train_weighted_hamming", 1};
    double scale = 1 / mean_total_theta(dataset);
    return data->counts_pixels ? (struct loss_unit){"node error by pixels", "train_pixel_error", scale}
                               : (struct loss_unit){"node error", "train_node_error", scale};
}

/* --init: the weights of a model to start from, and for images its recipe. */

enum clv_status train_init_read(struct clv_model *start, const struct clv_train_options *options, struct clv_error *err)
{
    if (!options->init)
        return CLV_OK;
    const struct clv_learner *learner = options->learner;
    FAIL_IF(!learner->takes_init, CLV_ERR_USAGE, "--init: %s cannot start from given weights", learner->name);
    MUST(clv_model_read(start, options->init, err));
    bool extracts = !is_tensor_file(options->data);
    FAIL_IF(extracts && !start->has_recipe, CLV_ERR_USAGE,
            "--init: %s was learned on features from elsewhere, which images do not have", options->init);
    return CLV_OK;
}

static bool same_mixture(const float *a, const float *b)
{
    bool same = a && b;
    for (size_t k = 0; same && k < CLV_MIXTURE_SIZE; k++)
        same = a[k] == b[k];
    return same;
}

/* Whether two recipes have the same codebooks; a codebook without words equals any other. */
static bool same_codebooks(const struct clv_recipe *a, const struct clv_recipe *b)
{
    bool same = a->n_scales == b->n_scales && a->sift == b->sift && a->word_search == b->word_search &&
                a->kernel_map == b->kernel_map;
    for (int32_t s = 0; same && s < a->n_scales; s++)
        same = !a->codebooks[s].n_words || (a->codebooks[s].n_words == b->codebooks[s].n_words &&
                                            memcmp(a->codebooks[s].centres, b->codebooks[s].centres,
                                                   (size_t)a->codebooks[s].n_words * CLV_DESCRIPTOR_SIZE) == 0);
    for (int32_t s = 0; same && s < a->n_scales && a->mixtures[s]; s++)
        same = same_mixture(a->mixtures[s], b->mixtures[s]);
    return same;
}

static enum clv_status differ(const struct clv_train_options *options, const char *what, int32_t n_of_model,
                              int32_t n_of_data, struct clv_error *err)
{
    return fail(err, CLV_ERR_DATA, "--init: %s has %d %s, the data %d", options->init, n_of_model, what, n_of_data);
}

enum clv_status train_init_use(struct clv_training *training, const struct clv_model *start,
                               const struct clv_train_options *options, const struct train_data *data,
                               struct clv_error *err)
{
    static const char *const forms[] = {
        [CLV_PAIRWISE_NONE] = "none", [CLV_PAIRWISE_POTTS] = "potts", [CLV_PAIRWISE_FULL] = "full"};
    const struct clv_weight_layout *model_layout = &start->layout, *data_layout = &training->layout;
    if (!options->init)
        return CLV_OK;
    if (model_layout->n_labels != data_layout->n_labels)
        return differ(options, "labels", model_layout->n_labels, data_layout->n_labels, err);
    if (model_layout->n_features != data_layout->n_features)
        return differ(options, "node features", model_layout->n_features, data_layout->n_features, err);
    if (model_layout->n_edge_features != data_layout->n_edge_features)
        return differ(options, "edge features", model_layout->n_edge_features, data_layout->n_edge_features, err);
    FAIL_IF(model_layout->pairwise != data_layout->pairwise, CLV_ERR_USAGE,
            "--init: %s has pairwise terms \"%s\", to be learned are \"%s\" (--pairwise)", options->init,
            forms[model_layout->pairwise], forms[data_layout->pairwise]);
    for (int32_t label = 0; label < data_layout->n_labels; label++)
        FAIL_IF(strcmp(start->labels.names[label], data->labels.names[label]) != 0, CLV_ERR_DATA,
                "--init: label %d of %s is \"%s\", the data's \"%s\"", label, options->init, start->labels.names[label],
                data->labels.names[label]);
    FAIL_IF(start->has_recipe && data->has_recipe && start->recipe.n_scales &&
                !same_codebooks(&start->recipe, &data->recipe),
            CLV_ERR_DATA, "--init: %s has other visual words than %s", options->init, options->data);
    training->init = start->w;
    return CLV_OK;
}
