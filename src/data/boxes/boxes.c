#include "data/boxes/boxes.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/shapes/shapes.h"

#define LARGEST_COORDINATE 1e9

static void release_entry(struct clv_image_boxes *entry)
{
    for (size_t i = 0; i < entry->n_boxes; i++) {
        array_free(entry->boxes[i].mask);
        outline_free(entry->boxes[i].outline);
    }
    arrays_free(entry->boxes, entry->image, entry->source);
    *entry = (struct clv_image_boxes){0};
}

void clv_boxes_release(struct clv_boxes *boxes)
{
    for (size_t i = 0; i < boxes->n_images; i++)
        release_entry(&boxes->images[i]);
    for (size_t i = 0; i < boxes->n_labels; i++)
        array_free(boxes->labels[i]);
    arrays_free(boxes->images, boxes->by_stem, boxes->labels, boxes->first_skipped);
    *boxes = (struct clv_boxes){0};
}

void boxes_builder_release(struct boxes_builder *builder)
{
    clv_boxes_release(&builder->boxes);
    array_free(builder->label_slots);
    *builder = (struct boxes_builder){0};
}

/* Files from Windows. */
static void use_slashes(char *path)
{
    for (; *path; path++)
        if (*path == '\\')
            *path = '/';
}

enum clv_status boxes_add_image(struct boxes_builder *builder, const char *image, const char *source,
                                struct clv_error *err)
{
    struct clv_boxes *boxes = &builder->boxes;
    struct clv_image_boxes *last = boxes->n_images ? &boxes->images[boxes->n_images - 1] : NULL;
    if (last && strcmp(last->image, image) == 0 && strcmp(last->source, source) == 0)
        return CLV_OK;
    MUST_IF(
        array_reserve((void **)&boxes->images, &builder->images_capacity, boxes->n_images + 1, sizeof *boxes->images),
        fail_memory(err));
    struct clv_image_boxes entry = {.image = string_copy(image), .source = string_copy(source)};
    if (!entry.image || !entry.source) {
        release_entry(&entry);
        return fail_memory(err);
    }
    use_slashes(entry.image);
    path_simplify(entry.image);
    boxes->images[boxes->n_images++] = entry;
    builder->boxes_capacity = 0;
    return CLV_OK;
}

enum clv_status boxes_name_image(struct boxes_builder *builder, const char *name, struct clv_error *err)
{
    struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    char *folder = NULL, *joined = NULL, *own = string_copy(name);
    MUST_IF(!own, fail_memory(err));
    use_slashes(own);
    path_simplify(own);
    const char *tail = own[0] == '/' || (own[0] && own[1] == ':') ? path_name(own) : own;
    while (strncmp(tail, "../", 3) == 0)
        tail += 3;
    bool is_bare = !strchr(tail, '/') && strchr(entry->image, '/');
    if (is_bare)
        folder = path_folder(entry->image);
    if (*tail)
        joined = is_bare && folder ? path_join(folder, tail) : string_copy(tail);
    bool failed = (is_bare && !folder) || (*tail && !joined);
    if (!failed && joined) {
        array_free(entry->image);
        entry->image = joined;
    }
    arrays_free(own, folder);
    return failed ? fail_memory(err) : CLV_OK;
}

/* The slot that holds the label, else the free one where it belongs. */
static int32_t *find_slot(const struct boxes_builder *builder, const char *label)
{
    size_t mask = builder->n_label_slots - 1, at = (size_t)hash_bytes(HASH_START, label, strlen(label)) & mask;
    while (builder->label_slots[at] && strcmp(builder->boxes.labels[builder->label_slots[at] - 1], label) != 0)
        at = (at + 1) & mask;
    return &builder->label_slots[at];
}

