/* Words as chain problems. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "feature/dataset/dataset.h"

enum { BIAS = CLV_LETTER_PIXELS, FIRST, LAST };

/* A word's problem, with arrays that suit the longest word. */
struct word {
    struct clv_problem problem;
    int64_t *row;
    int32_t *index;
    float *value;
    int32_t (*edges)[2];
    float *edge_features;
    int32_t *label;
    float *theta;
};

static void word_release(struct word *word)
{
    array_free(word->row);
    array_free(word->index);
    array_free(word->value);
    array_free(word->edges);
    array_free(word->edge_features);
    array_free(word->label);
    array_free(word->theta);
}

static enum clv_status word_init(struct word *word, size_t n_letters, struct clv_error *err)
{
    *word = (struct word){0};
    word->row = array_zalloc(n_letters + 1, sizeof *word->row);
    word->index = array_alloc(n_letters, CLV_LETTER_FEATURES * sizeof *word->index);
    word->value = array_alloc(n_letters, CLV_LETTER_FEATURES * sizeof *word->value);
    word->edges = array_alloc(n_letters, sizeof *word->edges);
    word->edge_features = array_alloc(n_letters, sizeof *word->edge_features);
    word->label = array_alloc(n_letters, sizeof *word->label);
    word->theta = array_alloc(n_letters, CLV_LETTER_LABELS * sizeof *word->theta);
    if (!word->row || !word->index || !word->value || !word->edges || !word->edge_features || !word->label ||
        !word->theta) {
        word_release(word);
        return fail_memory(err);
    }
    for (size_t k = 0; k < n_letters * CLV_LETTER_FEATURES; k++)
        word->value[k] = 1;
    for (size_t e = 0; e < n_letters; e++) {
        word->edges[e][0] = (int32_t)e;
        word->edges[e][1] = (int32_t)e + 1;
        word->edge_features[e] = 1;
    }
    word->problem = (struct clv_problem){
        .n_features = CLV_LETTER_FEATURES,
        .n_edge_features = 1,
        .row = word->row,
        .index = word->index,
        .value = word->value,
        .edges = (const int32_t(*)[2])word->edges,
        .edge_features = word->edge_features,
        .label = word->label,
        .theta = word->theta,
    };
    return CLV_OK;
}

static void word_fill(struct word *word, const struct clv_letters *letters, size_t at)
{
    size_t first = letters->first[at], n = letters->first[at + 1] - first;
    int64_t k = 0;
    memset(word->theta, 0, n * CLV_LETTER_LABELS * sizeof *word->theta);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *pixels = letters->pixels[first + i];
        for (int32_t p = 0; p < CLV_LETTER_PIXELS; p++)
            if (pixels[p / 8] >> p % 8 & 1)
                word->index[k++] = p;
        word->index[k++] = BIAS;
        if (i == 0)
            word->index[k++] = FIRST;
        if (i + 1 == n)
            word->index[k++] = LAST;
        word->row[i + 1] = k;
        word->label[i] = letters->label[first + i];
        word->theta[i * CLV_LETTER_LABELS + letters->label[first + i]] = 1;
    }
    word->problem.n_nodes = (int32_t)n;
    word->problem.n_edges = (int32_t)n - 1;
}

/* "a" to "z", with the default colours. */
static enum clv_status name_labels(struct clv_labels *labels, struct clv_error *err)
{
    *labels = (struct clv_labels){.n_labels = CLV_LETTER_LABELS};
    labels->names = array_zalloc(CLV_LETTER_LABELS, sizeof *labels->names);
    labels->palette = array_zalloc(256, sizeof *labels->palette);
    if (!labels->names || !labels->palette) {
        clv_labels_release(labels);
        return fail_memory(err);
    }
    for (int label = 0; label < CLV_LETTER_LABELS; label++)
        labels->names[label][0] = (char)('a' + label);
    clv_default_palette(labels->palette);
    return CLV_OK;
}

/* wanted[CLV_LETTER_MAX_FOLDS]: folds to take. */
static enum clv_status want_folds(uint8_t *wanted, const struct clv_letters *letters, const int32_t *folds,
                                  size_t n_folds, struct clv_error *err)
{
    uint8_t there[CLV_LETTER_MAX_FOLDS] = {0};
    for (size_t word = 0; word < letters->n_words; word++)
        there[letters->fold[word]] = 1;
    memcpy(wanted, there, sizeof there);
    if (!folds)
        return CLV_OK;
    memset(wanted, 0, sizeof there);
    for (size_t i = 0; i < n_folds; i++) {
        if (folds[i] < 0 || folds[i] >= CLV_LETTER_MAX_FOLDS || !there[folds[i]])
            return fail(err, CLV_ERR_USAGE, "no words in fold %d", folds[i]);
        wanted[folds[i]] = 1;
    }
    return CLV_OK;
}

enum clv_status clv_letters_dataset(struct clv_dataset **dataset, const struct clv_letters *letters,
                                    const int32_t *folds, size_t n_folds, struct clv_error *err)
{
    uint8_t wanted[CLV_LETTER_MAX_FOLDS];
    struct clv_dataset *made = NULL;
    struct word buffer;
    size_t longest = 0;
    for (size_t word = 0; word < letters->n_words; word++) {
        size_t n = letters->first[word + 1] - letters->first[word];
        longest = n > longest ? n : longest;
    }
    enum clv_status status = want_folds(wanted, letters, folds, n_folds, err);
    if (status == CLV_OK && !longest)
        status = fail(err, CLV_ERR_USAGE, "no words");
    if (status == CLV_OK)
        status = word_init(&buffer, longest, err);
    if (status != CLV_OK)
        return status;
    status = clv_dataset_new(&made, CLV_LETTER_LABELS, err);
    if (status == CLV_OK)
        status = name_labels(&made->labels, err);
    if (status == CLV_OK) {
        made->pairwise = CLV_PAIRWISE_FULL;
        made->counts_errors = true;
    }
    for (size_t word = 0; status == CLV_OK && word < letters->n_words; word++) {
        char name[32];
        if (!wanted[letters->fold[word]])
            continue;
        snprintf(name, sizeof name, "word %zu", word + 1);
        word_fill(&buffer, letters, word);
        status = clv_dataset_add(made, &buffer.problem, name, err);
    }
    word_release(&buffer);
    if (status == CLV_OK)
        *dataset = made;
    else
        clv_dataset_free(made);
    return status;
}

void clv_letters_feature_name(char *name, size_t size, int32_t index)
{
    static const char *const others[] = {"bias", "first of its word", "last of its word"};
    if (index < CLV_LETTER_PIXELS)
        snprintf(name, size, "pixel %d of row %d", index % CLV_LETTER_WIDTH, index / CLV_LETTER_WIDTH);
    else
        snprintf(name, size, "%s", others[index - CLV_LETTER_PIXELS]);
}
