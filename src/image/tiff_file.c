/* Opens pages of TIFF files by libtiff, and decodes their strips or tiles. Each file has its own message handlers;
 * those of the process stay as they are. Start at tiff_open.
 *
 * libtiff warns where it should fail: it fills in the missing pixels of a damaged strip and continues. While a strip or
 * tile is decoded, a warning is an error, except those of is_harmless; while tags are read, warnings are ignored. */
#include "image/image.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/base.h"

#define BYTES_PER_PIXEL 16 /* that libtiff may allocate at once, for each pixel that the limits allow */

static int on_error(TIFF *tiff, void *context, const char *module, const char *format, va_list args)
{
    struct tiff_file *self = context;
    (void)tiff;
    (void)module;
    if (!self->message[0])
        vsnprintf(self->message, sizeof self->message, format, args);
    return 1; /* libtiff prints nothing */
}

/* Whether a warning is about a file that lost no data: tags that the old JPEG decoder adds late, LZW codes as written
 * before 1988, a last strip whose JPEG has the full height, an unknown JFIF revision, and one or two bytes that pad a
 * JPEG before its end. More such bytes are a sign of damage before them. */
static bool is_harmless(const char *module, const char *text)
{
    static const char *const texts[] = {"JPEG strip size exceeds expected dimensions", "JFIF revision",
                                        ": 1 extraneous bytes before marker 0xd9",
                                        ": 2 extraneous bytes before marker 0xd9"};
    if (module && (!strncmp(module, "OJPEG", 5) || !strcmp(module, "LZWPreDecode")))
        return true;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (strstr(text, texts[k]))
            return true;
    return false;
}

static int on_warning(TIFF *tiff, void *context, const char *module, const char *format, va_list args)
{
    struct tiff_file *self = context;
    char text[sizeof self->message];
    (void)tiff;
    if (!self->is_decoding || self->message[0])
        return 1;
    vsnprintf(text, sizeof text, format, args);
    if (!is_harmless(module, text))
        memcpy(self->message, text, sizeof text);
    return 1;
}

static tmsize_t on_read(thandle_t context, void *target, tmsize_t wanted)
{
    struct tiff_file *self = context;
    bool is_shifted = self->position >= self->plane_offset && self->position - self->plane_offset < self->plane_bytes;
    size_t from = self->position + (is_shifted ? self->plane_shift : 0),
           left = from < self->size ? self->size - from : 0;
    size_t n = wanted < 0 ? 0 : (size_t)wanted < left ? (size_t)wanted : left;
    memcpy(target, self->bytes + from, n);
    self->position += n;
    return (tmsize_t)n;
}

static tmsize_t on_write(thandle_t context, void *source, tmsize_t size)
{
    (void)context;
    (void)source;
    (void)size;
    return 0;
}

static toff_t on_seek(thandle_t context, toff_t offset, int whence)
{
    struct tiff_file *self = context;
    uint64_t base = whence == SEEK_CUR ? self->position : whence == SEEK_END ? self->size : 0, at = base + offset;
    self->position = at > self->size ? self->size : (size_t)at;
    return self->position;
}

static toff_t on_size(thandle_t context)
{
    return ((const struct tiff_file *)context)->size;
}

/* Gives libtiff the whole file, so that it uses uncompressed strips without a copy. */
static int on_map(thandle_t context, void **base, toff_t *size)
{
    const struct tiff_file *self = context;
    *base = (void *)(uintptr_t)self->bytes;
    *size = self->size;
    return 1;
}

static void on_unmap(thandle_t context, void *base, toff_t size)
{
    (void)context;
    (void)base;
    (void)size;
}

static int on_close(thandle_t context)
{
    (void)context;
    return 0;
}

#define MAX_DIRECTORIES  65535
#define BIG_MAGIC        43
#define TAG_SUBFILE_TYPE 254
#define REDUCED_OR_MASK  5 /* bits 0 and 2 of the subfile type */
#define TAG_WIDTH        256
#define TAG_HEIGHT       257
#define TAG_BITS         258
#define TAG_COMPRESSION  259
#define TAG_DESCRIPTION  270
#define TAG_STRIPS       273
#define TAG_SAMPLES      277
#define TAG_STRIP_BYTES  279
#define TAG_TILE_BYTES   325

