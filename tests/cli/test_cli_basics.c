/* The command's face: help, version, typing errors, output that cannot be written. */
#include <stdlib.h>
#include <string.h>

#include "cleave/learn.h"
#include "support/sample.h"
#include "support/support.h"

static const char *const names[] = {"label",    "train",   "segment",   "probabilities", "propagate", "score",
                                    "features", "inspect", "tag train", "tag predict",   "tag score", "import"};
#define N_NAMES (sizeof names / sizeof *names)

TEST(what_is_no_model_says_so)
{
    expect_error(65, "no model, but an image (JPEG)", "cleave segment -m $SET/images/0001.jpg x.jpg -o none");
    expect_error(65, "no model, but another kind of file; models are what `cleave train' writes",
                 "cleave segment -m $SET/manifest.tsv x.jpg -o none");
}

TEST(quiet_training_is_quiet)
{
    OWNED_ARRAY char *output =
        expect_success("cleave train -q --learner ssvm --data $SET/manifest.tsv " SAMPLE_TRAINING " -o m.cleave");
    ck_assert_str_eq(output, "");
}

TEST(masks_and_images_without_each_other_are_named)
{
    EXPECT_PARTS(expect_success("mkdir s && cp -r $SET/images $SET/masks s && mv s/masks/0002.png s/masks/o002.png "
                                "&& cleave train --learner ssvm --data s " SAMPLE_TRAINING " -o m.cleave"),
                 "1 mask has no image of its name: masks/o002.png",
                 "have no mask and were skipped, the first is images/0002.jpg");
}

TEST(values_of_options_are_completed)
{
    OWNED_ARRAY char *output = expect_success(
        "cd $ROOT && bash -c '. tools/bash-completion; COMP_WORDS=(cleave train --learner mssvm --solver c); "
        "COMP_CWORD=5; _cleave; echo ${COMPREPLY[*]}; COMP_WORDS=(cleave train --data %s/manifest.tsv --split \"\"); "
        "_cleave; echo ${COMPREPLY[*]}; COMP_WORDS=(cleave train --blocks words,col); COMP_CWORD=3; _cleave; echo "
        "${COMPREPLY[*]}; COMP_WORDS[3]=words,fi; _cleave; echo ${COMPREPLY[*]}'",
        sample_set());
    ck_assert_str_eq(output, "cccp\ntest train\nwords,colour\nwords,fisher\n");
}

/* What `words` are completed to, the last of them in work. */
static void expect_completion(const char *words, const char *replies)
{
    OWNED_ARRAY char *output = expect_success(
        "mkdir -p comp/sub && cd comp && touch a.cleave b.txt && bash -c '. '$ROOT'/tools/bash-completion; "
        "COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _cleave; echo ${COMPREPLY[*]}'",
        words);
    ck_assert_str_eq(output, formatted("%s\n", replies));
}

TEST(values_after_an_equals_sign_commands_after_help_and_models_are_completed)
{
    expect_completion("cleave train --pairwise=p", "--pairwise=potts");
    expect_completion("cleave train --pairwise = p", "potts");
    expect_completion("cleave train --pairwise =", "auto none potts full");
    expect_completion("cleave help ta", "tag");
    expect_completion("cleave segment -m \"\"", "a.cleave sub");
    expect_completion("cleave segment --model=a", "--model=a.cleave");
    expect_completion("cleave segment --model = \"\"", "a.cleave sub");
}

TEST(empty_values_and_arguments_are_refused_before_any_work)
{
    static const struct refusal refusals[] = {
        {64, "--output: its value is empty; if a variable was meant", "train x -o ''"},
        {64, "--boxes: its value is empty", "segment x --boxes= -o y"},
        {64, "argument 2 is empty; if a variable was meant", "segment -m x y '' -o z"},
    };
    EXPECT_REFUSALS(refusals);
}

TEST(an_option_that_is_nearly_one_is_named)
{
    static const struct refusal refusals[] = {
        {64, "unrecognized option '--modle'; did you mean --model?", "segment --modle x y -o z"},
        {64, "'--learnr'; did you mean --learner?", "train x --learnr=ssvm"},
        {64, "did you mean --lambda?", "train -qo x --lambad 1"},
        {64, "no model file; add -o FILE", "train x --void --modle"}, /* a value */
        {64, "no model file; add -o FILE", "train x --over -- --modle"},
    };
    EXPECT_REFUSALS(refusals);
}

