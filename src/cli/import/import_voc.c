/* Imports Pascal VOC's layout: JPEGImages/, SegmentationClass/ with masks (255 is void), SegmentationObject/ with
 * objects, lists of names in ImageSets/Segmentation/. Masks are palette PNGs, whose indices are values, or RGB (CVAT,
 * datumaro) with the colours of labelmap.txt. Classes are those of labelmap.txt (CVAT, or `segment --export voc`), of
 * class_names.txt (labelme2voc), or VOC's 20. Start at import_voc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "cli/import/import.h"
#include "data/boxes/boxes.h"
#include "data/data.h"
#include "image/image.h"

#define LARGEST_LIST ((size_t)1 << 26)

static const char *const class_names[] = {
    "background", "aeroplane", "bicycle",     "bird",  "boat",        "bottle", "bus",
    "car",        "cat",       "chair",       "cow",   "diningtable", "dog",    "horse",
    "motorbike",  "person",    "pottedplant", "sheep", "sofa",        "train",  "tvmonitor"};
#define N_CLASSES (sizeof class_names / sizeof *class_names)

/* VOC's colour of void. */
static const uint8_t void_colour[3] = {224, 224, 192};

/* Lists of image names, one list per split, one name per line. */
struct lists {
    struct list {
        char *bytes, *text; /* text: bytes after the byte order mark */
        const char *split;
    } * lists; /* [n] */
    size_t n, capacity;
};

static void lists_release(struct lists *self)
{
    for (size_t i = 0; i < self->n; i++)
        array_free(self->lists[i].bytes);
    array_free(self->lists);
    *self = (struct lists){0};
}

/* Reads the lists that are named like a split: train.txt, Validation.txt. */
static enum clv_status read_lists(struct lists *lists, const char *root, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list files = {0};
    OWNED_ARRAY char *folder = path_join(root, "ImageSets/Segmentation");
    NEED(folder);
    if (!path_is_folder(folder))
        return CLV_OK;
    MUST(folder_walk(&files, folder, err));
    for (size_t i = 0; i < files.n; i++) {
        const char *name = path_name(files.paths[i]);
        const char *split = text_ends_with(name, ".txt") ? boxes_split_of(name, strlen(name) - 4) : NULL;
        OWNED_ARRAY char *path = path_join(folder, files.paths[i]);
        size_t size;
        NEED(path && !array_reserve((void **)&lists->lists, &lists->capacity, lists->n + 1, sizeof *lists->lists));
        if (!split)
            continue;
        struct list *list = &lists->lists[lists->n];
        MUST(file_read(&list->bytes, &size, path, LARGEST_LIST, err));
        list->text = text_skip_mark(list->bytes, &size);
        list->split = split;
        lists->n++;
    }
    return CLV_OK;
}

static bool has_line(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *found = text; (found = strstr(found, name)); found++)
        if ((found == text || found[-1] == '\n') && strchr(" \r\n", found[length]))
            return true;
    return false;
}

/* *split = the split of the list that has the image's path or stem; "train" if no list has it, NULL without lists. */
static enum clv_status find_split(const char **split, const struct lists *lists, const char *mask,
                                  struct clv_error *err)
{
    OWNED_ARRAY char *stem = path_stem(mask);
    OWNED_ARRAY char *path = path_replace_extension(mask, "");
    NEED(stem && path);
    *split = lists->n ? "train" : NULL;
    for (size_t i = 0; i < lists->n; i++)
        if (has_line(lists->lists[i].text, path) || has_line(lists->lists[i].text, stem)) {
            *split = lists->lists[i].split;
            return CLV_OK;
        }
    return CLV_OK;
}

/* *image = the path of the image with a mask's stem (array_free), and *ending its extension; NULL if there is none. */
static enum clv_status find_image(char **image, const char **ending, const char *folder, const char *mask,
                                  struct clv_error *err)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".png", ".JPG",  ".JPEG", ".PNG",  ".webp", ".tif", ".tiff",
                                          ".bmp", ".ppm",  ".pgm", ".WEBP", ".TIF",  ".TIFF", ".BMP",  ".PPM", ".PGM"};
    *image = NULL;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && !*image; i++) {
        OWNED_ARRAY char *named = path_replace_extension(mask, endings[i]);
        OWNED_ARRAY char *path = named ? path_join(folder, named) : NULL;
        NEED(path);
        *ending = endings[i];
        *image = path_exists(path) ? TAKE(path) : NULL;
    }
    return CLV_OK;
}

