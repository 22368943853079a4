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
        char *bytes = slurp(formatted("%s/images/%04d.jpg", sample_set(), 1 + i % 12), &size);
        spill(formatted("%s/%03d.jpg", photos, i), bytes, size);
        free(bytes);
    }
    return photos;
}

static void truncate_to(const char *path, size_t wanted)
{
    size_t size;
    char *bytes = slurp(path, &size);
    ck_assert_uint_lt(wanted, size);
    spill(path, bytes, wanted);
    free(bytes);
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
    const char *folder = temporary_folder(), *photos = copy_photos(100);
    char *output;
    truncate_to(formatted("%s/007.jpg", photos), 700);
    truncate_to(formatted("%s/055.jpg", photos), 0);
    spill(formatted("%s/099.jpg", photos), "no image at all", 15);
    spill(formatted("%s/notes.txt", photos), "hello", 5);
    int code =
        run_command(&output, "cd %s && \"$CLEAVE\" segment -m %s photos -o out --status status.tsv --report report",
                    folder, sample_model());
    ck_assert_int_eq(code, 65);
    ck_assert_ptr_nonnull(strstr(output, "cleave: photos/007.jpg: "));
    ck_assert_ptr_nonnull(strstr(output, "cleave: photos/055.jpg: "));
    ck_assert_ptr_nonnull(strstr(output, "cleave: photos/099.jpg: "));
    ck_assert(strstr(output, "photos/007.jpg") < strstr(output, "photos/055.jpg")); /* in order */
    ck_assert_ptr_nonnull(strstr(output, "97 images segmented into out, 3 failed"));
    ck_assert_ptr_nonnull(strstr(output, "1 file is no image and was skipped: photos/notes.txt"));
    ck_assert_int_eq(count_files(formatted("%s/out", folder)), 97);
    ck_assert(!path_exists(formatted("%s/out/007.png", folder)));
    free(output);
    char *status = slurp(formatted("%s/status.tsv", folder), NULL);
    ck_assert_int_eq(count_text(status, "\tdone\t"), 97);
    ck_assert_int_eq(count_text(status, "\tfailed\t"), 3);
    free(status);
    char *page = slurp(formatted("%s/report/index.html", folder), NULL);
    ck_assert_ptr_nonnull(strstr(page, "photos/055.jpg"));
    free(page);
}

static void copy_file(const char *to, const char *from)
{
    size_t size;
    char *bytes = slurp(from, &size);
    spill(to, bytes, size);
    free(bytes);
}

/* Formats of other programs in one folder: read where they can be, named and counted as failures where not. */
TEST(a_folder_of_many_formats)
{
    static const char *const names[] = {"rgb.tif", "pages.tif", "lossy.webp", "rgb24.bmp", "rgb.ppm"};
    const char *folder = temporary_folder(), *photos = copy_photos(1);
    char *output;
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
    int code = run_command(&output, "cd %s && \"$CLEAVE\" segment -m %s photos -o out --range 0,60000", folder,
                           sample_model());
    ck_assert_int_eq(code, 65);
    ck_assert_ptr_nonnull(strstr(output, "photos/phone.heic: a HEIC file, which cleave does not read"));
    ck_assert_ptr_nonnull(strstr(output, "photos/unnamed: an AVIF file, which cleave does not read"));
    ck_assert_ptr_nonnull(strstr(output, "8 images segmented into out, 2 failed"));
    ck_assert(path_exists(formatted("%s/out/b-pages-1.png", folder)));
    ck_assert(path_exists(formatted("%s/out/b-pages-3.png", folder)));
    free(output);

    /* Alone they are no success, either. */
    expect_error(65, "phone.heic: a HEIC file", "cd %s && \"$CLEAVE\" segment -m %s photos/phone.heic -o none", folder,
                 sample_model());
    expect_error(64, "--range: \"9,3\" is not LOW,HIGH", "\"$CLEAVE\" segment -m %s x.tif -o none --range 9,3",
                 sample_model());
}

