/* Pixel grids, construction included: a real image, unary scores from Gaussian mixtures of its foreground and
 * background, contrast Potts couplings. "photo" is one photograph enlarged to the side, "mosaic" many unscaled ones of
 * the Berkeley set, 320 x 320 pixels of each.
 *
 * Usage: grid [side [lambda [neighbours [repetitions [photo|mosaic]]]]]; 0 or nothing: all, with sides of 256, 1024 and
 * 2048 pixels */
#include <pthread.h>

#include "bench.h"
#include "graphs.h"
#include "maxflow_shim.h"
#include "memory_grown.h"

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

static const char *data_root(void)
{
    const char *root = getenv("CLEAVE_DATA");
    return root ? root : "../shared/data";
}

/* Both from a row of the set's manifest, as they are; exits by name where the set is absent. */
static void read_pair(struct clv_image *image, struct clv_indexed_image *mask, const char *set, const char *name)
{
    char path[4096];
    struct clv_error error;
    snprintf(path, sizeof path, "%s/%s/images/%s.jpg", data_root(), set, name);
    if (clv_image_read(image, path, NULL, &error)) {
        printf("skipped: %s\n", error.message);
        exit(0);
    }
    snprintf(path, sizeof path, "%s/%s/masks/%s.png", data_root(), set, name);
    stop_on(clv_indexed_image_read(mask, path, NULL, &error), &error);
}

static void load_photo(struct clv_image *image, uint8_t **truth, int32_t side)
{
    struct clv_error error;
    struct clv_image original = {0};
    struct clv_indexed_image mask = {0};
    read_pair(&original, &mask, "horses", "horse001");
    stop_on(clv_image_resize(image, &original, side, side, &error), &error);
    *truth = need(malloc((size_t)side * (size_t)side));
    clv_labels_resize(*truth, side, side, mask.values, mask.width, mask.height);
    clv_indexed_image_release(&mask);
    clv_image_release(&original);
}

/* The upper left corners of the set's photographs, row by row, from the start again when they are used up. */
static void load_mosaic(struct clv_image *image, uint8_t **truth, int32_t side)
{
    enum { TILE = 320 };
    char path[4096], line[4096], name[1024];
    struct clv_error error;
    snprintf(path, sizeof path, "%s/boxes-berkeley/manifest.tsv", data_root());
    FILE *manifest = fopen(path, "r");
    if (!manifest || !fgets(line, sizeof line, manifest)) {
        printf("skipped: %s is absent\n", path);
        exit(0);
    }
    stop_on(clv_image_new(image, side, side, 3, &error), &error);
    *truth = need(calloc((size_t)side, (size_t)side));
    for (int32_t y = 0; y < side; y += TILE)
        for (int32_t x = 0; x < side; x += TILE) {
            struct clv_image tile = {0};
            struct clv_indexed_image mask = {0};
            if (!fgets(line, sizeof line, manifest) || sscanf(line, "images/%1000[^.].", name) != 1) {
                rewind(manifest);
                if (!fgets(line, sizeof line, manifest) || !fgets(line, sizeof line, manifest) ||
                    sscanf(line, "images/%1000[^.].", name) != 1)
                    exit(65);
            }
            read_pair(&tile, &mask, "boxes-berkeley", name);
            for (int32_t row = 0; row < TILE && y + row < side; row++)
                for (int32_t column = 0; column < TILE && x + column < side; column++) {
                    size_t to = (size_t)(y + row) * (size_t)side + (size_t)(x + column);
                    size_t from = (size_t)row * (size_t)tile.width + (size_t)column;
                    memcpy(image->pixels + 3 * to, tile.pixels + 3 * from, 3);
                    (*truth)[to] = mask.values[from];
                }
            clv_image_release(&tile);
            clv_indexed_image_release(&mask);
        }
    fclose(manifest);
}

static void make_problem(struct problem *p, const struct clv_image *image, const uint8_t *truth, double lambda,
                         int n_neighbours)
{
    int32_t w = image->width, n = w * w, dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};
    struct mixture foreground = {{0}, {{0}}, {{0}}}, background = foreground;
    fit(&foreground, image, truth, 1);
    fit(&background, image, truth, 0);
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
        p->terminal[i] = rint(UNIT * (log_density(&foreground, pixel) - log_density(&background, pixel)));
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

static struct clv_grid grid_of(const struct problem *p, int n_neighbours)
{
    struct clv_grid grid = {.width = p->side, .height = p->side, .n_neighbours = n_neighbours, .unary = p->unary};
    memcpy(grid.coupling, p->coupling, sizeof p->coupling);
    return grid;
}

static void solve_ours(uint8_t *labels, const struct problem *p, int n_neighbours)
{
    struct clv_error error;
    struct clv_grid grid = grid_of(p, n_neighbours);
    stop_on(clv_grid_map(labels, &grid, &error), &error);
}

static void solve_theirs(uint8_t *labels, const struct problem *p, int n_neighbours)
{
    struct bk *bk;
    (void)n_neighbours;
    int32_t n = p->side * p->side;
    if (bk_new(&bk, n, p->m, (const int32_t(*)[2])p->edges, NULL) ||
        bk_solve(bk, NULL, p->terminal, p->capacity, p->capacity, NULL))
        exit(71);
    for (int32_t i = 0; i < n; i++)
        labels[i] = (uint8_t)bk_on_source_side(bk, i);
    bk_free(bk);
}

