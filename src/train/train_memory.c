/* Images and masks in memory as training data. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cleave/train.h"
#include "data/data.h"
#include "feature/dataset/dataset.h"
#include "feature/recipe/recipe.h"
#include "intake/intake.h"
#include "train/train.h"

struct extraction {
    const struct clv_train_options *options;
    const struct clv_recipe *recipe;
    const struct clv_mask *masks;
    struct clv_example *examples; /* [n_images] */
    int32_t n_labels;
    size_t n_done;
};

static const char *name_of(char name[32], const char *what, size_t index)
{
    snprintf(name, 32, "%s %zu", what, index);
    return name;
}

/* Masks of figure and ground as their files are read, made[n_images], if *are_figures; else values are labels. */
static enum clv_status read_as_figures(struct clv_mask *made, bool *are_figures,
                                       const struct clv_train_options *options, struct clv_error *err)
{
    size_t n = options->n_images;
    char(*names)[32] = array_alloc(n, sizeof *names);
    const char **listed = array_alloc(n, sizeof *listed);
    enum clv_status status = names && listed ? CLV_OK : fail_memory(err);
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        listed[i] = name_of(names[i], "mask", i);
    TRY(clv_masks_from_values(made, are_figures, options->masks, listed, n, NULL, err));
    for (size_t i = 0; i < n && status == CLV_OK; i++) {
        size_t first = 0;
        while (made[i].note && first < i && made[first].note != made[i].note)
            first++;
        if (made[i].note && first == i)
            report_message(options->progress, CLV_NOTE, "%s, first in mask %zu", made[i].note, i);
    }
    arrays_free(names, listed);
    return status;
}

/* The labels of masks whose values nobody named: as many as there are values. */
static enum clv_status check_values(struct clv_labels *labels, const struct clv_mask *masks,
                                    const struct clv_train_options *options, struct clv_error *err)
{
    bool is_there[256] = {false};
    int n = 0, highest = 0;
    for (size_t i = 0; i < options->n_images; i++)
        for (size_t p = 0; p < (size_t)masks[i].width * (size_t)masks[i].height; p++)
            is_there[masks[i].labels[p]] = true;
    for (int v = 0; v < CLV_VOID; v++)
        if (is_there[v]) {
            n++;
            highest = v;
        }
    FAIL_IF(!n, CLV_ERR_USAGE, "the masks know no label: there is nothing to tell apart (%d is void)", CLV_VOID);
    FAIL_IF(n == 1, CLV_ERR_USAGE, "the masks know no label but %d: there is nothing to tell apart (%d is void)",
            highest, CLV_VOID);
    if (options->labels) {
        FAIL_IF(highest >= options->labels->n_labels, CLV_ERR_USAGE, "a mask has label %d, but there are %d names",
                highest, options->labels->n_labels);
        return clv_labels_copy(labels, options->labels, err);
    }
    return training_set_number_labels(labels, highest + 1, err);
}

static enum clv_status extract(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct extraction *self = context;
    const struct clv_train_options *options = self->options;
    const struct clv_image *image = &options->images[index];
    const struct clv_mask *mask = &self->masks[index];
    char name[32];
    name_of(name, "image", index);
    FAIL_IF(stop_requested(options->progress), CLV_ERR_INTERRUPTED, "interrupted");
    FAIL_IF(mask->width != image->width || mask->height != image->height, CLV_ERR_USAGE,
            "%s: its mask has %dx%d pixels, it has %dx%d", name, mask->width, mask->height, image->width,
            image->height);
    enum clv_status status = clv_example_extract(&self->examples[index], image, self->recipe, err);
    TRY(clv_example_set_truth(&self->examples[index], mask, self->n_labels, err));
    parallel_progress(options->progress, "extracting features", &self->n_done, options->n_images, name);
    return status == CLV_OK ? status : fail_within(err, status, name);
}

static enum clv_status make_dataset(struct train_data *data, const struct clv_train_options *options,
                                    const struct clv_mask *masks, struct clv_error *err)
{
    size_t n = options->n_images;
    struct extraction self = {
        .options = options, .recipe = &data->recipe, .masks = masks, .n_labels = data->labels.n_labels};
    self.examples = array_zalloc(n, sizeof *self.examples);
    enum clv_status status = self.examples ? clv_dataset_new(&data->dataset, self.n_labels, err) : fail_memory(err);
    TRY(clv_labels_copy(&data->dataset->labels, &data->labels, err));
    if (status == CLV_OK && data->recipe.nodes == CLV_NODES_PATCHES)
        data->dataset->pairwise = CLV_PAIRWISE_FULL;
    TRY(parallel_for(n, options->n_threads, extract, &self, err));
    for (size_t i = 0; i < n && self.examples; i++) {
        char name[32];
        TRY(dataset_take(data->dataset, &self.examples[i], name_of(name, "image", i), err));
        clv_example_release(&self.examples[i]);
    }
    array_free(self.examples);
    return status;
}

enum clv_status train_data_in_memory(struct train_data *data, const struct clv_train_options *options,
                                     struct clv_error *err)
{
    size_t n = options->n_images;
    struct clv_mask *made = array_zalloc(n, sizeof *made);
    bool are_figures = false;
    enum clv_status status = made ? CLV_OK : fail_memory(err);
    TRY_IF(!options->labels, read_as_figures(made, &are_figures, options, err));
    if (status == CLV_OK) {
        const struct clv_mask *masks = are_figures ? made : options->masks;
        data->recipe = options->recipe;
        data->has_recipe = true;
        recipe_take_range(&data->recipe, &options->limits);
        status = check_values(&data->labels, masks, options, err);
        TRY(recipe_learn_images(&data->recipe, options->images, n, options->seed, options->n_threads, options->progress,
                                err));
        TRY(make_dataset(data, options, masks, err));
    }
    for (size_t i = 0; i < n && status == CLV_OK && !are_figures; i++) {
        made[i] = options->masks[i];
        made[i].labels = array_copy(made[i].labels, (size_t)made[i].width * (size_t)made[i].height, 1);
        if (!made[i].labels)
            status = fail_memory(err);
    }
    data->n_masks = n;
    data->masks = made;
    return status;
}
