/* Checks every file that a command will write (outputs_claim): it can be created, is not an input, and replaces an
 * existing file only if allowed. Locks prevent two runs from writing into one folder or file (output_locks_folder). */
#include "data/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

void outputs_release(struct outputs *self)
{
    for (size_t i = 0; i < self->n; i++)
        array_free(self->list[i].path);
    array_free(self->list);
    output_locks_release(&self->locks);
    *self = (struct outputs){0};
}

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Whether a path exists, and its stat. Fails if that cannot be determined, as after an I/O error. */
static enum clv_status stat_path(bool *exists, struct stat *info, const char *path, struct clv_error *err)
{
    *exists = stat(path, info) == 0;
    if (*exists || errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG)
        return CLV_OK;
    return fail_errno(err, CLV_ERR_CREATE, "%s: cannot find out whether it is there", path);
}

/* Whether writing would replace an existing regular file. Devices, FIFOs and standard output by another name
 * (/dev/stdout) are not replaced. */
static enum clv_status would_replace(bool *would, struct stat *info, const char *path, struct clv_error *err)
{
    struct stat standard;
    *would = false;
    if (is_standard(path))
        return CLV_OK;
    MUST(stat_path(would, info, path, err));
    if (*would)
        *would = S_ISREG(info->st_mode) && (fstat(STDOUT_FILENO, &standard) != 0 || !is_one_file(&standard, info));
    return CLV_OK;
}

/* Whether a file could be created at `path`. */
static enum clv_status check_creatable(const char *path, struct clv_error *err)
{
    struct stat info;
    bool exists;
    if (is_standard(path))
        return CLV_OK;
    MUST(stat_path(&exists, &info, path, err));
    if (exists) {
        FAIL_IF(S_ISDIR(info.st_mode), CLV_ERR_CREATE, "%s: is a folder", path);
        return access(path, W_OK) ? fail_errno(err, CLV_ERR_CREATE, "%s: cannot write", path) : CLV_OK;
    }
    OWNED_ARRAY char *folder = path_folder(path);
    NEED(folder);
    if (stat(folder, &info))
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot create", path);
    FAIL_IF(!S_ISDIR(info.st_mode), CLV_ERR_CREATE, "%s: cannot create: %s is not a folder", path, folder);
    if (access(folder, W_OK | X_OK))
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot create", path);
    return CLV_OK;
}

enum clv_status outputs_add(struct outputs *self, const char *path, struct clv_error *err)
{
    struct stat info;
    bool would;
    MUST(would_replace(&would, &info, path, err));
    if (!would)
        return CLV_OK;
    if (array_reserve((void **)&self->list, &self->capacity, self->n + 1, sizeof *self->list))
        return fail_memory(err);
    char *copy = string_copy(path);
    NEED(copy);
    self->list[self->n++] = (struct replaced){file_identity_of(&info), copy};
    return CLV_OK;
}

enum clv_status output_check_existing(const char *path, bool may_replace, const char *hint, struct clv_error *err)
{
    struct stat info;
    bool would;
    if (may_replace)
        return CLV_OK;
    MUST(would_replace(&would, &info, path, err));
    FAIL_IF(would, CLV_ERR_CREATE, "%s: exists already; --overwrite replaces it%s", path, hint);
    return CLV_OK;
}

void outputs_sort(struct outputs *self)
{
    if (self->n)
        qsort(self->list, self->n, sizeof *self->list, compare_identities);
}

/* Gets the stat of a file; the path of a TIFF page gives that of its file. */
static enum clv_status identify(bool *exists, struct stat *info, const char *path, struct clv_error *err)
{
    char file[PATH_MAX];
    size_t length;
    uint32_t page;
    if (!path_page(&length, &page, path))
        return stat_path(exists, info, path, err);
    snprintf(file, sizeof file, "%.*s", (int)length, path);
    *exists = false;
    return length < sizeof file ? stat_path(exists, info, file, err) : CLV_OK;
}

static enum clv_status spare_file(const struct outputs *self, const char *input, struct clv_error *err)
{
    struct stat info;
    bool exists;
    if (!self->n || !input)
        return CLV_OK;
    MUST(identify(&exists, &info, input, err));
    if (!exists)
        return CLV_OK;
    const struct file_identity identity = file_identity_of(&info);
    const struct replaced *found = bsearch(&identity, self->list, self->n, sizeof *found, compare_identities);
    if (!found)
        return CLV_OK;
    FAIL_IF(strcmp(found->path, input) == 0, CLV_ERR_CREATE,
            "%s: is an input of this command, which the output would replace", input);
    return fail(err, CLV_ERR_CREATE, "%s: is the same file as the input %s, which the output would replace",
                found->path, input);
}

