/* Trainings that stop anywhere and go on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "data/data.h"
#include "learn/toy.h"
#include "support/disk.h"

static const struct clv_weight_layout potts = {2, 6, 2, CLV_PAIRWISE_POTTS};
static const char *const keepers[] = {"pmap", "mpmap", "wmpmap"};

/* 9 random problems: 5 labelled, 4 weak, of which nothing is given but for one node of the second. */
struct semi {
    struct toy toy;
    int32_t weak[4], label[20];
    const int32_t *given[4];
    struct clv_training training;
    struct clv_checkpoints checkpoints;
};

static void semi_open(struct semi *semi, const char *learner, bool weak)
{
    toy_random(&semi->toy, 9, 20, &potts, 5);
    for (int k = 0; k < 20; k++)
        semi->label[k] = k ? CLV_UNKNOWN : 1;
    for (int k = 0; k < 4; k++) {
        semi->weak[k] = 5 + k;
        semi->given[k] = k == 1 ? semi->label : NULL;
    }
    semi->training = toy_training(&semi->toy, learner);
    semi->training.n_examples = 5;
    semi->training.weak = semi->weak;
    semi->training.given = semi->given;
    semi->training.n_weak = weak ? 4 : 0;
    semi->training.validation = semi->toy.dataset;
    set(&semi->training, learner, "passes", 7);
    set(&semi->training, learner, "batch", 2);
    set(&semi->training, learner, "rounds", 2);
    semi->checkpoints = (struct clv_checkpoints){here("toy.checkpoint"), 1e9, 1, NULL, 0};
    unlink(semi->checkpoints.path);
}

/* Asks to stop once `after` steps are done in all. */
struct stopper {
    volatile int stop;
    size_t after, seen, total;
};

static void on_report(void *context, const char *what, size_t done, size_t total, const char *note)
{
    struct stopper *stopper = context;
    ck_assert_str_eq(what, "learning: step");
    ck_assert_uint_gt(done, stopper->seen); /* goes up, also over rounds and from where a resumed training begins */
    ck_assert_uint_le(done, total);
    ck_assert_ptr_nonnull(strstr(note, "log-likelihood -"));
    stopper->seen = done;
    stopper->total = total;
    stopper->stop = done >= stopper->after;
}

static struct clv_training_result run_until(struct clv_training *training, const char *learner, size_t after,
                                            struct stopper *stopper)
{
    stopper->stop = 0;
    stopper->after = after;
    struct clv_progress progress = {on_report, stopper, &stopper->stop, NULL, NULL};
    training->progress = &progress;
    struct clv_training_result result = run(learner, training);
    training->progress = NULL;
    return result;
}

static void must_be_same(const struct clv_training_result *a, const struct clv_training_result *b)
{
    ck_assert_int_eq(a->interrupted, b->interrupted);
    ck_assert(!memcmp(a->w, b->w, clv_weight_layout_size(&potts) * sizeof(double)));
    ck_assert_uint_eq(a->n_curve, b->n_curve);
    ck_assert(!memcmp(a->curve, b->curve, a->n_curve * sizeof *a->curve));
    ck_assert(!memcmp(a->validation_loss, b->validation_loss, a->n_curve * sizeof(double)));
}

TEST(a_training_that_stops_after_any_step_goes_on_to_the_same_bytes)
{
    for (int l = 0; l < 3; l++)
        for (int variant = 0; variant < 3; variant++) {
            struct semi semi;
            semi_open(&semi, keepers[l], variant > 0);
            set(&semi.training, keepers[l], "averaging", variant != 2);
            set(&semi.training, keepers[l], "step", variant != 2);
            set(&semi.training, keepers[l], "lambda", 0.01);
            struct stopper stopper = {0};
            OWNED(clv_training_result_release) struct clv_training_result whole =
                run_until(&semi.training, keepers[l], SIZE_MAX, &stopper);
            ck_assert_uint_eq(stopper.seen, stopper.total);
            ck_assert_uint_eq(stopper.total, variant ? 7 * 3 + 2 * 7 * 5 : 7 * 3);
            semi.training.checkpoints = &semi.checkpoints;
            for (size_t after = 1; after < stopper.total; after += variant ? 3 : 1) {
                struct stopper first = {0};
                OWNED(clv_training_result_release) struct clv_training_result part =
                    run_until(&semi.training, keepers[l], after, &first);
                ck_assert(part.interrupted && first.seen == after);
                semi.training.n_threads = 3;
                OWNED(clv_training_result_release) struct clv_training_result rest =
                    run_until(&semi.training, keepers[l], SIZE_MAX, &first);
                semi.training.n_threads = 1;
                must_be_same(&whole, &rest);
                ck_assert_int_eq(unlink(semi.checkpoints.path), 0); /* the library leaves that to its caller */
            }
            toy_release(&semi.toy);
        }
}

