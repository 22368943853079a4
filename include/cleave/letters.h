/* Handwritten words: the OCR set of Kassel (1995) as Taskar, Guestrin and Koller (2003) have prepared it, letter.data.
 * features.h makes chain problems of them. */
#ifndef CLEAVE_LETTERS_H
#define CLEAVE_LETTERS_H

#include "cleave/data.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CLV_LETTER_WIDTH      8
#define CLV_LETTER_HEIGHT     16
#define CLV_LETTER_PIXELS     128
#define CLV_LETTER_LABELS     26 /* a to z */
#define CLV_LETTER_MAX_FOLDS  100
#define CLV_LETTER_MAX_LENGTH 1000 /* letters of a word */

/* Words in the file's order; a word is the letters first[word] .. first[word + 1] - 1. */
struct clv_letters {
    size_t n_words, n_letters;
    size_t *first;                            /* [n_words + 1] */
    uint8_t *fold;                            /* [n_words] 0..CLV_LETTER_MAX_FOLDS - 1 */
    uint8_t *label;                           /* [n_letters] 0 is a */
    uint8_t (*pixels)[CLV_LETTER_PIXELS / 8]; /* [n_letters] one bit each, row by row, the lowest bit first */
};
CLV_API void clv_letters_release(struct clv_letters *letters);

/* Reads Taskar's letter.data, gzip or plain: a line per letter with the tab-separated fields id, letter (a..z), id of
 * the word's next letter or -1, word, position in the word (from 1), fold, and 128 pixels 0 or 1, row by row. Empty
 * lines do not count. The letters of a word follow one another; nothing else is assumed of ids and words. Errors
 * (CLV_ERR_DATA) name file and line: fields that are missing, too many or not of this form, a letter that is not the
 * one announced, a word that changes its number or fold, a word without end, a damaged gzip file. O(size of the file),
 * which is read once, in pieces. */
CLV_API enum clv_status clv_letters_read(struct clv_letters *letters, const char *path,
                                         struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
