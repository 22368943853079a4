/* From an image of a set to its boxes, and from boxes to pixels. */
#include "data/boxes/boxes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/shapes/shapes.h"

const char *boxes_place_word(enum clv_boxes_form form)
{
    static const char *const words[] = {"line", "object", "annotation", "shape", "line", "shape", "region", "feature"};
    return words[form];
}

static int compare_to_entry(const void *image, const void *entry)
{
    return strcmp(image, ((const struct clv_image_boxes *)entry)->image);
}

/* A path's last part, whichever way its separators lean. */
static const char *last_part(const char *path)
{
    const char *name = path_name(path), *backslash = strrchr(name, '\\');
    return backslash && backslash[1] ? backslash + 1 : name;
}

static size_t stem_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot > name ? (size_t)(dot - name) : strlen(name);
}

/* Orders file names by their stems. */
static int compare_stems(const char *a, const char *b)
{
    size_t m = stem_length(a), n = stem_length(b);
    int order = memcmp(a, b, m < n ? m : n);
    return order ? order : (m > n) - (m < n);
}

/* An index with the file name it is sorted by. */
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

/* The first place of by_stem whose stem is not below that of `name`. */
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

/* Whether the shorter path ends the longer one at a folder's border, extensions aside if `by_stem`. */
static bool is_tail(const char *a, const char *b, bool by_stem)
{
    size_t m = strlen(a), n = strlen(b);
    if (by_stem) {
        m -= strlen(path_name(a)) - stem_length(path_name(a));
        n -= strlen(path_name(b)) - stem_length(path_name(b));
    }
    const char *longer = m > n ? a : b, *shorter = m > n ? b : a;
    size_t longest = m > n ? m : n, shortest = m > n ? n : m;
    return memcmp(longer + longest - shortest, shorter, shortest) == 0 &&
           (longest == shortest || longer[longest - shortest - 1] == '/');
}

struct search {
    const struct clv_boxes *boxes;
    const bool *taken; /* [entries] that do not count; or NULL */
    const char *image;
};

/* The one entry whose file name (or stem) is `wanted`; of several, the one whose folders agree with the image's too. */
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

/* By the file name, by its stem, and by what is left of it without the "1a2b3c4d-" that Label Studio puts before. */
static enum clv_status find_loosely(const struct clv_image_boxes **found, const struct search *search,
                                    struct clv_error *err)
{
    const char *name = last_part(search->image), *bare = name + boxes_upload_prefix(name);
    enum clv_status status = find_by_name(found, search, name, false, err);
    TRY_IF(!*found, find_by_name(found, search, name, true, err));
    TRY_IF(!*found && bare != name, find_by_name(found, search, bare, true, err));
    return status;
}

size_t boxes_upload_prefix(const char *name)
{
    return strspn(name, "0123456789abcdef") == 8 && name[8] == '-' && name[9] ? 9 : 0;
}

enum clv_status clv_boxes_find(const struct clv_image_boxes **entry, const struct clv_boxes *boxes, const char *image,
                               struct clv_error *err)
{
    const struct clv_image_boxes *found = find_path(boxes, image);
    enum clv_status status = found ? CLV_OK : find_loosely(&found, &(struct search){boxes, NULL, image}, err);
    if (status == CLV_OK)
        *entry = found;
    return status;
}

enum clv_status boxes_find_all(const struct clv_image_boxes **entries, const struct clv_boxes *boxes,
                               const char *const *images, size_t n, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    bool *taken = array_zalloc(boxes->n_images, sizeof *taken);
    const struct clv_image_boxes **found = array_zalloc(n, sizeof *found);
    if (!taken || !found)
        status = fail_memory(err);
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        if ((found[i] = find_path(boxes, images[i])))
            taken[found[i] - boxes->images] = true;
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        if (!found[i])
            status =
                find_by_name(&found[i], &(struct search){boxes, taken, images[i]}, last_part(images[i]), false, err);
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        if (found[i])
            taken[found[i] - boxes->images] = true;
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        if (!found[i])
            status = find_loosely(&found[i], &(struct search){boxes, taken, images[i]}, err);
    if (status == CLV_OK && n)
        memcpy(entries, found, n * sizeof *found);
    arrays_free(taken, found);
    return status;
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

/* Cuts [*start, *start + *size) to [0, limit]; false if nothing is left of it. */
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
        if (box.outline && !outline_suits(box.outline, width, height))
            return fail(err, CLV_ERR_DATA, "%s: %s %zu: runs of a mask of %dx%d pixels, %s is %dx%d", entry->source,
                        boxes_place_word(boxes->form), box.place, box.outline->frame.width, box.outline->frame.height,
                        entry->image, width, height);
        if (entry->is_relative) {
            box.x *= width;
            box.width *= width;
            box.y *= height;
            box.height *= height;
        }
        struct clv_box whole = box;
        bool is_inside = cut(&box.x, &box.width, width, &was_cut) && cut(&box.y, &box.height, height, &was_cut);
        if (!is_inside && !box.place) /* typed, not read */
            return fail(err, CLV_ERR_DATA, "%s: box %gx%g at %g,%g is outside the image, which is %dx%d", entry->source,
                        whole.width, whole.height, whole.x, whole.y, width, height);
        if (!is_inside)
            return fail(err, CLV_ERR_DATA, "%s: %s %zu: box %gx%g at %g,%g is outside %s, which is %dx%d",
                        entry->source, boxes_place_word(boxes->form), box.place, whole.width, whole.height, whole.x,
                        whole.y, entry->image, width, height);
        placed[i] = box;
        n += was_cut;
    }
    if (n_cut)
        *n_cut = n;
    return CLV_OK;
}

/* Pixels whose centres are in [start, start + size), else the one in its middle. */
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
