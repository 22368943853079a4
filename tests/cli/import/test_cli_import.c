/* cleave import: what is written, what is refused. tools/first-hour walks through the formats. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support/sample.h"
#include "support/support.h"

#define COCO(images, annotations)                                                                                      \
    "{\"images\":[" images "],\"categories\":[{\"id\":1,\"name\":\"cow\"},{\"id\":2,\"name\":\"dog\"}],"               \
    "\"annotations\":[" annotations "]}"
#define IMAGE(id, name) "{\"id\":" id ",\"file_name\":\"" name "\"}"
#define OBJECT(id, category, polygons)                                                                                 \
    "{\"image_id\":" id ",\"category_id\":" category ",\"segmentation\":" polygons "}"

/* A folder with photos/: small images of the names, all of different bytes but `copies`. */
static const char *make_photos(const char *names)
{
    static char folder[256];
    snprintf(folder, sizeof folder, "%s", temporary_folder());
    OWNED_ARRAY char *list = strdup(names);
    char *cursor = list, *name;
    for (int i = 0; (name = strsep(&cursor, " ")); i++) {
        uint8_t pixels[8 * 6] = {(uint8_t)i, (uint8_t)(i >> 8)};
        struct clv_image image = {.width = 8, .height = 6, .channels = 1, .pixels = pixels};
        const char *path = here("photos/%s", name);
        OWNED_ARRAY char *below = strdup(path);
        *strrchr(below, '/') = 0;
        run_here("mkdir -p '%s'", below);
        must(clv_png_write(path, &image, err));
    }
    return folder;
}

static void write_annotations(const char *folder, const char *text)
{
    spill(formatted("%s/coco.json", folder), text, strlen(text));
}

