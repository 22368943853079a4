/* Superpixels on the real horses: our SLIC, VLFeat's, OpenCV's. From RGB bytes to connected labels, one thread, CPU
 * time.
 *
 *   superpixels [N]             N: superpixels wanted, default 600
 *   superpixels compactness     prints the basis of the defaults of compactness, on training splits alone
 *
 * Quality is measured over every image, by the same code for all three, on their labels without changes (VLFeat's may
 * be split); speed on every eighth image, in turn. */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <vl/slic.h>

#include "bench.h"
#include "cleave.h"

#define MAX_IMAGES 4096
#define ROUNDS     7
#define EVERY      8
#define VL_M       15.0F /* where VLFeat's accuracy is best on these images */

struct item {
    struct clv_image image;
    struct clv_indexed_image mask;
};

struct quality {
    double accuracy, recall, count; /* sums, then means over n_images */
    int n_images;
};

static struct item items[MAX_IMAGES];
static int n_items;

static void stop_on(enum clv_status status, const struct clv_error *err)
{
    if (!status)
        return;
    fprintf(stderr, "superpixels: %s\n", err->message);
    exit(1);
}

/* Every image of the manifest that has a mask. */
static void load(const char *manifest)
{
    FILE *stream = fopen(manifest, "r");
    char line[4096], path[8192];
    int folder = (int)(strrchr(manifest, '/') - manifest);
    struct clv_error err;
    while (stream && n_items < MAX_IMAGES && fgets(line, sizeof line, stream)) {
        char image[2048], mask[2048];
        if (sscanf(line, "%2047[^\t]%*1[\t]%2047[^\t\n]", image, mask) != 2 || strcmp(image, "image") == 0)
            continue;
        snprintf(path, sizeof path, "%.*s/%s", folder, manifest, image);
        stop_on(clv_image_read(&items[n_items].image, path, NULL, &err), &err);
        snprintf(path, sizeof path, "%.*s/%s", folder, manifest, mask);
        stop_on(clv_indexed_image_read(&items[n_items].mask, path, NULL, &err), &err);
        n_items++;
    }
    if (stream)
        fclose(stream);
}

/* Renumbers labels to 0..n-1, as clv_superpixels wants them. */
static void compact(struct clv_superpixels *superpixels)
{
    size_t n_pixels = (size_t)superpixels->width * (size_t)superpixels->height;
    int32_t *number = malloc(n_pixels * sizeof *number);
    memset(number, 0xff, n_pixels * sizeof *number);
    superpixels->n = 0;
    for (size_t i = 0; i < n_pixels; i++) {
        int32_t *label = &superpixels->labels[i];
        if (number[*label] < 0)
            number[*label] = superpixels->n++;
        *label = number[*label];
    }
    free(number);
}

static double run_ours(struct clv_superpixels *superpixels, const struct clv_image *image, int wanted)
{
    struct clv_error err;
    struct clv_slic_options options = {.n_superpixels = wanted, .compactness = 12, .n_iterations = 10};
    double begin = bench_cpu();
    stop_on(clv_slic(superpixels, image, &options, &err), &err);
    return bench_cpu() - begin;
}

/* VLFeat takes planar floats; its regulariser is m^2. */
static double run_vlfeat(struct clv_superpixels *superpixels, const struct clv_image *image, int wanted)
{
    size_t n_pixels = (size_t)image->width * (size_t)image->height;
    int size = (int)lround(sqrt((double)n_pixels / wanted));
    *superpixels = (struct clv_superpixels){image->width, image->height, 0, malloc(n_pixels * sizeof(int32_t))};
    float *lab = malloc(3 * n_pixels * sizeof *lab), *planes = malloc(3 * n_pixels * sizeof *planes);
    size = size < 1 ? 1 : size;
    double begin = bench_cpu();
    clv_rgb_to_lab(lab, image->pixels, n_pixels);
    for (size_t i = 0; i < n_pixels; i++)
        for (size_t c = 0; c < 3; c++)
            planes[c * n_pixels + i] = lab[3 * i + c];
    vl_slic_segment((vl_uint32 *)superpixels->labels, planes, (vl_size)image->width, (vl_size)image->height, 3,
                    (vl_size)size, VL_M * VL_M, (vl_size)(size * size / 4));
    double used = bench_cpu() - begin;
    free(lab);
    free(planes);
    compact(superpixels);
    return used;
}

