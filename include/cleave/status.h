/* Status codes, error details, progress and cancellation, which all fallible functions of cleave share.
 *
 * Every function that can fail returns `enum clv_status` and takes, last, a caller-owned `struct clv_error *` (NULL is
 * allowed) that receives one line naming the file and the offending value. On failure, outputs are unchanged (NULL for
 * new objects) and nothing is leaked. The library never exits, prints, or touches signals.
 *
 *     #include <cleave.h>
 *     #include <stdio.h>
 *
 *     int main(int argc, char **argv)   // prints why an image cannot be read, and exits with the command's status
 *     {
 *         struct clv_image image = {0};
 *         struct clv_error error = {0};
 *         enum clv_status status = clv_image_read(&image, argc > 1 ? argv[1] : "", NULL, &error);
 *         if (status != CLV_OK)
 *             fprintf(stderr, "%s: %s\n", clv_status_name(status), error.message);
 *         clv_image_release(&image);
 *         return clv_status_exit_code(status);
 *     }
 */
#ifndef CLEAVE_STATUS_H
#define CLEAVE_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include "cleave/version.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CLV_CHECK __attribute__((warn_unused_result))

enum clv_status {
    CLV_OK = 0,
    CLV_ERR_USAGE,       /* an argument is out of its range; exit code 64 */
    CLV_ERR_DATA,        /* a file's content is wrong; 65 */
    CLV_ERR_NO_INPUT,    /* a file is missing or cannot be read; 66 */
    CLV_ERR_INTERNAL,    /* a bug in cleave; 70 */
    CLV_ERR_MEMORY,      /* an allocation failed; 71 */
    CLV_ERR_OS,          /* any other failure of the operating system; 71 */
    CLV_ERR_CREATE,      /* an output cannot be created; 73 */
    CLV_ERR_IO,          /* writing failed, such as a full disk; 74 */
    CLV_ERR_INTERRUPTED, /* the caller asked to stop; 130 */
};

#define CLV_ERROR_MESSAGE_MAX 1004

/* Faults of masks that `cleave import masks` may be able to repair. */
enum clv_fault {
    CLV_FAULT_OTHER = 0,
    CLV_FAULT_MASK_SIZE,    /* its size differs from its image's */
    CLV_FAULT_MASK_FORMAT,  /* its format (JPEG, WebP) does not preserve values */
    CLV_FAULT_MASK_VALUES,  /* its values need names */
    CLV_FAULT_MASK_COLOURS, /* its colours need names */
};

/* The first path_length bytes of the message are a path: 12 in "horse012.png: mask is 320x213, image is 640x426"; 0:
 * the message does not begin with a path. `kind` is equal for failures of one kind, whatever files and numbers their
 * messages name; NULL: not known. It is an address that is only to be compared with others of the same process, never
 * shown or dereferenced. */
struct clv_error {
    enum clv_status status;
    int os_errno;                        /* errno at the failure, 0 if none */
    char message[CLV_ERROR_MESSAGE_MAX]; /* one line, no newline */
    enum clv_fault fault; /* this and the next members take the place of the end of older headers' message */
    const char *kind;
    size_t path_length;
};

/* A short English name of a status ("bad data"). Never NULL. */
CLV_API const char *clv_status_name(enum clv_status status);

/* The documented process exit code of a status (sysexits.h values; 130 for an interruption). */
CLV_API int clv_status_exit_code(enum clv_status status);

/* Kinds of messages of long work, each one line without a line end. NOTE: it skipped or chose something. WARNING:
 * something may be wrong, and the work continues. COMPLAINT: one of several failures, before the error that sums them
 * up. SUMMARY: a line of its summary. */
enum clv_message { CLV_NOTE, CLV_WARNING, CLV_COMPLAINT, CLV_SUMMARY };

/* Callbacks of long work, and the caller's request to stop it. All members may be zero. `report` may be called from any
 * thread, one call at a time: `what` names the stage, `done` of `total` units (total 0: unknown), `note` is extra text
 * or NULL. `notify` is called by the caller's thread (in clv_segment_files by any thread), one call at a time. `weigh`
 * is called before the report that it belongs to and measures the same work in another unit, such as pixels, as `done`
 * of `total` (0: unknown). Once `*stop` is non-zero, work ends soon, either with CLV_ERR_INTERRUPTED or, for learners,
 * with the model so far. */
struct clv_progress {
    void (*report)(void *context, const char *what, size_t done, size_t total, const char *note);
    void *context;
    const volatile int *stop;
    void (*notify)(void *context, enum clv_message kind, const char *text);
    void (*weigh)(void *context, double done, double total);
};

#ifdef __cplusplus
}
#endif
#endif
