/* Preloaded by tools/way into a program that was compiled with -finstrument-functions: writes the address of each
 * function within the program, at its first call, a line each, to the file WAY_TRACE. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N_SLOTS = 1 << 16 };

static _Atomic uintptr_t seen[N_SLOTS];
static uintptr_t base;
static int trace = -1;

static int find_base(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    base = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("WAY_TRACE");
    dl_iterate_phdr(find_base, NULL);
    if (path)
        trace = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    uintptr_t address = (uintptr_t)function;
    for (size_t slot = address / 16 % N_SLOTS;; slot = (slot + 1) % N_SLOTS) {
        uintptr_t there = 0;
        if (atomic_compare_exchange_strong(&seen[slot], &there, address))
            break; /* its first call */
        if (there == address)
            return;
    }
    char line[32];
    int length = snprintf(line, sizeof line, "0x%lx\n", (unsigned long)(address - base));
    if (trace >= 0 && write(trace, line, (size_t)length) < 0)
        trace = -1;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function;
    (void)caller;
}
