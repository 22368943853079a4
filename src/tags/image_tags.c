/* Features and tags of whole images. */
#include "tags/tags.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"

int32_t clv_image_tag_features(const struct clv_recipe *recipe)
{
    return CLV_MOMENTS + (recipe->blocks & CLV_BLOCK_WORDS ? recipe->n_scales * recipe->n_words : 0);
}

/* row[n_words] = the root of each word's share of the pixels. */
static enum clv_status fill_words(double *row, const struct clv_image *working, const struct sift_image *sift,
                                  const struct clv_recipe *recipe, int32_t scale, struct clv_error *err)
{
    struct word_map map;
    MUST(word_map_init(&map, sift, recipe, scale, err));
    size_t n = (size_t)working->width * (size_t)working->height;
    for (size_t i = 0; i < n; i++)
        row[map.word[i]] += 1;
    for (int32_t w = 0; w < recipe->n_words; w++)
        row[w] = sqrt(row[w] / (double)n);
    word_map_release(&map);
    return CLV_OK;
}

/* row[clv_image_tag_features], zeroed. */
static enum clv_status fill_row(double *row, const struct clv_image *image, const struct clv_recipe *recipe,
                                struct clv_error *err)
{
    struct clv_image working = {0};
    struct sift_image sift = {0};
    enum clv_status status = working_image(&working, image, recipe->working_pixels, err);
    if (status == CLV_OK)
        clv_colour_moments(row, &working);
    if (status == CLV_OK && (recipe->blocks & CLV_BLOCK_WORDS)) {
        status = sift_image_init(&sift, working.pixels, working.width, working.height, recipe, err);
        for (int32_t s = 0; s < recipe->n_scales && status == CLV_OK; s++)
            status =
                fill_words(row + CLV_MOMENTS + (size_t)s * (size_t)recipe->n_words, &working, &sift, recipe, s, err);
        sift_image_release(&sift);
    }
    clv_image_release(&working);
    return status;
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
    struct clv_image image = {0};
    FAIL_IF(stop_requested(self->progress), CLV_ERR_INTERRUPTED, "interrupted");
    size_t n = 0;
    double *row = array_zalloc(self->n_features, sizeof *row);
    enum clv_status status =
        row ? clv_image_read(&image, self->set->items[item].image, self->limits, err) : fail_memory(err);
    TRY(fill_row(row, &image, self->recipe, err));
    for (size_t f = 0; status == CLV_OK && f < self->n_features; f++)
        n += row[f] != 0;
    if (status == CLV_OK) {
        self->index[item] = array_alloc(n, sizeof *self->index[item]);
        self->value[item] = array_alloc(n, sizeof *self->value[item]);
        if (!self->index[item] || !self->value[item])
            status = fail_memory(err);
    }
    for (size_t f = 0; status == CLV_OK && f < self->n_features; f++)
        if (row[f] != 0) {
            self->index[item][self->count[item]] = (int32_t)f;
            self->value[item][self->count[item]++] = row[f];
        }
    array_free(row);
    clv_image_release(&image);
    return status;
}

/* The rows of all items as one. */
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
    MUST_IF(!tags->row || !tags->index || !tags->value, fail_memory(err));
    for (size_t i = 0; i < n; i++) {
        size_t count = (size_t)self->count[i];
        memcpy(tags->index + tags->row[i], self->index[i], count * sizeof *tags->index);
        memcpy(tags->value + tags->row[i], self->value[i], count * sizeof *tags->value);
        tags->row[i + 1] = tags->row[i] + self->count[i];
    }
    return CLV_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Cuts a copy of an item's tags at commas, blanks around them taken off; *parts and *copy are the caller's. */
static enum clv_status cut_tags(char ***parts, size_t *n, char **copy, const struct clv_item *item,
                                struct clv_error *err)
{
    size_t capacity = 0;
    *parts = NULL;
    *n = 0;
    *copy = string_copy(item->tags ? item->tags : "");
    MUST_IF(!*copy, fail_memory(err));
    char *cursor = *copy, *part;
    while ((part = strsep(&cursor, ","))) {
        part += strspn(part, " ");
        for (size_t size = strlen(part); size && part[size - 1] == ' '; size--)
            part[size - 1] = 0;
        if (!*part)
            continue;
        MUST_IF(array_reserve((void **)parts, &capacity, *n + 1, sizeof **parts), fail_memory(err));
        (*parts)[(*n)++] = part;
    }
    return CLV_OK;
}

