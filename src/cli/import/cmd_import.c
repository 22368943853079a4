/* `cleave import`: makes a set from annotations of other programs. Formats with outlines of objects are read by
 * src/data/boxes and painted here (import_outlines); import_dsb.c, import_voc.c, import_masks.c and import_letters.c
 * have the others. Start at run. */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "cli/import/import.h"
#include "data/boxes/boxes.h"
#include "data/data.h"
#include "data/export/export.h"
#include "data/shapes/shapes.h"
#include "image/image.h"
#include "masks/masks.h"

#define LARGEST_NOTE ((size_t)1 << 20)

struct import {
    struct common_options *common;
    struct import_options options;
};

static const char *const groupings[] = {"auto", "none", "folder", NULL};
static const char *const outsides[] = {"background", "void", NULL};
static const char *const mask_kinds[] = {"auto", "labels", "objects", NULL};
static const char *const whites[] = {"auto", "void", "foreground", "label", NULL};
static const char *const run_orders[] = {"columns", "rows", NULL};

#define AT(member)    offsetof(struct import, options.member)
#define SECTION_SET   "The set"
#define SECTION_MASKS "Masks of other programs"
#define SECTION_SPLIT "The split"
#define BASIC         CLV_OPTION_BASIC
static const struct clv_option import_rows[] = {
    {"output", 'o', "FOLDER", SECTION_SET, CLV_OPTION_NEEDED, CLV_OPTION_TEXT, AT(output),
     .help = "The new or empty folder of the set; for letters, the feature file"},
    {"images", 0, "FOLDER", SECTION_SET, BASIC, CLV_OPTION_TEXT, AT(images),
     .help = "Where the images are (default: next to the annotations)\nFor voc it is JPEGImages/; for what `cleave "
             "segment --export' wrote, the folder that was segmented"},
    {"overwrite", 0, NULL, SECTION_SET, BASIC, CLV_OPTION_FLAG, AT(overwrite),
     .help = "Replace what an earlier import left there"},
    {"property", 0, "NAME", SECTION_SET, BASIC, CLV_OPTION_TEXT, AT(property),
     .help = "For geojson: the property that labels a polygon (default: label)"},
    {"outside", 0, "NAME", SECTION_SET, BASIC | CLV_OPTION_PLAIN, CLV_OPTION_CHOICE, AT(outside), .choices = outsides,
     .help = "The label of pixels that no object covers: background (default) or void\n"
             "void: not known, such as where polygons are samples of each kind of land; nothing is learned from it"},
    {"folds", 0, "N,..", SECTION_SET, BASIC, CLV_OPTION_OTHER, offsetof(struct import, options),
     .take = import_take_folds,
     .help = "For letters: take words of these folds, such as 0 or 1-9 (default: all)\n"
             "A list such as 0,2,5-7 is possible, too"},
    {"codes", 0, "NAME", SECTION_MASKS, BASIC | CLV_OPTION_PLAIN, CLV_OPTION_CHOICE, AT(codes), .choices = code_names,
     .help = "Read values and colours as those of a dataset (default: auto)\n"
             "voc, cityscapes (labelIds), cityscapes-train (labelTrainIds), ade20k, camvid or oxford-pets"},
    {"labels", 0, "FILE", SECTION_MASKS, BASIC, CLV_OPTION_TEXT, AT(labels),
     .help = "Read values and colours by this labels.tsv\nThe default is one beside the masks"},
    {"as", 0, "NAME", SECTION_MASKS, BASIC | CLV_OPTION_PLAIN, CLV_OPTION_CHOICE, AT(as), .choices = mask_kinds,
     .help = "The meaning of values: auto (default), labels or objects\nobjects: each object has its own number"},
    {"white", 0, "NAME", SECTION_MASKS, BASIC | CLV_OPTION_PLAIN, CLV_OPTION_CHOICE, AT(white), .choices = whites,
     .help = "255 beside others is: auto (default), void, foreground or label\n"
             "auto: void, with a note. foreground: label 1. label: a label of its own"},
    {"stretch", 0, NULL, SECTION_MASKS, BASIC, CLV_OPTION_FLAG, AT(stretches),
     .help = "Lay masks of another size over their whole image\n"
             "Whole factors, and masks that EXIF does not turn, need no option"},
    {"all-images", 0, NULL, SECTION_MASKS, BASIC, CLV_OPTION_FLAG, AT(all_images),
     .help = "Take images without a mask, too (default: skip them)\n"
             "For frames to propagate to, slices between others, images with boxes"},
    {"runs", 0, "NAME", SECTION_MASKS, BASIC | CLV_OPTION_PLAIN, CLV_OPTION_CHOICE, AT(run_rows), .choices = run_orders,
     .help = "Run lengths of a CSV go along columns (default) or rows"},
    {"train-share", 0, "X", SECTION_SPLIT, BASIC, CLV_OPTION_NUMBER, AT(train_share), .minimum = 0, .maximum = 1,
     .help =
         "Share of images in split train; the rest is test\nWith the format masks all are in split train by default"},
    {"group-by", 0, "NAME", SECTION_SPLIT, BASIC | CLV_OPTION_PLAIN, CLV_OPTION_CHOICE, AT(group_by_folder),
     .choices = groupings,
     .help = "Which images stay in one split: auto (default), none or folder\n"
             "folder: those of a folder. auto: so if there are ten folders or more. Copies of an image always stay "
             "together"},
    {"seed", 's', "N", SECTION_SPLIT, BASIC, CLV_OPTION_UINT64, AT(seed), .help = "Seed of the split"},
    {0},
};

