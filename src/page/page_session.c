/* The folder that is labelled: lists its images with their masks and strokes, opens one of them, and saves what was
 * drawn unless another program changed a file in between. Start at page_session_open and page_session_save. */
#include "page/page.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "data/data.h"
#include "data/outputs.h"
#include "feature/recipe/recipe.h"
#include "image/image.h"
#include "intake/intake.h"
#include "object/object.h"
#include "train/train.h"

#define MAX_STROKES_BYTES ((size_t)256 << 20)
#define MAX_TABLE_HEAD    (1 << 16)

static struct page_stamp stamp_of(const char *path)
{
    struct stat found;
    if (stat(path, &found) != 0)
        return (struct page_stamp){0};
    return (struct page_stamp){true, found.st_size, found.st_mtim, found.st_ino};
}

/* Returns the state of the file that holds an image or its TIFF page. */
static struct page_stamp stamp_of_image(const char *image)
{
    size_t length;
    uint32_t page;
    char file[PATH_MAX];
    path_page(&length, &page, image);
    snprintf(file, sizeof file, "%.*s", (int)length, image);
    return stamp_of(file);
}

static bool is_same(struct page_stamp a, struct page_stamp b)
{
    return a.exists == b.exists && a.size == b.size && a.inode == b.inode && a.changed.tv_sec == b.changed.tv_sec &&
           a.changed.tv_nsec == b.changed.tv_nsec;
}

static void put_tag(char tag[PAGE_TAG_SIZE], struct page_stamp stamp)
{
    snprintf(tag, PAGE_TAG_SIZE, "%lld-%lld-%ld-%llu", (long long)stamp.size, (long long)stamp.changed.tv_sec,
             stamp.changed.tv_nsec, (unsigned long long)stamp.inode);
}

void page_session_tag(char tag[PAGE_TAG_SIZE], const struct page_session *session, int32_t number)
{
    put_tag(tag, stamp_of_image(session->set.items[number].image));
}

void page_session_tag_open(char tag[PAGE_TAG_SIZE], const struct page_session *session)
{
    put_tag(tag, session->image_stamp);
}

static const char *const folder_names[] = {"masks", "strokes", "instances"};

void page_session_free(struct page_session *session)
{
    if (!session)
        return;
    page_ranking_free(session->ranking);
    page_document_release(&session->document);
    clv_model_release(&session->model);
    for (size_t i = 0; session->items && i < session->set.n_items; i++) {
        arrays_free(session->items[i].mask, session->items[i].strokes, session->items[i].instances);
    }
    array_free(session->items);
    page_import_release(&session->import);
    arrays_free(session->boxes_path, session->labels_path, session->folder);
    clv_set_release(&session->set);
    array_free(session);
}

/* Returns root/folder/OUTPUT.extension. OUTPUT includes the image's folders below images/. */
static char *sibling_path(const struct page_session *session, size_t i, bool is_shared, const char *folder,
                          const char *extension)
{
    const char *name = session->set.items[i].name, *root = session->set.root;
    char *output = path_output(strncmp(name, "images/", 7) == 0 ? name + 7 : name, is_shared);
    size_t size = output ? strlen(root) + strlen(folder) + strlen(output) + strlen(extension) + 3 : 0;
    char *path = output ? array_alloc(size, 1) : NULL;
    if (path)
        snprintf(path, size, "%s/%s/%s%s", root, folder, output, extension);
    array_free(output);
    return path;
}

/* Finds the status of an image from the existence of its files and the beginning of its strokes file. */
static enum page_status status_of(const struct page_item *item)
{
    bool accepted, empty, undone;
    bool has_mask = path_exists(item->mask) || item->foreign || path_exists(item->instances) || item->foreign_instances;
    if (!strokes_read_state(&accepted, &empty, &undone, item->strokes))
        return has_mask ? PAGE_ACCEPTED : PAGE_NEW;
    if (undone && !accepted && !has_mask)
        return PAGE_NEW;
    return !has_mask || !accepted ? PAGE_BEGUN : empty ? PAGE_EMPTY : PAGE_ACCEPTED;
}

static int compare_masks(const void *a, const void *b)
{
    const struct page_item *const *first = a, *const *second = b;
    int order = strcmp((*first)->mask, (*second)->mask);
    return order ? order : (*first > *second) - (*first < *second);
}

/* Refuses images whose masks would have the same path: of a.jpg, a.png and a.jpg.tif, the first and the last would both
 * have a.jpg.png. */
