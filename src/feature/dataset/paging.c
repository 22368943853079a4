/* Decides which pages of mapped feature files are prefetched and which are released. Files that fit into memory are
 * mapped by huge pages, which are released every MAX_ACCESSED_BYTES bytes. For files that are larger than memory,
 *
 * - passes in the order of the items are read by huge pages, which is as fast as reading the file from end to end;
 * - for items in random order, each array's part is read at once, the next ones' ahead of their turn
 *   (dataset_expects), and the least recent items' pages are freed, so that the system need not search for memory;
 * - the pages of edges stay in memory if all of them take half of it at most.
 *
 * Paging affects only the time. Start at dataset_notify_access. */
#include "feature/dataset/dataset.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/memory.h"
#include "base/pages.h"
#include "data/data.h"

enum {
    MAX_RECENT = 256,     /* items */
    MAX_DROPPED = 8,      /* items whose pages one access releases */
    MIN_OUT_OF_ORDER = 3, /* accesses after which the order counts as random; ends of shards are also out of order */
    MIN_IN_ORDER = 4,     /* accesses after which it counts as that of the items */
    MAX_OPEN = 256,       /* files: processes often have a limit of 1,024 open files */
};

/* Bytes from the last item within which an item is in order, since threads do not access items exactly in order. */
#define NEAR ((size_t)4 << 20)

/* The parts of the file's arrays that belong to an item. */
struct item_parts {
    const void *index, *value, *edges, *edge_features; /* index NULL: not stored in the file */
    size_t n_entries, edge_bytes, edge_feature_bytes;
};

struct dataset_paging {
    pthread_mutex_t lock;
    struct pages_file *files; /* [n_files] if is_large, else NULL */
    size_t n_files;
    bool is_large;    /* the files are larger than memory */
    bool keeps_edges; /* pages of edges are not released */
    bool is_in_order;
    int n_against;         /* successive accesses that contradict is_in_order */
    uintptr_t begin, end;  /* addresses of the last item's values */
    size_t accessed_bytes; /* bytes since pages were last released */
    size_t max_accessed_bytes, max_recent_bytes;
    struct item_parts recent[MAX_RECENT]; /* ring buffer; only used in random order */
    size_t first, n_recent, recent_bytes;
};

static const void *address_of(const struct clv_problem *problem)
{
    return problem->value + problem->row[0];
}

static size_t entries_of(const struct clv_problem *problem)
{
    return (size_t)(problem->row[problem->n_nodes] - problem->row[0]);
}

static size_t bytes_of(const struct item_parts *parts)
{
    return parts->n_entries * ((parts->index ? sizeof(int32_t) : 0) + sizeof(float)) + parts->edge_bytes +
           parts->edge_feature_bytes;
}

static struct item_parts parts_of(const struct clv_dataset *dataset, const struct clv_problem *problem)
{
    bool is_dense = dataset->files[0]->dense_index != NULL;
    struct item_parts parts = {.value = address_of(problem), .n_entries = entries_of(problem)};
    if (!is_dense)
        parts.index = problem->index + problem->row[0];
    parts.edges = problem->edges;
    parts.edge_features = problem->edge_features;
    parts.edge_bytes = (size_t)problem->n_edges * sizeof *problem->edges;
    parts.edge_feature_bytes =
        (size_t)problem->n_edges * (size_t)problem->n_edge_features * sizeof *problem->edge_features;
    return parts;
}

static void fetch_parts(const struct item_parts *parts)
{
    if (parts->index)
        pages_fetch(parts->index, parts->n_entries * sizeof(int32_t));
    pages_fetch(parts->value, parts->n_entries * sizeof(float));
    pages_fetch(parts->edges, parts->edge_bytes);
    pages_fetch(parts->edge_features, parts->edge_feature_bytes);
}

