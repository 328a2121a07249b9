/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream: a connection ends while stream data is in transfer, or before the
 * peer has sent any. Data sent before a normal close arrives, and then the
 * close is reported. After a forced close or the death of the peer, outstanding
 * operations end within a time limit.
 */
#include "common/data.h"
#include "common/side.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 3 << 20, POSTED = 3, TAG = 7, TAG_ESTABLISH = 8 };

enum way { FLUSHED, FORCED, KILLED, UNUSED, WAYS };

static const char *const way_names[WAYS] = {
    "closed",
    "closed by force",
    "killed",
    "closed without having sent",
};

static void on_received(void *request, ucs_status_t status, size_t length,
                        void *arg)
{
    struct side_op *op = arg;

    op->done        = true;
    op->status      = status;
    op->info.length = length;
    ucp_request_free(request);
}

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    struct side_op *op = arg;

    op->done   = true;
    op->status = status;
    ucp_request_free(request);
}

static void post(struct side_ep *ep, struct side_op *op, void *buffer,
                 size_t size, unsigned flags)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
        .cb.recv_stream = on_received,
        .user_data      = op,
        .flags          = flags,
    };
    ucs_status_ptr_t ret;

    *op = (struct side_op){.done = false};
    ret = ucp_stream_recv_nbx(ep->ep, buffer, size, &op->info.length, &param);
    if (!UCS_PTR_IS_PTR(ret)) {
        op->done   = true;
        op->status = UCS_PTR_STATUS(ret);
    }
}

/* The closing side: sends large data (UNUSED: none), and closes or dies without
 * waiting for its completion. */
static void leave(struct team *team, struct side *side, struct side_ep *ep,
                  enum way way)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = on_sent,
    };
    struct side_op op = {.done = false};
    char *bytes       = malloc(SIZE);
    ucs_status_ptr_t ret;

    EXPECT(bytes != NULL);
    param.user_data = &op;
    if (way != UNUSED) {
        data_fill(bytes, SIZE, way);
        ret = ucp_stream_send_nbx(ep->ep, bytes, SIZE, &param);
        if (!UCS_PTR_IS_PTR(ret)) {
            op.done   = true;
            op.status = UCS_PTR_STATUS(ret);
        }
    } else {
        /* The peer sends this message after it has opened the stream: so the
         * opening has arrived, too. */
        side_recv(side, &op, bytes, 1, TAG, ~0ul);
        side_finish(side, &op, 10, "a message behind the opening");
        EXPECT_OK(op.status);
    }
    if (way == KILLED) {
        side_linger(side, 0.002);
        kill(getpid(), SIGKILL);
    }
    EXPECT_OK(side_close_ep(ep, (way == FORCED) ? UCP_EP_CLOSE_FLAG_FORCE : 0));
    side_finish(side, &op, 10, "a send on a closed endpoint");
    if (way != FORCED) {
        EXPECT_OK(op.status);
    }
    free(bytes);
}

/* The remaining side: one receive for all data, and some for data that never
 * arrives. All of them end. Later receives fail after they have returned the
 * data that has arrived. */
static void stay(struct side *side, struct side_ep *ep, enum way way)
{
    struct side_op whole, behind, never[POSTED];
    char *bytes = malloc(SIZE), more[POSTED];
    size_t length;
    int i;

    EXPECT(bytes != NULL);
    post(ep, &whole, bytes, SIZE, UCP_STREAM_RECV_FLAG_WAITALL);
    for (i = 0; i < POSTED; ++i) {
        post(ep, &never[i], &more[i], 1, 0);
    }
    if (way == UNUSED) {
        side_send(ep, &behind, "", 1, TAG);
        side_complete(side, &behind, "a message behind the opening");
    }
    side_finish(side, &whole, 15, "a receive whose peer goes");
    if (way == FLUSHED) {
        EXPECT_OK(whole.status);
        EXPECT_INT(whole.info.length, ==, SIZE);
    }
    if (whole.status == UCS_OK) {
        data_verify(bytes, SIZE, way);
    }
    for (i = 0; i < POSTED; ++i) {
        side_finish(side, &never[i], 15, "a receive from nobody");
        EXPECT(never[i].status != UCS_OK);
    }

    /* Data that has arrived can still be received. Then the receives fail. */
    length = 0;
    while (length < SIZE) {
        post(ep, &whole, bytes + length, SIZE - length, 0);
        side_finish(side, &whole, 1, "a receive after the end");
        if (whole.status != UCS_OK) {
            break;
        }
        EXPECT(way != FLUSHED);
        length += whole.info.length;
    }
    EXPECT(whole.status != UCS_OK);
    printf("%s: %s, %zu bytes were left\n", way_names[way],
           ucs_status_string(whole.status), length);
    side_close_ep(ep, UCP_EP_CLOSE_FLAG_FORCE);
    free(bytes);
}

/* Waits until the lanes of the endpoint are connected, which a message shows
 * when it arrives. Otherwise a peer that is killed soon might not have sent any
 * data. */
static void establish(struct team *team, struct side *side, struct side_ep *ep)
{
    char data = 1;

    if (team->rank == 1) {
        side_send_wait(ep, &data, sizeof(data), TAG_ESTABLISH);
    } else {
        EXPECT_INT(side_recv_wait(side, &data, sizeof(data), TAG_ESTABLISH,
                                  ~0ul),
                   ==, sizeof(data));
    }
    EXPECT_OK(side_flush_worker(side));
    team_barrier(team, side_progress, side);
}

static void member(struct team *team, void *arg)
{
    enum way way = *(enum way *)arg;
    struct side_ep *ep;
    struct side side;
    char word = 0;

    side_open(&side, UCP_FEATURE_STREAM | UCP_FEATURE_TAG);
    ep = side_meet(&side, team, 1 - team->rank);
    /* a second endpoint to the peer: the library reports the close over this
     * endpoint if the send queue of `ep` is full */
    EXPECT(side_meet(&side, team, 1 - team->rank) != NULL);
    establish(team, &side, ep);
    if (team->rank == 1) {
        leave(team, &side, ep, way);
        team_put(team, 0, &word, 1);
        team_get_progressing(team, 0, &word, 1, side_progress, &side);
    } else {
        stay(&side, ep, way);
        if (way != KILLED) {
            /* this process still calls progress until the peer's flush is
             * complete */
            team_get_progressing(team, 1, &word, 1, side_progress, &side);
            team_put(team, 1, &word, 1);
        }
    }
    side_close(&side);
}

int main(void)
{
    int status = 0;
    enum way way;

    for (way = 0; (way < WAYS) && (status == 0); ++way) {
        struct team team = {.limit = 40, .may_die = {[1] = (way == KILLED)}};

        status = team_run(&team, 2, member, &way);
        if (status != 0) {
            fprintf(stderr, "way: %s\n", way_names[way]);
        }
    }
    return status;
}
