/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection manager: clients connect to a server by socket address, with
 * private data, are accepted or rejected, flush and disconnect. Either side may
 * die, and clients may send invalid data.
 */
#include "pattern.h"
#include "raw.h"
#include "side.h"
#include "suite.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* How the server answers a request in its callback. */
enum mode {
    ACCEPT,             /* Accepts with private data */
    ACCEPT_BY_CALLBACK, /* Accepts; a callback packs the private data */
    REJECT,
    KEEP,         /* Stores the request and does not answer it */
    ACCEPT_LATER, /* Like KEEP; accepts after the callback */
};

/* A client or a server. */
typedef struct end {
    side_t side;
    uct_cm_h cm;
    uct_cm_attr_t attr;
    uct_listener_h listener;
    uct_conn_request_h request; /* The request that KEEP and ACCEPT_LATER have
                                 * stored */
    uct_ep_h ep;
    enum mode mode;
    size_t priv_length; /* Expected and sent bytes of private data */
    volatile unsigned requests, told, resolved, left; /* Numbers of calls of the
                                                       * callbacks for requests,
                                                       * results of connections,
                                                       * resolved devices and
                                                       * disconnects */
    ucs_status_t status; /* The last result of a connection */
    uint16_t port;
    int pack_error; /* Non-zero: the callback that packs private data fails */
} end_t;

static void open_end(end_t *end)
{
    uct_cm_config_t *config;

    memset(end, 0, sizeof(*end));
    side_open(&end->side, NULL);
    EXPECT_EQ(uct_cm_config_read(end->side.component, NULL, NULL, &config),
              UCS_OK);
    EXPECT_EQ(uct_cm_open(end->side.component, end->side.worker, config,
                          &end->cm),
              UCS_OK);
    uct_config_release(config);
    end->attr.field_mask = UCT_CM_ATTR_FIELD_MAX_CONN_PRIV;
    EXPECT_EQ(uct_cm_query(end->cm, &end->attr), UCS_OK);
    EXPECT_GE(end->attr.max_conn_priv, 1024);
    end->priv_length = 100;
}

static void close_end(end_t *end)
{
    uct_cm_close(end->cm);
    side_close(&end->side);
}

/* --- Server -------------------------------------------------------------- */

static void on_left(uct_ep_h ep, void *arg)
{
    end_t *end = arg;

    EXPECT_TRUE(ep == end->ep);
    ++end->left;
}

static void on_notify(uct_ep_h ep, void *arg,
                      const uct_cm_ep_server_conn_notify_args_t *args)
{
    end_t *end = arg;

    EXPECT_TRUE(args->field_mask &
                UCT_CM_EP_SERVER_CONN_NOTIFY_ARGS_FIELD_STATUS);
    end->status = args->status;
    ++end->told;
}

static ssize_t
pack_answer(void *arg, const uct_cm_ep_priv_data_pack_args_t *args, void *priv)
{
    end_t *end = arg;

    EXPECT_TRUE(args->field_mask &
                UCT_CM_EP_PRIV_DATA_PACK_ARGS_FIELD_DEVICE_NAME);
    EXPECT_EQ(strcmp(args->dev_name, "lo"), 0);
    if (end->pack_error) {
        return UCS_ERR_IO_ERROR;
    }
    pattern_fill(priv, 2, end->priv_length);
    return (ssize_t)end->priv_length;
}

static ucs_status_t accept_request(end_t *end, uct_conn_request_h request)
{
    uint8_t priv[16384];
    uct_ep_params_t params;

    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_EP_PARAM_FIELD_CM |
                        UCT_EP_PARAM_FIELD_CONN_REQUEST |
                        UCT_EP_PARAM_FIELD_USER_DATA |
                        UCT_EP_PARAM_FIELD_SOCKADDR_NOTIFY_CB_SERVER |
                        UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB;
    params.cm                 = end->cm;
    params.conn_request       = request;
    params.user_data          = end;
    params.sockaddr_cb_server = on_notify;
    params.disconnect_cb      = on_left;
    if (end->mode == ACCEPT_BY_CALLBACK) {
        params.field_mask |= UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB;
        params.sockaddr_pack_cb = pack_answer;
    } else {
        pattern_fill(priv, 2, end->priv_length);
        params.field_mask |= UCT_EP_PARAM_FIELD_PRIV_DATA |
                             UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH;
        params.private_data        = priv;
        params.private_data_length = end->priv_length;
    }
    return uct_ep_create(&params, &end->ep);
}

