/* Labels an image that fits into memory by a model: extracts its features, labels its nodes, paints them and refines
 * the borders. Start at label_example. */

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "feature/example/example.h"
#include "infer/infer.h"
#include "learn/refining/refining.h"
#include "refine/by_model/by_model.h"
#include "refine/refine.h"
#include "segment/segment.h"

void clv_segment_defaults(struct clv_segment_options *options)
{
    *options = (struct clv_segment_options){0};
}

static enum clv_status check(const struct clv_model *model, const struct clv_image *image, struct clv_error *err)
{
    FAIL_IF(!model->has_recipe, CLV_ERR_USAGE, "the model is of features made elsewhere, which no image has");
    if (!image->pixels || image->width < 1 || image->height < 1 || image->channels != 3)
        return fail(err, CLV_ERR_USAGE, "the image is %dx%d of %d channels (3 are needed)", image->width, image->height,
                    image->channels);
    return CLV_OK;
}

static enum clv_status label_nodes(int32_t *y, const struct clv_model *model, const struct clv_problem *problem,
                                   struct clv_oracle *oracle, const struct clv_segment_options *options,
                                   struct clv_error *err)
{
    struct clv_decision_options decision;
    if (options->n_samples < 1)
        return clv_model_predict(y, model, problem, oracle, err);
    clv_decision_defaults(&decision, model);
    decision.n_samples = (uint32_t)options->n_samples;
    decision.seed = options->seed;
    return clv_model_decide(y, model, problem, oracle, &decision, err);
}

bool label_refines(enum clv_refine_choice choice, const struct clv_model *model, int32_t width, int32_t height)
{
    bool is_large = working_count(&model->recipe, (double)width * height) < (double)width * height;
    bool is_by_net =
        refining_has_net(model) && !(model->first && refining_is_cut(model)); /* --pixel-net asked for it */
    return choice == CLV_REFINE_ALL || (choice == CLV_REFINE_LARGE && (is_large || is_by_net));
}

enum clv_status label_example(uint8_t *labels, const struct clv_model *model, const struct clv_image *image,
                              const struct clv_example *example, const struct map_reader *maps,
                              const struct clv_segment_options *options, struct clv_error *err)
{
    OWNED(oracle_drop) struct clv_oracle *created = NULL;
    OWNED_ARRAY int32_t *y = array_alloc((size_t)example->problem.n_nodes, sizeof *y);
    NEED(y);
    FAIL_IF(options->n_samples > 0 && options->refine == CLV_REFINE_ALL, CLV_ERR_USAGE,
            "labels of least expected loss cannot be refined, since refining takes the scores of the best labelling");
    if (!options->oracle)
        MUST(clv_oracle_new(&created, CLV_ENGINE_DEFAULT, err));
    struct clv_oracle *oracle = options->oracle ? options->oracle : created;
    bool refines = label_refines(options->refine, model, example->width, example->height) && options->n_samples < 1;
    if (!refines || !refining_is_by_net(model)) {
        MUST(label_nodes(y, model, &example->problem, oracle, options, err));
        MUST(labelled_image_paint(labels, example, y, model->layout.n_labels, err));
    }
    const struct segmented segmented = {
        .image = image, .example = example, .y = y, .painted = labels, .maps = maps, .model = model, .oracle = oracle};
    if (refines)
        MUST(segmented_refine(labels, &segmented, options->refining, err));
    return CLV_OK;
}

enum clv_status clv_segment(uint8_t *labels, const struct clv_model *model, const struct clv_image *image,
                            const struct clv_segment_options *options, struct clv_error *err)
{
    struct clv_segment_options changed;
    struct map_reader views[CLV_MAX_MAPS];
    const struct map_reader *maps;
    OWNED(clv_example_release) struct clv_example example = {0};
    OWNED_ARRAY uint8_t *result = NULL;
    MUST(check(model, image, err));
    clv_segment_defaults(&changed);
    changed = options ? *options : changed;
    maps = map_readers_of(views, changed.maps, model->recipe.n_maps);
    size_t n = (size_t)image->width * (size_t)image->height;
    MUST(example_extract(&example, image, maps, &model->recipe, err));
    result = array_alloc(n, 1);
    NEED(result);
    MUST(label_example(result, model, image, &example, maps, &changed, err));
    memcpy(labels, result, n);
    return CLV_OK;
}

static bool is_unmet(const struct clv_weight_layout *layout, const double *w, size_t feature)
{
    size_t n_rows = layout->n_labels == 2 ? 1 : (size_t)layout->n_labels, row = 0;
    while (row < n_rows && w[row * (size_t)layout->n_features + feature] == 0)
        row++;
    return row == n_rows;
}

double label_unmet_share(const struct clv_model *model, const struct clv_problem *problem)
{
    const struct clv_weight_layout *layout = model->first ? &model->first->layout : &model->layout;
    const double *w = model->first ? model->first->w : model->w;
    size_t n_unmet = 0, n = (size_t)layout->n_features;
    double unmet = 0, total = 0;
    for (size_t feature = 0; feature < n; feature++)
        n_unmet += is_unmet(layout, w, feature);
    if (4 * n_unmet > n || problem->n_features != layout->n_features)
        return 0;
    for (int64_t k = 0; k < problem->row[problem->n_nodes]; k++) {
        double value = fabs((double)problem->value[k]);
        total += value;
        unmet += is_unmet(layout, w, (size_t)problem->index[k]) ? value : 0;
    }
    return total > 0 ? unmet / total : 0;
}
