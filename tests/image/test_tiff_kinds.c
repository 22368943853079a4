/* Every kind of TIFF that cleave-formats(5) names as an image is written here, and shows what was written; kinds that
 * are not read are refused with what they are and what to do. Rasters of bands are in test_raster.c. */
#include <math.h>
#include <stdlib.h>
#include <tiffio.h>

#include "image/raster/raster.h"
#include "support/support.h"

enum { WIDTH = 52, HEIGHT = 50 };

struct kind {
    const char *name;
    int bits, n_samples, photometric, compression;
    int tile; /* pixels a side, 0: strips */
    bool is_planar;
    int alpha;           /* EXTRASAMPLE_.., 0: none */
    int tolerance;       /* grey levels */
    const char *refusal; /* NULL: it is read */
};

#define NONE COMPRESSION_NONE
#define JPEG COMPRESSION_JPEG

/* Shown colours are those of shown_at, of greys their green. */
static const struct kind kinds[] = {
    {"grey of 1 bit", 1, 1, PHOTOMETRIC_MINISBLACK, NONE, 0, false, 0, 0, NULL},
    {"grey of 2 bits", 2, 1, PHOTOMETRIC_MINISBLACK, NONE, 0, false, 0, 0, NULL},
    {"grey of 4 bits, white 0", 4, 1, PHOTOMETRIC_MINISWHITE, NONE, 0, false, 0, 0, NULL},
    {"grey of 8 bits", 8, 1, PHOTOMETRIC_MINISBLACK, NONE, 0, false, 0, 0, NULL},
    {"grey of 8 bits, white 0", 8, 1, PHOTOMETRIC_MINISWHITE, NONE, 0, false, 0, 0, NULL},
    {"grey of 16 bits", 16, 1, PHOTOMETRIC_MINISBLACK, NONE, 0, false, 0, 0, NULL},
    {"tiles of 16", 8, 1, PHOTOMETRIC_MINISBLACK, NONE, 16, false, 0, 0, NULL},
    {"tiles of 48", 8, 1, PHOTOMETRIC_MINISBLACK, NONE, 48, false, 0, 0, NULL},
    {"tiles of 80", 8, 1, PHOTOMETRIC_MINISBLACK, NONE, 80, false, 0, 0, NULL},
    {"tiles of 240", 8, 1, PHOTOMETRIC_MINISBLACK, NONE, 240, false, 0, 0, NULL},
    {"colours in tiles of 16", 8, 3, PHOTOMETRIC_RGB, NONE, 16, false, 0, 0, NULL},
    {"colours in tiles of 48", 8, 3, PHOTOMETRIC_RGB, NONE, 48, false, 0, 0, NULL},
    {"colours in tiles of 48, planes", 8, 3, PHOTOMETRIC_RGB, NONE, 48, true, 0, 0, NULL},
    {"colours", 8, 3, PHOTOMETRIC_RGB, COMPRESSION_LZW, 0, false, 0, 0, NULL},
    {"colours in planes", 8, 3, PHOTOMETRIC_RGB, COMPRESSION_ADOBE_DEFLATE, 0, true, 0, 0, NULL},
    {"colours of 16 bits", 16, 3, PHOTOMETRIC_RGB, NONE, 0, false, 0, 0, NULL},
    {"colours and alpha", 8, 4, PHOTOMETRIC_RGB, NONE, 0, false, EXTRASAMPLE_UNASSALPHA, 1, NULL},
    {"colours times alpha", 8, 4, PHOTOMETRIC_RGB, NONE, 0, false, EXTRASAMPLE_ASSOCALPHA, 1, NULL},
    {"a palette", 8, 1, PHOTOMETRIC_PALETTE, NONE, 0, false, 0, 1, NULL},
    {"a palette in tiles of 48", 8, 1, PHOTOMETRIC_PALETTE, NONE, 48, false, 0, 1, NULL},
    {"CMYK", 8, 4, PHOTOMETRIC_SEPARATED, NONE, 0, false, 0, 1, NULL},
    {"YCbCr", 8, 3, PHOTOMETRIC_YCBCR, NONE, 0, false, 0, 3, NULL},
    {"JPEG", 8, 3, PHOTOMETRIC_YCBCR, JPEG, 0, false, 0, 5, NULL},
    {"CIELab", 8, 3, PHOTOMETRIC_CIELAB, NONE, 0, false, 0, 3, NULL},
    {"CIELab in planes of tiles", 8, 3, PHOTOMETRIC_CIELAB, COMPRESSION_LZW, 48, true, 0, 3, NULL},
    {"CIELab of 16 bits", 16, 3, PHOTOMETRIC_CIELAB, NONE, 0, false, 0, 1, NULL},
    {"ICCLab", 8, 3, PHOTOMETRIC_ICCLAB, NONE, 0, false, 0, 3, NULL},
    {"ICCLab of 16 bits", 16, 3, PHOTOMETRIC_ICCLAB, COMPRESSION_ADOBE_DEFLATE, 0, false, 0, 1, NULL},
    {"CMYK of 16 bits", 16, 4, PHOTOMETRIC_SEPARATED, NONE, 0, false, 0, 0,
     "a TIFF of 4 unsigned CMYK samples of 16 bits a pixel, which are not read; save it as grey or RGB"},
    {"CIELab of 32 bits", 32, 3, PHOTOMETRIC_CIELAB, NONE, 0, false, 0, 0,
     "a TIFF of 3 unsigned CIELab samples of 32 bits a pixel, which are not read; save it as grey or RGB"},
    {"YCbCr of 16 bits", 16, 3, PHOTOMETRIC_YCBCR, NONE, 0, false, 0, 0,
     "a TIFF of 3 unsigned YCbCr samples of 16 bits a pixel, which are not read; save it as grey or RGB"},
    {"a palette of 16 bits", 16, 1, PHOTOMETRIC_PALETTE, NONE, 0, false, 0, 0,
     "a TIFF of 1 unsigned palette samples of 16 bits a pixel, which are not read; save it as grey or RGB"},
    {"a camera's", 8, 1, PHOTOMETRIC_CFA, NONE, 0, false, 0, 0,
     "a TIFF of 1 unsigned raw camera samples of 8 bits a pixel, which are not read; save it as grey or RGB"},
    {"what nobody knows", 8, 1, 12345, NONE, 0, false, 0, 0,
     "a TIFF of 1 unsigned unknown (kind 12345) samples of 8 bits a pixel, which are not read; save it"},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* In 0..255, within what Lab holds of sRGB, and levels that few bits have, too. */
static int shown_at(const struct kind *kind, int x, int y, int c)
{
    int level = (x / 6 + y / 6) % 4, most = kind->bits < 8 ? (1 << kind->bits) - 1 : 3;
    if (kind->n_samples == 1 && kind->photometric != PHOTOMETRIC_PALETTE)
        return 255 * (level % (most + 1)) / most;
    return 60 + 40 * ((level + c) % 4);
}

static double lab_function(double t)
{
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

/* sRGB to Lab of D50, by the inverse of the matrix that reads it. */
static void to_lab(double lab[3], const int rgb[3])
{
    static const double matrix[3][3] = {
        {0.4360747, 0.3850649, 0.1430804}, {0.2225045, 0.7168786, 0.0606169}, {0.0139322, 0.0971045, 0.7141733}};
    static const double white[3] = {0.9642, 1, 0.8249};
    double f[3];
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int c = 0; c < 3; c++) {
            double v = rgb[c] / 255.0;
            sum += matrix[i][c] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
        }
        f[i] = lab_function(sum / white[i]);
    }
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

/* Alpha of pixels that have one. */
static int alpha_at(int x)
{
    return x % 3 * 100;
}

static int32_t stored_at(const struct kind *kind, int x, int y, int s)
{
    int rgb[3] = {shown_at(kind, x, y, 0), shown_at(kind, x, y, 1), shown_at(kind, x, y, 2)};
    int most = kind->bits >= 16 ? 65535 : (1 << kind->bits) - 1;
    double lab[3], unit = kind->bits == 16 ? 256 : 1;
    switch (kind->photometric) {
    case PHOTOMETRIC_MINISWHITE: return most - rgb[1] * most / 255;
    case PHOTOMETRIC_RGB:
        if (s == 3)
            return alpha_at(x);
        return kind->alpha == EXTRASAMPLE_ASSOCALPHA ? (rgb[s] * alpha_at(x) + 127) / 255 : rgb[s] * most / 255;
    case PHOTOMETRIC_PALETTE: return (x / 6 + y / 6) % 4;
    case PHOTOMETRIC_SEPARATED: return s == 3 ? 0 : 255 - rgb[s];
    case PHOTOMETRIC_YCBCR: {
        double luma = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
        return (int)((s == 0 ? luma : s == 1 ? 128 + (rgb[2] - luma) / 1.772 : 128 + (rgb[0] - luma) / 1.402) + 0.5);
    }
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
        to_lab(lab, rgb);
        if (s == 0)
            return (int32_t)lrint(lab[0] / 100 *
                                  (kind->bits == 8                           ? 255
                                   : kind->photometric == PHOTOMETRIC_ICCLAB ? 65280
                                                                             : 65535));
        return (int32_t)lrint((lab[s] + (kind->photometric == PHOTOMETRIC_ICCLAB ? 128 : 0)) * unit);
    default: return rgb[1] * most / 255;
    }
}

static void write_kind(const char *path, const struct kind *kind)
{
    int block_width = kind->tile ? kind->tile : WIDTH, block_height = kind->tile ? kind->tile : 20;
    int n_planes = kind->is_planar ? kind->n_samples : 1, deep = kind->is_planar ? 1 : kind->n_samples;
    size_t stride = ((size_t)(block_width * deep * kind->bits) + 7) / 8;
    static uint16_t colours[3][65536];
    uint16_t alpha[] = {(uint16_t)kind->alpha};
    TIFF *tiff = TIFFOpen(path, "w");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, kind->bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, kind->n_samples);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, kind->compression);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, kind->photometric);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, kind->is_planar ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    if (kind->alpha)
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, alpha);
    if (kind->photometric == PHOTOMETRIC_YCBCR)
        TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, 1, 1);
    if (kind->compression == JPEG)
        TIFFSetField(tiff, TIFFTAG_JPEGQUALITY, 100);
    for (int i = 0; i < 4; i++)
        for (int c = 0; c < 3; c++)
            colours[c][i] = (uint16_t)(257 * shown_at(kind, 6 * i, 0, c));
    if (kind->photometric == PHOTOMETRIC_PALETTE)
        TIFFSetField(tiff, TIFFTAG_COLORMAP, colours[0], colours[1], colours[2]);
    if (kind->tile) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, block_width);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, block_height);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, kind->compression == JPEG ? block_height = 16 : block_height);
    }
    OWNED_ARRAY uint8_t *block = calloc(stride, (size_t)block_height);
    uint32_t number = 0;
    for (int plane = 0; plane < n_planes; plane++)
        for (int top = 0; top < HEIGHT; top += block_height)
            for (int left = 0; left < WIDTH; left += block_width, number++) {
                int rows = kind->tile || top + block_height < HEIGHT ? block_height : HEIGHT - top;
                memset(block, 0, stride * (size_t)block_height);
                for (int i = 0; i < rows * block_width * deep; i++) {
                    int y = i / (block_width * deep), x = i / deep % block_width, at = x * deep + i % deep;
                    int32_t value = stored_at(kind, left + x, top + y, plane + i % deep);
                    uint8_t *row = block + (size_t)y * stride;
                    if (kind->bits < 8)
                        row[at * kind->bits / 8] |= (uint8_t)(value << (8 - kind->bits - at * kind->bits % 8));
                    else
                        memcpy(row + at * kind->bits / 8, &value, (size_t)kind->bits / 8);
                }
                tmsize_t size = (tmsize_t)(stride * (size_t)rows);
                ck_assert_int_ge(kind->tile ? TIFFWriteEncodedTile(tiff, number, block, size)
                                            : TIFFWriteEncodedStrip(tiff, number, block, size),
                                 0);
            }
    TIFFClose(tiff);
}