static enum clv_status check_masks(const struct page_session *session, struct clv_error *err)
{
    size_t n = session->set.n_items;
    OWNED_ARRAY const struct page_item **items = array_alloc(n, sizeof *items);
    NEED(items);
    for (size_t i = 0; i < n; i++)
        items[i] = &session->items[i];
    qsort(items, n, sizeof *items, compare_masks);
    for (size_t i = 1; i < n; i++)
        FAIL_IF(strcmp(items[i - 1]->mask, items[i]->mask) == 0, CLV_ERR_DATA,
                "%s and %s: their masks would be one file, %s", session->set.items[items[i - 1] - session->items].name,
                session->set.items[items[i] - session->items].name, items[i]->mask);
    return CLV_OK;
}

static enum clv_status list_items(struct page_session *session, struct clv_error *err)
{
    size_t n = session->set.n_items;
    session->items = array_zalloc(n, sizeof *session->items);
    OWNED_ARRAY const char **names = array_alloc(n, sizeof *names);
    OWNED_ARRAY bool *is_shared = array_alloc(n, sizeof *is_shared);
    NEED(session->items && names && is_shared);
    for (size_t i = 0; i < n; i++)
        names[i] = session->set.items[i].name;
    MUST(path_find_shared_stems(is_shared, names, n, err));
    for (size_t i = 0; i < n; i++) {
        struct page_item *item = &session->items[i];
        const char *mask = session->set.items[i].is_derived ? NULL : session->set.items[i].mask;
        item->mask = sibling_path(session, i, is_shared[i], "masks", ".png");
        item->strokes = sibling_path(session, i, is_shared[i], "strokes", ".json");
        item->instances = sibling_path(session, i, is_shared[i], "instances", ".png");
        NEED(item->mask && item->strokes && item->instances);
        item->foreign = mask && strcmp(mask, item->mask) != 0 ? mask : NULL;
        const char *instances = session->set.items[i].instances;
        item->foreign_instances = instances && strcmp(instances, item->instances) != 0 ? instances : NULL;
        item->status = status_of(item);
        item->has_bad_name = strpbrk(names[i], "\t\r\n") || !text_is_utf8(names[i], strlen(names[i]));
        item->is_unreadable = item->has_bad_name;
    }
    return check_masks(session, err);
}

static int compare_names(const void *a, const void *b)
{
    const struct clv_item *const *first = a, *const *second = b;
    int order = path_compare((*first)->name, (*second)->name);
    return order ? order : (*first > *second) - (*first < *second);
}

static enum clv_status rank_items(struct page_session *session, struct clv_error *err)
{
    const struct clv_set *set = &session->set;
    OWNED_ARRAY const struct clv_item **items = array_alloc(set->n_items, sizeof *items);
    NEED(items);
    for (size_t i = 0; i < set->n_items; i++)
        items[i] = &set->items[i];
    qsort(items, set->n_items, sizeof *items, compare_names);
    for (size_t i = 0; i < set->n_items; i++)
        session->items[items[i] - set->items].rank = (int32_t)i;
    return CLV_OK;
}

/* Chooses the first number of openings, below 2^52, so that pages, whose numbers are doubles, keep it exactly. */
static enum clv_status choose_opening(int64_t *opening, struct clv_error *err)
{
    FAIL_IF(getrandom(opening, sizeof *opening, 0) != (ssize_t)sizeof *opening, CLV_ERR_OS, "no random numbers");
    *opening &= ((int64_t)1 << 52) - 1;
    return CLV_OK;
}

/* Notes which images cannot be labelled. */
static void note_bad_names(const struct page_session *session)
{
    size_t n = 0, first = 0;
    for (size_t i = session->set.n_items; i-- > 0;)
        if (session->items[i].has_bad_name) {
            n++;
            first = i;
        }
    if (n && session->options->note)
        session->options->note(
            "%s: images that cannot be labelled, since their names have a tab, a line end or what is "
            "no UTF-8: %zu, the first is %s",
            session->options->folder, n, session->set.items[first].name);
}

/* Makes a folder below the labelled one, and checks that files can be written to it; "" is the labelled folder. */
static enum clv_status prepare(bool *has_made, const struct page_session *session, const char *name,
                               struct clv_error *err)
{
    OWNED_ARRAY char *path = *name ? path_join(session->set.root, name) : string_copy(session->set.root);
    NEED(path);
    const bool is_new = !path_exists(path);
    if (*name)
        MUST(folder_create(path, err));
    *has_made = is_new;
    if (access(path, W_OK | X_OK) != 0)
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot save labels there", path);
    return CLV_OK;
}

