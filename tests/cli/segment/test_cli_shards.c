/* --shard: what the jobs of an array make together is what one run makes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "support/sample.h"
#include "support/support.h"

/* Runs `cleave COMMAND --shard I/3` in the folder for every I. */
static void run_shards(const char *command)
{
    for (int i = 1; i <= 3; i++)
        run_here("cleave %s --shard %d/3", command, i);
}

static void expect_same(const char *a, const char *b)
{
    ck_assert_msg(same_bytes(here("%s", a), here("%s", b)), "%s is not %s", a, b);
}

TEST(three_shards_write_the_masks_the_table_and_the_pages_of_one_run)
{
    run_here("ln -s $SET set && ln -s $MODEL m && cleave segment -m m set/images -o one --overlay --status one.tsv");
    run_shards("segment -m m set/images -o three --overlay --status three.tsv --report page/");
    run_here("cat three-0000?-of-00003.tsv | sed s,three/,one/, >all.tsv");
    expect_same("one", "three");
    expect_same("one.tsv", "all.tsv");
    run_here("cat page-0000?-of-00003/index.html >/dev/null");
    run_here("cleave probabilities -m m --data set -o p1");
    run_shards("probabilities -m m --data set -o p3");
    expect_same("p1", "p3");
    /* A shard goes on with its own work. */
    run_here("rm three/0002.png; cleave segment -m m set/images -o three --resume --overlay --status three.tsv --shard "
             "3/3 && cleave segment -m m set/images -o three --resume --overlay --status three.tsv --shard 1/3");
    expect_same("one", "three");
}

TEST(items_of_a_feature_file_are_sharded_and_more_shards_than_items_leave_some_empty)
{
    run_here("ln -s $SET set && ln -s $MODEL m && cleave features -m m --data set/manifest.tsv --split test -o f && "
             "cleave segment -m m --features f -o one");
    run_shards("segment -m m --features f -o three");
    expect_same("one", "three");
    char *text = expect_success(
        "cleave segment -m m --features f -o nine --status t.tsv --shard 2/9 && wc -c <t-00002-of-00009.tsv");
    ck_assert_str_eq(text, "cleave: note: shard 2 of 9: no images in it, there are 4 in all\n0\n");
    free(text);
}

TEST(clashes_with_other_shards_and_bad_shards_are_refused)
{
    run_here("ln -s $MODEL m && mkdir x && cp $SET/images/0001.jpg x/a.jpg");
    expect_error(73, "would be that of ./x/a.jpg, too", "cleave segment -m m ./x/a.jpg x/a.jpg -o y --shard 2/2");
    ck_assert_int_eq(count_files(here("y")), 0);
    static const char *const bad[] = {"0/3", "4/3", "1", "1/", "/3", "1/100001", "a/b", "1/3/5", "-1/3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_error(64, formatted("--shard: \"%s\" is not I/N", bad[i]), "cleave segment -m m x -o y --shard %s",
                     bad[i]);
    expect_error(64, "--shard cannot be used with -o -", "cleave segment -m m x/a.jpg -o - --shard 1/1");
}

/* Features of the sample's training images in f, in shards beside it, and in a folder of these. */
static void write_feature_shards(void)
{
    static const char *const recipe = "--data set/manifest.tsv --split train --seed 1 --superpixels 120 --words 20 "
                                      "--codebook-samples 2000";
    run_here("ln -s $SET set && cleave features %s -o f", recipe);
    char command[256];
    snprintf(command, sizeof command, "features %s -o f.safetensors", recipe);
    run_shards(command);
    run_here("mkdir shards && ln f-0000?-of-00003.safetensors shards/");
}

TEST(a_folder_of_feature_shards_trains_scores_and_segments_as_one_file_does)
{
    static const char *const files[] = {"f", "shards"};
    write_feature_shards();
    for (int k = 0; k < 2; k++) {
        const char *file = files[k];
        run_here(
            "cleave train -l wmpmap --passes 5 --seed 1 --loss counts --data %s -o m%d && cleave segment -m m%d "
            "--features %s -o out%d && cleave score -m m%d --data %s --json >score%d && cleave inspect --json m%d | tr "
            "',' '\\n' | grep -v '\"data\"\\|\"command\"\\|data_digest' >says%d && tail -c 2000 m%d >weights%d",
            file, k, k, file, k, k, file, k, k, k, k, k);
    }
    static const char *const what[][2] = {
        {"out0", "out1"}, {"score0", "score1"}, {"says0", "says1"}, {"weights0", "weights1"}};
    for (size_t i = 0; i < sizeof what / sizeof *what; i++)
        expect_same(what[i][0], what[i][1]);
    run_here("for k in f shards; do cleave train -q --passes 3 --seed 1 --stages 2 --data $k -o two.$k && cleave "
             "segment -q -m two.$k --features f -o staged.$k/; done && diff -r -x .cleave-run staged.f staged.shards");
}

