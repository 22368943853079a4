#ifndef BATCH_BY_SEQUENCE_H
#define BATCH_BY_SEQUENCE_H

#include "batch/batch.h"
#include "sequence/sequence.h"

/* For labellers of sequences: notes numbers of frames that are missing. */
void sequence_note_gaps(const struct batch *run, const struct sequence_gaps *gaps);

#endif
