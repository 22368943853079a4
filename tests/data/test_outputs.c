/* The rules for files that a command writes, and the locks of folders and files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/outputs.h"
#include "support/support.h"

static const char *make(const char *name)
{
    const char *path = here("%s", name);
    spill(path, name, strlen(name));
    return path;
}

static enum clv_status claim(const char *path, bool may_replace, const char *hint, const char *input,
                             struct clv_error *err)
{
    OWNED(outputs_release) struct outputs outputs = {0};
    return outputs_claim(&outputs, path, may_replace, hint, &input, 1, err);
}

TEST(an_output_that_cannot_be_created_is_refused_before_any_work)
{
    const char *file = make("file"), *folder = here("folder");
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    must_fail(CLV_ERR_CREATE, "none/new: cannot create: No such file", claim(here("none/new"), true, "", NULL, err));
    must_fail(CLV_ERR_CREATE, "file/new: cannot create: ", claim(here("file/new"), true, "", NULL, err));
    must_fail(CLV_ERR_CREATE, "folder: is a folder", claim(folder, true, "", NULL, err));
    must(claim(here("new"), false, "", NULL, err));
    must(claim(here("folder/new"), false, "", NULL, err));
    must(claim(file, true, "", NULL, err));
    ck_assert(!path_exists(here("new")) && !path_exists(here("folder/new"))); /* a claim creates nothing */
    forbid_folder(here("forbidden"));
    must_fail(CLV_ERR_CREATE, "forbidden/new: cannot", claim(here("forbidden/new"), true, "", NULL, err));
}

static void be_root_again(void)
{
    if (setreuid(0, 0) != 0)
        _exit(1);
}

/* access() asks for the real user, whom this makes one that is no superuser. */
static void be_nobody(void)
{
    enum { NOBODY = 65534 };
    ck_assert_int_eq(chmod(temporary_folder(), 0777), 0);
    if (geteuid() == 0) {
        atexit(be_root_again);
        ck_assert_int_eq(setreuid(NOBODY, 0), 0);
    }
}

TEST(an_output_that_may_not_be_written_is_refused)
{
    const char *file = make("file"), *open_file = make("open"), *folder = here("folder");
    ck_assert_int_eq(mkdir(folder, 0555), 0);
    ck_assert(chmod(file, 0444) == 0 && chmod(open_file, 0666) == 0);
    be_nobody();
    must_fail(CLV_ERR_CREATE, "file: cannot write: Permission denied", claim(file, true, "", NULL, err));
    must_fail(CLV_ERR_CREATE, "new: cannot create: Permission denied", claim(here("folder/new"), true, "", NULL, err));
    must(claim(open_file, true, "", NULL, err));
    must(claim(here("new"), true, "", NULL, err));
}

TEST(files_that_exist_are_replaced_only_when_that_is_allowed_and_devices_are_written_to)
{
    const char *file = make("file"), *link = here("link");
    ck_assert_int_eq(symlink("file", link), 0);
    must_fail(CLV_ERR_CREATE, "file: exists already; --overwrite replaces it; --resume goes on",
              claim(file, false, "; --resume goes on", NULL, err));
    must_fail(CLV_ERR_CREATE, "link: exists already", claim(link, false, "", NULL, err));
    must(claim(file, true, "", NULL, err));
    must(claim("/dev/null", false, "", NULL, err));
    must(claim("-", false, "", NULL, err));
    ck_assert_int_eq(chdir(temporary_folder()), 0);
    make("-"); /* which standard output is not */
    must(claim("-", false, "", here("-"), err));
    must_fail(CLV_ERR_CREATE, "./-: exists already", claim("./-", false, "", NULL, err));
}

TEST(an_output_is_no_input_by_any_name)
{
    const char *file = make("a"), *hard = here("hard"), *soft = here("soft");
    ck_assert_int_eq(mkdir(here("in"), 0755), 0);
    ck_assert_int_eq(mkdir(here("in/deep"), 0755), 0);
    ck_assert(link(file, hard) == 0 && symlink("a", soft) == 0);
    const char *deep = make("in/deep/b"), *pages = make("in/p.tif");
    must_fail(CLV_ERR_CREATE, "a: is an input of this command", claim(file, true, "", file, err));
    must_fail(CLV_ERR_CREATE, "hard: is the same file as the input ", claim(hard, true, "", file, err));
    must_fail(CLV_ERR_CREATE, "soft: is the same file as the input ", claim(soft, true, "", file, err));
    must_fail(CLV_ERR_CREATE, "in/deep/b: is an input", claim(deep, true, "", here("in"), err));
    must_fail(CLV_ERR_CREATE, "in/p.tif: is the same file as the input ",
              claim(pages, true, "", here("in/p.tif#2"), err));
    must(claim(file, true, "", here("in"), err));
    must(claim(file, true, "", here("absent"), err));
    must(claim(file, true, "", "-", err));
    must(claim(file, true, "", NULL, err));
}

