/* Every allocation of a command fails in turn: each run ends with the documented status and a message and leaves no
 * output, or does as well as without the failure. Of the requests at one place, with the same three callers, only the
 * first fails, and that once in all commands; with CLEAVE_FAULTS_ALL=1 each request does. Leaks show in builds with
 * SANITIZE=address. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "data/maps/maps.h"
#include "data/small_letters.h"
#include "support/sample.h"
#include "support/support.h"

#define TINY_TRAINING "--words 2 --superpixels 8 --codebook-samples 50 --passes 2 --seed 1"

static char folder[256];

/* A set of 3 images of about 32x24 and a model trained on it. */
static void setup(void)
{
    snprintf(folder, sizeof folder, "%s/alloc", temporary_folder());
    int code = run_command(NULL,
                           "mkdir %s && cd %s && \"$SYNTH\" -n 3 --size 32x24 set && cleave train --data "
                           "set/manifest.tsv --split train -t 1 " TINY_TRAINING
                           " -o m.cleave && cleave segment -m m.cleave --data set/manifest.tsv --split test -o masks",
                           folder, folder);
    ck_assert_msg(code == 0, "cannot make the tiny set (status %d)", code);
}

struct requests {
    size_t *number;
    size_t n;
};

static void remove_outputs(void)
{
    if (path_exists(formatted("%s/made", folder)) || path_exists(formatted("%s/made.checkpoint", folder)))
        run_here("cd %s && rm -rf made made.checkpoint", folder);
}

/* Runs `cleave COMMAND`, whose output is called "made", and calls it "reference". Returns the requests that are to fail,
 * and notes their places in the file "places"; free() them. */
static struct requests make_reference(const char *command)
{
    remove_outputs();
    run_here("cd %s && CLV_COUNT_ALLOCS=count \"$CLEAVE_FAULTS\" %s -t 1 && rm -rf "
             "reference && mv made reference && touch places",
             folder, command);
    OWNED_ARRAY char *known = slurp(formatted("%s/places", folder), NULL);
    FILE *count = fopen(formatted("%s/count", folder), "r"), *places = fopen(formatted("%s/places", folder), "a");
    size_t n, number;
    char place[17];
    ck_assert(count && places && fscanf(count, "%zu", &n) == 1 && n > 20);
    struct requests result = {.number = calloc(n, sizeof(size_t))};
    ck_assert(result.number != NULL);
    if (getenv("CLEAVE_FAULTS_ALL"))
        for (; result.n < n; result.n++)
            result.number[result.n] = result.n + 1;
    else
        while (fscanf(count, "%zu %16s", &number, place) == 2)
            if (!strstr(known, place)) {
                result.number[result.n++] = number;
                fprintf(places, "%s\n", place);
            }
    fclose(count);
    fclose(places);
    return result;
}

/* Absent, or an empty folder, or an empty file (standard output, redirected by the shell). */
static bool holds_nothing(const char *path)
{
    struct stat info;
    if (path_is_folder(path))
        return count_files(path) == 0;
    return stat(path, &info) != 0 || info.st_size == 0;
}

/* A run that succeeds all the same must have made what the run without failures made. */
static void fail_each_place(const char *command)
{
    const struct requests requests = make_reference(command);
    size_t n_failed = 0;
    for (size_t i = 0; i < requests.n; i++) {
        const size_t request = requests.number[i];
        OWNED_ARRAY char *output = NULL;
        remove_outputs();
        int code = run_command(&output, "cd %s && CLV_FAIL_ALLOC=%zu exec \"$CLEAVE_FAULTS\" %s -t 1", folder, request,
                               command);
        const char *made = formatted("%s/made", folder);
        if (code == 0) {
            ck_assert_msg(same_bytes(made, formatted("%s/reference", folder)), "%s: request %zu changes the result",
                          command, request);
        } else {
            ck_assert_msg(code == 71, "%s: request %zu: exits with %d: %s", command, request, code, output);
            ck_assert_msg(strstr(output, "cleave: ") && strstr(output, "out of memory"), "%s: request %zu: %s", command,
                          request, output);
            ck_assert_msg(holds_nothing(made), "%s: request %zu leaves an output", command, request);
            n_failed++;
        }
    }
    free(requests.number);
    remove_outputs();
    ck_assert_msg(n_failed >= requests.n / 2, "%s: only %zu of %zu requests mattered", command, n_failed, requests.n);
    OWNED_ARRAY char *temporaries = expect_success("find %s -name '*.tmp' -o -name '*.features'", folder);
    ck_assert_str_eq(temporaries, "");
}

