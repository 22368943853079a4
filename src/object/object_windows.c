/* Finds the objects of an image of any size window by window, and merges objects that are in several windows: compares
 * each pair of windows that overlap, and merges objects that share most of their pixels there (union-find). Start at
 * object_windows_find. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/digest.h"
#include "feature/blocks/blocks.h"
#include "object/object.h"

#define WINDOWS_PER_TURN 2 /* windows that a thread processes before they are written to the journal */

static const char magic[16] = "cleave windows 1";

/* Which pixels of a window's object the result has: none, all, those in the window's core. */
enum shown { SHOWN_NONE, SHOWN_WHOLE, SHOWN_IN_CORE };

/* An object in a window. */
struct seen_object {
    int32_t left, top, right, bottom; /* box in the image */
    int32_t number;                   /* number in the result, 0: none */
    enum shown shown;
    double probability;
};

/* Pixels first .. end - 1 of a row, which belong to one object. */
struct seen_run {
    int32_t first, end, object;
};

struct object_window {
    struct image_part core, seen; /* without and with the halo */
    int32_t n_objects;
    int32_t first_object;        /* number of objects of the windows before */
    struct seen_object *objects; /* [n_objects] */
    int32_t *line;               /* [seen.height + 1] index of the first run of each row */
    struct seen_run *runs;
};

static void window_release(struct object_window *self)
{
    arrays_free(self->objects, self->line, self->runs);
}

static int32_t n_windows(const struct object_windows *self)
{
    return self->n_across * self->n_down;
}

void object_windows_release(struct object_windows *self)
{
    for (int32_t k = 0; self->windows && k < n_windows(self); k++)
        window_release(&self->windows[k]);
    arrays_free(self->windows, self->columns, self->line, self->probability, self->labels);
    *self = (struct object_windows){0};
}

/* Computes the core and the area with the halo of window `at` along an axis of `size` pixels. */
static void lay_out_axis(int32_t *core, int32_t *core_n, int32_t *seen, int32_t *seen_n, int32_t at, int32_t size,
                         const struct object_windows *self)
{
    *core = at * self->side;
    *core_n = smaller(self->side, size - *core);
    *seen = *core > self->halo ? *core - self->halo : 0;
    *seen_n = (size - *core - *core_n > self->halo ? *core + *core_n + self->halo : size) - *seen;
}

static void window_lay_out(struct object_window *window, const struct object_windows *self, int32_t k)
{
    struct image_part *core = &window->core, *seen = &window->seen;
    core->whole_width = seen->whole_width = self->working_width;
    core->whole_height = seen->whole_height = self->working_height;
    lay_out_axis(&core->left, &core->width, &seen->left, &seen->width, k % self->n_across, self->working_width, self);
    lay_out_axis(&core->top, &core->height, &seen->top, &seen->height, k / self->n_across, self->working_height, self);
}

static int32_t end_of_run(const int32_t *row, int32_t x, int32_t width)
{
    int32_t end = x + 1;
    while (end < width && row[end] == row[x])
        end++;
    return end;
}