/* The names of labels, and the values that occur in masks with their colours. */
struct values {
    char *names;      /* labelmap.txt or class_names.txt, or NULL */
    size_t size;      /* of names */
    bool has_colours; /* names is labelmap.txt */
    struct named {    /* an entry of names */
        const char *name;
        uint8_t colour[3];
        uint8_t value;
    } * entries; /* [n] */
    size_t n, capacity;
    bool is_by_colour; /* the first mask was RGB: values come from the entries */
    bool is_used[256], has_colour[256];
    uint8_t colour[256][3];
};

static void values_release(struct values *self)
{
    arrays_free(self->names, self->entries);
    *self = (struct values){0};
}

static bool is_void_name(const char *name)
{
    static const char *const names[] = {"void", "ignored", "__ignore__"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Parses ":red,green,blue"; returns false if it is not a colour. */
static bool parse_colour(uint8_t colour[3], const char *text)
{
    for (int k = 0; k < 3; k++) {
        char *end;
        if (*text != (k ? ',' : ':') || text[1] < '0' || text[1] > '9')
            return false;
        long value = strtol(text + 1, &end, 10);
        if (value > 255)
            return false;
        colour[k] = (uint8_t)value;
        text = end;
    }
    return true;
}

/* Parses "name:red,green,blue:parts:actions" or, without colours, a name; returns false for a comment or an empty
 * line. */
static bool parse_entry(struct named *entry, char *line, bool has_colours)
{
    char *colon = has_colours ? strchr(line, ':') : line + strlen(line);
    if (!*line || *line == '#' || !colon || (has_colours && !parse_colour(entry->colour, colon)))
        return false;
    *colon = 0;
    entry->name = strcmp(line, "_background_") == 0 ? "background" : line;
    return *entry->name;
}

/* Fails for a name that labels.tsv cannot have, or that an earlier label has. */
static enum clv_status check_name(const struct values *self, size_t i, const char *path, struct clv_error *err)
{
    const struct named *entry = &self->entries[i];
    FAIL_IF(!label_name_fits(entry->name), CLV_ERR_DATA,
            "%s: label \"%s\" has a tab or line end, or more than 63 bytes", path, entry->name);
    for (size_t k = 0; k < i; k++)
        FAIL_IF(self->entries[k].value != entry->value && strcmp(self->entries[k].name, entry->name) == 0, CLV_ERR_DATA,
                "%s: label \"%s\" is there twice", path, entry->name);
    return CLV_OK;
}

/* Assigns values: void is 255; in labelmap.txt background is 0 and others count from 1, in class_names.txt all count
 * from 0, in the order of the file. */
static enum clv_status number_entries(struct values *self, const char *path, struct clv_error *err)
{
    size_t next = self->has_colours ? 1 : 0;
    for (size_t i = 0; i < self->n; i++) {
        struct named *entry = &self->entries[i];
        bool is_background = self->has_colours && strcmp(entry->name, "background") == 0;
        FAIL_IF(next >= CLV_VOID, CLV_ERR_DATA, "%s: more than %d names", path, CLV_VOID - 1);
        entry->value = is_background ? 0 : is_void_name(entry->name) ? CLV_VOID : (uint8_t)next++;
        MUST(check_name(self, i, path, err));
    }
    return CLV_OK;
}

/* Reads labelmap.txt or else class_names.txt, if one exists. */
static enum clv_status read_names(struct values *self, const char *folder, struct clv_error *err)
{
    static const char *const files[] = {"labelmap.txt", "class_names.txt"};
    for (size_t k = 0; k < 2 && !self->names; k++) {
        OWNED_ARRAY char *path = path_join(folder, files[k]);
        char *line;
        NEED(path);
        if (!path_exists(path))
            continue;
        MUST(file_read(&self->names, &self->size, path, LARGEST_LIST, err));
        FAIL_IF(!text_is_utf8(self->names, self->size) || memchr(self->names, 0, self->size), CLV_ERR_DATA,
                "%s: this is not UTF-8 text", path);
        self->has_colours = k == 0;
        char *cursor = text_skip_mark(self->names, &self->size), *end = cursor + self->size;
        while ((line = line_next(&cursor, end))) {
            struct named entry = {.name = NULL};
            if (!parse_entry(&entry, line, self->has_colours))
                continue;
            NEED(!array_reserve((void **)&self->entries, &self->capacity, self->n + 1, sizeof *self->entries));
            self->entries[self->n++] = entry;
        }
        MUST(number_entries(self, path, err));
    }
    return CLV_OK;
}

/* *value = the value of a colour; returns false, with void, if it has none. Without labelmap.txt, colours are VOC's. */
static bool find_value(uint8_t *value, const struct values *self, const uint8_t colour[3])
{
    uint8_t palette[256][3];
    *value = CLV_VOID;
    for (size_t i = 0; i < self->n && self->has_colours; i++)
        if (memcmp(self->entries[i].colour, colour, 3) == 0) {
            *value = self->entries[i].value;
            return true;
        }
    for (int v = 0; v < 256 && !self->is_by_colour; v++)
        if (self->has_colour[v] && memcmp(self->colour[v], colour, 3) == 0) {
            *value = (uint8_t)v;
            return true;
        }
    if (memcmp(colour, void_colour, 3) == 0)
        return true;
    clv_default_palette(palette);
    for (size_t v = 0; v < N_CLASSES && !self->has_colours; v++)
        if (memcmp(palette[v], colour, 3) == 0) {
            *value = (uint8_t)v;
            return true;
        }
    return false;
}

/* A mask file as indices or, if it is RGB, as colours wide.rgba[height][width][4]. */
struct mask_file {
    struct clv_indexed_image indexed;
    struct wide_samples wide;
};

static void mask_file_release(struct mask_file *self)
{
    clv_indexed_image_release(&self->indexed);
    arrays_free(self->wide.grey16, self->wide.rgba);
    *self = (struct mask_file){0};
}

static enum clv_status mask_file_read(struct mask_file *self, const char *path, const struct clv_image_limits *limits,
                                      struct clv_error *err)
{
    OWNED_ARRAY char *bytes = NULL;
    struct clv_error ignored = {0};
    size_t size;
    enum clv_status status = clv_indexed_image_read(&self->indexed, path, limits, err);
    if (status != CLV_ERR_DATA)
        return status;
    MUST(file_read(&bytes, &size, path, LARGEST_LIST, err));
    const struct clv_image_limits resolved = limits_resolved(limits);
    if (png_decode_wide(&self->wide, (const uint8_t *)bytes, size, &resolved, &ignored) == CLV_OK && self->wide.rgba)
        return CLV_OK;
    return clv_indexed_image_read(&self->indexed, path, limits, err); /* for its error */
}

static void note_values(struct values *values, const uint8_t *pixels, size_t n, const struct clv_indexed_image *mask)
{
    for (size_t i = 0; i < n; i++)
        values->is_used[pixels[i]] = true;
    for (int v = 0; v < mask->palette_size && !values->is_by_colour; v++) {
        memcpy(values->colour[v], mask->palette[v], 3);
        values->has_colour[v] = true;
    }
}

/* Converts colours to values; pixels of colours without a value become void and are counted in *n_unnamed. */
static enum clv_status convert_colours(uint8_t *pixels, size_t *n_unnamed, const struct values *values,
                                       const uint8_t *rgba, size_t n, const char *path, struct clv_error *err)
{
    uint8_t last[3] = {0, 0, 0}, value = 0;
    bool is_named = false;
    *n_unnamed = 0;
    const uint8_t *first = NULL;
    for (size_t p = 0; p < n; p++) {
        if (!p || memcmp(last, rgba + 4 * p, 3) != 0)
            is_named = find_value(&value, values, rgba + 4 * p);
        memcpy(last, rgba + 4 * p, 3);
        first = !is_named && !first ? rgba + 4 * p : first;
        *n_unnamed += !is_named;
        pixels[p] = value;
    }
    FAIL_IF(first && !values->has_colours, CLV_ERR_DATA,
            "%s: colour %d,%d,%d is none of VOC's; a labelmap.txt next to JPEGImages/ names colours, a line each: "
            "name:red,green,blue::",
            path, first[0], first[1], first[2]);
    FAIL_IF(*n_unnamed == n, CLV_ERR_DATA, "%s: labelmap.txt names none of its colours, such as %d,%d,%d", path,
            first ? first[0] : 0, first ? first[1] : 0, first ? first[2] : 0);
    return CLV_OK;
}

static enum clv_status check_size(const char *path, int32_t width, int32_t height, const int32_t size[2],
                                  struct clv_error *err)
{
    FAIL_IF(width != size[0] || height != size[1], CLV_ERR_DATA, "%s: mask is %dx%d, image is %dx%d", path, width,
            height, size[0], size[1]);
    return CLV_OK;
}

/* Reads the values of a mask, which must have the image's size, to new (*pixels)[height][width] (array_free). */
static enum clv_status read_values(uint8_t **pixels, struct import_set *self, struct values *values, const char *path,
                                   const int32_t size[2], struct clv_error *err)
{
    OWNED(mask_file_release) struct mask_file file = {0};
    const size_t n = (size_t)size[0] * (size_t)size[1];
    size_t n_unnamed = 0;
    MUST(mask_file_read(&file, path, &self->options->limits, err));
    bool is_rgb = file.wide.rgba != NULL;
    MUST(check_size(path, is_rgb ? file.wide.width : file.indexed.width,
                    is_rgb ? file.wide.height : file.indexed.height, size, err));
    OWNED_ARRAY uint8_t *result = array_alloc(n, 1);
    NEED(result);
    bool is_first = true;
    for (int v = 0; v < 256; v++)
        is_first = is_first && !values->is_used[v];
    values->is_by_colour = is_first ? is_rgb : values->is_by_colour;
    if (is_rgb) {
        MUST(convert_colours(result, &n_unnamed, values, file.wide.rgba, n, path, err));
    } else {
        for (size_t p = 0; p < n; p++) {
            uint8_t v = file.indexed.values[p];
            result[p] = v;
            if (values->is_by_colour && v < file.indexed.palette_size)
                n_unnamed += !find_value(&result[p], values, file.indexed.palette[v]);
        }
    }
    self->n_unnamed += n_unnamed;
    note_values(values, result, n, &file.indexed);
    *pixels = TAKE(result);
    return CLV_OK;
}

/* Reads the objects of an image, numbered by their first pixels: each index or colour is an object, except 0, black and
 * void. Pixels where the mask has label 0 or void belong to no object. */
static enum clv_status read_objects(struct clv_object_map *map, const char *path, const uint8_t *labels,
                                    const int32_t size[2], const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(mask_file_release) struct mask_file file = {0};
    OWNED(clv_object_map_release) struct clv_object_map result = {.width = size[0], .height = size[1]};
    const size_t n = (size_t)size[0] * (size_t)size[1];
    OWNED_ARRAY int32_t *numbers = NULL;
    OWNED_ARRAY uint32_t *keys = NULL; /* colours of objects, a hash table with open addressing */
    size_t n_slots = 1 << 10;
    MUST(mask_file_read(&file, path, limits, err));
    bool is_rgb = file.wide.rgba != NULL;
    MUST(check_size(path, is_rgb ? file.wide.width : file.indexed.width,
                    is_rgb ? file.wide.height : file.indexed.height, size, err));
    while (n_slots < 2 * n && n_slots < (1 << 25))
        n_slots *= 2;
    result.objects = array_zalloc(n, sizeof *result.objects);
    numbers = array_zalloc(n_slots, sizeof *numbers);
    keys = array_zalloc(n_slots, sizeof *keys);
    NEED(result.objects && numbers && keys);
    for (size_t p = 0; p < n; p++) {
        const uint8_t *rgb = is_rgb ? file.wide.rgba + 4 * p : NULL;
        uint32_t key = rgb ? (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2] : file.indexed.values[p];
        bool is_none = !key || (rgb ? memcmp(rgb, void_colour, 3) == 0 : key == CLV_VOID);
        if (is_none || !labels[p] || labels[p] == CLV_VOID)
            continue;
        size_t slot = (key * 2654435761u) & (n_slots - 1);
        while (numbers[slot] && keys[slot] != key)
            slot = (slot + 1) & (n_slots - 1);
        keys[slot] = key;
        if (!numbers[slot])
            numbers[slot] = ++result.n_objects;
        result.objects[p] = numbers[slot];
    }
    *map = TAKE(result);
    return CLV_OK;
}

/* The folders of masks, objects and images. */
struct folders {
    char *masks, *objects, *images; /* objects: NULL without that folder */
};

static void folders_release(struct folders *self)
{
    arrays_free(self->masks, self->objects, self->images);
    *self = (struct folders){0};
}

/* *found = the first of two folders of the root that exists (array_free), or NULL. */
static enum clv_status find_folder(char **found, const char *root, const char *first, const char *second,
                                   struct clv_error *err)
{
    const char *const names[] = {first, second};
    *found = NULL;
    for (size_t i = 0; i < 2 && !*found; i++) {
        OWNED_ARRAY char *path = path_join(root, names[i]);
        NEED(path);
        *found = path_is_folder(path) ? TAKE(path) : NULL;
    }
    return CLV_OK;
}

/* Adds one mask with its image and its objects; all are read before anything is written. */
static enum clv_status import_mask(struct import_set *self, struct values *values, const struct lists *lists,
                                   const struct folders *folders, const char *name, struct clv_error *err)
{
    const char *ending = NULL, *split = NULL;
    int32_t size[2];
    OWNED_ARRAY char *image = NULL;
    OWNED_ARRAY char *path = path_join(folders->masks, name);
    OWNED_ARRAY uint8_t *pixels = NULL;
    NEED(path);
    MUST(find_image(&image, &ending, folders->images, name, err));
    FAIL_IF(!image, CLV_ERR_NO_INPUT, "%s: has no image in %s", path, folders->images);
    OWNED_ARRAY char *below = path_replace_extension(name, ending);
    NEED(below);
    MUST(find_split(&split, lists, name, err));
    MUST(clv_image_read_size(&size[0], &size[1], image, &self->options->limits, err));
    MUST(read_values(&pixels, self, values, path, size, err));
    NEED(pixels);
    OWNED_ARRAY char *objects = folders->objects ? path_join(folders->objects, name) : NULL;
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    NEED(objects || !folders->objects);
    if (objects && path_exists(objects))
        MUST(read_objects(&map, objects, pixels, size, &self->options->limits, err));
    MUST(import_add(self, below, image, split, err));
    MUST(import_write_mask(self, size[0], size[1], pixels, err));
    return map.n_objects ? import_write_objects(self, &map, err) : CLV_OK;
}

/* Whether another index has the colour of the index, and its name: the first that occurs in masks, or else the first.
 * Palettes are often filled up with black. */
static bool is_repeated(const struct values *values, int v)
{
    for (int u = 0; u < CLV_VOID; u++) {
        bool is_before = values->is_used[u] == values->is_used[v] ? u < v : values->is_used[u];
        if (is_before && values->has_colour[u] && memcmp(values->colour[u], values->colour[v], 3) == 0)
            return true;
    }
    return false;
}

/* Returns the name of a value, or NULL. */
static const char *value_name(const struct values *values, int v)
{
    const bool is_index = values->has_colours && !values->is_by_colour;
    for (size_t i = 0; i < values->n && !(is_index && is_repeated(values, v)); i++) {
        const struct named *entry = &values->entries[i];
        if (is_index ? values->has_colour[v] && memcmp(entry->colour, values->colour[v], 3) == 0 : entry->value == v)
            return entry->name;
    }
    return values->names || (size_t)v >= N_CLASSES ? NULL : class_names[v];
}

/* Writes labels.tsv: names from the file of names if there is one, else VOC's classes; "label N" for other values, and
 * "void" for indices of a void colour. */
static void put_labels(struct import_set *self, const struct values *values)
{
    uint8_t palette[256][3];
    clv_default_palette(palette);
    text_printf(&self->labels, "value\tname\tred\tgreen\tblue\n");
    for (int v = 0; v < CLV_VOID; v++) {
        const char *name = value_name(values, v);
        if (name)
            text_printf(&self->labels, "%d\t%s", v, is_void_name(name) ? "void" : name);
        else if (!v && values->is_used[v])
            text_printf(&self->labels, "0\tbackground");
        else if (values->is_used[v])
            text_printf(&self->labels, "%d\tlabel %d", v, v);
        else
            continue;
        text_printf(&self->labels, "\t%d\t%d\t%d\n", palette[v][0], palette[v][1], palette[v][2]);
    }
}

enum clv_status import_voc(struct import_set *self, struct clv_error *err)
{
    const char *root = self->options->annotations;
    OWNED(path_list_release) struct path_list files = {0};
    OWNED(lists_release) struct lists lists = {0};
    OWNED(values_release) struct values values = {0};
    OWNED(folders_release) struct folders folders = {0};
    MUST(find_folder(&folders.masks, root, "SegmentationClassPNG", "SegmentationClass", err));
    MUST(find_folder(&folders.objects, root, "SegmentationObjectPNG", "SegmentationObject", err));
    folders.images = self->options->images ? string_copy(self->options->images) : path_join(root, "JPEGImages");
    NEED(folders.images);
    MUST(read_lists(&lists, root, err));
    FAIL_IF(lists.n && self->options->split_option, CLV_ERR_USAGE,
            "--%s cannot be used with %s/ImageSets: it has a split of its own; leave it out",
            self->options->split_option, root);
    FAIL_IF(!folders.masks, CLV_ERR_NO_INPUT,
            "%s: has no SegmentationClass/ and JPEGImages/; boxes of VOC are read where they are (train --boxes)",
            root);
    MUST(read_names(&values, root, err));
    MUST(folder_walk(&files, folders.masks, err));
    for (size_t i = 0; i < files.n; i++) {
        size_t n_before = self->n;
        if (!text_ends_with(files.paths[i], ".npy")) /* copies of the masks, written by labelme2voc */
            MUST(import_settle(self, n_before, import_mask(self, &values, &lists, &folders, files.paths[i], err), err));
    }
    FAIL_IF(!self->n, CLV_ERR_NO_INPUT, "%s: no mask in it can be taken over", folders.masks);
    put_labels(self, &values);
    return CLV_OK;
}