TEST(training_survives_every_failed_allocation)
{
    fail_each_place("train --data set/manifest.tsv --split train " TINY_TRAINING " -o made");
    fail_each_place("train --data set/manifest.tsv --split train --validate test " TINY_TRAINING " -o made");
}

TEST(letters_survive_every_failed_allocation)
{
    write_letters(formatted("%s/l", folder), 12, 2, 0.2, 1);
    run_here("cd %s && gzip -f l && cleave import letters l.gz -o words && cleave train --data words --passes 2 -t 1 "
             "-o letters",
             folder);
    fail_each_place("import letters l.gz --folds 0 -o made");
    fail_each_place("train --data words --learner mpmap --passes 2 -o made");
    fail_each_place("train --data words --passes 2 --cv 2 -o made");
    fail_each_place("train --data words --learner crf --passes 2 --init letters -o made");
    fail_each_place("score -m letters --data words --json >made");
}

TEST(features_by_vlfeat_survive_every_failed_allocation)
{
    fail_each_place("features --data set/manifest.tsv --sift vlfeat --kmeans vlfeat --kernel-map chi2 --blocks "
                    "words,colour,hog --words 2 --superpixels 8 --codebook-samples 50 --seed 1 -o made");
}

TEST(segmenting_survives_every_failed_allocation)
{
    fail_each_place("segment -m m.cleave --data set/manifest.tsv --split test --refine -o made");
}

TEST(patches_survive_every_failed_allocation)
{
    static const char labels[] = "value\tname\tred\tgreen\tblue\n0\ta\t0\t0\t0\n1\tb\t9\t9\t9\n2\tc\t99\t9\t9\n";
    run_here("cd %s && cp -r set many", folder);
    spill(formatted("%s/many/labels.tsv", folder), labels, strlen(labels));
    fail_each_place("train --data many/manifest.tsv --split train --learner mssvm --nodes patches --patch-size 10 "
                    "--patch-step 8 --words 2 --codebook-samples 50 --passes 1 --seed 1 -o made");
    run_here("cd %s && cp reference p.cleave", folder);
    fail_each_place("segment -m p.cleave --data many/manifest.tsv --split test --refine -o made");
}

TEST(cutting_boxes_survives_every_failed_allocation)
{
    fail_each_place("segment --data set/manifest.tsv --split test --boxes set/boxes.tsv -o made");
    run_here("cd %s && mkdir -p voc && printf "
             "'<annotation><filename>0003.jpg</filename><object><name>a</name><bndbox><xmin>3</xmin><ymin>3</"
             "ymin><xmax>20</xmax><ymax>20</ymax></bndbox></object></annotation>' >voc/3.xml && printf "
             "'{\"shapes\":[{\"label\":\"a\",\"points\":[[2,2],[20,20]],\"shape_type\":\"rectangle\"}],\"imagePath\":"
             "\"0003.jpg\"}' >labelme.json",
             folder);
    fail_each_place("segment --data set/manifest.tsv --split test --boxes voc -o made");
    fail_each_place("segment --data set/manifest.tsv --split test --boxes labelme.json -o made");
}

TEST(importing_voc_survives_every_failed_allocation)
{
    run_here("cd %s && mkdir -p v/SegmentationObject && cp -r set/images v/JPEGImages && cp -r set/masks "
             "v/SegmentationClass && cp set/masks/* v/SegmentationObject",
             folder);
    fail_each_place("import voc v -o made");
}

TEST(importing_masks_survives_every_failed_allocation)
{
    fail_each_place("import masks set/masks --images set/images -o made");
}

TEST(each_learner_survives_every_failed_allocation)
{
    static const char *const learners[] = {"ssvm", "perceptron", "subgradient", "independent", "wmpmap", "lapmedn",
                                           "m3e",  "modlat",     "lssvm",       "hcrf",        "eps",    "crf"};
    run_here("cd %s && cleave features set/manifest.tsv --split train --words 2 --superpixels 8 --codebook-samples 50 "
             "--seed 1 -o pixels",
             folder);
    for (size_t i = 0; i < sizeof learners / sizeof *learners; i++) {
        char command[100];
        snprintf(command, sizeof command, "train pixels --learner %s --passes 1 -o made", learners[i]);
        fail_each_place(command);
    }
}

