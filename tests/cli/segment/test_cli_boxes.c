/* cleave segment --boxes: box to cut; --decode min-loss. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cleave/objects.h"
#include "support/images.h"
#include "support/sample.h"
#include "support/support.h"

/* The number at a key of a flat JSON object. */
static double json_number(const char *json, const char *key)
{
    const char *found = strstr(json, formatted("\"%s\":", key));
    ck_assert_msg(found != NULL, "no \"%s\" in %s", key, json);
    return strtod(found + strlen(key) + 3, NULL);
}

TEST(boxes_alone_cut_out_the_foregrounds)
{
    expect_output("12 images segmented into out/", "ln -s $SET B && cleave segment --data B/manifest.tsv --boxes "
                                                   "B/boxes.tsv -o out/ --report report --overlay -t 1");
    char *output = expect_success("rm -r out/overlays && cleave score --data B/manifest.tsv --pred out --json");
    ck_assert_double_gt(json_number(output, "mean_iou"), 0.55);
    ck_assert_double_lt(json_number(output, "weighted_hamming"), 0.15);
    free(output);
    run_here("grep -q 'box to cut' report/index.html && cleave segment --data B/manifest.tsv --boxes B/boxes.tsv -o "
             "again -t 3");
    ck_assert(same_bytes(here("out"), here("again")));
}

/* A report's images are JPEG: means of whole outlines separate bright from dark. */
TEST(reports_show_boxes_by_their_outlines)
{
    enum { WIDTH = 90, HEIGHT = 60, LEFT = 20, RIGHT = 49, TOP = 10, BOTTOM = 33 };
    static const char boxes[] = "image\tx\ty\twidth\theight\n0001.png\t20\t10\t30\t24\n";
    struct clv_image image = {0};
    double sum[4] = {0}, n[4] = {0}; /* of green by pixels outside of the box's border: -1 to 2 */
    run_here("mkdir one");
    must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
    memset(image.pixels, 90, (size_t)3 * WIDTH * HEIGHT);
    for (int32_t y = TOP + 4; y < BOTTOM - 4; y++)
        memset(image.pixels + 3 * (y * WIDTH + LEFT + 4), 180, (size_t)3 * (RIGHT - LEFT - 8));
    must(clv_png_write(here("one/0001.png"), &image, err));
    clv_image_release(&image);
    spill(here("boxes.tsv"), boxes, strlen(boxes));
    run_here("cleave segment one --boxes boxes.tsv -o out --report report && grep -o 'data:image/jpeg;base64,[^\"]*' "
             "report/index.html | head -1 | sed 's/.*,//' | base64 -d >shown.jpg");
    must(clv_image_read(&image, here("shown.jpg"), NULL, err));
    ck_assert(image.width == WIDTH && image.height == HEIGHT);
    for (int32_t y = 0; y < HEIGHT; y++)
        for (int32_t x = 0; x < WIDTH; x++) {
            int32_t across = LEFT - x > x - RIGHT ? LEFT - x : x - RIGHT;
            int32_t down = TOP - y > y - BOTTOM ? TOP - y : y - BOTTOM, outside = across > down ? across : down;
            if (outside < -1 || outside > 2)
                continue;
            sum[outside + 1] += image.pixels[3 * (y * WIDTH + x) + 1];
            n[outside + 1]++;
        }
    ck_assert_double_lt(sum[0] / n[0], 65);
    ck_assert_double_gt(sum[1] / n[1], 160);
    ck_assert_double_lt(sum[2] / n[2], 65);
    ck_assert_double_gt(sum[3] / n[3], 75);
    clv_image_release(&image);
}

