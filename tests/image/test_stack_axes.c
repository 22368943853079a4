/* The axes of TIFF pages, by ImageJ's and OME's descriptions and by --axes: channels are bands, slices and times are
 * images, in the order of time, whatever the order of the file. */
#include <stdio.h>
#include <stdlib.h>
#include <tiffio.h>
#include <unistd.h>

#include "image/raster/raster.h"
#include "support/support.h"

enum { WIDTH = 7, HEIGHT = 5, C = 2, Z = 3, T = 4, N_PLANES = C * Z * T };

static void forget_axes(void)
{
    ck_assert_int_eq(stack_axes_choose("", NULL), CLV_OK);
}
SETUP_EACH(forget_axes, NULL)

static uint16_t value_at(int c, int z, int t, int pixel)
{
    return (uint16_t)(10000 * c + 1000 * z + 100 * t + pixel);
}

/* The places of planes in a file whose axes are in `order`, the fastest first: planes[k] = {c, z, t}. */
static void order_planes(int planes[N_PLANES][3], const char *order)
{
    static const int sizes[3] = {C, Z, T};
    int at[3] = {0, 0, 0};
    for (int k = 0; k < N_PLANES; k++) {
        memcpy(planes[k], at, sizeof at);
        for (int i = 0; i < 3; i++) {
            int axis = (int)(strchr("CZT", order[i]) - "CZT");
            if (++at[axis] < sizes[axis])
                break;
            at[axis] = 0;
        }
    }
}

/* Planes as directories, the first with the description (NULL: none). */
static void write_planes(const char *path, const char *mode, int planes[N_PLANES][3], int n, const char *description)
{
    TIFF *tiff = TIFFOpen(path, mode);
    ck_assert_ptr_nonnull(tiff);
    for (int k = 0; k < n; k++) {
        uint16_t pixels[HEIGHT * WIDTH];
        for (int i = 0; i < HEIGHT * WIDTH; i++)
            pixels[i] = value_at(planes[k][0], planes[k][1], planes[k][2], i);
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 16);
        TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, HEIGHT);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
        if (!k && description)
            TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, description);
        TIFFWriteEncodedStrip(tiff, 0, pixels, sizeof pixels);
        TIFFWriteDirectory(tiff);
    }
    TIFFClose(tiff);
}

/* Every page has its two bands, page p is slice p % Z of time p / Z. */
static void is_in_order(const char *named)
{
    uint32_t n;
    char path[4096];
    snprintf(path, sizeof path, "%s", named);
    must(clv_image_count(&n, path, err));
    ck_assert_uint_eq(n, Z * T);
    for (int page = 0; page < Z * T; page++) {
        OWNED(raster_close) struct raster raster = {0};
        float values[HEIGHT * WIDTH * C];
        int32_t width, height;
        const char *name = formatted("%s#%d", path, page + 1);
        must(clv_image_read_size(&width, &height, name, NULL, err));
        ck_assert(width == WIDTH && height == HEIGHT);
        must(raster_open_windows(&raster, name, NULL, err));
        ck_assert_int_eq(raster.n_bands, C);
        must(raster_read(values, &raster, &(struct image_part){.width = WIDTH, .height = HEIGHT}, err));
        for (int i = 0; i < HEIGHT * WIDTH * C; i++)
            ck_assert_int_eq((int)values[i], value_at(i % C, page % Z, page / Z, i / C));
    }
    struct raster raster;
    must_fail(CLV_ERR_DATA, "has 12 pages, not 13", raster_open(&raster, formatted("%s#13", path), NULL, err));
}

#define IMAGEJ "ImageJ=1.53t\nimages=24\nchannels=2\nslices=3\nframes=4\nhyperstack=true\nmode=composite\n"
#define OME    "<?xml version=\"1.0\"?><!-- Pixels --><ome:OME xmlns:ome=\"x\"><ome:Image><ome:Pixels ID='Pixels:0' "

TEST(imagejs_description_says_what_planes_are)
{
    int planes[N_PLANES][3];
    const char *path = here("a.tif");
    order_planes(planes, "CZT");
    write_planes(path, "w", planes, N_PLANES, IMAGEJ);
    is_in_order(path);
    path = here("b.tif");
    write_planes(path, "wb8", planes, N_PLANES, IMAGEJ); /* big endian, BigTIFF */
    is_in_order(path);
}

