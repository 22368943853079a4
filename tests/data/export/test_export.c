/* Objects in the formats of other programs: what stands in the files, to the letter. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "data/export/export.h"
#include "support/images.h"
#include "support/support.h"

#undef fail

/* An L of label 2 at the upper left, a ring of label 1 around the background, and a pixel of label 3, which has no
 * name. */
static const uint8_t labels_at[5 * 8] = {2, 0, 0,      0, 0,      0, 0, 0, /**/ 2, 2, 0,      1, 1, 1,
                                         0, 0, /**/ 0, 0, 0,      1, 0, 1, 0,      3, /**/ 0, 0, 0, 1,
                                         1, 1, 0,      0, /**/ 0, 0, 0, 0, 0,      0, 0,      0};

static struct clv_labels make_labels(void)
{
    static char names[4][64] = {"background", "co\"w", "dog", ""};
    return (struct clv_labels){.n_labels = 4, .names = names};
}

static struct contours trace(const struct clv_labels *labels)
{
    struct contours contours = {0};
    bool is_traced[256] = {false};
    for (int32_t k = 0; k < labels->n_labels; k++)
        is_traced[k] = export_is_object(labels, k);
    must(contours_trace(&contours, &(struct tracing){.width = 8, .height = 5, .is_traced = is_traced, .n_traced = 256},
                        labels_at, err));
    return contours;
}

/* What was put since the last call; static. */
static const char *taken(struct text *text)
{
    static char string[4096];
    ck_assert(!text->failed && text->size < sizeof string);
    snprintf(string, sizeof string, "%s", text->bytes ? text->bytes : "");
    text_release(text);
    text_init(text, 1 << 16);
    return string;
}

TEST(objects_are_labels_with_a_name_but_for_a_background_at_zero)
{
    struct clv_labels labels = make_labels();
    ck_assert(!export_is_object(&labels, 0) && export_is_object(&labels, 1) && !export_is_object(&labels, 3));
    ck_assert(!export_is_object(&labels, 4));
    ck_assert_int_eq(export_category(&labels, 1), 1);
    ck_assert_int_eq(export_category(&labels, 2), 2);
    memcpy(labels.names[0], "sky", 4);
    memcpy(labels.names[1], "background", 11);
    ck_assert(export_is_object(&labels, 0) && export_is_object(&labels, 1));
    ck_assert_int_eq(export_category(&labels, 2), 3);
}

/* MSRC's label 0 is void, and so is label 2 by --void. */
TEST(void_labels_are_no_objects_and_leave_the_numbers_of_others_as_they_are)
{
    static char names[4][64] = {"void", "cow", "dog", "elk"};
    struct clv_labels labels = {.n_labels = 4, .names = names, .is_void = {1}};
    OWNED(text_release) struct text text = {0};
    text_init(&text, 1 << 16);
    for (int hides = 0; hides < 2; hides++) {
        labels.is_void[2] = (uint8_t)hides;
        for (int32_t label = 0; label < 4; label++)
            ck_assert_int_eq(export_is_object(&labels, label), label && !labels.is_void[label]);
        for (int32_t label = 1; label < 4; label++)
            ck_assert_int_eq(export_category(&labels, label), label);
        yolo_put_data(&text, &labels);
        must_say(taken(&text), "names:\n  0: \"cow\"\n  1: \"dog\"\n  2: \"elk\"\n");
        yolo_put_classes(&text, &labels);
        ck_assert_str_eq(taken(&text), "cow\ndog\nelk\n");
    }
    coco_put_categories(&text, &labels);
    ck_assert_str_eq(taken(&text), "\n],\"categories\":[\n{\"id\":1,\"name\":\"cow\",\"supercategory\":\"\"},\n"
                                   "{\"id\":3,\"name\":\"elk\",\"supercategory\":\"\"}\n]}\n");
    voc_put_labelmap(&text, &labels);
    ck_assert_str_eq(taken(&text), "# label:color_rgb:parts:actions\ncow:128,0,0::\nelk:128,128,0::\n");
}

/* Boxes may be of a class "void", which is an object like others. */
TEST(a_class_called_void_that_is_not_void_is_an_object)
{
    static char names[2][64] = {"background", "void"};
    const struct clv_labels labels = {.n_labels = 2, .names = names};
    ck_assert(export_is_object(&labels, 1));
    ck_assert_int_eq(export_category(&labels, 1), 1);
}