struct walk {
    const uint8_t *bytes;
    size_t size;
    bool big_endian, is_big;
};

/* Reads a whole number of n bytes; false if the file ends before. */
static bool get(uint64_t *value, const struct walk *walk, uint64_t at, unsigned n)
{
    if (at > walk->size || walk->size - at < n)
        return false;
    *value = 0;
    for (unsigned i = 0; i < n; i++)
        *value = *value << 8 | walk->bytes[at + (walk->big_endian ? i : n - 1 - i)];
    return true;
}

struct directory {
    bool is_page;  /* neither a reduced copy nor a mask */
    bool has_size; /* every image has one; other bytes rarely look like it */
    bool has_byte_counts;
    bool is_compressed;
    uint64_t next; /* 0: none */
};

/* Reads a directory; false if it is outside of the file or empty. If the file ends within the pointer to the next
 * directory, next leads out of the file. A byte count of 0 for the only strip counts as missing: libtiff then takes all
 * bytes that follow. */
static bool read_directory(struct directory *self, const struct walk *walk, uint64_t at)
{
    unsigned count_bytes = walk->is_big ? 8 : 2, entry_bytes = walk->is_big ? 20 : 12, value_at = walk->is_big ? 12 : 8;
    uint64_t n, tag, type, value;
    int n_sizes = 0;
    *self = (struct directory){.is_page = true};
    if (!get(&n, walk, at, count_bytes) || !n || n > UINT16_MAX)
        return false;
    at += count_bytes;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t entry = at + i * entry_bytes;
        if (!get(&tag, walk, entry, 2) || !get(&type, walk, entry + 2, 2))
            return false;
        n_sizes += tag == TAG_WIDTH || tag == TAG_HEIGHT;
        if (tag == TAG_COMPRESSION && get(&value, walk, entry + value_at, 2))
            self->is_compressed = value != COMPRESSION_NONE;
        if ((tag == TAG_STRIP_BYTES || tag == TAG_TILE_BYTES) && get(&value, walk, entry + value_at, type == 3 ? 2 : 4))
            self->has_byte_counts = value > 0;
        if (tag == TAG_SUBFILE_TYPE && get(&value, walk, entry + value_at, type == 3 ? 2 : 4))
            self->is_page = !(value & REDUCED_OR_MASK);
    }
    self->has_size = n_sizes >= 2;
    if (!get(&self->next, walk, at + n * entry_bytes, walk->is_big ? 8 : 4))
        self->next = UINT64_MAX;
    return true;
}

/* Offsets of directories, in the order of their chain. */
struct chain {
    uint64_t *at;
    size_t n, capacity;
    uint64_t furthest;
};

static void chain_release(struct chain *self)
{
    array_free(self->at);
}

/* Adds the offset `at`. *closes becomes true if the chain has it already, which only an offset up to the largest one so
 * far can be. */
static enum clv_status chain_add(struct chain *self, bool *closes, uint64_t at, struct clv_error *err)
{
    *closes = false;
    for (size_t k = 0; at <= self->furthest && k < self->n && !*closes; k++)
        *closes = self->at[k] == at;
    if (*closes)
        return CLV_OK;
    NEED(!array_reserve((void **)&self->at, &self->capacity, self->n + 1, sizeof *self->at));
    self->at[self->n++] = at;
    self->furthest = at > self->furthest ? at : self->furthest;
    return CLV_OK;
}

/* Finds the directory of plane `plane', from 1 (0: none): its *offset and its fields, *of_plane. Counts all planes in
 * *n_planes unless that is NULL. */
