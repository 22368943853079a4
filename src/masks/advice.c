/* Adds a sentence to the message about an unusable mask: what `cleave import masks` would make of the masks, and the
 * command. The advice makes the same plan as the command, so they agree. Start at mask_advice_put. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "image/image.h"
#include "masks/masks.h"

/* A name for a new dataset next to a file or folder: NAME-labels, or NAME-labels-2 and so on if that exists. NULL: out
 * of memory. */
static char *free_output(const char *path)
{
    char real[PATH_MAX], output[PATH_MAX];
    OWNED_ARRAY char *folder = path_is_folder(path) ? string_copy(path) : path_folder(path);
    if (!folder)
        return NULL;
    for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/'; n--)
        folder[n - 1] = 0;
    const char *name = path_name(folder);
    const bool has_name = *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
    const bool is_here = !has_name && strcmp(folder, ".") == 0;
    if (!has_name && !realpath(folder, real))
        return string_copy("labelled");
    for (int k = 1; k < 1000; k++) {
        char ending[24] = "-labels";
        if (k > 1)
            snprintf(ending, sizeof ending, "-labels-%d", k);
        if (has_name)
            snprintf(output, sizeof output, "%s%s", folder, ending);
        else
            snprintf(output, sizeof output, "%s%s%s%s", is_here ? "" : folder, is_here ? "../" : "/../",
                     path_name(real), ending);
        if (!path_exists(output))
            break;
    }
    return string_copy(output);
}

void mask_command_put(struct text *text, const char *masks, const char *images, const char *set, const char *options)
{
    OWNED_ARRAY char *output = free_output(set);
    text->failed |= !output;
    text_put(text, "cleave import masks ");
    text_put_word(text, masks);
    if (images) {
        text_put(text, " --images ");
        text_put_word(text, images);
    }
    text_put(text, " -o ");
    text_put_word(text, output ? output : "");
    text_put(text, options);
}

/* The folder below the root that contains all masks (or all images with masks) of the dataset; NULL: there is none. */
static char *folder_of(const struct clv_set *set, bool of_masks)
{
    size_t length = 0;
    const char *first = NULL;
    OWNED_ARRAY char *root = set_path(set, "");
    const size_t n_root = root ? strlen(root) : 0;
    for (size_t i = 0; i < set->n_items; i++) {
        const struct clv_item *item = &set->items[i];
        const char *below = of_masks ? item->mask : item->image;
        if (!below || !item->mask)
            continue;
        below += strncmp(below, root ? root : "", n_root) == 0 ? n_root : 0;
        below += strspn(below, "/");
        const size_t n_name = strcspn(below, "/");
        if (!below[n_name] || (first && (n_name != length || strncmp(first, below, n_name) != 0)))
            return NULL;
        first = below;
        length = n_name;
    }
    OWNED_ARRAY char *name = string_copy(first ? first : "");
    if (!first || !name)
        return NULL;
    name[length] = 0;
    return set_path(set, name);
}

/* Appends the command for a dataset. If some images have no masks, --all-images keeps them. */
static void put_command(struct text *text, const struct clv_set *set, const char *path, const char *options)
{
    bool all_have = true;
    for (size_t i = 0; i < set->n_items; i++)
        all_have &= set->items[i].mask && !set->items[i].is_derived;
    OWNED_ARRAY char *masks = set->manifest ? NULL : folder_of(set, true);
    OWNED_ARRAY char *images = set->manifest ? NULL : folder_of(set, false);
    if (masks && images && strcmp(masks, images) != 0)
        mask_command_put(text, masks, images, path, options);
    else
        mask_command_put(text, path, NULL, path, options);
    text_put(text, all_have ? "" : " --all-images");
}

/* Appends how the sizes of mask and photo differ, and the command that corrects it. */
static void put_size(struct text *text, const struct mask_facts *facts, const struct clv_set *set, const char *path)
{
    const bool is_turned =
        facts->orientation >= 5 && (facts->width < facts->height) != (facts->image_width < facts->image_height);
    const int32_t width = is_turned ? facts->height : facts->width, height = is_turned ? facts->width : facts->height;
    const int factor = mask_factor(facts->image_width, facts->image_height, width, height);
    if (is_turned && factor)
        text_printf(text, "; EXIF orientation %d turns the image and not its mask, this turns the mask, too: ",
                    facts->orientation);
    else if (factor)
        text_printf(text, "; %s are %d times as large as their %s, this makes masks of the images' sizes: ",
                    factor > 0 ? "images" : "masks", abs(factor), factor > 0 ? "masks" : "images");
    else
        text_put(text, "; this lays masks over their whole images: ");
    put_command(text, set, path, factor ? "" : " --stretch");
}

static void put_plan(struct text *text, const struct mask_plan *plan, const struct mask_survey *survey,
                     enum clv_fault fault, const struct clv_set *set, const char *path)
{
    const bool has_names = plan->is_by_labels && !plan->has_order && fault != CLV_FAULT_MASK_FORMAT;
    text_put(text, has_names ? "; name it there, or this makes " : "; this makes ");
    mask_plan_describe(text, plan, survey);
    if (plan->is_white_void)
        text_put(text, " (if 255 is not void, add --white foreground or --white label)");
    if (plan->may_be_objects)
        text_put(text, " (if each number is an object, add --as objects)");
    text_put(text, ": ");
    put_command(text, set, path, "");
}

