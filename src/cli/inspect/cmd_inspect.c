/* `cleave inspect`: prints the recipe, weights and training record of a model, as text or as JSON. inspect_image.c
 * describes TIFFs, inspect_tags.c models of tags. Start at cmd_inspect. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cleave/model.h"
#include "cleave/options.h"
#include "cli/common/common.h"
#include "cli/inspect/inspect.h"
#include "data/data.h"
#include "feature/blocks/blocks.h"
#include "feature/recipe/recipe.h"
#include "model/context.h"
#include "model/model.h"
#include "train/train.h"

/* Returns the variances of the posterior, [clv_weight_layout_size(layout)], or NULL if the model has none of that
 * size. */
static const double *inspect_variances(const struct clv_model *model)
{
    const struct clv_tensor *tensor = clv_model_attached(model, CLV_VARIANCE);
    bool fits = tensor && tensor->dtype == CLV_F64 && tensor->n_dimensions == 1 &&
                tensor->shape[0] == (int64_t)clv_weight_layout_size(&model->layout);
    return fits ? tensor->data : NULL;
}

/* Returns the number of weights whose magnitude exceeds `threshold` times the largest one's. */
static size_t inspect_count_weights(const struct clv_model *model, double threshold)
{
    size_t size = clv_weight_layout_size(&model->layout), n = 0;
    double largest = 0;
    for (size_t k = 0; k < size; k++)
        largest = fmax(largest, fabs(model->w[k]));
    for (size_t k = 0; k < size; k++)
        n += fabs(model->w[k]) > threshold * largest;
    return n;
}

/* Finds the least and the largest variance. */
static void find_range(double *least, double *most, const double *variances, size_t n)
{
    *least = INFINITY;
    *most = 0;
    for (size_t k = 0; k < n; k++) {
        *least = fmin(*least, variances[k]);
        *most = fmax(*most, variances[k]);
    }
}

/* Prints how many weights exceed the threshold, and the range of the posterior's variances. */
static void inspect_sparsity_print(const struct clv_model *model, double threshold)
{
    const double *variances = inspect_variances(model);
    const char *support = clv_record_get(&model->record, "support_labellings");
    const char *kl = clv_record_get(&model->record, "kl"), *norm = clv_record_get(&model->record, "kl_norm");
    size_t size = clv_weight_layout_size(&model->layout), n = inspect_count_weights(model, threshold);
    printf("sparsity      %zu weights (%.2f %%) above %g of the largest", n, 100 * (double)n / (double)size, threshold);
    printf(support ? "; %s labellings support them\n" : "%s\n", support ? support : "");
    if (!variances)
        return;
    double least, most;
    find_range(&least, &most, variances, size);
    printf("posterior     variances %.3g to %.3g", least, most);
    if (kl && norm)
        printf(", KL from the prior %.6g, KL-norm %.6g", strtod(kl, NULL), strtod(norm, NULL));
    printf("\n");
}

/* Appends the same as members of a JSON object, each with a comma before it. */
static void inspect_sparsity_put(struct text *text, const struct clv_model *model, double threshold)
{
    const double *variances = inspect_variances(model);
    size_t size = clv_weight_layout_size(&model->layout), n = inspect_count_weights(model, threshold);
    text_printf(text, ",\"weights\":%zu,\"weights_above_threshold\":%zu", size, n);
    json_put_number(text, "threshold", threshold);
    if (!variances)
        return;
    double least, most;
    find_range(&least, &most, variances, size);
    text_put(text, ",\"posterior\":{\"least_variance\":");
    text_put_json_number(text, least);
    json_put_number(text, "largest_variance", most);
    text_put(text, "}");
}

#define JSON_MAX ((size_t)1 << 28)

struct weight {
    double value;
    int32_t feature;
};

static int by_size(const void *a, const void *b)
{
    const struct weight *first = a, *second = b;
    double x = fabs(first->value), y = fabs(second->value);
    if (x != y)
        return x > y ? -1 : 1;
    return (first->feature > second->feature) - (first->feature < second->feature);
}

/* Returns the weights of one row by descending magnitude (array_free), or NULL if out of memory. */
static struct weight *sorted_row(const struct clv_model *model, size_t row)
{
    int32_t d = model->layout.n_features;
    struct weight *weights = array_alloc((size_t)d, sizeof *weights);
    if (!weights)
        return NULL;
    for (int32_t f = 0; f < d; f++)
        weights[f] = (struct weight){model->w[row * (size_t)d + (size_t)f], f};
    qsort(weights, (size_t)d, sizeof *weights, by_size);
    return weights;
}

