/* Decides which route a request has, and whether it may be answered: by its host, method, size, origin and token. Start
 * at page_refuses. */
#include "page/page.h"

#include <string.h>

static const struct {
    const char *path;
    enum page_route route;
    bool is_post, has_number;
    enum page_naming names;
} routes[] = {
    {"state", PAGE_STATE, false, false, PAGE_NAMES_NOTHING},
    {"training", PAGE_TRAINING, false, false, PAGE_NAMES_NOTHING},
    {"image/", PAGE_IMAGE, false, true, PAGE_NAMES_NOTHING},
    {"open/", PAGE_OPEN, true, true, PAGE_NAMES_NOTHING},
    {"suggest/", PAGE_SUGGEST, true, true, PAGE_NAMES_PHOTO},
    {"stroke/", PAGE_STROKE, true, true, PAGE_NAMES_PHOTO},
    {"undo/", PAGE_UNDO, true, true, PAGE_NAMES_PHOTO},
    {"redo/", PAGE_REDO, true, true, PAGE_NAMES_PHOTO},
    {"accept/", PAGE_ACCEPT, true, true, PAGE_NAMES_PHOTO},
    {"propagate/", PAGE_PROPAGATE, true, true, PAGE_NAMES_PHOTO},
    {"label", PAGE_LABEL, true, false, PAGE_NAMES_FOLDER},
    {"rename", PAGE_RENAME, true, false, PAGE_NAMES_LABEL},
    {"delete-label", PAGE_DELETE_LABEL, true, false, PAGE_NAMES_LABEL},
    {"train", PAGE_TRAIN, true, false, PAGE_NAMES_FOLDER},
    {"stop", PAGE_STOP, true, false, PAGE_NAMES_FOLDER},
};

/* Reads a number of 1 to 8 digits and nothing else; returns -1 for other texts. */
static int32_t number_of(const char *text)
{
    int32_t number = 0;
    size_t n = strlen(text);
    if (n < 1 || n > 8)
        return -1;
    for (size_t k = 0; k < n; k++) {
        if (text[k] < '0' || text[k] > '9')
            return -1;
        number = 10 * number + (text[k] - '0');
    }
    return number;
}

struct page_target page_route(const char *path)
{
    struct page_target target = {.route = PAGE_NO_ROUTE, .number = -1};
    if (strncmp(path, "/api/", 5) != 0) {
        target.route = PAGE_FILE;
        return target;
    }
    for (size_t k = 0; k < sizeof routes / sizeof *routes; k++) {
        size_t n = strlen(routes[k].path);
        if (strncmp(path + 5, routes[k].path, n) != 0 || (!routes[k].has_number && path[5 + n]))
            continue;
        target.number = routes[k].has_number ? number_of(path + 5 + n) : 0;
        if (target.number < 0)
            continue;
        target.route = routes[k].route;
        target.is_post = routes[k].is_post;
        target.names = routes[k].names;
    }
    return target;
}

bool page_token_matches(const char *token, const char *given, size_t size)
{
    unsigned char difference = size != PAGE_TOKEN_SIZE - 1;
    for (size_t k = 0; k < PAGE_TOKEN_SIZE - 1; k++)
        difference |= (unsigned char)(token[k] ^ given[k < size ? k : 0]);
    return !difference;
}

/* Whether the token is among the cookies, as in "a=1; cleave=TOKEN; b=2". */
static bool has_cookie(const char *cookies, const struct page_access *access)
{
    size_t n = strlen(access->cookie);
    for (const char *at = cookies; at && *at;) {
        at += strspn(at, "; ");
        size_t size = strcspn(at, ";");
        if (size > n && memcmp(at, access->cookie, n) == 0 && at[n] == '=' &&
            page_token_matches(access->token, at + n + 1, size - n - 1))
            return true;
        at += size;
    }
    return false;
}

static bool is_host(const struct page_access *access, const char *host)
{
    const size_t most = sizeof access->hosts / sizeof access->hosts[0];
    for (size_t k = 0; k < most && access->hosts[k][0]; k++)
        if (strcmp(access->hosts[k], host) == 0)
            return true;
    return false;
}

static bool is_own_origin(const struct page_access *access, const char *origin)
{
    return origin && strncmp(origin, "http://", 7) == 0 && is_host(access, origin + 7);
}

int page_refuses(const char **why, const struct page_access *access, const struct page_request *request,
                 struct page_target target)
{
    bool is_get = strcmp(request->method, "GET") == 0, is_post = strcmp(request->method, "POST") == 0;
    *why = "not for this host";
    if (!request->host || !is_host(access, request->host))
        return 421;
    *why = "no such method";
    if (!is_get && !is_post)
        return 405;
    *why = "too large";
    if (request->size > PAGE_MAX_BODY)
        return 413;
    *why = "from another page";
    if ((is_post || request->origin) && !is_own_origin(access, request->origin))
        return 403;
    *why = "the link that `cleave label` printed opens this page";
    bool is_let_in = target.route == PAGE_FILE && strcmp(request->path, "/") == 0 && is_get && request->token &&
                     page_token_matches(access->token, request->token, strlen(request->token));
    if (!is_let_in && !has_cookie(request->cookie, access))
        return 403;
    *why = "not found";
    if (target.route == PAGE_NO_ROUTE)
        return 404;
    *why = "another method is needed";
    return is_post != target.is_post ? 405 : 0;
}
