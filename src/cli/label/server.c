/* HTTP for the page, over libmicrohttpd: one thread, bounded connections, headers, bodies and waiting. */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/label/label.h"

#define MAX_CONNECTIONS 300
#define TIMEOUT_S       20
#define MAX_HEADERS     (32 * 1024)

struct label_server {
    int socket;
    struct page_access access;
    struct page_session *session;
    struct MHD_Daemon *daemon;
};

/* A request's body on its way in. */
struct upload {
    char *bytes;
    size_t size, capacity;
    bool is_too_large;
};

static const char *const headers[][2] = {
    {"Content-Security-Policy",
     "default-src 'self'; img-src 'self' blob: data:; frame-ancestors 'none'; base-uri 'none'; "
     "form-action 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

static void free_body(void *bytes)
{
    array_free(bytes);
}

static enum MHD_Result answer(struct MHD_Connection *connection, const struct label_server *server,
                              struct page_response *response)
{
    struct MHD_Response *reply =
        response->view
            ? MHD_create_response_from_buffer(response->view_size, (void *)response->view, MHD_RESPMEM_PERSISTENT)
            : MHD_create_response_from_buffer_with_free_callback(response->body.size, response->body.bytes, free_body);
    if (!reply) {
        page_response_release(response);
        return MHD_NO;
    }
    enum MHD_Result result = MHD_YES;
    for (size_t k = 0; k < sizeof headers / sizeof *headers; k++)
        result &= MHD_add_response_header(reply, headers[k][0], headers[k][1]);
    result &= MHD_add_response_header(reply, MHD_HTTP_HEADER_CONTENT_TYPE, response->type);
    if (response->location)
        result &= MHD_add_response_header(reply, MHD_HTTP_HEADER_LOCATION, response->location);
    if (response->sets_cookie) {
        char cookie[128];
        snprintf(cookie, sizeof cookie, "%s=%s; HttpOnly; SameSite=Strict; Path=/", server->access.cookie,
                 server->access.token);
        result &= MHD_add_response_header(reply, MHD_HTTP_HEADER_SET_COOKIE, cookie);
    }
    result = result == MHD_YES ? MHD_queue_response(connection, (unsigned)response->code, reply) : MHD_NO;
    MHD_destroy_response(reply);
    return result;
}

static void take(struct upload *upload, const char *bytes, size_t size)
{
    if (upload->size + size > PAGE_MAX_BODY ||
        array_reserve((void **)&upload->bytes, &upload->capacity, upload->size + size + 1, 1)) {
        upload->is_too_large = true;
        return;
    }
    memcpy(upload->bytes + upload->size, bytes, size);
    upload->size += size;
    upload->bytes[upload->size] = 0;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **state)
{
    struct label_server *server = context;
    struct upload *upload = *state;
    (void)version;
    if (!upload) { /* the headers have come */
        *state = array_zalloc(1, sizeof *upload);
        return *state ? MHD_YES : MHD_NO;
    }
    if (*size) {
        take(upload, data, *size);
        *size = 0;
        return MHD_YES;
    }
    struct page_request request = {
        .method = method,
        .path = url,
        .host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST),
        .origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ORIGIN),
        .cookie = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_COOKIE),
        .token = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token"),
        .body = upload->bytes,
        .size = upload->is_too_large ? (size_t)PAGE_MAX_BODY + 1 : upload->size,
    };
    struct page_response response;
    page_handle(&response, server->session, &request);
    return answer(connection, server, &response);
}

static void finish(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode why)
{
    struct upload *upload = *state;
    (void)context;
    (void)connection;
    (void)why;
    if (upload)
        array_free(upload->bytes);
    array_free(upload);
    *state = NULL;
}

/* The address as host of a URL. */
static enum clv_status listen_at(struct label_server *server, char *host, size_t host_size, const char *address,
                                 int32_t *port, struct clv_error *err)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)*port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    bool is_six = inet_pton(AF_INET6, address, &six.sin6_addr) == 1;
    if (!is_six && inet_pton(AF_INET, address, &four.sin_addr) != 1)
        return fail(err, CLV_ERR_USAGE, "--listen: \"%s\" is no IPv4 or IPv6 address", address);
    struct sockaddr *at = is_six ? (struct sockaddr *)&six : (struct sockaddr *)&four;
    socklen_t size = is_six ? sizeof six : sizeof four;
    int on = 1;
    server->socket = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->socket < 0)
        return fail_errno(err, CLV_ERR_OS, "cannot open a socket");
    (void)setsockopt(server->socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(server->socket, at, size) != 0 || listen(server->socket, 128) != 0)
        return fail_errno(err, CLV_ERR_OS, "cannot listen on %s port %d%s", address, *port,
                          errno == EADDRINUSE ? "; --port names another one, without it a free one is taken" : "");
    if (getsockname(server->socket, at, &size) != 0)
        return fail_errno(err, CLV_ERR_OS, "cannot tell the port");
    *port = ntohs(is_six ? six.sin6_port : four.sin_port);
    snprintf(host, host_size, is_six ? "[%s]" : "%s", address);
    return CLV_OK;
}

enum clv_status label_server_new(struct label_server **server, char **url, struct page_access *access,
                                 const char *address, int32_t port, struct clv_error *err)
{
    char host[64], link[256];
    struct label_server *fresh = array_zalloc(1, sizeof *fresh);
    if (!fresh)
        return fail_memory(err);
    fresh->socket = -1;
    enum clv_status status = listen_at(fresh, host, sizeof host, address, &port, err);
    if (status == CLV_OK) {
        snprintf(access->hosts[0], sizeof access->hosts[0], "%s:%d", host, port);
        snprintf(access->hosts[1], sizeof access->hosts[1], "localhost:%d", port);
        snprintf(access->hosts[2], sizeof access->hosts[2], "127.0.0.1:%d", port);
        snprintf(access->cookie, sizeof access->cookie, "cleave-%d", port);
        fresh->access = *access;
        snprintf(link, sizeof link, "http://%s/?token=%s", access->hosts[0], access->token);
        *url = string_copy(link);
        status = *url ? CLV_OK : fail_memory(err);
    }
    if (status == CLV_OK)
        *server = fresh;
    else
        label_server_free(fresh);
    return status;
}

enum clv_status label_server_run(struct label_server *server, struct page_session *session, struct clv_error *err)
{
    server->session = session;
    server->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0, NULL, NULL, handle, server,
                                      MHD_OPTION_LISTEN_SOCKET, server->socket, MHD_OPTION_CONNECTION_LIMIT,
                                      (unsigned)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
                                      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MAX_HEADERS,
                                      MHD_OPTION_NOTIFY_COMPLETED, finish, NULL, MHD_OPTION_END);
    if (!server->daemon)
        return fail(err, CLV_ERR_OS, "cannot start the server");
    server->socket = -1; /* the daemon closes it */
    return CLV_OK;
}

void label_server_free(struct label_server *server)
{
    if (!server)
        return;
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    if (server->socket >= 0)
        close(server->socket);
    array_free(server);
}
