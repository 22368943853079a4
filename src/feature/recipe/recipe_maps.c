/* What a recipe learns of maps, and the maps of an item in the recipe's order. Maps are read a batch at a time and
 * forgotten: memory is that of the sums of a batch and of one map a thread. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "feature/recipe/recipe.h"

#define BATCH 64

/* The path of an item's map, NULL where it has none. */
static const char *path_of(const struct clv_set *set, const struct clv_item *item, const char *name)
{
    for (size_t m = 0; m < set->n_maps; m++)
        if (strcmp(set->map_names[m], name) == 0)
            return item->maps[m];
    return NULL;
}

static enum clv_status read_one(struct clv_map *map, const struct clv_recipe_map *wanted, const struct clv_set *set,
                                const struct clv_item *item, const struct clv_image_limits *limits,
                                struct clv_error *err)
{
    const char *path = path_of(set, item, wanted->name);
    if (!path)
        return fail(err, CLV_ERR_NO_INPUT, "%s: has no map %s; --maps %s=FOLDER or a column maps.%s tells where",
                    item->name, wanted->name, wanted->name, wanted->name);
    enum clv_status status = clv_map_read(map, path, (enum clv_map_layout)wanted->layout, limits, err);
    if (status == CLV_OK && wanted->n_channels && map->n_channels != wanted->n_channels) {
        status = fail(err, CLV_ERR_DATA, "%s: %d channels of %d x %d, other maps %s have %d", path, map->n_channels,
                      map->height, map->width, wanted->name, wanted->n_channels);
        clv_map_release(map);
    }
    return status;
}

void clv_item_maps_release(struct clv_map *maps, const struct clv_recipe *recipe)
{
    for (int32_t m = 0; maps && m < recipe->n_maps; m++)
        clv_map_release(&maps[m]);
    array_free(maps);
}

enum clv_status clv_item_maps_read(struct clv_map **maps, const struct clv_recipe *recipe, const struct clv_set *set,
                                   const struct clv_item *item, const struct clv_image_limits *limits,
                                   struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    *maps = NULL;
    if (!recipe->n_maps)
        return CLV_OK;
    struct clv_map *read = array_zalloc((size_t)recipe->n_maps, sizeof *read);
    if (!read)
        return fail_memory(err);
    for (int32_t m = 0; m < recipe->n_maps && status == CLV_OK; m++)
        status = read_one(&read[m], &recipe->maps[m], set, item, limits, err);
    if (status == CLV_OK)
        *maps = read;
    else
        clv_item_maps_release(read, recipe);
    return status;
}

/* What one map, or all so far, have in them. */
struct summary {
    float smallest, largest;
    double *sum, *square; /* [n_channels] of pixels, divided by their number */
};

struct reading {
    struct clv_recipe_map wanted; /* a view */
    const struct clv_set *set;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
    size_t first; /* item of the batch */
    struct summary batch[BATCH];
    size_t n_done;
};

static void summarise(struct summary *summary, const struct clv_map *map)
{
    size_t n = (size_t)map->width * (size_t)map->height;
    *summary = (struct summary){map->values[0], map->values[0], summary->sum, summary->square};
    for (size_t c = 0; c < (size_t)map->n_channels; c++) {
        double sum = 0, square = 0;
        for (size_t p = 0; p < n; p++) {
            float value = map->values[c * n + p];
            summary->smallest = fminf(summary->smallest, value);
            summary->largest = fmaxf(summary->largest, value);
            sum += (double)value;
            square += (double)value * (double)value;
        }
        summary->sum[c] = sum / (double)n;
        summary->square[c] = square / (double)n;
    }
}

static enum clv_status read_task(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct reading *self = context;
    struct clv_map map = {0};
    const struct clv_item *item = &self->set->items[self->first + index];
    if (stop_requested(self->progress))
        return fail(err, CLV_ERR_INTERRUPTED, "interrupted");
    enum clv_status status = read_one(&map, &self->wanted, self->set, item, self->limits, err);
    if (status == CLV_OK)
        summarise(&self->batch[index], &map);
    if (status == CLV_OK && self->wanted.kind == CLV_MAP_PROBABILITIES &&
        (self->batch[index].smallest < -1e-3F || self->batch[index].largest > 1.001F))
        status = fail(err, CLV_ERR_DATA, "%s: values from %g to %g; probabilities lie in 0..1",
                      path_of(self->set, item, self->wanted.name), (double)self->batch[index].smallest,
                      (double)self->batch[index].largest);
    clv_map_release(&map);
    parallel_progress(self->progress, "reading maps", &self->n_done, self->set->n_items, item->name);
    return status;
}

