/* The rule for outputs: nothing is replaced unasked, and no input ever. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "support/sample.h"
#include "support/support.h"

#define QUICK "--superpixels 40 --words 8 --codebook-samples 500 --passes 1"

/* A copy of the sample set as "set" in a new folder, with a model m.cleave and a feature file f.st; returns the
 * folder. */
static const char *make_inputs(void)
{
    const char *folder = temporary_folder();
    run_here("cp -r $SET set && cp -r set kept && cp $MODEL m.cleave && cp m.cleave kept.cleave && cleave features "
             "--data set/manifest.tsv --superpixels 40 --words 8 --codebook-samples 500 -o f.st -q && cp f.st kept.st");
    return folder;
}

/* The command line, which outlives formatted(). */
static const char *line_of(const char *line)
{
    static char kept[1024];
    snprintf(kept, sizeof kept, "%s", line);
    return kept;
}

static void expect_untouched(const char *folder)
{
    ck_assert(same_bytes(formatted("%s/set", folder), formatted("%s/kept", folder)));
    ck_assert(same_bytes(formatted("%s/m.cleave", folder), formatted("%s/kept.cleave", folder)));
    ck_assert(same_bytes(formatted("%s/f.st", folder), formatted("%s/kept.st", folder)));
}

/* With and without --overwrite: 73, and the folder stays as it was. */
static void refuse(const char *folder, const char *named, const char *arguments)
{
    const char *const ways[] = {"", " --overwrite"};
    for (int i = 0; i < 2; i++)
        expect_error(73, named, "cd %s && cleave %s%s", folder, arguments, ways[i]);
    expect_untouched(folder);
}

TEST(training_never_replaces_what_it_learns_from)
{
    const char *folder = make_inputs();
    refuse(folder, "set/images/0001.jpg: ", "train --data set -o set/images/0001.jpg " QUICK);
    refuse(folder, "set/masks/0001.png: ", "train --data set -o set/masks/0001.png " QUICK);
    refuse(folder, "set/manifest.tsv: ", "train --data set/manifest.tsv -o set/manifest.tsv " QUICK);
    refuse(folder, "set/images/0012.jpg: ", "train --data set/manifest.tsv -o set/images/0012.jpg " QUICK);
    refuse(folder, "f.st: ", "train --data f.st -o f.st --passes 1");
    refuse(folder, "f.st: ", "train --data f.st -o ./f.st --passes 1");
    refuse(folder, "m.cleave: ", "train --data set --init m.cleave --learner perceptron -o m.cleave");
    refuse(folder, "set/boxes.tsv: ",
           "train --data set/manifest.tsv --weak-split test --boxes set/boxes.tsv -o set/boxes.tsv " QUICK);
    spill(formatted("%s/names", folder), "images/0001.jpg\n", 16);
    refuse(folder, "names: ", "train --data set/manifest.tsv --only names -o names " QUICK);
    refuse(folder, "f.st: ", "train --data set --validate f.st -o f.st " QUICK);
}

TEST(links_to_inputs_are_inputs)
{
    const char *folder = make_inputs();
    run_here("cd %s && ln f.st hard.st && ln -s f.st soft.st && ln m.cleave hard.cleave && ln set/images/0002.jpg "
             "hard.jpg && ln set/images/0001.jpg photo",
             folder);
    refuse(folder, "hard.st: is the same file as the input f.st",
           "train --data f.st --passes 1 -o hard.st --overwrite");
    refuse(folder, "soft.st: is the same file as the input f.st",
           "train --data f.st --passes 1 -o soft.st --overwrite");
    refuse(folder, "hard.cleave: is the same file as the input m.cleave",
           "features -m m.cleave --data set -o hard.cleave");
    refuse(folder, "hard.jpg: ", "train --data set -o hard.jpg " QUICK);
    refuse(folder, "photo: ", "segment -m m.cleave set/images -o out --status photo");
}

TEST(no_command_replaces_its_inputs)
{
    const char *folder = make_inputs();
    refuse(folder, "m.cleave: ", "features -m m.cleave --data set -o m.cleave");
    refuse(folder, "set/images/0003.jpg: ", "features -m m.cleave --data set -o set/images/0003.jpg");
    refuse(folder, "m.cleave: ", "segment -m m.cleave set/images -o out --status m.cleave");
    refuse(folder,
           "set/boxes.tsv: ", "segment --boxes set/boxes.tsv --data set/manifest.tsv -o out --status set/boxes.tsv");
    refuse(folder,
           "set/manifest.tsv: ", "segment -m m.cleave --data set/manifest.tsv -o out --status set/manifest.tsv");
    refuse(folder, "set/images/0001.jpg: ", "probabilities -m m.cleave set/images -o out --status set/images/0001.jpg");
    refuse(folder, "set/masks/0001.png: ", "probabilities -m m.cleave --data set -o set/masks");
    ck_assert(!path_exists(formatted("%s/out", folder)));
}