TEST(outlines_become_masks_the_smaller_object_in_front)
{
    const char *folder = make_photos("a.png b.png c.png d.png");
    write_annotations(
        folder, COCO(IMAGE("1", "a.png") "," IMAGE("2", "b.png") "," IMAGE("3", "c.png") "," IMAGE("4", "gone.png"),
                     OBJECT("1", "2", "[[2,2,4,2,4,4,2,4]]") "," OBJECT(
                         "1", "1", "[[1,1,6,1,6,5,1,5]]") ","
                                                          "{\"image_id\":2,\"category_id\":2,\"bbox\":[1,2,3,4]}"));
    EXPECT_PARTS(expect_success("cd %s && cleave import coco coco.json --images photos -o set", folder),
                 "set: 3 images, 2 with masks, 1 with boxes",
                 "names 1 image that is not in photos; the first is gone.png",
                 "says nothing of 1 of 4 images, which were skipped; the first is d.png");
    static const uint8_t wanted[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 2, 2, 1, 1, 0, 0,
                                     0, 1, 2, 2, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    OWNED(clv_set_release) struct clv_set set = {0};
    OWNED(clv_mask_release) struct clv_mask mask = {0};
    must(clv_set_read(&set, formatted("%s/set/manifest.tsv", folder), err));
    ck_assert_uint_eq(set.n_items, 3);
    must(clv_mask_read(&mask, set.items[0].mask, &set.labels, 8, 6, NULL, err));
    /* dog was met first */
    for (size_t i = 0; i < sizeof wanted; i++)
        ck_assert_int_eq(mask.labels[i], wanted[i] == 1 ? 2 : wanted[i] == 2 ? 1 : 0);
    ck_assert(!set.items[1].mask && set.items[1].boxes && set.items[2].mask);
    ck_assert_str_eq(set.labels.names[1], "dog");
    run_here("cd %s && grep -q '^images/b.png\tdog\t1\t2\t3\t4$' set/boxes.tsv", folder);
}

TEST(results_of_earlier_runs_are_no_photos)
{
    make_photos("deep/a.png deep/b.png");
    write_annotations(here("photos"), COCO(IMAGE("1", "a.png") "," IMAGE("2", "b.png"), ""));
    run_here("mkdir -p photos/out/overlays && touch photos/out/.cleave-run && cp photos/deep/* photos/out && cp "
             "photos/deep/* photos/out/overlays");
    expect_output("set: 2 images, 2 with masks", "cleave import coco photos/coco.json -o set");
    run_here(
        "[ \"$(find set/images -type f | sort)\" = \"$(printf 'set/images/deep/a.png\nset/images/deep/b.png')\" ]");
}

TEST(an_annotation_is_of_one_photo)
{
    make_photos("deep/a.png deep/a.jpg b.png copies/b.png");
    write_annotations(here("photos"), COCO(IMAGE("1", "a.png") "," IMAGE("2", "b.png"), ""));
    expect_output("says nothing of 2 of 4 images", "cleave import coco photos/coco.json -o set");
    run_here("[ \"$(cd set/images && find . -type f | sort)\" = \"$(printf './b.png\n./deep/a.png')\" ]");
    run_here("mv photos/b.png photos/deep");
    expect_error(65, "coco.json: its image b.png could be copies/b.png or deep/b.png in photos; --images FOLDER says",
                 "cleave import coco photos/coco.json -o again");
}

TEST(splits_are_seeded_and_keep_copies_and_folders_together)
{
    char names[4096] = "", images[8192] = "", ids[32];
    for (int i = 0; i < 24; i++) {
        snprintf(names + strlen(names), sizeof names - strlen(names), "%ss%d/%d.png", i ? " " : "", i % 12, i);
        snprintf(ids, sizeof ids, "%d", i);
        snprintf(images + strlen(images), sizeof images - strlen(images), "%s{\"id\":%d,\"file_name\":\"s%d/%d.png\"}",
                 i ? "," : "", i, i % 12, i);
    }
    const char *folder = make_photos(names);
    run_here("cd %s/photos && cp s0/0.png s1/1.png && cp s0/0.png s2/2.png", folder);
    OWNED_ARRAY char *text = malloc(20000);
    snprintf(text, 20000, "{\"images\":[%s],\"categories\":[],\"annotations\":[]}", images);
    write_annotations(folder, text);
    for (int seed = 1; seed <= 2; seed++) {
        OWNED_ARRAY char *output = expect_success(
            "cd %s && cleave import coco coco.json --images photos --seed %d -o %d && cleave import -q coco coco.json "
            "--images photos --seed %d -o again%d && cmp %d/manifest.tsv again%d/manifest.tsv && awk -F'[\\t/]' 'NR > "
            "1 {print $2, $NF}' %d/manifest.tsv | sort -u | cut -d' ' -f1 | sort | uniq -d",
            folder, seed, seed, seed, seed, seed, seed, seed);
        ck_assert_msg(strstr(output, "2 images are there more than once; copies are in one split") != NULL, "%s",
                      output);
        ck_assert_msg(strstr(output, "the images of each of 12 folders are in one split") != NULL, "%s", output);
        ck_assert_msg(strstr(output, "\ns") == NULL, "a folder in two splits: %s", output);
        run_here("cd %s && test 1 = $(grep -E '/(0|1|2).png' %d/manifest.tsv | awk -F'\\t' '{print $NF}' | sort -u | "
                 "wc -l) && grep -q test$ %d/manifest.tsv && grep -q train$ %d/manifest.tsv",
                 folder, seed, seed, seed);
    }
    ck_assert(!same_bytes(formatted("%s/1/manifest.tsv", folder), formatted("%s/2/manifest.tsv", folder)));
}

TEST(bad_annotations_and_outputs_are_refused)
{
    const char *folder = make_photos("a.png b.png");
    write_annotations(folder, COCO(IMAGE("1", "a.png") "," IMAGE("2", "b.png"),
                                   OBJECT("1", "1", "{\"size\":[6,8],\"counts\":[0,48]}") "," OBJECT(
                                       "2", "1", "{\"size\":[6,8],\"counts\":[0,48]}")));
    expect_error(64, "which format", "cd %s && cleave import -o set", folder);
    expect_error(64, "\"xml\" is not a format; there are coco", "cd %s && cleave import xml coco.json -o set", folder);
    expect_error(64, "which file", "cd %s && cleave import coco -o set", folder);
    expect_error(64, "import: no output; add -o FOLDER", "cd %s && cleave import coco coco.json", folder);
    expect_error(64, "a format and one file", "cd %s && cleave import coco coco.json more -o set", folder);
    expect_error(65, "coco.json: is not what labelme writes",
                 "cd %s && cleave import labelme coco.json --images photos -o set", folder);
    expect_error(66, "nowhere", "cd %s && cleave import coco coco.json --images nowhere -o set", folder);
    expect_error(66, "has no SegmentationClass/", "cd %s && cleave import voc photos -o set", folder);
    expect_error(73, "photos: folder is not empty", "cd %s && cleave import coco coco.json -o photos", folder);
    ck_assert_int_ne(run_command(NULL, "ls %s/set", folder), 0); /* nothing was written */
    run_here("cd %s && cleave import coco coco.json --images photos -o set", folder);
    expect_error(73, "set: folder is not empty", "cd %s && cleave import coco coco.json --images photos -o set",
                 folder);
}

/* A VOC folder: photos/ as JPEGImages, masks of 8 x 6 pixels with one pixel of value 1, and lists of the splits. */
static void make_voc(const char *folder)
{
    static const char *const names[] = {"a.png", "b.png", "c.png", "d.png"};
    run_here("cd %s && mkdir -p voc/SegmentationClass voc/ImageSets/Segmentation && cp -r photos voc/JPEGImages && cd "
             "voc/ImageSets/Segmentation && printf 'a\\nbb\\n' >train.txt && printf 'c\\r\\n' >val.txt && printf "
             "'xb\\nb' >test.txt",
             folder);
    for (int i = 0; i < 4; i++) {
        const uint8_t labels[48] = {1};
        must(clv_png_write_labels(formatted("%s/voc/SegmentationClass/%s", folder, names[i]), i == 3 ? 6 : 8,
                                  i == 3 ? 8 : 6, labels, NULL, 0, err));
    }
}

TEST(voc_masks_keep_their_splits_and_bad_ones_are_named)
{
    const char *folder = make_photos("a.png b.png c.png d.png");
    make_voc(folder);
    run_here("cd %s && cp voc/SegmentationClass/a.png voc/SegmentationClass/nobody.png", folder);
    expect_error(65, "2 images could not be taken over", "cd %s && cleave import voc voc -o set", folder);
    OWNED_ARRAY char *table = expect_success("cd %s && tail -n +2 set/manifest.tsv | cut -f1,3 | sort", folder);
    ck_assert_str_eq(table, "images/a.png\ttrain\nimages/b.png\ttest\nimages/c.png\tval\n");
    expect_error(65, "d.png: mask is 6x8, image is 8x6", "cd %s && cleave import voc voc -o again", folder);
    expect_error(65, "nobody.png: has no image in", "cd %s && cleave import voc voc -o third", folder);
    expect_error(66, "no mask in it can be taken over",
                 "cd %s && rm voc/SegmentationClass/[abc].png && cleave import voc voc -o none", folder);
    run_here("cd %s && test ! -e none", folder);
}

TEST(what_an_image_lacks_costs_that_image)
{
    const char *folder = make_photos("a.png b.png c.png");
    write_annotations(folder, COCO(IMAGE("1", "a.png") "," IMAGE("2", "b.png"),
                                   OBJECT("1", "1", "[[1,1,6,1,6,5]]") "," OBJECT(
                                       "2", "1", "[[1,1,6,1,6,5]]") "," OBJECT("2", "2", "[[1,1]]")));
    run_here("cd %s && mv coco.json photos && echo x >photos/b.png", folder);
    /* Images are next to the annotations unless --images says where. */
    OWNED_ARRAY char *output = NULL;
    int code = run_command(&output, "cd %s && cleave import coco photos/coco.json -o set", folder);
    ck_assert_int_eq(code, 65);
    ck_assert_msg(strstr(output, "1 annotation cannot be used, so that what it marks is void: "), "%s", output);
    ck_assert_msg(strstr(output, "b.png: not a PNG"), "%s", output);
    ck_assert_msg(strstr(output, "set: 1 image, 1 with masks, 0 with boxes; 1 to train on"), "%s", output);
    run_here("cd %s && mkdir others && cp photos/c.png others/z.png", folder);
    expect_error(65, "says something of none of the 1 images in others, such as z.png; it has a.png",
                 "cd %s && cleave import coco photos/coco.json --images others -o other", folder);
}

/* A polygon of no pairs, and one of a category that is not there: their objects are not known to be background. */
TEST(what_cannot_be_used_is_left_out_of_its_image_and_the_rest_stays)
{
    const char *folder = make_photos("a.png b.png");
    write_annotations(
        folder,
        COCO(IMAGE("1", "a.png") "," IMAGE("2", "b.png"),
             OBJECT("1", "1",
                    "[[1,1,3,1,3,3,1,3]]") ","
                                           "{\"image_id\":1,\"category_id\":1,\"segmentation\":[[5,2,6]],\"bbox\":[5,2,"
                                           "2,3]}," OBJECT("2", "1", "[[1,1,3,1,3,3,1,3]]") "," OBJECT(
                                               "2", "9", "[[5,2,7,2,7,5,5,5]]")));
    EXPECT_PARTS(
        expect_success("cd %s && cleave import coco coco.json --images photos -o set 2>&1", folder),
        "2 annotations cannot be used, so that what they mark is void, the first is coco.json: annotation 2: its "
        "outline is not polygons",
        "void, neither object nor background: 1 polygon that is none, 1 annotation without a known label",
        "set: 2 images, 2 with masks, 0 with boxes");
    OWNED(clv_set_release) struct clv_set set = {0};
    must(clv_set_read(&set, formatted("%s/set/manifest.tsv", folder), err));
    for (size_t i = 0; i < 2; i++) {
        OWNED(clv_mask_release) struct clv_mask mask = {0};
        must(clv_mask_read(&mask, set.items[i].mask, &set.labels, 8, 6, NULL, err));
        for (int p = 0; p < 8 * 6; p++) {
            int x = p % 8, y = p / 8, object = x >= 1 && x < 3 && y >= 1 && y < 3;
            bool is_void = x >= 5 && x < 7 && y >= 2 && y < 5;
            ck_assert_int_eq(mask.labels[p] == CLV_VOID, is_void);
            ck_assert_int_eq(!is_void && mask.labels[p] != 0, object);
        }
    }
}

#define SIZED(id, name) "{\"id\":" id ",\"file_name\":\"" name "\",\"width\":8,\"height\":6}"

TEST(runs_of_another_size_than_the_image_are_skipped_by_name)
{
    const char *folder = make_photos("a.png b.png c.png");
    write_annotations(
        folder, COCO(SIZED("1", "a.png") "," SIZED("2", "b.png") "," IMAGE("3", "c.png"),
                     OBJECT("1", "1", "{\"size\":[6,8],\"counts\":[0,48]}") "," OBJECT(
                         "1", "2", "{\"size\":[12,8],\"counts\":[0,96]}") "," OBJECT("2", "1",
                                                                                     "{\"size\":[6,16],\"counts\":[0,"
                                                                                     "96]}") "," OBJECT("3", "1",
                                                                                                        "{\"size\":[8,"
                                                                                                        "6],\"counts\":"
                                                                                                        "[0,48]}")));
    OWNED_ARRAY char *output = NULL;
    int code = run_command(&output, "cd %s && cleave import coco coco.json --images photos -o set", folder);
    ck_assert_int_eq(code, 65);
    ck_assert_msg(
        strstr(
            output,
            "2 annotations cannot be used, so that what they mark is void, the first is coco.json: annotation 2: runs "
            "of a mask of 8x12 pixels, its image is 8x6"),
        "%s", output);
    ck_assert_msg(strstr(output, "coco.json: annotation 4: runs of a mask of 6x8 pixels, c.png is 8x6"), "%s", output);
    ck_assert_msg(strstr(output, "set: 1 image, 1 with masks, 0 with boxes; 1 to train on"), "%s", output);
    ck_assert_msg(strstr(output, "says nothing of 1 of 3 images"), "%s", output);
    run_here("cd %s && [ \"$(ls set/masks)\" = a.png ]", folder);
}

/* A name that no image has and a thing that cannot be used are distinguished. */
TEST(annotations_of_which_nothing_can_be_used_do_not_claim_to_know_no_image)
{
    const char *folder = make_photos("a.png b.png");
    write_annotations(folder, COCO(SIZED("1", "a.png"), OBJECT("1", "1", "{\"size\":[60,80],\"counts\":[0,4800]}")));
    expect_error(65, "coco.json: nothing that it says of 1 of the 2 images in photos can be used",
                 "cd %s && cleave import coco coco.json --images photos -o set", folder);
    run_here("cd %s && test ! -e set", folder);
}

TEST(the_share_to_train_on_and_folders_kept_together_are_chosen)
{
    char names[1024] = "", images[4096] = "";
    for (int i = 0; i < 20; i++) {
        snprintf(names + strlen(names), sizeof names - strlen(names), "%ss%d/%d.png", i ? " " : "", i % 2, i);
        snprintf(images + strlen(images), sizeof images - strlen(images), "%s{\"id\":%d,\"file_name\":\"s%d/%d.png\"}",
                 i ? "," : "", i, i % 2, i);
    }
    const char *folder = make_photos(names);
    OWNED_ARRAY char *text =
        strdup(formatted("{\"images\":[%s],\"categories\":[{\"id\":1,\"name\":\"cow\"}],\"annotations\":[]}", images));
    write_annotations(folder, text);
    static const struct {
        const char *options;
        int n_train;
    } cases[] = {{"--group-by none --train-share 0.25", 5},
                 {"--group-by none --train-share 1", 20},
                 {"--group-by none --train-share 0.87", 17}, /* 2.6 of 20 are 3 */
                 {"--group-by folder "
                  "--train-share 0.5",
                  10}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        OWNED_ARRAY char *count =
            expect_success("cd %s && cleave import -q coco coco.json --images photos %s -o set%zu >reported "
                           "&& grep -c 'train$' set%zu/manifest.tsv",
                           folder, cases[k].options, k, k);
        ck_assert_int_eq(strtol(count, NULL, 10), cases[k].n_train);
    }
}

/* A folder of eight does not follow the first of two test images; alone it may. */
TEST(a_large_folder_does_not_overfill_the_test_split)
{
    char names[256] = "a/0.png b/0.png", images[1024];
    int n_test, n_small = 0;
    for (int i = 0; i < 8; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), " s/%d.png", i);
    snprintf(images, sizeof images, IMAGE("1", "a/0.png") "," IMAGE("2", "b/0.png"));
    for (int i = 0; i < 8; i++)
        snprintf(images + strlen(images), sizeof images - strlen(images), ",{\"id\":%d,\"file_name\":\"s/%d.png\"}",
                 i + 3, i);
    const char *folder = make_photos(names);
    OWNED_ARRAY char *text =
        strdup(formatted("{\"images\":[%s],\"categories\":[{\"id\":1,\"name\":\"cow\"}],\"annotations\":[]}", images));
    write_annotations(folder, text);
    for (int seed = 0; seed < 6; seed++) {
        OWNED_ARRAY char *count =
            expect_success("cd %s && cleave import -q coco coco.json --images photos --group-by folder "
                           "--seed %d -o seed%d >reported && grep -c 'test$' seed%d/manifest.tsv",
                           folder, seed, seed, seed);
        n_test = atoi(count);
        ck_assert_msg(n_test == 2 || n_test == 8, "seed %d: %d", seed, n_test);
        n_small += n_test == 2;
    }
    ck_assert(n_small > 0 && n_small < 6);
}