TEST(every_order_of_ome_is_read)
{
    static const char *const orders[] = {"CZT", "CTZ", "ZCT", "ZTC", "TCZ", "TZC"};
    int planes[N_PLANES][3];
    for (size_t k = 0; k < 6; k++) {
        const char *path = here("a.ome.tif");
        order_planes(planes, orders[k]);
        write_planes(path, "w", planes, N_PLANES,
                     formatted(OME "SizeT='4' DimensionOrder=\"XY%s\" SizeC=\"2\" SizeZ=\"3\" >"
                                   "<ome:TiffData/></ome:Pixels></ome:Image></ome:OME>",
                               orders[k]));
        is_in_order(path);
    }
}

/* One element for each plane, as Bio-Formats writes them, in an order of its own. */
TEST(tiffdata_of_ome_say_where_planes_are)
{
    int planes[N_PLANES][3], mixed[N_PLANES][3];
    char text[8192];
    order_planes(planes, "CZT");
    int n = snprintf(text, sizeof text, OME "DimensionOrder='XYCZT' SizeC='2' SizeZ='3' SizeT='4'>");
    for (int k = 0; k < N_PLANES; k++) {
        memcpy(mixed[k], planes[k * 7 % N_PLANES], sizeof mixed[k]);
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "<ome:TiffData FirstC='%d' FirstT='%d' FirstZ='%d' IFD='%d' PlaneCount='1'/>", mixed[k][0],
                      mixed[k][2], mixed[k][1], k);
    }
    snprintf(text + n, sizeof text - (size_t)n, "</ome:Pixels></ome:Image></ome:OME>");
    write_planes(here("a.ome.tif"), "w", mixed, N_PLANES, text);
    is_in_order(here("a.ome.tif"));
}

/* ImageJ's form of stacks above 4 GB: the planes follow the first one's, without directories. */
TEST(planes_may_follow_one_directory)
{
    int planes[N_PLANES][3];
    order_planes(planes, "CZT");
    for (int is_big_endian = 0; is_big_endian < 2; is_big_endian++) {
        size_t size, whole;
        char path[4096];
        snprintf(path, sizeof path, "%s", here("a.tif"));
        write_planes(path, is_big_endian ? "wb" : "wl", planes, 1, IMAGEJ);
        OWNED_ARRAY char *head = slurp(path, &size);
        OWNED_ARRAY uint8_t *file = calloc(size + sizeof(uint16_t[N_PLANES][HEIGHT * WIDTH]), 1);
        memcpy(file, head, size);
        /* The only strip is moved behind everything else. */
        uint32_t at = is_big_endian
                          ? (uint32_t)file[4] << 24 | (uint32_t)file[5] << 16 | (uint32_t)file[6] << 8 | file[7]
                          : (uint32_t)file[7] << 24 | (uint32_t)file[6] << 16 | (uint32_t)file[5] << 8 | file[4];
        for (uint8_t *entry = file + at + 2; entry < file + size - 12; entry += 12)
            if (entry[is_big_endian] == 17 && entry[!is_big_endian] == 1) /* tag 273 */
                for (int k = 0; k < 4; k++)
                    entry[8 + k] = (uint8_t)(size >> 8 * (is_big_endian ? 3 - k : k));
        whole = size;
        for (int k = 0; k < N_PLANES; k++)
            for (int i = 0; i < HEIGHT * WIDTH; i++, whole += 2) {
                uint16_t value = value_at(planes[k][0], planes[k][1], planes[k][2], i);
                file[whole + (size_t)is_big_endian] = (uint8_t)value;
                file[whole + (size_t)!is_big_endian] = (uint8_t)(value >> 8);
            }
        spill(path, file, whole);
        is_in_order(path);
        spill(path, file, whole - 3); /* the last plane is cut */
        struct raster raster = {0};
        must(raster_open(&raster, formatted("%s#11", path), NULL, err));
        raster_close(&raster);
        must_fail(CLV_ERR_DATA, "ends after the end of the file",
                  raster_open(&raster, formatted("%s#12", path), NULL, err));
    }
}