/* images/stack.tif with masks/stack.tif, page by page. */
TEST(a_set_of_stacks)
{
    const char *folder = temporary_folder();
    ck_assert_int_eq(run_command(NULL, "mkdir -p %s/set/images %s/set/masks", folder, folder), 0);
    copy_file(formatted("%s/set/images/stack.tif", folder), "tests/fuzz/corpus/image/pages.tif");
    copy_file(formatted("%s/set/masks/stack.tif", folder), "tests/fuzz/corpus/image/pages.tif");
    struct clv_set set = {0};
    must(clv_set_read(&set, formatted("%s/set", folder), err));
    ck_assert_uint_eq(set.n_items, 3);
    ck_assert_str_eq(set.items[1].name, "images/stack.tif#2");
    ck_assert_ptr_nonnull(strstr(set.items[1].mask, "masks/stack.tif#2"));
    clv_set_release(&set);
}

TEST(an_image_goes_through_a_pipe)
{
    const char *folder = temporary_folder(), *photos = copy_photos(2), *model = sample_model();
    free(expect_success("cd %s && \"$CLEAVE\" segment -m %s photos/000.jpg -o out && "
                        "cat photos/000.jpg | \"$CLEAVE\" segment -m %s - -o - >piped.png && "
                        "\"$CLEAVE\" segment -m %s photos/000.jpg -o - >named.png",
                        folder, model, model, model));
    ck_assert(same_bytes(formatted("%s/out/000.png", folder), formatted("%s/piped.png", folder)));
    ck_assert(same_bytes(formatted("%s/out/000.png", folder), formatted("%s/named.png", folder)));
    ck_assert(!path_exists(formatted("%s/-", folder)));
    expect_error(65, "standard input: empty file", "\"$CLEAVE\" segment -m %s - -o - </dev/null", model);
    expect_error(64, "these are 2 images", "\"$CLEAVE\" segment -m %s %s -o -", model, photos);
    expect_error(64, "leave out --overlay", "\"$CLEAVE\" segment -m %s - -o - --overlay </dev/null", model);
    expect_error(64, "both want standard output", "\"$CLEAVE\" segment -m %s - -o - --status - </dev/null", model);
}

TEST(images_of_a_report_are_not_replaced_unasked)
{
    const char *folder = temporary_folder(), *photos = copy_photos(1), *model = sample_model();
    ck_assert_int_eq(run_command(NULL, "mkdir -p %s/r/index-pictures && echo mine >%s/r/index-pictures/000101-1.jpg",
                                 folder, folder),
                     0);
    expect_error(73, "000101-1.jpg: exists already", "cd %s && \"$CLEAVE\" segment -m %s %s -o out --report r", folder,
                 model, photos);
}

TEST(fail_fast_stops_at_the_first_bad_image)
{
    const char *folder = temporary_folder(), *photos = copy_photos(40);
    truncate_to(formatted("%s/003.jpg", photos), 700);
    expect_error(65, "photos/003.jpg: ", "cd %s && \"$CLEAVE\" segment -m %s photos -o out --fail-fast -t 2", folder,
                 sample_model());
    int n = count_files(formatted("%s/out", folder));
    ck_assert_msg(n >= 3 && n <= 6, "%d images were segmented", n); /* those before it, and what was in work */
}

TEST(the_only_image_s_failure_is_the_command_s)
{
    const char *folder = temporary_folder();
    char *output;
    expect_error(66, "none.jpg: cannot open", "cd %s && \"$CLEAVE\" segment -m %s none.jpg -o out", folder,
                 sample_model());
    int code = run_command(&output, "cd %s && \"$CLEAVE\" segment -q -m %s none.jpg -o out", folder, sample_model());
    ck_assert_int_eq(code, 66);
    ck_assert_int_eq(count_text(output, "\n"), 1); /* said once */
    free(output);
    ck_assert_int_eq(mkfifo(formatted("%s/pipe.jpg", folder), 0666), 0);
    expect_error(66, "pipe.jpg: not a regular file", "cd %s && \"$CLEAVE\" segment -m %s pipe.jpg -o out", folder,
                 sample_model());
    ck_assert_int_eq(count_files(formatted("%s/out", folder)), 0);
}

