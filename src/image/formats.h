/* Which format a file has by its first bytes; those that cleave does not read are known by name as well. */
#ifndef IMAGE_FORMATS_H
#define IMAGE_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum image_format {
    FORMAT_UNKNOWN,
    FORMAT_FOREIGN, /* an image, in a format that is not read */
    FORMAT_PNG,
    FORMAT_JPEG,
    FORMAT_WEBP,
    FORMAT_TIFF,
    FORMAT_BMP,
    FORMAT_PNM,
};

#define FORMAT_HEAD_BYTES 32

/* *name is "PNG", "HEIC", ..; NULL for FORMAT_UNKNOWN. */
enum image_format image_format(const char **name, const uint8_t *bytes, size_t size);

/* Whether the file is an image, or means to be one: by its name's extension, whatever it holds, or by its first bytes.
 * Images of foreign formats are, too: whoever has a folder of them gets a message. */
bool path_is_image(const char *path);

#endif
