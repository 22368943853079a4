/* Decides what 0, 255 and one other value mean in masks without named labels, by all masks of a dataset. Start at
 * clv_masks_from_values. */
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"

/* How a mask was read. raw[height][width][channels] has its original values or colours; NULL: unknown. */
static struct foreground foreground_of(const struct clv_mask *mask, const uint8_t *raw, int32_t channels)
{
    size_t n = (size_t)mask->width * (size_t)mask->height;
    const uint8_t *first = memchr(mask->labels, 1, n);
    struct foreground self = {
        .value = first && !mask->note,
        .is_white = mask->note == mask_white_note,
        .has_background = memchr(mask->labels, 0, n),
        .has_void = memchr(mask->labels, CLV_VOID, n),
    };
    const uint8_t *pixel = raw && first ? raw + (first - mask->labels) * channels : NULL;
    if (pixel && mask->note == mask_other_value_note)
        self.value = *pixel;
    if (pixel && mask->note == mask_colour_note && channels == 3)
        self.colour = (uint32_t)(1 << 24 | pixel[0] << 16 | pixel[1] << 8 | pixel[2]);
    return self;
}

struct foreground foreground_of_item(const struct clv_mask *mask, const struct clv_item *item,
                                     const struct clv_image_limits *limits)
{
    OWNED(clv_indexed_image_release) struct clv_indexed_image raw = {0};
    OWNED(clv_image_release) struct clv_image shown = {0};
    struct clv_error ignored;
    bool is_value = mask->note == mask_other_value_note, is_colour = mask->note == mask_colour_note;
    if (item->is_derived)
        return (struct foreground){0};
    if (item->labels)
        return foreground_of(mask, item->labels->labels, 1);
    bool is_indexed = is_value && clv_indexed_image_read(&raw, item->mask, limits, &ignored) == CLV_OK;
    if ((is_value || is_colour) && !is_indexed && clv_image_read(&shown, item->mask, limits, &ignored) != CLV_OK)
        return (struct foreground){0};
    return foreground_of(mask, is_indexed ? raw.values : shown.pixels, is_indexed ? 1 : shown.channels);
}

/* Whether the foreground value differs from that of earlier masks. */
static bool differs(const struct foregrounds *all, const struct foreground *foreground)
{
    return foreground->value && all->value && foreground->value != all->value;
}

static const char *remedy_of(const struct foregrounds *all)
{
    return all->remedy ? all->remedy : "these are two labels";
}

static enum clv_status fail_values(const struct foregrounds *all, const char *name, int value, const char *other,
                                   int other_value, struct clv_error *err)
{
    return fail_fault(err, CLV_FAULT_MASK_VALUES, "%s: holds 0 and %d, but %s 0 and %d: %s", name, value, other,
                      other_value, remedy_of(all));
}

/* Refuses foregrounds of two colours, of white and a colour, and of white and another value: they are two labels. */
static enum clv_status colours_agree(struct foregrounds *all, const struct foreground *foreground, const char *name,
                                     struct clv_error *err)
{
    const uint32_t white = 0x1ffffff,
                   colour = foreground->is_white && foreground->has_background ? white : foreground->colour;
    if (colour == white && all->value > 1)
        return fail_values(all, name, 255, all->first, all->value, err);
    if (foreground->value > 1 && all->colour == white)
        return fail_values(all, name, foreground->value, all->first_colour, 255, err);
    if (colour && all->colour && colour != all->colour)
        return fail_fault(err, CLV_FAULT_MASK_COLOURS, "%s: holds black and %u,%u,%u, but %s black and %u,%u,%u: %s",
                          name, colour >> 16 & 255, colour >> 8 & 255, colour & 255, all->first_colour,
                          all->colour >> 16 & 255, all->colour >> 8 & 255, all->colour & 255, remedy_of(all));
    if (colour && !all->colour) {
        all->colour = colour;
        all->first_colour = name;
    }
    return CLV_OK;
}

