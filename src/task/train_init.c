/* --init: the weights of a model to start from, and for images its features. */
#include <string.h>

#include "base/error.h"
#include "task/train.h"
#include "task/training_set.h"

enum clv_status train_init_read(struct clv_model *start, const struct clv_train_options *options, struct clv_error *err)
{
    if (!options->init)
        return CLV_OK;
    const struct clv_learner *learner = options->learner;
    if (!learner->takes_init)
        return fail(err, CLV_ERR_USAGE, "--init: %s cannot start from given weights", learner->name);
    enum clv_status status = clv_model_read(start, options->init, err);
    if (status != CLV_OK)
        return status;
    bool extracts = !is_tensor_file(options->data);
    if (extracts && !start->has_recipe)
        return fail(err, CLV_ERR_USAGE, "--init: %s was learned on features from elsewhere, which images do not have",
                    options->init);
    if (extracts && options->recipe_given)
        return fail(err, CLV_ERR_USAGE, "--%s: features are those of the model %s", options->recipe_given,
                    options->init);
    return CLV_OK;
}

static bool same_mixture(const float *a, const float *b)
{
    bool same = a && b;
    for (size_t k = 0; same && k < CLV_MIXTURE_SIZE; k++)
        same = a[k] == b[k];
    return same;
}

/* Those of the start; without words there are none. */
static bool same_codebooks(const struct clv_recipe *a, const struct clv_recipe *b)
{
    bool same = a->n_scales == b->n_scales && a->sift == b->sift && a->kernel_map == b->kernel_map;
    for (int32_t s = 0; same && s < a->n_scales; s++)
        same = !a->codebooks[s].n_words || (a->codebooks[s].n_words == b->codebooks[s].n_words &&
                                            memcmp(a->codebooks[s].centres, b->codebooks[s].centres,
                                                   (size_t)a->codebooks[s].n_words * CLV_DESCRIPTOR_SIZE) == 0);
    for (int32_t s = 0; same && s < a->n_scales && a->mixtures[s]; s++)
        same = same_mixture(a->mixtures[s], b->mixtures[s]);
    return same;
}

static enum clv_status differ(const struct clv_train_options *options, const char *what, int32_t there, int32_t here,
                              struct clv_error *err)
{
    return fail(err, CLV_ERR_DATA, "--init: %s has %d %s, the data %d", options->init, there, what, here);
}

enum clv_status train_init_use(struct clv_training *training, const struct clv_model *start,
                               const struct clv_train_options *options, const struct train_data *data,
                               struct clv_error *err)
{
    static const char *const forms[] = {
        [CLV_PAIRWISE_NONE] = "none", [CLV_PAIRWISE_POTTS] = "potts", [CLV_PAIRWISE_FULL] = "full"};
    const struct clv_shape *there = &start->shape, *here = &training->shape;
    if (!options->init)
        return CLV_OK;
    if (there->n_labels != here->n_labels)
        return differ(options, "labels", there->n_labels, here->n_labels, err);
    if (there->n_features != here->n_features)
        return differ(options, "node features", there->n_features, here->n_features, err);
    if (there->n_edge_features != here->n_edge_features)
        return differ(options, "edge features", there->n_edge_features, here->n_edge_features, err);
    if (there->pairwise != here->pairwise)
        return fail(err, CLV_ERR_USAGE, "--init: %s has pairwise terms \"%s\", to be learned are \"%s\" (--pairwise)",
                    options->init, forms[there->pairwise], forms[here->pairwise]);
    for (int32_t label = 0; label < here->n_labels; label++)
        if (strcmp(start->labels.names[label], data->labels.names[label]) != 0)
            return fail(err, CLV_ERR_DATA, "--init: label %d of %s is \"%s\", the data's \"%s\"", label, options->init,
                        start->labels.names[label], data->labels.names[label]);
    if (start->has_recipe && data->has_recipe && start->recipe.n_scales &&
        !same_codebooks(&start->recipe, &data->recipe))
        return fail(err, CLV_ERR_DATA, "--init: %s has other visual words than %s", options->init, options->data);
    training->init = start->w;
    return CLV_OK;
}
