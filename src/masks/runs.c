/* Reads masks from run lengths in a CSV, as in Kaggle's competitions. mask_runs_parse reads the whole table, with
 * quotes; mask_runs_fill fills the pixels of one row. */
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "masks/masks.h"

#define MAX_COLUMNS 64

void mask_runs_release(struct mask_runs *runs)
{
    arrays_free(runs->bytes, runs->rows, runs->runs);
    *runs = (struct mask_runs){0};
}

struct csv {
    const char *path;
    char *cursor, *end;
    size_t line;
    char separator;
    char *fields[MAX_COLUMNS];
    size_t n_fields;
};

/* Splits off the next field in place and removes its quotes. Returns the character behind it: the separator, a line end
 * or 0. */
static char cut_field(struct csv *self, char **field)
{
    char *from = self->cursor, *to = from;
    bool is_quoted = from < self->end && *from == '"';
    *field = to;
    from += is_quoted;
    for (; from < self->end; from++) {
        if (is_quoted && *from == '"' && from + 1 < self->end && from[1] == '"')
            from++; /* a doubled quote stands for one */
        else if (is_quoted && *from == '"') {
            is_quoted = false;
            continue;
        } else if (!is_quoted && (*from == self->separator || *from == '\n'))
            break;
        self->line += *from == '\n';
        *to++ = *from;
    }
    const char last = from < self->end ? *from : 0;
    if (last != self->separator && to > *field && to[-1] == '\r')
        to--;
    self->cursor = from < self->end ? from + 1 : from;
    *to = 0;
    return last;
}

/* Reads the next row that is not empty; *more is false at the end. */
static enum clv_status next_row(bool *more, struct csv *self, struct clv_error *err)
{
    *more = false;
    while (self->cursor < self->end && !*more) {
        char last;
        self->n_fields = 0;
        do {
            FAIL_IF(self->n_fields == MAX_COLUMNS, CLV_ERR_DATA, "%s: line %zu: more than %d columns", self->path,
                    self->line + 1, MAX_COLUMNS);
            last = cut_field(self, &self->fields[self->n_fields++]);
        } while (last == self->separator);
        self->line += last == '\n' || last == 0;
        *more = self->n_fields > 1 || *self->fields[0];
    }
    return CLV_OK;
}

/* Kinds of columns and their usual names. */
enum { IMAGE, RUNS, LABEL, BOTH, WIDTH, HEIGHT, N_KINDS };
static const char *const column_names[N_KINDS][12] = {
    [IMAGE] = {"imageid", "image_id", "image", "img", "img_id", "id", "filename", "file_name", "image_name", "name",
               "file"},
    [RUNS] = {"encodedpixels", "encoded_pixels", "rle_mask", "rle", "segmentation", "annotation", "encoding",
              "rle_encoding", "rle_encoded", "mask", "runs"},
    [LABEL] = {"classid", "class_id", "class", "class_name", "label", "category", "category_id", "label_id", "labels",
               "cell_type"},
    [BOTH] = {"imageid_classid", "image_label", "image_class", "id_class"},
    [WIDTH] = {"width", "img_width", "image_width"},
    [HEIGHT] = {"height", "img_height", "image_height"},
};

/* Finds the column of a kind by its names, in their order; -1: absent. */
static int find_column(const struct csv *self, int kind)
{
    for (int k = 0; k < 12 && column_names[kind][k]; k++)
        for (size_t c = 0; c < self->n_fields; c++)
            if (text_matches(self->fields[c], column_names[kind][k]))
                return (int)c;
    return -1;
}

static bool is_nothing(const char *text)
{
    return !*text || strcmp(text, "-1") == 0 || text_matches(text, "nan") || text_matches(text, "none");
}

/* Reads the runs of a row; false: they are not pairs of numbers in ascending order, or memory was exhausted
 * (*failed). */
static bool take_runs(struct mask_runs *self, struct mask_run_row *row, const char *text, bool *failed)
{
    uint64_t end = 0;
    for (const char *at = text + strspn(text, " \t\r\n,[]"); *at; row->n_runs++) {
        uint64_t pair[2];
        for (int k = 0; k < 2; k++) {
            const size_t n = strspn(at, "0123456789");
            if (!n || n > 10)
                return false;
            pair[k] = 0;
            for (size_t i = 0; i < n; i++)
                pair[k] = 10 * pair[k] + (uint64_t)(at[i] - '0');
            at += n;
            if (*at && !strchr(" \t\r\n,[]", *at))
                return false;
            at += strspn(at, " \t\r\n,[]");
        }
        if (pair[0] <= end || pair[0] + pair[1] > INT32_MAX || !pair[1])
            return false;
        end = pair[0] + pair[1] - 1;
        if (array_reserve((void **)&self->runs, &self->run_capacity, self->n_runs + 1, sizeof *self->runs)) {
            *failed = true;
            return false;
        }
        self->runs[self->n_runs][0] = (uint32_t)pair[0] - 1;
        self->runs[self->n_runs++][1] = (uint32_t)pair[1];
    }
    return true;
}

