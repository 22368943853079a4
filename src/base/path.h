/* Taking paths apart, making and walking folders. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleave/status.h"

/* Makes a folder and its missing parents; an existing folder is fine. */
enum clv_status folder_create(const char *path, struct clv_error *err) CLV_CHECK;

/* Removes a folder and all that is in it, but not what links in it lead to; nothing there is fine. */
enum clv_status folder_remove(const char *path, struct clv_error *err) CLV_CHECK;

bool path_exists(const char *path); /* for what may be overlooked; path_look reports errors */
bool path_is_folder(const char *path);

/* What a path leads to, links followed. Only what is surely not there is absent; where that is unknown (an I/O
 * error, a folder that may not be searched) it is an error, CLV_ERR_NO_INPUT. A link that leads nowhere is a file that
 * cannot be opened. */
enum path_kind { PATH_ABSENT, PATH_FOLDER, PATH_FILE };
enum clv_status path_look(enum path_kind *kind, const char *path, struct clv_error *err) CLV_CHECK;

/* A page of a TIFF goes by path and number, from 1: "a/stack.tif#2". Whether a path is one; *length is that of the
 * file's own path, all of it where there is no page. A file whose own name ends so, as no program writes, cannot be
 * named. */
bool path_page(size_t *length, uint32_t *page, const char *path);

/* New strings (array_free); NULL when out of memory. A page's extension becomes part of its stem: "a/stack.tif#2" ->
 * "a/stack-2". */
char *path_join(const char *folder, const char *name); /* name alone if it is absolute or folder is "" */
char *path_folder(const char *path);                   /* "a/b.png" -> "a", "b.png" -> "." */
char *path_stem(const char *path);                     /* "a/b.tar.gz" -> "b.tar" */
char *path_replace_extension(const char *path, const char *extension); /* ("a/b.jpg", ".png") -> "a/b.png" */
const char *path_name(const char *path);                               /* "a/b.png" -> "b.png", into the argument */

/* What is made of a file goes by its stem: "a/b" for a/b.jpg. Where a/b.png is another one of paths[n], is_shared[i] is
 * true for both, and what is made of them goes by their whole names, a/b.jpg and a/b.png. The same path twice shares
 * nothing. */
enum clv_status path_find_shared_stems(bool *is_shared, const char *const *paths, size_t n,
                                       struct clv_error *err) CLV_CHECK;
char *path_output(const char *path, bool is_shared); /* new, without the output's extension; NULL: out of memory */

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
    size_t n_links;         /* by folder_walk: links to folders that were followed */
    char *first_link;       /* NULL: none */
};
void path_list_release(struct path_list *list);
enum clv_status path_list_add(struct path_list *list, const char *path, struct clv_error *err) CLV_CHECK;

/* Every file below `folder`, subfolders included (names that begin with a dot are skipped), as paths relative to it,
 * sorted by bytes. Links to folders are followed after all else, in the order of their paths, and counted, but no
 * folder is walked twice. Subfolders that this user may not read (lost+found) are counted and passed over; whatever
 * else goes wrong is an error. */
enum clv_status folder_walk(struct path_list *list, const char *folder, struct clv_error *err) CLV_CHECK;

#endif