static enum clv_status find_plane(struct directory *of_plane, uint64_t *offset, uint32_t *n_planes,
                                  const struct walk *walk, uint32_t plane, struct clv_error *err)
{
    OWNED(chain_release) struct chain chain = {0};
    struct directory directory;
    uint64_t at, found = 0;
    uint32_t n = 0;
    *of_plane = (struct directory){0};
    FAIL_IF(!get(&at, walk, walk->is_big ? 8 : 4, walk->is_big ? 8 : 4), CLV_ERR_DATA, "corrupt TIFF: truncated file");
    while (at && (n_planes || !found)) {
        bool closes;
        MUST(chain_add(&chain, &closes, at, err));
        if (closes)
            break;
        FAIL_IF(chain.n > MAX_DIRECTORIES, CLV_ERR_DATA, "corrupt TIFF: more than %d directories", MAX_DIRECTORIES);
        bool is_inside = read_directory(&directory, walk, at);
        if (!is_inside && n == 1)
            break;
        FAIL_IF(!is_inside && (!n || plane == n + 1), CLV_ERR_DATA,
                "corrupt TIFF: directory %zu is outside of the file or empty", chain.n);
        bool is_plane = !is_inside || (directory.is_page && (directory.has_size || chain.n == 1));
        n += is_plane;
        if (is_plane && n == plane) {
            found = at;
            *of_plane = directory;
        }
        at = is_inside ? directory.next : 0;
    }
    FAIL_IF(!n, CLV_ERR_DATA, "a TIFF without a full image, such as a camera's raw file");
    FAIL_IF(plane && !found, CLV_ERR_DATA, "has %s, not %u", n_of(n, "page", "pages").text, plane);
    if (plane)
        *offset = found;
    if (n_planes)
        *n_planes = n;
    return CLV_OK;
}

/* Returns the first value of a tag; `otherwise' if the directory lacks it. */
static uint64_t tag_value(const struct walk *walk, uint64_t directory, uint32_t wanted, uint64_t otherwise)
{
    unsigned count_bytes = walk->is_big ? 8 : 2, entry_bytes = walk->is_big ? 20 : 12, inside = walk->is_big ? 8 : 4;
    uint64_t n = 0, tag, type, count, value;
    if (!get(&n, walk, directory, count_bytes))
        return otherwise;
    for (uint64_t i = 0; i < n && i < UINT16_MAX; i++) {
        uint64_t entry = directory + count_bytes + i * entry_bytes, at = entry + 4 + inside;
        if (!get(&tag, walk, entry, 2) || !get(&type, walk, entry + 2, 2) || !get(&count, walk, entry + 4, inside))
            return otherwise;
        if (tag != wanted || !count)
            continue;
        unsigned bytes = type == TIFF_SHORT ? 2 : type == TIFF_LONG ? 4 : type == TIFF_LONG8 ? 8 : 0;
        if (!bytes || (count > inside / bytes && !get(&at, walk, at, inside)) || !get(&value, walk, at, bytes))
            return otherwise;
        return value;
    }
    return otherwise;
}

/* Finds the description in a directory. The text is not copied. */
static void find_text(struct stack_description *text, const struct walk *walk, uint64_t directory)
{
    unsigned count_bytes = walk->is_big ? 8 : 2, entry_bytes = walk->is_big ? 20 : 12, inside = walk->is_big ? 8 : 4;
    uint64_t n = 0, tag, count, at;
    *text = (struct stack_description){.n_samples = (uint32_t)tag_value(walk, directory, TAG_SAMPLES, 1)};
    if (!get(&n, walk, directory, count_bytes))
        return;
    for (uint64_t i = 0; i < n && i < UINT16_MAX; i++) {
        uint64_t entry = directory + count_bytes + i * entry_bytes;
        if (!get(&tag, walk, entry, 2) || !get(&count, walk, entry + 4, inside))
            return;
        if (tag != TAG_DESCRIPTION || count <= inside || !get(&at, walk, entry + 4 + inside, inside) ||
            at > walk->size || count > walk->size - at)
            continue;
        text->text = (const char *)walk->bytes + at;
        text->length = strnlen(text->text, count);
        return;
    }
}

/* ImageJ writes stacks above 4 GB with one directory; further planes follow the pixels of the first. Returns the bytes
 * of a plane, 0 if the file is not such a stack; *offset is that of the first plane's pixels. The first two planes must
 * be in the file; others that are missing fail when they are read. */
