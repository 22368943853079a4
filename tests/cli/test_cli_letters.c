/* cleave import letters: words from a file to a feature file, to a model, to an error. */
#include <stdlib.h>
#include <string.h>

#include "data/small_letters.h"
#include "support/sample.h"

static char folder[256];

/* 150 words in 3 folds as feature files: all, those to learn from, those to test on; and a model. Words want
 * less regularisation and more passes than images. */
static void setup(void)
{
    snprintf(folder, sizeof folder, "%s", temporary_folder());
    write_letters(here("l"), 150, 3, 0.25, 1);
    run_here("gzip -k l && cleave import letters l.gz -o all && cleave import letters l.gz --folds 0-1 -o two && "
             "cleave import letters l --folds 2 -o test && cleave train --data two --lambda 4.5e-6 --gap 0 --passes 20 "
             "--seed 1 -t 1 -o m.cleave");
}

static double number_after(const char *text, const char *key)
{
    const char *found = strstr(text, key);
    ck_assert_msg(found != NULL, "no %s in %s", key, text);
    return strtod(found + strlen(key), NULL);
}

TEST(the_error_is_reported_over_all_letters_and_on_the_mean_over_words)
{
    OWNED_ARRAY char *json = expect_success("cd %s && cleave score -m m.cleave --data test --json", folder);
    ck_assert(number_after(json, "\"nodes\":") > 100 && number_after(json, "{\"examples\":") == 50);
    double letter_error = number_after(json, "\"node_error\":"),
           word_error = number_after(json, "\"mean_node_error\":");
    ck_assert(letter_error > 0 && letter_error < 0.3 && word_error > 0 && word_error < 0.3);
    ck_assert(letter_error != word_error);
    ck_assert_double_eq_tol(letter_error, 1 - number_after(json, "\"accuracy\":"), 1e-12);
    /* of a word its share of wrong letters, less than their number */
    ck_assert_double_lt(word_error, 0.6 * letter_error * number_after(json, "\"nodes\":") / 50);
    OWNED_ARRAY char *text = expect_success("cd %s && cleave score -m m.cleave --data test", folder);
    ck_assert_ptr_nonnull(strstr(text, formatted("node error    %.2f %%, %.2f %% on the mean over examples\n",
                                                 100 * letter_error, 100 * word_error)));
    OWNED_ARRAY char *all = expect_success("cd %s && cleave score -m m.cleave --data all --json", folder);
    ck_assert(number_after(all, "{\"examples\":") == 150);
}

/* Their files say "letters" where those of other features say "none". The learner's name makes way, three bytes. */
TEST(models_of_letters_that_older_versions_wrote_are_read)
{
    OWNED_ARRAY char *score =
        expect_success("cd %s && LC_ALL=C sed 's/\"recipe\":\"none\"/\"recipe\":\"letters\"/; "
                       "s/\\\\\"ssvm\\\\\"/\\\\\"s\\\\\"/; s/\"digest\":\"fnv1a:[0-9a-f]*\",/%34s/' m.cleave "
                       ">old && ! cmp -s old m.cleave && cleave "
                       "score -m m.cleave --data test && cleave score -m old --data test",
                       folder, "");
    size_t half = strlen(score) / 2;
    ck_assert(half > 100 && strncmp(score, score + half, half) == 0);
}

TEST(every_learner_takes_words_and_links_help)
{
    static const char *const learners[] = {"ssvm --lambda 4.5e-6 --gap 0",
                                           "perceptron",
                                           "subgradient",
                                           "pmap --lambda 2e-5 --rate 1 --batch 20",
                                           "mpmap --lambda 2e-5 --rate 1 --batch 20",
                                           "wmpmap --lambda 1.5e-4 --rate 1 --batch 20",
                                           "crf"};
    for (size_t k = 0; k < sizeof learners / sizeof *learners; k++) {
        OWNED_ARRAY char *linked =
            expect_success("cd %s && cleave train --overwrite -l %s --data two --passes 8 -o a && cleave "
                           "score -m a --data test --json",
                           folder, learners[k]);
        OWNED_ARRAY char *apart =
            expect_success("cd %s && cleave train --overwrite -l %s --data two --passes 8 --pairwise none -o b && "
                           "cleave score -m b --data test --json",
                           folder, learners[k]);
        double with = number_after(linked, "\"node_error\":"), without = number_after(apart, "\"node_error\":");
        ck_assert_msg(with < 0.4 && with < without, "%s: %g with links, %g without", learners[k], with, without);
    }
}

TEST(the_same_seed_gives_the_same_bytes_at_any_thread_count)
{
    run_here("cd %s && for t in 1 3; do cleave train --overwrite -l mpmap --batch 4 --passes 5 --seed 7 --data all -t "
             "$t -o t$t; cleave train --overwrite --passes 5 --cv 3 --seed 7 --data all -t $t -o s$t; done",
             folder);
    ck_assert(same_bytes(formatted("%s/t1", folder), formatted("%s/t3", folder)));
    ck_assert(same_bytes(formatted("%s/s1", folder), formatted("%s/s3", folder)));
}