/* Keeps the objects of a map: their boxes and the runs of their pixels, in coordinates of the image. */
static enum clv_status window_take_map(struct object_window *window, const struct clv_object_map *map,
                                       struct clv_error *err)
{
    const struct image_part *seen = &window->seen;
    const size_t width = (size_t)seen->width;
    int32_t n_runs = 0;
    for (int32_t y = 0; y < seen->height; y++)
        for (int32_t x = 0; x < seen->width; x = end_of_run(map->objects + (size_t)y * width, x, seen->width))
            n_runs += map->objects[(size_t)y * width + (size_t)x] > 0;
    window->n_objects = map->n_objects;
    window->objects = array_zalloc((size_t)map->n_objects, sizeof *window->objects);
    window->line = array_alloc((size_t)seen->height + 1, sizeof *window->line);
    window->runs = array_alloc((size_t)n_runs, sizeof *window->runs);
    NEED(window->objects && window->line && window->runs);
    for (int32_t o = 0; o < map->n_objects; o++) {
        window->objects[o].left = window->objects[o].top = INT32_MAX;
        window->objects[o].probability = map->probability ? map->probability[o] : 1;
    }
    n_runs = 0;
    for (int32_t y = 0; y < seen->height; y++) {
        const int32_t *row = map->objects + (size_t)y * width;
        window->line[y] = n_runs;
        for (int32_t x = 0, end; x < seen->width; x = end) {
            end = end_of_run(row, x, seen->width);
            if (!row[x])
                continue;
            struct seen_object *object = &window->objects[row[x] - 1];
            object->left = smaller(object->left, seen->left + x);
            object->right = larger(object->right, seen->left + end);
            object->top = smaller(object->top, seen->top + y);
            object->bottom = seen->top + y + 1;
            window->runs[n_runs++] = (struct seen_run){seen->left + x, seen->left + end, row[x] - 1};
        }
    }
    window->line[seen->height] = n_runs;
    return CLV_OK;
}

/* The journal has a record for each finished window, in order. */

struct record_head {
    int32_t number, n_objects, n_runs, height;
};

static uint64_t hash_record(const struct object_window *window, const struct record_head *head)
{
    uint64_t value = hash_bytes(HASH_START, head, sizeof *head);
    value = hash_bytes(value, window->objects, (size_t)head->n_objects * sizeof *window->objects);
    value = hash_bytes(value, window->line, ((size_t)head->height + 1) * sizeof *window->line);
    return hash_bytes(value, window->runs, (size_t)head->n_runs * sizeof *window->runs);
}

static bool put(FILE *file, const void *items, size_t n, size_t size)
{
    return fwrite(items, size, n, file) == n;
}

static bool write_record(FILE *file, const struct object_window *window, int32_t number)
{
    const int32_t height = window->seen.height;
    const struct record_head head = {number, window->n_objects, window->line[height], height};
    const uint64_t digest = hash_record(window, &head);
    return put(file, &head, 1, sizeof head) &&
           put(file, window->objects, (size_t)head.n_objects, sizeof *window->objects) &&
           put(file, window->line, (size_t)height + 1, sizeof *window->line) &&
           put(file, window->runs, (size_t)head.n_runs, sizeof *window->runs) && put(file, &digest, 1, sizeof digest);
}

static void *get(FILE *file, size_t n, size_t size, size_t limit)
{
    OWNED_ARRAY char *items = n <= limit / size ? array_alloc(n, size) : NULL;
    return items && fread(items, size, n, file) == n ? TAKE(items) : NULL;
}

/* Returns false at the end of the file, or if it is damaged. */
static bool read_record(struct object_window *window, FILE *file, int32_t number, size_t limit)
{
    struct record_head head;
    uint64_t digest;
    if (fread(&head, sizeof head, 1, file) != 1 || head.number != number || head.height != window->seen.height ||
        head.n_objects < 0 || head.n_runs < 0)
        return false;
    window->n_objects = head.n_objects;
    window->objects = get(file, (size_t)head.n_objects, sizeof *window->objects, limit);
    window->line = window->objects ? get(file, (size_t)head.height + 1, sizeof *window->line, limit) : NULL;
    window->runs = window->line ? get(file, (size_t)head.n_runs, sizeof *window->runs, limit) : NULL;
    return window->runs && fread(&digest, sizeof digest, 1, file) == 1 && digest == hash_record(window, &head);
}

/* A pass over the windows. */
struct find_state {
    struct object_windows *windows;
    const struct object_finder *finder;
    const struct object_windows_options *options;
    FILE *journal;
    int32_t first; /* first window of the current turn */
};

static void find_state_release(struct find_state *self)
{
    if (self->journal)
        fclose(self->journal);
}

static enum clv_status fail_journal(const struct find_state *self, struct clv_error *err)
{
    return fail_errno(err, CLV_ERR_IO, "%s: cannot be written", self->options->journal);
}

