#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/memory.h"
#include "support/support.h"

TEST(allocation_refuses_overflowing_sizes)
{
    ck_assert_ptr_null(array_alloc(SIZE_MAX / 2, 4));
    ck_assert_ptr_null(array_zalloc(SIZE_MAX, SIZE_MAX));
    OWNED_ARRAY void *empty = array_alloc(0, 8);
    ck_assert_ptr_nonnull(empty);
}

/* Also where they take the memory of an array that was freed. */
TEST(zeroed_arrays_of_any_size_are_zero)
{
    static const size_t SIZES[] = {1, 4097, 1 << 20, (4 << 20) - 1, 4 << 20, (4 << 20) + 4097, 9 << 20};
    void *(*const functions[])(size_t, size_t) = {array_zalloc, array_zalloc_aligned};
    for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; k++)
        for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
            char *used = array_alloc(SIZES[k], 1);
            ck_assert_ptr_nonnull(used);
            memset(used, 1, SIZES[k]);
            array_free(used);
            OWNED_ARRAY char *bytes = functions[f](SIZES[k], 1);
            ck_assert_ptr_nonnull(bytes);
            size_t n_zero = 0;
            while (n_zero < SIZES[k] && !bytes[n_zero])
                n_zero++;
            ck_assert_uint_eq(n_zero, SIZES[k]);
        }
}

TEST(large_arrays_begin_with_a_huge_page)
{
    enum { HUGE_PAGE = 2 << 20 };
    void *(*const functions[])(size_t, size_t) = {array_alloc, array_zalloc, array_zalloc_aligned};
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        OWNED_ARRAY char *large = functions[f](HUGE_PAGE + 1, 2);
        ck_assert((uintptr_t)large % HUGE_PAGE == 0);
    }
}

TEST(arrays_that_grow_together_keep_what_they_hold)
{
    OWNED_ARRAY int32_t *ids = NULL;
    double(*rows)[3] = NULL;
    size_t capacity = 0;
    const struct array_part parts[] = {{&ids, sizeof *ids}, {&rows, sizeof *rows}};
    ck_assert_int_eq(array_reserve_all(parts, 2, &capacity, 5), 0);
    ck_assert_uint_eq(capacity, 5);
    for (int i = 0; i < 5; i++) {
        ck_assert(ids[i] == 0 && rows[i][2] == 0);
        ids[i] = rows[i][2] = i + 1;
    }
    ck_assert_int_eq(array_reserve_all(parts, 2, &capacity, 1000), 0);
    ck_assert_uint_eq(capacity, 1000);
    ck_assert((uintptr_t)ids % 64 == 0 && (uintptr_t)rows % 64 == 0);
    for (int i = 0; i < 1000; i++)
        ck_assert(ids[i] == (i < 5 ? i + 1 : 0) && rows[i][2] == (i < 5 ? i + 1 : 0));
    ck_assert_int_eq(array_reserve_all(parts, 2, &capacity, 1001), 0);
    ck_assert_uint_eq(capacity, 1500);
    ck_assert_int_eq(array_reserve_all(parts, 2, &capacity, 3), 0);
    ck_assert_uint_eq(capacity, 1500);
    ck_assert(ids[4] == 5 && rows[4][2] == 5);
    array_free(rows);
}

/* The second of two parts overflows after the first has grown. */
TEST(arrays_that_cannot_grow_together_hold_and_count_what_they_did)
{
    OWNED_ARRAY char *bytes = NULL;
    double(*rows)[1000] = NULL;
    size_t capacity = 0;
    const struct array_part parts[] = {{&bytes, 1}, {&rows, sizeof *rows}};
    ck_assert_int_eq(array_reserve_all(parts, 2, &capacity, 2), 0);
    bytes[1] = 'b';
    rows[1][999] = 7;
    const struct array_part too_large[] = {{&bytes, 1}, {&rows, SIZE_MAX / 4}};
    ck_assert_int_eq(array_reserve_all(too_large, 2, &capacity, 5), -1);
    ck_assert_uint_eq(capacity, 2);
    ck_assert(bytes[1] == 'b' && rows[1][999] == 7);
    ck_assert_int_eq(array_reserve_all(parts, 2, &capacity, SIZE_MAX), -1);
    ck_assert_int_eq(array_reserve_all(parts, 2, &capacity, 3), 0);
    ck_assert_uint_eq(capacity, 3);
    ck_assert(bytes[1] == 'b' && rows[1][999] == 7 && bytes[2] == 0 && rows[2][0] == 0);
    array_free(rows);
}