static void drop_parts(const struct clv_dataset *dataset, const struct item_parts *parts)
{
    const struct dataset_paging *self = dataset->paging;
    const struct pages_file *file = self->files;
    while (file + 1 < self->files + dataset->n_files && (uintptr_t)parts->value - (uintptr_t)file->bytes >= file->size)
        file++;
    if (parts->index)
        pages_drop(file, parts->index, parts->n_entries * sizeof(int32_t));
    pages_drop(file, parts->value, parts->n_entries * sizeof(float));
    if (self->keeps_edges)
        return;
    pages_drop(file, parts->edges, parts->edge_bytes);
    pages_drop(file, parts->edge_features, parts->edge_feature_bytes);
}

static bool is_recent(const struct dataset_paging *self, const void *address)
{
    for (size_t k = self->n_recent; k-- > 0;)
        if (self->recent[(self->first + k) % MAX_RECENT].value == address)
            return true;
    return false;
}

/* Removes the least recent item, which becomes *oldest, if the ring is full. Returns whether it was. */
static bool remove_oldest(struct item_parts *oldest, struct dataset_paging *self)
{
    if (self->n_recent < MAX_RECENT && (self->recent_bytes <= self->max_recent_bytes || self->n_recent <= 1))
        return false;
    *oldest = self->recent[self->first];
    self->first = (self->first + 1) % MAX_RECENT;
    self->n_recent--;
    self->recent_bytes -= bytes_of(oldest);
    return true;
}

static void add_recent(struct dataset_paging *self, const struct item_parts *parts)
{
    self->recent[(self->first + self->n_recent++) % MAX_RECENT] = *parts;
    self->recent_bytes += bytes_of(parts);
}

static void read_as(const struct clv_dataset *dataset, enum pages_reading reading)
{
    for (size_t k = 0; k < dataset->n_files; k++) {
        const struct file_map *map = tensors_map(dataset->files[k]->tensors);
        pages_read_as(map->bytes, map->size, reading);
    }
}

/* Updates is_in_order by the present access. */
static void note_order(const struct clv_dataset *dataset, const struct clv_problem *problem)
{
    struct dataset_paging *self = dataset->paging;
    uintptr_t begin = (uintptr_t)address_of(problem), end = begin + entries_of(problem) * sizeof(float);
    bool is_next = begin + NEAR >= self->begin && begin <= self->end + NEAR;
    self->begin = begin;
    self->end = end;
    self->n_against = is_next == self->is_in_order ? 0 : self->n_against + 1;
    if (self->n_against < (self->is_in_order ? MIN_OUT_OF_ORDER : MIN_IN_ORDER))
        return;
    self->is_in_order = is_next;
    self->n_against = 0;
    self->n_recent = self->recent_bytes = 0; /* their pages are no longer tracked */
    if (self->is_large)
        read_as(dataset, is_next ? PAGES_IN_ORDER : PAGES_SCATTERED);
}

static size_t huge_page_of(const struct clv_dataset *dataset)
{
    return tensors_map(dataset->files[0]->tensors)->size > FILE_LARGE ? FILE_HUGE_PAGE : 0;
}

/* Counts accessed bytes. Returns whether it is time to release pages. */
static bool count_bytes(struct dataset_paging *self, size_t bytes)
{
    self->accessed_bytes += bytes;
    if (self->accessed_bytes < self->max_accessed_bytes)
        return false;
    self->accessed_bytes = 0;
    return true;
}

static void drop_all_pages(const struct clv_dataset *dataset)
{
    for (size_t k = 0; k < dataset->n_files; k++)
        file_map_forget(tensors_map(dataset->files[k]->tensors));
}

/* Prefetches the item and releases the pages of the oldest ones. The caller holds the lock, which is released here. */
static void read_item(const struct clv_dataset *dataset, const struct item_parts *parts)
{
    struct dataset_paging *self = dataset->paging;
    struct item_parts oldest[MAX_DROPPED];
    size_t n = 0;
    while (n < MAX_DROPPED && remove_oldest(&oldest[n], self))
        n++;
    if (self->n_recent < MAX_RECENT)
        add_recent(self, parts);
    bool is_time = count_bytes(self, bytes_of(parts)); /* neighbouring pages in memory are mapped, too */
    pthread_mutex_unlock(&self->lock);
    fetch_parts(parts);
    for (size_t k = 0; k < n; k++)
        drop_parts(dataset, &oldest[k]);
    if (is_time)
        drop_all_pages(dataset);
}

