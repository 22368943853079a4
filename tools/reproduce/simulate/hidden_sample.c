/* With x summed out, what is left of the model is a field of y and h. On a chain of places 0 .. n-1 it is sampled
 * exactly:
 *
 *     b_(n-1)(s) = 0,   b_i(s) = log sum_t exp(table_i[s, t] + unary_(i+1)[t] + b_(i+1)(t))
 *     p(s_0) ~ exp(unary_0 + b_0),   p(s_(i+1) | s_i) ~ exp(table_i[s_i, .] + unary_(i+1) + b_(i+1))
 *
 * elsewhere by Gibbs sweeps over the nodes, p(s_i | rest) ~ exp(unary_i + sum over its edges). Then p(x_i | s_i) ~ exp
 * emission. */
#include "hidden_sample.h"

#include <math.h>

#include "base/base.h"

void hidden_sampler_release(struct hidden_sampler *sampler)
{
    array_free(sampler->backward);
    array_free(sampler->chain);
    array_free(sampler->first);
    array_free(sampler->neighbour);
    *sampler = (struct hidden_sampler){0};
}

/* table_e[s, t] with s the label of `node`, an end of the edge, and t the other end's. */
static double pair_score(const struct hidden_model *model, int32_t edge, int32_t node, int32_t s, int32_t t)
{
    int32_t k = model->n_labels, y = node < model->n_visible ? s : t, h = node < model->n_visible ? t : s;
    return model->table[(edge * k + y) * k + h];
}

/* The end of an edge that is not `node`. */
static int32_t other_end(const struct hidden_model *model, int32_t edge, int32_t node)
{
    return model->edges[edge][node < model->n_visible];
}

static void sum_backward(struct hidden_sampler *sampler)
{
    const struct hidden_model *model = sampler->model;
    int32_t k = model->n_labels, n = model->n_nodes;
    sampler->chain[0] = 0;
    for (int32_t e = 0; e < n - 1; e++)
        sampler->chain[e + 1] = other_end(model, e, sampler->chain[e]);
    for (int32_t s = 0; s < k; s++)
        sampler->backward[(n - 1) * k + s] = 0;
    for (int32_t e = n - 2; e >= 0; e--)
        for (int32_t s = 0; s < k; s++) {
            double score[HIDDEN_MAX_LABELS], most = -INFINITY, sum = 0;
            for (int32_t t = 0; t < k; t++) {
                score[t] = pair_score(model, e, sampler->chain[e], s, t) + model->unary[sampler->chain[e + 1] * k + t] +
                           sampler->backward[(e + 1) * k + t];
                most = fmax(most, score[t]);
            }
            for (int32_t t = 0; t < k; t++)
                sum += portable_exp(score[t] - most);
            sampler->backward[e * k + s] = most + portable_log(sum);
        }
}

static void list_neighbours(struct hidden_sampler *sampler)
{
    const struct hidden_model *model = sampler->model;
    int32_t *first = sampler->first;
    for (int32_t e = 0; e < model->n_edges; e++)
        for (int end = 0; end < 2; end++)
            first[model->edges[e][end] + 1]++;
    for (int32_t i = 0; i < model->n_nodes; i++)
        first[i + 1] += first[i];
    for (int32_t e = 0; e < model->n_edges; e++)
        for (int end = 0; end < 2; end++)
            sampler->neighbour[first[model->edges[e][end]]++] = e;
    for (int32_t i = model->n_nodes; i > 0; i--) /* each begin has moved to its end */
        first[i] = first[i - 1];
    first[0] = 0;
}

