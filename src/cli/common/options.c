#include "cli/common/options.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "cli/common/console.h"

#define CANONICAL_MAX 65536

static enum clv_status take_range(void *member, const struct clv_option *option, const char *typed,
                                  struct clv_error *err)
{
    struct clv_image_limits *limits = member;
    char low[16] = "";
    const char *comma = strchr(typed, ',');
    if (comma && comma - typed < (ptrdiff_t)sizeof low)
        memcpy(low, typed, (size_t)(comma - typed));
    if (!comma || !parse_int32(low, &limits->grey16_low) || !parse_int32(comma + 1, &limits->grey16_high) ||
        limits->grey16_low < 0 || limits->grey16_low >= limits->grey16_high || limits->grey16_high > 65535)
        return fail(err, CLV_ERR_USAGE, "--%s: \"%s\" is not LOW,HIGH with 0 <= LOW < HIGH <= 65535", option->name,
                    typed);
    return CLV_OK;
}

static enum clv_status take_quiet(void *member, const struct clv_option *option, const char *typed,
                                  struct clv_error *err)
{
    (void)member, (void)option, (void)typed, (void)err;
    console_set_quiet(true);
    return CLV_OK;
}

#define AT(member) offsetof(struct common_options, member)

const struct clv_option plain_option_rows[] = {
    {"threads", 't', "N", SECTION_GENERAL, CLV_OPTION_BASIC, CLV_OPTION_INT, AT(n_threads), .minimum = 1,
     .maximum = 1024, .help = "Threads to use (default: all processors); results do not depend on it"},
    {"quiet", 'q', NULL, SECTION_GENERAL, 0, CLV_OPTION_OTHER, 0, .take = take_quiet,
     .help = "No notes and no progress, only errors"},
    {0},
};

const struct clv_option image_option_rows[] = {
    {"max-pixels", 0, "N", SECTION_IMAGES, 0, CLV_OPTION_UINT64, AT(limits.max_pixels), .minimum = 1,
     .help = "Refuse images of more pixels (default 67108864)"},
    {"max-side", 0, "N", SECTION_IMAGES, CLV_OPTION_PLAIN, CLV_OPTION_INT, AT(limits.max_side_px), .minimum = 1,
     .maximum = INT32_MAX, .help = "Refuse images with a longer side (default 65535)"},
    {"max-jpeg-scans", 0, "N", SECTION_IMAGES, CLV_OPTION_PLAIN, CLV_OPTION_INT, AT(limits.max_jpeg_scans),
     .minimum = 1, .maximum = INT32_MAX, .help = "Refuse progressive JPEGs of more scans (default 100)"},
    {"range", 0, "LOW,HIGH", SECTION_IMAGES, 0, CLV_OPTION_OTHER, AT(limits), .take = take_range,
     .help = "Which values of 16-bit grey images become black and white (default 0,65535)\n"
             "Give the same for training and for use"},
    {0},
};

void common_options_init(struct common_options *common)
{
    *common = (struct common_options){0};
    text_init(&common->canonical, CANONICAL_MAX);
}

void common_options_release(struct common_options *common)
{
    outputs_release(&common->outputs);
    path_list_release(&common->paths);
    text_release(&common->canonical);
}

bool options_given(const struct common_options *common, const char *name)
{
    for (size_t i = 0; i < common->n_given; i++)
        if (strcmp(common->given[i]->name, name) == 0)
            return true;
    return false;
}

const char *options_first_given(const struct common_options *common, const char *section)
{
    for (size_t i = 0; i < common->n_given; i++)
        if (strcmp(common->given[i]->section, section) == 0)
            return common->given[i]->name;
    return NULL;
}

enum clv_status common_options_check(const struct common_options *common, const char *why, struct clv_error *err)
{
    const char *given = why ? options_first_given(common, SECTION_IMAGES) : NULL;
    return given ? fail(err, CLV_ERR_USAGE, "--%s has no effect: %s", given, why) : CLV_OK;
}

enum clv_status options_take_no_arguments(const struct common_options *common, const char *hint, struct clv_error *err)
{
    return common->n_arguments ? fail(err, CLV_ERR_USAGE, "%s: %s", common->arguments[0], hint) : CLV_OK;
}

const char *const decoding_names[] = {"own", "map", "marginal-map", "marginals", NULL};
const char *const decoding_names_of_images[] = {"own", "map", "marginal-map", "marginals", "least-loss", NULL};

void decoding_choose(struct clv_decoding *decoding, enum decoding_choice choice)
{
    static const enum clv_decoding_rule rules[] = {[DECODING_MAP] = CLV_DECODE_MAP,
                                                   [DECODING_MARGINAL_MAP] = CLV_DECODE_MARGINAL_MAP,
                                                   [DECODING_MARGINALS] = CLV_DECODE_MARGINALS};
    if (choice == DECODING_OWN || choice == DECODING_LEAST_LOSS)
        return;
    decoding->rule = rules[choice];
    if (!(decoding->hidden_temperature > 0))
        decoding->hidden_temperature = 1;
}
