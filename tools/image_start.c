/* The first program in the image of `make image`, which has no shell: it does the work of the portable folder's
 * launcher. Linked statically. Start at main.
 *
 * A container runs as root, and files that root writes into a mounted folder may belong to root outside. So this
 * program becomes the owner of its working folder (/data, unless podman run -w gives another). With podman run by an
 * ordinary user, that is this user, whom the container calls root; with docker, or podman run by root, it is the owner
 * of the mounted folder. If --user gave another user, that one stays.
 *
 * A container publishes only the ports that were named when it started, so the page is at 8080 unless --port gives
 * another. */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/cleave"

static int become_owner(void)
{
    struct stat here;
    if (getuid() != 0)
        return 0;
    if (stat(".", &here) != 0)
        return -1;
    if (here.st_uid == 0)
        return 0;
    return setgroups(0, NULL) != 0 || setgid(here.st_gid) != 0 || setuid(here.st_uid) != 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
    static char *const command[] = {FOLDER "/lib/loader", "--argv0",     "cleave",
                                    "--library-path",     FOLDER "/lib", FOLDER "/lib/cleave"};
    enum { N_COMMAND = sizeof command / sizeof *command };
    char **arguments = calloc(N_COMMAND + (size_t)argc + 3, sizeof *arguments);
    if (!arguments || become_owner() != 0 || setenv("CLEAVE_LAUNCHER", FOLDER "/start", 1) != 0) {
        perror("cleave: error: the container cannot run as the owner of its folder; podman run --user names one");
        return 71;
    }
    int n = 0;
    for (size_t k = 0; k < N_COMMAND; k++)
        arguments[n++] = command[k];
    for (int k = 1; k < argc; k++) {
        arguments[n++] = argv[k];
        if (k == 1 && strcmp(argv[k], "label") == 0) {
            arguments[n++] = "--port";
            arguments[n++] = "8080";
        }
    }
    execv(arguments[0], arguments);
    perror("cleave: error: " FOLDER "/lib/loader cannot be run");
    return 71;
}
