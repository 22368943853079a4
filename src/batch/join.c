/* Joins parts of tables to the tables of a folder. A row of `tables` says where the parts of a table are and has
 * functions that write its beginning, an image and its end. A first pass joins the parts of the list's images, a second
 * one those of other images that are in the folder. Threads read blocks of parts ahead; they are written in order.
 * Start at join_tables. */
#include "batch/join.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/export/export.h"

#define BLOCK     1024
#define MAX_AHEAD ((size_t)64 << 20) /* most bytes of parts that a block reads ahead; others are read in turn */
#define MAX_TEXT  ((size_t)1 << 32)
#define WAIT_MS   20

const char *const join_paths[N_JOIN_TABLES] = {"objects.tsv", "coco.json", "voc/ImageSets/Segmentation/default.txt"};

/* An image that may have a part. */
struct slot {
    const char *output, *mask; /* mask: NULL if it must be found */
    size_t item;               /* index in the list; the list's length for an image of an earlier run */
    bool is_loaded, has_mask, fits;
    enum part_state state;
    struct part part;
};

struct join_context {
    const char *folder;
    const struct join_item *items;
    size_t n, n_blocks;
    const struct join_options *options;
    struct join_counts *counts;
    const struct table_kind *kind;
    struct part_key key;
    struct file_writer table, entries; /* entries: those of COCO's images, a temporary file */
    struct text text;                  /* of the current image; empty between images */
    struct slot *slots;                /* [BLOCK] */
    size_t n_slots;
    atomic_size_t ahead;  /* bytes of parts in memory */
    size_t *first;        /* [n] index of the first item with the same image */
    bool *is_listed;      /* [n] the image's entry is written */
    const char **outputs; /* [n_outputs] outputs of the list, sorted */
    size_t n_outputs;
    uint64_t *names; /* [n_names] hashes of the list's names in the table, sorted before the second pass */
    size_t n_names, capacity;
    size_t n_annotations, n_ids;
};

struct table_kind {
    bool has_lines;      /* its parts have lines, else only their existence counts */
    enum part_kind part; /* if has_lines */
    struct part_path path;
    enum clv_status (*begin)(struct join_context *self, struct clv_error *err);
    enum clv_status (*add)(struct join_context *self, const struct slot *slot, const char *name,
                           struct clv_error *err); /* name: for the table */
    enum clv_status (*end)(struct join_context *self, struct clv_error *err);
};

/* Writes the text to the stream, and empties it. */
static enum clv_status flush(struct text *text, FILE *stream, struct clv_error *err)
{
    NEED(!text->failed);
    if (text->size)
        fwrite(text->bytes, 1, text->size, stream); /* errors surface in file_commit */
    text->size = 0;
    return CLV_OK;
}

/* objects.tsv. */

static enum clv_status objects_begin(struct join_context *self, struct clv_error *err)
{
    (void)err;
    fputs(self->options->objects_head, self->table.stream);
    return CLV_OK;
}

static enum clv_status objects_add(struct join_context *self, const struct slot *slot, const char *name,
                                   struct clv_error *err)
{
    FILE *stream = self->table.stream;
    (void)err;
    for (const char *line = slot->part.lines, *next; line < slot->part.end; line = next) {
        next = (const char *)memchr(line, '\n', (size_t)(slot->part.end - line)) + 1; /* part_read has checked it */
        fputs(name, stream);
        putc('\t', stream);
        fwrite(line, 1, (size_t)(next - line), stream);
    }
    return CLV_OK;
}

static enum clv_status write_nothing(struct join_context *self, struct clv_error *err)
{
    (void)self, (void)err;
    return CLV_OK;
}

/* coco.json. */

struct image_of {
    const char *image;
    size_t item;
};

static int compare_images(const void *a, const void *b)
{
    const struct image_of *first = a, *second = b;
    int order = strcmp(first->image, second->image);
    return order ? order : (first->item > second->item) - (first->item < second->item);
}

static enum clv_status find_first_items(struct join_context *self, struct clv_error *err)
{
    OWNED_ARRAY struct image_of *sorted = array_alloc(self->n, sizeof *sorted);
    self->first = array_alloc(self->n, sizeof *self->first);
    self->is_listed = array_zalloc(self->n, sizeof *self->is_listed);
    NEED(sorted && self->first && self->is_listed);
    for (size_t i = 0; i < self->n; i++)
        sorted[i] = (struct image_of){self->items[i].image, i};
    if (self->n)
        qsort(sorted, self->n, sizeof *sorted, compare_images);
    for (size_t i = 0; i < self->n; i++)
        self->first[sorted[i].item] =
            i && strcmp(sorted[i].image, sorted[i - 1].image) == 0 ? self->first[sorted[i - 1].item] : sorted[i].item;
    return CLV_OK;
}

