/* Reading files whole or mapped. With it come writing them all or not at all (file_write.h), taking paths apart and
 * walking folders (path.h). */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <time.h>

#include "base/file_write.h"
#include "base/path.h"
#include "cleave/status.h"

/* Reads a regular file whole into *bytes (array_free it), with a zero byte behind the end that does not count in *size.
 * Folders, FIFOs, devices and files larger than max_size are refused by name. */
enum clv_status file_read(char **bytes, size_t *size, const char *path, size_t max_size,
                          struct clv_error *err) CLV_CHECK;

/* The same for a file's beginning: at most `wanted` bytes, however long the file is. */
enum clv_status file_read_head(char **bytes, size_t *size, const char *path, size_t wanted,
                               struct clv_error *err) CLV_CHECK;

/* A regular file that stays open, to be read in parts. Zeros: closed. */
struct file_source {
    char *path;
    int fd;
    size_t size;
    struct timespec changed; /* as it was opened */
};
enum clv_status file_source_open(struct file_source *source, const char *path, struct clv_error *err) CLV_CHECK;
void file_source_close(struct file_source *source);
/* bytes[size] = the file's from `begin` on, which it has. CLV_ERR_DATA if the file has changed since it was opened. Safe
 * in parallel. */
enum clv_status file_source_read(void *bytes, const struct file_source *source, size_t begin, size_t size,
                                 struct clv_error *err) CLV_CHECK;

/* A read-only memory map of a regular file (zero bytes long is allowed: bytes is then NULL), by huge pages if it is
 * larger than FILE_LARGE. */
struct file_map {
    const unsigned char *bytes;
    size_t size;
    char *path;
    int slot; /* own use of file_map_at */
};
enum clv_status file_map_open(struct file_map *map, const char *path, struct clv_error *err) CLV_CHECK;
void file_map_close(struct file_map *map);
/* Gives the pages looked at so far back: they count as memory of the process until then, and are read again when
 * needed. For files that may be larger than memory. Safe while others read. */
void file_map_forget(const struct file_map *map);

/* The path of the mapped file that the address is in, or NULL; safe in a signal handler. Reading a map of a file that
 * was cut short meanwhile, or whose disk fails, is a SIGBUS at such an address. */
const char *file_map_at(const void *address);

#endif
