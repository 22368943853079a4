/* Chooses the weights at which learners with hidden nodes start: given ones, or random ones if hidden states would
 * otherwise stay equal (start_weights). */
#include <string.h>

#include "base/base.h"
#include "learn/common/common.h"

enum { SEEN_KNOWN = 1, SEEN_HIDDEN = 2 };

static bool is_known(const struct clv_problem *problem, int32_t node)
{
    return problem->label[node] != CLV_UNKNOWN;
}

/* Sets seen[clv_weight_layout_size]: SEEN_KNOWN if a known node, or an edge between two, has the weight's feature;
 * SEEN_HIDDEN if a hidden node or one of its edges has it. */
static void mark_features(uint8_t *seen, const struct clv_training *training)
{
    const struct clv_weight_layout *layout = &training->layout;
    size_t d = (size_t)layout->n_features, p = (size_t)layout->n_edge_features, n_rows = clv_weight_layout_rows(layout);
    size_t n_unary = clv_weight_layout_unary_size(layout), size = clv_weight_layout_size(layout);
    memset(seen, 0, size);
    for (size_t i = 0; i < training->n_examples; i++) {
        struct clv_problem problem = clv_dataset_problem(training->dataset, (size_t)training->examples[i]);
        for (int32_t node = 0; node < problem.n_nodes; node++)
            for (int64_t k = problem.row[node]; k < problem.row[node + 1]; k++)
                if (problem.value[k] != 0)
                    seen[problem.index[k]] |= is_known(&problem, node) ? SEEN_KNOWN : SEEN_HIDDEN;
        for (int32_t e = 0; layout->pairwise != CLV_PAIRWISE_NONE && e < problem.n_edges; e++) {
            bool known = is_known(&problem, problem.edges[e][0]) && is_known(&problem, problem.edges[e][1]);
            for (size_t f = 0; f < p; f++)
                if (problem.edge_features[(size_t)e * p + f] != 0)
                    seen[n_unary + f] |= known ? SEEN_KNOWN : SEEN_HIDDEN;
        }
    }
    for (size_t r = n_rows; r-- > 1;)
        memcpy(&seen[r * d], seen, d);
    for (size_t c = n_unary + p; c < size; c++)
        seen[c] = seen[c - p];
}

enum clv_status start_weights(double *w, const struct clv_training *training, double deviation, bool all_random,
                              struct clv_error *err)
{
    size_t size = clv_weight_layout_size(&training->layout);
    OWNED_ARRAY uint8_t *seen = array_zalloc(size, 1);
    NEED(seen);
    if (!training->init && !all_random)
        mark_features(seen, training);
    for (size_t k = 0; k < size; k++)
        if (training->init)
            w[k] = training->init[k];
        else if (all_random || seen[k] == SEEN_HIDDEN)
            w[k] = deviation * rng_normal(training->seed, RNG_STREAM(RNG_INIT, 0), k);
        else
            w[k] = 0;
    project_couplings(w, &training->layout);
    return CLV_OK;
}

const char *random_start_unused_reason(const struct clv_training *training, bool all_random)
{
    size_t n_random = 0, size = clv_weight_layout_size(&training->layout);
    if (training->init)
        return "--init gives all weights";
    if (all_random || !training->dataset)
        return NULL;
    OWNED_ARRAY uint8_t *seen = array_zalloc(size, 1);
    if (!seen)
        return NULL;
    mark_features(seen, training);
    for (size_t k = 0; k < size; k++)
        n_random += seen[k] == SEEN_HIDDEN;
    return n_random ? NULL : "nodes of known label have all features";
}
