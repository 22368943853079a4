/* Messages between the members of a team: the one file that knows MPI, beside team.h, which is what others use. */
#ifndef BASE_TEAM_LINK_H
#define BASE_TEAM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEAM_HOST_MAX 64

bool team_link_is_built(void);

/* False where MPI has no threads; then nobody has joined. */
bool team_link_join(int32_t *rank, int32_t *size);
void team_link_leave(void);

/* One thread at a time. Errors end all members: MPI names them. */
void team_link_send(int32_t to, int tag, const void *bytes, size_t size);

/* Whether a message from `from` (-1: anybody) is there, and its size; and takes it, or without `bytes` throws it
 * away. */
bool team_link_look(int32_t *from, int *tag, size_t *size);
void team_link_take(int32_t from, int tag, void *bytes, size_t size);

#endif
