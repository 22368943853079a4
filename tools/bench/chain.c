/* Viterbi on the OCR words: 26 labels, 128 binary features a letter, scoring included, one thread. Weights are random: the time
 * does not depend on them. */
#include "graphs.h"

#define N_LABELS    26
#define N_FEATURES  128
#define MAX_LETTERS 60000
#define MAX_WORD    64

static uint8_t pixels[MAX_LETTERS][N_FEATURES]; /* the set ones, by number */
static uint8_t n_set[MAX_LETTERS];
static int32_t word_end[MAX_LETTERS], n_words, n_letters;

static void read_letters(void)
{
    const char *root = getenv("CLEAVE_DATA");
    char command[4096], line[4096];
    snprintf(command, sizeof command, "gzip -dc '%s/letters/letter.data.gz' 2>/dev/null",
             root ? root : "../shared/data");
    FILE *file = popen(command, "r");
    while (file && fgets(line, sizeof line, file) && n_letters < MAX_LETTERS) {
        char *field = line;
        int next = 0, column = 0;
        for (char *end; field && *field; field = end ? end + 1 : NULL, column++) {
            end = strchr(field, '\t');
            if (column == 2)
                next = atoi(field);
            else if (column >= 6 && column < 6 + N_FEATURES && *field == '1')
                pixels[n_letters][n_set[n_letters]++] = (uint8_t)(column - 6);
        }
        if (column < 6 + N_FEATURES)
            continue;
        n_letters++;
        if (next < 0)
            word_end[n_words++] = n_letters;
    }
    if (file)
        pclose(file);
}

static int64_t decode_all(const double (*weights)[N_LABELS], const double *table)
{
    double unary[MAX_WORD * N_LABELS];
    int32_t y[MAX_WORD];
    int64_t sum = 0;
    for (int32_t word = 0, begin = 0; word < n_words; begin = word_end[word++]) {
        int32_t length = word_end[word] - begin;
        struct clv_error error;
        struct clv_chain chain = {length, N_LABELS, 1, unary, table};
        for (int32_t i = 0; i < length; i++) {
            double score[N_LABELS] = {0};
            for (int f = 0; f < n_set[begin + i]; f++)
                for (int k = 0; k < N_LABELS; k++)
                    score[k] += weights[pixels[begin + i][f]][k];
            memcpy(&unary[i * N_LABELS], score, sizeof score);
        }
        stop_on(clv_chain_map(y, NULL, &chain, &error), &error);
        for (int32_t i = 0; i < length; i++)
            sum += y[i];
    }
    return sum;
}

int main(void)
{
    static double weights[N_FEATURES][N_LABELS], table[N_LABELS * N_LABELS];
    double seconds[REPETITIONS];
    int64_t sum = 0;
    read_letters();
    if (!n_words) {
        printf("skipped: letters are absent\n");
        return 0;
    }
    for (uint64_t f = 0; f < N_FEATURES; f++)
        for (uint64_t k = 0; k < N_LABELS; k++)
            weights[f][k] = rng_normal(1, RNG_STREAM(RNG_TEST, 4), f * N_LABELS + k);
    for (uint64_t k = 0; k < N_LABELS * N_LABELS; k++)
        table[k] = rng_normal(1, RNG_STREAM(RNG_TEST, 5), k);
    for (int r = 0; r < REPETITIONS; r++) {
        double start = thread_seconds();
        sum += decode_all((const double(*)[N_LABELS])weights, table);
        seconds[r] = thread_seconds() - start;
    }
    printf("viterbi: %.0f letters/s, %d letters in %d words (digest %lld)\n", n_letters / median(seconds, REPETITIONS),
           n_letters, n_words, (long long)sum);
    return 0;
}
