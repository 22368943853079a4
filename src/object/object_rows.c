/* Numbers the objects of a map of labels or numbers that is read twice, row by row: the connected pieces that
 * object_map.c finds in memory, with the same numbers. The first pass is union-find over the runs of two rows
 * (Rosenfeld & Pfaltz 1966). The second pass meets the pieces in the same order, so that no pixels are kept. Start at
 * find_pieces. */
#include <string.h>

#include "base/base.h"
#include "object/object.h"

/* Pixels first .. end - 1 of a row, which have one label or number and belong to one piece. */
struct object_run {
    int32_t first, end, piece, value;
};

/* A part of an object. It begins at a run that touches no run of the same value above. */
struct object_piece {
    int64_t area;
    int32_t parent; /* an earlier piece of the object, or itself; after the first pass the object's number, 0 if it was
                     * dropped */
    int32_t value;
    bool is_at_border;
};

enum { MAX_PIECES = 1 << 28 };

void object_rows_release(struct object_rows *self)
{
    arrays_free(self->runs, self->above, self->pieces, self->values);
    *self = (struct object_rows){0};
}

enum clv_status object_rows_init(struct object_rows *self, int32_t width, int32_t height, const bool is_object[256],
                                 struct clv_error *err)
{
    OWNED(object_rows_release) struct object_rows result = {.width = width, .height = height, .max_pieces = MAX_PIECES};
    FAIL_IF(width < 1 || height < 1, CLV_ERR_USAGE, "objects of %dx%d pixels", width, height);
    result.runs = array_alloc((size_t)width, sizeof *result.runs);
    result.above = array_alloc((size_t)width, sizeof *result.above);
    NEED(result.runs && result.above);
    for (int label = 0; label < 256; label++)
        result.is_object[label] = is_object ? is_object[label] : label && label != CLV_VOID;
    *self = TAKE(result);
    return CLV_OK;
}

static int32_t piece_root(struct object_piece *pieces, int32_t piece)
{
    while (pieces[piece].parent != piece)
        piece = pieces[piece].parent = pieces[pieces[piece].parent].parent;
    return piece;
}

/* Makes the current row the row above. */
static void next_row(struct object_rows *self)
{
    struct object_run *runs = self->above;
    self->above = self->runs;
    self->n_above = self->n_runs;
    self->runs = runs;
    self->n_runs = 0;
}

/* Splits a row into runs. */
static void split_labels(struct object_rows *self, const uint8_t *labels)
{
    next_row(self);
    for (int32_t x = 0, end; x < self->width; x = end) {
        for (end = x + 1; end < self->width && labels[end] == labels[x]; end++)
            ;
        if (self->is_object[labels[x]])
            self->runs[self->n_runs++] = (struct object_run){x, end, -1, labels[x]};
    }
}

static void split_numbers(struct object_rows *self, const int32_t *numbers)
{
    next_row(self);
    for (int32_t x = 0, end; x < self->width; x = end) {
        for (end = x + 1; end < self->width && numbers[end] == numbers[x]; end++)
            ;
        if (numbers[x])
            self->runs[self->n_runs++] = (struct object_run){x, end, -1, numbers[x]};
    }
}

/* Returns the index in `above`, from `at`, of the first run that touches this run and has its value, or n_above. *next
 * is the index at which the search of the following run begins. */
static int32_t find_above(int32_t *next, const struct object_rows *self, const struct object_run *run, int32_t at)
{
    while (at < self->n_above && self->above[at].end <= run->first)
        at++;
    *next = at;
    for (; at < self->n_above && self->above[at].first < run->end; at++)
        if (self->above[at].value == run->value)
            return at;
    return self->n_above;
}

static enum clv_status begin_piece(struct object_rows *self, int32_t value, struct clv_error *err)
{
    FAIL_IF(self->n_pieces >= self->max_pieces, CLV_ERR_DATA,
            "more than %d objects begin in it; --min-area leaves out small ones", self->max_pieces);
    NEED(array_reserve((void **)&self->pieces, &self->capacity, (size_t)self->n_pieces + 1, sizeof *self->pieces) == 0);
    self->pieces[self->n_pieces] = (struct object_piece){.parent = self->n_pieces, .value = value};
    self->n_pieces++;
    return CLV_OK;
}

/* Merges two pieces of an object into the earlier one, and returns it. */
static int32_t join(struct object_piece *pieces, int32_t a, int32_t b)
{
    int32_t earlier = a < b ? a : b, later = a < b ? b : a;
    if (earlier == later)
        return earlier;
    pieces[later].parent = earlier;
    pieces[earlier].area += pieces[later].area;
    pieces[earlier].is_at_border |= pieces[later].is_at_border;
    return earlier;
}

