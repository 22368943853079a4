/* cleave import: annotations of other programs as a set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "cli/common/command.h"
#include "cli/common/console.h"
#include "cli/import/import.h"
#include "data/boxes/boxes.h"
#include "data/labels.h"

struct import {
    struct common_options common;
    struct import_options options;
};

enum import_keys { KEY_IMAGES = KEYS_COMMAND, KEY_SHARE, KEY_GROUP, KEY_FOLDS };

static const struct argp_option import_options[] = {
    {"output", 'o', "FOLDER", 0, "The new or empty folder of the set; of letters, the feature file", 0},
    {"overwrite", KEY_OVERWRITE, NULL, 0, "Replace the whole set, or the file, that an earlier import left there", 0},
    {"images", KEY_IMAGES, "FOLDER", 0, "Where the images are (default: beside the annotations; of voc: JPEGImages/)",
     0},
    {"seed", 's', "N", 0, "Seed of the split (default 0)", 0},
    {"train-share", KEY_SHARE, "X", 0, "Share of images in split train, the rest is test (default 0.8)", 0},
    {"group-by", KEY_GROUP, "NAME", 0,
     "Which images are kept in one split besides copies: those of a folder, none, or auto: of a folder if there are "
     "ten or more (default auto)",
     0},
    {"folds", KEY_FOLDS, "N,..", 0, "Of letters: words of these folds, as 0 or 1-9 or 0,2,5-7 (default: all)", 0},
    {0},
};

static error_t parse_import(int key, char *arg, struct argp_state *state)
{
    static const char *const groups[] = {"auto", "none", "folder"};
    struct import *self = state->input;
    struct import_options *options = &self->options;
    if (!options->of_split)
        options->of_split = key == 's'         ? "seed"
                            : key == KEY_SHARE ? "train-share"
                            : key == KEY_GROUP ? "group-by"
                                               : NULL;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &self->common; return 0;
    case ARGP_KEY_ARG:
        if (options->annotations)
            return option_error(&self->common, "%s: import takes a format and one file or folder", arg);
        *(options->form ? &options->annotations : &options->form) = arg;
        return 0;
    case 'o': options->output = arg; return 0;
    case KEY_OVERWRITE: options->overwrite = true; return 0;
    case KEY_FOLDS: return import_option_folds(options, arg, &self->common);
    case 's': return option_uint64(&options->seed, "--seed", arg, 0, &self->common);
    case KEY_IMAGES: options->images = arg; return 0;
    case KEY_SHARE: return option_number(&options->train_share, "--train-share", arg, 0, 1, &self->common);
    case KEY_GROUP: return option_choice(&options->group_by_folder, "--group-by", arg, groups, 3, &self->common);
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Names of formats; VOC's masks and letters are no clv_boxes_form. */
enum { FORM_VOC = -1, FORM_LETTERS = -2 };
static const struct {
    const char *name;
    int form;
} forms[] = {{"coco", CLV_BOXES_COCO}, {"labelme", CLV_BOXES_LABELME},           {"cvat", CLV_BOXES_CVAT},
             {"yolo", CLV_BOXES_YOLO}, {"label-studio", CLV_BOXES_LABEL_STUDIO}, {"voc", FORM_VOC},
             {"letters", FORM_LETTERS}};
#define N_FORMS (sizeof forms / sizeof *forms)

static enum clv_status find_form(int *form, const char *name, struct clv_error *err)
{
    for (size_t i = 0; i < N_FORMS; i++)
        if (strcmp(forms[i].name, name) == 0) {
            *form = forms[i].form;
            return CLV_OK;
        }
    return fail(err, CLV_ERR_USAGE,
                "import: \"%s\" is no format; there are coco, labelme, cvat, yolo, label-studio, voc and letters",
                name);
}

