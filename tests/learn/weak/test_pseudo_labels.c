/* Pseudo-labels of images without masks and what is learned from them, with informative privileged features and from
 * boxes alone. */
#include <math.h>
#include <string.h>

#include "learn/toy.h"
#include "learn/weak/weak.h"

static const struct clv_weight_layout potts = {2, 6, 2, CLV_PAIRWISE_POTTS};

/* Privileged features that are the labels: a teacher finds that out from two masks, and its pupil has the others alone.
 * */
static struct clv_dataset *informative_features(const struct toy *toy)
{
    struct clv_dataset *privileged;
    must(clv_dataset_new(&privileged, 2, err));
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        int64_t row[RANDOM_MAX_NODES + 1];
        int32_t index[RANDOM_MAX_NODES];
        float value[RANDOM_MAX_NODES];
        for (int32_t k = 0; k < p.n_nodes; k++) {
            row[k] = k;
            index[k] = p.label[k];
            value[k] = 3;
        }
        row[p.n_nodes] = p.n_nodes;
        struct clv_problem problem = {
            .n_nodes = p.n_nodes, .n_features = 2, .row = row, .index = index, .value = value};
        must(clv_dataset_add(privileged, &problem, "privileged", err));
    }
    return privileged;
}

TEST(a_teacher_passes_on_what_privileged_features_tell)
{
    static const char *const all[] = {"wmpmap", "mpmap", "pmap", "ssvm"};
    const double w[] = {1, -2, 0.5, 1.5, 0.3, -0.4, 0.7, 0.2};
    struct toy toy;
    toy_planted(&toy, 18, 12, &potts, w, 6);
    struct clv_dataset *privileged = informative_features(&toy);
    for (int l = 0; l < 4; l++) {
        double with, without;
        struct clv_training training = toy_training(&toy, all[l]);
        training.n_examples = 2;
        training.weak = toy.examples + 2;
        training.n_weak = toy.n - 2;
        struct clv_training_result alone = run(all[l], &training);
        training.privileged = privileged;
        struct clv_training_result taught = run(all[l], &training);
        must(clv_evaluate(&with, toy.dataset, toy.examples, toy.n, &toy.layout, taught.w, NULL, training.engine, 1,
                          err));
        must(clv_evaluate(&without, toy.dataset, toy.examples, toy.n, &toy.layout, alone.w, NULL, training.engine, 1,
                          err));
        ck_assert_msg(with < 0.7 * without, "%s: %g, without privileged features %g", all[l], with, without);
        clv_training_result_release(&taught);
        clv_training_result_release(&alone);
    }
    clv_dataset_free(privileged);
    toy_release(&toy);
}

/* With paper 1 no learner uses privileged features, and masks come first. */
TEST(as_published_no_teacher_uses_privileged_features)
{
    static const char *const all[] = {"wmpmap", "mpmap", "pmap", "ssvm", "mssvm"};
    const double w[] = {1, -2, 0.5, 1.5, 0.3, -0.4, 0.7, 0.2};
    struct toy toy;
    toy_planted(&toy, 8, 12, &potts, w, 6);
    struct clv_dataset *privileged = informative_features(&toy);
    const int32_t *given[8];
    for (size_t i = 0; i < toy.n; i++)
        given[i] = clv_dataset_problem(toy.dataset, i).label;
    for (size_t l = 0; l < sizeof all / sizeof *all; l++) {
        struct clv_training training = toy_training(&toy, all[l]);
        training.n_examples = 2;
        training.weak = toy.examples + 2;
        training.n_weak = toy.n - 2;
        set(&training, all[l], "passes", 5);
        set(&training, all[l], "paper", 1);
        struct clv_training_result alone = run(all[l], &training), ignored, taught;
        training.privileged = privileged;
        ignored = run(all[l], &training);
        ck_assert_mem_eq(alone.w, ignored.w, clv_weight_layout_size(&potts) * sizeof *alone.w);
        set(&training, all[l], "paper", 0);
        taught = run(all[l], &training);
        ck_assert_mem_ne(taught.w, ignored.w, clv_weight_layout_size(&potts) * sizeof *alone.w);
        set(&training, all[l], "paper", 1);
        training.n_examples = 0;
        training.given = given;
        struct clv_training_result none;
        must_fail(
            CLV_ERR_USAGE,
            formatted(
                "%s: --paper 1 labels images without masks by a model of those with masks, and no image has a mask",
                all[l]),
            clv_train(&none, clv_learner_find(all[l]), &training, err));
        clv_training_result_release(&alone);
        clv_training_result_release(&ignored);
        clv_training_result_release(&taught);
    }
    clv_dataset_free(privileged);
    toy_release(&toy);
}