/* The same boxes in every form; `awk` writes them from the table. */
TEST(every_form_of_the_same_boxes_gives_the_same_masks)
{
    run_here("ln -s $SET B && mkdir voc labelme yolo");
    struct clv_boxes boxes = {0};
    must(clv_boxes_read(&boxes, formatted("%s/boxes.tsv", sample_set()), err));
    char *coco = calloc(1, 1 << 16), *images = calloc(1, 1 << 14), *annotations = calloc(1, 1 << 14);
    for (size_t i = 0; i < boxes.n_images; i++) {
        const struct clv_image_boxes *entry = &boxes.images[i];
        const struct clv_box *box = &entry->boxes[0];
        const char *name = path_name(entry->image);
        int32_t width, height;
        must(clv_image_read_size(&width, &height, formatted("%s/%s", sample_set(), entry->image), NULL, err));
        const char *text = formatted("<annotation><filename>%s</filename><object><name>a</name><bndbox><xmin>%g</xmin>"
                                     "<ymin>%g</ymin><xmax>%g</xmax><ymax>%g</ymax></bndbox></object></annotation>",
                                     name, box->x + 1, box->y + 1, box->x + box->width, box->y + box->height);
        spill(here("voc/%zu.xml", i), text, strlen(text));
        text = formatted("{\"shapes\":[{\"label\":\"a\",\"shape_type\":\"rectangle\",\"points\":[[%g,%g],[%g,%g]]}],"
                         "\"imagePath\":\"%s\",\"imageWidth\":%d,\"imageHeight\":%d}",
                         box->x + box->width, box->y, box->x, box->y + box->height, name, width, height);
        spill(here("labelme/%zu.json", i), text, strlen(text));
        text = formatted("0 %.9f %.9f %.9f %.9f\n", (box->x + 0.5 * box->width) / width,
                         (box->y + 0.5 * box->height) / height, box->width / width, box->height / height);
        spill(here("yolo/%.4s.txt", name), text, strlen(text));
        strcat(images, formatted("%s{\"id\":%zu,\"file_name\":\"%s\"}", i ? "," : "", i, name));
        strcat(annotations, formatted("%s{\"image_id\":%zu,\"category_id\":1,\"bbox\":[%g,%g,%g,%g]}", i ? "," : "", i,
                                      box->x, box->y, box->width, box->height));
    }
    strcat(coco, "{\"categories\":[{\"id\":1,\"name\":\"a\"}],\"images\":[");
    strcat(strcat(strcat(strcat(coco, images), "],\"annotations\":["), annotations), "]}");
    spill(here("coco.json"), coco, strlen(coco));
    static const char *const forms[] = {"B/boxes.tsv", "voc", "coco.json", "labelme", "yolo"};
    for (int k = 0; k < 5; k++) {
        run_here("cleave segment --data B/manifest.tsv --split test --boxes %s -o out%d", forms[k], k);
        ck_assert_int_eq(count_files(here("out%d", k)), 4);
        ck_assert_msg(same_bytes(here("out0"), here("out%d", k)), "%s", forms[k]);
    }
    free(coco);
    free(images);
    free(annotations);
    clv_boxes_release(&boxes);
}

#define HEADER "image\tmask\tlabel\tx\ty\tw\th\n"

/* Two objects of one image, one of which has two boxes, next to an image whose boxes name no mask. */
TEST(masks_are_named_as_the_boxes_say_and_boxes_of_one_mask_make_one)
{
    const char *boxes = HEADER "images/0001.jpg\tm/a/x.png\to\t5\t5\t30\t30\n"
                               "images/0001.jpg\tm/b/y.png\to\t50\t40\t30\t30\n"
                               "images/0001.jpg\tm/a/x.png\to\t60\t5\t20\t20\n"
                               "images/0002.jpg\t\to\t10\t10\t20\t20\n"
                               "images/0002.jpg\t\to\t50\t50\t20\t20\n";
    const char *manifest = "image\tmask\nimages/0001.jpg\tm/a/x.png\nimages/0001.jpg\tm/b/y.png\nimages/0002.jpg\t\n";
    run_here("cp -r $SET B");
    spill(here("B/two.tsv"), boxes, strlen(boxes));
    spill(here("B/m.tsv"), manifest, strlen(manifest));
    expect_output("two.tsv: images without a box were skipped: 10, the first is images/0003",
                  "cd B && cleave segment --data manifest.tsv --boxes two.tsv -o ../out");
    run_here("cd B && cleave segment --data m.tsv --boxes two.tsv -o ../rows");
    ck_assert(same_bytes(here("out"), here("rows")));
    ck_assert_int_eq(count_files(here("out")), 3);
    struct clv_indexed_image x = {0}, both = {0};
    must(clv_indexed_image_read(&x, here("out/a/x.png"), NULL, err));
    must(clv_indexed_image_read(&both, here("out/0002.png"), NULL, err));
    ck_assert(path_exists(here("out/b/y.png")));
    int in_first = 0, in_third = 0, elsewhere = 0, halves[2] = {0, 0};
    for (int p = 0; p < x.width * x.height; p++) {
        int column = p % x.width, row = p / x.width;
        int first = column >= 5 && column < 35 && row >= 5 && row < 35;
        int third = column >= 60 && column < 80 && row >= 5 && row < 25;
        in_first += first && x.values[p];
        in_third += third && x.values[p];
        elsewhere += !first && !third && x.values[p];
    }
    for (int p = 0; p < both.width * both.height; p++)
        halves[p % both.width >= 40] += both.values[p];
    ck_assert(in_first > 50 && in_third > 30 && elsewhere == 0);
    ck_assert(halves[0] > 30 && halves[1] > 30);
    clv_indexed_image_release(&x);
    clv_indexed_image_release(&both);
    run_here("cd B && cp -r ../out m && sed -i '$d' m.tsv && cleave score --data m.tsv --pred ../out --json | grep -q "
             "'\"mean_iou\":1[,}]'"); /* rows that share an image are scored by their masks */
}

