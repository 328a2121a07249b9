/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes a loopback interface so that it emulates a transport whose endpoints
 * connect to endpoints (CONNECT_TO_EP). Two connected endpoints are a pair;
 * each is a `half`. The emulation checks UCP: for example, a send before
 * both halves are connected fails the test. The including file defines
 * FAKE_PAIRS_CHECK(condition, what), which fails the test with the message
 * `what` unless the condition holds.
 */
#ifndef TESTS_UCP_FAKE_PAIRS_H
#define TESTS_UCP_FAKE_PAIRS_H

#include <stdlib.h>
#include <string.h>

#include "ucp/proto/ep.h"
#include "ucp/wireup/handshake.h"
#include "uct/base/state.h"

typedef struct half {
    uct_ep_t super;
    uint64_t id; /* Endpoint address of this half */
    /* Id of the half that this one is connected to; 0: not connected */
    uint64_t peer;
    /* Loopback endpoint that sends the messages of this half; NULL until the
     * half is connected */
    uct_ep_h real;
    struct half *next;
} half_t;

static struct {
    ucx_iface_ops_t iface_ops, usual_iface_ops;
    ucx_ep_ops_t ep_ops;
    half_t *halves;
    /* Numbers of calls: creations of endpoints, connects, sends (also of
     * puts), puts */
    unsigned created, connects, messages, puts;
    /* Number of the creation that fails, from 1; 0: none */
    unsigned fail_create;
    /* Number of the connect that fails, from 1; 0: none */
    unsigned fail_connect;
    /* The test invents endpoint addresses: do not check that the peer is
     * connected to this half */
    int foreign;
} pairs;

static inline half_t *half_of(uct_ep_h ep)
{
    return (half_t *)ep;
}

static half_t *half_by_id(uint64_t id)
{
    half_t *half = pairs.halves;

    while ((half != NULL) && (half->id != id)) {
        half = half->next;
    }
    return half;
}

static uct_ep_h sending(uct_ep_h ep)
{
    half_t *peer = half_by_id(half_of(ep)->peer);

    FAKE_PAIRS_CHECK(half_of(ep)->real != NULL, "a send before the connection");
    FAKE_PAIRS_CHECK(pairs.foreign || (peer == NULL) ||
                         (peer->peer == half_of(ep)->id),
                     "a send before the peer is connected");
    ++pairs.messages;
    return half_of(ep)->real;
}

static ucs_status_t half_am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                                  const void *payload, unsigned length)
{
    uct_ep_h real = sending(ep);

    return real->ops->am_short(real, id, header, payload, length);
}

static ssize_t half_am_bcopy(uct_ep_h ep, uint8_t id,
                             uct_pack_callback_t pack_cb, void *arg,
                             unsigned flags)
{
    uct_ep_h real = sending(ep);

    return real->ops->am_bcopy(real, id, pack_cb, arg, flags);
}

static ucs_status_t half_put_short(uct_ep_h ep, const void *buffer,
                                   unsigned length, uint64_t remote_addr,
                                   uct_rkey_t rkey)
{
    uct_ep_h real = sending(ep);

    ++pairs.puts;
    return real->ops->put_short(real, buffer, length, remote_addr, rkey);
}

static ucs_status_t half_flush(uct_ep_h ep, unsigned flags,
                               uct_completion_t *comp)
{
    return UCS_OK;
}

static ucs_status_t half_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                     unsigned flags)
{
    uct_ep_h real = half_of(ep)->real;

    FAKE_PAIRS_CHECK(real != NULL, "waiting before the connection");
    return real->ops->pending_add(real, req, flags);
}

static void half_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                               void *arg)
{
    uct_ep_h real = half_of(ep)->real;

    if (real != NULL) {
        real->ops->pending_purge(real, cb, arg);
    }
}

static void half_destroy(uct_ep_h ep)
{
    half_t **link = &pairs.halves;

    while (*link != half_of(ep)) {
        link = &(*link)->next;
    }
    *link = half_of(ep)->next;
    if (half_of(ep)->real != NULL) {
        uct_ep_destroy(half_of(ep)->real);
    }
    free(ep);
}

static ucs_status_t half_get_address(uct_ep_h ep, uct_ep_addr_t *addr)
{
    memcpy(addr, &half_of(ep)->id, sizeof(uint64_t));
    return UCS_OK;
}

static ucs_status_t half_connect(uct_ep_h ep, const uct_device_addr_t *dev_addr,
                                 size_t dev_addr_length,
                                 const uct_ep_addr_t *ep_addr,
                                 size_t ep_addr_length)
{
    uint64_t self;
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_IFACE_ADDR |
                      UCT_EP_PARAM_FIELD_DEV_ADDR,
        .iface      = ep->iface,
        .iface_addr = (uct_iface_addr_t *)&self,
        .dev_addr   = (uct_device_addr_t *)&self,
    };
    half_t *half = half_of(ep);

    FAKE_PAIRS_CHECK(half->real == NULL, "connected twice");
    if ((++pairs.connects == pairs.fail_connect) ||
        (ep_addr_length != sizeof(half->peer))) {
        return UCS_ERR_INVALID_ADDR;
    }
    memcpy(&half->peer, ep_addr, sizeof(half->peer));
    pairs.usual_iface_ops.get_address(ep->iface, (uct_iface_addr_t *)&self);
    return pairs.usual_iface_ops.ep_create(ep->iface, &params, &half->real);
}