/* photos/ of 60 images with a box-shaped object each, imported into reference/. */
static const char *make_many(void)
{
    const char *folder = make_photos("0.png");
    OWNED(text_release) struct text text = {0};
    text_init(&text, 1 << 20);
    text_put(&text, "{\"images\":[");
    for (int i = 0; i < 60; i++)
        text_printf(&text, "%s{\"id\":%d,\"file_name\":\"%d.png\"}", i ? "," : "", i, i);
    text_put(&text, "],\"categories\":[{\"id\":1,\"name\":\"cow\"}],\"annotations\":[");
    for (int i = 0; i < 60; i++)
        text_printf(&text, "%s" OBJECT("%d", "1", "[[1,1,6,1,6,5,1,5]]"), i ? "," : "", i);
    text_put(&text, "]}");
    write_annotations(folder, text.bytes);
    run_here("cd %s && for i in $(seq 59); do cp photos/0.png photos/$i.png; done && cleave import -q coco coco.json "
             "--images photos -o reference",
             folder);
    return folder;
}

#define IMPORT "cleave import -q coco coco.json --images photos -o set "
/* Shell: waits until a file of the set in work is there, or the set itself. */
#define UNTIL(file) "until [ -e .set.importing/" file " ] || [ -e set ]; do sleep 0.001; done; "

