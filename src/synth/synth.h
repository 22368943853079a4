/* Synthetic image sets with exact truth, for demos, tests and scale runs.
 *
 *     struct clv_synth_options options;
 *     clv_synth_init(&options);
 *     options.n_images = 12;
 *     status = clv_synth_animals("animals", &options, 0, NULL, &error);
 *
 * To read the source: src/synth/animals.c writes the set, animal_scene.c composes an image of an animal (animal.c,
 * shape.c) and its ground (ground.c, value_noise.c). */
#ifndef SYNTH_SYNTH_H
#define SYNTH_SYNTH_H

#include <stdbool.h>

#include "cleave/status.h"

struct clv_synth_options {
    int32_t n_images;      /* >= 1, default 60 */
    int32_t width, height; /* pixels, 16..8192, default 240 x 180; each image varies by up to a quarter */
    double train_share;    /* share of images whose split is "train", the rest are "test"; default 2/3 */
    uint64_t seed;         /* default 0 */
    bool overwrite; /* files of these names are replaced, else (default) a folder with anything in it is refused */
};
void clv_synth_init(struct clv_synth_options *options);

/* Draws textured four-legged animals (body, neck, head, legs, tail; horse, zebra, cow, sheep, deer, giraffe and dog
 * shapes in random pose, place, scale and flip) on textured ground with distractors, and writes them into a new or
 * empty folder:
 *   images/0001.jpg ..   quality 92
 *   masks/0001.png ..    palette PNG: 1 where the animal's visible coverage of the pixel is at least one half, else 0
 *   manifest.tsv         image, mask, split; the first round(train_share * n_images) images are "train"
 *   boxes.tsv            image, label, x, y, w, h: the tight box of the mask
 * Stones, posts, bushes, patches of ground and far hills take the animals' colours, some before the animal and some
 * behind, so that neither colour nor position alone solves it. Same seed, same bytes at any thread count; image k is
 * the same whatever n_images. A folder with anything in it is refused (CLV_ERR_CREATE) and a failure or an interruption
 * leaves nothing behind, unless options->overwrite: then what was drawn so far stays. About 0.15 us a pixel and
 * thread. */
enum clv_status clv_synth_animals(const char *folder, const struct clv_synth_options *options, int n_threads,
                                  const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

#endif
