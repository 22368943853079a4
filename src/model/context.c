/* Computes the features of the second of two stages (auto-context, Tu & Bai 2010) from the marginals of the first: of
 * each node, of its neighbours, of rings around it and of the image. The first functions compute the means over rings:
 * values are summed in the cells of a grid, so that a node is compared with cells instead of with all other nodes.
 * Start at context_init. */
#include "model/context.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

#define CELL     0.04 /* side, in the unit of centroids */
#define MAX_SIDE 32   /* cells */

static const double rings[AROUND_RINGS] = {0.12, 0.3, 0.7};

static void around_name(char *name, size_t size, int32_t index)
{
    static const char *const sectors[AROUND_SECTORS] = {"right", "below right", "below", "below left",
                                                        "left",  "above left",  "above", "above right"};
    point_snprintf(name, size, "%s, within %g", sectors[index % AROUND_SECTORS], rings[index / AROUND_SECTORS]);
}

void around_release(struct around *self)
{
    arrays_free(self->cell, self->count, self->x, self->y, self->sum, self->weight, self->total, self->means);
    *self = (struct around){0};
}

/* Cells along one axis, of centroids from `low` on. */
struct axis {
    double low, side;
    int32_t n;
};

static struct axis axis_of(const float *centroid, int32_t n_nodes, int which)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < (size_t)n_nodes; i++) {
        double x = (double)centroid[2 * i + (size_t)which];
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    double cells = fmin(floor((high - low) / CELL) + 1, MAX_SIDE);
    return (struct axis){low, fmax((high - low) / cells, CELL), int32_within(cells, 1, MAX_SIDE)};
}

static int32_t cell_of(const struct axis *axis, double x)
{
    return int32_within((x - axis->low) / axis->side, 0, axis->n - 1);
}

enum clv_status around_init(struct around *self, const float *value, int32_t n_channels, const float *centroid,
                            int32_t n_nodes, struct clv_error *err)
{
    struct axis across = axis_of(centroid, n_nodes, 0), down = axis_of(centroid, n_nodes, 1);
    size_t n = (size_t)n_nodes, k = (size_t)n_channels, n_cells = (size_t)across.n * (size_t)down.n;
    *self = (struct around){.n_channels = n_channels, .n_cells = (int32_t)n_cells, .centroid = centroid};
    self->cell = array_alloc(n, sizeof *self->cell);
    self->count = array_zalloc(n_cells, sizeof *self->count);
    self->x = array_zalloc(n_cells, sizeof *self->x);
    self->y = array_zalloc(n_cells, sizeof *self->y);
    self->sum = array_zalloc(n_cells, k * sizeof *self->sum);
    self->weight = array_alloc(AROUND_SIZE, sizeof *self->weight);
    self->total = array_alloc(AROUND_SIZE, k * sizeof *self->total);
    self->means = array_alloc(AROUND_SIZE, k * sizeof *self->means);
    NEED(self->cell && self->count && self->x && self->y && self->sum && self->weight && self->total && self->means);
    for (size_t i = 0; i < n; i++) {
        double x = (double)centroid[2 * i], y = (double)centroid[2 * i + 1];
        size_t cell = (size_t)cell_of(&down, y) * (size_t)across.n + (size_t)cell_of(&across, x);
        self->cell[i] = (int32_t)cell;
        self->count[cell]++;
        self->x[cell] += x;
        self->y[cell] += y;
        for (size_t c = 0; c < k; c++)
            self->sum[cell * k + c] += value[i * k + c];
    }
    for (size_t cell = 0; cell < n_cells; cell++)
        if (self->count[cell] > 0) {
            self->x[cell] /= self->count[cell];
            self->y[cell] /= self->count[cell];
        }
    return CLV_OK;
}

/* Returns the sector of (x, y), y downwards: 45 degrees around one of eight directions. */
static size_t sector_of(double x, double y)
{
    static const double tangent = 0.41421356237309503; /* of 22.5 degrees */
    double across = fabs(x), down = fabs(y);
    if (down <= across * tangent)
        return x > 0 ? 0 : 4;
    if (across <= down * tangent)
        return y > 0 ? 2 : 6;
    return y > 0 ? (x > 0 ? 1 : 3) : (x > 0 ? 7 : 5);
}

