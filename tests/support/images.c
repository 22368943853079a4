#include "support/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

#include "support/support.h"

uint32_t noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

int png_channels(enum png_kind kind)
{
    return kind == PNG_RGBA ? 4 : kind == PNG_RGB ? 3 : kind == PNG_GREY_ALPHA ? 2 : 1;
}

int jpeg_channels(enum jpeg_kind kind)
{
    return kind == JPEG_GREY ? 1 : kind == JPEG_CMYK || kind == JPEG_YCCK ? 4 : 3;
}

static void put(png_structp png, png_bytep bytes, size_t size)
{
    fwrite(bytes, 1, size, png_get_io_ptr(png));
}

static void flush(png_structp png)
{
    (void)png;
}

/* A row's samples, packed as PNG wants them. */
static void pack(uint8_t *row, const uint16_t *samples, int n, int bit_depth)
{
    memset(row, 0, (size_t)n * 2);
    for (int i = 0; i < n; i++)
        if (bit_depth == 16) {
            row[2 * i] = (uint8_t)(samples[i] >> 8);
            row[2 * i + 1] = (uint8_t)samples[i];
        } else {
            int at = i * bit_depth;
            row[at / 8] |= (uint8_t)(samples[i] << (8 - bit_depth - at % 8));
        }
}

static void put_extras(png_structp png, png_infop info)
{
    static png_byte data[] = "any bytes";
    png_text text = {
        .compression = PNG_TEXT_COMPRESSION_zTXt, .key = "Comment", .text = "zzzzzzzzzzzzzzzzzzzzzzzzzzzz"};
    png_unknown_chunk chunk = {.name = "teSt", .data = data, .size = 9, .location = PNG_HAVE_IHDR};
    png_set_gAMA(png, info, 0.7);
    png_set_text(png, info, &text, 1);
    png_set_unknown_chunks(png, info, &chunk, 1);
}

uint8_t *make_png(size_t *size, const struct png_recipe *recipe)
{
    char *bytes = NULL;
    FILE *stream = open_memstream(&bytes, size);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, stream, put, flush);
    png_set_check_for_invalid_index(png, -1); /* tests write such, which libpng 1.6.48 refuses */
    png_set_IHDR(png, info, (png_uint_32)recipe->width, (png_uint_32)recipe->height, recipe->bit_depth,
                 (int)recipe->kind, recipe->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (recipe->palette_size)
        png_set_PLTE(png, info, (png_const_colorp)recipe->palette, recipe->palette_size);
    if (recipe->n_alphas)
        png_set_tRNS(png, info, recipe->alphas, recipe->n_alphas, NULL);
    if (recipe->has_key) {
        const uint16_t *key = recipe->key;
        png_color_16 colour = {.red = key[0], .green = key[1], .blue = key[2], .gray = key[0]};
        png_set_tRNS(png, info, NULL, 0, &colour);
    }
    if (recipe->has_extras)
        put_extras(png, info);
    png_write_info(png, info);
    int n = recipe->width * png_channels(recipe->kind), n_passes = png_set_interlace_handling(png);
    OWNED_ARRAY uint8_t *row = malloc((size_t)n * 2);
    for (int pass = 0; pass < n_passes; pass++)
        for (int y = 0; y < recipe->height; y++) {
            pack(row, recipe->samples + (size_t)y * (size_t)n, n, recipe->bit_depth);
            png_write_row(png, row);
        }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(stream);
    return (uint8_t *)bytes;
}

/* One scan for all first coefficients, then one for each other coefficient of each component. */
static void set_many_scans(struct jpeg_compress_struct *jpeg, jpeg_scan_info *scans)
{
    int n = 0;
    scans[n++] = (jpeg_scan_info){.comps_in_scan = 3, .component_index = {0, 1, 2}};
    for (int c = 0; c < 3; c++)
        for (int k = 1; k < 64; k++)
            scans[n++] = (jpeg_scan_info){.comps_in_scan = 1, .component_index = {c}, .Ss = k, .Se = k};
    jpeg->scan_info = scans;
    jpeg->num_scans = n;
}

static void put_markers(struct jpeg_compress_struct *jpeg, const struct jpeg_recipe *recipe)
{
    OWNED_ARRAY uint8_t *padding = calloc(60000, 1);
    for (int i = 0; i < recipe->n_padding; i++)
        jpeg_write_marker(jpeg, JPEG_APP0 + 2, padding, 60000);
    if (recipe->exif_size)
        jpeg_write_marker(jpeg, JPEG_APP0 + 1, recipe->exif, (unsigned)recipe->exif_size);
}

uint8_t *make_jpeg(size_t *size, const struct jpeg_recipe *recipe)
{
    static const J_COLOR_SPACE input[] = {JCS_GRAYSCALE, JCS_RGB, JCS_RGB, JCS_CMYK, JCS_CMYK};
    static const J_COLOR_SPACE stored[] = {JCS_GRAYSCALE, JCS_YCbCr, JCS_RGB, JCS_CMYK, JCS_YCCK};
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg_scan_info scans[190];
    unsigned char *bytes = NULL;
    unsigned long length = 0;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, &length);
    jpeg.image_width = (JDIMENSION)recipe->width;
    jpeg.image_height = (JDIMENSION)recipe->height;
    jpeg.input_components = jpeg_channels(recipe->kind);
    jpeg.in_color_space = input[recipe->kind];
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, stored[recipe->kind]);
    jpeg_set_quality(&jpeg, recipe->quality, TRUE);
    jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = recipe->half_chroma ? 2 : 1;
    if (jpeg.num_components == 4)
        jpeg.comp_info[3].h_samp_factor = jpeg.comp_info[3].v_samp_factor = jpeg.comp_info[0].h_samp_factor;
    if (recipe->without_adobe)
        jpeg.write_Adobe_marker = FALSE;
    if (recipe->progressive)
        jpeg_simple_progression(&jpeg);
    if (recipe->many_scans)
        set_many_scans(&jpeg, scans);
    jpeg.arith_code = recipe->arithmetic;
    jpeg.restart_in_rows = recipe->restarts;
    jpeg_start_compress(&jpeg, TRUE);
    put_markers(&jpeg, recipe);
    while (jpeg.next_scanline < jpeg.image_height) {
        size_t row_bytes = (size_t)recipe->width * (size_t)jpeg.input_components;
        JSAMPROW row = (JSAMPROW)recipe->pixels + jpeg.next_scanline * row_bytes;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    *size = length;
    return bytes;
}

void make_exif(uint8_t exif[32], int orientation, bool big_endian)
{
    static const uint8_t big[32] = {'E', 'x', 'i', 'f', 0, 0,    'M', 'M', 0, 42, 0, 0,
                                    0,   8,   0,   1,   1, 0x12, 0,   3,   0, 0,  0, 1};
    static const uint8_t little[32] = {'E', 'x', 'i', 'f', 0,    0, 'I', 'I', 42, 0, 8, 0,
                                       0,   0,   1,   0,   0x12, 1, 3,   0,   1,  0, 0, 0};
    memcpy(exif, big_endian ? big : little, 32);
    exif[big_endian ? 25 : 24] = (uint8_t)orientation;
}