/* A small box of one label within a large one of another, which stands later in the file. */
TEST(labels_of_boxes_are_values_of_masks_the_smaller_box_in_front)
{
    const char *labels = "value\tname\n0\tbackground\n1\tdog\n4\tbig cow\n";
    const char *boxes = HEADER "images/0001.jpg\t\tdog\t40\t30\t20\t20\n"
                               "images/0001.jpg\t\tbig cow\t10\t10\t80\t60\n"
                               "images/0002.jpg\t\tbig cow\t10\t10\t70\t60\n";
    struct clv_indexed_image alone = {0}, large = {0}, both = {0}, other = {0};
    run_here("cp -r $SET L");
    spill(here("L/labels.boxes.tsv"), boxes, strlen(boxes));
    run_here(
        "cd L && for k in dog cow; do grep -e mask -e \"$k\" labels.boxes.tsv >$k.tsv && cleave segment images --boxes "
        "$k.tsv -o ../$k; done && cleave segment images --boxes labels.boxes.tsv -o ../both --export coco");
    must(clv_indexed_image_read(&alone, here("dog/0001.png"), NULL, err));
    must(clv_indexed_image_read(&large, here("cow/0001.png"), NULL, err));
    must(clv_indexed_image_read(&both, here("both/0001.png"), NULL, err));
    must(clv_indexed_image_read(&other, here("both/0002.png"), NULL, err));
    int n[3] = {0, 0, 0}, n_other[3] = {0, 0, 0}, n_unlike = 0;
    for (int p = 0; p < both.width * both.height; p++) {
        int x = p % both.width, y = p / both.width, in_front = alone.values[p] ? 1 : large.values[p] ? 2 : 0;
        if (x >= 40 && x < 60 && y >= 30 && y < 50)
            n_unlike += both.values[p] != in_front; /* two boxes: decided together */
        else
            ck_assert_int_eq(both.values[p], in_front);
        n[both.values[p]]++;
    }
    ck_assert_msg(n_unlike <= 100, "%d", n_unlike);
    for (int p = 0; p < other.width * other.height; p++)
        n_other[other.values[p]]++;
    ck_assert(n[0] > 100 && n[1] > 20 && n[2] > 100 && n_other[1] == 0 && n_other[2] > 100);
    run_here("cut -f 1,2 both/labels.tsv | tr '\\t\\n' ' ,' | grep -q 'value name,0 background,1 dog,2 big cow,$' && "
             "test ! -e dog/labels.tsv && grep -q '\"name\":\"big cow\"' both/coco.json");
    /* A set's own numbers come first; a labels.tsv that is there is not replaced, and an input never. */
    spill(here("L/labels.tsv"), labels, strlen(labels));
    run_here("cd L && cleave segment --data manifest.tsv --boxes labels.boxes.tsv -o ../numbered && grep -q '^4.big "
             "cow' ../numbered/labels.tsv");
    clv_indexed_image_release(&other);
    must(clv_indexed_image_read(&other, here("numbered/0002.png"), NULL, err));
    for (int p = 0; p < other.width * other.height; p++)
        ck_assert(other.values[p] == 0 || other.values[p] == 4);
    expect_error(73, "numbered/labels.tsv: exists already",
                 "rm numbered/*.png && cleave segment L/images --boxes L/labels.boxes.tsv -o numbered");
    expect_error(73, "L/labels.tsv: is an input of this command",
                 "rm -r L/masks && sed -i s/dog/hen/ L/labels.boxes.tsv && cut -f 1 L/manifest.tsv >L/m.tsv && cleave "
                 "segment --data L/m.tsv --boxes L/labels.boxes.tsv -o L --overwrite");
    expect_error(64, "--mask-format binary",
                 "cleave segment L/images --boxes L/labels.boxes.tsv -o x --mask-format binary");
    clv_indexed_image_release(&alone);
    clv_indexed_image_release(&large);
    clv_indexed_image_release(&both);
    clv_indexed_image_release(&other);
}