static enum clv_status coco_table_begin(struct join_context *self, struct clv_error *err)
{
    MUST(find_first_items(self, err));
    MUST(file_create(&self->entries, self->table.path, err));
    self->n_ids = self->n;
    coco_begin(&self->text);
    return flush(&self->text, self->table.stream, err);
}

static enum clv_status coco_table_add(struct join_context *self, const struct slot *slot, const char *name,
                                      struct clv_error *err)
{
    const struct part *part = &slot->part;
    const bool is_earlier = slot->item == self->n;
    const size_t first = is_earlier ? 0 : self->first[slot->item], id = is_earlier ? ++self->n_ids : first + 1;
    if (is_earlier || !self->is_listed[first]) {
        coco_put_entry(&self->text, ftello(self->entries.stream) == 0, id, name, part->width, part->height);
        MUST(flush(&self->text, self->entries.stream, err));
    }
    if (!is_earlier)
        self->is_listed[first] = true;
    coco_put_numbered(&self->text, &self->n_annotations, id, part->lines, (size_t)(part->end - part->lines));
    return flush(&self->text, self->table.stream, err);
}

static enum clv_status coco_table_end(struct join_context *self, struct clv_error *err)
{
    char buffer[1 << 14];
    FILE *entries = self->entries.stream;
    coco_begin_images(&self->text);
    MUST(flush(&self->text, self->table.stream, err));
    if (fflush(entries) || ferror(entries) || fseeko(entries, 0, SEEK_SET))
        return fail_errno(err, CLV_ERR_IO, "%s: cannot write", self->table.path);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, entries)) > 0;)
        fwrite(buffer, 1, n, self->table.stream);
    if (ferror(entries))
        return fail_errno(err, CLV_ERR_OS, "%s: cannot read back the images", self->table.path);
    coco_put_categories(&self->text, self->options->parts.labels);
    return flush(&self->text, self->table.stream, err);
}

/* VOC's list. */

static enum clv_status voc_add(struct join_context *self, const struct slot *slot, const char *name,
                               struct clv_error *err)
{
    (void)name, (void)err;
    fprintf(self->table.stream, "%s\n", slot->output);
    return CLV_OK;
}

static const struct table_kind tables[N_JOIN_TABLES] = {
    [JOIN_OBJECTS] = {true, PART_OBJECTS, .begin = objects_begin, .add = objects_add, .end = write_nothing},
    [JOIN_COCO] = {true, PART_COCO, .begin = coco_table_begin, .add = coco_table_add, .end = coco_table_end},
    [JOIN_VOC] = {.path = {"voc/Annotations/", ".xml"}, .begin = write_nothing, .add = voc_add, .end = write_nothing},
};

static const struct part_path *part_path_of(const struct table_kind *kind)
{
    return kind->has_lines ? &part_paths[kind->part] : &kind->path;
}

/* Reading. */

/* Returns folder/<below><output><ending>; NULL: out of memory. */
static char *path_of(const struct join_context *self, const char *below, const char *output, const char *ending)
{
    OWNED(text_release) struct text path = {0};
    text_init(&path, MAX_TEXT);
    text_put(&path, self->folder);
    if (path.size && path.bytes[path.size - 1] != '/')
        text_put(&path, "/");
    text_put(&path, below);
    text_put(&path, output);
    text_put(&path, ending);
    return path.failed ? NULL : TAKE(path.bytes);
}

/* Sets has_mask if the mask exists, and whether the part belongs to it. VOC's files do not name their mask and always
 * do. */
static enum clv_status try_mask(struct slot *slot, const char *mask, struct clv_error *err)
{
    const bool has_mask = path_exists(mask);
    slot->has_mask |= has_mask;
    slot->fits = has_mask && !slot->part.bytes;
    return slot->part.bytes ? part_fits(&slot->fits, &slot->part, mask, err) : CLV_OK;
}

