/* Parses XML with expat, which only this file includes, and calls a handler with the path of each element. Start at
 * xml_parse. */
#include "data/boxes/boxes.h"

#include <expat.h>
#include <string.h>

#include "base/base.h"

#define DEEPEST     32
#define LONGEST     4096 /* bytes of the path, and of a text */
#define LARGEST_XML ((size_t)256 << 20)

/* expat 2.9 deprecates the older functions, and older versions lack the new ones. */
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
#define LINE_NUMBER   XML_GetCurrentLineNumber64
#define COLUMN_NUMBER XML_GetCurrentColumnNumber64
#else
#define LINE_NUMBER   XML_GetCurrentLineNumber
#define COLUMN_NUMBER XML_GetCurrentColumnNumber
#endif

struct parsing {
    const struct xml_handler *handler;
    void *context;
    const char *source;
    XML_Parser parser;
    enum clv_status status;
    struct clv_error *err;
    struct text path;
    int depth;
    struct text characters; /* since the last tag */
};

static unsigned long line_of(const struct parsing *self)
{
    return (unsigned long)LINE_NUMBER(self->parser);
}

bool boxes_is_xml(const struct boxes_file *file)
{
    return !file->root && (file->bytes[strspn(file->bytes, " \t\r\n")] == '<' || text_ends_with(file->source, ".xml"));
}

/* Stops the parser. expat may still call handlers (the end of an empty element, text), which return at once if the
 * status is set. */
static void stop(struct parsing *self, enum clv_status status)
{
    if (self->status == CLV_OK)
        self->status = status;
    XML_StopParser(self->parser, XML_FALSE);
}

static void XMLCALL begin_doctype(void *context, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                                  int has_internal)
{
    (void)name, (void)system, (void)public, (void)has_internal;
    struct parsing *self = context;
    if (self->status == CLV_OK)
        stop(self, fail(self->err, CLV_ERR_DATA, "%s: line %lu: a document type is not allowed here", self->source,
                        line_of(self)));
}

static void XMLCALL begin_element(void *context, const XML_Char *name, const XML_Char **attributes)
{
    struct parsing *self = context;
    if (self->status != CLV_OK)
        return;
    if (++self->depth > DEEPEST) {
        stop(self, fail(self->err, CLV_ERR_DATA, "%s: line %lu: elements nested deeper than %d", self->source,
                        line_of(self), DEEPEST));
        return;
    }
    if (strlen(name) + 2 > LONGEST - self->path.size) {
        stop(self, fail(self->err, CLV_ERR_DATA, "%s: line %lu: names of elements of more than %d bytes", self->source,
                        line_of(self), LONGEST));
        return;
    }
    text_put(&self->path, "/");
    text_put(&self->path, name);
    self->characters.size = 0;
    if (self->path.failed) {
        stop(self, fail_memory(self->err));
        return;
    }
    const struct xml_location location = {self->source, self->path.bytes, line_of(self)};
    enum clv_status status = self->handler->begin(self->context, &location, (const char *const *)attributes, self->err);
    if (status != CLV_OK)
        stop(self, status);
}

static void XMLCALL take_characters(void *context, const XML_Char *bytes, int size)
{
    struct parsing *self = context;
    if (self->status != CLV_OK || self->handler->takes_attributes_alone)
        return;
    text_append(&self->characters, bytes, (size_t)size);
    if (self->characters.failed)
        stop(self, self->characters.size + (size_t)size + 1 > LONGEST
                       ? fail(self->err, CLV_ERR_DATA, "%s: line %lu: text of more than %d bytes", self->source,
                              line_of(self), LONGEST)
                       : fail_memory(self->err));
}

/* The text before the closing tag, without white space around it. */
static const char *trimmed(struct text *characters)
{
    if (!characters->size)
        return "";
    characters->bytes[characters->size] = 0;
    char *begin = characters->bytes + strspn(characters->bytes, " \t\r\n");
    char *end = characters->bytes + characters->size;
    while (end > begin && strchr(" \t\r\n", end[-1]))
        end--;
    *end = 0;
    return begin;
}

static void XMLCALL end_element(void *context, const XML_Char *name)
{
    struct parsing *self = context;
    if (self->status != CLV_OK)
        return;
    const struct xml_location location = {self->source, self->path.bytes, line_of(self)};
    enum clv_status status = self->handler->end(self->context, &location, trimmed(&self->characters), self->err);
    if (status != CLV_OK) {
        stop(self, status);
        return;
    }
    self->depth--;
    self->path.size -= strlen(name) + 1;
    self->path.bytes[self->path.size] = 0;
    self->characters.size = 0;
}

static void *allocate(size_t size)
{
    return array_alloc(size, 1);
}

static void *reallocate(void *memory, size_t size)
{
    return array_realloc(memory, size, 1);
}

static void parsing_release(struct parsing *self)
{
    if (self->parser)
        XML_ParserFree(self->parser);
    text_release(&self->path);
    text_release(&self->characters);
}

static enum clv_status parse(struct parsing *self, const char *bytes, size_t size)
{
    XML_SetUserData(self->parser, self);
    XML_SetElementHandler(self->parser, begin_element, end_element);
    XML_SetCharacterDataHandler(self->parser, take_characters);
    XML_SetStartDoctypeDeclHandler(self->parser, begin_doctype);
    enum XML_Status parsed = XML_Parse(self->parser, bytes, (int)size, XML_TRUE);
    if (self->status != CLV_OK || parsed == XML_STATUS_OK)
        return self->status;
    enum XML_Error reason = XML_GetErrorCode(self->parser);
    struct clv_error *err = self->err;
    NEED(reason != XML_ERROR_NO_MEMORY);
    return fail(err, CLV_ERR_DATA, "%s: bad XML in line %lu, column %lu: %s", self->source, line_of(self),
                (unsigned long)COLUMN_NUMBER(self->parser) + 1, XML_ErrorString(reason));
}

enum clv_status xml_parse(const struct xml_handler *handler, void *context, const char *source, const char *bytes,
                          size_t size, struct clv_error *err)
{
    static const XML_Memory_Handling_Suite memory = {allocate, reallocate, array_free};
    if (size > LARGEST_XML)
        return fail(err, CLV_ERR_DATA, "%s: an XML file of %zu bytes, the limit is %zu", source, size, LARGEST_XML);
    OWNED(parsing_release) struct parsing self = {.handler = handler, .context = context, .source = source, .err = err};
    text_init(&self.path, LONGEST);
    text_init(&self.characters, LONGEST);
    self.parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    NEED(self.parser);
    return parse(&self, bytes, size);
}

const char *xml_attribute(const char *const *attributes, const char *name)
{
    for (; attributes[0]; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}
