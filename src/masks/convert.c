/* Applies the plan of a dataset to one of its masks: first its size, then its labels. Start at mask_convert. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "masks/masks.h"

void converted_mask_release(struct converted_mask *self)
{
    array_free(self->labels);
    clv_object_map_release(&self->objects);
    *self = (struct converted_mask){0};
}

/* Turns and resizes the mask to its photo's size. */
static enum clv_status fit(struct foreign_mask *mask, const struct mask_plan *plan, const struct mask_facts *facts,
                           const char *path, struct clv_error *err)
{
    const int32_t width = facts->image_width, height = facts->image_height;
    const bool is_odd = facts->orientation >= 5 && (mask->width < mask->height) != (width < height);
    if (facts->orientation > 1 && (plan->turns || is_odd))
        MUST(foreign_mask_orient(mask, facts->orientation, err));
    if (mask->width == width && mask->height == height)
        return CLV_OK;
    FAIL_IF(!mask_factor(width, height, mask->width, mask->height) && !plan->stretches, CLV_ERR_DATA,
            "%s: mask is %dx%d, image is %dx%d; --stretch lays it over the whole image", path, facts->width,
            facts->height, width, height);
    return foreign_mask_resize(mask, width, height, err);
}

/* Returns the value of the nearest rule within the tolerance, or void. */
static uint8_t find_nearest(const struct mask_plan *plan, uint32_t code)
{
    const struct mask_rule *best = NULL;
    double least = plan->tolerance;
    for (size_t k = 0; k < plan->n_rules; k++) {
        const double distance = mask_code_distance(plan->rules[k].code, code);
        if (distance < least || (!best && distance <= least)) {
            least = distance;
            best = &plan->rules[k];
        }
    }
    return best ? best->value : CLV_VOID;
}

static void take_labels(struct converted_mask *self, const struct mask_plan *plan, const struct foreign_mask *mask)
{
    const bool is_near = mask->is_lossy || plan->is_nearest;
    uint32_t last = 0;
    uint8_t value = CLV_VOID;
    bool is_known = false;
    for (size_t p = 0, n = (size_t)mask->width * (size_t)mask->height; p < n; p++) {
        const uint32_t code = mask->codes[p];
        if (plan->are_cutouts) {
            self->labels[p] = code != CODE_CLEAR;
            continue;
        }
        if (!p || code != last) {
            const struct mask_rule *rule = mask_rule_find(plan, code);
            value = rule ? rule->value : is_near ? find_nearest(plan, code) : CLV_VOID;
            is_known = rule || value != CLV_VOID;
            last = code;
        }
        self->labels[p] = value;
        self->n_unknown += !is_known;
    }
}

static int compare_codes(const void *a, const void *b)
{
    const uint32_t s = *(const uint32_t *)a, t = *(const uint32_t *)b;
    return (s > t) - (s < t);
}

/* Makes an object of every code except the background, numbered in the order of codes. */
static enum clv_status take_objects(struct converted_mask *self, const struct foreign_mask *mask, struct clv_error *err)
{
    const size_t n = (size_t)mask->width * (size_t)mask->height;
    OWNED_ARRAY uint32_t *codes = array_alloc(n, sizeof *codes);
    self->objects = (struct clv_object_map){.width = mask->width, .height = mask->height};
    self->objects.objects = array_zalloc(n, sizeof *self->objects.objects);
    NEED(codes && self->objects.objects);
    size_t n_runs = 0, n_codes = 0;
    for (size_t p = 0; p < n; p++)
        if (!p || mask->codes[p] != mask->codes[p - 1])
            codes[n_runs++] = mask->codes[p];
    qsort(codes, n_runs, sizeof *codes, compare_codes);
    for (size_t k = 0; k < n_runs; k++) {
        const bool is_background = codes[k] == 0 || codes[k] == CODE_COLOUR || codes[k] == CODE_CLEAR;
        if (!is_background && (!n_codes || codes[n_codes - 1] != codes[k]))
            codes[n_codes++] = codes[k];
    }
    const uint32_t *found = NULL;
    for (size_t p = 0; p < n; p++) {
        if (!p || mask->codes[p] != mask->codes[p - 1])
            found = n_codes ? bsearch(&mask->codes[p], codes, n_codes, sizeof *codes, compare_codes) : NULL;
        self->labels[p] = found != NULL;
        self->objects.objects[p] = found ? (int32_t)(found - codes) + 1 : 0;
    }
    self->objects.n_objects = (int32_t)n_codes;
    return CLV_OK;
}

enum clv_status mask_convert(struct converted_mask *self, const struct mask_plan *plan, const struct mask_facts *facts,
                             const struct mask_pair *pair, const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(converted_mask_release) struct converted_mask result = {0};
    OWNED(foreign_mask_release) struct foreign_mask mask = {0};
    int32_t width, height; /* reading the size again reports an unreadable photo */
    MUST(foreign_mask_read(&mask, pair->mask, limits, err));
    MUST(clv_image_read_size(&width, &height, pair->image, limits, err));
    FAIL_IF(width != facts->image_width || height != facts->image_height, CLV_ERR_DATA,
            "%s: has changed while it was read", pair->image);
    MUST(fit(&mask, plan, facts, pair->mask, err));
    if (plan->shows && !plan->are_objects)
        foreign_mask_show(&mask);
    const size_t n = (size_t)mask.width * (size_t)mask.height;
    result.width = mask.width;
    result.height = mask.height;
    result.labels = array_alloc(n, 1);
    NEED(result.labels);
    if (plan->are_objects)
        MUST(take_objects(&result, &mask, err));
    else
        take_labels(&result, plan, &mask);
    FAIL_IF(2 * result.n_unknown > n, CLV_ERR_DATA, "%s: %.0f %% of its pixels have no label", pair->mask,
            100 * (double)result.n_unknown / (double)n);
    *self = TAKE(result);
    return CLV_OK;
}
