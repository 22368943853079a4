/* A run that is killed anywhere and then resumed gives the same bytes as a run that is not killed, for each way of
 * labelling: files, hidden ones too, tables and report. The status differs in one word: an input may have been finished
 * before. ptrace(2) watches a run of one thread and counts the calls that change files; at a call that a seed has
 * chosen the run ends by SIGKILL, before the call is done. So each kill happens at the same place every time. Start at
 * check_kill. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "cleave/files.h"
#include "support/support.h"
#include "support/ways.h"

TIMEOUT(120)

enum { N_KILLS = 5 };

SETUP_ONCE(ways_setup, NULL)

/* Everything that the way can have, in out. Paths are the test's, so this comes before a fork. */
static void prepare(struct clv_files_options *options, const struct way *way, enum clv_existing existing)
{
    clv_files_defaults(options);
    way->choose(options);
    options->output = here("out");
    options->status = here("out/status.tsv");
    options->existing = existing;
    options->n_threads = 1;
    options->exports = CLV_EXPORT_COCO | CLV_EXPORT_VOC | CLV_EXPORT_GEOJSON;
    if (way->has_images) {
        options->overlay = options->objects = true;
        options->report = here("out/report");
    }
}

/* Whether a call makes, fills, names or removes a file. */
static bool changes_files(const struct __ptrace_syscall_info *call)
{
    switch (call->entry.nr) {
#ifdef SYS_mkdir /* which older machines have beside mkdirat, .. */
    case SYS_mkdir:
    case SYS_unlink:
    case SYS_rmdir:
    case SYS_rename:
#endif
    case SYS_mkdirat:
    case SYS_unlinkat:
    case SYS_renameat2:
    case SYS_linkat:
    case SYS_write:
    case SYS_pwrite64:
    case SYS_ftruncate:
    case SYS_utimensat: return true;
    case SYS_openat: return call->entry.args[2] & (O_CREAT | O_TRUNC);
    default: return false;
    }
}

/* Runs it in a process of its own, which is killed at the call number `at` that changes files (SIZE_MAX: at none).
 * Returns how many such calls came; 0: processes cannot be watched here. */
static size_t run_until(size_t at, const struct way *way)
{
    size_t n = 0;
    int status, signal_number = 0;
    struct clv_files_options options;
    prepare(&options, way, CLV_EXISTING_REFUSE);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct clv_files_result result;
        struct clv_error error;
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(2);
        raise(SIGSTOP);
        _exit(clv_segment_files(&result, &options, &error) == CLV_OK ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (!WIFSTOPPED(status))
        return 0;
    ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    while (ptrace(PTRACE_SYSCALL, child, NULL, signal_number) == 0 && waitpid(child, &status, 0) == child &&
           WIFSTOPPED(status)) {
        struct __ptrace_syscall_info call;
        signal_number = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
        if (signal_number || ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof call, &call) <= 0 ||
            call.op != PTRACE_SYSCALL_INFO_ENTRY || !changes_files(&call))
            continue;
        if (++n == at) {
            kill(child, SIGKILL);
            ck_assert_int_eq(waitpid(child, &status, 0), child);
            break;
        }
    }
    ck_assert_msg(at == SIZE_MAX ? WIFEXITED(status) && !WEXITSTATUS(status) : WIFSIGNALED(status),
                  "%s, call %zu: status %d", way->name, at, status);
    return n;
}

/* out is what `whole` is, each file. */
static void check_kill(const struct way *way, size_t at, size_t n)
{
    struct clv_files_options options;
    struct clv_files_result result;
    char *output;
    run_until(at, way);
    prepare(&options, way, CLV_EXISTING_RESUME);
    must(clv_segment_files(&result, &options, err));
    const int code = run_command(
        &output, "cd %s && sed -i 's/\tfinished before\t/\tdone\t/' out/status.tsv && diff -r whole out", here("."));
    ck_assert_msg(code == 0, "%s, killed at call %zu of %zu: %s", way->name, at, n, output);
    free(output);
    run_here("rm -r out");
}

TESTS(killed_anywhere_and_resumed_gives_the_same_bytes, 0, N_WAYS)
{
    const struct way *way = &ways[_i];
    const size_t n = run_until(SIZE_MAX, way);
    if (!n) {
        skip("kills", "processes cannot be watched here");
        return;
    }
    run_here("rm -rf whole && mv out whole");
    for (int k = 0; k < N_KILLS; k++)
        check_kill(way, 1 + n * (size_t)k / N_KILLS + rng_below(1, (uint64_t)_i, (uint64_t)k, (uint32_t)(n / N_KILLS)),
                   n);
}
