#include "cli/common/option_table.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { KEY_ROWS = 0x100, KEY_USAGE = 0x1000, KEY_LIST };

/* What argp calls back with. */
struct parsing {
    const struct option_table *table;
    struct common_options *common;
    struct clv_error *err;
    enum clv_status status;
};

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

static void record(struct text *canonical, const struct clv_option *option, const char *typed)
{
    text_printf(canonical, " --%s", option->name);
    if (!typed)
        return;
    text_put(canonical, " ");
    put_word(canonical, typed);
}

static enum clv_status take(const struct option_group *group, const struct clv_option *option, const char *typed,
                            struct common_options *common, struct clv_error *err)
{
    if (group->is_recorded && !(option->flags & CLV_OPTION_UNRECORDED))
        record(&common->canonical, option, typed);
    if (!options_given(common, option->name) && common->n_given < MAX_OPTIONS)
        common->given[common->n_given++] = option;
    if (option->kind != CLV_OPTION_TEXT || !(option->flags & CLV_OPTION_AGAIN))
        return clv_option_set(group->base, option, typed, err);
    enum clv_status status = path_list_add(&common->paths, typed, err);
    return status == CLV_OK && common->paths.n == 1 ? clv_option_set(group->base, option, typed, err) : status;
}

static void print_and_exit(const struct parsing *self, int key, const struct argp_state *state)
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
    struct parsing *self = state->input;
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
                self->status = take(group, option, typed, common, self->err);
                return self->status == CLV_OK ? 0 : EINVAL;
            }
    return ARGP_ERR_UNKNOWN;
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
    struct parsing self = {table, common, err, CLV_OK};
    size_t n = 4;
    int index = KEY_ROWS;
    for (const struct option_group *group = table->groups; group->rows; group++)
        for (const struct clv_option *option = group->rows; option->name; option++, index++) {
            if (n == MAX_OPTIONS + 4)
                return fail(err, CLV_ERR_INTERNAL, "options: more than %d", MAX_OPTIONS);
            options[n++] = (struct argp_option){
                option->name, option->short_name ? option->short_name : index, option->argument, 0, NULL, 0};
        }
    error_t failed = argp_parse(&argp, argc, argv, 0, NULL, &self);
    if (self.status != CLV_OK)
        return self.status;
    if (failed)
        return failed == ENOMEM ? fail_memory(err) : fail(err, CLV_ERR_INTERNAL, "options: %s", strerror(failed));
    return common->canonical.failed ? fail_memory(err) : CLV_OK;
}

enum clv_status options_check(const struct common_options *common, const struct option_rule *rules, size_t n,
                              struct clv_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct option_rule *rule = &rules[i];
        if (!options_given(common, rule->option) ||
            options_given(common, rule->other) == (rule->relation == RULE_NEEDS))
            continue;
        switch (rule->relation) {
        case RULE_NEEDS:
            return fail(err, CLV_ERR_USAGE, "--%s: --%s is missing: %s", rule->option, rule->other, rule->why);
        case RULE_EXCLUDES: return fail(err, CLV_ERR_USAGE, "--%s: %s", rule->option, rule->why);
        case RULE_IDLE: return fail(err, CLV_ERR_USAGE, "--%s has no effect: %s", rule->option, rule->why);
        }
    }
    return CLV_OK;
}
