/* Which options of every command go together, the canonical line of those that do, and every refusal's text: tables on
 * record, tests/golden/options.tsv and refusals.tsv. Where that is meant to change:
 *
 *     CLEAVE_GOLDEN=write CK_RUN_SUITE=golden_options CLEAVE_BUILD=build build/run-tests
 *
 * Commands run in a folder without files: what is not refused ends at the first file that it would read or write. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "cli/option_rows.h"
#include "support/golden.h"
#include "support/support.h"

/* One command line. */

struct answer {
    int code;
    char text[2048]; /* the refusal; else the canonical line, if the command has one */
};

static int answers = -1; /* where the command's process writes */
static char canonical[2048];

/* Every command ends by this; the canonical line is complete then. */
void __real_common_options_release(struct common_options *common);
void __wrap_common_options_release(struct common_options *common);
void __wrap_common_options_release(struct common_options *common)
{
    snprintf(canonical, sizeof canonical, "%s", common->canonical.bytes ? common->canonical.bytes : "");
    __real_common_options_release(common);
}

/* In a process of its own. What argp refuses ends it with the refusal on standard error. */
static void run_line(const char *line)
{
    char words[8192], *argv[256], *rest = words;
    int argc = 0;
    struct clv_error error = {0};
    snprintf(words, sizeof words, "%s", line);
    for (char *word; (word = strsep(&rest, " "));)
        if (*word)
            argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
    argv[argc] = NULL;
    argp_err_exit_status = clv_status_exit_code(CLV_ERR_USAGE);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "r", stdin) || dup2(answers, STDERR_FILENO) < 0)
        _exit(1);
    const struct command *command = command_find(argv[0]);
    argv[0] = (char *)formatted("cleave %s", argv[0]);
    enum clv_status status = command->run(argc, argv, &error);
    dprintf(answers, "\v%s", status == CLV_ERR_USAGE ? error.message : canonical);
    _exit(clv_status_exit_code(status));
}

static struct answer ask(const char *line)
{
    struct answer answer = {0};
    char said[sizeof answer.text];
    int ends[2], status;
    size_t size = 0;
    ck_assert_int_eq(pipe(ends), 0);
    fflush(NULL);
    pid_t process = fork();
    ck_assert_int_ge(process, 0);
    if (process == 0) {
        answers = ends[1];
        close(ends[0]);
        run_line(line);
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], said + size, sizeof said - 1 - size)) > 0;)
        size += (size_t)n;
    close(ends[0]);
    said[size] = 0;
    ck_assert_int_eq(waitpid(process, &status, 0), process);
    ck_assert_msg(WIFEXITED(status), "killed by signal %d: cleave %s", WTERMSIG(status), line);
    answer.code = WEXITSTATUS(status);
    const char *text = strchr(said, '\v') ? strchr(said, '\v') + 1 : said; /* notes come before */
    snprintf(answer.text, sizeof answer.text, "%.*s", (int)strcspn(text, "\n"), text);
    for (char *at = answer.text; *at; at++)
        if (*at == '\t')
            *at = ' ';
    return answer;
}

/* Options with values. */

/* Of options that have none in option_rows.h because nothing comes out differently. */
static const char *const values[] = {
    "--quiet",      "--threads 2",          "--overwrite",  "--engine cleave",   "--resume", "--requeue",
    "--memory 1G",  "--checkpoint-every 9", "--no-browser", "--listen ::1",      "--port 9", "--max-pixels 100",
    "--max-side 9", "--max-jpeg-scans 1",   "--range 0,9",  "--boxes boxes.tsv",
};

struct choice {
    const char *option, *words;
};

/* A copy that lasts as long as the process. */
static char *kept(const char *text)
{
    static struct copy {
        struct copy *next;
        char text[];
    } * copies;
    struct copy *copy = malloc(sizeof *copy + strlen(text) + 1);
    ck_assert_ptr_nonnull(copy);
    strcpy(copy->text, text);
    copy->next = copies;
    copies = copy;
    return copy->text;
}

