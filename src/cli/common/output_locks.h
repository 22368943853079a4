/* One run at a time writes into a folder, or keeps a checkpoint: a second one is refused, CLV_ERR_CREATE, and
 * output_locks_exit_code is 75 (EX_TEMPFAIL) from then on. A lock ends with its process, however that ends. Where the
 * file system has no locks, or a lock file cannot be made, everybody goes on. */
#ifndef CLI_OUTPUT_LOCKS_H
#define CLI_OUTPUT_LOCKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/shard.h"
#include "cleave/status.h"

#define OUTPUT_LOCKS_MAX 6

struct output_locks {
    struct held_lock {
        int fd;
        dev_t device;
        ino_t inode;
        char *file; /* that is only there to be locked; NULL: a folder */
    } held[OUTPUT_LOCKS_MAX];
    int n;
};

/* Takes a folder for this run alone, or for a shard of it: shards get along with each other, unless both do the same
 * part of the work. The folder's own lock leaves no trace; shards keep a hidden file in it as long as one is at work.
 * Nothing is done for a folder that is not there yet, or is held already. shard may be NULL. */
enum clv_status output_locks_folder(struct output_locks *self, const char *folder, const struct shard *shard,
                                    struct clv_error *err) CLV_CHECK;

/* The same for a file that is to be replaced: by a hidden file beside it. */
enum clv_status output_locks_file(struct output_locks *self, const char *path, struct clv_error *err) CLV_CHECK;

/* Lets go of all, and removes lock files that nobody else uses. */
void output_locks_release(struct output_locks *self);

/* 75 once a lock was refused, else 0. */
int output_locks_exit_code(void);

#endif
