#include "cli/common/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/common/console.h"
#include "cli/common/suggest.h"

#define CANONICAL_MAX 65536

enum common_keys { KEY_MAX_PIXELS = KEYS_COMMON, KEY_MAX_SIDE, KEY_MAX_SCANS, KEY_RANGE };

static const struct argp_option plain_options[] = {
    {NULL, 0, NULL, 0, "General:", 90},
    {"threads", 't', "N", 0, "Threads to use (default: all processors). Results do not depend on it", 90},
    {NULL, 'h', NULL, OPTION_HIDDEN, "The same as --help", 90},
    {"quiet", 'q', NULL, 0, "No notes and no progress, only errors", 90},
    {0},
};

static const struct argp_option image_options[] = {
    {"max-pixels", KEY_MAX_PIXELS, "N", 0, "Refuse images of more pixels (default 67108864)", 90},
    {"max-side", KEY_MAX_SIDE, "N", 0, "Refuse images with a longer side (default 65535)", 90},
    {"max-jpeg-scans", KEY_MAX_SCANS, "N", 0, "Refuse progressive JPEGs of more scans (default 100)", 90},
    {"range", KEY_RANGE, "LOW,HIGH", 0,
     "Which values of 16-bit grey images become black and white (default 0,65535): the same for training and use", 90},
    {0},
};

static error_t parse_range(struct common_options *common, const char *arg)
{
    char low[16] = "";
    const char *comma = strchr(arg, ',');
    struct clv_image_limits *limits = &common->limits;
    if (comma && comma - arg < (ptrdiff_t)sizeof low)
        memcpy(low, arg, (size_t)(comma - arg));
    if (!comma || !parse_int32(low, &limits->grey16_low) || !parse_int32(comma + 1, &limits->grey16_high) ||
        limits->grey16_low < 0 || limits->grey16_low >= limits->grey16_high || limits->grey16_high > 65535)
        return option_error(common, "--range: \"%s\" is not LOW,HIGH with 0 <= LOW < HIGH <= 65535", arg);
    return 0;
}

static error_t parse_plain(int key, char *arg, struct argp_state *state)
{
    struct common_options *common = state->input;
    switch (key) {
    case 't': return option_int(&common->n_threads, "--threads", arg, 1, 1024, common);
    case 'h': argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP); return 0;
    case 'q': console_set_quiet(true); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp plain_argp = {.options = plain_options, .parser = parse_plain};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
    struct common_options *common = state->input;
    options_note_first(&common->image_option, image_options, key);
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = common; return 0;
    case KEY_MAX_PIXELS: return option_uint64(&common->limits.max_pixels, "--max-pixels", arg, 1, common);
    case KEY_MAX_SIDE: return option_int(&common->limits.max_side_px, "--max-side", arg, 1, INT32_MAX, common);
    case KEY_MAX_SCANS:
        return option_int(&common->limits.max_jpeg_scans, "--max-jpeg-scans", arg, 1, INT32_MAX, common);
    case KEY_RANGE: return parse_range(common, arg);
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child common_children[] = {{&plain_argp, 0, NULL, 0}, {0}};
const struct argp common_argp = {.options = image_options, .parser = parse_common, .children = common_children};

enum clv_status common_options_check(const struct common_options *common, const char *why, struct clv_error *err)
{
    return why && common->image_option ? fail(err, CLV_ERR_USAGE, "--%s has no effect: %s", common->image_option, why)
                                       : CLV_OK;
}

void common_options_init(struct common_options *common, struct clv_error *err)
{
    *common = (struct common_options){.err = err};
    text_init(&common->canonical, CANONICAL_MAX);
}

void common_options_release(struct common_options *common)
{
    outputs_release(&common->outputs);
    path_list_release(&common->paths);
    text_release(&common->canonical);
}

enum clv_status options_parse(const struct argp *argp, int argc, char **argv, void *input,
                              struct common_options *common)
{
    error_t failed = argp_parse(argp, argc, argv, 0, NULL, input);
    if (common->status != CLV_OK)
        return common->status;
    if (failed)
        return failed == ENOMEM ? fail_memory(common->err)
                                : fail(common->err, CLV_ERR_INTERNAL, "options: %s", strerror(failed));
    return common->canonical.failed ? fail_memory(common->err) : CLV_OK;
}

/* Quotes for the shell where needed. */
static void put_word(struct text *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        text_put(text, word);
        return;
    }
    text_put(text, "'");
    for (; *word; word++) {
        if (*word == '\'')
            text_put(text, "'\\''");
        else
            text_append(text, word, 1);
    }
    text_put(text, "'");
}

