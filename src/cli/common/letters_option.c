#include "cli/common/letters_option.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A fold's number at *cursor, which moves behind it; -1 if there is none or it is out of range. */
static int32_t take_fold(const char **cursor)
{
    int32_t fold = 0;
    const char *digit = *cursor;
    for (; *digit >= '0' && *digit <= '9' && fold < CLV_LETTER_MAX_FOLDS; digit++)
        fold = 10 * fold + (*digit - '0');
    if (digit == *cursor || fold >= CLV_LETTER_MAX_FOLDS)
        return -1;
    *cursor = digit;
    return fold;
}

error_t option_folds(struct letters_option *letters, const char *arg, struct common_options *common)
{
    uint8_t wanted[CLV_LETTER_MAX_FOLDS] = {0};
    const char *cursor = arg;
    int good = 1;
    do {
        cursor += cursor != arg; /* the comma */
        int32_t first = take_fold(&cursor), last = first;
        if (first >= 0 && *cursor == '-') {
            cursor++;
            last = take_fold(&cursor);
        }
        good = first >= 0 && last >= first && (*cursor == ',' || !*cursor);
        for (int32_t fold = first; good && fold <= last; fold++)
            wanted[fold] = 1;
    } while (good && *cursor);
    if (!good)
        return option_error(common, "--folds: \"%s\" is no list of folds such as 0 or 1-9 or 0,2,5-7", arg);
    letters->n_folds = 0;
    for (int32_t fold = 0; fold < CLV_LETTER_MAX_FOLDS; fold++)
        if (wanted[fold])
            letters->folds[letters->n_folds++] = fold;
    return 0;
}

enum clv_status letters_open(struct clv_dataset **dataset, const struct letters_option *option, struct clv_error *err)
{
    struct clv_letters letters = {0};
    enum clv_status status = clv_letters_read(&letters, option->path, err);
    if (status != CLV_OK)
        return status;
    status = clv_letters_dataset(dataset, &letters, option->n_folds ? option->folds : NULL, option->n_folds, err);
    if (status != CLV_OK)
        status = fail_within(err, status, option->path);
    clv_letters_release(&letters);
    return status;
}

enum clv_status letters_task_open(struct clv_model *model, struct clv_dataset **dataset,
                                  const struct letters_task *task, struct clv_error *err)
{
    enum clv_status status = clv_model_read(model, task->model_path, err);
    if (status == CLV_OK && !model->is_letters)
        status = fail(err, CLV_ERR_USAGE, "%s: learned from images, not from letters", task->model_path);
    return status == CLV_OK ? letters_open(dataset, &task->letters, err) : status;
}

size_t count_nodes(const struct clv_dataset *dataset)
{
    size_t n = 0;
    for (size_t i = 0; i < clv_dataset_size(dataset); i++)
        n += (size_t)clv_dataset_problem(dataset, i).n_nodes;
    return n;
}
