/* The reader of maximum-flow problems: what it reads, and that damaged files are refused by line. */
#include <string.h>
#include <unistd.h>

#include "support/support.h"
#include "tools/bench/dimacs.h"

#define HEAD "p max 4 3\nn 1 s\nn 2 t\n"

static const char *file_path(void)
{
    return formatted("%s/x.max", temporary_folder());
}

static enum clv_status read_text(struct dimacs *problem, const char *text, struct clv_error *err)
{
    FILE *file = fopen(file_path(), "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
    return dimacs_read(problem, file_path(), err);
}

TEST(arcs_become_terminals_edges_and_what_passes)
{
    OWNED(dimacs_release) struct dimacs problem = {0};
    must(read_text(&problem,
                   "c a path and its way back\np max 4 8\nn 1 s\nn 4 t\na 1 2 9\na 2 4 4\na 2 3 5\na 3 2 6\n"
                   "a 3 4 7\na 2 1 3\na 1 4 2\na 3 3 8\n",
                   err));
    ck_assert_int_eq(problem.n, 2);
    ck_assert_int_eq(problem.m, 1);
    ck_assert_int_eq(problem.edges[0][0], 0);
    ck_assert_int_eq(problem.edges[0][1], 1);
    ck_assert_int_eq(problem.forward[0], 5);
    ck_assert_int_eq(problem.backward[0], 6);
    ck_assert_int_eq(problem.terminal[0], 9 - 4);
    ck_assert_int_eq(problem.terminal[1], -7);
    ck_assert_int_eq(problem.constant, 4 + 2);
    const uint8_t source_alone[2] = {0, 0}, both[2] = {1, 1};
    ck_assert_int_eq(dimacs_cost(&problem, source_alone), 9 + 2);
    ck_assert_int_eq(dimacs_cost(&problem, both), 4 + 2 + 7);
}

TEST(damaged_files_are_refused_by_line)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "has no line `p max NODES ARCS'"},
        {"a 1 2 3\n", "line 1 comes before `p max NODES ARCS'"},
        {"p min 4 3\n", "line 1 is not `p max NODES ARCS'"},
        {HEAD "p max 4 3\n", "line 4 is a second line of the problem"},
        {"c\np max 4 3\nn 5 s\n", "line 3 is not `n NODE s' or `n NODE t'"},
        {"p max 4 3\nn 1 s\nn 2 s\n", "line 3 names a second source"},
        {"p max 4 3\nn 1 s\nn 1 t\n", "line 3 makes node 1 source and sink"},
        {"p max 4 3\nn 1 s\na 1 2 3\n", "line 3 has an arc before source and sink are named"},
        {HEAD "a 1 3 1.5\n", "line 4 is not `a FROM TO CAPACITY' in whole numbers"},
        {HEAD "a 1 5 1\n", "line 4 has an end that is not a node from 1 to 4"},
        {HEAD "a 1 3 -1\n", "line 4 has a capacity that is not in 0 to 1073741823"},
        {HEAD "x\n", "line 4 begins with none of c, p, n and a"},
        {HEAD "a 1 3 1\na 1 3 1\na 1 3 1\na 1 3 1\n", "line 7 is an arc more than the 3 promised"},
        {HEAD "a 1 3 1\n", "ends after line 4 with 1 of the 3 arcs promised"},
        {"p max 4 0\nn 1 s\n", "ends after line 2 without a sink"},
        {HEAD "a 3 4 1\na 1 3 1000000000\na 1 3 1000000000\n",
         "node 3: its arcs from the source and to the sink differ by more than 1073741823"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct dimacs problem;
        struct clv_error error;
        ck_assert_int_eq(read_text(&problem, rows[k].text, &error), CLV_ERR_DATA);
        ck_assert_str_eq(error.message, formatted("%s: %s", file_path(), rows[k].message));
        ck_assert_ptr_null(problem.terminal);
    }
}

TEST(half_of_a_gzip_file_is_refused)
{
    struct dimacs problem;
    struct clv_error error;
    gzFile file = gzopen(file_path(), "wb");
    gzputs(file, HEAD);
    for (int k = 0; k < 5000; k++)
        gzprintf(file, "c %d\n", k * k);
    gzclose(file);
    FILE *half = fopen(file_path(), "r+b");
    fseek(half, 0, SEEK_END);
    ck_assert_int_eq(ftruncate(fileno(half), ftell(half) / 2), 0);
    fclose(half);
    ck_assert_int_eq(dimacs_read(&problem, file_path(), &error), CLV_ERR_DATA);
    ck_assert_msg(strstr(error.message, "x.max: damaged after line "), "%s", error.message);
}
