#ifndef BATCH_BY_SEQUENCE_H
#define BATCH_BY_SEQUENCE_H

#include "batch/batch.h"
#include "sequence/sequence.h"

/* Prints a note if the numbers of the frames have gaps. Called by the labellers that read sequences. */
void sequence_note_gaps(const struct batch *run, const struct sequence_gaps *gaps);

#endif
