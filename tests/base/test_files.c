/* Files: written whole or not at all, what killed runs left, modes, paths, folders. */
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "support/disk.h"
#include "support/sample.h"
#include "support/support.h"

TEST(what_a_killed_run_left_stops_no_later_one)
{
    char folder[256], path[300];
    snprintf(folder, sizeof folder, "%s", temporary_folder());
    snprintf(path, sizeof path, "%s/out.txt", folder);
    for (int i = 0; i < 100; i++) /* as runs of the same process number once named them */
        spill(formatted("%s.%ld.%d.tmp", path, (long)getpid(), i), "", 0);
    pid_t child = fork();
    if (!child) {
        struct file_writer writer;
        must(file_create(&writer, path, err));
        fputs("half", writer.stream);
        fflush(writer.stream);
        raise(SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert(!path_exists(path));
    for (int round = 0; round < 2; round++) { /* new, then in an older one's place */
        must(file_write(path, "whole", 5, err));
        OWNED_ARRAY char *bytes = NULL;
        size_t size;
        must(file_read(&bytes, &size, path, 100, err));
        ck_assert_str_eq(bytes, "whole");
    }
    OWNED(path_list_release) struct path_list list = {0};
    must(folder_walk(&list, folder, err));
    ck_assert_uint_eq(list.n, 101);
}

TEST(names_may_be_as_long_as_the_file_system_allows)
{
    char name[256];
    memset(name, 'n', 255);
    name[255] = 0;
    const char *path = here("%s", name);
    must(file_write(path, "a", 1, err));
    must(file_write(path, "b", 1, err));
    ck_assert(path_exists(path));
}

TEST(files_appear_whole_or_not_at_all)
{
    const char *folder = temporary_folder(), *path = here("out.txt");
    struct file_writer writer;
    must(file_create(&writer, path, err));
    fputs("half", writer.stream);
    file_abort(&writer);
    ck_assert(!path_exists(path));
    must(file_write(path, "whole", 5, err));
    char *bytes;
    size_t size;
    must(file_read(&bytes, &size, path, 100, err));
    ck_assert_str_eq(bytes, "whole");
    array_free(bytes);
    OWNED(path_list_release) struct path_list list = {0};
    must(folder_walk(&list, folder, err));
    ck_assert_uint_eq(list.n, 1); /* no temporary is left */
    must_fail(CLV_ERR_IO, "/dev/full", file_write("/dev/full", "x", 1, err));
    must_fail(CLV_ERR_CREATE, "/nowhere/", file_write("/nowhere/x", "x", 1, err));
    must_fail(CLV_ERR_NO_INPUT, "is a folder", file_read(&bytes, &size, folder, 100, err));
    must_fail(CLV_ERR_DATA, "limit is 3", file_read(&bytes, &size, path, 3, err));
}

/* Hidden names, which folder_walk passes over. */
static int count_temporaries(void)
{
    OWNED_ARRAY char *found = NULL;
    ck_assert_int_eq(run_command(&found, "find $HERE -name '.*.tmp' | wc -l"), 0);
    return atoi(found);
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    return info.st_mode & 07777;
}

TEST(a_file_that_is_replaced_keeps_its_mode_and_a_new_one_has_the_umask_s)
{
    static const mode_t modes[] = {0600, 0666, 0640, 0755, 0444};
    const char *path = here("kept");
    mode_t before = umask(027);
    must(file_write(path, "new", 3, err));
    ck_assert_uint_eq(mode_of(path), 0640);
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
        ck_assert_int_eq(chmod(path, modes[k]), 0);
        must(file_write(path, "again", 5, err));
        ck_assert_uint_eq(mode_of(path), modes[k]);
    }
    ck_assert_int_eq(chmod(path, 04755), 0); /* what runs as another user was another file */
    must(file_write(path, "again", 5, err));
    ck_assert_uint_eq(mode_of(path), 0755);
    umask(before);
}

/* As a user who may not give files away: whoever is in his group has no more rights than everybody. */
TEST(a_file_of_another_group_that_is_replaced_is_not_opened_to_ones_own)
{
    if (getuid() != 0) {
        skip("a_file_of_another_group_that_is_replaced_is_not_opened_to_ones_own", "needs to be root at first");
        return;
    }
    char path[4096];
    struct stat info;
    snprintf(path, sizeof path, "%s", here("shared"));
    spill(path, "old", 3);
    ck_assert_int_eq(chmod(temporary_folder(), 0777), 0);
    must(file_write(path, "by root", 7, err));
    ck_assert_int_eq(chown(path, 1234, 4321), 0);
    ck_assert_int_eq(chmod(path, 0664), 0);
    must(file_write(path, "by root", 7, err));
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert(info.st_uid == 1234 && info.st_gid == 4321 && (info.st_mode & 07777) == 0664);
    ck_assert_int_eq(setgroups(0, NULL), 0);
    ck_assert(setresgid(65534, 65534, 0) == 0 && setresuid(65534, 65534, 0) == 0);
    must(file_write(path, "by nobody", 9, err));
    ck_assert(setresuid(0, 0, 0) == 0 && setresgid(0, 0, 0) == 0);
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert(info.st_uid == 65534 && info.st_gid == 65534 && (info.st_mode & 07777) == 0644);
}

TEST(what_a_run_killed_at_its_last_step_left_is_replaced)
{
    const char *path = here("last.txt");
    must(file_write(path, "old", 3, err));
    for (int k = 0; k < 2; k++) {
        pid_t pid = fork();
        if (pid == 0) {
            killed_at_rename = true;
            _exit(file_write(path, "half", 4, NULL) == CLV_OK);
        }
        int status;
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFSIGNALED(status));
        ck_assert_int_le(count_temporaries(), 1); /* not one more each time */
    }
    must(file_write(path, "new", 3, err));
    ck_assert_int_eq(count_temporaries(), 0);
    OWNED_ARRAY char *bytes = slurp(path, NULL);
    ck_assert_str_eq(bytes, "new");
}