static void on_request(uct_listener_h listener, void *arg,
                       const uct_cm_listener_conn_request_args_t *args)
{
    const uct_cm_remote_data_t *remote = args->remote_data;
    end_t *end                         = arg;
    const struct sockaddr_in *client;

    EXPECT_TRUE(listener == end->listener);
    EXPECT_EQ(strcmp(args->dev_name, "lo"), 0);
    client = (const void *)args->client_address.addr;
    EXPECT_EQ(client->sin_family, AF_INET);
    EXPECT_EQ(client->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    EXPECT_TRUE(client->sin_port != 0);
    EXPECT_EQ(remote->conn_priv_data_length, end->priv_length);
    EXPECT_EQ(pattern_check(remote->conn_priv_data, 1, end->priv_length), -1);
    EXPECT_EQ(remote->dev_addr_length, end->side.attr.device_addr_len);
    EXPECT_TRUE(uct_iface_is_reachable(end->side.iface, remote->dev_addr,
                                       (void *)end->side.addr.iface));
    ++end->requests;
    switch (end->mode) {
    case ACCEPT:
    case ACCEPT_BY_CALLBACK:
        EXPECT_EQ(accept_request(end, args->conn_request),
                  end->pack_error ? UCS_ERR_IO_ERROR : UCS_OK);
        break;
    case REJECT:
        EXPECT_EQ(uct_listener_reject(listener, args->conn_request), UCS_OK);
        break;
    default:
        end->request = args->conn_request;
        break;
    }
}

static void listen_on_any_port(end_t *end)
{
    struct sockaddr_in addr = {.sin_family = AF_INET};
    uct_listener_params_t params;
    uct_listener_attr_t attr;

    addr.sin_addr.s_addr = htonl(INADDR_ANY);
    params.field_mask    = UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB |
                        UCT_LISTENER_PARAM_FIELD_USER_DATA |
                        UCT_LISTENER_PARAM_FIELD_BACKLOG;
    params.conn_request_cb = on_request;
    params.user_data       = end;
    params.backlog         = 100;
    EXPECT_EQ(uct_listener_create(end->cm, (void *)&addr, sizeof(addr), &params,
                                  &end->listener),
              UCS_OK);
    attr.field_mask = UCT_LISTENER_ATTR_FIELD_SOCKADDR;
    EXPECT_EQ(uct_listener_query(end->listener, &attr), UCS_OK);
    end->port = ntohs(((struct sockaddr_in *)&attr.sockaddr)->sin_port);
    EXPECT_TRUE(end->port != 0);
}

/* --- Client -------------------------------------------------------------- */

static void on_connected(uct_ep_h ep, void *arg,
                         const uct_cm_ep_client_connect_args_t *args)
{
    end_t *end = arg;

    EXPECT_TRUE(ep == end->ep);
    EXPECT_EQ(end->told, 0);
    end->status = args->status;
    if (args->status == UCS_OK) {
        EXPECT_EQ(args->remote_data->conn_priv_data_length, end->priv_length);
        EXPECT_EQ(pattern_check(args->remote_data->conn_priv_data, 2,
                                end->priv_length),
                  -1);
        EXPECT_TRUE(uct_iface_is_reachable(end->side.iface,
                                           args->remote_data->dev_addr,
                                           (void *)end->side.addr.iface));
    }
    ++end->told;
}

static ssize_t
pack_request(void *arg, const uct_cm_ep_priv_data_pack_args_t *args, void *priv)
{
    end_t *end = arg;

    EXPECT_EQ(strcmp(args->dev_name, "lo"), 0);
    pattern_fill(priv, 1, end->priv_length);
    return (ssize_t)end->priv_length;
}

static ucs_status_t on_resolved(void *arg, const uct_cm_ep_resolve_args_t *args)
{
    end_t *end = arg;

    EXPECT_EQ(args->status, UCS_OK);
    EXPECT_EQ(strcmp(args->dev_name, "lo"), 0);
    ++end->resolved;
    return UCS_OK;
}

static ucs_status_t start_client(end_t *end, uint16_t port, int by_resolve)
{
    struct sockaddr_in addr  = {.sin_family = AF_INET};
    ucs_sock_addr_t sockaddr = {(void *)&addr, sizeof(addr)};
    uct_ep_params_t params;

    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    addr.sin_port        = htons(port);
    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_EP_PARAM_FIELD_CM | UCT_EP_PARAM_FIELD_SOCKADDR |
                        UCT_EP_PARAM_FIELD_USER_DATA |
                        UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT |
                        UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB;
    params.cm                 = end->cm;
    params.sockaddr           = &sockaddr;
    params.user_data          = end;
    params.sockaddr_cb_client = on_connected;
    params.disconnect_cb      = on_left;
    if (by_resolve) {
        params.field_mask |= UCT_EP_PARAM_FIELD_CM_RESOLVE_CB;
        params.cm_resolve_cb = on_resolved;
    } else {
        params.field_mask |= UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB;
        params.sockaddr_pack_cb = pack_request;
    }
    end->told = 0;
    return uct_ep_create(&params, &end->ep);
}

/* --- Connections that are established ------------------------------------ */

#define SIZES \
    { \
        0, 1, 100, 1024, 2048 \
    }

static void serves(end_t *end, int fd, enum mode mode, int leaves_first)
{
    const size_t sizes[] = SIZES;

    open_end(end);
    end->mode = mode;
    listen_on_any_port(end);
    side_write(fd, &end->port, sizeof(end->port));
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        end->priv_length = sizes[i];
        end->left        = 0;
        end->told        = 0;
        side_barrier(&end->side, fd);
        side_wait(&end->side, &end->requests, i + 1, "a request");
        if (mode == ACCEPT_LATER) {
            EXPECT_EQ(accept_request(end, end->request), UCS_OK);
        }
        if (end->told == 0) {
            EXPECT_EQ(uct_ep_disconnect(end->ep, 0), UCS_ERR_BUSY);
        }
        side_wait(&end->side, &end->told, 1, "the client's word");
        EXPECT_EQ(end->status, UCS_OK);
        if (leaves_first) {
            EXPECT_EQ(uct_ep_disconnect(end->ep, 0), UCS_INPROGRESS);
            EXPECT_EQ(uct_ep_disconnect(end->ep, 0), UCS_INPROGRESS);
            side_wait(&end->side, &end->left, 1, "the client's farewell");
            EXPECT_EQ(uct_ep_disconnect(end->ep, 0), UCS_ERR_NOT_CONNECTED);
        } else {
            side_wait(&end->side, &end->left, 1, "the client's farewell");
            EXPECT_EQ(uct_ep_disconnect(end->ep, 0), UCS_OK);
            EXPECT_EQ(uct_ep_disconnect(end->ep, 0), UCS_ERR_NOT_CONNECTED);
        }
        side_barrier(&end->side, fd);
        EXPECT_EQ(end->left, 1);
        uct_ep_destroy(end->ep);
    }
    uct_listener_destroy(end->listener);
    side_barrier(&end->side, fd);
    close_end(end);
}