/* Keeps at least half of the slots free, so that looks at them end soon. */
static enum clv_status reserve_slots(struct boxes_builder *builder, struct clv_error *err)
{
    size_t n_labels = builder->boxes.n_labels, n = builder->n_label_slots ? 2 * builder->n_label_slots : 64;
    if (2 * (n_labels + 1) <= builder->n_label_slots)
        return CLV_OK;
    int32_t *slots = array_zalloc(n, sizeof *slots);
    MUST_IF(!slots, fail_memory(err));
    array_free(builder->label_slots);
    builder->label_slots = slots;
    builder->n_label_slots = n;
    for (size_t i = 0; i < n_labels; i++)
        *find_slot(builder, builder->boxes.labels[i]) = (int32_t)i + 1;
    return CLV_OK;
}

enum clv_status boxes_label(int32_t *index, struct boxes_builder *builder, const char *label, struct clv_error *err)
{
    struct clv_boxes *boxes = &builder->boxes;
    MUST(reserve_slots(builder, err));
    int32_t *slot = find_slot(builder, label);
    if (!*slot) {
        FAIL_IF(boxes->n_labels >= INT32_MAX - 1, CLV_ERR_DATA, "more than %d labels", INT32_MAX - 1);
        MUST_IF(array_reserve((void **)&boxes->labels, &builder->labels_capacity, boxes->n_labels + 1,
                              sizeof *boxes->labels),
                fail_memory(err));
        char *copy = string_copy(label);
        MUST_IF(!copy, fail_memory(err));
        boxes->labels[boxes->n_labels++] = copy;
        *slot = (int32_t)boxes->n_labels;
    }
    *index = *slot - 1;
    return CLV_OK;
}

/* NaN fails every comparison. */
static enum clv_status check_box(const struct clv_box *box, enum clv_boxes_form form, const char *source,
                                 struct clv_error *err)
{
    const struct {
        const char *name;
        double value;
    } sides[] = {{"x", box->x}, {"y", box->y}, {"width", box->width}, {"height", box->height}};
    for (size_t i = 0; i < 4; i++) {
        FAIL_IF(!(fabs(sides[i].value) <= LARGEST_COORDINATE), CLV_ERR_DATA,
                "%s: %s %zu: %s is %g, which is out of range", source, boxes_place_word(form), box->place,
                sides[i].name, sides[i].value);
    }
    return CLV_OK;
}

enum clv_status boxes_add(struct boxes_builder *builder, const struct clv_box *box, const char *label, const char *mask,
                          struct clv_error *err)
{
    struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    struct clv_box added = *box;
    enum clv_status status = check_box(box, builder->boxes.form, entry->source, err);
    if (status == CLV_OK && !(box->width > 0 && box->height > 0))
        return boxes_skip(builder, err, "%s: %s %zu is %g wide and %g high", entry->source,
                          boxes_place_word(builder->boxes.form), box->place, box->width, box->height);
    TRY(boxes_label(&added.label, builder, label, err));
    if (status != CLV_OK)
        return status;
    MUST_IF(array_reserve((void **)&entry->boxes, &builder->boxes_capacity, entry->n_boxes + 1, sizeof *entry->boxes),
            fail_memory(err));
    added.outline = NULL;
    added.mask = mask ? string_copy(mask) : NULL;
    MUST_IF(mask && !added.mask, fail_memory(err));
    entry->boxes[entry->n_boxes++] = added;
    return CLV_OK;
}

enum clv_status boxes_add_outline(struct boxes_builder *builder, struct clv_outline *outline, const struct clv_box *box,
                                  const char *label, struct clv_error *err)
{
    struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    struct clv_box bounds = *box;
    size_t n = entry->n_boxes;
    MUST_IF(!outline, fail_memory(err));
    struct clv_error why = {0};
    enum clv_status status = box->width > 0 ? CLV_OK : outline_bound(&bounds, outline, &why);
    if (status == CLV_ERR_DATA) /* runs that are none */
        status = boxes_skip(builder, err, "%s: %s %zu: %s", entry->source, boxes_place_word(builder->boxes.form),
                            box->place, why.message);
    else if (status == CLV_OK)
        status = boxes_add(builder, &bounds, label, NULL, err);
    if (status == CLV_OK && entry->n_boxes > n && builder->keeps_outlines)
        entry->boxes[n].outline = outline;
    else
        outline_free(outline);
    return status;
}

