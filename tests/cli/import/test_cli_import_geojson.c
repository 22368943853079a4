/* Polygons on Earth become masks of the images that lie there. */
#include <stdlib.h>
#include <string.h>

#include "image/raster/raster.h"
#include "support/sample.h"
#include "support/support.h"

SETUP_ONCE(sample_setup, NULL)

enum { WIDTH = 8, HEIGHT = 6 };

static uint16_t keys[] = {1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32632};

/* A photo whose pixel (0, 0) begins at (east, north) and whose pixels are 10 wide and high; turned: x points north and
 * y east. NULL: nowhere. */
static void put_tiff(const char *path, const double *corner, bool is_turned)
{
    static uint8_t next;
    uint8_t pixels[WIDTH * HEIGHT] = {++next};
    double scale[] = {10, 10, 0}, tie_points[] = {0, 0, 0, corner ? corner[0] : 0, corner ? corner[1] : 0, 0};
    double matrix[16] = {[1] = 10, [3] = tie_points[3], [4] = 10, [7] = tie_points[4], [15] = 1};
    struct georeference georeference = {.keys = keys, .n_keys = 16};
    if (is_turned) {
        georeference.transformation = matrix;
        georeference.n_transformation = 16;
    } else {
        georeference.scale = scale;
        georeference.tie_points = tie_points;
        georeference.n_scale = 3;
        georeference.n_tie_points = 6;
    }
    must(raster_write_labels(path, &(struct label_image){WIDTH, HEIGHT, pixels, NULL, 0}, corner ? &georeference : NULL,
                             err));
}

#define CRS(name)            "\"crs\":{\"type\":\"name\",\"properties\":{\"name\":\"" name "\"}},"
#define LAYER(crs, features) "{\"type\":\"FeatureCollection\"," crs "\"features\":[" features "]}"
#define FEATURE(properties, type, coordinates)                                                                         \
    "{\"type\":\"Feature\",\"properties\":{" properties "},\"geometry\":{\"type\":\"" type                             \
    "\",\"coordinates\":" coordinates "}}"

static void write_layer(const char *path, const char *text)
{
    spill(path, text, strlen(text));
}

/* Rows of a mask of a set, '.' for void. */
static void expect_mask(const char *set, const char *name, const char *wanted)
{
    OWNED(clv_mask_release) struct clv_mask mask = {0};
    OWNED(clv_set_release) struct clv_set read = {0};
    must(clv_set_read(&read, formatted("%s/manifest.tsv", set), err));
    must(clv_mask_read(&mask, formatted("%s/masks/%s.png", set, name), &read.labels, WIDTH, HEIGHT, NULL, err));
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        ck_assert_msg(mask.labels[p] == (wanted[p] == '.' ? CLV_VOID : wanted[p] - '0'), "%s of %s: pixel %d is %d",
                      name, set, p, mask.labels[p]);
}

/* A square with a hole and a second part with heights, of class 7; a square of class "wood" on the image's border; one
 * elsewhere. */
#define TWO_PARTS                                                                                                      \
    FEATURE("\"class\":7", "MultiPolygon",                                                                             \
            "[[[[500010,5000050],[500050,5000050],[500050,5000010],[500010,5000010],[500010,5000050]],"                \
            "[[500020,5000040],[500040,5000040],[500040,5000020],[500020,5000020],[500020,5000040]]],"                 \
            "[[[500060,5000060,3],[500080,5000060,3],[500080,5000040,3],[500060,5000040,3],[500060,5000060,3]]]]")
#define WOOD                                                                                                           \
    FEATURE("\"class\":\"wood\"", "Polygon",                                                                           \
            "[[[499900,5000012],[500020,5000012],[500020,4999000],[499900,4999000],[499900,5000012]]]")
#define ELSEWHERE FEATURE("\"class\":\"7\"", "Polygon", "[[[1,1],[2,1],[2,2],[1,1]]]")
#define SQUARES   TWO_PARTS "," WOOD "," ELSEWHERE
#define POINT     FEATURE("\"class\":1", "Point", "[500000,5000000]")
#define UNNAMED   FEATURE("\"name\":1", "Polygon", "[[[500000,5000060],[500080,5000060],[500000,5000000]]]")
#define LINE      FEATURE("\"class\":1", "LineString", "[[500060,5000020],[500080,5000000]]")

