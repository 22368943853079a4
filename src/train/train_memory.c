/* Makes training data of images and masks in memory: checks the values of the masks, learns the recipe and extracts the
 * features. Start at train_data_in_memory. */
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

static void extraction_release(struct extraction *self)
{
    for (size_t i = 0; self->examples && i < self->options->n_images; i++)
        clv_example_release(&self->examples[i]);
    array_free(self->examples);
}

static const char *name_of(char name[32], const char *what, size_t index)
{
    snprintf(name, 32, "%s %zu", what, index);
    return name;
}

/* Fills result[n_images] with masks of background and foreground, as their files would be read, and sets *are_binary;
 * leaves it false where values are labels. */
static enum clv_status read_as_binary(struct clv_mask *result, bool *are_binary,
                                      const struct clv_train_options *options, struct clv_error *err)
{
    size_t n = options->n_images;
    OWNED_ARRAY char(*names)[32] = array_alloc(n, sizeof *names);
    OWNED_ARRAY const char **listed = array_alloc(n, sizeof *listed);
    NEED(names && listed);
    for (size_t i = 0; i < n; i++)
        listed[i] = name_of(names[i], "mask", i);
    MUST(clv_masks_from_values(result, are_binary, options->masks, listed, n, NULL, err));
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        while (result[i].note && first < i && result[first].note != result[i].note)
            first++;
        if (result[i].note && first == i)
            report_message(options->progress, CLV_NOTE, "%s, first in mask %zu", result[i].note, i);
    }
    return CLV_OK;
}

/* Checks that the masks have at least two labels, and copies the labels that were given, or numbers those found. */
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

static enum clv_status extract_labelled(struct clv_example *example, const struct extraction *self, size_t index,
                                        struct clv_error *err)
{
    MUST(clv_example_extract(example, &self->options->images[index], self->recipe, err));
    return clv_example_set_truth(example, &self->masks[index], self->n_labels, err);
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
    enum clv_status status = extract_labelled(&self->examples[index], self, index, err);
    parallel_progress(options->progress, "extracting features", &self->n_done, options->n_images, name);
    return status ? fail_within(err, status, name) : CLV_OK;
}

static enum clv_status make_dataset(struct train_data *data, const struct clv_train_options *options,
                                    const struct clv_mask *masks, struct clv_error *err)
{
    size_t n = options->n_images;
    OWNED(extraction_release)
    struct extraction self = {
        .options = options, .recipe = &data->recipe, .masks = masks, .n_labels = data->labels.n_labels};
    self.examples = array_zalloc(n, sizeof *self.examples);
    NEED(self.examples);
    MUST(clv_dataset_new(&data->dataset, self.n_labels, err));
    MUST(clv_labels_copy(&data->dataset->labels, &data->labels, err));
    if (data->recipe.nodes == CLV_NODES_PATCHES)
        data->dataset->pairwise = CLV_PAIRWISE_FULL;
    MUST(parallel_for(n, options->n_threads, extract, &self, err));
    for (size_t i = 0; i < n; i++) {
        char name[32];
        MUST(dataset_take(data->dataset, &self.examples[i], name_of(name, "image", i), err));
        clv_example_release(&self.examples[i]);
    }
    return CLV_OK;
}

enum clv_status train_data_in_memory(struct train_data *data, const struct clv_train_options *options,
                                     struct clv_error *err)
{
    size_t n = options->n_images;
    bool are_binary = false;
    data->n_masks = n;
    data->masks = array_zalloc(n, sizeof *data->masks);
    NEED(data->masks);
    if (!options->labels)
        MUST(read_as_binary(data->masks, &are_binary, options, err));
    const struct clv_mask *masks = are_binary ? data->masks : options->masks;
    data->recipe = options->recipe;
    data->has_recipe = true;
    recipe_take_range(&data->recipe, &options->limits);
    MUST(check_values(&data->labels, masks, options, err));
    MUST(recipe_learn_images(&data->recipe, options->images, n, options->seed, options->n_threads, options->progress,
                             err));
    MUST(make_dataset(data, options, masks, err));
    for (size_t i = 0; i < n && !are_binary; i++) {
        struct clv_mask *mask = &data->masks[i];
        *mask = options->masks[i];
        mask->labels = array_copy(mask->labels, (size_t)mask->width * (size_t)mask->height, 1);
        NEED(mask->labels);
    }
    return CLV_OK;
}