static void feature_name(char name[96], const struct clv_model *model, int32_t feature)
{
    if (model->first && feature >= model->first->layout.n_features)
        context_name(name, 96, model->layout.n_labels, feature - model->first->layout.n_features);
    else if (model->has_recipe)
        recipe_feature_name(name, 96, &model->recipe, feature);
    else
        snprintf(name, 96, "feature %d", feature);
}

static void name_edge_feature(char name[96], const struct clv_model *model, int32_t feature)
{
    int32_t n_recipe = model->first ? model->first->layout.n_edge_features : model->layout.n_edge_features;
    const char *known = feature >= n_recipe ? context_edge_name(feature - n_recipe)
                        : model->has_recipe ? recipe_edge_feature_name(&model->recipe, feature)
                                            : NULL;
    if (known)
        snprintf(name, 96, "%s", known);
    else
        snprintf(name, 96, "edge feature %d", feature);
}

/* Returns the label whose scores a row of W gives: with two labels the only row is that of label 1. */
static int32_t row_label(const struct clv_model *model, size_t row)
{
    return model->layout.n_labels == 2 ? 1 : (int32_t)row;
}

static const char *pairwise_name(enum clv_pairwise pairwise)
{
    switch (pairwise) {
    case CLV_PAIRWISE_NONE: return "none";
    case CLV_PAIRWISE_POTTS: return "potts";
    case CLV_PAIRWISE_FULL: return "full";
    }
    return "unknown";
}

static const char *const kernel_map_names[] = {"none", "chi2", "intersection"}; /* enum clv_kernel_map */

static void print_recipe(const struct clv_recipe *recipe)
{
    double compactness = (double)recipe->slic.compactness;
    if (recipe->scale > 0)
        printf("recipe        scale %g, tiles of %d px seen with %d px around, ", (double)recipe->scale,
               recipe->tile_px, recipe->halo_px);
    else
        printf("recipe        %d working pixels, ", recipe->working_pixels);
    if (recipe->nodes == CLV_NODES_PATCHES)
        printf("patches of %d px every %d px\n", recipe->patch_px, recipe->patch_step_px);
    else
        printf(recipe->scale > 0 ? "superpixels of %d px, compactness %g in %d rounds\n"
                                 : "%d superpixels of compactness %g in %d rounds\n",
               recipe->scale > 0 ? recipe->region_area : recipe->slic.n_superpixels, compactness,
               recipe->slic.n_iterations);
    if (recipe->grey16_high)
        printf("range         %d,%d of 16-bit grey is black to white\n", recipe->grey16_low, recipe->grey16_high);
    printf("blocks       ");
    for (size_t i = 0; i < N_BLOCKS; i++)
        if (recipe->blocks & block_rows[i].flag)
            printf(" %s", block_rows[i].name);
    printf("\n");
    if (recipe->kernel_map != CLV_KERNEL_MAP_NONE)
        printf("kernel map    %s\n", kernel_map_names[recipe->kernel_map]);
    if (has_words(recipe)) {
        printf("words         %d for each SIFT bin size of", recipe->n_words);
        for (int32_t s = 0; s < recipe->n_scales; s++)
            printf(" %d", recipe->bin_size_px[s]);
        printf(" px, every %d px%s%s%s\n", recipe->step_px,
               recipe->sift == CLV_SIFT_VLFEAT ? ", described by VLFeat" : "",
               recipe->kmeans == CLV_KMEANS_VLFEAT ? ", learned by VLFeat" : "",
               recipe->word_search == CLV_WORD_SEARCH_GROUPS ? ", found by groups" : "");
    }
}

