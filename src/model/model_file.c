/* Writes and reads model files: tensors of weights, palette and recipe, and JSON texts in the metadata. Everything that
 * is read is checked. Start at clv_model_write and model_parse. */
#include "infer/oracle/oracle.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "cleave/data.h"
#include "data/data.h"
#include "data/tensor_digest.h"
#include "feature/recipe/recipe.h"
#include "image/image.h"

#define FORMAT        "cleave model "
#define VERSION       "1"
#define STAGED        "2" /* of models of two stages */
#define EXTRA         "extra."
#define OLD_LETTERS   "letters" /* means "none", in older files of models of written words */
#define N_METADATA    6
#define N_OWN_TENSORS (5 + RECIPE_TENSORS) /* unary and pairwise of two stages, palette, the recipe's */

/* Names of the tensors of a stage. */
struct weight_names {
    const char *unary, *pairwise;
};

static const struct weight_names names_of_last = {"unary", "pairwise"},
                                 names_of_first = {"first.unary", "first.pairwise"};

/* Weight layouts and weights, as JSON members and as tensors. */

static const char *const forms[] = {
    [CLV_PAIRWISE_NONE] = "none", [CLV_PAIRWISE_POTTS] = "potts", [CLV_PAIRWISE_FULL] = "full"};
#define N_FORMS ((int)(sizeof forms / sizeof *forms))

static bool shape_has_form(const struct clv_weight_layout *layout)
{
    return (int)layout->pairwise >= 0 && (int)layout->pairwise < N_FORMS;
}

/* Writes the members "n_labels":K,"n_features":d and so on, without braces. The layout's form must be known. */
static void shape_put_json(struct text *text, const struct clv_weight_layout *layout)
{
    text_printf(text, "\"n_labels\":%d,\"n_features\":%d,\"n_edge_features\":%d,\"pairwise\":\"%s\"", layout->n_labels,
                layout->n_features, layout->n_edge_features, forms[layout->pairwise]);
}

/* Reads the same members from a file's object. Only the form is checked. */
static enum clv_status shape_read(struct clv_weight_layout *layout, const struct json_value *object, const char *path,
                                  struct clv_error *err)
{
    const char *form = "";
    MUST(metadata_count(&layout->n_labels, object, "n_labels", INT32_MIN, INT32_MAX, path, err));
    MUST(metadata_count(&layout->n_features, object, "n_features", INT32_MIN, INT32_MAX, path, err));
    MUST(metadata_count(&layout->n_edge_features, object, "n_edge_features", INT32_MIN, INT32_MAX, path, err));
    int i = 0;
    json_get_text(json_member(object, "pairwise"), &form);
    while (i < N_FORMS && strcmp(form, forms[i]) != 0)
        i++;
    layout->pairwise = (enum clv_pairwise)i;
    return i < N_FORMS
               ? CLV_OK
               : fail(err, CLV_ERR_DATA, "%s: pairwise form \"%.60s\" is not one of none, potts, full", path, form);
}

/* Refuses impossible layouts; `name` is the file. */
static enum clv_status shape_check(const struct clv_weight_layout *layout, const char *name, struct clv_error *err)
{
    if (layout->n_labels < 2 || layout->n_labels > CLV_MAX_LABELS)
        return fail(err, CLV_ERR_DATA, "%s: n_labels is %d, must be 2 to %d", name, layout->n_labels, CLV_MAX_LABELS);
    if (layout->n_features < 1 || layout->n_edge_features < 0 ||
        (layout->n_edge_features < 1 && layout->pairwise != CLV_PAIRWISE_NONE))
        return fail(err, CLV_ERR_DATA, "%s: n_features is %d and n_edge_features %d", name, layout->n_features,
                    layout->n_edge_features);
    return CLV_OK;
}

static enum clv_status check_parts(const struct clv_weight_layout *layout, const double *unary, const double *pairwise,
                                   const char *name, struct clv_error *err)
{
    size_t n_unary = clv_weight_layout_unary_size(layout), n_pairwise = clv_weight_layout_size(layout) - n_unary;
    for (size_t i = 0; i < n_unary; i++)
        if (!isfinite(unary[i]))
            return fail(err, CLV_ERR_DATA, "%s: unary weight %zu is %g", name, i, unary[i]);
    for (size_t i = 0; pairwise && i < n_pairwise; i++) {
        FAIL_IF(!isfinite(pairwise[i]), CLV_ERR_DATA, "%s: pairwise weight %zu is %g", name, i, pairwise[i]);
        if (pairwise[i] < 0 && layout->pairwise == CLV_PAIRWISE_POTTS)
            return fail(err, CLV_ERR_DATA, "%s: coupling %zu is %g, must not be negative", name, i, pairwise[i]);
    }
    return CLV_OK;
}