/* An image's annotations with their numbers. */
static void put_objects(struct text *text, size_t *n, size_t image, const struct contours *contours,
                        const struct clv_labels *labels, bool runs)
{
    OWNED(text_release) struct text lines = {0};
    text_init(&lines, 1 << 16);
    must(coco_put_lines(&lines, contours, labels, runs, err));
    coco_put_numbered(text, n, image, lines.bytes, lines.size);
}

TEST(coco_has_polygons_and_run_lengths_where_there_are_holes_or_all_are_to_be)
{
    struct clv_labels labels = make_labels();
    OWNED(contours_release) struct contours contours = trace(&labels);
    OWNED(text_release) struct text text = {0};
    size_t n = 6;
    text_init(&text, 1 << 16);
    put_objects(&text, &n, 3, &contours, &labels, false);
    ck_assert_uint_eq(n, 8);
    /* By columns the ring is 16 pixels outside, 3 in, 2 out, 1 in, 1 out, 1 in, 2 out, 3 in and 11 out. */
    ck_assert_str_eq(taken(&text),
                     ",\n{\"id\":7,\"image_id\":3,\"category_id\":2,\"iscrowd\":0,\"area\":3,\"bbox\":[0,0,2,2],"
                     "\"segmentation\":[[1,0,1,1,2,1,2,2,0,2,0,0]]},"
                     "\n{\"id\":8,\"image_id\":3,\"category_id\":1,\"iscrowd\":0,\"area\":8,\"bbox\":[3,1,3,3],"
                     "\"segmentation\":{\"size\":[5,8],\"counts\":\"`032NO0129\"}}");
    n = 0;
    put_objects(&text, &n, 1, &contours, &labels, true);
    ck_assert(strncmp(taken(&text), "\n{\"id\":1,", 9) == 0);
    put_objects(&text, &n, 1, &contours, &labels, true);
    ck_assert_ptr_nonnull(strstr(taken(&text), "\"bbox\":[0,0,2,2],\"segmentation\":{\"size\":[5,8],\"counts\":\""));
    coco_begin(&text);
    coco_begin_images(&text);
    coco_put_entry(&text, true, 1, "\"a\\\"b.png\"", 8, 5);
    coco_put_entry(&text, false, 2, "\"c.png\"", 3, 4);
    coco_put_categories(&text, &labels);
    ck_assert_str_eq(taken(&text), COCO_BEGINNING
                     "\n],\"images\":[\n{\"id\":1,\"file_name\":\"a\\\"b.png\",\"width\":8,\"height\":5},"
                     "\n{\"id\":2,\"file_name\":\"c.png\",\"width\":3,\"height\":4}\n],\"categories\":["
                     "\n{\"id\":1,\"name\":\"co\\\"w\",\"supercategory\":\"\"},"
                     "\n{\"id\":2,\"name\":\"dog\",\"supercategory\":\"\"}\n]}\n");
}

/* The hole's first corner is (5, 3), the outer corner nearest to it (6, 4). */
#define KEYHOLE "[6,1],[6,4],[5,3],[5,2],[4,2],[4,3],[5,3],[6,4],[3,4],[3,1]"

TEST(labelme_joins_holes_to_the_nearest_corner)
{
    struct clv_labels labels = make_labels();
    OWNED(contours_release) struct contours contours = trace(&labels);
    OWNED(text_release) struct text text = {0};
    text_init(&text, 1 << 16);
    must(labelme_put(&text, &contours, &labels, "../a.png", err));
    ck_assert_str_eq(taken(&text),
                     "{\"version\":\"5.4.1\",\"flags\":{},\"shapes\":["
                     "\n{\"label\":\"dog\",\"points\":[[1,0],[1,1],[2,1],[2,2],[0,2],[0,0]],\"group_id\":null,"
                     "\"description\":\"\",\"shape_type\":\"polygon\",\"flags\":{}},"
                     "\n{\"label\":\"co\\\"w\",\"points\":[" KEYHOLE "],\"group_id\":null,"
                     "\"description\":\"\",\"shape_type\":\"polygon\",\"flags\":{}}"
                     "\n],\"imagePath\":\"../a.png\",\"imageData\":null,\"imageHeight\":5,\"imageWidth\":8}\n");
}

