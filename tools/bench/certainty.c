/* Compares the marginals of images, q for each superpixel, with the MAP labels and the truth, which Figure 1 of
 * Shpakova, Bach, Osokin (2018) shows for one image.
 *
 * Pixels are weighed in two ways: equally, and as in the weighted Hamming loss, by 1/2 each for the foreground and the
 * background of an image. Printed for the MAP labels and for the marginals of 100 perturb-and-MAP samples:
 *   wrong      fraction of pixels whose label is wrong; for marginals, the label is foreground if q is above 1/2
 *   squared    mean of (q - truth)^2, where the expected error of a label drawn from q is 2 q (1 - q); for labels, the
 *              fraction of wrong pixels
 *   bits       information about the truth: entropy of the fraction of foreground, less the mean of -log2 of the
 *              probability of the truth. The probability given by a label is the fraction of foreground among pixels of
 *              that label, the best that labels can give; q is limited to 1/200 .. 199/200
 *   unsure     fraction of pixels with q in .05 .. .95; fraction of the wrong pixels that are among these
 * and a line for each bin of q: fraction of the pixels, mean q, fraction of foreground. At the end, the image whose
 * squared error by marginals is the median of all.
 *
 * Usage: certainty MODEL FEATURES */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "cleave.h"
#include "feature/dataset/dataset.h"

#define N_DRAWS 100
#define SURE    0.05
#define N_BINS  7

static const double bin_ends[N_BINS] = {0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 2};

static struct clv_error error;

static void must(enum clv_status status)
{
    if (status) {
        fprintf(stderr, "certainty: %s\n", error.message);
        exit(clv_status_exit_code(status));
    }
}

/* Pixels of a bin of q, and of a kind of label, by truth. */
struct tally {
    double bins[N_BINS][2], labels[2][2];
    double sum_q[N_BINS];
    double squared, wrong, wrong_unsure, unsure, log_loss, all;
};

static void add(struct tally *tally, double q, int32_t label, int truth, double weight)
{
    int bin = 0;
    double given = fmin(fmax(q, 0.5 / N_DRAWS), 1 - 0.5 / N_DRAWS), off = q - truth;
    bool is_unsure = q >= SURE && q <= 1 - SURE;
    while (q > bin_ends[bin])
        bin++;
    tally->bins[bin][truth] += weight;
    tally->sum_q[bin] += weight * q;
    tally->labels[label][truth] += weight;
    tally->squared += weight * off * off;
    tally->wrong += weight * ((q > 0.5) != truth);
    tally->unsure += weight * is_unsure;
    tally->wrong_unsure += weight * (is_unsure && label != truth);
    tally->log_loss -= weight * log2(truth ? given : 1 - given);
    tally->all += weight;
}