enum clv_status outputs_spare(const struct outputs *self, const char *input, struct clv_error *err)
{
    if (!self->n || !input || is_standard(input))
        return CLV_OK;
    if (!path_is_folder(input))
        return spare_file(self, input, err);
    OWNED(path_list_release) struct path_list files = {0};
    MUST(folder_walk(&files, input, err));
    for (size_t i = 0; i < files.n; i++) {
        OWNED_ARRAY char *path = path_join(input, files.paths[i]);
        NEED(path);
        MUST(spare_file(self, path, err));
    }
    return CLV_OK;
}

enum clv_status outputs_spare_set(const struct outputs *self, const struct clv_set *set, const char *path,
                                  struct clv_error *err)
{
    if (!self->n)
        return CLV_OK;
    OWNED_ARRAY char *labels = path_join(set->root, "labels.tsv");
    NEED(labels);
    MUST(spare_file(self, labels, err));
    MUST(spare_file(self, set->manifest ? set->manifest : path, err));
    for (size_t i = 0; i < set->n_items; i++) {
        const struct clv_item *item = &set->items[i];
        MUST(spare_file(self, item->image, err));
        MUST(spare_file(self, item->mask, err));
        MUST(spare_file(self, item->instances, err));
        MUST(spare_file(self, item->boxes, err));
        for (size_t m = 0; m < set->n_maps; m++)
            MUST(spare_file(self, item->maps[m], err));
    }
    return CLV_OK;
}

enum clv_status outputs_claim(struct outputs *self, const char *path, bool may_replace, const char *hint,
                              const char *const *inputs, size_t n_inputs, struct clv_error *err)
{
    MUST(check_creatable(path, err));
    MUST(outputs_add(self, path, err));
    outputs_sort(self);
    for (size_t i = 0; i < n_inputs; i++)
        MUST(outputs_spare(self, inputs[i], err));
    return output_check_existing(path, may_replace, hint, err);
}

enum clv_status outputs_make_folder(const char *path, struct clv_error *err)
{
    OWNED_ARRAY char *folder = path_folder(path);
    NEED(folder);
    return folder_create(folder, err);
}

enum clv_status outputs_check_set(void *outputs, const struct clv_set *set, const char *path, struct clv_error *err)
{
    return outputs_spare_set(outputs, set, path, err);
}

/* Length of the byte range that shards lock in SHARDS_LOCK; the file itself may be empty. Shard i of n locks the i-th
 * of n equal parts, so that shards of different counts conflict exactly where their work overlaps. */
#define SHARES ((int64_t)1 << 40)

/* Attempts at a lock, and their interval. A process that ends holds a lock briefly to find out whether it is the
 * last. */
enum { ATTEMPTS = 20, ATTEMPT_MS = 10 };

static int exit_code;

int output_locks_exit_code(void)
{
    return exit_code;
}

static enum clv_status refuse_lock(struct clv_error *err, const char *path, const struct clv_shard *shard)
{
    char part[48] = "";
    exit_code = EX_TEMPFAIL;
    if (shard && shard->count)
        snprintf(part, sizeof part, " or of part %d of %d", shard->number, shard->count);
    return fail(err, CLV_ERR_CREATE, "%s: another run%s writes there now; wait until it has ended", path, part);
}

/* Adds the open file or folder to the list, which then owns fd and file; *is_new is false if it is there already. */
static enum clv_status add_lock(bool *is_new, struct output_locks *self, int fd, char *file, const char *path,
                                struct clv_error *err)
{
    struct stat info;
    *is_new = false;
    if (fstat(fd, &info))
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot lock", path);
    const struct file_identity identity = file_identity_of(&info);
    for (size_t k = 0; k < self->n; k++)
        if (compare_identities(&self->taken[k].identity, &identity) == 0)
            return CLV_OK;
    NEED(!array_reserve((void **)&self->taken, &self->capacity, self->n + 1, sizeof *self->taken));
    self->taken[self->n++] = (struct taken_lock){fd, identity, file};
    *is_new = true;
    return CLV_OK;
}

static void release_lock(struct taken_lock *taken)
{
    const struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (taken->file && fcntl(taken->fd, F_OFD_SETLK, &all) == 0)
        unlink(taken->file); /* no other process uses it */
    close(taken->fd);
    array_free(taken->file);
}

/* Locks a part of a file for this open file, or a folder (part is NULL) by flock's operation. Returns false with errno
 * EAGAIN if another process holds the lock. */
static bool lock(int fd, const struct flock *part, int operation)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if ((part ? fcntl(fd, F_OFD_SETLK, part) : flock(fd, operation | LOCK_NB)) == 0)
            return true;
        if (errno != EAGAIN && errno != EACCES)
            return false;
        nanosleep(&(struct timespec){0, ATTEMPT_MS * 1000000}, NULL);
    }
    errno = EAGAIN;
    return false;
}

