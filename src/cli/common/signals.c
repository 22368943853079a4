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

void signals_install(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    /* A signal that the parent chose to ignore (nohup, background jobs of old shells) stays ignored. */
    struct sigaction old;
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
    if (sigaction(SIGTERM, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(SIGTERM, &action, NULL);
}

const volatile int *signals_stop(void)
{
    return &stop;
}

int signals_exit_code(void)
{
    return received ? 128 + received : 0;
}