/* Reads the windows of an earlier run, up to the first that is missing or damaged, and truncates the file there. */
static enum clv_status resume(struct find_state *self, struct clv_error *err)
{
    const struct object_windows_options *options = self->options;
    struct object_windows *windows = self->windows;
    char word[sizeof magic];
    uint64_t key = 0;
    const size_t size = fseeko(self->journal, 0, SEEK_END) ? 0 : (size_t)ftello(self->journal);
    off_t end = sizeof magic + sizeof key;
    rewind(self->journal);
    const bool fits = fread(word, sizeof word, 1, self->journal) == 1 && memcmp(word, magic, sizeof word) == 0 &&
                      fread(&key, sizeof key, 1, self->journal) == 1 && key == options->key;
    if (!fits && size)
        report_message(options->progress, CLV_NOTE,
                       "%s: its windows are of other files, another model or other options: all are made again",
                       options->journal);
    while (fits && self->first < n_windows(windows)) {
        struct object_window *window = &windows->windows[self->first];
        OWNED(window_release) struct object_window read = {.core = window->core, .seen = window->seen};
        if (!read_record(&read, self->journal, self->first, size))
            break;
        *window = TAKE(read);
        self->first++;
        end = ftello(self->journal);
    }
    if (self->first)
        report_message(options->progress, CLV_NOTE, "%s: objects of %d of %d windows found before", options->journal,
                       self->first, n_windows(windows));
    rewind(self->journal);
    const bool is_written = put(self->journal, magic, sizeof magic, 1) &&
                            put(self->journal, &options->key, 1, sizeof options->key) && !fflush(self->journal);
    if (!is_written || ftruncate(fileno(self->journal), end) || fseeko(self->journal, end, SEEK_SET))
        return fail_journal(self, err);
    return CLV_OK;
}

static enum clv_status open_journal(struct find_state *self, struct clv_error *err)
{
    const struct object_windows_options *options = self->options;
    if (!options->journal)
        return CLV_OK;
    self->journal = options->resumes ? fopen(options->journal, "rb+e") : NULL;
    if (!self->journal && !(self->journal = fopen(options->journal, "wb+e")))
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot be created", options->journal);
    return resume(self, err);
}

static enum clv_status find_in_window(void *context, size_t index, int thread, struct clv_error *err)
{
    const struct find_state *self = context;
    struct object_window *window = &self->windows->windows[self->first + (int32_t)index];
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    FAIL_IF(stop_requested(self->options->progress), CLV_ERR_INTERRUPTED, "interrupted");
    MUST(self->finder->find(&map, self->finder->context, &window->seen, thread, err));
    return window_take_map(window, &map, err);
}

/* Finds the objects of all windows that are not in the journal. */
static enum clv_status find_in_windows(struct find_state *self, struct clv_error *err)
{
    const int32_t n = n_windows(self->windows), at_once = WINDOWS_PER_TURN * parallel_threads(self->options->n_threads);
    for (int32_t count; self->first < n; self->first += count) {
        count = smaller(at_once, n - self->first);
        MUST(parallel_for((size_t)count, self->options->n_threads, find_in_window, self, err));
        for (int32_t k = self->first; self->journal && k < self->first + count; k++)
            if (!write_record(self->journal, &self->windows->windows[k], k))
                return fail_journal(self, err);
        if (self->journal && fflush(self->journal))
            return fail_journal(self, err);
        if (n > 1)
            report_progress(self->options->progress, "objects", (size_t)(self->first + count), (size_t)n, NULL);
    }
    return CLV_OK;
}

/* The objects of all windows, while those that are the same object are merged. */
struct join_state {
    struct object_windows *windows;
    int32_t n;
    int32_t *parent;                  /* [n] an earlier object that is the same, or the object itself */
    int32_t *n_members, *shown_whole; /* [n] of a root: the number of objects that are the same; the object that is
                                       * shown whole, or -1 */
};

