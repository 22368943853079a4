/* Every way of labelling, each with four inputs: for suites that hold for all of them. */
#ifndef TESTS_WAYS_H
#define TESTS_WAYS_H

#include <stdbool.h>

#include "cleave/files.h"

enum { WAY_INPUTS = 4, N_WAYS = 6 };

/* A way; whether it knows probabilities, and has images. */
struct way {
    const char *name, *shown; /* as messages call it */
    void (*choose)(struct clv_files_options *options);
    bool has_model, has_images;
    const char *stems[WAY_INPUTS];
};
extern const struct way ways[N_WAYS];

/* Makes their inputs and models in the test's folder: SETUP_ONCE(ways_setup, NULL). */
void ways_setup(void);

#endif
