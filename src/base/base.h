/* The foundation of all other folders. Read first: error.c (how a failure is reported), array.c (memory), file.c (files
 * are read whole, and written all or nothing). Then choose by the task: parallel.c runs loops on threads, rng.c
 * computes random numbers from seed and index, maths.c has exp and log with the same bits everywhere, machine.h
 * compiles kernels for several vector widths, text.c, lines.c and json.c write and read text, memory.c finds how much
 * memory and how many processors are available. */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include "cleave/status.h"

/* Overflow-checked allocation: the only code of cleave that allocates memory, so the only place where tests inject
 * failures.
 *
 * In test builds (-DCLV_TEST_FAULTS) the environment variable CLV_FAIL_ALLOC=N makes the N-th request (1-based) and
 * only that one return NULL; N = 0 counts only. array_request_count() returns the number of requests so far. When the
 * process exits, it is written to the file that CLV_COUNT_ALLOCS names, and for each place (a call and its callers) the
 * first request and the place's digest. */

/* Allocate count x size bytes, uninitialised / zeroed; NULL if the product overflows or memory is exhausted. A request
 * of zero bytes returns a valid pointer. Arrays of 4 MB and more request huge pages. Free with array_free (which
 * accepts NULL). */
void *array_alloc(size_t count, size_t size);
void *array_zalloc(size_t count, size_t size);

/* Resizes to count x size bytes; if the result is NULL, the old block is unchanged. */
void *array_realloc(void *array, size_t count, size_t size);

/* Allocates zeroed, 64-byte aligned memory, for SIMD rows. Free with array_free. */
void *array_zalloc_aligned(size_t count, size_t size);

/* to[count] = from[count], elements of `size` bytes. Unlike memcpy, both may be NULL if count is 0. */
static inline void array_put(void *to, const void *from, size_t count, size_t size)
{
    if (count)
        memcpy(to, from, count * size);
}

/* Returns a new copy of count x size bytes, or NULL. */
void *array_copy(const void *array, size_t count, size_t size);
char *string_copy(const char *text);

void array_free(void *array);