/* Refuses weights w[clv_weight_layout_size(layout)] that are not finite, and negative couplings. */
static enum clv_status weights_check(const struct clv_weight_layout *layout, const double *w, const char *name,
                                     struct clv_error *err)
{
    return check_parts(layout, w, w + clv_weight_layout_unary_size(layout), name, err);
}

/* Describes the weights by one tensor or two, which are views of them. Returns the number of tensors. */
static size_t weights_tensors(struct clv_tensor tensors[2], const struct clv_weight_layout *layout, const double *w,
                              const struct weight_names *names)
{
    int64_t k = layout->n_labels, p = layout->n_edge_features;
    const double *pairwise = w + clv_weight_layout_unary_size(layout);
    size_t n = 0;
    tensors[n++] = (struct clv_tensor){.name = names->unary,
                                       .dtype = CLV_F64,
                                       .n_dimensions = 2,
                                       .shape = {(int64_t)clv_weight_layout_rows(layout), layout->n_features},
                                       .data = w};
    if (layout->pairwise == CLV_PAIRWISE_POTTS)
        tensors[n++] = (struct clv_tensor){
            .name = names->pairwise, .dtype = CLV_F64, .n_dimensions = 1, .shape = {p}, .data = pairwise};
    if (layout->pairwise == CLV_PAIRWISE_FULL)
        tensors[n++] = (struct clv_tensor){
            .name = names->pairwise, .dtype = CLV_F64, .n_dimensions = 3, .shape = {k, k, p}, .data = pairwise};
    return n;
}

/* Reads *w, which the caller frees by array_free, from a file's tensors. The layout has been checked; the weights are
 * checked against it and as by weights_check. */
static enum clv_status weights_read(double **w, const struct clv_weight_layout *layout,
                                    const struct clv_tensors *tensors, const struct weight_names *names,
                                    const char *path, struct clv_error *err)
{
    int64_t k = layout->n_labels, p = layout->n_edge_features;
    const struct clv_tensor *unary, *pairwise = NULL;
    MUST(clv_tensors_require(&unary, tensors, names->unary, CLV_F64, 2,
                             (int64_t[]){(int64_t)clv_weight_layout_rows(layout), layout->n_features}, err));
    if (layout->pairwise == CLV_PAIRWISE_POTTS)
        MUST(clv_tensors_require(&pairwise, tensors, names->pairwise, CLV_F64, 1, (int64_t[]){p}, err));
    if (layout->pairwise == CLV_PAIRWISE_FULL)
        MUST(clv_tensors_require(&pairwise, tensors, names->pairwise, CLV_F64, 3, (int64_t[]){k, k, p}, err));
    MUST(check_parts(layout, unary->data, pairwise ? pairwise->data : NULL, path, err));
    size_t n_unary = clv_weight_layout_unary_size(layout), n = clv_weight_layout_size(layout);
    double *read = array_alloc(n, sizeof *read);
    NEED(read);
    memcpy(read, unary->data, n_unary * sizeof *read);
    if (pairwise)
        memcpy(read + n_unary, pairwise->data, (n - n_unary) * sizeof *read);
    *w = read;
    return CLV_OK;
}

/* Checks that the parts of a model fit together. */

static enum clv_status check_stages(const struct clv_model *model, const char *name, struct clv_error *err)
{
    const struct clv_weight_layout *first = &model->first->layout, *last = &model->layout;
    MUST(shape_check(first, name, err));
    struct clv_weight_layout next = stage_next_layout(first, last->pairwise);
    if (first->n_labels != last->n_labels || last->n_features != next.n_features ||
        last->n_edge_features != next.n_edge_features)
        return fail(err, CLV_ERR_DATA,
                    "%s: %d labels, %d features and %d of edges do not come after a first stage of %d, %d and %d", name,
                    last->n_labels, last->n_features, last->n_edge_features, first->n_labels, first->n_features,
                    first->n_edge_features);
    if (!(model->first->temperature > 0 && isfinite(model->first->temperature)))
        return fail(err, CLV_ERR_DATA, "%s: the first stage's temperature is %g", name, model->first->temperature);
    return CLV_OK;
}

