/* Adds, renames and deletes the labels of the folder: in labels.tsv, in boxes.tsv and in the page's model. A change
 * that fails halfway is undone. Start at page_labels_add. */
#include "page/page.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "data/data.h"

#define MAX_BYTES         ((size_t)1 << 20)
#define MAX_STROKES_BYTES ((size_t)256 << 20)

bool page_labels_have(const struct page_session *session, int64_t value)
{
    return labels_have(&session->set.labels, value);
}

static enum clv_status check_name(const struct clv_labels *labels, const char *name, struct clv_error *err)
{
    FAIL_IF(!label_name_fits(name) || strchr(name, ',') || strcmp(name, "void") == 0, CLV_ERR_USAGE,
            "a label's name has 1 to 63 bytes without tabs, commas and line ends, and is not \"void\"");
    for (int32_t k = 0; k < labels->n_labels; k++)
        FAIL_IF(strcmp(labels->names[k], name) == 0, CLV_ERR_USAGE, "there is a label %s already", name);
    return CLV_OK;
}

/* Checks that a mask that the page did not write has the same labels, read without names and with them. */
static enum clv_status check_mask(const struct page_session *session, const char *path, struct clv_error *err)
{
    struct clv_labels named = session->set.labels; /* borrows the names */
    OWNED(clv_mask_release) struct clv_mask then = {0}, now = {0};
    const struct clv_image_limits *limits = &session->limits;
    named.from_file = true;
    MUST(clv_mask_read(&now, path, &session->set.labels, 0, 0, limits, err));
    MUST(clv_mask_read(&then, path, &named, now.width, now.height, limits, err));
    FAIL_IF(memcmp(now.labels, then.labels, (size_t)now.width * (size_t)now.height) != 0, CLV_ERR_DATA,
            "%s: its values would mean something else once labels have names; accept its image first", path);
    return CLV_OK;
}

/* Checks all masks before the folder has a labels.tsv. */
static enum clv_status check_masks(const struct page_session *session, struct clv_error *err)
{
    for (size_t i = 0; i < session->set.n_items && !session->set.labels.from_file; i++) {
        const struct page_item *item = &session->items[i];
        const char *mask = path_exists(item->mask) ? item->mask : item->foreign;
        if (mask && path_exists(mask) && !path_exists(item->strokes))
            MUST(check_mask(session, mask, err));
    }
    return CLV_OK;
}

/* Writes labels.tsv and reads the labels from it. */
static enum clv_status install(struct page_session *session, const struct text *table, struct clv_error *err)
{
    OWNED(clv_labels_release) struct clv_labels read = {0};
    NEED(!table->failed);
    MUST(file_write(session->labels_path, table->bytes, table->size, err));
    MUST(clv_labels_read(&read, session->labels_path, err));
    clv_labels_release(&session->set.labels);
    session->set.labels = TAKE(read);
    session->set.has_label_file = true;
    return CLV_OK;
}

/* Sets used[256] for the labels of all strokes in a file, if it exists. Undone strokes count, because they may come
 * back. A damaged file does not, because its image cannot be opened either. */
static enum clv_status find_drawn(bool *used, const char *path, struct clv_error *err)
{
    OWNED_ARRAY char *bytes = NULL;
    OWNED(json_drop) struct json_value *root = NULL;
    size_t size = 0, n = 0;
    if (!path_exists(path))
        return CLV_OK;
    enum clv_status status = file_read(&bytes, &size, path, MAX_STROKES_BYTES, err);
    if (status == CLV_OK)
        status = json_parse(&root, bytes, size, path, err);
    if (status != CLV_OK)
        return status == CLV_ERR_MEMORY ? status : CLV_OK;
    const struct json_value *strokes = json_member(root, "strokes");
    (void)json_get_array(strokes, &n);
    for (size_t k = 0; k < n; k++) {
        int64_t label = -1;
        if (json_get_int64(json_member(json_element(strokes, k), "label"), &label) && label >= 0 && label < 256)
            used[label] = true;
    }
    return CLV_OK;
}

