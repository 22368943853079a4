/* Recognises the format of a file by its first bytes, not by its name. Codecs recognise the formats that cleave reads;
 * the table `foreign` has others, so that messages can name them. Start at image_format. */
#include "image/image.h"

#include <string.h>

#include "base/base.h"

/* The formats that are read. */

#define ROW(format, name) [FORMAT_##format] = &name##_codec,
static const struct image_codec *const codecs[N_FORMATS] = {EACH_CODEC(ROW)};

const struct image_codec *image_codec(enum image_format format)
{
    return codecs[format];
}

static bool recognises(const struct image_codec *codec, const uint8_t *bytes, size_t size)
{
    if (codec->recognises)
        return codec->recognises(bytes, size);
    for (size_t k = 0; k < MAX_MAGICS && codec->magics[k].bytes; k++)
        if (size >= codec->magics[k].length && memcmp(bytes, codec->magics[k].bytes, codec->magics[k].length) == 0)
            return true;
    return false;
}

void image_format_names(struct text *text)
{
    for (int format = FORMAT_FIRST_READ; format < N_FORMATS; format++)
        text_printf(text, "%s%s",
                    format == FORMAT_FIRST_READ ? ""
                    : format + 1 < N_FORMATS    ? ", "
                                                : " or ",
                    codecs[format]->name);
}

/* A format that cleave does not read, or only by GDAL. Its files have these bytes at offset `at`. */
struct foreign {
    const char *name;
    enum image_format format;
    uint8_t at, length;
    const char *bytes;
    bool is_weak; /* too short to recognise an image among other files */
};

/* ISO base media files (HEIC, AVIF) name their kind by the brand after "ftyp". */
static const struct foreign foreign[] = {
    {"Canon CR2", FORMAT_FOREIGN, 0, 10, "II*\0\x10\0\0\0CR", false},
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
};

static const struct foreign *find_foreign(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (size >= (size_t)foreign[i].at + foreign[i].length &&
            memcmp(bytes + foreign[i].at, foreign[i].bytes, foreign[i].length) == 0)
            return &foreign[i];
    return NULL;
}

/* Compares foreign formats first, because Canon's CR2 begins like a TIFF. */
enum image_format image_format(const char **name, const uint8_t *bytes, size_t size)
{
    const struct foreign *found = find_foreign(bytes, size);
    *name = found ? found->name : NULL;
    if (found)
        return found->format;
    for (int format = FORMAT_FIRST_READ; format < N_FORMATS; format++)
        if (recognises(codecs[format], bytes, size)) {
            *name = codecs[format]->name;
            return (enum image_format)format;
        }
    return FORMAT_UNKNOWN;
}

/* Returns false for a file that cannot be opened. */
static bool begins_like_an_image(const char *path)
{
    struct clv_error ignored;
    OWNED_ARRAY char *bytes = NULL;
    size_t size;
    if (file_read_head(&bytes, &size, path, FORMAT_HEAD_BYTES, &ignored) != CLV_OK)
        return false;
    const uint8_t *head = (const uint8_t *)bytes;
    const char *name;
    const struct foreign *found = find_foreign(head, size);
    const struct image_codec *codec = codecs[image_format(&name, head, size)];
    return found ? !found->is_weak : codec && !codec->is_weak;
}

bool path_is_image(const char *path)
{
    static const char *const extensions[] = {".heic", ".heif", ".avif", ".jxl", ".gif", ".psd", ".jp2",
                                             ".j2k",  ".exr",  ".xcf",  ".qoi", ".dng", ".cr2", ".cr3",
                                             ".nef",  ".arw",  ".raf",  ".orf", ".rw2"};
    size_t length;
    uint32_t page;
    if (path_page(&length, &page, path))
        return true;
    for (int format = FORMAT_FIRST_READ; format < N_FORMATS; format++)
        for (size_t k = 0; k < MAX_EXTENSIONS && codecs[format]->extensions[k]; k++)
            if (text_ends_with(path, codecs[format]->extensions[k]))
                return true;
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (text_ends_with(path, extensions[i]))
            return true;
    return begins_like_an_image(path);
}
