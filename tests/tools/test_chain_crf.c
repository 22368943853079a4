#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleave/learn.h"
#include "feature/dataset/dataset.h"
#include "support/sample.h"
#include "support/support.h"
#include "tools/reproduce/simulate/simulate.h"

static struct chain_crf_options small_chains(void)
{
    struct chain_crf_options options;
    simulate_chain_crf_init(&options);
    options.n_train = 4000;
    options.n_test = 1;
    options.n_nodes = 4;
    options.n_features = 5;
    options.n_relevant = 3;
    options.n_sweeps = 60;
    options.seed = 7;
    return options;
}

/* Over many chains, labels and pairs come up as often as their exact probabilities given x say. */
TEST(gibbs_sweeps_reach_the_fields_distribution)
{
    struct chain_crf_options options = small_chains();
    OWNED(dataset_drop) struct clv_dataset *train = NULL, *test = NULL;
    double w[9], seen[8] = {0}, expected[8] = {0}, spread[8] = {0};
    const struct clv_weight_layout layout = {2, 5, 1, CLV_PAIRWISE_FULL};
    must(simulate_chain_crf(&train, &test, w, &options, 2, NULL, err));
    ck_assert(w[3] == 0 && w[4] == 0 && w[0] != 0);
    for (size_t i = 0; i < clv_dataset_size(train); i++) {
        struct clv_problem p = clv_dataset_problem(train, i);
        double weight[16], sum = 0, share[8] = {0};
        for (int bits = 0; bits < 16; bits++) {
            int32_t y[4] = {bits & 1, bits >> 1 & 1, bits >> 2 & 1, bits >> 3};
            double psi[9] = {0}, score = 0;
            clv_joint_feature_add(psi, &p, &layout, y, 1);
            for (int k = 0; k < 9; k++)
                score += psi[k] * w[k];
            weight[bits] = exp(score);
            sum += weight[bits];
            for (int l = 0; l < 4; l++) {
                share[l] += y[l] * weight[bits];
                share[4 + l] += (l < 3 ? y[l] == y[l + 1] : y[0] == y[3]) * weight[bits];
            }
        }
        for (int k = 0; k < 8; k++) {
            double q = share[k] / sum;
            expected[k] += q;
            spread[k] += q * (1 - q);
            seen[k] += k < 4 ? p.label[k] : k < 7 ? p.label[k - 4] == p.label[k - 3] : p.label[0] == p.label[3];
        }
    }
    for (int k = 0; k < 8; k++)
        ck_assert_double_le(fabs(seen[k] - expected[k]), 4 * sqrt(spread[k]));
}

TEST(members_of_a_group_are_alike)
{
    struct chain_crf_options options = small_chains();
    OWNED(dataset_drop) struct clv_dataset *train = NULL, *test = NULL;
    options.n_features = 8;
    options.n_relevant = 6;
    options.n_groups = 2;
    options.n_train = 1500;
    options.n_sweeps = 1;
    must(simulate_chain_crf(&train, &test, NULL, &options, 2, NULL, err));
    double within = 0, between = 0, n = 0;
    for (size_t i = 0; i < clv_dataset_size(train); i++) {
        struct clv_problem p = clv_dataset_problem(train, i);
        for (int32_t l = 0; l < p.n_nodes; l++, n++) {
            const float *x = p.value + p.row[l];
            within += pow((double)(x[0] - x[2]), 2) + pow((double)(x[3] - x[4]), 2);
            between += pow((double)(x[2] - x[3]), 2) + pow((double)(x[6] - x[7]), 2);
        }
    }
    ck_assert_double_eq_tol(within / (2 * n), 2 * 0.05 * 0.05, 0.0003);
    ck_assert_double_eq_tol(between / (2 * n), 2, 0.15);
}