static void trim(char **field)
{
    *field += strspn(*field, " \t");
    for (size_t n = strlen(*field); n && strchr(" \t", (*field)[n - 1]); n--)
        (*field)[n - 1] = 0;
}

static int32_t number_of(const char *text)
{
    double value;
    return parse_double(text, &value) && value >= 1 && value <= INT32_MAX ? (int32_t)value : 0;
}

/* Splits "a.jpg_2" in place into image and label. Returns the label. */
static char *cut_label(char *field)
{
    char *cut = strrchr(field, '_');
    if (!cut)
        return field + strlen(field);
    *cut = 0;
    return cut + 1;
}

static enum clv_status add_row(struct mask_runs *self, const struct csv *csv, const int columns[N_KINDS],
                               struct clv_error *err)
{
    struct mask_run_row row = {.line = csv->line, .first = self->n_runs, .label = ""};
    bool failed = false;
    for (int k = 0; k < N_KINDS; k++)
        FAIL_IF(columns[k] >= (int)csv->n_fields, CLV_ERR_DATA, "%s: line %zu: has %zu fields, too few", csv->path,
                csv->line, csv->n_fields);
    char *image = csv->fields[columns[BOTH] >= 0 ? columns[BOTH] : columns[IMAGE]];
    char *label = columns[BOTH] >= 0 ? cut_label(image) : columns[LABEL] >= 0 ? csv->fields[columns[LABEL]] : NULL;
    char *runs = csv->fields[columns[RUNS]];
    trim(&image);
    trim(&runs);
    if (label)
        trim(&label);
    FAIL_IF(!*image, CLV_ERR_DATA, "%s: line %zu: names no image", csv->path, csv->line);
    FAIL_IF(label && !*label && !is_nothing(runs), CLV_ERR_DATA, "%s: line %zu: has no label", csv->path, csv->line);
    FAIL_IF(label && *label && !label_name_fits(label), CLV_ERR_DATA,
            "%s: line %zu: a label of more than 63 bytes, of several lines, or not in UTF-8", csv->path, csv->line);
    row.image = image;
    row.label = label ? label : "";
    row.width = columns[WIDTH] >= 0 ? number_of(csv->fields[columns[WIDTH]]) : 0;
    row.height = columns[HEIGHT] >= 0 ? number_of(csv->fields[columns[HEIGHT]]) : 0;
    if (!is_nothing(runs))
        row.is_bad = !take_runs(self, &row, runs, &failed);
    NEED(!failed && array_reserve((void **)&self->rows, &self->capacity, self->n + 1, sizeof *self->rows) == 0);
    self->rows[self->n++] = row;
    return CLV_OK;
}

enum clv_status mask_runs_parse(struct mask_runs *runs, const char *path, char *bytes, size_t size,
                                struct clv_error *err)
{
    OWNED(mask_runs_release) struct mask_runs result = {.bytes = bytes};
    struct csv csv = {.path = path, .end = bytes + size};
    int columns[N_KINDS];
    bool more;
    bytes[size] = 0;
    FAIL_IF(memchr(bytes, 0, size), CLV_ERR_DATA, "%s: holds a zero byte, as no CSV does", path);
    csv.cursor = text_skip_mark(bytes, &size);
    const size_t head = strcspn(csv.cursor, "\r\n");
    csv.separator = memchr(csv.cursor, ',', head)    ? ','
                    : memchr(csv.cursor, ';', head)  ? ';'
                    : memchr(csv.cursor, '\t', head) ? '\t'
                                                     : ',';
    MUST(next_row(&more, &csv, err));
    for (int k = 0; k < N_KINDS && more; k++)
        columns[k] = find_column(&csv, k);
    FAIL_IF(!more || (columns[IMAGE] < 0 && columns[BOTH] < 0) || columns[RUNS] < 0, CLV_ERR_DATA,
            "%s: its first line names no column of images (ImageId) and of run lengths (EncodedPixels)", path);
    if (columns[BOTH] >= 0)
        columns[IMAGE] = -1;
    result.has_labels = columns[BOTH] >= 0 || columns[LABEL] >= 0;
    for (;;) {
        MUST(next_row(&more, &csv, err));
        if (!more)
            break;
        MUST(add_row(&result, &csv, columns, err));
    }
    FAIL_IF(!result.n, CLV_ERR_DATA, "%s: has no rows", path);
    *runs = TAKE(result);
    return CLV_OK;
}

bool mask_runs_fill(uint8_t *layer, int32_t width, int32_t height, const struct mask_runs *runs,
                    const struct mask_run_row *row, bool by_rows)
{
    const uint64_t n = (uint64_t)width * (uint64_t)height;
    for (size_t k = row->first; k < row->first + row->n_runs; k++)
        if ((uint64_t)runs->runs[k][0] + runs->runs[k][1] > n)
            return false;
    for (size_t k = row->first; k < row->first + row->n_runs; k++)
        for (uint32_t i = 0; i < runs->runs[k][1]; i++) {
            const size_t at = (size_t)runs->runs[k][0] + i, x = at / (size_t)height, y = at % (size_t)height;
            layer[by_rows ? at : y * (size_t)width + x] = 1;
        }
    return true;
}
