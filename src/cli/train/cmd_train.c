/* `cleave train`: learns a model from images with masks. train_options.c parses and checks the options, src/train
 * learns. Start at cmd_train. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "cli/train/train_options.h"
#include "cluster/comm.h"

static enum clv_status write_model(const struct clv_model *model, const struct train_options *options,
                                   struct clv_error *err)
{
    const char *value = clv_record_get(&model->record, "interrupted");
    const char *output = strcmp(options->output, "-") == 0 ? "standard output" : options->output;
    bool interrupted = value && strcmp(value, "yes") == 0,
         has_checkpoint = options->checkpoint && path_exists(options->checkpoint);
    if (interrupted && signals_exit_code() == SIGNALS_REQUEUE) {
        console_note(has_checkpoint ? "stopped; run the same command with --resume to continue from %s"
                                    : "stopped before there was a %s",
                     options->checkpoint);
        return CLV_OK;
    }
    bool is_leader = comm_rank() == 0;
    if (is_leader)
        MUST(clv_model_write(options->output, model, err));
    if (!interrupted && is_leader)
        MUST(train_checkpoints_remove(options, err));
    if (!interrupted)
        signals_complete();
    if (interrupted)
        console_note("interrupted; the model so far is in %s%s", output,
                     has_checkpoint ? "; run the same command with --resume to continue from its checkpoint" : "");
    else if (*options->task.progress->stop)
        console_note("interrupted; the model in %s is complete", output);
    return CLV_OK;
}

/* Fails before a long training if the disk has no space for the model: allocates a temporary file of about its size. */
static enum clv_status probe_space(const struct train_options *options, struct clv_error *err)
{
    OWNED(file_abort) struct file_writer probe = {0};
    const off_t bytes = (1 << 18) + (off_t)sizeof(float) * 128 * options->task.recipe.n_words;
    struct stat info;
    bool is_device = stat(options->output, &info) == 0 && !S_ISREG(info.st_mode);
    if (strcmp(options->output, "-") == 0 || is_device || comm_rank() > 0)
        return CLV_OK;
    MUST(file_create(&probe, options->output, err));
    errno = posix_fallocate(fileno(probe.stream), 0, bytes);
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
        return fail_errno(err, CLV_ERR_IO, "%s: no space for the model, about %lld KB", options->output,
                          (long long)bytes / 1000);
    return CLV_OK;
}

enum clv_status cmd_train(int argc, char **argv, struct clv_error *err)
{
    OWNED(train_options_release) struct train_options options = {0};
    OWNED(clv_model_release) struct clv_model model = {0};
    const enum clv_status status = train_options_parse(&options, argc, argv, err);
    signals_share(); /* on failure, too, since it synchronises all processes and only rank 0 may have failed */
    MUST(status);
    if (options.requeue)
        signals_requeue();
    if (options.is_finished) {
        console_note("%s: this training is finished, nothing is left to do; --overwrite repeats it", options.output);
        return CLV_OK;
    }
    const struct clv_progress progress = console_progress(strcmp(options.output, "-") == 0 ? stderr : stdout);
    options.task.progress = &progress;
    MUST(probe_space(&options, err));
    MUST(clv_train_set(&model, &options.task, err));
    return write_model(&model, &options, err);
}
