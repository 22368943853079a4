/* Status codes, error details, progress and cancellation: what every fallible call of cleave shares.
 *
 * Every function that can fail returns `enum clv_status` and takes, last, a caller-owned `struct clv_error *` (NULL is
 * allowed) that receives one line naming the file and the offending value. On failure, outputs are left as they were
 * (or NULL, for new objects) and nothing is leaked. The library never exits, prints, or touches signals.
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

/* A fault of a mask that `cleave import masks` may mend. */
enum clv_fault {
    CLV_FAULT_OTHER = 0,
    CLV_FAULT_MASK_SIZE,    /* it is not of its image's size */
    CLV_FAULT_MASK_FORMAT,  /* its format (JPEG, WebP) does not keep values */
    CLV_FAULT_MASK_VALUES,  /* its values need names, .. */
    CLV_FAULT_MASK_COLOURS, /* .. its colours do */
};

/* The message begins with path_length bytes of a path, as it shows it: 12 of "horse012.png: mask is 320x213, image is
 * 640x426"; 0: with no path. `kind` is equal for failures of one kind, whatever file and numbers they name; NULL: not
 * known. It is an address, to be compared with others of the same process, and neither shown nor followed. */
struct clv_error {
    enum clv_status status;
    int os_errno;                        /* errno at the failure, 0 if none */
    char message[CLV_ERROR_MESSAGE_MAX]; /* one line, no newline */
    enum clv_fault fault;                /* older headers have the end of the message where this and the rest are */
    const char *kind;
    size_t path_length;
};

/* A short English name of a status ("bad data"). Never NULL. */
CLV_API const char *clv_status_name(enum clv_status status);

/* The documented process exit code of a status (sysexits.h values; 130 for an interruption). */
CLV_API int clv_status_exit_code(enum clv_status status);

/* Messages of long work, one line each without a line end: what it skipped or chose (CLV_NOTE), what may be wrong while
 * the work goes on (CLV_WARNING), one of several failures before the error that sums them up (CLV_COMPLAINT), a line of
 * its summary (CLV_SUMMARY). */
enum clv_message { CLV_NOTE, CLV_WARNING, CLV_COMPLAINT, CLV_SUMMARY };

/* How long work reports back, and how the caller stops it. All fields may be zero. `report` may be called from any
 * thread, one call at a time: `what` names the stage, `done` of `total` units (total 0: unknown), `note` is extra text
 * or NULL. `say` is called by the caller's thread (in clv_segment_files by any
 * thread), one call at a time. `weigh` comes before the report that it belongs to and measures the same work in another
 * unit, such as pixels, as `done` of `total` (0: unknown). Once `*stop` is non-zero, work ends soon, either with
 * CLV_ERR_INTERRUPTED or, for learners, with the model so far. */
struct clv_progress {
    void (*report)(void *context, const char *what, size_t done, size_t total, const char *note);
    void *context;
    const volatile int *stop;
    void (*say)(void *context, enum clv_message kind, const char *text);
    void (*weigh)(void *context, double done, double total);
};

#ifdef __cplusplus
}
#endif
#endif
