/* Chooses the weight of IoU against the error when a model with maps learns to refine (REFINING_IOU_WEIGHT of
 * src/learn/refining/refining_learn.c), by cross-validation over the training images of the horses with the maps of a small
 * network:
 *
 *     build/learn/refining     run by `make reproduce-refining`; $CLEAVE_DATA has horses/ and maps-horses/
 *
 * ssvm is trained on either half of the images. In each of five folds refinement is learned from four fifths of the
 * images, each with the weights of the half that does not contain it, and tested on the rest. Prints the means over all
 * held-out images, with and without our features next to the maps. The rule: the largest weight whose error is within
 * one standard error of the error at 0 (Breiman, Friedman, Olshen and Stone 1984), with both kinds of features. */
#include <math.h>
#include <string.h>

#include "../bench/bench.h"
#include "cleave.h"
#include "feature/recipe/recipe.h"
#include "learn/refining/refining.h"
#include "refine/by_model/by_model.h"
#include "train/train.h"

enum { N_HALVES = 2, N_FOLDS = 5 };

static const double iou_weights[] = {0, 0.125, 0.25, 0.5, 1};
enum { N_WEIGHTS = sizeof iou_weights / sizeof *iou_weights };

static void must(enum clv_status status, const struct clv_error *error)
{
    if (status) {
        fprintf(stderr, "refining: %s\n", error->message);
        exit(1);
    }
}

static void *allocate(size_t count, size_t size)
{
    void *array = calloc(count, size);
    if (!array)
        exit(71);
    return array;
}

/* The images, and what models of either half say of them. */
struct horses {
    struct clv_set set;
    struct clv_model model; /* recipe, shape and labels */
    struct clv_dataset *dataset;
    struct clv_problem *problems;      /* [n] */
    struct refining_example *examples; /* [n] */
    double *w[N_HALVES];
    size_t n;
};

static void train_half(struct horses *self, size_t half)
{
    const struct clv_learner *learner = clv_learner_find("ssvm");
    struct clv_training_result result = {0};
    struct clv_error error;
    int32_t *examples = allocate(self->n, sizeof *examples);
    struct clv_training training;
    clv_training_defaults(&training, learner);
    training.dataset = self->dataset;
    training.examples = examples;
    training.seed = 1;
    training.n_threads = 1;
    training.layout = self->model.layout;
    for (size_t i = 0; i < self->n; i++)
        if (i % N_HALVES != half)
            examples[training.n_examples++] = (int32_t)i;
    must(clv_train(&result, learner, &training, &error), &error);
    self->w[half] = result.w;
    self->model.decoding = result.decoding;
    result.w = NULL;
    clv_training_result_release(&result);
    free(examples);
}

static void prepare(struct horses *self, const char *manifest, const char *maps, int32_t blocks)
{
    struct clv_error error;
    struct clv_recipe *recipe = &self->model.recipe;
    must(clv_set_read_manifest(&self->set, manifest, &error), &error);
    must(clv_set_select(&self->set, "train", &error), &error);
    must(clv_set_add_maps(&self->set, "unet", maps, &error), &error);
    self->n = self->set.n_items;
    clv_recipe_init(recipe);
    recipe->blocks = blocks | CLV_BLOCK_MAPS;
    recipe->n_maps = 1;
    recipe->map_pool = CLV_MAP_MEAN;
    snprintf(recipe->maps[0].name, sizeof recipe->maps[0].name, "unet");
    const char **images = allocate(self->n, sizeof *images);
    for (size_t i = 0; i < self->n; i++)
        images[i] = self->set.items[i].image;
    must(clv_recipe_learn(recipe, images, self->n, 1, 1, NULL, NULL, &error), &error);
    must(recipe_learn_maps(recipe, &self->set, 1, NULL, NULL, &error), &error);
    must(clv_dataset_extract(&self->dataset, &self->set, recipe, 1, NULL, NULL, &error), &error);
    must(clv_labels_copy(&self->model.labels, &self->set.labels, &error), &error);
    self->model.has_recipe = true;
    self->problems = allocate(self->n, sizeof *self->problems);
    self->examples = allocate(self->n, sizeof *self->examples);
    for (size_t i = 0; i < self->n; i++)
        self->problems[i] = clv_dataset_problem(self->dataset, i);
    self->model.layout = (struct clv_weight_layout){.n_labels = 2,
                                                    .n_features = self->problems[0].n_features,
                                                    .n_edge_features = self->problems[0].n_edge_features,
                                                    .pairwise = CLV_PAIRWISE_POTTS};
    for (size_t half = 0; half < N_HALVES; half++)
        train_half(self, half);
    for (size_t i = 0; i < self->n; i++)
        self->examples[i] =
            (struct refining_example){.item = i, .problem = &self->problems[i], .w = self->w[i % N_HALVES]};
    free(images);
}

