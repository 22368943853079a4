/* What learners ask of one problem, some of whose labels are unknown. */
#include "learn/common/common.h"
#include "learn/toy.h"

/* Two joined nodes, the second one's label unknown: of all labellings 1 0 and 1 1 score .6, 0 0 scores 1 and 0 1 -5. */
static const int64_t row[] = {0, 0, 0};
static const int32_t edges[][2] = {{0, 1}};
static const float one[] = {1};
static const struct clv_weight_layout layout = {2, 1, 1, CLV_PAIRWISE_FULL};
static const double w[] = {0, 1, -5, 0.6, 0.6};

static struct clv_problem problem_of(const int32_t *label, const float *theta)
{
    return (struct clv_problem){.n_nodes = 2,
                                .n_edges = 1,
                                .n_features = 1,
                                .n_edge_features = 1,
                                .row = row,
                                .index = edges[0],
                                .value = one,
                                .edges = edges,
                                .edge_features = one,
                                .label = label,
                                .theta = theta};
}

TEST(hidden_nodes_are_summed_over_where_the_rule_says_so)
{
    static const int32_t hidden[] = {0, CLV_UNKNOWN}, known[] = {0, 1};
    struct decoder *decoder;
    must(decoders_new(&decoder, 1, CLV_ENGINE_DEFAULT, err));
    const struct clv_decoding sums = {CLV_DECODE_MARGINAL_MAP, 1};
    struct clv_problem problem = problem_of(hidden, NULL);
    must(decode_by(decoder, &sums, &problem, &layout, w, err)); /* e^.6 + e^.6 > e^1 + e^-5 */
    ck_assert_int_eq(decoder->y[0], 1);
    must(decode_by(decoder, &(struct clv_decoding){CLV_DECODE_MAP, 0}, &problem, &layout, w, err));
    ck_assert_int_eq(decoder->y[0], 0);
    problem = problem_of(known, NULL);
    must(decode_by(decoder, &sums, &problem, &layout, w, err));
    ck_assert(decoder->y[0] == 0 && decoder->y[1] == 0);
    decoders_free(decoder, 1);
}

TEST(losses_count_known_nodes_alone)
{
    static const int32_t hidden[] = {0, CLV_UNKNOWN}, known[] = {0, 1}, y[] = {1, 0};
    static const float theta[] = {2, 0.5F, 4, 8};
    const struct clv_problem some = problem_of(hidden, theta), all = problem_of(known, theta);
    ck_assert_double_eq(known_loss(&some, 2, y), 2);
    ck_assert_double_eq(known_loss(&all, 2, y), 2 + 8);
    ck_assert_double_eq(known_loss(&all, 2, known), 0.5 + 4);
}

/* Who pages features in and out must know of each access, whichever thread makes it. */
TEST(decoders_of_a_trainings_examples_tell_its_dataset_what_they_read)
{
    OWNED(toy_release) struct toy toy = {0};
    OWNED(examples_release) struct examples examples = {0};
    toy_random(&toy, 3, 5, &(struct clv_weight_layout){2, 4, 2, CLV_PAIRWISE_POTTS}, 1);
    struct clv_training training = toy_training(&toy, "ssvm");
    training.n_threads = 2;
    must(examples_open(&examples, &training, true, err));
    for (int t = 0; t < examples.n_threads; t++)
        ck_assert_ptr_eq(examples.decoders[t].source, toy.dataset);
}
