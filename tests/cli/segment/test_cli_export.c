/* cleave segment --export and --cutout: what other programs read, and what comes back by cleave import. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "data/shapes/shapes.h"
#include "image/image.h"
#include "support/sample.h"
#include "support/support.h"

static char model_path[256]; /* of three labels: background, left, right */

/* The animals' left and right halves are labels of their own. */
static void setup(void)
{
    sample_setup();
    struct clv_set set = {0};
    const char *folder = temporary_folder(), *table = "value\tname\n0\tbackground\n1\tthe left\n2\tright & <rest>\n";
    run_here("mkdir -p halves && cp -r $SET/. halves");
    must(clv_set_read(&set, here("halves/manifest.tsv"), err));
    for (size_t i = 0; i < set.n_items; i++) {
        struct clv_mask mask = {0};
        must(clv_mask_read(&mask, set.items[i].mask, &set.labels, 0, 0, NULL, err));
        for (int p = 0; p < mask.width * mask.height; p++)
            mask.labels[p] = mask.labels[p] == 1 && p % mask.width > mask.width / 2 ? 2 : mask.labels[p];
        must(clv_png_write_labels(set.items[i].mask, mask.width, mask.height, mask.labels, NULL, 0, err));
        clv_mask_release(&mask);
    }
    clv_set_release(&set);
    spill(here("halves/labels.tsv"), table, strlen(table));
    snprintf(model_path, sizeof model_path, "%s/halves.cleave", folder);
    run_here("cleave train -q --learner ssvm --data halves/manifest.tsv %s -o %s", SAMPLE_TRAINING, model_path);
}

/* Counts of pixels of an object: in both masks, and in either. */
struct overlap {
    int64_t both, either, wrong;
};

/* Compares the masks of `set`, which was imported, with those in `out` of labels of the model, by names. */
static struct overlap compare(const char *set_path, const char *out, const char *const *names)
{
    struct clv_set set = {0};
    struct overlap overlap = {0, 0, 0};
    must(clv_set_read(&set, formatted("%s/manifest.tsv", set_path), err));
    ck_assert_uint_eq(set.n_items, 12);
    for (size_t i = 0; i < set.n_items; i++) {
        struct clv_mask mask = {0};
        struct clv_indexed_image own = {0};
        char *stem = path_stem(set.items[i].name);
        must(clv_mask_read(&mask, set.items[i].mask, &set.labels, 0, 0, NULL, err));
        must(clv_indexed_image_read(&own, formatted("%s/%s.png", out, stem), NULL, err));
        ck_assert(own.width == mask.width && own.height == mask.height);
        for (int p = 0; p < mask.width * mask.height; p++) {
            bool same = strcmp(set.labels.names[mask.labels[p]], names[own.values[p]]) == 0;
            overlap.both += same && own.values[p];
            overlap.either += own.values[p] || mask.labels[p];
            overlap.wrong += !same;
        }
        array_free(stem);
        clv_mask_release(&mask);
        clv_indexed_image_release(&own);
    }
    clv_set_release(&set);
    return overlap;
}

static const char *const three_names[] = {"background", "the left", "right & <rest>"};

/* Segments the sample with --export and imports the result. */
static struct overlap round_trip(const char *options, const char *form, const char *file)
{
    char out[64];
    snprintf(out, sizeof out, "%s%zu", form, strlen(options));
    run_here("cleave segment -m %s $SET/images -o %s --export %s %s", model_path, out, form, options);
    run_here("cleave import %s %s/%s --images $SET/images -o %s-set", form, out, file, out);
    return compare(here("%s-set", out), here("%s", out), three_names);
}

TEST(masks_come_back_exactly_from_run_lengths_and_voc)
{
    ck_assert_int_eq(round_trip("--rle", "coco", "coco.json").wrong, 0);
    ck_assert_int_eq(round_trip("", "voc", "voc").wrong, 0);
    run_here("test $(wc -l <voc0/voc/ImageSets/Segmentation/default.txt) = 12 && grep -q 'right &amp; &lt;rest&gt;' -r "
             "voc0/voc/Annotations");
    /* Boxes of VOC are read where they are. */
    run_here("cleave segment $SET/images --boxes voc0/voc/Annotations -o cut");
}

