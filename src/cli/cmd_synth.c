/* cleave synth: a set of drawn animals with exact truth. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/common/command.h"
#include "cli/common/console.h"
#include "cli/common/options.h"
#include "synth/synth.h"

struct synth {
    struct common_options common;
    struct clv_synth_options options;
    const char *folder;
};

enum synth_keys { KEY_SIZE = KEYS_COMMAND, KEY_SHARE };

static const struct argp_option synth_options[] = {
    {"output", 'o', "FOLDER", 0, "The new or empty folder to write into (or give it as the argument)", 0},
    {"overwrite", KEY_OVERWRITE, NULL, 0,
     "Write into a folder that is not empty, too: a set of as many images is replaced, other files stay", 0},
    {"images", 'n', "N", 0, "Number of images (default 60)", 0},
    {"size", KEY_SIZE, "WxH", 0,
     "Pixels of an image, 16..8192 a side; each varies by up to a quarter (default 240x180)", 0},
    {"train-share", KEY_SHARE, "X", 0, "Share of images in split train, the rest is test (default 0.667)", 0},
    {"seed", 's', "N", 0, "Seed (default 0); the same seed draws the same bytes", 0},
    {0},
};

static error_t parse_size(struct synth *self, char *arg)
{
    char *separator = strchr(arg, 'x');
    int32_t width = 0, height = 0;
    bool valid = separator && separator[1];
    if (valid) {
        *separator = 0;
        valid = parse_int32(arg, &width) && parse_int32(separator + 1, &height);
        *separator = 'x';
    }
    if (!valid || width < 16 || width > 8192 || height < 16 || height > 8192)
        return option_error(&self->common, "--size: \"%s\" is no WIDTHxHEIGHT of 16 to 8192 pixels", arg);
    self->options.width = width;
    self->options.height = height;
    return 0;
}

static error_t parse_synth(int key, char *arg, struct argp_state *state)
{
    struct synth *self = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &self->common; return 0;
    case 'n': return option_int(&self->options.n_images, "--images", arg, 1, 10000000, &self->common);
    case 's': return option_uint64(&self->options.seed, "--seed", arg, 0, &self->common);
    case KEY_SIZE: return parse_size(self, arg);
    case KEY_SHARE: return option_number(&self->options.train_share, "--train-share", arg, 0, 1, &self->common);
    case KEY_OVERWRITE: self->options.overwrite = true; return 0;
    case 'o':
    case ARGP_KEY_ARG:
        if (self->folder)
            return option_error(&self->common, "%s: one folder is enough; %s is given already", arg, self->folder);
        self->folder = arg;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

enum clv_status cmd_synth(int argc, char **argv, struct clv_error *err)
{
    static const struct argp_child children[] = {{&plain_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        synth_options,
        parse_synth,
        "FOLDER",
        "Draws textured animals on textured ground with exact masks: images/, masks/, manifest.tsv (splits train and "
        "test) and boxes.tsv.",
        children,
        NULL,
        NULL,
    };
    struct synth self = {0};
    clv_synth_init(&self.options);
    common_options_init(&self.common, err);
    enum clv_status status = options_parse(&argp, argc, argv, &self, &self.common);
    if (status == CLV_OK && !self.folder)
        status = fail(err, CLV_ERR_USAGE, "synth: no folder to write into; give it with -o");
    struct clv_progress progress = console_progress(NULL);
    if (status == CLV_OK)
        status = clv_synth_animals(self.folder, &self.options, self.common.n_threads, &progress, err);
    if (status == CLV_OK)
        console_note("%d images in %s", self.options.n_images, self.folder);
    common_options_release(&self.common);
    return status;
}
