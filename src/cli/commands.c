#include "cli/command.h"

#include <stddef.h>
#include <string.h>

const struct command commands[] = {
    {"synth", "draw a set of textured animals with exact masks", cmd_synth},
    {NULL, NULL, NULL},
};

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}
