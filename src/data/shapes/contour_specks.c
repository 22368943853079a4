/* Merges regions that are too small to be objects into the largest region that they touch, in rounds. The first reading
 * of the rows finds the regions (union-find over runs), their sizes and contacts. The rounds use these tables. The
 * second reading finds the regions again, so that no memory per pixel is needed. Start at specks_row, then
 * specks_settle. */
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "data/shapes/row_runs.h"
#include "data/shapes/shapes.h"

/* Two regions that touch. The list may contain a pair more than once. */
struct contact {
    int32_t a, b;
};

struct specks {
    struct specks_settings how;
    struct row_runs above, row;
    int32_t *region_of; /* [n_parts] region of a part; before specks_settle: an earlier part of it */
    uint8_t *label_of;  /* [n_parts], after specks_settle [n_regions] */
    int64_t *n_pixels;  /* of parts, after specks_settle of regions */
    size_t n_parts, parts_capacity, n_regions;
    struct contact *contacts;
    size_t n_contacts, contacts_capacity;
    struct contact *recent; /* [n_recent] contacts added recently, by hash; n_recent is a power of 2 */
    size_t n_recent, n_parts_again;
};

void specks_free(struct specks *self)
{
    if (!self)
        return;
    row_runs_release(&self->above);
    row_runs_release(&self->row);
    arrays_free(self->region_of, self->label_of, self->n_pixels, self->contacts, self->recent, self);
}

enum clv_status specks_begin(struct specks **self, const struct specks_settings *how, struct clv_error *err)
{
    OWNED(specks_drop) struct specks *result = array_zalloc(1, sizeof *result);
    FAIL_IF(how->width < 1, CLV_ERR_USAGE, "regions of rows of %d pixels", how->width);
    NEED(result);
    result->how = *how;
    for (result->n_recent = 64; result->n_recent < 4 * (size_t)how->width;)
        result->n_recent *= 2;
    NEED(result->recent = array_zalloc(result->n_recent, sizeof *result->recent));
    NEED(row_runs_end(&result->above, how->width, -1));
    NEED(row_runs_end(&result->row, how->width, -1));
    *self = TAKE(result);
    return CLV_OK;
}

static enum clv_status add_part(struct specks *self, uint8_t label, struct clv_error *err)
{
    const struct array_part by_part[] = {{&self->region_of, sizeof *self->region_of},
                                         {&self->label_of, sizeof *self->label_of},
                                         {&self->n_pixels, sizeof *self->n_pixels}};
    const size_t n = self->n_parts + 1, most = self->how.max_pieces > 0 ? (size_t)self->how.max_pieces : INT32_MAX;
    FAIL_IF(n > most, CLV_ERR_MEMORY, "more than %zu pieces of labels, too many to merge by --min-area", most);
    NEED(n <= self->parts_capacity || !array_reserve_all(by_part, 3, &self->parts_capacity, n));
    self->region_of[self->n_parts] = (int32_t)self->n_parts;
    self->label_of[self->n_parts] = label;
    self->n_pixels[self->n_parts++] = 0;
    return CLV_OK;
}

/* Joins two sets. The earlier part represents both, so that regions stay in the order of their first pixels. */
static void unite(int32_t *before, int32_t a, int32_t b)
{
    a = root_of(before, a);
    b = root_of(before, b);
    before[a > b ? a : b] = a > b ? b : a;
}

static enum clv_status add_contact(struct specks *self, int32_t a, int32_t b, struct clv_error *err)
{
    struct contact contact = {a < b ? a : b, a < b ? b : a};
    uint64_t hash = ((uint64_t)(uint32_t)contact.a << 32 | (uint32_t)contact.b) * UINT64_C(0x9E3779B97F4A7C15);
    struct contact *recent = &self->recent[(hash >> 32) & (self->n_recent - 1)];
    if (recent->a == contact.a && recent->b == contact.b)
        return CLV_OK;
    NEED(self->n_contacts < self->contacts_capacity ||
         !array_reserve((void **)&self->contacts, &self->contacts_capacity, self->n_contacts + 1, sizeof contact));
    self->contacts[self->n_contacts++] = *recent = contact;
    return CLV_OK;
}

