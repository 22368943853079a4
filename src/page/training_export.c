/* Writes a training set of the labelled images: accepted masks, masks made of strokes, and boxes. Start at
 * training_export_write. */
#include "page/page.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"

#define MAX_BYTES ((size_t)1 << 28)

void training_export_release(struct training_export *export)
{
    arrays_free(export->data, export->only, export->boxes);
    *export = (struct training_export){0};
}

struct export_state {
    const struct page_session *session;
    struct training_export *export;
    struct text manifest, boxes, accepted;
    size_t n_accepted;
    bool is_linked;  /* an image is a link to a file outside of the folder */
    char *folder;    /* for masks made of strokes */
    const char *tab; /* before the column of instances; "": objects are not kept apart */
};

static void export_state_release(struct export_state *self)
{
    text_release(&self->manifest);
    text_release(&self->boxes);
    text_release(&self->accepted);
    array_free(self->folder);
}

/* Labels and boxes of an image that follow from its strokes. */
struct known {
    uint8_t *labels;             /* [height][width], CLV_VOID where no stroke gives a label */
    struct clv_pixel_box *boxes; /* [n] of objects; n is 0 unless each object has a box */
    size_t n;
    bool has_foreground, has_background;
};

static void known_release(struct known *known)
{
    arrays_free(known->labels, known->boxes);
}

static bool is_within(const struct clv_pixel_box *boxes, size_t n, int32_t x, int32_t y)
{
    for (size_t k = 0; k < n; k++)
        if (x >= boxes[k].first_x && x < boxes[k].end_x && y >= boxes[k].first_y && y < boxes[k].end_y)
            return true;
    return false;
}

/* Drops strokes before a box outside of it, as the cut of the object does. */
static void clear_outside(uint8_t *layer, const struct page_document *document, const struct clv_pixel_box *box)
{
    for (int32_t y = 0; y < document->image.height; y++)
        for (int32_t x = 0; x < document->image.width; x++)
            if (!is_within(box, 1, x, y))
                layer[(size_t)y * (size_t)document->image.width + (size_t)x] = CLICK_FREE;
}

/* Adds the strokes of an object, later ones over earlier ones. Strokes of background count only on pixels without an
 * object. */
static void add_strokes(struct known *known, uint8_t *layer, const uint8_t *painted,
                        const struct page_document *document, int32_t object, uint8_t label)
{
    size_t n = page_document_size(document);
    struct clv_pixel_box box;
    size_t at_box = SIZE_MAX;
    memset(layer, CLICK_FREE, n);
    for (size_t k = 0; k < document->history.cursor; k++)
        if (document->history.events[k].object == object && document->history.events[k].kind == PAGE_BOX)
            at_box = k;
    for (size_t k = 0; k < document->history.cursor; k++) {
        const struct page_event *event = &document->history.events[k];
        if (k == at_box && page_document_frame(&box, document, object))
            clear_outside(layer, document, &box);
        if (event->object == object && event->kind <= PAGE_ERASE)
            page_document_stroke(layer, document, event, page_stroke_seed(event));
    }
    for (size_t p = 0; p < n; p++)
        if (layer[p] == CLICK_FOREGROUND || (layer[p] == CLICK_BACKGROUND && !painted[p]))
            known->labels[p] = layer[p] == CLICK_FOREGROUND ? label : 0;
}

static void add_outside(struct known *known, const struct page_document *document)
{
    for (int32_t y = 0; y < document->image.height; y++)
        for (int32_t x = 0; x < document->image.width; x++) {
            uint8_t *label = &known->labels[(size_t)y * (size_t)document->image.width + (size_t)x];
            if (*label == CLV_VOID && !is_within(known->boxes, known->n, x, y))
                *label = 0;
        }
}

