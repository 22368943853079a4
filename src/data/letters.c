/* Reads the handwritten words of Kassel (1995) in the form of Taskar et al. (2003): one line per letter, which gives
 * the id of the word's next letter. Start at letters_parse_line. */
#include "data/data.h"

#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "base/lines.h"

#define N_HEAD   6 /* fields before the pixels */
#define N_FIELDS (N_HEAD + LETTER_PIXELS)

void letters_release(struct letters *letters)
{
    arrays_free(letters->first, letters->fold, letters->label, letters->pixels);
    *letters = (struct letters){0};
}

void letters_parser_init(struct letters_parser *parser, const char *path)
{
    *parser = (struct letters_parser){.path = path, .next = -1};
}

void letters_parser_release(struct letters_parser *parser)
{
    letters_release(&parser->letters);
}

static enum clv_status reserve(struct letters_parser *parser, struct clv_error *err)
{
    struct letters *l = &parser->letters;
    const struct array_part by_letter[] = {{&l->label, sizeof *l->label}, {&l->pixels, sizeof *l->pixels}};
    const struct array_part by_word[] = {{&l->fold, sizeof *l->fold}, {&l->first, sizeof *l->first}};
    if (array_reserve_all(by_letter, 2, &parser->letter_capacity, l->n_letters + 1) ||
        array_reserve_all(by_word, 2, &parser->word_capacity, l->n_words + 2))
        return fail_memory(err);
    return CLV_OK;
}

/* The six fields before the pixels. */
struct head {
    int32_t id, next, word, position, fold;
    uint8_t label;
};

static enum clv_status parse_head(struct head *head, char *const *fields, const char *path, size_t number,
                                  struct clv_error *err)
{
    static const char *const names[N_HEAD] = {"id", "letter", "next_id", "word_id", "position", "fold"};
    int32_t *const values[N_HEAD] = {&head->id, NULL, &head->next, &head->word, &head->position, &head->fold};
    static const int32_t least[N_HEAD] = {0, 0, -1, 0, 1, 0};
    static const int32_t most[N_HEAD] = {INT32_MAX, 0, INT32_MAX, INT32_MAX, LETTER_MAX_LENGTH, LETTER_MAX_FOLDS - 1};
    for (size_t i = 0; i < N_HEAD; i++) {
        bool good = values[i] ? parse_int32(fields[i], values[i]) && *values[i] >= least[i] && *values[i] <= most[i]
                              : fields[i][0] >= 'a' && fields[i][0] <= 'z' && !fields[i][1];
        FAIL_IF(!good, CLV_ERR_DATA, "%s: line %zu: %s is \"%.40s\"", path, number, names[i], fields[i]);
    }
    head->label = (uint8_t)(fields[1][0] - 'a');
    return CLV_OK;
}

/* Checks that a letter begins a word or has the id that the previous line announced. */
static enum clv_status check_order(const struct letters_parser *parser, const struct head *head, size_t number,
                                   struct clv_error *err)
{
    const struct letters *l = &parser->letters;
    if (parser->next < 0)
        return head->position == 1 ? CLV_OK
                                   : fail(err, CLV_ERR_DATA, "%s: line %zu: a word begins at position %d, not 1",
                                          parser->path, number, head->position);
    FAIL_IF(head->id != parser->next, CLV_ERR_DATA, "%s: line %zu: letter %d follows, the last line announced %d",
            parser->path, number, head->id, parser->next);
    FAIL_IF(head->word != parser->word, CLV_ERR_DATA, "%s: line %zu: word %d within word %d", parser->path, number,
            head->word, parser->word);
    FAIL_IF(head->position != parser->position + 1, CLV_ERR_DATA, "%s: line %zu: position %d after position %d",
            parser->path, number, head->position, parser->position);
    FAIL_IF(head->fold != l->fold[l->n_words - 1], CLV_ERR_DATA, "%s: line %zu: fold %d within a word of fold %d",
            parser->path, number, head->fold, l->fold[l->n_words - 1]);
    return CLV_OK;
}

enum clv_status letters_parse_line(struct letters_parser *parser, char *line, size_t number, struct clv_error *err)
{
    struct letters *l = &parser->letters;
    char *fields[N_FIELDS + 1];
    struct head head;
    if (!*line)
        return CLV_OK;
    size_t n = split_tabs(line, fields, N_FIELDS + 1);
    if (n != N_FIELDS && !(n == N_FIELDS + 1 && !*fields[N_FIELDS])) /* lines of the original file end with a tab */
        return fail(err, CLV_ERR_DATA, "%s: line %zu has %zu fields, a letter has %d", parser->path, number, n,
                    N_FIELDS);
    MUST(parse_head(&head, fields, parser->path, number, err));
    MUST(check_order(parser, &head, number, err));
    MUST(l->n_letters < INT32_MAX ? reserve(parser, err) : fail_memory(err));
    uint8_t *pixels = l->pixels[l->n_letters];
    memset(pixels, 0, sizeof *l->pixels);
    for (size_t p = 0; p < LETTER_PIXELS; p++) {
        const char *field = fields[N_HEAD + p];
        FAIL_IF((field[0] != '0' && field[0] != '1') || field[1], CLV_ERR_DATA,
                "%s: line %zu: pixel %zu is \"%.40s\", not 0 or 1", parser->path, number, p, field);
        pixels[p / 8] = (uint8_t)(pixels[p / 8] | (field[0] - '0') << p % 8);
    }
    if (parser->next < 0) {
        l->first[l->n_words] = l->n_letters;
        l->fold[l->n_words++] = (uint8_t)head.fold;
    }
    l->label[l->n_letters++] = head.label;
    l->first[l->n_words] = l->n_letters;
    parser->next = head.next;
    parser->word = head.word;
    parser->position = head.position;
    return CLV_OK;
}

enum clv_status letters_parse_end(struct letters *letters, struct letters_parser *parser, struct clv_error *err)
{
    FAIL_IF(!parser->letters.n_words, CLV_ERR_DATA, "%s: no letters in it", parser->path);
    FAIL_IF(parser->next >= 0, CLV_ERR_DATA, "%s: ends within word %d", parser->path, parser->word);
    *letters = parser->letters;
    parser->letters = (struct letters){0};
    return CLV_OK;
}

enum clv_status letters_read(struct letters *letters, const char *path, struct clv_error *err)
{
    OWNED(lines_drop) struct lines *lines = NULL;
    MUST(lines_open(&lines, path, err));
    OWNED(letters_parser_release) struct letters_parser parser = {0};
    letters_parser_init(&parser, path);
    for (;;) {
        char *line;
        size_t number = 0;
        MUST(lines_next(&line, &number, lines, err));
        if (!line)
            return letters_parse_end(letters, &parser, err);
        MUST(letters_parse_line(&parser, line, number, err));
    }
}
