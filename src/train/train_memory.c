/* Makes a set of images in memory: items that are named by their index, "image 3", with their masks, objects, boxes and
 * maps. Start at train_memory_read, at the end. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cleave/train.h"
#include "data/data.h"
#include "image/raster/raster.h"
#include "intake/intake.h"
#include "train/train.h"

enum { NAME_SIZE = 32 };

static const char *name_of(char name[NAME_SIZE], const char *what, size_t index)
{
    snprintf(name, NAME_SIZE, "%s %zu", what, index);
    return name;
}

enum clv_status train_memory_check(const struct clv_train_options *options, struct clv_error *err)
{
    FAIL_IF(options->validate && !is_tensor_file(options->validate), CLV_ERR_USAGE,
            "--validate: needs a manifest, or a feature file; images in memory have no splits");
    FAIL_IF(options->limits.band_files, CLV_ERR_USAGE, "--bands: names files, which images in memory do not have");
    return CLV_OK;
}

static bool has_mask(const struct clv_train_options *options, size_t i)
{
    return options->masks && options->masks[i].labels;
}

static bool has_objects(const struct clv_train_options *options, size_t i)
{
    return options->image_objects && options->image_objects[i];
}

static bool has_boxes(const struct clv_train_options *options, size_t i)
{
    return options->image_boxes && options->image_boxes[i].boxes;
}

/* Checks the pixels or bands of an image and sets *n to its number of pixels. */
static enum clv_status check_pixels(size_t *n, const struct clv_train_options *options, size_t i, struct clv_error *err)
{
    OWNED(raster_close) struct raster raster = {0};
    const struct clv_image *image = options->images ? &options->images[i] : NULL;
    FAIL_IF(!image == !options->image_bands, CLV_ERR_USAGE, "training: images have either pixels or bands");
    if (image) {
        FAIL_IF(!image->pixels || image->width < 1 || image->height < 1 || image->channels != 3, CLV_ERR_USAGE,
                "image %zu is %dx%d of %d channels (3 are needed)", i, image->width, image->height, image->channels);
        *n = (size_t)image->width * (size_t)image->height;
        return CLV_OK;
    }
    enum clv_status status = raster_of_array(&raster, &options->image_bands[i], err);
    *n = (size_t)raster.width * (size_t)raster.height;
    char name[NAME_SIZE];
    return status ? fail_within(err, status, name_of(name, "image", i)) : CLV_OK;
}

static enum clv_status check_image(const struct clv_train_options *options, size_t i, struct clv_error *err)
{
    size_t n = 0;
    MUST(check_pixels(&n, options, i, err));
    for (size_t p = 0; has_objects(options, i) && p < n; p++)
        FAIL_IF(options->image_objects[i][p] < 0, CLV_ERR_USAGE, "objects %zu: number %d is below 0", i,
                options->image_objects[i][p]);
    return CLV_OK;
}

/* Checks the maps and copies their names to the set. */
static enum clv_status name_maps(struct clv_set *set, const struct clv_train_options *options, struct clv_error *err)
{
    FAIL_IF(options->n_image_maps > CLV_MAX_MAPS, CLV_ERR_USAGE, "%zu maps, at most %d", options->n_image_maps,
            CLV_MAX_MAPS);
    for (size_t m = 0; m < options->n_image_maps; m++) {
        const struct clv_image_maps *maps = &options->image_maps[m];
        FAIL_IF(!*maps->name || !memchr(maps->name, 0, sizeof maps->name) || !maps->arrays, CLV_ERR_USAGE,
                "maps have names of 1 to %d bytes, and an array for each image", CLV_MAX_MAP_NAME);
        for (size_t k = 0; k < m; k++)
            FAIL_IF(strcmp(maps->name, options->image_maps[k].name) == 0, CLV_ERR_USAGE, "map %s is there twice",
                    maps->name);
        memcpy(set->map_names[m], maps->name, sizeof set->map_names[m]);
    }
    set->n_maps = options->n_image_maps;
    return CLV_OK;
}

/* The masks of a training, for find_labels. */
struct given_masks {
    struct clv_mask *values, *converted; /* [n] given masks, borrowed, and these as masks from files would be read */
    char (*names)[NAME_SIZE];
    const char **listed;
    size_t n;
};

static void given_masks_release(struct given_masks *self)
{
    for (size_t i = 0; self->converted && i < self->n; i++)
        clv_mask_release(&self->converted[i]);
    arrays_free(self->values, self->converted, self->names, (void *)self->listed);
}

/* Makes labels if none are given: background and foreground if the masks have no others, otherwise one for each
 * value. */
static enum clv_status find_labels(struct clv_labels *labels, const struct clv_train_options *options,
                                   struct clv_error *err)
{
    size_t n = options->n_images;
    bool are_binary = true;
    int32_t highest = 0;
    OWNED(given_masks_release)
    struct given_masks masks = {.values = array_alloc(n, sizeof *masks.values),
                                .converted = array_zalloc(n, sizeof *masks.converted),
                                .names = array_alloc(n, sizeof *masks.names),
                                .listed = array_alloc(n, sizeof *masks.listed)};
    NEED(masks.values && masks.converted && masks.names && masks.listed);
    for (size_t i = 0; i < n; i++)
        if (has_mask(options, i)) {
            masks.values[masks.n] = options->masks[i];
            masks.listed[masks.n] = name_of(masks.names[masks.n], "mask", i);
            masks.n++;
        }
    if (masks.n)
        MUST(clv_masks_from_values(masks.converted, &are_binary, masks.values, masks.listed, masks.n, NULL, err));
    if (are_binary)
        return clv_labels_binary(labels, err);
    for (size_t i = 0; i < masks.n; i++)
        for (size_t p = 0; p < (size_t)masks.values[i].width * (size_t)masks.values[i].height; p++) {
            int32_t value = masks.values[i].labels[p];
            highest = value != CLV_VOID && value > highest ? value : highest;
        }
    return labels_by_number(labels, highest + 1, err);
}

