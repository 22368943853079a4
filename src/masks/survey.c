/* Surveys all masks of a dataset: their codes, how their sizes relate to those of their photos, and whether their
 * numbers are those of objects. The codes of one mask are counted in a small hash table. Lossy masks, and masks with
 * more codes than labels can have, are rough (JPEG, soft edges, noise): only their greys and coarse colours are
 * counted. Start at mask_survey. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "image/image.h"
#include "masks/masks.h"

void mask_survey_release(struct mask_survey *survey)
{
    arrays_free(survey->facts, survey->codes[0], survey->codes[1], survey->bins);
    *survey = (struct mask_survey){0};
}

#define SLOTS      1024 /* a power of 2, four times MASK_MAX_CODES */
#define LEAST_AREA 4    /* least mean area of objects in pixels; in a photograph most pixels differ in colour */
#define FINE_STEPS 16   /* greys of one mask within this range cannot be told from the noise of JPEG */

/* The codes of one mask. */
struct counts {
    struct code_count slots[SLOTS]; /* n_pixels 0: free */
    int n;                          /* MASK_MAX_CODES + 1: there are more, which are not counted */
};

static struct code_count *find_slot(struct counts *self, uint32_t code)
{
    size_t at = (code * 2654435761u) >> 22; /* Knuth's multiplicative hash, 10 bits of it */
    while (self->slots[at].n_pixels && self->slots[at].code != code)
        at = (at + 1) % SLOTS;
    return &self->slots[at];
}

static void count_codes(struct counts *self, const struct foreign_mask *mask)
{
    struct code_count *last = NULL;
    for (size_t p = 0, n = (size_t)mask->width * (size_t)mask->height; p < n; p++) {
        const uint32_t code = mask->codes[p];
        if (!last || last->code != code)
            last = find_slot(self, code);
        if (!last->n_pixels && self->n >= MASK_MAX_CODES) {
            self->n = MASK_MAX_CODES + 1;
            last = NULL;
            continue;
        }
        self->n += !last->n_pixels;
        last->code = code;
        last->n_pixels++;
    }
}

static int grey_of(uint32_t code)
{
    const uint32_t red = code >> 16 & 255, green = code >> 8 & 255, blue = code & 255;
    return code & CODE_COLOUR ? (int)((299 * red + 587 * green + 114 * blue + 500) / 1000) : code < 256 ? (int)code : 0;
}

/* Whether a code means background: 0, black or transparent. */
static bool is_background(uint32_t code)
{
    return code == 0 || code == CODE_COLOUR || code == CODE_CLEAR;
}

/* Whether the codes of a mask are numbers of objects: three or more, at most 1.25 connected pieces per code, and at
 * least LEAST_AREA pixels per code. */
static enum clv_status numbers_objects(bool *does, const struct foreign_mask *mask, struct clv_error *err)
{
    enum { CODES = CODE_CLEAR + 1, BITS = 64 };
    const size_t n = (size_t)mask->width * (size_t)mask->height;
    OWNED_ARRAY uint64_t *seen = array_zalloc(CODES / BITS + 1, sizeof *seen);
    OWNED_ARRAY uint8_t *labels = array_alloc(n, 1);
    OWNED(clv_object_map_release) struct clv_object_map pieces = {0};
    int64_t n_codes = 0, area = 0;
    NEED(seen && labels);
    for (size_t p = 0; p < n; p++) {
        const uint32_t code = mask->codes[p];
        labels[p] = is_background(code) ? 0 : (uint8_t)(1 + code * 2654435761u % 254);
        area += labels[p] > 0;
        if (!labels[p] || seen[code / BITS] >> code % BITS & 1)
            continue;
        seen[code / BITS] |= (uint64_t)1 << code % BITS;
        n_codes++;
    }
    *does = false;
    if (n_codes < 3 || area < LEAST_AREA * n_codes)
        return CLV_OK;
    MUST(clv_object_map_from_labels(&pieces, labels, mask->width, mask->height, NULL, err));
    *does = 4 * (int64_t)pieces.n_objects <= 5 * n_codes;
    return CLV_OK;
}

static int compare_counts(const void *a, const void *b)
{
    const struct code_count *s = a, *t = b;
    return (s->code > t->code) - (s->code < t->code);
}

