/* Measures how many clicks a model saves: the robot user labels a folder in the page, once without a model and once
 * like the page, which trains after 5, 10, 20 and 40 accepted images and shows the images in its order.
 *
 *     label [MANIFEST [SPLIT [EVERY]]]      default: the first 60 horses of split `test`, whose masks are known
 *
 * Every image gets clicks until IoU 0.90, at most 20; the resulting cut is accepted, so that the model learns from the
 * robot's masks and never from the true ones. A suggestion of the model that is good enough takes no click. EVERY 4
 * uses every 4th image, and trains after a fourth of the number of images. Needs the command next to it:
 * BUILD/cleave. */
#include <unistd.h>

#include "base/base.h"
#include "page/page.h"
#include "process.h"
#include "robot.h"

#define MAX_IMAGES 60
#define GOAL       0.90
#define N_PHASES   5

static const int phase_begins[N_PHASES + 1] = {0, 5, 10, 20, 40, INT32_MAX};

struct bench {
    const struct clv_set *set;
    char folder[3072], cleave[3072];
    const struct clv_item *items[MAX_IMAGES];
    bool is_done[MAX_IMAGES];
    int n, every;
};

static void check(enum clv_status status, const struct clv_error *error)
{
    if (status == CLV_OK)
        return;
    fprintf(stderr, "label: %s\n", error->message);
    exit(1);
}

static int phase_of(const struct bench *bench, int n_done)
{
    int phase = 0;
    while (n_done * bench->every >= phase_begins[phase + 1])
        phase++;
    return phase;
}

/* One stroke of the page, as small as a click. */
static void press(struct page_document *document, const struct click_press *at)
{
    struct clv_error error;
    double point[2] = {at->x + 0.5, at->y + 0.5};
    struct page_event event = {
        .kind = at->is_foreground ? PAGE_FOREGROUND : PAGE_BACKGROUND, .label = 1, .radius = ROBOT_DISC, .n_points = 1};
    event.points = array_copy(&point, 1, sizeof point);
    check(event.points ? page_document_draw(document, &event, &error) : fail_memory(&error), &error);
}

struct effort {
    int clicks, images, untouched; /* untouched: the suggestion was good enough */
    double suggested;              /* sum of the suggestions' IoU */
    int taking[ROBOT_CLICKS + 1];  /* images by their clicks */
};

/* Where clicks did not suffice: what a minimum cut of the pixels reaches whose colours, nearby and overall, are those
 * of the true mask, and one whose every pixel is given the true label as well, with the weight that scores of models
 * have. */
static void report_short(const struct clv_item *item, const struct clv_image *image, const struct clv_mask *mask,
                         double reached)
{
    struct clv_refine_options options;
    struct clv_error error;
    size_t n = (size_t)image->width * (size_t)image->height;
    float *scores = malloc(n * sizeof *scores);
    uint8_t *labels = malloc(n);
    double iou[2];
    if (!scores || !labels)
        exit(1);
    clv_refine_defaults(&options);
    options.balance = 0;
    for (int is_given = 0; is_given < 2; is_given++) {
        options.prior = is_given;
        for (size_t p = 0; p < n; p++) {
            labels[p] = mask->labels[p] == 1;
            scores[p] = labels[p] ? 1 : -1;
        }
        check(clv_refine(labels, image, scores, NULL, &options, &error), &error);
        iou[is_given] = robot_iou(labels, mask->labels, n);
    }
    printf("label, %s: %d clicks reach IoU %.3f; a cut by the true mask's colours %.3f, given its labels %.3f\n",
           strrchr(item->image, '/') ? strrchr(item->image, '/') + 1 : item->image, ROBOT_CLICKS, reached, iou[0],
           iou[1]);
    free(scores);
    free(labels);
}

