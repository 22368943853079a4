/* cleave tag: train, predict, score, and what each refuses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

static char folder[256];

/* Four tags of which "dusk" and "noon" exclude each other and "sea" asks for "sand". */
static void setup(void)
{
    snprintf(folder, sizeof folder, "%s", temporary_folder());
    char train[8192], test[8192];
    size_t n = 0, m = 0;
    for (int l = 0; l < 120; l++) {
        int is_dusk = l % 2, has_sea = l / 2 % 3 == 0, has_sand = has_sea || l % 5 == 0;
        double noise = (l * 7 % 11 - 5) / 20.0;
        char line[128];
        int size = snprintf(line, sizeof line, "%d%s%s 1:%g 2:%g 3:%g 5:1\n", is_dusk, has_sea ? ",2" : "",
                            has_sand ? ",3" : "", is_dusk + noise, has_sea - noise, 0.5 * has_sand + noise);
        if (l < 80)
            n += (size_t)sprintf(train + n, "%.*s", size, line);
        else
            m += (size_t)sprintf(test + m, "%.*s", size, line);
    }
    spill(here("train.svm"), train, n);
    spill(here("test.svm"), test, m);
    spill(here("labels.txt"), "noon\ndusk\nsea\nsand\n", 19);
    run_here("cleave tag train --data train.svm --lambda 0.001 --seed 1 --overwrite -o m.cleave");
}

