#include "task/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "cleave/objects.h"
#include "data/data.h"
#include "image/image.h"

#define MAX_COLOURS 40 /* more are no labels */
#define MAX_LEVELS  8
#define NOISE       16 /* of a JPEG, by which greys are off their level */

struct colour {
    uint8_t rgb[3];
    size_t n_pixels;
};

/* What all masks of a set hold. */
struct contents {
    size_t n_colours, n_values;
    struct colour colours[MAX_COLOURS + 1]; /* black first */
    size_t n_pixels[2][256];                /* by value, and by grey of the masks that have no values */
    bool has_fine_steps;                    /* a mask has several greys, all within NOISE, such as 0 and 1 */
};

static void look_at(struct contents *self, const char *mask, const struct clv_image_limits *limits)
{
    struct clv_indexed_image indexed = {0};
    struct clv_image image = {0};
    struct clv_error ignored;
    bool is_indexed = clv_indexed_image_read(&indexed, mask, limits, &ignored) == CLV_OK;
    size_t n = (size_t)indexed.width * (size_t)indexed.height;
    int low = 255, high = 0;
    if (!is_indexed && clv_image_read(&image, mask, limits, &ignored) == CLV_OK)
        n = (size_t)image.width * (size_t)image.height;
    for (size_t p = 0; p < n; p++) {
        const uint8_t *pixel = is_indexed ? indexed.values + p : image.pixels + (size_t)image.channels * p;
        bool is_colour = !is_indexed && image.channels == 3;
        int grey = is_colour ? (299 * pixel[0] + 587 * pixel[1] + 114 * pixel[2] + 500) / 1000 : *pixel;
        self->n_pixels[!is_indexed][grey]++;
        low = grey < low ? grey : low;
        high = grey > high ? grey : high;
    }
    self->has_fine_steps |= low < high && high - low <= NOISE;
    for (size_t p = 0; image.channels == 3 && p < n && self->n_colours <= MAX_COLOURS; p++) {
        size_t k = 0;
        while (k < self->n_colours && memcmp(self->colours[k].rgb, image.pixels + 3 * p, 3) != 0)
            k++;
        if (k == self->n_colours)
            memcpy(self->colours[self->n_colours++].rgb, image.pixels + 3 * p, 3);
        self->colours[k].n_pixels++;
    }
    clv_indexed_image_release(&indexed);
    clv_image_release(&image);
}

static int compare_colours(const void *a, const void *b)
{
    return memcmp(((const struct colour *)a)->rgb, ((const struct colour *)b)->rgb, 3);
}

/* Black is the ground; where no mask has it, the commonest colour, which goes first. */
static void sort_colours(struct contents *self)
{
    struct colour *colours = self->colours;
    size_t most = 0;
    qsort(colours, self->n_colours, sizeof *colours, compare_colours);
    for (size_t c = 1; c < self->n_colours && !colours->n_pixels; c++)
        most = !most || colours[c].n_pixels > colours[most].n_pixels ? c : most;
    if (most) {
        colours[0] = colours[most];
        self->n_colours--;
        memmove(colours + most, colours + most + 1, (self->n_colours - most) * sizeof *colours);
    }
}

/* The greys, in ascending order, that many pixels have and nearly all are near; returns how many, 0: there are none. */
static int find_levels(int levels[MAX_LEVELS], const size_t n_pixels[256])
{
    size_t n_all = 0, n_off = 0;
    int n = 0, last = 0;
    for (int v = 0; v < 256; v++)
        n_all += n_pixels[v];
    for (int v = 0; v < 256; v++) {
        if (200 * n_pixels[v] < n_all || !n_pixels[v])
            continue;
        bool is_new = !n || v - last > NOISE;
        if (is_new && n == MAX_LEVELS)
            return 0;
        if (is_new)
            levels[n++] = v;
        else if (n_pixels[v] > n_pixels[levels[n - 1]])
            levels[n - 1] = v;
        last = v;
    }
    for (int v = 0, k = 0; v < 256 && n; v++) {
        k += k + 1 < n && 2 * v > levels[k] + levels[k + 1];
        n_off += abs(v - levels[k]) > NOISE ? n_pixels[v] : 0;
    }
    return 20 * n_off <= n_all ? n : 0;
}

/* Whether values are those of a few labels with large steps between, or what noise has made of such: others around
 * each. */