/* Calls array_free for each argument. */
#define arrays_free(...)                                                                                               \
    arrays_free_all((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
void arrays_free_all(void *const *arrays, size_t n);

/* Gives a growing array a capacity of at least `needed` elements. The capacity doubles, so that adding one at a time
 * takes linear time. Returns 0, or -1 with both unchanged. */
int array_reserve(void **array, size_t *capacity, size_t needed, size_t size);

/* Arrays that grow together and share one capacity.
 *
 *     const struct array_part by_node[] = {{&self->first, sizeof *self->first}, {&self->label, sizeof *self->label}};
 *     if (array_reserve_all(by_node, 2, &self->node_capacity, n_nodes + 1))
 *         return fail_memory(err);
 */
struct array_part {
    void *array; /* address of the pointer to the array; that pointer is NULL before the first call */
    size_t size; /* bytes of an element */
};

/* Gives each array at least `needed` elements: exactly `needed` at first, later at least 1.5 times the old capacity.
 * Keeps the content; elements past the old capacity are 0; every array is 64-byte aligned, for SIMD rows. Returns 0, or
 * -1 with the capacity and the content unchanged. Free each with array_free. O(bytes) if they grow, else O(1). */
int array_reserve_all(const struct array_part *parts, size_t n_parts, size_t *capacity, size_t needed);

/* Arrays of one owner that are freed together. The caller checks once, after all requests, whether any of them failed.
 *
 *     self->w = arena_zalloc(&self->arena, size, sizeof *self->w);
 *     self->order = arena_alloc(&self->arena, n, sizeof *self->order);
 *     if (self->arena.failed)
 *         return fail_memory(err);
 */
struct arena {
    struct arena_link *last;
    bool failed; /* an allocation failed: that and all later requests return NULL */
};               /* zeros: empty */

void *arena_alloc(struct arena *arena, size_t count, size_t size);
void *arena_zalloc(struct arena *arena, size_t count, size_t size);
void arena_release(struct arena *arena); /* frees all arrays and leaves the arena empty */

size_t array_request_count(void);

/* Test builds only: makes the request-th request from now on fail (1: the next one); 0: none. */
void array_fail_request(size_t request);

/* Records status and message and returns status, so that callers write `return fail(err, CLV_ERR_DATA, "...")`. If a
 * format begins with "%s:", its first argument is a path; an option or a learner at the beginning needs a word or "--"
 * before it. The format's address is the kind of the failure. */
enum clv_status fail(struct clv_error *err, enum clv_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails with CLV_ERR_DATA and a fault for which there is a remedy. */
enum clv_status fail_fault(struct clv_error *err, enum clv_fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails like fail, with errno's text appended: "m.cleave: cannot open: No such file or directory". */
enum clv_status fail_errno(struct clv_error *err, enum clv_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails with CLV_ERR_MEMORY and the message "out of memory", the same for every failed allocation. */
enum clv_status fail_memory(struct clv_error *err);

/* Puts "path: " before the message of an existing error (a file's name before a parser's message) and returns status.
 * The kind is kept, and the message's path becomes this one. path NULL (data without a name) changes nothing. */
enum clv_status fail_within(struct clv_error *err, enum clv_status status, const char *path);

/* Puts "what: " before the message of an existing error, where `what` is an option or a line: the message then begins
 * with no path. */
enum clv_status fail_about(struct clv_error *err, enum clv_status status, const char *what);

/* Fails with the message, kind, path, fault and errno of another error, and this status. `why` may be *err. */
enum clv_status fail_as(struct clv_error *err, enum clv_status status, const struct clv_error *why);

/* Fails like fail_as, with text appended to the message: fail_adding(err, status, err, "; --scale %d fits", n). */
enum clv_status fail_adding(struct clv_error *err, enum clv_status status, const struct clv_error *why,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Fails with a stored or received message, whose first path_length bytes are a path. kind NULL: not known, as for a
 * failure in another process. */
enum clv_status fail_told(struct clv_error *err, enum clv_status status, const char *message, size_t path_length,
                          const char *kind);

/* Convert a kind to a number that is equal in all processes of this program, for sending it to them, and back. */
int64_t error_kind_number(const char *kind);
const char *error_kind(int64_t number);

/* A step: if it fails, the function returns its status. */
#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        enum clv_status must_status = (call);                                                                          \
        if (must_status != CLV_OK)                                                                                     \
            return must_status;                                                                                        \
    } while (0)

/* Fails the function with a message if the condition holds. */
#define FAIL_IF(condition, code, ...)                                                                                  \
    do {                                                                                                               \
        if (condition)                                                                                                 \
            return fail(err, code, __VA_ARGS__);                                                                       \
    } while (0)

/* Fails the function for lack of memory if an allocation returned NULL. */
#define NEED(allocated)                                                                                                \
    do {                                                                                                               \
        if (!(allocated))                                                                                              \
            return fail_memory(err);                                                                                   \
    } while (0)

/* Scope release. An owned variable is released when its scope is left, so that a function can return early:
 *
 *     OWNED(clv_image_release) struct clv_image image = {0};
 *     OWNED_ARRAY char *path = path_join(folder, name);
 *     NEED(path);
 *     MUST(clv_image_read(&image, path, limits, err));
 *     *out = TAKE(image);
 *     return CLV_OK;
 *
 * An owned variable has an initialiser; its release function takes its address and does nothing on zeros. Only TAKE
 * moves a value out of its owner, in the last statements, so that outputs are unchanged on failure. Do not combine with
 * setjmp or goto. */
#define OWNED(release) __attribute__((cleanup(release)))

/* Owns an array or a string, to be freed by array_free. */
#define OWNED_ARRAY OWNED(array_drop)

static inline void array_drop(void *variable)
{
    void *array;
    memcpy(&array, variable, sizeof array);
    array_free(array);
}

/* Defines a release function for a pointer to an object, for OWNED: DROPS(set_drop, struct clv_set, clv_set_free). */
#define DROPS(drop, type, release)                                                                                     \
    static inline void drop(type **owned) /* NOLINT(bugprone-macro-parentheses): a type */                             \
    {                                                                                                                  \
        release(*owned);                                                                                               \
    }

/* Returns the value of an owned variable and sets the variable to zeros. */
#define TAKE(owned)                                                                                                    \
    __extension__({                                                                                                    \
        __typeof__(owned) taken_ = (owned);                                                                            \
        memset(&(owned), 0, sizeof(owned));                                                                            \
        taken_;                                                                                                        \
    })

/* Returns whether the caller asked to stop. */
int stop_requested(const struct clv_progress *progress);

/* Reports progress if the caller has a callback for it. */
void report_progress(const struct clv_progress *progress, const char *what, size_t done, size_t total,
                     const char *note);

/* Reports the finished part of the work in another unit, such as pixels, if the caller has a callback for it. */
void progress_weigh(const struct clv_progress *progress, double done, double total);

/* Sends a message if the caller has a callback for it. */
void report_message(const struct clv_progress *progress, enum clv_message kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A count with what is counted, for a message: n_of(n, "image", "images").text is "1 image" or "3 images", and
 * n_of(n, "mask is", "masks are").text is "1 mask is". All messages with a plural use it. */
struct counted {
    char text[256];
};
struct counted n_of(size_t n, const char *one, const char *many);

/* Sends a note "PATH: 1 ONE: FIRST" or "PATH: 7 MANY, the first is FIRST", or none if n is 0. path and first may be
 * NULL. */
void report_count(const struct clv_progress *progress, const char *path, size_t n, const char *one, const char *many,
                  const char *first);

/* Writing files all or not at all. */

/* Files larger than FILE_LARGE are mapped with huge pages if the kernel and the file system support them (such as Linux
 * 6.16 on ext4), since small pages would cost random reads most of their time. Huge pages arise only when data are read
 * from the disk, so file_commit drops large files from the page cache. */
#define FILE_LARGE     ((size_t)256 << 20)
#define FILE_HUGE_PAGE ((size_t)2 << 20)

/* Writes a file all or nothing. The bytes go to an unnamed file in the target's folder (without support for these, to a
 * temporary with an unpredictable name). commit flushes, fsyncs, checks the close, moves the file to the target's name
 * and fsyncs the folder; abort removes it. A replaced file's mode is kept, and its owner and group if this user may set
 * them; a new file's mode follows the umask. An existing target that is not a regular file (/dev/stdout, /dev/full, a
 * FIFO) is written directly, and its close is checked. "-" is standard output. Release with commit or abort, once. */
struct file_writer {
    FILE *stream; /* for fwrite and fprintf; file_commit reports its errors */
    char *path, *folder, *temporary;
    bool unnamed;
    bool is_cache; /* may be set after file_create: the file can be recomputed, so commit does not fsync */
};
enum clv_status file_create(struct file_writer *writer, const char *path, struct clv_error *err) CLV_CHECK;
enum clv_status file_commit(struct file_writer *writer, struct clv_error *err) CLV_CHECK;
void file_abort(struct file_writer *writer);

/* Create, write and commit a file in one call. file_write_cache does not wait for the disk: after a crash of the system
 * the file may be damaged, which its reader must detect. */
enum clv_status file_write(const char *path, const void *bytes, size_t size, struct clv_error *err) CLV_CHECK;
enum clv_status file_write_cache(const char *path, const void *bytes, size_t size, struct clv_error *err) CLV_CHECK;

/* Opens an unnamed file in a folder for writing and reading back. It disappears with its descriptor, even after a
 * crash. */
enum clv_status file_open_unnamed(FILE **stream, const char *folder, struct clv_error *err) CLV_CHECK;

/* Removes this process's unfinished temporaries and all registered paths; safe in a signal handler. */
void file_remove_temporaries(void);

/* Registers a file, or a folder that will be empty, for removal by file_remove_temporaries, until it is forgotten. The
 * path is not copied. */
void file_remember_temporary(const char *path);
void file_forget_temporary(const char *path);

/* Parsing paths, making and walking folders. */

/* Makes a folder and its missing parents; an existing folder is fine. */
enum clv_status folder_create(const char *path, struct clv_error *err) CLV_CHECK;

/* The same. *n_made = the number of nested folders at the end of the path that this call made; folders that other
 * processes made at the same time do not count. */
enum clv_status folder_make(int *n_made, const char *path, struct clv_error *err) CLV_CHECK;

/* Removes a folder with its content, but not the targets of links in it; a missing folder is not an error. */
enum clv_status folder_remove(const char *path, struct clv_error *err) CLV_CHECK;

bool path_exists(const char *path); /* false on errors, which path_find_kind reports */
bool path_is_folder(const char *path);

/* Finds what kind of file a path leads to, following links. PATH_ABSENT is certain: if the system cannot tell (an I/O
 * error, a folder without permission to search), the result is CLV_ERR_NO_INPUT. A dangling link is PATH_FILE, which
 * cannot be opened. */
enum path_kind { PATH_ABSENT, PATH_FOLDER, PATH_FILE };
enum clv_status path_find_kind(enum path_kind *kind, const char *path, struct clv_error *err) CLV_CHECK;

/* Returns whether a path names a page of a TIFF by its number, from 1: "a/stack.tif#2". *length = the length of the
 * file's path, which is the whole path if it names no page. A file whose own name ends like this cannot be named. */
bool path_page(size_t *length, uint32_t *page, const char *path);

/* Returns a new string: the file of a page, "a/stack.tif#2" -> "a/stack.tif"; other paths unchanged. */
char *path_file(const char *path);

/* Return new strings (array_free), or NULL if out of memory. A page's extension becomes part of its stem:
 * "a/stack.tif#2" -> "a/stack-2". */
char *path_join(const char *folder, const char *name); /* name alone if it is absolute or folder is "" */
char *path_folder(const char *path);                   /* "a/b.png" -> "a", "b.png" -> "." */
char *path_stem(const char *path);                     /* "a/b.tar.gz" -> "b.tar" */
char *path_replace_extension(const char *path, const char *extension); /* ("a/b.jpg", ".png") -> "a/b.png" */
const char *path_name(const char *path);                               /* "a/b.png" -> "b.png", into the argument */

/* Returns the length of a path without its extension; a leading dot of the name does not begin one. */
size_t path_stem_end(const char *path);

/* Natural order of names: by characters, but runs of digits by their values, so that f2 is before f10. Returns -1, 0 or
 * 1; 0 also for f2 and f02. */
int path_compare(const char *a, const char *b);

/* Outputs are named by the stem of their input: "a/b" for a/b.jpg. If paths[n] contains a/b.png, too, is_shared[i] is
 * true for both, and their outputs are named by the whole names, a/b.jpg and a/b.png. A path that is listed twice does
 * not share its stem with itself. */
enum clv_status path_find_shared_stems(bool *is_shared, const char *const *paths, size_t n,
                                       struct clv_error *err) CLV_CHECK;
char *path_output(const char *path, bool is_shared); /* new, without the output's extension; NULL: out of memory */

/* Checks that `relative` is a relative path without ".." that, symbolic links resolved, stays inside `folder`. A path
 * that does not exist passes (opening it fails later). */
enum clv_status path_check_inside(const char *folder, const char *relative, struct clv_error *err) CLV_CHECK;

/* Removes "./" and repeated slashes from a path, in place, so that a file has one name. */
void path_simplify(char *path);

/* Identifies a file or folder, whatever path leads to it. */
struct file_identity {
    dev_t device;
    ino_t inode;
};

struct stat;
struct file_identity file_identity_of(const struct stat *info);
int compare_identities(const void *a, const void *b); /* an order for qsort and bsearch */
bool is_one_file(const struct stat *a, const struct stat *b);

/* Returns whether a path leads to the open file or folder fd. */
bool file_is_at(int fd, const char *path);

/* A list of paths. */
struct path_list {
    char **paths;
    size_t n, capacity;
    size_t n_unreadable;    /* set by folder_walk: subfolders without permission to read */
    char *first_unreadable; /* NULL: none */
    size_t n_links;         /* set by folder_walk: links to folders that were followed */
    char *first_link;       /* NULL: none */
};
void path_list_release(struct path_list *list);
enum clv_status path_list_add(struct path_list *list, const char *path, struct clv_error *err) CLV_CHECK;

/* Lists every file below `folder`, in subfolders, too (except names that begin with a dot), as paths relative to it,
 * sorted by bytes. Links to folders are followed last, in the order of their paths, and counted, but no folder is
 * walked twice. Subfolders without permission to read (lost+found) are counted and skipped; any other failure is an
 * error. */
enum clv_status folder_walk(struct path_list *list, const char *folder, struct clv_error *err) CLV_CHECK;

/* *has_files = whether folder_walk would list any file; stops at the first. */
enum clv_status folder_has_files(bool *has_files, const char *folder, struct clv_error *err) CLV_CHECK;

/* Reading files whole or mapped. */

/* Reads a regular file whole into *bytes (free with array_free), with a zero byte after the end that does not count in
 * *size. Folders, FIFOs, devices and files larger than max_size are errors, which name the path. */
enum clv_status file_read(char **bytes, size_t *size, const char *path, size_t max_size,
                          struct clv_error *err) CLV_CHECK;

/* Reads the first bytes of a file like file_read: at most `wanted`, whatever the file's size. */
enum clv_status file_read_head(char **bytes, size_t *size, const char *path, size_t wanted,
                               struct clv_error *err) CLV_CHECK;

/* A regular file that stays open for reading in parts. Zeros: closed. */
struct file_source {
    char *path;
    int fd;
    size_t size;
    struct timespec changed; /* time of the last change when it was opened */
};
enum clv_status file_source_open(struct file_source *source, const char *path, struct clv_error *err) CLV_CHECK;
void file_source_close(struct file_source *source);
/* Reads bytes[size] from offset `begin`, where begin + size is within the file. CLV_ERR_DATA if the file has changed
 * since it was opened. Safe in parallel. */
enum clv_status file_source_read(void *bytes, const struct file_source *source, size_t begin, size_t size,
                                 struct clv_error *err) CLV_CHECK;

/* A read-only memory map of a regular file (an empty one is allowed: bytes is then NULL), with huge pages if it is
 * larger than FILE_LARGE. */
struct file_map {
    const unsigned char *bytes;
    size_t size;
    char *path;
    int slot; /* used by file_map_at */
};
enum clv_status file_map_open(struct file_map *map, const char *path, struct clv_error *err) CLV_CHECK;
void file_map_close(struct file_map *map);
/* Releases the resident pages, which count as memory of the process; they are read again when needed. For files that
 * may be larger than memory. Safe while other threads read. */
void file_map_forget(const struct file_map *map);

/* Returns the path of the mapped file that contains an address, or NULL; safe in a signal handler. Reading from a map
 * raises SIGBUS at such an address if the file was truncated after mapping or its disk fails. */
const char *file_map_at(const void *address);

/* Fowler-Noll-Vo 1a, 64 bits: distinguishes data, but is not secure against adversaries. */

#define HASH_START 0xcbf29ce484222325u
#define HASH_PRIME 0x100000001b3u

/* Continues `hash` over size bytes. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * HASH_PRIME;
    return hash;
}

static inline uint64_t hash_number(uint64_t hash, uint64_t number)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
    return hash_bytes(hash, bytes, sizeof bytes);
}

/* Elementary functions that give the same bits on every machine and with every compiler. Those of the C library do not:
 * they are not correctly rounded, and their variant depends on the processor. These use only sums, products, quotients
 * and square roots, in a fixed order, without fused multiply-add (the Makefile's -ffp-contract=off).
 *
 * Results are within one unit in the last place unless a comment says otherwise. Infinities, NaNs and zeros are treated
 * as by the C library; neither errno nor floating-point flags are promised. */

double portable_exp(double x);
double portable_expm1(double x); /* within 2 units in the last place */
double portable_log(double x);
double portable_log1p(double x); /* within 2 units */
double portable_log2(double x);  /* within 2 units */
double portable_cbrt(double x);  /* within 2 units */
double portable_tanh(double x);  /* within 4 units */

/* out[c] = portable_log(x[c]), with the same bits but vectorised; out may be x. */
void portable_logs(double *out, const double *x, size_t n);

/* Returns x^y for x >= 0, within 2 units in the last place, and NaN for x < 0. */
double portable_pow(double x, double y);

/* Return NaN unless |x| <= 2^20. */
double portable_sin(double x);
double portable_cos(double x);

/* These are the functions above, rounded to single precision. */
static inline float portable_expf(float x)
{
    return (float)portable_exp((double)x);
}

static inline float portable_sinf(float x)
{
    return (float)portable_sin((double)x);
}

static inline float portable_cosf(float x)
{
    return (float)portable_cos((double)x);
}

/* Conversions to integers of numbers that come from a file, a request or a caller. A C cast of NaN or of a number out
 * of range is undefined, so all such casts are here. Fractions are truncated, numbers are clipped to low..high, and NaN
 * gives `low`. */

static inline int64_t int64_within(double value, int64_t low, int64_t high)
{
    if (!(value > (double)low))
        return low;
    return value < (double)high ? (int64_t)value : high;
}

static inline int32_t int32_within(double value, int32_t low, int32_t high)
{
    return (int32_t)int64_within(value, low, high);
}

/* Converts a count: 0 for NaN and negative numbers, at most 2^53. */
static inline size_t size_of_number(double value)
{
    return (size_t)int64_within(value, 0, INT64_C(1) << 53);
}

/* Returns whether a number is a 32-bit integer, so that int32_within(value, INT32_MIN, INT32_MAX) is exact. */
static inline bool number_is_int32(double value)
{
    return (double)int32_within(value, INT32_MIN, INT32_MAX) == value;
}

static inline int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline size_t smaller_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Orders for qsort and bsearch: ascending numbers (none is NaN), strings by their bytes. */

static inline int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline int compare_uint64s(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static inline int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Union-find: returns the root of i's tree, where roots are their own parents. Halves the path to it. */
static inline int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Deterministic data parallelism: each task writes to its own slot; callers reduce in index order. Threads are kept
 * from loop to loop and wait without using the processor, so that they do not use up the quota of a container. */

/* Task `index` of a loop, run by `thread` in 0..n_threads-1 (for per-thread workspaces). */
typedef enum clv_status parallel_task(void *context, size_t index, int thread, struct clv_error *err);

/* Runs task(0) .. task(n-1), handed out one by one in index order. After a failure no further task starts; the failure
 * of the lowest index is returned, as a sequential run would. n_threads <= 0: parallel_threads(0). If the system grants
 * fewer threads, these run all tasks. A loop within a task runs in that task's thread, as thread 0. Loops of different
 * calling threads run concurrently. */
enum clv_status parallel_for(size_t n, int n_threads, parallel_task *task, void *context,
                             struct clv_error *err) CLV_CHECK;

/* Returns n_threads if positive, else the number of processors that this process may use: the machine's, limited by its
 * affinity and the quota of its control groups (rounded up). */
int parallel_threads(int n_threads);

/* Returns whether the calling thread is running a task. */
bool parallel_is_within_task(void);

/* For tasks: adds 1 to *done, of `total`, and reports progress if there is a callback. Calls are serialised. */
void parallel_progress(const struct clv_progress *progress, const char *what, size_t *done, size_t total,
                       const char *note);

/* Seconds of a monotonic clock with an arbitrary origin. */
double seconds_now(void);

/* Counter-based random numbers (Random123's Philox4x32-10, Salmon et al. 2011): every value is a pure function of
 * (seed, stream, index), so results do not depend on the order of calls or on threads. */

/* Streams separate independent uses. All purposes are listed here, so that no two collide; the low 32 bits of a stream
 * are free for the number of an example, epoch or sample: RNG_STREAM(RNG_GUMBEL, sample). */
enum rng_purpose {
    RNG_TEST,
    RNG_SYNTH,
    RNG_CODEBOOK,
    RNG_ORDER,
    RNG_GUMBEL,
    RNG_FOLD,
    RNG_INIT,
    RNG_SIMULATE,
    RNG_MISSING,
    RNG_MIXTURE,
};
#define RNG_STREAM(purpose, number) (((uint64_t)(purpose) << 32) | (uint32_t)(number))

struct rng_block {
    uint32_t word[4];
};

struct rng_block rng_at(uint64_t seed, uint64_t stream, uint64_t index);

double rng_uniform(uint64_t seed, uint64_t stream, uint64_t index); /* in (0, 1), never 0 or 1; 53 bits */
double rng_normal(uint64_t seed, uint64_t stream, uint64_t index);  /* N(0, 1), Box-Muller */
double rng_gumbel(uint64_t seed, uint64_t stream, uint64_t index);  /* zero mean: -log(-log u) - 0.5772.. */
/* Returns a number in 0..n-1, n >= 1, unbiased to 2^-32. */
uint32_t rng_below(uint64_t seed, uint64_t stream, uint64_t index, uint32_t n);

/* Fills perm[n] with a uniform permutation of 0..n-1 (Fisher-Yates). */
void rng_permutation(int32_t *perm, size_t n, uint64_t seed, uint64_t stream);

/* Growable text with a maximum, strict number parsing, and tab-separated lines. */

/* Work like snprintf, vsnprintf and strtod, but with a decimal point in every locale of the calling program. Safe in
 * parallel. */
int point_snprintf(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int point_vsnprintf(char *buffer, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));
double point_strtod(const char *string, char **end);

/* A growable string, always terminated. A failed append (out of memory, or past `max`) leaves it unchanged and sets
 * `failed`, so that a writer checks once at the end. Zero-initialise, then call text_init. */
struct text {
    char *bytes;
    size_t size, capacity, max;
    bool failed;
};

void text_init(struct text *text, size_t max);
void text_release(struct text *text);
void text_append(struct text *text, const void *bytes, size_t size);
void text_put(struct text *text, const char *string);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Append a string as "..." with JSON escapes / with HTML entities for <>&"'. Bytes that are not UTF-8 become U+FFFD. */
void text_put_json(struct text *text, const char *string);
void text_put_html(struct text *text, const char *string);

/* Appends a field of a tab-separated table: tabs, newlines, backslashes and other control characters become \t, \n, \\,
 * \x1b. field_escape returns the text of a character, written to `space` if needed. */
void text_put_field(struct text *text, const char *string);
const char *field_escape(char space[5], char c);

/* Appends a word of a shell command, in quotes if necessary. */
void text_put_word(struct text *text, const char *word);

/* Appends a JSON number, in the shortest form that reads back the same; null if not finite. */
void text_put_json_number(struct text *text, double value);

/* Prints a string as text_put_field appends it. */
void put_field(FILE *stream, const char *string);

/* Parse strictly: the whole string must be the number, without blanks, in range; doubles are finite.
 * Locale-independent. */
bool parse_int64(const char *string, int64_t *value);
bool parse_uint64(const char *string, uint64_t *value);
bool parse_int32(const char *string, int32_t *value);
bool parse_double(const char *string, double *value);

/* Returns the next line from *cursor (up to `end`), terminated in place without "\n" or "\r\n", and advances *cursor.
 * NULL at the end. The buffer must have one writable byte at `end`. */
char *line_next(char **cursor, char *end);

/* Returns the text after a leading byte order mark of UTF-8, and reduces *size accordingly. */
char *text_skip_mark(char *bytes, size_t *size);

/* Splits a line at tabs in place; returns the number of fields, of which at most `max` are stored. */
size_t split_tabs(char *line, char **fields, size_t max);

/* Replaces every control character that a terminal may interpret by "?": below 32, 127, and c2 80 to c2 9f in UTF-8.
 * Safe in a signal handler. */
void text_hide_controls(char *line);

bool text_is_utf8(const char *bytes, size_t size); /* valid throughout (RFC 3629); a zero byte is a valid character */

/* Letters and digits of ASCII. Those of <ctype.h> and <strings.h> are other ones in some locales of the calling program
 * (Turkish: "I" is not "i" there), so no file format is read by them. */

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns whether a character is a blank, or one of \t, \n, \v, \f and \r. */
static inline bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline char lower_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Return whether strings are equal except for the case of letters: whole, in the first n bytes, at the end. */
bool text_matches(const char *a, const char *b);
bool text_matches_n(const char *a, const char *b, size_t n);
bool text_ends_with(const char *string, const char *suffix);

/* For "did you mean": returns the one of choices[n] from which few typing errors (insert, delete, replace, swap
 * neighbours) lead to `typed`, or NULL if none is close. */
const char *text_nearest(const char *typed, const char *const *choices, size_t n);

#endif