static uint64_t bytes_of_planes(uint64_t *offset, const struct walk *walk, uint64_t directory, uint32_t n_planes)
{
    uint64_t width = tag_value(walk, directory, TAG_WIDTH, 0), height = tag_value(walk, directory, TAG_HEIGHT, 0);
    uint64_t bits = tag_value(walk, directory, TAG_BITS, 1), samples = tag_value(walk, directory, TAG_SAMPLES, 1);
    *offset = tag_value(walk, directory, TAG_STRIPS, 0);
    if (n_planes < 2 || !*offset || tag_value(walk, directory, TAG_COMPRESSION, 1) != COMPRESSION_NONE ||
        width > INT32_MAX || height > INT32_MAX || bits > 64 || samples > UINT16_MAX || bits * samples > UINT16_MAX)
        return 0;
    uint64_t row = (width * bits * samples + 7) / 8, bytes;
    if (__builtin_mul_overflow(row, height, &bytes) || *offset > walk->size || bytes > (walk->size - *offset) / 2)
        return 0;
    return bytes;
}

/* Finds the axes. If all planes share one directory, *offset and *bytes are those of the first plane's pixels;
 * otherwise *bytes is 0. */
static enum clv_status find_axes(struct stack_axes *axes, uint64_t *offset, uint64_t *bytes, const struct walk *walk,
                                 struct clv_error *err)
{
    struct directory directory;
    struct stack_description text;
    uint64_t first = 0;
    uint32_t n_planes = 0;
    *offset = *bytes = 0;
    MUST(find_plane(&directory, &first, &n_planes, walk, 1, err));
    find_text(&text, walk, first);
    if (n_planes == 1 && (*bytes = bytes_of_planes(offset, walk, first, stack_axes_n_planes(&text))))
        n_planes = stack_axes_n_planes(&text);
    stack_axes_find(axes, n_planes, &text);
    return CLV_OK;
}

static enum clv_status begin_walk(struct walk *walk, const uint8_t *bytes, size_t size, struct clv_error *err)
{
    uint64_t magic;
    *walk = (struct walk){bytes, size, size && bytes[0] == 'M', false};
    FAIL_IF(!get(&magic, walk, 2, 2), CLV_ERR_DATA, "corrupt TIFF: truncated file");
    walk->is_big = magic == BIG_MAGIC;
    return CLV_OK;
}

enum clv_status tiff_find_axes(struct stack_axes *axes, const uint8_t *bytes, size_t size, struct clv_error *err)
{
    struct walk walk;
    uint64_t offset, plane_bytes;
    MUST(begin_walk(&walk, bytes, size, err));
    return find_axes(axes, &offset, &plane_bytes, &walk, err);
}

/* Whether --axes or the first directory may describe axes. Otherwise each plane is a page, and planes after the wanted
 * one need not be counted. */
static bool may_have_axes(const struct walk *walk)
{
    uint64_t first;
    struct stack_description text;
    if (stack_axes_are_chosen())
        return true;
    if (!get(&first, walk, walk->is_big ? 8 : 4, walk->is_big ? 8 : 4))
        return false;
    find_text(&text, walk, first);
    return text.text && (!strncmp(text.text, "ImageJ=", 7) || memmem(text.text, text.length, "DimensionOrder", 14));
}

/* Finds the directory of a page's channel. If all planes share one directory, self->plane_shift becomes the distance
 * from the first plane's pixels to those of the channel. */
static enum clv_status find_page(struct tiff_file *self, struct directory *directory, uint64_t *offset,
                                 const struct image_bytes *from, struct clv_error *err)
{
    struct walk walk;
    struct stack_axes axes;
    MUST(begin_walk(&walk, from->bytes, from->size, err));
    if (!may_have_axes(&walk))
        return find_plane(directory, offset, NULL, &walk, from->page, err);
    MUST(find_axes(&axes, &self->plane_offset, &self->plane_bytes, &walk, err));
    uint32_t n_pages = axes.n_slices * axes.n_frames, page = from->page - 1;
    FAIL_IF(page >= n_pages, CLV_ERR_DATA, "has %s, not %u", n_of(n_pages, "page", "pages").text, from->page);
    FAIL_IF(!from->channel && axes.n_channels > 1, CLV_ERR_DATA,
            "a page of %u channels (--axes says otherwise), where one of labels is wanted", axes.n_channels);
    uint32_t plane = stack_axes_plane(&axes, page, from->channel ? from->channel - 1 : 0);
    self->plane_shift = self->plane_bytes * plane;
    return find_plane(directory, offset, NULL, &walk, self->plane_bytes ? 1 : plane + 1, err);
}