TEST(an_arena_that_failed_gives_nothing_more_until_it_is_released)
{
    OWNED(arena_release) struct arena arena = {0};
    int32_t *zeros = arena_zalloc(&arena, 3, sizeof *zeros), *others = arena_alloc(&arena, 2, sizeof *others);
    ck_assert(zeros && others && zeros[2] == 0 && !arena.failed);
    ck_assert_uint_eq((uintptr_t)zeros % 16, 0);
    ck_assert_ptr_null(arena_alloc(&arena, SIZE_MAX / 2, 4));
    ck_assert(arena.failed);
    ck_assert_ptr_null(arena_zalloc(&arena, 1, 1));
    arena_release(&arena);
    ck_assert(!arena.failed && !arena.last);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 0, 8));
}

static void expect_about(const struct clv_error *err, const char *path, const char *message)
{
    ck_assert_str_eq(err->message, message);
    ck_assert_uint_eq(err->path_length, strlen(path));
    ck_assert_int_eq(strncmp(err->message, path, err->path_length), 0);
}

TEST(a_failure_knows_the_path_that_its_message_begins_with)
{
    struct clv_error err = {.path_length = 99};
    fail(&err, CLV_ERR_DATA, "%s: line %d", "a: b.tsv", 3);
    expect_about(&err, "a: b.tsv", "a: b.tsv: line 3");
    fail(&err, CLV_ERR_DATA, "%s:%d: wrong", "a.tsv", 3);
    expect_about(&err, "a.tsv", "a.tsv:3: wrong");
    fail_fault(&err, CLV_FAULT_MASK_SIZE, "%s: too large", "m\n.png");
    expect_about(&err, "m?.png", "m?.png: too large");
    errno = ENOENT;
    fail_errno(&err, CLV_ERR_NO_INPUT, "%s: cannot open", "a.tsv");
    expect_about(&err, "a.tsv", "a.tsv: cannot open: No such file or directory");
    fail(&err, CLV_ERR_USAGE, "--%s: wrong", "data");
    expect_about(&err, "", "--data: wrong");
    fail(&err, CLV_ERR_USAGE, "%s is wrong", "ssvm");
    expect_about(&err, "", "ssvm is wrong");
    fail_memory(&err);
    expect_about(&err, "", "out of memory");
}

TEST(a_failure_within_files_begins_with_the_outermost)
{
    struct clv_error err;
    fail(&err, CLV_ERR_DATA, "too large");
    const char *kind = err.kind;
    fail_within(&err, CLV_ERR_DATA, "a.png");
    expect_about(&err, "a.png", "a.png: too large");
    fail_within(&err, CLV_ERR_DATA, "set.cleave");
    expect_about(&err, "set.cleave", "set.cleave: a.png: too large");
    fail_within(&err, CLV_ERR_DATA, NULL);
    expect_about(&err, "set.cleave", "set.cleave: a.png: too large");
    fail_about(&err, CLV_ERR_DATA, "line 3");
    expect_about(&err, "", "line 3: set.cleave: a.png: too large");
    fail_within(&err, CLV_ERR_DATA, "list.tsv");
    expect_about(&err, "list.tsv", "list.tsv: line 3: set.cleave: a.png: too large");
    ck_assert_ptr_eq(err.kind, kind);
    fail_within(NULL, CLV_ERR_DATA, "a.png");
    fail_about(NULL, CLV_ERR_DATA, "line 3");
}

TEST(a_path_that_is_longer_than_a_message_is_cut_with_it)
{
    char path[CLV_ERROR_MESSAGE_MAX + 100];
    struct clv_error err;
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = 0;
    for (size_t length = CLV_ERROR_MESSAGE_MAX - 4; length < sizeof path; length++) {
        const char *end = path + sizeof path - 1 - length;
        const size_t wanted = length < CLV_ERROR_MESSAGE_MAX ? length : CLV_ERROR_MESSAGE_MAX - 1;
        fail(&err, CLV_ERR_DATA, "%s: too large", end);
        ck_assert_uint_eq(err.path_length, wanted);
        ck_assert(strlen(err.message) == CLV_ERROR_MESSAGE_MAX - 1 && memcmp(err.message, path, wanted) == 0);
        fail(&err, CLV_ERR_DATA, "too large");
        fail_within(&err, CLV_ERR_DATA, end);
        ck_assert_uint_eq(err.path_length, wanted);
        ck_assert(strlen(err.message) == CLV_ERROR_MESSAGE_MAX - 1 && memcmp(err.message, path, wanted) == 0);
    }
    fail_told(&err, CLV_ERR_DATA, "short", 99, NULL);
    ck_assert_uint_eq(err.path_length, 5);
}

