/* Partitions of a graph by what its edges say: multicut, or correlation clustering. same[e] is the log-odds that both
 * ends of edge e are of one object, of either sign; a partition's value is the sum of same over the edges inside of its
 * parts, and the best one has the greatest. That is NP-hard (Bansal, Blum & Chawla 2004); these are the two heuristics
 * of Keuper et al. 2015. Parts are numbered 0.. in the order of their first nodes. Same input, same parts.
 *
 *     int32_t n_parts;
 *     status = partition_greedy(part, &n_parts, &graph, err);
 *     TRY(partition_improve(part, &n_parts, &graph, err)); */
#ifndef OBJECT_PARTITION_H
#define OBJECT_PARTITION_H

#include "cleave/status.h"

#include <stdint.h>

struct signed_graph {
    int32_t n_nodes, n_edges;
    const int32_t (*edges)[2]; /* [n_edges] different ends; of several between the same two the sum counts */
    const double *same;        /* [n_edges] */
};

/* Greedy additive edge contraction: joins the two parts whose edges sum to most, until no sum is above 0. part[n_nodes].
 * O(m log m) steps and those of looking through the edges of the parts that are joined. */
enum clv_status partition_greedy(int32_t *part, int32_t *n_parts, const struct signed_graph *graph,
                                 struct clv_error *err) CLV_CHECK;

/* Kernighan-Lin with joins: improves a partition by moving nodes between two parts that touch, or out of one into a new
 * one, or joining the two, while that makes its value greater; never less than it was. Quadratic in the sizes of
 * the parts. */
enum clv_status partition_improve(int32_t *part, int32_t *n_parts, const struct signed_graph *graph,
                                  struct clv_error *err) CLV_CHECK;

double partition_value(const int32_t *part, const struct signed_graph *graph);

#endif
