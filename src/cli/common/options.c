/* Parses a command line with argp, by a table of options. options_parse sets the members that the rows name and records
 * the given options, options_check applies rules to them. Also has the rows of the options that all commands share. */
#include "cli/common/common.h"

#include <argp.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cleave/options.h"
#include "image/image.h"
#include "train/train.h"

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

static enum clv_status take_axes(void *member, const struct clv_option *option, const char *typed,
                                 struct clv_error *err)
{
    struct clv_error why = {0};
    (void)member;
    enum clv_status status = stack_axes_choose(typed, &why);
    return status == CLV_OK ? CLV_OK : fail(err, status, "--%s: %s", option->name, why.message);
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
    {"bands", 0, "FILE,FILE,..", SECTION_IMAGES, 0, CLV_OPTION_TEXT, AT(limits.band_files),
     .help = "Ends of the names of files that are bands of one image, such as red.tif,nir.tif\n"
             "(default: as the model was trained, else an image is a file)"},
    {"axes", 0, "ORDER", SECTION_IMAGES, 0, CLV_OPTION_OTHER, AT(limits), .take = take_axes,
     .help = "What pages of TIFFs are, the slowest axis first: T time, Z slices, C channels, such as TZC,\n"
             "with sizes where files say none, T6C2 (default: as ImageJ's or OME's description says)"},
    {"range", 0, "LOW,HIGH", SECTION_IMAGES, 0, CLV_OPTION_OTHER, AT(limits), .take = take_range,
     .help = "Which values of 16-bit grey images become black and white (default: the model's, else 0,65535)\n"
             "train keeps it in the model"},
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

enum clv_status common_options_check(const struct common_options *common, const char *other, const char *why,
                                     struct clv_error *err)
{
    const char *given = options_first_given(common, SECTION_IMAGES);
    FAIL_IF(given, CLV_ERR_USAGE, "--%s cannot be used with %s: %s; leave it out", given, other, why);
    return CLV_OK;
}

enum { KEY_ROWS = 0x100, KEY_USAGE = 0x1000, KEY_LIST };

/* The context of argp's callbacks. */
struct parser_state {
    const struct option_table *table;
    struct common_options *common;
    struct clv_error *err;
    enum clv_status status;
};

static void record_option(struct text *canonical, const struct clv_option *option, const char *typed)
{
    text_printf(canonical, " --%s", option->name);
    if (!typed)
        return;
    text_put(canonical, " ");
    text_put_word(canonical, typed);
}

static enum clv_status set_option(const struct option_group *group, const struct clv_option *option, const char *typed,
                                  struct common_options *common, struct clv_error *err)
{
    FAIL_IF(option->kind == CLV_OPTION_TEXT && !*typed, CLV_ERR_USAGE,
            "--%s: its value is empty; if a variable was meant, the shell has none of this name", option->name);
    if (group->is_recorded && !(option->flags & CLV_OPTION_UNRECORDED))
        record_option(&common->canonical, option, typed);
    if (!options_given(common, option->name) && common->n_given < MAX_OPTIONS)
        common->given[common->n_given++] = option;
    if (option->kind != CLV_OPTION_TEXT || !(option->flags & CLV_OPTION_AGAIN))
        return clv_option_set(group->base, option, typed, err);
    MUST(path_list_add(&common->paths, typed, err));
    return common->paths.n == 1 ? clv_option_set(group->base, option, typed, err) : CLV_OK;
}

static void print_and_exit(const struct parser_state *self, int key, const struct argp_state *state)
{
    const char *next = state->argv[state->next], *command = state->name;
    bool wants_all = next && strcmp(next, "all") == 0;
    if (key == KEY_LIST)
        option_help_list(stdout, self->table);
    else if (key == KEY_USAGE)
        printf("Usage: %s %s\n", command, self->table->usage);
    else
        (wants_all ? option_help_all : option_help_short)(stdout, command, self->table, self->common);
    exit(EXIT_SUCCESS);
}

static error_t parse(int key, char *typed, struct argp_state *state)
{
    struct parser_state *self = state->input;
    struct common_options *common = self->common;
    int index = KEY_ROWS;
    switch (key) {
    case '?':
    case 'h':
    case KEY_LIST:
    case KEY_USAGE: print_and_exit(self, key, state); return 0;
    case ARGP_KEY_ARGS:
        common->arguments = state->argv + state->next;
        common->n_arguments = (size_t)(state->argc - state->next);
        return 0;
    default: break;
    }
    for (const struct option_group *group = self->table->groups; group->rows; group++)
        for (const struct clv_option *option = group->rows; option->name; option++, index++)
            if (key == (option->short_name ? option->short_name : index)) {
                self->status = set_option(group, option, typed, common, self->err);
                return self->status == CLV_OK ? 0 : EINVAL;
            }
    return ARGP_ERR_UNKNOWN;
}

/* Returns the row of a long option, by its whole name or by a unique prefix; NULL if there is none. *n = how many names
 * have the prefix, or 1 for a whole name; `listed` receives these names. */
static const struct clv_option *look_up_long(size_t *n, struct text *listed, const struct option_table *table,
                                             const char *typed, size_t length)
{
    const struct clv_option *found = NULL;
    *n = 0;
    for (const struct option_group *group = table->groups; group->rows; group++)
        for (const struct clv_option *option = group->rows; option->name; option++) {
            if (strncmp(option->name, typed, length) != 0)
                continue;
            if (!option->name[length]) {
                *n = 1;
                return option;
            }
            found = option;
            text_printf(listed, "%s--%s", (*n)++ ? ", " : "", option->name);
        }
    return *n == 1 ? found : NULL;
}

static const struct clv_option *look_up_short(const struct option_table *table, char typed)
{
    for (const struct option_group *group = table->groups; group->rows; group++)
        for (const struct clv_option *option = group->rows; option->name; option++)
            if (option->short_name == typed)
                return option;
    return NULL;
}

/* Returns whether a letter is an option that prints something and ends: -h. */
static bool is_print_letter(char typed)
{
    return typed == 'h' || typed == '?' || typed == 'V';
}

/* Returns the option that prints something and ends, and that is the word or begins with it: --he. NULL: none. */
static const char *look_up_print(const char *typed, size_t length)
{
    static const char *const names[] = {"help", "usage", "version", "list-options"};
    for (size_t k = 0; k < sizeof names / sizeof *names && length; k++)
        if (strncmp(names[k], typed, length) == 0)
            return names[k];
    return NULL;
}

/* Fails for an option that prints something if it has a value, or if the word begins other options, too. */
static enum clv_status check_print(const struct option_table *table, const char *name, const char *typed, size_t length,
                                   struct clv_error *err)
{
    OWNED(text_release) struct text listed = {0};
    size_t n = 0;
    text_init(&listed, 1 << 14);
    look_up_long(&n, &listed, table, typed, length);
    NEED(!listed.failed);
    FAIL_IF(listed.size && name[length], CLV_ERR_USAGE, "option '--%.*s' is the beginning of %s, --%s", (int)length,
            typed, listed.bytes, name);
    FAIL_IF(typed[length], CLV_ERR_USAGE, "--%.*s takes no value", (int)length, typed);
    return CLV_OK;
}

static enum clv_status fail_unknown(const struct option_table *table, const char *typed, size_t length,
                                    struct clv_error *err)
{
    const char *names[MAX_OPTIONS];
    char name[64];
    size_t n = 0;
    for (const struct option_group *group = table->groups; group->rows; group++)
        for (const struct clv_option *option = group->rows; option->name && n < MAX_OPTIONS; option++)
            names[n++] = option->name;
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), typed);
    const char *near = text_nearest(name, names, n);
    FAIL_IF(near, CLV_ERR_USAGE, "unrecognized option '--%s'; did you mean --%s?", name, near);
    return fail(err, CLV_ERR_USAGE, "unrecognized option '--%s'; --help all lists the options", name);
}