static void join_state_release(struct join_state *self)
{
    arrays_free(self->parent, self->n_members, self->shown_whole);
}

/* Object a of one window and object b of another share n pixels. */
struct overlap {
    int32_t a, b, n;
};

static int compare_overlaps(const void *left, const void *right)
{
    const struct overlap *l = left, *r = right;
    return l->a != r->a ? (l->a > r->a) - (l->a < r->a) : (l->b > r->b) - (l->b < r->b);
}

/* Two windows in their common area: the areas of their objects there, and the pixels that these share. */
struct comparison {
    const struct object_window *windows[2];
    struct image_part both;
    int32_t *area[2];
    struct overlap *overlaps;
    size_t n, capacity;
};

static void comparison_release(struct comparison *self)
{
    arrays_free(self->area[0], self->area[1], self->overlaps);
}

/* Returns the first run of a row; *end is after the last one. */
static const struct seen_run *runs_of(const struct seen_run **end, const struct object_window *window, int32_t y)
{
    const int32_t row = y - window->seen.top;
    *end = window->runs + window->line[row + 1];
    return window->runs + window->line[row];
}

static enum clv_status compare_row(struct comparison *self, int32_t y, struct clv_error *err)
{
    const struct seen_run *run[2], *end[2];
    const int32_t left = self->both.left, right = left + self->both.width;
    for (int k = 0; k < 2; k++) {
        run[k] = runs_of(&end[k], self->windows[k], y);
        for (const struct seen_run *one = run[k]; one < end[k]; one++)
            self->area[k][one->object] += larger(smaller(one->end, right) - larger(one->first, left), 0);
    }
    while (run[0] < end[0] && run[1] < end[1]) {
        const int32_t first = larger(larger(run[0]->first, run[1]->first), left);
        const int32_t n = smaller(smaller(run[0]->end, run[1]->end), right) - first;
        if (n > 0) {
            NEED(!array_reserve((void **)&self->overlaps, &self->capacity, self->n + 1, sizeof *self->overlaps));
            self->overlaps[self->n++] = (struct overlap){run[0]->object, run[1]->object, n};
        }
        run[run[0]->end > run[1]->end]++;
    }
    return CLV_OK;
}

/* Whether the object touches a border of the window that is not a border of the image. */
static bool is_cut(const struct object_window *window, const struct seen_object *object)
{
    const struct image_part *seen = &window->seen;
    const int32_t right = seen->left + seen->width, bottom = seen->top + seen->height;
    return (object->left == seen->left && seen->left > 0) || (object->top == seen->top && seen->top > 0) ||
           (object->right == right && right < seen->whole_width) ||
           (object->bottom == bottom && bottom < seen->whole_height);
}

/* Whether the object's box reaches the window's core. An object that does not may be a sliver at the end of the halo,
 * and other windows find it better. */
static bool is_near(const struct object_window *window, const struct seen_object *object)
{
    const struct image_part *core = &window->core;
    return object->left < core->left + core->width && object->right > core->left &&
           object->top < core->top + core->height && object->bottom > core->top;
}

/* Whether objects of two windows are the same: in the common area they share more than half of the union of their
 * pixels. If both are cut, parts of one object may be connected outside the window; then more than half of the pixels
 * of one of them are enough. */
static bool is_same_object(const struct comparison *self, const struct overlap *pair, int64_t shared)
{
    const struct seen_object *a = &self->windows[0]->objects[pair->a], *b = &self->windows[1]->objects[pair->b];
    const int64_t of_a = self->area[0][pair->a], of_b = self->area[1][pair->b];
    const bool are_cut = is_cut(self->windows[0], a) && is_cut(self->windows[1], b);
    if (!is_near(self->windows[0], a) || !is_near(self->windows[1], b))
        return false;
    return are_cut ? 2 * shared > of_a || 2 * shared > of_b : 3 * shared > of_a + of_b;
}

