/* Backgrounds and distractors of synthetic images. */
#ifndef SYNTH_GROUND_H
#define SYNTH_GROUND_H

#include "synth/shape.h"

/* Sky above `horizon` (pixels from the top; at most 0: none), hills or a wood before it, ground below. Patches of the
 * ground take `lure`, a colour of the animal. */
void ground_paint(struct canvas *canvas, struct dice *dice, float horizon, struct colour lure);

/* Stones, posts, bushes, trees and tufts whose feet stand at height `foot`; size is about their height in pixels. */
enum distractor { DISTRACTOR_STONE, DISTRACTOR_POST, DISTRACTOR_BUSH, DISTRACTOR_TREE, DISTRACTOR_TUFT, N_DISTRACTORS };
void distractor_paint(struct canvas *canvas, struct field *field, struct dice *dice, enum distractor kind,
                      struct point foot, float size, struct colour lure);

#endif
