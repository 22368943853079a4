/* `cleave synth`: parses options and has src/synth draw a set of animals with exact masks. Start at cmd_synth. */
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "synth/synth.h"

struct synth {
    struct clv_synth_options options;
    const char *folder;
};

static enum clv_status take_size(void *member, const struct clv_option *option, const char *typed,
                                 struct clv_error *err)
{
    struct clv_synth_options *options = member;
    const char *separator = strchr(typed, 'x');
    char first[16] = "";
    int32_t width = 0, height = 0;
    if (separator && separator - typed < (ptrdiff_t)sizeof first)
        memcpy(first, typed, (size_t)(separator - typed));
    if (!separator || !parse_int32(first, &width) || !parse_int32(separator + 1, &height) || width < 16 ||
        width > 8192 || height < 16 || height > 8192)
        return fail(err, CLV_ERR_USAGE, "--%s: \"%s\" is no WIDTHxHEIGHT of 16 to 8192 pixels", option->name, typed);
    options->width = width;
    options->height = height;
    return CLV_OK;
}

static enum clv_status take_folder(void *member, const struct clv_option *option, const char *typed,
                                   struct clv_error *err)
{
    const char **folder = member;
    (void)option;
    FAIL_IF(*folder, CLV_ERR_USAGE, "%s: one folder is enough; %s is given already", typed, *folder);
    *folder = typed;
    return CLV_OK;
}

#define AT(member)    offsetof(struct synth, member)
#define SECTION_DRAWN "What is drawn"
#define BASIC         CLV_OPTION_BASIC
static const struct clv_option synth_rows[] = {
    {"output", 'o', "FOLDER", SECTION_DRAWN, BASIC, CLV_OPTION_OTHER, AT(folder), .take = take_folder,
     .help = "The new or empty folder to write into (or give it as the argument)"},
    {"images", 'n', "N", SECTION_DRAWN, BASIC, CLV_OPTION_INT, AT(options.n_images), .minimum = 1, .maximum = 10000000,
     .help = "Number of images"},
    {"size", 0, "WxH", SECTION_DRAWN, BASIC, CLV_OPTION_OTHER, AT(options), .take = take_size,
     .help = "Pixels of an image (default 240x180)\n16 to 8192 a side; each varies by up to a quarter"},
    {"train-share", 0, "X", SECTION_DRAWN, BASIC, CLV_OPTION_NUMBER, AT(options.train_share), .minimum = 0,
     .maximum = 1, .help = "Share of images in split train; the rest is test"},
    {"seed", 's', "N", SECTION_DRAWN, BASIC, CLV_OPTION_UINT64, AT(options.seed),
     .help = "Seed: the same seed draws the same bytes"},
    {"overwrite", 0, NULL, SECTION_DRAWN, BASIC, CLV_OPTION_FLAG, AT(options.overwrite),
     .help = "Write into a folder that is not empty, too\n"
             "A set of as many images is replaced; other files stay"},
    {0},
};

enum clv_status cmd_synth(int argc, char **argv, struct clv_error *err)
{
    OWNED(common_options_release) struct common_options common = {0};
    struct synth self = {0};
    const struct option_table table = {
        "[OPTION...] FOLDER",
        "Draws images of textured animals with exact masks, to try things out.",
        {"synth animals", "synth -n 20 --size 480x360 --seed 1 animals"},
        "Writes images/, masks/, manifest.tsv (splits train and test) and boxes.tsv.",
        {{synth_rows, &self, false}, {plain_option_rows, &common, false}},
    };
    clv_synth_init(&self.options);
    common_options_init(&common);
    MUST(options_parse(&table, argc, argv, &common, err));
    for (size_t i = 0; i < common.n_arguments; i++)
        MUST(take_folder(&self.folder, NULL, common.arguments[i], err));
    FAIL_IF(!self.folder, CLV_ERR_USAGE, "synth: no folder to write into; give it with -o");
    struct clv_progress progress = console_progress(NULL);
    MUST(clv_synth_animals(self.folder, &self.options, common.n_threads, &progress, err));
    console_note("%s in %s", n_of((size_t)self.options.n_images, "image", "images").text, self.folder);
    return CLV_OK;
}
