/* `cleave tag`: learns and predicts tags of examples. Runs a subcommand; these are in tag_*.c. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "cli/tag/tag.h"

static const struct {
    const char *name;
    enum clv_status (*run)(int argc, char **argv, struct clv_error *err);
} subcommands[] = {{"train", tagging_train}, {"predict", tagging_predict}, {"score", tagging_score}};
enum { N_SUBCOMMANDS = sizeof subcommands / sizeof *subcommands };

static const char help[] =
    "Usage: cleave tag train FILE [OPTION...] -o MODEL\n"
    "   or: cleave tag predict -m MODEL FILE [OPTION...]\n"
    "   or: cleave tag score -m MODEL FILE [OPTION...]\n"
    "Learns which tags go with an example's features and with each other, and tags others.\n\n"
    "  train      learn a model from a multi-label file\n"
    "  predict    tag the examples of a file\n"
    "  score      compare a model's tags, or a prediction, with the truth\n\n"
    "Data are svmlight multi-label files: `0,4 1:0.64 3:-2.5', labels from 0, then features from 1;\n"
    "labels.txt next to them may name the tags. Or images: a folder or a manifest with a column `tags'.\n"
    " `cleave tag train --help' and so on list the options.\n";

enum clv_status cmd_tag(int argc, char **argv, struct clv_error *err)
{
    char title[64];
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "-?") == 0 ||
        strcmp(name, "--usage") == 0) {
        fputs(help, stdout);
        return CLV_OK;
    }
    if (strcmp(name, "--list-options") == 0) {
        for (size_t i = 0; i < N_SUBCOMMANDS; i++)
            puts(subcommands[i].name);
        return CLV_OK;
    }
    for (size_t i = 0; i < N_SUBCOMMANDS; i++)
        if (strcmp(name, subcommands[i].name) == 0) {
            snprintf(title, sizeof title, "cleave tag %s", name);
            argv[1] = title;
            return subcommands[i].run(argc - 1, argv + 1, err);
        }
    const char *names[N_SUBCOMMANDS];
    for (size_t i = 0; i < N_SUBCOMMANDS; i++)
        names[i] = subcommands[i].name;
    const char *near = *name ? text_nearest(name, names, N_SUBCOMMANDS) : NULL;
    FAIL_IF(near, CLV_ERR_USAGE, "tag: \"%s\" is not one of train, predict, score; did you mean \"%s\"?", name, near);
    return fail(err, CLV_ERR_USAGE, "tag: say what to do: train, predict or score");
}
