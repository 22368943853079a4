/* Converts MSRC's object categories as published to a dataset that cleave reads.
 *
 * Version 1 (240 images, 9 classes) has NAME.bmp and NAME_GT.bmp in one folder; version 2 (591 images, 23 classes) has
 * Images/NAME.bmp and GroundTruth/NAME_GT.bmp. Classes are colours, void is black. cleave reads PNG, so images and
 * masks are converted.
 *
 * Usage: msrc [-9] SOURCE OUT
 * writes OUT/images, OUT/masks, OUT/labels.tsv and OUT/manifest.tsv. Horse and mountain have too few examples and become
 * void, as is usual, which leaves 21 classes; -9 leaves version 1's nine, in the order of their numbers. */
#include <stdbool.h>

#include "cleave/image.h"
#include "convert.h"

#define PROGRAM "msrc"
#define VOID    0

/* Colours of the published ground truth. Classes of version 1 first. */
static const struct class
{
    const char *name;
    uint8_t rgb[3];
} classes[] = {
    {"void", {0, 0, 0}},        {"building", {128, 0, 0}},  {"grass", {0, 128, 0}},     {"tree", {128, 128, 0}},
    {"cow", {0, 0, 128}},       {"sky", {128, 128, 128}},   {"aeroplane", {192, 0, 0}}, {"face", {192, 128, 0}},
    {"car", {64, 0, 128}},      {"bicycle", {192, 0, 128}}, {"sheep", {0, 128, 128}},   {"water", {64, 128, 0}},
    {"flower", {64, 128, 128}}, {"sign", {192, 128, 128}},  {"bird", {0, 64, 0}},       {"book", {128, 64, 0}},
    {"chair", {0, 192, 0}},     {"road", {128, 64, 128}},   {"cat", {0, 192, 128}},     {"dog", {128, 192, 128}},
    {"body", {64, 64, 0}},      {"boat", {192, 64, 0}},     {"horse", {128, 0, 128}},   {"mountain", {64, 0, 0}},
};
#define N_KNOWN ((int)(sizeof classes / sizeof *classes))
#define N_ALL   22 /* with void, without horse and mountain */
#define N_NINE  10

static uint32_t little_endian(const char *bytes, int n)
{
    uint32_t value = 0;
    for (int k = n - 1; k >= 0; k--)
        value = value << 8 | (unsigned char)bytes[k];
    return value;
}

/* A Windows bitmap of 24 bits a pixel, not compressed; rows go upwards, or downwards where the height is negative. */
static struct clv_image read_bitmap(const char *path)
{
    struct clv_error err;
    struct clv_image image = {0};
    char *bytes;
    size_t size;
    check(PROGRAM, file_read(&bytes, &size, path, (size_t)1 << 30, &err), &err);
    if (size < 54 || bytes[0] != 'B' || bytes[1] != 'M')
        give_up(PROGRAM, CLV_ERR_DATA, "%s: not a bitmap", path);
    int32_t width = (int32_t)little_endian(bytes + 18, 4), height = (int32_t)little_endian(bytes + 22, 4);
    uint32_t offset = little_endian(bytes + 10, 4), depth = little_endian(bytes + 28, 2);
    uint32_t compression = little_endian(bytes + 30, 4);
    bool downwards = height < 0;
    height = downwards && height > INT32_MIN ? -height : height;
    if (depth != 24 || compression != 0)
        give_up(PROGRAM, CLV_ERR_DATA, "%s: a bitmap of %u bits a pixel and compression %u, not of 24 and 0", path,
                depth, compression);
    if (width < 1 || height < 1 || width > 65535 || height > 65535)
        give_up(PROGRAM, CLV_ERR_DATA, "%s: a bitmap of %dx%d pixels", path, width, height);
    size_t stride = ((size_t)width * 3 + 3) / 4 * 4;
    if (offset > size || stride * (size_t)height > size - offset)
        give_up(PROGRAM, CLV_ERR_DATA, "%s: truncated: %zu bytes for %dx%d pixels", path, size, width, height);
    check(PROGRAM, clv_image_new(&image, width, height, 3, &err), &err);
    for (int32_t y = 0; y < height; y++) {
        const char *row = bytes + offset + stride * (size_t)(downwards ? y : height - 1 - y);
        for (int32_t x = 0; x < width; x++)
            for (int32_t c = 0; c < 3; c++) /* blue, green, red */
                image.pixels[((size_t)y * (size_t)width + (size_t)x) * 3 + (size_t)c] =
                    (uint8_t)row[(size_t)x * 3 + 2 - (size_t)c];
    }
    array_free(bytes);
    return image;
}

static uint8_t label_of(const uint8_t *rgb, int n_labels, const char *path, size_t pixel)
{
    for (int label = 0; label < N_KNOWN; label++)
        if (memcmp(classes[label].rgb, rgb, 3) == 0)
            return label < n_labels ? (uint8_t)label : VOID;
    give_up(PROGRAM, CLV_ERR_DATA, "%s: pixel %zu has the colour %u %u %u, which is not a class", path, pixel, rgb[0],
            rgb[1], rgb[2]);
}

