/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm: clients connect to a listener by its socket address, over any transports,
 * and both sides send at once. Clients that are rejected, find no listener or
 * lose their peer are notified. Messages sent before a close arrive, and a
 * client may close at any moment. Many connections in a row leave no resources
 * behind.
 */
#include "common/data.h"
#include "common/server.h"
#include "common/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CLIENTS   = 3,
    PER_PEER  = 8,
    SMALL     = 100,
    LARGE     = 1 << 20,
    MESSAGES  = 100,
    SIZE      = 3000,
    AM_ID     = 5,
    CYCLES    = 1000,
    WARM_UP   = 20,
    HEAP_MORE = 256 * 1024, /* a pool may allocate one more chunk late */
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

struct play {
    struct team *team;
    struct side side;
    char *buffer;         /* LARGE bytes */
    ucp_ep_h am_reply_ep; /* of the last active message */
    /* Number of active messages received, and the number to wait for */
    unsigned am_count;
    unsigned am_wanted;
};

static int is_server(const struct play *play)
{
    return play->team->rank == 0;
}

static void agree(struct play *play)
{
    team_barrier(play->team, side_progress, &play->side);
}

/* ------------------------------------------------------ one conversation -- */

static ucs_status_t on_message(void *arg, const void *header, size_t length,
                               void *data, size_t data_length,
                               const ucp_am_recv_param_t *param)
{
    struct play *play = arg;

    (void)header;
    (void)length;
    data_verify(data, data_length, 7);
    EXPECT(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
    play->am_reply_ep = param->reply_ep;
    ++play->am_count;
    return UCS_OK;
}

static void set_handler(struct play *play)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id  = AM_ID,
        .cb  = on_message,
        .arg = play,
    };

    EXPECT_OK(ucp_worker_set_am_recv_handler(play->side.worker, &param));
}

static void send_am(struct side_ep *ep)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_AM_SEND_FLAG_REPLY,
    };
    static char data[SMALL];

    data_fill(data, SMALL, 7);
    side_wait(ep->side,
              ucp_am_send_nbx(ep->ep, AM_ID, NULL, 0, data, SMALL, &param),
              "am");
}

/* A stream belongs to a pair of endpoints: its bytes arrive at this endpoint's
 * peer and at no other endpoint. */
static void stream(struct side_ep *ep)
{
    ucp_request_param_t send_param = {.op_attr_mask = 0};
    ucp_request_param_t recv_param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_STREAM_RECV_FLAG_WAITALL,
    };
    char out[SMALL], in[SMALL];
    size_t length = SMALL;
    ucs_status_ptr_t send, receive;

    data_fill(out, SMALL, 3);
    send    = ucp_stream_send_nbx(ep->ep, out, SMALL, &send_param);
    receive = ucp_stream_recv_nbx(ep->ep, in, SMALL, &length, &recv_param);
    EXPECT_OK(side_wait(ep->side, send, "stream send"));
    EXPECT_OK(side_wait(ep->side, receive, "stream receive"));
    EXPECT_INT(length, ==, SMALL);
    data_verify(in, SMALL, 3);
}

/* Sends small and large messages in both directions at once; then active
 * messages and a stream. The reply endpoint of an active message must be `ep`
 * itself. */
static void talk(struct play *play, struct side_ep *ep, ucp_tag_t tag)
{
    struct side_op sends[2], receives[2];
    char *in = malloc(LARGE);
    char small[SMALL], small_in[SMALL];

    EXPECT(in != NULL);
    data_fill(small, SMALL, tag);
    data_fill(play->buffer, LARGE, tag + 1);
    side_send(ep, &sends[0], small, SMALL, tag);
    side_send(ep, &sends[1], play->buffer, LARGE, tag + 1);
    side_recv(&play->side, &receives[0], small_in, SMALL, tag, ALL);
    side_recv(&play->side, &receives[1], in, LARGE, tag + 1, ALL);
    side_complete(&play->side, &sends[0], "small send");
    side_complete(&play->side, &sends[1], "large send");
    side_complete(&play->side, &receives[0], "small receive");
    side_complete(&play->side, &receives[1], "large receive");
    data_verify(small_in, SMALL, tag);
    data_verify(in, LARGE, tag + 1);
    free(in);

    send_am(ep);
    ++play->am_wanted;
    while (play->am_count < play->am_wanted) {
        side_progress(&play->side);
    }
    EXPECT(play->am_reply_ep == ep->ep);
    stream(ep);
}

