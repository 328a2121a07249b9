/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_tag_probe_nb() finds exactly the messages that tag and mask match, in the
 * order of sending, and leaves or removes them as requested. A removed message
 * can only be received by its handle. Truncation and cancellation are reported
 * and do not affect other messages.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE = 3 * 1024 * 1024 };

static const ucp_tag_t ALL  = ~(ucp_tag_t)0;
static const size_t sizes[] = {0, 1, 8, 1000, 9000, 70000, LARGE};

enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    char *buffer;
};

static void agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->side);
}

static ucs_status_t receive_handle(struct talk *talk, ucp_tag_message_h handle,
                                   size_t room)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    ucs_status_ptr_t request;
    ucs_status_t status;

    request = ucp_tag_msg_recv_nbx(talk->side.worker, talk->buffer, room,
                                   handle, &param);
    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        side_progress(&talk->side);
    }
    ucp_request_free(request);
    return status;
}

static ucp_tag_message_h probe(struct talk *talk, ucp_tag_t tag, ucp_tag_t mask,
                               bool take, ucp_tag_recv_info_t *info)
{
    return ucp_tag_probe_nb(talk->side.worker, tag, mask, take, info);
}

/* The sender's part of a step: one message of each size, with the tags base,
 * base + 1 and so on. `agreements` selects when it synchronizes with the
 * receiver: before the sends, after starting them, or after their
 * completion. */
enum { AGREE_BEFORE = 1, AGREE_STARTED = 2, AGREE_AFTER = 4 };

static void send_all(struct talk *talk, ucp_tag_t base, unsigned agreements)
{
    struct side_op ops[SIZES];
    char *buffers[SIZES];
    int i;

    if (agreements & AGREE_BEFORE) {
        agree(talk);
    }
    for (i = 0; i < SIZES; ++i) {
        buffers[i] = malloc(sizes[i] + 1);
        EXPECT(buffers[i] != NULL);
        data_fill(buffers[i], sizes[i], base + i);
        side_send(talk->ep, &ops[i], buffers[i], sizes[i], base + i);
    }
    if (agreements & AGREE_STARTED) {
        agree(talk);
    }
    for (i = 0; i < SIZES; ++i) {
        side_complete(&talk->side, &ops[i], "send");
        free(buffers[i]);
    }
    if (agreements & AGREE_AFTER) {
        agree(talk);
    }
}

static void finds_and_leaves(struct talk *talk)
{
    ucp_tag_recv_info_t info, again;
    int i;

    for (i = 0; i < SIZES; ++i) {
        side_probe_wait(&talk->side, 0x100 + i, ALL, false, &info);
        EXPECT_INT(info.length, ==, sizes[i]);
        EXPECT_INT(info.sender_tag, ==, 0x100 + i);
        EXPECT(probe(talk, 0x100 + i, ALL, false, &again) != NULL);
        EXPECT_INT(again.length, ==, sizes[i]);
    }
    EXPECT(probe(talk, 0x200, ALL, false, &info) == NULL);
    EXPECT(probe(talk, 0x200, ~(ucp_tag_t)0xff, true, &info) == NULL);
    /* The first message that matches the mask is the first that was sent. */
    EXPECT(probe(talk, 0x1ff, ~(ucp_tag_t)0xff, false, &info) != NULL);
    EXPECT_INT(info.sender_tag, ==, 0x100);
    for (i = 0; i < SIZES; ++i) {
        EXPECT_INT(side_recv_wait(&talk->side, talk->buffer, LARGE, 0x100 + i,
                                  ALL),
                   ==, sizes[i]);
        data_verify(talk->buffer, sizes[i], 0x100 + i);
        EXPECT(probe(talk, 0x100 + i, ALL, false, &info) == NULL);
    }
    agree(talk);
}

static void takes(struct talk *talk)
{
    ucp_tag_message_h handles[SIZES];
    ucp_tag_recv_info_t info;
    struct side_op op;
    int i;

    for (i = 0; i < SIZES; ++i) {
        handles[i] = side_probe_wait(&talk->side, 0x300, ~(ucp_tag_t)0xff, true,
                                     &info);
        EXPECT_INT(info.sender_tag, ==, 0x300 + i);
        EXPECT_INT(info.length, ==, sizes[i]);
    }
    /* No probe or receive finds the removed messages. */
    EXPECT(probe(talk, 0, 0, false, &info) == NULL);
    side_recv(&talk->side, &op, talk->buffer, LARGE, 0, 0);
    side_linger(&talk->side, 0.02);
    EXPECT(!op.done);
    ucp_request_cancel(talk->side.worker, op.request);
    side_finish(&talk->side, &op, 5, "cancelled receive");
    EXPECT_STATUS(op.status, UCS_ERR_CANCELED);
    for (i = SIZES - 1; i >= 0; --i) {
        memset(talk->buffer, 0, sizes[i]);
        EXPECT_OK(receive_handle(talk, handles[i], sizes[i]));
        data_verify(talk->buffer, sizes[i], 0x300 + i);
    }
    agree(talk);
}

/* A buffer that is too small causes an error of that receive only, whether the
 * receive is posted before the message arrives or after. */
static void truncates(struct talk *talk, bool posted)
{
    struct side_op ops[SIZES];
    int i;

    if (!posted) {
        agree(talk);
    }
    memset(talk->buffer, 0, LARGE);
    for (i = 0; i < SIZES; ++i) {
        side_recv(&talk->side, &ops[i], talk->buffer, sizes[i] / 2, 0x400 + i,
                  ALL);
    }
    if (posted) {
        agree(talk);
    }
    for (i = 0; i < SIZES; ++i) {
        side_finish(&talk->side, &ops[i], 10, "truncated receive");
        EXPECT_STATUS(ops[i].status,
                      (sizes[i] == 0) ? UCS_OK : UCS_ERR_MESSAGE_TRUNCATED);
    }
    /* The endpoint still carries complete messages. */
    for (i = 0; i < SIZES; ++i) {
        side_recv_wait(&talk->side, talk->buffer, LARGE, 0x500 + i, ALL);
        data_verify(talk->buffer, sizes[i], 0x500 + i);
    }
    agree(talk);
}

static void receiver(struct talk *talk)
{
    finds_and_leaves(talk);
    takes(talk);
    truncates(talk, true);
    truncates(talk, false);
}

static void sender(struct talk *talk)
{
    send_all(talk, 0x100, AGREE_AFTER);
    send_all(talk, 0x300, AGREE_AFTER);
    send_all(talk, 0x400, AGREE_BEFORE);
    send_all(talk, 0x500, AGREE_AFTER);
    send_all(talk, 0x400, AGREE_STARTED);
    send_all(talk, 0x500, AGREE_AFTER);
}

static void member(struct team *team, void *arg)
{
    struct talk talk = {.team = team, .buffer = malloc(LARGE)};

    (void)arg;
    EXPECT(talk.buffer != NULL);
    side_open(&talk.side, UCP_FEATURE_TAG);
    talk.ep = side_meet(&talk.side, team, 1 - team->rank);
    if (team->rank == 0) {
        sender(&talk);
    } else {
        receiver(&talk);
    }
    EXPECT_OK(side_close_ep(talk.ep, 0));
    agree(&talk);
    side_close(&talk.side);
    free(talk.buffer);
}

int main(void)
{
    struct team team = {.limit = 60};

    return team_run(&team, 2, member, NULL);
}
