/* What 0, 255 and one other value mean in masks whose values nobody named, all of a set together. */
#include <string.h>

#include "base/base.h"
#include "data/data.h"

/* How a mask was read; raw[height][width] are its values, NULL if they are not known. */
static struct figure figure_of(const struct clv_mask *mask, const uint8_t *raw)
{
    size_t n = (size_t)mask->width * (size_t)mask->height;
    bool has_figure = memchr(mask->labels, 1, n);
    struct figure self = {
        .value = has_figure && !mask->note,
        .is_white = mask->note == mask_white_note,
        .has_ground = memchr(mask->labels, 0, n),
        .has_void = memchr(mask->labels, CLV_VOID, n),
    };
    for (size_t p = 0; raw && p < n && !self.value && mask->note == mask_other_value_note; p++)
        self.value = raw[p];
    return self;
}

struct figure figure_of_item(const struct clv_mask *mask, const struct clv_item *item,
                             const struct clv_image_limits *limits)
{
    struct clv_indexed_image raw = {0};
    struct clv_error ignored;
    if (item->is_derived ||
        (mask->note == mask_other_value_note && clv_indexed_image_read(&raw, item->mask, limits, &ignored) != CLV_OK))
        return (struct figure){0};
    struct figure self = figure_of(mask, raw.values);
    clv_indexed_image_release(&raw);
    return self;
}

/* Of another value than figures before: two values are two labels. */
static bool differs(const struct figures *all, const struct figure *figure)
{
    return figure->value && all->value && figure->value != all->value;
}

enum clv_status figures_agree(struct figures *all, const struct figure *figure, const char *name, struct clv_error *err)
{
    const char *other = NULL, **first[2] = {NULL, NULL};
    if (differs(all, figure))
        return fail_fault(err, CLV_FAULT_MASK_VALUES,
                          "%s: holds 0 and %d, but %s 0 and %d: a labels.tsv must name what they are", name,
                          figure->value, all->first, all->value);
    if (figure->value && !all->value) {
        all->value = figure->value;
        all->first = name;
    }
    if (figure->is_white) {
        bool is_blank = !figure->has_ground;
        other = is_blank ? all->first_one : all->first_strokes;
        first[0] = &all->first_white;
        first[1] = is_blank ? &all->first_blank : NULL;
    } else if (figure->value == 1) {
        other = figure->has_void ? all->first_white : all->first_blank;
        first[0] = &all->first_one;
        first[1] = figure->has_void ? &all->first_strokes : NULL;
    }
    for (int k = 0; k < 2; k++)
        if (first[k] && !*first[k])
            *first[k] = name;
    return other ? fail_fault(err, CLV_FAULT_MASK_VALUES, "%s: beside %s, 255 may be figure or left out: %s", name,
                              other, all->remedy ? all->remedy : "a labels.tsv must name what values are")
                 : CLV_OK;
}

/* The masks as files would be read, in which no value is a label of its own: *are_figures. */
static enum clv_status read_all(struct clv_mask *made, struct figure *found, bool *are_figures,
                                const struct clv_mask *values, const char *const *names, size_t n,
                                struct clv_error *err)
{
    struct clv_labels labels = {0};
    struct figures all = {0};
    enum clv_status status = clv_labels_binary(&labels, err);
    *are_figures = true;
    for (size_t i = 0; i < n && status == CLV_OK && *are_figures; i++) {
        status =
            mask_from_values(&made[i], values[i].labels, values[i].width, values[i].height, &labels, names[i], err);
        *are_figures = status == CLV_OK;
        if (status == CLV_ERR_DATA)
            status = CLV_OK;
        if (!*are_figures)
            continue;
        found[i] = figure_of(&made[i], values[i].labels);
        *are_figures = !differs(&all, &found[i]);
        all.value = found[i].value ? found[i].value : all.value;
    }
    clv_labels_release(&labels);
    return status;
}

enum clv_status clv_masks_from_values(struct clv_mask *made, bool *are_figures, const struct clv_mask *values,
                                      const char *const *names, size_t n, const char *remedy, struct clv_error *err)
{
    struct figures all = {.remedy = remedy ? remedy : "name the labels, which leaves it out, or write figure as 1"};
    struct clv_mask *fresh = array_zalloc(n, sizeof *fresh);
    struct figure *found = array_alloc(n, sizeof *found);
    bool is_read = false;
    enum clv_status status =
        fresh && found ? read_all(fresh, found, &is_read, values, names, n, err) : fail_memory(err);
    for (size_t i = 0; i < n && status == CLV_OK && is_read; i++)
        status = figures_agree(&all, &found[i], names[i], err);
    for (size_t i = 0; i < n && fresh && (status != CLV_OK || !is_read); i++)
        clv_mask_release(&fresh[i]);
    if (status == CLV_OK) {
        memcpy(made, fresh, n * sizeof *made);
        *are_figures = is_read;
    }
    arrays_free(fresh, found);
    return status;
}