static void check_addresses(struct side_ep *ep,
                            const struct sockaddr_storage *local,
                            const struct sockaddr_storage *remote)
{
    ucp_ep_attr_t attr = {
        .field_mask = UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR |
                      UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR,
    };

    EXPECT_OK(ucp_ep_query(ep->ep, &attr));
    if (local != NULL) {
        EXPECT(server_is_same(&attr.local_sockaddr, local));
    }
    if (remote != NULL) {
        EXPECT(server_is_same(&attr.remote_sockaddr, remote));
    }
}

/* One client connects, both sides query the attributes of the connection and
 * exchange messages, and the client closes. */
static void one_talks(struct play *play, const char *host, bool old_handler)
{
    struct sockaddr_storage address;
    ucp_conn_request_attr_t attr;
    struct server server;
    struct side_ep *ep;

    if (is_server(play)) {
        server_open(&server, &play->side, host, old_handler);
        server_tell(&server, play->team, 1);
        if (old_handler) {
            ep = server_accepted(&server);
        } else {
            attr = server_next(&server);
            EXPECT_INT(attr.client_id, ==, 4711);
            ep = server_accept(&server, &play->side);
            check_addresses(ep, NULL, &attr.client_address);
        }
        talk(play, ep, 10);
        check_addresses(ep, &server.address, NULL);
        side_wait_failure(ep, 20);
        EXPECT_STATUS(ep->failure, UCS_ERR_CONNECTION_RESET);
        EXPECT_INT(ep->failures, ==, 1);
        side_close_ep(ep, 0);
        server_close(&server);
    } else if (play->team->rank == 1) {
        address = server_learn(play->team, 0);
        ep      = server_connect(&play->side, &address,
                                 UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID);
        /* starts before the server has accepted the connection */
        talk(play, ep, 10);
        check_addresses(ep, NULL, &address);
        EXPECT_OK(side_close_ep(ep, 0));
    }
    agree(play);
}

/* Closes all endpoints and calls progress of both workers meanwhile, because
 * the close of an endpoint on one worker may need the progress of the other. */
static void close_all(struct side_ep **eps, int count, struct side *a,
                      struct side *b)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    ucs_status_ptr_t requests[CLIENTS * PER_PEER];
    int i;

    for (i = 0; i < count; ++i) {
        requests[i] = ucp_ep_close_nbx(eps[i]->ep, &param);
        side_forget(eps[i]);
    }
    for (i = 0; i < count; ++i) {
        while (UCS_PTR_IS_PTR(requests[i]) &&
               (ucp_request_check_status(requests[i]) == UCS_INPROGRESS)) {
            side_progress(a);
            side_progress(b);
        }
        if (UCS_PTR_IS_PTR(requests[i])) {
            ucp_request_free(requests[i]);
        }
    }
}

static void finish_all(struct side_op *ops, int count, struct side *a,
                       struct side *b)
{
    int i;

    for (i = 0; i < count; ++i) {
        while (!ops[i].done) {
            side_progress(a);
            side_progress(b);
        }
        EXPECT_OK(ops[i].status);
    }
}

/* Many clients of several processes connect to one port. The server accepts
 * them alternately on two workers. */
