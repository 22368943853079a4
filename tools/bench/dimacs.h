/* Reads maximum-flow problems in the format of the first DIMACS challenge (1990), gzip or plain:
 *
 *     c anything
 *     p max NODES ARCS
 *     n NODE s
 *     n NODE t
 *     a FROM TO CAPACITY
 *
 * A damaged file is refused, naming the line. Start at dimacs_read. */
#ifndef BENCH_DIMACS_H
#define BENCH_DIMACS_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/base.h"
#include "infer/cut/cut.h"

/* The problem as maxflow_build and maxflow_set take it, without source and sink. */
struct dimacs {
    int32_t n, m;
    int32_t (*edges)[2];
    int32_t *terminal, *forward, *backward;
    int64_t constant; /* flow from the source through one node, or none, to the sink */
};

static inline void dimacs_release(struct dimacs *self)
{
    arrays_free(self->edges, self->terminal, self->forward, self->backward);
    *self = (struct dimacs){0};
}

struct dimacs_reader {
    struct dimacs problem;
    gzFile file;
    const char *path;
    long line;
    int64_t n_nodes, n_arcs, n_read; /* n_nodes is 0 before the line that says it */
    int64_t source, sink;            /* 0 before their lines */
    int64_t *weight;                 /* [n_nodes + 1] from the source less to the sink */
    size_t edge_capacity, forward_capacity, backward_capacity;
};

static inline void dimacs_reader_release(struct dimacs_reader *self)
{
    if (self->file)
        gzclose(self->file);
    array_free(self->weight);
    dimacs_release(&self->problem);
}

static inline enum clv_status dimacs_begin(struct dimacs_reader *self, const char *text, struct clv_error *err)
{
    int end = 0;
    FAIL_IF(self->n_nodes, CLV_ERR_DATA, "%s: line %ld is a second line of the problem", self->path, self->line);
    FAIL_IF(sscanf(text, "p max %9" SCNd64 " %10" SCNd64 " %n", &self->n_nodes, &self->n_arcs, &end) != 2 ||
                text[end] || self->n_nodes < 2 || self->n_arcs < 0 || self->n_arcs > 1 << 30,
            CLV_ERR_DATA, "%s: line %ld is not `p max NODES ARCS'", self->path, self->line);
    self->weight = array_zalloc((size_t)self->n_nodes + 1, sizeof *self->weight);
    NEED(self->weight);
    return CLV_OK;
}

static inline enum clv_status dimacs_terminal(struct dimacs_reader *self, const char *text, struct clv_error *err)
{
    int64_t node;
    char which;
    int end = 0;
    FAIL_IF(sscanf(text, "n %19" SCNd64 " %c %n", &node, &which, &end) != 2 || text[end] || node < 1 ||
                node > self->n_nodes || !strchr("st", which),
            CLV_ERR_DATA, "%s: line %ld is not `n NODE s' or `n NODE t'", self->path, self->line);
    int64_t *terminal = which == 's' ? &self->source : &self->sink;
    FAIL_IF(*terminal, CLV_ERR_DATA, "%s: line %ld names a second %s", self->path, self->line,
            which == 's' ? "source" : "sink");
    FAIL_IF(node == self->source + self->sink, CLV_ERR_DATA, "%s: line %ld makes node %" PRId64 " source and sink",
            self->path, self->line, node);
    *terminal = node;
    return CLV_OK;
}

static inline enum clv_status dimacs_add_edge(struct dimacs_reader *self, int64_t from, int64_t to, int32_t capacity,
                                              struct clv_error *err)
{
    struct dimacs *problem = &self->problem;
    size_t m = (size_t)problem->m;
    if (m && problem->edges[m - 1][0] == to && problem->edges[m - 1][1] == from && !problem->backward[m - 1]) {
        problem->backward[m - 1] = capacity;
        return CLV_OK;
    }
    NEED(!array_reserve((void **)&problem->edges, &self->edge_capacity, m + 1, sizeof *problem->edges) &&
         !array_reserve((void **)&problem->forward, &self->forward_capacity, m + 1, sizeof *problem->forward) &&
         !array_reserve((void **)&problem->backward, &self->backward_capacity, m + 1, sizeof *problem->backward));
    problem->edges[m][0] = (int32_t)from;
    problem->edges[m][1] = (int32_t)to;
    problem->forward[m] = capacity;
    problem->backward[m] = 0;
    problem->m++;
    return CLV_OK;
}

/* Arcs into the source, out of the sink and from a node to itself carry no flow. */
static inline enum clv_status dimacs_arc(struct dimacs_reader *self, const char *text, struct clv_error *err)
{
    int64_t from, to, capacity;
    int end = 0;
    FAIL_IF(sscanf(text, "a %19" SCNd64 " %19" SCNd64 " %19" SCNd64 " %n", &from, &to, &capacity, &end) != 3 ||
                text[end],
            CLV_ERR_DATA, "%s: line %ld is not `a FROM TO CAPACITY' in whole numbers", self->path, self->line);
    FAIL_IF(!self->source || !self->sink, CLV_ERR_DATA, "%s: line %ld has an arc before source and sink are named",
            self->path, self->line);
    FAIL_IF(from < 1 || from > self->n_nodes || to < 1 || to > self->n_nodes, CLV_ERR_DATA,
            "%s: line %ld has an end that is not a node from 1 to %" PRId64, self->path, self->line, self->n_nodes);
    FAIL_IF(capacity < 0 || capacity > MAXFLOW_LIMIT, CLV_ERR_DATA,
            "%s: line %ld has a capacity that is not in 0 to %d", self->path, self->line, MAXFLOW_LIMIT);
    FAIL_IF(++self->n_read > self->n_arcs, CLV_ERR_DATA, "%s: line %ld is an arc more than the %" PRId64 " promised",
            self->path, self->line, self->n_arcs);
    if (from == to || to == self->source || from == self->sink)
        return CLV_OK;
    if (from == self->source && to == self->sink) {
        self->problem.constant += capacity;
        return CLV_OK;
    }
    if (from != self->source && to != self->sink)
        return dimacs_add_edge(self, from, to, (int32_t)capacity, err);
    int64_t *weight = &self->weight[from == self->source ? to : from], before = *weight;
    *weight += from == self->source ? capacity : -capacity;
    bool passes = from == self->source ? before < 0 : before > 0; /* what passes through that node alone */
    int64_t size = before < 0 ? -before : before;
    self->problem.constant += passes ? (size < capacity ? size : capacity) : 0;
    return CLV_OK;
}

