/* Maps of objects, one number per pixel: found as 4-connected pieces of labels (union-find), read from files, filtered
 * by area and border, labelled by majority, and coloured for display. */
#include "object/object.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "image/image.h"

#define MAX_IN_PNG 65535

void clv_object_map_release(struct clv_object_map *map)
{
    arrays_free(map->objects, map->labels, map->probability);
    *map = (struct clv_object_map){0};
}

/* objects[p] = 1 + the first pixel of the piece of p, or 0. When two pieces meet, the earlier one becomes the root of
 * both. */
static void find_pieces(int32_t *objects, int32_t *parent, const uint8_t *labels, int32_t width, int32_t height,
                        const bool is_object[256])
{
    int32_t p = 0;
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++, p++) {
            objects[p] = 0;
            if (!is_object[labels[p]])
                continue;
            int32_t left = x && labels[p - 1] == labels[p] ? root_of(parent, objects[p - 1]) : 0;
            int32_t above = y && labels[p - width] == labels[p] ? root_of(parent, objects[p - width]) : 0;
            int32_t piece = p + 1;
            if (left || above)
                piece = !left || (above && above < left) ? above : left;
            if (left && above)
                parent[left] = parent[above] = piece;
            parent[piece] = piece;
            objects[p] = piece;
        }
}

enum clv_status clv_object_map_from_labels(struct clv_object_map *map, const uint8_t *labels, int32_t width,
                                           int32_t height, const bool is_object[256], struct clv_error *err)
{
    bool all[256];
    memset(all, true, sizeof all);
    all[0] = all[CLV_VOID] = false;
    FAIL_IF(width < 1 || height < 1 || (int64_t)width * height >= INT32_MAX, CLV_ERR_USAGE, "objects of %dx%d pixels",
            width, height);
    size_t n = (size_t)width * (size_t)height;
    OWNED(clv_object_map_release) struct clv_object_map result = {
        .width = width, .height = height, .objects = array_alloc(n, sizeof *result.objects)};
    OWNED_ARRAY int32_t *parent = array_alloc(n + 1, sizeof *parent);
    NEED(result.objects && parent);
    find_pieces(result.objects, parent, labels, width, height, is_object ? is_object : all);
    for (size_t p = 0; p < n; p++)
        result.n_objects += result.objects[p] == (int32_t)p + 1 && parent[p + 1] == (int32_t)p + 1;
    NEED(result.labels = array_alloc((size_t)result.n_objects, 1));
    /* The first pixel of a piece sets the parent of its root to minus the number of the object. */
    result.n_objects = 0;
    for (size_t p = 0; p < n; p++) {
        if (!result.objects[p])
            continue;
        int32_t root = result.objects[p];
        while (parent[root] > 0 && parent[root] != root)
            root = parent[root];
        if (parent[root] > 0) {
            result.labels[result.n_objects++] = labels[p];
            parent[root] = -result.n_objects;
        }
        result.objects[p] = -parent[root];
    }
    *map = TAKE(result);
    return CLV_OK;
}

/* Replaces the numbers that occur by 1.., in their order. */
static enum clv_status renumber(struct clv_object_map *map, const char *path, struct clv_error *err)
{
    size_t n = (size_t)map->width * (size_t)map->height;
    int32_t largest = 0;
    for (size_t p = 0; p < n; p++)
        largest = map->objects[p] > largest ? map->objects[p] : largest;
    FAIL_IF(largest > CLV_MAX_OBJECT_NUMBER, CLV_ERR_DATA, "%s: object number %d, the largest may be %d", path, largest,
            CLV_MAX_OBJECT_NUMBER);
    OWNED_ARRAY int32_t *number = array_zalloc((size_t)largest + 1, sizeof *number);
    NEED(number);
    for (size_t p = 0; p < n; p++)
        number[map->objects[p]] = 1;
    number[0] = 0;
    for (int32_t k = 1; k <= largest; k++)
        number[k] = number[k] ? ++map->n_objects : 0;
    for (size_t p = 0; p < n; p++)
        map->objects[p] = number[map->objects[p]];
    return CLV_OK;
}

