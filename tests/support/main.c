/* The one test runner: every tests/<area>/test_<name>.c is the suite <name>. CK_RUN_SUITE picks one.
 *
 * Suites run side by side in processes of their own, one a processor (CLEAVE_TEST_JOBS says otherwise), each taking the
 * next that nobody has. What a suite prints is shown as it ends, in one piece; Check's closing line counts all of
 * them. A suite that takes its process with it is named, and what it printed shown. */
#include <locale.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "support/registry.h"
#include "support/support.h"

enum { MAX_JOBS = 64 };

/* Shared by all processes. */
struct tally {
    atomic_int next; /* the first suite that nobody has taken */
    atomic_int checks, failures, errors;
    atomic_int ended;        /* suites that ran to their end */
    atomic_int at[MAX_JOBS]; /* the suite that each process runs */
};

/* A process that runs suites. */
struct worker {
    pid_t process;
    int shown;      /* a file of what the suite that it runs printed so far */
    atomic_int *at; /* that suite, shared with it */
};

/* Copies what the file `from` holds to the descriptor `to`; a failing screen is none of the tests' business. */
static void show(int to, int from)
{
    char block[4096];
    ssize_t size;
    if (lseek(from, 0, SEEK_SET) < 0)
        return;
    while ((size = read(from, block, sizeof block)) > 0)
        if (write(to, block, (size_t)size) < 0)
            return;
}

static void run_suite(struct tally *tally, int index)
{
    SRunner *runner = srunner_create(registered_suite(index));
    srunner_run_all(runner, CK_SILENT);
    OWNED_ARRAY TestResult **results = srunner_results(runner);
    int checks = srunner_ntests_run(runner);
    for (int i = 0; i < checks; i++) {
        if (tr_rtype(results[i]) == CK_FAILURE)
            tally->failures++;
        if (tr_rtype(results[i]) == CK_ERROR)
            tally->errors++;
    }
    tally->checks += checks;
    if (checks)
        printf(" %s\n", registered_name(index));
    if (srunner_ntests_failed(runner))
        srunner_print(runner, CK_NORMAL);
    fflush(stdout);
    srunner_free(runner);
}

/* Takes suites until there are none; what they print to standard output and error goes to a file first. */
static void work(struct tally *tally, const struct worker *self)
{
    int screen = dup(STDOUT_FILENO), index;
    if (screen < 0 || dup2(self->shown, STDOUT_FILENO) < 0 || dup2(self->shown, STDERR_FILENO) < 0)
        _Exit(EXIT_FAILURE);
    while ((index = tally->next++) < n_suites_registered()) {
        *self->at = index;
        if (ftruncate(self->shown, 0) || lseek(self->shown, 0, SEEK_SET) < 0)
            _Exit(EXIT_FAILURE);
        begin_suite();
        run_suite(tally, index);
        tally->ended++;
        show(screen, self->shown);
    }
    exit(EXIT_SUCCESS);
}

static long job_count(void)
{
    const char *asked = getenv("CLEAVE_TEST_JOBS");
    long jobs = asked ? strtol(asked, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    return jobs < 1 ? 1 : jobs > MAX_JOBS ? MAX_JOBS : jobs;
}

/* Whether CK_RUN_SUITE is a suite; names those that are near. */
static bool is_known(const char *asked)
{
    enum { MOST = 512 };
    const char *names[MOST];
    int n = n_suites_registered();
    for (int i = 0; i < n; i++)
        if (strcmp(names[i] = registered_name(i), asked) == 0)
            return true;
    const char *near = text_nearest(asked, names, (size_t)n);
    printf("no suite is named \"%s\"\n", asked);
    for (int i = 0; i < n; i++)
        if (names[i] == near || strstr(names[i], asked) || strstr(asked, names[i]))
            printf("near: %s\n", names[i]);
    return false;
}

int main(void)
{
    const char *asked = getenv("CK_RUN_SUITE");
    if (asked && *asked && !is_known(asked))
        return EXIT_FAILURE;
    /* Seconds a test: enough on a busy machine, with a sanitizer, or counting lines. */
    setenv("CK_DEFAULT_TIMEOUT", IS_SANITIZED ? "3600" : "600", 0);
    if (getenv("CLEAVE_TEST_COMMA") && (!setlocale(LC_NUMERIC, "") || strcmp(localeconv()->decimal_point, ",") != 0))
        return EXIT_FAILURE; /* test_comma.c asked for it */
    int n_suites = n_suites_registered();
    struct worker workers[MAX_JOBS];
    struct tally *tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED)
        return EXIT_FAILURE;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("Running %d suites\n", n_suites);
    fflush(stdout);
    bool died = false;
    long jobs = job_count();
    for (long i = 0; i < jobs; i++) {
        FILE *shown = tmpfile();
        if (!shown)
            return EXIT_FAILURE;
        workers[i] = (struct worker){.shown = fileno(shown), .at = &tally->at[i]};
        workers[i].process = fork();
        if (workers[i].process == 0)
            work(tally, &workers[i]);
        died |= workers[i].process < 0;
    }
    for (long i = 0; i < jobs; i++) {
        int status;
        if (workers[i].process < 0 || waitpid(workers[i].process, &status, 0) < 0 || status == 0)
            continue;
        died = true;
        printf("the runner's process ended early, in suite %s (%s %d):\n", registered_name(*workers[i].at),
               WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        fflush(stdout);
        show(STDOUT_FILENO, workers[i].shown);
    }
    if (died || tally->ended < n_suites)
        printf("%d of %d suites ran\n", (int)tally->ended, n_suites);
    int bad = tally->failures + tally->errors;
    printf("%d%%: Checks: %d, Failures: %d, Errors: %d\n",
           tally->checks ? 100 * (tally->checks - bad) / tally->checks : 100, (int)tally->checks, (int)tally->failures,
           (int)tally->errors);
    return bad || died || tally->ended < n_suites ? EXIT_FAILURE : EXIT_SUCCESS;
}