void around_fill(struct around *self, size_t node)
{
    size_t k = (size_t)self->n_channels, n_cells = (size_t)self->n_cells, own = (size_t)self->cell[node];
    double at_x = (double)self->centroid[2 * node], at_y = (double)self->centroid[2 * node + 1];
    for (size_t s = 0; s < AROUND_SIZE; s++)
        self->weight[s] = 0;
    for (size_t s = 0; s < AROUND_SIZE * k; s++)
        self->total[s] = 0;
    for (size_t cell = 0; cell < n_cells; cell++) {
        double x = self->x[cell] - at_x, y = self->y[cell] - at_y, square = x * x + y * y;
        if (cell == own || self->count[cell] == 0 || square > rings[AROUND_RINGS - 1] * rings[AROUND_RINGS - 1])
            continue;
        size_t ring = 0;
        while (square > rings[ring] * rings[ring])
            ring++;
        size_t s = ring * AROUND_SECTORS + sector_of(x, y);
        self->weight[s] += self->count[cell];
        for (size_t c = 0; c < k; c++)
            self->total[s * k + c] += (double)self->sum[cell * k + c];
    }
    for (size_t s = 0; s < AROUND_SIZE; s++)
        for (size_t c = 0; c < k; c++)
            self->means[s * k + c] = self->weight[s] > 0 ? (float)(self->total[s * k + c] / self->weight[s]) : 0;
}

enum { BINS = 9, MEANS = 3, FRAME = 8, N_EDGE_FEATURES = 2 };

#define CLIP             6.0 /* of log-odds */
#define FRAME_SPREADS    2.5 /* half the frame's side, in spreads */
#define LEAST_SPREAD     0.01
#define LEAST_FOREGROUND 1e-9

/* With more than two labels, smaller values become 0: they carry no information, and rows stay sparse. */
#define LEAST_MEAN 0.02F

/* Columns of a row: those of each channel in turn, then those of the frame. */
struct columns {
    int32_t n_channels;
    int32_t own, bins, means, around, image; /* of a channel */
    int32_t channel;                         /* number of columns of a channel */
    int32_t frame, n;
};

static struct columns columns_of(int32_t n_labels)
{
    struct columns at = {.n_channels = n_labels == 2 ? 1 : n_labels, .own = 0, .bins = 1};
    at.means = at.bins + BINS;
    at.around = at.means + MEANS;
    at.image = at.around + AROUND_SIZE;
    at.channel = at.image + 1;
    at.frame = at.n_channels * at.channel;
    at.n = at.frame + (n_labels == 2 ? FRAME * FRAME : 0);
    return at;
}

int32_t context_size(int32_t n_labels)
{
    return columns_of(n_labels).n;
}

void context_name(char *name, size_t size, int32_t n_labels, int32_t index)
{
    struct columns at = columns_of(n_labels);
    static const int times[MEANS] = {1, 2, 4};
    int32_t label = n_labels == 2 ? 1 : index / at.channel, part = index % at.channel;
    char where[48];
    if (index >= at.frame)
        snprintf(name, size, "stage 1: place in the foreground, row %d column %d", (index - at.frame) / FRAME,
                 (index - at.frame) % FRAME);
    else if (part < at.bins)
        snprintf(name, size, "stage 1: label %d", label);
    else if (part < at.means)
        snprintf(name, size, "stage 1: label %d bin %d", label, part - at.bins);
    else if (part < at.around)
        snprintf(name, size, "stage 1: label %d, mean of neighbours, %d times", label, times[part - at.means]);
    else if (part == at.image)
        snprintf(name, size, "stage 1: label %d in the image", label);
    else {
        around_name(where, sizeof where, part - at.around);
        snprintf(name, size, "stage 1: label %d %s", label, where);
    }
}

