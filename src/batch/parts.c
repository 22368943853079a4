/* Writes and reads parts of tables, which are hidden files of an image, and tells which parts are up to date: the head
 * of a part has size and digest of its mask, size and hash of the rest, and the options with which it was made; the
 * file has the mask's time. Start at part_write; parts.h has the format. */
#include "batch/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "data/export/export.h"

#define VERSION  "cleave part 1"
#define MAX_SIZE ((size_t)1 << 32)

enum { FIELD_VERSION, FIELD_SIZE, FIELD_DIGEST, FIELD_REST, FIELD_HASH, FIELD_LAYOUT, FIELD_OPTIONS };
#define N_FIELDS (FIELD_OPTIONS + 1)

const struct part_path part_paths[N_PART_KINDS] = {
    [PART_OBJECTS] = {PARTS_FOLDER "/objects/", ".tsv"},
    [PART_COCO] = {PARTS_FOLDER "/coco/", ".json"},
};

/* Hashes the names of labels. */
static uint64_t hash_names(const struct clv_labels *labels)
{
    uint64_t hash = HASH_START;
    for (int32_t k = 0; k < labels->n_labels; k++)
        hash = hash_bytes(hash, labels->names[k], strlen(labels->names[k]) + 1);
    return hash;
}

/* Hashes COCO's categories: numbers and names. */
static uint64_t hash_categories(const struct clv_labels *labels)
{
    uint64_t hash = HASH_START;
    for (int32_t k = 0; k < labels->n_labels; k++)
        if (export_is_object(labels, k)) {
            hash = hash_number(hash, (uint64_t)export_category(labels, k));
            hash = hash_bytes(hash, labels->names[k], strlen(labels->names[k]) + 1);
        }
    return hash;
}

void part_key_make(struct part_key *key, enum part_kind kind, const struct part_options *options)
{
    if (kind == PART_OBJECTS) {
        snprintf(key->layout, sizeof key->layout, "bands=%d", options->n_bands);
        snprintf(key->options, sizeof key->options, "labels=%016" PRIx64 " min-area=%d clear-border=%d",
                 hash_names(options->labels), options->min_area, options->clear_border);
    } else {
        snprintf(key->layout, sizeof key->layout, "labels=%016" PRIx64, hash_categories(options->labels));
        point_snprintf(key->options, sizeof key->options,
                       "labels=%016" PRIx64 " tolerance=%.17g rle=%d objects=%d min-area=%d clear-border=%d",
                       hash_names(options->labels), options->tolerance, options->runs, options->objects,
                       options->min_area, options->clear_border);
    }
}

void part_put_image(struct text *lines, enum part_kind kind, const char *name, int32_t width, int32_t height)
{
    if (kind == PART_OBJECTS)
        text_put_field(lines, name);
    else
        text_put_json(lines, name);
    if (kind == PART_COCO)
        text_printf(lines, "\t%d\t%d", width, height);
    text_put(lines, "\n");
}

static int64_t changed_at(const struct stat *info)
{
    return (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
}

static uint64_t hash_rest(const void *bytes, size_t size)
{
    return hash_words(hash_number(HASH_START, size), bytes, size);
}

static enum clv_status digest_mask(struct part_mask *mask, struct clv_error *err)
{
    struct stat info;
    if (*mask->digest)
        return CLV_OK;
    if (stat(mask->path, &info))
        return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot examine", mask->path);
    mask->size = info.st_size;
    mask->changed = info.st_mtim;
    return digest_file(mask->digest, mask->path, err);
}

enum clv_status part_write(const char *path, struct part_mask *mask, const struct part_key *key,
                           const struct text *lines, struct clv_error *err)
{
    OWNED(text_release) struct text part = {0};
    OWNED_ARRAY char *folder = path_folder(path);
    NEED(folder && !lines->failed);
    MUST(digest_mask(mask, err));
    text_init(&part, MAX_SIZE);
    text_printf(&part, VERSION "\t%" PRId64 "\t%s\t%zu\t%016" PRIx64 "\t%s\t%s\n", mask->size, mask->digest,
                lines->size, hash_rest(lines->bytes, lines->size), key->layout, key->options);
    if (lines->size)
        text_append(&part, lines->bytes, lines->size);
    NEED(!part.failed);
    MUST(folder_create(folder, err));
    MUST(file_write_cache(path, part.bytes, part.size, err));
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, mask->changed};
    (void)utimensat(AT_FDCWD, path, times, 0); /* ignored: without the time, part_fits compares digests */
    return CLV_OK;
}

