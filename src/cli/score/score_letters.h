#ifndef CLI_SCORE_LETTERS_H
#define CLI_SCORE_LETTERS_H

#include <stdbool.h>

#include "cli/common/letters_option.h"

struct letters_task {
    struct letters_option letters;
    const char *model_path;
    int n_threads;
    bool json;
};

/* Decodes the words with the model, prints the shares of wrong letters, over all letters and as the mean over words. */
enum clv_status score_letters(const struct letters_task *task, struct clv_error *err) CLV_CHECK;

#endif