TEST(an_import_that_is_killed_leaves_no_set_and_the_next_one_makes_it_whole)
{
    const char *folder = make_many();
    static const char *const points[] = {"masks", "masks/1.png", "masks/30.png", "images", "images/40.png"};
    int n_in_work = 0;
    for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
        run_here("cd %s && { " IMPORT
                 " >said 2>&1 & }; work=$!; " UNTIL("%s") "kill -KILL $work; wait $work; "
                                                          "if [ -e set ]; then diff -r set reference; fi",
                 folder, points[k]);
        n_in_work += run_command(NULL, "cd %s && [ -e .set.importing ] && [ ! -e set ]", folder) == 0;
        run_here("cd %s && rm -rf set && touch .set.importing/masks/more.png; " IMPORT
                 " && diff -r set reference && rm -r set && [ \"$(ls -A)\" = \"coco.json\nphotos\nreference\nsaid\" ]",
                 folder);
    }
    ck_assert_int_ge(n_in_work, 3);
}

TEST(an_import_that_is_asked_to_stop_leaves_nothing)
{
    const char *folder = make_many();
    ck_assert_int_eq(run_command(NULL,
                                 "cd %s && { " IMPORT " & }; work=$!; " UNTIL("masks/3.png") "kill -TERM $work; "
                                                                                             "wait $work",
                                 folder),
                     143);
    run_here("cd %s && [ \"$(ls -A)\" = \"coco.json\nphotos\nreference\" ]", folder);
}

