/* tools/check-layers, on small sources that break one rule each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

#define FLOORS "# from the top\n2  upper\n1  middle > middle/part\n0  base\n"

static void add(const char *path, const char *text)
{
    const char *file = here("src/%s", path);
    run_here("mkdir -p \"$(dirname %s)\"", file);
    spill(file, text, strlen(text));
}

/* Three floors, each used from above. */
static void add_sound_source(void)
{
    spill(here("floors.txt"), FLOORS, strlen(FLOORS));
    add("base/list.h", "int list_size(void);\n");
    add("base/list.c", "#include \"base/list.h\"\nint list_size(void) { return 1; }\n");
    add("middle/plan.h", "int plan_cost(void);\n");
    add("middle/plan.c", "#include \"middle/plan.h\"\n#include \"middle/part/piece.h\"\n"
                         "int plan_cost(void) { return piece_cost(); }\n");
    add("middle/part/piece.h", "int piece_cost(void);\n");
    add("middle/part/piece.c", "#include \"piece.h\"\n#include \"base/list.h\"\n"
                               "int piece_cost(void) { return list_size(); }\n");
    add("upper/run.h", "#define RUNS 3\nint run(void);\n");
    add("upper/run.c", "#include \"upper/run.h\"\n#include \"middle/plan.h\"\n"
                       "int run(void) { return RUNS * plan_cost(); }\n");
}

/* Compiles everything below src and checks it; returns what the tool says, free() it. */
static char *check(int expected)
{
    char *output;
    int code = run_command(&output, "cd $HERE && for f in $(find src -name '*.c'); do o=build/${f%%.c}.o; [ -e $o ] && "
                                    "continue; mkdir -p $(dirname $o) && cc -Isrc -fPIC -c $f -o $o || exit 99; done");
    ck_assert_msg(code == 0, "%s", output);
    free(output);
    code = run_command(&output, "SOURCE=$HERE/src FLOORS=$HERE/floors.txt tools/check-layers $HERE/build");
    ck_assert_msg(code == expected, "exit status %d: %s", code, output);
    return output;
}

/* The source is refused with these texts and for no other reason than `rule`. */
static void expect_refused(const char *rule, const char *first, const char *second)
{
    OWNED_ARRAY char *output = check(1);
    ck_assert_msg(strstr(output, rule) && strstr(output, first) && strstr(output, second), "%s", output);
    const char *complaint = strstr(output, "tools/check-layers: ");
    ck_assert_msg(complaint && !strstr(complaint + 1, "tools/check-layers: "), "%s", output);
}

TEST(a_sound_source_passes)
{
    add_sound_source();
    OWNED_ARRAY char *output = check(0);
    ck_assert_str_eq(output, "");
}

TEST(a_circle_through_a_function_table_is_named)
{
    add_sound_source();
    add("middle/table.h", "extern int (*const table[1])(void);\nint one(void);\n");
    add("middle/table.c", "#include \"middle/table.h\"\nint (*const table[1])(void) = {one};\n");
    add("middle/one.c", "#include \"middle/table.h\"\nint one(void) { return table[0] == 0; }\n");
    expect_refused("files in a circle, by symbols", "src/middle/table.c\n", "src/middle/one.c\n");
}

TEST(a_circle_of_headers_is_named)
{
    add_sound_source();
    add("middle/hen.h", "#ifndef HEN\n#define HEN\n#include \"middle/egg.h\"\n#endif\n");
    add("middle/egg.h", "#ifndef EGG\n#define EGG\n#include \"hen.h\"\n#endif\n");
    expect_refused("files in a circle, by includes", "src/middle/hen.h\n", "src/middle/egg.h\n");
}

TEST(an_include_of_an_upper_floor_is_refused)
{
    add_sound_source();
    add("base/list.c", "#include \"base/list.h\"\n#include \"upper/run.h\"\nint list_size(void) { return RUNS; }\n");
    expect_refused("src/base/list.c (base) uses upper/run.h of upper", "", "");
}

TEST(a_call_of_an_upper_floor_is_refused_without_an_include)
{
    add_sound_source();
    add("base/call.c", "int run(void);\nint call(void) { return run(); }\n");
    expect_refused("src/base/call.c (base) uses run of upper", "", "");
}

TEST(a_lower_folder_of_a_family_does_not_know_the_upper_one)
{
    add_sound_source();
    add("middle/part/more.c", "#include \"middle/plan.h\"\n");
    expect_refused("src/middle/part/more.c (middle/part) uses middle/plan.h of middle", "", "");
}

TEST(a_folder_on_no_floor_is_refused)
{
    add_sound_source();
    add("lost/alone.c", "int alone(void) { return 0; }\n"); /* uses nothing, is used by nobody */
    expect_refused("src/lost stands on no floor", "", "");
}

TEST(an_external_library_is_known_to_one_file)
{
    add_sound_source();
    add("base/picture.c", "#include <png.h>\n");
    free(check(0));
    add("base/other.c", "#include <png.h>\n");
    expect_refused("png.h is also included by base/", "", "");
}

TEST(elementary_functions_of_the_c_library_are_refused)
{
    add_sound_source();
    add("base/grow.c", "#include <math.h>\ndouble grow(double x) { return sqrt(exp2(x)); }\n");
    expect_refused("src/base/grow.c calls exp2, which differs from machine to machine", "", "");
}

TEST(objects_that_are_missing_are_reported)
{
    OWNED_ARRAY char *output = NULL;
    add_sound_source();
    ck_assert_int_eq(run_command(&output, "SOURCE=$HERE/src FLOORS=$HERE/floors.txt tools/check-layers $HERE/build"),
                     1);
    ck_assert_msg(strstr(output, "objects are missing") != NULL, "%s", output);
}
