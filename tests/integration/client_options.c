/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm: a worker that connects to itself, the client's source address, addresses
 * that are in use, foreign or invalid, a rejection by another listener, a port
 * without a listener, and the variables for connection managers. One process is
 * both client and server.
 */
#include "common/data.h"
#include "common/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 200000 };

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

/* Accepts the next client and returns the server's endpoint. */
static struct side_ep *admit(struct server *server)
{
    server_next(server);
    return server_accept(server, server->side);
}

static void exchange(struct side_ep *from, ucp_tag_t tag)
{
    char *out = malloc(LARGE), *in = malloc(LARGE);
    struct side_op send, receive;

    EXPECT((out != NULL) && (in != NULL));
    data_fill(out, LARGE, tag);
    side_send(from, &send, out, LARGE, tag);
    side_recv(from->side, &receive, in, LARGE, tag, ALL);
    side_complete(from->side, &send, "send");
    side_complete(from->side, &receive, "receive");
    data_verify(in, LARGE, tag);
    free(out);
    free(in);
}

static void worker_meets_itself(struct side *side)
{
    struct side_ep *client, *accepted;
    struct server server;

    server_open(&server, side, "127.0.0.1", false);
    client   = server_connect(side, &server.address, 0);
    accepted = admit(&server);
    exchange(client, 1);
    exchange(accepted, 2);
    EXPECT_OK(side_close_ep(client, 0));
    side_wait_failure(accepted, 10);
    EXPECT_STATUS(accepted->failure, UCS_ERR_CONNECTION_RESET);
    side_close_ep(accepted, 0);
    server_close(&server);
}

/* The server sees the source address that the client has set. */
static void client_chooses_its_address(struct side *side)
{
    struct sockaddr_in from = {.sin_family = AF_INET};
    ucp_ep_params_t params  = {
         .field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR |
                       UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR |
                       UCP_EP_PARAM_FIELD_FLAGS,
         .flags          = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
         .local_sockaddr = {(struct sockaddr *)&from, sizeof(from)},
    };
    ucp_ep_attr_t attr = {.field_mask = UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR};
    ucp_conn_request_attr_t request;
    struct side_ep *client, *accepted;
    struct server server;
    ucs_status_t status;

    EXPECT(inet_pton(AF_INET, "127.0.0.9", &from.sin_addr) == 1);
    server_open(&server, side, "127.0.0.1", false);
    params.sockaddr.addr    = (struct sockaddr *)&server.address;
    params.sockaddr.addrlen = sizeof(server.address);
    client                  = side_create_ep(side, &params, &status);
    EXPECT_OK(status);
    request = server_next(&server);
    EXPECT_INT(((struct sockaddr_in *)&request.client_address)->sin_addr.s_addr,
               ==, from.sin_addr.s_addr);
    accepted = server_accept(&server, side);
    exchange(client, 1);
    EXPECT_OK(ucp_ep_query(client->ep, &attr));
    EXPECT(server_is_same(&attr.local_sockaddr, &request.client_address));
    side_close_ep(client, 0);
    side_close_ep(accepted, 0);

    /* no interface of this host has this address (reserved for
     * documentation) */
    EXPECT(inet_pton(AF_INET, "192.0.2.1", &from.sin_addr) == 1);
    client = side_create_ep(side, &params, &status);
    EXPECT((client != NULL) == (status == UCS_OK));
    if (client != NULL) {
        /* failing later, by the error handler, is also correct */
        side_wait_failure(client, 10);
        side_close_ep(client, 0);
    }
    server_close(&server);
}

static ucs_status_t try_listen(struct side *side, const void *address,
                               size_t length)
{
    struct server server         = {.side = side};
    ucp_listener_params_t params = {
        .field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                      UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
        .sockaddr     = {address, (socklen_t)length},
        .conn_handler = {.cb = server_on_request, .arg = &server},
    };
    ucs_status_t status;

    status = ucp_listener_create(side->worker, &params, &server.listener);
    if (status == UCS_OK) {
        ucp_listener_destroy(server.listener);
    }
    return status;
}

