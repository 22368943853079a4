#include "cli/train/learner_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_OPTIONS 128

static char help[MAX_OPTIONS][320];
static char header[96], learner_help[256];
static struct argp_option options[MAX_OPTIONS];
static size_t n_parameters; /* options[2 .. 2 + n_parameters) are parameters */

static bool is_listed(const char *name)
{
    for (size_t i = 0; i < n_parameters; i++)
        if (strcmp(options[2 + i].name, name) == 0)
            return true;
    return false;
}

static size_t count_names(const char *const *names)
{
    size_t n = 0;
    while (names[n])
        n++;
    return n;
}

/* "what it does (default a; one of a, b)", or the range of a number. */
static void describe(char *text, size_t size, const struct clv_learner *learner, int index)
{
    const struct clv_parameter *parameter = &learner->parameters[index];
    const char *const *names = clv_learner_choices(learner, index);
    if (!names) {
        snprintf(text, size, "%s (default %g; %g..%g)", parameter->help, parameter->value, parameter->minimum,
                 parameter->maximum);
        return;
    }
    size_t used =
        (size_t)snprintf(text, size, "%s (default %s; one of", parameter->help, names[(size_t)parameter->value]);
    for (size_t i = 0; names[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s %s%s", i ? "," : "", names[i], names[i + 1] ? "" : ")");
}

static void list_parameters(const struct clv_learner *learner, int flags)
{
    for (const struct clv_parameter *parameter = learner->parameters; parameter->name; parameter++) {
        if (is_listed(parameter->name) || n_parameters + 3 >= MAX_OPTIONS)
            continue;
        char *text = help[n_parameters];
        int index = (int)(parameter - learner->parameters);
        describe(text, sizeof help[0], learner, index);
        options[2 + n_parameters] = (struct argp_option){parameter->name,
                                                         KEYS_LEARNER + (int)n_parameters,
                                                         clv_learner_choices(learner, index) ? "NAME" : "X",
                                                         flags,
                                                         text,
                                                         40};
        n_parameters++;
    }
}

/* The learner that the command line names, for the help text only: argp itself decides what counts. */
static const struct clv_learner *named_learner(int argc, char **argv)
{
    const struct clv_learner *found = NULL;
    for (int i = 1; i < argc; i++) {
        const char *name = NULL;
        if (strncmp(argv[i], "--learner=", 10) == 0)
            name = argv[i] + 10;
        else if ((strcmp(argv[i], "--learner") == 0 || strcmp(argv[i], "-l") == 0) && i + 1 < argc)
            name = argv[i + 1];
        if (name && clv_learner_find(name))
            found = clv_learner_find(name);
    }
    return found ? found : clv_learner_at(0);
}

static error_t choose_learner(struct learner_options *self, const char *arg)
{
    const char *names[MAX_OPTIONS];
    size_t n = 0;
    for (; n < MAX_OPTIONS && clv_learner_at(n); n++)
        names[n] = clv_learner_at(n)->name;
    int index = 0;
    error_t failed = option_choice(&index, "--learner", arg, names, n, self->common);
    if (!failed)
        self->learner = clv_learner_at((size_t)index);
    return failed;
}

static error_t parse_learner(int key, char *arg, struct argp_state *state)
{
    struct learner_options *self = state->input;
    options_note(self->common, options, "", key, arg);
    if (key == 'l')
        return choose_learner(self, arg);
    if (key < KEYS_LEARNER || key >= KEYS_LEARNER + (int)n_parameters)
        return ARGP_ERR_UNKNOWN;
    if (self->n_given == MAX_GIVEN_PARAMETERS)
        return option_error(self->common, "--%s: too many parameters", options[2 + key - KEYS_LEARNER].name);
    self->given[self->n_given].name = options[2 + key - KEYS_LEARNER].name;
    self->given[self->n_given++].typed = arg;
    return 0;
}

void learner_options_init(struct learner_options *self, struct common_options *common)
{
    *self = (struct learner_options){.common = common, .learner = clv_learner_at(0)};
}

const struct argp *learner_argp(int argc, char **argv)
{
    static struct argp argp = {.options = options, .parser = parse_learner};
    const struct clv_learner *shown = named_learner(argc, argv);
    n_parameters = 0;
    snprintf(header, sizeof header, "Learner, and the parameters of `%s':", shown->name);
    size_t used = (size_t)snprintf(learner_help, sizeof learner_help, "One of");
    for (size_t i = 0; clv_learner_at(i) && used < sizeof learner_help; i++)
        used += (size_t)snprintf(learner_help + used, sizeof learner_help - used, "%s %s", i ? "," : "",
                                 clv_learner_at(i)->name);
    if (used < sizeof learner_help)
        snprintf(learner_help + used, sizeof learner_help - used, " (default %s). %s", clv_learner_at(0)->name,
                 "`--learner NAME --help' shows its parameters");
    options[0] = (struct argp_option){NULL, 0, NULL, 0, header, 40};
    options[1] = (struct argp_option){"learner", 'l', "NAME", 0, learner_help, 40};
    list_parameters(shown, 0);
    for (size_t i = 0; clv_learner_at(i); i++)
        list_parameters(clv_learner_at(i), OPTION_HIDDEN);
    options[2 + n_parameters] = (struct argp_option){0};
    return &argp;
}

static enum clv_status refuse_parameter(const struct learner_options *self, const char *name)
{
    char list[512] = "";
    for (const struct clv_parameter *parameter = self->learner->parameters; parameter->name; parameter++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s--%s", used ? ", " : "", parameter->name);
    }
    option_error(self->common, "--%s: learner \"%s\" has no such parameter; it has %s", name, self->learner->name,
                 *list ? list : "none");
    return self->common->status;
}

/* The value typed for a parameter: a number, or one of its names. */
static error_t take_value(double *value, const struct learner_options *self, int index, const char *typed)
{
    const struct clv_parameter *parameter = &self->learner->parameters[index];
    const char *const *names = clv_learner_choices(self->learner, index);
    char option[64];
    int place = 0;
    snprintf(option, sizeof option, "--%s", parameter->name);
    if (!names)
        return option_number(value, option, typed, parameter->minimum, parameter->maximum, self->common);
    error_t failed = option_choice(&place, option, typed, names, count_names(names), self->common);
    if (!failed)
        *value = place;
    return failed;
}

enum clv_status learner_options_apply(const struct learner_options *self, struct clv_train_options *task)
{
    const struct clv_learner *learner = self->learner;
    task->learner = learner;
    for (int i = 0; learner->parameters[i].name; i++)
        task->parameters[i] = learner->parameters[i].value;
    for (size_t i = 0; i < self->n_given; i++) {
        int index = clv_learner_parameter(learner, self->given[i].name);
        if (index < 0)
            return refuse_parameter(self, self->given[i].name);
        if (take_value(&task->parameters[index], self, index, self->given[i].typed))
            return self->common->status;
        task->is_given[index] = true;
    }
    return CLV_OK;
}
