/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iWARP connections after rc_join.h has established them: the order of
 * completions, short data, the first messages, and the end of a connection. For
 * other devices, the functions are not called or do nothing.
 *
 * rc_order.c: the software iWARP of Linux (siw) reports a send or a write as
 * complete while an earlier read is outstanding, and reports no request that
 * was posted after the connection was lost. While a request has to wait for
 * reads (a fence, or more reads than the two sides have agreed on), siw sends
 * nothing, not even the data that the peer reads. If the peer also waits for
 * its reads, both wait forever. Therefore rc_order.c restores the order of
 * completions, and the plugin does not post a request that would have to wait.
 *
 * Short data: siw copies data of up to 32 bytes from the user's addresses if it
 * believes that the process is in a system call. A bit of siw's queue pair
 * stores this state, and threads of siw change the bit without a lock. If the
 * bit is wrong, a kernel thread copies from the addresses of another process,
 * or the connection fails.
 * Therefore short sends and writes are inline, and a read has at least
 * RC_IWARP_MIN_READ bytes.
 *
 * rc_nudge.c: siw accepts a connection in two steps, a reply to the peer, and a
 * change of the socket's handlers. It does not process data that arrives
 * between the two steps until more data arrives. Therefore the side that has
 * called rdma_connect() repeats an RDMA write of 0 bytes until its first read
 * has completed.
 *
 * rc_linger.c: a flush reads from the peer, so it needs the peer's queue pair.
 * Therefore the endpoint that is destroyed first keeps its connection until the
 * peer's endpoint is destroyed too:
 *
 *   destroyed    -> all requests have completed -> RC_AM_BYE sent
 *                -> RC_AM_BYE received, connection lost, or
 *                   UCX_RC_LINGER_TIMEOUT passed
 *                -> queue pair destroyed
 */
#ifndef IB_RC_IWARP_H
#define IB_RC_IWARP_H

#include "rc.h"

enum {
    RC_IWARP_VENDOR   = 0x626d74, /* ibv_device_attr.vendor_id of siw */
    RC_IWARP_MIN_READ = 33,       /* Bytes of the shortest read over siw */
};

/* Makes a short send or write inline, as "Short data" above explains. */
static inline void rc_iwarp_prepare(const rc_iface_t *iface,
                                    struct ibv_send_wr *wr)
{
    if ((wr->num_sge == 1) && (wr->opcode != IBV_WR_RDMA_READ) &&
        (wr->sg_list->length <= iface->max_inline)) {
        wr->send_flags |= IBV_SEND_INLINE;
    }
}

/* Called when the endpoint has sent RC_AM_HELLO. Starts the timer of
 * rc_nudge_run(). */
void rc_nudge_begin(rc_iface_t *iface, rc_ep_t *ep);
/* Posts the RDMA writes of 0 bytes if the timer has expired. Called in
 * progress. */
void rc_nudge_run(rc_iface_t *iface);

/* Allocates and frees rc_ep_t.finished. */
ucs_status_t rc_order_open(const rc_iface_t *iface, rc_ep_t *ep);
void rc_order_close(rc_ep_t *ep);
/* Called when request ep->sn was posted. Counts reads, and updates RC_EP_UNSEEN
 * and RC_EP_HELD. */
void rc_order_posted(const rc_iface_t *iface, rc_ep_t *ep,
                     enum ibv_wr_opcode opcode);
/* Makes later requests wait for the reads that are outstanding. */
void rc_order_fence(rc_ep_t *ep);
/* Called when the device has reported request `sn` as complete. Completes the
 * oldest requests, up to the first one that the device has not reported yet. */
void rc_order_done(rc_ep_t *ep, uint16_t sn, ucs_status_t status);
/* If the endpoint has failed and requests are outstanding, starts the wait
 * RC_EP_FLUSHING, after which these requests end without the device. */
void rc_order_await(rc_ep_t *ep);

/* Called when all requests of a destroyed endpoint have completed. Returns
 * whether the endpoint must keep its connection for now. */
int rc_linger(rc_ep_t *ep);
/* Returns whether the endpoint has an iWARP connection and none of its
 * outstanding requests has a completion of the user. In this case a flush with
 * UCT_FLUSH_FLAG_CANCEL keeps the connection. UCP cancels an endpoint when the
 * peer's last message arrives. The peer may still flush that message, and its
 * flush reads over the connection. */
int rc_linger_is_quiet(const rc_ep_t *ep);
/* Called when the peer's RC_AM_BYE has arrived. */
void rc_linger_bye(rc_iface_t *iface, uint32_t qpn);
/* Called when the connection is lost. */
void rc_linger_disconnected(rc_ep_t *ep);
/* Makes progress until no destroyed endpoint keeps its connection, at most for
 * UCX_RC_LINGER_TIMEOUT. Received messages are dropped. Called when the
 * interface is closed. */
void rc_linger_all(rc_iface_t *iface);

/* Ends the state RC_EP_LINGERS or RC_EP_FLUSHING of an endpoint, if the event
 * that the endpoint waits for has happened, or the time limit has passed.
 * Returns 1 if this has called completions of the user, which may have changed
 * the lists of endpoints. */
int rc_iwarp_wait(rc_ep_t *ep);

#endif
