/* --resume and --checkpoint-every: m.cleave.checkpoint beside m.cleave while it is learned. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/common/console.h"
#include "cli/train/train.h"

bool train_output_is_file(const struct train_options *options)
{
    struct stat info;
    return strcmp(options->output, "-") != 0 && (stat(options->output, &info) != 0 || S_ISREG(info.st_mode));
}

enum clv_status train_checkpoints_path(char **path, const struct train_options *options, struct clv_error *err)
{
    const char *option = options->requeue                  ? "requeue"
                         : options->resume                 ? "resume"
                         : options->checkpoint_every_given ? "checkpoint-every"
                                                           : NULL;
    const struct clv_learner *learner = options->learner.learner;
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
    const char *typed = options->common.canonical.bytes ? options->common.canonical.bytes : "", *command = NULL;
    size_t n = sizeof "cleave train" - 1;
    enum path_kind kind;
    if (path_look(&kind, options->checkpoint, &ignored) != CLV_OK || kind != PATH_ABSENT)
        return true;
    if (train_output_is_file(options) && clv_model_read(&model, options->output, &ignored) == CLV_OK)
        command = clv_record_get(&model.record, "command");
    bool is_own = command && strncmp(command, "cleave train", n) == 0 && strcmp(command + n, typed) == 0;
    clv_model_release(&model);
    return is_own;
}

enum clv_status train_checkpoints_use(struct clv_training *training, struct train_checkpoints *self,
                                      const struct train_options *options, const struct train_data *data,
                                      struct clv_error *err)
{
    enum path_kind kind;
    if (!options->checkpoint)
        return CLV_OK;
    enum clv_status status = path_look(&kind, options->checkpoint, err);
    if (status != CLV_OK)
        return status;
    if (kind != PATH_ABSENT && options->resume)
        console_note("going on from %s", options->checkpoint);
    else if (options->resume)
        console_note("%s: is not there, so learning begins at the beginning", options->checkpoint);
    const char *canonical = options->common.canonical.bytes;
    const char *const facts[][2] = {
        {"version", clv_version()}, {"data_digest", data->digest}, {"command", canonical ? canonical + 1 : ""}};
    memcpy(self->facts, facts, sizeof facts);
    self->settings = (struct clv_checkpoints){options->checkpoint, options->checkpoint_every_s, options->resume,
                                              (const char *const(*)[2])self->facts, sizeof facts / sizeof *facts};
    training->checkpoints = &self->settings;
    return CLV_OK;
}

enum clv_status train_checkpoints_parameter(double *value, bool *found, const char *name,
                                            const struct train_options *options, struct clv_error *err)
{
    struct clv_tensors *tensors;
    char key[80];
    *found = false;
    enum path_kind kind;
    if (!options->resume || !options->checkpoint)
        return CLV_OK;
    enum clv_status status = path_look(&kind, options->checkpoint, err);
    if (status != CLV_OK || kind == PATH_ABSENT)
        return status;
    status = clv_tensors_open(&tensors, options->checkpoint, err);
    if (status != CLV_OK)
        return status;
    snprintf(key, sizeof key, "parameter.%s", name);
    const char *text = clv_tensors_metadata(tensors, key);
    *found = text && parse_double(text, value);
    clv_tensors_close(tensors);
    return *found ? CLV_OK : fail(err, CLV_ERR_DATA, "%s: has no %s", options->checkpoint, name);
}

enum clv_status train_checkpoints_remove(const struct train_options *options, struct clv_error *err)
{
    if (options->checkpoint && unlink(options->checkpoint) != 0 && errno != ENOENT)
        return fail_errno(err, CLV_ERR_OS, "%s: cannot remove", options->checkpoint);
    return CLV_OK;
}
