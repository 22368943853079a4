/* Box segmentation (clv_box_cut) compared with OpenCV's grabCut (5 iterations, the same boxes): objects of Berkeley, of
 * the horses' test split and of MSRC's validation split, in boxes of five kinds (box_objects.h). Mean intersection over
 * union, mean fraction of wrong pixels in the box, CPU seconds per object of each algorithm alone.
 *
 *     build/bench/boxes [--set NAME] [--every N] [--ours | --reuse]
 *
 * --set: one of berkeley, unseen (those of Berkeley's from which no weight of clv_box_cut was learned), horses, msrc.
 * --every: each Nth object only. --ours: without grabCut. --reuse: use grabCut's masks of an earlier run. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "box_objects.h"
#include "cleave.h"
#include "process.h"

#define N_THREADS 2

static const struct {
    const char *name, *folder, *split;
    bool only_unseen; /* photos of Berkeley's that no weight was learned from */
} sets[] = {
    {"berkeley", "boxes-berkeley", "", false},
    {"unseen", "boxes-berkeley", "", true},
    {"horses", "horses", "test", false},
    {"msrc", "msrc21", "validation", false},
};

enum peer { GRABCUT, GRABCUT_BEFORE, NO_PEER };

/* One set, one kind of boxes. */
struct cell {
    const struct box_object *objects;
    size_t n, every;
    enum box_kind kind;
    const char *masks; /* grabCut's folder */
    struct box_quality *ours, *theirs;
    bool *has_answer; /* of grabCut */
    double *seconds;
};

static enum clv_status judge(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct cell *cell = context;
    const struct box_object *object = &cell->objects[index * cell->every];
    struct clv_pixel_box pixels = box_of_kind(object, cell->kind);
    struct clv_box box = {.x = pixels.first_x,
                          .y = pixels.first_y,
                          .width = pixels.end_x - pixels.first_x,
                          .height = pixels.end_y - pixels.first_y};
    struct clv_image image = {0};
    struct clv_indexed_image mask = {0};
    char path[8300];
    uint8_t *labels = malloc((size_t)object->width * (size_t)object->height);
    enum clv_status status = labels ? clv_image_read(&image, object->image, NULL, err) : CLV_ERR_MEMORY;
    double begin = bench_cpu();
    if (status == CLV_OK)
        status = clv_box_cut(labels, NULL, &image, &box, NULL, err);
    cell->seconds[index] = bench_cpu() - begin;
    if (status == CLV_OK)
        cell->ours[index] = box_judge(object, pixels, labels);
    snprintf(path, sizeof path, "%s/%s.png", cell->masks, object->name);
    cell->has_answer[index] = access(path, R_OK) == 0;
    if (status == CLV_OK && cell->has_answer[index] &&
        (status = clv_indexed_image_read(&mask, path, NULL, err)) == CLV_OK)
        cell->theirs[index] = box_judge(object, pixels, mask.values);
    clv_indexed_image_release(&mask);
    clv_image_release(&image);
    free(labels);
    return status;
}

/* Sums of one side, where grabCut answers or everywhere. */
static struct box_quality average(const struct cell *cell, const struct box_quality *qualities, bool only_answered)
{
    struct box_quality sum = {0, 0};
    double n = 0;
    for (size_t i = 0; i < cell->n; i++)
        if (!only_answered || cell->has_answer[i]) {
            sum.iou += qualities[i].iou;
            sum.wrong += qualities[i].wrong;
            n++;
        }
    return n > 0 ? (struct box_quality){sum.iou / n, 100 * sum.wrong / n} : sum;
}

static void report(const struct cell *cell, const char *set, int n_answers, double peer_seconds)
{
    struct box_quality all = average(cell, cell->ours, false), ours = average(cell, cell->ours, true),
                       theirs = average(cell, cell->theirs, true);
    double seconds = 0;
    for (size_t i = 0; i < cell->n; i++)
        seconds += cell->seconds[i] / (double)cell->n;
    printf("boxes, %s, %s: IoU %.4f, %.2f %% wrong in the box, %.3f s on %zu objects", set, box_kind_names[cell->kind],
           all.iou, all.wrong, seconds, cell->n);
    if (n_answers > 0)
        printf("; on the %d that grabCut answers: ours %.4f, %.2f %%, grabCut %.4f, %.2f %%", n_answers, ours.iou,
               ours.wrong, theirs.iou, theirs.wrong);
    if (peer_seconds > 0)
        printf(", %.3f s (%.1f times)", peer_seconds / n_answers, peer_seconds / n_answers / seconds);
    puts("");
    fflush(stdout);
}