static void visits(end_t *end, int fd, int by_resolve, int leaves_first)
{
    uct_ep_connect_params_t connect;
    const size_t sizes[] = SIZES;
    uint8_t priv[4096];
    uint16_t port;

    open_end(end);
    side_read(fd, &port, sizeof(port));
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        end->priv_length = sizes[i];
        end->left        = 0;
        end->resolved    = 0;
        side_barrier(&end->side, fd);
        EXPECT_EQ(start_client(end, port, by_resolve), UCS_OK);
        EXPECT_EQ(uct_ep_disconnect(end->ep, 0), UCS_ERR_BUSY);
        if (by_resolve) {
            side_wait(&end->side, &end->resolved, 1, "the device");
            pattern_fill(priv, 1, end->priv_length);
            connect.field_mask = UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA |
                                 UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH;
            connect.private_data        = priv;
            connect.private_data_length = end->priv_length;
            EXPECT_EQ(uct_ep_connect(end->ep, &connect), UCS_OK);
        }
        side_wait(&end->side, &end->told, 1, "the answer");
        EXPECT_EQ(end->status, UCS_OK);
        EXPECT_EQ(uct_cm_client_ep_conn_notify(end->ep), UCS_OK);
        if (leaves_first) {
            EXPECT_EQ(uct_ep_disconnect(end->ep, 0), UCS_INPROGRESS);
            side_wait(&end->side, &end->left, 1, "the server's farewell");
        } else {
            side_wait(&end->side, &end->left, 1, "the server's farewell");
            EXPECT_EQ(uct_ep_disconnect(end->ep, 0), UCS_OK);
        }
        side_barrier(&end->side, fd);
        EXPECT_EQ(end->left, 1);
        uct_ep_destroy(end->ep);
    }
    side_barrier(&end->side, fd);
    close_end(end);
}

