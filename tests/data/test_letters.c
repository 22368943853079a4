#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "data/small_letters.h"
#include "feature/dataset/dataset.h"

#define MAX_FILE 200000

/* A letter's line: its head, pixels 0 but for those of `ink`, and `tail`. */
static void put_line(char *text, const char *head, int ink, const char *tail)
{
    strcat(text, head);
    for (int pixel = 0; pixel < LETTER_PIXELS; pixel++)
        strcat(text, pixel == ink ? "\t1" : "\t0");
    strcat(text, tail);
}

static const char *spilled(const void *bytes, size_t size)
{
    const char *path = here("l.data");
    spill(path, bytes, size);
    return path;
}

TEST(words_labels_folds_and_pixels_are_read)
{
    static char text[MAX_FILE];
    struct letters letters = {0};
    text[0] = 0;
    put_line(text, "1\tz\t2\t1\t1\t3", 0, "\t\n"); /* the original's lines end with a tab */
    put_line(text, "2\ta\t-1\t1\t2\t3", 127, "\r\n\n");
    put_line(text, "9\tm\t-1\t7\t1\t0", 9, ""); /* ids may leave gaps, the last line need not end */
    must(letters_read(&letters, spilled(text, strlen(text)), err));
    ck_assert(letters.n_words == 2 && letters.n_letters == 3);
    ck_assert(letters.first[0] == 0 && letters.first[1] == 2 && letters.first[2] == 3);
    ck_assert(letters.fold[0] == 3 && letters.fold[1] == 0);
    ck_assert(letters.label[0] == 25 && letters.label[1] == 0 && letters.label[2] == 12);
    const uint8_t expected[3][2] = {{0, 1}, {15, 128}, {1, 2}}; /* byte, its value */
    for (int i = 0; i < 3; i++)
        for (int byte = 0; byte < LETTER_PIXELS / 8; byte++)
            ck_assert_int_eq(letters.pixels[i][byte], byte == expected[i][0] ? expected[i][1] : 0);
    letters_release(&letters);
    letters_release(&letters);
}

TEST(gzip_and_plain_files_hold_the_same)
{
    OWNED(letters_release) struct letters plain = {0}, packed = {0};
    write_letters(here("l"), 300, 10, 0.1, 5); /* longer than any buffer */
    ck_assert_int_eq(run_command(NULL, "cd $HERE && split -n 2 l part && gzip -c partaa >l.gz && gzip -c partab "
                                       ">>l.gz"), /* gzip files may be joined */
                     0);
    must(letters_read(&plain, here("l"), err));
    must(letters_read(&packed, here("l.gz"), err));
    ck_assert(plain.n_words == 300 && packed.n_words == 300 && plain.n_letters == packed.n_letters);
    ck_assert(!memcmp(plain.label, packed.label, plain.n_letters));
    ck_assert(!memcmp(plain.fold, packed.fold, plain.n_words));
    ck_assert(!memcmp(plain.pixels, packed.pixels, plain.n_letters * sizeof *plain.pixels));
    ck_assert(!memcmp(plain.first, packed.first, 301 * sizeof *plain.first));
}

