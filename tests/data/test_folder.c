#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "data/data.h"
#include "support/support.h"

/* Files of a given kind below the test's folder. */
static void put(const char *name, const char *bytes, size_t size)
{
    const char *path = here("%s", name);
    char *folder = path_folder(path);
    must(folder_create(folder, err));
    clv_free(folder);
    spill(path, bytes, size);
}

static void put_image(const char *name, bool is_jpeg)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    put(name, "", 0);
    must(clv_image_new(&image, 4, 3, 3, err));
    const char *path = here("%s", name);
    if (is_jpeg)
        must(clv_jpeg_write(path, &image, 90, err));
    else
        must(clv_png_write(path, &image, err));
}

TEST(statistics_of_gdal_are_no_files_that_were_skipped)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    put_image("z.png", false);
    put("z.png.aux.xml", "<PAMDataset/>", 13);
    put("notes.txt", "hello", 5);
    must(clv_set_read(&set, temporary_folder(), err));
    ck_assert_uint_eq(set.n_skipped, 1);
    ck_assert_str_eq(path_name(set.first_skipped), "notes.txt");
    clv_set_release(&set);
    put_image("images/a.png", false);
    put("images/a.png.aux.xml", "<PAMDataset/>", 13);
    must(clv_set_read(&set, here("images"), err));
    ck_assert_uint_eq(set.n_skipped, 0);
}

TEST(images_are_recognised_by_content_and_the_rest_is_counted)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    put_image("z.png", false);
    put_image("a/photo", true); /* no extension */
    put_image("a/b/wrong.txt", false);
    put("readme.txt", "hello", 5);
    put("table.tsv", "", 0);
    put("short", "\x89PNG", 4);
    put(".hidden.png", "x", 1);
    put("a/broken.JPG", "oops", 4); /* called an image: kept, to fail by name when it is read */
    ck_assert_int_eq(mkfifo(here("pipe"), 0666), 0);
    must(clv_set_read(&set, temporary_folder(), err));
    static const char *const names[] = {"a/b/wrong.txt", "a/broken.JPG", "a/photo", "z.png"};
    ck_assert_uint_eq(set.n_items, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(set.items[i].name, names[i]);
        ck_assert_str_eq(set.items[i].image, here("%s", names[i]));
        ck_assert(!set.items[i].mask && !*set.items[i].split);
    }
    ck_assert_uint_eq(set.n_skipped, 4);
}

TEST(usual_layouts_of_masks_are_recognised)
{
    static const struct {
        const char *image, *mask, *other; /* that is not an image of the set */
    } layouts[] = {
        {"l1/imgs/a.jpg", "l1/labels/a.png", "l1/b.png"},
        {"l2/img/s/a.jpg", "l2/annotations/s/a.png", "l2/annotations/a.xml"},
        {"l3/imgs/a.jpg", "l3/masks/a.png", "l3/labels/a.png"},
        {"l4/img/a.jpg", "l4/masks/img/a.png", "l4/readme.txt"}, /* next to masks/, as ever */
        {"l5/s/a.jpg", "l5/s/a_mask.png", "l5/readme.txt"},
        {"l6/images/a.jpg", "l6/images/a_mask.png", "l6/labels/a.txt"}, /* labels of YOLO */
        {"l7/a_mask.png", NULL, "l7/notes.txt"},
    };
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        OWNED(clv_set_release) struct clv_set set = {0};
        const char *other = layouts[k].other;
        put_image(layouts[k].image, strstr(layouts[k].image, ".jpg") != NULL);
        if (layouts[k].mask)
            put_image(layouts[k].mask, false);
        if (strstr(other, ".png"))
            put_image(other, false);
        else
            put(other, "hello", 5);
        must(clv_set_read(&set, here("l%zu", k + 1), err));
        ck_assert_msg(set.n_items == 1 && !set.n_lone_masks == !strstr(other, "a.xml"), "%zu: %zu", k, set.n_items);
        ck_assert_str_eq(set.items[0].image, here("%s", layouts[k].image));
        if (layouts[k].mask)
            ck_assert_str_eq(set.items[0].mask, here("%s", layouts[k].mask));
        ck_assert(!set.items[0].mask == !layouts[k].mask);
    }
}

