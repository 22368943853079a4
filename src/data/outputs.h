/* Two rules for all files that a command writes:
 *
 *   1. Existing files are kept, unless --overwrite is given, or --resume continues the command's own earlier run.
 *   2. An output is never one of the command's inputs, by any name or link, even with --overwrite.
 *
 * A violation is CLV_ERR_CREATE (exit status 73), which names the file, before any work. A command calls outputs_claim
 * for each file that it will write, with the inputs that its options name, and outputs_spare for each input that it
 * finds later (training_set_read does so for the files of a dataset). Devices, FIFOs and standard output are written
 * to, never replaced. */
#ifndef DATA_OUTPUTS_H
#define DATA_OUTPUTS_H

#include <stdbool.h>

#include "base/base.h"
#include "cleave/data.h"
#include "cleave/status.h"
#include "cluster/shard.h"

#define OVERWRITE_HELP "Replace outputs that exist (default: refuse before any work)"

/* Locks that let one run at a time write into a folder or keep a checkpoint. A second run gets CLV_ERR_CREATE, and
 * output_locks_exit_code is 75 (EX_TEMPFAIL) from then on. The system releases a lock when its process ends. If the
 * file system has no locks, or a lock file cannot be created, runs continue without a lock. */
struct output_locks {
    struct taken_lock {
        int fd;
        struct file_identity identity;
        char *file; /* path of the lock file; NULL: the lock is on a folder */
    } * taken;      /* [n] */
    size_t n, capacity;
}; /* zeros: no locks */

/* A hidden file in the output folder; shards lock the bytes of it that stand for their parts of the work. */
#define SHARDS_LOCK ".cleave-shards.lock"

/* Locks a folder for this run alone, or for a shard. Shards share the folder unless their parts of the work overlap;
 * they keep a hidden file in it while any shard runs. Does nothing for a folder that does not exist or that *self has
 * locked already. shard may be NULL. */
enum clv_status output_locks_folder(struct output_locks *self, const char *folder, const struct clv_shard *shard,
                                    struct clv_error *err) CLV_CHECK;

/* Creates a folder with its parents, if it is missing, and locks it as output_locks_folder does. *n_made is the number
 * of folders created, as folder_make counts them; 0 if the lock is refused, so that a refused process removes nothing.
 * If another run removes the folder between the two steps, it is created again. */
enum clv_status output_locks_make_folder(struct output_locks *self, int *n_made, const char *folder,
                                         const struct clv_shard *shard, struct clv_error *err) CLV_CHECK;

/* Locks a file that this run will replace, by a hidden lock file next to it. */
enum clv_status output_locks_file(struct output_locks *self, const char *path, struct clv_error *err) CLV_CHECK;

/* Releases the lock on a shard's part of the work, but not the lock on the folder: this process may join the shards'
 * tables next. */
void output_locks_end_shard(struct output_locks *self);

/* Releases all locks, and removes lock files that no other process uses. */
void output_locks_release(struct output_locks *self);

/* Returns 75 once a lock was refused, else 0. */
int output_locks_exit_code(void);

/* The regular files that the command will replace. */
struct outputs {
    struct replaced {
        struct file_identity identity; /* first: the order of the list is that of identities */
        char *path;
    } * list;
    size_t n, capacity;
    struct output_locks locks; /* of folders and checkpoints */
};
void outputs_release(struct outputs *self);

/* Plans to write `path` ("-" is standard output). CLV_ERR_CREATE if it cannot be created, if it is one of
 * inputs[n_inputs] (a folder stands for all files in it; NULL and "-" are skipped), or if it exists and may not be
 * replaced; `hint` ("" or "; --resume goes on") ends that message. Creates and changes no file. */
enum clv_status outputs_claim(struct outputs *self, const char *path, bool may_replace, const char *hint,
                              const char *const *inputs, size_t n_inputs, struct clv_error *err) CLV_CHECK;

/* The steps of outputs_claim, for many outputs: add all, sort once, then call outputs_spare for the inputs. */
enum clv_status outputs_add(struct outputs *self, const char *path, struct clv_error *err) CLV_CHECK;
void outputs_sort(struct outputs *self);
enum clv_status output_check_existing(const char *path, bool may_replace, const char *hint,
                                      struct clv_error *err) CLV_CHECK;

/* Creates the folder of `path`. */
enum clv_status outputs_make_folder(const char *path, struct clv_error *err) CLV_CHECK;

/* CLV_ERR_CREATE if the input is one of the outputs. outputs_spare_set checks a dataset's manifest, labels, images,
 * masks, objects, boxes and maps. */
enum clv_status outputs_spare(const struct outputs *self, const char *input, struct clv_error *err) CLV_CHECK;
enum clv_status outputs_spare_set(const struct outputs *self, const struct clv_set *set, const char *path,
                                  struct clv_error *err) CLV_CHECK;

/* outputs_spare_set as the callback `verify` of a struct set_check; its context is a struct outputs. */
enum clv_status outputs_check_set(void *outputs, const struct clv_set *set, const char *path,
                                  struct clv_error *err) CLV_CHECK;

#endif