/* grabCut on the cell's boxes: the CPU seconds that it took, 0 if its masks are there already. */
static double run_peer(const struct cell *cell, const char *opencv)
{
    char table[8300], log_file[8300], folder[8300];
    int n = 0, n_failed = 0;
    double seconds = 0;
    snprintf(table, sizeof table, "%s.tsv", cell->masks);
    snprintf(log_file, sizeof log_file, "%s.log", cell->masks);
    snprintf(folder, sizeof folder, "%s", cell->masks);
    FILE *stream = fopen(table, "w");
    if (!stream)
        exit(1);
    fputs("image\tname\tx\ty\tw\th\n", stream);
    for (size_t i = 0; i < cell->n; i++) {
        const struct box_object *object = &cell->objects[i * cell->every];
        struct clv_pixel_box box = box_of_kind(object, cell->kind);
        char path[8300];
        snprintf(path, sizeof path, "%s/%s.png", cell->masks, object->name);
        remove(path);
        fprintf(stream, "%s\t%s\t%d\t%d\t%d\t%d\n", object->image, object->name, box.first_x, box.first_y,
                box.end_x - box.first_x, box.end_y - box.first_y);
    }
    if (fclose(stream))
        exit(1);
    char *arguments[] = {(char *)opencv, "boxes", table, folder, NULL};
    struct run run = run_program(arguments, log_file);
    stream = fopen(log_file, "r");
    if (run.exit_code || !stream || fscanf(stream, "%d %d %lf", &n, &n_failed, &seconds) != 3) {
        puts("boxes: grabCut failed");
        print_log(log_file);
        exit(1);
    }
    fclose(stream);
    remove(table);
    remove(log_file);
    return seconds;
}

static void compare(const struct box_objects *objects, size_t set, size_t every, enum peer peer)
{
    const char *build = getenv("CLEAVE_BUILD") ? getenv("CLEAVE_BUILD") : "build";
    char opencv[4096], masks[4096];
    size_t n = (objects->n + every - 1) / every;
    snprintf(opencv, sizeof opencv, "%s/bench/opencv", build);
    if (access(opencv, X_OK) != 0) {
        puts("boxes: OpenCV is absent: ours alone");
        peer = NO_PEER;
    }
    for (enum box_kind kind = 0; kind < N_BOX_KINDS; kind++) {
        snprintf(masks, sizeof masks, "%.3900s/bench/grabcut-%s%d", build, sets[set].name, (int)kind);
        struct cell cell = {
            .objects = objects->items, .n = n, .every = every, .kind = kind, .masks = peer == NO_PEER ? "" : masks};
        struct clv_error err;
        int n_answers = 0;
        cell.ours = calloc(n, sizeof *cell.ours);
        cell.theirs = calloc(n, sizeof *cell.theirs);
        cell.has_answer = calloc(n, sizeof *cell.has_answer);
        cell.seconds = calloc(n, sizeof *cell.seconds);
        if (!cell.ours || !cell.theirs || !cell.has_answer || !cell.seconds)
            exit(1);
        double seconds = peer == GRABCUT ? run_peer(&cell, opencv) : 0;
        box_stop_on(parallel_for(n, N_THREADS, judge, &cell, &err), &err);
        for (size_t i = 0; i < n; i++)
            n_answers += cell.has_answer[i];
        report(&cell, sets[set].name, n_answers, seconds);
        free(cell.ours);
        free(cell.theirs);
        free(cell.has_answer);
        free(cell.seconds);
    }
}

static void keep_unseen(struct box_objects *objects)
{
    size_t n = 0;
    for (size_t i = 0; i < objects->n; i++)
        if (box_is_of_grabcut_50(&objects->items[i]))
            objects->items[n++] = objects->items[i];
        else
            free(objects->items[i].truth);
    objects->n = n;
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    enum peer peer = GRABCUT;
    size_t every = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--ours") == 0)
            peer = NO_PEER;
        else if (strcmp(argv[i], "--reuse") == 0)
            peer = GRABCUT_BEFORE;
        else if (strcmp(argv[i], "--set") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--every") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0)
            every = (size_t)atoi(argv[++i]);
        else {
            fprintf(stderr, "usage: boxes [--set berkeley|unseen|horses|msrc] [--every N] [--ours | --reuse]\n");
            return 64;
        }
    }
    for (size_t set = 0; set < sizeof sets / sizeof *sets; set++) {
        struct box_objects objects;
        if ((only && strcmp(only, sets[set].name) != 0) ||
            !box_objects_read(&objects, sets[set].folder, sets[set].split))
            continue;
        if (sets[set].only_unseen)
            keep_unseen(&objects);
        compare(&objects, set, every, peer);
        box_objects_release(&objects);
    }
    return 0;
}