static int list_choices(struct choice *choices, int capacity, const struct option_command *command)
{
    int n = 0;
    for (int t = 0; t < 3 && command->rows[t]; t++)
        for (const struct option_row *row = command->rows[t]; row->option; row++) {
            const char *words = row->change, *more = row->more && row->change ? row->more : "";
            for (size_t v = 0; !words && v < sizeof values / sizeof *values; v++)
                if (strncmp(values[v], row->option, strlen(row->option)) == 0 &&
                    strchr(" ", values[v][strlen(row->option)]))
                    words = values[v];
            if (!words || strchr(more, '<'))
                continue; /* --help, --output, .. */
            ck_assert_int_lt(n, capacity);
            choices[n++] = (struct choice){row->option, kept(formatted("%s %s", more, words))};
        }
    return n;
}

/* The tables. */

/* The inputs that have the same answer: its text is pinned once, beside all of them. */
struct group {
    int code;
    char *text, *with;
    const char *last; /* the first option of the pair that was added last */
};

enum { MAX_GROUPS = 1024 };
static struct group groups[MAX_GROUPS];
static int n_groups;

static void append(char **text, const char *separator, const char *more)
{
    char *joined;
    ck_assert_int_gt(asprintf(&joined, "%s%s%s", *text, **text ? separator : "", more), 0);
    free(*text);
    *text = joined;
}

/* first NULL: `other` stands alone, else it was given after `first`. */
static void add_to_groups(int code, const char *text, const char *first, const char *other)
{
    int g = 0;
    while (g < n_groups && (groups[g].code != code || strcmp(groups[g].text, text) != 0))
        g++;
    ck_assert_int_lt(g, MAX_GROUPS);
    if (g == n_groups)
        groups[n_groups++] = (struct group){code, strdup(text), strdup(""), NULL};
    if (first && first != groups[g].last)
        append(&groups[g].with, "; ", formatted("%s with", first));
    append(&groups[g].with, first ? " " : "; ", other);
    groups[g].last = first;
}

/* Writes the groups as rows and empties them. */
static void groups_write(const char *columns)
{
    for (int g = 0; g < n_groups; g++) {
        golden_line("%s%d\t%s\t%s", columns, groups[g].code, groups[g].text, groups[g].with);
        free(groups[g].text);
        free(groups[g].with);
    }
    n_groups = 0;
}

/* The text with "--*" for the option that it begins with: one text, whichever option it is about. */
static const char *without_name(const char *text, const char *option)
{
    size_t length = strlen(option);
    return strncmp(text, option, length) == 0 && strchr(": ", text[length]) ? formatted("--*%s", text + length) : text;
}

/* The canonical line without the beginning that the setting alone has. */
static const char *change_of(const struct answer *answer, const struct answer *setting)
{
    size_t length = strlen(setting->text);
    return strncmp(answer->text, setting->text, length) == 0 ? answer->text + length : answer->text;
}