/* Formats that clv_boxes_read does not read: name, form (not an enum clv_boxes_form) and help. */
enum { FORM_LETTERS = -1, FORM_DSB = -2, FORM_MASKS = -3 };
#define EACH_OTHER_FORMAT(ROW)                                                                                         \
    ROW("dsb", FORM_DSB, "folders NAME/images/ and NAME/masks/, a mask an object, as of the Data Science Bowl 2018")   \
    ROW("masks", FORM_MASKS,                                                                                           \
        "images of colours, greys or numbers, which go with photos by their names, or run lengths in a CSV as of "     \
        "Kaggle")

#define BOXES_ROW(form, reader, name, title, unit, ending, help)  {name, CLV_BOXES_##form},
#define BOXES_NAME(form, reader, name, title, unit, ending, help) name ", "
#define BOXES_HELP(form, reader, name, title, unit, ending, help) name " (" help "), "
#define OTHER_ROW(name, form, help)                               {name, form},
#define OTHER_NAME(name, form, help)                              name ", "
#define OTHER_HELP(name, form, help)                              name " (" help "), "

#define FORMAT_NAMES EACH_IMPORT_FORMAT(BOXES_NAME) EACH_OTHER_FORMAT(OTHER_NAME)
#define FORMAT_HELP  EACH_IMPORT_FORMAT(BOXES_HELP) EACH_OTHER_FORMAT(OTHER_HELP)

static const struct {
    const char *name;
    int form;
} forms[] = {EACH_IMPORT_FORMAT(BOXES_ROW) EACH_OTHER_FORMAT(OTHER_ROW){"letters", FORM_LETTERS}};
#define N_FORMS (sizeof forms / sizeof *forms)

static enum clv_status find_form(int *form, const char *name, struct clv_error *err)
{
    for (size_t i = 0; i < N_FORMS; i++)
        if (strcmp(forms[i].name, name) == 0) {
            *form = forms[i].form;
            return CLV_OK;
        }
    return fail(err, CLV_ERR_USAGE, "import: \"%s\" is not a format; there are " FORMAT_NAMES "and letters", name);
}