/* Prints the largest entries of full tables. Returns 0, or -1 if out of memory. */
static int print_pairs(const struct clv_model *model, int32_t n_top)
{
    const struct clv_weight_layout *layout = &model->layout;
    size_t first = clv_weight_layout_unary_size(layout), n = clv_weight_layout_size(layout) - first;
    int32_t k = layout->n_labels, p = layout->n_edge_features;
    struct weight *weights = array_alloc(n, sizeof *weights);
    if (!weights)
        return -1;
    for (size_t i = 0; i < n; i++)
        weights[i] = (struct weight){model->w[first + i], (int32_t)i};
    qsort(weights, n, sizeof *weights, by_size);
    printf("\nlargest pairwise weights\n");
    for (int32_t i = 0; i < n_top && (size_t)i < n; i++) {
        char name[96];
        int32_t entry = weights[i].feature / p;
        name_edge_feature(name, model, weights[i].feature % p);
        printf("  %12.5g  %s %s", weights[i].value, model->labels.names[entry / k], model->labels.names[entry % k]);
        printf("%s%s\n", p > 1 ? ", " : "", p > 1 ? name : "");
    }
    array_free(weights);
    return 0;
}

static void print_record(const struct clv_model *model)
{
    printf("\nrecord\n");
    for (size_t i = 0; i < model->record.n; i++) {
        const struct clv_record_entry *entry = &model->record.entries[i];
        size_t length = strlen(entry->value);
        if (length <= 160)
            printf("  %-24s %s\n", entry->key, entry->value);
        else /* a learning curve, of which the end matters; --json has all of it */
            printf("  %-24s .. %s\n", entry->key, entry->value + length - 120);
    }
}

/* Describes a model as text. n_top: how many of the largest weights of each label are printed; threshold: weights above
 * this fraction of the largest are counted. */
static enum clv_status inspect_text(const struct clv_model *model, int32_t n_top, double threshold,
                                    struct clv_error *err)
{
    const struct clv_weight_layout *layout = &model->layout;
    size_t unary_size = clv_weight_layout_unary_size(layout), size = clv_weight_layout_size(layout);
    const double *variances = inspect_variances(model);
    char name[96];
    const char *separator = "labels        ";
    for (int32_t label = 0; label < model->labels.n_labels; label++) {
        if (!labels_have(&model->labels, label))
            continue;
        printf("%s%d %s", separator, label, model->labels.names[label]);
        separator = ", ";
    }
    printf("\nweights       %zu: %d node features, %d edge features, pairwise %s\n", size, layout->n_features,
           layout->n_edge_features, pairwise_name(layout->pairwise));
    if (model->first)
        printf("stages        2, the first of %d node features, %d edge features, pairwise %s, temperature %.4g\n",
               model->first->layout.n_features, model->first->layout.n_edge_features,
               pairwise_name(model->first->layout.pairwise), model->first->temperature);
    if (model->has_recipe)
        print_recipe(&model->recipe);
    else
        printf("recipe        %s\n", "none: features from elsewhere");
    if (clv_model_attached(model, "refining.network"))
        printf("refined       by a network of pixels, and what a region says\n");
    inspect_sparsity_print(model, threshold);

    for (size_t row = 0; row < clv_weight_layout_rows(layout) && n_top; row++) {
        OWNED_ARRAY struct weight *weights = sorted_row(model, row);
        NEED(weights);
        printf("\nlargest weights of %s\n", model->labels.names[row_label(model, row)]);
        for (int32_t i = 0; i < n_top && i < layout->n_features; i++) {
            feature_name(name, model, weights[i].feature);
            printf("  %12.5g", weights[i].value);
            if (variances)
                printf(" +- %-10.3g", sqrt(variances[row * (size_t)layout->n_features + (size_t)weights[i].feature]));
            printf("  %s\n", name);
        }
    }
    if (layout->pairwise == CLV_PAIRWISE_POTTS) {
        printf("\ncouplings\n");
        for (int32_t f = 0; f < layout->n_edge_features; f++) {
            name_edge_feature(name, model, f);
            printf("  %12.5g  %s\n", model->w[unary_size + (size_t)f], name);
        }
    }
    if (layout->pairwise == CLV_PAIRWISE_FULL && n_top && print_pairs(model, n_top))
        return fail_memory(err);
    print_record(model);
    return CLV_OK;
}

