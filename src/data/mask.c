/* Maps the values of a mask to labels: by labels.tsv, or without it to background and foreground, by the usual pairs of
 * values. Start at mask_from_indexed. */
#include "data/data.h"

#include <stdbool.h>
#include <string.h>

#include "base/base.h"

#define NO_LABEL (-1)

const char mask_white_note[] = "black and white were read as 0 background and 1 foreground";
const char mask_other_value_note[] = "0 and one other value were read as 0 background and 1 foreground";
const char mask_colour_note[] = "black was read as 0 background, the other colour as 1 foreground";

void clv_mask_release(struct clv_mask *mask)
{
    array_free(mask->labels);
    *mask = (struct clv_mask){0};
}

/* Maps the values that labels.tsv names to themselves, and void values to CLV_VOID. */
static void map_named(int16_t map[256], const struct clv_labels *labels)
{
    for (int32_t v = 0; v < labels->n_labels && v < CLV_VOID; v++)
        if (labels->names[v][0])
            map[v] = (int16_t)v;
    for (int v = 0; v < CLV_VOID; v++)
        if (labels->is_void[v])
            map[v] = CLV_VOID;
    map[CLV_VOID] = CLV_VOID;
}

/* Whether a mask has soft (antialiased) edges: at least three quarters of its pixels are black or full white, and some
 * others are near the middle, where labels usually are not. */
static bool has_soft_edges(const size_t count[256])
{
    size_t n_between = 0, n_half = 0;
    for (int v = 1; v < 255; v++) {
        n_between += count[v];
        n_half += v >= 64 && v < 192 ? count[v] : 0;
    }
    return count[0] && count[255] && n_half && 3 * n_between <= count[0] + count[255];
}

/* Returns the other value of a mask that holds 0 and exactly one other value, which is not 255; else 0. */
static int only_other_value(const size_t count[256])
{
    int other = 0, n = 0;
    for (int v = 1; v < 256; v++)
        if (count[v]) {
            other = v;
            n++;
        }
    return n == 1 && count[0] && other != CLV_VOID ? other : 0;
}

/* Maps values to background and foreground without labels.tsv: 0 and 1, 0 and one other value, or black and full white
 * of a grey image, with or without soft edges. In other masks 255 is void. Returns a note for the user, or NULL. */
static const char *map_binary(int16_t map[256], const size_t count[256], const struct clv_indexed_image *image)
{
    int white = (1 << image->bit_depth) - 1, other = only_other_value(count);
    map[0] = 0;
    map[1] = 1;
    map[CLV_VOID] = CLV_VOID;
    bool has_white = !image->palette_size && white > 1 && count[white];
    if (other > 1 && !has_white) {
        map[other] = 1;
        return mask_other_value_note;
    }
    if (!has_white)
        return NULL;
    if (white == 255 && has_soft_edges(count)) {
        for (int v = 0; v < 256; v++)
            map[v] = v >= 128;
        return "soft edges were cut half way between black, 0 background, and white, 1 foreground";
    }
    for (int v = 1; v < white; v++)
        if (count[v])
            return NULL;
    map[white] = 1;
    return mask_white_note;
}

enum clv_status mask_from_indexed(struct clv_mask *mask, const struct clv_indexed_image *image, const char *name,
                                  const struct clv_labels *labels, struct clv_error *err)
{
    size_t n = (size_t)image->width * (size_t)image->height;
    size_t count[256] = {0};
    int16_t map[256];
    const char *note = NULL;
    for (size_t i = 0; i < n; i++)
        count[image->values[i]]++;
    for (int v = 0; v < 256; v++)
        map[v] = NO_LABEL;
    if (labels->from_file)
        map_named(map, labels);
    else
        note = map_binary(map, count, image);

    OWNED_ARRAY uint8_t *mapped = array_alloc(n, 1);
    NEED(mapped);
    for (size_t i = 0; i < n; i++) {
        int16_t label = map[image->values[i]];
        if (label == NO_LABEL) {
            size_t width = (size_t)image->width;
            return fail_fault(err, CLV_FAULT_MASK_VALUES, "%s: value %d at pixel (%zu, %zu) has no label%s", name,
                              image->values[i], i % width, i / width,
                              labels->from_file ? " in labels.tsv"
                                                : ": without a labels.tsv, masks hold 0 and 1, or 0 and 255");
        }
        mapped[i] = (uint8_t)label;
    }
    *mask = (struct clv_mask){.width = image->width, .height = image->height, .labels = TAKE(mapped), .note = note};
    return CLV_OK;
}

enum clv_status mask_check_size(int32_t width, int32_t height, const char *name, const struct mask_wanted *wanted,
                                struct clv_error *err)
{
    if (wanted->width && wanted->height && (width != wanted->width || height != wanted->height))
        return fail_fault(err, CLV_FAULT_MASK_SIZE, "%s: mask is %dx%d, image is %dx%d", name, width, height,
                          wanted->width, wanted->height);
    return CLV_OK;
}

enum clv_status mask_from_values(struct clv_mask *mask, const struct clv_mask *values, const struct clv_labels *labels,
                                 const char *name, struct clv_error *err)
{
    const struct clv_indexed_image image = {
        .width = values->width, .height = values->height, .values = values->labels, .bit_depth = 8};
    FAIL_IF(image.width < 1 || image.height < 1, CLV_ERR_USAGE, "%s: a mask of %dx%d pixels", name, image.width,
            image.height);
    return mask_from_indexed(mask, &image, name, labels, err);
}