/* Whether a table has a row after its header. */
static bool has_rows(const char *path)
{
    char *head = NULL;
    size_t size = 0;
    if (file_read_head(&head, &size, path, MAX_TABLE_HEAD, NULL) != CLV_OK)
        return false;
    const char *end = strchr(head, '\n');
    bool has = end && end[1];
    array_free(head);
    return has;
}

/* Reads the boxes that the options name, or those of the folder. */
static enum clv_status read_boxes(struct page_session *session, struct clv_error *err)
{
    const char *named = session->options->boxes;
    MUST(page_boxes_check(session->boxes_path, session->set.labels.n_labels > 2, err));
    if (named || has_rows(session->boxes_path))
        MUST(page_import_read(&session->import, named ? named : session->boxes_path, &session->set, err));
    const struct clv_boxes *boxes = &session->import.boxes;
    for (size_t i = 0; i < boxes->n_bad_files && session->options->note; i++)
        session->options->note("%s", boxes->bad_files[i].message);
    if (boxes->n_skipped && session->options->note)
        session->options->note("%zu annotations cannot be used and are not shown; the first is %s", boxes->n_skipped,
                               boxes->first_skipped);
    FAIL_IF(!named && boxes->n_images && boxes->images[0].is_relative, CLV_ERR_DATA,
            "%s: has shares of the images' sides, no pixels; new boxes of this folder cannot be saved there: "
            "call the file otherwise, and show it with --boxes",
            session->boxes_path);
    return CLV_OK;
}

void page_session_discard(struct page_session **session)
{
    if (*session)
        page_session_remove_empty(*session);
    page_session_free(*session);
}

enum clv_status page_session_new(struct page_session **session, const struct page_options *options,
                                 struct clv_error *err)
{
    OWNED(page_session_discard) struct page_session *result = array_zalloc(1, sizeof *result);
    OWNED(clv_set_release) struct clv_set set = {0};
    NEED(result);
    result->options = options;
    result->limits = options->limits;
    result->open = -1;
    FAIL_IF(!path_is_folder(options->folder) && path_exists(options->folder), CLV_ERR_NO_INPUT, "%s: is not a folder",
            options->folder);
    MUST(clv_set_read_folder(&result->set, options->folder, err));
    MUST(prepare(result->has_made, result, "", err));
    for (int k = 0; k < 2 + options->objects; k++)
        MUST(prepare(&result->has_made[k], result, folder_names[k], err));
    MUST(clv_set_read_folder(&set, options->folder, err)); /* again with the new folders, as trainings do */
    clv_set_release(&result->set);
    result->set = TAKE(set);
    MUST(list_items(result, err));
    MUST(rank_items(result, err));
    MUST(choose_opening(&result->opening, err));
    char whole[PATH_MAX];
    result->folder = string_copy(realpath(options->folder, whole) ? whole : options->folder);
    NEED(result->folder);
    OWNED_ARRAY char *instances = path_join(result->set.root, folder_names[2]);
    NEED(instances);
    result->keeps_objects = path_is_folder(instances);
    note_bad_names(result);
    result->boxes_path = path_join(result->set.root, "boxes.tsv");
    NEED(result->boxes_path);
    result->labels_path = path_join(result->set.root, "labels.tsv");
    NEED(result->labels_path);
    result->ranking = page_ranking_new(&result->set);
    NEED(result->ranking);
    MUST(read_boxes(result, err));
    if (path_exists(options->model))
        MUST(page_session_use_model(result, err));
    *session = TAKE(result);
    return CLV_OK;
}

enum clv_status page_session_use_model(struct page_session *session, struct clv_error *err)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    MUST(clv_model_read(&model, session->options->model, err));
    clv_model_release(&session->model);
    session->model = TAKE(model);
    session->model_revision++;
    recipe_limits(&session->limits, &session->model.recipe);
    session->limits.bands = NULL; /* the page converts images by their own values */
    if (session->open >= 0)
        MUST(page_document_use_model(&session->document, &session->model, err));
    return page_ranking_start(session->ranking, session->options->model, err);
}

