/* Finds the orientation of a photo in its Exif segment, which is a small TIFF: the tag 0x0112 of its first directory.
 * Start at tiff_orientation. */
#include "base/base.h"
#include "image/image.h"

#include <string.h>

#define TAG_ORIENTATION 0x0112
#define TYPE_SHORT      3
#define ENTRY_BYTES     12

/* A TIFF block; offsets count from its byte order mark. */
struct tiff {
    const uint8_t *bytes;
    size_t size;
    bool big_endian;
};

static bool get16(const struct tiff *tiff, size_t at, uint32_t *value)
{
    if (at > tiff->size || tiff->size - at < 2)
        return false;
    const uint8_t *b = tiff->bytes + at;
    *value = tiff->big_endian ? (uint32_t)b[0] << 8 | b[1] : (uint32_t)b[1] << 8 | b[0];
    return true;
}

static bool get32(const struct tiff *tiff, size_t at, uint32_t *value)
{
    uint32_t first, second;
    if (!get16(tiff, at, &first) || !get16(tiff, at + 2, &second))
        return false;
    *value = tiff->big_endian ? first << 16 | second : second << 16 | first;
    return true;
}

bool exif_is_segment(const uint8_t *segment, size_t size)
{
    return size >= 6 && memcmp(segment, "Exif\0\0", 6) == 0;
}

int exif_orientation(const uint8_t *segment, size_t size)
{
    return exif_is_segment(segment, size) ? tiff_orientation(segment + 6, size - 6) : 1;
}

int tiff_orientation(const uint8_t *bytes, size_t size)
{
    uint32_t magic, directory, n_entries;
    if (size < 2)
        return 1;
    struct tiff tiff = {bytes, size, bytes[0] == 'M'};
    uint8_t mark = tiff.big_endian ? 'M' : 'I';
    if (tiff.bytes[0] != mark || tiff.bytes[1] != mark || !get16(&tiff, 2, &magic) || magic != 42)
        return 1;
    if (!get32(&tiff, 4, &directory) || !get16(&tiff, directory, &n_entries))
        return 1;
    for (uint32_t i = 0; i < n_entries; i++) {
        size_t entry = (size_t)directory + 2 + (size_t)i * ENTRY_BYTES;
        uint32_t tag, type, count, value;
        if (!get16(&tiff, entry, &tag) || !get16(&tiff, entry + 2, &type) || !get32(&tiff, entry + 4, &count) ||
            !get16(&tiff, entry + 8, &value))
            return 1;
        if (tag == TAG_ORIENTATION)
            return type == TYPE_SHORT && count == 1 && value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}

bool orientation_transposes(int orientation)
{
    return orientation >= 5;
}

enum clv_status image_orient(struct clv_image *image, int orientation, struct clv_error *err)
{
    if (orientation <= 1 || orientation > 8)
        return CLV_OK;
    bool transposes = orientation_transposes(orientation);
    int32_t width = transposes ? image->height : image->width, height = transposes ? image->width : image->height;
    struct clv_image upright = {0};
    MUST(clv_image_new(&upright, width, height, image->channels, err));

    /* The corner of the stored image at which the upright one starts, and the steps in the stored image for one pixel
     * to the right and one pixel down. */
    bool right_to_left = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    bool bottom_up = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    ptrdiff_t channels = image->channels, row = image->width * channels;
    ptrdiff_t along = right_to_left ? -channels : channels, down = bottom_up ? -row : row;
    const uint8_t *corner =
        image->pixels + (right_to_left ? row - channels : 0) + (bottom_up ? (image->height - 1) * row : 0);
    ptrdiff_t step_x = transposes ? down : along, step_y = transposes ? along : down;
    uint8_t *target = upright.pixels;
    for (int32_t y = 0; y < height; y++) {
        const uint8_t *source = corner + y * step_y;
        for (int32_t x = 0; x < width; x++, source += step_x, target += channels)
            memcpy(target, source, (size_t)channels);
    }
    clv_image_release(image);
    *image = upright;
    return CLV_OK;
}