int32_t context_edge_size(int32_t n_edge_features, enum clv_pairwise form)
{
    return form == CLV_PAIRWISE_POTTS && n_edge_features > 0 ? N_EDGE_FEATURES : 0;
}

const char *context_edge_name(int32_t index)
{
    return index ? "stage 1: similarity times the second feature" : "stage 1: similarity";
}

void context_release(struct context *self)
{
    arrays_free(self->row, self->index, self->value, self->edge_features);
    *self = (struct context){0};
}

/* Values that are computed once for all rows of a problem. */
struct context_state {
    const struct clv_problem *problem;
    struct columns at;
    float *value; /* [n_nodes][n_channels] */
    float *means; /* [MEANS][n_nodes][n_channels] */
    float *image; /* [n_channels] */
    struct around around;
    double centre[2], spread[2]; /* of the foreground, by axis */
};

static void context_state_release(struct context_state *self)
{
    arrays_free(self->value, self->means, self->image);
    around_release(&self->around);
}

/* Sets mean[n][k] to the mean over each node and its neighbours. count[n] is workspace. */
static void smooth(float *mean, const float *value, const struct clv_problem *problem, size_t k, int32_t *count)
{
    size_t n = (size_t)problem->n_nodes;
    memcpy(mean, value, n * k * sizeof *mean);
    for (size_t i = 0; i < n; i++)
        count[i] = 1;
    for (int32_t e = 0; e < problem->n_edges; e++) {
        size_t a = (size_t)problem->edges[e][0], b = (size_t)problem->edges[e][1];
        for (size_t c = 0; c < k; c++) {
            mean[a * k + c] += value[b * k + c];
            mean[b * k + c] += value[a * k + c];
        }
        count[a]++;
        count[b]++;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < k; c++)
            mean[i * k + c] /= (float)count[i];
}

static enum clv_status smooth_all(struct context_state *self, struct clv_error *err)
{
    size_t n = (size_t)self->problem->n_nodes, k = (size_t)self->at.n_channels;
    OWNED_ARRAY float *between = array_alloc(n, k * sizeof *between);
    OWNED_ARRAY int32_t *count = array_alloc(n, sizeof *count);
    NEED(between && count);
    smooth(self->means, self->value, self->problem, k, count);
    smooth(self->means + n * k, self->means, self->problem, k, count);
    smooth(between, self->means + n * k, self->problem, k, count);
    smooth(self->means + 2 * n * k, between, self->problem, k, count);
    return CLV_OK;
}

/* Computes the foreground's centre and spread. Nodes are weighted by the cubes of their probabilities, so that
 * uncertain ones hardly count. */
static void find_frame(struct context_state *self)
{
    const struct clv_problem *problem = self->problem;
    for (size_t axis = 0; axis < 2 && problem->centroid; axis++) {
        double weight = LEAST_FOREGROUND, sum = 0, square = 0;
        for (size_t i = 0; i < (size_t)problem->n_nodes; i++) {
            double p = ((double)self->value[i] + 1) / 2, x = (double)problem->centroid[2 * i + axis], cube = p * p * p;
            weight += cube;
            sum += cube * x;
            square += cube * x * x;
        }
        double centre = sum / weight;
        self->centre[axis] = centre;
        self->spread[axis] = sqrt(fmax(square / weight - centre * centre, LEAST_SPREAD * LEAST_SPREAD));
    }
}

static enum clv_status prepare(struct context_state *self, const double *marginals, int32_t n_labels,
                               struct clv_error *err)
{
    size_t n = (size_t)self->problem->n_nodes, k = (size_t)self->at.n_channels;
    self->value = array_alloc(n, k * sizeof *self->value);
    self->means = array_alloc(n, MEANS * k * sizeof *self->means);
    self->image = array_zalloc(k, sizeof *self->image);
    NEED(self->value && self->means && self->image);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < k; c++)
            self->value[i * k + c] =
                n_labels == 2 ? (float)(2 * marginals[2 * i + 1] - 1) : (float)marginals[i * k + c];
    for (size_t c = 0; c < k; c++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += (double)self->value[i * k + c];
        self->image[c] = (float)(sum / (double)n);
    }
    MUST(smooth_all(self, err));
    if (self->problem->centroid)
        MUST(around_init(&self->around, self->value, self->at.n_channels, self->problem->centroid,
                         self->problem->n_nodes, err));
    if (n_labels == 2)
        find_frame(self);
    return CLV_OK;
}

