/* Rasters of GDAL's formats, in builds WITH_GDAL=1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/image.h"
#include "image/raster/raster.h"
#include "support/support.h"

enum { WIDTH = 60, HEIGHT = 41 };

static double scale[] = {30, 30, 0}, tie[] = {0, 0, 0, 440720, 3751320, 0};
static uint16_t keys[] = {1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32611};

/* Whether there is GDAL, else a word about it. */
static bool has_gdal(const char *test)
{
    if (!raster_has_gdal())
        skip(test, "built without GDAL (make WITH_GDAL=1)");
    return raster_has_gdal();
}

static uint8_t value_at(int band, int x, int y)
{
    return (uint8_t)((x * 3 + y * 7 + band * 50) % 200);
}

/* 0.tif and 1.tif, bytes with a georeference, and both.vrt, which has them as its bands; 9 is no-data of the second. */
static void make_files(void)
{
    const struct georeference georeference = {
        .scale = scale, .tie_points = tie, .keys = keys, .n_scale = 3, .n_tie_points = 6, .n_keys = 16};
    static uint8_t values[HEIGHT][WIDTH];
    for (int band = 0; band < 2; band++) {
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                values[y][x] = value_at(band, x, y);
        must(raster_write_labels(here("%d.tif", band), &(struct label_image){WIDTH, HEIGHT, &values[0][0], NULL, 0},
                                 &georeference, err));
    }
    const char *vrt = formatted(
        "<VRTDataset rasterXSize=\"%d\" rasterYSize=\"%d\"><SRS>EPSG:32611</SRS>"
        "<GeoTransform>440720, 30, 0, 3751320, 0, -30</GeoTransform>"
        "<VRTRasterBand dataType=\"UInt16\" band=\"1\"><SimpleSource><SourceFilename relativeToVRT=\"1\">0.tif"
        "</SourceFilename></SimpleSource></VRTRasterBand>"
        "<VRTRasterBand dataType=\"UInt16\" band=\"2\"><NoDataValue>9</NoDataValue><SimpleSource>"
        "<SourceFilename relativeToVRT=\"1\">1.tif</SourceFilename></SimpleSource></VRTRasterBand>"
        "</VRTDataset>",
        WIDTH, HEIGHT);
    spill(here("both.vrt"), vrt, strlen(vrt));
}

/* The file has the two bands with the same georeference, by windows. */
static void expect_both(const char *path, bool has_no_data)
{
    static float values[HEIGHT * WIDTH][2];
    OWNED(raster_close) struct raster raster = {0};
    double at[2];
    bool is_geographic;
    must(raster_open(&raster, path, NULL, err));
    ck_assert_int_eq(raster.width, WIDTH);
    ck_assert_int_eq(raster.height, HEIGHT);
    ck_assert_int_eq(raster.n_bands, 2);
    ck_assert(!raster.is_photograph && !raster.is_colour);
    ck_assert(georeference_at(at, &raster.georeference, 10, 1) && fabs(at[0] - 441020) < 1e-6 &&
              fabs(at[1] - 3751290) < 1e-6);
    ck_assert_int_eq(georeference_epsg(&is_geographic, &raster.georeference), 32611);
    for (int left = 0; left < WIDTH; left += 25)
        for (int top = 0; top < HEIGHT; top += 40) {
            int width = WIDTH - left < 25 ? WIDTH - left : 25, height = HEIGHT - top < 40 ? HEIGHT - top : 40;
            must(raster_read(&values[0][0], &raster,
                             &(struct image_part){.left = left, .top = top, .width = width, .height = height}, err));
            for (int p = 0; p < width * height; p++)
                for (int b = 0; b < 2; b++) {
                    int value = value_at(b, left + p % width, top + p / width);
                    if (has_no_data && b == 1 && value == 9)
                        ck_assert(isnan(values[p][b]));
                    else
                        ck_assert(values[p][b] == (float)value);
                }
        }
}

TEST(a_virtual_raster_is_its_files)
{
    const char *path = here("both.vrt");
    struct georeference georeference;
    OWNED(clv_image_release) struct clv_image image = {0};
    int32_t width, height;
    if (!has_gdal("a_virtual_raster_is_its_files"))
        return;
    make_files();
    expect_both(path, true);
    ck_assert(raster_is_deep(path, NULL));
    georeference_find(&georeference, path);
    ck_assert(georeference_exists(&georeference));
    georeference_release(&georeference);
    must(clv_image_read_size(&width, &height, path, NULL, err));
    ck_assert(width == WIDTH && height == HEIGHT);
    must(clv_image_read(&image, path, NULL, err));
    ck_assert(image.width == WIDTH && image.channels == 3);
    const struct clv_image_limits small = {.max_pixels = 100};
    struct raster raster;
    must_fail(CLV_ERR_DATA, "both.vrt: 60x41", raster_open(&raster, path, &small, err));
    ck_assert(!raster_gdal_knows(here("0.tif"))); /* is read without it */
}

TEST(formats_of_gdal_keep_values_and_georeference)
{
    static const char *const forms[][2] = {{"jp2", "JP2OpenJPEG -co QUALITY=100 -co REVERSIBLE=YES"}, {"img", "HFA"}};
    if (!has_gdal("formats_of_gdal_keep_values_and_georeference"))
        return;
    if (run_command(NULL, "gdal_translate --version") != 0) {
        skip("formats_of_gdal_keep_values_and_georeference", "no gdal_translate (Debian's gdal-bin)");
        return;
    }
    make_files();
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        const char *path = here("both.%s", forms[k][0]);
        run_here("gdal_translate -q -ot UInt16 -a_nodata none -of %s both.vrt %s", forms[k][1], path);
        expect_both(path, false);
    }
}

TEST(what_gdal_cannot_read_is_refused_by_its_word)
{
    float values[4];
    size_t size;
    struct raster raster;
    if (!has_gdal("what_gdal_cannot_read_is_refused_by_its_word"))
        return;
    make_files();
    const char *path = here("both.vrt");
    run_here("rm 1.tif");
    must(raster_open(&raster, path, NULL, err));
    must_fail(CLV_ERR_DATA, "both.vrt: GDAL cannot read it",
              raster_read(values, &raster, &(struct image_part){.width = 2, .height = 1}, err));
    raster_close(&raster);
    OWNED_ARRAY char *vrt = slurp(path, &size);
    for (size_t end = 12; end < size; end += 17) { /* cut off anywhere */
        spill(path, vrt, end);
        must_fail(CLV_ERR_DATA, "both.vrt: ", raster_open(&raster, path, NULL, err));
    }
}
