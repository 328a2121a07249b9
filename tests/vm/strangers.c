/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A listener of the connection manager rdmacm rejects clients that connect
 * without private data, or with other private data than that of UCX. It ends
 * the connections of clients that send no request, or a message that is no
 * valid request: malformed, too long or random. Other clients leave at once.
 * The listener releases all resources of these clients, and afterwards serves a
 * client of UCX.
 *
 * strangers HOST: an address of an RDMA device. The stranger is the process
 * that connects as these clients, by librdmacm without UCX. The protocol that
 * it imitates is described in plugins/ib/README.md.
 */
#include "common/data.h"
#include "common/server.h"
#include "common/usage.h"

#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SERVER,
    STRANGER,
    SMALL   = 100,
    LONGEST = 8192,
    NOISES  = 4,
    ROUNDS  = 2,
    RESOLVE = 10000, /* ms */
    HEAD    = 28,    /* Bytes of a message without private data */
};

enum kind { REQUEST = 1, ACCEPT = 2, DISCONNECT = 5 };

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

/* Private data by which a client of UCX connects: magic, version, reserved,
 * largest private data; little-endian */
static const uint8_t intro[12] = {'U', 'X', 'C', 'M', 1, 0, 0, 0, 0, 8, 0, 0};

struct call {
    struct rdma_cm_id *id;
    struct ibv_mr *mr;
    char buffer[LONGEST];
};

/* ---------------------------------------------------------- the stranger -- */

/* Prints what the stranger does next. After a failure, the last line shows what
 * it was doing. */
static void step(const char *what)
{
    fprintf(stderr, "stranger: %s\n", what);
}

/* Connects with this private data. Returns whether the listener accepts the
 * connection. */
static bool dial(struct call *call, const struct sockaddr_storage *address,
                 const void *data, size_t length)
{
    struct ibv_qp_init_attr attr = {
        .cap =
            {
                .max_send_wr  = 4,
                .max_recv_wr  = 4,
                .max_send_sge = 1,
                .max_recv_sge = 1,
            },
        .qp_type = IBV_QPT_RC,
    };
    struct rdma_conn_param param = {
        .private_data     = data,
        .private_data_len = (uint8_t)length,
        .retry_count      = 6,
        .rnr_retry_count  = 6,
    };
    struct sockaddr_storage to = *address;
    int status;

    memset(call, 0, sizeof(*call));
    EXPECT_INT(rdma_create_id(NULL, &call->id, NULL, RDMA_PS_TCP), ==, 0);
    EXPECT_INT(rdma_resolve_addr(call->id, NULL, (struct sockaddr *)&to,
                                 RESOLVE),
               ==, 0);
    EXPECT_INT(rdma_resolve_route(call->id, RESOLVE), ==, 0);
    EXPECT_INT(rdma_create_qp(call->id, NULL, &attr), ==, 0);
    call->mr = ibv_reg_mr(call->id->pd, call->buffer, sizeof(call->buffer),
                          IBV_ACCESS_LOCAL_WRITE);
    EXPECT(call->mr != NULL);
    status = rdma_connect(call->id, &param);
    EXPECT((status == 0) || (errno == ECONNREFUSED));
    return status == 0;
}

static void end(struct call *call)
{
    ibv_dereg_mr(call->mr);
    rdma_destroy_qp(call->id);
    rdma_destroy_id(call->id);
}

static void speak(struct call *call, size_t length)
{
    struct ibv_sge sge = {(uintptr_t)call->buffer, (uint32_t)length,
                          call->mr->lkey};
    struct ibv_send_wr wr =
                           {
                               .sg_list = &sge,
                               .num_sge = 1,
                               .opcode  = IBV_WR_SEND,
                           },
                       *bad;

    EXPECT_INT(ibv_post_send(call->id->qp, &wr, &bad), ==, 0);
}

/* Waits until the listener ends the connection. If the stranger's message has
 * arrived before the last packet of the connection setup, the listener rejects
 * the connection instead. */
static void expect_end(struct call *call)
{
    struct pollfd fd = {.fd = call->id->channel->fd, .events = POLLIN};
    struct rdma_cm_event *event;

    EXPECT_INT(poll(&fd, 1, (int)(test_seconds(20) * 1e3)), ==, 1);
    EXPECT_INT(rdma_get_cm_event(call->id->channel, &event), ==, 0);
    EXPECT((event->event == RDMA_CM_EVENT_DISCONNECTED) ||
           (event->event == RDMA_CM_EVENT_REJECTED));
    rdma_ack_cm_event(event);
}