static bool are_levels(const size_t n_pixels[256], const int *levels, int n)
{
    int n_values = 0, least = 255;
    for (int v = 0; v < 256; v++)
        n_values += n_pixels[v] > 0;
    for (int k = 0; k < n; k++) {
        int n_near = 0;
        for (int v = 0; v < 256; v++)
            n_near += n_pixels[v] && abs(v - levels[k]) <= NOISE;
        least = n_near < least ? n_near : least;
    }
    return least > 3 || (n_values == n && !n_pixels[CLV_VOID]);
}

/* Of masks in the folder, which may hold the images, too. */
static const char *stem_of(const char *masks, const struct clv_item *item)
{
    return strncmp(item->image, item->mask, strlen(masks)) != 0 ? "*" : "*_mask";
}

/* PNGs of labels that count from 0, or have the levels as values: all are made apart, then the old files go where sets
 * do not look. */
static void put_png_command(struct text *text, const char *masks, const struct clv_item *item, const int *levels, int n,
                            bool of_values, bool keeps_values)
{
    const char *extension = strrchr(item->mask, '.'), *stem = stem_of(masks, item);
    text_put(text, "; labels are at ");
    for (int k = 0; k < n; k++)
        text_printf(text, "%s%d", !k ? "" : k + 1 < n ? ", " : " and ", levels[k]);
    if (extension && strchr(extension, '#')) {
        text_put(text, ": save them so in the program that wrote its pages");
        return;
    }
    text_put(text, ", of which this makes PNGs by Python's Pillow: (cd ");
    text_put_word(text, masks);
    text_printf(text,
                " && mkdir -p .new .old && python3 -c 'import glob,os;from PIL import Image;[Image.open(f)%s.point("
                "lambda v:[",
                of_values ? "" : ".convert(\"L\")");
    for (int k = 0; k < n; k++)
        text_printf(text, "%s%d", k ? "," : "", keeps_values ? levels[k] : k);
    text_put(text, "][sum(v>t for t in[");
    for (int k = 0; k + 1 < n; k++)
        text_printf(text, "%s%d", k ? "," : "", (levels[k] + levels[k + 1]) / 2);
    text_printf(
        text,
        "])]).save(\".new/\"+os.path.splitext(f)[0]+\".png\") for f in glob.glob(\"%s%s\")]' && mv %s%s .old && "
        "mv .new/* .)",
        stem, extension ? extension : "", stem, extension ? extension : "");
}

/* `point` makes 0 or 1 of a value v; of the masks whose values are all among `only`, NULL: of all. */
static void put_binary_command(struct text *text, const char *masks, const struct clv_item *item, const char *point,
                               const char *only)
{
    const char *extension = strrchr(item->mask, '.'), *stem = stem_of(masks, item);
    if (extension && strchr(extension, '#')) {
        text_put(text, " in the program that wrote its pages, or in Python, page by page");
        return;
    }
    text_put(text, " (cd ");
    text_put_word(text, masks);
    text_printf(text,
                " && mkdir -p .new .old && python3 -c 'import glob;from PIL import Image;[m.point(lambda v:%s)."
                "save(\".new/\"+f) for f in glob.glob(\"%s%s\") for m in [Image.open(f)] if m.mode in(\"L\",\"P\")",
                point, stem, extension ? extension : "");
    if (only)
        text_printf(text, " and set(m.getdata())<=%s", only);
    text_put(text, "]' && for f in .new/*; do mv \"${f#.new/}\" .old; done && mv .new/* .)");
}

/* Two values of which none is 0; false: there are others. */
static bool put_binary(struct text *text, const char *masks, const struct contents *found, const struct clv_item *item)
{
    const size_t *n_pixels = found->n_pixels[0];
    int values[3] = {0}, n = 0;
    char point[32];
    for (int v = 0; v < 256; v++) {
        if (n_pixels[v] && n < 3)
            values[n] = v;
        n += n_pixels[v] > 0;
    }
    if (n != 2 || !values[0] || values[1] == CLV_VOID)
        return false;
    int figure = n_pixels[values[0]] < n_pixels[values[1]] ? values[0] : values[1];
    snprintf(point, sizeof point, "int(v==%d)", figure);
    text_printf(text, "; if %d is the figure, this makes it 1, and the ground 0:", figure);
    put_binary_command(text, masks, item, point, NULL);
    return true;
}

