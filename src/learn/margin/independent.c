/* The unstructured baseline: an ordinary SVM that classifies each node by itself. A node has the weight that its pixels
 * have in the loss.
 *
 *     min_w  lambda/2 |w|^2 + (1/n) sum_i sum_node sum_b theta_b max(0, 1 - s_b <w, x_node>)
 *
 * with s_b = 1 for the row's label and -1 for the others. Two labels have one row, more labels one row each, against
 * the rest. Solved in the dual, one node at a time: Hsieh, Chang, Lin, Keerthi, Sundararajan: A dual coordinate descent
 * method for large-scale linear SVM (ICML 2008), Algorithm 1. The objective divided by lambda has node costs C = theta
 * / (n lambda) and the dual
 *
 *     max  sum alpha - 1/2 |w|^2,   w = sum s alpha x,   0 <= alpha <= C */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "learn/common/common.h"
#include "learn/margin/margin.h"

enum { LAMBDA, PASSES, GAP };

static const struct clv_parameter parameters[] = {
    [LAMBDA] = {"lambda", 1e-5, 1e-12, 1e12, "regularisation, relative to the size of the features",
                .role = CLV_ROLE_LAMBDA_OF_MEAN},
    [PASSES] = {"passes", 100, 1, 1e6, "most passes over the examples", .role = CLV_ROLE_PASSES},
    [GAP] = {"gap", 0.02, 0, 1, "stop once (objective - dual) / objective is this small", .role = CLV_ROLE_GAP},
    {0},
};

#define CHECK_EVERY 5 /* passes between points of the curve */

struct independent {
    struct arena arena; /* of the arrays below */
    struct examples examples;
    struct course course;
    size_t n_rows, size;
    double lambda;
    double *w;
    double **alpha; /* [n] of [n_nodes][rows][2]: the node with its row's label, and with another */
    double *alpha_memory;
    double *scores; /* [most nodes][rows] */
    int32_t *order, *node_order;
};

/* Computes the costs of a node in a row: cost[0] for pixels that have the row's label, cost[1] for the others. */
static void costs_of(double cost[2], const struct independent *self, const struct clv_problem *problem, size_t node,
                     size_t row)
{
    size_t n_labels = (size_t)self->examples.layout.n_labels, own = self->n_rows == 1 ? 1 : row;
    const float *theta = problem->theta + node * n_labels;
    double unit = 1 / ((double)self->examples.n * self->lambda);
    cost[0] = unit * (double)theta[own];
    cost[1] = 0;
    for (size_t b = 0; b < n_labels; b++)
        if (b != own)
            cost[1] += unit * (double)theta[b];
}

static double clip(double x, double high)
{
    return x < 0 ? 0 : x > high ? high : x;
}

/* Updates both variables of a node in turn, for one row. Gradient s <w, x> - 1, curvature |x|^2. */
static void update_node(struct independent *self, const struct clv_problem *problem, double *alpha, size_t node,
                        size_t row)
{
    double *w = self->w + row * (size_t)self->examples.layout.n_features, cost[2], score = 0, squares = 0, move = 0;
    for (int64_t k = problem->row[node]; k < problem->row[node + 1]; k++) {
        double x = (double)problem->value[k];
        score += w[problem->index[k]] * x;
        squares += x * x;
    }
    if (squares <= 0)
        return;
    costs_of(cost, self, problem, node, row);
    for (int side = 0; side < 2; side++) {
        double s = side ? -1 : 1;
        double changed = clip(alpha[side] - (s * (score + move * squares) - 1) / squares, cost[side]);
        move += s * (changed - alpha[side]);
        alpha[side] = changed;
    }
    for (int64_t k = problem->row[node]; move != 0 && k < problem->row[node + 1]; k++)
        w[problem->index[k]] += move * (double)problem->value[k];
}

/* Updates all nodes of an example, in a random order. */
static void take_step(struct independent *self, size_t i, uint32_t pass)
{
    const struct clv_problem *problem = &self->examples.problems[i];
    dataset_notify_access(self->course.training->dataset, problem);
    rng_permutation(self->node_order, (size_t)problem->n_nodes, self->course.training->seed + i,
                    RNG_STREAM(RNG_ORDER, 2 * pass + 1));
    for (int32_t j = 0; j < problem->n_nodes; j++) {
        size_t node = (size_t)self->node_order[j];
        for (size_t r = 0; r < self->n_rows && problem->label[node] != CLV_UNKNOWN; r++)
            update_node(self, problem, self->alpha[i] + (node * self->n_rows + r) * 2, node, r);
    }
}

/* Runs the rest of a pass, in a random order. */
static enum clv_status run_pass(struct independent *self, struct clv_error *err)
{
    struct course *course = &self->course;
    uint32_t pass = (uint32_t)course->pass + 1;
    rng_permutation(self->order, self->examples.n, course->training->seed, RNG_STREAM(RNG_ORDER, 2 * pass));
    while (course_pass_goes_on(course)) {
        take_step(self, (size_t)self->order[course->n_taken], pass);
        MUST(course_step(course, err));
    }
    return CLV_OK;
}

