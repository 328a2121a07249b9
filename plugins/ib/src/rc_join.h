/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connects queue pairs of iWARP devices through librdmacm. Each interface
 * listens at a TCP port of its own. Each side of a connection has the address
 * of the remote endpoint. The side with the lower address connects; its private
 * data contains the numbers of both endpoints.
 *
 *   lower side                                   other side
 *   resolve address, resolve route, connect  ->  the request waits for the
 *                                                user's rc_ep_connect_to_ep()
 *   RC_AM_HELLO sent, ready                  <-  accept
 *                                            ->  ready
 *
 * The side that accepts sends nothing before it has received a message, as RFC
 * 5044 demands: the software iWARP of Linux fails the connection if data
 * follows the reply of the accepting side too early.
 */
#ifndef IB_RC_JOIN_H
#define IB_RC_JOIN_H

#include "rc.h"

/* One side of a connection, as the endpoint's address identifies it. */
typedef struct rc_join_end {
    uint8_t ip[16]; /* IPv4 as ::ffff:a.b.c.d */
    uint16_t port;  /* TCP port at which the interface listens; host order */
    uint32_t qpn;   /* Number of the queue pair */
    uint32_t psn;   /* Distinguishes the queue pair from an earlier one with the
                     * same number */
} rc_join_end_t;

/* Address and key of a few bytes of an interface. Its peers read the bytes with
 * RDMA, because the completion of such a read shows that all their earlier
 * requests have arrived. The value of the bytes has no meaning. */
typedef struct rc_join_word {
    uint64_t address;
    uint32_t rkey;
} rc_join_word_t;

#ifdef IB_HAVE_RDMACM

/* Creates iface->join and starts listening. This and the following functions
 * must be called by the worker's thread. */
ucs_status_t rc_join_open(rc_iface_t *iface);
void rc_join_close(rc_iface_t *iface);

/* Returns the TCP port at which the interface listens. */
uint16_t rc_join_port(const rc_iface_t *iface);
/* Stores address and key of the bytes that the peers of this interface read. */
void rc_join_word(const rc_iface_t *iface, rc_join_word_t *word);
/* Stores the local buffer for the bytes that the device reads from a peer. */
void rc_join_sink(const rc_iface_t *iface, struct ibv_sge *sge);

/* Starts to connect the endpoint to `peer`. Later calls of progress establish
 * the connection: then they set RC_EP_CONNECTED, or fail the endpoint with
 * UCS_ERR_UNREACHABLE. */
ucs_status_t rc_join_start(rc_ep_t *ep, const rc_join_end_t *peer);
/* Handles the events of librdmacm, and calls rc_nudge_run(). `iface`: an
 * rc_iface_t. */
void rc_join_run(void *iface);
/* Called when RC_AM_HELLO has arrived at the queue pair with the number `qpn`.
 * The accepting side is then connected. */
void rc_join_greeted(rc_iface_t *iface, uint32_t qpn);
/* Sends RC_AM_HELLO on an endpoint with RC_EP_GREETS whose connection librdmacm
 * has established, and sets RC_EP_CONNECTED. If there are no send resources,
 * progress calls this function again. */
void rc_join_greet(rc_ep_t *ep);
/* Destroys the endpoint's identifier of librdmacm. Called after the queue pair
 * is destroyed. */
void rc_join_end(rc_ep_t *ep);

#else

/* Without librdmacm these functions have nothing to do: opening a port of an
 * iWARP device fails in iwarp.c. */
static inline ucs_status_t rc_join_open(rc_iface_t *iface)
{
    return UCS_ERR_NO_DEVICE;
}

static inline void rc_join_close(rc_iface_t *iface)
{
}

static inline uint16_t rc_join_port(const rc_iface_t *iface)
{
    return 0;
}

static inline void rc_join_word(const rc_iface_t *iface, rc_join_word_t *word)
{
}

static inline void rc_join_sink(const rc_iface_t *iface, struct ibv_sge *sge)
{
}

static inline ucs_status_t rc_join_start(rc_ep_t *ep, const rc_join_end_t *peer)
{
    return UCS_ERR_NO_DEVICE;
}

static inline void rc_join_run(void *iface)
{
}

static inline void rc_join_greeted(rc_iface_t *iface, uint32_t qpn)
{
}

static inline void rc_join_greet(rc_ep_t *ep)
{
}

static inline void rc_join_end(rc_ep_t *ep)
{
}

#endif
#endif
