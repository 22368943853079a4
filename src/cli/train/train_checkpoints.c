/* --resume and --checkpoint-every: m.cleave.checkpoint beside m.cleave while it is learned. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/train/train_options.h"

bool train_output_is_file(const struct train_options *options)
{
    struct stat info;
    return strcmp(options->output, "-") != 0 && (stat(options->output, &info) != 0 || S_ISREG(info.st_mode));
}

enum clv_status train_checkpoints_path(char **path, const struct train_options *options, struct clv_error *err)
{
    const char *option = options->requeue                                      ? "requeue"
                         : options->task.resume                                ? "resume"
                         : options_given(&options->common, "checkpoint-every") ? "checkpoint-every"
                                                                               : NULL;
    const struct clv_learner *learner = options->task.learner;
    bool keeps = clv_learner_keeps_checkpoints(learner), beside = train_output_is_file(options);
    if (option && !keeps)
        return fail(err, CLV_ERR_USAGE, "--%s: %s keeps no checkpoints", option, learner->name);
    if (option && !beside)
        return fail(err, CLV_ERR_USAGE, "--%s: %s is no file that a checkpoint could lie beside", option,
                    options->output);
    *path = NULL;
    if (!keeps || !beside)
        return CLV_OK;
    size_t size = strlen(options->output) + sizeof ".checkpoint";
    char *beside_output = array_alloc(size, 1);
    if (!beside_output)
        return fail_memory(err);
    snprintf(beside_output, size, "%s.checkpoint", options->output);
    *path = beside_output;
    return CLV_OK;
}

bool train_checkpoints_model_is_own(const struct train_options *options)
{
    struct clv_model model = {0};
    struct clv_error ignored;
    const char *command = NULL;
    enum path_kind kind;
    if (path_look(&kind, options->task.checkpoint, &ignored) != CLV_OK || kind != PATH_ABSENT)
        return true;
    if (train_output_is_file(options) && clv_model_read(&model, options->output, &ignored) == CLV_OK)
        command = clv_record_get(&model.record, "command");
    bool is_own = command && strcmp(command, options->task.command) == 0;
    clv_model_release(&model);
    return is_own;
}

enum clv_status train_checkpoints_remove(const struct train_options *options, struct clv_error *err)
{
    if (options->task.checkpoint && unlink(options->task.checkpoint) != 0 && errno != ENOENT)
        return fail_errno(err, CLV_ERR_OS, "%s: cannot remove", options->task.checkpoint);
    return CLV_OK;
}
