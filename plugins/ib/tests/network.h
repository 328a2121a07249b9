/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An RDMA device in memory, with datagram queue pairs only, a network that
 * loses packets, a host and a clock. So whole interfaces of ud_verbs run in one
 * process, without a kernel module and in simulated time.
 */
#ifndef IB_TEST_NETWORK_H
#define IB_TEST_NETWORK_H

#include "../src/ud_am.h"

enum { NETWORK_MTU = 256 /* Bytes */ };

typedef struct network {
    unsigned loss; /* Packets lost out of 1000 */
    uint64_t random;
    double now;               /* Seconds */
    uint64_t num_packets;     /* Packets sent, including lost ones */
    unsigned num_failed;      /* Number of endpoints reported as failed */
    ucs_status_t fail_status; /* Status of the endpoint reported last */
    /* The next queue pair gets the first free number from this one on, at least
     * 1 */
    uint32_t next_qpn;
} network_t;

extern network_t network;

void network_reset(void);

/* Opens an interface. Its active messages go to `cb`. */
ud_iface_t *network_open(uct_am_callback_t cb, void *arg);

/* Puts a packet with undefined global header into the interface's receive
 * queue, as if the queue pair `from` had sent it. */
void network_inject(ud_iface_t *iface, uint32_t from, const void *data,
                    size_t length);

/* Creates an endpoint to the interface. */
ud_ep_t *network_connect(ud_iface_t *iface, const ud_iface_t *to);

/* Runs the service of the interface, as the service thread does after some time
 * in which the user has made no progress. */
void network_serve(ud_iface_t *iface);

uint64_t network_random(uint64_t below);

#endif