/* Of 0, one value above 1, and 255 in more pixels than that, both are figure; false: there are others. */
static bool put_two_figures(struct text *text, const char *masks, const struct contents *found,
                            const struct clv_item *item)
{
    const size_t *n_pixels = found->n_pixels[0];
    int value = 0, n = 0;
    for (int v = 1; v < CLV_VOID; v++)
        if (n_pixels[v]) {
            value = v;
            n++;
        }
    if (n != 1 || value == 1 || !n_pixels[0] || n_pixels[CLV_VOID] < n_pixels[value])
        return false;
    text_printf(text, "; if %d and 255 are both figure, this makes them 1:", value);
    put_binary_command(text, masks, item, "int(v>0)", NULL);
    return true;
}

/* Of 0, 1 and 255 alone, 255 may be figure. */
static void put_white(struct text *text, const char *masks, const struct clv_set *set, const struct contents *found,
                      const struct clv_item *item)
{
    const size_t *n_pixels = found->n_pixels[0];
    for (int v = 2; v < CLV_VOID; v++)
        if (n_pixels[v])
            return;
    if (!n_pixels[1] || !n_pixels[CLV_VOID] || set->labels.from_file)
        return;
    text_put(text, "; if masks with nothing but 0 and 255 mean figure by 255, do this instead:");
    put_binary_command(text, masks, item, "v//255", "{0,255}");
}

/* labels.tsv of what the masks hold. */
static void put_labels(struct text *text, bool of_colours, const struct clv_set *set, struct contents *found)
{
    if ((of_colours ? found->n_colours : found->n_values) > MAX_COLOURS) {
        text_printf(text, "; more than %d %s are no labels: photographs, or smooth edges?", MAX_COLOURS,
                    of_colours ? "colours" : "values");
        return;
    }
    sort_colours(found);
    text_printf(text, "; this names them (c1, c2 .. are to be renamed): printf '%s",
                of_colours ? "name\\tred\\tgreen\\tblue\\n" : "value\\tname\\n");
    for (size_t c = 0; of_colours && c < found->n_colours; c++)
        text_printf(text, "%s%.0zu\\t%d\\t%d\\t%d\\n", c ? "c" : "background", c, found->colours[c].rgb[0],
                    found->colours[c].rgb[1], found->colours[c].rgb[2]);
    for (int v = 0; !of_colours && v < CLV_VOID; v++)
        if (found->n_pixels[0][v])
            text_printf(text, "%d\\t%s%.0d\\n", v, v ? "c" : "background", v);
    text_put(text, "' >");
    char *table = set_path(set, "labels.tsv");
    text->failed |= !table;
    text_put_word(text, table ? table : "");
    array_free(table);
}

/* Three or more numbers, nearly all of them in one piece: those of objects. */
static bool numbers_objects(const char *mask, const struct clv_image_limits *limits)
{
    struct clv_object_map objects = {0}, pieces = {0};
    struct clv_error ignored;
    enum clv_status status = clv_object_map_read(&objects, mask, 0, 0, limits, &ignored);
    const size_t n = (size_t)objects.width * (size_t)objects.height;
    uint8_t *labels = array_zalloc(n, 1);
    for (size_t p = 0; p < n && labels && status == CLV_OK; p++)
        labels[p] = objects.objects[p] ? (uint8_t)(1 + objects.objects[p] % 254) : 0;
    TRY_IF(labels, clv_object_map_from_labels(&pieces, labels, objects.width, objects.height, NULL, &ignored));
    const bool are_whole = 4 * pieces.n_objects <= 5 * objects.n_objects;
    const bool is_one = status == CLV_OK && objects.n_objects >= 3 && are_whole;
    array_free(labels);
    clv_object_map_release(&objects);
    clv_object_map_release(&pieces);
    return is_one;
}

/* Whether most masks do. */
static bool most_number_objects(const struct clv_set *set, const struct clv_image_limits *limits)
{
    size_t n = 0, n_masks = 0;
    for (size_t i = 0; i < set->n_items; i++)
        if (set->items[i].mask) {
            n_masks++;
            n += numbers_objects(set->items[i].mask, limits);
        }
    return 2 * n > n_masks;
}

static void put_instances(struct text *text, const char *masks)
{
    if (strcmp(path_name(masks), "masks") != 0) {
        text_put(text, "; if each number is an object, images go to a folder images and these to one called instances "
                       "next to it, by the images' names");
        return;
    }
    char *parent = path_folder(masks), *instances = parent ? path_join(parent, "instances") : NULL;
    text_put(text, "; if each number is an object, their folder is called instances: mv ");
    text_put_word(text, masks);
    text_put(text, " ");
    text_put_word(text, instances ? instances : "");
    text->failed |= !instances;
    arrays_free(parent, instances);
}

