/* What makes masks usable that cannot be learned from. */
#ifndef TASK_MASK_REMEDY_H
#define TASK_MASK_REMEDY_H

#include "base/text.h"
#include "cleave/data.h"

/* Appends "; .." with a command of the shell to the message of a mask, which begins with its path, of the set. Masks of
 * JPEG, of another size than the image's, and of colours and values that are no label's have one; others nothing. Reads
 * all masks where labels are to be named. */
void mask_remedy(struct text *text, const char *message, enum clv_fault fault, const struct clv_set *set,
                 const struct clv_image_limits *limits);

#endif