static void convert_mask(const struct clv_image *truth, const char *source, const char *target, int n_labels)
{
    struct clv_error err;
    uint8_t palette[256][3] = {{0}};
    size_t n = (size_t)truth->width * (size_t)truth->height;
    uint8_t *labels = array_alloc(n, 1);
    if (!labels)
        give_up(PROGRAM, CLV_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < n; i++)
        labels[i] = label_of(truth->pixels + 3 * i, n_labels, source, i);
    for (int label = 0; label < n_labels; label++)
        memcpy(palette[label], classes[label].rgb, 3);
    check(
        PROGRAM,
        clv_png_write_labels(target, truth->width, truth->height, labels, (const uint8_t(*)[3])palette, n_labels, &err),
        &err);
    array_free(labels);
}

/* NAME_GT.bmp of NAME.bmp: next to it, or in GroundTruth/ for Images/; NULL if there is none. */
static bool find_truth(char *truth, size_t size, const char *source, const char *path)
{
    char *stem = path_stem(path), *folder = path_folder(path);
    bool is_next = false, apart = false;
    if (stem && folder) {
        snprintf(truth, size, "%s/%s/%s_GT.bmp", source, folder, stem);
        is_next = path_exists(truth);
        if (!is_next) {
            snprintf(truth, size, "%s/GroundTruth/%s_GT.bmp", source, stem);
            apart = path_exists(truth);
        }
    }
    array_free(stem);
    array_free(folder);
    return is_next || apart;
}

static void convert_image(const char *source, const char *path, const char *truth, const char *out, int n_labels,
                          FILE *manifest)
{
    char from[4096], to[4096];
    struct clv_error err;
    char *stem = path_stem(path);
    if (!stem)
        give_up(PROGRAM, CLV_ERR_MEMORY, "out of memory");
    snprintf(from, sizeof from, "%s/%s", source, path);
    struct clv_image image = read_bitmap(from), mask = read_bitmap(truth);
    if (mask.width != image.width || mask.height != image.height)
        give_up(PROGRAM, CLV_ERR_DATA, "%s: is %dx%d, image is %dx%d", truth, mask.width, mask.height, image.width,
                image.height);
    snprintf(to, sizeof to, "%s/masks/%s.png", out, stem);
    convert_mask(&mask, truth, to, n_labels);
    snprintf(to, sizeof to, "%s/images/%s.png", out, stem);
    check(PROGRAM, clv_png_write(to, &image, &err), &err);
    fprintf(manifest, "images/%s.png\tmasks/%s.png\n", stem, stem);
    clv_image_release(&image);
    clv_image_release(&mask);
    array_free(stem);
}

static void write_labels(const char *out, int n_labels)
{
    struct file_writer labels = table_create(PROGRAM, out, "labels.tsv", "value\tname\tred\tgreen\tblue");
    for (int label = 0; label < n_labels; label++)
        fprintf(labels.stream, "%d\t%s\t%u\t%u\t%u\n", label, classes[label].name, classes[label].rgb[0],
                classes[label].rgb[1], classes[label].rgb[2]);
    table_commit(PROGRAM, &labels);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

int main(int argc, char **argv)
{
    bool nine = argc > 1 && strcmp(argv[1], "-9") == 0;
    struct path_list files = {0};
    struct clv_error err;
    char truth[4096], folder[4096];
    size_t n = 0, n_bare = 0;
    if (argc != 3 + nine) {
        fprintf(stderr, "usage: msrc [-9] SOURCE OUT\n");
        return 64;
    }
    const char *source = argv[1 + nine], *out = argv[2 + nine];
    int n_labels = nine ? N_NINE : N_ALL;
    check(PROGRAM, folder_walk(&files, source, &err), &err);
    const char *const made[] = {"images", "masks"};
    for (int k = 0; k < 2; k++) {
        snprintf(folder, sizeof folder, "%s/%s", out, made[k]);
        check(PROGRAM, folder_create(folder, &err), &err);
    }
    struct file_writer manifest = table_create(PROGRAM, out, "manifest.tsv", "image\tmask");
    for (size_t i = 0; i < files.n; i++) {
        if (!ends_with(files.paths[i], ".bmp") || ends_with(files.paths[i], "_GT.bmp"))
            continue;
        if (find_truth(truth, sizeof truth, source, files.paths[i])) {
            convert_image(source, files.paths[i], truth, out, n_labels, manifest.stream);
            n++;
        } else {
            n_bare++;
        }
    }
    if (!n)
        give_up(PROGRAM, CLV_ERR_NO_INPUT, "%s: has no NAME.bmp with a NAME_GT.bmp", source);
    write_labels(out, n_labels);
    table_commit(PROGRAM, &manifest);
    printf("%zu images of %d classes in %s", n, n_labels - 1, out);
    printf(n_bare ? "; skipped %zu without truth\n" : "\n", n_bare);
    path_list_release(&files);
    return 0;
}