/* Divides a node between the two bins whose centres are around its log-odds, which are clipped to +-CLIP. */
static void put_bins(float *bins, double p)
{
    p = fmin(fmax(p, 1e-4), 1 - 1e-4);
    float value = (float)fmin(fmax(portable_log(p / (1 - p)), -CLIP), CLIP);
    float at = (value + (float)CLIP) / (2 * (float)CLIP) * (BINS - 1);
    int low = int32_within((double)at, 0, BINS - 2);
    bins[low] = (float)(low + 1) - at;
    bins[low + 1] = at - (float)low;
}

static void put_frame(float *frame, const struct context_state *self, size_t node)
{
    float share[2];
    int low[2];
    for (int axis = 0; axis < 2; axis++) {
        double at =
            ((double)self->problem->centroid[2 * node + (size_t)axis] - self->centre[axis]) / self->spread[axis];
        double u = (fmin(fmax(at / FRAME_SPREADS, -1), 1) + 1) / 2 * (FRAME - 1);
        low[axis] = int32_within(u, 0, FRAME - 2);
        share[axis] = (float)(u - low[axis]);
    }
    float *cell = frame + low[1] * FRAME + low[0];
    cell[0] = (1 - share[0]) * (1 - share[1]);
    cell[1] = share[0] * (1 - share[1]);
    cell[FRAME] = (1 - share[0]) * share[1];
    cell[FRAME + 1] = share[0] * share[1];
}

static void fill_row(float *row, struct context_state *self, size_t i)
{
    const struct columns *at = &self->at;
    size_t k = (size_t)at->n_channels, n = (size_t)self->problem->n_nodes;
    bool has_centroid = self->problem->centroid != NULL;
    memset(row, 0, (size_t)at->n * sizeof *row);
    if (has_centroid)
        around_fill(&self->around, i);
    for (size_t c = 0; c < k; c++) {
        float *channel = row + c * (size_t)at->channel, own = self->value[i * k + c];
        channel[at->own] = own;
        if (k == 1 || own >= LEAST_MEAN)
            put_bins(channel + at->bins, k == 1 ? ((double)own + 1) / 2 : (double)own);
        for (size_t m = 0; m < MEANS; m++)
            channel[(size_t)at->means + m] = self->means[(m * n + i) * k + c];
        for (size_t s = 0; s < AROUND_SIZE && has_centroid; s++)
            channel[(size_t)at->around + s] = self->around.means[s * k + c];
        channel[at->image] = self->image[c];
        for (size_t s = 0; s < (size_t)at->channel && k > 1; s++)
            if (channel[s] < LEAST_MEAN)
                channel[s] = 0;
    }
    if (k == 1 && has_centroid)
        put_frame(row + at->frame, self, i);
}

static enum clv_status fill_rows(struct context *self, struct context_state *state, struct clv_error *err)
{
    const struct clv_problem *problem = state->problem;
    size_t n = (size_t)problem->n_nodes, size = (size_t)state->at.n, at = 0;
    size_t n_entries = (size_t)(problem->row[n] - problem->row[0]), capacity = 0;
    OWNED_ARRAY float *row = array_alloc(size, sizeof *row);
    self->row = array_alloc(n + 1, sizeof *self->row);
    NEED(row && self->row);
    const struct array_part entries[] = {{&self->value, sizeof(float)}, {&self->index, sizeof(int32_t)}};
    for (size_t i = 0; i < n; i++) {
        size_t own = (size_t)(problem->row[i + 1] - problem->row[i]);
        if (array_reserve_all(entries, 2, &capacity, at + own + size + (i ? 0 : n_entries)))
            return fail_memory(err);
        self->row[i] = (int64_t)at;
        memcpy(self->index + at, problem->index + problem->row[i], own * sizeof *self->index);
        memcpy(self->value + at, problem->value + problem->row[i], own * sizeof *self->value);
        at += own;
        fill_row(row, state, i);
        for (size_t s = 0; s < size; s++)
            if (row[s] != 0) {
                self->index[at] = problem->n_features + (int32_t)s;
                self->value[at++] = row[s];
            }
    }
    self->row[n] = (int64_t)at;
    return CLV_OK;
}