TEST(masks_next_to_the_images_are_no_images)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    put_image("a.jpg", true);
    put_image("sub/b.png", false);
    put_image("masks/a.png", false);
    put_image("masks/sub/b.png", false);
    must(clv_set_read(&set, temporary_folder(), err));
    ck_assert_uint_eq(set.n_items, 2);
    ck_assert_str_eq(set.items[0].name, "a.jpg");
    ck_assert_str_eq(set.items[0].mask, here("masks/a.png"));
    ck_assert_str_eq(set.items[1].mask, here("masks/sub/b.png"));
}

TEST(a_manifest_in_the_folder_tells_which_images_are_of_the_set)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    static const char manifest[] = "image\tsplit\na.jpg\ttest\n";
    put_image("a.jpg", true);
    put_image("b.jpg", true);
    put("manifest.tsv", manifest, sizeof manifest - 1);
    must(clv_set_read(&set, temporary_folder(), err));
    ck_assert_uint_eq(set.n_items, 1);
    ck_assert_str_eq(set.items[0].name, "a.jpg");
    ck_assert_str_eq(set.items[0].split, "test");
}

TEST(images_and_masks_are_paired_by_stem)
{
    struct clv_set set = {0};
    put_image("images/horse.1.jpg", true);
    put_image("images/sub/horse.jpg", true);
    put_image("images/other.png", false);
    put_image("masks/horse.1.png", false);
    put_image("masks/sub/horse.png", false);
    put_image("masks/horse.png", false); /* of another folder */
    put_image("elsewhere.png", false);
    put("images/notes.txt", "x", 1);
    static const char labels[] = "value\tname\tred\tgreen\tblue\n0\ta\t0\t0\t0\n1\tb\t0\t0\t0\n";
    put("labels.tsv", labels, sizeof labels - 1);
    must(clv_set_read_folder(&set, temporary_folder(), err));
    ck_assert_uint_eq(set.n_items, 3);
    ck_assert_str_eq(set.items[0].name, "images/horse.1.jpg");
    ck_assert_str_eq(set.items[0].mask, here("masks/horse.1.png"));
    ck_assert_str_eq(set.items[1].name, "images/other.png");
    ck_assert_ptr_null(set.items[1].mask);
    ck_assert_str_eq(set.items[2].mask, here("masks/sub/horse.png"));
    ck_assert_uint_eq(set.n_skipped, 1);
    ck_assert(set.has_label_file && set.labels.from_file);
    ck_assert_str_eq(set.labels.names[1], "b");
    clv_set_release(&set);

    put_image("masks/sub/horse.tif", false);
    must_fail(CLV_ERR_DATA, "image sub/horse.jpg has two masks, sub/horse.png and sub/horse.tif",
              clv_set_read_folder(&set, temporary_folder(), err));
    ck_assert_ptr_null(set.items);
}

TEST(masks_of_images_of_one_stem_go_by_whole_names_or_else_by_the_stem)
{
    struct clv_set set = {0};
    put_image("images/a.jpg", true);
    put_image("images/a.png", false);
    put_image("images/b.jpg", true);
    put("images/b.txt", "no image", 8);
    put_image("masks/a.jpg.png", false);
    put_image("masks/a.png", false);
    put_image("masks/b.png", false);
    put_image("masks/b.jpg.png", false);
    must(clv_set_read_folder(&set, temporary_folder(), err));
    ck_assert_uint_eq(set.n_items, 3);
    static const char *const masks[] = {"a.jpg.png", "a.png", "b.png"};
    for (size_t i = 0; i < 3; i++)
        ck_assert_str_eq(set.items[i].mask, here("masks/%s", masks[i]));
    ck_assert_uint_eq(set.n_lone_masks, 1); /* nothing shares b's stem */
    ck_assert_str_eq(set.first_lone_mask, "masks/b.jpg.png");
    clv_set_release(&set);
    put_image("masks/a.jpg.tif", false);
    must_fail(CLV_ERR_DATA, "image a.jpg has two masks, a.jpg.", clv_set_read_folder(&set, temporary_folder(), err));
}

TEST(folders_that_may_not_be_read_are_counted_and_passed_over)
{
    struct clv_set set = {0};
    put_image("a/b.png", false);
    forbid_folder(here("a/lost+found"));
    must(clv_set_read(&set, temporary_folder(), err));
    ck_assert_uint_eq(set.n_items, 1);
    ck_assert_uint_eq(set.n_unreadable, 1);
    ck_assert_str_eq(set.first_unreadable, here("a/lost+found"));
    clv_set_release(&set);
    must_fail(CLV_ERR_NO_INPUT, "lost+found", clv_set_read_folder(&set, here("a/lost+found"), err));
}