static enum clv_status check_shape(const struct clv_model *model, const char *name, struct clv_error *err)
{
    const struct clv_weight_layout *layout = &model->layout;
    MUST(shape_check(layout, name, err));
    if (model->first)
        MUST(check_stages(model, name, err));
    FAIL_IF(model->labels.n_labels != layout->n_labels, CLV_ERR_DATA, "%s: weights for %d labels, names for %d", name,
            layout->n_labels, model->labels.n_labels);
    const struct clv_weight_layout *of_nodes = model->first ? &model->first->layout : layout;
    if (!model->has_recipe)
        return CLV_OK;
    int32_t n_features = clv_recipe_n_features(&model->recipe);
    int32_t n_edge_features = clv_recipe_n_edge_features(&model->recipe);
    FAIL_IF(of_nodes->n_features != n_features, CLV_ERR_DATA, "%s: n_features is %d, its recipe makes %d", name,
            of_nodes->n_features, n_features);
    FAIL_IF(of_nodes->n_edge_features != n_edge_features, CLV_ERR_DATA,
            "%s: n_edge_features is %d, its recipe makes %d", name, of_nodes->n_edge_features, n_edge_features);
    return CLV_OK;
}

/* The JSON texts of the metadata. */
struct header {
    struct text model, first, labels, recipe, record;
};

static void header_release(struct header *header)
{
    text_release(&header->model);
    text_release(&header->first);
    text_release(&header->labels);
    text_release(&header->recipe);
    text_release(&header->record);
}

static enum clv_status put_header(struct header *header, const struct clv_model *model, struct clv_error *err)
{
    struct text *const texts[] = {&header->model, &header->first, &header->labels, &header->recipe, &header->record};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        text_init(texts[i], SIZE_MAX / 2);
    text_put(&header->model, "{");
    shape_put_json(&header->model, &model->layout);
    if (model->decoding.rule != CLV_DECODE_ORACLE) {
        text_printf(&header->model,
                    ",\"decoding\":\"%s\",\"hidden_temperature\":", decoding_rule_name(model->decoding.rule));
        text_put_json_number(&header->model, model->decoding.hidden_temperature);
    }
    text_put(&header->model, "}");
    if (model->first) {
        text_put(&header->first, "{");
        shape_put_json(&header->first, &model->first->layout);
        text_put(&header->first, ",\"temperature\":");
        text_put_json_number(&header->first, model->first->temperature);
        text_put(&header->first, "}");
    }
    labels_put_json(&header->labels, &model->labels);
    if (model->has_recipe)
        recipe_put_json(&header->recipe, &model->recipe);
    else
        text_put(&header->recipe, "none");
    record_put_json(&header->record, &model->record);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i]->failed)
            return fail_memory(err);
    return CLV_OK;
}

/* Lists the model's tensors without the attached ones, as views of it. Returns their number. */
static size_t own_tensors(struct clv_tensor *tensors, const struct clv_model *model)
{
    size_t n = weights_tensors(tensors, &model->layout, model->w, &names_of_last);
    if (model->first)
        n += weights_tensors(tensors + n, &model->first->layout, model->first->w, &names_of_first);
    tensors[n++] = labels_tensor(&model->labels);
    if (model->has_recipe)
        n += recipe_tensors(tensors + n, &model->recipe);
    return n;
}

/* Describes every attached tensor by the name "extra.NAME". `names` holds these names one after the other. */
static enum clv_status put_extra(struct clv_tensor *tensors, struct text *names, const struct clv_model *model,
                                 struct clv_error *err)
{
    for (size_t i = 0; i < model->n_extra; i++) {
        text_put(names, EXTRA);
        text_append(names, model->extra[i].name, strlen(model->extra[i].name) + 1);
    }
    if (names->failed)
        return fail_memory(err);
    const char *name = names->bytes;
    for (size_t i = 0; i < model->n_extra; i++) {
        tensors[i] = model->extra[i];
        tensors[i].name = name;
        name += strlen(name) + 1;
    }
    return CLV_OK;
}