static enum clv_status check_letters(struct import *self, struct clv_error *err)
{
    const struct import_options *options = &self->options;
    const char *unused = options->images     ? "images"
                         : options->property ? "property"
                         : options->outside  ? "outside"
                                             : options->split_option;
    if (unused)
        return fail(err, CLV_ERR_USAGE,
                    "--%s cannot be used with the format letters: letters are not images; leave it out, and choose "
                    "among them by --folds",
                    unused);
    MUST(common_options_check(self->common, "the format letters", "letters are not images", err));
    return outputs_claim(&self->common->outputs, options->output, options->overwrite, "", &options->annotations, 1,
                         err);
}

static enum clv_status parse(struct import *self, int *form, int argc, char **argv, struct clv_error *err)
{
    const struct option_table table = {
        "-o FOLDER [OPTION...] FORMAT PATH",
        "Makes a set for training from annotations of other programs.",
        {"import coco annotations.json --images photos/ -o set", "import masks drawn/ --images photos/ -o set"},
        "Formats: " FORMAT_HELP "letters (at the end). `cleave segment --export' writes coco, labelme, "
        "voc and yolo. The set has images/, masks/ and instances/ (label images of objects) of polygons, run lengths "
        "and masks of objects, boxes.tsv of what are only boxes, labels.tsv, and manifest.tsv with the splits train "
        "and test. Where objects overlap the one with fewer pixels is in front. An image with an object that is only a "
        "box has no mask but boxes: `cleave train --boxes' learns from both. What is marked and cannot be used is "
        "void, never background; `man cleave-formats' has a table of it. Splits that were published are kept. letters "
        "is the OCR set of Taskar (letter.data, gzip or plain), and makes a feature file: every word a chain, every "
        "letter a node.",
        {{import_rows, self, false},
         {image_option_rows, self->common, false},
         {plain_option_rows, self->common, false}},
    };
    struct common_options *common = self->common;
    struct import_options *options = &self->options;
    common_options_init(common);
    MUST(options_parse(&table, argc, argv, common, err));
    if (common->n_arguments > 2)
        return fail(err, CLV_ERR_USAGE, "%s: import takes a format and one file or folder", common->arguments[2]);
    options->form = common->n_arguments ? common->arguments[0] : NULL;
    options->annotations = common->n_arguments > 1 ? common->arguments[1] : NULL;
    options->split_option = options_first_given(common, SECTION_SPLIT);
    if (!options->form)
        return fail(err, CLV_ERR_USAGE, "import: which format? " FORMAT_NAMES "or letters");
    MUST(find_form(form, options->form, err));
    FAIL_IF(!options->annotations, CLV_ERR_USAGE, "import: which file or folder?");
    FAIL_IF(!options->output || !*options->output, CLV_ERR_USAGE, "import: no output; add -o FOLDER");
    if (*form == FORM_LETTERS)
        return check_letters(self, err);
    const char *mask_option = *form == FORM_MASKS ? NULL : options_first_given(common, SECTION_MASKS);
    FAIL_IF(mask_option, CLV_ERR_USAGE,
            "--%s cannot be used with the format %s: it is for the format masks; leave it out", mask_option,
            options->form);
    FAIL_IF(options->codes && options->labels, CLV_ERR_USAGE,
            "--codes cannot be used with --labels: --labels names the values; leave out one of them");
    FAIL_IF(options->has_folds, CLV_ERR_USAGE,
            "--folds cannot be used with the format %s: it is for the format letters; leave it out", options->form);
    FAIL_IF(*form == FORM_DSB && options->images, CLV_ERR_USAGE,
            "--images cannot be used with the format dsb: it has images of its own; leave it out");
    FAIL_IF(*form != CLV_BOXES_GEOJSON && options->property, CLV_ERR_USAGE,
            "--property cannot be used with the format %s: it is for the format geojson; leave it out", options->form);
    FAIL_IF((*form == CLV_BOXES_VOC || *form == FORM_MASKS) && options->outside, CLV_ERR_USAGE,
            "--outside cannot be used with the format %s: masks mark void pixels themselves; leave it out",
            options->form);
    if (*form == CLV_BOXES_GEOJSON && !options->property)
        options->property = "label";
    if (*form == FORM_MASKS && !options_given(common, "train-share"))
        options->train_share = 1; /* converted masks are not divided into splits */
    options->limits = self->common->limits;
    FAIL_IF(options->limits.max_jpeg_scans || options->limits.grey16_high || options->limits.band_files ||
                stack_axes_are_chosen(),
            CLV_ERR_USAGE,
            "--%s cannot be used with import: images are copied, and only their sizes are read; leave it out",
            stack_axes_are_chosen()       ? "axes"
            : options->limits.grey16_high ? "range"
            : options->limits.band_files  ? "bands"
                                          : "max-jpeg-scans");
    return CLV_OK;
}

