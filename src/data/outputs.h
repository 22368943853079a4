/* One rule for everything that any command writes:
 *
 *   1. Existing files are kept, unless --overwrite is given, or the command goes on with its own work in this very
 *      place (--resume).
 *   2. An output is never one of the command's own inputs, whatever name or link leads there, --overwrite or not.
 *
 * Either ends in CLV_ERR_CREATE (exit status 73), which names the file, before any work. A command calls outputs_claim
 * for each file that it is going to write, with the inputs that its options name; and outputs_spare for each input that
 * it learns of later (training_set_read does so for the files of a set). Devices, FIFOs and standard output are never
 * replaced, only written to. */
#ifndef DATA_OUTPUTS_H
#define DATA_OUTPUTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/base.h"
#include "cleave/data.h"
#include "cleave/status.h"
#include "cluster/shard.h"

#define OVERWRITE_HELP "Replace outputs that exist (default: refuse before any work)"

/* One run at a time writes into a folder, or keeps a checkpoint: a second one is refused, CLV_ERR_CREATE, and
 * output_locks_exit_code is 75 (EX_TEMPFAIL) from then on. A lock ends with its process, however that ends. Where the
 * file system has no locks, or a lock file cannot be made, everybody goes on. */
#define OUTPUT_LOCKS_MAX 6

struct output_locks {
    struct taken_lock {
        int fd;
        dev_t device;
        ino_t inode;
        char *file; /* that is only there to be locked; NULL: a folder */
    } taken[OUTPUT_LOCKS_MAX];
    int n;
};

/* The hidden file of a folder in which shards lock their parts of the work. */
#define SHARDS_LOCK ".cleave-shards.lock"

/* Takes a folder for this run alone, or for a shard of it: shards get along with each other, unless both do the same
 * part of the work. The folder's own lock leaves no trace; shards keep a hidden file in it as long as one is at work.
 * Nothing is done for a folder that is not there yet, or is locked already. shard may be NULL. */
enum clv_status output_locks_folder(struct output_locks *self, const char *folder, const struct clv_shard *shard,
                                    struct clv_error *err) CLV_CHECK;

/* Makes a folder where it is missing, with its parents, and takes it likewise. *n_made is how many folders this call
 * made, as folder_make counts; 0 where the folder is refused, so that a refused process removes nothing. A folder that
 * its last user removed meanwhile is made again. */
enum clv_status output_locks_make_folder(struct output_locks *self, int *n_made, const char *folder,
                                         const struct clv_shard *shard, struct clv_error *err) CLV_CHECK;

/* Takes a file that is to be replaced for this run alone, by a hidden file next to it. */
enum clv_status output_locks_file(struct output_locks *self, const char *path, struct clv_error *err) CLV_CHECK;

/* Releases a shard's part of the work, but not the folder, which the process that joins the shards' tables still
 * holds. */
void output_locks_end_shard(struct output_locks *self);

/* Releases all, and removes lock files that no other process uses. */
void output_locks_release(struct output_locks *self);

/* 75 once a lock was refused, else 0. */
int output_locks_exit_code(void);

/* The regular files that are going to be replaced. */
struct outputs {
    struct replaced {
        dev_t device;
        ino_t inode;
        char *path;
    } * list;
    size_t n, capacity;
    struct output_locks locks; /* of folders and checkpoints */
};
void outputs_release(struct outputs *self);

/* Plans to write `path` ("-" is standard output): CLV_ERR_CREATE if it cannot be created, if it is one of
 * inputs[n_inputs] (NULL and "-" are none, a folder stands for all files in it), or if it exists and may not be
 * replaced; `hint` ("" or "; --resume goes on") ends that message. Touches nothing. */
enum clv_status outputs_claim(struct outputs *self, const char *path, bool may_replace, const char *hint,
                              const char *const *inputs, size_t n_inputs, struct clv_error *err) CLV_CHECK;

/* The parts of outputs_claim, for many outputs at once: sort once they are all there. */
enum clv_status outputs_add(struct outputs *self, const char *path, struct clv_error *err) CLV_CHECK;
void outputs_sort(struct outputs *self);
enum clv_status output_check_existing(const char *path, bool may_replace, const char *hint,
                                      struct clv_error *err) CLV_CHECK;

/* Makes the folder that `path` is in. */
enum clv_status outputs_make_folder(const char *path, struct clv_error *err) CLV_CHECK;

/* CLV_ERR_CREATE if the input is one of the outputs. Of a set: its manifest, labels, images, masks and boxes. */
enum clv_status outputs_spare(const struct outputs *self, const char *input, struct clv_error *err) CLV_CHECK;
enum clv_status outputs_spare_set(const struct outputs *self, const struct clv_set *set, const char *path,
                                  struct clv_error *err) CLV_CHECK;

/* outputs_spare_set as the `look` of a struct set_check, whose context is the outputs. */
enum clv_status outputs_look_at_set(void *outputs, const struct clv_set *set, const char *path,
                                    struct clv_error *err) CLV_CHECK;

#endif