/* Images have a mask and objects, which are read together. */
TEST(files_of_objects_are_inputs_beside_masks)
{
    const char *folder = temporary_folder();
    run_here("cp $MODEL m.cleave && cp m.cleave kept.cleave && touch f.st kept.st && mkdir set && cp -r "
             "$ROOT/assets/nuclei/. set && chmod -R u+w set && cp -r set kept");
    refuse(folder, "set/instances/03f583ec5018.png: ",
           "train --data set/manifest.tsv -o set/instances/03f583ec5018.png " QUICK);
    refuse(folder, "set/instances/03f583ec5018.png: ",
           "segment -m m.cleave --data set/manifest.tsv -o out --status set/instances/03f583ec5018.png");
    refuse(folder, "set/instances/03f583ec5018.png: ",
           "segment --from-masks set/manifest.tsv -o out --status set/instances/03f583ec5018.png");
    refuse(folder, "set/instances/03f583ec5018.png: ", "segment -m m.cleave --data set -o set/instances");
}

/* The maps of a manifest, in a folder that no option names. */
TEST(maps_are_inputs)
{
    const char *folder = make_inputs();
    run_here("cd %s && awk 'NR == 1 {print $0 \"\\tmaps.net\"} NR > 1 {print $0 \"\\tmaps/\" substr($1, 8, 4) "
             "\".png\"}' set/manifest.tsv >x && mv x set/manifest.tsv && cp -r set/masks set/maps && rm -r kept && cp "
             "-r set kept",
             folder);
    refuse(folder, "set/maps/0001.png: ", "segment -m m.cleave --data set/manifest.tsv -o set/maps");
}