TEST(a_layer_is_laid_on_images_by_their_own_transformation)
{
    const char *folder = temporary_folder();
    static const double corners[3][2] = {{500000, 5000060}, {500000, 5000000}, {600000, 5000060}};
    free(expect_success("mkdir %s/photos", folder));
    put_tiff(formatted("%s/photos/a.tif", folder), corners[0], false);
    put_tiff(formatted("%s/photos/turned.tif", folder), corners[1], true);
    put_tiff(formatted("%s/photos/far.tif", folder), corners[2], false);
    write_layer(formatted("%s/layer.geojson", folder),
                LAYER(CRS("urn:ogc:def:crs:EPSG::32632"), SQUARES "," POINT "," UNNAMED "," LINE));
    OWNED_ARRAY char *output = expect_success(
        "cd %s && \"$CLEAVE\" import geojson layer.geojson --images photos --property class -o set", folder);
    static const char *const said[] = {"3 annotations cannot be used", "feature 4: a Point, no polygon",
                                       "says nothing of 1 of 3 images, which were skipped; the first is far.tif",
                                       "set: 2 images, 2 with masks"};
    for (size_t k = 0; k < sizeof said / sizeof *said; k++)
        ck_assert_msg(strstr(output, said[k]) != NULL, "\"%s\" is not in %s", said[k], output);
    const char *set = formatted("%s/set", folder);
    expect_mask(set, "a",
                "......11"
                ".1111.11"
                ".1..1000"
                ".1.01000"
                ".11110.."
                "220000.."); /* the feature without the property is void, and the box of the line */
    free(expect_success("cd %s && grep -q '^1\t7\t' set/labels.tsv && grep -q '^2\twood' set/labels.tsv && "
                        "\"$CLEAVE\" import geojson layer.geojson --images photos --property class --outside void -o "
                        "samples && ! grep instances samples/manifest.tsv && "
                        "grep -q '^0\t7\t' samples/labels.tsv",
                        folder));
    set = formatted("%s/samples", folder);
    expect_mask(set, "a",
                "......00"
                ".0000.00"
                ".0..0..."
                ".0..0..."
                ".0000..."
                "11......");
    free(expect_success(
        "cd %s && rm photos/[ft]* && \"$CLEAVE\" import geojson layer.geojson --images photos --property "
        "class -o one && cmp one/masks/a.png set/masks/a.png",
        folder));
    /* x is north, y is east: (row, column) is a's (5 - column, row) of its six rows */
    expect_mask(set, "turned",
                "1......."
                "10000..."
                ".0..0..."
                ".0..0..."
                ".0000..."
                "........");
}