static void many_are_served(struct play *play)
{
    struct side_op sends[CLIENTS * PER_PEER], receives[CLIENTS * PER_PEER];
    struct side_ep *eps[CLIENTS * PER_PEER];
    struct server server;
    struct side data;
    int i, rank;

    side_open_worker(&data, &play->side);
    server_open(&server, &play->side, "127.0.0.1", false);
    for (rank = 1; rank <= CLIENTS; ++rank) {
        server_tell(&server, play->team, rank);
    }
    for (i = 0; i < CLIENTS * PER_PEER; ++i) {
        server_next(&server);
        eps[i] = server_accept(&server, (i % 2) ? &data : &play->side);
        side_send(eps[i], &sends[i], play->buffer, SIZE, 99);
        side_recv(eps[i]->side, &receives[i], play->buffer + SIZE, SIZE, 98,
                  ALL);
    }
    server_close(&server);
    finish_all(sends, CLIENTS * PER_PEER, &play->side, &data);
    finish_all(receives, CLIENTS * PER_PEER, &play->side, &data);
    close_all(eps, CLIENTS * PER_PEER, &play->side, &data);
    side_close_worker(&data);
}

static void many_talk(struct play *play)
{
    struct side_op sends[PER_PEER], receives[PER_PEER];
    struct side_ep *eps[PER_PEER];
    struct sockaddr_storage address;
    int i;

    if (is_server(play)) {
        many_are_served(play);
    } else {
        address = server_learn(play->team, 0);
        for (i = 0; i < PER_PEER; ++i) {
            eps[i] = server_connect(&play->side, &address, 0);
            side_send(eps[i], &sends[i], play->buffer, SIZE, 98);
            side_recv(&play->side, &receives[i], play->buffer + SIZE, SIZE, 99,
                      ALL);
        }
        for (i = 0; i < PER_PEER; ++i) {
            side_complete(&play->side, &sends[i], "to the server");
            side_complete(&play->side, &receives[i], "from the server");
        }
        for (i = 0; i < PER_PEER; ++i) {
            side_close_ep(eps[i], 0);
        }
    }
    agree(play);
}

/* --------------------------------------------------------- no connection -- */

/* Expects that a send on the endpoint fails with this status, and that the
 * endpoint's error handler receives it. */
static void expect_refusal(struct play *play, struct side_ep *ep,
                           ucs_status_t expected)
{
    struct side_op op;

    side_send(ep, &op, play->buffer, LARGE, 1);
    side_finish(&play->side, &op, 20, "send to nobody");
    EXPECT_STATUS(op.status, expected);
    side_wait_failure(ep, 20);
    EXPECT_STATUS(ep->failure, expected);
    side_close_ep(ep, 0);
}

static void some_are_turned_away(struct play *play)
{
    struct sockaddr_storage address;
    struct server server;
    int fd;

    if (is_server(play)) {
        server_open(&server, &play->side, "127.0.0.1", false);
        server_tell(&server, play->team, 1);
        server_next(&server);
        EXPECT_OK(ucp_listener_reject(server.listener, server_take(&server)));
        /* the client is rejected because the listener is destroyed */
        server_next(&server);
        server_close(&server);
        agree(play);
        fd = server_hold_port(&address);
        server_open_at(&server, &play->side, &address);
        server_tell(&server, play->team, 1);
        /* likewise the third request, at a listener whose port stays
         * reserved */
        server_next(&server);
        server_close(&server);
        agree(play); /* the client's last attempt has ended */
        close(fd);
    } else if (play->team->rank == 1) {
        address = server_learn(play->team, 0);
        expect_refusal(play, server_connect(&play->side, &address, 0),
                       UCS_ERR_REJECTED);
        expect_refusal(play, server_connect(&play->side, &address, 0),
                       UCS_ERR_REJECTED);
        agree(play);
        address = server_learn(play->team, 0);
        expect_refusal(play, server_connect(&play->side, &address, 0),
                       UCS_ERR_REJECTED);
        /* no process listens at the reserved port any more */
        expect_refusal(play, server_connect(&play->side, &address, 0),
                       UCS_ERR_UNREACHABLE);
        agree(play);
    } else {
        agree(play);
        agree(play);
    }
    agree(play);
}

/* A worker is destroyed while it has a listener, a request that is not
 * accepted, and an endpoint. The clients' endpoints fail. */
