/* Every learner, killed or stopped anywhere: the rest makes what an undisturbed training makes. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/base.h"
#include "data/data.h"
#include "learn/chains.h"
#include "learn/common/common.h"
#include "support/disk.h"
#include "support/sample.h"

enum { MOST_SETTINGS = 6 };

/* A training, and how it is to end soon. */
struct variant {
    const char *learner;
    enum { CUTS, CHAINS, HIDDEN_CHAINS, HIDDEN_LOOPS } kind;
    struct {
        const char *name;
        double value;
    } settings[MOST_SETTINGS];
    bool warm, validated;
};

static const struct variant variants[] = {
    {"ssvm", CUTS, {{"passes", 23}, {"gap", 0}}, false, false},
    {"ssvm", CHAINS, {{"passes", 12}, {"gap", 0}, {"averaging", 0}}, true, false},
    {"ssvm", CHAINS, {{"passes", 12}, {"gap", 0}, {"sampling", 0}}, false, false},
    {"lapmedn", CUTS, {{"passes", 11}, {"gap", 0}, {"rounds", 3}}, false, false},
    {"lapmedn", CHAINS, {{"passes", 7}, {"gap", 0}, {"rounds", 4}, {"update", 1}}, true, false},
    {"mssvm", HIDDEN_CHAINS, {{"passes", 6}, {"batch", 2}, {"curve", 2}}, false, true},
    {"mssvm", HIDDEN_LOOPS, {{"passes", 6}, {"batch", 4}, {"smooth", 0.5}, {"sweeps", 8}}, true, false},
    {"mssvm", HIDDEN_LOOPS, {{"solver", 2}, {"passes", 16}, {"inner", 4}, {"sweeps", 8}, {"curve", 3}}, false, false},
    {"mssvm", HIDDEN_LOOPS, {{"solver", 3}, {"passes", 5}, {"batch", 3}, {"averaging", 0}}, false, false},
    {"mssvm", CUTS, {{"solver", 2}, {"passes", 12}, {"inner", 3}}, false, true},
    {"lssvm", HIDDEN_LOOPS, {{"solver", 1}, {"passes", 14}, {"curve", 4}}, false, false},
    {"lssvm", HIDDEN_CHAINS, {{"solver", 2}, {"passes", 14}, {"paper", 1}, {"inner", 4}}, false, false},
    {"hcrf", HIDDEN_LOOPS, {{"passes", 5}, {"batch", 3}, {"sweeps", 8}}, false, true},
    {"hcrf", HIDDEN_LOOPS, {{"solver", 2}, {"passes", 12}, {"inner", 4}}, false, false},
    {"eps", HIDDEN_LOOPS, {{"passes", 5}, {"batch", 2}, {"cells", 4000}}, false, false},
    {"crf", CHAINS, {{"passes", 12}}, false, false},
    {"crf", CHAINS, {{"passes", 30}, {"memory", 3}, {"tolerance", 0}}, true, false},
    {"crf", HIDDEN_CHAINS, {{"penalty", 2}, {"passes", 30}, {"tolerance", 0}}, false, false},
    {"crf", CHAINS, {{"penalty", 0}, {"passes", 15}}, false, false},
    {"perceptron", CUTS, {{"passes", 7}}, true, false},
    {"perceptron", CHAINS, {{"passes", 8}, {"averaging", 0}}, false, true},
    {"subgradient", CUTS, {{"passes", 7}}, false, true},
    {"subgradient", CHAINS, {{"passes", 7}, {"averaging", 0}}, true, false},
    {"independent", CUTS, {{"passes", 8}, {"gap", 0}}, false, true},
    {"m3n", CUTS, {{"passes", 12}, {"gap", 0}}, true, false},
    {"m3n", CHAINS, {{"solver", 1}, {"passes", 7}}, true, false},
    {"m3n", CUTS, {{"paper", 1}, {"passes", 6}}, false, false},
    {"l1m3n", CUTS, {{"passes", 7}}, true, false},
    {"l1m3n", CHAINS, {{"paper", 1}, {"passes", 6}}, false, false},
    {"m3e", HIDDEN_CHAINS, {{"passes", 8}, {"batch", 2}}, false, false},
    {"m3e", HIDDEN_CHAINS, {{"solver", 1}, {"passes", 12}}, true, false},
    {"modlat", HIDDEN_CHAINS, {{"rounds", 3}, {"passes", 4}, {"batch", 3}}, false, false},
    {"modlat", HIDDEN_CHAINS, {{"solver", 1}, {"rounds", 3}, {"passes", 5}}, true, false},
    {"modlat", CHAINS, {{"rounds", 3}, {"passes", 4}, {"batch", 4}, {"averaging", 0}}, false, false},
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

static const struct clv_weight_layout shapes[] = {
    [CUTS] = {2, 6, 2, CLV_PAIRWISE_POTTS},
    [CHAINS] = {3, 4, 1, CLV_PAIRWISE_FULL},
    [HIDDEN_CHAINS] = {3, 4, 1, CLV_PAIRWISE_FULL},
    [HIDDEN_LOOPS] = {2, 4, 2, CLV_PAIRWISE_FULL},
};

struct case_of {
    struct toy toy;
    struct clv_training training;
    struct clv_checkpoints checkpoints;
    double start[128];
    int32_t weak[3];
};

static void open_problems(struct case_of *self, const struct clv_learner *learner, int kind)
{
    static struct random_problem r;
    const struct clv_weight_layout *layout = &shapes[kind];
    toy_begin(&self->toy, layout->n_labels, layout->n_features, layout->n_edge_features, layout->pairwise);
    for (size_t i = 0; i < 9; i++) {
        if (kind == CHAINS || kind == HIDDEN_CHAINS)
            random_chain(&r, layout, 6, true, 300 + i);
        else
            random_problem_fill(&r, layout, 6, 0.6, 0.7, 300 + i);
        for (int32_t k = 1; kind >= HIDDEN_CHAINS && k < 6; k += 2) {
            r.label[k] = CLV_UNKNOWN;
            for (int32_t b = 0; b < layout->n_labels; b++)
                r.theta[k * layout->n_labels + b] = 0;
        }
        toy_add(&self->toy, &r.problem);
    }
    self->training = toy_training(&self->toy, learner->name);
    for (size_t k = 0; k < clv_weight_layout_size(layout); k++)
        self->start[k] = 0.3 * rng_normal(9, RNG_TEST, k);
    project_couplings(self->start, layout);
    self->checkpoints = (struct clv_checkpoints){here("resume.checkpoint"), 0, 1, NULL, 0};
    unlink(self->checkpoints.path);
}

static void open_case(struct case_of *self, const struct variant *variant)
{
    open_problems(self, clv_learner_find(variant->learner), variant->kind);
    for (int k = 0; k < MOST_SETTINGS && variant->settings[k].name; k++)
        set(&self->training, variant->learner, variant->settings[k].name, variant->settings[k].value);
    self->training.init = variant->warm ? self->start : NULL;
    self->training.validation = variant->validated ? self->toy.dataset : NULL;
}

static void same_numbers(const double *a, const double *b, size_t n)
{
    ck_assert(!a == !b);
    ck_assert(!a || !memcmp(a, b, n * sizeof *a));
}

static void must_be_same(const struct clv_training_result *a, const struct clv_training_result *b,
                         const struct clv_training *training)
{
    ck_assert(!a->interrupted && !b->interrupted);
    same_numbers(a->w, b->w, clv_weight_layout_size(&training->layout));
    same_numbers(a->variance, b->variance, clv_weight_layout_size(&training->layout));
    ck_assert_uint_eq(a->n_curve, b->n_curve);
    ck_assert(!memcmp(a->curve, b->curve, a->n_curve * sizeof *a->curve));
    same_numbers(a->validation_loss, b->validation_loss, a->n_curve);
    ck_assert_uint_eq(a->n_notes, b->n_notes);
    for (size_t k = 0; k < a->n_notes; k++)
        ck_assert(!memcmp(&a->notes[k].value, &b->notes[k].value, sizeof(double)));
    ck_assert_int_eq(a->decoding.rule, b->decoding.rule);
}

/* The checkpoint is there as the k-th write left it, as if the process had been killed at the next one; k 0: none.
 * False if the training is over before. */
static bool kill_at(struct case_of *self, const struct clv_learner *learner, int k)
{
    OWNED(clv_training_result_release) struct clv_training_result result = {0};
    unlink(self->checkpoints.path);
    self->checkpoints.every_s = 0;
    disk_renames = k;
    enum clv_status status = clv_train(&result, learner, &self->training, NULL);
    disk_renames = -1;
    self->checkpoints.every_s = 1e9;
    ck_assert(status == CLV_OK || status == CLV_ERR_CREATE);
    ck_assert(path_exists(self->checkpoints.path) == (k > 0));
    return status != CLV_OK;
}

TESTS(a_training_that_is_killed_after_any_step_goes_on_to_the_same_bytes, 0, N_VARIANTS)
{
    const struct variant *variant = &variants[_i];
    const struct clv_learner *learner = clv_learner_find(variant->learner);
    struct case_of self;
    int n_killed = 0;
    open_case(&self, variant);
    OWNED(clv_training_result_release) struct clv_training_result whole = run(variant->learner, &self.training);
    self.training.checkpoints = &self.checkpoints;
    for (int k = 1; kill_at(&self, learner, k); k += 1 + k / 2, n_killed++) {
        self.training.n_threads = 1 + k % 3;
        OWNED(clv_training_result_release) struct clv_training_result rest = run(variant->learner, &self.training);
        must_be_same(&whole, &rest, &self.training);
    }
    ck_assert_int_ge(n_killed, 4);
    toy_release(&self.toy);
}

/* No step of the first pass is done again. */
TEST(a_training_that_is_killed_within_its_first_pass_goes_on_with_the_next_step)
{
    static const struct variant variant = {"perceptron", CUTS, {{"passes", 7}}, false, false};
    const struct clv_learner *learner = clv_learner_find(variant.learner);
    struct case_of self;
    OWNED(clv_training_result_release) struct clv_training_result result = {0};
    open_case(&self, &variant);
    self.training.checkpoints = &self.checkpoints;
    ck_assert(kill_at(&self, learner, 5));
    rename(self.checkpoints.path, here("fifth"));
    ck_assert(kill_at(&self, learner, 4));
    self.checkpoints.every_s = 0;
    disk_renames = 1;
    must_fail(CLV_ERR_CREATE, "", clv_train(&result, learner, &self.training, err));
    disk_renames = -1;
    ck_assert(same_bytes(self.checkpoints.path, here("fifth")));
    toy_release(&self.toy);
}

static volatile int stop;
static const struct clv_progress until_stopped = {NULL, NULL, &stop, NULL, NULL};

/* Stops a training after k steps, of which each writes a checkpoint. False if it is over before. */
static bool stop_at(struct case_of *self, const struct clv_learner *learner, int k)
{
    unlink(self->checkpoints.path);
    self->checkpoints.every_s = 0;
    self->training.progress = &until_stopped;
    stop = 0;
    disk_stop = &stop;
    disk_stops_after = k;
    OWNED(clv_training_result_release) struct clv_training_result result = run(learner->name, &self->training);
    disk_stop = NULL;
    self->checkpoints.every_s = 1e9;
    self->training.progress = NULL;
    ck_assert(path_exists(self->checkpoints.path));
    return result.interrupted;
}

enum { MOST_LEARNERS = 32, PLAIN = 0, WARM = 1, WEAK = 2, VALIDATED = 4 };

/* Any step may be the last one before a stop, or before a write that fails. */
static void walk_steps(struct case_of *self, const struct clv_learner *learner)
{
    int n_ended = 0;
    self->training.checkpoints = NULL;
    OWNED(clv_training_result_release) struct clv_training_result whole = run(learner->name, &self->training);
    self->training.checkpoints = &self->checkpoints;
    for (int k = 1; k % 2 ? stop_at(self, learner, k) : kill_at(self, learner, k); k += 1 + k / 2, n_ended++) {
        self->training.n_threads = 1 + k % 3;
        OWNED(clv_training_result_release) struct clv_training_result rest = run(learner->name, &self->training);
        must_be_same(&whole, &rest, &self->training);
    }
    ck_assert_msg(n_ended >= 3, "%s ended %d times", learner->name, n_ended);
}

/* Whoever is in the list of learners, on all problems that it takes. */
TESTS(any_learner_goes_on_to_the_same_bytes, 0, MOST_LEARNERS)
{
    static const struct {
        const char *name;
        double value;
    } quick[] = {{"passes", 6}, {"rounds", 2}, {"samples", 3}, {"gap", 0},       {"batch", 2},
                 {"inner", 3},  {"curve", 2},  {"sweeps", 4},  {"tolerance", 0}, {"memory", 4}};
    static const int manners[] = {PLAIN, WARM, WEAK, WARM | WEAK | VALIDATED};
    static const enum clv_graph graphs[] = {
        [CUTS] = CLV_GRAPH_ANY, [CHAINS] = CLV_GRAPH_CHAIN, [HIDDEN_CHAINS] = CLV_GRAPH_CHAIN};
    const struct clv_learner *learner = clv_learner_at((size_t)_i);
    int n_kinds = 0;
    ck_assert_ptr_null(clv_learner_at(MOST_LEARNERS));
    for (int kind = CUTS; kind <= HIDDEN_CHAINS && learner; kind++) {
        if (!learner_trains(learner, shapes[kind].pairwise, shapes[kind].n_labels, graphs[kind]) ||
            (kind == HIDDEN_CHAINS && !learner->takes_hidden))
            continue;
        n_kinds++;
        for (size_t m = 0; m < sizeof manners / sizeof *manners; m++) {
            struct case_of self;
            if ((manners[m] & WEAK) && kind != CUTS)
                continue;
            open_problems(&self, learner, kind);
            for (size_t k = 0; k < sizeof quick / sizeof *quick; k++)
                if (clv_learner_parameter(learner, quick[k].name) >= 0)
                    set(&self.training, learner->name, quick[k].name, quick[k].value);
            if (manners[m] & WEAK) {
                self.training.n_examples -= 3;
                for (int k = 0; k < 3; k++)
                    self.weak[k] = (int32_t)self.training.n_examples + k;
                self.training.weak = self.weak;
                self.training.n_weak = 3;
            }
            self.training.init = (manners[m] & WARM) && learner->takes_init ? self.start : NULL;
            self.training.validation = manners[m] & VALIDATED ? self.toy.dataset : NULL;
            walk_steps(&self, learner);
            toy_release(&self.toy);
        }
    }
    ck_assert(!learner || n_kinds > 0);
}

static void on_alarm(int number)
{
    (void)number;
    stop = 1;
}

/* Also in the middle of a step, and of a look at all examples. */
TESTS(a_training_that_is_stopped_again_and_again_goes_on_to_the_same_bytes, 0, N_VARIANTS)
{
    const struct variant *variant = &variants[_i];
    struct case_of self;
    open_case(&self, variant);
    self.checkpoints.every_s = 1e9;
    OWNED(clv_training_result_release) struct clv_training_result whole = run(variant->learner, &self.training);
    struct clv_training_result part;
    self.training.checkpoints = &self.checkpoints;
    self.training.progress = &until_stopped;
    signal(SIGALRM, on_alarm);
    for (int k = 0;; k++) {
        const struct itimerval timer = {.it_value.tv_usec = 20 + 97 * (k % 20)}, none = {.it_value.tv_usec = 0};
        stop = 0;
        self.training.n_threads = 1 + k % 2;
        setitimer(ITIMER_REAL, k < 60 ? &timer : &none, NULL);
        part = run(variant->learner, &self.training);
        setitimer(ITIMER_REAL, &none, NULL);
        if (!part.interrupted)
            break;
        ck_assert(path_exists(self.checkpoints.path));
        clv_training_result_release(&part);
    }
    must_be_same(&whole, &part, &self.training);
    clv_training_result_release(&part);
    toy_release(&self.toy);
}

/* The checkpoint again, with another number in the k-th place of an array, or one number less. */
static void spoil(const char *path, const char *bytes, size_t size, const char *name, size_t k, double number, bool cut)
{
    OWNED(tensors_drop) struct clv_tensors *tensors = NULL;
    struct clv_tensor own[32];
    const char *metadata[64][2];
    char values[1 << 16];
    spill(path, bytes, size);
    must(clv_tensors_open(&tensors, path, err));
    size_t n = clv_tensors_count(tensors), n_metadata = clv_tensors_metadata_count(tensors);
    ck_assert(n <= 32 && n_metadata <= 64);
    for (size_t i = 0; i < n; i++) {
        own[i] = *clv_tensors_at(tensors, i);
        if (strcmp(own[i].name, name) != 0)
            continue;
        size_t width = own[i].dtype == CLV_F32 ? 4 : 8, n_values = (size_t)own[i].shape[0];
        ck_assert(n_values * width <= sizeof values);
        memcpy(values, own[i].data, n_values * width);
        own[i].shape[0] -= cut;
        const float narrow = (float)number;
        const int64_t whole = number >= 0x1p63 ? INT64_MAX : (int64_t)fmax(number, -0x1p63);
        memcpy(values + k * width,
               own[i].dtype == CLV_F32   ? (const void *)&narrow
               : own[i].dtype == CLV_I64 ? (const void *)&whole
                                         : (const void *)&number,
               width);
        own[i].data = values;
    }
    for (size_t i = 0; i < n_metadata; i++) {
        metadata[i][0] = clv_tensors_metadata_key(tensors, i);
        metadata[i][1] = clv_tensors_metadata(tensors, metadata[i][0]);
    }
    must(clv_tensors_write(path, own, n, (const char *const(*)[2])metadata, n_metadata, err));
}

/* With the file's name, or if it need not be refused with a model. */
static void must_end(struct case_of *self, const char *learner, const char *name, bool is_refused)
{
    OWNED(clv_training_result_release) struct clv_training_result result = {0};
    struct clv_error error = {0};
    enum clv_status status = clv_train(&result, clv_learner_find(learner), &self->training, &error);
    ck_assert_msg(status == CLV_ERR_DATA || (!is_refused && !status), "%s: %s is taken: %s", learner, name,
                  error.message);
    ck_assert(!status || strstr(error.message, "resume.checkpoint"));
}

/* Numbers that are none in any array of numbers, places that are far off, and arrays that are too short. */
TESTS(states_that_no_training_has_are_refused, 0, N_VARIANTS)
{
    static const double far[] = {-0x1p63, -7, 1e9, 0x1p63};
    const struct variant *variant = &variants[_i];
    struct case_of self;
    size_t size;
    struct clv_tensors *tensors;
    open_case(&self, variant);
    self.training.checkpoints = &self.checkpoints;
    ck_assert(kill_at(&self, clv_learner_find(variant->learner), 6));
    OWNED_ARRAY char *bytes = slurp(self.checkpoints.path, &size);
    const char *copy = here("copy");
    spill(copy, bytes, size);
    must(clv_tensors_open(&tensors, copy, err));
    for (size_t i = 0; i < clv_tensors_count(tensors); i++) {
        const struct clv_tensor *tensor = clv_tensors_at(tensors, i);
        size_t n = (size_t)tensor->shape[0];
        bool is_hash = !strcmp(tensor->name, "labellings");
        if (!strcmp(tensor->name, "curve"))
            continue;
        spoil(self.checkpoints.path, bytes, size, tensor->name, 0, 0, n > 0);
        if (n > 0)
            must_end(&self, variant->learner, tensor->name, true);
        for (size_t k = 0; k < n && tensor->dtype == CLV_I64; k++)
            for (size_t f = 0; f < sizeof far / sizeof *far; f++) {
                spoil(self.checkpoints.path, bytes, size, tensor->name, k, far[f], false);
                must_end(&self, variant->learner, tensor->name, f < 2 && !is_hash);
            }
        for (size_t k = 0; k < n && tensor->dtype != CLV_I64; k += 1 + n / 3) {
            spoil(self.checkpoints.path, bytes, size, tensor->name, k, NAN, false);
            must_end(&self, variant->learner, tensor->name, true);
        }
    }
    clv_tensors_close(tensors);
    toy_release(&self.toy);
}

/* Weights to start from are part of what a resumed training must share. */
TEST(other_weights_to_start_from_are_reported)
{
    struct case_of self;
    struct clv_training_result result = {0};
    open_case(&self, &variants[1]);
    self.training.checkpoints = &self.checkpoints;
    ck_assert(kill_at(&self, clv_learner_find("ssvm"), 3));
    self.start[2] += 1e-9;
    must_fail(CLV_ERR_USAGE, "examples was", clv_train(&result, clv_learner_find("ssvm"), &self.training, err));
    toy_release(&self.toy);
}