void part_release(struct part *part)
{
    array_free(part->bytes);
    *part = (struct part){0};
}

/* Parses the head, which it splits in place, and checks size and hash of the rest. */
static bool parse_head(struct part *part, char *head, const char *rest, size_t size)
{
    char *fields[N_FIELDS];
    uint64_t rest_size;
    char hash[17];
    if (split_tabs(head, fields, N_FIELDS) != N_FIELDS || strcmp(fields[FIELD_VERSION], VERSION) != 0 ||
        !parse_int64(fields[FIELD_SIZE], &part->mask_size) || !parse_uint64(fields[FIELD_REST], &rest_size) ||
        rest_size != size)
        return false;
    snprintf(hash, sizeof hash, "%016" PRIx64, hash_rest(rest, size));
    part->mask_digest = fields[FIELD_DIGEST];
    part->layout = fields[FIELD_LAYOUT];
    part->options = fields[FIELD_OPTIONS];
    return strcmp(fields[FIELD_HASH], hash) == 0;
}

/* Parses the line of the image, which it splits in place. */
static bool parse_image(struct part *part, char *line, enum part_kind kind)
{
    char *fields[3];
    const size_t n = kind == PART_COCO ? 3 : 1;
    if (split_tabs(line, fields, 3) != n)
        return false;
    part->name = fields[0];
    return kind == PART_OBJECTS || (parse_int32(fields[1], &part->width) && parse_int32(fields[2], &part->height));
}

static bool parse(struct part *part, size_t size, enum part_kind kind)
{
    char *end = part->bytes + size, *rest = part->bytes, *head = line_next(&rest, end);
    if (!head || !parse_head(part, head, rest, (size_t)(end - rest)))
        return false;
    part->lines = rest;
    part->end = end;
    char *image = line_next(&part->lines, end);
    return image && parse_image(part, image, kind) && (part->lines == end || end[-1] == '\n');
}

enum clv_status part_read(struct part *part, enum part_state *state, const char *path, enum part_kind kind,
                          struct clv_error *err)
{
    OWNED(part_release) struct part result = {0};
    struct clv_error why = {0};
    size_t size;
    enum clv_status status = file_read(&result.bytes, &size, path, MAX_SIZE, &why);
    bool is_absent = why.os_errno == ENOENT || why.os_errno == ENOTDIR || why.os_errno == ENAMETOOLONG;
    bool is_other = status == CLV_ERR_DATA || (status == CLV_ERR_NO_INPUT && !why.os_errno); /* a file that is too
                                                                                              * large, or a folder */
    if (status && !is_absent && !is_other) {
        if (err)
            *err = why;
        return status;
    }
    *state = is_absent ? PART_ABSENT : status == CLV_OK && parse(&result, size, kind) ? PART_WHOLE : PART_TORN;
    struct stat info;
    if (*state == PART_WHOLE) {
        result.mask_changed = stat(path, &info) == 0 ? changed_at(&info) : 0;
        *part = TAKE(result);
    }
    return CLV_OK;
}

enum clv_status part_fits(bool *fits, const struct part *part, const char *mask, struct clv_error *err)
{
    struct stat info;
    char digest[DIGEST_SIZE];
    *fits = false;
    if (stat(mask, &info)) {
        bool is_absent = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG;
        return is_absent ? CLV_OK : fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot examine", mask);
    }
    if (info.st_size != part->mask_size || !S_ISREG(info.st_mode))
        return CLV_OK;
    *fits = changed_at(&info) == part->mask_changed;
    if (*fits)
        return CLV_OK;
    MUST(digest_file(digest, mask, err));
    *fits = strcmp(digest, part->mask_digest) == 0;
    return CLV_OK;
}

enum clv_status part_check(enum part_fate *fate, size_t *n_lines, const char *path, const char *mask,
                           enum part_kind kind, const struct part_key *key, struct clv_error *err)
{
    OWNED(part_release) struct part part = {0};
    enum part_state state;
    bool fits = false;
    *fate = PART_TO_MAKE;
    *n_lines = 0;
    MUST(part_read(&part, &state, path, kind, err));
    if (state != PART_WHOLE || strcmp(part.layout, key->layout) != 0 || strcmp(part.options, key->options) != 0)
        return CLV_OK;
    MUST(part_fits(&fits, &part, mask, err));
    *fate = fits ? PART_CURRENT : PART_OF_ANOTHER_MASK;
    for (const char *line = part.lines; fits && (line = memchr(line, '\n', (size_t)(part.end - line))); line++)
        ++*n_lines;
    return CLV_OK;
}
