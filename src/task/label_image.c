#include "task/task.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/known_options.h"
#include "feature/blocks/blocks.h"
#include "feature/example/example.h"
#include "refine/refine.h"
#include "segment/segment.h"

void clv_segment_defaults_sized(struct clv_segment_options *options, size_t size)
{
    const struct clv_segment_options own = {0};
    known_options_give(options, size, &own, sizeof own);
}

static enum clv_status by_scores(uint8_t *labels, const struct segmented *self, const struct refining *refining,
                                 struct clv_error *err)
{
    float *score = array_alloc((size_t)self->image->width, (size_t)self->image->height * sizeof *score);
    enum clv_status status = score ? pixel_scores(score, self, refining, err) : fail_memory(err);
    TRY(pixel_scores_refine(labels, score, self->image, refining, err));
    array_free(score);
    return status;
}

static enum clv_status by_votes(uint8_t *labels, const struct segmented *self, const struct refining *refining,
                                struct clv_error *err)
{
    struct evidence evidence = {0};
    enum clv_status status = evidence_init(&evidence, labels, self->example, self->y, self->maps, self->model, err);
    TRY(evidence_refine(labels, &evidence, self->image, refining, err));
    evidence_release(&evidence);
    return status;
}

static enum clv_status by_margins(uint8_t *labels, const struct segmented *self,
                                  const struct clv_refine_options *options, struct clv_error *err)
{
    double *margin = array_alloc((size_t)self->example->problem.n_nodes, sizeof *margin);
    enum clv_status status = margin ? clv_oracle_margins(self->oracle, margin, self->y, err) : fail_memory(err);
    TRY(refine_by_margins(labels, self->image, self->example, margin, options, err));
    array_free(margin);
    return status;
}

enum clv_status label_refine(uint8_t *labels, const struct clv_image *image, const struct clv_example *example,
                             const int32_t *y, const struct map_reader *maps, const struct clv_model *model,
                             struct clv_oracle *oracle, const struct clv_refine_options *options, struct clv_error *err)
{
    struct segmented segmented = {image, example, y, labels, maps, model, oracle, NULL};
    struct refining refining;
    struct clv_refine_options own;
    clv_refine_defaults(&own);
    known_options_take(&own, sizeof own, options);
    options = &own;
    MUST(refining_of_model(&refining, model, options, err));
    bool has_learned = refining.is_learned && (maps || !model->recipe.n_maps);
    segmented.net = refining.net.weights ? &refining.net : NULL;
    if (refining_is_cut(model))
        return has_learned ? by_scores(labels, &segmented, &refining, err)
                           : by_margins(labels, &segmented, options, err);
    return has_learned ? by_votes(labels, &segmented, &refining, err)
                       : refine_by_votes(labels, image, example, y, model->shape.n_labels, options, err);
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
    if (options->n_draws < 1)
        return clv_model_predict(y, model, problem, oracle, err);
    clv_decision_defaults(&decision, model);
    decision.n_draws = (uint32_t)options->n_draws;
    decision.seed = options->seed;
    return clv_model_decide(y, model, problem, oracle, &decision, err);
}

bool label_refines(enum clv_refine_choice choice, const struct clv_model *model, int32_t width, int32_t height)
{
    return choice == CLV_REFINE_ALL || (choice == CLV_REFINE_LARGE &&
                                        working_count(&model->recipe, (double)width * height) < (double)width * height);
}

enum clv_status label_example(uint8_t *labels, const struct clv_model *model, const struct clv_image *image,
                              const struct clv_example *example, const struct map_reader *maps,
                              const struct clv_segment_options *options, struct clv_error *err)
{
    struct clv_oracle *own = NULL, *oracle = options->oracle;
    int32_t *y = array_alloc((size_t)example->problem.n_nodes, sizeof *y);
    enum clv_status status = y ? CLV_OK : fail_memory(err);
    TRY_IF(!oracle, clv_oracle_new(&own, CLV_ENGINE_DEFAULT, err));
    if (!oracle)
        oracle = own;
    TRY(label_nodes(y, model, &example->problem, oracle, options, err));
    TRY(labelled_image_paint(labels, example, y, model->shape.n_labels, err));
    bool refines = label_refines(options->refine, model, example->width, example->height);
    if (status == CLV_OK && refines && (options->n_draws < 1 || options->refine == CLV_REFINE_ALL))
        status = label_refine(labels, image, example, y, maps, model, oracle, options->refining, err);
    clv_oracle_free(own);
    array_free(y);
    return status;
}

enum clv_status clv_segment(uint8_t *labels, const struct clv_model *model, const struct clv_image *image,
                            const struct clv_segment_options *options, struct clv_error *err)
{
    struct clv_segment_options own;
    struct map_reader views[CLV_MAX_MAPS];
    const struct map_reader *maps;
    struct clv_example example = {0};
    uint8_t *fresh = NULL;
    MUST(check(model, image, err));
    clv_segment_defaults(&own);
    known_options_take(&own, sizeof own, options);
    maps = map_readers_of(views, own.maps, model->recipe.n_maps);
    size_t n = (size_t)image->width * (size_t)image->height;
    enum clv_status status = example_extract(&example, image, maps, &model->recipe, err);
    TRY_IF(!(fresh = array_alloc(n, 1)), fail_memory(err));
    TRY(label_example(fresh, model, image, &example, maps, &own, err));
    if (status == CLV_OK)
        memcpy(labels, fresh, n);
    array_free(fresh);
    clv_example_release(&example);
    return status;
}

static bool is_unmet(const struct clv_shape *shape, const double *w, size_t feature)
{
    size_t n_rows = shape->n_labels == 2 ? 1 : (size_t)shape->n_labels, row = 0;
    while (row < n_rows && w[row * (size_t)shape->n_features + feature] == 0)
        row++;
    return row == n_rows;
}

double label_unmet_share(const struct clv_model *model, const struct clv_problem *problem)
{
    const struct clv_shape *shape = model->first ? &model->first->shape : &model->shape;
    const double *w = model->first ? model->first->w : model->w;
    size_t n_unmet = 0, n = (size_t)shape->n_features;
    double unmet = 0, total = 0;
    for (size_t feature = 0; feature < n; feature++)
        n_unmet += is_unmet(shape, w, feature);
    if (4 * n_unmet > n || problem->n_features != shape->n_features)
        return 0;
    for (int64_t k = 0; k < problem->row[problem->n_nodes]; k++) {
        double value = fabs((double)problem->value[k]);
        total += value;
        unmet += is_unmet(shape, w, (size_t)problem->index[k]) ? value : 0;
    }
    return total > 0 ? unmet / total : 0;
}
