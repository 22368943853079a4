/* cleave train: from images with masks to a model. */
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
    const char *record = clv_record_get(&model->record, "interrupted");
    bool interrupted = record && strcmp(record, "yes") == 0,
         goes_on = options->checkpoint && path_exists(options->checkpoint);
    if (interrupted && signals_exit_code() == SIGNALS_REQUEUE) {
        console_note(goes_on ? "stopped; run the same command with --resume to continue from %s"
                             : "stopped before there was a %s",
                     options->checkpoint);
        return CLV_OK;
    }
    bool is_leader = comm_rank() == 0;
    enum clv_status status = is_leader ? clv_model_write(options->output, model, err) : CLV_OK;
    TRY_IF(!interrupted && is_leader, train_checkpoints_remove(options, err));
    if (status == CLV_OK && !interrupted)
        signals_complete();
    if (status == CLV_OK && interrupted)
        console_note("interrupted; the model so far is in %s%s", options->output,
                     goes_on ? "; run the same command with --resume to continue from its checkpoint" : "");
    else if (status == CLV_OK && *options->task.progress->stop)
        console_note("interrupted; the model in %s is complete", options->output);
    return status;
}

/* Refuses to learn for hours what the disk then does not take: a file of about the model's size, which does not stay.
 * */
static enum clv_status probe_space(const struct train_options *options, struct clv_error *err)
{
    struct file_writer probe = {0};
    const off_t bytes = (1 << 18) + (off_t)sizeof(float) * 128 * options->task.recipe.n_words;
    struct stat info;
    bool is_device = stat(options->output, &info) == 0 && !S_ISREG(info.st_mode);
    if (strcmp(options->output, "-") == 0 || is_device || comm_rank() > 0)
        return CLV_OK;
    enum clv_status status = file_create(&probe, options->output, err);
    errno = status == CLV_OK ? posix_fallocate(fileno(probe.stream), 0, bytes) : 0;
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
        status = fail_errno(err, CLV_ERR_IO, "%s: no space for the model, about %lld KB", options->output,
                            (long long)bytes / 1000);
    file_abort(&probe);
    return status;
}

enum clv_status cmd_train(int argc, char **argv, struct clv_error *err)
{
    struct train_options options;
    struct clv_model model = {0};
    enum clv_status status = train_options_parse(&options, argc, argv, err);
    signals_share();
    if (status == CLV_OK && options.requeue)
        signals_requeue();
    if (status == CLV_OK && options.is_finished) {
        console_note("%s: this training is finished, nothing is left to do; --overwrite repeats it", options.output);
    } else if (status == CLV_OK) {
        const struct clv_progress progress = console_progress(strcmp(options.output, "-") == 0 ? stderr : stdout);
        options.task.progress = &progress;
        status = probe_space(&options, err);
        TRY(clv_train_set(&model, &options.task, err));
        TRY(write_model(&model, &options, err));
    }
    clv_model_release(&model);
    train_options_release(&options);
    return status;
}