TEST(every_one_of_many_outputs_is_kept_from_being_an_input)
{
    enum { N = 20 };
    OWNED(outputs_release) struct outputs outputs = {0};
    for (int i = 0; i < N; i++)
        must(outputs_add(&outputs, make(formatted("%d", i * 7 % N)), err));
    must(outputs_add(&outputs, here("new"), err)); /* replaces nothing */
    outputs_sort(&outputs);
    ck_assert_uint_eq(outputs.n, N);
    for (int i = 0; i < N; i++)
        must_fail(CLV_ERR_CREATE, formatted("/%d: is an input", i), outputs_spare(&outputs, here("%d", i), err));
    must(outputs_spare(&outputs, make("other"), err));
    must(outputs_spare(&outputs, here("new"), err));
}

TEST(no_file_of_a_dataset_is_replaced)
{
    enum { N = 8 };
    ck_assert_int_eq(mkdir(here("set"), 0755), 0);
    char files[N][512];
    static const char *const names[] = {"manifest.tsv", "labels.tsv", "a.jpg", "a.png",
                                        "a.boxes",      "a.one",      "a.two", "a.objects"};
    for (int k = 0; k < N; k++)
        snprintf(files[k], sizeof files[k], "%s", make(formatted("set/%s", names[k])));
    char name[] = "a", root[512], absent[512];
    snprintf(root, sizeof root, "%s", here("set"));
    snprintf(absent, sizeof absent, "%s", here("set/absent"));
    struct clv_item items[2] = {{.name = name, .image = absent},
                                {.name = name,
                                 .image = files[2],
                                 .mask = files[3],
                                 .boxes = files[4],
                                 .maps = {files[5], files[6]},
                                 .instances = files[7]}};
    struct clv_set set = {.root = root, .manifest = files[0], .items = items, .n_items = 2, .n_maps = 2};
    for (int k = 0; k < N; k++) {
        OWNED(outputs_release) struct outputs outputs = {0};
        must(outputs_add(&outputs, files[k], err));
        must_fail(CLV_ERR_CREATE, formatted("%s: is an input", names[k]),
                  outputs_spare_set(&outputs, &set, "unused", err));
        must_fail(CLV_ERR_CREATE, formatted("%s: is an input", names[k]),
                  outputs_check_set(&outputs, &set, "unused", err));
    }
    OWNED(outputs_release) struct outputs outputs = {0};
    must(outputs_add(&outputs, make("set/other"), err));
    must(outputs_spare_set(&outputs, &set, "unused", err));
    set.manifest = NULL; /* the set is the file that was named */
    must_fail(CLV_ERR_CREATE, "other: is an input", outputs_spare_set(&outputs, &set, here("set/other"), err));
}

/* Each set of locks opens its files itself, as processes do. */
TEST(one_run_at_a_time_locks_a_file_and_leaves_nothing_beside_it)
{
    OWNED(output_locks_release) struct output_locks first = {.n = 0}, second = {.n = 0};
    const char *path = here("model"), *hidden = here(".model.lock");
    must(output_locks_file(&first, path, err));
    ck_assert(path_exists(hidden) && !path_exists(path));
    ck_assert_int_eq(output_locks_exit_code(), 0);
    must_fail(CLV_ERR_CREATE, "model: another run writes there now", output_locks_file(&second, path, err));
    ck_assert_int_eq(output_locks_exit_code(), 75);
    must(output_locks_file(&second, here("other"), err));
    output_locks_release(&second);
    ck_assert(path_exists(hidden) && !path_exists(here(".other.lock")));
    output_locks_release(&first);
    ck_assert(!path_exists(hidden));
    must(output_locks_file(&second, path, err));
    output_locks_release(&second);
}

/* Programs that closed their standard input get its number for the next file. */
TEST(locks_hold_whatever_number_the_system_gives_to_their_files)
{
    OWNED(output_locks_release) struct output_locks first = {.n = 0}, second = {.n = 0};
    ck_assert_int_eq(close(STDIN_FILENO), 0);
    must(output_locks_file(&first, here("model"), err));
    must_fail(CLV_ERR_CREATE, "another run", output_locks_file(&second, here("model"), err));
    output_locks_release(&first);
    ck_assert_int_eq(mkdir(here("out"), 0755), 0);
    must(output_locks_folder(&first, here("out"), NULL, err));
    must_fail(CLV_ERR_CREATE, "another run", output_locks_folder(&second, here("out"), NULL, err));
    output_locks_release(&first);
}

