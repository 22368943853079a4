/* Splits and joins paths, makes and removes folders, and walks them. A walk follows links to folders after all real
 * folders, and enters no folder twice. For the walk start at folder_walk. */
#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int path_compare(const char *a, const char *b)
{
    while (*a && *b) {
        if (!is_digit(*a) || !is_digit(*b)) {
            if (*a != *b)
                return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++, b++;
            continue;
        }
        a += strspn(a, "0");
        b += strspn(b, "0");
        size_t m = strspn(a, "0123456789"), n = strspn(b, "0123456789");
        int order = m != n ? (m < n ? -1 : 1) : strncmp(a, b, m);
        if (order)
            return order < 0 ? -1 : 1;
        a += m, b += n;
    }
    return *a ? 1 : *b ? -1 : 0;
}

#define ATTEMPTS 20 /* at making a folder while other processes remove its parents */

enum clv_status folder_make(int *n_made, const char *path, struct clv_error *err)
{
    OWNED_ARRAY char *partial = string_copy(path);
    *n_made = 0;
    NEED(partial);
    FAIL_IF(!*path, CLV_ERR_USAGE, "cannot create a folder whose path is empty");
    int attempt = 0;
    for (char *slash = partial + 1;; slash++) {
        if (*slash != '/' && *slash != 0)
            continue;
        char kept = *slash;
        *slash = 0;
        bool is_made = mkdir(partial, 0777) == 0, is_known = is_made || (errno == EEXIST && path_is_folder(partial));
        if (!is_known && errno == ENOENT && strchr(partial + 1, '/') && attempt++ < ATTEMPTS) {
            *slash = kept; /* another process removed a parent: start again */
            slash = partial;
            *n_made = 0;
            continue;
        }
        if (!is_known)
            return fail_errno(err, CLV_ERR_CREATE, "%s: cannot create folder", partial);
        *n_made = is_made ? *n_made + 1 : slash[-1] == '/' ? *n_made : 0; /* "a//b" is "a/b" */
        *slash = kept;
        if (!kept)
            return CLV_OK;
    }
}

enum clv_status folder_create(const char *path, struct clv_error *err)
{
    int ignored;
    if (path_is_folder(path))
        return CLV_OK;
    return folder_make(&ignored, path, err);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *location)
{
    (void)info, (void)type, (void)location;
    return remove(path) && errno != ENOENT; /* another process may remove the same */
}

enum clv_status folder_remove(const char *path, struct clv_error *err)
{
    if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot remove folder", path);
    return CLV_OK;
}

bool path_exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

bool path_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* If only a name is too long (ENAMETOOLONG below PATH_MAX), no such file can exist; a path beyond PATH_MAX may
 * exist. */
enum clv_status path_find_kind(enum path_kind *kind, const char *path, struct clv_error *err)
{
    struct stat info;
    if (stat(path, &info) == 0)
        *kind = S_ISDIR(info.st_mode) ? PATH_FOLDER : PATH_FILE;
    else if (errno != ENOENT && errno != ENOTDIR && !(errno == ENAMETOOLONG && strlen(path) < PATH_MAX))
        return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot tell whether it is there", path);
    else
        *kind = lstat(path, &info) == 0 ? PATH_FILE : PATH_ABSENT;
    return CLV_OK;
}

