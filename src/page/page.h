/* Labelling in the browser, without the network: what a request asks of a folder of images, and what it is answered.
 *
 * To read the source: page_handle.c checks a request (page_request.h has the rules) and finds who answers it;
 * page_session.c is the folder, page_labels.c its labels, page_import.c what other programs say of it,
 * training_export.c what can be learned from it, page_document.c the image that is open, page_history.c the strokes on it
 * and their file, page_runs.c masks as run lengths, page_ranking.c which image is worth labelling next. What listens
 * to the network is in src/cli/label. */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include <stdbool.h>

#include "base/text.h"
#include "cleave/image.h"
#include "page/page_request.h"

/* A file of assets/page, built into the binary by the Makefile. */
struct page_file {
    const char *path, *type; /* "/page.js", "text/javascript" */
    const unsigned char *bytes, *end;
};

/* What is learned from, as paths. */
struct training_export {
    char *data;  /* a manifest, or the folder itself .. */
    char *only;  /* .. with a list of its images; else NULL */
    char *boxes; /* of images without a mask, or NULL */
    size_t n_masks, n_boxed;
};
void training_export_release(struct training_export *export);

/* Learning in the background, which the command brings along. */
struct page_trainer {
    void *context;
    enum clv_status (*start)(void *context, const struct training_export *export, struct clv_error *err);
    bool (*is_busy)(void *context); /* what it learns from must not change */
    void (*stop)(void *context);
    /* Writes {"running":..,"progress":"..","error":..,"loss":..,"models":n} */
    void (*write_status)(void *context, struct text *json);
    /* Counts the models that were finished. */
    int32_t (*count)(void *context);
};

struct page_options {
    const char *folder, *model;    /* model: the file that learning writes, next to the images */
    const char *boxes;             /* file or folder of other programs' boxes; NULL: the folder's boxes.tsv */
    struct page_access access;     /* who may ask */
    const struct page_file *files; /* ends with a NULL path */
    const struct page_trainer *trainer;
    struct clv_image_limits limits;
    void (*note)(const char *format, ...); /* what the user should know at the start; NULL: nobody is there */
};

struct page_session;
void page_session_free(struct page_session *session);

/* Lists the folder's images and looks whether they can be labelled there. options are borrowed. Errors:
 * CLV_ERR_NO_INPUT (no folder, no image), CLV_ERR_CREATE (the folder cannot be written to), CLV_ERR_DATA (labels.tsv,
 * boxes, two images whose masks would be one file). */
enum clv_status page_session_new(struct page_session **session, const struct page_options *options,
                                 struct clv_error *err) CLV_CHECK;

/* How many images there are, and how many of them are accepted. */
void page_session_count(size_t *n_images, size_t *n_accepted, const struct page_session *session);

/* At the end: masks/ and strokes/ go where they were made for this session and nothing was drawn. */
void page_session_remove_empty(const struct page_session *session);

struct page_response {
    int code;                  /* of HTTP */
    const char *type;          /* of the body */
    const char *location;      /* or NULL; static */
    bool sets_cookie;          /* the session's token */
    const unsigned char *view; /* a body that lives as long as the program, or NULL: */
    size_t view_size;
    int file; /* a body that is a file's bytes, open for reading; or -1 */
    size_t file_size;
    struct text body;
};
void page_response_release(struct page_response *response);

/* Answers a request. One at a time. */
void page_handle(struct page_response *response, struct page_session *session, const struct page_request *request);

#endif
