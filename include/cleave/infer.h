/* Inference in random fields: the best labelling, its clamped variants, marginals, samples. A field (problem.h) is a
 * graph with unary scores and couplings or tables; learners and commands see no more of a problem than that.
 *
 * Read first: problem.h (the field), oracle.h (the best labelling, with a complete example). Then what the task takes:
 *
 *   oracle.h      MAP: minimum cuts, chains, expansion, swap; witnesses (clamped optima); decoding by other rules
 *   grid.h        minimum cuts on the pixels of an image
 *   perturb.h     samples and marginals from the MAP of perturbed scores
 *   chain.h       chains: Viterbi, forward-backward
 *   forest.h      forests with hidden nodes, by elimination
 *   bp.h          belief propagation and TRW-S, for everything else
 *
 * Several engines can solve a chain. Which is used when (files in src/infer/):
 *
 *   what is asked                       by whom                        engine
 *   MAP, full tables, K > 2 labels      clv_oracle_map                 chain/chain_map.c: Viterbi with buffers kept
 *   (or K = 2 with a shared table)                                     and cheap clamps of the chain solved last
 *   MAP, two labels, a table an edge    clv_oracle_map                 cut/: as any graph, witnesses by clamping
 *   MAP and marginals of arrays of      clv_chain_*, marginals as a    chain/viterbi.c, chain/forward_backward.c
 *   the caller's                        rule of decoding
 *   marginals of many chains            training of CRFs               chain/chain_lanes.c: labels in vector lanes;
 *                                                                      forward_backward.c where precision could go
 *   hidden nodes, labels that are       clv_forest_run, other rules    elimination/forest.c
 *   given, temperatures                 of decoding, hidden learners
 *   messages that are kept from one     hidden learners that chose     bp/bp.c: exact on chains, too, after one
 *   run to the next                     belief propagation             iteration
 */
#ifndef CLEAVE_INFER_H
#define CLEAVE_INFER_H

#include "cleave/bp.h"
#include "cleave/chain.h"
#include "cleave/forest.h"
#include "cleave/grid.h"
#include "cleave/oracle.h"
#include "cleave/perturb.h"

#endif