/* Fails for a long option that is unknown or used wrongly. *takes_next = whether its value is the next word. */
static enum clv_status check_long(bool *takes_next, const struct option_table *table, const char *typed, bool is_last,
                                  struct clv_error *err)
{
    OWNED(text_release) struct text listed = {0};
    size_t n, length = strcspn(typed, "=");
    text_init(&listed, 1 << 14);
    const struct clv_option *option = look_up_long(&n, &listed, table, typed, length);
    NEED(!listed.failed);
    FAIL_IF(n > 1, CLV_ERR_USAGE, "option '--%.*s' is the beginning of %s", (int)length, typed, listed.bytes);
    if (!option)
        return fail_unknown(table, typed, length, err);
    FAIL_IF(!option->argument && typed[length], CLV_ERR_USAGE, "--%s takes no value", option->name);
    FAIL_IF(option->argument && !typed[length] && is_last, CLV_ERR_USAGE, "--%s needs a value: --%s %s", option->name,
            option->name, option->argument);
    *takes_next = option->argument && !typed[length];
    return CLV_OK;
}

/* Fails if one of the short options in a word is unknown or used wrongly. Only the last may have a value, which is the
 * next word if *takes_next. */
static enum clv_status check_short(bool *takes_next, bool *is_over, const struct option_table *table, const char *typed,
                                   bool is_last, struct clv_error *err)
{
    for (; *typed; typed++) {
        if ((*is_over = is_print_letter(*typed)))
            return CLV_OK;
        const struct clv_option *option = look_up_short(table, *typed);
        FAIL_IF(!option, CLV_ERR_USAGE, "unrecognized option '-%c'; --help all lists the options", *typed);
        FAIL_IF(option->argument && !typed[1] && is_last, CLV_ERR_USAGE, "-%c needs a value: -%c %s", *typed, *typed,
                option->argument);
        *takes_next = option->argument && !typed[1];
        if (option->argument)
            return CLV_OK;
    }
    return CLV_OK;
}

