#include "cli/common/signals.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "base/file.h"

static volatile int stop; /* int-sized stores are atomic on every machine that glibc runs on */
static volatile sig_atomic_t received;

static void on_signal(int number)
{
    if (stop) {
        file_remove_temporaries();
        _exit(128 + number);
    }
    received = number;
    stop = 1;
}

/* Whoever read our output has gone: as by default, but with nothing left behind. */
static void on_broken_pipe(int number)
{
    file_remove_temporaries();
    signal(number, SIG_DFL);
    raise(number);
}

/* A signal that the parent chose to ignore (nohup, background jobs of old shells) stays ignored. */
static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void signals_install(void)
{
    handle(SIGINT, on_signal, SA_RESTART);
    handle(SIGTERM, on_signal, SA_RESTART);
    handle(SIGHUP, on_signal, SA_RESTART);
    handle(SIGPIPE, on_broken_pipe, SA_NODEFER);
}

const volatile int *signals_stop(void)
{
    return &stop;
}

int signals_exit_code(void)
{
    return received ? 128 + received : 0;
}
