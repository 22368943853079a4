/* What tests of the command share: a small drawn set with a model trained on it, made once per suite. */
#ifndef TESTS_SAMPLE_H
#define TESTS_SAMPLE_H

#include "support/support.h"

/* Recipe and learner options that make training on the sample quick. */
#define SAMPLE_TRAINING "--seed 1 --superpixels 120 --words 20 --codebook-samples 2000 --passes 10"

/* For tcase_add_unchecked_fixture: makes the sample before a case's first test. */
void sample_setup(void);

const char *sample_set(void);   /* a folder: 12 images of about 120x90, 8 in split train, 4 in test */
const char *sample_model(void); /* trained on its train split */

/* Writes the sample's first image at another size. */
void sample_enlarge(const char *path, int width, int height);

/* The most memory that a shell command's children have in use, in bytes; the command must succeed. */
double peak_of(const char *command);

/* Number of files below a folder, 0 if there is none; whether two files, or two folders, hold the same bytes
 * (but for the hidden note of which model made them). */
int count_files(const char *folder);
int same_bytes(const char *a, const char *b);

#endif
