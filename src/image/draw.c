/* Draws overlays: paints a label map over its image.
 *
 * Borders are contours between pixels. Between two neighbouring pixels of different labels the contour passes where the
 * slightly blurred label map changes sides (marching squares), so that a staircase becomes a straight line. The colour
 * of a pixel near a contour depends on its distance, which gives lines of even width with smooth edges. The image is
 * painted in tiles whose distances are on the stack, so that nothing is allocated and nothing can fail. Start at
 * overlay_band. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "cleave/image.h"
#include "image/image.h"

#define TILE        64
#define MAX_OUTLINE 100 /* pixels; a line wider than that is a mistake */

struct map {
    const struct image_band *band;
    int32_t width, height; /* of the image */
    int32_t first, end;    /* rows of the image that the arrays have */
    int void_label;
};

struct line {
    float half_width, rim; /* pixels */
    float shift;           /* pixels towards the upper label, so that a one-pixel line falls on whole pixels */
};

struct tile {
    int32_t x0, y0, x1, y1;      /* pixels of the image, x0 <= x < x1, y0 <= y < y1 */
    bool touched;                /* a contour is near the tile */
    float distance2[TILE][TILE]; /* squared */
};

struct point {
    float x, y;
};

void clv_default_palette(uint8_t palette[256][3])
{
    for (int label = 0; label < 256; label++) {
        uint8_t colour[3] = {0};
        for (int bit = 0; bit < 8; bit++)
            colour[bit % 3] |= (uint8_t)((label >> bit & 1) << (7 - bit / 3));
        memcpy(palette[label], colour, sizeof colour);
    }
}

static int32_t clamped(int32_t value, int32_t n)
{
    return value < 0 ? 0 : value >= n ? n - 1 : value;
}

/* Returns row y of the image. Rows outside of the arrays repeat the first or last one: at the border of the image on
 * purpose, elsewhere too far from the band to change a pixel. */
static const uint8_t *row_at(const struct map *map, int32_t y)
{
    int32_t row = y < map->first ? map->first : y >= map->end ? map->end - 1 : y;
    return map->band->labels + image_band_row(map->band, row);
}

static int label_at(const struct map *map, int32_t x, int32_t y)
{
    return row_at(map, y)[clamped(x, map->width)];
}

/* Void borders are drawn on the other label's side. */
static int rank(const struct map *map, int label)
{
    return label == map->void_label ? -1 : label;
}

/* Returns the weight of label a minus that of label b around a pixel: a binomial 5x5 window, in 1/256. The border
 * repeats. */
static int majority(const struct map *map, int32_t x, int32_t y, int a, int b)
{
    static const int binomial[5] = {1, 4, 6, 4, 1};
    int32_t columns[5];
    for (int i = 0; i < 5; i++)
        columns[i] = clamped(x + i - 2, map->width);
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        const uint8_t *row = row_at(map, y + i - 2);
        int row_sum = 0;
        for (int j = 0; j < 5; j++) {
            int label = row[columns[j]];
            row_sum += binomial[j] * ((label == a) - (label == b));
        }
        sum += binomial[i] * row_sum;
    }
    return sum;
}

/* Returns the point where the contour crosses between the centres of two neighbouring pixels. */
static struct point crossing(const struct map *map, int32_t x, int32_t y, int32_t dx, int32_t dy)
{
    int a = label_at(map, x, y), b = label_at(map, x + dx, y + dy);
    int here = majority(map, x, y, a, b), there = majority(map, x + dx, y + dy, a, b);
    float t = here > 0 && there < 0 ? (float)here / (float)(here - there) : 0.5f;
    return (struct point){(float)x + t * (float)dx, (float)y + t * (float)dy};
}

static int32_t pixel_at(float coordinate)
{
    return int32_within((double)coordinate, INT32_MIN, INT32_MAX);
}