/* Privileged problems without features; `informative`: their theta is the truth. */
static struct clv_dataset *bare_problems(const struct toy *toy, bool informative)
{
    static const int64_t row[RANDOM_MAX_NODES + 1];
    struct clv_dataset *privileged;
    must(clv_dataset_new(&privileged, 2, err));
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        float theta[2 * RANDOM_MAX_NODES];
        for (int32_t k = 0; k < p.n_nodes; k++) {
            theta[2 * k + 1] = p.label[k] ? 0.9f : 0.1f;
            theta[2 * k] = 1 - theta[2 * k + 1];
        }
        int32_t index = 0;
        float value = 0;
        struct clv_problem problem = {.n_nodes = p.n_nodes,
                                      .n_features = 1,
                                      .row = row,
                                      .index = &index,
                                      .value = &value,
                                      .theta = informative ? theta : NULL};
        must(clv_dataset_add(privileged, &problem, "privileged", err));
    }
    return privileged;
}

TEST(what_box_to_cut_thinks_is_taught)
{
    const double w[] = {1, -2, 0.5, 1.5, 0.3, -0.4, 0.7, 0.2};
    double loss[2];
    struct toy toy;
    toy_planted(&toy, 18, 12, &potts, w, 6);
    for (int informative = 0; informative < 2; informative++) {
        struct clv_dataset *privileged = bare_problems(&toy, informative);
        struct clv_training training = toy_training(&toy, "wmpmap");
        training.n_examples = 2;
        training.weak = toy.examples + 2;
        training.n_weak = toy.n - 2;
        training.privileged = privileged;
        struct clv_training_result result = run("wmpmap", &training);
        must(clv_evaluate(&loss[informative], toy.dataset, toy.examples, toy.n, &toy.layout, result.w, NULL,
                          training.engine, 1, err));
        clv_training_result_release(&result);
        clv_dataset_free(privileged);
    }
    ck_assert_msg(loss[1] < 0.7 * loss[0], "%g, without opinion %g", loss[1], loss[0]);
    toy_release(&toy);
}

/* A node's own features precede its privileged ones, then the result of box segmentation, a hat over seven bins, times
 * two. */
TEST(a_teacher_uses_privileged_features_and_box_segmentation)
{
    const double w[] = {1, -2, 0.5, 1.5, 0.3, -0.4, 0.7, 0.2};
    struct toy toy;
    struct dataset_item item;
    toy_planted(&toy, 3, 12, &potts, w, 6);
    struct clv_dataset *privileged = bare_problems(&toy, true);
    struct clv_training training = toy_training(&toy, "wmpmap");
    training.privileged = privileged;
    must(pseudo_labelled_example(&item, &training, 1, true, err));
    struct clv_problem own = clv_dataset_problem(toy.dataset, 1), seen = item.problem;
    ck_assert_int_eq(seen.n_features, own.n_features + 1 + 7);
    for (int32_t i = 0; i < own.n_nodes; i++) {
        int64_t n = own.row[i + 1] - own.row[i];
        double at = 6 * (own.label[i] ? 0.9 : 0.1);
        ck_assert_int_eq(seen.row[i + 1] - seen.row[i], n + 2);
        for (int64_t k = 0; k < n; k++)
            ck_assert(seen.index[seen.row[i] + k] == own.index[own.row[i] + k] &&
                      seen.value[seen.row[i] + k] == own.value[own.row[i] + k]);
        for (int64_t k = seen.row[i] + n; k < seen.row[i + 1]; k++) {
            int32_t bin = seen.index[k] - own.n_features - 1;
            ck_assert_double_eq_tol((double)seen.value[k], 2 * (1 - fabs(at - bin)), 1e-5);
        }
    }
    dataset_item_release(&item);
    clv_dataset_free(privileged);
    toy_release(&toy);
}

