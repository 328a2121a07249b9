/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm: one thread listens, others accept, each on its own worker that no other
 * thread uses. Clients that connect and close are served. Requests that are not
 * accepted when the listener is destroyed are rejected.
 */
#include "common/data.h"
#include "common/server.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    ANSWERERS = 2,
    CLIENTS   = 2,
    VISITS    = 60,
    TOTAL     = CLIENTS * VISITS,
    SMALL     = 100,
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

/* Shared by the thread that listens and those that accept. */
struct hall {
    pthread_mutex_t lock;
    /* Requests that have arrived and that no thread has taken yet */
    ucp_conn_request_h waiting[TOTAL];
    int count;
    atomic_int served;     /* Number of connections that clients have closed */
    struct side listening; /* Used by the thread that listens */
};

static void come_in(ucp_conn_request_h request, void *arg)
{
    struct hall *hall = arg;

    pthread_mutex_lock(&hall->lock);
    EXPECT_INT(hall->count, <, TOTAL);
    hall->waiting[hall->count++] = request;
    pthread_mutex_unlock(&hall->lock);
}

static ucp_conn_request_h call_next(struct hall *hall)
{
    ucp_conn_request_h request = NULL;

    pthread_mutex_lock(&hall->lock);
    if (hall->count > 0) {
        request = hall->waiting[--hall->count];
    }
    pthread_mutex_unlock(&hall->lock);
    return request;
}

/* Accepts a request, receives one message and sends one reply. Then the client
 * closes, and the error handler reports it. */
static void attend(struct side *side, ucp_conn_request_h request)
{
    ucp_ep_params_t params = {
        .field_mask   = UCP_EP_PARAM_FIELD_CONN_REQUEST,
        .conn_request = request,
    };
    ucs_status_t status;
    struct side_ep *ep;
    char data[SMALL];

    ep = side_create_ep(side, &params, &status);
    EXPECT_OK(status);
    side_recv_wait(side, data, SMALL, 1, ALL);
    data_verify(data, SMALL, 1);
    side_send_wait(ep, data, SMALL, 2);
    side_wait_failure(ep, 20);
    EXPECT_STATUS(ep->failure, UCS_ERR_CONNECTION_RESET);
    side_close_ep(ep, 0);
}

static void *answer(void *arg)
{
    struct hall *hall = arg;
    ucp_conn_request_h request;
    struct side side;

    side_open_worker(&side, &hall->listening);
    while (atomic_load(&hall->served) < TOTAL) {
        request = call_next(hall);
        if (request == NULL) {
            sched_yield();
            continue;
        }
        attend(&side, request);
        atomic_fetch_add(&hall->served, 1);
    }
    side_close_worker(&side);
    return NULL;
}

static void open_hall(struct hall *hall, struct server *server)
{
    ucp_listener_attr_t attr = {
        .field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR,
    };
    struct sockaddr_storage address;
    socklen_t length             = server_make_address("127.0.0.1", &address);
    ucp_listener_params_t params = {
        .field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                      UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
        .sockaddr     = {(struct sockaddr *)&address, length},
        .conn_handler = {.cb = come_in, .arg = hall},
    };

    memset(hall, 0, sizeof(*hall));
    pthread_mutex_init(&hall->lock, NULL);
    server_open_side(&hall->listening, UCP_FEATURE_TAG, 0);
    EXPECT_OK(ucp_listener_create(hall->listening.worker, &params,
                                  &server->listener));
    EXPECT_OK(ucp_listener_query(server->listener, &attr));
    server->address = attr.sockaddr;
}

static void be_server(struct team *team)
{
    pthread_t threads[ANSWERERS];
    struct server server;
    struct hall hall;
    int i;

    open_hall(&hall, &server);
    for (i = 0; i < ANSWERERS; ++i) {
        EXPECT(pthread_create(&threads[i], NULL, answer, &hall) == 0);
    }
    for (i = 1; i <= CLIENTS; ++i) {
        server_tell(&server, team, i);
    }
    while (atomic_load(&hall.served) < TOTAL) {
        side_progress(&hall.listening);
    }
    for (i = 0; i < ANSWERERS; ++i) {
        pthread_join(threads[i], NULL);
    }

    /* each client connects once more, and no thread accepts */
    team_barrier(team, side_progress, &hall.listening);
    while (hall.count < CLIENTS) {
        side_progress(&hall.listening);
    }
    ucp_listener_destroy(server.listener);
    side_close(&hall.listening);
    pthread_mutex_destroy(&hall.lock);
}

static void be_client(struct team *team)
{
    struct sockaddr_storage address = server_learn(team, 0);
    struct side_ep *ep;
    struct side side;
    char data[SMALL];
    int i;

    server_open_side(&side, UCP_FEATURE_TAG, 0);
    for (i = 0; i < VISITS; ++i) {
        ep = server_connect(&side, &address, 0);
        data_fill(data, SMALL, 1);
        side_send_wait(ep, data, SMALL, 1);
        side_recv_wait(&side, data, SMALL, 2, ALL);
        EXPECT_OK(side_close_ep(ep, 0));
    }
    team_barrier(team, side_progress, &side);
    ep = server_connect(&side, &address, 0);
    side_wait_failure(ep, 20);
    EXPECT_STATUS(ep->failure, UCS_ERR_REJECTED);
    side_close_ep(ep, 0);
    side_close(&side);
}

static void member(struct team *team, void *arg)
{
    (void)arg;
    if (team->rank == 0) {
        be_server(team);
    } else {
        be_client(team);
    }
}

int main(void)
{
    struct team team = {.limit = 60};

    return team_run(&team, 1 + CLIENTS, member, NULL);
}