/* Checks all options before argp does, whose messages have another form and suggest no similar option. */
static enum clv_status check_spelling(const struct option_table *table, int argc, char **argv, struct clv_error *err)
{
    bool is_over = false;
    for (int i = 1; i < argc && !is_over && strcmp(argv[i], "--") != 0; i++) {
        const char *typed = argv[i] + 1;
        const bool is_long = argv[i][0] == '-' && *typed == '-', is_last = i + 1 == argc;
        bool takes_next = false;
        if (argv[i][0] != '-' || !*typed)
            continue;
        const size_t length = is_long ? strcspn(typed + 1, "=") : 0;
        const char *prints = look_up_print(typed + 1, length);
        if (prints)
            return check_print(table, prints, typed + 1, length, err);
        MUST(is_long ? check_long(&takes_next, table, typed + 1, is_last, err)
                     : check_short(&takes_next, &is_over, table, typed, is_last, err));
        i += takes_next;
    }
    return CLV_OK;
}

enum clv_status options_parse(const struct option_table *table, int argc, char **argv, struct common_options *common,
                              struct clv_error *err)
{
    struct argp_option options[MAX_OPTIONS + 6] = {
        {"help", '?', NULL, 0, NULL, 0},
        {"usage", KEY_USAGE, NULL, 0, NULL, 0},
        {NULL, 'h', NULL, OPTION_HIDDEN, "-h", 0},
        {"list-options", KEY_LIST, NULL, OPTION_HIDDEN, NULL, 0},
    };
    const struct argp argp = {.options = options, .parser = parse};
    struct parser_state self = {table, common, err, CLV_OK};
    size_t n = 4;
    int index = KEY_ROWS;
    for (const struct option_group *group = table->groups; group->rows; group++)
        for (const struct clv_option *option = group->rows; option->name; option++, index++) {
            FAIL_IF(n == MAX_OPTIONS + 4, CLV_ERR_INTERNAL, "options: more than %d", MAX_OPTIONS);
            options[n++] = (struct argp_option){
                option->name, option->short_name ? option->short_name : index, option->argument, 0, NULL, 0};
        }
    MUST(check_spelling(table, argc, argv, err));
    error_t failed = argp_parse(&argp, argc, argv, ARGP_NO_ERRS, NULL, &self);
    if (self.status != CLV_OK)
        return self.status;
    if (failed)
        return failed == ENOMEM ? fail_memory(err) : fail(err, CLV_ERR_INTERNAL, "options: %s", strerror(failed));
    for (size_t k = 0; k < common->n_arguments; k++)
        FAIL_IF(!*common->arguments[k], CLV_ERR_USAGE,
                "argument %zu is empty; if a variable was meant, the shell has none of this name", k + 1);
    return common->canonical.failed ? fail_memory(err) : CLV_OK;
}

static const struct clv_option *find_option(const struct option_group **group, const struct option_table *table,
                                            const char *name)
{
    for (*group = table->groups; (*group)->rows; ++*group)
        for (const struct clv_option *option = (*group)->rows; option->name; option++)
            if (strcmp(option->name, name) == 0)
                return option;
    return NULL;
}

enum clv_status options_take_arguments(const struct option_table *table, struct common_options *common,
                                       const char *const *names, size_t n, struct clv_error *err)
{
    size_t used = 0;
    for (size_t k = 0; k < n; k++) {
        const struct option_group *group;
        const struct clv_option *option = find_option(&group, table, names[k]);
        bool takes_all = k + 1 == n && option->flags & CLV_OPTION_AGAIN;
        bool takes_one = takes_all || !options_given(common, names[k]);
        for (; takes_one && used < common->n_arguments; takes_one = takes_all)
            MUST(set_option(group, option, common->arguments[used++], common, err));
    }
    FAIL_IF(used < common->n_arguments, CLV_ERR_USAGE, "%s: one argument too many", common->arguments[used]);
    NEED(!common->canonical.failed);
    return CLV_OK;
}

/* Returns whether a path is named like a manifest or, with `allows_folder`, is a folder with one. */
static bool is_manifest(const char *path, bool allows_folder)
{
    char *inside = allows_folder ? path_join(path, "manifest.tsv") : NULL;
    bool result = (text_ends_with(path, ".tsv") && strlen(path) > 4) || (inside && path_exists(inside));
    array_free(inside);
    return result;
}

enum clv_status options_take_manifest(const struct option_table *table, struct common_options *common,
                                      struct clv_error *err)
{
    size_t k = 0;
    while (k < common->n_arguments && !is_manifest(common->arguments[k], options_given(common, "split")))
        k++;
    if (k == common->n_arguments || options_given(common, "data"))
        return CLV_OK;
    const struct option_group *group;
    const struct clv_option *option = find_option(&group, table, "data");
    MUST(set_option(group, option, common->arguments[k], common, err));
    common->n_arguments--;
    memmove(common->arguments + k, common->arguments + k + 1, (common->n_arguments - k) * sizeof *common->arguments);
    return CLV_OK;
}

bool option_in_common(const void *common, const char *name)
{
    return options_given(common, name);
}

static const char *is_set(void *common, const char *name)
{
    return options_given(common, name) ? name : NULL;
}

enum clv_status options_check(const struct common_options *common, const struct option_rule *rules,
                              struct clv_error *err)
{
    return option_rules_check(rules, is_set, (void *)(uintptr_t)common, err);
}
