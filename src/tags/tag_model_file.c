/* Writes and reads files of models of tags: tensors, and JSON in their metadata. Reading checks all content. Start at
 * clv_tag_model_write. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "data/data.h"
#include "data/tensor_digest.h"
#include "feature/recipe/recipe.h"
#include "model/model.h"
#include "tags/tags.h"

#define FORMAT      "cleave tags "
#define VERSION     "1"
#define N_METADATA  5
#define MAX_TENSORS (9 + RECIPE_TENSORS)
#define MAX_RECORD  ((size_t)1 << 28)

static struct clv_tensor reals(const char *name, const double *data, size_t n)
{
    return (struct clv_tensor){.name = name, .dtype = CLV_F64, .n_dimensions = 1, .shape = {(int64_t)n}, .data = data};
}

static struct clv_tensor table(const char *name, const double *data, size_t rows, size_t columns)
{
    return (struct clv_tensor){
        .name = name, .dtype = CLV_F64, .n_dimensions = 2, .shape = {(int64_t)rows, (int64_t)columns}, .data = data};
}

/* Lists the model's tensors, as views; returns their number. */
static size_t model_tensors(struct clv_tensor *tensors, const struct clv_tag_model *model)
{
    size_t n = 0, k = (size_t)model->n_tags, d = (size_t)model->n_features;
    tensors[n++] = reals("bias", model->bias, k);
    tensors[n++] = reals("coupling", model->coupling, clv_tag_coupling_count(model->form, model->n_tags, model->order));
    tensors[n++] = (struct clv_tensor){
        .name = "place", .dtype = CLV_I32, .n_dimensions = 1, .shape = {(int64_t)k}, .data = model->tag_of};
    if (model->scale)
        tensors[n++] = reals("scale", model->scale, d);
    if (model->gamma > 0) {
        int64_t n_values = model->row[model->n_vectors];
        tensors[n++] = table("coefficient", model->coefficient, k, model->n_vectors);
        tensors[n++] = reals("value", model->value, (size_t)n_values);
        tensors[n++] = (struct clv_tensor){
            .name = "index", .dtype = CLV_I32, .n_dimensions = 1, .shape = {n_values}, .data = model->index};
        tensors[n++] = (struct clv_tensor){.name = "row",
                                           .dtype = CLV_I64,
                                           .n_dimensions = 1,
                                           .shape = {(int64_t)model->n_vectors + 1},
                                           .data = model->row};
    } else {
        tensors[n++] = table("weight", model->weight, k, d);
    }
    if (model->has_recipe)
        n += recipe_tensors(tensors + n, &model->recipe);
    return n;
}

enum { TEXT_MODEL, TEXT_NAMES, TEXT_RECIPE, TEXT_RECORD, N_TEXTS };

static enum clv_status put_texts(struct text texts[N_TEXTS], const struct clv_tag_model *model, struct clv_error *err)
{
    struct text *head = &texts[TEXT_MODEL], *names = &texts[TEXT_NAMES];
    text_printf(head, "{\"form\":\"%s\",\"n_tags\":%d,\"n_features\":%d,\"order\":%d,\"gamma\":",
                clv_tag_form_name(model->form), model->n_tags, model->n_features, model->order);
    text_put_json_number(head, model->gamma);
    text_put(head, "}");
    text_put(names, "[");
    for (int32_t i = 0; model->names && i < model->n_tags; i++) {
        text_put(names, i ? "," : "");
        text_put_json(names, model->names[i]);
    }
    text_put(names, "]");
    if (model->has_recipe)
        recipe_put_json(&texts[TEXT_RECIPE], &model->recipe);
    else
        text_put(&texts[TEXT_RECIPE], "none");
    record_put_json(&texts[TEXT_RECORD], &model->record);
    for (int i = 0; i < N_TEXTS; i++)
        if (texts[i].failed)
            return fail_memory(err);
    return CLV_OK;
}

static void texts_release(struct text (*texts)[N_TEXTS])
{
    for (int i = 0; i < N_TEXTS; i++)
        text_release(&(*texts)[i]);
}

enum clv_status clv_tag_model_write(const char *path, const struct clv_tag_model *model, struct clv_error *err)
{
    struct clv_tensor tensors[MAX_TENSORS];
    OWNED(texts_release) struct text texts[N_TEXTS] = {{0}};
    for (int i = 0; i < N_TEXTS; i++)
        text_init(&texts[i], MAX_RECORD);
    MUST(put_texts(texts, model, err));
    const char *const metadata[N_METADATA][2] = {{"format", FORMAT VERSION},
                                                 {"model", texts[TEXT_MODEL].bytes},
                                                 {"names", texts[TEXT_NAMES].bytes},
                                                 {"recipe", texts[TEXT_RECIPE].bytes},
                                                 {"record", texts[TEXT_RECORD].bytes}};
    return tensors_write_digested(path, tensors, model_tensors(tensors, model), metadata, N_METADATA, err);
}

