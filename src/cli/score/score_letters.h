#ifndef CLI_SCORE_LETTERS_H
#define CLI_SCORE_LETTERS_H

#include "cli/common/letters_option.h"

/* Decodes the words with the model, prints the shares of wrong letters, over all letters and as the mean over words. */
enum clv_status score_letters(const struct letters_task *task, struct clv_error *err) CLV_CHECK;

#endif
