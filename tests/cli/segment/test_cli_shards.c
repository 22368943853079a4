/* --shard: what the jobs of an array make together is what one run makes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "support/sample.h"
#include "support/support.h"

/* Runs `cleave COMMAND --shard I/3` in the folder for every I. */
static void run_shards(const char *folder, const char *command)
{
    for (int i = 1; i <= 3; i++)
        free(expect_success("cd %s && \"$CLEAVE\" %s --shard %d/3", folder, command, i));
}

static void expect_same(const char *folder, const char *a, const char *b)
{
    ck_assert_msg(same_bytes(formatted("%s/%s", folder, a), formatted("%s/%s", folder, b)), "%s is not %s", a, b);
}

TEST(three_shards_write_the_masks_the_table_and_the_pages_of_one_run)
{
    const char *folder = temporary_folder(), *set = sample_set(), *model = sample_model();
    struct {
        char text[256];
    } own;
    snprintf(own.text, sizeof own.text, "%s", folder);
    free(expect_success("cd %s && ln -s %s set && ln -s %s m && \"$CLEAVE\" segment -m m set/images -o one --overlay "
                        "--status one.tsv",
                        own.text, set, model));
    run_shards(own.text, "segment -m m set/images -o three --overlay --status three.tsv --report page/");
    free(expect_success("cd %s && cat three-0000?-of-00003.tsv | sed s,three/,one/, >all.tsv", own.text));
    expect_same(own.text, "one", "three");
    expect_same(own.text, "one.tsv", "all.tsv");
    free(expect_success("cd %s && cat page-0000?-of-00003/index.html >/dev/null", own.text));
    free(expect_success("cd %s && \"$CLEAVE\" marginals -m m --data set -o p1", own.text));
    run_shards(own.text, "marginals -m m --data set -o p3");
    expect_same(own.text, "p1", "p3");
    /* A shard goes on with its own work. */
    free(expect_success("cd %s && rm three/0002.png; \"$CLEAVE\" segment -m m set/images -o three --resume --overlay "
                        "--status three.tsv --shard 3/3 && \"$CLEAVE\" segment -m m set/images -o three --resume "
                        "--overlay --status three.tsv --shard 1/3",
                        own.text));
    expect_same(own.text, "one", "three");
}

TEST(items_of_a_feature_file_are_sharded_and_more_shards_than_items_leave_some_empty)
{
    struct {
        char text[256];
    } own;
    snprintf(own.text, sizeof own.text, "%s", temporary_folder());
    free(expect_success("cd %s && ln -s %s set && ln -s %s m && \"$CLEAVE\" features -m m --data set/manifest.tsv "
                        "--split test -o f && \"$CLEAVE\" segment -m m --features f -o one",
                        own.text, sample_set(), sample_model()));
    run_shards(own.text, "segment -m m --features f -o three");
    expect_same(own.text, "one", "three");
    char *text = expect_success("cd %s && \"$CLEAVE\" segment -m m --features f -o nine --status t.tsv --shard 2/9 && "
                                "wc -c <t-00002-of-00009.tsv",
                                own.text);
    ck_assert_str_eq(text, "cleave: shard 2 of 9: no images in it, there are 4 in all\n0\n");
    free(text);
}

TEST(clashes_with_other_shards_and_bad_shards_are_refused)
{
    struct {
        char text[256];
    } own;
    snprintf(own.text, sizeof own.text, "%s", temporary_folder());
    free(expect_success("cd %s && ln -s %s m && mkdir x && cp %s/images/0001.jpg x/a.jpg", own.text, sample_model(),
                        sample_set()));
    expect_error(73, "would be that of ./x/a.jpg, too",
                 "cd %s && \"$CLEAVE\" segment -m m ./x/a.jpg x/a.jpg -o y --shard 2/2", own.text);
    ck_assert_int_eq(count_files(formatted("%s/y", own.text)), 0);
    static const char *const bad[] = {"0/3", "4/3", "1", "1/", "/3", "1/100001", "a/b", "1/3/5", "-1/3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_error(64, formatted("--shard: \"%s\" is not I/N", bad[i]),
                     "cd %s && \"$CLEAVE\" segment -m m x -o y --shard %s", own.text, bad[i]);
    expect_error(64, "leave out --shard", "cd %s && \"$CLEAVE\" segment -m m x/a.jpg -o - --shard 1/1", own.text);
}