static end_t end;

static void server_accepts(void *arg, int fd)
{
    serves(&end, fd, ACCEPT, 1);
}

static void server_packs(void *arg, int fd)
{
    serves(&end, fd, ACCEPT_BY_CALLBACK, 0);
}

static void server_thinks(void *arg, int fd)
{
    serves(&end, fd, ACCEPT_LATER, 0);
}

static void client_packs(void *arg, int fd)
{
    visits(&end, fd, 0, 0);
}

static void client_resolves(void *arg, int fd)
{
    visits(&end, fd, 1, 1);
}

static void client_packs_and_leaves(void *arg, int fd)
{
    visits(&end, fd, 0, 1);
}

PAIR_TEST(cm_accept_carries_private_data, server_accepts, client_packs)
PAIR_TEST(cm_resolve_and_pack_callbacks_run, server_packs, client_resolves)
PAIR_TEST(cm_request_can_be_answered_later, server_thinks,
          client_packs_and_leaves)

/* The endpoint belongs to another manager than the listener, whose manager is
 * closed first. */
static void server_answers_elsewhere(void *arg, int fd)
{
    static end_t other;

    open_end(&end);
    open_end(&other);
    end.mode = KEEP;
    listen_on_any_port(&end);
    side_write(fd, &end.port, sizeof(end.port));
    side_wait(&end.side, &end.requests, 1, "a request");
    EXPECT_EQ(accept_request(&other, end.request), UCS_OK);
    EXPECT_EQ(uct_listener_reject(end.listener, end.request),
              UCS_ERR_INVALID_PARAM);
    uct_listener_destroy(end.listener);
    close_end(&end);

    side_wait(&other.side, &other.told, 1, "the client's word");
    EXPECT_EQ(other.status, UCS_OK);
    EXPECT_EQ(uct_ep_disconnect(other.ep, 0), UCS_INPROGRESS);
    side_wait(&other.side, &other.left, 1, "the client's farewell");
    uct_ep_destroy(other.ep);
    close_end(&other);
}

static void client_does_not_notice(void *arg, int fd)
{
    uint16_t port;

    open_end(&end);
    side_read(fd, &port, sizeof(port));
    EXPECT_EQ(start_client(&end, port, 0), UCS_OK);
    side_wait(&end.side, &end.told, 1, "the answer");
    EXPECT_EQ(end.status, UCS_OK);
    EXPECT_EQ(uct_cm_client_ep_conn_notify(end.ep), UCS_OK);
    side_wait(&end.side, &end.left, 1, "the server's farewell");
    EXPECT_EQ(uct_ep_disconnect(end.ep, 0), UCS_OK);
    uct_ep_destroy(end.ep);
    close_end(&end);
}

PAIR_TEST(cm_request_can_be_answered_on_another_manager,
          server_answers_elsewhere, client_does_not_notice)

/* --- Connections that fail ------------------------------------------------ */

static void client_expects(end_t *self, uint16_t port, ucs_status_t status)
{
    ucs_status_t created = start_client(self, port, 0);

    if (created != UCS_OK) {
        EXPECT_EQ(created, status);
        return;
    }
    side_wait(&self->side, &self->told, 1, "bad news");
    EXPECT_EQ(self->status, status);
    EXPECT_EQ(uct_cm_client_ep_conn_notify(self->ep), status);
    EXPECT_EQ(uct_ep_disconnect(self->ep, 0), status);
    EXPECT_EQ(self->left, 0); /* The endpoint was never connected, so that its
                               * disconnect callback must not be called */
    uct_ep_destroy(self->ep);
}