/* The tags that occur, sorted, each once. */
static enum clv_status collect_names(struct clv_tag_set *tags, const struct clv_set *set, struct clv_error *err)
{
    char **all = NULL;
    size_t n = 0, capacity = 0, kept = 0;
    enum clv_status status = CLV_OK;
    for (size_t i = 0; i < set->n_items && status == CLV_OK; i++) {
        char **parts, *copy;
        size_t n_parts;
        status = cut_tags(&parts, &n_parts, &copy, &set->items[i], err);
        for (size_t k = 0; k < n_parts && status == CLV_OK; k++) {
            if (array_reserve((void **)&all, &capacity, n + 1, sizeof *all) || !(all[n] = string_copy(parts[k])))
                status = fail_memory(err);
            else
                n++;
        }
        arrays_free(parts, copy);
    }
    if (n)
        qsort(all, n, sizeof *all, by_bytes);
    for (size_t k = 0; k < n; k++) {
        if (kept && strcmp(all[kept - 1], all[k]) == 0)
            array_free(all[k]);
        else
            all[kept++] = all[k];
    }
    tags->names = all;
    tags->n_tags = (int32_t)kept;
    TRY_IF(!kept,
           fail(err, CLV_ERR_DATA, "none of the %zu images has tags (column \"tags\" of the manifest)", set->n_items));
    TRY_IF(kept > CLV_MAX_TAGS, fail(err, CLV_ERR_DATA, "%zu tags, the limit is %d", kept, CLV_MAX_TAGS));
    return status;
}

static enum clv_status copy_names(struct clv_tag_set *tags, const char *const *names, int32_t n_names,
                                  struct clv_error *err)
{
    tags->names = array_zalloc((size_t)n_names, sizeof *tags->names);
    MUST_IF(!tags->names, fail_memory(err));
    tags->n_tags = n_names;
    for (int32_t i = 0; i < n_names; i++)
        MUST_IF(!(tags->names[i] = string_copy(names[i])), fail_memory(err));
    return CLV_OK;
}

static enum clv_status mark_tags(struct clv_tag_set *tags, const struct clv_set *set, struct clv_error *err)
{
    size_t k = (size_t)tags->n_tags;
    enum clv_status status = CLV_OK;
    tags->tags = array_zalloc(set->n_items, k);
    MUST_IF(!tags->tags, fail_memory(err));
    for (size_t i = 0; i < set->n_items && status == CLV_OK; i++) {
        char **parts, *copy;
        size_t n_parts;
        status = cut_tags(&parts, &n_parts, &copy, &set->items[i], err);
        for (size_t p = 0; p < n_parts && status == CLV_OK; p++) {
            size_t tag = 0;
            while (tag < k && strcmp(tags->names[tag], parts[p]) != 0)
                tag++;
            if (tag == k)
                status = fail(err, CLV_ERR_DATA, "%s: tag \"%.100s\" is not one of the model's %zu", set->items[i].name,
                              parts[p], k);
            else
                tags->tags[i * k + tag] = 1;
        }
        arrays_free(parts, copy);
    }
    return status;
}

enum clv_status clv_image_tags_extract(struct clv_tag_set *tags, const struct clv_set *set,
                                       const struct clv_recipe *recipe, const struct clv_image_tag_options *options,
                                       struct clv_error *err)
{
    size_t n = set->n_items;
    struct clv_tag_set fresh = {0};
    struct extraction self = {
        .set = set,
        .recipe = recipe,
        .limits = options->limits,
        .progress = options->progress,
        .n_features = (size_t)clv_image_tag_features(recipe),
        .count = array_zalloc(n, sizeof *self.count),
        .index = array_zalloc(n, sizeof *self.index),
        .value = array_zalloc(n, sizeof *self.value),
    };
    enum clv_status status = self.count && self.index && self.value ? CLV_OK : fail_memory(err);
    if (status == CLV_OK) /* before the images are read: it is quick and may fail */
        status = options->names ? copy_names(&fresh, options->names, options->n_names, err)
                                : collect_names(&fresh, set, err);
    TRY(mark_tags(&fresh, set, err));
    TRY(parallel_for(n, options->n_threads, extract_item, &self, err));
    TRY(join_rows(&fresh, &self, err));
    for (size_t i = 0; i < n; i++) {
        if (self.index)
            array_free(self.index[i]);
        if (self.value)
            array_free(self.value[i]);
    }
    arrays_free(self.count, self.index, self.value);
    DELIVER(tags, fresh, clv_tag_set_release(&fresh));
    return status;
}