/* Makes a map of an image of numbers, and takes over its array. */
static enum clv_status take_numbers(struct clv_object_map *map, struct integer_image *image, const char *path,
                                    int32_t expected_width, int32_t expected_height, struct clv_error *err)
{
    OWNED(clv_object_map_release)
    struct clv_object_map result = {.width = image->width, .height = image->height};
    result.objects = TAKE(image->values);
    FAIL_IF(expected_width && expected_height && (result.width != expected_width || result.height != expected_height),
            CLV_ERR_DATA, "%s: the objects are %dx%d, image is %dx%d", path, result.width, result.height,
            expected_width, expected_height);
    MUST(renumber(&result, path, err));
    *map = TAKE(result);
    return CLV_OK;
}

enum clv_status clv_object_map_read(struct clv_object_map *map, const char *path, int32_t expected_width,
                                    int32_t expected_height, const struct clv_image_limits *limits,
                                    struct clv_error *err)
{
    OWNED(integer_image_release) struct integer_image image = {0};
    MUST(integer_image_read(&image, path, limits, err));
    return take_numbers(map, &image, path, expected_width, expected_height, err);
}

enum clv_status item_objects_read(struct clv_object_map *map, const struct clv_item *item, int32_t width,
                                  int32_t height, const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(integer_image_release) struct integer_image image = {0};
    MUST(item_numbers_read(&image, item, limits, err));
    return take_numbers(map, &image, item->instances, width, height, err);
}

enum clv_status clv_object_map_write(bool *is_tiff, const char *path, const struct clv_object_map *map,
                                     struct clv_error *err)
{
    const struct integer_image image = {map->width, map->height, map->objects};
    bool is_large = map->n_objects > MAX_IN_PNG;
    if (is_tiff)
        *is_tiff = is_large;
    if (!is_large)
        return integer_image_write_png(path, &image, err);
    OWNED_ARRAY char *renamed = path_replace_extension(path, ".tif");
    NEED(renamed);
    return integer_image_write_tiff(renamed, &image, err);
}

enum clv_status label_votes_init(struct label_votes *self, int32_t n_objects, int32_t n_labels, struct clv_error *err)
{
    *self = (struct label_votes){.n_objects = (size_t)n_objects, .n_labels = (size_t)n_labels};
    NEED(self->count = array_zalloc(self->n_objects, self->n_labels * sizeof *self->count));
    return CLV_OK;
}

void label_votes_release(struct label_votes *self)
{
    array_free(self->count);
    *self = (struct label_votes){0};
}

void label_votes_add(struct label_votes *self, const int32_t *objects, const uint8_t *labels, size_t n)
{
    for (size_t p = 0; p < n; p++)
        if (objects[p] && labels[p] != CLV_VOID)
            self->count[(size_t)(objects[p] - 1) * self->n_labels + labels[p]]++;
}

void label_votes_end(uint8_t *labels, const struct label_votes *self)
{
    for (size_t k = 0; k < self->n_objects; k++) {
        int32_t most = 0;
        labels[k] = CLV_VOID;
        for (size_t label = 0; label < self->n_labels; label++)
            if (self->count[k * self->n_labels + label] > most) {
                most = self->count[k * self->n_labels + label];
                labels[k] = (uint8_t)label;
            }
    }
}