/* Returns the page's file if it exists, otherwise that of another program; NULL if neither exists. */
static const char *file_of(const char *page_file, const char *foreign)
{
    return path_exists(page_file) ? page_file : foreign && path_exists(foreign) ? foreign : NULL;
}

static bool paints(struct page_document *document, size_t cursor, const uint8_t *mask, uint8_t *painted)
{
    document->history.cursor = cursor;
    page_document_paint(painted, document);
    return memcmp(painted, mask, page_document_size(document)) == 0;
}

/* Sets the cursor so that the history gives the mask; false if it does not. If saving was interrupted between strokes
 * and mask, the mask is that before or after the last step, and the cursor is set there, so that the step can be redone
 * or undone. */
static bool find_mask(struct page_document *document, const uint8_t *mask, uint8_t *painted)
{
    const struct page_history *history = &document->history;
    size_t cursor = history->cursor, before = cursor;
    while (before > 0 && history->events[before - 1].kind == PAGE_SUGGESTION) /* one for each label */
        before--;
    if (before == cursor && before > 0)
        before = page_history_step(history, cursor, -1);
    return paints(document, cursor, mask, painted) || paints(document, before, mask, painted) ||
           (cursor < history->n && paints(document, page_history_step(history, cursor, 1), mask, painted));
}

/* Reads the mask and the objects from their files. Leaves the mask or the objects empty if they have no file, and the
 * objects if they are not kept apart. */
static enum clv_status read_files(struct clv_mask *mask, struct clv_object_map *objects,
                                  const struct page_session *session, const struct page_item *item,
                                  const struct clv_image *image, struct clv_error *err)
{
    const struct clv_image_limits *limits = &session->limits;
    const char *mask_file = file_of(item->mask, item->foreign),
               *instances = file_of(item->instances, item->foreign_instances);
    if (mask_file)
        MUST(clv_mask_read(mask, mask_file, &session->set.labels, image->width, image->height, limits, err));
    for (size_t p = 0; mask_file && p < (size_t)image->width * (size_t)image->height; p++)
        mask->labels[p] = mask->labels[p] == CLV_VOID ? 0 : mask->labels[p];
    if (!session->keeps_objects)
        return CLV_OK;
    if (instances)
        MUST(clv_object_map_read(objects, instances, image->width, image->height, limits, err));
    if (instances && mask_file)
        MUST(object_map_set_labels(objects, mask->labels, err));
    return CLV_OK;
}

/* Reads the strokes. If they no longer give the mask and the objects, another program has changed those: they replace
 * the history. */
static enum clv_status read_drawn(struct page_document *document, const struct page_session *session,
                                  const struct page_item *item, struct clv_error *err)
{
    const struct clv_image *image = &document->image;
    OWNED(clv_mask_release) struct clv_mask mask = {0};
    OWNED(clv_object_map_release) struct clv_object_map objects = {0};
    size_t n = page_document_size(document);
    MUST(read_files(&mask, &objects, session, item, image, err));
    if (path_exists(item->strokes)) {
        OWNED_ARRAY char *bytes = NULL;
        size_t size = 0;
        MUST(file_read(&bytes, &size, item->strokes, MAX_STROKES_BYTES, err));
        MUST(page_history_parse(&document->history, bytes, size, item->strokes, image->width, image->height, err));
    }
    if (!mask.labels && !objects.objects)
        return CLV_OK;
    OWNED_ARRAY uint8_t *painted = array_alloc(n, 1);
    OWNED_ARRAY int32_t *numbers = array_alloc(n, sizeof *numbers);
    NEED(painted && numbers);
    if ((!mask.labels || find_mask(document, mask.labels, painted)) &&
        (!objects.objects || page_document_has_objects(document, &objects, numbers)))
        return CLV_OK;
    page_history_release(&document->history);
    document->history.is_accepted = item->status >= PAGE_ACCEPTED;
    if (session->keeps_objects && !objects.objects)
        MUST(clv_object_map_from_labels(&objects, mask.labels, image->width, image->height, NULL, err));
    return session->keeps_objects ? page_document_import_objects(document, &objects, err)
                                  : page_document_import(document, mask.labels, PAGE_MASK, err);
}

