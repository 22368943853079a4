/* Pixel grids, building included: a real image, unaries from Gaussian mixtures of its figure and ground, contrast Potts couplings.
 * Usage: grid [side [lambda [neighbours [repetitions]]]]; 0 or nothing: all, of 256 and 1024 pixels a side */
#include "graphs.h"
#include "maxflow_shim.h"

#define N_COMPONENTS 3
#define UNIT         1024.0 /* scores are whole multiples of 1 / UNIT, so that both sides solve the same problem */

struct mixture {
    double weight[N_COMPONENTS], mean[N_COMPONENTS][3], variance[N_COMPONENTS][3];
};

struct problem {
    int32_t side, m;
    float *unary, *coupling[4];
    int32_t (*edges)[2];
    double *terminal, *capacity;
};

static int nearest_component(const struct mixture *mixture, const uint8_t *pixel)
{
    double best = INFINITY;
    int nearest = 0;
    for (int k = 0; k < N_COMPONENTS; k++) {
        double distance = 0;
        for (int c = 0; c < 3; c++)
            distance += (pixel[c] - mixture->mean[k][c]) * (pixel[c] - mixture->mean[k][c]);
        if (distance < best) {
            best = distance;
            nearest = k;
        }
    }
    return nearest;
}

/* Hard-assignment fit to the pixels with this label. */
static void fit(struct mixture *mixture, const struct clv_image *image, const uint8_t *truth, int label)
{
    size_t n = (size_t)image->width * (size_t)image->height;
    for (int k = 0; k < N_COMPONENTS; k++)
        for (int c = 0; c < 3; c++)
            mixture->mean[k][c] = 60 + 70 * k;
    for (int round = 0; round < 8; round++) {
        double count[N_COMPONENTS] = {0}, sum[N_COMPONENTS][3] = {{0}}, squares[N_COMPONENTS][3] = {{0}}, total = 0;
        for (size_t p = 0; p < n; p++) {
            if ((truth[p] != 0) != label)
                continue;
            const uint8_t *pixel = &image->pixels[3 * p];
            int k = nearest_component(mixture, pixel);
            count[k]++;
            total++;
            for (int c = 0; c < 3; c++) {
                sum[k][c] += pixel[c];
                squares[k][c] += (double)pixel[c] * pixel[c];
            }
        }
        for (int k = 0; k < N_COMPONENTS; k++)
            for (int c = 0; c < 3 && count[k] > 0; c++) {
                mixture->weight[k] = count[k] / total;
                mixture->mean[k][c] = sum[k][c] / count[k];
                mixture->variance[k][c] = squares[k][c] / count[k] - mixture->mean[k][c] * mixture->mean[k][c] + 25;
            }
    }
}

static double log_density(const struct mixture *mixture, const uint8_t *pixel)
{
    double density = 1e-30;
    for (int k = 0; k < N_COMPONENTS; k++) {
        double exponent = 0, volume = 1;
        for (int c = 0; c < 3; c++) {
            double d = pixel[c] - mixture->mean[k][c];
            exponent += d * d / mixture->variance[k][c];
            volume *= mixture->variance[k][c];
        }
        density += mixture->weight[k] * exp(-exponent / 2) / sqrt(volume);
    }
    return log(density);
}

static double contrast(const struct clv_image *image, int32_t p, int32_t q)
{
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        double d = (double)image->pixels[3 * p + c] - image->pixels[3 * q + c];
        sum += d * d;
    }
    return sum;
}

static void load(struct clv_image *image, uint8_t **truth, int32_t side)
{
    const char *root = getenv("CLEAVE_DATA");
    char path[4096];
    struct clv_error error;
    struct clv_image original = {0};
    struct clv_indexed_image mask = {0};
    snprintf(path, sizeof path, "%s/horses/images/horse001.jpg", root ? root : "../shared/data");
    if (clv_image_read(&original, path, NULL, &error)) {
        printf("skipped: %s\n", error.message);
        exit(0);
    }
    stop_on(clv_image_resize(image, &original, side, side, &error), &error);
    snprintf(path, sizeof path, "%s/horses/masks/horse001.png", root ? root : "../shared/data");
    stop_on(clv_indexed_image_read(&mask, path, NULL, &error), &error);
    *truth = need(malloc((size_t)side * (size_t)side));
    clv_labels_resize(*truth, side, side, mask.values, mask.width, mask.height);
    clv_indexed_image_release(&mask);
    clv_image_release(&original);
}

