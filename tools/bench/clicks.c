/* The robot user: counts the clicks that objects take with cleave's interactive cut and, if OpenCV is installed, with
 * its grabCut by mask, in one run. Every click is in the middle of the largest error, at most 20, without a box; a click
 * is a disc of 3 pixels. Objects are the foreground of masks or, in masks of more than two labels, every label of at
 * least 1 % of the pixels.
 *
 *   clicks [MANIFEST]      default: boxes-berkeley of the real data
 *
 * Then the CPU time of clicks, over all threads, on every 25th object enlarged to 0.25, 2 and 12 megapixels.
 *
 * NoC@85 and NoC@90 are the mean numbers of clicks until that IoU, 20 if it is not reached; ms per click are of one
 * thread. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "robot.h"

struct method {
    const char *name;
    double noc[2], iou[ROBOT_CLICKS + 1]; /* sums */
    int n;
    double *ms;
    size_t n_ms, capacity;
};

static void count_ms(struct method *method, double ms)
{
    if (method->n_ms == method->capacity) {
        method->capacity = method->capacity ? 2 * method->capacity : 1024;
        method->ms = realloc(method->ms, method->capacity * sizeof *method->ms);
        if (!method->ms)
            exit(1);
    }
    method->ms[method->n_ms++] = ms;
}

/* OpenCV's side: a process that cuts by masks of seeds. */
struct peer {
    FILE *to, *from;
    pid_t child;
};

