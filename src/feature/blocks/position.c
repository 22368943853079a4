/* Computes the feature blocks position (a node's centroid on a coarse grid) and size. These are the shortest blocks:
 * read them first. */
#include <math.h>
#include <stdio.h>

#include "feature/blocks/blocks.h"

enum { GRID = 10 };

int32_t position_size(const struct clv_recipe *recipe)
{
    (void)recipe;
    return GRID * GRID;
}

/* Finds the two cells whose centres, at (k + 1/2) / GRID, are next to a coordinate in 0..1, and the weight of the
 * second. */
static void soft_bin(int *low, int *high, float *weight, float coordinate)
{
    float at = coordinate * GRID - 0.5f;
    float lower = floorf(at);
    *weight = at - lower;
    *low = int32_within((double)lower, 0, GRID - 1);
    *high = int32_within((double)lower + 1, 0, GRID - 1);
}

double position_met(const struct clv_recipe *recipe, double of_node, double of_image)
{
    (void)recipe, (void)of_node, (void)of_image;
    return 4;
}

void position_fill(float *row, const struct views *views, int32_t region)
{
    const struct scene *scene = views_own(views);
    int x[2], y[2];
    float fx, fy;
    soft_bin(&x[0], &x[1], &fx, scene->regions[region].x);
    soft_bin(&y[0], &y[1], &fy, scene->regions[region].y);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            row[y[i] * GRID + x[j]] += (i ? fy : 1 - fy) * (j ? fx : 1 - fx);
}

void position_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index)
{
    (void)recipe;
    snprintf(name, size, "position row %d column %d", index / GRID, index % GRID);
}

int32_t size_size(const struct clv_recipe *recipe)
{
    (void)recipe;
    return 2;
}

double size_met(const struct clv_recipe *recipe, double of_node, double of_image)
{
    (void)of_node, (void)of_image;
    return size_size(recipe);
}

void size_fill(float *row, const struct views *views, int32_t region)
{
    const struct clv_recipe *recipe = views->recipe;
    const struct scene *scene = views_own(views);
    double n = scene->regions[region].n_pixels;
    row[0] = 1;
    row[1] = recipe->scale > 0 ? (float)(n / recipe->region_area)
                               : (float)(n * scene->n_regions / (double)scene->start[scene->n_regions]);
}

void size_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index)
{
    (void)recipe;
    snprintf(name, size, "%s", index == 0 ? "bias" : "relative size");
}
