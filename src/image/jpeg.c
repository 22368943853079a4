/* Reads and writes JPEG files by libjpeg-turbo, which only this file uses.
 *
 * libjpeg reports errors to error_exit, which here jumps back to guarded(). All state lives in a struct outside of
 * guarded(), so no local variable is lost. Warnings about damaged data are errors, because libjpeg would fill in
 * missing data. Start at jpeg_decode and clv_jpeg_encode. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#include "base/base.h"
#include "image/image.h"

#define MARKER_EOI  0xd9
#define MARKER_SOS  0xda
#define ROWS        16 /* requested from libjpeg at once */
#define FIRST_BYTES 65536

struct escape {
    struct jpeg_error_mgr manager; /* first member: libjpeg passes its address */
    jmp_buf target;
    bool is_in_header; /* before the first scan */
    int code;
    char message[JMSG_LENGTH_MAX];
};

struct reader {
    struct jpeg_decompress_struct jpeg;
    struct escape escape;
    const uint8_t *input;
    size_t input_size;
    int orientation;
    uint8_t *pixels; /* [height][width][3] */
    uint8_t *inks;   /* [width][4], for CMYK */
};

struct writer {
    struct jpeg_compress_struct jpeg;
    struct escape escape;
    struct jpeg_destination_mgr destination;
    const struct clv_image *image;
    int quality;
    uint8_t *output;
    size_t output_size, capacity;
};

static void on_error(j_common_ptr common)
{
    struct escape *escape = (struct escape *)common->err;
    escape->code = escape->manager.msg_code;
    escape->manager.format_message(common, escape->message);
    longjmp(escape->target, 1);
}

/* Two kinds of warnings lose no data: an unknown JFIF revision, and the bytes that some cameras leave between segments
 * before the first scan or between the last scan and the end of the image. */
static bool is_harmless(const struct escape *escape)
{
    const struct jpeg_error_mgr *manager = &escape->manager;
    return manager->msg_code == JWRN_JFIF_MAJOR || (manager->msg_code == JWRN_EXTRANEOUS_DATA &&
                                                    (escape->is_in_header || manager->msg_parm.i[1] == MARKER_EOI));
}

/* A negative level is a warning. */
static void on_message(j_common_ptr common, int level)
{
    if (level < 0 && !is_harmless((const struct escape *)common->err))
        on_error(common);
}

static void on_output(j_common_ptr common)
{
    (void)common;
}

static struct jpeg_error_mgr *escape_init(struct escape *escape)
{
    jpeg_std_error(&escape->manager);
    escape->manager.error_exit = on_error;
    escape->manager.emit_message = on_message;
    escape->manager.output_message = on_output;
    return &escape->manager;
}

static enum clv_status escape_status(const struct escape *escape, struct clv_error *err)
{
    NEED(escape->code != JERR_OUT_OF_MEMORY);
    FAIL_IF(escape->code == JWRN_JPEG_EOF, CLV_ERR_DATA, "corrupt JPEG: truncated file");
    bool is_unknown = escape->code == JERR_SOF_UNSUPPORTED || escape->code == JERR_BAD_PRECISION ||
                      escape->code == JERR_ARITH_NOTIMPL || escape->code == JERR_NOTIMPL ||
                      escape->code == JERR_CONVERSION_NOTIMPL || escape->code == JERR_CCIR601_NOTIMPL;
    FAIL_IF(is_unknown, CLV_ERR_DATA, "a JPEG of a kind that is not read (%s); save it as PNG or as a usual JPEG",
            escape->message);
    return fail(err, CLV_ERR_DATA, "corrupt JPEG: %s", escape->message);
}

/* Counts scans by walking the markers up to the end of the image. Between markers, compressed data has 0xff only in
 * stuffed bytes (ff 00) and restart markers (ff d0 .. ff d7), which have no length. */
static int count_scans(const uint8_t *bytes, size_t size)
{
    int n = 0;
    size_t at = 2;
    while (at < size) {
        const uint8_t *found = memchr(bytes + at, 0xff, size - at);
        at = found ? (size_t)(found - bytes) : size;
        while (at < size && bytes[at] == 0xff)
            at++;
        if (at >= size || bytes[at] == MARKER_EOI)
            break;
        uint8_t marker = bytes[at++];
        if (marker <= 1 || (marker >= 0xd0 && marker <= 0xd8))
            continue;
        n += marker == MARKER_SOS;
        if (size - at < 2)
            break;
        at += (size_t)bytes[at] << 8 | bytes[at + 1];
    }
    return n;
}

static bool guarded(struct reader *reader, void (*work)(struct reader *))
{
    if (setjmp(reader->escape.target))
        return false;
    work(reader);
    return true;
}