static void worker_ends_with_all(struct play *play)
{
    struct sockaddr_storage address;
    struct side_ep *eps[3];
    struct server server;
    struct side more;
    int i;

    if (is_server(play)) {
        side_open_worker(&more, &play->side);
        server_open(&server, &more, "127.0.0.1", false);
        server_tell(&server, play->team, 1);
        server_next(&server);
        server_accept(&server, &more);
        server_next(&server);
        ucp_worker_destroy(more.worker);
        while (more.eps != NULL) {
            struct side_ep *next = more.eps->next;

            free(more.eps);
            more.eps = next;
        }
    } else if (play->team->rank == 1) {
        address = server_learn(play->team, 0);
        for (i = 0; i < 2; ++i) {
            eps[i] = server_connect(&play->side, &address, 0);
        }
        for (i = 0; i < 2; ++i) {
            side_wait_failure(eps[i], 20);
            side_close_ep(eps[i], UCP_EP_CLOSE_FLAG_FORCE);
        }
    }
    agree(play);
}

/* --------------------------------------------------------------- closing -- */

/* The sender closes right after the last message: the peer receives all
 * messages, then the error handler is called. */
static void closing_delivers(struct play *play, int sender)
{
    struct side_op ops[MESSAGES];
    struct sockaddr_storage address;
    struct server server;
    struct side_ep *ep = NULL;
    int i;

    if (is_server(play)) {
        server_open(&server, &play->side, "127.0.0.1", false);
        server_tell(&server, play->team, 1);
        server_next(&server);
        ep = server_accept(&server, &play->side);
    } else if (play->team->rank == 1) {
        address = server_learn(play->team, 0);
        ep      = server_connect(&play->side, &address, 0);
    }

    if (play->team->rank == sender) {
        for (i = 0; i < MESSAGES; ++i) {
            data_fill(play->buffer, SIZE, 1);
            side_send(ep, &ops[i], play->buffer, SIZE, 100 + i);
        }
        EXPECT_OK(side_close_ep(ep, 0));
        for (i = 0; i < MESSAGES; ++i) {
            EXPECT(ops[i].done);
            EXPECT_OK(ops[i].status);
        }
    } else if (ep != NULL) {
        for (i = 0; i < MESSAGES; ++i) {
            EXPECT_INT(side_recv_wait(&play->side, play->buffer, SIZE, 100 + i,
                                      ALL),
                       ==, SIZE);
            data_verify(play->buffer, SIZE, 1);
        }
        side_wait_failure(ep, 20);
        EXPECT_STATUS(ep->failure, UCS_ERR_CONNECTION_RESET);
        side_close_ep(ep, 0);
    }
    if (is_server(play)) {
        server_close(&server);
    }
    agree(play);
}

/* A client closes at a random moment of its connection; the server continues to
 * accept. */
static void client_gives_up(struct play *play, struct random *random)
{
    struct sockaddr_storage address;
    struct server server;
    struct side_ep *ep;
    struct side_op op;
    int i, steps;

    if (is_server(play)) {
        server_open(&server, &play->side, "127.0.0.1", false);
        server_tell(&server, play->team, 1);
        while (!team_ready(play->team, 1)) {
            side_progress(&play->side);
            if (server.count > 0) {
                ep = server_try_accept(&server, &play->side);
                if ((ep != NULL) && random_below(random, 2)) {
                    side_close_ep(ep, random_below(random, 2) ?
                                          UCP_EP_CLOSE_FLAG_FORCE :
                                          0);
                }
            }
        }
        while (play->side.eps != NULL) {
            side_close_ep(play->side.eps, UCP_EP_CLOSE_FLAG_FORCE);
        }
        server_close(&server);
    } else if (play->team->rank == 1) {
        address = server_learn(play->team, 0);
        for (i = 0; i < 100; ++i) {
            ep      = server_connect(&play->side, &address, 0);
            op.done = true;
            if (random_below(random, 2)) {
                side_send(ep, &op, play->buffer, SMALL, 5000);
            }
            for (steps = (int)random_below(random, 200); steps > 0; --steps) {
                side_progress(&play->side);
            }
            side_close_ep(ep, random_below(random, 2) ?
                                  UCP_EP_CLOSE_FLAG_FORCE :
                                  0);
            side_finish(&play->side, &op, 20, "send of who gave up");
        }
        /* Time for the server to detect the last close: its loop ends when this
         * member calls agree(). */
        side_linger(&play->side, 0.1);
    }
    agree(play);
    if (is_server(play)) {
        ucp_tag_recv_info_t info;
        ucp_tag_message_h message;

        while ((message = ucp_tag_probe_nb(play->side.worker, 5000, ALL, 1,
                                           &info)) != NULL) {
            ucp_request_param_t none = {.op_attr_mask = 0};

            side_wait(&play->side,
                      ucp_tag_msg_recv_nbx(play->side.worker, play->buffer,
                                           LARGE, message, &none),
                      "late");
        }
    }
}

