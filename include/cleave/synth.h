/* Synthetic image sets with exact truth, for demos, tests and scale runs. */
#ifndef CLEAVE_SYNTH_H
#define CLEAVE_SYNTH_H

#include "cleave/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct clv_synth_options {
    int32_t n_images;        /* >= 1, default 60 */
    int32_t width, height;   /* pixels, 16..8192, default 240 x 180; each image varies by up to a quarter */
    double train_share;      /* share of images whose split is "train", the rest are "test"; default 2/3 */
    uint64_t seed;
};
CLV_API void clv_synth_init(struct clv_synth_options *options);

/* Draws textured four-legged animals (body, neck, head, legs, tail, in random pose, place, scale and flip) on textured
 * ground with distractors, and writes them into a new or empty folder: images/NNNN.jpg, masks/NNNN.png (1-bit truth, exact),
 * manifest.tsv (image, mask, split), boxes.tsv (image, mask, label, x, y, w, h; tight). Figure and ground colours overlap, so that
 * colour alone does not solve it. Same seed, same bytes at any thread count. */
CLV_API enum clv_status clv_synth_animals(const char *folder, const struct clv_synth_options *options, int n_threads,
                                          const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