/* Collects the labels and boxes that follow from the history. The document has a size and a history, but no pixels. */
static enum clv_status collect_known(struct known *known, const struct page_document *document, struct clv_error *err)
{
    size_t n = page_document_size(document), n_there = 0;
    int32_t n_objects = page_document_n_objects(document);
    OWNED_ARRAY uint8_t *painted = array_alloc(n, 2);
    known->labels = array_alloc(n, 1);
    known->boxes = array_alloc((size_t)n_objects, sizeof *known->boxes);
    NEED(painted && known->labels && known->boxes);
    memset(known->labels, CLV_VOID, n);
    page_document_paint(painted, document);
    for (int32_t object = 0; object < n_objects; object++) {
        const struct page_event *last = page_history_latest(&document->history, object, document->history.cursor);
        if (!last || last->kind == PAGE_DELETE)
            continue;
        n_there++;
        known->n += page_document_frame(&known->boxes[known->n], document, object);
        add_strokes(known, painted + n, painted, document, object, (uint8_t)last->label);
    }
    known->n = known->n == n_there ? known->n : 0;
    if (known->n)
        add_outside(known, document);
    for (size_t p = 0; p < n; p++) {
        known->has_background |= known->labels[p] == 0;
        known->has_foreground |= known->labels[p] != 0 && known->labels[p] != CLV_VOID;
    }
    return CLV_OK;
}

/* Returns the part of a path below the set's root. */
static const char *below_root(const struct page_session *session, const char *path)
{
    path += strlen(session->set.root);
    while (*path == '/')
        path++;
    return path;
}

static void add_boxed(struct export_state *self, const char *image, const struct clv_pixel_box *boxes, size_t n)
{
    text_printf(&self->manifest, "%s\t%s\n", image, self->tab);
    for (size_t k = 0; k < n; k++)
        text_printf(&self->boxes, "%s\t%d\t%d\t%d\t%d\n", image, boxes[k].first_x, boxes[k].first_y,
                    boxes[k].end_x - boxes[k].first_x, boxes[k].end_y - boxes[k].first_y);
    self->export->n_boxed++;
}

static enum clv_status add_partial(struct export_state *self, size_t i, const struct page_document *document,
                                   const struct known *known, struct clv_error *err)
{
    const struct clv_labels *labels = &self->session->set.labels;
    char name[32];
    snprintf(name, sizeof name, "%zu.png", i);
    OWNED_ARRAY char *path = path_join(self->folder, name);
    NEED(path);
    MUST(clv_png_write_labels(path, document->image.width, document->image.height, known->labels,
                              (const uint8_t(*)[3])labels->palette, 256, err));
    text_printf(&self->manifest, "%s\t%s%s\n", self->session->set.items[i].name, below_root(self->session, path),
                self->tab);
    self->export->n_masks++;
    return CLV_OK;
}

/* Adds an image on which something was drawn that is not accepted. */
static enum clv_status add_begun(struct export_state *self, size_t i, struct clv_error *err)
{
    const struct clv_item *item = &self->session->set.items[i];
    const char *strokes = self->session->items[i].strokes;
    OWNED(page_document_release) struct page_document document = {0};
    OWNED(known_release) struct known known = {0};
    OWNED_ARRAY char *bytes = NULL;
    int32_t *width = &document.image.width, *height = &document.image.height;
    size_t size = 0;
    MUST(item_image_size(width, height, item, &self->session->limits, err));
    MUST(file_read(&bytes, &size, strokes, MAX_BYTES, err));
    MUST(page_history_parse(&document.history, bytes, size, strokes, *width, *height, err));
    MUST(collect_known(&known, &document, err));
    if (known.has_foreground && known.has_background)
        return add_partial(self, i, &document, &known, err);
    if (known.n && self->session->set.labels.n_labels == 2)
        add_boxed(self, item->name, known.boxes, known.n);
    return CLV_OK;
}

/* Adds an image on which nothing was drawn, with the boxes that another program has for it. */
static enum clv_status add_new(struct export_state *self, size_t i, struct clv_error *err)
{
    const struct clv_item *item = &self->session->set.items[i];
    const struct clv_image_boxes *entry;
    int32_t width, height;
    MUST(page_import_find(&entry, &self->session->import, item->name, err));
    if (!clv_boxes_are_known(entry) || !entry->n_boxes || entry->n_voids || self->session->set.labels.n_labels != 2)
        return CLV_OK;
    OWNED_ARRAY struct clv_box *placed = array_alloc(entry->n_boxes, sizeof *placed);
    OWNED_ARRAY struct clv_pixel_box *boxes = array_alloc(entry->n_boxes, sizeof *boxes);
    NEED(placed && boxes);
    MUST(item_image_size(&width, &height, item, &self->session->limits, err));
    MUST(clv_boxes_place(placed, NULL, &self->session->import.boxes, entry, width, height, err));
    for (size_t k = 0; k < entry->n_boxes; k++)
        boxes[k] = clv_box_pixels(&placed[k], width, height);
    add_boxed(self, item->name, boxes, entry->n_boxes);
    return CLV_OK;
}