static enum clv_status fail_by_size(struct clv_error *err, const char *path, int size)
{
    return fail(err, CLV_ERR_DATA, "%s: is of %d pixels", path, size);
}

TEST(failures_of_one_kind_have_one_kind)
{
    struct clv_error a, b, c;
    fail_by_size(&a, "a.png", 3);
    fail_by_size(&b, "b.png", 44);
    fail(&c, CLV_ERR_DATA, "%s: is grey", "a.png");
    ck_assert(a.kind && a.kind == b.kind && c.kind && a.kind != c.kind);
    fail_within(&b, CLV_ERR_DATA, "set");
    ck_assert_ptr_eq(a.kind, b.kind);
    fail_memory(&a);
    fail_memory(&b);
    ck_assert_ptr_eq(a.kind, b.kind);
    ck_assert_ptr_eq(error_kind(error_kind_number(c.kind)), c.kind);
    ck_assert_ptr_null(error_kind(error_kind_number(NULL)));
}

static void keep_text(void *context, enum clv_message kind, const char *text)
{
    ck_assert_int_eq(kind, CLV_WARNING);
    snprintf(context, 64, "%s", text);
}

TEST(messages_have_decimal_points)
{
    char told[64] = "";
    struct clv_error err = {0};
    const struct clv_progress progress = {.context = told, .notify = keep_text};
    report_message(&progress, CLV_WARNING, "%.2f of %s", 0.25, "4,5");
    ck_assert_str_eq(told, "0.25 of 4,5");
    ck_assert_int_eq(fail(&err, CLV_ERR_DATA, "%s: %g", "a", 0.5), CLV_ERR_DATA);
    ck_assert_str_eq(err.message, "a: 0.5");
}

TEST(a_failure_that_is_told_again_keeps_its_path_and_kind)
{
    struct clv_error why, err = {0};
    errno = ENOENT;
    fail_errno(&why, CLV_ERR_NO_INPUT, "%s: cannot open", "a.tsv");
    ck_assert_int_eq(fail_as(&err, CLV_ERR_DATA, &why), CLV_ERR_DATA);
    expect_about(&err, "a.tsv", why.message);
    ck_assert(err.status == CLV_ERR_DATA && err.os_errno == ENOENT && err.kind == why.kind);
    ck_assert_int_eq(fail_adding(&err, CLV_ERR_USAGE, &err, "; %d\n%s", 7, "more"), CLV_ERR_USAGE);
    expect_about(&err, "a.tsv", "a.tsv: cannot open: No such file or directory; 7?more");
    ck_assert(err.status == CLV_ERR_USAGE && err.kind == why.kind);
    ck_assert_int_eq(fail_told(&err, CLV_ERR_DATA, why.message, why.path_length, why.kind), CLV_ERR_DATA);
    expect_about(&err, "a.tsv", why.message);
    ck_assert(err.kind == why.kind && !err.os_errno);
    ck_assert_int_eq(fail_as(NULL, CLV_ERR_DATA, &why), CLV_ERR_DATA);
    ck_assert_int_eq(fail_adding(NULL, CLV_ERR_DATA, &why, "; more"), CLV_ERR_DATA);
}

TEST(numbers_are_parsed_strictly)
{
    double d;
    int32_t i;
    ck_assert(parse_double("-1.5e3", &d) && d == -1500);
    ck_assert(!parse_double("1.5x", &d) && !parse_double("", &d) && !parse_double(" 1", &d));
    ck_assert(!parse_double("nan", &d) && !parse_double("inf", &d) && !parse_double("1e999", &d));
    ck_assert(parse_int32("-2147483648", &i) && i == INT32_MIN);
    ck_assert(!parse_int32("2147483648", &i) && !parse_int32("1 ", &i) && !parse_int32("0x10", &i));
    uint64_t u;
    ck_assert(parse_uint64("18446744073709551615", &u) && u == UINT64_MAX);
    ck_assert(!parse_uint64("-1", &u));
}

