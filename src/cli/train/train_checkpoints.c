/* --resume and --checkpoint-every: m.cleave.checkpoint beside m.cleave while it is learned. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/common/console.h"
#include "cli/common/outputs.h"
#include "cli/train/train.h"

/* Standard output, /dev/null and friends are no place for a file beside them. */
static bool is_file_to_be(const char *path)
{
    struct stat info;
    return strcmp(path, "-") != 0 && (stat(path, &info) != 0 || S_ISREG(info.st_mode));
}

enum clv_status train_checkpoints_check(struct train *train, struct clv_error *err)
{
    const char *option = train->resume ? "resume" : train->checkpoint_every_given ? "checkpoint-every" : NULL;
    bool keeps = clv_learner_keeps_checkpoints(train->learner.learner), beside = is_file_to_be(train->output);
    if (option && !keeps)
        return fail(err, CLV_ERR_USAGE, "--%s: %s keeps no checkpoints", option, train->learner.learner->name);
    if (option && !beside)
        return fail(err, CLV_ERR_USAGE, "--%s: %s is no file that a checkpoint could lie beside", option,
                    train->output);
    if (!keeps || !beside)
        return CLV_OK;
    size_t room = strlen(train->output) + sizeof ".checkpoint";
    train->checkpoint = array_alloc(room, 1);
    if (!train->checkpoint)
        return fail_memory(err);
    snprintf(train->checkpoint, room, "%s.checkpoint", train->output);
    return output_check_creatable(train->checkpoint, err);
}

void train_checkpoints_use(struct train *train, const struct train_data *data, struct clv_training *training)
{
    if (!train->checkpoint)
        return;
    bool there = path_exists(train->checkpoint);
    if (there && train->resume)
        console_note("going on from %s", train->checkpoint);
    else if (there)
        console_note("%s: is left alone until the first checkpoint of this run; --resume would go on from it",
                     train->checkpoint);
    else if (train->resume)
        console_note("%s: is not there, so learning begins at the beginning", train->checkpoint);
    const char *canonical = train->common.canonical.bytes;
    const char *const facts[][2] = {
        {"version", clv_version()}, {"data_digest", data->digest}, {"command", canonical ? canonical + 1 : ""}};
    memcpy(train->facts, facts, sizeof facts);
    train->checkpoints = (struct clv_checkpoints){train->checkpoint, train->checkpoint_every_s, train->resume,
                                                  (const char *const(*)[2])train->facts, sizeof facts / sizeof *facts};
    training->checkpoints = &train->checkpoints;
}

enum clv_status train_checkpoints_lambda(double *lambda, bool *found, const struct train *train, struct clv_error *err)
{
    struct clv_tensors *tensors;
    *found = false;
    if (!train->resume || !train->checkpoint || !path_exists(train->checkpoint))
        return CLV_OK;
    enum clv_status status = clv_tensors_open(&tensors, train->checkpoint, err);
    if (status != CLV_OK)
        return status;
    const char *text = clv_tensors_metadata(tensors, "parameter.lambda");
    *found = text && parse_double(text, lambda);
    clv_tensors_close(tensors);
    return *found ? CLV_OK : fail(err, CLV_ERR_DATA, "%s: has no lambda", train->checkpoint);
}

enum clv_status train_checkpoints_remove(const struct train *train, struct clv_error *err)
{
    if (train->checkpoint && path_exists(train->checkpoint) && unlink(train->checkpoint) != 0)
        return fail_errno(err, CLV_ERR_OS, "%s: cannot remove", train->checkpoint);
    return CLV_OK;
}