/* The subject of advice: a fault of one mask, or only that values are labels by their order (is_of_order). */
struct question {
    enum clv_fault fault;
    size_t item;
    bool is_of_order;
};

static enum clv_status put_advice(struct text *text, const struct question *question, const struct clv_set *set,
                                  const char *path, const struct clv_image_limits *limits, struct clv_error *err)
{
    const size_t item = question->item;
    OWNED_ARRAY struct mask_pair *pairs = array_alloc(set->n_items, sizeof *pairs);
    OWNED(mask_survey_release) struct mask_survey survey = {0};
    OWNED(mask_plan_release) struct mask_plan plan = {0};
    OWNED(colour_table_release) struct colour_table table = {0};
    OWNED_ARRAY char *folder = path_folder(set->items[item].mask);
    size_t n = 0, at = 0;
    NEED(pairs && folder);
    for (size_t i = 0; i < set->n_items; i++) {
        at = i == item ? n : at;
        if (set->items[i].mask && !set->items[i].is_derived)
            pairs[n++] = (struct mask_pair){set->items[i].mask, set->items[i].image};
    }
    if (question->fault == CLV_FAULT_MASK_SIZE) {
        MUST(mask_survey(&survey, pairs + at, n ? 1 : 0, limits, NULL, err));
        if (n && survey.facts[0].is_read)
            put_size(text, &survey.facts[0], set, path);
        return CLV_OK;
    }
    MUST(mask_survey(&survey, pairs, n, limits, NULL, err));
    MUST(colour_table_find(&table, folder, err));
    const struct mask_options options = {.labels = set->labels.from_file ? &set->labels : NULL,
                                         .table = table.table.n_rows > 1 ? &table.table : NULL};
    const enum clv_status status = mask_plan_make(&plan, &survey, &options, err);
    if (question->is_of_order && (status == CLV_ERR_DATA || !plan.has_order))
        return CLV_OK;
    if (status == CLV_ERR_DATA && err) {
        text_printf(text, "; %s", err->message);
        return CLV_OK;
    }
    MUST(status);
    put_plan(text, &plan, &survey, question->fault, set, path);
    return CLV_OK;
}

void mask_advice_put(struct text *text, enum clv_fault fault, const struct clv_set *set, const char *path, size_t item,
                     const struct clv_image_limits *limits)
{
    struct clv_error why = {0};
    if (fault == CLV_FAULT_OTHER || item >= set->n_items || !set->items[item].mask || set->items[item].is_derived ||
        set->items[item].labels)
        return;
    const struct question question = {fault, item, false};
    text->failed |= put_advice(text, &question, set, path, limits, &why) == CLV_ERR_MEMORY;
}

void mask_advice_put_order(struct text *text, const struct clv_set *set, const char *path,
                           const struct clv_image_limits *limits)
{
    struct clv_error why = {0};
    struct question question = {CLV_FAULT_MASK_VALUES, 0, true};
    while (question.item < set->n_items && (!set->items[question.item].mask || set->items[question.item].is_derived))
        question.item++;
    if (question.item < set->n_items && set->labels.from_file && !set->items[question.item].labels)
        text->failed |= put_advice(text, &question, set, path, limits, &why) == CLV_ERR_MEMORY;
}

static bool is_about(const struct clv_error *err, const char *path)
{
    const size_t length = strlen(path);
    return err->path_length == length && strncmp(err->message, path, length) == 0;
}

/* Appends the advice for masks of the dataset's images in another folder, which must have the labels of the dataset. */
static void put_others(struct text *text, enum clv_fault fault, const struct clv_set *set, const char *others)
{
    OWNED_ARRAY char *images = folder_of(set, false);
    OWNED_ARRAY char *labels = set_path(set, "labels.tsv");
    OWNED(text_release) struct text options = {0};
    text_init(&options, 1 << 14);
    if (labels && set->labels.from_file && path_exists(labels)) {
        text_put(&options, " --labels ");
        text_put_word(&options, labels);
    }
    text_put(text, fault == CLV_FAULT_MASK_SIZE ? "; this makes masks of the images' sizes: "
                                                : "; this makes masks of label values of such: ");
    mask_command_put(text, others, images ? images : set->root, others, options.bytes ? options.bytes : "");
    text->failed |= options.failed || !labels;
}

enum clv_status fail_mask(const struct clv_set *set, const char *path, const char *others,
                          const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(text_release) struct text text = {0};
    size_t i = 0;
    if (!err || err->fault == CLV_FAULT_OTHER)
        return CLV_ERR_DATA;
    while (i < set->n_items && !(set->items[i].mask && is_about(err, set->items[i].mask)))
        i++;
    text_init(&text, 1 << 16);
    if (i < set->n_items)
        mask_advice_put(&text, err->fault, set, path, i, limits);
    else if (others && path_is_folder(others) && err->path_length >= strlen(others) &&
             strncmp(err->message, others, strlen(others)) == 0)
        put_others(&text, err->fault, set, others);
    NEED(!text.failed);
    return fail_adding(err, CLV_ERR_DATA, err, "%s", text.bytes ? text.bytes : "");
}