static void put_recipe(struct text *text, const struct clv_recipe *recipe)
{
    if (recipe->scale > 0) {
        json_put_number(text, "scale", (double)recipe->scale);
        json_put_number(text, "region_area", recipe->region_area);
        json_put_number(text, "tile", recipe->tile_px);
    } else
        json_put_number(text, "working_pixels", recipe->working_pixels);
    if (recipe->nodes == CLV_NODES_PATCHES) {
        json_put_number(text, "patch_size", recipe->patch_px);
        json_put_number(text, "patch_step", recipe->patch_step_px);
    } else {
        if (!(recipe->scale > 0))
            json_put_number(text, "superpixels", recipe->slic.n_superpixels);
        json_put_number(text, "compactness", (double)recipe->slic.compactness);
        json_put_number(text, "slic_iterations", recipe->slic.n_iterations);
    }
    if (recipe->grey16_high) {
        json_put_key(text, "range");
        text_printf(text, "[%d,%d]", recipe->grey16_low, recipe->grey16_high);
    }
    json_put_key(text, "blocks");
    text_put(text, "[");
    for (size_t i = 0, n = 0; i < N_BLOCKS; i++)
        if (recipe->blocks & block_rows[i].flag) {
            text_put(text, n++ ? "," : "");
            text_put_json(text, block_rows[i].name);
        }
    text_put(text, "]");
    json_put_number(text, "words", recipe->n_words);
    json_put_number(text, "sift_step", recipe->step_px);
    json_put_key(text, "sift_bins");
    for (int32_t s = 0; s < recipe->n_scales; s++)
        text_printf(text, "%s%d", s ? "," : "[", recipe->bin_size_px[s]);
    text_put(text, "]");
    json_put_string(text, "sift", recipe->sift == CLV_SIFT_VLFEAT ? "vlfeat" : "cleave");
    json_put_string(text, "kmeans", recipe->kmeans == CLV_KMEANS_VLFEAT ? "vlfeat" : "cleave");
    json_put_string(text, "word_search", recipe->word_search == CLV_WORD_SEARCH_GROUPS ? "groups" : "exact");
    json_put_string(text, "kernel_map", kernel_map_names[recipe->kernel_map]);
}

/* Appends "pairwise_weights":[K][K][p]. */
static void put_tables(struct text *text, const struct clv_model *model)
{
    const double *weight = model->w + clv_weight_layout_unary_size(&model->layout);
    int32_t k = model->layout.n_labels, p = model->layout.n_edge_features;
    json_put_key(text, "pairwise_weights");
    for (int32_t a = 0; a < k; a++)
        for (int32_t b = 0; b < k; b++) {
            text_put(text, b ? ",[" : a ? ",[[" : "[[[");
            for (int32_t f = 0; f < p; f++) {
                text_put(text, f ? "," : "");
                text_put_json_number(text, *weight++);
            }
            text_put(text, b + 1 < k ? "]" : a + 1 < k ? "]]" : "]]]");
        }
}

static enum clv_status put_weights(struct text *text, const struct clv_model *model, int32_t n_top,
                                   struct clv_error *err)
{
    char name[96];
    const double *variances = inspect_variances(model);
    json_put_key(text, "largest_weights");
    text_put(text, "{");
    for (size_t row = 0; row < clv_weight_layout_rows(&model->layout); row++) {
        OWNED_ARRAY struct weight *weights = sorted_row(model, row);
        NEED(weights);
        snprintf(name, sizeof name, "%d", row_label(model, row));
        json_put_key(text, name);
        text_put(text, "[");
        for (int32_t i = 0; i < n_top && i < model->layout.n_features; i++) {
            text_put(text, i ? ",{" : "{");
            feature_name(name, model, weights[i].feature);
            json_put_string(text, "feature", name);
            json_put_number(text, "weight", weights[i].value);
            if (variances)
                json_put_number(text, "variance",
                                variances[row * (size_t)model->layout.n_features + (size_t)weights[i].feature]);
            text_put(text, "}");
        }
        text_put(text, "]");
    }
    text_put(text, "}");
    if (model->layout.pairwise == CLV_PAIRWISE_POTTS) {
        size_t unary_size = clv_weight_layout_unary_size(&model->layout);
        json_put_key(text, "couplings");
        text_put(text, "{");
        for (int32_t f = 0; f < model->layout.n_edge_features; f++) {
            name_edge_feature(name, model, f);
            json_put_number(text, name, model->w[unary_size + (size_t)f]);
        }
        text_put(text, "}");
    }
    if (model->layout.pairwise == CLV_PAIRWISE_FULL)
        put_tables(text, model);
    return CLV_OK;
}