/* Compares two windows and merges objects that are the same. */
static enum clv_status compare(struct join_state *self, const struct object_window *a, const struct object_window *b,
                               struct clv_error *err)
{
    OWNED(comparison_release)
    struct comparison pair = {.windows = {a, b},
                              .area = {array_zalloc((size_t)a->n_objects, sizeof(int32_t)),
                                       array_zalloc((size_t)b->n_objects, sizeof(int32_t))}};
    struct image_part *both = &pair.both;
    both->left = larger(a->seen.left, b->seen.left);
    both->top = larger(a->seen.top, b->seen.top);
    both->width = smaller(a->seen.left + a->seen.width, b->seen.left + b->seen.width) - both->left;
    both->height = smaller(a->seen.top + a->seen.height, b->seen.top + b->seen.height) - both->top;
    NEED(pair.area[0] && pair.area[1]);
    for (int32_t y = both->top; y < both->top + both->height && both->width > 0; y++)
        MUST(compare_row(&pair, y, err));
    if (pair.n)
        qsort(pair.overlaps, pair.n, sizeof *pair.overlaps, compare_overlaps);
    for (size_t i = 0, end; i < pair.n; i = end) {
        const struct overlap *one = &pair.overlaps[i];
        int64_t shared = 0;
        for (end = i; end < pair.n && compare_overlaps(one, &pair.overlaps[end]) == 0; end++)
            shared += pair.overlaps[end].n;
        if (!is_same_object(&pair, one, shared))
            continue;
        const int32_t root = root_of(self->parent, a->first_object + one->a);
        const int32_t other = root_of(self->parent, b->first_object + one->b);
        self->parent[larger(root, other)] = smaller(root, other);
    }
    return CLV_OK;
}

static enum clv_status compare_all(struct join_state *self, struct clv_error *err)
{
    const struct object_windows *windows = self->windows;
    const int32_t reach = (2 * windows->halo - 1) / windows->side + 1;
    for (int32_t k = 0; k < n_windows(windows); k++) {
        const int32_t row = k / windows->n_across, column = k % windows->n_across;
        for (int32_t r = row; r <= smaller(row + reach, windows->n_down - 1); r++)
            for (int32_t c = larger(column - reach, 0); c <= smaller(column + reach, windows->n_across - 1); c++)
                if (r * windows->n_across + c > k)
                    MUST(compare(self, &windows->windows[k], &windows->windows[r * windows->n_across + c], err));
    }
    return CLV_OK;
}

/* Whether the centre of the object's box is in the window's core. */
static bool has_centre(const struct object_window *window, const struct seen_object *object)
{
    const struct image_part *core = &window->core;
    const int32_t x = (object->left + object->right - 1) / 2 - core->left;
    const int32_t y = (object->top + object->bottom - 1) / 2 - core->top;
    return x >= 0 && y >= 0 && x < core->width && y < core->height;
}

/* Chooses the windows whose pixels of an object are shown. A window with the whole object shows all of its pixels,
 * preferably the window whose core has the centre. If all windows cut the object, each shows the pixels in its core. A
 * whole object of a single window whose core does not have the centre is dropped. */
static void choose_shown(struct join_state *self)
{
    const struct object_windows *windows = self->windows;
    for (int needs_centre = 1; needs_centre >= 0; needs_centre--)
        for (int32_t k = 0; k < n_windows(windows); k++) {
            const struct object_window *window = &windows->windows[k];
            for (int32_t o = 0; o < window->n_objects; o++) {
                const int32_t root = root_of(self->parent, window->first_object + o);
                const bool may = needs_centre ? has_centre(window, &window->objects[o]) : self->n_members[root] > 1;
                self->n_members[root] += needs_centre;
                if (self->shown_whole[root] < 0 && may && !is_cut(window, &window->objects[o]))
                    self->shown_whole[root] = window->first_object + o;
            }
        }
    for (int32_t k = 0; k < n_windows(windows); k++) {
        const struct object_window *window = &windows->windows[k];
        for (int32_t o = 0; o < window->n_objects; o++) {
            const int32_t root = root_of(self->parent, window->first_object + o);
            const bool is_shown = self->shown_whole[root] == window->first_object + o;
            window->objects[o].shown = is_shown ? SHOWN_WHOLE
                                       : self->shown_whole[root] >= 0 || !is_cut(window, &window->objects[o])
                                           ? SHOWN_NONE
                                           : SHOWN_IN_CORE;
            window->objects[o].number = root + 1;
        }
    }
}

