#include "task/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "data/data.h"

#define MAX_COLOURS 40 /* more are no labels */

/* What all masks of a set hold. */
struct contents {
    size_t n_colours, n_values;
    uint8_t colours[MAX_COLOURS + 1][3]; /* black first */
    bool has_value[256];
};

static void look_at(struct contents *self, const char *mask, const struct clv_image_limits *limits)
{
    struct clv_indexed_image indexed = {0};
    struct clv_image image = {0};
    struct clv_error ignored;
    bool is_indexed = clv_indexed_image_read(&indexed, mask, limits, &ignored) == CLV_OK;
    size_t n = (size_t)indexed.width * (size_t)indexed.height;
    for (size_t p = 0; p < n; p++)
        self->has_value[indexed.values[p]] = true;
    if (!is_indexed && clv_image_read(&image, mask, limits, &ignored) == CLV_OK)
        n = image.channels == 3 ? (size_t)image.width * (size_t)image.height : 0;
    for (size_t p = 0; !is_indexed && p < n && self->n_colours <= MAX_COLOURS; p++) {
        size_t k = 0;
        while (k < self->n_colours && memcmp(self->colours[k], image.pixels + 3 * p, 3) != 0)
            k++;
        if (k == self->n_colours)
            memcpy(self->colours[self->n_colours++], image.pixels + 3 * p, 3);
    }
    clv_indexed_image_release(&indexed);
    clv_image_release(&image);
}

static int compare_colours(const void *a, const void *b)
{
    return memcmp(a, b, 3);
}

/* labels.tsv of what the masks hold. */
static void put_labels(struct text *text, bool of_colours, const struct clv_set *set,
                       const struct clv_image_limits *limits)
{
    struct contents found = {.n_colours = 1};
    for (size_t i = 0; i < set->n_items; i++)
        if (set->items[i].mask)
            look_at(&found, set->items[i].mask, limits);
    for (int v = 0; v < CLV_VOID; v++)
        found.n_values += found.has_value[v];
    if ((of_colours ? found.n_colours : found.n_values) > MAX_COLOURS) {
        text_printf(text, "; more than %d %s are no labels: photographs, or smooth edges?", MAX_COLOURS,
                    of_colours ? "colours" : "values");
        return;
    }
    qsort(found.colours, found.n_colours, 3, compare_colours);
    text_printf(text, "; this names them (c1, c2 .. are to be renamed): printf '%s",
                of_colours ? "name\\tred\\tgreen\\tblue\\n" : "value\\tname\\n");
    for (size_t c = 0; of_colours && c < found.n_colours; c++)
        text_printf(text, "%s%.0zu\\t%d\\t%d\\t%d\\n", c ? "c" : "background", c, found.colours[c][0],
                    found.colours[c][1], found.colours[c][2]);
    for (int v = 0; !of_colours && v < CLV_VOID; v++)
        if (found.has_value[v])
            text_printf(text, "%d\\t%s%.0d\\n", v, v ? "c" : "background", v);
    text_put(text, "' >");
    char *table = set_path(set, "labels.tsv");
    text->failed |= !table;
    text_put_word(text, table ? table : "");
    array_free(table);
}

/* One of two labels of which JPEG is a picture: the old files go where sets do not look. */
static void put_png_command(struct text *text, const char *masks, const struct clv_item *item)
{
    const char *extension = strrchr(item->mask, '.');
    bool is_apart = strncmp(item->image, item->mask, strlen(masks)) != 0;
    text_put(text, "; of two labels this makes PNGs: (cd ");
    text_put_word(text, masks);
    text_printf(text,
                " && mkdir -p .old && mv %s%s .old && python3 -c 'import os;from PIL import Image;"
                "[Image.open(\".old/\"+f).convert(\"L\").point(lambda v:255*(v>127)).save(os.path.splitext(f)[0]+"
                "\".png\") for f in os.listdir(\".old\")]')",
                is_apart ? "*" : "*_mask", extension ? extension : "");
}

/* How many times as large the larger one is, but for rounding; 0: no whole number. */
static int whole_factor(int a, int b)
{
    int large = a > b ? a : b, small = a > b ? b : a, factor = small > 0 ? (large + small / 2) / small : 0;
    return factor > 1 && abs(large - factor * small) < factor ? factor : 0;
}

static void put_sizes(struct text *text, const struct clv_item *item, const struct clv_image_limits *limits)
{
    int32_t width, height, mask_width, mask_height;
    struct clv_error ignored;
    bool is_known = clv_image_read_size(&width, &height, item->image, limits, &ignored) == CLV_OK &&
                    clv_image_read_size(&mask_width, &mask_height, item->mask, limits, &ignored) == CLV_OK;
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
                 const struct clv_image_limits *limits)
{
    size_t i = 0, length = 0;
    for (; i < set->n_items; i++) {
        length = set->items[i].mask ? strlen(set->items[i].mask) : 0;
        if (length && strncmp(message, set->items[i].mask, length) == 0 && message[length] == ':')
            break;
    }
    if (i == set->n_items)
        return;
    char *masks = path_folder(set->items[i].mask);
    if (!masks)
        text->failed = true;
    else if (fault == CLV_FAULT_MASK_FORMAT)
        put_png_command(text, masks, &set->items[i]);
    else if (fault == CLV_FAULT_MASK_SIZE)
        put_sizes(text, &set->items[i], limits);
    else if (fault == CLV_FAULT_MASK_VALUES || fault == CLV_FAULT_MASK_COLOURS)
        put_labels(text, fault == CLV_FAULT_MASK_COLOURS, set, limits);
    array_free(masks);
}
