#include "page/page.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"

#define MAX_BYTES ((size_t)1 << 20)

static enum clv_status check_name(const struct clv_labels *labels, const char *name, struct clv_error *err)
{
    if (!*name || strlen(name) > 63 || strpbrk(name, "\t\r\n,") || strcmp(name, "void") == 0)
        return fail(err, CLV_ERR_USAGE,
                    "a label's name has 1 to 63 bytes without tabs, commas and line ends, and is not \"void\"");
    for (int32_t k = 0; k < labels->n_labels; k++)
        if (strcmp(labels->names[k], name) == 0)
            return fail(err, CLV_ERR_USAGE, "there is a label %s already", name);
    return CLV_OK;
}

/* A mask that the page did not write, read without names and with them. */
static enum clv_status check_mask(const struct page_session *session, const char *path, struct clv_error *err)
{
    struct clv_labels named = session->set.labels; /* a view */
    struct clv_mask now = {0}, then = {0};
    const struct clv_image_limits *limits = &session->limits;
    named.from_file = true;
    enum clv_status status = clv_mask_read(&now, path, &session->set.labels, 0, 0, limits, err);
    TRY(clv_mask_read(&then, path, &named, now.width, now.height, limits, err));
    if (status == CLV_OK && memcmp(now.labels, then.labels, (size_t)now.width * (size_t)now.height) != 0)
        status = fail(err, CLV_ERR_DATA,
                      "%s: its values would mean something else once labels have names; accept its image first", path);
    clv_mask_release(&now);
    clv_mask_release(&then);
    return status;
}

/* Before the folder has a labels.tsv. */
static enum clv_status check_masks(const struct page_session *session, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    for (size_t i = 0; i < session->set.n_items && status == CLV_OK && !session->set.labels.from_file; i++) {
        const struct page_item *item = &session->items[i];
        const char *mask = path_exists(item->mask) ? item->mask : item->foreign;
        if (mask && path_exists(mask) && !path_exists(item->strokes))
            status = check_mask(session, mask, err);
    }
    return status;
}

/* Writes labels.tsv and takes the labels from there. */
static enum clv_status install(struct page_session *session, struct text *table, struct clv_error *err)
{
    struct clv_labels read = {0};
    enum clv_status status =
        table->failed ? fail_memory(err) : file_write(session->labels_path, table->bytes, table->size, err);
    TRY(clv_labels_read(&read, session->labels_path, err));
    if (status == CLV_OK) {
        clv_labels_release(&session->set.labels);
        session->set.labels = read;
        session->set.has_label_file = true;
    }
    text_release(table);
    return status;
}

enum clv_status page_labels_add(struct page_session *session, const char *name, struct clv_error *err)
{
    const struct clv_labels *labels = &session->set.labels;
    struct text table;
    int32_t value = labels->n_labels;
    enum clv_status status = check_name(labels, name, err);
    while (value < CLV_MAX_LABELS && labels->is_void[value])
        value++;
    TRY_IF(value >= CLV_MAX_LABELS, fail(err, CLV_ERR_USAGE, "there are %d labels already", labels->n_labels));
    TRY(check_masks(session, err));
    TRY(page_boxes_check(session->boxes_path, true, err));
    if (status != CLV_OK)
        return status;
    text_init(&table, MAX_BYTES);
    labels_put_table(&table, labels);
    const uint8_t *colour = labels->palette[value];
    text_printf(&table, "%d\t%s\t%d\t%d\t%d\n", value, name, colour[0], colour[1], colour[2]);
    return install(session, &table, err);
}

static enum clv_status rename_in_table(struct page_session *session, int64_t value, const char *name,
                                       struct clv_error *err)
{
    struct clv_labels renamed = {0};
    struct text table;
    MUST(clv_labels_copy(&renamed, &session->set.labels, err));
    snprintf(renamed.names[value], sizeof *renamed.names, "%s", name);
    text_init(&table, MAX_BYTES);
    labels_put_table(&table, &renamed);
    clv_labels_release(&renamed);
    return install(session, &table, err);
}

/* The model of the page: that file is its own. */
static enum clv_status rename_in_model(struct page_session *session, int64_t value, const char *from, const char *to,
                                       struct clv_error *err)
{
    struct clv_labels *labels = &session->model.labels;
    if (!session->model.w || value >= labels->n_labels || strcmp(labels->names[value], from) != 0)
        return CLV_OK;
    snprintf(labels->names[value], sizeof *labels->names, "%s", to);
    enum clv_status status = clv_model_write(session->options->model, &session->model, err);
    if (status != CLV_OK)
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

enum clv_status page_labels_rename(struct page_session *session, int64_t value, const char *name, struct clv_error *err)
{
    const struct clv_labels *labels = &session->set.labels;
    const struct page_trainer *trainer = session->options->trainer;
    char before[sizeof *labels->names], after[sizeof *labels->names];
    if (value < 0 || value >= labels->n_labels || labels->is_void[value] || !labels->names[value][0])
        return fail(err, CLV_ERR_USAGE, "there is no label %lld", (long long)value);
    snprintf(before, sizeof before, "%s", labels->names[value]);
    enum clv_status status = check_name(labels, name, err);
    if (status == CLV_OK && trainer && trainer->is_busy(trainer->context))
        status = fail(err, CLV_ERR_USAGE,
                      "training is under way, and its model will have the old name; wait for it, or stop it");
    if (status == CLV_OK && session->options->boxes && names_label(&session->import.boxes, before))
        status = fail(err, CLV_ERR_USAGE, "%s names the label %s, too; rename it there first", session->options->boxes,
                      before);
    TRY(check_masks(session, err));
    snprintf(after, sizeof after, "%s", name);
    TRY(page_boxes_rename(session->boxes_path, before, after, err));
    if (status != CLV_OK)
        return status;
    status = rename_in_model(session, value, before, after, err);
    TRY(rename_in_table(session, value, after, err));
    if (status != CLV_OK) { /* what was written goes back */
        (void)!rename_in_model(session, value, after, before, NULL);
        (void)!page_boxes_rename(session->boxes_path, after, before, NULL);
    }
    return status;
}
