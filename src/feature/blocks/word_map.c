/* Computes the feature blocks words and word: every pixel gets the visual word of the nearest dense-SIFT descriptor
 * (Sivic & Zisserman 2003), and a node the histogram of its pixels' words. Start at word_maps_init. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "feature/words/words.h"

void word_map_release(struct word_map *map)
{
    arrays_free(map->word, map->met, map->count);
    *map = (struct word_map){0};
}

/* The maps of all scales while they are filled. */
struct filling {
    struct word_map *maps;
    const struct clv_recipe *recipe;
    int32_t width, height;
    struct word_search searches[CLV_MAX_SCALES];
    int32_t *cell_word; /* of a strip */
    size_t capacity;
};

static void filling_release(struct filling *self)
{
    for (int32_t s = 0; s < self->recipe->n_scales; s++)
        word_search_release(&self->searches[s]);
    array_free(self->cell_word);
}

static enum clv_status fill_strip(void *context, const struct sift_strip *strip, struct clv_error *err)
{
    struct filling *self = context;
    size_t n_cells = (size_t)strip->n_rows * (size_t)strip->n_columns;
    NEED(array_reserve((void **)&self->cell_word, &self->capacity, n_cells, sizeof *self->cell_word) == 0);
    word_search_find(&self->searches[strip->scale], self->cell_word, strip->values, n_cells);
    int32_t step = self->recipe->step_px, width = self->width;
    const int32_t *cells = self->cell_word;
    for (int32_t r = 0; r < strip->n_rows; r++, cells += strip->n_columns) {
        int32_t top = (strip->first_row + r) * step, bottom = smaller(top + step, self->height);
        int32_t *first = self->maps[strip->scale].word + (size_t)top * (size_t)width;
        for (int32_t c = 0, x = 0; x < width; c++)
            for (int32_t end = smaller(x + step, width); x < end; x++)
                first[x] = cells[c];
        for (int32_t y = top + 1; y < bottom; y++)
            memcpy(first + (size_t)(y - top) * (size_t)width, first, (size_t)width * sizeof *first);
    }
    return CLV_OK;
}

enum clv_status word_maps_init(struct word_map *maps, const uint8_t *rgb, int32_t width, int32_t height,
                               const struct clv_recipe *recipe, struct clv_error *err)
{
    size_t n_pixels = (size_t)width * (size_t)height;
    for (int32_t s = 0; s < recipe->n_scales; s++) {
        maps[s].word = array_alloc(n_pixels, sizeof *maps[s].word);
        maps[s].met = array_alloc((size_t)recipe->n_words, sizeof *maps[s].met);
        maps[s].count = array_zalloc((size_t)recipe->n_words, sizeof *maps[s].count);
        NEED(maps[s].word && maps[s].met && maps[s].count);
    }
    OWNED(filling_release)
    struct filling filling = {.maps = maps, .recipe = recipe, .width = width, .height = height};
    for (int32_t s = 0; s < recipe->n_scales; s++)
        MUST(word_search_init(&filling.searches[s], &recipe->codebooks[s], recipe->word_search, words_best_level(),
                              err));
    return sift_describe_strips(rgb, width, height, recipe, fill_strip, &filling, err);
}

int32_t words_of_scale(const struct clv_recipe *recipe)
{
    return recipe->n_words * kernel_map_size(recipe);
}

double words_in_square(const struct clv_recipe *recipe, double pixels)
{
    double cells = sqrt(pixels) / recipe->step_px + 1;
    return fmin(cells * cells, recipe->n_words);
}

/* Counts each pixel's word (that of its nearest descriptor) and converts the shares by the kernel map. */
void words_histogram(float *row, const struct scene *scene, const struct word_map *map,
                     const struct kernel_map *kernel_map, int32_t region)
{
    int32_t size = kernel_map->size;
    int32_t first = scene->start[region], last = scene->start[region + 1], n_met = 0;
    for (int32_t k = first; k < last; k++) {
        int32_t word = map->word[scene->pixel[k]];
        if (map->count[word]++ == 0)
            map->met[n_met++] = word;
    }
    for (int32_t k = 0; k < n_met; k++) {
        int32_t word = map->met[k];
        kernel_map_share(row + (size_t)word * (size_t)size, kernel_map,
                         (float)map->count[word] / (float)(last - first));
        map->count[word] = 0;
    }
}

void words_bin_name(char *name, size_t size, const struct clv_recipe *recipe, const char *what, int32_t first_scale,
                    int32_t index)
{
    int32_t numbers = kernel_map_size(recipe), bin = index / numbers;
    snprintf(name, size, "%sword %d of scale %d", what, bin % recipe->n_words, first_scale + bin / recipe->n_words);
    kernel_map_name(name, size, recipe, index % numbers);
}

int32_t words_size(const struct clv_recipe *recipe)
{
    return recipe->n_scales * words_of_scale(recipe);
}

double words_met(const struct clv_recipe *recipe, double of_node, double of_image)
{
    (void)of_image;
    return recipe->n_scales * words_in_square(recipe, of_node) * kernel_map_size(recipe);
}

void words_fill(float *row, const struct views *views, int32_t region)
{
    for (int32_t s = 0; s < views->recipe->n_scales; s++, row += words_of_scale(views->recipe))
        words_histogram(row, views_own(views), &views->maps[s], &views->kernel_map, region);
}

void words_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index)
{
    words_bin_name(name, size, recipe, "", 0, index);
}

int32_t word_size(const struct clv_recipe *recipe)
{
    return recipe->n_scales * recipe->n_words;
}

double word_met(const struct clv_recipe *recipe, double of_node, double of_image)
{
    (void)of_node, (void)of_image;
    return recipe->n_scales;
}

void word_fill(float *row, const struct views *views, int32_t region)
{
    const struct scene *scene = views_own(views);
    int32_t first = scene->pixel[scene->start[region]], last = scene->pixel[scene->start[region + 1] - 1];
    int32_t x = (first % scene->width + last % scene->width) / 2, y = (first / scene->width + last / scene->width) / 2;
    for (int32_t s = 0; s < views->recipe->n_scales; s++, row += views->recipe->n_words)
        row[views->maps[s].word[y * scene->width + x]] = 1;
}

void word_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index)
{
    snprintf(name, size, "central word %d of scale %d", index % recipe->n_words, index / recipe->n_words);
}
