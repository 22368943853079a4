/* Boxes from texts: what tests of their formats share. */
#ifndef TESTS_BOXES_TEXT_H
#define TESTS_BOXES_TEXT_H

#include <string.h>

#include "data/boxes/boxes.h"
#include "support/support.h"

static inline const char *file(const char *name, const char *text, size_t size)
{
    const char *path = here("%s", name);
    spill(path, text, size);
    return path;
}

static inline struct clv_boxes read_text(const char *name, const char *text)
{
    struct clv_boxes boxes = {0};
    must(clv_boxes_read(&boxes, file(name, text, strlen(text)), err));
    return boxes;
}

static inline void expect_bad(const char *name, const char *text, size_t size, const char *part)
{
    struct clv_boxes boxes = {.n_labels = 77};
    must_fail(CLV_ERR_DATA, part, clv_boxes_read(&boxes, file(name, text, size), err));
    ck_assert(!boxes.images && boxes.n_labels == 77); /* unchanged */
}
#define bad(name, text, part) expect_bad(name, text, sizeof(text) - 1, part)

#endif