enum clv_status clv_model_write(const char *path, const struct clv_model *model, struct clv_error *err)
{
    FAIL_IF(!shape_has_form(&model->layout) || (model->first && !shape_has_form(&model->first->layout)), CLV_ERR_USAGE,
            "%s: unknown pairwise form %d", path, (int)model->layout.pairwise);
    FAIL_IF(!model->w || !model->labels.palette, CLV_ERR_USAGE, "%s: the model has no weights or no labels", path);
    MUST(check_shape(model, path, err));
    MUST(weights_check(&model->layout, model->w, path, err));
    if (model->first)
        MUST(weights_check(&model->first->layout, model->first->w, path, err));
    OWNED(header_release) struct header header = {0};
    OWNED(text_release) struct text names = {0};
    OWNED_ARRAY struct clv_tensor *tensors = array_alloc(N_OWN_TENSORS + model->n_extra, sizeof *tensors);
    text_init(&names, SIZE_MAX / 2);
    MUST(put_header(&header, model, err));
    NEED(tensors);
    size_t n = own_tensors(tensors, model);
    MUST(put_extra(tensors + n, &names, model, err));
    const char *const metadata[N_METADATA][2] = {{"format", model->first ? FORMAT STAGED : FORMAT VERSION},
                                                 {"model", header.model.bytes},
                                                 {"labels", header.labels.bytes},
                                                 {"recipe", header.recipe.bytes},
                                                 {"record", header.record.bytes},
                                                 {"first", header.first.bytes}};
    return tensors_write_digested(path, tensors, n + model->n_extra, metadata, N_METADATA - !model->first, err);
}

static enum clv_status check_format(const struct clv_tensors *tensors, const char *path, struct clv_error *err)
{
    const char *format = clv_tensors_metadata(tensors, "format");
    FAIL_IF(format && strncmp(format, "cleave tags ", 12) == 0, CLV_ERR_DATA,
            "%s: is a model of tags, for `cleave tag'", path);
    FAIL_IF(!format || strncmp(format, FORMAT, strlen(FORMAT)) != 0, CLV_ERR_DATA,
            "%s: not a cleave model (format \"%.60s\")", path, format ? format : "");
    FAIL_IF(strcmp(format + strlen(FORMAT), VERSION) != 0 && strcmp(format + strlen(FORMAT), STAGED) != 0, CLV_ERR_DATA,
            "%s: a cleave model of version \"%.60s\", this program reads version %s and %s", path,
            format + strlen(FORMAT), VERSION, STAGED);
    return CLV_OK;
}

/* Reads the decoding. Models without the member are decoded by the oracle. */
static enum clv_status read_decoding(struct clv_decoding *decoding, const struct json_value *root, const char *path,
                                     struct clv_error *err)
{
    const char *name = "";
    int rule = 0;
    *decoding = (struct clv_decoding){0};
    if (!json_member(root, "decoding"))
        return CLV_OK;
    json_get_text(json_member(root, "decoding"), &name);
    while (rule < CLV_N_DECODING_RULES && strcmp(name, decoding_rule_name((enum clv_decoding_rule)rule)) != 0)
        rule++;
    FAIL_IF(rule == CLV_N_DECODING_RULES, CLV_ERR_DATA, "%s: this program knows no decoding \"%.60s\"", path, name);
    decoding->rule = (enum clv_decoding_rule)rule;
    if (!json_get_double(json_member(root, "hidden_temperature"), &decoding->hidden_temperature) ||
        !(decoding->hidden_temperature >= 0))
        return fail(err, CLV_ERR_DATA, "%s: \"hidden_temperature\" is missing or out of range", path);
    return CLV_OK;
}

static enum clv_status read_shape(struct clv_weight_layout *layout, struct clv_decoding *decoding,
                                  const struct clv_tensors *tensors, const char *path, struct clv_error *err)
{
    OWNED(json_drop) struct json_value *root = NULL;
    MUST(metadata_parse(&root, tensors, "model", path, err));
    MUST(shape_read(layout, root, path, err));
    return read_decoding(decoding, root, path, err);
}

/* Reads the layout and temperature of the first stage of a model of two. Its weights are read after these have been
 * checked. */
static enum clv_status read_first(struct clv_model *model, const struct clv_tensors *tensors, const char *path,
                                  struct clv_error *err)
{
    OWNED(json_drop) struct json_value *root = NULL;
    if (strcmp(clv_tensors_metadata(tensors, "format"), FORMAT STAGED) != 0)
        return CLV_OK;
    MUST(metadata_parse(&root, tensors, "first", path, err));
    model->first = array_zalloc(1, sizeof *model->first);
    NEED(model->first);
    MUST(shape_read(&model->first->layout, root, path, err));
    FAIL_IF(!json_get_double(json_member(root, "temperature"), &model->first->temperature), CLV_ERR_DATA,
            "%s: the first stage has no temperature", path);
    return CLV_OK;
}