#define SAVE_AS_READABLE "save it as grey or RGB of 8 or 16 bits a sample"

enum clv_status tiff_corrupt(struct tiff_file *self, struct clv_error *err)
{
    static const char *const unknown[] = {"nsupported",      "not supported", "not configured",
                                          "not implemented", "not allowed",   "can not handle"};
    for (char *c = self->message; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++)
        FAIL_IF(strstr(self->message, unknown[k]), CLV_ERR_DATA, "a TIFF of a kind that is not read (%s); %s",
                self->message, SAVE_AS_READABLE);
    return fail(err, CLV_ERR_DATA, "corrupt TIFF: %s", self->message[0] ? self->message : "it cannot be read");
}

enum clv_status tiff_unsupported(const struct tiff_file *self, struct clv_error *err)
{
    static const char *const formats[] = {"",          "unsigned ", "signed ", "floating-point ",
                                          "unsigned ", "complex ",  "complex "};
    static const struct {
        uint16_t photometric;
        const char *name;
    } kinds[] = {{PHOTOMETRIC_MINISWHITE, "grey"}, {PHOTOMETRIC_MINISBLACK, "grey"}, {PHOTOMETRIC_RGB, "RGB"},
                 {PHOTOMETRIC_PALETTE, "palette"}, {PHOTOMETRIC_SEPARATED, "CMYK"},  {PHOTOMETRIC_YCBCR, "YCbCr"},
                 {PHOTOMETRIC_CIELAB, "CIELab"},   {PHOTOMETRIC_ICCLAB, "ICCLab"},   {PHOTOMETRIC_ITULAB, "ITULab"},
                 {PHOTOMETRIC_LOGL, "LogL"},       {PHOTOMETRIC_LOGLUV, "LogLuv"},   {PHOTOMETRIC_CFA, "raw camera"}};
    char name[40];
    snprintf(name, sizeof name, "unknown (kind %u)", self->photometric);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (kinds[k].photometric == self->photometric)
            snprintf(name, sizeof name, "%s", kinds[k].name);
    return fail(err, CLV_ERR_DATA, "a TIFF of %u %s%s samples of %u bits a pixel%s, which are not read; %s",
                self->n_samples, self->format < 7 ? formats[self->format] : "unknown ", name, self->bits,
                self->is_planar ? ", in planes" : "", SAVE_AS_READABLE);
}

/* Guesses whether samples are grey or colours, by their number, for files that do not state it. */
static uint16_t guess_photometric(const struct tiff_file *self)
{
    uint16_t n_extra = 0, *extra = NULL;
    bool is_fax = self->compression >= COMPRESSION_CCITTRLE && self->compression <= COMPRESSION_CCITTFAX4;
    TIFFGetFieldDefaulted(self->tiff, TIFFTAG_EXTRASAMPLES, &n_extra, &extra);
    if (self->n_samples - n_extra >= 3)
        return self->compression == COMPRESSION_OJPEG ? PHOTOMETRIC_YCBCR : PHOTOMETRIC_RGB;
    return is_fax || self->compression == COMPRESSION_CCITTRLEW ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_MINISBLACK;
}