static enum clv_status check_letters(struct import *self, struct clv_error *err)
{
    const struct import_options *options = &self->options;
    const char *idle = options->images ? "images" : options->of_split;
    if (idle)
        return fail(err, CLV_ERR_USAGE, "--%s has no effect: letters are no images; --folds chooses among them", idle);
    enum clv_status status = common_options_check(&self->common, "letters are no images", err);
    return status == CLV_OK ? outputs_claim(&self->common.outputs, options->output, options->overwrite, "",
                                            &options->annotations, 1, err)
                            : status;
}

static enum clv_status parse(struct import *self, int *form, int argc, char **argv, struct clv_error *err)
{
    static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        import_options,
        parse_import,
        "FORMAT PATH",
        "Makes a set of annotations of other programs: images/, masks/ of polygons and run lengths, boxes.tsv of what "
        "are only boxes, labels.tsv, and manifest.tsv with the splits train and test. Of handwritten words, makes a "
        "feature file.\v"
        "Formats: coco (JSON), labelme (a folder of JSON), cvat (XML), yolo (a folder of text), label-studio (JSON), "
        "voc (a folder that holds JPEGImages/ and SegmentationClass/). `cleave segment --export' writes coco, labelme, "
        "voc and yolo. Where objects overlap the smaller one is in "
        "front. An image with an object that is only a box has no mask but boxes: `cleave train --boxes' learns from "
        "both. letters is the OCR set of Taskar (letter.data, gzip or plain): every word a chain, every letter a node.",
        children,
        NULL,
        NULL,
    };
    common_options_init(&self->common, err);
    struct import_options *options = &self->options;
    enum clv_status status = options_parse(&argp, argc, argv, self, &self->common);
    if (status != CLV_OK)
        return status;
    if (!options->form)
        return fail(err, CLV_ERR_USAGE,
                    "import: which format? coco, labelme, cvat, yolo, label-studio, voc or letters");
    status = find_form(form, options->form, err);
    if (status == CLV_OK && !options->annotations)
        status = fail(err, CLV_ERR_USAGE, "import: which file or folder?");
    if (status == CLV_OK && (!options->output || !*options->output))
        status = fail(err, CLV_ERR_USAGE, "import: -o is missing: where does the set go?");
    if (status == CLV_OK && *form == FORM_LETTERS)
        return check_letters(self, err);
    if (status == CLV_OK && options->has_folds)
        status = fail(err, CLV_ERR_USAGE, "--folds has no effect: %s has no folds", options->form);
    options->limits = self->common.limits;
    if (status == CLV_OK && (options->limits.max_jpeg_scans || options->limits.grey16_high))
        status = fail(err, CLV_ERR_USAGE, "--%s has no effect: images are copied, only their sizes are read",
                      options->limits.grey16_high ? "range" : "max-jpeg-scans");
    return status;
}

/* --- labels
 * --------------------------------------------------------------------------------------------------------------- */

/* values[n_labels] of the boxes' labels, and labels.tsv. */
static enum clv_status give_values(uint8_t *values, struct import_set *self, const struct clv_boxes *boxes,
                                   struct clv_error *err)
{
    struct clv_labels labels = {0};
    enum clv_status status = boxes_label_values(values, &labels, boxes, self->options->annotations, err);
    if (status != CLV_OK)
        return status;
    labels_put_table(&self->labels, &labels);
    clv_labels_release(&labels);
    return self->labels.failed ? fail_memory(err) : CLV_OK;
}

/* --- images
 * --------------------------------------------------------------------------------------------------------------- */

static bool has_outlines(const struct clv_image_boxes *entry)
{
    for (size_t i = 0; i < entry->n_boxes; i++)
        if (!entry->boxes[i].outline)
            return false;
    return true;
}