/* Labels one image; model NULL: without. The accepted labels go to masks/i.png. */
static void label_image(struct effort *effort, const struct bench *bench, int i, const struct clv_model *model)
{
    struct page_document document = {0};
    struct clv_mask mask = {0};
    struct clv_error error;
    const struct clv_item *item = bench->items[i];
    uint8_t palette[256][3];
    char path[4096];
    check(page_document_open(&document, item, NULL, &error), &error);
    int width = document.image.width, height = document.image.height, clicks = 0;
    check(clv_mask_read(&mask, item->mask, &bench->set->labels, width, height, NULL, &error), &error);
    size_t n = page_document_size(&document);
    uint8_t *labels = calloc(4, n), *clicked = labels + n;
    if (!labels)
        exit(1);
    if (model) {
        check(page_document_use_model(&document, model, &error), &error);
        check(page_document_suggest(labels, &document, model, &error), &error);
        check(page_document_import(&document, labels, PAGE_SUGGESTION, &error), &error);
        effort->suggested += robot_iou(labels, mask.labels, n);
        effort->untouched += robot_iou(labels, mask.labels, n) >= GOAL;
    }
    struct click_press at;
    while (clicks < ROBOT_CLICKS && robot_iou(labels, mask.labels, n) < GOAL &&
           robot_next(&at, labels, mask.labels, clicked, width, height, labels + 2 * n)) {
        robot_disc(clicked, &at, width, height);
        press(&document, &at);
        page_document_paint(labels, &document);
        clicks++;
    }
    if (robot_iou(labels, mask.labels, n) < GOAL)
        report_short(item, &document.image, &mask, robot_iou(labels, mask.labels, n));
    effort->clicks += clicks;
    effort->taking[clicks]++;
    effort->images++;
    if (model || !bench->is_done[i]) {
        clv_default_palette(palette);
        snprintf(path, sizeof path, "%s/%d.png", bench->folder, i);
        check(clv_png_write_labels(path, width, height, labels, (const uint8_t(*)[3])palette, 256, &error), &error);
    }
    free(labels);
    clv_mask_release(&mask);
    page_document_release(&document);
}

/* The folder that is labelled: the images by their numbers, of any format. */
static void copy_images(const struct bench *bench)
{
    struct clv_error error;
    for (int i = 0; i < bench->n; i++) {
        char path[4096], *bytes = NULL;
        size_t size = 0;
        snprintf(path, sizeof path, "%s/%d.jpg", bench->folder, i);
        check(file_read(&bytes, &size, bench->items[i]->image, (size_t)1 << 30, &error), &error);
        check(file_write(path, bytes, size, &error), &error);
        array_free(bytes);
    }
}

/* The images that are done, with the robot's masks, or those that are not. */
static const char *write_manifest(const struct bench *bench, bool is_done)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s.tsv", bench->folder, is_done ? "done" : "rest");
    FILE *stream = fopen(path, "w");
    if (!stream)
        exit(1);
    fprintf(stream, "image\tmask\n");
    for (int i = 0; i < bench->n; i++)
        if (bench->is_done[i] == is_done && is_done)
            fprintf(stream, "%d.jpg\t%d.png\n", i, i);
        else if (bench->is_done[i] == is_done)
            fprintf(stream, "%d.jpg\t\n", i);
    if (fclose(stream))
        exit(1);
    return path;
}

/* As the page's trainer does, without the cross-validation that the page shows. Returns seconds. */
static double train(struct clv_model *model, const struct bench *bench)
{
    struct clv_error error;
    char path[4096], log[4096], *data = (char *)write_manifest(bench, true);
    snprintf(path, sizeof path, "%s/label.cleave", bench->folder);
    snprintf(log, sizeof log, "%s/train.log", bench->folder);
    char *const arguments[] = {(char *)bench->cleave,
                               "train",
                               "--learner",
                               "wmpmap",
                               "--data",
                               data,
                               "--seed",
                               "1",
                               "--lambda",
                               "1e-05",
                               "-o",
                               path,
                               "--overwrite",
                               NULL};
    struct run run = run_program(arguments, log);
    if (run.exit_code) {
        print_log(log);
        exit(1);
    }
    clv_model_release(model);
    check(clv_model_read(model, path, &error), &error);
    return run.wall;
}

static double *sort_key;
static int by_key(const void *a, const void *b)
{
    int i = *(const int *)a, k = *(const int *)b;
    return sort_key[i] != sort_key[k] ? (sort_key[i] > sort_key[k]) - (sort_key[i] < sort_key[k]) : i - k;
}

/* What is left in the page's order: order[], returns how many. Without a model that of the folder. */
static int arrange(int *order, const struct bench *bench, const char *model)
{
    double error_expected[MAX_IMAGES];
    struct clv_set rest = {0};
    struct clv_error error;
    int n = 0;
    for (int i = 0; i < bench->n; i++)
        if (!bench->is_done[i])
            order[n++] = i;
    if (!model || n == 0)
        return n;
    check(clv_set_read(&rest, write_manifest(bench, false), &error), &error);
    struct page_ranking *ranking = page_ranking_new(&rest);
    check(ranking ? page_ranking_start(ranking, model, &error) : fail_memory(&error), &error);
    for (int k = 0; k < n; k++) {
        while (page_ranking_expected_error(ranking, (size_t)k) < 0)
            usleep(10000);
        error_expected[order[k]] = -page_ranking_expected_error(ranking, (size_t)k);
    }
    page_ranking_free(ranking);
    clv_set_release(&rest);
    sort_key = error_expected;
    qsort(order, (size_t)n, sizeof *order, by_key);
    return n;
}

