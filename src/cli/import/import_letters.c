/* Imports the OCR letters of Taskar as a feature file: each word is a chain, each letter a node. Start at
 * import_letters. */
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "cli/import/import.h"
#include "feature/dataset/dataset.h"

/* Parses the number of a fold at *cursor and advances *cursor; returns -1 if there is none or it is out of range. */
static int32_t take_fold(const char **cursor)
{
    int32_t fold = 0;
    const char *digit = *cursor;
    for (; is_digit(*digit) && fold < LETTER_MAX_FOLDS; digit++)
        fold = 10 * fold + (*digit - '0');
    if (digit == *cursor || fold >= LETTER_MAX_FOLDS)
        return -1;
    *cursor = digit;
    return fold;
}

enum clv_status import_take_folds(void *member, const struct clv_option *option, const char *typed,
                                  struct clv_error *err)
{
    struct import_options *options = member;
    const char *cursor = typed;
    bool good = true;
    memset(options->folds, 0, sizeof options->folds);
    options->has_folds = true;
    do {
        cursor += cursor != typed; /* the comma */
        int32_t first = take_fold(&cursor), last = first;
        if (first >= 0 && *cursor == '-') {
            cursor++;
            last = take_fold(&cursor);
        }
        good = first >= 0 && last >= first && (*cursor == ',' || !*cursor);
        for (int32_t fold = first; good && fold <= last; fold++)
            options->folds[fold] = 1;
    } while (good && *cursor);
    return good ? CLV_OK
                : fail(err, CLV_ERR_USAGE, "--%s: \"%s\" is not a list of folds such as 0 or 1-9 or 0,2,5-7",
                       option->name, typed);
}

enum clv_status import_letters(const struct import_options *options, struct clv_error *err)
{
    OWNED(letters_release) struct letters letters = {0};
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    MUST(letters_read(&letters, options->annotations, err));
    enum clv_status status = letters_dataset(&dataset, &letters, options->has_folds ? options->folds : NULL, err);
    if (status != CLV_OK)
        return fail_within(err, status, options->annotations);
    MUST(clv_dataset_write(options->output, dataset, err));
    console_note("features of %zu words in %s", clv_dataset_size(dataset), options->output);
    return CLV_OK;
}