TEST(polygons_come_back_within_the_tolerance)
{
    static const char *const forms[][2] = {{"coco", "coco.json"}, {"labelme", "labelme"}, {"yolo", "yolo"}};
    for (int k = 0; k < 3; k++) {
        struct overlap exact = round_trip("--tolerance 0", forms[k][0], forms[k][1]);
        ck_assert_msg(exact.wrong == 0, "%s: %lld pixels differ", forms[k][0], (long long)exact.wrong);
        struct overlap near = round_trip("", forms[k][0], forms[k][1]);
        double iou = (double)near.both / (double)near.either;
        ck_assert_msg(iou > 0.95, "%s: IoU %g", forms[k][0], iou); /* of objects of some 20 pixels */
    }
    run_here("grep -q '\"right & <rest>\"' yolo0/yolo/data.yaml && rm yolo0/yolo/classes.txt && cleave import yolo "
             "yolo0/yolo --images $SET/images -o by-yaml && diff by-yaml/labels.tsv yolo0-set/labels.tsv");
}

TEST(other_programs_find_what_they_expect)
{
    round_trip("", "coco", "coco.json");
    round_trip("", "labelme", "labelme");
    if (run_command(NULL, "python3 -c 'import json'")) {
        skip("other_programs_find_what_they_expect", "there is no python3");
        return;
    }
    spill(here("check.py"), NULL, 0);
    static const char script[] =
        "import json, os, glob\n"
        "d = json.load(open('coco0/coco.json'))\n"
        "images = {i['id']: i for i in d['images']}\n"
        "assert len(images) == len(d['images']) == 12, d['images']\n"
        "assert [c['name'] for c in d['categories']] == ['the left', 'right & <rest>']\n"
        "assert len({a['id'] for a in d['annotations']}) == len(d['annotations']) > 12\n"
        "for a in d['annotations']:\n"
        "    i, s, (x, y, w, h) = images[a['image_id']], a['segmentation'], a['bbox']\n"
        "    assert 0 <= x and 0 <= y and x + w <= i['width'] and y + h <= i['height'] and a['area'] <= w * h\n"
        "    assert a['iscrowd'] == 0 and a['category_id'] in (1, 2) and os.path.splitext(i['file_name'])[1] == "
        "'.jpg'\n"
        "    if isinstance(s, list):\n"
        "        assert len(s) == 1 and len(s[0]) >= 6 and len(s[0]) % 2 == 0\n"
        "        assert all(x <= p <= x + w for p in s[0][::2]) and all(y <= p <= y + h for p in s[0][1::2])\n"
        "    else:\n"
        "        assert s['size'] == [i['height'], i['width']] and isinstance(s['counts'], str)\n"
        "files = glob.glob('labelme0/labelme/*.json')\n"
        "assert len(files) == 12\n"
        "for f in files:\n"
        "    d = json.load(open(f))\n"
        "    assert os.path.exists(os.path.join(os.path.dirname(f), d['imagePath'])), d['imagePath']\n"
        "    assert all(len(s['points']) >= 3 and s['shape_type'] == 'polygon' for s in d['shapes'])\n";
    spill(here("check.py"), script, sizeof script - 1);
    run_here("python3 check.py");
}

/* Everything below `folder` but COCO's file must be as in the undisturbed run, and that file too. */
TEST(a_resumed_run_has_all_images_in_its_one_file)
{
    const char *folder = temporary_folder();
    char command[1024];
    snprintf(command, sizeof command, "cd %s && \"$CLEAVE\" segment -m %s %s/images --export coco --cutout", folder,
             model_path, sample_set());
    run_here("%s -o whole", command);
    run_here("%s -o part -t 3", command);
    ck_assert(same_bytes(here("whole"), here("part")));
    expect_error(73, "part/coco.json: exists already", "rm -r part/*.png part/cutouts; %s -o part", command);
    run_here("rm -r part && cp -r whole part && rm part/0003.png part/cutouts/0007.png && rm part/coco.json");
    expect_output("2 images segmented into part, 10 finished before", "%s -o part --resume", command);
    ck_assert(same_bytes(here("whole"), here("part")));
    spill(here("part/coco.json"), "{}", 2); /* not ours */
    expect_error(73, "part/coco.json: exists already", "%s -o part --resume", command);
    run_here("%s -o part --overwrite", command);
    ck_assert(same_bytes(here("whole"), here("part")));
}

