/* A run whose images several processes share, which mpirun started (base/team.h). */
#ifndef CLI_SEGMENT_TEAM_H
#define CLI_SEGMENT_TEAM_H

#include "base/team.h"
#include "cli/segment/segment_work.h"

/* What a team cannot do: standard input and output belong to its leader (CLV_ERR_USAGE). */
enum clv_status segment_team_check(const struct segment *options, struct clv_error *err) CLV_CHECK;

/* Each process takes an image when it is free and writes what belongs to it. The leader reports all of them in input
 * order, as one process does: what a report or a table of objects needs of the others' images comes to it. */
enum clv_status segment_team(struct job *job, struct clv_error *err) CLV_CHECK;

#endif
