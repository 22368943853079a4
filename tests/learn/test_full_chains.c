/* Every learner that promises chains of full tables, on chains of two and of three labels, with one table for all links
 * or edge features that differ, all nodes known or one of them not: against enumeration. */
#include <math.h>
#include <stdlib.h>

#include "infer/oracle/oracle.h"
#include "learn/chains.h"
#include "learn/pmap/pmap.h"

enum { N_CHAINS = 12, N_NODES = 6, N_FEATURES = 3, SIZE_MAX_WEIGHTS = 3 * N_FEATURES + 2 * 9 };

struct setting {
    int32_t n_labels;
    bool is_shared, has_unknown;
};

static struct clv_weight_layout shape_of(const struct setting *setting)
{
    return (struct clv_weight_layout){setting->n_labels, N_FEATURES, setting->is_shared ? 1 : 2, CLV_PAIRWISE_FULL};
}

/* A chain whose labels change from node to node, which no cut is for, and whose features tell them badly. */
static void fill_chain(struct random_problem *r, const struct setting *setting, uint64_t seed)
{
    struct clv_weight_layout layout = shape_of(setting);
    int32_t k = layout.n_labels, p = layout.n_edge_features;
    random_chain(r, &layout, N_NODES, setting->is_shared, seed);
    int32_t label = (int32_t)rng_below(seed, RNG_TEST, 0, (uint32_t)k);
    for (int32_t i = 0; i < N_NODES; i++) {
        int64_t at = r->row[0] + (int64_t)i * N_FEATURES;
        r->row[i] = at;
        for (int32_t f = 0; f < N_FEATURES; f++) {
            r->index[at + f] = f;
            r->value[at + f] =
                (float)(f == k ? 1 : (f == label) + 0.9 * rng_normal(seed, RNG_TEST, 500 + (uint64_t)(i * 8 + f)));
        }
        r->row[i + 1] = at + N_FEATURES;
        r->label[i] = label;
        label = (label + 1 + (int32_t)(rng_uniform(seed, RNG_TEST, 900 + (uint64_t)i) < 0.1)) % k;
        for (int32_t b = 0; b < k; b++)
            r->theta[i * k + b] = b == r->label[i] ? 1.F / N_NODES : 0;
    }
    for (int32_t e = 0; e + 1 < N_NODES && !setting->is_shared; e++)
        for (int32_t f = 0; f < p; f++)
            r->edge_features[e * p + f] = (float)(0.5 + rng_uniform(seed, RNG_TEST, 700 + (uint64_t)(e * p + f)));
    if (!setting->has_unknown)
        return;
    int32_t unknown = (int32_t)(seed % N_NODES);
    r->label[unknown] = CLV_UNKNOWN;
    for (int32_t b = 0; b < k; b++)
        r->theta[unknown * k + b] = 0;
}

static void make(struct toy *toy, const struct setting *setting, uint64_t seed)
{
    static struct random_problem r;
    struct clv_weight_layout layout = shape_of(setting);
    toy_begin(toy, layout.n_labels, layout.n_features, layout.n_edge_features, layout.pairwise);
    for (size_t i = 0; i < N_CHAINS; i++) {
        fill_chain(&r, setting, seed * 100 + i);
        toy_add(toy, &r.problem);
    }
}

static double score_of(const struct clv_problem *p, const struct clv_weight_layout *layout, const double *w,
                       const int32_t *y)
{
    double psi[SIZE_MAX_WEIGHTS] = {0}, score = 0;
    int32_t known[N_NODES];
    for (int32_t i = 0; i < p->n_nodes; i++)
        known[i] = p->label[i] == CLV_UNKNOWN ? CLV_UNKNOWN : y[i];
    clv_joint_feature_add(psi, p, layout, known, 1);
    for (size_t k = 0; k < clv_weight_layout_size(layout); k++)
        score += psi[k] * w[k];
    return score;
}

static double loss_of(const struct clv_problem *p, const struct clv_weight_layout *layout, const int32_t *y)
{
    double loss = 0;
    for (int32_t i = 0; i < p->n_nodes; i++)
        for (int32_t b = 0; b < layout->n_labels; b++)
            loss += b != y[i] ? (double)p->theta[i * layout->n_labels + b] : 0;
    return loss;
}

/* max_y f(y) + amount L(y) over known nodes; *loss is the maximiser's. */
static double enumerate(double *loss, const struct clv_problem *p, const struct clv_weight_layout *layout,
                        const double *w, double amount)
{
    int32_t y[N_NODES] = {0};
    double best = -INFINITY;
    do {
        double value = score_of(p, layout, w, y) + amount * loss_of(p, layout, y);
        if (value > best + 1e-12) {
            best = value;
            *loss = loss_of(p, layout, y);
        }
    } while (next_labelling(y, p->n_nodes, layout->n_labels));
    return best;
}