static enum clv_status read_shape(struct tiff_file *self, const struct clv_image_limits *limits, struct clv_error *err)
{
    TIFF *tiff = self->tiff;
    uint16_t planes = PLANARCONFIG_CONTIG;
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &self->width) ||
        !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &self->height))
        return fail(err, CLV_ERR_DATA, "corrupt TIFF: a page without a size");
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &self->bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &self->n_samples);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &self->orientation);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &self->format);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &self->compression);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planes);
    self->is_planar = planes == PLANARCONFIG_SEPARATE && self->n_samples > 1;
    self->is_tiled = TIFFIsTiled(tiff);
    if (!TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &self->photometric))
        self->photometric = guess_photometric(self);
    MUST(limits_check(self->width, self->height, limits, err));
    self->block_width = self->width;
    if (!self->is_tiled) {
        TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &self->block_height);
        self->block_height = self->block_height < self->height ? self->block_height : self->height;
        FAIL_IF(!self->block_height, CLV_ERR_DATA, "corrupt TIFF: strips of no rows");
        return CLV_OK;
    }
    if (!TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &self->block_width) ||
        !TIFFGetField(tiff, TIFFTAG_TILELENGTH, &self->block_height))
        return fail(err, CLV_ERR_DATA, "corrupt TIFF: tiles without a size");
    enum clv_status status = limits_check(self->block_width, self->block_height, limits, err);
    return status == CLV_OK ? CLV_OK : fail_about(err, status, "tiles");
}

/* Returns the fewest bytes that can encode a strip or tile of `bytes` bytes in `rows` rows. The bounds follow from the
 * codes: a PackBits run, the longest string of an LZW table of 12 bits, a deflate match of 258 bytes in 2 bits, one bit
 * for each 8x8 block of a JPEG, one bit for each row of a fax of group 3 or 4. */
static uint64_t fewest_bytes(uint16_t compression, uint64_t bytes, uint64_t rows)
{
    uint64_t at_once = 0; /* bytes that one encoded byte can hold */
    switch (compression) {
    case COMPRESSION_NONE: at_once = 1; break;
    case COMPRESSION_SGILOG24: at_once = 4; break;
    case COMPRESSION_THUNDERSCAN: at_once = 32; break;
    case COMPRESSION_PACKBITS: at_once = 64; break;
    case COMPRESSION_SGILOG: at_once = 128; break;
    case COMPRESSION_OJPEG:
    case COMPRESSION_JPEG: at_once = 512; break;
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE: at_once = 1040; break;
    case COMPRESSION_LZW:
    case COMPRESSION_PIXARLOG: at_once = 4160; break;
    case COMPRESSION_LZMA: at_once = 16384; break;
    case COMPRESSION_ZSTD: at_once = 32768; break;
    case COMPRESSION_CCITTRLE:
    case COMPRESSION_NEXT: return rows;
    case COMPRESSION_CCITTRLEW: return 2 * rows;
    case COMPRESSION_CCITTFAX3:
    case COMPRESSION_CCITTFAX4: return (rows + 7) / 8;
    default: return 1; /* with other codes a few bytes may hold any number of equal pixels */
    }
    return bytes / at_once + (bytes % at_once != 0);
}

/* Compares the offset and byte count of every strip or tile with the file, before anything is decoded. Old JPEG files
 * keep their data outside of strips; for them only the file's size is checked. */
static enum clv_status check_blocks(const struct tiff_file *self, struct clv_error *err)
{
    TIFF *tiff = self->tiff;
    const char *name = self->is_tiled ? "tile" : "strip";
    uint32_t n = self->is_tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
    uint32_t of_plane = self->is_planar ? n / self->n_samples : n;
    uint32_t last = (self->height - 1) % self->block_height + 1; /* rows of the last strip */
    uint64_t full = self->is_tiled ? TIFFTileSize64(tiff) : TIFFVStripSize64(tiff, self->block_height);
    uint64_t rest = self->is_tiled ? full : TIFFVStripSize64(tiff, last);
    FAIL_IF(!n || !of_plane || !full, CLV_ERR_DATA, "corrupt TIFF: a page without %ss", name);
    if (self->compression == COMPRESSION_OJPEG) {
        uint64_t pixels = (uint64_t)self->width * self->height;
        FAIL_IF(self->size < fewest_bytes(self->compression, pixels, self->height), CLV_ERR_DATA,
                "corrupt TIFF: %zu bytes are too few for %ux%u pixels", self->size, self->width, self->height);
        return CLV_OK;
    }
    for (uint32_t k = 0; k < n; k++) {
        uint64_t offset = TIFFGetStrileOffset(tiff, k), bytes = TIFFGetStrileByteCount(tiff, k);
        bool is_last = !self->is_tiled && k % of_plane == of_plane - 1;
        uint32_t rows = is_last ? last : self->block_height;
        uint64_t fewest = fewest_bytes(self->compression, is_last ? rest : full, rows);
        FAIL_IF(!offset || !bytes, CLV_ERR_DATA,
                "corrupt TIFF: %s %u of %u is missing; if GDAL left it out as empty, write it with -co SPARSE_OK=FALSE",
                name, k + 1, n);
        offset += self->plane_shift;
        FAIL_IF(bytes > self->size || offset > self->size - bytes, CLV_ERR_DATA,
                "corrupt TIFF: %s %u of %u ends after the end of the file", name, k + 1, n);
        FAIL_IF(bytes < fewest, CLV_ERR_DATA,
                "corrupt TIFF: %s %u of %u has %llu bytes, too few for %ux%u pixels of %u bits", name, k + 1, n,
                (unsigned long long)bytes, self->block_width, rows, self->bits);
    }
    return CLV_OK;
}

