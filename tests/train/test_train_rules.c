/* Rules on options that are given together: each is broken once for each pair of its names, and the command and the
 * library refuse by the same words, which the row has. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/options.h"
#include "cleave/options.h"
#include "cleave/train.h"
#include "support/support.h"
#include "train/train.h"

/* A command line and the same options of the library. */
struct call {
    char line[1024];
    struct clv_train_options options;
    char values[8][512]; /* which the options may point to */
    int n_values;
};

static const struct clv_image no_image;
static const struct clv_mask no_mask;

static const struct clv_option *find(const char *name)
{
    for (size_t i = 0; clv_train_option_at(i); i++)
        if (strcmp(clv_train_option_at(i)->name, name) == 0)
            return clv_train_option_at(i);
    ck_abort_msg("no option %s", name);
    return NULL;
}

static void give(struct call *self, const char *name, const char *value)
{
    char *kept = self->values[self->n_values++];
    size_t used = strlen(self->line);
    snprintf(kept, sizeof *self->values, "%s", value);
    snprintf(self->line + used, sizeof self->line - used, " --%s %s", name, value);
    must(clv_option_set(&self->options, find(name), find(name)->argument ? kept : NULL, err));
}

/* A value that is not the default. */
static const char *some_value(const struct clv_option *row)
{
    static const char *const of_others[][2] = {{"scale", "2"}, {"maps", "a=b"}, {"sift-bins", "3"}};
    for (size_t k = 0; k < sizeof of_others / sizeof *of_others; k++)
        if (strcmp(row->name, of_others[k][0]) == 0)
            return of_others[k][1];
    switch (row->kind) {
    case CLV_OPTION_FLAG: return "";
    case CLV_OPTION_INT:
    case CLV_OPTION_NUMBER: return formatted("%g", row->minimum + 1);
    case CLV_OPTION_CHOICE: return row->choices[1];
    default: return "x";
    }
}

/* Makes a fact hold, or if it is needed, fail to. */
static void establish(struct call *self, const char *fact, bool is_needed)
{
    if (strcmp(fact, "@memory") == 0) {
        self->options.images = &no_image;
        self->options.masks = &no_mask;
        self->options.n_images = 1;
    } else if (strcmp(fact, "@init") == 0) {
        give(self, "init", "start.cleave");
    } else if (strcmp(fact, "@grids") == 0) {
        strcat(self->line, " --cv-grid 1");
        self->options.n_grids = 1;
    } else if (strcmp(fact, "@recipe") == 0) {
        give(self, "sift-step", "9");
        self->options.recipe_given = "sift-step";
    } else if (strcmp(fact, "@no-maps") == 0) {
        give(self, "blocks", "size");
        self->options.no_maps = true;
    } else if (is_needed) {
        give(self, "blocks", "position"); /* which is made of nothing */
    }
}

/* Gives what one name of a rule stands for, and returns how a message calls it. */
static const char *give_name(struct call *self, const char *name, bool is_needed)
{
    const char *equals = strchr(name, '=');
    if (*name == '@') {
        establish(self, name, is_needed);
        return strcmp(name, "@recipe") == 0 ? "sift-step" : strcmp(name, "@grids") == 0 ? "cv-grid" : NULL;
    }
    if (!equals && !is_needed)
        give(self, name, some_value(find(name)));
    if (!equals)
        return formatted("%s", name);
    const char *option = formatted("%.*s", (int)(equals - name), name);
    if (!is_needed)
        give(self, option, equals + 1);
    return formatted("%s %s", option, equals + 1);
}

static const char *state(const char *fact)
{
    return strcmp(fact, "@features") == 0 ? formatted("%s is a feature file", here("f.safetensors"))
           : strcmp(fact, "@memory") == 0 ? "the images are in memory"
           : strcmp(fact, "@init") == 0   ? "features are those of the model start.cleave"
                                          : "--blocks leaves them out";
}

