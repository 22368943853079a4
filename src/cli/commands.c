/* Holds the table of commands, in the order in which `cleave --help` lists them, and finds a command by name. A new
 * command is added here and in common.h, and gets a file or folder. */
#include "cli/common/common.h"

#include <stddef.h>
#include <string.h>

const struct command commands[] = {
    {"label", "open a page on which images are labelled by cutting", cmd_label, false},
    {"import", "make a set of annotations of other programs", cmd_import, false},
    {"train", "learn a model from images with masks", cmd_train, true},
    {"segment", "segment images with a model", cmd_segment, true},
    {"probabilities", "write how probable a label is at every pixel", cmd_probabilities, true},
    {"propagate", "propagate masks of some frames to the others", cmd_propagate, false},
    {"score", "score masks against the truth", cmd_score, false},
    {"features", "extract features into a file that several trainings can reuse", cmd_features, true},
    {"tag", "learn and predict tags: train, predict, score", cmd_tag, false},
    {"inspect", "tell what is in a model and how it was made", cmd_inspect, false},
    {0},
};

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}
