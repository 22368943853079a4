/* Stores the results of readers: images, their boxes and void areas, labels by name, counts of faults. boxes_finish
 * sorts the images and joins the entries of each. boxes_mark_return removes all entries of a bad file. Start at
 * boxes_add_image. */
#include "data/boxes/boxes.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/shapes/shapes.h"

#define LARGEST_COORDINATE 1e9

static void release_boxes(struct clv_box *boxes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        array_free(boxes[i].mask);
        outline_free(boxes[i].outline);
    }
    array_free(boxes);
}

static void release_entry(struct clv_image_boxes *entry)
{
    release_boxes(entry->boxes, entry->n_boxes);
    release_boxes(entry->voids, entry->n_voids);
    arrays_free(entry->image, entry->source, entry->split);
    *entry = (struct clv_image_boxes){0};
}

void clv_boxes_release(struct clv_boxes *boxes)
{
    for (size_t i = 0; i < boxes->n_images; i++)
        release_entry(&boxes->images[i]);
    for (size_t i = 0; i < boxes->n_labels; i++)
        array_free(boxes->labels[i]);
    for (size_t i = 0; i < boxes->n_bad_files; i++)
        array_free(boxes->bad_files[i].message);
    arrays_free(boxes->images, boxes->by_stem, boxes->labels, boxes->first_skipped, boxes->bad_files);
    *boxes = (struct clv_boxes){0};
}

void boxes_builder_release(struct boxes_builder *builder)
{
    clv_boxes_release(&builder->boxes);
    for (size_t i = 0; i < builder->lists.n; i++)
        arrays_free(builder->lists.entries[i].path, builder->lists.entries[i].split);
    arrays_free(builder->label_slots, builder->lists.entries);
    *builder = (struct boxes_builder){0};
}

/* Replaces backslashes, for files from Windows. */
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
    NEED(
        !array_reserve((void **)&boxes->images, &builder->images_capacity, boxes->n_images + 1, sizeof *boxes->images));
    OWNED(release_entry) struct clv_image_boxes entry = {.image = string_copy(image), .source = string_copy(source)};
    NEED(entry.image && entry.source);
    use_slashes(entry.image);
    path_simplify(entry.image);
    boxes->images[boxes->n_images++] = TAKE(entry);
    builder->boxes_capacity = builder->voids_capacity = 0;
    return CLV_OK;
}

enum clv_status boxes_name_image(struct boxes_builder *builder, const char *name, struct clv_error *err)
{
    struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    OWNED_ARRAY char *copy = string_copy(name);
    NEED(copy);
    use_slashes(copy);
    path_simplify(copy);
    const char *tail = copy[0] == '/' || (copy[0] && copy[1] == ':') ? path_name(copy) : copy;
    while (strncmp(tail, "../", 3) == 0)
        tail += 3;
    bool is_bare = !strchr(tail, '/') && strchr(entry->image, '/');
    OWNED_ARRAY char *folder = is_bare ? path_folder(entry->image) : NULL;
    NEED(folder || !is_bare);
    if (!*tail)
        return CLV_OK;
    char *joined = is_bare ? path_join(folder, tail) : string_copy(tail);
    NEED(joined);
    array_free(entry->image);
    entry->image = joined;
    return CLV_OK;
}

/* Finds the slot of the label, or the free slot for it. */
static int32_t *find_slot(const struct boxes_builder *builder, const char *label)
{
    size_t mask = builder->n_label_slots - 1, at = (size_t)hash_bytes(HASH_START, label, strlen(label)) & mask;
    while (builder->label_slots[at] && strcmp(builder->boxes.labels[builder->label_slots[at] - 1], label) != 0)
        at = (at + 1) & mask;
    return &builder->label_slots[at];
}

/* Keeps at least half of the slots free, so that searches are short. */
static enum clv_status reserve_slots(struct boxes_builder *builder, struct clv_error *err)
{
    size_t n_labels = builder->boxes.n_labels, n = builder->n_label_slots ? 2 * builder->n_label_slots : 64;
    if (2 * (n_labels + 1) <= builder->n_label_slots)
        return CLV_OK;
    int32_t *slots = array_zalloc(n, sizeof *slots);
    NEED(slots);
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
        NEED(!array_reserve((void **)&boxes->labels, &builder->labels_capacity, boxes->n_labels + 1,
                            sizeof *boxes->labels));
        char *copy = string_copy(label);
        NEED(copy);
        boxes->labels[boxes->n_labels++] = copy;
        *slot = (int32_t)boxes->n_labels;
    }
    *index = *slot - 1;
    return CLV_OK;
}

