/* Whole images per second: `cleave segment` (decode to mask and overlay, 2 threads) compared with OpenCV's grabCut (5
 * iterations, true boxes, its own threads) on the 60 test images of the horses, as processes, in turn.
 *
 * The model is $CLEAVE_BUILD/bench/horse.cleave, trained with the defaults if it is missing or older than the
 * command. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "process.h"

#define ROUNDS 5

/* Rows of the manifest whose split is `split` (the last column). */
static int count_images(const char *manifest, const char *split)
{
    FILE *stream = fopen(manifest, "r");
    char line[4096];
    int n = 0;
    while (stream && fgets(line, sizeof line, stream)) {
        const char *last = strrchr(line, '\t');
        n += last && strncmp(last + 1, split, strlen(split)) == 0;
    }
    if (stream)
        fclose(stream);
    return n;
}

static int is_newer(const char *path, const char *than)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(than, &b) == 0 && a.st_mtime >= b.st_mtime;
}

int main(void)
{
    const char *build = getenv("CLEAVE_BUILD") ? getenv("CLEAVE_BUILD") : "build", *found;
    char cleave[4096], opencv[4096], model[4096], out[4096], reference[4096], log[4096], manifest[4096], boxes[4096];
    snprintf(cleave, sizeof cleave, "%s/cleave", build);
    snprintf(opencv, sizeof opencv, "%s/bench/opencv", build);
    snprintf(model, sizeof model, "%s/bench/horse.cleave", build);
    snprintf(out, sizeof out, "%s/bench/segment.out", build);
    snprintf(reference, sizeof reference, "%s/bench/grabcut.out", build);
    snprintf(log, sizeof log, "%s/bench/segment.log", build);
    if (access(opencv, X_OK) != 0) {
        puts("segment: skipped: OpenCV is absent");
        return 0;
    }
    if (!(found = bench_data("segment", "horses/manifest.tsv")))
        return 0;
    snprintf(manifest, sizeof manifest, "%s", found);
    if (!(found = bench_data("segment", "horses/boxes.tsv")))
        return 0;
    snprintf(boxes, sizeof boxes, "%s", found);

    char *train[] = {cleave,    "train", "--overwrite", "--learner", "ssvm", "--data", manifest,
                     "--split", "train", "--seed",      "1",         "-o",   model,    NULL};
    char *segment[] = {cleave, "segment", "-m",        model,       "--data", manifest,      "--split", "test",
                       "-o",   out,       "--overlay", "--threads", "2",      "--overwrite", NULL};
    char *grabcut[] = {opencv, "grabcut", manifest, boxes, "test", reference, NULL};
    if (!is_newer(model, cleave)) {
        remove(model);
        struct run trained = run_program(train, log);
        if (trained.exit_code) {
            printf("segment: training failed with exit code %d\n", trained.exit_code);
            print_log(log);
            return 1;
        }
        printf("train: horses, 147 images, from images to model in %.0f s (CPU %.0f s)\n", trained.wall, trained.cpu);
    }

    int n = count_images(manifest, "test");
    struct bench_series ours = {0}, theirs = {0}, ours_cpu = {0}, theirs_cpu = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct run a = run_program(segment, log);
        if (a.exit_code) {
            printf("segment: cleave segment failed with exit code %d\n", a.exit_code);
            print_log(log);
            return 1;
        }
        struct run b = run_program(grabcut, log);
        if (b.exit_code) {
            printf("segment: grabCut failed with exit code %d\n", b.exit_code);
            print_log(log);
            return 1;
        }
        bench_add(&ours, n / a.wall);
        bench_add(&theirs, n / b.wall);
        bench_add(&ours_cpu, n / a.cpu);
        bench_add(&theirs_cpu, n / b.cpu);
    }
    remove(log);
    struct bench_summary ratio = bench_ratio(&ours, &theirs), by_cpu = bench_ratio(&ours_cpu, &theirs_cpu);
    printf("segment: %.1fx OpenCV grabCut (%.1f..%.1f), per CPU second %.1fx (%.1f..%.1f); ours %.1f images/s, grabCut "
           "%.1f; %d images, 2 threads, %d rounds\n",
           ratio.median, ratio.low, ratio.high, by_cpu.median, by_cpu.low, by_cpu.high, bench_summarise(ours).median,
           bench_summarise(theirs).median, n, ROUNDS);
    return 0;
}
