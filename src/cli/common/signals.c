/* Handles SIGINT, SIGTERM and SIGHUP: the first one asks the work to stop at its next safe point, the second one ends
 * the process. Several processes stop together, and SIGUSR1 can ask for a restart. Start at signals_install. */
#include "cli/common/common.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cleave/status.h"
#include "cluster/comm.h"

static volatile int stop, shared_stop; /* shared_stop: the processes have agreed to stop */
static volatile sig_atomic_t received, requeues, is_alone;
static bool is_shared;

static int asks_for_requeue(int number)
{
    return requeues && (number == SIGTERM || number == SIGUSR1);
}

static void on_signal(int number)
{
    received = received ? received : number;
    /* Atomic, since other threads read it, and may handle signals, too. */
    bool is_repeated = __atomic_exchange_n(&stop, 1, __ATOMIC_RELAXED);
    if (is_repeated && asks_for_requeue(number))
        return;
    if (is_repeated) {
        static const char message[] = "cleave: note: stopped; a command that has --resume continues with it\n";
        file_remove_temporaries();
        if (write(STDERR_FILENO, message, sizeof message - 1) < 0)
            _exit(128 + number); /* the message has no reader */
        _exit(128 + number);
    }
    if (is_alone)
        __atomic_store_n(&shared_stop, 1, __ATOMIC_RELAXED);
}

/* The reader of the output has closed it: removes temporary files, then ends by the default action. */
static void on_broken_pipe(int number)
{
    file_remove_temporaries();
    signal(number, SIG_DFL);
    raise(number);
}

/* Calls only functions that a signal handler may call. */
static void write_message(const char *path)
{
    static const char begin[] = "cleave: error: ",
                      end[] = ": cannot be read any more; it was cut short, or its disk fails\n";
    char line[512];
    size_t n = sizeof begin - 1;
    memcpy(line, begin, n);
    for (; *path && n < sizeof line - sizeof end; path++)
        line[n++] = *path;
    line[n] = 0;
    text_hide_controls(line);
    memcpy(line + n, end, sizeof end - 1);
    if (write(STDERR_FILENO, line, n + sizeof end - 1) < 0)
        return; /* the message has no reader */
}

/* Reports a mapped file that can no longer be read. Any other fault is a bug, and ends the process by the default
 * action. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    const char *path = file_map_at(info->si_addr);
    if (!path) {
        signal(number, SIG_DFL);
        return; /* the instruction runs again and ends the process */
    }
    file_remove_temporaries();
    write_message(path);
    _exit(clv_status_exit_code(CLV_ERR_NO_INPUT));
}

/* Installs a handler, unless the parent process ignores the signal (nohup, background jobs of old shells). */
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
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

void signals_requeue(void)
{
    requeues = 1;
    handle(SIGUSR1, on_signal, SA_RESTART);
}

static int received_signal(void)
{
    return received;
}

static void adopt_signal(int number)
{
    received = number;
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&shared_stop, 1, __ATOMIC_RELAXED);
}

/* While a process works alone, a signal stops it at once; the other processes learn of it at the next synchronisation,
 * where all end the work. */
static void work_alone(bool alone)
{
    is_alone = alone;
    if (alone && received)
        __atomic_store_n(&shared_stop, 1, __ATOMIC_RELAXED);
}

void signals_share(void)
{
    const struct comm_signal_hooks hooks = {received_signal, adopt_signal, work_alone};
    is_shared = comm_size() > 1;
    comm_listen(&hooks);
}

void signals_complete(void)
{
    if (asks_for_requeue(received))
        received = 0;
}

const volatile int *signals_stop(void)
{
    return is_shared ? &shared_stop : &stop;
}

int signals_exit_code(void)
{
    return asks_for_requeue(received) ? SIGNALS_REQUEUE : received ? 128 + received : 0;
}