/* Lowers the distances of the tile's pixels around a piece of contour. */
static void add_piece(struct tile *tile, const struct map *map, const struct line *line, struct point a, struct point b,
                      int upper)
{
    float reach = line->half_width + line->rim + 0.5f + line->shift;
    int32_t x0 = pixel_at(ceilf(fminf(a.x, b.x) - reach)), x1 = pixel_at(floorf(fmaxf(a.x, b.x) + reach));
    int32_t y0 = pixel_at(ceilf(fminf(a.y, b.y) - reach)), y1 = pixel_at(floorf(fmaxf(a.y, b.y) + reach));
    x0 = x0 > tile->x0 ? x0 : tile->x0;
    y0 = y0 > tile->y0 ? y0 : tile->y0;
    x1 = x1 < tile->x1 ? x1 : tile->x1 - 1;
    y1 = y1 < tile->y1 ? y1 : tile->y1 - 1;
    float dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy, scale = length > 0 ? 1 / length : 0;
    for (int32_t y = y0; y <= y1; y++)
        for (int32_t x = x0; x <= x1; x++) {
            float px = (float)x - a.x, py = (float)y - a.y, t = (px * dx + py * dy) * scale;
            t = t < 0 ? 0 : t > 1 ? 1 : t;
            float ex = px - t * dx, ey = py - t * dy, square = ex * ex + ey * ey;
            if (line->shift > 0) {
                float d = sqrtf(square) + (label_at(map, x, y) == upper ? -line->shift : line->shift);
                square = d * d;
            }
            float *least = &tile->distance2[y - tile->y0][x - tile->x0];
            *least = square < *least ? square : *least;
        }
}

/* Adds the contour within the square between four pixel centres, the upper left one at (x, y). */
static void add_cell(struct tile *tile, const struct map *map, const struct line *line, int32_t x, int32_t y)
{
    int corner[4] = {label_at(map, x, y), label_at(map, x + 1, y), label_at(map, x, y + 1),
                     label_at(map, x + 1, y + 1)};
    if (corner[0] == corner[1] && corner[0] == corner[2] && corner[0] == corner[3])
        return;
    struct point crossings[4], centre = {0, 0};
    int n = 0, upper = corner[0];
    tile->touched = true;
    for (int i = 1; i < 4; i++)
        upper = rank(map, corner[i]) > rank(map, upper) ? corner[i] : upper;
    if (corner[0] != corner[1])
        crossings[n++] = crossing(map, x, y, 1, 0);
    if (corner[2] != corner[3])
        crossings[n++] = crossing(map, x, y + 1, 1, 0);
    if (corner[0] != corner[2])
        crossings[n++] = crossing(map, x, y, 0, 1);
    if (corner[1] != corner[3])
        crossings[n++] = crossing(map, x + 1, y, 0, 1);
    if (n == 2) {
        add_piece(tile, map, line, crossings[0], crossings[1], upper);
        return;
    }
    for (int i = 0; i < n; i++) {
        centre.x += crossings[i].x / (float)n;
        centre.y += crossings[i].y / (float)n;
    }
    for (int i = 0; i < n; i++)
        add_piece(tile, map, line, crossings[i], centre, upper);
}

/* Returns whether four pixels of two rows have one label; false if one of them is beyond the image's border. */
static bool is_uniform(const uint8_t *upper, const uint8_t *lower, int32_t x, int32_t width)
{
    return x >= 0 && x + 1 < width && upper[x] == upper[x + 1] && upper[x] == lower[x] && upper[x] == lower[x + 1];
}

/* Returns the largest distance from a tile, in pixels, of contours that change it. */
static int32_t reach_of(const struct line *line)
{
    return int32_within((double)ceilf(line->half_width + line->rim), 0, INT32_MAX - 2) + 2;
}