/* Assigns values[n_labels] to the boxes' labels, and writes labels.tsv. */
static enum clv_status assign_values(uint8_t *values, struct import_set *self, const struct clv_boxes *boxes,
                                     struct clv_error *err)
{
    struct clv_labels labels = {0};
    MUST(boxes_label_values(values, &labels, boxes, self->options->annotations, err));
    if (self->options->outside && boxes->n_labels &&
        !memchr(values, 0, boxes->n_labels)) { /* none of the labels is background */
        memmove(labels.names, labels.names + 1, (size_t)--labels.n_labels * sizeof *labels.names);
        for (size_t i = 0; i < boxes->n_labels; i++)
            values[i]--;
    }
    labels_put_table(&self->labels, &labels);
    clv_labels_release(&labels);
    return self->labels.failed ? fail_memory(err) : CLV_OK;
}

static bool has_outlines(const struct clv_image_boxes *entry)
{
    for (size_t i = 0; i < entry->n_boxes; i++)
        if (!entry->boxes[i].outline)
            return false;
    return true;
}

static void put_box(struct import_set *self, const char *label, const double sides[4])
{
    text_printf(&self->boxes, "images/%s\t%s", self->items[self->n - 1].name, *label ? label : "object");
    for (int k = 0; k < 4; k++) {
        text_put(&self->boxes, "\t");
        text_put_json_number(&self->boxes, sides[k]);
    }
    text_put(&self->boxes, "\n");
}

/* Adds boxes to boxes.tsv, and voids as boxes with the label __ignore__. */
static enum clv_status add_boxes(struct import_set *self, const struct clv_boxes *boxes, const struct clv_box *placed,
                                 const struct clv_image_boxes *entry, const int32_t size[2], struct clv_error *err)
{
    struct clv_pixel_box pixels;
    for (size_t i = 0; i < entry->n_boxes; i++)
        put_box(self, boxes->labels[placed[i].label],
                (const double[]){placed[i].x, placed[i].y, placed[i].width, placed[i].height});
    for (size_t i = 0; i < entry->n_voids; i++)
        if (boxes_place_void(&pixels, &entry->voids[i], entry, size[0], size[1]))
            put_box(self, "__ignore__",
                    (const double[]){pixels.first_x, pixels.first_y, pixels.end_x - pixels.first_x,
                                     pixels.end_y - pixels.first_y});
    self->items[self->n - 1].has_boxes = true;
    self->n_boxed++;
    return self->boxes.failed ? fail_memory(err) : CLV_OK;
}

/* Returns the published split: by the annotations, or by the names of folders. */
static const char *find_split(const struct clv_image_boxes *entry, const char *name)
{
    const char *split = entry->split ? boxes_split_of(entry->split, strlen(entry->split)) : NULL;
    if (!split)
        split = boxes_split_of_path(entry->image);
    return split ? split : boxes_split_of_path(name);
}

