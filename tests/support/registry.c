#include "support/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

enum { MAX_SUITES = 512, MAX_TESTS = 128, MAX_SETUPS = 4 };

struct suite {
    const char *file;
    char name[64];
    struct {
        const TTest *test;
        int begin, end;
    } tests[MAX_TESTS];
    struct {
        SFun setup, teardown;
        bool is_once;
    } setups[MAX_SETUPS];
    int n_tests, n_setups;
    double timeout; /* 0: Check's own */
};

static struct suite suites[MAX_SUITES];
static int n_suites;

/* The last one is asked for most: a file registers all of its own in a row. */
static struct suite *suite_of(const char *file)
{
    for (int i = n_suites; i > 0; i--)
        if (strcmp(suites[i - 1].file, file) == 0)
            return &suites[i - 1];
    if (n_suites == MAX_SUITES)
        abort();
    struct suite *suite = &suites[n_suites++];
    const char *name = strrchr(file, '/');
    suite->file = file;
    snprintf(suite->name, sizeof suite->name, "%s", name ? name + sizeof "/test_" - 1 : file);
    suite->name[strcspn(suite->name, ".")] = '\0';
    return suite;
}

void register_test(const TTest *test, int begin, int end)
{
    struct suite *suite = suite_of(test->file);
    if (suite->n_tests == MAX_TESTS)
        abort();
    suite->tests[suite->n_tests].test = test;
    suite->tests[suite->n_tests].begin = begin;
    suite->tests[suite->n_tests++].end = end;
}

void register_setup(const char *file, SFun setup, SFun teardown, bool is_once)
{
    struct suite *suite = suite_of(file);
    if (suite->n_setups == MAX_SETUPS)
        abort();
    suite->setups[suite->n_setups].setup = setup;
    suite->setups[suite->n_setups].teardown = teardown;
    suite->setups[suite->n_setups++].is_once = is_once;
}

void register_timeout(const char *file, double seconds)
{
    suite_of(file)->timeout = seconds;
}

int n_suites_registered(void)
{
    return n_suites;
}

const char *registered_name(int suite)
{
    return suites[suite].name;
}

Suite *registered_suite(int index)
{
    const struct suite *self = &suites[index];
    Suite *suite = suite_create(self->name);
    TCase *tests = tcase_create(self->name);
    if (self->timeout > 0)
        tcase_set_timeout(tests, self->timeout);
    for (int i = 0; i < self->n_setups; i++)
        if (self->setups[i].is_once)
            tcase_add_unchecked_fixture(tests, self->setups[i].setup, self->setups[i].teardown);
        else
            tcase_add_checked_fixture(tests, self->setups[i].setup, self->setups[i].teardown);
    for (int i = 0; i < self->n_tests; i++)
        tcase_add_loop_test(tests, self->tests[i].test, self->tests[i].begin, self->tests[i].end);
    suite_add_tcase(suite, tests);
    return suite;
}