static void bad_addresses_are_refused(struct side *side)
{
    struct sockaddr_in foreign = {.sin_family = AF_INET};
    struct sockaddr unknown    = {.sa_family = AF_APPLETALK};
    struct sockaddr_storage held;
    struct server server;
    struct side_ep *ep;
    ucs_status_t status;
    int fd = server_hold_port(&held);

    server_open_at(&server, side, &held);
    EXPECT(server_is_same(&server.address, &held));
    EXPECT_STATUS(try_listen(side, &server.address, sizeof(server.address)),
                  UCS_ERR_BUSY);
    server_close(&server);
    EXPECT_OK(try_listen(side, &server.address, sizeof(server.address)));
    close(fd);

    EXPECT(inet_pton(AF_INET, "192.0.2.1", &foreign.sin_addr) == 1);
    EXPECT(try_listen(side, &foreign, sizeof(foreign)) != UCS_OK);
    EXPECT(try_listen(side, &unknown, sizeof(unknown)) != UCS_OK);
    EXPECT(try_listen(side, &foreign, 3) != UCS_OK);

    memset(&server.address, 0, sizeof(server.address));
    ep = server_try_connect(side, &server.address, 0, &status);
    EXPECT((ep == NULL) && (status != UCS_OK));
    /* the connection fails at once or later, as TCP cannot use the broadcast
     * address */
    foreign.sin_addr.s_addr = INADDR_BROADCAST;
    foreign.sin_port        = htons(9);
    memcpy(&server.address, &foreign, sizeof(foreign));
    ep = server_try_connect(side, &server.address, 0, &status);
    if (ep != NULL) {
        side_wait_failure(ep, 30);
        side_close_ep(ep, 0);
    }
}

/* Only the listener that received a request can reject it. */
static void reject_needs_the_right_listener(struct side *side)
{
    struct server server, other;
    struct side_ep *client;

    server_open(&server, side, "127.0.0.1", false);
    server_open(&other, side, "127.0.0.1", false);
    client = server_connect(side, &server.address, 0);
    server_next(&server);
    EXPECT_STATUS(ucp_listener_reject(other.listener, server.requests[0]),
                  UCS_ERR_INVALID_PARAM);
    EXPECT_STATUS(ucp_listener_reject(server.listener, NULL),
                  UCS_ERR_INVALID_PARAM);
    EXPECT_OK(ucp_listener_reject(server.listener, server_take(&server)));
    side_wait_failure(client, 10);
    EXPECT_STATUS(client->failure, UCS_ERR_REJECTED);
    side_close_ep(client, 0);
    server_close(&server);
    server_close(&other);
}

/* Connects to a port without a listener, with and without an error handler. */
static void nobody_is_there(struct side *side)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    ucp_ep_params_t params   = {
          .field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS,
          .flags      = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
    };
    struct sockaddr_storage held;
    struct side_ep *ep;
    ucp_ep_h plain;
    char data[8];
    int fd = server_hold_port(&held);

    ep = server_connect(side, &held, 0);
    side_wait_failure(ep, 30);
    EXPECT_STATUS(ep->failure, UCS_ERR_UNREACHABLE);
    EXPECT_STATUS(UCS_PTR_STATUS(
                      ucp_tag_send_nbx(ep->ep, data, sizeof(data), 1, &none)),
                  UCS_ERR_UNREACHABLE);
    side_close_ep(ep, 0);

    params.sockaddr.addr    = (struct sockaddr *)&held;
    params.sockaddr.addrlen = sizeof(held);
    EXPECT_OK(ucp_ep_create(side->worker, &params, &plain));
    EXPECT_STATUS(
        side_wait(side, ucp_tag_send_nbx(plain, data, sizeof(data), 1, &none),
                  "send"),
        UCS_ERR_UNREACHABLE);
    side_wait(side, ucp_ep_close_nbx(plain, &none), "close");
    close(fd);
}

/* Contexts with other values of the variables for connection managers. */
static void configuration_decides(void)
{
    struct side_ep *client, *accepted;
    struct sockaddr_in any = {.sin_family = AF_INET};
    struct server server;
    struct side side;

    setenv("UCX_SOCKADDR_TLS_PRIORITY", "nobody", 1);
    server_open_side(&side, UCP_FEATURE_TAG, 0);
    EXPECT_STATUS(try_listen(&side, &any, sizeof(any)), UCS_ERR_UNSUPPORTED);
    side_close(&side);

    setenv("UCX_SOCKADDR_TLS_PRIORITY", "nobody,*", 1);
    setenv("UCX_CM_USE_ALL_DEVICES", "n", 1);
    setenv("UCX_LISTENER_BACKLOG", "1", 1);
    server_open_side(&side, UCP_FEATURE_TAG, 0);
    server_open(&server, &side, "127.0.0.1", false);
    client   = server_connect(&side, &server.address, 0);
    accepted = admit(&server);
    exchange(client, 1);
    exchange(accepted, 2);
    side_close_ep(client, 0);
    side_close_ep(accepted, 0);
    server_close(&server);
    side_close(&side);
}

static void member(struct team *team, void *arg)
{
    struct side side;

    (void)team;
    (void)arg;
    server_open_side(&side, UCP_FEATURE_TAG, 0);
    worker_meets_itself(&side);
    client_chooses_its_address(&side);
    bad_addresses_are_refused(&side);
    reject_needs_the_right_listener(&side);
    nobody_is_there(&side);
    side_close(&side);
    configuration_decides();
}

int main(void)
{
    struct team team = {.limit = 60};

    return team_run(&team, 1, member, NULL);
}