static enum clv_status check_format(const struct clv_tensors *tensors, const char *path, struct clv_error *err)
{
    const char *format = clv_tensors_metadata(tensors, "format");
    if (format && strncmp(format, "cleave model ", 13) == 0)
        return fail(err, CLV_ERR_DATA, "%s: is a model for `cleave segment', not one of tags", path);
    if (!format || strncmp(format, FORMAT, strlen(FORMAT)) != 0)
        return fail(err, CLV_ERR_DATA, "%s: not a cleave model of tags (format \"%.60s\")", path, format ? format : "");
    FAIL_IF(strcmp(format + strlen(FORMAT), VERSION) != 0, CLV_ERR_DATA,
            "%s: a model of tags of version \"%.60s\", this program reads version %s", path, format + strlen(FORMAT),
            VERSION);
    return CLV_OK;
}

static enum clv_status read_head(struct clv_tag_model *model, const struct clv_tensors *tensors, const char *path,
                                 struct clv_error *err)
{
    OWNED(json_drop) struct json_value *root = NULL;
    const char *form = "";
    MUST(metadata_parse(&root, tensors, "model", path, err));
    MUST(metadata_count(&model->n_tags, root, "n_tags", 1, CLV_MAX_TAGS, path, err));
    MUST(metadata_count(&model->n_features, root, "n_features", 1, CLV_MAX_TAG_FEATURES, path, err));
    MUST(metadata_count(&model->order, root, "order", 1, CLV_MAX_BELIEF_ORDER, path, err));
    json_get_text(json_member(root, "form"), &form);
    int i = 0;
    while (i <= CLV_TAGS_FULL && strcmp(form, clv_tag_form_name((enum clv_tag_form)i)) != 0)
        i++;
    model->form = (enum clv_tag_form)i;
    FAIL_IF(i > CLV_TAGS_FULL, CLV_ERR_DATA, "%s: form \"%.60s\" is not known", path, form);
    FAIL_IF(model->order > 2 && model->form != CLV_TAGS_LMSBN, CLV_ERR_DATA,
            "%s: order %d of form %s, which couples tags in pairs", path, model->order, form);
    FAIL_IF(!json_get_double(json_member(root, "gamma"), &model->gamma) || model->gamma < 0, CLV_ERR_DATA,
            "%s: gamma is missing or negative", path);
    return CLV_OK;
}

static enum clv_status read_names(struct clv_tag_model *model, const struct clv_tensors *tensors, const char *path,
                                  struct clv_error *err)
{
    OWNED(json_drop) struct json_value *root = NULL;
    size_t n = 0;
    MUST(metadata_parse(&root, tensors, "names", path, err));
    FAIL_IF(!json_get_array(root, &n) || (n && n != (size_t)model->n_tags), CLV_ERR_DATA,
            "%s: its names are not a list of %d", path, model->n_tags);
    if (n)
        NEED(model->names = array_zalloc(n, sizeof *model->names));
    for (size_t i = 0; i < n; i++) {
        const char *name;
        FAIL_IF(!json_get_text(json_element(root, i), &name) || strpbrk(name, ",\t\n"), CLV_ERR_DATA,
                "%s: the name of tag %zu is not text, or has a comma or tab", path, i);
        NEED(model->names[i] = string_copy(name));
    }
    return CLV_OK;
}

struct tag_file {
    const struct clv_tensors *tensors;
    const char *path;
};

/* Copies the values of a tensor of this shape, which must be finite. */
static enum clv_status take_reals(double **copy, const struct tag_file *file, const char *name, int32_t n_dims,
                                  const int64_t *shape, struct clv_error *err)
{
    const struct clv_tensor *tensor;
    MUST(clv_tensors_require(&tensor, file->tensors, name, CLV_F64, n_dims, shape, err));
    size_t n = (size_t)tensor->shape[0] * (n_dims == 2 ? (size_t)tensor->shape[1] : 1);
    const double *values = tensor->data;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return fail(err, CLV_ERR_DATA, "%s: value %zu of \"%s\" is %g", file->path, i, name, values[i]);
    *copy = array_copy(values, n, sizeof *values);
    return *copy ? CLV_OK : fail_memory(err);
}

