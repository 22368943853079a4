/* Computes the feature blocks words and word: every pixel gets the visual word of the nearest dense-SIFT descriptor
 * (Sivic & Zisserman 2003), and a node the histogram of its pixels' words. Start at word_map_init. */
#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "feature/words/words.h"

void word_map_release(struct word_map *map)
{
    arrays_free(map->word, map->met, map->count);
    *map = (struct word_map){0};
}

/* Finds the word of each cell of a scale. */
static enum clv_status find_cells(int32_t *cell_word, const struct sift_image *sift, const struct clv_recipe *recipe,
                                  int32_t scale, struct clv_error *err)
{
    OWNED(sift_strips_release) struct sift_strips strips = {0};
    MUST(sift_strips_init(&strips, sift, recipe->bin_size_px[scale], recipe->step_px, err));
    for (size_t n = 0; sift_strips_next(&strips, &n); cell_word += n)
        MUST(words_find(cell_word, &recipe->codebooks[scale], recipe->word_search, strips.values, n, err));
    return CLV_OK;
}

enum clv_status word_map_init(struct word_map *map, const struct sift_image *sift, const struct clv_recipe *recipe,
                              int32_t scale, struct clv_error *err)
{
    *map = (struct word_map){0};
    size_t n_pixels = (size_t)sift->width * (size_t)sift->height;
    int32_t n_columns = (sift->width + recipe->step_px - 1) / recipe->step_px;
    OWNED_ARRAY int32_t *cell_word = array_alloc((size_t)sift_image_n_cells(sift, recipe->step_px), sizeof *cell_word);
    OWNED(word_map_release)
    struct word_map result = {.word = array_alloc(n_pixels, sizeof *result.word),
                              .met = array_alloc((size_t)recipe->n_words, sizeof *result.met),
                              .count = array_zalloc((size_t)recipe->n_words, sizeof *result.count)};
    NEED(cell_word && result.word && result.met && result.count);
    MUST(find_cells(cell_word, sift, recipe, scale, err));
    for (int32_t y = 0; y < sift->height; y++) {
        const int32_t *cells = cell_word + (size_t)(y / recipe->step_px) * (size_t)n_columns;
        int32_t *row = result.word + (size_t)y * (size_t)sift->width;
        for (int32_t x = 0; x < sift->width; x++)
            row[x] = cells[x / recipe->step_px];
    }
    *map = TAKE(result);
    return CLV_OK;
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
