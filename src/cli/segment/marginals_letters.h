/* cleave marginals --letters. */
#ifndef CLI_MARGINALS_LETTERS_H
#define CLI_MARGINALS_LETTERS_H

#include "cli/common/letters_option.h"

/* Every label's exact marginal under exp f of the chosen words' letters: a table, or tensors where the output's name
 * ends in .safetensors. output NULL or "-": a table on standard output. */
enum clv_status marginals_letters(const struct letters_task *task, const char *output, struct clv_error *err) CLV_CHECK;

#endif