/* Finds a value for a new label, which has no name, is not void and is in no history; otherwise undoing could show
 * objects of a deleted label as those of the new one. Prefers the first value above all others to those between
 * them. */
static enum clv_status free_value(int32_t *value, const struct page_session *session, struct clv_error *err)
{
    const struct clv_labels *labels = &session->set.labels;
    bool used[256] = {false};
    for (size_t i = 0; i < session->set.n_items; i++)
        MUST(find_drawn(used, session->items[i].strokes, err));
    for (int32_t k = 1; k < CLV_MAX_LABELS; k++)
        used[k] |= labels->is_void[k] || (k < labels->n_labels && labels->names[k][0]);
    *value = labels->n_labels;
    while (*value < CLV_MAX_LABELS && used[*value])
        ++*value;
    for (int32_t k = 1; k < labels->n_labels && *value >= CLV_MAX_LABELS; k++)
        *value = used[k] ? *value : k;
    return CLV_OK;
}

enum clv_status page_labels_add(struct page_session *session, const char *name, struct clv_error *err)
{
    const struct clv_labels *labels = &session->set.labels;
    OWNED(text_release) struct text table = {0};
    int32_t value = CLV_MAX_LABELS;
    MUST(check_name(labels, name, err));
    MUST(free_value(&value, session, err));
    FAIL_IF(value >= CLV_MAX_LABELS, CLV_ERR_USAGE, "there are %d labels already", labels->n_labels);
    MUST(check_masks(session, err));
    MUST(page_boxes_check(session->boxes_path, true, err));
    text_init(&table, MAX_BYTES);
    labels_put_table(&table, labels);
    const uint8_t *colour = labels->palette[value];
    text_printf(&table, "%d\t%s\t%d\t%d\t%d\n", value, name, colour[0], colour[1], colour[2]);
    return install(session, &table, err);
}

static enum clv_status rename_in_table(struct page_session *session, int64_t value, const char *name,
                                       struct clv_error *err)
{
    OWNED(clv_labels_release) struct clv_labels renamed = {0};
    OWNED(text_release) struct text table = {0};
    MUST(clv_labels_copy(&renamed, &session->set.labels, err));
    snprintf(renamed.names[value], sizeof *renamed.names, "%s", name);
    text_init(&table, MAX_BYTES);
    labels_put_table(&table, &renamed);
    return install(session, &table, err);
}

/* Renames the label in the model of the page, whose file belongs to the page. */
static enum clv_status rename_in_model(struct page_session *session, int64_t value, const char *from, const char *to,
                                       struct clv_error *err)
{
    struct clv_labels *labels = &session->model.labels;
    if (!session->model.w || value >= labels->n_labels || strcmp(labels->names[value], from) != 0)
        return CLV_OK;
    snprintf(labels->names[value], sizeof *labels->names, "%s", to);
    enum clv_status status = clv_model_write(session->options->model, &session->model, err);
    if (status)
        snprintf(labels->names[value], sizeof *labels->names, "%s", from);
    return status;
}

static bool names_label(const struct clv_boxes *boxes, const char *name)
{
    for (size_t k = 0; k < boxes->n_labels; k++)
        if (strcmp(boxes->labels[k], name) == 0)
            return true;
    return false;
}

static enum clv_status rename_in_files(struct page_session *session, int64_t value, const char *from, const char *to,
                                       struct clv_error *err)
{
    MUST(rename_in_model(session, value, from, to, err));
    return rename_in_table(session, value, to, err);
}