static bool begins_with(const char *message, const char *path)
{
    size_t length = path ? strlen(path) : 0;
    return length && strncmp(message, path, length) == 0 && message[length] == ':';
}

/* Whether what a mask holds says nothing of the others': it cannot be read, or is of another image or size. */
static bool is_stray(enum clv_fault own, enum clv_fault fault)
{
    return own != fault && own != CLV_FAULT_MASK_VALUES && own != CLV_FAULT_MASK_COLOURS;
}

/* Looks at all masks but for strays among the bad ones, which are mostly in the order of the set. */
static void look_at_all(struct contents *found, enum clv_fault fault, const struct clv_set *set,
                        const struct bad_images *bad, const struct clv_image_limits *limits)
{
    const size_t n = set->n_items;
    bool *is_left_out = array_zalloc(n, sizeof *is_left_out); /* NULL: all are looked at */
    for (size_t k = 0, at = 0; bad && is_left_out && k < bad->n; k++) {
        size_t tried = 0;
        const char *message = bad->images[k].message;
        if (!is_stray(bad->images[k].fault, fault))
            continue;
        while (tried < n && !begins_with(message, set->items[at].mask) && !begins_with(message, set->items[at].image)) {
            at = (at + 1) % n;
            tried++;
        }
        is_left_out[at] = tried < n;
    }
    for (size_t i = 0; i < n; i++)
        if (set->items[i].mask && !(is_left_out && is_left_out[i]))
            look_at(found, set->items[i].mask, limits);
    array_free(is_left_out);
}

/* What the masks hold decides what helps: few levels, or labels to be named. */
static void put_contents(struct text *text, const char *masks, enum clv_fault fault, const struct clv_set *set,
                         const struct bad_images *bad, const struct clv_item *item,
                         const struct clv_image_limits *limits)
{
    struct contents found = {.n_colours = 1};
    int levels[MAX_LEVELS];
    look_at_all(&found, fault, set, bad, limits);
    const bool of_values = fault == CLV_FAULT_MASK_VALUES;
    const bool are_objects =
        !set->labels.from_file && fault != CLV_FAULT_MASK_COLOURS && most_number_objects(set, limits);
    const size_t *n_pixels = found.n_pixels[!of_values];
    for (int v = 0; v < CLV_VOID; v++)
        found.n_values += found.n_pixels[0][v] > 0;
    int n = fault == CLV_FAULT_MASK_COLOURS || found.has_fine_steps ? 0 : find_levels(levels, n_pixels);
    const bool are_labels = found.n_values > 1 && found.n_values <= MAX_COLOURS;
    if (are_objects && !are_labels)
        put_instances(text, masks);
    else if (n > 1 && (!of_values || are_levels(n_pixels, levels, n)))
        put_png_command(text, masks, item, levels, n, of_values, set->labels.from_file);
    else if (of_values && (put_binary(text, masks, &found, item) ||
                           (!set->labels.from_file && put_two_figures(text, masks, &found, item))))
        return;
    else if (fault == CLV_FAULT_MASK_FORMAT)
        text_put(text, "; it has mixed these labels: save them as PNG where they were drawn");
    else {
        put_labels(text, fault == CLV_FAULT_MASK_COLOURS, set, &found);
        if (of_values)
            put_white(text, masks, set, &found, item);
        if (are_objects)
            put_instances(text, masks);
    }
}

/* How many times as large the larger one is, but for rounding; 0: no whole number. */
static int whole_factor(int a, int b)
{
    int large = a > b ? a : b, small = a > b ? b : a, factor = small > 0 ? (large + small / 2) / small : 0;
    return factor > 1 && abs(large - factor * small) < factor ? factor : 0;
}

/* A photo that its EXIF turns by its side, and a mask of what is stored; false: none. */
static bool put_turn(struct text *text, const struct clv_item *item, const struct clv_image_limits *limits)
{
    static const char *const turns[] = {"5", "4", "6", "2"}; /* Pillow's, of the orientations 5 to 8 */
    int orientation = jpeg_orientation(item->image, limits);
    char *folder = path_folder(item->mask);
    const char *name = path_name(item->mask);
    text->failed |= !folder;
    if (orientation < 5 || !folder) {
        array_free(folder);
        return false;
    }
    text_printf(text,
                "; the EXIF orientation %d turns the image, the mask is as it was before; this turns it, too, by "
                "Python's Pillow: (cd ",
                orientation);
    text_put_word(text, folder);
    text_put(text, " && mkdir -p .old && cp ");
    text_put_word(text, name);
    text_printf(text,
                " .old && python3 -c 'import sys;from PIL import Image;f=sys.argv[1];Image.open(f).transpose(%s).save("
                "f)' ",
                turns[orientation - 5]);
    text_put_word(text, name);
    text_put(text, ")");
    array_free(folder);
    return true;
}

