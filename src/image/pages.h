/* The pages of a file as paths of their own. */
#ifndef IMAGE_PAGES_H
#define IMAGE_PAGES_H

#include "base/path.h"

/* Adds the file at folder/path to the list, as `path`, or each page of a TIFF that has several: path#1, path#2, .. */
enum clv_status path_list_add_pages(struct path_list *list, const char *folder, const char *path,
                                    struct clv_error *err) CLV_CHECK;

#endif
