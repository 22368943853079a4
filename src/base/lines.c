/* Reads text files line by line, plain or compressed by gzip (zlib), from a mapped file through one buffer. Start at
 * lines_next. */
#include "base/lines.h"

#include <string.h>
#include <zlib.h>

#include "base/base.h"

#define BUFFER_SIZE 131072

struct lines {
    const char *path;
    struct file_map map;
    size_t taken;       /* bytes of the map that were copied or given to zlib */
    bool is_gzip, done; /* done: the end of the text is in the buffer */
    z_stream stream;
    char *buffer;      /* [BUFFER_SIZE + 1] */
    size_t begin, end; /* the part that was not returned yet */
    size_t number;
};

static void *zlib_alloc(void *opaque, uInt count, uInt size)
{
    (void)opaque;
    return array_alloc(count, size);
}

static void zlib_free(void *opaque, void *memory)
{
    (void)opaque;
    array_free(memory);
}

enum clv_status lines_open(struct lines **lines, const char *path, struct clv_error *err)
{
    *lines = NULL;
    OWNED(lines_drop) struct lines *self = array_zalloc(1, sizeof *self);
    NEED(self);
    self->buffer = array_alloc(BUFFER_SIZE + 1, 1);
    NEED(self->buffer);
    MUST(file_map_open(&self->map, path, err));
    self->path = path;
    self->stream.zalloc = zlib_alloc;
    self->stream.zfree = zlib_free;
    if (self->map.size >= 2 && self->map.bytes[0] == 0x1f && self->map.bytes[1] == 0x8b) {
        NEED(inflateInit2(&self->stream, 15 + 16) == Z_OK);
        self->is_gzip = true;
    }
    *lines = TAKE(self);
    return CLV_OK;
}

void lines_close(struct lines *lines)
{
    if (!lines)
        return;
    if (lines->is_gzip)
        inflateEnd(&lines->stream);
    file_map_close(&lines->map);
    arrays_free(lines->buffer, lines);
}

/* Gives zlib the next piece of the map; zlib's counts have 32 bits. */
static void feed(struct lines *self)
{
    size_t left = self->map.size - self->taken, piece = left < (1U << 30) ? left : 1U << 30;
    if (self->stream.avail_in > 0)
        return;
    self->stream.next_in = (Bytef *)(uintptr_t)(self->map.bytes + self->taken);
    self->stream.avail_in = (uInt)piece;
    self->taken += piece;
}

static enum clv_status inflate_some(struct lines *self, struct clv_error *err)
{
    z_stream *stream = &self->stream;
    feed(self);
    stream->next_out = (Bytef *)self->buffer + self->end;
    stream->avail_out = (uInt)(BUFFER_SIZE - self->end);
    int result = inflate(stream, Z_NO_FLUSH);
    self->end = BUFFER_SIZE - stream->avail_out;
    NEED(result != Z_MEM_ERROR);
    bool is_fed = stream->avail_in == 0 && self->taken == self->map.size;
    if (result == Z_STREAM_END) { /* another member may follow */
        self->done = is_fed;
        FAIL_IF(!is_fed && inflateReset(stream) != Z_OK, CLV_ERR_DATA, "%s: damaged gzip file", self->path);
        return CLV_OK;
    }
    FAIL_IF(result != Z_OK && result != Z_BUF_ERROR, CLV_ERR_DATA, "%s: damaged gzip file (%s)", self->path,
            stream->msg ? stream->msg : "unknown reason");
    FAIL_IF(is_fed && stream->avail_out > 0, CLV_ERR_DATA, "%s: the gzip file is truncated", self->path);
    return CLV_OK;
}

/* Moves the rest of the text to the front of the buffer and fills the buffer. */
static enum clv_status fill(struct lines *self, struct clv_error *err)
{
    memmove(self->buffer, self->buffer + self->begin, self->end - self->begin);
    self->end -= self->begin;
    self->begin = 0;
    if (self->is_gzip)
        return inflate_some(self, err);
    size_t space = BUFFER_SIZE - self->end, left = self->map.size - self->taken, n = left < space ? left : space;
    if (n)
        memcpy(self->buffer + self->end, self->map.bytes + self->taken, n);
    self->taken += n;
    self->end += n;
    self->done = self->taken == self->map.size;
    return CLV_OK;
}

enum clv_status lines_next(char **line, size_t *number, struct lines *lines, struct clv_error *err)
{
    char *newline = NULL;
    *line = NULL;
    for (;;) {
        size_t length = lines->end - lines->begin;
        newline = length ? memchr(lines->buffer + lines->begin, '\n', length) : NULL;
        length = newline ? (size_t)(newline - lines->buffer) - lines->begin : length;
        FAIL_IF(length > LINES_MAX_LENGTH, CLV_ERR_DATA, "%s: line %zu is longer than %d bytes", lines->path,
                lines->number + 1, LINES_MAX_LENGTH);
        if (newline || lines->done)
            break;
        MUST(fill(lines, err));
    }
    if (lines->begin == lines->end)
        return CLV_OK;
    char *text = lines->buffer + lines->begin, *end = newline ? newline : lines->buffer + lines->end;
    lines->begin += (size_t)(end - text) + (newline != NULL);
    *number = ++lines->number;
    *end = 0;
    if (memchr(text, 0, (size_t)(end - text)))
        return fail(err, CLV_ERR_DATA, "%s: line %zu has a zero byte: this is not a text file", lines->path, *number);
    if (end > text && end[-1] == '\r')
        end[-1] = 0;
    *line = text;
    return CLV_OK;
}
