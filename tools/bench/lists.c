/* Long lists: labels and annotations of COCO, lines of a manifest, entries of a training record, boxes of one image in
 * training. Each is read at a quarter of its length and at its whole length; the latter takes 4 times as long if
 * reading is linear, 16 times if it is quadratic. */
#include <string.h>

#include "bench.h"
#include "cleave/boxes.h"
#include "cleave/model.h"
#include "feature/dataset/dataset.h"

enum { ROUNDS = 3, LABELS = 100000, BOXES = 5000, LINES = 60000, ENTRIES = 120000, WIDTH = 320, HEIGHT = 240 };

static void stop_on(enum clv_status status, const struct clv_error *err)
{
    if (!status)
        return;
    fprintf(stderr, "lists: %s\n", err->message);
    exit(1);
}

/* n annotations of n labels, on two images in turn. */
static void write_coco(const char *path, int n)
{
    FILE *stream = fopen(path, "w");
    fprintf(stream, "{\"images\":[{\"id\":0,\"file_name\":\"a.png\"},{\"id\":1,\"file_name\":\"b.png\"}]");
    fprintf(stream, ",\"categories\":[");
    for (int i = 0; i < n; i++)
        fprintf(stream, "%s{\"id\":%d,\"name\":\"label%d\"}", i ? "," : "", i, i);
    fprintf(stream, "],\"annotations\":[");
    for (int i = 0; i < n; i++)
        fprintf(stream, "%s{\"image_id\":%d,\"category_id\":%d,\"bbox\":[1,2,3,4]}", i ? "," : "", i % 2, i);
    fprintf(stream, "]}");
    fclose(stream);
}

static double read_coco(const char *path, int n)
{
    struct clv_error err;
    struct clv_boxes boxes = {0};
    write_coco(path, n);
    double begin = bench_cpu();
    stop_on(clv_boxes_read(&boxes, path, &err), &err);
    double seconds = bench_cpu() - begin;
    clv_boxes_release(&boxes);
    return seconds;
}

static double read_manifest(const char *path, int n)
{
    struct clv_error err;
    struct clv_set set = {0};
    FILE *stream = fopen(path, "w");
    fprintf(stream, "image\tmask\tsplit\n");
    for (int i = 0; i < n; i++)
        fprintf(stream, "images/%d.png\tmasks/%d.png\ttrain\n", i, i);
    fclose(stream);
    double begin = bench_cpu();
    stop_on(clv_set_read(&set, path, &err), &err);
    stop_on(clv_set_select(&set, "train", &err), &err);
    double seconds = bench_cpu() - begin;
    clv_set_release(&set);
    return seconds;
}

/* A model whose record has n entries. */
static double read_record(const char *path, int n)
{
    struct clv_error err;
    double w[3] = {0};
    struct clv_model model = {.layout = {2, 2, 1, CLV_PAIRWISE_POTTS}, .w = w}, read = {0};
    char(*texts)[16] = calloc((size_t)n, sizeof *texts);
    struct clv_record_entry *entries = calloc((size_t)n, sizeof *entries);
    for (int i = 0; i < n; i++) {
        snprintf(texts[i], sizeof texts[i], "key%d", i);
        entries[i] = (struct clv_record_entry){texts[i], texts[i]};
    }
    stop_on(clv_labels_binary(&model.labels, &err), &err);
    model.record = (struct clv_record){.entries = entries, .n = (size_t)n};
    stop_on(clv_model_write(path, &model, &err), &err);
    double begin = bench_cpu();
    stop_on(clv_model_read(&read, path, &err), &err);
    double seconds = bench_cpu() - begin;
    clv_model_release(&read);
    clv_labels_release(&model.labels);
    free(texts);
    free(entries);
    return seconds;
}

/* What training takes from the boxes of one image, besides its features. */
static double take_boxes(const char *path, int n)
{
    struct clv_error err;
    struct clv_example example = {.width = WIDTH, .height = HEIGHT};
    struct clv_dataset *privileged;
    struct clv_pixel_box *boxes = calloc((size_t)n, sizeof *boxes);
    int32_t *labels = calloc(WIDTH * HEIGHT, sizeof *labels);
    (void)path;
    for (int k = 0; k < n; k++) {
        int x = k * 37 % (WIDTH - 20), y = k * 101 % (HEIGHT - 20);
        boxes[k] = (struct clv_pixel_box){x, y, x + 20, y + 20};
    }
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        labels[i] = i % WIDTH / 10;
    example.superpixels = (struct clv_superpixels){.width = WIDTH, .height = HEIGHT, .n = WIDTH / 10, .labels = labels};
    example.problem.n_nodes = example.superpixels.n;
    stop_on(clv_dataset_new(&privileged, 2, &err), &err);
    double begin = bench_cpu();
    stop_on(clv_example_set_boxes(&example, boxes, (size_t)n, &err), &err);
    stop_on(privileged_add(privileged, &example, &(struct item_boxes){.boxes = boxes, .n_boxes = (size_t)n}, NULL, "x",
                           &err),
            &err);
    double seconds = bench_cpu() - begin;
    example.superpixels.labels = NULL;
    clv_example_release(&example);
    clv_dataset_free(privileged);
    free(labels);
    free(boxes);
    return seconds;
}

static void compare(const char *name, int n, const char *file, double (*run)(const char *, int))
{
    char path[4096];
    const char *folder = getenv("TMPDIR");
    struct bench_series all = {0}, quarter = {0};
    snprintf(path, sizeof path, "%s/cleave-bench-%s", folder ? folder : "/tmp", file);
    for (int round = 0; round < ROUNDS; round++) {
        bench_add(&quarter, run(path, n / 4));
        bench_add(&all, run(path, n));
    }
    remove(path);
    struct bench_summary ratio = bench_ratio(&all, &quarter), seconds = bench_summarise(all);
    printf("lists: %.1fx (%.1f..%.1f) for 4x the %s; %d take %.3f s (%.3f..%.3f), %d rounds\n", ratio.median, ratio.low,
           ratio.high, name, n, seconds.median, seconds.low, seconds.high, ROUNDS);
}

int main(void)
{
    compare("labels and annotations of COCO", LABELS, "lists.json", read_coco);
    compare("lines of a manifest", LINES, "lists.tsv", read_manifest);
    compare("entries of a model's record", ENTRIES, "lists.cleave", read_record);
    compare("boxes of an image", BOXES, "none", take_boxes);
    return 0;
}