TEST(options_that_are_none_or_lack_a_value_are_named_in_the_form_of_all_errors)
{
    static const struct refusal refusals[] = {
        {64, "cleave: error: unrecognized option '--colourful'; --help all lists the options", "segment --colourful"},
        {64, "cleave: error: unrecognized option '-x'; --help all lists the options", "train -qx"},
        {64, "cleave: error: option '--si' is the beginning of --sift-step, --sift-bins, --sift", "train --si 4"},
        {64, "cleave: error: --seed needs a value: --seed N", "train x --seed"},
        {64, "cleave: error: -t needs a value: -t N", "train x -qt"},
        {64, "cleave: error: --quiet takes no value", "train --quiet=3"},
        {64, "cleave: error: --help takes no value", "train --help=3"},
        {64, "cleave: error: option '--v' is the beginning of --validate, --void, --version", "train x --v y"},
        {64, "cleave: error: option '--li' is the beginning of --likelihood, --list-options", "score x --li"},
    };
    EXPECT_REFUSALS(refusals);
}

TEST(a_long_command_line_is_read_to_its_end)
{
    expect_error(66, "nowhere00001: is not there", "cleave train $(printf 'nowhere%%05d ' $(seq 9000)) -o m.cleave");
}

TEST(help_lists_every_command_and_every_exit_status)
{
    OWNED_ARRAY char *output = expect_success("cleave --help");
    for (size_t i = 0; i < N_NAMES; i++)
        if (!strchr(names[i], ' ')) /* a command of its own */
            ck_assert_msg(strstr(output, names[i]) != NULL, "%s", names[i]);
    ck_assert_ptr_nonnull(strstr(output, "tag "));
    for (int status = CLV_ERR_USAGE; status <= CLV_ERR_INTERRUPTED; status++)
        ck_assert_ptr_nonnull(strstr(output, formatted("%d", clv_status_exit_code((enum clv_status)status))));
}

TEST(every_command_has_help_on_standard_output)
{
    for (size_t i = 0; i < N_NAMES; i++) {
        OWNED_ARRAY char *output = expect_success("cleave %s --help 2>/dev/null", names[i]);
        ck_assert_ptr_nonnull(strstr(output, formatted("Usage: cleave %s", names[i])));
        ck_assert_ptr_nonnull(strstr(output, "--threads"));
        OWNED_ARRAY char *again = strchr(names[i], ' ') ? strdup(output) : expect_success("cleave help %s", names[i]);
        ck_assert_str_eq(output, again);
    }
}

TEST(version_says_which_licence_the_binary_is_under)
{
    OWNED_ARRAY char *output = expect_success("cleave --version");
    ck_assert_ptr_nonnull(strstr(output, clv_version()));
    ck_assert((strstr(output, "GPL-3+") != NULL) == (clv_has_bk() != 0));
    OWNED_ARRAY char *of_command = expect_success("cleave train --version");
    ck_assert_str_eq(output, of_command);
}

TEST(train_help_shows_the_parameters_of_the_learner_named)
{
    for (size_t i = 0; clv_learner_at(i); i++) {
        const struct clv_learner *learner = clv_learner_at(i);
        OWNED_ARRAY char *output =
            expect_success("cleave train --learner %s --help all | tr -s '\\n ' ' '", learner->name);
        for (const struct clv_parameter *parameter = learner->parameters; parameter->name; parameter++) {
            ck_assert_msg(strstr(output, formatted(" --%s ", parameter->name)) != NULL, "%s %s", learner->name,
                          parameter->name);
            if (parameter->choices)
                continue; /* names, not a range */
            ck_assert_ptr_nonnull(strstr(
                output, formatted("(default %g; %g..%g)", parameter->value, parameter->minimum, parameter->maximum)));
        }
    }
}

TEST(unknown_names_are_answered_with_the_nearest_known_one)
{
    static const struct refusal refusals[] = {
        {64, "trian: no such command; did you mean \"train\"?", "trian"},
        {64, "did you mean \"segment\"?", "segmnt"},
        {64, "did you mean \"segment\"?", "seg"},
        {64, "xyzzy: no such command; `cleave", "xyzzy"},
        {64, "such command; `cleave", "'something else entirely, and long at that'"},
        {64, "--learner: \"svm\" is not one of ssvm", "train --learner svm --data x -o y"},
        {64, "did you mean \"ssvm\"?", "train --learner svm --data x -o y"},
        {64, "--engine: \"bc\" is not one of cleave", "train --engine bc"},
    };
    EXPECT_REFUSALS(refusals);
}