/* Adds an image with its mask and objects, or with its boxes. */
static enum clv_status import_image(struct import_set *self, const struct clv_item *item, const struct clv_boxes *boxes,
                                    const struct clv_image_boxes *entry, const uint8_t *values, struct clv_error *err)
{
    int32_t size[2];
    OWNED(import_objects_release) struct import_objects objects = {0};
    OWNED_ARRAY struct clv_box *placed = array_alloc(entry->n_boxes, sizeof *placed);
    NEED(placed);
    MUST(item_image_size(&size[0], &size[1], item, &self->options->limits, err));
    MUST(clv_boxes_place(placed, NULL, boxes, entry, size[0], size[1], err)); /* fails if the sizes differ */
    MUST(import_add(self, item->name, item->image, NULL, err));
    self->items[self->n - 1].published = find_split(entry, item->name);
    if (!has_outlines(entry))
        return add_boxes(self, boxes, placed, entry, size, err);
    MUST(import_objects_begin(&objects, size[0], size[1], err));
    MUST(import_objects_paint(&objects, entry, placed, values, err));
    return import_objects_end(&objects, self, err);
}

/* Returns whether nothing can be learned from an image: it has no entry, or neither its background nor a mask of it is
 * known. */
static bool is_unknown(const struct clv_image_boxes *entry)
{
    if (!entry)
        return true;
    bool is_mask = entry->n_boxes && has_outlines(entry);
    return !clv_boxes_are_known(entry) && !(is_mask && entry->is_unsure);
}

/* Returns whether one GeoJSON layer is for all images. */
static bool is_common_layer(const struct clv_boxes *boxes, const struct import_options *options)
{
    return boxes->form == CLV_BOXES_GEOJSON && !path_is_folder(options->annotations);
}

static enum clv_status import_images(struct import_set *self, const struct clv_set *images,
                                     const struct clv_boxes *boxes, const struct clv_image_boxes *const *entries,
                                     const uint8_t *values, struct clv_error *err)
{
    size_t n_without = 0;
    const char *first_without = NULL;
    bool is_layer = boxes->form == CLV_BOXES_GEOJSON, is_one = is_common_layer(boxes, self->options);
    if (is_one && images->n_items > 1)
        MUST(import_check_georeferences(images, err));
    for (size_t i = 0; i < images->n_items; i++) {
        const struct clv_item *item = &images->items[i];
        const struct clv_image_boxes *entry = is_one ? boxes->images : entries[i];
        OWNED(import_unlay) struct clv_image_boxes laid = {0};
        enum clv_status status = CLV_OK; /* import_settle skips images that fail */
        if (entry && is_layer) {
            status = import_lay(&laid, entry, item->image, &self->options->limits, err);
            entry = &laid;
        }
        if (status == CLV_OK && is_unknown(entry)) {
            first_without = n_without++ ? first_without : item->name;
            continue;
        }
        size_t n_before = self->n;
        if (status == CLV_OK)
            status = import_image(self, item, boxes, entry, values, err);
        MUST(import_settle(self, n_before, status, err));
    }
    if (n_without)
        console_note("%s: says nothing of %zu of %zu images, which were skipped; the first is %s",
                     self->options->annotations, n_without, images->n_items, first_without);
    size_t n_lost;
    const char *lost = is_one ? NULL : boxes_first_unused(&n_lost, boxes, entries, images->n_items);
    if (lost)
        console_warning("%s: names %s not in %s; the first is %s", self->options->annotations,
                        n_of(n_lost, "image that is", "images that are").text, self->options->images, lost);
    return CLV_OK;
}

/* Fails if two photos match the same entry, since it is for only one of them. */
static enum clv_status check_single(const struct clv_boxes *boxes, const struct clv_image_boxes *const *entries,
                                    const struct clv_set *images, const struct import_options *options,
                                    struct clv_error *err)
{
    OWNED_ARRAY const char **names = array_zalloc(boxes->n_images, sizeof *names);
    NEED(names);
    for (size_t i = 0; i < images->n_items; i++) {
        const char **name = entries[i] ? &names[entries[i] - boxes->images] : NULL;
        FAIL_IF(name && *name, CLV_ERR_DATA,
                "%s: its image %s could be %s or %s in %s; --images FOLDER says where images are", options->annotations,
                entries[i]->image, *name, images->items[i].name, options->images);
        if (name)
            *name = images->items[i].name;
    }
    return CLV_OK;
}