TEST(existing_outputs_are_neither_skipped_nor_replaced_unasked)
{
    const char *folder = temporary_folder();
    copy_photos(3);
    free(expect_success("cd %s && \"$CLEAVE\" segment -m %s photos/001.jpg -o out", folder, sample_model()));
    spill(formatted("%s/out/001.png", folder), "mine", 4);
    expect_error(73, "out/001.png: exists already", "cd %s && \"$CLEAVE\" segment -m %s photos -o out", folder,
                 sample_model());
    ck_assert_int_eq(count_files(formatted("%s/out", folder)), 1); /* nothing was begun */

    char *output = expect_success("cd %s && \"$CLEAVE\" segment -m %s photos -o out --resume", folder, sample_model());
    ck_assert_ptr_nonnull(strstr(output, "2 images segmented into out, 1 finished before"));
    free(output);
    char *kept = slurp(formatted("%s/out/001.png", folder), NULL);
    ck_assert_str_eq(kept, "mine");
    free(kept);

    free(expect_success("cd %s && \"$CLEAVE\" segment -m %s photos -o out --overwrite", folder, sample_model()));
    free(expect_success("cd %s && \"$CLEAVE\" segment -m %s photos -o fresh", folder, sample_model()));
    ck_assert(same_bytes(formatted("%s/out", folder), formatted("%s/fresh", folder)));
    expect_error(
        73, "report/index.html: exists already",
        "cd %s && mkdir report && touch report/index.html && \"$CLEAVE\" segment -m %s photos -o new --report report",
        folder, sample_model());
}

TEST(resuming_makes_missing_overlays_and_shows_finished_images_in_the_report)
{
    const char *folder = temporary_folder();
    copy_photos(2);
    free(expect_success("cd %s && \"$CLEAVE\" segment -m %s photos -o out --overlay", folder, sample_model()));
    ck_assert_int_eq(unlink(formatted("%s/out/overlays/000.jpg", folder)), 0);
    char *output = expect_success("cd %s && \"$CLEAVE\" segment -m %s photos -o out --overlay --resume --report report",
                                  folder, sample_model());
    ck_assert_ptr_nonnull(strstr(output, "1 image segmented into out, 1 finished before"));
    free(output);
    ck_assert(path_exists(formatted("%s/out/overlays/000.jpg", folder)));
    char *page = slurp(formatted("%s/report/index.html", folder), NULL);
    ck_assert(strstr(page, "000.jpg") && strstr(page, "001.jpg"));
    free(page);
}

TEST(two_images_with_one_output_are_named_up_front)
{
    const char *folder = temporary_folder();
    copy_photos(1);
    expect_error(73, "photos/000.jpg: its output out/000.png would be that of ./photos/000.jpg, too",
                 "cd %s && \"$CLEAVE\" segment -m %s photos/000.jpg ./photos/000.jpg -o out", folder, sample_model());
    ck_assert(!path_exists(formatted("%s/out", folder)));
    expect_error(
        73, "overlays/a.jpg: its output out/overlays/a.png would be that of a.png, too",
        "cd %s && mkdir -p in/overlays && cp photos/000.jpg in/a.png && cp photos/000.jpg in/overlays/a.jpg && "
        "printf 'image\\na.png\\noverlays/a.jpg\\n' >in/manifest.tsv && "
        "\"$CLEAVE\" segment -m %s --data in -o out --overlay",
        folder, sample_model());
}

TEST(inputs_are_never_replaced)
{
    const char *folder = temporary_folder();
    free(expect_success("cd %s && mkdir in && cp %s/masks/0001.png in/a.png && cp in/a.png before", folder,
                        sample_set()));
    expect_error(73, "out/a.png: is the same file as the input in/a.png, which the output would replace",
                 "cd %s && mkdir out && ln in/a.png out && \"$CLEAVE\" segment -m %s in -o out --overwrite", folder,
                 sample_model());
    expect_error(73, "which the output would replace",
                 "cd %s && cp -r %s set && \"$CLEAVE\" segment -m %s --data set/manifest.tsv -o set/masks --overwrite",
                 folder, sample_set(), sample_model());
    ck_assert(same_bytes(formatted("%s/in/a.png", folder), formatted("%s/before", folder)));
    ck_assert(same_bytes(formatted("%s/set", folder), sample_set()));
}