/* Finds the pieces of a row's runs. */
static enum clv_status find_pieces(struct object_rows *self, struct clv_error *err)
{
    bool is_outer = self->y == 0 || self->y == self->height - 1;
    for (int32_t k = 0, next = 0; k < self->n_runs; k++) {
        struct object_run *run = &self->runs[k];
        int32_t at = find_above(&next, self, run, next);
        if (at == self->n_above) {
            run->piece = self->n_pieces;
            MUST(begin_piece(self, run->value, err));
        } else {
            run->piece = piece_root(self->pieces, self->above[at].piece);
            for (at++; at < self->n_above && self->above[at].first < run->end; at++)
                if (self->above[at].value == run->value)
                    run->piece = join(self->pieces, run->piece, piece_root(self->pieces, self->above[at].piece));
        }
        struct object_piece *piece = &self->pieces[run->piece];
        piece->area += run->end - run->first;
        piece->is_at_border |= is_outer || run->first == 0 || run->end == self->width;
    }
    self->y++;
    return CLV_OK;
}

enum clv_status objects_find_rows(struct object_rows *self, const uint8_t *labels, int32_t n_rows,
                                  struct clv_error *err)
{
    for (int32_t row = 0; row < n_rows; row++) {
        split_labels(self, labels + (size_t)row * (size_t)self->width);
        MUST(find_pieces(self, err));
    }
    return CLV_OK;
}

enum clv_status objects_find_rows_of_numbers(struct object_rows *self, const int32_t *numbers, int32_t n_rows,
                                             struct clv_error *err)
{
    for (int32_t row = 0; row < n_rows; row++) {
        split_numbers(self, numbers + (size_t)row * (size_t)self->width);
        MUST(find_pieces(self, err));
    }
    return CLV_OK;
}

enum clv_status objects_filter_rows(struct object_rows *self, int64_t min_area, bool clears_border,
                                    struct clv_error *err)
{
    int32_t n = 0;
    for (int32_t k = 0; k < self->n_pieces; k++) {
        struct object_piece *piece = &self->pieces[k];
        bool is_root = piece->parent == k;
        bool stays = is_root && piece->area >= min_area && !(clears_border && piece->is_at_border);
        n += stays;
        piece->parent = !is_root ? self->pieces[piece->parent].parent : stays ? n : 0;
        FAIL_IF(n > CLV_MAX_OBJECT_NUMBER, CLV_ERR_DATA,
                "more than %d objects, which is the largest number of one; --min-area leaves out small ones",
                CLV_MAX_OBJECT_NUMBER);
        if (stays)
            self->pieces[n - 1].value = piece->value; /* values of earlier pieces are no longer needed */
    }
    NEED(self->values = array_alloc((size_t)n, sizeof *self->values));
    for (int32_t k = 0; k < n; k++)
        self->values[k] = self->pieces[k].value;
    self->n_objects = n;
    object_rows_rewind(self);
    return CLV_OK;
}

void object_rows_rewind(struct object_rows *self)
{
    self->y = self->n_runs = self->n_begun = 0;
}

/* Writes the numbers of a row's runs. */
static void number_runs(int32_t *numbers, struct object_rows *self)
{
    memset(numbers, 0, (size_t)self->width * sizeof *numbers);
    for (int32_t k = 0, next = 0; k < self->n_runs; k++) {
        struct object_run *run = &self->runs[k];
        int32_t at = find_above(&next, self, run, next);
        run->piece = at == self->n_above ? self->n_begun++ : self->above[at].piece;
        for (int32_t x = run->first, number = self->pieces[run->piece].parent; x < run->end; x++)
            numbers[x] = number;
    }
    self->y++;
}

void objects_number_rows(int32_t *numbers, struct object_rows *self, const uint8_t *labels, int32_t n_rows)
{
    for (int32_t row = 0; row < n_rows; row++) {
        split_labels(self, labels + (size_t)row * (size_t)self->width);
        number_runs(numbers + (size_t)row * (size_t)self->width, self);
    }
}

void objects_renumber_rows(int32_t *numbers, struct object_rows *self, int32_t n_rows)
{
    for (int32_t row = 0; row < n_rows; row++) {
        split_numbers(self, numbers + (size_t)row * (size_t)self->width);
        number_runs(numbers + (size_t)row * (size_t)self->width, self);
    }
}

enum clv_status object_map_split(struct clv_object_map *map, struct clv_error *err)
{
    OWNED(object_rows_release) struct object_rows rows = {0};
    MUST(object_rows_init(&rows, map->width, map->height, NULL, err));
    MUST(objects_find_rows_of_numbers(&rows, map->objects, map->height, err));
    MUST(objects_filter_rows(&rows, 1, false, err));
    OWNED_ARRAY uint8_t *labels = array_alloc((size_t)rows.n_objects, 1);
    OWNED_ARRAY double *probability = array_alloc((size_t)rows.n_objects, sizeof *probability);
    NEED(labels && probability);
    for (int32_t k = 0; k < rows.n_objects; k++) {
        labels[k] = map->labels[rows.values[k] - 1];
        probability[k] = map->probability[rows.values[k] - 1];
    }
    objects_renumber_rows(map->objects, &rows, map->height);
    arrays_free(map->labels, map->probability);
    map->labels = TAKE(labels);
    map->probability = TAKE(probability);
    map->n_objects = rows.n_objects;
    return CLV_OK;
}