TEST(files_of_all_images_keep_what_earlier_runs_have_written_of_images_of_one_stem_too)
{
    run_here("mkdir in && cp $SET/images/0001.* in/x.jpg && cp $SET/images/0002.* in/x.png && cp $SET/images/0003.* "
             "in/y.jpg && cp $SET/images/0004.* in/z.jpg");
    const char *run = formatted("cleave segment -m %s --export coco,voc --objects --report report -o out", model_path);
    run_here("%s in && sort out/objects.tsv >before && cp out/coco.json whole.json && %s --overwrite in/y.jpg && sort "
             "out/objects.tsv | cmp - before && for f in whole out/coco; do grep -o 'iscrowd.*' $f.json | sed 's/,$//' "
             "| sort >$f.objects; done && cmp whole.objects out/coco.objects",
             run, run);
    expect_output("y\nx.jpg\nx.png\nz\n", "cat out/voc/ImageSets/Segmentation/default.txt");
    EXPECT_PARTS(expect_success("grep -o '\"id\":[0-9]*,\"file_name\":\"[^\"]*' out/coco.json"),
                 "\"id\":1,\"file_name\":\"y.jpg\n\"id\":2,\"file_name\":\"x.jpg\n\"id\":3,\"file_name\":\"x.png\n"
                 "\"id\":4,\"file_name\":\"z.jpg\n");
    expect_output("report/index.html: is written again, with the 1 image of this run",
                  "%s --resume in/y.jpg && sort out/objects.tsv | cmp - before", run);
    run_here(
        "rm out/x.jpg.png && %s --resume in/z.jpg && ! grep x.jpg out/coco.json && ! grep -q x.jpg out/objects.tsv && "
        "grep -q x.png out/coco.json && %s --overwrite in && cmp out/coco.json whole.json",
        run, run);
    run_here("cleave import coco out/coco.json --images in -o set && test $(ls set/masks/* | wc -l) = 4");
    expect_output("2 parts of tables are of other masks", "cp out/y.png out/z.png && %s --overwrite in/y.jpg", run);
    run_here("! grep -q z.jpg out/coco.json && grep -q x.png out/coco.json"); /* whose mask is another by now */
}

TEST(shards_join_the_file_that_one_run_writes)
{
    const char *folder = temporary_folder();
    char command[1024];
    snprintf(command, sizeof command, "cd %s && \"$CLEAVE\" segment -m %s %s/images --export", folder, model_path,
             sample_set());
    run_here("%s coco -o one", command);
    for (int k = 1; k <= 3; k++) {
        run_here("%s coco -o three --shard %d/3", command, k);
        run_here("%s yolo -o yolo --shard %d/3", command, k);
    }
    run_here("cmp one/coco.json three/coco.json");
    ck_assert_int_eq(count_files(here("yolo/yolo/labels")), 12);
    expect_error(73, "yolo/data.yaml: exists already",
                 "rm -r yolo/*.png yolo/yolo/labels && cleave segment -m $MODEL $SET/images --export yolo -o yolo");
}

TEST(ctrl_c_leaves_joining_to_the_next_resume)
{
    const char *folder = temporary_folder();
    run_here("mkdir many && for k in $(seq 1 150); do ln $SET/images/0001.jpg many/$k.jpg || cp $SET/images/0001.jpg "
             "many/$k.jpg; done 2>&1");
    char command[1024];
    snprintf(command, sizeof command, "cd %s && exec \"$CLEAVE\" segment -q -m %s many -o stopped --export coco -t 1",
             folder, sample_model());
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(99);
    }
    for (int k = 0; k < 6000 && !path_exists(here("stopped/104.png")); k++)
        usleep(5000);
    ck_assert_int_eq(kill(pid, SIGINT), 0);
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    int n_done = count_files(here("stopped"));
    ck_assert_int_lt(n_done, 150);
    ck_assert(!path_exists(here("stopped/coco.json")));
    run_here("test $(ls stopped/.cleave-parts/coco | wc -l) = %d", n_done);
    run_here("cleave segment -q -m $MODEL many -o stopped --export coco --resume && test $(grep -c "
             "'^{\"id\":[0-9]*,\"file_name\"' stopped/coco.json) = 150");
}

