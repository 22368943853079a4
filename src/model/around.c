/* Computes means of values over rings around each node. Values are summed in the cells of a grid first, so that a
 * node is compared with cells instead of with all other nodes. Start at around_fill. */
#include "model/context.h"

#include <math.h>

#include "base/base.h"

#define CELL     0.04 /* side, in the unit of centroids */
#define MAX_SIDE 32   /* cells */

static const double rings[AROUND_RINGS] = {0.12, 0.3, 0.7};

void around_name(char *name, size_t size, int32_t index)
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

/* The sector of 45 degrees around each of eight directions that (x, y) is in, y downwards. */
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
