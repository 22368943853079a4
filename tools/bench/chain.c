/* Viterbi on the OCR words: 26 labels, 128 binary features per letter, scoring included, one thread, compared with
 * dlib's sequence_labeler. Weights are random, because the time does not depend on them. */
#include <unistd.h>

#include "data/data.h"
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
    char path[4096];
    struct clv_error error;
    struct letters letters = {0};
    snprintf(path, sizeof path, "%s/letters/letter.data.gz", root ? root : "../shared/data");
    enum clv_status status = letters_read(&letters, path, &error);
    if (status == CLV_ERR_NO_INPUT) {
        printf("viterbi: skipped: %s is absent\n", path);
        exit(0);
    }
    stop_on(status, &error);
    for (size_t i = 0; i < letters.n_letters && i < MAX_LETTERS; i++)
        for (int f = 0; f < N_FEATURES; f++)
            if (letters.pixels[i][f / 8] >> f % 8 & 1)
                pixels[i][n_set[i]++] = (uint8_t)f;
    for (size_t word = 0; word < letters.n_words && letters.first[word + 1] <= MAX_LETTERS; word++)
        word_end[n_words++] = n_letters = (int32_t)letters.first[word + 1];
    letters_release(&letters);
}

static double weights[N_FEATURES][N_LABELS], table[N_LABELS * N_LABELS];

static struct clv_chain score_word(double *unary, int32_t begin, int32_t length)
{
    for (int32_t i = 0; i < length; i++) {
        double score[N_LABELS] = {0};
        for (int f = 0; f < n_set[begin + i]; f++)
            for (int k = 0; k < N_LABELS; k++)
                score[k] += weights[pixels[begin + i][f]][k];
        memcpy(&unary[i * N_LABELS], score, sizeof score);
    }
    return (struct clv_chain){length, N_LABELS, 1, unary, table};
}

/* Labels every word; returns the sum of the labels. */
static int64_t decode_all(void)
{
    double unary[MAX_WORD * N_LABELS];
    int32_t y[MAX_WORD];
    int64_t sum = 0;
    for (int32_t word = 0, begin = 0; word < n_words; begin = word_end[word++]) {
        int32_t length = word_end[word] - begin;
        struct clv_error error;
        struct clv_chain chain = score_word(unary, begin, length);
        stop_on(clv_chain_map(y, NULL, &chain, &error), &error);
        for (int32_t i = 0; i < length; i++)
            sum += y[i];
    }
    return sum;
}

/* Marginals of every word; returns the sum of the log-partitions. */
static double sum_all(void)
{
    double unary[MAX_WORD * N_LABELS], marginals[MAX_WORD * N_LABELS], sum = 0;
    for (int32_t word = 0, begin = 0; word < n_words; begin = word_end[word++]) {
        struct clv_error error;
        struct clv_chain chain = score_word(unary, begin, word_end[word] - begin);
        double log_partition;
        stop_on(clv_chain_marginals(marginals, NULL, &log_partition, &chain, &error), &error);
        sum += log_partition;
    }
    return sum;
}

/* The weights and words in a file for tools/bench/dlib. */
static void write_for_peer(const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        fprintf(stderr, "%s: cannot create\n", path);
        exit(73);
    }
    fwrite(table, sizeof table, 1, file);
    fwrite(weights, sizeof weights, 1, file);
    fwrite(&n_words, sizeof n_words, 1, file);
    for (int32_t word = 0, at = 0; word < n_words; word++) {
        int32_t length = word_end[word] - at;
        fwrite(&length, sizeof length, 1, file);
        for (; at < word_end[word]; at++) {
            fwrite(&n_set[at], 1, 1, file);
            fwrite(pixels[at], 1, n_set[at], file);
        }
    }
    fclose(file);
}

/* One run of dlib's sequence_labeler; 0 where it was not built. Its labels must be ours. */
static double peer_seconds(const char *path, int64_t expected)
{
    const char *build = getenv("CLEAVE_BUILD");
    char command[4096];
    double seconds = 0;
    long long sum = 0;
    snprintf(command, sizeof command, "%s/bench/dlib '%s' 2>/dev/null", build ? build : "build", path);
    FILE *pipe = popen(command, "r");
    int got = pipe ? fscanf(pipe, "%lf %lld", &seconds, &sum) : 0;
    if (pipe)
        pclose(pipe);
    if (got != 2)
        return 0;
    if (sum != expected) {
        fprintf(stderr, "dlib's labels add up to %lld, ours to %lld\n", sum, (long long)expected);
        exit(1);
    }
    return seconds;
}

int main(void)
{
    double ours[REPETITIONS], theirs[REPETITIONS], ratio[REPETITIONS], sums[REPETITIONS], digest = 0;
    char path[] = "/tmp/cleave-chain-XXXXXX";
    int has_peer = 1;
    read_letters();
    for (uint64_t f = 0; f < N_FEATURES; f++)
        for (uint64_t k = 0; k < N_LABELS; k++)
            weights[f][k] = rng_normal(1, RNG_STREAM(RNG_TEST, 4), f * N_LABELS + k);
    for (uint64_t k = 0; k < N_LABELS * N_LABELS; k++)
        table[k] = rng_normal(1, RNG_STREAM(RNG_TEST, 5), k);
    int file = mkstemp(path);
    if (file >= 0)
        close(file);
    write_for_peer(path);
    for (int r = 0; r < REPETITIONS; r++) {
        double start = thread_seconds();
        int64_t sum = decode_all();
        ours[r] = thread_seconds() - start;
        start = thread_seconds();
        digest += sum_all();
        sums[r] = thread_seconds() - start;
        theirs[r] = has_peer ? peer_seconds(path, sum) : 0;
        has_peer = theirs[r] > 0;
        ratio[r] = has_peer ? ours[r] / theirs[r] : 0;
    }
    remove(path);
    double middle = median(ratio, REPETITIONS);
    if (has_peer)
        printf(
            "viterbi, scoring included: %.3f (%.3f..%.3f) ours %.0f letters/s, dlib %.0f; %d letters in %d words, the "
            "same labels, %d rounds\n",
            middle, ratio[0], ratio[REPETITIONS - 1], n_letters / median(ours, REPETITIONS),
            n_letters / median(theirs, REPETITIONS), n_letters, n_words, REPETITIONS);
    else
        printf(
            "viterbi, scoring included: ours %.0f letters/s, %d letters in %d words; dlib skipped: bench/dlib is not "
            "built (libdlib-dev)\n",
            n_letters / median(ours, REPETITIONS), n_letters, n_words);
    middle = median(sums, REPETITIONS);
    printf("forward-backward, scoring included: ours %.0f letters/s (%.0f..%.0f), %d rounds (digest %.3f)\n",
           n_letters / middle, n_letters / sums[REPETITIONS - 1], n_letters / sums[0], REPETITIONS,
           digest / REPETITIONS);
    return 0;
}