/* Adds a code of a mask to the codes of the survey. */
static enum clv_status add_count(struct mask_survey *self, int list, uint32_t code, uint64_t n_pixels,
                                 struct clv_error *err)
{
    const struct code_count found = {code, n_pixels};
    size_t at = self->n_codes[list];
    struct code_count *known = at ? bsearch(&found, self->codes[list], at, sizeof found, compare_counts) : NULL;
    if (known) {
        known->n_pixels += n_pixels;
        return CLV_OK;
    }
    NEED(!array_reserve((void **)&self->codes[list], &self->capacity[list], at + 1, sizeof found));
    for (; at && self->codes[list][at - 1].code > code; at--)
        self->codes[list][at] = self->codes[list][at - 1];
    self->codes[list][at] = found;
    self->n_codes[list]++;
    return CLV_OK;
}

static enum clv_status add_counts(struct mask_survey *self, const struct counts *counts,
                                  const struct foreign_mask *mask, struct clv_error *err)
{
    for (size_t k = 0; k < SLOTS; k++) {
        const struct code_count *slot = &counts->slots[k];
        if (!slot->n_pixels)
            continue;
        MUST(add_count(self, 0, slot->code, slot->n_pixels, err));
        MUST(add_count(self, 1, foreign_code_shown(mask, slot->code), slot->n_pixels, err));
    }
    return CLV_OK;
}

/* Adds the colours of a rough mask to the bins. */
static enum clv_status add_bins(struct mask_survey *self, const struct foreign_mask *mask, struct clv_error *err)
{
    if (!self->bins)
        self->bins = array_zalloc(MASK_BINS, sizeof *self->bins);
    NEED(self->bins);
    for (size_t p = 0, n = (size_t)mask->width * (size_t)mask->height; p < n; p++) {
        const uint32_t code = foreign_code_shown(mask, mask->codes[p]);
        double *bin = self->bins[(code >> 19 & 31) << 10 | (code >> 11 & 31) << 5 | (code >> 3 & 31)];
        if (!(code & CODE_COLOUR))
            continue;
        bin[0]++;
        bin[1] += code >> 16 & 255;
        bin[2] += code >> 8 & 255;
        bin[3] += code & 255;
    }
    return CLV_OK;
}

/* The whole number of times that `small` fits into `large`, up to rounding; 0: no whole number above 1. */
static int whole_factor(int32_t large, int32_t small)
{
    const int32_t factor = small > 0 ? (int32_t)(((int64_t)large + small / 2) / small) : 0;
    return factor > 1 && llabs((int64_t)large - (int64_t)factor * small) < factor ? factor : 0;
}

int mask_factor(int32_t width, int32_t height, int32_t mask_width, int32_t mask_height)
{
    if (width == mask_width && height == mask_height)
        return 1;
    const int up = whole_factor(width, mask_width), down = whole_factor(mask_width, width);
    if (up && up == whole_factor(height, mask_height))
        return up;
    return down && down == whole_factor(mask_height, height) ? -down : 0;
}

/* Updates the survey's orientation counts and factor by the sizes of a mask and its photo. */
static void take_size(struct mask_survey *self, struct mask_facts *facts)
{
    int32_t width = facts->width, height = facts->height;
    if (facts->orientation >= 5 && facts->image_width != facts->image_height) {
        const bool is_stored = (width < height) != (facts->image_width < facts->image_height);
        self->n_turned += is_stored;
        self->n_upright += !is_stored;
        width = is_stored ? facts->height : facts->width;
        height = is_stored ? facts->width : facts->height;
    }
    const int factor = mask_factor(facts->image_width, facts->image_height, width, height);
    self->factor = self->n_read == 1 || self->factor == factor ? factor : 0;
}

/* Adds the colours of the mask's values; notes if they differ from those of earlier masks. */
static void take_palette(struct mask_survey *self, const struct foreign_mask *mask, const struct counts *counts)
{
    for (size_t k = 0; k < SLOTS && mask->n_palette; k++) {
        const uint32_t value = counts->slots[k].code;
        if (!counts->slots[k].n_pixels || value >= (uint32_t)mask->n_palette)
            continue;
        const int32_t colour = (int32_t)(mask->palette[value] & 0xffffff);
        self->palettes_disagree |= self->palette[value] >= 0 && self->palette[value] != colour;
        self->palette[value] = colour;
        self->has_palettes = true;
    }
}