/* Features of the sample's training images in f, in shards, and with an index. */
static void write_feature_shards(const char *folder)
{
    static const char *const recipe = "--data set/manifest.tsv --split train --seed 1 --superpixels 120 --words 20 "
                                      "--codebook-samples 2000";
    free(expect_success("cd %s && ln -s %s set && \"$CLEAVE\" features %s -o f", folder, sample_set(), recipe));
    char command[256];
    snprintf(command, sizeof command, "features %s -o f.safetensors", recipe);
    run_shards(folder, command);
    free(expect_success("cd %s && \"$CLEAVE\" features --index f-0000?-of-00003.safetensors -o i.json", folder));
}

TEST(an_index_or_a_folder_of_feature_shards_trains_scores_and_segments_as_one_file_does)
{
    static const char *const files[] = {"f", "i.json", "shards"};
    struct {
        char text[256];
    } own;
    snprintf(own.text, sizeof own.text, "%s", temporary_folder());
    write_feature_shards(own.text);
    free(expect_success("cd %s && mkdir shards && ln f-0000?-of-00003.safetensors shards/", own.text));
    for (int k = 0; k < 3; k++) {
        const char *file = files[k];
        free(expect_success(
            "cd %s && \"$CLEAVE\" train -l wmpmap --passes 5 --seed 1 --loss counts --data %s -o m%d && "
            "\"$CLEAVE\" segment -m m%d --features %s -o out%d && \"$CLEAVE\" score -m m%d --data %s --json "
            ">score%d && \"$CLEAVE\" inspect --json m%d | tr ',' '\\n' | grep -v "
            "'\"data\"\\|\"command\"\\|data_digest' >says%d && tail -c 2000 m%d >weights%d",
            own.text, file, k, k, file, k, k, file, k, k, k, k, k));
    }
    for (int k = 1; k < 3; k++) {
        static const char *const what[] = {"out", "score", "says", "weights"};
        for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
            char one[16], other[16];
            snprintf(one, sizeof one, "%s0", what[i]);
            snprintf(other, sizeof other, "%s%d", what[i], k);
            expect_same(own.text, one, other);
        }
    }
    free(expect_success(
        "cd %s && for k in f i.json; do \"$CLEAVE\" train -q --passes 3 --seed 1 --stages 2 --data $k -o "
        "two.$k && \"$CLEAVE\" segment -q -m two.$k --features f -o staged.$k; done && "
        "diff -r -x .cleave-run staged.f staged.i.json",
        own.text));
}

