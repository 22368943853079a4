/* Describes a model of tags for `cleave inspect`, as text or as JSON. Start at inspect_tags. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "cli/inspect/inspect.h"
#include "data/data.h"
#include "model/model.h"
#include "tags/tags.h"

bool inspect_is_tags(const char *path)
{
    struct clv_tensors *tensors;
    if (clv_tensors_open(&tensors, path, NULL) != CLV_OK)
        return false;
    const char *format = clv_tensors_metadata(tensors, "format");
    bool is_tags = format && strncmp(format, "cleave tags ", 12) == 0;
    clv_tensors_close(tensors);
    return is_tags;
}

/* Returns the coupling of two tags by their positions in the order of decision, later > earlier; 0 if the model's form
 * does not couple them. */
static double coupling_of(const struct clv_tag_model *model, int32_t later, int32_t earlier)
{
    size_t i = (size_t)later, j = (size_t)earlier;
    switch (model->form) {
    case CLV_TAGS_LMSBN: return model->order > 1 ? model->coupling[clv_belief_offset(later, model->order) + j] : 0;
    case CLV_TAGS_LMBM:
    case CLV_TAGS_FULL: return model->order > 1 ? model->coupling[i * (i - 1) / 2 + j] : 0;
    case CLV_TAGS_CHAIN: return model->order > 1 && j + 1 == i ? model->coupling[j] : 0;
    case CLV_TAGS_INDEPENDENT: break;
    }
    return 0;
}

/* Appends the n_top largest couplings between two tags. Searches all pairs for each magnitude, since n_top is small. */
static void put_couplings(struct text *text, const struct clv_tag_model *model, int32_t n_top, bool json)
{
    double last = INFINITY;
    char name[2][16];
    int32_t n_put = 0;
    while (n_put < n_top) {
        double best = 0;
        for (int32_t i = 1; i < model->n_tags; i++)
            for (int32_t j = 0; j < i; j++) {
                double size = fabs(coupling_of(model, i, j));
                if (size < last && size > best)
                    best = size;
            }
        if (best == 0)
            return;
        for (int32_t i = 1; i < model->n_tags && n_put < n_top; i++)
            for (int32_t j = 0; j < i && n_put < n_top; j++) {
                double c = coupling_of(model, i, j);
                if (fabs(c) != best)
                    continue;
                const char *first = clv_tag_name(model, model->tag_of[j], name[0]);
                const char *second = clv_tag_name(model, model->tag_of[i], name[1]);
                if (!json) {
                    text_printf(text, "  %12.5g  %s, %s\n", c, first, second);
                } else {
                    text_put(text, n_put ? ",[" : "[");
                    text_put_json(text, first);
                    text_put(text, ",");
                    text_put_json(text, second);
                    text_put(text, ",");
                    text_put_json_number(text, c);
                    text_put(text, "]");
                }
                n_put++;
            }
        last = best;
    }
}

static void put_text(struct text *text, const struct clv_tag_model *model, int32_t n_top)
{
    char name[16];
    text_printf(text, "form          %s, order %d, %d tags, %d features\n", clv_tag_form_name(model->form),
                model->order, model->n_tags, model->n_features);
    if (model->gamma > 0)
        text_printf(text, "kernel        rbf, gamma %g, %zu support vectors\n", model->gamma, model->n_vectors);
    else
        text_put(text, "kernel        linear\n");
    text_put(text, "tags         ");
    for (int32_t p = 0; p < model->n_tags; p++)
        text_printf(text, "%s %s", p ? "," : "", clv_tag_name(model, model->tag_of[p], name));
    text_put(text, "\n\nlargest couplings\n");
    put_couplings(text, model, n_top, false);
    text_put(text, "\nrecord\n");
    for (size_t i = 0; i < model->record.n; i++)
        text_printf(text, "  %-24s %s\n", model->record.entries[i].key, model->record.entries[i].value);
}

static void put_json(struct text *text, const struct clv_tag_model *model, int32_t n_top)
{
    char name[16];
    text_printf(text, "{\"form\":\"%s\",\"order\":%d,\"features\":%d,\"kernel\":\"%s\"", clv_tag_form_name(model->form),
                model->order, model->n_features, model->gamma > 0 ? "rbf" : "linear");
    json_put_number(text, "gamma", model->gamma);
    text_printf(text, ",\"support_vectors\":%zu,\"tags\":[", model->n_vectors);
    for (int32_t p = 0; p < model->n_tags; p++) {
        text_put(text, p ? "," : "");
        text_put_json(text, clv_tag_name(model, model->tag_of[p], name));
    }
    text_put(text, "],\"largest_couplings\":[");
    put_couplings(text, model, n_top, true);
    text_put(text, "],\"record\":");
    record_put_json(text, &model->record);
    text_put(text, "}\n");
}

enum clv_status inspect_tags(const char *path, int32_t n_top, bool json, struct clv_error *err)
{
    OWNED(clv_tag_model_release) struct clv_tag_model model = {0};
    struct text text = {0}; /* console_output releases it */
    MUST(clv_tag_model_read(&model, path, err));
    text_init(&text, (size_t)1 << 28);
    if (json)
        put_json(&text, &model, n_top);
    else
        put_text(&text, &model, n_top);
    return console_output(&text, err);
}