/* Fails because the set is empty. The message tells whether no image was named, or none of the named ones could be
 * used. */
static enum clv_status fail_empty(const struct import_set *self, const struct clv_set *images,
                                  const struct clv_boxes *boxes, const struct clv_image_boxes *const *entries,
                                  struct clv_error *err)
{
    size_t n_named = 0;
    bool is_one = is_common_layer(boxes, self->options);
    for (size_t i = 0; i < images->n_items; i++)
        n_named += is_one || entries[i] != NULL;
    if (n_named)
        return fail(err, CLV_ERR_DATA, "%s: nothing that it says of %zu of the %zu images in %s can be used",
                    self->options->annotations, n_named, images->n_items, self->options->images);
    return fail(err, CLV_ERR_DATA, "%s: says something of none of the %zu images in %s, such as %s; it has %s",
                self->options->annotations, images->n_items, self->options->images, images->items[0].name,
                boxes->images[0].image);
}

/* Imports annotations that name images: outlines and boxes. */
static enum clv_status import_outlines(struct import_set *self, int form, struct clv_error *err)
{
    OWNED(clv_set_release) struct clv_set images = {0};
    OWNED(clv_boxes_release) struct clv_boxes boxes = {0};
    MUST(boxes_read_outlines(&boxes, self->options->annotations, form, self->options->property, err));
    MUST(clv_set_read_folder(&images, self->options->images, err));
    const struct clv_progress progress = console_progress(NULL);
    report_count(&progress, self->options->annotations, boxes.n_skipped,
                 "annotation cannot be used, so that what it marks is void",
                 "annotations cannot be used, so that what they mark is void", boxes.first_skipped);
    for (size_t i = 0; i < boxes.n_bad_files; i++)
        console_error("%s", boxes.bad_files[i].message);
    self->n_bad_files = boxes.n_bad_files;
    memcpy(self->n_faults, boxes.n_faults, sizeof self->n_faults);
    self->n_crowd_objects = boxes.n_crowd_objects;
    OWNED_ARRAY const char **names = array_alloc(images.n_items, sizeof *names);
    OWNED_ARRAY const struct clv_image_boxes **entries = array_alloc(images.n_items, sizeof *entries);
    OWNED_ARRAY uint8_t *values = array_alloc(boxes.n_labels, 1);
    OWNED_ARRAY char *ambiguous = NULL;
    size_t n_ambiguous = 0;
    NEED(names && entries && values);
    MUST(assign_values(values, self, &boxes, err));
    for (size_t i = 0; i < images.n_items; i++)
        names[i] = images.items[i].name;
    MUST(boxes_find_clear(entries, &n_ambiguous, &ambiguous, &boxes, names, images.n_items, err));
    if (n_ambiguous) {
        console_error("%s", ambiguous);
        self->n_failed += n_ambiguous;
    }
    if (!is_common_layer(&boxes, self->options))
        MUST(check_single(&boxes, entries, &images, self->options, err));
    MUST(import_images(self, &images, &boxes, entries, values, err));
    return self->n ? CLV_OK : fail_empty(self, &images, &boxes, entries, err);
}

/* *images = the folder of images, from the first line of an exporting run's note. */
static enum clv_status read_note(char **images, const char *path, const struct import_options *options,
                                 struct clv_error *err)
{
    size_t size;
    MUST(file_read(images, &size, path, LARGEST_NOTE, err));
    (*images)[strcspn(*images, "\n")] = 0;
    FAIL_IF(!options->images && !**images, CLV_ERR_USAGE,
            "%s: its folder has masks, no images; where are these? --images FOLDER", options->annotations);
    return CLV_OK;
}