static void server_declines(void *arg, int fd)
{
    int fds, held;

    open_end(&end);
    fds = side_count_fds();
    listen_on_any_port(&end);
    side_write(fd, &end.port, sizeof(end.port));

    end.mode = REJECT;
    side_barrier(&end.side, fd);
    side_wait(&end.side, &end.requests, 1, "a request");

    end.mode       = ACCEPT_BY_CALLBACK;
    end.pack_error = 1;
    side_barrier(&end.side, fd);
    side_wait(&end.side, &end.requests, 2, "a second request");

    /* The request is not answered, and the listener is destroyed */
    end.mode = KEEP;
    side_barrier(&end.side, fd);
    side_wait(&end.side, &end.requests, 3, "a third request");
    uct_listener_destroy(end.listener);
    side_barrier(&end.side, fd);
    EXPECT_EQ(side_count_fds(), fds);

    /* Port at which the client's last attempt is refused. It stays bound by a
     * socket, so that no other process can use it */
    held = raw_hold_port(&end.side.addr, &end.port);
    side_write(fd, &end.port, sizeof(end.port));
    side_barrier(&end.side, fd);
    close(held);
    close_end(&end);
}

/* Passes one byte of private data more than the limit: uct_ep_connect() fails,
 * and no callback reports a result. */
static void claims_too_much(uint16_t port)
{
    uint8_t *priv                  = calloc(1, end.attr.max_conn_priv + 1);
    uct_ep_connect_params_t params = {
        .field_mask = UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA |
                      UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH,
        .private_data        = priv,
        .private_data_length = end.attr.max_conn_priv + 1,
    };

    end.resolved = 0;
    EXPECT_EQ(start_client(&end, port, 1), UCS_OK);
    side_wait(&end.side, &end.resolved, 1, "the device");
    EXPECT_EQ(uct_ep_connect(end.ep, &params), UCS_ERR_EXCEEDS_LIMIT);
    uct_ep_destroy(end.ep);
    EXPECT_EQ(end.told, 0);
    free(priv);
}

static void client_is_declined(void *arg, int fd)
{
    uint16_t port;

    open_end(&end);
    side_read(fd, &port, sizeof(port));
    claims_too_much(port);
    for (int i = 0; i < 3; ++i) {
        side_barrier(&end.side, fd);
        client_expects(&end, port, UCS_ERR_REJECTED);
    }
    side_barrier(&end.side, fd);
    side_read_later(&end.side, fd, &port, sizeof(port));
    client_expects(&end, port, UCS_ERR_UNREACHABLE);
    side_barrier(&end.side, fd);
    close_end(&end);
}

PAIR_TEST(cm_reject_reaches_the_client, server_declines, client_is_declined)

/* The server dies before it answers, or the client before it notifies. */
static void server_dies(void *arg, int fd)
{
    open_end(&end);
    end.mode = KEEP;
    listen_on_any_port(&end);
    side_write(fd, &end.port, sizeof(end.port));
    side_wait(&end.side, &end.requests, 1, "a request");
    _exit(0);
}

static void client_of_a_dead_server(void *arg, int fd)
{
    uint16_t port;

    open_end(&end);
    side_read(fd, &port, sizeof(port));
    client_expects(&end, port, UCS_ERR_CONNECTION_RESET);
    close_end(&end);
}

PAIR_TEST(cm_death_of_the_server_reaches_the_client, server_dies,
          client_of_a_dead_server)

static void server_of_a_dead_client(void *arg, int fd)
{
    open_end(&end);
    end.mode = ACCEPT;
    listen_on_any_port(&end);
    side_write(fd, &end.port, sizeof(end.port));
    side_wait(&end.side, &end.requests, 1, "a request");
    side_wait(&end.side, &end.told, 1, "the client's end");
    EXPECT_EQ(end.status, UCS_ERR_CONNECTION_RESET);
    EXPECT_EQ(end.left, 0);
    uct_ep_destroy(end.ep);
    uct_listener_destroy(end.listener);
    close_end(&end);
}

