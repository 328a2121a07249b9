/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tag offload (ucp/tag/offload.h): functions that record what UCP posts and
 * cancels emulate an interface that matches tags; the test reports matches as a
 * transport does. Messages of the worker to itself arrive by another interface:
 * UCP matches them. Also messages of a peer that violates the protocol.
 * tests/integration/tag_order.c tests two processes.
 */
#include "local.h"

#include "ucp/proto/ep.h"
#include "ucp/tag/offload.h"
#include "ucp/tag/rndv.h"

enum { TAG = 7, SIZE = 64, MAX = 4 };

static struct {
    uct_tag_context_t *posted[MAX];
    void *buffers[MAX];
    unsigned num_posted, num_cancelled;
    ucs_status_t refusal; /* If not UCS_OK: the result of a post */
} iface;

static local_t local;
static ucp_tag_offload_t *offload;
static char buffers[MAX][SIZE];

static ucs_status_t fake_recv(uct_iface_h self, uct_tag_t tag, uct_tag_t mask,
                              const uct_iov_t *iov, size_t iovcnt,
                              uct_tag_context_t *ctx)
{
    if (iface.refusal != UCS_OK) {
        return iface.refusal;
    }
    ck_assert_uint_eq(iovcnt, 1);
    ck_assert_uint_lt(iface.num_posted, MAX);
    iface.buffers[iface.num_posted]  = iov->buffer;
    iface.posted[iface.num_posted++] = ctx;
    return UCS_OK;
}

static ucs_status_t fake_cancel(uct_iface_h self, uct_tag_context_t *ctx,
                                int force)
{
    ck_assert_int_eq(force, 1);
    ++iface.num_cancelled;
    return UCS_OK;
}

static const ucx_iface_ops_t fake_ops = {
    .tag_recv_zcopy  = fake_recv,
    .tag_recv_cancel = fake_cancel,
};
static struct uct_iface fake = {.ops = &fake_ops};

static void open_used(void)
{
    memset(&iface, 0, sizeof(iface));
    local_open_mode(&local, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    offload = calloc(1, sizeof(*offload)); /* the worker frees it */
    ck_assert_ptr_nonnull(offload);
    offload->worker  = local.worker;
    offload->iface   = &fake;
    offload->is_used = 1;
    ucs_list_head_init(&offload->posted);
    ucp_worker_tag(local.worker)->offload = offload;
}

static void *post(unsigned i, ucp_tag_t tag, ucp_tag_t mask)
{
    const ucp_request_param_t none = {0};
    void *request = ucp_tag_recv_nbx(local.worker, buffers[i], SIZE, tag, mask,
                                     &none);

    ck_assert(UCS_PTR_IS_PTR(request));
    return request;
}

static void *recv_as_vector(unsigned i, ucp_tag_t tag, ucp_dt_iov_t *vector)
{
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_iov(),
    };

    *vector = (ucp_dt_iov_t){.buffer = buffers[i], .length = SIZE};
    return ucp_tag_recv_nbx(local.worker, vector, 1, tag, UINT64_MAX, &param);
}

static void send_self(ucp_tag_t tag, const char *text)
{
    const ucp_request_param_t none = {0};

    ck_assert_int_eq(local_wait(&local,
                                ucp_tag_send_nbx(local.ep, text,
                                                 strlen(text) + 1, tag, &none)),
                     UCS_OK);
}

/* The interface has matched a receive with a message. */
static void match(unsigned i, const char *text)
{
    uct_tag_context_t *ctx = iface.posted[i];

    ctx->tag_consumed_cb(ctx);
    ctx->completed_cb(ctx, TAG, 0, strlen(text) + 1, (void *)text, UCS_OK);
}

static void expect_received(void *request, unsigned i, const char *text)
{
    ck_assert_int_eq(local_wait(&local, request), UCS_OK);
    ck_assert_str_eq(buffers[i], text);
}