/* Computes primal and dual of the objective above (lambda times the scaled one). Training ends once they are close. */
static enum clv_status add_point(struct independent *self, struct clv_error *err)
{
    struct course *course = &self->course;
    struct clv_curve_point point = {.pass = (double)course->pass};
    double squares = 0, hinge = 0, alpha_sum = 0, at_zero = 0;
    for (size_t k = 0; k < self->size; k++)
        squares += self->w[k] * self->w[k];
    for (size_t i = 0; i < self->examples.n; i++) {
        const struct clv_problem *problem = &self->examples.problems[i];
        clv_unary_scores(self->scores, problem, &self->examples.layout, self->w);
        for (size_t k = 0; k < (size_t)problem->n_nodes * self->n_rows; k++) {
            double cost[2];
            if (problem->label[k / self->n_rows] == CLV_UNKNOWN)
                continue;
            costs_of(cost, self, problem, k / self->n_rows, k % self->n_rows);
            at_zero += cost[0] + cost[1];
            hinge += cost[0] * fmax(0, 1 - self->scores[k]) + cost[1] * fmax(0, 1 + self->scores[k]);
            alpha_sum += self->alpha[i][2 * k] + self->alpha[i][2 * k + 1];
        }
    }
    course->result->at_zero = self->lambda * at_zero;
    point.objective = self->lambda * (squares / 2 + hinge);
    point.dual = self->lambda * (alpha_sum - squares / 2);
    course->is_over = point.objective - point.dual <= course->training->parameters[GAP] * point.objective;
    return course_add_point(course, point, "", self->w, err);
}

static enum clv_status independent_open(struct independent *self, const struct clv_training *training,
                                        struct clv_training_result *result, struct clv_error *err)
{
    MUST(examples_open(&self->examples, training, false, err));
    const struct examples *examples = &self->examples;
    size_t n_nodes = 0, most_nodes = 0;
    for (size_t i = 0; i < examples->n; i++) {
        size_t n = (size_t)examples->problems[i].n_nodes;
        n_nodes += n;
        most_nodes = n > most_nodes ? n : most_nodes;
    }
    self->n_rows = clv_weight_layout_rows(&examples->layout);
    self->size = clv_weight_layout_size(&examples->layout);
    self->lambda = training->parameters[LAMBDA] * examples->node_scale;
    self->w = arena_zalloc(&self->arena, self->size, sizeof *self->w);
    self->alpha = arena_alloc(&self->arena, examples->n, sizeof *self->alpha);
    self->alpha_memory = arena_zalloc(&self->arena, n_nodes * self->n_rows, 2 * sizeof(double));
    self->scores = arena_alloc(&self->arena, most_nodes * self->n_rows, sizeof(double));
    self->order = arena_alloc(&self->arena, examples->n, sizeof *self->order);
    self->node_order = arena_alloc(&self->arena, most_nodes, sizeof *self->node_order);
    if (self->arena.failed)
        return fail_memory(err);
    double *memory = self->alpha_memory;
    for (size_t i = 0; i < examples->n; i++) {
        self->alpha[i] = memory;
        memory += (size_t)examples->problems[i].n_nodes * self->n_rows * 2;
    }
    size_t n_alpha = n_nodes * self->n_rows * 2;
    course_open(&self->course, &independent_learner, result, examples);
    self->course.order = self->order;
    self->course.n_passes = (size_t)training->parameters[PASSES];
    self->course.passes_per_point = CHECK_EVERY;
    course_holds(&self->course, (struct state_field){"w", CLV_F64, self->size, self->w, STATE_FINITE});
    course_holds(&self->course,
                 (struct state_field){"alpha", CLV_F64, n_alpha, self->alpha_memory, STATE_NOT_NEGATIVE});
    return course_resume(&self->course, err);
}

static void independent_release(struct independent *self)
{
    examples_release(&self->examples);
    arena_release(&self->arena);
}

/* Two dual variables per node and row. */
static double bytes(const struct clv_training *training)
{
    return 2 * (double)sizeof(double) * (double)clv_weight_layout_rows(&training->layout) * training_n_nodes(training);
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    OWNED(independent_release) struct independent self = {0};
    struct course *course = &self.course;
    MUST(independent_open(&self, training, result, err));
    while (course_goes_on(course))
        MUST(course_needs_point(course) ? add_point(&self, err) : run_pass(&self, err));
    return course_end(course, self.w, err);
}

const struct clv_learner independent_learner = {
    .name = "independent",
    .summary = "cost-weighted SVM on each node alone, no couplings (Hsieh et al. 2008)",
    .parameters = parameters,
    .n_vectors = 2,
    .bytes = bytes,
    .train = train,
    .trains = CLV_TRAINS_CUTS | CLV_TRAINS_FULL_CHAINS,
};
