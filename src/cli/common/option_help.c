/* Prints the texts of --help, --usage and shell completion for a table of options. Start at option_help_all. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"

enum { WIDTH = 100, COLUMN = 29 };

/* Prints words from `column` on, in lines of at most WIDTH that begin at `indent`. */
static void put_words(FILE *stream, const char *words, int indent, int column)
{
    while (*words) {
        int n = (int)strcspn(words, " \n");
        if (column > indent && column + 1 + n > WIDTH) {
            fprintf(stream, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', stream);
            column++;
        }
        column += fprintf(stream, "%.*s", n, words);
        words += n;
        words += strspn(words, " \n");
    }
    fputc('\n', stream);
}

/* Prints the value of the option's member, if the option could have it. */
static void put_default(struct text *text, const struct clv_option *option, const void *base)
{
    const void *member = (const char *)base + option->offset;
    switch (option->kind) {
    case CLV_OPTION_INT: {
        int32_t value = *(const int32_t *)member;
        if (value >= option->minimum && value <= option->maximum)
            text_printf(text, "default %d", value);
        return;
    }
    case CLV_OPTION_UINT64: {
        uint64_t value = *(const uint64_t *)member;
        if ((double)value >= option->minimum)
            text_printf(text, "default %llu", (unsigned long long)value);
        return;
    }
    case CLV_OPTION_NUMBER: {
        double value = *(const double *)member;
        if (value >= option->minimum && value <= option->maximum)
            text_printf(text, "default %g", value);
        return;
    }
    case CLV_OPTION_CHOICE:
    case CLV_OPTION_AUTO_CHOICE: {
        int choice = *(const int *)member + (option->kind == CLV_OPTION_AUTO_CHOICE);
        if (option->choices)
            text_printf(text, "default %s", option->choices[choice]);
        return;
    }
    case CLV_OPTION_EITHER: text_printf(text, "default %s", option->choices[*(const bool *)member]); return;
    default: return;
    }
}

/* Appends the help of an option, with its values and its default in brackets. */
static void describe(struct text *text, const struct clv_option *option, const struct option_group *group,
                     bool is_short, bool has_default)
{
    const char *end = strchr(option->help, '\n'), *open = " (";
    text_append(text, option->help, end ? (size_t)(end - option->help) : strlen(option->help));
    if (end && !is_short) {
        if (end[1] != '(') /* the sentence continues in a bracket */
            text_put(text, ".");
        text_put(text, end);
    }
    if (option->flags & CLV_OPTION_PLAIN)
        return;
    bool has_range = option->kind == CLV_OPTION_INT || option->kind == CLV_OPTION_NUMBER;
    size_t before = text->size;
    if (option->choices && !is_short)
        for (size_t i = 0; option->choices[i]; i++, open = ", ")
            text_printf(text, "%s%s", open, option->choices[i]);
    if (has_range && !is_short && option->maximum < 1e8) {
        text_printf(text, "%s%.10g..%.10g", open, option->minimum, option->maximum);
        open = ", ";
    }
    struct text value;
    text_init(&value, 256);
    if (has_default)
        put_default(&value, option, group->base);
    if (value.size)
        text_printf(text, "%s%s", text->size > before ? "; " : open, value.bytes);
    text_release(&value);
    if (text->size > before)
        text_put(text, ")");
}

static void put_option(FILE *stream, const struct clv_option *option, const struct option_group *group, bool is_short,
                       const struct common_options *common)
{
    struct text text;
    text_init(&text, 4096);
    int column = option->short_name ? fprintf(stream, "  -%c, --%s", option->short_name, option->name)
                                    : fprintf(stream, "      --%s", option->name);
    if (option->argument)
        column += fprintf(stream, " %s", option->argument);
    if (column < COLUMN - 1)
        fprintf(stream, "%*s", COLUMN - column, "");
    else
        fprintf(stream, "\n%*s", COLUMN, "");
    describe(&text, option, group, is_short, !options_given(common, option->name));
    put_words(stream, text.bytes ? text.bytes : "", COLUMN, COLUMN);
    text_release(&text);
}

void option_help_short(FILE *stream, const char *command, const struct option_table *table,
                       const struct common_options *common)
{
    static const int flags[] = {CLV_OPTION_NEEDED, CLV_OPTION_BASIC};
    fprintf(stream, "Usage: %s %s\n%s\n\n", command, table->usage, table->summary);
    for (int k = 0; k < 2; k++)
        for (const struct option_group *group = table->groups; group->rows; group++)
            for (const struct clv_option *option = group->rows; option->name; option++)
                if (option->flags & flags[k])
                    put_option(stream, option, group, true, common);
    fprintf(stream, "\nExamples:\n  cleave %s\n  cleave %s\n\n`%s --help all' lists all options.\n", table->examples[0],
            table->examples[1], command);
}

/* Returns whether an earlier row has the option's section. */
static bool is_repeated(const struct option_table *table, const struct clv_option *option)
{
    for (const struct option_group *group = table->groups; group->rows; group++)
        for (const struct clv_option *row = group->rows; row->name; row++) {
            if (row == option)
                return false;
            if (!(row->flags & CLV_OPTION_HIDDEN) && strcmp(row->section, option->section) == 0)
                return true;
        }
    return false;
}

static void put_section(FILE *stream, const char *section, const struct option_table *table,
                        const struct common_options *common)
{
    fprintf(stream, "\n%s:\n", section);
    for (const struct option_group *group = table->groups; group->rows; group++)
        for (const struct clv_option *option = group->rows; option->name; option++)
            if (!(option->flags & CLV_OPTION_HIDDEN) && strcmp(option->section, section) == 0)
                put_option(stream, option, group, false, common);
}

void option_help_all(FILE *stream, const char *command, const struct option_table *table,
                     const struct common_options *common)
{
    fprintf(stream, "Usage: %s %s\n%s\n", command, table->usage, table->summary);
    for (const struct option_group *group = table->groups; group->rows; group++)
        for (const struct clv_option *option = group->rows; option->name; option++)
            if (!(option->flags & CLV_OPTION_HIDDEN) && !is_repeated(table, option))
                put_section(stream, option->section, table, common);
    fprintf(stream, "  -?, --help [all]           Print what most people need, or all options\n"
                    "      --usage                Print the usage alone\n"
                    "  -V, --version              Print version and licence\n");
    if (table->notes) {
        fputc('\n', stream);
        put_words(stream, table->notes, 0, 0);
    }
}

void option_help_list(FILE *stream, const struct option_table *table)
{
    static const char *const files[] = {"PATH", "FILE", "FOLDER"};
    for (const struct option_group *group = table->groups; group->rows; group++)
        for (const struct clv_option *option = group->rows; option->name; option++) {
            if (option->flags & CLV_OPTION_HIDDEN)
                continue;
            bool is_file = false, is_model = option->argument && strcmp(option->argument, "MODEL") == 0;
            for (size_t k = 0; k < sizeof files / sizeof *files; k++)
                is_file |= option->argument && strcmp(option->argument, files[k]) == 0;
            for (int is_long = option->short_name == 0; is_long < 2; is_long++) {
                if (is_long)
                    fprintf(stream, "--%s%s", option->name, option->argument ? "=" : "");
                else
                    fprintf(stream, "-%c%s", option->short_name, option->argument ? "=" : "");
                for (size_t i = 0; option->choices && option->choices[i]; i++)
                    fprintf(stream, "%s%s", i ? " " : "", option->choices[i]);
                fputs(is_model ? "@.cleave\n" : is_file ? "@\n" : "\n", stream);
            }
        }
    fputs("--help\n--usage\n--version\n", stream);
}