enum clv_status foregrounds_agree(struct foregrounds *all, const struct foreground *foreground, const char *name,
                                  struct clv_error *err)
{
    const char *other = NULL, **first[2] = {NULL, NULL};
    if (differs(all, foreground))
        return fail_values(all, name, foreground->value, all->first, all->value, err);
    MUST(colours_agree(all, foreground, name, err));
    if (foreground->value && !all->value) {
        all->value = foreground->value;
        all->first = name;
    }
    if (foreground->is_white) {
        bool is_blank = !foreground->has_background;
        other = is_blank ? all->first_one : all->first_strokes;
        first[0] = &all->first_white;
        first[1] = is_blank ? &all->first_blank : NULL;
    } else if (foreground->value == 1) {
        other = foreground->has_void ? all->first_white : all->first_blank;
        first[0] = &all->first_one;
        first[1] = foreground->has_void ? &all->first_strokes : NULL;
    }
    for (int k = 0; k < 2; k++)
        if (first[k] && !*first[k])
            *first[k] = name;
    return other ? fail_fault(err, CLV_FAULT_MASK_VALUES, "%s: beside %s, 255 may be foreground or void%s%s", name,
                              other, all->remedy ? ": " : "", all->remedy ? all->remedy : "")
                 : CLV_OK;
}

/* Reads the values as binary masks, by the rules for files. *are_binary is false if a mask has more values than
 * background, foreground and void, or if two masks have different foreground values. */
static enum clv_status read_all(struct clv_mask *masks, struct foreground *found, bool *are_binary,
                                const struct clv_mask *values, const char *const *names, size_t n,
                                struct clv_error *err)
{
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    struct foregrounds all = {0};
    *are_binary = true;
    MUST(clv_labels_binary(&labels, err));
    for (size_t i = 0; i < n && *are_binary; i++) {
        enum clv_status status = mask_from_values(&masks[i], &values[i], &labels, names[i], err);
        *are_binary = status == CLV_OK;
        if (status == CLV_ERR_DATA)
            break;
        MUST(status);
        found[i] = foreground_of(&masks[i], values[i].labels, 1);
        *are_binary = !differs(&all, &found[i]);
        all.value = found[i].value ? found[i].value : all.value;
    }
    return CLV_OK;
}

/* Refuses values with so many gaps that most labels would occur in no mask; with many labels some learners cannot train
 * couplings. */
static enum clv_status check_gaps(const struct clv_mask *masks, size_t n, struct clv_error *err)
{
    enum { MOST_NAMED = 8 };
    bool is_there[256] = {false};
    int n_values = 0, highest = 0;
    OWNED(text_release) struct text values = {0};
    for (size_t i = 0; i < n; i++)
        for (size_t p = 0; p < (size_t)masks[i].width * (size_t)masks[i].height; p++)
            is_there[masks[i].labels[p]] = true;
    for (int v = 0; v < CLV_VOID; v++)
        if (is_there[v]) {
            n_values++;
            highest = v;
        }
    if (highest + 1 <= 2 * n_values)
        return CLV_OK;
    text_init(&values, 1 << 12);
    for (int v = 0, k = 0; v <= highest; v++) {
        if (is_there[v] && k < MOST_NAMED)
            text_printf(&values, "%s%d", !k ? "" : k + 1 < n_values ? ", " : " and ", v);
        k += is_there[v];
    }
    NEED(!values.failed && values.bytes);
    return fail(err, CLV_ERR_DATA,
                "the masks hold %s%s%s: %d labels, of which %d occur nowhere; number the %d values in their order, "
                "from 0 to %d, or name all labels",
                values.bytes, n_values > MOST_NAMED ? " .." : "", is_there[CLV_VOID] ? ", and 255, which is void" : "",
                highest + 1, highest + 1 - n_values, n_values, n_values - 1);
}

struct masks {
    struct clv_mask *items; /* [n] */
    size_t n;
};

static void masks_release(struct masks *self)
{
    for (size_t i = 0; i < self->n; i++)
        clv_mask_release(&self->items[i]);
    array_free(self->items);
}

enum clv_status clv_masks_from_values(struct clv_mask *masks, bool *are_binary, const struct clv_mask *values,
                                      const char *const *names, size_t n, const char *remedy, struct clv_error *err)
{
    struct foregrounds all = {.remedy =
                                  remedy ? remedy : "name the labels, which makes it void, or write foreground as 1"};
    OWNED(masks_release) struct masks result = {.items = array_zalloc(n, sizeof *result.items)};
    NEED(result.items);
    result.n = n;
    OWNED_ARRAY struct foreground *found = array_alloc(n, sizeof *found);
    NEED(found);
    bool is_read = false;
    MUST(read_all(result.items, found, &is_read, values, names, n, err));
    for (size_t i = 0; i < n && is_read; i++)
        MUST(foregrounds_agree(&all, &found[i], names[i], err));
    if (!is_read && !remedy)
        MUST(check_gaps(values, n, err));
    for (size_t i = 0; i < n; i++)
        masks[i] = is_read ? TAKE(result.items[i]) : (struct clv_mask){0};
    *are_binary = is_read;
    return CLV_OK;
}
