#include "cli/segment/names_file.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/segment/overlay_legend.h"
#include "data/labels.h"

#define MAX_BYTES ((size_t)1 << 24)

static bool says(const char *path, const struct text *text)
{
    char *bytes;
    size_t size;
    struct clv_error ignored;
    if (file_read(&bytes, &size, path, MAX_BYTES, &ignored) != CLV_OK)
        return false;
    bool same = size == text->size && memcmp(bytes, text->bytes, size) == 0;
    array_free(bytes);
    return same;
}

static enum clv_status claim(struct segment *options, const char *path, struct clv_error *err)
{
    char *folder = options->data ? path_folder(options->data) : NULL;
    char *labels = folder ? path_join(folder, "labels.tsv") : NULL;
    bool is_file = options->data && !path_is_folder(options->data); /* beside which labels.tsv is read */
    const char *const inputs[] = {options->data, options->boxes, is_file ? labels : NULL};
    enum clv_status status = options->data && !labels
                                 ? fail_memory(err)
                                 : outputs_claim(&options->common.outputs, path,
                                                 options->existing == EXISTING_OVERWRITE, "", inputs, 3, err);
    array_free(folder);
    array_free(labels);
    return status;
}

enum clv_status names_file_write(struct segment *options, const char *below, struct text *text, struct clv_error *err)
{
    char *path = path_join(options->output, below);
    enum path_kind kind = PATH_ABSENT;
    enum clv_status status = path && !text->failed ? path_look(&kind, path, err) : fail_memory(err);
    if (status == CLV_OK && (kind == PATH_ABSENT || !says(path, text))) {
        if (kind != PATH_ABSENT)
            status = claim(options, path, err);
        if (status == CLV_OK)
            status = outputs_make_folder(path, err);
        if (status == CLV_OK)
            status = file_write(path, text->bytes ? text->bytes : "", text->size, err);
    }
    text_release(text);
    array_free(path);
    return status;
}

enum clv_status names_file_labels(struct segment *options, const struct clv_labels *labels, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    if (!labels->from_file || options->marginals || segment_is_piped(options))
        return CLV_OK;
    if (options->boxes) {
        struct text text;
        text_init(&text, MAX_BYTES);
        labels_put_table(&text, labels);
        status = names_file_write(options, "labels.tsv", &text, err);
    }
    if (status == CLV_OK && options->overlay)
        status = overlay_legend_write(options->output, labels, options->existing == EXISTING_OVERWRITE, err);
    return status;
}
