/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helpers for messages that are sent in several eager fragments
 * (ucp/tag/multi.h): a worker with an endpoint to itself that UCP treats like
 * one to another process, and fragments that are delivered to the worker as if
 * a peer had sent them.
 */
#ifndef TESTS_UCP_MULTI_FRAGMENTS_H
#define TESTS_UCP_MULTI_FRAGMENTS_H

#include "am.h"

#include "ucp/am/am.h"
#include "ucp/proto/ep.h"
#include "ucp/tag/multi.h"
#include "ucp/wireup/introduce.h"

#include <ucx/am.h>

enum {
    ID    = 5,
    TAG   = 7,
    TOTAL = 3000,
    PART  = 1000,
};

static char source[1 << 20], target[1 << 20];

static const ucp_request_param_t force = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
    .flags        = UCP_EP_CLOSE_FLAG_FORCE,
};

static inline void open_with(local_t *local, const char *rndv_thresh)
{
    setenv("UCX_RNDV_THRESH", rndv_thresh, 1);
    local_open_mode(local, UCP_FEATURE_TAG | UCP_FEATURE_AM,
                    UCS_THREAD_MODE_SINGLE);
    unsetenv("UCX_RNDV_THRESH");
    local_play_peer(local);
    am_fill(source, sizeof(source), 2);
    memset(target, 0, sizeof(target));
}

/* ---------------------------------------------------- injected fragments -- */

/* Delivers a fragment as if a peer had sent it. The fragment is in memory of
 * exactly its size, so that sanitizers detect reads beyond its end. */
static inline void say(local_t *local, const void *data, size_t length)
{
    void *exact = malloc(length);

    memcpy(exact, data, length);
    ck_assert_int_eq(ucx_iface_deliver_am(local->worker->ifaces[0].iface,
                                          UCP_AM_ID_EAGER_FRAGMENT, exact,
                                          (unsigned)length, 0),
                     UCS_OK);
    free(exact);
}

static inline ucp_multi_fragment_t
fragment_of(local_t *local, uint8_t kind, uint32_t message, uint64_t position)
{
    return (ucp_multi_fragment_t){
        .sender   = ucp_ep_wire_end(local->ep),
        .message  = ucp_le32(message),
        .kind     = kind,
        .position = ucp_le64(position),
    };
}

static inline void say_first(local_t *local, uint32_t message, uint64_t total,
                             size_t length, uint32_t request)
{
    struct {
        ucp_multi_fragment_t fragment;
        ucp_tag_multi_first_t first;
        char payload[8192];
    } said = {
        .fragment = fragment_of(local, UCP_MULTI_FIRST_TAG, message, total),
        .first    = {ucp_le64(TAG), ucp_le32(request)},
    };

    memcpy(said.payload, source, length);
    say(local, &said, offsetof(typeof(said), payload) + length);
}

static inline void say_next(local_t *local, uint32_t message, uint64_t offset,
                            size_t length)
{
    struct {
        ucp_multi_fragment_t fragment;
        char payload[8192];
    } said = {
        .fragment = fragment_of(local, UCP_MULTI_NEXT, message, offset),
    };

    memcpy(said.payload,
           source + offset % (sizeof(source) - sizeof(said.payload)), length);
    say(local, &said, offsetof(typeof(said), payload) + length);
}

static inline void say_rest(local_t *local, uint32_t message, size_t from)
{
    for (; from < TOTAL; from += PART) {
        say_next(local, message, from, PART);
    }
}

/* Opens a worker with an endpoint that has introduced itself
 * (ucp/wireup/introduce.h): the worker knows the sender of the endpoint's
 * messages and can create the reply endpoint. */
static inline void open_introduced(local_t *local)
{
    open_with(local, "auto");
    ck_assert_int_eq(ucp_wireup_introduce(local->ep), UCS_OK);
    am_settle(local);
}

static inline ucp_ep_h reply_ep(local_t *local)
{
    ucp_wire_end_t end = ucp_ep_wire_end(local->ep);

    return ucp_wireup_reply_ep(local->worker, &end);
}

/* Checks that no message is stored or partly received, and that the worker
 * still receives. Closes everything. */
static inline void close_clean(local_t *local)
{
    ucp_tag_recv_info_t info;
    ucs_status_ptr_t send;

    if (reply_ep(local) != NULL) {
        ck_assert_ptr_null(ucp_ep_multi(reply_ep(local))->arriving);
        ck_assert_uint_eq(ucp_ep_multi(reply_ep(local))->num_arriving, 0);
    }
    ck_assert_ptr_null(ucp_tag_probe_nb(local->worker, 0, 0, 0, &info));
    memset(target, 0, TOTAL);
    send = local_send(local, source, 8, TAG);
    local_await(local, TAG);
    ck_assert_int_eq(local_wait(local, local_recv(local, target, TOTAL, TAG)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(local, send), UCS_OK);
    am_check(target, 8, 2);
    local_close(local);
}

#endif
