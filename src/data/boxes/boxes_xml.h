/* Reading XML element by element, safely: a document type is refused, and with it entities: nothing of another file is
 * ever read, nothing grows; depth, names and text are bounded. */
#ifndef DATA_BOXES_XML_H
#define DATA_BOXES_XML_H

#include "cleave/status.h"

/* Where the parser stands. */
struct xml_place {
    const char *source; /* the file, for messages */
    const char *path;   /* of the open elements: "/annotation/object/name" */
    unsigned long line;
};

/* Called where an element begins (attributes: name, value, .. NULL) and before it ends, with the text before its end
 * tag, white space around it cut off. A failure ends the parsing. */
struct xml_handler {
    enum clv_status (*begin)(void *context, const struct xml_place *place, const char *const *attributes,
                             struct clv_error *err);
    enum clv_status (*end)(void *context, const struct xml_place *place, const char *text, struct clv_error *err);
};

enum clv_status xml_parse(const struct xml_handler *handler, void *context, const char *source, const char *bytes,
                          size_t size, struct clv_error *err) CLV_CHECK;

/* The attribute's value, or NULL. */
const char *xml_attribute(const char *const *attributes, const char *name);

#endif
