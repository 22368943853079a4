/* Requests, and who may make them: read before anything else is looked at. */
#ifndef PAGE_PAGE_REQUEST_H
#define PAGE_PAGE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_TOKEN_SIZE 33         /* 32 hexadecimal digits and a zero */
#define PAGE_MAX_BODY   (1u << 20) /* bytes of a request's body */

struct page_access {
    char token[PAGE_TOKEN_SIZE];
    char cookie[32];    /* its name; browsers do not keep the ports of a host apart */
    char hosts[32][64]; /* "127.0.0.1:8080", as the Host header has it; "" ends */
};

/* Views; headers that are absent are NULL. */
struct page_request {
    const char *method, *path, *host, *origin, *cookie;
    const char *token; /* of the query */
    const char *body;  /* [size] bytes and a zero */
    size_t size;
};

enum page_route {
    PAGE_NO_ROUTE,
    PAGE_FILE, /* of assets/page */
    PAGE_STATE,
    PAGE_TRAINING,
    PAGE_IMAGE, /* with a number, as those below */
    PAGE_OPEN,
    PAGE_STROKE,
    PAGE_UNDO,
    PAGE_REDO,
    PAGE_SUGGEST,
    PAGE_ACCEPT,
    PAGE_LABEL,
    PAGE_RENAME,
    PAGE_TRAIN,
    PAGE_STOP,
};

struct page_target {
    enum page_route route;
    bool is_post;
    int32_t number; /* of an image */
};

/* The path's target; PAGE_FILE for any path outside of /api/. */
struct page_target page_route(const char *path);

/* 0, or the code of HTTP that the request is refused with, and *why. A token in the query lets in whoever has no cookie
 * yet, to the page alone. */
int page_refuses(const char **why, const struct page_access *access, const struct page_request *request,
                 struct page_target target);

/* Whether both are the same token, in the same time whatever they are. */
bool page_token_matches(const char *token, const char *given, size_t size);

#endif
