/* Labels the objects in boxes, without a model: reads the boxes, makes each object an input (assign), and segments it
 * with src/box_cut (cut_boxes). Start at open_boxes. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "cleave/box_cut.h"
#include "data/boxes/boxes.h"
#include "data/data.h"
#include "intake/intake.h"

struct by_boxes {
    struct clv_boxes boxes;
    uint8_t *values; /* [boxes.n_labels] values of the labels in masks */
};

/* The values that the labels of boxes have in masks. */

/* Counts the labels that occur in boxes; *label is the last one. */
static enum clv_status count_labels(size_t *n, int32_t *label, const struct clv_boxes *boxes, struct clv_error *err)
{
    OWNED_ARRAY bool *is_used = array_zalloc(boxes->n_labels, sizeof *is_used);
    NEED(is_used);
    for (size_t i = 0; i < boxes->n_images; i++)
        for (size_t k = 0; k < boxes->images[i].n_boxes; k++)
            is_used[boxes->images[i].boxes[k].label] = true;
    *n = 0;
    for (size_t i = 0; i < boxes->n_labels; i++)
        if (is_used[i]) {
            *label = (int32_t)i;
            (*n)++;
        }
    return CLV_OK;
}

/* Sets the labels background and foreground; foreground gets the name of the boxes' label, if it is valid. */
static enum clv_status name_one(struct clv_labels *labels, const char *name, struct clv_error *err)
{
    MUST(clv_labels_binary(labels, err));
    if (label_name_fits(name))
        snprintf(labels->names[1], sizeof *labels->names, "%s", name);
    return CLV_OK;
}

/* Takes the values from the set's labels.tsv; *found: it exists and has all labels. */
static enum clv_status values_of_set(struct clv_labels *labels, uint8_t *values, bool *found,
                                     const struct clv_boxes *boxes, const char *data, struct clv_error *err)
{
    OWNED_ARRAY char *folder = path_is_folder(data) ? string_copy(data) : path_folder(data);
    NEED(folder);
    OWNED_ARRAY char *path = path_join(folder, "labels.tsv");
    OWNED(clv_labels_release) struct clv_labels result = {0};
    NEED(path);
    *found = false;
    if (!path_exists(path))
        return CLV_OK;
    MUST(clv_labels_read(&result, path, err));
    if (!boxes_values_in(values, &result, boxes))
        return CLV_OK;
    *labels = TAKE(result);
    *found = true;
    return CLV_OK;
}

static enum clv_status give_values(struct clv_labels *labels, uint8_t **values, const struct clv_boxes *boxes,
                                   const char *path, const char *data, struct clv_error *err)
{
    size_t n = 0;
    int32_t label = 0;
    bool found = false;
    OWNED_ARRAY uint8_t *result = array_alloc(boxes->n_labels, 1);
    NEED(result);
    MUST(count_labels(&n, &label, boxes, err));
    if (n < 2) {
        memset(result, 1, boxes->n_labels);
        MUST(name_one(labels, n ? boxes->labels[label] : "", err));
    } else {
        if (data)
            MUST(values_of_set(labels, result, &found, boxes, data, err));
        if (!found)
            MUST(boxes_label_values(result, labels, boxes, path, err));
    }
    *values = TAKE(result);
    return CLV_OK;
}

#define ANY_IMAGE "*"

/* Whether the text is four numbers and does not name a file. */
static bool is_typed(struct clv_box *box, const char *text)
{
    double *numbers[] = {&box->x, &box->y, &box->width, &box->height};
    char copy[128], *rest = copy;
    int n = 0;
    if ((size_t)snprintf(copy, sizeof copy, "%s", text) >= sizeof copy || path_exists(text))
        return false;
    for (char *part; (part = strsep(&rest, ",")); n++)
        if (n == 4 || !parse_double(part, numbers[n]))
            return false;
    return n == 4;
}

