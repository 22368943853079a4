/* cleave train --letters, score --letters: words from a file to a model to an error. */
#include <stdlib.h>
#include <string.h>

#include "cleave/tensors.h"
#include "data/small_letters.h"
#include "support/sample.h"

static char folder[256];

/* 150 words in 3 folds, and a model of two of them. */
static void setup(void)
{
    snprintf(folder, sizeof folder, "%s", temporary_folder());
    write_letters(formatted("%s/l", folder), 150, 3, 0.25, 1);
    free(expect_success(
        "cd %s && gzip -k l && \"$CLEAVE\" train --overwrite --letters l.gz --folds 0-1 --seed 1 -t 1 -o m.cleave",
        folder));
}

static double number_after(const char *text, const char *key)
{
    const char *found = strstr(text, key);
    ck_assert_msg(found != NULL, "no %s in %s", key, text);
    return strtod(found + strlen(key), NULL);
}

START_TEST(training_and_scoring_of_folds_tell_both_errors)
{
    char *json = expect_success("cd %s && \"$CLEAVE\" score -m m.cleave --letters l --folds 2 --json", folder);
    ck_assert(number_after(json, "{\"letters\":") > 100 && number_after(json, "\"words\":") == 50);
    double letter_error = number_after(json, "\"letter_error\":"), word_error = number_after(json, "\"word_error\":");
    ck_assert(letter_error > 0 && letter_error < 0.3 && word_error > 0 && word_error < 0.3);
    ck_assert(letter_error != word_error);
    /* of a word its share of wrong letters, less than their number */
    ck_assert_double_lt(word_error, 0.6 * letter_error * number_after(json, "{\"letters\":") / 50);
    char *text = expect_success("cd %s && \"$CLEAVE\" score -m m.cleave --letters l.gz --folds 2", folder);
    ck_assert_ptr_nonnull(strstr(text, formatted("letter error  %.2f %%\n", 100 * letter_error)));
    ck_assert_ptr_nonnull(strstr(text, formatted("word error    %.2f %% (", 100 * word_error)));
    char *all = expect_success("cd %s && \"$CLEAVE\" score -m m.cleave --letters l --json", folder);
    ck_assert(number_after(all, "\"words\":") == 150);
    free(json);
    free(text);
    free(all);
}
END_TEST

START_TEST(words_have_defaults_of_their_own_and_what_is_given_counts)
{
    char *record = expect_success("cd %s && \"$CLEAVE\" inspect --json --top 0 m.cleave", folder);
    ck_assert(strstr(record, "\"parameter.gap\":\"0\"") && strstr(record, "\"parameter.passes\":\"20\""));
    char *given = expect_success(
        "cd %s && \"$CLEAVE\" train --overwrite -q --letters l --passes 3 -o given && \"$CLEAVE\" inspect "
        "--json --top 0 given",
        folder);
    ck_assert(strstr(given, "\"parameter.gap\":\"0\"") && strstr(given, "\"parameter.passes\":\"3\""));
    free(record);
    free(given);
}
END_TEST

START_TEST(every_learner_takes_letters_and_links_help)
{
    static const char *const learners[] = {"ssvm", "perceptron", "subgradient", "pmap", "mpmap", "wmpmap", "crf"};
    for (size_t k = 0; k < sizeof learners / sizeof *learners; k++) {
        char *linked =
            expect_success("cd %s && \"$CLEAVE\" train --overwrite -l %s --letters l --folds 0,1 --passes 8 -o a && "
                           "\"$CLEAVE\" score -m a --letters l --folds 2 --json",
                           folder, learners[k]);
        char *apart = expect_success(
            "cd %s && \"$CLEAVE\" train --overwrite -l %s --letters l --folds 0,1 --passes 8 --no-edges -o b "
            "&& \"$CLEAVE\" score -m b --letters l --folds 2 --json",
            folder, learners[k]);
        double with = number_after(linked, "\"letter_error\":"), without = number_after(apart, "\"letter_error\":");
        ck_assert_msg(with < 0.4 && with < without, "%s: %g with links, %g without", learners[k], with, without);
        free(linked);
        free(apart);
    }
}
END_TEST

START_TEST(the_same_seed_gives_the_same_bytes_at_any_thread_count)
{
    free(expect_success(
        "cd %s && for t in 1 3; do \"$CLEAVE\" train --overwrite -l mpmap --batch 4 --passes 5 --seed 7 --letters l "
        "-t $t -o t$t; \"$CLEAVE\" train --overwrite --passes 5 --cv 3 --seed 7 --letters l -t $t -o s$t; done",
        folder));
    ck_assert(same_bytes(formatted("%s/t1", folder), formatted("%s/t3", folder)));
    ck_assert(same_bytes(formatted("%s/s1", folder), formatted("%s/s3", folder)));
}
END_TEST