/* Finds the mask of the slot. For an image of an earlier run, tries both extensions. */
static enum clv_status find_mask(struct slot *slot, const struct join_context *self, struct clv_error *err)
{
    static const char *const endings[] = {".png", ".tif"};
    if (slot->mask)
        return try_mask(slot, slot->mask, err);
    for (int k = 0; k < 2 && !slot->fits; k++) {
        OWNED_ARRAY char *mask = path_of(self, "", slot->output, endings[k]);
        NEED(mask);
        MUST(try_mask(slot, mask, err));
    }
    return CLV_OK;
}

static enum clv_status load(struct slot *slot, const struct join_context *self, struct clv_error *err)
{
    const struct part_path *where = part_path_of(self->kind);
    OWNED_ARRAY char *path = path_of(self, where->below, slot->output, where->ending);
    NEED(path);
    if (self->kind->has_lines)
        MUST(part_read(&slot->part, &slot->state, path, self->kind->part, err));
    else
        slot->state = path_exists(path) ? PART_WHOLE : PART_ABSENT;
    MUST(find_mask(slot, self, err));
    slot->fits = slot->fits && (!slot->part.bytes || strcmp(slot->part.layout, self->key.layout) == 0);
    slot->is_loaded = true;
    return CLV_OK;
}

static enum clv_status load_ahead(void *context, size_t index, int thread, struct clv_error *err)
{
    struct join_context *self = context;
    struct slot *slot = &self->slots[index];
    (void)thread;
    if (atomic_load(&self->ahead) > MAX_AHEAD)
        return CLV_OK;
    MUST(load(slot, self, err));
    if (slot->part.bytes)
        atomic_fetch_add(&self->ahead, (size_t)(slot->part.end - slot->part.bytes));
    return CLV_OK;
}

/* Writing. */

static uint64_t hash_name(const char *name)
{
    return hash_bytes(HASH_START, name, strlen(name));
}

/* Keeps the hash of the name that an image of the list has in the table. */
static enum clv_status keep_name(struct join_context *self, const char *name, struct clv_error *err)
{
    NEED(!array_reserve((void **)&self->names, &self->capacity, self->n_names + 1, sizeof *self->names));
    self->names[self->n_names++] = hash_name(name);
    return CLV_OK;
}

/* Whether an image of the list has that name in the table, because it was processed again under another path. */
static bool has_name(const struct join_context *self, const char *name)
{
    const uint64_t hash = hash_name(name);
    return self->n_names && bsearch(&hash, self->names, self->n_names, sizeof hash, compare_uint64s);
}

/* Puts an image's name for the table: by the list, or, for an image of an earlier run, by the part. */
static enum clv_status name_image(struct text *name, const struct join_context *self, const struct slot *slot,
                                  struct clv_error *err)
{
    if (slot->item == self->n) {
        text_put(name, slot->part.name);
    } else if (self->kind->part == PART_OBJECTS) {
        text_put_field(name, self->items[slot->item].name);
    } else {
        OWNED_ARRAY char *file = join_file_name(self->items[slot->item].image, slot->output);
        NEED(file);
        text_put_json(name, file);
    }
    NEED(!name->failed);
    return CLV_OK;
}

/* Counts an image with a mask that is not in the table, by the reason. */
static enum clv_status count_skipped(const struct join_context *self, const struct slot *slot, struct clv_error *err)
{
    const struct part_path *where = part_path_of(self->kind);
    struct join_counts *counts = self->counts;
    OWNED_ARRAY char *path = path_of(self, where->below, slot->output, where->ending);
    NEED(path);
    if (slot->state == PART_TORN && counts->n_torn++ == 0)
        snprintf(counts->first_torn, PATH_MAX, "%s", path);
    if (slot->state == PART_WHOLE && slot->has_mask && counts->n_skipped++ == 0)
        snprintf(counts->first_skipped, PATH_MAX, "%s", path);
    if (slot->state == PART_ABSENT && slot->mask && slot->has_mask && counts->n_missing++ == 0)
        snprintf(counts->first_missing, PATH_MAX, "%s", slot->mask);
    return CLV_OK;
}

static enum clv_status write_image(struct join_context *self, struct slot *slot, struct clv_error *err)
{
    const bool is_earlier = slot->item == self->n;
    OWNED(text_release) struct text name = {0};
    if (!slot->is_loaded)
        MUST(load(slot, self, err));
    if (slot->state != PART_WHOLE || !slot->fits)
        return count_skipped(self, slot, err);
    text_init(&name, MAX_TEXT);
    if (self->kind->has_lines) {
        MUST(name_image(&name, self, slot, err));
        if (is_earlier && has_name(self, name.bytes))
            return CLV_OK;
        if (!is_earlier)
            MUST(keep_name(self, name.bytes, err));
    }
    self->counts->n_joined++;
    self->counts->n_earlier += is_earlier;
    return self->kind->add(self, slot, name.bytes, err);
}