/* Makes the typed box the box of an image ANY_IMAGE. */
static enum clv_status take_typed(struct clv_boxes *boxes, const struct clv_box *box, const char *text,
                                  struct clv_error *err)
{
    OWNED(boxes_builder_release) struct boxes_builder builder = {0};
    MUST(boxes_add_image(&builder, ANY_IMAGE, "--boxes", err));
    FAIL_IF(!(box->width > 0 && box->height > 0), CLV_ERR_USAGE,
            "--boxes %s: width and height, the last two numbers, are above 0", text);
    MUST(boxes_store(&builder, box, "", NULL, err));
    return boxes_finish(boxes, &builder, text, err);
}

/* Reads the boxes of a file, or the typed box, and sets the labels of their masks and the value of each box label. */
static enum clv_status read_boxes(struct by_boxes *self, struct batch *run, struct clv_error *err)
{
    struct clv_box typed = {0};
    const char *path = run->options.boxes;
    FAIL_IF(strchr(path, ',') && strspn(path, "0123456789.,-") == strlen(path) && !path_exists(path) &&
                !is_typed(&typed, path),
            CLV_ERR_USAGE, "--boxes %s: a box has four numbers, X,Y,WIDTH,HEIGHT", path);
    MUST(is_typed(&typed, path) ? take_typed(&self->boxes, &typed, path, err)
                                : clv_boxes_read(&self->boxes, path, err));
    report_count(&run->progress, path, self->boxes.n_skipped, NO_BOXES, self->boxes.first_skipped);
    for (size_t i = 0; i < self->boxes.n_bad_files; i++)
        report_message(&run->progress, CLV_COMPLAINT, "%s", self->boxes.bad_files[i].message);
    return give_values(&run->labels, &self->values, &self->boxes, path, run->options.data, err);
}

/* Whether `path` ends with the relative path `name`. */
static bool is_same_file(const char *path, const char *name)
{
    size_t m = strlen(path), n = strlen(name);
    return m >= n && strcmp(path + m - n, name) == 0 && (m == n || path[m - n - 1] == '/');
}

/* Returns the length of the path of the folder that has all masks that boxes name. */
static size_t common_mask_folder(const struct clv_boxes *boxes)
{
    const char *first = NULL;
    size_t common = 0;
    for (size_t i = 0; i < boxes->n_images; i++)
        for (size_t k = 0; k < boxes->images[i].n_boxes; k++) {
            const char *mask = boxes->images[i].boxes[k].mask;
            if (mask && !first) {
                first = mask;
                common = (size_t)(path_name(mask) - mask);
            } else if (mask) {
                common = path_shared_folder(first, common, mask);
            }
        }
    return common;
}

struct assignment {
    struct input_list objects;
    size_t common; /* length of the path of their masks' common folder */
};

static enum clv_status add_object(struct assignment *self, const struct input *input,
                                  const struct clv_image_boxes *entry, const char *object, struct clv_error *err)
{
    const char *mask = input->mask && (!object || is_same_file(input->mask, object)) ? input->mask : NULL;
    OWNED_ARRAY char *output = object ? path_replace_extension(object + self->common, "") : string_copy(input->output);
    NEED(output);
    MUST(inputs_add_object(&self->objects, input->name, input->image, mask, output, err));
    struct input *added = &self->objects.items[self->objects.n - 1];
    added->boxes = entry;
    added->object = object;
    return CLV_OK;
}

/* Orders boxes by their masks, boxes without a mask first, and boxes with the same mask as in the file. */
static int compare_boxes(const void *a, const void *b)
{
    const struct clv_box *first = *(const struct clv_box *const *)a, *second = *(const struct clv_box *const *)b;
    int order = first->mask && second->mask ? strcmp(first->mask, second->mask) : !!first->mask - !!second->mask;
    return order ? order : (first > second) - (first < second);
}