static bool has_word(const char *line, const char *word, size_t length)
{
    for (const char *at = line; (at = strstr(at, word)); at++)
        if ((at == line || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return true;
    return false;
}

/* Whether each word of `line` is in `pair` if, and only if, both options have it or one has and the setting has not. */
static bool words_agree(const char *line, const char *pair, const char *first, const char *other, const char *setting)
{
    char words[sizeof((struct answer *)0)->text], *rest = words;
    snprintf(words, sizeof words, "%s", line);
    for (char *word; (word = strsep(&rest, " "));) {
        size_t n = strlen(word);
        bool in_first = has_word(first, word, n), in_other = has_word(other, word, n);
        bool is_expected = (in_first && in_other) || ((in_first || in_other) && !has_word(setting, word, n));
        if (n && is_expected != has_word(pair, word, n))
            return false;
    }
    return true;
}

/* Two options together are refused as one of them is alone; and if none is, their line has the changes of both. */
static bool is_expected_of_pair(const struct answer *pair, const struct answer *first, const struct answer *other,
                                const struct answer *setting)
{
    if (first->code == 64 || other->code == 64)
        return pair->code == 64 && ((first->code == 64 && strcmp(pair->text, first->text) == 0) ||
                                    (other->code == 64 && strcmp(pair->text, other->text) == 0));
    return pair->code == setting->code &&
           words_agree(pair->text, pair->text, first->text, other->text, setting->text) &&
           words_agree(first->text, pair->text, first->text, other->text, setting->text) &&
           words_agree(other->text, pair->text, first->text, other->text, setting->text);
}

enum { MAX_CHOICES = 240, MAX_SETTINGS = 6 };

static struct answer ask_in(const struct option_command *command, int setting, const char *first, const char *other)
{
    return ask(formatted("%s %s %s %s", command->name, command->settings[setting] ? command->settings[setting] : "set",
                         first, other));
}

/* Each setting's canonical line; and of each option alone what it adds to the line, or the refusal. */
static void alone_rows(struct answer *alone, struct answer *settings, const struct option_command *command,
                       const struct choice *choices, int n)
{
    int n_settings = 0;
    for (int s = 0; s == 0 || (s < MAX_SETTINGS && command->settings[s]); s++) {
        settings[n_settings++] = ask_in(command, s, "", "");
        golden_line("%s\tsetting %d\t%d\t%s\t", command->name, s + 1, settings[s].code, settings[s].text);
    }
    for (int k = 0; k < n; k++)
        for (int s = 0; s < n_settings; s++) {
            struct answer answer = ask_in(command, s, choices[k].words, "");
            add_to_groups(answer.code,
                          answer.code == 64 ? without_name(answer.text, choices[k].option)
                                            : change_of(&answer, &settings[s]),
                          choices[k].option, formatted("%d", s + 1));
            if (s == 0)
                alone[k] = answer;
        }
    groups_write(formatted("%s\talone\t", command->name));
}

/* All pairs in a command's first setting. Those that do not answer as is_expected_of_pair says are rows. */
static void pair_rows(const struct option_command *command, const struct choice *choices, int n,
                      const struct answer *alone, const struct answer *setting)
{
    for (int j = 0; j < n; j++)
        for (int k = j + 1; k < n; k++) {
            if (strcmp(choices[j].option, choices[k].option) == 0)
                continue;
            struct answer pair = ask_in(command, 0, choices[j].words, choices[k].words);
            if (is_expected_of_pair(&pair, &alone[j], &alone[k], setting))
                continue;
            const char *text = pair.code == 64 ? without_name(pair.text, choices[j].option) : change_of(&pair, setting);
            add_to_groups(pair.code, pair.code == 64 ? without_name(text, choices[k].option) : text, choices[j].option,
                          choices[k].option);
        }
    groups_write(formatted("%s\tpair\t", command->name));
}

/* A folder without files, where o/ is to write to. */
static void enter_empty_folder(char *top, size_t size)
{
    ck_assert_ptr_nonnull(getcwd(top, size));
    ck_assert_int_eq(chdir(temporary_folder()), 0);
}

/* A command that ends so early leaves nothing in o/. */
static void set_output(void)
{
    ck_assert(remove("o") == 0 || errno == ENOENT);
    ck_assert_int_eq(mkdir("o", 0700), 0);
}

/* Every learner with every parameter of any learner: by its name a default value is taken, or the refusal. */
static void learner_rows(void)
{
    struct option_command train = {"train", {NULL}, {NULL}};
    struct choice choices[MAX_CHOICES];
    int n = 0;
    for (size_t i = 0; clv_learner_at(i); i++)
        for (const struct clv_parameter *parameter = clv_learner_at(i)->parameters; parameter->name; parameter++) {
            const char *option = kept(formatted("--%s", parameter->name));
            const char *const *names = parameter->choices;
            const char *value = names ? names[0] : formatted("%g", parameter->value);
            int k = 0;
            while (k < n && strcmp(choices[k].option, option) != 0)
                k++;
            ck_assert_int_lt(k, MAX_CHOICES);
            if (k == n)
                choices[n++] = (struct choice){option, kept(formatted("%s %s", option, value))};
        }
    for (size_t i = 0; clv_learner_at(i); i++) {
        const char *name = clv_learner_at(i)->name;
        train.settings[0] = kept(formatted("--data set/manifest.tsv -o o/m --learner %s", name));
        set_output();
        struct answer setting = ask_in(&train, 0, "", "");
        add_to_groups(setting.code, setting.text, name, "alone");
        for (int k = 0; k < n; k++) {
            struct answer answer = ask_in(&train, 0, choices[k].words, "");
            add_to_groups(answer.code,
                          answer.code == 64 ? without_name(answer.text, choices[k].option)
                                            : change_of(&answer, &setting),
                          name, choices[k].option);
        }
    }
    groups_write("train\tlearner\t");
}

TEST(options_go_together_as_they_did)
{
    static struct answer alone[MAX_CHOICES], settings[MAX_SETTINGS];
    char top[4096];
    enter_empty_folder(top, sizeof top);
    golden_begin();
    for (int c = 0; c < N_OPTION_COMMANDS; c++) {
        const struct option_command *command = &option_commands[c];
        struct choice choices[MAX_CHOICES];
        set_output();
        int n = list_choices(choices, MAX_CHOICES, command);
        alone_rows(alone, settings, command, choices, n);
        pair_rows(command, choices, n, alone, &settings[0]);
    }
    learner_rows();
    ck_assert_int_eq(chdir(top), 0);
    golden_end("options", "command\tof\tstatus\trefusal or what the canonical line gets\tgiven");
}

/* The text without what it quotes: the command, the option and the value. Free it. */
static char *without_words(const char *text, const char *command, const char *option, const char *value)
{
    const char *quoted = formatted("\"%s\"", value), *assigned = formatted("=%s'", value);
    const char *const words[] = {formatted("cleave %s:", command), option, quoted, assigned};
    const char *const stars[] = {"cleave *:", "--*", "\"*\"", "=*'"};
    char *result = strdup(text);
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        char *at = strstr(result, words[w]), *replaced;
        if (!at)
            continue;
        ck_assert_int_gt(asprintf(&replaced, "%.*s%s%s", (int)(at - result), result, stars[w], at + strlen(words[w])),
                         0);
        free(result);
        result = replaced;
    }
    return result;
}

/* An option's answers to all bad values; where they are one, the values are not named. */
static void try_bad_values(const struct option_command *command, const struct option_row *row)
{
    static const char *const bad[] = {"", "x", "-1", "1e99"};
    enum { N_BAD = sizeof bad / sizeof *bad };
    const char *setting = command->settings[0] ? command->settings[0] : "set";
    struct answer answer[N_BAD];
    char *text[N_BAD];
    bool is_one = true;
    for (size_t b = 0; b < N_BAD; b++) {
        answer[b] = ask(formatted("%s %s %s=%s %s", command->name, setting, row->option, bad[b],
                                  row->more && row->change ? row->more : ""));
        text[b] = without_words(answer[b].text, command->name, row->option, bad[b]);
        is_one &= answer[b].code == answer[0].code && strcmp(text[b], text[0]) == 0;
    }
    for (size_t b = 0; b < (is_one ? 1 : N_BAD); b++)
        add_to_groups(answer[b].code, text[b], NULL,
                      is_one ? formatted("%s %s", command->name, row->option)
                             : formatted("%s %s=%s", command->name, row->option, bad[b]));
    for (size_t b = 0; b < N_BAD; b++)
        free(text[b]);
}

TEST(bad_values_are_refused_by_the_same_words)
{
    char top[4096];
    enter_empty_folder(top, sizeof top);
    golden_begin();
    for (int c = 0; c < N_OPTION_COMMANDS; c++) {
        const struct option_command *command = &option_commands[c];
        const char *last = "";
        set_output();
        for (int t = 0; t < 3 && command->rows[t]; t++)
            for (const struct option_row *row = command->rows[t]; row->option; last = row++->option)
                if (strcmp(row->option, last) != 0)
                    try_bad_values(command, row);
    }
    groups_write("");
    ck_assert_int_eq(chdir(top), 0);
    golden_end("refusals", "status\trefusal or canonical line\tcommands and options with this answer to a bad value");
}
