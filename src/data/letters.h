/* Handwritten words: the OCR set of Kassel (1995) as Taskar, Guestrin and Koller (2003) have prepared it, letter.data.
 * feature/dataset/letters.h makes chain problems of them. */
#ifndef DATA_LETTERS_H
#define DATA_LETTERS_H

#include <stddef.h>
#include <stdint.h>

#include "cleave/status.h"

#define LETTER_WIDTH      8
#define LETTER_HEIGHT     16
#define LETTER_PIXELS     128
#define LETTER_LABELS     26 /* a to z */
#define LETTER_MAX_FOLDS  100
#define LETTER_MAX_LENGTH 1000 /* letters of a word */

/* Words in the file's order; a word is the letters first[word] .. first[word + 1] - 1. */
struct letters {
    size_t n_words, n_letters;
    size_t *first;                        /* [n_words + 1] */
    uint8_t *fold;                        /* [n_words] 0..LETTER_MAX_FOLDS - 1 */
    uint8_t *label;                       /* [n_letters] 0 is a */
    uint8_t (*pixels)[LETTER_PIXELS / 8]; /* [n_letters] one bit each, row by row, the lowest bit first */
};
void letters_release(struct letters *letters);

/* Reads Taskar's letter.data, gzip or plain: a line per letter with the tab-separated fields id, letter (a..z), id of
 * the word's next letter or -1, word, position in the word (from 1), fold, and 128 pixels 0 or 1, row by row. Empty
 * lines do not count. The letters of a word follow one another; nothing else is assumed of ids and words. Errors
 * (CLV_ERR_DATA) name file and line: fields that are missing, too many or not of this form, a letter that is not the
 * one announced, a word that changes its number or fold, a word without end, a damaged gzip file. O(size of the file),
 * which is read once, in pieces. */
enum clv_status letters_read(struct letters *letters, const char *path, struct clv_error *err) CLV_CHECK;

/* The parser behind it, a line at a time, for the fuzzer. */
struct letters_parser {
    struct letters letters;
    size_t word_capacity, letter_capacity;
    const char *path;
    /* Of the word in work; next is -1 between words. */
    int32_t next, word, position;
};

void letters_parser_init(struct letters_parser *parser, const char *path);
void letters_parser_release(struct letters_parser *parser);

/* Takes one line, which is cut up in place. */
enum clv_status letters_parse_line(struct letters_parser *parser, char *line, size_t number,
                                   struct clv_error *err) CLV_CHECK;

/* After the last line: checks that the last word has ended, and moves the words out. */
enum clv_status letters_parse_end(struct letters *letters, struct letters_parser *parser,
                                  struct clv_error *err) CLV_CHECK;

#endif