static enum clv_status join(struct object_windows *windows, struct clv_error *err)
{
    OWNED(join_state_release) struct join_state self = {.windows = windows};
    for (int32_t k = 0; k < n_windows(windows); k++) {
        struct object_window *window = &windows->windows[k];
        FAIL_IF(window->n_objects > INT32_MAX - 1 - self.n, CLV_ERR_DATA, "more than 2^31 objects");
        window->first_object = self.n;
        self.n += window->n_objects;
    }
    self.parent = array_alloc((size_t)self.n, sizeof *self.parent);
    self.n_members = array_zalloc((size_t)self.n, sizeof *self.n_members);
    self.shown_whole = array_alloc((size_t)self.n, sizeof *self.shown_whole);
    NEED(self.parent && self.n_members && self.shown_whole);
    for (int32_t k = 0; k < self.n; k++) {
        self.parent[k] = k;
        self.shown_whole[k] = -1;
    }
    MUST(compare_all(&self, err));
    choose_shown(&self);
    return CLV_OK;
}

/* Writes the numbers of a window's objects into a row, where it has none yet. */
static void show_window(int32_t *numbers, const struct object_window *window, int32_t y, enum shown shown)
{
    const struct seen_run *end;
    const int32_t left = window->core.left, right = left + window->core.width;
    for (const struct seen_run *run = runs_of(&end, window, y); run < end; run++) {
        const struct seen_object *object = &window->objects[run->object];
        if (object->shown != shown)
            continue;
        const int32_t last = shown == SHOWN_WHOLE ? run->end : smaller(run->end, right);
        for (int32_t x = shown == SHOWN_WHOLE ? run->first : larger(run->first, left); x < last; x++)
            numbers[x] = numbers[x] ? numbers[x] : object->number;
    }
}

/* Computes the numbers of a row at the working size. */
static void show_row(int32_t *numbers, const struct object_windows *self, int32_t y)
{
    memset(numbers, 0, (size_t)self->working_width * sizeof *numbers);
    for (int32_t k = 0; k < n_windows(self); k++) {
        const struct object_window *window = &self->windows[k];
        if (y >= window->seen.top && y < window->seen.top + window->seen.height)
            show_window(numbers, window, y, SHOWN_WHOLE);
    }
    for (int32_t k = y / self->side * self->n_across, column = 0; column < self->n_across; column++)
        show_window(numbers, &self->windows[k + column], y, SHOWN_IN_CORE);
}

/* Replaces the numbers of objects: number[old number]. */
static void renumber(struct object_windows *self, const int32_t *number)
{
    for (int32_t k = 0; k < n_windows(self); k++)
        for (int32_t o = 0; o < self->windows[k].n_objects; o++)
            self->windows[k].objects[o].number = number[self->windows[k].objects[o].number];
}

/* Numbers the objects by their first pixels that are shown. */
static enum clv_status number_objects(struct object_windows *self, struct clv_error *err)
{
    size_t n = 0;
    for (int32_t k = 0; k < n_windows(self); k++)
        n += (size_t)self->windows[k].n_objects;
    OWNED_ARRAY int32_t *number = array_zalloc(n + 1, sizeof *number);
    NEED(number);
    for (int32_t y = 0; y < self->working_height; y++) {
        show_row(self->line, self, y);
        for (int32_t x = 0; x < self->working_width; x++)
            if (self->line[x] && !number[self->line[x]])
                number[self->line[x]] = ++self->n_objects;
    }
    renumber(self, number);
    return CLV_OK;
}