/* The weights to start from are the pupil's, whose features are fewer. */
TEST(a_teacher_with_privileged_features_starts_from_nothing)
{
    const double w[] = {1, -2, 0.5, 1.5, 0.3, -0.4, 0.7, 0.2};
    double start[64] = {3, -3, 3, -3, 3, -3, 3, 3};
    const struct clv_learner *learner = clv_learner_find("wmpmap");
    struct toy toy;
    struct clv_pseudo_labels pseudo_labels[2];
    toy_planted(&toy, 6, 12, &potts, w, 6);
    struct clv_dataset *privileged = informative_features(&toy);
    for (int t = 0; t < 2; t++) {
        struct clv_training training = toy_training(&toy, "wmpmap");
        training.n_examples = 2;
        training.weak = toy.examples + 2;
        training.n_weak = toy.n - 2;
        training.privileged = privileged;
        training.init = t ? start : NULL;
        set(&training, "wmpmap", "passes", 3);
        must(pseudo_labels_make(&pseudo_labels[t], learner, &training, err));
    }
    for (size_t k = 0; k < pseudo_labels[0].n; k++)
        ck_assert_mem_eq(pseudo_labels[0].q[k], pseudo_labels[1].q[k], 2 * 12 * sizeof(double));
    pseudo_labels_release(&pseudo_labels[0]);
    pseudo_labels_release(&pseudo_labels[1]);
    clv_dataset_free(privileged);
    toy_release(&toy);
}

/* The share of foreground in what nothing is given of. */
static double pseudo_share(const double *q, const struct clv_problem *problem, const int32_t *given)
{
    double open = 0, foreground = 0;
    for (int32_t i = 0; i < problem->n_nodes; i++)
        if (given[i] == CLV_UNKNOWN) {
            open += (double)problem->area[i];
            foreground += (double)problem->area[i] * q[2 * i + 1];
        }
    return foreground / open;
}

/* Without couplings q = 1 / (1 + e^-unary), so shares by the unaries are those of q. */
TEST(boxes_are_filled_halfway_to_the_mean)
{
    const double w[] = {1, -2, 0.5, 1.5, 0.3, -0.4, 0.7, 0.2};
    double alone[3], together[3], mean = 0;
    int32_t around[5][12];
    const int32_t *given[5];
    const struct clv_learner *learner = clv_learner_find("wmpmap");
    struct toy toy;
    toy_planted(&toy, 10, 12, &potts, w, 6);
    struct clv_dataset *privileged = bare_problems(&toy, false);
    struct clv_training training = toy_training(&toy, "wmpmap");
    training.layout.pairwise = CLV_PAIRWISE_NONE;
    training.parameters[clv_learner_parameter(learner, "passes")] = 10;
    training.parameters[clv_learner_parameter(learner, "samples")] = 20000;
    training.n_examples = 4;
    training.privileged = privileged;
    for (size_t k = 0; k < 5; k++) { /* boxes; some of the foreground, and all that there is: not boxes */
        for (size_t i = 0; i < 12; i++)
            around[k][i] = i < 3 || k == 4 ? 0 : CLV_UNKNOWN;
        around[k][0] = k == 3;
        given[k] = around[k];
    }
    for (size_t k = 0; k < 3; k++) {
        struct clv_pseudo_labels pseudo_labels;
        training.weak = toy.examples + 4 + k;
        training.given = given + k;
        training.n_weak = 1;
        must(pseudo_labels_make(&pseudo_labels, learner, &training, err));
        struct clv_problem problem = clv_dataset_problem(toy.dataset, 4 + k);
        alone[k] = pseudo_share(pseudo_labels.q[0], &problem, given[k]);
        mean += alone[k] / 3;
        pseudo_labels_release(&pseudo_labels);
    }
    training.weak = toy.examples + 4;
    training.given = given;
    training.n_weak = 5;
    struct clv_pseudo_labels pseudo_labels;
    must(pseudo_labels_make(&pseudo_labels, learner, &training, err));
    for (size_t k = 0; k < 3; k++) {
        struct clv_problem problem = clv_dataset_problem(toy.dataset, 4 + k);
        together[k] = pseudo_share(pseudo_labels.q[k], &problem, given[k]);
        ck_assert_double_eq_tol(together[k], (alone[k] + mean) / 2, 0.01);
    }
    ck_assert_double_gt(fabs(alone[0] - mean) + fabs(alone[1] - mean), 0.1); /* else nothing was tested */
    pseudo_labels_release(&pseudo_labels);
    clv_dataset_free(privileged);
    toy_release(&toy);
}

