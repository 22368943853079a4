/* Every allocation failed in turn, over the commands that read and write files: each run ends with the documented
 * status and a message and leaves no output, or does as well as without the failure. make check takes a sample of the
 * requests; CLEAVE_FAULTS_ALL=1 takes all. Leaks show in builds with SANITIZE=address. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
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

static size_t count_requests(const char *command)
{
    run_here("cd %s && rm -rf made made.checkpoint && CLV_COUNT_ALLOCS=count \"$CLEAVE_FAULTS\" %s -t 1", folder,
             command);
    OWNED_ARRAY char *text = slurp(formatted("%s/count", folder), NULL);
    return strtoul(text, NULL, 10);
}

/* Absent, or an empty folder, or an empty file (standard output, redirected by the shell). */
static bool holds_nothing(const char *path)
{
    struct stat info;
    if (path_is_folder(path))
        return count_files(path) == 0;
    return stat(path, &info) != 0 || info.st_size == 0;
}

/* Runs `cleave COMMAND`, whose output is called "made", with each (or every step-th) request failing. A run that
 * succeeds all the same must have made what the run without failures made. */
static void fail_each_request(const char *command, size_t step)
{
    size_t n = count_requests(command), n_failed = 0;
    run_here("cd %s && rm -rf reference && mv made reference", folder);
    ck_assert_uint_gt(n, 50);
    if (getenv("CLEAVE_FAULTS_ALL"))
        step = 1;
    for (size_t request = 1; request <= n; request += step) {
        OWNED_ARRAY char *output = NULL;
        int code = run_command(
            &output, "cd %s && rm -rf made made.checkpoint && CLV_FAIL_ALLOC=%zu exec \"$CLEAVE_FAULTS\" %s -t 1",
            folder, request, command);
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
    run_here("cd %s && rm -rf made made.checkpoint", folder);
    ck_assert_msg(n_failed * step > n / 2, "%s: only %zu of %zu requests mattered", command, n_failed, n);
    OWNED_ARRAY char *temporaries = expect_success("find %s -name '*.tmp' -o -name '*.features'", folder);
    ck_assert_str_eq(temporaries, "");
}

TEST(training_survives_every_failed_allocation)
{
    fail_each_request("train --data set/manifest.tsv --split train " TINY_TRAINING " -o made", 13);
    fail_each_request("train --data set/manifest.tsv --split train --validate test " TINY_TRAINING " -o made", 41);
}

TEST(letters_survive_every_failed_allocation)
{
    write_letters(formatted("%s/l", folder), 12, 2, 0.2, 1);
    run_here("cd %s && gzip -f l && cleave import letters l.gz -o words && cleave train --data words --passes 2 -t 1 "
             "-o letters",
             folder);
    fail_each_request("import letters l.gz --folds 0 -o made", 17);
    fail_each_request("train --data words --learner mpmap --passes 2 -o made", 17);
    fail_each_request("train --data words --passes 2 --cv 2 -o made", 17);
    fail_each_request("train --data words --learner crf --passes 2 --init letters -o made", 17);
    fail_each_request("score -m letters --data words --json >made", 17);
}

TEST(features_by_vlfeat_survive_every_failed_allocation)
{
    fail_each_request("features --data set/manifest.tsv --sift vlfeat --kmeans vlfeat --kernel-map chi2 --blocks "
                      "words,colour,hog --words 2 --superpixels 8 --codebook-samples 50 --seed 1 -o made",
                      11);
}

TEST(segmenting_survives_every_failed_allocation)
{
    fail_each_request("segment -m m.cleave --data set/manifest.tsv --split test --refine -o made", 13);
}

TEST(patches_survive_every_failed_allocation)
{
    static const char labels[] = "value\tname\tred\tgreen\tblue\n0\ta\t0\t0\t0\n1\tb\t9\t9\t9\n2\tc\t99\t9\t9\n";
    run_here("cd %s && cp -r set many", folder);
    spill(formatted("%s/many/labels.tsv", folder), labels, strlen(labels));
    fail_each_request("train --data many/manifest.tsv --split train --learner mssvm --nodes patches --patch-size 10 "
                      "--patch-step 8 --words 2 --codebook-samples 50 --passes 1 --seed 1 -o made",
                      17);
    run_here("cd %s && cp reference p.cleave", folder);
    fail_each_request("segment -m p.cleave --data many/manifest.tsv --split test --refine -o made", 17);
}

TEST(cutting_boxes_survives_every_failed_allocation)
{
    fail_each_request("segment --data set/manifest.tsv --split test --boxes set/boxes.tsv -o made", 13);
    run_here("cd %s && mkdir -p voc && printf "
             "'<annotation><filename>0003.jpg</filename><object><name>a</name><bndbox><xmin>3</xmin><ymin>3</"
             "ymin><xmax>20</xmax><ymax>20</ymax></bndbox></object></annotation>' >voc/3.xml && printf "
             "'{\"shapes\":[{\"label\":\"a\",\"points\":[[2,2],[20,20]],\"shape_type\":\"rectangle\"}],\"imagePath\":"
             "\"0003.jpg\"}' >labelme.json",
             folder);
    fail_each_request("segment --data set/manifest.tsv --split test --boxes voc -o made", 13);
    fail_each_request("segment --data set/manifest.tsv --split test --boxes labelme.json -o made", 13);
}

TEST(importing_voc_survives_every_failed_allocation)
{
    run_here("cd %s && mkdir -p v/SegmentationObject && cp -r set/images v/JPEGImages && cp -r set/masks "
             "v/SegmentationClass && cp set/masks/* v/SegmentationObject",
             folder);
    fail_each_request("import voc v -o made", 2);
}

TEST(importing_masks_survives_every_failed_allocation)
{
    fail_each_request("import masks set/masks --images set/images -o made", 2);
}

TEST(marginals_survive_every_failed_allocation)
{
    fail_each_request("probabilities -m m.cleave --data set/manifest.tsv --split test --samples 20 -o made", 13);
    /* The map may be there already when the document fails. */
    fail_each_request(
        "probabilities -m m.cleave --data set/manifest.tsv --split test --samples 20 -o maps --overwrite --json "
        ">made",
        13);
}

TEST(overlays_and_reports_survive_every_failed_allocation)
{
    /* The mask and the overlay may be there already when the report fails; the page may not. */
    fail_each_request("segment -m m.cleave --data set/manifest.tsv --split test -o masks --resume --report made", 13);
}

/* Runs `cleave COMMAND`, which writes several files, with every step-th request failing, and then again with --resume:
 * that must make what the run without failures made, whatever is there. */
static void resume_after_each_failure(const char *command, size_t step)
{
    const size_t n = count_requests(command);
    size_t n_failed = 0;
    run_here("cd %s && rm -rf reference && mv made reference", folder);
    if (getenv("CLEAVE_FAULTS_ALL"))
        step = 1;
    for (size_t request = 1; request <= n; request += step) {
        OWNED_ARRAY char *output = NULL;
        int code = run_command(&output, "cd %s && rm -rf made && CLV_FAIL_ALLOC=%zu exec \"$CLEAVE_FAULTS\" %s -t 1",
                               folder, request, command);
        ck_assert_msg(code == 0 || (code == 71 && strstr(output, "out of memory")), "%s: request %zu: %d: %s", command,
                      request, code, output);
        if (code)
            run_here("cd %s && \"$CLEAVE\" %s -q -t 1 --resume", folder, command);
        ck_assert_msg(same_bytes(formatted("%s/made", folder), formatted("%s/reference", folder)),
                      "%s: request %zu changes the result", command, request);
        n_failed += code != 0;
    }
    run_here("cd %s && rm -rf made", folder);
    ck_assert_msg(n_failed * step > n / 2, "%s: only %zu of %zu requests mattered", command, n_failed, n);
}

#define BESIDE "--overlay --cutout --objects --export coco,labelme,voc,yolo,geojson"

TEST(each_way_of_labelling_with_all_outputs_is_resumed_after_every_failed_allocation)
{
    resume_after_each_failure("segment -m m.cleave --data set/manifest.tsv --split test " BESIDE " -o made", 41);
    resume_after_each_failure("segment --data set/manifest.tsv --boxes 3,3,20,12 " BESIDE " -o made", 71);
    resume_after_each_failure("segment --from-masks set " BESIDE " -o made", 41);
    run_here("cd %s && mkdir -p video/images video/masks && for n in 0 1 2; do cp set/images/0001.jpg "
             "video/images/$n.jpg; done && cp set/masks/0001.png video/masks/0.png",
             folder);
    resume_after_each_failure("propagate video " BESIDE " -o made", 41);
}

TEST(scoring_survives_every_failed_allocation)
{
    fail_each_request("score -m m.cleave --data set/manifest.tsv --split test --pred masks --json >made", 17);
    fail_each_request("score --data set/manifest.tsv --split test --pred masks --csv >made", 1);
}

TEST(feature_files_survive_every_failed_allocation)
{
    fail_each_request("features --data set/manifest.tsv --split test -m m.cleave -o made", 17);
}

TEST(annotating_survives_every_failed_allocation)
{
    static const char svm[] = "0,2 1:1 3:0.5\n1 2:1\n0 1:0.9\n1,2 2:0.8 3:0.1\n0 1:0.7 2:0.1\n1 2:1 3:0.2\n";
    spill(formatted("%s/t.svm", folder), svm, sizeof svm - 1);
    run_here("cd %s && cleave tag train --data t.svm --lambda 0.1 -q -o tags", folder);
    fail_each_request("tag train --data t.svm --kernel rbf --order-by f --cv 2 --cv-repeats 1 --cv-lambda 0.1 "
                      "--cv-gamma 1 --normalise -o made",
                      5);
    fail_each_request("tag train --data t.svm --learner tsbc --lambda 0.1 -o made", 13);
    fail_each_request("tag train --data t.svm --learner ssvm-chain --lambda 0.1 --passes 3 -o made", 17);
    fail_each_request("tag predict -m tags --data t.svm --json -o made", 5);
    fail_each_request("tag score -m tags --data t.svm --json >made", 5);
}

SETUP_ONCE(setup, NULL)
