/* Converts arrays to network maps: finds the dimensions of channels, rows and columns (guess_layout), and loads
 * channels as floats. Start at map_planes_init. */
#include "data/maps/maps.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "image/image.h"

#define MAX_VALUES ((size_t)1 << 27)

void clv_map_release(struct clv_map *map)
{
    array_free(map->values);
    *map = (struct clv_map){0};
}

static double load(const unsigned char *bytes, enum number_type type, bool big_endian)
{
    double value = number_load(bytes, type, big_endian);
    return type == NUMBER_U8    ? (double)((float)value / 255)
           : type == NUMBER_U16 ? (double)((float)value / 65535)
                                : value;
}

/* Indices of the dimensions; channels -1: there is one channel and no such dimension. */
struct axes {
    int32_t channels, rows, columns;
};

static double elongation(int64_t a, int64_t b)
{
    return a > b ? (double)a / (double)b : (double)b / (double)a;
}

/* Guesses the layout. Channels are usually fewer than rows and columns, unless the image would then be more than eight
 * times as long as wide; then the layout with the less elongated image is chosen, such as 768 channels of 14 x 20
 * pixels. Returns AUTO if both layouts are equally likely. */
static enum clv_map_layout guess_layout(const int64_t size[3])
{
    enum { LONGEST = 8 };
    double if_first = elongation(size[1], size[2]), if_last = elongation(size[0], size[1]);
    bool is_first = size[0] < size[1] && size[0] < size[2], is_last = size[2] < size[0] && size[2] < size[1];
    if (is_first && if_first <= LONGEST)
        return CLV_MAP_LAYOUT_CHW;
    if (is_last && if_last <= LONGEST)
        return CLV_MAP_LAYOUT_HWC;
    return if_first < if_last ? CLV_MAP_LAYOUT_CHW : if_last < if_first ? CLV_MAP_LAYOUT_HWC : CLV_MAP_LAYOUT_AUTO;
}

static enum clv_status find_axes(struct axes *axes, const struct number_array *array, enum clv_map_layout layout,
                                 struct clv_error *err)
{
    char shape[160];
    const int64_t *size = array->shape;
    number_shape_name(shape, sizeof shape, array);
    if (array->n_dimensions == 2) {
        *axes = (struct axes){.channels = -1, .rows = 0, .columns = 1};
    } else if (array->n_dimensions == 3) {
        if (layout == CLV_MAP_LAYOUT_AUTO)
            layout = guess_layout(size);
        FAIL_IF(layout == CLV_MAP_LAYOUT_AUTO, CLV_ERR_DATA, "shape %s may be channels first or last", shape);
        *axes = layout == CLV_MAP_LAYOUT_CHW ? (struct axes){.channels = 0, .rows = 1, .columns = 2}
                                             : (struct axes){.channels = 2, .rows = 0, .columns = 1};
    } else {
        return fail(err, CLV_ERR_DATA, "shape %s; a map is H x W, C x H x W or H x W x C", shape);
    }
    return CLV_OK;
}

static enum clv_status check_size(const struct number_array *array, const struct axes *axes,
                                  const struct clv_image_limits *limits, struct clv_error *err)
{
    char shape[160];
    struct clv_image_limits most = limits_resolved(limits);
    int64_t rows = array->shape[axes->rows], columns = array->shape[axes->columns];
    int64_t channels = axes->channels < 0 ? 1 : array->shape[axes->channels];
    number_shape_name(shape, sizeof shape, array);
    FAIL_IF(rows < 1 || columns < 1 || channels < 1, CLV_ERR_DATA, "shape %s has nothing in it", shape);
    if (rows > most.max_side_px || columns > most.max_side_px || (uint64_t)(rows * columns) > most.max_pixels)
        return fail(err, CLV_ERR_DATA, "shape %s: more than %d pixels a side or %llu in all", shape, most.max_side_px,
                    (unsigned long long)most.max_pixels);
    FAIL_IF(channels > CLV_MAX_MAP_CHANNELS, CLV_ERR_DATA, "shape %s: %lld channels, the limit is %d", shape,
            (long long)channels, CLV_MAX_MAP_CHANNELS);
    if ((size_t)(rows * columns) > MAX_VALUES / (size_t)channels)
        return fail(err, CLV_ERR_DATA, "shape %s: more than %zu values", shape, MAX_VALUES);
    return CLV_OK;
}

