/* The image that is open: its pixels, what was drawn, the objects as they are now. */
#ifndef PAGE_PAGE_DOCUMENT_H
#define PAGE_PAGE_DOCUMENT_H

#include "cleave/model.h"
#include "click/click.h"
#include "page/page_history.h"

struct page_document {
    struct clv_image image;
    struct click_scene *scene;
    struct page_history history;
    float *prior;     /* [height][width] the model's scores, or NULL */
    int32_t revision; /* grows with every change */
};
void page_document_release(struct page_document *document);

/* Reads the image and measures it. */
enum clv_status page_document_open(struct page_document *document, const char *path,
                                   const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

size_t page_document_size(const struct page_document *document); /* in pixels */

/* The objects from a mask of another program (PAGE_MASK) or from the model's (PAGE_SUGGESTION), one for each label
 * above 0. Void pixels belong to none. */
enum clv_status page_document_import(struct page_document *document, const uint8_t *labels, enum page_kind kind,
                                     struct clv_error *err) CLV_CHECK;

/* Cuts the event's object anew and adds the event, which it takes over. Nothing changes in case of an error. */
enum clv_status page_document_draw(struct page_document *document, struct page_event *event,
                                   struct clv_error *err) CLV_CHECK;

/* false: there is nothing to undo (step -1) or redo (1). */
bool page_document_step(struct page_document *document, int step);

/* labels[height][width]: the objects, later ones over earlier ones, on 0. */
void page_document_paint(uint8_t *labels, const struct page_document *document);

/* Writes `value` where the brush of a stroke has been: discs at most half a radius apart. Returns how many rows of discs
 * were looked at, which does not grow with the way outside of the image. */
size_t page_document_stroke(uint8_t *pixels, const struct page_document *document, const struct page_event *stroke,
                            uint8_t value);

/* The box that was drawn around an object last; false: none was. */
bool page_document_frame(struct clv_pixel_box *box, const struct page_document *document, int32_t object);

/* The box around an object; false if it has no pixel, or is gone. */
bool page_document_box(struct clv_pixel_box *box, int32_t *label, const struct page_document *document, int32_t object);
int32_t page_document_n_objects(const struct page_document *document); /* numbers are below */

/* What the model says of the image: scores for later cuts, of two labels. */
enum clv_status page_document_use_model(struct page_document *document, const struct clv_model *model,
                                        struct clv_error *err) CLV_CHECK;

/* labels[height][width] as the model in use sees them: of two labels as a cut without strokes, to which strokes are
 * added later; of more by clv_segment. */
enum clv_status page_document_suggest(uint8_t *labels, const struct page_document *document,
                                      const struct clv_model *model, struct clv_error *err) CLV_CHECK;

#endif