TEST(pieces_of_one_object_are_one_annotation_and_one_group)
{
    static const uint8_t pieces[5] = {1, 0, 2, 0, 1};
    static const bool is_traced[3] = {[1] = true, [2] = true};
    struct clv_labels labels = make_labels();
    OWNED(contours_release) struct contours contours = {0};
    OWNED(text_release) struct text text = {0};
    size_t n = 0;
    text_init(&text, 1 << 16);
    must(contours_trace(&contours, &(struct tracing){.width = 5, .height = 1, .is_traced = is_traced, .n_traced = 3},
                        pieces, err));
    contours.objects[0].number = contours.objects[2].number = 2; /* of three contours */
    contours.objects[1].number = 1;
    put_objects(&text, &n, 1, &contours, &labels, false);
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(taken(&text),
                     "\n{\"id\":1,\"image_id\":1,\"category_id\":2,\"iscrowd\":0,\"area\":1,\"bbox\":[2,0,1,1],"
                     "\"segmentation\":[[3,0,3,1,2,1,2,0]]},"
                     "\n{\"id\":2,\"image_id\":1,\"category_id\":1,\"iscrowd\":0,\"area\":2,\"bbox\":[0,0,5,1],"
                     "\"segmentation\":[[1,0,1,1,0,1,0,0],[5,0,5,1,4,1,4,0]]}");
    n = 0;
    put_objects(&text, &n, 1, &contours, &labels, true);
    ck_assert_ptr_nonnull(strstr(taken(&text), "\"segmentation\":{\"size\":[1,5],\"counts\":\"0130\"}"));
    must(labelme_put(&text, &contours, &labels, "a.png", err));
    const char *shapes = taken(&text);
    ck_assert_ptr_nonnull(strstr(shapes, "[2,0]],\"group_id\":null,"));
    ck_assert_ptr_nonnull(strstr(shapes, "[0,0]],\"group_id\":2,"));
    ck_assert_ptr_nonnull(strstr(shapes, "[4,0]],\"group_id\":2,"));
    must(voc_put(&text, &contours, &labels, "a.png", err));
    const char *boxes = taken(&text);
    ck_assert_ptr_nonnull(strstr(boxes, "<name>dog</name>"));
    ck_assert_ptr_nonnull(strstr(boxes, "<xmin>1</xmin><ymin>1</ymin><xmax>5</xmax><ymax>1</ymax>"));
    ck_assert_ptr_null(strstr(strstr(boxes, "co&quot;w") + 1, "co&quot;w"));
    must(yolo_put(&text, &contours, &labels, err)); /* the second piece comes back to the first one's begin */
    ck_assert_str_eq(taken(&text),
                     "1 0.60000000 0.00000000 0.60000000 1.00000000 0.40000000 1.00000000 0.40000000 0.00000000\n"
                     "0 0.20000000 0.00000000 0.20000000 1.00000000 0.00000000 1.00000000 0.00000000 0.00000000 "
                     "0.20000000 0.00000000 1.00000000 0.00000000 1.00000000 1.00000000 0.80000000 1.00000000 "
                     "0.80000000 0.00000000 1.00000000 0.00000000 0.20000000 0.00000000\n");
    must(geojson_put(&text, &contours, &labels, &(struct georeference){0}, err));
    const char *features = taken(&text);
    ck_assert_ptr_nonnull(strstr(features, "\"value\":2,\"pixels\":1},\"geometry\":{\"type\":\"Polygon\""));
    ck_assert_ptr_nonnull(strstr(features, "\"value\":1,\"pixels\":2},\"geometry\":{\"type\":\"MultiPolygon\","
                                           "\"coordinates\":[[[[1,0]"));
}