static void measure(struct tile *tile, const struct map *map, const struct line *line)
{
    int32_t reach = reach_of(line);
    int32_t x0 = tile->x0 - reach > -1 ? tile->x0 - reach : -1, y0 = tile->y0 - reach > -1 ? tile->y0 - reach : -1;
    tile->touched = false;
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++)
            tile->distance2[i][j] = INFINITY;
    for (int32_t y = y0; y < tile->y1 + reach && y < map->height; y++) {
        const uint8_t *upper = row_at(map, y), *lower = row_at(map, y + 1);
        bool has_rows = y >= 0 && y + 1 < map->height;
        for (int32_t x = x0; x < tile->x1 + reach && x < map->width; x++)
            if (!has_rows || !is_uniform(upper, lower, x, map->width))
                add_cell(tile, map, line, x, y);
    }
}

/* Returns the fraction of a pixel at distance d that a line of the given half width covers. */
static float coverage(float half_width, float d)
{
    float c = half_width + 0.5f - d;
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

static void mix(uint8_t *pixel, float grey, float amount)
{
    for (int c = 0; c < 3; c++)
        pixel[c] = (uint8_t)((float)pixel[c] + (grey - (float)pixel[c]) * amount + 0.5f);
}

static void tint(uint8_t *pixel, const uint8_t *colour, int opacity)
{
    for (int c = 0; c < 3; c++)
        pixel[c] = (uint8_t)((pixel[c] * (255 - opacity) + colour[c] * opacity + 127) / 255);
}

/* Paints diagonal stripes with smooth edges; `unit` is an eighth of their period. */
static void hatch(uint8_t *pixel, int32_t x, int32_t y, int32_t unit)
{
    static const uint8_t greys[8] = {90, 90, 90, 135, 180, 180, 180, 135};
    mix(pixel, greys[((int64_t)x + y) / unit % 8], 0.7f);
}

static void fill(uint8_t *pixel, const struct map *map, const uint8_t (*palette)[3], int opacity)
{
    const struct image_band *band = map->band;
    int32_t side = map->width < map->height ? map->width : map->height;
    int32_t unit = side < 800 ? 1 : side / 400;
    const uint8_t *labels = band->labels + image_band_start(band);
    for (int32_t y = band->top; y < band->top + band->n_rows; y++)
        for (int32_t x = 0; x < map->width; x++, pixel += 3) {
            int label = *labels++;
            if (label == map->void_label)
                hatch(pixel, x, y, unit);
            else if (label)
                tint(pixel, palette[label], opacity);
        }
}

static void paint_line(uint8_t *pixels, const struct map *map, const struct tile *tile, const struct line *line)
{
    float outer = line->half_width + line->rim;
    for (int32_t y = tile->y0; y < tile->y1; y++)
        for (int32_t x = tile->x0; x < tile->x1; x++) {
            float square = tile->distance2[y - tile->y0][x - tile->x0];
            if (square >= (outer + 0.5f) * (outer + 0.5f))
                continue;
            float d = sqrtf(square);
            uint8_t *pixel = pixels + ((size_t)(y - map->band->top) * (size_t)map->width + (size_t)x) * 3;
            mix(pixel, 0, 0.75f * coverage(outer, d));
            mix(pixel, 255, coverage(line->half_width, d));
        }
}

static void outline(uint8_t *pixels, const struct map *map, const struct line *line)
{
    struct tile tile;
    int32_t end = map->band->top + map->band->n_rows;
    for (tile.y0 = map->band->top; tile.y0 < end; tile.y0 += TILE)
        for (tile.x0 = 0; tile.x0 < map->width; tile.x0 += TILE) {
            tile.x1 = map->width - tile.x0 < TILE ? map->width : tile.x0 + TILE;
            tile.y1 = end - tile.y0 < TILE ? end : tile.y0 + TILE;
            measure(&tile, map, line);
            if (tile.touched)
                paint_line(pixels, map, &tile, line);
        }
}

static struct line line_of(int32_t outline_px)
{
    float width = (float)(outline_px < MAX_OUTLINE ? outline_px : MAX_OUTLINE);
    return (struct line){width / 2, fmaxf(1, width / 2), outline_px == 1 ? 0.5f : 0};
}

/* The position of a contour in a cell depends on the five rows around each of the cell's corners. */
int32_t overlay_halo(int32_t outline_px)
{
    const struct line line = line_of(outline_px);
    return outline_px < 1 ? 0 : reach_of(&line) + 3;
}

void overlay_band(uint8_t *pixels, const struct image_band *band, const uint8_t (*palette)[3], double opacity,
                  int32_t outline_px, int void_label)
{
    const struct map map = {.band = band,
                            .width = band->width,
                            .height = band->height,
                            .first = band->top - band->above,
                            .end = band->top + band->n_rows + band->below,
                            .void_label = void_label};
    fill(pixels, &map, palette, int32_within(opacity * 255 + 0.5, 0, 255));
    if (outline_px < 1)
        return;
    const struct line line = line_of(outline_px);
    outline(pixels, &map, &line);
}

void clv_overlay_draw(struct clv_image *image, const uint8_t *labels, const uint8_t (*palette)[3], double opacity,
                      int32_t outline_px, int void_label)
{
    const struct image_band all = image_band_of(image, labels);
    if (image->channels == 3)
        overlay_band(image->pixels, &all, palette, opacity, outline_px, void_label);
}

#define FAR_ENOUGH 60

/* Matrices that convert red, green and blue to what three kinds of vision perceive: common, protan (no cones for long
 * wavelengths) and deutan (none for middle ones). Machado, Oliveira and Fernandes 2009, severity 1; applied here to the
 * coded values, which is accurate enough for a comparison. */
static const double eyes[][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
};

double overlay_palette_distance(const uint8_t a[3], const uint8_t b[3])
{
    double least = INFINITY;
    for (size_t eye = 0; eye < sizeof eyes / sizeof *eyes; eye++) {
        double d[3];
        for (int c = 0; c < 3; c++)
            d[c] = eyes[eye][c][0] * (a[0] - b[0]) + eyes[eye][c][1] * (a[1] - b[1]) + eyes[eye][c][2] * (a[2] - b[2]);
        double light = 0.3 * d[0] + 0.59 * d[1] + 0.11 * d[2];
        double hue =
            (d[0] - light) * (d[0] - light) + (d[1] - light) * (d[1] - light) + (d[2] - light) * (d[2] - light);
        least = fmin(least, sqrt(light * light + hue / 4)); /* differences of hue are fainter */
    }
    return least;
}

/* Returns the distance of a colour to the nearest one of labels 1..label - 1. */
static double distance_to_earlier(const uint8_t (*result)[3], int32_t label, const uint8_t colour[3])
{
    double least = INFINITY;
    for (int32_t k = 1; k < label; k++)
        least = fmin(least, overlay_palette_distance(result[k], colour));
    return least;
}

void overlay_palette(uint8_t result[256][3], const uint8_t (*palette)[3], int32_t n_labels)
{
    static const struct {
        uint8_t towards;
        double share;
    } shades[] = {{0, 0},     {255, 0.3}, {0, 0.3},    {255, 0.55}, {0, 0.55},
                  {255, 0.7}, {0, 0.75},  {255, 0.85}, {0, 1},      {255, 1}};
    memcpy(result, palette, sizeof(uint8_t[256][3]));
    for (int32_t label = 2; label < n_labels && label < 256; label++) {
        double farthest = -1;
        for (size_t s = 0; s < sizeof shades / sizeof *shades && farthest < FAR_ENOUGH; s++) {
            uint8_t colour[3];
            for (int c = 0; c < 3; c++)
                colour[c] =
                    (uint8_t)(palette[label][c] + shades[s].share * (shades[s].towards - palette[label][c]) + 0.5);
            double distance = distance_to_earlier((const uint8_t(*)[3])result, label, colour);
            if (distance > farthest) {
                farthest = distance;
                memcpy(result[label], colour, sizeof colour);
            }
        }
    }
}