static void empty_slots(struct join_context *self)
{
    for (size_t k = 0; k < self->n_slots; k++)
        part_release(&self->slots[k].part);
    self->n_slots = 0;
    self->ahead = 0;
}

static enum clv_status write_block(struct join_context *self, struct clv_error *err)
{
    MUST(parallel_for(self->n_slots, self->options->n_threads, load_ahead, self, err));
    for (size_t k = 0; k < self->n_slots; k++) {
        MUST(write_image(self, &self->slots[k], err));
        part_release(&self->slots[k].part);
    }
    empty_slots(self);
    return CLV_OK;
}

static enum clv_status add_slot(struct join_context *self, const char *output, const char *mask, size_t item,
                                struct clv_error *err)
{
    self->slots[self->n_slots++] = (struct slot){.output = output, .mask = mask, .item = item};
    return self->n_slots == BLOCK ? write_block(self, err) : CLV_OK;
}

static enum clv_status join_list(struct join_context *self, struct clv_error *err)
{
    for (size_t i = 0; i < self->n; i++) {
        const struct join_item *item = &self->items[i];
        if (item->output)
            MUST(add_slot(self, item->output, item->mask, i, err));
        if (i % BLOCK == 0 && i)
            report_progress(self->options->progress, "joining", i, self->n, NULL);
    }
    return write_block(self, err);
}

static bool is_in_list(const struct join_context *self, const char *output)
{
    return self->n_outputs && bsearch(&output, self->outputs, self->n_outputs, sizeof output, compare_strings);
}

static enum clv_status join_earlier(struct join_context *self, struct clv_error *err)
{
    const struct part_path *where = part_path_of(self->kind);
    OWNED(path_list_release) struct path_list found = {0};
    OWNED_ARRAY char *folder = path_of(self, where->below, "", "");
    NEED(folder);
    if (self->n_names)
        qsort(self->names, self->n_names, sizeof *self->names, compare_uint64s);
    if (path_is_folder(folder))
        MUST(folder_walk(&found, folder, err));
    for (size_t k = 0; k < found.n; k++) {
        const size_t length = strlen(found.paths[k]), ending = strlen(where->ending);
        if (length <= ending || strcmp(found.paths[k] + length - ending, where->ending) != 0)
            continue;
        found.paths[k][length - ending] = 0;
        if (!is_in_list(self, found.paths[k]))
            MUST(add_slot(self, found.paths[k], NULL, self->n, err));
    }
    return write_block(self, err);
}

static void join_context_release(struct join_context *self)
{
    empty_slots(self);
    file_abort(&self->table);
    file_abort(&self->entries);
    text_release(&self->text);
    arrays_free(self->first, self->is_listed, self->names);
}

/* Writes a table. `shared` has the members that do not depend on the table. */
static enum clv_status join_table(const struct join_context *shared, enum join_table table, struct clv_error *err)
{
    OWNED(join_context_release) struct join_context self = *shared;
    OWNED_ARRAY char *path = path_join(self.folder, join_paths[table]);
    OWNED_ARRAY char *folder = path ? path_folder(path) : NULL;
    NEED(folder);
    self.kind = &tables[table];
    text_init(&self.text, MAX_TEXT);
    if (self.kind->has_lines)
        part_key_make(&self.key, self.kind->part, &self.options->parts);
    MUST(folder_create(folder, err));
    MUST(file_create(&self.table, path, err));
    MUST(self.kind->begin(&self, err));
    MUST(join_list(&self, err));
    MUST(join_earlier(&self, err));
    MUST(self.kind->end(&self, err));
    return file_commit(&self.table, err);
}