/* -log P(y_i), and the mean over nodes of -log P(label). */
static void likelihoods(double *joint, double *by_node, const struct clv_problem *p,
                        const struct clv_weight_layout *layout, const double *w)
{
    int32_t y[N_NODES] = {0};
    double all = 0, right[N_NODES] = {0};
    do {
        double weight = exp(score_of(p, layout, w, y));
        all += weight;
        for (int32_t i = 0; i < p->n_nodes; i++)
            right[i] += y[i] == p->label[i] || p->label[i] == CLV_UNKNOWN ? weight : 0;
    } while (next_labelling(y, p->n_nodes, layout->n_labels));
    *joint += log(all) - score_of(p, layout, w, p->label);
    for (int32_t i = 0; i < p->n_nodes; i++)
        *by_node -= log(right[i] / all) / p->n_nodes;
}

/* The training set's mean hinge, mean loss of the best labellings, and likelihoods. */
struct measures {
    double hinge, loss, joint, by_node;
};

static struct measures measure(const struct toy *toy, const double *w)
{
    struct measures m = {0};
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        double loss, other;
        m.hinge += (enumerate(&other, &p, &toy->layout, w, 1) - score_of(&p, &toy->layout, w, p.label)) / N_CHAINS;
        enumerate(&loss, &p, &toy->layout, w, 0);
        m.loss += loss / N_CHAINS;
        likelihoods(&m.joint, &m.by_node, &p, &toy->layout, w);
    }
    return m;
}

/* Each learner goes down one of these. */
static double objective_of(const struct measures *m, const char *learner)
{
    if (strcmp(learner, "pmap") == 0 || strcmp(learner, "crf") == 0)
        return m->joint;
    if (strcmp(learner, "mpmap") == 0 || strcmp(learner, "wmpmap") == 0)
        return m->by_node;
    return strcmp(learner, "perceptron") == 0 || strcmp(learner, "independent") == 0 ? m->loss : m->hinge;
}

static void check_learner(const struct clv_learner *learner, const struct setting *setting)
{
    static const double zeros[SIZE_MAX_WEIGHTS];
    OWNED(toy_release) struct toy toy = {0};
    make(&toy, setting, 3);
    struct clv_training training = toy_training(&toy, learner->name);
    if (clv_learner_parameter(learner, "passes") >= 0)
        set(&training, learner->name, "passes", 60);
    if (strcmp(learner->name, "subgradient") == 0) { /* whose first steps are 1 / lambda */
        set(&training, learner->name, "lambda", 0.01);
        set(&training, learner->name, "passes", 600);
    }
    if (strcmp(learner->name, "l1m3n") == 0) /* whose usual ball is for more weights */
        set(&training, learner->name, "radius", 1);
    OWNED(clv_training_result_release) struct clv_training_result result = run(learner->name, &training);
    struct measures before = measure(&toy, zeros), after = measure(&toy, result.w);
    double share = strcmp(learner->name, "independent") == 0 ? 1 : 0.7; /* its tables help little */
    ck_assert_msg(objective_of(&after, learner->name) < share * objective_of(&before, learner->name),
                  "%s, %d labels, shared %d, unknown %d: %g, at first %g", learner->name, setting->n_labels,
                  setting->is_shared, setting->has_unknown, objective_of(&after, learner->name),
                  objective_of(&before, learner->name));
    double mean;
    must(clv_evaluate_all(&mean, toy.dataset, &toy.layout, result.w, NULL, CLV_ENGINE_DEFAULT, 1, err));
    if (!setting->has_unknown) /* else unknown nodes take part in labelling */
        ck_assert_double_eq_tol(mean, after.loss, 1e-6);
}

static struct setting setting_of(int at)
{
    return (struct setting){2 + (at & 1), at & 2, at & 4};
}

TEST(every_learner_of_full_chains_keeps_its_promise)
{
    int n_learners = 0;
    const struct clv_learner *learner;
    for (size_t at = 0; (learner = clv_learner_at(at)); at++) {
        if (!(learner->trains & CLV_TRAINS_FULL_CHAINS))
            continue;
        n_learners++;
        for (int k = 0; k < 8; k++) {
            struct setting setting = setting_of(k);
            check_learner(learner, &setting);
        }
    }
    ck_assert_int_ge(n_learners, 11);
}

