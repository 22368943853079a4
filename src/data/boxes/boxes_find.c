/* Finds the boxes of an image, first by its path, then by its file name, its stem and its name in links, and converts
 * boxes to pixels. Start at clv_boxes_find. */
#include "data/boxes/boxes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/shapes/shapes.h"

#define UNIT(form, reader, name, title, unit, ending, help) [CLV_BOXES_##form] = unit,
const char *boxes_index_unit(enum clv_boxes_form form)
{
    static const char *const words[] = {EACH_BOXES_READER(UNIT)};
    return words[form];
}

static int compare_to_entry(const void *image, const void *entry)
{
    return strcmp(image, ((const struct clv_image_boxes *)entry)->image);
}

/* The last part of a path with slashes or backslashes. */
static const char *last_part(const char *path)
{
    const char *name = path_name(path), *backslash = strrchr(name, '\\');
    return backslash && backslash[1] ? backslash + 1 : name;
}

int boxes_compare(const char *a, size_t m, const char *b, size_t n)
{
    int order = memcmp(a, b, m < n ? m : n);
    return order ? order : (m > n) - (m < n);
}

/* Orders file names by their stems. */
static int compare_stems(const char *a, const char *b)
{
    return boxes_compare(a, path_stem_end(a), b, path_stem_end(b));
}

/* The index of an image and its file name, for sorting. */
struct named {
    const char *name;
    size_t index;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *s = a, *t = b;
    int order = compare_stems(s->name, t->name);
    return order ? order : (s->index > t->index) - (s->index < t->index);
}

enum clv_status boxes_index(struct clv_boxes *boxes, struct clv_error *err)
{
    struct named *names = array_alloc(boxes->n_images, sizeof *names);
    boxes->by_stem = array_alloc(boxes->n_images, sizeof *boxes->by_stem);
    if (names && boxes->by_stem) {
        for (size_t i = 0; i < boxes->n_images; i++)
            names[i] = (struct named){path_name(boxes->images[i].image), i};
        qsort(names, boxes->n_images, sizeof *names, compare_named);
        for (size_t i = 0; i < boxes->n_images; i++)
            boxes->by_stem[i] = names[i].index;
    }
    array_free(names);
    return names && boxes->by_stem ? CLV_OK : fail_memory(err);
}