static void read_header(struct reader *reader)
{
    jpeg_create_decompress(&reader->jpeg);
    jpeg_mem_src(&reader->jpeg, reader->input, reader->input_size);
    jpeg_save_markers(&reader->jpeg, JPEG_APP0 + 1, 0xffff);
    reader->escape.is_in_header = true;
    jpeg_read_header(&reader->jpeg, TRUE);
    reader->escape.is_in_header = false;
    for (jpeg_saved_marker_ptr marker = reader->jpeg.marker_list; marker; marker = marker->next)
        if (exif_is_segment(marker->data, marker->data_length)) {
            reader->orientation = exif_orientation(marker->data, marker->data_length);
            break;
        }
}

static enum clv_status reader_open(struct reader *reader, const uint8_t *bytes, size_t size,
                                   const struct clv_image_limits *limits, struct clv_error *err)
{
    *reader = (struct reader){.input = bytes, .input_size = size, .orientation = 1};
    reader->jpeg.err = escape_init(&reader->escape);
    bool good = guarded(reader, read_header);
    if (!good && reader->escape.code != JERR_IMAGE_TOO_BIG)
        return escape_status(&reader->escape, err);
    MUST(limits_check(reader->jpeg.image_width, reader->jpeg.image_height, limits, err));
    FAIL_IF(!good, CLV_ERR_DATA, "%ux%u pixels; libjpeg's limit is %u pixels a side", reader->jpeg.image_width,
            reader->jpeg.image_height, (unsigned)JPEG_MAX_DIMENSION);
    return CLV_OK;
}

static void reader_close(struct reader *reader)
{
    jpeg_destroy_decompress(&reader->jpeg);
    arrays_free(reader->inks, reader->pixels);
}

static enum clv_status jpeg_size(struct image_head *head, const struct image_bytes *from, struct clv_error *err)
{
    OWNED(reader_close) struct reader reader = {0};
    MUST(reader_open(&reader, from->bytes, from->size, from->limits, err));
    *head =
        (struct image_head){(int32_t)reader.jpeg.image_width, (int32_t)reader.jpeg.image_height, reader.orientation};
    return CLV_OK;
}

static bool is_cmyk(const struct reader *reader)
{
    return reader->jpeg.jpeg_color_space == JCS_CMYK || reader->jpeg.jpeg_color_space == JCS_YCCK;
}

/* Converts inks to light: (255 - ink) (255 - black) / 255. Files by Adobe store inverted inks. */
static void inks_to_rgb(uint8_t *rgb, const uint8_t *inks, size_t n, bool inverted)
{
    uint8_t flip = inverted ? 0 : 255;
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            rgb[3 * i + c] = (uint8_t)(((inks[4 * i + c] ^ flip) * (inks[4 * i + 3] ^ flip) + 127) / 255);
}

static void read_pixels(struct reader *reader)
{
    j_decompress_ptr jpeg = &reader->jpeg;
    jpeg->out_color_space = is_cmyk(reader) ? JCS_CMYK : JCS_RGB;
    jpeg->do_block_smoothing = FALSE; /* smoothing fills in for missing scans */
    jpeg_start_decompress(jpeg);
    size_t row_bytes = (size_t)jpeg->output_width * 3;
    while (jpeg->output_scanline < jpeg->output_height) {
        uint8_t *next = reader->pixels + jpeg->output_scanline * row_bytes;
        JSAMPROW rows[ROWS];
        if (reader->inks) {
            rows[0] = reader->inks;
            jpeg_read_scanlines(jpeg, rows, 1);
            inks_to_rgb(next, reader->inks, jpeg->output_width, jpeg->saw_Adobe_marker);
            continue;
        }
        unsigned left = jpeg->output_height - jpeg->output_scanline, n = left < ROWS ? left : ROWS;
        for (unsigned i = 0; i < n; i++)
            rows[i] = next + i * row_bytes;
        jpeg_read_scanlines(jpeg, rows, n);
    }
    jpeg_finish_decompress(jpeg);
}

static enum clv_status jpeg_decode(struct clv_image *image, int *orientation, const struct image_bytes *from,
                                   struct clv_error *err)
{
    OWNED(reader_close) struct reader reader = {0};
    MUST(reader_open(&reader, from->bytes, from->size, from->limits, err));
    int n_scans = count_scans(from->bytes, from->size);
    FAIL_IF(n_scans > from->limits->max_jpeg_scans, CLV_ERR_DATA, "%d scans; the limit is %d", n_scans,
            from->limits->max_jpeg_scans);
    size_t width = reader.jpeg.image_width, height = reader.jpeg.image_height;
    reader.pixels = array_alloc(height, width * 3);
    NEED(reader.pixels);
    if (is_cmyk(&reader))
        NEED(reader.inks = array_alloc(width, 4));
    if (!guarded(&reader, read_pixels))
        return escape_status(&reader.escape, err);
    *image = (struct clv_image){(int32_t)width, (int32_t)height, 3, NULL};
    image->pixels = TAKE(reader.pixels);
    *orientation = reader.orientation;
    return CLV_OK;
}