TEST(masks_do_not_go_among_the_images)
{
    const char *folder = temporary_folder();
    copy_photos(2);
    free(expect_success("cd %s && cp -r %s set && rm -r set/masks set/manifest.tsv && mkdir photos/b && "
                        "mv photos/001.jpg photos/b && cp -r photos before && ln -s photos link",
                        folder, sample_set()));
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
        expect_error(64, formatted("%s", lines[i][1]), "cd %s && \"$CLEAVE\" segment -m %s %s", folder, sample_model(),
                     lines[i][0]);
    expect_error(64, "photos/000.png: would be among the images and be one of them the next time; -o out",
                 "cd %s && \"$CLEAVE\" marginals -m %s photos -o photos", folder, sample_model());
    ck_assert(same_bytes(formatted("%s/photos", folder), formatted("%s/before", folder)));
    ck_assert_int_eq(count_files(formatted("%s/set/images", folder)), 12);
    free(
        expect_success("cd %s/photos && \"$CLEAVE\" segment -m %s 000.jpg -o - >../piped.png", folder, sample_model()));
    free(expect_success("cd %s && \"$CLEAVE\" segment -m %s photos/000.jpg -o .", folder, sample_model()));
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
    const char *folder = temporary_folder();
    for (size_t k = 0; k < 3; k++) {
        char *output = expect_success(
            "cd %s && rm -rf p out && for f in %s; do mkdir -p $(dirname p/$f) && cp %s/images/0001.jpg p/$f; done && "
            "for f in %s; do mkdir -p $(dirname p/$f) && cp %s/masks/0001.png p/$f; done && mkdir -p p/labels && "
            "echo 0 | tee p/boxes.tsv >p/labels/a.txt && cp %s p/label.cleave && \"$CLEAVE\" segment -m %s p -o out",
            folder, layouts[k].files, sample_set(), layouts[k].masks, sample_set(), sample_model(), sample_model());
        const char *note = k ? "1 image that is a mask, or in a folder's own " : "3 images that are masks, or in";
        ck_assert_msg(strstr(output, note) && strstr(output, "left out"), "%s", output);
        ck_assert_msg(strstr(output, formatted("%d images segmented", layouts[k].n)) != NULL, "%s", output);
        ck_assert_msg(!strstr(output, "skipped") == (k == 1), "%s", output); /* a.txt */
        free(output);
    }
}

TEST(what_belongs_to_a_folder_s_images_is_not_segmented)
{
    const char *folder = temporary_folder();
    copy_photos(2);
    free(expect_success("cd %s/photos && mkdir masks strokes overlays cutouts objects objects/2 more more/masks && "
                        "for d in masks overlays cutouts objects/2 more more/masks; do cp 000.jpg $d; done && "
                        "echo '{}' >strokes/000.json",
                        folder));
    char *output = expect_success("cd %s && \"$CLEAVE\" segment -m %s photos -o out", folder, sample_model());
    ck_assert_ptr_nonnull(strstr(output, "were left out, the first is photos/cutouts/000.jpg"));
    ck_assert_ptr_nonnull(strstr(output, "4 images segmented into out"));
    ck_assert_ptr_null(strstr(output, "skipped"));
    free(output);
    ck_assert(path_exists(formatted("%s/out/more/masks/000.png", folder)));
    free(expect_success("cd %s && \"$CLEAVE\" segment -m %s photos/masks -o named", folder, sample_model()));
    ck_assert(path_exists(formatted("%s/named/000.png", folder)));
}

TEST(subfolders_are_kept_and_an_output_folder_inside_is_left_out)
{
    const char *folder = temporary_folder();
    copy_photos(2);
    free(expect_success("cd %s && mkdir -p photos/a/b && mv photos/001.jpg photos/a/b/x.y.jpg", folder));
    for (int round = 0; round < 2; round++)
        free(expect_success("cd %s && \"$CLEAVE\" segment -m %s photos -o photos/masks --overwrite", folder,
                            sample_model()));
    ck_assert_int_eq(count_files(formatted("%s/photos/masks", folder)), 2);
    ck_assert(path_exists(formatted("%s/photos/masks/a/b/x.y.png", folder)));
}