void dataset_notify_access(const struct clv_dataset *dataset, const struct clv_problem *problem)
{
    if (!dataset || !dataset->n_files)
        return;
    struct dataset_paging *self = dataset->paging;
    pthread_mutex_lock(&self->lock);
    if (self->n_recent && is_recent(self, address_of(problem))) {
        pthread_mutex_unlock(&self->lock);
        return;
    }
    note_order(dataset, problem);
    const struct item_parts parts = parts_of(dataset, problem);
    if (self->is_large && !self->is_in_order) {
        read_item(dataset, &parts);
        return;
    }
    /* Out of order, the huge pages of each of the four arrays also map bytes that do not belong to the item. */
    size_t beside = self->is_in_order ? 0 : 4 * huge_page_of(dataset);
    bool is_time = count_bytes(self, bytes_of(&parts) + beside);
    pthread_mutex_unlock(&self->lock);
    if (is_time)
        drop_all_pages(dataset);
}

void dataset_expects(const struct clv_dataset *dataset, const struct clv_problem *problem)
{
    if (!dataset || !dataset->n_files || !dataset->paging->is_large)
        return;
    struct dataset_paging *self = dataset->paging;
    pthread_mutex_lock(&self->lock);
    const struct item_parts parts = parts_of(dataset, problem);
    if (self->is_in_order || bytes_of(&parts) > self->max_recent_bytes / MAX_EXPECTED / 2 ||
        is_recent(self, parts.value))
        pthread_mutex_unlock(&self->lock);
    else
        read_item(dataset, &parts);
}

enum clv_status dataset_paging_new(struct dataset_paging **paging, struct clv_error *err)
{
    *paging = array_zalloc(1, sizeof **paging);
    NEED(*paging);
    pthread_mutex_init(&(*paging)->lock, NULL);
    (*paging)->is_in_order = true;
    (*paging)->max_accessed_bytes = MAX_ACCESSED_BYTES;
    return CLV_OK;
}

void dataset_paging_free(struct dataset_paging *self)
{
    if (!self)
        return;
    for (size_t k = 0; k < self->n_files; k++)
        pages_close(&self->files[k]);
    pthread_mutex_destroy(&self->lock);
    arrays_free(self->files, self);
}

static double bytes_named(const struct clv_tensors *tensors, const char *name)
{
    const struct clv_tensor *tensor = clv_tensors_find(tensors, name);
    size_t bytes;
    return tensor && tensor_bytes(&bytes, tensor) ? (double)bytes : 0;
}

enum clv_status dataset_paging_begin(struct clv_dataset *dataset, struct clv_error *err)
{
    struct dataset_paging *self = dataset->paging;
    double left = memory_available(), all = 0, of_edges = 0;
    for (size_t k = 0; k < dataset->n_files; k++) {
        const struct clv_tensors *tensors = dataset->files[k]->tensors;
        all += (double)tensors_map(tensors)->size;
        of_edges += bytes_named(tensors, "edges") + bytes_named(tensors, "edge_features");
    }
    self->is_large = all > left;
    if (!self->is_large)
        return CLV_OK;
    self->files = array_zalloc(dataset->n_files, sizeof *self->files);
    NEED(self->files);
    for (; self->n_files < dataset->n_files; self->n_files++) {
        const struct file_map *map = tensors_map(dataset->files[self->n_files]->tensors);
        struct pages_file *file = &self->files[self->n_files];
        *file = (struct pages_file){map->bytes, map->size, 0};
        if (self->n_files < MAX_OPEN)
            pages_open(file, map->path, map->bytes, map->size);
    }
    self->keeps_edges = of_edges < left / 2;
    self->max_recent_bytes = (size_t)(left / 4);
    if (self->max_accessed_bytes > self->max_recent_bytes)
        self->max_accessed_bytes = self->max_recent_bytes;
    return CLV_OK;
}