static void judge(struct quality *quality, struct clv_superpixels *superpixels, const struct item *item)
{
    double accuracy, recall;
    struct clv_error err;
    stop_on(clv_achievable_accuracy(&accuracy, superpixels, item->mask.values, -1, &err), &err);
    stop_on(clv_boundary_recall(&recall, superpixels, item->mask.values, 2, &err), &err);
    quality->accuracy += accuracy;
    quality->recall += recall;
    quality->count += (double)superpixels->n;
    quality->n_images++;
    free(superpixels->labels);
    superpixels->labels = NULL;
}

static struct quality mean_of(struct quality sum)
{
    int n = sum.n_images ? sum.n_images : 1;
    return (struct quality){sum.accuracy / n, sum.recall / n, sum.count / n, sum.n_images};
}

typedef double run_slic(struct clv_superpixels *superpixels, const struct clv_image *image, int wanted);

static struct quality judge_all(run_slic *run, int wanted, int every)
{
    struct quality quality = {0};
    for (int i = 0; i < n_items; i += every) {
        struct clv_superpixels superpixels = {0};
        run(&superpixels, &items[i].image, wanted);
        judge(&quality, &superpixels, &items[i]);
    }
    return mean_of(quality);
}

/* Runs the OpenCV program; Mpixel per second, 0 where it is absent. */
static double run_opencv(const char *build, const char *manifest, int wanted, int every, const char *labels)
{
    char command[16384];
    double speed = 0;
    snprintf(command, sizeof command, "test -x '%s/bench/opencv' && '%s/bench/opencv' slic '%s' %d %d '%s'", build,
             build, manifest, wanted, every, labels);
    FILE *pipe = popen(command, "r");
    if (pipe && fscanf(pipe, "%lf", &speed) != 1)
        speed = 0;
    if (pipe)
        pclose(pipe);
    return speed;
}

static struct quality judge_opencv(const char *labels, int every)
{
    struct quality quality = {0};
    FILE *stream = fopen(labels, "rb");
    for (int i = 0; stream && i < n_items; i += every) {
        int32_t shape[2];
        if (fread(shape, sizeof shape[0], 2, stream) != 2 || shape[0] != items[i].image.width ||
            shape[1] != items[i].image.height)
            break;
        size_t n_pixels = (size_t)shape[0] * (size_t)shape[1];
        struct clv_superpixels superpixels = {shape[0], shape[1], 0, malloc(n_pixels * sizeof(int32_t))};
        if (fread(superpixels.labels, sizeof(int32_t), n_pixels, stream) != n_pixels)
            break;
        compact(&superpixels);
        judge(&quality, &superpixels, &items[i]);
    }
    if (stream)
        fclose(stream);
    return mean_of(quality);
}

static double subset_speed(run_slic *run, int wanted)
{
    double used = 0, pixels = 0;
    for (int i = 0; i < n_items; i += EVERY) {
        struct clv_superpixels superpixels = {0};
        used += run(&superpixels, &items[i].image, wanted);
        pixels += (double)items[i].image.width * items[i].image.height;
        free(superpixels.labels);
    }
    return pixels / used / 1e6;
}