TEST(annotating_never_replaces_its_examples)
{
    static const char examples[] = "0 1:1\n1 2:1\n0,1 1:1 2:1\n0 1:2\n", names[] = "sea\nbeach\n";
    spill(here("t"), examples, sizeof examples - 1);
    spill(here("labels.txt"), names, sizeof names - 1);
    run_here("cleave tag train --data t --lambda 0.1 -o m -q && mkdir kept && cp t m labels.txt kept");
    const char *const lines[][2] = {{"t: is an input", "train --data t --lambda 0.1 -o t"},
                                    {"./labels.txt: is an input", "train --data t --lambda 0.1 -o ./labels.txt"},
                                    {"t: is an input", "predict -m m --data t -o t"},
                                    {"m: is an input", "predict -m m --data t -o m"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_error(73, lines[i][0], "cleave tag %s --overwrite", lines[i][1]);
    expect_error(73, "m: exists already", "cleave tag train --data t --lambda 0.1 -o m");
    expect_error(73, "tags: exists already", "touch tags && cleave tag predict -m m --data t -o tags");
    run_here("cleave tag train --data t --lambda 0.1 -o m -q --overwrite");
    run_here("cleave tag predict -m m --data t -o tags --overwrite");
    for (int i = 0; i < 3; i++) { /* m has the same bytes again: --overwrite is not part of its record */
        const char *const files[] = {"t", "m", "labels.txt"};
        ck_assert(same_bytes(here("%s", files[i]), here("kept/%s", files[i])));
    }
}

TEST(what_exists_is_replaced_only_when_asked)
{
    static const char *const lines[] = {"train --data f.st --passes 1 -o x", "features -m m.cleave --data set -o x",
                                        "segment -m m.cleave set/images/0001.jpg -o x.out --status x"};
    const char *folder = make_inputs();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        spill(formatted("%s/x", folder), "mine", 4);
        expect_error(73, "x: exists already; --overwrite replaces it", "cd %s && cleave %s", folder, lines[i]);
        char *kept = slurp(formatted("%s/x", folder), NULL);
        ck_assert_str_eq(kept, "mine");
        free(kept);
        run_here("cd %s && cleave %s --overwrite", folder, lines[i]);
        ck_assert(!same_bytes(formatted("%s/x", folder), formatted("%s/kept.st", folder)) || i == 2);
    }
    expect_untouched(folder);
    /* the same command without a file there writes the same bytes: --overwrite is not part of a model's record */
    run_here("cd %s && cleave train --data f.st --passes 1 -o a -q && cleave train --data f.st --passes 1 -o b -q && "
             "cleave train --data f.st --passes 1 -o b --overwrite -q && cmp a b",
             folder);
}

TEST(resuming_replaces_its_own_files_and_no_others)
{
    const char *folder = make_inputs();
    const char *line = line_of(
        formatted("cd %s && \"$CLEAVE\" segment -m m.cleave set/images -o out --status s.tsv --report r", folder));
    run_here("%s", line);
    run_here("%s --resume", line);
    spill(formatted("%s/s.tsv", folder), "image\tname\n", 11);
    expect_error(73, "s.tsv: exists already", "%s --resume", line);
    ck_assert_int_eq(unlink(formatted("%s/s.tsv", folder)), 0);
    spill(formatted("%s/r/index.html", folder), "<html>", 6);
    expect_error(73, "r/index.html: exists already", "%s --resume", line);
    spill(formatted("%s/p.cleave", folder), "mine", 4);
    const char *train = "train --data f.st --learner pmap --passes 2 -q";
    expect_error(73, "p.cleave: exists already", "cd %s && cleave %s --resume -o p.cleave", folder, train);
    run_here("cd %s && cleave %s --overwrite -o p.cleave", folder, train);
    spill(formatted("%s/q.cleave.checkpoint", folder), "mine", 4);
    expect_error(73, "q.cleave.checkpoint: exists already", "cd %s && cleave %s -o q.cleave", folder, train);
}

TEST(a_finished_training_is_neither_resumed_nor_advised_to_be)
{
    const char *folder = make_inputs(), *train = "train f.st --learner pmap --passes 2 -o p.cleave";
    run_here("cd %s && cleave %s -q && ls -i --full-time p.cleave >before", folder, train);
    for (int k = 0; k < 2; k++) {
        char *text = expect_success("cd %s && cleave %s %s", folder, train, k ? "--requeue" : "--resume");
        ck_assert_str_eq(
            text, "cleave: note: p.cleave: this training is finished, nothing is left to do; --overwrite repeats it\n");
        free(text);
    }
    run_here("cd %s && ls -i --full-time p.cleave | cmp before", folder);
    static const char *const others[] = {"--seed 3 --resume", "--seed 3"};
    for (size_t k = 0; k < 2; k++) {
        char *text = NULL;
        ck_assert_int_eq(run_command(&text, "cd %s && cleave %s %s", folder, train, others[k]), 73);
        ck_assert_msg(strstr(text, "p.cleave: exists already") && !strstr(text, "--resume"), "%s", text);
        free(text);
    }
    expect_output("learned", "cd %s && cleave %s --resume --overwrite", folder, train);
    spill(formatted("%s/p.cleave.checkpoint", folder), "mine", 4);
    expect_error(73, "p.cleave: exists already; --overwrite replaces it, --resume goes on", "cd %s && cleave %s",
                 folder, train);
}

TEST(devices_and_standard_output_may_be_outputs)
{
    const char *folder = make_inputs();
    run_here("cd %s && train() { cleave train --data f.st --passes 1 --seed 1 -o \"$1\"; } && train /dev/null && train "
             "- >a 2>note && train b && tail -c 2000 a >c && tail -c 2000 b | cmp - c",
             folder);
}

TEST(names_too_long_for_outputs_fail_alone_and_up_front)
{
    char name[256]; /* of which its first 250 bytes make a file of that length, and its first 253 no output */
    memset(name, 'n', 253);
    name[253] = 0;
    run_here("mkdir in && cp $SET/images/0001.jpg in/a.jpg && cp in/a.jpg in/%s && cp in/a.jpg in/%.246s.jpg", name,
             name);
    expect_error(73, "the name of its output would have 257 bytes",
                 "cleave segment -m $MODEL in -o out --status s.tsv");
    ck_assert(path_exists(here("out/a.png")) && path_exists(here("out/%.246s.png", name)));
    expect_in_file(here("s.tsv"), "\tfailed\t");
    expect_error(73, "would have 257 bytes", "cleave segment -m $MODEL in -o none --fail-fast");
    ck_assert(!path_exists(here("none")));
}

TEST(names_too_long_for_files_beside_masks_fail_alone_too)
{
    char name[256]; /* a mask's name has 254 bytes, that of its GeoJSON too many */
    memset(name, 'n', 250);
    name[250] = 0;
    run_here("mkdir photos && cp $SET/images/0001.jpg photos/%s.jpg && cp $SET/images/0001.jpg photos/z.jpg", name);
    expect_error(73, "the name of its output would have 258 bytes",
                 "cleave segment -m $MODEL photos -o shapes --export geojson");
    ck_assert(path_exists(here("shapes/geojson/z.geojson")) && !path_exists(here("shapes/%s.png", name)));
}

TEST(images_of_one_stem_keep_their_extensions_and_the_folder_pairs_them_again)
{
    struct clv_set set = {0};
    static const char *const names[] = {"a.jpeg", "a.jpg", "b.jpg", "d/a.jpg"};
    static const char *const masks[] = {"a.jpeg.png", "a.jpg.png", "b.png", "d/a.png"};
    run_here(
        "mkdir -p set/images/d && for n in a.jpg a.jpeg b.jpg d/a.jpg; do cp $SET/images/0001.jpg set/images/$n; done "
        "&& cleave segment -m $MODEL set/images -o set/masks --overlay && mkdir pred && cp -r set/masks pred/all");
    ck_assert_int_eq(count_files(here("set/masks")), 8);
    ck_assert(path_exists(here("set/masks/overlays/a.jpeg.jpg")));
    run_here("rm -r set/masks/overlays");
    must(clv_set_read(&set, here("set"), err));
    ck_assert_uint_eq(set.n_items, 4);
    ck_assert_uint_eq(set.n_lone_masks, 0);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(set.items[i].name, formatted("images/%s", names[i]));
        ck_assert_str_eq(set.items[i].mask, here("set/masks/%s", masks[i]));
    }
    clv_set_release(&set);
    run_here(
        "cleave segment -m $MODEL -d set -o again && diff -r set/masks again && cleave score -d set --pred pred/all");
}

