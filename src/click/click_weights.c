/* Logistic regressions of "this superpixel is figure" on what click_features.c says of it, fitted to what a robot
 * user's 20 clicks on objects of horses and MSRC images left to be told; the weight of the learned model's score is
 * what took fewest clicks on 25 horses with a model of 40 others. Rows: before colours of figure and ground are known,
 * then after; of each 1, 2 to 4, 5 and more strokes. In order of enum feature there. */
#include "click/click_features.h"

const float click_weights[CLICK_STAGES][CLICK_PHASES][CLICK_FEATURES] = {
    {
        {-0.434F, 0, 0,     2.08F,  -1.162F, 1.074F, -0.154F, -0.703F, -1.106F, -1.043F, 1.216F, 0,
         0,       0, 0.81F, 0.182F, 0.691F,  0.378F, 0,       2,       0,       0.669F,  1.107F},
        {-0.18F, 0,      0,      0.418F, -0.503F, 0.509F, 1.131F, -1.513F, -1.011F, 0.152F, 1.01F, -1.306F,
         0.765F, 1.728F, 0.513F, 0.289F, 0.091F,  1.034F, 0,      2,       -0.454F, 0.151F, 0.194F},
        {0.047F, 0,      0,      0.06F,  -0.506F, 0.209F, 0.938F, -1.261F, -0.65F,  0.548F,  0.37F, -0.729F,
         1.309F, 1.894F, 0.368F, 0.245F, 0.43F,   0.615F, 0,      2,       -0.352F, -0.309F, 0.144F},
    },
    {
        {0.114F, -0.141F, 0.72F,  1.202F,  -0.739F, 0.536F,  -0.126F, -0.67F, -0.868F, -0.887F, -0.547F, 0,
         0,      0,       1.112F, -0.008F, 0.693F,  -0.085F, 0.431F,  2,      0,       0.435F,  0.925F},
        {-0.065F, 0.257F, 0.367F, 0.184F, -0.355F, 0.273F, 1.24F,  -1.42F, -1.005F, -0.073F, 0.078F, -1.016F,
         0.286F,  1.09F,  0.321F, 0.162F, -0.001F, 0.701F, 0.137F, 2,      -0.335F, 0.153F,  0.098F},
        {-0.063F, 0.578F, 0.052F, -0.066F, -0.379F, 0.048F, 1.174F, -1.12F, -0.547F, 0.345F,  0.05F, -0.691F,
         0.692F,  1.066F, 0.218F, 0.144F,  0.191F,  0.391F, 0.249F, 2,      -0.211F, -0.313F, 0.088F},
    },
};
