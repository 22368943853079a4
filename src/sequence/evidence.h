/* What is known of a frame's pixels from frames whose figure is known. */
#ifndef SEQUENCE_EVIDENCE_H
#define SEQUENCE_EVIDENCE_H

#include "sequence/carry.h"

/* Fills carry->overall. */
void evidence_learn(struct carry *carry);

/* Fills carry->terms of `now` from the motion and the frames before; moves carry->moved and carry->origin on. */
enum clv_status evidence_gather(struct carry *carry, struct clv_error *err) CLV_CHECK;

#endif