static enum clv_status choose_labels(struct clv_labels *labels, const struct clv_train_options *options,
                                     struct clv_error *err)
{
    MUST(options->labels ? clv_labels_copy(labels, options->labels, err) : find_labels(labels, options, err));
    labels->from_file |= options->labels || labels->n_labels > 2; /* values are labels, as with a labels.tsv */
    return CLV_OK;
}

static enum clv_status add_item(struct clv_set *set, size_t *capacity, const struct clv_train_options *options,
                                size_t i, struct clv_error *err)
{
    char image[NAME_SIZE], mask[NAME_SIZE], objects[NAME_SIZE], maps[CLV_MAX_MAPS][NAME_SIZE + CLV_MAX_MAP_NAME];
    struct item_fields fields = {.name = name_of(image, "image", i),
                                 .mask = has_mask(options, i) ? name_of(mask, "mask", i) : NULL,
                                 .instances = has_objects(options, i) ? name_of(objects, "objects", i) : NULL,
                                 .sequence = options->image_sequences ? options->image_sequences[i] : NULL,
                                 .split = ""};
    for (size_t m = 0; m < set->n_maps; m++) {
        snprintf(maps[m], sizeof maps[m], "map %s %zu", set->map_names[m], i);
        fields.maps[m] = maps[m];
    }
    MUST(set_add(set, capacity, &fields, err));
    struct clv_item *item = &set->items[set->n_items - 1];
    item->pixels = options->images ? &options->images[i] : NULL;
    item->bands = options->image_bands ? &options->image_bands[i] : NULL;
    for (size_t m = 0; m < set->n_maps; m++)
        item->map_arrays[m] = &options->image_maps[m].arrays[i];
    item->labels = has_mask(options, i) ? &options->masks[i] : NULL;
    item->objects = has_objects(options, i) ? options->image_objects[i] : NULL;
    return CLV_OK;
}

/* Where the labels of an image are from, in the order of the set. */
enum label_source { FROM_MASK, FROM_BOXES, FROM_NOTHING, N_LABEL_SOURCES };

static enum label_source label_source_of(const struct clv_train_options *options, size_t i)
{
    return has_mask(options, i) || has_objects(options, i) || options->recipe.window ? FROM_MASK
           : has_boxes(options, i)                                                   ? FROM_BOXES
                                                                                     : FROM_NOTHING;
}

/* Adds the images with one source of labels, and their boxes if these are the source. Images whose boxes do not fit are
 * counted as bad and skipped. */
static enum clv_status add_items(struct supervision *self, size_t *capacity, size_t *n_cut, enum label_source how,
                                 const struct clv_train_options *options, struct clv_error *err)
{
    for (size_t i = 0; i < options->n_images; i++) {
        if (label_source_of(options, i) != how)
            continue;
        MUST(add_item(&self->set, capacity, options, i, err));
        if (how != FROM_BOXES)
            continue;
        const size_t last = self->set.n_items - 1;
        struct clv_error why = {0};
        enum clv_status status = box_hints_place(&self->boxes[last], n_cut, &options->image_boxes[i],
                                                 &self->set.items[last], &options->limits, &why);
        if (status) {
            MUST(bad_images_add(&self->bad, NO_ITEM, status, &why, err));
            item_release(&self->set.items[--self->set.n_items]);
        }
    }
    return CLV_OK;
}

enum clv_status train_memory_read(struct supervision *supervision, const struct clv_train_options *options,
                                  struct clv_error *err)
{
    OWNED(supervision_release) struct supervision result = {0};
    struct clv_set *set = &result.set;
    size_t capacity = 0, n_cut = 0, n[N_LABEL_SOURCES], n_before = 0;
    for (size_t i = 0; i < options->n_images; i++)
        MUST(check_image(options, i, err));
    set->root = string_copy(".");
    NEED(set->root);
    MUST(name_maps(set, options, err));
    MUST(choose_labels(&set->labels, options, err));
    MUST(training_set_hide(set, options->voids, err));
    set->has_label_file = set->labels.from_file;
    result.boxes = array_zalloc(options->n_images, sizeof *result.boxes);
    NEED(result.boxes);
    for (int how = 0; how < N_LABEL_SOURCES; how++, n_before = set->n_items) {
        MUST(add_items(&result, &capacity, &n_cut, (enum label_source)how, options, err));
        n[how] = set->n_items - n_before;
    }
    box_hints_note_cut(n_cut, options);
    result.n_masks = n[FROM_MASK];
    result.n_boxed = n[FROM_BOXES];
    result.n_unlabelled = n[FROM_NOTHING];
    FAIL_IF(options->recipe.window && !set_has_mask(set), CLV_ERR_DATA,
            "none of the %zu images has a mask to learn from", set->n_items);
    if (options->check)
        MUST(options->check(options->check_context, set, IMAGES_IN_MEMORY, err));
    FAIL_IF(!result.n_masks && !result.n_boxed && !result.bad.n, CLV_ERR_DATA,
            "%zu images without labels teach nothing unless some have masks or boxes", result.n_unlabelled);
    *supervision = TAKE(result);
    return CLV_OK;
}