char *path_join(const char *folder, const char *name)
{
    if (*name == '/' || !*folder)
        return string_copy(name);
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = array_alloc(size, 1);
    if (path)
        snprintf(path, size, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    return path;
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_folder(const char *path)
{
    const char *name = path_name(path);
    if (name == path)
        return string_copy(".");
    size_t length = (size_t)(name - path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *folder = array_alloc(length + 1, 1);
    if (folder) {
        memcpy(folder, path, length);
        folder[length] = 0;
    }
    return folder;
}

size_t path_stem_end(const char *path)
{
    const char *name = path_name(path), *dot = strrchr(name, '.');
    return dot && dot != name ? (size_t)(dot - path) : strlen(path);
}

char *path_stem(const char *path)
{
    return path_replace_extension(path_name(path), "");
}

bool path_page(size_t *length, uint32_t *page, const char *path)
{
    const char *mark = strrchr(path, '#');
    *length = strlen(path);
    if (!mark || mark - path < 4)
        return false;
    const char *digits = mark + 1;
    size_t n = strspn(digits, "0123456789"), before = (size_t)(mark - path);
    bool is_tiff = text_matches_n(mark - 4, ".tif", 4) || (before >= 5 && text_matches_n(mark - 5, ".tiff", 5));
    if (!is_tiff || !n || n > 5 || digits[n] || *digits == '0')
        return false;
    *length = before;
    *page = (uint32_t)strtoul(digits, NULL, 10);
    return true;
}

char *path_file(const char *path)
{
    size_t length;
    uint32_t page;
    char *file = string_copy(path);
    if (file && path_page(&length, &page, path))
        file[length] = 0;
    return file;
}

/* Returns a new path for a page: "a/stack.tif#2" -> "a/stack-2" and the extension. */
static char *name_page(const char *path, size_t length, uint32_t page, const char *extension)
{
    size_t size = length + strlen(extension) + 16, stem = length - (path[length - 4] == '.' ? 4 : 5);
    char *named = array_alloc(size, 1);
    if (named)
        snprintf(named, size, "%.*s-%u%s", (int)stem, path, page, extension);
    return named;
}

char *path_replace_extension(const char *path, const char *extension)
{
    size_t length;
    uint32_t page;
    if (path_page(&length, &page, path))
        return name_page(path, length, page, extension);
    size_t kept = path_stem_end(path), size = kept + strlen(extension) + 1;
    char *changed = array_alloc(size, 1);
    if (changed)
        snprintf(changed, size, "%.*s%s", (int)kept, path, extension);
    return changed;
}

struct stem {
    char *stem;
    const char *path;
    size_t index;
};

struct stems {
    struct stem *entries; /* [n] */
    size_t n;
};

static void stems_release(struct stems *self)
{
    for (size_t i = 0; i < self->n; i++)
        array_free(self->entries[i].stem);
    array_free(self->entries);
}

static int compare_stems(const void *a, const void *b)
{
    return strcmp(((const struct stem *)a)->stem, ((const struct stem *)b)->stem);
}

enum clv_status path_find_shared_stems(bool *is_shared, const char *const *paths, size_t n, struct clv_error *err)
{
    OWNED(stems_release) struct stems self = {.entries = array_zalloc(n, sizeof *self.entries)};
    struct stem *stems = self.entries;
    NEED(stems);
    for (; self.n < n; self.n++) {
        stems[self.n] = (struct stem){path_replace_extension(paths[self.n], ""), paths[self.n], self.n};
        NEED(stems[self.n].stem);
    }
    if (n)
        qsort(stems, n, sizeof *stems, compare_stems);
    for (size_t first = 0, end; first < n; first = end) {
        bool differ = false;
        for (end = first + 1; end < n && compare_stems(&stems[first], &stems[end]) == 0; end++)
            differ |= strcmp(stems[first].path, stems[end].path) != 0;
        for (size_t i = first; i < end; i++)
            is_shared[stems[i].index] = differ;
    }
    return CLV_OK;
}

char *path_output(const char *path, bool is_shared)
{
    return is_shared ? string_copy(path) : path_replace_extension(path, "");
}

static bool has_parent_step(const char *path)
{
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || !part[2]))
            return true;
    }
    return false;
}

enum clv_status path_check_inside(const char *folder, const char *relative, struct clv_error *err)
{
    FAIL_IF(!*relative, CLV_ERR_DATA, "empty path");
    FAIL_IF(*relative == '/', CLV_ERR_DATA, "%s: absolute path; it must be relative to %s", relative, folder);
    FAIL_IF(has_parent_step(relative), CLV_ERR_DATA, "%s: \"..\" is not allowed in a path", relative);

    char root[PATH_MAX], real[PATH_MAX];
    OWNED_ARRAY char *joined = path_join(folder, relative);
    NEED(joined);
    if (realpath(folder, root) && realpath(joined, real)) {
        size_t length = strlen(root);
        while (length && root[length - 1] == '/')
            length--;
        FAIL_IF(strncmp(root, real, length) != 0 || real[length] != '/', CLV_ERR_DATA, "%s: leads outside %s", relative,
                folder);
    }
    return CLV_OK;
}

void path_simplify(char *path)
{
    char *out = path;
    bool at_start = *path != '/'; /* of a component of the path */
    for (const char *c = path; *c;) {
        if (at_start && c[0] == '.' && c[1] == '/')
            c += 2;
        else if (at_start && c[0] == '/')
            c++;
        else
            at_start = (*out++ = *c++) == '/';
    }
    *out = 0;
}

struct file_identity file_identity_of(const struct stat *info)
{
    return (struct file_identity){info->st_dev, info->st_ino};
}

int compare_identities(const void *a, const void *b)
{
    const struct file_identity *first = a, *second = b;
    if (first->device != second->device)
        return first->device < second->device ? -1 : 1;
    return (first->inode > second->inode) - (first->inode < second->inode);
}

bool is_one_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool file_is_at(int fd, const char *path)
{
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && is_one_file(&opened, &named);
}

void path_list_release(struct path_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        array_free(list->paths[i]);
    arrays_free(list->paths, list->first_unreadable, list->first_link);
    *list = (struct path_list){0};
}

enum clv_status path_list_add(struct path_list *list, const char *path, struct clv_error *err)
{
    OWNED_ARRAY char *copy = string_copy(path);
    NEED(copy);
    NEED(!array_reserve((void **)&list->paths, &list->capacity, list->n + 1, sizeof *list->paths));
    list->paths[list->n++] = TAKE(copy);
    return CLV_OK;
}

/* A walk: the files that it found, the folders that it entered, and the links to folders that it has not followed
 * yet. */