/* Checks the range of a box. The comparison also refuses NaN. */
static enum clv_status check_box(const struct clv_box *box, enum clv_boxes_form form, const char *source,
                                 struct clv_error *err)
{
    const struct {
        const char *name;
        double value;
    } sides[] = {{"x", box->x}, {"y", box->y}, {"width", box->width}, {"height", box->height}};
    for (size_t i = 0; i < 4; i++) {
        FAIL_IF(!(fabs(sides[i].value) <= LARGEST_COORDINATE), CLV_ERR_DATA,
                "%s: %s %zu: %s is %g, which is out of range", source, boxes_index_unit(form), box->index,
                sides[i].name, sides[i].value);
    }
    return CLV_OK;
}

enum clv_status boxes_store(struct boxes_builder *builder, const struct clv_box *box, const char *label,
                            const char *mask, struct clv_error *err)
{
    struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    OWNED(outline_drop) struct clv_outline *outline = box->outline;
    struct clv_box added = *box;
    MUST(check_box(box, builder->boxes.form, entry->source, err));
    MUST(boxes_label(&added.label, builder, label, err));
    NEED(!array_reserve((void **)&entry->boxes, &builder->boxes_capacity, entry->n_boxes + 1, sizeof *entry->boxes));
    added.mask = mask ? string_copy(mask) : NULL;
    NEED(!mask || added.mask);
    added.outline = TAKE(outline);
    entry->boxes[entry->n_boxes++] = added;
    return CLV_OK;
}

enum clv_status boxes_store_void(struct boxes_builder *builder, const struct clv_box *box, struct clv_error *err)
{
    struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    OWNED(outline_drop) struct clv_outline *outline = box->outline;
    struct clv_box added = *box;
    MUST(check_box(box, builder->boxes.form, entry->source, err));
    NEED(!array_reserve((void **)&entry->voids, &builder->voids_capacity, entry->n_voids + 1, sizeof *entry->voids));
    added.mask = NULL;
    added.outline = TAKE(outline);
    entry->voids[entry->n_voids++] = added;
    return CLV_OK;
}

enum clv_status boxes_store_fault(struct boxes_builder *builder, enum clv_fault_of_annotation fault,
                                  const char *message, struct clv_error *err)
{
    struct clv_boxes *boxes = &builder->boxes;
    boxes->n_faults[fault]++;
    if (!message || boxes->n_skipped++)
        return CLV_OK;
    array_free(boxes->first_skipped);
    boxes->first_skipped = string_copy(message);
    NEED(boxes->first_skipped);
    text_hide_controls(boxes->first_skipped); /* one line */
    return CLV_OK;
}