/* Adds the pixels of each object in the window's core to area[n_objects]. */
static void count_in_core(int64_t *area, const struct object_window *window)
{
    const int32_t left = window->core.left, right = left + window->core.width;
    for (int32_t y = window->core.top; y < window->core.top + window->core.height; y++) {
        const struct seen_run *end;
        for (const struct seen_run *run = runs_of(&end, window, y); run < end; run++)
            area[run->object] += larger(smaller(run->end, right) - larger(run->first, left), 0);
    }
}

/* Sets the probability of each object: that of the window that shows it whole, or the mean over the pixels of all
 * windows that show it. */
static enum clv_status find_probabilities(struct object_windows *self, struct clv_error *err)
{
    const size_t n = (size_t)self->n_objects;
    OWNED_ARRAY double *weight = array_zalloc(n, sizeof *weight);
    self->probability = array_zalloc(n, sizeof *self->probability);
    NEED(weight && self->probability);
    for (int32_t k = 0; k < n_windows(self); k++) {
        const struct object_window *window = &self->windows[k];
        OWNED_ARRAY int64_t *area = array_zalloc((size_t)window->n_objects, sizeof *area);
        NEED(area);
        count_in_core(area, window);
        for (int32_t o = 0; o < window->n_objects; o++) {
            const struct seen_object *object = &window->objects[o];
            const double pixels = object->shown == SHOWN_WHOLE ? 1 : (double)area[o];
            if (!object->number || object->shown == SHOWN_NONE || !(pixels > 0))
                continue;
            const size_t at = (size_t)object->number - 1;
            weight[at] += pixels;
            self->probability[at] += (object->probability - self->probability[at]) * pixels / weight[at];
        }
    }
    return CLV_OK;
}

static enum clv_status plan(struct object_windows *self, const struct object_finder *finder,
                            const struct object_windows_options *options, struct clv_error *err)
{
    self->side = options->side;
    self->halo = options->halo;
    self->working_width = finder->working_width;
    self->working_height = finder->working_height;
    self->width = finder->width;
    self->height = finder->height;
    self->n_across = (self->working_width - 1) / self->side + 1;
    self->n_down = (self->working_height - 1) / self->side + 1;
    self->line_at = -1;
    self->windows = array_zalloc((size_t)n_windows(self), sizeof *self->windows);
    self->columns = array_alloc((size_t)self->width, sizeof *self->columns);
    self->line = array_alloc((size_t)self->working_width, sizeof *self->line);
    NEED(self->windows && self->columns && self->line);
    for (int32_t k = 0; k < n_windows(self); k++)
        window_lay_out(&self->windows[k], self, k);
    for (int32_t x = 0; x < self->width; x++)
        self->columns[x] = working_coordinate(x, self->width, self->working_width);
    return CLV_OK;
}

enum clv_status object_windows_find(struct object_windows *self, const struct object_finder *finder,
                                    const struct object_windows_options *options, struct clv_error *err)
{
    OWNED(object_windows_release) struct object_windows result = {0};
    OWNED(find_state_release) struct find_state state = {.windows = &result, .finder = finder, .options = options};
    MUST(plan(&result, finder, options, err));
    MUST(open_journal(&state, err));
    MUST(find_in_windows(&state, err));
    MUST(join(&result, err));
    MUST(number_objects(&result, err));
    MUST(find_probabilities(&result, err));
    *self = TAKE(result);
    return CLV_OK;
}

void object_windows_rows(int32_t *numbers, struct object_windows *self, int32_t top, int32_t n_rows)
{
    for (int32_t y = top; y < top + n_rows; y++, numbers += self->width) {
        const int32_t at = working_coordinate(y, self->height, self->working_height);
        if (at != self->line_at)
            show_row(self->line, self, at);
        self->line_at = at;
        for (int32_t x = 0; x < self->width; x++)
            numbers[x] = self->line[self->columns[x]];
    }
}