TEST(weak_training_survives_every_failed_allocation)
{
    fail_each_place("train set/manifest.tsv " TINY_TRAINING
                    " --learner wmpmap --boxes set/boxes.tsv --weak-split test -o made");
    fail_each_place("train set/manifest.tsv " TINY_TRAINING " --learner mssvm --unlabelled-split test -o made");
}

TEST(pixel_networks_survive_every_failed_allocation)
{
    run_here("cd %s && \"$SYNTH\" -n 6 --size 32x24 six && cleave train six -t 1 " TINY_TRAINING
             " --pixel-net -o n.cleave",
             folder);
    fail_each_place("train six " TINY_TRAINING " --pixel-net -o made");
    fail_each_place("segment -m n.cleave six/images/0001.jpg -o made");
}

TEST(maps_survive_every_failed_allocation)
{
    enum { N_CHANNELS = 2, SIDE = 4 };
    static float values[N_CHANNELS * SIDE * SIDE] = {1, 2};
    run_here("cd %s && mkdir maps", folder);
    for (int k = 1; k <= 3; k++)
        must(npy_write_numbers(formatted("%s/maps/%04d.npy", folder, k), values, N_CHANNELS, SIDE, SIDE, err));
    fail_each_place("train set/manifest.tsv --split train --maps net=maps " TINY_TRAINING " -o made");
}

TEST(scores_survive_every_failed_allocation)
{
    fail_each_place("score set masks --split test --border-width 2 --json >made");
    fail_each_place("score set masks --split test -m m.cleave --per-image >made");
    fail_each_place("inspect m.cleave --json >made");
}

TEST(tags_survive_every_failed_allocation)
{
    static const char *const learners[] = {
        "lmsbn --cv 2", "lmsbn --kernel rbf --lambda 1", "lmbm", "tsbc", "ssvm-chain", "ssvm-full"};
    static const char tagged[] = "0,1 1:0.5 2:1\n1 1:-1 2:.5\n0 2:1\n 1:.1\n0,1 1:.7\n";
    spill(formatted("%s/tagged", folder), tagged, strlen(tagged));
    for (size_t i = 0; i < sizeof learners / sizeof *learners; i++) {
        char command[100];
        snprintf(command, sizeof command, "tag train tagged --passes 3 --learner %s -o made", learners[i]);
        fail_each_place(command);
        run_here("cd %s && mv reference t.cleave", folder);
        fail_each_place("tag predict -m t.cleave tagged -o made");
    }
    fail_each_place("tag score -m t.cleave tagged >made");
    run_here("cd %s && awk '{print $0 (NR == 1 ? \"\\ttags\" : NR == 2 ? \"\\ta\" : \"\\ta,b\")}' set/manifest.tsv "
             ">set/tagged.tsv",
             folder);
    fail_each_place("tag train set/tagged.tsv --lambda 1 --passes 3 -o made");
    run_here("cd %s && mv reference t.cleave", folder);
    fail_each_place("tag predict -m t.cleave set/images --report page --overwrite -o made");
}

TEST(importing_outlines_survives_every_failed_allocation)
{
    run_here("cd %s && cleave segment --from-masks set --export coco,labelme,yolo -o drawn", folder);
    fail_each_place("import coco drawn/coco.json --images set/images -o made");
    fail_each_place("import labelme drawn/labelme --images set/images -o made");
    fail_each_place("import yolo drawn/yolo --images set/images -o made");
}

TEST(marginals_survive_every_failed_allocation)
{
    fail_each_place("probabilities -m m.cleave --data set/manifest.tsv --split test --samples 20 -o made");
    /* The map may be there already when the document fails. */
    fail_each_place(
        "probabilities -m m.cleave --data set/manifest.tsv --split test --samples 20 -o maps --overwrite --json "
        ">made");
}

TEST(overlays_and_reports_survive_every_failed_allocation)
{
    /* The mask and the overlay may be there already when the report fails; the page may not. */
    fail_each_place("segment -m m.cleave --data set/manifest.tsv --split test -o masks --resume --report made");
}