/* How many images took how many clicks, and how many clicks those are. */
static void report_spread(const char *name, const int taking[ROBOT_CLICKS + 1])
{
    static const int first[] = {0, 1, 2, 5, 10, ROBOT_CLICKS, ROBOT_CLICKS + 1};
    printf("label, %s, images by clicks:", name);
    for (int k = 0; first[k] <= ROBOT_CLICKS; k++) {
        int images = 0, clicks = 0, last = first[k + 1] - 1;
        for (int n = first[k]; n <= last; n++) {
            images += taking[n];
            clicks += n * taking[n];
        }
        printf("%s %d took %d", k ? "," : "", images, first[k]);
        if (last > first[k])
            printf(" to %d", last);
        printf(" (%d)", clicks);
    }
    puts("");
}

/* A line with the clicks of every phase; returns all of them. */
static int report(const char *name, const struct effort efforts[N_PHASES])
{
    struct effort all = {0};
    printf("label, %s:", name);
    for (int phase = 0; phase < N_PHASES; phase++) {
        const struct effort *effort = &efforts[phase];
        if (effort->images)
            printf(" %d clicks on %d images,", effort->clicks, effort->images);
        all.clicks += effort->clicks;
        all.images += effort->images;
        all.untouched += effort->untouched;
        for (int n = 0; n <= ROBOT_CLICKS; n++)
            all.taking[n] += effort->taking[n];
    }
    printf(" in all %d on %d: %.2f an image; %d images took none\n", all.clicks, all.images,
           (double)all.clicks / all.images, all.untouched);
    report_spread(name, all.taking);
    return all.clicks;
}

static void choose_images(struct bench *bench, const char *split)
{
    for (size_t i = 0, met = 0; i < bench->set->n_items && bench->n * bench->every < MAX_IMAGES; i++) {
        const struct clv_item *item = &bench->set->items[i];
        if (item->mask && item->split && strcmp(item->split, split) == 0 && met++ % (size_t)bench->every == 0)
            bench->items[bench->n++] = item;
    }
    if (!bench->n) {
        fprintf(stderr, "label: no image of split %s has a mask\n", split);
        exit(65);
    }
}

static void run_without(struct effort efforts[N_PHASES], const struct bench *bench)
{
    for (int i = 0; i < bench->n; i++)
        label_image(&efforts[phase_of(bench, i)], bench, i, NULL);
}

static void run_learning(struct effort efforts[N_PHASES], struct bench *bench)
{
    struct clv_model model = {0};
    char path[4096];
    int order[MAX_IMAGES];
    snprintf(path, sizeof path, "%s/label.cleave", bench->folder);
    for (int n_done = 0; n_done < bench->n;) {
        int phase = phase_of(bench, n_done);
        double seconds = phase ? train(&model, bench) : 0;
        int left = arrange(order, bench, phase ? path : NULL);
        struct effort *effort = &efforts[phase];
        for (int k = 0; k < left && phase_of(bench, n_done) == phase; k++, n_done++) {
            label_image(effort, bench, order[k], phase ? &model : NULL);
            bench->is_done[order[k]] = true;
        }
        printf("label, learned from %d masks in %.0f s: %d clicks on %d images, %.2f an image; suggested IoU %.3f, %d "
               "took no click\n",
               n_done - effort->images, seconds, effort->clicks, effort->images,
               (double)effort->clicks / effort->images, effort->suggested / effort->images, effort->untouched);
        fflush(stdout);
    }
    clv_model_release(&model);
}

int main(int argc, char **argv)
{
    const char *build = getenv("CLEAVE_BUILD") ? getenv("CLEAVE_BUILD") : "build";
    const char *manifest = argc > 1 ? argv[1] : bench_data("label", "horses/manifest.tsv");
    struct effort without[N_PHASES] = {0}, learning[N_PHASES] = {0};
    struct clv_set set = {0};
    struct clv_error error;
    struct bench bench = {.set = &set, .every = argc > 3 ? atoi(argv[3]) : 1};
    if (!manifest)
        return 0;
    check(clv_set_read(&set, manifest, &error), &error);
    choose_images(&bench, argc > 2 ? argv[2] : "test");
    snprintf(bench.folder, sizeof bench.folder, "%s/bench/label.set", build);
    snprintf(bench.cleave, sizeof bench.cleave, "%s/cleave", build);
    check(folder_create(bench.folder, &error), &error);
    copy_images(&bench);
    run_without(without, &bench);
    run_learning(learning, &bench);
    int clicks_without = report("without a model", without), clicks = report("learning", learning);
    printf("label: learning takes %.2f of the clicks\n", (double)clicks / clicks_without);
    clv_set_release(&set);
    return 0;
}