TEST(what_is_remembered_is_removed_with_the_temporaries_and_folders_last)
{
    const char *folder = here("remembered"), *inside = formatted("%s/inside", folder);
    const char *kept = here("kept");
    must(folder_create(folder, err));
    must(file_write(inside, "x", 1, err));
    must(file_write(kept, "x", 1, err));
    file_remember_temporary(folder);
    file_remember_temporary(inside);
    file_remember_temporary(kept);
    file_forget_temporary(kept);
    file_remove_temporaries();
    ck_assert(!path_exists(folder));
    ck_assert(path_exists(kept));
}

/* A hole but for two bytes: such files go by huge pages and leave memory once they are written. */
TEST(large_files_read_back_before_and_after_their_pages_are_given_back)
{
    const size_t last = FILE_LARGE + 12345;
    const char *path = here("large");
    struct file_writer writer;
    struct file_map map;
    must(file_create(&writer, path, err));
    fputc('a', writer.stream);
    ck_assert_int_eq(fseeko(writer.stream, (off_t)last, SEEK_SET), 0);
    fputc('z', writer.stream);
    must(file_commit(&writer, err));
    must(file_map_open(&map, path, err));
    ck_assert_uint_eq(map.size, last + 1);
    for (int round = 0; round < 2; round++) {
        ck_assert(map.bytes[0] == 'a' && map.bytes[last] == 'z' && map.bytes[last / 2] == 0);
        file_map_forget(&map);
    }
    file_map_close(&map);
    unlink(path);
}