enum clv_status join_tables(struct join_counts *counts, const char *folder, const struct join_item *items, size_t n,
                            const struct join_options *options, struct clv_error *err)
{
    OWNED_ARRAY struct slot *slots = array_zalloc(BLOCK, sizeof *slots);
    OWNED_ARRAY const char **outputs = array_alloc(n, sizeof *outputs);
    struct join_context shared = {.folder = folder,
                                  .items = items,
                                  .n = n,
                                  .options = options,
                                  .counts = counts,
                                  .slots = slots,
                                  .outputs = outputs};
    *counts = (struct join_counts){0};
    NEED(slots && outputs);
    for (size_t i = 0; i < n; i++)
        if (items[i].output)
            outputs[shared.n_outputs++] = items[i].output;
    if (shared.n_outputs)
        qsort(outputs, shared.n_outputs, sizeof *outputs, compare_strings);
    for (enum join_table table = 0; table < N_JOIN_TABLES; table++)
        if (options->tables & 1U << table)
            MUST(join_table(&shared, table, err));
    return CLV_OK;
}

/* "out: 3 parts of tables are damaged, the first is out/.cleave-parts/coco/a.json; the tables .." */
static void warn_skipped(const struct clv_progress *progress, const char *folder, size_t n, const char *one,
                         const char *many, const char *first)
{
    if (n == 1)
        report_message(progress, CLV_WARNING,
                       "%s: %s, %s; the tables leave it out; run again over its image with --resume", folder, one,
                       first);
    else if (n)
        report_message(progress, CLV_WARNING,
                       "%s: %zu %s, the first is %s; the tables leave them out; run again over their images with "
                       "--resume",
                       folder, n, many, first);
}

void join_report(const struct join_counts *counts, const char *folder, const struct clv_progress *progress)
{
    warn_skipped(progress, folder, counts->n_missing, "a mask has no part for a table",
                 "masks have no part for a table", counts->first_missing);
    warn_skipped(progress, folder, counts->n_skipped,
                 "a part of a table is of another mask, or of other labels or bands",
                 "parts of tables are of other masks, or of other labels or bands", counts->first_skipped);
    warn_skipped(progress, folder, counts->n_torn, "a part of a table is damaged", "parts of tables are damaged",
                 counts->first_torn);
}

char *join_file_name(const char *image, const char *output)
{
    const char *name = path_name(image), *stem = path_name(output);
    size_t folder = (size_t)(stem - output), length = strlen(stem);
    if (!folder || strncmp(name, stem, length) != 0 || !strchr(".", name[length]))
        return string_copy(name); /* the output is named after a mask and does not tell the image's folder */
    size_t size = folder + strlen(name) + 1;
    char *below = array_alloc(size, 1);
    if (below)
        snprintf(below, size, "%.*s%s", (int)folder, output, name);
    return below;
}

/* Locks. */

/* Opens and locks the file, which is created if it does not exist. Returns -1 with errno EAGAIN if another process has
 * the lock or has just removed the file, and with another errno if the file system has no locks. */
static int open_locked(const char *path)
{
    const struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return -1;
    bool is_locked = fcntl(fd, F_OFD_SETLK, &all) == 0;
    int why = is_locked || errno == EACCES ? EAGAIN : errno;
    if (is_locked && file_is_at(fd, path))
        return fd;
    if (why != EAGAIN)
        unlink(path);
    close(fd);
    errno = why;
    return -1;
}

enum clv_status join_lock_take(struct join_lock *lock, const char *folder, const struct clv_progress *progress,
                               struct clv_error *err)
{
    OWNED_ARRAY char *parts = path_join(folder, PARTS_FOLDER);
    OWNED_ARRAY char *path = path_join(folder, PARTS_FOLDER "/join.lock");
    NEED(parts && path);
    MUST(folder_create(parts, err));
    int fd = open_locked(path);
    while (fd < 0 && errno == EAGAIN) {
        FAIL_IF(stop_requested(progress), CLV_ERR_INTERRUPTED, "interrupted");
        nanosleep(&(struct timespec){0, WAIT_MS * 1000000}, NULL);
        fd = open_locked(path);
    }
    *lock = (struct join_lock){0};
    if (fd >= 0)
        *lock = (struct join_lock){fd + 1, TAKE(path)};
    return CLV_OK;
}

void join_lock_release(struct join_lock *lock)
{
    if (lock->fd) {
        unlink(lock->path); /* while it is locked: open_locked of another process notices that the file is gone */
        close(lock->fd - 1);
    }
    array_free(lock->path);
    *lock = (struct join_lock){0};
}

bool join_is_last(const char *folder)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    OWNED_ARRAY char *path = path_join(folder, SHARDS_LOCK);
    int fd = path ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
    bool is_held = fd >= 0 && fcntl(fd, F_OFD_GETLK, &all) == 0 && all.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    return !is_held;
}