TEST(json_text_escapes_and_replaces_broken_utf8)
{
    OWNED(text_release) struct text t = {0};
    text_init(&t, 1000);
    text_put_json(&t, "a\"\\\n\x01\xc3\xa9\xff");
    ck_assert_str_eq(t.bytes, "\"a\\\"\\\\\\n\\u0001\xc3\xa9\xef\xbf\xbd\"");
    text_release(&t);
    const double numbers[] = {60, -1e14, 0.1, 1e300, -0.0, NAN};
    text_init(&t, 1000);
    for (int i = 0; i < 6; i++) {
        text_put_json_number(&t, numbers[i]);
        text_put(&t, " ");
    }
    ck_assert_str_eq(t.bytes, "60 -100000000000000 0.1 1e+300 0 null ");
    text_release(&t);
    text_init(&t, 8);
    text_put(&t, "1234567");
    ck_assert(!t.failed);
    text_put(&t, "8");
    ck_assert(t.failed);
    ck_assert_str_eq(t.bytes, "1234567");
}

TEST(random_numbers_depend_on_seed_stream_and_index_only)
{
    ck_assert_double_eq(rng_uniform(1, 2, 3), rng_uniform(1, 2, 3));
    ck_assert_double_ne(rng_uniform(1, 2, 3), rng_uniform(2, 2, 3));
    ck_assert_double_ne(rng_uniform(1, 2, 3), rng_uniform(1, 3, 3));
    double mean = 0, gumbel = 0, square = 0;
    int n = 200000;
    for (int i = 0; i < n; i++) {
        double g = rng_gumbel(7, 1, (uint64_t)i);
        mean += rng_normal(7, 0, (uint64_t)i) / n;
        gumbel += g / n;
        square += g * g / n;
    }
    ck_assert_double_lt(fabs(mean), 0.01);
    ck_assert_double_lt(fabs(gumbel), 0.012); /* standard deviation 1.28 / sqrt(n), four of them */
    ck_assert_double_lt(fabs(square - M_PI * M_PI / 6), 0.04);
    int32_t perm[100];
    int seen[100] = {0};
    rng_permutation(perm, 100, 1, 0);
    for (int i = 0; i < 100; i++)
        seen[perm[i]]++;
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(seen[i], 1);
}

static enum clv_status fails_at_multiples_of_seven(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    ((int *)context)[index] = 1;
    return index % 7 == 6 ? fail(err, CLV_ERR_DATA, "task %zu", index) : CLV_OK;
}

TEST(parallel_loops_report_the_first_failure)
{
    for (int threads = 1; threads <= 8; threads *= 2) {
        int ran[100] = {0};
        must_fail(CLV_ERR_DATA, "task 6", parallel_for(100, threads, fails_at_multiples_of_seven, ran, err));
        for (int i = 0; i < 6; i++)
            ck_assert_int_eq(ran[i], 1);
    }
}

/* Sums of a loop's indices, and of a loop within each task. */
struct nested {
    _Atomic(size_t) sum, inner, threads;
};

static enum clv_status add_index(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)err;
    ck_assert_int_eq(thread, 0);
    ((struct nested *)context)->inner += index;
    return CLV_OK;
}

static enum clv_status add_loop(void *context, size_t index, int thread, struct clv_error *err)
{
    struct nested *nested = context;
    nested->sum += index;
    nested->threads |= (size_t)1 << thread;
    return parallel_for(10, 4, add_index, nested, err);
}

static void *loops_of_a_thread(void *context)
{
    struct nested nested = {0};
    for (int round = 0; round < 2000; round++)
        must(parallel_for(8, 1 + round % 5, add_loop, &nested, err));
    ck_assert_uint_eq(nested.sum, 2000 * 28);
    ck_assert_uint_eq(nested.inner, 2000 * 8 * 45);
    ck_assert_uint_lt(nested.threads, 1 << 5);
    return context;
}

TEST(parallel_loops_nest_and_run_side_by_side)
{
    pthread_t other[3];
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&other[i], NULL, loops_of_a_thread, NULL), 0);
    loops_of_a_thread(NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(other[i], NULL);
    if (IS_SANITIZED)
        return;           /* the thread sanitizer allows a forked child no threads */
    pid_t child = fork(); /* which has none of its parent's workers */
    if (!child) {
        loops_of_a_thread(NULL);
        _exit(0);
    }
    int outcome = -1;
    ck_assert_int_eq(waitpid(child, &outcome, 0), child);
    ck_assert_int_eq(outcome, 0);
}

/* Each of two tasks waits for the other to begin. */
static enum clv_status meet(void *context, size_t index, int thread, struct clv_error *err)
{
    _Atomic(int) *n_begun = context;
    const double end = seconds_now() + 10;
    (void)index, (void)thread;
    for (++*n_begun; *n_begun < 2; sched_yield())
        FAIL_IF(seconds_now() > end, CLV_ERR_DATA, "the other task has not begun");
    return CLV_OK;
}