static enum clv_status add_item(struct export_state *self, size_t i, struct clv_error *err)
{
    const struct page_item *item = &self->session->items[i];
    const char *name = self->session->set.items[i].name;
    if (item->is_unreadable)
        return CLV_OK;
    self->is_linked |= path_check_inside(self->session->set.root, name, NULL) != CLV_OK;
    if (item->status == PAGE_NEW) /* if all was undone, so were the boxes of another program */
        return path_exists(item->strokes) ? CLV_OK : add_new(self, i, err);
    if (item->status == PAGE_BEGUN)
        return add_begun(self, i, err);
    const char *mask = path_exists(item->mask) ? item->mask : item->foreign; /* NULL: there are only objects */
    const char *instances = path_exists(item->instances) ? item->instances : item->foreign_instances;
    text_printf(&self->manifest, "%s\t%s%s%s\n", name, mask ? below_root(self->session, mask) : "", self->tab,
                instances && *self->tab ? below_root(self->session, instances) : "");
    text_printf(&self->accepted, "%s\n", name);
    self->export->n_masks++;
    self->n_accepted++;
    return CLV_OK;
}

static enum clv_status write_text(char **path, const char *folder, const char *name, const struct text *text,
                                  struct clv_error *err)
{
    *path = path_join(folder, name);
    NEED(*path && !text->failed);
    return file_write(*path, text->bytes, text->size, err);
}

static enum clv_status write_files(struct export_state *self, struct clv_error *err)
{
    struct training_export *export = self->export;
    const char *root = self->session->set.root;
    OWNED_ARRAY char *manifest = path_join(root, "manifest.tsv"); /* if it exists, it would choose the images */
    NEED(manifest);
    bool is_plain =
        self->is_linked || (self->n_accepted == export->n_masks && !export->n_boxed && !path_exists(manifest));
    if (is_plain) {
        export->n_masks = self->n_accepted;
        export->n_boxed = 0;
    }
    FAIL_IF(export->n_masks + export->n_boxed < 2, CLV_ERR_USAGE,
            "accept at least 2 images before training, or draw on 2 what is an object and what is not");
    if (is_plain) {
        export->data = string_copy(root);
        NEED(export->data);
        return write_text(&export->only, self->folder, "accepted", &self->accepted, err);
    }
    MUST(write_text(&export->data, root, ".training.tsv", &self->manifest, err));
    return export->n_boxed ? write_text(&export->boxes, self->folder, "boxes.tsv", &self->boxes, err) : CLV_OK;
}

enum clv_status training_export_write(struct training_export *export, const struct page_session *session,
                                      struct clv_error *err)
{
    OWNED(training_export_release) struct training_export result = {.n_labels = session->set.labels.n_labels,
                                                                    .limits = session->limits};
    OWNED(export_state_release) struct export_state self = {.session = session,
                                                            .export = &result,
                                                            .folder = path_join(session->set.root, "strokes/.training"),
                                                            .tab = session->keeps_objects ? "\t" : ""};
    text_init(&self.manifest, MAX_BYTES);
    text_init(&self.boxes, MAX_BYTES);
    text_init(&self.accepted, MAX_BYTES);
    text_printf(&self.manifest, "image\tmask%s\n", session->keeps_objects ? "\tinstances" : "");
    text_put(&self.boxes, "image\tx\ty\tw\th\n");
    NEED(self.folder);
    MUST(folder_create(self.folder, err));
    for (size_t i = 0; i < session->set.n_items; i++)
        MUST(add_item(&self, i, err));
    MUST(write_files(&self, err));
    *export = TAKE(result);
    return CLV_OK;
}
