/* cleave segment --objects. */
#include <stdlib.h>
#include <string.h>

#include "object/object.h"
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
    run_here("cleave segment --data B/manifest.tsv --boxes B/boxes.tsv -o inner/ --objects --clear-border --shard 2/2");
    ck_assert_uint_le(count_lines(here("inner/objects-00002-of-00002.tsv")), n_objects);
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
    static const char *const wrong[][2] = {{"-o - --objects", "leave out --objects"},
                                           {"-o one.png --objects", "--objects writes several"},
                                           {"-o out --clear-border", "--objects is missing"}};
    for (size_t i = 0; i < 3; i++)
        expect_error(64, wrong[i][1], "cleave segment --boxes 1,1,9,9 %s $(ls -d B/images/* | head -n 1)", wrong[i][0]);
}

SETUP_ONCE(sample_setup, NULL)
