/* The version of the headers, which a program is compiled with, and of the library, which it runs with.
 *
 *     #if CLV_VERSION_NUMBER >= CLV_VERSION_OF(0, 1, 0)
 *     if (clv_version_number() != CLV_VERSION_NUMBER)
 *         fprintf(stderr, "%s is not the version that this program was built for\n", clv_version());
 *
 * Before 1.0.0 any version may change structs and functions, under the same soname (libcleave.so.0): a program is
 * compiled with the headers of the library that it runs with. From 1.0.0 on no function is removed or changes its
 * meaning within a soname. */
#ifndef CLEAVE_VERSION_H
#define CLEAVE_VERSION_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks exported symbols; all others are local to the library. */
#define CLV_API __attribute__((visibility("default")))

#define CLV_VERSION_MAJOR 0
#define CLV_VERSION_MINOR 1
#define CLV_VERSION_PATCH 0

/* A version as a number for comparisons: 1.2.3 is 1002003. */
#define CLV_VERSION_OF(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define CLV_VERSION_NUMBER                  CLV_VERSION_OF(CLV_VERSION_MAJOR, CLV_VERSION_MINOR, CLV_VERSION_PATCH)

/* "cleave 0.1.0" and CLV_VERSION_NUMBER of the library at run time. */
CLV_API const char *clv_version(void);
CLV_API int clv_version_number(void);

/* Returns whether libmaxflow (GPL-3+) is linked in: CLV_ENGINE_BK is then available, and the whole is under the GPL. */
CLV_API bool clv_has_bk(void);

#ifdef __cplusplus
}
#endif
#endif
