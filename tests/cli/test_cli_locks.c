/* Two runs that would write into the same folder, or keep the same checkpoint. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

#define SEGMENT "cleave segment -q -m %s "

/* Shell: waits until somebody holds the folder out. A run that is to stay there waits for its list of images. */
#define UNTIL_HELD "; for i in $(seq 1000); do flock -n out true || break; sleep 0.01; done; sleep 0.1; "

/* Expects a refusal by status 75 that names the folder. */
static void expect_refused(const char *part, int code, char *output)
{
    ck_assert_msg(code == 75 && strstr(output, part), "status %d, without \"%s\": %s", code, part, output);
    free(output);
}

TEST(a_second_run_into_a_folder_is_refused_until_the_first_is_dead)
{
    const char *folder = temporary_folder(), *model = sample_model(), *set = sample_set();
    char *output;
    int code = run_command(&output,
                           "cd %s && mkdir out && mkfifo list && exec 3<>list && { " SEGMENT
                           "- -o out <&3 & }; first=$!" UNTIL_HELD SEGMENT "%s/images -o out; status=$?; "
                           "kill -KILL $first; wait $first; exit $status",
                           folder, model, model, set);
    expect_refused("out: another run writes there now", code, output);
    ck_assert_int_eq(count_files(here("out")), 0);
    run_here("cd %s && " SEGMENT "%s/images -o out --report out", folder, model, set);
    run_here("[ \"$(ls -A out | wc -l)\" = 14 ]");
}

TEST(shards_get_along_unless_they_do_the_same_part)
{
    const char *folder = temporary_folder(), *model = sample_model(), *set = sample_set();
    static const char *const same[] = {"--shard 1/2", "--shard 2/4", ""};
    run_here("mkdir -p shards/out && mkfifo shards/list");
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        char *output;
        int code = run_command(
            &output,
            "cd %s/shards && exec 3<>list && { " SEGMENT "- -o out --shard 1/2 <&3 & }; first=$!" UNTIL_HELD SEGMENT
            "%s/images -o out --resume --shard 2/2 && " SEGMENT "%s/images -o out --resume --shard 3/4 && " SEGMENT
            "%s/images -o out --resume %s; status=$?; kill -KILL $first; wait $first; exit $status",
            folder, model, model, set, model, set, model, set, same[k]);
        expect_refused("out: another run", code, output);
    }
    run_here("cd %s/shards && " SEGMENT "%s/images -o out --resume --shard 1/2 && [ \"$(ls -A out | wc -l)\" = 13 ]",
             folder, model, set);
}

TEST(a_checkpoint_is_kept_by_one_training_and_other_models_are_free)
{
    char *output;
    run_here("mkdir models && cleave features --data $SET/manifest.tsv --split train --superpixels 60 --words 10 "
             "--codebook-samples 2000 -o f");
    const char *train = "cleave train -q --data ../f --learner pmap --checkpoint-every 0";
    int code = run_command(&output,
                           "cd $HERE/models && { %s --passes 1e9 -o m & }; first=$!; for i in $(seq 6000); do [ -e "
                           "m.checkpoint ] && break; sleep 0.01; done; %s --passes 5 -o other && %s --passes 5 "
                           "--resume -o m; status=$?; kill -KILL $first; wait $first; exit $status",
                           train, train, train);
    expect_refused("m: another run writes there now", code, output);
    run_here("cd models && %s --passes 5 --overwrite -o m && [ \"$(ls -A)\" = \"m\nother\" ]", train);
}

TEST(a_folder_is_labelled_by_one_server)
{
    char *output;
    int code = run_command(
        &output, "cd $HERE && mkdir -p page/out && cp $SET/images/0001.* page/out && cd page && { cleave label "
                 "--no-browser out >/dev/null 2>&1 & }; first=$!" UNTIL_HELD
                 "timeout 20 cleave label --no-browser out; status=$?; kill $first; wait $first; exit $status");
    expect_refused("out: cleave label has it open, or another run writes there", code, output);
}

/* Makes mkdir wait, at its first call, until a file named go is there. */
static const char late_mkdir[] =
    "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <sys/stat.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n"
    "int mkdir(const char *path, mode_t mode)\n{\n    close(open(\"waiting\", O_CREAT | O_WRONLY, 0600));\n"
    "    while (access(\"go\", F_OK))\n        usleep(1000);\n"
    "    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);\n}\n";

/* A run that has seen no folder, and makes it later than another one, would once remove it when it was refused. */
TEST(whoever_is_refused_removes_nothing)
{
    char *output;
    if (IS_SANITIZED || run_command(NULL, "command -v cc >/dev/null") != 0) {
        skip("whoever_is_refused_removes_nothing", "no compiler, or a sanitizer that is to be loaded first");
        return;
    }
    run_here("mkdir late");
    spill(here("late/late.c"), late_mkdir, sizeof late_mkdir - 1);
    run_here("cd late && cc -shared -fPIC -o late.so late.c");
    int code = run_command(&output,
                           "cd $HERE/late && { LD_PRELOAD=$PWD/late.so " SEGMENT "$SET/images -o a/out --report a/page "
                           "& }; second=$!; until [ -e waiting ]; do sleep 0.01; done; mkdir -p a/out a/page && exec "
                           "4<a/out && flock -n 4 && touch go && { wait $second; status=$?; ls -d a/out a/page || exit "
                           "1; exit $status; }",
                           sample_model());
    expect_refused("a/out: another run writes there now", code, output);
}

SETUP_ONCE(sample_setup, NULL)
