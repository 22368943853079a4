/* Serves the page by HTTP with libmicrohttpd, in one thread, with limits on connections, headers, bodies and waiting
 * times. Start at handle.
 *
 * A connection is a stranger until it has sent the headers of an allowed request. There are at most MAX_STRANGERS
 * strangers: a new one replaces the oldest. A stranger is disconnected after HEADERS_S seconds, and bodies of its
 * requests are not read. Limits per address would not help, since all users of this machine have the same address as
 * the owner. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <microhttpd.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/label/label.h"

#define MAX_CONNECTIONS 300
#define MAX_STRANGERS   64
#define TIMEOUT_S       20
#define HEADERS_S       10
#define MAX_HEADERS     (32 * 1024)
#define WAIT_MS         100

struct label_server {
    int socket;
    struct page_access access;
    struct page_session *session;
    struct MHD_Daemon *daemon;
    struct stranger {
        int socket;
        time_t came;
    } strangers[MAX_STRANGERS]; /* the oldest first */
    size_t n_strangers;
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

/* Makes libmicrohttpd's reply of a response, which then owns the response's bytes. */
static struct MHD_Response *reply_of(struct page_response *response)
{
    if (response->view)
        return MHD_create_response_from_buffer(response->view_size, (void *)response->view, MHD_RESPMEM_PERSISTENT);
    if (response->file > 0)
        return MHD_create_response_from_fd64(response->file_size, response->file);
    return MHD_create_response_from_buffer_with_free_callback(response->body.size, response->body.bytes, free_body);
}

static enum MHD_Result answer(struct MHD_Connection *connection, const struct label_server *server,
                              const struct page_request *request)
{
    struct page_response answered, *response = &answered;
    page_handle(response, server->session, request);
    struct MHD_Response *reply = reply_of(response);
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
    if (response->tag[0]) {
        char tag[PAGE_TAG_SIZE + 2];
        snprintf(tag, sizeof tag, "\"%.*s\"", PAGE_TAG_SIZE - 1, response->tag);
        result &= MHD_add_response_header(reply, MHD_HTTP_HEADER_ETAG, tag);
    }
    if (response->sets_cookie) { /* Lax: the page is opened from a file, which is another site; GET changes nothing */
        char cookie[128];
        snprintf(cookie, sizeof cookie, "%s=%s; HttpOnly; SameSite=Lax; Path=/", server->access.cookie,
                 server->access.token);
        result &= MHD_add_response_header(reply, MHD_HTTP_HEADER_SET_COOKIE, cookie);
    }
    result = result == MHD_YES ? MHD_queue_response(connection, (unsigned)response->code, reply) : MHD_NO;
    MHD_destroy_response(reply);
    return result;
}

static void forget_stranger(struct label_server *server, size_t k)
{
    server->n_strangers--;
    memmove(server->strangers + k, server->strangers + k + 1, (server->n_strangers - k) * sizeof *server->strangers);
}

/* Shuts the oldest stranger's connection down; libmicrohttpd then closes the socket. */
static void drop_oldest(struct label_server *server)
{
    shutdown(server->strangers[0].socket, SHUT_RDWR);
    forget_stranger(server, 0);
}

static int socket_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/* Removes a connection from the strangers after its request was allowed or it was closed. */
static void remove_stranger(struct label_server *server, struct MHD_Connection *connection)
{
    for (size_t k = 0; k < server->n_strangers; k++)
        if (server->strangers[k].socket == socket_of(connection)) {
            forget_stranger(server, k);
            return;
        }
}

/* Called when a connection is opened or closed. */
static void on_connection(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_ConnectionNotificationCode event)
{
    struct label_server *server = context;
    (void)state;
    if (event == MHD_CONNECTION_NOTIFY_CLOSED) {
        remove_stranger(server, connection);
        return;
    }
    if (server->n_strangers == MAX_STRANGERS)
        drop_oldest(server);
    server->strangers[server->n_strangers++] = (struct stranger){socket_of(connection), (time_t)seconds_now()};
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **state)
{
    struct label_server *server = context;
    struct text *upload = *state; /* the body that is being received */
    (void)version;
    if (upload && *size) {
        text_append(upload, data, *size);
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
    };
    if (upload) {
        request.body = upload->bytes;
        request.size = upload->failed ? (size_t)PAGE_MAX_BODY + 1 : upload->size;
        return answer(connection, server, &request);
    }
    /* The headers are complete: a request that is not allowed is answered before its body is read. */
    const char *why;
    if (page_refuses(&why, &server->access, &request, page_route(url)))
        return answer(connection, server, &request);
    remove_stranger(server, connection);
    *state = upload = array_zalloc(1, sizeof *upload);
    if (!upload)
        return MHD_NO;
    text_init(upload, (size_t)PAGE_MAX_BODY + 1);
    return MHD_YES;
}

static void finish(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode why)
{
    struct text *upload = *state;
    (void)context;
    (void)connection;
    (void)why;
    if (upload)
        text_release(upload);
    array_free(upload);
    *state = NULL;
}

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