TEST(many_stops_in_one_training_add_up)
{
    struct semi semi;
    semi_open(&semi, "wmpmap", true);
    OWNED(clv_training_result_release) struct clv_training_result whole = run("wmpmap", &semi.training);
    struct clv_training_result part;
    semi.training.checkpoints = &semi.checkpoints;
    struct stopper stopper = {0};
    for (size_t after = 1;; after += 5) {
        part = run_until(&semi.training, "wmpmap", after, &stopper);
        if (!part.interrupted)
            break;
        clv_training_result_release(&part);
    }
    must_be_same(&whole, &part);
    clv_training_result_release(&part);
    toy_release(&semi.toy);
}

TEST(checkpoints_are_written_as_often_as_asked_for)
{
    struct semi semi;
    semi_open(&semi, "mpmap", false);
    semi.training.checkpoints = &semi.checkpoints;
    struct clv_training_result result = run("mpmap", &semi.training);
    ck_assert(!path_exists(semi.checkpoints.path)); /* it took less than 1e9 seconds */
    clv_training_result_release(&result);
    semi.checkpoints.every_s = 0;
    result = run("mpmap", &semi.training);
    struct clv_tensors *tensors;
    must(clv_tensors_open(&tensors, semi.checkpoints.path, err));
    const struct clv_tensor *place = clv_tensors_find(tensors, "place");
    ck_assert_ptr_nonnull(place);
    ck_assert_int_eq(((const int64_t *)place->data)[4], 21); /* every step, so also the last */
    clv_tensors_close(tensors);
    clv_training_result_release(&result);
    toy_release(&semi.toy);
}

TEST(without_resume_a_checkpoint_is_not_read)
{
    struct semi semi;
    semi_open(&semi, "wmpmap", false);
    OWNED(clv_training_result_release) struct clv_training_result whole = run("wmpmap", &semi.training);
    spill(semi.checkpoints.path, "nothing", 7);
    semi.training.checkpoints = &semi.checkpoints;
    semi.checkpoints.resume = false;
    OWNED(clv_training_result_release) struct clv_training_result again = run("wmpmap", &semi.training);
    must_be_same(&whole, &again);
    toy_release(&semi.toy);
}

static void refuse(const struct semi *semi, const char *learner, enum clv_status status, const char *message)
{
    struct clv_training_result result = {0};
    must_fail(status, message, clv_train(&result, clv_learner_find(learner), &semi->training, err));
    ck_assert_ptr_null(result.w);
}

TEST(what_differs_from_the_stopped_training_is_named)
{
    struct semi semi;
    semi_open(&semi, "wmpmap", true);
    const char *fact[1][2] = {{"data_digest", "fnv1a:1"}};
    semi.checkpoints.facts = (const char *const(*)[2])fact;
    semi.checkpoints.n_facts = 1;
    semi.training.checkpoints = &semi.checkpoints;
    struct stopper stopper = {0};
    OWNED(clv_training_result_release) struct clv_training_result part =
        run_until(&semi.training, "wmpmap", 4, &stopper);
    const struct semi good = semi;
    semi.training.seed = 2;
    refuse(&semi, "wmpmap", CLV_ERR_USAGE, "cannot go on from it: seed was \"1\", is \"2\"");
    semi.training = good.training;
    semi.training.checkpoints = &semi.checkpoints;
    set(&semi.training, "wmpmap", "rate", 0.1);
    refuse(&semi, "wmpmap", CLV_ERR_USAGE, "parameter.rate was \"0.3\", is \"0.1\"");
    set(&semi.training, "wmpmap", "rate", nextafter(0.3, 1));
    refuse(&semi, "wmpmap", CLV_ERR_USAGE, "parameter.rate was \"0.3\", is \"0.30000000000000004\"");
    semi.training = good.training;
    semi.training.checkpoints = &semi.checkpoints;
    semi.training.n_examples = 4;
    refuse(&semi, "wmpmap", CLV_ERR_USAGE, "examples was");
    semi.training.n_examples = 5;
    semi.given[0] = semi.label; /* another node given */
    refuse(&semi, "wmpmap", CLV_ERR_USAGE, "examples was");
    semi.given[0] = NULL;
    fact[0][1] = "fnv1a:2";
    refuse(&semi, "wmpmap", CLV_ERR_USAGE, "data_digest was \"fnv1a:1\", is \"fnv1a:2\"");
    fact[0][1] = "fnv1a:1";
    refuse(&semi, "mpmap", CLV_ERR_USAGE, "learner was \"wmpmap\", is \"mpmap\"");
    OWNED(clv_training_result_release) struct clv_training_result rest =
        run("wmpmap", &semi.training); /* and nothing differs now */
    toy_release(&semi.toy);
}

