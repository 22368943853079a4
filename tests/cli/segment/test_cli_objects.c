/* cleave segment --objects. */
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

/* Lines of a file. */
static size_t count_lines(const char *path)
{
    size_t n = 0, size;
    char *bytes = slurp(path, &size);
    for (size_t i = 0; i < size; i++)
        n += bytes[i] == '\n';
    free(bytes);
    return n;
}

TEST(objects_are_numbered_and_listed_and_resuming_finds_the_same)
{
    struct clv_object_map map = {0};
    size_t n_objects = 0;
    run_here("ln -s $SET B && cleave segment --data B/manifest.tsv --boxes B/boxes.tsv -o plain/ --overlay -t 1 && "
             "cleave segment --data B/manifest.tsv --boxes B/boxes.tsv -o out/ --objects --overlay --report report -t "
             "2 && rm -r out/overlays plain/overlays");
    run_here("cd out/objects && ls *.png >../../names");
    size_t size;
    char *names = slurp(here("names"), &size);
    for (char *name = strtok(names, "\n"); name; name = strtok(NULL, "\n")) {
        must(clv_object_map_read(&map, here("out/objects/%s", name), 0, 0, NULL, err));
        n_objects += (size_t)map.n_objects;
        clv_object_map_release(&map);
        ck_assert(same_bytes(here("out/%s", name), here("plain/%s", name)));
    }
    free(names);
    ck_assert_uint_gt(n_objects, 11);
    ck_assert_uint_eq(count_lines(here("out/objects.tsv")), n_objects + 1);
    run_here(
        "grep -q ' object' report/index.html && cp out/objects.tsv before && rm $(ls out/*.png | head -n 3) && cleave "
        "segment --data B/manifest.tsv --boxes B/boxes.tsv -o out/ --objects --resume && cmp before out/objects.tsv");
    expect_error(65, "--overwrite does all images again",
                 "cd $HERE && cleave segment --data B/manifest.tsv --boxes B/boxes.tsv -o out/ --objects --resume "
                 "--min-area 100000");
    run_here("cleave segment --data B/manifest.tsv --boxes B/boxes.tsv -o inner/ --objects --clear-border --shard 2/2");
    ck_assert_uint_le(count_lines(here("inner/objects.tsv")), n_objects);
}

/* Everything beside a mask is of the mask that is there, also where somebody has edited it since. */
TEST(files_of_an_edited_mask_are_made_again)
{
    run_here(
        "cleave segment -m $MODEL $SET/images -o out --objects --overlay --export coco,yolo && cleave segment "
        "$SET/images/0001.jpg --boxes 5,5,40,40 -o edited && ! cmp -s edited/0001.png out/0001.png && cp "
        "edited/0001.png out && cleave segment -m $MODEL $SET/images -o out --objects --overlay --export coco,yolo "
        "--resume");
    run_here("cleave segment --from-masks out $SET/images -o made --objects --overlay --export coco,yolo && diff -r -x "
             ".cleave-run out made");
    expect_output("finished before", "cleave segment -m $MODEL $SET/images -o out --objects --overlay --export "
                                     "coco,yolo --resume");
}

TEST(the_rows_of_other_images_stay)
{
    run_here(
        "ln -s $SET/images && cleave segment images/ --boxes 5,5,40,40 -o out/ --objects && sort out/objects.tsv >a");
    run_here("cleave segment $(ls -d images/* | tail -n 1) --boxes 5,5,40,40 -o out/ --objects --overwrite && sort "
             "out/objects.tsv | cmp a -");
}

static bool is_near(const struct clv_object_map *map, int32_t x, int32_t y)
{
    for (int32_t v = y > 3 ? y - 3 : 0; v <= y + 3 && v < map->height; v++)
        for (int32_t u = x > 3 ? x - 3 : 0; u <= x + 3 && u < map->width; u++)
            if (map->objects[v * map->width + u])
                return true;
    return false;
}

TEST(overlays_tint_objects_and_nothing_else_of_the_mask)
{
    size_t n_cleared = 0, change = 0, size;
    run_here(
        "ln -s $SET B && cleave segment --data B/manifest.tsv --boxes B/boxes.tsv -o out/ --objects --clear-border "
        "--overlay && cd out/objects && ls *.png | sed 's/.png$//' >../../stems");
    char *stems = slurp(here("stems"), &size);
    for (char *stem = strtok(stems, "\n"); stem; stem = strtok(NULL, "\n")) {
        struct clv_object_map map = {0};
        struct clv_image image = {0}, overlay = {0}, mask = {0};
        must(clv_object_map_read(&map, here("out/objects/%s.png", stem), 0, 0, NULL, err));
        must(clv_image_read(&image, here("B/images/%s.jpg", stem), NULL, err));
        must(clv_image_read(&overlay, here("out/overlays/%s.jpg", stem), NULL, err));
        must(clv_image_read(&mask, here("out/%s.png", stem), NULL, err));
        for (int32_t y = 0; y < map.height; y++)
            for (int32_t x = 0; x < map.width; x++) {
                size_t at = 3 * ((size_t)y * (size_t)map.width + (size_t)x);
                bool is_foreground = mask.pixels[at] || mask.pixels[at + 1] || mask.pixels[at + 2];
                if (!is_foreground || is_near(&map, x, y))
                    continue;
                n_cleared++;
                for (size_t c = 0; c < 3; c++)
                    change += (size_t)abs(image.pixels[at + c] - overlay.pixels[at + c]);
            }
        clv_object_map_release(&map);
        clv_image_release(&image);
        clv_image_release(&overlay);
        clv_image_release(&mask);
    }
    free(stems);
    ck_assert_uint_gt(n_cleared, 0);
    ck_assert_uint_lt(change, 3 * 5 * n_cleared); /* what JPEG changes; a tint is five times as much */
}

TEST(exports_have_an_annotation_for_each_object)
{
    run_here("ln -s $SET B && cleave segment --data B/manifest.tsv --boxes B/boxes.tsv -o out/ --objects --min-area 40 "
             "--export coco && grep -o '\"area\"' out/coco.json >areas");
    size_t n = count_lines(here("areas"));
    ck_assert_uint_gt(n, 0);
    ck_assert_uint_eq(n + 1, count_lines(here("out/objects.tsv")));
}

TEST(objects_need_a_folder_and_images)
{
    run_here("ln -s $SET B");
    static const char *const wrong[][2] = {
        {"-o - --objects", "--objects cannot be used with -o -"},
        {"-o one.png --objects", "--objects cannot be used with -o one.png: it writes several files"},
        {"-o out --clear-border", "--clear-border needs --objects"}};
    for (size_t i = 0; i < 3; i++)
        expect_error(64, wrong[i][1], "cleave segment --boxes 1,1,9,9 %s $(ls -d B/images/* | head -n 1)", wrong[i][0]);
}

SETUP_ONCE(sample_setup, NULL)