enum clv_status hidden_sampler_init(struct hidden_sampler *sampler, const struct hidden_model *model, int32_t n_sweeps,
                                    struct clv_error *err)
{
    size_t n = (size_t)model->n_nodes, k = (size_t)model->n_labels;
    *sampler = (struct hidden_sampler){
        .model = model,
        .n_sweeps = n_sweeps,
        .backward = array_alloc(n, k * sizeof *sampler->backward),
        .chain = array_alloc(n, sizeof *sampler->chain),
        .first = array_zalloc(n + 1, sizeof *sampler->first),
        .neighbour = array_alloc(2 * (size_t)model->n_edges, sizeof *sampler->neighbour),
    };
    if (!sampler->backward || !sampler->chain || !sampler->first || !sampler->neighbour) {
        hidden_sampler_release(sampler);
        return fail_memory(err);
    }
    if (n_sweeps)
        list_neighbours(sampler);
    else
        sum_backward(sampler);
    return CLV_OK;
}

/* s with probability proportional to exp score[s * stride]; uniform in (0, 1). */
static int32_t draw_state(const double *score, int32_t k, int32_t stride, double uniform)
{
    double weight[HIDDEN_MAX_LABELS], most = -INFINITY, sum = 0;
    for (int32_t s = 0; s < k; s++)
        most = fmax(most, score[s * stride]);
    for (int32_t s = 0; s < k; s++)
        sum += weight[s] = portable_exp(score[s * stride] - most);
    double left = uniform * sum;
    int32_t drawn = 0;
    while (drawn + 1 < k && left >= weight[drawn])
        left -= weight[drawn++];
    return drawn;
}

/* The uniform numbers of one sample, one after the other. */
struct uniforms {
    uint64_t seed, stream, next;
};

static double next_uniform(struct uniforms *uniforms)
{
    return rng_uniform(uniforms->seed, uniforms->stream, uniforms->next++);
}

static void sample_chain(int32_t *y, const struct hidden_sampler *sampler, struct uniforms *uniforms)
{
    const struct hidden_model *model = sampler->model;
    int32_t k = model->n_labels;
    for (int32_t place = 0; place < model->n_nodes; place++) {
        int32_t node = sampler->chain[place], before = place ? sampler->chain[place - 1] : 0;
        double score[HIDDEN_MAX_LABELS];
        for (int32_t s = 0; s < k; s++)
            score[s] = model->unary[node * k + s] + sampler->backward[place * k + s] +
                       (place ? pair_score(model, place - 1, before, y[before], s) : 0);
        y[node] = draw_state(score, k, 1, next_uniform(uniforms));
    }
}

static void sweep(int32_t *y, const struct hidden_sampler *sampler, struct uniforms *uniforms)
{
    const struct hidden_model *model = sampler->model;
    int32_t k = model->n_labels;
    for (int32_t node = 0; node < model->n_nodes; node++) {
        double score[HIDDEN_MAX_LABELS];
        for (int32_t s = 0; s < k; s++)
            score[s] = model->unary[node * k + s];
        for (int32_t at = sampler->first[node]; at < sampler->first[node + 1]; at++) {
            int32_t edge = sampler->neighbour[at], t = y[other_end(model, edge, node)];
            for (int32_t s = 0; s < k; s++)
                score[s] += pair_score(model, edge, node, s, t);
        }
        y[node] = draw_state(score, k, 1, next_uniform(uniforms));
    }
}

void hidden_sample(int32_t *y, int32_t *x, const struct hidden_sampler *sampler, uint64_t seed, uint64_t stream)
{
    const struct hidden_model *model = sampler->model;
    int32_t k = model->n_labels;
    struct uniforms uniforms = {seed, stream, 0};
    if (!sampler->n_sweeps)
        sample_chain(y, sampler, &uniforms);
    for (int32_t node = 0; sampler->n_sweeps && node < model->n_nodes; node++)
        y[node] = (int32_t)(next_uniform(&uniforms) * k);
    for (int32_t pass = 0; pass < sampler->n_sweeps; pass++)
        sweep(y, sampler, &uniforms);
    for (int32_t node = 0; node < model->n_nodes; node++)
        x[node] = draw_state(model->emission + (node * k) * k + y[node], k, k, next_uniform(&uniforms));
}