/* Connects like a client of UCX, sends one message, and expects the end of the
 * connection. */
static void say(const struct sockaddr_storage *address, const void *words,
                size_t length)
{
    struct call call;

    EXPECT(dial(&call, address, intro, sizeof(intro)));
    memcpy(call.buffer, words, length);
    speak(&call, length);
    expect_end(&call);
    end(&call);
}

static void say_kind(const struct sockaddr_storage *address, const char *what,
                     enum kind kind, unsigned stated, size_t length)
{
    char words[LONGEST] = {'U',
                           'X',
                           'C',
                           'M',
                           (char)kind,
                           0,
                           (char)(stated & 0xff),
                           (char)(stated >> 8)};

    step(what);
    say(address, words, HEAD + length);
}

static void expect_rejected(const struct sockaddr_storage *address,
                            const char *what, const void *data, size_t length)
{
    struct call call;

    step(what);
    EXPECT(!dial(&call, address, data, length));
    end(&call);
}

static void insult(const struct sockaddr_storage *address,
                   struct random *random)
{
    char noise[200];
    struct call call;

    expect_rejected(address, "no private data", NULL, 0);
    expect_rejected(address, "other private data", "Who is there", 12);
    expect_rejected(address, "half of the private data", intro, 4);

    step("leaves at once");
    EXPECT(dial(&call, address, intro, sizeof(intro)));
    EXPECT_INT(rdma_disconnect(call.id), ==, 0);
    end(&call);
    step("no request");
    EXPECT(dial(&call, address, intro, sizeof(intro)));
    expect_end(&call);
    end(&call);

    say_kind(address, "longer than stated", REQUEST, 0, 50);
    say_kind(address, "shorter than stated", REQUEST, 50, 0);
    say_kind(address, "a client accepts", ACCEPT, 50, 50);
    say_kind(address, "disconnect without request", DISCONNECT, 0, 0);
    say_kind(address, "no request of the core", REQUEST, 50, 50);
    say_kind(address, "longer than the buffer", REQUEST, 4000, 4000);
    step("random messages");
    for (int i = 0; i < NOISES; ++i) {
        for (size_t k = 0; k < sizeof(noise); ++k) {
            noise[k] = (char)random_next(random);
        }
        say(address, noise, random_below(random, sizeof(noise)));
    }
}

/* --------------------------------------------------------------- members -- */

static void be_server(struct team *team, const char *host)
{
    struct side_ep *ep;
    struct server server;
    char data[SMALL], done;
    struct side side;
    unsigned fds = 0;

    /* the time after which the listener ends connections of clients that send
     * no request */
    setenv("UCX_RDMA_CM_TIMEOUT", "2s", 1);
    server_open_side(&side, UCP_FEATURE_TAG, 0);
    server_open(&server, &side, host, false);
    server_tell(&server, team, STRANGER);
    for (int round = 0; round < ROUNDS; ++round) {
        while (!team_ready(team, STRANGER)) {
            side_progress(&side);
        }
        team_get(team, STRANGER, &done, sizeof(done));
        EXPECT_INT(server.count, ==, 0);
        if (round == 0) {
            fds = usage_fds();
        }
    }
    side_wait_fds(&side, fds);

    server_next(&server);
    ep = server_accept(&server, &side);
    EXPECT_INT(side_recv_wait(&side, data, SMALL, 1, ALL), ==, SMALL);
    data_verify(data, SMALL, 1);
    EXPECT_OK(side_close_ep(ep, 0));
    server_close(&server);
    side_close(&side);
}

static void be_stranger(struct team *team)
{
    struct sockaddr_storage address = server_learn(team, SERVER);
    struct random random            = {1};
    char data[SMALL], done = 1;
    struct side_ep *ep;
    struct side side;

    for (int round = 0; round < ROUNDS; ++round) {
        insult(&address, &random);
        team_put(team, SERVER, &done, sizeof(done));
    }
    side_open(&side, UCP_FEATURE_TAG);
    ep = server_connect(&side, &address, 0);
    data_fill(data, SMALL, 1);
    side_send_wait(ep, data, SMALL, 1);
    EXPECT_OK(side_close_ep(ep, 0));
    side_close(&side);
}

static void member(struct team *team, void *arg)
{
    if (team->rank == SERVER) {
        be_server(team, arg);
    } else {
        be_stranger(team);
    }
}

int main(int argc, char **argv)
{
    struct team team = {.limit = 15};

    if (argc != 2) {
        fprintf(stderr, "usage: strangers HOST\n");
        return 2;
    }
    return team_run(&team, 2, member, argv[1]);
}