TEST(option_values_are_checked_and_named)
{
    static const struct refusal refusals[] = {
        {64, "--threads: \"0\" is not a whole number from 1", "train --threads 0"},
        {64, "--seed: \"-1\"", "train --seed -1"},
        {64, "--words: \"many\"", "train --words many"},
        {64, "--superpixels: \"1e3\"", "features --superpixels 1e3"},
        {64, "--sift-bins: \"\"", "train --sift-bins 4,,8"},
        {64, "--sift-bins: \"1,2,3,4,5\" has more", "train --sift-bins 1,2,3,4,5"},
        {64, "--blocks: \"colours\" is not one of words, colour", "train --blocks words,colours"},
        {64, "--mask-format: \"rgb\" is not one of auto, grey, binary, palette", "segment --mask-format rgb"},
        {64, "--lambda: \"-1\" is not a number", "train --lambda -1 --data x -o y"},
        {64, "--cv: \"1\"", "train --cv 1"},
        {64, "unrecognized option '--nonsense'", "train --nonsense"},
    };
    EXPECT_REFUSALS(refusals);
}

TEST(missing_and_conflicting_options_are_named)
{
    static const struct refusal refusals[] = {
        {64, "no dataset", "train -o x"},
        {64, "no model file; add -o FILE", "train --data x"},
        {64, "cleave train' makes a model of images with masks, `cleave label' of what is marked", "segment x -o y"},
        {64, "`cleave segment --boxes', `--from-masks' and `cleave propagate' need none", "segment h.jpg"},
        {64, "no output; add -o FOLDER", "segment x -m y"},
        {64, "no images", "segment -m x -o y"},
        {64, "exclude each other", "segment --overwrite --resume"},
        {64, "--split", "segment -m x -o y --split test z"},
        {64, "--overlay cannot be used with --features: a feature file", "segment -m x -o y --features z --overlay"},
        {64, "no predictions; add --pred", "score --data x"},
        {64, "exclude each other", "score --data x --pred . --json --csv"},
        {64, "which model", "inspect"},
        {64, "no model file; add -o FILE", "train x"},
        {64, "no predictions; add --pred", "score x"},
        {64, "c: one argument too many", "score a b c"},
        {64, "b: one argument too many", "features -d x b -o y"},
    };
    EXPECT_REFUSALS(refusals);
    ck_assert_int_eq(run_command(NULL, "cleave"), 64);
}

TEST(a_parameter_of_another_learner_is_refused_by_name)
{
    const struct clv_learner *first = clv_learner_at(0);
    for (size_t i = 1; clv_learner_at(i); i++)
        for (const struct clv_parameter *p = clv_learner_at(i)->parameters; p->name; p++)
            if (clv_learner_parameter(first, p->name) < 0) {
                expect_error(64, formatted("--%s: learner \"%s\" has no such parameter", p->name, first->name),
                             "cleave train --learner %s --%s 1 --data x -o y", first->name, p->name);
                return;
            }
}

TEST(the_man_page_knows_every_option_but_the_learners_own)
{
    OWNED_ARRAY char *manual = slurp("tools/cleave.1", NULL);
    for (size_t i = 0; i < N_NAMES; i++) {
        OWNED_ARRAY char *output =
            expect_success("cleave %s --list-options | sed -n 's/^--\\([a-z-]*\\).*/\\1/p'", names[i]);
        int n = 0;
        for (char *option = strtok(output, "\n"); option; option = strtok(NULL, "\n"), n++)
            ck_assert_msg(clv_learner_parameter(clv_learner_at(0), option) >= 0 ||
                              strstr(manual, formatted("Fl -%s", option)) != NULL,
                          "--%s is not in the man page", option);
        ck_assert_int_gt(n, 5);
    }
}

TEST(results_that_cannot_be_written_are_an_output_error)
{
    expect_error(74, "standard output: cannot write", "cleave --help >/dev/full");
    expect_error(74, "standard output: cannot write", "cleave train --help >/dev/full");
    expect_error(74, "standard output: cannot write", "cleave train --help all >/dev/full");
}

SETUP_ONCE(sample_setup, NULL)