static inline enum clv_status dimacs_line(struct dimacs_reader *self, const char *text, struct clv_error *err)
{
    if (text[0] == 'c' || text[strspn(text, " \t\r\n")] == 0)
        return CLV_OK;
    if (text[0] == 'p')
        return dimacs_begin(self, text, err);
    FAIL_IF(!self->n_nodes, CLV_ERR_DATA, "%s: line %ld comes before `p max NODES ARCS'", self->path, self->line);
    FAIL_IF(text[0] != 'n' && text[0] != 'a', CLV_ERR_DATA, "%s: line %ld begins with none of c, p, n and a",
            self->path, self->line);
    return text[0] == 'n' ? dimacs_terminal(self, text, err) : dimacs_arc(self, text, err);
}

static inline enum clv_status dimacs_lines(struct dimacs_reader *self, struct clv_error *err)
{
    char text[256];
    bool is_comment = false, is_new = true; /* comments may be longer than the text */
    while (gzgets(self->file, text, sizeof text)) {
        self->line += is_new;
        is_comment = is_new ? text[0] == 'c' : is_comment;
        is_new = strchr(text, '\n') != NULL;
        FAIL_IF(!is_new && !is_comment && !gzeof(self->file), CLV_ERR_DATA, "%s: line %ld is too long", self->path,
                self->line);
        if (!is_comment)
            MUST(dimacs_line(self, text, err));
    }
    int code;
    gzerror(self->file, &code);
    FAIL_IF(code != Z_OK && code != Z_STREAM_END, CLV_ERR_DATA, "%s: damaged after line %ld", self->path, self->line);
    FAIL_IF(!self->n_nodes, CLV_ERR_DATA, "%s: has no line `p max NODES ARCS'", self->path);
    FAIL_IF(!self->source || !self->sink, CLV_ERR_DATA, "%s: ends after line %ld without a %s", self->path, self->line,
            self->source ? "sink" : "source");
    FAIL_IF(self->n_read < self->n_arcs, CLV_ERR_DATA,
            "%s: ends after line %ld with %" PRId64 " of the %" PRId64 " arcs promised", self->path, self->line,
            self->n_read, self->n_arcs);
    return CLV_OK;
}

/* Numbers nodes from 0, without source and sink. */
static inline enum clv_status dimacs_number(struct dimacs_reader *self, struct clv_error *err)
{
    struct dimacs *problem = &self->problem;
    int64_t low = self->source < self->sink ? self->source : self->sink, high = self->source + self->sink - low;
    problem->n = (int32_t)(self->n_nodes - 2);
    problem->terminal = array_zalloc((size_t)problem->n, sizeof *problem->terminal);
    NEED(problem->terminal);
    for (int64_t node = 1, at = 0; node <= self->n_nodes; node++) {
        if (node == low || node == high)
            continue;
        FAIL_IF(self->weight[node] > MAXFLOW_LIMIT || self->weight[node] < -MAXFLOW_LIMIT, CLV_ERR_DATA,
                "%s: node %" PRId64 ": its arcs from the source and to the sink differ by more than %d", self->path,
                node, MAXFLOW_LIMIT);
        problem->terminal[at++] = (int32_t)self->weight[node];
    }
    for (int32_t e = 0; e < problem->m; e++)
        for (int side = 0; side < 2; side++) {
            int32_t *end = &problem->edges[e][side];
            *end -= 1 + (*end > low) + (*end > high);
        }
    return CLV_OK;
}

/* Reads a file. The caller owns *problem. */
static inline enum clv_status dimacs_read(struct dimacs *problem, const char *path, struct clv_error *err)
{
    OWNED(dimacs_reader_release) struct dimacs_reader reader = {.file = gzopen(path, "rb"), .path = path};
    *problem = (struct dimacs){0};
    FAIL_IF(!reader.file, CLV_ERR_NO_INPUT, "%s: cannot be opened", path);
    MUST(dimacs_lines(&reader, err));
    MUST(dimacs_number(&reader, err));
    *problem = TAKE(reader.problem);
    return CLV_OK;
}

/* The cost of a cut: the maximum flow, if it is a minimum one. */
static inline int64_t dimacs_cost(const struct dimacs *self, const uint8_t *label)
{
    int64_t cost = self->constant;
    for (int32_t i = 0; i < self->n; i++)
        if (label[i] ? self->terminal[i] < 0 : self->terminal[i] > 0)
            cost += label[i] ? -(int64_t)self->terminal[i] : self->terminal[i];
    for (int32_t e = 0; e < self->m; e++) {
        int a = label[self->edges[e][0]], b = label[self->edges[e][1]];
        cost += a > b ? self->forward[e] : b > a ? self->backward[e] : 0;
    }
    return cost;
}

#endif