void options_note(struct common_options *common, const struct argp_option *options, const char *ignored, int key,
                  const char *arg)
{
    if (key <= 0 || (key < 0x80 && strchr(ignored, key)))
        return;
    for (const struct argp_option *option = options; option->name || option->doc; option++) {
        if (!option->name || option->key != key)
            continue;
        text_printf(&common->canonical, " --%s", option->name);
        if (arg) {
            text_put(&common->canonical, " ");
            put_word(&common->canonical, arg);
        }
        return;
    }
}

error_t option_error(struct common_options *common, const char *format, ...)
{
    char message[CLV_ERROR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    common->status = fail(common->err, CLV_ERR_USAGE, "%s", message);
    return EINVAL;
}

void options_note_first(const char **first, const struct argp_option *options, int key)
{
    for (; !*first && (options->name || options->doc); options++)
        if (options->name && options->key == key)
            *first = options->name;
}

error_t option_path(const char **first, const char *arg, struct common_options *common)
{
    if (!common->paths.n)
        *first = arg;
    return path_list_add(&common->paths, arg, NULL) == CLV_OK ? 0 : ENOMEM;
}

error_t option_int(int32_t *value, const char *name, const char *arg, int32_t minimum, int32_t maximum,
                   struct common_options *common)
{
    int32_t parsed;
    if (!parse_int32(arg, &parsed) || parsed < minimum || parsed > maximum)
        return option_error(common, "%s: \"%s\" is no whole number from %" PRId32 " to %" PRId32, name, arg, minimum,
                            maximum);
    *value = parsed;
    return 0;
}

error_t option_uint64(uint64_t *value, const char *name, const char *arg, uint64_t minimum,
                      struct common_options *common)
{
    uint64_t parsed;
    if (!parse_uint64(arg, &parsed) || parsed < minimum)
        return option_error(common, "%s: \"%s\" is no whole number from %" PRIu64 " to %" PRIu64, name, arg, minimum,
                            UINT64_MAX);
    *value = parsed;
    return 0;
}

error_t option_number(double *value, const char *name, const char *arg, double minimum, double maximum,
                      struct common_options *common)
{
    double parsed;
    if (!parse_double(arg, &parsed) || parsed < minimum || parsed > maximum)
        return option_error(common, "%s: \"%s\" is no number from %g to %g", name, arg, minimum, maximum);
    *value = parsed;
    return 0;
}

error_t option_memory(double *bytes, const char *name, const char *arg, struct common_options *common)
{
    static const char units[] = "KMG";
    char number[64];
    double value, unit = 1;
    size_t n = strlen(arg);
    const char *found = n ? strchr(units, arg[n - 1]) : NULL;
    for (ptrdiff_t i = 0; found && i <= found - units; i++)
        unit *= 1000;
    snprintf(number, sizeof number, "%.*s", (int)(found ? n - 1 : n), arg);
    if (n >= sizeof number || !parse_double(number, &value) || !(value * unit >= 1e6 && value * unit <= 1e15))
        return option_error(common, "%s: \"%s\" is no size of memory from 1M, as 800M or 2.5G", name, arg);
    *bytes = value * unit;
    return 0;
}

error_t option_choice(int *value, const char *name, const char *arg, const char *const *choices, size_t n,
                      struct common_options *common)
{
    char list[512] = "";
    for (size_t i = 0; i < n; i++) {
        if (strcmp(arg, choices[i]) == 0) {
            *value = (int)i;
            return 0;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", choices[i]);
    }
    const char *near = suggest(arg, choices, n);
    if (near)
        return option_error(common, "%s: \"%s\" is none of %s; did you mean \"%s\"?", name, arg, list, near);
    return option_error(common, "%s: \"%s\" is none of %s", name, arg, list);
}

error_t option_either(bool *is_second, const char *name, const char *arg, const char *const choices[2],
                      struct common_options *common)
{
    int index = 0;
    error_t failed = option_choice(&index, name, arg, choices, 2, common);
    if (!failed)
        *is_second = index == 1;
    return failed;
}

error_t option_engine(enum clv_engine *engine, const char *arg, struct common_options *common)
{
    static const enum clv_engine engines[] = {CLV_ENGINE_CLEAVE, CLV_ENGINE_BK};
    static const char *const names[] = {"cleave", "bk"};
    int index = 0;
    error_t failed = option_choice(&index, "--engine", arg, names, clv_has_bk() ? 2 : 1, common);
    if (!failed)
        *engine = engines[index];
    return failed;
}

error_t option_decoding(enum decoding_choice *choice, enum decoding_choice last, const char *arg,
                        struct common_options *common)
{
    static const char *const names[] = {"own", "map", "marginal-map", "marginals", "least-loss"};
    int index = 0;
    error_t failed = option_choice(&index, "--decode", arg, names, (size_t)last + 1, common);
    if (!failed)
        *choice = (enum decoding_choice)index;
    return failed;
}

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