/* Whole files and all shards of a set may follow each other. */
TEST(several_feature_files_are_taken_as_one)
{
    static const char list[] =
        "f-00001-of-00003.safetensors %s f-00002-of-00003.safetensors %s f-00003-of-00003.safetensors";
    struct {
        char text[256], data[256], features[256];
    } own;
    snprintf(own.text, sizeof own.text, "%s", temporary_folder());
    snprintf(own.data, sizeof own.data, list, "--data", "--data");
    snprintf(own.features, sizeof own.features, list, "--features", "--features");
    write_feature_shards(own.text);
    const char *const lines[][2] = {{"i.json", "i.json"}, {own.data, own.features}};
    for (int k = 0; k < 2; k++)
        free(expect_success("cd %s && \"$CLEAVE\" train -l wmpmap --passes 5 --seed 1 --data %s -o m && \"$CLEAVE\" "
                            "segment -m m --features %s -o out%d && \"$CLEAVE\" score -m m --data %s >score%d && "
                            "\"$CLEAVE\" inspect --json m | tr ',' '\\n' | grep -v '\"data\"\\|\"command\"' >says%d && "
                            "tail -c 2000 m >weights%d && rm m",
                            own.text, lines[k][0], lines[k][1], k, lines[k][0], k, k, k));
    static const char *const what[][2] = {
        {"out0", "out1"}, {"score0", "score1"}, {"says0", "says1"}, {"weights0", "weights1"}};
    for (size_t i = 0; i < sizeof what / sizeof *what; i++)
        expect_same(own.text, what[i][0], what[i][1]);
    free(expect_success(
        "cd %s && \"$CLEAVE\" features -q --data set/manifest.tsv --split test --recipe f -o g && "
        "for with in '-o both' '-o read --feature-memory 1M'; do \"$CLEAVE\" train -q --passes 2 --data g "
        "--data i.json --data f $with; done",
        own.text));
    expect_same(own.text, "both", "read");
    char *images = expect_success("cd %s && \"$CLEAVE\" inspect --json both", own.text);
    ck_assert_msg(strstr(images, "\"images\":\"20\"") != NULL, "%s", images);
    free(images);
}

TEST(feature_files_that_do_not_go_together_are_named)
{
    static const char *const bad[][2] = {
        {"f --data f-00001-of-00003.safetensors", "f-00001-of-00003.safetensors: is shard 1 of 3, and the next"},
        {"f-00002-of-00003.safetensors --data f", "f-00002-of-00003.safetensors: is shard 2 of 3, where shard 1 of 3"},
        {"f-00001-of-00003.safetensors --data f", "f: not a shard that"},
        {"f --data i.json --data link", "link: comes twice"},
        {"i.json --data f-00001-of-00003.safetensors", "f-00001-of-00003.safetensors: comes twice"},
        {"f --data other", "other: its recipe or labels are not those of f (recipe differs)"},
    };
    struct {
        char text[256];
    } own;
    snprintf(own.text, sizeof own.text, "%s", temporary_folder());
    write_feature_shards(own.text);
    free(
        expect_success("cd %s && ln -s f link && \"$CLEAVE\" features -q --data set/manifest.tsv --split test --seed 2 "
                       "--superpixels 60 --words 20 --codebook-samples 2000 -o other",
                       own.text));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_error(65, bad[i][1], "cd %s && \"$CLEAVE\" train --data %s -o m", own.text, bad[i][0]);
    expect_error(64, "--data: several of them must be feature files, which set is not",
                 "cd %s && \"$CLEAVE\" train --data f --data set -o m", own.text);
    expect_error(64, "--features: several of them must be feature files, which set is not",
                 "cd %s && \"$CLEAVE\" segment -m %s --features f --features set -o m", own.text, sample_model());
    expect_error(66, "absent", "cd %s && \"$CLEAVE\" score -m %s --data f --data absent", own.text, sample_model());
    expect_error(73, "other: is an input", "cd %s && \"$CLEAVE\" train --data f --data other --overwrite -o other",
                 own.text);
    ck_assert_int_ne(access(formatted("%s/m", own.text), F_OK), 0);
}

/* The first shard learns the recipe for all of them. */
TEST(a_feature_file_takes_its_recipe_from_another)
{
    struct {
        char text[256];
    } own;
    snprintf(own.text, sizeof own.text, "%s", temporary_folder());
    write_feature_shards(own.text);
    free(expect_success("cd %s && \"$CLEAVE\" features --data set/manifest.tsv --split train --recipe "
                        "f-00001-of-00003.safetensors -o g",
                        own.text));
    expect_same(own.text, "f", "g");
    expect_error(64, "--superpixels: the recipe is the other file's, given by --recipe",
                 "cd %s && \"$CLEAVE\" features --data set --superpixels 50 --recipe f -o h", own.text);
    expect_error(64, "--recipe: the recipe is the model's, given by -m",
                 "cd %s && \"$CLEAVE\" features --data set -m %s --recipe f -o h", own.text, sample_model());
    free(expect_success("cd %s && \"$SIMULATE\" hidden-chain --seed 1 drawn", own.text));
    expect_error(64, "it has no recipe",
                 "cd %s && \"$CLEAVE\" features --data set --recipe drawn/train.safetensors -o h", own.text);
    expect_error(73, "input", "cd %s && \"$CLEAVE\" features --data set --recipe f -o f --overwrite", own.text);
    ck_assert_int_ne(access(formatted("%s/h", own.text), F_OK), 0);
}