static int half_is_reachable(uct_iface_h iface,
                             const ucx_reachable_args_t *args)
{
    /* The emulated transport has no interface address. Entries of a worker
     * address that have one belong to the first interface. */
    return args->iface_addr_length == 0;
}

static ucs_status_t half_create(uct_iface_h iface,
                                const uct_ep_params_t *params, uct_ep_h *ep_p)
{
    half_t *half;

    FAKE_PAIRS_CHECK(!(params->field_mask & UCT_EP_PARAM_FIELD_IFACE_ADDR),
                     "created with an address");
    if (++pairs.created == pairs.fail_create) {
        return UCS_ERR_NO_RESOURCE;
    }
    half = calloc(1, sizeof(*half));
    FAKE_PAIRS_CHECK(half != NULL, "out of memory");
    ucx_ep_init(&half->super, iface);
    half->super.ops = &pairs.ep_ops;
    half->id        = 1000 + pairs.created;
    half->next      = pairs.halves;
    pairs.halves    = half;
    *ep_p           = &half->super;
    return UCS_OK;
}

/* Resets `pairs` and sets the operations of the emulated transport, which are
 * based on those of `iface`. */
static void fill_tables(uct_iface_h iface)
{
    memset(&pairs, 0, sizeof(pairs));
    pairs.usual_iface_ops        = *iface->ops;
    pairs.iface_ops              = pairs.usual_iface_ops;
    pairs.iface_ops.ep_create    = half_create;
    pairs.iface_ops.is_reachable = half_is_reachable;
    pairs.ep_ops                 = *iface->ep_ops;
    pairs.ep_ops.am_short        = half_am_short;
    pairs.ep_ops.am_bcopy        = half_am_bcopy;
    pairs.ep_ops.put_short       = half_put_short;
    pairs.ep_ops.flush           = half_flush;
    pairs.ep_ops.pending_add     = half_pending_add;
    pairs.ep_ops.pending_purge   = half_pending_purge;
    pairs.ep_ops.destroy         = half_destroy;
    pairs.ep_ops.get_address     = half_get_address;
    pairs.ep_ops.connect_to_ep   = half_connect;
}

/* Makes the worker's second interface the emulated transport. It supports
 * put_short and, with `messages`, messages, for which UCP then prefers it to
 * the first interface. */
static void play_pairs(ucp_worker_h worker, int messages)
{
    ucp_worker_iface_t *wiface = &worker->ifaces[1];
    uct_iface_attr_t *attr     = &uct_iface_state(wiface->iface)->attr.base;

    fill_tables(wiface->iface);
    wiface->iface->ops = &pairs.iface_ops;
    attr->cap.flags &= ~(UCT_IFACE_FLAG_CONNECT_TO_IFACE |
                         UCT_IFACE_FLAG_AM_ZCOPY | UCT_IFACE_FLAG_PUT_ZCOPY |
                         UCT_IFACE_FLAG_PUT_BCOPY | UCT_IFACE_FLAG_GET_SHORT |
                         UCT_IFACE_FLAG_GET_BCOPY | UCT_IFACE_FLAG_GET_ZCOPY);
    attr->cap.flags |= UCT_IFACE_FLAG_CONNECT_TO_EP;
    attr->ep_addr_len    = sizeof(uint64_t);
    attr->cap.am.max_iov = 0;
    attr->overhead       = 0;
    if (!messages) {
        attr->cap.flags &= ~(UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY);
    }
    memset(&attr->cap.atomic32, 0, sizeof(attr->cap.atomic32));
    memset(&attr->cap.atomic64, 0, sizeof(attr->cap.atomic64));
    ucp_lane_config_fill(wiface);
    wiface->lane.put.cost_short.latency = 0;
}

/* Removes put, get and atomics from the first interface, so that UCP selects
 * the two interfaces for different lanes. `aux_bcopy`: the longest buffered
 * message of the first interface; 0: unchanged. */
static void play_aux(ucp_worker_h worker, size_t aux_bcopy)
{
    ucp_worker_iface_t *wiface = &worker->ifaces[0];
    uct_iface_attr_t *attr     = &uct_iface_state(wiface->iface)->attr.base;

    memset(&wiface->lane.put, 0, sizeof(wiface->lane.put));
    memset(&wiface->lane.get, 0, sizeof(wiface->lane.get));
    memset(&wiface->lane.amo, 0, sizeof(wiface->lane.amo));
    if (aux_bcopy > 0) {
        attr->cap.am.max_bcopy    = aux_bcopy;
        wiface->lane.am.max_bcopy = aux_bcopy;
    }
}

#endif