TEST(chain_k_is_the_same_at_any_thread_count_and_size_of_set)
{
    struct chain_crf_options options = small_chains();
    struct clv_dataset *train[2], *test[2];
    options.n_train = 20;
    must(simulate_chain_crf(&train[0], &test[0], NULL, &options, 1, NULL, err));
    options.n_train = 9;
    must(simulate_chain_crf(&train[1], &test[1], NULL, &options, 2, NULL, err));
    for (size_t i = 0; i < 9; i++) {
        struct clv_problem a = clv_dataset_problem(train[0], i), b = clv_dataset_problem(train[1], i);
        ck_assert_mem_eq(a.value + a.row[0], b.value + b.row[0], 20 * sizeof(float));
        ck_assert_mem_eq(a.label, b.label, 4 * sizeof(int32_t));
    }
    for (int k = 0; k < 2; k++) {
        clv_dataset_free(train[k]);
        clv_dataset_free(test[k]);
    }
}

TEST(chain_options_out_of_range_are_refused_by_name)
{
    struct chain_crf_options options = small_chains();
    struct clv_dataset *train, *test;
    options.n_relevant = 6;
    must_fail(CLV_ERR_USAGE, "relevant features is 6", simulate_chain_crf(&train, &test, NULL, &options, 1, NULL, err));
    options = small_chains();
    options.n_groups = 2;
    must_fail(CLV_ERR_USAGE, "do not make 2 groups", simulate_chain_crf(&train, &test, NULL, &options, 1, NULL, err));
    options = small_chains();
    options.group_noise = -1;
    must_fail(CLV_ERR_USAGE, "group noise is -1", simulate_chain_crf(&train, &test, NULL, &options, 1, NULL, err));
    ck_assert_ptr_null(train);
}

/* Every learner of chains takes the sets that the command writes, and the field itself scores them. */
TEST(chains_of_the_program_train_sparse_models)
{
    static const char *const learners[] = {"m3n", "lapmedn --lambda 100 --C 1", "l1m3n --radius 10"};
    char folder[512];
    snprintf(folder, sizeof folder, "%s/chains", temporary_folder());
    run_here("\"$SIMULATE\" chain-crf --train 30 --test 40 --sweeps 50 --seed 3 %s", folder);
    run_here("cd %s && cleave score -q -m model.cleave --data test.safetensors", folder);
    OWNED_ARRAY char *chosen =
        expect_success("cd %s && cleave train --learner lapmedn --units raw --data train.safetensors -o m "
                       "--cv 3 --cv-grid lambda=10,1000 --cv-grid C=0.01,1 --cv-grid rounds=2,3",
                       folder);
    int n_lines = 0;
    for (const char *c = chosen; *c; c++)
        n_lines += *c == '\n';
    ck_assert_int_eq(n_lines, 2 + 2 + 8 + 1 + 2 + 1); /* three rounds are far from the optimum, which is said */
    ck_assert_ptr_nonnull(strstr(chosen, "chosen     lambda 1000, C 1, rounds "));
    OWNED_ARRAY char *reported =
        expect_success("cd %s && cleave inspect m && cleave inspect --json --threshold 0.5 m", folder);
    static const char *const parts[] = {"above 0.001 of the largest; ",
                                        "posterior     variances ",
                                        "KL-norm ",
                                        " +- ",
                                        "\"weights\":104,\"weights_above_threshold\":",
                                        "\"posterior\":{",
                                        "\"variance\":"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        ck_assert_msg(strstr(reported, parts[i]), "%s: %s", parts[i], reported);
    expect_error(64, "has no parameter \"D\"",
                 "cd %s && cleave train --learner m3n --data train.safetensors -o n --cv 3 --cv-grid D=1", folder);
    for (size_t i = 0; i < sizeof learners / sizeof *learners; i++) {
        expect_output("mean loss",
                      "cd %s && cleave train -q --learner %s --units raw --data train.safetensors --overwrite -o m && "
                      "cleave score -q -m m --data test.safetensors",
                      folder, learners[i]);
    }
}
