/* Recognises the format of a file by its first bytes, not by its name. Start at image_format; the table magics has a
 * row for each mark. */
#include "image/image.h"

#include <string.h>

#include "base/base.h"

/* The bytes that a file has from `at` on. */
struct magic {
    const char *name;
    enum image_format format;
    uint8_t at, length;
    const char *bytes;
    bool is_weak; /* too short to recognise an image among other files */
};

/* ISO base media files (HEIC, AVIF) name their kind by the brand behind "ftyp". */
static const struct magic magics[] = {
    {"PNG", FORMAT_PNG, 0, 8, "\x89PNG\r\n\x1a\n", false},
    {"JPEG", FORMAT_JPEG, 0, 3, "\xff\xd8\xff", false},
    {"Canon CR2", FORMAT_FOREIGN, 0, 10, "II*\0\x10\0\0\0CR", false},
    {"TIFF", FORMAT_TIFF, 0, 4, "II*\0", false},
    {"TIFF", FORMAT_TIFF, 0, 4, "MM\0*", false},
    {"TIFF", FORMAT_TIFF, 0, 4, "II+\0", false},
    {"TIFF", FORMAT_TIFF, 0, 4, "MM\0+", false},
    {"HEIC", FORMAT_FOREIGN, 4, 8, "ftypheic", false},
    {"HEIC", FORMAT_FOREIGN, 4, 8, "ftypheix", false},
    {"HEIC", FORMAT_FOREIGN, 4, 8, "ftyphevc", false},
    {"HEIC", FORMAT_FOREIGN, 4, 8, "ftyphevx", false},
    {"HEIC", FORMAT_FOREIGN, 4, 8, "ftypheim", false},
    {"HEIC", FORMAT_FOREIGN, 4, 8, "ftypheis", false},
    {"HEIF", FORMAT_FOREIGN, 4, 8, "ftypmif1", false},
    {"HEIF", FORMAT_FOREIGN, 4, 8, "ftypmsf1", false},
    {"AVIF", FORMAT_FOREIGN, 4, 8, "ftypavif", false},
    {"AVIF", FORMAT_FOREIGN, 4, 8, "ftypavis", false},
    {"Canon CR3", FORMAT_FOREIGN, 4, 8, "ftypcrx ", false},
    {"video (MP4)", FORMAT_FOREIGN, 4, 4, "ftyp", true},
    {"video (Matroska)", FORMAT_FOREIGN, 0, 4, "\x1a\x45\xdf\xa3", true},
    {"video (AVI)", FORMAT_FOREIGN, 8, 8, "AVI LIST", true},
    {"JPEG XL", FORMAT_FOREIGN, 0, 12, "\0\0\0\x0cJXL \r\n\x87\n", false},
    {"JPEG XL", FORMAT_FOREIGN, 0, 2, "\xff\x0a", true},
    {"JPEG 2000", FORMAT_GDAL, 0, 12, "\0\0\0\x0cjP  \r\n\x87\n", false},
    {"JPEG 2000", FORMAT_GDAL, 0, 4, "\xff\x4f\xff\x51", false},
    {"GDAL virtual raster (VRT)", FORMAT_GDAL, 0, 11, "<VRTDataset", true},
    {"ERDAS Imagine", FORMAT_GDAL, 0, 15, "EHFA_HEADER_TAG", true},
    {"HDF5 or netCDF", FORMAT_GDAL, 0, 8, "\x89HDF\r\n\x1a\n", true},
    {"netCDF", FORMAT_GDAL, 0, 3, "CDF", true},
    {"GRIB", FORMAT_GDAL, 0, 4, "GRIB", true},
    {"NITF", FORMAT_GDAL, 0, 4, "NITF", true},
    {"MrSID", FORMAT_GDAL, 0, 4, "msid", true},
    {"FITS", FORMAT_GDAL, 0, 9, "SIMPLE  =", true},
    {"JPEG XR", FORMAT_FOREIGN, 0, 4, "II\xbc\x01", false},
    {"GIF", FORMAT_FOREIGN, 0, 6, "GIF87a", false},
    {"GIF", FORMAT_FOREIGN, 0, 6, "GIF89a", false},
    {"Photoshop (PSD)", FORMAT_FOREIGN, 0, 4, "8BPS", false},
    {"OpenEXR", FORMAT_FOREIGN, 0, 4, "\x76\x2f\x31\x01", false},
    {"Radiance HDR", FORMAT_FOREIGN, 0, 10, "#?RADIANCE", false},
    {"GIMP (XCF)", FORMAT_FOREIGN, 0, 8, "gimp xcf", false},
    {"QOI", FORMAT_FOREIGN, 0, 4, "qoif", false},
    {"DDS", FORMAT_FOREIGN, 0, 4, "DDS ", false},
    {"Olympus ORF", FORMAT_FOREIGN, 0, 4, "IIRO", false},
    {"Panasonic RW2", FORMAT_FOREIGN, 0, 4, "IIU\0", false},
    {"Fujifilm RAF", FORMAT_FOREIGN, 0, 8, "FUJIFILM", false},
    {"Windows icon", FORMAT_FOREIGN, 0, 4, "\0\0\1\0", true},
    {"PDF", FORMAT_FOREIGN, 0, 5, "%PDF-", true},
    {"SVG", FORMAT_FOREIGN, 0, 4, "<svg", true},
    {"PAM", FORMAT_FOREIGN, 0, 3, "P7\n", true},
    {"BMP", FORMAT_BMP, 0, 2, "BM", true},
};

