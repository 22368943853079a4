/* Small datasets for the learners' tests. */
#ifndef TESTS_LEARN_TOY_H
#define TESTS_LEARN_TOY_H

#include <string.h>

#include "mrf/random_problem.h"

/* A dataset with all that a training needs. */
struct toy {
    struct clv_dataset *dataset;
    struct clv_weight_layout layout;
    int32_t examples[64];
    size_t n;
};

static inline void toy_begin(struct toy *toy, int32_t n_labels, int32_t n_features, int32_t n_edge_features,
                             enum clv_pairwise form)
{
    memset(toy, 0, sizeof *toy);
    toy->layout = (struct clv_weight_layout){n_labels, n_features, n_edge_features, form};
    must(clv_dataset_new(&toy->dataset, n_labels, err));
}

static inline void toy_add(struct toy *toy, const struct clv_problem *problem)
{
    must(clv_dataset_add(toy->dataset, problem, formatted("toy%zu", toy->n), err));
    toy->examples[toy->n] = (int32_t)toy->n;
    toy->n++;
}

/* n random problems with random labels: nothing to learn, everything to optimise. */
static inline void toy_random(struct toy *toy, size_t n, int32_t n_nodes, const struct clv_weight_layout *layout,
                              uint64_t seed)
{
    static struct random_problem r;
    toy_begin(toy, layout->n_labels, layout->n_features, layout->n_edge_features, layout->pairwise);
    for (size_t i = 0; i < n; i++) {
        random_problem_fill(&r, layout, n_nodes, 0.4, 0.6, seed * 1000 + i);
        toy_add(toy, &r.problem);
    }
}

/* n random problems whose labels are the MAP of planted weights w, at a margin: every node's unary score is pushed
 * `margin` away from where it would flip, through feature 0. */
static inline void toy_planted(struct toy *toy, size_t n, int32_t n_nodes, const struct clv_weight_layout *layout,
                               const double *w, uint64_t seed)
{
    static struct random_problem r;
    toy_begin(toy, layout->n_labels, layout->n_features, layout->n_edge_features, layout->pairwise);
    for (size_t i = 0; i < n; i++) {
        random_problem_fill(&r, layout, n_nodes, 0.15, 0.6, seed * 1000 + i);
        for (int32_t k = 0; k < n_nodes; k++) /* feature 0 of weight w[0] > 0 always there, its sign the label's */
            r.label[k] = rng_uniform(seed, RNG_TEST, 5000000 + i * 1000 + (uint64_t)k) < 0.4;
        int64_t out = r.row[0];
        static struct random_problem copy;
        copy = r;
        for (int32_t k = 0; k < n_nodes; k++) {
            double score = 0, edges = 0;
            int64_t begin = out;
            r.row[k] = begin;
            out++;
            for (int64_t j = copy.row[k]; j < copy.row[k + 1]; j++)
                if (copy.index[j] > 0) {
                    r.index[out] = copy.index[j];
                    r.value[out++] = copy.value[j];
                    score += w[copy.index[j]] * (double)copy.value[j];
                }
            for (int32_t e = 0; e < r.problem.n_edges; e++)
                for (int32_t f = 0; f < layout->n_edge_features; f++)
                    if (r.edges[e][0] == k || r.edges[e][1] == k)
                        edges += w[layout->n_features + f] * (double)r.edge_features[e * layout->n_edge_features + f];
            double wanted = (r.label[k] ? 1 : -1) * (edges + 0.5); /* beats any coupling by a half */
            r.index[begin] = 0;
            r.value[begin] = (float)((wanted - score) / w[0]);
        }
        r.row[n_nodes] = out;
        double total[2] = {0};
        for (int32_t k = 0; k < n_nodes; k++)
            total[r.label[k]] += (double)r.area[k];
        for (int32_t k = 0; k < n_nodes; k++)
            for (int32_t b = 0; b < 2; b++)
                r.theta[2 * k + b] = r.label[k] == b ? (float)((double)r.area[k] / (2 * total[b])) : 0;
        toy_add(toy, &r.problem);
    }
}