/* Computes is_first[n_boxes], which the caller frees with array_free: whether a box is the first of its object. */
static enum clv_status find_first_boxes(bool **is_first, const struct clv_image_boxes *entry, struct clv_error *err)
{
    size_t n = entry->n_boxes;
    OWNED_ARRAY const struct clv_box **sorted = array_alloc(n, sizeof *sorted);
    OWNED_ARRAY bool *result = array_alloc(n, sizeof *result);
    NEED(sorted && result);
    for (size_t k = 0; k < n; k++)
        sorted[k] = &entry->boxes[k];
    qsort(sorted, n, sizeof *sorted, compare_boxes);
    for (size_t k = 0; k < n; k++)
        result[sorted[k] - entry->boxes] = !k || !box_is_of_object(sorted[k], sorted[k - 1]->mask);
    *is_first = TAKE(result);
    return CLV_OK;
}

static enum clv_status add_objects(struct assignment *self, const struct input *input,
                                   const struct clv_image_boxes *entry, struct clv_error *err)
{
    for (size_t k = 0; k < entry->n_boxes; k++)
        if (input->mask && entry->boxes[k].mask && is_same_file(input->mask, entry->boxes[k].mask))
            return add_object(self, input, entry, entry->boxes[k].mask, err);
    OWNED_ARRAY bool *is_first = NULL;
    MUST(find_first_boxes(&is_first, entry, err));
    for (size_t k = 0; k < entry->n_boxes; k++)
        if (is_first[k])
            MUST(add_object(self, input, entry, entry->boxes[k].mask, err));
    return CLV_OK;
}

/* Gives each input the typed box: *entries, which the caller frees with array_free. */
static enum clv_status find_typed(const struct clv_image_boxes ***entries, const struct input_list *inputs,
                                  const struct clv_boxes *boxes, const char *text,
                                  const struct clv_image_limits *limits, struct clv_error *err)
{
    const struct clv_box *box = boxes->images->boxes;
    struct clv_error later; /* ignored: the run reports an image that cannot be read */
    *entries = array_alloc(inputs->n, sizeof **entries);
    NEED(*entries);
    for (size_t i = 0; i < inputs->n; i++) {
        int32_t width, height;
        (*entries)[i] = boxes->images;
        bool is_known =
            inputs->n > 1 && clv_image_read_size(&width, &height, inputs->items[i].image, limits, &later) == CLV_OK;
        FAIL_IF(is_known && (box->x < 0 || box->y < 0 || box->x + box->width > width || box->y + box->height > height),
                CLV_ERR_DATA,
                "--boxes %s: reaches out of %s, which is %dx%d; cut that image alone, or name a file of boxes", text,
                inputs->items[i].name, width, height);
    }
    return CLV_OK;
}

/* Finds the boxes of each input: *entries, which the caller frees with array_free. */
static enum clv_status find_entries(const struct clv_image_boxes ***entries, const struct input_list *inputs,
                                    const struct clv_boxes *boxes, struct clv_error *err)
{
    OWNED_ARRAY const char **names = array_alloc(inputs->n, sizeof *names);
    *entries = array_alloc(inputs->n, sizeof **entries);
    for (size_t i = 0; i < inputs->n && names; i++)
        names[i] = inputs->items[i].name;
    NEED(names && *entries);
    return boxes_find_all(*entries, boxes, names, inputs->n, err);
}

static void assignment_release(struct assignment *self)
{
    input_list_release(&self->objects);
}

/* Replaces the inputs by objects, which have views into `boxes`. If boxes of an image name the mask of the input, these
 * boxes are the only object. Otherwise the boxes are grouped by the masks that they name, and each group is an object
 * whose output is named after its mask, without the folder that all masks share; boxes that name no mask are one
 * object, named after the image. A note reports images without a box, which are skipped. Every image gets a typed box.
 * CLV_ERR_NO_INPUT: no image has a box. CLV_ERR_DATA: the typed box reaches out of one of several images. */
