/* Tells which functions a program calls. It is linked to programs that are compiled with -finstrument-functions, and sets
 * a byte for every 16 bytes of code in which a called function begins. The bytes are a file, $MUTANT_SEEN/PROGRAM, which
 * all processes of a program map, so that killed ones count, too. tools/mutate reads it. Start at
 * __cyg_profile_func_enter. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HIDDEN  __attribute__((no_instrument_function))
#define N_BYTES ((size_t)1 << 20) /* for 16 MB of code */

void __cyg_profile_func_enter(void *function, void *caller) HIDDEN;
void __cyg_profile_func_exit(void *function, void *caller) HIDDEN;

extern const char __executable_start[];
static unsigned char unused[N_BYTES], *seen = unused;

__attribute__((constructor)) HIDDEN static void map_file(void)
{
    char path[4096];
    const char *folder = getenv("MUTANT_SEEN");
    if (!folder)
        return;
    snprintf(path, sizeof path, "%s/%s", folder, program_invocation_short_name);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    if (ftruncate(file, N_BYTES) == 0) {
        void *bytes = mmap(NULL, N_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        seen = bytes == MAP_FAILED ? unused : bytes;
    }
    close(file);
}

void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    seen[((uintptr_t)function - (uintptr_t)__executable_start) / 16 % N_BYTES] = 1;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function, (void)caller;
}
