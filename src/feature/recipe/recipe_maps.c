/* Learns how a recipe uses maps: the kind and the number of channels of each, and scales, components and statistics.
 * Maps are read in batches and not kept: memory holds the sums of a batch and one channel per thread. Start at
 * learn_map. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "feature/recipe/recipe.h"

#define BATCH 64

/* Statistics of the values of one map, or of all maps so far. */
struct summary {
    float smallest, largest;
    double *sum, *square; /* [n_channels] means over pixels of values and of squares */
};

struct maps_state {
    struct map_source from;
    struct clv_recipe_map wanted; /* the map that is learned, with its number of channels; borrows its arrays */
    size_t first;                 /* index of the batch's first item */
    struct summary batch[BATCH];
    size_t n_done;
};

static enum clv_status summarise(struct summary *summary, const struct map_reader *map, struct clv_error *err)
{
    size_t n = (size_t)map->map.width * (size_t)map->map.height;
    const float *values;
    OWNED_ARRAY float *scratch = array_alloc(n, sizeof *scratch);
    NEED(scratch);
    *summary = (struct summary){INFINITY, -INFINITY, summary->sum, summary->square};
    for (int32_t c = 0; c < map->map.n_channels; c++) {
        double sum = 0, square = 0;
        MUST(map_reader_channel(&values, scratch, map, c, err));
        for (size_t p = 0; p < n; p++) {
            float value = values[p];
            summary->smallest = fminf(summary->smallest, value);
            summary->largest = fmaxf(summary->largest, value);
            sum += (double)value;
            square += (double)value * (double)value;
        }
        summary->sum[c] = sum / (double)n;
        summary->square[c] = square / (double)n;
    }
    return CLV_OK;
}

static enum clv_status read_item(struct maps_state *self, size_t index, const struct clv_item *item,
                                 struct clv_error *err)
{
    OWNED(map_reader_close) struct map_reader map = {0};
    MUST(map_of_item(&map, &self->wanted, self->from.set, item, self->from.limits, err));
    MUST(summarise(&self->batch[index], &map, err));
    float smallest = self->batch[index].smallest, largest = self->batch[index].largest;
    FAIL_IF(self->wanted.kind == CLV_MAP_PROBABILITIES && (smallest < -1e-3F || largest > 1.001F), CLV_ERR_DATA,
            "%s: values from %g to %g; probabilities are in 0..1", map_path(self->from.set, item, self->wanted.name),
            (double)smallest, (double)largest);
    return CLV_OK;
}

static enum clv_status read_task(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct maps_state *self = context;
    const struct clv_item *item = &self->from.set->items[self->first + index];
    FAIL_IF(stop_requested(self->from.progress), CLV_ERR_INTERRUPTED, "interrupted");
    enum clv_status status = read_item(self, index, item, err);
    parallel_progress(self->from.progress, "reading maps", &self->n_done, self->from.set->n_items, item->name);
    return status;
}

/* Averages the items' summaries, added in the order of the items. */
static enum clv_status summarise_set(struct summary *all, struct maps_state *self, int n_threads, struct clv_error *err)
{
    size_t n = self->from.set->n_items, n_channels = (size_t)self->wanted.n_channels;
    for (self->first = 0; self->first < n; self->first += BATCH) {
        size_t size = n - self->first < BATCH ? n - self->first : BATCH;
        MUST(parallel_for(size, n_threads, read_task, self, err));
        for (size_t i = 0; i < size; i++) {
            const struct summary *own = &self->batch[i];
            bool is_first = self->first + i == 0;
            all->smallest = is_first ? own->smallest : fminf(all->smallest, own->smallest);
            all->largest = is_first ? own->largest : fmaxf(all->largest, own->largest);
            for (size_t c = 0; c < n_channels; c++) {
                all->sum[c] += own->sum[c] / (double)n;
                all->square[c] += own->square[c] / (double)n;
            }
        }
    }
    return CLV_OK;
}