TEST(bad_boxes_fail_their_image_by_name_and_the_rest_goes_on)
{
    const char *folder = temporary_folder(), *boxes = HEADER "images/0001.jpg\t\to\t5\t5\t30\t30\n"
                                                             "images/0002.jpg\t\to\t5000\t5\t30\t30\n"
                                                             "images/0003.jpg\t\to\t-20\t-20\t60\t60\n"
                                                             "images/0004.jpg\t\to\t0\t0\t5000\t5000\n";
    run_here("ln -s $SET B");
    spill(here("some.tsv"), boxes, strlen(boxes));
    const char *command =
        formatted("cd %s && \"$CLEAVE\" segment --data B/manifest.tsv --boxes some.tsv -o out", folder);
    expect_error(65, "some.tsv: line 3: box 30x30 at 5000,5 is outside images/0002.jpg", "%s", command);
    ck_assert_int_eq(count_files(here("out")), 3);
    run_here("%s --overwrite 2>&1 | grep -q 'cut 1 box of images/0003.jpg at the border'", command);
    boxes = HEADER "images/9.jpg\t\to\t5\t5\t30\t30\n";
    spill(here("some.tsv"), boxes, strlen(boxes));
    expect_error(66,
                 "some.tsv: has a box for none of the images: 12, the first is images/0001.jpg; it names images that "
                 "were not given: 1, the first is images/9.jpg",
                 "%s2", command);
    boxes = HEADER "lost/8.jpg\t\to\t5\t5\t30\t30\nlost/9.jpg\t\to\t5\t5\t30\t30\n0001.jpg\t\to\t5\t5\t30\t30\n";
    spill(here("some.tsv"), boxes, strlen(boxes));
    expect_output("were skipped: 11, the first is B/images/0002.jpg; it names images that were not given: 2, the first "
                  "is lost/8.jpg",
                  "cleave segment B/images --boxes some.tsv -o out3");
    spill(here("some.tsv"), "", 0);
    expect_error(65, "some.tsv: is empty", "%s2", command);
    expect_error(66, "absent.tsv", "cleave segment B/images --boxes absent.tsv -o out2");
    ck_assert_int_eq(count_files(here("out2")), 0);
}

TEST(options_that_contradict_boxes_are_refused)
{
    static const struct refusal refusals[] = {
        {64, "--boxes cannot be used with --model: each is a way to label; leave out one of them",
         "segment -m x -o y z --boxes b"},
        {64, "--features cannot be used with --boxes: a feature file has no images",
         "segment -o y --features z --boxes b"},
        {64, "--refine cannot be used with --boxes: boxes are cut without a model",
         "segment -o y z --boxes b --refine"},
        {64, "no model; add -m MODEL", "segment -o y z"},
    };
    EXPECT_REFUSALS(refusals);
}

