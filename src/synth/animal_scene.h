/* One synthetic image: ground, distractors, an animal. */
#ifndef SYNTH_ANIMAL_SCENE_H
#define SYNTH_ANIMAL_SCENE_H

#include "cleave/image.h"

/* Draws image `number` of a seed. image: 3 channels, allocated here; figure[height][width] (allocated here,
 * array_free it) is 1 where the animal's visible coverage is at least one half. */
enum clv_status synth_scene_draw(struct clv_image *image, uint8_t **figure, int32_t width, int32_t height,
                                 uint64_t seed, uint32_t number, struct clv_error *err) CLV_CHECK;

#endif
