/* Takes over entries of an earlier COCO document for images that stay. The document is read by its lines, as coco.c
 * writes them. Start at coco_keep. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "data/export/export.h"

#define IMAGES     "\n],\"images\":["
#define CATEGORIES "\n],\"categories\":["

/* An image that stays. */
struct kept {
    uint64_t before, id; /* its number there, and here */
};

struct keeping {
    struct kept *images;
    size_t n, capacity;
};

static void keeping_release(struct keeping *self)
{
    array_free(self->images);
}

static int compare_kept(const void *a, const void *b)
{
    uint64_t x = ((const struct kept *)a)->before, y = ((const struct kept *)b)->before;
    return (x > y) - (x < y);
}

/* Whether the document is one of these labels: it ends as theirs would. */
static bool has_labels(struct text *text, const char *categories, const struct clv_labels *labels)
{
    OWNED(text_release) struct text end = {0};
    const struct text none = {0};
    text_init(&end, text->max);
    coco_end(&end, &none, labels);
    const char *own = end.failed ? NULL : strstr(end.bytes, CATEGORIES);
    text->failed |= end.failed;
    return own && strcmp(own, categories) == 0;
}

/* A line without the comma behind it, which is cut off; NULL: there is no other. */
static char *take_line(char **cursor)
{
    char *line = strsep(cursor, "\n");
    size_t n = line ? strlen(line) : 0;
    if (n && line[n - 1] == ',')
        line[n - 1] = 0;
    return line;
}

static enum clv_status keep_image(struct keeping *self, struct text *images, size_t *n_ids, const char *line,
                                  const struct coco_earlier *earlier, struct clv_error *err)
{
    OWNED(json_drop) struct json_value *root = NULL;
    int64_t id, width, height;
    const char *name;
    MUST(json_parse(&root, line, strlen(line), earlier->path, err));
    bool is_whole =
        json_get_int64(json_member(root, "id"), &id) && json_get_int64(json_member(root, "width"), &width) &&
        json_get_int64(json_member(root, "height"), &height) && json_get_text(json_member(root, "file_name"), &name);
    bool stays = false;
    if (is_whole)
        MUST(earlier->look(&stays, earlier->context, name, err));
    if (!stays)
        return CLV_OK;
    NEED(!array_reserve((void **)&self->images, &self->capacity, self->n + 1, sizeof *self->images));
    coco_put_image(images, ++*n_ids, name, (int32_t)width, (int32_t)height);
    self->images[self->n++] = (struct kept){(uint64_t)id, *n_ids};
    return CLV_OK;
}

/* Reads the number that follows the words, and moves *line behind it. */
static bool take_number(uint64_t *number, const char **line, const char *words)
{
    char *end;
    const char *begin = *line + strlen(words);
    if (strncmp(*line, words, strlen(words)) != 0)
        return false;
    *number = strtoull(begin, &end, 10);
    *line = end;
    return end > begin;
}

static void keep_object(struct text *text, const struct keeping *self, size_t *n_annotations, const char *line)
{
    struct kept wanted = {0};
    uint64_t id;
    if (!take_number(&id, &line, "{\"id\":") || !take_number(&wanted.before, &line, ",\"image_id\":"))
        return;
    const struct kept *image = bsearch(&wanted, self->images, self->n, sizeof wanted, compare_kept);
    if (!image)
        return;
    text_printf(text, "%s\n{\"id\":%zu,", *n_annotations ? "," : "", *n_annotations + 1);
    text_printf(text, "\"image_id\":%" PRIu64 "%s", image->id, line);
    ++*n_annotations;
}

enum clv_status coco_keep(struct text *text, struct text *images, size_t *n_annotations, size_t n_ids,
                          const struct coco_earlier *earlier, const struct clv_labels *labels, struct clv_error *err)
{
    OWNED(keeping_release) struct keeping self = {0};
    char *document = earlier->document, *middle = strstr(document, IMAGES), *end = strstr(document, CATEGORIES), *line;
    if (strncmp(document, COCO_BEGINNING, strlen(COCO_BEGINNING)) != 0 || !middle || !end || end < middle ||
        !has_labels(text, end, labels))
        return text->failed ? fail_memory(err) : CLV_OK;
    *middle = *end = 0;
    for (char *cursor = middle + strlen(IMAGES); (line = take_line(&cursor));)
        if (*line)
            MUST(keep_image(&self, images, &n_ids, line, earlier, err));
    if (self.n)
        qsort(self.images, self.n, sizeof *self.images, compare_kept);
    for (char *cursor = document + strlen(COCO_BEGINNING); self.n && (line = take_line(&cursor));)
        keep_object(text, &self, n_annotations, line);
    NEED(!text->failed && !images->failed);
    return CLV_OK;
}