/* Of an image's tally what counts for one: all weigh the same. */
static void merge(struct tally *sum, const struct tally *one)
{
    const double *from = (const double *)one;
    double *to = (double *)sum;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

static double entropy(double a, double b)
{
    double n = a + b;
    return (a > 0 ? a * log2(n / a) : 0) + (b > 0 ? b * log2(n / b) : 0);
}

static void print(const char *weights, const struct tally *t, bool with_bins)
{
    double n = t->all, wrong = t->labels[0][1] + t->labels[1][0];
    double prior = entropy(t->labels[0][0] + t->labels[1][0], t->labels[0][1] + t->labels[1][1]);
    double left = entropy(t->labels[0][0], t->labels[0][1]) + entropy(t->labels[1][0], t->labels[1][1]);
    printf("%-9s MAP        wrong %5.2f %%  squared %.4f  bits %.3f\n", weights, 100 * wrong / n, wrong / n,
           (prior - left) / n);
    printf("%-9s marginals  wrong %5.2f %%  squared %.4f  bits %.3f  unsure %5.2f %%, of MAP's wrong pixels %5.2f %%\n",
           "", 100 * t->wrong / n, t->squared / n, (prior - t->log_loss) / n, 100 * t->unsure / n,
           wrong > 0 ? 100 * t->wrong_unsure / wrong : 0);
    for (int b = 0; b < N_BINS && with_bins; b++) {
        double pixels = t->bins[b][0] + t->bins[b][1];
        if (pixels > 0)
            printf("%-9s q %.2f to %.2f: %5.2f %% of pixels, mean q %.3f, foreground %.3f\n", "",
                   b ? bin_ends[b - 1] : 0, fmin(bin_ends[b], 1), 100 * pixels / n, t->sum_q[b] / pixels,
                   t->bins[b][1] / pixels);
    }
}

/* Of one problem, whose theta says what a pixel of each truth weighs: all pixels weigh 1 together. */
static struct tally look(const struct clv_problem *problem, const double *marginals, const int32_t *y)
{
    struct tally tally = {0};
    double *numbers = (double *)&tally;
    for (size_t i = 0; i < (size_t)problem->n_nodes; i++)
        for (int truth = 0; truth < 2; truth++)
            add(&tally, marginals[2 * i + 1], y[i], truth, (double)problem->theta[2 * i + (size_t)truth]);
    double all = tally.all;
    for (size_t i = 0; i < sizeof tally / sizeof *numbers && all > 0; i++)
        numbers[i] /= all;
    return tally;
}

struct labelled {
    double *marginals;
    int32_t *y;
};

/* The image whose squared error is the median. */
static size_t median_of(const struct tally *tallies, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t below = 0;
        for (size_t j = 0; j < n; j++)
            below += tallies[j].squared < tallies[i].squared || (tallies[j].squared == tallies[i].squared && j < i);
        if (below == n / 2)
            return i;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct clv_model model = {0};
    struct clv_dataset *dataset = NULL;
    struct clv_oracle *oracle;
    if (argc != 3) {
        fprintf(stderr, "usage: certainty MODEL FEATURES\n");
        return 64;
    }
    must(clv_model_read(&model, argv[1], &error));
    must(clv_features_open(&dataset, NULL, argv[2], &error));
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, &error));
    size_t n = clv_dataset_size(dataset), example = 0;
    if (n == 0 || model.layout.n_labels != 2 || clv_dataset_n_labels(dataset) != 2) {
        fprintf(stderr, "certainty: wants images of foreground and background\n");
        return 64;
    }
    for (size_t i = 0; i < n; i++) {
        if (!clv_dataset_problem(dataset, i).theta) {
            fprintf(stderr, "certainty: %s has no mask\n", clv_dataset_name(dataset, i));
            return 65;
        }
    }
    struct labelled *images = calloc(n, sizeof *images);
    struct tally *tallies = calloc(n, sizeof *tallies);
    static const struct {
        const char *name;
        enum clv_loss_weights weights;
    } ways[] = {{"alike", CLV_LOSS_COUNTS}, {"balanced", CLV_LOSS_BALANCED}};
    for (size_t i = 0; i < n; i++) {
        struct clv_problem problem = clv_dataset_problem(dataset, i);
        images[i].marginals = calloc((size_t)problem.n_nodes, 2 * sizeof(double));
        images[i].y = calloc((size_t)problem.n_nodes, sizeof(int32_t));
        must(clv_model_marginals(images[i].marginals, NULL, NULL, &model, &problem, oracle, 0, N_DRAWS, &error));
        must(clv_model_predict(images[i].y, &model, &problem, oracle, &error));
    }
    for (int way = 0; way < 2; way++) {
        struct tally sum = {0};
        must(dataset_weigh(dataset, ways[way].weights, &error));
        for (size_t i = 0; i < n; i++) {
            struct clv_problem problem = clv_dataset_problem(dataset, i);
            tallies[i] = look(&problem, images[i].marginals, images[i].y);
            merge(&sum, &tallies[i]);
        }
        if (way == 0)
            example = median_of(tallies, n);
        print(ways[way].name, &sum, true);
    }
    struct clv_problem problem = clv_dataset_problem(dataset, example);
    struct tally one = look(&problem, images[example].marginals, images[example].y);
    printf("image %s\n", clv_dataset_name(dataset, example));
    print("balanced", &one, false);
    for (size_t i = 0; i < n; i++) {
        free(images[i].marginals);
        free(images[i].y);
    }
    free(images);
    free(tallies);
    clv_oracle_free(oracle);
    clv_dataset_free(dataset);
    clv_model_release(&model);
    return 0;
}