static void set_space(struct writer *writer, size_t needed)
{
    if (array_reserve((void **)&writer->output, &writer->capacity, needed, 1))
        ERREXIT1(&writer->jpeg, JERR_OUT_OF_MEMORY, 0);
    writer->destination.next_output_byte = writer->output + writer->output_size;
    writer->destination.free_in_buffer = writer->capacity - writer->output_size;
}

static void on_begin(j_compress_ptr jpeg)
{
    set_space(jpeg->client_data, FIRST_BYTES);
}

static boolean on_full(j_compress_ptr jpeg)
{
    struct writer *writer = jpeg->client_data;
    writer->output_size = writer->capacity;
    set_space(writer, writer->capacity + 1);
    return TRUE;
}

static void on_end(j_compress_ptr jpeg)
{
    struct writer *writer = jpeg->client_data;
    writer->output_size = writer->capacity - writer->destination.free_in_buffer;
}

static void write_pixels(struct writer *writer)
{
    j_compress_ptr jpeg = &writer->jpeg;
    const struct clv_image *image = writer->image;
    jpeg_create_compress(jpeg);
    jpeg->client_data = writer;
    jpeg->dest = &writer->destination;
    jpeg->image_width = (JDIMENSION)image->width;
    jpeg->image_height = (JDIMENSION)image->height;
    jpeg->input_components = image->channels;
    jpeg->in_color_space = image->channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, writer->quality, TRUE);
    if (writer->quality >= 90) /* halved chroma would smear coloured outlines */
        jpeg->comp_info[0].h_samp_factor = jpeg->comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(jpeg, TRUE);
    size_t row_bytes = (size_t)image->width * (size_t)image->channels;
    while (jpeg->next_scanline < jpeg->image_height) {
        JSAMPROW row = image->pixels + jpeg->next_scanline * row_bytes;
        jpeg_write_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_compress(jpeg);
}

static bool write_guarded(struct writer *writer)
{
    if (setjmp(writer->escape.target))
        return false;
    write_pixels(writer);
    return true;
}

static void writer_release(struct writer *self)
{
    array_free(self->output);
    jpeg_destroy_compress(&self->jpeg);
}

enum clv_status clv_jpeg_encode(uint8_t **bytes, size_t *size, const struct clv_image *image, int quality,
                                struct clv_error *err)
{
    MUST(writable_check(image, err));
    FAIL_IF(quality < 1 || quality > 100, CLV_ERR_USAGE, "JPEG quality is %d; it must be 1..100", quality);
    FAIL_IF(image->width > JPEG_MAX_DIMENSION || image->height > JPEG_MAX_DIMENSION, CLV_ERR_USAGE,
            "%dx%d pixels; a JPEG has at most %ld a side", image->width, image->height, (long)JPEG_MAX_DIMENSION);
    OWNED(writer_release) struct writer writer = {.image = image, .quality = quality};
    writer.destination = (struct jpeg_destination_mgr){
        .init_destination = on_begin, .empty_output_buffer = on_full, .term_destination = on_end};
    writer.jpeg.err = escape_init(&writer.escape);
    if (!write_guarded(&writer)) {
        NEED(writer.escape.code != JERR_OUT_OF_MEMORY);
        return fail(err, CLV_ERR_INTERNAL, "libjpeg: %s", writer.escape.message);
    }
    *bytes = TAKE(writer.output);
    *size = writer.output_size;
    return CLV_OK;
}

enum clv_status clv_jpeg_write(const char *path, const struct clv_image *image, int quality, struct clv_error *err)
{
    OWNED_ARRAY uint8_t *bytes = NULL;
    size_t size = 0;
    enum clv_status status = clv_jpeg_encode(&bytes, &size, image, quality, err);
    if (status)
        return fail_within(err, status, path);
    return file_write(path, bytes, size, err);
}

const struct image_codec jpeg_codec = {
    .name = "JPEG",
    .magics = {{"\xff\xd8\xff", 3}},
    .extensions = {".jpg", ".jpeg"},
    .reading = SIZE_MAY_BE_BEHIND, /* application segments before it may have megabytes */
    .size = jpeg_size,
    .decode = jpeg_decode,
};
