/* The suites that the tests have registered themselves in (TEST), by their files. */
#ifndef TESTS_REGISTRY_H
#define TESTS_REGISTRY_H

#include <check.h>

int n_suites_registered(void);
const char *registered_name(int suite);
Suite *registered_suite(int suite); /* a new one */

#endif
