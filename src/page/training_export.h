/* What an ordinary training may learn from a folder so far: masks of the images that are accepted, strokes of others, and
 * boxes. */
#ifndef PAGE_TRAINING_EXPORT_H
#define PAGE_TRAINING_EXPORT_H

#include "page/page_session.h"

/* Writes into the folder, in hidden files:
 *   - of accepted images the mask as it is;
 *   - of others their strokes, if there are some on an object and some on ground, as a mask that is void elsewhere and,
 *     where each object has a box, ground outside of the boxes: strokes of one sort alone made models worse;
 *   - of what has boxes alone, drawn here or by another program, these, if the set has two labels.
 * A folder whose images are links to elsewhere, which no manifest may name, has its masks alone. Errors: CLV_ERR_USAGE
 * if fewer than 2 images teach anything; those of reading strokes and of writing. */
enum clv_status training_export_write(struct training_export *export, const struct page_session *session,
                                      struct clv_error *err) CLV_CHECK;

#endif
