/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated environment for the transport ud_verbs: an RDMA device in memory
 * with datagram queue pairs, a network that loses packets, the services of the
 * host (ucx_host_t), and a clock. Several interfaces of ud_verbs run in one
 * process with it, without RDMA hardware and in simulated time.
 */
#ifndef IB_TEST_NETWORK_H
#define IB_TEST_NETWORK_H

#include "../src/ud_am.h"

enum { NETWORK_MTU = 256 /* Bytes */ };

typedef struct network {
    unsigned loss;            /* Number of packets lost out of 1000 */
    uint64_t random;          /* State of network_random() */
    double now;               /* Simulated time in seconds */
    uint64_t num_packets;     /* Number of packets sent, including lost ones */
    unsigned num_failed;      /* Number of endpoints reported as failed */
    ucs_status_t fail_status; /* Status of the endpoint reported last */
    /* A new queue pair gets the first free number that is not less than this.
     * Not 0 */
    uint32_t next_qpn;
} network_t;

extern network_t network;

/* Sets the initial state of the network and the device, without loss. */
void network_reset(void);

/* Opens an interface. Active messages that it receives are passed to `cb`. */
ud_iface_t *network_open(uct_am_callback_t cb, void *arg);

/* Delivers a packet to the interface as if the queue pair with the number
 * `from` had sent it. The packet has no global routing header. */
void network_inject(ud_iface_t *iface, uint32_t from, const void *data,
                    size_t length);

/* Creates an endpoint of `iface` to the interface `to`. */
ud_ep_t *network_connect(ud_iface_t *iface, const ud_iface_t *to);

/* Calls the timer handler of the interface's service so that it receives and
 * acknowledges packets, as when the user has made no progress for a while. */
void network_serve(ud_iface_t *iface);

/* Returns a number from 0 to below - 1. */
uint64_t network_random(uint64_t below);

#endif
