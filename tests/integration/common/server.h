/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of the client-server API: a listener, the connection requests that
 * it has received, and the client's side of a connection.
 */
#ifndef INTEGRATION_SERVER_H
#define INTEGRATION_SERVER_H

#include "side.h"

#include <sys/socket.h>

enum { SERVER_MAX_REQUESTS = 64 };

struct server {
    struct side *side;
    ucp_listener_h listener;
    struct sockaddr_storage address;
    /* Not accepted or rejected yet, in order of arrival */
    ucp_conn_request_h requests[SERVER_MAX_REQUESTS];
    unsigned count;
    /* Endpoint that the library passed to the deprecated accept handler; NULL:
     * none, or server_accepted() has taken it */
    ucp_ep_h accepted;
};

/* Like side_open(). The worker's connection requests contain client_id if their
 * endpoint has UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID. */
void server_open_side(struct side *side, uint64_t features, uint64_t client_id);

/* Sets the address from text, with port 0. RDMA devices cannot connect to
 * 127.0.0.1: if TEST_SERVER_HOST is set, its address replaces 127.0.0.1.
 * Returns the address's length. */
socklen_t server_make_address(const char *host,
                              struct sockaddr_storage *address);

/* Returns whether this host can bind a socket to an address, given as text. */
bool server_has_host(const char *host);

/* Listens on a free port of the host, given as text. With `old_handler` it
 * registers the deprecated accept handler: the library then accepts all
 * requests itself. */
void server_open(struct server *server, struct side *side, const char *host,
                 bool old_handler);
void server_close(struct server *server);

/* Reserves a port of 127.0.0.1 on which no process listens, stores its address
 * and returns the descriptor that reserves it. Until the descriptor is closed,
 * only server_open_at() can use the port; otherwise another process could take
 * it. */
int server_hold_port(struct sockaddr_storage *address);

/* Like server_open() without `old_handler`, at an address with a port. */
void server_open_at(struct server *server, struct side *side,
                    const struct sockaddr_storage *address);

/* Connection handler that adds the request to `server`; for listeners that a
 * test creates itself. */
void server_on_request(ucp_conn_request_h request, void *server);

/* Sends the listener's address to a member, or receives it. */
void server_tell(struct server *server, struct team *team, int rank);
struct sockaddr_storage server_learn(struct team *team, int rank);

/* Progresses until there is a request; returns the first one's attributes. */
ucp_conn_request_attr_t server_next(struct server *server);

/* Removes the first request from the list and returns it. */
ucp_conn_request_h server_take(struct server *server);

/* Takes the first request and accepts it with an endpoint on `side`'s
 * worker. */
struct side_ep *server_accept(struct server *server, struct side *side);

/* Like server_accept(); returns NULL if the endpoint cannot be created, for
 * example because the client has ended. */
struct side_ep *server_try_accept(struct server *server, struct side *side);

/* Progresses until the library has accepted a request (see `old_handler`), and
 * returns the endpoint. */
struct side_ep *server_accepted(struct server *server);

/* Connects as a client; flags: UCP_EP_PARAMS_FLAGS_* in addition to
 * CLIENT_SERVER. */
struct side_ep *server_connect(struct side *side,
                               const struct sockaddr_storage *address,
                               unsigned flags);

/* Like server_connect(); on failure returns NULL and the reason in
 * *status_p. */
struct side_ep *server_try_connect(struct side *side,
                                   const struct sockaddr_storage *address,
                                   unsigned flags, ucs_status_t *status_p);

/* Returns whether family, host and port are equal. */
bool server_is_same(const struct sockaddr_storage *a,
                    const struct sockaddr_storage *b);

#endif