/* Gives a run the part of the first run above that it touches and that has its label, else -1. *first is the index of
 * the first run above that may touch it; it advances from run to run. */
static void name_run(struct run *run, const struct row_runs *above, size_t *first)
{
    const struct run *runs = above->runs;
    while (*first < above->n && runs[*first + 1].begin < run->begin)
        ++*first;
    for (size_t k = *first; k < above->n && runs[k].begin <= run[1].begin && run->region < 0; k++)
        if (runs[k].value == run->value)
            run->region = runs[k].region;
}

/* Adds the pixels and contacts of run `at` of the row. */
static enum clv_status take_run(struct specks *self, size_t at, size_t *first, struct clv_error *err)
{
    const struct run *above = self->above.runs;
    struct run *run = &self->row.runs[at];
    name_run(run, &self->above, first);
    if (run->region < 0) {
        run->region = (int32_t)self->n_parts;
        MUST(add_part(self, (uint8_t)run->value, err));
    }
    self->n_pixels[run->region] += run[1].begin - run->begin;
    for (size_t k = *first; k < self->above.n && above[k].begin <= run[1].begin; k++) {
        if (above[k].value != run->value)
            MUST(add_contact(self, run->region, above[k].region, err));
        else if (above[k].region != run->region)
            unite(self->region_of, run->region, above[k].region);
    }
    return at ? add_contact(self, run->region, run[-1].region, err) : CLV_OK;
}

static void swap_rows(struct specks *self)
{
    struct row_runs above = self->above;
    self->above = self->row;
    self->row = above;
}

static size_t bytes_of(const struct specks *self)
{
    return self->n_parts * (sizeof *self->region_of + sizeof *self->label_of + sizeof *self->n_pixels) +
           self->n_contacts * sizeof *self->contacts;
}

enum clv_status specks_row(struct specks *self, const uint8_t *labels, struct clv_error *err)
{
    size_t first = 0;
    NEED(row_runs_cut_labels(&self->row, labels, self->how.width, -1));
    for (size_t k = 0; k < self->row.n; k++)
        MUST(take_run(self, k, &first, err));
    FAIL_IF(self->how.budget && bytes_of(self) > self->how.budget, CLV_ERR_MEMORY,
            "%zu pieces of labels take more than %zu MB, too many to merge by --min-area", self->n_parts,
            self->how.budget >> 20);
    swap_rows(self);
    return CLV_OK;
}

/* Numbers the regions of n parts. On entry before[k] is an earlier part of the same region, or k. On return it is the
 * number of the region, and labels and sizes are those of regions. Returns the number of regions. */
static size_t number_regions(int32_t *before, uint8_t *label_of, int64_t *n_pixels, size_t n)
{
    size_t n_regions = 0;
    for (size_t k = 0; k < n; k++) {
        if ((size_t)before[k] == k) {
            before[k] = (int32_t)n_regions;
            label_of[n_regions] = label_of[k];
            n_pixels[n_regions++] = n_pixels[k];
        } else {
            before[k] = before[before[k]]; /* the earlier part has its number already */
            n_pixels[before[k]] += n_pixels[k];
        }
    }
    return n_regions;
}

/* Renumbers the regions of the contacts, and removes contacts within one region. */
static void move_contacts(struct specks *self, const int32_t *name)
{
    size_t n = 0;
    for (size_t k = 0; k < self->n_contacts; k++) {
        struct contact contact = {name[self->contacts[k].a], name[self->contacts[k].b]};
        if (contact.a != contact.b)
            self->contacts[n++] = contact;
    }
    self->n_contacts = n;
}

/* Whether region a is larger than b. Of equal ones the first is the larger; -1 (no region) is the smallest. */
static bool is_larger(const struct specks *self, int32_t a, int32_t b)
{
    int64_t size_a = a < 0 ? 0 : self->n_pixels[a], size_b = b < 0 ? 0 : self->n_pixels[b];
    return size_a != size_b ? size_a > size_b : a < b;
}