/* Achievable accuracy and boundary recall by compactness, of masks that name what they leave open. */
static void try_compactness(const char *name, const char *path)
{
    static const float tried[] = {4, 6, 8, 10, 12, 15, 20, 30};
    struct clv_set set = {0};
    struct clv_error err;
    const char *manifest = bench_data("superpixels", path);
    if (!manifest)
        return;
    stop_on(clv_set_read(&set, manifest, &err), &err);
    stop_on(clv_set_select(&set, "train", &err), &err);
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
        const struct clv_slic_options options = {.n_superpixels = 600, .compactness = tried[k], .n_iterations = 10};
        double sum[2] = {0, 0}, n = 0;
        for (size_t i = 0; i < set.n_items; i++) {
            struct clv_image image = {0};
            struct clv_mask mask = {0};
            struct clv_superpixels superpixels = {0};
            double accuracy, recall;
            if (!set.items[i].mask)
                continue;
            stop_on(clv_image_read(&image, set.items[i].image, NULL, &err), &err);
            stop_on(clv_mask_read(&mask, set.items[i].mask, &set.labels, image.width, image.height, NULL, &err), &err);
            stop_on(clv_slic(&superpixels, &image, &options, &err), &err);
            stop_on(clv_achievable_accuracy(&accuracy, &superpixels, mask.labels, CLV_VOID, &err), &err);
            stop_on(clv_boundary_recall(&recall, &superpixels, mask.labels, 2, &err), &err);
            sum[0] += accuracy;
            sum[1] += recall;
            n++;
            clv_superpixels_release(&superpixels);
            clv_mask_release(&mask);
            clv_image_release(&image);
        }
        printf("superpixels: %s, train: compactness %2.0f: ASA %.4f, boundary recall %.4f\n", name, (double)tried[k],
               sum[0] / n, sum[1] / n);
        fflush(stdout);
    }
    clv_set_release(&set);
}

int main(int argc, char **argv)
{
    const char *build = getenv("CLEAVE_BUILD") ? getenv("CLEAVE_BUILD") : "build",
               *manifest = bench_data("superpixels", "horses/manifest.tsv");
    int wanted = argc > 1 ? atoi(argv[1]) : 600;
    char labels[4096];
    if (argc > 1 && strcmp(argv[1], "compactness") == 0) {
        try_compactness("horses", "horses/manifest.tsv");
        try_compactness("MSRC-21", "msrc21/manifest.tsv");
        return 0;
    }
    if (!manifest || wanted < 1)
        return 0;
    load(manifest);
    snprintf(labels, sizeof labels, "%s/bench/opencv-labels.bin", build);

    /* The others are asked for as many as give the same number in the mean. */
    int for_vlfeat = (int)lround(wanted * (wanted / judge_all(run_vlfeat, wanted, EVERY).count)), for_opencv = wanted;
    bool has_opencv = run_opencv(build, manifest, wanted, EVERY, labels) > 0;
    if (has_opencv) {
        for_opencv = (int)lround(wanted * (wanted / judge_opencv(labels, EVERY).count));
        has_opencv = run_opencv(build, manifest, for_opencv, 1, labels) > 0;
    }
    struct quality ours = judge_all(run_ours, wanted, 1), vlfeat = judge_all(run_vlfeat, for_vlfeat, 1), opencv = {0};
    if (has_opencv)
        opencv = judge_opencv(labels, 1);
    struct bench_series our_speed = {0}, vlfeat_speed = {0}, opencv_speed = {0};
    for (int round = 0; round < ROUNDS; round++) {
        bench_add(&our_speed, subset_speed(run_ours, wanted));
        bench_add(&vlfeat_speed, subset_speed(run_vlfeat, for_vlfeat));
        if (has_opencv)
            bench_add(&opencv_speed, run_opencv(build, manifest, for_opencv, EVERY, labels));
    }
    remove(labels);

    struct bench_summary over_vlfeat = bench_ratio(&our_speed, &vlfeat_speed),
                         over_opencv = bench_ratio(&our_speed, &opencv_speed);
    printf("superpixels: %.1fx VLFeat (%.1f..%.1f), ", over_vlfeat.median, over_vlfeat.low, over_vlfeat.high);
    if (has_opencv)
        printf("%.1fx OpenCV (%.1f..%.1f)", over_opencv.median, over_opencv.low, over_opencv.high);
    else
        printf("OpenCV skipped: absent");
    printf("; ours %.1f Mpixel/s; ASA %.4f / %.4f / %.4f, boundary recall %.4f / %.4f / %.4f, superpixels %.0f / %.0f "
           "/ %.0f; %d rounds\n",
           bench_summarise(our_speed).median, ours.accuracy, vlfeat.accuracy, opencv.accuracy, ours.recall,
           vlfeat.recall, opencv.recall, ours.count, vlfeat.count, opencv.count, ROUNDS);
    return 0;
}
