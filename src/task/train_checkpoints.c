/* The state of a training beside its model: what a resumed one must share with it. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "task/train.h"

enum clv_status train_checkpoints_use(struct clv_training *training, struct train_checkpoints *self,
                                      const struct clv_train_options *options, const struct train_data *data,
                                      struct clv_error *err)
{
    enum path_kind kind;
    enum clv_status status = path_look(&kind, options->checkpoint, err);
    if (status != CLV_OK)
        return status;
    if (kind != PATH_ABSENT && options->resume)
        report_message(options->progress, CLV_NOTE, "going on from %s", options->checkpoint);
    else if (options->resume)
        report_message(options->progress, CLV_NOTE, "%s: is not there, so learning begins at the beginning",
                       options->checkpoint);
    const char *const facts[][2] = {{"version", clv_version()},
                                    {"data_digest", data->digest},
                                    {"command", options->command ? options->command : ""}};
    memcpy(self->facts, facts, sizeof facts);
    self->settings = (struct clv_checkpoints){options->checkpoint, options->checkpoint_every_s, options->resume,
                                              (const char *const(*)[2])self->facts, sizeof facts / sizeof *facts};
    training->checkpoints = &self->settings;
    return CLV_OK;
}

enum clv_status train_checkpoints_parameter(double *value, bool *found, const char *name,
                                            const struct clv_train_options *options, struct clv_error *err)
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
