/* Sets the target of each example of a perturb-and-MAP training: its own labels or, for an image without a mask, the
 * marginals or pseudo-labels that a model estimates. Start at pmap_targets_label, at the end. */
#include "learn/pmap/pmap.h"

#include "base/base.h"
#include "cluster/comm_for.h"
#include "learn/weak/weak.h"

/* The seed of a weak example's samples, which differ from those of other examples and of the steps. */
#define PSEUDO_LABEL_SEED(seed, index) ((seed) ^ (0x6775657373ULL + ((uint64_t)(index) << 40)))

/* Sets weight[n_nodes][n_labels], which is zeros, to 1 at each known label. */
static void set_weight(float *weight, const struct clv_problem *problem, size_t n_labels)
{
    for (size_t i = 0; i < (size_t)problem->n_nodes; i++)
        if (problem->label[i] != CLV_UNKNOWN)
            weight[i * n_labels + (size_t)problem->label[i]] = 1;
}

static void place_pseudo_labels(struct pmap_targets *self, float *weight)
{
    const struct clv_training *training = self->examples->training;
    int32_t *label = self->labels;
    for (size_t k = 0; k < self->n_weak; k++) {
        struct pmap_example *target = &self->list[self->n_labelled + k];
        target->problem = clv_dataset_problem(training->dataset, (size_t)training->weak[k]);
        target->problem.label = label;
        target->weight = self->objective == PMAP_JOINT ? NULL : weight;
        target->given = self->conditional ? training_given(training, k) : NULL;
        self->pseudo_labels[k] = (struct partial_labels){weight, label};
        label += target->problem.n_nodes;
        weight += (size_t)target->problem.n_nodes * (size_t)self->examples->layout.n_labels;
    }
}

enum clv_status pmap_targets_open(struct pmap_targets *self, const struct examples *examples,
                                  enum pmap_objective objective, bool conditional, struct clv_error *err)
{
    const struct clv_training *training = examples->training;
    size_t n_labels = (size_t)examples->layout.n_labels, n_nodes = 0, n_known = 0, n_weak_nodes = 0;
    *self = (struct pmap_targets){.examples = examples, .objective = objective, .conditional = conditional};
    self->n_labelled = examples->n;
    self->n_weak = training->n_weak;
    for (size_t i = 0; i < examples->n; i++) {
        const struct clv_problem *problem = &examples->problems[i];
        n_nodes += (size_t)problem->n_nodes;
        for (int32_t k = 0; k < problem->n_nodes; k++)
            n_known += problem->label[k] != CLV_UNKNOWN;
    }
    for (size_t k = 0; k < self->n_weak; k++)
        n_weak_nodes += (size_t)clv_dataset_problem(training->dataset, (size_t)training->weak[k]).n_nodes;
    size_t n_own = objective == PMAP_MARGINAL ? n_nodes : 0;
    self->list = arena_zalloc(&self->arena, self->n_labelled + self->n_weak, sizeof *self->list);
    self->weights = arena_zalloc(&self->arena, (n_own + n_weak_nodes) * n_labels, sizeof *self->weights);
    self->labels = arena_zalloc(&self->arena, n_weak_nodes, sizeof *self->labels);
    self->pseudo_labels = arena_zalloc(&self->arena, self->n_weak, sizeof *self->pseudo_labels);
    if (self->arena.failed)
        return fail_memory(err);
    self->unit = objective == PMAP_WEIGHTED ? 1 : (double)examples->n / (double)n_known;
    float *weight = self->weights;
    for (size_t i = 0; i < self->n_labelled; i++) {
        const struct clv_problem *problem = &examples->problems[i];
        self->list[i] = (struct pmap_example){.problem = *problem, .scale = self->unit};
        if (objective == PMAP_WEIGHTED) {
            self->list[i].weight = problem->theta;
        } else if (objective == PMAP_MARGINAL) {
            set_weight(weight, problem, n_labels);
            self->list[i].weight = weight;
            weight += (size_t)problem->n_nodes * n_labels;
        }
    }
    place_pseudo_labels(self, weight);
    return CLV_OK;
}

void pmap_targets_release(struct pmap_targets *self)
{
    arena_release(&self->arena);
    *self = (struct pmap_targets){0};
}

struct label_state {
    struct pmap_targets *targets;
    const struct pmap_labelling *by;
};

static enum clv_status label_example(void *context, size_t k, int thread, struct clv_error *err)
{
    const struct label_state *self = context;
    const struct pmap_targets *targets = self->targets;
    const struct pmap_labelling *by = self->by;
    const struct examples *examples = targets->examples;
    const struct clv_problem *problem = &targets->list[targets->n_labelled + k].problem;
    const struct partial_example example = {problem, training_given(examples->training, k), &examples->layout, by->w};
    struct decoder *decoder = &examples->decoders[thread];
    struct partial_labels pseudo = targets->pseudo_labels[k];
    FAIL_IF(stop_requested(examples->training->progress), CLV_ERR_INTERRUPTED, "interrupted");
    if (by->pseudo_labels)
        return partial_weigh(pseudo, by->pseudo_labels->q[k], problem, &examples->layout, &by->options, err);
    if (targets->objective == PMAP_JOINT)
        return partial_map(pseudo.label, decoder, &example, err);
    return partial_marginals(pseudo, decoder, &example, &by->options, PSEUDO_LABEL_SEED(by->seed, k), err);
}

static bool label_results(struct comm_piece *piece, void *context, size_t k, size_t part)
{
    const struct label_state *self = context;
    const struct pmap_targets *targets = self->targets;
    const struct partial_labels *pseudo = &targets->pseudo_labels[k];
    size_t n = (size_t)targets->list[targets->n_labelled + k].problem.n_nodes;
    *piece = part ? (struct comm_piece){pseudo->weight,
                                        n * (size_t)targets->examples->layout.n_labels * sizeof *pseudo->weight}
                  : (struct comm_piece){pseudo->label, n * sizeof *pseudo->label};
    return part < 2;
}

enum clv_status pmap_targets_label(struct pmap_targets *self, const struct pmap_labelling *by, struct clv_error *err)
{
    struct label_state labelling = {self, by};
    double kappa = by->kappa;
    MUST(comm_for(self->n_weak, self->examples->n_threads, label_example, label_results, &labelling, err));
    double n_labelled = (double)self->n_labelled, n_weak = (double)self->n_weak;
    double scale = self->unit * (n_labelled + n_weak) / (n_labelled + kappa * n_weak);
    for (size_t i = 0; i < self->n_labelled + self->n_weak; i++)
        self->list[i].scale = i < self->n_labelled ? scale : kappa * scale;
    return CLV_OK;
}