static void cycle(struct play *play, struct server *server,
                  const struct sockaddr_storage *address, int round)
{
    unsigned flags = (round % 3 == 2) ? UCP_EP_CLOSE_FLAG_FORCE : 0;
    struct side_ep *ep;

    if (is_server(play)) {
        server_next(server);
        ep = server_accept(server, &play->side);
        side_recv_wait(&play->side, play->buffer, SMALL, 3, ALL);
    } else {
        ep = server_connect(&play->side, address, 0);
        side_send_wait(ep, play->buffer, SMALL, 3);
    }
    if (play->team->rank == round % 2) {
        EXPECT_OK(side_flush(ep));
        side_close_ep(ep, flags);
    } else {
        side_wait_failure(ep, 20);
        side_close_ep(ep, 0);
    }
}

static void nothing_grows(struct play *play, int cycles)
{
    struct sockaddr_storage address;
    struct server server;
    unsigned fds = 0;
    size_t heap  = 0;
    int round;

    memset(&address, 0, sizeof(address));
    if (is_server(play)) {
        server_open(&server, &play->side, "127.0.0.1", false);
        server_tell(&server, play->team, 1);
    } else if (play->team->rank == 1) {
        address = server_learn(play->team, 0);
    } else {
        agree(play);
        return;
    }

    for (round = 0; round < WARM_UP + cycles; ++round) {
        if (round == WARM_UP) {
            fds  = usage_fds();
            heap = usage_heap();
        }
        cycle(play, &server, &address, round);
    }
    /* descriptors of the last connection may still be open */
    side_wait_fds(&play->side, fds);
    EXPECT_INT(usage_heap(), <=, heap + HEAP_MORE);
    if (is_server(play)) {
        server_close(&server);
    }
    agree(play);
}

/* ------------------------------------------------------------------ main -- */

struct options {
    uint64_t seed;
    int cycles;
};

static void member(struct team *team, void *arg)
{
    const struct options *options = arg;
    struct random random          = {options->seed + (uint64_t)team->rank};
    struct play play              = {.team = team, .buffer = calloc(1, LARGE)};

    EXPECT(play.buffer != NULL);
    server_open_side(&play.side,
                     UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM,
                     4711);
    set_handler(&play);
    one_talks(&play, "127.0.0.1", false);
    if (server_has_host("::1")) {
        one_talks(&play, "::1", false);
    } else {
        printf("this host has no IPv6: left out\n");
    }
    one_talks(&play, "127.0.0.1", true);
    many_talk(&play);
    some_are_turned_away(&play);
    worker_ends_with_all(&play);
    closing_delivers(&play, 0);
    closing_delivers(&play, 1);
    client_gives_up(&play, &random);
    nothing_grows(&play, options->cycles);
    side_close(&play.side);
    free(play.buffer);
}

int main(int argc, char **argv)
{
    struct options options = {
        .seed   = random_seed(argc, argv),
        .cycles = team_asked(argc, argv, "--short") ? CYCLES / 10 : CYCLES,
    };
    struct team team = {.limit = 100};

    return team_run(&team, 1 + CLIENTS, member, &options);
}
