/* Inference in random fields: the best labelling, its clamped variants, marginals, samples. A field (problem.h) is a graph with unary
 * scores and couplings or tables; learners and commands see no more of a problem than that.
 *
 * Read first: problem.h (the field), oracle.h (the best labelling, with a complete example). Then what the task asks for:
 *
 *   oracle.h      MAP: minimum cuts, chains, expansion, swap; witnesses (clamped optima); decoding by other rules
 *   grid.h        minimum cuts on the pixels of an image
 *   perturb.h     samples and marginals from the MAP of perturbed scores
 *   chain.h       chains: Viterbi, max-marginals, forward-backward
 *   forest.h      forests with hidden nodes, by elimination
 *   bp.h          belief propagation and TRW-S, for everything else
 *   exhaustive.h  every labelling in turn, as a reference
 *
 * Several engines can solve a chain. Which is used when:
 *
 *   what is asked                               who asks                        engine (src/infer/)
 *   MAP of a chain of full tables               clv_oracle_map: margin          chain/chain_map.c, Viterbi with buffers kept; clamps
 *                                               learners, segmentation          of a solved chain cost O(n_nodes n_labels)
 *   the same of arrays of the caller's;         clv_chain_*                     chain/viterbi.c, chain/forward_backward.c
 *   max-marginals; marginals                    CLV_DECODE_MARGINALS
 *   marginals of many chains of few labels      CRF training                    chain/chain_lanes.c, labels in vector lanes; hands
 *                                                                               over to forward_backward.c where precision could go
 *   two labels, supermodular tables of each     clv_oracle_map                  cut/maxflow.c, as on any graph: witnesses come from
 *   edge's own                                                                  its residual graph
 *   hidden nodes, labels given, temperatures    clv_forest_run, decoding,       elimination/forest.c
 *                                               learners with hidden nodes
 *   messages kept from one step of training     learners with hidden nodes      bp/bp.c: exact on a chain, too, after one iteration
 *   to the next                                 (engine bp)
 */
#ifndef CLEAVE_INFER_H
#define CLEAVE_INFER_H

#include "cleave/bp.h"
#include "cleave/chain.h"
#include "cleave/exhaustive.h"
#include "cleave/forest.h"
#include "cleave/grid.h"
#include "cleave/oracle.h"
#include "cleave/perturb.h"

#endif
