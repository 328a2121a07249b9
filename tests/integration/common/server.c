/* SPDX-License-Identifier: BSD-3-Clause */
/* See server.h. */
#include "server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double USUAL_LIMIT = 30;

void server_open_side(struct side *side, uint64_t features, uint64_t client_id)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = features,
    };
    ucp_worker_params_t worker_params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE |
                      UCP_WORKER_PARAM_FIELD_CLIENT_ID,
        .thread_mode = UCS_THREAD_MODE_SINGLE,
        .client_id   = client_id,
    };

    EXPECT_OK(ucp_init(&params, NULL, &side->context));
    EXPECT_OK(ucp_worker_create(side->context, &worker_params, &side->worker));
    side->eps = NULL;
}

/* ---------------------------------------------------------- the listener -- */

socklen_t server_make_address(const char *host,
                              struct sockaddr_storage *address)
{
    struct sockaddr_in *v4  = (struct sockaddr_in *)address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;
    const char *other       = getenv("TEST_SERVER_HOST");

    if ((other != NULL) && (strcmp(host, "127.0.0.1") == 0)) {
        host = other;
    }
    memset(address, 0, sizeof(*address));
    if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        return sizeof(*v4);
    }
    EXPECT(inet_pton(AF_INET6, host, &v6->sin6_addr) == 1);
    v6->sin6_family = AF_INET6;
    return sizeof(*v6);
}

bool server_has_host(const char *host)
{
    struct sockaddr_storage address;
    socklen_t length = server_make_address(host, &address);
    int fd           = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool has         = (fd >= 0) &&
               (bind(fd, (struct sockaddr *)&address, length) == 0);

    if (fd >= 0) {
        close(fd);
    }
    return has;
}

void server_on_request(ucp_conn_request_h request, void *arg)
{
    struct server *server = arg;

    EXPECT_INT(server->count, <, SERVER_MAX_REQUESTS);
    server->requests[server->count++] = request;
}

static void on_accepted(ucp_ep_h ep, void *arg)
{
    struct server *server = arg;

    EXPECT(server->accepted == NULL);
    server->accepted = ep;
}

static void listen_at(struct server *server, struct side *side,
                      const struct sockaddr_storage *address, socklen_t length,
                      bool old_handler)
{
    ucp_listener_attr_t attr = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};
    ucp_listener_params_t params = {
        .field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                      (old_handler ? UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER :
                                     UCP_LISTENER_PARAM_FIELD_CONN_HANDLER),
        .accept_handler = {.cb = on_accepted, .arg = server},
        .conn_handler   = {.cb = server_on_request, .arg = server},
    };

    memset(server, 0, sizeof(*server));
    server->side            = side;
    params.sockaddr.addrlen = length;
    params.sockaddr.addr    = (const struct sockaddr *)address;
    EXPECT_OK(ucp_listener_create(side->worker, &params, &server->listener));
    EXPECT_OK(ucp_listener_query(server->listener, &attr));
    server->address = attr.sockaddr;
}

void server_open(struct server *server, struct side *side, const char *host,
                 bool old_handler)
{
    struct sockaddr_storage address;
    socklen_t length = server_make_address(host, &address);

    listen_at(server, side, &address, length, old_handler);
}

void server_open_at(struct server *server, struct side *side,
                    const struct sockaddr_storage *address)
{
    listen_at(server, side, address, sizeof(*address), false);
}

/* With SO_REUSEADDR, one socket can listen while another one is bound to the
 * same address and does not listen. */
int server_hold_port(struct sockaddr_storage *address)
{
    socklen_t length = server_make_address("127.0.0.1", address);
    int fd           = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on           = 1;

    EXPECT(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0);
    EXPECT(bind(fd, (struct sockaddr *)address, length) == 0);
    EXPECT(getsockname(fd, (struct sockaddr *)address, &length) == 0);
    return fd;
}

void server_close(struct server *server)
{
    ucp_listener_destroy(server->listener);
}

void server_tell(struct server *server, struct team *team, int rank)
{
    team_put(team, rank, &server->address, sizeof(server->address));
}