TEST(paths_are_taken_apart)
{
    char *s;
    ck_assert_str_eq(s = path_stem("a/b.tar.gz"), "b.tar");
    array_free(s);
    ck_assert_str_eq(s = path_replace_extension("a.d/b", ".png"), "a.d/b.png");
    array_free(s);
    ck_assert_str_eq(s = path_folder("a/b/c.png"), "a/b");
    array_free(s);
    ck_assert_str_eq(s = path_folder("/c.png"), "/");
    array_free(s);
    ck_assert_str_eq(s = path_join("a/", "b"), "a/b");
    array_free(s);
    const char *folder = temporary_folder();
    must_fail(CLV_ERR_DATA, "..", path_check_inside(folder, "a/../b", err));
    must_fail(CLV_ERR_DATA, "absolute", path_check_inside(folder, "/etc/passwd", err));
    ck_assert_int_eq(symlink("/etc", here("link")), 0);
    must_fail(CLV_ERR_DATA, "outside", path_check_inside(folder, "link/passwd", err));
    must(path_check_inside(folder, "..a/b..", err));
    must_fail(CLV_ERR_DATA, "empty", path_check_inside(folder, "", err));
    must_fail(CLV_ERR_DATA, "..", path_check_inside(folder, "a/..", err));
}

TEST(a_neighbour_whose_name_begins_alike_is_outside)
{
    run_here("mkdir -p set/in set2 sea && touch set/in/a set2/a sea/a && ln -s ../set2 set/next && ln -s ../sea "
             "set/other && ln -s . set/self");
    for (int slash = 0; slash < 2; slash++) {
        const char *root = here("set%s", slash ? "/" : "");
        must(path_check_inside(root, "in/a", err));
        must(path_check_inside(root, "self/in/a", err));
        must_fail(CLV_ERR_DATA, "next/a: leads outside", path_check_inside(root, "next/a", err));
        must_fail(CLV_ERR_DATA, "other/a: leads outside", path_check_inside(root, "other/a", err));
        must_fail(CLV_ERR_DATA, "self: leads outside", path_check_inside(root, "self", err));
    }
    must(path_check_inside("/", "tmp", err));
}

TEST(folders_are_removed_with_all_in_them_but_not_what_links_lead_to)
{
    run_here(
        "mkdir -p kept old/a/b && touch kept/file old/.hidden old/a/b/c && ln -s ../kept old/link && ln -s kept alias");
    must(folder_remove(here("old"), err));
    must(folder_remove(here("old"), err)); /* it is not there */
    ck_assert(!path_exists(here("old")) && path_exists(here("kept/file")));
    must(folder_remove(here("alias"), err));
    ck_assert(!path_exists(here("alias")) && path_exists(here("kept/file")));
}

TEST(stems_are_shared_by_different_files_of_one_folder)
{
    static const char *const paths[] = {"b/a.jpg", "a.png",   "a.jpg",   "a.jpg.png", "c.png",
                                        "c.png",   "s.tif#2", "s-2.jpg", "a",         "d.tif#1"};
    static const bool expected[] = {false, true, true, false, false, false, true, true, true, false};
    static const char *const outputs[] = {"b/a", "a.png", "a.jpg", "a.jpg", "c", "c", "s.tif#2", "s-2.jpg", "a", "d-1"};
    bool is_shared[10];
    must(path_find_shared_stems(is_shared, paths, 10, err));
    for (size_t i = 0; i < 10; i++) {
        ck_assert_msg(is_shared[i] == expected[i], "%s", paths[i]);
        OWNED_ARRAY char *output = path_output(paths[i], is_shared[i]);
        ck_assert_str_eq(output, outputs[i]);
    }
    must(path_find_shared_stems(is_shared, paths, 0, err));
}

TEST(made_folders_are_those_that_this_call_made)
{
    int n = 7;
    must(folder_make(&n, here("made/a/b"), err));
    ck_assert_int_eq(n, 3);
    must(folder_make(&n, here("made/a/b"), err));
    ck_assert_int_eq(n, 0);
    must(folder_make(&n, here("made/a//c/d/"), err));
    ck_assert_int_eq(n, 2);
    spill(here("made/file"), "", 0);
    must_fail(CLV_ERR_CREATE, "cannot create folder", folder_make(&n, here("made/file/x"), err));
    must_fail(CLV_ERR_USAGE, "a folder whose path is empty", folder_make(&n, "", err));
}