static void client_dies(void *arg, int fd)
{
    uint16_t port;

    open_end(&end);
    side_read(fd, &port, sizeof(port));
    EXPECT_EQ(start_client(&end, port, 0), UCS_OK);
    side_wait(&end.side, &end.told, 1, "the answer");
    _exit(0);
}

PAIR_TEST(cm_death_of_the_client_reaches_the_server, server_of_a_dead_client,
          client_dies)

/* --- Flush --------------------------------------------------------------- */

static volatile unsigned flushed;

static void on_flushed(uct_completion_t *comp)
{
    ++flushed;
}

#define FLUSH \
    { \
        .func = on_flushed, .count = 1, .status = UCS_OK \
    }

static void server_is_left(void *arg, int fd)
{
    char byte;

    open_end(&end);
    end.mode = ACCEPT;
    listen_on_any_port(&end);
    side_write(fd, &end.port, sizeof(end.port));
    for (unsigned i = 0; i < 3; ++i) {
        end.told = end.left = 0;
        side_wait(&end.side, &end.requests, i + 1, "a request");
        side_wait(&end.side, &end.told, 1, "the client's word");
        side_barrier(&end.side, fd);
        if (i == 2) {
            side_read(fd, &byte, 1);
            _exit(0);
        }
        side_wait(&end.side, &end.left, 1, "the client's farewell");
        /* The client has destroyed its endpoint, so that the connection has
         * ended without our disconnect */
        side_barrier(&end.side, fd);
        EXPECT_EQ(uct_ep_flush(end.ep, 0, NULL), UCS_OK);
        EXPECT_EQ(uct_ep_disconnect(end.ep, 0), UCS_OK);
        EXPECT_EQ(uct_ep_flush(end.ep, 0, NULL), UCS_OK);
        EXPECT_EQ(end.left, 1);
        uct_ep_destroy(end.ep);
    }
}

/* Connects, and waits until the server has been notified. In the last round of
 * server_is_left() the server makes no progress from then on. */
static void be_connected(uint16_t port, int fd)
{
    end.told = end.left = 0;
    EXPECT_EQ(start_client(&end, port, 0), UCS_OK);
    side_wait(&end.side, &end.told, 1, "the answer");
    EXPECT_EQ(uct_ep_flush(end.ep, 0, NULL), UCS_OK);
    EXPECT_EQ(uct_cm_client_ep_conn_notify(end.ep), UCS_OK);
    side_barrier(&end.side, fd);
}

static void client_leaves_and_flushes(void *arg, int fd)
{
    uct_completion_t first = FLUSH, second = FLUSH, third = FLUSH;
    uint16_t port;

    open_end(&end);
    side_read(fd, &port, sizeof(port));

    /* Disconnect, flush, destroy */
    be_connected(port, fd);
    EXPECT_EQ(uct_ep_disconnect(end.ep, 0), UCS_INPROGRESS);
    EXPECT_EQ(uct_ep_flush(end.ep, 0, NULL), UCS_INPROGRESS);
    EXPECT_EQ(uct_ep_flush(end.ep, 0, &first), UCS_INPROGRESS);
    EXPECT_EQ(uct_ep_flush(end.ep, UCT_FLUSH_FLAG_REMOTE, &second),
              UCS_INPROGRESS);
    side_wait(&end.side, &flushed, 2, "two flushes");
    EXPECT_EQ(first.status, UCS_OK);
    EXPECT_EQ(second.status, UCS_OK);
    EXPECT_EQ(uct_ep_flush(end.ep, 0, NULL), UCS_OK);
    EXPECT_EQ(end.left, 0);
    uct_ep_destroy(end.ep);
    side_barrier(&end.side, fd);

    /* A cancelled flush does not wait for the peer */
    be_connected(port, fd);
    EXPECT_EQ(uct_ep_disconnect(end.ep, 0), UCS_INPROGRESS);
    first = second = (uct_completion_t)FLUSH;
    EXPECT_EQ(uct_ep_flush(end.ep, 0, &first), UCS_INPROGRESS);
    EXPECT_EQ(uct_ep_flush(end.ep, UCT_FLUSH_FLAG_CANCEL, &second),
              UCS_INPROGRESS);
    EXPECT_EQ(flushed, 2);
    side_wait(&end.side, &flushed, 4, "a cancelled flush and its end");
    EXPECT_EQ(first.status, UCS_ERR_CANCELED);
    EXPECT_EQ(second.status, UCS_OK);
    EXPECT_EQ(uct_cm_client_ep_conn_notify(end.ep), UCS_ERR_CANCELED);
    uct_ep_destroy(end.ep);
    side_barrier(&end.side, fd);

    /* The server dies without an answer */
    be_connected(port, fd);
    EXPECT_EQ(uct_ep_disconnect(end.ep, 0), UCS_INPROGRESS);
    EXPECT_EQ(uct_ep_flush(end.ep, 0, &third), UCS_INPROGRESS);
    side_write(fd, "x", 1);
    side_wait(&end.side, &flushed, 5, "the end of the last flush");
    EXPECT_EQ(third.status, UCS_OK);
    side_wait(&end.side, &end.left, 1, "the server's end");
    uct_ep_destroy(end.ep);
    close_end(&end);
}

