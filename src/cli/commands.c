#include "cli/common/command.h"

#include <stddef.h>
#include <string.h>

const struct command commands[] = {
    {"label", "open a page on which images are labelled by cutting", cmd_label},
    {"synth", "draw pictures or problems with exact truth", cmd_synth},
    {"import", "make a set of annotations of other programs", cmd_import},
    {"train", "learn a model from images with masks", cmd_train},
    {"segment", "segment images with a model", cmd_segment},
    {"marginals", "write how probable a label is at every pixel", cmd_marginals},
    {"score", "score masks against the truth", cmd_score},
    {"features", "extract features into a file, for training again and again", cmd_features},
    {"prune", "drop a model's small weights and what only they need", cmd_prune},
    {"annotate", "learn and predict tags: train, predict, score", cmd_annotate},
    {"inspect", "tell what is in a model and how it was made", cmd_inspect},
    {NULL, NULL, NULL},
};

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}