TEST(bad_lines_are_refused_by_number)
{
    static const struct {
        const char *first, *second, *part;
    } bad[] = {
        {"1\ta\t2\t1\t1\t0", "3\tb\t-1\t1\t2\t0", "line 2: letter 3 follows, the last line announced 2"},
        {"1\ta\t2\t1\t1\t0", "2\tb\t-1\t2\t2\t0", "line 2: word 2 within word 1"},
        {"1\ta\t2\t1\t1\t0", "2\tb\t-1\t1\t1\t0", "line 2: position 1 after position 1"},
        {"1\ta\t2\t1\t1\t0", "2\tb\t-1\t1\t2\t4", "line 2: fold 4 within a word of fold 0"},
        {"1\ta\t2\t1\t1\t0", "2\tb\t3\t1\t2\t0", "ends within word 1"},
        {"1\ta\t-1\t1\t2\t0", "2\tb\t-1\t2\t1\t0", "line 1: a word begins at position 2"},
        {"1\tA\t-1\t1\t1\t0", "2\tb\t-1\t2\t1\t0", "line 1: letter is \"A\""},
        {"1\t\t-1\t1\t1\t0", "2\tb\t-1\t2\t1\t0", "line 1: letter is \"\""},
        {"x\ta\t-1\t1\t1\t0", "2\tb\t-1\t2\t1\t0", "line 1: id is \"x\""},
        {"1\ta\t-2\t1\t1\t0", "2\tb\t-1\t2\t1\t0", "line 1: next_id is \"-2\""},
        {"1\ta\t-1\t1\t1\t100", "2\tb\t-1\t2\t1\t0", "line 1: fold is \"100\""},
        {"1\ta\t-1\t1\t0\t0", "2\tb\t-1\t2\t1\t0", "line 1: position is \"0\""},
        {"1\ta\t-1\t1\t1\t0", "2\tb\t-1\t2\t1", "line 2 has 133 fields, a letter has 134"},
        {"1\ta\t-1\t1\t1\t0\t1", "2\tb\t-1\t2\t1\t0", "line 1 has 135 fields"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        static char text[MAX_FILE];
        struct letters letters = {.n_words = 77};
        text[0] = 0;
        put_line(text, bad[k].first, 3, "\n");
        put_line(text, bad[k].second, 3, "\n");
        must_fail(CLV_ERR_DATA, bad[k].part, letters_read(&letters, spilled(text, strlen(text)), err));
        must_fail(CLV_ERR_DATA, "l.data", letters_read(&letters, spilled(text, strlen(text)), err));
        ck_assert(letters.n_words == 77 && !letters.first);
    }
}

TEST(bad_files_are_refused_by_name)
{
    static char text[MAX_FILE], line[2 * LINES_MAX_LENGTH];
    struct letters letters = {0};
    text[0] = 0;
    put_line(text, "1\ta\t-1\t1\t1\t0", -1, "\n");
    text[19] = '2';
    must_fail(CLV_ERR_DATA, "line 1: pixel 3 is \"2\"", letters_read(&letters, spilled(text, strlen(text)), err));
    text[19] = 0;
    must_fail(CLV_ERR_DATA, "line 1 has a zero byte", letters_read(&letters, spilled(text, 200), err));
    must_fail(CLV_ERR_DATA, "no letters", letters_read(&letters, spilled("\n\n", 2), err));
    must_fail(CLV_ERR_DATA, "no letters", letters_read(&letters, spilled("", 0), err));
    memset(line, 'x', sizeof line);
    must_fail(CLV_ERR_DATA, "line 1 is longer", letters_read(&letters, spilled(line, sizeof line), err));
    must_fail(CLV_ERR_NO_INPUT, "is a folder", letters_read(&letters, temporary_folder(), err));

    write_letters(here("l"), 50, 10, 0.1, 5);
    run_here("gzip -f l");
    size_t size;
    OWNED_ARRAY char *packed = slurp(here("l.gz"), &size);
    for (size_t cut = 2; cut < size; cut += size / 7)
        must_fail(CLV_ERR_DATA, "truncated", letters_read(&letters, spilled(packed, cut), err));
    packed[size / 2] ^= 1;
    must_fail(CLV_ERR_DATA, "l.data", letters_read(&letters, spilled(packed, size), err));
    ck_assert_ptr_null(letters.first);
}

TEST(words_become_chains_with_their_features)
{
    OWNED(letters_release) struct letters letters = {0};
    struct clv_dataset *dataset = NULL;
    const char *path = here("l");
    write_letters(path, 30, 5, 0.05, 3);
    must(letters_read(&letters, path, err));
    must(letters_dataset(&dataset, &letters, (uint8_t[LETTER_MAX_FOLDS]){[1] = 1, [4] = 1}, err));
    ck_assert_uint_eq(clv_dataset_size(dataset), 12);
    ck_assert_str_eq(dataset_labels(dataset)->names[25], "z");
    const struct clv_weight_layout layout = {LETTER_LABELS, LETTER_FEATURES, 1, CLV_PAIRWISE_FULL};
    for (size_t item = 0; item < 12; item++) {
        struct clv_problem p = clv_dataset_problem(dataset, item);
        size_t word = item / 2 * 5 + (item % 2 ? 4 : 1); /* the file's order, not that of the list */
        ck_assert_str_eq(clv_dataset_name(dataset, item), formatted("word %zu", word + 1));
        must(clv_problem_check(&p, &layout, err));
        ck_assert(p.n_nodes == (int32_t)(letters.first[word + 1] - letters.first[word]) && p.n_edges == p.n_nodes - 1);
        int32_t wrong[6];
        for (int32_t i = 0; i < p.n_nodes; i++) {
            float x[LETTER_FEATURES] = {0};
            size_t letter = letters.first[word] + (size_t)i;
            for (int64_t k = p.row[i]; k < p.row[i + 1]; k++)
                x[p.index[k]] = p.value[k];
            for (int pixel = 0; pixel < LETTER_PIXELS; pixel++)
                ck_assert_int_eq((int)x[pixel], letters.pixels[letter][pixel / 8] >> pixel % 8 & 1);
            ck_assert(x[128] == 1 && x[129] == (i == 0) && x[130] == (i == p.n_nodes - 1));
            ck_assert_int_eq(p.label[i], letters.label[letter]);
            wrong[i] = i == 1 ? p.label[i] : (p.label[i] + 1) % 26;
        }
        for (int32_t e = 0; e < p.n_edges; e++)
            ck_assert(p.edges[e][0] == e && p.edges[e][1] == e + 1 && p.edge_features[e] == 1);
        ck_assert_double_eq(clv_loss(&p, 26, wrong), p.n_nodes - (p.n_nodes > 1)); /* the number of wrong letters */
    }
    clv_dataset_free(dataset);
    dataset = NULL;
    must(letters_dataset(&dataset, &letters, NULL, err));
    ck_assert_uint_eq(clv_dataset_size(dataset), 30);
    clv_dataset_free(dataset);
    dataset = NULL;
    must_fail(CLV_ERR_USAGE, "no words in fold 5",
              letters_dataset(&dataset, &letters, (uint8_t[LETTER_MAX_FOLDS]){[5] = 1}, err));
    ck_assert_ptr_null(dataset);
}

TEST(the_real_letters_are_all_there)
{
    const char *path = real_data("the_real_letters_are_all_there", "letters/letter.data.gz");
    if (!path)
        return;
    OWNED(letters_release) struct letters letters = {0};
    size_t n_ink = 0;
    must(letters_read(&letters, path, err));
    ck_assert(letters.n_words == 6877 && letters.n_letters == 52152);
    for (size_t i = 0; i < letters.n_letters; i++)
        for (int byte = 0; byte < LETTER_PIXELS / 8; byte++)
            n_ink += (size_t)__builtin_popcount(letters.pixels[i][byte]);
    ck_assert_double_eq_tol((double)n_ink / 52152, 28.119458505905815, 1e-12);
}