TEST(outputs_that_are_one_all_the_same_are_all_named_and_the_rest_goes_on)
{
    char *text;
    run_here("mkdir in && for n in a.jpg a.jpeg a.jpg.jpeg b.jpg; do cp $SET/images/0001.jpg in/$n; done");
    int code = run_command(&text, "cd $HERE && cleave segment -m $MODEL in -o out -t 1");
    ck_assert_int_eq(code, 73);
    const char *const named[] = {"in/a.jpg: its output out/a.jpg.png", "in/a.jpg.jpeg: its", "2 failed"};
    for (int i = 0; i < 3; i++)
        ck_assert_msg(strstr(text, named[i]) != NULL, "%s: %s", named[i], text);
    free(text);
    ck_assert_int_eq(count_files(here("out")), 2);
    ck_assert(path_exists(here("out/b.png")));
    ck_assert(path_exists(here("out/a.jpeg.png")));
}

TEST(stems_in_different_folders_keep_their_folders)
{
    run_here("mkdir -p d/100 d/101 && cp $SET/images/0001.jpg d/100/IMG_1.jpg && cp $SET/images/0002.jpg "
             "d/101/IMG_1.jpg && cp $SET/images/0003.jpg d/101/IMG_2.jpg");
    run_here("cd d && printf '100/IMG_1.jpg\\n101/IMG_1.jpg\\n101/../101/IMG_2.jpg\\n' | cleave segment -m $MODEL - -o "
             "../out");
    run_here("cleave segment -m $MODEL d/100 $PWD/d/101 -o both && cleave segment -m $MODEL d/100/IMG_1.jpg "
             "d/101/IMG_2.jpg -o flat");
    ck_assert(path_exists(here("out/100/IMG_1.png")));
    ck_assert(path_exists(here("out/101/IMG_2.png")));
    ck_assert_int_eq(count_files(here("out")), 3);
    ck_assert(same_bytes(here("out"), here("both")));
    ck_assert(path_exists(here("flat/IMG_1.png")) && path_exists(here("flat/IMG_2.png")));
}

TEST(every_command_knows_the_short_help)
{
    static const char *const commands[] = {"train",   "segment", "probabilities", "propagate",   "score",    "features",
                                           "inspect", "tag",     "tag train",     "tag predict", "tag score"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        run_here("cleave %s -h | grep -q Usage && test \"$(cleave %s -h)\" = \"$(cleave %s --help)\"", commands[i],
                 commands[i], commands[i]);
}

SETUP_ONCE(sample_setup, NULL)