/* libtiff reads at positions of the first plane; on_read adds the shift to another plane. */
enum clv_status tiff_open(struct tiff_file *self, const struct image_bytes *from, struct clv_error *err)
{
    const struct clv_image_limits *limits = from->limits;
    struct directory directory;
    uint64_t offset = 0;
    *self = (struct tiff_file){.bytes = from->bytes, .size = from->size};
    MUST(find_page(self, &directory, &offset, from, err));
    self->has_byte_counts = directory.has_byte_counts;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    NEED(options);
    uint64_t most =
        limits->max_pixels > PTRDIFF_MAX / BYTES_PER_PIXEL ? PTRDIFF_MAX : limits->max_pixels * BYTES_PER_PIXEL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)most);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, self);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, self);
    /* h: read no directory yet. m: do not map the file, so that all reads go through on_read. Uncompressed samples are
     * used in the mapped file without a copy, because libtiff 4.5 refuses to copy tiles whose bytes are not a multiple
     * of 1,024. Compressed files are not mapped, because the fax decoder needs words at even addresses. */
    self->tiff = TIFFClientOpenExt("image", directory.is_compressed || self->plane_shift ? "rhm" : "rh", self, on_read,
                                   on_write, on_seek, on_close, on_size, on_map, on_unmap, options);
    TIFFOpenOptionsFree(options);
    if (!self->tiff || !TIFFSetSubDirectory(self->tiff, offset))
        return tiff_corrupt(self, err);
    self->message[0] = 0; /* such a message is about a tag that is not needed */
    MUST(read_shape(self, limits, err));
    return check_blocks(self, err);
}

/* Inflates a strip to its end to verify the checksum there; libtiff stops at the last pixel. A stream without an end is
 * accepted if it has no bytes beyond the pixels; zeros in place of lost data inflate to more. RFC 1950. */
static bool is_inflated(const uint8_t *bytes, size_t size, size_t full)
{
    uint8_t ignored[16384];
    size_t n = 0;
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes};
    int code = inflateInit(&stream);
    while (code == Z_OK && (size || stream.avail_in)) {
        if (!stream.avail_in) {
            stream.avail_in = size < UINT32_MAX ? (uInt)size : UINT32_MAX;
            size -= stream.avail_in;
        }
        stream.next_out = ignored;
        stream.avail_out = sizeof ignored;
        code = inflate(&stream, Z_NO_FLUSH);
        n += sizeof ignored - stream.avail_out;
    }
    inflateEnd(&stream);
    return code == Z_STREAM_END || ((code == Z_OK || code == Z_BUF_ERROR) && n <= full);
}