/* Whole files and all shards of a set may follow each other. */
TEST(several_feature_files_are_taken_as_one)
{
    static const char list[] =
        "f-00001-of-00003.safetensors %s f-00002-of-00003.safetensors %s f-00003-of-00003.safetensors";
    struct {
        char data[256], features[256];
    } own;
    snprintf(own.data, sizeof own.data, list, "--data", "--data");
    snprintf(own.features, sizeof own.features, list, "--features", "--features");
    write_feature_shards();
    const char *const lines[][2] = {{"shards", "shards"}, {own.data, own.features}};
    for (int k = 0; k < 2; k++)
        run_here("cleave train -l wmpmap --passes 5 --seed 1 --data %s -o m && cleave segment -m m --features %s -o "
                 "out%d && cleave score -m m --data %s >score%d && cleave inspect --json m | tr ',' '\\n' | grep -v "
                 "'\"data\"\\|\"command\"' >says%d && tail -c 2000 m >weights%d && rm m",
                 lines[k][0], lines[k][1], k, lines[k][0], k, k, k);
    static const char *const what[][2] = {
        {"out0", "out1"}, {"score0", "score1"}, {"says0", "says1"}, {"weights0", "weights1"}};
    for (size_t i = 0; i < sizeof what / sizeof *what; i++)
        expect_same(what[i][0], what[i][1]);
    run_here("cleave features -q --data set/manifest.tsv --split test --recipe f -o g && cleave train -q --passes 2 "
             "--data g --data shards --data f -o both");
    expect_output("\"images\":\"20\"", "cleave inspect --json both");
}

TEST(feature_files_that_do_not_go_together_are_named)
{
    static const char *const bad[][2] = {
        {"f --data f-00001-of-00003.safetensors", "f-00001-of-00003.safetensors: is shard 1 of 3, and the next"},
        {"f-00002-of-00003.safetensors --data f", "f-00002-of-00003.safetensors: is shard 2 of 3, where shard 1 of 3"},
        {"f-00001-of-00003.safetensors --data f", "f: not a shard that"},
        {"f --data shards --data link", "link: comes twice"},
        {"shards --data f-00001-of-00003.safetensors", "f-00001-of-00003.safetensors: comes twice"},
        {"f --data other", "other: its recipe or labels are not those of f (recipe differs)"},
    };
    write_feature_shards();
    run_here("ln -s f link && cleave features -q --data set/manifest.tsv --split test --seed 2 --superpixels 60 "
             "--words 20 --codebook-samples 2000 -o other");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_error(65, bad[i][1], "cleave train --data %s -o m", bad[i][0]);
    static const struct refusal refusals[] = {
        {64, "--data: several of them must be feature files, which set is not", "train --data f --data set -o m"},
        {64, "--features: several of them must be feature files, which set is not",
         "segment -m $MODEL --features f --features set -o m"},
        {66, "absent", "score -m $MODEL --data f --data absent"},
        {73, "other: is an input", "train --data f --data other --overwrite -o other"},
    };
    EXPECT_REFUSALS(refusals);
    ck_assert_int_ne(access(here("m"), F_OK), 0);
}

/* The first shard learns the recipe for all of them. */
TEST(a_feature_file_takes_its_recipe_from_another)
{
    write_feature_shards();
    run_here("cleave features --data set/manifest.tsv --split train --recipe f-00001-of-00003.safetensors -o g");
    expect_same("f", "g");
    expect_error(64, "--superpixels: the recipe is the other file's, given by --recipe",
                 "cleave features --data set --superpixels 50 --recipe f -o h");
    expect_error(64, "--recipe excludes --model: each gives a recipe",
                 "cleave features --data set -m $MODEL --recipe f -o h");
    run_here("\"$SIMULATE\" hidden-chain --seed 1 drawn");
    expect_error(64, "it has no recipe", "cleave features --data set --recipe drawn/train.safetensors -o h");
    expect_error(73, "input", "cleave features --data set --recipe f -o f --overwrite");
    ck_assert_int_ne(access(here("h"), F_OK), 0);
}

TEST(feature_shards_that_are_no_whole_are_named_and_nothing_is_written)
{
    write_feature_shards();
    run_here("cleave features --data set/manifest.tsv --split train --seed 2 --superpixels 120 --words 20 "
             "--codebook-samples 2000 -o f.safetensors --shard 2/3 --overwrite && ln -f f-00002-of-00003.safetensors "
             "shards/");
    expect_error(65,
                 "shards/f-00002-of-00003.safetensors: its recipe or labels are not those of shards/f-00001-of-00003",
                 "cleave train --data shards -o m");
    run_here("rm shards/f-00002-of-00003.safetensors");
    expect_error(65, "shards/f-00001-of-00003.safetensors: is shard 1 of 3, where shard 1 of 2 belongs",
                 "cleave train --data shards -o m");
    run_here("ln f shards/f-00002-of-00003.safetensors");
    expect_error(65, "shards/f-00002-of-00003.safetensors: not a shard that", "cleave train --data shards -o m");
    expect_error(64, "there are 8 images",
                 "cleave features --data set/manifest.tsv --split train --blocks size -o x --shard 1/9");
    expect_error(73, "shards/: is a folder",
                 "cleave features --data set/manifest.tsv --split train --blocks size -o shards/ --shard 1/3");
}

/* Each of mpirun's processes would do the same work over the same output; so would each of srun's with PMIx. */
TEST(copies_that_mpirun_starts_are_refused_unless_each_has_its_shard)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK=0 SLURM_STEP_NUM_TASKS"};
    for (int k = 0; k < 3; k++)
        expect_error(64, "started 3 times by mpirun or srun", "%s=3 cleave segment -m $MODEL $SET/images -o alike",
                     variables[k]);
    ck_assert_int_ne(access(here("alike"), F_OK), 0);
    run_here("OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0 SLURM_STEP_NUM_TASKS=2 cleave segment -m $MODEL $SET/images -o alone");
    run_here("SLURM_STEP_NUM_TASKS=2 cleave segment -m $MODEL $SET/images -o alone --overwrite");
    run_here("PMI_SIZE=2 cleave segment --shard 1/2 -m $MODEL $SET/images -o parts");
}

SETUP_ONCE(sample_setup, NULL)