static enum clv_status fill_edges(struct context *self, const struct clv_problem *problem, const double *marginals,
                                  int32_t n_labels, int32_t n_more, struct clv_error *err)
{
    size_t p = (size_t)problem->n_edge_features, q = p + (size_t)n_more, k = (size_t)n_labels;
    self->edge_features = array_alloc((size_t)problem->n_edges, q * sizeof *self->edge_features);
    NEED(self->edge_features);
    for (size_t e = 0; e < (size_t)problem->n_edges; e++) {
        const float *from = problem->edge_features + e * p;
        float *to = self->edge_features + e * q;
        const double *a = marginals + (size_t)problem->edges[e][0] * k,
                     *b = marginals + (size_t)problem->edges[e][1] * k;
        double apart = 0;
        for (size_t c = 0; c < k; c++)
            apart += fabs(a[c] - b[c]) / 2;
        memcpy(to, from, p * sizeof *to);
        to[p] = (float)fmax(1 - apart, 0);
        to[p + 1] = to[p] * from[p > 1];
    }
    return CLV_OK;
}

enum clv_status context_init(struct context *self, const struct clv_problem *problem, const double *marginals,
                             int32_t n_labels, int32_t n_edge_features, struct clv_error *err)
{
    OWNED(context_state_release) struct context_state state = {.problem = problem, .at = columns_of(n_labels)};
    OWNED(context_release) struct context result = {.problem = *problem};
    MUST(prepare(&state, marginals, n_labels, err));
    MUST(fill_rows(&result, &state, err));
    if (n_edge_features)
        MUST(fill_edges(&result, problem, marginals, n_labels, n_edge_features, err));
    result.problem.n_features += state.at.n;
    result.problem.row = result.row;
    result.problem.index = result.index;
    result.problem.value = result.value;
    if (n_edge_features) {
        result.problem.n_edge_features += n_edge_features;
        result.problem.edge_features = result.edge_features;
    }
    *self = TAKE(result);
    return CLV_OK;
}

enum { N_OWN = 3 };

static const double LEAST = 1e-4;    /* of probabilities, so that log-odds are finite */
static const double SCALE = 1 / 3.0; /* of log-odds, so that values of rows are about 1 */

void evidence_measure(double *evidence, const double *marginals, int32_t n_nodes, int32_t n_labels)
{
    size_t k = (size_t)n_labels, n = n_nodes > 0 ? (size_t)n_nodes : 0;
    for (size_t l = 0; l < k; l++) {
        double sum = 0, most = 0;
        for (size_t i = 0; i < n; i++) {
            sum += marginals[i * k + l];
            most = fmax(most, marginals[i * k + l]);
        }
        evidence[l] = n ? sum / (double)n : 0;
        evidence[k + l] = most;
    }
}

int32_t evidence_size(int32_t n_labels)
{
    return N_OWN + n_labels;
}

static double log_odds(double p)
{
    p = fmin(fmax(p, LEAST), 1 - LEAST);
    return SCALE * portable_log(p / (1 - p));
}

void evidence_row(double *row, const double *evidence, int32_t n_labels, int32_t label)
{
    row[0] = 1;
    row[1] = log_odds(evidence[label]);
    row[2] = log_odds(evidence[n_labels + label]);
    for (int32_t l = 0; l < n_labels; l++)
        row[N_OWN + l] = sqrt(evidence[l]);
}