enum clv_status boxes_count_stray(struct boxes_builder *builder, enum clv_fault_of_annotation fault,
                                  struct clv_error *err, const char *format, ...)
{
    char message[CLV_ERROR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    point_vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return boxes_store_fault(builder, fault, message, err);
}

enum clv_status boxes_count_unlabelled(struct boxes_builder *builder, struct clv_error *err)
{
    return boxes_store_fault(builder, CLV_ANNOTATION_UNLABELLED, NULL, err);
}

void boxes_mark_take(struct boxes_mark *mark, const struct boxes_builder *builder)
{
    const struct clv_boxes *boxes = &builder->boxes;
    *mark = (struct boxes_mark){.n_images = boxes->n_images,
                                .n_labels = boxes->n_labels,
                                .n_skipped = boxes->n_skipped,
                                .n_crowd_objects = boxes->n_crowd_objects,
                                .form = boxes->form};
    memcpy(mark->n_faults, boxes->n_faults, sizeof mark->n_faults);
}

void boxes_mark_return(struct boxes_builder *builder, const struct boxes_mark *mark)
{
    struct clv_boxes *boxes = &builder->boxes;
    while (boxes->n_images > mark->n_images)
        release_entry(&boxes->images[--boxes->n_images]);
    while (boxes->n_labels > mark->n_labels)
        array_free(boxes->labels[--boxes->n_labels]);
    boxes->n_skipped = mark->n_skipped;
    boxes->n_crowd_objects = mark->n_crowd_objects;
    boxes->form = mark->form;
    memcpy(boxes->n_faults, mark->n_faults, sizeof mark->n_faults);
    if (builder->n_label_slots)
        memset(builder->label_slots, 0, builder->n_label_slots * sizeof *builder->label_slots);
    for (size_t i = 0; i < boxes->n_labels; i++)
        *find_slot(builder, boxes->labels[i]) = (int32_t)i + 1;
    builder->boxes_capacity = builder->voids_capacity = 0;
}

enum clv_status boxes_add_bad_file(struct boxes_builder *builder, const struct clv_error *why, struct clv_error *err)
{
    struct clv_boxes *boxes = &builder->boxes;
    size_t capacity = boxes->n_bad_files;
    NEED(!array_reserve((void **)&boxes->bad_files, &capacity, boxes->n_bad_files + 1, sizeof *boxes->bad_files));
    char *message = string_copy(why->message);
    NEED(message);
    boxes->bad_files[boxes->n_bad_files++] = (struct clv_bad_file){message, why->path_length, why->kind};
    return CLV_OK;
}

/* Orders entries by image, then by file, then by the index of the first box, which is the order in the file. */
static int compare_entries(const void *a, const void *b)
{
    const struct clv_image_boxes *s = a, *t = b;
    int order = strcmp(s->image, t->image);
    if (!order)
        order = strcmp(s->source, t->source);
    size_t i = s->n_boxes ? s->boxes[0].index : 0, j = t->n_boxes ? t->boxes[0].index : 0;
    return order ? order : (i > j) - (i < j);
}

/* Appends boxes to others, whose array has *capacity elements. */
static enum clv_status join_boxes(struct clv_box **boxes, size_t *n, size_t *capacity, struct clv_box *more,
                                  size_t *n_more, struct clv_error *err)
{
    if (*n_more) {
        NEED(!array_reserve((void **)boxes, capacity, *n + *n_more, sizeof **boxes));
        memcpy(*boxes + *n, more, *n_more * sizeof *more);
        *n += *n_more;
        *n_more = 0;
    }
    return CLV_OK;
}

/* Moves the boxes, void areas and counts of `more` to `entry`, whose arrays have capacity[0] and capacity[1]
 * elements. */
static enum clv_status join(struct clv_image_boxes *entry, size_t capacity[2], struct clv_image_boxes *more,
                            struct clv_error *err)
{
    if (strcmp(entry->source, more->source) != 0)
        return fail(err, CLV_ERR_DATA, "%s: lists image %s, and so does %s", more->source, more->image, entry->source);
    MUST(join_boxes(&entry->boxes, &entry->n_boxes, &capacity[0], more->boxes, &more->n_boxes, err));
    MUST(join_boxes(&entry->voids, &entry->n_voids, &capacity[1], more->voids, &more->n_voids, err));
    entry->n_skipped += more->n_skipped;
    entry->n_marks += more->n_marks;
    entry->is_unsure |= more->is_unsure;
    entry->split = entry->split ? entry->split : TAKE(more->split);
    release_entry(more);
    return CLV_OK;
}

/* Joins the entries of each image, which are adjacent after sorting. */
static enum clv_status join_entries(struct clv_boxes *self, struct clv_error *err)
{
    size_t n_kept = 0, capacity[2] = {0, 0}; /* of the entry that was kept last */
    for (size_t i = 0; i < self->n_images; i++) {
        struct clv_image_boxes *entry = &self->images[i], *last = n_kept ? &self->images[n_kept - 1] : NULL;
        if (last && strcmp(last->image, entry->image) == 0) {
            MUST(join(last, capacity, entry, err));
            continue;
        }
        capacity[0] = entry->n_boxes;
        capacity[1] = entry->n_voids;
        self->images[n_kept++] = TAKE(*entry);
    }
    self->n_images = n_kept;
    return CLV_OK;
}

enum clv_status boxes_finish(struct clv_boxes *boxes, struct boxes_builder *builder, const char *path,
                             struct clv_error *err)
{
    OWNED(boxes_builder_release) struct boxes_builder held = TAKE(*builder);
    struct clv_boxes *result = &held.boxes;
    const size_t n_unlabelled = result->n_faults[CLV_ANNOTATION_UNLABELLED];
    const struct clv_bad_file *bad = result->n_bad_files ? result->bad_files : NULL;
    if (!result->n_images && bad)
        return fail_told(err, CLV_ERR_DATA, bad->message, bad->path_length, bad->kind);
    FAIL_IF(!result->n_images && n_unlabelled, CLV_ERR_DATA,
            "%s: none of its %zu images has an annotation; label some first", path, n_unlabelled);
    FAIL_IF(!result->n_images, CLV_ERR_DATA, "%s: holds no boxes", path);
    qsort(result->images, result->n_images, sizeof *result->images, compare_entries);
    MUST(join_entries(result, err));
    MUST(boxes_index(result, err));
    *boxes = TAKE(held.boxes);
    return CLV_OK;
}