static void make_problem(struct problem *p, const struct clv_image *image, const uint8_t *truth, double lambda,
                         int n_neighbours)
{
    int32_t w = image->width, n = w * w, dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};
    struct mixture figure = {{0}, {{0}}, {{0}}}, ground = figure;
    fit(&figure, image, truth, 1);
    fit(&ground, image, truth, 0);
    p->side = w;
    p->m = 0;
    p->unary = need(malloc((size_t)n * sizeof(float)));
    p->terminal = need(malloc((size_t)n * sizeof(double)));
    p->edges = need(malloc((size_t)n * 4 * sizeof *p->edges));
    p->capacity = need(malloc((size_t)n * 4 * sizeof(double)));
    double mean = 0;
    for (int32_t i = 0; i + 1 < n; i++)
        mean += contrast(image, i, i + 1) / n;
    for (int32_t i = 0; i < n; i++) {
        const uint8_t *pixel = &image->pixels[3 * i];
        p->terminal[i] = rint(UNIT * (log_density(&figure, pixel) - log_density(&ground, pixel)));
        p->unary[i] = (float)(p->terminal[i] / UNIT);
    }
    for (int k = 0; k < n_neighbours / 2; k++) {
        p->coupling[k] = need(calloc((size_t)n, sizeof(float)));
        for (int32_t i = 0; i < n; i++) {
            int32_t x = i % w + dx[k], y = i / w + dy[k];
            if (x < 0 || x >= w || y >= w)
                continue;
            double c = lambda * exp(-contrast(image, i, y * w + x) / (2 * mean)) / (k < 2 ? 1 : sqrt(2));
            p->capacity[p->m] = rint(UNIT * c);
            p->coupling[k][i] = (float)(p->capacity[p->m] / UNIT);
            p->edges[p->m][0] = i;
            p->edges[p->m++][1] = y * w + x;
        }
    }
}

static void free_problem(struct problem *p)
{
    free(p->unary);
    free(p->terminal);
    free(p->edges);
    free(p->capacity);
    for (int k = 0; k < 4; k++)
        free(p->coupling[k]);
}

static void solve_both(double *ours, double *theirs, const struct problem *p, int n_neighbours, uint8_t *labels,
                       uint8_t *labels_bk)
{
    struct clv_error error;
    struct clv_grid grid = {.width = p->side, .height = p->side, .n_neighbours = n_neighbours, .unary = p->unary};
    struct bk *bk;
    size_t n = (size_t)p->side * (size_t)p->side;
    memcpy(grid.coupling, p->coupling, sizeof p->coupling);
    double start = thread_seconds();
    stop_on(clv_grid_map(labels, &grid, &error), &error);
    double middle = thread_seconds();
    if (bk_new(&bk, (int32_t)n, p->m, (const int32_t(*)[2])p->edges, NULL) ||
        bk_solve(bk, NULL, p->terminal, p->capacity, p->capacity, NULL))
        exit(71);
    for (size_t i = 0; i < n; i++)
        labels_bk[i] = (uint8_t)bk_on_source_side(bk, (int32_t)i);
    bk_free(bk);
    *ours = middle - start;
    *theirs = thread_seconds() - middle;
    if (memcmp(labels, labels_bk, n)) {
        fprintf(stderr, "labels differ\n");
        exit(70);
    }
}

static void run(int32_t side, double lambda, int n_neighbours, int repetitions)
{
    struct clv_image image = {0};
    uint8_t *truth;
    struct problem p = {0};
    double ours[REPETITIONS], theirs[REPETITIONS];
    char what[80];
    load(&image, &truth, side);
    make_problem(&p, &image, truth, lambda, n_neighbours);
    uint8_t *labels = need(malloc(2 * (size_t)side * (size_t)side));
    for (int r = 0; r < repetitions; r++)
        solve_both(&ours[r], &theirs[r], &p, n_neighbours, labels, &labels[(size_t)side * (size_t)side]);
    snprintf(what, sizeof what, "grid %dx%d lambda %g %d-connected", side, side, lambda, n_neighbours);
    print_ratio(what, ours, theirs, (size_t)repetitions);
    free(labels);
    free_problem(&p);
    free(truth);
    clv_image_release(&image);
}

int main(int argc, char **argv)
{
    int32_t sides[] = {256, 1024};
    double lambdas[] = {2, 50};
    int side = argc > 1 ? atoi(argv[1]) : 0, lambda = argc > 2 ? atoi(argv[2]) : 0,
        connected = argc > 3 ? atoi(argv[3]) : 0;
    int repetitions = argc > 4 ? atoi(argv[4]) : 7;
    if (repetitions < 1 || repetitions > REPETITIONS)
        return 64;
    for (int s = 0; s < (side ? 1 : 2); s++)
        for (int l = 0; l < (lambda ? 1 : 2); l++)
            for (int c = 4; c <= 8; c += 4)
                if (!connected || connected == c)
                    run(side ? side : sides[s], lambda ? lambda : lambdas[l], c, repetitions);
    return 0;
}