/* The learners ask the oracle for these, at weights that no cut is for. */
TEST(loss_augmented_labellings_of_full_chains_equal_enumeration)
{
    struct decoder *decoder;
    must(decoders_new(&decoder, 1, CLV_ENGINE_DEFAULT, err));
    for (int k = 0; k < 8; k++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            static struct random_problem r;
            struct setting setting = setting_of(k);
            struct clv_weight_layout layout = shape_of(&setting);
            double w[SIZE_MAX_WEIGHTS], score, loss;
            fill_chain(&r, &setting, 40 + seed);
            for (size_t c = 0; c < SIZE_MAX_WEIGHTS; c++)
                w[c] = 0.4 * rng_normal(seed, RNG_TEST, c);
            double best = enumerate(&loss, &r.problem, &layout, w, 1);
            must(decode_augmented(decoder, &score, &r.problem, &layout, w, err));
            double of_zeros = 0;
            for (int32_t i = 0; i < N_NODES && setting.n_labels == 2; i++)
                of_zeros += (double)r.theta[2 * i + 1];
            ck_assert_double_eq_tol(score + of_zeros, best, 1e-7);
            double found = loss_of(&r.problem, &layout, decoder->y);
            for (int32_t i = 0; i < N_NODES; i++)
                ck_assert_int_eq(decoder->y[i] == CLV_UNKNOWN, r.label[i] == CLV_UNKNOWN);
            ck_assert_double_eq_tol(found, loss, 1e-7);
            best = enumerate(&loss, &r.problem, &layout, w, 0);
            must(decode_known(decoder, &score, &r.problem, &layout, w, err));
            ck_assert_double_eq_tol(score, best, 1e-7);
        }
    decoders_free(decoder, 1);
}

/* The estimate of two labels by its definition. */
static double slow_estimate(const struct pmap_example *example, const struct clv_weight_layout *layout, const double *w,
                            uint64_t seed)
{
    const struct clv_problem *p = &example->problem;
    double noise[N_NODES] = {0}, best[N_NODES][2], top = -INFINITY, value = 0, truth = 0;
    int32_t y[N_NODES] = {0};
    gumbel_add(noise, p->n_nodes, 2, seed, 5);
    for (int32_t i = 0; i < p->n_nodes; i++)
        best[i][0] = best[i][1] = -INFINITY;
    do {
        double score = score_of(p, layout, w, y);
        bool is_truth = true;
        for (int32_t i = 0; i < p->n_nodes; i++) {
            score += p->label[i] == CLV_UNKNOWN ? 0 : noise[i] * y[i];
            is_truth = is_truth && (p->label[i] == CLV_UNKNOWN || p->label[i] == y[i]);
        }
        top = fmax(top, score);
        truth = is_truth ? score : truth;
        for (int32_t i = 0; i < p->n_nodes; i++)
            best[i][y[i]] = fmax(best[i][y[i]], score);
    } while (next_labelling(y, p->n_nodes, 2));
    for (int32_t i = 0; i < p->n_nodes && example->weight; i++)
        for (int32_t b = 0; b < 2 && p->label[i] != CLV_UNKNOWN; b++)
            value += (double)example->weight[2 * i + b] * (best[i][b] - top);
    return example->scale * (example->weight ? value : truth - top);
}

TEST(perturb_and_map_gradients_of_two_label_chains_are_those_of_the_definition)
{
    struct decoder *decoder;
    OWNED(pmap_workspace_release) struct pmap_workspace space = {0};
    must(decoders_new(&decoder, 1, CLV_ENGINE_DEFAULT, err));
    for (int k = 0; k < 64; k++) {
        static struct random_problem r;
        struct setting setting = setting_of(2 * k);
        struct clv_weight_layout layout = shape_of(&setting);
        float weight[2 * N_NODES];
        double w[SIZE_MAX_WEIGHTS], gradient[SIZE_MAX_WEIGHTS], value, h = 1e-5;
        fill_chain(&r, &setting, 70 + (uint64_t)k);
        for (size_t c = 0; c < SIZE_MAX_WEIGHTS; c++)
            w[c] = 0.7 * rng_normal((uint64_t)k, RNG_TEST, c);
        for (int32_t c = 0; c < 2 * N_NODES; c++)
            weight[c] = (float)rng_uniform((uint64_t)k, RNG_TEST, 300 + (uint64_t)c);
        struct pmap_example example = {.problem = r.problem, .weight = k % 5 ? weight : NULL, .scale = 0.7};
        struct pmap_draws draws = {layout, k >> 2 & 1, k >> 3 & 1, (uint64_t)k};
        must(pmap_draw(&value, gradient, &(struct pmap_estimate){&draws, &example, 5, w}, &space, decoder, err));
        ck_assert_double_eq_tol(value, slow_estimate(&example, &layout, w, (uint64_t)k), 1e-6);
        for (size_t c = 0; c < clv_weight_layout_size(&layout); c++) {
            double up[SIZE_MAX_WEIGHTS], down[SIZE_MAX_WEIGHTS];
            memcpy(up, w, sizeof w);
            memcpy(down, w, sizeof w);
            up[c] += h;
            down[c] -= h;
            double slope = (slow_estimate(&example, &layout, up, (uint64_t)k) -
                            slow_estimate(&example, &layout, down, (uint64_t)k)) /
                           (2 * h);
            ck_assert_double_eq_tol(gradient[c], slope, 1e-4 * fabs(slope) + 1e-6);
        }
    }
    decoders_free(decoder, 1);
}
