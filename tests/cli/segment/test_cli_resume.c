/* Trainings that are interrupted or killed, and go on. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "support/sample.h"
#include "support/support.h"

/* Seconds of learning, over features that are made once. */
#define LEARNING "--learner wmpmap --seed 1 --passes 1500 --checkpoint-every 0.02"

static char feature_path[256];

static const char *features(void)
{
    return feature_path;
}

static void setup(void)
{
    sample_setup();
    snprintf(feature_path, sizeof feature_path, "%s/train.safetensors", temporary_folder());
    run_here("cleave features --data $SET/manifest.tsv --split train --seed 1 --superpixels 60 --words 10 "
             "--codebook-samples 2000 -o %s",
             features());
}

/* Text of formatted() that outlives sixteen others. */
struct path {
    char text[512];
};

static struct path lasting(const char *text)
{
    struct path path = {{0}};
    ck_assert_uint_lt(strlen(text), sizeof path.text);
    memcpy(path.text, text, strlen(text));
    return path;
}

/* Starts a training and returns once it learns. */
static pid_t start(const char *model, const char *options, FILE **output)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    run_here("true"); /* sets $CLEAVE */
    const char *command =
        formatted("exec \"$CLEAVE\" train 2>/dev/null --data %s %s -o %s", features(), options, model);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    *output = fdopen(ends[0], "r");
    char line[512];
    while (fgets(line, sizeof line, *output) && strncmp(line, "features", 8) != 0) {
    }
    return pid;
}

static int wait_for(pid_t pid, FILE *output)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    fclose(output);
    return status;
}

/* Waits for a file, then a moment longer. */
static void wait_until_there(const char *path, long more_ms)
{
    const struct timespec tick = {0, 1000000}, more = {0, more_ms * 1000000};
    for (int k = 0; k < 60000 && !path_exists(path); k++)
        nanosleep(&tick, NULL);
    ck_assert_msg(path_exists(path), "%s is not written", path);
    nanosleep(&more, NULL);
}

TEST(names_of_features_stay_in_the_folder_and_images_of_exports_stay_known)
{
    run_here(
        "cleave features --data $SET/manifest.tsv --split train --seed 1 --superpixels 60 --words 10 "
        "--codebook-samples 1000 -o f && cleave train -q f -o m && LC_ALL=C sed '0,/images[/]/s//..\\/..\\/x/' f >g "
        "&& test $(cmp -l f g | wc -l) -gt 3");
    expect_error(65, "no name of a file in the output's folder",
                 "cd $HERE && cleave segment -m m --features g -o a/b/c");
    expect_error(65, "no name of a file in the output's folder",
                 "cd $HERE && cleave probabilities -m m --features g -o a/b/d");
    run_here(
        "cleave segment -q -m m $SET/images -o out --export coco && cleave segment -m m $SET/images -o out --resume "
        "&& cleave import coco out/coco.json -o again");
}

TEST(a_training_that_is_killed_again_and_again_ends_as_an_undisturbed_one)
{
    struct path model_path = lasting(here("killed.cleave"));
    const char *model = model_path.text;
    struct path checkpoint_path = lasting(formatted("%s.checkpoint", model));
    const char *checkpoint = checkpoint_path.text;
    run_here("cleave train --data %s " LEARNING " -t 1 -o whole.cleave", features());
    ck_assert(!path_exists(here("whole.cleave.checkpoint")));
    for (int k = 0; k < 8; k++) {
        FILE *output;
        pid_t pid = start(model, formatted(LEARNING " --resume -t %d", 1 + k % 3), &output);
        wait_until_there(checkpoint, 7 * k);
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert(WIFSIGNALED(wait_for(pid, output)));
        ck_assert(!path_exists(model));
        run_here("head -c 9 %s | tail -c 1 | grep -q '{'", checkpoint); /* old or new, not half */
    }
    run_here("cleave train --data %s " LEARNING " --resume -o %s", features(), model);
    ck_assert(same_bytes(model, here("whole.cleave")));
    ck_assert(!path_exists(checkpoint));
}

