/* train --init and --pairwise: where a training starts, and which couplings it learns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

#define TINY "--blocks size,colour --superpixels 20 --seed 1 -q -t 1"

static char folder[256];

/* A model of images, features of the same images, and a model of those. */
static void setup(void)
{
    sample_setup();
    snprintf(folder, sizeof folder, "%s/init", temporary_folder());
    run_here("mkdir %s && cd %s && cleave train --data $SET/manifest.tsv --split train " TINY
             " --learner subgradient --passes 40 -o images.cleave && cleave features --data $SET/manifest.tsv --split "
             "train -m images.cleave -q -o features.st && cleave train --data features.st --learner subgradient "
             "--passes 40 -q -o features.cleave",
             folder, folder);
}

/* The first objective of a training's curve. */
static double first_objective(const char *model)
{
    OWNED_ARRAY char *record = expect_success("cd %s && cleave inspect --json --top 0 %s", folder, model);
    const char *curve = strstr(record, "\"curve\":\"");
    ck_assert_ptr_nonnull(curve);
    double value = strtod(strchr(strchr(curve, ';') + 2, ' '), NULL);
    return value;
}

TEST(a_training_of_images_goes_on_where_a_model_ended)
{
    run_here("cd %s && cleave train --data $SET/manifest.tsv --split train -q -t 1 --learner subgradient --passes 40 "
             "--init images.cleave -o warm.cleave",
             folder);
    double cold = first_objective("images.cleave"), warm = first_objective("warm.cleave");
    ck_assert_msg(warm < 0.9 * cold, "cold %g, warm %g", cold, warm);
    OWNED_ARRAY char *a = expect_success("cd %s && cleave inspect images.cleave --top 0 | grep ^recipe", folder);
    OWNED_ARRAY char *b = expect_success("cd %s && cleave inspect warm.cleave --top 0 | grep ^recipe", folder);
    ck_assert_str_eq(a, b); /* the recipe is the model's */
}

TEST(models_of_other_features_are_no_start)
{
    static const char labels[] = "value\tname\n0\tground\n1\tcow\n";
    run_here("cd %s && \"$SIMULATE\" hidden-chain --train 2 --test 1 --nodes 3 chain && cleave train --data "
             "chain/train.safetensors --learner mssvm --passes 1 -q -o chain.cleave",
             folder);
    expect_error(64, "learned on features from elsewhere",
                 "cd %s && cleave train --data $SET/manifest.tsv --init chain.cleave --learner mssvm -o x", folder);
    expect_error(64, "--superpixels: features are those of the model images.cleave",
                 "cd %s && cleave train --data $SET/manifest.tsv --init images.cleave --superpixels 30 --learner "
                 "subgradient -o x",
                 folder);
    run_here(
        "cd %s && cleave features --data $SET/manifest.tsv --split train --blocks size --superpixels 20 -q -o other.st",
        folder);
    expect_error(65, "node features, the data ",
                 "cd %s && cleave train --data other.st --init features.cleave --learner subgradient -o x", folder);
    run_here("cd %s && cp -r $SET named", folder);
    spill(formatted("%s/named/labels.tsv", folder), labels, sizeof labels - 1);
    expect_error(
        65, "label 0 of images.cleave is \"background\", the data's \"ground\"",
        "cd %s && cleave train --data named/manifest.tsv --split train --init images.cleave --learner subgradient -o x",
        folder);
    run_here("cd %s && test ! -e x", folder);
}

TEST(couplings_are_of_the_form_that_is_asked_for)
{
    static const char *const forms[] = {"none", "potts", "full"};
    for (int k = 0; k < 3; k++) {
        expect_output(formatted("\"pairwise\":\"%s\"", forms[k]),
                      "cd %s && cleave train --data features.st --learner %s --passes 3 -q --pairwise %s -o %s.cleave "
                      "&& cleave inspect --json --top 0 %s.cleave",
                      folder, k == 2 ? "mssvm" : "subgradient", forms[k], forms[k], forms[k]);
    }
    expect_error(64, "--pairwise: ", "cd %s && cleave train --data features.st --pairwise all -o x", folder);
}

SETUP_ONCE(setup, NULL)
