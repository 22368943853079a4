/* Computes region adjacency by two counting sorts, which leave the edges sorted in O(pixels + nodes). Start at
 * clv_adjacency_build. */
#include <string.h>

#include "base/base.h"
#include "cleave/superpixel.h"
#include "superpixel/superpixel.h"

void clv_adjacency_release(struct clv_adjacency *adjacency)
{
    arrays_free(adjacency->edges, adjacency->boundary_length);
    *adjacency = (struct clv_adjacency){0};
}

/* `length` pixel pairs between node a and a higher node b. Contacts are stored in buckets, one for each b. */
struct contact {
    int32_t a, length;
};

struct edge_list {
    int32_t (*edges)[2];
    float *lengths;
    size_t n;
};

/* Visits all neighbouring pixels with different labels; a run of the same pair along a row is one contact. If contacts
 * is NULL, counts them in ends[b]; otherwise writes each to contacts[--ends[b]]. */
static void scan_contacts(const struct clv_superpixels *superpixels, size_t *ends, struct contact *contacts)
{
    int32_t width = superpixels->width, height = superpixels->height;
    for (int32_t y = 0; y < height; y++) {
        const int32_t *row = superpixels->labels + (size_t)y * (size_t)width,
                      *below = y + 1 < height ? row + width : row;
        for (int32_t x = 0; x < width;) {
            int32_t p = row[x], q = below[x], begin = x++;
            while (x < width && row[x] == p && below[x] == q)
                x++;
            int32_t pairs[2][3] = {{p, q, x - begin}, {p, x < width ? row[x] : p, 1}};
            for (int i = 0; i < 2; i++) {
                int32_t a = pairs[i][0], b = pairs[i][1], length = pairs[i][2];
                if (a == b)
                    continue;
                int32_t low = a < b ? a : b, high = a < b ? b : a;
                if (contacts)
                    contacts[--ends[high]] = (struct contact){low, length};
                else
                    ends[high]++;
            }
        }
    }
}

/* Sums the contacts of each pair of nodes into one edge. Returns the number of edges, which are sorted by b only.
 * slot[n_nodes] is scratch. */
static size_t merge_contacts(struct edge_list *list, const struct contact *contacts, const size_t *first,
                             int32_t n_nodes, size_t *slot)
{
    for (int32_t a = 0; a < n_nodes; a++)
        slot[a] = SIZE_MAX;
    size_t n = 0;
    for (int32_t b = 0; b < n_nodes; b++) {
        size_t begin = n;
        for (size_t i = first[b]; i < first[b + 1]; i++) {
            int32_t a = contacts[i].a;
            if (slot[a] == SIZE_MAX || slot[a] < begin) {
                slot[a] = n;
                list->edges[n][0] = a;
                list->edges[n][1] = b;
                list->lengths[n++] = 0;
            }
            list->lengths[slot[a]] += (float)contacts[i].length;
        }
    }
    return list->n = n;
}

/* Sorts the edges by a. The sort is stable, so b ascends within each a. starts[n_nodes + 1] is scratch. */
static void sort_edges(struct clv_adjacency *adjacency, const struct edge_list *list, size_t *starts)
{
    memset(starts, 0, ((size_t)adjacency->n_nodes + 1) * sizeof *starts);
    for (size_t i = 0; i < list->n; i++)
        starts[list->edges[i][0] + 1]++;
    for (int32_t a = 0; a < adjacency->n_nodes; a++)
        starts[a + 1] += starts[a];
    for (size_t i = 0; i < list->n; i++) {
        size_t at = starts[list->edges[i][0]]++;
        adjacency->edges[at][0] = list->edges[i][0];
        adjacency->edges[at][1] = list->edges[i][1];
        adjacency->boundary_length[at] = list->lengths[i];
    }
}

static void edge_list_release(struct edge_list *list)
{
    arrays_free(list->edges, list->lengths);
}

enum clv_status clv_adjacency_build(struct clv_adjacency *adjacency, const struct clv_superpixels *superpixels,
                                    struct clv_error *err)
{
    MUST(labels_check(superpixels, err));
    size_t n = (size_t)superpixels->n;
    OWNED(clv_adjacency_release) struct clv_adjacency result = {.n_nodes = superpixels->n};
    OWNED(edge_list_release) struct edge_list list = {0};
    OWNED_ARRAY struct contact *contacts = NULL;
    OWNED_ARRAY size_t *slot = array_alloc(n + 1, sizeof *slot);
    OWNED_ARRAY size_t *first = array_zalloc(n + 1, sizeof *first);
    NEED(slot && first);
    scan_contacts(superpixels, first, NULL);
    for (size_t b = 0; b < n; b++)
        first[b + 1] += first[b];
    size_t n_contacts = n ? first[n - 1] : 0;
    first[n] = n_contacts;
    contacts = array_alloc(n_contacts, sizeof *contacts);
    list.edges = array_alloc(n_contacts, sizeof *list.edges);
    list.lengths = array_alloc(n_contacts, sizeof *list.lengths);
    NEED(contacts && list.edges && list.lengths);
    scan_contacts(superpixels, first, contacts);
    size_t n_edges = merge_contacts(&list, contacts, first, superpixels->n, slot);
    FAIL_IF(n_edges > INT32_MAX, CLV_ERR_USAGE, "superpixels: %zu edges, more than 2^31", n_edges);
    result.n_edges = (int32_t)n_edges;
    result.edges = array_alloc(n_edges, sizeof *result.edges);
    result.boundary_length = array_alloc(n_edges, sizeof *result.boundary_length);
    NEED(result.edges && result.boundary_length);
    sort_edges(&result, &list, slot);
    *adjacency = TAKE(result);
    return CLV_OK;
}