START_TEST(message_of_the_interface_completes_a_receive)
{
    void *request;

    open_used();
    request = post(0, TAG, UINT64_MAX);
    ck_assert_uint_eq(iface.num_posted, 1);
    ck_assert_ptr_eq(iface.buffers[0], buffers[0]);
    match(0, "offloaded");
    expect_received(request, 0, "offloaded");
    ck_assert_uint_eq(offload->count, 0);
    ck_assert_uint_eq(iface.num_cancelled, 0);
    local_close(&local);
}
END_TEST

START_TEST(message_of_another_interface_takes_a_posted_receive)
{
    void *exact, *wild;

    open_used();
    exact = post(0, TAG, UINT64_MAX);
    wild  = post(1, 0, 0);
    ck_assert_uint_eq(iface.num_posted, 2);
    send_self(TAG, "one");
    expect_received(exact, 0, "one");
    ck_assert_uint_eq(iface.num_cancelled, 1);
    send_self(TAG, "two");
    expect_received(wild, 1, "two");
    ck_assert_uint_eq(iface.num_cancelled, 2);
    ck_assert_uint_eq(offload->count, 0);
    ck_assert_uint_eq(offload->num_wild, 0);
    local_close(&local);
}
END_TEST

START_TEST(cancelled_receive_is_cancelled_in_the_interface)
{
    void *request;

    open_used();
    request = post(0, TAG, UINT64_MAX);
    ucp_request_cancel(local.worker, request);
    ck_assert_uint_eq(iface.num_cancelled, 1);
    ck_assert_int_eq(local_wait(&local, request), UCS_ERR_CANCELED);
    local_close(&local);
}
END_TEST

START_TEST(worker_ends_with_posted_receives)
{
    open_used();
    ucp_request_free(post(0, TAG, UINT64_MAX));
    ucp_request_free(post(1, 0, 0));
    local_close(&local);
    ck_assert_uint_eq(iface.num_cancelled, 2);
}
END_TEST

/* A receive with an IOV datatype is not offloaded: a later receive of the same
 * tag, or of any tag, must not be matched before it. */
START_TEST(receive_does_not_overtake_one_that_only_ucp_matches)
{
    ucp_dt_iov_t vector;
    void *requests[MAX];

    open_used();
    requests[0] = recv_as_vector(0, TAG, &vector);
    requests[1] = post(1, TAG, UINT64_MAX);
    requests[2] = post(2, 0, 0);
    ck_assert_uint_eq(iface.num_posted, 0);
    send_self(TAG, "one");
    expect_received(requests[0], 0, "one");
    send_self(TAG, "two");
    expect_received(requests[1], 1, "two");
    send_self(TAG, "three");
    expect_received(requests[2], 2, "three");

    requests[0] = recv_as_vector(0, TAG, &vector);
    requests[1] = post(1, TAG + 1, UINT64_MAX);
    ck_assert_uint_eq(iface.num_posted, 1);
    send_self(TAG, "four");
    expect_received(requests[0], 0, "four");
    match(0, "five");
    expect_received(requests[1], 1, "five");
    local_close(&local);
}
END_TEST

START_TEST(receive_that_the_interface_refuses_is_matched_by_ucp)
{
    void *request;

    open_used();
    iface.refusal = UCS_ERR_EXCEEDS_LIMIT;
    request       = post(0, TAG, UINT64_MAX);
    ck_assert_uint_eq(offload->count, 0);
    iface.refusal = UCS_OK;
    send_self(TAG, "message");
    expect_received(request, 0, "message");
    ck_assert_uint_eq(iface.num_cancelled, 0);
    local_close(&local);
}
END_TEST

/* The interface matches a receive with an announcement that is invalid. The
 * receive keeps its place before the later ones, which are cancelled in the
 * interface. */
START_TEST(receive_survives_an_invalid_announcement)
{
    static const char garbage[sizeof(ucp_tag_rts_t)];
    void *requests[MAX];
    unsigned i;

    open_used();
    for (i = 0; i < 3; ++i) {
        requests[i] = post(i, TAG, UINT64_MAX);
    }
    iface.posted[1]->tag_consumed_cb(iface.posted[1]);
    iface.posted[1]->rndv_cb(iface.posted[1], TAG, garbage, sizeof(garbage),
                             UCS_OK, 0);
    ck_assert_uint_eq(iface.num_cancelled, 2);
    ck_assert_uint_eq(offload->count, 0);
    send_self(TAG, "one");
    expect_received(requests[0], 0, "one");
    send_self(TAG, "two");
    expect_received(requests[1], 1, "two");
    send_self(TAG, "three");
    expect_received(requests[2], 2, "three");
    local_close(&local);
}
END_TEST