static enum clv_status assign(struct batch *run, const struct clv_boxes *boxes, struct clv_error *err)
{
    struct input_list *inputs = &run->inputs;
    const char *path = run->options.boxes;
    OWNED(assignment_release) struct assignment self = {.common = common_mask_folder(boxes)};
    OWNED(text_release) struct text more = {0};
    OWNED_ARRAY const struct clv_image_boxes **entries = NULL;
    const char *first_without = NULL;
    size_t n_without = 0, n_lost;
    text_init(&more, 1 << 16);
    bool is_typed_box = strcmp(boxes->images->image, ANY_IMAGE) == 0;
    MUST(is_typed_box ? find_typed(&entries, inputs, boxes, path, &run->options.limits, err)
                      : find_entries(&entries, inputs, boxes, err));
    for (size_t i = 0; i < inputs->n; i++) {
        const struct input *input = &inputs->items[i];
        const struct clv_image_boxes *entry = entries[i];
        if (entry && entry->n_boxes)
            MUST(add_objects(&self, input, entry, err));
        else if (!n_without++)
            first_without = input->name;
    }
    const char *lost = n_without ? boxes_first_unused(&n_lost, boxes, entries, inputs->n) : NULL;
    if (lost)
        text_printf(&more, "; it names images that were not given: %zu, the first is %s", n_lost, lost);
    FAIL_IF(!self.objects.n, CLV_ERR_NO_INPUT, "%s: has a box for none of the images: %zu, the first is %s%s", path,
            inputs->n, first_without, more.bytes ? more.bytes : "");
    if (n_without)
        report_message(&run->progress, CLV_NOTE, "%s: images without a box were skipped: %zu, the first is %s%s", path,
                       n_without, first_without, more.bytes ? more.bytes : "");
    self.objects.n_skipped = inputs->n_skipped;
    input_list_release(inputs);
    *inputs = TAKE(self.objects);
    return CLV_OK;
}

/* item->labels[height][width] = the value of a box's label in the foreground of the box, smaller boxes in front. A note
 * reports boxes that reach out of the image. */
static enum clv_status cut_boxes(struct labelled *item, struct batch *run, size_t index, int thread,
                                 struct clv_error *err)
{
    struct clv_image *image = &item->image;
    size_t n = 0;
    OWNED_ARRAY struct clv_box *placed = NULL;
    (void)index, (void)thread;
    MUST(input_read_image(image, item->input, &run->options.limits, &run->progress, err));
    item->width = image->width;
    item->height = image->height;
    MUST(box_inputs_place(&placed, &n, item->input, run->boxes, image, &run->progress, err));
    OWNED_ARRAY uint8_t *values = array_alloc(n, 1);
    NEED(values);
    NEED(item->labels = array_alloc((size_t)image->width, (size_t)image->height));
    for (size_t k = 0; k < n; k++)
        values[k] = run->box_values[placed[k].label];
    return clv_box_cut_all(item->labels, image, placed, values, n, NULL, err);
}

static enum clv_status open_boxes(struct batch *run, struct clv_error *err)
{
    struct by_boxes *self = array_zalloc(1, sizeof *self);
    NEED(run->state = self);
    MUST(read_boxes(self, run, err));
    run->boxes = &self->boxes;
    run->box_values = self->values;
    run->bad_boxes = self->boxes.n_bad_files;
    MUST(gather_inputs(run, NULL, err));
    return assign(run, &self->boxes, err);
}

static double bytes_of_boxes(const struct batch *run, const struct input *input, int32_t width, int32_t height,
                             double file_size)
{
    struct memory_work work = {.model = NULL};
    (void)input;
    memory_take_files(&work, run);
    return memory_of_work(&work, width, height, file_size);
}

static void close_boxes(struct batch *run)
{
    struct by_boxes *self = run->state;
    if (self) {
        clv_boxes_release(&self->boxes);
        array_free(self->values);
    }
    array_free(self);
}

const struct labeller by_boxes = {.name = "--boxes",
                                  .source = "Boxes",
                                  .method = "box to cut",
                                  .refined = "at the pixels",
                                  .has_truth = true,
                                  .lacks = NEEDS_MODEL,
                                  .why = {[2] = "boxes are cut without a model"},
                                  .open = open_boxes,
                                  .each = run_all,
                                  .label = cut_boxes,
                                  .bytes = bytes_of_boxes,
                                  .close = close_boxes};
