#ifndef BATCH_BY_SEQUENCE_H
#define BATCH_BY_SEQUENCE_H

#include "batch/batch.h"
#include "sequence/sequence.h"

/* Notes missing numbers of frames; for labellers of sequences. */
void sequence_note_gaps(const struct batch *run, const struct sequence_gaps *gaps);

#endif
