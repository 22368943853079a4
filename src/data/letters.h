/* The parser behind clv_letters_read, a line at a time, for the fuzzer. */
#ifndef DATA_LETTERS_H
#define DATA_LETTERS_H

#include "cleave/letters.h"

struct letters_parser {
    struct clv_letters letters;
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
enum clv_status letters_parse_end(struct clv_letters *letters, struct letters_parser *parser,
                                  struct clv_error *err) CLV_CHECK;

#endif