enum clv_status page_labels_rename(struct page_session *session, int64_t value, const char *name, struct clv_error *err)
{
    const struct clv_labels *labels = &session->set.labels;
    const struct page_trainer *trainer = session->options->trainer;
    char before[sizeof *labels->names], after[sizeof *labels->names];
    FAIL_IF(!page_labels_have(session, value), CLV_ERR_USAGE, "there is no label %lld", (long long)value);
    snprintf(before, sizeof before, "%s", labels->names[value]);
    MUST(check_name(labels, name, err));
    FAIL_IF(trainer && trainer->is_busy(trainer->context), CLV_ERR_USAGE,
            "training is under way, and its model will have the old name; wait for it, or stop it");
    FAIL_IF(session->options->boxes && names_label(&session->import.boxes, before), CLV_ERR_USAGE,
            "%s names the label %s, too; rename it there first", session->options->boxes, before);
    MUST(check_masks(session, err));
    snprintf(after, sizeof after, "%s", name);
    MUST(page_boxes_rename(session->boxes_path, before, after, err));
    enum clv_status status = rename_in_files(session, value, before, after, err);
    if (status) { /* restores the files that were written */
        (void)!rename_in_model(session, value, after, before, NULL);
        (void)!page_boxes_rename(session->boxes_path, after, before, NULL);
    }
    return status;
}

/* Sets *is_used to whether the image's mask has the label. */
static enum clv_status find_label(bool *is_used, const struct page_session *session, size_t i, int32_t value,
                                  struct clv_error *err)
{
    const struct page_item *item = &session->items[i];
    const char *path = path_exists(item->mask)                       ? item->mask
                       : item->foreign && path_exists(item->foreign) ? item->foreign
                                                                     : NULL;
    OWNED(clv_mask_release) struct clv_mask mask = {0};
    *is_used = false;
    if (!path)
        return CLV_OK;
    MUST(clv_mask_read(&mask, path, &session->set.labels, 0, 0, &session->limits, err));
    *is_used = memchr(mask.labels, value, (size_t)mask.width * (size_t)mask.height) != NULL;
    return CLV_OK;
}

static enum clv_status check_unused(const struct page_session *session, int32_t value, struct clv_error *err)
{
    const char *name = session->set.labels.names[value], *named = session->options->boxes;
    bool is_used = false;
    for (size_t i = 0; i < session->set.n_items && !is_used; i++) {
        MUST(find_label(&is_used, session, i, value, err));
        FAIL_IF(is_used, CLV_ERR_USAGE, "%s has %s; change or delete its objects of that label first",
                session->set.items[i].name, name);
    }
    FAIL_IF(named && names_label(&session->import.boxes, name), CLV_ERR_USAGE,
            "%s names the label %s; take it out first", named, name);
    MUST(page_boxes_use(&is_used, session->boxes_path, name, err));
    FAIL_IF(is_used, CLV_ERR_USAGE, "%s has boxes of %s; take them out first", session->boxes_path, name);
    return CLV_OK;
}

static enum clv_status delete_in_table(struct page_session *session, int64_t value, struct clv_error *err)
{
    OWNED(clv_labels_release) struct clv_labels left = {0};
    OWNED(text_release) struct text table = {0};
    MUST(clv_labels_copy(&left, &session->set.labels, err));
    left.names[value][0] = 0;
    text_init(&table, MAX_BYTES);
    labels_put_table(&table, &left);
    return install(session, &table, err);
}

enum clv_status page_labels_delete(struct page_session *session, int64_t value, struct clv_error *err)
{
    const struct clv_labels *labels = &session->set.labels;
    const struct page_trainer *trainer = session->options->trainer;
    char name[sizeof *labels->names];
    int32_t n_left = 0;
    FAIL_IF(!page_labels_have(session, value), CLV_ERR_USAGE, "there is no label %lld", (long long)value);
    for (int32_t k = 1; k < labels->n_labels; k++)
        n_left += k != value && page_labels_have(session, k);
    FAIL_IF(!value, CLV_ERR_USAGE, "%s is the background, which stays; it can be renamed", labels->names[0]);
    FAIL_IF(!n_left, CLV_ERR_USAGE, "%s is the last label, which stays; it can be renamed", labels->names[value]);
    FAIL_IF(trainer && trainer->is_busy(trainer->context), CLV_ERR_USAGE,
            "training is under way, and its model will have the label; wait for it, or stop it");
    MUST(check_unused(session, (int32_t)value, err));
    snprintf(name, sizeof name, "%s", labels->names[value]);
    MUST(rename_in_model(session, value, name, "", err));
    enum clv_status status = delete_in_table(session, value, err);
    if (status)
        (void)!rename_in_model(session, value, "", name, NULL);
    return status;
}