typedef void solver(uint8_t *labels, const struct problem *p, int n_neighbours);

struct work {
    solver *solve;
    uint8_t *labels;
    const struct problem *p;
    int n_neighbours;
};

static void solve_once(void *context)
{
    const struct work *work = context;
    work->solve(work->labels, work->p, work->n_neighbours);
}

/* In bytes a pixel, input and output not counted. */
static double memory_of(solver *solve, uint8_t *labels, const struct problem *p, int n_neighbours)
{
    struct work work = {solve, labels, p, n_neighbours};
    double pixels = (double)p->side * p->side;
    memset(labels, 1, (size_t)pixels);
    return memory_grown(solve_once, &work) / pixels;
}

struct job {
    uint8_t *labels;
    const struct problem *p;
    int n_neighbours;
    double seconds; /* of the thread */
};

static void *run_job(void *context)
{
    struct job *job = context;
    double start = thread_seconds();
    solve_ours(job->labels, job->p, job->n_neighbours);
    job->seconds = thread_seconds() - start;
    return NULL;
}

#define THREAD_ROUNDS 3

/* Grids per CPU second of each of two threads that solve one each at the same time, both threads together, over those
 * of one thread alone: 2 unless they are in each other's way. */
static struct bench_summary two_threads(uint8_t *labels, const struct problem *p, int n_neighbours)
{
    size_t n = (size_t)p->side * (size_t)p->side;
    struct job jobs[2] = {{labels, p, n_neighbours, 0}, {labels + n, p, n_neighbours, 0}};
    struct bench_series alone = {0}, together = {0};
    for (int round = 0; round < THREAD_ROUNDS; round++) {
        pthread_t other;
        run_job(&jobs[0]);
        bench_add(&alone, 2 * jobs[0].seconds);
        if (pthread_create(&other, NULL, run_job, &jobs[1]))
            exit(71);
        run_job(&jobs[0]);
        pthread_join(other, NULL);
        bench_add(&together, (jobs[0].seconds + jobs[1].seconds) / 2);
    }
    return bench_ratio(&alone, &together);
}

static void run(const char *kind, int32_t side, double lambda, int n_neighbours, int repetitions)
{
    struct clv_image image = {0};
    uint8_t *truth;
    struct problem p = {0};
    double ours[REPETITIONS], theirs[REPETITIONS];
    char what[80];
    size_t n = (size_t)side * (size_t)side;
    if (strcmp(kind, "photo") == 0)
        load_photo(&image, &truth, side);
    else
        load_mosaic(&image, &truth, side);
    make_problem(&p, &image, truth, lambda, n_neighbours);
    uint8_t *labels = need(malloc(2 * n));
    double memory = memory_of(solve_ours, labels, &p, n_neighbours),
           their_memory = memory_of(solve_theirs, labels, &p, n_neighbours);
    for (int r = 0; r < repetitions; r++) {
        double start = thread_seconds();
        solve_ours(labels, &p, n_neighbours);
        double middle = thread_seconds();
        solve_theirs(labels + n, &p, n_neighbours);
        ours[r] = middle - start;
        theirs[r] = thread_seconds() - middle;
        if (memcmp(labels, labels + n, n)) {
            fprintf(stderr, "labels differ\n");
            exit(70);
        }
    }
    snprintf(what, sizeof what, "grid %s %dx%d lambda %g %d-connected", kind, side, side, lambda, n_neighbours);
    print_ratio(what, ours, theirs, (size_t)repetitions);
    struct bench_summary both = two_threads(labels, &p, n_neighbours);
    printf("    memory %.0f bytes a pixel, libmaxflow %.0f; two threads with a grid each %.2fx one (%.2f..%.2f, %d "
           "rounds)\n",
           memory, their_memory, both.median, both.low, both.high, THREAD_ROUNDS);
    free(labels);
    free_problem(&p);
    free(truth);
    clv_image_release(&image);
}

int main(int argc, char **argv)
{
    static const int32_t sides[] = {256, 1024, 2048};
    static const double lambdas[] = {2, 50};
    static const char *const kinds[] = {"photo", "mosaic"};
    int side = argc > 1 ? atoi(argv[1]) : 0, lambda = argc > 2 ? atoi(argv[2]) : 0,
        connected = argc > 3 ? atoi(argv[3]) : 0;
    int repetitions = argc > 4 ? atoi(argv[4]) : 7;
    const char *kind = argc > 5 ? argv[5] : NULL;
    if (repetitions < 1 || repetitions > REPETITIONS)
        return 64;
    for (int k = 0; k < 2; k++)
        for (int s = 0; s < 3; s++)
            for (int l = 0; l < 2; l++)
                for (int c = 4; c <= 8; c += 4)
                    if ((kind ? strcmp(kind, kinds[k]) == 0 : k == 0 || sides[s] == 1024) &&
                        (!side || side == sides[s]) && (!lambda || (double)lambda == lambdas[l]) &&
                        (!connected || connected == c))
                        run(kinds[k], sides[s], lambdas[l], c, repetitions);
    return 0;
}