TEST(feature_shards_that_are_no_whole_are_named_and_nothing_is_written)
{
    struct {
        char text[256];
    } own;
    snprintf(own.text, sizeof own.text, "%s", temporary_folder());
    write_feature_shards(own.text);
    static const char *const bad[][2] = {
        {"f-00001-of-00003.safetensors f-00002-of-00003.safetensors", "is shard 1 of 3, where shard 1 of 2 belongs"},
        {"f-00001-of-00003.safetensors f-00001-of-00003.safetensors f-00003-of-00003.safetensors",
         "is shard 1 of 3, where shard 2 of 3 belongs"},
        {"f", "f: not a shard that"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_error(65, bad[i][1], "cd %s && \"$CLEAVE\" features --index %s -o j.json", own.text, bad[i][0]);
    ck_assert_int_eq(count_files(formatted("%s/j.json", own.text)), 0);
    free(
        expect_success("cd %s && \"$CLEAVE\" features --data set/manifest.tsv --split train --seed 2 --superpixels 120 "
                       "--words 20 --codebook-samples 2000 -o f.safetensors --shard 2/3 --overwrite",
                       own.text));
    expect_error(65,
                 "f-00002-of-00003.safetensors: its recipe or labels are not those of ./f-00001-of-00003.safetensors",
                 "cd %s && \"$CLEAVE\" train --data i.json -o m", own.text);
    free(expect_success("cd %s && rm f-00002-of-00003.safetensors", own.text));
    expect_error(66, "f-00002-of-00003.safetensors", "cd %s && \"$CLEAVE\" train --data i.json -o m", own.text);
    free(expect_success("cd %s && mkdir shards && ln f-0000?-of-00003.safetensors shards/", own.text));
    expect_error(65, "shards/f-00001-of-00003.safetensors: is shard 1 of 3, where shard 1 of 2 belongs",
                 "cd %s && \"$CLEAVE\" train --data shards -o m", own.text);
    expect_error(64, "there are 8 images",
                 "cd %s && \"$CLEAVE\" features --data set/manifest.tsv --split train --blocks size -o x --shard 1/9",
                 own.text);
}

/* Each of mpirun's processes would do the same work over the same output; so would each of srun's with PMIx. */
TEST(copies_that_mpirun_starts_are_refused_unless_each_has_its_shard)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK=0 SLURM_STEP_NUM_TASKS"};
    const char *folder = temporary_folder();
    for (int k = 0; k < 3; k++)
        expect_error(64, "started 3 times by mpirun or srun",
                     "cd %s && %s=3 \"$CLEAVE\" segment -m %s %s/images -o alike", folder, variables[k], sample_model(),
                     sample_set());
    ck_assert_int_ne(access(formatted("%s/alike", folder), F_OK), 0);
    free(expect_success("cd %s && OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0 SLURM_STEP_NUM_TASKS=2 "
                        "\"$CLEAVE\" segment -m %s %s/images -o alone",
                        folder, sample_model(), sample_set()));
    free(expect_success("cd %s && SLURM_STEP_NUM_TASKS=2 \"$CLEAVE\" segment -m %s %s/images -o alone --overwrite",
                        folder, sample_model(), sample_set()));
    free(expect_success("cd %s && PMI_SIZE=2 \"$CLEAVE\" segment --shard 1/2 -m %s %s/images -o parts", folder,
                        sample_model(), sample_set()));
}

SETUP_ONCE(sample_setup, NULL)