/* A description of other planes than there are is one of another file. */
TEST(descriptions_that_do_not_fit_say_nothing)
{
    static const char *const texts[] = {
        "ImageJ=1.53t\nimages=24\nchannels=2\nslices=3\nframes=5\n",
        "ImageJ=1.53t\nimages=99\nslices=99\n",
        "ImageJ=1.53t\nchannels=99999999999\n",
        "<OME><Pixels DimensionOrder=\"XYCZT\" SizeC=\"2\" SizeZ=\"3\" SizeT=\"5\"></OME>",
        "<OME><Pixels DimensionOrder=\"XYCCT\" SizeC=\"2\" SizeZ=\"3\" SizeT=\"4\"></OME>",
        "<OME><Pixels SizeC=\"2\" SizeZ=\"3\" SizeT=\"4\"></OME>",
        "<OME><Pixels DimensionOrder=\"XYCZT",
        "any words"};
    int planes[N_PLANES][3];
    order_planes(planes, "CZT");
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        uint32_t n;
        struct stack_axes axes;
        write_planes(here("a.tif"), "w", planes, N_PLANES, texts[k]);
        must(clv_image_count(&n, here("a.tif"), err));
        ck_assert_uint_eq(n, N_PLANES);
        image_find_axes(&axes, here("a.tif"));
        ck_assert_int_eq(axes.source, AXES_OF_PAGES);
    }
}

TEST(axes_that_are_asked_for_go_before_descriptions)
{
    int planes[N_PLANES][3];
    uint32_t n;
    order_planes(planes, "TCZ");
    write_planes(here("plain.tif"), "w", planes, N_PLANES, NULL);
    write_planes(here("described.tif"), "w", planes, N_PLANES, IMAGEJ); /* in another order than it says */
    must(stack_axes_choose("Z3C2T4", err));
    is_in_order(here("plain.tif"));
    must(stack_axes_choose("ZC2T4", err));
    is_in_order(here("plain.tif"));
    must(stack_axes_choose("ZCT", err));
    is_in_order(here("described.tif"));
    order_planes(planes, "CZT");
    write_planes(here("fixed.tif"), "w", planes, N_PLANES, IMAGEJ STACK_FIXED "1\n");
    is_in_order(here("fixed.tif"));
    must(stack_axes_choose("T", err));
    is_in_order(here("fixed.tif"));
    must(clv_image_count(&n, here("described.tif"), err));
    ck_assert_uint_eq(n, N_PLANES);
    must(stack_axes_choose("Z5C5", err)); /* fits no file */
    must(clv_image_count(&n, here("plain.tif"), err));
    ck_assert_uint_eq(n, N_PLANES);
    must_fail(CLV_ERR_USAGE, "\"XYZ\" is not an order of the axes T, Z and C", stack_axes_choose("XYZ", err));
    must_fail(CLV_ERR_USAGE, "\"TCT\" names T twice", stack_axes_choose("TCT", err));
    must_fail(CLV_ERR_USAGE, "sizes are 1 to 999999", stack_axes_choose("T0", err));
}

/* Masks have no channels. */
/* The number of files that are noted of one path. */
static size_t count_noted(const char *path)
{
    struct stack_note note = {0};
    stack_note_add(&note, path);
    return note.n;
}

TEST(the_axes_of_files_that_end_with_tif_or_tiff_are_noted_once)
{
    static const char before[] = ".tiff"; /* a file "tiff", with a dot before the path in memory */
    int planes[N_PLANES][3];
    order_planes(planes, "CZT");
    write_planes(here("a.tif"), "w", planes, N_PLANES, IMAGEJ);
    run_here("cp a.tif a.TIFF && cp a.tif tiff && cp a.tif a.png");
    char *start = getcwd(NULL, 0);
    ck_assert(start && chdir(temporary_folder()) == 0);
    ck_assert_uint_eq(count_noted("a.tif"), 1);
    ck_assert_uint_eq(count_noted("a.TIFF"), 1);
    ck_assert_uint_eq(count_noted("a.tif#1"), 1);
    ck_assert_uint_eq(count_noted("a.tif#2"), 0);
    ck_assert_uint_eq(count_noted("a.png"), 0);
    ck_assert_uint_eq(count_noted(before + 1), 0);
    ck_assert_int_eq(chdir(start), 0);
    free(start);
}

TEST(pages_of_channels_are_no_masks)
{
    int planes[N_PLANES][3];
    struct clv_indexed_image mask;
    struct integer_image objects;
    order_planes(planes, "CZT");
    write_planes(here("a.tif"), "w", planes, N_PLANES, IMAGEJ);
    must_fail(CLV_ERR_DATA, "a page of 2 channels", clv_indexed_image_read(&mask, here("a.tif#2"), NULL, err));
    must_fail(CLV_ERR_DATA, "a page of 2 channels", integer_image_read(&objects, here("a.tif#2"), NULL, err));
}