static void put_sizes(struct text *text, const struct clv_item *item, const struct clv_image_limits *limits)
{
    int32_t width, height, mask_width, mask_height;
    struct clv_error ignored;
    bool is_known = clv_image_read_size(&width, &height, item->image, limits, &ignored) == CLV_OK &&
                    clv_image_read_size(&mask_width, &mask_height, item->mask, limits, &ignored) == CLV_OK;
    if (is_known && mask_width == height && mask_height == width && put_turn(text, item, limits))
        return;
    int factor = is_known ? whole_factor(mask_width, width) : 0;
    if (factor > 1 && factor == whole_factor(mask_height, height))
        text_printf(text, "; %s are %d times as large as their %s", width > mask_width ? "images" : "masks", factor,
                    width > mask_width ? "masks" : "images");
    text_put(text, "; bring masks to their images' sizes without mixing labels, such as by Pillow's "
                   "mask.resize(image.size, 0)");
}

/* A mask of several pages, which no image took; its path is *length long. NULL: there is none. */
static const char *find_paged(size_t *length, const struct clv_set *set)
{
    const char *paged = set->first_lone_mask;
    uint32_t page;
    for (size_t i = 0; i < set->n_items && !paged; i++)
        paged = strstr(set->items[i].name, "_mask.tif") ? set->items[i].name : NULL;
    return paged && path_page(length, &page, paged) ? paged : NULL;
}

enum clv_status fail_unmasked(const struct clv_set *set, const char *path, const char *purpose, const char *otherwise,
                              struct clv_error *err)
{
    struct text text;
    size_t i = 0, length = 0;
    const char *paged = find_paged(&length, set);
    char *lone = set->first_lone_mask ? set_path(set, set->first_lone_mask) : NULL,
         *folder = lone ? path_folder(lone) : NULL;
    text_init(&text, 1 << 14);
    text_printf(&text, "%s: none of the %zu images has a mask%s", path, set->n_items, purpose);
    while (i < set->n_items && (strncasecmp(set->items[i].name, "masks/", 6) != 0 || *set->items[i].name == 'm'))
        i++;
    if (i < set->n_items) {
        text_printf(&text, "; rename %.6s to masks/, and the folder of the photos to images/", set->items[i].name);
    } else if (paged) {
        text_printf(&text, ": %.*s has several pages, and the mask of an image has one", (int)length, paged);
    } else if (folder && strstr(path_name(lone), "_mask.")) {
        text_put(&text, "; this gives the masks their images' names: (cd ");
        text_put_word(&text, folder);
        text_put(&text, " && for f in *_mask.*; do mv \"$f\" \"${f%_mask.*}.${f##*.}\"; done)");
    } else {
        text_put(&text, otherwise);
    }
    enum clv_status status = text.failed ? fail_memory(err) : fail(err, CLV_ERR_DATA, "%s", text.bytes);
    arrays_free(folder, lone);
    text_release(&text);
    return status;
}

void mask_remedy(struct text *text, const char *message, enum clv_fault fault, const struct clv_set *set,
                 const struct bad_images *bad, const struct clv_image_limits *limits)
{
    size_t i = 0;
    while (i < set->n_items && !begins_with(message, set->items[i].mask))
        i++;
    if (i == set->n_items)
        return;
    char *masks = path_folder(set->items[i].mask);
    if (!masks)
        text->failed = true;
    else if (fault == CLV_FAULT_MASK_SIZE)
        put_sizes(text, &set->items[i], limits);
    else if (fault != CLV_FAULT_OTHER)
        put_contents(text, masks, fault, set, bad, &set->items[i], limits);
    array_free(masks);
}

enum clv_status fail_with_remedy(const struct clv_set *set, const struct clv_image_limits *limits,
                                 struct clv_error *err)
{
    struct text text;
    text_init(&text, 1 << 16);
    text_put(&text, err->message);
    mask_remedy(&text, err->message, err->fault, set, NULL, limits);
    enum clv_status status = text.failed ? fail_memory(err) : fail(err, CLV_ERR_DATA, "%s", text.bytes);
    text_release(&text);
    return status;
}