TEST(the_first_ctrl_c_leaves_a_model_and_a_checkpoint_that_resume_completes)
{
    FILE *output;
    struct path model_path = lasting(here("stopped.cleave"));
    const char *model = model_path.text;
    const char *options = "--learner pmap --seed 1 --passes 1500 --checkpoint-every 1e6";
    pid_t pid = start(model, options, &output);
    ck_assert_int_eq(kill(pid, SIGINT), 0);
    int status = wait_for(pid, output);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 130);
    expect_output("\"interrupted\":\"yes\"", "cleave inspect --json %s", model);
    run_here("cleave segment -m %s $SET/images -o out", model);
    expect_error(64, "cannot go on from it: seed was \"1\", is \"2\"",
                 "cleave train --data %s %s --seed 2 --resume -o %s", features(), options, model);
    expect_output("going on from ", "cleave train --data %s %s --resume -t 2 -o %s", features(), options, model);
    ck_assert(!path_exists(formatted("%s.checkpoint", model)));
    run_here("cleave train --data %s %s -o straight.cleave", features(), options);
    ck_assert(same_bytes(model, here("straight.cleave")));
}

/* About half a second each, checkpoints after a moment. */
static const struct {
    const char *learner, *options;
} others[] = {
    {"ssvm", "--gap 0 --passes 1200"},
    {"lapmedn", "--gap 0 --passes 120 --rounds 10"},
    {"mssvm", "--passes 1500"},
    {"hcrf", "--solver cccp --passes 400"},
    {"crf", "--penalty l1 --lambda 0.001 --tolerance 0 --passes 1200"},
    {"subgradient", "--passes 1200"},
};

TESTS(every_learner_is_stopped_and_killed_and_ends_as_an_undisturbed_one, 0, sizeof others / sizeof *others)
{
    const char *learner = others[_i].learner;
    struct path model_path = lasting(here("%s.cleave", learner)),
                checkpoint_path = lasting(here("%s.cleave.checkpoint", learner)),
                options_path = lasting(formatted("--learner %s --seed 1 %s", learner, others[_i].options));
    const char *model = model_path.text, *checkpoint = checkpoint_path.text, *options = options_path.text;
    static const int signals[] = {SIGTERM, SIGKILL, SIGINT};
    run_here("cleave train --data %s %s -t 1 -o whole-%s.cleave", features(), options, learner);
    for (int k = 0; k < 3; k++) {
        FILE *output;
        pid_t pid = start(model, formatted("%s --checkpoint-every 0.02 --resume -t %d", options, 1 + k % 2), &output);
        wait_until_there(checkpoint, 20);
        ck_assert_int_eq(kill(pid, signals[k]), 0);
        int status = wait_for(pid, output);
        if (signals[k] == SIGKILL)
            ck_assert(WIFSIGNALED(status));
        else
            ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 128 + signals[k], "%s: status %#x", learner,
                          (unsigned)status);
        ck_assert(path_exists(checkpoint));
    }
    run_here("cleave segment -m %s $SET/images -o out-%s", model, learner);
    expect_output("going on from ", "cleave train --data %s %s --resume -o %s", features(), options, model);
    ck_assert(!path_exists(checkpoint));
    ck_assert(same_bytes(model, here("whole-%s.cleave", learner)));
}

TEST(a_job_that_is_to_be_requeued_leaves_a_checkpoint_and_ends_with_75)
{
    FILE *output;
    struct path model_path = lasting(here("queued.cleave"));
    const char *model = model_path.text;
    const char *options = "--learner pmap --seed 1 --passes 1500 --checkpoint-every 1e6";
    static const int signals[] = {SIGUSR1, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        pid_t pid = start(model, formatted("%s --requeue", options), &output);
        ck_assert_int_eq(kill(pid, signals[i]), 0);
        ck_assert_int_eq(kill(pid, SIGTERM), 0); /* as Slurm does after a while: no reason to drop the checkpoint */
        int status = wait_for(pid, output);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), 75);
        ck_assert(path_exists(formatted("%s.checkpoint", model)));
        ck_assert(!path_exists(model));
    }
    run_here("cleave train --data %s %s --requeue -o %s", features(), options, model);
    run_here("cleave train --data %s %s -o straight.cleave", features(), options);
    ck_assert(same_bytes(model, here("straight.cleave")));
    ck_assert(!path_exists(formatted("%s.checkpoint", model)));
}

