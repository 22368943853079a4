/* Locks of outputs: two runs are two struct output_locks, also in one process. */
#include "data/outputs.h"

#include "support/support.h"

enum { N = 10 };

TEST(all_locks_of_a_run_hold_however_many_they_are)
{
    OWNED(output_locks_release) struct output_locks first = {0}, second = {0};
    int n_made;
    for (int k = 0; k < N; k++) {
        must(output_locks_make_folder(&first, &n_made, here("folder%d", k), NULL, err));
        must(output_locks_make_folder(&first, &n_made, here("folder%d", k), NULL, err)); /* is locked already */
        must(output_locks_file(&first, here("file%d", k), err));
    }
    for (int k = 0; k < N; k++) {
        must_fail(CLV_ERR_CREATE, "folder", output_locks_folder(&second, here("folder%d", k), NULL, err));
        must_fail(CLV_ERR_CREATE, "file", output_locks_file(&second, here("file%d", k), err));
    }
    output_locks_release(&first);
    for (int k = 0; k < N; k++) {
        must(output_locks_folder(&second, here("folder%d", k), NULL, err));
        must(output_locks_file(&second, here("file%d", k), err));
    }
    output_locks_release(&second);
    run_here("ls -A >list && ! grep lock list"); /* no lock file stays */
}