static void release(struct horses *self)
{
    for (size_t half = 0; half < N_HALVES; half++)
        clv_free(self->w[half]);
    free(self->problems);
    free(self->examples);
    clv_dataset_free(self->dataset);
    clv_model_release(&self->model);
    clv_set_release(&self->set);
}

struct means {
    double error, square, iou;
    size_t n;
};

static void judge(struct means *means, const struct horses *self, const struct refining_source *source, size_t i)
{
    struct labelled_image labelled;
    struct clv_refine_options options;
    struct clv_error error;
    double loss, alike;
    clv_refine_defaults(&options);
    must(labelled_image_init(&labelled, &self->model, source, &self->examples[i], &error), &error);
    uint8_t *labels = allocate(labelled.n, 1);
    memcpy(labels, labelled.painted, labelled.n);
    const struct segmented segmented = labelled_image_view(&labelled);
    must(segmented_refine(labels, &segmented, &options, &error), &error);
    must(labelled_loss(&loss, &labelled.truth, labels, 2, 0, &error), &error);
    must(labelled_loss(&alike, &labelled.truth, labels, 2, 1, &error), &error);
    means->error += loss;
    means->square += loss * loss;
    means->iou += 1 - (alike - loss);
    means->n++;
    free(labels);
    labelled_image_release(&labelled);
}

static struct means left_out(struct horses *self, double iou_weight)
{
    struct means means = {0};
    struct clv_error error;
    struct refining_example *learned = allocate(self->n, sizeof *learned);
    for (size_t fold = 0; fold < N_FOLDS; fold++) {
        struct refining_source source = {
            .set = &self->set, .examples = learned, .n_threads = 1, .iou_weight = iou_weight};
        for (size_t i = 0; i < self->n; i++)
            if (i / N_HALVES % N_FOLDS != fold)
                learned[source.n_examples++] = self->examples[i];
        must(refining_learn(&self->model, &source, &error), &error);
        for (size_t i = 0; i < self->n; i++)
            if (i / N_HALVES % N_FOLDS == fold)
                judge(&means, self, &source, i);
    }
    free(learned);
    return means;
}

int main(void)
{
    static const struct {
        const char *name;
        int32_t blocks;
    } kinds[] = {{"maps and our features", CLV_BLOCK_SUPERPIXELS}, {"maps alone", 0}};
    char maps[4096], manifest[4096];
    const char *found = bench_data("refining", "horses/manifest.tsv");
    snprintf(manifest, sizeof manifest, "%s", found ? found : "");
    const char *folder = found ? bench_data("refining", "maps-horses/probability") : NULL;
    if (!folder)
        return 0;
    snprintf(maps, sizeof maps, "%s", folder);
    double chosen = INFINITY;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct horses horses = {0};
        double most = 0, largest = 0;
        prepare(&horses, manifest, maps, kinds[k].blocks);
        for (size_t w = 0; w < N_WEIGHTS; w++) {
            struct means means = left_out(&horses, iou_weights[w]);
            double n = (double)means.n, mean = means.error / n;
            double deviation = sqrt(fmax(means.square / n - mean * mean, 0) / (n - 1));
            most = w ? most : mean + deviation;
            largest = mean <= most ? iou_weights[w] : largest;
            printf("refining, %s, weight of IoU %g: weighted Hamming %.2f +- %.2f %%, IoU %.4f (%zu images held out)\n",
                   kinds[k].name, iou_weights[w], 100 * mean, 100 * deviation, means.iou / n, means.n);
            fflush(stdout);
        }
        chosen = fmin(chosen, largest);
        release(&horses);
    }
    printf("refining: within a standard error of the least error: %g; in use: %g\n", chosen, REFINING_IOU_WEIGHT);
    return 0;
}