TEST(voc_counts_corners_from_one_both_inside)
{
    struct clv_labels labels = make_labels();
    OWNED(contours_release) struct contours contours = trace(&labels);
    OWNED(text_release) struct text text = {0};
    text_init(&text, 1 << 16);
    must(voc_put(&text, &contours, &labels, "a&b.png", err));
    ck_assert_str_eq(taken(&text),
                     "<annotation>\n  <folder>JPEGImages</folder>\n  <filename>a&amp;b.png</filename>\n"
                     "  <source><database>Unknown</database></source>\n"
                     "  <size><width>8</width><height>5</height><depth>3</depth></size>\n  <segmented>1</segmented>\n"
                     "  <object><name>dog</name><pose>Unspecified</pose><truncated>0</truncated>"
                     "<difficult>0</difficult><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox>"
                     "</object>\n"
                     "  <object><name>co&quot;w</name><pose>Unspecified</pose><truncated>0</truncated>"
                     "<difficult>0</difficult><bndbox><xmin>4</xmin><ymin>2</ymin><xmax>6</xmax><ymax>4</ymax></bndbox>"
                     "</object>\n</annotation>\n");
    voc_put_labelmap(&text, &labels);
    ck_assert_str_eq(taken(&text), "# label:color_rgb:parts:actions\nbackground:0,0,0::\nco\"w:128,0,0::\n"
                                   "dog:0,128,0::\n");
}

TEST(yolo_counts_classes_from_zero_and_corners_in_shares_of_the_sides)
{
    struct clv_labels labels = make_labels();
    OWNED(contours_release) struct contours contours = trace(&labels);
    OWNED(text_release) struct text text = {0};
    text_init(&text, 1 << 16);
    must(yolo_put(&text, &contours, &labels, err));
    ck_assert_str_eq(taken(&text),
                     "1 0.12500000 0.00000000 0.12500000 0.20000000 0.25000000 0.20000000 0.25000000 0.40000000 "
                     "0.00000000 0.40000000 0.00000000 0.00000000\n"
                     "0 0.75000000 0.20000000 0.75000000 0.80000000 0.62500000 0.60000000 0.62500000 0.40000000 "
                     "0.50000000 0.40000000 0.50000000 0.60000000 0.62500000 0.60000000 0.75000000 0.80000000 "
                     "0.37500000 0.80000000 0.37500000 0.20000000\n");
    yolo_put_data(&text, &labels);
    ck_assert_str_eq(taken(&text), "# Images go into images/, next to labels/.\ntrain: images\nval: images\nnames:\n"
                                   "  0: \"co\\\"w\"\n  1: \"dog\"\n");
    yolo_put_classes(&text, &labels);
    ck_assert_str_eq(taken(&text), "co\"w\ndog\n");
}

TEST(geojson_has_polygons_by_sides_whose_holes_may_touch_the_outer_ring)
{
    /* The hole meets the outside at corner (2, 1), and the last pixel the others at (3, 3). */
    static const uint8_t areas[4 * 4] = {1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 0, 1};
    static const bool is_traced[2] = {false, true};
    const struct tracing how = {.width = 4, .height = 4, .is_traced = is_traced, .n_traced = 2, .by_sides = true};
    struct clv_labels labels = make_labels();
    struct contours contours = {0};
    struct text text;
    text_init(&text, 1 << 16);
    must(contours_trace(&contours, &how, areas, err));
    must(geojson_put(&text, &contours, &labels, &(struct georeference){0}, err));
    ck_assert_str_eq(taken(&text),
                     "{\"type\":\"FeatureCollection\",\"features\":["
                     "\n{\"type\":\"Feature\",\"properties\":{\"label\":\"co\\\"w\",\"value\":1,\"pixels\":7},"
                     "\"geometry\":{\"type\":\"Polygon\",\"coordinates\":["
                     "[[2,0],[2,1],[3,1],[3,3],[0,3],[0,0],[2,0]],[[2,2],[2,1],[1,1],[1,2],[2,2]]]}},"
                     "\n{\"type\":\"Feature\",\"properties\":{\"label\":\"co\\\"w\",\"value\":1,\"pixels\":1},"
                     "\"geometry\":{\"type\":\"Polygon\",\"coordinates\":["
                     "[[4,3],[4,4],[3,4],[3,3],[4,3]]]}}\n]}\n");
    text_release(&text);
    contours_release(&contours);
}

/* Reads [x, y]. */
static void read_point(double at[2], const struct json_value *point)
{
    size_t n;
    ck_assert(json_get_array(point, &n) && n == 2);
    for (size_t k = 0; k < 2; k++)
        ck_assert(json_get_double(json_element(point, k), &at[k]));
}