START_TEST(inspect_tells_what_a_model_of_letters_is)
{
    char *text = expect_success("cd %s && \"$CLEAVE\" inspect m.cleave", folder);
    ck_assert_ptr_nonnull(strstr(text, "recipe        letters of words"));
    ck_assert_ptr_nonnull(strstr(text, "131 node features, 1 edge features, pairwise full"));
    ck_assert_ptr_nonnull(strstr(text, "largest weights of z"));
    ck_assert_ptr_nonnull(strstr(text, " of row "));
    ck_assert_ptr_nonnull(strstr(text, "largest pairwise weights"));
    ck_assert_ptr_nonnull(strstr(text, "train_letter_error"));
    char *json = expect_success("cd %s && \"$CLEAVE\" inspect --json m.cleave", folder);
    ck_assert_ptr_nonnull(strstr(json, "\"recipe\":\"letters\""));
    ck_assert_ptr_nonnull(strstr(json, "\"pairwise_weights\":[[["));
    free(text);
    free(json);
}
END_TEST

START_TEST(marginals_of_letters_are_all_labels_as_a_table_and_as_tensors)
{
    char *table = expect_success(
        "cd %s && \"$CLEAVE\" train --overwrite -q -t 1 -l crf --letters l --folds 0,1 -o c > /dev/null && \"$CLEAVE\" "
        "marginals -m c --letters l --folds 2 -o m.safetensors && \"$CLEAVE\" marginals -m c "
        "--letters l --folds 2",
        folder);
    char *score = expect_success("cd %s && \"$CLEAVE\" score -m c --letters l --folds 2 --json", folder);
    struct clv_tensors *tensors;
    const struct clv_tensor *all;
    const int64_t wanted[] = {(int64_t)number_after(score, "\"letters\":"), 26};
    must(clv_tensors_open(&tensors, formatted("%s/m.safetensors", folder), err));
    must(clv_tensors_require(&all, tensors, "marginals", CLV_F64, 2, wanted, err));
    const double *value = all->data;
    char *line = strchr(table, '\n') + 1;
    int64_t n_wrong = 0;
    for (int64_t letter = 0; letter < wanted[0]; letter++) {
        double sum = 0, truth;
        char *field = strchr(strchr(line, '\t') + 1, '\t') + 1; /* past "word N" and the letter's place */
        truth = value[letter * 26 + field[0] - 'a'];
        char *number = field + 1;
        bool is_best = true;
        for (int label = 0; label < 26; label++) {
            double p = strtod(number, &number);
            ck_assert_double_eq_tol(p, value[letter * 26 + label], 1e-5);
            sum += value[letter * 26 + label];
            is_best &= value[letter * 26 + label] <= truth;
        }
        ck_assert(*number == '\n');
        ck_assert_double_eq_tol(sum, 1, 1e-12);
        n_wrong += !is_best;
        line = number + 1;
    }
    ck_assert(*line == 0);
    /* The most probable letters are about as often right as the most probable words. */
    ck_assert_double_eq_tol((double)n_wrong / (double)wanted[0], number_after(score, "\"letter_error\":"), 0.05);
    clv_tensors_close(tensors);
    free(table);
    free(score);
}
END_TEST

START_TEST(training_goes_on_from_a_model)
{
    free(expect_success("cd %s && \"$CLEAVE\" train --overwrite -q -t 1 -l crf --letters l --folds 0 -o a && "
                        "\"$CLEAVE\" train --overwrite -q -l crf "
                        "--letters l --folds 0 --init a -o b",
                        folder));
    char *cold = expect_success("cd %s && \"$CLEAVE\" inspect --json --top 0 a", folder);
    char *warm = expect_success("cd %s && \"$CLEAVE\" inspect --json --top 0 b", folder);
    ck_assert_ptr_nonnull(strstr(warm, "\"parameter.penalty\":\"l2\""));
    const char *first = strstr(cold, "\"curve\":\""), *second = strstr(warm, "\"curve\":\"");
    double at_first = strtod(strchr(strchr(first, ';') + 2, ' '), NULL);
    double at_second = strtod(strchr(strchr(second, ';') + 2, ' '), NULL);
    ck_assert_msg(at_second < 0.5 * at_first, "cold %g, warm %g", at_first, at_second);
    expect_error(64, "a has pairwise terms \"full\", to be learned are \"none\"",
                 "cd %s && \"$CLEAVE\" train --overwrite -l crf --letters l --init a --no-edges -o x", folder);
    expect_error(64, "independent cannot start from given weights",
                 "cd %s && \"$CLEAVE\" train --overwrite -l independent --letters l --init a -o x", folder);
    expect_error(64, "learned from images, not from letters",
                 "cd %s && \"$CLEAVE\" train --overwrite -l crf --letters l --init %s -o x", folder, sample_model());
    expect_error(64, "a was learned from letters, not from images",
                 "cd %s && \"$CLEAVE\" train --overwrite -l crf --data %s --init a -o x", folder, sample_set());
    free(cold);
    free(warm);
}
END_TEST