enum clv_status page_session_open(struct page_session *session, int32_t number, struct clv_error *err)
{
    const struct page_item *item = &session->items[number];
    const struct clv_item *of = &session->set.items[number];
    OWNED(page_document_release) struct page_document document = {0};
    struct page_stamp mask_stamp = stamp_of(item->mask), strokes_stamp = stamp_of(item->strokes);
    struct page_stamp instances_stamp = stamp_of(item->instances), image_stamp = stamp_of_image(of->image);
    FAIL_IF(item->has_bad_name, CLV_ERR_DATA,
            "%s: its name has a tab, a line end or what is not UTF-8; rename it to label it", of->name);
    MUST(page_document_open(&document, of, &session->limits, err));
    if (!session->has_noted_12_bits && image_is_12_bit(&document.image, of->image, &session->limits)) {
        session->has_noted_12_bits = true;
        if (session->options->note)
            session->options->note("%s: this " TWELVE_BITS_OF_ONE, of->name);
    }
    if (strokes_stamp.exists || file_of(item->mask, item->foreign) ||
        (session->keeps_objects && file_of(item->instances, item->foreign_instances)))
        MUST(read_drawn(&document, session, item, err));
    else
        MUST(page_import_show(&document, &session->import, of->name, err));
    if (session->model.w)
        MUST(page_document_use_model(&document, &session->model, err));
    page_document_release(&session->document);
    session->document = TAKE(document);
    session->open = number;
    session->opening++;
    session->image_stamp = image_stamp;
    session->mask_stamp = mask_stamp;
    session->strokes_stamp = strokes_stamp;
    session->instances_stamp = instances_stamp;
    return CLV_OK;
}

/* Moves a mask of another format to the folder .replaced, because a set has one mask per image. A mask that is named by
 * the stem of several images stays. */
static enum clv_status put_aside(const char *foreign, const char *mask, struct clv_error *err)
{
    if (!foreign || !path_exists(foreign))
        return CLV_OK;
    OWNED_ARRAY char *stem = path_replace_extension(mask, "");
    OWNED_ARRAY char *theirs = path_replace_extension(foreign, "");
    if (stem && theirs && strcmp(stem, theirs) != 0)
        return CLV_OK;
    OWNED_ARRAY char *folder = path_folder(foreign);
    OWNED_ARRAY char *aside = folder ? path_join(folder, ".replaced") : NULL;
    OWNED_ARRAY char *path = aside ? path_join(aside, path_name(foreign)) : NULL;
    NEED(path);
    MUST(folder_create(aside, err));
    if (rename(foreign, path) != 0)
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot be put aside to %s", foreign, path);
    return CLV_OK;
}

static enum clv_status save_boxes(struct page_session *session, struct clv_error *err)
{
    const struct page_document *document = &session->document;
    int32_t n_objects = page_document_n_objects(document), label = 0;
    OWNED_ARRAY struct page_box *boxes = array_zalloc((size_t)n_objects, sizeof *boxes);
    size_t n = 0;
    NEED(boxes);
    for (int32_t object = 0; object < n_objects; object++)
        if (page_document_box(&boxes[n].bounds, &label, document, object)) {
            boxes[n].label = label < session->set.labels.n_labels ? session->set.labels.names[label] : "";
            n++;
        }
    return page_boxes_replace(session->boxes_path, session->set.labels.n_labels > 2,
                              session->set.items[session->open].name, boxes, n, err);
}

static enum clv_status write_objects(const struct page_document *document, const struct page_item *item,
                                     struct clv_error *err)
{
    OWNED(clv_object_map_release) struct clv_object_map map = {
        .width = document->image.width,
        .height = document->image.height,
        .n_objects = page_document_n_objects(document),
        .objects = array_alloc(page_document_size(document), sizeof *map.objects)};
    NEED(map.objects);
    MUST(outputs_make_folder(item->instances, err));
    page_document_number(map.objects, document);
    MUST(put_aside(item->foreign_instances, item->instances, err));
    return clv_object_map_write(NULL, item->instances, &map, err);
}

static enum clv_status save_objects(struct page_session *session, const struct page_item *item, struct clv_error *err)
{
    enum clv_status status = write_objects(&session->document, item, err);
    session->instances_stamp = stamp_of(item->instances); /* also after a failure */
    return status;
}

static enum clv_status remove_file(const char *path, struct clv_error *err)
{
    return unlink(path) == 0 || errno == ENOENT ? CLV_OK : fail_errno(err, CLV_ERR_IO, "%s: cannot remove", path);
}

/* Whether the image has no labels: no event is in effect, and it is not accepted. If a mask by another program stays,
 * the page must write its own, even an empty one, to replace it. */