TEST(lists_come_from_standard_input)
{
    const char *folder = temporary_folder();
    copy_photos(3);
    free(expect_success("cd %s && mv photos/001.jpg 'photos/with space.jpg' && printf 'photos/000.jpg\\n\\nphotos/with "
                        "space.jpg\\r\\n' | \"$CLEAVE\" segment -m %s - -o out",
                        folder, sample_model()));
    ck_assert(path_exists(formatted("%s/out/000.png", folder)));
    ck_assert(path_exists(formatted("%s/out/with space.png", folder)));
    free(expect_success(
        "cd %s && mv photos/002.jpg 'photos/new\nline.jpg' && find photos -name 'new*' -print0 | \"$CLEAVE\" "
        "segment -m %s -0 - -o zero",
        folder, sample_model()));
    ck_assert(path_exists(formatted("%s/zero/new\nline.png", folder)));
    expect_error(66, "-: no images", "cd %s && \"$CLEAVE\" segment -m %s - -o none </dev/null", folder, sample_model());
}

TEST(output_that_cannot_be_written_ends_the_run)
{
    const char *folder = temporary_folder();
    copy_photos(3);
    expect_error(73, "file: is not a folder", "cd %s && touch file && \"$CLEAVE\" segment -m %s photos -o file", folder,
                 sample_model());
    expect_error(73, "file", "cd %s && \"$CLEAVE\" segment -m %s photos -o file/below", folder, sample_model());
    expect_error(73, "is a folder",
                 "cd %s && mkdir -p out/000.png && \"$CLEAVE\" segment -m %s photos -o out --overwrite", folder,
                 sample_model());
    expect_error(74, "/dev/full", "cd %s && \"$CLEAVE\" segment -m %s photos -o o2 --status /dev/full", folder,
                 sample_model());
}

TEST(a_full_disk_ends_the_run_and_leaves_whole_masks_only)
{
    const char *folder = temporary_folder();
    copy_photos(12);
    if (run_command(NULL, "mkdir %s/disk && mount -t tmpfs -o size=16k none %s/disk", folder, folder)) {
        skip("a_full_disk_ends_the_run_and_leaves_whole_masks_only", "cannot mount a tmpfs");
        return;
    }
    char *output;
    int code =
        run_command(&output, "cd %s && \"$CLEAVE\" segment -m %s photos -o disk --overlay", folder, sample_model());
    struct path_list files = {0};
    must(folder_walk(&files, formatted("%s/disk", folder), err));
    for (size_t i = 0; i < files.n; i++) {
        struct clv_image image = {0};
        must(clv_image_read(&image, formatted("%s/disk/%s", folder, files.paths[i]), NULL, err));
        clv_image_release(&image);
    }
    path_list_release(&files);
    ck_assert_int_eq(run_command(NULL, "umount %s/disk", folder), 0);
    ck_assert_msg(code == 74 || code == 73, "exits with %d: %s", code, output);
    ck_assert_ptr_nonnull(strstr(output, "No space left on device"));
    free(output);
}

TEST(sets_with_named_labels_give_palette_masks)
{
    const char *folder = temporary_folder();
    free(expect_success(
        "cd %s && cp -r %s set && printf 'value\\tname\\tred\\tgreen\\tblue\\n0\\tground\\t0\\t0\\t0\\n1\\tanimal"
        "\\t250\\t120\\t10\\n' >set/labels.tsv && \"$CLEAVE\" train --learner ssvm --data set/manifest.tsv "
        "--split train " SAMPLE_TRAINING " -o m.cleave && \"$CLEAVE\" segment -m m.cleave --data "
        "set/manifest.tsv --split test -o out && \"$CLEAVE\" segment -m m.cleave --data set/manifest.tsv "
        "--split test -o grey --masks grey",
        folder, sample_set()));
    struct clv_indexed_image mask = {0}, grey = {0};
    must(clv_indexed_image_read(&mask, formatted("%s/out/0009.png", folder), NULL, err));
    must(clv_indexed_image_read(&grey, formatted("%s/grey/0009.png", folder), NULL, err));
    ck_assert_int_gt(mask.palette_size, 1);
    ck_assert_int_eq(mask.palette[1][0], 250);
    ck_assert_int_eq(grey.palette_size, 0);
    ck_assert_mem_eq(mask.values, grey.values, (size_t)mask.width * (size_t)mask.height);
    clv_indexed_image_release(&mask);
    clv_indexed_image_release(&grey);
    char *score =
        expect_success("cd %s && \"$CLEAVE\" score --data set/manifest.tsv --split test --pred out --json", folder);
    ck_assert_ptr_nonnull(strstr(score, "\"class_accuracy\":{\"ground\":"));
    ck_assert_ptr_nonnull(strstr(score, ",\"animal\":"));
    free(score);
    expect_error(64, "--masks binary: the model's labels are from a labels.tsv",
                 "cd %s && \"$CLEAVE\" segment -m m.cleave set/images -o none --masks binary", folder);
}

