/* Trains a model from images with masks: the weights of `cleave train --learner ssvm --data PATH --split train --seed 1`.
 *
 *     cc train_from_masks.c $(pkg-config --cflags --libs cleave) -o train_from_masks
 *     ./train_from_masks set/manifest.tsv horses.cleave */
#include <cleave.h>
#include <stdio.h>
#include <stdlib.h>

static struct clv_error error;

static void must(enum clv_status status)
{
    if (status == CLV_OK)
        return;
    fprintf(stderr, "train_from_masks: %s\n", error.message);
    exit(clv_status_exit_code(status));
}

int main(int argc, char **argv)
{
    static struct clv_set set;
    static struct clv_model model;
    static struct clv_training training;
    static struct clv_training_result result;
    struct clv_dataset *dataset;
    const struct clv_learner *learner = clv_learner_find("ssvm");
    if (argc != 3)
        return 64;
    must(clv_set_read(&set, argv[1], &error));
    must(clv_set_select(&set, "train", &error));
    const char **images = (const char **)calloc(set.n_items, sizeof *images);
    int32_t *examples = (int32_t *)calloc(set.n_items, sizeof *examples);
    for (size_t i = 0; images && examples && i < set.n_items; i++) {
        images[i] = set.items[i].image;
        examples[i] = (int32_t)i;
    }
    /* The recipe learns its words; then it turns every image into a graph with features. */
    clv_recipe_init(&model.recipe);
    must(clv_recipe_learn(&model.recipe, images, set.n_items, 1, 0, NULL, NULL, &error));
    must(clv_dataset_extract(&dataset, &set, &model.recipe, 0, NULL, NULL, &error));
    clv_training_defaults(&training, learner);
    training.dataset = dataset;
    training.examples = examples;
    training.n_examples = set.n_items;
    training.seed = 1;
    model.shape.n_labels = set.labels.n_labels;
    model.shape.n_features = clv_recipe_n_features(&model.recipe);
    model.shape.n_edge_features = clv_recipe_n_edge_features(&model.recipe);
    model.shape.pairwise = clv_dataset_pairwise(dataset);
    training.shape = model.shape;
    must(clv_train(&result, learner, &training, &error));

    model.w = result.w; /* borrowed, and so are the labels */
    model.labels = set.labels;
    model.has_recipe = true;
    must(clv_model_write(argv[2], &model, &error));
    printf("%s: %zu images, training loss %.3f\n", argv[2], set.n_items, result.curve[result.n_curve - 1].train_loss);
    free((void *)images);
    return 0;
}