/* Words of the first letters of the alphabet alone teach; the other labels are there all the same. */
START_TEST(labels_absent_from_the_training_words_are_no_trouble)
{
    static const char *const learners[] = {"ssvm",
                                           "perceptron",
                                           "subgradient",
                                           "pmap",
                                           "mpmap",
                                           "wmpmap",
                                           "crf",
                                           "crf --penalty l1",
                                           "crf --penalty none --passes 50"};
    free(expect_success(
        "cd %s && awk -F'\t' '$2 <= \"h\" { print }' l | awk -F'\t' 'BEGIN { OFS = \"\t\" } { $3 = -1; $4 = "
        "NR; $5 = 1; $6 = 0; print }' > few && wc -l few",
        folder));
    for (size_t k = 0; k < sizeof learners / sizeof *learners; k++) {
        char *json = expect_success(
            "cd %s && \"$CLEAVE\" train --overwrite -q -t 1 -l %s --letters few -o f > /dev/null && \"$CLEAVE\" score "
            "-m f --letters few --json && \"$CLEAVE\" score -m f --letters l --json",
            folder, learners[k]);
        ck_assert_msg(number_after(json, "\"letter_error\":") < 0.2, "%s: %s", learners[k], json);
        double on_all = number_after(strchr(json, '\n'), "\"letter_error\":");
        ck_assert_msg(on_all > 0.5 && on_all < 1, "%s: %s", learners[k], json);
        free(json);
    }
}
END_TEST

START_TEST(wrong_uses_are_refused)
{
    static char at[300];
    snprintf(at, sizeof at, "cd %s &&", folder);
    expect_error(64, "--loss: of letters, errors are counted",
                 "%s \"$CLEAVE\" train --overwrite --letters l --loss balanced -o x", at);
    expect_error(64, "--folds: \"1-\"", "%s \"$CLEAVE\" train --overwrite --letters l --folds 1- -o x", at);
    expect_error(64, "--folds: \"2-1\"", "%s \"$CLEAVE\" train --overwrite --letters l --folds 2-1 -o x", at);
    expect_error(64, "--folds: \"0,,1\"", "%s \"$CLEAVE\" train --overwrite --letters l --folds 0,,1 -o x", at);
    expect_error(64, "--folds: \"100\"", "%s \"$CLEAVE\" train --overwrite --letters l --folds 100 -o x", at);
    expect_error(64, "--folds: \"\"", "%s \"$CLEAVE\" train --overwrite --letters l --folds '' -o x", at);
    expect_error(64, "l: no words in fold 3", "%s \"$CLEAVE\" train --overwrite --letters l --folds 0-7 -o x", at);
    expect_error(64, "--letters is missing", "%s \"$CLEAVE\" train --overwrite --folds 0 -o x", at);
    expect_error(64, "--letters is missing", "%s \"$CLEAVE\" score -m m.cleave --folds 0", at);
    expect_error(64, "--letters excludes --data", "%s \"$CLEAVE\" train --overwrite --letters l --split train -o x",
                 at);
    expect_error(64, "--letters excludes --data", "%s \"$CLEAVE\" train --overwrite --letters l --data l -o x", at);
    expect_error(64, "--words: letters have features", "%s \"$CLEAVE\" train --overwrite --letters l --words 3 -o x",
                 at);
    expect_error(64, "-m is missing", "%s \"$CLEAVE\" score --letters l", at);
    expect_error(64, "--letters goes with", "%s \"$CLEAVE\" score -m m.cleave --letters l --csv", at);
    expect_error(64, "-m is missing", "%s \"$CLEAVE\" marginals --letters l", at);
    expect_error(64, "--letters is missing", "%s \"$CLEAVE\" marginals -m m.cleave --folds 0", at);
    expect_error(64, "--letters excludes images", "%s \"$CLEAVE\" marginals -m m.cleave --letters l --json", at);
    expect_error(66, "nowhere: cannot open", "%s \"$CLEAVE\" train --overwrite --letters nowhere -o x", at);
    expect_error(65, "m.cleave: line 1", "%s \"$CLEAVE\" train --overwrite --letters m.cleave -o x", at);
    expect_error(64, "a model of letters", "%s \"$CLEAVE\" segment -m m.cleave -o out l", at);
    expect_error(64, "learned from images, not from letters", "\"$CLEAVE\" score -m %s --letters %s/l", sample_model(),
                 folder);
    ck_assert_int_ne(run_command(NULL, "%s test -e x -o -e out", at), 0);
}
END_TEST

Suite *cli_letters_suite(void)
{
    Suite *suite = suite_create("cli_letters");
    TCase *tests = tcase_create("cli_letters");
    tcase_add_unchecked_fixture(tests, sample_setup, NULL);
    tcase_add_unchecked_fixture(tests, setup, NULL);
    tcase_add_test(tests, training_and_scoring_of_folds_tell_both_errors);
    tcase_add_test(tests, words_have_defaults_of_their_own_and_what_is_given_counts);
    tcase_add_test(tests, every_learner_takes_letters_and_links_help);
    tcase_add_test(tests, the_same_seed_gives_the_same_bytes_at_any_thread_count);
    tcase_add_test(tests, inspect_tells_what_a_model_of_letters_is);
    tcase_add_test(tests, marginals_of_letters_are_all_labels_as_a_table_and_as_tensors);
    tcase_add_test(tests, training_goes_on_from_a_model);
    tcase_add_test(tests, labels_absent_from_the_training_words_are_no_trouble);
    tcase_add_test(tests, wrong_uses_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
