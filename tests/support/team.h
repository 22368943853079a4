/* Teams of processes, which sockets join where MPI joins those of mpirun: comm.h and all above it run as they do in a
 * job. The messages of src/cluster/comm_link.h are exchanged with those of team.c by the linker (--wrap). */
#ifndef TESTS_TEAM_H
#define TESTS_TEAM_H

enum { TEAM_MOST = 8 };

/* Forks n processes, joins them (comm_join), runs `member` in each and lets them leave. All must end well. A member
 * has no temporary_folder() of its own: take paths before. */
void run_team(int n, void (*member)(void *context), void *context);

#endif
