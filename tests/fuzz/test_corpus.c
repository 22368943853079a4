/* Every fuzz target over its seeds: tests/fuzz/corpus/<target>/. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleave/learn.h"
#include "fuzz/small_training.h"
#include "support/images.h"
#include "support/support.h"

#define TARGET(name) int fuzz_##name(const uint8_t *data, size_t size);
#include "fuzz/targets.h"
#undef TARGET

static const struct {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define TARGET(name) {#name, fuzz_##name},
#include "fuzz/targets.h"
#undef TARGET
};

enum { N_TARGETS = sizeof targets / sizeof *targets };

/* The input ends where its block ends, so that reading past it is noticed. */
static void run_exactly(int target, const void *bytes, size_t size)
{
    OWNED_ARRAY uint8_t *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    ck_assert_int_eq(targets[target].run(exact, size), 0);
}

TESTS(targets_survive_their_corpus, 0, N_TARGETS)
{
    const char *name = targets[_i].name;
    DIR *stream = opendir(formatted("tests/fuzz/corpus/%s", name));
    ck_assert_msg(stream != NULL, "%s: no corpus", name);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(stream));) {
        if (entry->d_name[0] == '.')
            continue;
        size_t size;
        OWNED_ARRAY char *bytes = slurp(formatted("tests/fuzz/corpus/%s/%s", name, entry->d_name), &size);
        run_exactly(_i, bytes, size);
        n++;
    }
    closedir(stream);
    ck_assert_msg(n > 0, "%s: empty corpus", name);
}

TESTS(targets_survive_nothing_and_noise, 0, N_TARGETS)
{
    uint8_t bytes[300] = {0};
    uint32_t state = (uint32_t)_i;
    for (size_t size = 0; size < sizeof bytes; size++) {
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)noise(&state);
        run_exactly(_i, bytes, size);
    }
}

/* Writes a seed when asked to, runs it in any case. */
static void seed(const char *target, const char *name, uint8_t *bytes, size_t size)
{
    for (int i = 0; i < N_TARGETS; i++)
        if (strcmp(targets[i].name, target) == 0)
            run_exactly(i, bytes, size);
    if (getenv("CLEAVE_WRITE_CORPUS"))
        spill(formatted("tests/fuzz/corpus/%s/%s", target, name), bytes, size);
    free(bytes);
}

/* CLEAVE_WRITE_CORPUS=1 makes the PNG seeds of `image` and `indexed` anew. */
TEST(png_seeds_are_survived)
{
    static const uint8_t palette[16][3] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}}, alphas[3] = {0, 100, 255};
    static const enum png_kind kinds[] = {PNG_GREY, PNG_RGB, PNG_PALETTE, PNG_GREY_ALPHA, PNG_RGBA};
    static const char *const names[] = {"grey", "rgb", "palette", "grey-alpha", "rgba"};
    uint16_t samples[6 * 5 * 4];
    for (int k = 0; k < 5; k++)
        for (int bit_depth = 1; bit_depth <= 16; bit_depth *= 2) {
            bool few_bits = kinds[k] == PNG_GREY || kinds[k] == PNG_PALETTE;
            if ((bit_depth < 8 && !few_bits) || (bit_depth == 16 && kinds[k] == PNG_PALETTE))
                continue;
            uint32_t state = 1;
            for (int i = 0; i < 6 * 5 * 4; i++)
                samples[i] = (uint16_t)(noise(&state) & ((1u << (bit_depth > 4 && few_bits ? 4 : bit_depth)) - 1));
            struct png_recipe recipe = {.width = 6,
                                        .height = 5,
                                        .bit_depth = bit_depth,
                                        .kind = kinds[k],
                                        .interlaced = bit_depth % 3 == 1,
                                        .samples = samples,
                                        .has_key = bit_depth == 8 && k < 2,
                                        .has_extras = bit_depth == 8};
            if (kinds[k] == PNG_PALETTE) {
                recipe.palette = palette;
                recipe.palette_size = bit_depth > 4 ? 16 : 1 << bit_depth;
                recipe.alphas = alphas;
                recipe.n_alphas = bit_depth > 1 ? 3 : 1;
            }
            size_t size;
            uint8_t *bytes = make_png(&size, &recipe);
            const char *name = formatted("%s-%d%s.png", names[k], bit_depth, recipe.interlaced ? "-interlaced" : "");
            if (few_bits && bit_depth <= 8)
                seed("indexed", name, make_png(&size, &recipe), size);
            seed("image", name, bytes, size);
        }
}

/* The same for JPEG. */
TEST(jpeg_seeds_are_survived)
{
    static const struct {
        const char *name;
        struct jpeg_recipe recipe;
    } seeds[] = {{"grey.jpg", {.kind = JPEG_GREY}},
                 {"colour-turned.jpg", {.kind = JPEG_YCC, .exif_size = 32}},
                 {"colour-halved-restarts.jpg", {.kind = JPEG_YCC, .half_chroma = true, .restarts = true}},
                 {"colour-progressive.jpg", {.kind = JPEG_YCC, .progressive = true}},
                 {"colour-arithmetic.jpg", {.kind = JPEG_YCC, .arithmetic = true}},
                 {"rgb.jpg", {.kind = JPEG_RGB}},
                 {"cmyk.jpg", {.kind = JPEG_CMYK}},
                 {"cmyk-plain.jpg", {.kind = JPEG_CMYK, .without_adobe = true}},
                 {"ycck.jpg", {.kind = JPEG_YCCK}}};
    uint8_t pixels[17 * 18 * 4], exif[32];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * i / 40);
    make_exif(exif, 6, true);
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        struct jpeg_recipe recipe = seeds[i].recipe;
        recipe.width = 17;
        recipe.height = 18;
        recipe.quality = 20;
        recipe.pixels = pixels;
        recipe.exif = exif;
        size_t size;
        uint8_t *bytes = make_jpeg(&size, &recipe);
        seed("image", seeds[i].name, bytes, size);
    }
}

struct countdown {
    int left;
    volatile int stop;
};

static void count_down(void *context, const char *what, size_t done, size_t total, const char *note)
{
    struct countdown *countdown = context;
    (void)what, (void)done, (void)total, (void)note;
    countdown->stop = !countdown->left--;
}

/* And the checkpoints of every learner: after some steps, and after all. */
TEST(checkpoint_seeds_are_survived)
{
    char path[512]; /* outlives sixteen names by formatted() */
    snprintf(path, sizeof path, "%s/small.checkpoint", temporary_folder());
    int n_written = 0;
    for (size_t l = 0; clv_learner_at(l); l++)
        for (int left = 2; left < 100; left += 90) {
            struct countdown countdown = {left, 0};
            const struct clv_progress progress = {count_down, &countdown, &countdown.stop, NULL, NULL};
            const char *learner = clv_learner_at(l)->name;
            size_t size;
            must(small_training(learner, path, 0, &progress, err));
            char *bytes = slurp(path, &size);
            must(small_training(learner, path, 1, NULL, err));
            seed("checkpoint", formatted("%s-%s", learner, left > 2 ? "end" : "middle"), (uint8_t *)bytes, size);
            n_written++;
        }
    ck_assert_int_ge(n_written, 34);
}
