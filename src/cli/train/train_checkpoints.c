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

void train_checkpoints_release(struct train_checkpoints *self)
{
    array_free(self->path);
    *self = (struct train_checkpoints){0};
}

enum clv_status train_checkpoints_check(struct train_checkpoints *self, const struct train_options *options,
                                        struct clv_error *err)
{
    const char *option = options->resume ? "resume" : options->checkpoint_every_given ? "checkpoint-every" : NULL;
    const struct clv_learner *learner = options->learner.learner;
    bool keeps = clv_learner_keeps_checkpoints(learner), beside = is_file_to_be(options->output);
    if (option && !keeps)
        return fail(err, CLV_ERR_USAGE, "--%s: %s keeps no checkpoints", option, learner->name);
    if (option && !beside)
        return fail(err, CLV_ERR_USAGE, "--%s: %s is no file that a checkpoint could lie beside", option,
                    options->output);
    if (!keeps || !beside)
        return CLV_OK;
    size_t size = strlen(options->output) + sizeof ".checkpoint";
    self->path = array_alloc(size, 1);
    if (!self->path)
        return fail_memory(err);
    snprintf(self->path, size, "%s.checkpoint", options->output);
    return output_check_creatable(self->path, err);
}

void train_checkpoints_use(struct clv_training *training, struct train_checkpoints *self,
                           const struct train_options *options, const struct train_data *data)
{
    if (!self->path)
        return;
    bool there = path_exists(self->path);
    if (there && options->resume)
        console_note("going on from %s", self->path);
    else if (there)
        console_note("%s: is left alone until the first checkpoint of this run; --resume would go on from it",
                     self->path);
    else if (options->resume)
        console_note("%s: is not there, so learning begins at the beginning", self->path);
    const char *canonical = options->common.canonical.bytes;
    const char *const facts[][2] = {
        {"version", clv_version()}, {"data_digest", data->digest}, {"command", canonical ? canonical + 1 : ""}};
    memcpy(self->facts, facts, sizeof facts);
    self->settings = (struct clv_checkpoints){self->path, options->checkpoint_every_s, options->resume,
                                              (const char *const(*)[2])self->facts, sizeof facts / sizeof *facts};
    training->checkpoints = &self->settings;
}

enum clv_status train_checkpoints_lambda(double *lambda, bool *found, const struct train_checkpoints *self,
                                         struct clv_error *err)
{
    struct clv_tensors *tensors;
    *found = false;
    if (!self->settings.resume || !self->path || !path_exists(self->path))
        return CLV_OK;
    enum clv_status status = clv_tensors_open(&tensors, self->path, err);
    if (status != CLV_OK)
        return status;
    const char *text = clv_tensors_metadata(tensors, "parameter.lambda");
    *found = text && parse_double(text, lambda);
    clv_tensors_close(tensors);
    return *found ? CLV_OK : fail(err, CLV_ERR_DATA, "%s: has no lambda", self->path);
}

enum clv_status train_checkpoints_remove(const struct train_checkpoints *self, struct clv_error *err)
{
    if (self->path && path_exists(self->path) && unlink(self->path) != 0)
        return fail_errno(err, CLV_ERR_OS, "%s: cannot remove", self->path);
    return CLV_OK;
}