TEST(layers_that_cannot_be_laid_are_refused)
{
    const char *folder = temporary_folder();
    static const double corner[2] = {500000, 5000060};
    static const struct {
        const char *text, *options, *message;
        int status;
    } rows[] = {
        {LAYER("", SQUARES), "--property class", "EPSG:32632, those of layer.geojson are EPSG:4326; `ogr2ogr", 65},
        {LAYER(CRS("EPSG:25832"), SQUARES), "--property class", "those of layer.geojson are EPSG:25832", 65},
        {LAYER(CRS("EPSG:25832"), SQUARES), "--property class", "says of 1 of the 1 images in photos can be used", 65},
        {LAYER(CRS("urn:ogc:def:crs:OGC:1.3:CRS84"), SQUARES), "--property class", "are EPSG:4326", 65},
        {LAYER(CRS("my own"), SQUARES), "--property class", "coordinate system \"my own\" is none of EPSG's", 65},
        {LAYER(CRS("EPSG:32632"), SQUARES), "",
         "no feature has the property \"label\"; feature 1 has \"class\"; --property", 65},
        {LAYER(CRS("EPSG:32632"), SQUARES), "--property class",
         "b.tif: does not say where on Earth it lies, nor do 0 others of the 2 images; a layer", 65},
        {LAYER(CRS("EPSG:32632"), FEATURE("\"label\":1", "Polygon", "[[[1,1],[2],[3,3]]]")), "",
         "feature 1: its \"coordinates\" are not a Polygon's", 65},
        {LAYER(CRS("EPSG:32632"), FEATURE("\"label\":1", "Polygon", "[[[1,1],[2],[3,3]]]")), "",
         "nothing that it says of 1 of the 1 images in photos can be used", 65},
        {LAYER("", "1") "x", "", "layer.geojson: bad JSON", 65},
        {"{\"type\":\"Feature\"}", "", "\"features\" is not an array", 65},
    };
    free(expect_success("mkdir %s/photos", folder));
    put_tiff(formatted("%s/photos/a.tif", folder), corner, false);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        bool is_alone = strstr(rows[k].message, "EPSG:") || strstr(rows[k].message, "can be used");
        if (is_alone)
            remove(formatted("%s/photos/b.tif", folder));
        else
            put_tiff(formatted("%s/photos/b.tif", folder), NULL, false);
        write_layer(formatted("%s/layer.geojson", folder), rows[k].text);
        expect_error(rows[k].status, rows[k].message,
                     "cd %s && \"$CLEAVE\" import geojson layer.geojson --images photos %s -o set --overwrite", folder,
                     rows[k].options);
    }
    expect_error(64, "--property cannot be used with the format coco: it is for the format geojson",
                 "cd %s && \"$CLEAVE\" import coco layer.geojson --property class -o set", folder);
    expect_error(64, "--outside cannot be used", "cd %s && \"$CLEAVE\" import voc photos --outside void -o set",
                 folder);
}

/* By pixels, of images that are nowhere on Earth, and by the note of where they were. */
TEST(exported_polygons_come_back_as_they_were)
{
    const char *folder = temporary_folder();
    free(
        expect_success("cd %s && \"$CLEAVE\" segment -m %s --data %s/manifest.tsv --split test -o out --export geojson "
                       "--tolerance 0 && \"$CLEAVE\" import geojson out -o set && ls set/masks | wc -l | grep -qx 4",
                       folder, sample_model(), sample_set()));
    OWNED(clv_set_release) struct clv_set set = {0};
    must(clv_set_read(&set, formatted("%s/set/manifest.tsv", folder), err));
    for (int i = 9; i <= 12; i++) {
        struct clv_mask masks[2] = {0};
        for (int k = 0; k < 2; k++)
            must(clv_mask_read(&masks[k], formatted("%s/%s/%04d.png", folder, k ? "set/masks" : "out", i), &set.labels,
                               0, 0, NULL, err));
        for (int p = 0; p < masks[0].width * masks[0].height; p++)
            ck_assert_int_eq(!masks[0].labels[p], !masks[1].labels[p]);
        clv_mask_release(&masks[0]);
        clv_mask_release(&masks[1]);
    }
}

/* Their pixels are 1e-300 wide, so that the layer's coordinates are 1e308 pixels apart. */
TEST(a_layer_beyond_what_numbers_hold_is_refused_by_image)
{
    uint8_t pixels[WIDTH * HEIGHT] = {1};
    double scale[] = {2e-300, 1, 0}, tie_points[6] = {0};
    struct georeference georeference = {.scale = scale, .n_scale = 3, .tie_points = tie_points, .n_tie_points = 6};
    run_here("mkdir photos");
    must(raster_write_labels(here("photos/a.tif"), &(struct label_image){WIDTH, HEIGHT, pixels, NULL, 0}, &georeference,
                             err));
    write_layer(here("layer.geojson"),
                LAYER("", FEATURE("\"class\":1", "Polygon", "[[[-3e8,-1],[3e8,-5],[3e8,-2],[-3e8,-4],[-3e8,-1]]]")));
    expect_error(65, "photos/a.tif: an outline has a point at",
                 "cleave import geojson layer.geojson --images photos --property class -o set");
}