TEST(one_import_at_a_time_makes_a_set)
{
    const char *folder = make_many();
    OWNED_ARRAY char *output = NULL;
    int code =
        run_command(&output,
                    "cd %s && { " IMPORT " & }; first=$!; " UNTIL(
                        "masks/1.png") "kill -STOP $first; " IMPORT
                                       "--overwrite; second=$?; kill -CONT $first; wait $first || exit 1; exit $second",
                    folder);
    ck_assert_msg(code == 75 && strstr(output, "set: another run writes there now"), "%d: %s", code, output);
    run_here("cd %s && diff -r set reference", folder);
    expect_error(73, "set: folder is not empty (it holds ", "cd %s && " IMPORT, folder);
    expect_error(73, "; --overwrite replaces it", "cd %s && " IMPORT, folder);
}

TEST(a_set_is_replaced_whole_and_nothing_else_is)
{
    const char *folder = make_photos("a.png b.png");
    write_annotations(folder, COCO(IMAGE("1", "a.png"), OBJECT("1", "1", "[[1,1,6,1,6,5]]")));
    run_here("cd %s && " IMPORT " && cp -r set first && chmod 2750 set && ln -s set link", folder);
    write_annotations(folder, COCO(IMAGE("1", "b.png"), OBJECT("1", "1", "[[1,1,6,1,6,5]]")));
    run_here("cd %s && cleave import -q coco coco.json --images photos -o set/ --overwrite && [ \"$(cd set && find . "
             "-type f | sort)\" = \"./images/b.png\n./instances/b.png\n./labels.tsv\n./manifest.tsv\n./masks/b.png\" ] "
             "&& [ \"$(stat -c %%a set)\" = 2750 ] && [ \"$(ls -A)\" = \"coco.json\nfirst\nlink\nphotos\nset\" ]",
             folder);
    /* By a link, which stays one. */
    run_here("cd %s && cleave import -q coco coco.json --images photos -o link --overwrite && [ -L link ] && diff -r "
             "link set",
             folder);
    expect_error(73, "is the same file as the input set/images/b.png",
                 "cd %s && cleave import coco coco.json --images set/images -o set --overwrite", folder);
    expect_error(73, "the working folder or a mounted disk",
                 "cd %s/set && cleave import coco ../coco.json --images ../photos -o . --overwrite", folder);
    expect_error(73, "set: is not a set that import made (it holds .note), and is not replaced",
                 "cd %s && touch set/.note && " IMPORT " --overwrite", folder);
    expect_error(73, "photos: is not a set that import made",
                 "cd %s && cleave import coco coco.json --images photos -o photos --overwrite", folder);
    expect_error(73, "said: is not a folder",
                 "cd %s && touch said && cleave import coco coco.json --images photos -o said", folder);
    run_here("cd %s && [ -e set/images/b.png ] && mkdir empty && cleave import -q coco coco.json --images photos -o "
             "empty && [ -e empty/manifest.tsv ] && cleave import -q coco coco.json --images photos -o new/folder/ && "
             "diff -r empty new/folder",
             folder);
}

/* Masks of 16384 x 16384 pixels, claimed in 130 bytes each, on an image of 107 x 51. */
TEST(the_hostile_run_lengths_are_imported_or_refused)
{
    const char *hostile = real_data("the_hostile_run_lengths_are_imported_or_refused", "hostile");
    if (!hostile)
        return;
    run_here("cp %s/*rle-* $HERE", hostile);
    uint8_t pixels[107 * 51] = {0};
    struct clv_image image = {.width = 107, .height = 51, .channels = 1, .pixels = pixels};
    must(clv_png_write(here("0001.png"), &image, err));
    static const char *const names[] = {"rle-slow-coco", "coco-rle-other-size"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        expect_output("annotation 1: runs of a mask of", "rm -rf set; cleave import coco %s.json --images . -o set",
                      names[k]);
    run_here("rm -r set; cleave import cvat rle-slow-cvat.xml --images . -o set");
    OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
    must(clv_indexed_image_read(&mask, here("set/masks/0001.png"), NULL, err));
    for (int p = 0; p < 107 * 51; p++)
        ck_assert_int_eq(mask.values[p], 1);
}
