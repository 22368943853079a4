/* The learned part of clv_box_cut: from features of superpixels to log odds of figure. */
#ifndef BOX_CUT_BOX_WEIGHTS_H
#define BOX_CUT_BOX_WEIGHTS_H

#include "box_cut/box_features.h"

enum { BOX_HIDDEN = 12 };

/* score = linear . (features, 1) + sum_h output[h] max(0, hidden[h] . (features, 1)): a row's last entry is its
 * constant. */
struct box_weights {
    float linear[BOX_FEATURES + 1];
    float output[BOX_HIDDEN];
    float hidden[BOX_HIDDEN][BOX_FEATURES + 1];
};

/* Those that clv_box_cut uses. */
extern const struct box_weights box_weights;

/* Of one row of features, within +-8. */
double box_weights_score(const struct box_weights *weights, const float *features);

#endif
