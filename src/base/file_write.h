/* Writing files all or not at all. */
#ifndef BASE_FILE_WRITE_H
#define BASE_FILE_WRITE_H

#include <stdbool.h>
#include <stdio.h>

#include "cleave/status.h"

/* Files larger than this are mapped by huge pages where kernel and file system have them for files (Linux 6.16 on
 * ext4, say): most of the time of random reads goes into mapping small ones anew. Only what comes from the disk then
 * is in huge pages, so that a file that was written as large leaves memory when it is committed. */
#define FILE_LARGE     ((size_t)256 << 20)
#define FILE_HUGE_PAGE ((size_t)2 << 20)

/* Writes a file all or nothing: a file without a name in the target's folder receives the bytes (where the file system
 * has none, a temporary whose name nobody can foresee); commit flushes, fsyncs, checks the close, puts it in the
 * target's place and fsyncs the folder; abort drops it. A file that is replaced hands on its mode, and its owner and
 * group where this user may set them; a new one gets what the umask leaves. An existing target that is not a regular
 * file (/dev/stdout, /dev/full, a FIFO) is written directly, its close checked. "-" is standard output. Release with
 * commit or abort, once. */
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

/* Removes this process's unfinished temporaries, and what else was registered; safe in a signal handler. */
void file_remove_temporaries(void);

/* Has file_remove_temporaries remove a file, too, or a folder that is empty by then, until it is forgotten. The path is
 * not copied. */
void file_remember_temporary(const char *path);
void file_forget_temporary(const char *path);

#endif