/* Opens or creates the lock file and locks a part of it. Returns -1 on failure, with errno EAGAIN if another process
 * holds the lock. Tries again if the last user removed the file in between. */
static int open_locked(const char *file, int64_t start, int64_t length)
{
    const struct flock part = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0)
            return -1;
        if (!lock(fd, &part, 0)) {
            int why = errno;
            if (why != EAGAIN)
                unlink(file); /* the file system has no locks */
            close(fd);
            errno = why;
            return -1;
        }
        if (file_is_at(fd, file))
            return fd;
        close(fd);
    }
    errno = 0;
    return -1;
}

/* Locks the lock file `file` and takes ownership of that string. A refusal names `path`. */
static enum clv_status take_file(struct output_locks *self, char *file, const char *path, const struct clv_shard *shard,
                                 struct clv_error *err)
{
    int64_t start = 0, end = 0;
    NEED(file);
    if (shard) {
        start = (shard->number - 1) * SHARES / shard->count;
        end = shard->number * SHARES / shard->count;
    }
    int fd = open_locked(file, start, end - start); /* a length of 0 is the whole file */
    if (fd < 0) {
        const bool is_refused = errno == EAGAIN;
        array_free(file);
        return is_refused ? refuse_lock(err, path, shard) : CLV_OK;
    }
    bool is_new;
    const enum clv_status status = add_lock(&is_new, self, fd, file, path, err);
    if (!is_new)
        release_lock(&(struct taken_lock){.fd = fd, .file = file});
    return status;
}

/* Whether a path leads to the open file fd; true if that cannot be determined. */
static bool leads_to(const char *path, int fd)
{
    struct stat opened, named;
    if (fstat(fd, &opened) != 0)
        return true;
    return stat(path, &named) == 0 && is_one_file(&opened, &named);
}

/* Locks a folder. *is_gone: the folder does not exist, or another one has replaced it in the meantime. */
static enum clv_status take_folder(struct output_locks *self, bool *is_gone, const char *folder,
                                   const struct clv_shard *shard, struct clv_error *err)
{
    bool is_whole = !shard || !shard->count;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *is_gone = fd < 0 && errno == ENOENT;
    if (fd < 0)
        return CLV_OK;
    bool is_new;
    const enum clv_status status = add_lock(&is_new, self, fd, NULL, folder, err);
    if (!is_new) {
        close(fd);
        return status;
    }
    if (!lock(fd, NULL, is_whole ? LOCK_EX : LOCK_SH) && errno == EAGAIN) {
        close(self->taken[--self->n].fd);
        return refuse_lock(err, folder, NULL);
    }
    *is_gone = !leads_to(folder, fd);
    if (*is_gone) {
        close(self->taken[--self->n].fd);
        return CLV_OK;
    }
    return is_whole ? CLV_OK : take_file(self, path_join(folder, SHARDS_LOCK), folder, shard, err);
}

enum clv_status output_locks_folder(struct output_locks *self, const char *folder, const struct clv_shard *shard,
                                    struct clv_error *err)
{
    bool ignored;
    return take_folder(self, &ignored, folder, shard, err);
}

enum clv_status output_locks_make_folder(struct output_locks *self, int *n_made, const char *folder,
                                         const struct clv_shard *shard, struct clv_error *err)
{
    int n = 0, n_new = 0;
    bool is_gone = true;
    *n_made = 0;
    for (int attempt = 0; attempt < ATTEMPTS && is_gone; attempt++) {
        MUST(folder_make(&n_new, folder, err));
        n = n_new > n ? n_new : n;
        MUST(take_folder(self, &is_gone, folder, shard, err));
    }
    FAIL_IF(is_gone, CLV_ERR_CREATE, "%s: cannot create folder: others remove it again and again", folder);
    *n_made = n;
    return CLV_OK;
}

enum clv_status output_locks_file(struct output_locks *self, const char *path, struct clv_error *err)
{
    size_t size = strlen(path) + sizeof "..lock", folder = strlen(path) - strlen(path_name(path));
    char *file = array_alloc(size, 1);
    if (file)
        snprintf(file, size, "%.*s.%s.lock", (int)folder, path, path_name(path));
    return take_file(self, file, path, NULL, err);
}

void output_locks_end_shard(struct output_locks *self)
{
    size_t n = 0;
    for (size_t k = 0; k < self->n; k++)
        if (self->taken[k].file)
            release_lock(&self->taken[k]);
        else
            self->taken[n++] = self->taken[k];
    self->n = n;
}

void output_locks_release(struct output_locks *self)
{
    while (self->n)
        release_lock(&self->taken[--self->n]);
    array_free(self->taken);
    *self = (struct output_locks){.n = 0};
}
