/* Writes and reads checkpoints: a file of tensors whose metadata name the training (learner, parameters, options, a
 * digest of its examples). A resumed training compares these and reports the first difference. Start at
 * checkpoint_read. */
#include "learn/common/common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cluster/comm.h"
#include "data/data.h"
#include "data/tensor_digest.h"

#define MAX_PAIRS (4 + CLV_MAX_PARAMETERS + CLV_MAX_FACTS)

/* Facts that distinguish one training from another, as metadata: {name, value} pairs that point into one text. */
struct facts {
    struct text text;
    size_t at[MAX_PAIRS][2];
    const char *pairs[MAX_PAIRS][2];
    size_t n;
};

static void facts_release(struct facts *facts)
{
    text_release(&facts->text);
}

static uint64_t add_example(uint64_t hash, const struct clv_problem *problem, const int32_t *label, const float *theta,
                            int32_t n_labels)
{
    size_t n = (size_t)problem->n_nodes;
    hash = hash_bytes(hash, &problem->n_nodes, sizeof problem->n_nodes);
    hash = hash_bytes(hash, &problem->n_edges, sizeof problem->n_edges);
    hash = hash_bytes(hash, label, label ? n * sizeof *label : 0);
    return hash_bytes(hash, theta, theta ? n * (size_t)n_labels * sizeof *theta : 0);
}

/* Digests all data of a training and its first weights, except the features, which are large and are represented by
 * `fingerprint`. */
static uint64_t digest_examples(const struct clv_training *training, double fingerprint)
{
    uint64_t hash = hash_bytes(HASH_START, &fingerprint, sizeof fingerprint);
    if (training->init)
        hash = hash_bytes(hash, training->init, clv_weight_layout_size(&training->layout) * sizeof *training->init);
    for (size_t i = 0; i < training->n_examples; i++) {
        struct clv_problem problem = clv_dataset_problem(training->dataset, (size_t)training->examples[i]);
        hash = add_example(hash, &problem, problem.label, problem.theta, training->layout.n_labels);
    }
    for (size_t k = 0; k < training->n_weak; k++) {
        struct clv_problem problem = clv_dataset_problem(training->dataset, (size_t)training->weak[k]);
        hash = add_example(hash, &problem, training->given ? training->given[k] : NULL, NULL, 0);
    }
    return hash;
}

void checkpoints_open(struct checkpoints *self, const struct clv_learner *learner, const struct clv_training *training,
                      double fingerprint)
{
    *self = (struct checkpoints){training, learner, CHECKPOINT_OF_LEARNER, 0, 0};
    if (!training->checkpoints)
        return;
    self->digest = digest_examples(training, fingerprint);
    self->written_s = seconds_now();
}

bool checkpoint_is_due(const struct checkpoints *self)
{
    const struct clv_checkpoints *wanted = self->training->checkpoints;
    return wanted && seconds_now() - self->written_s >= wanted->every_s;
}

static void add_fact(struct facts *facts, const char *name, const char *value)
{
    const char *const pair[] = {name, value};
    for (int k = 0; k < 2; k++) {
        facts->at[facts->n][k] = facts->text.size;
        text_append(&facts->text, pair[k], strlen(pair[k]) + 1);
    }
    facts->n++;
}

