/* The folder that is labelled: its images, the one that is open, and what is saved. */
#ifndef PAGE_PAGE_SESSION_H
#define PAGE_PAGE_SESSION_H

#include <sys/types.h>

#include "cleave/data.h"
#include "page/page.h"
#include "page/page_document.h"
#include "page/page_import.h"
#include "page/page_ranking.h"

/* PAGE_EMPTY: accepted, and no pixel is an object's. */
enum page_status { PAGE_NEW, PAGE_BEGUN, PAGE_ACCEPTED, PAGE_EMPTY };

/* What a file was when it was last read or written, to notice other programs' changes. */
struct page_stamp {
    bool is_there;
    off_t size;
    struct timespec changed;
    ino_t inode;
};

struct page_item {
    char *mask, *strokes; /* paths */
    const char *foreign;  /* the set's mask where it is another file, as of another format; or NULL */
    enum page_status status;
    bool has_bad_name;  /* which no table can have */
    bool is_unreadable; /* it, or what was saved of it, could not be opened last time */
};

struct page_session {
    const struct page_options *options;
    struct clv_set set;
    struct page_item *items; /* [set.n_items] */
    char *boxes_path, *labels_path;
    struct page_import import;
    int32_t open; /* item, or -1 */
    struct page_document document;
    struct page_stamp mask_stamp, strokes_stamp;
    struct clv_model model;
    int32_t n_models; /* of the trainer, when it was read; 0: none */
    struct page_ranking *ranking;
    bool has_made[2]; /* masks/ and strokes/, which go again where nothing was drawn */
};

/* Opens an image: its strokes, else its mask, else its boxes. If that fails the one before stays open as it is. */
enum clv_status page_session_open(struct page_session *session, int32_t number, struct clv_error *err) CLV_CHECK;

/* Everything about the open image, all or nothing for each file. CLV_ERR_CREATE: another program has changed one of
 * them; the image must be opened again. */
enum clv_status page_session_save(struct page_session *session, struct clv_error *err) CLV_CHECK;

/* The latest model, if there is one. */
enum clv_status page_session_use_model(struct page_session *session, struct clv_error *err) CLV_CHECK;

#endif