static enum clv_status read_order(struct clv_tag_model *model, const struct tag_file *file, struct clv_error *err)
{
    const struct clv_tensor *tensor;
    size_t k = (size_t)model->n_tags;
    char is_met[CLV_MAX_TAGS] = {0};
    MUST(clv_tensors_require(&tensor, file->tensors, "place", CLV_I32, 1, (int64_t[]){model->n_tags}, err));
    const int32_t *tag_of = tensor->data;
    for (size_t i = 0; i < k; i++)
        if (tag_of[i] < 0 || tag_of[i] >= model->n_tags || is_met[tag_of[i]]++)
            return fail(err, CLV_ERR_DATA, "%s: decision %zu is tag %d, which is out of range or there twice",
                        file->path, i, tag_of[i]);
    model->tag_of = array_copy(tag_of, k, sizeof *tag_of);
    return model->tag_of ? CLV_OK : fail_memory(err);
}

static enum clv_status read_vectors(struct clv_tag_model *model, const struct tag_file *file, struct clv_error *err)
{
    const struct clv_tensor *row, *index;
    MUST(clv_tensors_require(&row, file->tensors, "row", CLV_I64, 1, (int64_t[]){-1}, err));
    FAIL_IF(row->shape[0] < 1, CLV_ERR_DATA, "%s: \"row\" is empty", file->path);
    size_t n = (size_t)row->shape[0] - 1;
    const int64_t *rows = row->data;
    for (size_t i = 0; i <= n; i++)
        FAIL_IF(i ? rows[i] < rows[i - 1] : rows[0] != 0, CLV_ERR_DATA, "%s: support vector %zu begins at %lld",
                file->path, i, (long long)rows[i]);
    MUST(clv_tensors_require(&index, file->tensors, "index", CLV_I32, 1, &rows[n], err));
    const int32_t *indices = index->data;
    for (size_t v = 0; v < n; v++)
        for (int64_t k = rows[v]; k < rows[v + 1]; k++)
            FAIL_IF(indices[k] < 0 || indices[k] >= model->n_features || (k > rows[v] && indices[k] <= indices[k - 1]),
                    CLV_ERR_DATA, "%s: feature %d of support vector %zu is out of range or of order", file->path,
                    indices[k], v);
    model->n_vectors = n;
    model->row = array_copy(rows, n + 1, sizeof *rows);
    model->index = array_copy(indices, (size_t)rows[n], sizeof *indices);
    NEED(model->row && model->index);
    MUST(take_reals(&model->value, file, "value", 1, &rows[n], err));
    return take_reals(&model->coefficient, file, "coefficient", 2, (int64_t[]){model->n_tags, (int64_t)n}, err);
}

static enum clv_status read_arrays(struct clv_tag_model *model, const struct tag_file *file, struct clv_error *err)
{
    int64_t k = model->n_tags, d = model->n_features;
    int64_t n_couplings = (int64_t)clv_tag_coupling_count(model->form, model->n_tags, model->order);
    MUST(read_order(model, file, err));
    MUST(take_reals(&model->bias, file, "bias", 1, &k, err));
    MUST(take_reals(&model->coupling, file, "coupling", 1, &n_couplings, err));
    if (clv_tensors_find(file->tensors, "scale"))
        MUST(take_reals(&model->scale, file, "scale", 1, &d, err));
    return model->gamma > 0 ? read_vectors(model, file, err)
                            : take_reals(&model->weight, file, "weight", 2, (int64_t[]){k, d}, err);
}

enum clv_status clv_tag_model_read(struct clv_tag_model *model, const char *path, struct clv_error *err)
{
    static const char *const known[] = {"format", "model", "names", "recipe", "record", NULL};
    OWNED(tensors_drop) struct clv_tensors *tensors = NULL;
    OWNED(clv_tag_model_release) struct clv_tag_model result = {0};
    MUST(clv_tensors_open(&tensors, path, err));
    MUST(check_format(tensors, path, err));
    MUST(read_head(&result, tensors, path, err));
    MUST(read_names(&result, tensors, path, err));
    MUST(read_arrays(&result, &(struct tag_file){tensors, path}, err));
    const char *recipe = NULL;
    MUST(metadata_require(&recipe, tensors, "recipe", path, err));
    if (strcmp(recipe, "none") != 0) {
        MUST(recipe_read(&result.recipe, recipe, tensors, path, err));
        result.has_recipe = true;
    }
    MUST(record_read(&result.record, tensors, path, err));
    MUST(tensors_check_digest(tensors, known, path, err));
    *model = TAKE(result);
    return CLV_OK;
}
