/* Gathers the inputs that options name: files, folders and lists of paths, and the items of a dataset or of a feature
 * file. Start at gather_inputs. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "intake/intake.h"

#define MAX_STREAM ((size_t)1 << 30) /* most bytes of an image on standard input */

/* Adds the items of the chosen splits of the dataset. */
static enum clv_status add_splits(struct batch *run, struct clv_set *set, struct clv_error *err)
{
    size_t common = set_common_folder(set);
    MUST(outputs_spare_set(&run->to.outputs, set, run->options.data, err));
    MUST(clv_set_select(set, run->options.split, err));
    return inputs_add_set(&run->inputs, set, common, err);
}

static enum clv_status add_data(struct batch *run, struct clv_error *err)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    MUST(clv_set_read(&set, run->options.data, err));
    training_set_note_reading(&set, run->options.data, &run->progress);
    const enum clv_status status = add_splits(run, &set, err);
    training_set_note_skipped(&set, run->options.data, &run->progress); /* may be the reason of a failure */
    return status;
}

/* Removes files that are further bands of another input, by the endings that --bands names. */
static void drop_further_bands(struct input_list *inputs, const char *names)
{
    size_t n = inputs->n;
    inputs->n = 0;
    for (size_t i = 0; i < n; i++)
        if (inputs->items[i].image && band_images_is_further(inputs->items[i].image, names))
            input_release(&inputs->items[i]);
        else
            inputs->items[inputs->n++] = inputs->items[i];
}

static enum clv_status add_all(struct batch *run, const struct clv_dataset *dataset, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    struct input_list *inputs = &run->inputs;
    if (dataset)
        MUST(inputs_add_dataset(inputs, dataset, err));
    if (options->data)
        MUST(add_data(run, err));
    for (size_t i = 0; i < options->n_images; i++) {
        const char *path = options->images[i];
        MUST(strcmp(path, "-") != 0 ? inputs_add_path(inputs, path, &run->progress, err)
             : output_is_stream(options)
                 ? inputs_add_standard(inputs, MAX_STREAM, err)
                 : inputs_add_stream(inputs, stdin, options->null ? 0 : '\n', &run->progress, err));
    }
    return CLV_OK;
}

enum clv_status gather_inputs(struct batch *run, const struct clv_dataset *dataset, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    struct input_list *inputs = &run->inputs;
    char real_output[PATH_MAX];
    inputs->skip_below = output_is_stream(options) ? NULL : realpath(options->output, real_output);
    const enum clv_status status = add_all(run, dataset, err);
    inputs->skip_below = NULL; /* real_output ends with this function */
    MUST(status);
    if (options->limits.band_files)
        drop_further_bands(inputs, options->limits.band_files);
    MUST(inputs_name_outputs(inputs, &run->progress, err));
    report_count(&run->progress, NULL, inputs->n_skipped, NO_IMAGES, inputs->first_skipped);
    report_count(&run->progress, NULL, inputs->n_own, OWN_IMAGES, inputs->first_own);
    return gather_check(run, err);
}

enum clv_status gather_check(const struct batch *run, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    FAIL_IF(!run->inputs.n, CLV_ERR_NO_INPUT, "%s: no images in it",
            options->features ? options->features
            : options->data   ? options->data
                              : options->images[0]);
    FAIL_IF(output_is_stream(options) && run->inputs.n > 1, CLV_ERR_USAGE,
            "-o -: standard output takes one result, these are %zu images", run->inputs.n);
    return CLV_OK;
}
