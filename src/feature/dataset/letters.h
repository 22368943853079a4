/* Words as a dataset of chains. */
#ifndef FEATURE_LETTERS_H
#define FEATURE_LETTERS_H

#include "cleave/features.h"
#include "data/letters.h"

#define LETTER_FEATURES 131 /* the pixels, a bias of 1, first of its word, last of its word */

/* The words of some folds (folds[LETTER_MAX_FOLDS], 1 if it is wanted; NULL: all words) as a dataset of chain problems,
 * in the file's order: node i is a letter with LETTER_FEATURES features 0 or 1, edge e joins letters e and e + 1 and
 * has one feature, 1. theta is 1 for the true label and 0 for others, so that the loss of a word is the number of its
 * wrong letters. Labels are named a to z, items "word N", N the word's place in the file from 1. CLV_ERR_USAGE if a
 * fold has no words or there is none at all. */
enum clv_status letters_dataset(struct clv_dataset **dataset, const struct letters *letters, const uint8_t *folds,
                                struct clv_error *err) CLV_CHECK;

#endif
