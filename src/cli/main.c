/* cleave: finds the command in the table of commands.c, runs it, prints its error, and returns the documented exit code
 * of its status. Processes that mpirun started join first. Start at main, at the end. */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/json.h"
#include "cleave/status.h"
#include "cli/common/common.h"
#include "cluster/comm.h"

#define MAX_COMMANDS 32

/* Makes the process fail if output could not be written (a full disk, /dev/full). Runs at exit, since argp exits
 * directly after --help. */
static void close_output(void)
{
    int failed = ferror(stdout);
    errno = 0;
    if (fclose(stdout) || failed) {
        console_error("standard output: cannot write%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
        _exit(clv_status_exit_code(CLV_ERR_IO));
    }
}

static void print_version(FILE *stream, struct argp_state *state)
{
    (void)state;
    fprintf(stream, "%s\n", clv_version());
    if (clv_has_bk())
        fputs("This binary is linked with libmaxflow, which is licensed GPL-3+; as a whole it is therefore under "
              "GPL-3+.\n"
              "cleave's own code is Apache-2.0; `make WITH_BK=0` builds a binary without libmaxflow.\n",
              stream);
    else
        fputs("Licence: Apache-2.0. Built without libmaxflow.\n", stream);
}

static void print_help(FILE *stream)
{
    fputs("Usage: cleave COMMAND [OPTION...]\n"
          "Image segmentation with learned graph cuts: train on images with masks, segment others.\n\n"
          "Commands:\n",
          stream);
    for (const struct command *command = commands; command->name; command++)
        fprintf(stream, "  %-13s %s\n", command->name, command->summary);
    fputs("\n`cleave COMMAND --help` tells a command's options; `cleave --version` tells version and licence.\n\n"
          "Example:\n"
          "  cleave train set/manifest.tsv --learner ssvm --split train --seed 1 -o horse.cleave\n"
          "  cleave segment -m horse.cleave photos/ -o out/ --overlay --report report/\n\n"
          "Exit status: 0 success, 64 usage, 65 bad data, 66 missing input, 70 internal error, 71 out of memory or\n"
          "operating system error, 73 output cannot be created, 74 output cannot be written, 75 start it again (train\n"
          "--requeue) or later (another run writes there), 130 and 143 stopped by SIGINT and\n"
          "SIGTERM. The first of these signals ends work at the next safe point, the second at once.\n",
          stream);
}

static int unknown_command(const char *name)
{
    const char *names[MAX_COMMANDS];
    size_t n = 0;
    for (const struct command *command = commands; command->name && n < MAX_COMMANDS; command++)
        names[n++] = command->name;
    const char *near = text_nearest(name, names, n);
    if (near)
        console_error("%s: no such command; did you mean \"%s\"? `cleave --help` lists them", name, near);
    else
        console_error("%s: no such command; `cleave --help` lists them", name);
    return clv_status_exit_code(CLV_ERR_USAGE);
}

/* Returns how many processes mpirun or srun started for the same work; 1 if --shard gives each its own part. */
static int32_t copies_to_share(int argc, char **argv)
{
    /* Set by Open MPI; by MPICH and srun --mpi=pmi2; by every srun, where it means MPI only beside PMIx. The first that
     * is set counts, since mpirun within a Slurm job starts its processes in a step of srun. */
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    const size_t n_sizes = getenv("PMIX_RANK") ? 3 : 2;
    size_t k = 0;
    while (k < n_sizes && !getenv(sizes[k]))
        k++;
    int32_t n = 0;
    if (k == n_sizes || !parse_int32(getenv(sizes[k]), &n))
        n = 0;
    for (int i = 1; i < argc && n > 1; i++)
        if (strncmp(argv[i], "--shard", strlen("--shard")) == 0)
            n = 0;
    return n > 1 ? n : 1;
}

/* mpirun may kill all processes as soon as one has ended, so all end together. */
static void leave_processes(void)
{
    fflush(stdout);
    comm_leave();
}

/* Joins the other processes; only rank 0 prints. Leaves by atexit, since argp may end the process. */
static enum clv_status join_processes(const struct command *command, int32_t n, struct clv_error *err)
{
    FAIL_IF(!comm_is_built(), CLV_ERR_USAGE,
            "started %d times by mpirun or srun, and each would do all of the work: this cleave was built without MPI; "
            "segment, probabilities, features and score take their part by --shard I/%d",
            n, n);
    const enum clv_status status = comm_join(err);
    atexit(leave_processes); /* also after a partial failure */
    MUST(status);
    if (comm_rank())
        console_silence();
    FAIL_IF(!command->is_shared, CLV_ERR_USAGE,
            "started %d times by mpirun or srun, and each would do all of the work: %s is not shared by processes", n,
            command->name);
    return CLV_OK;
}

/* Appends a similar name in the folder to the message about a missing path: "; is photos/imgs meant?" */
static void add_near_path(struct clv_error *err, char *path)
{
    struct clv_error ignored;
    struct path_list names = {0};
    size_t used = strlen(err->message), length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        path[--length] = 0;
    if (err->path_length < length || strncmp(err->message, path, length) != 0 ||
        (err->path_length > length && err->message[length] != '/') || path_exists(path))
        return;
    char *folder = path_folder(path);
    DIR *entries = folder ? opendir(folder) : NULL;
    for (const struct dirent *entry; entries && (entry = readdir(entries));)
        if (path_list_add(&names, entry->d_name, &ignored) != CLV_OK)
            break;
    const char *near = text_nearest(path_name(path), (const char *const *)names.paths, names.n);
    if (near)
        snprintf(err->message + used, sizeof err->message - used, "; is %.*s%s meant?", (int)(path_name(path) - path),
                 path, near);
    if (entries)
        closedir(entries);
    path_list_release(&names);
    array_free(folder);
}

static int run(const struct command *command, int argc, char **argv)
{
    struct clv_error err = {0};
    int32_t n_copies = copies_to_share(argc, argv);
    enum clv_status status = n_copies > 1 ? join_processes(command, n_copies, &err) : CLV_OK;
    char title[64];
    snprintf(title, sizeof title, "cleave %s", command->name);
    argv[0] = title;
    if (status == CLV_OK)
        status = comm_agree(command->run(argc, argv, &err), &err);
    console_clear();
    int exit_code = output_locks_exit_code() ? output_locks_exit_code() : clv_status_exit_code(status);
    if (signals_exit_code()) /* a signal takes precedence over the failure that it caused */
        exit_code = signals_exit_code();
    for (int i = 1; i < argc && status == CLV_ERR_NO_INPUT && err.message[0]; i++)
        add_near_path(&err, strrchr(argv[i], '=') ? strrchr(argv[i], '=') + 1 : argv[i]);
    if (status != CLV_OK && err.message[0])
        console_failure(exit_code, "%s", err.message);
    return comm_rank() ? EXIT_SUCCESS : exit_code; /* rank 0 returns it */
}

int main(int argc, char **argv)
{
    console_init();
    json_own_allocator();
    signals_install();
    atexit(close_output);
    argp_program_version_hook = print_version;
    argp_err_exit_status = clv_status_exit_code(CLV_ERR_USAGE);

    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name) {
        print_help(stderr);
        return clv_status_exit_code(CLV_ERR_USAGE);
    }
    bool help = strcmp(name, "help") == 0;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || (help && argc == 2)) {
        print_help(stdout);
        return EXIT_SUCCESS;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        print_version(stdout, NULL);
        return EXIT_SUCCESS;
    }
    if (help) { /* `cleave help train all` is `cleave train --help all` */
        static char option[] = "--help";
        name = argv[2];
        argv[2] = option;
    }
    const struct command *command = command_find(name);
    return command ? run(command, argc - 1, argv + 1) : unknown_command(name);
}
