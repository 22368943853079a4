/* A small file of letters in the form of letter.data. */
#ifndef TESTS_SMALL_LETTERS_H
#define TESTS_SMALL_LETTERS_H

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "data/data.h"
#include "support/support.h"

/* n_words words of 1 to 6 letters in folds 0 .. n_folds - 1, word by word. A letter's image is that of its label,
 * every pixel wrong with probability `noise`; the next letter is the one 1 or 3 places on in the alphabet. */
static inline void write_letters(const char *path, int n_words, int n_folds, double noise, uint64_t seed)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    uint64_t at = 0;
    int id = 0;
    for (int word = 1; word <= n_words; word++) {
        int length = 1 + (int)rng_below(seed, RNG_TEST, at++, 6), label = (int)rng_below(seed, RNG_TEST, at++, 26);
        for (int i = 1; i <= length; i++) {
            id++;
            fprintf(file, "%d\t%c\t%d\t%d\t%d\t%d\t", id, 'a' + label, i < length ? id + 1 : -1, word, i,
                    (word - 1) % n_folds);
            for (uint64_t pixel = 0; pixel < LETTER_PIXELS; pixel++) {
                int ink = rng_uniform(77, RNG_TEST, (uint64_t)label * LETTER_PIXELS + pixel) < 0.2;
                ink ^= rng_uniform(seed, RNG_TEST, at++) < noise;
                fprintf(file, "%d\t", ink);
            }
            fprintf(file, "\n");
            label = (label + (rng_below(seed, RNG_TEST, at++, 2) ? 1 : 3)) % 26;
        }
    }
    ck_assert_int_eq(fclose(file), 0);
}

#endif
