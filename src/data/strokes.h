/* Strokes that `cleave label` left next to a set's images. */
#ifndef DATA_STROKES_H
#define DATA_STROKES_H

#include <stdbool.h>

#include "cleave/data.h"

/* By the beginning of a file of strokes: whether its image was accepted, and no pixel of it is an object's.
 * false: there is no such file. */
bool strokes_look(bool *accepted, bool *empty, const char *path);

/* Marks the items whose masks, in masks/, are drafts by their files in strokes/. */
enum clv_status set_mark_drafts(struct clv_set *set, struct clv_error *err) CLV_CHECK;

#endif