/* The first index in by_stem whose stem is not less than that of `name`. */
static size_t first_of_stem(const struct clv_boxes *boxes, const char *name)
{
    size_t low = 0, high = boxes->n_images;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_stems(path_name(boxes->images[boxes->by_stem[middle]].image), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool boxes_is_tail(const char *a, size_t m, const char *b, size_t n)
{
    const char *longer = m > n ? a : b, *shorter = m > n ? b : a;
    size_t longest = m > n ? m : n, shortest = m > n ? n : m;
    return shortest && memcmp(longer + longest - shortest, shorter, shortest) == 0 &&
           (longest == shortest || longer[longest - shortest - 1] == '/');
}

static bool is_tail(const char *a, const char *b, bool by_stem)
{
    return boxes_is_tail(a, by_stem ? path_stem_end(a) : strlen(a), b, by_stem ? path_stem_end(b) : strlen(b));
}

struct search {
    const struct clv_boxes *boxes;
    const bool *taken; /* [boxes->n_images] entries that are skipped, or NULL */
    const char *image;
};

/* Finds the only entry whose file name (or stem) is `wanted`; of several, the only one whose folders match the image's.
 * *found is NULL if there is none. CLV_ERR_DATA: several match equally. */
static enum clv_status find_by_name(const struct clv_image_boxes **found, const struct search *search,
                                    const char *wanted, bool by_stem, struct clv_error *err)
{
    const struct clv_boxes *boxes = search->boxes;
    const struct clv_image_boxes *same[2] = {NULL, NULL}, *tail[2] = {NULL, NULL};
    for (size_t i = first_of_stem(boxes, wanted); i < boxes->n_images; i++) {
        const struct clv_image_boxes *entry = &boxes->images[boxes->by_stem[i]];
        const char *name = path_name(entry->image);
        if (compare_stems(name, wanted) != 0)
            break;
        if ((!by_stem && strcmp(name, wanted) != 0) || (search->taken && search->taken[boxes->by_stem[i]]))
            continue;
        same[same[0] != NULL] = entry;
        if (is_tail(entry->image, search->image, by_stem))
            tail[tail[0] != NULL] = entry;
    }
    FAIL_IF(same[1] && (!tail[0] || tail[1]), CLV_ERR_DATA, "%s: boxes of %s (%s) and of %s (%s) could both be meant",
            search->image, same[0]->image, same[0]->source, same[1]->image, same[1]->source);
    *found = same[1] ? tail[0] : same[0];
    return CLV_OK;
}

static const struct clv_image_boxes *find_path(const struct clv_boxes *boxes, const char *image)
{
    return boxes->n_images ? bsearch(image, boxes->images, boxes->n_images, sizeof *boxes->images, compare_to_entry)
                           : NULL;
}

/* Encodes a name as in links: letters, digits and characters of `kept` stay, others become %XX. NULL: out of memory. */
static char *encode_name(const char *name, const char *kept)
{
    enum { CODE_LENGTH = 3 };
    const size_t size = CODE_LENGTH * strlen(name) + 1;
    char *encoded = array_alloc(size, 1);
    size_t n = 0;
    for (; encoded && *name; name++) {
        bool is_kept = is_letter(*name) || is_digit(*name) || strchr(kept, *name);
        n += (size_t)snprintf(encoded + n, size - n, is_kept ? "%c" : "%%%02X", (unsigned char)*name);
    }
    if (encoded)
        encoded[n] = 0;
    return encoded;
}

/* Finds an entry by the name encoded as in links, or decoded from a link. Python's quote and JavaScript's
 * encodeURIComponent and encodeURI keep different characters. */
static enum clv_status find_by_link(const struct clv_image_boxes **found, const struct search *search, const char *name,
                                    struct clv_error *err)
{
    static const char *const kept[] = {"_.-~", "-_.!~*'()", "-_.!~*'();,:@&=+$#"};
    for (size_t k = 0; k < sizeof kept / sizeof *kept && !*found; k++) {
        OWNED_ARRAY char *encoded = encode_name(name, kept[k]);
        NEED(encoded);
        if (strcmp(encoded, name) != 0)
            MUST(find_by_name(found, search, encoded, true, err));
    }
    OWNED_ARRAY char *decoded = string_copy(name);
    NEED(decoded);
    path_decode(decoded);
    if (!*found && strcmp(decoded, name) != 0)
        MUST(find_by_name(found, search, decoded, true, err));
    return CLV_OK;
}

/* Finds an entry by the file name, by its stem, by the name without Label Studio's prefix ("1a2b3c4d-"), and by the
 * name in a link, in this order. */
static enum clv_status find_loosely(const struct clv_image_boxes **found, const struct search *search,
                                    struct clv_error *err)
{
    const char *name = last_part(search->image), *bare = name + boxes_upload_prefix(name);
    MUST(find_by_name(found, search, name, false, err));
    if (!*found)
        MUST(find_by_name(found, search, name, true, err));
    if (!*found && bare != name)
        MUST(find_by_name(found, search, bare, true, err));
    if (!*found)
        MUST(find_by_link(found, search, bare, err));
    return CLV_OK;
}

void path_decode(char *name)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    char *to = name;
    for (const char *from = name; *from; to++) {
        bool is_code = *from == '%' && from[1] && strchr(hex, from[1]) && from[2] && strchr(hex, from[2]) &&
                       strncmp(from, "%00", 3) != 0;
        const char digits[3] = {from[1], is_code ? from[2] : 0, 0};
        *to = is_code ? (char)strtol(digits, NULL, 16) : *from;
        from += is_code ? 3 : 1;
    }
    *to = 0;
}

size_t boxes_upload_prefix(const char *name)
{
    return strspn(name, "0123456789abcdef") == 8 && name[8] == '-' && name[9] ? 9 : 0;
}

enum clv_status clv_boxes_find(const struct clv_image_boxes **entry, const struct clv_boxes *boxes, const char *image,
                               struct clv_error *err)
{
    const struct clv_image_boxes *found = find_path(boxes, image);
    if (!found)
        MUST(find_loosely(&found, &(struct search){boxes, NULL, image}, err));
    *entry = found;
    return CLV_OK;
}

/* The images of a search, the entries found, and the entries that are already taken. */
struct match_state {
    const struct clv_boxes *boxes;
    const struct clv_image_boxes **found; /* [n] */
    bool *taken;                          /* [boxes->n_images] */
    const char *const *images;
    size_t n;
    bool skips_ambiguous;
    bool *is_ambiguous; /* [n] */
    size_t n_ambiguous;
    char *first;
};

static void matching_release(struct match_state *self)
{
    arrays_free(self->found, self->taken, self->is_ambiguous, self->first);
}

/* Finds the only entry with folders that ends with the image's path, or with which the image's path ends; several such
 * entries count as none. */
static enum clv_status find_by_folders(const struct clv_image_boxes **found, const struct search *search,
                                       struct clv_error *err)
{
    const char *name = last_part(search->image);
    const struct clv_boxes *boxes = search->boxes;
    (void)err;
    size_t n = 0;
    for (size_t i = first_of_stem(boxes, name); i < boxes->n_images; i++) {
        const struct clv_image_boxes *entry = &boxes->images[boxes->by_stem[i]];
        if (compare_stems(path_name(entry->image), name) != 0)
            break;
        if (search->taken[boxes->by_stem[i]] || !strchr(entry->image, '/') ||
            !is_tail(entry->image, search->image, strcmp(path_name(entry->image), name) != 0))
            continue;
        *found = n++ ? NULL : entry;
    }
    return CLV_OK;
}

static enum clv_status find_by_file(const struct clv_image_boxes **found, const struct search *search,
                                    struct clv_error *err)
{
    return find_by_name(found, search, last_part(search->image), false, err);
}

/* Applies one way of finding to all images without an entry. Entries are marked as taken afterwards, so several images
 * may find one entry; callers report that. */
static enum clv_status match(struct match_state *self,
                             enum clv_status (*find)(const struct clv_image_boxes **found, const struct search *search,
                                                     struct clv_error *err),
                             struct clv_error *err)
{
    for (size_t i = 0; i < self->n; i++) {
        struct clv_error why = {0};
        if (self->found[i] || self->is_ambiguous[i])
            continue;
        enum clv_status status =
            find(&self->found[i], &(struct search){self->boxes, self->taken, self->images[i]}, &why);
        if (status == CLV_ERR_DATA && self->skips_ambiguous) {
            self->is_ambiguous[i] = true;
            if (!self->n_ambiguous++)
                NEED(self->first = string_copy(why.message));
        } else if (status) {
            return fail_as(err, status, &why);
        }
    }
    for (size_t i = 0; i < self->n; i++)
        if (self->found[i])
            self->taken[self->found[i] - self->boxes->images] = true;
    return CLV_OK;
}

static enum clv_status match_all(struct match_state *self, struct clv_error *err)
{
    self->found = array_zalloc(self->n, sizeof *self->found);
    self->taken = array_zalloc(self->boxes->n_images, sizeof *self->taken);
    self->is_ambiguous = array_zalloc(self->n, sizeof *self->is_ambiguous);
    NEED(self->found && self->taken && self->is_ambiguous);
    for (size_t i = 0; i < self->n; i++)
        if ((self->found[i] = find_path(self->boxes, self->images[i])))
            self->taken[self->found[i] - self->boxes->images] = true;
    MUST(match(self, find_by_folders, err));
    MUST(match(self, find_by_file, err));
    return match(self, find_loosely, err);
}

enum clv_status boxes_find_all(const struct clv_image_boxes **entries, const struct clv_boxes *boxes,
                               const char *const *images, size_t n, struct clv_error *err)
{
    OWNED(matching_release) struct match_state self = {.boxes = boxes, .images = images, .n = n};
    MUST(match_all(&self, err));
    array_put(entries, self.found, n, sizeof *self.found);
    return CLV_OK;
}

enum clv_status boxes_find_clear(const struct clv_image_boxes **entries, size_t *n_ambiguous, char **first,
                                 const struct clv_boxes *boxes, const char *const *images, size_t n,
                                 struct clv_error *err)
{
    OWNED(matching_release) struct match_state self = {
        .boxes = boxes, .images = images, .n = n, .skips_ambiguous = true};
    MUST(match_all(&self, err));
    array_put(entries, self.found, n, sizeof *self.found);
    *n_ambiguous = self.n_ambiguous;
    *first = TAKE(self.first);
    return CLV_OK;
}

const char *boxes_first_unused(size_t *n_unused, const struct clv_boxes *boxes,
                               const struct clv_image_boxes *const *entries, size_t n)
{
    bool *used = array_zalloc(boxes->n_images, sizeof *used);
    const char *image = NULL;
    *n_unused = 0;
    for (size_t i = 0; used && i < n; i++)
        if (entries[i])
            used[entries[i] - boxes->images] = true;
    for (size_t k = 0; used && k < boxes->n_images; k++)
        if (!used[k] && !(*n_unused)++)
            image = boxes->images[k].image;
    array_free(used);
    return image;
}

/* Clips [*start, *start + *size) to [0, limit]; false: nothing remains. *was_cut is set if more than half a pixel was
 * cut off. */
static bool cut(double *start, double *size, double limit, bool *was_cut)
{
    double first = fmax(*start, 0), end = fmin(*start + *size, limit);
    *was_cut |= *start < -0.5 || *start + *size > limit + 0.5;
    *start = first;
    *size = end - first;
    return end > first;
}

enum clv_status clv_boxes_place(struct clv_box *placed, size_t *n_cut, const struct clv_boxes *boxes,
                                const struct clv_image_boxes *entry, int32_t width, int32_t height,
                                struct clv_error *err)
{
    size_t n = 0;
    if (entry->width && entry->height && (entry->width != width || entry->height != height))
        return fail(err, CLV_ERR_DATA, "%s: its boxes are for an image of %dx%d, %s is %dx%d", entry->source,
                    entry->width, entry->height, entry->image, width, height);
    for (size_t i = 0; i < entry->n_boxes; i++) {
        struct clv_box box = entry->boxes[i];
        bool was_cut = false;
        if (box.outline && !outline_suits(box.outline, width, height)) { /* void in its stated box */
            const struct clv_box *stated = &box.outline->stated;
            bool is_stated = stated->width > 0 && stated->height > 0;
            box.x = is_stated ? stated->x : 0;
            box.y = is_stated ? stated->y : 0;
            box.width = is_stated ? stated->width : width;
            box.height = is_stated ? stated->height : height;
        } else if (entry->is_relative) {
            box.x *= width;
            box.width *= width;
            box.y *= height;
            box.height *= height;
        }
        struct clv_box whole = box;
        bool is_inside = cut(&box.x, &box.width, width, &was_cut) && cut(&box.y, &box.height, height, &was_cut);
        if (!is_inside && !box.index) /* given as an option, not read from a file */
            return fail(err, CLV_ERR_DATA, "%s: box %gx%g at %g,%g is outside the image, which is %dx%d", entry->source,
                        whole.width, whole.height, whole.x, whole.y, width, height);
        if (!is_inside)
            return fail(err, CLV_ERR_DATA, "%s: %s %zu: box %gx%g at %g,%g is outside %s, which is %dx%d",
                        entry->source, boxes_index_unit(boxes->form), box.index, whole.width, whole.height, whole.x,
                        whole.y, entry->image, width, height);
        placed[i] = box;
        n += was_cut;
    }
    if (n_cut)
        *n_cut = n;
    return CLV_OK;
}

bool clv_boxes_are_known(const struct clv_image_boxes *entry)
{
    if (!entry || entry->is_unsure)
        return false;
    return entry->n_boxes || entry->n_voids > entry->n_marks || (!entry->n_voids && !entry->n_skipped);
}

/* Finds the pixels whose centres are in [start, start + size); if there are none, the pixel in the middle. */
static void cover(int32_t *first, int32_t *end, double start, double size, int32_t limit)
{
    double from = fmin(fmax(ceil(start - 0.5), 0), limit), to = fmin(fmax(ceil(start + size - 0.5), 0), limit);
    if (to <= from) {
        from = fmin(fmax(floor(start + 0.5 * size), 0), limit - 1);
        to = from + 1;
    }
    *first = int32_within(from, 0, limit);
    *end = int32_within(to, 0, limit);
}

struct clv_pixel_box clv_box_pixels(const struct clv_box *box, int32_t width, int32_t height)
{
    struct clv_pixel_box pixels;
    cover(&pixels.first_x, &pixels.end_x, box->x, box->width, width);
    cover(&pixels.first_y, &pixels.end_y, box->y, box->height, height);
    return pixels;
}

bool boxes_place_void(struct clv_pixel_box *pixels, const struct clv_box *box, const struct clv_image_boxes *entry,
                      int32_t width, int32_t height)
{
    struct clv_box placed = *box;
    if (entry->is_relative) {
        placed.x *= width;
        placed.width *= width;
        placed.y *= height;
        placed.height *= height;
    }
    if (!(placed.x < width && placed.y < height && placed.x + placed.width >= 0 && placed.y + placed.height >= 0))
        return false;
    const double right = fmin(placed.x + placed.width, width), bottom = fmin(placed.y + placed.height, height);
    placed.x = fmax(placed.x, 0);
    placed.y = fmax(placed.y, 0);
    placed.width = fmax(right - placed.x, 0);
    placed.height = fmax(bottom - placed.y, 0);
    *pixels = clv_box_pixels(&placed, width, height);
    return true;
}