/* Of boxes that name masks, several objects are of one image. */
TEST(objects_of_boxes_share_their_image)
{
    const char *boxes = "image\tmask\tlabel\tx\ty\tw\th\n"
                        "images/0001.jpg\tm/x.png\to\t5\t5\t30\t30\n"
                        "images/0001.jpg\tm/y.png\to\t50\t40\t30\t30\n";
    spill(here("two.tsv"), boxes, strlen(boxes));
    run_here("cleave segment --data $SET/manifest.tsv --boxes two.tsv -o two --export coco --cutout --crop && test "
             "$(grep -c file_name two/coco.json) = 1 && test $(grep -c '\"image_id\":1,' two/coco.json) -ge 2");
    int32_t width, height;
    must(clv_image_read_size(&width, &height, here("two/cutouts/x.png"), NULL, err));
    ck_assert(width <= 34 && height <= 34);
}

static struct wide_samples read_rgba(const char *path)
{
    struct wide_samples samples = {0};
    size_t size;
    char *bytes = slurp(path, &size);
    must(png_decode_wide(&samples, (const uint8_t *)bytes, size, NULL, err));
    free(bytes);
    return samples;
}

TEST(cut_outs_are_opaque_within_and_clear_without)
{
    run_here("cleave segment -m $MODEL $SET/images/0001.jpg -o cut --cutout");
    struct wide_samples samples = read_rgba(here("cut/cutouts/0001.png"));
    struct clv_indexed_image mask = {0};
    struct clv_image image = {0};
    must(clv_indexed_image_read(&mask, here("cut/0001.png"), NULL, err));
    must(clv_image_read(&image, formatted("%s/images/0001.jpg", sample_set()), NULL, err));
    ck_assert(samples.width == mask.width && samples.height == mask.height);
    int n_soft = 0, n_whole = 0, n_clear = 0;
    for (int p = 0; p < mask.width * mask.height; p++) {
        int alpha = samples.rgba[4 * p + 3];
        n_soft += alpha > 0 && alpha < 255;
        n_whole += mask.values[p] && alpha == 255;
        n_clear += !mask.values[p] && alpha == 0;
    }
    ck_assert_int_gt(n_soft, 30);
    ck_assert_int_gt(n_whole, 100);
    ck_assert_int_gt(n_clear, mask.width * mask.height / 2);
    /* The pipe gives the same bytes. */
    run_here("cleave segment -q -m $MODEL --cutout - -o - <$SET/images/0001.jpg >pipe.png && cmp pipe.png "
             "cut/cutouts/0001.png");
    array_free(samples.rgba);
    clv_indexed_image_release(&mask);
    clv_image_release(&image);
}

TEST(cut_outs_are_of_the_labels_that_are_named)
{
    const char *folder = temporary_folder();
    char command[1024];
    snprintf(command, sizeof command, "cd %s && \"$CLEAVE\" segment -q -m %s %s/images -o", folder, model_path,
             sample_set());
    run_here("%s both --cutout", command);
    run_here("%s left --cutout-label 'the left'", command);
    run_here("%s by_number --cutout-label 1", command);
    run_here("%s all --cutout-label 1,2", command);
    ck_assert(same_bytes(here("left"), here("by_number")));
    ck_assert(same_bytes(here("both"), here("all")));
    ck_assert(!same_bytes(here("both/cutouts"), here("left/cutouts")));
    run_here("%s ground --cutout-label background", command); /* by its name, too */
    run_here("%s number0 --cutout-label 0", command);
    ck_assert(same_bytes(here("ground"), here("number0")));
    ck_assert(!same_bytes(here("ground/cutouts"), here("both/cutouts")));
    expect_error(64, "--cutout-label: \"3\" is not a label of the model's 3, such as right & <rest>",
                 "%s none --cutout-label 3", command);
    expect_error(64, "--cutout-label: \"-1\" is not a label", "%s none --cutout-label -1", command);
    expect_error(64, "--cutout-label: \"\" is not a label", "%s none --cutout-label 1,", command);
    expect_error(64, "--cutout-label: \"horse\" is not a label", "%s none --cutout-label horse", command);
}