static enum clv_status inspect_json(const struct clv_model *model, int32_t n_top, double threshold,
                                    struct clv_error *err)
{
    OWNED(text_release) struct text text = {0};
    text_init(&text, JSON_MAX);
    text_put(&text, "{");
    json_put_key(&text, "labels");
    text_put(&text, "[");
    for (int32_t label = 0; label < model->labels.n_labels; label++) {
        text_put(&text, label ? "," : "");
        text_put_json(&text, model->labels.names[label]);
    }
    text_put(&text, "]");
    json_put_number(&text, "node_features", model->layout.n_features);
    json_put_number(&text, "edge_features", model->layout.n_edge_features);
    json_put_string(&text, "pairwise", pairwise_name(model->layout.pairwise));
    if (model->first)
        json_put_number(&text, "stages", 2);
    json_put_key(&text, "recipe");
    if (model->has_recipe) {
        text_put(&text, "{");
        put_recipe(&text, &model->recipe);
        text_put(&text, "}");
    } else {
        text_put(&text, "null");
    }
    inspect_sparsity_put(&text, model, threshold);
    MUST(put_weights(&text, model, n_top, err));
    json_put_key(&text, "record");
    record_put_json(&text, &model->record);
    text_put(&text, "}\n");
    return console_output(&text, err);
}

struct inspect {
    const char *path;
    int32_t n_top;
    double threshold;
    bool json;
};

#define AT(member)    offsetof(struct inspect, member)
#define SECTION_SHOWN "What is shown"
#define BASIC         CLV_OPTION_BASIC
static const struct clv_option inspect_rows[] = {
    {"model", 'm', "MODEL", SECTION_SHOWN, BASIC, CLV_OPTION_TEXT, AT(path),
     .help = "The model (or give it as the argument)"},
    {"top", 0, "N", SECTION_SHOWN, BASIC, CLV_OPTION_INT, AT(n_top), .minimum = 0, .maximum = 1000000,
     .help = "Name the N largest weights of every label"},
    {"threshold", 0, "X", SECTION_SHOWN, BASIC, CLV_OPTION_NUMBER, AT(threshold), .minimum = 0, .maximum = 1,
     .help = "Count the weights above this share of the largest"},
    {"json", 0, NULL, SECTION_SHOWN, BASIC, CLV_OPTION_FLAG, AT(json),
     .help = "Print one JSON document, with all couplings and the whole record"},
    {0},
};

enum clv_status cmd_inspect(int argc, char **argv, struct clv_error *err)
{
    OWNED(common_options_release) struct common_options common = {0};
    struct inspect self = {.n_top = 10, .threshold = 0.001};
    OWNED(clv_model_release) struct clv_model model = {0};
    const struct option_table table = {
        "[OPTION...] MODEL|FILE.tif",
        "Tells what is in a model, and how it was made; of a TIFF, what its pages are.",
        {"inspect model.cleave", "inspect stack.tif"},
        NULL,
        {{inspect_rows, &self, false}, {image_option_rows, &common, false}, {plain_option_rows, &common, false}},
    };
    common_options_init(&common);
    MUST(options_parse(&table, argc, argv, &common, err));
    for (size_t i = 0; i < common.n_arguments; i++) {
        FAIL_IF(self.path, CLV_ERR_USAGE, "%s: one model at a time; %s is given already", common.arguments[i],
                self.path);
        self.path = common.arguments[i];
    }
    FAIL_IF(!self.path, CLV_ERR_USAGE, "inspect: which model?");
    bool is_image = inspect_is_image(self.path), is_tags = !is_image && inspect_is_tags(self.path);
    const char *model_option = options_given(&common, "top")         ? "top"
                               : options_given(&common, "threshold") ? "threshold"
                                                                     : NULL;
    FAIL_IF(is_image && model_option, CLV_ERR_USAGE, "--%s cannot be used with %s: it is not a model; leave it out",
            model_option, self.path);
    FAIL_IF(is_tags && options_given(&common, "threshold"), CLV_ERR_USAGE,
            "--threshold cannot be used with %s: it is a model of tags; leave it out", self.path);
    if (is_image)
        return inspect_image(self.path, &common.limits, self.json, err);
    MUST(common_options_check(&common, self.path, "a model has no pixels", err));
    if (is_tags)
        return inspect_tags(self.path, self.n_top, self.json, err);
    MUST(clv_model_read(&model, self.path, err));
    return self.json ? inspect_json(&model, self.n_top, self.threshold, err)
                     : inspect_text(&model, self.n_top, self.threshold, err);
}