/* Sets best[n_regions] to the largest region that each small region touches, or -1 if a region does not change. Returns
 * whether any region changes. */
static bool choose(int32_t *best, const struct specks *self)
{
    bool again = false;
    for (size_t r = 0; r < self->n_regions; r++)
        best[r] = -1;
    for (size_t k = 0; k < self->n_contacts; k++) {
        int32_t a = self->contacts[k].a, b = self->contacts[k].b;
        best[a] = is_larger(self, b, best[a]) ? b : best[a];
        best[b] = is_larger(self, a, best[b]) ? a : best[b];
    }
    for (size_t r = 0; r < self->n_regions; r++) {
        if (self->n_pixels[r] >= self->how.min_pixels || !is_larger(self, best[r], (int32_t)r))
            best[r] = -1;
        again |= best[r] >= 0;
    }
    return again;
}

/* One round: regions take the labels of their best neighbours, and touching regions of equal label are joined. */
static enum clv_status merge_round(bool *again, struct specks *self, struct clv_error *err)
{
    OWNED_ARRAY int32_t *best = array_alloc(self->n_regions, sizeof *best);
    NEED(best);
    *again = choose(best, self);
    if (!*again)
        return CLV_OK;
    for (size_t r = 0; r < self->n_regions; r++) {
        int32_t last = (int32_t)r;
        while (best[last] >= 0) {
            if (best[best[last]] >= 0)
                best[last] = best[best[last]];
            last = best[last];
        }
        self->label_of[r] = self->label_of[last]; /* region `last` keeps its label */
    }
    int32_t *before = best;
    for (size_t r = 0; r < self->n_regions; r++)
        before[r] = (int32_t)r;
    for (size_t k = 0; k < self->n_contacts; k++)
        if (self->label_of[self->contacts[k].a] == self->label_of[self->contacts[k].b])
            unite(before, self->contacts[k].a, self->contacts[k].b);
    self->n_regions = number_regions(before, self->label_of, self->n_pixels, self->n_regions);
    move_contacts(self, before);
    for (size_t k = 0; k < self->n_parts; k++)
        self->region_of[k] = before[self->region_of[k]];
    return CLV_OK;
}

enum clv_status specks_settle(bool *changes, struct specks *self, struct clv_error *err)
{
    self->n_regions = number_regions(self->region_of, self->label_of, self->n_pixels, self->n_parts);
    move_contacts(self, self->region_of);
    *changes = false;
    for (bool again = true; again; *changes |= again)
        MUST(merge_round(&again, self, err));
    self->above.n = 0;
    return CLV_OK;
}

enum clv_status specks_merge_row(struct specks *self, uint8_t *labels, struct clv_error *err)
{
    size_t first = 0;
    NEED(row_runs_cut_labels(&self->row, labels, self->how.width, -1));
    for (size_t at = 0; at < self->row.n; at++) {
        struct run *run = &self->row.runs[at];
        name_run(run, &self->above, &first);
        if (run->region < 0)
            run->region = (int32_t)self->n_parts_again++;
        FAIL_IF((size_t)run->region >= self->n_parts, CLV_ERR_DATA, "the labels changed while they were read twice");
        memset(labels + run->begin, self->label_of[self->region_of[run->region]], (size_t)(run[1].begin - run->begin));
    }
    swap_rows(self);
    return CLV_OK;
}

enum clv_status contours_merge_specks(uint8_t *labels, int32_t width, int32_t height, int32_t min_pixels,
                                      struct clv_error *err)
{
    OWNED(specks_drop) struct specks *self = NULL;
    bool changes;
    MUST(specks_begin(&self, &(struct specks_settings){.width = width, .min_pixels = min_pixels}, err));
    for (int32_t y = 0; y < height; y++)
        MUST(specks_row(self, labels + (size_t)y * (size_t)width, err));
    MUST(specks_settle(&changes, self, err));
    for (int32_t y = 0; y < height && changes; y++)
        MUST(specks_merge_row(self, labels + (size_t)y * (size_t)width, err));
    return CLV_OK;
}
