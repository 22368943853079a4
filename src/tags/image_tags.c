/* Makes tagged examples from images: colour moments and histograms of visual words of whole images, and tags from the
 * manifest. Start at clv_image_tags_extract, at the end. */
#include "tags/tags.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "feature/blocks/blocks.h"

int32_t clv_image_tag_features(const struct clv_recipe *recipe)
{
    return CLV_MOMENTS + (recipe->blocks & CLV_BLOCK_WORDS ? recipe->n_scales * recipe->n_words : 0);
}

struct word_maps {
    struct word_map of_scale[CLV_MAX_SCALES];
};

static void word_maps_release(struct word_maps *self)
{
    for (int s = 0; s < CLV_MAX_SCALES; s++)
        word_map_release(&self->of_scale[s]);
}

/* Fills row[n_words], zeroed, with the square root of each word's fraction of the n pixels. */
static void fill_words(double *row, const struct word_map *map, size_t n, int32_t n_words)
{
    for (size_t i = 0; i < n; i++)
        row[map->word[i]] += 1;
    for (int32_t w = 0; w < n_words; w++)
        row[w] = sqrt(row[w] / (double)n);
}

/* Fills row[clv_image_tag_features], zeroed. */
static enum clv_status fill_row(double *row, const struct clv_image *image, const struct clv_recipe *recipe,
                                struct clv_error *err)
{
    OWNED(clv_image_release) struct clv_image working = {0};
    OWNED(word_maps_release) struct word_maps maps = {0};
    MUST(working_image(&working, image, recipe->working_pixels, err));
    clv_colour_moments(row, &working);
    if (!(recipe->blocks & CLV_BLOCK_WORDS))
        return CLV_OK;
    MUST(word_maps_init(maps.of_scale, working.pixels, working.width, working.height, recipe, err));
    row += CLV_MOMENTS;
    for (int32_t s = 0; s < recipe->n_scales; s++, row += recipe->n_words)
        fill_words(row, &maps.of_scale[s], (size_t)working.width * (size_t)working.height, recipe->n_words);
    return CLV_OK;
}

struct extraction {
    const struct clv_set *set;
    const struct clv_recipe *recipe;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
    size_t n_features;
    int64_t *count;  /* [n_items] nonzeros */
    int32_t **index; /* [n_items] */
    double **value;
};

static enum clv_status extract_item(void *context, size_t item, int thread, struct clv_error *err)
{
    (void)thread;
    struct extraction *self = context;
    OWNED(clv_image_release) struct clv_image image = {0};
    FAIL_IF(stop_requested(self->progress), CLV_ERR_INTERRUPTED, "interrupted");
    size_t n = 0;
    OWNED_ARRAY double *row = array_zalloc(self->n_features, sizeof *row);
    NEED(row);
    MUST(item_image_read(&image, &self->set->items[item], self->limits, err));
    MUST(fill_row(row, &image, self->recipe, err));
    for (size_t f = 0; f < self->n_features; f++)
        n += row[f] != 0;
    self->index[item] = array_alloc(n, sizeof *self->index[item]);
    self->value[item] = array_alloc(n, sizeof *self->value[item]);
    NEED(self->index[item] && self->value[item]);
    for (size_t f = 0; f < self->n_features; f++)
        if (row[f] != 0) {
            self->index[item][self->count[item]] = (int32_t)f;
            self->value[item][self->count[item]++] = row[f];
        }
    return CLV_OK;
}

/* Joins the rows of all items. */
static enum clv_status join_rows(struct clv_tag_set *tags, const struct extraction *self, struct clv_error *err)
{
    size_t n = self->set->n_items, total = 0;
    for (size_t i = 0; i < n; i++)
        total += (size_t)self->count[i];
    tags->n = n;
    tags->n_features = (int32_t)self->n_features;
    tags->row = array_zalloc(n + 1, sizeof *tags->row);
    tags->index = array_alloc(total, sizeof *tags->index);
    tags->value = array_alloc(total, sizeof *tags->value);
    NEED(tags->row && tags->index && tags->value);
    for (size_t i = 0; i < n; i++) {
        size_t count = (size_t)self->count[i];
        memcpy(tags->index + tags->row[i], self->index[i], count * sizeof *tags->index);
        memcpy(tags->value + tags->row[i], self->value[i], count * sizeof *tags->value);
        tags->row[i + 1] = tags->row[i] + self->count[i];
    }
    return CLV_OK;
}

/* Splits a copy of an item's tags at commas and removes surrounding blanks. The caller frees *parts and *copy, also on
 * failure. */
static enum clv_status cut_tags(char ***parts, size_t *n, char **copy, const struct clv_item *item,
                                struct clv_error *err)
{
    size_t capacity = 0;
    *parts = NULL;
    *n = 0;
    *copy = string_copy(item->tags ? item->tags : "");
    NEED(*copy);
    char *cursor = *copy, *part;
    while ((part = strsep(&cursor, ","))) {
        part += strspn(part, " ");
        for (size_t size = strlen(part); size && part[size - 1] == ' '; size--)
            part[size - 1] = 0;
        if (!*part)
            continue;
        if (array_reserve((void **)parts, &capacity, *n + 1, sizeof **parts))
            return fail_memory(err);
        (*parts)[(*n)++] = part;
    }
    return CLV_OK;
}

