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

/* Refused pairs of an option, those of one text in one row. */
struct group {
    char text[2048], others[4096];
};

static void add_to_groups(struct group *groups, int *n_groups, const char *text, const char *other)
{
    int g = 0;
    char name[64] = "", common[sizeof groups->text];
    size_t length = strlen(other);
    if (strncmp(text, other, length) == 0 && strchr(": ", text[length])) /* each by its own name is one text */
        snprintf(name, sizeof name, "--*");
    snprintf(common, sizeof common, "%s%s", name, *name ? text + length : text);
    while (g < *n_groups && strcmp(groups[g].text, common) != 0)
        g++;
    if (g == *n_groups) {
        ck_assert_int_lt(g, 256);
        *groups[(*n_groups)++].others = 0;
        memcpy(groups[g].text, common, sizeof common);
    }
    size_t used = strlen(groups[g].others);
    ck_assert_uint_lt(used + strlen(other) + 2, sizeof groups->others);
    snprintf(groups[g].others + used, sizeof groups->others - used, " %s", other);
}

enum { MAX_CHOICES = 240 };
static struct group groups[256];

/* An option alone and, in a command's first setting, with each of those after it. */
static void pair_rows(const struct option_command *command, int s, const struct choice *choices, int n)
{
    const char *setting = command->settings[s] ? command->settings[s] : "set";
    int n_groups = 0, n_taken = 0;
    uint64_t digest = HASH_START;
    char alone[sizeof(struct answer)] = "";
    for (int k = 0; k < (s ? 1 : n); k++) {
        if (k && strcmp(choices[k].option, choices[0].option) == 0)
            continue;
        char line[4096];
        snprintf(line, sizeof line, "%s %s %s %s", command->name, setting, choices[0].words, k ? choices[k].words : "");
        struct answer answer = ask(line);
        const char *other = k ? choices[k].option : "alone";
        if (answer.code == 64) {
            add_to_groups(groups, &n_groups, answer.text, other);
            continue;
        }
        snprintf(line, sizeof line, "%s %d %s", other, answer.code, answer.text);
        digest = golden_bytes(digest, "lines", line, strlen(line) + 1);
        n_taken++;
        if (k == 0)
            snprintf(alone, sizeof alone, ":%s", answer.text);
    }
    if (n_taken)
        golden_row(digest, "%s\t%d\t%s\ttaken\t%d%s", command->name, s + 1, choices[0].option, n_taken, alone);
    for (int g = 0; g < n_groups; g++)
        golden_line("%s\t%d\t%s\t%s\t%s", command->name, s + 1, choices[0].option, groups[g].text,
                    groups[g].others + 1);
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

/* Every learner with every parameter of any learner. */
static void learner_rows(void)
{
    static const struct option_command train = {"train", {"--data set/manifest.tsv -o o/m"}, {NULL}};
    struct choice choices[MAX_CHOICES];
    int n = 1;
    for (size_t i = 0; clv_learner_at(i); i++)
        for (const struct clv_parameter *parameter = clv_learner_at(i)->parameters; parameter->name; parameter++) {
            const char *option = kept(formatted("--%s", parameter->name));
            const char *const *names = parameter->choices;
            const char *value = names ? names[0] : formatted("%g", parameter->value);
            int k = 1;
            while (k < n && strcmp(choices[k].option, option) != 0)
                k++;
            ck_assert_int_lt(k, MAX_CHOICES);
            if (k == n)
                choices[n++] = (struct choice){option, kept(formatted("%s %s", option, value))};
        }
    for (size_t i = 0; clv_learner_at(i); i++) {
        set_output();
        choices[0].option = choices[0].words = kept(formatted("--learner %s", clv_learner_at(i)->name));
        pair_rows(&train, 0, choices, n);
    }
}

TEST(options_go_together_as_they_did)
{
    char top[4096];
    enter_empty_folder(top, sizeof top);
    golden_begin();
    for (int c = 0; c < N_OPTION_COMMANDS; c++) {
        const struct option_command *command = &option_commands[c];
        struct choice choices[MAX_CHOICES];
        set_output();
        int n = list_choices(choices, MAX_CHOICES, command);
        for (int s = 0; s == 0 || (s < 6 && command->settings[s]); s++)
            for (int k = 0; k < n; k++)
                pair_rows(command, s, choices + k, n - k);
    }
    learner_rows();
    ck_assert_int_eq(chdir(top), 0);
    golden_end("options", "command\tsetting\toption\trefusal\twith");
}

/* Answers to a bad value, those of one status and text in one row. */
struct bad_group {
    int code;
    char *text, *with; /* the commands, options and values that have it */
};

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

static void add_to_bad_groups(struct bad_group *of, int *n, int code, const char *text, const char *member)
{
    char *with;
    int g = 0;
    while (g < *n && (of[g].code != code || strcmp(of[g].text, text) != 0))
        g++;
    ck_assert_int_lt(g, 1024);
    if (g == *n)
        of[(*n)++] = (struct bad_group){code, strdup(text), strdup("")};
    ck_assert_int_gt(asprintf(&with, "%s%s%s", of[g].with, *of[g].with ? "; " : "", member), 0);
    free(of[g].with);
    of[g].with = with;
}

/* An option's answers to all bad values; where they are one, the values are not named. */
static void try_bad_values(struct bad_group *of, int *n, const struct option_command *command,
                           const struct option_row *row)
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
        add_to_bad_groups(of, n, answer[b].code, text[b],
                          is_one ? formatted("%s %s", command->name, row->option)
                                 : formatted("%s %s=%s", command->name, row->option, bad[b]));
    for (size_t b = 0; b < N_BAD; b++)
        free(text[b]);
}

TEST(bad_values_are_refused_by_the_same_words)
{
    static struct bad_group found[1024];
    char top[4096];
    int n = 0;
    enter_empty_folder(top, sizeof top);
    golden_begin();
    for (int c = 0; c < N_OPTION_COMMANDS; c++) {
        const struct option_command *command = &option_commands[c];
        const char *last = "";
        set_output();
        for (int t = 0; t < 3 && command->rows[t]; t++)
            for (const struct option_row *row = command->rows[t]; row->option; last = row++->option)
                if (strcmp(row->option, last) != 0)
                    try_bad_values(found, &n, command, row);
    }
    for (int g = 0; g < n; g++) {
        golden_line("%d\t%s\t%s", found[g].code, found[g].text, found[g].with);
        free(found[g].text);
        free(found[g].with);
    }
    ck_assert_int_eq(chdir(top), 0);
    golden_end("refusals", "status\trefusal or canonical line\tcommands and options with this answer to a bad value");
}