TEST(training_predicting_and_scoring_agree)
{
    OWNED_ARRAY char *json = expect_success("cd %s && cleave tag score -m m.cleave --data test.svm --json", folder);
    double exact, hamming;
    ck_assert_int_eq(sscanf(json, "{\"exact_match\":%lf,\"hamming\":%lf,\"f_sample\":", &exact, &hamming), 2);
    ck_assert(exact > 0.8 && hamming < 0.1);
    ck_assert(strstr(json, "\"f_macro\":") && strstr(json, "\"f_micro\":") && strstr(json, "\"examples\":40"));
    OWNED_ARRAY char *table =
        expect_success("cd %s && cleave tag predict -m m.cleave --data test.svm --scores", folder);
    ck_assert_ptr_eq(
        strstr(table, "example\ttags\tloss\tbound\toptimal\tscore:noon\tscore:dusk\tscore:sea\tscore:sand\n"), table);
    /* The table's tags as svmlight labels give the same scores. */
    char guess[8192];
    size_t n = 0;
    static const char *const names[] = {"noon", "dusk", "sea", "sand"};
    for (char *line = strchr(table, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        char tags[64] = "";
        sscanf(line, "%*d\t%63[^\t]", tags);
        char *cursor = tags, *tag;
        for (int i = 0; (tag = strsep(&cursor, ",")); i++)
            for (int k = 0; k < 4; k++)
                if (strcmp(tag, names[k]) == 0)
                    n += (size_t)sprintf(guess + n, "%s%d", i ? "," : "", k);
        n += (size_t)sprintf(guess + n, " 1:1\n");
    }
    spill(formatted("%s/guess.svm", folder), guess, n);
    OWNED_ARRAY char *again =
        expect_success("cd %s && cleave tag score --pred guess.svm --data test.svm --json", folder);
    size_t common = (size_t)(strchr(again, '}') - again);
    ck_assert_msg(strncmp(json, again, common) == 0, "%s%s", json, again);
}

TEST(predictions_come_as_json_and_to_a_file)
{
    run_here("cd %s && cleave tag predict -m m.cleave --data test.svm --json --scores -o out.json", folder);
    OWNED_ARRAY char *json = slurp(formatted("%s/out.json", folder), NULL);
    ck_assert_ptr_eq(strstr(json, "{\"examples\":[{\"example\":1,\"tags\":[\""), json);
    ck_assert(strstr(json, "\"optimal\":true,\"nodes\":") && strstr(json, "\"scores\":["));
    free(json);
    json = expect_success("cd %s && cleave tag predict -m m.cleave --data test.svm --json --max-nodes 1", folder);
    ck_assert_ptr_nonnull(strstr(json, "\"nodes\":1}"));
}

/* The mean and the most that predictions say. */
TEST(scores_report_how_many_nodes_were_searched)
{
    OWNED_ARRAY char *json = expect_success("cd %s && cleave tag predict -m m.cleave --data test.svm --json", folder);
    OWNED_ARRAY char *score = expect_success("cd %s && cleave tag score -m m.cleave --data test.svm --json", folder);
    double sum = 0, most = 0, mean, largest;
    int n = 0;
    for (const char *at = json; (at = strstr(at, "\"nodes\":")); n++) {
        at += strlen("\"nodes\":");
        sum += atof(at);
        most = atof(at) > most ? atof(at) : most;
    }
    const char *found = strstr(score, "\"mean_nodes\":");
    ck_assert_ptr_nonnull(found);
    ck_assert_int_eq(sscanf(found, "\"mean_nodes\":%lf,\"most_nodes\":%lf", &mean, &largest), 2);
    ck_assert_int_eq(n, 40);
    ck_assert_double_gt(mean, 0);
    ck_assert_double_eq_tol(mean, sum / n, 1e-9);
    ck_assert_double_eq(largest, most);
}

/* Percentages to read are the numbers of the JSON document. */
TEST(scores_to_read_are_those_of_the_document)
{
    static const struct {
        const char *line, *key;
    } rows[] = {{"exact match", "exact_match"}, {"Hamming ", "hamming"}, {"F-sample", "f_sample"},
                {"F-macro", "f_macro"},         {"F-micro", "f_micro"},  {"optimal", "optimal"}};
    run_here("cd %s && head -n 30 test.svm | sed 's/^1/0/' >wrong.svm && tail -n 10 test.svm >>wrong.svm", folder);
    for (int by_model = 0; by_model < 2; by_model++) {
        const char *of = by_model ? "-m m.cleave" : "--pred wrong.svm";
        OWNED_ARRAY char *json = expect_success("cd %s && cleave tag score %s --data test.svm --json", folder, of);
        OWNED_ARRAY char *text = expect_success("cd %s && cleave tag score %s --data test.svm", folder, of);
        ck_assert_msg(strstr(text, "examples    40\n") == text, "%s", text);
        for (int k = 0; k < 5 + by_model; k++) {
            const char *shown = strstr(text, rows[k].line), *exact = strstr(json, formatted("\"%s\":", rows[k].key));
            ck_assert_msg(shown && exact, "%s: %s %s", rows[k].key, text, json);
            ck_assert_double_eq_tol(strtod(shown + 11, NULL), 100 * strtod(strchr(exact, ':') + 1, NULL), 0.0051);
        }
        ck_assert_int_eq(strstr(text, "optimal") != NULL, by_model);
    }
    expect_error(64, "tag score: no truth; add --data FILE", "cd %s && cleave tag score -m m.cleave", folder);
    expect_error(64, "no examples; add --data FILE", "cd %s && cleave tag predict -m m.cleave", folder);
    expect_error(64, "either a model (-m) or a prediction", "cd %s && cleave tag score --data test.svm", folder);
    expect_error(65, "wrong.svm: has 40 examples, the truth train.svm has 80",
                 "cd %s && cleave tag score --pred wrong.svm --data train.svm", folder);
}

TEST(same_seed_same_bytes_at_any_number_of_threads)
{
    for (int t = 1; t <= 4; t += 3)
        run_here("cd %s && cleave tag train --data train.svm --kernel rbf --order-by f --cv 3 --cv-repeats 1 "
                 "--seed 5 -t %d -o t%d.cleave -q",
                 folder, t, t);
    ck_assert(same_bytes(formatted("%s/t1.cleave", folder), formatted("%s/t4.cleave", folder)));
}

TEST(cross_validation_is_reported_and_recorded)
{
    EXPECT_PARTS(expect_success("cd %s && cleave tag train --data train.svm --cv 4 --cv-repeats 2 --cv-lambda "
                                "0.001,1000 --goal f-micro -o cv.cleave",
                                folder),
                 "4-fold cross-validation, 2 times, by f-micro", "chosen");
    EXPECT_PARTS(expect_success("cd %s && cleave inspect cv.cleave", folder),
                 "form          lmsbn, order 2, 4 tags, 5 features", "parameter.lambda         0.001", "noon, dusk");
    OWNED_ARRAY char *output = expect_success("cd %s && cleave inspect --json cv.cleave", folder);
    ck_assert_ptr_eq(strstr(output, "{\"form\":\"lmsbn\",\"order\":2,\"features\":5,\"kernel\":\"linear\""), output);
}

/* Sets row to what the table of a cross-validation says of lambda 1000. */
static void row_of_1000(char row[128], const char *lambdas)
{
    OWNED_ARRAY char *table = expect_success("cd %s && cleave tag train --data train.svm --cv 4 --cv-repeats 2 "
                                             "--cv-lambda %s --overwrite -o rows.cleave",
                                             folder, lambdas);
    const char *found = strstr(table, "\n      1000 ");
    ck_assert_msg(found != NULL, "%s", table);
    snprintf(row, 128, "%.*s", (int)strcspn(found + 1, "\nc"), found + 1);
}

TEST(a_candidates_measures_do_not_depend_on_the_other_candidates)
{
    char alone[128], second[128];
    row_of_1000(alone, "1000");
    row_of_1000(second, "0.001,1000");
    ck_assert_msg(strncmp(alone, second, strlen(second)) == 0, "%s, but %s", alone, second);
}

TEST(every_learner_trains_and_scores)
{
    static const char *const learners[] = {"lmsbn", "lmbm", "bc", "tsbc", "ssvm-chain", "ssvm-full"};
    for (size_t i = 0; i < 6; i++) {
        OWNED_ARRAY char *json = expect_success(
            "cd %s && cleave tag train --learner %s --data train.svm --lambda 0.001 --passes 200 --overwrite -o "
            "l.cleave >/dev/null && cleave tag score -m l.cleave --data test.svm --json",
            folder, learners[i]);
        double exact;
        ck_assert_int_eq(sscanf(json, "{\"exact_match\":%lf", &exact), 1);
        ck_assert_msg(exact > 0.7, "%s: %s", learners[i], json);
    }
}

TEST(models_of_the_other_kind_are_refused)
{
    expect_error(65, "m.cleave: is a model of tags, for `cleave tag'",
                 "cd %s && cleave segment -m m.cleave -o out $SET/images", folder);
    expect_error(65, "is a model for `cleave segment', not one of tags",
                 "cd %s && cleave tag score -m $MODEL --data test.svm", folder);
}

TEST(images_are_tagged_by_a_model_that_carries_their_recipe)
{
    /* Dark images are "night", bright ones "day". */
    run_here("mkdir -p %s/set", folder);
    char manifest[1024] = "image\ttags\tsplit\n";
    for (int i = 0; i < 8; i++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        must(clv_image_new(&image, 40, 30, 3, err));
        memset(image.pixels, i % 2 ? 200 + i : 20 + i, 40 * 30 * 3);
        must(clv_png_write(formatted("%s/set/%d.png", folder, i), &image, err));
        sprintf(manifest + strlen(manifest), "%d.png\t%s\t%s\n", i, i % 2 ? "day" : "night", i < 6 ? "train" : "test");
    }
    spill(formatted("%s/set/manifest.tsv", folder), manifest, strlen(manifest));
    run_here("cd %s && cleave tag train --data set/manifest.tsv --lambda 0.01 -o i.cleave -q", folder);
    expect_output("{\"exact_match\":1,",
                  "cd %s && cleave tag score -m i.cleave --data set/manifest.tsv --split test --json", folder);
    OWNED_ARRAY char *table =
        expect_success("cd %s && cleave tag predict -m i.cleave --data set/manifest.tsv --split test", folder);
    ck_assert_ptr_nonnull(strstr(table, "image\ttags\tloss"));
    ck_assert_ptr_nonnull(strstr(table, "6.png\tnight\t"));
    ck_assert_ptr_nonnull(strstr(table, "7.png\tday\t"));
    run_here("cd %s && cleave tag predict -m i.cleave --data set/manifest.tsv --report report", folder);
    OWNED_ARRAY char *page = slurp(formatted("%s/report/index.html", folder), NULL);
    ck_assert_ptr_nonnull(strstr(page, "tags: <b>night</b>"));
    ck_assert_ptr_nonnull(strstr(page, "true tags: <b>day</b>"));
    ck_assert_ptr_null(strstr(page, "alt=\"mask\""));
    expect_error(64, "--report: test.svm is a multi-label file",
                 "cd %s && cleave tag predict -m m.cleave --data test.svm --report r", folder);
    expect_error(64, "the model was learned from a multi-label file and cannot look at images",
                 "cd %s && cleave tag predict -m m.cleave --data set/manifest.tsv", folder);
    expect_error(64, "--split: test.svm is a multi-label file",
                 "cd %s && cleave tag score -m m.cleave --data test.svm --split test", folder);
}

static void expect_bad_data(const char *text, const char *part)
{
    spill(formatted("%s/bad.svm", folder), text, strlen(text));
    expect_error(65, part, "cd %s && cleave tag score -m m.cleave --data bad.svm", folder);
    expect_error(65, part, "cd %s && cleave tag train --data bad.svm -o bad.cleave", folder);
    ck_assert_int_ne(run_command(NULL, "test -e %s/bad.cleave", folder), 0);
}

TEST(bad_data_is_named_by_line_and_value)
{
    expect_bad_data("0 1:1\n4 1:1\n", "bad.svm: line 2: label 4 is out of range, must be 0 to 3");
    expect_bad_data("0 0:1\n", "bad.svm: line 1: feature 0 is out of range");
    expect_bad_data("0 2:1 1:1\n", "bad.svm: line 1: feature 1 comes after feature 2, indices must ascend");
    expect_bad_data("0 2:1 2:1\n", "bad.svm: line 1: feature 2 is there twice");
    expect_bad_data("0 1:nan\n", "bad.svm: line 1: feature 1 is \"nan\"");
    expect_bad_data("0 1:1\n\n", "bad.svm: line 2 is empty");
    run_here("cd %s && printf '0 1:1\\n1 1:' >bad.svm && truncate -s 1G bad.svm", folder);
    expect_error(65, "bad.svm: line 2 is longer than 16777216 bytes",
                 "cd %s && cleave tag train --data bad.svm -o bad.cleave", folder);
    expect_error(66, "nowhere.svm: cannot open", "cd %s && cleave tag train --data nowhere.svm -o x", folder);
    spill(formatted("%s/short.svm", folder), "0 1:1\n", 6);
    expect_error(65, "short.svm: has 1 examples, the truth test.svm has 40",
                 "cd %s && cleave tag score --pred short.svm --data test.svm", folder);
}

/* Without labels.txt the highest label of either file counts. */
TEST(a_prediction_may_have_a_higher_label_than_the_truth)
{
    run_here("cd %s && mkdir -p plain && cd plain && printf '0 1:1\\n1 1:1\\n' >truth.svm && "
             "printf '0 1:1\\n3 1:1\\n' >guess.svm && printf '0 1:1\\n0 1:1\\n' >low.svm",
             folder);
    /* of 2 x 4 tags one is missing and one is wrong */
    expect_output("{\"exact_match\":0.5,\"hamming\":0.25,",
                  "cd %s && cleave tag score --pred plain/guess.svm --data plain/truth.svm --json", folder);
    expect_output("{\"exact_match\":0.5,\"hamming\":0.5,",
                  "cd %s && cleave tag score --pred plain/low.svm --data plain/truth.svm --json", folder);
    expect_error(65, "plain/guess.svm: line 2: label 4096 is out of range",
                 "cd %s && printf '0 1:1\\n4096 1:1\\n' >plain/guess.svm && "
                 "cleave tag score --pred plain/guess.svm --data plain/truth.svm",
                 folder);
}

TEST(images_without_tags_are_no_truth)
{
    run_here("cd %s && mkdir -p bare", folder);
    char manifest[128] = "image\ttags\n";
    for (int i = 0; i < 2; i++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        must(clv_image_new(&image, 40, 30, 3, err));
        memset(image.pixels, i ? 200 : 20, 40 * 30 * 3);
        must(clv_png_write(formatted("%s/bare/%d.png", folder, i), &image, err));
        sprintf(manifest + strlen(manifest), "bare/%d.png\t%s\n", i, i ? "day" : "night");
    }
    spill(formatted("%s/bare.tsv", folder), manifest, strlen(manifest));
    run_here("cd %s && cleave tag train --data bare.tsv --lambda 0.01 -o b.cleave -q", folder);
    expect_error(65, "bare: no image has tags to score by", "cd %s && cleave tag score -m b.cleave bare", folder);
    run_here("cd %s && cleave tag predict -m b.cleave bare", folder);
    expect_error(64, "--pred: bare.tsv has images", "cd %s && cleave tag score --pred test.svm --data bare.tsv",
                 folder);
}

TEST(bad_options_are_named)
{
    static const struct refusal refusals[] = {
        {64, "say what to do: train, predict or score", "tag"},
        {64, "did you mean \"predict\"?", "tag pedict"},
        {64, "--learner: \"lmsb\" is not one of", "tag train --learner lmsb"},
        {64, "--kernel: \"rfb\" is not one of linear, rbf", "tag train --kernel rfb"},
        {64, "no examples; add --data FILE", "tag train -o x"},
        {64, "no model file; add -o FILE", "tag train --data x"},
        {64, "--lambda: \"0\" is not a number from 1e-09", "tag train --lambda 0"},
        {64, "--cv: one fold leaves nothing", "tag train --cv 1 --data x -o y"},
        {64, "--cv-lambda: there is no cross-validation", "tag train --cv 0 --cv-lambda 1 --data x -o y"},
        {64, "no model; add -m MODEL", "tag predict --data x"},
        {64, "give either a model (-m) or a prediction (--pred)", "tag score --data x"},
        {64, "--cutoff: \"-1\"", "tag predict --cutoff -1"},
    };
    EXPECT_REFUSALS(refusals);
    expect_error(64, "ssvm-full learns with the linear kernel only",
                 "cd %s && cleave tag train --learner ssvm-full --kernel rbf --lambda 1 --data train.svm -o x", folder);
    expect_error(73, "nowhere", "cd %s && cleave tag train --data train.svm -o nowhere/x", folder);
    expect_error(74, "standard output: cannot write",
                 "cd %s && cleave tag score -m m.cleave --data test.svm --json >/dev/full", folder);
}

SETUP_ONCE(setup, NULL)

SETUP_ONCE(sample_setup, NULL)
