/* PNG and JPEG files of every kind, made with libpng and libjpeg themselves, for tests and fuzz seeds. */
#ifndef TESTS_IMAGES_H
#define TESTS_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum png_kind { PNG_GREY = 0, PNG_RGB = 2, PNG_PALETTE = 3, PNG_GREY_ALPHA = 4, PNG_RGBA = 6 };

struct png_recipe {
    int width, height, bit_depth;
    enum png_kind kind;
    bool interlaced;
    const uint16_t *samples; /* [height][width][channels], each below 2^bit_depth */
    const uint8_t (*palette)[3];
    int palette_size;
    const uint8_t *alphas; /* of the first n_alphas palette entries */
    int n_alphas;
    bool has_key; /* this grey or colour is transparent */
    uint16_t key[3];
    bool has_extras; /* gamma, a compressed text, an unknown chunk */
};

enum jpeg_kind { JPEG_GREY, JPEG_YCC, JPEG_RGB, JPEG_CMYK, JPEG_YCCK };

struct jpeg_recipe {
    int width, height, quality;
    enum jpeg_kind kind;
    const uint8_t *pixels; /* [height][width][1, 3 or 4] */
    bool progressive, arithmetic, many_scans, restarts;
    bool half_chroma;
    bool without_adobe;  /* leaves the Adobe marker out of a CMYK file */
    const uint8_t *exif; /* payload of an APP1 marker */
    size_t exif_size;
    int n_padding; /* APP2 markers of 60,000 bytes before the image */
};

int png_channels(enum png_kind kind);
int jpeg_channels(enum jpeg_kind kind);

/* Whole files; free() them. */
uint8_t *make_png(size_t *size, const struct png_recipe *recipe);
uint8_t *make_jpeg(size_t *size, const struct jpeg_recipe *recipe);

/* An EXIF payload of 32 bytes with the orientation, in either byte order. */
void make_exif(uint8_t exif[32], int orientation, bool big_endian);

/* Reproducible noise. */
uint32_t noise(uint32_t *state);

#endif