/* If the annotations are an output folder of `cleave segment --export', or the format's part of it, sets *part to that
 * part and *images to the folder of the segmented images; the caller frees both with array_free. Otherwise both are
 * unchanged. */
static enum clv_status find_export(char **part, char **images, const struct import_options *options,
                                   struct clv_error *err)
{
    char folder[PATH_MAX];
    if (!realpath(options->annotations, folder))
        return CLV_OK; /* reported when they are read */
    OWNED_ARRAY char *copy = string_copy(folder), *parent = path_folder(folder);
    NEED(copy && parent);
    const char *const folders[2] = {copy, parent};
    for (int k = 0; k < 2 && !*part; k++) {
        OWNED_ARRAY char *note = path_join(folders[k], RUN_NOTE);
        OWNED_ARRAY char *found =
            path_join(folders[k], strcmp(options->form, "coco") == 0 ? "coco.json" : options->form);
        NEED(note && found);
        if (!path_exists(note) || !path_exists(found) || (k && strcmp(path_name(found), path_name(folder)) != 0))
            continue;
        MUST(read_note(images, note, options, err));
        *part = TAKE(found);
    }
    return CLV_OK;
}

static enum clv_status run(struct import *import, int form, struct clv_error *err)
{
    OWNED_ARRAY char *beside = NULL, *part = NULL, *images = NULL;
    OWNED(import_set_release) struct import_set self = {.options = &import->options};
    OWNED(import_output_release) struct import_output output = {0};
    text_init(&self.boxes, (size_t)1 << 30);
    text_init(&self.labels, 1 << 20);
    text_printf(&self.boxes, "image\tlabel\tx\ty\tw\th\n");
    if (form != FORM_MASKS) /* masks may be in an output folder */
        MUST(find_export(&part, &images, &import->options, err));
    if (part)
        import->options.annotations = part;
    if (!import->options.images)
        import->options.images = images;
    if (!import->options.images && form >= 0 && form != CLV_BOXES_VOC) {
        const char *path = import->options.annotations;
        beside = path_is_folder(path) ? string_copy(path) : path_folder(path);
        import->options.images = beside;
        NEED(beside);
    }
    MUST(import_output_begin(&output, &import->options, err));
    self.folder = output.work;
    MUST(form == FORM_DSB        ? import_dsb(&self, err)
         : form == CLV_BOXES_VOC ? import_voc(&self, err)
         : form == FORM_MASKS    ? import_masks(&self, err)
                                 : import_outlines(&self, form, err));
    MUST(import_split(&self, err));
    MUST(import_write(&self, err));
    MUST(import_output_finish(&output, err));
    if (self.n_overlapped + self.n_hidden)
        console_note(
            "objects that others overlap: %zu, each pixel is the smaller one's; without a pixel and skipped: %zu",
            self.n_overlapped, self.n_hidden);
    size_t n_train = 0;
    for (size_t i = 0; i < self.n; i++)
        n_train += strcmp(self.items[i].split, "train") == 0;
    printf("%s: %s, %zu with masks, %zu with boxes; %zu to train on\n", import->options.output,
           n_of(self.n, "image", "images").text, self.n_masks, self.n_boxed, n_train);
    if (self.n_boxed && !self.n_masks)
        console_note("boxes teach, too: cleave train %s --boxes %s/boxes.tsv -o MODEL", import->options.output,
                     import->options.output);
    import_report(&self);
    return self.n_failed || self.n_bad_files ? import_fail(&self, err) : CLV_OK;
}

enum clv_status cmd_import(int argc, char **argv, struct clv_error *err)
{
    OWNED(common_options_release) struct common_options common = {0};
    struct import self = {.common = &common, .options = {.train_share = 0.8}};
    int form = 0;
    MUST(parse(&self, &form, argc, argv, err));
    return form == FORM_LETTERS ? import_letters(&self.options, err) : run(&self, form, err);
}
