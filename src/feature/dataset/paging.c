/* Decides which pages of mapped feature files are read ahead and which are given back. Files that fit into memory are
 * mapped by huge pages, and given back every LOOKED_AT_MAX bytes. Of files that are larger than memory,
 *
 * - passes in the order of the items are read by huge pages, which is as fast as reading the file from end to end;
 * - for items in random order, each array's part is read at once, the next ones' ahead of their turn
 *   (dataset_expects), and the least recent items' pages are freed, so that the system need not search for memory;
 * - the pages of edges stay in memory if all of them take half of it at most.
 *
 * Nothing depends on it but time. Start at dataset_looked_at. */
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
    MAX_LEAVING = 8,      /* items whose pages one look frees */
    MIN_OUT_OF_ORDER = 3, /* looks after which the order is a random one: shards end, too */
    MIN_IN_ORDER = 4,     /* looks after which it is the items' own */
    MAX_OPEN = 256,       /* files: processes may have a thousand open */
};

/* Items that are this near to the last one are in order: threads take turns. */
#define NEAR ((size_t)4 << 20)

/* An item's parts of the arrays. */
struct item_parts {
    const void *index, *value, *edges, *edge_features; /* index NULL: not in a file */
    size_t n_entries, edge_bytes, edge_feature_bytes;
};

struct dataset_paging {
    pthread_mutex_t lock;
    struct pages_file *files; /* [n_files] if they are large, else NULL */
    size_t n_files;
    bool is_large;    /* the files are larger than memory */
    bool keeps_edges; /* in memory, as long as the system has room */
    bool is_in_order;
    int n_against;        /* looks in a row that were not as is_in_order says */
    uintptr_t begin, end; /* values of the item that was looked at last */
    size_t looked_at;     /* bytes since pages were last given back */
    size_t max_looked_at, max_recent_bytes;
    struct item_parts recent[MAX_RECENT]; /* a ring; in random order alone */
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

static void fetch(const struct item_parts *parts)
{
    if (parts->index)
        pages_fetch(parts->index, parts->n_entries * sizeof(int32_t));
    pages_fetch(parts->value, parts->n_entries * sizeof(float));
    pages_fetch(parts->edges, parts->edge_bytes);
    pages_fetch(parts->edge_features, parts->edge_feature_bytes);
}

static void drop(const struct clv_dataset *dataset, const struct item_parts *parts)
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

/* Removes the least recent item, into *leaving, unless there is room for one more. */
static bool leave(struct item_parts *leaving, struct dataset_paging *self)
{
    if (self->n_recent < MAX_RECENT && (self->recent_bytes <= self->max_recent_bytes || self->n_recent <= 1))
        return false;
    *leaving = self->recent[self->first];
    self->first = (self->first + 1) % MAX_RECENT;
    self->n_recent--;
    self->recent_bytes -= bytes_of(leaving);
    return true;
}

static void enter(struct dataset_paging *self, const struct item_parts *parts)
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

/* Notes whether the looks go through the items in order. */
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
    self->n_recent = self->recent_bytes = 0; /* other pages take their room from here on */
    if (self->is_large)
        read_as(dataset, is_next ? PAGES_IN_ORDER : PAGES_SCATTERED);
}

static size_t huge_page_of(const struct clv_dataset *dataset)
{
    return tensors_map(dataset->files[0]->tensors)->size > FILE_LARGE ? FILE_HUGE_PAGE : 0;
}

/* Counts what is looked at; whether it is time to give pages back. */
static bool count(struct dataset_paging *self, size_t bytes)
{
    self->looked_at += bytes;
    if (self->looked_at < self->max_looked_at)
        return false;
    self->looked_at = 0;
    return true;
}

static void forget(const struct clv_dataset *dataset)
{
    for (size_t k = 0; k < dataset->n_files; k++)
        file_map_forget(tensors_map(dataset->files[k]->tensors));
}

/* Enters the item, reads it, and frees the memory of those that leave for it. Called with the lock, which it gives
 * back. */
static void read_item(const struct clv_dataset *dataset, const struct item_parts *parts)
{
    struct dataset_paging *self = dataset->paging;
    struct item_parts leaving[MAX_LEAVING];
    size_t n = 0;
    while (n < MAX_LEAVING && leave(&leaving[n], self))
        n++;
    if (self->n_recent < MAX_RECENT)
        enter(self, parts);
    bool is_time = count(self, bytes_of(parts)); /* pages beside an item's are mapped with it, if they are in memory */
    pthread_mutex_unlock(&self->lock);
    fetch(parts);
    for (size_t k = 0; k < n; k++)
        drop(dataset, &leaving[k]);
    if (is_time)
        forget(dataset);
}

void dataset_looked_at(const struct clv_dataset *dataset, const struct clv_problem *problem)
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
    /* Out of order, huge pages come with what is next to each array's part. */
    size_t beside = self->is_in_order ? 0 : 4 * huge_page_of(dataset);
    bool is_time = count(self, bytes_of(&parts) + beside);
    pthread_mutex_unlock(&self->lock);
    if (is_time)
        forget(dataset);
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
    (*paging)->max_looked_at = LOOKED_AT_MAX;
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
    if (self->max_looked_at > self->max_recent_bytes)
        self->max_looked_at = self->max_recent_bytes;
    return CLV_OK;
}