static bool is_unlabelled(const struct page_history *history, const struct page_item *item)
{
    return !history->cursor && !history->is_accepted && !(item->foreign && path_exists(item->foreign));
}

/* Saves the history, for undoing and redoing. */
static enum clv_status save_strokes(const struct page_session *session, const struct page_item *item,
                                    struct clv_error *err)
{
    const struct page_document *document = &session->document;
    OWNED(text_release) struct text json = {0};
    text_init(&json, MAX_STROKES_BYTES);
    page_history_put(&json, &document->history, document->image.width, document->image.height);
    NEED(!json.failed);
    MUST(outputs_make_folder(item->strokes, err));
    return file_write(item->strokes, json.bytes, json.size, err);
}

static enum clv_status save_mask(const struct page_session *session, const struct page_item *item,
                                 struct clv_error *err)
{
    const struct page_document *document = &session->document;
    OWNED_ARRAY uint8_t *painted = array_alloc(page_document_size(document), 1);
    NEED(painted);
    page_document_paint(painted, document);
    MUST(outputs_make_folder(item->mask, err));
    return clv_png_write_labels(item->mask, document->image.width, document->image.height, painted,
                                (const uint8_t(*)[3])session->set.labels.palette, 256, err);
}

/* Removes the mask and the image of objects, as before the first stroke. */
static enum clv_status remove_labels(struct page_session *session, const struct page_item *item, struct clv_error *err)
{
    MUST(remove_file(item->mask, err));
    session->mask_stamp = stamp_of(item->mask);
    if (!session->keeps_objects)
        return CLV_OK;
    MUST(put_aside(item->foreign_instances, item->instances, err));
    MUST(remove_file(item->instances, err));
    session->instances_stamp = stamp_of(item->instances);
    return CLV_OK;
}

/* Whether the saved files are as they were when the image was opened or saved last. */
static bool is_unchanged(const struct page_session *session, const struct page_item *item)
{
    return is_same(session->mask_stamp, stamp_of(item->mask)) &&
           is_same(session->strokes_stamp, stamp_of(item->strokes)) &&
           (!session->keeps_objects || is_same(session->instances_stamp, stamp_of(item->instances)));
}

enum clv_status page_session_save(struct page_session *session, struct clv_error *err)
{
    struct page_item *item = &session->items[session->open];
    struct page_history *history = &session->document.history;
    const char *image = session->set.items[session->open].image;
    if (!is_same(session->image_stamp, stamp_of_image(image))) {
        session->open = -1;
        return fail(err, CLV_ERR_CREATE, "%s was changed meanwhile by another program; open the image again", image);
    }
    if (!is_unchanged(session, item)) {
        session->open = -1;
        return fail(err, CLV_ERR_CREATE,
                    "%s or its strokes were changed meanwhile by another program; open the image again", item->mask);
    }
    history->is_empty = page_document_is_empty(&session->document);
    MUST(save_strokes(session, item, err));
    session->strokes_stamp = stamp_of(item->strokes);
    MUST(put_aside(item->foreign, item->mask, err));
    bool has_labels = !is_unlabelled(history, item);
    if (has_labels) {
        MUST(save_mask(session, item, err));
        session->mask_stamp = stamp_of(item->mask);
        if (session->keeps_objects)
            MUST(save_objects(session, item, err));
    } else {
        MUST(remove_labels(session, item, err));
    }
    MUST(save_boxes(session, err));
    if (!has_labels && !history->n) { /* last, because a mask without strokes counts as accepted */
        MUST(remove_file(item->strokes, err));
        session->strokes_stamp = stamp_of(item->strokes);
    }
    item->status = !has_labels             ? PAGE_NEW
                   : !history->is_accepted ? PAGE_BEGUN
                   : history->is_empty     ? PAGE_EMPTY
                                           : PAGE_ACCEPTED;
    return CLV_OK;
}

void page_session_remove_empty(const struct page_session *session)
{
    for (int k = 0; k < 3; k++) {
        char *path = session->has_made[k] ? path_join(session->set.root, folder_names[k]) : NULL;
        if (path)
            rmdir(path); /* if it is empty */
        array_free(path);
    }
}

void page_session_count(size_t *n_images, size_t *n_accepted, const struct page_session *session)
{
    *n_images = session->set.n_items;
    *n_accepted = 0;
    for (size_t i = 0; i < session->set.n_items; i++)
        *n_accepted += session->items[i].status >= PAGE_ACCEPTED;
}