static inline void toy_release(struct toy *toy)
{
    clv_dataset_free(toy->dataset);
}

static inline struct clv_training toy_training(const struct toy *toy, const char *learner)
{
    struct clv_training training;
    ck_assert_ptr_nonnull(clv_learner_find(learner));
    clv_training_defaults(&training, clv_learner_find(learner));
    training.dataset = toy->dataset;
    training.examples = toy->examples;
    training.n_examples = toy->n;
    training.layout = toy->layout;
    training.seed = 1;
    training.n_threads = 1;
    return training;
}

static inline void set(struct clv_training *training, const char *learner, const char *name, double value)
{
    int index = clv_learner_parameter(clv_learner_find(learner), name);
    ck_assert_msg(index >= 0, "%s has no %s", learner, name);
    training->parameters[index] = value;
}

static inline struct clv_training_result run(const char *learner, const struct clv_training *training)
{
    struct clv_training_result result = {0};
    must(clv_train(&result, clv_learner_find(learner), training, err));
    return result;
}

/* mean N_i sum |x|^2 over known nodes, by which lambda is multiplied. */
static inline double toy_scale(const struct toy *toy)
{
    double scale = 0;
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        double known = 0, squares = 0;
        for (int32_t k = 0; k < p.n_nodes; k++)
            if (p.label[k] != CLV_UNKNOWN) {
                known++;
                for (int64_t j = p.row[k]; j < p.row[k + 1]; j++)
                    squares += (double)p.value[j] * (double)p.value[j];
            }
        scale += known * squares / (double)toy->n;
    }
    return scale;
}

/* The mean over examples of the largest loss of any labelling, by enumeration; two labels. */
static inline double toy_most_loss(const struct toy *toy)
{
    double sum = 0;
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        double most = 0;
        for (uint32_t bits = 0; bits < 1U << p.n_nodes; bits++) {
            int32_t y[RANDOM_MAX_NODES];
            for (int32_t k = 0; k < p.n_nodes; k++)
                y[k] = bits >> k & 1;
            double loss = clv_loss(&p, 2, y);
            most = loss > most ? loss : most;
        }
        sum += most;
    }
    return sum / (double)toy->n;
}

/* H_i(w) by enumeration of all labellings of a two-label problem; *worst (may be NULL) receives the maximiser. */
static inline double toy_hinge(const struct toy *toy, size_t example, const double *w, int32_t *worst)
{
    struct clv_problem p = clv_dataset_problem(toy->dataset, example);
    double unary[RANDOM_MAX_NODES], coupling[RANDOM_MAX_EDGES], best = -1e300;
    struct clv_field field = {.n_nodes = p.n_nodes,
                              .n_edges = toy->layout.pairwise ? p.n_edges : 0,
                              .n_labels = 2,
                              .form = toy->layout.pairwise,
                              .edges = p.edges,
                              .unary = unary,
                              .pairwise = coupling};
    clv_unary_scores(unary, &p, &toy->layout, w);
    clv_pairwise_scores(coupling, &p, &toy->layout, w);
    double truth = clv_field_score(&field, p.label);
    for (uint32_t bits = 0; bits < 1U << p.n_nodes; bits++) {
        int32_t y[RANDOM_MAX_NODES];
        for (int32_t k = 0; k < p.n_nodes; k++)
            y[k] = bits >> k & 1;
        double value = clv_loss(&p, 2, y) + clv_field_score(&field, y) - truth;
        if (value > best) {
            best = value;
            if (worst)
                memcpy(worst, y, (size_t)p.n_nodes * sizeof *y);
        }
    }
    return best;
}

/* lambda/2 |w|^2 + mean H_i(w), by enumeration. */
static inline double toy_objective(const struct toy *toy, const double *w, double lambda)
{
    double squares = 0, hinge = 0;
    for (size_t k = 0; k < clv_weight_layout_size(&toy->layout); k++)
        squares += w[k] * w[k];
    for (size_t i = 0; i < toy->n; i++)
        hinge += toy_hinge(toy, i, w, NULL) / (double)toy->n;
    return lambda / 2 * squares + hinge;
}

#endif