TESTS(every_kind_of_tiff_shows_what_was_written_or_is_called_by_name, 0, N_KINDS)
{
    const struct kind *kind = &kinds[_i];
    const char *path = here("a.tif");
    OWNED(clv_image_release) struct clv_image image = {0};
    write_kind(path, kind);
    if (kind->refusal) {
        must_fail(CLV_ERR_DATA, kind->refusal, clv_image_read(&image, path, NULL, err));
        return;
    }
    must(clv_image_read(&image, path, NULL, err));
    ck_assert(image.width == WIDTH && image.height == HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT * 3; i++) {
        int x = i / 3 % WIDTH, y = i / 3 / WIDTH, wanted = shown_at(kind, x, y, i % 3);
        if (kind->alpha)
            wanted = (wanted * alpha_at(x) + 255 * (255 - alpha_at(x)) + 127) / 255;
        if (abs(image.pixels[i] - wanted) > kind->tolerance)
            ck_abort_msg("%s: (%d, %d) is %d, not %d", kind->name, x, y, image.pixels[i], wanted);
    }
}

/* A kind that decoders do not know is not called damaged: a lossless JPEG in a strip, by the marker of its frame. */
TEST(a_kind_that_a_decoder_does_not_know_is_not_corrupt)
{
    const char *path = here("a.tif");
    struct clv_image image;
    size_t size;
    for (size_t k = 0; k < N_KINDS; k++)
        if (kinds[k].compression == JPEG)
            write_kind(path, &kinds[k]);
    OWNED_ARRAY char *bytes = slurp(path, &size);
    for (size_t k = 0; k + 1 < size; k++)
        if (bytes[k] == '\xff' && bytes[k + 1] == '\xc0')
            bytes[k + 1] = '\xc3';
    spill(path, bytes, size);
    must_fail(CLV_ERR_DATA, "a TIFF of a kind that is not read (Unsupported JPEG process: SOF type 0xc3); save it as",
              clv_image_read(&image, path, NULL, err));
}
