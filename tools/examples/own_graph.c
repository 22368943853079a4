/* Learns on a graph and features of one's own, without any image: nodes on a line, in runs of equal labels, of which
 * one noisy number is seen. Alone many nodes are wrong, together most are right.
 *     cc own_graph.c $(pkg-config --cflags --libs cleave) -o own_graph && ./own_graph */
#include <cleave.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 2000 };
/* Two features a node, the number and 1; one an edge, 1. */
static int64_t row[N + 1];
static int32_t feature[2 * N], edges[N - 1][2], label[N], y[N];
static float value[2 * N], bond[N - 1], theta[2 * N], area[N];
static const struct clv_problem line = {N,    N - 1, 2,     1,    row, feature, value, (const int32_t (*)[2])edges,
                                        bond, label, theta, area, NULL};

static void draw(unsigned seed) /* what is seen differs, the labels stay */
{
    for (int i = 0; i < N; i++) {
        seed = seed * 1664525U + 1013904223U; /* pseudo-random */
        label[i] = i / 25 % 2;
        row[i + 1] = 2 * (i + 1);
        feature[2 * i + 1] = 1;
        value[2 * i] = (float)label[i] - 0.5F + 3 * ((float)(seed >> 8) / (1 << 24) - 0.5F);
        value[2 * i + 1] = area[i] = theta[2 * i + label[i]] = 1;
    }
    for (int e = 0; e < N - 1; e++)
        edges[e][0] = e, edges[e][1] = e + 1, bond[e] = 1;
}

int main(void)
{
    static struct clv_training training;
    static struct clv_training_result result;
    static struct clv_model model;
    struct clv_dataset *dataset = NULL;
    struct clv_oracle *oracle = NULL;
    const struct clv_learner *ssvm = clv_learner_find("ssvm");
    int32_t first = 0, alone = 0, together = 0;
    draw(1);
    if (clv_dataset_new(&dataset, 2, NULL) || clv_dataset_add(dataset, &line, "line", NULL))
        return 1;
    clv_training_defaults(&training, ssvm);
    training.dataset = dataset, training.examples = &first;
    training.layout.n_labels = training.layout.n_features = 2;
    training.n_examples = training.layout.n_edge_features = 1;
    training.layout.pairwise = CLV_PAIRWISE_POTTS;
    if (clv_train(&result, ssvm, &training, NULL) || clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, NULL))
        return 1;
    draw(2); /* a line that the training has not seen */
    model.layout = training.layout, model.w = result.w;
    if (clv_model_predict(y, &model, &line, oracle, NULL))
        return 1;
    for (int i = 0; i < N; i++)
        together += y[i] == label[i], alone += (value[2 * i] > 0) == label[i];
    printf("of %d nodes right: %d alone, %d together\n", N, alone, together);
    clv_oracle_free(oracle);
    clv_training_result_release(&result); /* the model's weights are its */
    clv_dataset_free(dataset);
    return 0;
}
