/* Answers questions about a row of the learners' table: its parameters, their values, the forms that it trains,
 * the memory that it keeps. */
#include "learn/common/common.h"

#include <string.h>

int clv_learner_parameter(const struct clv_learner *learner, const char *name)
{
    for (int i = 0; learner->parameters[i].name; i++)
        if (!strcmp(learner->parameters[i].name, name))
            return i;
    return -1;
}

int learner_role(const struct clv_learner *learner, enum clv_role role)
{
    for (int i = 0; learner->parameters[i].name; i++)
        if (learner->parameters[i].role == role)
            return i;
    return -1;
}

double learner_value(const struct clv_learner *learner, const struct clv_training *training, enum clv_role role,
                     double otherwise)
{
    int index = learner_role(learner, role);
    return index < 0 ? otherwise : learner_setting(learner, training, index);
}

int learner_regularisation(const struct clv_learner *learner)
{
    int of_mean = learner_role(learner, CLV_ROLE_LAMBDA_OF_MEAN);
    return of_mean < 0 ? learner_role(learner, CLV_ROLE_REGULARISATION) : of_mean;
}

bool learner_is_published(const struct clv_learner *learner, const struct clv_training *training)
{
    int paper = learner_role(learner, CLV_ROLE_PAPER);
    return paper >= 0 && training->parameters[paper] != 0;
}

double learner_setting(const struct clv_learner *learner, const struct clv_training *training, int parameter)
{
    const struct clv_published *published = &learner->parameters[parameter].published;
    return published->is_set && learner_is_published(learner, training) ? published->value
                                                                        : training->parameters[parameter];
}

void clv_training_defaults(struct clv_training *training, const struct clv_learner *learner)
{
    *training = (struct clv_training){0};
    for (int i = 0; learner->parameters[i].name; i++)
        training->parameters[i] = learner->parameters[i].value;
}

bool learner_trains(const struct clv_learner *learner, enum clv_pairwise form, int32_t n_labels, enum clv_graph graph)
{
    int needed = 0;
    switch (form) {
    case CLV_PAIRWISE_NONE: return true;
    case CLV_PAIRWISE_POTTS: needed = CLV_TRAINS_POTTS | (n_labels == 2 ? CLV_TRAINS_CUTS : 0); break;
    case CLV_PAIRWISE_FULL:
        needed = CLV_TRAINS_FULL | (graph <= CLV_GRAPH_FOREST ? CLV_TRAINS_FULL_FORESTS : 0) |
                 (graph == CLV_GRAPH_CHAIN ? CLV_TRAINS_FULL_CHAINS : 0);
        break;
    }
    return (learner->trains & needed) != 0;
}

double learner_bytes(const struct clv_learner *learner, const struct clv_training *training)
{
    double vectors =
        (double)learner->n_vectors * (double)clv_weight_layout_size(&training->layout) * (double)sizeof(double);
    return vectors + (learner->bytes ? learner->bytes(training) : 0);
}

double training_n_nodes(const struct clv_training *training)
{
    double n_nodes = 0;
    for (size_t i = 0; i < training->n_examples; i++)
        n_nodes += clv_dataset_problem(training->dataset, (size_t)training->examples[i]).n_nodes;
    return n_nodes;
}
