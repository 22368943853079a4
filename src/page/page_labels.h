/* Names of the folder's labels, and labels.tsv. */
#ifndef PAGE_PAGE_LABELS_H
#define PAGE_PAGE_LABELS_H

#include "page/page_session.h"

/* Adds a label, with the next value that is free. CLV_ERR_USAGE: no name that tables can have, or one that is there; there
 * are as many labels as masks have values. CLV_ERR_DATA: a mask of another program, as of 0 and 255, would be read
 * otherwise once labels have names. */
enum clv_status page_labels_add(struct page_session *session, const char *name, struct clv_error *err) CLV_CHECK;

/* Renames a label wherever the folder has its name: in labels.tsv, boxes.tsv and the page's model. Errors as above,
 * CLV_ERR_USAGE, too, while a training is under way or if --boxes names the label; nothing has changed then. */
enum clv_status page_labels_rename(struct page_session *session, int64_t value, const char *name,
                                   struct clv_error *err) CLV_CHECK;

#endif