TEST(damaged_checkpoints_are_refused)
{
    struct semi semi;
    semi_open(&semi, "wmpmap", false);
    semi.training.checkpoints = &semi.checkpoints;
    struct stopper stopper = {0};
    OWNED(clv_training_result_release) struct clv_training_result part =
        run_until(&semi.training, "wmpmap", 4, &stopper);
    size_t size;
    OWNED_ARRAY char *bytes = slurp(semi.checkpoints.path, &size);
    OWNED_ARRAY char *damaged = malloc(size);
    for (size_t length = 0; length < size; length += size / 7) {
        spill(semi.checkpoints.path, bytes, length);
        refuse(&semi, "wmpmap", CLV_ERR_DATA, "toy.checkpoint");
    }
    struct clv_tensors *tensors;
    spill(semi.checkpoints.path, bytes, size);
    must(clv_tensors_open(&tensors, semi.checkpoints.path, err));
    const char *const metadata[1][2] = {{"format", "cleave model 1"}};
    must(clv_tensors_write(here("other"), clv_tensors_at(tensors, 0), 1, metadata, 1, err));
    clv_tensors_close(tensors);
    semi.checkpoints.path = here("other");
    refuse(&semi, "wmpmap", CLV_ERR_DATA, "not a checkpoint that this program reads (format \"cleave model 1\")");
    semi.checkpoints.path = here("toy.checkpoint");
    const double not_finite = INFINITY;
    memcpy(damaged, bytes, size);
    memcpy(damaged + size - sizeof not_finite, &not_finite, sizeof not_finite); /* w is the last tensor of its type */
    spill(semi.checkpoints.path, damaged, size);
    struct clv_training_result result = {0};
    struct clv_error error = {0};
    ck_assert_int_eq(clv_train(&result, clv_learner_find("wmpmap"), &semi.training, &error), CLV_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(error.message, "digest"));
    toy_release(&semi.toy);
}

TEST(a_checkpoint_that_the_disk_does_not_reveal_is_not_begun_anew)
{
    struct semi semi;
    semi_open(&semi, "wmpmap", false);
    semi.training.checkpoints = &semi.checkpoints;
    struct stopper stopper = {0};
    OWNED(clv_training_result_release) struct clv_training_result part =
        run_until(&semi.training, "wmpmap", 4, &stopper);
    disk_fails_at = ".checkpoint";
    refuse(&semi, "wmpmap", CLV_ERR_NO_INPUT, "cannot tell whether it is there: Input/output error");
    disk_fails_at = NULL;
    toy_release(&semi.toy);
}

/* The checkpoint again, with another number k of its place. */
static void move_place(const char *path, const char *bytes, size_t size, int k, int64_t number)
{
    OWNED(tensors_drop) struct clv_tensors *tensors = NULL;
    struct clv_tensor own[16];
    const char *metadata[64][2];
    int64_t place[5];
    spill(path, bytes, size);
    must(clv_tensors_open(&tensors, path, err));
    size_t n = clv_tensors_count(tensors), n_metadata = clv_tensors_metadata_count(tensors);
    ck_assert(n <= 16 && n_metadata <= 64);
    for (size_t i = 0; i < n; i++) {
        own[i] = *clv_tensors_at(tensors, i);
        if (strcmp(own[i].name, "place") == 0) {
            memcpy(place, own[i].data, sizeof place);
            place[k] = number;
            own[i].data = place;
        }
    }
    for (size_t i = 0; i < n_metadata; i++) {
        metadata[i][0] = clv_tensors_metadata_key(tensors, i);
        metadata[i][1] = clv_tensors_metadata(tensors, metadata[i][0]);
    }
    must(clv_tensors_write(path, own, n, (const char *const(*)[2])metadata, n_metadata, err));
}

TEST(checkpoints_at_a_place_that_the_training_does_not_have_are_refused)
{
    static const int64_t numbers[] = {INT64_MIN, -1, 1, 5, 8, 1000000, INT64_MAX};
    struct semi semi;
    semi_open(&semi, "wmpmap", true);
    semi.training.checkpoints = &semi.checkpoints;
    struct stopper stopper = {0};
    OWNED(clv_training_result_release) struct clv_training_result part =
        run_until(&semi.training, "wmpmap", 29, &stopper);
    size_t size;
    OWNED_ARRAY char *bytes = slurp(semi.checkpoints.path, &size);
    for (int k = 0; k < 5; k++)
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            if (k == 0 && numbers[i] == 1)
                continue; /* the round that it is in */
            move_place(semi.checkpoints.path, bytes, size, k, numbers[i]);
            refuse(&semi, "wmpmap", CLV_ERR_DATA, "toy.checkpoint: ");
        }
    toy_release(&semi.toy);
}

TEST(the_curve_s_validation_loss_is_that_of_its_weights)
{
    struct semi semi;
    double loss;
    semi_open(&semi, "wmpmap", false);
    OWNED(clv_training_result_release) struct clv_training_result result = run("wmpmap", &semi.training);
    must(clv_evaluate_all(&loss, semi.toy.dataset, &potts, result.w, NULL, CLV_ENGINE_CLEAVE, 1, err));
    ck_assert_uint_eq(result.n_curve, 2);
    ck_assert_double_eq(result.validation_loss[1], loss);
    ck_assert_double_ne(result.validation_loss[0], result.validation_loss[1]);
    ck_assert_double_ne(result.validation_loss[1], result.curve[1].train_loss); /* of 9 problems, not of 5 */
    toy_release(&semi.toy);
}
