#include "data/data.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"

/* The lowest value that is void from `from` on, below 255; -1: none is. */
static int32_t next_void(const struct clv_labels *labels, int32_t from)
{
    while (from < CLV_VOID && !labels->is_void[from])
        from++;
    return from < CLV_VOID ? from : -1;
}

void labels_put_json(struct text *text, const struct clv_labels *labels)
{
    int32_t value = next_void(labels, 0);
    text_printf(text, "{\"from_file\":%d,\"void_value\":%d", labels->from_file != 0, value);
    if (value >= 0)
        value = next_void(labels, value + 1);
    for (bool is_first = true; value >= 0; value = next_void(labels, value + 1), is_first = false)
        text_printf(text, "%s%d%s", is_first ? ",\"more_void\":[" : ",", value,
                    next_void(labels, value + 1) < 0 ? "]" : "");
    text_put(text, ",\"names\":[");
    for (int32_t i = 0; i < labels->n_labels; i++) {
        text_put(text, i ? "," : "");
        text_put_json(text, labels->names[i]);
    }
    text_put(text, "]}");
}

struct clv_tensor labels_tensor(const struct clv_labels *labels)
{
    return (struct clv_tensor){
        .name = "palette", .dtype = CLV_U8, .n_dimensions = 2, .shape = {256, 3}, .data = labels->palette};
}

static enum clv_status parse_names(struct clv_labels *labels, const struct json_value *root, const char *file,
                                   struct clv_error *err)
{
    size_t n;
    const struct json_value *names = json_member(root, "names");
    if (!json_get_array(names, &n) || n < 2 || n > CLV_MAX_LABELS)
        return fail(err, CLV_ERR_DATA, "%s: its label names are no list of 2 to %d", file, CLV_MAX_LABELS);
    labels->names = array_zalloc(n, sizeof *labels->names);
    if (!labels->names)
        return fail_memory(err);
    labels->n_labels = (int32_t)n;
    for (size_t i = 0; i < n; i++) {
        const char *name;
        if (!json_get_text(json_element(names, i), &name) || strlen(name) >= sizeof *labels->names)
            return fail(err, CLV_ERR_DATA, "%s: the name of label %zu is no text of less than %zu bytes", file, i,
                        sizeof *labels->names);
        snprintf(labels->names[i], sizeof *labels->names, "%s", name);
    }
    return CLV_OK;
}

static enum clv_status parse_values(struct clv_labels *labels, const struct json_value *root, const char *file,
                                    struct clv_error *err)
{
    int64_t void_value, from_file;
    if (!json_get_int64(json_member(root, "void_value"), &void_value) || void_value < -1 || void_value >= CLV_VOID)
        return fail(err, CLV_ERR_DATA, "%s: void_value of its labels is missing or not in -1 to 254", file);
    if (!json_get_int64(json_member(root, "from_file"), &from_file) || from_file < 0 || from_file > 1)
        return fail(err, CLV_ERR_DATA, "%s: from_file of its labels is missing or neither 0 nor 1", file);
    if (void_value >= 0)
        labels->is_void[void_value] = 1;
    labels->from_file = from_file != 0;
    const struct json_value *more = json_member(root, "more_void");
    size_t n = 0;
    if (more && !json_get_array(more, &n))
        return fail(err, CLV_ERR_DATA, "%s: more_void of its labels is no list", file);
    for (size_t i = 0; i < n; i++) {
        if (!json_get_int64(json_element(more, i), &void_value) || void_value < 0 || void_value >= CLV_VOID)
            return fail(err, CLV_ERR_DATA, "%s: more_void of its labels has a value that is not in 0 to 254", file);
        labels->is_void[void_value] = 1;
    }
    return CLV_OK;
}

enum clv_status labels_parse(struct clv_labels *labels, const char *json, const struct clv_tensors *tensors,
                             const char *name, struct clv_error *err)
{
    struct json_value *root;
    struct clv_labels fresh = {0};
    const struct clv_tensor *palette;
    enum clv_status status = json_parse(&root, json, strlen(json), name, err);
    TRY(parse_names(&fresh, root, name, err));
    TRY(parse_values(&fresh, root, name, err));
    TRY(clv_tensors_require(&palette, tensors, "palette", CLV_U8, 2, (int64_t[]){256, 3}, err));
    if (status == CLV_OK && !(fresh.palette = array_copy(palette->data, 256, sizeof *fresh.palette)))
        status = fail_memory(err);
    if (status == CLV_OK)
        *labels = fresh;
    else
        clv_labels_release(&fresh);
    json_root_free(root);
    return status;
}