static void break_rule(const struct option_rule *rule, const char *option, const char *other, bool is_of_features)
{
    struct call call = {.line = ""};
    struct clv_error said = {0};
    struct clv_model model = {0};
    const bool is_needed = rule->relation == RULE_NEEDS, is_fact = *other == '@';
    char first[64], second[64], expected[1024];
    clv_train_defaults(&call.options, clv_learner_at(0));
    if (strcmp(other, "@memory") != 0)
        give(&call, "data", strcmp(other, "@features") == 0 ? here("f.safetensors") : "set");
    snprintf(first, sizeof first, "%s", give_name(&call, option, false));
    const char *words = give_name(&call, other, is_needed);
    snprintf(second, sizeof second, "%s", words ? words : "");
    if (is_fact && is_needed)
        snprintf(expected, sizeof expected, "--%s cannot be used: %s", first, rule->why);
    else if (is_fact)
        snprintf(expected, sizeof expected, "--%s: %s%s%s", first, state(other), rule->why ? ", " : "",
                 rule->why ? rule->why : "");
    else if (is_needed)
        snprintf(expected, sizeof expected, "--%s needs --%s, %s", first, second, rule->why);
    else
        snprintf(expected, sizeof expected, "--%s %s --%s: %s", first,
                 rule->relation == RULE_UNUSED ? "cannot be used with" : "excludes", second, rule->why);
    ck_assert_int_eq(clv_train_set(&model, &call.options, &said), CLV_ERR_USAGE);
    ck_assert_str_eq(said.message, expected);
    clv_model_release(&model);
    if (strcmp(other, "@memory") != 0) /* which no command has */
        expect_error(64, formatted(": %s\n", expected), "cd %s && cleave train%s -o m", here("."), call.line);
    if (is_of_features)
        expect_error(64, formatted(": %s\n", expected), "cd %s && cleave features%s -o f", here("."), call.line);
}

static int break_all(const struct option_rule *rules)
{
    int n = 0;
    for (const struct option_rule *rule = rules; rule->options; rule++) {
        char options[256], *rest = options, others[256], *more;
        snprintf(options, sizeof options, "%s", rule->options);
        for (char *option; (option = strsep(&rest, " "));) {
            snprintf(others, sizeof others, "%s", rule->others);
            more = others;
            for (char *other; (other = strsep(&more, " ")); n++)
                break_rule(rule, option, other, rules == feature_option_rules);
        }
    }
    return n;
}

TEST(command_and_library_refuse_each_pair_by_the_words_of_its_rule)
{
    spill(here("f.safetensors"), "\x02\0\0\0\0\0\0\0{}", 10);
    ck_assert_int_gt(break_all(train_option_rules), 30);
    ck_assert_int_gt(break_all(feature_option_rules), 12);
}

TEST(every_name_of_a_rule_is_an_option_or_a_fact)
{
    const struct option_rule *const tables[] = {train_option_rules, feature_option_rules};
    for (int t = 0; t < 2; t++)
        for (const struct option_rule *rule = tables[t]; rule->options; rule++) {
            char names[512], *rest = names;
            snprintf(names, sizeof names, "%s %s", rule->options, rule->others);
            for (char *name; (name = strsep(&rest, " "));) {
                name[strcspn(name, "=")] = 0;
                if (*name != '@')
                    ck_assert(find(name)->kind != CLV_OPTION_OTHER || find(name)->size);
            }
        }
}

/* A default that is given by name is refused in the command as any value is, and a rule on a value asks for that. */
TEST(a_default_is_given_in_the_command_alone)
{
    struct clv_train_options options;
    clv_train_defaults(&options, clv_learner_at(0));
    must(train_rules_check(feature_option_rules, &options, NULL, NULL, err));
    expect_error(64, "--patch-size needs --nodes patches", "cleave train set --patch-size 20 -o m");
    expect_error(66, "m: cannot open", "cd %s && cleave train set --stages 1 --init m -o m", here("."));
}