/* A path to `name` in the folder that is as long as can be: whether a file of a longer name is there cannot be found
 * out. */
static const char *longest_path(const char *name)
{
    static char path[PATH_MAX];
    size_t size = (size_t)snprintf(path, sizeof path, "%s/", temporary_folder()), length = strlen(name);
    while (size + 2 + length < PATH_MAX) {
        memcpy(path + size, "./", 2);
        size += 2;
    }
    strcpy(path + size, name);
    return path;
}

TEST(what_cannot_be_known_is_there_or_not_is_an_error_not_absent)
{
    struct clv_set set = {0};
    put("m", "image\na.png\n", 12);
    put_image("images/a.png", false);
    must_fail(CLV_ERR_NO_INPUT, "/./././", clv_set_read(&set, longest_path("m"), err));
    ck_assert_int_eq(symlink("masks", here("masks")), 0); /* to itself */
    must_fail(CLV_ERR_NO_INPUT, "masks: cannot tell whether it is there", clv_set_read(&set, temporary_folder(), err));
    ck_assert_ptr_null(set.items);
}

static void put_text(const char *name, const char *text)
{
    put(name, text, strlen(text));
}

TEST(a_folder_s_manifest_says_what_is_in_it)
{
    struct clv_set set = {0};
    put_image("images/a.png", false);
    put_image("images/b.png", false);
    put_image("masks/a.png", false);
    put_text("manifest.tsv", "image\tsplit\nimages/b.png\ttest\n");
    must(clv_set_read(&set, temporary_folder(), err));
    ck_assert_uint_eq(set.n_items, 1);
    ck_assert_str_eq(set.items[0].name, "images/b.png");
    ck_assert_str_eq(set.items[0].split, "test");
    ck_assert_str_eq(set.manifest, here("manifest.tsv"));
    clv_set_release(&set);
    must(clv_set_read_folder(&set, temporary_folder(), err));
    ck_assert_uint_eq(set.n_items, 2);
    ck_assert_ptr_null(set.manifest);
    clv_set_release(&set);
    put_text("manifest.tsv", "name\nx\n");
    must_fail(CLV_ERR_DATA, "manifest.tsv", clv_set_read(&set, temporary_folder(), err));
}

TEST(learning_takes_the_split_train_where_there_is_one)
{
    static const struct {
        const char *splits[3], *wanted;
        size_t n;
    } cases[] = {
        {{"train", "test", "train"}, NULL, 2},
        {{"train", "test", "train"}, "test", 1},
        {{"a", "b", "b"}, NULL, 3},
        {{"", "", ""}, NULL, 3},
        {{"trains", "rain", "train"}, NULL, 1},
        {{"train", "test", "val"}, "test,val", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(clv_set_release) struct clv_set set = {0};
        put_text("manifest.tsv", formatted("image\tsplit\na\t%s\nb\t%s\nc\t%s\n", cases[i].splits[0],
                                           cases[i].splits[1], cases[i].splits[2]));
        must(clv_set_read(&set, temporary_folder(), err));
        must(set_select_training(&set, cases[i].wanted, err));
        ck_assert_uint_eq(set.n_items, cases[i].n);
    }
}

/* The strokes of a/b.jpg are a/b.json; masks elsewhere are nobody's drafts. */
TEST(masks_that_are_not_accepted_are_drafts)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    put_image("accepted.jpg", true);
    put_image("deep/begun.jpg", true);
    put_image("foreign.jpg", true);
    put_image("strokes_alone.jpg", true);
    put_image("masks/accepted.png", false);
    put_image("masks/deep/begun.png", false);
    put_image("masks/foreign.png", false);
    put_text("strokes/accepted.json", "{\"format\": \"cleave strokes 1\", \"accepted\": 1, ");
    put_text("strokes/deep/begun.json", "{\"format\": \"cleave strokes 1\", \"accepted\": 0, ");
    put_text("strokes/strokes_alone.json", "{\"accepted\": 0, ");
    must(clv_set_read(&set, temporary_folder(), err));
    ck_assert_uint_eq(set.n_items, 4);
    for (size_t i = 0; i < 4; i++)
        ck_assert(set.items[i].is_draft == (i == 1));
    ck_assert_uint_eq(set_drop_drafts(&set), 1);
    ck_assert_uint_eq(set_drop_drafts(&set), 0);
    ck_assert(set.items[0].mask && !set.items[1].mask && set.items[2].mask && !set.items[3].mask);
    ck_assert(set.items[1].is_draft);
    clv_set_release(&set);
    put_text("manifest.tsv", "image\tmask\ndeep/begun.jpg\tmasks/deep/begun.png\n"
                             "foreign.jpg\tmasks/accepted.png\naccepted.jpg\taccepted.jpg\n");
    ck_assert_int_eq(chdir(temporary_folder()), 0); /* paths of a set here begin without a folder */
    must(clv_set_read(&set, ".", err));
    ck_assert(set.items[0].is_draft && !set.items[1].is_draft && !set.items[2].is_draft);
}