static enum clv_status add_boxes(struct import_set *self, const struct clv_boxes *boxes, const struct clv_box *placed,
                                 size_t n, struct clv_error *err)
{
    struct import_item *item = &self->items[self->n - 1];
    for (size_t i = 0; i < n; i++) {
        const struct clv_box *box = &placed[i];
        const double sides[] = {box->x, box->y, box->width, box->height};
        const char *label = boxes->labels[box->label];
        text_printf(&self->boxes, "images/%s\t%s", item->name, *label ? label : "object");
        for (int k = 0; k < 4; k++) {
            text_put(&self->boxes, "\t");
            text_put_json_number(&self->boxes, sides[k]);
        }
        text_put(&self->boxes, "\n");
    }
    item->has_boxes = true;
    self->n_boxed++;
    return self->boxes.failed ? fail_memory(err) : CLV_OK;
}

/* The image with its mask or boxes. Nothing is added after a failure. */
static enum clv_status take_image(struct import_set *self, const struct clv_item *item, const struct clv_boxes *boxes,
                                  const struct clv_image_boxes *entry, const uint8_t *values, struct clv_error *err)
{
    int32_t width, height;
    uint8_t *mask = NULL;
    struct clv_box *placed = array_alloc(entry->n_boxes, sizeof *placed);
    size_t n_before = self->n;
    enum clv_status status =
        placed ? clv_image_read_size(&width, &height, item->image, &self->options->limits, err) : fail_memory(err);
    if (status == CLV_OK)
        status = clv_boxes_place(placed, NULL, boxes, entry, width, height, err); /* tells sizes that differ */
    if (status == CLV_OK)
        status = import_add(self, item->name, item->image, NULL, err);
    if (status == CLV_OK && has_outlines(entry)) {
        mask = array_alloc((size_t)width, (size_t)height);
        status = mask ? import_draw(mask, width, height, entry, values, err) : fail_memory(err);
        if (status == CLV_OK)
            status = import_write_mask(self, width, height, mask, err);
    } else if (status == CLV_OK) {
        status = add_boxes(self, boxes, placed, entry->n_boxes, err);
    }
    if (status != CLV_OK && self->n > n_before) {
        struct import_item *last = &self->items[--self->n];
        array_free(last->name);
        array_free(last->image);
        array_free(last->mask);
    }
    array_free(mask);
    array_free(placed);
    return status;
}

/* What is wrong with one image costs that image. */
static enum clv_status take_images(struct import_set *self, const struct clv_set *images, const struct clv_boxes *boxes,
                                   const struct clv_image_boxes *const *entries, const uint8_t *values,
                                   struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    size_t n_without = 0;
    const char *first_without = NULL;
    for (size_t i = 0; i < images->n_items && status == CLV_OK; i++) {
        if (!entries[i] || (!entries[i]->n_boxes && entries[i]->n_skipped)) {
            first_without = n_without++ ? first_without : images->items[i].name;
            continue;
        }
        status = take_image(self, &images->items[i], boxes, entries[i], values, err);
        if (status != CLV_ERR_DATA && status != CLV_ERR_NO_INPUT)
            continue;
        console_error("%s", err->message);
        self->n_failed++;
        status = CLV_OK;
    }
    if (status == CLV_OK && n_without)
        console_note("%s: says nothing of %zu of %zu images, which were left out; the first is %s",
                     self->options->annotations, n_without, images->n_items, first_without);
    return status;
}

/* Nothing is in the set: whether no image is named, or nothing of those that are can be used. */
static enum clv_status fail_empty(const struct import_set *self, const struct clv_set *images,
                                  const struct clv_boxes *boxes, const struct clv_image_boxes *const *entries,
                                  struct clv_error *err)
{
    size_t n_named = 0;
    for (size_t i = 0; i < images->n_items; i++)
        n_named += entries[i] != NULL;
    if (n_named)
        return fail(err, CLV_ERR_DATA, "%s: nothing that it says of %zu of the %zu images in %s can be used",
                    self->options->annotations, n_named, images->n_items, self->options->images);
    return fail(err, CLV_ERR_DATA, "%s: says something of none of the %zu images in %s, such as %s; it has %s",
                self->options->annotations, images->n_items, self->options->images, images->items[0].name,
                boxes->images[0].image);
}