static enum clv_status choose_kind(struct clv_recipe_map *map, const struct summary *all, int32_t n_labels,
                                   struct clv_error *err)
{
    bool is_count = map->n_channels == 1 || map->n_channels == n_labels;
    if (map->kind == CLV_MAP_GUESS)
        map->kind = is_count && all->smallest >= 0 && all->largest <= 1 ? CLV_MAP_PROBABILITIES : CLV_MAP_FEATURES;
    FAIL_IF(map->kind != CLV_MAP_FEATURES && !is_count, CLV_ERR_DATA,
            "map %s has %d channels; probabilities have 1, or one for each of %d labels", map->name, map->n_channels,
            n_labels);
    FAIL_IF(map->kind != CLV_MAP_FEATURES && map->n_components, CLV_ERR_DATA,
            "map %s holds %s; principal components are made of features", map->name,
            map->kind == CLV_MAP_LOGITS ? "logits" : "probabilities");
    if (map->kind != CLV_MAP_FEATURES)
        return CLV_OK;
    size_t n = (size_t)map->n_channels;
    map->standard = array_alloc(n, 2 * sizeof *map->standard);
    NEED(map->standard);
    for (size_t c = 0; c < n; c++) {
        double variance = all->square[c] - all->sum[c] * all->sum[c];
        bool varies = variance > 1e-12 * all->square[c];
        map->standard[c] = (float)all->sum[c];
        map->standard[n + c] = varies ? (float)fmin(1 / sqrt(variance), 1e30) : 0;
    }
    return CLV_OK;
}

static void recipe_map_reset(struct clv_recipe_map *map)
{
    arrays_free(map->standard, map->components, map->usual);
    map->standard = map->components = map->usual = NULL;
    map->n_groups = 0;
}

/* Reads the number of channels of the first image's map. */
static enum clv_status count_channels(int32_t *n_channels, const struct maps_state *self, struct clv_error *err)
{
    OWNED(map_reader_close) struct map_reader first = {0};
    MUST(map_of_item(&first, &self->wanted, self->from.set, &self->from.set->items[0], self->from.limits, err));
    *n_channels = first.map.n_channels;
    return CLV_OK;
}

static enum clv_status learn_map(struct clv_recipe_map *map, struct maps_state *self, int n_threads,
                                 struct clv_error *err)
{
    struct summary all = {0};
    self->wanted = *map;
    self->wanted.n_channels = 0;
    self->n_done = 0;
    MUST(count_channels(&self->wanted.n_channels, self, err));
    size_t n = (size_t)self->wanted.n_channels;
    OWNED_ARRAY double *sums = array_zalloc(n * 2, (BATCH + 1) * sizeof *sums);
    NEED(sums);
    all.sum = sums;
    all.square = sums + n;
    for (size_t i = 0; i < BATCH; i++) {
        self->batch[i].sum = sums + (i + 1) * 2 * n;
        self->batch[i].square = self->batch[i].sum + n;
    }
    MUST(summarise_set(&all, self, n_threads, err));
    OWNED(recipe_map_reset) struct clv_recipe_map result = self->wanted;
    MUST(choose_kind(&result, &all, self->from.set->labels.n_labels, err));
    if (result.n_components)
        MUST(map_learn_components(&result, &self->from, n_threads, err));
    if (result.use != CLV_MAP_USE_IGNORED)
        MUST(map_learn_statistics(&result, &self->from, n_threads, err));
    *map = TAKE(result);
    return CLV_OK;
}

enum clv_status recipe_learn_maps(struct clv_recipe *recipe, const struct clv_set *set, int n_threads,
                                  const struct clv_image_limits *limits, const struct clv_progress *progress,
                                  struct clv_error *err)
{
    MUST(recipe_check(recipe, false, err));
    FAIL_IF(recipe->n_maps && !set->n_items, CLV_ERR_USAGE, "recipe: no images to learn the kinds of maps from");
    struct maps_state reading = {.from = {set, limits, progress, recipe->scale * sqrtf((float)recipe->region_area)}};
    bool has_others = recipe->blocks != CLV_BLOCK_MAPS;
    for (int32_t m = 0; m < recipe->n_maps; m++) {
        recipe_map_reset(&recipe->maps[m]);
        MUST(learn_map(&recipe->maps[m], &reading, n_threads, err));
        if (recipe->maps[m].n_groups > 1 && recipe->maps[m].use == CLV_MAP_USE_AUTO && has_others)
            recipe->maps[m].use = CLV_MAP_USE_IGNORED;
    }
    return CLV_OK;
}