PAIR_TEST(cm_flush_waits_until_the_peer_knows, server_is_left,
          client_leaves_and_flushes)

/* --- Invalid clients ------------------------------------------------------ */

static void is_sprayed(void *arg, int unused)
{
    unsigned random         = 99;
    struct sockaddr_in addr = {.sin_family = AF_INET};
    uct_listener_h other;
    uct_listener_params_t params;
    tcp_wire_cm_t head;
    uint8_t noise[2048];
    int fd, fds;

    open_end(&end);
    listen_on_any_port(&end);
    fds                  = side_count_fds();
    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    addr.sin_port        = htons(end.port);
    for (unsigned round = 0; round < 200; ++round) {
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        EXPECT_EQ(connect(fd, (void *)&addr, sizeof(addr)), 0);
        for (unsigned i = 0; i < sizeof(noise); ++i) {
            random   = random * 1103515245 + 12345;
            noise[i] = (uint8_t)(random >> 16);
        }
        if (round % 2) {
            /* Send a valid header before the noise, with a length that may be
             * invalid */
            memset(&head, 0, sizeof(head));
            head.magic           = htole32(TCP_WIRE_CM_MAGIC);
            head.major           = TCP_WIRE_MAJOR;
            head.kind            = (round % 4 == 1) ? TCP_WIRE_CM_REQUEST :
                                                      (uint8_t)(round % 7);
            head.dev_addr_length = TCP_WIRE_DEV_LEN_V4;
            head.length          = htole32(round * 1000);
            memcpy(noise, &head, sizeof(head));
        }
        (void)!send(fd, noise, sizeof(noise), MSG_NOSIGNAL);
        shutdown(fd, SHUT_WR);
        raw_wait_closed(&end.side, fd);
        close(fd);
    }
    EXPECT_EQ(end.requests, 0);
    EXPECT_EQ(side_count_fds(), fds);

    /* Creating a listener fails if the address is in use, or if its family is
     * not supported */
    params.field_mask      = UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB;
    params.conn_request_cb = on_request;
    EXPECT_EQ(uct_listener_create(end.cm, (void *)&addr, sizeof(addr), &params,
                                  &other),
              UCS_ERR_BUSY);
    addr.sin_family = AF_UNIX;
    EXPECT_EQ(uct_listener_create(end.cm, (void *)&addr, sizeof(addr), &params,
                                  &other),
              UCS_ERR_INVALID_ADDR);
    uct_listener_destroy(end.listener);
    close_end(&end);
}

static void does_nothing(void *arg, int fd)
{
}

PAIR_TEST(cm_survives_strangers, is_sprayed, does_nothing)

SUITE_RUN("tcp cm", cm_accept_carries_private_data,
          cm_resolve_and_pack_callbacks_run, cm_request_can_be_answered_later,
          cm_request_can_be_answered_on_another_manager,
          cm_reject_reaches_the_client,
          cm_death_of_the_server_reaches_the_client,
          cm_death_of_the_client_reaches_the_server,
          cm_flush_waits_until_the_peer_knows, cm_survives_strangers)