/* Adds up the items' summaries in their order. */
static enum clv_status summarise_set(struct summary *all, struct reading *self, int n_threads, struct clv_error *err)
{
    size_t n = self->set->n_items, n_channels = (size_t)self->wanted.n_channels;
    enum clv_status status = CLV_OK;
    for (self->first = 0; self->first < n && status == CLV_OK; self->first += BATCH) {
        size_t size = n - self->first < BATCH ? n - self->first : BATCH;
        status = parallel_for(size, n_threads, read_task, self, err);
        for (size_t i = 0; i < size && status == CLV_OK; i++) {
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
    return status;
}

static enum clv_status settle(struct clv_recipe_map *map, const struct summary *all, int32_t n_labels,
                              struct clv_error *err)
{
    bool is_count = map->n_channels == 1 || map->n_channels == n_labels;
    if (map->kind == CLV_MAP_GUESS)
        map->kind = is_count && all->smallest >= 0 && all->largest <= 1 ? CLV_MAP_PROBABILITIES : CLV_MAP_FEATURES;
    if (map->kind != CLV_MAP_FEATURES && !is_count)
        return fail(err, CLV_ERR_DATA, "map %s has %d channels; probabilities have 1, or one for each of %d labels",
                    map->name, map->n_channels, n_labels);
    if (map->kind != CLV_MAP_FEATURES)
        return CLV_OK;
    size_t n = (size_t)map->n_channels;
    map->standard = array_alloc(n, 2 * sizeof *map->standard);
    if (!map->standard)
        return fail_memory(err);
    for (size_t c = 0; c < n; c++) {
        double variance = all->square[c] - all->sum[c] * all->sum[c];
        bool varies = variance > 1e-12 * all->square[c];
        map->standard[c] = (float)all->sum[c];
        map->standard[n + c] = varies ? (float)fmin(1 / sqrt(variance), 1e30) : 0;
    }
    return CLV_OK;
}

static enum clv_status learn_map(struct clv_recipe_map *map, struct reading *self, int n_threads, struct clv_error *err)
{
    struct clv_map first = {0};
    struct summary all = {0};
    self->wanted = *map;
    self->wanted.n_channels = 0;
    self->n_done = 0;
    enum clv_status status = read_one(&first, &self->wanted, self->set, &self->set->items[0], self->limits, err);
    if (status != CLV_OK)
        return status;
    size_t n = (size_t)first.n_channels;
    self->wanted.n_channels = first.n_channels;
    clv_map_release(&first);
    double *sums = array_zalloc(n * 2, (BATCH + 1) * sizeof *sums);
    if (!sums)
        return fail_memory(err);
    all.sum = sums;
    all.square = sums + n;
    for (size_t i = 0; i < BATCH; i++) {
        self->batch[i].sum = sums + (i + 1) * 2 * n;
        self->batch[i].square = self->batch[i].sum + n;
    }
    status = summarise_set(&all, self, n_threads, err);
    struct clv_recipe_map learned = self->wanted;
    if (status == CLV_OK)
        status = settle(&learned, &all, self->set->labels.n_labels, err);
    if (status == CLV_OK)
        *map = learned;
    array_free(sums);
    return status;
}

enum clv_status clv_recipe_learn_maps(struct clv_recipe *recipe, const struct clv_set *set, int n_threads,
                                      const struct clv_image_limits *limits, const struct clv_progress *progress,
                                      struct clv_error *err)
{
    enum clv_status status = recipe_check(recipe, false, err);
    if (status == CLV_OK && recipe->n_maps && !set->n_items)
        return fail(err, CLV_ERR_USAGE, "recipe: no images to learn from what their maps are");
    struct reading reading = {.set = set, .limits = limits, .progress = progress};
    for (int32_t m = 0; m < recipe->n_maps && status == CLV_OK; m++) {
        array_free(recipe->maps[m].standard);
        recipe->maps[m].standard = NULL;
        status = learn_map(&recipe->maps[m], &reading, n_threads, err);
    }
    return status;
}