/* Annotations that name images: outlines and boxes. */
static enum clv_status import_objects(struct import_set *self, int form, struct clv_error *err)
{
    struct clv_boxes boxes = {0};
    struct clv_set images = {0};
    const char **names = NULL;
    const struct clv_image_boxes **entries = NULL;
    uint8_t *values = NULL;
    enum clv_status status = boxes_read_outlines(&boxes, self->options->annotations, err);
    if (status == CLV_OK && (int)boxes.form != form)
        status = fail(err, CLV_ERR_DATA, "%s: is not what %s writes", self->options->annotations, self->options->form);
    if (status == CLV_OK)
        status = clv_set_read_folder(&images, self->options->images, err);
    if (status != CLV_OK)
        goto done;
    if (boxes.n_skipped)
        console_note("%s: %zu objects cannot be used and were skipped (the first: %s)", self->options->annotations,
                     boxes.n_skipped, boxes.first_skipped);
    names = array_alloc(images.n_items, sizeof *names);
    entries = array_alloc(images.n_items, sizeof *entries);
    values = array_alloc(boxes.n_labels, 1);
    status = names && entries && values ? give_values(values, self, &boxes, err) : fail_memory(err);
    for (size_t i = 0; i < images.n_items && names; i++)
        names[i] = images.items[i].name;
    if (status == CLV_OK)
        status = clv_boxes_find_all(entries, &boxes, names, images.n_items, err);
    if (status == CLV_OK)
        status = take_images(self, &images, &boxes, entries, values, err);
    if (status == CLV_OK && !self->n)
        status = fail_empty(self, &images, &boxes, entries, err);
done:
    array_free(values);
    array_free(entries);
    array_free(names);
    clv_boxes_release(&boxes);
    clv_set_release(&images);
    return status;
}

static enum clv_status run(struct import *import, int form, struct clv_error *err)
{
    struct import_set self = {.options = &import->options};
    struct import_output output = {0};
    char *beside = NULL;
    text_init(&self.boxes, (size_t)1 << 30);
    text_init(&self.labels, 1 << 20);
    text_printf(&self.boxes, "image\tlabel\tx\ty\tw\th\n");
    enum clv_status status = CLV_OK;
    if (!import->options.images && form >= 0) {
        const char *path = import->options.annotations;
        beside = path_is_folder(path) ? string_copy(path) : path_folder(path);
        import->options.images = beside;
        status = beside ? CLV_OK : fail_memory(err);
    }
    if (status == CLV_OK)
        status = import_output_begin(&output, &import->options, err);
    self.folder = output.work;
    if (status == CLV_OK)
        status = form < 0 ? import_voc(&self, err) : import_objects(&self, form, err);
    if (status == CLV_OK)
        status = import_split(&self, err);
    if (status == CLV_OK)
        status = import_write(&self, err);
    if (status == CLV_OK)
        status = import_output_finish(&output, err);
    if (status == CLV_OK) {
        size_t n_train = 0;
        for (size_t i = 0; i < self.n; i++)
            n_train += strcmp(self.items[i].split, "train") == 0;
        printf("%s: %zu images, %zu with masks, %zu with boxes; %zu to train on\n", import->options.output, self.n,
               self.n_masks, self.n_boxed, n_train);
        if (self.n_failed)
            status = fail(err, CLV_ERR_DATA, "%zu images could not be taken over", self.n_failed);
    }
    import_output_release(&output);
    import_set_release(&self);
    array_free(beside);
    return status;
}

enum clv_status cmd_import(int argc, char **argv, struct clv_error *err)
{
    struct import self = {.options = {.train_share = 0.8}};
    int form = 0;
    enum clv_status status = parse(&self, &form, argc, argv, err);
    if (status == CLV_OK)
        status = form == FORM_LETTERS ? import_letters(&self.options, err) : run(&self, form, err);
    common_options_release(&self.common);
    return status;
}
