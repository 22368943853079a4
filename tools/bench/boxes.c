/* Box to cut: `cleave segment --boxes` (2 threads) against OpenCV's grabCut (5 iterations, the same boxes, its own
 * threads) on the 100 objects of boxes-berkeley, tight boxes and boxes a tenth wider on each side, as processes, taking
 * turns: intersection over union and weighted Hamming loss, means over objects, and images a second. */
#include <string.h>
#include <unistd.h>

#include "cleave.h"
#include "process.h"

#define ROUNDS 2
#define WIDER  0.1

static char cleave[4096], opencv[4096], table[4096], manifest[4096], root[4096], ours[4096], theirs[4096],
    log_file[4096];

struct quality {
    double iou, weighted_hamming; /* sums */
    int n;
};

/* One object's prediction; 0 if there is none. */
static int score_one(struct quality *quality, const char *folder, const struct clv_box *box,
                     const struct clv_labels *labels)
{
    char path[8300], truth_path[8300];
    const char *name = strrchr(box->mask, '/');
    struct clv_mask truth = {0}, prediction = {0};
    struct clv_confusion confusion;
    struct clv_error error;
    snprintf(path, sizeof path, "%s/%s", folder, name ? name + 1 : box->mask);
    snprintf(truth_path, sizeof truth_path, "%s/%s", root, box->mask);
    if (access(path, R_OK) != 0)
        return 0;
    if (clv_mask_read(&truth, truth_path, labels, 0, 0, NULL, &error) ||
        clv_mask_read(&prediction, path, labels, truth.width, truth.height, NULL, &error) ||
        clv_confusion_init(&confusion, 2, &error)) {
        fprintf(stderr, "boxes: %s\n", error.message);
        exit(1);
    }
    clv_confusion_add(&confusion, truth.labels, prediction.labels, (size_t)truth.width * (size_t)truth.height);
    quality->iou += clv_confusion_iou(&confusion, 1);
    quality->weighted_hamming += clv_confusion_score(&confusion).weighted_hamming;
    quality->n++;
    clv_confusion_release(&confusion);
    clv_mask_release(&truth);
    clv_mask_release(&prediction);
    return 1;
}

/* Of ours on everything, of both where grabCut has a mask. */
static void score_all(struct quality quality[3], const struct clv_boxes *boxes)
{
    struct clv_labels labels = {0};
    struct clv_error error;
    if (clv_labels_binary(&labels, &error))
        exit(1);
    for (size_t i = 0; i < boxes->n_images; i++)
        for (size_t k = 0; k < boxes->images[i].n_boxes; k++) {
            const struct clv_box *box = &boxes->images[i].boxes[k];
            score_one(&quality[0], ours, box, &labels);
            if (score_one(&quality[2], theirs, box, &labels))
                score_one(&quality[1], ours, box, &labels);
        }
    clv_labels_release(&labels);
}

static void write_wider(const char *path, const struct clv_boxes *boxes, double wider)
{
    FILE *stream = fopen(path, "w");
    if (!stream)
        exit(1);
    fputs("image\tmask\tx\ty\tw\th\n", stream);
    for (size_t i = 0; i < boxes->n_images; i++)
        for (size_t k = 0; k < boxes->images[i].n_boxes; k++) {
            const struct clv_box *box = &boxes->images[i].boxes[k];
            double dx = (int)(wider * box->width + 0.5), dy = (int)(wider * box->height + 0.5);
            fprintf(stream, "%s\t%s\t%g\t%g\t%g\t%g\n", boxes->images[i].image, box->mask, box->x - dx, box->y - dy,
                    box->width + 2 * dx, box->height + 2 * dy);
        }
    if (fclose(stream))
        exit(1);
}

