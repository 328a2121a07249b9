/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What connections of iWARP devices need beside rc_join.h. The functions do
 * nothing for other devices.
 *
 * rc_order.c: software iWARP of Linux (siw) reports a send or a write while an
 * earlier read is outstanding, and reports no request that was posted when the
 * connection was lost already. It stops sending when a request has to wait for
 * reads (a fence, or more reads than agreed), also the data that the peer reads,
 * for which the peer may wait the same way. So requests wait here instead.
 *
 * Short data: siw copies data of up to 32 bytes from the user's addresses if it
 * believes that the process is in a system call. It keeps that in a bit that
 * its threads change without a lock. If it is wrong, a thread of the kernel
 * copies from the addresses of another process, or the connection fails.
 * Therefore short sends and writes are inline, and there are no short reads.
 *
 * rc_nudge.c: siw accepts a connection in two steps, a reply to the peer, and a
 * change of the socket's handlers. It does not process data that arrives between
 * them until more data arrives. The side that has connected therefore repeats an
 * RDMA write of 0 bytes until the peer's device has answered its first read.
 *
 * rc_linger.c: a flush reads from the peer, so that the side that closes first
 * waits for the other:
 *
 *   destroyed    -> all requests have completed -> RC_AM_BYE sent
 *                -> RC_AM_BYE received, connection lost, or UCX_RC_LINGER_TIMEOUT
 *                -> queue pair destroyed
 */
#ifndef IB_RC_IWARP_H
#define IB_RC_IWARP_H

#include "rc.h"

enum {
    RC_IWARP_VENDOR   = 0x626d74, /* ibv_device_attr.vendor_id of siw */
    RC_IWARP_MIN_READ = 33,       /* Bytes of the shortest read over siw */
};

/* Sends the data with the request, if it is short. */
static inline void rc_iwarp_prepare(const rc_iface_t *iface,
                                    struct ibv_send_wr *wr)
{
    if ((wr->num_sge == 1) && (wr->opcode != IBV_WR_RDMA_READ) &&
        (wr->sg_list->length <= iface->max_inline)) {
        wr->send_flags |= IBV_SEND_INLINE;
    }
}

/* Called when the endpoint has sent RC_AM_HELLO. */
void rc_nudge_begin(rc_iface_t *iface, rc_ep_t *ep);
/* Called in progress when the timer has expired, and at any other time. */
void rc_nudge_run(rc_iface_t *iface);

ucs_status_t rc_order_open(const rc_iface_t *iface, rc_ep_t *ep);
void rc_order_close(rc_ep_t *ep);
/* Called when request ep->sn was posted. */
void rc_order_posted(const rc_iface_t *iface, rc_ep_t *ep,
                     enum ibv_wr_opcode opcode);
/* Later requests wait for the reads that are outstanding. */
void rc_order_fence(rc_ep_t *ep);
/* Called for each completion: completes the requests before which all others
 * have completed. */
void rc_order_done(rc_ep_t *ep, uint16_t sn, ucs_status_t status);
/* Called when the endpoint has failed: its requests end in bounded time. */
void rc_order_await(rc_ep_t *ep);

/* Called when all requests of a destroyed endpoint have completed. Returns
 * whether the endpoint must stay. */
int rc_linger(rc_ep_t *ep);
/* Returns whether nobody waits for the endpoint's requests, so that a flush that
 * cancels them need not end the connection. The peer may still read from it: its
 * last message makes UCP cancel the endpoint that has received it, while the
 * peer's flush of that message is under way. */
int rc_linger_is_quiet(const rc_ep_t *ep);
/* Called when the peer's RC_AM_BYE has arrived. */
void rc_linger_bye(rc_iface_t *iface, uint32_t qpn);
/* Called when the connection is lost. */
void rc_linger_disconnected(rc_ep_t *ep);
/* Waits until no destroyed endpoint lingers. Received messages are dropped. */
void rc_linger_all(rc_iface_t *iface);

/* Ends what an endpoint with RC_EP_LINGERS or RC_EP_FLUSHING waits for, if that
 * has happened or the time is over. Returns 1 if the user's completions were
 * called. */
int rc_iwarp_wait(rc_ep_t *ep);

#endif
