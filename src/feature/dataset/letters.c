/* Makes a chain problem from each handwritten word, with one node per letter. Start at letters_dataset. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "feature/dataset/dataset.h"

enum { BIAS = LETTER_PIXELS, FIRST, LAST };

/* The problem of a word, and its arrays, which hold the longest possible word. */
struct word {
    struct clv_problem problem;
    int64_t row[LETTER_MAX_LENGTH + 1];
    int32_t index[LETTER_MAX_LENGTH * LETTER_FEATURES];
    float value[LETTER_MAX_LENGTH * LETTER_FEATURES];
    int32_t edges[LETTER_MAX_LENGTH][2];
    float edge_features[LETTER_MAX_LENGTH];
    int32_t label[LETTER_MAX_LENGTH];
    float theta[LETTER_MAX_LENGTH * LETTER_LABELS];
};

static void word_fill(struct word *word, const struct letters *letters, size_t at)
{
    size_t first = letters->first[at], n = letters->first[at + 1] - first;
    int64_t k = 0;
    memset(word->theta, 0, n * LETTER_LABELS * sizeof *word->theta);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *pixels = letters->pixels[first + i];
        for (int32_t p = 0; p < LETTER_PIXELS; p++)
            if (pixels[p / 8] >> p % 8 & 1)
                word->index[k++] = p;
        word->index[k++] = BIAS;
        if (i == 0)
            word->index[k++] = FIRST;
        if (i + 1 == n)
            word->index[k++] = LAST;
        word->row[i + 1] = k;
        word->edges[i][0] = (int32_t)i;
        word->edges[i][1] = (int32_t)i + 1;
        word->edge_features[i] = 1;
        word->label[i] = letters->label[first + i];
        word->theta[i * LETTER_LABELS + letters->label[first + i]] = 1;
    }
    for (int64_t j = 0; j < k; j++)
        word->value[j] = 1;
    word->problem = (struct clv_problem){
        .n_nodes = (int32_t)n,
        .n_edges = (int32_t)n - 1,
        .n_features = LETTER_FEATURES,
        .n_edge_features = 1,
        .row = word->row,
        .index = word->index,
        .value = word->value,
        .edges = (const int32_t(*)[2])word->edges,
        .edge_features = word->edge_features,
        .label = word->label,
        .theta = word->theta,
    };
}

/* Names the labels "a" to "z", with the default colours. */
static enum clv_status name_labels(struct clv_labels *labels, struct clv_error *err)
{
    MUST(labels_init(labels, LETTER_LABELS, err));
    for (int label = 0; label < LETTER_LABELS; label++)
        labels->names[label][0] = (char)('a' + label);
    return CLV_OK;
}

/* Refuses folds without words. */
static enum clv_status check_folds(const struct letters *letters, const uint8_t *folds, struct clv_error *err)
{
    uint8_t has_words[LETTER_MAX_FOLDS] = {0};
    for (size_t word = 0; word < letters->n_words; word++)
        has_words[letters->fold[word]] = 1;
    for (int fold = 0; folds && fold < LETTER_MAX_FOLDS; fold++)
        if (folds[fold] && !has_words[fold])
            return fail(err, CLV_ERR_USAGE, "no words in fold %d", fold);
    return letters->n_words ? CLV_OK : fail(err, CLV_ERR_USAGE, "no words");
}

enum clv_status letters_dataset(struct clv_dataset **dataset, const struct letters *letters, const uint8_t *folds,
                                struct clv_error *err)
{
    OWNED(dataset_drop) struct clv_dataset *result = NULL;
    MUST(check_folds(letters, folds, err));
    MUST(clv_dataset_new(&result, LETTER_LABELS, err));
    result->pairwise = CLV_PAIRWISE_FULL;
    result->counts_errors = true;
    MUST(name_labels(&result->labels, err));
    OWNED_ARRAY struct word *buffer = array_zalloc(1, sizeof *buffer);
    NEED(buffer);
    for (size_t word = 0; word < letters->n_words; word++) {
        char name[32];
        if (folds && !folds[letters->fold[word]])
            continue;
        snprintf(name, sizeof name, "word %zu", word + 1);
        word_fill(buffer, letters, word);
        MUST(clv_dataset_add(result, &buffer->problem, name, err));
    }
    *dataset = TAKE(result);
    return CLV_OK;
}