/* Adds a host in the form of browsers' Host headers, if there is space. */
static void add_host(struct page_access *access, size_t *n, const char *host, int32_t port)
{
    const size_t max_hosts = sizeof access->hosts / sizeof access->hosts[0] - 1;
    if (*n >= max_hosts)
        return;
    snprintf(access->hosts[*n], sizeof access->hosts[0], strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
    ++*n;
}

static void add_address(struct page_access *access, size_t *n, const union address *at, int32_t port)
{
    char text[INET6_ADDRSTRLEN];
    bool is_six = at->any.sa_family == AF_INET6;
    if (inet_ntop(at->any.sa_family, is_six ? (const void *)&at->six.sin6_addr : (const void *)&at->four.sin_addr, text,
                  sizeof text))
        add_host(access, n, text, port);
}

/* Adds this machine's addresses, for a server that listens on all of them. Link-local addresses of IPv6 cannot be hosts
 * of a URL. */
static enum clv_status add_interfaces(struct page_access *access, size_t *n, bool is_six, int32_t port,
                                      struct clv_error *err)
{
    struct ifaddrs *list;
    if (getifaddrs(&list) != 0)
        return fail_errno(err, CLV_ERR_OS, "cannot list this machine's addresses");
    for (const struct ifaddrs *one = list; one; one = one->ifa_next) {
        const union address *at = (const union address *)one->ifa_addr;
        if (!at || !(one->ifa_flags & IFF_UP))
            continue;
        if (at->any.sa_family == AF_INET ||
            (is_six && at->any.sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&at->six.sin6_addr)))
            add_address(access, n, at, port);
    }
    freeifaddrs(list);
    return CLV_OK;
}

/* Opens the socket and adds the hosts by which it can be reached to `access`. If *port is 0, it becomes the chosen
 * port. */
static enum clv_status listen_at(struct label_server *server, struct page_access *access, size_t *n_hosts,
                                 const char *address, int32_t *port, struct clv_error *err)
{
    union address at = {0};
    bool is_six = inet_pton(AF_INET6, address, &at.six.sin6_addr) == 1;
    FAIL_IF(!is_six && inet_pton(AF_INET, address, &at.four.sin_addr) != 1, CLV_ERR_USAGE,
            "--listen: \"%s\" is not an IPv4 or IPv6 address", address);
    at.any.sa_family = is_six ? AF_INET6 : AF_INET;
    *(is_six ? &at.six.sin6_port : &at.four.sin_port) = htons((uint16_t)*port);
    socklen_t size = is_six ? sizeof at.six : sizeof at.four;
    int on = 1, off = 0;
    server->socket = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->socket < 0)
        return fail_errno(err, CLV_ERR_OS, "cannot open a socket");
    (void)setsockopt(server->socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (is_six) /* "::" also listens for IPv4 */
        (void)setsockopt(server->socket, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(server->socket, &at.any, size) != 0 || listen(server->socket, 128) != 0)
        return fail_errno(err, CLV_ERR_OS, "cannot listen on %s port %d%s", address, *port,
                          errno == EADDRINUSE ? "; --port names another one, without it a free one is taken" : "");
    if (getsockname(server->socket, &at.any, &size) != 0)
        return fail_errno(err, CLV_ERR_OS, "cannot find the port");
    *port = ntohs(is_six ? at.six.sin6_port : at.four.sin_port);
    if (is_six ? IN6_IS_ADDR_UNSPECIFIED(&at.six.sin6_addr) : at.four.sin_addr.s_addr == INADDR_ANY)
        return add_interfaces(access, n_hosts, is_six, *port, err);
    add_address(access, n_hosts, &at, *port);
    return CLV_OK;
}

enum clv_status label_server_new(struct label_server **server, struct text *links, struct page_access *access,
                                 const char *address, int32_t port, struct clv_error *err)
{
    size_t n_hosts = 0;
    OWNED(label_server_drop) struct label_server *result = array_zalloc(1, sizeof *result);
    NEED(result);
    result->socket = -1;
    MUST(listen_at(result, access, &n_hosts, address, &port, err));
    for (size_t k = 0; k < n_hosts; k++)
        text_printf(links, "http://%s/?token=%s\n", access->hosts[k], access->token);
    NEED(!links->failed);
    add_host(access, &n_hosts, "localhost", port); /* for access through a tunnel */
    add_host(access, &n_hosts, "127.0.0.1", port);
    snprintf(access->cookie, sizeof access->cookie, "cleave-%d", port);
    result->access = *access;
    *server = TAKE(result);
    return CLV_OK;
}

enum clv_status label_server_run(struct label_server *server, struct page_session *session, const volatile int *stop,
                                 struct clv_error *err)
{
    server->session = session;
    server->daemon = MHD_start_daemon(
        MHD_NO_FLAG, 0, NULL, NULL, handle, server, MHD_OPTION_LISTEN_SOCKET, server->socket,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MAX_HEADERS, MHD_OPTION_NOTIFY_COMPLETED, finish, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_END);
    if (!server->daemon)
        return fail_errno(err, CLV_ERR_OS, "cannot start the server");
    server->socket = -1; /* the daemon closes it */
    while (!*stop) {
        FAIL_IF(MHD_run_wait(server->daemon, WAIT_MS) != MHD_YES, CLV_ERR_OS, "the server has ended");
        while (server->n_strangers && (time_t)seconds_now() - server->strangers[0].came > HEADERS_S)
            drop_oldest(server);
    }
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