TEST(inspect_reports_what_a_model_of_words_is)
{
    OWNED_ARRAY char *text = expect_success("cd %s && cleave inspect m.cleave", folder);
    ck_assert_ptr_nonnull(strstr(text, "recipe        none"));
    ck_assert_ptr_nonnull(strstr(text, "131 node features, 1 edge features, pairwise full"));
    ck_assert_ptr_nonnull(strstr(text, "largest weights of z"));
    ck_assert_ptr_nonnull(strstr(text, "largest pairwise weights"));
    ck_assert_ptr_nonnull(strstr(text, "train_node_error"));
    OWNED_ARRAY char *json = expect_success("cd %s && cleave inspect --json m.cleave", folder);
    ck_assert_ptr_nonnull(strstr(json, "\"pairwise_weights\":[[["));
}

TEST(training_goes_on_from_a_model)
{
    run_here("cd %s && cleave train --overwrite -q -t 1 -l crf --data test -o a && cleave train --overwrite -q -l crf "
             "--data test --init a -o b",
             folder);
    OWNED_ARRAY char *cold = expect_success("cd %s && cleave inspect --json --top 0 a", folder);
    OWNED_ARRAY char *warm = expect_success("cd %s && cleave inspect --json --top 0 b", folder);
    ck_assert_ptr_nonnull(strstr(warm, "\"parameter.penalty\":\"l2\""));
    const char *first = strstr(cold, "\"curve\":\""), *second = strstr(warm, "\"curve\":\"");
    double at_first = strtod(strchr(strchr(first, ';') + 2, ' '), NULL);
    double at_second = strtod(strchr(strchr(second, ';') + 2, ' '), NULL);
    ck_assert_msg(at_second < 0.5 * at_first, "cold %g, warm %g", at_first, at_second);
    expect_error(64, "a has pairwise terms \"full\", to be learned are \"none\"",
                 "cd %s && cleave train --overwrite -l crf --data all --init a --pairwise none -o x", folder);
    expect_error(64, "independent cannot start from given weights",
                 "cd %s && cleave train --overwrite -l independent --data all --init a -o x", folder);
    expect_error(64, "a was learned on features from elsewhere, which images do not have",
                 "cd %s && cleave train --overwrite -l crf --data $SET --init a -o x", folder);
}

/* Words of the first letters of the alphabet alone teach; the other labels are there all the same. */
TEST(labels_absent_from_the_training_words_are_no_trouble)
{
    static const char *const learners[] = {"ssvm --lambda 4.5e-6 --gap 0 --passes 20",
                                           "perceptron",
                                           "subgradient",
                                           "pmap --lambda 2e-5 --rate 1 --batch 20 --passes 200",
                                           "mpmap --lambda 2e-5 --rate 1 --batch 20 --passes 200",
                                           "wmpmap --lambda 1.5e-4 --rate 1 --batch 20 --passes 200",
                                           "crf",
                                           "crf --penalty l1",
                                           "crf --penalty none --passes 50"};
    run_here("cd %s && awk -F'\t' '$2 <= \"h\" { print }' l | awk -F'\t' 'BEGIN { OFS = \"\t\" } { $3 = -1; $4 = NR; "
             "$5 = 1; $6 = 0; print }' >few.data && cleave import letters few.data -o few",
             folder);
    for (size_t k = 0; k < sizeof learners / sizeof *learners; k++) {
        OWNED_ARRAY char *json =
            expect_success("cd %s && cleave train --overwrite -q -t 1 -l %s --data few -o f > /dev/null && "
                           "cleave score -m f --data few --json && cleave score -m f --data all --json",
                           folder, learners[k]);
        ck_assert_msg(number_after(json, "\"node_error\":") < 0.2, "%s: %s", learners[k], json);
        double on_all = number_after(strchr(json, '\n'), "\"node_error\":");
        ck_assert_msg(on_all > 0.5 && on_all < 1, "%s: %s", learners[k], json);
    }
}

TEST(wrong_uses_are_refused)
{
    static const char *const folds[] = {"1-", "2-1", "0,,1", "100", "", "-1", "1-3-5", " 1", "99999999999999999999"};
    static char at[300];
    snprintf(at, sizeof at, "cd %s && \"$CLEAVE\" import letters", folder);
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
        expect_error(64, formatted("--folds: \"%s\" is not a list of folds", folds[i]), "%s l --folds='%s' -o x", at,
                     folds[i]);
    expect_error(64, "l: no words in fold 3", "%s l --folds 0-7 -o x", at);
    expect_error(64, "--train-share cannot be used with the format letters: letters are not images",
                 "%s l --train-share 1 -o x", at);
    expect_error(64, "import: no output; add -o FOLDER", "%s l", at);
    expect_error(66, "nowhere: cannot open", "%s nowhere -o x", at);
    expect_error(65, "m.cleave: line 1", "%s m.cleave -o x", at);
    expect_error(73, "test: exists already", "%s l -o test", at);
    expect_error(73, "l: is an input of this command", "%s l --overwrite -o l", at);
    expect_error(64, "learned from features made elsewhere", "cd %s && cleave segment -m m.cleave -o out l", folder);
    ck_assert_int_ne(run_command(NULL, "cd %s && test -e x -o -e out", folder), 0);
}

SETUP_ONCE(sample_setup, NULL)

SETUP_ONCE(setup, NULL)