static void take_levels(struct mask_survey *self, struct mask_facts *facts, const struct foreign_mask *mask)
{
    int low = 255, high = 0;
    bool is_white = true, is_valued = false;
    for (size_t p = 0, n = (size_t)mask->width * (size_t)mask->height; p < n; p++) {
        const uint32_t code = mask->codes[p];
        const int grey = grey_of(code);
        self->levels[grey]++;
        low = grey < low ? grey : low;
        high = grey > high ? grey : high;
        facts->has_colour |= (code & CODE_COLOUR) != 0;
        facts->has_clear |= code == CODE_CLEAR;
        is_white &= code == 0 || code == CLV_VOID;
        is_valued |= code != 0 && code != CLV_VOID;
    }
    self->has_white_masks |= is_white && high == CLV_VOID;
    self->has_valued_masks |= is_valued;
    self->has_fine_steps |= facts->is_lossy && low < high && high - low <= FINE_STEPS;
    self->n_pixels += (uint64_t)mask->width * (uint64_t)mask->height;
}

static enum clv_status survey_mask(struct mask_survey *self, size_t index, const struct mask_pair *pair,
                                   const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(foreign_mask_release) struct foreign_mask mask = {0};
    OWNED_ARRAY struct counts *counts = array_zalloc(1, sizeof *counts);
    struct mask_facts *facts = &self->facts[index];
    struct clv_error why;
    NEED(counts);
    facts->orientation = 1;
    enum clv_status status = foreign_mask_read(&mask, pair->mask, limits, &why);
    if (status == CLV_OK && pair->image) {
        status = clv_image_read_size(&facts->image_width, &facts->image_height, pair->image, limits, &why);
        facts->orientation = image_orientation(pair->image, limits);
    }
    if (status == CLV_ERR_DATA || status == CLV_ERR_NO_INPUT)
        return CLV_OK; /* mask_convert reports the reason */
    if (status != CLV_OK) {
        if (err)
            *err = why;
        return status;
    }
    *facts = (struct mask_facts){.is_read = true,
                                 .is_lossy = mask.is_lossy,
                                 .orientation = facts->orientation,
                                 .width = mask.width,
                                 .height = mask.height,
                                 .image_width = facts->image_width,
                                 .image_height = facts->image_height};
    self->n_read++;
    count_codes(counts, &mask);
    facts->n_codes = counts->n;
    take_levels(self, facts, &mask);
    take_palette(self, &mask, counts);
    if (pair->image)
        take_size(self, facts);
    facts->is_rough = mask.is_lossy || counts->n > MASK_MAX_LABELS;
    if (!mask.is_lossy && counts->n > 2)
        MUST(numbers_objects(&facts->numbers_objects, &mask, err));
    self->n_lossy += mask.is_lossy;
    self->n_coloured += facts->has_colour;
    self->n_objects += facts->numbers_objects;
    self->n_rough += facts->is_rough;
    return facts->is_rough ? add_bins(self, &mask, err) : add_counts(self, counts, &mask, err);
}

/* Returns the table that the names of all masks indicate (Cityscapes), or NULL. */
static const struct code_table *table_of_names(const struct mask_pair *pairs, size_t n)
{
    static const char *const endings[] = {"_labelIds", "_labelTrainIds"};
    static const char *const tables[] = {"cityscapes", "cityscapes-train"};
    for (int k = 0; k < 2; k++) {
        size_t i = 0;
        while (i < n && strstr(path_name(pairs[i].mask), endings[k]))
            i++;
        for (size_t t = 0; n && i == n && t < n_code_tables; t++)
            if (strcmp(code_tables[t].name, tables[k]) == 0)
                return &code_tables[t];
    }
    return NULL;
}

enum clv_status mask_survey(struct mask_survey *survey, const struct mask_pair *pairs, size_t n,
                            const struct clv_image_limits *limits, const struct clv_progress *progress,
                            struct clv_error *err)
{
    OWNED(mask_survey_release) struct mask_survey result = {.n = n, .named = table_of_names(pairs, n)};
    result.facts = array_zalloc(n, sizeof *result.facts);
    NEED(result.facts);
    memset(result.palette, -1, sizeof result.palette);
    for (size_t i = 0; i < n; i++) {
        FAIL_IF(stop_requested(progress), CLV_ERR_INTERRUPTED, "interrupted");
        MUST(survey_mask(&result, i, &pairs[i], limits, err));
        report_progress(progress, "looking at masks", i + 1, n, NULL);
    }
    *survey = TAKE(result);
    return CLV_OK;
}