TEST(a_feature_file_that_is_cut_short_meanwhile_ends_the_training_by_its_name)
{
    FILE *output;
    const char *folder = temporary_folder();
    struct path model_path = lasting(here("cut.cleave")), whole = lasting(features());
    struct path said = lasting(here("cut.said"));
    run_here("cp %s cut.features", features());
    snprintf(feature_path, sizeof feature_path, "%s/cut.features", folder);
    pid_t pid = start(model_path.text, formatted(LEARNING " --passes 100000000 -t 2 2>%s", said.text), &output);
    wait_until_there(formatted("%s.checkpoint", model_path.text), 0);
    ck_assert_int_eq(truncate(feature_path, 8192), 0);
    int status = wait_for(pid, output);
    char *text = slurp(said.text, NULL);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 66, "status %#x: %s", (unsigned)status, text);
    ck_assert_ptr_nonnull(strstr(text, "cut.features: cannot be read any more"));
    ck_assert(!path_exists(model_path.text));
    free(text);
    memcpy(feature_path, whole.text, sizeof feature_path);
}

/* Both signals are there when the process wakes up, before any step can end. */
TEST(the_second_signal_ends_at_once_and_writes_no_model)
{
    FILE *output;
    int status;
    struct path model_path = lasting(here("abandoned.cleave"));
    const char *model = model_path.text;
    pid_t pid = start(model, "--learner pmap --passes 1e9 -t 1", &output);
    ck_assert_int_eq(kill(pid, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
    ck_assert(WIFSTOPPED(status));
    ck_assert_int_eq(kill(pid, SIGINT), 0);
    ck_assert_int_eq(kill(pid, SIGTERM), 0);
    ck_assert_int_eq(kill(pid, SIGCONT), 0);
    status = wait_for(pid, output);
    ck_assert(WIFEXITED(status));
    ck_assert_msg(WEXITSTATUS(status) == 130 || WEXITSTATUS(status) == 143, "exits with %d", WEXITSTATUS(status));
    ck_assert(!path_exists(model));
    ck_assert(!path_exists(formatted("%s.checkpoint", model)));
}

TEST(what_cross_validation_chose_is_not_chosen_again)
{
    FILE *output;
    struct path model_path = lasting(here("cv.cleave"));
    const char *model = model_path.text;
    const char *options = "--learner wmpmap --passes 600 --cv 2 --cv-grid 1e-9,1e-3 --checkpoint-every 0.02";
    run_here("cleave train --data %s %s -o cv-whole.cleave", features(), options);
    pid_t pid = start(model, options, &output);
    wait_until_there(formatted("%s.checkpoint", model), 1);
    while (run_command(NULL, "grep -q 'cleave folds' %s.checkpoint", model) == 0) /* of the folds, until there is one */
        wait_until_there(formatted("%s.checkpoint", model), 1);                   /* of learning with what was chosen */
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    wait_for(pid, output);
    char *text = expect_success("cleave train --data %s %s --resume -o %s", features(), options, model);
    ck_assert_ptr_null(strstr(text, "cross-validation"));
    free(text);
    ck_assert(same_bytes(model, here("cv-whole.cleave")));
}

/* Kills a training at its first checkpoint and resumes it: as if nothing had happened. */
static void kill_and_resume(const char *name, const char *options)
{
    struct path model_path = lasting(here("%s.cleave", name));
    const char *model = model_path.text;
    struct path command_line =
        lasting(formatted("\"$CLEAVE\" train --data manifest.tsv --split train " SAMPLE_TRAINING " %s", options));
    const char *command = command_line.text;
    run_here("cd $SET && %s -o $HERE/whole-%s.cleave", command, name);
    int code = run_command(NULL,
                           "cd $SET && { %s --resume -o %s & } && for i in $(seq 6000); do [ -e %s.checkpoint ] && "
                           "break; sleep 0.01; done; kill -KILL $!; wait $!",
                           command, model, model);
    ck_assert_int_eq(code, 137);
    expect_output("going on from ", "cd $SET && %s --resume -o %s", command, model);
    ck_assert(same_bytes(model, here("whole-%s.cleave", name)));
}

TEST(images_are_taken_in_again_to_the_same_features)
{
    kill_and_resume("images", "--learner mpmap --validate test --passes 300 --checkpoint-every 0.01");
    expect_output("\"curve\":\"pass objective dual train_loss validation_loss; ",
                  "cleave inspect --json images.cleave");
}

TEST(images_without_masks_are_labelled_again_to_the_same_labels)
{
    struct path only_path = lasting(here("only.txt"));
    const char *only = only_path.text;
    const char *names = "images/0001.jpg\nimages/0002.jpg\nimages/0003.jpg\n";
    spill(only, names, strlen(names));
    kill_and_resume("bare", formatted("--learner pmap --only %s --unlabelled-split train --passes 200 "
                                      "--checkpoint-every 0.01",
                                      only));
    kill_and_resume("boxes", formatted("--learner wmpmap --only %s --boxes boxes.tsv --weak-split train --passes 200 "
                                       "--samples 20 --checkpoint-every 0.01",
                                       only));
}

TEST(a_feature_file_can_validate)
{
    run_here("cleave train --data %s --learner wmpmap --passes 10 -q -o v.cleave && cleave features --data "
             "$SET/manifest.tsv --split test -m v.cleave -o v.safetensors",
             features());
    expect_output(
        "v.safetensors weighted Hamming",
        "cleave train --data %s --learner wmpmap --passes 10 --validate v.safetensors --overwrite -o v.cleave",
        features());
    run_here("cleave features --data $SET/manifest.tsv --split test --superpixels 60 --words 9 --codebook-samples 2000 "
             "--overwrite -o v.safetensors");
    expect_error(65, "0009.jpg: problem has", "cleave train --data %s --validate v.safetensors -o w.cleave",
                 features());
    expect_error(64, "--validate: ", "cleave train --data %s --validate test -o w.cleave", features());
}

TEST(resuming_what_cannot_be_resumed_is_refused)
{
    expect_error(64, "--checkpoint-every: \"-1\" is not a number from 0 to",
                 "cleave train --data %s --learner pmap --checkpoint-every -1 -o m.cleave", features());
    expect_error(64, "--resume: - is not a file, next to which a checkpoint could be",
                 "cleave train --data %s --learner pmap --resume -o -", features());
    run_here("cleave train --data %s --learner pmap --passes 5 -q -o /dev/null", features());
    ck_assert(!path_exists("/dev/null.checkpoint"));
    spill(here("m.cleave.checkpoint"), "half", 4);
    expect_error(65, "m.cleave.checkpoint", "cleave train --data %s --learner pmap --resume -o m.cleave", features());
    expect_error(73, "m.cleave.checkpoint: exists already",
                 "cleave train --data %s --learner pmap --passes 5 -o m.cleave", features());
    run_here("cleave train --data %s --learner pmap --passes 5 --overwrite -o m.cleave", features());
    expect_output("n.cleave.checkpoint: is not there, so learning begins at the beginning",
                  "cleave train --data %s --learner pmap --passes 5 --resume -o n.cleave", features());
}

TEST(a_full_disk_is_noticed_before_learning)
{
    const char *folder = temporary_folder();
    const char *command = formatted(
        "cd %s && trap '' XFSZ && ulimit -f 40 && \"$CLEAVE\" train --data %s --learner pmap", folder, features());
    expect_error(74, "m.cleave: no space for the model", "%s -o m.cleave", command);
    ck_assert_int_eq(count_files(folder), 0);
}

SETUP_ONCE(setup, NULL)