struct walk {
    struct path_list files, links;
    struct file_identity *seen;
    size_t n_seen, seen_capacity;
    bool follows_links;  /* only links can lead to one folder twice */
    bool stops_at_first; /* the first file ends the walk */
};

static void walk_release(struct walk *self)
{
    path_list_release(&self->files);
    path_list_release(&self->links);
    array_free(self->seen);
}

static void close_folder(DIR **stream)
{
    if (*stream)
        closedir(*stream);
}

/* Handles a folder that cannot be opened: a subfolder without permission to read is counted and skipped. */
static enum clv_status fail_to_open(struct path_list *list, const char *folder, const char *below,
                                    struct clv_error *err)
{
    if (errno != EACCES || !*below)
        return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot open folder", folder);
    if (!list->n_unreadable++)
        NEED(list->first_unreadable = string_copy(folder));
    return CLV_OK;
}

/* Records a folder. *is_new = whether the walk enters it for the first time. */
static enum clv_status walk_enter(bool *is_new, struct walk *self, const struct stat *info, struct clv_error *err)
{
    const struct file_identity identity = file_identity_of(info);
    *is_new = true;
    for (size_t i = 0; self->follows_links && i < self->n_seen; i++)
        *is_new &= compare_identities(&self->seen[i], &identity) != 0;
    if (!*is_new)
        return CLV_OK;
    NEED(!array_reserve((void **)&self->seen, &self->seen_capacity, self->n_seen + 1, sizeof *self->seen));
    self->seen[self->n_seen++] = identity;
    return CLV_OK;
}

static enum clv_status walk(struct walk *self, const char *root, const char *below, struct clv_error *err);

/* Adds root/inside, or the files below it if it is a folder. `type` is the type in the folder's entry, DT_UNKNOWN on
 * some file systems. */
static enum clv_status walk_add(struct walk *self, const char *root, const char *inside, int type,
                                struct clv_error *err)
{
    struct stat info;
    if (type == DT_REG)
        return path_list_add(&self->files, inside, err);
    OWNED_ARRAY char *full = path_join(root, inside);
    NEED(full);
    if (lstat(full, &info) == 0 && S_ISDIR(info.st_mode))
        MUST(walk(self, root, inside, err));
    else if (stat(full, &info) == 0 && S_ISDIR(info.st_mode))
        MUST(path_list_add(&self->links, inside, err));
    else
        MUST(path_list_add(&self->files, inside, err));
    return CLV_OK;
}

static enum clv_status walk(struct walk *self, const char *root, const char *below, struct clv_error *err)
{
    struct stat info;
    bool is_new = false;
    OWNED_ARRAY char *folder = path_join(root, below);
    NEED(folder);
    OWNED(close_folder) DIR *stream = opendir(*folder ? folder : ".");
    if (!stream)
        return fail_to_open(&self->files, folder, below, err);
    if (fstat(dirfd(stream), &info))
        return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot read folder", folder);
    MUST(walk_enter(&is_new, self, &info, err));
    while (is_new && !(self->stops_at_first && self->files.n)) {
        errno = 0;
        struct dirent *entry = readdir(stream);
        if (!entry && errno)
            return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot read folder", folder);
        if (!entry)
            break;
        if (entry->d_name[0] == '.')
            continue;
        OWNED_ARRAY char *inside = path_join(below, entry->d_name);
        NEED(inside);
        MUST(walk_add(self, root, inside, entry->d_type, err));
    }
    return CLV_OK;
}

static void sort_paths(struct path_list *list)
{
    if (list->n)
        qsort(list->paths, list->n, sizeof *list->paths, compare_strings);
}

/* Follows the links found in real folders, then the links found below these, and so on. */
static enum clv_status follow_links(struct walk *self, const char *root, struct clv_error *err)
{
    self->follows_links = true;
    while (self->links.n) {
        OWNED(path_list_release) struct path_list links = self->links;
        self->links = (struct path_list){0};
        sort_paths(&links);
        for (size_t i = 0; i < links.n; i++) {
            size_t n_before = self->n_seen;
            MUST(walk(self, root, links.paths[i], err));
            if (self->n_seen > n_before && !self->files.n_links++)
                NEED(self->files.first_link = path_join(root, links.paths[i]));
        }
    }
    return CLV_OK;
}

enum clv_status folder_has_files(bool *has_files, const char *folder, struct clv_error *err)
{
    OWNED(walk_release) struct walk self = {.stops_at_first = true};
    MUST(walk(&self, folder, "", err));
    MUST(follow_links(&self, folder, err));
    *has_files = self.files.n > 0;
    return CLV_OK;
}

enum clv_status folder_walk(struct path_list *list, const char *folder, struct clv_error *err)
{
    OWNED(walk_release) struct walk self = {.n_seen = 0};
    MUST(walk(&self, folder, "", err));
    MUST(follow_links(&self, folder, err));
    sort_paths(&self.files);
    *list = TAKE(self.files);
    return CLV_OK;
}