START_TEST(failure_in_the_interface_completes_a_receive)
{
    void *request;

    open_used();
    request = post(0, TAG, UINT64_MAX);
    iface.posted[0]->completed_cb(iface.posted[0], TAG, 0, 2 * SIZE, NULL,
                                  UCS_ERR_MESSAGE_TRUNCATED);
    ck_assert_int_eq(local_wait(&local, request), UCS_ERR_MESSAGE_TRUNCATED);
    ck_assert_uint_eq(offload->count, 0);
    local_close(&local);
}
END_TEST

static void handle(ucp_tag_offload_msg_t *message, size_t length)
{
    ck_assert_int_eq(ucp_tag_offload_iface_handler(offload, message, length, 0),
                     UCS_OK);
    ck_assert_int_eq(ucp_tag_offload_handler(local.worker, message, length, 0),
                     UCS_OK);
}

/* Messages of the wrong size, of unknown endpoints or of an unknown kind, and
 * answers without a request change nothing. */
START_TEST(invalid_messages_are_dropped)
{
    ucp_tag_offload_msg_t message = {.kind = UCP_TAG_OFFLOAD_ASK};
    void *request;

    open_used();
    message.asker.worker_uuid = ucp_le64(123);
    handle(&message, sizeof(message) - 1);
    handle(&message, 0);
    handle(&message, sizeof(message));
    message.kind = UCP_TAG_OFFLOAD_AGREE;
    handle(&message, sizeof(message));
    message.asker = ucp_ep_wire_end(local.ep);
    handle(&message, sizeof(message));
    message.kind = 77;
    handle(&message, sizeof(message));
    ck_assert_int_eq(local.ep->config->tag_path, UCP_TAG_PATH_AM);
    request = post(0, TAG, UINT64_MAX);
    send_self(TAG, "message");
    expect_received(request, 0, "message");
    local_close(&local);
}
END_TEST

/* Such a transport can be used for put and get. Another one may offload tags. */
START_TEST(interface_without_messages_offloads_nothing)
{
    const uint64_t messages = UCT_IFACE_FLAG_AM_SHORT |
                              UCT_IFACE_FLAG_AM_BCOPY | UCT_IFACE_FLAG_AM_ZCOPY;
    ucp_worker_iface_t *wiface;
    uint64_t *flags, old;

    local_open_mode(&local, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    wiface                     = &local.worker->ifaces[0];
    wiface->lane.tag.max_bcopy = 4096;
    flags  = (uint64_t *)&uct_iface_attr(wiface->iface)->base.cap.flags;
    old    = *flags;
    *flags = old & ~messages;
    ck_assert_int_eq(ucp_tag_offload_iface_opened(wiface), UCS_OK);
    *flags = old;
    ck_assert_ptr_null(ucp_worker_tag(local.worker)->offload);
    ck_assert_uint_eq(wiface->lane.tag.max_bcopy, 0);

    wiface->lane.tag.max_bcopy = 4096;
    ck_assert_int_eq(ucp_tag_offload_iface_opened(wiface), UCS_OK);
    ck_assert_ptr_eq(ucp_worker_tag(local.worker)->offload->iface,
                     wiface->iface);
    local_close(&local);
}
END_TEST

SUITE_MAIN("tag offload", message_of_the_interface_completes_a_receive,
           message_of_another_interface_takes_a_posted_receive,
           cancelled_receive_is_cancelled_in_the_interface,
           worker_ends_with_posted_receives,
           receive_does_not_overtake_one_that_only_ucp_matches,
           receive_that_the_interface_refuses_is_matched_by_ucp,
           receive_survives_an_invalid_announcement,
           failure_in_the_interface_completes_a_receive,
           invalid_messages_are_dropped,
           interface_without_messages_offloads_nothing)