/* Lists the tags of all items, with repetitions. */
static enum clv_status list_names(struct name_list *list, const struct clv_set *set, struct clv_error *err)
{
    for (size_t i = 0; i < set->n_items; i++) {
        OWNED_ARRAY char **parts = NULL;
        OWNED_ARRAY char *copy = NULL;
        size_t n_parts;
        MUST(cut_tags(&parts, &n_parts, &copy, &set->items[i], err));
        for (size_t k = 0; k < n_parts; k++)
            MUST(name_list_add(list, parts[k], err));
    }
    return CLV_OK;
}

/* Collects the tags that occur, sorted and without repetitions. */
static enum clv_status collect_names(struct clv_tag_set *tags, const struct clv_set *set, struct clv_error *err)
{
    OWNED(name_list_release) struct name_list all = {0};
    size_t kept = 0;
    MUST(list_names(&all, set, err));
    if (all.n)
        qsort(all.names, all.n, sizeof *all.names, compare_strings);
    for (size_t k = 0; k < all.n; k++) {
        if (kept && strcmp(all.names[kept - 1], all.names[k]) == 0)
            array_free(all.names[k]);
        else
            all.names[kept++] = all.names[k];
    }
    all.n = kept;
    FAIL_IF(!kept, CLV_ERR_DATA, "none of the %zu images has tags (column \"tags\" of the manifest)", set->n_items);
    FAIL_IF(kept > CLV_MAX_TAGS, CLV_ERR_DATA, "%zu tags, the limit is %d", kept, CLV_MAX_TAGS);
    tags->names = TAKE(all.names);
    all.n = 0;
    tags->n_tags = (int32_t)kept;
    return CLV_OK;
}

static enum clv_status copy_names(struct clv_tag_set *tags, const char *const *names, int32_t n_names,
                                  struct clv_error *err)
{
    tags->names = array_zalloc((size_t)n_names, sizeof *tags->names);
    NEED(tags->names);
    tags->n_tags = n_names;
    for (int32_t i = 0; i < n_names; i++)
        NEED(tags->names[i] = string_copy(names[i]));
    return CLV_OK;
}

static enum clv_status mark_tags(struct clv_tag_set *tags, const struct clv_set *set, struct clv_error *err)
{
    size_t k = (size_t)tags->n_tags;
    tags->tags = array_zalloc(set->n_items, k);
    NEED(tags->tags);
    for (size_t i = 0; i < set->n_items; i++) {
        OWNED_ARRAY char **parts = NULL;
        OWNED_ARRAY char *copy = NULL;
        size_t n_parts;
        MUST(cut_tags(&parts, &n_parts, &copy, &set->items[i], err));
        for (size_t p = 0; p < n_parts; p++) {
            size_t tag = 0;
            while (tag < k && strcmp(tags->names[tag], parts[p]) != 0)
                tag++;
            FAIL_IF(tag == k, CLV_ERR_DATA, "%s: tag \"%.100s\" is not one of the model's %zu", set->items[i].name,
                    parts[p], k);
            tags->tags[i * k + tag] = 1;
        }
    }
    return CLV_OK;
}

static void extraction_release(struct extraction *self)
{
    for (size_t i = 0; self->index && i < self->set->n_items; i++)
        array_free(self->index[i]);
    for (size_t i = 0; self->value && i < self->set->n_items; i++)
        array_free(self->value[i]);
    arrays_free(self->count, self->index, self->value);
}

enum clv_status clv_image_tags_extract(struct clv_tag_set *tags, const struct clv_set *set,
                                       const struct clv_recipe *recipe, const struct clv_image_tag_options *options,
                                       struct clv_error *err)
{
    size_t n = set->n_items;
    OWNED(clv_tag_set_release) struct clv_tag_set result = {0};
    OWNED(extraction_release) struct extraction self = {
        .set = set,
        .recipe = recipe,
        .limits = options->limits,
        .progress = options->progress,
        .n_features = (size_t)clv_image_tag_features(recipe),
        .count = array_zalloc(n, sizeof *self.count),
        .index = array_zalloc(n, sizeof *self.index),
        .value = array_zalloc(n, sizeof *self.value),
    };
    NEED(self.count && self.index && self.value);
    /* Tags first, since this is quick and may fail. */
    MUST(options->names ? copy_names(&result, options->names, options->n_names, err)
                        : collect_names(&result, set, err));
    MUST(mark_tags(&result, set, err));
    MUST(parallel_for(n, options->n_threads, extract_item, &self, err));
    MUST(join_rows(&result, &self, err));
    *tags = TAKE(result);
    return CLV_OK;
}