TEST(decisions_by_marginals_are_labels_near_the_best_labelling)
{
    const char *const runs[] = {"-o map", "--decode auto -o same", "--decode min-loss -t 1 -o one",
                                "--decode min-loss -t 4 --seed 0 --samples 100 -o four",
                                "--decode min-loss --seed 5 --samples 3 -o other"};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++)
        run_here("cleave segment -m $MODEL --data $SET/manifest.tsv %s", runs[k]);
    ck_assert(same_bytes(here("map"), here("same")));
    ck_assert(same_bytes(here("one"), here("four")));
    ck_assert(!same_bytes(here("one"), here("other")));
    double loss[2];
    for (int k = 0; k < 2; k++) {
        char *json =
            expect_success("cleave score --data $SET/manifest.tsv --split train --pred %s --json", k ? "one" : "map");
        loss[k] = json_number(json, "weighted_hamming");
        free(json);
    }
    ck_assert_double_lt(loss[1], loss[0] + 0.05);
    expect_error(64, "--refine cannot be used with --decode min-loss",
                 "cleave segment -m x -o y z --decode min-loss --refine");
    expect_error(64, "--decode cannot be used with --boxes", "cleave segment -o y z --decode min-loss --boxes b");
}

TEST(four_numbers_are_one_box_of_each_image)
{
    const char *folder = temporary_folder();
    char command[1024];
    snprintf(command, sizeof command, "cd %s && \"$CLEAVE\" segment %s/images", folder, sample_set());
    const char *table = "image\tx\ty\tw\th\n0001.jpg\t20\t15\t50\t40\n0002.jpg\t20\t15\t50\t40\n";
    spill(here("boxes.tsv"), table, strlen(table));
    run_here("%s --boxes boxes.tsv -o table", command);
    run_here("%s/0001.jpg $SET/images/0002.jpg --boxes 20,15,50,40 -o typed", command);
    ck_assert(same_bytes(here("table/0001.png"), here("typed/0001.png")));
    ck_assert(same_bytes(here("table/0002.png"), here("typed/0002.png")));
    expect_output("at the border of that image", "%s/0001.jpg --boxes 20,15,5000,40 -o cut", command);
    expect_error(65, "--boxes 20,15,5000,40: reaches out of", "%s --boxes 20,15,5000,40 -o several", command);
    expect_error(64, "--boxes 20,15,0,40: width and height", "%s --boxes 20,15,0,40 -o flat", command);
    expect_error(64, "--boxes 20,15,40: a box has four numbers, X,Y,WIDTH,HEIGHT", "%s --boxes 20,15,40 -o three",
                 command);
    expect_error(65, "--boxes: box 40x30 at 900,900 is outside the image, which is ",
                 "%s/0001.jpg --boxes 900,900,40,30 -o outside", command);
    run_here("mv boxes.tsv 1,1,9,9");
    run_here("%s --boxes 1,1,9,9 -o file", command);
    ck_assert(same_bytes(here("table/0001.png"), here("file/0001.png")));
}

SETUP_ONCE(sample_setup, NULL)
enum { SPLIT_WIDTH = 150, SPLIT_HEIGHT = 100 };

/* A red disk in noise, which a bar of noise cuts in two, as photos/split.ppm; photos of one colour and of noise. */
static void make_split(void)
{
    static char bytes[64 + 3 * SPLIT_WIDTH * SPLIT_HEIGHT];
    uint32_t state = 1;
    run_here("mkdir photos");
    for (int kind = 0; kind < 3; kind++) {
        const int head = snprintf(bytes, sizeof bytes, "P6 %d %d 255\n", SPLIT_WIDTH, SPLIT_HEIGHT);
        for (int p = 0; p < SPLIT_WIDTH * SPLIT_HEIGHT; p++) {
            const double x = (p % SPLIT_WIDTH - 75) / 45., y = (p / SPLIT_WIDTH - 50) / 30.;
            const bool is_red = !kind && x * x + y * y < 1 && (p % SPLIT_WIDTH < 71 || p % SPLIT_WIDTH > 79);
            const uint32_t grey = kind == 1 ? 90 : 98 + noise(&state) % 60;
            const uint8_t pixel[3] = {is_red ? 200 : (uint8_t)grey, is_red ? 40 : (uint8_t)grey,
                                      is_red ? 30 : (uint8_t)grey};
            memcpy(bytes + head + 3 * p, pixel, 3);
        }
        static const char *const names[] = {"split", "uniform", "noise"};
        spill(here("photos/%s.ppm", names[kind]), bytes, (size_t)head + 3 * SPLIT_WIDTH * SPLIT_HEIGHT);
    }
}