/* Whether runs end where the pixels do. One padding byte, or several equal ones, may follow. TIFF 6.0, section 9. */
static bool is_unpacked(const uint8_t *bytes, size_t size, size_t wanted)
{
    size_t at = 0, n = 0;
    while (at < size && n < wanted) {
        uint8_t code = bytes[at];
        size_t length = code < 128 ? code + 1U : 257U - code;
        at += code < 128 ? length + 1 : code == 128 ? 1 : 2;
        n += code == 128 ? 0 : length;
    }
    while (at + 1 < size && bytes[at] == bytes[at + 1])
        at++;
    return at + 1 >= size;
}

/* Checks the end of a strip or tile that libtiff decoded without a warning; libtiff does not check it. */
static bool is_whole(const struct tiff_file *self, uint32_t number, size_t wanted)
{
    size_t full = self->is_tiled ? (size_t)TIFFTileSize(self->tiff) : (size_t)TIFFStripSize(self->tiff);
    uint64_t offset = TIFFGetStrileOffset(self->tiff, number), size = TIFFGetStrileByteCount(self->tiff, number);
    uint16_t fill_order = FILLORDER_MSB2LSB;
    TIFFGetFieldDefaulted(self->tiff, TIFFTAG_FILLORDER, &fill_order);
    if (fill_order != FILLORDER_MSB2LSB || !self->has_byte_counts) /* libtiff guesses the byte counts */
        return true;
    const uint8_t *bytes = self->bytes + offset;
    switch (self->compression) {
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_PIXARLOG: return is_inflated(bytes, size, full);
    case COMPRESSION_PACKBITS: return is_unpacked(bytes, size, wanted);
    default: return true;
    }
}

enum clv_status tiff_read_block(void *block, size_t wanted, struct tiff_file *self, uint32_t x, uint32_t y,
                                uint16_t plane, struct clv_error *err)
{
    TIFF *tiff = self->tiff;
    uint32_t number = self->is_tiled ? TIFFComputeTile(tiff, x, y, 0, plane) : TIFFComputeStrip(tiff, y, plane);
    self->is_decoding = true;
    tmsize_t n = self->is_tiled ? TIFFReadEncodedTile(tiff, number, block, (tmsize_t)wanted)
                                : TIFFReadEncodedStrip(tiff, number, block, (tmsize_t)wanted);
    self->is_decoding = false;
    if (n != (tmsize_t)wanted || self->message[0])
        return tiff_corrupt(self, err);
    FAIL_IF(!is_whole(self, number, wanted), CLV_ERR_DATA, "corrupt TIFF: %s %u does not end where its pixels do",
            self->is_tiled ? "tile" : "strip", number + 1);
    return CLV_OK;
}

enum clv_status tiff_read_colours(uint32_t *raster, struct tiff_file *self, struct clv_error *err)
{
    TIFFRGBAImage view;
    char why[1024] = "";
    if (!TIFFRGBAImageOK(self->tiff, why) || !TIFFRGBAImageBegin(&view, self->tiff, 1, why))
        return tiff_unsupported(self, err);
    view.req_orientation = view.orientation; /* as stored: decode.c turns images of all formats */
    self->is_decoding = true;
    bool is_read = TIFFRGBAImageGet(&view, raster, self->width, self->height);
    self->is_decoding = false;
    TIFFRGBAImageEnd(&view);
    if (!is_read || self->message[0])
        return tiff_corrupt(self, err);
    uint32_t n = self->is_tiled ? TIFFNumberOfTiles(self->tiff) : TIFFNumberOfStrips(self->tiff);
    uint32_t of_plane = self->is_planar ? n / self->n_samples : n;
    uint32_t last = (self->height - 1) % self->block_height + 1;
    for (uint32_t k = 0; k < n; k++) {
        bool is_last = !self->is_tiled && k % of_plane == of_plane - 1;
        uint64_t wanted = self->is_tiled ? TIFFTileSize64(self->tiff)
                                         : TIFFVStripSize64(self->tiff, is_last ? last : self->block_height);
        FAIL_IF(!is_whole(self, k, wanted), CLV_ERR_DATA, "corrupt TIFF: %s %u does not end where its pixels do",
                self->is_tiled ? "tile" : "strip", k + 1);
    }
    return CLV_OK;
}

void tiff_close(struct tiff_file *self)
{
    if (self->tiff)
        TIFFClose(self->tiff);
}
