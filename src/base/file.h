/* Reading files whole or mapped, writing them all or not at all, walking folders, taking paths apart. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "cleave/status.h"

/* Reads a regular file whole into *bytes (array_free it), with a zero byte behind the end that does not count in *size.
 * Folders, FIFOs, devices and files larger than max_size are refused by name. */
enum clv_status file_read(char **bytes, size_t *size, const char *path, size_t max_size,
                          struct clv_error *err) CLV_CHECK;

/* The same for a file's beginning: at most `wanted` bytes, however long the file is. */
enum clv_status file_read_head(char **bytes, size_t *size, const char *path, size_t wanted,
                               struct clv_error *err) CLV_CHECK;

/* A read-only memory map of a regular file (zero bytes long is allowed: bytes is then NULL). */
struct file_map {
    const unsigned char *bytes;
    size_t size;
};
/* Files larger than this are mapped by huge pages where kernel and file system have them for files (Linux 6.16 on
 * ext4, say): most of the time of random reads goes into mapping small ones anew. Only what comes from the disk then
 * lies in huge pages, so that a file that was written as large leaves memory when it is committed. */
#define FILE_LARGE     ((size_t)256 << 20)
#define FILE_HUGE_PAGE ((size_t)2 << 20)
enum clv_status file_map_open(struct file_map *map, const char *path, struct clv_error *err) CLV_CHECK;
void file_map_close(struct file_map *map);
/* Gives the pages looked at so far back: they count as memory of the process until then, and are read again when
 * needed. For files that may be larger than memory. Safe while others read. */
void file_map_forget(const struct file_map *map);

/* Writes a file all or nothing: a file without a name in the target's folder receives the bytes (where the file system
 * has none, a temporary whose name nobody can foresee); commit flushes, fsyncs, checks the close, puts it in the
 * target's place and fsyncs the folder; abort drops it. An existing target that is not a regular file (/dev/stdout,
 * /dev/full, a FIFO) is written directly, its close checked. "-" is standard output. Release with commit or abort,
 * once. */
struct file_writer {
    FILE *stream; /* fwrite and fprintf to this; its errors surface in file_commit */
    char *path, *folder, *temporary;
    bool unnamed;
};
enum clv_status file_create(struct file_writer *writer, const char *path, struct clv_error *err) CLV_CHECK;
enum clv_status file_commit(struct file_writer *writer, struct clv_error *err) CLV_CHECK;
void file_abort(struct file_writer *writer);

/* create + write + commit in one. */
enum clv_status file_write(const char *path, const void *bytes, size_t size, struct clv_error *err) CLV_CHECK;

/* Removes this process's unfinished temporaries; safe in a signal handler. */
void file_remove_temporaries(void);

/* Makes a folder and its missing parents; an existing folder is fine. */
enum clv_status folder_create(const char *path, struct clv_error *err) CLV_CHECK;

bool path_exists(const char *path);
bool path_is_folder(const char *path);

/* What a path leads to, links followed. Only what is surely not there is absent; where that cannot be told (an I/O error, a
 * folder that may not be searched) it is an error, CLV_ERR_NO_INPUT. A link that leads nowhere is a file that cannot be opened. */
enum path_kind { PATH_ABSENT, PATH_FOLDER, PATH_FILE };
enum clv_status path_look(enum path_kind *kind, const char *path, struct clv_error *err) CLV_CHECK;

/* New strings (array_free); NULL when out of memory. */
char *path_join(const char *folder, const char *name); /* name alone if it is absolute or folder is "" */
char *path_folder(const char *path);                   /* "a/b.png" -> "a", "b.png" -> "." */
char *path_stem(const char *path);                     /* "a/b.tar.gz" -> "b.tar" */
char *path_replace_extension(const char *path, const char *extension); /* ("a/b.jpg", ".png") -> "a/b.png" */
const char *path_name(const char *path);                               /* "a/b.png" -> "b.png", into the argument */

/* Checks that `relative` is a relative path without ".." that, symbolic links resolved, stays inside `folder`. A path
 * that does not exist passes (opening it will say so). */
enum clv_status path_check_inside(const char *folder, const char *relative, struct clv_error *err) CLV_CHECK;

/* Takes "./" and repeated slashes out of a path, in place, so that one file has one name. */
void path_simplify(char *path);

/* A sorted list of paths. */
struct path_list {
    char **paths;
    size_t n, capacity;
    size_t n_unreadable;    /* by folder_walk: folders below that may not be read */
    char *first_unreadable; /* NULL: none */
};
void path_list_release(struct path_list *list);
enum clv_status path_list_add(struct path_list *list, const char *path, struct clv_error *err) CLV_CHECK;

/* Every file below `folder`, subfolders included (links to folders are not followed; names that begin with a dot are
 * skipped), as paths relative to it, sorted by bytes. Subfolders that this user may not read (lost+found) are counted and passed
 * over; whatever else goes wrong is an error. */
enum clv_status folder_walk(struct path_list *list, const char *folder, struct clv_error *err) CLV_CHECK;

#endif