TEST(a_forked_child_starts_workers_of_its_own)
{
    _Atomic(int) n_begun = 0;
    must(parallel_for(2, 2, meet, &n_begun, err));
    if (IS_SANITIZED)
        return; /* as above */
    pid_t child = fork();
    if (!child) {
        n_begun = 0;
        _exit(parallel_for(2, 2, meet, &n_begun, NULL) != CLV_OK);
    }
    int outcome = -1;
    ck_assert_int_eq(waitpid(child, &outcome, 0), child);
    ck_assert_int_eq(outcome, 0);
}

TEST(parallel_loops_run_with_the_threads_that_there_are)
{
    if (IS_SANITIZED) {
        skip("parallel_loops_run_with_the_threads_that_there_are", "a sanitizer needs more address space");
        return;
    }
    struct rlimit before, none = {0};
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
    none = (struct rlimit){1 << 20, before.rlim_max}; /* no stack of a further thread fits in */
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
    struct nested nested = {0};
    enum clv_status status = parallel_for(100, 8, add_loop, &nested, NULL);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
    ck_assert_int_eq(status, CLV_OK);
    ck_assert_uint_eq(nested.sum, 4950);
    ck_assert_uint_eq(nested.threads, 1);
}

static void put(const char *root, const char *path, const char *text)
{
    ck_assert_int_eq(0, run_command(NULL, "%s", formatted("mkdir -p \"$(dirname %s/%s)\"", root, path)));
    spill(formatted("%s/%s", root, path), text, strlen(text));
}

TEST(memory_to_be_had_is_the_least_that_anything_leaves)
{
    char root[256];
    snprintf(root, sizeof root, "%s/machine", temporary_folder());
    ck_assert(isinf(memory_available_below(root)));
    put(root, "proc/meminfo", "MemTotal: 900 kB\nMemAvailable:     800 kB\nSwapFree: 200 kB\n");
    ck_assert_double_eq(memory_available_below(root), 1000 * 1024);
    put(root, "proc/self/cgroup", "3:cpu:/x\n4:memory:/a\n0::/b\n");
    put(root, "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "600000\n");
    put(root, "sys/fs/cgroup/memory/a/memory.usage_in_bytes", "100000\n");
    ck_assert_double_eq(memory_available_below(root), 500000);
    put(root, "sys/fs/cgroup/memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 50000\n");
    ck_assert_double_eq(memory_available_below(root), 550000);
    put(root, "sys/fs/cgroup/b/memory.max", "max\n");
    put(root, "sys/fs/cgroup/b/memory.current", "5\n");
    ck_assert_double_eq(memory_available_below(root), 550000);
    put(root, "sys/fs/cgroup/memory.max", "3000\n");
    put(root, "sys/fs/cgroup/memory.current", "2000\n");
    ck_assert_double_eq(memory_available_below(root), 1000);
    ck_assert(memory_available() > 0);
}

TEST(threads_are_as_many_as_the_control_groups_quota_allows)
{
    char root[256];
    snprintf(root, sizeof root, "%s/machine", temporary_folder());
    ck_assert(isinf(control_group_quota_below(root)));
    put(root, "proc/self/cgroup", "3:cpu,cpuacct:/x\n4:cpuset:/y\n0::/b/c\n");
    put(root, "sys/fs/cgroup/cpuset/y/cpu.cfs_quota_us", "1\n"); /* another controller's */
    put(root, "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "-1\n");
    put(root, "sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
    put(root, "sys/fs/cgroup/b/c/cpu.max", "max 100000\n");
    ck_assert(isinf(control_group_quota_below(root)));
    put(root, "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "350000\n");
    ck_assert_double_eq(control_group_quota_below(root), 3.5);
    put(root, "sys/fs/cgroup/b/cpu.max", "150000 100000\n");
    ck_assert_double_eq(control_group_quota_below(root), 1.5);
    ck_assert_int_ge(parallel_threads(0), 1);
    ck_assert_int_eq(parallel_threads(7), 7);
}

TEST(threads_are_no_more_than_the_processors_that_the_process_may_use)
{
    cpu_set_t allowed, one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    ck_assert_int_le(control_group_processors(), CPU_COUNT(&allowed));
    int first = 0;
    while (!CPU_ISSET(first, &allowed))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    const int n = control_group_processors();
    ck_assert_int_eq(sched_setaffinity(0, sizeof allowed, &allowed), 0);
    ck_assert_int_eq(n, 1);
}