TEST(what_is_in_a_box_is_one_object_in_every_export)
{
    make_split();
    run_here("printf 'image\tx\ty\tw\th\nsplit.ppm\t27\t17\t95\t65\n' >b.tsv && cleave segment --boxes b.tsv "
             "photos/split.ppm -o o --export coco,voc,yolo,labelme,geojson");
    run_here("test $(grep -c '\"segmentation\":\\[\\[.*\\],\\[' o/coco.json) = 1 && test $(grep -c category_id "
             "o/coco.json) = 1 && test $(grep -c '<object>' o/voc/Annotations/split.xml) = 1 && test $(wc -l "
             "<o/yolo/labels/split.txt) = 1 && test $(grep -c '\"group_id\":1' o/labelme/split.json) = 2 && test "
             "$(grep -c MultiPolygon o/geojson/split.geojson) = 1");
    /* its label image is what --objects writes, and what comes back */
    run_here(
        "cleave segment --boxes b.tsv photos/split.ppm -o p --objects --export voc,coco && cmp o/coco.json p/coco.json "
        "&& cmp o/voc/SegmentationObject/split.png p/voc/SegmentationObject/split.png && test $(tail -n +2 "
        "p/objects.tsv | wc -l) = 1");
    for (int k = 0; k < 3; k++) {
        static const char *const forms[] = {"coco o/coco.json", "yolo o/yolo", "geojson o/geojson"};
        run_here("cleave import %s --images photos -o back --overwrite && cleave score back o --json >score", forms[k]);
        char *json = slurp(here("score"), &(size_t){0});
        ck_assert_msg(json_number(json, "mean_iou") > 0.95, "%s: %s", forms[k], json);
        free(json);
        struct clv_object_map map = {0};
        must(clv_object_map_read(&map, here("back/instances/split.png"), 0, 0, NULL, err));
        ck_assert_msg(map.n_objects == 1, "%s: %d objects", forms[k], map.n_objects);
        clv_object_map_release(&map);
    }
    /* two boxes of one label that share a piece are two objects */
    run_here("printf 'image\tx\ty\tw\th\nsplit.ppm\t27\t17\t45\t65\nsplit.ppm\t79\t17\t43\t65\n' >b.tsv && cleave "
             "segment --boxes b.tsv photos/split.ppm -o two --export coco,voc && test $(grep -c category_id "
             "two/coco.json) = 2 && test $(grep -c '<object>' two/voc/Annotations/split.xml) = 2");
    /* a mask that is there gives the same exports */
    run_here(
        "cp -r two again && rm -r again/coco.json again/voc && cleave segment --boxes b.tsv photos/split.ppm -o again "
        "--export coco,voc --resume && cmp two/coco.json again/coco.json && cmp two/voc/SegmentationObject/split.png "
        "again/voc/SegmentationObject/split.png");
}

TEST(boxes_in_which_nothing_is_found_are_counted_and_named)
{
    make_split();
    run_here("printf 'image\tx\ty\tw\th\nnoise.ppm\t60\t40\t2\t2\nuniform.ppm\t30\t20\t80\t60\n"
             "split.ppm\t27\t17\t95\t65\n' >b.tsv");
    EXPECT_PARTS(expect_success("cleave segment --boxes b.tsv photos -o o --status - -t 2"),
                 "photos/noise.ppm\tdone\to/noise.png\tbox 1 of photos/noise.ppm (2x2 pixels, too small for an object "
                 "and what is around it",
                 "photos/split.ppm\tdone\to/split.png\t\n",
                 "\tbox 1 of photos/uniform.ppm (80x60 pixels, of an image of one colour)\n",
                 "warning: nothing was found in 2 of 3 boxes, the first is box 1 of photos/noise.ppm (2x2 pixels");
    char *output = expect_success("cleave segment --boxes 27,17,95,65 photos/split.ppm -o other");
    ck_assert_msg(!strstr(output, "nothing was found"), "%s", output);
    free(output);
}