/* Lists facts in the order in which differences are reported: a parameter before the whole command. */
static enum clv_status facts_open(struct facts *facts, const struct checkpoints *self, struct clv_error *err)
{
    const struct clv_training *training = self->training;
    const struct clv_checkpoints *wanted = training->checkpoints;
    char name[80], value[40];
    facts->n = 0;
    text_init(&facts->text, SIZE_MAX / 2);
    FAIL_IF(wanted->n_facts > CLV_MAX_FACTS, CLV_ERR_USAGE, "%s: %zu facts, at most %d", wanted->path, wanted->n_facts,
            CLV_MAX_FACTS);
    add_fact(facts, "format", self->format);
    add_fact(facts, "learner", self->learner->name);
    snprintf(value, sizeof value, "%" PRIu64, training->seed);
    add_fact(facts, "seed", value);
    for (int i = 0; self->learner->parameters[i].name; i++) {
        snprintf(name, sizeof name, "parameter.%s", self->learner->parameters[i].name);
        for (int digits = 6; digits <= 17; digits++) { /* the shortest form that reads back as the same number */
            point_snprintf(value, sizeof value, "%.*g", digits, training->parameters[i]);
            if (point_strtod(value, NULL) == training->parameters[i])
                break;
        }
        add_fact(facts, name, value);
    }
    for (size_t i = 0; i < wanted->n_facts; i++)
        add_fact(facts, wanted->facts[i][0], wanted->facts[i][1]);
    snprintf(value, sizeof value, "%016" PRIx64, self->digest);
    add_fact(facts, "examples", value);
    if (facts->text.failed)
        return fail_memory(err);
    for (size_t i = 0; i < facts->n; i++)
        for (int k = 0; k < 2; k++)
            facts->pairs[i][k] = facts->text.bytes + facts->at[i][k];
    return CLV_OK;
}

enum clv_status checkpoint_write(struct checkpoints *self, const struct clv_tensor *state, size_t n,
                                 struct clv_error *err)
{
    if (!comm_rank()) { /* rank 0 writes */
        OWNED(facts_release) struct facts facts = {0};
        MUST(facts_open(&facts, self, err));
        MUST(tensors_write_digested(self->training->checkpoints->path, state, n, (const char *const(*)[2])facts.pairs,
                                    facts.n, err));
    }
    self->written_s = seconds_now();
    return CLV_OK;
}

static enum clv_status compare(bool *is_other_kind, const struct checkpoints *self, const struct facts *facts,
                               const struct clv_tensors *state, struct clv_error *err)
{
    const char *path = self->training->checkpoints->path;
    const char *format = clv_tensors_metadata(state, "format");
    *is_other_kind = format && strcmp(format, self->format) != 0 &&
                     (strcmp(format, CHECKPOINT_OF_LEARNER) == 0 || strcmp(format, CHECKPOINT_OF_FOLDS) == 0);
    if (*is_other_kind)
        return CLV_OK;
    FAIL_IF(!format || strcmp(format, self->format) != 0, CLV_ERR_DATA,
            "%s: not a checkpoint that this program reads (format \"%.60s\")", path, format ? format : "");
    for (size_t i = 0; i < facts->n; i++) {
        const char *name = facts->pairs[i][0], *now = facts->pairs[i][1], *then = clv_tensors_metadata(state, name);
        FAIL_IF(!then || strcmp(then, now) != 0, CLV_ERR_USAGE,
                "%s: cannot go on from it: %s was \"%.300s\", is \"%.300s\"", path, name, then ? then : "", now);
    }
    return CLV_OK;
}

enum clv_status checkpoint_read(struct clv_tensors **state, const struct checkpoints *self, struct clv_error *err)
{
    const struct clv_checkpoints *wanted = self->training->checkpoints;
    *state = NULL;
    enum path_kind kind;
    bool is_other_kind = false;
    if (!wanted || !wanted->resume)
        return CLV_OK;
    MUST(path_find_kind(&kind, wanted->path, err));
    if (kind == PATH_ABSENT)
        return CLV_OK;
    OWNED(facts_release) struct facts facts = {0};
    OWNED(tensors_drop) struct clv_tensors *result = NULL;
    MUST(facts_open(&facts, self, err));
    MUST(clv_tensors_open(&result, wanted->path, err));
    MUST(compare(&is_other_kind, self, &facts, result, err));
    FAIL_IF(!clv_tensors_metadata(result, TENSOR_DIGEST), CLV_ERR_DATA,
            "%s: not a checkpoint that this program reads (no digest)", wanted->path);
    MUST(tensors_check_digest(result, NULL, wanted->path, err));
    if (!is_other_kind)
        *state = TAKE(result);
    return CLV_OK;
}