struct sockaddr_storage server_learn(struct team *team, int rank)
{
    struct sockaddr_storage address;

    team_get(team, rank, &address, sizeof(address));
    return address;
}

ucp_conn_request_attr_t server_next(struct server *server)
{
    ucp_conn_request_attr_t attr = {
        .field_mask = UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR |
                      UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID,
    };
    double deadline = test_now() + test_seconds(USUAL_LIMIT);

    while (server->count == 0) {
        side_progress(server->side);
        if (test_now() > deadline) {
            FAIL("no client for %.0f s", test_seconds(USUAL_LIMIT));
        }
    }
    EXPECT_OK(ucp_conn_request_query(server->requests[0], &attr));
    return attr;
}

ucp_conn_request_h server_take(struct server *server)
{
    ucp_conn_request_h request = server->requests[0];

    EXPECT_INT(server->count, >, 0);
    --server->count;
    memmove(&server->requests[0], &server->requests[1],
            server->count * sizeof(server->requests[0]));
    return request;
}

struct side_ep *server_try_accept(struct server *server, struct side *side)
{
    ucp_ep_params_t params = {
        .field_mask   = UCP_EP_PARAM_FIELD_CONN_REQUEST,
        .conn_request = server_take(server),
    };
    ucs_status_t status;

    return side_create_ep(side, &params, &status);
}

struct side_ep *server_accept(struct server *server, struct side *side)
{
    struct side_ep *ep = server_try_accept(server, side);

    EXPECT(ep != NULL);
    return ep;
}

static void on_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct side_ep *entry = arg;

    (void)ep;
    entry->failure = status;
    ++entry->failures;
}

struct side_ep *server_accepted(struct server *server)
{
    struct side_ep *entry  = calloc(1, sizeof(*entry));
    double deadline        = test_now() + test_seconds(USUAL_LIMIT);
    ucp_ep_params_t params = {
        .field_mask  = UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .err_handler = {.cb = on_failure, .arg = entry},
    };

    EXPECT(entry != NULL);
    while (server->accepted == NULL) {
        side_progress(server->side);
        if (test_now() > deadline) {
            FAIL("no endpoint for %.0f s", test_seconds(USUAL_LIMIT));
        }
    }
    EXPECT_OK(side_wait(server->side,
                        ucp_ep_modify_nb(server->accepted, &params), "modify"));
    entry->ep         = server->accepted;
    entry->side       = server->side;
    entry->next       = server->side->eps;
    server->side->eps = entry;
    server->accepted  = NULL;
    return entry;
}

/* ------------------------------------------------------------ the client -- */

struct side_ep *server_try_connect(struct side *side,
                                   const struct sockaddr_storage *address,
                                   unsigned flags, ucs_status_t *status_p)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS,
        .flags      = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER | flags,
        .sockaddr   = {(const struct sockaddr *)address, sizeof(*address)},
    };

    return side_create_ep(side, &params, status_p);
}

struct side_ep *server_connect(struct side *side,
                               const struct sockaddr_storage *address,
                               unsigned flags)
{
    ucs_status_t status;
    struct side_ep *ep = server_try_connect(side, address, flags, &status);

    EXPECT_OK(status);
    return ep;
}

bool server_is_same(const struct sockaddr_storage *a,
                    const struct sockaddr_storage *b)
{
    const struct sockaddr_in *a4  = (const struct sockaddr_in *)a;
    const struct sockaddr_in *b4  = (const struct sockaddr_in *)b;
    const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a;
    const struct sockaddr_in6 *b6 = (const struct sockaddr_in6 *)b;

    if (a->ss_family != b->ss_family) {
        return false;
    }
    return (a->ss_family == AF_INET) ?
               (a4->sin_port == b4->sin_port) &&
                   (a4->sin_addr.s_addr == b4->sin_addr.s_addr) :
               (a6->sin6_port == b6->sin6_port) &&
                   (memcmp(&a6->sin6_addr, &b6->sin6_addr,
                           sizeof(a6->sin6_addr)) == 0);
}