enum clv_status object_map_set_labels(struct clv_object_map *map, const uint8_t *labels, struct clv_error *err)
{
    size_t n = (size_t)map->width * (size_t)map->height;
    int32_t n_labels = 0;
    OWNED(label_votes_release) struct label_votes votes = {0};
    OWNED_ARRAY uint8_t *majority = array_alloc((size_t)map->n_objects, 1);
    NEED(majority);
    for (size_t p = 0; p < n; p++)
        if (labels[p] != CLV_VOID && labels[p] >= n_labels)
            n_labels = labels[p] + 1;
    MUST(label_votes_init(&votes, map->n_objects, n_labels, err));
    label_votes_add(&votes, map->objects, labels, n);
    label_votes_end(majority, &votes);
    array_free(map->labels);
    map->labels = TAKE(majority);
    return CLV_OK;
}

enum clv_status clv_object_map_filter(struct clv_object_map *map, int64_t min_area, bool clears_border,
                                      struct clv_error *err)
{
    size_t n = (size_t)map->width * (size_t)map->height, p = 0;
    OWNED_ARRAY int32_t *number = array_zalloc((size_t)map->n_objects + 1, sizeof *number);
    int32_t n_left = 0;
    NEED(number);
    for (p = 0; p < n; p++)
        number[map->objects[p]]++;
    for (int32_t k = 1; k <= map->n_objects; k++)
        number[k] = number[k] >= min_area;
    p = 0;
    for (int32_t y = 0; y < map->height && clears_border; y++)
        for (int32_t x = 0; x < map->width; x++, p++)
            if (!x || !y || x == map->width - 1 || y == map->height - 1)
                number[map->objects[p]] = 0;
    for (int32_t k = 1; k <= map->n_objects; k++) {
        if (!number[k])
            continue;
        if (map->labels)
            map->labels[n_left] = map->labels[k - 1];
        if (map->probability)
            map->probability[n_left] = map->probability[k - 1];
        number[k] = ++n_left;
    }
    number[0] = 0;
    for (p = 0; p < n; p++)
        map->objects[p] = number[map->objects[p]];
    map->n_objects = n_left;
    return CLV_OK;
}

void objects_colour_init(uint8_t *colour_of, int32_t n_objects)
{
    colour_of[0] = 0;
    for (int32_t k = 1; k <= n_objects; k++)
        colour_of[k] = (uint8_t)((k - 1) % 255 + 1);
}

/* Where two objects of the same colour touch, changes the later one to the next colour. */
void objects_colour_band(bool *was_changed, uint8_t *colour_of, const struct image_band *band)
{
    static const int8_t offsets[4][2] = {{1, 0}, {-1, 1}, {0, 1}, {1, 1}};
    for (int32_t y = band->top; y < band->top + band->n_rows; y++)
        for (int32_t x = 0; x < band->width; x++)
            for (int k = 0; k < 4; k++) {
                int32_t u = x + offsets[k][0], v = y + offsets[k][1];
                if (u < 0 || u >= band->width || v >= band->height)
                    continue;
                int32_t a = band->objects[image_band_row(band, y) + (size_t)x];
                int32_t b = band->objects[image_band_row(band, v) + (size_t)u];
                if (!a || !b || a == b || colour_of[a] != colour_of[b])
                    continue;
                int32_t later = a > b ? a : b;
                colour_of[later] = (uint8_t)(colour_of[later] % 255 + 1);
                *was_changed = true;
            }
}

enum clv_status object_map_colour(uint8_t *colours, const struct clv_object_map *map, struct clv_error *err)
{
    const struct image_band all = {
        .width = map->width, .height = map->height, .n_rows = map->height, .objects = map->objects};
    bool was_changed = map->n_objects > 255;
    OWNED_ARRAY uint8_t *colour_of = array_alloc((size_t)map->n_objects + 1, 1);
    NEED(colour_of);
    objects_colour_init(colour_of, map->n_objects);
    for (int round = 0; round < OBJECT_COLOUR_ROUNDS && was_changed; round++) {
        was_changed = false;
        objects_colour_band(&was_changed, colour_of, &all);
    }
    for (size_t p = 0; p < (size_t)map->width * (size_t)map->height; p++)
        colours[p] = colour_of[map->objects[p]];
    return CLV_OK;
}