TEST(what_is_given_teaches_without_any_mask)
{
    static const char *const all[] = {"wmpmap", "mpmap"};
    const double w[] = {1, -2, 0.5, 1.5, 0.3, -0.4, 0.7, 0.2};
    struct toy toy;
    const int32_t *given[18];
    int32_t outside[18][12];
    toy_planted(&toy, 18, 12, &potts, w, 6);
    for (size_t i = 0; i < 18; i++) { /* of the background every fourth node, of the foreground none, as with boxes */
        const int32_t *label = clv_dataset_problem(toy.dataset, i).label;
        for (int32_t k = 0; k < 12; k++)
            outside[i][k] = label[k] == 0 && k % 4 == 1 ? 0 : CLV_UNKNOWN;
        given[i] = outside[i];
    }
    for (int l = 0; l < 2; l++) {
        double loss;
        struct clv_training training = toy_training(&toy, all[l]);
        training.n_examples = 0;
        training.weak = toy.examples;
        training.n_weak = toy.n;
        training.given = given;
        struct clv_training_result result = run(all[l], &training);
        must(clv_evaluate(&loss, toy.dataset, toy.examples, toy.n, &toy.layout, result.w, NULL, training.engine, 1,
                          err));
        ck_assert_msg(loss < 0.35, "%s: %g", all[l], loss); /* 0.5 is chance */
        clv_training_result_release(&result);
    }
    toy_release(&toy);
}

/* Privileged features that are the labels within the box, and theta that makes all of it foreground. */
static struct clv_dataset *box_problems(const struct toy *toy, const int32_t *const *given)
{
    struct clv_dataset *privileged;
    must(clv_dataset_new(&privileged, 2, err));
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        int64_t row[RANDOM_MAX_NODES + 1];
        int32_t index[RANDOM_MAX_NODES];
        float value[RANDOM_MAX_NODES], theta[2 * RANDOM_MAX_NODES];
        for (int32_t k = 0; k < p.n_nodes; k++) {
            bool is_inside = given[i][k] == CLV_UNKNOWN;
            row[k] = k;
            index[k] = is_inside;
            value[k] = 30; /* to be relied on: the weight is cheap */
            theta[2 * k + 1] = is_inside;
            theta[2 * k] = !is_inside;
        }
        row[p.n_nodes] = p.n_nodes;
        struct clv_problem problem = {
            .n_nodes = p.n_nodes, .n_features = 2, .row = row, .index = index, .value = value, .theta = theta};
        must(clv_dataset_add(privileged, &problem, "privileged", err));
    }
    return privileged;
}

/* Without masks a box is foreground at first: with privileged features a learner learns the box, without them what
 * differs from the background outside. */
TEST(the_first_pseudo_labels_from_boxes_alone_use_no_privileged_features)
{
    const double w[] = {1, -2, 0.5, 1.5, 0.3, -0.4, 0.7, 0.2};
    const struct clv_learner *learner = clv_learner_find("wmpmap");
    struct toy toy;
    const int32_t *given[18];
    int32_t outside[18][12];
    double foreground[2] = {0}, n[2] = {0};
    struct clv_pseudo_labels pseudo_labels;
    toy_planted(&toy, 18, 12, &potts, w, 6);
    for (size_t i = 0; i < 18; i++) { /* half of the background is outside, the foreground all inside */
        const int32_t *label = clv_dataset_problem(toy.dataset, i).label;
        for (int32_t k = 0, n_background = 0; k < 12; k++)
            outside[i][k] = label[k] == 0 && n_background++ % 2 ? 0 : CLV_UNKNOWN;
        given[i] = outside[i];
    }
    struct clv_training training = toy_training(&toy, "wmpmap");
    training.n_examples = 0;
    training.weak = toy.examples;
    training.n_weak = toy.n;
    training.given = given;
    training.privileged = box_problems(&toy, given);
    must(pseudo_labels_make(&pseudo_labels, learner, &training, err));
    for (size_t i = 0; i < 18; i++) {
        const int32_t *label = clv_dataset_problem(toy.dataset, i).label;
        for (int32_t k = 0; k < 12; k++)
            if (outside[i][k] == CLV_UNKNOWN) {
                foreground[label[k]] += pseudo_labels.q[i][2 * k + 1];
                n[label[k]]++;
            }
    }
    ck_assert_double_gt(foreground[1] / n[1] - foreground[0] / n[0], 0.05); /* 0.02 if they see them */
    pseudo_labels_release(&pseudo_labels);
    clv_dataset_free((struct clv_dataset *)training.privileged);
    toy_release(&toy);
}
