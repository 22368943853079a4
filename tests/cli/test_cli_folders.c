/* cleave segment over folders, lists and outputs that are there already. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "support/sample.h"
#include "support/support.h"

/* A folder "photos" with `n` copies of sample images, 000.jpg and on. */
static const char *copy_photos(int n)
{
    static char photos[256];
    snprintf(photos, sizeof photos, "%s/photos", temporary_folder());
    ck_assert_int_eq(mkdir(photos, 0777), 0);
    for (int i = 0; i < n; i++) {
        size_t size;
        OWNED_ARRAY char *bytes = slurp(formatted("%s/images/%04d.jpg", sample_set(), 1 + i % 12), &size);
        spill(formatted("%s/%03d.jpg", photos, i), bytes, size);
    }
    return photos;
}

static void truncate_to(const char *path, size_t wanted)
{
    size_t size;
    OWNED_ARRAY char *bytes = slurp(path, &size);
    ck_assert_uint_lt(wanted, size);
    spill(path, bytes, wanted);
}

static int count_text(const char *text, const char *part)
{
    int n = 0;
    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

TEST(bad_images_are_reported_and_the_rest_goes_on)
{
    const char *photos = copy_photos(100);
    OWNED_ARRAY char *output = NULL;
    truncate_to(formatted("%s/007.jpg", photos), 700);
    truncate_to(formatted("%s/055.jpg", photos), 0);
    spill(formatted("%s/099.jpg", photos), "no image at all", 15);
    spill(formatted("%s/notes.txt", photos), "hello", 5);
    int code =
        run_command(&output, "cd $HERE && cleave segment -m $MODEL photos -o out --status status.tsv --report report");
    ck_assert_int_eq(code, 65);
    ck_assert_ptr_nonnull(strstr(output, "cleave: error: photos/007.jpg: "));
    ck_assert_ptr_nonnull(strstr(output, "cleave: error: photos/055.jpg: "));
    ck_assert_ptr_nonnull(strstr(output, "cleave: error: photos/099.jpg: "));
    ck_assert(strstr(output, "photos/007.jpg") < strstr(output, "photos/055.jpg")); /* in order */
    ck_assert_ptr_nonnull(strstr(output, "97 images segmented into out, 3 failed"));
    ck_assert_ptr_nonnull(strstr(output, "1 file is not an image and was skipped: photos/notes.txt"));
    ck_assert_int_eq(count_files(here("out")), 97);
    ck_assert(!path_exists(here("out/007.png")));
    OWNED_ARRAY char *status = slurp(here("status.tsv"), NULL);
    ck_assert_int_eq(count_text(status, "\tdone\t"), 97);
    ck_assert_int_eq(count_text(status, "\tfailed\t"), 3);
    expect_in_file(here("report/index.html"), "photos/055.jpg");
}

static void copy_file(const char *to, const char *from)
{
    size_t size;
    OWNED_ARRAY char *bytes = slurp(from, &size);
    spill(to, bytes, size);
}

/* Formats of other programs in one folder: read where they can be, named and counted as failures where not. */
TEST(a_folder_of_many_formats)
{
    static const char *const names[] = {"rgb.tif", "pages.tif", "lossy.webp", "rgb24.bmp", "rgb.ppm"};
    const char *photos = copy_photos(1);
    OWNED_ARRAY char *output = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        copy_file(formatted("%s/%c-%s", photos, 'a' + (char)i, names[i]),
                  formatted("tests/fuzz/corpus/image/%s", names[i]));
    spill(formatted("%s/phone.heic", photos),
          "\0\0\0\x18"
          "ftypheic\0\0\0\0",
          16);
    spill(formatted("%s/unnamed", photos),
          "\0\0\0\x18"
          "ftypavif\0\0\0\0",
          16);
    int code = run_command(&output, "cd $HERE && cleave segment -m $MODEL photos -o out --range 0,60000");
    ck_assert_int_eq(code, 65);
    ck_assert_ptr_nonnull(strstr(output, "photos/phone.heic: a HEIC file, which cleave does not read"));
    ck_assert_ptr_nonnull(strstr(output, "photos/unnamed: an AVIF file, which cleave does not read"));
    ck_assert_ptr_nonnull(strstr(output, "8 images segmented into out, 2 failed"));
    ck_assert(path_exists(here("out/b-pages-1.png")));
    ck_assert(path_exists(here("out/b-pages-3.png")));

    /* Alone they are not success, either. */
    expect_error(65, "phone.heic: a HEIC file", "cleave segment -m $MODEL photos/phone.heic -o none");
    expect_error(64, "--range: \"9,3\" is not LOW,HIGH", "cleave segment -m $MODEL x.tif -o none --range 9,3");
}

/* images/stack.tif with masks/stack.tif, page by page. */
TEST(a_set_of_stacks)
{
    run_here("mkdir -p set/images set/masks");
    copy_file(here("set/images/stack.tif"), "tests/fuzz/corpus/image/pages.tif");
    copy_file(here("set/masks/stack.tif"), "tests/fuzz/corpus/image/pages.tif");
    OWNED(clv_set_release) struct clv_set set = {0};
    must(clv_set_read(&set, here("set"), err));
    ck_assert_uint_eq(set.n_items, 3);
    ck_assert_str_eq(set.items[1].name, "images/stack.tif#2");
    ck_assert_ptr_nonnull(strstr(set.items[1].mask, "masks/stack.tif#2"));
}

TEST(an_image_goes_through_a_pipe)
{
    const char *photos = copy_photos(2);
    run_here("cleave segment -m $MODEL photos/000.jpg -o out && cat photos/000.jpg | cleave segment -m $MODEL - -o - "
             ">piped.png && cleave segment -m $MODEL photos/000.jpg -o - >named.png");
    ck_assert(same_bytes(here("out/000.png"), here("piped.png")));
    ck_assert(same_bytes(here("out/000.png"), here("named.png")));
    ck_assert(!path_exists(here("-")));
    expect_error(65, "standard input: empty file", "cleave segment -m $MODEL - -o - </dev/null");
    expect_error(64, "these are 2 images", "cleave segment -m $MODEL %s -o -", photos);
    expect_error(64, "--overlay cannot be used with -o -: standard output takes the one result",
                 "cleave segment -m $MODEL - -o - --overlay </dev/null");
    expect_error(64, "both want standard output", "cleave segment -m $MODEL - -o - --status - </dev/null");
}

TEST(images_of_a_report_are_not_replaced_unasked)
{
    const char *photos = copy_photos(1);
    run_here("mkdir -p r/index-pictures && echo mine >r/index-pictures/000101-1.jpg");
    expect_error(73, "000101-1.jpg: exists already", "cleave segment -m $MODEL %s -o out --report r", photos);
}

TEST(fail_fast_stops_at_the_first_bad_image)
{
    const char *photos = copy_photos(40);
    truncate_to(formatted("%s/003.jpg", photos), 700);
    expect_error(65, "photos/003.jpg: ", "cleave segment -m $MODEL photos -o out --fail-fast -t 2");
    int n = count_files(here("out"));
    ck_assert_msg(n >= 3 && n <= 6, "%d images were segmented", n); /* those before it, and what was in work */
}

TEST(the_only_image_s_failure_is_the_command_s)
{
    OWNED_ARRAY char *output = NULL;
    expect_error(66, "none.jpg: cannot open", "cleave segment -m $MODEL none.jpg -o out");
    int code = run_command(&output, "cd $HERE && cleave segment -q -m $MODEL none.jpg -o out");
    ck_assert_int_eq(code, 66);
    ck_assert_int_eq(count_text(output, "\n"), 1); /* said once */
    ck_assert_int_eq(mkfifo(here("pipe.jpg"), 0666), 0);
    expect_error(66, "pipe.jpg: not a regular file", "cleave segment -m $MODEL pipe.jpg -o out");
    ck_assert_int_eq(count_files(here("out")), 0);
}

TEST(existing_outputs_are_neither_skipped_nor_replaced_unasked)
{
    copy_photos(3);
    run_here("cleave segment -m $MODEL photos/001.jpg -o out");
    spill(here("out/001.png"), "mine", 4);
    expect_error(73, "out/001.png: exists already", "cleave segment -m $MODEL photos -o out");
    ck_assert_int_eq(count_files(here("out")), 1); /* nothing was begun */

    expect_output("2 images segmented into out, 1 finished before", "cleave segment -m $MODEL photos -o out --resume");
    OWNED_ARRAY char *kept = slurp(here("out/001.png"), NULL);
    ck_assert_str_eq(kept, "mine");

    run_here("cleave segment -m $MODEL photos -o out --overwrite");
    run_here("cleave segment -m $MODEL photos -o fresh");
    ck_assert(same_bytes(here("out"), here("fresh")));
    expect_error(73, "report/index.html: exists already",
                 "mkdir report && touch report/index.html && cleave segment -m $MODEL photos -o new --report report");
}

TEST(resuming_makes_missing_overlays_and_shows_finished_images_in_the_report)
{
    copy_photos(2);
    run_here("cleave segment -m $MODEL photos -o out --overlay");
    ck_assert_int_eq(unlink(here("out/overlays/000.jpg")), 0);
    expect_output("1 image segmented into out, 1 finished before",
                  "cleave segment -m $MODEL photos -o out --overlay --resume --report report");
    ck_assert(path_exists(here("out/overlays/000.jpg")));
    EXPECT_PARTS(slurp(here("report/index.html"), NULL), "000.jpg", "001.jpg");
}

TEST(two_images_with_one_output_are_named_up_front)
{
    copy_photos(1);
    expect_error(73, "photos/000.jpg: its output out/000.png would be that of ./photos/000.jpg, too",
                 "cleave segment -m $MODEL photos/000.jpg ./photos/000.jpg -o out");
    ck_assert(!path_exists(here("out")));
    expect_error(
        73, "overlays/a.jpg: its output out/overlays/a.png would be that of a.png, too",
        "mkdir -p in/overlays && cp photos/000.jpg in/a.png && cp photos/000.jpg in/overlays/a.jpg && printf "
        "'image\\na.png\\noverlays/a.jpg\\n' >in/manifest.tsv && cleave segment -m $MODEL --data in -o out --overlay");
}

TEST(inputs_are_never_replaced)
{
    run_here("mkdir in && cp $SET/masks/0001.png in/a.png && cp in/a.png before");
    expect_error(73, "out/a.png: is the same file as the input in/a.png, which the output would replace",
                 "mkdir out && ln in/a.png out && cleave segment -m $MODEL in -o out --overwrite");
    expect_error(73, "which the output would replace",
                 "cp -r $SET set && cleave segment -m $MODEL --data set/manifest.tsv -o set/masks --overwrite");
    ck_assert(same_bytes(here("in/a.png"), here("before")));
    ck_assert(same_bytes(here("set"), sample_set()));
}

TEST(masks_do_not_go_among_the_images)
{
    copy_photos(2);
    run_here("cp -r $SET set && rm -r set/masks set/manifest.tsv && mkdir photos/b && mv photos/001.jpg photos/b && cp "
             "-r photos before && ln -s photos link");
    static const char *const lines[][2] = {
        {"photos -o photos", "photos/000.png"},
        {"photos -o photos/.", "photos/./000.png"},
        {"photos -o link", "link/000.png"},
        {"photos/000.jpg -o photos", "photos/000.png"},
        {"photos/000.jpg photos/b/001.jpg -o photos/b", "photos/b/000.png"},
        {"--data set -o set/images", "set/images/"},
        {"photos -o photos --overwrite --overlay", "photos/000.png"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_error(64, formatted("%s", lines[i][1]), "cleave segment -m $MODEL %s", lines[i][0]);
    expect_error(64, "photos/000.png: the output folder is the input folder; choose another, such as -o out",
                 "cleave probabilities -m $MODEL photos -o photos");
    ck_assert(same_bytes(here("photos"), here("before")));
    ck_assert_int_eq(count_files(here("set/images")), 12);
    run_here("cd photos && cleave segment -m $MODEL 000.jpg -o - >../piped.png");
    run_here("cleave segment -m $MODEL photos/000.jpg -o .");
}

TEST(masks_beside_the_images_are_not_replaced)
{
    run_here(
        "mkdir set && cp -r $SET/images $SET/masks set && cp -r set before && mkdir out && ln -s ../set/masks out/link");
    static const char *const lines[] = {"set/images -o set/masks", "set/images/0001.jpg -o set/./masks",
                                        "set/images -o out/link"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_error(73, "has the masks of the images beside it, which the output would replace",
                     "cleave segment -m $MODEL %s --overwrite", lines[i]);
    ck_assert(same_bytes(here("set"), here("before")));
    run_here("rm set/masks/* && cleave segment -m $MODEL set/images -o set/masks");
    run_here("cleave segment -m $MODEL set/images -o set/masks --resume"); /* goes on with its own */
}

TEST(masks_next_to_photos_or_in_a_folder_of_their_own_are_not_segmented)
{
    static const struct {
        const char *files, *masks;
        int n;
    } layouts[] = {
        {"a.jpg b.jpg c.jpg c_mask.jpg lone_mask.jpg s/d.jpg", "a_mask.png s/d_mask.png", 5},
        {"imgs/a.jpg imgs/b.jpg imgs/c_mask.jpg", "labels/a.png", 3},
        {"images/a.jpg images/b.jpg images/c.jpg", "images/a_mask.png", 3},
    };
    for (size_t k = 0; k < 3; k++) {
        OWNED_ARRAY char *output = expect_success(
            "rm -rf p out && for f in %s; do mkdir -p $(dirname p/$f) && cp $SET/images/0001.jpg p/$f; done && for f "
            "in %s; do mkdir -p $(dirname p/$f) && cp $SET/masks/0001.png p/$f; done && mkdir -p p/labels && echo 0 | "
            "tee p/boxes.tsv >p/labels/a.txt && cp $MODEL p/label.cleave && cp $MODEL p/model.cleave && cleave segment "
            "-m $MODEL p -o out",
            layouts[k].files, layouts[k].masks);
        const char *note = k ? "1 image that is a mask, or in a folder's own " : "3 images that are masks, or in";
        ck_assert_msg(strstr(output, note) && strstr(output, "skipped"), "%s", output);
        ck_assert_msg(strstr(output, formatted("%d images segmented", layouts[k].n)) != NULL, "%s", output);
        ck_assert_msg(!strstr(output, " not an image") == (k == 1), "%s", output); /* a.txt */
    }
}

TEST(what_belongs_to_a_folder_s_images_is_not_segmented)
{
    copy_photos(2);
    run_here("cd photos && mkdir masks strokes overlays cutouts objects objects/2 more more/masks && for d in masks "
             "overlays cutouts objects/2 more more/masks; do cp 000.jpg $d; done && echo '{}' >strokes/000.json");
    OWNED_ARRAY char *output = expect_success("cleave segment -m $MODEL photos -o out");
    ck_assert_ptr_nonnull(strstr(output, "were skipped, the first is photos/cutouts/000.jpg"));
    ck_assert_ptr_nonnull(strstr(output, "4 images segmented into out"));
    ck_assert_ptr_null(strstr(output, " no image"));
    ck_assert(path_exists(here("out/more/masks/000.png")));
    run_here("cleave segment -m $MODEL photos/masks -o named");
    ck_assert(path_exists(here("named/000.png")));
}

TEST(results_of_another_run_are_not_segmented)
{
    copy_photos(2);
    run_here("cleave segment -m $MODEL photos -o photos/more/first --overlay");
    EXPECT_PARTS(expect_success("cleave segment -m $MODEL photos -o out"), "2 images segmented into out",
                 "4 images that are masks, or in a folder's own strokes/, overlays/, cutouts/ or objects/ or among the "
                 "results of a run, were skipped, the first is photos/more/first/000.png");
}

TEST(subfolders_are_kept_and_an_output_folder_inside_is_left_out)
{
    copy_photos(2);
    run_here("mkdir -p photos/a/b && mv photos/001.jpg photos/a/b/x.y.jpg");
    for (int round = 0; round < 2; round++)
        run_here("cleave segment -m $MODEL photos -o photos/masks --overwrite");
    ck_assert_int_eq(count_files(here("photos/masks")), 2);
    ck_assert(path_exists(here("photos/masks/a/b/x.y.png")));
}

TEST(lists_come_from_standard_input)
{
    copy_photos(3);
    run_here("mv photos/001.jpg 'photos/with space.jpg' && printf 'photos/000.jpg\\n\\nphotos/with space.jpg\\r\\n' | "
             "cleave segment -m $MODEL - -o out");
    ck_assert(path_exists(here("out/000.png")));
    ck_assert(path_exists(here("out/with space.png")));
    run_here("mv photos/002.jpg 'photos/new\nline.jpg' && find photos -name 'new*' -print0 | cleave segment -m $MODEL "
             "-0 - -o zero");
    ck_assert(path_exists(here("zero/new\nline.png")));
    expect_error(66, "-: no images", "cleave segment -m $MODEL - -o none </dev/null");
}

TEST(output_that_cannot_be_written_ends_the_run)
{
    copy_photos(3);
    expect_error(73, "file: is not a folder", "touch file && cleave segment -m $MODEL photos -o file");
    expect_error(73, "file", "cleave segment -m $MODEL photos -o file/below");
    expect_error(73, "is a folder", "mkdir -p out/000.png && cleave segment -m $MODEL photos -o out --overwrite");
    expect_error(74, "/dev/full", "cleave segment -m $MODEL photos -o o2 --status /dev/full");
}

TEST(a_full_disk_ends_the_run_and_leaves_whole_masks_only)
{
    copy_photos(12);
    if (run_command(NULL, "mkdir $HERE/disk && mount -t tmpfs -o size=16k none $HERE/disk")) {
        skip("a_full_disk_ends_the_run_and_leaves_whole_masks_only", "cannot mount a tmpfs");
        return;
    }
    OWNED_ARRAY char *output = NULL;
    int code = run_command(&output, "cd $HERE && cleave segment -m $MODEL photos -o disk --overlay");
    OWNED(path_list_release) struct path_list files = {0};
    must(folder_walk(&files, here("disk"), err));
    for (size_t i = 0; i < files.n; i++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        must(clv_image_read(&image, here("disk/%s", files.paths[i]), NULL, err));
    }
    ck_assert_int_eq(run_command(NULL, "umount $HERE/disk"), 0);
    ck_assert_msg(code == 74 || code == 73, "exits with %d: %s", code, output);
    ck_assert_ptr_nonnull(strstr(output, "No space left on device"));
}

TEST(sets_with_named_labels_give_palette_masks)
{
    run_here("cp -r $SET set && printf "
             "'value\\tname\\tred\\tgreen\\tblue\\n0\\tground\\t0\\t0\\t0\\n1\\tanimal\\t250\\t120\\t10\\n' "
             ">set/labels.tsv && cleave train --learner ssvm --data set/manifest.tsv --split train " SAMPLE_TRAINING
             " -o m.cleave && cleave segment -m m.cleave --data set/manifest.tsv --split test -o out && cleave segment "
             "-m m.cleave --data set/manifest.tsv --split test -o grey --mask-format grey");
    OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0}, grey = {0};
    must(clv_indexed_image_read(&mask, here("out/0009.png"), NULL, err));
    must(clv_indexed_image_read(&grey, here("grey/0009.png"), NULL, err));
    ck_assert_int_gt(mask.palette_size, 1);
    ck_assert_int_eq(mask.palette[1][0], 250);
    ck_assert_int_eq(grey.palette_size, 0);
    ck_assert_mem_eq(mask.values, grey.values, (size_t)mask.width * (size_t)mask.height);
    OWNED_ARRAY char *score = expect_success("cleave score --data set/manifest.tsv --split test --pred out --json");
    ck_assert_ptr_nonnull(strstr(score, "\"class_accuracy\":{\"ground\":"));
    ck_assert_ptr_nonnull(strstr(score, ",\"animal\":"));
    expect_error(64, "--mask-format binary: the model's labels are from a labels.tsv",
                 "cleave segment -m m.cleave set/images -o none --mask-format binary");
}

TEST(masks_of_two_labels_in_every_form_are_the_same_to_score)
{
    static const char *const forms[] = {"auto", "grey", "binary", "palette"};
    OWNED_ARRAY char *first = NULL;
    for (int k = 0; k < 4; k++) {
        run_here("cleave segment -m $MODEL --data $SET/manifest.tsv --split test --mask-format %s -o %s", forms[k],
                 forms[k]);
        OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
        must(clv_indexed_image_read(&mask, here("%s/0009.png", forms[k]), NULL, err));
        int32_t largest = 0;
        for (int32_t p = 0; p < mask.width * mask.height; p++)
            largest = mask.values[p] > largest ? mask.values[p] : largest;
        ck_assert_int_eq(mask.palette_size, k == 0 || k == 3 ? 2 : 0);
        ck_assert_int_eq(largest, k == 2 ? 255 : 1);
        OWNED_ARRAY char *score =
            expect_success("cleave score -q --data $SET/manifest.tsv --split test --pred %s --json", forms[k]);
        char *numbers = strstr(score, "weighted_hamming");
        ck_assert_ptr_nonnull(numbers);
        ck_assert(!first || strcmp(first, numbers) == 0);
        if (!first)
            first = strdup(numbers);
    }
    /* What an earlier run wrote as 0 and 255 is known again. */
    expect_output("4 finished before",
                  "cleave segment -m $MODEL --data $SET/manifest.tsv --split test --mask-format binary "
                  "-o binary --resume --report report");
}

/* A link to a folder elsewhere, another one to the same, one in a circle, one to a file. */
TEST(links_to_folders_are_followed_once_which_a_note_reports)
{
    run_here("mkdir -p links/photos/deep links/elsewhere/more && cp $SET/images/0001.jpg links/photos && cp "
             "$SET/images/0002.jpg links/elsewhere && cp $SET/images/0003.jpg links/elsewhere/more && cp "
             "$SET/images/0004.jpg links/lone.jpg && cd links/photos && ln -s ../../elsewhere deep/there && ln -s "
             "../elsewhere again && ln -s .. circle && ln -s ../lone.jpg 0004.jpg && ln -s nowhere gone");
    EXPECT_PARTS(expect_success("cd links && rm -r photos/circle && ln -s . photos/circle && cleave segment -m "
                                "$MODEL photos -o out && find out -name '*.png' | sort | tr '\\n' ' '"),
                 "photos: 1 link to a folder was followed: photos/again",
                 "out/0001.png out/0004.png out/again/0002.png out/again/more/0003.png ");
    EXPECT_PARTS(
        expect_success("mkdir linked && ln -s $SET/images linked/images && ln -s $SET/masks linked/masks && mkdir "
                       "linked/images2 && cleave train --learner ssvm --data linked %s -o linked.cleave",
                       SAMPLE_TRAINING),
        "images    12,");
    EXPECT_PARTS(expect_success("mkdir away && cp -r $SET/images $SET/masks away && mkdir -p within/images "
                                "within/masks && ln -s ../../away/images within/images/more && ln -s ../../away/masks "
                                "within/masks/more && cleave train --learner ssvm --data within %s -o within.cleave",
                                SAMPLE_TRAINING),
                 "within: 2 links to folders were followed", "images    12,");
}

SETUP_ONCE(sample_setup, NULL)
