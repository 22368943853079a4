/* Reads masks of other programs that hold colours, transparency or 16 bits: converts them to 8-bit values, then maps
 * those to labels. Start at mask_from_wide. */
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "image/image.h"

bool mask_is_wide(const unsigned char *bytes, size_t size)
{
    if (size < 26 || memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) != 0)
        return false;
    int depth = bytes[24], colour_type = bytes[25];
    return colour_type == 2 || colour_type == 4 || colour_type == 6 || (colour_type == 0 && depth == 16);
}

static bool is_grey(const uint8_t *rgba, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rgba[4 * i] != rgba[4 * i + 1] || rgba[4 * i] != rgba[4 * i + 2])
            return false;
    return true;
}

/* The mask value with this colour in labels.tsv, or -1. */
static int value_of_colour(const struct clv_labels *labels, const uint8_t colour[3])
{
    for (int v = 0; v < labels->n_labels; v++)
        if (labels->names[v][0] && memcmp(labels->palette[v], colour, 3) == 0)
            return v;
    for (int v = 0; v < CLV_VOID; v++)
        if (labels->is_void[v] && memcmp(labels->palette[v], colour, 3) == 0)
            return v;
    return memcmp(labels->palette[CLV_VOID], colour, 3) == 0 ? CLV_VOID : -1;
}

/* Maps colours to mask values by labels.tsv. Searches only where the colour changes from one pixel to the next. */
static enum clv_status match_colours(uint8_t *values, const struct wide_samples *wide, const char *name,
                                     const struct clv_labels *labels, struct clv_error *err)
{
    const uint8_t *last = NULL;
    int value = -1;
    size_t n = (size_t)wide->width * (size_t)wide->height;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *colour = wide->rgba + 4 * i;
        if (!last || memcmp(last, colour, 3) != 0)
            value = value_of_colour(labels, colour);
        last = colour;
        if (value < 0)
            return fail_fault(err, CLV_FAULT_MASK_COLOURS,
                              "%s: colour %d,%d,%d at pixel (%zu, %zu) is not a label's in labels.tsv", name, colour[0],
                              colour[1], colour[2], i % (size_t)wide->width, i / (size_t)wide->width);
        values[i] = (uint8_t)value;
    }
    return CLV_OK;
}

/* Maps black to background and the only other colour to foreground, without labels.tsv; false: there are more
 * colours. */
static bool match_one_colour(uint8_t *values, const uint8_t *rgba, size_t n)
{
    static const uint8_t black[3];
    const uint8_t *foreground = NULL;
    for (size_t i = 0; i < n; i++) {
        bool is_background = memcmp(rgba + 4 * i, black, 3) == 0;
        if (!is_background && !foreground)
            foreground = rgba + 4 * i;
        if (!is_background && memcmp(rgba + 4 * i, foreground, 3) != 0)
            return false;
        values[i] = !is_background;
    }
    return true;
}

/* Makes transparent pixels black; returns whether there are any. */
static bool drop_transparent(uint8_t *rgba, size_t n)
{
    bool found = false;
    for (size_t i = 0; i < n; i++)
        if (rgba[4 * i + 3] < 128) {
            memset(rgba + 4 * i, 0, 3);
            found = true;
        }
    return found;
}

static enum clv_status read_colours(struct clv_indexed_image *image, const char **note, const struct wide_samples *wide,
                                    const char *name, const struct clv_labels *labels, struct clv_error *err)
{
    size_t n = (size_t)wide->width * (size_t)wide->height;
    bool was_transparent = drop_transparent(wide->rgba, n), grey = is_grey(wide->rgba, n);
    *note =
        was_transparent ? "colours were read as labels, transparent pixels as black" : "colours were read as labels";
    if (labels->from_file) {
        enum clv_status status = match_colours(image->values, wide, name, labels, err);
        if (status != CLV_ERR_DATA || !grey)
            return status;
    }
    if (grey) {
        *note = was_transparent ? "grey levels of RGB were read as values, transparent pixels as 0"
                                : "grey levels of RGB were read as values";
        for (size_t i = 0; i < n; i++)
            image->values[i] = wide->rgba[4 * i];
        return CLV_OK;
    }
    image->palette_size = 256; /* these are values, not levels */
    if (match_one_colour(image->values, wide->rgba, n)) {
        *note = mask_colour_note;
        return CLV_OK;
    }
    if (!was_transparent)
        return fail_fault(err, CLV_FAULT_MASK_COLOURS,
                          "%s: masks must be 8-bit grey or palette PNG, or labels.tsv must name their colours", name);
    *note = "cut-outs: opaque pixels were read as 1 foreground, transparent ones as 0 background";
    for (size_t i = 0; i < n; i++)
        image->values[i] = wide->rgba[4 * i + 3] >= 128;
    return CLV_OK;
}

/* Converts 16-bit grey to 8 bits: values up to 255 stay, levels that are all multiples of 257 are divided by it. */
static enum clv_status read_grey16(struct clv_indexed_image *image, const char **note, const struct wide_samples *wide,
                                   const char *name, struct clv_error *err)
{
    size_t n = (size_t)wide->width * (size_t)wide->height;
    bool is_small = true, is_scaled = true;
    for (size_t i = 0; i < n; i++) {
        is_small &= wide->grey16[i] <= 255;
        is_scaled &= wide->grey16[i] % 257 == 0;
    }
    if (!is_small && !is_scaled)
        return fail_fault(err, CLV_FAULT_MASK_VALUES,
                          "%s: a 16-bit mask has values above 255 that are not levels of 8 bits", name);
    *note = is_small ? "16-bit values were read as they are" : "16-bit levels were read as those of 8 bits";
    for (size_t i = 0; i < n; i++)
        image->values[i] = (uint8_t)(is_small ? wide->grey16[i] : wide->grey16[i] / 257);
    return CLV_OK;
}

enum clv_status mask_from_wide(struct clv_mask *mask, const struct file_map *file, const struct clv_labels *labels,
                               const struct mask_wanted *wanted, struct clv_error *err)
{
    const char *name = file->path, *note = NULL;
    OWNED(wide_samples_release) struct wide_samples wide = {0};
    enum clv_status status = png_decode_wide(&wide, file->bytes, file->size, wanted->limits, err);
    if (status)
        return fail_within(err, status, name);
    OWNED(clv_indexed_image_release) struct clv_indexed_image image = {
        .width = wide.width, .height = wide.height, .bit_depth = 8};
    image.values = array_alloc((size_t)wide.width, (size_t)wide.height);
    NEED(image.values);
    MUST(mask_check_size(wide.width, wide.height, name, wanted, err));
    MUST(wide.rgba ? read_colours(&image, &note, &wide, name, labels, err)
                   : read_grey16(&image, &note, &wide, name, err));
    MUST(mask_from_indexed(mask, &image, name, labels, err));
    if (!mask->note)
        mask->note = note;
    return CLV_OK;
}