static const struct magic *find_magic(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (size >= (size_t)magics[i].at + magics[i].length &&
            memcmp(bytes + magics[i].at, magics[i].bytes, magics[i].length) == 0)
            return &magics[i];
    return NULL;
}

static bool is_webp(const uint8_t *bytes, size_t size)
{
    return size >= 12 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0;
}

static bool is_pnm(const uint8_t *bytes, size_t size)
{
    return size >= 3 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' && strchr(" \t\r\n#", bytes[2]) &&
           bytes[2];
}

enum image_format image_format(const char **name, const uint8_t *bytes, size_t size)
{
    const struct magic *magic = find_magic(bytes, size);
    *name = magic ? magic->name : NULL;
    if (magic)
        return magic->format;
    if (is_webp(bytes, size)) {
        *name = "WebP";
        return FORMAT_WEBP;
    }
    if (is_pnm(bytes, size)) {
        *name = "PNM";
        return FORMAT_PNM;
    }
    return FORMAT_UNKNOWN;
}

/* False for a file that cannot be opened. */
static bool begins_like_an_image(const char *path)
{
    struct clv_error ignored;
    char *bytes;
    size_t size;
    if (file_read_head(&bytes, &size, path, FORMAT_HEAD_BYTES, &ignored) != CLV_OK)
        return false;
    const uint8_t *head = (const uint8_t *)bytes;
    const struct magic *magic = find_magic(head, size);
    bool is_image = is_webp(head, size) || (magic && !magic->is_weak);
    array_free(bytes);
    return is_image;
}

bool path_is_image(const char *path)
{
    static const char *const extensions[] = {".png", ".jpg", ".jpeg", ".webp", ".tif",  ".tiff", ".bmp", ".pnm",
                                             ".pbm", ".pgm", ".ppm",  ".heic", ".heif", ".avif", ".jxl", ".gif",
                                             ".psd", ".jp2", ".j2k",  ".exr",  ".xcf",  ".qoi",  ".dng", ".cr2",
                                             ".cr3", ".nef", ".arw",  ".raf",  ".orf",  ".rw2"};
    size_t length;
    uint32_t page;
    if (path_page(&length, &page, path))
        return true;
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (text_ends_with(path, extensions[i]))
            return true;
    return begins_like_an_image(path);
}

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

enum clv_status png_size(struct image_head *head, const struct image_bytes *from, struct clv_error *err)
{
    FAIL_IF(from->size < 33 /* signature and IHDR chunk */, CLV_ERR_DATA, "corrupt PNG: truncated file");
    if (memcmp(from->bytes + 8, "\0\0\0\x0dIHDR", 8) != 0)
        return fail(err, CLV_ERR_DATA, "corrupt PNG: does not begin with an IHDR chunk");
    head->orientation = 1;
    return size_take(&head->width, &head->height, big_endian(from->bytes + 16), big_endian(from->bytes + 20),
                     from->limits, err);
}