TEST(what_belongs_to_a_folder_s_images_is_counted_and_left_out)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    put_image("a.jpg", true);
    put_image("overlays/a.png", false);
    put_image("cutouts/a.png", false);
    put_image("objects/x/a.png", false);
    put_image("more/objects/a.png", false);
    put_text("strokes/a.json", "{}");
    must(clv_set_read(&set, temporary_folder(), err));
    ck_assert_uint_eq(set.n_items, 2);
    ck_assert_str_eq(set.items[1].name, "more/objects/a.png");
    ck_assert_uint_eq(set.n_own, 3);
    ck_assert_str_eq(set.first_own, here("cutouts/a.png"));
    ck_assert_uint_eq(set.n_skipped, 0);
    clv_set_release(&set);
    put_image("images/a.png", false);
    put_image("images/objects/a.png", false);
    put_image("masks/objects/a.png", false);
    must(clv_set_read(&set, temporary_folder(), err));
    ck_assert_uint_eq(set.n_items, 2);
    ck_assert_ptr_nonnull(set.items[1].mask);
    ck_assert_uint_eq(set.n_own, 0);
}

TEST(folders_without_images_are_refused)
{
    struct clv_set set = {0};
    must_fail(CLV_ERR_NO_INPUT, "holds no image (0 other files)", clv_set_read(&set, temporary_folder(), err));
    put("a.txt", "x", 1);
    put("b/c.txt", "x", 1);
    must_fail(CLV_ERR_NO_INPUT, "holds no image (2 other files)", clv_set_read(&set, temporary_folder(), err));
    must_fail(CLV_ERR_NO_INPUT, "/nowhere", clv_set_read_folder(&set, "/nowhere", err));
    must_fail(CLV_ERR_NO_INPUT, "a.txt", clv_set_read_folder(&set, here("a.txt"), err));
}

TEST(label_images_of_objects_are_masks_where_there_are_none)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    struct clv_mask mask = {0};
    put_image("images/a.jpg", true);
    put_image("images/b.png", false);
    put_image("instances/a.png", false);
    must(
        clv_png_write_labels(here("instances/a.png"), 4, 3, (const uint8_t *)"\0\0\7\7\0\0\7\0\0\0\0\1", NULL, 0, err));
    must(clv_set_read(&set, temporary_folder(), err));
    ck_assert_uint_eq(set.n_items, 2);
    ck_assert(set.items[0].is_derived);
    ck_assert_ptr_nonnull(strstr(set.items[0].instances, "instances/a.png"));
    ck_assert_ptr_null(set.items[1].mask);
    must(item_mask_read(&mask, &set.items[0], &set.labels, &(struct mask_wanted){4, 3, NULL}, err));
    ck_assert_mem_eq(mask.labels, "\0\0\1\1\0\0\1\0\0\0\0\1", 12);
    clv_mask_release(&mask);
    must_fail(CLV_ERR_DATA, "a.png: the objects are 4x3, image is 4x4",
              item_mask_read(&mask, &set.items[0], &set.labels, &(struct mask_wanted){4, 4, NULL}, err));
    clv_set_release(&set);
    static const char manifest[] = "image\tmask\tinstances\na\t\ti.png\nb\tm.png\ti.png\nc\t\t\n";
    put("manifest.tsv", manifest, strlen(manifest));
    must(clv_set_read(&set, temporary_folder(), err));
    ck_assert(set.items[0].is_derived && !set.items[1].is_derived && !set.items[2].is_derived);
    ck_assert_ptr_nonnull(strstr(set.items[1].instances, "i.png"));
    ck_assert_ptr_nonnull(strstr(set.items[1].mask, "m.png"));
    ck_assert_ptr_null(set.items[2].instances);
}
