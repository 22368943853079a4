#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "fuzz/fuzz.h"

/* Any lines give whole words, or one line of error. */
FUZZ_TARGET(letters)
{
    struct clv_error error = {0};
    OWNED(letters_parser_release) struct letters_parser parser = {0};
    OWNED(letters_release) struct letters letters = {0};
    enum clv_status status = CLV_OK;
    OWNED_ARRAY char *bytes = array_alloc(size + 1, 1);
    char *cursor = bytes, *line;
    if (!bytes)
        return 0;
    if (size)
        memcpy(bytes, data, size);
    letters_parser_init(&parser, "letter.data");
    for (size_t number = 1; status == CLV_OK && (line = line_next(&cursor, bytes + size)); number++)
        status = letters_parse_line(&parser, line, number, &error);
    if (status == CLV_OK)
        status = letters_parse_end(&letters, &parser, &error);
    FUZZ_CHECK(status == CLV_OK || (error.message[0] && !strchr(error.message, '\n')));
    FUZZ_CHECK((status == CLV_OK) == (letters.n_words > 0));
    for (size_t word = 0; word < letters.n_words; word++) {
        FUZZ_CHECK(letters.first[word] < letters.first[word + 1] && letters.fold[word] < LETTER_MAX_FOLDS);
        FUZZ_CHECK(letters.first[word + 1] - letters.first[word] <= LETTER_MAX_LENGTH);
    }
    for (size_t i = 0; i < letters.n_letters; i++)
        FUZZ_CHECK(letters.label[i] < LETTER_LABELS);
    FUZZ_CHECK(!letters.n_words || letters.first[letters.n_words] == letters.n_letters);
    return 0;
}