/* Runs both on boxes wider by that share, in turns, and prints a line. */
static int compare(const struct clv_boxes *boxes, double wider, int n_rounds)
{
    char own_table[8200], share[32];
    snprintf(own_table, sizeof own_table, "%s.tsv", ours);
    snprintf(share, sizeof share, "%g", wider);
    write_wider(own_table, boxes, wider);
    char *a[] = {cleave, "segment", "--data", manifest, "--boxes",     own_table, "-o",
                 ours,   "-t",      "2",      "-q",     "--overwrite", NULL};
    char *b[] = {opencv, "boxes", table, share, theirs, NULL};
    struct bench_series wall[2] = {0}, cpu[2] = {0};
    int n = 0, n_failed = 0;
    for (int round = 0; round < n_rounds; round++) {
        struct run own = run_program(a, log_file), other = {0};
        if (!own.exit_code)
            other = run_program(b, log_file);
        FILE *stream = fopen(log_file, "r");
        if (own.exit_code || other.exit_code || !stream || fscanf(stream, "%d %d", &n, &n_failed) != 2) {
            printf("boxes: %s failed\n", own.exit_code ? "cleave segment" : "grabCut");
            print_log(log_file);
            return 1;
        }
        fclose(stream);
        bench_add(&wall[0], other.wall);
        bench_add(&wall[1], own.wall);
        bench_add(&cpu[0], other.cpu);
        bench_add(&cpu[1], own.cpu);
    }
    struct quality q[3] = {0};
    score_all(q, boxes);
    struct bench_summary ratio = bench_ratio(&wall[0], &wall[1]), by_cpu = bench_ratio(&cpu[0], &cpu[1]);
    printf(
        "boxes, %s: %.1fx OpenCV grabCut's images/s (%.1f..%.1f), per CPU second %.1fx (%.3f s against %.3f s an "
        "image); "
        "IoU %.4f, weighted Hamming %.2f %% on %d objects; where grabCut answers (%d, %d failed): ours %.4f, %.2f %%, "
        "grabCut %.4f, %.2f %%; %d rounds\n",
        wider > 0 ? "a tenth wider" : "tight", ratio.median, ratio.low, ratio.high, by_cpu.median,
        bench_summarise(cpu[1]).median / q[0].n, bench_summarise(cpu[0]).median / (n + n_failed), q[0].iou / q[0].n,
        100 * q[0].weighted_hamming / q[0].n, q[0].n, n, n_failed, q[1].iou / q[1].n,
        100 * q[1].weighted_hamming / q[1].n, q[2].iou / q[2].n, 100 * q[2].weighted_hamming / q[2].n, n_rounds);
    return 0;
}

int main(void)
{
    const char *build = getenv("CLEAVE_BUILD") ? getenv("CLEAVE_BUILD") : "build", *found;
    struct clv_boxes boxes = {0};
    struct clv_error error;
    snprintf(cleave, sizeof cleave, "%s/cleave", build);
    snprintf(opencv, sizeof opencv, "%s/bench/opencv", build);
    snprintf(log_file, sizeof log_file, "%s/bench/boxes.log", build);
    if (access(opencv, X_OK) != 0) {
        puts("boxes: skipped: OpenCV is absent");
        return 0;
    }
    if (!(found = bench_data("boxes", "boxes-berkeley/boxes.tsv")))
        return 0;
    snprintf(table, sizeof table, "%s", found);
    snprintf(root, sizeof root, "%.*s", (int)(strrchr(table, '/') - table), table);
    snprintf(manifest, sizeof manifest, "%.4000s/manifest.tsv", root);
    if (clv_boxes_read(&boxes, table, &error)) {
        fprintf(stderr, "boxes: %s\n", error.message);
        return 1;
    }
    int failed = 0;
    for (int wide = 0; wide < 2; wide++) {
        snprintf(ours, sizeof ours, "%.4000s/bench/boxes%d.ours", build, wide);
        snprintf(theirs, sizeof theirs, "%.4000s/bench/boxes%d.grabcut", build, wide);
        failed |= compare(&boxes, wide ? WIDER : 0, ROUNDS);
    }
    clv_boxes_release(&boxes);
    remove(log_file);
    return failed;
}