TEST(a_folder_is_locked_by_one_run_or_by_shards_that_do_different_parts)
{
    struct output_locks runs[3] = {{.n = 0}};
    const char *out = here("out");
    const struct clv_shard half = {1, 2}, other_half = {2, 2}, quarter = {2, 4}, last_quarter = {4, 4};
    must(output_locks_folder(&runs[0], out, NULL, err)); /* which is not there */
    ck_assert_int_eq(runs[0].n, 0);
    ck_assert_int_eq(mkdir(out, 0755), 0);
    must(output_locks_folder(&runs[0], out, NULL, err));
    must(output_locks_folder(&runs[0], out, NULL, err)); /* twice is once */
    ck_assert_int_eq(runs[0].n, 1);
    must_fail(CLV_ERR_CREATE, "out: another run writes", output_locks_folder(&runs[1], out, NULL, err));
    must_fail(CLV_ERR_CREATE, "out: another run writes", output_locks_folder(&runs[1], out, &half, err));
    output_locks_release(&runs[0]);

    must(output_locks_folder(&runs[0], out, &half, err));
    must_fail(CLV_ERR_CREATE, "out: another run writes", output_locks_folder(&runs[1], out, NULL, err));
    must_fail(CLV_ERR_CREATE, "another run or of part 1 of 2", output_locks_folder(&runs[1], out, &half, err));
    output_locks_release(&runs[1]);
    must_fail(CLV_ERR_CREATE, "another run or of part 2 of 4", output_locks_folder(&runs[1], out, &quarter, err));
    output_locks_release(&runs[1]);
    must(output_locks_folder(&runs[1], out, &last_quarter, err));
    must_fail(CLV_ERR_CREATE, "another run or of part 2 of 2", output_locks_folder(&runs[2], out, &other_half, err));
    for (int k = 0; k < 3; k++)
        output_locks_release(&runs[k]);
    ck_assert(!path_exists(here("out/" SHARDS_LOCK)));
}

TEST(a_shard_that_ends_gives_up_its_part_and_keeps_the_folder_until_it_is_released)
{
    OWNED(output_locks_release) struct output_locks first = {.n = 0}, second = {.n = 0};
    const char *out = here("out");
    const struct clv_shard half = {1, 2};
    ck_assert_int_eq(mkdir(out, 0755), 0);
    must(output_locks_folder(&first, out, &half, err));
    output_locks_end_shard(&first);
    must(output_locks_folder(&second, out, &half, err));
    output_locks_release(&second);
    must_fail(CLV_ERR_CREATE, "out: another run writes", output_locks_folder(&second, out, NULL, err));
    output_locks_release(&first);
    must(output_locks_folder(&second, out, NULL, err));
    output_locks_release(&second);
}

TEST(a_folder_is_made_with_its_parents_and_locked)
{
    OWNED(output_locks_release) struct output_locks first = {.n = 0}, second = {.n = 0};
    int n_made = 9;
    const char *out = here("a/b/out");
    must(output_locks_make_folder(&first, &n_made, out, NULL, err));
    ck_assert_int_eq(n_made, 3);
    ck_assert(path_is_folder(out));
    must_fail(CLV_ERR_CREATE, "out: another run", output_locks_make_folder(&second, &n_made, out, NULL, err));
    ck_assert_int_eq(n_made, 0); /* what is refused removes nothing */
    output_locks_release(&first);
    must(output_locks_make_folder(&second, &n_made, out, NULL, err));
    ck_assert_int_eq(n_made, 0);
    output_locks_release(&second);
}

enum { N_FOLDERS = 10 };

TEST(all_locks_of_a_run_hold_however_many_they_are)
{
    OWNED(output_locks_release) struct output_locks first = {0}, second = {0};
    int n_made;
    for (int k = 0; k < N_FOLDERS; k++) {
        must(output_locks_make_folder(&first, &n_made, here("folder%d", k), NULL, err));
        must(output_locks_make_folder(&first, &n_made, here("folder%d", k), NULL, err)); /* is locked already */
        must(output_locks_file(&first, here("file%d", k), err));
    }
    for (int k = 0; k < N_FOLDERS; k++) {
        must_fail(CLV_ERR_CREATE, "folder", output_locks_folder(&second, here("folder%d", k), NULL, err));
        must_fail(CLV_ERR_CREATE, "file", output_locks_file(&second, here("file%d", k), err));
    }
    output_locks_release(&first);
    for (int k = 0; k < N_FOLDERS; k++) {
        must(output_locks_folder(&second, here("folder%d", k), NULL, err));
        must(output_locks_file(&second, here("file%d", k), err));
    }
    output_locks_release(&second);
    run_here("ls -A >list && ! grep lock list"); /* no lock file stays */
}