static enum clv_status count_skipped(struct boxes_builder *builder, const char *format, va_list args,
                                     struct clv_error *err)
{
    char message[CLV_ERROR_MESSAGE_MAX];
    if (builder->boxes.n_skipped++)
        return CLV_OK;
    point_vsnprintf(message, sizeof message, format, args);
    text_hide_controls(message); /* one line */
    builder->boxes.first_skipped = string_copy(message);
    return builder->boxes.first_skipped ? CLV_OK : fail_memory(err);
}

enum clv_status boxes_skip(struct boxes_builder *builder, struct clv_error *err, const char *format, ...)
{
    va_list args;
    builder->boxes.images[builder->boxes.n_images - 1].n_skipped++;
    va_start(args, format);
    enum clv_status status = count_skipped(builder, format, args, err);
    va_end(args);
    return status;
}

enum clv_status boxes_skip_stray(struct boxes_builder *builder, struct clv_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    enum clv_status status = count_skipped(builder, format, args, err);
    va_end(args);
    return status;
}

/* By image; what is said first of an image stays first, since boxes are in the order of their places. */
static int compare_entries(const void *a, const void *b)
{
    const struct clv_image_boxes *s = a, *t = b;
    int order = strcmp(s->image, t->image);
    if (!order)
        order = strcmp(s->source, t->source);
    size_t i = s->n_boxes ? s->boxes[0].place : 0, j = t->n_boxes ? t->boxes[0].place : 0;
    return order ? order : (i > j) - (i < j);
}

/* Moves the boxes of `more` behind those of `entry`, whose array has *capacity elements. */
static enum clv_status join(struct clv_image_boxes *entry, size_t *capacity, struct clv_image_boxes *more,
                            struct clv_error *err)
{
    if (strcmp(entry->source, more->source) != 0)
        return fail(err, CLV_ERR_DATA, "%s: lists image %s, and so does %s", more->source, more->image, entry->source);
    if (more->n_boxes) {
        MUST_IF(array_reserve((void **)&entry->boxes, capacity, entry->n_boxes + more->n_boxes, sizeof *entry->boxes),
                fail_memory(err));
        memcpy(entry->boxes + entry->n_boxes, more->boxes, more->n_boxes * sizeof *more->boxes);
        entry->n_boxes += more->n_boxes;
        more->n_boxes = 0;
    }
    entry->n_skipped += more->n_skipped;
    release_entry(more);
    return CLV_OK;
}

enum clv_status boxes_finish(struct clv_boxes *boxes, struct boxes_builder *builder, const char *path,
                             struct clv_error *err)
{
    struct clv_boxes *fresh = &builder->boxes;
    enum clv_status status = CLV_OK;
    if (!fresh->n_images)
        status = fail(err, CLV_ERR_DATA, "%s: holds no boxes", path);
    else
        qsort(fresh->images, fresh->n_images, sizeof *fresh->images, compare_entries);
    size_t kept = 0, n = fresh->n_images, capacity = 0; /* the last: of the entry kept last */
    for (size_t i = 0; i < n; i++) {
        struct clv_image_boxes entry = fresh->images[i];
        fresh->images[i] = (struct clv_image_boxes){0};
        if (status == CLV_OK && kept && strcmp(fresh->images[kept - 1].image, entry.image) == 0) {
            status = join(&fresh->images[kept - 1], &capacity, &entry, err);
            if (status == CLV_OK)
                continue;
        }
        capacity = entry.n_boxes;
        fresh->images[kept++] = entry;
    }
    fresh->n_images = kept;
    TRY(boxes_index(fresh, err));
    if (status == CLV_OK) {
        *boxes = *fresh;
        *fresh = (struct clv_boxes){0};
    }
    boxes_builder_release(builder);
    return status;
}