static bool peer_start(struct peer *peer, const char *program)
{
    int to[2], from[2];
    if (access(program, X_OK) != 0 || pipe(to) || pipe(from) || (peer->child = fork()) < 0)
        return false;
    if (peer->child == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        close(to[1]);
        close(from[0]);
        execl(program, program, "clicks", (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    peer->to = fdopen(to[1], "wb");
    peer->from = fdopen(from[0], "rb");
    return peer->to && peer->from;
}

static bool peer_cut(uint8_t *labels, double *ms, struct peer *peer, const struct clv_image *image,
                     const uint8_t *seeds, bool is_first)
{
    size_t n = (size_t)image->width * (size_t)image->height;
    const int32_t head[3] = {image->width, image->height, is_first};
    return fwrite(head, sizeof head, 1, peer->to) == 1 && (!is_first || fwrite(image->pixels, 3, n, peer->to) == n) &&
           fwrite(seeds, 1, n, peer->to) == n && !fflush(peer->to) && fread(ms, sizeof *ms, 1, peer->from) == 1 &&
           fread(labels, 1, n, peer->from) == n;
}

/* One object; peer NULL: cleave's. */
static void click_object(struct method *method, struct peer *peer, const struct clv_image *image,
                         const struct click_scene *scene, const uint8_t *truth)
{
    size_t n = (size_t)image->width * (size_t)image->height;
    uint8_t *memory = calloc(5, n), *labels = memory, *before = memory + n, *seeds = memory + 2 * n,
            *scratch = memory + 3 * n;
    int reached[2] = {0, 0};
    double iou = 0;
    struct clv_error error;
    if (!memory)
        exit(1);
    for (int click = 1; click <= ROBOT_CLICKS; click++) {
        struct click_press press;
        if (robot_next(&press, labels, truth, seeds, image->width, image->height, scratch)) {
            double ms = 0, begin;
            robot_disc(seeds, &press, image->width, image->height);
            memcpy(before, labels, n);
            struct click_request request = {
                .seeds = seeds, .before = click > 1 ? before : NULL, .latest = &press, .n_strokes = click};
            begin = bench_cpu();
            if (peer ? !peer_cut(labels, &ms, peer, image, seeds, click == 1)
                     : click_cut(labels, scene, &request, &error) != CLV_OK) {
                fprintf(stderr, "clicks: %s failed\n", method->name);
                exit(1);
            }
            count_ms(method, peer ? ms : 1e3 * (bench_cpu() - begin));
            iou = robot_iou(labels, truth, n);
        }
        for (int k = 0; k < 2; k++)
            if (!reached[k] && iou >= (k ? 0.90 : 0.85))
                reached[k] = click;
        method->iou[click] += iou;
    }
    for (int k = 0; k < 2; k++)
        method->noc[k] += reached[k] ? reached[k] : ROBOT_CLICKS;
    method->n++;
    free(memory);
}

static void report(const struct method *method)
{
    double n = method->n;
    size_t m = method->n_ms;
    qsort(method->ms, m, sizeof *method->ms, bench_compare);
    printf("clicks, %s: NoC@85 %.2f, NoC@90 %.2f; IoU after 1, 3, 5, 10, 20 clicks %.3f %.3f %.3f %.3f %.3f; ms a "
           "click: median %.1f, 90 %% below %.1f, most %.1f; %d objects\n",
           method->name, method->noc[0] / n, method->noc[1] / n, method->iou[1] / n, method->iou[3] / n,
           method->iou[5] / n, method->iou[10] / n, method->iou[20] / n, method->ms[m / 2], method->ms[m * 9 / 10],
           method->ms[m - 1], method->n);
}

static void click_item(struct method methods[2], struct peer *peer, const struct clv_item *item,
                       const struct clv_labels *labels)
{
    struct clv_image image = {0};
    struct clv_mask mask = {0};
    struct click_scene *scene = NULL;
    struct clv_error error;
    if (clv_image_read(&image, item->image, NULL, &error) ||
        clv_mask_read(&mask, item->mask, labels, image.width, image.height, NULL, &error) ||
        click_scene_new(&scene, &image, &error)) {
        fprintf(stderr, "clicks: %s\n", error.message);
        exit(1);
    }
    size_t n = (size_t)image.width * (size_t)image.height;
    uint8_t *truth = malloc(n);
    if (!truth)
        exit(1);
    for (int label = 1; label < labels->n_labels; label++) {
        size_t foreground = 0;
        for (size_t p = 0; p < n; p++) {
            truth[p] = mask.labels[p] == CLV_VOID ? CLV_VOID : mask.labels[p] == label;
            foreground += truth[p] == 1;
        }
        if (foreground == 0 || (labels->n_labels > 2 && foreground < n / 100))
            continue;
        click_object(&methods[0], NULL, &image, scene, truth);
        if (peer)
            click_object(&methods[1], peer, &image, scene, truth);
    }
    free(truth);
    click_scene_free(scene);
    clv_mask_release(&mask);
    clv_image_release(&image);
}

#define LATENCY_EVERY  25
#define LATENCY_CLICKS 8

/* Clicks where the robot would on the small image, on the enlarged one. */
static void click_enlarged(struct method *method, const struct clv_item *item, const struct clv_labels *labels,
                           double n_pixels)
{
    struct clv_image image = {0}, large = {0};
    struct clv_mask mask = {0};
    struct click_scene *scene = NULL;
    struct clv_error error;
    if (clv_image_read(&image, item->image, NULL, &error) ||
        clv_mask_read(&mask, item->mask, labels, image.width, image.height, NULL, &error))
        exit(1);
    double scale = sqrt(n_pixels / ((double)image.width * image.height));
    int32_t width = (int32_t)(image.width * scale), height = (int32_t)(image.height * scale);
    size_t n = (size_t)image.width * (size_t)image.height, n_large = (size_t)width * (size_t)height;
    uint8_t *small = calloc(4, n), *clicked = small + n, *memory = calloc(3, n_large), *seeds = memory + n_large;
    if (!small || !memory || clv_image_resize(&large, &image, width, height, &error) ||
        click_scene_new(&scene, &large, &error))
        exit(1);
    for (int click = 1; click <= LATENCY_CLICKS; click++) {
        struct click_press press;
        clv_labels_resize(small, image.width, image.height, memory, width, height);
        if (!robot_next(&press, small, mask.labels, clicked, image.width, image.height, small + 2 * n))
            break;
        robot_disc(clicked, &press, image.width, image.height);
        clv_labels_resize(seeds, width, height, clicked, image.width, image.height);
        memcpy(memory + 2 * n_large, memory, n_large);
        press.x = (int32_t)((press.x + 0.5) * scale);
        press.y = (int32_t)((press.y + 0.5) * scale);
        struct click_request request = {
            .seeds = seeds, .before = click > 1 ? memory + 2 * n_large : NULL, .latest = &press, .n_strokes = click};
        double begin = bench_cpu_of_all();
        if (click_cut(memory, scene, &request, &error))
            exit(1);
        count_ms(method, 1e3 * (bench_cpu_of_all() - begin));
    }
    free(small);
    free(memory);
    click_scene_free(scene);
    clv_image_release(&image);
    clv_image_release(&large);
    clv_mask_release(&mask);
}

static void report_latency(const struct clv_set *set)
{
    const double sizes[] = {0.25e6, 2e6, 12e6};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct method method = {0};
        for (size_t i = 0; i < set->n_items; i += LATENCY_EVERY)
            if (set->items[i].mask)
                click_enlarged(&method, &set->items[i], &set->labels, sizes[k]);
        qsort(method.ms, method.n_ms, sizeof *method.ms, bench_compare);
        if (method.n_ms)
            printf("clicks, %.2f Mpixel: ms of CPU a click: median %.0f, 90 %% below %.0f, most %.0f\n", sizes[k] / 1e6,
                   method.ms[method.n_ms / 2], method.ms[method.n_ms * 9 / 10], method.ms[method.n_ms - 1]);
        free(method.ms);
    }
}

int main(int argc, char **argv)
{
    const char *build = getenv("CLEAVE_BUILD") ? getenv("CLEAVE_BUILD") : "build";
    const char *manifest = argc > 1 ? argv[1] : bench_data("clicks", "boxes-berkeley/manifest.tsv");
    char program[4096];
    struct method methods[2] = {{.name = "cleave"}, {.name = "OpenCV's grabCut"}};
    struct peer peer = {0};
    struct clv_set set = {0};
    struct clv_error error;
    if (!manifest)
        return 0;
    if (clv_set_read(&set, manifest, &error)) {
        fprintf(stderr, "clicks: %s\n", error.message);
        return clv_status_exit_code(error.status);
    }
    signal(SIGPIPE, SIG_IGN);
    snprintf(program, sizeof program, "%s/bench/opencv", build);
    bool has_peer = peer_start(&peer, program);
    for (size_t i = 0; i < set.n_items; i++)
        if (set.items[i].mask)
            click_item(methods, has_peer ? &peer : NULL, &set.items[i], &set.labels);
    for (int k = 0; k < (has_peer ? 2 : 1); k++)
        if (methods[k].n)
            report(&methods[k]);
    report_latency(&set);
    if (!has_peer)
        puts("clicks: OpenCV's side skipped: it is absent");
    if (has_peer) {
        fclose(peer.to);
        fclose(peer.from);
        waitpid(peer.child, NULL, 0);
    }
    clv_set_release(&set);
    free(methods[0].ms);
    free(methods[1].ms);
    return 0;
}