/* After each failed run, the same command with --resume makes what the run without failures made. */
static void resume_after_each_failure(const char *command)
{
    const struct requests requests = make_reference(command);
    size_t n_failed = 0;
    for (size_t i = 0; i < requests.n; i++) {
        const size_t request = requests.number[i];
        OWNED_ARRAY char *output = NULL;
        remove_outputs();
        int code = run_command(&output, "cd %s && CLV_FAIL_ALLOC=%zu exec \"$CLEAVE_FAULTS\" %s -t 1", folder, request,
                               command);
        ck_assert_msg(code == 0 || (code == 71 && strstr(output, "out of memory")), "%s: request %zu: %d: %s", command,
                      request, code, output);
        if (code)
            run_here("cd %s && \"$CLEAVE\" %s -q -t 1 --resume", folder, command);
        ck_assert_msg(same_bytes(formatted("%s/made", folder), formatted("%s/reference", folder)),
                      "%s: request %zu changes the result", command, request);
        n_failed += code != 0;
    }
    free(requests.number);
    remove_outputs();
    ck_assert_msg(n_failed >= requests.n / 2, "%s: only %zu of %zu requests mattered", command, n_failed, requests.n);
}

TEST(slices_survive_every_failed_allocation)
{
    run_here(
        "cd %s && mkdir -p slices/images slices/masks && for n in 0 1 2; do cp set/images/0001.jpg "
        "slices/images/$n.jpg && cp set/masks/0001.png slices/masks/$n.png; done && cleave train slices --sequence "
        "-t 1 " TINY_TRAINING " -o s.cleave",
        folder);
    fail_each_place("train slices --sequence " TINY_TRAINING " -o made");
    resume_after_each_failure("segment -m s.cleave slices/images --sequence -o made");
}

TEST(objects_survive_every_failed_allocation)
{
    run_here("cd %s && mkdir objects && cp -r set/images set/masks objects && cp -r set/masks objects/instances",
             folder);
    fail_each_place("train objects " TINY_TRAINING " -o made");
    run_here("cd %s && mv reference o.cleave", folder);
    resume_after_each_failure("segment -m o.cleave set/images --objects -o made");
}

#define BESIDE "--overlay --cutout --objects --export coco,labelme,voc,yolo,geojson"

TEST(each_way_of_labelling_with_all_outputs_is_resumed_after_every_failed_allocation)
{
    resume_after_each_failure("segment -m m.cleave --data set/manifest.tsv --split test " BESIDE " -o made");
    resume_after_each_failure("segment --data set/manifest.tsv --boxes 3,3,20,12 " BESIDE " -o made");
    resume_after_each_failure("segment --from-masks set " BESIDE " -o made");
    run_here("cd %s && mkdir -p video/images video/masks && for n in 0 1 2; do cp set/images/0001.jpg "
             "video/images/$n.jpg; done && cp set/masks/0001.png video/masks/0.png",
             folder);
    resume_after_each_failure("propagate video " BESIDE " -o made");
}

TEST(scoring_survives_every_failed_allocation)
{
    fail_each_place("score -m m.cleave --data set/manifest.tsv --split test --pred masks --json >made");
    fail_each_place("score --data set/manifest.tsv --split test --pred masks --csv >made");
}

TEST(feature_files_survive_every_failed_allocation)
{
    fail_each_place("features --data set/manifest.tsv --split test -m m.cleave -o made");
}

TEST(annotating_survives_every_failed_allocation)
{
    static const char svm[] = "0,2 1:1 3:0.5\n1 2:1\n0 1:0.9\n1,2 2:0.8 3:0.1\n0 1:0.7 2:0.1\n1 2:1 3:0.2\n";
    spill(formatted("%s/t.svm", folder), svm, sizeof svm - 1);
    run_here("cd %s && cleave tag train --data t.svm --lambda 0.1 -q -o tags", folder);
    fail_each_place("tag train --data t.svm --kernel rbf --order-by f --cv 2 --cv-repeats 1 --cv-lambda 0.1 "
                    "--cv-gamma 1 --normalise -o made");
    fail_each_place("tag train --data t.svm --learner tsbc --lambda 0.1 -o made");
    fail_each_place("tag train --data t.svm --learner ssvm-chain --lambda 0.1 --passes 3 -o made");
    fail_each_place("tag predict -m tags --data t.svm --json -o made");
    fail_each_place("tag score -m tags --data t.svm --json >made");
}

SETUP_ONCE(setup, NULL)