/* The area of a ring by trapezia to its lowest coordinates, positive if it runs counterclockwise. */
static double ring_area(const struct json_value *ring)
{
    double area = 0, first[2], last[2], at[2], low = INFINITY;
    size_t n;
    ck_assert(json_get_array(ring, &n) && n > 3);
    for (size_t i = 0; i < n; i++) {
        read_point(at, json_element(ring, i));
        low = fmin(low, at[1]);
    }
    read_point(first, json_element(ring, 0));
    memcpy(last, first, sizeof last);
    for (size_t i = 1; i < n; i++) {
        read_point(at, json_element(ring, i));
        area += (last[0] - at[0]) * ((last[1] - low) + (at[1] - low)) / 2;
        memcpy(last, at, sizeof last);
    }
    ck_assert(last[0] == first[0] && last[1] == first[1]);
    return area;
}

/* Whether the outer ring is counterclockwise, and holes are clockwise; adds the polygon's area. */
static void add_polygon(double *area, size_t *n_holes, const struct json_value *polygon)
{
    size_t n;
    ck_assert(json_get_array(polygon, &n) && n > 0);
    for (size_t ring = 0; ring < n; ring++) {
        const double own = ring_area(json_element(polygon, ring));
        ck_assert_msg(ring ? own < 0 : own > 0, "ring %zu has area %g", ring, own);
        *area += own;
    }
    *n_holes += n - 1;
}

/* Labels 0 .. 2 in blocks that leave holes. */
static void draw_blocks(uint8_t *labels, int32_t width, int32_t height, uint32_t *state)
{
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++)
            labels[y * width + x] = x && noise(state) % 3   ? labels[y * width + x - 1]
                                    : y && noise(state) % 3 ? labels[(y - 1) * width + x]
                                                            : (uint8_t)(noise(state) % 3);
}

/* RFC 7946, 3.1.6: outer rings run counterclockwise and holes clockwise, in the coordinates that are written: those of
 * pixels, whose second goes down, of maps far from the origin that are north up, and of maps turned and mirrored. */
TEST(geojson_polygons_turn_as_the_format_says_and_have_the_areas_of_their_pixels)
{
    enum { W = 17, H = 13 };
    static double scale[3] = {0.5, 0.25, 0}, tie[6] = {0, 0, 0, 500000, 5400000, 0};
    static double turned[16] = {0.3, -0.4, 0, 700000, 0.4, 0.3, 0, -90000, [15] = 1},
                  south[16] = {2, 0, 0, -40, 0, 1, 0, 6e6, [15] = 1};
    static const struct {
        struct georeference georeference;
        double pixel; /* area */
    } rows[] = {
        {{0}, 1},
        {{.scale = scale, .n_scale = 3, .tie_points = tie, .n_tie_points = 6}, 0.125},
        {{.transformation = turned, .n_transformation = 16}, 0.25},
        {{.transformation = south, .n_transformation = 16}, 2},
    };
    static const bool is_traced[3] = {false, true, true};
    uint32_t state = 5;
    size_t n_holes = 0;
    for (int round = 0; round < 40; round++) {
        uint8_t labels[W * H];
        const size_t row = (size_t)round % 4;
        struct clv_labels names = make_labels();
        OWNED(contours_release) struct contours contours = {0};
        OWNED(text_release) struct text text = {0};
        OWNED(json_drop) struct json_value *root = NULL;
        draw_blocks(labels, W, H, &state);
        must(contours_trace(
            &contours,
            &(struct tracing){.width = W, .height = H, .is_traced = is_traced, .n_traced = 3, .by_sides = true}, labels,
            err));
        text_init(&text, 1 << 20);
        must(geojson_put(&text, &contours, &names, &rows[row].georeference, err));
        must(json_parse(&root, text.bytes, text.size, "areas", err));
        const struct json_value *features = json_member(root, "features");
        size_t n_features;
        int64_t total = 0;
        ck_assert(json_get_array(features, &n_features) && n_features == contours.n_objects);
        for (size_t k = 0; k < n_features; k++) {
            const struct json_value *feature = json_element(features, k);
            int64_t n_pixels;
            double area = 0;
            ck_assert(json_get_int64(json_member(json_member(feature, "properties"), "pixels"), &n_pixels));
            add_polygon(&area, &n_holes, json_member(json_member(feature, "geometry"), "coordinates"));
            ck_assert_double_eq_tol(area, (double)n_pixels * rows[row].pixel, 1e-3);
            total += n_pixels;
        }
        for (int p = 0; p < W * H; p++)
            total -= labels[p] > 0;
        ck_assert_int_eq(total, 0);
    }
    ck_assert_uint_gt(n_holes, 20);
}