enum clv_status map_planes_init(struct map_planes *planes, const struct number_array *array, enum clv_map_layout layout,
                                const struct clv_image_limits *limits, struct clv_error *err)
{
    struct axes axes = {0};
    struct number_array bare = *array;
    while (bare.n_dimensions > 3 && bare.shape[0] == 1)
        memmove(bare.shape, bare.shape + 1, (size_t)--bare.n_dimensions * sizeof *bare.shape);
    MUST(find_axes(&axes, &bare, layout, err));
    MUST(check_size(&bare, &axes, limits, err));
    *planes = (struct map_planes){.array = bare,
                                  .n_channels = axes.channels < 0 ? 1 : (size_t)bare.shape[axes.channels],
                                  .height = (size_t)bare.shape[axes.rows],
                                  .width = (size_t)bare.shape[axes.columns],
                                  .deep = axes.channels < 0 ? 0 : number_stride(&bare, axes.channels),
                                  .down = number_stride(&bare, axes.rows),
                                  .across = number_stride(&bare, axes.columns)};
    return CLV_OK;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "floats of little-endian files are copied");

/* Loads n values, `step` bytes apart, to to[0], to[to_step] and so on. Returns the number of values before the first
 * that is not finite. */
static size_t load_line(float *to, size_t to_step, const unsigned char *from, size_t step, size_t n,
                        const struct number_array *array)
{
    size_t good = 0;
    if (array->type == NUMBER_F32 && !array->big_endian && step == sizeof *to && to_step == 1)
        memcpy(to, from, n * sizeof *to);
    else
        for (size_t k = 0; k < n; k++)
            to[k * to_step] = (float)load(from + k * step, array->type, array->big_endian);
    while (good < n && isfinite(to[good * to_step]))
        good++;
    return good;
}

bool map_planes_interleaved(const struct map_planes *self)
{
    return self->n_channels > 1 && self->deep < self->down && self->deep < self->across;
}

enum clv_status map_planes_load(float *planes, const struct map_planes *self, size_t first, size_t n,
                                const struct file_map *file, struct clv_error *err)
{
    const struct number_array *array = &self->array;
    size_t size = number_type_size(array->type), passed = 0, n_pixels = self->width * self->height;
    bool is_by_rows = self->down >= self->across; /* reads in the order of the bytes */
    size_t n_lines = is_by_rows ? self->height : self->width, length = is_by_rows ? self->width : self->height;
    size_t line = is_by_rows ? self->down : self->across, step = is_by_rows ? self->across : self->down;
    size_t to_line = is_by_rows ? self->width : 1, to_step = is_by_rows ? 1 : self->width;
    for (size_t l = 0; l < n_lines; l++) {
        for (size_t c = first; c < first + n; c++) {
            const unsigned char *from = array->bytes + (c * self->deep + l * line) * size;
            float *to = planes + (c - first) * n_pixels + l * to_line;
            size_t good = load_line(to, to_step, from, step * size, length, array);
            FAIL_IF(good < length, CLV_ERR_DATA, "channel %zu has %g at (%zu, %zu)", c,
                    load(from + good * step * size, array->type, array->big_endian), is_by_rows ? good : l,
                    is_by_rows ? l : good);
        }
        passed += line * size;
        if (file->size > MAP_PAGES && (passed >= MAP_PAGES || l + 1 == n_lines)) {
            file_map_forget(file);
            passed = 0;
        }
    }
    return CLV_OK;
}