TEST(masks_of_two_labels_in_every_form_are_the_same_to_score)
{
    static const char *const forms[] = {"auto", "grey", "binary", "palette"};
    const char *folder = temporary_folder();
    char *first = NULL;
    for (int k = 0; k < 4; k++) {
        free(expect_success("cd %s && \"$CLEAVE\" segment -m %s --data %s/manifest.tsv --split test --masks %s -o %s",
                            folder, sample_model(), sample_set(), forms[k], forms[k]));
        struct clv_indexed_image mask = {0};
        must(clv_indexed_image_read(&mask, formatted("%s/%s/0009.png", folder, forms[k]), NULL, err));
        int32_t largest = 0;
        for (int32_t p = 0; p < mask.width * mask.height; p++)
            largest = mask.values[p] > largest ? mask.values[p] : largest;
        ck_assert_int_eq(mask.palette_size, k == 0 || k == 3 ? 2 : 0);
        ck_assert_int_eq(largest, k == 2 ? 255 : 1);
        clv_indexed_image_release(&mask);
        char *score = expect_success("\"$CLEAVE\" score -q --data %s/manifest.tsv --split test --pred %s/%s --json",
                                     sample_set(), folder, forms[k]);
        char *numbers = strstr(score, "weighted_hamming");
        ck_assert_ptr_nonnull(numbers);
        ck_assert(!first || strcmp(first, numbers) == 0);
        if (!first)
            first = strdup(numbers);
        free(score);
    }
    free(first);
    /* What an earlier run wrote as 0 and 255 is known again. */
    char *again =
        expect_success("cd %s && \"$CLEAVE\" segment -m %s --data %s/manifest.tsv --split test --masks binary -o "
                       "binary --resume --report report",
                       folder, sample_model(), sample_set());
    ck_assert_ptr_nonnull(strstr(again, "4 finished before"));
    free(again);
}

/* A link to a folder elsewhere, another one to the same, one in a circle, one to a file. */
TEST(links_to_folders_are_followed_once_which_a_note_reports)
{
    const char *folder = temporary_folder();
    free(expect_success(
        "cd %s && mkdir -p links/photos/deep links/elsewhere/more && cp %s/images/0001.jpg links/photos && "
        "cp %s/images/0002.jpg links/elsewhere && cp %s/images/0003.jpg links/elsewhere/more && "
        "cp %s/images/0004.jpg links/lone.jpg && cd links/photos && ln -s ../../elsewhere deep/there && "
        "ln -s ../elsewhere again && ln -s .. circle && ln -s ../lone.jpg 0004.jpg && ln -s nowhere gone",
        folder, sample_set(), sample_set(), sample_set(), sample_set()));
    char *output =
        expect_success("cd %s/links && rm -r photos/circle && ln -s . photos/circle && \"$CLEAVE\" segment -m %s "
                       "photos -o out && find out -name '*.png' | sort | tr '\\n' ' '",
                       folder, sample_model());
    ck_assert_msg(strstr(output, "photos: 1 link to a folder was followed: photos/again") != NULL, "%s", output);
    ck_assert_msg(strstr(output, "out/0001.png out/0004.png out/again/0002.png out/again/more/0003.png ") != NULL, "%s",
                  output);
    free(output);
    output =
        expect_success("cd %s && mkdir linked && ln -s %s/images linked/images && ln -s %s/masks linked/masks && mkdir "
                       "linked/images2 && \"$CLEAVE\" train --learner ssvm --data linked %s -o linked.cleave",
                       folder, sample_set(), sample_set(), SAMPLE_TRAINING);
    ck_assert_ptr_nonnull(strstr(output, "images    12,"));
    free(output);
}

SETUP_ONCE(sample_setup, NULL)