/* Reads attached tensors. Refuses tensors that neither are attached nor belong to a model. */
static enum clv_status read_extra(struct clv_model *model, const struct clv_tensors *tensors, const char *path,
                                  struct clv_error *err)
{
    struct clv_tensor model_tensors[N_OWN_TENSORS];
    size_t n_own = own_tensors(model_tensors, model), n = clv_tensors_count(tensors);
    model->extra = array_zalloc(n, sizeof *model->extra);
    NEED(model->extra);
    for (size_t i = 0; i < n; i++) {
        struct clv_tensor tensor = *clv_tensors_at(tensors, i);
        size_t at = 0;
        while (at < n_own && strcmp(model_tensors[at].name, tensor.name) != 0)
            at++;
        if (at < n_own)
            continue;
        FAIL_IF(strncmp(tensor.name, EXTRA, strlen(EXTRA)) != 0, CLV_ERR_DATA,
                "%s: tensor \"%s\" does not belong in a model", path, tensor.name);
        tensor.name += strlen(EXTRA);
        MUST(tensor_copy(&model->extra[model->n_extra], &tensor, err));
        model->n_extra++;
    }
    return CLV_OK;
}

enum clv_status model_parse(struct clv_model *model, const struct clv_tensors *tensors, const char *path,
                            struct clv_error *err)
{
    static const char *const known[] = {"format", "model", "labels", "recipe", "record", "first", NULL};
    OWNED(clv_model_release) struct clv_model result = {0};
    const char *labels = NULL, *recipe = NULL;
    MUST(check_format(tensors, path, err));
    MUST(read_shape(&result.layout, &result.decoding, tensors, path, err));
    MUST(read_first(&result, tensors, path, err));
    MUST(metadata_require(&labels, tensors, "labels", path, err));
    MUST(labels_parse(&result.labels, labels, tensors, path, err));
    MUST(metadata_require(&recipe, tensors, "recipe", path, err));
    if (strcmp(recipe, "none") != 0 && strcmp(recipe, OLD_LETTERS) != 0) {
        MUST(recipe_read(&result.recipe, recipe, tensors, path, err));
        result.has_recipe = true;
    }
    MUST(check_shape(&result, path, err));
    MUST(weights_read(&result.w, &result.layout, tensors, &names_of_last, path, err));
    if (result.first)
        MUST(weights_read(&result.first->w, &result.first->layout, tensors, &names_of_first, path, err));
    MUST(read_extra(&result, tensors, path, err));
    MUST(record_read(&result.record, tensors, path, err));
    /* The digest is checked last, since the steps above name a fault more exactly. */
    MUST(tensors_check_digest(tensors, known, path, err));
    *model = TAKE(result);
    return CLV_OK;
}

/* Fails with a message that names the kind of the file, if it is recognised. `why` is the reason that it is not a tensor
 * file. */
static enum clv_status not_a_model(const char *path, const struct clv_error *why, struct clv_error *err)
{
    struct clv_error ignored;
    const char *kind = NULL;
    OWNED_ARRAY char *head = NULL;
    size_t size;
    if (file_read_head(&head, &size, path, FORMAT_HEAD_BYTES, &ignored) == CLV_OK)
        image_format(&kind, (const uint8_t *)head, size);
    FAIL_IF(kind, CLV_ERR_DATA, "%s: no model, but an image (%s); models are what `cleave train' writes", path, kind);
    FAIL_IF(tensors_are_not(why), CLV_ERR_DATA,
            "%s: no model, but another kind of file; models are what `cleave train' writes", path);
    return fail(err, CLV_ERR_DATA, "%s: no model, which `cleave train' writes: %s", path,
                why->message + why->path_length + (why->path_length ? strlen(": ") : 0));
}

enum clv_status clv_model_read(struct clv_model *model, const char *path, struct clv_error *err)
{
    OWNED(tensors_drop) struct clv_tensors *tensors = NULL;
    struct clv_error why = {0};
    enum clv_status status = clv_tensors_open(&tensors, path, &why);
    if (status)
        return status == CLV_ERR_DATA ? not_a_model(path, &why, err) : fail_as(err, status, &why);
    return model_parse(model, tensors, path, err);
}