/* The first line of the hidden note is the folder that all images were found in, or empty. */
TEST(the_folder_of_an_exports_images_is_noted_where_all_are_below_one)
{
    static const struct {
        const char *make, *inputs, *folder; /* below the temporary folder; "": several, or unknown */
    } rows[] = {
        {"mkdir -p plain/deep && cp $SET/images/0001.jpg plain && cp $SET/images/0002.jpg plain/deep", "plain",
         "/plain/"},
        {"mkdir links && ln -s ../plain/0001.jpg links/0001.jpg", "links", "/plain/"},
        {"mkdir renamed && ln -s ../plain/0001.jpg renamed/a-photo-by-another-name.jpg", "renamed", ""},
        {"mkdir mixed && cp $SET/images/0003.jpg mixed && ln -s ../plain/0001.jpg mixed/0001.jpg", "mixed", ""},
        {"true", "plain mixed/0003.jpg", ""},
        {"true", "plain/deep", "/plain/deep/"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        run_here("%s", rows[k].make);
        run_here("cleave segment -q -m $MODEL %s -o out --export coco --overwrite", rows[k].inputs);
        char *note = expect_success("head -n 1 out/.cleave-run");
        note[strcspn(note, "\n")] = 0;
        ck_assert_str_eq(note, *rows[k].folder ? formatted("%s%s", temporary_folder(), rows[k].folder) : "");
        free(note);
        if (!*rows[k].folder)
            expect_error(64, "its folder has masks, no images; where are these? --images FOLDER",
                         "cleave import coco out -o set --overwrite");
        else
            run_here("cleave import -q coco out -o set --overwrite");
    }
}

TEST(options_that_contradict_each_other_are_refused)
{
    static const struct refusal refusals[] = {
        {64, "--export: \"mscoco\" is not one of none, coco, labelme, voc, yolo",
         "segment -m x y -o z --export coco,mscoco"},
        {64, "--min-area: \"-1\"", "segment -m x y -o z --min-area -1"},
        {64, "--rle: goes with --export coco", "segment -m x y -o z --export yolo --rle"},
        {64, "VOC's masks are exact", "segment -m x y -o z --export voc --tolerance 2"},
        {64, "--tolerance: \"-1\"", "segment -m x y -o z --export coco --tolerance -1"},
        {64, "--export cannot be used with -o -: standard output takes the one result",
         "segment -m x y -o - --export coco"},
        {64, "--cutout cannot be used with --features: a feature file has no images",
         "segment -m x --features y -o z --cutout"},
    };
    EXPECT_REFUSALS(refusals);
}

TEST(several_forms_are_written_at_once_each_as_it_is_alone)
{
    const char *folder = temporary_folder();
    char command[1024];
    snprintf(command, sizeof command, "cd %s && \"$CLEAVE\" segment -q -m %s %s/images -o", folder, model_path,
             sample_set());
    run_here("%s all --export voc,coco --export labelme --export yolo,coco", command);
    run_here("%s back --export voc --export none,coco", command);
    for (int k = 0; k < 4; k++) {
        static const char *const forms[] = {"coco", "labelme", "voc", "yolo"};
        const char *own = k ? forms[k] : "coco.json";
        run_here("%s %s --export %s", command, forms[k], forms[k]);
        ck_assert(same_bytes(here("%s/%s", forms[k], own), here("all/%s", own)));
    }
    run_here("test -f back/coco.json && test ! -e back/voc && test ! -e coco/voc");
}

TEST(exports_come_back_by_their_folder_alone)
{
    static const char *const forms[][2] = {
        {"coco", "coco.json"}, {"labelme", "labelme"}, {"voc", "voc/"}, {"yolo", "yolo"}};
    run_here("cleave segment -q -m %s $SET/images -o out --tolerance 0 --export coco,labelme,voc,yolo", model_path);
    for (int k = 0; k < 4; k++) {
        run_here("cleave import %s out -o whole%d && cleave import %s out/%s -o part%d", forms[k][0], k, forms[k][0],
                 forms[k][1], k);
        ck_assert_int_eq(compare(here("whole%d", k), here("out"), three_names).wrong, 0);
        ck_assert(same_bytes(here("whole%d", k), here("part%d", k)));
    }
    run_here("cd out/voc && cleave import voc . -o ../../here");
    ck_assert(same_bytes(here("whole2"), here("here")));
    run_here("mkdir a b && cp $SET/images/0001.jpg a && cp $SET/images/0002.jpg b && cleave segment -q -m %s "
             "a/0001.jpg b/0002.jpg -o two --export coco",
             model_path);
    expect_error(64, "--images FOLDER", "cleave import coco two/coco.json -o none");
}

TEST(areas_that_touch_by_a_corner_are_features_of_their_own_in_geojson_alone)
{
    struct clv_indexed_image mask = {0};
    run_here("cleave segment -q -m %s $SET/images/0001.jpg -o out", model_path);
    must(clv_indexed_image_read(&mask, here("out/0001.png"), NULL, err));
    memset(mask.values, 0, (size_t)mask.width * (size_t)mask.height);
    mask.values[mask.width + 2] = mask.values[2 * mask.width + 3] = 1;
    must(clv_png_write_labels(here("out/0001.png"), mask.width, mask.height, mask.values, NULL, 0, err));
    clv_indexed_image_release(&mask);
    run_here("cleave segment -q -m %s $SET/images/0001.jpg -o out --resume --tolerance 0 --export coco,labelme,geojson",
             model_path);
    run_here("test $(grep -c '\"value\":1,\"pixels\":1}' out/geojson/0001.geojson) = 2 && "
             "test $(grep -c '\"area\":2,' out/coco.json) = 1 && test $(grep -c points out/labelme/0001.json) = 1");
}

/* Regions below min_pixels in all masks of a folder, and its COCO objects. */
static int count_specks(const char *out, int64_t min_pixels)
{
    int n = 0;
    bool all[256];
    memset(all, true, sizeof all);
    for (int i = 1; i <= 12; i++) {
        struct clv_indexed_image mask = {0};
        struct contours regions = {0};
        must(clv_indexed_image_read(&mask, formatted("%s/%04d.png", out, i), NULL, err));
        must(contours_trace(
            &regions, &(struct tracing){.width = mask.width, .height = mask.height, .is_traced = all, .n_traced = 256},
            mask.values, err));
        for (size_t k = 0; k < regions.n_objects; k++)
            n += regions.objects[k].n_pixels < min_pixels;
        contours_release(&regions);
        clv_indexed_image_release(&mask);
    }
    size_t size;
    char *coco = slurp(formatted("%s/coco.json", out), &size);
    for (const char *area = coco; (area = strstr(area, "\"area\":")); area++)
        n += atoll(area + strlen("\"area\":")) < min_pixels;
    free(coco);
    return n;
}

TEST(regions_below_the_least_area_are_in_neither_masks_nor_exports)
{
    const char *folder = temporary_folder();
    char command[1024];
    snprintf(command, sizeof command, "cd %s && \"$CLEAVE\" segment -q -m %s %s/images --export coco -o", folder,
             model_path, sample_set());
    run_here("%s all && cp -r all again", command);
    run_here("%s none --min-area 0", command);
    run_here("%s large --min-area 60 -t 1", command);
    run_here("%s same --min-area 60 -t 4", command);
    ck_assert(same_bytes(here("all"), here("none")));
    ck_assert(same_bytes(here("large"), here("same")));
    ck_assert_int_gt(count_specks(here("all"), 60), 0);
    ck_assert_int_eq(count_specks(here("large"), 60), 0);
}

SETUP_ONCE(setup, NULL)
