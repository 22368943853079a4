/* Inputs of a command, and the names of their outputs. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "batch/inputs.h"
#include "feature/dataset/dataset.h"
#include "support/support.h"

/* Makes files in the test's folder and goes there; go_back before the next command. */
static int start = -1;

static void make_files(const char *names)
{
    run_here(
        "for f in %s; do mkdir -p \"$(dirname \"$f\")\" && cp \"$ROOT/assets/animals/images/0001.jpg\" \"$f\"; done",
        names);
    start = start < 0 ? open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : start;
    ck_assert(start >= 0 && chdir(temporary_folder()) == 0);
}

static void go_back(void)
{
    ck_assert_int_eq(fchdir(start), 0);
}

/* The outputs of all inputs, separated by blanks. */
static const char *outputs_of(const struct input_list *list)
{
    static char text[1024];
    text[0] = 0;
    for (size_t i = 0; i < list->n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", list->items[i].output);
    return text;
}

TEST(outputs_are_named_after_files_and_keep_folders_and_extensions_where_names_would_be_alike)
{
    static const struct {
        const char *files, *paths, *outputs; /* paths are taken one by one */
    } rows[] = {
        {"in/a.jpg in/b.jpg", "in/b.jpg in/a.jpg", "b a"},
        {"in/a.jpg in/deep/b.jpg", "in", "a deep/b"},
        {"x/100/i.jpg x/101/i.jpg", "x/100/i.jpg x/101/i.jpg", "100/i 101/i"},
        {"y/1/a/i.jpg y/2/a/i.jpg y/2/a/k.jpg", "y/1/a/i.jpg y/2/a/i.jpg y/2/a/k.jpg", "1/a/i 2/a/i 2/a/k"},
        {"z/a.jpg z/a.jpeg z/b.jpg", "z", "a.jpeg a.jpg b"},
        {"in/a.jpg", "./in/a.jpg", "a"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        OWNED(input_list_release) struct input_list list = {0};
        char paths[256], *rest = paths, *path;
        make_files(rows[k].files);
        snprintf(paths, sizeof paths, "%s", rows[k].paths);
        while ((path = strsep(&rest, " ")))
            must(inputs_add_path(&list, path, NULL, err));
        must(inputs_name_outputs(&list, NULL, err));
        ck_assert_str_eq(outputs_of(&list), rows[k].outputs);
        go_back();
        run_here("rm -r -- */");
    }
}

TEST(a_stream_of_paths_is_split_at_its_separator_and_empty_ones_are_passed_over)
{
    static const char text[] = "\nin/a.jpg\n\nin/b.jpg\nin/c.jpg", zeros[] = "in/c.jpg\0\0in/a.jpg\0";
    make_files("in/a.jpg in/b.jpg in/c.jpg");
    for (int is_zero = 0; is_zero < 2; is_zero++) {
        OWNED(input_list_release) struct input_list list = {0};
        FILE *stream = is_zero ? fmemopen((void *)(uintptr_t)zeros, sizeof zeros - 1, "r")
                               : fmemopen((void *)(uintptr_t)text, sizeof text - 1, "r");
        must(inputs_add_stream(&list, stream, is_zero ? '\0' : '\n', NULL, err));
        fclose(stream);
        ck_assert_uint_eq(list.n, is_zero ? 2 : 3);
        ck_assert_str_eq(list.items[0].name, is_zero ? "in/c.jpg" : "in/a.jpg");
        ck_assert_str_eq(list.items[list.n - 1].name, is_zero ? "in/a.jpg" : "in/c.jpg");
    }
}

TEST(items_of_a_set_are_named_without_the_folder_that_all_of_them_share)
{
    static const struct {
        const char *names[3], *outputs;
        size_t common;
    } rows[] = {
        {{"images/a.jpg", "images/b.jpg", "images/c.jpg"}, "a b c", 7},
        {{"images/1/a.jpg", "images/1/b.jpg", "images/2/a.jpg"}, "1/a 1/b 2/a", 7},
        {{"images/a.jpg", "images2/b.jpg", "images/c.jpg"}, "images/a images2/b images/c", 0},
        {{"s/a.jpg", "s/a.png", "s/b.png"}, "a.jpg a.png b", 2},
        {{"a.jpg", "x/b.jpg", "x/c.jpg"}, "a x/b x/c", 0},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        OWNED(input_list_release) struct input_list list = {0};
        char names[3][32];
        struct clv_item items[3];
        memset(items, 0, sizeof items);
        for (size_t i = 0; i < 3; i++) {
            snprintf(names[i], sizeof names[i], "%s", rows[k].names[i]);
            items[i].name = items[i].image = names[i];
        }
        const struct clv_set set = {.items = items, .n_items = 3};
        ck_assert_uint_eq(set_common_folder(&set), rows[k].common);
        must(inputs_add_set(&list, &set, rows[k].common, err));
        must(inputs_name_outputs(&list, NULL, err));
        ck_assert_str_eq(outputs_of(&list), rows[k].outputs);
        inputs_cut(&list, 1, 1);
        ck_assert_uint_eq(list.n, 1);
        ck_assert_str_eq(list.items[0].name, rows[k].names[1]);
    }
}

TEST(items_of_a_feature_file_are_named_by_the_same_rule)
{
    static const char *const rows[][3] = {
        {"x/a.jpg", "x/b.jpg", "a b"}, /* two names, and their outputs */
        {"x/a.jpg", "y/b.jpg", "x/a y/b"},
        {"z/x/a.jpg", "z/b.jpg", "x/a b"},
    };
    const struct clv_problem bare = {.n_nodes = 1, .n_features = 1, .row = (const int64_t[]){0, 0}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        OWNED(input_list_release) struct input_list list = {0};
        OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
        must(clv_dataset_new(&dataset, 2, err));
        for (int i = 0; i < 2; i++)
            must(clv_dataset_add(dataset, &bare, rows[k][i], err));
        must(inputs_add_dataset(&list, dataset, err));
        must(inputs_name_outputs(&list, NULL, err));
        ck_assert_str_eq(outputs_of(&list), rows[k][2]);
    }
}

TEST(folders_that_paths_share_end_with_a_slash)
{
    ck_assert_uint_eq(path_shared_folder("a/b/c.jpg", 9, "a/b/d.jpg"), 4);
    ck_assert_uint_eq(path_shared_folder("a/b/c.jpg", 9, "a/bc/d.jpg"), 2);
    ck_assert_uint_eq(path_shared_folder("a/b/c.jpg", 2, "a/b/d.jpg"), 2);
    ck_assert_uint_eq(path_shared_folder("a/b/c.jpg", 3, "a/b/c.jpg"), 2);
    ck_assert_uint_eq(path_shared_folder("a.jpg", 5, "a.jpg"), 0);
    ck_assert_uint_eq(path_shared_folder("/a/b", 4, "/c/b"), 1);
}

TEST(of_a_folder_masks_and_outputs_of_runs_are_no_inputs_and_what_is_no_image_is_counted)
{
    static const char *const own[] = {"strokes/s.jpg",   "overlays/o.jpg", "cutouts/c.jpg", "objects/a.jpg",
                                      "instances/i.jpg", "a_mask.png",     "run/deep/r.jpg"};
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) { /* one by one: none hides another */
        OWNED(input_list_release) struct input_list list = {0};
        make_files(formatted("in/a.jpg in/b.jpg in/deep/masks/kept.jpg in/%s", own[k]));
        go_back();
        run_here("cd in && echo no image >notes.txt && touch labels.tsv && { [ ! -d run ] || touch run/.cleave-run; }");
        ck_assert_int_eq(chdir(temporary_folder()), 0);
        must(inputs_add_path(&list, "in", NULL, err));
        must(inputs_name_outputs(&list, NULL, err));
        ck_assert_str_eq(outputs_of(&list), "a b deep/masks/kept");
        ck_assert_uint_eq(list.n_own, 1);
        ck_assert_str_eq(list.first_own, formatted("in/%s", own[k]));
        ck_assert_uint_eq(list.n_skipped, 1); /* and a table is not even counted */
        ck_assert_str_eq(list.first_skipped, "in/notes.txt");
        go_back();
        run_here("rm -r in");
    }
}

TEST(an_output_folder_within_its_inputs_is_passed_over)
{
    char out[512];
    OWNED(input_list_release) struct input_list list = {0};
    make_files("in/a.jpg in/out/b.jpg in/out2/c.jpg");
    snprintf(out, sizeof out, "%s", here("in/out"));
    list.skip_below = out;
    must(inputs_add_path(&list, "in", NULL, err));
    must(inputs_name_outputs(&list, NULL, err));
    ck_assert_str_eq(outputs_of(&list), "a out2/c");
    ck_assert_uint_eq(list.n_own, 0);
    must(inputs_add_path(&list, "in/out", NULL, err)); /* which is an input all the same if it is named */
    ck_assert_uint_eq(list.n, 3);
    go_back();
}

TEST(rows_that_share_an_image_are_named_after_their_masks_and_keep_what_belongs_to_them)
{
    OWNED(input_list_release) struct input_list list = {0};
    char names[3][32] = {"images/a.jpg", "images/a.jpg", "images/b.jpg"},
         masks[3][32] = {"r/masks/a/1.png", "r/masks/a/2.png", "r/masks/z.png"};
    char instances[] = "r/objects/b.png", map[] = "r/net/a.npy";
    struct clv_item items[3];
    memset(items, 0, sizeof items);
    for (size_t i = 0; i < 3; i++) {
        items[i].name = items[i].image = names[i];
        items[i].mask = masks[i];
    }
    items[2].instances = instances;
    items[2].is_derived = true;
    items[0].maps[1] = map;
    const struct clv_set set = {.items = items, .n_items = 3, .n_maps = 2, .map_names = {"one", "two"}};
    must(inputs_add_set(&list, &set, set_common_folder(&set), err));
    ck_assert_str_eq(outputs_of(&list), "a/1 a/2 b");
    for (size_t i = 0; i < 3; i++) {
        const struct input *input = &list.items[i];
        ck_assert_str_eq(input->name, names[i]);
        ck_assert_str_eq(input->mask, masks[i]);
        ck_assert(!input->is_path && !input->instances == (i < 2) && input->is_derived == (i == 2));
        ck_assert(!input->maps[0] && !input->maps[1] == (i > 0));
    }
    ck_assert_str_eq(list.items[2].instances, instances);
    ck_assert_str_eq(list.items[0].maps[1], map);
    ck_assert(list.n_maps == 2 && strcmp(list.map_names[1], "two") == 0);
}

enum { MAX_SIZE = 1000 };

/* Adds the first `size` of MAX_SIZE + 1 bytes, as the image on standard input. */
static enum clv_status add_standard(struct input_list *list, size_t size, struct clv_error *err)
{
    char bytes[MAX_SIZE + 1];
    memset(bytes, 'P', sizeof bytes);
    spill(here("image"), bytes, size);
    ck_assert_ptr_nonnull(freopen(here("image"), "rb", stdin));
    return inputs_add_standard(list, MAX_SIZE, err);
}

TEST(an_image_from_standard_input_has_at_most_the_size_that_is_allowed)
{
    OWNED(input_list_release) struct input_list list = {0};
    must(add_standard(&list, MAX_SIZE, err));
    ck_assert_uint_eq(list.n, 1);
    ck_assert_uint_eq(list.items[0].size, MAX_SIZE);
    must_fail(CLV_ERR_DATA, "standard input: more than 1000 bytes", add_standard(&list, MAX_SIZE + 1, err));
    ck_assert_uint_eq(list.n, 1);
}
