/* Takes the labels from existing masks, such as corrected masks or masks of other programs, to write their objects,
 * exports, overlays or a report. The masks belong to a dataset, or are files of a folder that are named as the images.
 * Start at open_masks. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "intake/intake.h"

/* File extensions of masks, in the order of the search. */
static const char *const endings[] = {".png", ".tif", ".tiff", ".npy", ".bmp", ".pgm"};

/* Finds the mask of an image: the file FOLDER/NAME with one of the extensions, where NAME is the image's path without
 * its extension. If it does not exist, tries again without the first folder of NAME, and so on. Sets *mask to the path,
 * which the caller frees with array_free, or leaves it. */
static enum clv_status find_mask(char **mask, const char *folder, const char *name, struct clv_error *err)
{
    for (const char *part = name; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
        if (!*part || *part == '/' || strncmp(part, "../", 3) == 0)
            continue;
        OWNED_ARRAY char *stem = path_join(folder, part);
        NEED(stem);
        const size_t size = strlen(stem) + 8;
        OWNED_ARRAY char *path = array_alloc(size, 1);
        NEED(path);
        for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
            snprintf(path, size, "%s%s", stem, endings[k]);
            if (path_exists(path) && !path_is_folder(path)) {
                *mask = TAKE(path);
                return CLV_OK;
            }
        }
    }
    return CLV_OK;
}

/* Drops inputs without a mask; a note reports their number. */
static enum clv_status drop_without(struct batch *run, struct clv_error *err)
{
    struct input_list *inputs = &run->inputs;
    const size_t n = inputs->n;
    size_t kept = 0;
    OWNED_ARRAY char *first = NULL;
    for (size_t i = 0; i < n; i++) {
        if (inputs->items[i].mask) {
            inputs->items[kept++] = inputs->items[i];
            continue;
        }
        if (!first)
            first = string_copy(inputs->items[i].name);
        input_release(&inputs->items[i]);
    }
    inputs->n = kept;
    FAIL_IF(n && !kept, CLV_ERR_NO_INPUT, "%s: has a mask of none of the %zu images, the first is %s",
            run->options.from_masks, n, first ? first : "");
    if (kept < n)
        report_message(&run->progress, CLV_NOTE, "%s: images without a mask were skipped: %zu, the first is %s",
                       run->options.from_masks, n - kept, first ? first : "");
    return CLV_OK;
}

/* Finds the labels of a folder of masks: those of its labels.tsv, else those of the images' set, else background and
 * foreground. */
static enum clv_status find_labels(struct batch *run, struct clv_error *err)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    OWNED_ARRAY char *table = path_join(run->options.from_masks, "labels.tsv");
    NEED(table);
    if (path_exists(table))
        return clv_labels_read(&run->labels, table, err);
    if (!run->options.data)
        return clv_labels_binary(&run->labels, err);
    MUST(clv_set_read(&set, run->options.data, err));
    return clv_labels_copy(&run->labels, &set.labels, err);
}

static enum clv_status take_folder(struct batch *run, struct clv_error *err)
{
    const char *folder = run->options.from_masks;
    FAIL_IF(!path_is_folder(folder), CLV_ERR_NO_INPUT,
            "%s: is not a folder of masks; leave out the images where it is a set, which has its own", folder);
    MUST(gather_inputs(run, NULL, err));
    MUST(find_labels(run, err));
    for (size_t i = 0; i < run->inputs.n; i++) {
        struct input *input = &run->inputs.items[i];
        OWNED_ARRAY char *name = path_replace_extension(input->file ? input->file : input->output, "");
        NEED(name);
        array_free(input->mask);
        input->mask = NULL;
        input->is_derived = false;
        MUST(find_mask(&input->mask, folder, input->output, err));
        if (!input->mask)
            MUST(find_mask(&input->mask, folder, name, err));
    }
    return CLV_OK;
}

static enum clv_status take_set(struct batch *run, struct clv_error *err)
{
    const char *path = run->options.from_masks;
    OWNED(clv_set_release) struct clv_set set = {0};
    MUST(clv_set_read(&set, path, err));
    training_set_note_reading(&set, path, &run->progress);
    const size_t common = set_common_folder(&set);
    MUST(outputs_spare_set(&run->to.outputs, &set, path, err));
    MUST(clv_set_select(&set, run->options.split, err));
    MUST(clv_labels_copy(&run->labels, &set.labels, err));
    return inputs_add_set(&run->inputs, &set, common, err);
}

static enum clv_status open_masks(struct batch *run, struct clv_error *err)
{
    const bool has_images = run->options.data || run->options.n_images;
    MUST(has_images ? take_folder(run, err) : take_set(run, err));
    return drop_without(run, err);
}

static enum clv_status take_mask(struct labelled *item, struct batch *run, size_t index, int thread,
                                 struct clv_error *err)
{
    const struct clv_image_limits *limits = &run->options.limits;
    OWNED(clv_mask_release) struct clv_mask mask = {0};
    (void)index, (void)thread;
    if (batch_needs_pixels(run)) {
        MUST(input_read_image(&item->image, item->input, limits, &run->progress, err));
        item->width = item->image.width;
        item->height = item->image.height;
    } else {
        MUST(clv_image_read_size(&item->width, &item->height, item->input->image, limits, err));
    }
    MUST(input_read_mask(&mask, item->input, &run->labels, item->width, item->height, limits, err));
    item->labels = TAKE(mask.labels);
    return CLV_OK;
}

static double bytes_of_mask(const struct batch *run, const struct input *input, int32_t width, int32_t height,
                            double file_size)
{
    struct memory_work work = {.is_given = true};
    (void)input;
    memory_take_files(&work, run);
    return memory_of_work(&work, width, height, file_size);
}

const struct labeller by_masks = {.name = "--from-masks",
                                  .source = "Masks",
                                  .method = "given masks",
                                  .refined = "no",
                                  .lacks = NEEDS_MODEL,
                                  .why = {[2] = "given masks are taken as they are, without a model"},
                                  .open = open_masks,
                                  .each = run_all,
                                  .label = take_mask,
                                  .bytes = bytes_of_mask};
